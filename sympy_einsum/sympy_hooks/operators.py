"""The operators of tensor expressions: but for ``@`` entry by entry, axes of length 1 stretched."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

from sympy import Abs, And, Basic, Expr, Ge, Gt, Le, Lt, MatrixBase, Mod, NDimArray, Not, Or, Xor
from sympy.core.function import FunctionClass
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.printing.defaults import Printable

from .. import operations as ops
from ..core import TensorError, floor_divide
from ..expressions import (
    Node,
    Operand,
    TensorLike,
    as_operand,
    elementwise,
    is_noncommutative,
    is_tensor,
    order_of,
)
from ..operations import Index

Operator: TypeAlias = Callable[[Any, TensorLike], Operand]


def _stock_for_scalars(method: Operator) -> Operator:
    """Return an operator that is SymPy's own between scalars, ours where a tensor takes part."""
    of_expr = getattr(Expr, method.__name__)

    @wraps(method)
    def operator(self: Node, other: TensorLike) -> Operand:
        if isinstance(other, (MatrixBase, MatrixExpr)) and self.order:
            return _with_matrix(method, self, other)
        if isinstance(other, ops.ComplexTensor) or _is_foreign(other):
            return NotImplemented
        if not self.order and is_noncommutative(other):
            return of_expr(self, other)
        other = as_operand(other)
        if not self.order and not order_of(other):
            return of_expr(self, other)
        return method(self, other)

    return operator


def _is_foreign(value: object) -> bool:
    """Tell whether a value is one of SymPy's that is neither an expression nor a matrix or array,
    such as a vector of a reference frame; its own operators take scalars."""
    return isinstance(value, Printable) and not isinstance(value, (Basic, MatrixBase, NDimArray))


def _with_matrix(method: Operator, tensor: Node, matrix: MatrixBase | MatrixExpr) -> Operand:
    """Return an operator between a tensor and one of SymPy's matrices, whose ``*`` is the product
    of matrices."""
    if method.__name__ == "__rmul__" and isinstance(matrix, MatrixExpr):
        return ops.matmul(matrix, tensor)  # matrix @ tensor arrives so too
    if method.__name__ in ("__mul__", "__rmul__", "__truediv__", "__rtruediv__"):
        raise TensorError(
            f"{tensor!s:.80} and {matrix!s:.80}: * and / are those of matrices to SymPy, and go "
            "entry by entry for tensors; write @ for the product of matrices, and "
            "from_matrix(...) for the matrix where entries are meant"
        )
    return method(tensor, as_operand(matrix))


def _connected(connective: FunctionClass, *conditions: TensorLike) -> Operand:
    if any(map(is_tensor, conditions)):
        return ops.logical(connective, *conditions)
    raise TypeError(f"{connective} takes conditions, such as x > 0, not a scalar")


class Operators(Node):
    """Mixin of the operators of ``TensorExpr``.

    Raises
    ======

    ShapeError : orders or lengths that don't fit
    TensorError : an operand that is no tensor, scalar or array of numbers
    """

    __slots__ = ()

    @_stock_for_scalars
    def __add__(self, other: TensorLike) -> Operand:
        """Add entry by entry; a scalar is added to every entry."""
        return ops.add(self, other)

    @_stock_for_scalars
    def __radd__(self, other: TensorLike) -> Operand:
        return ops.add(self, other)

    @_stock_for_scalars
    def __sub__(self, other: TensorLike) -> Operand:
        """Subtract entry by entry."""
        return ops.subtract(self, other)

    @_stock_for_scalars
    def __rsub__(self, other: TensorLike) -> Operand:
        return ops.subtract(other, self)

    @_stock_for_scalars
    def __mul__(self, other: TensorLike) -> Operand:
        """Multiply entry by entry; a scalar multiplies every entry."""
        return ops.multiply(self, other)

    @_stock_for_scalars
    def __rmul__(self, other: TensorLike) -> Operand:
        return ops.multiply(self, other)

    @_stock_for_scalars
    def __truediv__(self, other: TensorLike) -> Operand:
        """Divide entry by entry."""
        return ops.divide(self, other)

    @_stock_for_scalars
    def __rtruediv__(self, other: TensorLike) -> Operand:
        return ops.divide(other, self)

    @_stock_for_scalars
    def __pow__(self, other: TensorLike) -> Operand:
        """Return the power entry by entry; that of a matrix is ``matrix_power``."""
        return ops.power(self, other)

    @_stock_for_scalars
    def __rpow__(self, other: TensorLike) -> Operand:
        return ops.power(other, self)

    @_stock_for_scalars
    def __mod__(self, other: TensorLike) -> Operand:
        """Return the remainder entry by entry, with the sign of the divisor."""
        return elementwise(Mod, self, other)

    @_stock_for_scalars
    def __rmod__(self, other: TensorLike) -> Operand:
        return elementwise(Mod, other, self)

    @_stock_for_scalars
    def __floordiv__(self, other: TensorLike) -> Operand:
        """Return the largest integer that isn't above the quotient, entry by entry."""
        return elementwise(floor_divide, self, other)

    @_stock_for_scalars
    def __rfloordiv__(self, other: TensorLike) -> Operand:
        return elementwise(floor_divide, other, self)

    def __divmod__(self, other: TensorLike) -> tuple[Operand, Operand]:
        """Return the results of ``//`` and ``%``."""
        return self // other, self % other

    def __rdivmod__(self, other: TensorLike) -> tuple[Operand, Operand]:
        return other // self, other % self

    def __matmul__(self, other: TensorLike) -> Operand:
        """Return the sum over the last axis here and the last but one there, or its only one:
        (…, m, n) @ (…, n, k) is (…, m, k)."""
        return ops.matmul(self, other)

    def __rmatmul__(self, other: TensorLike) -> Operand:
        return ops.matmul(other, self)

    def __neg__(self) -> Operand:
        return ops.multiply(-1, self)

    def __pos__(self) -> Operand:
        return self

    def __abs__(self) -> Operand:
        return elementwise(Abs, self)

    # --- conditions: tensors of ones and zeros

    def __gt__(self, other: TensorLike) -> Operand:
        """Return ones where it is larger, zeros elsewhere."""
        return ops.compare(Gt, self, other)

    def __ge__(self, other: TensorLike) -> Operand:
        return ops.compare(Ge, self, other)

    def __lt__(self, other: TensorLike) -> Operand:
        return ops.compare(Lt, self, other)

    def __le__(self, other: TensorLike) -> Operand:
        return ops.compare(Le, self, other)

    def __and__(self, other: TensorLike) -> Operand:
        """Return ones where both conditions hold, zeros elsewhere."""
        return _connected(And, self, other)

    __rand__ = __and__

    def __or__(self, other: TensorLike) -> Operand:
        """Return ones where one of the conditions holds, zeros elsewhere."""
        return _connected(Or, self, other)

    __ror__ = __or__

    def __xor__(self, other: TensorLike) -> Operand:
        """Return ones where exactly one of the conditions holds, zeros elsewhere."""
        return _connected(Xor, self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Operand:
        """Return ones where the condition doesn't hold, zeros elsewhere."""
        return _connected(Not, self)

    def __getitem__(self, index: Index) -> Operand:
        """Entries, slices and new axes, as in NumPy: ``x[i]``, ``A[1:, None]``, ``A[..., -1]``.

        Raises ShapeError for a position that is known to lie outside of its axis, or for too many
        of them.
        """
        return ops.getitem(self, index)
