"""Log-sum-exp and softmax over some axes, as nodes whose evaluation doesn't overflow.

Spelled with exp, log and sums they would be right as mathematics, but exp(800) has no double, and
the derivatives would carry the powers of the sum along. As nodes they have short derivatives: that
of log-sum-exp is softmax, and that of softmax is made of itself [BV, §3.1.5; GBC, §6.2.2]. The
logarithm of a softmax is no node of its own, but derivatives and code know it
(:func:`softmax_inside_log`): log(p) is finite where 1/p isn't.

References
==========

[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004.
[GBC] I. Goodfellow, Y. Bengio, A. Courville, "Deep Learning", 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sympy import Basic

from .base import Operand, TensorExpr
from .entrywise import Elementwise
from .interning import Data, Operands, data_property
from .leaves import Zeros
from .products import Ones, View, contract
from .scalar_lambdas import LOG

Item = TypeVar("Item")


class AxesFunction(TensorExpr):
    """Base class of the functions of one tensor that single out some of its axes.

    Attributes
    ==========

    axes : the axes, ascending, never none
    name : what it is called
    """

    __slots__ = ()
    # Whether the result has these axes too.
    keeps_axes = False

    axes: tuple[int, ...] = data_property(0, "The axes that are summed over.")

    @property
    def name(self) -> str:
        """The name of the function."""
        return type(self).__name__.lower()

    @classmethod
    def over(cls, tensor: Operand, axes: Sequence[int], *data: str) -> Operand:
        """Build the function of a tensor over some of its axes; over none it is the identity."""
        return cls._build((tensor,), (tuple(axes), *data))

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        tensor, axes, rest = operands[0], tuple(sorted(data[0])), data[1:]
        if not axes:
            return cls._over_none(tensor)
        keeps = cls._keeps(data)
        if isinstance(tensor, Zeros):
            known = cls._of_zeros(tensor, axes)
            if known is not None:
                return known
        if _is_permuted(tensor):
            labels, output, over = tensor.subscripts[-1], tensor.output, _axes_in_core(tensor, axes)
            core = cls.over(tensor.core, over, *rest)
            if not keeps:
                labels, output = _without(labels, over), _without(output, axes)
            lengths = {label: tensor.lengths[label] for label in output}
            return contract((core,), (labels,), output, lengths)
        shape = tensor.shape if keeps else _without(tensor.shape, axes)
        return cls._intern((tensor,), (axes, *rest), shape)

    @classmethod
    def _keeps(cls, data: Data) -> bool:
        return cls.keeps_axes

    @classmethod
    def _over_none(cls, tensor: Operand) -> Operand:
        return tensor

    @classmethod
    def _of_zeros(cls, zeros: TensorExpr, axes: tuple[int, ...]) -> Operand | None:
        return None


class LogSumExp(AxesFunction):
    """log Σ exp over some axes, which are gone from the result; build it with ``logsumexp``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> isinstance(se.logsumexp(x), se.LogSumExp), se.gradient(se.logsumexp(x), x)
    (True, softmax(x))
    """

    __slots__ = ()


class Softmax(AxesFunction):
    """exp / Σ exp over some axes; build it with ``softmax``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> rows = se.softmax(A, axis=1)
    >>> isinstance(rows, se.Softmax), rows.axes
    (True, (1,))
    """

    __slots__ = ()
    keeps_axes = True

    @classmethod
    def _over_none(cls, tensor: Operand) -> Operand:
        return Ones(*tensor.shape)


def softmax_inside_log(node: Basic) -> Softmax | None:
    """Return the softmax that a node is the logarithm of; None for other nodes."""
    if isinstance(node, Elementwise) and node.body == LOG:
        inner = node.operands[0]
        return inner if isinstance(inner, Softmax) else None
    return None


def _is_permuted(tensor: Operand) -> bool:
    """Tell whether a tensor is another one with its axes permuted, and nothing else."""
    return (
        isinstance(tensor, View)
        and tensor.core is not None
        and not tensor.scalars
        and len(set(tensor.output)) == len(tensor.output) == len(tensor.subscripts[-1])
        and set(tensor.output) == set(tensor.subscripts[-1])
    )


def _axes_in_core(tensor: View, axes: Sequence[int]) -> tuple[int, ...]:
    """Where the axes of a permuted tensor are in its core."""
    return tuple([tensor.subscripts[-1].index(tensor.output[axis]) for axis in axes])


def _without(items: Sequence[Item], axes: Sequence[int]) -> tuple[Item, ...]:
    return tuple([item for axis, item in enumerate(items) if axis not in axes])
