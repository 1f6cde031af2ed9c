"""Running products and running log-sum-exp along the last axis.

Each row of a tensor has two matrices. *Interval products* W_ij = x_i x_(i+1) ⋯ x_(j-1), zero for i
> j: every first-order linear recurrence y_(j+1) = x_j y_j + b_(j+1) has the solution y = b W, and
the first row is the running product. Their derivative is a product of them, without division:
∂W_ij/∂x_k = W_ik W_(k+1)j [B, §1.4]. The *running softmax* S_ij = exp(x_i) / Σ_(k ≤ j) exp(x_k) for
i ≤ j: column j is the softmax of the entries up to j. It is the derivative of the running
log-sum-exp, and its own derivative is that of softmax in each column. Products with both are
computed as linear recurrences: the matrices are never built.

They are special cases of scans, and the rules for loops make products and log-sum-exps into them.
They are nodes of their own since derivatives of all orders are products of them, where each
derivative of a loop is one more loop over stored results, and since their code is vectorised over
rows.

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
    """Base class of running functions along the last axis; ``called`` is the function that builds
    one."""

    __slots__ = ()
    called: ClassVar[str]

    @classmethod
    def of(cls, tensor: Operand) -> Operand:
        """Build the function of a tensor of order 1 or more."""
        return cls._build((tensor,), ())


class IntervalProducts(RunningFunction):
    """The products of the entries from position i up to, but not including, j; build it with
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
    """log Σ exp of the entries up to each position; build it with ``logcumsumexp``.

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
    """The matrix whose column j is the softmax of the entries up to j, then zeros; build it with
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


# Nodes that are never materialised where one of their last two indices is summed: a recurrence or a
# transform along the other computes the product.
RUNNING = (Triangle, IntervalProducts, RunningSoftmax, Fourier)
