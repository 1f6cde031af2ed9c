"""Canonical forms of elementwise nodes: folding, sharing, and stable forms."""

from __future__ import annotations

import ast
import contextlib

import numpy as np
import pytest
import sympy
from sympy import Lambda, Piecewise, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.backends.scalars import scalar_code
from sympy_einsum.compiler.emit.printer import printed
from sympy_einsum.compiler.ir.code import name
from sympy_einsum.core import ROWS
from sympy_einsum.expressions import slot

n, m = symbols("n m", integer=True, positive=True)
t, u, v = symbols("t u v")
x, y = se.tensors("x y", n)
A = se.TensorSymbol("A", (m, n))

SAME = {
    "one argument twice": (se.elementwise(lambda a, b: a * sympy.sin(b), x, x), lambda: (
        se.elementwise(lambda a: a * sympy.sin(a), x)
    )),
    "order of arguments": (se.Max(x, y), lambda: se.Max(y, x)),
    "unused argument": (se.elementwise(lambda a, b: sympy.exp(a), x, y), lambda: se.exp(x)),
    "multiples of one tensor": (se.elementwise(lambda a, b: sympy.sin(a + b), x, 2 * x), lambda: (
        se.elementwise(lambda a: sympy.sin(3 * a), x)
    )),
    "constant argument": (se.exp(se.Zeros(n)), lambda: se.Ones(n)),
    "constant fill": (se.elementwise(lambda a, b: a**b, x, 2 * se.Ones(n)), lambda: x**2),
    "power zero": (se.exp(x) ** 0, lambda: se.Ones(n)),
    "identity": (x.applyfunc(Lambda(u, u)), lambda: x),
    "multiple": (x.applyfunc(Lambda(u, 3 * u)), lambda: 3 * x),
    "product": (se.elementwise(Lambda((u, v), u * v), x, y), lambda: x * y),
    "factor pulled out": (x.applyfunc(Lambda(u, 2 * sympy.sin(u))), lambda: 2 * se.sin(x)),
    "stock function of a tensor": (sympy.exp(x) + y, lambda: se.exp(x) + y),
    "stock expression of a tensor": (
        se.diff(sympy.sin(x) * t, t),
        lambda: se.sin(x),
    ),
    "softplus": (snp.log(1 + snp.exp(A @ x)), lambda: se.softplus(A @ x)),
    "softplus the other way round": (snp.log(snp.exp(-x) + 1), lambda: se.softplus(-x)),
    "sigmoid": (1 / (1 + snp.exp(-x)), lambda: se.sigmoid(x)),
    "scaled sigmoid": (t / (1 + snp.exp(x)), lambda: t * se.sigmoid(-x)),
    "logaddexp with zero": (snp.logaddexp(0, x), lambda: se.softplus(x)),
}  # fmt: skip


def test_powers_of_sums_arent_powers_of_their_argument():
    """A tensor that is no comparison is truthy, as SymPy's expressions are."""
    squared = se.elementwise(lambda a: (1 + a) ** 2, x)
    assert squared * x != x**3
    assert se.equal(squared * x, x + 2 * x**2 + x**3)
    assert squared


@pytest.mark.parametrize("name", SAME)
def test_one_object(name):
    left, right = SAME[name]
    assert left == right()


def test_the_logistic_hessian_is_short_and_stable():
    loss = snp.sum(snp.log(1 + snp.exp(-se.TensorSymbol("l", (m,)) * (A @ x))))
    arguments = [A, se.TensorSymbol("l", (m,)), x]
    compute = se.lambdify(arguments, [loss, se.gradient(loss, x), se.hessian(loss, x)])
    value, derivative, curvature = compute(np.array([[800.0]]), np.array([-1.0]), np.array([1.0]))
    assert (value, derivative[0], curvature[0, 0]) == (800.0, 800.0, 0.0)
    body = compute.source.partition("def function")[2]
    assert body.count(".dot(") == 2  # A x and Aᵀ r
    assert body.count("weighted_gram(") == 1  # Aᵀ diag(d) A


def test_the_value_is_used_again_in_its_derivative():
    z = se.tanh(x)
    derivative = se.jacobian(z, x)
    assert z in derivative.core.operands


def test_free_symbols_of_a_lambda_are_operands():
    e = x.applyfunc(Lambda(u, t * u**2))
    assert e.free_symbols == {t, x}
    assert se.diff(e, t) == x**2
    assert e.subs(t, 3) == 3 * x**2


def test_a_pole_is_left_to_the_numbers():
    with np.errstate(divide="ignore"):
        value = se.lambdify([n], 1 / se.Zeros(n))(2)
    assert np.all(np.isinf(value))


BAD = {
    "a string": lambda: se.elementwise("sin", x),
    "an expression": lambda: se.elementwise(sympy.sin(u), x),
    "too few arguments": lambda: se.elementwise(Lambda((u, v), u * v), x),
    "a condition": lambda: se.elementwise(lambda a: a > 0, x),
    "no tensors": lambda: se.elementwise(sympy.sin),
    "two orders": lambda: se.Max(A, x),
    "two lengths": lambda: se.Max(x, se.TensorSymbol("z", (m,))),
    "a tensor inside": lambda: se.elementwise(lambda a: a * y, x),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_functions(name):
    with pytest.raises(se.TensorError):
        BAD[name]()


def test_broadcasting_of_arguments():
    e = se.elementwise(lambda a, b: sympy.atan2(a, b), A, x[None, :])
    a, b = np.arange(6.0).reshape(2, 3) + 1, np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(se.lambdify([A, x], e)(a, b), np.arctan2(a, b))


def test_piecewise_of_several_tensors():
    e = se.elementwise(Lambda((u, v), Piecewise((u, u > v), (v**2, True))), x, y)
    a, b = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    np.testing.assert_allclose(se.lambdify([x, y], e)(a, b), [4.0, 2.0])
    assert se.check_derivative(e, y) < 1e-6


def code_tree(body, texts=("a", "b", "c")):
    """Return the syntax tree of a scalar body's code, without brackets."""
    return ast.dump(ast.parse(printed(scalar_code(body, [*map(name, texts)])), mode="eval"))


# They are other functions of real arguments, or have code of their own.
UNCALLED = {sympy.re, sympy.im, sympy.conjugate, sympy.digamma, sympy.Max, sympy.Min}
UNCALLED |= {sympy.KroneckerDelta, sympy.Pow}


@pytest.mark.parametrize(
    "function", sorted({row.function for row in ROWS if row.code} - UNCALLED, key=str)
)
def test_code_of_a_function_takes_whole_sums_for_its_arguments(function):
    """Not ``np.sinc(a + b / np.pi)`` for sinc(a + b), nor ``a + 1**t`` for (a + 1)**t."""
    total = slot(1) - 2 * slot(2)
    for before, after in [
        ((), ()),
        ((), (slot(3),)),
        ((slot(3),), ()),
        ((2,), ()),
        ((), (2,)),
        ((), (slot(3), 1)),
        ((), (slot(3), slot(2), 1)),
    ]:
        with contextlib.suppress(TypeError, ValueError):
            whole, single = function(*before, total, *after), function(*before, slot(0), *after)
            if isinstance(whole, function) and isinstance(single, function):
                texts = ["(b - 2*c)", "b", "c", "d"]
                assert code_tree(whole, texts) == code_tree(single, texts)
                return
    pytest.fail("no arguments fit")


def test_derivative_of_a_power_with_a_composite_base_inside_a_condition():
    base, data = 1.5 + se.tanh(x), np.array([-0.7, 0.2, 0.9])
    f = snp.where(x > 0, base ** se.sin(x), base ** (2 * x)).sum()

    def value(a):
        b = 1.5 + np.tanh(a)
        return np.where(a > 0, b ** np.sin(a), b ** (2 * a))

    expected = (value(data + 1e-6) - value(data - 1e-6)) / 2e-6
    np.testing.assert_allclose(se.lambdify([x], se.gradient(f, x))(data), expected, rtol=1e-7)
