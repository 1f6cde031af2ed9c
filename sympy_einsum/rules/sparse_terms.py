"""Tensors as sums of terms whose entries other than 0 stand where deltas, slices, gathers,
triangles and reshapes say: each term as an array of its entries and the positions of these.

Of a product, an index of the output that a selector determines, [start + i = j] or [p_i = j], is
that position, and the indices of the selector take its place among the axes of what is computed.
Sums of such terms inside a product are multiplied out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product as choices
from math import prod
from typing import Any

from sympy import Expr, Mul, S

from ..analysis import Product, inlined_product
from ..core import Shape, postorder, same_length, tuning
from ..expressions import (
    Einsum,
    Operand,
    Reshape,
    TensorAdd,
    Zeros,
    contract,
    drop_constant_axes,
    is_tensor,
    representative,
    total_of,
    unite,
    varying_axes,
)
from .entry_positions import EntryPositions, Place
from .equal_axes import lift_deltas
from .labelled_terms import PATTERNS, Factor, Labelled, Merged, added_up, unite_equal


@dataclass(frozen=True)
class SparseTerm:
    """A tensor that is 0 except at some positions, each of which may occur several times.

    Attributes
    ==========

    entries : the entries there, of length 1 along axes on which they don't depend, or a scalar
    lengths : the lengths of the axes of entries
    places : the positions on each axis of the tensor
    above : pairs of positions i, j and a number n: entries are 0 unless i + n <= j
    """

    entries: Operand
    lengths: Shape
    places: tuple[Place, ...]
    above: tuple[tuple[Place, Expr, Place], ...]


def sparse_terms(tensor: Operand) -> tuple[list[SparseTerm], list[Operand]]:
    """Return the terms of a tensor with known positions, those at the same ones added up, and the
    operands of the sum that have a dense term.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> (term,), dense = sparse_terms(se.jacobian(x[1:] ** 2, x))
    >>> print(term.entries, term.places, dense)
    2*x[1:] (0, AffinePlace(start=1, steps=((1, 0),), divisor=1, modulus=0)) []
    """
    (tensor,) = lift_deltas([tensor])
    collected: dict[Any, list[Operand]] = {}
    dense: list[Operand] = []
    for node, terms_of_node in _Terms(tensor).of(tensor):
        found = [*map(EntryPositions, terms_of_node)]
        if not all(own.is_sparse for own in found):
            dense.append(node)
            continue
        for own in found:
            key = own.lengths(), own.places(), own.above()
            collected.setdefault(key, []).append(own.entries())
    terms = []
    for (lengths, places, above), entries in collected.items():
        total = total_of(entries)
        if not isinstance(total, Zeros):
            terms.append(SparseTerm(_narrowed(total, lengths), lengths, places, above))
    return terms, dense


def _narrowed(entries: Operand, lengths: Shape) -> Operand:
    """Shorten the axes on which entries don't depend to length 1."""
    kept = varying_axes([entries]) if is_tensor(entries) else []
    if not is_tensor(entries) or len(kept) == entries.order:
        return entries
    (short,) = drop_constant_axes([entries], kept)
    if not kept:
        return short
    sizes = {k: n if k in kept else S.One for k, n in enumerate(lengths)}
    return contract((short,), (kept,), range(len(lengths)), sizes)


class _Terms:
    """Splits tensors into terms, each tensor once."""

    def __init__(self, tensor: Operand):
        self._numbers = count()
        # The terms of sums, reshapes and products, None where not all are sparse.
        self._known: dict[Operand, list[Labelled] | None] = {}
        *inner, _ = postorder([tensor], self._parts)
        for node in inner:
            found = added_up(self._terms(node))
            is_sparse = len(found) <= tuning.MAX_SPARSE_TERMS
            is_sparse = is_sparse and all(EntryPositions(term).is_sparse for term in found)
            self._known[node] = found if is_sparse else None

    def of(self, node: Operand) -> list[tuple[Operand, list[Labelled]]]:
        """Return the operands of a sum, or another tensor, each with its terms."""
        own = node.operands if isinstance(node, TensorAdd) else (node,)
        return [(part, self._terms(part)) for part in own]

    def _parts(self, node: Operand) -> list[Operand]:
        """Return the operands of a tensor that are split into terms as well."""
        if isinstance(node, (TensorAdd, Reshape)):
            parts = node.operands
        elif isinstance(node, Einsum):
            parts = inlined_product(node).operands
        else:
            return []
        return [own for own in parts if isinstance(own, (TensorAdd, Reshape, Einsum))]

    def _terms(self, node: Operand) -> list[Labelled]:
        if isinstance(node, Zeros):
            return []
        if isinstance(node, TensorAdd):
            return [
                term for own in node.operands for term in self._known.get(own) or self._terms(own)
            ]
        if isinstance(node, Reshape):
            inner = self._copies(node.operands[0])
            return (
                [self._dense(node)] if inner is None else [self._reshaped(t, node) for t in inner]
            )
        product = inlined_product(node)
        if product.operands == (node,):
            return [self._dense(node)]
        expanded = [self._copies(own) for own in product.operands]
        if prod([len(terms) for terms in expanded if terms]) <= tuning.MAX_SPARSE_TERMS:
            found = [self._product(product, own) for own in _choices(expanded)]
            if None not in found:
                return [term for term in found if term is not None and not term.is_zero]
        alone = self._product(product, [None] * len(expanded))
        assert alone is not None
        return [alone]

    def _copies(self, node: Operand) -> list[Labelled] | None:
        """Return the terms of a tensor with labels of their own, None where it isn't sparse."""
        terms = self._known.get(node)
        if terms is None:
            return None
        return [term.renamed({i: next(self._numbers) for i in term.lengths}) for term in terms]

    def _dense(self, node: Operand) -> Labelled:
        lengths = {next(self._numbers): n for n in node.shape}
        return Labelled(((node, tuple(lengths)),), tuple(lengths), lengths)

    def _product(self, product: Product, inner: Sequence[Labelled | None]) -> Labelled | None:
        """Return a product in which terms stand for some operands; None where an axis that a
        reshape made would have to equal another."""
        names = {label: next(self._numbers) for label in product.lengths}
        factors: list[Factor] = [(scalar, ()) for scalar in product.scalars]
        lengths = {names[i]: n for i, n in product.lengths.items()}
        merged: dict[int, Merged] = {}
        united: dict[int, int] = {}
        for tensor, subscript, term in zip(
            product.operands, product.subscripts, inner, strict=True
        ):
            labels = tuple([names[i] for i in subscript])
            if term is None:
                factors.append((tensor, labels))
                continue
            factors += term.factors
            lengths |= term.lengths
            merged |= term.merged
            for outer, own in zip(labels, term.output, strict=True):
                unite(united, outer, own)
        output = tuple([names[i] for i in product.output])
        if not unite_equal(factors, merged, united):
            return None
        image = {i: representative(united, i) for i in lengths}
        return Labelled(tuple(factors), output, lengths, merged).renamed(image).with_slices_taken()

    def _reshaped(self, term: Labelled, node: Reshape) -> Labelled:
        """Return a term with axes merged and split."""
        old, new = node.operands[0].shape, node.shape
        output: list[int] = []
        lengths, merged = dict(term.lengths), dict(term.merged)
        selected = {
            i for tensor, labels in term.factors if isinstance(tensor, PATTERNS) for i in labels
        }
        for i, j in _aligned(old, new):
            if len(i) == len(j) == 1:
                output.append(term.output[i[0]])
                continue
            labels = [term.output[axis] for axis in i]
            if len(i) == 1 and labels[0] not in selected | merged.keys():
                split = {next(self._numbers): new[axis] for axis in j}
                lengths |= split
                merged[labels[0]] = Merged(
                    tuple(zip(_strides(new, j), split, strict=True)), S.One, S.Zero
                )
                output += split
                continue
            steps = tuple(zip(_strides(old, i), labels, strict=True))
            for number, (axis, divisor) in enumerate(zip(j, _strides(new, j), strict=True)):
                label = next(self._numbers)
                output.append(label)
                lengths[label] = new[axis]
                merged[label] = Merged(steps, divisor, new[axis] if number else S.Zero)
        return Labelled(term.factors, tuple(output), lengths, merged)


def _choices(
    expanded: Sequence[list[Labelled] | None],
) -> list[tuple[Labelled | None, ...]]:
    """Return the terms of a product: of each factor one of its terms, None for what has none."""
    return [*choices(*[[None] if terms is None else terms for terms in expanded])]


def _aligned(old: Shape, new: Shape) -> Iterator[tuple[range, range]]:
    """Yield the groups of axes, as few as possible each, that a reshape turns into each other."""
    i = j = 0
    while i < len(old) or j < len(new):
        ends = [(k, l) for k in range(i, len(old) + 1) for l in range(j, len(new) + 1)][1:]
        ends.sort(key=sum)
        i_end, j_end = next((k, l) for k, l in ends if same_length(Mul(*old[i:k]), Mul(*new[j:l])))
        yield range(i, i_end), range(j, j_end)
        i, j = i_end, j_end


def _strides(shape: Shape, axes: range) -> list[Expr]:
    """Return the distances of neighbours along some axes, in C order."""
    return [Mul(*shape[axis + 1 : axes.stop]) for axis in axes]
