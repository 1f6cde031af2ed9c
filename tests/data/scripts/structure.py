"""Hessians with structure: deltas, blocks, matrix-free products and compiled backends."""

import numpy as np
from sympy import symbols

import sympy_einsum as se

m, n, k = symbols("m n k", integer=True, positive=True)
T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
R = U @ V.T - T
f = (R**2).sum() / 2

H = se.compress(se.hessian(f, U))
print(H, H.matvec(U))
blocks = se.hessian(f, [U, V])
assert [[block.order for block in row] for row in blocks] == [[4, 4], [4, 4]]
[[by_u, mixed], [_, by_v]] = blocks
assert by_u.shape == (m, k, m, k)
assert mixed.shape == (m, k, n, k)
assert by_v.shape == (n, k, n, k)

D = se.TensorSymbol("D", m, k)
product = se.hvp(f, U, D)
assert product.shape == U.shape
tangent = se.jvp(R, U, D)
assert tangent.shape == (m, n)
pulled = se.vjp(R, [U, V], T)
assert [part.order for part in pulled] == [2, 2]
line = se.linearize(R, U)
print(line.matrix().shape)

newton = se.lambdify([T, U, V], [se.gradient(f, U), se.hessian(f, U)], structured=True)
random = np.random.default_rng(4)
t, u, v = random.normal(size=(4, 3)), random.normal(size=(4, 2)), random.normal(size=(3, 2))
derivative, curvature = newton(t, u, v)
better = u - curvature.solve(derivative)
flat, _ = newton(t, better, v)
assert np.abs(flat).max() < 1e-10

fast = se.lambdify([T, U, V], f, backend="numpy", check=False)
assert float(fast(t, better, v)) < float(fast(t, u, v))
assert se.check_derivative(f, U) < 1e-5
print(fast.source)
