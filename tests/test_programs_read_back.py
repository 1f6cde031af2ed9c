"""What generated code brings along is read by what it means: derivatives of our own output."""

import numpy as np
import pytest
from sympy import Symbol, symbols

import sympy_einsum as se

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
def test_derivatives_of_what_was_read_back(name):
    argument, body = BODIES[name]
    source = f"import numpy as np\nimport sympy_einsum\ndef f({argument}):\n    return {body}"
    read = se.parse_python(source, shapes={argument: SHAPES[argument]})
    again = se.parse_python(se.codegen(read))
    forward = se.parse_python(se.codegen(read, kind="jvp"))
    backward = se.parse_python(se.codegen(read, kind="vjp"))
    x = VALUES[argument]
    d, y = np.cos(5 * x), se.lambdify(read.args, read.outputs)(x)
    np.testing.assert_allclose(se.lambdify(again.args, again.outputs)(x), y)
    slope = se.lambdify(forward.args, forward.outputs)(x, d)
    weights = np.cos(np.arange(float(np.size(y)))).reshape(np.shape(y))
    cotangent = se.lambdify(backward.args, backward.outputs)(x, weights)
    np.testing.assert_allclose((slope * weights).sum(), (cotangent * d).sum())
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
def test_what_only_looks_like_a_check_is_refused(old, new):
    text = se.codegen(*CHECKED["lengths"])
    assert text.count(old) == 1
    with pytest.raises(se.ParseError, match="Try isn't read"):
        se.parse_python(text.replace(old, new))
