"""Conversion to SymPy's array expressions (``sympy.tensor.array.expressions``).

Their product is an einsum in three steps: the tensor product of everything, then sums over groups
of axes, then diagonals of groups of axes, which come last in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import (
    Basic,
    Expr,
    Identity,
    ImmutableDenseNDimArray,
    Lambda,
    MatrixSymbol,
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
    UNEVALUATED_REMEDY,
    Constant,
    Einsum,
    LeviCivita,
    Operand,
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
from .shared_conversion import (
    ConvertedNodes,
    check_closed,
    converted_scalar,
    described,
    prepared_for_sympy,
    shared_rows,
    sympy_errors_explained,
)
from .to_matrices import selection_matrix, to_matrix, triangle_matrix, unit_matrix

# The label of an axis; an axis that repeats a label of the result has its position added.
Label = int | tuple[str, int]
Factor = tuple[Basic, Sequence[Label]]  # an object and the labels of its axes


def to_array(e: Operand) -> Any:
    """Convert a tensor expression of any order to SymPy's array expression.

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
    root = prepared_for_sympy(e, "to_array")
    converted = ConvertedNodes(root, _array_symbol, "array expression")
    for node in postorder([root]):
        with sympy_errors_explained(node):
            if isinstance(node, TensorExpr):
                converted[node] = TO_ARRAY[type(node)](node, converted)
            else:
                converted[node] = converted_scalar(node, converted, BUILDER)
    return check_closed(converted[root], root)


def _array_symbol(node: TensorSymbol) -> Basic:
    kind = MatrixSymbol if node.order == 2 else lambda name, *shape: ArraySymbol(name, shape)
    return kind(node.name, *node.shape)


class _ArrayBuilder:
    """Builds array expressions."""

    def matrix(self, node: TensorExpr, converted: ConvertedNodes) -> MatrixExpr:
        """Return the operand of a function of a matrix; SymPy inverts no arrays."""
        operand = node.operands[0]
        found = converted[operand]
        if isinstance(found, MatrixExpr):
            return found
        if any(order_of(symbol) not in (0, 2) for symbol in operand.free_symbols):
            raise UnsupportedError(
                f"{described(node)}: SymPy inverts matrix expressions only, and there vectors "
                "would have other symbols; use to_matrix"
            )
        return to_matrix(operand)

    def apply(self, function: Lambda, tensor: Basic) -> Basic:
        """Apply a function to each entry of an array."""
        return ArrayElementwiseApplyFunc(function, tensor)

    def product(self, tensors: Sequence[Basic]) -> Basic:
        """Return the diagonal of the tensor product."""
        shape = _common_shape(tensors)
        return _contracted_factors([(t, range(len(t.shape))) for t in tensors], range(len(shape)))

    def total(self, tensors: Sequence[Basic]) -> Basic:
        """Return the sum."""
        shape = _common_shape(tensors)
        fill = OneArray(*shape)
        return ArrayAdd(
            *[t if len(t.shape) == len(shape) else ArrayTensorProduct(t, fill) for t in tensors]
        )

    def scaled(self, factor: Expr, tensor: Basic) -> Basic:
        """Return a multiple."""
        return ArrayTensorProduct(factor, tensor)


BUILDER = _ArrayBuilder()


def _common_shape(tensors: Sequence[Basic]) -> Shape:
    """Return the shape of arrays, of which some may have no axes."""
    return max([tuple(tensor.shape) for tensor in tensors], key=len)


def _reshaped(array: Basic, shape: Shape) -> Basic:
    """Build SymPy's Reshape with the number of axes that other array expressions read."""
    found = ArrayReshape(array, shape)
    found._subranks = [len(shape)]
    found._sub_ndim_list = found._subranks  # its name from SymPy 1.15 on
    return found


def _einsum_array(node: Einsum, converted: ConvertedNodes) -> Basic:
    factors: list[Factor] = [
        (converted[operand], labels)
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
    return _contracted_factors(factors, output)


def _contracted_factors(factors: Sequence[Factor], output: Sequence[Label]) -> Basic:
    """Return the einsum of factors to distinct labels, each in some factor."""
    result = factors[0][0] if len(factors) == 1 else ArrayTensorProduct(*[f for f, _ in factors])
    axes = [label for _, labels in factors for label in labels]
    summed = [label for label in dict.fromkeys(axes) if label not in output]
    if summed:
        result = ArrayContraction(result, *[_positions_of_label(axes, label) for label in summed])
        axes = [label for label in axes if label in output]
    repeated = [label for label in dict.fromkeys(axes) if axes.count(label) > 1]
    if repeated:
        result = ArrayDiagonal(result, *[_positions_of_label(axes, label) for label in repeated])
        axes = [label for label in axes if label not in repeated] + repeated
    if axes != list(output):
        result = PermuteDims(result, [axes.index(label) for label in output])
    return result


def _positions_of_label(axes: Sequence[Label], label: Label) -> tuple[int, ...]:
    return tuple([axis for axis, other in enumerate(axes) if other == label])


TO_ARRAY: NodeTable[Callable[..., Basic]] = NodeTable(
    "the array",
    {
        **shared_rows(BUILDER),
        Zeros: lambda node, converted: ZeroArray(*node.shape),
        Constant: lambda node, converted: ImmutableDenseNDimArray(node.entries.tolist()),
        LeviCivita: lambda node, converted: ImmutableDenseNDimArray(node.array.tolist()),
        Unit: lambda node, converted: ArrayContraction(unit_matrix(node), (1,)),
        Selection: lambda node, converted: selection_matrix(node),
        Triangle: lambda node, converted: triangle_matrix(node),
        Einsum: _einsum_array,
        TensorAdd: lambda node, converted: ArrayAdd(*converted.below(node)),
        Reshape: lambda node, converted: _reshaped(converted[node.operands[0]], node.shape),
    },
    refused={Unevaluated: UNEVALUATED_REMEDY},
)
