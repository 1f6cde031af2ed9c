"""In which order the operands of a product are multiplied, and what of it others have computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from sympy import Expr

from ..core import (
    Contraction,
    Indices,
    Optimizer,
    Path,
    Sizes,
    Terms,
    carried_out,
    contraction_path,
    path_cost,
)
from .factors import Factor
from .plan_builder import PlanBuilder

# Products of more operands don't look for what others have computed: each find is planned anew.
MAX_SHARED = 32


class Order(NamedTuple):
    """Operands, the product that they make, its steps, and what these cost with the reading of
    the operands."""

    factors: list[Factor]
    contraction: Contraction
    path: Path
    cost: int


class Step(NamedTuple):
    """The numbers of one or two operands and the indices of their product, of which those come
    last that the step after it sums."""

    operands: tuple[int, ...]
    output: Indices


def best_order(
    builder: PlanBuilder, factors: list[Factor], output: Indices, lengths: Mapping[int, Expr]
) -> Order:
    """The order of contraction; what an earlier product has computed is taken from there, if
    that is no dearer."""
    known = builder.products.among(factors) if 2 < len(factors) <= MAX_SHARED else ()
    # A product of all operands but one leaves two large ones: the parts of it may be better.
    shorter = [product for product in known if len(product.parts) < len(factors) - 1]
    plain = _order(builder, factors, output, lengths)
    choices = []
    for products in (known, shorter) if known else ((),):
        best = plain
        for product in products:
            replaced = _with(best.factors, product, output)
            if replaced is not None:
                found = _order(builder, replaced, output, lengths)
                best = found if found.cost <= best.cost else best
        choices.append(best)
    return min(choices, key=lambda order: order.cost)


def _order(
    builder: PlanBuilder, factors: list[Factor], output: Indices, lengths: Mapping[int, Expr]
) -> Order:
    number: dict[int, int] = {}
    terms = tuple([tuple([number.setdefault(i, len(number)) for i in f.labels]) for f in factors])
    kept = tuple([number[i] for i in output if i in number])
    contraction = Contraction(terms, kept, tuple([lengths[i] for i in number]))
    sizes = tuple([(k, builder.size(n)) for k, n in enumerate(contraction.lengths)])
    return Order(factors, contraction, *_priced(terms, kept, sizes, builder.optimize))


# The same few patterns come again and again.
@lru_cache(maxsize=4096)
def _priced(terms: Terms, output: Indices, sizes: Sizes, optimize: Optimizer) -> tuple[Path, int]:
    """The best path, and what it costs with the reading of the operands."""
    path = contraction_path(terms, output, sizes, optimize)
    size = dict(sizes)
    reading = sum(prod(size[i] for i in set(term)) for term in terms)
    return path, path_cost(terms, output, sizes, path) + reading


def _with(factors: Sequence[Factor], known: Factor, output: Indices) -> list[Factor] | None:
    """The factors with a product of some of them that is known, if it is a product of these."""
    rename: dict[int, int] = {}
    rest = list(factors)
    for part in known.parts:
        own = next((f for f in rest if f.parts == (f,) and f.value == part.value), None)
        if own is None or own.solves != part.solves:
            return None
        rest.remove(own)
        for theirs, label in zip(part.labels, own.labels, strict=True):
            if rename.setdefault(theirs, label) != label:
                return None
    if len(set(rename.values())) < len(rename):
        return None
    inner = {label for theirs, label in rename.items() if theirs not in known.labels}
    if inner & set(output).union(*[f.labels for f in rest]):
        return None
    return [*rest, Factor(known.value, [rename[i] for i in known.labels])]


def steps_of(order: Order, output: Indices) -> Iterator[Step]:
    """The steps of a product."""
    labels: list[Indices] = [factor.labels for factor in order.factors]
    count = len(labels)
    summed: dict[int, set[int]] = {}
    for number, (operands, _, kept) in enumerate(carried_out(labels, output, order.path), count):
        found = dict.fromkeys(i for k in operands for i in labels[k])
        is_last = number == count + len(order.path) - 1
        labels.append(output if is_last else tuple(i for i in found if i in kept))
        summed.update({k: set(labels[k]).difference(labels[number]) for k in operands})
    for number, operands in enumerate(order.path, count):
        own = labels[number]
        if len(operands) > 1 and len(own) > 2:
            # So that the next product takes this one as a matrix.
            own = tuple(sorted(own, key=lambda i: i in summed.get(number, ())))
        yield Step(operands, own)
