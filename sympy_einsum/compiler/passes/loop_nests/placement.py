"""Placement: the first loops that a statement fits into, or new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from sympy import Expr

from ...ir.code import Code
from ...ir.loops import Block, Index, Loop, LoopBody

# The path to a statement: its number on the top level, within that, and so on.
Place: TypeAlias = tuple[int, ...]
# The code of a length.
Size = Callable[[Expr], Code]


@dataclass(eq=False)
class StoredValue:
    """The result of an instruction: where it is complete, the loops in which an entry of it is, the
    depths of those whose variables are its index; its name there, and the array of all entries, if
    any.

    ``order`` are its axes in the order of the array's, ``store`` stands right behind what completes
    an entry, ``allocate`` before all loops; ``is_call`` says that the array is a new one that a
    function has returned.
    """

    place: Place
    loops: Sequence[Loop] = ()
    index: Sequence[int] = ()
    name: str = ""
    array: str = ""
    order: Sequence[int] = ()
    store: Block = field(default_factory=list)
    allocate: Block = field(default_factory=list)
    is_call: bool = False

    def is_aligned(self, loop: Loop, index: Index) -> bool:
        """Tell whether an entry with an index is complete within one iteration of a loop."""
        axes = zip(self.index, index, strict=True)
        depth = loop.depth
        return loop in self.loops and any(
            own == depth and other.variable == depth for own, other in axes
        )


class Write(NamedTuple):
    """The array that a statement writes to, and the index; an item of the top level that it mustn't
    be in, and the first one that it may be in; whether it accumulates a row over outer iterations.

    What accumulates has innermost loops of its own: in one with much else, too many arrays could
    overlap for a compiler to vectorise it.
    """

    number: int = -1
    at: Index = ()
    after: int = 0
    apart: int = -1
    accumulates: bool = False


class Unplaced(NamedTuple):
    """A statement without a place: the lengths of its loops, the values that it reads and at what
    indices, and what it writes to."""

    lengths: Sequence[Expr]
    reads: Mapping[StoredValue, Sequence[Index]]
    write: Write

    def fits_innermost(self, loop: Loop, reads_inside: bool) -> bool:
        """Tell whether the statement may stand in the body of a loop as its innermost one."""
        # It is faster outside of a loop that has others in it.
        if (loop.body.has_loops and not reads_inside) or loop.accumulates != self.write.accumulates:
            return False
        return loop.writes.get(self.write.number, self.write.at) == self.write.at


class LoopTree:
    """The items on the top level: loops and other statements, each with statements behind it."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.body = LoopBody()
        self.after: list[Block] = []
        # The first item that new statements may stand in.
        self.floor = 0
        self.append([])

    def items(self) -> list[Block]:
        """Return each item, and what stands behind it."""
        pairs = zip(self.body.parts, self.after, strict=True)
        found: list[Block] = []
        for item, after in pairs:
            found += [[item], after]
        return found

    def end_part(self) -> None:
        """Let nothing that is added from now on stand in what there is."""
        (self.floor,) = self.append([])

    def append(self, item: Loop | Block) -> Place:
        """Append an item; return its place."""
        self.after.append([])
        return (self.body.add(item),)

    def new_loops(self, lengths: Sequence[Expr], depth: int = 0) -> list[Loop]:
        """Return loops inside of each other."""
        loops = [Loop(k, n, self.size(n)) for k, n in enumerate(lengths, depth)]
        for outer, inner in pairwise(loops):
            outer.body.add(inner)
        return loops

    def place(self, new: Unplaced) -> tuple[list[Loop], Place]:
        """Return the loops for a statement, outermost first, and the place of the innermost one."""
        first = max([self.floor, new.write.after, *[value.place[0] for value in new.reads]])
        for loop in self.body.loops(new.lengths[0], first):
            if loop.number != new.write.apart:
                found = self._into(loop, (loop.number,), new)
                if found is not None:
                    return found
        loops = self.new_loops(new.lengths)
        return loops, self.append(loops[0]) + (0,) * (len(loops) - 1)

    def _into(self, loop: Loop, place: Place, new: Unplaced) -> tuple[list[Loop], Place] | None:
        """Return the loops from a given one on, if a statement fits into it."""
        below = loop.depth + 1
        starts = [(value, value.place[:below]) for value in new.reads]
        if any(start > place for _, start in starts):
            return None
        inside = [value for value, start in starts if start == place]
        if not all(value.is_aligned(loop, index) for value in inside for index in new.reads[value]):
            return None
        if below == len(new.lengths):
            return ([loop], place) if new.fits_innermost(loop, bool(inside)) else None
        first = max([0, *[value.place[below] for value in inside if len(value.place) > below]])
        for inner in loop.body.loops(new.lengths[below], first):
            found = self._into(inner, (*place, inner.number), new)
            if found is not None:
                return [loop, *found[0]], found[1]
        if not inside:
            return None
        rest = self.new_loops(new.lengths[below:], below)
        return [loop, *rest], (*place, loop.body.add(rest[0]), *[0] * (len(rest) - 1))
