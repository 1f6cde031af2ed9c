"""Rules for functions applied entry by entry, and for the scalars they are applied to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sympy import Expr, S, exp, log

from ..einsum import View, contract, scale
from ..elementwise import Elementwise, apply_body, slot
from ..functions import sigmoid, softplus

_S = slot(0)
_EXP, _LOG = exp(_S), log(_S)
# Bodies that have a name with a short derivative, which doesn't overflow.
RECOGNISED: dict[Expr, Expr] = {
    log(1 + exp(_S)): softplus(_S),
    log(1 + exp(-_S)): softplus(-_S),
    1 / (1 + exp(-_S)): sigmoid(_S),
    1 / (1 + exp(_S)): sigmoid(-_S),
    exp(_S) / (1 + exp(_S)): sigmoid(_S),
    exp(-_S) / (1 + exp(-_S)): sigmoid(-_S),
    log(sigmoid(_S)): -softplus(-_S),
    log(sigmoid(-_S)): -softplus(_S),
}


def compose(node: Any, closed: Collection[Any]) -> Any:
    """A function of a function, or of a multiple, where the two together are simpler: SymPy's own
    evaluation finds exp(log(x)), sqrt(x)**2 or cos(-x)."""
    if node.body in RECOGNISED:
        return apply_body(RECOGNISED[node.body], node.operands)
    if node.body.is_Function and len(node.operands) == len(node.body.args) == 1:
        # The factor belongs to the operand: f(2 s) of x is f(s) of 2 x.
        factor, argument = node.body.args[0].as_coeff_Mul()
        if factor is not S.One and argument == _S:
            return apply_body(node.body.func(_S), (scale(factor, node.operands[0]),))
    for k, operand in enumerate(node.operands):
        coefficient, core = _multiple(operand)
        if isinstance(core, Elementwise):
            inner, below = core.body, core.operands
        else:
            inner, below = _S, (core,)
        if inner == _S and coefficient is S.One:
            continue
        count = len(node.operands)
        moved = inner.xreplace({slot(j): slot(count + j) for j in range(len(below))})
        body = node.body.xreplace({slot(k): coefficient * moved})
        named = body.xreplace({slot(count): _S})
        if len(node.operands) == len(below) == 1 and named in RECOGNISED:
            return apply_body(RECOGNISED[named], below)
        # The inner function is gone, or all is shorter: then this isn't a mere composition.
        before = node.body.count_ops() + (coefficient * inner).count_ops()
        gone = inner != _S and not body.has(moved)
        pulled_out = inner == _S and body.as_coeff_Mul()[1].count_ops() <= node.body.count_ops()
        if pulled_out or body.count_ops() < before or (gone and body.count_ops() <= before):
            return apply_body(body, (*node.operands, *below))
    return None


def of_rearranged(node: Any, closed: Collection[Any]) -> Any:
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


def _multiple(tensor: Any) -> tuple[Any, Any]:
    """The numeric factor of a tensor that is otherwise not rearranged."""
    plain = (
        isinstance(tensor, View)
        and tensor.core is not None
        and tensor.scalars == (tensor.coefficient,)
        and tensor.output == tensor.subscripts[-1]
        and len(set(tensor.output)) == len(tensor.output)
    )
    return (tensor.coefficient, tensor.core) if plain else (S.One, tensor)
