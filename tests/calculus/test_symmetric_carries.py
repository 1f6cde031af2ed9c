"""Loops whose carries are symmetric matrices: derivatives, code, and rounding errors."""

import random

import numpy as np
import pytest
from oracles import jax64
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.rules import with_symmetric_symbols

n, k, T = symbols("n k T", integer=True, positive=True)
F, G = se.TensorSymbol("F", n, n), se.TensorSymbol("G", n, n)
H, v, X = se.TensorSymbol("H", k, n), se.TensorSymbol("v", n), se.TensorSymbol("X", T, n)
S = se.TensorSymbol("S", n, n, symmetric=True)
R = se.TensorSymbol("R", k, k, symmetric=True)
ARGUMENTS = [F, G, H, v, X, S, R]
STARTS = {
    "declared": lambda F, S: S,
    "product": lambda F, S: F @ F.T,
    "sum": lambda F, S: F + F.T,
    "square": lambda F, S: S @ S / 4,
    "zeros": lambda F, S: 0 * S,
    "general": lambda F, S: F,
}


def gain_step(xp, C, H, R):
    spread = H @ C @ H.T / 8 + R @ R + 3 * xp.eye(R.shape[0])
    return C - C @ H.T @ xp.linalg.inv(spread) @ H @ C


# The next value of a carry C beside another carry D; some keep matrices symmetric, some don't.
STEPS = {
    "congruence": lambda xp, C, D, x, F, G, H, v, S, R: F @ C @ F.T / 2 + S,
    "gain": lambda xp, C, D, x, F, G, H, v, S, R: gain_step(xp, C, H, R),
    "inverse": lambda xp, C, D, x, F, G, H, v, S, R: xp.linalg.inv(
        C @ C.T / 4 + 4 * xp.eye(S.shape[0])
    ),
    "entries": lambda xp, C, D, x, F, G, H, v, S, R: C * D / 3 + xp.sin(C.T),
    "outer": lambda xp, C, D, x, F, G, H, v, S, R: C / 2 + xp.outer(v, v) + xp.outer(x, x) / 3,
    "transposes": lambda xp, C, D, x, F, G, H, v, S, R: (F @ D.T) @ (C @ F.T) / 3,
    "one side": lambda xp, C, D, x, F, G, H, v, S, R: F @ C / 2,
    "both sides": lambda xp, C, D, x, F, G, H, v, S, R: F @ C / 2 + C @ F.T / 2,
    "brackets": lambda xp, C, D, x, F, G, H, v, S, R: ((G @ C) @ D) @ G.T / 6 + (C @ D) / 3,
    "rectangular": lambda xp, C, D, x, F, G, H, v, S, R: (
        C / 2 + (H.T @ R) @ (H @ D) / 4 + (H.T @ R @ H).T
    ),
    "product": lambda xp, C, D, x, F, G, H, v, S, R: C @ D / 3,
    "scalar": lambda xp, C, D, x, F, G, H, v, S, R: C / (1 + (C * C).sum()) + D / 4,
}


def random_program(seed):
    """A random function of the arguments in a namespace, by its scan."""
    rng = random.Random(seed)
    count = rng.randint(1, 2)
    starts = [STARTS[rng.choice([*STARTS])] for _ in range(count)]
    steps = [[STEPS[rng.choice([*STEPS])] for _ in range(rng.randint(1, 2))] for _ in starts]
    partners = [[rng.randrange(count) for _ in own] for own in steps]

    def program(xp, scan, F, G, H, v, X, S, R):
        def step(carries, x):
            news = []
            for own, others, C in zip(steps, partners, carries, strict=True):
                for function, other in zip(own, others, strict=True):
                    C = function(xp, C, carries[other], x, F, G, H, v, S, R)
                news.append(C)
            return tuple(news), v @ news[0].T @ x

        last, values = scan(step, tuple([start(F, S) for start in starts]), X)
        return sum([(xp.tanh(own) * G).sum() for own in last]) + xp.sin(values).sum()

    return program


def random_data(seed, n, k, T):
    normal = np.random.default_rng(seed).standard_normal
    shapes = [(n, n), (n, n), (k, n), (n,), (T, n), (n, n), (k, k)]
    *general, S, R = [0.6 * normal(shape) for shape in shapes]
    return [*general, (S + S.T) / 2, (R + R.T) / 2]


def symmetric_part(argument, derivative):
    """Derivatives by symmetric matrices agree in symmetric directions only."""
    derivative = np.asarray(derivative)
    return (derivative + derivative.T) / 2 if argument in (S, R) else derivative


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_loops_agree_with_jax(seed):
    jax = jax64()
    program = random_program(seed)
    f = program(se.numpy, se.scan, *ARGUMENTS)
    hessian = [se.hessian(f, F)] if seed % 6 == 0 else []
    function = se.lambdify(ARGUMENTS, [f, *se.gradient(f, ARGUMENTS), *hessian])

    def plain(*values):
        return program(jax.numpy, jax.lax.scan, *values)

    for lengths in [(3, 2, 3), (2, 4, 2), (1, 1, 1), (3, 2, 0)]:
        data = random_data(seed, *lengths)
        value, *derivatives = function(*data)
        expected = jax.value_and_grad(plain, (*range(len(data)),))(*data)
        np.testing.assert_allclose(value, expected[0], rtol=1e-8, atol=1e-8)
        for argument, one, other in zip(ARGUMENTS, derivatives, expected[1], strict=False):
            one, other = symmetric_part(argument, one), symmetric_part(argument, other)
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)
        for own in derivatives[len(ARGUMENTS) :]:
            np.testing.assert_allclose(own, jax.hessian(plain)(*data), rtol=1e-6, atol=1e-7)


def symmetric_carries(step, start):
    """Which carries of a loop are found to be symmetric."""
    last, _ = se.scan(lambda c, t: (step(*c), None), start, length=T)
    return [own.symbol.is_symmetric for own in with_symmetric_symbols(last[0].loop).carries]


def test_symmetry_is_inferred_by_induction():
    start = (S, S)
    assert symmetric_carries(lambda C, D: (F @ D @ F.T, F @ C @ F.T), start) == [True, True]
    assert symmetric_carries(lambda C, D: (C @ C, F @ C @ D @ C @ F.T), start) == [True, True]
    assert symmetric_carries(lambda C, D: (C @ C, F @ D), start) == [True, False]
    # The one is symmetric only if the other is, which it isn't.
    assert symmetric_carries(lambda C, D: (F @ D @ F.T, F @ C @ D), start) == [False, False]
    assert symmetric_carries(lambda C, D: (F @ D @ F.T, F @ C @ F.T), (S, F)) == [False, False]


def kalman(covariance):
    """The loss of a Kalman filter with a covariance to begin with, without its constant."""

    def step(carry, x):
        mean, C = carry
        mean, C = F @ mean, F @ C @ F.T + S
        residual, spread = x[:1] - H @ mean, H @ C @ H.T + R
        inverse = se.inv(spread)
        gain = C @ H.T @ inverse
        term = se.logdet(spread) + residual @ inverse @ residual
        return (mean + gain @ residual, C - gain @ H @ C), term

    return se.scan(step, (v, covariance), X)[1].sum()


def test_rounding_errors_do_not_grow():
    """With the covariance in the place of its transpose, the antisymmetric part of the errors of a
    step grows with the square of what F multiplies states by."""
    f = kalman(S).subs(k, 1)
    arguments = [own.subs(k, 1) for own in ARGUMENTS]
    function = se.lambdify(arguments, [f, se.gradient(f, F)])
    value = se.lambdify(arguments, f)
    F_value = 1.3 * np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    X_value = random_data(1, 4, 1, 300)[4]
    data = [F_value, np.eye(4), np.ones((1, 4)), np.zeros(4), X_value, np.eye(4), np.eye(1)]
    found, gradient = function(*data)
    np.testing.assert_allclose(found, value(*data), rtol=1e-9)
    direction = np.random.default_rng(2).standard_normal((4, 4))
    step = 1e-6
    moved = [value(F_value + sign * step * direction, *data[1:]) for sign in (1, -1)]
    expected = (moved[0] - moved[1]) / (2 * step)
    np.testing.assert_allclose((gradient * direction).sum(), expected, rtol=1e-4)


def test_a_symmetric_spread_is_solved_once():
    texts = {}
    for covariance in (S, G):
        f = kalman(covariance)
        texts[covariance] = se.codegen(ARGUMENTS, [f, se.gradient(f, F)])
    assert "transposed=True" in texts[G]
    assert "transposed=True" not in texts[S]
    assert texts[S].count("solved(u") == 1
    # No matrix of the size of the covariance is stored but F times it.
    assert texts[S].count("np.empty((T, n, n)") == 1
