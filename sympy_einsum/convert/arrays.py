"""To and from SymPy's array expressions (``sympy.tensor.array.expressions``).

Their product is an einsum in three steps: the tensor product of everything, then sums over groups
of axes, then diagonals of groups of axes, which come last in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sympy
from sympy import (
    Abs,
    Determinant,
    Dummy,
    Expr,
    Identity,
    Inverse,
    Lambda,
    MatMul,
    MatrixSymbol,
    log,
)
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.tensor.array import NDimArray
from sympy.tensor.array.expressions import (
    ArrayAdd,
    ArrayContraction,
    ArrayDiagonal,
    ArrayElement,
    ArrayElementwiseApplyFunc,
    ArraySymbol,
    ArrayTensorProduct,
    OneArray,
    PermuteDims,
    Reshape as ArrayReshape,
    ZeroArray,
)

from ..core import UnsupportedError, postorder
from ..expressions import (
    Adj,
    Constant,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    Ones,
    Reshape,
    Selection,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Unit,
    Zeros,
    as_operand,
    contract,
    elementwise,
    order_of,
    shape_of,
)
from ..operations import add, getitem, reshape as reshaped
from .matrices import matrix_tensor, selection_image, to_matrix, unit_image
from .trees import (
    Symbols,
    as_stock,
    closed,
    described,
    elementwise_image,
    readied,
    scalar_image,
    sympys_refusals,
    with_scalars_converted,
)

Factor = tuple[Any, Sequence[Any]]  # an object and the labels of its axes


# --- to SymPy ------------------------------------------------------------------------------------


def to_array(e: Any) -> Any:
    """SymPy's array expression for a tensor expression of any order.

    Matrices become MatrixSymbols, which SymPy takes for arrays too, other tensor symbols
    ArraySymbols. Their assumptions are lost.

    Parameters
    ==========

    e : a tensor expression, or a SymPy scalar with tensor expressions inside

    Returns
    =======

    An array expression of the same shape; for order 0 a SymPy scalar, or an
    array expression without axes.

    Raises
    ======

    UnsupportedError : a part has no such form: an elementwise function of several tensors that
        is no sum, product or power, the inverse of something with vectors or higher orders
        inside; or the expression would be huge when shared parts are written out

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> se.to_array(A @ x)
    ArrayContraction(ArrayTensorProduct(A, x), (1, 2))
    """
    root = readied(e, "to_array")
    symbols = Symbols(root, _array_symbol)
    images: dict[Any, Any] = {}
    for node in postorder([root]):
        with sympys_refusals(node):
            if not isinstance(node, TensorExpr):
                images[node] = scalar_image(node, images, _ArrayPieces())
            elif isinstance(node, TensorSymbol):
                images[node] = symbols.image(node)
            elif isinstance(node, Einsum):
                images[node] = _product_image(node, images)
            elif type(node) in TO_ARRAY:
                images[node] = TO_ARRAY[type(node)](node, images)
            else:
                raise UnsupportedError(f"SymPy has no array expression for {described(node)}")
    return closed(images[root], root)


def _array_symbol(node: TensorSymbol) -> Any:
    kind = MatrixSymbol if node.order == 2 else lambda name, *shape: ArraySymbol(name, shape)
    return kind(node.name, *node.shape)


class _ArrayPieces:
    """Elementwise functions of arrays."""

    def apply(self, function: Lambda, tensor: Any) -> Any:
        """A function of one array."""
        return ArrayElementwiseApplyFunc(function, tensor)

    def product(self, tensors: Sequence[Any]) -> Any:
        """The diagonal of the tensor product."""
        shape = _common_shape(tensors)
        return _product([(t, range(len(t.shape))) for t in tensors], range(len(shape)))

    def total(self, tensors: Sequence[Any]) -> Any:
        """The sum."""
        shape = _common_shape(tensors)
        fill = OneArray(*shape)
        return ArrayAdd(
            *[t if len(t.shape) == len(shape) else ArrayTensorProduct(t, fill) for t in tensors]
        )

    def scaled(self, factor: Any, tensor: Any) -> Any:
        """A multiple."""
        return ArrayTensorProduct(factor, tensor)


def _common_shape(tensors: Sequence[Any]) -> Any:
    """The shape of arrays, of which some may have no axes."""
    return max([tuple(tensor.shape) for tensor in tensors], key=len)


def _matrix_operand(node: Any, images: dict[Any, Any]) -> Any:
    """The operand of an inverse or a determinant as a MatrixExpr."""
    operand = node.operands[0]
    image = images[operand]
    if isinstance(image, MatrixExpr):
        return image
    if any(order_of(symbol) not in (0, 2) for symbol in operand.free_symbols):
        raise UnsupportedError(
            f"{described(node)}: SymPy inverts matrix expressions only, and there vectors would "
            "have other symbols; use to_matrix"
        )
    return to_matrix(operand)


def _reshape_image(array: Any, shape: Sequence[Any]) -> Any:
    """SymPy's Reshape, which lacks what all its other array expressions have."""
    image = ArrayReshape(array, shape)
    image._subranks = [len(shape)]
    return image


def _adjugate_image(node: Adj, images: dict[Any, Any]) -> Any:
    matrix = _matrix_operand(node, images)
    return MatMul(Determinant(matrix), Inverse(matrix))


TO_ARRAY: dict[type, Callable[[Any, dict[Any, Any]], Any]] = {
    TensorAdd: lambda node, images: ArrayAdd(*[images[term] for term in node.operands]),
    Elementwise: lambda node, images: elementwise_image(node, images, _ArrayPieces()),
    Inv: lambda node, images: Inverse(_matrix_operand(node, images)),
    Adj: _adjugate_image,
    Det: lambda node, images: Determinant(_matrix_operand(node, images)),
    LogDet: lambda node, images: log(Abs(Determinant(_matrix_operand(node, images)))),
    Reshape: lambda node, images: _reshape_image(images[node.operands[0]], node.shape),
    Zeros: lambda node, images: ZeroArray(*node.shape),
    Constant: lambda node, images: sympy.ImmutableDenseNDimArray(node.array.tolist()),
    Unit: lambda node, images: ArrayContraction(unit_image(node), (1,)),
    Selection: lambda node, images: selection_image(node),
}


def _product_image(node: Einsum, images: dict[Any, Any]) -> Any:
    factors: list[Factor] = [
        (images[operand], labels)
        for operand, labels in zip(node.operands, node.subscripts, strict=True)
    ]
    present = {label for labels in node.subscripts for label in labels}
    missing = [label for label in dict.fromkeys(node.output) if label not in present]
    if missing:
        factors.append((OneArray(*[node.lengths[label] for label in missing]), missing))
    output: list[Any] = []
    label: Any
    for label in node.output:
        if label in output:
            factors.append((Identity(node.lengths[label]), (label, ("again", len(output)))))
            label = ("again", len(output))
        output.append(label)
    return _product(factors, output)


def _product(factors: Sequence[Factor], output: Sequence[Any]) -> Any:
    """The einsum of factors to distinct labels, each in some factor."""
    result = factors[0][0] if len(factors) == 1 else ArrayTensorProduct(*[f for f, _ in factors])
    axes = [label for _, labels in factors for label in labels]
    summed = [label for label in dict.fromkeys(axes) if label not in output]
    if summed:
        result = ArrayContraction(result, *[_places(axes, label) for label in summed])
        axes = [label for label in axes if label in output]
    repeated = [label for label in dict.fromkeys(axes) if axes.count(label) > 1]
    if repeated:
        result = ArrayDiagonal(result, *[_places(axes, label) for label in repeated])
        axes = [label for label in axes if label not in repeated] + repeated
    if axes != list(output):
        result = PermuteDims(result, [axes.index(label) for label in output])
    return result


def _places(axes: Sequence[Any], label: Any) -> tuple[int, ...]:
    return tuple([axis for axis, other in enumerate(axes) if other == label])


# --- from SymPy ----------------------------------------------------------------------------------


def from_array(expr: Any) -> Any:
    """A tensor expression from SymPy's array expression, or from a scalar with some inside.

    ArraySymbols and MatrixSymbols become tensor symbols of their shapes; matrix expressions are
    read as :func:`from_matrix` reads them.

    Parameters
    ==========

    expr : an array expression, an explicit array of numbers, or a SymPy scalar

    Raises
    ======

    UnsupportedError : a part has no tensor expression; it is named

    Examples
    ========

    >>> from sympy import symbols
    >>> from sympy.tensor.array.expressions import ArrayContraction, ArraySymbol, ArrayTensorProduct
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> T, x = ArraySymbol("T", (n, n, n)), ArraySymbol("x", (n,))
    >>> e = se.from_array(ArrayContraction(ArrayTensorProduct(T, x), (2, 3)))
    >>> e == se.TensorSymbol("T", (n, n, n)) @ se.TensorSymbol("x", (n,))
    True
    """
    root = as_stock(expr)
    images: dict[Any, Any] = {}
    for node in postorder([root], _array_parts):
        with sympys_refusals(node):
            images[node] = _product_of(node, [images[part] for part in _array_parts(node)])
    return images[root].whole()


def _array_parts(node: Any) -> tuple[Any, ...]:
    """What the tensor for a node is computed from."""
    leaves = (ArraySymbol, ZeroArray, OneArray, NDimArray, MatrixExpr, TensorExpr)
    if isinstance(node, leaves) or hasattr(node, "bound_symbols"):
        return ()
    if isinstance(node, (ArrayElement, ArrayContraction, ArrayDiagonal, PermuteDims, ArrayReshape)):
        return node.args[:1]
    if isinstance(node, ArrayElementwiseApplyFunc):
        return (node.expr,)
    is_matrix_function = isinstance(node, Expr) and any(
        isinstance(arg, MatrixExpr) for arg in node.args
    )
    return () if is_matrix_function else node.args


class _Product(NamedTuple):
    """Factors with labelled axes, and the labels of the result, which are distinct."""

    factors: Sequence[Factor]
    axes: list[Any]

    def whole(self) -> Any:
        """The tensor."""
        lengths = {
            label: length
            for factor, labels in self.factors
            for label, length in zip(labels, shape_of(factor), strict=True)
        }
        factors, subscripts = zip(*self.factors, strict=True)
        return contract(factors, subscripts, self.axes, lengths)

    def renamed(self) -> _Product:
        """The same with labels of its own: a node may occur several times in a product."""
        fresh = {label: Dummy() for _, labels in self.factors for label in labels}
        factors = [(f, [fresh[label] for label in labels]) for f, labels in self.factors]
        return _Product(factors, [fresh[label] for label in self.axes])

    def grouped(self, groups: Sequence[Sequence[int]], keep: bool) -> _Product:
        """Axes in groups become one, summed over or kept at the end."""
        label = {self.axes[axis]: self.axes[group[0]] for group in groups for axis in group}
        factors = [(f, [label.get(k, k) for k in labels]) for f, labels in self.factors]
        ends = [self.axes[group[0]] for group in groups] if keep else []
        return _Product(factors, [own for own in self.axes if own not in label] + ends)


def _product_of(node: Any, parts: list[_Product]) -> _Product:
    """What a node stands for; products stay open, so that all of them make one einsum."""
    if isinstance(node, ArrayTensorProduct):
        own = [part.renamed() for part in parts]
        return _Product([f for p in own for f in p.factors], [a for p in own for a in p.axes])
    if isinstance(node, ArrayContraction):
        return parts[0].grouped(node.contraction_indices, keep=False)
    if isinstance(node, ArrayDiagonal):
        return parts[0].grouped(node.diagonal_indices, keep=True)
    if isinstance(node, PermuteDims):
        return parts[0]._replace(axes=[parts[0].axes[k] for k in node.permutation.array_form])
    tensor = _tensor(node, [part.whole() for part in parts])
    labels = [Dummy() for _ in range(order_of(tensor))]
    return _Product([(tensor, labels)], labels)


def _tensor(node: Any, parts: list[Any]) -> Any:
    rule = FROM_ARRAY.get(type(node))
    if rule is not None:
        return rule(node, *parts)
    if isinstance(node, NDimArray):
        return as_operand(node)
    if not isinstance(node, Expr) or any(order_of(part) for part in parts):
        raise UnsupportedError(f"no tensor expression for the {type(node).__name__} {node}")
    return node.func(*parts) if parts else matrix_tensor(node, vectors=False)


FROM_ARRAY: dict[type, Callable[..., Any]] = {
    ArraySymbol: lambda node: TensorSymbol(str(node.name), tuple(node.shape)),
    ZeroArray: lambda node: Zeros(*node.shape),
    OneArray: lambda node: Ones(*node.shape),
    ArrayAdd: lambda node, *parts: add(*parts),
    ArrayElementwiseApplyFunc: lambda node, a: elementwise(
        with_scalars_converted(node.function, from_array), a
    ),
    ArrayReshape: lambda node, a: reshaped(a, tuple(node.shape)),
    ArrayElement: lambda node, a: getitem(a, tuple(node.indices)),
}
