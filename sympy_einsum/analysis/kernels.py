"""Positive semidefinite kernels: exp(-D) of squared distances D.

The exponential of the entries of G + u 1' + 1 u' is exp(u) exp(u)' * exp(G), which is semidefinite
if G is: a sum of powers of G with positive factors [HJ, thm 7.5.9].

References
==========

[HJ] R. A. Horn, C. R. Johnson, "Matrix Analysis", 2012.
"""

from __future__ import annotations

from sympy import Integer, Mul, S

from ..expressions import (
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    TensorExpr,
    View,
    Zeros,
    contract,
    scale,
    slot,
    tensor_sum,
)
from .inlined_products import inlined_product


def inner_part(matrix: Operand) -> Operand | None:
    """Return the G of a matrix G + u 1' + 1 u'; None if what is constant along the one axis isn't
    what is so along the other.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> print(inner_part(-((x[:, None] - x[None, :]) ** 2)))
    2*outer(x, x)
    """
    if isinstance(matrix, View) and matrix.core is not None and matrix.core.order == 2:
        inner = inner_part(matrix.core) if matrix.output == matrix.subscripts[-1] else None
        return None if inner is None else scale(Mul(*matrix.scalars), inner)
    if not isinstance(matrix, TensorAdd):
        squared = squared_difference(matrix)
        return matrix if squared is None else squared
    by_row, by_column, rest = set(), set(), []
    for term in matrix.operands:
        if not _has_axis(term, 1):
            by_row.add(term)
        elif not _has_axis(term, 0):
            by_column.add(_exchanged(term, 0, 1))
        else:
            rest.append(inner_part(term))
    found = [inner for inner in rest if inner is not None]
    if by_row != by_column or len(found) < len(rest):
        return None
    return tensor_sum(found) if found else Zeros(*matrix.shape)


SQUARE = slot(0) ** 2


def squared_difference(matrix: Operand) -> Operand | None:
    """Return of a matrix Σ_k w_k (V_ki - V_kj)^2 the summand that isn't constant along an axis: -2
    Σ_k w_k V_ki V_kj; None for other matrices."""
    if not isinstance(matrix, Einsum) and not _is_square(matrix):
        return None
    if matrix.order != 2 or (isinstance(matrix, Einsum) and len({*matrix.output}) < 2):
        return None
    product = inlined_product(matrix)
    row, column = product.output
    places = [k for k, own in enumerate(product.subscripts) if {row, column} & {*own}]
    found = {(product.operands[k], product.subscripts[k]) for k in places}
    if len(found) > 1 or not found:
        return None
    ((tensor, labels),) = found
    if len(places) == 1 and _is_square(tensor):
        (tensor,) = tensor.operands
    elif len(places) != 2:
        return None
    if labels.count(row) != 1 or labels.count(column) != 1:
        return None
    axes = labels.index(row), labels.index(column)
    first = _minuend(tensor, *axes)
    if first is None:
        return None
    new = [(first, labels), (_exchanged(first, *axes), labels)]
    return scale(Integer(-2), product.replaced({*places}, new).build())


def _minuend(tensor: Operand, first: int, second: int) -> TensorExpr | None:
    """Return the V of a tensor V - V', where V is constant along the second of two axes, and V' is
    V with the two exchanged."""
    if not isinstance(tensor, TensorAdd) or len(tensor.operands) != 2:
        return None
    for minuend, subtrahend in (tensor.operands, tensor.operands[::-1]):
        if _has_axis(minuend, second) or not _has_axis(minuend, first):
            continue
        if scale(S.NegativeOne, _exchanged(minuend, first, second)) is subtrahend:
            return minuend
    return None


def _has_axis(tensor: Operand, axis: int) -> bool:
    """Tell whether a tensor isn't constant along an axis."""
    if not isinstance(tensor, View):
        return True
    return tensor.core is not None and tensor.output[axis] in tensor.subscripts[-1]


def _is_square(node: Operand) -> bool:
    return isinstance(node, Elementwise) and node.body == SQUARE


def _exchanged(tensor: TensorExpr, first: int, second: int) -> TensorExpr:
    """Exchange two axes of a tensor."""
    axes = list(range(tensor.order))
    axes[first], axes[second] = axes[second], axes[first]
    return contract((tensor,), (range(tensor.order),), axes, dict(enumerate(tensor.shape)))
