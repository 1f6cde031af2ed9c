"""Products that are read as something simpler: indexing one tensor, ``A[0, :]``, and a product
whose axes are rearranged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..expressions import Einsum, Selection, Unit

# An entry is a position, (start, stop, step) of a slice, or None for a whole axis.
Entries = list[Any]


def sliced(operands: Sequence[Any], terms: Sequence[Any], output: Sequence[Any]) -> Any:
    """The tensor that a product indexes and one entry per axis; None if it does anything else."""
    tensors = [k for k, o in enumerate(operands) if not isinstance(o, (Unit, Selection))]
    if len(tensors) != 1 or len(operands) == 1 or not terms[tensors[0]]:
        return None
    axes = terms[tensors[0]]
    entries: dict[Any, Any] = dict.fromkeys(axes)
    kept = list(axes)
    for k, cutter in enumerate(operands):
        if k == tensors[0]:
            continue
        axis = terms[k][-1]
        if axis not in kept or axis in output or entries.get(axis) is not None:
            return None
        entries[axis] = entry(cutter)
        place = kept.index(axis)
        kept[place : place + 1] = terms[k][:-1]
    if kept != list(output) or len(set(axes)) < len(axes):
        return None
    return operands[tensors[0]], [entries[axis] for axis in axes]


def entry(cutter: Any) -> Any:
    """What stands in brackets for a unit vector or a selection matrix."""
    if isinstance(cutter, Unit):
        return cutter.position
    stop = cutter.start + cutter.step * cutter.count
    return (cutter.start, None if stop.is_negative else stop, cutter.step)


def merged(core: Einsum, indices: Sequence[int], lengths: Sequence[Any]) -> Any:
    """A product whose axes have the given indices in a view, as operands, terms and lengths."""
    rename = dict(zip(core.output, indices, strict=True))
    every = dict(enumerate(lengths))
    for index, length in enumerate(core.lengths):
        if index not in rename:
            rename[index] = len(every)
            every[rename[index]] = length
    return core.operands, [tuple([rename[i] for i in term]) for term in core.subscripts], every
