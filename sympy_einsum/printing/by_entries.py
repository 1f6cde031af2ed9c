"""Write tensors by their entries, Σ_j T_ijk x_j; blocks that have a matrix form stay whole."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sympy import S

from ..core import WITHOUT_ENTRYWISE_PRODUCTS, Network, NodeTable, postorder
from ..expressions import (
    AxesFunction,
    Constant,
    Einsum,
    Elementwise,
    Extremum,
    Fourier,
    LeviCivita,
    MatrixFunction,
    OneHot,
    Operand,
    Positions,
    Reshape,
    RunningFunction,
    Scan,
    Selection,
    Solution,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unit,
    Unknown,
    View,
    Zeros,
    shape_of,
)
from . import algebra
from .entries import entry_form, entry_power, ordered, relabel
from .forms import POWER, Form, Label, Position, indices, position
from .functions import body_level
from .node_forms import scalar_forms
from .selector_absorption import Factor, SelectorAbsorption, summed_over
from .slices import as_slice, labelled_factors

if TYPE_CHECKING:
    from .notation import Notation

Row = Callable[["EntryForms", TensorExpr], Form]


class EntryForms:
    """Build the forms of entries in one notation; a tensor's own indices are numbered from 0."""

    def __init__(self, notation: Notation):
        self.notation = notation
        self.fresh = itertools.count(1000)
        self._forms: dict[TensorExpr, Form] = {}

    def of(self, root: TensorExpr) -> Form:
        """Return the entry of a tensor."""
        named = self.notation.is_named(root)
        if root in self._forms and not named:
            return self._forms[root]

        def below(node: TensorExpr) -> list[TensorExpr]:
            if node is not root and (node in self._forms or self.is_block(node)):
                return []
            terms = self.notation.terms(node)
            return [o for o in terms if isinstance(o, TensorExpr) and o.order]

        for node in postorder([root], below)[:-1]:
            if node not in self._forms:
                self._forms[node] = (
                    _block_entry(self, node) if self.is_block(node) else _row_entry(self, node)
                )
        form = _row_entry(self, root)
        # Within other nodes a named node appears by its name.
        return form if named else self._forms.setdefault(root, form)

    def is_block(self, node: Operand) -> bool:
        """Tell whether a node stays whole, with its indices outside."""
        if not node.order or not is_composed(node) or self.notation.is_named(node):
            return True
        return self.notation.style != "index" and node.order <= 2 and self.notation.of(node).pure

    def at(self, node: Operand, labels: Sequence[Label]) -> Form:
        """Return the entry of an operand at labels."""
        if not isinstance(node, TensorExpr) or not node.order:
            return self.notation.of(node)
        return relabel(self._forms[node], dict(enumerate(labels)))


def is_composed(node: TensorExpr) -> bool:
    """Tell whether entries of a node are composed of those of its operands."""
    return FORMULAS[type(node)] is not _unchanged_entry


def _row_entry(entries: EntryForms, node: TensorExpr) -> Form:
    return FORMULAS[type(node)](entries, node)


def _block_entry(entries: EntryForms, node: TensorExpr) -> Form:
    return entry_form(entries.notation.of(node), tuple(range(node.order)))


def _unchanged_entry(entries: EntryForms, node: TensorExpr) -> Form:
    return entry_form(entries.notation.meaning(node), tuple(range(node.order)))


def _sum_entry(entries: EntryForms, node: TensorAdd) -> Form:
    axes = range(node.order)
    return algebra.total([entries.at(term, axes) for term in entries.notation.terms(node)], 0)


def _elementwise_entry(entries: EntryForms, node: Elementwise) -> Form:
    parts = [entries.at(operand, range(node.order)) for operand in node.operands]
    return Form("applied", parts, node.body, 0, body_level(node.body))


def _view_entry(entries: EntryForms, node: View) -> Form:
    first: dict[int, int] = {}
    deltas = []
    for axis, index in enumerate(node.output):
        if first.setdefault(index, axis) != axis:
            deltas.append(Form("delta", (), (first[index], axis)))
    deltas.sort(key=lambda delta: delta.data)
    factors = [*scalar_forms(entries.notation, node.scalars), *deltas]
    if node.core is not None:
        factors.append(entries.at(node.core, [first[i] for i in node.subscripts[-1]]))
    return algebra.product(factors)


def _product_entry(entries: EntryForms, node: Einsum) -> Form:
    notation = entries.notation
    axes: tuple[Label, ...] = tuple(range(node.order))
    indexed = as_slice(labelled_factors(node))
    if indexed is not None and entries.is_block(indexed.tensor):
        block = Form("slice", [notation.of(indexed.tensor)], indexed.indices, node.order)
        places = axes if indexed.axes is None else tuple([indexed.axes.index(k) for k in axes])
        return entry_form(block, places)
    product = SelectorAbsorption(node, entries.fresh).product(notation.style == "index")
    blocks: list[Factor] = []
    others: list[Factor] = []
    for operand, labels in product.factors:
        whole = entries.is_block(operand) and len(labels) <= 2 and notation.style != "index"
        (blocks if whole else others).append((operand, labels))
    pinned = {k for _, labels in others for k in labels}.union(
        *[form.labels for form in product.conditions]
    )
    pinned |= {label for _, labels in blocks for label in labels if isinstance(label, Position)}
    # An index may occur only in the limit of another sum.
    ends = [end for limits in product.summed.values() for end in limits]
    pinned |= {k for label in (*pinned, *ends) for k in indices(label)}
    edges = [(notation.of(operand), labels) for operand, labels in blocks]
    lengths = {
        label: length
        for operand, labels in blocks
        for label, length in zip(labels, shape_of(operand), strict=True)
    }
    network = Network(algebra, edges, pinned.union(axes), lengths, WITHOUT_ENTRYWISE_PRODUCTS)
    network.reduce()
    factors = [
        entry_form(form, tuple([k for k in labels if isinstance(k, Label)]))
        for form, labels in network.edges
    ]
    counted = Counter([*factors, *[entries.at(operand, labels) for operand, labels in others]])
    factors = [form if count == 1 else entry_power(form, count) for form, count in counted.items()]
    # Tensors before vectors, bracketed factors last.
    factors.sort(key=_factor_rank)
    used = pinned.union(*[labels for _, labels in network.edges])
    summed = {k: limits for k, limits in product.summed.items() if k in used}
    inside = algebra.product([*network.scalars, *sorted(product.conditions, key=_axes), *factors])
    return summed_over(inside, summed)


def _windows_entry(entries: EntryForms, node: Positions) -> Form:
    target = node.order - 1
    source = position(node.start, list(zip(node.steps, range(target), strict=True)))
    return Form("delta", (), (source, target))


def _extremum_entry(entries: EntryForms, node: Extremum) -> Form:
    (operand,) = node.operands
    kept = iter(range(node.order))
    axes = range(operand.order)
    labels = [next(entries.fresh) if axis in node.axes else next(kept) for axis in axes]
    first = Position(S.Zero)
    over = [(labels[axis], first, Position(operand.shape[axis] - 1)) for axis in node.axes]
    return Form(node.name, [entries.at(operand, labels)], tuple(over))


def _axes(condition: Form) -> list[int]:
    """Return the axes in a condition."""
    return sorted({k for label in condition.data for k in indices(label) if isinstance(k, int)})


def _factor_rank(form: Form) -> tuple[bool, bool, int, list[int]]:
    labels = form.data if form.kind == "entry" else ()
    named = [k if type(k) is int else -1 for k in labels]
    return form.kind != "ordered", form.level < POWER, -len(labels), named


FORMULAS: NodeTable[Callable[..., Form]] = NodeTable(
    "the formula of an entry",
    {
        View: _view_entry,
        Einsum: _product_entry,
        TensorAdd: _sum_entry,
        Elementwise: _elementwise_entry,
        Extremum: _extremum_entry,
        Positions: _windows_entry,
        Triangle: lambda entries, node: ordered(node.offset, 0, 1),
        **dict.fromkeys(
            [TensorSymbol, Zeros, Constant, LeviCivita, Unit, Selection, Fourier], _unchanged_entry
        ),
        **dict.fromkeys([MatrixFunction, AxesFunction, RunningFunction], _unchanged_entry),
        **dict.fromkeys([OneHot, Reshape, Scan, Solution, Unevaluated, Unknown], _unchanged_entry),
    },
)
