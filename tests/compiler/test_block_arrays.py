"""Matrices in blocks that keep their structure, against dense algebra."""

from __future__ import annotations

import pickle
from random import Random

import numpy as np
import pytest
import scipy.sparse.linalg
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum.compiler import BlockArray, block_arrays, schur_complements
from sympy_einsum.core import sparse

m, n, k, c, p = symbols("m n k c p", integer=True, positive=True)
T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
b, t = se.TensorSymbol("b", m), Symbol("t", real=True)
VARIABLES = [U, V, b, t]
FIT = ((T - U @ V.T - b[:, None]) ** 2).sum() + t**4 * (b @ b) + (U**2).sum() + (V**2).sum() + t**2

C, P, of, by, seen = [
    se.TensorSymbol(*own)
    for own in [("C", c, 3), ("P", p, 3), ("of", m), ("by", m), ("seen", m, 2)]
]
Y = P[of] + C[by]
ADJUSTED = ((Y[:, :2] / Y[:, 2:] - seen) ** 2).sum() + (C**2).sum() + (P**2).sum()
NUMBERS = np.random.default_rng(0)


def compare(found, dense, numbers=NUMBERS):
    """Compare all that a matrix in blocks computes with what a dense one does."""
    assert found.shape == dense.shape
    size = len(dense)
    scale = 1 + np.abs(dense).max(initial=0)
    np.testing.assert_allclose(found.to_dense(), dense, atol=1e-12 * scale)
    np.testing.assert_allclose(found.to_scipy().toarray(), dense, atol=1e-12 * scale)
    np.testing.assert_allclose(found.diagonal(), dense.diagonal(), atol=1e-12 * scale)
    for shape, factor in [((size,), 1), ((size, 4), 1 + 2j)]:
        v = factor * numbers.normal(size=shape)
        np.testing.assert_allclose(found.matvec(v), dense @ v, atol=1e-10 * scale)
        x = found.solve(v)
        assert x.shape == shape
        np.testing.assert_allclose(dense @ x, v, atol=1e-8)
    np.testing.assert_allclose(found.logdet(), np.linalg.slogdet(dense)[1], atol=1e-8)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("lengths", [(4, 5, 3), (5, 3, 1), (1, 1, 1), (1, 4, 2)])
def test_factorizations(lengths, backend):
    pytest.importorskip(backend)
    H = se.pack(VARIABLES).hessian(FIT)
    numbers, (rows, columns, width) = np.random.default_rng(1), lengths
    shapes = [(rows, columns), (rows, width), (columns, width), (rows,), ()]
    values = [numbers.normal(size=shape) for shape in shapes]
    values[0] = values[1] @ values[2].T + values[3][:, None]
    found = se.lambdify([T, *VARIABLES], H, backend, structured=True)(*values)
    assert isinstance(found, BlockArray)
    assert [block.pattern for block in (found.blocks[0][0], found.blocks[1][1])] == ["ab->iaib"] * 2
    assert found.blocks[3][0] is None
    compare(found, se.lambdify([T, *VARIABLES], H)(*values))


def test_groups_of_variables_are_eliminated_together():
    H = se.pack([U, V, b]).hessian(FIT.subs(t, 1))
    rows, columns, width = 30, 6, 2
    values = [NUMBERS.normal(size=own) for own in [(rows, width), (columns, width), (rows,)]]
    residual = values[0] @ values[1].T + values[2][:, None]
    function = se.lambdify([T, U, V, b], H, structured=True)
    found = function(residual, *values)
    compare(found, se.lambdify([T, U, V, b], H)(residual, *values))
    elimination = found._elimination
    assert [group.members for group in elimination.groups] == [[0, 2]]
    assert elimination.complement.shape == (columns * width,) * 2


def bundle(count, cameras, points):
    numbers = np.random.default_rng(count)
    by_own, of_own = numbers.integers(0, cameras, count), numbers.integers(0, points, count)
    P_own = numbers.normal(size=(points, 3)) + np.array([0, 0, 6])
    return [
        numbers.normal(size=(cameras, 3)) / 9,
        P_own,
        of_own,
        by_own,
        numbers.normal(size=(count, 2)),
    ]


@pytest.mark.parametrize("sizes", [(40, 3, 9), (6, 1, 2), (1, 1, 1), (300, 12, 60)])
def test_bundle_adjustment(sizes):
    H = se.pack([C, P]).hessian(ADJUSTED)
    args, values = [C, P, of, by, seen], bundle(*sizes)
    found = se.lambdify(args, H, structured=True)(*values)
    compare(found, se.lambdify(args, H)(*values))
    if sizes[2] > sizes[1]:
        assert [group.members for group in found._elimination.groups] == [[1]]


def test_large_systems_aren_t_dense():
    H = se.pack([C, P]).hessian(ADJUSTED)
    values = bundle(40_000, 40, 8_000)
    found = se.lambdify([C, P, of, by, seen], H, structured=True)(*values)
    v = NUMBERS.normal(size=found.shape[0])
    np.testing.assert_allclose(found.matvec(found.solve(v)), v, atol=1e-6)
    assert found.to_scipy().nnz < 30 * 40_000


def test_a_band_with_a_border():
    x, y = se.TensorSymbol("x", n), se.TensorSymbol("y", 2)
    f = ((x[1:] - x[:-1]) ** 2).sum() + (se.exp(x) * y[0]).sum() + y @ y * 5 + y[1] * x.sum()
    H = se.pack([x, y]).hessian(f + 5 * (x @ x))
    for length in (2, 7, 600):
        values = NUMBERS.normal(size=length), np.array([0.5, 0.3])
        found = se.lambdify([x, y], H, structured=True)(*values)
        compare(found, se.lambdify([x, y], H)(*values))
        # A band is eliminated where it is large.
        members = [group.members for group in found._elimination.groups]
        assert ([0] in members) == (length == 600)


def test_bands_of_a_hessian():
    x = se.TensorSymbol("x", n)
    f = ((x[1:] - x[:-1] ** 2) ** 2).sum() + (x[3:] * x[:-3]).sum() + 9 * (x @ x)
    outputs = [se.gradient(f, x), se.hessian(f, x), se.hessian(x.sum() ** 2, x)]
    function = se.lambdify([x], outputs, structured=True)
    for length in (3, 5, 800):
        derivative, band, dense = function(NUMBERS.normal(size=length) / 9)
        assert isinstance(derivative, np.ndarray)
        assert isinstance(band, BlockArray)
        assert not isinstance(dense, BlockArray)
        compare(band, band.to_dense())
    expected = se.lambdify([x], outputs[1])(np.arange(5.0))
    np.testing.assert_allclose(function(np.arange(5.0))[1].to_dense(), expected)
    X = se.TensorSymbol("X", n, 2)
    rows = ((X[1:] - X[:-1]) ** 2).sum(axis=1)
    H = se.hessian((rows**2).sum() + (X**2).sum(), X)
    values = NUMBERS.normal(size=(5, 2))
    found = se.lambdify([X], H, structured=True)(values)
    compare(found, se.lambdify([X], H)(values).reshape(10, 10))


@pytest.mark.parametrize("diagonals", [(0, 1), (3, 0), (2, 2), (40, 40)])
def test_large_bands(diagonals):
    lower, upper = diagonals
    size = 700
    i, j = np.ogrid[:size, :size]
    dense = NUMBERS.normal(size=(size, size)) * ((i - j <= lower) & (j - i <= upper))
    dense += 5 * max(diagonals) * np.eye(size)
    compare(BlockArray([[scipy.sparse.csr_array(dense)]], [(size,)], [(size,)]), dense)
    dense[:, 5] = 0
    found = BlockArray([[scipy.sparse.csr_array(dense)]], [(size,)], [(size,)])
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        found.solve(np.ones(size))


@pytest.mark.parametrize("seed", range(2))
def test_large_indefinite_matrices(seed):
    numbers = np.random.default_rng(seed)
    size, rank = 600, 60
    rows = scipy.sparse.random_array((rank, size), density=0.03, rng=numbers) * 3
    own = scipy.sparse.diags_array(
        numbers.choice([-1.0, 1.0], size) + numbers.normal(size=size) / 9
    )
    # Systems of equality constraints have zeros on the diagonal; seed 1 isn't symmetric.
    corner = scipy.sparse.eye_array(rank) * seed
    whole = scipy.sparse.block_array([[own, rows.T * (1 - seed)], [rows, corner]], format="csr")
    compare(BlockArray([[whole]], [(size + rank,)], [(size + rank,)]), whole.toarray())


def test_factors_of_symmetric_matrices_have_few_entries():
    size = 700
    ends = np.random.default_rng(0).integers(0, size, (2, 3 * size))
    ends = np.concatenate([ends, ends[::-1]], axis=1)
    graph = scipy.sparse.coo_array((np.ones(6 * size), tuple(ends)), shape=(size, size))
    matrix = (graph + 20 * scipy.sparse.eye_array(size)).tocsc()
    found = schur_complements.factorization_of(matrix).factors
    assert found.nnz < 0.6 * scipy.sparse.linalg.splu(matrix).nnz


LOW_RANK = {
    "log-sum-exp": (lambda x, y: se.logsumexp(x) + x @ x, "i->ii plus rank 1"),
    "norm": (lambda x, y: se.norm(x) + x @ x, "->ii plus rank 1"),
    "several": (lambda x, y: (x**4).sum() + x.sum() ** 2 * (x @ y), "i->ii plus rank 3"),
    "a band": (
        lambda x, y: ((x[1:] - x[:-1]) ** 2).sum() + x @ x + x.sum() ** 2,
        "sparse plus rank 1",
    ),
}


@pytest.mark.parametrize("name", LOW_RANK)
@pytest.mark.parametrize("length", [1, 2, 5, 600])
def test_diagonal_plus_low_rank(name, length):
    x, y = se.tensors("x y", n)
    function, kind = LOW_RANK[name]
    f = function(x, y)
    values = 1 + NUMBERS.random(length), 1 + NUMBERS.random(length)
    found = se.lambdify([x, y], se.hessian(f, x), structured=True)(*values)
    dense = se.lambdify([x, y], se.hessian(f, x))(*values)
    assert kind in repr(found)
    compare(found, dense)
    shift = NUMBERS.random(length)
    np.testing.assert_allclose(found.plus_diagonal(shift).to_dense(), dense + np.diag(shift))


def test_low_rank_in_one_block_of_several():
    X, y = se.TensorSymbol("X", m, 2), se.TensorSymbol("y", n)
    f = se.logsumexp(y) + (se.exp(X).sum() * y.sum()) + 9 * (X**2).sum() + 3 * (y @ y)
    f = f + X.sum() ** 2
    values = NUMBERS.normal(size=(4, 2)) / 9, NUMBERS.normal(size=7) / 9
    H = se.pack([X, y]).hessian(f)
    found = se.lambdify([X, y], H, structured=True)(*values)
    assert repr(found).count("plus rank 1") == 2
    compare(found, se.lambdify([X, y], H)(*values))
    # What isn't known to be of low rank is dense.
    A = se.TensorSymbol("A", n, k)
    H = se.hessian((A.T @ y) @ (A.T @ y) + (y**4).sum(), y)
    found = se.lambdify([A, y], H, structured=True)(np.ones((3, 2)), np.ones(3))
    assert isinstance(found, np.ndarray)


# --- random blocks --------------------------------------------------------------------------------


def random_block(random, numbers, row, column, is_diagonal):
    """Return a block of two variables, and the same as a matrix."""
    if is_diagonal and random.random() < 0.3:
        block, matrix = random_block(random, numbers, row, column, is_diagonal)
        factors = [numbers.normal(size=(*row, *rank)) / 2 for rank in [(), (), (2,), (2,)]]
        for left, right in (factors[:2], factors[2:]):
            parts = [own.reshape(len(matrix), -1 if own.size else 1) for own in (left, right)]
            matrix = matrix + parts[0] @ parts[1].T
        if isinstance(block, tuple):
            return (block[0], *block[1:], *factors), matrix
        return (block, *factors), matrix
    sizes = int(np.prod(row)), int(np.prod(column))
    kind = random.choice(["zero", "dense", "sparse", "compressed"])
    if is_diagonal and random.random() < 0.7:
        kind = random.choice(["compressed", "sparse"])
    if kind == "zero" and not is_diagonal:
        return None, np.zeros(sizes)
    if kind == "compressed" and row and row == column:
        letters = "abc"[: len(row)]
        stack = random.randrange(len(row))
        columns = "".join([i if axis <= stack else i.upper() for axis, i in enumerate(letters)])
        inner = "".join(dict.fromkeys(letters + columns))
        lengths = dict(zip(letters + columns, row + row, strict=True))
        core = numbers.normal(size=[lengths[i] for i in inner])
        if is_diagonal:
            core = core + 8 * np.einsum(f"{inner}->{inner}", _eye(inner, lengths))
        block = block_arrays.CompressedArray(core, f"{inner}->{letters}{columns}", row + row)
        return block, np.asarray(block.to_dense()).reshape(sizes)
    matrix = numbers.normal(size=sizes)
    if kind == "sparse":
        width = row[-1] if row else 1
        if is_diagonal and sizes[0]:
            matrix = matrix * np.kron(np.eye(sizes[0] // width), np.ones((width, width)))
        else:
            matrix = matrix * (numbers.random(sizes) < 0.3)
    if is_diagonal:
        matrix = matrix + 8 * np.eye(sizes[0])
    return scipy.sparse.csr_array(matrix) if kind == "sparse" else matrix, matrix


def _eye(inner, lengths):
    """Return the core of the identity: 1 where the letters of a row and a column are equal."""
    grid = np.ogrid[tuple([slice(lengths[i]) for i in inner])] if inner else ()
    place = dict(zip(inner, grid, strict=True))
    found = np.ones([lengths[i] for i in inner])
    for i in inner:
        if i.isupper():
            found = found * (place[i] == place[i.lower()])
    return found


@pytest.mark.parametrize("seed", range(40))
def test_random_blocks(seed):
    random, numbers = Random(seed), np.random.default_rng(seed)
    shapes = [
        tuple([random.choice([0, 1, 2, 3, 5]) for _ in range(random.randrange(4))])
        for _ in range(random.randrange(1, 5))
    ]
    pairs = [
        [random_block(random, numbers, row, column, i == j) for j, column in enumerate(shapes)]
        for i, row in enumerate(shapes)
    ]
    found = BlockArray([[own for own, _ in line] for line in pairs], shapes, shapes)
    dense = np.block([[own for _, own in line] for line in pairs])
    # Blocks beside the diagonal are small enough for a regular matrix whose blocks are too.
    if np.linalg.cond(dense) > 1e6 if len(dense) else False:
        pytest.skip("ill-conditioned")
    compare(found, dense, numbers)


@pytest.mark.parametrize("seed", range(30))
def test_random_symmetric_blocks(seed):
    random, numbers = Random(seed), np.random.default_rng(seed)
    shapes = [
        random.choice([(), (0, 2), (1, 1), (5, 1), (4, 2), (9, 2), (5, 3), (12, 3)])
        for _ in range(random.randrange(1, 5))
    ]
    factor = random.choice([1, 1, 1 + 0.5j])
    blocks, parts = [[[None] * len(shapes) for _ in shapes] for _ in range(2)]
    for i, row in enumerate(shapes):
        for j, column in enumerate(shapes[i:], i):
            counts = [[own[0] if own else 1, *own[1:], 1][:2] for own in (row, column)]
            own = np.eye(counts[0][0]) if i == j else numbers.random([n for n, _ in counts]) < 0.3
            small = factor * numbers.normal(size=[n for _, n in counts])
            own = np.kron(own, small + small.T + 20 * np.eye(len(small)) if i == j else small)
            is_dense = random.random() < 0.2
            whole = own if is_dense else scipy.sparse.csr_array(own)
            blocks[i][j] = schur_complements.in_blocks(whole, [row], [column]) if i < j else whole
            parts[i][j], parts[j][i] = own, own.T
    compare(BlockArray(blocks, shapes, shapes, is_symmetric=True), np.block(parts), numbers)


def test_symmetric_matrices_are_given_by_their_upper_half():
    upper = NUMBERS.normal(size=(3, 4))
    diagonal = [5 * np.eye(3), block_arrays.CompressedArray(np.arange(1.0, 5), "a->aa", (4, 4))]
    found = BlockArray(
        [[diagonal[0], upper], [None, diagonal[1]]], [(3,), (4,)], [(3,), (4,)], True
    )
    dense = np.block([[diagonal[0], upper], [upper.T, np.diag(np.arange(1.0, 5))]])
    compare(found, dense)


# --- errors and what is missing -------------------------------------------------------------------


def test_singular_blocks():
    zero = block_arrays.CompressedArray(np.array([1.0, 0, 2]), "a->aa", (3, 3))
    for block in (zero, scipy.sparse.csr_array(np.diag([1.0, 0, 2]))):
        found = BlockArray(
            [[block, np.ones((3, 1))], [np.ones((1, 3)), np.ones((1, 1))]], [(3,), ()], [(3,), ()]
        )
        # The whole is regular.
        np.testing.assert_allclose(found.matvec(found.solve(np.ones(4))), 1)
        np.testing.assert_allclose(found.logdet(), np.linalg.slogdet(found.to_dense())[1])
        found = BlockArray(
            [[block, np.eye(3)[:, :1]], [np.eye(3)[:1], np.ones((1, 1))]], [(3,), ()], [(3,), ()]
        )
        with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
            found.solve(np.ones(4))
        assert found.logdet() == -np.inf
    dense = BlockArray([[np.zeros((2, 2))]], [(2,)], [(2,)])
    with pytest.raises(np.linalg.LinAlgError):
        dense.solve(np.ones(2))
    assert dense.logdet() == -np.inf
    ring = scipy.sparse.csr_array(np.roll(np.eye(600), 1, 0) - np.eye(600))
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        BlockArray([[ring]], [(600,)], [(600,)]).solve(np.ones(600))


@pytest.mark.parametrize("small", [1e-17, 1e-14, 1e-12, 1e-9, 1e-6])
def test_nearly_singular_blocks_of_regular_matrices(small):
    """The elimination of a block with such a pivot loses digits: the whole is factored."""
    numbers = np.random.default_rng(0)
    core = np.array([[1.0, 1, 0], [1, 1 + small, 0], [0, 0, 2]])
    beside, corner = numbers.normal(size=(9, 4)), numbers.normal(size=(4, 4))
    dense = np.block([[np.kron(np.eye(3), core), beside], [beside.T, corner]])
    assert np.linalg.cond(dense) < 1e3
    kinds = [
        block_arrays.CompressedArray(core, "ab->iaib", (3, 3, 3, 3)),
        scipy.sparse.csr_array(np.kron(np.eye(3), core)),
    ]
    for block in kinds:
        found = BlockArray([[block, beside], [beside.T, corner]], [(3, 3), (4,)], [(3, 3), (4,)])
        exact = np.linalg.solve(dense, np.ones(13)), np.linalg.slogdet(dense)[1]
        np.testing.assert_allclose(found.solve(np.ones(13)), exact[0], atol=1e-6)
        np.testing.assert_allclose(found.logdet(), exact[1], atol=1e-6)


def test_blocks_of_many_scales():
    scales = 10.0 ** np.arange(-12, 12)
    block = block_arrays.CompressedArray(scales, "a->aa", (24, 24))
    border = np.sqrt(scales)[:, None] / 10
    found = BlockArray([[block, border], [border.T, np.eye(1) * 5]], [(24,), ()], [(24,), ()])
    x = found.solve(np.ones(25))
    np.testing.assert_allclose(found.matvec(x), 1, rtol=1e-6)


def test_what_isn_t_finite_is_no_singular_block():
    found = BlockArray([[scipy.sparse.eye_array(3, format="csr")]], [(3,)], [(3,)])
    assert np.isnan(found.solve([1.0, np.nan, 2.0])).sum() == 1


def test_errors():
    J = se.pack([U, b]).jacobian([U * b[:, None], b])
    values = NUMBERS.normal(size=(3, 2)), NUMBERS.normal(size=3)
    found = se.lambdify([U, b], J, structured=True)(*values)
    dense = se.lambdify([U, b], J)(*values)
    np.testing.assert_allclose(found.to_dense(), dense)
    np.testing.assert_allclose(found.matvec(np.ones(9)), dense.sum(axis=1))
    compare(found, dense)
    with pytest.raises(se.ShapeError, match="vector of 9 entries"):
        found.matvec(np.ones(8))
    with pytest.raises(se.ShapeError, match="solve takes"):
        found.solve(np.ones((3, 3, 2)))
    J = se.pack([U, b]).jacobian(U * b[:, None])
    found = se.lambdify([U, b], J, structured=True)(*values)
    np.testing.assert_allclose(found.to_dense(), dense[:6])
    for call in (found.logdet, found.diagonal, lambda: found.solve(np.ones(6))):
        with pytest.raises(se.UnsupportedError, match="rows and columns"):
            call()
    with pytest.raises(se.UnsupportedError, match="structured blocks"):
        se.lambdify([U, b], J, "jax", structured=True)


def test_without_scipy(monkeypatch):
    for module in (block_arrays, schur_complements):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr("sympy_einsum.core.scipy_parts.find_spec", lambda name: None)
    # Without what was loaded before.
    names = {name: value for name, value in vars(sparse).items() if name.startswith("_")}
    monkeypatch.setattr(sparse, "__dict__", names)
    monkeypatch.setattr("sympy_einsum.compiler.program.find_spec", lambda name: None)
    f = ((T - U @ V.T) ** 2).sum() + (U**2).sum() + (V[1:] * V[:-1]).sum() + 9 * (V**2).sum()
    H = se.pack([U, V]).hessian(f)
    values = [NUMBERS.normal(size=own) for own in [(6, 3), (6, 2), (3, 2)]]
    found = se.lambdify([T, U, V], H, structured=True)(*values)
    dense = se.lambdify([T, U, V], H)(*values)
    np.testing.assert_allclose(dense @ found.solve(np.ones(18)), np.ones(18))
    assert [group.members for group in found._elimination.groups] == [[0]]
    with pytest.raises(se.UnsupportedError, match="needs scipy"):
        found.to_scipy()


def test_slices_are_checked():
    H = se.pack([b, t]).hessian((b[2:5] ** 2).sum() + t * b[0])
    with pytest.raises(se.ShapeError):
        se.lambdify([b, t], H, structured=True)(np.ones(4), 1.0)


def test_functions_are_pickled():
    function = se.lambdify([b, t], se.pack([b, t]).hessian(t * (b @ b)), structured=True)
    again = pickle.loads(pickle.dumps(function))
    np.testing.assert_array_equal(
        again(np.ones(2), 3.0).to_dense(), function(np.ones(2), 3.0).to_dense()
    )
    assert "ii" in repr(again(np.ones(2), 3.0))
