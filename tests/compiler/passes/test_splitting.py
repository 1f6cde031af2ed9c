"""Elementwise code split into single operations: equal values."""

import numpy as np
import pytest
from plan_interpreter import assert_same, compiled, interpreted, random_plans
from sympy import exp, log, sin, symbols, tanh

import sympy_einsum as se
from sympy_einsum.compiler.ir.instruction_rules import Instruction
from sympy_einsum.compiler.ir.plans import Plan, proven
from sympy_einsum.compiler.passes.splitting import split_elementwise
from sympy_einsum.expressions import slot

m, n = symbols("m n", integer=True, positive=True)
X, Y = (se.TensorSymbol(name, (m, n)) for name in "XY")
a, b = slot(0), slot(1)
COUNT = 250


def shapes_of(plan):
    return [plan.instructions[k].shape for k in plan.results]


def test_values_and_shapes_stay():
    more = 0
    for plan, arguments, data in random_plans(COUNT, 1):
        after = proven(split_elementwise(plan), shapes_of(plan))
        more += len(after.instructions) - len(plan.instructions)
        expected = interpreted(plan, data)
        assert_same(interpreted(after, data), expected)
        assert_same(compiled(after, arguments)(*[data[s] for s in arguments]), expected)
    assert more > COUNT / 2


def of_bodies(body, shape=(m, n)):
    arguments = [Instruction("argument", (), (s,), shape) for s in (X, Y)]
    used = sorted({s.place for s in body.free_symbols})
    renamed = body.xreplace({slot(k): slot(j) for j, k in enumerate(used)})
    step = Instruction("elementwise", tuple(used), (renamed,), shape)
    return Plan([*arguments, step], [2])


# A body and the names of the instructions that it becomes.
BODIES = {
    "one function": (sin(a), ["elementwise"]),
    "functions one in the other": (tanh(sin(a)), ["elementwise"] * 2),
    "a difference": (a - b, ["add"]),
    "a negative sum": (-a - b, ["add", "add"]),
    "a product": (2 * a * b, ["scalar", "multiply", "multiply"]),
    "a negative product": (-a * b, ["add", "multiply"]),
    "a quotient": (a / b, ["elementwise"]),
    "shared parts": (sin(a) * exp(sin(a)), ["elementwise", "elementwise", "multiply"]),
    "code that is stable as a whole": (log(1 + exp(a)), ["elementwise"]),
    "a small difference": (exp(a) - 1, ["elementwise"]),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_becomes_single_operations(name):
    body, expected = BODIES[name]
    plan = of_bodies(body)
    after = split_elementwise(plan)
    names = [step.op for step in after.instructions if step.op != "argument"]
    assert sorted(names) == sorted(expected)
    data = {X: np.array([[0.5, 1.5]]), Y: np.array([[2.0, 0.25]])}
    assert_same(interpreted(after, data), interpreted(plan, data))


def test_vectors_are_left_alone():
    body = tanh(sin(a)) * b
    plan = of_bodies(body, (n,))
    assert [s.params for s in split_elementwise(plan).instructions] == [
        s.params for s in plan.instructions
    ]


def test_a_root_and_its_reciprocal_are_one():
    found = se.lambdify([X], [(se.sqrt(1 + X**2)).sum(), X / se.sqrt(1 + X**2)])
    value = np.arange(6.0).reshape(2, 3)
    total, derivatives = found(value)
    np.testing.assert_allclose(total, np.sqrt(1 + value**2).sum())
    np.testing.assert_allclose(derivatives, value / np.sqrt(1 + value**2))
    assert found.source.count("sqrt(") == 1
