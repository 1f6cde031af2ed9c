"""Diagonal matrices by their diagonals: a product with one scales rows or columns.

May import: einsum, elementwise, linalg, properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .einsum import Einsum, View, contract
from .elementwise import apply_body, slot
from .linalg import Inv
from .nodes import TensorExpr, rebuild
from .properties import is_diagonal
from .tensors import TensorSymbol
from .traversal import postorder, transform


def by_diagonals(exprs: Sequence[Any]) -> Sequence[Any]:
    """Equal expressions in which the factors of products that are declared diagonal are written
    as diagonals put in place, which products take in, and their inverses by reciprocals."""
    if not any(isinstance(node, TensorSymbol) and is_diagonal(node) for node in postorder(exprs)):
        return exprs

    def visit(node: Any, new: tuple[Any, ...]) -> Any:
        if isinstance(node, Inv) and is_diagonal(new[0]):
            return _placed(apply_body(1 / slot(0), (_diagonal(new[0]),)))
        if type(node) is Einsum:
            new = tuple([_placed(_diagonal(o)) if _is_dense(o) else o for o in new])
        return rebuild(node, new)

    return transform(exprs, visit)


def _is_dense(operand: Any) -> bool:
    return (
        isinstance(operand, TensorExpr) and not isinstance(operand, View) and is_diagonal(operand)
    )


def _diagonal(matrix: Any) -> Any:
    return contract((matrix,), ((0, 0),), (0,), {0: matrix.shape[0]})


def _placed(vector: Any) -> Any:
    return contract((vector,), ((0,),), (0, 0), {0: vector.shape[0]})
