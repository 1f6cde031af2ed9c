"""First and second derivatives of NumPy's functions, option by option, against JAX."""

import numpy as np
import pytest
from oracles import jax64

import sympy_einsum as se

SHAPES = {"x": (5,), "y": (5,), "X": (3, 5), "A": (3, 3), "T": (2, 3, 4)}
TENSORS = {name: se.TensorSymbol(name, shape) for name, shape in SHAPES.items()}
DIRECTIONS = {name: se.TensorSymbol(f"d{name}", shape) for name, shape in SHAPES.items()}
CALLS = """
np.pad(X, ((1, 2), (0, 3)), "edge")
np.pad(x, (2, 3), "linear_ramp", end_values=(1.0, -2.0))
np.pad(X, 2, "maximum", stat_length=2)
np.pad(X, ((0, 1), (2, 0)), "mean", stat_length=((1, 2), (3, 4)))
np.pad(X, 1, "minimum")
np.pad(X, ((2, 2), (9, 1)), "reflect")
np.pad(x, (3, 1), "reflect", reflect_type="odd")
np.pad(x, (3, 1), "symmetric", reflect_type="odd")
np.pad(x, (2, 8), "symmetric")
np.pad(x, (7, 6), "wrap")
np.pad(X, ((1, 0), (0, 2)), constant_values=((1.0, 2.0), (3.0, 4.0)))
np.take(X, np.array([[-7, 9], [2, 4]]), axis=1, mode="clip")
np.take(X, np.array([[-7, 9], [2, 4]]), mode="wrap")
np.take_along_axis(X, np.array([[0, 4], [3, 3], [1, 2]]), axis=1)
np.choose(np.array([0, 3, -1, 0, 1]), [x, X[0]], mode="wrap")
np.poly(x)
np.polydiv(x, X[0, :3])[0]
np.polydiv(x, X[0, :3])[1][-2:]
np.polyval(X[:, 0], y)
np.roll(X, (2, -1), (0, 1))
np.tile(x, (2, 2))
np.column_stack([x, y])
np.block([[X, X[:, :2]], [x, y[:2]]])
np.triu(X, 1) + np.tril(X, -1)
np.diagonal(T, 1, 0, 2)
np.diag(x, -2)
np.trace(T, 1, 1, 2)
np.cumsum(X, axis=1)
np.cumprod(X, axis=0)
np.diff(X, 2, axis=1)
np.gradient(X, 0.5, axis=1)
np.cross(A, X[:, :3])
np.interp(X, np.array([0.3, 0.5, 0.8]), y[:3])
np.select([X > 0.6, X > 0.4], [X**2, X**3], 0.5)
np.where(np.logical_and(x > 0.3, x < 0.7), x**2, y)
(x > 0.5).sum() * x + np.mean(y < 0.5) * y
np.mod(9 * x, y) + np.remainder(-9 * x, y) + np.fmod(9 * x, y)
np.cov(X, aweights=y)
np.average(X, axis=1, weights=y)
np.sort(X, axis=0) * np.sort(x)[None]
np.median(X, axis=1) + np.quantile(X, 0.3, axis=1, method="nearest")
np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(y), 5)
""".strip().splitlines()


def values():
    rng = np.random.default_rng(8)
    found = {name: rng.uniform(0.2, 0.9, shape) for name, shape in SHAPES.items()}
    found["A"] += 2 * np.eye(3)
    return found


VALUES = values()


def total(result):
    """One number of all entries, each of another weight, quadratic in them."""
    weights = np.random.default_rng(5).uniform(0.5, 1.5, [int(n) for n in result.shape])
    return (weights * result**2 + weights**2 * result).sum()


@pytest.mark.parametrize("call", CALLS)
def test_derivatives(call):
    jax = jax64()
    used = [name for name in SHAPES if name in set(call.replace("(", " ").split()) or name in call]
    loss = total(eval(call, {"np": np, **TENSORS}))
    used = [name for name in SHAPES if loss.has(TENSORS[name])]
    given = [TENSORS[name] for name in used]
    ahead = [DIRECTIONS[name] for name in used]
    gradients = se.gradient(loss, given)
    slopes = [se.jvp(own, given, ahead) for own in gradients]

    places = tuple(range(len(used)))

    def theirs(*arrays):
        names = {name: jax.numpy.asarray(array) for name, array in VALUES.items()}
        names |= dict(zip(used, arrays, strict=True))
        return total(eval(call, {"np": jax.numpy, **names}))

    @jax.jit
    def expected(arrays, directions):
        ahead = jax.jvp(jax.value_and_grad(theirs, places), arrays, directions)
        (value, gradient), (_, slope) = ahead
        return value, *gradient, *slope

    arrays = tuple([VALUES[name] for name in used])
    directions = tuple([np.cos(7 * array) for array in arrays])
    found = se.lambdify([*given, *ahead], [loss, *gradients, *slopes])(*arrays, *directions)
    for own, other in zip(found, expected(arrays, directions), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-7, atol=1e-9)
