"""Cross-country derivatives, and the modes and layouts of all derivatives."""

from functools import partial

import numpy as np
import pytest
from oracles import calls
from sympy import Symbol, symbols

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


t = Symbol("t")
WEIGHTS = [se.TensorSymbol(f"W{k}", n, n) for k in range(80)]


def residual(y, layers):
    for weight in WEIGHTS[:layers]:
        y = y + se.tanh(weight @ y)
    return y


# Many layers with a few entries on one side, or between.
NARROW = {
    "by a scalar": lambda layers: (residual(t * x, layers), [t]),
    "by two variables": lambda layers: (residual(t * x + u[0] * v, layers), [t, u]),
    "a scalar between": lambda layers: (residual(residual(x, layers).sum() * v, layers), [x]),
    "a factor": lambda layers: (A * (residual(x, layers) @ v), [x, v]),
    "a variable above": lambda layers: (residual(residual(x, layers).sum() * v, layers), [x, v]),
}
# What reverse mode does as well, and what no way is made for.
UNIMPROVED = ["a factor", "a variable above"]


@pytest.mark.parametrize("layers", [3, 10])
@pytest.mark.parametrize("name", NARROW)
def test_bottlenecks_are_differentiated_from_the_smaller_end(name, layers):
    y, variables = (NARROW[name])(layers)
    y, *variables = [e.subs({m: 4}) for e in (y, *variables)]
    weights = [rng.normal(size=(3, 3)) / 3 for _ in WEIGHTS[:layers]]
    data = {t: 0.5, **dict(zip(SYMBOLS, DATA, strict=True))}
    data = {symbol.subs({m: 4}): array for symbol, array in data.items()}
    arguments, arrays = [*data, *WEIGHTS[:layers]], [*data.values(), *weights]
    cost, expected = {}, None
    for mode in ("auto", "reverse", "forward"):
        found = se.jacobian(y, variables, mode=mode)
        f = se.lambdify(arguments, found)
        cost[mode] = f.cost({n: 50}).flops
        found = f(*arrays)
        expected = expected or found
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    if name not in UNIMPROVED:
        assert cost["auto"] <= 1.6 * min(cost.values())
        assert layers == 3 or cost["auto"] * 5 < cost["reverse"]


def test_short_functions_are_derived_as_in_textbooks():
    for y, variable in ((X @ X @ X * t, t), (se.tanh(t * X) @ se.tanh(t * X), t)):
        assert se.diff(y, variable) == se.diff(y, variable, mode="reverse")


@pytest.mark.parametrize("name", NARROW)
def test_the_choice_grows_with_the_function(name):
    few, many = (calls(partial(se.jacobian, *NARROW[name](layers))) for layers in (40, 80))
    # The sums of the layers have a term for each layer, which are compared as wholes.
    assert many < 3.3 * few


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
