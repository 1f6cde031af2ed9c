"""Random programs of slices, entries, steps, flips, joined and padded arrays inside of products and
functions: made on symbols, replayed on arrays, and by torch for derivatives.

Programs are made by a seed. Lengths are numbers in some and symbols in others; where the symbols
don't take an operation, another is tried.
"""

import random
from math import prod

import numpy as np
import torch
from sympy import symbols, sympify

import sympy_einsum as se
import sympy_einsum.numpy as snp

LENGTHS = dict(zip(symbols("n m k", integer=True, positive=True), (4, 5, 3), strict=True))
MAX_ORDER = 3
MAX_ENTRIES = 300

FUNCTIONS = {
    "sin": lambda xp, v: xp.sin(v),
    "tanh": lambda xp, v: xp.tanh(v),
    "exp": lambda xp, v: xp.exp(xp.tanh(v)),
    "square": lambda xp, v: v**2 / 2,
    "sqrt": lambda xp, v: xp.sqrt(1 + v * v),
    "reciprocal": lambda xp, v: 1 / (2 + xp.sin(v)),
    "affine": lambda xp, v: 0.5 * v - 1,
    "log": lambda xp, v: xp.log(2 + v * v),
}
PAIRS = {
    "add": lambda xp, a, b: a + b,
    "subtract": lambda xp, a, b: a - 2 * b,
    "multiply": lambda xp, a, b: a * b,
    "divide": lambda xp, a, b: a / (2 + b * b),
}

# Every operation in NumPy's words: the namespace, then the operands, then parameters.
OPERATIONS = {
    "function": lambda xp, v, name: FUNCTIONS[name](xp, v),
    "pair": lambda xp, a, b, name: PAIRS[name](xp, a, b),
    "slice": lambda xp, v, axis, cut: v[(slice(None),) * axis + (slice(*cut),)],
    "entry": lambda xp, v, axis, place: v[(slice(None),) * axis + (place,)],
    "transpose": lambda xp, v, axes: xp.transpose(v, axes),
    "sum": lambda xp, v, axis: xp.sum(v, axis=axis),
    "newaxis": lambda xp, v, axis: xp.expand_dims(v, axis),
    "concatenate": lambda xp, a, b, axis: xp.concatenate([a, b], axis=axis),
    "join": lambda xp, a, b, c, axis: xp.concatenate([a, b, c], axis=axis),
    "stack": lambda xp, a, b, axis: xp.stack([a, b], axis=axis),
    "einsum": lambda xp, a, b, text: xp.einsum(text, a, b),
    "diagonal": lambda xp, v, text: xp.einsum(text, v),
    "matmul": lambda xp, a, b: a @ b,
    "flip": lambda xp, v, axis: xp.flip(v, axis),
    "roll": lambda xp, v, axis, shift: xp.roll(v, shift, axis),
    "pad": lambda xp, v, widths: xp.pad(v, widths),
    "tile": lambda xp, v, repeats: xp.tile(v, repeats),
    "cumsum": lambda xp, v, axis: xp.cumsum(v, axis=axis),
    "diff": lambda xp, v, axis: xp.diff(v, axis=axis),
    "reshape": lambda xp, v: xp.reshape(v, (-1,)),
    "max": lambda xp, v, axis: xp.max(v, axis=axis),
    "min": lambda xp, v, axis: xp.min(v, axis=axis),
    "cumprod": lambda xp, v, axis: xp.cumprod(v, axis=axis),
    "take": lambda xp, v, places, axis: xp.take(v, places, axis),
    "convolve": lambda xp, a, b, mode: xp.convolve(a, b, mode),
    "triu": lambda xp, v, offset: xp.triu(v, offset),
}


class _Torch:
    """NumPy's words for torch, as far as programs need them."""

    sin, tanh, exp, sqrt, log, einsum = (
        torch.sin, torch.tanh, torch.exp, torch.sqrt, torch.log, torch.einsum
    )  # fmt: skip
    transpose, reshape, tile = torch.permute, torch.reshape, torch.tile
    expand_dims = torch.unsqueeze

    @staticmethod
    def sum(v, axis):
        return torch.sum(v, dim=axis)

    @staticmethod
    def concatenate(parts, axis):
        return torch.cat(parts, dim=axis)

    @staticmethod
    def stack(parts, axis):
        return torch.stack(parts, dim=axis)

    @staticmethod
    def flip(v, axis):
        return torch.flip(v, (axis,))

    @staticmethod
    def roll(v, shift, axis):
        return torch.roll(v, shift, axis)

    @staticmethod
    def pad(v, widths):
        return torch.nn.functional.pad(v, [w for pair in widths[::-1] for w in pair])

    @staticmethod
    def cumsum(v, axis):
        return torch.cumsum(v, axis)

    @staticmethod
    def diff(v, axis):
        return torch.diff(v, dim=axis)

    @staticmethod
    def max(v, axis):
        return torch.amax(v, axis)

    @staticmethod
    def min(v, axis):
        return torch.amin(v, axis)

    @staticmethod
    def cumprod(v, axis):
        return torch.cumprod(v, axis)

    @staticmethod
    def take(v, places, axis):
        return torch.index_select(v, axis, torch.tensor(places))

    @staticmethod
    def convolve(a, b, mode):
        a, b = (a, b) if len(a) >= len(b) else (b, a)
        full = sum(
            torch.nn.functional.pad(value * a, (k, len(b) - 1 - k)) for k, value in enumerate(b)
        )
        first = {"full": 0, "same": (len(b) - 1) // 2, "valid": len(b) - 1}[mode]
        return full[first : len(full) - first] if mode != "same" else full[first : first + len(a)]

    @staticmethod
    def triu(v, offset):
        return torch.triu(v, offset)


def _torch_slice(xp, v, axis, cut):
    """Torch has no negative steps."""
    places = torch.tensor(range(v.shape[axis])[slice(*cut)], dtype=torch.int64)
    return torch.index_select(v, axis, places)


TORCH_OPERATIONS = {**OPERATIONS, "slice": _torch_slice}
AVAILABLE = [
    name
    for name in OPERATIONS
    if name not in ("flip", "roll", "pad", "tile", "cumsum", "diff") or hasattr(snp, name)
]


def replay(steps, leaves, xp, operations=OPERATIONS):
    """All values of a program: the leaves, then one for each step."""
    values = list(leaves)
    for name, operands, parameters in steps:
        values.append(operations[name](xp, *[values[k] for k in operands], *parameters))
    return values


def by_torch(steps, leaves):
    """The same by torch."""
    return replay(steps, leaves, _Torch, TORCH_OPERATIONS)


def shape_of(value):
    return tuple(getattr(value, "shape", ()))


def numbers(shape):
    """The axis lengths in numbers."""
    return tuple(int(sympify(length).subs(LENGTHS)) for length in shape)


class Program:
    """Leaves, steps and symbolic values; the first leaf is the variable."""

    def __init__(self, seed, size=7):
        self.rng = rng = random.Random(seed)
        lengths = list(LENGTHS if rng.random() < 0.5 else LENGTHS.values())
        shapes = [rng.choices(lengths, k=rng.choice([1, 1, 2])) for _ in range(2)]
        shapes.append(rng.choices(lengths, k=rng.randint(1, 3)))
        names = ["x", "a", "b"]
        self.leaves = [se.TensorSymbol(n, tuple(s)) for n, s in zip(names, shapes, strict=True)]
        self.values, self.steps = list(self.leaves), []
        while len(self.steps) < size:
            self._grow()

    def data(self, seed=0):
        """An array for each leaf."""
        rng = np.random.default_rng(seed)
        return [rng.standard_normal(numbers(leaf.shape)) for leaf in self.leaves]

    def _grow(self):
        """One more step, if the one that is drawn is possible."""
        name = self.rng.choice(["slice", "slice", "function", "pair", "einsum", *AVAILABLE])
        drawn = getattr(self, f"_{name}")()
        if drawn is None:
            return
        operands, parameters = drawn
        tensors = [self.values[k] for k in operands]
        try:
            value = OPERATIONS[name](snp, *tensors, *parameters)
        except se.UnsupportedError:
            return
        except se.ShapeError:
            # A symbolic length may be too small for a slice.
            if name != "slice" or all(n.is_Integer for n in tensors[0].shape):
                raise
            return
        shape = numbers(shape_of(value))
        if len(shape) <= MAX_ORDER and 0 < prod(shape) <= MAX_ENTRIES:
            self.steps.append((name, operands, parameters))
            self.values.append(value)

    def _one(self, least=1):
        """A value of so many axes at least; the youngest are drawn more often."""
        found = [k for k, v in enumerate(self.values) if len(shape_of(v)) >= least]
        return self.rng.choice([*found, *found[-2:], *found[-1:]]) if found else None

    def _axis(self, k, more=0):
        return self.rng.randrange(len(shape_of(self.values[k])) + more)

    def _like(self, k, axis=None):
        """A value of the same shape, but along an axis."""
        own = shape_of(self.values[k])
        same = [
            j
            for j, v in enumerate(self.values)
            if len(shape_of(v)) == len(own)
            and all(i == axis or shape_of(v)[i] == own[i] for i in range(len(own)))
        ]
        return self.rng.choice(same)

    def _function(self):
        return [self._one(0)], [self.rng.choice(sorted(FUNCTIONS))]

    def _pair(self):
        k = self._one(0)
        return [k, self._like(k)], [self.rng.choice(sorted(PAIRS))]

    def _slice(self):
        k = self._one()
        axis = self._axis(k)
        (length,) = numbers([shape_of(self.values[k])[axis]])
        step = self.rng.choice([1, 1, 1, 2, -1, -2, 3])
        near = [None, None, 0, 1, 2, -1, -2, length - 1, length, -length]
        start, stop = self.rng.choice(near), self.rng.choice(near)
        inside = -length <= (start or 0) < length + (step > 0) and -length <= (stop or 0) <= length
        # Slices of symbolic lengths aren't clipped.
        return ([k], [axis, (start, stop, step)]) if inside else None

    def _entry(self):
        k = self._one()
        place = self.rng.choice([0, 0, -1, -1, 1])
        return ([k], [self._axis(k), place]) if self._long(k) else None

    def _long(self, k):
        return min(numbers(shape_of(self.values[k]))) > 1

    def _transpose(self):
        k = self._one(2)
        if k is None:
            return None
        axes = list(range(len(shape_of(self.values[k]))))
        self.rng.shuffle(axes)
        return [k], [tuple(axes)]

    def _sum(self):
        k = self._one()
        return [k], [self._axis(k)]

    def _newaxis(self):
        k = self._one(0)
        return [k], [self._axis(k, 1)]

    def _concatenate(self):
        k = self._one()
        axis = self._axis(k)
        return [k, self._like(k, axis)], [axis]

    def _join(self):
        k = self._one()
        axis = self._axis(k)
        return [k, self._like(k, axis), self._like(k, axis)], [axis]

    def _stack(self):
        k = self._one(0)
        return [k, self._like(k)], [self._axis(k, 1)]

    def _einsum(self):
        letters, used = {}, []
        operands = [self._one(), self._one()]
        for k in operands:
            term = ""
            for length in shape_of(self.values[k]):
                pair = letters.setdefault(
                    length, "abcdefghijklmnopqrst"[2 * len(letters) :][:2] or "yz"
                )
                term += self.rng.choice(pair)
            used.append(term)
        found = sorted({*"".join(used)})
        output = "".join(self.rng.sample(found, self.rng.randint(0, min(3, len(found)))))
        return operands, [f"{','.join(used)}->{output}"]

    def _diagonal(self):
        k = self._one(2)
        own = shape_of(self.values[k]) if k is not None else ()
        if len(own) < 2 or own[0] != own[1]:
            return None
        return [k], ["aa...->a..." if self.rng.random() < 0.7 else "aa...->..."]

    def _matmul(self):
        k = self._one()
        own = shape_of(self.values[k])
        fits = [
            j
            for j, v in enumerate(self.values)
            if len(own) <= 2 and 0 < len(shape_of(v)) <= 2 and shape_of(v)[0] == own[-1]
        ]
        return ([k, self.rng.choice(fits)], []) if fits else None

    def _flip(self):
        return self._sum()

    _cumsum = _max = _min = _cumprod = _sum

    def _take(self):
        k = self._one()
        axis = self._axis(k)
        (length,) = numbers([shape_of(self.values[k])[axis]])
        return [k], [[self.rng.randrange(length) for _ in range(self.rng.randint(1, 4))], axis]

    def _convolve(self):
        found = [k for k, v in enumerate(self.values) if len(shape_of(v)) == 1]
        if not found:
            return None
        one, other = self.rng.choice(found), self.rng.choice(found)
        lengths = [numbers(shape_of(self.values[k])) for k in (one, other)]
        # Where lengths don't tell, the first has to be the longer one.
        known = all(shape_of(self.values[k])[0].is_Integer for k in (one, other))
        mode = self.rng.choice(["full", "same", "valid"])
        return ([one, other], [mode]) if known or lengths[0] >= lengths[1] else None

    def _triu(self):
        k = self._one(2)
        return None if k is None else ([k], [self.rng.choice([-1, 0, 1])])

    def _diff(self):
        k = self._one()
        return ([k], [self._axis(k)]) if self._long(k) else None

    def _roll(self):
        k = self._one()
        axis, shift = self._axis(k), self.rng.choice([1, -1, 2])
        (length,) = numbers([shape_of(self.values[k])[axis]])
        return ([k], [axis, shift]) if length > abs(shift) else None

    def _pad(self):
        k = self._one()
        widths = [
            (self.rng.randint(0, 2), self.rng.randint(0, 2)) for _ in shape_of(self.values[k])
        ]
        return [k], [tuple(widths)]

    def _tile(self):
        k = self._one()
        return [k], [tuple(self.rng.randint(1, 2) for _ in shape_of(self.values[k]))]

    def _reshape(self):
        return [self._one()], []
