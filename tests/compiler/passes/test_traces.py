"""Traces of inverses: the inverse of a definite matrix isn't multiplied out."""

import numpy as np
import pytest
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
A, K = se.TensorSymbol("A", (n, n)), se.TensorSymbol("K", (n, n), psd=True)
x = se.TensorSymbol("x", n)


def symmetric(size, shift):
    root = np.random.default_rng(size).standard_normal((size, size))
    return root + root.T + shift * np.eye(size)


@pytest.mark.parametrize("size", [0, 1, 5, 70, 150])
@pytest.mark.parametrize("shift", [0, 40])
def test_values(size, shift):
    """Also of matrices declared definite that aren't, in other types and transposed."""
    matrix, vector = symmetric(size, shift), np.arange(size) + 0.5
    function = se.lambdify([K, x], [x @ se.inv(K) @ x, se.inv(K).trace(), se.inv(K.T).trace()])
    assert "trace_of_inverse" in function.source
    inverse = np.linalg.inv(matrix)
    right = [vector @ inverse @ vector, inverse.trace(), inverse.trace()]
    for found, expected in zip(function(matrix, vector), right, strict=True):
        assert_close(found, expected, tolerance=1e-9)
    for given in (matrix.T[::-1][::-1], np.asfortranarray(matrix), matrix.astype("f4")):
        tolerance = 1e-9 if given.dtype == float else 1e-2
        assert_close(function(given, vector)[1], right[1], tolerance=tolerance)


def test_a_matrix_without_marks_of_integers_and_of_complex_numbers():
    function = se.lambdify([A, x], [x @ se.inv(A) @ x, se.inv(A).trace()])
    for matrix in (np.array([[2, 1], [0, 3]]), np.array([[2, 1j], [0, 3j]])):
        assert_close(function(matrix, np.ones(2))[1], np.linalg.inv(matrix).trace())


def test_a_singular_matrix_is_an_error():
    function = se.lambdify([K, x], [x @ se.inv(K) @ x, se.inv(K).trace()])
    with pytest.raises(np.linalg.LinAlgError):
        function(np.zeros((3, 3)), np.ones(3))


@pytest.mark.parametrize(
    "exprs", [[se.inv(K), se.inv(K).trace()], [se.inv(K).diagonal(), se.inv(K).trace()]]
)
def test_an_inverse_that_is_needed_is_computed_once(exprs):
    function = se.lambdify([K], exprs)
    assert "trace_of_inverse" not in function.source
    matrix = symmetric(4, 9)
    assert_close(function(matrix)[1], np.linalg.inv(matrix).trace())
