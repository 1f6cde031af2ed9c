"""Define cases of time stepping: rollouts and recurrences over batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal, rng, three, with_gradient

n, k = symbols("n k", integer=True, positive=True)
STEPS = 10  # the steps are unrolled
STEP = 0.1

controls, start = se.TensorSymbol("controls", (STEPS, k)), se.TensorSymbol("start", (n,))
A, B, goal = se.TensorSymbol("A", (n, n)), se.TensorSymbol("B", (n, k)), se.TensorSymbol("goal", n)
returns = se.TensorSymbol("returns", (STEPS, n))
base, shock, memory = (se.TensorSymbol(name, ()) for name in ("base", "shock", "memory"))


def rollout(xp: Any, controls: Any, start: Any, A: Any, B: Any, goal: Any) -> Any:
    """Return the squared distance of Euler steps of a controlled system to a goal."""
    state, cost = start, 0
    for t in range(STEPS):
        state = state + STEP * (A @ xp.tanh(state) + B @ controls[t])
        cost = cost + xp.sum((state - goal) ** 2) + xp.sum(controls[t] ** 2) / 100
    return cost


def rollout_gradient(controls: Any, start: Any, A: Any, B: Any, goal: Any) -> Any:
    inputs = controls.dot(B.T)
    states, derivatives = np.empty((STEPS + 1, len(start))), np.empty((STEPS, len(start)))
    states[0] = start
    for t in range(STEPS):
        step = A.dot(np.tanh(states[t], out=derivatives[t]))
        step += inputs[t]
        step *= STEP
        np.add(states[t], step, out=states[t + 1])
    e = states[1:] - goal
    value = e.ravel().dot(e.ravel()) + controls.ravel().dot(controls.ravel()) / 100
    e *= 2
    derivatives *= derivatives
    np.subtract(1, derivatives, out=derivatives)
    derivatives *= STEP
    for t in range(STEPS - 1, 0, -1):
        back = e[t].dot(A)
        back *= derivatives[t]
        back += e[t]
        e[t - 1] += back
    gradient = e.dot(B)
    gradient *= STEP
    gradient += controls / 50
    return value, gradient


def rollout_data(size: int, count: int) -> list[Any]:
    controls, start, A, B, goal = normal(
        (STEPS, count), (size,), (size, size), (size, count), (size,)
    )
    return [controls, start, A / size**0.5, B, goal]


def volatility(xp: Any, returns: Any, base: Any, shock: Any, memory: Any) -> Any:
    """Return the negative log-likelihood of series with changing variance (GARCH)."""
    variance, total = returns[0] ** 2 + STEP, 0
    for t in range(1, STEPS):
        variance = base + shock * returns[t - 1] ** 2 + memory * variance
        total = total + xp.sum(xp.log(variance) + returns[t] ** 2 / variance)
    return total / 2


def volatility_gradient(returns: Any, base: Any, shock: Any, memory: Any) -> Any:
    squares = returns * returns
    variances = np.empty_like(squares)
    np.add(squares[0], STEP, out=variances[0])
    inputs = shock * squares[:-1]
    inputs += base
    for t in range(1, STEPS):
        np.multiply(memory, variances[t - 1], out=variances[t])
        variances[t] += inputs[t - 1]
    inverse = 1 / variances[1:]
    derivatives = squares[1:] * inverse
    value = (np.log(variances[1:]).sum() + derivatives.sum()) / 2
    np.subtract(1, derivatives, out=derivatives)
    derivatives *= inverse
    derivatives *= 0.5
    for t in range(STEPS - 3, -1, -1):
        derivatives[t] += memory * derivatives[t + 1]
    flat = derivatives.ravel()
    return (
        value,
        derivatives.sum(),
        flat.dot(squares[:-1].ravel()),
        flat.dot(variances[:-1].ravel()),
    )


def volatility_data(series: int) -> list[Any]:
    return [rng().standard_normal((STEPS, series)), 0.1, 0.2, 0.7]


STEPPING = [
    Case("controlled system, value and gradient",
         lambda: ([controls, start, A, B, goal],
                  with_gradient(rollout(se.numpy, controls, start, A, B, goal), controls)),
         three((4, 3), (32, 10), (300, 50)), rollout_data, rollout_gradient, rollout,
         peers=("jax", "pytensor")),
    Case("changing variance, value and gradients",
         lambda: ([returns, base, shock, memory],
                  with_gradient(volatility(se.numpy, returns, base, shock, memory),
                                base, shock, memory)),
         three(4, 100, 10000), volatility_data, volatility_gradient, volatility, (1, 2, 3),
         peers=("jax", "pytensor")),
]  # fmt: skip
