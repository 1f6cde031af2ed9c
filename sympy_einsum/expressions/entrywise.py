"""The elementwise node: a SymPy scalar function applied entrywise.

The function is a scalar expression, the *body*, in real slot symbols, one per operand: ``exp(A)``
has the body ``exp(s0)`` and the operands ``(A,)``. SymPy does composition, derivatives and constant
folding, and any of its functions can be applied. Operands have the node's shape or order 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from sympy import Basic, Expr, S, exp
from sympy.logic.boolalg import Boolean

from ..core import STABLE_ARGUMENT, STABLE_NAMES, DeferredTable, Shape, fold_constants, sort_key
from .base import Operand, TensorExpr
from .complex_entries import holds_complex
from .graphs import is_literal, is_tensor
from .interning import Data, Operands, data_property
from .leaves import Zeros
from .products import Einsum, Ones, View, contract
from .scalar_lambdas import (
    EXP,
    LOG,
    Slot,
    evaluate_with_signs,
    indicator_condition,
    partial_body,
    rename_slots,
    slot,
    slot_exponent,
    slot_numbers,
    substitute_stock,
)
from .sums import (
    TensorAdd,
    drop_constant_axes,
    repeat_along_axes,
    scale,
    split_coefficient,
    varying_axes,
)


class Elementwise(TensorExpr):
    """A scalar function applied to tensors entrywise; build it with :func:`elementwise`.

    Attributes
    ==========

    body : the scalar expression in ``slot(0), slot(1), …``

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> node = se.atan2(x, y)
    >>> isinstance(node, se.Elementwise), node.body, node.operands
    (True, atan2(s0, s1), (x, y))
    """

    __slots__ = ()

    body: Expr = data_property(0, "The scalar expression of an entry.")

    @property
    def _key(self) -> tuple[int, str, int]:
        return (self._depth, type(self.body).__name__, self._digest)

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        return apply_body(data[0], operands)

    def _map_data(self, substitute: Callable[[Basic], Basic]) -> Data:
        return self.data

    def _own_symbols(self) -> set[Basic]:
        return set()

    @property
    def condition(self) -> Boolean | None:
        """The condition if the node is its indicator; None for other functions."""
        return indicator_condition(self.body)

    def __bool__(self) -> bool:
        if self.condition is None:
            return True
        raise TypeError(
            f"a comparison of tensors of shape {self.shape} is true or false entry by entry; use "
            "np.where, Piecewise, & and |, or its sum"
        )

    def as_entry_power(self) -> tuple[TensorExpr, Expr]:
        """Return a tensor and a number so that this is the tensor to the power of the number,
        entrywise."""
        exponent = slot_exponent(self.body) if self.body.is_Pow else None
        return (self, S.One) if exponent is None else (self.operands[0], exponent)

    def partial(self, k: int) -> Operand:
        """Return the derivative of an entry by the entry of operand k, as a tensor or a scalar.

        Where the value occurs in its derivative (exp, tanh, sigmoid, …) the node itself is an
        operand."""
        count = len(self.operands)
        return apply_body(partial_body(self.body, k, count), (*self.operands, self))


def works_entrywise(node: Operand) -> bool:
    """Tell whether a tensor is computed from its operands entry by entry."""
    if isinstance(node, Einsum):
        return {i for term in node.subscripts for i in term} <= {*node.output}
    return isinstance(node, (Elementwise, TensorAdd))


def apply_body(body: Expr, operands: Sequence[Operand]) -> Operand:
    """Apply a body to operands of one shape, or of order 0, and bring the result into canonical
    form.

    Constant operands are folded into the body, equal ones share a slot, a numeric factor is
    extracted, and operands are sorted.
    """
    shape = next((o.shape for o in operands if is_tensor(o)), None)
    values = {slot(k): fill_value(operands[k]) for k in slot_numbers(body)}
    literals = {s: v for s, v in values.items() if is_literal(v)}
    if literals:
        folded = fold_constants(body, literals)
        if folded.is_finite is False or folded.has(S.NaN, S.ComplexInfinity):
            # A pole at a constant: numerical code returns inf or nan.
            return Elementwise._intern(tuple(operands), (body,), shape or ())
        body = folded
    if len(values) > 1:
        body = _with_common_cores(body, values)
    body, distinct = _with_shared_slots(body, values)
    if shape is None or not any(map(is_tensor, distinct)):
        value = substitute_stock(body, {slot(k): operand for k, operand in enumerate(distinct)})
        return value if shape is None else repeat_along_axes(value, (), shape)
    evaluated = _evaluated(body, distinct)
    return _of_tensors(body, distinct, shape) if evaluated is None else apply_body(*evaluated)


def _with_shared_slots(body: Expr, values: Mapping[Slot, Operand]) -> tuple[Expr, list[Operand]]:
    """Give equal operands one slot, and sort the operands."""
    slots: dict[Operand, list[int]] = {}
    for k in slot_numbers(body):
        slots.setdefault(values[slot(k)], []).append(k)
    operands = sorted(slots, key=sort_key) if len(slots) > 1 else list(slots)
    body = rename_slots(body, tuple([(k, new) for new, o in enumerate(operands) for k in slots[o]]))
    used = slot_numbers(body)
    if len(used) < len(operands):  # equal operands have cancelled
        operands = [operands[k] for k in used]
        body = rename_slots(body, tuple([(k, new) for new, k in enumerate(used)]))
    return body, operands


def _of_tensors(body: Expr, operands: Sequence[Operand], shape: Shape) -> Operand:
    """Build the expression of a body of distinct operands, at least one of them a tensor: a
    product, a stable form of 1 + exp(z), or an ``Elementwise``."""
    axes = varying_axes([o for o in operands if is_tensor(o)])
    if len(axes) < len(shape):
        return repeat_along_axes(apply_body(body, drop_constant_axes(operands, axes)), axes, shape)
    coefficient, body = body.as_coeff_Mul()
    factors = body.args if body.is_Mul else (body,)
    if all(isinstance(factor, Slot) for factor in factors):
        tensors = [coefficient, *(operands[factor.place] for factor in factors)]
        subscripts = [axes if is_tensor(t) else () for t in tensors]
        return contract(tensors, subscripts, axes, dict(enumerate(shape)))
    node = _of_one_plus_exp(body, operands)
    if node is None:
        node = Elementwise._intern(tuple(operands), (body,), shape)
    return node if coefficient is S.One else scale(coefficient, node)


def _evaluated(body: Expr, operands: list[Operand]) -> tuple[Expr, list[Operand]] | None:
    """Evaluate a body with the provable signs of its operands, such as sqrt(x**2) = |x|, and |x| =
    x for nonnegative x; None if it doesn't change."""
    if body.is_Pow and body.exp.is_Number and isinstance(body.base, Slot):
        base, inner = operands[0].as_entry_power() if is_tensor(operands[0]) else (None, S.One)
        if inner is not S.One and not holds_complex(base):
            both = evaluate_with_signs((slot(0) ** inner) ** body.exp, (_sign(base),))
            if not both.is_Mul and not (both.is_Pow and both.base.is_Pow):
                return both, [base]
    # Most functions don't simplify even for positive numbers: skip the costly sign queries.
    if evaluate_with_signs(body, ("positive",) * len(operands)) == body:
        return None
    evaluated = evaluate_with_signs(body, tuple(map(_sign, operands)))
    return None if evaluated == body else (evaluated, operands)


def _sign(operand: Operand) -> str:
    """Return SymPy's name of the assumption that holds for all entries of an operand."""
    if not is_tensor(operand):
        return "real"
    if operand._eval_is_positive():
        return "positive"
    if operand._eval_is_nonnegative():
        return "nonnegative"
    return "complex" if holds_complex(operand) else "real"


def _with_common_cores(body: Expr, values: dict[Slot, Operand]) -> Expr:
    """Move the numeric factors of operands that are multiples of one tensor into the body, where
    like terms can combine; update ``values`` accordingly."""
    multiples = {s: split_coefficient(v) for s, v in values.items() if is_tensor(v)}
    uses = Counter(core for _, core in multiples.values())
    factors = {s: c for s, (c, core) in multiples.items() if c is not S.One and uses[core] > 1}
    values.update({s: multiples[s][1] for s in factors})
    return body.xreplace({s: c * s for s, c in factors.items()}) if factors else body


def _of_one_plus_exp(body: Expr, operands: Sequence[Operand]) -> Operand | None:
    """Return the stable form of log(1 + exp(z)) or 1 / (1 + exp(z)), which has a short derivative
    and doesn't overflow; None for other bodies."""
    if len(operands) != 1 or body not in _WITH_NAMES:
        return None
    total = operands[0]
    if not isinstance(total, TensorAdd) or len(total.operands) != 2:
        return None
    others = [term for term in total.operands if not isinstance(term, Ones)]
    if len(others) != 1 or not isinstance(others[0], Elementwise) or others[0].body != EXP:
        return None
    stable = _OF_ONE_PLUS_EXP[body]
    number, _ = stable.args[0].as_coeff_Mul()
    return apply_body(stable.func(slot(0)), (scale(number, others[0].operands[0]),))


_WITH_NAMES = {LOG, slot(0) ** S.NegativeOne}
_OF_ONE_PLUS_EXP = DeferredTable(
    lambda: {
        body: STABLE_NAMES[body.subs(slot(0), 1 + exp(STABLE_ARGUMENT))] for body in _WITH_NAMES
    }
)


def fill_value(operand: Operand) -> Operand:
    """Return the scalar that all entries of a constant tensor equal; other operands unchanged."""
    if isinstance(operand, Zeros):
        return S.Zero
    if isinstance(operand, View) and operand.is_constant_fill:
        return contract(operand.operands, operand.subscripts, (), {})
    return operand
