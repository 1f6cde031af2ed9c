"""Lengths and positions as arguments: compared with the arrays, and checked to be valid integers,
on every backend."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import EVERY
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, i = symbols("m n i", integer=True, positive=True)
v, w = se.TensorSymbol("v", n), se.TensorSymbol("w", n + 1)
D, P = se.TensorSymbol("D", 2 * n), se.TensorSymbol("P", n * m)
DATA = {
    v: np.arange(1.0, 5.0),
    w: np.arange(5.0),
    D: np.arange(8.0),
    P: np.arange(12.0),
    n: 4,
    m: 3,
}
# The arguments, and what depends on a length of theirs.
GIVEN = {
    "the mean": ([v, n], v.sum() / n),
    "the length first": ([n, v], v.mean()),
    "the variance": ([v, n], v.var()),
    "the last entry": ([v, n], v[-1]),
    "rolled": ([v, n], snp.roll(v, 1)),
    "windows": ([v, n], se.windows(v, 3).sum(axis=1)),
    "largest in windows": ([v, n], se.windows(v, 3).max(axis=1)),
    "one more": ([w, n], w[:n] / n),
    "twice": ([n, D], D.sum() + n),
    "a product": ([P, m, n], P.sum() / n + m),
    "a product and a factor": ([P, v, m, n], P.sum() / m * v),
    "of the result": ([v, n], se.Ones(n)),
}
WRONG = [3, 5, 0, -1, 10**8, 2.5, True, np.bool_(True), 4j, None, "4", [4], np.nan, np.inf]


def prepared(name, backend):
    args, expr = GIVEN[name]
    library = EVERY[backend]()
    values = [DATA[s] if s in (m, n) else library.into(DATA[s]) for s in args]
    return se.lambdify(args, expr, backend), args, values, library


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("name", GIVEN)
def test_a_length_beside_the_arrays_that_tell_it(name, backend):
    function, args, values, library = prepared(name, backend)
    found = [library.back(function(*values))]
    place = args.index(n)
    for same in (4.0, np.int32(4), np.float64(4.0), np.array(4)):
        found.append(library.back(function(*values[:place], same, *values[place + 1 :])))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    for wrong in WRONG:
        with pytest.raises(se.ShapeError, match=r"argument|length"):
            function(*values[:place], wrong, *values[place + 1 :])


# Expressions of lengths that no array tells, values that fit and others.
SIZES = {
    "ones": ([n], se.Ones(n), [0, 3], [-1, 2.5, True]),
    "a shape that is computed": ([n], se.Ones(n - 2), [2, 3], [1, 0, 3.5]),
    "two lengths": ([n, m], se.Ones(n, m) * n, [(2, 3)], [(-2, 3), (2, -3), (2, 1.5)]),
    "an identity": ([n], se.Delta(n), [1, 4], [-4, "4"]),
}


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("name", SIZES)
def test_lengths_that_no_array_tells(name, backend):
    args, expr, fit, others = SIZES[name]
    library = EVERY[backend]()
    function = se.lambdify(args, expr, backend)
    for values in fit:
        given = values if isinstance(values, tuple) else (values,)
        lengths = dict(zip(args, given, strict=True))
        expected = tuple([int(k.subs(lengths)) for k in getattr(expr, "shape", ())])
        assert np.shape(library.back(function(*given))) == expected
    for values in others:
        with pytest.raises(se.ShapeError):
            function(*(values if isinstance(values, tuple) else (values,)))


POSITIONS = {
    "an entry": (v[i], [(2, 3.0), (-1, 4.0)], [4, -5, 100, True, 1.5]),
    "a slice": (v[i : i + 2].sum(), [(1, 5.0), (2, 7.0)], [3, -1, -5, True, 0.5]),
    "a derivative": (se.gradient(v[i] ** 2, v).sum(), [(2, 6.0), (-1, 8.0)], [4, -5, 1.5]),
}


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("name", POSITIONS)
def test_positions_that_are_given(name, backend):
    """A single position may be negative; none is read outside of the array."""
    expr, right, wrong = POSITIONS[name]
    library = EVERY[backend]()
    function = se.lambdify([v, i], expr, backend)
    for position, expected in right:
        assert library.back(function(library.into(DATA[v]), position)) == expected
    for position in wrong:
        with pytest.raises(se.ShapeError):
            function(library.into(DATA[v]), position)


@pytest.mark.parametrize("backend", ["numpy", "numba", "torch"])
@pytest.mark.parametrize("name", ["windows", "largest in windows"])
def test_without_checks_no_foreign_memory_is_read(name, backend):
    args, expr = GIVEN[name]
    library = EVERY[backend]()
    function = se.lambdify(args, expr, backend, check=False)
    for wrong in (7, 10**5):
        with pytest.raises(se.ShapeError):
            function(library.into(DATA[v]), wrong)


def test_a_given_length_leaves_the_checks_of_positions_on():
    A = se.TensorSymbol("A", n, n)
    for args, values in [([A, n], [np.ones((1, 1)), 1]), ([A], [np.ones((1, 1))])]:
        with pytest.raises(se.ShapeError, match="n - 2"):
            se.lambdify(args, snp.gradient(A, axis=1))(*values)


def test_the_written_function_checks_lengths_too():
    namespace = {}
    exec(se.codegen([v, n], v.sum() / n), namespace)
    assert namespace["function"](DATA[v], 4) == 2.5
    for wrong in (3, 2.5, True):
        with pytest.raises(ValueError, match="argument"):
            namespace["function"](DATA[v], wrong)


def test_a_position_may_be_traced():
    jax = pytest.importorskip("jax")
    function = se.lambdify([v, i], 2 * v[i], "jax")
    values = jax.numpy.asarray(DATA[v])
    assert jax.jit(function)(values, 2) == 6
    found = jax.vmap(function, (None, 0))(values, jax.numpy.arange(4))
    np.testing.assert_array_equal(found, 2 * DATA[v])
