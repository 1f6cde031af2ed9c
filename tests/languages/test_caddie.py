"""Caddie's language: examples of the thesis and of the tool, against NumPy written by hand."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from oracles import assert_close

import sympy_einsum as se
from sympy_einsum.commandline import main
from sympy_einsum.core import tuning

rng = np.random.default_rng(4)


def functions(text, **given):
    return se.parse_program(text, given or None, syntax="caddie").functions


def called(function, *values):
    """Return the compiled value of a function."""
    return np.asarray(se.lambdify(function.symbols, function.expr)(*values))


BUNDLE = """
(* norm : R^3 -> R *)
fun norm xs = pow 0.5 (dprod3 (xs,xs))

(* nrm : R^3 -> R^3 *)
fun nrm xs = (pow -1.0 (norm xs)) *> xs

(* turn : R^3 x R^3 -> R^3 *)
fun turn p =
  let r = #1 p in
  let X = #2 p in
  let angle = norm r in
  let axis = nrm r in
  (cos angle) *> X + (sin angle) *> cprod3(axis,X) + (1.0 - cos angle) * dprod3(axis,X) *> axis
  end end end end

(* p2e : R x R x R -> R^2 *)
fun p2e p = let f = pow -1.0 (#3 p) in (f * (#1 p), f * (#2 p)) end

(* distort : R^2 x R^2 -> R^2 *)
fun distort p =
  let k = #1 p in let X = #2 p in let n2 = norm2sq X in
  let f = 1.0 + n2 * (#1 k) + pow 2.0 n2 * (#2 k)
  in (f * #1 X, f * #2 X) end end end end

fun project a =
  let r = #1 a let C = #2 a let f = #3 a let x0 = #4 a let k = #5 a let X = #6 a
  in f *> (distort (k, p2e (turn (r, X - C)))) + x0
"""


def projected(r, C, f, x0, k, X):
    """Return a point's image: Rodrigues' rotation, radial distortion."""
    angle = np.linalg.norm(r)
    a = r / angle
    d = X - C
    turned = np.cos(angle) * d + np.sin(angle) * np.cross(a, d) + (1 - np.cos(angle)) * (a @ d) * a
    p = turned[:2] / turned[2]
    n2 = p @ p
    return f * (1 + k[0] * n2 + k[1] * n2**2) * p + x0


def test_bundle_adjustment():
    found = functions(BUNDLE)
    project = found["project"]
    shapes = [(3,), (3,), (), (2,), (2,), (3,)]
    assert [getattr(s, "shape", ()) for s in project.argument] == shapes
    assert [str(s) for s in project.symbols] == ["a1", "a2", "a3", "a4", "a5", "a6"]
    values = [rng.uniform(1, 2, shape) for shape in shapes]
    expected = projected(*values)
    assert_close(called(project, *values), expected)
    by_combinators = project.point_free(tuple([v.tolist() for v in values]))
    assert_close(np.array([float(part) for part in by_combinators]), expected)
    # The Jacobian by the rotation, against differences.
    J = se.lambdify(project.symbols, se.jacobian(project.expr, project.symbols[0]))(*values)
    for k in range(3):
        step = 1e-6 * np.eye(3)[k]
        ends = [projected(values[0] + s * step, *values[1:]) for s in (1, -1)]
        np.testing.assert_allclose(J[:, k], (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "argument", "expected"),
    [
        ("fun f x = ln(sin(x))", 0.7, lambda x: np.log(np.sin(x))),
        ("fun f x = sin(x) * (cos(x) * x)", 0.7, lambda x: np.sin(x) * np.cos(x) * x),
        ("fun f x = (#1 x) + (#2 x)", [2, 5], lambda x: x[0] + x[1]),
        ("fun f x = #1 x * #2 x", [2, 5], lambda x: x[0] * x[1]),
        (
            "fun f x = let x1 = #1 x in let x2 = #2 x in ln x1 + x1*x2 - sin x2 end end",
            [2, 5],
            lambda x: np.log(x[0]) + x[0] * x[1] - np.sin(x[1]),
        ),
        ("fun f x = 0 - sin x", 0.3, lambda x: -np.sin(x)),
        ("fun f x = (x,2) + (2.1,x)", 0.3, lambda x: [x + 2.1, 2 + x]),
        ("fun f x = (x,2) - (2.1,x)", 0.3, lambda x: [x - 2.1, 2 - x]),
        ("fun f x = 4 *> (2.3, x, x) fun g x = f 2", 0.3, lambda x: [9.2, 8, 8]),
        ("fun f x = 3.0 * x + sin (2.0*x)", 0.3, lambda x: 3 * x + np.sin(2 * x)),
        (
            "fun f x = (2.0 * #2 x, 3.0 - #1 x + #3 x) fun g y = f(2.0,sin(pi*y),#1 f(ln y,3,2))",
            0.3,
            lambda y: [2 * np.sin(np.pi * y), 3 - 2 + 6],
        ),
        ("fun f x = 3.0 * x + #1 ((3.0,x) + (2.0 + x,x))", 0.3, lambda x: 4 * x + 5),
        ("fun f x = 0 + (2.0,3.0,x) fun h x = x * #3 (f x + 0)", 0.3, lambda x: x * x),
        ("fun f x = abs (tan (exp (~x)))", 0.3, lambda x: abs(np.tan(np.exp(-x)))),
        ("fun f x = pow ~1.5 x - pow(2)(x) - -x", 0.3, lambda x: x**-1.5 - x**2 + x),
        ("fun f x = x - x - x * x *> x * x", 0.3, lambda x: -(x**4)),
        ("fun f x = ~x * x + ~(x * x)", 0.3, lambda x: -2 * x * x),
        ("fun f x = sin x * cos x", 0.3, lambda x: np.sin(x) * np.cos(x)),
        (
            "fun f x = let v1 = cos(x) let v2 = sin(x) let v3 = (v1 * x) in v2 * v3",
            0.3,
            lambda x: np.sin(x) * np.cos(x) * x,
        ),
        ("fun f x = let x = x * x in x + x", 0.3, lambda x: 2 * x * x),
    ],
)
def test_examples(text, argument, expected):
    """Those of the thesis and the tool's directory of examples, compiled and as combinators."""
    found = [*functions(text).values()][-1]
    value = np.asarray(expected(np.asarray(argument, float)))
    assert_close(called(found, argument), value)
    by_combinators = found.point_free(argument)
    parts = by_combinators if isinstance(by_combinators, tuple) else [by_combinators]
    numbers = [float(sp.N(part)) for part in parts]
    assert_close(np.reshape(numbers, value.shape), value)


def test_bilinear_functions():
    text = "fun f p = sprod (#1 p, #2 p) + cprod3 (#2 p, #3 p)"
    text += " + dprod3 (#2 p, #3 p) *> cross (#3 p, #2 p)"
    f = functions(text)["f"]
    c, p, q = 0.3, rng.uniform(1, 2, 3), rng.uniform(1, 2, 3)
    expected = c * p + np.cross(p, q) + (p @ q) * np.cross(q, p)
    assert_close(called(f, c, p, q), expected)
    written_out = functions("fun f x = cross ((1, x, 2), (x, 3, x))")["f"]
    assert_close(called(written_out, 0.4), np.cross([1, 0.4, 2], [0.4, 3, 0.4]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fun f xs = map (fn x => x * x) xs", lambda xs: xs**2),
        (
            "fun h xs = map (fn x => let y = x * x in let z = y * y in z + z end end) xs",
            lambda xs: 2 * xs**4,
        ),
        ("fun f xs = dprod(xs,xs)+2", lambda xs: xs @ xs + 2),
        ("fun f xs = map (fn x => 3) xs", lambda xs: 3 + 0 * xs),
        ("fun f xs = map (fn x => x * dprod (xs, xs)) xs", lambda xs: xs * (xs @ xs)),
        (
            "fun f xs = 2 *> xs + iota 4 - [1, 2, 3, dprod (xs, xs)]",
            lambda xs: 2 * xs + np.arange(4) - [1, 2, 3, xs @ xs],
        ),
    ],
)
def test_arrays(text, expected):
    f = [*functions(text).values()][-1]
    values = rng.uniform(1, 2, 4)
    assert f.symbols[0].shape in [(sp.Symbol("n", integer=True, positive=True),), (4,)]
    assert_close(called(f, values), expected(values))


def test_nested_maps():
    f = functions("fun g xss = map (fn xs => map (fn x => x * x * x) xs) xss")["g"]
    assert f.symbols[0].order == 2
    values = rng.uniform(1, 2, (2, 5))
    assert_close(called(f, values), values**3)
    assert str(f.point_free) == "map (map (* ∘ (* ∘ (Id × Id) ∘ Δ × Id) ∘ Δ))"


def test_the_translation_of_section_2_4_3():
    text = "let x = 5 in\nlet y = 8 in\n  x + y"
    f = functions(text)["expr"]
    published = "+ ∘ (π 1 ∘ π 2 × π 1) ∘ Δ ∘ (K 8 × Id) ∘ Δ ∘ (K 5 × Id) ∘ Δ"
    assert str(f.point_free) == published
    assert f.point_free(9) == 13 == f.expr
    values = [value for _, value in f.point_free.trace(9)]
    assert values == [
        9, (9, 9), (5, 9), ((5, 9), (5, 9)), (8, (5, 9)), ((8, (5, 9)), (8, (5, 9))), (5, 8), 13,
    ]  # fmt: skip
    assert [str(left) for left, _ in f.point_free.trace(9)][-3:] == [
        "+ ∘ (π 1 ∘ π 2 × π 1)",
        "+",
        "Id",
    ]
    assert r"\pi_{1} \circ \pi_{2} \times \pi_{1}" in f.point_free._repr_latex_()


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("fun f x = ln(x)", "ln"),
        ("fun f x = ln(sin(x))", "ln ∘ sin"),
        ("fun f p = ln (#1 p * cos (#2 p))", "ln ∘ * ∘ (π 1 × cos ∘ π 2) ∘ Δ"),
        ("fun f p = let x = #1 p in x", "π 1 ∘ (π 1 × Id) ∘ Δ"),
        ("fun f x = (x, ~x, 2.5)", "(Id × ~ × K 2.5) ∘ Δ3"),
        ("fun f x = x", "Id"),
        ("fun f x = pow -1.0 x", "pow ~1.0"),
        ("fun f x = x fun g x = f (f x)", "f ∘ f"),
    ],
)
def test_point_free_forms(text, published):
    assert str([*functions(text).values()][-1].point_free) == published


def test_derivatives_are_caddies():
    """The linear maps that the thesis prints for ln.cad."""
    f = se.parse_program("fun f x = ln(sin(x))").functions["f"]
    L = se.linearize(f.expr, f.argument)
    assert str(L) == "(1/sin(x) *) ∘ (cos(x) *)"
    assert str(L.adjoint()) == "(cos(x) *) ∘ (1/sin(x) *)"


class Sentence:
    """A random expression as Caddie's text and as Python's."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.count = 0

    def number(self, names, depth):
        kind = self.rng.integers(0, 9) if depth else self.rng.integers(0, 2)
        if kind == 0:
            k = self.rng.integers(1, 4)
            return f"#{k} p", f"p[{k - 1}]"
        if kind == 1:
            if names:
                name = self.rng.choice(names)
                return name, name
            return "1.5", "1.5"
        a, one = self.number(names, depth - 1)
        if kind == 2:
            function = self.rng.choice(["sin", "cos", "exp"])
            return f"{function} ({a})", f"np.{function}({one})"
        if kind == 3:
            return f"~({a})", f"(-({one}))"
        if kind == 4:
            return f"pow 2.0 ({a})", f"(({one})**2)"
        if kind == 5:
            self.count += 1
            name = f"v{self.count}"
            b, other = self.number([*names, name], depth - 1)
            return f"(let {name} = {a} in {b} end)", f"(lambda {name}: {other})({one})"
        b, other = self.number(names, depth - 1)
        if kind == 6:
            return f"dprod (({a}, {b}), ({b}, 2))", f"(({one})*({other}) + ({other})*2)"
        sign = "+-*"[self.rng.integers(0, 3)]
        return f"({a}) {sign} ({b})", f"(({one}){sign}({other}))"


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    """Both the expression and the combinators have Python's value."""
    text, python = Sentence(seed).number([], 4)
    vector = [0.31, -0.47, 0.59]
    expected = eval(python, {"np": np, "p": vector})
    # A last summand, so that the argument is a triple.
    f = functions(f"fun f p = {text} + #3 p")["f"]
    expected += vector[2]
    assert_close(called(f, vector), expected)
    assert_close(np.asarray(float(sp.N(f.point_free(vector)))), expected)


def test_texts_and_symbols():
    x = se.TensorSymbol("x", 4)
    given = se.parse("fun f x = #2 x * dprod (x, x)", {"x": x}, syntax="caddie")
    assert given == x[1] * (x @ x)
    # Types with more components are found where they are used.
    two, four = (functions("fun f x = #2 x", **d)["f"].argument.shape for d in ({}, {"x": x}))
    assert (two, four) == ((2,), (4,))
    y = functions("a*x + #1 b")["expr"]
    assert [str(s) for s in y.symbols] == ["a", "x", "b"]
    assert se.parse("(* one *) fun f x = ln x") == sp.log(sp.Symbol("x", real=True))
    assert se.parse("fun f x = (x, 2)").shape == (2,)
    assert se.parse("pi", syntax="caddie") == sp.pi
    program = se.parse_program("fun f x = (x, (x, 1))")
    assert program.functions["f"].value[1][1] == 1
    with pytest.raises(se.ParseError, match="several shapes, which no tensor holds"):
        se.parse("fun f x = (x, (x, 1))")
    assert se.parse_program("declare b 1 expression b", syntax="lippmann").expressions
    assert repr(functions("fun f x = ln x")["f"]) == "f x = log(x)"


def test_on_the_command_line(capsys):
    assert main(["derive", "fun f x = ln (sin x)", "--wrt", "x"]) == 0
    assert "cos(x)/sin(x)" in capsys.readouterr().out
    assert main(["derive", "#1 x * #2 x", "--syntax", "caddie", "--wrt", "x", "--check"]) == 0
    assert "(2,)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sin", "'sin' has no argument"),
        ("fun f x = y", "neither the argument nor bound by let, at position 10"),
        ("fun f x = foo x", "no function 'foo'; there are ln, sin"),
        ("fun f x = f x", "no function 'f'"),
        ("fun f x = #1 x + x", "would contain itself"),
        ("#0 x", "counted from 1"),
        ("#1.5 x", "counted from 1"),
        ("#3 (x, y)", "types differ"),
        ("(x,y)+(1,2,3)", "types differ"),
        ("x * (1, 2)", "types differ here"),
        ("sin (1, 2)", "types differ"),
        ("dprod3 (x, (1, 2))", "types differ"),
        ("x +", "found the end of the text"),
        ("sin(x", "never closed"),
        ("x^2", "pow 2.0 x"),
        ("x / y", "pow ~1.0 y"),
        ("fun f x 3", "expected '='"),
        ("let x 3 in x", "expected '='"),
        ("let x = 3", "expected an operator or 'in'"),
        ("fun f x = x x = 3", "but found '='"),
        ("red (to 5 [0,1] [5]) xs", "red, a reduction"),
        ("1e999", "out of the range"),
        ("pow 1000000 x", "exponent is too large"),
        ("fun sin x = x", "'sin' is defined already"),
        ("fun f x = x fun f y = y", "'f' is defined already"),
        ("(* only *)", "expected a number"),
        ("(* never closed", "unexpected character|expected"),
        ("x $ y", "unexpected character"),
        ("let in = 3 in x", "expected a name"),
        ("iota 2.5", "whole number"),
        ("[1, (1, 2)]", "types differ"),
        ("fun f x = #1 (#1 (map (fn y => (y, y)) x))", "types differ"),
        ("map (fn x => #1 x) xs", "array of tuples"),
        ("sin " * 3000 + "x", "nested too deeply"),
        ("(" * 2000 + "x" + ")" * 2000, "nested more than"),
    ],
)
def test_errors_say_where(text, message):
    with pytest.raises(se.ParseError, match=message):
        se.parse(text, syntax="caddie")
    with pytest.raises(se.ParseError, match=message):
        se.parse_program(text, syntax="caddie")


def test_wrong_declarations():
    for wrong in ("x vector", {"x": 3}, 3):
        with pytest.raises(se.ParseError, match="types are inferred"):
            se.parse("fun f x = x", wrong, syntax="caddie")
    for wrong in (3, None, b"fun f x = x"):
        with pytest.raises(se.ParseError):
            se.parse_program(wrong, syntax="caddie")
    with pytest.raises(se.ParseError, match="unknown syntax 'ricci'"):
        se.parse_program("fun f x = x", syntax="ricci")
    x = se.TensorSymbol("x", 3)
    with pytest.raises(se.ParseError, match="types differ"):
        se.parse("fun f x = #4 x", {"x": x}, syntax="caddie")
    f = functions("fun f xs = map (fn x => x * dprod (xs, xs)) xs")["f"]
    with pytest.raises(se.UnsupportedError, match="from outside"):
        _ = f.point_free


def test_a_program_that_doubles_takes_no_exponential_time(monkeypatch):
    """Each function applies the one before twice; time is bounded."""
    monkeypatch.setattr(tuning, "MAX_SECONDS", 0.5)
    text = "fun f0 x = x * x\n"
    text += "\n".join(f"fun f{k} x = f{k - 1} (f{k - 1} x)" for k in range(1, 60))
    with pytest.raises(se.ParseError, match=r"takes more than|too large"):
        functions(text)


# --- written --------------------------------------------------------------------------------------

X, Y = se.TensorSymbol("x", 3), se.TensorSymbol("y", 3)
a, b = sp.symbols("a b", real=True)


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (X[0] * sp.sin(X[1]), "#1 x * sin (#2 x)"),
        (sp.log(sp.sin(a)), "ln (sin a)"),
        (a - b, "a - b"),
        (-a * b, "~(a * b)"),
        (a**2 / b, "pow 2 a * pow ~1 b"),
        (sp.sqrt(a), "pow 0.5 a"),
        (sp.Rational(-7, 11) * a, "~(7 * pow ~1 11 * a)"),
        (a + sp.Rational(1, 3), "pow ~1 3 + a"),
        (sp.exp(-(a**2) / 2), "exp ~(0.5 * pow 2 a)"),
        (0.1 * a, "0.1e0 * a"),
        (1e-30 * a, "1e-30 * a"),
        (10**20 * a, "100000000000000000000 * a"),
        (X @ Y, "dprod (x, y)"),
        (sp.Integer(-3), "~3"),
        (sp.pi * (a + b), "pi * (a + b)"),
        (sp.log(-a) * abs(b), "abs b * ln ~(a)"),
        ((a + b) ** -2, "pow ~2 (a + b)"),
        (sp.sin(a) * sp.cos(sp.sin(a)), "let v1 = sin a in cos v1 * v1"),
    ],
)
def test_texts_are_read_back(e, text):
    assert se.to_text(e, "caddie") == text
    given = {"x": X, "y": Y, "a": a, "b": b}
    assert se.parse(text, given, syntax="caddie") == e


@pytest.mark.parametrize("seed", range(20))
def test_random_expressions_are_read_back(seed):
    text, _ = Sentence(seed).number([], 4)
    e = se.parse(f"fun f p = {text} + #3 p", syntax="caddie")
    p = se.TensorSymbol("p", 3)
    again = se.parse(se.to_text(e, "caddie"), {"p": p}, syntax="caddie")
    at = [0.31, -0.47, 0.59]
    assert_close(se.lambdify([p], again)(at), se.lambdify([p], e)(at))


def test_python_functions_have_a_point_free_form():
    """Through the text, with names for values that are used twice: Caddie reads Python so too."""
    f = se.parse_python("def f(x): z = sin(x[0]); return z * x[1] + z * z")
    text = f"fun f x = {se.to_text(f.outputs, 'caddie')}"
    form = functions(text)["f"].point_free
    at = (0.7, -0.3)
    assert_close(np.asarray(float(form(at))), np.sin(0.7) * -0.3 + np.sin(0.7) ** 2)
    first = se.parse_python("def f(x): return x[0] * sin(x[1])").outputs
    published = functions(f"fun f x = {se.to_text(first, 'caddie')}")["f"].point_free
    assert str(published) == "* ∘ (π 1 × sin ∘ π 2) ∘ Δ"


def test_names_of_texts_are_new():
    v1 = sp.Symbol("v1", real=True)
    e = sp.sin(v1) * sp.cos(sp.sin(v1))
    assert se.to_text(e, "caddie") == "let v2 = sin v1 in cos v2 * v2"


@pytest.mark.parametrize(
    "e", [a**b, sp.tanh(a), X, a ** sp.Rational(1, 3), sp.Symbol("fun"), X @ Y[::-1]]
)
def test_what_has_no_text(e):
    with pytest.raises(se.UnsupportedError):
        se.to_text(e, "caddie")
