"""Axis lengths that inference finds to be equal: a forest of sets with one value each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from math import prod
from typing import Generic, Self, TypeVar

from sympy import Expr, Symbol

from ..core import same_length
from ..expressions import Operand, TensorSymbol

V = TypeVar("V")


@dataclass(eq=False, slots=True)
class UnionFindNode(Generic[V]):
    """Something that may turn out to be another's: a node of a union-find forest."""

    value: V | None = None
    parent: Self | None = None

    def root(self) -> Self:
        """Return the representative of all that are equal to this one."""
        root = self
        while root.parent is not None:
            root = root.parent
        while self.parent is not None:
            self.parent, self = root, self.parent
        return root


@dataclass(eq=False, slots=True)
class Length(UnionFindNode[Expr]):
    """An axis length."""

    # Lengths of which it is the product.
    factors: tuple[Length, ...] = ()
    # The axis that it is known from, for messages.
    origin: str = ""

    def merge(self, other: Length) -> bool:
        """Make two lengths equal; False if they aren't known to be. Products are equal if their
        factors are."""
        a, b = self.root(), other.root()
        if a is b:
            return True
        one, two = a.known(), b.known()
        if one is not None and two is not None:
            return same_length(one, two)
        if a.factors and b.factors:
            return all(map(Length.merge, a.factors, b.factors))
        if one is None and not a.factors:
            a, b = b, a
        if b.value is not None or b.factors or b in a.parts():
            return False
        b.parent = a
        return True

    def known(self) -> Expr | None:
        """Return the value, if it is known."""
        root = self.root()
        if not root.factors:
            return root.value
        values = [value for factor in root.factors if (value := factor.known()) is not None]
        return prod(values) if len(values) == len(root.factors) else None

    def parts(self) -> Iterator[Length]:
        """Yield the lengths of which the product is made."""
        for factor in self.factors:
            yield factor.root()
            yield from factor.root().parts()

    def __str__(self) -> str:
        root = self.root()
        if root.factors and root.known() is None:
            return " * ".join(map(str, root.factors))
        return "?" if root.known() is None else str(root.known())


def length_symbol(name: str) -> Symbol:
    """Return the symbol that stands for an axis length."""
    return Symbol(name, integer=True, positive=True)


def symbols_of(
    variables: Mapping[str, Sequence[Length]],
    lengths: Sequence[Length],
    given: Mapping[str, Operand],
) -> dict[str, Operand]:
    """Return the symbols of variables with some axes, those that the user has already if they are
    ``given``. All ``lengths`` that stayed unknown get names first."""
    values = [length.value for length in lengths if length.value is not None]
    taken = {symbol.name for length in values for symbol in length.free_symbols}
    name_lengths(lengths, taken | variables.keys())
    symbols: dict[str, Operand] = {}
    for name, axes in variables.items():
        shape = tuple([length.known() for length in axes])
        new = TensorSymbol(name, shape) if shape else Symbol(name, real=True)
        symbols[name] = given.get(name, new)
    return symbols


def name_lengths(lengths: Iterable[Length], taken: Iterable[str]) -> None:
    """Give lengths that stayed unknown symbols, in order of preference n, m, k, …, whose names
    nothing else has."""
    used = set(taken)
    names = (name for name in _preferred() if name not in used)
    for length in lengths:
        own = length.root()
        if own.value is None and not own.factors:
            own.value = length_symbol(next(names))


def _preferred() -> Iterator[str]:
    return chain("nmkpqrsd", (f"n{i}" for i in count(1)))
