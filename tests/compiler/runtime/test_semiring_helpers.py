"""Helper functions of semirings: those in NumPy's names compute in max-plus."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from runtime_helpers import helper, in_names_of, raw

import sympy_einsum.compiler.runtime.semiring_helpers as semirings
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.semirings.algebras import SEMIRINGS
from sympy_einsum.compiler.semirings.backends import backend_in_semiring

RANDOM = np.random.default_rng(6)
INF = np.inf


def whole(*shape):
    """An array whose sums are exact, with zeros of the semiring in it."""
    x = RANDOM.integers(-9, 9, shape).astype(float)
    x[RANDOM.random(shape) < 0.2] = -INF
    return x


def product(x, y):
    return (x[..., :, :, None] + y[..., None, :, :]).max(-2, initial=-INF)


@pytest.mark.parametrize("name", ["semiring_helpers.plus", "torch_semirings.plus"])
def test_sums_of_two(name):
    x, y = whole(2, 5)
    assert_array_equal(helper(name)(x, y), np.maximum(x, y))
    assert_array_equal(raw("semiring_helpers.times")(x, y), x + y)


@pytest.mark.parametrize(
    "name",
    ["semiring_helpers.total", "torch_semirings.total", "semiring_helpers.total_by_halves"],
)
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 1, 1), (2, 0, 3)])
def test_totals(name, shape):
    x = whole(*shape)
    for axis in (1, (0, 2), (1,), None):
        found = helper(name)(x, axis)
        assert_array_equal(found, x.max(axis, initial=-INF))


def test_the_total_of_a_number():
    assert helper("torch_semirings.total")(np.array(3.0)) == 3


@pytest.mark.parametrize("name", ["semiring_helpers.natural", "torch_semirings.natural"])
def test_sums_of_ones(name):
    assert_array_equal(helper(name)(np.array([0, 1, 5])), [-INF, 0, 0])
    with pytest.raises(ValueError, match="-2 is negative"):
        raw(name)(-2)


def test_sums_of_ones_by_doubling(monkeypatch):
    """In the semiring of numbers they are the numbers."""
    natural = raw("semiring_helpers.natural_by_doubling")
    assert [natural(k) for k in (0, 1, 2)] == [-INF, 0, 0]
    monkeypatch.setattr(semirings, "plus", np.add)
    monkeypatch.setattr(semirings, "times", np.multiply)
    monkeypatch.setattr(semirings, "ZERO", 0)
    monkeypatch.setattr(semirings, "ONE", 1)
    assert [natural(k) for k in range(20)] == [*range(20)]
    counts = np.array([[0, 7], [13, 7]])
    assert_array_equal(natural(counts), counts)
    with pytest.raises(ValueError, match="-1 is negative"):
        natural(-1)
    power = raw("semiring_helpers.power")
    assert [power(3, k) for k in range(1, 8)] == [3**k for k in range(1, 8)]


@pytest.mark.parametrize("name", ["semiring_helpers.entries", "torch_semirings.entries"])
def test_elements(name):
    entries = helper(name)
    assert entries(np.array([1, 2])).dtype == float
    assert entries(np.array([1.5], np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="complex numbers are no elements"):
        entries(np.array([1j]))


@pytest.mark.parametrize("name", ["semiring_helpers.floating", "torch_semirings.floating"])
def test_floating_point_numbers(name):
    assert helper(name)(np.array([True, False])).tolist() == [1, 0]
    assert helper(name)(np.array([1, 2])).dtype == float
    x = np.array([1.5], np.float32)
    assert helper(name)(x).dtype == np.float32


@pytest.mark.parametrize(
    "name", ["semiring_helpers.whole_numbers", "torch_semirings.whole_numbers"]
)
def test_whole_numbers(name):
    assert helper(name)(np.array([1, 2])).tolist() == [1, 2]
    for wrong in (np.array([1.0]), np.array([True])):
        with pytest.raises(ValueError, match="what is counted are integers"):
            helper(name)(wrong)


@pytest.mark.parametrize(
    "name", ["semiring_helpers.log_of_natural", "torch_semirings.log_of_natural"]
)
def test_logarithms_of_counts(name):
    found = helper(name)(np.array([0, 1, 10**15]))
    assert_allclose(found, [-INF, 0, 15 * np.log(10)], rtol=1e-15)


def test_numbers_of_torch():
    torch = pytest.importorskip("torch")
    number, elements = raw("torch_semirings.number"), raw("torch_semirings.elements")
    assert number(2, torch.float32, None).dtype == torch.int64
    assert number(0.5, torch.float32, None).dtype == torch.float32
    assert elements([0.0, 1.0]).dtype == torch.float64
    disjunction = raw("torch_semirings.logical_or")
    assert disjunction(torch.tensor([0, 2]), False).tolist() == [False, True]


def test_products(monkeypatch):
    dot, matrices = raw("semiring_helpers.dot"), raw("semiring_helpers.product")
    for n in (0, 1, 3):
        A, B, x = whole(2, n), whole(n, 4), whole(n)
        assert_array_equal(dot(A, B), product(A, B))
        assert_array_equal(dot(A, x), product(A, x[:, None])[:, 0])
        assert_array_equal(dot(x, B), product(x[None], B)[0])
        assert dot(x, x) == (x + x).max(initial=-INF)
    cases = [((5, 6), (6, 7)), ((9, 2), (2, 3)), ((3, 4, 5), (3, 5, 2)), ((2, 1, 4, 3), (5, 3, 2))]
    for at_once in (2**16, 50, 3, 1):
        monkeypatch.setattr(semirings, "AT_ONCE", at_once)
        for shapes in cases:
            x, y = (whole(*shape) for shape in shapes)
            assert_array_equal(matrices(x, y), product(x, y))


@pytest.mark.parametrize("name", ["jax_semirings.product", "dask_semirings.product"])
@pytest.mark.parametrize("shapes", [((3, 4), (4, 2)), ((1, 1), (1, 1)), ((2, 3, 4), (2, 4, 3))])
def test_products_of_other_libraries(name, shapes):
    x, y = (whole(*shape) for shape in shapes)
    assert_array_equal(helper(name)(x, y), product(x, y))


@pytest.mark.parametrize(
    "name", ["semiring_helpers.product_of_truth_values", "torch_semirings.product_of_truth_values"]
)
def test_products_of_truth_values(name):
    x, y = RANDOM.random((3, 4)) < 0.4, RANDOM.random((4, 2)) < 0.4
    assert_array_equal(helper(name)(x, y), (x[:, :, None] & y).any(1))
    assert helper(name)(x[:, :0], y[:0]).tolist() == [[False, False]] * 3


def test_products_of_numbers():
    x, y = RANDOM.integers(0, 9, (2, 3, 3))
    assert_array_equal(raw("semiring_helpers.product_of_numbers")(x, y), x @ y)


@pytest.mark.parametrize(
    "subscripts", ["ij,jk->ik", "ij,jk->ki", "bij,bjk->bik", "i,j->ji", "ij,ij->", "ab,b->ab"]
)
def test_contractions(subscripts):
    terms, output = subscripts.split("->")
    lengths = dict(zip("abijk", (2, 3, 4, 5, 2), strict=True))
    first, second = terms.split(",")
    x, y = (whole(*[lengths[i] for i in term]) for term in (first, second))
    union = sorted({*first, *second})

    def spread(z, term):
        order = [term.index(i) for i in union if i in term]
        return z.transpose(order).reshape([lengths[i] if i in term else 1 for i in union])

    total = spread(x, first) + spread(y, second)
    inner = tuple(k for k, i in enumerate(union) if i not in output)
    left = [i for i in union if i in output]
    expected = total.max(inner).transpose([left.index(i) for i in output])
    assert_array_equal(raw("semiring_helpers.contraction")(subscripts, x, y), expected)


@pytest.mark.parametrize(("n", "m"), [(6, 2), (3, 3), (1, 1), (2, 4), (8, 5)])
def test_convolutions(n, m):
    x, w = whole(n), whole(m)
    pieces = [(x[i : i + m] + w).max() for i in range(n - m + 1)]
    assert_array_equal(raw("semiring_helpers.correlate")(x, w), pieces)
    expected = [
        max((x[i] + w[j - i] for i in range(n) if 0 <= j - i < m), default=-INF)
        for j in range(n + m - 1)
    ]
    for name in ("semiring_helpers.convolve", "dask_semirings.convolve"):
        assert_array_equal(helper(name)(x, w), expected)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_running_totals(n, backwards):
    x = whole(2, n, 3)
    own = x[:, ::-1] if backwards else x
    expected = np.maximum.accumulate(own, 1)
    expected = expected[:, ::-1] if backwards else expected
    assert_array_equal(raw("semiring_helpers.running_total")(x, 1, backwards), expected)
    for lag, count in ((0, n), (2, 6), (-1, 3)):
        found = raw("semiring_helpers.lagged_total")(x, 1, backwards, lag, count)
        for j in range(count):
            part = x[:, max(j + lag, 0) :] if backwards else x[:, : max(j - lag + 1, 0)]
            assert_array_equal(found[:, j], part.max(1, initial=-INF))


def test_ones_and_zeros():
    torch = pytest.importorskip("torch")
    mask = np.array([True, False])
    assert raw("semiring_helpers.chosen")(mask, float).tolist() == [0, -INF]
    assert raw("torch_semirings.chosen")(torch.tensor(mask), torch.float64).tolist() == [0, -INF]


@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_triangles(offset):
    x = whole(2, 3, 4)
    row, column = np.indices((3, 4))
    triangle = raw("semiring_helpers.triangle")
    above = np.where(column - row >= offset, x, -INF)
    assert_array_equal(triangle(x, True, offset), above)
    assert_array_equal(triangle(x, False, offset), np.where(column - row <= offset, x, -INF))


@pytest.mark.parametrize("name", ["semiring_helpers.scatter", "dask_semirings.scatter"])
def test_scatters(name):
    values = whole(5, 2)
    rows, columns = np.array([0, 2, 0, -1, 2]), np.array([1, 0, 1, 0, 0])
    expected = np.full((3, 2, 2), -INF)
    np.maximum.at(expected, (rows, columns), values)
    da, own = pytest.importorskip("dask.array"), raw(name)
    given = da.from_array(values, chunks=2) if name.startswith("dask") else values
    assert_array_equal(own(given, (3, 2), rows, columns), expected)
    nothing = own(given[:0], (3,), rows[:0])
    assert_array_equal(nothing, np.full((3, 2), -INF))


@pytest.mark.parametrize(
    "name", ["semiring_helpers.rows_at", "torch_semirings.rows_at", "jax_semirings.rows_at"]
)
def test_rows_at_positions(name):
    values, wanted = whole(3, 2), np.array([True, False, True])
    found = helper(name)(values, np.array([1, 1, 3]), wanted, 4)
    expected = np.full((4, 2), -INF)
    expected[[1, 3]] = values[[0, 2]]
    assert_array_equal(found, expected)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("name", SEMIRINGS)
def test_functions_of_other_semirings(name, library):
    """The expressions that stand in place of those for max-plus."""
    pytest.importorskip(BACKENDS[library].imports[0].split()[1])
    own = backend_in_semiring(BACKENDS[library], SEMIRINGS[name])
    add, multiply, zero, one = {
        "max-plus": (np.maximum, np.add, -INF, 0.0),
        "min-plus": (np.minimum, np.add, INF, 0.0),
        "max-times": (np.maximum, np.multiply, 0.0, 1.0),
        "or-and": (np.logical_or, np.logical_and, False, True),
        "log": (np.logaddexp, np.add, -INF, 0.0),
        "count": (np.add, np.multiply, 0, 1),
    }[name]
    convert = {"torch": "torch.tensor", "jax": "jnp.asarray"}.get(library, "np.asarray")
    space, _, function = convert.partition(".")
    into = getattr(in_names_of(own, space), function)
    numbers = [0, 1, 2, 3] if name != "or-and" else [False, True, True, False]
    x = np.array(numbers, type(one)).reshape(2, 2)
    y = x[::-1].copy()
    for operation, expected in (("plus", add(x, y)), ("times", multiply(x, y))):
        assert_allclose(in_names_of(own, operation)(into(x), into(y)), expected)
    total = in_names_of(own, "total")
    assert_allclose(np.asarray(total(into(x), 1)), add(x[:, 0], x[:, 1]))
    assert np.asarray(total(into(x[:, :0]), 1)).tolist() == [zero, zero]
    if library == "torch":
        assert_array_equal(total(into(x[0, 1])).numpy(), x[0, 1])
    natural = np.asarray(in_names_of(own, "natural")(into(np.array([0, 1, 2]))))
    assert_allclose(natural, [zero, one, add(one, one)])
    assert_allclose(np.asarray(in_names_of(own, "entries")(into(x))), x)


def test_empty_products_of_cupy_need_no_kernel():
    """tests/compiler/semirings/test_semirings.py runs the kernel."""
    product = raw("cupy_semirings.product")
    stack = product(np.zeros((4, 1, 0, 3), np.float32), np.zeros((2, 3, 5)))
    assert stack.shape == (4, 2, 0, 5)
    assert stack.dtype == np.float64
