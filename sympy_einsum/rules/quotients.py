"""Rules for quotients: a product over itself is a one, also where it isn't written as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis import (
    Barriers,
    Product,
    components,
    inlined_product,
    is_denominator,
    pays,
    scalar_and_tensor,
)
from ..core import tuning
from ..expressions import Operand, scale
from .powers import power_of


def cancel_quotient(node: Operand, barriers: Barriers) -> Operand | None:
    """Cancel a divisor of a product against its factors: Σ_j A_ij s_j / (A s)_i = 1."""
    product = inlined_product(node)
    for k, operand in enumerate(product.operands):
        if not is_denominator(operand):
            continue
        multiple, exponent = operand.as_entry_power()
        scalar, base = scalar_and_tensor(multiple)
        for part, rest in _parts(base):
            if rest is not None and not exponent.is_Integer:
                continue
            names = dict(zip(base.output, product.subscripts[k], strict=True))
            found = next(_matching_places(part, product, k, names), None)
            if found is None:
                continue
            places, names = found
            if exponent.is_Integer:
                left, outside = [(part.build(), exponent + 1, part.output)], scalar**exponent
                left += [] if rest is None else [(rest.build(), exponent, rest.output)]
            else:  # x (c x)^e = (c x)^(e + 1) / c
                left, outside = [(multiple, exponent + 1, part.output)], 1 / scalar
            new = [(power_of(b, e), [names[i] for i in labels]) for b, e, labels in left if e != 0]
            inner = set(names.values()).difference(product.subscripts[k])
            result = scale(outside, product.replaced({k, *places}, new, absorbed=inner).build())
            if pays(result, node, barriers, made=[operand]):
                return result
    return None


def _parts(base: Operand) -> Iterator[tuple[Product, Product | None]]:
    """Yield a product, and each factor of it that shares no summed index with the others, with the
    others."""
    whole = inlined_product(base)
    if len(whole.operands) > tuning.MAX_DENOMINATOR_FACTORS:
        return
    yield whole, None
    groups = components([{*t}.difference(whole.output) for t in whole.subscripts])
    for group in groups if len(groups) > 1 else ():
        others = [k for k in range(len(whole.operands)) if k not in group]
        yield _factor(whole, group), _factor(whole, others)


def _factor(product: Product, group: Sequence[int]) -> Product:
    subscripts = tuple([product.subscripts[k] for k in group])
    output = tuple([i for i in product.output if any(i in term for term in subscripts)])
    operands = tuple([product.operands[k] for k in group])
    return Product((), operands, subscripts, output, product.lengths)


def _matching_places(
    part: Product, product: Product, own: int, names: dict[int, int]
) -> Iterator[tuple[tuple[int, ...], dict[int, int]]]:
    """Return the positions in a product of the factors of a part of a denominator, with the
    product's names of its indices; those that the part sums over occur nowhere else."""
    inner = {i for term in part.subscripts for i in term}.difference(part.output)

    def search(
        k: int, places: tuple[int, ...], names: dict[int, int]
    ) -> Iterator[tuple[tuple[int, ...], dict[int, int]]]:
        if k == len(part.operands):
            bound = {names[i] for i in inner}
            if len(bound) == len(inner) and product.is_private(bound, places):
                yield places, names
            return
        for j, operand in enumerate(product.operands):
            if operand is not part.operands[k] or j in places or j == own:
                continue
            pairs = dict(zip(part.subscripts[k], product.subscripts[j], strict=True))
            repeats = len(pairs) < len(part.subscripts[k])
            if not repeats and all(names.get(i, at) == at for i, at in pairs.items()):
                yield from search(k + 1, (*places, j), {**names, **pairs})

    return search(0, (), names)
