"""Variables of any shapes as one vector, and derivatives by it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from libraries import LIBRARIES
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core import postorder

m, n, k = symbols("m n k", integer=True, positive=True)
T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
b, t = se.TensorSymbol("b", m), sp.Symbol("t", real=True)
VARIABLES = [U, V, b, t]
FIT = ((T - U @ V.T - t * b[:, None]) ** 2).sum()
FUNCTIONS = {
    "fit": FIT,
    "parts apart": se.exp(U).sum() + (V**3).sum() + b @ b + t**4,
    "sums of entries": (U.sum() * b.sum() + V.sum() ** 2 * t) ** 2,
    "differences": ((b[1:] - b[:-1] ** 2) ** 2).sum() + (U[1:] * U[:-1]).sum() * t + V.sum(),
    "products of some": se.sin(U * b[:, None]).sum() + se.logsumexp(V @ U[0]) + t * b[0] + t,
    "affine": U.sum() + V.sum() + b.sum() + t,
}


def arrays(lengths):
    rng = np.random.default_rng(sum(lengths))
    m, n, k = lengths
    shapes = [(m, n), (m, k), (n, k), (m,), ()]
    return [rng.normal(size=shape) for shape in shapes]


def by_hand(blocks, row_sizes, column_sizes):
    """Put the dense blocks of a matrix together."""
    rows = [
        [np.reshape(own, (i, j)) for own, j in zip(row, column_sizes, strict=True)]
        for row, i in zip(blocks, row_sizes, strict=True)
    ]
    return np.block(rows)


def test_hessians_by_the_vector_have_no_axis_of_its_entries_beside_those_of_data():
    net = ((se.tanh(se.tanh(T @ V + t * U) @ V.T) - T) ** 2).sum() + se.exp(b).sum()
    packed = se.pack(VARIABLES)
    H = se.hessian(packed.substitute(net), packed.vector)
    shapes = [node.shape for node in postorder([H]) if isinstance(node, se.TensorExpr)]
    assert max(len(own) for own in shapes if packed.vector.shape[0] in own) == 2
    values = arrays((4, 5, 3))
    z = packed.pack(dict(zip(VARIABLES, values[1:], strict=True)))
    found = se.lambdify([T, packed.vector, k], H)(values[0], z, 3)
    expected = se.lambdify([T, *VARIABLES], packed.hessian(net))(*values)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lengths", [(4, 5, 3), (2, 3, 1), (1, 1, 1), (2, 1, 6)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_by_blocks_and_by_the_vector(name, lengths):
    f, values = FUNCTIONS[name], arrays(lengths)
    args = [T, *VARIABLES]
    packed = se.pack(VARIABLES)
    sizes = [np.size(own) for own in values[1:]]
    derivative, matrix = packed.gradient(f), packed.hessian(f)
    found = se.lambdify(args, [derivative, matrix])(*values)
    blocks = se.lambdify(args, se.hessian(f, VARIABLES))(*values)
    derivatives = se.lambdify(args, se.gradient(f, VARIABLES))(*values)
    expected = by_hand(blocks, sizes, sizes)
    np.testing.assert_allclose(found[0], np.concatenate([np.ravel(own) for own in derivatives]))
    np.testing.assert_allclose(found[1], expected, atol=1e-12)
    np.testing.assert_allclose(found[1], found[1].T, rtol=1e-12, atol=1e-12)
    dense, sparse = [
        se.lambdify(args, e, sparse=kind)(*values)
        for e, kind in ((matrix.to_dense(), False), (matrix, True))
    ]
    np.testing.assert_allclose(dense, expected, atol=1e-12)
    np.testing.assert_allclose(sparse.toarray(), expected, atol=1e-12)
    # The same function of the vector, by finite differences.
    z = packed.pack(dict(zip(VARIABLES, values[1:], strict=True)))
    known = {m: lengths[0], n: lengths[1], k: lengths[2]}
    outputs = [packed.substitute(own) for own in (derivative, matrix)]
    outputs.append(se.hessian(packed.substitute(f), packed.vector))
    by_vector = se.lambdify([T, packed.vector, n, k], outputs)
    step = 1e-6
    columns = [
        by_vector(values[0], z + step * own, *lengths[1:])[0]
        - by_vector(values[0], z - step * own, *lengths[1:])[0]
        for own in np.eye(len(z))
    ]
    scale = 1 + np.abs(expected).max()
    np.testing.assert_allclose(np.array(columns).T / (2 * step), expected, atol=1e-6 * scale)
    for own in by_vector(values[0], z, *lengths[1:])[1:]:
        np.testing.assert_allclose(own, expected, atol=1e-12)
    back = packed.unpack(z, known)
    for x, own in zip(VARIABLES, values[1:], strict=True):
        np.testing.assert_array_equal(back[x], own)


@pytest.mark.parametrize("lengths", [(4, 5, 3), (1, 2, 1)])
def test_jacobians_of_several(lengths):
    values = arrays(lengths)
    residuals = [U @ V.T - T, b * t, t * b.sum(), V[:, 0]]
    args = [T, *VARIABLES]
    J = se.pack(VARIABLES).jacobian(residuals)
    blocks = se.lambdify(args, se.jacobian(residuals, VARIABLES))(*values)
    heights = [lengths[0] * lengths[1], lengths[0], 1, lengths[1]]
    expected = by_hand(blocks, heights, [np.size(own) for own in values[1:]])
    np.testing.assert_allclose(se.lambdify(args, J)(*values), expected)
    np.testing.assert_allclose(se.lambdify(args, J.to_dense())(*values), expected)
    sparse = se.lambdify(args, J, sparse=True)(*values)
    np.testing.assert_allclose(sparse.toarray(), expected)
    J = se.pack(VARIABLES).jacobian(residuals[1])
    np.testing.assert_allclose(
        se.lambdify(args, J)(*values), expected[heights[0] :][: len(values[3])]
    )


def test_variables_without_entries():
    packed = se.pack([U, b])
    H = packed.hessian(((U * b[:, None]) ** 2).sum() + b @ b)
    for lengths, size in {(0, 3): 0, (3, 0): 3}.items():
        found = se.lambdify([U, b], H)(np.ones(lengths), np.ones(lengths[0]))
        np.testing.assert_array_equal(found, 2 * np.eye(size))
    assert packed.pack({U: np.zeros((0, 3)), b: []}).shape == (0,)
    assert packed.unpack([], {m: 0, k: 3})[U].shape == (0, 3)


def test_only_what_isn_t_zero_is_computed_and_blocks_above_the_diagonal_once():
    p, q = se.tensors("p q", n)
    source = se.lambdify([p, q], se.pack([p, q]).hessian((se.exp(p) * se.sin(q)).sum())).source
    own = source[source.index("def function") :]
    assert own.count("np.exp(") == own.count("np.cos(") == 1
    assert "zeros" not in own
    assert "einsum" not in own


def test_types_are_those_of_the_arguments():
    p, q = se.tensors("p q", n)
    H = se.pack([p, q]).hessian((p**2 * q).sum() + q @ q)
    function = se.lambdify([p, q], H)
    assert function(np.ones(3, np.float32), np.ones(3, np.float32)).dtype == np.float32
    found = function([1, 2], [3, 4])
    np.testing.assert_array_equal(found, [[6, 0, 2, 0], [0, 8, 0, 4], [2, 0, 2, 0], [0, 4, 0, 2]])


@pytest.mark.parametrize("backend", [*LIBRARIES, "auto"])
def test_matrices_by_every_backend(backend):
    library = LIBRARIES["numpy" if backend == "auto" else backend]()
    values = arrays((4, 2, 3))
    H = se.pack(VARIABLES).hessian(FIT)
    found = se.lambdify([T, *VARIABLES], H, backend)(*[library.array(own) for own in values])
    expected = se.lambdify([T, *VARIABLES], H.to_dense())(*values)
    np.testing.assert_allclose(library.back(found), expected, atol=1e-12)


def test_matrices_in_generated_modules():
    H = se.pack([U, b]).hessian(se.exp(U * b[:, None]).sum())
    space: dict[str, object] = {}
    exec(se.codegen([U, b], H), space)
    _, u, _, own, _ = arrays((4, 5, 3))
    np.testing.assert_allclose(space["function"](u, own), se.lambdify([U, b], H)(u, own))


def test_slices_are_checked():
    f = (b[2:5] ** 2).sum() + t * b[0]
    function = se.lambdify([b, t], se.pack([b, t]).hessian(f))
    np.testing.assert_array_equal(function(np.ones(6), 1.0)[2:5, 2:5], 2 * np.eye(3))
    with pytest.raises(se.ShapeError):
        function(np.ones(4), 1.0)


def test_names_of_the_vector():
    z = se.TensorSymbol("z", n)
    assert str(se.pack([U, b]).vector) == "z"
    assert str(se.pack([z, b]).vector) == "z_1"
    assert str(se.pack(b, "w").vector) == "w"
    with pytest.raises(se.TensorError, match="same name, z"):
        se.pack([z, b], "z")


def test_errors():
    packed = se.pack([U, b])
    with pytest.raises(se.ShapeError, match="length k"):
        packed.unpack(np.zeros(4), {m: 2})
    with pytest.raises(se.ShapeError, match="6 entries together"):
        packed.unpack(np.zeros(4), {m: 2, k: 2})
    with pytest.raises(se.ShapeError, match="axis 0 of b has length 2"):
        packed.pack({U: np.zeros((2, 3)), b: np.zeros(3)})
    with pytest.raises(se.TensorError, match="no value is given for the variable b"):
        packed.pack({U: np.zeros((2, 3))})
    with pytest.raises(se.TensorError, match="no variables"):
        se.pack([])
    with pytest.raises(se.UnsupportedError, match="symmetric"):
        se.pack([se.TensorSymbol("S", n, n, symmetric=True)])
    with pytest.raises(se.ShapeError, match="scalar"):
        packed.hessian(U)
    with pytest.raises(se.TensorError, match="nothing to differentiate"):
        packed.jacobian([])
    assert "as z, of shape (k*m + m,)" in repr(packed)
    assert "shape=(k*m + m, k*m + m)" in repr(packed.hessian(U.sum() * b.sum()))
