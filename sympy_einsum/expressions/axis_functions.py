"""Log-sum-exp and softmax over some axes, as nodes whose evaluation doesn't overflow.

Expressions in exp, log and sums would overflow for entries above 709, and their derivatives would
contain powers of the sum. The nodes have short derivatives: that of log-sum-exp is softmax, that of
softmax is a function of softmax [BV, §3.1.5; GBC, §6.2.2]. The logarithm of a softmax isn't a node,
but derivatives and code recognise it (:func:`softmax_inside_log`): log(p) is finite where 1/p
isn't.

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
    """Base class of functions of one tensor that treat some of its axes differently.

    Attributes
    ==========

    axes : the axes, ascending, at least one
    name : the name of the function
    """

    __slots__ = ()
    # Whether the result has these axes.
    keeps_axes = False

    axes: tuple[int, ...] = data_property(0, "The axes, ascending.")

    @property
    def name(self) -> str:
        """The name of the function."""
        return type(self).__name__.lower()

    @classmethod
    def over(cls, tensor: Operand, axes: Sequence[int], *data: str) -> Operand:
        """Build the function of a tensor over some axes; without axes it is ``_over_none``."""
        return cls._build((tensor,), (tuple(axes), *data))

    def on(self, tensor: Operand, axes: Sequence[int]) -> Operand:
        """Build this function of another tensor, over other axes."""
        return self.over(tensor, axes, *self.data[1:])

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        tensor, axes, rest = operands[0], tuple(sorted(data[0])), data[1:]
        if not axes:
            return cls._over_none(tensor)
        keeps = cls._keeps(data)
        if isinstance(tensor, Zeros):
            value = cls._of_zeros(tensor, axes)
            if value is not None:
                return value
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
    """log Σ exp over some axes, which the result doesn't have; build it with ``logsumexp``.

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
    """Return the softmax whose logarithm a node is; None for other nodes."""
    if isinstance(node, Elementwise) and node.body == LOG:
        inner = node.operands[0]
        return inner if isinstance(inner, Softmax) else None
    return None


def _is_permuted(tensor: Operand) -> bool:
    """Tell whether a tensor is a transpose of another tensor and nothing else."""
    return (
        isinstance(tensor, View)
        and tensor.core is not None
        and not tensor.scalars
        and len(set(tensor.output)) == len(tensor.output) == len(tensor.subscripts[-1])
        and set(tensor.output) == set(tensor.subscripts[-1])
    )


def _axes_in_core(tensor: View, axes: Sequence[int]) -> tuple[int, ...]:
    """Return the axes of the core that are some axes of its transpose."""
    return tuple([tensor.subscripts[-1].index(tensor.output[axis]) for axis in axes])


def _without(items: Sequence[Item], axes: Sequence[int]) -> tuple[Item, ...]:
    return tuple([item for axis, item in enumerate(items) if axis not in axes])
