"""Differences of all rows from all others, beside factors that may be huge where rows coincide.

The second derivative of a function of distances has such products. A sweep differentiates the two
terms of a difference separately, and their exact cancellation becomes a rounding error times
something huge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from sympy import Add, Expr, S

from ..analysis import Product, inlined_product, is_difference_of_rows, with_common_output
from ..core import masked, postorder, same_length, transform, tuning
from ..expressions import (
    Delta,
    Einsum,
    Elementwise,
    Ones,
    Operand,
    Slot,
    TensorAdd,
    Zeros,
    apply_body,
    contract,
    fill_value,
    is_literal,
    rebuild,
    scale,
    shape_of,
    slot,
    tensor_sum,
)


def with_exact_zeros(y: Operand, wrt: Collection[Operand]) -> Operand:
    """Keep the zeros of differences of rows exact in the derivative of an expression by variables.

    Beside a factor X_i - X_j the other factors don't matter at i = j: those that may be huge are
    masked there. Of X_i W - X_j W beside such a factor W is taken out, so that the derivative by W
    has the factor X_i - X_j, which is 0 wherever rows coincide.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> d = x[:, None] - x[None, :]
    >>> y = (d / se.sqrt(d**2 + se.Ones(3, 3) / 10**9)).sum(axis=0)
    >>> "masked" in str(with_exact_zeros(y, [x]))
    True
    """
    order = postorder([y])
    if not any(_depends_on_variable(node, wrt) for node in order):
        return y
    products = [inlined_product(node) for node in order if type(node) is Einsum]
    found = {difference for p in products for difference, _, _ in _huge_factors(p, wrt)}
    if not found:
        return y

    def rewrite(node: Operand, below: tuple[Operand, ...]) -> Operand:
        new = rebuild(node, below)
        if node in found:
            return _without_common_factors(new, wrt)
        return _masked(new, wrt) if type(new) is Einsum else new

    return transform([y], rewrite)[0]


def splits_differences(y: Operand, wrt: Sequence[Operand]) -> bool:
    """Tell whether reverse mode splits differences whose rows share variables.

    The forward mode doesn't. By scalars it is as short; by tensors it is longer, which pays beside
    huge factors only.
    """
    order = postorder([y])
    has_differences = any(_depends_on_variable(node, wrt) for node in order)
    if not has_differences or not any(map(shape_of, wrt)):
        return has_differences
    products = [inlined_product(node) for node in order if type(node) is Einsum]
    found = [(p, *own) for p in products for own in _huge_factors(p, wrt)]
    for product, difference, k, (first, _) in found:
        rows = product.operands[k].shape[first]
        variables = difference.free_symbols.intersection(wrt)
        if not all(any(same_length(rows, n) for n in shape_of(v)) for v in variables):
            return True
    return False


def _depends_on_variable(node: Operand, wrt: Collection[Operand]) -> bool:
    """Tell whether a node is a difference of rows that depends on a variable."""
    is_difference = isinstance(node, TensorAdd) and is_difference_of_rows(node)
    return is_difference and not node.free_symbols.isdisjoint(wrt)


def _huge_factors(
    product: Product, wrt: Collection[Operand]
) -> Iterator[tuple[TensorAdd, int, tuple[int, int]]]:
    """Yield the differences in a product that depend on a variable, with the place of each factor
    that may be huge where they are 0, and the axes of that on which they are 0."""
    huge = [k for k, operand in enumerate(product.operands) if _may_be_huge(operand)]
    if not huge:
        return
    for difference, labels in zip(product.operands, product.subscripts, strict=True):
        if not isinstance(difference, TensorAdd) or not _depends_on_variable(difference, wrt):
            continue
        for k in huge:
            own = product.subscripts[k]
            shared = [(p, labels.index(i)) for p, i in enumerate(own) if labels.count(i) == 1]
            for (p, first), (q, second) in combinations(shared, 2):
                if _vanishes(difference, first, second):
                    yield difference, k, (p, q)


def _may_be_huge(operand: Operand) -> bool:
    """Tell whether a factor has a negative power of what may be next to 0, or is masked as such."""
    if not isinstance(operand, Elementwise):
        return False
    if operand.body.has(masked):
        return True
    powers = [part for part in postorder([operand.body]) if part.is_Pow and part.exp.is_negative]
    return any(_constant_term(power.base, operand.operands) < tuning.LEAST_BASE for power in powers)


def _constant_term(base: Expr, operands: Sequence[Operand]) -> Expr:
    """Return the number in a sum, a lower bound of the base of a power if the rest are squares."""
    terms: Sequence[Operand] = Add.make_args(base)
    if isinstance(base, Slot) and isinstance(operands[base.place], TensorAdd):
        terms = [fill_value(term) for term in operands[base.place].operands]
    return Add(*[term for term in terms if is_literal(term)])


def _vanishes(difference: TensorAdd, first: int, second: int) -> bool:
    """Tell whether a difference is 0 where two of its axes are equal."""
    shape = difference.shape
    if not same_length(shape[first], shape[second]):
        return False
    labels = [first if axis == second else axis for axis in range(difference.order)]
    output = [axis for axis in labels if labels.count(axis) == 1 or axis == first]
    lengths = {axis: shape[axis] for axis in labels}
    unique = list(dict.fromkeys(output))
    terms = [contract((o,), (labels,), unique, lengths) for o in difference.operands]
    return isinstance(tensor_sum(terms), Zeros)


def _masked(node: Einsum, wrt: Collection[Operand]) -> Operand:
    """Mask the huge factors of a product where a difference in it is 0."""
    product = inlined_product(node)
    for _, k, (p, q) in list(_huge_factors(product, wrt)):
        factor = product.operands[k]
        if isinstance(factor, Elementwise) and not factor.body.has(masked):
            lengths = dict(enumerate(factor.shape))
            diagonal = contract((Delta(factor.shape[p]),), ((p, q),), [*lengths], lengths)
            weights = tensor_sum([Ones(*factor.shape), scale(S.NegativeOne, diagonal)])
            new = apply_body(masked(slot(0), slot(1)), (weights, factor))
            operands = (*product.operands[:k], new, *product.operands[k + 1 :])
            product = replace(product, operands=operands)
    return node if product is inlined_product(node) else product.build()


def _without_common_factors(total: TensorAdd, wrt: Collection[Operand]) -> Operand:
    """Take out of a difference of rows the factors that all terms have in common, if one of these
    depends on a variable."""
    axes = range(total.order)
    terms = [with_common_output(inlined_product(term)) for term in total.operands]
    labelled = [
        {
            (own, tuple([i if i >= 0 else None for i in labels])): k
            for k, (own, labels) in enumerate(zip(term.operands, term.subscripts, strict=True))
        }
        for term in terms
    ]
    common = [key for key in labelled[0] if all(key in own for own in labelled)]
    if all(own.free_symbols.isdisjoint(wrt) for own, _ in common):
        return total
    lengths = dict(enumerate(total.shape))
    forms, rests = set(), []
    for term, own in zip(terms, labelled, strict=True):
        places = [own[key] for key in common]
        left = [k for k in range(len(term.operands)) if k not in places]
        # Summed indices by the order in which the common factors have them.
        inner = dict.fromkeys(i for k in places for i in term.subscripts[k] if i < 0)
        names = dict(zip(inner, range(total.order, total.order + len(inner)), strict=True))
        lengths.update((name, term.lengths[i]) for i, name in names.items())
        taken = tuple([tuple([names.get(i, i) for i in term.subscripts[k]]) for k in places])
        present = {i for k in left for i in term.subscripts[k]}
        shared = [i for i in inner if i in present]
        forms.add((taken, tuple([names[i] for i in shared])))
        rests.append((term, left, present, shared))
    if len(forms) > 1 or any(term.output != tuple(axes) for term in terms):
        return total
    ((taken, bound),) = forms
    covered = {i for labels in taken for i in labels}
    kept = [i for i in axes if i not in covered or any(i in present for *_, present, _ in rests)]
    built = [term.part(left, [*kept, *shared], term.scalars) for term, left, _, shared in rests]
    factors = [own for own, _ in common]
    return contract([tensor_sum(built), *factors], [(*kept, *bound), *taken], axes, lengths)
