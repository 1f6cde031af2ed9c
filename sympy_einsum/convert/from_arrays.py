"""Conversion from SymPy's array expressions (``sympy.tensor.array.expressions``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sympy import Basic, Dummy, Expr
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
    Ones,
    Operand,
    TensorExpr,
    TensorSymbol,
    Zeros,
    as_operand,
    contract,
    elementwise,
    order_of,
    shape_of,
)
from ..operations import add, getitem, reshape as reshaped
from .from_matrices import matrix_tensor
from .shared_conversion import as_stock, sympy_errors_explained, with_scalars_converted

Factor = tuple[Operand, Sequence[Dummy]]  # a tensor and the labels of its axes


def from_array(expr: object) -> Operand:
    """Convert SymPy's array expression, or a scalar with array expressions inside.

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
    products: dict[Basic, _LabelledProduct] = {}
    for node in postorder([root], _array_parts):
        with sympy_errors_explained(node):
            products[node] = _product_of(node, [products[part] for part in _array_parts(node)])
    return products[root].whole()


def _array_parts(node: Basic) -> tuple[Basic, ...]:
    """Return the parts of a node whose tensors are its operands."""
    leaves = (ArraySymbol, ZeroArray, OneArray, NDimArray, MatrixExpr, TensorExpr)
    if isinstance(node, leaves) or hasattr(node, "bound_symbols"):
        return ()
    if isinstance(node, (ArrayElement, ArrayContraction, ArrayDiagonal, PermuteDims, ArrayReshape)):
        return node.args[:1]
    if isinstance(node, ArrayElementwiseApplyFunc):
        return (node.expr,)
    if isinstance(node, (ArrayAdd, ArrayTensorProduct)):  # from SymPy 1.15 on an Expr
        return node.args
    is_matrix_function = isinstance(node, Expr) and any(
        isinstance(arg, MatrixExpr) for arg in node.args
    )
    return () if is_matrix_function else node.args


class _LabelledProduct(NamedTuple):
    """Factors with labelled axes, and the labels of the result, which are distinct."""

    factors: Sequence[Factor]
    axes: list[Dummy]

    def whole(self) -> Operand:
        """Return the tensor."""
        lengths = {
            label: length
            for factor, labels in self.factors
            for label, length in zip(labels, shape_of(factor), strict=True)
        }
        factors, subscripts = zip(*self.factors, strict=True)
        return contract(factors, subscripts, self.axes, lengths)

    def renamed(self) -> _LabelledProduct:
        """Return the product with fresh labels: a node may occur several times in a product."""
        fresh = {label: Dummy() for _, labels in self.factors for label in labels}
        factors = [(f, [fresh[label] for label in labels]) for f, labels in self.factors]
        return _LabelledProduct(factors, [fresh[label] for label in self.axes])

    def grouped(self, groups: Sequence[Sequence[int]], keep: bool) -> _LabelledProduct:
        """Merge each group of axes into one, which is summed over or kept at the end."""
        label = {self.axes[axis]: self.axes[group[0]] for group in groups for axis in group}
        factors = [(f, [label.get(k, k) for k in labels]) for f, labels in self.factors]
        ends = [self.axes[group[0]] for group in groups] if keep else []
        return _LabelledProduct(factors, [own for own in self.axes if own not in label] + ends)


def _product_of(node: Basic, parts: list[_LabelledProduct]) -> _LabelledProduct:
    """Convert a node to a product; nested products stay open, so that they make one einsum."""
    if isinstance(node, ArrayTensorProduct):
        own = [part.renamed() for part in parts]
        return _LabelledProduct(
            [f for p in own for f in p.factors], [a for p in own for a in p.axes]
        )
    if isinstance(node, ArrayContraction):
        return parts[0].grouped(node.contraction_indices, keep=False)
    if isinstance(node, ArrayDiagonal):
        return parts[0].grouped(node.diagonal_indices, keep=True)
    if isinstance(node, PermuteDims):
        return parts[0]._replace(axes=[parts[0].axes[k] for k in node.permutation.array_form])
    tensor = _tensor(node, [part.whole() for part in parts])
    labels = [Dummy() for _ in range(order_of(tensor))]
    return _LabelledProduct([(tensor, labels)], labels)


def _tensor(node: Basic, parts: list[Operand]) -> Operand:
    rule = FROM_ARRAY.get(type(node))
    if rule is not None:
        return rule(node, *parts)
    if isinstance(node, NDimArray):
        return as_operand(node)
    if not isinstance(node, Expr) or any(order_of(part) for part in parts):
        raise UnsupportedError(f"no tensor expression for the {type(node).__name__} {node}")
    return node.func(*parts) if parts else matrix_tensor(node, vectors=False)


FROM_ARRAY: dict[type, Callable[..., Operand]] = {
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
