"""Batches against one evaluation for each example."""

import numpy as np
import pytest
import sympy
from node_samples import SAMPLES, A, i, numeric, sample
from oracles import LENGTHS, assert_close
from sympy import symbols

import sympy_einsum as se

n, m, b = symbols("n m b", integer=True, positive=True)
GIVEN = {"g": np.sin}
w, x, y = se.TensorSymbol("w", n), se.TensorSymbol("x", n), se.TensorSymbol("y", ())


def examples(data, variables, count, seed=0):
    """Return data of which some differ between examples."""
    rng = np.random.default_rng(seed)
    found = dict(data)
    for s in variables:
        # Matrices stay symmetric, positions integers.
        factors = rng.integers(1, 3, count) if s == i else 1 + rng.random(count) / 4
        factors = factors.reshape(count, *[1] * np.ndim(data[s]))
        found[s] = factors * np.asarray(data[s])
    return found


# Symbols that are lengths, exponents or positions of the examples.
STRUCTURE = {"matrix power": [i]}


@sample
@pytest.mark.parametrize("count", [3, 1, 0])
def test_every_kind_of_node(name, count):
    """All variables differ, then all but one, then one."""
    e = SAMPLES[name]
    data = numeric(e)
    for s in data:
        if getattr(s, "is_symmetric", False):
            data[s] = (data[s] + data[s].T) / 2
    fixed = [s for s in data if s in LENGTHS or s in STRUCTURE.get(name, ())]
    free = [s for s in data if s not in fixed]
    each = se.lambdify([*data], e, functions=GIVEN)
    for variables in {tuple(free), tuple(free[1:]), tuple(free[:1])} - {()}:
        values = examples(data, variables, count)
        stacked = {
            s: se.TensorSymbol(f"{s.name}_all", count, *getattr(s, "shape", ())) for s in variables
        }
        batch = se.batch(e, stacked)
        assert batch.shape == (count, *getattr(e, "shape", ()))
        arguments = [stacked.get(s, s) for s in data]
        actual = se.lambdify(arguments, batch, functions=GIVEN)(*values.values())
        rows = [
            each(*[values[s][k] if s in variables else values[s] for s in data])
            for k in range(count)
        ]
        assert_close(actual, np.reshape(rows, (count, *np.shape(each(*data.values())))))


def test_symbols_of_the_structure_are_refused():
    with pytest.raises(se.UnsupportedError, match="i is an exponent or a bound of MatrixP"):
        se.batch(se.matrix_power(A, i), {i: b})
    with pytest.raises(se.UnsupportedError, match="n is an axis length"):
        se.batch(se.Zeros(n) + x, {n: b})


def test_batches_of_gradients_are_gradients_of_each_example():
    """As JAX's vmap of grad, without a loop or a Jacobian of all examples."""
    jax = pytest.importorskip("jax")
    loss = se.log(1 + se.exp(-y * (w @ x))) + (w @ w) / 2
    each = se.batch(se.gradient(loss, w), {x: b, y: b})
    X, Y = se.TensorSymbol("x", b, n), se.TensorSymbol("y", b)
    assert each.free_symbols >= {X, Y, w}
    normal = np.random.default_rng(0).standard_normal
    data = normal(3), normal((5, 3)), normal(5)

    def by_jax(w, x, y):
        return jax.numpy.log1p(jax.numpy.exp(-y * (w @ x))) + w @ w / 2

    expected = jax.vmap(jax.grad(by_jax), (None, 0, 0))(*data)
    assert_close(se.lambdify([w, X, Y], each)(*data), np.asarray(expected), 1e-5)


def test_outputs_variables_and_names():
    X = se.TensorSymbol("X", b, n)
    (one, [two]) = se.batch((w @ x, [se.sin(x)]), {x: X})
    assert one == X @ w
    assert two == se.sin(X)
    assert se.batch(w, {x: b}) == se.broadcast_to(w, (b, n))
    t = sympy.Symbol("t", positive=True)
    times = se.TensorSymbol("t", 3, positive=True)
    assert se.batch(sympy.exp(t) * x, {t: 3}) == se.exp(times)[:, None] * x[None]
    positive = se.TensorSymbol("p", n, positive=True)
    rows = se.TensorSymbol("p", b, n, positive=True)
    assert se.batch(se.log(positive), {positive: b}) == se.log(rows)


def test_bad_variables():
    with pytest.raises(se.ShapeError, match=r"y has m examples and x b"):
        se.batch(y * x, {x: b, y: m})
    with pytest.raises(se.ShapeError, match=r"x, of shape \(n,\), has the shape \(b, n\)"):
        se.batch(x, {x: w})
    with pytest.raises(se.TensorError, match=r"symbols, not sin\(x\)"):
        se.batch(se.sin(x), {se.sin(x): b})
    with pytest.raises(se.TensorError, match="a batch needs a variable"):
        se.batch(x, {})


def test_batches_in_batches():
    """Pairs of examples: the outer batch comes first."""
    z = se.TensorSymbol("z", n)
    kernel = se.exp(-((x - z) ** 2).sum())
    gram = se.batch(se.batch(kernel, {z: m}), {x: b})
    assert gram.shape == (b, m)
    normal = np.random.default_rng(1).standard_normal
    X, Z = normal((4, 3)), normal((5, 3))
    f = se.lambdify([se.TensorSymbol("x", b, n), se.TensorSymbol("z", m, n)], gram)
    assert_close(f(X, Z), np.exp(-((X[:, None] - Z) ** 2).sum(axis=2)))


def test_loops_of_which_a_part_is_batched():
    """A carry that no example changes stays one carry."""
    steps = se.TensorSymbol("steps", m)

    def step(carry, h):
        clock, position = carry
        return (clock + h, position + h * se.sin(clock) * position), (clock, position)

    (time, last), (times, path) = se.scan(step, (sympy.Integer(0), x), steps)
    both = se.batch([last, path, time, times], {x: b})
    assert [e.shape for e in both] == [(b, n), (b, m, n), (b,), (b, m)]
    assert [len(e.loop.carries[0].symbol.shape) for e in both[:1]] == [0]
    normal = np.random.default_rng(2).standard_normal
    X, h = normal((5, 3)), normal(4)
    found = se.lambdify([se.TensorSymbol("x", b, n), steps], both)(X, h)
    each = se.lambdify([x, steps], [last, path, time, times])
    for k, row in enumerate(X):
        for one, other in zip(found, each(row, h), strict=True):
            assert_close(one[k], other)


def test_arrays_as_examples():
    data = np.array([[1.0, 2], [3, 4], [5, 6]])
    pair = se.TensorSymbol("pair", 2)
    assert_close(se.evaluate(se.batch(pair @ pair, {pair: data})), [5, 25, 61])
