"""Random operands and parameters for the operations of random programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from ..expressions import Operand, shape_of

# The positions of the operands among the values, and the parameters.
Chosen: TypeAlias = tuple[list[int], list[Any]]


class ImpossibleError(Exception):
    """No value fits."""


class Choices:
    """The values that a program has so far, and random choices among them.

    Parameters
    ==========

    draw : hypothesis's draw function
    values : the symbolic values
    arrays : their values, computed by NumPy
    """

    def __init__(self, draw: Any, values: Sequence[Operand], arrays: Sequence[np.ndarray]) -> None:
        self.draw, self.values, self.arrays = draw, values, arrays

    def among(self, options: Sequence[Any]) -> Any:
        """Draw one of some options; ImpossibleError if there are none."""
        if not options:
            raise ImpossibleError
        return self.draw(st.sampled_from(options))

    def shape(self, place: int) -> tuple[Operand, ...]:
        """Return the axis lengths of a value."""
        return shape_of(self.values[place])

    def length(self, place: int, axis: int) -> int:
        """Return the number of entries along an axis."""
        return self.arrays[place].shape[axis]

    def one(self, least: int = 0, most: int = 99) -> int:
        """Draw a value with ``least`` to ``most`` axes; the latest are drawn more often."""
        found = [k for k, v in enumerate(self.arrays) if least <= v.ndim <= most]
        return self.among([*found, *found[-2:], *found[-1:]])

    def axis(self, place: int, more: int = 0) -> int:
        """Draw an axis of a value; with ``more=1`` also the position for a new one."""
        return self.among(range(self.arrays[place].ndim + more))

    def like(self, place: int, axis: int | None = None) -> int:
        """Draw a value of the same shape, except along an axis."""
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
    """Draw any value."""
    return [choices.one()], []


def two_alike(choices: Choices) -> Chosen:
    """Draw two values of one shape, or a number for the second."""
    place = choices.one()
    numbers = [k for k, v in enumerate(choices.arrays) if v.ndim == 0]
    return [place, choices.among([choices.like(place), *numbers])], []


def one_axis(choices: Choices) -> Chosen:
    """Draw a value and one of its axes."""
    place = choices.one(1)
    return [place], [choices.axis(place)]


def long_axis(choices: Choices) -> Chosen:
    """Draw a value and an axis with more than one entry."""
    place = choices.one(1)
    long = [k for k, length in enumerate(choices.arrays[place].shape) if length > 1]
    return [place], [choices.among(long)]


def new_axis(choices: Choices) -> Chosen:
    """Draw a value and a position for a new axis."""
    place = choices.one()
    return [place], [choices.axis(place, 1)]


def all_axes(choices: Choices) -> Chosen:
    """Draw a value and a permutation of its axes."""
    place = choices.one(2)
    return [place], [tuple(choices.draw(st.permutations(range(choices.arrays[place].ndim))))]


def matrix(choices: Choices) -> Chosen:
    """Draw a matrix."""
    return [choices.one(2, 2)], []


def with_offset(choices: Choices) -> Chosen:
    """Draw a value with two axes at least, and the offset of a diagonal."""
    return [choices.one(2)], [choices.among([-1, 0, 1])]


def in_a_row(choices: Choices) -> Chosen:
    """Draw two or three values of one shape, except along an axis."""
    place = choices.one(1)
    axis = choices.axis(place)
    others = [choices.like(place, axis) for _ in range(choices.among([1, 1, 2]))]
    return [place, *others], [axis]


def pair_and_axis(choices: Choices) -> Chosen:
    """Draw two values of one shape and a position for a new axis."""
    place = choices.one()
    return [place, choices.like(place)], [choices.axis(place, 1)]


def factors(choices: Choices) -> Chosen:
    """Draw matrices or vectors that can be multiplied."""
    return _with_rows(choices, choices.one(1, 2), -1)


def system(choices: Choices) -> Chosen:
    """Draw a matrix, and a vector or matrix with the same number of rows."""
    return _with_rows(choices, choices.one(2, 2), 0)


def _with_rows(choices: Choices, place: int, axis: int) -> Chosen:
    """Draw a vector or matrix with as many rows as a value has entries along an axis."""
    length = choices.shape(place)[axis]
    shapes = [choices.shape(k) for k in range(len(choices.values))]
    fit = [k for k, own in enumerate(shapes) if len(own) <= 2 and own[:1] == (length,)]
    return [place, choices.among(fit)], []


def subscripts(choices: Choices) -> Chosen:
    """Draw one to four values and an index string, in which indices may be repeated anywhere."""
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
    """Draw a value, an axis and a slice within it."""
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


def at_entry(choices: Choices) -> Chosen:
    """Draw a value, an axis and a position on it."""
    (place,), (axis,) = long_axis(choices)
    return [place], [axis, choices.among([0, 0, -1, -1, 1])]


def positions_along(choices: Choices) -> Chosen:
    """Draw a value, positions with repeats, and their axis."""
    (place,), (axis,) = one_axis(choices)
    on_axis = range(choices.length(place, axis))
    positions = [choices.among(on_axis) for _ in range(choices.among([1, 2, 3, 4]))]
    return [place], [positions, axis]


def shifted(choices: Choices) -> Chosen:
    """Draw a value, an axis and a shift less than its length."""
    (place,), (axis,) = long_axis(choices)
    shifts = [shift for shift in (1, -1, 2) if abs(shift) < choices.length(place, axis)]
    return [place], [axis, choices.among(shifts)]


def widths(choices: Choices) -> Chosen:
    """Draw a value and two padding widths for each axis."""
    place = choices.one(1)
    order = choices.arrays[place].ndim
    return [place], [
        tuple((choices.among(range(3)), choices.among(range(3))) for _ in range(order))
    ]


def counts(choices: Choices) -> Chosen:
    """Draw a value and a number of repetitions for each axis."""
    place = choices.one(1)
    return [place], [tuple(choices.among([1, 2]) for _ in range(choices.arrays[place].ndim))]


def window(choices: Choices) -> Chosen:
    """Draw a value, an axis and a width."""
    (place,), (axis,) = long_axis(choices)
    return [place], [2, axis]


def convolved(choices: Choices) -> Chosen:
    """Draw two vectors, the longer one first where lengths are symbolic, and a mode."""
    one, other = choices.one(1, 1), choices.one(1, 1)
    known = all(choices.shape(k)[0].is_Integer for k in (one, other))
    if not known and choices.length(one, 0) < choices.length(other, 0):
        one, other = other, one
    return [one, other], [choices.among(["full", "same", "valid"])]


def numbers_along(choices: Choices) -> Chosen:
    """Draw a value, an axis of known length and a number for each position."""
    (place,), (axis,) = one_axis(choices)
    if not choices.shape(place)[axis].is_Integer:
        raise ImpossibleError
    count = choices.length(place, axis)
    return [place], [axis, [choices.among([-1.5, 0.0, 0.5, 1.0, 2.0]) for _ in range(count)]]
