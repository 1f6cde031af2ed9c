"""Diagonals with offsets, finite differences and NumPy's gradient, against NumPy."""

import numpy as np
import pytest
from libraries import LIBRARIES
from oracles import assert_close
from sympy import Symbol, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

n, m = symbols("n m", integer=True, positive=True)
h = Symbol("h", positive=True)
SYMBOLS = {
    "x": se.TensorSymbol("x", 6),
    "X": se.TensorSymbol("X", (4, 6)),
    "Y": se.TensorSymbol("Y", (5, 3)),
    "T": se.TensorSymbol("T", (3, 4, 5)),
    "y": se.TensorSymbol("y", n),
    "N": se.TensorSymbol("N", (n, n)),
}
rng = np.random.default_rng(3)
SHAPES = {"x": (6,), "X": (4, 6), "Y": (5, 3), "T": (3, 4, 5), "y": (7,), "N": (5, 5)}
ARRAYS = {name: rng.standard_normal(shape) for name, shape in SHAPES.items()}
POINTS = np.array([0.0, 0.5, 2, 2.25, 4, 7])

CALLS = """
np.diag(x, 2)
np.diag(x, -1)
np.diag(y)
np.diag(y, 1)
np.diag(X, 1)
np.diag(X, -3)
np.diag(Y, 1)
np.diag(Y, -7)
np.diag(N, -2)
np.diagflat(Y, -1)
np.diagonal(X, 1)
np.diagonal(T)
np.diagonal(T, -1, 1, 2)
np.diagonal(T, 2, 2, 0)
np.trace(X, 2)
np.trace(X)
np.trace(T, -1, 2, 1)
np.trace(N, 1)
np.diff(x)
np.diff(y, 2)
np.diff(X, axis=0)
np.diff(T, 3, 1)
np.diff(x, 7)
np.diff(x, prepend=0)
np.diff(X, axis=0, prepend=X[:1], append=1)
np.ediff1d(x)
np.ediff1d(Y, to_end=[1, 2], to_begin=-99)
np.gradient(x)
np.gradient(y)
np.gradient(y, 0.5, edge_order=2)
np.gradient(X, axis=1)
np.gradient(X, 2.0, 0.1)[0]
np.gradient(X, 2.0, 0.1)[1]
np.gradient(X, 2, POINTS, edge_order=2)[1]
np.gradient(x, POINTS)
np.gradient(T, axis=(0, 2), edge_order=2)[1]
"""


@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_values_are_numpys_and_derivatives_those_of_a_linear_map(call):
    used = [name for name in SYMBOLS if name in call.replace("np", "").replace("POINTS", "")]
    (name,) = [name for name in used if f"({name}" in call]
    expected = eval(call, {"np": np, "POINTS": POINTS, **ARRAYS})
    expr = eval(call, {"np": snp, "POINTS": POINTS, **SYMBOLS})
    assert expr == eval(call, {"np": np, "POINTS": POINTS, **SYMBOLS})
    symbol, array = SYMBOLS[name], ARRAYS[name]
    value, jacobian = se.lambdify([symbol], [expr, se.diff(expr, symbol)])(array)
    assert_close(value, expected, 1e-12)
    constant = eval(call, {"np": np, "POINTS": POINTS, name: 0 * array})
    assert_close(np.tensordot(jacobian, array, array.ndim), expected - constant, 1e-12)
    assert_close(
        se.lambdify([symbol], eval(str(expr), {**vars(se), **SYMBOLS, "n": n}))(array), expected
    )


def test_eye():
    for rows, columns, k in [(3, 3, 0), (3, 5, 1), (5, 3, -1), (2, 4, 3), (4, 2, 2), (3, None, -1)]:
        entries = se.lambdify([], se.eye(rows, columns, k))()
        assert_close(entries, np.eye(rows, columns, k))
    assert se.eye(n) == se.Delta(n)
    assert_close(se.lambdify([n], se.eye(n, n + 2, 2))(3), np.eye(3, 5, 2))


def test_derivatives_by_the_coordinates():
    """Derivatives by coordinates and spacing."""
    z = se.TensorSymbol("z", 6)
    f = (snp.gradient(SYMBOLS["x"], z, edge_order=2) ** 2).sum()
    assert se.check_derivative(f, z) < 1e-5
    assert se.check_derivative((snp.gradient(SYMBOLS["y"], h) ** 2).sum(), SYMBOLS["y"]) < 1e-5


@pytest.mark.parametrize("backend", LIBRARIES)
def test_every_backend(backend):
    library = LIBRARIES[backend]()
    X, x = SYMBOLS["X"], SYMBOLS["x"]
    f = (snp.diff(X, 2) ** 2).sum() + (snp.gradient(X, axis=0) ** 3).sum()
    outputs = [snp.diag(x, 1), snp.trace(X, 1), se.gradient(f, X), snp.gradient(x)]
    arrays = [ARRAYS["X"], ARRAYS["x"]]
    results = se.lambdify([X, x], outputs, backend=backend)(*map(library.into, arrays))
    for one, other in zip(results, se.lambdify([X, x], outputs)(*arrays), strict=True):
        assert_close(library.back(one), other, label=backend)


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: snp.diag(SYMBOLS["T"]), se.ShapeError, "diag takes a vector or a matrix"),
        (lambda: snp.trace(se.TensorSymbol("A", m, n)), se.ShapeError, "slice the matrix"),
        (lambda: snp.diag(SYMBOLS["x"], n), se.TensorError, "known integer"),
        (lambda: snp.diff(SYMBOLS["x"], -1), se.TensorError, "known integer from 0 on"),
        (lambda: snp.gradient(SYMBOLS["T"], axis=0, edge_order=3), se.TensorError, "edge_order"),
        (lambda: snp.gradient(SYMBOLS["X"], 1, 2, 3), se.TensorError, "3 spacings for 2 axes"),
        (lambda: snp.gradient(SYMBOLS["X"], [1, 2], axis=0), se.ShapeError, "as many coordinates"),
        (lambda: snp.gradient(se.TensorSymbol("z", 1)), se.ShapeError, "axis 0 of length 1 is too"),
    ],
)
def test_errors(build, error, text):
    with pytest.raises(error, match=text):
        build()
