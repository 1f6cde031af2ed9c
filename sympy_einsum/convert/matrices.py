"""To and from SymPy's matrix expressions.

On the way there a product is a graph, its labels the vertices and its factors the edges; it is
reduced step by step: Σ_j A_ij B_jk to A B, A_ii to tr A, x_i y_i to x ∘ y, Σ_j A_ij d_j B_jk to A
diag(d) B [LMG18]. What can't be reduced to one matrix has no matrix expression.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any

import sympy
from sympy import (
    Abs,
    Adjoint,
    Determinant,
    DiagMatrix,
    FunctionMatrix,
    HadamardPower,
    HadamardProduct,
    Identity,
    ImmutableDenseMatrix,
    Inverse,
    KroneckerDelta,
    Lambda,
    MatAdd,
    MatMul,
    MatPow,
    MatrixBase,
    MatrixSymbol,
    Mul,
    OneMatrix,
    S,
    Symbol,
    Trace,
    Transpose,
    ZeroMatrix,
    log,
    sympify,
)
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.blockmatrix import BlockDiagMatrix, BlockMatrix
from sympy.matrices.expressions.diagonal import DiagonalMatrix, DiagonalOf
from sympy.matrices.expressions.dotproduct import DotProduct
from sympy.matrices.expressions.hadamard import canonicalize
from sympy.matrices.expressions.kronecker import KroneckerProduct
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr
from sympy.matrices.expressions.permutation import PermutationMatrix
from sympy.matrices.expressions.slice import MatrixSlice

from ..core import UnsupportedError, postorder, same_length
from ..expressions import (
    Adj,
    Constant,
    Delta,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    Ones,
    Selection,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Unit,
    Zeros,
    as_operand,
    det,
    elementwise,
    inv,
    order_of,
)
from ..operations import (
    add,
    concatenate,
    diag,
    diagonal,
    expand_dims,
    getitem,
    kron,
    matmul,
    matrix_power,
    multiply,
    power,
    squeeze,
    trace,
    transpose,
)
from .trees import (
    Symbols,
    as_stock,
    closed,
    described,
    elementwise_image,
    opened,
    readied,
    scalar_image,
    sympys_refusals,
    with_scalars_converted,
)

Edge = tuple[Any, tuple[Any, ...]]


# --- to SymPy ------------------------------------------------------------------------------------


def to_matrix(e: Any) -> Any:
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
    symbols = Symbols(root, _matrix_symbol)
    images: dict[Any, Any] = {}
    for node in postorder([root]):
        with sympys_refusals(node):
            if not isinstance(node, TensorExpr):
                images[node] = scalar_image(node, images, _MatrixPieces())
            elif isinstance(node, TensorSymbol) and node.order <= 2:
                images[node] = symbols.image(node)
            elif node.order <= 2:
                images[node] = _image(node, images)
    if root not in images:
        raise UnsupportedError(
            f"a matrix has two axes: there is no matrix expression for {described(root)}"
        )
    return closed(images[root], root)


def _matrix_symbol(node: TensorSymbol) -> Any:
    return MatrixSymbol(node.name, *_dimensions(node.shape))


def _dimensions(shape: Sequence[Any]) -> tuple[Any, Any]:
    """Rows and columns of a matrix or of a vector as a column."""
    return (*shape, S.One)[:2]


def _image(node: Any, images: dict[Any, Any]) -> Any:
    """SymPy's object for a node, from those of its operands."""
    if isinstance(node, Einsum):
        return _product_image(node, images)
    missing = next((o for o in node.operands if o not in images), None)
    rule = TO_MATRIX.get(type(node))
    if rule is None or missing is not None:
        blamed = node if missing is None else missing
        raise UnsupportedError(f"SymPy has no matrix expression for {described(blamed)}")
    return rule(node, images)


class _MatrixPieces:
    """Elementwise functions of matrices."""

    def apply(self, function: Lambda, tensor: Any) -> Any:
        """A power is a Hadamard power."""
        (entry,), body = function.variables, function.expr
        if body.is_Pow and body.base == entry and entry not in body.exp.free_symbols:
            return HadamardPower(tensor, body.exp)
        return ElementwiseApplyFunction(function, tensor)

    def product(self, tensors: Sequence[Any]) -> Any:
        """The Hadamard product."""
        return _hadamard(*tensors)

    def total(self, tensors: Sequence[Any]) -> Any:
        """The sum."""
        return MatAdd(*tensors)

    def scaled(self, factor: Any, tensor: Any) -> Any:
        """A multiple."""
        return MatMul(factor, tensor)


def _constant_image(node: Constant) -> Any:
    return ImmutableDenseMatrix(node.array.reshape(node.array.shape[0], -1).tolist())


def unit_image(node: Unit) -> Any:
    """A unit vector as a matrix of one column."""
    i, j = _row_and_column()
    return FunctionMatrix(node.length, 1, Lambda((i, j), KroneckerDelta(i, node.position)))


def selection_image(node: Selection) -> Any:
    """The matrix that selects a slice."""
    i, j = _row_and_column()
    entry = KroneckerDelta(node.start + node.step * i, j)
    return FunctionMatrix(node.count, node.length, Lambda((i, j), entry))


def _row_and_column() -> tuple[Symbol, Symbol]:
    """Row and column of a matrix given by a function."""
    return sympy.Dummy("i", integer=True), sympy.Dummy("j", integer=True)


TO_MATRIX: dict[type, Callable[[Any, dict[Any, Any]], Any]] = {
    TensorAdd: lambda node, images: MatAdd(*[images[term] for term in node.operands]),
    Elementwise: lambda node, images: elementwise_image(node, images, _MatrixPieces()),
    Inv: lambda node, images: Inverse(images[node.operands[0]]),
    Adj: lambda node, images: MatMul(
        Determinant(images[node.operands[0]]), Inverse(images[node.operands[0]])
    ),
    Det: lambda node, images: Determinant(images[node.operands[0]]),
    LogDet: lambda node, images: log(Abs(Determinant(images[node.operands[0]]))),
    Zeros: lambda node, images: ZeroMatrix(*_dimensions(node.shape)),
    Constant: lambda node, images: _constant_image(node),
    Unit: lambda node, images: unit_image(node),
    Selection: lambda node, images: selection_image(node),
}


# --- products ------------------------------------------------------------------------------------


def _product_image(node: Einsum, images: dict[Any, Any]) -> Any:
    operands, subscripts, output, lengths = opened(node, 2)
    scalars, edges = [], []
    for operand, labels in zip(operands, subscripts, strict=True):
        if operand not in images:
            raise UnsupportedError(f"SymPy has no matrix expression for {described(operand)}")
        if not labels:
            scalars.append(images[operand])
        elif not isinstance(operand, (Unit, Selection)):
            edges.append((images[operand], tuple(labels)))
    cutters = [
        (operand, tuple(labels))
        for operand, labels in zip(operands, subscripts, strict=True)
        if isinstance(operand, (Unit, Selection))
    ]
    network = _Network(edges, set(output), lengths)
    network.scalars.extend(scalars)
    for operand, labels in cutters:
        network.cut(operand, labels, images[operand])
    result = network.result(output)
    if result is None:
        parts = ", ".join(described(operand) for operand in operands if order_of(operand))
        raise UnsupportedError(f"no sequence of matrix operations multiplies {parts} like this")
    return result


class _Network:
    """Factors of one or two axes with their labels; vectors are columns."""

    def __init__(self, edges: Iterable[Edge], kept: set[Any], lengths: dict[Any, Any]):
        self.edges = list(edges)
        self.kept = kept
        self.lengths = lengths
        self.scalars: list[Any] = []

    def cut(self, operand: Any, labels: tuple[Any, ...], image: Any) -> None:
        """Contract with a unit vector or a selection: an entry, a row or a slice of the only other
        factor on that axis; else the cutter is a factor like others."""
        axis = labels[-1]
        beside = [edge for edge in self.edges if axis in edge[1]]
        plain = axis not in self.kept and len(beside) == 1 and beside[0][1].count(axis) == 1
        if not plain or len(set(labels)) < len(labels):
            self.edges.append((image, labels))
            return
        matrix, own = beside[0]
        if isinstance(operand, Unit):
            position: Any = operand.position
            if len(own) == 1:
                self._replace(beside, _entry(matrix, position), ())
            elif own[0] == axis:
                self._replace(beside, _transposed(_row(matrix, position)), own[1:])
            else:
                self._replace(beside, _column(matrix, position), own[:1])
            return
        length, start = operand.length, operand.start
        step, count = operand.step, operand.count
        # SymPy's slice has (stop - start) / step rows, and its stop must lie on the axis.
        if step != 1 and not (step > 1 and (length - start - step * count).is_nonnegative):
            self.edges.append((image, labels))
            return
        cuts = [(0, n, 1) for n in matrix.shape]
        cuts[own.index(axis)] = (start, start + step * count, step)
        new = tuple([labels[0] if label == axis else label for label in own])
        self._replace(beside, _sliced(matrix, *cuts), new)

    def result(self, output: Sequence[Any]) -> Any:
        """The object with the given axes, at most two; None if there is none."""
        steps = (self._loop, self._trace, self._parallel, self._contract)
        while any(step() for step in steps):
            pass
        distinct = list(dict.fromkeys(output))
        factors = [self._on(distinct[:1]), self._on(distinct[1:])]
        if any(not set(labels) <= set(distinct) for _, labels in self.edges):
            return None
        if not output:
            return Mul(*self.scalars)
        matrices = [self._oriented(e, distinct[0]) for e in self.edges if len(e[1]) == 2]
        chain: list[Any] = []
        if len(distinct) == 1:
            vector = factors[0]
            if len(output) == 1:
                chain = [self._ones(output[0]) if vector is None else vector]
            else:
                chain = [
                    Identity(self.lengths[output[0]]) if vector is None else DiagMatrix(vector)
                ]
        elif matrices:
            left, right = ([] if v is None else [DiagMatrix(v)] for v in factors)
            chain = [*left, matrices[0], *right]
        elif factors == [None, None]:
            chain = [OneMatrix(*[self.lengths[label] for label in distinct])]
        else:
            column, row = (
                self._ones(label) if vector is None else vector
                for vector, label in zip(factors, distinct, strict=True)
            )
            chain = [column, _transposed(row)]
        return _product([*self.scalars, *chain])

    # --- bookkeeping

    def _ones(self, label: Any) -> Any:
        return OneMatrix(self.lengths[label], 1)

    def _on(self, labels: Sequence[Any]) -> Any:
        """The vector on a label, if there is one."""
        found = [vector for vector, own in self.edges if own == tuple(labels) and len(own) == 1]
        return _hadamard(*found) if found else None

    def _replace(self, old: Sequence[Edge], new: Any, labels: Sequence[Any]) -> bool:
        self.edges = [edge for edge in self.edges if not any(edge is gone for gone in old)]
        if labels:
            self.edges.append((new, tuple(labels)))
        else:
            self.scalars.append(new)
        return True

    def _at(self, label: Any) -> list[Edge]:
        return [edge for edge in self.edges if label in edge[1]]

    def _summed(self) -> list[Any]:
        found = dict.fromkeys(label for _, labels in self.edges for label in labels)
        return [label for label in found if label not in self.kept]

    def _oriented(self, edge: Edge, first: Any) -> Any:
        """The matrix whose rows are counted by a label."""
        return edge[0] if edge[1][0] == first else _transposed(edge[0])

    # --- the steps; each says whether it changed something

    def _loop(self) -> bool:
        """A_ii is a trace, or the vector on the diagonal."""
        for edge in self.edges:
            matrix, labels = edge
            if len(labels) == 2 and labels[0] == labels[1]:
                if labels[0] in self.kept or len(self._at(labels[0])) > 1:
                    return self._replace([edge], DiagonalOf(matrix), labels[:1])
                return self._replace([edge], Trace(matrix), ())
        return False

    def _trace(self) -> bool:
        """Two matrices on the same two summed labels: tr(Aᵀ B)."""
        for edge in self.edges:
            labels = edge[1]
            if len(labels) < 2 or self.kept & set(labels):
                continue
            beside = self._at(labels[0])
            if len(beside) == 2 and _same(beside, self._at(labels[1])):
                one, two = (self._oriented(e, labels[0]) for e in beside)
                return self._replace(beside, Trace(_product([_transposed(one), two])), ())
        return False

    def _parallel(self) -> bool:
        """Factors on the same labels: a Hadamard product."""
        for _, labels in self.edges:
            beside = [edge for edge in self.edges if set(edge[1]) == set(labels)]
            pair = len(labels) == 1 and len(beside) == 2 and labels[0] not in self.kept
            if len(beside) > 1 and not (pair and len(self._at(labels[0])) == 2):
                factors = [self._oriented(edge, labels[0]) for edge in beside]
                return self._replace(beside, _hadamard(*factors), labels)
        return False

    def _contract(self) -> bool:
        """A label that is summed over two factors or fewer, a diagonal matrix between not counted;
        vectors come first, so that products stay short."""
        found: list[Any] = []
        for label in self._summed():
            here = self._at(label)
            matrices = [edge for edge in here if len(edge[1]) == 2]
            vectors = [vector for vector, labels in here if len(labels) == 1]
            turned = bool(matrices) and matrices[0][1][0] == label
            if len(matrices) <= 2:
                found.append((len(matrices), turned, len(found), (label, here, matrices, vectors)))
        return bool(found) and self._sum(*min(found)[-1])

    def _sum(self, label: Any, here: list[Edge], matrices: list[Edge], vectors: list[Any]) -> bool:
        outer = [next(k for k in labels if k != label) for _, labels in matrices]
        if not matrices:
            left, right = [self._ones(label), *vectors][-2:]
            both = [_product([_transposed(left), right]), _product([_transposed(right), left])]
            shorter = min(both, key=lambda product: product.count(Transpose))
            return self._replace(here, _entry(shorter, S.Zero), ())
        first = self._oriented(matrices[0], outer[0])
        if len(matrices) == 1:
            vector = _hadamard(*vectors) if vectors else self._ones(label)
            return self._replace(here, _product([first, vector]), outer)
        between = [DiagMatrix(_hadamard(*vectors))] if vectors else []
        second = self._oriented(matrices[1], label)
        return self._replace(here, _product([first, *between, second]), outer)


def _same(one: list[Edge], two: list[Edge]) -> bool:
    return len(one) == len(two) and all(a is b for a, b in zip(one, two, strict=True))


def _product(factors: Sequence[Any]) -> Any:
    """Scalars and matrices multiplied, without SymPy's deep simplification."""
    kept = [factor for factor in factors if factor != 1]
    return kept[0] if len(kept) == 1 else MatMul(*kept).doit(deep=False)


def _hadamard(*factors: Any) -> Any:
    """The Hadamard product; SymPy's own hadamard_product writes entries inside as sums."""
    return factors[0] if len(factors) == 1 else canonicalize(HadamardProduct(*factors))


def _transposed(matrix: Any) -> Any:
    """The transpose, taken inside; SymPy's own writes entries inside as sums."""
    if isinstance(matrix, MatMul):
        scalars = [factor for factor in matrix.args if not factor.is_Matrix]
        factors = [factor for factor in matrix.args if factor.is_Matrix]
        return MatMul(*scalars, *[_transposed(factor) for factor in reversed(factors)])
    if isinstance(matrix, (MatAdd, HadamardProduct)):
        return matrix.func(*[_transposed(arg) for arg in matrix.args])
    return matrix.T


def _sliced(matrix: Any, *cuts: Any) -> Any:
    """A slice of a matrix; SymPy's own slice of a slice compares symbolic lengths."""
    if isinstance(matrix, MatrixSlice):
        cuts = tuple(
            [
                (first + start * stride, first + stop * stride, stride * step)
                for (first, _, stride), (start, stop, step) in zip(
                    (matrix.rowslice, matrix.colslice), cuts, strict=True
                )
            ]
        )
        matrix = matrix.parent
    return MatrixSlice(matrix, *cuts)


def _row(matrix: Any, position: Any) -> Any:
    return _sliced(matrix, (position, position + 1, 1), (0, matrix.cols, 1))


def _column(matrix: Any, position: Any) -> Any:
    return _sliced(matrix, (0, matrix.rows, 1), (position, position + 1, 1))


def _entry(column: Any, position: Any) -> Any:
    """An entry of a column; that of a row or column of a matrix is an entry of the matrix."""
    cut = column.arg if isinstance(column, Transpose) else column
    if not isinstance(cut, MatrixSlice) or cut.parent.cols == 1:
        return MatrixElement(column, position, S.Zero)
    if cut is column:
        return MatrixElement(cut.parent, position, cut.colslice[0])
    return MatrixElement(cut.parent, cut.rowslice[0], position)


# --- from SymPy ----------------------------------------------------------------------------------


def from_matrix(expr: Any, *, vectors: bool = False) -> Any:
    """A tensor expression from SymPy's matrix expression, or from a scalar with some inside.

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


def matrix_tensor(root: Any, vectors: bool) -> Any:
    """The tensor for a matrix expression, both axes kept."""
    images: dict[Any, Any] = {}
    for node in postorder([root], _matrix_parts):
        if isinstance(node, MatrixSymbol):
            is_vector = vectors and node.cols == 1
            symbol = TensorSymbol(node.name, node.shape[:1] if is_vector else node.shape)
            images[node] = expand_dims(symbol, 1) if is_vector else symbol
        elif isinstance(node, ElementwiseApplyFunction):
            convert = partial(matrix_tensor, vectors=vectors)
            function = with_scalars_converted(node.function, convert)
            images[node] = elementwise(function, images[node.expr])
        else:
            with sympys_refusals(node):
                images[node] = _tensor(node, [images[part] for part in _matrix_parts(node)])
    return images[root]


def _matrix_parts(node: Any) -> tuple[Any, ...]:
    """What the tensor for a node is computed from."""
    if isinstance(node, (*LEAVES, PermutationMatrix)) or hasattr(node, "bound_symbols"):
        return ()
    if isinstance(node, (MatrixElement, MatrixSlice)):
        return node.args[:1]
    if isinstance(node, ElementwiseApplyFunction):
        return (node.expr,)
    if isinstance(node, BlockMatrix):
        return tuple(node.blocks)
    return node.args


LEAVES = (MatrixBase, MatrixSymbol, Identity, ZeroMatrix, OneMatrix, TensorExpr)


def _tensor(node: Any, parts: list[Any]) -> Any:
    """The tensor or scalar for a node of SymPy's, from those of its parts."""
    rule = FROM_MATRIX.get(type(node))
    if rule is not None:
        return rule(node, *parts)
    if isinstance(node, (MatrixBase, TensorExpr)):
        return as_operand(node)
    if isinstance(node, MatrixExpr) or any(order_of(part) for part in parts):
        raise UnsupportedError(f"no tensor expression for the {type(node).__name__} {node}")
    if hasattr(node, "bound_symbols"):
        if node.has(MatrixExpr):
            raise UnsupportedError(
                f"matrices inside a {type(node).__name__}: {node}; from_indexed reads sums over "
                "entries"
            )
        return node
    return node.func(*parts) if parts else node


def _product_tensor(node: Any, *parts: Any) -> Any:
    scalars = [part for part in parts if not order_of(part)]
    chain = reduce(matmul, [part for part in parts if order_of(part)])
    return multiply(*scalars, chain)


def _power_tensor(node: Any, base: Any, exponent: Any) -> Any:
    if base.shape == (1, 1):
        return power(base, exponent)
    if not exponent.is_Integer:
        raise UnsupportedError(
            f"no tensor expression for the power {node}: {exponent} is no number"
        )
    return matrix_power(base, exponent)


def _as_vector(tensor: Any, node: Any) -> Any:
    """A row or column as a tensor of order 1."""
    for axis in (1, 0):
        if tensor.shape[axis] == 1:
            return squeeze(tensor, axis)
    raise UnsupportedError(f"{node} needs a row or a column, not a matrix of shape {tensor.shape}")


def _blocks_tensor(node: Any, *parts: Any) -> Any:
    rows, columns = node.blocks.shape
    return concatenate(
        [concatenate(parts[r * columns : (r + 1) * columns], 1) for r in range(rows)], 0
    )


def _function_tensor(node: Any, *parts: Any) -> Any:
    """Unit vectors and selections, as ``to_matrix`` writes them, and matrices of numeric shape."""
    rows, columns, function = node.args
    i, j = _row_and_column()
    entry = function(i, j)
    if isinstance(entry, KroneckerDelta):
        at, given = entry.args if j == entry.args[0] else entry.args[::-1]
        start, step = given.subs(i, 0), given.coeff(i)
        if at == j and given == i and same_length(rows, columns):
            return Delta(rows)
        is_cut = at == j and start + step * i == given and i not in start.free_symbols
        inside = columns - 1 - start - step * (rows - 1)
        if is_cut and step.is_positive and start.is_nonnegative and inside.is_nonnegative:
            return Selection(columns, start, step, rows)
        places = [place for place in entry.args if place != i]
        if columns == 1 and len(places) == 1 and not {i, j} & places[0].free_symbols:
            return expand_dims(Unit(rows, places[0]), 1)
    return _explicit_tensor(node)


def _explicit_tensor(node: Any, *parts: Any) -> Any:
    """A matrix whose entries SymPy can write down."""
    if all(sympify(length).is_Integer for length in node.shape):
        return as_operand(ImmutableDenseMatrix(node))
    raise UnsupportedError(
        f"no tensor expression for the {type(node).__name__} {node}; give its shape in numbers"
    )


def _slice_tensor(node: Any, parent: Any) -> Any:
    return getitem(parent, tuple([slice(*cut) for cut in (node.rowslice, node.colslice)]))


FROM_MATRIX: dict[type, Callable[..., Any]] = {
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
    DiagonalMatrix: lambda node, a: diag(diagonal(a)),
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
