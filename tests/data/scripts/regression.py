"""Ridge regression with symbolic lengths: loss, gradient, normal equations, a Newton step."""

import numpy as np
import sympy as sp

import sympy_einsum as se

m, n = sp.symbols("m n", integer=True, positive=True)
rate = sp.Symbol("lambda", positive=True)
X = se.TensorSymbol("X", m, n)
y = se.TensorSymbol("y", m)
w = se.TensorSymbol("w", n)

r = X @ w - y
loss = r @ r / 2 + rate * (w @ w) / 2
gradient = se.gradient(loss, w)
hessian = se.hessian(loss, w)
assert gradient.shape == (n,)
assert hessian.shape == (n, n)
assert hessian.order == 2
print(se.latex(gradient), str(hessian), se.pretty(hessian))

# The solution of the normal equations makes the gradient zero.
best = se.solve(hessian, X.T @ y)
assert best.shape == (n,)
left_over = gradient.subs(w, best)

run = se.lambdify([X, y, w, rate], [loss, gradient, hessian])
check = se.lambdify([X, y, rate], left_over)
random = np.random.default_rng(0)
data = {"X": random.normal(size=(5, 3)), "y": random.normal(size=5)}
start = np.zeros(3)
value, derivative, curvature = run(data["X"], data["y"], start, 0.1)
step = start - np.linalg.solve(curvature, derivative)
after, flat, _ = run(data["X"], data["y"], step, 0.1)
assert after < value
assert np.abs(flat).max() < 1e-10
assert np.abs(check(data["X"], data["y"], 0.1)).max() < 1e-10
print(run.source.splitlines()[0], run.cost({m: 100, n: 10}).flops)

total = 2 * r + 1 - r**2
print((total / m).sum(), (-total).T @ y, abs(total).max())
rows = [row @ w for row in X.subs(m, 3)]
print(len(rows), rows[0].diff(w))
