"""Functions in Python that are read; first the texts of Caddie's tests, then a module's functions.

What Caddie calls its programs is in [Hansen 2025, appendix B]; they are in its language (§4.1).
"""

import math
from functools import reduce

import numpy as np
from numpy import sin

CADDIE = {
    "add": "def f(x): return x[0] + x[1]",
    "sub": "def f(x): return x[0] - x[1]",
    "mul": "def f(x): return x[0] * x[1]",
    "div": "def f(x): return x[0] / x[1]",
    "neg": "def f(x): return -x",
    "sin": "def f(x): return sin(x)",
    "cos": "def f(x): return cos(x)",
    "exp": "def f(x): return exp(x)",
    "ln": "def f(x): return log(sin(x))",
    "pow": "def f(x): return pow(x, 3.0)",
    "hyp": "def f(x): return sqrt(x[0] * x[0] + x[1] * x[1])",
    "proj": "def f(x): return x[1] * x[2]",
    "tuple": "def f(x): return (x[0] * x[1], sin(x[0]))",
    "simple1": "def f(x): return x[0] * sin(x[1])",
    "simple2": "def f(x): y = sin(x); return y * (cos(x) * x)",
    "simple3": "def f(x): a = x[0]; b = x[1]; c = a * b; return c + b * b - sin(c)",
    "loss": "def f(x): a = x[0]; b = x[1]; c = x[2]; d = x[3]; t = x[4]; "
    "return pow(((a + b * t + c * t * t + d * t * t * t) - sin(t)), 2.0)",
}


def several(x):
    return x[0] * x[1] * x[2], x[0] + x[1] ** 2 + x[2] ** 3


def unpacking(x):
    """x : array of shape (4,)"""
    a, b, *c = x
    return a * b + sum(c) * c[1]


def two_arguments(x, y):
    return x * math.log(y) + x / y


def defaults(x, n=3, *, c=0.5):
    return c * x**n


def conditional(x, y):
    return x * y if x > y else x - y**2


def branches(x, y):
    if x < y and y > 0:
        z = x * x
    elif x > 5:
        z = y
    else:
        z = y**3 * x
    return z * x


def early_return(x):
    if x > 3:
        return x
    y = x * x
    return y * x


def product(a, b):
    return a * b + a


def helpers(x, y):
    return product(x, b=y) * product(y, x)


def anonymous(x):
    g = lambda a, b=2: a**b  # noqa: E731
    return g(x) + g(x, 3)


def total(x, y):
    """
    x : array of shape (3,)
    y : array of shape (3,)
    """
    return sum(x[i] * y[i] for i in range(len(x)))


def comprehension(x):
    """x : array of shape (3,)"""
    y = [x[i] * x[j] for i in range(3) for j in range(i) if i + j != 2]
    return np.stack([*y, x[0]])


def newton(x):
    y = x
    for _ in range(1, 4):
        y = y - (y * y - x) / (2 * y)
    return y


def steps(x):
    k = 0
    while k < 3:
        x = sin(x) + k
        k += 1
    return x


def entries(A, x):
    """
    A : array of shape (2, 3)
    x : array of shape (3,)
    """
    y = np.zeros(2)
    for i in range(2):
        for j in range(3):
            y[i] += A[i, j] * x[j]
    y[1] = y[0] * y[1]
    y[0:] *= 2
    return y * y


def mapped(x):
    """x : array of shape (3,)"""
    return reduce(lambda a, b: a * b + 1, map(lambda v: v * v, x))  # noqa: C417


def layers(W, V, x):
    """
    W : array of shape (4, 3)
    V : array of shape (2, 4)
    x : array of shape (3,)
    """
    return np.sum(np.tanh(V @ np.tanh(W @ x)) ** 2)


def cross_entropy(z, y):
    """
    z : array of shape (4,)
    y : array of shape (4,)
    """
    e = np.exp(z - np.max(z))
    return -np.dot(y, np.log(e / e.sum()))


def quadratic(A, x):
    """
    A : array of shape (3, 3)
    x : array of shape (3,)
    """
    return x @ A @ x + x.dot(x)


def inverse(A, b):
    """
    A : array of shape (3, 3)
    b : array of shape (3,)
    """
    sign, logdet = np.linalg.slogdet(A)
    return sign * b @ np.linalg.solve(A, b) + logdet


def broadcasting(A, x):
    """
    A : array of shape (3, 3)
    x : array of shape (3,)
    """
    return (A + x) * x[:, None] + np.where(x < A, A * x, 0)


def axes(A):
    """A : array of shape (3, 4)"""
    centred = A - A.mean(axis=0)
    return np.sqrt((centred**2).sum(axis=0)), A.T[1:, ::2]


def polynomial(x, c):
    """c : array of shape (4,)"""
    value = 0
    for a in c:
        value = value * x + a
    return value


def angle(x, y):
    return np.hypot(x, y) * np.arctan2(y, x)


def contracted(A, B):
    """
    A : array of shape (2, 3)
    B : array of shape (3, 4)
    """
    return np.einsum("ij,jk,jk->ik", A, B, B)


FUNCTIONS = [
    several, unpacking, two_arguments, defaults, conditional, branches, early_return, helpers,
    anonymous, total, comprehension, newton, steps, entries, mapped, layers, cross_entropy,
    quadratic, inverse, broadcasting, axes, polynomial, angle, contracted,
]  # fmt: skip
