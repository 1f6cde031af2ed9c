"""Measure loops against hand-written ones and JAX's scan: ``python -m benchmarks.loops``.

The table goes to ``results-loops.md``: ratios to the hand-written NumPy program in the same run.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal
from .contenders import by_jax, flat, hand, ours, ours_by_jax
from .timing import interleaved

T, n, m = symbols("T n m", integer=True, positive=True)
RESULTS = Path(__file__).with_name("results-loops.md")


def scanned(xp: Any, step: Callable[..., Any], init: Any, xs: Any) -> tuple[Any, Any]:
    """Return JAX's scan."""
    import jax

    return jax.lax.scan(step, init, xs)


# --- a recurrent network -----------------------------------------------------------------------

W, U = se.TensorSymbol("W", n, n), se.TensorSymbol("U", n, m)
X, h, goals = se.TensorSymbol("X", T, m), se.TensorSymbol("h", n), se.TensorSymbol("goals", T, n)


def network(xp: Any, W: Any, U: Any, X: Any, h: Any, goals: Any, scan: Any = scanned) -> Any:
    """Return the squared error of the states of a recurrent network."""

    def step(state: Any, row: Any) -> Any:
        new = xp.tanh(W @ state + U @ row)
        return new, new

    states = scan(xp, step, h, X)[1]
    return ((states - goals) ** 2).sum()


def network_gradient(W: Any, U: Any, X: Any, h: Any, goals: Any) -> Any:
    inputs = X.dot(U.T)
    states = np.empty((len(X) + 1, len(h)))
    states[0] = h
    for t in range(len(X)):
        states[t + 1] = np.tanh(W.dot(states[t]) + inputs[t])
    errors = states[1:] - goals
    value = errors.ravel().dot(errors.ravel())
    errors *= 2
    slopes = 1 - states[1:] ** 2
    back, rows = np.zeros_like(h), np.empty_like(errors)
    for t in range(len(X) - 1, -1, -1):
        rows[t] = (errors[t] + back) * slopes[t]
        back = rows[t].dot(W)
    return value, rows.T.dot(states[:-1]), rows.T.dot(X)


def network_data(steps: int, size: int) -> list[Any]:
    W, U, X, h, goals = normal((size, size), (size, size), (steps, size), (size,), (steps, size))
    return [W / (2 * size**0.5), U / size**0.5, X, h, goals]


# --- an LSTM -------------------------------------------------------------------------------------

V, b = se.TensorSymbol("V", 4 * n, 2 * n), se.TensorSymbol("b", 4 * n)
start, cell0 = se.TensorSymbol("start", n), se.TensorSymbol("cell0", n)
Z = se.TensorSymbol("Z", T, n)


def lstm(xp: Any, V: Any, b: Any, Z: Any, h: Any, c: Any, scan: Any = scanned) -> Any:
    """Return the squared length of the last state of an LSTM with its four gates in one matrix."""
    size = h.shape[0]
    exp = xp.exp

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + exp(-z))

    def step(carry: Any, x: Any) -> Any:
        h, c = carry
        z = V[:, :size] @ x + V[:, size:] @ h + b
        c = sigmoid(z[:size]) * c + sigmoid(z[size : 2 * size]) * xp.tanh(z[2 * size : 3 * size])
        return (sigmoid(z[3 * size :]) * xp.tanh(c), c), None

    (last, _), _ = scan(xp, step, (h, c), Z)
    return (last**2).sum()


def lstm_gradient(V: Any, b: Any, Z: Any, h: Any, c: Any) -> Any:
    size, steps = len(h), len(Z)
    left, right = V[:, :size], np.ascontiguousarray(V[:, size:])
    inputs = Z.dot(left.T) + b
    states, cells = np.empty((steps + 1, size)), np.empty((steps + 1, size))
    gates, tops = np.empty((steps, 4 * size)), np.empty((steps, size))
    states[0], cells[0] = h, c
    a, e, g, o = (
        slice(size),
        slice(size, 2 * size),
        slice(2 * size, 3 * size),
        slice(3 * size, None),
    )
    for t in range(steps):
        z = right.dot(states[t]) + inputs[t]
        own = gates[t]
        own[:] = 1 / (1 + np.exp(-z))
        own[g] = np.tanh(z[g])
        cells[t + 1] = own[a] * cells[t] + own[e] * own[g]
        tops[t] = np.tanh(cells[t + 1])
        states[t + 1] = own[o] * tops[t]
    rows = np.empty((steps, 4 * size))
    dh, dc = 2 * states[-1], np.zeros(size)
    for t in range(steps - 1, -1, -1):
        own, row = gates[t], rows[t]
        dc = dc + dh * own[o] * (1 - tops[t] ** 2)
        row[a] = dc * cells[t] * own[a] * (1 - own[a])
        row[e] = dc * own[g] * own[e] * (1 - own[e])
        row[g] = dc * own[e] * (1 - own[g] ** 2)
        row[o] = dh * tops[t] * own[o] * (1 - own[o])
        dc = dc * own[a]
        dh = row.dot(right)
    gradient = np.concatenate([rows.T.dot(Z), rows.T.dot(states[:-1])], axis=1)
    return states[-1].dot(states[-1]), gradient, rows.sum(axis=0)


def lstm_data(steps: int, size: int) -> list[Any]:
    V, b, Z, h, c = normal((4 * size, 2 * size), (4 * size,), (steps, size), (size,), (size,))
    return [V / (2 * size) ** 0.5, b, Z, h, c]


# --- a wave --------------------------------------------------------------------------------------

speeds, before, now = (se.TensorSymbol(name, n) for name in ("speeds", "before", "now"))
sources = se.TensorSymbol("sources", T)


def wave(xp: Any, speeds: Any, before: Any, now: Any, sources: Any, scan: Any = scanned) -> Any:
    """Return the squared amplitude at the end of a leapfrog scheme for a wave on a ring."""

    def step(carry: Any, source: Any) -> Any:
        before, now = carry
        bend = xp.roll(now, 1) - 2 * now + xp.roll(now, -1)
        return (now, 2 * now - before + speeds * bend + source), None

    (_, last), _ = scan(xp, step, (before, now), sources)
    return (last**2).sum()


def wave_gradient(speeds: Any, before: Any, now: Any, sources: Any) -> Any:
    steps, size = len(sources), len(now)
    bends = np.empty((steps, size))
    for t in range(steps):
        bend = bends[t]
        np.multiply(now, -2, out=bend)
        bend[1:] += now[:-1]
        bend[0] += now[-1]
        bend[:-1] += now[1:]
        bend[-1] += now[0]
        before, now = now, 2 * now - before + speeds * bend + sources[t]
    value = now.dot(now)
    total = np.zeros(size)
    later, adjoint = np.zeros(size), 2 * now
    for t in range(steps - 1, -1, -1):
        total += bends[t] * adjoint
        moved = speeds * adjoint
        back = 2 * adjoint - later - 2 * moved
        back[1:] += moved[:-1]
        back[0] += moved[-1]
        back[:-1] += moved[1:]
        back[-1] += moved[0]
        later, adjoint = adjoint, back
    return value, total


def wave_data(steps: int, size: int) -> list[Any]:
    speeds, before, now, sources = normal((size,), (size,), (size,), (steps,))
    return [0.05 + 0.1 * np.abs(np.tanh(speeds)), before, now, sources / steps]


# --- an optimiser that is differentiated through -------------------------------------------------

A, y = se.TensorSymbol("A", m, n), se.TensorSymbol("y", m)
rates, first = se.TensorSymbol("rates", T), se.TensorSymbol("first", n)


def descent(xp: Any, rates: Any, A: Any, y: Any, first: Any, scan: Any = scanned) -> Any:
    """Return the squared error after gradient descent with a rate for each step."""

    def step(w: Any, rate: Any) -> Any:
        return w - rate * (A.T @ xp.tanh(A @ w - y)), None

    last, _ = scan(xp, step, first, rates)
    return ((A @ last - y) ** 2).sum()


def descent_gradient(rates: Any, A: Any, y: Any, first: Any) -> Any:
    steps = len(rates)
    slopes, moves = np.empty((steps, len(y))), np.empty((steps, len(first)))
    w = first
    for t in range(steps):
        slopes[t] = np.tanh(A.dot(w) - y)
        moves[t] = slopes[t].dot(A)
        w = w - rates[t] * moves[t]
    error = A.dot(w) - y
    adjoint = 2 * error.dot(A)
    gradient = np.empty(steps)
    np.subtract(1, slopes**2, out=slopes)
    for t in range(steps - 1, -1, -1):
        gradient[t] = -moves[t].dot(adjoint)
        adjoint = adjoint - rates[t] * (slopes[t] * A.dot(adjoint)).dot(A)
    return error.dot(error), gradient


def descent_data(steps: int, size: int) -> list[Any]:
    A, y, first = normal((2 * size, size), (2 * size,), (size,))
    return [np.full(steps, 0.1), A / size**0.5, y, first]


def built(function: Any, variables: tuple[int, ...], *arguments: Any) -> Callable[[], Any]:
    """Return what makes our arguments and expressions: a value with its gradients."""

    def build() -> Any:
        value = function(
            se.numpy, *arguments, scan=lambda xp, step, init, xs: se.scan(step, init, xs)
        )
        return [*arguments], [value, *se.gradient(value, [arguments[k] for k in variables])]

    return build


def sizes(*pairs: tuple[int, int]) -> dict[str, tuple[int, ...]]:
    return dict(zip(("tiny", "mid", "large", "long"), pairs, strict=True))


LOOPS = [
    Case("recurrent network", built(network, (0, 1), W, U, X, h, goals),
         sizes((20, 5), (20, 64), (20, 256), (1000, 64)), network_data, network_gradient,
         network, (0, 1)),
    Case("LSTM", built(lstm, (0, 1), V, b, Z, start, cell0),
         sizes((20, 4), (20, 64), (20, 192), (1000, 64)), lstm_data, lstm_gradient, lstm, (0, 1)),
    Case("wave on a ring", built(wave, (0,), speeds, before, now, sources),
         sizes((20, 12), (20, 1000), (20, 30000), (1000, 1000)), wave_data, wave_gradient,
         wave, (0,)),
    Case("through gradient descent", built(descent, (0,), rates, A, y, first),
         sizes((20, 4), (20, 50), (20, 400), (1000, 50)), descent_data, descent_gradient,
         descent, (0,)),
]  # fmt: skip


def measured(case: Case, size: str) -> dict[str, float]:
    """Return the durations of all contenders, and the seconds to the first result of ours."""
    data = case.data(*case.sizes[size])
    calls: dict[str, Callable[[], object]] = {"hand": hand(case, data)}
    begin = time.perf_counter()
    calls["ours"] = ours(case, data)
    calls["ours"]()
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    calls["ours, Numba"] = ours(case, data, backend="numba")
    calls["ours, Numba"]()
    compiled = time.perf_counter() - begin
    calls["ours, JAX"] = ours_by_jax(case, data)
    calls["JAX"] = by_jax(case, data)
    expected = flat(calls["hand"]())
    for call in calls.values():
        for one, other in zip(flat(call()), expected, strict=True):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-6, atol=1e-6)
    return {**interleaved(calls), "first": first, "first, Numba": compiled}


def main() -> None:
    """Measure all cases and write the table."""
    lines = [
        "# Loops: value and gradients, ratios to the hand-written NumPy program",
        "",
        f"{platform.processor() or platform.machine()}, one thread. Steps × size; in the last two "
        "columns seconds from the expression to the first result, by NumPy and by Numba.",
        "",
        "| case | steps × size | ours | Numba | ours, JAX / JAX | JAX | first | first, Numba |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in LOOPS:
        for size, (steps, count) in case.sizes.items():
            found = measured(case, size)
            unit = found["hand"]
            ratios = [found["ours"] / unit, found["ours, Numba"] / unit]
            ratios += [found["ours, JAX"] / found["JAX"], found["JAX"] / unit]
            cells = [f"{ratio:.2f}" for ratio in ratios]
            cells += [f"{found['first']:.1f}", f"{found['first, Numba']:.1f}"]
            lines.append(f"| {case.name} | {steps} × {count} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
