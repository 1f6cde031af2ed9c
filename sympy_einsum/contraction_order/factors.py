"""Operands of products, and the products that a program has already computed."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import Indices, tuning


class Factor:
    """An operand of a product: the number of its instruction, and the index of each axis.

    For the inverse of a matrix that is only multiplied, ``solves`` holds what is known of its
    definiteness and the number is that of the matrix: ``solve`` needs no inverse; for one of a
    sparse matrix it is ``("sparse",)``, and the number that of factors. ``parts`` are the operands
    that it is the product of.
    """

    def __init__(
        self, value: int, labels: Sequence[int], solves: tuple[bool | str | None] | None = None
    ):
        self.value = value
        self.labels: Indices = tuple(labels)
        self.solves = solves
        self.parts: tuple[Factor, ...] = (self,)


class _Known:
    """The products of some values, and those of these and one more, which is no smaller."""

    def __init__(self) -> None:
        self.products: list[tuple[int, Factor]] = []
        self.longer: dict[int, _Known] = {}


class KnownProducts:
    """Intermediate products, for others that need them too."""

    def __init__(self) -> None:
        self._root = _Known()
        self._count = 0

    def add(self, product: Factor) -> None:
        """Keep a product, unless it has too many parts."""
        if len(product.parts) <= tuning.MAX_REUSED_OPERANDS:
            known = self._root
            for value in sorted([part.value for part in product.parts]):
                known = known.longer.setdefault(value, _Known())
            known.products.append((self._count, product))
            self._count += 1

    def among(self, factors: Sequence[Factor]) -> Sequence[Factor]:
        """Products that may be those of some factors, the longest first."""
        values = sorted([factor.value for factor in factors])
        found: list[tuple[int, int, int, Factor]] = []
        # The products of some values, and the number of values already examined.
        pending = [(self._root, 0)]
        while pending:
            known, first = pending.pop()
            for place in range(first, len(values)) if known.longer else ():
                value = values[place]
                if value in known.longer and (place == first or value != values[place - 1]):
                    pending.append((known.longer[value], place + 1))
            for number, product in known.products:
                least = min([part.value for part in product.parts])
                found.append((-len(product.parts), least, number, product))
        return [product for *_, product in sorted(found, key=lambda own: own[:3])]
