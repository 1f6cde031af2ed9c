"""Expressions in a semiring as ordinary ones: sums become maxima, minima or log-sum-exps, products
become sums. These have derivatives by the rules that there are for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from sympy import Expr, Number, S, Symbol, log

from ..contraction_order import contraction_path, nominal_length
from ..core import NodeTable, UnsupportedError, children, postorder
from ..expressions import (
    Constant,
    Einsum,
    Elementwise,
    OneHot,
    Operand,
    Positions,
    Reshape,
    Scan,
    Slot,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    View,
    Zeros,
    as_operand,
    contract,
    is_slice,
    order_of,
    replace_nodes,
    reshape_node,
    shape_of,
)
from ..operations import (
    add,
    broadcast_to,
    filled,
    logsumexp,
    max as max_,
    min as min_,
    multiply,
    stack,
    where,
)
from ..rules import MEANING, Natural, in_meaning


class Ordinary(NamedTuple):
    """The operations of a semiring: the sum over axes, the product of two elements, that of k equal
    ones, the neutral elements, and the sum of k ones."""

    total: Callable[..., Operand]
    times: Callable[[Operand, Operand], Operand]
    power: Callable[[Operand, Expr], Operand]
    zero: Expr
    one: Expr
    natural: Callable[[Operand], Operand] = lambda number: S.Zero

    def plus(self, terms: Sequence[Operand]) -> Operand:
        """Return the sum of terms of one shape; scalars are terms everywhere."""
        shape = next((shape_of(term) for term in terms if order_of(term)), ())
        return self.total(stack([broadcast_to(term, shape) for term in terms]), axis=0)

    def masked(self, mask: Operand, value: Operand) -> Operand:
        """Return a value where a mask is, zero elsewhere."""
        return where(mask, value, self.zero)


def _repeated(value: Operand, number: Expr) -> Operand:
    return multiply(number, value)


ORDINARY = {
    "max-plus": Ordinary(max_, add, _repeated, S.NegativeInfinity, S.Zero),
    "min-plus": Ordinary(min_, add, _repeated, S.Infinity, S.Zero),
    "max-times": Ordinary(max_, multiply, lambda v, k: v**k, S.Zero, S.One, lambda number: S.One),
    "log": Ordinary(logsumexp, add, _repeated, S.NegativeInfinity, S.Zero, log),
}


def in_semiring(expr: Operand, semiring: str) -> Operand:
    """Return the ordinary expression that has the values of an expression in a semiring.

    ``lambdify(…, semiring=…)`` computes the same faster; this has derivatives. In the semiring of
    logarithms they are exact: that of the weight of all ways by the weights of steps is how often
    a step is taken, the posterior marginals [E]. Those of max-plus and min-plus are subgradients:
    1 on the best way, shared equally where several are best, 0 elsewhere.

    Parameters
    ==========

    expr : a tensor expression, or a SymPy scalar with tensor expressions inside, of sums, products
        and whole numbers
    semiring : ``"max-plus"``, ``"min-plus"``, ``"max-times"``, ``"log"`` or ``"count"``; products
        of several are contracted two at a time, in an order that is good for equal lengths

    Returns
    =======

    An expression of the same shape.

    Raises
    ======

    UnsupportedError : something has no meaning in the semiring, or that isn't one of these

    Examples
    ========

    >>> import sympy_einsum as se
    >>> D, x = se.TensorSymbol("D", 3, 3), se.TensorSymbol("x", 3)
    >>> way = se.in_semiring((D @ x).sum(), "min-plus")
    >>> way
    (D + x[None, :]).min(axis=1).min()
    >>> distances = [[5, 1, 9], [1, 5, 2], [9, 2, 5]]
    >>> print(se.lambdify([D, x], se.gradient(way, D))(distances, [0, 4, 3]))
    [[0. 0. 0.]
     [1. 0. 0.]
     [0. 0. 0.]]

    References
    ==========

    [E] J. Eisner, "Inside-Outside and Forward-Backward Algorithms Are Just Backprop", 2016.
    """
    expr = as_operand(expr)
    if not isinstance(semiring, str) or semiring not in (*ORDINARY, "count"):
        raise UnsupportedError(
            f"no ordinary expressions for the semiring {semiring!r:.80}; there are those for "
            f"{', '.join(ORDINARY)} and count"
        )
    marked = in_meaning([expr], semiring)
    return expr if semiring == "count" else _ordinary(ORDINARY[semiring], marked)[0]


def _ordinary(meaning: Ordinary, marked: Sequence[Operand]) -> list[Operand]:
    """Return the ordinary expressions for some in a semiring."""
    values: dict[Operand, Operand] = {}
    for node in postorder(marked, _parts):
        operands = [values[part] for part in _parts(node)]
        is_tensor = isinstance(node, TensorExpr)
        values[node] = (ROWS[type(node)] if is_tensor else _scalar_in_semiring)(
            meaning, node, operands
        )
    return [values[node] for node in marked]


def _scan_in_semiring(meaning: Ordinary, node: Scan, operands: Sequence[Operand]) -> Operand:
    """Convert a loop, whose step is an ordinary one."""
    loop = node.loop
    given = loop.with_operands(operands)
    outputs = replace_nodes(_ordinary(meaning, loop.outputs), given.invariant_values)
    return given.with_outputs(outputs).result(node.kind, node.place)


def _parts(node: Operand) -> Sequence[Operand]:
    return () if isinstance(node, Natural) else children(node)


def _scalar_in_semiring(meaning: Ordinary, node: Expr, operands: Sequence[Operand]) -> Operand:
    if isinstance(node, Natural):
        return meaning.natural(node.args[0])
    return node if isinstance(node, Symbol) else _operation_in_semiring(meaning, node, operands)


def _operation_in_semiring(meaning: Ordinary, node: Expr, operands: Sequence[Operand]) -> Operand:
    """Convert a whole number, a sum, a product or a power of operands."""
    if isinstance(node, Number):
        return meaning.natural(node) if node else meaning.zero
    if node.is_Pow:
        return meaning.power(operands[0], node.exp)
    return reduce(meaning.times, operands) if node.is_Mul else meaning.plus(operands)


def _elementwise_in_semiring(
    meaning: Ordinary, node: Elementwise, operands: Sequence[Operand]
) -> Operand:
    values: dict[Expr, Operand] = {}
    for part in postorder([node.body]):
        if isinstance(part, Slot):
            values[part] = operands[part.place]
        else:
            values[part] = _operation_in_semiring(meaning, part, [values[arg] for arg in part.args])
    return broadcast_to(values[node.body], node.shape)


def _constant_in_semiring(
    meaning: Ordinary, node: Constant, operands: Sequence[Operand]
) -> Operand:
    known = {k: float(_operation_in_semiring(meaning, S(int(k)), ())) for k in {*node.array.flat}}
    return Constant(np.vectorize(known.__getitem__)(node.array))


def _view_in_semiring(meaning: Ordinary, node: View, operands: Sequence[Operand]) -> Operand:
    lengths = dict(enumerate(node.lengths))
    scalars = reduce(meaning.times, operands[: len(node.scalars)], meaning.one)
    value = filled(scalars, node.shape)
    if node.core is not None:
        moved = contract(operands[-1:], node.subscripts[-1:], node.output, lengths)
        value = meaning.times(moved, scalars)
    if len({*node.output}) == node.order:
        return value
    return meaning.masked(contract((), (), node.output, lengths), value)


def _product_in_semiring(meaning: Ordinary, node: Einsum, operands: Sequence[Operand]) -> Operand:
    lengths = dict(enumerate(node.lengths))
    if is_slice(node):
        pairs = zip(node.operands, operands, strict=True)
        selected = [own if isinstance(own, Positions) else value for own, value in pairs]
        return contract(selected, node.subscripts, node.output, lengths)
    sizes = tuple([(i, nominal_length(length)) for i, length in lengths.items()])
    found = dict(enumerate(zip(operands, node.subscripts, strict=True)))
    path = contraction_path(node.subscripts, node.output, sizes)
    for number, step in enumerate(path, start=len(operands)):
        chosen = [found.pop(k) for k in step]
        labels = tuple(dict.fromkeys(i for _, own in chosen for i in own))
        aligned = [
            contract((value,), (own,), labels, {i: lengths[i] for i in labels})
            for value, own in chosen
        ]
        rest = {i for _, own in found.values() for i in own}.union(node.output)
        value = reduce(meaning.times, aligned)
        axes = tuple([axis for axis, i in enumerate(labels) if i not in rest])
        if axes:
            value = meaning.total(value, axis=axes)
        found[number] = value, tuple([i for i in labels if i in rest])
    ((value, labels),) = found.values()
    return contract((value,), (labels,), node.output, {i: lengths[i] for i in node.output})


# The ordinary expression for a node of a type, given those for its operands.
ROWS: NodeTable[Callable[..., Operand]] = NodeTable(
    "the ordinary expression for a value in a semiring",
    {
        TensorSymbol: lambda meaning, node, operands: node,
        Constant: _constant_in_semiring,
        Zeros: lambda meaning, node, operands: filled(meaning.zero, node.shape),
        **dict.fromkeys(
            [Positions, Triangle, OneHot],
            lambda meaning, node, operands: meaning.masked(node, meaning.one),
        ),
        Einsum: _product_in_semiring,
        View: _view_in_semiring,
        TensorAdd: lambda meaning, node, operands: meaning.plus(operands),
        Elementwise: _elementwise_in_semiring,
        Scan: _scan_in_semiring,
        Reshape: lambda meaning, node, operands: reshape_node(operands[0], node.shape),
    },
    refused=MEANING.refused,
)
