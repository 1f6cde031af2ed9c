"""The language of MatrixCalculus.org: values against NumPy, inferred lengths, errors."""

import itertools
import json
import string
from pathlib import Path

import numpy as np
import pytest
import scipy.special
import sympy
from hypothesis import given, settings, strategies as st
from numpy.linalg import norm
from oracles import LENGTHS, assert_close, random_array
from scipy.special import logsumexp

import sympy_einsum as se
from sympy_einsum.core import ROWS
from sympy_einsum.languages.matrixcalculus.declarations import length_symbol, read_declarations
from sympy_einsum.languages.matrixcalculus.types import Length
from sympy_einsum.languages.parsing import parse, parse_with_variables


def in_the_language(problem):
    """Tell whether the language can express it: it has neither tensors of higher order nor
    einsum."""
    orders = [len(axes) for axes in problem["variables"].values()]
    return max(orders) <= 2 and "#" not in problem["statement"]


DATA = Path(__file__).parents[1] / "data" / "problems.json"
CORPUS = [
    problem
    for problem in json.loads(DATA.read_text(encoding="utf-8"))["problems"]
    if in_the_language(problem)
]


def shapes(text, declarations=None):
    """Return the shapes of a text's variables as text: 'A(m,n) x(n)'."""
    _, variables = parse_with_variables(text, declarations)
    return " ".join(
        f"{name}({','.join(map(str, getattr(symbol, 'shape', ())))})"
        for name, symbol in variables.items()
    )


def data_for(variables, domain=None, seed=7):
    """Return random data; lengths that aren't named in the oracles are distinct."""
    rng = np.random.default_rng(seed)
    lengths = dict(LENGTHS)
    arrays = {}
    for name, symbol in variables.items():
        shape = getattr(symbol, "shape", ())
        for length in shape:
            if length.is_Symbol:
                lengths.setdefault(length, 3 + len(lengths))
        numbers = tuple(int(length.xreplace(lengths)) for length in shape)
        arrays[name] = random_array(
            numbers, domain.get(name) if isinstance(domain, dict) else domain, rng
        )
    return arrays


def value_of(text, declarations=None, domain=None):
    expr, variables = parse_with_variables(text, declarations)
    arrays = data_for(variables, domain)
    return se.lambdify(list(variables.values()), expr)(*arrays.values()), arrays


def error_of(text, declarations=None):
    with pytest.raises(se.ParseError) as caught:
        parse(text, declarations, syntax="matrixcalculus")
    return caught.value


# --- values ---------------------------------------------------------------------------------------

VALUES = [
    ("0.5*x'*A*x", lambda x, A: 0.5 * x @ A @ x),
    ("A*exp(x)", lambda A, x: A @ np.exp(x)),
    ("(y.*v)'*x", lambda y, v, x: (y * v) @ x),
    ("norm1(A*x-y)", lambda A, x, y: np.abs(A @ x - y).sum()),
    ("norm2(A*x-y)^2", lambda A, x, y: ((A @ x - y) ** 2).sum()),
    (
        "sum(log(exp(-y .* (X*w)) + vector(1)))",
        lambda y, X, w: np.log(np.exp(-y * (X @ w)) + 1).sum(),
    ),
    ("tr(A*X'*B*X*C)", lambda A, X, B, C: np.trace(A @ X.T @ B @ X @ C)),
    ("logdet(inv(X))", lambda X: np.linalg.slogdet(np.linalg.inv(X))[1]),
    ("det(X)", lambda X: np.linalg.det(X)),
    ("adj(X)*X", lambda X: np.linalg.det(X) * np.eye(len(X))),
    ("x*y'", lambda x, y: np.outer(x, y)),
    ("x'*y", lambda x, y: x @ y),
    ("x'*A", lambda x, A: x @ A),
    ("(x'*A)'", lambda x, A: x @ A),
    ("A'*x", lambda A, x: A.T @ x),
    ("(A*B)'", lambda A, B: (A @ B).T),
    ("A''*x", lambda A, x: A @ x),
    ("x*y'*z", lambda x, y, z: x * (y @ z)),
    ("x'*A*y*z'", lambda x, A, y, z: (x @ A @ y) * z),
    ("A^2", lambda A: A @ A),
    ("A^3*x", lambda A, x: A @ A @ A @ x),
    ("A^(-2)", lambda A: np.linalg.inv(A @ A)),
    ("A^-1", lambda A: np.linalg.inv(A)),
    ("A^0*x", lambda A, x: x),
    ("A.^2", lambda A: A**2),
    ("x.^2'*y", lambda x, y: x**2 @ y),
    ("2.^x", lambda x: 2**x),
    ("1./(x.*x + vector(1))", lambda x: 1 / (x**2 + 1)),
    ("x./y", lambda x, y: x / y),
    ("A/2", lambda A: A / 2),
    ("x/(x'*x)", lambda x: x / (x @ x)),
    ("a*A .* B", lambda a, A, B: a * A * B),
    ("diag(x)*A", lambda x, A: np.diag(x) @ A),
    ("diag(A)", lambda A: np.diag(A)),
    ("diag(x')", lambda x: np.diag(x)),
    ("A + 2*eye", lambda A: A + 2 * np.eye(len(A))),
    ("A + eye()", lambda A: A + np.eye(len(A))),
    ("A + matrix(a)", lambda A, a: A + a),
    ("x' + vector(3)'", lambda x: x + 3),
    ("A*vector(1)", lambda A: A.sum(1)),
    ("vector(1)'*A*vector(a)", lambda A, a: a * A.sum()),
    ("norm2(A)", lambda A: np.sqrt((A**2).sum())),
    ("norm1(A)", lambda A: np.abs(A).sum()),
    ("norm1(a)+norm2(b)+sum(c)+tr(d)", lambda a, b, c, d: abs(a) + abs(b) + c + d),
    ("det(a)*inv(b)*adj(c)+logdet(d)", lambda a, b, c, d: a / b + np.log(abs(d))),
    ("cos(2*pi*a)", lambda a: np.cos(2 * np.pi * a)),
    ("a^b", lambda a, b: a**b),
    ("x1'*Xtrain*y_2*alpha_1", lambda x1, Xtrain, y_2, alpha_1: x1 @ Xtrain @ y_2 * alpha_1),
    ("1.5e1*a + .5 - 2. + 1E-1", lambda a: 15 * a - 1.4),
    ("-a^2", lambda a: -(a**2)),
    ("2*-a - -b", lambda a, b: -2 * a + b),
    ("2^-a", lambda a: 2**-a),
    ("a - b - c", lambda a, b, c: a - b - c),
    ("a / b / c", lambda a, b, c: a / b / c),
    ("a / b * c", lambda a, b, c: a / b * c),
    ("(a^b)^c", lambda a, b, c: (a**b) ** c),
    ("a^(b^c)", lambda a, b, c: a ** (b**c)),
    ("+ a +\n\t-(-(b))\u00a0", lambda a, b: a + b),
    ("lambda'*class", lambda *v: v[0] * v[1]),
    ("sum(X, 1)*y", lambda X, y: X.sum(0) @ y),
    ("sum(X, 2) + vector(sum(x, 1) + sum(y', 2))", lambda X, x, y: X.sum(1) + x.sum() + y.sum()),
    ("normF(A) + normF(x) + normF(a)", lambda A, x, a: norm(A) + norm(x) + abs(a)),
    ("vec(A)' * vec(x) + vec(x')'*vec(a)*x", lambda A, x, a: A.T.ravel() @ x + x @ x * a),
    ("kron(B', A)*vec(X)", lambda B, A, X: (A @ X @ B).T.ravel()),
    ("kron(A, B)*kron(x, y)", lambda A, B, x, y: np.kron(A, B) @ np.kron(x, y)),
    ("kron(x, A)", lambda x, A: np.kron(x[:, None], A)),
    ("kron(A, x')", lambda A, x: np.kron(A, x)),
    ("kron(x', y) + kron(y, x')", lambda x, y: 2 * np.outer(y, x)),
    ("kron(a, A) + kron(A, a)", lambda a, A: 2 * a * A),
    ("softmax(x)'*y", lambda x, y: scipy.special.softmax(x) @ y),
    ("softmax(X*W, 2)", lambda X, W: scipy.special.softmax(X @ W, 1)),
    ("softmax(X, 1)*softmax(a)", lambda X, a: scipy.special.softmax(X, 0)),
    ("logsumexp(A, 1)*x + logsumexp(A)", lambda A, x: logsumexp(A, 0) @ x + logsumexp(A)),
    ("max(A) + min(x) + max(a)", lambda A, x, a: A.max() + x.min() + a),
    ("max(x, 1) + min(x, y)", lambda x, y: np.maximum(x, 1) + np.minimum(x, y)),
]


@pytest.mark.parametrize(("text", "reference"), [pytest.param(*v, id=v[0]) for v in VALUES])
def test_values(text, reference):
    actual, arrays = value_of(text, domain="pos")
    assert_close(actual, reference(*arrays.values()))


ELEMENTWISE = {
    "abs": np.abs,
    "acosh": lambda x: np.arccosh(x),
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "digamma": scipy.special.digamma,
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "gamma": scipy.special.gamma,
    "gammaln": scipy.special.gammaln,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": scipy.special.expit,
    "softplus": lambda x: np.log1p(np.exp(x)),
}


@pytest.mark.parametrize("name", sorted(" ".join(row.matrixcalculus for row in ROWS).split()))
def test_every_elementwise_function(name):
    reference = ELEMENTWISE.get(name) or getattr(np, name)
    points = np.array([1.5, 2.5, 4.0]) if name == "acosh" else np.array([0.2, 0.5, 0.9])
    for text, shape in [(f"{name}(x)", (3,)), (f"{name}(A)", (3, 1)), (f"{name}(x')", (3,))]:
        expr, variables = parse_with_variables(text)
        function = se.lambdify(list(variables.values()), expr)
        assert_close(function(points.reshape(shape)), reference(points).reshape(shape))
    expr, variables = parse_with_variables(f"{name}(a)")
    assert_close(se.lambdify(variables["a"], expr)(points[0]), reference(points[0]))


# Statements of the corpus that aren't in this language, and why.
OTHER_LANGUAGE = {
    "exp_trace": "there is no function 'trace'",
    "squared_hinge_grad": "- can't combine the scalar 1",
    "cauchy_hess": "+ can't combine the scalar 1",
    "dirichlet_grad": "- can't combine the column vector a with the scalar 1",
    "attention_hessQ": "there is no function 'softmax_rows'",
    "gmm_spherical_weights": "expected an operator before 'log'",
    "caddie_ex": "expected an operator before 'elementwise'",
}


@pytest.mark.parametrize("problem", [pytest.param(p, id=p["name"]) for p in CORPUS])
def test_statements_of_the_corpus(problem):
    text = problem["statement"]
    kinds = ["scalar", "vector", "matrix"]
    declarations = {
        name: kinds[len(axes)] + (f"({','.join(axes)})" if axes else "")
        for name, axes in problem["variables"].items()
    }
    if problem["name"] in OTHER_LANGUAGE:
        assert OTHER_LANGUAGE[problem["name"]] in str(error_of(text, declarations))
        return
    actual, arrays = value_of(text, declarations, problem.get("domain"))
    names = {"np": np, "ss": scipy.special, **arrays}
    assert_close(actual, eval(problem["code"], names))


def scalar_terms():
    leaf = st.sampled_from(["a", "b", "2", "0.5", "3"])
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(" ".join),
            st.tuples(st.sampled_from("-+"), inner).map("".join),
            st.tuples(inner, st.sampled_from(["2", "(-1)"])).map(lambda t: f"({t[0]})^{t[1]}"),
            inner.map(lambda t: f"({t})"),
        ),
        max_leaves=8,
    )


@settings(max_examples=150)
@given(scalar_terms())
def test_scalar_arithmetic_has_pythons_precedence(text):
    expected_at = {"a": 1.25, "b": 0.375}
    try:
        expected = eval(text.replace("^", "**"), dict(expected_at))
    except ZeroDivisionError:
        return
    try:
        expr = parse(text)
    except se.ParseError as error:
        # A division by what cancels to 0 in symbols, though not quite in floating point.
        if "division by zero" in str(error) or "real number" in str(error):
            return
        raise
    by_name = {s: expected_at[s.name] for s in expr.free_symbols}
    assert float(expr.xreplace(by_name)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


# --- numbers, lengths, kinds ----------------------------------------------------------------------


def test_numbers_are_exact_where_they_can_be():
    assert parse("0.1") == sympy.Rational(1, 10)
    assert parse("12.50") == sympy.Rational(25, 2)
    assert parse("3.") == 3
    assert parse("1e-6") == sympy.Float(1e-6)
    assert parse("1/3") == sympy.Rational(1, 3)
    assert parse("0.0000000000000000000000000000000001").is_Float


SHAPES = [
    ("x'*A*x", "x(n) A(n,n)"),
    ("norm2(A*x-y)^2", "A(m,n) x(n) y(m)"),
    ("sum(log(exp(-y .* (X*w)) + vector(1)))", "y(n) X(n,m) w(m)"),
    ("tr(A*X'*B*X*C)", "A(m,n) X(k,n) B(k,k) C(n,m)"),
    ("log(det(inv(X)))", "X(n,n)"),
    ("norm2(T-U*V')^2", "T(m,n) U(m,k) V(n,k)"),
    ("A*B*C*D*E", "A(m,n) B(n,k) C(k,p) D(p,q) E(q,r)"),
    ("diag(x)*A*diag(y)", "x(n) A(n,m) y(m)"),
    ("diag(A)'*x", "A(n,n) x(n)"),
    ("A + eye", "A(n,n)"),
    ("A + vector(1)*x'", "A(m,n) x(n)"),
    ("x*y' + y*x'", "x(n) y(n)"),
    ("A*A' + B'*B", "A(m,n) B(k,m)"),
    ("A*A + B", "A(n,n) B(n,n)"),
    ("A^2*x", "A(n,n) x(n)"),
    ("a*x + b*y", "a() x(n) b() y(n)"),
    ("x.*y.^z", "x(n) y(n) z(n)"),
    ("n'*m + k'*k", "n(p) m(p) k(q)"),
    ("eye*x", "x(n)"),
    ("gamma(h)", "h(n)"),
]


@pytest.mark.parametrize(("text", "expected"), SHAPES)
def test_inferred_lengths(text, expected):
    assert shapes(text) == expected


def test_many_lengths_have_different_names():
    text = " + ".join(f"norm2(x{i})" for i in range(40))
    _, variables = parse_with_variables(text)
    names = [str(x.shape[0]) for x in variables.values()]
    assert len(set(names)) == 40
    assert names[:9] == [*"nmkpqrsd", "n1"]


def test_lengths_that_nothing_binds_become_symbols():
    expr = parse("a*sum(vector(1))")
    assert {s.name for s in expr.free_symbols} == {"a", "n"}
    assert str(parse("vector(1)*vector(2)'").shape) == "(n, m)"


def test_long_chains_of_equal_lengths_are_merged_without_recursion():
    lengths = [Length() for _ in range(5000)]
    for a, b in itertools.pairwise(lengths):
        assert b.merge(a)
    assert len({length.root() for length in lengths}) == 1


def test_scalars_are_real_symbols():
    assert parse("abs(a)^2") == parse("a^2")
    assert parse("a").is_real


def test_vectors_have_order_one_whichever_way_they_lie():
    assert parse("x").order == parse("x'").order == parse("A*x").order == parse("x'*A").order == 1


def test_the_expression_is_the_one_built_with_the_api():
    n, m = length_symbol("n"), length_symbol("m")
    A, x, y = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,)), se.TensorSymbol("y", (m,))
    assert parse("A*x - y") == A @ x - y
    assert parse("norm2(A*x - y)^2") == ((A @ x - y) ** 2).sum()
    assert parse("tr(A*A')") == (A @ A.T).trace()
    assert parse("x + vector(1)") == x + 1


# --- declarations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "declarations", "expected"),
    [
        ("a'*X*b", "a, b vector", "a(n) X(n,m) b(m)"),
        ("a'*X*b", {"a": "vector", "b": "vector"}, "a(n) X(n,m) b(m)"),
        ("k*x", "k: matrix", "k(m,n) x(n)"),
        ("k*x", ["k matrix(p, 3)"], "k(p,3) x(3)"),
        ("k*x", "k matrix(n, n); x vector(n)", "k(n,n) x(n)"),
        ("A*x", "A symmetric matrix", "A(n,n) x(n)"),
        ("A*x", "A positive matrix", "A(m,n) x(n)"),
        ("X*y", "X scalar", "X() y(n)"),
        ("gamma*gamma(a)", "gamma scalar", "gamma() a()"),
        ("pi'*x", "pi vector", "pi(n) x(n)"),
        ("x + y", "x vector(p)", "x(p) y(p)"),
        ("x", "Z matrix", "x(n)"),
        ("x", {}, "x(n)"),
        ("x'*A*x", "n vector(k)", "x(m) A(m,m)"),
    ],
)
def test_declarations(text, declarations, expected):
    assert shapes(text, declarations) == expected


def test_declared_assumptions_reach_the_symbols():
    _, variables = parse_with_variables(
        "x'*K*x + log(b)", "K psd symmetric matrix; b positive scalar; x Nonnegative Vector"
    )
    length = variables["x"].shape[0]
    K = se.TensorSymbol("K", (length, length), psd=True, symmetric=True)
    assert variables["K"] == K
    assert variables["x"] == se.TensorSymbol("x", (length,), nonnegative=True)
    assert variables["b"].is_positive


def test_own_symbols_are_used():
    n, t = sympy.symbols("n t", integer=True, positive=True)
    A, v = se.TensorSymbol("A", (2 * n, n)), se.TensorSymbol("v", (n,))
    expr, variables = parse_with_variables("t*M*y/n", {"M": A, "y": v, "t": t, "n": n})
    assert expr == t * (A @ v) / n
    assert variables == {"t": t, "M": A, "y": v, "n": n}
    assert "M has n columns, but y has 2*n rows" in str(
        error_of("M*y", {"M": A, "y": A[:, 0].shape[0] * 0 + se.TensorSymbol("y", (2 * n,))})
    )


@pytest.mark.parametrize(
    ("declarations", "message"),
    [
        ("x", "can't read the declaration 'x'"),
        ("x foo", "'x' can't be a 'foo': expected scalar, vector, matrix"),
        ("X symetric matrix", "a matrix can't be 'symetric': expected diagonal"),
        ("x symmetric vector", "a vector can't be 'symmetric'"),
        ("x vector(n,m)", "'x' is a vector; expected 1 lengths"),
        ("x scalar(n)", "'x' is a scalar; expected 0 lengths"),
        ("x vector(0)", "'0' is no length for 'x'"),
        ("x vector(-1)", "'-1' is no length"),
        ("x vector()", "'' is no length"),
        ("X symmetric matrix(2, 3)", "'X' must be square, not 2 by 3"),
        ("1x vector", "can't read the declaration"),
        ("x vector; x scalar", "'x' is declared twice"),
        ("y vector(x)", "'x' is both a variable of the text and a declared length"),
        (3, "can't read the declaration 3"),
        ([3], "can't read the declaration 3"),
        ({"x": 3}, "can't declare 'x' as 3"),
        ({3: "vector"}, "can't declare 3"),
        ({"x y": "vector"}, "can't declare 'x y'"),
        ({"x": "y z vector"}, "a vector can't be 'y'"),
        ({"x": se.TensorSymbol("x", (2, 3, 4))}, "'x' has order 3"),
    ],
)
def test_bad_declarations(declarations, message):
    assert message in str(error_of("exp(x + y)", declarations))


def test_declarations_in_one_string_or_many_are_the_same():
    assert read_declarations("a vector; B scalar;") == read_declarations(["a vector", "B scalar"])


# --- errors ---------------------------------------------------------------------------------------

ERRORS = [
    ("", "the text is empty", None),
    (" \n", "the text is empty", None),
    ("x y", "expected an operator before 'y'", 2),
    ("2x", "expected an operator before 'x'; a product is written with *", 1),
    ("(x+y)(x)", "expected an operator before '('", 5),
    ("3 4", "expected an operator before '4'", 2),
    ("(x", "this '(' is never closed; expected ')'", 0),
    ("sum(x .* (y + z)", "this '(' is never closed", 3),
    ("x)", "this ')' has no '(' before it", 1),
    (
        "x + * y",
        "expected a number, a variable, a function call or '(' after '+', but found '*'",
        4,
    ),
    ("x +  ", "but found the end of the text", 3),
    ("*x", "expected a number, a variable", 0),
    ("()", "expected a number, a variable, a function call or '('", 1),
    ("sin(,)", "but found ','", 4),
    ("a, b", "commas separate the arguments", 1),
    ("x**2", "a power is written ^", 2),
    ("A@x", "the product of matrices is written A*B", 1),
    ("A.T", "the transpose is written A'", 1),
    ("Aᵀ", "the transpose is written A'", 1),
    ("np.sum(x)", "np.sum is Python's; functions have no module", 2),
    ("np.sum(x)", "write sum(...)", 2),
    ("x + np.linalg.norm(x)", "np.linalg.norm is Python's", 6),
    ("x.sum()", "x.sum is Python's; functions have no module, and no methods", 1),
    ("x.shape", "x.shape is Python's; names have no dots", 1),
    ("A’", "a straight prime", 1),
    ("a·b", "the product is written *", 1),
    ("x[0]", "brackets are written ( )", 1),
    ("x = y", "without an equation", 2),
    ("α + a", "names are made of the letters", 0),
    ("a ? b", "unexpected character '?'", 2),
    ("_x", "unexpected character '_'", 0),
    ("٣", "unexpected character", 0),
    ("a^b^c", "write (a^b)^c or a^(b^c)", 3),
    ("sum", "sum is a function; write sum(...)", 0),
    ("x + foo(x)", "there is no function 'foo'; expected one of abs", 4),
    ("Exp(x)", "perhaps 'exp' is meant", 0),
    ("a(b + c)", "a product is written a*(...)", 0),
    ("sum()", "sum takes one argument", 0),
    ("sin(x, y)", "sin takes one argument", 0),
    ("eye(3)", "eye takes no argument, its size is inferred", 0),
    ("x*y", "write x.*y for the elementwise or x'*y for the inner product", 1),
    ("x'*y'", "x'.*y' for the elementwise or x'*y'' for the inner", 2),
    ("(x+y)*(x+z)", "(x+y)'*(x+z) for the inner product", 5),
    ("A*x'", "a matrix stands left of a column vector, such as x", 1),
    ("x*A", "a matrix stands right of a row vector, such as x'", 1),
    ("x + a", "to repeat the scalar write vector(a)", 2),
    ("1 - x'", "to repeat the scalar write vector(1)'", 2),
    ("x'*x + A", "to repeat the scalar write matrix(x'*x)", 5),
    ("x' + y", "transpose one of them", 3),
    ("x + A", "+ can't combine the column vector x with the matrix A", 2),
    ("A .* x", ".* can't combine the matrix A with the column vector x", 2),
    ("x/y", "write ./ for the elementwise quotient", 1),
    ("a/A", "or inv(A) in a product", 1),
    ("x^2", "the elementwise power is written .^", 1),
    ("A^0.5", "needs an integer exponent between -64 and 64, not 0.5", 1),
    ("A^65", "needs an integer exponent", 1),
    ("A^a", "needs an integer exponent", 1),
    ("a^x", "^ needs a scalar exponent", 1),
    ("softmax(X)", "softmax(X, 1), or along its rows, softmax(X, 2)", 0),
    ("sum(x, 2)", "the column vector x has no direction 2", 0),
    ("sum(X, 3)", "sum goes down the columns (1) or along the rows (2)", 0),
    ("kron(A)", "kron takes two arguments; expected kron(..., ...)", 0),
    ("sum(A, 1, 2)", "sum takes one argument or two arguments", 0),
    ("x + kron(x, y)", "x has ? rows, but kron(x, y) has ? * ? rows", 2),
    ("X^T", "the transpose is written X'", 1),
    ("det(x)", 'x is a vector by its first letter: declare "x matrix" if it is one', 0),
    ("X*x'", 'X is a matrix by its first letter: declare "X vector" if it is one', 1),
    ("tr(x)", "tr needs a square matrix, not the column vector x", 0),
    ("diag(a)", "diag needs a vector or a square matrix", 0),
    ("vector(x)", "vector repeats a scalar, not the column vector x", 0),
    ("1/0", "division by zero", 1),
    ("x./(a-a)", "division by zero", 1),
    ("(a-a)^(-1)", "not a real number", 5),
    ("log(0)", "not a real number", 0),
    ("sqrt(-1)*x", "not a real number", 0),
    ("sqrt(vector(-1))", "not a real number", 0),
    ("(-8)^(1/3)", "not a real number", 4),
    ("1e999", "out of the range of double precision", 0),
    ("1e-999", "out of the range of double precision", 0),
    ("9" * 400, "out of the range of double precision", 0),
]


@pytest.mark.parametrize(
    ("text", "message", "position"), [pytest.param(*e, id=e[0][:20]) for e in ERRORS]
)
def test_errors_say_where_and_what(text, message, position):
    error = error_of(text)
    assert message in str(error)
    assert error.position == position
    if position is not None:
        assert error.text == text
        *_, excerpt, caret = str(error).split("\n")
        start = max(0, position - 60)
        assert caret.index("^") - 2 == position - start
        assert excerpt[2:] == text[start : position + 20].replace("\n", " ")


def test_lengths_that_are_known_to_differ():
    declared = "A matrix(3, 4); x vector(n); y vector(m)"
    assert "A is 3 by 4" in str(error_of("inv(A)", declared))
    assert "x has n rows, but y has m rows" in str(error_of("x + y", declared))
    assert "A has 4 columns, but z has 3 rows" in str(
        error_of("norm1(A'*z) + norm1(A*z)", declared)
    )
    assert "A has 3 rows, but A' has 4 rows" in str(error_of("A + A'", declared))


def test_other_things_than_text():
    for value in (None, 3, b"x", sympy.Symbol("x")):
        with pytest.raises(se.ParseError, match="parse reads text"):
            parse(value)


# --- hostile and degenerate text ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('false')",
        "a.__class__",
        "exec(a)",
        "eval(a)",
        "lambda: a",
        "a if b else c",
        '"a"',
        "a; b",
        "x\\y",
        "$(a)",
        "a\x00",
    ],
)
def test_python_is_not_evaluated(text):
    error_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 4000 + "x" + ")" * 4000,
        "x" + "'" * 9000,
        "-" * 9000 + "x",
        "exp(" * 1500 + "x" + ")" * 1500,
        "*".join(["A"] * 3000),
        "+".join(f"x{i}" for i in range(1500)),
        "/".join(["a"] * 3000),
    ],
    ids=["parentheses", "primes", "minus", "exp", "product", "sum", "quotient"],
)
def test_deep_text_works(text):
    assert isinstance(parse(text), sympy.Expr)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sin(" * 500 + "a" + ")" * 500, "nested more than 64 deep"),
        ("(" * 500 + "a" + ")^b" * 500, "nested more than 64 deep"),
        ("*".join(["A"] * 40_000), "takes more than 2 s"),
        ("x" * 100_001, "at most 100000 are read"),
        ("9^9999999", "the exponent is too large"),
        ("9^(9^(9^9))", "the exponent is too large"),
        ("((2*a)^9999)^9999", "the number is too large"),
        ("vector(9).^(10^8)", "the exponent is too large"),
        ("vector(9).^vector(10^8)", "the exponent is too large"),
        ("gamma(10^9)", "the argument of gamma is too large"),
        ("digamma(vector(10^9))", "the argument of digamma is too large"),
        ("exp(exp(exp(1e2)))", "the number is too large"),
        ("1e308*1e308", "the number is too large"),
    ],
)
def test_bounds(text, message):
    assert message in str(error_of(text))


TOKENS = st.sampled_from(
    [
        *"aexyAB()'+-*/^,",
        ".*",
        "./",
        ".^",
        "2",
        "0",
        "1.5",
        "sum(",
        "exp(",
        "vector(",
        "eye",
        "inv(",
    ]
)


@settings(max_examples=300)
@given(st.one_of(st.lists(TOKENS, max_size=12).map("".join), st.text(string.printable, max_size=9)))
def test_any_text_is_read_or_refused(text):
    try:
        expr, variables = parse_with_variables(text)
    except se.ParseError:
        return
    assert isinstance(expr, sympy.Expr)
    assert all(name in text for name in variables)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1/2*(x-m)'*inv(S)*(x-m)", "-((x - m) @ inv(S) @ (x - m))/2"),
        ("-(x-m)'*inv(S)*(x-m)", "-((x - m) @ inv(S) @ (x - m))"),
        ("2*(A-B)*x", "2*((A - B) @ x)"),
        ("a*(x-m)'*A*3*y", "3*a*((x - m) @ A @ y)"),
        ("(2*(x-m))'*y", "y @ (2*x - 2*m)"),
        ("2*(x-m)", "2*x - 2*m"),
    ],
)
def test_a_leading_scalar_stays_in_front_of_a_product(text, expected):
    assert str(se.parse(text)) == expected
