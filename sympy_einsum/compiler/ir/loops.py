"""Loop nests before they become statements: affine indices, loops, allocations.

>>> from sympy import Symbol
>>> reversed_axis = affine(Symbol("n") - 1, [(S.NegativeOne, variable(0))])
>>> affine(S.One, [(S(2), reversed_axis)])
Affine(terms=((LoopVariable(depth=0), -2),), offset=2*n - 1)
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from sympy import Expr, S

from .code import Code, call, name, quote

# Atoms and affine indices hold each other.
Index: TypeAlias = "tuple[Affine, ...]"
Atom: TypeAlias = "LoopVariable | MinMax | GatheredIndex"


class LoopVariable(NamedTuple):
    """The variable of the loop at some depth; of an axis without a loop yet, by its number."""

    depth: int


class MinMax(NamedTuple):
    """The smaller or larger of two indices."""

    function: str
    first: Affine
    second: Affine


class GatheredIndex(NamedTuple):
    """A position on an axis of some length that is an entry of an array: the number of the value
    that holds it, and the index there."""

    number: int
    at: Index
    length: Expr


class Affine(NamedTuple):
    """An index of one axis: atoms with their coefficients, and an offset."""

    terms: tuple[tuple[Atom, Expr], ...]
    offset: Expr = S.Zero

    @property
    def variable(self) -> int | None:
        """The depth of the loop whose variable this is; None for anything else."""
        if len(self.terms) != 1 or self.offset is not S.Zero:
            return None
        atom, coefficient = self.terms[0]
        return atom.depth if isinstance(atom, LoopVariable) and coefficient == 1 else None

    @property
    def depth(self) -> int:
        """The number of loops that it is invariant outside of."""
        return max([_depth(atom) for atom, _ in self.terms], default=0)

    def on(self, variables: Sequence[Affine]) -> Affine:
        """Return the index with others in place of the variables."""
        parts = [(coefficient, _on(atom, variables)) for atom, coefficient in self.terms]
        return affine(self.offset, parts)


def _depth(atom: Atom) -> int:
    if isinstance(atom, LoopVariable):
        return atom.depth + 1
    return depth_of(atom.at if isinstance(atom, GatheredIndex) else (atom.first, atom.second))


def _on(atom: Atom, variables: Sequence[Affine]) -> Affine:
    if isinstance(atom, LoopVariable):
        return variables[atom.depth]
    if isinstance(atom, GatheredIndex):
        return of_atom(atom._replace(at=index_on(atom.at, variables)))
    return of_atom(MinMax(atom.function, atom.first.on(variables), atom.second.on(variables)))


def depth_of(index: Index) -> int:
    """Return the number of loops that an index of several axes needs."""
    return max([own.depth for own in index], default=0)


def index_on(index: Index, variables: Sequence[Affine]) -> Index:
    """Return an index of several axes with others in place of the variables."""
    return tuple([own.on(variables) for own in index])


def of_atom(atom: Atom) -> Affine:
    """Return an atom alone."""
    return Affine(((atom, S.One),))


@lru_cache(maxsize=64)
def variable(depth: int) -> Affine:
    """Return the variable of a loop."""
    return of_atom(LoopVariable(depth))


def variables(count: int) -> Index:
    """Return the variables of the outermost loops, or of axes without loops yet."""
    return tuple([variable(k) for k in range(count)])


def fixed(length: Expr) -> Affine:
    """Return an index that is invariant."""
    return Affine((), length)


FIRST = fixed(S.Zero)


def affine(start: Expr, parts: Sequence[tuple[Expr, Affine]]) -> Affine:
    """Return start + Σ step·index."""
    terms: dict[Atom, Expr] = {}
    for step, index in parts:
        start = start + step * index.offset
        for atom, coefficient in index.terms:
            terms[atom] = terms.get(atom, S.Zero) + step * coefficient
    return Affine(tuple(terms.items()), start)


# --- statements -----------------------------------------------------------------------------------

# Statements, loops, and lists of such that may still grow.
Block: TypeAlias = "list[ast.stmt | Loop | Block]"
# An entry of a value, or a position, and the index of either.
Key: TypeAlias = "tuple[int, Index] | GatheredIndex"


class Allocate(ast.Assign):
    """The allocation of an array whose entries are all written before they are read."""

    def __init__(self, array: str, shape: Sequence[Code], kind: Code):
        super().__init__([name(array)], quote("empty({0}, {1})", [*shape], kind))
        self.array = array
        self.shape = shape
        self.kind = kind


@lru_cache(maxsize=64)
def variable_name(depth: int) -> Code:
    """Return the variable of a loop as code."""
    return name(f"i{depth}")


class LoopBody:
    """Loops and other statements in order."""

    def __init__(self) -> None:
        self.parts: list[Loop | Block] = []
        self._loops: defaultdict[Expr, list[int]] = defaultdict(list)

    def add(self, part: Loop | Block) -> int:
        """Append a part; return its number."""
        number = len(self.parts)
        if isinstance(part, Loop):
            part.number = number
            self._loops[part.length].append(number)
        self.parts.append(part)
        return number

    @property
    def has_loops(self) -> bool:
        """Whether any part is a loop."""
        return bool(self._loops)

    def loops(self, length: Expr, first: int) -> Iterator[Loop]:
        """Yield the loops over a length, from some part on."""
        numbers = self._loops.get(length, ())
        for number in numbers[bisect_left(numbers, first) :]:
            loop = self.parts[number]
            assert isinstance(loop, Loop)
            yield loop


@dataclass(eq=False)
class Loop:
    """A loop over an axis with what stands before it and behind it; its number among the parts of
    the body that it is in.

    ``known`` are the names of entries in it, with the first part of the body that may use them;
    ``writes`` the indices of arrays that its innermost statements write to; ``accumulates`` says
    that these add to entries that outer loops come back to.
    """

    depth: int
    length: Expr
    bound: Code
    number: int = 0
    before: Block = field(default_factory=list)
    body: LoopBody = field(default_factory=LoopBody)
    after: Block = field(default_factory=list)
    known: dict[Key, tuple[int, Code]] = field(default_factory=dict)
    writes: dict[int, Index] = field(default_factory=dict)
    accumulates: bool = False

    def learn(self, key: Key, own: Code) -> None:
        """Keep the name of an entry for the parts of the body from here on."""
        self.known[key] = len(self.body.parts), own

    def name_of(self, key: Key, inner: Loop | None) -> Code | None:
        """Return the name of an entry at the start of a loop inside of this one, or at the end."""
        first, own = self.known.get(key, (0, None))
        return None if inner is not None and inner.number < first else own

    def statements(self) -> Iterator[ast.stmt]:
        """Yield the statements of the loop and around it."""
        yield from statements_of(self.before)
        body = [statement for part in self.body.parts for statement in statements_of(part)]
        yield ast.For(variable_name(self.depth), call("range", self.bound), body, [])
        yield from statements_of(self.after)


def statements_of(part: ast.stmt | Loop | Block) -> Iterator[ast.stmt]:
    """Yield the statements of a part, one after the other."""
    if isinstance(part, ast.stmt):
        yield part
    elif isinstance(part, Loop):
        yield from part.statements()
    else:
        for own in part:
            yield from statements_of(own)
