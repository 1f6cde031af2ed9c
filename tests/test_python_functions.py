"""Functions of Python, read and written: derivatives against JAX, second ones of our own text."""

import numpy as np
import pytest
from oracles import assert_close, jax64
from python_programs import CADDIE, FUNCTIONS

import sympy_einsum as se


def run(text, name="f", np=np):
    """A function that a text defines, executed by Python."""
    space = {"np": np, **{key: getattr(np, key) for key in ("sin", "cos", "exp", "log", "sqrt")}}
    exec(text, space)
    return space[name]


def data(args, seed):
    """Numbers and arrays for symbols; square matrices are well conditioned."""
    rng = np.random.default_rng(seed)
    shapes = [tuple(map(int, getattr(arg, "shape", ()))) for arg in args]
    arrays = [rng.uniform(0.5, 1.5, shape) for shape in shapes]
    return [a + 2 * np.eye(3) if a.shape == (3, 3) else a if a.shape else float(a) for a in arrays]


def flat(value):
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(part) for part in value])
    return np.ravel(np.asarray(value, float))


def slope(function, x, dx, h=1e-5):
    """The central difference of a function in a direction."""
    above, below = (
        flat(function(*[a + s * b for a, b in zip(x, dx, strict=True)])) for s in (h, -h)
    )
    return (above - below) / (2 * h)


def check(f, function, oracle):
    """Values, both derivatives, and the second one of a function that was read, against a function
    of NumPy's and one of JAX's, if any."""
    x, dx = data(f.args, 3), data(f.args, 4)
    value = function(*x)
    texts = {kind: se.codegen(f, kind=kind) for kind in ("function", "jvp", "vjp")}
    assert_close(flat(run(texts["function"], f.name)(*x)), flat(value), label="value")
    pushed = run(texts["jvp"], f"{f.name}_jvp")(*x, *dx)
    assert_close(flat(pushed), slope(function, x, dx), 1e-7, label="jvp")
    leaves = value if isinstance(value, tuple) else (value,)
    bars = [np.cos(np.arange(np.size(v)).reshape(np.shape(v)) + 0.3) for v in leaves]
    bars = [bar if bar.shape else float(bar) for bar in bars]
    pullback = run(texts["vjp"], f"{f.name}_vjp")
    pulled = flat(pullback(*x, *bars))
    weighted = sum(np.vdot(bar, v) for bar, v in zip(bars, _tuple(pushed), strict=True))
    assert_close(pulled @ flat(dx), weighted, label="vjp against jvp")
    if oracle is not None:
        jax = jax64()
        back = jax.vjp(oracle, *x)[1](bars[0] if not isinstance(value, tuple) else tuple(bars))
        assert_close(pulled, flat(back), label="vjp")
    # Second order: our own text, read again.
    g = se.parse_python(texts["vjp"])
    assert_close(flat(run(se.codegen(g), g.name)(*x, *bars)), pulled, label="read again")
    still = [0 * np.asarray(bar) if np.ndim(bar) else 0.0 for bar in bars]
    second = run(se.codegen(g, kind="jvp"), f"{g.name}_jvp")(*x, *bars, *dx, *still)
    assert_close(flat(second), slope(pullback, [*x, *bars], [*dx, *still]), 1e-6, label="second")


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", CADDIE)
def test_caddies_programs(name):
    check(se.parse_python(CADDIE[name]), run(CADDIE[name]), run(CADDIE[name], np=jax64().numpy))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_a_module(function):
    check(se.from_function(function), function, None)


def test_functions_are_read_and_never_called():
    def harmful(x):
        np.save("/nowhere", x)
        raise AssertionError("called")

    with pytest.raises(se.ParseError, match=r"it reads or writes .*, at line 2, column 5"):
        se.from_function(harmful)
