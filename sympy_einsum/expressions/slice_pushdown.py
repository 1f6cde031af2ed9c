"""Slice pushdown in products: an affine selector and the factor that it indexes can become one
operand; factors made of selectors themselves are inlined where these compose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sympy import Expr

from ..core import Label, Labels, Lengths
from .affine_selectors import Positions, is_window
from .base import TensorExpr


class Cut(NamedTuple):
    """An entry or a slice of a factor: the place of that, what is gone with it, the product that it
    is, as ``contract`` takes it, and the labels of its axes among the other factors."""

    place: int
    gone: set[int]
    factors: list[TensorExpr]
    subscripts: list[Labels]
    output: list[Label]
    lengths: Lengths
    labels: list[Label]


def find_slice(
    tensors: Sequence[TensorExpr], subs: Sequence[Labels], output: Labels, lengths: Lengths
) -> Cut | None:
    """Find a factor that is sliced; None without one, or if the whole product is a slice."""
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
) -> Cut:
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
        picked = subs[selectors[label]][:-1]
        own = [(axis, m) for m in range(len(picked))]
        inner += own
        outer += picked
        terms.append((*own, axis))
    factors = [source, *[tensors[selectors[i]] for i in labels if i in selectors]]
    known: dict[Label, Expr] = dict(enumerate(source.shape))
    known |= {i: lengths[o] for i, o in zip(inner, outer, strict=True)}
    if tensor.is_one_hot:
        outer.append(labels[-1])
    return Cut(k, {k, *selectors.values()}, factors, terms, inner, known, outer)


def _slicing_selectors(
    k: int, tensors: Sequence[TensorExpr], subs: Sequence[Labels], output: Labels
) -> list[int]:
    """Find the affine selectors that index axes of a factor shared with nothing else; windows stay
    with the factors that they are multiplied by: as operands they would be larger than these."""
    labels = subs[k]
    found = []
    for j, tensor in enumerate(tensors):
        target = subs[j][-1]
        if not isinstance(tensor, Positions) or is_window(tensor) or target not in labels:
            continue
        if target in output:
            continue
        others = [own for m, own in enumerate(subs) if m not in (j, k)]
        alone = labels.count(target) == 1 and not any(target in own for own in others)
        if alone and target not in subs[j][:-1]:
            found.append(j)
    return found


def composable_products(
    tensors: Sequence[TensorExpr], subs: Sequence[Labels], places: Sequence[int]
) -> list[int]:
    """Select the products whose affine selectors compose with those among the factors: of two on
    one axis, at least one selects from it."""
    pairs = zip(tensors, subs, strict=True)
    selectors = [own for tensor, own in pairs if isinstance(tensor, Positions)]
    picked = {own[-1] for own in selectors}
    chosen = {label for own in selectors for label in own[:-1]}
    found = []
    for k in places:
        inner = tensors[k]
        own = dict(zip(inner.output, subs[k], strict=True))
        inside = zip(inner.operands, inner.subscripts, strict=True)
        terms = [term for operand, term in inside if isinstance(operand, Positions)]
        into = {own.get(term[-1]) for term in terms}
        out_of = {own.get(index) for term in terms for index in term[:-1]}
        if picked & (into | out_of) or chosen & into:
            found.append(k)
    return found
