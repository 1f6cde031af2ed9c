"""Python functions, parsed and written: derivatives against JAX, second derivatives from our own
text."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from oracles import assert_close, jax64
from python_programs import CADDIE, FUNCTIONS
from random_settings import CONFIG

import sympy_einsum as se
from sympy_einsum import testing
from sympy_einsum.programs import PythonFunction


def run(text, name="f", np=np):
    """Return a function that a text defines, executed by Python."""
    space = {"np": np, **{key: getattr(np, key) for key in ("sin", "cos", "exp", "log", "sqrt")}}
    exec(text, space)
    return space[name]


def data(args, seed):
    """Return numbers and arrays for symbols; square matrices are well conditioned."""
    rng = np.random.default_rng(seed)
    shapes = [tuple(map(int, getattr(arg, "shape", ()))) for arg in args]
    arrays = [rng.uniform(0.5, 1.5, shape) for shape in shapes]
    return [a + 2 * np.eye(3) if a.shape == (3, 3) else a if a.shape else float(a) for a in arrays]


def flat(value):
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(part) for part in value])
    return np.ravel(np.asarray(value, float))


def derivative(function, x, dx, h=1e-5):
    """Return the central difference of a function in a direction."""
    above, below = (
        flat(function(*[a + s * b for a, b in zip(x, dx, strict=True)])) for s in (h, -h)
    )
    return (above - below) / (2 * h)


def check(f, function, oracle):
    """Compare values, first derivatives, and the second derivative from parsed text, with a
    function of NumPy's and one of JAX's, if any."""
    x, dx = data(f.args, 3), data(f.args, 4)
    value = function(*x)
    texts = {kind: se.codegen(f, kind=kind) for kind in ("function", "jvp", "vjp")}
    assert_close(flat(run(texts["function"], f.name)(*x)), flat(value), label="value")
    pushed = run(texts["jvp"], f"{f.name}_jvp")(*x, *dx)
    assert_close(flat(pushed), derivative(function, x, dx), 1e-7, label="jvp")
    leaves = value if isinstance(value, tuple) else (value,)
    bars = [np.cos(np.arange(np.size(v)).reshape(np.shape(v)) + 0.3) for v in leaves]
    bars = [bar if bar.shape else float(bar) for bar in bars]
    pullback = run(texts["vjp"], f"{f.name}_vjp")
    pulled = flat(pullback(*x, *bars))
    weighted = sum(np.vdot(bar, v) for bar, v in zip(bars, _tuple(pushed), strict=True))
    assert_close(pulled @ flat(dx), weighted, label="vjp against jvp")
    if oracle is not None:
        jax = jax64()
        back = jax.vjp(oracle, *x)[1](bars[0] if not isinstance(value, tuple) else tuple(bars))
        assert_close(pulled, flat(back), label="vjp")
    # Second order: our own text, read again.
    g = se.parse_python(texts["vjp"])
    assert_close(flat(run(se.codegen(g), g.name)(*x, *bars)), pulled, label="read again")
    still = [0 * np.asarray(bar) if np.ndim(bar) else 0.0 for bar in bars]
    second = run(se.codegen(g, kind="jvp"), f"{g.name}_jvp")(*x, *bars, *dx, *still)
    assert_close(
        flat(second), derivative(pullback, [*x, *bars], [*dx, *still]), 1e-6, label="second"
    )


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", CADDIE)
def test_caddies_programs(name):
    check(se.parse_python(CADDIE[name]), run(CADDIE[name]), run(CADDIE[name], np=jax64().numpy))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_a_module(function):
    check(se.from_function(function), function, None)


def test_functions_are_read_and_never_called():
    def harmful(x):
        np.save("/nowhere", x)
        raise AssertionError("called")

    with pytest.raises(se.ParseError, match=r"it reads or writes .*, at line 2, column 5"):
        se.from_function(harmful)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        # What NumPy would change under another name too, or round.
        ("y = x\n    y += 1\n    return x", "may have another name"),
        ("x[0] = 1\n    return x", "may have another name"),
        ("y = x[:2]\n    y += 1\n    return x", "may have another name"),
        ("y = np.zeros(3)\n    z = y\n    y[0] = 1\n    return z", "may have another name"),
        ("y = np.zeros(3)\n    z = y[1:]\n    y[1] = x[0]\n    return z", "may have another name"),
        ("y = np.zeros(3)\n    z = [y]\n    y += x\n    return z[0]", "may have another name"),
        ("y = x + 1\n    z = [y]\n    z[0] += 1\n    return y", "may have a name"),
        ("y = x + 1\n    z = [y]\n    z[0][1] = 1\n    return y", "may have a name"),
        ("y = np.asarray(x)\n    y += 1\n    return x", "may have another name"),
        ("for y in (x, x): y += 1\n    return x", "may have another name"),
        ("y = x + 1\n    def g(): y[0] = 2\n    g()\n    return y", "may have another name"),
        ("y = x + 1\n    y.sort()\n    return y", "modifies the array in place"),
        ("return x.astype(int)", "entries are real numbers"),
        ("y = np.zeros(3, dtype=int)\n    y += x\n    return y", "entries are real numbers"),
        ("return np.int64(x[0])", "entries are real numbers"),
        ("z = []\n    if x[0] > 0: z.append(x)\n    return z", "no list may change"),
        ("while x[0] > 0: x = x - 1\n    return x", "depends on this condition"),
        ("for k in range(3):\n        if x[k] > 0: break\n    return x", "how far the loop goes"),
        ("if x > 0: return x\n    return -x", "np.where"),
        ("y = x[:2]\n    return x + y", "2"),
        ("return x @ np.ones(4)", "4"),
        ("a, b = x\n    return a", "3 values for 2 names"),
        ("return f", "a function returns numbers and arrays"),
        ("pass", "returns nothing"),
    ],
)
def test_unsupported_syntax_names_its_replacement(body, message):
    with pytest.raises(se.ParseError, match=message) as error:
        se.parse_python(f"import numpy as np\ndef f(x):\n    {body}\n", shapes={"x": 3})
    assert "at line" in str(error.value)
    assert error.value.text.splitlines()[1] == "def f(x):"


def test_arrays_changed_in_place():
    text = (
        "def f(x):\n    y = np.zeros((3, 3))\n    for i in range(3):\n        y[i, i] = x[i] ** 2\n"
        "    y[1:, 0] += x[:2]\n    y[-1] *= x[0]\n    y -= 1\n"
        "    np.einsum('ii->i', y)[...] += x\n    y.ravel()[1::4] = x[:2]\n"
        "    return y, y.sum(axis=0)"
    )
    f = se.parse_python(text, shapes={"x": 3})
    check(f, run(text), None)


# Texts of other kinds, in which diagonals are written to or arrays filled, aren't all read.
READ_BACK = ("functions", "pairs", "products", "axes")


@pytest.mark.parametrize("kind", ["function", "jvp", "vjp"])
@settings(CONFIG, max_examples=12)
@given(made=testing.programs(kinds=READ_BACK, max_steps=4, max_order=1))
def test_texts_of_random_programs_read_back(kind, made):
    f = PythonFunction("f", made.tensors, made.result)
    text = se.codegen(f, kind=kind)
    g = se.parse_python(text)
    shapes = [[int(n.subs(made.lengths)) for n in getattr(arg, "shape", ())] for arg in g.args]
    rng = np.random.default_rng(5)
    values = [rng.standard_normal(shape) if shape else 0.3 for shape in shapes]
    found = run(se.codegen(g), g.name)(*values)
    assert_close(flat(found), flat(run(text, g.name)(*values)))


@pytest.mark.parametrize(
    "make",
    [
        lambda X: se.min_share(X, axis=0),
        lambda X: se.max_share(X, axis=1),
        lambda X: se.gradient(se.min(X, axis=0).sum(), X),
        lambda X: se.adj(X[:2, :2]),
        lambda X: se.cofactors(X[:2, :2], 2),
        lambda X: X.applyfunc(lambda u: sympy.Piecewise((u**2, u < 1), (sympy.sin(u), True))),
        lambda X: se.pinv(X),
    ],
)
def test_generated_text_reads_back_with_its_supporting_functions(make):
    """The values don't depend on which helper functions a text contains."""
    X = se.TensorSymbol("X", (3, 2))
    e = make(X)
    text = se.codegen(X, e, check=False)
    read = se.parse_python(text, name="function", shapes={"X": (3, 2)})
    values = np.array([[1.0, 5.0], [0.25, 7.0], [2.0, 0.25]])
    np.testing.assert_allclose(
        se.lambdify(list(read.args), read.outputs)(values), se.lambdify(X, e)(values), atol=1e-12
    )


@pytest.mark.parametrize("call", [
    "gelu(x)", "gelu(x, approximate=False)", "silu(x)", "swish(x)", "elu(x)", "selu(x)", "mish(x)",
    "leaky_relu(x)", "leaky_relu(x, 0.5)", "hard_tanh(x)", "log_sigmoid(x)", "log_softmax(x)",
])  # fmt: skip
def test_activations_of_jax(call):
    jax, points = jax64(), np.array([-30.0, -1.5, -1.0, -0.2, 0.0, 0.4, 1.0, 3.0, 30.0])
    f = se.parse_python(f"import jax\ndef f(x):\n    return jax.nn.{call}", shapes={"x": 9})
    value, (arg,) = f.outputs, f.args
    theirs = eval(f"lambda x: nn.{call}", {"nn": jax.nn})
    assert_close(se.lambdify([arg], value)(points), theirs(points))
    # At the kinks of hard_tanh each has its own convention.
    found = se.lambdify([arg], se.gradient((value * value).sum(), arg))(points)
    expected = jax.grad(lambda x: (theirs(x) ** 2).sum())(points)
    away = slice(None) if call != "hard_tanh(x)" else abs(points) != 1
    assert_close(found[away], np.asarray(expected)[away])
