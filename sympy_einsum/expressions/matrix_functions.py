"""Matrix functions: inverse, adjugate, determinant, its logarithm and its derivatives.

References
==========

[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
[L] A. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, table 4.1.
"""

from __future__ import annotations

from typing import NamedTuple

from sympy import Abs, Expr, Integer, Mul, S

from ..core import ShapeError, TensorError, same_length
from .base import Operand, TensorExpr, TensorLike
from .conversion import as_operand
from .graphs import shape_of
from .interning import Data, Operands
from .leaves import Zeros
from .products import Delta, contract


class MatrixFunction(TensorExpr):
    """Base class of the functions of one square matrix."""

    __slots__ = ()
    keeps_shape = False

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        matrix = operands[0]
        return cls._intern(operands, data, matrix.shape if cls.keeps_shape else ())


class Inv(MatrixFunction):
    """The inverse of a square matrix; build it with :func:`inv`."""

    __slots__ = ()
    keeps_shape = True


class Adj(MatrixFunction):
    """The adjugate of a square matrix; build it with :func:`adj`."""

    __slots__ = ()
    keeps_shape = True
    # As a derivative of the determinant; the axes of its second one and the others go in pairs.
    degree = 1


class Cofactors(MatrixFunction):
    """A derivative of the determinant of order 2 or more; build it with :func:`cofactors`."""

    __slots__ = ()

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        shape = operands[0].shape * data[0]
        vanishes = (shape[0] - data[0]).is_negative
        return Zeros(*shape) if vanishes else cls._intern(operands, data, shape)

    @property
    def degree(self) -> int:
        """How often the determinant is differentiated; half the number of axes."""
        return self.data[0]


class Det(MatrixFunction):
    """The determinant of a square matrix, a scalar; build it with :func:`det`."""

    __slots__ = ()


class LogDet(MatrixFunction):
    """The logarithm of the determinant's absolute value; build it with :func:`logdet`."""

    __slots__ = ()


def _square(value: TensorLike, function: str) -> TensorExpr:
    """The operand, checked to be one square matrix."""
    matrix = as_operand(value)
    shape = shape_of(matrix)
    if len(shape) != 2:
        raise ShapeError(
            f"{function} takes a square matrix, not a tensor of order {len(shape)}, shape {shape}"
        )
    if not same_length(*shape):
        raise ShapeError(
            f"{function} takes a square matrix, but axis 0 has length {shape[0]} and axis 1 has "
            f"length {shape[1]}"
        )
    return matrix


def inv(X: TensorLike) -> Operand:
    """The inverse of a square matrix.

    Its derivative is d inv(X)[i,j] / dX[k,l] = -inv(X)[i,k] inv(X)[l,j] [MC, eq. 60]; the
    subscripts printed in [L, table 4.1] hold for symmetric matrices only.

    Raises
    ======

    ShapeError : X is no square matrix

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.inv(X).shape, se.inv(se.inv(X)) == X
    ((3, 3), True)
    """
    matrix = _square(X, "inv")
    if isinstance(matrix, Inv):
        return matrix.operands[0]
    return matrix if isinstance(matrix, Delta) else Inv._build((matrix,), ())


def adj(X: TensorLike) -> Operand:
    """The adjugate of a square matrix: det(X) inv(X), and its limit where X is singular.

    Raises
    ======

    ShapeError : X is no square matrix

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.adj(se.TensorSymbol("X", (3, 3))).shape
    (3, 3)
    """
    return Adj._build((_square(X, "adj"),), ())


def cofactors(X: TensorLike, order: int) -> Operand:
    """The derivative of the determinant of some order, a tensor with twice as many axes.

    The entry [i, j, k, l, …] is what multiplies X[i,j] X[k,l] … in det(X): up to its sign, the
    determinant of what remains when these rows and columns are taken out. It is a polynomial,
    right for singular matrices too; order 0 is det(X), order 1 is adj(X).T. An invertible X has
    the second one det(X) (inv(X)[j,i] inv(X)[l,k] - inv(X)[j,k] inv(X)[l,i]).

    Raises
    ======

    ShapeError : X is no square matrix
    TensorError : the order is no number from 0 on

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.cofactors(X, 2).shape, se.hessian(se.det(X), X) == se.cofactors(X, 2)
    ((3, 3, 3, 3), True)
    """
    matrix = _square(X, "cofactors")
    if isinstance(order, bool) or not isinstance(order, (int, Integer)) or order < 0:
        raise TensorError(f"the order of cofactors is a number from 0 on, not {order!r}")
    if order == 0:
        return det(matrix)
    if order == 1:
        axes = {0: matrix.shape[0], 1: matrix.shape[1]}
        return contract((adj(matrix),), ((1, 0),), (0, 1), axes)
    return Cofactors._build((matrix,), (int(order),))


def det(X: TensorLike) -> Operand:
    """The determinant of a square matrix, a scalar.

    Its derivative is the transposed adjugate [L, table 4.1], which is right for singular
    matrices too.

    Raises
    ======

    ShapeError : X is no square matrix

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.diff(se.det(X), X) == se.adj(X).T
    True
    """
    matrix = _square(X, "det")
    return S.One if isinstance(matrix, Delta) else Det._build((matrix,), ())


class Factor(NamedTuple):
    """A power of a determinant, or of its absolute value, among the factors of a scalar."""

    matrix: TensorExpr
    exponent: Expr
    is_absolute: bool


def determinants_in(scalar: Expr) -> tuple[list[Factor], Expr]:
    """The determinants among the factors of a scalar, and the product of the others: of large
    matrices only the logarithms of determinants are numbers that fit a float.

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> determinants_in(2 / se.det(X))
    ([Factor(matrix=X, exponent=-1, is_absolute=False)], 2)
    """
    found, others = [], []
    for factor in Mul.make_args(scalar):
        base, exponent = factor.as_base_exp()
        is_absolute = isinstance(base, Abs)
        inner = base.args[0] if is_absolute else base
        if isinstance(inner, Det) and exponent.is_Number:
            found.append(Factor(inner.operands[0], exponent, is_absolute))
        else:
            others.append(factor)
    return found, Mul(*others)


def logdet(X: TensorLike) -> Operand:
    """The logarithm of the absolute value of the determinant, a scalar.

    Its derivative is the transposed inverse [MC, eq. 57].

    Raises
    ======

    ShapeError : X is no square matrix

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (3, 3))
    >>> se.diff(se.logdet(X), X) == se.inv(X).T
    True
    """
    matrix = _square(X, "logdet")
    return S.Zero if isinstance(matrix, Delta) else LogDet._build((matrix,), ())
