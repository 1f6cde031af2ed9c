"""Checks by numbers: derivatives against finite differences, and whether two expressions are equal.

May import: differentiation, simplify, lambdify, operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .differentiation import diff
from .elementwise import as_operand
from .errors import TensorError, UnsupportedError
from .lambdify import lambdify
from .operations import add, multiply, order_of, shape_of
from .simplify import normal_form
from .tensors import Zeros

TOLERANCE = 1e-5
# Sets of random data that are tried for each set on which the expressions have to be finite.
ATTEMPTS = 20


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
    worst = 0.0
    done = 0
    for function, values in _finite_samples([y, derivative], samples, first=x):
        error = _error(function, values)
        if error is not None:
            worst = max(worst, error)
            done += 1
    if not done:
        raise TensorError("no random data were found on which the expression is finite")
    if worst > TOLERANCE:
        raise TensorError(f"the derivative differs from finite differences by {worst:.2g}")
    return worst


def equal(a: Any, b: Any) -> bool | None:
    """Whether two expressions are equal: decided by their normal form.

    Where the normal forms differ, random data can show that the expressions do too.

    Returns
    =======

    True: the normal forms are the same. False: the shapes or the values at some random data
    differ. None: neither, so nothing is known for certain (``sympy.Expr.equals`` does the same).

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, B = se.tensors("A B", n, n)
    >>> se.equal((A @ B).T, B.T @ A.T), se.equal(A @ B, B @ A)
    (True, False)
    """
    a, b = as_operand(a), as_operand(b)
    if shape_of(a) != shape_of(b):
        return False
    difference = normal_form(add(a, multiply(-1, b)))
    if difference == 0 or isinstance(difference, Zeros) or normal_form(a) is normal_form(b):
        return True
    try:
        for function, values in _finite_samples([a, b], 3):
            left, right = (np.asarray(part) for part in function(*values))
            if np.abs(left - right).max() > TOLERANCE * (1 + np.abs(left).max()):
                return False
    except UnsupportedError:
        pass  # no numerical code for some function
    return None


def _finite_samples(exprs: list[Any], samples: int, first: Any = None) -> Iterator[Any]:
    """A function for the expressions, with random data on which their values are finite."""
    wrt = [] if first is None else [first]
    found = {s for e in exprs for s in e.free_symbols} - {*wrt}
    in_shapes = {s for e in (*found, *wrt) for n in shape_of(e) for s in n.free_symbols}
    symbols = [*wrt, *sorted(found - in_shapes, key=str)]
    function = lambdify(symbols, exprs, optimize=False)

    def finite(seed: int) -> list[Any] | None:
        values = random_arguments(symbols, seed, seed % 2 == 1 or seed > 2 * samples)
        try:
            with np.errstate(all="ignore"):
                results = function(*values)
        except (np.linalg.LinAlgError, ZeroDivisionError):
            return None  # not a point where the expressions have a value
        return values if all(np.all(np.isfinite(r)) for r in results) else None

    found_values = (finite(seed) for seed in range(ATTEMPTS * samples))
    yield from islice(((function, v) for v in found_values if v is not None), samples)


def _error(function: Any, values: list[Any]) -> float | None:
    """The relative error on one set of data; None where the function isn't finite nearby."""
    value, derivative = (np.asarray(part) for part in function(*values))
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
        with np.errstate(all="ignore"):
            shifted = function(moved if x.ndim else float(moved), *values[1:])
        ends.append(np.asarray(shifted[0]))
    return (ends[0] - ends[1]) / (2 * step)
