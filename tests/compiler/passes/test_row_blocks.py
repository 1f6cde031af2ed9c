"""Sums over rows by blocks of rows: equal values with less memory."""

import numpy as np
import pytest
from libraries import LIBRARIES
from sympy import symbols
from test_instruction_order import peak_memory
from test_layouts import LENGTHS, MODELS, program

import sympy_einsum as se
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.passes.row_blocks import in_row_blocks
from sympy_einsum.compiler.program import Compilation, Request
from sympy_einsum.compiler.runtime.sources import Helper, HelperText
from sympy_einsum.core import tuning

m, n, k = symbols("m n k", integer=True, positive=True)
X, Y, W = se.TensorSymbol("X", m, n), se.TensorSymbol("Y", m, k), se.TensorSymbol("W", n, k)
y, w, v = se.TensorSymbol("y", m), se.TensorSymbol("w", n), se.TensorSymbol("v", n)
rng = np.random.default_rng(2)
SCORES = X @ W
LOGISTIC = se.softplus(-y * (X @ w)).sum()
CROSS = se.logsumexp(SCORES, axis=1).sum() - (Y * SCORES).sum()
WEIGHTED = se.TensorSymbol("A", k, n)
DISTANCES = ((X[:, None] - WEIGHTED[None]) ** 2).sum(axis=2)


def with_gradient(loss, *wrt):
    return [loss, *se.gradient(loss, list(wrt))]


# What is computed in blocks, and how many sums over rows there are.
PROGRAMS = {
    "softmax regression": (with_gradient(CROSS, W), 3),
    "a mean and a penalty": (with_gradient(CROSS / m + (W**2).sum(), W), 3),
    "Hessian times a vector": ([se.hvp(LOGISTIC, w, v)], 1),
    "residuals": (with_gradient((se.tanh(SCORES) - Y).sum() ** 2, W), 2),
    "weights of classes": (with_gradient((SCORES * se.exp(Y) @ WEIGHTED @ w * y).sum(), W, w), 2),
    "differences from centres": (with_gradient(DISTANCES.min(axis=1).sum(), WEIGHTED), 2),
}
# What isn't, because something else is needed of all rows, or they are gone through rarely.
WHOLE = {
    "shares of examples": with_gradient(-(Y * se.log(se.softmax(SCORES, axis=0))).sum(), W),
    "centred": with_gradient((se.tanh(X - X.mean(axis=0, keepdims=True)) ** 2).sum(), X),
    "rows are a result": [CROSS, se.softmax(SCORES, axis=1)],
    "blocks on a diagonal": [se.hessian(CROSS, W)],
    "two products": with_gradient(LOGISTIC, w),
    "pairs of rows": with_gradient((se.softmax(SCORES @ Y.T, axis=1) @ Y).sum(), W),
    "neighbours": with_gradient((se.tanh(SCORES[1:] - SCORES[:-1]) ** 2).sum(), W),
}


def arguments_of(exprs):
    return sorted({s for e in exprs for s in se.expressions.free_leaves(e)} - {m, n, k}, key=str)


def data_for(arguments, lengths):
    return [rng.uniform(0.5, 1, [int(i.subs(lengths)) for i in s.shape]) for s in arguments]


class FewRows(Helper):
    """The helper that adds up blocks of rows, with blocks of two or three rows."""

    def written(self, name, spelling):
        text, names = super().written(name, spelling)
        changes = {"2**17 // width": "2 + width % 2", "count < 4 * size": "False"}
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        return HelperText(text, names)


@pytest.fixture
def few_rows(monkeypatch):
    for backend in (BACKENDS["numpy"], BACKENDS["numpy"].for_float64):
        by_rows = backend.support["by_rows"]
        few = FewRows(by_rows.module, by_rows.origin, by_rows.spelled)
        monkeypatch.setattr(backend, "support", {**backend.support, "by_rows": few})
        monkeypatch.setattr(backend, "_helpers", {})
    monkeypatch.setattr(tuning, "MIN_BLOCKED_ROWS", 1)


def blocks_of(arguments, exprs):
    return in_row_blocks(Compilation(Request(arguments, exprs)).plan())


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7])
@pytest.mark.usefixtures("few_rows")
def test_values_and_arguments_stay(name, rows):
    exprs, count = PROGRAMS[name]
    arguments = arguments_of(exprs)
    assert len(blocks_of(arguments, exprs).totals) == count
    data = data_for(arguments, {m: rows, n: 4, k: 3})
    torch = LIBRARIES["torch"]()
    before = [array.copy() for array in data]
    function = se.lambdify(arguments, exprs)
    assert "by_rows" in function.source
    with np.errstate(all="ignore"):
        found, expected = function(*data), se.lambdify(arguments, exprs, backend="torch")
        expected = expected(*map(torch.into, data))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-10, atol=1e-12)
    for array, copy in zip(data, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", WHOLE)
def test_values_that_need_all_rows_have_them(name):
    assert blocks_of(arguments_of(WHOLE[name]), WHOLE[name]) is None


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("few_rows")
def test_models_in_blocks(name, monkeypatch):
    arguments, exprs = program(name)
    data = data_for(arguments, LENGTHS)
    found = se.lambdify(arguments, exprs)(*data)
    monkeypatch.setattr(BACKENDS["numpy"], "in_blocks", False)
    for one, other in zip(found, se.lambdify(arguments, exprs)(*data), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_memory_is_that_of_the_cache():
    exprs, _ = PROGRAMS["softmax regression"]
    arguments = arguments_of(exprs)
    data = data_for(arguments, {m: 40000, n: 10, k: 30})
    scores = 40000 * 30 * 8
    assert peak_memory(se.lambdify(arguments, exprs), *data) < scores / 3
    few = data_for(arguments, {m: 100, n: 10, k: 30})
    assert peak_memory(se.lambdify(arguments, exprs), *few) > 100 * 30 * 8


# What kernels compute in blocks, and what they don't.
PRODUCTS = {
    **{name: exprs for name, (exprs, _) in PROGRAMS.items() if name != "differences from centres"},
    "two products": WHOLE["two products"],
    "values that no row changes": with_gradient(
        se.softplus(X @ se.exp(W)).sum() * m + se.exp(W).sum() / n, W
    ),
    "the total is a result and read": [
        total := (X.T @ se.tanh(SCORES)),
        (total**2).sum(),
        se.exp(-m) * total @ total.T,
    ],
    "positions": [(X @ w)[0], *with_gradient(LOGISTIC * w[m - m + 1], w)],
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_kernels_of_numba(name, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(tuning, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(tuning, "MIN_BLOCK_ROWS", 2)
    exprs = PRODUCTS[name]
    arguments = arguments_of(exprs)
    function = se.lambdify(arguments, exprs, "numba")
    assert ("range(0, max(m, 1), " in function.source) == (name != "positions")
    expected = se.lambdify(arguments, exprs)
    for rows in (0, 1, 2, 3, 7) if name != "positions" else (3,):
        data = data_for(arguments, {m: rows, n: 4, k: 3})
        with np.errstate(all="ignore"):
            pairs = zip(function(*data), expected(*data), strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_kernels_add_up_large_sums_at_once():
    pytest.importorskip("numba")
    source = se.codegen([X, W], with_gradient(se.tanh(SCORES).sum(), W), backend="numba")
    assert f"if k*n + 1 <= {tuning.MAX_BLOCK_TOTALS} else max(m, 1)" in source
