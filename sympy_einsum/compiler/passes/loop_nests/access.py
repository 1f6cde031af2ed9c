"""Access functions: which entry of its operands an entry of a value comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr, Integer, S

from ....core import Shape
from ...ir.instruction_rules import AxisPart, Instruction, Slice
from ...ir.loops import FIRST, Affine, GatheredIndex, Index, MinMax, affine, fixed, of_atom

# A value and the index of an entry.
Access = tuple[int, Index]


def broadcast_index(shape: Shape, result: Shape, index: Index) -> Index:
    """Return the index of an operand where the result has one: axes of length 1 stay at 0."""
    own = index[len(index) - len(shape) :]
    lengths = result[len(result) - len(shape) :]
    pairs = zip(shape, lengths, own, strict=True)
    return tuple([FIRST if n == 1 and other != 1 else i for n, other, i in pairs])


# --- views ----------------------------------------------------------------------------------------


def through(step: Instruction, shape: Shape, index: Index) -> Index | None:
    """Map the index of an entry of a view to that of the operand; None for what is no view of
    single entries."""
    rule = _VIEWS.get(step.op)
    return None if rule is None else rule(step, shape, index)


def _transpose(step: Instruction, shape: Shape, index: Index) -> Index:
    places = dict(zip(step.params[0], index, strict=True))
    return tuple([places[axis] for axis in range(len(index))])


def _index(step: Instruction, shape: Shape, index: Index) -> Index:
    found: list[Affine] = []
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
            position = Integer(entry)
            found.append(fixed(position if position >= 0 else shape[len(found)] + position))
    return (*found, *rest)


def sliced_index(slices: Sequence[AxisPart], index: Index) -> Index:
    """Map the index of a slice to that of the array."""
    rest = iter(index)
    return tuple(
        [
            next(rest)
            if part is None
            else affine(part.start, [(part.step, next(rest))])
            if isinstance(part, Slice)
            else fixed(part)
            for part in slices
        ]
    )


def _diagonal(step: Instruction, shape: Shape, index: Index) -> Index:
    labels, output = step.params[0].split("->")
    places = dict(zip(output, index, strict=True))
    return tuple([places[label] for label in labels])


def _windows(step: Instruction, shape: Shape, index: Index) -> Index:
    axis, start, steps, counts = step.params
    end = axis + len(counts)
    place = affine(start, [*zip(steps, index[axis:end], strict=True)])
    return (*index[:axis], place, *index[end:])


def _reshape(step: Instruction, shape: Shape, index: Index) -> Index | None:
    """Index through a reshape where only axes of length 1 come and go."""
    kept = [(n, i) for n, i in zip(step.shape, index, strict=True) if n != 1]
    if [n for n, _ in kept] != [n for n in shape if n != 1]:
        return None
    rest = iter([i for _, i in kept])
    return tuple([FIRST if n == S.One else next(rest) for n in shape])


_VIEWS: dict[str, Callable[[Instruction, Shape, Index], Index | None]] = {
    "transpose": _transpose,
    "index": _index,
    "slice": lambda step, shape, index: sliced_index(step.params[0], index),
    "diagonal": _diagonal,
    "broadcast": lambda step, shape, index: broadcast_index(shape, step.shape, index),
    "windows": _windows,
    "reshape": _reshape,
}

# --- entrywise instructions -----------------------------------------------------------------------


def positions_at(
    arrays: Sequence[int],
    shapes: Sequence[Shape],
    shape: Shape,
    index: Index,
    lengths: Sequence[Expr],
) -> tuple[list[Access], list[Affine]]:
    """Return the entries of arrays of positions, which broadcast to a shape, at an index; and these
    as indices of axes of some lengths."""
    entries = [
        (k, broadcast_index(own, shape, index)) for k, own in zip(arrays, shapes, strict=True)
    ]
    return entries, [
        of_atom(GatheredIndex(k, own, length))
        for (k, own), length in zip(entries, lengths, strict=False)
    ]


def operands_at(step: Instruction, shapes: Sequence[Shape], index: Index) -> list[Access]:
    """Return the entries of the operands that an entry of an entrywise instruction is computed
    from; of gathered entries the last one, with the positions before it."""
    rule = ENTRYWISE.get(step.op)
    if rule is not None:
        return rule(step, shapes, index)
    pairs = zip(step.inputs, shapes, strict=True)
    return [(k, broadcast_index(own, step.shape, index)) for k, own in pairs]


def _of_labels(step: Instruction, shapes: Sequence[Shape], index: Index) -> list[Access]:
    terms, output = step.params[0].split("->")
    at = dict(zip(output, index, strict=True))
    pairs = zip(step.inputs, terms.split(","), strict=True)
    return [(k, tuple([at[label] for label in term])) for k, term in pairs]


def _mirrored(step: Instruction, shapes: Sequence[Shape], index: Index) -> list[Access]:
    place = MinMax("max" if step.params[0] else "min", index[-2], index[-1])
    return [(step.inputs[0], (*index[:-2], of_atom(place)))]


def _take(step: Instruction, shapes: Sequence[Shape], index: Index) -> list[Access]:
    source, *positions = step.inputs
    (first,) = step.params
    order = len(step.shape) - (len(shapes[0]) - len(positions))
    end = first + order
    entries, places = positions_at(
        positions, shapes[1:], step.shape[first:end], index[first:end], shapes[0][first:]
    )
    return [*entries, (source, (*index[:first], *places, *index[end:]))]


# Entrywise instructions besides those with a body, and contractions that sum nothing.
ENTRYWISE: dict[str, Callable[[Instruction, Sequence[Shape], Index], list[Access]]] = {
    "einsum": _of_labels,
    "full": lambda step, shapes, index: [(step.inputs[0], ())],
    "tri": lambda step, shapes, index: [],
    "range": lambda step, shapes, index: [],
    "triangular": lambda step, shapes, index: [(step.inputs[0], index)],
    "mirrored": _mirrored,
    "one_hot": lambda step, shapes, index: [(step.inputs[0], index[:-1])],
    "take": _take,
}
