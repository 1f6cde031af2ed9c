"""First and second derivatives of NumPy's functions, option by option, against finite differences
of NumPy's values."""

import numpy as np
import pytest
from numpy_calls import ARRAYS, CALLS, NUMPY, SYMBOLS, options_in, run

import sympy_einsum as se
import sympy_einsum.numpy as snp

# Differences of seven values along a line, of the sixth order.
STEP = 5e-4
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * STEP)
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / (180 * STEP**2)
DIRECTIONS = {name: se.TensorSymbol(f"d{name}", s.shape) for name, s in SYMBOLS.items()}


def first_of_each_option():
    """Return the calls in which a function or an option of it occurs first, and those of methods,
    operators and brackets."""
    seen = set()
    for call in CALLS:
        options = set(options_in(call))
        if not options or options - seen:
            yield call
        seen |= options


def along_a_line(call, used, ahead, weights):
    """Return directional derivatives of the weighted sum of NumPy's values, and their size."""
    values = []
    for k in range(-3, 4):
        moved = {name: ARRAYS[name] + k * STEP * ahead[name] for name in used}
        entries = np.asarray(run(call, NUMPY, {**ARRAYS, **moved}), float)
        values.append(np.sum(weights * entries))
    return FIRST @ values, SECOND @ values, 1 + np.sum(np.abs(weights * entries))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", list(first_of_each_option()))
# Names and options that NumPy gives up are read on.
@pytest.mark.filterwarnings("ignore:`row_stack` alias:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:`axes` should not be:DeprecationWarning")
def test_derivatives_are_those_of_numpy(call):
    expr = run(call, snp, SYMBOLS)
    value = run(call, NUMPY, ARRAYS)
    used = [name for name in SYMBOLS if isinstance(expr, se.TensorExpr) and expr.has(SYMBOLS[name])]
    if not used or not np.isfinite(value).all():
        return
    rng = np.random.default_rng(5)
    ahead = {name: rng.uniform(-1, 1, np.shape(ARRAYS[name])) for name in used}
    weights = rng.uniform(0.5, 1.5, np.shape(value))
    first, second, size = along_a_line(call, used, ahead, weights)

    weight = se.TensorSymbol("weight", expr.shape)
    total = snp.sum(weight * expr)
    given, directions = ([table[name] for name in used] for table in (SYMBOLS, DIRECTIONS))
    gradients = se.gradient(total, given)
    derivatives = [se.jvp(gradient, given, directions) for gradient in gradients]
    compute = se.lambdify([*given, *directions, weight], [*gradients, *derivatives], optimize=False)
    found = compute(*[ARRAYS[name] for name in used], *ahead.values(), weights)
    own = [np.sum(part * ahead[name]) for part, name in zip(found, used * 2, strict=True)]
    assert abs(sum(own[: len(used)]) - first) <= 1e-8 * (size + abs(first))
    assert abs(sum(own[len(used) :]) - second) <= 1e-6 * (size + abs(second))
