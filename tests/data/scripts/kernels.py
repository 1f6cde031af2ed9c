"""A Gaussian process: kernel, marginal likelihood, its derivatives by ordinary symbols."""

import numpy as np
from sympy import log, pi, symbols

import sympy_einsum as se

n, d = symbols("n d", integer=True, positive=True)
scale, noise, height = symbols("ell sigma alpha", positive=True)
X, y = se.TensorSymbol("X", n, d), se.TensorSymbol("y", n)

differences = X[:, None, :] - X[None, :, :]
squared = (differences**2).sum(axis=2)
K = height**2 * se.exp(-squared / (2 * scale**2)) + noise**2 * se.Delta(n)
assert K.shape == (n, n)

likelihood = -(y @ se.solve(K, y) + se.logdet(K) + n * log(2 * pi)) / 2
derivatives = [se.diff(likelihood, s) for s in (scale, noise, height)]
function = se.lambdify([X, y, scale, noise, height], [likelihood, *derivatives])

random = np.random.default_rng(2)
points, values = random.normal(size=(7, 2)), random.normal(size=7)
at = np.array([0.9, 0.3, 1.2])
value, *found = function(points, values, *at)
for k in range(3):
    step = np.zeros(3)
    step[k] = 1e-6
    up, *_ = function(points, values, *(at + step))
    down, *_ = function(points, values, *(at - step))
    assert abs((up - down) / 2e-6 - found[k]) < 1e-5

inverse = se.inv(K)
by_data = se.gradient(likelihood, y)
assert se.equal(by_data, -inverse @ y) is not False
print(by_data.subs(n, 3).shape, inverse.T.shape, K.trace(), K.diagonal().shape)
diagonal = se.lambdify([X, scale, noise, height], K.diagonal())
assert np.allclose(diagonal(points, 0.9, 0.3, 1.2), 1.2**2 + 0.3**2)
