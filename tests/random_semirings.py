"""Random programs of sums and products in a semiring: on symbols, and entry by entry on arrays of
objects by definition."""

from __future__ import annotations

import random
from functools import reduce
from itertools import product
from string import ascii_lowercase

import numpy as np
from semirings import ARGUMENTS, LENGTHS, arrays

import sympy_einsum as se

MAX_ORDER, MAX_ENTRIES = 3, 400
NUMBERED = {int(length): symbol for symbol, length in LENGTHS.items()}
PLACES = se.TensorSymbol("p", 6)


class Program:
    """Expressions and their values, made from a seed."""

    def __init__(self, seed, semiring, meaning, steps=8):
        self.random = random.Random(seed)
        self.add, self.multiply, self.zero, self.one = meaning
        given = arrays(semiring, seed)
        self.places = np.random.default_rng(seed).integers(-3, 3, 6)
        self.arguments = [*ARGUMENTS, PLACES]
        self.arrays = [*given, self.places]
        self.pairs = [
            (symbol, np.asarray(array, object))
            for symbol, array in zip(ARGUMENTS, given, strict=True)
            if np.ndim(array)
        ]
        while len(self.pairs) < len(ARGUMENTS) - 1 + steps:
            try:
                made = self.random.choice(OPERATIONS)(self)
            except se.ShapeError:  # lengths that are equal, but as symbols differ
                continue
            if made is not None and made[1].ndim <= MAX_ORDER and made[1].size <= MAX_ENTRIES:
                self.pairs.append(made)

    # --- by the definition

    def natural(self, number):
        """Return the sum of n ones."""
        return reduce(self.add, [self.one] * int(number), self.zero)

    def entrywise(self, function, *operands):
        """Apply a function to entries."""
        return np.asarray(np.frompyfunc(function, len(operands), 1)(*operands), object)

    def einsum(self, terms, output, operands):
        """Compute an einsum by definition 4.2: every global position adds the product of its
        projections."""
        length = {i: n for own, o in zip(terms, operands, strict=True)
                  for i, n in zip(own, o.shape, strict=True)}  # fmt: skip
        result = np.full([length[i] for i in output], self.zero, object)
        for place in product(*[range(n) for n in length.values()]):
            at = dict(zip(length, place, strict=True))
            factors = [o[tuple(at[i] for i in own)] for own, o in zip(terms, operands, strict=True)]
            where = tuple(at[i] for i in output)
            result[where] = self.add(result[where], reduce(self.multiply, factors, self.one))
        return result

    # --- what is chosen

    def one_of(self, orders=(0, 1, 2, 3)):
        """Draw a value, later ones with higher probability."""
        fitting = [pair for pair in self.pairs if pair[1].ndim in orders]
        start = self.random.randrange(len(fitting))
        return fitting[self.random.randrange(start, len(fitting))]


def _einsum(made):
    chosen = [made.one_of() for _ in range(made.random.randint(1, 3))]
    letters, terms = iter(ascii_lowercase), []
    lengths = {}
    for _, value in chosen:
        own = ""
        for n in value.shape:
            fitting = [i for i in lengths if lengths[i] == n]
            if fitting and made.random.random() < 0.7:
                own += made.random.choice(fitting)
            else:
                letter = next(letters)
                lengths[letter] = n
                own += letter
        terms.append(own)
    if np.prod([*lengths.values()], dtype=float) > 3000:
        return None
    used = sorted({*"".join(terms)})
    output = "".join(made.random.choices(used, k=made.random.randint(0, 3))) if used else ""
    text = f"{','.join(terms)}->{output}"
    values = [value for _, value in chosen]
    return se.einsum(text, *[expr for expr, _ in chosen]), made.einsum(terms, output, values)


def _sum(made):
    expr, value = made.one_of()
    alike = [pair for pair in made.pairs if pair[1].shape == value.shape]
    other, more = made.random.choice(alike)
    return expr + other, made.entrywise(made.add, value, more)


def _entrywise_product(made):
    expr, value = made.one_of()
    alike = [pair for pair in made.pairs if pair[1].shape == value.shape]
    other, more = made.random.choice(alike)
    return expr * other, made.entrywise(made.multiply, value, more)


def _multiple(made):
    expr, value = made.one_of()
    number = made.random.randrange(4)
    times = made.natural(number)
    return number * expr, made.entrywise(lambda x: made.multiply(times, x), value)


def _moved_on(made):
    """Add a number of ones to a value."""
    expr, value = made.one_of()
    more = made.natural(3)
    return expr + 3, made.entrywise(lambda x: made.add(x, more), value)


def _length(made):
    """Multiply by a symbolic axis length."""
    expr, value = made.one_of()
    symbol, n = made.random.choice([*LENGTHS.items()])
    times = made.natural(n)
    return symbol * expr, made.entrywise(lambda x: made.multiply(times, x), value)


def _power(made):
    expr, value = made.one_of()
    number = made.random.choice([2, 3])
    return expr**number, made.entrywise(lambda x: reduce(made.multiply, [x] * number), value)


def _slice(made):
    expr, value = made.one_of((1, 2, 3))
    cut = made.random.choice([slice(1, None), slice(None, None, 2), slice(None, None, -1), 0, -1])
    axis = made.random.randrange(value.ndim)
    if value.shape[axis] < 2:
        return None
    index = (slice(None),) * axis + (cut,)
    return expr[index], np.asarray(value[index], object)


def _joined(made):
    expr, value = made.one_of((1, 2))
    alike = [pair for pair in made.pairs if pair[1].shape == value.shape]
    other, more = made.random.choice(alike)
    joined = made.random.choice(["concatenate", "stack"])
    return getattr(se, joined)([expr, other]), getattr(np, joined)([value, more])


def _padded(made):
    expr, value = made.one_of((1,))
    return se.pad(expr, (1, 2)), np.pad(value, (1, 2), constant_values=made.zero)


def _triangle(made):
    expr, value = made.one_of((2,))
    name, offset = made.random.choice(["tril", "triu"]), made.random.randint(-1, 1)
    kept = getattr(np, name)(np.ones(value.shape, bool), offset)
    return getattr(se, name)(expr, offset), np.where(kept, value, made.zero)


def _running(made):
    expr, value = made.one_of((1, 2))
    axis = made.random.randrange(value.ndim)
    total = np.moveaxis(value.copy(), axis, 0)
    for i in range(1, len(total)):
        total[i] = made.entrywise(made.add, total[i - 1], total[i])
    return se.cumsum(expr, axis=axis), np.moveaxis(total, 0, axis)


def _taken(made):
    """Gather entries on a first axis of length 3."""
    expr, value = made.one_of((1, 2))
    if len(value) != 3 or expr.shape[0] != NUMBERED[3]:
        return None
    return expr[PLACES], value[made.places]


def _added_at_positions(made):
    """Scatter: the transpose of that gather."""
    expr, value = made.one_of((1, 2))
    if len(value) != len(made.places):
        return None
    result = np.full((3, *value.shape[1:]), made.zero, object)
    for row, place in zip(value, made.places, strict=True):
        result[place] = made.entrywise(made.add, result[place], row)
    return se.one_hot(PLACES, NUMBERED[3]).T @ expr, result


def _convolved(made):
    (expr, value), (other, more) = made.one_of((1,)), made.one_of((1,))
    if len(value) < 1 or len(more) < 1:
        return None
    result = np.full(len(value) + len(more) - 1, made.zero, object)
    for i, j in product(range(len(value)), range(len(more))):
        result[i + j] = made.add(result[i + j], made.multiply(value[i], more[j]))
    return se.convolve(expr, other), result


OPERATIONS = (
    *[_einsum] * 4, *[_taken] * 3, *[_added_at_positions] * 2, _sum, _entrywise_product, _multiple,
    _moved_on, _length, _power, _slice, _joined, _padded, _triangle, _running, _convolved,
)  # fmt: skip
