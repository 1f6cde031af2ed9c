"""Conversion to SymPy's matrix expressions; products of vectors and matrices become matrix
algebra."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from sympy import (
    Basic,
    Expr,
    FunctionMatrix,
    HadamardPower,
    ImmutableDenseMatrix,
    KroneckerDelta,
    Lambda,
    MatAdd,
    MatMul,
    MatrixSymbol,
    Piecewise,
    ZeroMatrix,
)
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.kronecker import KroneckerProduct
from sympy.matrices.expressions.matexpr import MatrixExpr

from ..core import HADAMARD_FIRST, PRODUCTS_FIRST, Network, NodeTable, UnsupportedError, postorder
from ..expressions import (
    UNEVALUATED_REMEDY,
    Constant,
    Einsum,
    LeviCivita,
    Reshape,
    Selection,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unit,
    Zeros,
    order_of,
)
from . import matrix_algebra
from .shared_conversion import (
    ConvertedNodes,
    check_closed,
    converted_scalar,
    described,
    prepared_for_sympy,
    refuse,
    shared_rows,
    sympy_errors_explained,
    with_products_inlined,
)


def to_matrix(e: Expr) -> Any:
    """Convert a tensor expression of order 2 or less to SymPy's matrix expression.

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
    root = prepared_for_sympy(e, "to_matrix")
    converted = ConvertedNodes(root, _matrix_symbol, "matrix expression")
    for node in postorder([root]):
        with sympy_errors_explained(node):
            if not isinstance(node, TensorExpr):
                converted[node] = converted_scalar(node, converted, BUILDER)
            elif node.order <= 2:
                converted[node] = TO_MATRIX[type(node)](node, converted)
    if root not in converted:
        raise UnsupportedError(
            f"a matrix has two axes: there is no matrix expression for {described(root)}"
        )
    return check_closed(converted[root], root)


def _matrix_symbol(node: TensorSymbol) -> MatrixExpr:
    return MatrixSymbol(node.name, *matrix_algebra.rows_and_columns(node.shape))


class _MatrixBuilder:
    """Builds matrix expressions."""

    def matrix(self, node: TensorExpr, converted: ConvertedNodes) -> MatrixExpr:
        """Return the operand of a function of a matrix."""
        return converted[node.operands[0]]

    def apply(self, function: Lambda, tensor: MatrixExpr) -> MatrixExpr:
        """Apply a function to each entry of a matrix: a Hadamard power for a power."""
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
        """Return a multiple."""
        return MatMul(factor, tensor)


BUILDER = _MatrixBuilder()


def _constant_matrix(node: Constant, converted: ConvertedNodes) -> MatrixExpr:
    return ImmutableDenseMatrix(node.entries.reshape(node.entries.shape[0], -1).tolist())


def unit_matrix(node: Unit) -> MatrixExpr:
    """Return a unit vector as a matrix of one column."""
    i, j = matrix_algebra.row_and_column()
    return FunctionMatrix(node.length, 1, Lambda((i, j), KroneckerDelta(i, node.position)))


def selection_matrix(node: Selection) -> MatrixExpr:
    """Return the matrix that selects a slice."""
    i, j = matrix_algebra.row_and_column()
    entry = KroneckerDelta(node.start + node.step * i, j)
    return FunctionMatrix(node.count, node.length, Lambda((i, j), entry))


def triangle_matrix(node: Triangle) -> MatrixExpr:
    """Return a triangle of ones."""
    i, j = matrix_algebra.row_and_column()
    entry = Piecewise((1, i + node.offset <= j), (0, True))
    return FunctionMatrix(*node.shape, Lambda((i, j), entry))


# --- products ------------------------------------------------------------------------------------

Edge = tuple[MatrixExpr, tuple[int, ...]]


def _product_matrix(node: Einsum, converted: ConvertedNodes) -> Expr:
    operands, subscripts, output, lengths = with_products_inlined(node)
    edges: list[Edge] = []
    selectors: list[tuple[Unit | Selection, tuple[int, ...]]] = []
    for operand, labels in zip(operands, subscripts, strict=True):
        matrix = converted[operand]
        if isinstance(operand, (Unit, Selection)):
            selectors.append((operand, tuple(labels)))
        else:
            edges.append((matrix, tuple(labels)))
    for operand, labels in selectors:
        edges = _contract_with_selector(edges, operand, labels, converted[operand], output)
    network = Network(matrix_algebra, edges, output, lengths, HADAMARD_FIRST)
    result = network.result(output)
    if result is None:
        parts = ", ".join(described(operand) for operand in operands if order_of(operand))
        raise UnsupportedError(f"no sequence of matrix operations computes this product of {parts}")
    return result


def _contract_with_selector(
    edges: list[Edge],
    selector: Unit | Selection,
    labels: tuple[int, ...],
    selector_matrix: MatrixExpr,
    kept: Sequence[int],
) -> list[Edge]:
    """Contract the factors with a unit vector or a selection: take an entry, a row or a slice of
    the only other factor on that axis; else keep the selector as a factor."""
    axis = labels[-1]
    beside = [k for k, (_, own) in enumerate(edges) if axis in own]
    plain = axis not in kept and len(beside) == 1 and edges[beside[0]][1].count(axis) == 1
    if not plain or len(set(labels)) < len(labels):
        return [*edges, (selector_matrix, labels)]
    matrix, own = edges[beside[0]]
    if isinstance(selector, Unit):
        found: Edge | None = _at_position(matrix, own, axis, selector.position)
    else:
        found = _sliced_matrix(matrix, own, labels, selector)
    if found is None:
        return [*edges, (selector_matrix, labels)]
    return [*edges[: beside[0]], *edges[beside[0] + 1 :], found]


def _at_position(matrix: MatrixExpr, own: tuple[int, ...], axis: int, position: Expr) -> Edge:
    if len(own) == 1:
        return matrix_algebra.entry(matrix, position), ()
    if own[0] == axis:
        return matrix_algebra.transpose(matrix_algebra.row(matrix, position)), own[1:]
    return matrix_algebra.column(matrix, position), own[:1]


def _sliced_matrix(
    matrix: MatrixExpr, own: tuple[int, ...], labels: tuple[int, ...], selector: Selection
) -> Edge | None:
    start, step, count = selector.start, selector.step, selector.count
    # SymPy's slice has (stop - start) / step rows, and its stop must lie on the axis.
    if step != 1 and not (step > 1 and (selector.length - start - step * count).is_nonnegative):
        return None
    slices = [(0, n, 1) for n in matrix.shape]
    slices[own.index(labels[-1])] = (start, start + step * count, step)
    new = tuple([labels[0] if label == labels[-1] else label for label in own])
    return matrix_algebra.sliced(matrix, *slices), new


def _kronecker_matrix(node: Reshape, converted: ConvertedNodes) -> Basic:
    """Convert a Kronecker product of two matrices, A_ac B_bd with the pairs ab and cd as axes, or
    of two vectors."""
    inner = node.operands[0]
    order = order_of(inner)
    if not isinstance(inner, Einsum) or order != 2 * node.order:
        return refuse(node, converted)
    if node.shape != tuple([inner.shape[k] * inner.shape[k + 1] for k in range(0, order, 2)]):
        return refuse(node, converted)
    operands, subscripts, output, lengths = with_products_inlined(inner)
    edges = [(converted[o], tuple(labels)) for o, labels in zip(operands, subscripts, strict=True)]
    network = Network(matrix_algebra, edges, output, lengths, PRODUCTS_FIRST)
    network.reduce()
    found: dict[tuple[Hashable, ...], MatrixExpr] = {
        labels: factor for factor, labels in network.edges
    }
    parts = [_with_axes(found, output[k::2]) for k in (0, 1)]
    if None in parts or len(found) > 2:
        return refuse(node, converted)
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
        **shared_rows(BUILDER),
        Zeros: lambda node, converted: ZeroMatrix(*matrix_algebra.rows_and_columns(node.shape)),
        Constant: _constant_matrix,
        LeviCivita: lambda node, converted: ImmutableDenseMatrix(
            node.array.reshape(node.array.shape[0], -1).tolist()
        ),
        Unit: lambda node, converted: unit_matrix(node),
        Selection: lambda node, converted: selection_matrix(node),
        Triangle: lambda node, converted: triangle_matrix(node),
        Einsum: _product_matrix,
        TensorAdd: lambda node, converted: MatAdd(*converted.below(node)),
        Reshape: _kronecker_matrix,
    },
    refused={Unevaluated: UNEVALUATED_REMEDY},
)
