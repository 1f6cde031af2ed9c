"""Logarithms and signs of determinants whose values overflow."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import EVERY
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

q, n = symbols("q n", integer=True, positive=True)
F = se.TensorSymbol("F", q, n, n)
w = se.TensorSymbol("w", q)
RNG = np.random.default_rng(0)
SIGNED = RNG.normal(size=(3, 40, 40))
LARGE = SIGNED @ SIGNED.transpose(0, 2, 1) * 1e10 + 1e10 * np.eye(40)
WEIGHTS = np.array([2.0, 0.5, -3.0])
# Expressions with the logarithms of determinants, their values by those and by the signs.
USES = {
    "plain": (se.log(se.det(F)), lambda s, u, f: np.log(s) + u),
    "total": (se.log(se.det(F)).sum() / 2, lambda s, u, f: (np.log(s) + u).sum() / 2),
    "multiple": (se.log(2 * se.det(F)), lambda s, u, f: np.log(2 * s) + u),
    "absolute value": (se.log(abs(se.det(F))), lambda s, u, f: u),
    "root": (se.log(se.sqrt(se.det(F))), lambda s, u, f: np.log(np.sqrt(s)) + u / 2),
    "reciprocal": (se.log(1 / se.det(F)), lambda s, u, f: np.log(1 / s) - u),
    "square": (se.log(se.det(F) ** 2), lambda s, u, f: 2 * u),
    "product": (se.log(w * se.det(F)), lambda s, u, f: np.log(WEIGHTS * s) + u),
    "product of stacks": (se.log(se.det(F @ snp.swapaxes(F, 1, 2))), lambda s, u, f: 2 * u),
    "along another axis": (
        se.log(se.det(F)[:, None] * F[:, 0] ** 2)[:, 0],
        lambda s, u, f: np.log(s * f[:, 0, 0] ** 2) + u,
    ),
    "slice": (se.log(se.det(F)[1:]), lambda s, u, f: np.log(s[1:]) + u[1:]),
    "inside": (
        snp.tanh(se.log(se.det(F)) / 1000) * w,
        lambda s, u, f: np.tanh((np.log(s) + u) / 1000) * WEIGHTS,
    ),
    "sign": (se.sign(w * se.det(F)), lambda s, u, f: np.sign(WEIGHTS) * s),
}
MATRICES = {
    "large": LARGE,
    "small": LARGE * 1e-25,
    "of both signs": SIGNED * 1e10,
    "ordinary": SIGNED[:, :3, :3],
    "singular": np.zeros((3, 2, 2)),
    "of order 1": SIGNED[:, :1, :1],
}


def assert_values(name, matrices, backend="numpy"):
    expression, expected = USES[name]
    library = EVERY[backend]()
    arguments = [library.into(matrices), library.into(WEIGHTS)]
    with np.errstate(all="ignore"):
        found = library.back(se.lambdify([F, w], expression, backend=backend)(*arguments))
        sign, logarithm = np.linalg.slogdet(matrices)
        np.testing.assert_allclose(found, expected(sign, logarithm, matrices), 1e-10, 1e-10)


@pytest.mark.parametrize("matrices", MATRICES)
@pytest.mark.parametrize("name", USES)
def test_values(name, matrices):
    assert_values(name, MATRICES[matrices])


@pytest.mark.parametrize("backend", EVERY)
def test_backends(backend):
    for name in ("product", "absolute value", "sign"):
        assert_values(name, LARGE, backend)


def test_formulas_stay_as_they_are():
    """The rewrite is for numerical code only."""
    e = se.log(w * se.det(F))
    assert se.simplify(e) == e


def test_determinants_that_are_summed_are_computed():
    e = se.log(w @ se.det(F))
    sign, logarithm = np.linalg.slogdet(MATRICES["ordinary"])
    expected = np.log(abs(WEIGHTS) @ np.exp(logarithm))
    data = sign[:, None, None] * MATRICES["ordinary"], abs(WEIGHTS)
    np.testing.assert_allclose(se.lambdify([F, w], e)(*data), expected)
