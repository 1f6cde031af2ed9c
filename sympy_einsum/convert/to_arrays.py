"""Conversion to SymPy's array expressions (``sympy.tensor.array.expressions``).

Their product is an einsum in three steps: the tensor product of everything, then sums over groups
of axes, then diagonals of groups of axes, which come last in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import (
    Abs,
    Basic,
    Determinant,
    Expr,
    Identity,
    ImmutableDenseNDimArray,
    Inverse,
    Lambda,
    MatMul,
    MatPow,
    MatrixSymbol,
    log,
)
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.tensor.array.expressions import (
    ArrayAdd,
    ArrayContraction,
    ArrayDiagonal,
    ArrayElementwiseApplyFunc,
    ArraySymbol,
    ArrayTensorProduct,
    OneArray,
    PermuteDims,
    Reshape as ArrayReshape,
    ZeroArray,
)

from ..core import NodeTable, Shape, UnsupportedError, postorder
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
    Operand,
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
from .to_matrices import selection_image, to_matrix, triangle_image, unit_image
from .trees import (
    Images,
    closed,
    described,
    elementwise_image,
    readied,
    refused,
    scalar_image,
    sympys_refusals,
)

# The label of an axis; one that has the label of another axis of the result is told by its place.
Label = int | tuple[str, int]
Factor = tuple[Basic, Sequence[Label]]  # an object and the labels of its axes


def to_array(e: Operand) -> Any:
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
    images = Images(root, _array_symbol, "array expression")
    for node in postorder([root]):
        with sympys_refusals(node):
            if isinstance(node, TensorExpr):
                images[node] = TO_ARRAY[type(node)](node, images)
            else:
                images[node] = scalar_image(node, images, _ArrayPieces())
    return closed(images[root], root)


def _array_symbol(node: TensorSymbol) -> Basic:
    kind = MatrixSymbol if node.order == 2 else lambda name, *shape: ArraySymbol(name, shape)
    return kind(node.name, *node.shape)


class _ArrayPieces:
    """Elementwise functions of arrays."""

    def apply(self, function: Lambda, tensor: Basic) -> Basic:
        """A function of one array."""
        return ArrayElementwiseApplyFunc(function, tensor)

    def product(self, tensors: Sequence[Basic]) -> Basic:
        """Return the diagonal of the tensor product."""
        shape = _common_shape(tensors)
        return _product([(t, range(len(t.shape))) for t in tensors], range(len(shape)))

    def total(self, tensors: Sequence[Basic]) -> Basic:
        """Return the sum."""
        shape = _common_shape(tensors)
        fill = OneArray(*shape)
        return ArrayAdd(
            *[t if len(t.shape) == len(shape) else ArrayTensorProduct(t, fill) for t in tensors]
        )

    def scaled(self, factor: Expr, tensor: Basic) -> Basic:
        """A multiple."""
        return ArrayTensorProduct(factor, tensor)


def _common_shape(tensors: Sequence[Basic]) -> Shape:
    """Return the shape of arrays, of which some may have no axes."""
    return max([tuple(tensor.shape) for tensor in tensors], key=len)


def _matrix_operand(node: TensorExpr, images: Images) -> Basic:
    """Return the operand of an inverse or a determinant as a MatrixExpr."""
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


def _reshaped(array: Basic, shape: Shape) -> Basic:
    """Build SymPy's Reshape with the number of axes that its other array expressions ask for."""
    image = ArrayReshape(array, shape)
    image._subranks = [len(shape)]
    image._sub_ndim_list = image._subranks  # its name from SymPy 1.15 on
    return image


def _adjugate(node: Adj, images: Images) -> Basic:
    matrix = _matrix_operand(node, images)
    return MatMul(Determinant(matrix), Inverse(matrix))


def _power(node: MatrixPower, images: Images) -> Basic:
    if len(node.operands) > 1 or node.order > 2:
        return refused(node, images)
    return MatPow(_matrix_operand(node, images), node.exponent)


def _einsum(node: Einsum, images: Images) -> Basic:
    factors: list[Factor] = [
        (images[operand], labels)
        for operand, labels in zip(node.operands, node.subscripts, strict=True)
    ]
    present = {label for labels in node.subscripts for label in labels}
    missing = [label for label in dict.fromkeys(node.output) if label not in present]
    if missing:
        factors.append((OneArray(*[node.lengths[label] for label in missing]), missing))
    output: list[Label] = []
    label: Label
    for label in node.output:
        if label in output:
            factors.append((Identity(node.lengths[label]), (label, ("again", len(output)))))
            label = ("again", len(output))
        output.append(label)
    return _product(factors, output)


def _product(factors: Sequence[Factor], output: Sequence[Label]) -> Basic:
    """Return the einsum of factors to distinct labels, each in some factor."""
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


def _places(axes: Sequence[Label], label: Label) -> tuple[int, ...]:
    return tuple([axis for axis, other in enumerate(axes) if other == label])


TO_ARRAY: NodeTable[Callable[..., Basic]] = NodeTable(
    "the array",
    {
        TensorSymbol: lambda node, images: images.symbol(node),
        Zeros: lambda node, images: ZeroArray(*node.shape),
        Constant: lambda node, images: ImmutableDenseNDimArray(node.entries.tolist()),
        Unit: lambda node, images: ArrayContraction(unit_image(node), (1,)),
        Selection: lambda node, images: selection_image(node),
        Positions: refused,
        Triangle: lambda node, images: triangle_image(node),
        Einsum: _einsum,
        TensorAdd: lambda node, images: ArrayAdd(*images.below(node)),
        Elementwise: lambda node, images: elementwise_image(node, images, _ArrayPieces()),
        Inv: lambda node, images: Inverse(_matrix_operand(node, images)),
        Adj: _adjugate,
        Det: lambda node, images: Determinant(_matrix_operand(node, images)),
        LogDet: lambda node, images: log(Abs(Determinant(_matrix_operand(node, images)))),
        Reshape: lambda node, images: _reshaped(images[node.operands[0]], node.shape),
        **dict.fromkeys([Cofactors, AxesFunction, OneHot, Fourier, StackFunction], refused),
        MatrixPower: _power,
        RunningFunction: refused,
    },
)
