"""Maxima, minima and sorts along axes: functions that select entries, and the selected positions.

They are piecewise linear. The derivative of a maximum is its *tie-averaged subgradient*: one over
the number of largest entries at each of them, 0 elsewhere, as in JAX; that of a sort is the
permutation that sorts. Subgradients and positions are locally constant: their derivatives are zero,
and sweeps don't visit them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from .axis_functions import AxesFunction
from .base import Operand
from .gathers import OneHot
from .interning import Data, data_property
from .leaves import Zeros
from .products import Ones, contract

if TYPE_CHECKING:
    from .base import TensorExpr


class NamedAxesFunction(AxesFunction):
    """Base class of axis functions whose name is an item of the data."""

    __slots__ = ()

    name: str = data_property(1, "The name of the function.")


class Extremum(NamedAxesFunction):
    """The largest or smallest entries over some axes, which the result doesn't have; build it with
    ``max``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> isinstance(se.max(x), se.Extremum), se.max(x).subgradient
    (True, max_share(x))
    """

    __slots__ = ()

    @property
    def subgradient(self) -> Operand:
        """The tie-averaged subgradient: 1 / count at the selected entries, 0 elsewhere."""
        return ExtremumShare.over(self.operands[0], self.axes, f"{self.name}_share")

    @classmethod
    def _of_zeros(cls, zeros: TensorExpr, axes: tuple[int, ...]) -> Operand:
        return Zeros(*[n for axis, n in enumerate(zeros.shape) if axis not in axes])


class ExtremumShare(NamedAxesFunction):
    """The tie-averaged subgradient of a maximum or minimum over some axes: 1 / count at the
    ``count`` largest (smallest) entries, 0 elsewhere; build it with ``max_share`` or ``min_share``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.gradient(se.max(x), x) == se.max_share(x)
    True
    """

    __slots__ = ()
    is_locally_constant = True
    keeps_axes = True

    @property
    def extremum(self) -> Operand:
        """The largest or smallest entries."""
        return Extremum.over(self.operands[0], self.axes, self.name.removesuffix("_share"))

    @classmethod
    def _over_none(cls, tensor: Operand) -> Operand:
        return Ones(*tensor.shape)

    @classmethod
    def _of_zeros(cls, zeros: TensorExpr, axes: tuple[int, ...]) -> Operand:
        count = prod([zeros.shape[axis] for axis in axes])
        if count == 0:
            return zeros
        return contract((1 / count,), ((),), range(zeros.order), dict(enumerate(zeros.shape)))


class Picked(NamedAxesFunction):
    """Entries along an axis in another order or repeated: ``sort``, ``cummax``, ``cummin``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> isinstance(se.sort(x), se.Picked), se.sort(x).positions
    (True, argsort(x))
    """

    __slots__ = ()
    keeps_axes = True

    @property
    def positions(self) -> Operand:
        """The selected positions along the axis."""
        return Ranking.over(self.operands[0], self.axes, f"arg{self.name}")

    @property
    def one_hot(self) -> Operand:
        """The positions as a one-hot factor, whose last axis is the axis of the operand."""
        return OneHot.at(self.positions, self.shape[self.axes[0]])

    @property
    def gathered(self) -> Operand:
        """The entries as a product with the one-hot factor."""
        axes = range(self.order)
        source = [self.order if axis in self.axes else axis for axis in axes]
        lengths = {**dict(enumerate(self.shape)), self.order: self.shape[self.axes[0]]}
        labels = ((*axes, self.order), source)
        return contract((self.one_hot, *self.operands), labels, axes, lengths)

    @classmethod
    def _of_zeros(cls, zeros: TensorExpr, axes: tuple[int, ...]) -> Operand:
        return zeros


class Ranking(NamedAxesFunction):
    """Positions along an axis of a tensor: ``argmax`` and ``argmin``, without the axis,
    ``argsort``, ``argcummax`` and ``argcummin``.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> isinstance(se.argsort(x), se.Ranking), se.argsort(x).name
    (True, 'argsort')
    """

    __slots__ = ()
    is_locally_constant = True

    @classmethod
    def _keeps(cls, data: Data) -> bool:
        return data[1] not in ("argmax", "argmin")
