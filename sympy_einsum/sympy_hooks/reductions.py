"""The methods of tensor expressions that go along axes: sums, extrema, orders, norms."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from .. import operations as ops
from ..core import Length
from ..expressions import Node, Operand, TensorLike
from ..operations import Axes


class Reductions(Node):
    """What goes along axes of a tensor; each method is a function of the same name too.

    Raises
    ======

    ShapeError : an axis that the tensor doesn't have
    """

    __slots__ = ()

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Operand:
        """The sum over the diagonal of two axes.

        Raises ShapeError for axes that aren't there.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (3, 3))
        >>> se.gradient((A @ A).trace(), A)
        2*A.T
        """
        return ops.trace(self, offset, axis1, axis2)

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The sum over an axis or several, over all without ``axis``; with ``keepdims`` they stay,
        with length 1.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 3))
        >>> A.sum().shape, A.sum(axis=0).shape, A.sum(axis=0, keepdims=True).shape
        ((), (3,), (1, 3))
        """
        return ops.sum(self, axis, keepdims)

    def mean(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The mean over an axis or several; that of no entries is nan.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 4)
        >>> x.mean(), se.TensorSymbol("A", (2, 3)).mean(axis=1).shape
        (x.sum()/4, (2,))
        """
        return ops.mean(self, axis, keepdims)

    def var(self, axis: Axes = None, ddof: Expr = 0, keepdims: bool = False) -> Operand:
        """The variance over an axis or several, with ``ddof`` taken off the divisor.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 4)
        >>> se.lambdify([x], x.var(ddof=1))([0.0, 0.0, 0.0, 6.0])
        np.float64(9.0)
        """
        return ops.var(self, axis, ddof, keepdims)

    def std(self, axis: Axes = None, ddof: Expr = 0, keepdims: bool = False) -> Operand:
        """The standard deviation over an axis or several.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 4)
        >>> se.lambdify([x], x.std())([1.0, 1.0, 3.0, 3.0])
        np.float64(1.0)
        """
        return ops.std(self, axis, ddof, keepdims)

    def prod(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The product over an axis or several. Its derivative divides by nothing: it is right at
        zeros.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> se.lambdify([x], se.gradient(x.prod(), x))([0.0, 2.0, 3.0])
        array([6., 0., 0.])
        """
        return ops.prod(self, axis, keepdims)

    def cumsum(self, axis: int | None = None) -> Operand:
        """The running sum along an axis; that of all entries in C order without ``axis``.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("x", 3).cumsum().as_explicit()
        [x[0], x[1] + x[0], x[1] + x[0] + x[2]]
        """
        return ops.cumsum(self, axis)

    def cumprod(self, axis: int | None = None) -> Operand:
        """The running product along an axis; that of all entries in C order without ``axis``.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("x", 3).cumprod().as_explicit()
        [x[0], x[1]*x[0], x[1]*x[0]*x[2]]
        """
        return ops.cumprod(self, axis)

    def max(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The largest entries over an axis or several, over all without ``axis``; those that tie
        share the derivative equally.

        Raises ShapeError for an axis without entries.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> se.lambdify([x], [x.max(), se.gradient(x.max(), x)])([1.0, 5.0, 5.0])
        [np.float64(5.0), array([0. , 0.5, 0.5])]
        """
        return ops.max(self, axis, keepdims)

    def min(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The smallest entries over an axis or several; those that tie share the derivative.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 3))
        >>> A.min(axis=0).shape
        (3,)
        """
        return ops.min(self, axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Operand:
        """The position of the first of the largest entries along an axis, or in C order.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> se.lambdify([x], x.argmax())([1.0, 5.0, 5.0])
        np.int64(1)
        """
        return ops.argmax(self, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Operand:
        """The position of the first of the smallest entries along an axis, or in C order.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 3))
        >>> A.argmin(axis=1).shape
        (2,)
        """
        return ops.argmin(self, axis, keepdims)

    def ptp(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """The largest less the smallest entries over an axis or several.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> se.lambdify([x], x.ptp())([1.0, 5.0, 3.0])
        np.float64(4.0)
        """
        return ops.ptp(self, axis, keepdims)

    def sort(self, axis: int | None = -1) -> Operand:
        """The entries along an axis in ascending order, another tensor: this one doesn't change.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> se.lambdify([x], x.sort())([3.0, 1.0, 2.0])
        array([1., 2., 3.])
        """
        return ops.sort(self, axis)

    def argsort(self, axis: int | None = -1) -> Operand:
        """The positions along an axis that sort it, equal entries in their order.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> se.lambdify([x], x.argsort())([3.0, 1.0, 2.0])
        array([1, 2, 0])
        """
        return ops.argsort(self, axis)

    def take(self, indices: TensorLike, axis: int | None = None) -> Operand:
        """The entries at some positions along an axis, in C order without one.

        Raises ShapeError for a position that is known to lie outside.

        >>> import sympy_einsum as se
        >>> E = se.TensorSymbol("E", (5, 4))
        >>> E.take([2, 0, 2], axis=0).shape
        (3, 4)
        """
        return ops.take(self, indices, axis)

    def repeat(self, repeats: Length | Sequence[int], axis: int | None = None) -> Operand:
        """Each entry so many times along an axis, in C order without one.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("x", 2).repeat(2).as_explicit()
        [x[0], x[0], x[1], x[1]]
        """
        return ops.repeat(self, repeats, axis)

    def norm(
        self, ord: Expr | str | None = None, axis: Axes = None, keepdims: bool = False
    ) -> Operand:
        """The Euclidean norm of a vector, the Frobenius norm of others; with ``ord`` a p-norm.

        Raises UnsupportedError for other norms.

        >>> import sympy_einsum as se
        >>> x, A = se.TensorSymbol("x", 3), se.TensorSymbol("A", (2, 3))
        >>> se.gradient(x.norm(), x), A.norm(axis=1).shape
        (x/norm(x), (2,))
        """
        return ops.norm(self, ord, axis, keepdims)

    def any(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """Whether one of the entries isn't 0, or a condition holds for one: ones and zeros, and a
        relation where no axis is left.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 2))
        >>> se.lambdify([A], (A > 1).any(axis=1))([[1.0, 2.0], [0.0, 1.0]])
        array([1., 0.])
        """
        return ops.any_(self, axis, keepdims)

    def all(self, axis: Axes = None, keepdims: bool = False) -> Operand:
        """Whether none of the entries is 0, or a condition holds for all: ones and zeros, and a
        relation where no axis is left.

        Raises ShapeError for an axis that isn't there.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 2))
        >>> se.lambdify([A], (A > 0).all(axis=1))([[1.0, 2.0], [0.0, 1.0]])
        array([1., 0.])
        """
        return ops.all_(self, axis, keepdims)
