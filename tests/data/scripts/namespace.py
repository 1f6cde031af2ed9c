"""NumPy's names on symbols: the functions of numpy itself and of sympy_einsum.numpy."""

import numpy as np

import sympy_einsum as se
import sympy_einsum.numpy as snp

x = se.TensorSymbol("x", 4)
y = se.TensorSymbol("y", 4)
A = se.TensorSymbol("A", 3, 4)

total = np.sum(np.exp(x) * y)
mixed = np.einsum("ij,j->i", A, x)
again = snp.einsum("ij,j->i", A, x)
assert se.equal(mixed, again)

stacked = snp.concatenate([x, y])
assert stacked.shape == (8,)
halves = snp.split(stacked, 2)
assert se.equal(halves[0], x)
largest = snp.max(A, axis=1)
assert largest.shape == (3,)
centred = A - snp.mean(A, axis=0)[None, :]
covariance = centred.T @ centred / 3
assert covariance.shape == (4, 4)
chosen = snp.where(x > 0, x, y)
clipped = x.clip(0, 1) + np.clip(y, -1, 1)
spectrum = snp.fft.rfft(x)
power = abs(spectrum) ** 2
parts = [power.sum(), snp.linalg.norm(x), snp.dot(x, y), x.std(), x.cumsum()[-1]]
for part in parts:
    assert se.gradient(part, x).shape == (4,)

inputs = [A, x, y]
outputs = [mixed, stacked, largest, covariance, chosen, clipped, power]
function = se.lambdify(inputs, outputs)
random = np.random.default_rng(3)
a, u, v = random.normal(size=(3, 4)), random.normal(size=4), random.normal(size=4)
results = function(a, u, v)
assert np.allclose(results[0], a @ u)
assert np.allclose(results[1], np.concatenate([u, v]))
assert np.allclose(results[3], np.cov(a.T, bias=True))
assert np.allclose(results[6], np.abs(np.fft.rfft(u)) ** 2)
for length in range(x.shape[0]):
    assert x[length].shape == ()
print(np.zeros(A.shape).shape, A.reshape(2, 6).shape, np.outer(u, v).shape, total.diff(y).shape)
