"""Running products and running log-sum-exp along the last axis.

Two matrices, one for each row of a tensor. *Interval products* W_ij = x_i x_(i+1) ⋯ x_(j-1) are
zero for i > j; every first-order linear recurrence y_(j+1) = x_j y_j + b_(j+1) is a product with
them, y = b W, and so is every running product, its first row. Their derivative is made of
themselves, without any division: ∂W_ij/∂x_k = W_ik W_(k+1)j [B, §1.4]. The *running softmax*
S_ij = exp(x_i) / Σ_(k ≤ j) exp(x_k) for i ≤ j has in column j the softmax of the entries up to j;
it is the derivative of the running log-sum-exp, and has that of softmax, column by column.
Products with both are linear recurrences: the matrices are never built.

References
==========

[B] G. E. Blelloch, "Prefix Sums and Their Applications", 1990.
"""

from __future__ import annotations

from typing import ClassVar

from sympy import S

from ..core import Shape
from .base import Operand, TensorExpr
from .fourier import Fourier
from .interning import Data, Operands
from .products import Ones
from .triangles import Triangle


class RunningFunction(TensorExpr):
    """Base class of what runs along the last axis of a tensor; ``called`` is the function that
    builds it."""

    __slots__ = ()
    called: ClassVar[str]

    @classmethod
    def of(cls, tensor: Operand) -> Operand:
        """Return the function of a tensor of order 1 or more."""
        return cls._build((tensor,), ())


class IntervalProducts(RunningFunction):
    """The products of all entries from position i on and before j; build it with
    ``interval_products``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> isinstance(se.interval_products(x), se.IntervalProducts), se.interval_products(x).shape
    (True, (4, 4))
    """

    __slots__ = ()
    called = "interval_products"
    is_built = False

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        *rest, count = operands[0].shape
        shape: Shape = (*rest, count + 1, count + 1)
        return Ones(*shape) if count is S.Zero else cls._intern(operands, (), shape)


class LogCumSumExp(RunningFunction):
    """log Σ exp of all entries up to each; build it with ``logcumsumexp``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> isinstance(se.logcumsumexp(x), se.LogCumSumExp)
    True
    """

    __slots__ = ()
    called = "logcumsumexp"

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        (tensor,) = operands
        return tensor if tensor.shape[-1] is S.One else cls._intern(operands, (), tensor.shape)


class RunningSoftmax(RunningFunction):
    """In column j the softmax of all entries up to j, then zeros; build it with
    ``running_softmax``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> isinstance(se.running_softmax(x), se.RunningSoftmax), se.running_softmax(x).shape
    (True, (3, 3))
    """

    __slots__ = ()
    called = "running_softmax"
    is_built = False

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        shape: Shape = (*operands[0].shape, operands[0].shape[-1])
        return cls._intern(operands, (), shape)


# Matrices along the last two axes that are never built where one of their indices is summed: what
# runs along the other takes their place, or a transform.
RUNNING = (Triangle, IntervalProducts, RunningSoftmax, Fourier)
