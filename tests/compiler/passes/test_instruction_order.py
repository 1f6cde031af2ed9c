"""Reordered instructions: equal values, and shorter lifetimes of large arrays."""

import tracemalloc

import numpy as np
from plan_interpreter import assert_same, compiled, interpreted, random_plans
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.compiler.ir.plans import proven
from sympy_einsum.compiler.passes.in_place import overwritten
from sympy_einsum.compiler.passes.instruction_order import reductions_first
from sympy_einsum.compiler.passes.splitting import split_elementwise

m, n, k = symbols("m n k", integer=True, positive=True)
X, Y, W = se.TensorSymbol("X", m, n), se.TensorSymbol("Y", m, k), se.TensorSymbol("W", n, k)
LOSS = se.logsumexp(X @ W, axis=1).sum() - (Y * (X @ W)).sum()


def test_values_stay():
    moved = 0
    for plan, arguments, data in random_plans(250, 5):
        plan = split_elementwise(plan)
        found = reductions_first(plan)
        shapes = [plan.instructions[number].shape for number in plan.results]
        assert sorted(s.op for s in found.instructions) == sorted(s.op for s in plan.instructions)
        moved += found.instructions != plan.instructions
        assert_same(interpreted(proven(found, shapes), data), interpreted(plan, data))
        results = compiled(found, arguments, reuse=overwritten(found))(*data.values())
        assert_same(results, interpreted(plan, data))
    assert moved > 20


def peak_memory(function, *arrays):
    function(*arrays)
    tracemalloc.start()
    function(*arrays)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_one_array_of_scores_is_enough():
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape) for shape in ((2000, 3), (2000, 40), (3, 40))]
    function = se.lambdify([X, Y, W], [LOSS, se.gradient(LOSS, W)])
    scores = 2000 * 40 * 8
    assert peak_memory(function, *arrays) < 2.3 * scores
    value, derivative = function(*arrays)
    product = arrays[0] @ arrays[2]
    share = np.exp(product) / np.exp(product).sum(1, keepdims=True)
    expected = np.log(np.exp(product).sum(1)).sum() - (arrays[1] * product).sum()
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(derivative, arrays[0].T @ (share - arrays[1]))
