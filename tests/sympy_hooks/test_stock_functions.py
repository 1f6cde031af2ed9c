"""SymPy's functions, comparisons and matrix operations of tensors with axes: equal to ours."""

import inspect
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy
from libraries import LIBRARIES
from oracles import assert_close, evaluate, m, n
from sympy import And, Function, Not, Or, Piecewise, Symbol, Xor, exp, log, sin

import sympy_einsum as se
import sympy_einsum.numpy as snp

t = Symbol("t")
x = se.TensorSymbol("x", (n,))
y = se.TensorSymbol("y", (n,))
A = se.TensorSymbol("A", (m, n))
f = x @ x
DATA = {x: np.array([1.0, -2.0, 3.0]), y: np.array([1.0, 0.5, 2.0])}
X, Y = DATA.values()

ONE_ARGUMENT = [
    *(sympy.exp, sympy.log, sympy.sin, sympy.atan, sympy.tanh, sympy.gamma, sympy.erf, sympy.Abs),
    *(sympy.sign, sympy.floor, sympy.sqrt, sympy.cbrt, sympy.LambertW, sympy.sinc, Function("g")),
]


@pytest.mark.parametrize("function", ONE_ARGUMENT, ids=lambda function: function.__name__)
def test_a_stock_function_of_a_tensor_is_ours(function):
    ours = se.elementwise(function, A)
    assert function(A) is ours
    assert function(A).shape == (m, n)
    assert np.sum(function(A)) is ours.sum() is function(A).sum()
    assert function(A) - function(A) == se.Zeros(m, n)
    assert function(t).subs(t, A) is ours


def test_functions_of_two_arguments():
    assert sympy.Max(x, y) is se.Max(x, y)
    assert sympy.Max(x, 2 * t, y).shape == (n,)
    assert sympy.atan2(x, 1) is se.atan2(x, 1)
    assert sympy.besselj(2, x) is se.besselj(2, x)
    assert sympy.KroneckerDelta(x, y).shape == (n,)
    with pytest.raises(se.ShapeError):
        sympy.Max(x, A)


def test_quotients_and_derivatives_keep_their_axes():
    assert_close(evaluate(snp.sum(log(y) / log(y + 1)), DATA), (np.log(Y) / np.log(Y + 1)).sum())
    assert se.simplify(snp.sum(exp(x) / exp(x))) == n
    assert sympy.diff(exp(x), x) == se.diag(exp(x))
    assert sympy.diff(exp(t * x), t) == x * exp(t * x)
    assert exp(x).diff(x).shape == (n, n)


def test_functions_of_scalars_are_sympys_own():
    assert type(exp(f)) is exp
    assert type(sympy.Max(f, t)) is sympy.Max
    assert type(Piecewise((f, f > 0), (t, True))) is Piecewise
    assert exp(0, evaluate=False).args == (0,)
    assert inspect.signature(sympy.sin) == inspect.signature(sympy.sin.eval)
    assert pickle.loads(pickle.dumps(sin(t))) == sin(t)
    with pytest.raises(TypeError, match="exactly 1 argument"):
        sin(t, t)


def test_stock_sympy_is_the_same_without_tensors():
    """Importing the package changes no result and no text of plain SymPy."""
    code = (
        "{}import pickle\nfrom sympy import *\n"
        "t, u = symbols('t u')\n"
        "e = [diff(exp(sin(t)*u)/log(t), t), series(sin(t), t), integrate(t*exp(-t), t),\n"
        " solve(t**2 - u, t), Piecewise((1, t > 0), (u, True)), Max(t, 3, u), And(t > 0, u > 1),\n"
        " trigsimp(sin(t)**2 + cos(t)**2), limit(sin(t)/t, t, 0), hasattr(t, 'sqrt'),\n"
        " hasattr(t + u, 'log'), srepr(exp(t)), signsimp(-t), Eq(t, 0) & (u < 2),\n"
        " pickle.dumps(sin(t)), hash(sin(t)), sin(t) is sin(t), Function('f')(t).diff(t)]\n"
        "print(e)"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", code.format(first)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        ).stdout
        for first in ("", "import sympy_einsum\n")
    ]
    assert texts[0] == texts[1]


def test_classes_derived_from_sympys_may_use_numpys_names():
    class Wave(sympy.Expr):
        pass

    wave = Wave()
    assert not hasattr(wave, "sign")
    wave.sign = -1
    assert wave.sign == -1


# --- comparisons ----------------------------------------------------------------------------------

COMPARISONS = {
    "sum": (lambda: np.sum(x > 0), (X > 0).sum()),
    "method": (lambda: (x >= y).sum(), (X >= Y).sum()),
    "mean": (lambda: (x < y).mean(), (X < Y).mean()),
    "product": (lambda: (x > 0) * y, (X > 0) * Y),
    "scaled": (lambda: 3 * (x <= 1) - 1, 3 * (X <= 1) - 1),
    "equal": (lambda: np.equal(x, 1) + snp.not_equal(y, 2), (X == 1) * 1 + (Y != 2)),
    "and": (lambda: (x > 0) & (y > 0.7), (X > 0) & (Y > 0.7)),
    "or": (lambda: (x > 2) | (y < 0.7), (X > 2) | (Y < 0.7)),
    "xor": (lambda: (x > 0) ^ (y > 0.7), (X > 0) ^ (Y > 0.7)),
    "not": (lambda: ~(x > 0), ~(X > 0)),
    "stock and": (lambda: And(x > 0, y > 0.7), (X > 0) & (Y > 0.7)),
    "stock or": (lambda: Or(x > 2, Not(y > 0.7)), (X > 2) | ~(Y > 0.7)),
    "stock xor": (lambda: Xor(x > 0, y > 0.7), (X > 0) ^ (Y > 0.7)),
    "stock relation": (lambda: sympy.Gt(x, 0) * y, (X > 0) * Y),
    "stock connective": (
        lambda: And(sympy.Gt(x, 0), sympy.Lt(y, 2)) * y,
        ((X > 0) & (Y < 2)) * Y,
    ),
    "scalar condition": (lambda: (f > 0) & (x > 0), X > 0),
    "other way round": (lambda: (x > 0) & (f > 0), X > 0),
    "logical_and": (lambda: np.logical_and(x > 0, y), X > 0),
    "logical_not": (lambda: snp.logical_not(x - 1), ~(X - 1 != 0)),
    "where": (lambda: np.where(x > 0, x, y), np.where(X > 0, X, Y)),
    "where of a tensor": (lambda: snp.where(x - 1, x, y), np.where(X - 1, X, Y)),
    "where of a connective": (
        lambda: np.where((x > 0) & (y > 0.7), x, y),
        np.where((X > 0) & (Y > 0.7), X, Y),
    ),
    "select": (lambda: snp.select([x > 2, x > 0], [x, -y], 7), [-1, 7, 3]),
    "Piecewise": (lambda: Piecewise((x, x > 0), (y, True)), np.where(X > 0, X, Y)),
    "Piecewise of a relation": (
        lambda: Piecewise((x, sympy.Gt(x, 0)), (y, True)),
        np.where(X > 0, X, Y),
    ),
    "sum of a Piecewise": (
        lambda: np.sum(Piecewise((t, x > 0), (0, True))).subs(t, 2),
        2.0 * (X > 0).sum(),
    ),
    "substituted": (
        lambda: Piecewise((t, t > 0), (0, True)).subs(t, x).sum(),
        np.maximum(X, 0).sum(),
    ),
    "always": (lambda: (abs(x) >= 0).sum(), 3.0),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_ones_and_zeros(name):
    build, value = COMPARISONS[name]
    assert_close(evaluate(build(), DATA), np.asarray(value, dtype=float))
    assert np.shape(evaluate(build(), DATA)) == np.shape(value)


@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "numpy"])
@pytest.mark.parametrize("name", ["sum", "equal", "or", "not", "scalar condition", "where"])
def test_comparisons_on_other_backends(name, backend):
    library = LIBRARIES[backend]()
    build, value = COMPARISONS[name]
    e = se.einsum("i,i->", build(), y) if np.shape(value) else build() * y.sum()
    result = se.lambdify([x, y], e, backend)(library.into(X), library.into(Y))
    assert_close(library.back(result), np.sum(np.asarray(value, dtype=float) * Y), 1e-6)


def test_comparisons_of_scalars_are_relations():
    assert isinstance(f > 0, sympy.Gt)
    assert isinstance(np.greater(f, 0), sympy.Gt)
    assert isinstance(Piecewise((f, f > 0), (0, True)), Piecewise)


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (x > 0, "(x > 0)"),
        (A @ x >= 1, "((A @ x) >= 1)"),
        ((x < 2) * y, None),
        ((x + y <= -1).sum(), "((x + y) <= -1).sum()"),
        (sympy.Gt(t, 0) & (x > 0), None),
        (x > t, None),
        (x > y, None),
        (np.equal(x, y), None),
    ],
)
def test_the_text_of_a_comparison_says_the_same(e, text):
    assert text in (None, str(e))
    assert eval(str(e), {**vars(sympy), **vars(se), "x": x, "y": y, "A": A, "t": t}) == e


def test_the_truth_of_a_comparison_is_refused():
    for ask in (
        lambda: bool(x > 0),
        lambda: 0 < x < 1,
        lambda: max(x, y),
        lambda: (x > 0) and y,
        lambda: not (x > 0),
    ):
        with pytest.raises(TypeError, match=r"entry by entry|truth"):
            ask()
    assert x
    with pytest.raises(TypeError):
        f & f


@pytest.mark.parametrize(
    "build",
    [
        lambda: np.where(x == 0, 1.0, np.sin(x) / x),
        lambda: np.where(x != 0, np.sin(x) / x, 1.0),
        lambda: snp.where(np.bool_(False), x, y),
        lambda: se.where(x == y, x, y),
        lambda: snp.select([x == 0, x > 0], [x, y]),
        lambda: Piecewise((1, x == 0), (y, True)),
        lambda: Piecewise((x, x > 0), (y, x == 1)),
        lambda: Piecewise((x, x != 0), (y, True)),
        lambda: (x > 0) & (y == 0),
        lambda: And(x > 0, y == 0),
        lambda: snp.logical_or(x > 0, y != 0),
    ],
)
def test_a_structural_comparison_is_no_condition(build):
    with pytest.raises(se.TensorError, match=r"np\.equal"):
        build()


def test_the_derivative_of_a_comparison_is_zero():
    assert se.diff((x > y).sum(), x) == se.Zeros(n)
    chosen = se.diff(np.where(x > y, x**2, y), x)
    assert_close(evaluate(chosen, DATA), np.diag(np.where(X > Y, 2 * X, 0.0)))


# --- transposes -----------------------------------------------------------------------------------


def test_stock_transposes():
    T = se.TensorSymbol("T", (m, n, 2))
    for e in (A, A @ x[:, None], T, x, f):
        assert sympy.transpose(e) == sympy.adjoint(e) == e.T == e.adjoint() == e.H
        assert sympy.conjugate(e) == e.conjugate() == e
    assert sympy.transpose(A).shape == (n, m)
    assert sympy.adjoint(2 * A) == 2 * A.T
    assert se.equal(sympy.transpose(exp(A)), exp(A.T))


# --- NumPy on scalars -----------------------------------------------------------------------------


def test_numpy_functions_of_derived_scalars():
    assert np.sqrt(1 + f) == sympy.sqrt(1 + f)
    assert np.exp(2 * f) == exp(2 * f)
    assert np.tanh(t * f) == sympy.tanh(t * f)
    assert np.log1p(f + t) == log(1 + f + t)
    assert np.arctan2(1 + f, t) == sympy.atan2(1 + f, t)
    with pytest.raises(TypeError, match="no callable sqrt method"):
        np.sqrt(1 + t)


# --- axis lengths in stock lambdify ---------------------------------------------------------------

ARRAY = np.arange(6.0).reshape(2, 3)
LAMBDIFIED = {
    "ones": ([A], se.Ones(n, m), ARRAY, np.ones((3, 2))),
    "zeros": ([A], se.Zeros(n, m) + 1, ARRAY, np.ones((3, 2))),
    "delta": ([A], se.Delta(m, n).sum(axis=(2, 3)), ARRAY, np.ones((2, 3))),
    "scaled delta": ([A], sympy.sqrt(m) * se.Delta(n), ARRAY, np.sqrt(2) * np.eye(3)),
    "sum of ones": ([A], A + se.Ones(m, n), ARRAY, ARRAY + 1),
    "derivative": ([A], se.diff(A.T, A).sum(axis=(0, 1)), ARRAY, np.ones((2, 3))),
    "mean": ([A], A.mean(), ARRAY, 2.5),
    "mean and more": ([A], 1 + sin(A.mean()) * m, ARRAY, 1 + 2 * np.sin(2.5)),
    "several": ([A], [A.mean(), n * A.sum()], ARRAY, [2.5, 45.0]),
    "matrix": ([A], sympy.Matrix([A.mean(), m]), ARRAY, [[2.5], [2.0]]),
    "choice": ([A], Piecewise((A.mean(), A.sum() > n), (0, True)), ARRAY, 2.5),
    "longer": ([A], se.Ones(n + 1), ARRAY, np.ones(4)),
    "function of a length": ([A], sin(n) * se.Ones(n), ARRAY, np.full(3, np.sin(3))),
}


@pytest.mark.parametrize("name", LAMBDIFIED)
def test_stock_lambdify_reads_lengths_from_its_arguments(name):
    arguments, e, array, expected = LAMBDIFIED[name]
    result = sympy.lambdify(arguments, e, "scipy")(array)
    assert np.shape(result) == np.shape(expected)
    assert_close(np.asarray(result, dtype=float), expected)


def test_stock_lambdify_takes_lengths_as_arguments():
    assert_close(sympy.lambdify([t, n], t * se.Ones(n))(2.0, 3), np.full(3, 2.0))
    assert_close(sympy.lambdify([A, n], A.mean())(ARRAY, 3), 2.5)
    assert_close(sympy.lambdify((A, (t, x)), t * (A @ x).mean())(ARRAY, (2, ARRAY[0])), 19.0)
    shared = A.mean() + A.mean() ** 2 + sin(A.mean())
    assert_close(sympy.lambdify([A], shared, cse=True)(ARRAY), 2.5 + 6.25 + np.sin(2.5))


@pytest.mark.parametrize("library", ["jax", "cupy", "torch", "mpmath"])
def test_stock_lambdify_names_the_compiler_for_other_libraries(library):
    pytest.importorskip(library)
    for e in (se.exp(x), x @ x, t * se.Ones(3), sin(x @ x)):
        with pytest.raises(se.UnsupportedError, match=r"use sympy_einsum\.lambdify\(args, expr"):
            sympy.lambdify([x, t], e, library)


@pytest.mark.parametrize(
    "language", ["c", "cxx", "f", "glsl_", "js", "julia_", "octave_", "r", "rust_"]
)
def test_code_in_other_languages_is_that_of_entries(language):
    write = getattr(sympy, f"{language}code")
    for e in (x @ x, t * x.sum() ** 2, se.exp(x)):
        with pytest.raises(se.UnsupportedError, match="print single entries, or those of"):
            write(e)
    A, y = se.TensorSymbol("A", 2, 2), se.TensorSymbol("y", 2)
    assert write(se.to_indexed((A @ y)[1]).doit()).count("A") == 2
    assert write((A @ y)[1]).count("A") == write((A @ y).as_explicit()[1]).count("A") == 2


def test_values_of_code_of_scalars():
    """The texts of C and of Fortran, with entries read from the arrays, are Python's too."""
    A, y = se.TensorSymbol("A", 2, 2), se.TensorSymbol("y", 2)
    arrays = {"A": np.array([[1.5, -0.25], [0.75, 2.0]]), "y": np.array([0.3, -1.2])}
    functions = {
        own: getattr(math, own) for own in ("exp", "log", "erf", "erfc", "sin", "cos", "pow")
    }
    functions |= {"fmax": max, "max": max, "M_SQRT2": 2**0.5}
    from_0 = {own: value.ravel() for own, value in arrays.items()}
    from_1 = {own: lambda *at, v=v: v[tuple(np.array(at) - 1)] for own, v in arrays.items()}
    for e in (
        t * y[0] + A[0, 1] ** 2,
        3 * (y @ y) ** 2 - t * (A @ y)[1],
        -(A @ A)[1, 0] / y.sum(),
        se.inv(A)[0, 1] * t - se.logsumexp(y),
        1 - se.softplus(A)[1, 0] * 2 + 3 * se.ndtr(y[0]) ** 2,
        t / se.sigmoid(y)[1] - se.relu(y[0]) - se.gradient(se.sin(y @ y), y)[1] ** 2,
    ):
        expected = se.lambdify([A, y, t], e)(*arrays.values(), 0.7)
        c = sympy.ccode(e)
        fortran = sympy.fcode(e, source_format="free").replace("&\n", "").replace("d0", "")
        for text, entries in ((c, from_0), (fortran, from_1)):
            found = eval(text, {**functions, **entries, "t": 0.7})
            assert_close(found, expected)


def test_no_code_of_entries_that_cannot_be_written_out():
    for e in (x.max(), se.det(A @ A.T) + 1, y[0] * (y @ y)):
        for write in (sympy.ccode, sympy.fcode, sympy.julia_code):
            with pytest.raises((se.UnsupportedError, NotImplementedError)):
                write(e)


@pytest.mark.parametrize(
    ("write", "entry"),
    [
        (sympy.ccode, "A[5]"),
        (sympy.cxxcode, "A[5]"),
        (sympy.fcode, "      A(2, 3)"),
        (sympy.julia_code, "A[2,3]"),
        (sympy.octave_code, "A(2, 3)"),
        (sympy.rcode, "A[2, 3]"),
        (sympy.rust_code, "A[5]"),
    ],
)
def test_code_of_entries_counts_from_the_first_one_of_the_language(write, entry):
    A = se.TensorSymbol("A", 2, 3)
    assert write(A[1, 2]) == entry
    assert entry.strip() in write((A**2).sum(0).as_explicit()[2])


def test_names_of_arguments_are_not_captured_by_helper_functions():
    A, r = se.TensorSymbol("A", 3, 3), se.TensorSymbol("r", 3, 3)
    e = se.jvp(se.gradient(se.det(A), A), A, r)
    given = [[2.0, 1, 0], [0, 3, 1], [1, 0, 4]], np.arange(9.0).reshape(3, 3)
    assert_close(sympy.lambdify([A, r], e)(*map(np.array, given)), se.lambdify([A, r], e)(*given))


def test_helper_functions_are_inlined():
    A, v = se.TensorSymbol("A", 3, 3), se.TensorSymbol("v", 4)
    given = np.array([[2.0, 1, 0], [0, 3, 1], [1, 0, 4]])
    e = se.gradient(se.expm(A).sum(), A)
    assert_close(sympy.lambdify([A], e, "scipy")(given), se.lambdify([A], e)(given))
    e = snp.cumprod(v[::-1])[::-1]
    function = sympy.lambdify([v], se.gradient((e * v).sum(), v))
    assert_close(
        function(given[0, :1].repeat(4)), se.lambdify([v], se.gradient((e * v).sum(), v))([2.0] * 4)
    )
    assert " if " not in inspect.getsource(function)


def test_sums_of_several_scatters():
    v, at = se.TensorSymbol("v", 3), [2, 0, 2]
    e = se.gradient(v[at] @ (v[[1, 1, 0]] ** 2), v)
    assert_close(sympy.lambdify([v], e)(np.array([1.0, 2, 3])), [4 + 6, 16, 4 + 1])


def test_lengths_that_no_argument_has():
    for arguments, e in (([t], t * se.Ones(n)), ([x], se.Ones(m) * x.sum())):
        with pytest.raises(se.TensorError, match="axis length"):
            sympy.lambdify(arguments, e)
    clash = se.TensorSymbol("m", (n, m))
    with pytest.raises(se.UnsupportedError, match="name"):
        sympy.lambdify([clash], clash.mean())


def test_branches_that_are_nan_are_sorted_and_written():
    n, s = sympy.nan, sympy.Symbol("s")
    product = sympy.Piecewise((n, s > 0), (1, True)) * sympy.Piecewise((0, s > 0), (s, True))
    assert "NAN" in sympy.ccode(product)
    x = se.TensorSymbol("x", 4)
    f = (np.nanmax(x) * x).sum() * np.nanmin(x)
    assert np.isfinite(se.lambdify([x], se.hessian(f, x))([1.0, 2.0, 3.0, 5.0])).all()


POWERS = {
    "a power": lambda f: f**2,
    "a quotient": lambda f: 1 / f,
    "an exponential": sympy.exp,
    "a root": sympy.sqrt,
    "a multiple": lambda f: f * sympy.pi / 2,
    "a sum": lambda f: f + 1,
}


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "tanh", "exp2", "sign", "floor"])
@pytest.mark.parametrize("power", POWERS)
def test_numpy_functions_of_powers(power, name):
    """NumPy looks up a method ``exp`` and finds SymPy's exponent."""
    x = se.TensorSymbol("x", 3)
    value = np.array([0.5, -0.25, 0.75])
    found = getattr(np, name)(POWERS[power](x @ x))
    expected = getattr(np, name)(float(POWERS[power](sympy.Float(value @ value))))
    np.testing.assert_allclose(float(se.lambdify([x], found)(value)), expected, rtol=1e-12)


def test_numpy_functions_of_exact_numbers():
    """The entries of a shape, and expressions that cancel to numbers."""
    x, y = se.TensorSymbol("x", 3), se.TensorSymbol("y", 4)
    assert np.sqrt(y.shape[0]) == 2
    assert np.log(y.shape[0]) == sympy.log(4)
    assert np.cos(x[0] - x[0]) == 1
    assert np.maximum((x @ x) ** 2, 2) == se.Max((x @ x) ** 2, 2)
    assert np.maximum(2, 1 + x @ x) == se.Max(2, 1 + x @ x)
    assert np.arctan2(2, (x @ x) ** 2) == se.atan2(2, (x @ x) ** 2)
    assert [*np.ones(2) * y.shape[0]] == [4.0, 4.0]
    assert np.float64(3) * y.shape[0] == 12.0
    assert np.arange(4)[y.shape[0] - 1] == 3


def test_arrays_and_stock_powers_are_multiplied_as_before():
    t = sympy.Symbol("t")
    x = se.TensorSymbol("x", 3)
    for power in (t**2, sympy.exp(t), (x @ x) ** 2):
        for found in (np.arange(3) * power, power * np.arange(3)):
            assert found.dtype == object
            assert [*found] == [0, power, 2 * power]
        assert np.float64(2) * power == power * 2.0 == np.multiply(2.0, power)
    with pytest.raises(TypeError):
        np.exp(t**2)
    with pytest.raises(TypeError):
        np.sin(t**2)


# --- matrices put together by SymPy's functions ---------------------------------------------------


def test_matrices_are_joined():
    """SymPy asks the first of several for ``row_join`` and ``col_join``; vectors are columns."""
    x, A, B = se.TensorSymbol("x", n), se.TensorSymbol("A", n, n), se.TensorSymbol("B", n, n)
    joined = sympy.Matrix.hstack(x, A, B)
    assert se.equal(joined, se.concatenate([x[:, None], A, B], axis=1))
    assert sympy.Matrix.vstack(A, B) == se.concatenate([A, B])
    known = se.TensorSymbol("K", 2, 2)
    assert sympy.Matrix.hstack(known, sympy.eye(2)).shape == (2, 4)


def test_diagonal_matrices():
    x, K = se.TensorSymbol("x", 2), se.TensorSymbol("K", 2, 2)
    assert sympy.diag(x @ x, 2) == sympy.Matrix([[x @ x, 0], [0, 2]])
    assert sympy.diag(x @ x) == sympy.Matrix([[x @ x]])
    assert sympy.diag(x) == sympy.diag(x[0], x[1])
    assert sympy.diag(K, x @ x) == sympy.diag(sympy.Matrix(2, 2, [*K[0], *K[1]]), x @ x)
    assert sympy.SparseMatrix.diag(x @ x, 1) == sympy.diag(x @ x, 1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda A, x: sympy.diag(A, A),
            r"lengths are numbers, not A.*se\.block puts tensors together",
        ),
        (lambda A, x: sympy.diag(x, A), r"not x of shape"),
        (lambda A, x: sympy.diag(A[:2, :2], x[:2]), r"se\.diag makes"),
        (
            lambda A, x: sympy.BlockMatrix([[A, A]]),
            r"BlockMatrix ask for.*take no tensors.*se\.block",
        ),
        (lambda A, x: sympy.Matrix.hstack(sympy.eye(3), A), r"se\.concatenate"),
        (lambda A, x: sympy.Matrix(A), r"\.as_explicit\(\)"),
        (lambda A, x: sympy.Matrix([[A, A]]), r"block and stack of sympy_einsum"),
    ],
)
def test_matrices_of_tensors_are_refused(build, message):
    """The error says how tensors are put together instead."""
    A, x = se.TensorSymbol("A", n, n), se.TensorSymbol("x", n)
    with pytest.raises((se.TensorError, TypeError, AttributeError), match=message):
        build(A, x)
