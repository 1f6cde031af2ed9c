"""The order of a product within a program, where results of earlier products may be reused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from sympy import Expr

from ..core import Indices, tuning
from .costs import Contraction, Path, contraction_steps
from .factors import Factor, KnownProducts
from .search import Optimizer, contiguous_path

Lengths = Mapping[int, Expr]


class ProductContext(Protocol):
    """The program that a product is part of.

    Attributes
    ==========

    size : the number that an axis length counts as
    optimize : how opt_einsum finds orders
    products : the products that the program has computed
    """

    @property
    def size(self) -> Callable[[Expr], int]: ...

    @property
    def optimize(self) -> Optimizer: ...

    @property
    def products(self) -> KnownProducts: ...

    def is_nonnegative(self, value: int) -> bool:
        """Tell whether no entry of a value can be negative."""

    def use_count(self, value: int) -> int:
        """Count how often a value is used, 1 if that isn't known."""


class Order(NamedTuple):
    """Operands, the product that they make, its path, and its cost with the reading of the
    operands."""

    factors: list[Factor]
    contraction: Contraction
    path: Path
    cost: int

    def steps(self, output: Indices) -> Iterator[ContractionStep]:
        """Yield the steps of the product."""
        labels: list[Indices] = [factor.labels for factor in self.factors]
        count = len(labels)
        summed: dict[int, set[int]] = {}
        for number, (operands, _, kept) in enumerate(
            contraction_steps(labels, output, self.path), count
        ):
            found = dict.fromkeys(i for k in operands for i in labels[k])
            is_last = number == count + len(self.path) - 1
            labels.append(output if is_last else tuple(i for i in found if i in kept))
            summed.update({k: set(labels[k]).difference(labels[number]) for k in operands})
        for number, operands in enumerate(self.path, count):
            own = labels[number]
            if len(operands) > 1 and len(own) > 2:
                # The next product then takes this one as a matrix.
                own = tuple(sorted(own, key=lambda i: i in summed.get(number, ())))
            yield ContractionStep(operands, own)


class ContractionStep(NamedTuple):
    """The numbers of one or two operands and the indices of their product, of which those come
    last that the step after it sums."""

    operands: tuple[int, ...]
    output: Indices


def best_order(
    program: ProductContext, factors: list[Factor], output: Indices, lengths: Lengths
) -> Order:
    """Find the contraction order; results of earlier products are reused where that costs no
    more."""
    plain = order_of_factors(program, factors, output, lengths)
    if not 2 < len(factors) <= tuning.MAX_REUSING_OPERANDS:
        return plain
    # A product of all operands but one leaves two large ones: the parts of it may be better.
    choices = [_reusing(program, plain, output, lengths, left) for left in (0, 2)]
    return min(choices, key=lambda order: order.cost)


def _reusing(
    program: ProductContext, order: Order, output: Indices, lengths: Lengths, left: int
) -> Order:
    """Replace parts of a product by known values where the order costs no more for it; at least
    ``left`` operands remain."""
    most = len(order.factors) - left
    for product in program.products.among(order.factors) if most > 1 else ():
        if len(product.parts) > most:
            continue
        replaced = replace_product(order.factors, product, output)
        if replaced is not None:
            found = order_of_factors(program, replaced, output, lengths)
            if found.cost <= order.cost:
                return _reusing(program, found, output, lengths, left)
    return order


def order_of_factors(
    program: ProductContext, factors: list[Factor], output: Indices, lengths: Lengths
) -> Order:
    """Find the contraction order that reuses nothing."""
    number: dict[int, int] = {}
    terms = tuple([tuple([number.setdefault(i, len(number)) for i in f.labels]) for f in factors])
    kept = tuple([number[i] for i in output if i in number])
    contraction = Contraction(terms, kept, tuple([lengths[i] for i in number]))
    sizes = tuple([(k, program.size(n)) for k, n in enumerate(contraction.lengths)])
    return Order(factors, contraction, *contiguous_path(terms, kept, sizes, program.optimize))


def replace_product(
    factors: Sequence[Factor], known: Factor, output: Indices
) -> list[Factor] | None:
    """Replace some of the factors by a known product of them; None if it isn't one."""
    mine, theirs = [Counter(i for f in own for i in {*f.labels}) for own in (factors, known.parts)]
    mine.update({*output})
    # Indices that the product sums occur in its parts only.
    inner = {i: count for i, count in theirs.items() if i not in known.labels}

    def fits(i: int, other: int) -> bool:
        return i not in inner or mine[other] == inner[i]

    found = next(_matches(known.parts, factors, {}, fits), None)
    if found is None:
        return None
    used, rename = found
    rest = [factor for factor in factors if factor not in used]
    return [Factor(known.value, [rename[i] for i in known.labels]), *rest]


def _matches(
    parts: Sequence[Factor],
    factors: Sequence[Factor],
    rename: Mapping[int, int],
    fits: Callable[[int, int], bool],
) -> Iterator[tuple[list[Factor], Mapping[int, int]]]:
    """Yield the ways to find parts among factors: these, and which index each index is, where these
    two fit."""
    if not parts:
        yield [], rename
        return
    first, *others = parts
    for own in factors:
        if own.value != first.value or own.solves != first.solves:
            continue
        pairs = list(zip(first.labels, own.labels, strict=True))
        renamed = {**rename, **dict(pairs)}
        # An index on two axes is on both of them the same.
        is_one = all(renamed[i] == k for i, k in (*rename.items(), *pairs))
        if (
            is_one
            and len({*renamed.values()}) == len(renamed)
            and all(fits(*pair) for pair in pairs)
        ):
            rest = [factor for factor in factors if factor is not own]
            for used, found in _matches(others, rest, renamed, fits):
                yield [own, *used], found
