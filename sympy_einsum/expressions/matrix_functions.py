"""Matrix functions: inverse, adjugate, determinant, log-determinant and cofactors.

References
==========

[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, table 4.1.
"""

from __future__ import annotations

from typing import NamedTuple

from sympy import Abs, Expr, Integer, Mul

from ..core import TensorError
from .base import Operand, TensorExpr, TensorLike
from .matrix_base import MatrixFunction
from .matrix_stacks import (
    AdjStack,
    CofactorStack,
    DeterminantDerivative,
    DetStack,
    InvStack,
    LogDetStack,
    square_matrices,
)
from .products import contract


class Inv(MatrixFunction):
    """The inverse of a square matrix; build it with :func:`inv`.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> isinstance(se.inv(A), se.Inv), se.inv(A).operands
    (True, (A,))
    """

    __slots__ = ()
    keeps_shape = is_involution = True
    at_identity = "identity"


class Adj(MatrixFunction):
    """The adjugate of a square matrix; build it with :func:`adj`.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> isinstance(se.adj(A), se.Adj), se.gradient(se.det(A), A)
    (True, adj(A).T)
    """

    __slots__ = ()
    keeps_shape = True
    at_identity = "identity"
    # The order of the derivative of the determinant.
    degree = 1


class Cofactors(DeterminantDerivative):
    """A derivative of the determinant of order 2 or more; build it with :func:`cofactors`.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> hessian = se.hessian(se.det(A), A)
    >>> isinstance(se.cofactors(A, 2), se.Cofactors), hessian.shape
    (True, (3, 3, 3, 3))
    """

    __slots__ = ()


class Det(MatrixFunction):
    """The determinant of a square matrix, a scalar; build it with :func:`det`.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> isinstance(se.det(A), se.Det), se.det(A).shape
    (True, ())
    """

    __slots__ = ()
    at_identity, at_zeros = "ones", "zeros"


class LogDet(MatrixFunction):
    """The logarithm of the determinant's absolute value; build it with :func:`logdet`.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> isinstance(se.logdet(A), se.LogDet), se.gradient(se.logdet(A), A)
    (True, inv(A).T)
    """

    __slots__ = ()
    at_identity = "zeros"


def inv(X: TensorLike) -> Operand:
    """Return the inverse of a square matrix, or of each matrix along the last two axes of a tensor.

    Its derivative is d inv(X)[i,j] / dX[k,l] = -inv(X)[i,k] inv(X)[l,j] [MC, eq. 60]; the
    subscripts printed in [L, table 4.1] hold for symmetric matrices only.

    Raises
    ======

    ShapeError : the last two axes of X have different lengths, or X has fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.inv(X).shape, se.inv(se.inv(X)) == X
    ((3, 3), True)
    """
    matrix = square_matrices(X, "inv")
    return InvStack.of(matrix) if matrix.order > 2 else Inv._build((matrix,), ())


def adj(X: TensorLike) -> Operand:
    """Return the adjugate of a square matrix, or of each matrix along the last two axes of a
    tensor: det(X) inv(X), extended continuously to singular matrices.

    Raises
    ======

    ShapeError : the last two axes of X have different lengths, or X has fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.adj(se.TensorSymbol("X", (3, 3))).shape
    (3, 3)
    """
    matrix = square_matrices(X, "adj")
    return AdjStack.of(matrix) if matrix.order > 2 else Adj._build((matrix,), ())


def cofactors(X: TensorLike, order: int) -> Operand:
    """Compute the ``order``-th derivative of the determinant, a tensor with 2 ``order`` axes.

    The entry [i, j, k, l, …] is the coefficient of X[i,j] X[k,l] … in det(X): up to the sign, the
    minor without these rows and columns. It is a polynomial, so it is also right for singular
    matrices. Order 0 is det(X), order 1 is adj(X).T; for an invertible X order 2 is
    det(X) (inv(X)[j,i] inv(X)[l,k] - inv(X)[j,k] inv(X)[l,i]). The leading axes of a stack of
    matrices remain in front.

    Raises
    ======

    ShapeError : the last two axes of X have different lengths, or X has fewer than two axes
    TensorError : the order isn't a non-negative integer

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.cofactors(X, 2).shape, se.hessian(se.det(X), X) == se.cofactors(X, 2)
    ((3, 3, 3, 3), True)
    """
    matrix = square_matrices(X, "cofactors")
    if isinstance(order, bool) or not isinstance(order, (int, Integer)) or order < 0:
        raise TensorError(f"the order of cofactors is a number from 0 on, not {order!r}")
    if order == 0:
        return det(matrix)
    if order == 1:
        axes = list(range(matrix.order))
        transposed = (*axes[:-2], axes[-1], axes[-2])
        return contract((adj(matrix),), (transposed,), axes, dict(enumerate(matrix.shape)))
    kind = CofactorStack if matrix.order > 2 else Cofactors
    return kind._build((matrix,), (int(order),))


def det(X: TensorLike) -> Operand:
    """Return the determinant of a square matrix, a scalar, or of each matrix along the last two
    axes of a tensor.

    Its derivative is the transposed adjugate [L, table 4.1], also for singular matrices.

    Raises
    ======

    ShapeError : the last two axes of X have different lengths, or X has fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.diff(se.det(X), X) == se.adj(X).T
    True
    """
    matrix = square_matrices(X, "det")
    return DetStack.of(matrix) if matrix.order > 2 else Det._build((matrix,), ())


class DeterminantPower(NamedTuple):
    """A power of a determinant, or of its absolute value, among the factors of a scalar."""

    matrix: TensorExpr
    exponent: Expr
    is_absolute: bool


def determinants_in(scalar: Expr) -> tuple[list[DeterminantPower], Expr]:
    """Split a scalar into powers of determinants and the product of the other factors: of large
    matrices only the logarithms of determinants are within a double's range.

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> determinants_in(2 / se.det(X))
    ([DeterminantPower(matrix=X, exponent=-1, is_absolute=False)], 2)
    """
    found, others = [], []
    for factor in Mul.make_args(scalar):
        base, exponent = factor.as_base_exp()
        is_absolute = isinstance(base, Abs)
        inner = base.args[0] if is_absolute else base
        if isinstance(inner, Det) and exponent.is_Number:
            found.append(DeterminantPower(inner.operands[0], exponent, is_absolute))
        else:
            others.append(factor)
    return found, Mul(*others)


def logdet(X: TensorLike) -> Operand:
    """Return the logarithm of the absolute value of the determinant, a scalar, or of each matrix
    along the last two axes of a tensor.

    Its derivative is the transposed inverse [MC, eq. 57].

    Raises
    ======

    ShapeError : the last two axes of X have different lengths, or X has fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.diff(se.logdet(X), X) == se.inv(X).T
    True
    """
    matrix = square_matrices(X, "logdet")
    return LogDetStack.of(matrix) if matrix.order > 2 else LogDet._build((matrix,), ())
