"""Expressions of every class of nodes, with helpers for tests of all of them."""

import numpy as np
import pytest
import sympy
from oracles import LENGTHS, data_for, k, m, n, p
from sympy import Function, Lambda, Piecewise, Rational, Symbol, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

t, u = symbols("t u")
i = Symbol("i", integer=True, nonnegative=True)
s = se.TensorSymbol("s", ())
x = se.TensorSymbol("x", (n,))
y = se.TensorSymbol("y", (n,))
v = se.TensorSymbol("v", (m,))
X = se.TensorSymbol("X", (n, m))
Y = se.TensorSymbol("Y", (n, m))
A = se.TensorSymbol("A", (n, n))
B = se.TensorSymbol("B", (n, n))
T = se.TensorSymbol("T", (n, m, k))
Q = se.TensorSymbol("Q", (2, 3))
P = se.TensorSymbol("P", (n, n), symmetric=True)
F = se.TensorSymbol("F", (m, n, n))
LAST, VALUES = se.scan(lambda c, row: (se.tanh(c + t * row) / 2, c * row), v, X)
(COUNTED, _), _ = se.scan(
    lambda c, j: ((c[0] + x[0] * c[1], c[1] / 2 + j), None), (x, t), length=m, reverse=True
)
U, singular, V = se.svd(Q, full_matrices=False)
LEAVES = {str(leaf): leaf for leaf in (F, s, x, y, v, X, Y, A, B, T, Q, P, n, m, k, p, t, u, i)}
SAMPLES = {
    "scalar symbol": s,
    "vector": x,
    "matrix": X,
    "tensor": T,
    "numeric lengths": Q,
    "symmetric": P,
    "zeros": se.Zeros(n, m),
    "ones": se.Ones(n, m),
    "delta": se.Delta(n),
    "delta of matrices": se.Delta(n, m),
    "waves": se.Fourier(n),
    "spectrum": se.einsum("cik,i->ck", se.Fourier(n), x),
    "constant": se.Constant(np.array([[1.0, -2.5, 3.0], [0.1, 1e-30, 1e30]])),
    "integer constant": se.Constant(np.array([1, 2, 3])),
    "transpose": X.T,
    "matrix times vector": X @ v,
    "scalar product": x @ y,
    "quadratic form": x @ A @ x,
    "trace": A.trace(),
    "outer": se.einsum("i,j->ij", x, v),
    "Hadamard": X * Y,
    "duplicated output": se.einsum("i->ii", x),
    "diagonal": A.diagonal(),
    "batched": se.einsum("ijk,jl->ikl", T, se.einsum("ij->ji", X)),
    "vanishing index": se.einsum("ij,j->", X, v),
    "multiple": 3 * x,
    "negative": -X,
    "rational multiple": x / 3,
    "symbolic multiple": t * x,
    "scalar times tensor": (x @ y) * X,
    "sum": X + Y,
    "sum with multiples": 2 * A - 3 * A.T + B / 7,
    "tensor plus scalar": X + 1,
    "tensor plus symbol": x + t,
    "stretched": X + x[:, None],
    "exp": se.exp(X),
    "power": x**2,
    "root": (x * x) ** Rational(1, 2),
    "tensor power": abs(x) ** y,
    "quotient": x / (1 + y**2),
    "two arguments": se.atan2(x, y),
    "maximum": snp.maximum(X, 0),
    "special": se.elementwise(Lambda(t, sympy.besselj(2, t)), x),
    "piecewise": se.elementwise(Lambda(t, Piecewise((t**2, t < 0), (sympy.sin(t), True))), x),
    "with a free symbol": se.elementwise(Lambda(t, sympy.exp(u * t)), x),
    "undefined function": se.elementwise(Function("g"), x),
    "relu": se.relu(x),
    "sigmoid": se.sigmoid(x),
    "softplus": se.softplus(x),
    "sign": se.sign(x),
    "where": snp.where(x > 0, x, y),
    "inv": A.inv(),
    "det": A.det(),
    "adj": se.adj(A),
    "cofactors": se.cofactors(A, 2),
    "logdet": se.logdet(A),
    "stacks of matrices": se.inv(F) + se.adj(F) * se.cofactors(F, 2)[:, 0, 0],
    "determinants of stacks": se.logdet(F) + se.slogdet(F)[0] * se.det(F),
    "matrix exponential": se.expm(A) + se.expm(A, B, x[None] * A),
    "matrix power": se.matrix_power(A, i) + se.matrix_power(A, i + 1, B, x[None] * A),
    "cholesky": se.cholesky(A @ A.T + se.Delta(n)),
    "eigenvectors": se.einsum("ij,j->ij", se.eigh(P)[1], se.eigh(P)[0]),
    "singular vectors": U @ se.diag(singular) @ V + se.pinv(Q).T,
    "qr": se.qr(Q.T)[0] @ se.qr(Q.T)[1],
    "solve": snp.linalg.solve(A, x),
    "entry": X[0, 1],
    "symbolic entry": X[i, 0],
    "antisymmetric": se.LeviCivita(3),
    "cross product": se.cross(Q, se.exp(Q[::-1])),
    "row": X[0, :],
    "last row": X[-1],
    "slice": x[1:],
    "stepped slice": Q[:, ::2],
    "new axis": x[:, None],
    "sum over an axis": X.sum(axis=0),
    "sum of all": X.sum(),
    "mean": X.mean(),
    "mean over an axis": X.mean(axis=1),
    "variance": snp.var(x),
    "norm": se.norm(x),
    "softmax": se.softmax(x, axis=0),
    "log-sum-exp": se.logsumexp(x),
    "maximum of rows": X.max(axis=1),
    "share of the smallest": se.min_share(X, axis=0),
    "sorted": se.sort(X, axis=1),
    "running maximum": se.cummax(x),
    "order": se.argsort(v),
    "permuted": x[se.argsort(x)],
    "taken": X[[1, 0, 0]],
    "taken and added": se.gradient((x[[0, 2, 2]] ** 2).sum(), x),
    "broadcast": se.broadcast_to(x, (m, n)),
    "raveled": snp.ravel(Q),
    "running sum": se.cumsum(X, 0),
    "triangle of a matrix": se.triu(X, 1),
    "convolution": se.convolve(x, v),
    "windows": se.windows(Q, 2, 1),
    "running product": se.cumprod(x),
    "running log-sum-exp": se.logcumsumexp(X, 1),
    "running softmax": se.running_softmax(x),
    "concatenated": se.concatenate([x, v]),
    "stacked": se.stack([x, y]),
    "last carry": LAST,
    "values of steps": VALUES,
    "counted steps": COUNTED,
    "steps in steps": se.scan(
        lambda c, row: (se.scan(lambda d, j: (d + c * row, d), x, length=3)[1].sum(axis=0), None),
        *(x, A),
    )[0],
    "solution": se.solution(lambda z: z + z**3 - t * x, start=x),
    "scalar solution": se.solution(lambda z: z**3 + z - s * t, start=1),
    "minimizer": se.minimizer(
        lambda z: ((X @ z - x) ** 2).sum() + se.log(1 + se.exp(z)).sum() + (z**2).sum(), start=v
    ),
    "gradient of a solution": se.gradient(
        se.solution(lambda z: z + z**3 - t * x, start=x).sum(), t
    ),
    "adjoint of steps": se.gradient(LAST.sum() + (VALUES**2).sum(), X),
    "unevaluated derivative": sympy.Derivative(x @ A @ x * y, x),
    "unevaluated integral": sympy.Integral(u * t * X, (u, 0, t)),
    "unevaluated sum": sympy.Sum(se.exp(i * x), (i, 0, 2)),
    "gradient": se.gradient(se.exp(x @ A @ x), x),
    "hessian": se.hessian(snp.sum(snp.log(1 + snp.exp(X @ v))), v),
    "scalar function of a trace": sympy.exp(A.trace()),
    "derivative of the inverse": se.diff(A.inv(), A),
}
sample = pytest.mark.parametrize("name", SAMPLES)
NAMESPACE = {**vars(sympy), **vars(se), **LEAVES}


def scalar(e):
    """Return the expression itself, or the sum of its entries."""
    return e.sum() if getattr(e, "order", 0) else e


def inside(name):
    """Return a stock expression with the scalar form of a sample in it."""
    f = scalar(SAMPLES[name])
    return sympy.sin(f) * t + f**2


def numeric(e, domain="pos"):
    """Return random data for all symbols in an expression, and values of all axis lengths."""
    leaves = sorted(sympy.sympify(e).free_symbols, key=str)
    data = data_for(
        [leaf for leaf in leaves if isinstance(leaf, se.TensorSymbol)],
        domains=dict.fromkeys(LEAVES, domain),
    )
    for leaf in leaves:
        if leaf in LENGTHS:
            data[leaf] = LENGTHS[leaf]
        elif leaf not in data:
            data[leaf] = 1 if leaf == i else 0.7
    return data
