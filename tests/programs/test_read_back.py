"""Helper functions in generated code are recognised when it is parsed: derivatives of our own
output."""

import numpy as np
import pytest
from hypothesis import given, seed, settings
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum import numpy as snp, testing

SHAPES = {"x": 3, "P": (3, 3), "T": (4, 3)}
VALUES = {
    "x": np.array([0.3, 0.9, 0.5]),
    "P": np.array([[3.1, 0.3, 0.2], [0.4, 4.0, 0.1], [0.3, 0.2, 5.2]]),
    "T": np.random.default_rng(0).random((4, 3)),
}
BODIES = {
    "cholesky": ("P", "np.linalg.cholesky(P)"),
    "eigenvectors": ("P", "np.linalg.eigh(P)[1]"),
    "singular vectors": ("T", "np.linalg.svd(T, full_matrices=False)[0]"),
    "qr": ("T", "np.linalg.qr(T)[1]"),
    "pinv": ("T", "np.linalg.pinv(T)"),
    "expm": ("P", "sympy_einsum.expm(P / 5)"),
    "gather": ("x", "x[[2, 0, 2]]**2"),
    "rows": ("T", "T[[0, 0, 1]]**2"),
    "take": ("x", "np.take(x, np.array([2, 0, 2], dtype=int))**2"),
    "sums at positions": ("x", "np.bincount([0, 2, 2], x)**2"),
    "sort": ("x", "np.sort(x)**2"),
    "median": ("x", "np.median(x)**2"),
    "products": ("x", "np.cumprod(x)"),
    "running logsumexp": ("x", "sympy_einsum.logcumsumexp(x)"),
    "convolution": ("x", "np.convolve(x, x)"),
}


@pytest.mark.parametrize("name", BODIES)
def test_derivatives_of_parsed_programs(name):
    argument, body = BODIES[name]
    source = f"import numpy as np\nimport sympy_einsum\ndef f({argument}):\n    return {body}"
    read = se.parse_python(source, shapes={argument: SHAPES[argument]})
    again = se.parse_python(se.codegen(read))
    forward = se.parse_python(se.codegen(read, kind="jvp"))
    backward = se.parse_python(se.codegen(read, kind="vjp"))
    x = VALUES[argument]
    d, y = np.cos(5 * x), se.lambdify(read.args, read.outputs)(x)
    np.testing.assert_allclose(se.lambdify(again.args, again.outputs)(x), y)
    derivative = se.lambdify(forward.args, forward.outputs)(x, d)
    weights = np.cos(np.arange(float(np.size(y)))).reshape(np.shape(y))
    cotangent = se.lambdify(backward.args, backward.outputs)(x, weights)
    np.testing.assert_allclose((derivative * weights).sum(), (cotangent * d).sum())
    # The second derivative by way of the text of the first.
    (X,) = read.args
    inner = (read.outputs * weights).sum() if np.ndim(y) else read.outputs * weights
    hessian = se.jvp(se.gradient(inner, X), X, se.TensorSymbol("d", X.shape))
    expected = se.lambdify([X, se.TensorSymbol("d", X.shape)], hessian)(x, d)
    own, dy = backward.args
    found = se.jvp(backward.outputs, own, se.TensorSymbol("d", X.shape))
    arguments = [own, dy, se.TensorSymbol("d", X.shape)]
    np.testing.assert_allclose(
        se.lambdify(arguments, found)(x, weights, d), expected, rtol=1e-6, atol=1e-9
    )


m, n = symbols("m n", integer=True, positive=True)
X, x, y = se.TensorSymbol("X", (m, n)), se.TensorSymbol("x", n), se.TensorSymbol("y", n + 1)
CHECKED = {
    "lengths": ([X, x], se.exp(X @ x)),
    "positions": ([x], x[2:].sum()),
    "composed lengths": ([x, y], x.sum() * y[1:]),
    "a solved length": ([y], y.sum()),
    "numbers as lengths": ([B := se.TensorSymbol("B", (2, 3))], B.sum(axis=0)),
    "a length among the arguments": ([x, n], n * x),
    "a type": ([x], 2 * se.Ones(n, n)),
    "a type of two": ([X, x], 2 * se.Ones(m, n)),
    "no array": ([s := Symbol("s", real=True)], s**2),
}


@pytest.mark.parametrize("name", CHECKED)
def test_checks_of_arguments_are_read_over(name):
    args, expr = CHECKED[name]
    read = se.parse_python(se.codegen(args, expr))
    assert read.args == tuple(args)
    assert se.equal(read.outputs, expr)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        m, n = X.shape\n    t1", "        X = 2 * X\n    t1"),
        ("        m, n = X.shape\n    t1", "        return X\n    t1"),
        ("X, x = check_shapes", "x, X = check_shapes"),
        ("('x', x, ('n',))", "('x', X, ('n',))"),
        ("if not fits", "if fits"),
        ("fits = False", "fits = True"),
        ("array = array.long() if", "array = array + 1 if"),
    ],
)
def test_false_checks_are_refused(old, new):
    text = se.codegen(*CHECKED["lengths"])
    assert text.count(old) == 1
    with pytest.raises(se.ParseError, match="Try isn't read"):
        se.parse_python(text.replace(old, new))


Q, Y, z = se.TensorSymbol("Q", (n, n)), se.TensorSymbol("Y", (n, m)), se.TensorSymbol("z", n)
G = Q @ Q.T + se.eye(n)
NEEDS_SCIPY = {"factors", "definite factors", "transposed factors", "signed factors"}
GENERATED = {
    "windows": ("windows(", [z], se.windows(z, 3)),
    "windows with steps": ("windows(", [z], se.windows(z, 3, stride=2, dilation=2).max(axis=1)),
    "windows on one axis": ("windows(", [Y], se.windows(Y, 2, axis=0).max(axis=-1)),
    "derivative of windows": (
        "windows(",
        [z],
        se.gradient((se.windows(z, 3).max(axis=1) ** 2).sum(), z),
    ),
    "diagonal": ("diagonal_in(", [Q, z], se.inv(se.exp(Q) + se.diag(z))),
    "written over": ("out=t", [Q], se.gradient(se.tanh(se.exp(Q) @ Q).sum(), Q)),
    "choices": (
        'with np.errstate(all="ignore"):',
        [z],
        se.gradient(np.where(z > 0.5, np.sqrt(z - 0.5), z).sum(), z),
    ),
    "reciprocals": ('with np.errstate(over="ignore"):', [z], 1 / (np.exp(z) - 1)),
    "factors": ("factored(", [Q, Y], [se.inv(Q) @ Y, se.logdet(Q), se.det(Q), se.inv(Q)]),
    "transposed factors": ("transposed=True", [Q, z], [se.inv(Q).T @ z, se.inv(Q) @ z]),
    "signed factors": ("factored(", [Q, z], [*snp.linalg.slogdet(Q), se.inv(Q) @ z]),
    "definite factors": ("definite=True", [Q, z], [se.inv(G) @ z, se.logdet(G), se.inv(G).trace()]),
}
GIVEN = {
    Q: np.random.default_rng(1).random((9, 9)) + 3 * np.eye(9),
    Y: np.random.default_rng(2).random((9, 5)),
    z: np.random.default_rng(3).random(9),
}


@pytest.mark.parametrize("name", GENERATED)
def test_supporting_functions_and_arrays_written_over(name):
    if name in NEEDS_SCIPY:
        pytest.importorskip("scipy")
    part, args, expr = GENERATED[name]
    text = se.codegen(args, expr)
    assert part in text
    read = se.parse_python(text)
    assert read.args == tuple(args)
    values = [GIVEN[arg] for arg in args]
    expected, found = se.lambdify(args, expr)(*values), se.lambdify(args, read.outputs)(*values)
    if not isinstance(expr, list):
        expected, found = [expected], [found]
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@seed(5)
@settings(testing.SETTINGS, max_examples=12, database=None)
@given(testing.programs())
def test_random_gradients(made):
    first = made.tensors[0]
    total = made.result.sum() if getattr(made.result, "shape", ()) else made.result
    derivative = se.diff(total, first)
    read = se.parse_python(se.codegen(made.tensors, derivative))
    values = made.arrays()
    np.testing.assert_allclose(
        se.lambdify(read.args, read.outputs)(*values),
        se.lambdify(made.tensors, derivative)(*values),
        rtol=1e-7,
        atol=1e-9,
    )


WRITTEN = [
    "t = np.sin(x); t = np.add(t, x, out=t, casting='no'); return t",
    "t = np.sin(x); np.multiply(t, t[::-1], out=t); return t",
    "t = np.sin(x); u = np.exp(t, out=t); return t * u",
    "t = np.zeros((3, 3)); t = np.add(x, 1, out=t); return t",
    "t = np.outer(x, x); np.sin(x, out=t[1]); return t",
    "t = np.outer(x, x); np.sin(t[0], out=t[:, 1]); t = t.T; t += 1; return t",
    "t = np.outer(x, x); u = t[1:].sum(0); t = np.exp(t, out=t); return t + u",
    "t = np.outer(x, x); u = np.where(t > 0.2, t, 0); t *= t.T; return t + u",
    "t = np.outer(x, x); t = t.T; u = x * t[0]; t = np.negative(t, out=t); return t + u",
    "t = np.outer(x, x); t = t[1:, :2].T; t = np.sqrt(t, out=t); return t",
]


@pytest.mark.parametrize("body", WRITTEN)
def test_results_written_over_arrays(body):
    text = f"import numpy as np\ndef f(x):\n    {body}"
    names = {}
    exec(text, names)
    value = np.array([0.3, 0.9, 0.5])
    read = se.parse_python(text, shapes={"x": 3})
    found = se.lambdify(read.args, read.outputs)(value)
    np.testing.assert_allclose(found, names["f"](value), rtol=1e-12)


# What NumPy changes here has another name too, or no one knows whether it has.
SHARED = [
    "x = np.add(x, 1, out=x); return x",
    "t = np.sin(x); u = t; t = np.add(t, 1, out=t); return t + u",
    "t = np.sin(x); u = t[1:]; t = np.add(t, 1, out=t); return t[1:] + u",
    "t = np.sin(x); u = np.add(t, 1, out=t); t += 1; return t + u",
    "t = np.sin(x); u = np.add(t, 1, out=t); u += 1; return t + u",
    "t = np.sin(x); u = [t]; t = np.add(t, 1, out=t); return t + u[0]",
    "t = np.sin(x); s = (u := t).sum(); t = np.add(t, s, out=t); return t + u",
    "t = np.sin(x); t = t[np.argmax((u := t)):]; t += 1; return t.sum() + u",
    "t = np.sin(x); t = np.add(t, np.multiply(t, 2, out=t), out=t); return t",
    "t = np.sin(x); u = t.conjugate(); u += 1; return t + u",
    "t = np.sin(x); u = np.array(t, copy=None); u += 1; return t + u",
    "t = np.sin(x); u = [];\n    def g(a):\n        u.append(a); return a.sum()\n"
    "    s = 1 + g(t); t += s; return t + u[0]",
    "t = np.outer(x, x); t = np.dot(t, t, out=t); return t",
    "t = 2 * x.sum(); np.add(t, 1, out=t); return t",
]


@pytest.mark.parametrize("body", SHARED)
def test_arrays_of_two_names_are_never_written_over(body):
    text = f"import numpy as np\ndef f(x):\n    {body}"
    with pytest.raises(se.ParseError):
        se.parse_python(text, shapes={"x": 3})


def test_factors_are_for_the_functions_that_come_with_them():
    pytest.importorskip("scipy")
    text = se.codegen([Q, z], [se.inv(Q).T @ z, se.inv(Q) @ z])
    changed = text.replace("solved(t1, z)", "t1[0]")
    assert changed != text
    with pytest.raises(se.ParseError):
        se.parse_python(changed)


def test_blocks_without_warnings():
    text = "import numpy as np\ndef f(x):\n    with {}:\n        y = np.log(x)\n    return y"
    for block in ('np.errstate(divide="ignore", invalid="warn")', "np.errstate(all='ignore')"):
        assert se.parse_python(text.format(block), shapes={"x": 3}).outputs == se.log(
            se.TensorSymbol("x", 3)
        )
    for block in ("np.errstate(all='raise')", "open(x)", "np.errstate(all='ignore') as y", "x"):
        with pytest.raises(se.ParseError, match="With isn't read"):
            se.parse_python(text.format(block), shapes={"x": 3})
