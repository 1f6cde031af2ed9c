"""The elementwise node: any SymPy scalar function applied entry by entry; and the conversion of
foreign objects into operands.

The function is a scalar expression, the *body*, in real slot symbols, one per operand: ``exp(A)``
is the body ``exp(s0)`` on ``(A,)``. Composition, derivatives and constants are then SymPy's
business, and no list of functions limits what can be applied. Operands have the node's shape or
order 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Basic, Dummy, Expr, Lambda, Piecewise, S, Symbol, exp, log, sympify
from sympy.logic.boolalg import Boolean
from sympy.matrices.expressions.matexpr import MatrixExpr

from ..core import (
    Shape,
    ShapeError,
    TensorError,
    UnsupportedError,
    derivative,
    folded,
    has_shape,
    postorder,
    same_length,
    sigmoid,
    softplus,
    sort_key,
    sympified,
)
from .base import TensorExpr
from .graphs import is_tensor, outermost, stock_children
from .leaves import Constant, Zeros
from .products import Ones, View, contract
from .sums import TensorAdd, along, axes_with_entries, on_axes, scale, split_coefficient


class Slot(Symbol):
    """The k-th argument of an elementwise body, called ``sk``; real, as tensors are.

    Attributes
    ==========

    place : the number k
    """

    __slots__ = ("place",)
    place: int

    def __new__(cls, name: str, **assumptions: Any) -> Slot:
        if not isinstance(name, str) or not re.fullmatch("s[0-9]+", name):
            raise TensorError(f"a slot is called s0, s1, ..., not {name!r}")
        self = super().__new__(cls, name, real=True)
        self.place = int(name[1:])
        return self


@lru_cache(maxsize=256)
def slot(k: int) -> Slot:
    """The slot of operand number k."""
    return Slot(f"s{k}")


class Elementwise(TensorExpr):
    """A scalar function applied to tensors entry by entry; build it with :func:`elementwise`.

    Attributes
    ==========

    body : the scalar expression in ``slot(0), slot(1), …``
    """

    __slots__ = ()

    @property
    def body(self) -> Expr:
        """The scalar expression that gives an entry."""
        return self.data[0]

    @property
    def _key(self) -> tuple[int, str, int]:
        return (self._depth, type(self.body).__name__, self._digest)

    @classmethod
    def _build(cls, operands: tuple[Any, ...], data: tuple[Any, ...]) -> Any:
        return apply_body(data[0], operands)

    def _map_data(self, image: Callable[[Basic], Basic]) -> tuple[Any, ...]:
        return self.data

    def _own_symbols(self) -> set[Any]:
        return set()

    @property
    def condition(self) -> Boolean | None:
        """What the entries tell by ones and zeros, if that is what they do; else None."""
        return indicated(self.body)

    def __bool__(self) -> bool:
        if self.condition is None:
            return True
        raise TypeError(
            f"a comparison of tensors of shape {self.shape} is true or false entry by entry; use "
            "np.where, Piecewise, & and |, or its sum"
        )

    def as_entry_power(self) -> tuple[Any, Any]:
        """The tensor of which this is a power entry by entry, and the exponent, a number."""
        power = self.body
        is_power = power.is_Pow and isinstance(power.base, Slot) and power.exp.is_number
        return (self.operands[0], power.exp) if is_power else (self, S.One)

    def partial(self, k: int) -> Any:
        """The derivative of an entry by the entry of operand k, as a tensor or a scalar.

        Where the value occurs in its own derivative (exp, tanh, sigmoid, …) it is used again.
        """
        count = len(self.operands)
        return apply_body(_partial_body(self.body, k, count), (*self.operands, self))


def as_number(body: Any) -> Any:
    """A body that gives a number: a condition counts 1 where it holds, else 0."""
    return Piecewise((S.One, body), (S.Zero, True)) if is_condition(body) else body


def is_condition(value: Any) -> bool:
    """Whether a value is a relation or a connective of some, not a number; a symbol may be both."""
    return isinstance(value, Boolean) and not isinstance(value, Expr)


def indicated(body: Any) -> Boolean | None:
    """The condition of which a body is the number."""
    if isinstance(body, Piecewise) and body.args[0].expr is S.One:
        condition = body.args[0].cond
        return condition if body == as_number(condition) else None
    return None


@lru_cache(maxsize=4096)
def _partial_body(body: Expr, k: int, count: int) -> Expr:
    """d body / d slot k; the body itself, where it occurs, becomes slot ``count``."""
    return derivative(body, slot(k)).xreplace({body: slot(count)})


def apply_body(body: Any, operands: Sequence[Any]) -> Any:
    """The canonical expression of a body on operands of one shape, or of order 0.

    Constant operands are folded into the body, equal ones share a slot, a numeric factor is
    pulled out, and operands stand in canonical order.
    """
    shape = next((o.shape for o in operands if isinstance(o, TensorExpr) and o.order), None)
    values = {slot(k): fill_value(operands[k]) for k in _slot_numbers(body)}
    literals = {s: v for s, v in values.items() if not isinstance(v, TensorExpr) and v.is_number}
    if literals:
        known = folded(body, literals)
        if known.is_finite is False or known.has(S.NaN, S.ComplexInfinity):
            # A pole at a constant: left to the numbers, which say inf or nan.
            return Elementwise._intern(tuple(operands), (body,), shape or ())
        body = known
    if len(values) > 1:
        body = _of_common_tensors(body, values)
    places: dict[Any, list[int]] = {}
    for k in _slot_numbers(body):
        places.setdefault(values[slot(k)], []).append(k)
    kept = sorted(places, key=sort_key) if len(places) > 1 else list(places)
    body = _rename(body, tuple([(k, new) for new, o in enumerate(kept) for k in places[o]]))
    left = _slot_numbers(body)
    if len(left) < len(kept):  # equal operands have cancelled
        kept = [kept[k] for k in left]
        body = _rename(body, tuple([(k, new) for new, k in enumerate(left)]))
    if shape is None or not any(isinstance(o, TensorExpr) and o.order for o in kept):
        value = substitute_stock(body, {slot(k): operand for k, operand in enumerate(kept)})
        return value if shape is None else along(value, (), shape)
    evaluated = _evaluated(body, kept)
    if evaluated is not None:
        return apply_body(*evaluated)
    tensors = [o for o in kept if isinstance(o, TensorExpr) and o.order]
    axes = axes_with_entries(tensors)
    if len(axes) < len(shape):
        return along(apply_body(body, on_axes(kept, axes)), axes, shape)
    coefficient, body = body.as_coeff_Mul()
    factors = body.args if body.is_Mul else (body,)
    if all(isinstance(factor, Slot) for factor in factors):
        tensors = [coefficient, *(kept[factor.place] for factor in factors)]
        subscripts = [axes if isinstance(t, TensorExpr) and t.order else () for t in tensors]
        return contract(tensors, subscripts, axes, dict(enumerate(shape)))
    recognised = _of_one_plus_exp(body, kept)
    node = Elementwise._intern(tuple(kept), (body,), shape) if recognised is None else recognised
    return node if coefficient is S.One else scale(coefficient, node)


def _evaluated(body: Expr, operands: list[Any]) -> tuple[Expr, list[Any]] | None:
    """What SymPy makes of a body at construction: sqrt(x**2) = |x|, and |x| = x where x isn't
    negative; None if that is what it is."""
    if body.is_Pow and body.exp.is_Number and isinstance(body.base, Slot):
        base, inner = operands[0].as_entry_power() if is_tensor(operands[0]) else (None, S.One)
        if inner is not S.One:
            both = with_signs((slot(0) ** inner) ** body.exp, (_sign(base),))
            if not both.is_Mul and not (both.is_Pow and both.base.is_Pow):
                return both, [base]
    # Most functions are the same of positive numbers: nothing needs to be asked.
    if with_signs(body, ("positive",) * len(operands)) == body:
        return None
    known = with_signs(body, tuple(map(_sign, operands)))
    return None if known == body else (known, operands)


def _sign(operand: Any) -> str:
    """What is known of the sign of a tensor's entries, as SymPy's assumption."""
    if not is_tensor(operand):
        return "real"
    if operand._is_positive():
        return "positive"
    return "nonnegative" if operand._is_nonnegative() else "real"


@lru_cache(maxsize=4096)
def with_signs(body: Expr, signs: tuple[str, ...]) -> Expr:
    """A scalar expression as SymPy evaluates it where its slots have some signs."""
    known = {slot(k): Dummy(**{sign: True}) for k, sign in enumerate(signs)}
    return body.xreplace(known).xreplace({dummy: place for place, dummy in known.items()})


def _of_common_tensors(body: Expr, values: dict[Any, Any]) -> Expr:
    """The body on tensors without the numeric factors of those that are multiples of one tensor, so
    that like terms in it meet; ``values`` of the slots follow."""
    multiples = {s: split_coefficient(v) for s, v in values.items() if is_tensor(v)}
    uses = Counter(core for _, core in multiples.values())
    factors = {s: c for s, (c, core) in multiples.items() if c is not S.One and uses[core] > 1}
    values.update({s: multiples[s][1] for s in factors})
    return body.xreplace({s: c * s for s, c in factors.items()}) if factors else body


def _of_one_plus_exp(body: Expr, kept: Sequence[Any]) -> Any:
    """log(1 + exp(z)) is softplus(z) and 1 / (1 + exp(z)) is sigmoid(-z): the names have short
    derivatives and don't overflow."""
    if len(kept) != 1 or body not in (_LOGARITHM, _RECIPROCAL):
        return None
    total = kept[0]
    if not isinstance(total, TensorAdd) or len(total.operands) != 2:
        return None
    others = [term for term in total.operands if not isinstance(term, Ones)]
    if len(others) != 1 or not isinstance(others[0], Elementwise) or others[0].body != _EXPONENTIAL:
        return None
    z = others[0].operands[0]
    if body == _LOGARITHM:
        return apply_body(softplus(slot(0)), (z,))
    return apply_body(sigmoid(slot(0)), (scale(S.NegativeOne, z),))


_EXPONENTIAL, _LOGARITHM, _RECIPROCAL = exp(slot(0)), log(slot(0)), 1 / slot(0)


@lru_cache(maxsize=4096)
def _slot_numbers(body: Expr) -> tuple[int, ...]:
    return tuple(sorted(s.place for s in body.free_symbols if isinstance(s, Slot)))


@lru_cache(maxsize=4096)
def _rename(body: Expr, renaming: tuple[tuple[int, int], ...]) -> Expr:
    return body.xreplace({slot(old): slot(new) for old, new in renaming if old != new})


@lru_cache(maxsize=4096)
def replaced(body: Expr, rule: tuple[tuple[Any, Any], ...]) -> Expr:
    """A body with its slots replaced; SymPy takes milliseconds for some functions, and the same
    bodies come again and again."""
    return body.xreplace(dict(rule))


def fill_value(operand: Any) -> Any:
    """The scalar whose copies fill a constant tensor, or the operand itself."""
    if isinstance(operand, Zeros):
        return S.Zero
    if isinstance(operand, View) and operand.is_constant_fill:
        return contract(operand.operands, operand.subscripts, (), {})
    return operand


# --- conversion ----------------------------------------------------------------------------------


def as_operand(value: Any) -> Any:
    """A tensor expression or a SymPy scalar from what a user may write in its place.

    Arrays and explicit numeric matrices become constants; a stock function of a tensor
    (``sympy.exp(A)``) becomes an elementwise node; a string, a symbolic matrix or another object
    with axes is refused.
    """
    if isinstance(value, TensorExpr):
        return value
    if isinstance(value, str):
        raise TensorError(f"{value!r} is a string; write an expression, or use parse for text")
    if isinstance(value, (np.ndarray, np.generic, list, tuple)) or hasattr(value, "toarray"):
        return Constant(value)
    if isinstance(value, (bool, int, float, complex)):
        return sympify(int(value) if isinstance(value, bool) else value)
    if isinstance(value, Basic) and not isinstance(value, MatrixExpr):
        if isinstance(value, (Expr, Boolean)) and not has_shape(value):
            if holds_tensor(value):
                return lift(value)
            if isinstance(value, Expr):
                return value
        if has_shape(value) and not value.free_symbols:
            return Constant(np.array(value.tolist()).astype(float))
    if hasattr(value, "tolist") and hasattr(value, "free_symbols") and not value.free_symbols:
        return Constant(np.array(value.tolist()).astype(float))
    raise TensorError(
        f"can't use {str(value)[:80]}, of type {type(value).__name__}, as a tensor; "
        "give a tensor expression, a SymPy scalar, or an array of numbers"
    )


@lru_cache(maxsize=8192)
def holds_tensor(expr: Basic) -> bool:
    """Whether a stock expression has a tensor of order 1 or more inside."""
    return any(map(is_tensor, outermost(expr)))


def lift(expr: Any) -> Any:
    """A stock expression with tensors inside, read entry by entry."""
    body, operands = split_body(expr)
    return apply_body(as_number(body), broadcast_together(operands))


def split_body(expr: Any) -> tuple[Any, list[Any]]:
    """A stock expression as a body and the outermost tensors and free symbols it holds."""
    order = postorder([expr], stock_children)
    for node in order:
        _check_bound_symbols(node)
    free = expr.free_symbols
    operands = [
        node
        for node in order
        if isinstance(node, TensorExpr) or (isinstance(node, Symbol) and node in free)
    ]
    body = substitute_stock(expr, {operand: slot(k) for k, operand in enumerate(operands)})
    return body, operands


def _check_bound_symbols(node: Any) -> None:
    """Tensors are taken out of an integral or sum, so they mustn't depend on what it binds."""
    bound = set(getattr(node, "bound_symbols", ()))
    if not bound:
        return
    for inner in outermost(node):
        if bound & inner.free_symbols:
            raise UnsupportedError(
                f"{type(node).__name__} over {min(bound, key=str)}: the tensor expression {inner} "
                "inside depends on it; write the sum over entries with einsum or .sum()"
            )


def substitute_stock(expr: Any, rule: dict[Any, Any]) -> Any:
    """Replace outermost tensors and symbols of a stock expression by scalars, each node once."""
    image: dict[Any, Any] = dict(rule)

    def lower(node: Any) -> Any:
        return () if node in rule else node.args

    for node in postorder([expr], lower):
        if node not in image:
            new = [image[arg] for arg in node.args]
            image[node] = node if new == list(node.args) else node.func(*new)
    return image[expr]


def elementwise(f: Any, *tensors: Any) -> Any:
    """Apply a scalar function of one or more arguments entry by entry.

    Parameters
    ==========

    f : a SymPy function (``exp``, ``Max``), a ``Lambda``, or a callable that returns a SymPy
        expression when it is called with symbols
    tensors : tensors of one order (axes of length 1 stretch) and scalars

    Raises
    ======

    TensorError : ``f`` is no function of that many arguments
    ShapeError : the tensors' shapes don't fit

    Examples
    ========

    >>> from sympy import Lambda, Piecewise, besselj, symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", (n,))
    >>> u = symbols("u")
    >>> hinge = se.elementwise(Lambda(u, Piecewise((1 - u, u < 1), (0, True))), x)
    >>> hinge.shape
    (n,)
    >>> se.diff(se.elementwise(lambda t: besselj(2, t), x).sum(), x).shape
    (n,)
    """
    operands = broadcast_together([as_operand(tensor) for tensor in tensors])
    if not operands:
        raise TensorError("elementwise needs at least one tensor to apply the function to")
    if not any(map(is_tensor, operands)):
        return f(*operands)
    if isinstance(f, Lambda):
        # Free symbols of the body are operands too: the result depends on them.
        if not all(isinstance(v, Symbol) for v in f.variables) or len(f.variables) != len(operands):
            raise TensorError(f"{f} takes {len(f.variables)} arguments, not {len(operands)}")
    elif isinstance(f, (str, Expr)) or not callable(f):
        raise TensorError(f"{f!r} is no function; give a SymPy function, a Lambda or a callable")
    arguments = [slot(k) for k in range(len(operands))]
    try:
        body = sympified(f(*arguments))
    except (TypeError, ValueError) as error:
        raise TensorError(
            f"{f} can't be applied to {len(operands)} scalar arguments: {error}"
        ) from error
    if not isinstance(body, Expr):
        raise TensorError(f"{f} gives {body!r}, which is no scalar expression")
    others = sorted(
        (s for e in postorder([body], stock_children) for s in _free_leaf(e, body)),
        key=sort_key,
    )
    extended = [*operands, *others]
    body = substitute_stock(body, {s: slot(len(operands) + k) for k, s in enumerate(others)})
    return apply_body(body, extended)


def _free_leaf(node: Any, body: Any) -> list[Any]:
    """The node itself if it is something the body depends on besides its slots."""
    if isinstance(node, TensorExpr):
        if node.order:
            raise TensorError(f"the function holds the tensor {node}; pass it as an argument")
        return [node]
    is_free = isinstance(node, Symbol) and not isinstance(node, Slot) and node in body.free_symbols
    return [node] if is_free else []


# --- broadcasting --------------------------------------------------------------------------------


def broadcast_together(operands: Sequence[Any]) -> list[Any]:
    """Operands of one order with axes of length 1 stretched; scalars stay scalars.

    Raises ShapeError for two different orders above 0, and for lengths that differ.
    """
    tensors = [o for o in operands if isinstance(o, TensorExpr) and o.order]
    if not tensors:
        return list(operands)
    shape = common_shape(tensors)
    return [stretch(o, shape) if isinstance(o, TensorExpr) and o.order else o for o in operands]


def common_shape(tensors: Sequence[Any]) -> Shape:
    """The shape that tensors of one order have after axes of length 1 are stretched."""
    first = tensors[0]
    shape = list(first.shape)
    for number, tensor in enumerate(tensors[1:], start=2):
        if tensor.order != first.order:
            raise ShapeError(
                f"can't combine a tensor of order {first.order}, shape {first.shape}, with one of "
                f"order {tensor.order}, shape {tensor.shape}, entry by entry: {_short(first)} and "
                f"{_short(tensor)}; add axes with x[None, :] or broadcast_to, or say with einsum "
                "which axes belong together"
            )
        for axis, (known, length) in enumerate(zip(shape, tensor.shape, strict=True)):
            if known is S.One:
                shape[axis] = length
            elif length is not S.One and not same_length(known, length):
                raise ShapeError(
                    f"axis {axis} has length {known} in operand 1, {_short(first)}, and length "
                    f"{length} in operand {number}, {_short(tensor)}; lengths must be equal or 1"
                )
    return tuple(shape)


def _short(tensor: Any) -> str:
    return tensor.name if hasattr(tensor, "name") else type(tensor).__name__


def stretch(tensor: Any, shape: Shape) -> Any:
    """The tensor with its axes of length 1 repeated to the given shape of the same order."""
    if tensor.shape == shape:
        return tensor
    order = tensor.order
    labels = [
        axis if same_length(old, new) else order + axis
        for axis, (old, new) in enumerate(zip(tensor.shape, shape, strict=True))
    ]
    lengths = dict(enumerate(shape))
    lengths.update({label: S.One for label in labels if label >= order})
    return contract((tensor,), (labels,), range(order), lengths)
