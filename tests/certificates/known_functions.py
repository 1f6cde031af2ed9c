"""Functions of which textbooks tell the curvature, and some that have none."""

import sympy as sp
from sympy import Rational, S, cosh, exp, log, sqrt

import sympy_einsum as se

n, m = 3, 4
x, y, b3 = se.tensors("x y b", n)
p, q = se.tensors("p q", n, positive=True)
A, b = se.TensorSymbol("A", m, n), se.TensorSymbol("d", m)
K, L = se.tensors("K L", n, n, psd=True)
X, Y = se.TensorSymbol("X", n, n, pd=True), se.TensorSymbol("Y", m, n)
G = se.TensorSymbol("G", n, n, symmetric=True)
w = se.TensorSymbol("w", m, nonnegative=True)
t, u, a = sp.symbols("t u a", real=True)
r, s, k = sp.symbols("r s k", positive=True)
counts = se.TensorSymbol("c", m, nonnegative=True)

# By name: the function, the variables, its curvature. [BV] is Boyd and Vandenberghe.
TEXTBOOK = {
    # §3.1.5 and §3.2.1: on real numbers
    "affine": (b3 @ x + a, [x], "affine"),
    "trace": ((A @ Y.T).trace(), [Y], "affine"),
    "exponential": (exp(a * t), [t], "convex"),
    "even power": (t**4, [t], "convex"),
    "power above one": (r ** Rational(5, 2), [r], "convex"),
    "power below one": (r ** Rational(1, 3), [r], "concave"),
    "negative power": (1 / r**2, [r], "convex"),
    "power of absolute value": (abs(t) ** 3, [t], "convex"),
    "logarithm": (log(r), [r], "concave"),
    "negative entropy": (r * log(r), [r], "convex"),
    # §3.1.5: on vectors
    "norm": (se.norm(x), [x], "convex"),
    "norm of residuals": (se.norm(A @ x - b), [x], "convex"),
    "sum of absolute values": (se.norm(A @ x - b, 1), [x], "convex"),
    "p-norm": (se.norm(A @ x - b, 3), [x], "convex"),
    "maximum norm": (se.max(abs(A @ x - b)), [x], "convex"),
    "maximum": (se.max(x), [x], "convex"),
    "minimum": (se.min(A @ x), [x], "concave"),
    "quadratic over linear": (x @ x / r, [x, r], "convex"),
    "square over linear": (t**2 / s, [t, s], "convex"),
    "log-sum-exp": (se.logsumexp(x), [x], "convex"),
    "log-sum-exp of affine": (se.logsumexp(A @ x + b), [x], "convex"),
    "logarithm of exponentials": (log(se.exp(A @ x).sum()), [x], "convex"),
    "geometric mean": (p[0] ** Rational(1, 3) * p[1] ** Rational(2, 3), [p], "concave"),
    "log-determinant": (se.logdet(X), [X], "concave"),
    # §3.2: operations
    "weighted sum": (w @ se.exp(A @ x), [x], "convex"),
    "maximum of affine": (se.max(A @ x + b), [x], "convex"),
    "largest entries": (se.sort(x)[-2:].sum(), [x], "convex"),
    "largest eigenvalue": (se.max(se.eigvalsh(G)), [G], "convex"),
    "smallest eigenvalue": (se.eigvalsh(G)[0], [G], "concave"),
    "sum of eigenvalues": (se.eigvalsh(G)[-2:].sum(), [G], "convex"),
    "spectral norm": (se.norm(Y, 2), [Y], "convex"),
    "nuclear norm": (se.norm(Y, "nuc"), [Y], "convex"),
    "Frobenius norm": (se.norm(Y), [Y], "convex"),
    "log barrier": (-se.log(b - A @ x).sum(), [x], "convex"),
    "exponential of a convex one": (exp(x @ x), [x], "convex"),
    "inverse of a concave one": (1 / log(1 + s), [s], "convex"),
    "root of a concave one": (sqrt(se.min(x)), [x], "concave"),
    "power of a norm": (se.norm(x) ** 3, [x], "convex"),
    "relative entropy": ((p * se.log(p / q)).sum(), [p, q], "convex"),
    "entropy": (-(p @ se.log(p)), [p], "concave"),
    "perspective of the logarithm": (s * log(r / s), [r, s], "concave"),
    # quadratic forms and matrices
    "quadratic form": (x @ K @ x, [x], "convex"),
    "least squares": (((A @ x - b) ** 2).sum(), [x], "convex"),
    "ridge regression": (((A @ x - b) ** 2).sum() + s * (x @ x), [x], "convex"),
    "lasso": (((A @ x - b) ** 2).sum() + s * se.norm(x, 1), [x], "convex"),
    "matrix fractional": (x @ se.inv(X) @ x, [x, X], "convex"),
    "trace of the inverse": (se.trace(se.inv(X)), [X], "convex"),
    "root of the determinant": (se.det(X) ** Rational(1, 3), [X], "concave"),
    "matrix least squares": (se.norm(Y @ X - A) ** 2, [Y], "convex"),
    "trace of a square": (se.trace(G @ G), [G], "convex"),
    "Huber": (
        se.where(abs(x) <= 1, x**2, 2 * abs(x) - 1).sum(), [x], "convex",
    ),
    "hinge": (se.relu(1 - b * (A @ x)).sum(), [x], "convex"),
}  # fmt: skip
BEYOND_RULES = {
    "logistic regression": (se.softplus(-b * (A @ x)).sum() + x @ x / 2, [x], "convex"),
    "softmax regression": (se.logsumexp(A @ x) - b @ A @ x, [x], "convex"),
    "Poisson regression": (se.exp(A @ x).sum() - counts @ A @ x, [x], "convex"),
    "root of one plus a square": (sqrt(1 + t**2), [t], "convex"),
    "pseudo-Huber": (se.sqrt(1 + (A @ x - b) ** 2).sum(), [x], "convex"),
    "entropy of a coin": (r * log(r) + (1 - r) * log(1 - r), [r], "convex"),
    "entropy with a square": (r * log(r) + r**2 - 3 * r, [r], "convex"),
    "evidence by log scale": (
        K.trace() / 2 * exp(-t) + b3 @ se.inv(exp(t) * X) @ b3 / 2 + se.logdet(exp(t) * X) / 2,
        [t],
        "convex",
    ),
    "fit by noise": (b3 @ se.inv(K + r * se.eye(n)) @ b3, [r], "convex"),
    "complexity by noise": (se.logdet(K + r * se.eye(n)), [r], "concave"),
    "polynomial": (t**4 - 4 * t**3 + 6 * t**2, [t], "convex"),
    "expanded square": (x @ x - 2 * (x @ y) + y @ y, [x, y], "convex"),
    "indefinite parts": (2 * t**2 + u**2 - 2 * t * u, [t, u], "convex"),
    "convex though a part isn't": (t**2 + sp.sin(t), [t], "convex"),
    "hyperbolic cosine": (cosh(t) - t, [t], "convex"),
    "log of hyperbolic cosine": (log(cosh(t)), [t], "convex"),
    "Gaussian tail": (se.log_ndtr(t), [t], "concave"),
    "log-gamma": (sp.loggamma(r), [r], "convex"),
    "posynomial": (log(exp(t - 2 * u) + 3 * exp(u) + exp(2 * t)), [t, u], "convex"),
    "sigmoid of negative numbers": (se.sigmoid(-r), [r], "convex"),
    "Itakura-Saito": (r / k - log(r / k) - 1, [r], "convex"),
    "Kullback-Leibler with mass": ((p * se.log(p / q) - p + q).sum(), [p, q], "convex"),
    "variance": (se.var(x), [x], "convex"),
    "standard deviation": (se.std(x), [x], "convex"),
    "log-normaliser": (se.logsumexp(x) - se.mean(x), [x], "convex"),
}
NOT_CONVEX = {
    "sine": (sp.sin(t), [t]),
    "cubic": (t**3, [t]),
    "inverse through a pole": (1 / t, [t]),
    "inverse square through a pole": (1 / t**2, [t]),
    "logarithm of a square": (log(t**2), [t]),
    "product": (t * u, [t, u]),
    "bilinear": (x @ y, [x, y]),
    "indefinite form": (x @ G @ x, [x]),
    "Gaussian": (exp(-(t**2)), [t]),
    "sigmoid": (se.sigmoid(t), [t]),
    "hyperbolic tangent": (sp.tanh(t), [t]),
    "double well": ((t**2 - 1) ** 2, [t]),
    "root of absolute value": (sqrt(abs(t)), [t]),
    "square of a norm minus one": ((x @ x - 1) ** 2, [x]),
    "root outside of a ball": (sqrt(x @ x - 1), [x]),
    "power outside of a ball": ((x @ x - 1) ** Rational(3, 2), [x]),
    "factorization": (se.norm(Y @ X - A) ** 2, [Y, X]),
    "determinant": (se.det(X), [X]),
    "second largest entry": (se.sort(x)[1], [x]),
    "median of eigenvalues": (se.eigvalsh(G)[1], [G]),
    "smallest singular value": (se.svdvals(Y)[2], [Y]),
    "difference of norms": (se.norm(x) - se.norm(A @ x), [x]),
    "Student's likelihood": (log(1 + t**2), [t]),
    "evidence by noise": (
        b3 @ se.inv(K + r * se.eye(n)) @ b3 + se.logdet(K + r * se.eye(n)),
        [r],
    ),
    "ratio": (r / s, [r, s]),
    "square over a real number": (t**2 / u, [t, u]),
    "softmax": (se.softmax(x)[0], [x]),
    "neural network": (((se.tanh(A @ x) - b) ** 2).sum(), [x]),
    "maximum of a concave one": (sp.Max(t, -(t**2)), [t]),
    "minimum of a convex one": (sp.Min(t, t**2), [t]),
    "maximum times a number": (sp.Max(t, 1) * t, [t]),
    "sign of a number": (sp.sign(t) * t**2, [t]),
    "steps": (sp.floor(t) + t, [t]),
    "sigmoid of an arc": (se.sigmoid(-sp.atan(r - 1)), [r]),
    "sigmoid of an inverse": (se.sigmoid(1 / sp.atan(r + s)), [r]),
    "jump": (sp.Piecewise((t**2, t < 0), (t**2 + 1, True)), [t]),
    "kinks of both kinds": (sp.Piecewise((t, t < 0), (t / 2, t < 1), (t - S.Half, True)), [t]),
    "cosine through zero": (t**2 + 3 * sp.sin(t), [t]),
    "product of exponentials": (-exp(t) * exp(-(u**2)), [t, u]),
    "inverse outside of a ball": (x @ se.inv(G) @ x, [x, G]),
    "geometric mean beyond one": (p[0] * p[1], [p]),
}
CONVEX = {**TEXTBOOK, **BEYOND_RULES}
