"""Numbers that change with the step: learning rates, discount factors, coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sympy import Expr, Float

from ...core import tuning
from ...expressions import Constant, entry_at


class NumberSequence(NamedTuple):
    """Real numbers of steps, from the last step on."""

    numbers: Sequence[Expr]

    def at(self, count: int, index: Expr, is_reverse: bool) -> Expr:
        """Return the number in a step of a loop: a function of the step where rounding doesn't
        change it, or the entry of an array."""
        numbers = self.numbers[:count] if is_reverse else self.numbers[count - 1 :: -1]
        values = np.array(numbers, float)
        steps = np.arange(count)
        first, second = values[:2].tolist()
        difference = _shortened(second - first)
        if _are_equal(first + difference * steps, values):
            return Float(first) + Float(difference) * index
        ratio = _shortened(second / first) if first else 0.0
        if ratio > 0 and _are_equal(first * ratio**steps, values):
            return Float(first) * Float(ratio) ** index
        return entry_at(Constant(numbers), index)


def _shortened(number: float) -> float:
    """Return a number without the last digits, which rounding changes."""
    return float(f"{number:.14g}")


def _are_equal(computed: np.ndarray, numbers: np.ndarray) -> bool:
    """Tell whether numbers are equal up to the rounding of a few operations."""
    return bool(np.all(np.abs(computed - numbers) <= tuning.NUMBER_ROUNDING * np.abs(numbers)))
