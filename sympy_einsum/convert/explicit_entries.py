"""Entry-by-entry evaluation to ``sympy.Array``, for numeric axis lengths.

Meant for small tensors and for checking results by eye: the cost grows with the number of entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from sympy import Array, LeviCivita, Matrix, S, exp, log, sympify

from ..core import ShapeError, UnsupportedError, transform
from ..expressions import (
    Adj,
    Cofactors,
    Constant,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    LogSumExp,
    Reshape,
    Selection,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Unit,
    Zeros,
    order_of,
    slot,
)
from ..operations import getitem


def as_explicit(expr: Any) -> Any:
    """The entries of a tensor expression as a ``sympy.Array``; a scalar for order 0.

    Raises
    ======

    ShapeError : an axis length isn't a number; substitute numbers for the symbols first

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", (2,))
    >>> (x * x).as_explicit()
    [x[0]**2, x[1]**2]
    """
    entries = transform([expr], _entries)[0]
    return Array(entries.tolist(), shape=entries.shape) if order_of(expr) else entries[()]


def _entries(node: Any, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    """The node's entries as an array of SymPy scalars, from those of its operands."""
    if not isinstance(node, TensorExpr):
        below = [operand[()] for operand in operands]
        return _boxed(node.func(*below) if below and tuple(below) != node.args else node)
    if any(not length.is_Integer for length in node.shape):
        raise ShapeError(
            f"as_explicit needs numeric lengths, not {node.shape}; substitute them: e.subs(n, 3)"
        )
    shape = tuple(int(length) for length in node.shape)
    positions = product(*[range(length) for length in shape])
    if isinstance(node, TensorSymbol):
        return _filled(shape, {p: getitem(node, p) if p else node for p in positions})
    if isinstance(node, Constant):
        return _filled(shape, {p: sympify(node.array[p].item()) for p in positions})
    if isinstance(node, Zeros):
        return _filled(shape, {})
    if isinstance(node, Unit):
        return _filled(shape, {(int(node.position),): S.One})
    if isinstance(node, Selection):
        ones = {(k, int(node.start + k * node.step)): S.One for k in range(int(node.count))}
        return _filled(shape, ones)
    if isinstance(node, TensorAdd):
        return sum(operands[1:], operands[0])
    if isinstance(node, Elementwise):
        return _filled(
            shape,
            {
                p: node.body.xreplace(
                    {slot(k): o[p if o.ndim else ()] for k, o in enumerate(operands)}
                )
                for p in positions
            },
        )
    if isinstance(node, Reshape):
        return operands[0].reshape(shape)
    if isinstance(node, Einsum):
        return _einsum_entries(node, operands, shape)
    if isinstance(node, (LogSumExp, Softmax)):
        exponents = operands[0]
        every = np.ndindex(exponents.shape)
        powers = _filled(exponents.shape, {p: exp(exponents[p]) for p in every})
        total = powers.sum(axis=node.axes, keepdims=True)
        if isinstance(node, Softmax):
            return powers / total
        total = total.reshape(shape)
        return _filled(shape, {p: log(total[p]) for p in positions})
    matrix = Matrix(operands[0].tolist())
    if isinstance(node, Inv):
        return _matrix_entries(matrix.inv())
    if isinstance(node, Adj):
        return _matrix_entries(matrix.adjugate())
    if isinstance(node, Cofactors):
        return _filled(shape, {p: _cofactor(matrix, p[::2], p[1::2]) for p in positions})
    if isinstance(node, (Det, LogDet)):
        value = matrix.det()
        return _boxed(value if isinstance(node, Det) else log(abs(value)))
    raise UnsupportedError(f"as_explicit doesn't know {type(node).__name__}")


def _cofactor(matrix: Matrix, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """The signed determinant of what some rows and columns leave."""
    kept = [[k for k in range(matrix.rows) if k not in gone] for gone in (rows, columns)]
    sign = LeviCivita(*rows, *kept[0]) * LeviCivita(*columns, *kept[1])
    return sign * matrix.extract(*kept).det() if sign else S.Zero


def _matrix_entries(matrix: Matrix) -> np.ndarray:
    # NumPy would ask an entry that is a node for its array.
    return _filled(matrix.shape, {p: matrix[p] for p in np.ndindex(matrix.shape)})


def _boxed(value: Any) -> np.ndarray:
    box = np.empty((), dtype=object)
    box[()] = value
    return box


def _filled(shape: tuple[int, ...], values: dict[Any, Any]) -> np.ndarray:
    array = np.full(shape, S.Zero, dtype=object)
    for position, value in values.items():
        array[position] = value
    return array


def _einsum_entries(
    node: Einsum, operands: tuple[np.ndarray, ...], shape: tuple[int, ...]
) -> np.ndarray:
    """The definition [W, §3], written out as loops over all indices."""
    array = np.full(shape, S.Zero, dtype=object)
    for values in product(*[range(int(length)) for length in node.lengths]):
        term = S.One
        for operand, indices in zip(operands, node.subscripts, strict=True):
            term *= operand[tuple([values[i] for i in indices])]
        array[tuple([values[i] for i in node.output])] += term
    return array
