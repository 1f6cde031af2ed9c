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
        (A @ x, sp.Wild("w") ** 2, "patterns with Wild"),
    ],
)
def test_unmatched_queries_of_replace_are_refused(expr, query, told):
    with pytest.raises(se.UnsupportedError, match=told):
        expr.replace(query, lambda *arguments, **named: x)


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
