"""SymPy's replace and rewrite on tensor expressions."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core import postorder

n = symbols("n", integer=True, positive=True)
t = symbols("t", real=True)
x, y, h = se.TensorSymbol("x", n), se.TensorSymbol("y", n), se.TensorSymbol("h", 2)
A, B, T = se.TensorSymbol("A", n, n), se.TensorSymbol("B", n, n), se.TensorSymbol("T", 3, n, n)


w, b = sp.Wild("w"), sp.Wild("b")
without_x = sp.Wild("v", exclude=[x])


@pytest.mark.parametrize("old", [sp.exp, se.exp])
@pytest.mark.parametrize("new", [sp.cos, se.cos, lambda u: sp.cos(u)])
@pytest.mark.parametrize(
    "make",
    [
        lambda f: f(x),
        lambda f: f(x) + se.sin(x),
        lambda f: x @ f(A @ x),
        lambda f: t * (x @ f(x)),
        lambda f: sp.sin(x @ f(x)),
        lambda f: se.softmax(f(x)),
        lambda f: t * f(x @ x),
        lambda f: f(se.sin(f(x))),
        lambda f: se.inv(f(A)),
    ],
)
def test_a_function_is_replaced_everywhere(old, new, make):
    assert make(se.exp).replace(old, new) == make(se.cos)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (se.inv, se.pinv),
        (se.Inv, se.pinv),
        (se.inv, lambda X: se.pinv(X)),
        (lambda node: isinstance(node, se.Inv), lambda node: se.pinv(*node.operands)),
    ],
)
def test_a_matrix_function_is_replaced_by_name_by_type_or_by_a_test(old, new):
    assert (se.inv(A) @ x + x).replace(old, new) == se.pinv(A) @ x + x
    assert se.inv(se.inv(A) + B).replace(old, new) == se.pinv(se.pinv(A) + B)


def test_a_matrix_function_is_replaced_in_stacks_and_scalars():
    assert se.inv(T).replace(se.inv, se.pinv) is se.pinv(T)
    assert (t * se.det(A)).replace(se.det, se.trace) == t * se.trace(A)
    assert sp.log(se.det(A)).replace(se.det, se.trace) == sp.log(se.trace(A))


def test_symbols_and_nodes_are_replaced_exactly():
    assert (A @ x + x).replace(x, y) == A @ y + y
    assert se.exp(A @ x).replace(A @ x, y) == se.exp(y)
    result, found = (A @ x).replace(x, 2 * y, map=True)
    assert (result, found) == (2 * A @ y, {x: 2 * y})


def test_parts_of_functions_are_replaced():
    assert (x**3).replace(sp.Pow, lambda base, exponent: base**2) == x**2
    doubled = se.exp(se.sin(x) ** 2).replace(
        lambda part: isinstance(part, sp.sin), lambda part: sp.cos(*part.args)
    )
    assert doubled == se.exp(se.cos(x) ** 2)


@pytest.mark.parametrize(
    ("expr", "query", "told"),
    [
        (se.softmax(x), se.softmax, "doesn't find what softmax builds.*Softmax"),
        (se.norm(x), se.norm, "doesn't find what norm builds"),
        (se.norm(x), se.sqrt, "Pow for sqrt"),
        (A @ x, A @ se.exp(w * x), "are matched entry by entry, and not inside of A @ exp"),
    ],
)
def test_unmatched_queries_of_replace_are_refused(expr, query, told):
    with pytest.raises(se.UnsupportedError, match=told):
        expr.replace(query, lambda *arguments, **named: x)


@pytest.mark.parametrize(
    ("expr", "pattern", "values"),
    [
        (2 * x + A @ y, w * x + b, {w: 2, b: A @ y}),
        (2 * x, w * x, {w: 2}),
        (x * y, w * x, {w: y}),
        (se.exp(A @ x), se.exp(w), {w: A @ x}),
        (se.exp(x) * y + 3 * x, w * y + without_x * x, {w: se.exp(x), without_x: 3}),
        (x**3, w**b, {w: x, b: 3}),
        (A @ x, w, {w: A @ x}),
        (2 * (x @ x), w * (x @ x), {w: 2}),
        (t * sp.sin(x @ x), w * sp.sin(b), {w: t, b: x @ x}),
        (x + 3 * y, x + 3 * y, {}),
        (se.sin(x), se.cos(w), None),
        (A @ x, sp.exp(w), None),
    ],
)
def test_patterns_match_numbers_and_tensors_entry_by_entry(expr, pattern, values):
    assert expr.match(pattern) == values


@pytest.mark.parametrize(
    ("expr", "pattern", "value", "expected"),
    [
        (A @ se.exp(x) + se.exp(y), sp.exp(w), sp.sin(w), A @ se.sin(x) + se.sin(y)),
        (se.exp(x) * y, sp.exp(w), w**2, x**2 * y),
        (A @ se.exp(2 * x) + t, se.exp(2 * w), lambda w: se.cos(w), A @ se.cos(x) + t),
        (se.sin(x) ** 2 + se.cos(x) ** 2, sp.sin(w) ** 2, 1 - sp.cos(w) ** 2, se.Ones(n)),
        (A @ se.exp(x), sp.exp(w), 1, A.sum(axis=1)),
        (t * sp.sin(x @ se.exp(x)), sp.exp(w), sp.cos(w), t * sp.sin(x @ se.cos(x))),
        (se.inv(A + se.exp(B)), sp.exp(w), w, se.inv(A + B)),
        (se.sin(x), sp.exp(w), w, se.sin(x)),
    ],
)
def test_patterns_are_replaced_wherever_they_stand(expr, pattern, value, expected):
    assert expr.replace(pattern, value) == expected


def test_replacements_of_patterns_are_told():
    result, found = (se.exp(x) + y).replace(sp.exp(w), sp.sin(w), map=True)
    assert (result, found) == (se.sin(x) + y, {se.exp(x): se.sin(x)})


@pytest.mark.parametrize(
    ("expr", "query", "expected"),
    [
        (A @ se.exp(1 + se.sin(x)), se.sin, {se.sin(x)}),
        (A @ se.exp(1 + se.sin(x)), sp.exp, {se.exp(1 + se.sin(x))}),
        (A @ se.exp(x), sp.exp(w), {se.exp(x)}),
        (A @ se.exp(x), se.TensorSymbol, {A, x}),
        (A @ se.exp(x), lambda e: e == x, {x}),
        (A @ se.exp(x), x, {x}),
        (se.inv(A) @ x, se.inv, {se.inv(A)}),
        (t * se.det(A), se.det, {se.det(A)}),
        (sp.exp(t) * (x @ se.exp(x)), sp.exp, {sp.exp(t), se.exp(x)}),
        (sp.Integral(se.exp(t * x), (t, 0, 1)), sp.exp, {se.exp(t * x)}),
    ],
)
def test_parts_are_found(expr, query, expected):
    assert expr.find(query) == expected
    assert expr.find(query, group=True) == dict.fromkeys(expected, 1)
    assert expr.count(query) == len(expected)


@pytest.mark.parametrize(
    ("expr", "change", "expected"),
    [
        ("exp", lambda e: e.replace(sp.exp, sp.sin), "sin(t*x)"),
        ("exp", lambda e: e.replace(sp.exp(w), sp.sin(w)), "sin(t*x)"),
        ("sinh", lambda e: e.rewrite(sp.exp), "exp(t*x)/2 - exp(-(t*x))/2"),
        ("sinh", lambda e: e.replace(sp.sinh, lambda u: sp.cos(u)), "cos(t*x)"),
    ],
)
def test_bodies_are_changed_too(expr, change, expected):
    made = getattr(se, expr)
    integral = sp.Integral(made(t * x), (t, 0, 1))
    assert str(change(integral)) == f"Integral({expected}, (t, 0, 1))"
    last, _ = se.scan(lambda c, i: (made(c) * x, None), x, length=2)
    assert change(last) == se.scan(lambda c, i: (change(made(c)) * x, None), x, length=2)[0]


def holds(expr, kind):
    """Tell whether a function or a node is in an expression, also inside of SymPy's scalars."""
    return any(isinstance(node, se.TensorExpr) and node.has(kind) for node in postorder([expr]))


@pytest.mark.parametrize("rule", [sp.exp, se.exp, "exp"])
@pytest.mark.parametrize(
    ("expr", "kind"),
    [
        (se.tanh(h), sp.tanh),
        (h @ se.tanh(h), sp.tanh),
        (t * (h @ se.tanh(h)), sp.tanh),
        (sp.cosh(h @ se.tanh(h)), sp.tanh),
        (se.sinh(t * h) + h, sp.sinh),
        (se.sigmoid(h), type(se.sigmoid(t))),
        (se.softmax(h), se.Softmax),
        (se.logsumexp(h), se.LogSumExp),
        (se.softmax(se.outer(h, h), axis=1), se.Softmax),
        (se.logsumexp(se.outer(h, h), axis=0), se.LogSumExp),
    ],
)
def test_functions_are_rewritten_wherever_they_stand(rule, expr, kind):
    found = expr.rewrite(rule)
    assert holds(expr, kind)
    assert not holds(found, kind)
    values = [0.3, [0.2, -0.7]]
    one, other = (se.lambdify([t, h], e)(*values) for e in (expr, found))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_only_named_functions_are_rewritten():
    found = (se.tanh(x) + se.sinh(x)).rewrite(sp.tanh, sp.exp)
    assert found.has(sp.sinh)
    assert not found.has(sp.tanh)
    assert se.gamma(x).rewrite(sp.factorial).has(sp.factorial)
    assert (A @ x).rewrite(sp.exp) is A @ x


def test_types_of_functions_are_found_inside():
    e = se.exp(se.sin(x) + x) @ x
    assert e.has(sp.sin)
    assert e.has(sp.exp)
    assert not e.has(sp.cos)
