"""What an expression costs to evaluate: the measure that decides between two forms of it.

The unit is one multiplication inside a contraction; every symbolic length counts as the same
number. Writing an array out costs more than the arithmetic on it, so an entry of a sum or of an
elementwise function counts several times. Each distinct node counts once: what is shared is
computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from math import prod
from typing import Any

from sympy import Expr, S

from ..core import ENTRY, children, contraction_cost, nominal_length, postorder
from ..expressions import (
    Adj,
    Cofactors,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    LogSumExp,
    Softmax,
    TensorAdd,
    TensorExpr,
    View,
    inside_log,
)

FUNCTION = 20
# The measure is no finer than this.
SLACK = 1.02
# Times the cube of the length.
FACTORIZATIONS = {Inv: 3, Det: 1, LogDet: 1, Adj: 20, Cofactors: 20}


def cost(exprs: Iterable[Any], known: Collection[Any] = ()) -> int:
    """The number of multiplications that evaluating the expressions amounts to; ``known`` nodes
    are there already.

    >>> import sympy_einsum as se
    >>> (A, B), x = se.tensors("A B", 9, 9), se.TensorSymbol("x", 9)
    >>> cost([A @ (B @ x)]) < cost([(A @ B) @ x])
    True
    """
    order = postorder(exprs, lambda node: () if node in known else children(node))
    return sum(_node_cost(node) for node in order if node not in known)


def _node_cost(node: Any) -> int:
    if not isinstance(node, TensorExpr):
        return len(node.args)
    if not node.operands:
        return 0
    entries = prod(nominal_length(n) for n in node.shape)
    if isinstance(node, View):
        # A rearrangement is free, and a minus becomes a subtraction.
        if node.core is None or node.scalars in ((), (S.NegativeOne,)):
            return 0
        return ENTRY * _smallest_factor(node)
    if isinstance(node, Einsum):
        sizes = tuple((k, nominal_length(n)) for k, n in enumerate(node.lengths))
        return contraction_cost(node.subscripts, node.output, sizes)
    if isinstance(node, TensorAdd):
        return ENTRY * entries * len(node.operands)
    if inside_log(node):
        return ENTRY * entries  # what is left of a logarithm of exponentials is a difference
    if isinstance(node, Elementwise):
        return entries * _body_cost(node.body)
    if isinstance(node, (Softmax, LogSumExp)):
        return (FUNCTION + ENTRY) * prod(nominal_length(n) for n in node.operands[0].shape)
    factor = FACTORIZATIONS.get(type(node), 0)
    if not factor:
        return 0
    n = nominal_length(node.operands[0].shape[0])
    return factor * n**3 + (n * entries if isinstance(node, Cofactors) else 0)


def _smallest_factor(view: View) -> int:
    """Entries of what a scalar factor is multiplied to: the view's diagonal, or an operand of the
    product below, after what only that operand has is summed."""
    lengths = [nominal_length(n) for n in view.lengths]
    sizes = [prod(lengths[i] for i in set(view.subscripts[-1]))]
    core = view.core
    if type(core) is Einsum:
        count = Counter(i for term in (*map(set, core.subscripts), core.output) for i in term)
        lengths = [nominal_length(n) for n in core.lengths]
        sizes += [prod(lengths[i] for i in set(t) if count[i] > 1) for t in core.subscripts]
    return min(sizes)


@lru_cache(maxsize=4096)
def _body_cost(body: Expr) -> int:
    def operation(part: Any) -> int:
        is_power = part.is_Pow and not (part.exp.is_Integer or abs(part.exp) == S.Half)
        return FUNCTION if part.is_Function or is_power else 1

    return ENTRY + sum(operation(part) for part in postorder([body]) if part.args)
