"""A body that collapses to a constant keeps its axes, on any path to compiled code."""

import numpy as np
import pytest
import sympy
from oracles import LENGTHS, assert_close, data_for, m, n
from sympy import Piecewise, S, Symbol

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.ir.instruction_rules import Instruction
from sympy_einsum.compiler.ir.plans import Plan, proven
from sympy_einsum.compiler.passes.fusion import fused
from sympy_einsum.core import Row, WholeFunction, add_row
from sympy_einsum.expressions import slot

t = Symbol("t")
x = se.TensorSymbol("x", (n,))
y = se.TensorSymbol("y", (n,))
X = se.TensorSymbol("X", (m, n))
DATA = {key: np.abs(value) + 0.1 for key, value in data_for([x, y, X]).items()}

# Bodies whose operands cancel, with their values at x, y, X.
COLLAPSES = {
    "power": (lambda: se.exp(x) ** (1 / x), lambda x, y, X: np.full(3, np.e)),
    "exponentials": (lambda: y @ (se.exp(x) * se.exp(-x)), lambda x, y, X: y.sum()),
    "sum": (lambda: snp.sum(se.exp(x) * se.exp(-x)), lambda x, y, X: 3.0),
    "matrix": (lambda: se.exp(X) * se.exp(-X), lambda x, y, X: np.ones((4, 3))),
    "binomial": (lambda: se.binomial(x, x), lambda x, y, X: np.ones(3)),
    "binomial of an axis": (lambda: se.binomial(x, x).sum(), lambda x, y, X: 3.0),
    "one of two": (
        lambda: se.elementwise(lambda a, b: a ** (b / b), x, y).sum(),
        lambda x, y, X: x.sum(),
    ),
    "equal arguments": (lambda: se.Max(x, x) @ y, lambda x, y, X: x @ y),
    "quotient": (lambda: snp.sum(se.log(x) / se.log(x)), lambda x, y, X: 3.0),
    "zero": (lambda: se.exp(se.log(x) - se.log(x)), lambda x, y, X: np.ones(3)),
    "cosines": (lambda: se.cos(x - x) + 0 * x, lambda x, y, X: np.ones(3)),
    "stretched": (
        lambda: se.exp(x[None, :] - x[None, :]) * X[:, :1],
        lambda x, y, X: np.broadcast_to(X[:, :1], (4, 3)),
    ),
    "atan2": (
        lambda: se.atan2(x, x).sum(),
        lambda x, y, X: 3 * np.pi / 4,
    ),
}


@pytest.mark.parametrize("optimize", ["auto", False])
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("name", COLLAPSES)
def test_bodies_that_collapse_keep_their_axes(name, backend, optimize):
    pytest.importorskip(backend)
    build, value = COLLAPSES[name]
    arguments = list(DATA.values())
    if backend == "torch":
        arguments = [pytest.importorskip("torch").as_tensor(a) for a in arguments]
    result = se.lambdify(list(DATA), build(), backend, optimize=optimize)(*arguments)
    expected = np.asarray(value(*DATA.values()))
    assert tuple(np.shape(result)) == expected.shape
    assert_close(np.asarray(result), expected, 1e-5)


def test_fusing_leaves_an_instruction_alone_whose_operands_cancel():
    """exp(x), exp(-x) and their product in sequence are a constant; the product isn't."""
    body = sympy.exp(slot(0))
    plan = Plan(
        [
            Instruction("argument", (), (x,), (n,)),
            Instruction("elementwise", (0,), (body,), (n,)),
            Instruction("elementwise", (0,), (1 / body,), (n,)),
            Instruction("multiply", (1, 2), (), (n,)),
        ],
        [3],
    )
    assert proven(fused(plan), [(n,)]).instructions[-1].shape == (n,)


@pytest.mark.parametrize(
    ("instruction", "shape"),
    [
        (Instruction("elementwise", (0,), (S.One,), (n,)), (n,)),
        (Instruction("sum", (0,), (None,), (n,)), (n,)),
        (Instruction("transpose", (1,), ((1, 0),), (m, n)), (m, n)),
        (Instruction("elementwise", (0,), (slot(0) ** 2,), (n,)), ()),
        (Instruction("elementwise", (0,), (slot(0) ** 2,), (n,)), (m,)),
    ],
)
def test_the_compiler_proves_the_shapes_of_a_program(instruction, shape):
    arguments = [Instruction("argument", (), (v,), v.shape) for v in (x, X)]
    with pytest.raises(se.TensorError, match="shape"):
        proven(Plan([*arguments, instruction], [2]), [shape])


class one(WholeFunction):
    """Return a function whose code doesn't mention its argument."""

    nargs = 1


add_row(Row(one, "1.0", is_public=False))


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "numba"])
def test_code_without_operands_is_filled_in(backend):
    text = se.codegen(X, se.elementwise(one, X), backend)
    assert "(m, n)" in text[text.index("t1 =") :].partition("#")[0]


def test_piecewise_that_is_one_value_keeps_its_axes():
    e = se.elementwise(lambda a: Piecewise((2, a > a - 1), (a, True)), x)
    assert e.shape == (n,)
    assert_close(se.lambdify([x], e)(DATA[x]), np.full(3, 2.0))
    assert e.sum() == 2 * n
    assert LENGTHS[n] == 3
