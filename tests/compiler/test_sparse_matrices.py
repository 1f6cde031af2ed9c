"""Results returned as sparse matrices."""

from __future__ import annotations

import pickle
import tracemalloc
from random import Random

import numpy as np
import pytest
import scipy.sparse
from libraries import LIBRARIES
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, k, c = symbols("m n k c", integer=True, positive=True)
x, w = se.TensorSymbol("x", n), se.TensorSymbol("w", 3)
A, C = se.TensorSymbol("A", n, k), se.TensorSymbol("C", c, 6)
p, q = se.tensors("p q", m)

rng = np.random.default_rng(0)


def compared(args, derivative, *values, sparse=True):
    """Return the sparse matrix after comparing it with the dense result."""
    found = se.lambdify(args, derivative, sparse=sparse)(*values)
    dense = np.asarray(se.lambdify(args, derivative)(*values))
    assert isinstance(found, scipy.sparse.csr_array)
    found.check_format(full_check=True)
    assert found.copy().has_canonical_format
    np.testing.assert_allclose(found.toarray(), dense.reshape(found.shape), rtol=1e-12, atol=1e-12)
    return found


# --- random sums of structured terms --------------------------------------------------------------


def random_term(random, shape):
    """Return an einsum of selectors and dense factors of some shape, and its value; two of its axes
    depend on one index."""
    numbers = np.random.default_rng(random.randrange(10**9))
    lengths = [random.choice([0, 1, 2, 3, 5]) for _ in range(2)] + [random.choice([*shape])]
    labels = [*range(len(lengths))]
    operands, output = [], []

    def add(tensor, value, own):
        operands.append((tensor, value, own))

    shared = random.choice(labels)
    axes = random.sample(range(len(shape)), 2)
    for axis, length in enumerate(shape):
        label = shared if axis in axes else random.choice(labels)
        count = lengths[label]
        if length == count and random.random() < 0.6:
            output.append(label)
            continue
        own = 10 + axis
        output.append(own)
        kind = random.randrange(3)
        if kind == 0 and axis not in axes and length:
            position = random.randrange(length)
            add(se.Delta(length)[position], np.eye(length)[position], [own])
        elif kind == 1 and count <= length:
            step = random.choice([1, 2, -1]) if 2 * count <= length else 1
            start = random.randrange(length - abs(step) * max(count - 1, 0)) if length else 0
            start += -step * (count - 1) if step < 0 and count else 0
            places = start + step * np.arange(count)
            add(se.one_hot(places, length) if count else se.Zeros(0, length), None, [label, own])
            operands[-1] = (operands[-1][0], np.eye(length)[places.astype(int)], [label, own])
        elif length:
            places = numbers.integers(0, length, count)
            add(se.one_hot(places, length), np.eye(length)[places], [label, own])
        else:
            add(se.Zeros(count, 0), np.zeros((count, 0)), [label, own])
    used = [label for label in labels if any(label in own for _, _, own in operands)]
    used = [*dict.fromkeys([*used, *[label for label in output if label < 10]])]
    core = numbers.normal(size=[lengths[label] for label in used])
    add(core, core, used)
    if random.random() < 0.3:
        axis = random.randrange(len(shape))
        factor = numbers.normal(size=shape[axis])
        add(factor, factor, [output[axis]])
    if random.random() < 0.2:
        i, j = axes
        offset = random.choice([-1, 0, 1])
        mask = np.arange(shape[i])[:, None] + offset <= np.arange(shape[j])
        add(se.Triangle(shape[i], shape[j], offset), mask * 1.0, [output[i], output[j]])
    symbolic = [part for tensor, _, own in operands for part in (tensor, own)]
    explicit = [part for _, value, own in operands for part in (value, own)]
    # NumPy writes no axis twice.
    names = [*dict.fromkeys(output)]
    value = np.einsum(*explicit, names)
    for first in range(len(output)):
        for second in range(first + 1, len(output)):
            if output[first] == output[second]:
                return se.einsum(*symbolic, output), _diagonals(value, names, output, shape)
    return se.einsum(*symbolic, output), value


def _diagonals(value, names, output, shape):
    """Return an array with the labels that occur several times on several axes."""
    result = np.zeros(shape)
    for place in np.ndindex(value.shape):
        position = dict(zip(names, place, strict=True))
        result[tuple([position[label] for label in output])] = value[place]
    return result


def check_random_sum(seed, backend="numpy"):
    """Compare a sum with NumPy; tells whether it is sparse."""
    random = Random(seed)
    shape = [random.choice([[3, 4], [5, 2, 3], [4, 2, 5, 3], [3, 3], [2, 4, 2, 4], [1, 6]])][0]
    shape = [length if random.random() < 0.95 else random.choice([0, 1]) for length in shape]
    terms = [random_term(random, shape) for _ in range(random.randrange(1, 5))]
    total = sum([term for term, _ in terms])
    expected = sum([value for _, value in terms])
    columns = random.randrange(1, len(shape)) if len(shape) > 2 else 1
    variable = se.TensorSymbol("v", shape[-columns:])
    other = se.TensorSymbol("t", 2)
    try:
        function = se.lambdify([other], total * other[0], backend, sparse=variable)
    except se.UnsupportedError as error:
        assert "dense term" in str(error)  # noqa: PT017
        return False
    library = LIBRARIES[backend]()
    found = function(library.into(np.array([2.0, 3.0])))
    assert found.shape == (np.prod(shape[:-columns]), np.prod(shape[-columns:]))
    dense = library.back(found.todense())
    np.testing.assert_allclose(dense, 2 * expected.reshape(found.shape), atol=1e-12)
    if backend == "numpy":
        found.check_format(full_check=True)
    return True


@pytest.mark.parametrize("start", range(0, 400, 40))
def test_random_sums(start):
    count = sum([check_random_sum(seed) for seed in range(start, start + 40)])
    assert count >= 30


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "cupy"])
def test_random_sums_in_other_libraries(backend):
    LIBRARIES[backend]()
    assert sum([check_random_sum(seed, backend) for seed in range(1000, 1015)]) >= 10


# --- derivatives ----------------------------------------------------------------------------------

CHAIN = ((x[1:] - x[:-1]) ** 2).sum()
ROSENBROCK = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
FILTERED = (snp.convolve(x, w, "valid") ** 4).sum()


@pytest.mark.parametrize("length", [3, 6])
@pytest.mark.parametrize(("f", "width"), [(CHAIN, 1), (ROSENBROCK, 1), (FILTERED, 2)])
def test_banded_hessians(f, width, length):
    values = rng.normal(size=length), np.array([1.0, -2.0, 0.5])
    H = compared([x, w], se.hessian(f, x), *values, sparse=x)
    assert abs(H - H.T).max() < 1e-12
    rows, columns = H.nonzero()
    assert abs(rows - columns).max() == width
    assert H.nnz == sum(min(length, i + width + 1) - max(0, i - width) for i in range(length))


@pytest.mark.parametrize("length", [1, 2])
def test_short_chains(length):
    assert compared([x], se.hessian(CHAIN, x), np.ones(length)).nnz == (0 if length == 1 else 4)


def test_a_chain_by_hand():
    H = se.lambdify(x, se.hessian(CHAIN, x), sparse=True)(np.ones(4))
    expected = [[2, -2, 0, 0], [-2, 4, -2, 0], [0, -2, 4, -2], [0, 0, -2, 2]]
    np.testing.assert_array_equal(H.toarray(), expected)


def reprojections():
    moved = A[p, :3] - C[q][:, :3]
    return C[q][:, 3:4] * moved[:, :2] / moved[:, 2:3] + C[q][:, 4:]


def observations(count, points=4, cameras=2, dim=3):
    own = np.random.default_rng(1)
    return [
        *(own.normal(size=(points, dim)), own.normal(size=(cameras, 6))),
        *(own.integers(-points, points, count), own.integers(0, cameras, count)),
    ]


@pytest.mark.parametrize("count", [0, 1, 7])
def test_one_block_for_each_observation(count):
    r = reprojections()
    args, values = [A, C, p, q], observations(count)
    by_cameras = compared(args, se.jacobian(r, C), *values)
    by_points = compared(args, se.jacobian(r, A), *values)
    assert by_cameras.shape == (2 * count, 12)
    assert by_points.shape == (2 * count, 12)
    # Each row depends on x or y, on z, and on the focal length and the offset of the image.
    assert np.all(np.diff(by_cameras.indptr) == 4)
    assert np.all(np.diff(by_points.indptr) == 2)


def test_new_positions_and_lengths_are_planned_anew():
    function = se.lambdify([A, C, p, q], se.jacobian(reprojections(), A), sparse=True)
    dense = se.lambdify([A, C, p, q], se.jacobian(reprojections(), A))
    for count in (5, 3, 5):
        for shift in (0, 1, 0):
            P, cameras, points, views = observations(count)
            values = P, cameras, (points + shift) % 4, views
            found = function(*values)
            np.testing.assert_allclose(found.toarray(), dense(*values).reshape(found.shape))


z = se.TensorSymbol("z", 3 * n + 6 * c)


def packed_residuals():
    points, cameras = z[: 3 * n].reshape(n, 3), z[3 * n :].reshape(c, 6)
    moved = points[p] - cameras[q][:, :3]
    return se.concatenate([(cameras[q][:, 3:5] * moved[:, :2]).reshape(2 * m), 0.1 * z])


def test_packed_variables_and_normal_equations():
    r = packed_residuals()
    J = se.jacobian(r, z)
    values = [rng.normal(size=24), np.array([1, 0, 3, 3, 2]), np.array([1, 1, 0, 1, 0])]
    # Four points, two cameras.
    found = compared([z, p, q, n, c], J, *values, 4, 2)
    W = se.TensorSymbol("W", r.shape[0])
    weights = rng.uniform(1, 2, r.shape[0].subs({m: 5, n: 4, c: 2}))
    normal = compared([z, p, q, n, c, W], J.T @ (W[:, None] * J), *values, 4, 2, weights)
    np.testing.assert_allclose(normal.toarray(), (found.T * weights @ found).toarray(), atol=1e-12)
    assert normal.nnz < 0.5 * 24**2


def test_several_variables_and_other_results():
    r = A[p, 0] * x[q] - x[p]
    J = [se.jacobian(r, own) for own in (x, A)]
    outputs = [r, (J[0], J[1]), se.gradient((r**2).sum(), A)]
    function = se.lambdify([x, A, p, q], outputs, sparse=True)
    P, _, points, _ = observations(6)
    values = [rng.normal(size=4), P, points, np.array([0, 3, 3, 1, 2, 0])]
    residual, (by_x, by_A), gradient = function(*values)
    assert isinstance(residual, np.ndarray)
    assert isinstance(gradient, np.ndarray)
    dense = se.lambdify([x, A, p, q], J)(*values)
    np.testing.assert_allclose(by_x.toarray(), dense[0])
    np.testing.assert_allclose(by_A.toarray(), dense[1].reshape(6, 12))
    np.testing.assert_allclose(gradient, (2 * residual @ by_A.toarray()).reshape(4, 3))


P = se.TensorSymbol("P", n, 3)


@pytest.mark.parametrize(
    ("y", "variable"),
    [
        (se.stack([x**2, se.sin(x)], axis=1), x),
        (se.concatenate([se.sin(x), x[1:] * x[:-1]]), x),
        ((se.sin(x) + x**2)[1:-1], x),
        (snp.cross(P, P[::-1]), P),
        (se.softmax(P, axis=1), P),
        (se.norm(P[p] - P[q], axis=1), P),
        (se.cumsum(x**2), x),
        (x[::-1][p] * x[q], x),
        ((P * x[:, None]).reshape(3 * n)[::-1], x),
        ((P * x[:, None]).reshape(3 * n)[::-1], P),
        (se.sin(P.reshape(3 * n)).reshape(3, n) ** 2, P),
        ((P.reshape(3 * n)[:4] ** 2).reshape(2, 2), P),
        ((x[:4] ** 2).reshape(2, 2), x),
    ],
)
def test_rows_with_few_entries(y, variable):
    positions = np.array([0, 3, 1, 1, -1]), np.array([1, 2, 2, 3, 0])
    values = [rng.normal(size=4), rng.normal(size=(4, 3)), *positions]
    found = compared([x, P, p, q], se.jacobian(y, variable), *values, sparse=variable)
    assert found.nnz < np.prod(found.shape)


def test_sums_over_neighbours():
    near = se.TensorSymbol("near", n, k)
    y = se.sin(x[near] - x[:, None]).sum(axis=1)
    values = rng.normal(size=4), np.array([[1, 1, 3], [0, -1, 0], [2, 2, 2], [0, 1, 2]])
    found = compared([x, near], se.jacobian(y, x), *values, sparse=x)
    assert found.nnz == 11
    H = compared([x, near], se.hessian((y**2).sum(), x), *values, sparse=x)
    assert abs(H - H.T).max() < 1e-12


def test_a_matrix_assembled_from_elements():
    corners, local = se.TensorSymbol("corners", m, 8), se.TensorSymbol("local", 8, 8)
    hots = se.one_hot(corners, n)
    K = se.einsum("e,eai,ebj,ab->ij", p, hots, hots, local)
    values = rng.integers(0, 40, (2, 8)), rng.normal(size=(8, 8)), rng.normal(size=2)
    args, rows = [corners, local, p, x], np.ones(40)
    found = compared(args, se.jacobian(K @ x, x), *values, rows, sparse=x)
    assert found.nnz <= 128
    solvable = se.lambdify(args, K + se.Delta(n), structured=True)(*values, rows)
    np.testing.assert_allclose(
        solvable.solve(rows), np.linalg.solve(found.toarray() + np.eye(40), rows)
    )


@pytest.mark.parametrize("part", [slice(1, None), slice(2, -1), slice(None, 1, -1), slice(1, 1)])
def test_columns_that_are_left_out(part):
    y = x[p] * x[q] ** 2
    values = rng.normal(size=5), np.array([0, 3, 1, 1, -1]), np.array([1, 2, 2, 4, 0])
    compared([x, p, q], se.jacobian(y, x)[:, part], *values, sparse=x[part])
    compared([x, p, q], se.hessian(y.sum(), x)[part, part], *values, sparse=x[part])
    compared([x, p, q], se.jacobian(y, x)[1:4, part], *values, sparse=x[part])


@pytest.mark.parametrize("length", [1, 2, 6])
def test_slices_that_overlap(length):
    J = se.jacobian((x[1:] - x[:-1]) ** 2, x)
    found = compared([x], J @ J.T, rng.normal(size=length), sparse=x[1:])
    rows, columns = found.nonzero()
    assert np.all(abs(rows - columns) <= 1)
    # No entry is computed that isn't stored.
    assert found.nnz == max(3 * (length - 1) - 2, 0)


def test_kronecker_products_and_one_hots():
    B = se.TensorSymbol("B", k, k)
    found = compared([B, n], se.einsum("ij,ab->iajb", se.Delta(n), B), rng.normal(size=(3, 3)), 4)
    np.testing.assert_array_equal(found.indices.reshape(12, 3)[4], [3, 4, 5])
    assert compared([x, p], se.one_hot(p, n), np.ones(4), np.array([2, 0, 2])).nnz == 3


def test_zeros_are_stored_nowhere():
    found = se.lambdify([x, A], [se.diff(x**2, x), se.jacobian(x, A)], sparse=A)
    assert found(np.ones(3), np.ones((3, 2)))[1].nnz == 0


# --- results --------------------------------------------------------------------------------------


def test_types_are_those_of_the_arguments():
    f = se.lambdify(x, se.jacobian(x[1:] ** 3 * x[:-1], x), sparse=True)
    assert f(np.ones(3, np.float32)).dtype == np.float32
    assert f(np.ones(3, complex)).dtype == complex
    np.testing.assert_array_equal(f([1, 2, 3]).toarray(), [[8, 12, 0], [0, 27, 54]])


def test_results_share_no_memory():
    f = se.lambdify(x, se.jacobian(x**2, x), sparse=True)
    first, second = f(np.zeros(3)), f(np.ones(3))
    first.eliminate_zeros()
    np.testing.assert_array_equal(f(np.ones(3)).toarray(), 2 * np.eye(3))
    assert second.nnz == 3


def test_no_dense_matrix_is_computed():
    J = [se.jacobian(reprojections(), own) for own in (C, A)]
    f = se.lambdify([A, C, p, q], J, sparse=True)
    values = observations(10**5, 20_000, 200)
    tracemalloc.start()
    try:
        by_cameras, by_points = f(*values)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert by_cameras.nnz == 800_000
    # Dense they have 12 billion entries.
    assert by_points.shape == (200_000, 60_000)
    assert peak < 300e6


def test_functions_pickle():
    f = se.lambdify(x, se.hessian(ROSENBROCK, x), sparse=True)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(np.ones(3)).toarray(), f(np.ones(3)).toarray())


def test_the_source_says_what_stands_where():
    f = se.lambdify([x, p], se.jacobian(x[p] ** 2, x), sparse=True)
    last = f.source.splitlines()[-1].strip()
    assert last.endswith("sparse((m,), (n,), [(t2, n)], [(t1, (m,), lambda i, q: (i, q[i]))])")


def test_names_of_arguments_are_kept_apart():
    i, j = symbols("i j", integer=True, positive=True)
    own, r = se.TensorSymbol("i1_", m), se.TensorSymbol("q", n)
    y = r[own][i:] * r[j]
    compared([r, own, i, j], se.jacobian(y, r), np.ones(4), np.array([1, 0, 3]), 1, 2)
    f = se.lambdify([r, i, m], se.jacobian(r[i:], r), sparse=r)
    assert [f(np.ones(4), start, 1).indices[0] for start in (1, 2, 1)] == [1, 2, 1]


def test_arguments_choose_the_library():
    f = se.lambdify([x, p], se.jacobian(x[p] ** 2, x), "auto", sparse=True)
    assert isinstance(f(np.ones(3), np.array([1, 1])), scipy.sparse.csr_array)
    torch = pytest.importorskip("torch")
    with pytest.raises(se.UnsupportedError, match="'torch' makes no sparse matrices"):
        f(torch.ones(3), torch.tensor([1, 1]))


def test_positions_may_be_traced_by_jax():
    library = LIBRARIES["jax"]()
    f = se.lambdify([x, p], [se.jacobian(x[p] ** 2, x)], "jax", sparse=True)
    values = library.array(np.array([1.0, 2, 3])), library.array(np.array([0, -1]))
    for function in (f, pytest.importorskip("jax").jit(f)):
        (found,) = function(*values)
        np.testing.assert_array_equal(found.todense(), [[2, 0, 0], [0, 0, 6]])


def test_cupy_gets_the_same_text():
    pytest.importorskip("cupyx.scipy.sparse")
    f = se.lambdify([x, p], se.jacobian(x[p] ** 2, x), "cupy", sparse=True)
    assert "sparse((m,), (n,), [(t2, n)], [(t1, (m,), lambda i, q: (i, q[i]))])" in f.source


# --- what is refused ------------------------------------------------------------------------------


def test_positions_outside_of_the_axis():
    f = se.lambdify([x, p], se.jacobian(x[p], x), sparse=True)
    with pytest.raises(se.ShapeError, match=r"position is outside of its axis: .*4 .* length 3"):
        f(np.ones(3), np.array([0, 4]))
    with pytest.raises(se.TensorError, match="positions must be integers"):
        f(np.ones(3), np.array([0.0, 1.0]))


def test_dense_terms_are_named():
    B = se.TensorSymbol("B", n, n)
    H = se.hessian(ROSENBROCK + (x @ B @ x) / 2, x)
    with pytest.raises(se.UnsupportedError, match=r"shape \(n, n\) has the dense term B.*sparse="):
        se.lambdify([x, B], H, sparse=x)
    # Of the shape of an argument, it may be a gradient.
    assert isinstance(se.lambdify([x, B], H, sparse=True)(np.ones(3), np.eye(3)), np.ndarray)


def test_columns_are_those_of_a_variable():
    b, T = se.TensorSymbol("b", k), se.TensorSymbol("T", m, k)
    y = se.einsum("mk,k->mk", T, b)
    J = se.jacobian(y, b)
    assert se.lambdify([T, b], J, sparse=True)(np.ones((2, 3)), np.ones(3)).shape == (6, 3)
    H = se.jacobian(T**2 * b[None, :], T)
    assert se.lambdify([T, b], H, sparse=True)(np.ones((2, 3)), np.ones(3)).shape == (6, 6)
    cube = se.einsum("i->iiii", b)
    with pytest.raises(se.UnsupportedError, match=r"columns is unclear, since no variable has"):
        se.lambdify([b], se.einsum("i,j->ijiij", b, x), sparse=[se.TensorSymbol("y", 7)])
    t = se.TensorSymbol("t", k, k)
    with pytest.raises(se.UnsupportedError, match=r"several variables have .* sparse=x"):
        se.lambdify([t, b], se.jacobian(se.einsum("i,jk->ijk", b, t), t), sparse=True)
    assert se.lambdify([b], cube, sparse=True)(np.ones(3)).shape == (27, 3)
    assert se.lambdify([b], cube, sparse=x)(np.ones(3)).shape == (9, 9)


def test_other_backends_refuse():
    for backend in ("numba", "torch", "dask"):
        with pytest.raises(se.UnsupportedError, match=f"{backend!r} makes no sparse matrices"):
            se.lambdify(x, se.Delta(n), backend, sparse=True)
    with pytest.raises(se.UnsupportedError, match=r"sparse doesn't go with semiring 'min-plus'"):
        se.lambdify(x, se.Delta(n), sparse=True, semiring="min-plus")
    with pytest.raises(se.UnsupportedError, match=r"sparse doesn't go with structured=True"):
        se.lambdify(x, se.Delta(n), sparse=True, structured=True)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr("sympy_einsum.compiler.backends.library.find_spec", lambda name: None)
    with pytest.raises(se.UnsupportedError, match=r"needs .*pip install 'sympy_einsum\["):
        se.lambdify(x, se.hessian(CHAIN, x), sparse=True)


@pytest.mark.parametrize("wrong", ["yes", 1, None, 2.5, [x, 3]])
def test_what_sparse_takes(wrong):
    with pytest.raises(se.TensorError, match="sparse is True, a variable or a list of some"):
        se.lambdify(x, se.hessian(CHAIN, x), sparse=wrong)
