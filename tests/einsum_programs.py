"""Random nested einsums, as expressions and as NumPy computes them."""

from __future__ import annotations

import random

import numpy as np
from sympy import Symbol

import sympy_einsum as se

SIZES = {"a": 2, "b": 3, "c": 4, "e": 1}


LENGTHS = {k: Symbol("n" + k, integer=True, positive=True) for k in "abc"} | {"e": 1}


def embedded(term, arrays, output):
    """Compute np.einsum with repeated output indices, which NumPy doesn't support."""
    unique = "".join(dict.fromkeys(output))
    core = np.einsum(f"{term}->{unique}", *arrays)
    if len(unique) == len(output):
        return core
    sizes = dict(zip(unique, core.shape, strict=True))
    result = np.zeros([sizes[i] for i in output])
    np.einsum(f"{output}->{unique}", result)[...] = core
    return result


def product(parts, terms, output):
    """Return the einsum of some expressions with values and axes, by labels of axes."""
    labels = sorted({label for term in terms for label in term})
    letter = {label: chr(97 + k) for k, label in enumerate(labels)}
    inputs = ",".join("".join(letter[label] for label in term) for term in terms)
    result = "".join(letter[label] for label in output)
    expr = se.einsum(f"{inputs}->{result}", *[part[0] for part in parts])
    value = embedded(inputs, [part[1] for part in parts], result)
    return expr, value, "".join(axis for axis, _ in output)


class Generator:
    """Expressions with their values; axes are identified by the letter of their length."""

    def __init__(self, seed):
        self.choice = random.Random(seed)
        self.normal = np.random.default_rng(seed).standard_normal
        self.data = {}

    def leaf(self):
        axes = "".join(self.choice.choice("abce") for _ in range(self.choice.randint(1, 3)))
        kind = self.choice.random()
        if kind < 0.1:
            return se.Delta(LENGTHS[axes[0]]), np.eye(SIZES[axes[0]]), axes[0] * 2
        shape = [LENGTHS[axis] for axis in axes]
        if kind < 0.2:
            return se.Ones(*shape), np.ones([SIZES[axis] for axis in axes]), axes
        symbol = se.TensorSymbol(f"T{axes}{self.choice.randint(0, 1)}", shape)
        if symbol not in self.data:
            self.data[symbol] = self.normal([SIZES[axis] for axis in axes])
        return symbol, self.data[symbol], axes

    def expression(self, depth):
        if depth == 0 or self.choice.random() < 0.2:
            return self.leaf()
        parts = [self.expression(depth - 1) for _ in range(self.choice.randint(1, 3))]
        # Two labels for each length, so that indices repeat within and between operands.
        terms = [[(axis, self.choice.randint(0, 1)) for axis in axes] for _, _, axes in parts]
        labels = sorted({label for term in terms for label in term})
        count = self.choice.randint(0, min(4, len(labels) + 1)) if labels else 0
        output = [self.choice.choice(labels) for _ in range(count)]
        return self.decorated(*product(parts, terms, output))

    def decorated(self, expr, value, axes):
        kind = self.choice.random()
        if kind < 0.3 and axes:
            return expr + 2 * expr * expr, value + 2 * value * value, axes
        if kind < 0.4 and np.abs(value).max(initial=0) < 20:
            return se.sin(expr), np.sin(value), axes
        if kind < 0.5 and axes:
            position = self.choice.choice([0, -1])
            return expr[position], value[position], axes[1:]
        return (expr * 2 - 1, value * 2 - 1, axes) if kind < 0.6 else (expr, value, axes)
