"""Numerical checks of derivatives against finite differences.

May import: differentiation, lambdify, operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .differentiation import diff
from .elementwise import as_operand
from .errors import TensorError
from .lambdify import lambdify
from .operations import order_of, shape_of

TOLERANCE = 1e-5


def random_arguments(symbols: Sequence[Any], seed: int, positive: bool = False) -> list[Any]:
    """Random values for symbols that respect their assumptions; all lengths are different."""
    rng = np.random.default_rng(seed)
    lengths: dict[Any, int] = {}
    for symbol in symbols:
        for length in shape_of(symbol):
            for s in sorted(length.free_symbols, key=str):
                lengths.setdefault(s, 2 + len(lengths))
    return [_random_value(symbol, lengths, rng, positive) for symbol in symbols]


def _random_value(symbol: Any, lengths: dict[Any, int], rng: Any, positive: bool) -> Any:
    if not order_of(symbol):
        if symbol.is_integer:
            return int(rng.integers(2, 6))
        value = rng.uniform(0.3, 1.7)
        return value if positive or symbol.is_positive else value * rng.choice([-1.0, 1.0])
    shape = tuple(int(length.xreplace(lengths)) for length in symbol.shape)
    array = rng.uniform(0.3, 1.7, shape) if positive else rng.standard_normal(shape)
    return _with_structure(array, symbol.data[2])


def _with_structure(value: np.ndarray, structure: tuple[str, ...]) -> np.ndarray:
    if "positive" in structure or "nonnegative" in structure:
        value = np.abs(value) + 0.1
    if "psd" in structure:
        return value @ value.T + 0.1 * np.eye(len(value))
    if "symmetric" in structure:
        return value + value.T
    return np.diag(np.diag(value)) if "diagonal" in structure else value


def check_derivative(y: Any, x: Any, d: Any = None, samples: int = 3) -> float:
    """Compare a derivative with central finite differences on random data.

    Parameters
    ==========

    y : the expression
    x : the variable
    d : the derivative to check, by default ``diff(y, x)``
    samples : how many sets of random data are tried

    Returns
    =======

    The largest relative error found: |d - differences| / (1 + max |differences|).

    Raises
    ======

    TensorError : the error is above 1e-5, or no data were found on which y is finite

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.check_derivative(x @ A @ x, x) < 1e-6
    True
    """
    y = as_operand(y)
    derivative = diff(y, x) if d is None else as_operand(d)
    if shape_of(derivative) != shape_of(y) + shape_of(x):
        raise TensorError(
            f"a derivative of shape {shape_of(y) + shape_of(x)} is expected, "
            f"not {shape_of(derivative)}"
        )
    found = y.free_symbols | derivative.free_symbols | {x}
    in_shapes = {s for e in found for length in shape_of(e) for s in length.free_symbols}
    symbols = [x, *sorted(found - {x} - in_shapes, key=str)]
    function = lambdify(symbols, [y, derivative])
    worst = 0.0
    done = 0
    for seed in range(20 * samples):
        values = random_arguments(symbols, seed, seed % 2 == 1 or seed > 2 * samples)
        try:
            with np.errstate(all="ignore"):
                error = _error(function, values)
        except (np.linalg.LinAlgError, ZeroDivisionError):
            continue  # not a point where the expression has a value
        if error is None:
            continue
        worst = max(worst, error)
        done += 1
        if done == samples:
            break
    if not done:
        raise TensorError("no random data were found on which the expression is finite")
    if worst > TOLERANCE:
        raise TensorError(f"the derivative differs from finite differences by {worst:.2g}")
    return worst


def _error(function: Any, values: list[Any]) -> float | None:
    """The relative error on one set of data; None where the function isn't finite and smooth."""
    value, derivative = (np.asarray(part) for part in function(*values))
    if not (np.all(np.isfinite(value)) and np.all(np.isfinite(derivative))):
        return None
    x = np.asarray(values[0], dtype=float)
    differences = np.empty(value.shape + x.shape)
    for position in np.ndindex(x.shape):
        step = 1e-3 * max(1.0, abs(float(x[position])))
        # Richardson's extrapolation of two central differences: an error of order step**4.
        coarse, fine = (_central(function, values, x, position, h) for h in (step, step / 2))
        differences[(..., *position)] = (4 * fine - coarse) / 3
    if not np.all(np.isfinite(differences)):
        return None
    return float(
        np.max(np.abs(derivative - differences), initial=0)
        / (1 + np.max(np.abs(differences), initial=0))
    )


def _central(
    function: Any, values: list[Any], x: np.ndarray, position: tuple[int, ...], step: float
) -> Any:
    ends = []
    for sign in (1, -1):
        moved = x.copy()
        moved[position] += sign * step
        ends.append(np.asarray(function(moved if x.ndim else float(moved), *values[1:])[0]))
    return (ends[0] - ends[1]) / (2 * step)
