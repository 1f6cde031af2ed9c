"""Loops that have a form without steps, and parts of steps that need no carry."""

import numpy as np
import pytest
import sympy
from oracles import assert_close
from sympy import Symbol, symbols
from sympy.core.cache import clear_cache

import sympy_einsum as se
from sympy_einsum.expressions import slot
from sympy_einsum.rules import hoist_inputs, normal_form, sum_stored_values

T, n = symbols("T n", integer=True, positive=True)
s = Symbol("s")
W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)


@pytest.mark.parametrize("reverse", [False, True])
def test_sums_and_running_sums(reverse):
    last, (before, after) = se.scan(
        lambda c, x: (c + se.sin(x), (c, c + se.sin(x))), h, X, reverse=reverse
    )
    assert se.simplify(last) == h + se.sin(X).sum(axis=0)
    data = np.random.default_rng(0).standard_normal
    given = data((4, 3)), data(3)
    for e in (last, before, after):
        assert_close(se.lambdify([X, h], normal_form(e))(*given), se.lambdify([X, h], e)(*given))


def test_running_sums_of_rows():
    _, values = se.scan(lambda c, x: (c + x, c + x), se.Zeros(n), X)
    assert se.equal(values, se.cumsum(X, axis=0))


def test_powers_of_a_scalar():
    last, _ = se.scan(lambda c, t: (s * c, None), h, length=T)
    assert se.simplify(last) == s**T * h
    number, _ = se.scan(lambda c, t: (s * c, None), sympy.Integer(2), length=T)
    assert se.simplify(number) == 2 * s**T


Y, small = se.TensorSymbol("Y", T), se.TensorSymbol("v", 2)
M = se.TensorSymbol("M", 2, 2)
# A step, a first carry and inputs; each loop has a form without steps.
CLOSED = {
    "product": (lambda c, x: (s * c * se.sin(x), (c, s * c * se.sin(x), se.cos(c) * x)), h, X),
    "product of scalars": (lambda c, x: (c * (x @ x), (c, c * (x @ x), c * x)), s, X),
    "product of a tensor with scalars": (lambda c, y: (s * c * y, (c, s * c * y)), h, Y),
    "product with a matrix": (lambda c, x: (c * (W @ x), c), h, X),
    "log-sum-exp": (lambda c, x: (se.logaddexp(c, x), (c, se.logaddexp(c, x), c - x)), h, X),
    "log-sum-exp of scalars": (lambda c, y: (se.logaddexp(c, 2 * y), c), s, Y),
    "power of entries": (lambda c, t: (c * h, None), h + 1, None),
    "power of a matrix": (lambda c, t: (s * (M @ c), None), small, None),
    "power of a transpose": (lambda c, t: (c @ M / 2, None), small, None),
    "two carries": (
        lambda c, x: ((c[0] + x, c[1] * x), (c[0] * c[1], se.sin(c[0] + x).sum())),
        *((h, 2 * h), X),
    ),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", CLOSED)
def test_loops_without_steps(name, reverse):
    """Values and gradients are those of the steps written out, for no step and at zeros too."""
    step, init, xs = CLOSED[name]
    last, values = se.scan(step, init, xs, length=T if xs is None else None, reverse=reverse)
    results = [*(last if isinstance(last, tuple) else (last,))]
    results += values if isinstance(values, tuple) else [] if values is None else [values]
    closed = [normal_form(e) for e in results]
    assert not any(e.atoms(se.Scan) for e in closed)
    symbols_ = [v for v in (X, Y, h, W, M, small, s) if any(v in e.free_symbols for e in results)]

    def with_gradient(exprs, by):
        sines = [se.sin(e).sum() if getattr(e, "shape", ()) else sympy.sin(e) for e in exprs]
        return [*exprs, *se.gradient(sympy.Add(*sines), by)]

    found = se.lambdify([*symbols_, T], with_gradient(closed, symbols_))
    draw = np.random.default_rng(0).standard_normal
    for steps in (3, 0):
        lengths = {T: steps, n: 2}
        shapes = [[int(k.subs(lengths)) for k in getattr(v, "shape", ())] for v in symbols_]
        given = [draw(shape) for shape in shapes]
        for v, own in zip(symbols_, given, strict=True):
            if v in (X, Y) and steps:
                own[1] = 0
        own = [v.subs(lengths) for v in symbols_]
        plain = [se.unroll(sympy.sympify(e).subs(lengths)) for e in results]
        expected = se.lambdify(own, with_gradient(plain, own))(*given)
        for one, other in zip(found(*given, steps), expected, strict=True):
            assert_close(one, np.asarray(other))


@pytest.mark.parametrize(("function", "reverse"), [(se.Max, False), (se.Min, True)])
def test_extrema_in_code(function, reverse):
    """They are computed without steps; derivatives are those of the steps, also at ties."""
    loops = [
        (lambda c, x: (function(c, x), (c, function(c, x), c * x)), h, X),
        (lambda c, y: (function(c, y**2, s * y), c), s, Y),
    ]
    for step, init, xs in loops:
        last, values = se.scan(step, init, xs, reverse=reverse)
        results = [last, *(values if isinstance(values, tuple) else (values,))]
        assert se.simplify(last) is last
        f = se.lambdify([X, Y, h, s], results)
        assert "accumulate" in f.source
        gradient = se.gradient(sympy.sympify(last + values.sum() if xs is Y else last.sum()), xs)
        g = se.lambdify([X, Y, h, s], gradient)
        for steps in (4, 0):
            draw = np.random.default_rng(steps).integers
            given = [draw(0, 2, shape).astype(float) for shape in ((steps, 3), steps, 3)]
            # SymPy's maximum of three scalars, which an unrolled loop has, shares otherwise.
            given[1] += np.arange(steps) / 7
            own = [v.subs({T: steps, n: 3}) for v in (X, Y, h)]
            plain = [se.unroll(sympy.sympify(e).subs({T: steps, n: 3})) for e in results]
            expected = se.lambdify([*own, s], plain)(*given, 0.7)
            for one, other in zip(f(*given, 0.7), expected, strict=True):
                assert_close(one, np.asarray(other))
            total = plain[0] + plain[1].sum() if xs is Y else plain[0].sum()
            derivative = se.gradient(total, own[0 if xs is X else 1])
            assert_close(g(*given, 0.7), se.lambdify([*own, s], derivative)(*given, 0.7))


def test_equal_knows_extrema():
    last, _ = se.scan(lambda c, x: (se.Max(c, x), None), h, X)
    assert se.equal(last, se.concatenate([h[None], X]).max(axis=0))


def test_infinite_first_carries():
    last, _ = se.scan(lambda c, y: (se.logaddexp(c, y), None), -sympy.oo, Y)
    closed = se.simplify(last)
    assert str(closed) == "logsumexp(concatenate([-oo*Ones(1), Y]))"
    f = se.lambdify([Y], closed)
    assert f(np.zeros(0)) == -np.inf
    assert_close(f(np.arange(3.0)), np.logaddexp.reduce(np.arange(3.0)))


def test_powers_of_large_matrices_stay_loops():
    """Where steps cost less than squares."""
    last, _ = se.scan(lambda c, t: (W @ c, None), h, length=T)
    assert isinstance(se.simplify(last), se.Scan)
    kept, _ = se.scan(lambda c, t: (M @ c, None), small, length=7)
    assert isinstance(se.simplify(kept), se.Scan)


@pytest.mark.parametrize(
    "step",
    [lambda c, x: c - c * x, lambda c, x: s * c + x, lambda c, x: se.sin(c), lambda c, x: W @ c],
)
def test_other_carries_stay_loops(step):
    last, _ = se.scan(lambda c, x: (step(c, x), None), h, X)
    assert isinstance(se.simplify(last), se.Scan)


def test_values_that_need_no_carry_are_no_loop():
    _, (entries, same) = se.scan(lambda c, x: (c + x, (x, h)), h, X)
    assert entries is X
    assert same == se.broadcast_to(h, (T, n))


def test_what_inputs_tell_is_computed_before_the_loop():
    last, _ = se.scan(lambda c, x: (se.tanh(c + W @ x) * se.exp(x), None), h, X)
    (hoisted,) = hoist_inputs([last])
    assert {*hoisted.operands} == {h, X @ W.T, se.exp(X)}
    data = np.random.default_rng(1).standard_normal
    given = data((3, 3)), data((4, 3)), data(3)
    assert "s1[step]" in se.lambdify([W, X, h], last).source
    plain = se.lambdify(
        [e.subs({T: 4, n: 3}) for e in (W, X, h)], se.unroll(last.subs({T: 4, n: 3}))
    )
    assert_close(se.lambdify([W, X, h], last)(*given), plain(*given))


def test_two_carries_share_what_is_computed_before_the_loop():
    b = se.TensorSymbol("b", n)

    def step(c, x):
        return (se.tanh(W @ c[0] + W @ x + b), se.sin(c[1] + W @ x + b)), None

    both, _ = se.scan(step, (h, h**2), X)
    hoisted, _ = hoist_inputs(both)
    (own,) = hoisted.loop.inputs
    assert se.equal(own.stacked, X @ W.T + b[None, :])


def test_large_parts_stay_in_the_loop():
    """All pairs of entries of an input are more than it is worth to keep for every step."""
    last, _ = se.scan(lambda c, x: (se.tanh(c + se.sin(x[:, None] * x[None, :]) @ c), None), h, X)
    assert hoist_inputs([last])[0] is last


def test_many_parts_by_entries_stay_in_the_loop():
    """Arrays of all steps for each of them go through memory; products of matrices stay before."""

    def last(count):
        def step(c, x):
            for k in range(count):
                c = c * se.sin(x + k) + W @ x
            return c, None

        return se.scan(step, h, X)[0]

    few, many = hoist_inputs([last(3), last(4)])
    assert [len(own.loop.inputs) for own in (few, many)] == [4, 2]
    assert {X, X @ W.T} <= {*many.operands}
    data = np.random.default_rng(2).standard_normal
    given = data((3, 3)), data((5, 3)), data(3)
    expected = given[2]
    for x in given[1]:
        for k in range(4):
            expected = expected * np.sin(x + k) + given[0] @ x
    assert_close(se.lambdify([W, X, h], last(4))(*given), expected)


def test_the_part_of_a_sum_that_no_carry_changes_is_computed_before_the_loop():
    b = se.TensorSymbol("b", n)
    last, _ = se.scan(lambda c, x: (se.tanh(W @ c + W @ x + b), None), h, X)
    (hoisted,) = hoist_inputs([last])
    (own,) = hoisted.loop.inputs
    assert se.equal(own.stacked, X @ W.T + b[None, :])
    data = np.random.default_rng(3).standard_normal
    given = data((3, 3)), data((4, 3)), data(3), data(3)
    f, g = (se.lambdify([W, X, h, b], e) for e in (last, hoisted))
    assert_close(f(*given), g(*given))
    # What else stands in the other terms is computed before too.
    both, _ = se.scan(lambda c, x: (se.tanh(W @ c * se.exp(x) + W @ x + b), None), h, X)
    assert {se.exp(X), X @ W.T + b[None, :]} <= {*hoist_inputs([both])[0].operands}
    # Nothing but a sum: each step adds.
    plain, _ = se.scan(lambda c, x: (se.tanh(W @ c + x + b), None), h, X)
    assert hoist_inputs([plain]) == [plain]


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_sums_of_stored_values_need_no_carry(steps):
    def step(carry, x):
        c, total = carry
        new = se.tanh(W @ c + x)
        return (new, total + new), new

    (_, total), values = se.scan(step, (h, 2 * h), X)
    summed = sum_stored_values([total, values])[0]
    assert summed == 2 * h + values.sum(axis=0)
    data = np.random.default_rng(4).standard_normal
    given = data((3, 3)), data((steps, 3)), data(3)
    f, g = (se.lambdify([W, X, h], e) for e in (total, [summed, values]))
    assert_close(f(*given), g(*given)[0])
    assert f.source.count("empty") == 0


def test_carries_that_others_need_stay():
    def step(carry, x):
        c, total = carry
        return (se.tanh(c + total), total + x), x * c

    (_, total), values = se.scan(step, (h, h), X)
    assert sum_stored_values([total, values]) == [total, values]


def test_inner_loops_stay_in_the_loop():
    """All at once they would store the values of their steps for every step."""
    Z = se.TensorSymbol("Z", T, n, n)

    def step(c, z):
        inner, _ = se.scan(lambda d, row: (se.sin(W @ d + row), None), h, z)
        return c * se.exp(inner) + 1, None

    last, _ = se.scan(step, h, Z)
    assert hoist_inputs([last])[0] is last


def test_parameters_of_scalar_lambdas_are_compared_by_value():
    """Old ones stay in lambdas when caches forget them."""
    last, _ = se.scan(lambda c, x: (se.Max(c, x), None), h, X)
    slot.cache_clear()
    clear_cache()
    assert se.equal(last, se.concatenate([h[None], X]).max(axis=0))
