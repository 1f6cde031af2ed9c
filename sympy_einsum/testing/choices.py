"""Random operands and parameters for the operations of random programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from ..expressions import Operand, shape_of

# The places of the operands among the values, and what is given beside them.
Chosen: TypeAlias = tuple[list[int], list[Any]]


class ImpossibleError(Exception):
    """No value fits."""


class Choices:
    """The values that a program has so far, and choices among them.

    Parameters
    ==========

    draw : hypothesis's
    values : the symbolic values
    arrays : the same, computed by NumPy
    """

    def __init__(self, draw: Any, values: Sequence[Operand], arrays: Sequence[np.ndarray]) -> None:
        self.draw, self.values, self.arrays = draw, values, arrays

    def among(self, options: Sequence[Any]) -> Any:
        """One of some options."""
        if not options:
            raise ImpossibleError
        return self.draw(st.sampled_from(options))

    def shape(self, place: int) -> tuple[Operand, ...]:
        """Return the axis lengths of a value."""
        return shape_of(self.values[place])

    def length(self, place: int, axis: int) -> int:
        """An axis length as a number."""
        return self.arrays[place].shape[axis]

    def one(self, least: int = 0, most: int = 99) -> int:
        """Draw a value with ``least`` to ``most`` axes; the latest are drawn more often."""
        found = [k for k, v in enumerate(self.arrays) if least <= v.ndim <= most]
        return self.among([*found, *found[-2:], *found[-1:]])

    def axis(self, place: int, more: int = 0) -> int:
        """One of its axes, or the place for one more."""
        return self.among(range(self.arrays[place].ndim + more))

    def like(self, place: int, axis: int | None = None) -> int:
        """A value of the same shape, except along an axis."""
        own = self.shape(place)
        return self.among(
            [
                k
                for k in range(len(self.values))
                if len(self.shape(k)) == len(own)
                and all(i == axis or self.shape(k)[i] == own[i] for i in range(len(own)))
            ]
        )


def one(choices: Choices) -> Chosen:
    """Any value."""
    return [choices.one()], []


def two_alike(choices: Choices) -> Chosen:
    """Two of a shape, or a number for the second."""
    place = choices.one()
    numbers = [k for k, v in enumerate(choices.arrays) if v.ndim == 0]
    return [place, choices.among([choices.like(place), *numbers])], []


def one_axis(choices: Choices) -> Chosen:
    """A value and one of its axes."""
    place = choices.one(1)
    return [place], [choices.axis(place)]


def long_axis(choices: Choices) -> Chosen:
    """A value and an axis with more than one entry."""
    place = choices.one(1)
    long = [k for k, length in enumerate(choices.arrays[place].shape) if length > 1]
    return [place], [choices.among(long)]


def new_axis(choices: Choices) -> Chosen:
    """A value and a place for one more axis."""
    place = choices.one()
    return [place], [choices.axis(place, 1)]


def all_axes(choices: Choices) -> Chosen:
    """A value and its axes in some order."""
    place = choices.one(2)
    return [place], [tuple(choices.draw(st.permutations(range(choices.arrays[place].ndim))))]


def matrix(choices: Choices) -> Chosen:
    """A value with two axes."""
    return [choices.one(2, 2)], []


def with_offset(choices: Choices) -> Chosen:
    """A value with two axes at least, and a diagonal."""
    return [choices.one(2)], [choices.among([-1, 0, 1])]


def in_a_row(choices: Choices) -> Chosen:
    """Two or three values of one shape, except along an axis."""
    place = choices.one(1)
    axis = choices.axis(place)
    others = [choices.like(place, axis) for _ in range(choices.among([1, 1, 2]))]
    return [place, *others], [axis]


def stacked(choices: Choices) -> Chosen:
    """Two values of one shape and the place for an axis."""
    place = choices.one()
    return [place, choices.like(place)], [choices.axis(place, 1)]


def factors(choices: Choices) -> Chosen:
    """Matrices or vectors that can be multiplied."""
    place = choices.one(1, 2)
    length = choices.shape(place)[-1]
    fit = [k for k in range(len(choices.values)) if choices.shape(k)[:1] == (length,)]
    return [place, choices.among([k for k in fit if len(choices.shape(k)) <= 2])], []


def system(choices: Choices) -> Chosen:
    """Draw a matrix, and a vector or matrix with the same number of rows."""
    place = choices.one(2, 2)
    length = choices.shape(place)[0]
    rows = [k for k in range(len(choices.values)) if choices.shape(k)[:1] == (length,)]
    return [place, choices.among([k for k in rows if len(choices.shape(k)) <= 2])], []


def subscripts(choices: Choices) -> Chosen:
    """One to three values and an index string, in which indices may be repeated anywhere."""
    operands = [choices.one(0, 3) for _ in range(choices.among([1, 2, 2, 3, 4]))]
    letters: dict[Operand, str] = {}
    spare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
    terms = []
    for place in operands:
        term = ""
        for length in choices.shape(place):
            # Two letters for each length, so that indices meet.
            used = 2 * len(letters)
            term += choices.among(letters.setdefault(length, spare[used : used + 2]))
        terms.append(term)
    found = sorted({*"".join(terms)})
    count = choices.among(range(4)) if found else 0
    output = "".join(choices.among(found) for _ in range(count))
    return operands, [f"{','.join(terms)}->{output}"]


def slice_of(choices: Choices) -> Chosen:
    """A value, an axis and a slice of it that lies on it."""
    place = choices.one(1)
    axis = choices.axis(place)
    length = choices.length(place, axis)
    step = choices.among([1, 1, 1, 2, -1, -2, 3])
    near = [None, None, 0, 1, 2, -1, -2, length - 1, length, -length]
    start, stop = choices.among(near), choices.among(near)
    on_axis = -length <= (start or 0) < length + (step > 0) and -length <= (stop or 0) <= length
    if not on_axis or not range(length)[start:stop:step]:
        raise ImpossibleError
    return [place], [axis, (start, stop, step)]


def entry(choices: Choices) -> Chosen:
    """A value, an axis and a position on it."""
    (place,), (axis,) = long_axis(choices)
    return [place], [axis, choices.among([0, 0, -1, -1, 1])]


def gathered(choices: Choices) -> Chosen:
    """A value, some positions, which may occur again, and their axis."""
    (place,), (axis,) = one_axis(choices)
    on_axis = range(choices.length(place, axis))
    positions = [choices.among(on_axis) for _ in range(choices.among([1, 2, 3, 4]))]
    return [place], [positions, axis]


def shifted(choices: Choices) -> Chosen:
    """A value, an axis and a number less than its length."""
    (place,), (axis,) = long_axis(choices)
    shifts = [shift for shift in (1, -1, 2) if abs(shift) < choices.length(place, axis)]
    return [place], [axis, choices.among(shifts)]


def widths(choices: Choices) -> Chosen:
    """A value and two numbers for each axis."""
    place = choices.one(1)
    order = choices.arrays[place].ndim
    return [place], [
        tuple((choices.among(range(3)), choices.among(range(3))) for _ in range(order))
    ]


def counts(choices: Choices) -> Chosen:
    """A value and how often it is repeated along each axis."""
    place = choices.one(1)
    return [place], [tuple(choices.among([1, 2]) for _ in range(choices.arrays[place].ndim))]


def window(choices: Choices) -> Chosen:
    """A value, an axis and a width."""
    (place,), (axis,) = long_axis(choices)
    return [place], [2, axis]


def convolved(choices: Choices) -> Chosen:
    """Two vectors, the longer one first where symbols can't tell, and a mode."""
    one, other = choices.one(1, 1), choices.one(1, 1)
    known = all(choices.shape(k)[0].is_Integer for k in (one, other))
    if not known and choices.length(one, 0) < choices.length(other, 0):
        one, other = other, one
    return [one, other], [choices.among(["full", "same", "valid"])]


def numbers_along(choices: Choices) -> Chosen:
    """A value, an axis of known length and a number for each position."""
    (place,), (axis,) = one_axis(choices)
    if not choices.shape(place)[axis].is_Integer:
        raise ImpossibleError
    count = choices.length(place, axis)
    return [place], [axis, [choices.among([-1.5, 0.0, 0.5, 1.0, 2.0]) for _ in range(count)]]
