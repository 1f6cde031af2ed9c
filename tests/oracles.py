"""References independent of the implementation: random data, JAX, graph walks."""

import functools
import gc
import re
import sys

import numpy as np
import sympy
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.calculus.sweeps import sweep

n, m, k, p = symbols("n m k p", integer=True, positive=True)
LENGTHS = {n: 3, m: 4, k: 2, p: 5}
LENGTH_NAMED = {length.name: length for length in LENGTHS}

# None of these may occur in a derivative.
FORBIDDEN = re.compile(r"\b(DiracDelta|Heaviside|Derivative|Subs)\b")


def numeric_shape(symbolic, lengths=LENGTHS):
    return tuple(int(sympy.sympify(length).subs(lengths)) for length in symbolic)


def random_array(shape, domain=None, rng=None):
    """Return random data in a domain; by default standard normal, square matrices well
    conditioned."""
    rng = np.random.default_rng(7) if rng is None else rng
    normal = rng.standard_normal(shape)
    square = len(shape) == 2 and shape[0] == shape[1]
    if domain is None:
        return normal + 2 * np.eye(shape[0]) if square else normal
    if domain == "pos":
        return rng.uniform(0.5, 2.0, shape)
    if domain == "small":
        return rng.uniform(-0.4, 0.4, shape)
    if domain == "sign":
        return np.where(normal > 0, 1.0, -1.0)
    assert square, domain
    if domain == "symmetric":
        return normal + normal.T
    definite = normal @ normal.T + np.eye(shape[0])
    if domain == "spd":
        return definite
    assert domain == "spd_nonsym", domain
    skew = rng.standard_normal(shape)
    return definite + 0.3 * (skew - skew.T)


def data_for(tensors, seed=7, lengths=LENGTHS, domains=None):
    """Return an array for each tensor symbol, a float for order 0, in a dict."""
    rng = np.random.default_rng(seed)
    domains = domains or {}
    return {
        t: random_array(numeric_shape(t.shape, lengths), domains.get(t.name), rng) for t in tensors
    }


def evaluate(expr, data):
    """Return the value of an expression, or of a list of them, for a dict from symbols to arrays;
    without simplification, so that no rule can mask its own error."""
    return se.lambdify(list(data), expr, optimize=False)(*data.values())


def assert_close(actual, expected, tolerance=1e-8, label=""):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype != object, f"{label} is an object array: {actual!r}"
    assert actual.shape == expected.shape, f"{label} shape {actual.shape}, not {expected.shape}"
    assert np.all(np.isfinite(expected)), f"{label} the reference isn't finite: a poor test"
    scale = 1 + np.max(np.abs(expected), initial=0.0)
    error = np.max(np.abs(actual - expected), initial=0.0) / scale
    assert error <= tolerance, f"{label} differs by {error:.2g}\n{actual}\n{expected}"


@functools.cache
def jax64():
    """JAX in float64."""
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def children(node):
    """Return the operands of a node of ours, or the arguments of a stock one."""
    return node.operands if isinstance(node, se.TensorExpr) else node.args


def graph(*roots):
    """Return every node of an expression graph once."""
    seen = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(children(node))
    return seen


def assert_plain(expr):
    """Check that a derivative is made of functions that can be evaluated."""
    text = sympy.srepr(expr)
    found = FORBIDDEN.search(text)
    assert not found, f"{found.group()} in {text[:300]}"
    assert not expr.has(sympy.DiracDelta, sympy.Heaviside, sympy.Derivative, sympy.Subs), (
        f"{expr} holds an unevaluated or singular function"
    )


def calls(function):
    """Count function calls: a measure of work independent of the clock."""
    count = 0

    def watch(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sweep.cache_clear()
    gc.collect()
    gc.freeze()  # what is there already takes longer to collect than most functions to run
    gc.disable()
    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count
