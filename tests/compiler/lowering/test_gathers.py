"""Products with one-hot factors: entries are gathered and scattered, and no one-hot array is
built."""

import random
import tracemalloc

import numpy as np
import pytest
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, k = symbols("m n k", integer=True, positive=True)
x, y, u = se.TensorSymbol("x", n), se.TensorSymbol("y", m), se.TensorSymbol("u", k)
A, p, q = se.TensorSymbol("A", (m, n)), se.TensorSymbol("p", k), se.TensorSymbol("q", k)
rng = np.random.default_rng(0)
DATA = {
    x: rng.standard_normal(5),
    y: rng.standard_normal(4),
    A: rng.standard_normal((4, 5)),
    p: np.array([0, 2, 2, -1]),
    q: np.array([1, 3, 0, 0]),
    u: rng.standard_normal(4),
}
NAMES = {s.name: s for s in DATA}
CASES = """
x[p][1:]
x[p[1:3]]
x[1:][p[:2]]
np.concatenate([x, y])[p]
np.cumsum(x)[p]
np.cumsum(x[np.argsort(x)])
np.sort(x)[-2:]
x[p][::-1] * u
x[p] * x[q]
(A[p] * u[:, None]).sum(0)
A[:, p].sum(1)
np.cumsum(A, axis=0)[p].sum(0)
A[q][:, p]
A[q, p]
A[1, p]
A[q, 1:3]
x[p][p]
x[q[q]]
np.outer(x[p], x[q])
x[p] @ x[q]
A[q] @ x
A[q].T @ A[q]
np.max(A[:, 1:], axis=0)[1:]
np.sort(A, axis=0)[1]
np.diag(x[p])
np.diag(A[:4, :4])[q]
x[np.argmax(A, axis=1)]
np.stack([x[p], u])
np.where(x[p] > 0, x[p], u)
""".strip().splitlines()


def evaluated(case, namespace, values):
    return eval(case, {"np": namespace, **values})


@pytest.mark.parametrize("case", CASES)
def test_gathers_are_products(case):
    """Values equal NumPy's, gradients and Hessians finite differences, optimised or not."""
    e = evaluated(case, snp, NAMES)
    expected = evaluated(case, np, {s.name: value for s, value in DATA.items()})
    f = (e * e).sum() if e.order else e * e
    variable = next(s for s in (x, A) if s in e.free_symbols)
    gradient, hessian = se.gradient(f, variable), se.hessian(f, variable)
    plain = se.lambdify(list(DATA), [e, f, gradient, hessian], optimize=False)(*DATA.values())
    best = se.lambdify(list(DATA), [e, f, gradient, hessian])(*DATA.values())
    for one, other in zip(plain, best, strict=True):
        assert_close(one, other, 1e-12)
    assert_close(best[0], expected, 1e-12)
    compiled = se.lambdify(list(DATA), [f, gradient])
    base, step = DATA[variable], 1e-6
    for position in np.ndindex(base.shape):
        moved = np.zeros(base.shape)
        moved[position] = step
        ends = [compiled(*{**DATA, variable: base + s * moved}.values()) for s in (1, -1)]
        derivatives = [(b - a) / (2 * step) for a, b in zip(ends[1], ends[0], strict=True)]
        assert abs(best[2][position] - derivatives[0]) < 1e-6
        assert_close(best[3][(..., *position)], derivatives[1], 1e-6)


def test_products_of_ones():
    """[p_i = j] merges with itself, and sums to 1 over j; two index vectors are compared."""
    one_hot = se.one_hot(p, n)
    assert one_hot.sum(axis=1) == se.Ones(k)
    assert one_hot.T @ one_hot == se.diag(one_hot.sum(axis=0))
    assert one_hot * one_hot == one_hot
    ones = np.eye(5)[DATA[p]]
    others = np.eye(5)[DATA[q]]
    products = [one_hot.T @ one_hot, one_hot @ se.one_hot(q, n).T, one_hot.sum(axis=0), one_hot]
    function = se.lambdify([p, q, x], products)
    found = function(DATA[p], DATA[q], DATA[x])
    assert_close(found[0], ones.T @ ones)
    assert_close(found[1], ones @ others.T)
    assert_close(found[2], ones.sum(axis=0))
    assert_close(found[3], ones)


def test_positions_are_integers():
    with pytest.raises(se.UnsupportedError, match="with respect to p: its entries are positions"):
        se.gradient((x[p] ** 2).sum(), p)
    with pytest.raises(se.ShapeError, match=r"axis 0 of shape \(3,\): position 3 is out of range"):
        se.TensorSymbol("z", 3)[[0, 3]]
    with pytest.raises(se.TensorError, match="positions are integers"):
        x[np.array([0.5])]
    with pytest.raises(se.UnsupportedError, match="the number of selected entries"):
        x[x > 0]
    taken = se.lambdify([p, x], x[p])
    with pytest.raises(se.ShapeError, match="a position is outside of its axis"):
        taken([0, 5], np.ones(5))
    with pytest.raises(se.ShapeError, match="a position is outside of its axis"):
        se.lambdify([p, x], se.gradient(x[p].sum() ** 2, x))([0, -6], np.ones(5))
    with pytest.raises(se.TensorError, match="must be integers"):
        taken(np.array([0.0, 1.0]), np.ones(5))
    with pytest.raises(se.TensorError, match="must be integers"):
        se.lambdify([p, x], x[p / 2])([0, 1], np.ones(5))
    with pytest.raises(se.ShapeError, match="a position is outside of its axis"):
        se.lambdify([p, x], x[se.argsort(x)[p]])([0, 5], np.ones(5))


def test_the_gradient_of_an_embedding_is_added_up():
    """No array is larger than the operands: one-hot rows would have 2000 · 3000 entries."""
    E, Y = se.TensorSymbol("E", (m, n)), se.TensorSymbol("Y", (k, n))
    gradient = se.lambdify([p, E, Y], se.gradient(((E[p] - Y) ** 2).sum(), E))
    table, rows = rng.standard_normal((3000, 4)), rng.standard_normal((2000, 4))
    positions = rng.integers(-3000, 3000, 2000)
    expected = np.zeros(table.shape)
    np.add.at(expected, positions, 2 * (table[positions] - rows))
    assert_close(gradient(positions, table, rows), expected, 1e-12)
    tracemalloc.start()
    gradient(positions, table, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * table.nbytes


def test_k_means():
    """The gradient by the centres has no array larger than the distances."""
    X, C = se.TensorSymbol("X", (m, n)), se.TensorSymbol("C", (k, n))
    distances = (X**2).sum(1)[:, None] - 2 * X @ C.T + (C**2).sum(1)[None]
    objective = distances.min(axis=1).sum()
    gradient = se.lambdify([X, C], se.gradient(objective, C))
    points, centres = rng.standard_normal((3000, 5)), rng.standard_normal((7, 5))
    nearest = np.eye(7)[((points[:, None] - centres) ** 2).sum(2).argmin(1)]
    expected = 2 * (nearest.sum(0)[:, None] * centres - nearest.T @ points)
    assert_close(gradient(points, centres), expected, 1e-10)
    tracemalloc.start()
    gradient(points, centres)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * nearest.nbytes
    second = se.lambdify([X, C], se.hessian(objective, C))(points, centres)
    blocks = 2 * nearest.sum(0)
    assert_close(second, np.einsum("i,ik,jl->ijkl", blocks, np.eye(7), np.eye(5)), 1e-12)


def test_max_pooling():
    """By reshaping; its gradient is scattered to the positions of the maxima."""
    image, weights = se.TensorSymbol("I", (6, 8)), se.TensorSymbol("W", (3, 4))
    pooled = image.reshape(3, 2, 4, 2).max(axis=(1, 3))
    values, given = rng.standard_normal((6, 8)), rng.standard_normal((3, 4))
    blocks = values.reshape(3, 2, 4, 2)
    top = blocks.max(axis=(1, 3), keepdims=True)
    expected = ((blocks == top) * given[:, None, :, None]).reshape(6, 8)
    gradient = se.lambdify([image, weights], se.gradient((pooled * weights).sum(), image))
    assert_close(gradient(values, given), expected, 1e-12)
    assert se.hessian((pooled * weights).sum(), image) == se.Zeros(6, 8, 6, 8)


def test_checks_know_positions():
    assert se.check_derivative((x[p] ** 2).sum(), x) < 1e-6
    assert se.equal(x[p] * x[p], x[p] ** 2)
    assert se.equal(x[p], x[q]) is False


@pytest.mark.parametrize(
    "e",
    [x[p], A[p], se.max(A, axis=1), se.sort(A, axis=0), x.min()],
    ids=str,
)
def test_texts_evaluate_back(e):
    names = {**vars(se), **NAMES, "n": n, "m": m, "k": k}
    assert eval(str(e), names) is e
    assert eval(repr(e), names) is e


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_rows_that_are_sorted_alike_are_added_to_one(mode):
    """The positions in each row are distinct, those of all rows aren't."""
    a, w = se.TensorSymbol("a", (3, 4)), se.TensorSymbol("w", (3, 4))
    x = se.TensorSymbol("x", 4)
    f = (w * se.sort(a * x[None, :], axis=1)).sum()
    given = [rng.standard_normal(s) for s in ((3, 4), (3, 4), 4)]
    order = np.argsort(given[0] * given[2], axis=1)
    expected = np.zeros(4)
    for row in range(3):
        expected[order[row]] += given[1][row] * given[0][row, order[row]]
    found = se.lambdify([a, w, x], se.gradient(f, x, mode=mode))(*given)
    assert_close(found, expected)
    total = se.einsum("ijk,ij->k", se.one_hot(se.argsort(a, axis=1), 4), w)
    counts = se.lambdify([a, w], total)(given[0], np.ones((3, 4)))
    np.testing.assert_array_equal(counts, [3, 3, 3, 3])


def _of_one_hots(seed):
    """Return a product of one-hot factors and others, with shared indices of every kind."""
    choice, rng, data, terms = random.Random(seed), np.random.default_rng(seed), {}, []
    hots, others = choice.choice([1, 2, 2, 3]), choice.choice([0, 1, 1, 2])
    for number in range(hots + others):
        order = choice.choice([1, 1, 2])
        symbol = se.TensorSymbol(f"p{number}", (3,) * order)
        is_hot = number < hots
        data[symbol] = rng.integers(-3, 3, symbol.shape) if is_hot else rng.random(symbol.shape)
        terms.append("".join(choice.choice("ijkl") for _ in range(order + is_hot)))
    used = sorted({*"".join(terms)})
    text = (
        f"{','.join(terms)}->{''.join(choice.sample(used, choice.randint(0, min(3, len(used)))))}"
    )
    symbols = [*data]
    operands = [se.one_hot(p, 3) for p in symbols[:hots]] + symbols[hots:]
    arrays = [np.eye(3)[data[p]] for p in symbols[:hots]] + [data[p] for p in symbols[hots:]]
    return se.einsum(text, *operands), data, np.einsum(text, *arrays), text


@pytest.mark.parametrize("seeds", [range(40), range(40, 80), [*range(80, 120), 1527]])
def test_random_products_of_positions(seeds):
    """Also where a diagonal of positions meets other positions, and two are on one axis."""
    for seed in seeds:
        expr, data, expected, text = _of_one_hots(seed)
        found = se.lambdify([*data], expr)(*data.values())
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=text)


def test_rows_and_columns_of_an_assembled_matrix():
    """Positions on axes that others add to are taken afterwards, and added to before."""
    elements, free = se.TensorSymbol("elements", m, 3), se.TensorSymbol("free", k)
    local, weights, f = se.TensorSymbol("local", 3, 3), se.TensorSymbol("weights", m), x[free]
    hots = se.one_hot(elements, n)
    K = se.einsum("e,eai,ebj,ab->ij", weights, hots, hots, local)[free][:, free]
    compliance = f @ se.solve(K, f)
    given = [np.array([[0, 1, 2], [2, 3, -5], [4, 2, 1], [0, 3, 5]]), np.array([5, 1, -2, 0])]
    given += [np.eye(3) + 0.1, np.arange(1.0, 5), np.array([1.0, -2, 0.5, 3, 0, 1])]
    args = [elements, free, local, weights, x]
    function = se.lambdify(args, [K, se.gradient(compliance, weights)])
    assert "np.remainder" not in function.source
    total = np.zeros((6, 6))
    for weight, row in zip(given[3], given[0], strict=True):
        total[np.ix_(row, row)] += weight * given[2]
    part = total[np.ix_(given[1], given[1])]
    found, slopes = function(*given)
    assert_close(found, part)
    moves = np.zeros(6)
    moves[given[1]] = np.linalg.solve(part, given[4][given[1]])
    assert_close(slopes, [-moves[row] @ given[2].T @ moves[row] for row in given[0]])


def test_ties_in_rows_of_a_diagonal_matrix():
    """Zeros beside a diagonal are constant, whichever of them is the median."""
    z = se.TensorSymbol("z", 3)
    rows = snp.median(snp.mean(z) * snp.eye(3), axis=1)
    jacobian = se.jacobian(snp.sort(rows), z)
    np.testing.assert_array_equal(se.lambdify([z], jacobian)([0.3, -0.2, 0.6]), np.zeros((3, 3)))
