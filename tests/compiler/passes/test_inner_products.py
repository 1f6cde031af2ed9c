"""Products of two vectors as full contractions: equal values, and no other product changes."""

import numpy as np
from plan_interpreter import assert_same, interpreted
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.compiler.passes.inner_products import with_inner_products
from sympy_einsum.compiler.program import Compilation, Request

m, n = symbols("m n", integer=True, positive=True)
x, y = se.tensors("x y", n)
A = se.TensorSymbol("A", (m, n))


def test_values_stay():
    arguments = [A, x, y]
    plan = Compilation(Request(arguments, [x @ y * (A @ x), se.sin(y @ y)])).plan()
    after = with_inner_products(plan)
    data = [np.arange(6.0).reshape(2, 3), np.arange(3.0), np.ones(3)]
    given = dict(zip(arguments, data, strict=True))
    assert_same(interpreted(after, given), interpreted(plan, given))
    changed = [
        (old.op, new.op)
        for old, new in zip(plan.instructions, after.instructions, strict=True)
        if old != new
    ]
    assert changed == [("dot", "vdot")] * 2


def test_code_of_cupy():
    assert "inner(x, y)" in se.codegen([x, y], x @ y, "cupy")
    assert "A @ x" in se.codegen([A, x], A @ x, "cupy")
