"""Entry-by-entry evaluation to ``sympy.Array``, for numeric axis lengths.

Meant for small tensors and for checking results by eye: the cost grows with the number of entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from sympy import (
    Array,
    Basic,
    Eijk,
    Eq,
    Expr,
    Integer,
    KroneckerDelta,
    Matrix,
    Max,
    Min,
    Mul,
    Piecewise,
    S,
    exp,
    log,
)

from .. import expressions as nodes
from ..core import NodeTable, ShapeError, transform
from ..expressions import STOCK_OPERATORS, Operand, TensorExpr, order_of, slot
from ..operations import getitem, unroll

Arrays = tuple[np.ndarray, ...]
Sizes = tuple[int, ...]
Row = Callable[..., np.ndarray]


def as_explicit(expr: Operand) -> Array | Expr:
    """Return the entries of a tensor expression as a ``sympy.Array``; a scalar for order 0.

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


def _entries(node: Basic, operands: Arrays) -> np.ndarray:
    """Return the node's entries as an array of SymPy scalars, from those of its operands."""
    if not isinstance(node, TensorExpr):
        below = [operand[()] for operand in operands]
        is_new = below and tuple(below) != node.args
        return _filled((), {(): node.func(*below) if is_new else node})
    if any(not length.is_Integer for length in node.shape):
        raise ShapeError(
            f"as_explicit needs numeric lengths, not {node.shape}; substitute them: e.subs(n, 3)"
        )
    shape = tuple([int(length) for length in node.shape])
    return TO_EXPLICIT[type(node)](node, operands, shape)


def _cofactor(matrix: Matrix, rows: Sequence[int], columns: Sequence[int]) -> Expr:
    """Return the signed determinant of what some rows and columns leave."""
    kept = [[k for k in range(matrix.rows) if k not in gone] for gone in (rows, columns)]
    sign = Eijk(*rows, *kept[0]) * Eijk(*columns, *kept[1])
    return sign * matrix.extract(*kept).det() if sign else S.Zero


def _filled(shape: Sizes, values: Mapping[Sizes, Expr]) -> np.ndarray:
    array = np.full(shape, S.Zero, dtype=object)
    for position, value in values.items():
        array[position] = value
    return array


def _einsum_entries(node: nodes.Einsum, operands: Arrays, shape: Sizes) -> np.ndarray:
    """Return the definition [W, §3], written out as loops over all indices."""
    array = np.full(shape, S.Zero, dtype=object)
    for values in product(*[range(int(length)) for length in node.lengths]):
        term = S.One
        for operand, indices in zip(operands, node.subscripts, strict=True):
            term *= operand[tuple([values[i] for i in indices])]
        array[tuple([values[i] for i in node.output])] += term
    return array


def _symbol_entries(node: nodes.TensorSymbol, operands: Arrays, shape: Sizes) -> np.ndarray:
    return _filled(shape, {p: getitem(node, p) if p else node for p in np.ndindex(shape)})


def _unevaluated_entries(node: nodes.Unevaluated, operands: Arrays, shape: Sizes) -> np.ndarray:
    """Return the entries of its value, or the integrals or sums of entries."""
    value = node.doit()
    if not isinstance(value, nodes.Unevaluated):
        return transform([value], _entries)[0]
    array = transform([value.expr], _entries)[0]
    for position, entry in np.ndenumerate(array):
        array[position] = STOCK_OPERATORS[value.kind](entry, *value.limits)
    return array


def _position_entries(node: nodes.Positions, operands: Arrays, shape: Sizes) -> np.ndarray:
    ones = {}
    for p in np.ndindex(shape[:-1]):
        place = node.start + sum(step * i for step, i in zip(node.steps, p, strict=True))
        ones[(*p, int(place))] = S.One
    return _filled(shape, ones)


def _triangle_entries(node: nodes.Triangle, operands: Arrays, shape: Sizes) -> np.ndarray:
    inside = [(i, j) for i, j in np.ndindex(shape) if i + node.offset <= j]
    return _filled(shape, dict.fromkeys(inside, S.One))


def _wave_entries(node: nodes.Fourier, operands: Arrays, shape: Sizes) -> np.ndarray:
    entries = {p: node.entry(*map(Integer, p)) for p in np.ndindex(shape)}
    return _filled(shape, entries)


def _function_entries(node: nodes.Elementwise, operands: Arrays, shape: Sizes) -> np.ndarray:
    return _filled(
        shape,
        {
            p: node.body.xreplace({slot(k): o[p if o.ndim else ()] for k, o in enumerate(operands)})
            for p in np.ndindex(shape)
        },
    )


def _powers(exponents: np.ndarray) -> np.ndarray:
    return _filled(exponents.shape, {p: exp(exponents[p]) for p in np.ndindex(exponents.shape)})


def _softmax_entries(node: nodes.Softmax, operands: Arrays, shape: Sizes) -> np.ndarray:
    powers = _powers(operands[0])
    return powers / powers.sum(axis=node.axes, keepdims=True)


def _logsumexp_entries(node: nodes.LogSumExp, operands: Arrays, shape: Sizes) -> np.ndarray:
    total = _powers(operands[0]).sum(axis=node.axes, keepdims=True).reshape(shape)
    return _filled(shape, {p: log(total[p]) for p in np.ndindex(shape)})


def _logcumsumexp_entries(node: nodes.LogCumSumExp, operands: Arrays, shape: Sizes) -> np.ndarray:
    total = _powers(operands[0]).cumsum(axis=-1)
    return _filled(shape, {p: log(total[p]) for p in np.ndindex(shape)})


def _running_softmax_entries(
    node: nodes.RunningSoftmax, operands: Arrays, shape: Sizes
) -> np.ndarray:
    powers = _powers(operands[0])
    total = powers.cumsum(axis=-1)
    inside = [p for p in np.ndindex(shape) if p[-2] <= p[-1]]
    return _filled(shape, {p: powers[p[:-1]] / total[(*p[:-2], p[-1])] for p in inside})


def _interval_entries(node: nodes.IntervalProducts, operands: Arrays, shape: Sizes) -> np.ndarray:
    inside = [p for p in np.ndindex(shape) if p[-2] <= p[-1]]
    return _filled(shape, {p: Mul(*operands[0][p[:-2]][p[-2] : p[-1]]) for p in inside})


def _one_hot_entries(node: nodes.OneHot, operands: Arrays, shape: Sizes) -> np.ndarray:
    positions = operands[0]
    return _filled(shape, {p: KroneckerDelta(positions[p[:-1]], p[-1]) for p in np.ndindex(shape)})


def _extremum_entries(node: Operand, operands: Arrays, shape: Sizes) -> np.ndarray:
    kept = [axis for axis in range(operands[0].ndim) if axis not in node.axes]
    groups = operands[0].transpose([*kept, *node.axes]).reshape(*shape, -1)
    function = Max if node.name == "max" else Min
    return _filled(shape, {p: function(*groups[p]) for p in np.ndindex(shape)})


def _share_entries(node: nodes.ExtremumShare, operands: Arrays, shape: Sizes) -> np.ndarray:
    found = node.extremum
    sizes = tuple([n for axis, n in enumerate(shape) if axis not in node.axes])
    top = np.expand_dims(_extremum_entries(found, operands, sizes), node.axes)
    top = np.broadcast_to(top, shape)
    hits = _filled(
        shape,
        {
            p: Piecewise((S.One, Eq(operands[0][p], top[p])), (S.Zero, True))
            for p in np.ndindex(shape)
        },
    )
    return hits / hits.sum(axis=node.axes, keepdims=True)


def _cofactor_entries(node: nodes.Cofactors, operands: Arrays, shape: Sizes) -> np.ndarray:
    matrix = Matrix(operands[0].tolist())
    return _filled(shape, {p: _cofactor(matrix, p[::2], p[1::2]) for p in np.ndindex(shape)})


def _of_matrix(function: Callable[[Matrix], Matrix | Expr]) -> Row:
    """Return the row of a function that SymPy's matrices have."""

    def entries(node: nodes.MatrixFunction, operands: Arrays, shape: Sizes) -> np.ndarray:
        value = function(Matrix(operands[0].tolist()))
        # NumPy would call __array__ on an entry that is a node.
        return _filled(shape, {p: value[p] if p else value for p in np.ndindex(shape)})

    return entries


TO_EXPLICIT: NodeTable[Row] = NodeTable(
    "the explicit array",
    {
        nodes.TensorSymbol: _symbol_entries,
        nodes.Unknown: _symbol_entries,
        nodes.Constant: lambda node, operands, shape: node.entries,
        nodes.Zeros: lambda node, operands, shape: _filled(shape, {}),
        nodes.LeviCivita: lambda node, operands, shape: nodes.Constant(node.array).entries,
        nodes.Positions: _position_entries,
        nodes.Triangle: _triangle_entries,
        nodes.Fourier: _wave_entries,
        nodes.Einsum: _einsum_entries,
        nodes.TensorAdd: lambda node, operands, shape: sum(operands[1:], operands[0]),
        nodes.Elementwise: _function_entries,
        nodes.Reshape: lambda node, operands, shape: operands[0].reshape(shape),
        nodes.Softmax: _softmax_entries,
        nodes.LogSumExp: _logsumexp_entries,
        nodes.LogCumSumExp: _logcumsumexp_entries,
        nodes.RunningSoftmax: _running_softmax_entries,
        nodes.IntervalProducts: _interval_entries,
        nodes.OneHot: _one_hot_entries,
        nodes.Scan: lambda node, operands, shape: transform([unroll(node)], _entries)[0],
        nodes.Unevaluated: _unevaluated_entries,
        nodes.Extremum: _extremum_entries,
        nodes.ExtremumShare: _share_entries,
        nodes.Inv: _of_matrix(Matrix.inv),
        nodes.Adj: _of_matrix(Matrix.adjugate),
        nodes.Cofactors: _cofactor_entries,
        nodes.Det: _of_matrix(Matrix.det),
        nodes.LogDet: _of_matrix(lambda matrix: log(abs(matrix.det()))),
    },
    refused={
        nodes.StackFunction: "lambdify gives its numbers",
        nodes.Solution: "Newton's method is for numbers; lambdify gives them",
        **dict.fromkeys(
            [nodes.Picked, nodes.Ranking], "the order of symbols isn't known; use lambdify"
        ),
    },
)
