"""Long expressions are printed with named parts, in time and length linear in the graph; the
definitions are correct, and the texts evaluate back."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
import sympy
from einsum_programs import LENGTHS, SIZES, Generator
from forms_meaning import Meaning
from sympy import symbols
from test_notation import Matrices
from texts import TYPED, assert_same_value, leaves_of

import sympy_einsum as se
from sympy_einsum.core import tuning
from sympy_einsum.printing import naming
from sympy_einsum.printing.notation import Notation

m, n = symbols("m n", integer=True, positive=True)
t = symbols("t")
x, y = se.tensors("x y", n)
A = se.TensorSymbol("A", (n, n))
X, Y = se.tensors("X Y", m, n)
RANDOM = 60


def weights(name, count):
    return [se.TensorSymbol(f"{name}_{k}", (n, n)) for k in range(1, count + 1)]


def tanh_network(layers):
    W, h = weights("W", layers), x
    for k, weight in enumerate(W):
        h = se.tanh(weight @ h + se.TensorSymbol(f"b_{k}", n))
    return se.gradient((h - y) @ (h - y), W[0])


def gelu_network(layers):
    W, h = weights("W", layers), X
    for weight in W:
        z = h @ weight
        h = z * (1 + se.erf(z / sympy.sqrt(2))) / 2
    return se.gradient(((h - Y) ** 2).sum(), W[0])


def norm_network(layers):
    W, h = weights("W", layers), X
    for weight in W:
        z = se.tanh(h @ weight)
        centred = z - z.mean(axis=1, keepdims=True)
        h = centred / se.sqrt((centred**2).mean(axis=1, keepdims=True) + sympy.Rational(1, 1000))
    return se.gradient(((h - Y) ** 2).sum(), W[0])


def attention_network(layers):
    Q, K, V = (weights(name, layers) for name in "QKV")
    h = X
    for q, k, v in zip(Q, K, V, strict=True):
        h = h + se.softmax((h @ q) @ (h @ k).T / sympy.sqrt(n), axis=1) @ (h @ v)
    return se.gradient(((h - Y) ** 2).sum(), Q[0])


def recurrent_network(steps):
    W, U, h, loss = A, se.TensorSymbol("U", (n, m)), x, 0
    for k in range(steps):
        h = se.tanh(W @ h + U @ se.TensorSymbol(f"u_{k}", m))
        loss = loss + (h - se.TensorSymbol(f"v_{k}", n)) @ (h - se.TensorSymbol(f"v_{k}", n))
    return se.gradient(loss, W)


NETWORKS = [
    (tanh_network, 30),
    (gelu_network, 30),
    (norm_network, 30),
    (attention_network, 30),
    (recurrent_network, 50),
]
PRINTERS = {
    "str": str,
    "latex": se.latex,
    "pretty": se.pretty,
    "stock latex": sympy.latex,
    "stock pretty": sympy.pretty,
    "mathml": lambda e: sympy.mathml(e, printer="presentation"),
}


@pytest.mark.parametrize(("network", "size"), NETWORKS, ids=[row[0].__name__ for row in NETWORKS])
def test_networks(network, size):
    half, whole = network(size // 2), network(size)
    for name, printer in PRINTERS.items():
        begin = time.process_time()
        text = printer(whole)
        assert time.process_time() - begin < 10, name
        assert len(text) < 2.6 * len(printer(half)), name
        assert "operations" not in text


def test_where():
    e = tanh_network(4)
    text = se.latex(e)
    assert text.startswith(r"\begin{aligned} & 2 ")
    assert r"\text{where } h_{1} & = \tanh{\left(W_{1} x + b_{0} \right)} \\ h_{2} & = " in text
    assert text == sympy.latex(e) == e._repr_latex_()[len(r"$\displaystyle ") : -1]
    assert not re.search("where|h_", se.latex(e, where=False))
    assert "where h₁ = tanh(W₁⋅x + b₀)" in se.pretty(e)
    assert "where h₁ = tanh(W₁⋅x + b₀)" in sympy.pretty(e)
    assert "where" not in se.pretty(e, where=False)
    assert str(e).startswith("(h_1 := tanh(W_1 @ x + b_0), h_2 := tanh(W_2 @ h_1 + b_1), ")
    assert "<mtext>where&#160;</mtext>" in sympy.mathml(e, printer="presentation")


def test_short_expressions_have_no_names():
    assert "where" not in se.latex(tanh_network(2))
    assert ":=" not in str(tanh_network(2))


def test_where_inside_stock_expressions():
    """se.latex appends the definitions; SymPy's printers can't, so definitions are printed in
    brackets in place."""
    f = tanh_network(5).sum()
    ours = se.latex(t * sympy.sin(f))
    assert ours.startswith(r"\begin{aligned} & h_{6} t \\ \text{where } h_{1} & = \tanh")
    assert ours.count("where") == 1
    theirs = sympy.latex(t * sympy.sin(f))
    assert theirs.startswith(r"t \sin{\left(2 \left(\begin{aligned}")
    assert theirs.count("where") == 1
    assert se.latex([tanh_network(5), x]).startswith(r"\begin{aligned} & \left[ 2")
    assert sympy.pretty(t * sympy.sin(f)).count("where") == 1
    names = {s.name: s for s in leaves_of(t * f)}
    for e in (t * sympy.sin(f), 1 / f, -f, t - f / 2, f**2 / t):
        assert_same_value(eval(str(e), {**TYPED, **names}), e)


def test_names_are_new():
    """No part is named like a symbol or a length of the expression."""
    h1, h_2 = se.TensorSymbol("h1", n), se.TensorSymbol("h_2", n)
    h = h1
    for weight in weights("W", 5):
        h = se.tanh(weight @ h + h_2)
    e = se.gradient(h @ h, h1)
    assert re.findall(r"(h_\d) :=", str(e))[0] == "h_3"
    assert r"where } h_{3}" in se.latex(e)
    other = sympy.Symbol("h_1") * tanh_network(5).sum()
    namespace = {**TYPED, **{s.name: s for s in leaves_of(other)}}
    assert_same_value(eval(str(other), namespace), other)
    assert_same_value(eval(str(1 / other), namespace), 1 / other)


@pytest.fixture
def eager(monkeypatch):
    """Treat everything as long."""
    monkeypatch.setattr(tuning, "MAX_UNNAMED_PARTS", 6)
    monkeypatch.setattr(tuning, "SMALL_PART", 1)
    monkeypatch.setattr(tuning, "LONG_PART", 8)
    monkeypatch.setattr(tuning, "LONG_TEXT", 20)
    naming._extents.clear()
    yield
    naming._extents.clear()


@pytest.mark.parametrize("seed", range(RANDOM))
def test_texts_with_names_evaluate_back(eager, seed):
    generator = (Generator, Matrices)[seed % 2](9000 + seed)
    e, _, _ = generator.expression(2)
    if not isinstance(e, se.TensorExpr):
        return
    names = {s.name: s for s in {*generator.data, *leaves_of(e, *generator.data)}}
    f = (e * e).sum() if e.order else e
    for shown in (e, e * e + 2 * se.sin(e * e), t * f**2 - 1 / (f + 3)):
        assert_same_value(eval(str(shown), {**TYPED, **names, "t": t}), shown)


@pytest.mark.parametrize("style", ["auto", "matrix", "index"])
@pytest.mark.parametrize("seed", range(RANDOM // 2))
def test_definitions_are_true(eager, seed, style):
    """Computing the definitions in order gives the value."""
    generator = (Generator, Matrices)[seed % 2](7000 + seed)
    e, _, _ = generator.expression(2)
    if not isinstance(e, se.TensorExpr):
        return
    e = e * e + 2 * se.sin(e * e) if e.order else e
    lengths = {LENGTHS[axis]: SIZES[axis] for axis in "abc"}
    arguments = [*generator.data, *lengths]
    function = se.lambdify(arguments, e)
    value = np.asarray(function(*generator.data.values(), *lengths.values()))
    try:
        found = read(Notation(style), e, dict(generator.data), lengths)
    except se.UnsupportedError:
        assert style == "matrix"
        return
    np.testing.assert_allclose(found, value, rtol=0, atol=1e-8 * (1 + np.abs(value).max(initial=0)))


def read(notation, e, data, lengths):
    """Return the array that a formula with its definitions stands for."""
    form = notation.form(e)
    for name, meaning in notation.definitions():
        symbol = name.parts[0] if name.kind == "entry" else name
        shape = [int(sympy.sympify(d).subs(lengths)) for d in symbol.data[0].shape]
        letters = name.data if name.kind == "entry" else None
        data[symbol.data[0]] = Meaning(data, lengths, notation.style).whole(meaning, shape, letters)
    shape = [int(sympy.sympify(d).subs(lengths)) for d in e.shape]
    letters = notation._letters()[: e.order] if e.order and notation.has_indices(e) else None
    return Meaning(data, lengths, notation.style).whole(form, shape, letters)


def vectors(count):
    return [se.TensorSymbol(f"x{k}", n) for k in range(count)]


def matrices(count):
    return [se.TensorSymbol(f"A{k}", (n, n)) for k in range(count)]


def in_one_call(factors, axes):
    arguments = [part for k, f in enumerate(factors) for part in (f, list(range(k, k + axes)))]
    return se.einsum(*arguments, [0, len(factors)])


def hadamard(count):
    product = x
    for vector in vectors(count):
        product = product * vector
    return product


def hadamard_in_one_call(count):
    return se.einsum(*[part for vector in vectors(count) for part in (vector, [0])], [0])


def repeated(count):
    e = x
    for _ in range(count):
        e = A @ e
    return e


def nested_inverses(count):
    e = A
    for matrix in matrices(count):
        e = se.inv(e + matrix)
    return e


def nested_scalars(count):
    f = x @ x
    for vector in vectors(count):
        f = sympy.exp(f / 10 + x @ vector)
    return f * x


WIDE = [
    ("hadamard", hadamard, 1000),
    ("hadamard in one call", hadamard_in_one_call, 1000),
    ("chain in one call", lambda N: in_one_call(matrices(N), 2), 1000),
    ("power in one call", lambda N: in_one_call([A] * N, 2), 1000),
    ("power", repeated, 1000),
    ("nested inverses", nested_inverses, 300),
    ("nested stock scalars", nested_scalars, 60),
]  # fmt: skip


@pytest.mark.parametrize(
    ("build", "count"), [row[1:] for row in WIDE], ids=[row[0] for row in WIDE]
)
def test_wide_and_deep_expressions(build, count):
    e = build(count)
    for name, printer in PRINTERS.items():
        begin = time.process_time()
        assert printer(e)
        assert time.process_time() - begin < 15, name


def test_powers_that_cancel():
    """Nothing is raised to the power 0."""
    e = se.einsum("i,i->i", x, se.elementwise(lambda s: 1 / s, x))
    for shown in (e, e @ y, se.diag(e) @ A):
        for notation in ("auto", "index"):
            assert not re.search(r"\^\{(\\odot )?0\}", se.latex(shown, notation=notation))


def test_names_are_used():
    """Whitening of a vector and the Hessian of a likelihood define no more than they show."""
    z, S, P = (x - x.mean()) / se.sqrt(x.var()), se.inv(A.inv() + X.T @ X), se.eye(n) + A
    for e in (se.jacobian(z, x), se.hessian(x @ S @ x + se.logdet(P), A)):
        for shown, defined in ((se.latex(e), r"(h_\{\d+\})"), (str(e), r"(h_\d+) :=")):
            names = set(re.findall(defined, shown))
            assert names
            assert all(len(re.findall(rf"{re.escape(name)}(?!\d)", shown)) > 1 for name in names)
