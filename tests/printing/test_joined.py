"""Tensors put together are shown by the calls that put them together, and read back."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n = symbols("m n", integer=True, positive=True)
x, y = se.tensors("x y", n)
z, (v, w) = se.TensorSymbol("z", m), se.tensors("v w", 3)
X, Y, A = se.TensorSymbol("X", m, n), se.TensorSymbol("Y", m, n), se.TensorSymbol("A", n, n)
R = se.TensorSymbol("R", m, 3)
NAMES = {**vars(sympy), **vars(se), "m": m, "n": n}
NAMES |= {symbol.name: symbol for symbol in (x, y, z, v, w, X, Y, A, R)}
SHOWN = [
    (np.concatenate([x, y]), "concatenate([x, y])"),
    (np.concatenate([x, z, -y]), "concatenate([x, z, -y])"),
    (np.concatenate([X, 2 * Y], axis=1), "concatenate([X, 2*Y], axis=1)"),
    (np.concatenate([X.T, A], axis=1), "concatenate([X.T, A], axis=1)"),
    (np.hstack([x, se.exp(y)]), "concatenate([x, exp(y)])"),
    (np.vstack([x, y]), "concatenate([x[None, :], y[None, :]])"),
    (np.column_stack([x, y]), "concatenate([x[:, None], y[:, None]], axis=1)"),
    (np.stack([x, y]), "stack([x, y])"),
    (np.stack([X, Y], axis=2), "stack([X, Y], axis=2)"),
    (np.stack([x @ y, x @ x]), "stack([x @ y, x @ x])"),
    (np.roll(x, 1), "roll(x, 1)"),
    (np.roll(R, -2, axis=1), "roll(R, 1, axis=1)"),
    (np.cross(w, v), "roll(w, 2)*roll(v, 1) - (roll(v, 2)*roll(w, 1))"),
    ((np.concatenate([x, y]) ** 2).sum(), "(concatenate([x, y])**2).sum()"),
    (
        np.block([[A, A.T], [x[None, :], y[None, :]]]),
        "concatenate([concatenate([A, A.T], axis=1), concatenate([x, y])[None, :]])",
    ),
]
# What isn't put together of pieces side by side is a sum.
OTHERS = [
    np.pad(x, 1),
    np.pad(x, (0, 1)) + np.pad(y, (1, 0)),
    se.Delta(2 * n)[:n].T @ x + se.Delta(2 * n)[n:].T @ y + np.concatenate([y, x]),
    np.stack([x, x]) + np.stack([x, y], axis=1).T * 2,
    se.outer(se.Delta(3)[0], x) + se.outer(se.Delta(3)[2], y),
    np.concatenate([x, y]) + 1,
]


@pytest.mark.parametrize(("e", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_calls_are_shown(e, shown):
    assert str(e) == shown
    assert eval(shown, dict(NAMES)) == e
    assert eval(sympy.srepr(e), dict(NAMES)) == e


@pytest.mark.parametrize("e", OTHERS, ids=str)
def test_other_sums_read_back(e):
    assert eval(str(e), dict(NAMES)) == e


def test_long_texts_read_back():
    e = snp.concatenate([x, y])
    for _ in range(30):
        e = snp.roll(se.sin(e) * e, 1) + e
    assert eval(str(e), dict(NAMES)) == e
