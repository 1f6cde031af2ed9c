"""What an expression costs to evaluate: the measure that decides between two forms of it.

The unit is one multiplication inside a contraction; every symbolic length counts as the same
number. Writing an array out costs more than the arithmetic on it, so an entry of a sum or of an
elementwise function counts several times. Each distinct node counts once: what is shared is
computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from math import prod
from typing import Any

from sympy import Basic, Expr, S

from ..core import ENTRY, NodeTable, children, contraction_cost, nominal_length, postorder
from ..expressions import (
    Adj,
    AxesFunction,
    Cofactors,
    Constant,
    Det,
    Einsum,
    Elementwise,
    IntervalProducts,
    Inv,
    LogDet,
    LogSumExp,
    MatrixFunction,
    Operand,
    Reshape,
    RunningFunction,
    RunningSoftmax,
    Selection,
    Softmax,
    StackFunction,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unit,
    View,
    Zeros,
    inside_log,
)

FUNCTION = 20
# Matrices that are never built where one of their indices is summed.
RUNNING = (Triangle, IntervalProducts, RunningSoftmax)
# The measure is no finer than this.
SLACK = 1.02


def cost(exprs: Iterable[Operand], known: Collection[Operand] = ()) -> int:
    """The number of multiplications that evaluating the expressions amounts to; ``known`` nodes
    are there already.

    >>> import sympy_einsum as se
    >>> (A, B), x = se.tensors("A B", 9, 9), se.TensorSymbol("x", 9)
    >>> cost([A @ (B @ x)]) < cost([(A @ B) @ x])
    True
    """
    order = postorder(exprs, lambda node: () if node in known else children(node))
    return sum(_node_cost(node) for node in order if node not in known)


def _node_cost(node: Operand) -> int:
    return COSTS[type(node)](node) if isinstance(node, TensorExpr) else len(node.args)


def _nothing(node: TensorExpr) -> int:
    return 0


def _entries(node: TensorExpr) -> int:
    return prod(nominal_length(n) for n in node.shape)


def _view_cost(node: View) -> int:
    """A rearrangement is free, and a minus becomes a subtraction."""
    if node.core is None or node.scalars in ((), (S.NegativeOne,)):
        return 0
    return ENTRY * _smallest_factor(node)


def _product_cost(node: Einsum) -> int:
    sizes = tuple((k, nominal_length(n)) for k, n in enumerate(node.lengths))
    if any(isinstance(operand, RUNNING) for operand in node.operands):
        return _running_product_cost(node, dict(sizes))
    return contraction_cost(node.subscripts, node.output, sizes)


def _running_product_cost(node: Einsum, sizes: dict[int, int]) -> int:
    """What runs along an axis costs as much as a product entry by entry, and a slice less, unless
    all entries of a matrix are needed."""
    image = {i: i for i in sizes}
    terms = []
    for operand, labels in zip(node.operands, node.subscripts, strict=True):
        is_one = isinstance(operand, (*RUNNING, Selection))
        old, new = sorted([image[i] for i in labels[-2:]] if is_one else (0, 0))
        outside = [image[i] for i in node.output]
        if not is_one or (old in outside and new in outside):
            terms.append(labels)
            continue
        old, new = (old, new) if new in outside else (new, old)
        image = {i: new if own == old else own for i, own in image.items()}
        sizes[new] = max(sizes[old], sizes[new])
        terms.append(labels[:-1] if not isinstance(operand, Selection) else ())
    merged = tuple([tuple(dict.fromkeys(image[i] for i in labels)) for labels in terms if labels])
    output = tuple(dict.fromkeys(image[i] for i in node.output))
    return contraction_cost(merged, output, tuple(sizes.items()))


def _sum_cost(node: TensorAdd) -> int:
    return ENTRY * _entries(node) * len(node.operands)


def _entrywise_cost(node: Elementwise) -> int:
    """What is left of a logarithm of exponentials is a difference."""
    return _entries(node) * (ENTRY if inside_log(node) else _body_cost(node.body))


def _exponentials_cost(node: AxesFunction) -> int:
    return (FUNCTION + ENTRY) * _entries(node.operands[0])


def _running_cost(node: RunningFunction) -> int:
    """Products with its matrices are linear recurrences."""
    return (FUNCTION + ENTRY) * _entries(node.operands[0])


def _factorized(times: int) -> Callable[[MatrixFunction], int]:
    """So many factorizations of the matrix."""
    return lambda node: times * nominal_length(node.operands[0].shape[0]) ** 3


def _decomposed(node: StackFunction) -> int:
    """A factorization of each matrix, with iterations."""
    matrices = node.operands[0]
    return 10 * _entries(matrices) * min(nominal_length(n) for n in matrices.shape[-2:])


def _cofactors_cost(node: Cofactors) -> int:
    n = nominal_length(node.shape[0])
    return 20 * n**3 + n * _entries(node)


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
    def operation(part: Basic) -> int:
        is_power = part.is_Pow and not (part.exp.is_Integer or abs(part.exp) == S.Half)
        return FUNCTION if part.is_Function or is_power else 1

    return ENTRY + sum(operation(part) for part in postorder([body]) if part.args)


COSTS: NodeTable[Callable[[Any], int]] = NodeTable(
    "the cost",
    {
        TensorSymbol: _nothing,
        Zeros: _nothing,
        Constant: _nothing,
        Unit: _nothing,
        Selection: _nothing,
        Triangle: _nothing,
        Reshape: _nothing,
        View: _view_cost,
        Einsum: _product_cost,
        TensorAdd: _sum_cost,
        Elementwise: _entrywise_cost,
        Softmax: _exponentials_cost,
        LogSumExp: _exponentials_cost,
        RunningFunction: _running_cost,
        Inv: _factorized(3),
        Det: _factorized(1),
        LogDet: _factorized(1),
        Adj: _factorized(20),
        Cofactors: _cofactors_cost,
        StackFunction: _decomposed,
    },
)
