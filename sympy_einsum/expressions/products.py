"""Einsum products: multiplication, summation over axes, rearrangement.

Every product is built by :func:`contract`, as one of two kinds of nodes:

* a *dense* :class:`Einsum`: one or more tensor operands, distinct output indices in canonical
order,
  each of them in some operand. It multiplies and sums.
* a :class:`View`: scalar factors and at most one dense operand, whose axes are permuted, taken
  along a diagonal (repeated input index), put onto a diagonal (repeated output index) or repeated
  along new axes (an output index that occurs in no operand, an implicit factor of ones
  [W, Cor. 7.11]). Deltas and ones are views without an operand.

A view that is an operand is absorbed: its indices are renamed to those of the product, so deltas
merge [W, thm 6.7], unneeded ones vanish [W, lemma 7.3], transposes disappear, and none is ever
materialised. ``A @ B`` and ``(A @ B).T`` share their dense node.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from math import factorial, prod

from sympy import Basic, Expr, Integer, Mul, S

from ..core import Label, Labels, Lengths, Shape, as_shape, sort_key, tuning, unmultiplied_number
from .affine_selectors import Positions, Unit
from .base import Operand, TensorExpr
from .interning import Data, Operands, data_property
from .labels import (
    dense_indices,
    indices_of,
    is_invariant,
    number_labels,
    representative,
    sorted_operands,
    unite,
)
from .leaves import Zeros
from .levi_civita import LeviCivita, alternating, is_exchangeable, parity
from .merging import compose_selectors, merge_one_hots
from .slice_pushdown import composable_products, find_slice


class Einsum(TensorExpr):
    """A product of tensors by an index string; build it with ``sympy_einsum.einsum``.

    Attributes
    ==========

    subscripts : the indices of each operand, as integers
    output : the indices of the result
    lengths : the length of each index

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> product = A @ x
    >>> product.operands, product.subscripts, product.output, product.lengths
    ((A, x), ((0, 1), (1,)), (0,), (2, 3))
    """

    __slots__ = ()

    subscripts: tuple[tuple[int, ...], ...] = data_property(0, "The indices of each operand.")
    output: tuple[int, ...] = data_property(1, "The indices of the result.")
    lengths: Shape = data_property(2, "The length of each index.")

    def _own_symbols(self) -> set[Basic]:
        """Return the symbols in the lengths of indices that no operand has."""
        present = {i for term in self.subscripts for i in term}
        return {s for i, n in enumerate(self.lengths) if i not in present for s in n.free_symbols}

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        subscripts, output, lengths = data
        return contract(operands, subscripts, output, dict(enumerate(lengths)))


class View(Einsum):
    """Scalar factors times at most one tensor, rearranged without sums.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> (2 * A.T).core, (2 * A.T).coefficient
    (A, 2)
    """

    __slots__ = ()

    @property
    def core(self) -> TensorExpr | None:
        """The tensor operand, or None."""
        last = self.operands[-1] if self.operands else None
        return last if isinstance(last, TensorExpr) and last.order else None

    @property
    def scalars(self) -> Operands:
        """The scalar factors, a number first."""
        return self.operands if self.core is None else self.operands[:-1]

    @property
    def coefficient(self) -> Expr:
        """The numeric factor."""
        first = self.operands[0] if self.operands else S.One
        return first if first.is_Number else S.One

    def without_coefficient(self) -> Operand:
        """Return the view without its numeric factor."""
        if not (self.operands and self.operands[0].is_Number):
            return self
        if "bare" not in self.memory:  # every sum with this term needs it
            data = (self.subscripts[1:], self.output, self.lengths)
            self.memory["bare"] = Einsum._build(self.operands[1:], data)
        return self.memory["bare"]

    @property
    def is_constant_fill(self) -> bool:
        """Whether all entries are one scalar."""
        return self.core is None and len(set(self.output)) == len(self.output)


class Ones(View):
    """The tensor of ones.

    >>> import sympy_einsum as se
    >>> se.Ones(2, 3).shape
    (2, 3)
    """

    __slots__ = ()

    def __new__(cls, *lengths: Expr | int) -> Operand:  # type: ignore[misc]
        shape = as_shape(lengths)
        return contract((), (), range(len(shape)), dict(enumerate(shape)))


class Delta(View):
    """The delta tensor [W, def. 2.2; L, eq. 4.2]: ``Delta(n)`` is the identity matrix.

    ``Delta(m, n)`` has shape (m, n, m, n) and the entries δ_ik δ_jl.

    >>> import sympy_einsum as se
    >>> se.Delta(2, 3).shape, se.Delta(3).T is se.Delta(3)
    ((2, 3, 2, 3), True)
    """

    __slots__ = ()

    def __new__(cls, *lengths: Expr | int) -> Operand:  # type: ignore[misc]
        shape = as_shape(lengths)
        return contract((), (), [*range(len(shape))] * 2, dict(enumerate(shape)))


# --- the product ---------------------------------------------------------------------------------


def contract(
    operands: Sequence[Operand], subscripts: Sequence[Labels], output: Labels, lengths: Lengths
) -> Operand:
    """Return the canonical expression of a product.

    ``lengths`` has exactly the labels in use. Lengths and orders aren't checked, operations.einsum
    does that. An output label of no operand is an axis of ones; a label in ``lengths`` only is
    summed over, which gives its length as a factor. A sum over an axis of length 0 is 0.
    """
    builder = _ProductBuilder(output, lengths)
    is_empty = any(n is S.Zero and label not in output for label, n in lengths.items())
    if is_empty or not builder.add_operands(operands, subscripts):
        return builder.zeros()
    if [tensor for tensor in builder.tensors if tensor.is_affine_selector or tensor.is_one_hot]:
        if not (
            builder.compose_selectors()
            and builder.take_stacked_entries()
            and builder.take_antisymmetric_entries()
        ):
            return builder.zeros()
        builder.merge_one_hots()
    if any(tensor.diagonal_entry is not None for tensor in builder.tensors):
        builder.take_diagonal_entries()
    if len(builder.tensors) > 1:
        builder.cancel_powers()
    factors = _collect_scalars(builder.scalars) if builder.scalars else []
    return builder.zeros() if factors is None else builder.canonical(factors)


def unit_position(tensor: Operand, axis: int) -> int | None:
    """Return the position along an axis of a product that is zero elsewhere, by a unit vector."""
    if isinstance(tensor, Unit):
        return int(tensor.start) if tensor.start.is_Integer else None
    if not isinstance(tensor, Einsum):
        return None
    label = tensor.output[axis]
    for operand, own in zip(tensor.operands, tensor.subscripts, strict=True):
        if label in own and (isinstance(tensor, View) or isinstance(operand, Unit)):
            return unit_position(operand, own.index(label))
    return None


def contract_part(
    operands: Sequence[Operand], subscripts: Sequence[Labels], output: Labels, lengths: Lengths
) -> Operand:
    """Contract some factors of a product; ``lengths`` are those of all its labels."""
    used = {i for labels in (*subscripts, output) for i in labels}
    return contract(operands, subscripts, output, {i: lengths[i] for i in used})


class _ProductBuilder:
    """Bring a product into canonical form.

    Attributes
    ==========

    scalars : the factors without axes
    tensors, subs : the others, none of them a view, and the labels of their axes
    output : the labels of the result
    lengths : the length of each label
    """

    __slots__ = ("lengths", "output", "scalars", "subs", "tensors")

    def __init__(self, output: Labels, lengths: Lengths):
        self.output = output
        self.lengths = lengths
        self.scalars: list[Operand] = []
        self.tensors: list[TensorExpr] = []
        self.subs: list[Labels] = []

    def zeros(self) -> Operand:
        """Return the zeros of the product's shape."""
        return Zeros(*[self.lengths[label] for label in self.output])

    # --- simplification of the factors

    def add_operands(self, operands: Sequence[Operand], subscripts: Sequence[Labels]) -> bool:
        """Add the operands, absorbing views; False if one of them is zero."""
        merged: dict[Label, Label] = {}
        numbers = [o.coefficient if isinstance(o, View) else o for o in operands]
        isolated = unmultiplied_number(numbers)
        for operand, labels, number in zip(operands, subscripts, numbers, strict=True):
            if number is isolated and isinstance(operand, View) and operand.core is not None:
                self.tensors.append(operand)
                self.subs.append(labels)
            elif not self._add_operand(operand, labels, merged):
                return False
        if any(isinstance(operand, View) for operand in operands):
            self._apply_merged(self.lengths, merged)
        return True

    def _add_operand(self, operand: Operand, labels: Labels, merged: dict[Label, Label]) -> bool:
        """Add one operand; False if it is zero."""
        if isinstance(operand, View):
            self._absorb(operand, labels, merged)
        elif isinstance(operand, Zeros):
            return False
        elif labels:
            self.tensors.append(operand)
            self.subs.append(labels)
        else:
            self.scalars.append(operand)
        return True

    def _absorb(self, view: View, labels: Labels, merged: dict[Label, Label]) -> None:
        subscripts, output, _ = view.data
        outer: dict[int, Label] = {}
        for index, label in zip(output, labels, strict=True):
            if index not in outer:
                outer[index] = label
            elif outer[index] != label:
                unite(merged, outer[index], label)
        if not (subscripts and subscripts[-1]):
            self.scalars.extend(view.operands)
            return
        self.scalars.extend(view.operands[:-1])
        self.tensors.append(view.operands[-1])
        self.subs.append([outer[index] for index in subscripts[-1]])

    def _apply_merged(self, labels: Iterable[Label], merged: dict[Label, Label]) -> None:
        """Replace labels by their representatives; a label that no factor has gives its length as a
        factor."""
        if merged:
            renamed: list[Labels] = [
                [representative(merged, label) for label in term]
                for term in (*self.subs, self.output)
            ]
            *self.subs, self.output = renamed
        used = self.present().union(self.output, merged)
        self.scalars.extend([self.lengths[i] for i in dict.fromkeys(labels) if i not in used])

    def present(self) -> set[Label]:
        """Return the labels of the tensors."""
        return {label for labels in self.subs for label in labels}

    def _keep(self, numbers: Iterable[int]) -> None:
        """Keep only the tensors with some numbers, in their order."""
        remaining = list(numbers)
        self.tensors = [self.tensors[k] for k in remaining]
        self.subs = [self.subs[k] for k in remaining]

    def compose_selectors(self) -> bool:
        """Compose the affine selectors among the factors, including those in entries, slices and
        zero-padded factors; False if the product is zero."""
        if not any(isinstance(tensor, Positions) for tensor in self.tensors):
            return True
        self._inline_selector_products()
        found = compose_selectors(self.tensors, self.subs, self.output)
        if found is None:
            return False
        self.tensors, self.subs, self.output, lengths, scalars = found
        self.lengths = {**self.lengths, **lengths}
        self.scalars.extend(scalars)
        return self._push_slices_down()

    def _inline_selector_products(self) -> None:
        """Inline the operands whose selectors compose with those among the factors: at least one of
        two selectors of an axis selects from it. A slice of a slice is always inlined."""
        pending = [k for k, tensor in enumerate(self.tensors) if is_selector_product(tensor)]
        if not (len(pending) == 1 and self._is_slice(pending[0])):
            pending = composable_products(self.tensors, self.subs, pending)
        for k in reversed(pending):
            inner = self.tensors[k]
            label_of = dict(zip(inner.output, self.subs[k], strict=True))
            for index, length in enumerate(inner.lengths):
                if index not in label_of:
                    label_of[index] = object()
                    self.lengths = {**self.lengths, label_of[index]: length}
            self.tensors[k : k + 1] = inner.operands
            self.subs[k : k + 1] = [[label_of[i] for i in term] for term in inner.subscripts]

    def _is_slice(self, k: int) -> bool:
        """Tell whether the whole product is a slice of factor k, which is a slice."""
        return is_slice(self.tensors[k]) and all(
            j == k or (isinstance(tensor, Positions) and self.subs[j][-1] not in self.output)
            for j, tensor in enumerate(self.tensors)
        )

    def _push_slices_down(self) -> bool:
        """Replace each entry or slice of one factor among others by an operand; False if it is
        zero."""
        while (part := find_slice(self.tensors, self.subs, self.output, self.lengths)) is not None:
            tensor = self.tensors[part.factor]
            inner = contract(part.factors, part.subscripts, part.output, part.lengths)
            if tensor.is_one_hot:
                inner = type(tensor)._build((inner,), tensor.data)
            self._keep([j for j in range(len(self.tensors)) if j not in part.replaced])
            merged: dict[Label, Label] = {}
            if not self._add_operand(inner, part.labels, merged):
                return False
            self._apply_merged(part.labels, merged)
        return True

    def merge_one_hots(self) -> None:
        """Merge one-hot factors of the same positions."""
        if any(tensor.is_one_hot for tensor in self.tensors):
            before = self.present()
            found = merge_one_hots(self.tensors, self.subs, self.output)
            self.tensors, self.subs, self.output, merged = found
            left = before - self.present() - {*self.output} - merged
            self.scalars.extend([n for label, n in self.lengths.items() if label in left])

    def take_diagonal_entries(self) -> None:
        """Replace the diagonals whose entries are one number by that."""
        before, kept = self.present(), []
        for k, (tensor, labels) in enumerate(zip(self.tensors, self.subs, strict=True)):
            if tensor.diagonal_entry is not None and labels[0] == labels[1]:
                self.scalars.append(tensor.diagonal_entry)
            else:
                kept.append(k)
        self._keep(kept)
        left = before - self.present() - {*self.output}
        self.scalars.extend([self.lengths[label] for label in left])

    def take_stacked_entries(self) -> bool:
        """Replace the entries of stacks by what was stacked; False if one is zero."""
        sums = [k for k, tensor in enumerate(self.tensors) if tensor.is_sum]
        places = self._places_of_units() if sums else {}
        for k in sums:
            labels = self.subs[k]
            for axis, label in enumerate(labels):
                if label not in places:
                    continue
                place, position = places[label]
                entry = self.tensors[k].stacked_entry(axis, position)
                if entry is None:
                    continue
                rest = [*labels[:axis], *labels[axis + 1 :]]
                self._keep([j for j in range(len(self.tensors)) if j not in (k, place)])
                merged: dict[Label, Label] = {}
                if not self._add_operand(entry, rest, merged):
                    return False
                self._apply_merged(rest, merged)
                return self.compose_selectors() and self.take_stacked_entries()
        return True

    def _places_of_units(self) -> dict[Label, tuple[int, int]]:
        """Return the numbers and the positions of the unit vectors by which one other factor is
        indexed, by labels."""
        uses = Counter([label for labels in (*self.subs, self.output) for label in labels])
        return {
            own[0]: (j, int(tensor.start))
            for j, (tensor, own) in enumerate(zip(self.tensors, self.subs, strict=True))
            if isinstance(tensor, Unit) and tensor.start.is_Integer and uses[own[0]] == 2
        }

    def take_antisymmetric_entries(self) -> bool:
        """Replace antisymmetric factors with positions on all axes but one at most: e[1, 0, :] is
        the negative of the unit vector at 2. False if an entry is zero."""
        alternating_factors = [k for k, own in enumerate(self.tensors) if own.is_alternating]
        at = self._places_of_units() if alternating_factors else {}
        for k in alternating_factors:
            labels, size = self.subs[k], len(self.subs[k])
            taken = [at[label] for label in labels if label in at]
            left = {*range(size)} - {position for _, position in taken}
            if len(taken) < size - 1 or any(position >= size for _, position in taken):
                continue
            if len(left) != size - len(taken):
                return False
            places = tuple([at[label][1] if label in at else min(left) for label in labels])
            self.scalars.append(Integer(parity(places)))
            for label in labels:
                if label not in at:
                    self.tensors.append(Unit(size, min(left)))
                    self.subs.append([label])
            gone = {k, *[j for j, _ in taken]}
            self._keep([j for j in range(len(self.tensors)) if j not in gone])
            return self.take_antisymmetric_entries()
        return True

    def cancel_powers(self) -> None:
        """Cancel powers of one tensor whose exponents add up to 0: x / x, as in SymPy's
        products."""
        powers = [tensor.as_entry_power() for tensor in self.tensors]
        if not any(exponent is not S.One and exponent.is_negative for _, exponent in powers):
            return
        groups: dict[tuple[TensorExpr, Labels], list[int]] = {}
        for k, (base, _) in enumerate(powers):
            groups.setdefault((base, tuple(self.subs[k])), []).append(k)
        zero = [group for group in groups.values() if sum([powers[k][1] for k in group]) == 0]
        gone = {k for group in zero for k in group}
        before = self.present()
        self._keep([k for k in range(len(powers)) if k not in gone])
        left = before - self.present() - {*self.output}
        self.scalars.extend([n for label, n in self.lengths.items() if label in left])

    # --- canonical form

    def order_alternating(self) -> Expr:
        """Bring the axes of antisymmetric tensors into canonical order; return the sign that this
        gives to the product, 0 if that is its own opposite."""
        places = [k for k, tensor in enumerate(self.tensors) if type(tensor) is LeviCivita]
        if any(self._vanishes_around(k) for k in places):
            return S.Zero
        count = prod([factorial(len(self.subs[k])) for k in places])
        total = 1
        for group in [places] if count <= tuning.MAX_AXIS_ORDERS else [[k] for k in places]:
            signs = self._simplest_order(group)
            if len(signs) > 1:
                return S.Zero
            total *= signs.pop()
        return S.One if total == 1 else S.NegativeOne

    def _vanishes_around(self, k: int) -> bool:
        """Tell whether an antisymmetric factor is multiplied by what is symmetric in two of its
        axes."""
        labels = self.subs[k]
        if len({*labels}) < len(labels):
            return True
        factors = [
            pair for j, pair in enumerate(zip(self.tensors, self.subs, strict=True)) if j != k
        ]
        for pair in combinations([i for i in labels if i not in self.output], 2):
            holders = [(own, axes) for own, axes in factors if not {*pair}.isdisjoint(axes)]
            if len(holders) == 1 and is_exchangeable(*holders[0], pair):
                return True
        return False

    def _simplest_order(self, places: Sequence[int]) -> set[int]:
        """Order the axes of some antisymmetric factors such that the product is the simplest;
        return the signs with which it then occurs."""
        best: tuple[list[list[int]], list[Labels]] | None = None
        signs: set[int] = set()
        for orders in product(*[alternating(len(self.subs[k])) for k in places]):
            subs = [*self.subs]
            for k, (axes, _) in zip(places, orders, strict=True):
                subs[k] = [self.subs[k][axis] for axis in axes]
            _, ordered = sorted_operands(self.tensors, subs, self.output)
            number = number_labels([*ordered, self.output])
            code = [[number[label] for label in own] for own in (*ordered, self.output)]
            sign = prod([sign for _, sign in orders])
            if best is None or code < best[0]:
                best, signs = (code, subs), {sign}
            elif code == best[0]:
                signs.add(sign)
        assert best is not None
        self.subs = best[1]
        return signs

    def canonical(self, factors: Sequence[Expr]) -> Operand:
        """Sort, rename, and split into a view of a dense product."""
        if [tensor for tensor in self.tensors if tensor.is_alternating]:
            sign = self.order_alternating()
            if not sign:
                return self.zeros()
            if sign is S.NegativeOne:
                factors = _collect_scalars([sign, *factors]) or []
        if not self.tensors:
            return self._view(factors) if self.output else scalar_product(factors)
        if len(self.tensors) > 1:
            self.tensors, self.subs = sorted_operands(self.tensors, self.subs, self.output)
        elif self.present().issubset(self.output):
            return self._view(factors)
        dense = self._condense()
        if not self.output:
            return scalar_product([*factors, dense]) if factors else dense
        if not factors and [*self.output] == self.subs[0]:
            return dense
        if not dense.shape:
            found = _collect_scalars([*factors, dense])
            assert found is not None
            factors, self.tensors, self.subs = found, [], []
        return self._view(factors)

    def _condense(self) -> Einsum:
        """Replace the tensors by one dense product, and return it."""
        labels, terms, output = dense_indices(tuple(map(tuple, self.subs)), tuple(self.output))
        lengths = tuple([self.lengths[label] for label in labels])
        shape = tuple([lengths[i] for i in output])
        dense = Einsum._intern(tuple(self.tensors), (terms, output, lengths), shape)
        self.tensors, self.subs = [dense], [[labels[i] for i in output]]
        return dense

    def _alternating_term(
        self, core: Einsum, term: tuple[Label, ...]
    ) -> tuple[Expr, Einsum, tuple[Label, ...]]:
        """Return the sign, the product and the labels of its axes, with the axes of antisymmetric
        factors in the order that is canonical for the output."""
        label_of: dict[int, Label] = {i: object() for i in range(len(core.lengths))}
        label_of.update(zip(core.output, term, strict=True))
        lengths = {label_of[i]: length for i, length in enumerate(core.lengths)}
        inner = _ProductBuilder(tuple(self.output), {**self.lengths, **lengths})
        inner.tensors = [*core.operands]
        inner.subs = [[label_of[i] for i in own] for own in core.subscripts]
        sign = inner.order_alternating()
        inner.tensors, inner.subs = sorted_operands(inner.tensors, inner.subs, inner.output)
        return sign, inner._condense(), tuple(inner.subs[0])

    def _view(self, factors: Sequence[Expr]) -> Operand:
        """Build a view: at most one tensor, rearranged, times factors."""
        output = tuple(self.output)
        term = tuple(self.subs[0]) if self.tensors else ()
        if self.tensors:
            (core,) = self.tensors
            if output != term and _is_symmetric(core, term, output):
                output = term
            elif len(term) > 2 and core.generators:
                axis_of = {label: k for k, label in enumerate(output)}
                orders = [tuple([term[k] for k in axes]) for axes in core.permutations]
                term = min(orders, key=lambda labels: [axis_of[i] for i in labels])
            elif type(core) is Einsum and len({*term}) == len(term):
                if output != term and [own for own in core.operands if own.is_alternating]:
                    sign, core, term = self._alternating_term(core, term)
                    if not sign:
                        return self.zeros()
                    if sign is S.NegativeOne:
                        factors = _collect_scalars([sign, *factors]) or []
                    self.tensors = [core]
                else:
                    term = _canonical_term(core, term, output)
            if output == term and len(set(term)) == len(term):
                multiple = core._times(factors)
                if multiple is not None:
                    return multiple
        scalars = ((),) * len(factors)
        labels, terms = indices_of((*scalars, term, output) if self.tensors else (*scalars, output))
        indices = terms[-1]
        kind = View
        if not factors and not self.tensors:
            half = len(output) // 2
            if len(labels) == len(output):
                kind = Ones
            elif indices == tuple(range(half)) * 2:
                kind = Delta
        data = (terms[:-1], indices, tuple([self.lengths[label] for label in labels]))
        shape = tuple([self.lengths[label] for label in output])
        return kind._intern((*factors, *self.tensors), data, shape)


def _canonical_term(core: Einsum, term: tuple[Label, ...], output: Labels) -> tuple[Label, ...]:
    """Return the labels of the axes of a product with equal operands as they are where the view is
    made at once."""
    if len({*core.operands}) == len(core.operands):
        return term
    label_of: dict[int, Label] = {i: object() for i in range(len(core.lengths))}
    label_of.update(zip(core.output, term, strict=True))
    subs: list[Labels] = [[label_of[i] for i in own] for own in core.subscripts]
    _, subs = sorted_operands(list(core.operands), subs, output)
    labels, terms, own = dense_indices(tuple(map(tuple, subs)), tuple(output))
    is_same = (terms, own) == (core.subscripts, core.output)
    return tuple([labels[i] for i in own]) if is_same else term


def is_selector_product(node: Operand) -> bool:
    """Tell whether a node is a slice or a zero-padded tensor: a product of affine selectors and at
    most one other tensor."""
    if type(node) is not Einsum:
        return False
    count = sum([isinstance(operand, Positions) for operand in node.operands])
    return count > 0 and count >= len(node.operands) - 1


def is_slice(node: Operand) -> bool:
    """Tell whether a node is an entry or a slice of a tensor: a product in which each entry is one
    entry of the tensor."""
    if not is_selector_product(node) or is_padded_product(node):
        return False
    targets: list[int] = []
    axes: set[int] = set()
    indices = {i for term in node.subscripts for i in term}
    for operand, term in zip(node.operands, node.subscripts, strict=True):
        if isinstance(operand, Positions):
            targets.append(term[-1])
        else:
            axes.update(term)
    of_tensor = not axes or (axes.issuperset(targets) and len({*targets}) == len(targets))
    return of_tensor and indices.difference(targets) <= {*node.output}


def is_padded_product(node: Operand) -> bool:
    """Tell whether a node is a zero-padded product."""
    return type(node) is Einsum and any(
        isinstance(operand, Positions) and term[-1] in node.output
        for operand, term in zip(node.operands, node.subscripts, strict=True)
    )


def _collect_scalars(scalars: Sequence[Operand]) -> list[Expr] | None:
    """Return [number, factor], without either if it is 1: the numeric coefficient, and the product
    of the others; None for zero."""
    number = S.One
    rest: list[Expr] = []
    for scalar in scalars:
        if scalar.is_Number:
            number = scalar if number is S.One else number * scalar
        elif scalar is not S.One:
            if scalar.is_Mul and scalar.args[0].is_Number:
                coefficient, scalar = scalar.as_coeff_Mul()
                number *= coefficient
            rest.append(scalar)
    if not number:  # is_zero of a new number takes hundreds of calls
        return None
    if len(rest) > 1:
        factor = scalar_product(rest)
        if factor is S.Zero:
            return None
        coefficient, factor = factor.as_coeff_Mul()
        number *= coefficient
        rest = [] if factor is S.One else [factor]
    return rest if number is S.One else [number, *rest]


def scalar_product(factors: Sequence[Operand]) -> Expr:
    """Multiply scalars: SymPy's Mul, or an Einsum of order 0 for more than MAX_FACTORS factors."""
    if sum(len(f.args) if f.is_Mul else 1 for f in factors) <= tuning.MAX_FLATTENED_FACTORS:
        return Mul(*factors)
    ordered = tuple(sorted(factors, key=sort_key))
    return Einsum._intern(ordered, (((),) * len(ordered), (), ()), ())


def _is_symmetric(core: TensorExpr, labels: Labels, output: Labels) -> bool:
    """Tell whether a tensor is invariant under a permutation of its axes: a symmetric matrix, a
    product of repeated operands such as AᵀA, or a sum of such."""
    if type(core) is Einsum and len(set(core.operands)) == len(core.operands):
        return False
    if len(labels) != len(output) or {*labels} != {*output}:
        return False
    if type(core) is not Einsum:
        return core.is_symmetric
    index_of = dict(zip(labels, core.output, strict=True))
    permuted = [index_of[label] for label in output]
    return is_invariant(core.operands, core.subscripts, core.output, permuted)
