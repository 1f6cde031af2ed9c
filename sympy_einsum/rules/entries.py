"""Rules for functions applied entry by entry, and for the scalars they are applied to."""

from __future__ import annotations

from functools import lru_cache

from sympy import Add, Expr, S

from ..core import modulus
from ..expressions import (
    Elementwise,
    Operand,
    View,
    apply_body,
    contract,
    replaced,
    scale,
    slot,
    tensor_sum,
)
from .written_products import Closed

_S = slot(0)


def factor_inside(node: Operand, closed: Closed) -> Operand | None:
    """The factor belongs to the operand: f(2 s) of x is f(s) of 2 x."""
    if node.body.is_Function and len(node.operands) == len(node.body.args) == 1:
        factor, argument = node.body.args[0].as_coeff_Mul()
        if factor is not S.One and argument == _S:
            return apply_body(node.body.func(_S), (scale(factor, node.operands[0]),))
    return None


# Functions of more operands stay a composition: the time that SymPy takes for them grows with a
# power of their number.
MAX_OPERANDS = 8


def compose(node: Operand, closed: Closed) -> Operand | None:
    """A function of a function, or of a multiple, where the two together are simpler: SymPy's own
    evaluation finds exp(log(x)), sqrt(x)**2 or cos(-x)."""
    for k, operand in enumerate(node.operands):
        coefficient, core = _multiple(operand)
        if isinstance(core, Elementwise):
            inner, below = core.body, core.operands
        else:
            inner, below = _S, (core,)
        if inner == _S and coefficient is S.One:
            continue
        count = len(node.operands)
        if count + len(below) > MAX_OPERANDS:
            continue
        moved = replaced(inner, tuple([(slot(j), slot(count + j)) for j in range(len(below))]))
        body = replaced(node.body, ((slot(k), coefficient * moved),))
        # The inner function is gone, or all is shorter: then this isn't a mere composition.
        before = _operations(node.body) + _operations(coefficient * inner)
        gone = inner != _S and not body.has(moved)
        pulled_out = inner == _S and _operations(body.as_coeff_Mul()[1]) <= _operations(node.body)
        if pulled_out or _operations(body) < before or (gone and _operations(body) <= before):
            return apply_body(body, (*node.operands, *below))
    return None


def open_modulus(node: Operand, closed: Closed) -> Operand | None:
    """An even power of a modulus is one of a sum of squares, with simpler derivatives."""
    count = len(node.operands)
    for k, operand in enumerate(node.operands):
        if isinstance(operand, Elementwise) and isinstance(operand.body, modulus):
            below = operand.operands
            pairs = tuple([(slot(j), slot(count + j)) for j in range(len(below))])
            moved = replaced(operand.body, pairs)
            body = replaced(node.body, ((slot(k), moved),))
            if not body.has(moved):
                operands = (*node.operands, *below)
                return tensor_sum([apply_body(term, operands) for term in Add.make_args(body)])
    return None


def of_rearranged(node: Operand, closed: Closed) -> Operand | None:
    """A function of a transposed or repeated tensor is the function, transposed or repeated."""
    if len(node.operands) != 1 or not isinstance(node.operands[0], View):
        return None
    view = node.operands[0]
    indices = view.subscripts[-1] if view.core is not None else ()
    is_plain = len(set(indices)) == len(indices) and len(set(view.output)) == len(view.output)
    if view.core is None or not is_plain or view.output == indices:
        return None
    lengths = {i: view.lengths[i] for i in indices}
    core = contract(view.operands, view.subscripts, indices, lengths)
    inner = apply_body(node.body, (core,))
    return contract((inner,), (indices,), view.output, dict(enumerate(view.lengths)))


@lru_cache(maxsize=4096)
def _operations(body: Expr) -> int:
    return int(body.count_ops())


def _multiple(tensor: Operand) -> tuple[Expr, Operand]:
    """The numeric factor of a tensor that is otherwise not rearranged."""
    plain = (
        isinstance(tensor, View)
        and tensor.core is not None
        and tensor.scalars == (tensor.coefficient,)
        and tensor.output == tensor.subscripts[-1]
        and len(set(tensor.output)) == len(tensor.output)
    )
    return (tensor.coefficient, tensor.core) if plain else (S.One, tensor)
