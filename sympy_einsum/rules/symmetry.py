"""Rules for symmetric matrices."""

from __future__ import annotations

from itertools import product as combinations

from ..expressions import Einsum, Operand, TensorExpr, View, contract
from .properties import is_symmetric
from .written_products import Closed

# Symmetric operands can be turned round; beyond this many they stay as they are.
MAX_SYMMETRIC = 4


def transpose_symmetric(node: Operand, closed: Closed) -> Operand | None:
    """The transpose of a symmetric matrix is the matrix."""
    core = node.core
    if core is None or not is_symmetric(core):
        return None
    first, second = node.subscripts[-1]
    if first == second or node.output.index(first) < node.output.index(second):
        return None
    subscripts = (*node.subscripts[:-1], (second, first))
    return contract(node.operands, subscripts, node.output, dict(enumerate(node.lengths)))


def order_symmetric(node: Operand, closed: Closed) -> Operand | None:
    """Symmetric operands turned round so that equal products look alike."""
    flexible = [
        k for k, operand in enumerate(node.operands) if operand.shape and is_symmetric(operand)
    ]
    if not flexible or len(flexible) > MAX_SYMMETRIC:
        return None
    lengths = dict(enumerate(node.lengths))
    candidates = []
    for flips in combinations((False, True), repeat=len(flexible)):
        subscripts = list(node.subscripts)
        for k, flip in zip(flexible, flips, strict=True):
            if flip:
                subscripts[k] = subscripts[k][::-1]
        candidates.append(contract(node.operands, subscripts, node.output, lengths))
    return min(candidates, key=_simplicity)


def _simplicity(node: Operand) -> Operand:
    """Few transposes before many, dense products before rearranged ones, then by index names."""
    if not isinstance(node, Einsum):
        return (0, 0, ())
    core = node.core if isinstance(node, View) else node
    return (
        _transposes(core) if type(core) is Einsum else 0,
        isinstance(node, View),
        (_indices(core), _indices(node)),
    )


def _indices(node: TensorExpr | None) -> tuple[Operand, ...]:
    return (node.subscripts, node.output) if isinstance(node, Einsum) else ()


def _transposes(product: Einsum) -> int:
    """How often two matrices meet on the same axis, or a vector stands on the left."""
    axes: dict[int, list[int]] = {}
    for term in product.subscripts:
        for axis, label in enumerate(term):
            axes.setdefault(label, []).append(axis if len(term) > 1 else 0)
    return sum(len(met) == 2 and met[0] == met[1] for met in axes.values())
