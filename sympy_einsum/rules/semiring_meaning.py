"""The meaning of expressions in a semiring: sums, products and natural numbers of ones have one;
a node without, such as a difference or an inverse, is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import Add, Basic, Expr, Function, Mul, Pow, Symbol, preorder_traversal

from .. import expressions as nodes
from ..core import NodeTable, UnsupportedError, children, postorder, transform
from ..expressions import Operand, TensorExpr, rebuild


class Natural(Function):
    """A whole number k, such as an axis length, as the sum of k ones of a semiring."""

    is_commutative = True


def in_meaning(exprs: Sequence[Operand], semiring: str) -> list[Operand]:
    """Check that everything in expressions has a meaning, and mark the whole numbers in them.

    Raises
    ======

    UnsupportedError : something has none; the message names it
    """
    for node in reversed(postorder(exprs, _parts)):
        if not _has_meaning(node):
            raise UnsupportedError(
                f"{node!s:.200} means nothing in the semiring {semiring!r}: that has sums, "
                "products, powers by whole numbers, and a whole number k as the sum of k ones; "
                "pass other elements as arguments"
            )
    return transform(
        exprs, lambda node, new: Natural(node) if _is_whole(node) else _marked(node, new), _parts
    )


def _marked(node: Operand, operands: Sequence[Operand]) -> Operand:
    """Return a node of marked operands; the step of a loop is marked too."""
    built = rebuild(node, tuple(operands))
    if not isinstance(built, nodes.Scan):
        return built
    loop = built.loop
    outputs = transform(
        loop.open_outputs(),
        lambda own, new: Natural(own) if _is_whole(own) else _marked(own, new),
        _parts,
    )
    return loop.with_outputs(outputs).result(built.kind, built.place)


def _parts(node: Operand) -> Sequence[Operand]:
    return () if _is_whole(node) else children(node)


def _is_whole(node: Operand) -> bool:
    """Tell whether a scalar is a whole number for which symbols stand, such as axis lengths."""
    if isinstance(node, TensorExpr) or not isinstance(node, Expr) or not node.is_integer:
        return False
    free = node.free_symbols
    return bool(free) and all(isinstance(s, Symbol) and s.is_integer for s in free)


def _has_meaning(node: Operand) -> bool:
    if isinstance(node, TensorExpr):
        try:
            return MEANING[type(node)](node)
        except UnsupportedError:
            return False
    return _is_whole(node) or _is_operation(node)


def _is_operation(part: Basic) -> bool:
    """Tell whether a part of a scalar expression is one that a semiring has, but for its
    operands."""
    if isinstance(part, Mul):
        return not part.args[0].is_Number or _is_operation(part.args[0])
    if isinstance(part, Pow):
        return part.exp.is_Integer and part.exp.is_positive
    if part.is_Number:
        return part.is_Integer and part.is_nonnegative
    return isinstance(part, (Add, Symbol))


def _holds_natural_numbers(node: nodes.Constant) -> bool:
    array = node.array
    return array.dtype.kind in "biuf" and bool(((array >= 0) & (array % 1 == 0)).all())


def _always(node: Operand) -> bool:
    return True


# Whether a node of a type means something in a semiring, if its operands do.
MEANING: NodeTable[Callable[[Any], bool]] = NodeTable(
    "the value in a semiring",
    {
        **dict.fromkeys(
            [nodes.TensorSymbol, nodes.Zeros, nodes.Positions, nodes.Triangle, nodes.Reshape],
            _always,
        ),
        **dict.fromkeys([nodes.Einsum, nodes.TensorAdd], _always),
        nodes.View: lambda node: _is_operation(node.coefficient),
        nodes.Constant: _holds_natural_numbers,
        nodes.Elementwise: lambda node: all(map(_is_operation, preorder_traversal(node.body))),
        nodes.Scan: lambda node: all(map(_has_meaning, postorder(node.loop.outputs, _parts))),
        # Positions are whole numbers, which nothing is computed from.
        nodes.OneHot: lambda node: isinstance(node.indices, nodes.TensorSymbol),
    },
    refused=dict.fromkeys(
        [
            *(nodes.Inv, nodes.Det, nodes.LogDet, nodes.Adj, nodes.Cofactors, nodes.StackFunction),
            *(
                nodes.LogSumExp,
                nodes.Softmax,
                nodes.LogCumSumExp,
                nodes.RunningSoftmax,
                nodes.IntervalProducts,
            ),
            *(
                nodes.Extremum,
                nodes.ExtremumShare,
                nodes.Picked,
                nodes.Ranking,
                nodes.Fourier,
                nodes.Solution,
                nodes.LeviCivita,
                nodes.Unknown,
            ),
            nodes.Unevaluated,
        ],
        "a semiring has sums and products only",
    ),
)
