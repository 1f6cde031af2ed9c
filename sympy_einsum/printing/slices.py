"""Recognise index strings, indexing such as ``A[0, :]``, and views in products, for printing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sympy import Expr, ceiling

from ..core import TensorError, cached, same_length
from ..expressions import Delta, Einsum, Operand, Selection, TensorExpr, Unit, View
from ..operations import getitem

Labels = tuple[int, ...]


class Factors(NamedTuple):
    """Hold a product: operands, the labels of their axes and of the result's axes, and the length
    of each label."""

    operands: Sequence[Operand]
    terms: Sequence[Labels]
    output: Labels
    lengths: Mapping[int, Expr]

    @property
    def absent(self) -> list[int]:
        """The labels of the result that no operand has, along which entries are repeated."""
        present = {label for term in self.terms for label in term}
        return [label for label in dict.fromkeys(self.output) if label not in present]


class Range(NamedTuple):
    """Hold a slice as written in brackets, where bounds may be None or negative, and ``first``,
    the position of its first entry."""

    start: Expr | None
    stop: Expr | None
    step: Expr
    first: Expr


# An index of an axis: a position, a range, or None for all of it.
Cut: TypeAlias = Expr | Range | None


class SlicedTensor(NamedTuple):
    """Hold a tensor, the items in the brackets, and the permutation of axes, None for the
    identity."""

    tensor: TensorExpr
    indices: tuple[Cut, ...]
    axes: tuple[int, ...] | None

    @property
    def is_transposed(self) -> bool:
        """Whether this is the transpose of a slice that is a matrix."""
        return self.axes == (1, 0)


def labelled_factors(node: Einsum) -> Factors:
    """Return a product's operands with labels; for a view without the scalar factors."""
    skipped = len(node.scalars) if isinstance(node, View) else 0
    lengths = dict(enumerate(node.lengths))
    return Factors(node.operands[skipped:], node.subscripts[skipped:], node.output, lengths)


def rearranged_product(node: Einsum) -> Factors:
    """Merge a rearranged product, the last operand of a node, into one product."""
    core = node.operands[-1]
    rename = dict(zip(core.output, node.subscripts[-1], strict=True))
    lengths = dict(enumerate(node.lengths))
    for index, length in enumerate(core.lengths):
        if index not in rename:
            rename[index] = len(lengths)
            lengths[rename[index]] = length
    terms = [tuple([rename[index] for index in term]) for term in core.subscripts]
    return Factors(core.operands, terms, node.output, lengths)


def as_slice(product: Factors) -> SlicedTensor | None:
    """Return the slice that a product computes; None if it isn't one."""
    operands, terms, output, _ = product
    tensors = [k for k, o in enumerate(operands) if not isinstance(o, (Unit, Selection))]
    if len(tensors) != 1 or len(operands) == 1 or not terms[tensors[0]]:
        return None
    axes = terms[tensors[0]]
    indices: dict[int, Cut] = dict.fromkeys(axes)
    labels = list(axes)
    for k, selector in enumerate(operands):
        if k == tensors[0]:
            continue
        axis = terms[k][-1]
        if axis not in labels or axis in output or indices.get(axis) is not None:
            return None
        indices[axis] = index_of_selector(selector)
        place = labels.index(axis)
        labels[place : place + 1] = terms[k][:-1]
    if len({*labels}) < len(labels) or {*labels} != {*output} or len(labels) < len(output):
        return None
    if len({*axes}) < len(axes):
        return None
    order = None if labels == list(output) else tuple([labels.index(label) for label in output])
    return SlicedTensor(operands[tensors[0]], tuple([indices[axis] for axis in axes]), order)


def index_of_selector(selector: Operand) -> Cut:
    """Return the index or slice that a unit vector or a selection matrix selects."""
    if isinstance(selector, Unit):
        return selector.position
    start, step = selector.start, selector.step
    stop = start + step * selector.count
    return typed_range(selector) or Range(start, None if stop.is_negative else stop, step, start)


@cached(1024)
def typed_range(selector: Selection) -> Range | None:
    """Return the shortest slice that equals a selection, or None."""
    length, start, step = selector.length, selector.start, selector.step
    stop = start + step * selector.count
    # The stop may be anywhere within the last step.
    bound = stop.replace(ceiling, lambda number: number).expand()
    for low in _bounds(start, length):
        for high in dict.fromkeys([None, *_bounds(bound, length), *_bounds(stop, length)]):
            try:
                found = getitem(Delta(length), slice(low, high, step))
            except TensorError:
                continue
            is_same = found is selector or (isinstance(found, Delta) and selector.is_delta)
            if is_same:
                return Range(low, high, step, start)
    return None


def _bounds(bound: Expr, length: Expr) -> list[Expr | None]:
    """Return the ways to write a bound of a slice, the shortest first."""
    left = bound - length
    if bound.is_zero or same_length(bound, length - 1):
        return [None, left, bound] if left == -1 else [None, bound]
    if bound.is_Integer and length.is_Integer:
        # Count from the end if that is closer.
        return [left, bound] if -bound < 2 * left < 0 else [bound]
    return [left, bound] if len(str(left)) < len(str(bound)) else [bound]
