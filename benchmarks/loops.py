"""Measure loops against hand-written ones, JAX's scan and PyTensor's:
``python -m benchmarks.loops``.

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
from .contenders import by_jax, by_pytensor, flat, hand, installed, ours, ours_by_jax
from .timing import interleaved

T, n, m = symbols("T n m", integer=True, positive=True)
RESULTS = Path(__file__).with_name("results-loops.md")


def scanned(xp: Any, step: Callable[..., Any], init: Any, xs: Any) -> tuple[Any, Any]:
    """Return JAX's scan, or PyTensor's."""
    if xp.__name__.startswith("pytensor"):
        return scanned_by_pytensor(step, init, xs)
    import jax

    return jax.lax.scan(step, init, xs)


def scanned_by_pytensor(step: Callable[..., Any], init: Any, xs: Any) -> tuple[Any, Any]:
    """Return PyTensor's scan with the arguments and results of JAX's."""
    import pytensor

    is_tuple = isinstance(init, tuple)
    carries = init if is_tuple else (init,)

    def outputs(x: Any, *carried: Any) -> list[Any]:
        new, value = step(carried if is_tuple else carried[0], x)
        return [*(new if is_tuple else (new,)), *([] if value is None else [value])]

    has_value = len(outputs(xs[0], *carries)) > len(carries)
    starts = [*carries, *([None] if has_value else [])]
    found = pytensor.scan(outputs, sequences=[xs], outputs_info=starts, return_updates=False)
    found = found if isinstance(found, list) else [found]
    last = tuple([own[-1] for own in found[: len(carries)]])
    return last if is_tuple else last[0], found[-1] if has_value else None


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
    derivatives = 1 - states[1:] ** 2
    back, rows = np.zeros_like(h), np.empty_like(errors)
    for t in range(len(X) - 1, -1, -1):
        rows[t] = (errors[t] + back) * derivatives[t]
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
    derivatives, moves = np.empty((steps, len(y))), np.empty((steps, len(first)))
    w = first
    for t in range(steps):
        derivatives[t] = np.tanh(A.dot(w) - y)
        moves[t] = derivatives[t].dot(A)
        w = w - rates[t] * moves[t]
    error = A.dot(w) - y
    adjoint = 2 * error.dot(A)
    gradient = np.empty(steps)
    np.subtract(1, derivatives**2, out=derivatives)
    for t in range(steps - 1, -1, -1):
        gradient[t] = -moves[t].dot(adjoint)
        adjoint = adjoint - rates[t] * (derivatives[t] * A.dot(adjoint)).dot(A)
    return error.dot(error), gradient


def descent_data(steps: int, size: int) -> list[Any]:
    A, y, first = normal((2 * size, size), (2 * size,), (size,))
    return [np.full(steps, 0.1), A / size**0.5, y, first]


# --- the likelihood of a hidden Markov model -----------------------------------------------------

S, p = se.TensorSymbol("S", n, n, nonnegative=True), se.TensorSymbol("p", n, nonnegative=True)
E = se.TensorSymbol("E", T, n, nonnegative=True)


def hidden_markov(xp: Any, S: Any, E: Any, p: Any, scan: Any = scanned) -> Any:
    """Return the log-likelihood by the forward algorithm, normalized at each step."""

    def step(weights: Any, row: Any) -> Any:
        new = (weights @ S) * row
        total = new.sum()
        return new / total, xp.log(total)

    return scan(xp, step, p, E)[1].sum()


def hidden_markov_gradient(S: Any, E: Any, p: Any) -> Any:
    steps, size = E.shape
    weights, moved = np.empty((steps + 1, size)), np.empty((steps, size))
    totals = np.empty(steps)
    weights[0] = p
    for t in range(steps):
        moved[t] = weights[t].dot(S)
        new = moved[t] * E[t]
        totals[t] = new.sum()
        weights[t + 1] = new / totals[t]
    adjoint, back = np.zeros(size), np.empty((steps, size))
    for t in range(steps - 1, -1, -1):
        back[t] = (adjoint - adjoint.dot(weights[t + 1]) + 1) / totals[t]
        adjoint = S.dot(back[t] * E[t])
    by_entries = back * moved
    np.multiply(back, E, out=back)
    return np.log(totals).sum(), weights[:-1].T.dot(back), by_entries


def hidden_markov_data(steps: int, size: int) -> list[Any]:
    S, E, p = map(np.exp, normal((size, size), (steps, size), (size,)))
    return [S / S.sum(axis=1, keepdims=True), E, p / p.sum()]


# --- the likelihood of a Kalman filter -----------------------------------------------------------

k = symbols("k", integer=True, positive=True)
F, Q = se.TensorSymbol("F", n, n), se.TensorSymbol("Q", n, n, symmetric=True)
H, R = se.TensorSymbol("H", k, n), se.TensorSymbol("R", k, k, symmetric=True)
Y, start_mean = se.TensorSymbol("Y", T, k), se.TensorSymbol("start_mean", n)
start_cov = se.TensorSymbol("start_cov", n, n, symmetric=True)


def kalman(
    xp: Any, F: Any, Q: Any, H: Any, R: Any, Y: Any, mean: Any, cov: Any, scan: Any = scanned
) -> Any:
    """Return twice the negative log-likelihood of observations, without its constant."""

    def step(carry: Any, y: Any) -> Any:
        mean, cov = carry
        mean, cov = F @ mean, F @ cov @ F.T + Q
        residual, spread = y - H @ mean, H @ cov @ H.T + R
        inverse = xp.linalg.inv(spread)
        gain = cov @ H.T @ inverse
        term = xp.linalg.slogdet(spread)[1] + residual @ inverse @ residual
        return (mean + gain @ residual, cov - gain @ H @ cov), term

    return scan(xp, step, (mean, cov), Y)[1].sum()


def kalman_gradient(F: Any, Q: Any, H: Any, R: Any, Y: Any, mean: Any, cov: Any) -> Any:
    kept, value = [], 0.0
    for y in Y:
        before, cov_before = mean, cov
        mean, cov = F.dot(mean), F.dot(cov).dot(F.T) + Q
        residual, spread = y - H.dot(mean), H.dot(cov).dot(H.T) + R
        inverse = np.linalg.inv(spread)
        weighed, across = inverse.dot(residual), H.dot(cov)
        kept.append((before, cov_before, residual, inverse, weighed, across))
        value += np.linalg.slogdet(spread)[1] + residual.dot(weighed)
        mean = mean + weighed.dot(across)
        cov = cov - across.T.dot(inverse.dot(across))
    by_F = np.zeros_like(F)
    mean_bar, cov_bar = np.zeros_like(mean), np.zeros_like(cov)
    for before, cov_before, residual, inverse, weighed, across in reversed(kept):
        projected = inverse.dot(across)
        half = cov_bar.dot(across.T).dot(inverse).dot(H)
        inverse_bar = np.outer(across.dot(mean_bar) + residual, residual)
        inverse_bar -= across.dot(cov_bar).dot(across.T)
        spread_bar = inverse - inverse.dot(inverse_bar).dot(inverse)
        residual_bar = projected.dot(mean_bar) + 2 * weighed
        cov_bar = cov_bar - half - half.T + H.T.dot(spread_bar).dot(H)
        cov_bar += np.outer(mean_bar, weighed.dot(H))
        cov_bar = (cov_bar + cov_bar.T) / 2
        mean_bar = mean_bar - residual_bar.dot(H)
        by_F += np.outer(mean_bar, before) + 2 * cov_bar.dot(F).dot(cov_before)
        mean_bar, cov_bar = mean_bar.dot(F), F.T.dot(cov_bar).dot(F)
    return value, by_F


def kalman_data(steps: int, size: int) -> list[Any]:
    count = max(1, size // 3)
    F, H, Y, mean = normal((size, size), (count, size), (steps, count), (size,))
    return [F / (2 * size**0.5), np.eye(size), H, np.eye(count), Y, mean, np.eye(size)]


# --- an ordinary differential equation by Runge-Kutta's method -----------------------------------

sigma, rho, beta, pace = symbols("sigma rho beta pace", positive=True)
times = se.TensorSymbol("times", T)
x0, y0, z0 = (se.TensorSymbol(name, n) for name in ("x0", "y0", "z0"))


def lorenz(
    xp: Any, sigma: Any, rho: Any, beta: Any, pace: Any, x0: Any, y0: Any, z0: Any, times: Any,
    scan: Any = scanned,
) -> Any:  # fmt: skip
    """Return the squared distance from the origin of some trajectories of Lorenz' equations."""

    def rates(state: Any) -> Any:
        x, y, z = state
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    def moved(state: Any, rates: Any, factor: Any) -> Any:
        return tuple([own + factor * rate for own, rate in zip(state, rates, strict=True)])

    def step(state: Any, _: Any) -> Any:
        first = rates(state)
        second = rates(moved(state, first, pace / 2))
        third = rates(moved(state, second, pace / 2))
        fourth = rates(moved(state, third, pace))
        state = moved(moved(state, first, pace / 6), second, pace / 3)
        return moved(moved(state, third, pace / 3), fourth, pace / 6), None

    last, _ = scan(xp, step, (x0, y0, z0), times)
    return sum([(own**2).sum() for own in last])


def lorenz_gradient(
    sigma: Any, rho: Any, beta: Any, pace: Any, x0: Any, y0: Any, z0: Any, times: Any
) -> Any:
    def rates(x: Any, y: Any, z: Any) -> Any:
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    def moved(state: Any, rates: Any, factor: Any) -> Any:
        return [own + factor * rate for own, rate in zip(state, rates, strict=True)]

    state: Any = (x0, y0, z0)
    kept = []
    for _ in times:
        stages, derivatives = [state], [rates(*state)]
        for factor in (pace / 2, pace / 2, pace):
            stages.append(moved(state, derivatives[-1], factor))
            derivatives.append(rates(*stages[-1]))
        kept.append(stages)
        state = [
            own + pace / 6 * (a + 2 * (b + c) + d)
            for own, a, b, c, d in zip(state, *derivatives, strict=True)
        ]
    value = sum(own.dot(own) for own in state)
    adjoint: Any = [2 * own for own in state]
    by = np.zeros(3)
    for stages in reversed(kept):
        total, below = adjoint, None
        for number, weight, factor in ((3, 6, 0), (2, 3, 1), (1, 3, 2), (0, 6, 2)):
            x, y, z = stages[number]
            a, b, c = [pace / weight * own for own in adjoint]
            if below is not None:
                part = pace / factor
                a, b, c = a + part * below[0], b + part * below[1], c + part * below[2]
            by += np.array(((y - x).dot(a), x.dot(b), -z.dot(c)))
            below = (rho - z) * b + y * c - sigma * a, sigma * a - b + x * c, -x * b - beta * c
            total = [own + more for own, more in zip(total, below, strict=True)]
        adjoint = total
    return value, *by


def lorenz_data(steps: int, size: int) -> list[Any]:
    return [10.0, 28.0, 8 / 3, 0.001, *normal((size,), (size,), (size,)), np.zeros(steps)]


# --- a wave on a torus ---------------------------------------------------------------------------

speeds2, before2, now2 = (se.TensorSymbol(name, n, n) for name in ("speeds", "before", "now"))


def torus(xp: Any, speeds: Any, before: Any, now: Any, sources: Any, scan: Any = scanned) -> Any:
    """Return the squared amplitude at the end of a leapfrog scheme in two dimensions."""

    def step(carry: Any, source: Any) -> Any:
        before, now = carry
        bend = -4 * now + xp.roll(now, 1, 0) + xp.roll(now, -1, 0)
        bend = bend + xp.roll(now, 1, 1) + xp.roll(now, -1, 1)
        return (now, 2 * now - before + speeds * bend + source), None

    (_, last), _ = scan(xp, step, (before, now), sources)
    return (last**2).sum()


def _add_neighbours(total: Any, own: Any) -> None:
    """Add the four neighbours of each entry of a matrix whose edges meet."""
    total[1:] += own[:-1]
    total[0] += own[-1]
    total[:-1] += own[1:]
    total[-1] += own[0]
    total[:, 1:] += own[:, :-1]
    total[:, 0] += own[:, -1]
    total[:, :-1] += own[:, 1:]
    total[:, -1] += own[:, 0]


def torus_gradient(speeds: Any, before: Any, now: Any, sources: Any) -> Any:
    bends = np.empty((len(sources), *now.shape))
    for bend, source in zip(bends, sources, strict=True):
        np.multiply(now, -4, out=bend)
        _add_neighbours(bend, now)
        before, now = now, 2 * now - before + speeds * bend + source
    total, later, adjoint = np.zeros_like(now), np.zeros_like(now), 2 * now
    for bend in bends[::-1]:
        total += bend * adjoint
        moved = speeds * adjoint
        back = 2 * adjoint - later - 4 * moved
        _add_neighbours(back, moved)
        later, adjoint = adjoint, back
    return now.ravel().dot(now.ravel()), total


def torus_data(steps: int, size: int) -> list[Any]:
    speeds, before, now, sources = normal((size, size), (size, size), (size, size), (steps,))
    return [0.05 + 0.05 * np.abs(np.tanh(speeds)), before, now, sources / steps]


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
    Case("hidden Markov model", built(hidden_markov, (0, 1), S, E, p),
         sizes((20, 3), (20, 64), (20, 400), (1000, 64)), hidden_markov_data,
         hidden_markov_gradient, hidden_markov, (0, 1)),
    Case("Kalman filter", built(kalman, (0,), F, Q, H, R, Y, start_mean, start_cov),
         sizes((20, 3), (20, 24), (20, 96), (1000, 24)), kalman_data, kalman_gradient,
         kalman, (0,)),
    Case("Lorenz' equations", built(lorenz, (0, 1, 2), sigma, rho, beta, pace, x0, y0, z0, times),
         sizes((20, 2), (20, 1000), (20, 30000), (1000, 100)), lorenz_data, lorenz_gradient,
         lorenz, (0, 1, 2)),
    Case("wave on a torus", built(torus, (0,), speeds2, before2, now2, sources),
         sizes((20, 4), (20, 32), (20, 200), (1000, 32)), torus_data, torus_gradient, torus, (0,)),
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
    if installed("pytensor"):
        calls["PyTensor"] = by_pytensor(case, data)
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
        "| case | steps × size | ours | Numba | ours, JAX / JAX | JAX | PyTensor | first "
        "| first, Numba |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in LOOPS:
        for size, (steps, count) in case.sizes.items():
            found = measured(case, size)
            unit = found["hand"]
            ratios = [found["ours"] / unit, found["ours, Numba"] / unit]
            ratios += [found["ours, JAX"] / found["JAX"], found["JAX"] / unit]
            ratios.append(found.get("PyTensor", np.nan) / unit)
            cells = ["" if np.isnan(ratio) else f"{ratio:.2f}" for ratio in ratios]
            cells += [f"{found['first']:.1f}", f"{found['first, Numba']:.1f}"]
            lines.append(f"| {case.name} | {steps} × {count} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
