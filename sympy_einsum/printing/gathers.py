"""Recognise indexing by arrays of positions, such as ``A[i]`` and ``A[:, i]``, in products with
one-hot tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from ..expressions import Constant, OneHot, Operand, Selection, TensorExpr, Unit, contract
from .chains import is_distinct
from .slices import Cut, Factors, Labels, Range, index_of_selector

# Stands for an array among the indices of a form.
GATHERED = "gathered"
_SELECTORS = (Unit, Selection, OneHot)


class Gather(NamedTuple):
    """Hold positions along an axis."""

    positions: Operand

    @property
    def numbers(self) -> list[Any] | None:
        """The positions as nested lists; None if they are an expression."""
        is_constant = isinstance(self.positions, Constant)
        return self.positions.array.tolist() if is_constant else None


Index: TypeAlias = Cut | Gather


class GatheredTensor(NamedTuple):
    """Hold a tensor, the items in the brackets, and the permutation of axes, None for the
    identity."""

    tensor: TensorExpr
    indices: tuple[Index, ...]
    axes: tuple[int, ...] | None


def as_gather(product: Factors) -> GatheredTensor | None:
    """Return the indexed tensor that a product computes; None if no array is among the indices."""
    found = _indexed(product)
    if found is None:
        return None
    tensor, indices, labels = found
    if not is_distinct(labels) or {*labels} != {*product.output}:
        return None
    order = tuple([labels.index(label) for label in product.output])
    return GatheredTensor(tensor, indices, None if order == tuple(range(len(labels))) else order)


def _indexed(product: Factors) -> tuple[TensorExpr, tuple[Index, ...], list[int]] | None:
    """Return a tensor, its indices, and the labels of the axes of what is indexed."""
    tensors = [k for k, own in enumerate(product.operands) if not isinstance(own, _SELECTORS)]
    if len(tensors) != 1 or OneHot not in map(type, product.operands):
        return None
    axes = product.terms[tensors[0]]
    kept: dict[int, Labels] = {axis: (axis,) for axis in axes}
    indices: dict[int, Index] = dict.fromkeys(axes)
    for k, selector in enumerate(product.operands):
        if k == tensors[0]:
            continue
        *leading, axis = product.terms[k]
        if indices.get(axis, selector) is not None or axis in product.output:
            return None
        is_gather = isinstance(selector, OneHot)
        indices[axis] = Gather(selector.indices) if is_gather else index_of_selector(selector)
        kept[axis] = tuple(leading)
    # Arrays and numbers are broadcast against each other where the first of them stands.
    cuts = [indices[axis] for axis in axes]
    advanced = [k for k, cut in enumerate(cuts) if not (cut is None or isinstance(cut, Range))]
    arrays = {kept[axis] for axis in axes if isinstance(indices[axis], Gather)}
    is_together = advanced == list(range(advanced[0], advanced[-1] + 1))
    if len(arrays) > 1 or not is_together or not is_distinct(axes):
        return None
    parts = [() if k in advanced else kept[axis] for k, axis in enumerate(axes)]
    parts[advanced[0]] = arrays.pop()
    return product.operands[tensors[0]], tuple(cuts), [label for part in parts for label in part]


def merge_gathers(product: Factors) -> Factors:
    """Replace tensors of a longer product that are indexed by arrays by the indexed tensors, two
    factors of ``A[i] @ x``."""
    ends = Counter([label for term in (*product.terms, product.output) for label in term])
    arrays = {
        term[-1]: k
        for k, (own, term) in enumerate(zip(product.operands, product.terms, strict=True))
        if isinstance(own, OneHot) and ends[term[-1]] == 2 and term[-1] not in product.output
    }
    operands, terms, gone = [], [], set()
    for k, own in enumerate(product.operands):
        mine = [arrays[label] for label in product.terms[k] if label in arrays]
        if isinstance(own, _SELECTORS) or not mine:
            operands.append(own)
            terms.append(product.terms[k])
            continue
        places = [k, *mine]
        part = Factors(
            [product.operands[j] for j in places],
            [product.terms[j] for j in places],
            (),
            product.lengths,
        )
        found = _indexed(part)
        # An axis that an array shares with the tensor has no text in brackets.
        if found is None or not is_distinct(found[2]):
            return product
        labels = tuple(found[2])
        operands.append(contract(part.operands, part.terms, labels, dict(product.lengths)))
        terms.append(labels)
        gone.update(mine)
    kept = [k for k in range(len(operands)) if k not in gone]
    return product._replace(operands=[operands[k] for k in kept], terms=[terms[k] for k in kept])


def merge_indices(inner: Sequence[object], outer: Sequence[object]) -> tuple[object, ...] | None:
    """Return the indices that are two lists in turn, one of which has all arrays; None if an axis
    is indexed twice."""
    merged: list[object] = []
    rest = iter(outer)
    for index in inner:
        if index is None:
            merged.append(next(rest))
        else:
            merged.append(index)
            # A number leaves no axis.
            if (index == GATHERED or isinstance(index, Range)) and next(rest) is not None:
                return None
    has_both = GATHERED in inner and GATHERED in outer
    return None if has_both else tuple(merged)
