"""Which formula stands for an expression: matrix, index, einsum or Lippmann's notation.

Forms are built bottom-up over the graph, each node once; in an expression too long to be read, what
is used again or is long by itself is replaced by a name, and the names are defined behind it.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
[L] A. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sympy import Mul

from ..core import (
    ENTRIES_APART,
    LETTERS,
    PRODUCTS_FIRST,
    Network,
    TensorError,
    UnsupportedError,
    children,
    index_letter,
    postorder,
)
from ..expressions import (
    Einsum,
    Elementwise,
    Reshape,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Unit,
    View,
    slot,
)
from . import algebra, forms
from .entries import entry, named, relabel
from .forms import POWER, Form, Position
from .functions import body_level, elementwise_form, function_form, leaf_form
from .naming import (
    DEEP,
    LONG,
    is_long,
    is_nameable,
    length_names,
    names,
    partial_sums,
    repeated,
    shown_names,
    with_names,
)
from .norms import Norm, normed
from .slices import merged, sliced

NOTATIONS = ("auto", "matrix", "index", "einsum", "star")

# How tightly scalars hold together in automatic notation: SymPy asks before it prints.
_levels: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


class Notation:
    """The forms of expressions in one notation; ``where`` says whether parts of long ones may
    get names."""

    def __init__(self, style: str = "auto", where: bool = True):
        if style not in NOTATIONS:
            raise TensorError(f"there is no notation {style!r}; choose from {', '.join(NOTATIONS)}")
        self.style = style
        self.where = where
        # Whether somebody will show the definitions that are pending.
        self.is_collecting = False
        self._wholes: dict[Any, Form] = {}
        self._by_entries: dict[Any, Form] = {}
        self._fresh = itertools.count(1000)
        self._shown: set[str] = set()
        self._taken: set[str] = set()
        self._named: dict[Any, Form] = {}
        self._pending: list[Any] = []
        self._sums: dict[Any, tuple[Any, ...]] = {}
        self._new_names = names(self._taken)

    def form(self, root: Any) -> Form:
        """The form of an expression.

        Raises UnsupportedError if there is none in matrix notation.
        """
        if root not in self._wholes:
            self._build(root)
        return self._finished(root, self._wholes[root])

    def definitions(self) -> list[tuple[Form, Form]]:
        """The names given since this was asked last, and what they stand for."""
        found = []
        for node in self._pending:
            form = self._finished(node, self._named[node])
            name = self._wholes[node]
            if isinstance(node, TensorExpr) and self.has_indices(node):
                name = named(entry(name, tuple(range(node.order))), self._letters(), node.order)
            found.append((name, form))
        self._pending = []
        return found

    def has_indices(self, node: TensorExpr) -> bool:
        """Whether a tensor is written by its entries; its form must have been asked for."""
        whole = self._named.get(node) or self._of(node)
        if not node.order or self.style != "auto":
            return bool(node.order) and self.style == "index"
        composed = isinstance(node, (Einsum, TensorAdd, Elementwise))
        open_order = node.order > 2 and composed and whole.kind not in ("slice", "ones", "zeros")
        return open_order or not whole.pure

    def _finished(self, node: Any, whole: Form) -> Form:
        if not isinstance(node, TensorExpr):
            return named(whole, self._letters(), 0)
        if self.style == "matrix" and (node.order > 2 or not whole.pure):
            raise UnsupportedError(_no_matrix(node, whole))
        return named(
            self._entries(node) if self.has_indices(node) else whole, self._letters(), node.order
        )

    def _letters(self) -> list[str]:
        return [letter for letter in LETTERS if letter not in self._shown]

    # --- whole forms

    def _build(self, root: Any) -> None:
        nodes = postorder([root], lambda n: () if n in self._wholes else children(n))
        self._shown |= shown_names(nodes)
        self._taken |= self._shown | length_names(nodes)
        shortens = self.where and is_long(root)
        if shortens:
            self._sums.update(partial_sums(nodes))
        shared = repeated(nodes, self._wholes, self._sums) if shortens else set()
        for node in nodes:
            if node in self._wholes:
                continue
            form = self._readable(node) if isinstance(node, TensorExpr) else self._stock(node)
            if self.style == "auto" and isinstance(node, TensorExpr) and not node.order:
                _levels[node] = form.level
            if (
                shortens
                and node is not root
                and (node in shared or form.size > LONG or form.depth > DEEP)
                and is_nameable(node)
            ):
                form = self._name(node, form)
            self._wholes[node] = form

    def _name(self, node: Any, form: Form) -> Form:
        """The name that a node stands as from now on."""
        self._named[node] = form
        self._pending.append(node)
        symbol = TensorSymbol(next(self._new_names), getattr(node, "shape", ()))
        is_symmetric = form.axes == 2 and algebra.transpose(form) is form
        return Form("symbol", (), (symbol, is_symmetric), symbol.order)

    def _readable(self, node: TensorExpr) -> Form:
        """The form; a scalar that has no matrix form is one of entries."""
        form = self._whole(node)
        by_entries = self.style == "index" or (self.style == "auto" and not form.pure)
        if node.order or isinstance(node, TensorSymbol) or not by_entries:
            return form
        self._wholes[node] = form
        return self._entries(node)

    def _stock(self, expr: Any) -> Form:
        """The form of a SymPy scalar, with the names of parts in it in their places."""
        below = [self._wholes[arg] for arg in expr.args]
        extent = sum(part.size for part in below), max((part.depth for part in below), default=0)
        inside = postorder([expr], self._unnamed_args)
        parts = [node for node in inside if isinstance(node, TensorExpr) or node in self._named]
        shown = {node: self.norm(node) for node in inside}
        norms = {node: norm for node, norm in shown.items() if norm is not node}
        if all(isinstance(part, TensorExpr) for part in parts):
            return forms.stock(with_names(expr, norms) if norms else expr, extent)
        body = with_names(expr, {part: slot(k) for k, part in enumerate(parts)} | norms)
        return Form("placed", [self._of(part) for part in parts], body, 0, body_level(body), extent)

    def norm(self, expr: Any) -> Any:
        """A power of a sum of squares as the power of a norm, where it is shown as one."""
        tensor = normed(expr)
        if tensor is None or self.style not in ("auto", "matrix"):
            return expr
        between = {expr.base, *expr.base.operands} - {tensor}
        self.form(tensor)
        if self.has_indices(tensor) or not self._named.keys().isdisjoint(between):
            return expr
        return Norm(tensor) ** (2 * expr.exp)

    def _unnamed_args(self, node: Any) -> Sequence[Any]:
        return () if isinstance(node, TensorExpr) or node in self._named else node.args

    def _of(self, node: Any) -> Form:
        """The form that stands for a node in others."""
        return self._wholes[node]

    def _terms(self, node: TensorExpr) -> Sequence[Any]:
        """What is written for a node: the operands, or an earlier sum and the other terms."""
        return self._sums.get(node, node.operands)

    def _whole(self, node: TensorExpr) -> Form:
        """The form without indices: in matrix notation as far as there is one."""
        if isinstance(node, View):
            return self._view(node)
        if isinstance(node, Einsum):
            return self._product(node.operands, node.subscripts, node.output, node)
        if isinstance(node, TensorAdd):
            return algebra.total([self._of(term) for term in self._terms(node)], node.order)
        if isinstance(node, Elementwise):
            operands = [self._of(operand) for operand in node.operands]
            return elementwise_form(node.body, operands, node.shape)
        below = [self._of(operand) for operand in node.operands]
        if isinstance(node, Reshape):
            pair = _kronecker_factors(node)
            if pair is not None and self.style not in ("einsum", "star"):
                return Form("kron", [self._of(factor) for factor in pair], None, 2)
        return leaf_form(node) if not below else function_form(node, below[0])

    def _scalars(self, factors: Sequence[Any]) -> list[Form]:
        """Scalar factors; tensor expressions are taken out of SymPy's products."""
        found = []
        for factor in factors:
            parts = factor.args if factor.is_Mul else ()
            inside = [part for part in parts if isinstance(part, TensorExpr)]
            if inside and not any(p.is_Pow and p.exp.could_extract_minus_sign() for p in parts):
                rest = Mul(*[part for part in parts if part not in inside])
                found.append(self._stock(rest))
                found.extend(self._of(part) for part in inside)
            else:
                found.append(self._of(factor))
        return found

    def _view(self, node: View) -> Form:
        """Scalar factors and a tensor, rearranged."""
        count = len(node.scalars)
        terms: Sequence[Any] = node.subscripts[count:]
        operands: Sequence[Any] = node.operands[count:]
        scalars = self._scalars(node.scalars)
        core = node.core
        if self.style in ("einsum", "star") and type(core) is Einsum and core not in self._named:
            operands, terms, _ = merged(core, node.subscripts[-1], node.lengths)
        if (
            core is None
            or tuple(node.output) != tuple(node.subscripts[-1])
            or len(set(node.output)) < len(node.output)
        ):
            inside = self._product(operands, terms, node.output, node)
        else:
            inside = self._of(core)
        return algebra.product([*scalars, inside]) if scalars else inside

    def _product(
        self, operands: Sequence[Any], terms: Sequence[Any], output: Sequence[Any], node: Any
    ) -> Form:
        present = {label for term in terms for label in term}
        extra = [label for label in dict.fromkeys(output) if label not in present]
        if self.style in ("einsum", "star"):
            return self._index_string(operands, terms, output, extra, node)
        cut = sliced(operands, terms, output)
        if cut is not None:
            return Form("slice", [self._of(cut[0])], tuple(cut[1]), len(output))
        if not operands and extra == list(output):
            return algebra.ones(node.shape)
        matrix = self._matrix(operands, terms, output, node.lengths)
        if matrix is None:
            return self._index_string(operands, terms, output, extra, node)
        return matrix

    def _matrix(
        self,
        operands: Sequence[Any],
        terms: Sequence[Any],
        output: Any,
        lengths: Sequence[Any],
    ) -> Form | None:
        """The product as one matrix or vector."""
        if len(output) > 2 or any(len(term) > 2 for term in terms):
            return None
        edges = [(self._of(o), tuple(term)) for o, term in zip(operands, terms, strict=True)]
        if not all(form.pure for form, _ in edges):
            return None
        network = Network(algebra, edges, output, dict(enumerate(lengths)), PRODUCTS_FIRST)
        return network.result(output)

    def _index_string(
        self,
        operands: Sequence[Any],
        terms: Sequence[Any],
        output: Sequence[Any],
        extra: Sequence[Any],
        node: Any,
    ) -> Form:
        parts = [self._of(operand) for operand in operands]
        parts.extend(algebra.ones((node.lengths[label],)) for label in extra)
        terms = [*terms, *[(label,) for label in extra]]
        number: dict[Any, str] = {}
        for label in [label for term in terms for label in term]:
            number.setdefault(label, index_letter(len(number)))
        words = ["".join(number[label] for label in term) for term in terms]
        data = (tuple(words), "".join(number[label] for label in output))
        star = self.style == "star" and len(parts) == 2
        return Form("star" if star else "wenig", parts, data, len(output))

    # --- by entries

    def _is_block(self, node: Any) -> bool:
        """Whether a node stays whole and gets its indices outside."""
        if not node.order or not isinstance(node, (Einsum, TensorAdd, Elementwise)):
            return True
        if node in self._named:
            return True
        return self.style != "index" and node.order <= 2 and self._of(node).pure

    def _entries(self, root: TensorExpr) -> Form:
        """The entry of a tensor whose indices are numbered from 0."""
        if root in self._by_entries and root not in self._named:
            return self._by_entries[root]

        def below(node: Any) -> Any:
            if node is not root and (node in self._by_entries or self._is_block(node)):
                return ()
            return [o for o in self._terms(node) if isinstance(o, TensorExpr) and o.order]

        for node in postorder([root], below)[:-1]:
            if node not in self._by_entries:
                self._by_entries[node] = self._entry(node, self._is_block(node))
        form = self._entry(root, False)
        # Elsewhere what is named stands as its name.
        return form if root in self._named else self._by_entries.setdefault(root, form)

    def _at(self, node: Any, labels: Sequence[Any]) -> Form:
        """The entry of an operand at labels."""
        if not isinstance(node, TensorExpr) or not node.order:
            return self._of(node)
        return relabel(self._by_entries[node], dict(enumerate(labels)))

    def _entry(self, node: TensorExpr, block: bool) -> Form:
        if block:
            return entry(self._of(node), tuple(range(node.order)))
        if not isinstance(node, (Einsum, TensorAdd, Elementwise)):
            return entry(self._named.get(node) or self._of(node), tuple(range(node.order)))
        axes = range(node.order)
        if isinstance(node, TensorAdd):
            return algebra.total([self._at(term, axes) for term in self._terms(node)], 0)
        if isinstance(node, Elementwise):
            parts = [self._at(o, axes) for o in node.operands]
            return Form("placed", parts, node.body, 0, body_level(node.body))
        if isinstance(node, View):
            return self._view_entry(node)
        return self._product_entry(node)

    def _view_entry(self, node: View) -> Form:
        first: dict[Any, int] = {}
        deltas = []
        for axis, index in enumerate(node.output):
            if first.setdefault(index, axis) != axis:
                deltas.append(Form("delta", (), (first[index], axis)))
        deltas.sort(key=lambda delta: delta.data)
        factors = [*self._scalars(node.scalars), *deltas]
        if node.core is not None:
            factors.append(self._at(node.core, [first[i] for i in node.subscripts[-1]]))
        return algebra.product(factors)

    def _product_entry(self, node: Einsum) -> Form:
        label: dict[int, Any] = {index: axis for axis, index in enumerate(node.output)}
        for index in range(len(node.lengths)):
            if index not in label:
                label[index] = next(self._fresh)
        axes = tuple(range(node.order))
        cut = sliced(node.operands, node.subscripts, node.output)
        if cut is not None and self._is_block(cut[0]):
            return entry(Form("slice", [self._of(cut[0])], tuple(cut[1]), node.order), axes)
        given = list(zip(node.operands, node.subscripts, strict=True))
        for operand, term in given:
            if (
                isinstance(operand, Unit)
                and type(label[term[0]]) is int
                and label[term[0]] not in axes
            ):
                # Σ_j T_ij e_p j is T_ip.
                label[term[0]] = Position(operand.position)
        pairs = [
            (operand, tuple([label[index] for index in term]))
            for operand, term in given
            if not (isinstance(operand, Unit) and label[term[0]] == Position(operand.position))
        ]
        whole = [self._is_block(o) and len(t) <= 2 and self.style != "index" for o, t in pairs]
        pinned = {k for (_, t), block in zip(pairs, whole, strict=True) if not block for k in t}
        edges = [(self._of(o), t) for (o, t), block in zip(pairs, whole, strict=True) if block]
        lengths = {label[index]: length for index, length in enumerate(node.lengths)}
        fixed = {k for k in label.values() if type(k) is not int}
        kept = pinned.union(axes, fixed)
        network = Network(algebra, edges, kept, lengths, ENTRIES_APART)
        network.reduce()
        factors = [entry(form, labels) for form, labels in network.edges]
        factors += [self._at(o, t) for (o, t), block in zip(pairs, whole, strict=True) if not block]
        # Tensors before vectors, what needs brackets last.
        factors.sort(key=_factor_rank)
        used = {k for _, labels in network.edges for k in labels} | pinned
        summed = [k for k in sorted(lengths.keys() - fixed - set(axes)) if k in used]
        inside = algebra.product([*network.scalars, *factors])
        return Form("sigma", [inside], tuple((k, lengths[k]) for k in summed)) if summed else inside


# Levels are asked for one scalar after the other, mostly of one graph.
_asked = [Notation()]
MAX_ASKED = 10_000


def level_of(node: TensorExpr) -> int:
    """How tightly the form of a scalar holds together in automatic notation."""
    if node not in _levels:
        if len(_asked[0]._wholes) > MAX_ASKED:
            _asked[0] = Notation()
        _asked[0].form(node)
    return _levels[node]


def _no_matrix(node: TensorExpr, whole: Form) -> str:
    if whole.pure:
        return f"matrix notation ends at order 2, and this tensor has order {node.order}"
    stuck = whole
    while not all(part.pure for part in stuck.parts):
        stuck = next(part for part in stuck.parts if not part.pure)
    inputs, output = stuck.data
    return (
        f"the product '{','.join(inputs)}->{output}' isn't one of matrices and vectors; "
        "notation='auto' prints it by its entries"
    )


def _factor_rank(form: Form) -> tuple[bool, int, list[int]]:
    labels = form.data if form.kind == "entry" else ()
    return form.level < POWER, -len(labels), [k if type(k) is int else -1 for k in labels]


def _kronecker_factors(node: Reshape) -> Any:
    """The matrices A and B if the reshaped tensor is A_ij B_kl with axes i, k, j, l."""
    inner = node.operands[0]
    if node.order != 2 or inner.order != 4 or not isinstance(inner, View):
        return None
    core = inner.core
    if type(core) is not Einsum or inner.scalars or len(core.operands) != 2:
        return None
    operands, terms, _ = merged(core, inner.subscripts[-1], inner.lengths)
    output = inner.output
    for one, two in ((0, 1), (1, 0)):
        halves = (output[0], output[2]), (output[1], output[3])
        if (terms[one], terms[two]) == halves and len(set(output)) == 4:
            rows = inner.shape[0] * inner.shape[1]
            return (operands[one], operands[two]) if rows == node.shape[0] else None
    return None
