"""Compiled functions on arrays of every kind: types, layouts, lengths 0 and 1, array-likes and
objects that only look like arrays."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from libraries import LIBRARIES
from sympy import Integer, Max, Piecewise, Rational, Symbol, exp, floor, log, pi, sin, sqrt, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, k = symbols("m n k", integer=True, positive=True)
i = Symbol("i", integer=True)
t = symbols("t")
A, X = se.TensorSymbol("A", (m, n)), se.TensorSymbol("X", (n, n))
x, y = se.TensorSymbol("x", (n,)), se.TensorSymbol("y", (m,))

# Expressions of every kind of instruction, and the same in NumPy.
SAME = {
    "product": (A @ x, lambda A, x: A @ x),
    "sum of squares": ((A @ x) @ (A @ x), lambda A, x: (A @ x) @ (A @ x)),
    "elementwise": (se.exp(A) * A - A / 2, lambda A, x: np.exp(A) * A - A / 2),
    "reduction": (A.sum(axis=0) + x, lambda A, x: A.sum(axis=0) + x),
    "transpose": (A.T + 1, lambda A, x: A.T + 1),
    "gradient": (se.gradient(((A @ x) ** 2).sum(), A), lambda A, x: 2 * np.outer(A @ x, x)),
    "outer": (se.einsum("i,j->ij", x, x), lambda A, x: np.outer(x, x)),
    "softmax": (
        se.softmax(A, axis=1),
        lambda A, x: np.exp(A) / np.exp(A).sum(axis=1, keepdims=True),
    ),
}
LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "reversed": lambda a: a[..., ::-1].copy()[..., ::-1],
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "read-only": lambda a: np.broadcast_to(a, a.shape),
    "list": lambda a: a.tolist(),
    "unmasked": np.ma.masked_array,
    "byte-swapped": lambda a: a.astype(a.dtype.newbyteorder()),
}
NUMBERS = np.random.default_rng(4)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SAME)
def test_layouts_change_nothing(name, layout):
    expr, in_numpy = SAME[name]
    compute = se.lambdify([A, x], expr)
    for shape in [(3, 2), (1, 1), (1, 4), (3, 1)]:
        values = NUMBERS.standard_normal(shape), NUMBERS.standard_normal(shape[1])
        before = [value.copy() for value in values]
        found = compute(*[LAYOUTS[layout](value) for value in values])
        assert type(found) in (np.ndarray, np.float64)
        np.testing.assert_allclose(found, in_numpy(*values), rtol=1e-12, atol=1e-12)
        for value, copy in zip(values, before, strict=True):
            np.testing.assert_array_equal(value, copy)


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "i8", "g", "c8", "c16"])
@pytest.mark.parametrize("name", SAME)
def test_types_are_those_of_numpy(name, kind):
    expr, in_numpy = SAME[name]
    values = [NUMBERS.integers(0, 3, shape).astype(kind) for shape in [(3, 2), (2,)]]
    expected = in_numpy(*values)
    found = se.lambdify([A, x], expr)(*values)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize("name", SAME)
def test_booleans_count_as_one_and_zero(name):
    expr, in_numpy = SAME[name]
    values = [NUMBERS.integers(0, 2, shape).astype(bool) for shape in [(3, 2), (2,)]]
    found = se.lambdify([A, x], expr)(*values)
    np.testing.assert_allclose(found, in_numpy(*[value.astype(int) for value in values]))


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("value", [Integer(3), Rational(1, 3), pi, 2 * n], ids=str)
def test_constant_results_have_the_type_of_the_arguments(value, backend):
    single = np.ones(3, np.float32)
    if backend != "numpy":
        single = getattr(pytest.importorskip(backend), "asarray", None) or single
        module = pytest.importorskip("jax.numpy" if backend == "jax" else backend)
        single = module.asarray(np.ones(3, np.float32))
    found = se.lambdify([x], [value, sin(x @ x), x], backend)(single)
    assert {result.dtype for result in found} == {single.dtype}
    assert float(found[0]) == pytest.approx(float(value.subs(n, 3)), rel=1e-6)


def test_constant_results_without_arrays_stay_numbers():
    assert type(se.lambdify([t], [Integer(3), 2 * t])(1)[0]) is int
    assert se.lambdify([x], Integer(3))(np.arange(3)).dtype == np.float64


MEANS = {
    "mean": (x.mean(), np.mean),
    "variance": (x.var(), np.var),
    "standard deviation": (x.std(), np.std),
}


@pytest.mark.parametrize("name", MEANS)
def test_the_mean_of_nothing(name):
    expr, in_numpy = MEANS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert np.isnan(in_numpy(np.zeros(0)))
    with pytest.warns(RuntimeWarning):
        assert np.isnan(se.lambdify([x], expr)(np.zeros(0)))


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_means_over_an_axis_of_length_zero(backend):
    module = pytest.importorskip("jax.numpy" if backend == "jax" else backend)
    columns = se.lambdify([A], A.mean(axis=0), backend)
    found = columns(module.asarray(np.zeros((0, 3), np.float32)))
    assert found.shape == (3,)
    assert np.isnan(np.asarray(found)).all()
    assert found.dtype == module.float32
    assert columns(module.asarray(np.zeros((3, 0), np.float32))).shape == (0,)


def test_means_over_an_axis_known_to_be_empty():
    empty = se.TensorSymbol("C", (0, 3))
    found = se.lambdify([empty], empty.mean(axis=0))(np.zeros((0, 3)))
    np.testing.assert_array_equal(found, np.full(3, np.nan))
    assert se.lambdify([empty], empty.mean(axis=1))(np.zeros((0, 3))).shape == (0,)


def test_numbers_divide_and_overflow_as_numpy_does():
    with pytest.warns(RuntimeWarning):
        np.testing.assert_array_equal(se.lambdify([x, t], x / t)(np.ones(2), 0), [np.inf, np.inf])
    with pytest.warns(RuntimeWarning):
        found = se.lambdify([x, t], x * t**400)(np.ones(2, np.float32), 1e10)
    np.testing.assert_array_equal(found, np.full(2, np.inf, np.float32))
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.ma.masked_array([1.0, 2.0], [0, 1]), "argument x has masked entries.*filled"),
        (scipy.sparse.csr_array(np.ones((1, 2))), r"argument x is a sparse.*\.toarray\(\)"),
        (scipy.sparse.coo_matrix(np.ones((1, 2))), r"argument x is a sparse.*\.toarray\(\)"),
        (None, "argument x must be an array of numbers, not None"),
        ("ab", "argument x must be an array of numbers, not 'ab'"),
        (["a", "b"], "argument x must be an array of numbers"),
        (np.array(["a", "b"]), "argument x must be an array of numbers"),
        (np.array(["2020-01-01"], "M8[D]"), "argument x must be an array of numbers"),
        ([[1, 2], [3]], "argument x is no array of numbers.*inhomogeneous"),
        (x, "argument x is no array of numbers.*symbolic"),
        (np.array([[1], [1, 2]], dtype=object), "argument x, of type object"),
        (np.array([None, 1], dtype=object), "argument x, of type object"),
    ],
)
def test_objects_that_are_no_numeric_arrays(value, words):
    with pytest.raises(se.TensorError, match=f"(?s){words}"):
        se.lambdify([x, t], t * se.exp(x))(value, 1.0)


@pytest.mark.parametrize("value", [None, "ab", [1.0], {}, np.ones(2)], ids=repr)
def test_arguments_that_are_no_numbers(value):
    with pytest.raises(se.TensorError, match="argument t must"):
        se.lambdify([x, t], t * se.exp(x))(np.ones(2), value)


def test_objects_work_where_numpy_has_arithmetic_for_them():
    halves = np.array([Fraction(1, 2), Fraction(1, 3)])
    assert se.lambdify([x], (x * x).sum())(halves) == Fraction(13, 36)


def test_types_without_code_are_named():
    for kind in (np.longdouble, np.complex128):
        with pytest.raises(se.UnsupportedError, match=r"argument x, of type .*astype"):
            se.lambdify([x], se.polygamma(1, x))(np.ones(2, kind))
    with pytest.raises(se.UnsupportedError, match=r"argument X, of type .*linalg.*astype"):
        se.lambdify([X], se.inv(X))(np.eye(2, dtype=np.longdouble))


@pytest.mark.parametrize("backend", ["jax", "torch", "dask"])
def test_arrays_of_other_libraries(backend):
    LIBRARIES[backend]()
    with pytest.raises(se.ShapeError, match=r"x must be an array of the library used, not \[1\.0"):
        se.lambdify([x], x.sum(), backend)([1.0, 2.0])
    for expr in (se.exp(x), se.max(x)) if backend == "torch" else ():
        with pytest.raises(se.TensorError, match=r"x is a ndarray.*takes arrays of torch"):
            se.lambdify([x], expr, backend)(np.ones(2))


def test_errors_of_the_data_are_numpys_own():
    with pytest.raises(np.linalg.LinAlgError):
        se.lambdify([X], se.inv(X))(np.zeros((2, 2)))


POSITIONS = {
    "entry": (x[2], "n - 3 must be at least 0, but with n = 2 it is -1"),
    "entry from the end": (x[-3], "n - 3 must be at least 0, but with n = 2 it is -1"),
    "slice": (x[0:3], "n - 3 must be at least 0, but with n = 2 it is -1"),
    "mean of a slice": (x[:3].mean(), "n - 3 must be at least 0, but with n = 2 it is -1"),
    "without the first": (A[3:, 0].sum(), "m - 3 must be at least 0, but with m = 2 it is -1"),
}


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("name", POSITIONS)
def test_positions_lie_on_their_axis(name, backend):
    """NumPy would clip the slice, JAX take the last entry."""
    module = pytest.importorskip("jax.numpy" if backend == "jax" else backend)
    expr, words = POSITIONS[name]
    compute = se.lambdify([A, x], expr, backend)
    with pytest.raises(se.ShapeError, match=words):
        compute(module.ones((2, 2)), module.ones(2))
    assert np.isfinite(np.asarray(compute(module.ones((3, 3)), module.ones(3)))).all()


def test_a_position_given_at_the_call():
    take = se.lambdify([x, i], x[i])
    assert take(np.arange(3.0), 2) == take(np.arange(3.0), -1) == 2
    with pytest.raises(se.ShapeError, match=r"outside of its axis.*-i \+ n - 1 must be at least 0"):
        take(np.arange(3.0), 5)


def test_the_written_function_checks_positions_and_kinds_too():
    namespace = {}
    exec(se.codegen([x], x[:3].sum()), namespace)
    assert namespace["function"](np.arange(4)) == 3
    for value in (np.ones(2), np.ma.masked_array(np.ones(3), [1, 0, 0]), None, [[1], [1, 2]]):
        with pytest.raises(ValueError, match=r"n - 3 must be at least 0|argument x"):
            namespace["function"](value)


# --- as parts of expressions ----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda: np.ma.masked_array([1.0, 2.0], [0, 1]), "mask.*filled"),
        (lambda: scipy.sparse.csr_array(np.eye(2)), r"sparse csr_array.*\.toarray\(\)"),
        (lambda: scipy.sparse.coo_matrix(np.eye(2)), r"sparse coo_matrix.*\.toarray\(\)"),
        (lambda: np.matrix([[1.0, 2.0]]), r"numpy\.matrix.*\.A"),
        (lambda: [[1, 2], [3]], "this list isn't an array of numbers.*equal lengths"),
        (lambda: [x, x], "this list isn't an array of numbers.*stack"),
        (lambda: np.array([1, None]), "array of type object can't be a constant"),
        (lambda: ["a"], "array of type <U1 can't be a constant"),
    ],
)
def test_arrays_that_are_no_operands(value, words):
    for use in (se.Constant, lambda v: x + v, lambda v: se.einsum("i...->", v), se.exp, se.norm):
        with pytest.raises(se.TensorError, match=f"(?s){words}"):
            use(value())


@pytest.mark.slow
def test_arrays_of_symbols_are_tensors_of_these_entries():
    s, t = symbols("s t", positive=True)
    v = se.TensorSymbol("v", 3)
    kept = np.stack([s * v[0], v[1] + t])  # SymPy's sums and products are no tensors to NumPy
    e = [se.exp(s * np.eye(2)) @ kept, v + t * np.arange(3.0), np.array([[s, 1], [2, t]]) @ v[:2]]
    found = se.lambdify([v, s, t], e)(np.array([1.0, 2.0, 4.0]), 0.5, 3.0)
    expected = np.exp(0.5 * np.eye(2)) @ [0.5, 5], [1, 5, 10], [2.5, 8]
    for value, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, right)
    with pytest.raises(se.UnsupportedError, match=r"1002001 entries.*se\.Constant"):
        s * np.ones((1001, 1001)) + se.TensorSymbol("A", 1001, 1001)


def test_choices_are_nested_wheres():
    v, w = se.tensors("v w", 3)
    cases = [se.where(v > 0, v, 2 * w), Piecewise((1, v > 1), (2, v > 0), (3, True))]
    f = se.lambdify([v, w], [*cases, Piecewise((v, v > 1))])
    assert f.source.count("np.where(") == 4
    assert "select" not in f.source
    found = f(np.array([2, 0, 1]), np.array([5, 6, 7]))
    for value, right in zip(found, ([2, 12, 1], [1, 3, 2], [2, np.nan, np.nan]), strict=True):
        np.testing.assert_array_equal(value, right)
    assert [value.dtype.kind for value in found] == ["i", "f", "f"]


def test_truth_values_are_numbers():
    assert se.Constant(np.True_) == se.exp(np.True_) - se.exp(1) + 1 == 1
    assert se.exp(True) == se.exp(1)
    assert (x + np.bool_(True)) is x + 1
    assert se.lambdify(x, np.True_)(np.ones(2)) == 1


# Numbers that aren't rational: as NumPy's scalars they would make doubles of everything.
WITH_NUMBERS = {
    "gelu": x * (1 + se.erf(x / sqrt(2))) / 2,
    "log cosh": se.log(se.cosh(x)),
    "entropy in bits": x * se.log(x) / log(2),
    "root and pi": sqrt(2) * pi * x,
    "infinite": x * exp(1000),
}


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_numbers_in_code_keep_single_precision(name):
    total = WITH_NUMBERS[name].sum()
    compute = se.lambdify([x], [total, se.gradient(total, x), se.hessian(total, x)])
    assert [found.dtype for found in compute(np.ones(4, np.float32))] == [np.float32] * 3


EMPTY = se.TensorSymbol("z", (0,))
NONE_BY_THREE = se.TensorSymbol("Z", (0, 3))


def test_sums_over_an_axis_known_to_be_empty_are_zero():
    y = se.TensorSymbol("y", (n,))
    for total in (EMPTY.sum(), EMPTY @ EMPTY, se.softmax(EMPTY, axis=0).sum(), se.norm(EMPTY)):
        assert total == 0
    assert NONE_BY_THREE.sum(axis=0) == se.Zeros(3)
    assert se.Zeros(3, 3) == NONE_BY_THREE.T @ NONE_BY_THREE
    assert NONE_BY_THREE.T.shape == (3, 0)
    for total in (y @ y, se.exp(y).sum(), se.softmax(y, axis=0).sum()):
        assert total.subs(n, 0) == 0
    assert se.logsumexp(EMPTY).has(EMPTY)


@pytest.mark.parametrize("ddof", [0, 1, 2])
@pytest.mark.filterwarnings("ignore")
def test_variances_of_no_and_of_one_entry(ddof):
    for length in (0, 1):
        for z in (se.TensorSymbol("z", (length,)), se.TensorSymbol("z", (length, 3))):
            value = np.ones([int(k) for k in z.shape])
            for ours, theirs in [(snp.var, np.var), (snp.std, np.std)]:
                e = ours(z, axis=0, ddof=ddof)
                assert isinstance(str(e), str)
                result = se.lambdify([z], e)(value)
                np.testing.assert_array_equal(result, theirs(value, axis=0, ddof=ddof))


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
@pytest.mark.filterwarnings("ignore")
def test_softmax_and_its_like_of_empty_arrays(backend):
    library = LIBRARIES[backend]()
    M = se.TensorSymbol("M", (symbols("m"), n))
    exprs = [se.softmax(M, axis=0), se.logsumexp(M, axis=0), se.logsumexp(M, axis=1)]
    both = [*exprs, se.log(se.softmax(M, axis=0))]
    for shape in ((0, 3), (3, 0), (0, 0)):
        for wanted in (exprs[:1], exprs[1:2], exprs[2:], both):
            values = se.lambdify([M], wanted, backend)(library.into(np.ones(shape)))
            for e, value in zip(wanted, values, strict=True):
                found = library.back(value)
                assert found.shape == tuple(shape[k] for k, s in enumerate(M.shape) if s in e.shape)
                assert np.all(found == (-np.inf if e in exprs[1:] and 0 in shape else found))


def test_fractions_are_written_among_integers():
    A = se.TensorSymbol("A", (3, 3))
    f = se.lambdify([A], [A + se.Delta(3) / 2, A + 2 * se.Delta(3)])
    halves, whole = f(np.ones((3, 3), int))
    np.testing.assert_array_equal(halves, 1 + np.eye(3) / 2)
    assert whole.dtype == int
    assert f(np.ones((3, 3), np.float32))[0].dtype == np.float32


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
def test_functions_of_lengths_have_no_type_of_their_own(backend):
    """The logarithm of a length is a Python number: single precision and integers stay."""
    library = LIBRARIES[backend]()
    v = se.TensorSymbol("v", n)
    exprs = [
        log(n) * v,
        v + log(n),
        sqrt(n) * v,
        v.sum() * exp(-n),
        v ** log(n),
        Max(n, 2) * v,
        log(n) * se.Delta(n) @ v,
        v * floor(log(n)),
        Piecewise((log(n), n > 2), (v.sum(), True)) * v,
        log(n) * se.Ones(n),
    ]
    numbers = np.array([1.0, 2, 4])
    for expr in exprs:
        single = library.back(se.lambdify([v], expr, backend)(library.into(numbers.astype("f4"))))
        double = se.lambdify([v], expr)(numbers)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=1e-6)


def test_functions_of_lengths_divide_by_zero():
    v = se.TensorSymbol("v", n)
    with np.errstate(divide="ignore"):
        found = se.lambdify([v], v / log(n))(np.ones(1, np.float32))
    assert found.dtype == np.float32
    assert found == np.inf
    assert se.lambdify([v], Max(n, 2) * v)(np.arange(3)).dtype == np.int64


def test_an_array_of_no_axes_is_a_number():
    function = se.lambdify([t, x], [t, t + 1, t * x, (t * x).sum() / t])
    given, values = np.array(0.5), np.array([1.0, -2.0, 4.0])
    for found, expected in zip(function(given, values), function(0.5, values), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert given == 0.5
