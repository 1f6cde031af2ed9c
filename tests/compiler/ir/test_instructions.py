"""The table of instructions: every row is correct, emitted by every backend, and documented."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
from oracles import jax64
from plan_interpreter import MEANINGS, compiled, interpreted, number
from sympy import Integer, Symbol, cos, log, sin, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import compiler
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.ir import instructions
from sympy_einsum.compiler.ir.instruction_rules import Instruction, Slice
from sympy_einsum.compiler.ir.instructions import OPS as EVERY
from sympy_einsum.compiler.ir.plans import Plan, plan_cost, result_shape
from sympy_einsum.compiler.ir.scans import ScanBody
from sympy_einsum.compiler.ir.solutions import EquationBody
from sympy_einsum.compiler.planning import make_plan
from sympy_einsum.expressions import LAST, slot

l, m, n = symbols("l m n", integer=True, positive=True)
a, b = slot(0), slot(1)
TABLE = se.Constant(np.arange(6.0).reshape(2, 3))
DIAGONAL = ((), "ii->i", False)
DETERMINANT = ("det", False, ())

# The shapes of arguments, and instructions on these, numbered on; the last is the one that is
# named, unless it writes to another.
_LAST, _ = se.scan(
    lambda c, x: (c * x + 1, None), se.TensorSymbol("h", n), se.TensorSymbol("X", m, n)
)
BODY = ScanBody(_LAST.loop, make_plan(_LAST.loop.outputs), ((LAST, 0),), (False,))
LOOP = ("loop", (0, 1), (BODY,))
ROOT = se.solution(lambda x: x**3 + x - se.TensorSymbol("y", n), start=se.Ones(n))
EQUATION = EquationBody(ROOT.parameters, make_plan(ROOT.outputs))
ORDER = ("positions", (1,), ("argsort", 0))
# The text of a sparse matrix calls what compiled functions bring along.
OPS = {name: op for name, op in EVERY.items() if name != "sparse_matrix"}

CASES = {
    "argument": ([], [("argument", (), (se.TensorSymbol("z", (m, n)),))]),
    "constant": ([], [("constant", (), (TABLE,))]),
    "scalar": ([(), ()], [("scalar", (0, 1), (sin(a) * b + 1,))]),
    "elementwise": ([(m, n), (n,)], [("elementwise", (0, 1), (a * cos(b),))]),
    "transpose": ([(l, m, n)], [("transpose", (0,), ((2, 0, 1),))]),
    "index": ([(m, n)], [("index", (0,), ((":", "None", "0"),))]),
    "slice": ([(m, n)], [("slice", (0,), ((None, Slice(Integer(1), Integer(2), Integer(2))),))]),
    "diagonal": ([(m, m, n)], [("diagonal", (0,), ("iij->ij",))]),
    "reshape": ([(l, m, n)], [("reshape", (0,), ((l * m, n),))]),
    "broadcast": ([(n,)], [("broadcast", (0,), ((m, n),))]),
    "contiguous": ([(m, n)], [("contiguous", (0,))]),
    "copy": ([(m, n)], [("copy", (0,))]),
    "sum": ([(l, m, n)], [("sum", (0,), ((0, 2),))]),
    "cumsum": ([(m, n)], [("cumsum", (0,), (1, False))]),
    "lagged_cumsum": ([(l, m)], [("lagged_cumsum", (0,), (0, False, Integer(1), l + 2))]),
    "triangular": ([(l, m, n)], [("triangular", (0,), (True, Integer(-1)))]),
    "mirrored": ([(m, n)], [("mirrored", (0,), (True,))]),
    "running_products": ([(m, n)], [("running_products", (0,), (False,))]),
    "cumprod": ([(m, n)], [("cumprod", (0,))]),
    "recurrence": ([(m, n), (l, m, n + 1)], [("recurrence", (0, 1), (False,))]),
    "running_weights": ([(m, n)], [("running_weights", (0,)), ("logcumsumexp", (1,))]),
    "logcumsumexp": ([(n,)], [("running_weights", (0,)), ("logcumsumexp", (1,))]),
    "running_mean": (
        [(m, n), (l, m, n)],
        [("running_weights", (0,)), ("running_mean", (2, 1), (False,))],
    ),
    "spectrum": ([(m, n)], [("spectrum", (0,), (n, n // 2 + 1, False))]),
    "from_spectrum": (
        [(m, n // 2 + 1), (m, n // 2 + 1)],
        [("from_spectrum", (0, 1), (n, n, True))],
    ),
    "rows": ([(n,), (n,)], [("rows", (0, 1))]),
    "windows": (
        [(m, n)],
        [("windows", (0,), (1, Integer(1), (Integer(2), Integer(-1)), (Integer(2), Integer(2))))],
    ),
    "correlate": ([(m + n,), (n,)], [("correlate", (0, 1))]),
    "convolve": ([(m,), (n,)], [("convolve", (0, 1))]),
    "prod": ([(n,)], [("prod", (0,))]),
    "multiply": ([(m, n), (n,)], [("multiply", (0, 1))]),
    "add": ([(m, n), (n,), ()], [("add", (0, 1, 2), ((-1, 1, -1),))]),
    "add_transposed": ([(n, n)], [("add_transposed", (0,))]),
    "dot": ([(m, n), (n, l)], [("dot", (0, 1))]),
    "matmul": ([(l, m, n), (l, n, m)], [("matmul", (0, 1))]),
    "weighted_gram": ([(m, n), (m,)], [("weighted_gram", (0, 1))]),
    "vdot": ([(m, n), (m, n)], [("vdot", (0, 1))]),
    "einsum": ([(m, n), (m, n)], [("einsum", (0, 1), ("ij,ij->i",))]),
    "full": ([()], [("full", (0,), ((m, n),))]),
    "zeros": ([(n,)], [("zeros", (0,), ((m, n),))]),
    "writable": ([(n, n), (n,)], [("writable", (0, 1), (False,))]),
    "write": (
        [(n, n), (n,)],
        [("writable", (0, 1), (False,)), ("write", (2, 1), ((), "ii->i", True))],
    ),
    "tri": ([(m, n)], [("tri", (), (m, n, Integer(1)))]),
    "inv": ([(n, n)], [("inv", (0,), (False,))]),
    "solve": ([(n, n), (n, m)], [("solve", (0, 1), (False,))]),
    "det": ([(n, n)], [("det", (0,), (False,))]),
    "logdet": ([(n, n)], [("logdet", (0,), (False,))]),
    "slogdet": ([(n, n)], [("slogdet", (0,), (False,))]),
    "factored": ([(n, n)], [("factored", (0,), (False,)), ("by_factors", (1,), DETERMINANT)]),
    "solved": (
        [(n, n), (n, m)],
        [("factored", (0,), (False,)), ("solved", (2, 1), (False, False))],
    ),
    "by_factors": (
        [(n, n)],
        [("factored", (0,), (False,)), ("by_factors", (1,), ("inv", False, (n, n)))],
    ),
    "cofactors": ([(m, m)], [("cofactors", (0,), (1,))]),
    "stacked": ([(l, m, n)], [("stacked", (0,), ("pinv", (n, m)))]),
    "matrix_power": ([(l, n, n)], [("matrix_power", (0,), (n,))]),
    "decomposed": ([(l, n, n)], [("decomposed", (0,), ("slogdet",)), ("part", (1,), (1, ()))]),
    "part": ([(l, n, m)], [("decomposed", (0,), ("svd",)), ("part", (1,), (1, (m,)))]),
    "loop": ([(n,), (m, n)], [LOOP, ("result", (2,), (0, (n,)))]),
    "result": ([(n,), (m, n)], [LOOP, ("result", (2,), (0, (n,)))]),
    "max_shift": ([(m, n)], [("max_shift", (0,), ((1,),))]),
    "logsumexp": ([(m, n)], [("logsumexp", (0,), ((0,),))]),
    "softmax": ([(m, n)], [("softmax", (0,), ((1,),))]),
    "log_total": ([(m, n), (m,)], [("log_total", (0, 1), ((1,),))]),
    "extremum": ([(m, n)], [("extremum", (0,), ("max", (1,)))]),
    "share": ([(m, n)], [("extremum", (0,), ("min", None)), ("share", (0, 1), (None,))]),
    "picked": ([(m, n)], [("picked", (0,), ("sort", 0))]),
    "positions": ([(m, n)], [("positions", (0,), ("argmax", 1))]),
    "range": ([(n,)], [("range", (), (n,))]),
    "take": ([(m, n), (n, l)], [ORDER, ("take", (0, 2), (1,))]),
    "scatter": ([(n, l, m), (n, l)], [ORDER, ("scatter", (0, 2), ((n,), False))]),
    "scatters": (
        [(n, l), (m, n, l), (m, n)],
        [
            ("positions", (2,), ("argsort", 1)),
            ("positions", (0,), ("argmax", 1)),
            ("scatters", (0, 4, 1, 3), ((n,),)),
        ],
    ),
    "one_hot": ([(m, n), (n, l)], [ORDER, ("one_hot", (2,), (n,))]),
    "solution": ([(n,), (n,)], [("solution", (0, 1), (EQUATION,))]),
}
VARIANTS = {
    "zeros written to": (
        [(n,)],
        [("zeros", (0,), ((n, n),)), ("write", (1, 0), DIAGONAL)],
    ),
    "all entries": ([(m, n)], [("sum", (0,), (None,))]),
    "one position": ([(m, n)], [("slice", (0,), ((Integer(2), None),))]),
    "all as one": ([(m, n)], [("softmax", (0,), (None,))]),
    "all frequencies": ([(n,)], [("spectrum", (0,), (n + m, n + m, False))]),
    "weighted frequencies": ([(n,)], [("spectrum", (0,), (n + 3, Integer(3), True))]),
    "from all frequencies": ([(n,), (n,)], [("from_spectrum", (0, 1), (n, n, False))]),
    "from unweighted ones": (
        [(n // 2 + 1,), (n // 2 + 1,)],
        [("from_spectrum", (0, 1), (n, n - 1, False))],
    ),
    "from the end": ([(m, n)], [("cumsum", (0,), (0, True))]),
    "later from the end": (
        [(l, m)],
        [("lagged_cumsum", (0,), (1, True, Integer(-1), m + 3))],
    ),
    "mirrored at the smaller": ([(m, n)], [("mirrored", (0,), (False,))]),
    "products from the end": ([(n,)], [("running_products", (0,), (True,))]),
    "recurrence from the end": ([(l, n), (n + 1,)], [("recurrence", (0, 1), (True,))]),
    "mean from the end": (
        [(l, n), (n,)],
        [("running_weights", (0,)), ("running_mean", (2, 1), (True,))],
    ),
    "lower": ([(m, n)], [("triangular", (0,), (False, Integer(1)))]),
    "vectors": ([(n,), (n,)], [("dot", (0, 1))]),
    "positions of all axes": (
        [(m, n), (l, m), (n,)],
        [
            ("positions", (1,), ("argsort", 1)),
            ("positions", (2,), ("argmax", 0)),
            ("take", (0, 3, 4), (0,)),
        ],
    ),
    "turned": ([(l, m)], [("transpose", (0,), ((1, 0),))]),
    "solved for the transpose": (
        [(n, n), (n,)],
        [("factored", (0,), (False,)), ("solved", (2, 1), (False, True))],
    ),
    "solved, definite": (
        [(n, m), (m, l)],
        [
            ("transpose", (0,), ((1, 0),)),
            ("dot", (2, 0)),
            ("factored", (3,), (True,)),
            ("solved", (4, 1), (True, False)),
        ],
    ),
}


def plan_of(name):
    """Return the plan of a case, its arguments and their values."""
    shapes, steps = {**CASES, **VARIANTS}[name]
    arguments = [se.TensorSymbol(f"x{j}", shape) for j, shape in enumerate(shapes)]
    made = [Instruction("argument", (), (s,), s.shape) for s in arguments]
    for op, inputs, *params in steps:
        params = tuple(*params)
        shape = result_shape(op, [made[j].shape for j in inputs], params)
        made.append(Instruction(op, inputs, params, shape))
    last = made[-1]
    result = last.inputs[0] if last.op == "write" else len(made) - 1
    if last.op == "argument":
        arguments = [last.params[0]]
    rng = np.random.default_rng(3)
    data = {s: rng.uniform(0.5, 1.5, [number(length) for length in s.shape]) for s in arguments}
    if name == "log_total":  # the largest weights are 1, the second operand is their sum
        weights, total = arguments
        data[weights] /= data[weights].max(axis=1, keepdims=True)
        data[total] = data[weights].sum(axis=1)
    data[se.TensorSymbol("lengths", (l, m, n))] = np.ones([number(s) for s in (l, m, n)])
    return Plan(made, [result]), data


def test_every_row_has_a_case_and_a_meaning():
    assert set(CASES) == set(OPS)
    assert set(MEANINGS) | {"argument"} == set(OPS)


@pytest.mark.parametrize("name", [*CASES, *VARIANTS])
def test_shapes_are_those_of_the_values(name):
    plan, data = plan_of(name)
    (value,) = interpreted(plan, data)
    shape = plan.instructions[plan.results[0]].shape
    assert value.shape == tuple(map(number, shape))


def as_dask(array):
    return pytest.importorskip("dask.array").from_array(array)


ARRAYS = {
    "numpy": np.asarray,
    "jax": lambda array: jax64().numpy.asarray(array),
    "torch": lambda array: pytest.importorskip("torch").as_tensor(array),
    "dask": as_dask,
}


@pytest.mark.parametrize("backend", ARRAYS)
@pytest.mark.parametrize("name", [*CASES, *VARIANTS])
def test_code_of_backends_has_the_meaning_of_the_row(name, backend):
    plan, data = plan_of(name)
    if backend == "dask" and name in ("loop", "result"):
        with pytest.raises(se.UnsupportedError, match="no loops"):
            compiled(plan, list(data), backend)
        return
    arrays = [ARRAYS[backend](value) if value.shape else float(value) for value in data.values()]
    if (backend, name) == ("dask", "solution"):
        with pytest.raises(se.UnsupportedError, match="no Newton's method"):
            compiled(plan, list(data), backend)
        return
    (value,) = compiled(plan, list(data), backend)(*arrays)
    (expected,) = interpreted(plan, data)
    assert np.shape(value) == expected.shape
    np.testing.assert_allclose(np.asarray(value), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", OPS)
def test_every_backend_has_a_method_for_every_row(name, backend):
    """The arguments are names."""
    if name in ("argument", "loop"):
        return  # these are the writer's
    method = getattr(BACKENDS[backend], name)
    count = 4 if name == "write" else 1 + len(OPS[name].parameters)
    assert inspect.signature(method).bind("backend", *range(count + OPS[name].is_typed))


@pytest.mark.parametrize("name", OPS)
def test_rows_know_which_results_share_memory(name):
    plan, data = plan_of(name)
    if name in ("argument", "scalar") or OPS[name].is_written:
        return
    arrays = [value.copy() for value in data.values()]
    (value,) = compiled(plan, list(data))(*arrays)
    shares = any(np.shares_memory(value, array) for array in arrays)
    assert shares == OPS[name].is_view
    assert not (OPS[name].is_view and OPS[name].owns)
    if OPS[name].is_whole:
        assert np.size(value) == arrays[0].size


@pytest.mark.parametrize("name", OPS)
def test_bodies_are_functions_of_an_entry(name):
    plan, data = plan_of(name)
    op = OPS[name]
    if op.body is None:
        return
    step = plan.instructions[-1]
    as_code = step._replace(op="elementwise", params=(op.body(step),))
    (value,) = interpreted(Plan([*plan.instructions[:-1], as_code], plan.results), data)
    np.testing.assert_allclose(value, interpreted(plan, data)[0])


FLOPS = {
    "argument": 0, "transpose": 0, "slice": 0, "reshape": 0, "dot": 2 * 3 * 4 * 2,
    "matmul": 2 * 2 * 3 * 4 * 3, "einsum": 2 * 12, "vdot": 24, "sum": 24, "multiply": 12,
    "add": 24, "elementwise": 2 * 12, "scalar": 3, "weighted_gram": 16 * 3, "inv": 2 * 64,
    "det": 2 * 64 // 3, "solve": 2 * 64 // 3 + 2 * 4 * 12, "add_transposed": 16, "softmax": 12,
}  # fmt: skip


@pytest.mark.parametrize("name", FLOPS)
def test_operations_are_counted(name):
    plan, _ = plan_of(name)
    lengths = {l: 2, m: 3, n: 4}
    assert plan_cost(plan, lengths).flops == FLOPS[name]
    assert plan_cost(plan, {s.name: value for s, value in lengths.items()}).flops == FLOPS[name]


def test_a_length_that_is_missing_is_named():
    plan, _ = plan_of("dot")
    with pytest.raises(se.TensorError, match="length l,"):
        plan_cost(plan, {m: 3, n: 4})


def test_the_reference_shows_every_row():
    shown = instructions.__doc__.splitlines()
    for name, op in EVERY.items():
        (line,) = [text for text in shown if text.startswith(f"{name}(")]
        assert line.endswith(op.value)
        assert line.startswith(f"{name}({', '.join(op.parameters)})")


X, A, V = (
    se.TensorSymbol(name, shape) for name, shape in [("X", (m, n)), ("A", (n, n)), ("V", (n,))]
)
C = se.TensorSymbol("C", (l, m, n))
t = Symbol("t", positive=True)
# Expressions that need each instruction.
LOWERED = {
    "argument": V * 2,
    "constant": TABLE * 2,
    "scalar": sin(t) + V.sum(),
    "elementwise": se.exp(X),
    "transpose": X.T * 2,
    "index": X.sum(axis=1)[:, None] * X,
    "slice": X[1] * 2,
    "diagonal": se.einsum("ii->i", A),
    "reshape": se.reshape(X, (m * n,)),
    "broadcast": se.broadcast_to(V, (m, n)),
    "contiguous": se.einsum("ijb,jkb->bik", C, se.TensorSymbol("D", (m, l, n))),
    "copy": X,
    "sum": X.sum(axis=0),
    "cumsum": se.cumsum(V),
    "spectrum": snp.fft.rfft(V).real,
    "from_spectrum": snp.fft.hfft(V),
    "lagged_cumsum": V @ se.Triangle(*V.shape, *V.shape, 1),
    "triangular": se.tril(X),
    "tri": se.tri(3, 4, 1),
    "mirrored": se.hessian((se.cumsum(V) ** 3).sum(), V),
    "running_products": se.cumprod(V) + se.interval_products(V)[0, :-1],
    "cumprod": se.cumprod(V),
    "recurrence": se.TensorSymbol("b", V.shape[0] + 1) @ se.interval_products(V),
    "running_weights": se.softmax(se.logcumsumexp(V)),
    "logcumsumexp": se.logcumsumexp(V),
    "running_mean": se.running_softmax(V) @ V,
    "rows": se.outer(V, V**2) + se.outer(se.exp(V), se.sin(V)),
    "windows": se.windows(V, 2),
    "correlate": se.correlate(V, se.TensorSymbol("b", 2)),
    "convolve": se.convolve(V, V),
    "prod": se.det(se.diag(V)),
    "multiply": X * V[None],
    "add": X + V[None],
    "add_transposed": A + A.T,
    "dot": X @ V,
    "matmul": se.einsum("ijk,ikb->ijb", C, se.TensorSymbol("E", (l, n, m))),
    "weighted_gram": se.einsum("ki,k,kj->ij", A, se.exp(V), A),
    "vdot": se.einsum("ij,ij->", A, X.T @ X),
    "einsum": se.einsum("ij,ij->i", X, X),
    "full": 3 * se.Ones(m, n),
    "zeros": se.Zeros(m, n),
    "writable": A + se.Delta(n),
    "write": se.diag(V),
    "inv": se.inv(A),
    "solve": se.inv(A) @ V,
    "det": se.det(A),
    "logdet": se.logdet(A),
    "slogdet": log(se.det(A)),
    "factored": [se.det(A), se.inv(A)],
    "solved": [se.inv(A) @ V, se.logdet(A)],
    "by_factors": [se.det(A), se.inv(A)],
    "cofactors": se.adj(A),
    "stacked": se.pinv(X.subs(m, 3).subs(n, 2)),
    "matrix_power": se.matrix_power(A, n),
    "decomposed": se.eigh(A)[1],
    "part": se.slogdet(se.TensorSymbol("F", (m, n, n)))[0],
    **dict.fromkeys(["loop", "result"], _LAST),
    "max_shift": [se.logsumexp(X, axis=1), se.softmax(X, axis=1)],
    "logsumexp": se.logsumexp(X, axis=1),
    "softmax": se.softmax(X, axis=1),
    "log_total": se.log(se.softmax(X, axis=1)),
    "extremum": X.max(axis=1),
    "share": se.gradient(X.max(), X),
    "picked": se.sort(V),
    "positions": se.argmax(V),
    "range": se.take_along_axis(X, se.argsort(X), axis=1),
    "take": X[:, [0, 1]],
    "scatter": se.gradient((V[[0, 1, 1]] ** 2).sum(), V),
    "scatters": se.gradient((V[[0, 1, 1]] ** 2).sum() + (V[[2, 0]] ** 3).sum(), V),
    "one_hot": se.one_hot([0, 1], n),
    "solution": ROOT,
}


def test_every_row_has_an_expression_that_needs_it():
    assert set(LOWERED) == set(OPS)


@pytest.mark.parametrize("name", LOWERED)
def test_lowering_emits_the_row(name):
    exprs = LOWERED[name]
    plan = make_plan(exprs if isinstance(exprs, list) else [exprs])
    assert name in [step.op for step in plan.instructions]


def emitted_names():
    """Return the names of instructions in the compiler's code where it emits them."""
    for path in Path(compiler.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                function = node.func
                name = getattr(function, "attr", getattr(function, "id", ""))
                if name in ("emit", "emit_fresh", "_emit", "Instruction"):
                    first = node.args[:1]
                    yield from (
                        part.value
                        for part in ast.walk(ast.Module(first, []))
                        if isinstance(part, ast.Constant) and isinstance(part.value, str)
                    )


def test_emitted_instructions_have_a_row():
    names = set(emitted_names())
    assert len(names) > 20
    assert names <= set(EVERY)
