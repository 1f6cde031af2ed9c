"""Conversion to SymPy's matrix expressions; products of vectors and matrices become matrix
algebra."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from sympy import (
    Abs,
    Basic,
    Determinant,
    Expr,
    FunctionMatrix,
    HadamardPower,
    ImmutableDenseMatrix,
    Inverse,
    KroneckerDelta,
    Lambda,
    MatAdd,
    MatMul,
    MatPow,
    MatrixSymbol,
    Piecewise,
    ZeroMatrix,
    log,
)
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.kronecker import KroneckerProduct
from sympy.matrices.expressions.matexpr import MatrixExpr

from ..core import HADAMARD_FIRST, PRODUCTS_FIRST, Network, NodeTable, UnsupportedError, postorder
from ..expressions import (
    Adj,
    AxesFunction,
    Cofactors,
    Constant,
    Det,
    Einsum,
    Elementwise,
    Fourier,
    Inv,
    LogDet,
    MatrixPower,
    OneHot,
    Positions,
    Reshape,
    RunningFunction,
    Selection,
    StackFunction,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unit,
    Zeros,
    order_of,
)
from . import matrix_algebra
from .trees import (
    Images,
    closed,
    described,
    elementwise_image,
    opened,
    readied,
    refused,
    scalar_image,
    sympys_refusals,
)


def to_matrix(e: Expr) -> Any:
    """SymPy's matrix expression for a tensor expression of order 2 or less.

    Tensor symbols become MatrixSymbols; a vector of length n becomes an n×1 matrix, since SymPy
    has no other vectors. Their assumptions are lost.

    Parameters
    ==========

    e : a tensor expression, or a SymPy scalar with tensor expressions inside

    Returns
    =======

    For order 2 and 1 a MatrixExpr, for order 0 a SymPy scalar made of traces, determinants and
    entries such as ``(x.T*A*x)[0, 0]``. An adjugate becomes ``Determinant(X)*X**(-1)``, which
    isn't defined for singular matrices.

    Raises
    ======

    UnsupportedError : SymPy has no matrix expression for a part, which is named; or the
        expression would be huge when shared parts are written out

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x, b = (se.TensorSymbol(*s) for s in [("A", (m, n)), ("x", (n,)), ("b", (m,))])
    >>> se.to_matrix(A.T @ (A @ x - b))
    A.T*(A*x - b)
    >>> se.to_matrix(b @ A @ x)
    (b.T*A*x)[0, 0]
    """
    root = readied(e, "to_matrix")
    images = Images(root, _matrix_symbol, "matrix expression")
    for node in postorder([root]):
        with sympys_refusals(node):
            if not isinstance(node, TensorExpr):
                images[node] = scalar_image(node, images, _MatrixPieces())
            elif node.order <= 2:
                images[node] = TO_MATRIX[type(node)](node, images)
    if root not in images:
        raise UnsupportedError(
            f"a matrix has two axes: there is no matrix expression for {described(root)}"
        )
    return closed(images[root], root)


def _matrix_symbol(node: TensorSymbol) -> MatrixExpr:
    return MatrixSymbol(node.name, *matrix_algebra.rows_and_columns(node.shape))


class _MatrixPieces:
    """Elementwise functions of matrices."""

    def apply(self, function: Lambda, tensor: MatrixExpr) -> MatrixExpr:
        """A power is a Hadamard power."""
        (entry,), body = function.variables, function.expr
        if body.is_Pow and body.base == entry and entry not in body.exp.free_symbols:
            return HadamardPower(tensor, body.exp)
        return ElementwiseApplyFunction(function, tensor)

    def product(self, tensors: Sequence[MatrixExpr]) -> MatrixExpr:
        """Return the Hadamard product."""
        return matrix_algebra.hadamard(tensors)

    def total(self, tensors: Sequence[MatrixExpr]) -> MatrixExpr:
        """Return the sum."""
        return MatAdd(*tensors)

    def scaled(self, factor: Expr, tensor: MatrixExpr) -> MatrixExpr:
        """A multiple."""
        return MatMul(factor, tensor)


def _inverse(node: Inv, images: Images) -> MatrixExpr:
    return Inverse(*images.below(node))


def _power(node: MatrixPower, images: Images) -> MatrixExpr:
    if len(node.operands) > 1:
        return refused(node, images)
    return MatPow(*images.below(node), node.exponent)


def _adjugate(node: Adj, images: Images) -> MatrixExpr:
    (matrix,) = images.below(node)
    return MatMul(Determinant(matrix), Inverse(matrix))


def _constant(node: Constant, images: Images) -> MatrixExpr:
    return ImmutableDenseMatrix(node.entries.reshape(node.entries.shape[0], -1).tolist())


def unit_image(node: Unit) -> MatrixExpr:
    """A unit vector as a matrix of one column."""
    i, j = matrix_algebra.row_and_column()
    return FunctionMatrix(node.length, 1, Lambda((i, j), KroneckerDelta(i, node.position)))


def selection_image(node: Selection) -> MatrixExpr:
    """Return the matrix that selects a slice."""
    i, j = matrix_algebra.row_and_column()
    entry = KroneckerDelta(node.start + node.step * i, j)
    return FunctionMatrix(node.count, node.length, Lambda((i, j), entry))


def triangle_image(node: Triangle) -> MatrixExpr:
    """A triangle of ones."""
    i, j = matrix_algebra.row_and_column()
    entry = Piecewise((1, i + node.offset <= j), (0, True))
    return FunctionMatrix(*node.shape, Lambda((i, j), entry))


# --- products ------------------------------------------------------------------------------------

Edge = tuple[MatrixExpr, tuple[int, ...]]


def _product(node: Einsum, images: Images) -> Expr:
    operands, subscripts, output, lengths = opened(node, 2)
    edges: list[Edge] = []
    cutters: list[tuple[Unit | Selection, tuple[int, ...]]] = []
    for operand, labels in zip(operands, subscripts, strict=True):
        image = images[operand]
        if isinstance(operand, (Unit, Selection)):
            cutters.append((operand, tuple(labels)))
        else:
            edges.append((image, tuple(labels)))
    for operand, labels in cutters:
        edges = _cut(edges, operand, labels, images[operand], output)
    network = Network(matrix_algebra, edges, output, lengths, HADAMARD_FIRST)
    result = network.result(output)
    if result is None:
        parts = ", ".join(described(operand) for operand in operands if order_of(operand))
        raise UnsupportedError(f"no sequence of matrix operations multiplies {parts} like this")
    return result


def _cut(
    edges: list[Edge],
    cutter: Unit | Selection,
    labels: tuple[int, ...],
    image: MatrixExpr,
    kept: Sequence[int],
) -> list[Edge]:
    """Return the factors contracted with a unit vector or a selection: an entry, a row or a slice
    of the only other factor on that axis; else the cutter is a factor like others."""
    axis = labels[-1]
    beside = [k for k, (_, own) in enumerate(edges) if axis in own]
    plain = axis not in kept and len(beside) == 1 and edges[beside[0]][1].count(axis) == 1
    if not plain or len(set(labels)) < len(labels):
        return [*edges, (image, labels)]
    matrix, own = edges[beside[0]]
    if isinstance(cutter, Unit):
        found: Edge | None = _at_position(matrix, own, axis, cutter.position)
    else:
        found = _slice(matrix, own, labels, cutter)
    if found is None:
        return [*edges, (image, labels)]
    return [*edges[: beside[0]], *edges[beside[0] + 1 :], found]


def _at_position(matrix: MatrixExpr, own: tuple[int, ...], axis: int, position: Expr) -> Edge:
    if len(own) == 1:
        return matrix_algebra.entry(matrix, position), ()
    if own[0] == axis:
        return matrix_algebra.transpose(matrix_algebra.row(matrix, position)), own[1:]
    return matrix_algebra.column(matrix, position), own[:1]


def _slice(
    matrix: MatrixExpr, own: tuple[int, ...], labels: tuple[int, ...], cutter: Selection
) -> Edge | None:
    start, step, count = cutter.start, cutter.step, cutter.count
    # SymPy's slice has (stop - start) / step rows, and its stop must lie on the axis.
    if step != 1 and not (step > 1 and (cutter.length - start - step * count).is_nonnegative):
        return None
    cuts = [(0, n, 1) for n in matrix.shape]
    cuts[own.index(labels[-1])] = (start, start + step * count, step)
    new = tuple([labels[0] if label == labels[-1] else label for label in own])
    return matrix_algebra.sliced(matrix, *cuts), new


def _kronecker(node: Reshape, images: Images) -> Basic:
    """A Kronecker product of two matrices, A_ac B_bd with the pairs ab and cd as axes, or of two
    vectors."""
    inner = node.operands[0]
    order = order_of(inner)
    if not isinstance(inner, Einsum) or order != 2 * node.order:
        return refused(node, images)
    if node.shape != tuple([inner.shape[k] * inner.shape[k + 1] for k in range(0, order, 2)]):
        return refused(node, images)
    operands, subscripts, output, lengths = opened(inner, 2)
    edges = [(images[o], tuple(labels)) for o, labels in zip(operands, subscripts, strict=True)]
    network = Network(matrix_algebra, edges, output, lengths, PRODUCTS_FIRST)
    network.reduce()
    found: dict[tuple[Hashable, ...], MatrixExpr] = {
        labels: factor for factor, labels in network.edges
    }
    parts = [_with_axes(found, output[k::2]) for k in (0, 1)]
    if None in parts or len(found) > 2:
        return refused(node, images)
    return matrix_algebra.product([*network.scalars, KroneckerProduct(*parts)])


def _with_axes(
    factors: dict[tuple[Hashable, ...], MatrixExpr], labels: tuple[int, ...]
) -> MatrixExpr | None:
    """Return the factor with some labels for its rows and columns."""
    if labels[::-1] in factors and labels not in factors:
        return matrix_algebra.transpose(factors[labels[::-1]])
    return factors.get(labels)


TO_MATRIX: NodeTable[Callable[..., Basic]] = NodeTable(
    "the matrix",
    {
        TensorSymbol: lambda node, images: images.symbol(node),
        Zeros: lambda node, images: ZeroMatrix(*matrix_algebra.rows_and_columns(node.shape)),
        Constant: _constant,
        Unit: lambda node, images: unit_image(node),
        Selection: lambda node, images: selection_image(node),
        Positions: refused,
        Triangle: lambda node, images: triangle_image(node),
        Einsum: _product,
        TensorAdd: lambda node, images: MatAdd(*images.below(node)),
        Elementwise: lambda node, images: elementwise_image(node, images, _MatrixPieces()),
        Inv: _inverse,
        Adj: _adjugate,
        Det: lambda node, images: Determinant(*images.below(node)),
        LogDet: lambda node, images: log(Abs(Determinant(*images.below(node)))),
        **dict.fromkeys([Cofactors, AxesFunction, OneHot, Fourier, StackFunction], refused),
        RunningFunction: refused,
        MatrixPower: _power,
        Reshape: _kronecker,
    },
)
