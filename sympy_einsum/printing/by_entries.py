"""Tensors written by their entries: Σ_j T_ijk x_j, with what has a matrix form kept whole."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..core import ENTRIES_APART, Network, NodeTable, postorder
from ..expressions import (
    AxesFunction,
    Constant,
    Einsum,
    Elementwise,
    Extremum,
    MatrixFunction,
    OneHot,
    Operand,
    Positions,
    Reshape,
    RunningFunction,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unit,
    View,
    Zeros,
)
from . import algebra
from .entries import entry, relabel
from .forms import POWER, Form, Label, Position
from .functions import body_level
from .node_forms import scalar_forms
from .slices import factors_of, sliced

if TYPE_CHECKING:
    from .notation import Notation

Row = Callable[["Entries", TensorExpr], Form]


class Entries:
    """The forms of entries in one notation; a tensor's own indices are numbered from 0."""

    def __init__(self, notation: Notation):
        self.notation = notation
        self.fresh = itertools.count(1000)
        self._forms: dict[TensorExpr, Form] = {}

    def of(self, root: TensorExpr) -> Form:
        """The entry of a tensor."""
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
                self._forms[node] = _block(self, node) if self.is_block(node) else _row(self, node)
        form = _row(self, root)
        # Elsewhere what is named stands as its name.
        return form if named else self._forms.setdefault(root, form)

    def is_block(self, node: Operand) -> bool:
        """Whether a node stays whole and gets its indices outside."""
        if not node.order or not is_composed(node) or self.notation.is_named(node):
            return True
        return self.notation.style != "index" and node.order <= 2 and self.notation.of(node).pure

    def at(self, node: Operand, labels: Sequence[Label]) -> Form:
        """The entry of an operand at labels."""
        if not isinstance(node, TensorExpr) or not node.order:
            return self.notation.of(node)
        return relabel(self._forms[node], dict(enumerate(labels)))


def is_composed(node: TensorExpr) -> bool:
    """Whether the entries of a node are written from those of its operands."""
    return FORMULAS[type(node)] is not _whole


def _row(entries: Entries, node: TensorExpr) -> Form:
    return FORMULAS[type(node)](entries, node)


def _block(entries: Entries, node: TensorExpr) -> Form:
    return entry(entries.notation.of(node), tuple(range(node.order)))


def _whole(entries: Entries, node: TensorExpr) -> Form:
    return entry(entries.notation.meaning(node), tuple(range(node.order)))


def _sum(entries: Entries, node: TensorAdd) -> Form:
    axes = range(node.order)
    return algebra.total([entries.at(term, axes) for term in entries.notation.terms(node)], 0)


def _function(entries: Entries, node: Elementwise) -> Form:
    parts = [entries.at(operand, range(node.order)) for operand in node.operands]
    return Form("placed", parts, node.body, 0, body_level(node.body))


def _view(entries: Entries, node: View) -> Form:
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


def _product(entries: Entries, node: Einsum) -> Form:
    notation, axes = entries.notation, tuple(range(node.order))
    cut = sliced(factors_of(node))
    if cut is not None and entries.is_block(cut.tensor):
        return entry(Form("slice", [notation.of(cut.tensor)], cut.cuts, node.order), axes)
    label = _labels(entries, node)
    pairs = [
        (operand, tuple([label[index] for index in term]))
        for operand, term in zip(node.operands, node.subscripts, strict=True)
        if not (isinstance(operand, Unit) and label[term[0]] == Position(operand.position))
    ]
    blocks: list[tuple[Operand, tuple[Label, ...]]] = []
    others: list[tuple[Operand, tuple[Label, ...]]] = []
    for operand, labels in pairs:
        whole = entries.is_block(operand) and len(labels) <= 2 and notation.style != "index"
        (blocks if whole else others).append((operand, labels))
    pinned = {k for _, labels in others for k in labels}
    lengths = {label[index]: length for index, length in enumerate(node.lengths)}
    fixed = {k for k in label.values() if type(k) is not int}
    edges = [(notation.of(operand), labels) for operand, labels in blocks]
    network = Network(algebra, edges, pinned.union(axes, fixed), lengths, ENTRIES_APART)
    network.reduce()
    factors = [entry(form, labels) for form, labels in network.edges]
    factors += [entries.at(operand, labels) for operand, labels in others]
    # Tensors before vectors, what needs brackets last.
    factors.sort(key=_factor_rank)
    used = pinned.union(*[labels for _, labels in network.edges])
    summed = [k for k in sorted(lengths.keys() - fixed - set(axes)) if k in used]
    inside = algebra.product([*network.scalars, *factors])
    return Form("sigma", [inside], tuple((k, lengths[k]) for k in summed)) if summed else inside


def _labels(entries: Entries, node: Einsum) -> dict[int, Label]:
    """The label of each index: an axis, a new number, or the position of a unit vector, since
    Σ_j T_ij e_p j is T_ip."""
    label: dict[int, Label] = {index: axis for axis, index in enumerate(node.output)}
    summed = [index for index in range(len(node.lengths)) if index not in label]
    label.update({index: next(entries.fresh) for index in summed})
    for operand, term in zip(node.operands, node.subscripts, strict=True):
        if isinstance(operand, Unit) and term[0] in summed and type(label[term[0]]) is int:
            label[term[0]] = Position(operand.position)
    return label


def _extremum(entries: Entries, node: Extremum) -> Form:
    (operand,) = node.operands
    kept = iter(range(node.order))
    axes = range(operand.order)
    labels = [next(entries.fresh) if axis in node.axes else next(kept) for axis in axes]
    over = tuple([(labels[axis], operand.shape[axis]) for axis in node.axes])
    return Form(node.name, [entries.at(operand, labels)], over)


def _factor_rank(form: Form) -> tuple[bool, int, list[int]]:
    labels = form.data if form.kind == "entry" else ()
    return form.level < POWER, -len(labels), [k if type(k) is int else -1 for k in labels]


FORMULAS: NodeTable[Callable[..., Form]] = NodeTable(
    "the formula of an entry",
    {
        View: _view,
        Einsum: _product,
        TensorAdd: _sum,
        Elementwise: _function,
        Extremum: _extremum,
        **dict.fromkeys([TensorSymbol, Zeros, Constant, Positions, Triangle], _whole),
        **dict.fromkeys([MatrixFunction, AxesFunction, RunningFunction], _whole),
        **dict.fromkeys([OneHot, Reshape], _whole),
    },
)
