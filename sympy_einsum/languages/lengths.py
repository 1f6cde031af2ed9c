"""Unify axis lengths: a union-find forest whose sets have one value each."""

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
    """Represent an unknown that may be unified with others: a node of a union-find forest."""

    value: V | None = None
    parent: Self | None = None

    def root(self) -> Self:
        """Return the representative of the set."""
        root = self
        while root.parent is not None:
            root = root.parent
        while self.parent is not None:
            self.parent, self = root, self.parent
        return root


@dataclass(eq=False, slots=True)
class Length(UnionFindNode[Expr]):
    """Represent an axis length."""

    # The factors of a length that is a product.
    factors: tuple[Length, ...] = ()
    # The axis that determined it, for messages.
    origin: str = ""

    def merge(self, other: Length) -> bool:
        """Unify two lengths; return False if they may differ. Products are unified by factors."""
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
        """Yield the factors."""
        for factor in self.factors:
            yield factor.root()
            yield from factor.root().parts()

    def __str__(self) -> str:
        root = self.root()
        if root.factors and root.known() is None:
            return " * ".join(map(str, root.factors))
        return "?" if root.known() is None else str(root.known())


def length_symbol(name: str) -> Symbol:
    """Return the symbol of an axis length."""
    return Symbol(name, integer=True, positive=True)


def symbols_of(
    variables: Mapping[str, Sequence[Length]],
    lengths: Sequence[Length],
    given: Mapping[str, Operand],
) -> dict[str, Operand]:
    """Return symbols for variables, those of the user where they are ``given``. Names all unknown
    ``lengths`` first."""
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
    """Assign symbols to unknown lengths, in order of preference n, m, k, …, skipping names that
    are taken."""
    used = set(taken)
    preferred = chain("nmkpqrsd", (f"n{i}" for i in count(1)))
    names = (name for name in preferred if name not in used)
    for length in lengths:
        own = length.root()
        if own.value is None and not own.factors:
            own.value = length_symbol(next(names))
