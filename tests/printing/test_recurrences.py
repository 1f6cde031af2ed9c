"""Loops in formulas: recurrences, and their adjoints as textbooks write them."""

import numpy as np
import pytest
import sympy
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se

T, n = symbols("T n", integer=True, positive=True)
W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)
LAST, STATES = se.scan(lambda c, x: 2 * (se.tanh(W @ c + x),), h, X)


def lines(e):
    return [line.strip(" &") for line in se.latex(e).split("\\\\")]


def test_a_recurrence():
    text = se.latex(LAST)
    assert r"s_{t + 1} & = \tanh{\left(W s_{t} + X_{t} \right)}" in text
    assert r"s_{0} & = h" in text
    assert r"& s_{T}" in text


def test_the_adjoint_equation():
    text = se.latex(se.gradient(LAST.sum(), h))
    assert r"& \lambda_{0}" in text
    assert (
        r"\lambda_{t} & = W^{\top} \left(\lambda_{t + 1} \odot "
        r"\left(\mathbf{1} - s_{t + 1}^{\odot 2}\right)\right)" in text
    )
    assert r"\lambda_{T} & = \mathbf{1}" in text


def test_values_of_a_carry_are_its_slices():
    assert r"s_{1:T + 1}" in se.latex(STATES)


def test_loops_over_the_same_steps_are_shown_as_one():
    text = se.latex(LAST.sum() * STATES.sum() + se.gradient(LAST.sum(), W).sum())
    assert text.count(r"\tanh") == 1


def test_unicode():
    text = se.pretty(se.gradient(LAST.sum(), h))
    assert "λ" in text
    assert "where s" in text


def test_mathml_and_drawings():
    assert "<mi>tanh</mi>" in sympy.mathml(LAST, printer="presentation")
    assert "scan" in se.to_dot(LAST)


def test_steps_that_are_counted():
    a = symbols("a")
    last, _ = se.scan(lambda c, t: (a * c + t, None), h, length=T)
    assert r"s_{t + 1} & = " in se.latex(last)


@pytest.mark.parametrize("e", [LAST, STATES, se.gradient(LAST.sum(), W)])
def test_short_and_long_texts(e):
    for text in (str(e), sympy.srepr(e), se.latex(e), se.pretty(e)):
        assert text
        assert "carry 0" not in text or text.startswith("unflatten") or "BoundTensor" in text


def layers(v, count):
    for _ in range(count):
        v = se.tanh(W @ v + v * v)
    return v


def test_loops_in_loops():
    """Each loop has its own index; entries of what a step of the outer one gave have names."""

    def outer(c, x):
        last, _ = se.scan(lambda d, t: (se.tanh(W @ d) + x, None), c, length=n)
        return last, last

    _, states = se.scan(outer, h, X)
    lines_of = lines(states)
    assert r"s_{t + 1} & = u_{n}" in lines_of
    assert r"\text{where } u_{k + 1} & = X_{t} + \tanh{\left(W u_{k} \right)}" in lines_of
    assert r"u_{0} & = s_{t}" in lines_of
    text = se.latex(se.gradient((states**2).sum(), W))
    assert "shown" not in text
    assert r"(u_{t})_{k}" in text
    assert text.count("_{0} & = s_{t}") == 1


def test_the_index_of_a_loop_is_no_name_of_a_tensor():
    """The letter s is a carry's and would be that of the inner step too."""
    y = se.TensorSymbol("y", n)
    last, _ = se.scan(
        lambda c, t: (se.scan(lambda d, t: (se.tanh(W @ d), None), c, length=n)[0], None),
        y,
        length=T,
    )
    assert r"s_{k + 1} & = \tanh{\left(W s_{k} \right)}" in se.latex(last)


def test_common_parts_of_a_step_have_names():
    step = symbols("d")

    def derivative(c):
        return se.tanh(W @ c)

    def runge_kutta(c, x):
        first = derivative(c)
        second = derivative(c + step / 2 * first)
        third = derivative(c + step / 2 * second)
        return c + step / 6 * (first + 2 * second + 2 * third + derivative(c + step * third)), None

    last, _ = se.scan(runge_kutta, h, X)
    text = se.latex(last)
    assert r"b_{t} & = \tanh{\left(W \left(s_{t} + \frac{d}{2} a_{t}\right) \right)}" in text
    assert text.count(r"\tanh") == 5
    assert se.latex(last, where=False).count(r"\tanh") > 5
    # That of 50 layers would have 2^50 parts.
    last, _ = se.scan(lambda c, x: (layers(c, 50) + x, None), h, X)
    assert se.latex(se.gradient(last.sum(), h)).count(r"\tanh") < 60


def test_texts_of_long_steps_evaluate_back():
    y = layers(h, 3)

    def outer(c, t):
        last, _ = se.scan(lambda d, s: (layers(d * c * y, 50), None), c, length=n)
        return layers(last, 50), layers(c, 50) * y

    names = {name: getattr(se, name) for name in se.__all__}
    names |= {"W": W, "X": X, "h": h, "T": T, "n": n}
    a = symbols("a")
    total, _ = se.scan(lambda c, t: (layers(c, 50).sum() * h, None), h, length=T)
    scalar, _ = se.scan(lambda c, t: (sympy.sin(c + a) ** 9 + sympy.cos(c) ** a, None), a, length=T)
    root = se.solution(lambda z: z - layers(z * y, 50), start=h)
    for e in (*se.scan(outer, h, length=T), total, y * root, root, scalar):
        text = str(e)
        assert len(text) < 10_000
        assert eval(text, {**vars(sympy), **names, "a": a}) is e


def test_scalars_in_steps_have_precedences():
    """SymPy asks for that of a loop in a text, and for that of a mean in its step in a formula."""
    x = se.TensorSymbol("x", ())
    last, _ = se.scan(lambda c, t: (c * se.sin(t.mean()), None), x, X)
    assert str(x * X.sum() * last).count("scan") == 1
    formula = se.latex(x * X.sum() * last)
    assert r"\sin{\left(\frac{\mathbf{1}^{\top} X_{t}}{n} \right)}" in formula


def test_a_step_with_inputs_and_its_number():
    """The text takes entries of inputs by the number."""

    def step(c, t):
        return se.sin(c * t) + X[t] + (W @ X[T - 1 - t]) * sympy.cos(t), c * X[t] * t

    last, values = se.scan(step, h, length=T)
    names = {"W": W, "X": X, "h": h, "T": T, "n": n, **vars(sympy), **vars(se)}
    assert last.loop.inputs
    rng = np.random.default_rng(0)
    data = rng.normal(size=(3, 3)), rng.normal(size=(4, 3)), rng.normal(size=3)
    for e in (last, values, se.gradient(last.sum(), X)):
        read = eval(str(e), names)
        for one, other in [[se.lambdify([W, X, h], own)(*data) for own in (e, read)]]:
            assert_close(one, other)
