"""Sums contained in other sums: the number of additions left, and the values."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Float, Rational, symbols

import sympy_einsum as se
from sympy_einsum.rules.partial_sums import with_partial_sums

n = symbols("n", integer=True, positive=True)
x, y, z, goal = (se.TensorSymbol(name, n) for name in ("x", "y", "z", "goal"))
W = se.TensorSymbol("W", (n, n))


def states(start, matrix, steps, tanh):
    """Return the states of Euler's method."""
    found = [start]
    for _ in range(steps):
        found.append(found[-1] + 0.1 * tanh(matrix @ found[-1]))
    return found


def additions(source):
    """Count additions and subtractions of arrays."""
    lines = [line for line in source.splitlines() if "# (n,)" in line]
    signs = sum(line.count(sign) for line in lines for sign in (" + ", " - "))
    return signs + sum(line.count("np.add(") + line.count("np.subtract(") for line in lines)


def test_steps_take_additions_in_proportion_to_their_number():
    counts = []
    for steps in (4, 8, 12):
        loss = sum(((state - goal) ** 2).sum() for state in states(x, W, steps, se.tanh)[1:])
        source = se.lambdify([x, W, goal], [loss, se.gradient(loss, x)]).source
        counts.append(additions(source))
    assert counts[2] / 12 <= 1.2 * counts[0] / 4


def test_gradient_of_steps():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(3), rng.standard_normal((3, 3)), rng.standard_normal(3)

    def loss(start):
        return sum(((s - values[2]) ** 2).sum() for s in states(start, values[1], 6, np.tanh)[1:])

    total = sum(((state - goal) ** 2).sum() for state in states(x, W, 6, se.tanh)[1:])
    value, derivative = se.lambdify([x, W, goal], [total, se.gradient(total, x)])(*values)
    assert value == pytest.approx(loss(values[0]), rel=1e-12)
    step = 1e-30j
    steps = [loss(values[0] + step * unit).imag / step.imag for unit in np.eye(3)]
    np.testing.assert_allclose(derivative, steps, rtol=1e-11)


@pytest.mark.parametrize(
    ("part", "whole", "operands"),
    [
        (x + y + z, x + y + z - goal, 2),
        (x - y, 2 * x - 2 * y + goal, 2),
        (2 * x + y, -4 * x - 2 * y + goal, 2),
        # More of one term is left over.
        (x + y + z, 3 * x + y + z + goal, 3),
        (x + Float("0.1") * y + z, Float("0.3") * x + Float("0.03") * y + Float("0.3") * z, 2),
        # It would cancel.
        (x + y + z, x + y - z, 3),
        (x + y + z + goal, x + y + z, 3),
        # Integers stay integers.
        (2 * x + 2 * y, x + y + z, 3),
        (x / 2 + y / 2 + z / 2, x + y + z + goal, 4),
        (x / 2 + y / 2 + z / 2, x + y + z + Rational(1, 3) * goal, 2),
    ],
)
def test_recognised_parts(part, whole, operands):
    found = with_partial_sums([se.exp(part), se.sin(whole)])[1].operands[0]
    assert len(found.operands) == operands
    values = np.random.default_rng(1).integers(1, 9, size=(4, 5))
    got = se.lambdify([x, y, z, goal], [part, whole])(*values)
    exact = se.lambdify([x, y, z, goal], whole)(*values)
    np.testing.assert_allclose(got[1], exact, rtol=1e-12)
    assert got[1].dtype == exact.dtype


def test_two_sums_that_another_one_consists_of():
    first, second = 2 * x + 3 * y - z - goal, x - y + 2 * z + 2 * goal
    other = [se.TensorSymbol(f"other{k}", n) for k in range(3)]
    whole = first + 0.1 * second + sum(other, se.Zeros(n))
    found = with_partial_sums([se.exp(first), se.sin(second), se.cos(whole)])[2].operands[0]
    assert len(found.operands) == 5
    # What both are equal in mustn't cancel.
    difference = 50 * first - 50 * (first - 0.02 * second)
    exprs = [se.exp(first), se.sin(first - 0.02 * second), se.cos(difference)]
    assert len(with_partial_sums(exprs)[2].operands[0].operands) == 4
    # Integers stay integers.
    exprs = [se.exp(2 * first), se.sin(2 * second), se.cos(first + second)]
    assert with_partial_sums(exprs)[2] is exprs[2]


def test_many_sums_with_a_common_term_are_looked_at_once():
    sums = [se.exp(x + k * y + se.TensorSymbol(f"t{k}", n)) for k in range(300)]
    assert with_partial_sums(sums) == sums
