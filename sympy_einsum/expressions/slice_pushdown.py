"""Slice pushdown in products: affine selectors and the factor that they index become one operand,
or are inlined if they compose with other selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sympy import Expr

from ..core import Label, Labels, Lengths
from .affine_selectors import Positions, is_window
from .base import TensorExpr


class FactorSlice(NamedTuple):
    """An entry or a slice of a factor: the factor's number, the numbers of all factors that it
    replaces, the arguments of ``contract`` that build it, and the labels of its axes in the
    product."""

    factor: int
    replaced: set[int]
    factors: list[TensorExpr]
    subscripts: list[Labels]
    output: list[Label]
    lengths: Lengths
    labels: list[Label]


def find_slice(
    tensors: Sequence[TensorExpr], subs: Sequence[Labels], output: Labels, lengths: Lengths
) -> FactorSlice | None:
    """Find a factor that is sliced; None if there is none, or if the product is the slice."""
    for k in reversed(range(len(tensors))):
        tensor, labels = tensors[k], subs[k]
        if isinstance(tensor, Positions) or not tensor.is_built:
            continue
        selectors = {subs[j][-1]: j for j in _slicing_selectors(k, tensors, subs, output)}
        if tensor.is_one_hot:
            # Slicing an axis of the positions slices the positions themselves.
            selectors.pop(labels[-1], None)
        left = [i for i in labels if i not in selectors]
        left += [i for j in selectors.values() for i in subs[j][:-1]]
        is_output = len(left) == len(output) == len({*left}) and {*left} == {*output}
        is_all = len(tensors) == 1 + len(selectors) and is_output
        if selectors and (tensor.is_one_hot or not is_all):
            return _slice_of(tensors, subs, lengths, k, selectors)
    return None


def _slice_of(
    tensors: Sequence[TensorExpr],
    subs: Sequence[Labels],
    lengths: Lengths,
    k: int,
    selectors: Mapping[Label, int],
) -> FactorSlice:
    tensor, labels = tensors[k], subs[k]
    source = tensor.operands[0] if tensor.is_one_hot else tensor
    inner: list[Label] = []
    outer: list[Label] = []
    terms: list[Labels] = [range(source.order)]
    for axis, label in enumerate(labels[: source.order]):
        if label not in selectors:
            inner.append(axis)
            outer.append(label)
            continue
        selected = subs[selectors[label]][:-1]
        labels_inside = [(axis, m) for m in range(len(selected))]
        inner += labels_inside
        outer += selected
        terms.append((*labels_inside, axis))
    factors = [source, *[tensors[selectors[i]] for i in labels if i in selectors]]
    inner_lengths: dict[Label, Expr] = dict(enumerate(source.shape))
    inner_lengths |= {i: lengths[o] for i, o in zip(inner, outer, strict=True)}
    if tensor.is_one_hot:
        outer.append(labels[-1])
    return FactorSlice(k, {k, *selectors.values()}, factors, terms, inner, inner_lengths, outer)


def _slicing_selectors(
    k: int, tensors: Sequence[TensorExpr], subs: Sequence[Labels], output: Labels
) -> list[int]:
    """Find the affine selectors that index a factor along axes of no other factor. Windows are
    excluded: as operands they would be larger than the factors that they are multiplied by."""
    labels = subs[k]
    found = []
    for j, tensor in enumerate(tensors):
        target = subs[j][-1]
        if not isinstance(tensor, Positions) or is_window(tensor) or target not in labels:
            continue
        if target in output:
            continue
        others = [term for m, term in enumerate(subs) if m not in (j, k)]
        alone = labels.count(target) == 1 and not any(target in term for term in others)
        if alone and target not in subs[j][:-1]:
            found.append(j)
    return found


def composable_products(
    tensors: Sequence[TensorExpr], subs: Sequence[Labels], candidates: Sequence[int]
) -> list[int]:
    """Select the products whose affine selectors compose with those among the factors: at least one
    of two selectors of an axis selects from it."""
    pairs = zip(tensors, subs, strict=True)
    selectors = [term for tensor, term in pairs if isinstance(tensor, Positions)]
    targets = {term[-1] for term in selectors}
    sources = {label for term in selectors for label in term[:-1]}
    found = []
    for k in candidates:
        inner = tensors[k]
        label_of = dict(zip(inner.output, subs[k], strict=True))
        inside = zip(inner.operands, inner.subscripts, strict=True)
        terms = [term for operand, term in inside if isinstance(operand, Positions)]
        inner_targets = {label_of.get(term[-1]) for term in terms}
        inner_sources = {label_of.get(index) for term in terms for index in term[:-1]}
        if targets & (inner_targets | inner_sources) or sources & inner_targets:
            found.append(k)
    return found
