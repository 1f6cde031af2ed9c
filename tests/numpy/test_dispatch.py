"""NumPy's functions on tensor expressions have their meaning on arrays: all functions and ufuncs of
NumPy and its linalg, called blindly, give NumPy's values and shapes or an error."""

import numpy as np
import pytest
from oracles import assert_close, evaluate
from sympy import log, sqrt, symbols

import sympy_einsum as se

SHAPES = {"x": (3,), "w": (4,), "A": (4, 3), "Q": (3, 3), "T": (2, 4, 3), "V": (2, 3)}
SYMBOLS = {name: se.TensorSymbol(name, shape) for name, shape in SHAPES.items()}
OPERANDS = [*[(a,) for a in SHAPES], *[(a, b) for a in SHAPES for b in SHAPES]]
OPTIONS = [{}, {"axis": -1}, {"axis": 0, "keepdims": True}, {"axes": 1}, {"n": 2}, {"ord": 1}]
# Functions that write to a file, to the screen or into their arguments.
SKIPPED = {"copyto", "fill_diagonal", "info", "place", "put", "putmask", "save", "savetxt", "savez"}
SKIPPED |= {"savez_compressed", "test", "show_config", "show_runtime", "put_along_axis"}
SKIPPED |= {"searchsorted"}  # whose result is anything in a vector that isn't sorted
SKIPPED |= {"polydiv"}  # whose remainder is the shorter the more leading zeros it has
OF_SYMMETRIC = {f"numpy.linalg.{name}" for name in ("cholesky", "eigh", "eigvalsh")}
FUNCTIONS = {
    f"{space.__name__}.{name}": function
    for space in (np, np.linalg)
    for name, function in sorted(vars(space).items())
    if callable(function) and not isinstance(function, type) and not name.startswith("_")
    if name not in SKIPPED
}


def called(function, values, options):
    try:
        return function(*values, **options)
    except Exception:
        return None


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dispatched_functions_are_numpys(name):
    function = FUNCTIONS[name]
    rng = np.random.default_rng(3)
    for operands in OPERANDS:
        arrays = [rng.uniform(0.2, 0.9, SHAPES[o]) for o in operands]
        if name in OF_SYMMETRIC:  # either triangle may be read
            arrays = [
                a + np.swapaxes(a, -1, -2) if o == "Q" else a
                for o, a in zip(operands, arrays, strict=True)
            ]
        if operands[0] == operands[-1]:
            arrays = arrays[:1] * len(operands)
        for options in OPTIONS:
            expected = called(function, arrays, options)
            if expected is None:
                continue
            symbols = [SYMBOLS[o] for o in operands]
            result = called(function, symbols, options)
            if not isinstance(result, (se.TensorExpr, tuple)):
                continue
            data = dict(zip(symbols, arrays, strict=True))
            for ours, theirs in zip(parts(result), parts(expected), strict=True):
                if not np.all(np.isfinite(theirs)):
                    continue
                assert np.shape(evaluate(ours, data)) == np.shape(theirs), (operands, options)
                assert_close(evaluate(ours, data), theirs)


def test_products_of_stacks():
    """Vectors and matrices with distinct lengths, as by NumPy's gufuncs."""
    rng = np.random.default_rng(4)
    A, B, x = se.TensorSymbol("A", (4, 3)), se.TensorSymbol("B", (2, 4, 3)), SYMBOLS["x"]
    w, V = SYMBOLS["w"], SYMBOLS["V"]
    data = {s: rng.standard_normal([int(n) for n in s.shape]) for s in (A, B, x, w, V)}
    for e, value in (
        (lambda a, b, x, w, v: np.matvec(a, x), data[A] @ data[x]),
        (lambda a, b, x, w, v: np.matvec(b, v), np.einsum("kij,kj->ki", data[B], data[V])),
        (lambda a, b, x, w, v: np.vecmat(w, a), data[w] @ data[A]),
        (lambda a, b, x, w, v: np.vecmat(w, b), np.einsum("i,kij->kj", data[w], data[B])),
        (lambda a, b, x, w, v: np.vecdot(a, x), data[A] @ data[x]),
        (lambda a, b, x, w, v: np.vecdot(a, w[:, None], axis=0), data[w] @ data[A]),
    ):
        assert_close(evaluate(e(A, B, x, w, V), data), value)
        assert e(A, B, x, w, V).shape == np.shape(value)
    with pytest.raises(se.ShapeError):
        np.matvec(x, x)
    with pytest.raises(se.ShapeError):
        np.vecmat(x, A)


def test_lambertw_of_scipy():
    """A Python function around a ufunc."""
    special = pytest.importorskip("scipy.special")
    x = SYMBOLS["x"]
    assert special.lambertw(x) == se.LambertW(x)
    assert special.lambertw(x, -1) == se.LambertW(x, -1)
    with pytest.raises(se.UnsupportedError, match="the branch"):
        special.lambertw(x, [0, -1, 0])


def test_universal_functions_of_lengths():
    """As of numbers, ``q @ k.T / np.sqrt(q.shape[1])``; other symbols are left to NumPy."""
    m, n = symbols("m n", integer=True, positive=True)
    q, k = se.TensorSymbol("q", m, n), se.TensorSymbol("k", 5, n)
    assert np.sqrt(q.shape[1]) == sqrt(n)
    assert np.sqrt(q.shape[0] + 1) == sqrt(m + 1)
    assert np.log(k.shape[0]) == log(5)
    assert q @ k.T / np.sqrt(q.shape[1]) == q @ k.T / sqrt(n)
    assert (np.ones(2) * n).tolist() == [1.0 * n, 1.0 * n]
    with pytest.raises(TypeError, match="no callable sqrt"):
        np.sqrt(symbols("a"))
