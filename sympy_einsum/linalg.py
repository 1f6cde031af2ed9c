"""Matrix functions: inverse, adjugate, determinant and its logarithm, norms and products of them.

May import: errors, tensors, einsum, elementwise.

References
==========

[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
[L] A. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, table 4.1.
"""

from __future__ import annotations

from typing import Any

from sympy import S

from .einsum import Delta
from .elementwise import as_operand
from .errors import ShapeError
from .lengths import same_length
from .nodes import TensorExpr


class MatrixFunction(TensorExpr):
    """Base class of the functions of one square matrix."""

    __slots__ = ()
    keeps_shape = False

    @classmethod
    def _build(cls, operands: tuple[Any, ...], data: tuple[Any, ...]) -> Any:
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


class Det(MatrixFunction):
    """The determinant of a square matrix, a scalar; build it with :func:`det`."""

    __slots__ = ()


class LogDet(MatrixFunction):
    """The logarithm of the determinant's absolute value; build it with :func:`logdet`."""

    __slots__ = ()


def _square(value: Any, function: str) -> Any:
    """The operand, checked to be one square matrix."""
    matrix = as_operand(value)
    shape: Any = getattr(matrix, "shape", ())
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


def inv(X: Any) -> Any:
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


def adj(X: Any) -> Any:
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


def det(X: Any) -> Any:
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


def logdet(X: Any) -> Any:
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
