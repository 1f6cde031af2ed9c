"""Ricci calculus: table 1 of the paper, sums over upper and lower indices, errors, bounds."""

import string

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st
from oracles import assert_close
from test_lippmann import SQUARE, texts

import sympy_einsum as se


def parse(text, declarations=None):
    return se.parse(text, declarations, syntax="ricci")


A, B = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("B", (3, 4))
S, T = se.TensorSymbol("S", (3, 3)), se.TensorSymbol("T", (2, 3, 4))
u, x, y = se.TensorSymbol("u", 2), se.TensorSymbol("x", 3), se.TensorSymbol("y", 3)
c = sympy.Symbol("c", real=True)
KNOWN = {"A": A, "B": B, "S": S, "T": T, "u": u, "x": x, "y": y, "c": c}

# Table 1 of the paper, and what it says of sums, functions and the delta tensor.
TEXTS = [
    ("x_i y^i", x @ y),
    ("x_i S^i_j y^j", x @ (S @ y)),
    ("u^i = A^i_j x^j", A @ x),
    ("A^i_j x^j", A @ x),
    ("y_j = u_i A^i_j", u @ A),
    ("C^i_k = A^i_j B^j_k", A @ B),
    ("A^i_j = u^i x_j", se.outer(u, x)),
    ("z^i = x^i y^i", x * y),
    ("B^i_j = A^i_j x_j", A * x[None, :]),
    ("B^i_j = u^i A^i_j", u[:, None] * A),
    ("A^j_i", A.T),
    ("C_{ji} = A_{ij}", A.T),
    ("A_{ji}", A.T),
    ("A_{ij}", A),
    ("S^i_i", se.trace(S)),
    ("S^{ii}", se.diagonal(S)),
    ("S^i_j δ^j_i", se.trace(S)),
    ("δ_{ij} x^i", x),
    ("δ^{ij} x^i", se.diag(x)),
    ("delta^i_j + S^i_j", S + se.Delta(3)),
    ("x^i + y^i - 2 x^i", y - x),
    ("-x^i", -x),
    ("exp(A^i_j)", se.exp(A)),
    ("1 + exp(x^i)", 1 + se.exp(x)),
    ("x^i + 0^i", x),
    ("x^i 1_i", x.sum()),
    ("det(S^i_j)", se.det(S)),
    ("inv(S^i_j) x^j", se.inv(S) @ x),
    ("log(det(S^i_j)) + c^2", sympy.log(se.det(S)) + c**2),
    ("c (x^i + y^i)", c * (x + y)),
    ("c*x^i/(x_j x^j)", c * x / (x @ x)),
    ("x^i / y^i", x / y),
    ("(x^i)^2", x**2),
    ("x^i^2", x**2),
    ("(x_i x^i)^(1/2)", sympy.sqrt(x @ x)),
    ("c^-1 x^i", x / c),
    ("T^i_{jk} x^j", se.einsum("ijk,j->ik", T, x)),
    ("T^{ijk} x_j 1_k", se.einsum("ijk,j->i", T, x)),
    ("(x_j x^j) x^i", (x @ x) * x),
    ("2.5e0 c", 2.5 * c),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS, ids=[text for text, _ in TEXTS])
def test_texts(text, expected):
    found = parse(text, KNOWN)
    assert getattr(found, "shape", ()) == getattr(expected, "shape", ())
    rng = np.random.default_rng(1)
    arrays = {k: rng.uniform(0.5, 1.5, getattr(s, "shape", ())) for k, s in KNOWN.items()}
    arrays["S"] += np.eye(3)
    assert_close(*se.lambdify(list(KNOWN.values()), [found, expected])(*arrays.values()))


@pytest.mark.parametrize("expected", [e for _, e in TEXTS], ids=str)
def test_written_texts_are_parsed_back(expected):
    again = parse(se.to_text(expected, "ricci"), KNOWN)
    assert again == expected


@settings(max_examples=100)
@given(st.integers(0, 2).flatmap(texts))
def test_any_expression_is_written_and_read_again(text):
    """For expressions whose symbols determine all axis lengths."""
    try:
        e = se.parse(text, SQUARE, syntax="lippmann")
    except se.ParseError:
        return
    try:
        again = parse(se.to_text(e, "ricci"), SQUARE)
    except se.UnsupportedError as error:
        assert "too few letters" in str(error)  # noqa: PT017
        return
    if again == e or again.free_symbols - e.free_symbols:  # a length that nothing tells
        return
    rng = np.random.default_rng(3)
    arrays = [rng.uniform(0.1, 0.2, getattr(s, "shape", ())) for s in SQUARE.values()]
    try:
        found, expected = se.lambdify(list(SQUARE.values()), [again, e])(*arrays)
    except np.linalg.LinAlgError:  # singular
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (x @ S @ y, "(S_j^i x^j) y_i"),
        (A @ x, "A^i_j x^j"),
        (A.T, "A_j^i"),
        (se.outer(u, x), "u^i x_j"),
        (2 * se.diag(x), "2 x^i δ^i_j"),
        (se.det(S) * x - y, "-y^i + det(S^j_k) x^i"),
        (x.sum(), "x_i 1^i"),
        (se.einsum("ijk->jik", T), "T_j^i_k"),
        (c + sympy.sqrt(x @ x), "c + (x_i x^i)^(1/2)"),
    ],
)
def test_how_it_is_written(e, text):
    assert set(se.to_text(e, "ricci").split()) == set(text.split())
    assert parse(text, KNOWN) == e


@pytest.mark.parametrize(
    ("e", "latex"),
    [
        (A @ x, r"A^i{}_j\, x^j"),
        (A.T - 2, r"-2 + A_j{}^i"),
        (se.sin(x) * 2, r"2\, \operatorname{sin}(x^i)"),
        (se.diag(x), r"x^i\, \delta^i{}_j"),
        (c + x @ x, r"c + (x_i\, x^i)"),
    ],
)
def test_latex(e, latex):
    assert se.latex(e, notation="ricci") == latex


def test_inferred_lengths():
    e = parse("C^i_k = M^i_j N^j_k + P^i_k")
    shapes = {s.name: s.shape for s in e.free_symbols}
    assert shapes["M"][1] == shapes["N"][0]
    assert shapes["P"] == (shapes["M"][0], shapes["N"][1]) == e.shape


def test_derivatives_of_the_paper():
    """The paper's example: the gradient of x'Ax and its Hessian."""
    f = parse("x_i S^i_j x^j", KNOWN)
    assert se.diff(f, x) == parse("S^i_j x^j + S_j^i x^j", KNOWN)
    hessian = se.to_text(se.diff(f, x, 2), "ricci")
    assert parse(hessian, KNOWN) == S + S.T


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x^i + y_i", "terms of a sum need the same indices: x^i has upper i, y_i has lower i"),
        ("x^i + y^j", "x^i has upper i, y^j has upper j"),
        ("x^i + c", "c has none"),
        ("A^i_j u^j", "index j is one axis, but in A^i_j it has length 3 and in u^j length 2"),
        ("x^i + u^i", "index i is one axis, but in x^i it has length 3 and in u^i length 2"),
        ("A^i", "A has order 2, but 1 indices here"),
        ("det(A^i_j)", "det needs a square matrix, not one of 2 by 3"),
        ("det(x^i)", "det needs two free indices, x^i has upper i"),
        ("y^j = A^i_j x^j", "the left side has the indices upper j, the right upper i"),
        ("δ^i", "δ has two indices, not 1"),
        ("x^i / y_i", "a divisor's indices must stand in the dividend"),
        ("c^(x^i)", "an exponent has no indices"),
        ("foo(x^i)", "there is no function 'foo'; a product has a space before '('"),
        ("c(x^i)", "there is no function 'c'; a product has a space"),
        ("x^i +", "found the end of the text"),
        ("exp(x^i", "this '(' is never closed"),
        ("x^i @ y", "unexpected character '@'"),
        ("1/0", "division by zero"),
        ("", "the text is empty"),
        ("x" * 100_001, "at most 100000 are read"),
        ("(" * 1001 + "c" + ")" * 1001, "nested more than 1000 deep"),
        ("sin(" * 70 + "c" + ")" * 70, "nested more than 64 deep"),
    ],
)
def test_errors(text, message):
    with pytest.raises(se.ParseError) as caught:
        parse(text, KNOWN)
    assert message in str(caught.value)


def test_wrong_declarations():
    for declarations in ["A 2", {"x": 1}, ["x"]]:
        with pytest.raises(se.ParseError):
            parse("x^i", declarations)


@pytest.mark.parametrize(
    ("e", "message"),
    [
        (se.softmax(x), "no Softmax"),
        (x**y, "no Pow of this kind"),
        (se.TensorSymbol("x_1", 2), "no tensor 'x_1'"),
        (se.TensorSymbol("δ", 2), "no tensor"),
    ],
)
def test_expressions_without_text(e, message):
    with pytest.raises(se.UnsupportedError, match=message):
        se.to_text(e, "ricci")


TOKENS = st.sampled_from([*"AxcS()+-*/^_= ", "^i", "_j", "^{ij}", "_{i}", "2", "δ", "sin(", "det("])


@settings(max_examples=200)
@given(st.one_of(st.lists(TOKENS, max_size=12).map("".join), st.text(string.printable, max_size=9)))
def test_any_text_is_read_or_refused(text):
    try:
        parse(text, KNOWN)
    except se.ParseError:
        return


@pytest.mark.parametrize(
    "text",
    [
        "c = x_i A^i_j y^j",
        "c = x_i y_j A^i^j",
        "c_k = x_i A^i^j y_k z_j",
        "c = A_i^i z^j z_j",
        "c_j^k = y^i A_i_j y^k",
        "c_i = y_i A_j^j",
        "c = z_i C^i^j y^k A_k_j",
        "c_i = x_i A_j^k y_k z^j",
        "c_i = x_i y_i",
        "c^i_k = A^i_j C^j_k",
        "c^i = A^i_j C^j_k A^k_l x^l",
        "c^i_j = x^i y_j",
        "c_i = 2 A_i^j C_j^k x_k",
    ],
)
def test_parsed_products_equal_evaluated_texts(text):
    """Products are built as by operators, one factor after the other."""
    n = sympy.Symbol("n", integer=True, positive=True)
    known = {name: se.TensorSymbol(name, n, n) for name in "AC"}
    known |= {name: se.TensorSymbol(name, n) for name in "xyz"}
    found = parse(text, known)
    assert eval(str(found), {**vars(se), **known, "n": n}) == found
