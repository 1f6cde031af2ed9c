"""To and from SymPy: matrices, arrays, indexed sums; stock functions on tensor expressions."""

import numpy as np
import sympy as sp

import sympy_einsum as se

n = sp.Symbol("n", integer=True, positive=True)
t = sp.Symbol("t", real=True)
A = sp.MatrixSymbol("A", n, n)
v = sp.MatrixSymbol("v", n, 1)
form = se.from_matrix(v.T * A * v)
print(form, sp.latex(form), se.to_indexed(form))

S = se.TensorSymbol("S", n, n, symmetric=True)
x, y = se.tensors("x y", n)
quadratic = x @ S @ x
assert quadratic.shape == ()
back = se.to_matrix(S @ S)
assert back.shape == (n, n)
mixture = t * quadratic + sp.sin(quadratic)
derivative = sp.diff(mixture, t)
assert derivative == quadratic
total = se.gradient(mixture, x)
assert total.shape == (n,)
print(sp.pretty(total), sp.srepr(total)[:20])

small = quadratic.subs(n, 2)
entries = se.TensorSymbol("B", 2, 2).as_explicit()
print(entries.shape, entries[0, 1], small.free_symbols)
names = sorted(symbol.name for symbol in quadratic.free_symbols)
assert names == ["S", "x"]
values = se.lambdify([S, x], quadratic)
assert values(np.eye(3), np.array([1.0, 2.0, 3.0])) == 14
exchanged = quadratic.xreplace({x: y})
assert exchanged.has(y)
assert not exchanged.has(x)
expanded = se.expand((x + y) @ S @ (x + y))
assert se.equal(expanded, se.factor(expanded))
assert (x + y).subs({x: y}) == 2 * y
pieces = se.TensorSymbol("z", 3).as_explicit()
assert len(pieces) == 3
if se.equal(S @ x, x @ S):
    print("equal")
