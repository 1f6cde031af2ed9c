"""Helper functions that take, write and rearrange entries."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from runtime_helpers import helper, raw

RANDOM = np.random.default_rng(2)


@pytest.mark.parametrize(
    ("start", "steps", "counts"),
    [(0, (1, 1), (3, 4)), (5, (-1, 1), (2, 1)), (1, (2, 0), (2, 3)), (6, (0, -2), (1, 3)),
     (0, (1, 1), (0, 2)), (3, (1, 1), (1, 1))],
)  # fmt: skip
@pytest.mark.parametrize("axis", [0, 1])
def test_windows(start, steps, counts, axis):
    x = RANDOM.standard_normal((7, 7, 2))
    i, k = np.indices(counts)
    expected = np.take(x, start + steps[0] * i + steps[1] * k, axis)
    names = (
        *("array_helpers.windows", "numpy_arrays.windows", "torch_helpers.windows"),
        "expression_helpers.windows",
    )
    for name in names:
        assert_array_equal(helper(name)(x, axis, start, steps, counts), expected)


def test_windows_that_are_no_copies_stay_on_their_axis():
    windows = raw("numpy_arrays.windows")
    with pytest.raises(IndexError, match="windows from 1 to 7 on an axis of length 7"):
        windows(np.zeros(7), 0, 1, (1, 1), (3, 5))
    with pytest.raises(ValueError, match="read-only"):
        windows(np.zeros(7), 0, 1, (1, 1), (3, 4))[0, 0] = 1


SCATTERED = [
    ((5,), ([4, 0, 4, -1],), (4,)),
    ((3, 2), ([0, 2, 0], [1, 0, 1]), (3,)),
    ((4,), ([[1, 1], [3, 1]],), (2, 2, 3)),
    ((4,), (np.empty(0, int),), (0, 3)),
    ((4,), ([2],), (1,)),
]


@pytest.mark.parametrize(("lengths", "positions", "shape"), SCATTERED)
def test_scatters(lengths, positions, shape):
    """Values at equal positions are added up."""
    values = RANDOM.standard_normal(shape)
    positions = [np.asarray(own) for own in positions]
    expected = np.zeros((*lengths, *shape[positions[0].ndim :]))
    np.add.at(expected, tuple(positions), values)
    names = (
        *("numpy_arrays.scatter", "torch_helpers.scatter", "jax_helpers.scatter"),
        *("cupy_helpers.scatter", "dask_helpers.scatter", "expression_helpers.scatter"),
    )
    for name in names:
        # Dask's positions are NumPy's.
        is_dask = name.startswith("dask")
        own, given = (raw(name), _chunked(values)) if is_dask else (helper(name), values)
        assert_allclose(own(given, lengths, *positions), expected)


@pytest.mark.parametrize("shape", [(1, 2), (3, 5), (70, 80)])
@pytest.mark.parametrize("axis", [0, 1])
def test_halves_that_are_added(shape, axis):
    total, blocks = RANDOM.standard_normal((2, *shape))
    first, second = np.split(blocks, [shape[axis] // 3], axis)
    found = helper("jax_helpers.halves_added")(total, first, second, axis)
    assert_allclose(found, total + blocks)


def test_scatters_into_an_array():
    scatter, total = raw("numpy_arrays.scatter"), np.ones(4)
    assert_array_equal(scatter(np.array([1, 2]), (4,), np.array([3, 3]), to=total), [1, 1, 1, 4])
    complex_values = scatter(np.array([1j]), (4,), np.array([0]), to=np.ones(4))
    assert_array_equal(complex_values, [1 + 1j, 1, 1, 1])
    once = scatter(np.array([1.0, 2.0]), (3,), np.array([2, 0]), once=True)
    assert_array_equal(once, [2, 0, 1])


@pytest.mark.parametrize("length", [1, 3])
def test_one_hot_rows(length):
    positions = np.array([[0, length - 1], [-1, -length]])
    expected = np.eye(length)[positions % length]
    for name in ("array_helpers.one_hot", "numpy_arrays.one_hot", "expression_helpers.one_hot"):
        assert_array_equal(helper(name)(positions, length, float), expected)
    torch = pytest.importorskip("torch")
    found = raw("torch_helpers.one_hot")(torch.from_numpy(positions), length, torch.float64)
    assert_array_equal(found.numpy(), expected)


SIZES = [(5, 2), (4, 4), (1, 1), (2, 5), (3, 1)]


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_correlations(n, m):
    """Of a shorter vector with a longer one nothing is left."""
    x, w = RANDOM.standard_normal(n), RANDOM.standard_normal(m)
    expected = [x[i : i + m] @ w for i in range(n - m + 1)]
    names = "array_helpers.correlate", "torch_helpers.correlate", "numba_arrays.correlate"
    for name in names:
        assert_allclose(helper(name)(x, w), expected, atol=1e-14)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_convolutions(n, m):
    x, w = RANDOM.standard_normal(n), RANDOM.standard_normal(m)
    for name in ("torch_helpers.convolve", "numba_arrays.convolve"):
        assert_allclose(helper(name)(x, w), np.convolve(x, w), atol=1e-14)
    with pytest.raises(ValueError, match="needs entries"):
        raw("numba_arrays.convolve")(x, w[:0])


def test_a_diagonal_is_a_view():
    X = np.zeros((2, 3))
    raw("numpy_arrays.diagonal_in")(X)[:] = [1, 2]
    assert_array_equal(X, [[1, 0, 0], [0, 2, 0]])


@pytest.mark.parametrize("n", [0, 1, 5, 256, 300])
def test_a_matrix_and_its_transpose(n):
    X = RANDOM.standard_normal((n, n))
    assert_array_equal(raw("numpy_arrays.add_transposed")(X), X + X.T)


@pytest.mark.parametrize("shape", [(3, 2), (0, 2), (1, 1), (100, 60), (100, 70), (3000, 7)])
def test_weighted_gram_matrices(shape):
    X, w = RANDOM.standard_normal(shape), RANDOM.random(shape[0])
    for name in ("numpy_arrays.weighted_gram", "expression_helpers.weighted_gram"):
        assert_allclose(raw(name)(X, w), X.T @ np.diag(w) @ X, atol=1e-11)


@pytest.mark.parametrize("count", [1, 10, 1000])
def test_sums_over_blocks_of_rows(count):
    x, y = RANDOM.standard_normal((2, count, 3))
    sizes = []

    def part(x, y):
        sizes.append(len(x))
        return [(x * y).sum(), x.T @ y]

    for width in (1, 2**14):
        sizes.clear()
        total, gram = raw("numpy_arrays.by_rows")(part, width, x, y)
        assert_allclose(total, (x * y).sum())
        assert_allclose(gram, x.T @ y)
        assert sum(sizes) == count
    assert len(sizes) == (125 if count == 1000 else 1)


def _chunked(x):
    da = pytest.importorskip("dask.array")
    return da.from_array(x, chunks=tuple(max(1, -(-n // 2)) for n in x.shape))


def test_dasks_arrays_take_other_shapes():
    x = np.arange(24.0).reshape(4, 6)
    for shape in ((3, 8), (24,), (2, 2, 6), (4, 3, 2)):
        assert_array_equal(helper("dask_helpers.reshaped")(x, shape), x.reshape(shape))


def test_dask_selects_lazily():
    x = np.array([-1.0, 0.0, 2.0, np.nan])
    found = helper("dask_helpers.select")([x > 0, x == 0], [x, 7 + x])
    assert_array_equal(found, [np.nan, 7, 2, np.nan])
    assert_array_equal(helper("dask_helpers.select")([x > 0, True], [x, -x]), [1, 0, 2, np.nan])


def test_dask_takes_entries_lazily():
    x = RANDOM.standard_normal((3, 4, 5))
    rows, columns = np.array([[0, 3], [1, -1]]), np.array([4, 0])
    found = raw("dask_helpers.take")(_chunked(x), 1, rows, columns)
    assert found.shape == (3, 2, 2)
    assert_array_equal(found.compute(), x[:, rows, columns])
    empty = raw("dask_helpers.take")(_chunked(x), 0, rows[:0])
    assert_array_equal(empty.compute(), x[rows[:0]])


def test_dask_applies_functions_to_two_vectors_as_wholes():
    x, w = RANDOM.standard_normal(5), RANDOM.standard_normal(3)
    found = raw("dask_helpers.slid")(np.convolve, _chunked(x), _chunked(w), 7)
    assert found.shape == (7,)
    assert_allclose(found.compute(), np.convolve(x, w))


@pytest.mark.parametrize("subscripts", ["ii->i", "iji->ij", "iji->ji", "iijj->ij", "iii->i"])
def test_dask_takes_diagonals(subscripts):
    x = RANDOM.standard_normal((3,) * subscripts.index("-"))
    found = helper("dask_helpers.diagonal")(subscripts, x)
    assert_array_equal(found, np.einsum(subscripts, x))


@pytest.mark.parametrize("place", [0, 2, -1, -3])
def test_positions_from_the_end(place):
    assert raw("numba_numbers.position")(place, 3) == place % 3


@pytest.mark.parametrize(("place", "length"), [(3, 3), (-4, 3), (0, 0)])
def test_positions_outside_of_an_axis(place, length):
    with pytest.raises(IndexError, match="outside of its axis"):
        raw("numba_numbers.position")(place, length)


def test_torch_selects():
    torch = pytest.importorskip("torch")
    select, x = raw("torch_helpers.select"), torch.tensor([-1.0, 0.0, 2.0])
    found = select([x > 0, x == 0], [x, 7], torch.float32)
    assert_array_equal(found.numpy(), [np.nan, 7, 2])
    assert_array_equal(select([x > 0, True], [1.0, -x], torch.float32).numpy(), [1, 0, 1])


def test_types_of_torch():
    torch = pytest.importorskip("torch")
    integers, singles = torch.tensor([1, 2]), torch.tensor([0.5], dtype=torch.float32)
    doubles = torch.tensor([0.5], dtype=torch.float64)
    promoted, together = raw("torch_helpers.promoted"), raw("torch_helpers.together")
    assert promoted(integers) == torch.int64
    assert promoted(integers, singles, doubles) == torch.float64
    assert [own.dtype for own in together(integers, singles)] == [torch.float32] * 2
    assert [own.dtype for own in together(integers, 2, floating=True)] == [torch.float32] * 2
    assert [own.dtype for own in together(2.5, doubles)] == [torch.float64] * 2
    number = raw("torch_helpers.number")
    assert number(doubles, torch.float32, None) is doubles
    assert number(2, torch.float32, None).dtype == torch.float32
    einsum = raw("torch_helpers.einsum")
    assert einsum("i,i->", integers, doubles.expand(2)).item() == 1.5
