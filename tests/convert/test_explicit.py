"""Explicit entries of expressions, and SymPy's and NumPy's tensors in arithmetic with ours."""

import numpy as np
import pytest
import sympy
from node_samples import Q, X, x
from oracles import assert_close, evaluate, m, n, random_array
from sympy import Array, Matrix, MatrixSymbol

import sympy_einsum as se


def test_as_explicit():
    assert se.Delta(3).as_explicit() == Array(sympy.eye(3))
    assert se.Zeros(2, 3).as_explicit() == Array.zeros(2, 3)
    assert (5 * se.Ones(2, 3)).as_explicit() == Array([[5] * 3] * 2)
    explicit = Q.as_explicit()
    assert explicit.shape == (2, 3)
    assert explicit[1, 2] == Q[1, 2]
    assert len(set(sympy.flatten(explicit.tolist()))) == 6


def test_as_explicit_of_expressions():
    w = se.TensorSymbol("w", (3,))
    e = se.exp(Q @ w) + se.einsum("ij->i", Q)
    explicit = e.as_explicit()
    assert isinstance(explicit, sympy.NDimArray)
    assert explicit.shape == (2,)
    data = {Q: random_array((2, 3)), w: random_array((3,))}
    entries = [evaluate(entry, data) for entry in explicit]
    assert_close(np.array(entries, float), evaluate(e, data))
    square = se.TensorSymbol("M", (2, 2))
    inverse = square.inv().as_explicit()
    data = {square: random_array((2, 2))}
    values = [evaluate(entry, data) for entry in sympy.flatten(inverse.tolist())]
    assert_close(np.reshape(values, (2, 2)), np.linalg.inv(data[square]))


def test_as_explicit_of_matrix_functions_with_entries_that_are_nodes():
    square = se.TensorSymbol("M", (2, 2))
    derivative = se.diff(se.det(square), square).as_explicit()
    assert derivative == Array([[square[1, 1], -square[1, 0]], [-square[0, 1], square[0, 0]]])
    twice = (square @ square).inv().as_explicit()
    data = {square: random_array((2, 2))}
    values = [evaluate(entry, data) for entry in sympy.flatten(twice.tolist())]
    assert_close(np.reshape(values, (2, 2)), np.linalg.inv(data[square] @ data[square]))


def test_as_explicit_agrees_with_the_derivative_of_entries():
    """The Jacobian's entries are SymPy's derivatives of the entries."""
    w = se.TensorSymbol("w", (3,))
    e = se.sin(w) * w
    jacobian = se.diff(e, w).as_explicit()
    data = {w: random_array((3,))}
    for row in range(3):
        for column in range(3):
            value = evaluate(jacobian[row, column], data)
            z = data[w][row]
            assert_close(value, (np.cos(z) * z + np.sin(z)) * (row == column))


def test_as_explicit_needs_numbers():
    with pytest.raises(se.TensorError):
        x.as_explicit()


@pytest.mark.parametrize(
    "foreign",
    [
        Matrix([[1, 2, 3], [4, 5, 6]]),
        sympy.ImmutableMatrix([[1, 2, 3], [4, 5, 6]]),
        Array([[1, 2, 3], [4, 5, 6]]),
        np.array([[1, 2, 3], [4, 5, 6]]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_foreign_tensors_are_converted_or_refused(foreign):
    """They are never taken for scalars: the shapes fit, so the entries decide."""
    for operation in (lambda a, b: a + b, lambda a, b: b + a, lambda a, b: a - b):
        try:
            result = operation(Q, foreign)
        except (TypeError, ValueError):
            continue
        assert isinstance(result, se.TensorExpr), type(result)
        assert result.shape == (2, 3)
        data = {Q: random_array((2, 3))}
        numbers = np.array([[1.0, 2, 3], [4, 5, 6]])
        assert_close(evaluate(result, data), operation(data[Q], numbers))


def test_foreign_symbols_are_converted_or_refused():
    M = MatrixSymbol("M", n, m)
    for operation in (lambda: X + M, lambda: M + X, lambda: X * M, lambda: se.exp(M) + X):
        try:
            result = operation()
        except (TypeError, ValueError, NotImplementedError):
            continue
        assert tuple(result.shape) == (n, m)
        assert isinstance(result, se.TensorExpr)
