"""Kernels of CuPy's: what is in them, what is computed before, and what no kernel can hold."""

import ast

import pytest
from sympy import Piecewise, besselj, digamma, exp, loggamma, pi, polygamma, sqrt, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.backends.cupy_kernels import kernel_of
from sympy_einsum.compiler.emit.printer import printed
from sympy_einsum.compiler.ir.code import LENGTH, NUMBER, OTHER, Operand, quote

m, n = symbols("m n", integer=True, positive=True)
x, y = se.tensors("x y", n)
A, B = se.TensorSymbol("A", n, n), se.TensorSymbol("B", n, m)
s, t = symbols("s t", real=True)


def kernel(template, *kinds):
    """The text of the kernel for a template's code, and of its arguments."""
    found = kernel_of(quote(template, *[Operand(k, kind) for k, kind in enumerate(kinds)]))
    if found is None:
        return None
    return printed(found.body), *map(printed, found.arguments)


@pytest.mark.parametrize(
    ("template", "kinds", "expected"),
    [
        ("{0} * {1} + 1", [OTHER, OTHER], ("s0*s1 + 1", "_operand0_", "_operand1_")),
        ("{0} * {0} + {0}", [OTHER], ("s0*s0 + s0", "_operand0_")),
        # Numbers that are combined with numbers have half precision in a kernel.
        ("2 * {0} * {1} + 1", [NUMBER, OTHER], ("s0*s1 + 1", "2*_operand0_", "_operand1_")),
        ("cp.exp({0}) * cp.exp({1})", [LENGTH, OTHER],
         ("s0*cp.exp(s1)", "cp.exp(_operand0_)", "_operand1_")),
        ("(1 / 3) * {0} - {1}", [OTHER, OTHER],
         ("(s0)*s1 - s2", "(1 / 3)", "_operand0_", "_operand1_")),
        ("where({0} > 0, {0} * 2, 0.3)", [OTHER], ("where(s0 > 0, s0*2, 0.3)", "_operand0_")),
        ("2.0 ** (-{0})", [OTHER], ("s0 ** (-s1)", "2.0", "_operand0_")),
        # One operation is no kernel.
        ("cp.exp({0})", [OTHER], None),
        ("2 * {0} * {1}", [NUMBER, OTHER], None),
        # Neither are these.
        ("where({0} > 0, 0.1, 0.3) * {0}", [OTHER], None),
        ("where({0} > 0, {1}, 0.3) * {0}", [OTHER, NUMBER], None),
        ("cp.nan_to_num({0}) + 1", [OTHER], None),
        ("special.gamma({0}) * special.digamma({0})", [OTHER], None),
        ("own({0}) + 1", [OTHER], None),
        ("cp.sum({0} * 2, axis=0)", [OTHER], None),
        ("[{0} + 1, 2 * {0}]", [OTHER], None),
    ],
)  # fmt: skip
def test_kernels(template, kinds, expected):
    found = kernel(template, *kinds)
    assert (found is None) is (expected is None)
    for one, other in zip(found or (), expected or (), strict=True):
        assert ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


@pytest.mark.parametrize(
    ("expr", "kernels"),
    [
        (se.exp(x) * y + s, 1),
        (2 * s * t * x, 0),
        (x * y * se.sin(x), 1),
        (x + y + A @ x, 1),
        (se.softplus(x), 1),
        (x * Piecewise((0.1, t > 0), (0.3, True)), 0),
        (snp.where(x > 0, 0.1, 0.3) * x**2, 0),
        (snp.where(x > 0, x, 0.3) * x**2, 1),
        (loggamma(x) * digamma(x), 0),
        (polygamma(2, x) * x**2 + 1, 0),
        (x * n * sqrt(2) * pi + exp(s), 1),
    ],
)
def test_kernels_in_code(expr, kernels):
    source = se.codegen([x, y, A, s, t], expr, "cupy")
    assert source.count("def fused") == kernels


def test_sums_of_numbers_are_computed_before_the_call():
    total = B.sum(axis=1).mean() + 2 * B.mean() + 4 * snp.var(B, 1).mean()
    source = se.codegen([B], se.gradient(total, B), "cupy")
    assert "return s0 + s1*(s2 - s3)\n" in source


def test_a_kernel_occurs_once():
    source = se.codegen([x, y], [se.exp(x) * y, se.exp(y) * x, se.exp(x + y) * x], "cupy")
    assert source.count("@cp.fuse()") == 2


def test_orders_of_bessel_functions_stay_refused():
    with pytest.raises(se.UnsupportedError, match="cupy"):
        se.codegen([x], besselj(2, x) * x, "cupy")
