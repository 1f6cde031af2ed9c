"""Operands of products, and the products that a program has computed already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..core import Indices

# Intermediate products of more operands aren't looked for in other products.
MAX_REMEMBERED = 8


class Factor:
    """An operand of a product: the number of its instruction, and the index of each axis.

    For the inverse of a matrix that is only multiplied, ``solves`` is set and the number is that
    of the matrix: ``solve`` needs no inverse. ``parts`` are the operands that it is the product of.
    """

    def __init__(self, value: int, labels: Sequence[int], solves: tuple[bool] | None = None):
        self.value = value
        self.labels: Indices = tuple(labels)
        self.solves = solves
        self.parts: tuple[Factor, ...] = (self,)


class KnownProducts:
    """Intermediate products, for others that need them too."""

    def __init__(self) -> None:
        self._by_value: dict[int, list[Factor]] = {}

    def add(self, product: Factor) -> None:
        """Keep a product, unless it has too many parts."""
        if len(product.parts) <= MAX_REMEMBERED:
            first = min([part.value for part in product.parts])
            self._by_value.setdefault(first, []).append(product)

    def among(self, factors: Sequence[Factor]) -> Sequence[Factor]:
        """Products that may be those of some factors, the longest first."""
        values = Counter(factor.value for factor in factors)
        found = [product for value in sorted(values) for product in self._by_value.get(value, [])]
        found = [p for p in found if Counter(part.value for part in p.parts) <= values]
        return sorted(found, key=lambda product: -len(product.parts))
