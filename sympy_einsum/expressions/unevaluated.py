"""Derivatives, integrals and sums that stay as they are until ``doit`` is called.

As in scans, the body is closed: it refers to its variables, and to what is free of these, by bound
symbols, and the operands are their values. So nothing is captured by substitution, and a derivative
is one at a point: at its own variable, until that is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from types import MappingProxyType
from typing import Any

from sympy import Basic, Derivative, Dummy, Expr, Integral, S, Sum, Symbol, Tuple

from ..core import UnsupportedError, deferred, transform, tuning
from .base import Operand
from .graphs import kinds_in, lengths_of, order_of, outermost, shape_of
from .interning import Data, Operands, data_property
from .leaves import TensorSymbol, Zeros
from .products import contract
from .scans import (
    FIRST_INDEX,
    LAST,
    Binder,
    BoundTensor,
    Carry,
    assumptions_of,
    closed_loop,
    level_of_body,
    with_invariants,
)
from .substitution import rebuild, substitute, substitute_all
from .sums import tensor_sum
from .unknowns import Unknown

# SymPy's classes of the same meaning, for scalars.
STOCK_OPERATORS: Mapping[str, type[Expr]] = MappingProxyType(
    {kind.__name__: kind for kind in (Derivative, Integral, Sum)}
)
# What tables of passes say that refuse them.
UNEVALUATED_REMEDY = "no value of it is found; convert its parts, or the entries of as_explicit()"

_diff: Callable[..., Operand] = deferred("calculus", "diff")
_over: Callable[..., Operand] = deferred("rules", "over")


class BoundScalar(Dummy):
    """An ordinary symbol that an unevaluated derivative, integral or sum binds.

    >>> from sympy import Integral
    >>> from sympy.abc import t
    >>> import sympy_einsum as se
    >>> integral = Integral(t * se.TensorSymbol("x", 3), (t, 0, 1))
    >>> isinstance(integral.bound[0], se.BoundScalar), integral.variables
    (True, (t,))
    """

    __slots__ = ()
    is_bound = True


class Unevaluated(Binder):
    """A derivative, an integral or a sum of a tensor that is kept as it is: what SymPy's
    ``Derivative``, ``Integral`` and ``Sum`` of tensors make. ``doit`` evaluates it.

    Attributes
    ==========

    kind : ``"Derivative"``, ``"Integral"`` or ``"Sum"``

    Examples
    ========

    >>> from sympy import Derivative, Integral, symbols
    >>> import sympy_einsum as se
    >>> A, x, t = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3), symbols("t")
    >>> d = Derivative(x @ A @ x, x)
    >>> d, d.shape, d.doit()
    (Derivative(x @ A @ x, x), (3,), A @ x + A.T @ x)
    >>> (x + Integral(t * x, (t, 0, 1))).doit()
    3*x/2
    """

    __slots__ = ()

    kind: str = data_property(0, "The name of SymPy's class: Derivative, Integral or Sum.")
    names: tuple[str, ...] = data_property(1, "The names under which variables are shown.")
    sequence: tuple[int, ...] = data_property(
        2, "The numbers of the variables by which one derives, one after the other."
    )
    bound: tuple[Any, ...] = data_property(3, "The symbols of the variables in the body.")
    parameters: tuple[TensorSymbol, ...] = data_property(
        4, "The symbols of the other operands in the body."
    )
    outputs: tuple[Operand] = data_property(5, "The body.")

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        kind, names, sequence, bound, parameters, (body,) = data
        shape = (*shape_of(body), *[n for k in sequence for n in shape_of(bound[k])])
        first = len(operands) - len(parameters)
        given, hoisted = operands[:first], operands[first:]
        is_empty = kind == "Integral" and first == 2 and given[0] == given[1]
        if isinstance(body, Zeros) or is_empty:
            return Zeros(*shape)
        if kind == "Derivative" and _are_variables(given, hoisted):
            names = tuple([point.name for point in given])
        else:
            names = _free_names(names, hoisted)
        return cls._intern(operands, (kind, names, sequence, bound, parameters, (body,)), shape)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # sympy.integrate calls doit for instances of Integral alone, and users ask for these too.
        return STOCK_OPERATORS[self.kind]

    @property
    def given(self) -> Operands:
        """The points of a derivative, by variable; the bounds of an integral or sum, or the upper
        one alone."""
        return self.operands[: len(self.operands) - len(self.parameters)]

    @property
    def hoisted(self) -> tuple[Operand, ...]:
        """The values of what is free of the variables."""
        return self.operands[len(self.operands) - len(self.parameters) :]

    @property
    def level(self) -> int:
        """The level of nesting of the body."""
        return int(self.bound[0].name.split()[-1])

    @property
    def is_at_variables(self) -> bool:
        """Whether it is a derivative at its own variables, which nothing else depends on."""
        return self.kind == "Derivative" and _are_variables(self.given, self.hoisted)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables, as symbols that don't occur elsewhere in it."""
        if self.is_at_variables:
            return self.given
        return tuple(
            [
                TensorSymbol(name, own.shape)
                if isinstance(own, BoundTensor)
                else Symbol(name, **own.assumptions0)
                for name, own in zip(self.names, self.bound, strict=True)
            ]
        )

    def at(self, values: Sequence[Basic]) -> Operand:
        """Return the body at values of the variables."""
        symbols = (*self.bound, *self.parameters)
        rule = dict(zip(symbols, (*values, *self.hoisted), strict=True))
        return substitute_all(self.outputs, rule)[0]

    @property
    def expr(self) -> Operand:
        """Return the expression that is differentiated, integrated or summed."""
        return self.at(self.variables)

    function = expr

    @property
    def limits(self) -> tuple[Tuple, ...]:
        """The variable of an integral or sum with its bounds; each variable of a derivative with
        how often in a row one derives by it."""
        variables = self.variables
        if self.kind != "Derivative":
            bounds = () if self.given == variables else self.given
            return (Tuple(*variables, *bounds),)
        runs: list[list[int]] = []
        for k in self.sequence:
            if runs and runs[-1][0] == k:
                runs[-1][1] += 1
            else:
                runs.append([k, 1])
        return tuple([Tuple(variables[k], count) for k, count in runs])

    variable_count = limits

    def open_outputs(self) -> list[Operand]:
        """Return the body, with hoisted operands in place of their symbols."""
        return [self.at(self.bound)]

    def _map_body(self, change: Callable[[Any], Any]) -> Any:
        return self.with_outputs([change(self.at(self.bound))])

    def with_outputs(self, outputs: Sequence[Operand]) -> Operand:
        """Return the same of another body, in which nothing is hoisted."""
        (body,) = outputs
        return _closed(self.kind, body, self.bound, self.names, self.sequence, self.given)

    def _own_symbols(self) -> set[Basic]:
        found = {s for e in self.outputs for s in e.free_symbols}
        return found.difference(self.bound, self.parameters)

    def partial(self, place: int) -> Operand:
        """Return the derivative by an operand, whose axes come last."""
        number = place - len(self.given)
        if number >= 0:
            (inner,) = substitute_all(
                [_diff(self.outputs[0], self.parameters[number])],
                dict(zip(self.parameters, self.hoisted, strict=True)),
            )
            found = self.with_outputs([inner])
            axes, first = range(order_of(found)), order_of(self.outputs[0])
            last = first + order_of(self.operands[place])
            moved = (*axes[:first], *axes[last:], *axes[first:last])
            return contract((found,), (axes,), moved, dict(enumerate(shape_of(found))))
        if self.kind == "Derivative":
            data = (*self.data[:2], (*self.sequence, place), *self.data[3:])
            return self._build(self.operands, data)
        if self.kind == "Sum":
            raise UnsupportedError(f"no derivative of {self} by what bounds it")
        value = self.at((self.given[place],))
        return value if place == len(self.given) - 1 else -value

    def doit(self, **hints: Any) -> Operand:
        """Return its value; the integral or sum itself where none is found.

        >>> from sympy import Sum, exp, symbols
        >>> import sympy_einsum as se
        >>> x, k, n = se.TensorSymbol("x", 3), *symbols("k n", integer=True)
        >>> Sum(k * x, (k, 1, n)).doit(), Sum(exp(k * x), (k, 1, n)).doit()
        (x*(n**2/2 + n/2), Sum(exp(k*x), (k, 1, n)))
        """
        node: Any = rebuild(self, tuple([own.doit(**hints) for own in self.operands]))
        return node._value(**hints) if isinstance(node, Unevaluated) else node

    def _value(self, **hints: Any) -> Operand:
        body, variables, given = self.expr.doit(**hints), self.variables, self.given
        if self.kind == "Derivative":
            value = _diff(body, *[variables[k] for k in self.sequence])
            return substitute(value, dict(zip(variables, given, strict=True)))
        variable, kind = variables[0], STOCK_OPERATORS[self.kind]
        try:
            if len(given) == 2:
                return _over(kind, body, (variable, *given))
            return substitute(_over(kind, body, variable), {variable: given[0]})
        except UnsupportedError:
            if self.kind == "Sum" and len(given) == 2 and all(own.is_Integer for own in given):
                steps = range(int(given[0]), int(given[1]) + 1)
                if 0 < len(steps) <= tuning.MAX_EXPANDED_TERMS:
                    return tensor_sum([substitute(body, {variable: S(k)}) for k in steps])
            return self.with_outputs([body.xreplace({variable: self.bound[0]})])


def _are_variables(points: Operands, others: Operands) -> bool:
    """Tell whether the points of a derivative are symbols, which nothing else depends on."""
    are_symbols = all(isinstance(point, (TensorSymbol, Symbol, Unknown)) for point in points)
    inside = {s for own in others for s in own.free_symbols}
    return are_symbols and len({*points}) == len(points) and inside.isdisjoint(points)


def _free_names(names: Sequence[str], others: Operands) -> tuple[str, ...]:
    """Return names for variables, with numbers where symbols have them already."""
    inside = {s for own in others for s in own.free_symbols}
    taken = {str(s) for s in inside | lengths_of(*inside)}
    found: list[str] = []
    for name in names:
        choices = chain([name], (f"{name}_{number}" for number in count(1)))
        found.append(next(choice for choice in choices if choice not in taken))
        taken.add(found[-1])
    return tuple(found)


def derivative_of(y: Operand, variables: Sequence[Operand]) -> Operand:
    """Return an unevaluated derivative by symbols, one after the other; of such a derivative one by
    more variables."""
    earlier: list[Operand] = []
    if isinstance(y, Unevaluated) and y.is_at_variables:
        earlier = [y.given[k] for k in y.sequence]
        y = y.expr
    variables = [*earlier, *variables]
    distinct = [*dict.fromkeys(variables)]
    sequence = [distinct.index(variable) for variable in variables]
    return _closed("Derivative", y, distinct, [v.name for v in distinct], sequence, distinct)


def over_symbol(kind: str, body: Operand, variable: Symbol, bounds: Sequence[Expr]) -> Operand:
    """Return an unevaluated integral or sum of a tensor: one without bounds is a function of its
    variable, one with a single bound that function there."""
    return _closed(kind, body, (variable,), (variable.name,), (), bounds or (variable,))


def _closed(
    kind: str,
    body: Operand,
    variables: Sequence[Operand],
    names: Sequence[str],
    sequence: Sequence[int],
    given: Sequence[Operand],
) -> Operand:
    """Return a node with canonical bound symbols, and with what is free of these as operands."""
    level = level_of_body([body], variables)
    bound = [_bound(variable, number, level) for number, variable in enumerate(variables)]
    outputs = substitute_all([body], dict(zip(variables, bound, strict=True)))
    if kind == "Derivative" and not outputs[0].free_symbols.issuperset(bound):
        return Zeros(*shape_of(body), *[n for k in sequence for n in shape_of(bound[k])])
    outputs, invariants = with_invariants(outputs, {*bound}, level)
    symbols = tuple([own.symbol for own in invariants])
    values = tuple([own.stacked for own in invariants])
    data = (kind, tuple(names), tuple(sequence), tuple(bound), symbols, tuple(outputs))
    return Unevaluated._build((*given, *values), data)


def _bound(variable: Operand, number: int, level: int) -> Operand:
    """Return the symbol by which a body refers to a variable."""
    if isinstance(variable, Symbol):
        name = f"variable {number} {level}"
        return BoundScalar(name, dummy_index=FIRST_INDEX, **variable.assumptions0)
    return BoundTensor("variable", number, level, shape_of(variable), assumptions_of(variable))


def evaluated(roots: Sequence[Operand]) -> list[Operand]:
    """Evaluate what is unevaluated in some graphs; sums of tensors that have no other value are
    loops."""
    kinds = frozenset[type]().union(*map(kinds_in, roots))
    if not any(issubclass(kind, (Unevaluated, Sum)) for kind in kinds):
        return [*roots]

    def visit(node: Basic, below: Operands) -> Basic:
        built = rebuild(node, below) if below else node
        if isinstance(built, Unevaluated):
            built = built.doit()
        elif isinstance(built, Binder):
            built = built.with_outputs(evaluated(built.open_outputs()))
        return _as_loop(built) if isinstance(built, Sum) else built

    return transform(roots, visit)


def _as_loop(total: Any) -> Operand:
    """Return a sum over finitely many integers as a loop, if there are tensors in its terms."""
    variable, *bounds = total.limits[0]
    are_finite = len(bounds) == 2 and all(own.is_integer and own.is_finite for own in bounds)
    if not are_finite or len(total.limits) > 1 or not outermost(total.function):
        return total
    shape = shape_of(total)
    index, carried = Dummy(integer=True, nonnegative=True), TensorSymbol("total", shape)
    term = substitute(total.function, {variable: bounds[0] + index})
    new = tensor_sum([carried, term]) if shape else carried + term
    carry = Carry(carried, Zeros(*shape) if shape else S.Zero, new)
    length = bounds[1] - bounds[0] + 1
    return closed_loop(length, False, index, [carry], [], []).result(LAST, 0)
