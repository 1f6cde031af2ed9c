"""Build formulas of expressions in matrix, index, einsum or Lippmann's notation.

Forms are built bottom-up over the graph, each node once; in a long expression, shared or long nodes
are replaced by names, which are defined after it.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from sympy import Basic, Expr

from ..core import (
    LETTERS,
    TensorError,
    UnsupportedError,
    children,
    postorder,
    register_cache_clear,
    tuning,
)
from ..expressions import Operand, Scan, TensorAdd, TensorExpr, TensorSymbol, slot
from . import algebra, forms
from .by_entries import EntryForms, is_composed
from .entries import entry_form, named
from .forms import ATOM, Form
from .functions import body_level
from .joined import Call, find_call
from .matrix_literals import Entries, split_entries
from .naming import (
    Abbreviation,
    Sums,
    is_long_text,
    length_names,
    names,
    shown_names,
    with_names,
)
from .node_forms import FORMULAS
from .norms import Norm, normed
from .recurrences import Recurrences

NOTATIONS = ("auto", "matrix", "index", "einsum", "star")

# Precedence of scalars in automatic notation, which SymPy queries before printing.
_levels: WeakKeyDictionary[TensorExpr, int] = WeakKeyDictionary()


class Notation:
    """Build forms of expressions in one notation; ``where`` allows names for parts of long ones."""

    def __init__(self, style: str = "auto", where: bool = True):
        if style not in NOTATIONS:
            raise TensorError(f"unknown notation {style!r}; choose from {', '.join(NOTATIONS)}")
        self.style = style
        self.where = where
        # Whether the caller shows pending definitions.
        self.is_collecting = False
        self._wholes: dict[Basic, Form] = {}
        self._entries = EntryForms(self)
        self._shown: set[str] = set()
        self._taken: set[str] = set()
        self._named: dict[Basic, Form] = {}
        self._pending: list[Basic] = []
        self._sums: dict[TensorExpr, tuple[Operand, ...]] = {}
        self._joined_tensors: dict[TensorAdd, Call | None] = {}
        self._new_names = names(self._taken)
        self.recurrences = Recurrences(self)

    def form(self, root: Basic) -> Form:
        """Return the form of an expression.

        Raises UnsupportedError if there is none in matrix notation.
        """
        if root not in self._wholes:
            self._build(root)
        return self._finished(root, self._wholes[root])

    def avoid(self, names: set[str]) -> None:
        """Reserve letters that have a meaning outside of the expression."""
        self._shown |= names
        self._taken |= names

    def definitions(self) -> list[tuple[Form, Form]]:
        """Return the names assigned since the last call with their definitions."""
        found = []
        for node in self._pending:
            form = self._finished(node, self._named[node])
            name = self._wholes[node]
            if isinstance(node, TensorExpr) and self.has_indices(node):
                name = named(
                    entry_form(name, tuple(range(node.order))), self._letters(), node.order
                )
            found.append((name, form))
        self._pending = []
        found += self.recurrences.pending
        self.recurrences.pending = []
        return found

    @property
    def reserved(self) -> set[str]:
        """The names that occur in formulas."""
        return self._shown | self._taken

    def show(self, symbol: TensorSymbol, form: Form) -> None:
        """Show a symbol as a form."""
        self._wholes[symbol] = form
        if not symbol.order:
            _levels[symbol] = form.level

    def finished(self, node: Operand) -> Form:
        """Return the finished form of a part that need not occur in the expression."""
        return self._finished(node, self.whole(node))

    def has_indices(self, node: TensorExpr) -> bool:
        """Tell whether a tensor is written by its entries; its form must have been built."""
        whole = self.meaning(node)
        if not node.order or self.style != "auto":
            return bool(node.order) and self.style == "index"
        is_open = node.order > 2 and is_composed(node)
        return (is_open and whole.kind not in ("slice", "ones", "zeros")) or not whole.pure

    def _finished(self, node: Basic, whole: Form) -> Form:
        if not isinstance(node, TensorExpr):
            return named(whole, self._letters(), 0)
        if self.style == "matrix" and (node.order > 2 or not whole.pure):
            raise UnsupportedError(_no_matrix(node, whole))
        form = self._entries.of(node) if self.has_indices(node) else whole
        return named(form, self._letters(), node.order)

    def _letters(self) -> list[str]:
        return [letter for letter in LETTERS if letter not in self._shown]

    # --- building blocks of forms

    def of(self, node: Basic) -> Form:
        """Return the form of a node inside others."""
        return self._wholes[node]

    def whole(self, root: Operand) -> Form:
        """Return the form of a tensor that need not occur in the expression, such as a block."""
        for node in postorder([root], self._below):
            if node not in self._wholes:
                self._wholes[node] = self._levelled(node)
        return self._wholes[root]

    def joined_tensors(self, node: TensorAdd) -> Call | None:
        """Find the joined tensors of a sum; return None where its terms are shown, as in index
        strings and by entries."""
        if self.style not in ("auto", "matrix") or node.order not in (1, 2) or node in self._sums:
            return None
        if node not in self._joined_tensors:
            self._joined_tensors[node] = find_call(node)
        return self._joined_tensors[node]

    def meaning(self, node: Basic) -> Form:
        """Return the form of a node itself, even if it has a name."""
        return self._named.get(node) or self._wholes[node]

    def is_named(self, node: Basic) -> bool:
        """Tell whether a node has a name."""
        return node in self._named

    def terms(self, node: TensorExpr) -> Sequence[Operand]:
        """Return the terms to write for a sum: all, or an earlier sum and the other terms."""
        return self._sums.get(node, node.operands)

    def split_entries(self, node: TensorAdd) -> tuple[Entries, Sequence[Operand]]:
        """Return the explicit entries in a sum and the other terms."""
        terms = self.terms(node)
        if self.style not in ("auto", "matrix"):
            return {}, terms
        return split_entries(terms, self.is_named)

    def stock(self, expr: Basic) -> Form:
        """Return the form of a SymPy scalar, with named parts replaced by their names."""
        below = [self._wholes[arg] for arg in expr.args]
        extent = sum(part.size for part in below), max((part.depth for part in below), default=0)
        inside = postorder([expr], self._unnamed_args)
        parts = [node for node in inside if isinstance(node, TensorExpr) or node in self._named]
        shown = {node: self.norm(node) for node in inside}
        norms = {node: norm for node, norm in shown.items() if norm is not node}
        if all(isinstance(part, TensorExpr) for part in parts):
            return forms.stock(with_names(expr, norms) if norms else expr, extent)
        body = with_names(expr, {part: slot(k) for k, part in enumerate(parts)} | norms)
        return Form("applied", [self.of(part) for part in parts], body, 0, body_level(body), extent)

    def norm(self, expr: Expr) -> Expr:
        """Replace a power of a sum of squares by the power of a norm, where it is shown as one."""
        tensor = normed(expr)
        if tensor is None or self.style not in ("auto", "matrix"):
            return expr
        between = {expr.base, *expr.base.operands} - {tensor}
        self.form(tensor)
        if self.has_indices(tensor) or not self._named.keys().isdisjoint(between):
            return expr
        return Norm(tensor) ** (2 * expr.exp)

    def _unnamed_args(self, node: Basic) -> Sequence[Basic]:
        return () if isinstance(node, TensorExpr) or node in self._named else node.args

    # --- whole forms

    def _build(self, root: Basic) -> None:
        nodes = postorder([root], self._below)
        self._shown |= shown_names(nodes)
        self._taken |= self._shown | length_names(nodes)
        self.recurrences.fuse([node for node in nodes if isinstance(node, Scan)])
        abbreviation = None
        if self.where and is_long_text(root):
            joined: Sums = {
                node: made.tensors for node, made in self._joined_tensors.items() if made
            }
            abbreviation = Abbreviation(root, nodes, self._wholes, joined)
            self._sums.update(abbreviation.sums)
        for node in nodes:
            if node in self._wholes:
                continue
            form = self._levelled(node)
            is_big = form.size > tuning.LONG_PART or form.depth > tuning.DEEP_PART
            is_named = abbreviation is not None and abbreviation.names(node, is_big)
            # A power of a norm is short, and is written without its name.
            if is_named and self.norm(node) is node:
                form = self._name(node, form)
            self._wholes[node] = form

    def _below(self, node: Basic) -> Sequence[Basic]:
        """Return the children whose forms aren't built yet."""
        if node in self._wholes:
            return ()
        made = self.joined_tensors(node) if isinstance(node, TensorAdd) else None
        return children(node) if made is None else made.tensors

    def _levelled(self, node: Basic) -> Form:
        """Return the form of a node; that of a scalar tells its precedence."""
        form = self._whole(node)
        if self.style == "auto" and isinstance(node, TensorExpr) and not node.order:
            is_negative = form.kind == "product" and form.data[0]
            _levels[node] = ATOM if is_negative else form.level  # brackets are its own
        return form

    def _whole(self, node: Basic) -> Form:
        return self._readable(node) if isinstance(node, TensorExpr) else self.stock(node)

    def _name(self, node: Basic, form: Form) -> Form:
        """Name a node; later forms contain the name."""
        self._named[node] = form
        self._pending.append(node)
        symbol = TensorSymbol(next(self._new_names), getattr(node, "shape", ()))
        is_symmetric = form.axes == 2 and algebra.transpose(form) is form
        return Form("symbol", (), (symbol, is_symmetric), symbol.order)

    def _readable(self, node: TensorExpr) -> Form:
        """Return the form; a scalar without a matrix form is written by entries."""
        form = FORMULAS[type(node)](self, node)
        by_entries = self.style == "index" or (self.style == "auto" and not form.pure)
        if node.order or isinstance(node, TensorSymbol) or not by_entries:
            return form
        self._wholes[node] = form
        return self._entries.of(node)


# Successive queries mostly concern scalars of one graph.
_asked = [Notation()]


@register_cache_clear
def _forget_asked() -> None:
    _asked[0] = Notation()


def level_of(node: TensorExpr) -> int:
    """Return the precedence of a scalar in automatic notation."""
    if node not in _levels:
        if len(_asked[0]._wholes) > tuning.MAX_NOTATIONS:
            _forget_asked()
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
