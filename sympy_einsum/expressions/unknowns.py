"""Unknown functions of a tensor, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import factorial
from typing import Any

from sympy import Basic, Expr, Lambda, S, Symbol

from ..core import (
    Length,
    Shape,
    ShapeError,
    TensorError,
    as_length,
    as_shape,
    deferred,
    same_name_hint,
    same_shape,
    transform,
    tuning,
)
from .base import AppliedFunction, Operand, TensorExpr, TensorLike
from .conversion import as_operand
from .graphs import shape_of
from .interning import Data, Node, Operands, data_property
from .leaves import TensorSymbol
from .substitution import rebuild, substitute
from .symmetries import Axes, permutations_of

_diff: Callable[..., Operand] = deferred("calculus", "diff")


class Unknown(TensorExpr, AppliedFunction):
    """The value of an unknown function of a tensor at a point, or of one of its derivatives; build
    it with ``sympy_einsum.unknown``.

    Calling it gives the value at another point. Derivatives are symmetric in their axes: those of
    order k have the shape of the value, then k times that of the point.

    Attributes
    ==========

    name : the function's name
    argument : the point
    degree : the order of the derivative, 0 for the function itself

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3)
    >>> f = se.unknown("f", se.TensorSymbol("z", 2))
    >>> second = se.diff(f(A @ x), x, 2)
    >>> print(second)
    A.T @ hess(f)(A @ x) @ A
    >>> [(e.name, e.argument, e.degree) for e in second.atoms(se.Unknown)]
    [('f', A @ x, 2)]
    """

    __slots__ = ()
    _diff_wrt = True

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        _, shape, lengths, degree = data
        return cls._intern(operands, data, as_shape((*shape, *lengths * degree)))

    name: str = data_property(0, "The function's name.")
    value_shape: Shape = data_property(1, "The shape of the function's values.")
    lengths: Shape = data_property(2, "The shape of the points.")
    degree: int = data_property(3, "The order of the derivative.")

    @property
    def argument(self) -> Operand:
        """The point."""
        return self.operands[0]

    @property
    def is_of_scalar(self) -> bool:
        """Whether it is a function of a scalar, such as the time."""
        return not self.lengths

    def at(self, argument: Operand, degree: int) -> Operand:
        """Return a derivative of the function at a point."""
        return self._build((argument,), (self.name, self.value_shape, self.lengths, degree))

    def __call__(self, argument: TensorLike) -> Operand:
        argument = as_operand(argument)
        lengths = self.lengths
        if not same_shape(shape_of(argument), lengths):
            raise ShapeError(
                f"{self.name} is a function of a tensor of shape {lengths}, not of one of shape "
                f"{shape_of(argument)}" + same_name_hint(*lengths, *shape_of(argument))
            )
        return self.at(argument, self.degree)

    @property
    def generators(self) -> tuple[Axes, ...]:
        """The exchanges of the points' axes of two derivatives, of the first few if there are many
        derivatives."""
        first, size = len(self.value_shape), len(self.lengths)
        if not size or self.degree < 2:
            return ()
        count = self.degree
        while factorial(count) > tuning.MAX_PERMUTATIONS:
            count -= 1
        starts = [first + size * k for k in range(count)]
        found = []
        for one, two in pairwise(starts):
            axes = [*range(self.order)]
            axes[one : one + 2 * size] = [*range(two, two + size), *range(one, two)]
            found.append(tuple(axes))
        return tuple(found)

    @property
    def permutations(self) -> tuple[Axes, ...]:
        """All permutations of axes that leave it invariant."""
        return permutations_of(self.generators, self.order) if self.generators else ()

    @property
    def is_symmetric(self) -> bool:
        """Whether it is a matrix of second derivatives."""
        return self.order == 2 and bool(self.generators)

    def stand_in(self) -> TensorSymbol:
        """Return a symbol of the same shape in place of it, named q, dq, d2q, …"""
        mark = "" if not self.degree else "d" if self.degree == 1 else f"d{self.degree}"
        return TensorSymbol(mark + self.name, self.shape)

    def _substituted_in(self, root: Basic, new: Basic) -> Basic:
        return fill_in(root, self, new)

    def count_ops(self, visual: bool | None = None) -> Expr:
        """Return the number of nodes with operands; a derivative counts for more, so that SymPy
        substitutes it before the function.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> t = symbols("t")
        >>> q = se.unknown("q", t, shape=3)
        >>> q.count_ops(), q.diff(t).count_ops()
        (1, 2)
        """
        return super().count_ops(visual) + self.degree


def unknown(name: str, variable: TensorLike, *, shape: Length | Sequence[Length] = ()) -> Any:
    """Build an unknown function of a tensor or of a scalar, at a point.

    Parameters
    ==========

    name : the function's name
    variable : the point: a tensor symbol, an ordinary symbol such as the time, or an expression
    shape : the shape of the function's values, () for a scalar

    Returns
    =======

    The value at the point, a tensor expression ``f`` of that shape, which is a function too:
    ``f(A @ x)`` is the value at another point. Derivatives of any order, by what the point is made
    of, contain the function's derivatives as tensors with the axes of the value, then of the point.
    One can differentiate by ``q`` and ``q.diff(t)`` too, as if they were symbols.
    ``e.subs(f, Lambda(x, x @ x))`` fills the function in, and ``e.subs(f, x @ x)``, if f is at the
    symbol x.

    Raises
    ======

    TensorError : the name isn't a string or is empty
    ShapeError : ``f(y)`` for a point y of another shape, or a function of another shape filled in

    Examples
    ========

    >>> from sympy import Lambda, symbols
    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
    >>> f = se.unknown("f", x)
    >>> g = se.gradient(f(A @ x), x)
    >>> print(g)
    A.T @ grad(f)(A @ x)
    >>> print(g.subs(f, Lambda(x, x @ x)))
    2*A.T @ (A @ x)
    >>> t, k = symbols("t k")
    >>> q = se.unknown("q", t, shape=3)
    >>> L = q.diff(t) @ q.diff(t) / 2 - k * (q @ q) / 2
    >>> print(se.gradient(L, q.diff(t)).diff(t) - se.gradient(L, q))
    k*q(t) + diff(q(t), t, 2)
    """
    if isinstance(name, Symbol):
        name = name.name
    if not isinstance(name, str) or not name:
        raise TensorError(f"the name of an unknown function is a string of letters, not {name!r}")
    lengths = shape if isinstance(shape, (tuple, list)) else (shape,)
    argument = as_operand(variable)
    data = (name, tuple(map(as_length, lengths)), tuple(shape_of(argument)), 0)
    return Unknown._build((argument,), data)


def fill_in(root: Basic, function: Unknown, value: Basic) -> Basic:
    """Replace an unknown function by another, and its derivatives by those of the other; a value
    that isn't a ``Lambda`` is that at the function's own point, a symbol."""
    if isinstance(value, Lambda) and function.degree:
        raise TensorError(f"fill in {function.name} itself; {function} is a derivative of it")
    if isinstance(value, Lambda):
        variable, body = _of_lambda(function, value)
    elif function.degree == 0 and isinstance(function.argument, (TensorSymbol, Symbol)):
        variable, body = function.argument, as_operand(value)
    else:
        return substitute(root, {function: value})
    expected = function.value_shape
    if not same_shape(shape_of(body), expected):
        raise ShapeError(
            f"{function.name} has values of shape {expected}, and what replaces it has shape "
            f"{shape_of(body)}" + same_name_hint(*expected, *shape_of(body))
        )
    derivatives = [body]

    def visit(node: Basic, below: Operands) -> Basic:
        built = rebuild(node, below) if isinstance(node, Node) or node.args else node
        if not (isinstance(built, Unknown) and built.at(function.argument, 0) is function):
            return built
        while len(derivatives) <= built.degree:
            derivatives.append(_diff(derivatives[-1], variable))
        return substitute(derivatives[built.degree], {variable: built.argument})

    return transform([root], visit)[0]


def _of_lambda(function: Unknown, value: Lambda) -> tuple[Operand, Operand]:
    """Return the variable and the body of a function of one variable; that is replaced by a symbol
    of the point's shape."""
    if len(value.signature) != 1:
        raise TensorError(f"{function.name} is a function of one variable, and {value} isn't")
    lengths = function.lengths
    if value == S.IdentityFunction:
        variable = TensorSymbol(f" {function.name}", lengths)
        return variable, variable
    (variable,) = value.signature
    if not same_shape(shape_of(variable), lengths):
        raise ShapeError(
            f"{function.name} is a function of a tensor of shape {lengths}, and {variable} has "
            f"shape {shape_of(variable)}" + same_name_hint(*lengths, *shape_of(variable))
        )
    return variable, as_operand(value.expr)
