"""Tensor symbols: their names, and several symbols at once; constants without entries."""

import numpy as np
import pytest
import sympy
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.expressions import as_operand

n = symbols("n", integer=True, positive=True)


@pytest.mark.parametrize(
    "text", ["x:3", "x(2:4)", "a b:2 c", "a,b", "x1:3(2)", "x:2y:2", "q", "q,"]
)
def test_names_are_read_as_sympy_reads_those_of_symbols(text):
    found, expected = se.tensors(text, n), sympy.symbols(text)
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    found, expected = ([e] if not isinstance(e, tuple) else e for e in (found, expected))
    assert [tensor.name for tensor in found] == [symbol.name for symbol in expected]
    assert all(tensor.shape == (n,) for tensor in found)


@pytest.mark.parametrize("text", ["", " ", ",", "x,,y", "x:", 3, None])
def test_names_that_are_none_are_refused(text):
    with pytest.raises(se.TensorError, match="tensors takes names such as"):
        se.tensors(text, n)


@pytest.mark.parametrize("name", ["", sympy.Symbol("")])
def test_a_tensor_has_a_name(name):
    with pytest.raises(se.TensorError, match="the name of a tensor is empty"):
        se.TensorSymbol(name, n)


@pytest.mark.parametrize("shape", [(0,), (0, 1), (1, 0), (0, 0), (0, 3), (2, 0, 3)], ids=str)
def test_constants_without_entries(shape):
    """Nested lists don't show the axes after one of length 0."""
    empty = se.Constant(np.zeros(shape))
    assert empty.shape == shape
    assert eval(str(empty), dict(vars(se))).shape == shape
    assert se.lambdify([], empty)().shape == shape
    assert se.from_array(sympy.Array([], shape)).shape == shape
    if len(shape) == 2:
        matrix = sympy.Matrix(*shape, [])
        assert se.lambdify([], matrix)().shape == se.from_matrix(matrix).shape == shape
        x = se.TensorSymbol("x", shape[1])
        product = se.lambdify([x], np.zeros(shape) @ x)(np.ones(shape[1]))
        assert product.shape == shape[:1]
        assert not product.any()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.eye(3), se.Delta(3)),
        (np.eye(2, dtype=np.float32), se.Delta(2)),
        (-0.5 * np.eye(3), -0.5 * se.Delta(3)),
        # Integers may be positions, other matrices aren't the identity.
        (np.eye(3, dtype=int), se.Constant(np.eye(3, dtype=int))),
        (np.zeros((2, 2)), se.Constant(np.zeros((2, 2)))),
        (np.nan * np.eye(2), se.Constant(np.nan * np.eye(2))),
        (np.diag([1.0, 2.0]), se.Constant(np.diag([1.0, 2.0]))),
        (np.eye(2, 3), se.Constant(np.eye(2, 3))),
        ([[1.0]], se.Constant([[1.0]])),
    ],
)
def test_arrays_that_are_multiples_of_the_identity(array, expected):
    assert as_operand(array) == expected
