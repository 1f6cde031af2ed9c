"""Log-sum-exp and softmax: values and derivatives against SciPy, JAX, complex steps and mpmath, at
ordinary and huge arguments; invariants of their nodes."""

import pickle
import warnings
from itertools import combinations

import mpmath
import numpy as np
import pytest
import scipy.special
import sympy
from oracles import (
    LENGTHS,
    assert_close,
    data_for,
    evaluate,
    graph,
    jax64,
    k,
    m,
    n,
    numeric_shape,
)
from sympy import symbols

import sympy_einsum as se

t = symbols("t", real=True)
x = se.TensorSymbol("x", (n,))
v = se.TensorSymbol("v", (m,))
w = se.TensorSymbol("w", (k,))
X = se.TensorSymbol("X", (n, m))
Y = se.TensorSymbol("Y", (n, m))
W = se.TensorSymbol("W", (m, k))
T = se.TensorSymbol("T", (n, m, k))

CASES = [
    (tensor, axes)
    for tensor in (x, X, T)
    for count in range(1, tensor.order + 1)
    for axes in combinations(range(tensor.order), count)
]
NAMES = [f"{tensor.name}{''.join(map(str, axes))}" for tensor, axes in CASES]
every_case = pytest.mark.parametrize(("tensor", "axes"), CASES, ids=NAMES)


def plain(name, array, axes):
    """Return the value by definition, for complex arguments too."""
    total = np.exp(array).sum(axis=axes, keepdims=True)
    if name == "softmax":
        return np.exp(array) / total
    return np.log(np.squeeze(total, axis=axes))


def complex_step(function, array):
    """Return the Jacobian of an analytic function to the last digit, without differences."""
    columns = []
    for position in np.ndindex(array.shape):
        moved = array.astype(complex)
        moved[position] += 1e-30j
        columns.append(np.asarray(function(moved)).imag / 1e-30)
    jacobian = np.stack(columns, axis=-1)
    return jacobian.reshape(jacobian.shape[:-1] + array.shape)


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@every_case
@pytest.mark.parametrize("name", ["logsumexp", "softmax"])
def test_values_and_derivatives(name, tensor, axes):
    data = data_for([tensor])
    array = data[tensor]
    y = getattr(se, name)(tensor, axis=axes)
    first = se.diff(y, tensor)
    found = evaluate([y, first, se.diff(first, tensor)], data)
    assert_close(found[0], getattr(scipy.special, name)(array, axis=axes), tolerance=1e-14)
    exact = complex_step(lambda a: plain(name, a, axes), array)
    assert_close(found[1], exact, tolerance=1e-14)
    jax = jax64()
    library = {"logsumexp": jax.scipy.special.logsumexp, "softmax": jax.nn.softmax}[name]
    second = jax.jit(jax.jacfwd(jax.jacfwd(lambda a: library(a, axis=axes))))
    assert_close(found[2], second(array))


@every_case
@pytest.mark.parametrize("name", ["logsumexp", "softmax"])
def test_forward_and_reverse_mode_agree(name, tensor, axes):
    data = data_for([tensor])
    y = getattr(se, name)(2 * tensor, axis=axes)
    modes = [se.diff(y, tensor, 2, mode=mode) for mode in ("forward", "reverse")]
    assert_close(*evaluate(modes, data), tolerance=1e-13)


@every_case
def test_products_with_the_derivatives(tensor, axes):
    tangent = se.TensorSymbol("tangent", tensor.shape)
    data = data_for([tensor, tangent])
    y = se.softmax(tensor, axis=axes)
    jacobian = evaluate(se.diff(y, tensor), data)
    right = np.tensordot(jacobian, data[tangent], tensor.order)
    left = np.tensordot(data[tangent], jacobian, tensor.order)
    found = evaluate([se.jvp(y, tensor, tangent), se.vjp(y, tensor, tangent)], data)
    assert_close(found[0], right)
    assert_close(found[1], left)
    f = se.logsumexp(tensor, axis=axes)
    f = (f * f).sum() if f.shape else f * f
    hessian = evaluate(se.hessian(f, tensor), data)
    assert_close(
        evaluate(se.hvp(f, tensor, tangent), data),
        np.tensordot(hessian, data[tangent], tensor.order),
    )


def test_the_derivative_of_log_sum_exp_is_softmax():
    assert se.gradient(se.logsumexp(x), x) is se.softmax(x)
    p = se.softmax(x)
    assert se.hessian(se.logsumexp(x), x) is se.diag(p) - se.einsum("i,j->ij", p, p)


def test_hessian_of_cross_entropy():
    """diag(p) - p pᵀ for each row, times the row's weight."""
    f = -(Y * se.log(se.softmax(X, axis=1))).sum()
    data = data_for([X, Y], domains={"Y": "pos"})
    jax = jax64()

    def reference(a):
        return -(data[Y] * jax.nn.log_softmax(a, axis=1)).sum()

    for mode in ("reverse", "forward"):
        gradient = se.gradient(f, X, mode=mode)
        hessian = se.hessian(f, X, mode=mode)
        found = evaluate([f, gradient, hessian], data)
        assert_close(found[0], reference(data[X]))
        assert_close(found[1], jax.jit(jax.grad(reference))(data[X]))
        assert_close(found[2], jax.jit(jax.hessian(reference))(data[X]))
    p, weight = plain("softmax", data[X], (1,)), data[Y].sum(axis=1)
    expected = np.zeros((3, 4, 3, 4))
    for i in range(3):
        expected[i, :, i, :] = weight[i] * (np.diag(p[i]) - np.outer(p[i], p[i]))
    assert_close(found[2], expected)


def test_softmax_regression_inside_a_larger_expression():
    f = (se.softmax(se.tanh(X @ W), axis=1) @ w).sum() + se.logsumexp(v * v)
    data = data_for([X, W, w, v])
    jax = jax64()

    def reference(X, W, w, v):
        scores = jax.nn.softmax(jax.numpy.tanh(X @ W), axis=1)
        return (scores @ w).sum() + jax.scipy.special.logsumexp(v * v)

    found = evaluate(se.gradient(f, list(data)), data)
    expected = jax.jit(jax.grad(reference, argnums=(0, 1, 2, 3)))(*data.values())
    for variable, got, wanted in zip(data, found, expected, strict=True):
        assert_close(got, wanted, label=variable.name)


def test_derivative_by_a_scalar_inside():
    data = {**data_for([x]), t: 0.7}
    y = se.logsumexp(t * x)
    found = evaluate([se.diff(y, t), se.diff(se.softmax(t * x), t)], data)
    p = plain("softmax", 0.7 * data[x], (0,))
    assert_close(found[0], p @ data[x])
    assert_close(found[1], p * (data[x] - p @ data[x]))


# --- large arguments ------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_warnings")
@pytest.mark.parametrize("size", [800.0, 1e5, 1e300])
def test_large_arguments_give_no_overflow(size):
    row = np.array([-size, 0.0, size, size - 1])
    array = np.stack([row, -row, row[::-1]])
    values = [se.logsumexp(X, axis=1), se.softmax(X, axis=1)]
    derivatives = [se.diff(values[0], X), se.diff(values[1], X), se.hessian(values[0].sum(), X)]
    found = evaluate([*values, *derivatives], {X: array})
    with mpmath.workdps(400):
        for i, entries in enumerate(array):
            numbers = [mpmath.mpf(float(entry)) for entry in entries]
            powers = [mpmath.exp(z - max(numbers)) for z in numbers]
            total = mpmath.fsum(powers)
            exact = float(max(numbers) + mpmath.log(total))
            p = np.array([float(power / total) for power in powers])
            np.testing.assert_allclose(found[0][i], exact, rtol=1e-14)
            np.testing.assert_allclose(found[1][i], p, rtol=1e-13, atol=1e-300)
            np.testing.assert_allclose(found[2][i, i], p, rtol=1e-13, atol=1e-300)
            np.testing.assert_allclose(
                found[3][i, :, i], np.diag(p) - np.outer(p, p), rtol=1e-12, atol=1e-16
            )
    assert all(np.all(np.isfinite(part)) for part in found)


@pytest.mark.usefixtures("no_warnings")
def test_minus_infinity_is_an_entry_without_weight():
    array = np.array([[-np.inf, 0.0, 0.0, 800.0], [-np.inf] * 4, [1.0, -np.inf, 1.0, -np.inf]])
    total = se.lambdify([X], se.logsumexp(X, axis=1))(array)
    np.testing.assert_allclose(total, [800, -np.inf, 1 + np.log(2)], rtol=1e-15)
    assert se.lambdify([x], se.logsumexp(x))(np.full(3, -np.inf)) == -np.inf
    p = se.lambdify([X], se.softmax(X, axis=1))(array[[0, 2]])
    np.testing.assert_allclose(p, [[0, 0, 0, 1], [0.5, 0, 0.5, 0]], rtol=1e-15)
    # -inf - -inf in the other axis doesn't leak.
    p = se.lambdify([X], se.softmax(X, axis=0))(array[:, 1:3])
    np.testing.assert_allclose(p[:, 0], [1, 0, 0])


def test_entries_that_are_not_numbers_show():
    assert np.isnan(se.lambdify([x], se.logsumexp(x))(np.array([np.nan, 0.0])))
    assert np.all(np.isnan(se.lambdify([x], se.softmax(x))(np.array([np.nan, 0.0]))))
    with np.errstate(all="ignore"):
        assert se.lambdify([x], se.logsumexp(x))(np.array([np.inf, 800.0])) == np.inf
    # Beside a softmax, which shares the exponentials, in a row of its own.
    array = np.array([[np.nan, 0.0], [np.inf, 1.0], [0.0, -50.0]])
    both = se.lambdify([X], [se.logsumexp(X, axis=1), se.softmax(X, axis=1)])
    with np.errstate(all="ignore"):
        total, _ = both(array)
    np.testing.assert_allclose(total, [np.nan, np.inf, np.exp(-50)])


def test_types_and_empty_axes():
    f = se.lambdify([X], [se.logsumexp(X, axis=1), se.softmax(X, axis=1)])
    for dtype in (np.float32, np.float64):
        assert {part.dtype for part in f(np.zeros((2, 3), dtype))} == {np.dtype(dtype)}
    total, p = f(np.array([[0, 800], [-800, -800]]))
    assert_close(total, np.array([800.0, np.log(2) - 800]))
    assert_close(p, np.array([[0.0, 1.0], [0.5, 0.5]]))
    total, p = f(np.zeros((2, 0)))
    assert np.all(total == -np.inf)
    assert p.shape == (2, 0)
    assert f(np.zeros((0, 3)))[0].shape == (0,)


def test_stock_lambdify_is_stable_too():
    array = np.array([[-800.0, 0.0, 800.0, 1.0], [800.0, 800.0, -800.0, 0.0], [0.0] * 4])
    for axis in (None, 0, 1, (0, 1)):
        for y in (se.logsumexp(X, axis), se.softmax(X, axis), se.logsumexp(X, axis, True)):
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                found = sympy.lambdify([X], y, "numpy")(array)
            np.testing.assert_allclose(found, evaluate(y, {X: array}), rtol=1e-12)


def test_an_argument_may_have_the_name_of_the_function():
    softmax = se.TensorSymbol("softmax", (n,))
    logsumexp = se.TensorSymbol("logsumexp", (n,))
    y = se.softmax(softmax) * se.logsumexp(logsumexp)
    data = data_for([softmax, logsumexp])
    expected = plain("softmax", data[softmax], (0,)) * plain("logsumexp", data[logsumexp], (0,))
    assert_close(evaluate(y, data), expected)


# --- the nodes ------------------------------------------------------------------------------------


@every_case
def test_shapes(tensor, axes):
    kept = tuple(length for axis, length in enumerate(tensor.shape) if axis not in axes)
    total = se.logsumexp(tensor, axis=axes)
    assert total.shape == kept
    assert se.softmax(tensor, axis=axes).shape == tensor.shape
    wide = se.logsumexp(tensor, axis=axes, keepdims=True)
    assert wide.shape == tuple(
        sympy.S.One if axis in axes else length for axis, length in enumerate(tensor.shape)
    )
    data = data_for([tensor])
    expected = scipy.special.logsumexp(data[tensor], axis=axes, keepdims=True)
    assert_close(evaluate(wide, data), expected)


def test_axes_are_normalised():
    assert se.softmax(T, axis=(-1, 0)) is se.softmax(T, axis=(0, 2))
    assert se.logsumexp(T, axis=None) is se.logsumexp(T, axis=[2, 1, 0])
    assert se.softmax(T, axis=(2, 0)).axes == (0, 2)
    assert se.softmax(X, axis=()) is se.Ones(n, m)
    assert se.logsumexp(X, axis=()) is X


def test_scalars():
    s = se.TensorSymbol("s", ())
    assert se.logsumexp(t) is t
    assert se.softmax(t) == 1
    assert se.logsumexp(s) is s
    assert se.softmax(s) == 1
    assert se.logsumexp(3.5) == 3.5


def test_constants_and_zeros():
    data = {x: np.zeros(3)}
    found = evaluate(
        [se.logsumexp(0 * X, axis=1) + 0 * x, se.softmax(se.Ones(n))], data_for([x, X])
    )
    assert_close(found[0], np.full(3, np.log(4)))
    assert_close(found[1], np.full(3, 1 / 3))
    assert_close(evaluate(se.softmax([0.0, 0.0]) * 1.0, {}), np.array([0.5, 0.5]))
    assert evaluate(se.logsumexp(x), data) == pytest.approx(np.log(3))


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 0, 1), (2, 1, 0)])
def test_a_permutation_of_axes_is_pulled_out(order):
    turned = T.transpose(*order)
    for axes in [(0,), (1, 2), (0, 2), (0, 1, 2)]:
        inside = tuple(order[axis] for axis in axes)
        p = se.softmax(turned, axis=axes)
        assert p is se.softmax(T, axis=inside).transpose(*order)
        total = se.logsumexp(turned, axis=axes)
        data = data_for([T])
        array = data[T].transpose(order)
        assert_close(evaluate(p, data), scipy.special.softmax(array, axis=axes))
        assert_close(evaluate(total, data), scipy.special.logsumexp(array, axis=axes))
        assert {o for o in graph(total, p) if isinstance(o, (se.LogSumExp, se.Softmax))} == {
            se.softmax(T, axis=inside),
            *(o for o in graph(se.logsumexp(T, axis=inside)) if isinstance(o, se.LogSumExp)),
        }
    assert se.softmax(X.T, axis=0) is se.softmax(X, axis=1).T


def test_other_views_are_left_alone():
    B = se.TensorSymbol("B", (n, n))
    for tensor in (se.einsum("ii->i", B), se.einsum("i->ii", x), 2 * B.T, x[None, :] + 0 * B):
        data = data_for([B, x])
        array = evaluate(tensor, data)
        for axis in range(tensor.order):
            assert_close(
                evaluate(se.softmax(tensor, axis=axis), data),
                scipy.special.softmax(array, axis=axis),
            )
            assert_close(
                evaluate(se.logsumexp(tensor, axis=axis), data),
                scipy.special.logsumexp(array, axis=axis),
            )


@every_case
@pytest.mark.parametrize("name", ["logsumexp", "softmax"])
def test_nodes_are_rebuilt(name, tensor, axes):
    y = getattr(se, name)(tensor, axis=axes)
    assert getattr(se, name)(tensor, axis=axes) is y
    assert y.func(*y.args) is y
    assert pickle.loads(pickle.dumps(y)) is y
    assert y.free_symbols == {tensor}
    other = se.TensorSymbol("other", tensor.shape)
    renamed = y.subs(tensor, other)
    assert renamed is getattr(se, name)(other, axis=axes)
    assert y.xreplace({tensor: other}) is renamed


def test_lengths_are_substituted():
    total = se.logsumexp(X, axis=1).subs({n: 2, m: 3})
    assert total.shape == (2,)
    p = se.softmax(X, axis=1).xreplace({n: sympy.Integer(2), m: sympy.Integer(3)})
    assert p.shape == (2, 3)
    assert p.operands[0].shape == (2, 3)


@every_case
def test_as_explicit(tensor, axes):
    data = data_for([tensor])
    lengths = {length: LENGTHS[length] for length in tensor.shape}
    small = se.TensorSymbol(tensor.name, numeric_shape(tensor.shape))
    values = {
        small[position]: data[tensor][position]
        for position in np.ndindex(numeric_shape(tensor.shape))
    }
    for name in ("logsumexp", "softmax"):
        y = getattr(se, name)(tensor, axis=axes)
        explicit = y.subs(lengths).as_explicit()
        entries = sympy.flatten(explicit) if y.shape else [explicit]
        found = [float(entry.xreplace(values)) for entry in entries]
        assert_close(np.array(found), np.ravel(evaluate(y, data)))


@pytest.mark.parametrize("function", [se.logsumexp, se.softmax])
def test_errors_name_the_axis(function):
    for axis in (2, -3, (0, 5)):
        with pytest.raises(se.ShapeError, match=r"axis (2|-3|5) is out of range.* order 2"):
            function(X, axis=axis)
    with pytest.raises(se.ShapeError, match="twice"):
        function(X, axis=(1, -1))
    with pytest.raises(se.TensorError, match="axis is an integer"):
        function(X, axis="rows")
    with pytest.raises(se.ShapeError, match="axis 0 is out of range"):
        function(t, axis=0)
    with pytest.raises(se.TensorError, match="string"):
        function("X")


def test_nodes_are_not_built_by_their_class():
    with pytest.raises(TypeError, match="isn't built directly"):
        se.Softmax(X, 1)
