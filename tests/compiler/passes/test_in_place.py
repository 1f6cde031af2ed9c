"""Results written over operands: equal values, and no live value is overwritten."""

import numpy as np
import pytest
from node_samples import SAMPLES, numeric, sample
from oracles import LENGTHS
from plan_interpreter import assert_same, compiled, interpreted, number, random_plans
from sympy import sin, symbols

import sympy_einsum as se
from sympy_einsum.compiler.ir.instruction_rules import Instruction
from sympy_einsum.compiler.ir.instructions import OPS
from sympy_einsum.compiler.ir.plans import Plan, origin, proven
from sympy_einsum.compiler.passes.in_place import overwritten
from sympy_einsum.compiler.passes.splitting import split_elementwise
from sympy_einsum.expressions import slot

m, n = symbols("m n", integer=True, positive=True)
X = se.TensorSymbol("X", (m, n))
COUNT = 250


@pytest.mark.parametrize("passes", [(), (split_elementwise,)], ids=["plain", "split"])
def test_values_stay_and_arguments_too(passes):
    found = 0
    for plan, arguments, data in random_plans(COUNT, 1):
        for one in passes:
            plan = one(plan)
        reuse = overwritten(plan)
        found += len(reuse)
        given = [data[s].copy() for s in arguments]
        results = compiled(plan, arguments, reuse=reuse)(*given)
        assert_same(results, interpreted(plan, data))
        for value, symbol in zip(given, arguments, strict=True):
            np.testing.assert_array_equal(value, data[symbol])
    assert found > COUNT / 4


@sample
@pytest.mark.parametrize("lengths", ["all different", "ones"])
def test_no_kind_of_node_gives_its_operand_away(name, lengths):
    """Some functions return their argument itself, such as the first power of a matrix: what is
    added to the result mustn't be written there, nor may the caller write to the argument."""
    e = SAMPLES[name]
    data = numeric(e)
    if lengths == "ones":
        data = {s: v[(slice(1),) * np.ndim(v)] if np.ndim(v) else v for s, v in data.items()}
        data.update({s: 1 for s in data if s in LENGTHS})
    arguments = {s: np.array(v) if np.ndim(v) else v for s, v in data.items()}
    functions = {"g": np.sin}
    for expression in (e, e + 1, 2 * (e + 1) ** 2 - e / 3):
        f = se.lambdify([*data], expression, functions=functions, check=False)
        try:
            result = f(*arguments.values())
        except (se.ShapeError, IndexError, ValueError):
            assert lengths == "ones"
            continue
        for s, value in arguments.items():
            np.testing.assert_array_equal(value, data[s])
            assert not np.ndim(value) or not np.shares_memory(result, value), s


def test_only_dead_arrays_of_their_own_are_written_over():
    for plan, _, _ in random_plans(COUNT, 2):
        instructions = plan.instructions
        for k, place in overwritten(plan).items():
            memory = origin(instructions, instructions[k].inputs[place])
            assert OPS[instructions[memory].op].owns
            readers = [
                j
                for j, step in enumerate(instructions)
                if any(origin(instructions, own) == memory for own in step.inputs)
                and not OPS[step.op].is_view
            ]
            assert max(readers) == k
            assert memory not in [origin(instructions, own) for own in plan.results]


def chain(*steps, shape=(m, n), results=None):
    """Return a plan of instructions on X that keep its shape."""
    instructions = [Instruction("argument", (), (X,), shape)]
    instructions += [Instruction(op, inputs, params, shape) for op, inputs, *params in steps]
    return proven(
        Plan(instructions, results or [len(steps)]), [shape] * (len(results) if results else 1)
    )


PLANS = {
    "an argument isn't": (chain(("elementwise", (0,), sin(slot(0)))), {}),
    "a sum is": (
        chain(("add", (0, 0), (1, 1)), ("elementwise", (1,), sin(slot(0)))),
        {2: 0},
    ),
    "not while it is needed": (
        chain(
            ("add", (0, 0), (1, 1)),
            ("elementwise", (1,), sin(slot(0))),
            ("multiply", (1, 2)),
        ),
        {3: 0},
    ),
    "nor where it is a result": (
        chain(("add", (0, 0), (1, 1)), ("elementwise", (1,), sin(slot(0))), results=[1, 2]),
        {},
    ),
    "nor twice the same operand": (chain(("add", (0, 0), (1, 1)), ("multiply", (1, 1))), {}),
}


@pytest.mark.parametrize("name", PLANS)
def test_overwritten_operands(name):
    plan, expected = PLANS[name]
    assert overwritten(plan) == expected


def test_contiguous_arrays_share_memory():
    """A transpose in C order of a tensor with an axis of length 1 is the tensor itself."""
    k = symbols("k", integer=True, positive=True)
    Z = se.TensorSymbol("Z", (k, m))
    plan = Plan(
        [
            Instruction("argument", (), (Z,), (k, m)),
            Instruction("add", (0, 0), ((1, 1),), (k, m)),
            Instruction("transpose", (1,), ((1, 0),), (m, k)),
            Instruction("contiguous", (2,), (), (m, k)),
            Instruction("elementwise", (1,), (sin(slot(0)),), (k, m)),
            Instruction("dot", (4, 3), (), (k, k)),
        ],
        [5],
    )
    value = np.linspace(1.0, 2.0, number(m)).reshape(1, -1)
    (result,) = compiled(plan, [Z], reuse=overwritten(plan))(value)
    np.testing.assert_allclose(result, np.sin(2 * value) @ (2 * value).T)


def test_products_read_values_before_they_are_overwritten():
    """From user code: the batched product reads the sine after its exponential."""
    b = symbols("b", integer=True, positive=True)
    Z, E = se.TensorSymbol("Z", (n, n, b)), se.TensorSymbol("E", (n, n, b))
    S = se.sin(Z)
    products = [se.einsum("ijb,jkb->bik", S, right) for right in (E, se.exp(S))]
    z, e = np.random.default_rng(1).standard_normal((2, 3, 3, 1))
    first, second = se.lambdify([Z, E], products)(z, e)
    np.testing.assert_allclose(first, np.einsum("ijb,jkb->bik", np.sin(z), e))
    np.testing.assert_allclose(second, np.einsum("ijb,jkb->bik", np.sin(z), np.exp(np.sin(z))))


def test_a_product_on_whose_diagonal_something_is_added_isnt_copied():
    """Unless it is needed elsewhere, or is a result itself."""
    X, x = se.TensorSymbol("X", (n, n)), se.TensorSymbol("x", (n,))
    product = X * se.exp(X)
    total = product + se.diag(x)
    values = np.arange(9.0).reshape(3, 3), np.ones(3)
    before = values[0] * np.exp(values[0])
    for exprs, is_copied in [([total], False), ([total, product], True)]:
        function = se.lambdify([X, x], exprs)
        assert ("np.array(t" in function.source) == is_copied
        found = function(*values)
        np.testing.assert_array_equal(found[0], before + np.eye(3))
        for value in found[1:]:
            np.testing.assert_array_equal(value, before)
