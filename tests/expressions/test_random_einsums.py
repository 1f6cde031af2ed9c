"""Random einsums of einsums, with repeated indices in inputs and outputs, against NumPy.

Every value is built next to its expression; derivatives are compared with central differences in
a random direction, and reverse with forward mode.
"""

from __future__ import annotations

import numpy as np
import pytest
from einsum_programs import LENGTHS, SIZES, Generator

import sympy_einsum as se


@pytest.mark.parametrize("seed", range(150))
def test_value_and_derivatives(seed):
    generator = Generator(seed)
    expr, value, _ = generator.expression(3)
    data = generator.data
    arguments = [*data, *(n for n in LENGTHS.values() if n != 1)]
    numbers = [*data.values(), *(SIZES[k] for k in "abc")]
    function = se.lambdify(arguments, expr)
    scale = 1 + np.abs(value).max(initial=0)
    np.testing.assert_allclose(function(*numbers), value, rtol=0, atol=1e-10 * scale)
    for k, symbol in enumerate(data):
        derivative = se.jacobian(expr, symbol)
        forward = se.jacobian(expr, symbol, mode="forward")
        computed, same = se.lambdify(arguments, [derivative, forward])(*numbers)
        size = 1 + np.abs(computed).max(initial=0)
        np.testing.assert_allclose(computed, same, rtol=0, atol=1e-9 * size)
        direction = generator.normal(np.shape(numbers[k]))

        def moved(step, k=k, direction=direction):
            return function(*numbers[:k], numbers[k] + step * direction, *numbers[k + 1 :])

        step = 1e-4
        difference = 8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))
        along = np.tensordot(computed, direction, direction.ndim)
        tolerance = 1e-5 * (1 + np.abs(along).max(initial=0) + scale)
        np.testing.assert_allclose(along, difference / (12 * step), rtol=0, atol=tolerance)
