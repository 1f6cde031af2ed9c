"""Expressions in Python: their lengths, their values, and what is refused."""

import numpy as np
import pytest
import sympy
from oracles import assert_close

import sympy_einsum as se
from sympy_einsum import ParseError
from sympy_einsum.languages import parse_with_variables, variable_kinds

# Texts, declarations, and the shapes of the variables in order of appearance.
TEXTS = [
    ("np.sum(x**2)", None, "n"),
    ("A @ x - b", "b vector", "mn n m"),
    ("np.sum((A @ x - y)**2)", None, "mn n m"),
    ("x.T @ np.linalg.inv(K) @ x", "K pd", "n nn"),
    ("np.sum(np.log(1 + np.exp(-y * (X @ w))))", None, "m mn n"),
    ("np.exp(X - X.max(axis=1)[:, None]).sum(axis=1) * y", None, "mn m"),
    ("(X - X.mean(axis=0)) @ w", None, "mn n"),
    ("np.linalg.solve(A, y) @ x", None, "nn n n"),
    ("np.trace(A @ B.T) + c", None, "nm nm -"),
    ("np.linalg.det(A.T @ A + c*np.eye(A.shape[1]))", None, "mn -"),
    ("np.maximum(x, 0) @ y + x[0]", None, "n n"),
    ("np.where(x > z, x, 2*z).mean()", None, "n n"),
    ("np.matmul(A, np.transpose(W)) @ y", None, "mn kn k"),
]


@pytest.mark.parametrize(("text", "declarations", "shapes"), TEXTS, ids=[t[0] for t in TEXTS])
def test_values(text, declarations, shapes):
    """NumPy evaluates the text itself on arrays of the lengths that were inferred."""
    expr, variables = parse_with_variables(text, declarations, "python")
    lengths = {}
    for letter, length in zip(
        [c for shape in shapes.split() for c in shape if c != "-"],
        [length for symbol in variables.values() for length in getattr(symbol, "shape", ())],
        strict=True,
    ):
        assert lengths.setdefault(letter, length) == length
    assert len(set(lengths.values())) == len(lengths)
    numbers = {length: 3 + k for k, length in enumerate(lengths.values())}
    rng = np.random.default_rng(0)
    values = {}
    for name, symbol in variables.items():
        own = rng.standard_normal([numbers[n] for n in getattr(symbol, "shape", ())])
        values[name] = own @ own.T if name == "K" else own
    expected = eval(text, {"np": np, **values})
    found = se.lambdify([*variables.values()], expr)(*values.values())
    assert_close(np.asarray(found), np.asarray(expected), 1e-9)


def test_numbers():
    numbers = [
        se.parse(text, syntax="python") for text in ("2**2", "max(2, 3)", "len([1, 2])", "1 < 2")
    ]
    assert numbers == [4, 3, 2, 1]
    assert all(isinstance(number, sympy.Integer) for number in numbers)


def test_languages_are_told_apart():
    assert se.parse("np.sum(x**2)") == se.parse("sum(x.^2)")
    assert se.parse("A @ x") == se.parse("A*x")
    assert variable_kinds("np.sin(t) + pi") == {"t": "vector"}
    assert variable_kinds("A*x + b") == {"A": "matrix", "x": "vector", "b": "scalar"}


REFUSED = [
    ("", "the text is empty"),
    ("x @", "no expression of Python: invalid syntax, at position 3"),
    ("x**2 +\n  )", "line 2"),
    ("x)\nimport os\n(y", "no expression of Python"),
    ("np.sum(2in x)", "`in` isn't read"),  # Python's own warning stays out of it.
    ("np.sum(frob(x))", "nothing is known of 'frob'.*, at position 7"),
    ("x, y", "a tuple"),
    ("x.foo", "foo"),
    ("np.float64", "not a DType, at position 0"),
    ("__import__('os').getcwd()", "nothing is known of '__import__'"),
    ("A @ x + x @ A + np.ones(3) @ np.ones(4)", "lengths must be equal"),
    ("(" * 10_000 + "x" + ")" * 10_000, "no expression of Python"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[t[:20] for t, _ in REFUSED])
def test_errors(text, message):
    with pytest.raises(ParseError, match=message):
        se.parse(text, syntax="python")
