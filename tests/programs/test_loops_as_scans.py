"""Loops of Python functions are read as scans: values against executing the source, derivatives
against differences and JAX, and generated code read again."""

import numpy as np
import pytest
from oracles import assert_close

import sympy_einsum as se
from sympy_einsum.core import postorder
from sympy_einsum.expressions import Scan

# Sources, and shapes of arguments.
LOOPS = {
    "a recurrent network": (
        """
    T = x.shape[0]
    h = np.zeros((T + 1, h0.shape[0]))
    h[0] = h0
    for t in range(T):
        h[t + 1] = np.tanh(W @ h[t] + x[t])
    return h[T], h[1:], h""",
        {"W": ("n", "n"), "x": ("T", "n"), "h0": "n"},
    ),
    "a total": (
        """
    total = 0
    for v in z:
        total = total * v + v**2
    return total""",
        {"z": "T"},
    ),
    "a list": (
        """
    ys, s = [], a
    for t, v in enumerate(z):
        s = s * v + t
        ys.append(s)
    return np.array(ys), s""",
        {"z": "T", "a": ()},
    ),
    "a descending range": (
        """
    y = np.empty(len(z))
    c = 0.5
    for t in range(len(z) - 1, -1, -1):
        c = np.sin(c) * z[t]
        y[t] = c + t
    return y, c""",
        {"z": "T"},
    ),
    "two arrays at once": (
        """
    s = 0
    for a, row in zip(z, x):
        s += a * row.sum() * s + a
    return s""",
        {"z": "T", "x": ("T", "n")},
    ),
    "an argument counts": (
        """
    for t in range(T):
        u = u - 0.1 * np.sin(u) * (t + 1)
    return u""",
        {"u": "n", "T": None},
    ),
    "two steps back": (
        """
    y = np.zeros(T + 2)
    y[0] = a
    y[1] = b
    for t in range(2, T + 2):
        y[t] = y[t - 1] * y[t - 2] + 1
    return y""",
        {"a": (), "b": (), "T": None},
    ),
    "nested loops": (
        """
    m, n = A.shape
    y = np.zeros(m)
    for i in range(m):
        s = 0
        for j in range(n):
            s = s + A[i, j] * u[j]
        y[i] = s
    return y""",
        {"A": ("T", "n"), "u": "n"},
    ),
    "a grid, entry by entry": (
        """
    n = g.shape[0]
    w = np.zeros((T + 1, n))
    w[0] = g
    for t in range(T):
        for i in range(1, n - 1):
            w[t + 1, i] = w[t, i] + 0.1 * (w[t, i - 1] - 2 * w[t, i] + w[t, i + 1])
    return w[T]""",
        {"g": "n", "T": None},
    ),
    "a wave": (
        """
    for t in range(T):
        a = np.zeros_like(u)
        a[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
        v = v + 0.1 * a
        u = u + 0.1 * v
    return u, v""",
        {"u": "n", "v": "n", "T": None},
    ),
    "a list of states": (
        """
    hs = [h0]
    for row in x:
        h = np.tanh(hs[-1] + row)
        hs.append(h)
    return np.stack(hs, axis=1), hs[-1]""",
        {"x": ("T", "n"), "h0": "n"},
    ),
    "a list in reverse": (
        """
    g, out = 0.3, []
    for t in reversed(range(z.shape[0])):
        g = g * z[t] + 1
        out.append(g)
    return np.array(out)""",
        {"z": "T"},
    ),
    "comprehensions": (
        """
    return np.array([np.sin(v) * k for k, v in enumerate(z)]), sum(v**2 for v in z)""",
        {"z": "T"},
    ),
    "branches": (
        """
    y = np.zeros(z.shape[0])
    s = 1.5
    for t in range(z.shape[0]):
        if z[t] > 0.9:
            s = s * z[t]
            y[t] = s
        else:
            y[t] = -s
    return y, s""",
        {"z": "T"},
    ),
    "an adjoint": (
        """
    T, n = x.shape
    lam = np.zeros((T + 1, n))
    lam[T] = h0
    for t in reversed(range(T)):
        lam[t] = W.T @ lam[t + 1] + x[t]
    return lam[0], lam[:-1], lam[1:]""",
        {"W": ("n", "n"), "x": ("T", "n"), "h0": "n"},
    ),
    "from the end": (
        """
    T, s = z.shape[0], 0
    for t in range(T):
        s = s * z[T - 1 - t] + z[-1 - t] * z[t]
    return s""",
        {"z": "T"},
    ),
    "a pair": (
        """
    def rotate(p, a):
        c, s = p
        return c * np.cos(a) - s, s * np.cos(a) + c
    p = (1, 0)
    for a in z:
        p = rotate(p, a)
    return p[0] * p[1]""",
        {"z": "T"},
    ),
    "a view of an earlier entry": (
        """
    h = np.zeros((x.shape[0] + 1, h0.shape[0]))
    h[0] = h0
    for t in range(x.shape[0]):
        before = h[t]
        h[t + 1] = before * x[t]
        h[t + 1, 0] += 1
    return h""",
        {"x": ("T", "n"), "h0": "n"},
    ),
    "an array of a list": (
        """
    s = [1]
    for v in z:
        s.append(v * s[-1])
    s = np.array(s)
    return s * 2""",
        {"z": "T"},
    ),
    "columns": (
        """
    s = np.zeros(x.shape[1])
    for t in range(x.shape[0]):
        s = s + np.sin(s) * x.T[:, t] + x[t, 0]
    return s""",
        {"x": ("T", "n")},
    ),
}


def source(name):
    body, shapes = LOOPS[name]
    return f"import numpy as np\ndef f({', '.join(shapes)}):{body}\n"


def executed(text, name="f"):
    space = {}
    exec(text, space)
    return space[name]


def arrays(args, steps, seed=0):
    """Return values of arguments for a number of steps."""
    rng = np.random.default_rng(seed)
    lengths = {"T": steps, "n": 3}

    def value(arg):
        if arg.is_integer:
            return steps
        shape = [int(d.subs({s: lengths[s.name] for s in d.free_symbols})) for d in arg.shape]
        return rng.uniform(0.5, 1.5, shape)

    return [
        value(arg) if arg.is_integer or hasattr(arg, "shape") else rng.uniform(0.5, 1.5)
        for arg in args
    ]


def flat(value):
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(part) for part in value])
    return np.ravel(np.asarray(value, float))


def read(name):
    shapes = {key: shape for key, shape in LOOPS[name][1].items() if shape is not None}
    return se.parse_python(source(name), shapes=shapes)


def parts(outputs):
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


@pytest.mark.parametrize("name", LOOPS)
def test_values(name):
    f = read(name)
    assert any(isinstance(node, Scan) for node in postorder(parts(f.outputs)))
    again = executed(se.codegen(f))
    for steps in (0, 1, 4):
        x = arrays(f.args, steps)
        assert_close(flat(again(*x)), flat(executed(source(name))(*x)), label=f"{steps} steps")


@pytest.mark.parametrize("name", LOOPS)
def test_derivatives(name):
    f = read(name)
    pushed, pulled = (executed(se.codegen(f, kind=k), f"f_{k}") for k in ("jvp", "vjp"))
    x = arrays(f.args, 4)
    places = [k for k, arg in enumerate(f.args) if not arg.is_integer]
    dx = [np.cos(3 * np.asarray(x[k])) for k in places]
    function = executed(source(name))

    def moved(h):
        y = list(x)
        for k, d in zip(places, dx, strict=True):
            y[k] = y[k] + h * d
        return function(*y)

    derivative = (flat(moved(1e-5)) - flat(moved(-1e-5))) / 2e-5
    tangent = pushed(*x, *dx)
    assert_close(flat(tangent), derivative, 1e-7, label="jvp")
    values = function(*x)
    values = values if isinstance(values, tuple) else (values,)
    bars = [np.cos(np.arange(float(np.size(v))).reshape(np.shape(v))) for v in values]
    cotangent = pulled(*x, *bars)
    assert_close(flat(cotangent) @ flat(dx), flat(bars) @ flat(tangent), label="vjp")


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("kind", ["function", "jvp", "vjp"])
def test_generated_loops_are_read_again(name, kind):
    text = se.codegen(read(name), kind=kind)
    again = se.parse_python(text)
    x = arrays(again.args, 4)
    assert_close(
        flat(executed(se.codegen(again), again.name)(*x)), flat(executed(text, again.name)(*x))
    )


def test_hessian_vector_product_is_read_again():
    text = """
def f(a, z):
    s = a
    for v in z:
        s = s * v + np.sin(s)
    return s
"""
    f = se.parse_python(text, shapes={"z": "T"})
    product = se.codegen(f, kind="hvp")
    again = se.parse_python(product)
    x = arrays(again.args, 4)
    assert_close(
        flat(executed(se.codegen(again), "f_hvp")(*x)), flat(executed(product, "f_hvp")(*x))
    )
    (a, z), (da, dz) = f.args, again.args[2:]
    expected = se.lambdify([a, z, da, dz], list(se.hvp(f.outputs, [a, z], [da, dz])))(*x)
    assert_close(flat(executed(product, "f_hvp")(*x)), flat(expected))


def test_entries_are_inputs_and_earlier_ones_carries():
    T, n = se.parse_python("def f(x): return x", shapes={"x": ("T", "n")}).args[0].shape
    W, x, h0 = se.TensorSymbol("W", n, n), se.TensorSymbol("x", T, n), se.TensorSymbol("h0", n)
    last, states = se.scan(lambda h, v: 2 * (se.tanh(W @ h + v),), h0, x)
    f = read("a recurrent network")
    assert se.equal(f.outputs[0], last)
    assert se.equal(f.outputs[1], states)


def test_few_known_steps_are_written_out():
    text = "def f(x):\n    for t in range({}):\n        x = np.sin(x) + t\n    return x"
    few, many = (se.parse_python(text.format(count)).outputs for count in (16, 17))
    assert not any(isinstance(node, Scan) for node in postorder([few]))
    assert isinstance(many, Scan)
    assert se.equal(se.unroll(many), se.sin(few) + 16)


def test_many_known_steps_that_are_no_scan_are_written_out():
    text = """
def f(x):
    for t in range(30):
        if t == 20:
            break
        x = x + t
    return x
"""
    f = se.parse_python(text)
    assert se.equal(f.outputs, f.args[0] + 190)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "s = 0\n    for t in range(n):\n        s = s + A[t]\n    return s",
            r"'s' must keep .* with \(\), and a step gives \(3,\).*np.zeros, at line 5",
        ),
        (
            "for t in range(n):\n        if x[t] > 0: break\n    return x",
            "how far the loop goes depends on this condition .*, at line 4",
        ),
        ("for t in range(n):\n        break", "np.where instead of leaving it, at line 4"),
        ("s = 0\n    for t in range(x.sum()): s += 1", "a range needs integers, not x.sum"),
        (
            "s = 0\n    for t in range(n):\n        for k in range(t): s += x[k]\n    return s",
            "depends on the step of the loop around it.*, at line 5",
        ),
        ("s = 0\n    for t in range(n): s += x[t - 1]", "let the range begin later, at line 4"),
        ("s = 0\n    for t in range(n): s += x[t + 1]", "doesn't lie within .*, at line 4"),
        (
            "s = []\n    for t in range(n):\n        s.append(t)\n        s.append(1)",
            "'s' grows by more than one value in a step",
        ),
        ("s = 0\n    for a, b in zip(x, A[0]): s += a * b\n    return s", "n and 3 items"),
        (
            "a = True\n    for t in range(n):\n        a = False\n    return a",
            "'a' is neither a number nor an array",
        ),
        (
            "s = (0, 1)\n    for t in range(n):\n        s = s + (t,)\n    return s",
            r"'s' must keep its structure .* starts as \(\*, \*\)",
        ),
        (
            "s = []\n    def add(v): s.append(v)\n    for t in range(n): add(t)\n    return s",
            "a function that the loop calls changes a list",
        ),
        ("s = []\n    for t in x: s.append(t)\n    return s + [1]", "use np.array of it"),
        ("return [t for t in x] + [1]", "use np.array of it"),
        ("s = 0\n    for t in range(0, n, 2): s += x[t]", "by steps of 1 or -1, not 2"),
        (
            "s = np.zeros(n)\n    q = s\n    for t in range(n): s[t] = x[t]\n    return q",
            "may have another name too",
        ),
        (
            "a = np.zeros(3)\n    b = 2 * a\n    for t in x:\n        a[0] = 1\n        b = a",
            "may have another name too",
        ),
        (
            "h = x + 0\n    for t in range(n - 1):\n        v = h[t+1:t+2]\n        h[t] = v[0]",
            "may have another name too",
        ),
    ],
)
def test_errors_name_the_line_and_the_variable(body, message):
    text = f"def f(x, A):\n    n = x.shape[0]\n    {body}"
    with pytest.raises(se.ParseError, match=message):
        se.parse_python(text, shapes={"x": "n", "A": ("n", 3)})


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("s = 0\n    for i in range(20): s += x[i] if i < 10 else 0\n    return s", 10),
        ("y = np.zeros(30)\n    for i in range(20): y[i - 5] = x[i]\n    return y", 20),
        ("s = 0\n    for i in range(20): s += x[i - 20]\n    return s", 25),
    ],
)
def test_positions_that_python_counts_from_the_end_are_written_out(body, shape):
    source = f"def f(x):\n    {body}"
    names = {"np": np}
    exec(source, names)
    x = np.random.default_rng(1).standard_normal(shape)
    f = se.parse_python(source, shapes={"x": shape})
    value = se.lambdify(f.args, f.outputs)(x)
    assert_close(value, names["f"](x))


@pytest.mark.parametrize(
    "body",
    [
        "s = 0\n    for i in range(20): s += x[i]\n    return s",
        "y = np.zeros(10)\n    for i in range(20): y[i] = i\n    return y",
        "y = np.ones(20)\n    for i in range(20): y[i] = 2 * y[i + 1]\n    return y",
    ],
)
def test_positions_beyond_an_axis_are_refused(body):
    source = f"def f(x):\n    {body}"
    with pytest.raises(se.ParseError, match=r"at line [34]"):
        se.parse_python(source, shapes={"x": 10})


def test_a_symbolic_range_beyond_an_axis_is_refused():
    source = "def f(x):\n    y = 0 * x\n    for i in range(len(x) + 1): y[i] = i\n    return y"
    with pytest.raises(
        se.ParseError, match="'y' is written beyond its axis of length n, at line 3"
    ):
        se.parse_python(source, shapes={"x": "n"})


def test_names_that_are_read_only_after_the_last_step_are_kept():
    source = """
def f(x, z):
    s = x
    for i in range(len(z)):
        s = s + x * z[i]
    else:
        t = s * i
    return t
"""
    f = se.parse_python(source, shapes={"x": 3, "z": "n"})
    names = {}
    exec(source, names)
    x, z = np.arange(3.0), np.arange(6.0)
    assert_close(se.lambdify(f.args, f.outputs)(x, z), names["f"](x, z))


def test_variables_are_carried_in_the_order_of_their_definitions():
    """An order of names in a set would differ from process to process."""
    names = ["z", "alpha", "level", "b", "error", "y", "c"]
    starts = "".join(f"    {name} = x[{k}]\n" for k, name in enumerate(names))
    steps = "".join(
        f"        {name} = {name} * v + {other}\n"
        for name, other in zip(names, names[1:] + names[:1], strict=True)
    )
    text = f"def f(x, w):\n{starts}    for v in w:\n{steps}    return {', '.join(names)}"
    found = se.parse_python(text, shapes={"x": (7,), "w": ("T",)}).outputs
    x = se.TensorSymbol("x", 7)
    assert found[0].operands[:7] == tuple(x[k] for k in range(7))
