"""Cross-country derivatives, and that all derivatives take modes and layouts."""

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
A, X = se.TensorSymbol("A", m, n), se.TensorSymbol("X", n, n)
x, v = se.tensors("x v", n)
u = se.TensorSymbol("u", m)
SYMBOLS = [A, X, x, v, u]
rng = np.random.default_rng(0)
DATA = [rng.normal(size=shape) for shape in [(4, 3), (3, 3), (3,), (3,), (4,)]]
MODES = ["reverse", "forward", "cross-country", "auto"]
CASES = {
    "a scalar between": ((se.exp(X @ v).sum() * X), v),
    "two scalars between": (se.sin((x @ x) ** 2) * A, x),
    "a vector between": (se.outer(se.tanh(X @ v), se.sin(X @ v)), X),
    "two ways": (A * se.exp((A**2).sum()), A),
    "of a scalar": ((A @ x) @ (A @ x), x),
    "by a part that isn't there": (A @ x, v),
    "by itself": (X, X),
    "a long product": (se.einsum("ij,jk,kl,i->l", X, X, X, x) * (x @ x), x),
}


def values(e, known=None):
    e = e if known is None else e.subs(known)
    symbols_ = SYMBOLS if known is None else [s.subs(known) for s in SYMBOLS]
    return se.lambdify(symbols_, e)(*DATA)


@pytest.mark.parametrize("known", [None, {m: 4, n: 3}])
@pytest.mark.parametrize("name", CASES)
def test_all_modes_agree(name, known):
    y, variable = (part.subs(known or {}) for part in CASES[name])
    expected = values(se.diff(*CASES[name]))
    for mode in ("cross-country", "forward"):
        for simplify in (True, False):
            found = values(se.diff(y, variable, mode=mode, simplify=simplify), known)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_it_is_the_cheaper_of_both_modes():
    p = se.softmax(A @ x)
    for y in (p / (p @ (A @ x)), (X @ X @ X).trace() * X):
        variable = x if y.order == 1 else X
        costs = {}
        for mode in MODES:
            e = se.diff(y, variable, mode=mode)
            costs[mode] = se.lambdify(SYMBOLS[:3], e, optimize=False).cost({m: 40, n: 30}).flops
        assert costs["cross-country"] <= min(costs.values())


def test_steps_are_those_of_the_way_that_was_taken():
    e, steps = se.diff(se.exp(x @ x) * A, x, mode="cross-country", trace=True)
    assert e == se.diff(se.exp(x @ x) * A, x)
    assert any("pull" in step.rule or "push" in step.rule for step in steps)


OPERATORS = {
    "diff": lambda **options: se.diff(A @ x, x, **options),
    "jacobian": lambda **options: se.jacobian(A @ x, x, **options),
    "gradient": lambda **options: se.gradient(u @ A @ x, x, **options),
    "hessian": lambda **options: se.hessian((A @ x) @ (A @ x), x, **options),
    "jvp": lambda **options: se.jvp([A @ x, se.exp(x)], [x, A], [v, A], **options)[0],
    "vjp": lambda **options: se.vjp([A @ x, se.exp(x)], [x, A], [u, v], **options)[0],
    "hvp": lambda **options: se.hvp((A @ x) @ (A @ x), x, v, **options),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_takes_modes_and_layouts(name):
    operator = OPERATORS[name]
    expected = values(operator())
    for mode in MODES:
        np.testing.assert_allclose(values(operator(mode=mode)), expected, rtol=1e-12)
    turned = values(operator(layout="wrt-first"))
    np.testing.assert_allclose(turned, expected.T if turned.ndim == 2 else expected)
    for wrong in ({"mode": "sideways"}, {"layout": "sideways"}):
        with pytest.raises(se.TensorError, match="sideways"):
            operator(**wrong)


def test_blocks_of_a_hessian_in_the_other_layout():
    blocks = se.hessian(u @ A @ x, [A, x], layout="wrt-first")
    shapes = [[block.shape for block in row] for row in blocks]
    assert shapes == [[(m, n, m, n), (n, m, n)], [(m, n, n), (n, n)]]
