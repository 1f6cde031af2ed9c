"""Labels of axes: merging, numbering, canonical order of operands, inlining of products.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, permutations, product
from math import factorial, prod
from typing import Any, TypeAlias, TypeVar

from sympy import Expr

from ..core import Indices, Label, Labels, tuning
from .base import Operand, TensorExpr

Item = TypeVar("Item")
Terms: TypeAlias = tuple[tuple[Label, ...], ...]


def unite(merged: dict[Item, Item], a: Item, b: Item) -> None:
    """Merge the equivalence classes of two labels."""
    a, b = representative(merged, a), representative(merged, b)
    if a != b:
        merged[b] = a


def representative(merged: dict[Item, Item], label: Item) -> Item:
    """Return the representative of a label's equivalence class."""
    while label in merged:
        label = merged[label]
    return label


def number_labels(subs: Iterable[Labels]) -> dict[Label, int]:
    """Number labels in the order of first appearance."""
    return {label: k for k, label in enumerate(dict.fromkeys(chain.from_iterable(subs)))}


def sorted_operands(
    tensors: list[TensorExpr], subs: list[Labels], output: Labels
) -> tuple[list[TensorExpr], list[Labels]]:
    """Sort operands and their labels canonically; for identical ones all orders are compared [W,
    lemma 5.1]."""
    depths = [tensor._depth for tensor in tensors]
    differ = len(set(depths)) == len(depths)
    # The depth is the first item of the key, and usually decides.
    keys: list[Any] = depths if differ else [tensor._key for tensor in tensors]
    if keys != sorted(keys):
        order = sorted(range(len(tensors)), key=keys.__getitem__)
        tensors, subs = [tensors[k] for k in order], [subs[k] for k in order]
    if differ or len(set(tensors)) == len(tensors):
        return tensors, subs
    groups: list[list[int]] = []
    for k, tensor in enumerate(tensors):
        if groups and tensors[groups[-1][0]] is tensor:
            groups[-1].append(k)
        else:
            groups.append([k])
    if all(subs[k] == subs[group[0]] for group in groups for k in group[1:]):
        return tensors, subs
    if prod(factorial(len(group)) for group in groups) > tuning.MAX_OPERAND_ORDERS:
        return tensors, subs

    def code(candidate: list[Labels]) -> list[list[int]]:
        number = number_labels([*candidate, output])
        return [[number[label] for label in labels] for labels in [*candidate, output]]

    choices = product(*[permutations(group) for group in groups])
    candidates = ([subs[k] for group in choice for k in group] for choice in choices)
    return tensors, min(candidates, key=code)


def is_invariant(
    operands: Sequence[TensorExpr], subscripts: Sequence[Indices], output: Labels, permuted: Labels
) -> bool:
    """Tell whether a product is invariant under a permutation of its output indices."""
    _, subs = sorted_operands(list(operands), list(subscripts), permuted)
    number = number_labels(subs)
    renamed = tuple([tuple([number[i] for i in term]) for term in subs])
    return renamed == subscripts and [number[i] for i in permuted] == list(output)


def inline_products(
    operands: Sequence[Operand],
    subscripts: Sequence[Sequence[int]],
    lengths: Mapping[int, Expr],
    should_inline: Callable[[Operand, Sequence[Operand]], bool],
) -> tuple[list[Operand], list[tuple[int, ...]], dict[int, Expr]]:
    """Inline the operands of a product that are products and satisfy ``should_inline``, with fresh
    index names."""
    operands, terms, lengths = list(operands), [tuple(t) for t in subscripts], dict(lengths)
    k = 0
    while k < len(operands):
        inner = operands[k]
        if not should_inline(inner, operands):
            k += 1
            continue
        if inner.output == terms[k] and len(inner.lengths) == len(inner.output):
            operands[k : k + 1], terms[k : k + 1] = inner.operands, inner.subscripts
            continue
        rename = dict(zip(inner.output, terms[k], strict=True))
        if len(rename) < len(inner.lengths):
            for index, length in enumerate(inner.lengths):
                if index not in rename:
                    rename[index] = len(lengths)
                    lengths[len(lengths)] = length
        operands[k : k + 1] = inner.operands
        terms[k : k + 1] = [tuple([rename[i] for i in term]) for term in inner.subscripts]
    return operands, terms, lengths


# Cached: few distinct patterns of labels occur.
@lru_cache(maxsize=4096)
def indices_of(terms: Terms) -> tuple[tuple[Label, ...], tuple[tuple[int, ...], ...]]:
    """Number the labels of terms; return the labels in order, and the terms as numbers."""
    number = number_labels(terms)
    return tuple(number), tuple([tuple([number[label] for label in term]) for term in terms])


@lru_cache(maxsize=4096)
def dense_indices(
    terms: Terms, output: tuple[Label, ...]
) -> tuple[tuple[Label, ...], tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Number the labels of a dense product; return the labels, the terms and the output as
    numbers."""
    labels, found = indices_of(terms)
    return labels, found, tuple([k for k, label in enumerate(labels) if label in output])
