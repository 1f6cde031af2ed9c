"""Scalar functions: SymPy's names, own functions, activations, special functions, conditions."""

from collections.abc import Callable
from typing import Any

import numpy as np

import sympy_einsum as se

n = 6
x = se.TensorSymbol("x", n)
p = se.TensorSymbol("p", n, positive=True)

functions: dict[str, Callable[..., Any]] = {
    "softplus": se.softplus,
    "sigmoid": se.sigmoid,
    "gelu": se.gelu,
    "tanh": se.tanh,
    "erf": se.erf,
    "sin": se.sin,
    "sqrt of squares": lambda u: se.sqrt(1 + u**2),
    "huber": lambda u: se.where(abs(u) < 1, u**2 / 2, abs(u) - 1 / 2),
}
point = np.linspace(-2, 2, n) + 0.1
for name, function in functions.items():
    value = function(x).sum()
    assert value.diff(x).shape == (n,), name
    assert se.check_derivative(value, x) < 1e-5, name

swish: Callable[..., Any] = se.function(
    "swish",
    derivative=lambda u: swish(u) + se.sigmoid(u) * (1 - swish(u)),
    code="{0} / (1 + np.exp(-{0}))",
)
loss = swish(x).sum()
print(se.gradient(loss, x))
run = se.lambdify([x], [loss, se.gradient(loss, x)])
value, derivative = run(point)
assert derivative.shape == (n,)
assert np.isclose(value, (point / (1 + np.exp(-point))).sum())

entropy = -(p * se.log(p)).sum()
assert se.equal(se.gradient(entropy, p), -se.log(p) - 1)
indicator = (x > 0) & (x < 1)
print(indicator, se.where(indicator, x, 0).sum(), se.Max(x, 0).sum(), se.Min(x, p))
powers = x**3 - 2.0 * x**2 + 1
assert powers.diff(x).diagonal().shape == (n,)
print(2**x, 1 / p, x % 2, -x, +x, round(x, 2), divmod(x, 2)[0])
