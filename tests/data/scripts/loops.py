"""Recurrences, batches and optimisation written with plain Python around expressions."""

import numpy as np
import sympy as sp

import sympy_einsum as se

n = sp.Symbol("n", integer=True, positive=True)
A, b = se.TensorSymbol("A", n, n), se.TensorSymbol("b", n)
x0 = se.TensorSymbol("x0", n)
state: se.TensorExpr = x0
for _ in range(5):
    state = se.tanh(A @ state + b)
loss = state @ state
gradients = se.gradient(loss, [A, b, x0])
function = se.lambdify([A, b, x0], [loss, *gradients])
random = np.random.default_rng(5)
a, c, start = random.normal(size=(3, 3)), random.normal(size=3), random.normal(size=3)
value, by_a, by_b, by_start = function(a, c, start)
assert by_a.shape == (3, 3)
assert by_b.shape == by_start.shape == (3,)

# Gradient descent by b.
for _ in range(50):
    value, _, by_b, _ = function(a, c, start)
    c = c - 0.1 * by_b
print(value, c)

terms = [se.TensorSymbol(f"x{k}", n) for k in range(4)]
together: se.TensorExpr = terms[0]
for term in terms[1:]:
    together = together + 2 * term
assert together.diff(terms[1]).shape == (n, n)
stacked = se.stack(terms)
assert stacked.shape == (4, n)
assert stacked.sum(axis=0).shape == (n,)
gram = stacked @ stacked.T
assert gram.shape == (4, 4)
entry = gram[0, 1]
assert entry.shape == ()
print(entry, gram.trace(), se.outer(terms[0], terms[1]), se.kron(A, A).shape)
for row, name in zip(gram, "abcd", strict=True):
    print(name, row.order)
try:
    print(A @ se.TensorSymbol("y", n + 1))
except se.ShapeError as error:
    print(error)
