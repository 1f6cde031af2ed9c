"""Lowering of Fourier transforms: products with a DFT basis, which is never built for them."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Integer

from ...expressions import Delta, Fourier
from .context import Lowering


def transformed(builder: Lowering, basis: Fourier, value: int) -> int:
    """Return the transform of a value along its last axis, with its parts along a new one."""
    params = (basis.length, basis.frequencies, basis.weighted)
    return builder.emit("spectrum", value, params=params)


def transformed_back(
    builder: Lowering, basis: Fourier, value: int, labels: Sequence[int], wanted: Sequence[int]
) -> int:
    """Return the real part of the inverse transform of a value with its axes in another order, the
    last two those of the frequencies and of the parts."""
    *others, part = wanted
    rest = [label for label in labels if label != part]
    parts = [builder.arranged(k, rest, others) for k in _parts(builder, value, labels.index(part))]
    params = (basis.length, basis.positions, basis.weighted)
    return builder.emit("from_spectrum", *parts, params=params)


def _parts(builder: Lowering, value: int, axis: int) -> list[int]:
    """Return the values at 0 and at 1 on an axis: the ones written there if nothing else was, or
    slices."""
    shape = builder.instructions[value].shape
    slices = [tuple([Integer(k) if j == axis else None for j in range(len(shape))]) for k in (0, 1)]
    rest = (*shape[:axis], *shape[axis + 1 :])
    steps = [s for s in builder.instructions[value + 1 :] if s.op == "write"]
    writes = [step for step in steps if step.inputs[0] == value]
    written: dict[object, int] = {}
    for step in writes:
        place, subscripts, sign = step.params
        source, target = subscripts.split("->")
        if source == target and not sign and builder.instructions[step.inputs[1]].shape == rest:
            written[place] = step.inputs[1]
    if len(writes) == 2 and all(own in written for own in slices):
        return [written[own] for own in slices]
    return [builder.emit("slice", value, params=(own,)) for own in slices]


def lower_fourier_basis(builder: Lowering, node: Fourier) -> int:
    """Lower a basis that is needed as an array: the transforms of unit vectors."""
    units = builder.value(Delta(node.positions))
    value = transformed(builder, node, units)
    return builder.emit("transpose", value, params=((2, 0, 1),))
