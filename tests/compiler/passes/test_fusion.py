"""Fusion of elementwise instructions: equal values from fewer kernels."""

from collections import Counter

import numpy as np
import pytest
from plan_interpreter import assert_same, compiled, interpreted, random_plans
from sympy import sin, symbols

import sympy_einsum as se
from sympy_einsum.compiler.ir.instruction_rules import Instruction
from sympy_einsum.compiler.ir.instructions import OPS
from sympy_einsum.compiler.ir.plans import Plan, proven
from sympy_einsum.compiler.passes.fusion import fused
from sympy_einsum.core.tuning import MAX_FUSED_OPERANDS
from sympy_einsum.expressions import slot

m, n = symbols("m n", integer=True, positive=True)
X, Y = (se.TensorSymbol(name, (m, n)) for name in "XY")
COUNT = 250


def shapes_of(plan):
    return [plan.instructions[k].shape for k in plan.results]


def test_values_and_shapes_stay():
    fewer = 0
    for plan, arguments, data in random_plans(COUNT, 1):
        after = proven(fused(plan), shapes_of(plan))
        fewer += len(plan.instructions) - len(after.instructions)
        expected = interpreted(plan, data)
        assert_same(interpreted(after, data), expected)
        assert_same(compiled(after, arguments)(*[data[s] for s in arguments]), expected)
    assert fewer > COUNT / 2


def test_a_kernel_reads_each_operand_once():
    """No other instruction is added or computed twice."""
    for plan, _, _ in random_plans(COUNT, 2):
        after = fused(plan)
        bodies = [step.params for step in plan.instructions]
        for step in after.instructions:
            if step.op == "elementwise" and step.params not in bodies:
                assert len(step.params[0].free_symbols) == len(set(step.inputs)) == len(step.inputs)
        others = [step.op for step in plan.instructions if OPS[step.op].body is None]
        kept = [step.op for step in after.instructions if OPS[step.op].body is None]
        assert not Counter(kept) - Counter(others)


def sums(count):
    """Return ((x0 + x1) + x2) + …, each partial sum used once."""
    symbols_ = [se.TensorSymbol(f"x{j}", (n,)) for j in range(count)]
    steps = [Instruction("argument", (), (s,), (n,)) for s in symbols_]
    total = 0
    for k in range(1, count):
        steps.append(Instruction("add", (total, k), ((1, 1),), (n,)))
        total = len(steps) - 1
    return Plan(steps, [total]), symbols_


@pytest.mark.parametrize("count", [2, 5, MAX_FUSED_OPERANDS, 3 * MAX_FUSED_OPERANDS])
def test_kernels_have_a_limit(count):
    plan, arguments = sums(count)
    after = fused(plan)
    sizes = [len(step.inputs) for step in after.instructions if step.inputs]
    assert max(sizes) <= MAX_FUSED_OPERANDS
    assert len(sizes) <= 1 + 2 * count / MAX_FUSED_OPERANDS
    data = {s: np.full(4, float(j)) for j, s in enumerate(arguments)}
    assert_same(interpreted(after, data), interpreted(plan, data))


def test_values_of_two_users_are_computed_once():
    square = Instruction("elementwise", (0,), (slot(0) ** 2,), (m, n))
    plan = Plan(
        [
            Instruction("argument", (), (X,), (m, n)),
            square,
            Instruction("elementwise", (1,), (sin(slot(0)),), (m, n)),
            Instruction("multiply", (1, 2), (), (m, n)),
        ],
        [3],
    )
    after = fused(plan)
    assert square in after.instructions
    assert len(after.instructions) == 3
    both = fused(plan._replace(results=[2, 3]))
    assert len(both.instructions) == 4
