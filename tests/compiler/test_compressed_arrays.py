"""Results returned as a core and its pattern."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from libraries import EVERY, LIBRARIES
from sympy import symbols

import sympy_einsum as se

m, n, k = symbols("m n k", integer=True, positive=True)
T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
LOSS = ((T - U @ V.T) ** 2).sum()
BLOCKS = se.hessian(LOSS, [U, V])
ROWS = se.hessian(se.logsumexp(U, axis=1).sum() + (U**2).sum(), U)
OUTPUTS = [LOSS, BLOCKS, (ROWS, 3 * se.Delta(m, k), se.einsum("i->ii", V[:, 0]))]


def arrays(lengths=(4, 5, 3)):
    rng = np.random.default_rng(0)
    m, n, k = lengths
    return [rng.normal(size=shape) for shape in [(m, n), (m, k), (n, k)]]


@pytest.mark.slow
@pytest.mark.parametrize("backend", [*LIBRARIES, "auto"])
def test_results_are_those_of_dense_arrays(backend):
    library = LIBRARIES["numpy" if backend == "auto" else backend]()
    values = arrays()
    given = [library.array(own) for own in values]
    function = se.lambdify([T, U, V], OUTPUTS, backend, structured=True)
    loss, blocks, others = function(*given)
    dense_loss, dense_blocks, dense_others = se.lambdify([T, U, V], OUTPUTS)(*values)
    np.testing.assert_allclose(library.back(loss), dense_loss)
    for i, j in [(0, 1), (1, 0)]:
        np.testing.assert_allclose(library.back(blocks[i][j]), dense_blocks[i][j])
    assert isinstance(others, tuple)
    pairs = [(blocks[i][i], dense_blocks[i][i]) for i in range(2)]
    patterns = []
    for found, dense in [*pairs, *zip(others, dense_others, strict=True)]:
        patterns.append(found.pattern)
        assert found.shape == dense.shape
        assert found.order == dense.ndim
        np.testing.assert_allclose(library.back(found.to_dense()), dense)
        half = dense.ndim // 2
        v = np.random.default_rng(1).normal(size=dense.shape[half:])
        product = library.back(found.matvec(library.array(v)))
        np.testing.assert_allclose(product, np.tensordot(dense, v, half))
        solution = library.back(found.solve(library.array(v)))
        np.testing.assert_allclose(np.tensordot(dense, solution, half), v, atol=1e-10)
        several = np.random.default_rng(2).normal(size=(*v.shape, 7, 2))
        solutions = library.back(found.solve(library.array(several)))
        np.testing.assert_allclose(np.tensordot(dense, solutions, half), several, atol=1e-10)
        matrix = dense.reshape(v.size, v.size)
        np.testing.assert_allclose(found.to_scipy().toarray(), matrix)
        np.testing.assert_allclose(library.back(found.diagonal()).ravel(), matrix.diagonal())
        logarithm = library.back(found.logdet())
        np.testing.assert_allclose(logarithm, np.linalg.slogdet(matrix)[1], atol=1e-10)
    assert patterns == ["ab->iaib", "ab->iaib", "iab->iaib", "->ijij", "i->ii"]


@pytest.mark.parametrize("backend", LIBRARIES)
def test_kronecker_products_come_as_their_factors(backend):
    library = LIBRARIES[backend]()
    P, Q = se.TensorSymbol("P", m, m), se.TensorSymbol("Q", n, n)
    H = se.einsum("ai,bj,kl->abkijl", P, Q, se.Delta(k))
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(4, 4)), rng.normal(size=(5, 5))]
    given = [library.array(own) for own in values]
    found = se.lambdify([P, Q, k], [H], backend, structured=True)(*given, 3)[0]
    dense = se.lambdify([P, Q, k], H)(*values, 3)
    assert found.pattern == "ac,bd->abicdi"
    assert [tuple(core.shape) for core in found.core] == [(4, 4), (5, 5)]
    np.testing.assert_allclose(library.back(found.to_dense()), dense)
    v = rng.normal(size=(4, 5, 3))
    product = library.back(found.matvec(library.array(v)))
    np.testing.assert_allclose(product, np.tensordot(dense, v, 3))
    solution = library.back(found.solve(library.array(v)))
    np.testing.assert_allclose(np.tensordot(dense, solution, 3), v, atol=1e-10)
    assert "(4, 4) ⊗ (5, 5)" in repr(found)


def test_a_kernel_gives_cores():
    library = EVERY["numba"]()
    values = arrays()
    found = se.lambdify([T, U, V], BLOCKS[0][0], library.name, structured=True)(*values)
    np.testing.assert_allclose(found.to_dense(), se.lambdify([T, U, V], BLOCKS[0][0])(*values))


def test_only_cores_are_computed():
    function = se.lambdify([T, U, V], BLOCKS[0][0], structured=True)
    assert function.source.splitlines()[-2:] == [
        "    t1 = 2 * V.T.dot(V)  # (k, k)",
        "    return compressed(t1, 'ab->iaib', (m, k, m, k))",
    ]
    found = function(*arrays((10**4, 2, 2)))  # dense it would take 3 GB
    assert found.solve(np.ones((10**4, 2))).shape == (10**4, 2)
    assert repr(found) == (
        "CompressedArray('ab->iaib', shape=(10000, 2, 10000, 2), core of shape (2, 2))"
    )


@pytest.mark.parametrize("lengths", [(1, 1, 1), (0, 5, 3), (4, 5, 0), (0, 0, 0)])
def test_short_axes(lengths):
    values = arrays(lengths)
    found = se.lambdify([T, U, V], BLOCKS[0][0], structured=True)(*values)
    np.testing.assert_allclose(found.to_dense(), se.lambdify([T, U, V], BLOCKS[0][0])(*values))
    assert found.matvec(values[1]).shape == found.solve(values[1]).shape == values[1].shape


def test_lists_and_integers():
    found = se.lambdify([U], se.hessian((U**3).sum(), U), structured=True)([[1, 2], [4, 5]])
    np.testing.assert_array_equal(found.matvec([[1, 1], [1, 1]]), [[6, 12], [24, 30]])
    np.testing.assert_allclose(found.solve([[6, 6], [6, 6]]), [[1, 0.5], [0.25, 0.2]])


def test_singular_cores_do_as_in_solve():
    found = se.lambdify([T, U, V], BLOCKS[0][0], structured=True)(*[0 * own for own in arrays()])
    with pytest.raises(np.linalg.LinAlgError):
        found.solve(np.ones((4, 3)))


def test_wrong_operands():
    found = se.lambdify([T, U, V], BLOCKS[0][0], structured=True)(*arrays())
    with pytest.raises(se.ShapeError, match="v has length 5 on axis 0, but axis 2 of H has 4"):
        found.matvec(np.ones((5, 3)))
    with pytest.raises(se.ShapeError, match="b has length 2 on axis 1, but axis 1 of H has 3"):
        found.solve(np.ones((4, 2)))


def test_functions_and_results_pickle():
    function = se.lambdify([T, U, V], BLOCKS, structured=True)
    found = pickle.loads(pickle.dumps(function))(*arrays())[0][0]
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.to_dense(), found.to_dense())


def test_a_length_that_no_argument_determines():
    with pytest.raises(se.TensorError, match="m is neither an argument nor an axis length"):
        se.lambdify([V], se.compress(BLOCKS[0][0]).to_dense(), structured=True)


def test_semirings_have_none():
    with pytest.raises(se.UnsupportedError, match=r"structured=True .*'min-plus'"):
        se.lambdify([U], se.Delta(m), structured=True, semiring="min-plus")


def test_it_is_true_or_false():
    with pytest.raises(se.TensorError, match="structured is True or False"):
        se.lambdify([U], U, structured="yes")
