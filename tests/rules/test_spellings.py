"""Names, forms of arguments and options of NumPy and SymPy."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
import sympy as sp
from sympy import Integer, Symbol, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n = symbols("m n", integer=True, positive=True)
t = symbols("t")
A, B = se.tensors("A B", m, n)
X, Y = se.tensors("X Y", n, n)
x, y, v = se.tensors("x y v", n)
NUMBERS = np.random.default_rng(8)


# --- names ----------------------------------------------------------------------------------------

SHORT = {
    "sum": lambda np_, a: np_.sum(a, axis=0),
    "mean": lambda np_, a: np_.mean(a, axis=1),
    "var": lambda np_, a: np_.var(a, axis=1),
    "std": lambda np_, a: np_.std(a),
    "transpose": lambda np_, a: np_.transpose(a),
    "reshape": lambda np_, a: np_.reshape(a, (2, -1)),
    "ravel": lambda np_, a: np_.ravel(a),
    "squeeze": lambda np_, a: np_.squeeze(np_.expand_dims(a, 0)),
    "swapaxes": lambda np_, a: np_.swapaxes(a, 0, 1),
    "moveaxis": lambda np_, a: np_.moveaxis(a, 0, 1),
    "prod": lambda np_, a: np_.prod(a, axis=0),
    "dot": lambda np_, a: np_.dot(a, np_.transpose(a)),
    "matmul": lambda np_, a: np_.matmul(a, np_.transpose(a)),
    "inner": lambda np_, a: np_.inner(a, a),
    "outer": lambda np_, a: np_.outer(a, a),
    "tensordot": lambda np_, a: np_.tensordot(a, a),
    "diagonal": lambda np_, a: np_.diagonal(np_.dot(a, np_.transpose(a))),
    "eye": lambda np_, a: np_.dot(np_.eye(2), a),
}


@pytest.mark.parametrize("name", SHORT)
def test_numpys_names_are_at_hand(name):
    function = SHORT[name]
    C = se.TensorSymbol("C", 2, 3)
    data = NUMBERS.standard_normal((2, 3))
    np.testing.assert_allclose(
        se.lambdify([C], function(se, C))(data), function(np, data), rtol=1e-12
    )


def test_public_names_are_no_modules():
    """``se.reshape(…)`` must not raise "'module' object is not callable"."""
    modules = {name for name in dir(se) if inspect.ismodule(getattr(se, name))}
    functions = {name for name, value in vars(snp).items() if inspect.isfunction(value)}
    assert not modules & functions
    assert modules == {"numpy"}
    assert not {"cost", "reshape", "softmax", "sum", "simplify"} & modules


def test_a_star_import_leaves_python_and_numpy_alone():
    namespace: dict = {}
    exec("from sympy_einsum import *", namespace)
    assert not set(namespace) & {"numpy", "sum", "abs", "max", "min", "round", "all", "any", "pow"}
    assert namespace["mean"] is se.mean


def test_lengths_one_by_one_or_as_a_tuple():
    assert se.TensorSymbol("A", m, n) is se.TensorSymbol("A", (m, n)) is A
    assert se.TensorSymbol("A", [m, n]) is se.TensorSymbol("A", shape=(m, n)) is A
    assert se.TensorSymbol("x", n) is se.TensorSymbol("x", shape=n) is x
    assert se.TensorSymbol("c").order == se.TensorSymbol("c", ()).order == 0
    assert se.TensorSymbol("S", n, n, symmetric=True).data[2] == ("symmetric",)
    assert pickle.loads(pickle.dumps(A)) is A
    for lengths in [((m, n), n), ("m",), (None,), (m, -1), (1.5,)]:
        with pytest.raises(se.TensorError):
            se.TensorSymbol("A", *lengths)


def test_softmax_of_a_matrix_needs_an_axis():
    for function in (se.softmax, se.logsumexp):
        with pytest.raises(se.TensorError, match=rf"{function.__name__}.*axis=-1.*axis=None"):
            function(A)
        assert function(x) is function(x, axis=0) is function(x, axis=None)
        assert function(A, axis=-1) is function(A, axis=1)
        assert function(A, axis=None) is function(A, axis=(0, 1)) is not function(A, axis=1)
    data = NUMBERS.standard_normal((2, 3))
    found = se.lambdify([A], se.softmax(A, axis=None))(data)
    np.testing.assert_allclose(found, np.exp(data) / np.exp(data).sum(), rtol=1e-14)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_softmax_prints_its_axis(axis):
    names = {name: getattr(se, name) for name in ("softmax", "logsumexp")}
    for function in (se.softmax, se.logsumexp):
        e = function(A, axis=axis)
        assert eval(str(e), {**names, "A": A}) is e


# --- forms of arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (X, [np.int64(0), 1], x, [np.int32(1)], [np.int64(0)]),
        (X, range(2), x, range(1, 2), range(1)),
        (X, np.array([0, 1]), x, np.array([1]), np.array([0])),
        (X, (Integer(5), Integer(7)), x, (Integer(7),), [5]),
        (X, [..., 0], x, [0], [...]),
    ],
)
def test_labels_are_integers_of_any_kind(arguments):
    assert se.einsum(*arguments) is X @ x


def test_an_empty_list_of_labels():
    assert se.einsum(x, [0], y, [0], range(0)) is x @ y
    assert se.einsum(x, [0], y, [0], np.array([], int)) is x @ y


@pytest.mark.parametrize("labels", ["ij", [0.5, 1], [True, None], [Symbol("i"), 1], None, 3, X])
def test_invalid_lists_of_labels(labels):
    with pytest.raises(se.TensorError, match="einsum takes an index string first"):
        se.einsum(X, labels, x, [1], [0])


@pytest.mark.parametrize(
    "index",
    [True, np.True_],
    ids=repr,
)
def test_invalid_indices_are_refused_by_name(index):
    with pytest.raises(se.TensorError, match="indexed by integers, integer symbols, slices"):
        x[index]


@pytest.mark.parametrize(
    ("step", "words"),
    [(0, "not 0"), ("a", "the step of a slice"), (t, "is an integer"), (1.5, "is an integer")],
)
def test_steps_of_slices(step, words):
    with pytest.raises(se.TensorError, match=words):
        x[::step]


def test_integers_of_other_kinds_index():
    three = se.TensorSymbol("w", 3)
    assert three[np.int64(1)] is three[Integer(1)] is three[np.array(1)] is three[1]


def test_powers_of_matrices():
    p = Symbol("p")
    for exponent, words in [
        (p, "integer exponent, not p"),
        (2.5, "not 2.5; a root of a symmetric matrix is"),
        ("2", "'2'"),
    ]:
        with pytest.raises(se.TensorError, match=words):
            se.matrix_power(X, exponent)
    with pytest.raises(se.TensorError, match="None"):
        snp.linalg.matrix_power(X, None)
    assert se.matrix_power(X, np.int64(2)) is se.matrix_power(X, Integer(2)) is X @ X


def test_optimizers():
    for name in ("nope", "gredy"):
        with pytest.raises(se.UnsupportedError, match=f"no optimizer '{name}'; there are auto"):
            se.lambdify([X, x], X @ x, optimize=name)
    with pytest.raises(se.TensorError, match="optimize is"):
        se.lambdify([X, x], X @ x, optimize=3)
    data = NUMBERS.standard_normal((2, 3)), NUMBERS.standard_normal((3, 3)), np.ones(3)
    for optimize in (None, True, False, "dp"):
        found = se.lambdify([A, X, x], A @ X @ x, optimize=optimize)(*data)
        np.testing.assert_allclose(found, data[0] @ data[1] @ data[2], rtol=1e-12)


# --- lists of functions and variables -------------------------------------------------------------


def test_products_with_derivatives_take_lists():
    f = x @ X @ x
    directions = v, Y
    derivative = se.gradient(f, [x, X])
    expected = se.einsum("i,i->", derivative[0], v) + se.einsum("ij,ij->", derivative[1], Y)
    assert se.equal(se.jvp(f, [x, X], directions), expected)
    assert se.jvp([f, X @ x], x, v) == [se.jvp(f, x, v), se.jvp(X @ x, x, v)]
    blocks = se.hessian(f, [x, X])
    product = se.hvp(f, [x, X], directions)
    for row, found in zip(blocks, product, strict=True):
        letters = "ijkl"[: found.order]
        parts = [
            se.einsum(f"{letters}{'pq'[: d.order]},{'pq'[: d.order]}->{letters}", block, d)
            for block, d in zip(row, directions, strict=True)
        ]
        assert se.equal(found, parts[0] + parts[1])
    together = se.vjp([f, X @ x], [x, X], [t, v])
    apart = [a + b for a, b in zip(se.vjp(f, [x, X], t), se.vjp(X @ x, [x, X], v), strict=True)]
    assert all(se.equal(a, b) for a, b in zip(together, apart, strict=True))


def test_lists_that_do_not_fit():
    f = x @ X @ x
    for call in (
        lambda: se.jvp(f, [x, X], [v]),
        lambda: se.jvp(f, [x, X], v),
        lambda: se.hvp(f, [x, X], (v, Y, v)),
        lambda: se.vjp([f, X @ x], x, t),
    ):
        with pytest.raises(se.TensorError, match=r"takes a list of (co)?tangents, one for each"):
            call()
    with pytest.raises(se.ShapeError, match=r"shape, \(n, n\)"):
        se.jvp(f, [x, X], [v, v])


@pytest.mark.parametrize("operator", [se.gradient, se.hessian, se.diff, se.hvp])
@pytest.mark.parametrize("functions", [[x @ x], (x @ x, x @ y), {"f": x @ x}, []], ids=str)
def test_one_function_where_one_is_needed(operator, functions):
    with pytest.raises(se.TensorError, match=r"one expression is needed, not a .*jacobian"):
        operator(functions, x, *([v] if operator is se.hvp else []))


# --- substitution ---------------------------------------------------------------------------------


def test_arrays_bring_their_lengths_along():
    ones = np.ones(3)
    for e in (
        (x @ x).subs(x, ones),
        (x @ x).subs({x: ones}),
        (x @ x).subs([(x, [1.0, 1.0, 1.0])]),
        (x @ x).subs({n: 3, x: ones}),
        (x @ x).subs({x: ones, n: 3}, simultaneous=True),
    ):
        assert not e.free_symbols
        assert se.lambdify([], e)() == 3
    partly = (A @ x).subs(x, np.arange(3))
    assert partly.free_symbols == {A.subs(n, 3)}
    both = (x @ X @ y).subs({x: [1, 2], X: [[1, 0], [0, 3]], y: (1, 1)})
    assert se.lambdify([], both)() == 7


def test_arrays_that_do_not_fit():
    with pytest.raises(se.ShapeError, match="can't replace"):
        (x @ y).subs({x: np.ones(3), y: np.ones(4)})
    with pytest.raises(se.ShapeError, match="can't replace"):
        (x @ y).subs(x, np.ones((3, 3)))
    with pytest.raises(se.ShapeError, match="can't replace"):
        (t * x).subs(t, np.ones(3))
    with pytest.raises(se.TensorError, match="Constant"):
        (x @ y).xreplace({x: np.ones(3)})


@pytest.mark.parametrize("arguments", [(), (3,), (x,), ("x", 3), (x, "3"), ([x, y, v],), (1, 2, 3)])
def test_subs_refuses_wrong_arguments(arguments):
    with pytest.raises(se.TensorError, match="subs takes"):
        (x @ x).subs(*arguments)


def test_solvers_refuse_tensors_as_unknowns():
    with pytest.raises(se.ShapeError, match=r"solve.*inv\(A\) @ y"):
        sp.solve(X @ x - y, x)


# --- NumPy's options ------------------------------------------------------------------------------

CALLS = {
    "clip to a minimum": lambda a, b: np.clip(a, min=0.5),
    "clip to a maximum": lambda a, b: np.clip(a, max=0.5),
    "clip to an interval": lambda a, b: np.clip(a, -0.5, 0.5, out=None),
    "correction": lambda a, b: np.var(a, correction=1),
    "correction along an axis": lambda a, b: np.std(a, axis=1, correction=1, keepdims=True),
    "sum from": lambda a, b: np.sum(a, axis=0, initial=2.5),
    "sum where": lambda a, b: np.sum(a, axis=1, where=np.greater(b, 0)),
    "sum everywhere": lambda a, b: np.sum(a, where=True),
    "mean where": lambda a, b: np.mean(a, axis=1, keepdims=True, where=np.greater(b, -5)),
    "product from": lambda a, b: np.prod(a, axis=1, initial=2.0),
    "product where": lambda a, b: np.prod(a, axis=1, where=np.greater(b, 0)),
    "average": lambda a, b: np.average(a, axis=0, keepdims=True),
    "weighted average": lambda a, b: np.average(a, axis=1, weights=np.exp(b), keepdims=True),
    "reshape": lambda a, b: np.reshape(a, (3, 2), copy=True),
    "exp": lambda a, b: np.exp(a, where=True, subok=True, casting="same_kind"),
    "einsum": lambda a, b: np.einsum("ij,ij->i", a, b, optimize=True, out=None),
}


@pytest.mark.parametrize("name", CALLS)
def test_options_that_make_sense(name):
    C, D = se.tensors("C D", 2, 3)
    data = NUMBERS.standard_normal((2, 3)), NUMBERS.standard_normal((2, 3))
    found = se.lambdify([C, D], CALLS[name](C, D))(*data)
    expected = CALLS[name](*data)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


REFUSED = {
    "sum dtype": (lambda: np.sum(x, dtype=float), "sum doesn't support dtype="),
    "trace dtype": (lambda: np.trace(X, dtype=float), "trace doesn't support dtype="),
    "add out": (lambda: np.add(x, x, out=np.zeros(3)), "add doesn't support out="),
    "add casting": (lambda: np.add(x, x, casting="no"), "add doesn't support casting='no'"),
    "multiply where": (lambda: np.multiply(x, x, where=x > 0), "multiply .* where="),
    "exp dtype": (lambda: np.exp(x, dtype=float), "exp doesn't support dtype="),
    "snp.exp": (lambda: snp.exp(x, bogus=1), "exp doesn't support bogus=1"),
    "stack dtype": (lambda: np.stack([x, x], dtype=float), "stack doesn't support dtype="),
    "einsum dtype": (lambda: np.einsum("i->", x, dtype=float), "einsum doesn't support dtype="),
    "two names": (lambda: np.var(x, ddof=1, correction=1), "two names of the same"),
    "two bounds": (lambda: snp.clip(x, 0, min=0), "as a_min or as min"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_do_not_are_named(name):
    call, words = REFUSED[name]
    with pytest.raises(se.TensorError, match=words):
        call()
