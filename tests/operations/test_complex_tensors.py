"""Pairs of tensors as complex numbers, against NumPy."""

import numpy as np
import pytest
from oracles import assert_close

import sympy_einsum as se
import sympy_einsum.numpy as snp

x, y, u = se.tensors("x y u", 3)
s = se.TensorSymbol("s")
ARRAYS = [np.array(values) for values in ([1.0, -2, 3], [0.5, 4, -1], [2.0, 3, 5])] + [3.0]
NUMBERS = np.array([1 + 2j, 3, -1j])

FUNCTIONS = {
    "sums": lambda np, z, u: (u + z) + z + 2 + (1 - 2j) - s + NUMBERS,
    "differences": lambda np, z, u: (u - z) - (z - 2j) - np.conj(z) - NUMBERS,
    "products": lambda np, z, u: u * z * z * 2 * (1 - 2j) * s * NUMBERS,
    "quotients": lambda np, z, u: u / z + z / u + z / 2 + (1 + 1j) / z + z / NUMBERS,
    "functions": lambda np, z, u: np.multiply(u, np.add(z, np.negative(z) * np.abs(z))),
    "from the left": lambda np, z, u: np.subtract(NUMBERS, np.divide(u, np.positive(z))),
    "parts": lambda np, z, u: np.real(z) * np.conjugate(z) + np.imag(z) * np.angle(z),
    "brackets": lambda np, z, u: z[::-1] * z[1] + z[None, :, None][0, :, 0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("namespace", [np, snp])
def test_values(name, namespace, monkeypatch):
    found = FUNCTIONS[name](namespace, se.ComplexTensor(x, y), u)
    parts = se.lambdify([x, y, u, s], [found.real, found.imag])(*ARRAYS)
    monkeypatch.setitem(globals(), "s", ARRAYS[3])
    expected = FUNCTIONS[name](np, ARRAYS[0] + 1j * ARRAYS[1], ARRAYS[2])
    assert found.shape == expected.shape
    assert_close(parts[0] + 1j * parts[1], expected)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_derivative_of_the_absolute_value():
    """The direction, and 0 at 0, as in JAX; the derivative of the square is simple."""
    size = abs(se.ComplexTensor(x, y)).sum()
    derivatives = se.lambdify([x, y], se.gradient(size, [x, y]))
    found = derivatives(np.array([3.0, 0, 1e200]), np.array([-4.0, 0, 0]))
    np.testing.assert_allclose(found, [[0.6, 0, 1], [-0.8, 0, 0]])
    assert se.gradient((abs(se.ComplexTensor(x, y)) ** 2).sum(), x) == 2 * x


def test_parts_are_real():
    with pytest.raises(se.UnsupportedError, match="expected a real tensor"):
        se.ComplexTensor(1j * x)
    assert se.ComplexTensor(2, x).real == 2 * se.Ones(3)
    with pytest.raises(se.ShapeError):
        se.ComplexTensor(x, se.TensorSymbol("v", 4))


def test_attributes_that_numpy_reads():
    z = se.ComplexTensor(x, y)
    assert np.shape(z) == snp.shape(z) == (3,)
    assert np.ndim(z) == z.order == 1
    assert np.iscomplexobj(z)
    assert not snp.isrealobj(z)


@pytest.mark.parametrize("function", [np.exp, np.sum, np.sort, np.linalg.norm, np.add.reduce])
def test_other_functions_are_refused_by_name(function):
    with pytest.raises(se.UnsupportedError, match=r"apply it to \.real, \.imag or abs of one"):
        function(se.ComplexTensor(x, y))


@pytest.mark.parametrize(
    "use", [snp.exp, se.exp, lambda z: se.diff(z, x), lambda z: se.lambdify([x, y], z)]
)
def test_it_is_no_tensor(use):
    with pytest.raises(se.TensorError, match=r"take \.real, \.imag or abs of it"):
        use(se.ComplexTensor(x, y))


def test_it_has_no_order_and_no_items():
    with pytest.raises(TypeError):
        list(se.ComplexTensor(x, y))
    with pytest.raises(TypeError):
        assert se.ComplexTensor(x, y) > 0
    with pytest.raises(TypeError):
        assert x ** se.ComplexTensor(x, y)
