"""Loops that have a form without steps, and parts of steps that need no carry."""

import numpy as np
import pytest
import sympy
from oracles import assert_close
from sympy import Symbol, symbols

import sympy_einsum as se
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


@pytest.mark.parametrize(
    "step",
    [lambda c, x: c - c * x, lambda c, x: s * c + x, lambda c, x: se.sin(c), lambda c, x: c * x],
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


def test_large_parts_stay_in_the_loop():
    """All pairs of entries of an input are more than it is worth to keep for every step."""
    last, _ = se.scan(lambda c, x: (se.tanh(c + se.sin(x[:, None] * x[None, :]) @ c), None), h, X)
    assert hoist_inputs([last])[0] is last


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
