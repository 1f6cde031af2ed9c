"""The loop nest as a tree, and the placement of statements in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

# Texts of indices, one for each axis.
Index: TypeAlias = tuple[str, ...]
# Lines, and lists of such that may still grow.
Lines: TypeAlias = list["str | Lines"]
# Where something stands: the number of the item on the top level, that within this one, and so on.
Position: TypeAlias = tuple[int, ...]


@dataclass(eq=False)
class Loop:
    """A loop over an axis: what goes before it, into it and behind it; the names of entries that
    are known in it, with the part of its body from which on they are; the places of arrays that
    its own body writes to; whether these are sums over the loops around it."""

    variable: str
    length: str
    before: Lines = field(default_factory=list)
    body: list[Loop | Lines] = field(default_factory=list)
    after: Lines = field(default_factory=list)
    known: dict[tuple[int, Index], tuple[int, str]] = field(default_factory=dict)
    writes: dict[int, Index] = field(default_factory=dict)
    adds_up: bool = False

    def learn(self, number: int, index: Index, name: str) -> None:
        """Keep the name of an entry that is known from the last part of the body on."""
        self.known[number, index] = len(self.body), name

    def name_of(self, number: int, index: Index, inner: Loop | None) -> str | None:
        """Return the name of an entry at the start of a loop inside of this one, or at the end."""
        first, name = self.known.get((number, index), (0, None))
        is_later = inner is not None and self.body.index(inner) < first
        return None if is_later else name

    def text(self) -> Iterator[str]:
        """Yield the lines."""
        yield from flat(self.before)
        yield f"for {self.variable} in range({self.length}):"
        for part in self.body:
            for line in part.text() if isinstance(part, Loop) else flat(part):
                yield f"    {line}"
        yield from flat(self.after)


def flat(lines: Lines) -> Iterator[str]:
    """Yield the lines one after the other."""
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from flat(line)


@dataclass(eq=False)
class Value:
    """The result of an instruction: the loops in which an entry of it is complete, with their
    variables as indices; the position; its name there; and the array of all entries, if any.

    ``order`` are its axes in the order of the array's, ``store`` are the lines that come right
    after an entry is complete, ``allocate`` those before all loops; ``is_call`` says that the array
    is a new one that a function has returned.
    """

    position: Position
    loops: tuple[Loop, ...] = ()
    index: Index = ()
    name: str = ""
    array: str = ""
    order: tuple[int, ...] = ()
    store: Lines = field(default_factory=list)
    allocate: Lines = field(default_factory=list)
    is_call: bool = False

    def aligned(self, loop: Loop, index: Index, variable: str) -> bool:
        """Tell whether an entry with an index is complete within one turn of a loop."""
        axes = zip(self.index, index, strict=True)
        return loop in self.loops and (loop.variable, variable) in axes


class Tree:
    """The items on the top level: lines, and loops with everything in them."""

    def __init__(self) -> None:
        self.items: list[Loop | Lines] = [[]]
        self.after: list[Lines] = [[]]
        # The first item that new statements may stand in.
        self.floor = 0

    def parts(self) -> Iterator[list[str]]:
        """Yield the lines of each item, and those behind it."""
        for item, after in zip(self.items, self.after, strict=True):
            yield [*(item.text() if isinstance(item, Loop) else flat(item))]
            yield [*flat(after)]

    def end_part(self) -> None:
        """Nothing that is added from now on stands in what there is."""
        (self.floor,) = self.append([])

    def append(self, item: Loop | Lines) -> Position:
        """Return the position of a new item, which is the last."""
        self.items.append(item)
        self.after.append([])
        return (len(self.items) - 1,)

    def place(
        self, lengths: Sequence[str], reads: Mapping[Value, Sequence[Index]], target: Target
    ) -> tuple[list[Loop], Position]:
        """Return the loops for a statement, outermost first, and the position of the innermost one.
        The indices of what it reads have ``$0``, ``$1``, … for the variables of its loops."""
        fit = _Fit(lengths, reads, target)
        first = max([self.floor, target.after, *[value.position[0] for value in reads]])
        for number in range(first, len(self.items)):
            item = self.items[number]
            if isinstance(item, Loop):
                found = fit.into(item, (number,))
                if found is not None:
                    return found
        loops = new_loops(lengths)
        position = self.append(loops[0])
        return loops, position + (0,) * (len(lengths) - 1)


@dataclass
class Target:
    """The array that a statement writes to, at what index; an item that it mustn't be in, and the
    first one that it may be in; whether it adds to a row what comes from many.

    What adds up has innermost loops of its own: in one with much else, too many arrays could lie
    upon each other for a compiler to make vectors of it.
    """

    number: int = -1
    index: Index = ()
    after: int = 0
    apart: int = -1
    adds_up: bool = False


class _Fit:
    def __init__(
        self, lengths: Sequence[str], reads: Mapping[Value, Sequence[Index]], target: Target
    ):
        self.lengths = lengths
        self.reads = reads
        self.target = target

    def into(self, loop: Loop, position: Position) -> tuple[list[Loop], Position] | None:
        """Return the loops from a given one on, if they fit."""
        depth = len(position) - 1
        if loop.length != self.lengths[depth] or position[0] == self.target.apart:
            return None
        inside = False
        for value, indices in self.reads.items():
            there = value.position[: depth + 1]
            if there > position:
                return None
            if there == position:
                inside = True
                if not all(value.aligned(loop, index, f"${depth}") for index in indices):
                    return None
        if depth == len(self.lengths) - 1:
            return self._innermost(loop, position, inside)
        for number, child in enumerate(loop.body):
            if isinstance(child, Loop):
                found = self.into(child, (*position, number))
                if found is not None:
                    return [loop, *found[0]], found[1]
        if not inside:
            return None
        rest = new_loops(self.lengths[depth + 1 :], depth + 1)
        loop.body.append(rest[0])
        below = (len(loop.body) - 1,) + (0,) * (len(rest) - 1)
        return [loop, *rest], (*position, *below)

    def _innermost(
        self, loop: Loop, position: Position, inside: bool
    ) -> tuple[list[Loop], Position] | None:
        has_loops = any(isinstance(part, Loop) for part in loop.body)
        if (has_loops and not inside) or loop.adds_up != self.target.adds_up:
            return None  # alone it is faster
        number, index = self.target.number, self.target.index
        depth = len(position)
        variables = {f"${k}": f"i{k}" for k in range(depth)}
        if loop.writes.get(number, named := renamed(index, variables)) != named:
            return None
        return [loop], position


def renamed(index: Index, variables: Mapping[str, str]) -> Index:
    """Indices with other variables."""
    return tuple([re.sub(r"\$\d+", lambda found: variables[found[0]], own) for own in index])


def new_loops(lengths: Sequence[str], depth: int = 0) -> list[Loop]:
    """Loops inside of each other."""
    loops = [Loop(f"i{depth + k}", length) for k, length in enumerate(lengths)]
    for outer, inner in pairwise(loops):
        outer.body.append(inner)
    return loops
