"""Random loops: the step is a short program over carries, inputs, and values from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..expressions import Operand
from .choices import Choices, Chosen

# Functions of two values in a step. They are bounded, or grow slowly with the steps; where a second
# value doesn't have the shape of the first, its mean or a product of both stands for it.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda xp, a, b: a + b / 4,
    "recurrence": lambda xp, a, b: a / 2 + b,
    "network": lambda xp, a, b: xp.tanh(a + b),
    "product": lambda xp, a, b: a * xp.sin(b),
    "factor": lambda xp, a, b: a * b / 2,
    "difference": lambda xp, a, b: xp.cos(a) - b / 2,
    "maximum": lambda xp, a, b: xp.maximum(a, b),
    "minimum": lambda xp, a, b: xp.minimum(a, b / 2),
    "logaddexp": lambda xp, a, b: xp.logaddexp(a, b),
    "second": lambda xp, a, b: 0 * a + b,
}
# How a second value takes the shape of the first.
FITTED: dict[str, Callable[..., Any]] = {
    "as it is": lambda xp, a, b: b,
    "mean": lambda xp, a, b: xp.mean(b),
    "matrix": lambda xp, a, b: a @ b,
}


class Combination(NamedTuple):
    """A function of two values, by their positions, and how the second is fitted to the first."""

    function: str
    first: int
    second: int
    fitted: str


class RandomLoop(NamedTuple):
    """A loop: how many of its operands are first carries, and how many inputs; its instructions, of
    which the last ones give the next carries, and the position of the value of a step. Without
    inputs the length is a number, or, where it is None, that of the first axis of the last operand.
    The result is a carry, by its number, or else the values."""

    carries: int
    inputs: int
    instructions: tuple[Combination, ...]
    value: int
    length: int | None
    reverse: bool
    checkpoint: str | None
    result: int | None

    def run(self, xp: Any, *operands: Any) -> Any:
        """Return the result for operands: first carries, inputs, values from outside."""
        count = self.carries + self.inputs
        stacked, outside = operands[self.carries : count], operands[count:]

        def step(carries: Any, entries: Any) -> Any:
            pool = [*carries, *(entries if stacked else [entries]), *outside]
            for own in self.instructions:
                first, second = pool[own.first], pool[own.second]
                second = FITTED[own.fitted](xp, first, second)
                pool.append(FUNCTIONS[own.function](xp, first, second))
            return tuple(pool[-self.carries :]), pool[self.value]

        length = self.length
        if not stacked and length is None:
            length = operands[-1].shape[0]
        last, values = xp.scan(
            *(step, operands[: self.carries], stacked or None, length, self.reverse),
            checkpoint=self.checkpoint,
        )
        return values if self.result is None else last[self.result]


def loop(choices: Choices) -> Chosen:
    """Draw the operands of a loop, and its step."""
    among = choices.among
    starts = [choices.one(0, 2) for _ in range(among([1, 1, 2]))]
    stacked = [choices.one(1, 3) for _ in range(among([0, 1, 1]))]
    if stacked and among([False, True]):
        count = choices.shape(stacked[0])[0]
        alike = [k for k in range(len(choices.values)) if choices.shape(k)[:1] == (count,)]
        stacked.append(among(alike))
    length = None if stacked else among([2, 3, 1, 0, None, None])
    outside = [choices.one(0, 2) for _ in range(among([0, 1, 2]))]
    if not stacked and length is None:
        outside.append(choices.one(1))
    shapes: list[Sequence[Operand]] = [choices.shape(k) for k in starts]
    shapes += [choices.shape(k)[1:] for k in stacked] or [()]
    shapes += [choices.shape(k) for k in outside]
    instructions: list[Combination] = []
    between = among(range(3))
    for k in range(between + len(starts)):
        first = among(range(len(shapes))) if k < between else k - between
        second = among(range(len(shapes)))
        fitted = _fitted(shapes[first], shapes[second])
        instructions.append(Combination(among([*FUNCTIONS]), first, second, fitted))
        shapes.append(shapes[first])
    drawn = RandomLoop(
        *(len(starts), len(stacked), tuple(instructions), among(range(len(shapes))), length),
        reverse=among([False, False, True]),
        checkpoint=among([None, None, None, "sqrt"]),
        # No values have no entry.
        result=among([*range(len(starts)), *([] if length == 0 else [None])]),
    )
    return [*starts, *stacked, *outside], [drawn]


def _fitted(first: Sequence[Operand], second: Sequence[Operand]) -> str:
    if not second or tuple(first) == tuple(second):
        return "as it is"
    is_matrix = len(second) == 2 and second[0] == second[1]
    return "matrix" if is_matrix and tuple(first[-1:]) == (second[0],) else "mean"
