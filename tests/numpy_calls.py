"""Calls of NumPy's functions with every option of each: the table that the tests of the namespace
run on NumPy's arrays and on symbols."""

import ast
import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.special
from oracles import k, m, n, numeric_shape, p

import sympy_einsum as se
import sympy_einsum.numpy as snp

CALLS = (Path(__file__).parent / "data" / "numpy_calls.txt").read_text().splitlines()
# Capitals for matrices and more; C, F, G, H, Q, g, w, z are like A, X, T, Y, ... with numbers for
# lengths, which some functions need.
SHAPES = {
    **{"s": (), "x": (n,), "y": (n,), "v": (m,), "w": (3,), "z": (3,), "g": (4,)},
    **{"X": (n, m), "Y": (n, m), "F": (3, 4), "H": (3, 4), "Z": (m, p), "Q": (2, 3), "O": (n, 1)},
    **{"A": (n, n), "B": (n, n), "C": (3, 3), "T": (n, m, k), "U": (k, m, n), "G": (3, 4, 2)},
}
SYMBOLS = {name: se.TensorSymbol(name, shape) for name, shape in SHAPES.items()}


def _arrays():
    rng = np.random.default_rng(23)
    found = {}
    for name, shape in SHAPES.items():
        size = numeric_shape(shape)
        # Apart from each other, so that no entries change their order near by.
        entries = 0.2 + 0.68 * np.linspace(0, 1, int(np.prod(size))) ** 1.1 + rng.uniform(0, 0.02)
        found[name] = rng.permutation(entries).reshape(size)
        if name in "ABC":
            found[name] += 2 * np.eye(3)
    found["s"] = 0.7
    return found


ARRAYS = _arrays()
VALUES = {SYMBOLS[name]: array for name, array in ARRAYS.items()}
NUMPY = SimpleNamespace(**vars(np))
NUMPY.sliding_window_view = np.lib.stride_tricks.sliding_window_view


def run(call, namespace, variables):
    """Evaluate a call, in NumPy's namespace or in ours."""
    return eval(call, {"np": namespace, "ss": scipy.special, **variables})


def public_functions():
    """Return the functions of our namespace and its packages, by name."""
    for space, prefix in ((snp, ""), (snp.linalg, "linalg."), (snp.fft, "fft.")):
        for name in dir(space):
            found = getattr(space, name)
            if callable(found) and name[0] != "_" and not isinstance(found, type):
                yield prefix + name, found


FUNCTIONS = dict(public_functions())


def parameters(function):
    """Return the names of a function's parameters."""
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:  # one of NumPy's own
        return []
    return [q.name for q in found if q.kind not in (q.VAR_POSITIONAL, q.VAR_KEYWORD)]


def options_in(call):
    """Return the functions in a call as ``name``, and their parameters as ``name.parameter``."""
    for node in ast.walk(ast.parse(call, mode="eval")):
        name = ast.unparse(node.func).removeprefix("np.") if isinstance(node, ast.Call) else ""
        if name in FUNCTIONS:
            yield name
            given = dict.fromkeys([keyword.arg for keyword in node.keywords])
            bound = inspect.signature(FUNCTIONS[name]).bind(*node.args, **given)
            yield from [f"{name}.{parameter}" for parameter in bound.arguments]
