"""Diagonal matrices by their diagonals: a product with one scales rows or columns."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Abs, Eq, Piecewise, S, log

from ..analysis import is_diagonal
from ..core import postorder, transform
from ..expressions import (
    Adj,
    Det,
    Einsum,
    Inv,
    LogDet,
    Operand,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    View,
    apply_body,
    as_number,
    contract,
    rebuild,
    slot,
    tensor_sum,
)


def by_diagonals(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Rewrite factors of products that are declared diagonal as embedded diagonals, which products
    absorb; sums, inverses, adjugates and determinants of them are those of the diagonals."""
    if not any(isinstance(node, TensorSymbol) and is_diagonal(node) for node in postorder(exprs)):
        return exprs

    def visit(node: Operand, new: tuple[Operand, ...]) -> Operand:
        if isinstance(node, Inv) and is_diagonal(new[0]):
            return _diagonal_matrix(apply_body(1 / slot(0), (_diagonal(new[0]),)))
        if isinstance(node, LogDet) and is_diagonal(new[0]):
            logarithms = apply_body(log(Abs(slot(0))), (_diagonal(new[0]),))
            return contract((logarithms,), ((0,),), (), {0: logarithms.shape[0]})
        if isinstance(node, Det) and is_diagonal(new[0]):
            return _product_of(_diagonal(new[0]))
        if isinstance(node, Adj) and is_diagonal(new[0]):
            return _diagonal_matrix(_products_of_others(_diagonal(new[0])))
        if isinstance(node, TensorAdd) and is_diagonal(node):
            return _diagonal_matrix(tensor_sum([_diagonal(term) for term in new]))
        if type(node) is Einsum:
            new = tuple([_diagonal_matrix(_diagonal(o)) if _is_dense(o) else o for o in new])
        return rebuild(node, new)

    return transform(exprs, visit)


def _is_dense(operand: Operand) -> bool:
    return (
        isinstance(operand, TensorExpr) and not isinstance(operand, View) and is_diagonal(operand)
    )


def _diagonal(matrix: Operand) -> Operand:
    return contract((matrix,), ((0, 0),), (0,), {0: matrix.shape[0]})


def _diagonal_matrix(vector: Operand) -> Operand:
    return contract((vector,), ((0,),), (0, 0), {0: vector.shape[0]})


def _product_of(vector: Operand) -> Operand:
    """Return the product of the entries: the determinant of a matrix known to be diagonal."""
    return Det._build((_diagonal_matrix(vector),), ())


def _products_of_others(vector: Operand) -> Operand:
    """Return for each entry the product of the others, also where some are zero."""
    d, nonzero, product, zeros = (slot(k) for k in range(4))
    others = apply_body(Piecewise((S.One, Eq(d, 0)), (d, True)), (vector,))
    count = contract(
        (apply_body(as_number(Eq(d, 0)), (vector,)),), ((0,),), (), {0: vector.shape[0]}
    )
    lonely = Piecewise((product, Eq(d, 0)), (S.Zero, True))
    body = Piecewise((product / nonzero, Eq(zeros, 0)), (lonely, Eq(zeros, 1)), (S.Zero, True))
    return apply_body(body, (vector, others, _product_of(others), count))
