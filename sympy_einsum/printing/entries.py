"""Index whole forms, and assign letters to indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sympy import Expr, S

from ..core import LETTERS, index_letter
from . import algebra, forms
from .forms import BINDERS, INDEXED, Form, Label, Position, position, rename_label
from .functions import body_level, slots
from .slices import Cut, Range


def entry_form(form: Form, labels: tuple[Label, ...]) -> Form:
    """Return the entry of a form at labels, expanded where that is shorter."""
    if not labels or not form.axes:
        return form
    if form.kind == "product":
        return _product_at(form, labels)
    if form.kind in ("hadamard", "applied", "hadamard_power", "quotient"):
        parts = [entry_form(part, labels) for part in form.parts]
        return _scalar_operation(form, parts)
    if form.kind == "ones":
        return forms.stock(S.One)
    if form.kind == "zeros":
        return forms.stock(S.Zero)
    if form.kind == "identity":
        return Form("delta", (), labels)
    if form.kind == "unit":
        return Form("delta", (), (*labels, Position(form.data[0])))
    if form.kind == "diag":
        inside = entry_form(form.parts[0], labels[:1])
        return algebra.product([Form("delta", (), labels), inside])
    if form.kind == "transpose" and form.parts[0].kind in ("symbol", "slice", "call", "applied"):
        return entry_form(form.parts[0], labels[::-1])
    if form.kind == "slice":
        rest = iter(labels)
        inner = [_label_of_index(part, rest) for part in form.data]
        return entry_form(form.parts[0], (*inner, *rest))
    if form.kind == "triangle":
        offset, is_lower = form.data
        return ordered(offset, *(labels[::-1] if is_lower else labels))
    if len(labels) == 2 and form.axes == 2:
        transposed = algebra.transpose(form)
        if transposed.kind != "transpose" and transposed.transposes < form.transposes:
            return Form("entry", [transposed], labels[::-1])
    return Form("entry", [form], labels)


def _label_of_index(index: Cut, labels: Iterator[Label]) -> Label:
    """Compose a label with the index or slice already in brackets."""
    if isinstance(index, Range):
        return position(index.first, [(index.step, next(labels))])
    return next(labels) if index is None else Position(index)


def ordered(offset: Expr, low: Label, high: Label) -> Form:
    """Return [low + offset ≤ high], written without minus."""
    if offset.could_extract_minus_sign():
        return Form("ordered", (), (low, position(-offset, [(S.One, high)])))
    return Form("ordered", (), (position(offset, [(S.One, low)]), high))


def _product_at(form: Form, labels: tuple[Label, ...]) -> Form:
    negative, count = form.data
    scalars, chain = list(form.parts[:count]), list(form.parts[count:])
    if negative:
        scalars.insert(0, forms.stock(S.NegativeOne))
    joint = next(
        (k for k in range(1, len(chain)) if chain[k - 1].axes == 1 and chain[k].axes == forms.ROW),
        0,
    )
    if len(labels) == 2 and joint:
        left, right = algebra.product(chain[:joint]), algebra.product(chain[joint:])
        inside = [entry_form(left, labels[:1]), entry_form(algebra.transpose(right), labels[1:])]
    elif len(chain) == 1:
        inside = [entry_form(chain[0], labels)]
    else:
        inside = [Form("entry", [algebra.product(chain)], labels)]
    return algebra.product([*scalars, *inside])


def _scalar_operation(form: Form, parts: list[Form]) -> Form:
    """Return the scalar operation on entries that corresponds to one on tensors."""
    if form.kind == "hadamard":
        return algebra.product(parts)
    arguments = slots(len(parts))
    if form.kind == "hadamard_power":
        return entry_power(parts[0], form.data)
    body = form.data if form.kind == "applied" else arguments[0] / arguments[1]
    return Form("applied", parts, body, 0, body_level(body))


def entry_power(form: Form, exponent: Expr | int) -> Form:
    """Raise an entry to a power."""
    body = slots(1)[0] ** exponent
    return Form("applied", [form], body, 0, body_level(body))


def relabel(form: Form, names: Mapping[Label, Label]) -> Form:
    """Rename the index labels of a form."""
    parts = [relabel(part, names) for part in form.parts]
    data = form.data
    if form.kind in BINDERS:
        data = tuple(
            [(k, rename_label(low, names), rename_label(high, names)) for k, low, high in data]
        )
        return Form(form.kind, parts, data, form.axes, form.level)
    if form.kind in INDEXED:
        data = tuple([rename_label(label, names) for label in data])
        if form.kind == "delta" and data[0] == data[1]:
            return forms.stock(S.One)
    elif not form.parts or all(a is b for a, b in zip(parts, form.parts, strict=True)):
        return form
    elif form.kind == "product" and any(part.data is S.One for part in parts):
        whole = algebra.product(parts)
        return algebra.negated(whole) if data[0] else whole
    return Form(form.kind, parts, data, form.axes, form.level)


def named(form: Form, letters: list[str], order: int) -> Form:
    """Name free indices by the first letters, summed ones by the next in each scope."""
    names: dict[Label, Label] = {axis: _letter(letters, axis) for axis in range(order)}

    def walk(node: Form, names: dict[Label, Label], depth: int) -> Form:
        if node.kind in BINDERS:
            names = dict(names)
            for offset, (label, *_) in enumerate(node.data):
                names[label] = _letter(letters, depth + offset)
            depth += len(node.data)
        parts = [walk(part, names, depth) for part in node.parts]
        data = node.data
        if node.kind in INDEXED:
            data = tuple([rename_label(label, names) for label in data])
        elif node.kind in BINDERS:
            data = tuple([tuple([rename_label(label, names) for label in limit]) for limit in data])
        return Form(node.kind, parts, data, node.axes, node.level)

    return walk(form, names, order)


def _letter(letters: list[str], k: int) -> str:
    return letters[k] if k < len(letters) else index_letter(k + len(LETTERS))
