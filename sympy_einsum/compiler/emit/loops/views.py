"""Views as index arithmetic: the entry of the base that an entry of a view is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr, S

from ....core import Shape
from ...ir.instruction_rules import Cut, Instruction, Slice
from .tree import Index

# The text of a length.
Size = Callable[[Expr], str]


def moved(start: str, step: str, index: str) -> str:
    """start + step·index."""
    factor = index if index.isidentifier() or step in ("1", "-1") else f"({index})"
    if step == "-1":
        return f"{start} - {_atom(index)}"
    term = index if step == "1" else f"{_atom(step)} * {factor}"
    return term if start == "0" else f"{term} + {start}"


def _atom(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def stretched(shape: Shape, result: Shape, index: Index) -> Index:
    """Return the index of an operand where the result has one: axes of length 1 stay at 0."""
    own = index[len(index) - len(shape) :]
    lengths = result[len(result) - len(shape) :]
    pairs = zip(shape, lengths, own, strict=True)
    return tuple(["0" if n == 1 and other != 1 else i for n, other, i in pairs])


def through(step: Instruction, shape: Shape, index: Index, size: Size) -> Index | None:
    """Map the index of an entry of a view to that of the operand; None where it isn't known."""
    rule = _RULES.get(step.op)
    return None if rule is None else rule(step, shape, index, size)


def _transpose(step: Instruction, shape: Shape, index: Index, size: Size) -> Index:
    places = dict(zip(step.params[0], index, strict=True))
    return tuple([places[axis] for axis in range(len(index))])


def _index(step: Instruction, shape: Shape, index: Index, size: Size) -> Index:
    found: list[str] = []
    rest = list(index)
    entries = list(step.params[0])
    if "..." in entries:
        place = entries.index("...")
        missing = len(shape) - sum(entry not in ("None", "...") for entry in entries)
        entries[place : place + 1] = [":"] * missing
    for entry in entries:
        if entry == "None":
            rest.pop(0)
        elif entry == ":":
            found.append(rest.pop(0))
        else:
            length = size(shape[len(found)])
            found.append(entry if int(entry) >= 0 else f"{length} - {-int(entry)}")
    return (*found, *rest)


def _cut(step: Instruction, shape: Shape, index: Index, size: Size) -> Index:
    return cut_index(step.params[0], index, size)


def cut_index(cuts: Sequence[Cut], index: Index, size: Size) -> Index:
    """Map the index of a slice to that of the array."""
    rest = list(index)
    found = []
    for cut in cuts:
        if cut is None:
            found.append(rest.pop(0))
        elif isinstance(cut, Slice):
            found.append(moved(size(cut.start), size(cut.step), rest.pop(0)))
        else:
            found.append(size(cut))
    return tuple(found)


def _diagonal(step: Instruction, shape: Shape, index: Index, size: Size) -> Index:
    labels, output = step.params[0].split("->")
    places = dict(zip(output, index, strict=True))
    return tuple([places[label] for label in labels])


def _broadcast(step: Instruction, shape: Shape, index: Index, size: Size) -> Index:
    return stretched(shape, step.shape, index)


def _windows(step: Instruction, shape: Shape, index: Index, size: Size) -> Index:
    axis, start, steps, counts = step.params
    text = size(start)
    for place, factor in enumerate(steps):
        text = moved(text, size(factor), index[axis + place])
    return (*index[:axis], text, *index[axis + len(counts) :])


def _reshape(step: Instruction, shape: Shape, index: Index, size: Size) -> Index | None:
    """Where only axes of length 1 come and go."""
    kept = [(n, i) for n, i in zip(step.shape, index, strict=True) if n != 1]
    if [n for n, _ in kept] != [n for n in shape if n != 1]:
        return None
    rest = [i for _, i in kept]
    return tuple(["0" if n == S.One else rest.pop(0) for n in shape])


_RULES: dict[str, Callable[[Instruction, Shape, Index, Size], Index | None]] = {
    "transpose": _transpose,
    "index": _index,
    "cut": _cut,
    "diagonal": _diagonal,
    "broadcast": _broadcast,
    "windows": _windows,
    "reshape": _reshape,
}
