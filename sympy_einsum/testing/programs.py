"""Random programs: steps from tensor symbols to a result, run on symbols and on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sympy import Symbol

from ..expressions import Operand, TensorSymbol, shape_of
from .operations import Namespace, Operation


class Step(NamedTuple):
    """An operation, the positions of its operands among the values, and its parameters."""

    name: str
    operands: list[int]
    parameters: list[Any]


@dataclass
class Program:
    """Tensor symbols and steps, each applied to symbols or to results of earlier steps.

    Run on symbols it gives ``values``, run on arrays the numbers to compare them with.

    Parameters
    ==========

    tensors : the symbols, which may be SymPy's own too
    lengths : numbers for the symbolic axis lengths
    operations : the operations of its steps, by name
    steps : operations with operands and parameters
    values : the tensors, and an expression for each step
    refused : the operations that expressions don't support, with the reasons

    Examples
    ========

    >>> import numpy as np
    >>> from scipy import special
    >>> from hypothesis import given, settings
    >>> import sympy_einsum as se
    >>> from sympy_einsum import testing
    >>> numpy = testing.Namespace(np, special)
    >>> @given(testing.programs())
    ... @settings(testing.SETTINGS, max_examples=5, derandomize=True, database=None)
    ... def values_are_those_of_numpy(program):
    ...     arrays = program.arrays()
    ...     value = se.lambdify(program.tensors, program.result)(*arrays)
    ...     np.testing.assert_allclose(value, program.run(numpy, arrays)[-1], atol=1e-9)
    >>> values_are_those_of_numpy()
    """

    tensors: tuple[TensorSymbol | Symbol, ...]
    lengths: dict[Symbol, int]
    operations: Mapping[str, Operation]
    steps: list[Step] = field(default_factory=list)
    values: list[Operand] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def result(self) -> Operand:
        """The last value."""
        return self.values[-1]

    def arrays(
        self, seed: int = 0, lengths: Mapping[Symbol, int] | None = None
    ) -> list[np.ndarray]:
        """Draw random arrays for the tensors, by default with the lengths that the program was made
        for; a length among the tensors has its own value."""
        rng = np.random.default_rng(seed)
        lengths = self.lengths if lengths is None else lengths
        shapes = [[int(n.subs(lengths)) for n in shape_of(t)] for t in self.tensors]
        return [
            np.asarray(lengths[t] if t in lengths else 0.7 * rng.standard_normal(shape))
            for t, shape in zip(self.tensors, shapes, strict=True)
        ]

    def run(self, xp: Namespace, operands: Sequence[Any]) -> list[Any]:
        """Compute all values from operands in place of the tensors."""
        values = list(operands)
        for step in self.steps:
            values.append(self.after(xp, values, step))
        return values

    def after(self, xp: Namespace, values: Sequence[Any], step: Step) -> Any:
        """Compute the value of a step."""
        operands = [values[k] for k in step.operands]
        return self.operations[step.name].apply(xp, *operands, *step.parameters)

    def __repr__(self) -> str:
        names = [tensor.name for tensor in self.tensors]
        shapes = ", ".join(f"{t.name}: {shape_of(t)}" for t in self.tensors)
        lines = [f"program of {shapes}, for {self.lengths}"]
        for step in self.steps:
            names.append(f"v{len(names)}")
            given = ", ".join([*(names[k] for k in step.operands), *map(repr, step.parameters)])
            lines.append(f"{names[-1]} = {step.name}({given})")
        return "\n    ".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the program for hypothesis."""
        printer.text(repr(self))
