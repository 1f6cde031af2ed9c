"""Text, LaTeX and pretty forms of tensor expressions. Importing this module attaches the hooks
that SymPy's printers look for.

May import: all node types. Every form is built bottom-up over the graph, each node once. ``str``
evaluates back to the same object. An expression whose text would be longer than anyone reads is
told by its size instead (``srepr`` then lists the graph, node by node).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import sympy
from sympy import S, Symbol
from sympy.core.function import AppliedUndef
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.str import StrPrinter

from .einsum import Delta, Einsum, Ones, TensorAdd, View
from .elementwise import Elementwise, Slot, slot
from .indices import index_letter
from .linalg import MatrixFunction
from .nodes import TensorExpr, flatten
from .reshape import Reshape
from .scalar_functions import FUNCTIONS
from .tensors import Constant, Selection, TensorSymbol, Unit, Zeros
from .traversal import children, postorder

# Longer texts are replaced by a summary.
MAX_LENGTH = 20_000

ATOM, POWER, PRODUCT, SUM = 3, 2, 1, 0
Text = tuple[str, int]


def _bracket(text: Text, level: int) -> str:
    return text[0] if text[1] >= level else f"({text[0]})"


class _Form:
    """How the parts of a text are spelled; the one place where str, srepr and LaTeX differ."""

    def __init__(self, printer: Any):
        self.printer = printer

    def stock(self, expr: Any) -> Text:
        """A SymPy scalar."""
        level = ATOM
        if expr.is_Add:
            level = SUM
        elif expr.is_Mul or expr.is_Rational or expr.is_Float or expr.is_Pow:
            level = PRODUCT if not (expr.is_Number and expr < 0) else SUM
            if expr.is_Integer and expr >= 0:
                level = ATOM
        return self.printer._print(expr), level

    def lengths(self, shape: Any) -> str:
        """Axis lengths, separated by commas."""
        return ", ".join(self.printer._print(length) for length in shape)

    def symbol(self, node: TensorSymbol) -> str:
        """A tensor symbol."""
        return node.name

    def call(self, name: str, *arguments: str) -> Text:
        """A function call."""
        return f"{name}({', '.join(arguments)})", ATOM

    def product(self, subscripts: str, operands: list[Text]) -> Text:
        """An einsum."""
        return self.call("einsum", repr(subscripts), *[text for text, _ in operands])

    def scaled(self, number: Any, factors: list[str]) -> str:
        """A product with a numeric coefficient; a fraction's denominator comes last."""
        sign = "-" if number.is_negative else ""
        number = abs(number)
        divisor = number.q if number.is_Rational else 1
        number *= divisor
        parts = factors if number is S.One else [self.printer._print(number), *factors]
        return sign + "*".join(parts) + (f"/{divisor}" if divisor != 1 else "")

    def transposed(self, operand: Text) -> Text:
        """A matrix transposed."""
        return f"{_bracket(operand, ATOM)}.T", ATOM

    def elementwise(self, body: Any, operands: list[Text]) -> Text:
        """A scalar function on tensors."""
        slots = [slot(k) for k in range(len(operands))]
        name = type(body).__name__
        if name in FUNCTIONS and list(body.args) == slots:
            return self.call(name, *[text for text, _ in operands])
        if body.is_Pow and body.base == slots[0] and body.exp.is_Integer:
            base = _bracket(operands[0], ATOM)
            exponent = f"{body.exp}" if body.exp > 0 else f"({body.exp})"
            return f"{base}**{exponent}", POWER
        text = _BodyPrinter({"sympy_integers": True}).doprint(body)
        arguments = ", ".join(s.name for s in slots)
        return self.call("elementwise", f"lambda {arguments}: {text}", *[t for t, _ in operands])

    def constant(self, node: Constant) -> Text:
        """An array of numbers."""
        return self.call("Constant", repr(node.array.tolist()))


class _BodyPrinter(StrPrinter):
    """Bodies as Python expressions; a function nobody defined can't be named in code."""

    def _print_Slot(self, expr: Any) -> str:
        return expr.name

    def _print_Function(self, expr: Any) -> str:
        name = type(expr).__name__
        if isinstance(expr, AppliedUndef):
            name = f"Function({name!r})"
        return f"{name}({self.stringify(expr.args, ', ')})"


class _ReprForm(_Form):
    """srepr: symbols are spelled out with their shapes and assumptions."""

    def stock(self, expr: Any) -> Text:
        return self.printer._print(expr), ATOM

    def scaled(self, number: Any, factors: list[str]) -> str:
        return "*".join([self.printer._print(number), *factors])

    def symbol(self, node: TensorSymbol) -> str:
        name, shape, assumptions = node.data
        lengths = self.lengths(shape) + ("," if len(shape) == 1 else "")
        flags = "".join(f", {assumption}=True" for assumption in assumptions)
        return f"TensorSymbol({name!r}, ({lengths}){flags})"


class _LatexForm(_Form):
    """LaTeX: einsum in the notation #(ij,j → i; A, x)."""

    def scaled(self, number: Any, factors: list[str]) -> str:
        sign = "-" if number.is_negative else ""
        parts = factors if abs(number) is S.One else [self.printer._print(abs(number)), *factors]
        return sign + " ".join(parts)

    def symbol(self, node: TensorSymbol) -> str:
        return latex_name(node.name, self.printer)

    def call(self, name: str, *arguments: str) -> Text:
        inside = ", ".join(arguments)
        return rf"\operatorname{{{name}}}\left({inside}\right)", ATOM

    def product(self, subscripts: str, operands: list[Text]) -> Text:
        shown = subscripts.replace("->", r" \to ")
        return rf"\#\left({shown};\, {', '.join(text for text, _ in operands)}\right)", ATOM

    def transposed(self, operand: Text) -> Text:
        return rf"{{{_bracket(operand, ATOM)}}}^{{\top}}", POWER

    def elementwise(self, body: Any, operands: list[Text]) -> Text:
        names = {slot(k): Symbol(f"S{k}S") for k in range(len(operands))}
        text = self.printer._print(body.xreplace(names))
        for k, operand in enumerate(operands):
            bare = body.is_Function or operand[1] == ATOM
            inner = operand[0] if bare else rf"\left({operand[0]}\right)"
            text = text.replace(f"S{k}S", inner)
        return text, ATOM if body.is_Function else (SUM if body.is_Add else PRODUCT)

    def constant(self, node: Constant) -> Text:
        return rf"\text{{array }}{self.lengths(node.shape)}", ATOM


_SAFE_LATEX = re.compile(
    r"(?:[A-Za-z0-9_^' ]|\{[A-Za-z0-9, ]*\}|\\(?:hat|bar|tilde|dot|ddot|vec|mathbf|mathrm|mathcal|"
    r"boldsymbol|alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|"
    r"sigma|tau|upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega)"
    r"(?![A-Za-z]))*"
)


def latex_name(name: str, printer: Any) -> str:
    """A symbol's name as SymPy typesets it; anything but letters, indices and accents is escaped,
    since a name may come from anywhere and a browser may run what LaTeX says."""
    if _SAFE_LATEX.fullmatch(name):
        return printer._print(Symbol(name))
    special = {"\\": r"\backslash{}", "^": r"\hat{}", "~": r"\tilde{}"}
    escaped = "".join(special.get(c, "\\" + c if c in "{}$&%#_" else c) for c in name)
    return rf"\mathtt{{{escaped}}}"


# --- one node ------------------------------------------------------------------------------------


def _node_text(node: Any, below: dict[Any, Text], form: _Form) -> Text:
    """The text of a node from the texts of its operands."""
    if isinstance(node, TensorSymbol):
        return form.symbol(node), ATOM
    if isinstance(node, (Zeros, Ones, Delta)):
        shape = node.shape[: node.order // 2] if isinstance(node, Delta) else node.shape
        return form.call(type(node).__name__, form.lengths(shape))
    if isinstance(node, Constant):
        return form.constant(node)
    if isinstance(node, (Unit, Selection)):
        identity = form.call("Delta", form.lengths(node.data[:1]))[0]
        return f"{identity}[{_entry(node, form)}]", ATOM
    if isinstance(node, View):
        return _view_text(node, below, form)
    if isinstance(node, Einsum):
        return _product_text(node, node.output, below, form)
    if isinstance(node, TensorAdd):
        return _sum_text(node, below, form)
    if isinstance(node, Elementwise):
        return form.elementwise(node.body, [below[operand] for operand in node.operands])
    if isinstance(node, MatrixFunction):
        return form.call(type(node).__name__.lower(), below[node.operands[0]][0])
    if isinstance(node, Reshape):
        return (
            f"{_bracket(below[node.operands[0]], ATOM)}.reshape({form.lengths(node.shape)})",
            ATOM,
        )
    raise TypeError(f"no printed form for {type(node).__name__}")


def _entry(node: Any, form: _Form) -> str:
    if isinstance(node, Unit):
        return form.lengths(node.data[1:])
    _, start, step, count = node.data
    stop = start + step * count
    end = "" if stop.is_negative else form.lengths([stop])
    return f"{form.lengths([start])}:{end}" + (f":{step}" if step != 1 else "")


def _sum_text(node: TensorAdd, below: dict[Any, Text], form: _Form) -> Text:
    text = ""
    for operand in node.operands:
        term = (
            _bracket(below[operand], PRODUCT) if below[operand][0][:1] != "-" else below[operand][0]
        )
        text += term if not text else f" - {term[1:]}" if term[:1] == "-" else f" + {term}"
    return text, SUM


def _view_text(node: View, below: dict[Any, Text], form: _Form) -> Text:
    if node.core is None:
        body = _product_text(node, node.output, below, form, skip=len(node.operands))
        half = node.order // 2
        if node.is_constant_fill:
            body = form.call("Ones", form.lengths(node.shape))
        elif node.output == tuple(range(half)) * 2:
            body = form.call("Delta", form.lengths(node.shape[:half]))
    else:
        indices = node.subscripts[-1]
        plain = len(set(indices)) == len(indices)
        if node.output == indices and plain:
            body = below[node.core]
        elif node.output == (1, 0) and indices == (0, 1) and node.core not in _products(node):
            body = form.transposed(below[node.core])
        elif type(node.core) is Einsum and plain:
            body = _merged_text(node, below, form)
        else:
            body = _product_text(node, node.output, below, form, skip=len(node.scalars))
    if not node.scalars:
        return body
    number = node.coefficient
    others = node.scalars[1:] if node.scalars[0].is_Number else node.scalars
    # SymPy multiplies a number into a sum at once, so sums stand behind the tensor.
    sums = [s for s in others if s.is_Add or (s.is_Mul and any(arg.is_Add for arg in s.args))]
    before = [_bracket(below[scalar], PRODUCT) for scalar in others if scalar not in sums]
    after = [_bracket(below[scalar], PRODUCT) for scalar in sums]
    return form.scaled(number, [*before, _bracket(body, POWER), *after]), PRODUCT


def _products(node: View) -> tuple[Any, ...]:
    return (node.core,) if type(node.core) is Einsum else ()


def _merged_text(node: View, below: dict[Any, Text], form: _Form) -> Text:
    """A rearranged product as one einsum."""
    core = node.core
    assert isinstance(core, Einsum)
    rename = dict(zip(core.output, node.subscripts[-1], strict=True))
    fresh = len(node.lengths)
    for index in range(len(core.lengths)):
        if index not in rename:
            rename[index], fresh = fresh, fresh + 1
    terms = [tuple(rename[i] for i in term) for term in core.subscripts]
    return _einsum_text(
        core.operands, terms, node.output, dict(enumerate(node.lengths)), below, form
    )


def _product_text(
    node: Einsum, output: Any, below: dict[Any, Text], form: _Form, skip: int = 0
) -> Text:
    lengths = dict(enumerate(node.lengths))
    operands, terms = node.operands[skip:], node.subscripts[skip:]
    return _einsum_text(operands, terms, output, lengths, below, form)


def _einsum_text(
    operands: Any, terms: Any, output: Any, lengths: Any, below: dict[Any, Text], form: _Form
) -> Text:
    indexed = _indexing_text(operands, terms, output, below, form)
    if indexed is not None:
        return indexed
    texts = [below[operand] for operand in operands]
    terms = list(terms)
    for index in dict.fromkeys(output):
        if not any(index in term for term in terms):
            texts.append(form.call("Ones", form.lengths([lengths[index]])))
            terms.append((index,))
    number: dict[Any, str] = {}
    for index in [i for term in terms for i in term]:
        number.setdefault(index, index_letter(len(number)))
    inputs = ",".join("".join(number[i] for i in term) for term in terms)
    return form.product(f"{inputs}->{''.join(number[i] for i in output)}", texts)


def _indexing_text(
    operands: Any, terms: Any, output: Any, below: dict[Any, Text], form: _Form
) -> Text | None:
    """``A[0, :]`` where a product does nothing but index one tensor."""
    tensors = [k for k, o in enumerate(operands) if not isinstance(o, (Unit, Selection))]
    if len(tensors) != 1 or len(operands) == 1 or not terms[tensors[0]]:
        return None
    axes = terms[tensors[0]]
    entries = dict.fromkeys(axes, ":")
    kept = list(axes)
    for k, cutter in enumerate(operands):
        if k == tensors[0]:
            continue
        axis = terms[k][-1]
        if axis not in kept or axis in output or entries.get(axis) != ":":
            return None
        entries[axis] = _entry(cutter, form)
        place = kept.index(axis)
        kept[place : place + 1] = terms[k][:-1]
    if kept != list(output) or len(set(axes)) < len(axes):
        return None
    inside = ", ".join(entries[axis] for axis in axes)
    return f"{_bracket(below[operands[tensors[0]]], ATOM)}[{inside}]", ATOM


# --- graphs --------------------------------------------------------------------------------------


def _render(root: TensorExpr, form: _Form) -> str | None:
    """The text of a graph, or None if it would be too long."""
    cache: dict[Any, Text] = form.printer.__dict__.setdefault("_tensor_texts", {})
    # Through stock scalars too: the tensors inside them have their texts when SymPy's printer,
    # which recurses, asks for them.
    for node in postorder([root], lambda n: () if n in cache else children(n)):
        if node in cache or not isinstance(node, TensorExpr):
            continue
        for operand in node.operands:
            if operand not in cache:
                cache[operand] = form.stock(operand)
        if sum(len(cache[operand][0]) for operand in node.operands) > MAX_LENGTH:
            return None
        cache[node] = _node_text(node, cache, form)
    return cache[root][0]


def _summary(node: TensorExpr) -> str:
    count = sum(1 for n in postorder([node]) if children(n))
    return f"<{type(node).__name__} of shape {node.shape}, {count} operations>"


def _sympystr(self: Any, printer: Any, *args: Any) -> str:
    text = _render(self, _Form(printer))
    return _summary(self) if text is None else text


def _sympyrepr(self: Any, printer: Any, *args: Any) -> str:
    text = _render(self, _ReprForm(printer))
    return f"unflatten({_flat_repr(self, printer)})" if text is None else text


def _flat_repr(root: TensorExpr, printer: Any) -> str:
    parts = []
    for entry in flatten(root):
        if isinstance(entry, tuple):
            kind, below, data = entry
            parts.append(f"({kind.__name__}, {below!r}, {_data_repr(data, printer)})")
        else:
            parts.append(printer._print(entry))
    return f"[{', '.join(parts)}]"


def _data_repr(data: Any, printer: Any) -> str:
    if isinstance(data, tuple):
        return "(" + "".join(f"{_data_repr(part, printer)}, " for part in data) + ")"
    return printer._print(data) if isinstance(data, sympy.Basic) else repr(data)


def _latex(self: Any, printer: Any, *args: Any, **kwargs: Any) -> str:
    text = _render(self, _LatexForm(printer))
    if text is None:
        text = rf"\text{{{_summary(self)[1:-1]}}}"
    exponent = kwargs.get("exp")
    return text if exponent is None else rf"\left({text}\right)^{{{exponent}}}"


def _pretty(self: Any, printer: Any, *args: Any) -> prettyForm:
    text = _render(self, _Form(StrPrinter()))
    return prettyForm(_summary(self) if text is None else text)


_HOOKS: dict[str, Callable[..., Any]] = {
    "_sympystr": _sympystr,
    "_sympyrepr": _sympyrepr,
    "_latex": _latex,
    "_pretty": _pretty,
}
for _name, _hook in _HOOKS.items():
    setattr(TensorExpr, _name, _hook)
Slot._sympystr = lambda self, printer: self.name
latex = sympy.latex
pretty = sympy.pretty
