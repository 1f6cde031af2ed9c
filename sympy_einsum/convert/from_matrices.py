"""Conversion from SymPy's matrix expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product

import numpy as np
from sympy import (
    Adjoint,
    Basic,
    Determinant,
    DiagMatrix,
    Expr,
    FunctionMatrix,
    Ge,
    HadamardPower,
    HadamardProduct,
    Identity,
    ImmutableDenseMatrix,
    Integer,
    Inverse,
    KroneckerDelta,
    Lambda,
    Le,
    MatAdd,
    MatMul,
    MatPow,
    MatrixBase,
    MatrixSymbol,
    NDimArray,
    OneMatrix,
    Piecewise,
    Trace,
    Transpose,
    ZeroMatrix,
    ceiling,
    exp,
    flatten,
    sympify,
)
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.blockmatrix import BlockDiagMatrix, BlockMatrix
from sympy.matrices.expressions.diagonal import DiagonalMatrix, DiagonalOf
from sympy.matrices.expressions.dotproduct import DotProduct
from sympy.matrices.expressions.kronecker import KroneckerProduct
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr
from sympy.matrices.expressions.permutation import PermutationMatrix
from sympy.matrices.expressions.slice import MatrixSlice
from sympy.tensor.indexed import Indexed

from ..core import UnsupportedError, deferred, postorder, same_length
from ..expressions import (
    Constant,
    Delta,
    Ones,
    Operand,
    Selection,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    Triangle,
    Unit,
    Zeros,
    as_operand,
    contract,
    det,
    elementwise,
    inv,
    is_literal,
    matrix_power,
    order_of,
    total_of,
)
from ..operations import (
    add,
    concatenate,
    counting,
    diag,
    diagonal,
    expand_dims,
    eye,
    getitem,
    kron,
    matmul,
    multiply,
    power,
    squeeze,
    trace,
    transpose,
)
from .matrix_algebra import row_and_column
from .shared_conversion import as_stock, sympy_errors_explained, with_scalars_converted

_from_indexed = deferred("convert", "from_indexed")


def from_matrix(expr: object, *, vectors: bool = False) -> Operand:
    """Convert SymPy's matrix expression, or a scalar with matrix expressions inside.

    MatrixSymbols become tensor symbols of order 2, whatever their shapes; an m×n matrix
    expression a tensor of shape (m, n).

    Parameters
    ==========

    expr : a MatrixExpr, an explicit matrix of numbers, or a SymPy scalar with traces,
        determinants or entries of them
    vectors : whether a symbol with one column stands for a tensor of order 1; a result loses its
        axes of length 1 then, so that :func:`to_matrix` is undone

    Raises
    ======

    UnsupportedError : a part has no tensor expression; it is named

    Examples
    ========

    >>> from sympy import MatrixSymbol, Trace, symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> X, c = MatrixSymbol("X", n, n), MatrixSymbol("c", n, 1)
    >>> e = se.from_matrix(X * c, vectors=True)
    >>> e.shape, e == se.TensorSymbol("X", (n, n)) @ se.TensorSymbol("c", (n,))
    ((n,), True)
    >>> se.from_matrix(Trace(X)) == se.trace(se.TensorSymbol("X", (n, n)))
    True
    """
    root = as_stock(expr)
    result = matrix_tensor(root, vectors)
    return squeeze(result) if vectors and order_of(result) else result


def from_explicit(value: MatrixBase | NDimArray) -> Operand:
    """Convert an explicit matrix or array: to a constant, or where it has symbols to the sum of its
    entries, each times the unit tensor of its position.

    >>> import sympy_einsum as se
    >>> from sympy import Matrix, Rational, symbols
    >>> a, b = symbols("a b")
    >>> x = se.TensorSymbol("x", 2)
    >>> print(se.simplify((Matrix([[a, 1], [0, b / 3]]) @ x)[1]))
    b*x[1]/3
    >>> Matrix([1, Rational(1, 3)]) * (x @ x)
    (x @ x)*Constant([[1], [Rational(1, 3)]])
    """
    shape = tuple(map(int, value.shape))
    if 0 in shape:
        return Zeros(*shape)
    entries = flatten(value.tolist()) if shape else [value[()]]
    if all(map(is_literal, entries)):
        return Constant(np.array(entries, dtype=object).reshape(shape))
    terms = [Zeros(*shape)]
    for place in product(*map(range, shape)):
        units = [Unit(n, k) for n, k in zip(shape, place, strict=True)]
        axes = range(len(shape))
        unit = contract(units, [(k,) for k in axes], axes, dict(enumerate(map(Integer, shape))))
        terms.append(multiply(as_operand(value[place]), unit))
    return total_of(terms)


def matrix_tensor(root: Basic, vectors: bool) -> Operand:
    """Return the tensor for a matrix expression, both axes kept."""
    tensors: dict[Basic, Operand] = {}
    for node in postorder([root], _matrix_parts):
        if isinstance(node, MatrixSymbol):
            if hasattr(node, "pspace"):
                raise UnsupportedError(
                    f"no tensor expression for the random matrix {node}; its expectation is one"
                )
            is_vector = vectors and node.cols == 1
            symbol = TensorSymbol(node.name, node.shape[:1] if is_vector else node.shape)
            tensors[node] = expand_dims(symbol, 1) if is_vector else symbol
        elif isinstance(node, ElementwiseApplyFunction):
            convert = partial(matrix_tensor, vectors=vectors)
            function = with_scalars_converted(node.function, convert)
            tensors[node] = elementwise(function, tensors[node.expr])
        else:
            with sympy_errors_explained(node):
                tensors[node] = _tensor(node, [tensors[part] for part in _matrix_parts(node)])
    return tensors[root]


def _matrix_parts(node: Basic) -> tuple[Basic, ...]:
    """Return the parts of a node whose tensors are its operands."""
    if isinstance(node, LEAVES) or hasattr(node, "bound_symbols"):
        return ()
    if isinstance(node, (MatrixElement, MatrixSlice)):
        return node.args[:1]
    if isinstance(node, ElementwiseApplyFunction):
        return (node.expr,)
    if isinstance(node, BlockMatrix):
        return tuple(node.blocks)
    return node.args


LEAVES = (
    *(MatrixBase, MatrixSymbol, Identity, ZeroMatrix, OneMatrix, TensorExpr),
    *(FunctionMatrix, PermutationMatrix),
)


def _tensor(node: Basic, parts: list[Operand]) -> Operand:
    """Return the tensor or scalar for a node of SymPy's, from those of its parts."""
    rule = FROM_MATRIX.get(type(node))
    if rule is not None:
        return rule(node, *parts)
    if isinstance(node, (MatrixBase, TensorExpr)):
        return as_operand(node)
    if isinstance(node, MatrixExpr) or any(order_of(part) for part in parts):
        instead = "; applyfunc applies a function to each entry" if node.is_Function else ""
        if isinstance(node, exp):
            instead += ", expm of sympy_einsum is the exponential of a matrix"
        raise UnsupportedError(
            f"no tensor expression for {node}, of type {type(node).__name__}{instead}"
        )
    if hasattr(node, "bound_symbols"):
        if node.has(MatrixExpr):
            raise UnsupportedError(
                f"matrices inside a {type(node).__name__}: {node}; from_indexed reads sums over "
                "entries"
            )
        return node
    return node.func(*parts) if parts else node


def _product_tensor(node: Basic, *parts: Operand) -> Operand:
    scalars = [part for part in parts if not order_of(part)]
    chain = reduce(matmul, [part for part in parts if order_of(part)])
    return multiply(*scalars, chain)


def _power_tensor(node: Basic, base: TensorExpr, exponent: Expr) -> Operand:
    if base.shape == (1, 1):
        return power(base, exponent)
    return matrix_power(base, exponent)


def _as_vector(tensor: TensorExpr, node: Basic) -> Operand:
    """Convert a row or a column to a tensor of order 1."""
    for axis in (1, 0):
        if tensor.shape[axis] == 1:
            return squeeze(tensor, axis)
    raise UnsupportedError(f"{node} needs a row or a column, not a matrix of shape {tensor.shape}")


def _blocks_tensor(node: Basic, *parts: Operand) -> Operand:
    rows, columns = node.blocks.shape
    return concatenate(
        [concatenate(parts[r * columns : (r + 1) * columns], 1) for r in range(rows)], 0
    )


def _function_tensor(node: Basic, *parts: Operand) -> Operand:
    """Convert unit vectors and selections as ``to_matrix`` writes them, and function matrices of
    numeric shape."""
    rows, columns, function = node.args
    i, j = row_and_column()
    entry = function(i, j)
    if isinstance(entry, KroneckerDelta):
        at, given = entry.args if j == entry.args[0] else entry.args[::-1]
        start, step = given.subs(i, 0), given.coeff(i)
        if at == j and given == i and same_length(rows, columns):
            return Delta(rows)
        is_selection = at == j and start + step * i == given and i not in start.free_symbols
        if is_selection and _is_inside(start, step, rows, columns):
            return Selection(columns, start, step, rows)
        places = [place for place in entry.args if place != i]
        if columns == 1 and len(places) == 1 and not {i, j} & places[0].free_symbols:
            return expand_dims(Unit(rows, places[0]), 1)
    if isinstance(entry, Piecewise) and len(entry.args) == 2:
        (one, condition), (zero, _) = entry.args
        if isinstance(condition, (Le, Ge)) and (one, zero) == (1, 0):
            offset = condition.lts - condition.gts - i + j
            if not {i, j} & offset.free_symbols:
                return Triangle(rows, columns, offset)
    if all(sympify(length).is_Integer for length in node.shape):
        return _explicit_tensor(node)
    if entry.has(MatrixElement, Indexed):
        return _from_indexed(entry, [(i, rows), (j, columns)])
    counted = [counting(rows)[:, None], counting(columns)[None, :]]
    chosen = entry.rewrite(Piecewise) if entry.has(KroneckerDelta) else entry
    return elementwise(Lambda((i, j), chosen), *counted)


def _is_inside(start: Expr, step: Expr, count: Expr, length: Expr) -> bool:
    """Tell whether the positions of a slice are known to lie on an axis; one in steps of s has at
    most (p + s - 1)/s entries where it has p/s, rounded up."""

    def upper(number: Expr) -> Expr:
        is_rounded = (step * number).is_integer
        return number + 1 - 1 / abs(step) if is_rounded else ceiling(number)

    last = (start + step * (count.replace(ceiling, upper) - 1)).expand()
    low, high = (start, last) if step.is_positive else (last, start)
    return bool(low.is_nonnegative and (length - 1 - high).is_nonnegative)


def _explicit_tensor(node: Basic, *parts: Operand) -> Operand:
    """Convert a matrix whose entries SymPy can write out."""
    if all(sympify(length).is_Integer for length in node.shape):
        return as_operand(ImmutableDenseMatrix(node))
    raise UnsupportedError(
        f"no tensor expression for the {type(node).__name__} {node}; give its shape in numbers"
    )


def _slice_tensor(node: Basic, parent: TensorExpr) -> Operand:
    return getitem(parent, tuple([slice(*bounds) for bounds in (node.rowslice, node.colslice)]))


FROM_MATRIX: dict[type, Callable[..., Operand]] = {
    MatAdd: lambda node, *parts: add(*parts),
    MatMul: _product_tensor,
    MatPow: _power_tensor,
    Transpose: lambda node, a: transpose(a),
    Adjoint: lambda node, a: transpose(a),
    Inverse: lambda node, a, *exponent: inv(a),
    Trace: lambda node, a: trace(a),
    Determinant: lambda node, a: det(a),
    HadamardProduct: lambda node, *parts: multiply(*parts),
    HadamardPower: lambda node, base, exponent: power(base, exponent),
    FunctionMatrix: _function_tensor,
    PermutationMatrix: _explicit_tensor,
    DiagMatrix: lambda node, a: diag(_as_vector(a, node)),
    DiagonalMatrix: lambda node, a: (
        diag(diagonal(a)) if same_length(*a.shape) else multiply(a, eye(*a.shape))
    ),
    DiagonalOf: lambda node, a: expand_dims(diagonal(a), 1),
    DotProduct: lambda node, a, b: matmul(_as_vector(a, node), _as_vector(b, node)),
    KroneckerProduct: lambda node, *parts: reduce(kron, parts),
    BlockMatrix: _blocks_tensor,
    BlockDiagMatrix: _blocks_tensor,
    MatrixSlice: _slice_tensor,
    MatrixElement: lambda node, parent: getitem(parent, (node.i, node.j)),
    Identity: lambda node: Delta(node.shape[0]),
    OneMatrix: lambda node: Ones(*node.shape),
    ZeroMatrix: lambda node: Zeros(*node.shape),
}


def of_tensors(kind: type, operands: Sequence[TensorLike]) -> Operand:
    """Build the tensor for a class of SymPy's matrix expressions from tensors and matrices."""
    return FROM_MATRIX[kind](kind.__name__, *map(as_operand, operands))
