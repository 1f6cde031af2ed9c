"""The methods of tensor expressions, under NumPy's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, NoReturn

from sympy import Expr, Lambda, Mul
from sympy.matrices import MatrixBase
from sympy.tensor.array import NDimArray

from .. import operations as ops
from ..calculus import diff
from ..core import Length, ShapeError, UnsupportedError, deferred
from ..expressions import Operand, TensorExpr, TensorLike, adj, det, elementwise, inv
from ..operations import Axes
from .algebra import AlgebraHooks
from .operators import Operators

_entries = deferred("convert", "as_explicit")


class Methods(Operators, AlgebraHooks):
    """What ``TensorExpr`` can be asked for; each method is a function of the same name too.

    Raises
    ======

    ShapeError : an axis that the tensor doesn't have, or lengths that don't fit
    """

    __slots__ = ()

    # --- what arrays say of themselves

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.order

    @property
    def size(self) -> Expr:
        """The number of entries."""
        return Mul(*self.shape)

    @property
    def real(self) -> Operand:
        """The tensor itself: tensors are real."""
        return ops.real(self)

    @property
    def imag(self) -> Operand:
        """Zeros: tensors are real."""
        return ops.imag(self)

    def __len__(self) -> int:
        """The length of the first axis; TypeError where it is no number."""
        if not self.shape:
            raise TypeError(f"a tensor without axes, such as {str(self)[:80]}, has no length")
        length = self.shape[0]
        if not length.is_Integer:
            raise TypeError(
                f"the first axis of {str(self)[:80]} has the length {length}, which is no number; "
                "ask for .shape[0], or substitute a number for it"
            )
        return int(length)

    def __iter__(self) -> Iterator[Operand]:
        """The pieces along the first axis, as ``unstack`` has them; TypeError where its length is
        no number."""
        return map(self.__getitem__, range(len(self)))

    def unstack(self, axis: int = 0) -> tuple[Operand, ...]:
        """The pieces along an axis, whose length must be a number, without it: the entries of a
        vector, the rows of a matrix.

        >>> import sympy_einsum as se
        >>> a, b = se.TensorSymbol("x", 2).unstack()
        >>> a / b
        x[0]/x[1]
        """
        return ops.unstack(self, axis)

    def item(self, *index: int) -> Operand:
        """The only entry, or that at some positions."""
        if not index and self.size != 1:
            raise ShapeError(f"a tensor of shape {self.shape} has no single entry: say which")
        return self[index or (0,) * self.order] if self.shape else self

    def tolist(self) -> NoReturn:
        """Refused: there are no numbers; ``as_explicit`` has the entries as expressions."""
        raise UnsupportedError(
            "an expression has no numbers to make a list of; lambdify computes them, as_explicit() "
            "writes the entries out"
        )

    def copy(self) -> Operand:
        """The tensor itself: expressions don't change."""
        return self

    # --- axes

    @property
    def mT(self) -> Operand:
        """The transposed matrices: the last two axes exchanged."""
        return ops.swapaxes(self, -1, -2)

    @property
    def T(self) -> Operand:
        """The transpose: the axes in reverse order."""
        return ops.transpose(self)

    @property
    def H(self) -> Operand:
        """The conjugate transpose, which is the transpose: tensors are real."""
        return ops.transpose(self)

    def adjoint(self) -> Operand:
        """The conjugate transpose, which is the transpose: tensors are real."""
        return ops.transpose(self)

    def conjugate(self) -> Operand:
        """The tensor itself: tensors are real."""
        return self

    def conj(self) -> Operand:
        """The tensor itself: tensors are real."""
        return self

    def transpose(self, *axes: Any) -> Operand:
        """The axes in another order, given one by one or as a tuple; reversed without any.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("T", (2, 3, 4)).transpose(1, 0, 2).shape
        (3, 2, 4)
        """
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = tuple(axes[0] or ())
        return ops.transpose(self, axes or None)

    def swapaxes(self, axis1: int, axis2: int) -> Operand:
        """Two axes exchanged."""
        return ops.swapaxes(self, axis1, axis2)

    def reshape(self, *shape: Length | Sequence[Length]) -> Operand:
        """The entries in C order under another shape; one length may be -1.

        Raises ShapeError when the numbers of entries aren't known to be equal.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("A", (2, 3)).reshape(3, -1).shape
        (3, 2)
        """
        return ops.reshape(self, *shape)

    def ravel(self) -> Operand:
        """All entries in C order as a vector."""
        return ops.ravel(self)

    def flatten(self) -> Operand:
        """All entries in C order as a vector."""
        return ops.ravel(self)

    def squeeze(self, axis: Axes = None) -> Operand:
        """Axes of length 1 removed, all of them without ``axis``.

        Raises ShapeError when one of the given axes has another length.
        """
        return ops.squeeze(self, axis)

    def broadcast_to(self, *shape: Length | Sequence[Length]) -> Operand:
        """The tensor repeated to a shape: axes of length 1 stretch, new axes come first."""
        return ops.broadcast_to(self, shape[0] if len(shape) == 1 else shape)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Operand:
        """The diagonal of two axes, as a new last axis."""
        return ops.diagonal(self, offset, axis1, axis2)

    # --- reductions

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Operand:
        """The sum over the diagonal of two axes."""
        return ops.trace(self, offset, axis1, axis2)

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The sum over an axis or several, over all without ``axis``; with ``keepdims`` they stay,
        with length 1.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 3))
        >>> A.sum().shape, A.sum(axis=0).shape, A.sum(axis=0, keepdims=True).shape
        ((), (3,), (1, 3))
        """
        return ops.sum_(self, axis, keepdims)

    def mean(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The mean over an axis or several; that of no entries is nan."""
        return ops.mean(self, axis, keepdims)

    def var(self, axis: Axes = None, ddof: Expr = 0, keepdims: bool = False) -> Operand:
        """The variance over an axis or several, with ``ddof`` taken off the divisor."""
        return ops.var(self, axis, ddof, keepdims)

    def std(self, axis: Axes = None, ddof: Expr = 0, keepdims: bool = False) -> Operand:
        """The standard deviation over an axis or several."""
        return ops.std(self, axis, ddof, keepdims)

    def prod(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The product over an axis or several.

        Raises UnsupportedError when the length of one of them isn't a number.
        """
        return ops.prod(self, axis, keepdims)

    def cumsum(self, axis: int | None = None) -> Operand:
        """The running sum along an axis; that of all entries in C order without ``axis``."""
        return ops.cumsum(self, axis)

    def cumprod(self, axis: int | None = None) -> Operand:
        """The running product along an axis; that of all entries in C order without ``axis``."""
        return ops.cumprod(self, axis)

    def max(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The largest entries over an axis or several, over all without ``axis``; those that tie
        share the derivative equally.

        Raises ShapeError for an axis without entries.
        """
        return ops.max_(self, axis, keepdims)

    def min(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The smallest entries over an axis or several; those that tie share the derivative."""
        return ops.min_(self, axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Operand:
        """The position of the first of the largest entries along an axis, or in C order."""
        return ops.argmax(self, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Operand:
        """The position of the first of the smallest entries along an axis, or in C order."""
        return ops.argmin(self, axis, keepdims)

    def ptp(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The largest less the smallest entries over an axis or several."""
        return ops.ptp(self, axis, keepdims)

    def sort(self, axis: int | None = -1) -> Operand:
        """The entries along an axis in ascending order, another tensor: this one doesn't change."""
        return ops.sort(self, axis)

    def argsort(self, axis: int | None = -1) -> Operand:
        """The positions along an axis that sort it, equal entries in their order."""
        return ops.argsort(self, axis)

    def take(self, indices: TensorLike, axis: int | None = None) -> Operand:
        """The entries at some positions along an axis, in C order without one."""
        return ops.take(self, indices, axis)

    def repeat(self, repeats: Length | Sequence[int], axis: int | None = None) -> Operand:
        """Each entry so many times along an axis, in C order without one."""
        return ops.repeat(self, repeats, axis)

    def norm(
        self, ord: Expr | str | None = None, axis: Axes = None, keepdims: bool = False
    ) -> Operand:
        """The Euclidean norm of a vector, the Frobenius norm of others; with ``ord`` a p-norm.

        Raises UnsupportedError for other norms.
        """
        return ops.norm(self, ord, axis, keepdims)

    def any(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """Whether one of the entries isn't 0, or a condition holds for one: ones and zeros, and a
        relation where no axis is left."""
        return ops.any_(self, axis, keepdims)

    def all(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """Whether none of the entries is 0, or a condition holds for all: ones and zeros, and a
        relation where no axis is left."""
        return ops.all_(self, axis, keepdims)

    # --- entries

    def round(self, decimals: Expr | int = 0) -> Operand:
        """Rounded to some decimals, halves to the even digit."""
        return ops.around(self, decimals)

    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Operand:
        """The entries within bounds; one that is None is left out."""
        return ops.clip(self, min, max)

    # --- products and functions

    def dot(self, b: TensorLike) -> Operand:
        """The sum over the last axis here and the last but one there, or its only one."""
        return ops.dot(self, b)

    def inv(self) -> Operand:
        """The inverse of a square matrix; ShapeError for others."""
        return inv(self)

    def det(self) -> Operand:
        """The determinant of a square matrix; ShapeError for others."""
        return det(self)

    def adj(self) -> Operand:
        """The adjugate of a square matrix; ShapeError for others."""
        return adj(self)

    def applyfunc(self, f: Callable[..., Expr] | Lambda) -> Operand:
        """A scalar function of one argument applied entry by entry."""
        return elementwise(f, self)

    def diff(self, *variables: Expr | int, **options: Any) -> Operand:
        """The derivative by some variables, of shape self.shape + the variables' shapes; a number
        after a variable says how often.

        Raises UnsupportedError where there is no derivative: by axis lengths and positions.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", (3,))
        >>> (x @ x).diff(x), (x @ x).diff(x, 2).shape
        (2*x, (3, 3))
        """
        options.pop("evaluate", None)
        return diff(self, *variables, **options)

    def as_explicit(self) -> NDimArray | MatrixBase | Expr:
        """The entries: a SymPy matrix for order 2, an array for other orders.

        Raises TensorError when a length isn't a number.
        """
        return _entries(self)


# Attached, not inherited: methods need every type of node, and the base class needs none.
for _class in (Operators, AlgebraHooks, Methods):
    for _name, _member in vars(_class).items():
        if isinstance(_member, (FunctionType, property)):
            setattr(TensorExpr, _name, _member)
