"""An array that is written to has a type that holds all values written."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import LIBRARIES
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

n = symbols("n", integer=True, positive=True)
x, y = se.tensors("x y", (n,))
s = symbols("s", real=True)

# What is put together, in NumPy's names too.
PIECES = {
    "of one array": lambda np, x, y, s: [2 * x, x - x**2, x[:-1]],
    "of more arrays": lambda np, x, y, s: [x, x + y, x * y],
    "a fraction": lambda np, x, y, s: [x, x / 2],
    "a function": lambda np, x, y, s: [x, np.sqrt(np.abs(x)), 3 * x],
    "a number": lambda np, x, y, s: [x, x * s],
    "scalars": lambda np, x, y, s: [x[:1] * np.sum(x), x[1:] * np.sum(y)],
    "products": lambda np, x, y, s: [x, x * (x @ y), y],
}
TYPES = [np.int64, np.float32, np.float64, np.complex128]


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("first", TYPES)
@pytest.mark.parametrize("second", TYPES)
def test_arrays_that_are_put_together(name, first, second):
    function = se.lambdify([x, y, s], snp.concatenate(PIECES[name](snp, x, y, s)))
    values = np.array([1, -2, 3], first), np.array([4, 5, -6], second), 0.5
    expected = np.concatenate(PIECES[name](np, *values))
    found = function(*values)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.can_cast(expected.dtype, found.dtype)


def test_the_widest_type_decides():
    source = se.lambdify([x, y], snp.concatenate([x, y, x + y])).source
    assert "result_type" not in source
    assert "np.result_type(x, y)" in se.lambdify([x, y], snp.concatenate([x, y])).source


@pytest.mark.parametrize("first", TYPES)
@pytest.mark.parametrize("second", TYPES)
def test_constants_have_the_type_of_the_arguments_with_fractions(first, second):
    hessian = se.lambdify([x, y], se.hessian(x @ x + x @ y, x))(
        np.ones(2, first), np.ones(2, second)
    )
    np.testing.assert_array_equal(hessian, 2 * np.eye(2))
    assert hessian.dtype == np.result_type(first, second, 0.0)


@pytest.mark.parametrize("backend", LIBRARIES)
def test_integers_don_t_round_floats_added_to_them(backend):
    A, B, C = se.TensorSymbol("A", (4, 2)), se.TensorSymbol("B", (2, 3)), se.TensorSymbol("C", 3)
    halves = snp.concatenate([snp.zeros((3, 3)), C[None, :] / 2])
    exprs = [A @ B + halves, se.gradient((A @ B).max() / 5, B)]
    library = LIBRARIES[backend]()
    values = [np.arange(8).reshape(4, 2), np.array([[0, 1, 1], [0, 1, 1]]), np.array([1, 2, 3])]
    expected = [
        values[0] @ values[1] + np.pad([values[2] / 2], ((3, 0), (0, 0))),
        np.array([[0, 0.6, 0.6], [0, 0.7, 0.7]]),
    ]
    function = se.lambdify([A, B, C], exprs, backend)
    for arguments in [[library.array(value) for value in values], values]:
        if backend == "torch" and arguments is values:
            continue  # its functions take no arrays of NumPy's
        for found, right in zip(function(*arguments), expected, strict=True):
            np.testing.assert_allclose(library.back(found), right, rtol=1e-6)


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "int16", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("backend", LIBRARIES)
def test_narrow_and_unsigned_integers_don_t_wrap_around(backend, kind):
    A = se.TensorSymbol("A", (3, n))
    f = se.log(1 + se.exp(A @ x)).sum() - 400 * (x @ x)
    library = LIBRARIES[backend]()
    values = [np.array([[1, 2], [0, 3], [90, 100]]).astype(kind), np.array([1, 2]).astype(kind)]
    exprs = [f, *se.gradient(f, [A, x])]
    found = se.lambdify([A, x], exprs, backend)(*map(library.array, values))
    expected = se.lambdify([A, x], exprs)(*[value.astype(float) for value in values])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(library.back(one), other, rtol=1e-6)


@pytest.mark.parametrize("backend", LIBRARIES)
def test_integers_have_negative_integer_powers(backend):
    library = LIBRARIES[backend]()
    values = [np.array([1, 2, 4]), np.array([-2, 1, -1]), -1]
    exprs = [(x * x + 1) ** y, x**s, x ** (y - 1), se.gradient((x**y).sum(), x)]
    found = se.lambdify([x, y, s], exprs, backend)(*map(library.into, values))
    expected = se.lambdify([x, y, s], exprs)(*[np.asarray(value, float) for value in values])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(library.back(one), other, rtol=1e-6)
    single = [np.ones(3, np.float32), np.ones(3, np.float32)]
    found = se.lambdify([x, y], x**y, backend)(*map(library.array, single))
    assert library.back(found).dtype == np.float32


NUMBERS = [0.5, 2, np.float64(0.5), np.float32(0.5), 1j, np.longdouble(3)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: type(number).__name__)
@pytest.mark.parametrize("first", TYPES)
@pytest.mark.parametrize("check", [True, False])
def test_types_of_results_are_those_of_numpy(number, first, check):
    """The function for doubles takes nothing else, and other types may follow doubles."""
    A = se.TensorSymbol("A", (n, n))

    def computed(np, A, x, s):
        weights = np.exp(A @ A.T / 9) - 2 * A
        rest = (A @ x) @ x / (2 + s * s)
        return [np.sum(s * weights**2 - 3) + rest, s * weights - 1, np.concatenate([s * x, -x])]

    exprs = [*computed(snp, A, x, s), se.hessian((A @ x) @ x / (2 + s * s), x)]
    function = se.lambdify([A, x, s], exprs, check=check)
    for kind in (np.float64, first):
        values = np.arange(9).reshape(3, 3).astype(kind) - 4, np.array([1, -2, 3], kind), number
        expected = [*computed(np, *values), (values[0] + values[0].T) / (2 + number * number)]
        for found, right in zip(function(*values), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-5)
            assert np.asarray(found).dtype == np.asarray(right).dtype


def test_positions_of_doubles_stay_integers():
    places = snp.argsort(x) + snp.argmax(y, axis=0) - 1
    function = se.lambdify([x, y], [2 * places, 2 * y[snp.argsort(x)]])
    values = np.array([1.0, 3.0, 2.0]), np.array([4.0, 6.0, 5.0])
    doubled, taken = function(*values)
    np.testing.assert_array_equal(doubled, [0, 4, 2])
    assert doubled.dtype == np.int64
    np.testing.assert_array_equal(taken, [8, 10, 12])


def test_arguments_stay_as_they_are():
    f = (se.tanh(x) * 3 - x * y).sum()
    function = se.lambdify([x, y], [f, se.gradient(f, x), se.hessian(f, [x, y])])
    values = np.array([0.5, -0.25]), np.array([2.0, 3.0])
    kept = [value.copy() for value in values]
    first = function(*values)
    np.testing.assert_array_equal(values, kept)
    values[0].flags.writeable = False
    np.testing.assert_equal(function(*values), first)


@pytest.mark.parametrize("backend", ["numpy", "jax", "numba"])
def test_arrays_of_the_other_order_of_bytes(backend):
    pytest.importorskip(backend)
    if backend == "jax":
        LIBRARIES[backend]()  # with 64 bits
    f = se.log(1 + se.exp(x @ y)) + (x**3).sum()
    values = [np.array([0.5, -2.0, 1.0]), np.array([1.5, 0.25, -1.0])]
    swapped = [value.astype(value.dtype.newbyteorder()) for value in values]
    exprs = [f, *se.gradient(f, [x, y])]
    expected = se.lambdify([x, y], exprs)(*values)
    for one, other in zip(se.lambdify([x, y], exprs, backend)(*swapped), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
