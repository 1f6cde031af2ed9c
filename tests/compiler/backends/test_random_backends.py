"""Random programs of tensors, Python's numbers and SymPy's: every library gives NumPy's values."""

import random

import numpy as np
import pytest
import sympy
from libraries import LIBRARIES
from sympy import Rational, symbols
from test_backends import flattened

import sympy_einsum as se
import sympy_einsum.numpy as snp

COUNT = 25
m, n = symbols("m n", integer=True, positive=True)
s, t = symbols("s t", real=True)
A, B = se.TensorSymbol("A", (m, n)), se.TensorSymbol("B", (m, n))
x, y = se.TensorSymbol("x", (n,)), se.TensorSymbol("y", (n,))
z, c = se.TensorSymbol("z", (3,)), se.TensorSymbol("c", ())
ARGUMENTS = [A, B, x, y, z, c, s, t, n]
NUMBERS = [2, 3, 0.5, -1.5, Rational(1, 3), sympy.sqrt(2), sympy.pi, sympy.log(2 * sympy.pi), n, t]
UNARY = {
    "sin": se.sin,
    "exp": lambda v: se.exp(se.sin(v)),
    "log": lambda v: se.log(2 + v**2),
    "sqrt": lambda v: se.sqrt(1 + v**2),
    "tanh": se.tanh,
    "erf": se.erf,
    "sigmoid": se.sigmoid,
    "softplus": se.softplus,
    "relu": se.relu,
    "Abs": se.Abs,
    "gamma": lambda v: se.gamma(1 + se.sigmoid(v)),
    "loggamma": lambda v: se.loggamma(2 + se.tanh(v)),
    "sinc": se.sinc,
    "square": lambda v: v**2,
    "power": lambda v: (1 + v**2) ** Rational(-3, 2),
    "exp2": lambda v: snp.exp2(se.tanh(v)),
    "where": lambda v: snp.where(snp.greater(v, Rational(1, 10)), v, Rational(1, 10)),
    "choice": lambda v: snp.where(snp.greater(v, 0), 0.1, 2),
    "log10": lambda v: snp.log10(1 + v**2),
}
BINARY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: b - a,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / (1 + b**2),
    "power": lambda a, b: (1 + a**2) ** se.tanh(b),
    "Max": se.Max,
    "Min": se.Min,
    "logaddexp": se.logaddexp,
    "atan2": lambda a, b: se.atan2(a, 1 + b**2),
    "hypot": snp.hypot,
}


def order(value):
    return getattr(value, "order", 0)


def shape(value):
    return getattr(value, "shape", ())


def program(seed):
    """Return a random expression, its gradient by x, or both."""
    rng = random.Random(seed)
    values = [A, B, x, y, z, c, s]
    for _ in range(rng.randint(2, 7)):
        value = rng.choice(values)
        kind = rng.choice(["unary", "number", "number", "binary", "sum", "dot", "constant"])
        if kind == "unary":
            values.append(UNARY[rng.choice(sorted(UNARY))](value))
        elif kind == "number":
            pair = [
                value,
                UNARY["sqrt"](rng.choice(NUMBERS)) if rng.random() < 0.3 else rng.choice(NUMBERS),
            ]
            rng.shuffle(pair)
            values.append(BINARY[rng.choice(sorted(BINARY))](*pair))
        elif kind == "binary":
            other = rng.choice([v for v in values if order(v) == 0 or shape(v) == shape(value)])
            values.append(BINARY[rng.choice(sorted(BINARY))](value, other))
        elif kind == "sum" and order(value):
            values.append(rng.choice([snp.sum, snp.mean])(value))
        elif kind == "dot" and order(value):
            values.append(value @ rng.choice([v for v in values if shape(v) == shape(value)[-1:]]))
        elif kind == "constant" and order(value) == 1 and shape(value) == (3,):
            values.append(value @ np.arange(1, 4))
    last = values[-1] if len(values) > 7 else x @ x
    total = snp.sum(last) if order(last) else last
    derivative = (
        se.gradient(total, x) if order(total) == 0 and hasattr(total, "operands") else total
    )
    return rng.choice([last, derivative, [last, derivative]])


def data(seed):
    """Return arrays, and numbers of Python's types."""
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(shape) for shape in ((4, 3), (4, 3), 3, 3, 3, ())]
    if seed % 3 == 0:
        arrays[0] = rng.integers(-3, 4, (4, 3))
    return [*arrays, *((2, 0.7) if seed % 2 else (-0.3, 3)), 3]


@pytest.mark.parametrize("name", ["torch", "jax", "dask"])
@pytest.mark.filterwarnings("ignore")
def test_random_programs(name):
    library = LIBRARIES[name]()
    for seed in range(COUNT):
        exprs, given = program(seed), data(seed)
        expected = flattened(se.lambdify(ARGUMENTS, exprs)(*given))
        found = flattened(se.lambdify(ARGUMENTS, exprs, name)(*map(library.into, given)))
        rtol = 1e-4 if name == "torch" and seed % 3 == 0 else 1e-9
        for result, value in zip(found, expected, strict=True):
            assert np.shape(library.back(result)) == np.shape(value), (seed, exprs)
            np.testing.assert_allclose(
                library.back(result), value, rtol=rtol, atol=rtol, err_msg=f"{seed}: {exprs}"
            )
