"""The antisymmetric tensor of Levi-Civita: cross products, curls and determinants are contractions
with it."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from sympy import Integer

from ..core import Label, Labels, Length, ShapeError, as_length, cached, tuning
from .base import Operand, TensorExpr
from .interning import Data, Operands, data_property
from .leaves import Constant


class LeviCivita(TensorExpr):
    """The antisymmetric tensor ε with n axes of length n: 1 at even permutations of 0, …, n - 1,
    -1 at odd ones, and 0 where two indices are equal.

    Cross products and curls are contractions with it. Products are built in an order of its axes
    that is unique up to the sign, so that antisymmetric ones are 0 at once; ``simplify`` turns
    products of two into deltas. Generated code never multiplies by it.

    Raises
    ======

    ShapeError : n isn't a number from 1 to 6

    Examples
    ========

    >>> import sympy_einsum as se
    >>> e, x = se.LeviCivita(3), se.TensorSymbol("x", 3)
    >>> e.shape, e.transpose(1, 0, 2)
    ((3, 3, 3), -LeviCivita(3))
    >>> se.einsum("ijk,j,k->i", e, x, x)
    Zeros(3)
    >>> print(se.simplify(se.einsum("ijk,ijl->kl", e, e)))
    2*Delta(3)
    """

    __slots__ = ()
    is_alternating = True

    def __new__(cls, n: Length) -> Operand:  # type: ignore[misc]
        length = as_length(n)
        if not (length.is_Integer and 1 <= length <= tuning.MAX_ALTERNATING_AXES):
            raise ShapeError(
                f"LeviCivita takes a number from 1 to {tuning.MAX_ALTERNATING_AXES}, which is the "
                f"number of its axes and their length, not {length}"
            )
        return cls._build((), (length,))

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        length = as_length(data[0])
        return Constant([1]) if length == 1 else cls._intern((), (length,), (length,) * length)

    length: Integer = data_property(0, "The number of axes, and the length of each.")

    @property
    def array(self) -> np.ndarray:
        """The entries as an array of integers."""
        size = int(self.length)
        array = np.zeros((size,) * size, int)
        for place, sign in alternating(size):
            array[place] = sign
        return array


@cached(16)
def alternating(count: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return all permutations of 0, …, count - 1 with their signs.

    >>> alternating(2)
    (((0, 1), 1), ((1, 0), -1))
    """
    return tuple([(own, parity(own)) for own in permutations(range(count))])


def parity(permutation: tuple[int, ...]) -> int:
    """Return the sign of a permutation.

    >>> parity((1, 2, 0)), parity((1, 0, 2))
    (1, -1)
    """
    inversions = sum([first > second for first, second in combinations(permutation, 2)])
    return -1 if inversions % 2 else 1


def is_exchangeable(tensor: TensorExpr, labels: Labels, pair: tuple[Label, Label]) -> bool:
    """Tell whether a tensor is known to be the same with two labels of its axes exchanged."""
    if pair[0] not in labels or pair[1] not in labels:
        return False
    axes = [labels.index(label) for label in pair]
    if tensor.order == 2:
        return tensor.is_symmetric
    swap = [*range(tensor.order)]
    swap[axes[0]], swap[axes[1]] = axes[1], axes[0]
    return tuple(swap) in tensor.permutations
