"""Complex numbers in expressions of real arguments: no imaginary part is lost on any backend, and
``source`` shows the code that runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from libraries import EVERY
from random_settings import CONFIG
from sympy import I, OneMatrix, Rational, exp, log, sqrt, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import testing

t = symbols("t", real=True)
x, X = se.TensorSymbol("x", 3), se.TensorSymbol("X", 2, 2)
DATA = {x: np.array([0.5, -1.0, 2.0]), X: np.array([[0.3, 1.0], [2.0, -1.0]]), t: 0.7}
SHIFTED = X + I * se.Delta(2)
SHIFT = DATA[X] + 1j * np.eye(2)
v = DATA[x]
SHARES, ROWS = np.exp(1j * v), np.exp(1j * DATA[X])
# An expression, and its value by NumPy.
CASES = {
    "Jacobian": (se.jacobian(se.exp(I * x), x), np.diag(1j * np.exp(1j * v))),
    "Hessian": (se.hessian(se.exp(I * x).sum(), x), np.diag(-np.exp(1j * v))),
    "concatenate": (snp.concatenate([x, I * x]), np.concatenate([v, 1j * v])),
    "slices": (snp.concatenate([x[:1] * I, x[1:]]), np.concatenate([1j * v[:1], v[1:]])),
    "ones": (I * se.Ones(3, 2), np.full((3, 2), 1j)),
    "full": (x.sum() * I * se.Ones(3, 2), np.full((3, 2), 1.5j)),
    "of a matrix": (se.from_matrix(OneMatrix(3, 2) * (2 + 3 * I)), np.full((3, 2), 2 + 3j)),
    "diagonal": (se.diag(I * x + 1), np.diag(1j * v + 1)),
    "stack": (snp.stack([x, I * x]), np.stack([v, 1j * v])),
    "pad": (snp.pad(I * x, 1), np.pad(1j * v, 1)),
    "pad with": (snp.pad(x, 1, constant_values=I), np.pad(v + 0j, 1, constant_values=1j)),
    "roll": (snp.roll(I * x, 1), np.roll(1j * v, 1)),
    "vander": (snp.vander(I * x), np.vander(1j * v)),
    "inverse": (se.inv(SHIFTED), np.linalg.inv(SHIFT)),
    "determinant": (se.det(SHIFTED), np.linalg.det(SHIFT)),
    "solve": (se.inv(SHIFTED) @ X, np.linalg.solve(SHIFT, DATA[X])),
    "power": (snp.linalg.matrix_power(SHIFTED, 3), np.linalg.matrix_power(SHIFT, 3)),
    "identity": (I * se.Delta(3) + snp.outer(x, x), 1j * np.eye(3) + np.outer(v, v)),
    "triangle": (I * snp.tril(X), 1j * np.tril(DATA[X])),
    "kron": (snp.kron(X, I * X), np.kron(DATA[X], 1j * DATA[X])),
    "constant": (se.Constant(np.array([1, 2, 1j])) + x, np.array([1, 2, 1j]) + v),
    "scalar": (I * t * se.Ones(2) + x.sum(), np.full(2, 0.7j + 1.5)),
    "number": (2 * I, 2j),
    "running products": (snp.cumprod(x + I), np.cumprod(v + 1j)),
    "windows": (se.windows(I * x, 2), 1j * np.array([v[:2], v[1:]])),
}


def flat(library, results):
    return [library.back(result) for result in results]


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
def test_complex_numbers_among_real_arguments(name, backend):
    expr, expected = CASES[name]
    library = EVERY[backend]()
    values = [library.into(value) for value in DATA.values()]
    # Another result doesn't decide the type.
    function = se.lambdify([*DATA], [expr, x], backend)
    results = [flat(library, function(*values))]
    if backend != "numba" or name in ("Jacobian", "inverse"):
        namespace = {}
        exec(function.source, namespace)
        results.append(flat(library, namespace["function"](*values)))
    for found, real in results:
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(real, v)


def test_unsupported_code_is_refused_by_numba():
    chosen = snp.where(snp.greater(x, 0), I * x, x)
    with pytest.raises(se.UnsupportedError, match=r"a complex constant makes .* another backend"):
        se.lambdify([x], chosen, "numba")(v)
    with pytest.raises(se.UnsupportedError, match="complex128: complex numbers can't be compared"):
        se.lambdify([x], snp.where(snp.greater(x, 0), 2 * x, x), "numba")(1j * v)


KINDS = ("functions", "products", "pairs", "axes", "reductions", "matrices", "running")


@given(testing.programs(kinds=KINDS, max_steps=4))
@settings(CONFIG, max_examples=60)
def test_the_source_is_the_code_that_runs(made):
    """Random programs of a tensor that is made complex."""
    factor = 1 + I * Rational(1, 2)
    try:
        operands = [made.tensors[0] * factor, *made.tensors[1:]]
        expr = made.run(testing.SYMBOLS, operands)[-1]
    except se.UnsupportedError:
        return
    arrays = made.arrays()
    function = se.lambdify(made.tensors, expr)
    namespace = {}
    exec(function.source, namespace)
    with np.errstate(all="ignore"):
        try:
            found = function(*arrays)
        except se.UnsupportedError:
            return
        np.testing.assert_allclose(namespace["function"](*arrays), found)
        try:
            again = function(*[array.astype(complex) for array in arrays])
        except se.UnsupportedError:
            return  # a function of real numbers only
        np.testing.assert_allclose(again, found, rtol=1e-7, atol=1e-9)


# Shares of exponentials, which Numba's code divides by the largest one.
SOFTMAX = {
    "softmax": (se.softmax(I * x), SHARES / SHARES.sum()),
    "softmax of rows": (se.softmax(I * X, axis=1), ROWS / ROWS.sum(axis=1)[:, None]),
    "softmax of all": (se.softmax(I * X, axis=(0, 1)), ROWS / ROWS.sum()),
    "log of a sum": (se.logsumexp(I * x), np.log(SHARES.sum())),
}


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("name", SOFTMAX)
def test_shares_of_complex_exponentials(name, backend):
    expression, expected = SOFTMAX[name]
    library = EVERY[backend]()
    f = se.lambdify([*DATA], expression, backend)
    values = [library.into(value) for value in DATA.values()]
    if backend == "numba":
        with pytest.raises(se.UnsupportedError, match="those can't be compared"):
            f(*values)
        return
    np.testing.assert_allclose(library.back(f(*values)), expected, rtol=1e-6)


def test_functions_of_complex_scalars_take_the_principal_branch():
    total = se.exp(I * x).sum()
    values = np.array([2.0, 2.5, 3.0])
    number = np.exp(1j * values).sum()
    cases = [
        (sqrt(total**2), np.sqrt(number**2)),
        (sqrt(exp(3 * total)), np.sqrt(np.exp(3 * number))),
        (log(exp(3 * total)), np.log(np.exp(3 * number))),
        (1 / sqrt(total**2 + total), 1 / np.sqrt(number**2 + number)),
    ]
    for e, expected in cases:
        f = se.lambdify([x], e)
        np.testing.assert_allclose(f(values), expected, rtol=1e-12)
        gradient = se.lambdify([x], se.gradient(e, x))(values)
        step = 1e-6 * np.eye(3)
        differences = [(f(values + own) - f(values - own)) / 2e-6 for own in step]
        np.testing.assert_allclose(gradient, differences, rtol=1e-7)
