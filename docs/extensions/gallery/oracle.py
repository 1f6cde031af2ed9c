"""Check derivatives against finite differences of the same function in NumPy.

The check is independent of our code: names are resolved to NumPy's and SciPy's functions.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import linalg, special

import sympy_einsum as se

from .row import Made, Row

# Our names in NumPy and SciPy, with definitions of the few that both lack.
NAMES = SimpleNamespace(
    **{
        **vars(special),
        **vars(np),
        **vars(np.linalg),
        "diag": np.diag,
        "diagonal": np.diagonal,
        "trace": np.trace,
        "outer": np.outer,
        "expm": linalg.expm,
        "eigvalsh": lambda matrix: np.linalg.eigvalsh((matrix + matrix.T) / 2),
        "logdet": lambda matrix: np.linalg.slogdet(matrix)[1],
        "Delta": np.eye,
        "Ones": lambda *shape: np.ones(shape),
        "Abs": np.abs,
        "relu": lambda x: np.maximum(x, 0),
        "sigmoid": special.expit,
        "softplus": lambda x: np.logaddexp(0, x),
        "loggamma": special.gammaln,
    }
)
# The first step, halved each time. No kink may be nearer.
STEP, STEPS = 0.02, 4


def sizes_of(row: Row) -> dict[str, int]:
    """Assign distinct lengths to letters, in descending order."""
    rng = np.random.default_rng(zlib.crc32(row.title.encode()))
    letters = sorted(row.lengths, key="mnkpq".index)
    chosen = rng.choice(np.arange(2, 7), len(letters), replace=False)
    return dict(zip(letters, sorted(map(int, chosen), reverse=True), strict=True))


def data_of(row: Row, sizes: dict[str, int]) -> dict[str, Any]:
    """Draw random entries with the properties that the row declares."""
    rng = np.random.default_rng(7)
    found = {}
    for name, (lengths, words) in row.declared.items():
        shape = tuple(sizes.get(letter) or int(letter) for letter in lengths)
        found[name] = _random(rng, shape, words)
    return found


def _random(rng: np.random.Generator, shape: tuple[int, ...], words: list[str]) -> Any:
    normal = rng.standard_normal(shape)
    if "signs" in words:
        return np.sign(normal)
    if "one-hot rows" in words:
        return np.eye(shape[1])[rng.integers(shape[1], size=shape[0])]
    if "positive" in words:
        return rng.uniform(0.5, 2.0, shape)
    if "probabilities" in words:
        return rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    if "small" in words:
        return rng.uniform(-0.1, 0.1, shape)
    if "psd" in words or "definite" in words:
        return normal @ normal.T + np.eye(len(normal))
    if "symmetric" in words:
        return normal + normal.T
    square = len(shape) == 2 and shape[0] == shape[1]
    return normal + 2 * np.eye(len(normal)) if square else normal


def error_of(made: Made) -> tuple[dict[str, int], float]:
    """Return the lengths, and the largest relative error against finite differences."""
    row = made.row
    sizes = sizes_of(row)
    data = data_of(row, sizes)

    def value(name: str) -> Callable[[Any], Any]:
        def at(array: Any) -> Any:
            names = {"se": NAMES, "snp": NAMES, **sizes, **data, name: array}
            exec(row.function, names)
            return np.asarray(names["f"])

        return at

    errors = []
    ours = se.lambdify(made.tensors, made.derivatives)(*data.values())
    for name, derivative in zip(row.by, ours, strict=True):
        gradient = _derivative(value(name))
        theirs = (_derivative(gradient) if row.kind == "hessian" else gradient)(data[name])
        errors.append(_difference(np.asarray(derivative), theirs))
    return sizes, max(errors)


def _derivative(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Differentiate by central differences, extrapolated to step 0, appending axes."""

    def at(array: Any) -> Any:
        array = np.asarray(array, float)
        differences = [
            _central_difference(function, array, index) for index in np.ndindex(array.shape)
        ]
        return np.stack(differences, axis=-1).reshape((*differences[0].shape, *array.shape))

    return at


def _central_difference(function: Callable[[Any], Any], array: Any, index: tuple[int, ...]) -> Any:
    unit = np.zeros_like(array)
    unit[index] = 1
    found = []
    for step in STEP / 2 ** np.arange(STEPS):
        up, down = function(array + step * unit), function(array - step * unit)
        found.append((up - down) / (2 * step))
    for order in range(1, STEPS):
        found = [fine + (fine - coarse) / (4**order - 1) for coarse, fine in pairwise(found)]
    return found[0]


def _difference(ours: Any, theirs: Any) -> float:
    if ours.shape != theirs.shape or not np.isfinite(theirs).all():
        return float("inf")
    return float(np.max(np.abs(ours - theirs)) / (1 + np.max(np.abs(theirs))))
