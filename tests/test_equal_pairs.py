"""Random pairs of expressions that are equal, or unequal, by construction: ``equal`` is never wrong
about them."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from sympy import Rational, log, symbols

import sympy_einsum as se

COUNT = 60
n, m = symbols("n m", integer=True, positive=True)
A, B, C = se.tensors("A B C", n, n)
S = se.TensorSymbol("S", (n, n), symmetric=True)
K = se.TensorSymbol("K", (n, n), psd=True)
D = se.TensorSymbol("D", (n, n), diagonal=True)
X, Y = se.tensors("X Y", n, m)
R = se.TensorSymbol("R", (m, m))
x, y = se.tensors("x y", n)
one, unit = se.Delta(n), se.Delta(m)
H = X @ se.inv(X.T @ X) @ X.T
P = se.inv(X.T @ X) @ X.T


def matrix(rng, depth=1):
    """Return a random square matrix, invertible where its data are."""
    if not depth or rng.random() < 0.4:
        return rng.choice([A, B, C, S, K, D, A.T, 2 * B])
    left, right = matrix(rng, depth - 1), matrix(rng, depth - 1)
    found = rng.choice(
        [
            lambda: left @ right,
            lambda: left + right,
            lambda: left - right.T,
            lambda: left.inv(),
            lambda: left + X @ Y.T,
            lambda: left @ D,
            lambda: se.tanh(left) + right,
        ]
    )()
    # S - S.T has no inverse.
    return A if isinstance(found, se.Zeros) else found


def equal_pair(rng):
    """Return two texts of one matrix."""
    F, G, E = (matrix(rng) for _ in range(3))
    t = rng.choice([2, Rational(1, 3), symbols("t")])
    return rng.choice(
        [
            lambda: (F @ (G + E), F @ G + F @ E),
            lambda: ((F @ G) @ E, F @ (G @ E)),
            lambda: ((F @ G).T, G.T @ F.T),
            lambda: ((F + G).T @ E, F.T @ E + G.T @ E),
            lambda: ((F @ G).inv(), G.inv() @ F.inv()),
            lambda: (F.T.inv(), F.inv().T),
            lambda: (F.inv() @ G @ G.inv() @ F, one),
            lambda: ((t * F).inv(), F.inv() / t),
            lambda: (F @ G.inv() @ G, F),
            lambda: (se.log(se.exp(F)), F),
            lambda: (se.exp(F) * se.exp(G), se.exp(F + G)),
            lambda: ((F - G) * (F + G), F * F - G * G),
            lambda: (se.einsum("ij,jk->ik", F, G) - F @ G + E, E),
            lambda: (F.trace() * G, se.einsum("ii,jk->jk", F, G)),
            lambda: ((F @ G).trace() * E, (G @ F).trace() * E),
            lambda: ((F @ G).det() * E, F.det() * G.det() * E),
            lambda: (F.inv().det() * E, E / F.det()),
            lambda: (se.adj(F), F.det() * F.inv()),
            lambda: (se.logdet(F @ G) * E, (se.logdet(F) + se.logdet(G)) * E),
            lambda: (log(se.det(F) ** 2) * E, 2 * se.logdet(F) * E),
            lambda: (H @ H, H),
            lambda: (H.T, H),
            lambda: (H @ H @ F, H @ F),
            lambda: ((one - H) @ (one - H), one - H),
            lambda: ((one - H) @ H @ F, 0 * F),
            lambda: (X @ P @ X @ Y.T, X @ Y.T),
            lambda: (P.T @ X.T, X @ P),
            lambda: (X @ P @ X @ P, H),
            lambda: (
                se.inv(F + X @ R @ Y.T),
                F.inv() - F.inv() @ X @ se.inv(R.inv() + Y.T @ F.inv() @ X) @ Y.T @ F.inv(),
            ),
            lambda: (X @ se.inv(unit + Y.T @ X) @ Y.T, se.inv(one + X @ Y.T) @ X @ Y.T),
            lambda: (F.inv() - G.inv(), F.inv() @ (G - F) @ G.inv()),
            lambda: (F @ se.inv(one + G @ F), se.inv(one + F @ G) @ F),
            lambda: (se.det(one + X @ Y.T) * E, se.det(unit + Y.T @ X) * E),
            lambda: (S @ K @ S, (S @ K @ S).T),
            lambda: (D @ F.T, (F @ D).T),
            lambda: (X @ R @ X.T + S, (X @ R.T @ X.T + S).T),
            lambda: (se.sqrt(F**2), se.Abs(F)),
            lambda: (x[:, None] * F, se.einsum("i,ij->ij", x, F)),
            lambda: (se.sigmoid(-F) @ E, E.sum(axis=0)[None, :] - se.sigmoid(F) @ E),
            lambda: (se.sin(F - G) @ E, -se.sin(G - F) @ E),
            lambda: ((F * F) @ E, F.applyfunc(lambda u: u**2 + u) @ E - F @ E),
        ]
    )()


def context(rng):
    """Return a function to apply to both of a pair."""
    F = matrix(rng)
    return rng.choice(
        [
            lambda e: e,
            lambda e: e.T,
            lambda e: e @ F,
            lambda e: F @ e + F,
            lambda e: x @ e @ y,
            lambda e: e @ x,
            lambda e: se.tanh(e),
            lambda e: e.trace() * F,
            lambda e: (e * F).sum(axis=0),
            lambda e: se.gradient(((e @ x) ** 2).sum(), x),
            lambda e: (e + e.T) / 2,
        ]
    )


def unequal_pair(rng):
    """Return two different matrices, or vectors, or scalars."""
    F, G = rng.sample([A, B, C, A @ B, (A + B).inv(), A + X @ Y.T, B @ S], 2)
    if rng.random() < 0.5:
        left, right = equal_pair(rng)
        change = context(rng)
        left, right = change(left), change(right)
        shift = rng.choice([1, Rational(-1, 10)])
        shape = getattr(left, "shape", ())
        return left, right + (shift * se.Ones(*shape) if shape else shift)
    return rng.choice(
        [
            lambda: (F @ G, G @ F),
            lambda: ((F @ G).T, F.T @ G.T),
            lambda: ((F + G).inv(), F.inv() + G.inv()),
            lambda: (F, F.T),
            lambda: (se.det(F + G), se.det(F) + se.det(G)),
            lambda: (F.inv(), F.inv().T),
            lambda: (se.exp(F @ G), se.exp(F) @ se.exp(G)),
            lambda: (se.sqrt(F**2), F),
            lambda: (X @ P @ F, F @ X @ P),
            lambda: (H @ H, 2 * H),
            lambda: (H, one),
            lambda: (X @ P, X @ X.T),
            lambda: (P @ F, P @ G),
            lambda: (
                se.inv(F + X @ Y.T),
                F.inv() - F.inv() @ X @ se.inv(unit - Y.T @ F.inv() @ X) @ Y.T @ F.inv(),
            ),
            lambda: (se.logdet(F @ G), se.logdet(F) - se.logdet(G)),
            lambda: (S @ K, K @ S),
            lambda: (D @ F, F @ D),
            lambda: (se.diff(F @ x, x), F.T),
            lambda: (se.norm(x + y), se.norm(x) + se.norm(y)),
            lambda: ((F * G) @ x, F @ x * (G @ x)),
        ]
    )()


def answers(count, seed, wanted):
    """Count equal's answers on pairs of one kind."""
    rng = random.Random(seed)
    found = Counter()
    for _ in range(count):
        if wanted:
            left, right = equal_pair(rng)
            change = context(rng)
            left, right = change(left), change(right)
        else:
            left, right = unequal_pair(rng)
        answer = se.equal(left, right)
        assert answer in (wanted, None), f"equal says {answer} of {left} and {right}"
        found[answer] += 1
    return found


@pytest.mark.parametrize("wanted", [True, False])
def test_equal_is_never_wrong(wanted):
    found = answers(COUNT, 5, wanted)
    assert found[wanted] > COUNT / 2, found
