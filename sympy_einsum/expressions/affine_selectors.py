"""Affine selectors: entries, slices and windows are contractions with these constant tensors of
zeros and ones, so that their derivatives need no rules.

A delta is [i = j], an affine selector [start + Σ step·i = j]: without an index i it selects one
entry of an axis, with one a slice, with several windows. It is never computed as an array: the
compiler emits a contraction with it as indexing, or as writing into zeros. All positions are on the
axis."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S

from ..core import (
    Length,
    Shape,
    ShapeError,
    TensorError,
    as_length,
    as_list,
    as_position,
    as_scalar,
    as_shape,
    same_length,
)
from .base import Operand, TensorExpr
from .interning import Data, Operands, data_property


class Positions(TensorExpr):
    """The tensor of shape (\\*counts, length) with a one where ``start + Σ steps·i = j``.

    >>> from sympy_einsum.expressions import Positions
    >>> Positions(7, 1, (2, 1), (3, 2)).shape
    (3, 2, 7)

    Raises
    ======

    TensorError : the start or a step isn't an integer, or a step is 0
    ShapeError : a position is provably outside of the axis
    """

    __slots__ = ()
    is_affine_selector = True

    def __new__(  # type: ignore[misc]
        cls, length: Length, start: Length, steps: Sequence[Length], counts: Sequence[Length]
    ) -> Operand:
        first = as_scalar(start, "the start of a slice")
        listed = as_list(steps, "steps")
        strides = tuple([as_scalar(step, "the step of a slice") for step in listed])
        for number in (first, *strides):
            if number.is_integer is False:
                raise TensorError(f"a slice needs an integer start and step, not {number}")
        lengths = as_shape([*as_list(counts, "lengths"), 1])[:-1]
        if len(strides) != len(lengths):
            raise ShapeError(f"there are {len(strides)} steps for {len(lengths)} lengths")
        return cls._build((), (as_length(length), first, strides, lengths))

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        length, start, steps, counts = data
        length = as_length(length)
        if not steps:
            start = as_position(start, length)
            return Unit._intern((), (length, start, (), ()), (length,))
        if S.Zero in steps:
            raise TensorError("the step of a slice is an integer other than 0")
        counts = as_shape([*counts, 1])[:-1]
        # Of an index with at most one value the step doesn't matter.
        steps = tuple([S.One if n in (0, 1) else s for s, n in zip(steps, counts, strict=True)])
        _check_range(length, start, steps, counts)
        kind = Selection if len(steps) == 1 else Positions
        return kind._intern((), (length, start, steps, counts), (*counts, length))

    length: Expr = data_property(0, "The length of the axis.")
    start: Expr = data_property(1, "The position at which all indices are 0.")
    steps: Shape = data_property(2, "The stride of each index, not 0.")
    counts: Shape = data_property(3, "The length of each index.")

    @property
    def is_delta(self) -> bool:
        """Whether it is a delta: [i = j] on axes of one length."""
        if len(self.steps) != 1 or self.start is not S.Zero or self.steps[0] is not S.One:
            return False
        return same_length(self.counts[0], self.length)

    @property
    def is_flip(self) -> bool:
        """Whether it reverses the axis; it is its own transpose then."""
        if self.steps != (S.NegativeOne,) or not same_length(self.counts[0], self.length):
            return False
        return same_length(self.start, self.length - 1)


def is_window(operand: Operand) -> bool:
    """Tell whether an operand is an affine selector with several indices, as sliding windows
    are."""
    return isinstance(operand, Positions) and len(operand.steps) > 1


def _check_range(length: Expr, start: Expr, steps: Shape, counts: Shape) -> None:
    if S.Zero in counts:
        return
    ends = [(s * (n - 1) if n is not S.One else S.Zero) for s, n in zip(steps, counts, strict=True)]
    low = start + sum([end for end in ends if end.is_negative])
    high = start + sum([end for end in ends if end.is_positive])
    if low.is_negative or (length - 1 - high).is_negative:
        raise ShapeError(
            f"positions from {low} to {high} don't lie within an axis of length {length}"
        )


class Unit(Positions):
    """The unit vector with a one at a position: indexing is contraction with it.

    >>> from sympy_einsum.expressions import Unit
    >>> Unit(3, 1).shape
    (3,)
    """

    __slots__ = ()

    def __new__(cls, length: Length, position: Length) -> Operand:  # type: ignore[misc]
        return cls._build((), (length, as_position(position, as_length(length)), (), ()))

    @property
    def position(self) -> Expr:
        """The position of the one."""
        return self.start


class Selection(Positions):
    """The matrix that selects the positions ``start, start + step, …`` of an axis, ``count`` of
    them.

    Its shape is (count, length). Slicing an axis is contraction with it, zero-padding contraction
    with its transpose.

    >>> from sympy_einsum.expressions import Selection
    >>> Selection(5, 1, 2, 2).shape
    (2, 5)
    """

    __slots__ = ()

    def __new__(cls, length: Length, start: Length, step: Length, count: Length) -> Operand:  # type: ignore[misc]
        return Positions(length, start, (step,), (count,))

    @property
    def step(self) -> Expr:
        """The stride, not 0."""
        return self.steps[0]

    @property
    def count(self) -> Expr:
        """The number of positions."""
        return self.counts[0]
