"""Linear maps as text, without their argument: in the notation of Caddie, and in LaTeX.

References
==========

[C] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python Context", 2025,
    §2.4.1, §2.4.2 and equation 2.19.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import NamedTuple, TypeAlias

from sympy import Basic, Expr, Mul, S, Symbol, latex

from ..core import children, index_letter, postorder
from ..expressions import (
    Operand,
    TensorExpr,
    TensorSymbol,
    Unit,
    View,
    order_of,
    replace_nodes,
    shape_of,
)
from .steps import ActionStep, TermMap


class Style(NamedTuple):
    """The notation of combinators; ``{0}`` stands for the operand.

    show : an expression
    forms : the text of each combinator
    """

    show: Callable[[Expr], str]
    forms: Mapping[str, str]


TEXT = Style(
    str,
    {
        "identity": "Id", "zero": "0", "argument": "π{0}", "name": "m{0}", "compose": " ∘ ",
        "plus": " + ", "group": "({0})", "tuple": "⟨{0}⟩", "line": "{0} = {1}\n",
        "scale": "({0} *)", "left": "({0} @)", "right": "(@ {0})", "transposed": "{0}.T",
        "dot": "({0} ·)", "along": "(* {0})", "sum": "Σ", "repeat": "Δ", "transpose": "T",
        "entry": "π[{0}]", "place": "ι[{0}]", "einsum": "#({0}; ·, {1})", "node": "D{0}",
        "adjoint": "D{0}*", "arrow": "->",
    },
)  # fmt: skip
LATEX = Style(
    latex,
    {
        "identity": r"\mathrm{Id}", "zero": "0", "argument": r"\pi_{{{0}}}", "name": "m_{{{0}}}",
        "compose": r" \circ ", "plus": " + ", "group": r"\left({0}\right)",
        "tuple": r"\left\langle {0} \right\rangle", "line": r"{0} = {1};\; ",
        "scale": r"\left({0} \odot\right)", "left": r"\left({0}\, \cdot\right)",
        "right": r"\left(\cdot\, {0}\right)", "transposed": r"{0}^{{\top}}",
        "dot": r"\left\langle {0}, \cdot \right\rangle", "along": r"\left(\cdot\, {0}\right)",
        "sum": r"\Sigma", "repeat": r"\Delta", "transpose": r"{{\cdot}}^{{\top}}",
        "entry": r"\pi_{{{0}}}", "place": r"\iota_{{{0}}}",
        "einsum": r"\#({0};\, \cdot, {1})", "node": r"\mathrm{{D}}{0}",
        "adjoint": r"\mathrm{{D}}{0}^{{*}}", "arrow": r"\to ",
    },
)  # fmt: skip

# The steps of a line, with the numbers of the lines that they start from.
Steps: TypeAlias = Sequence[tuple[TermMap | ActionStep, int]]


def map_text(
    style: Style,
    arguments: int | None,
    lines: Sequence[Steps],
    results: Sequence[int | None],
    is_single: bool,
) -> str:
    """Write a map as text: parts used more than once have a name, on a line of its own before.

    ``arguments`` is how many it takes, None for a map of a tensor and not of a list.
    """
    forms = style.forms
    uses = Counter(source for steps in lines for _, source in steps)
    uses.update([number for number in results if number is not None])
    # For each number the text, and whether it is a sum.
    texts: list[tuple[str, bool]] = [(forms["identity"], False)]
    if arguments is not None:
        texts = [(forms["argument"].format(k + 1), False) for k in range(arguments)]
    named = ""
    for number, steps in enumerate(lines, start=len(texts)):
        parts = [_composed(style, step_text(style, step), texts[source]) for step, source in steps]
        is_sum, text = len(parts) > 1, forms["plus"].join(parts)
        if uses[number] > 1 and forms["compose"] in text + forms["plus"] * is_sum:
            name = forms["name"].format(1 + named.count(forms["line"][-1]))
            named += forms["line"].format(name, text)
            text, is_sum = name, False
        texts.append((text, is_sum))
    shown = [forms["zero"] if number is None else texts[number][0] for number in results]
    return named + (shown[0] if is_single else forms["tuple"].format(", ".join(shown)))


def let_text(
    arguments: int | None,
    lines: Sequence[Steps],
    results: Sequence[int | None],
    is_single: bool,
) -> str:
    """Write a map as text with values that occur several times bound to names before it, as in the
    let-binding context of Caddie [C, §2.4.2]."""
    marked: list[Expr] = []

    def mark(e: Expr) -> str:
        marked.append(e)
        return f"<{len(marked) - 1}>"

    # Not all that was written stands in the text, and parts without a name stand in it repeatedly.
    text = map_text(TEXT._replace(show=mark), arguments, lines, results, is_single)
    shown = [e for k, e in enumerate(marked) for _ in range(text.count(f"<{k}>"))]
    names: dict[Basic, Basic] = {}
    bindings = ""
    taken = {symbol.name for e in shown for symbol in e.free_symbols}
    free = (name for k in count(1) if (name := f"v{k}") not in taken)
    for node in _shared(shown):
        name = next(free)
        text = str(replace_nodes([node], names)[0])
        bindings += TEXT.forms["line"].format(name, text)
        shape = shape_of(node)
        names[node] = TensorSymbol(name, shape) if shape else Symbol(name, real=True)
    style = TEXT._replace(show=lambda e: str(replace_nodes([e], names)[0]))
    return bindings + map_text(style, arguments, lines, results, is_single)


def _shared(shown: Sequence[Expr]) -> list[Operand]:
    """Return the values that occur at least twice and are computed, operands before their users."""
    order = postorder(shown)
    uses = Counter(child for node in order for child in children(node))
    uses.update(shown)
    return [node for node in order if uses[node] > 1 and _is_computed(node)]


def _is_computed(node: Basic) -> bool:
    """Tell whether a node is a value that is worth a name: no leaf, entry, rearrangement or
    multiple."""
    if isinstance(node, TensorExpr):
        sources = [operand for operand in node.operands if not isinstance(operand, Unit)]
        is_entry = len(sources) < len(node.operands) and all(
            isinstance(source, TensorSymbol) for source in sources
        )
        return bool(node.operands) and not isinstance(node, View) and not is_entry
    if not isinstance(node, Expr) or node.is_Atom:
        return False
    return bool(node.is_Function) or any(not child.is_Atom for child in node.args)


def _composed(style: Style, step: str, inner: tuple[str, bool]) -> str:
    """Write a step after a map as text."""
    text, is_sum = inner
    identity = style.forms["identity"]
    if step == identity or text == identity:
        return text if step == identity else step
    joined = step + style.forms["compose"] + (style.forms["group"].format(text) if is_sum else text)
    return joined.replace(2 * (style.forms["compose"] + style.forms["transpose"]), "")


def step_text(style: Style, step: TermMap | ActionStep) -> str:
    """Write one step as text."""
    forms = style.forms
    if isinstance(step, ActionStep):
        return forms["adjoint" if step.is_pullback else "node"].format(type(step.node).__name__)
    _, factors, subscripts, upper, lower = step.term
    upper, lower = tuple(upper), tuple(lower)
    pairs = [(f, tuple(l)) for f, l in zip(factors, subscripts, strict=True) if f is not S.One]
    # Factors that scale all entries alike, or each by its own, are merged into one.
    scales = [f for f, l in pairs if not l or l == upper == lower]
    others = [(f, l) for f, l in pairs if l and not l == upper == lower]
    text = _plain(style, upper, lower) if not others else None
    if len(others) == 1:
        text = _with_factor(style, *others[0], upper, lower)
        if text is None and len(lower) == 2:
            text = _with_factor(style, *others[0], upper, lower[::-1])
            transposed = (forms["transpose"], False)
            text = text and _composed(style, text, transposed)
    if text is None:
        text = _einsum(style, others, upper, lower)
    if not scales:
        return text
    product = Mul(*[f for f in scales if not order_of(f)])
    for factor in [f for f in scales if order_of(f)]:
        product = product * factor
    scale = forms["scale"].format(style.show(product))
    return _composed(style, scale, (text, False))


def _plain(style: Style, upper: tuple[int, ...], lower: tuple[int, ...]) -> str | None:
    """Write a step without factors: sums, repetitions, other orders of axes."""
    forms = style.forms
    if upper == lower:
        return forms["identity"]
    if len(set(upper)) < len(upper) or len(set(lower)) < len(lower):
        return None
    if upper == lower[::-1] and len(upper) == 2:
        return forms["transpose"]
    if not upper:
        return forms["sum"]
    return None if lower else forms["repeat"]


def _with_factor(
    style: Style, factor: Operand, labels: tuple[int, ...], upper: tuple[int, ...],
    lower: tuple[int, ...],
) -> str | None:  # fmt: skip
    """Write a step with one factor as a product of matrices, a scalar product or an entry."""
    forms, shown = style.forms, style.show(factor)
    if isinstance(factor, Unit):
        position = style.show(factor.position)
        if not upper and lower == labels:
            return forms["entry"].format(position)
        if not lower and upper == labels:
            return forms["place"].format(position)
    if labels == lower and not upper:
        return forms["dot"].format(shown)
    if labels == upper and not lower:
        return forms["along"].format(shown)
    if len(labels) != 2 or len(set(labels)) != 2 or not lower or not upper:
        return None
    row, column = labels
    transposed = forms["transposed"].format(
        shown if shown.isalnum() else forms["group"].format(shown)
    )
    if lower[1:] == upper[1:] and {lower[0], upper[0]} == {row, column}:
        return forms["left"].format(shown if upper[0] == row else transposed)
    if lower[:-1] == upper[:-1] and {lower[-1], upper[-1]} == {row, column}:
        return forms["right"].format(shown if upper[-1] == column else transposed)
    return None


def _einsum(
    style: Style, others: Sequence[tuple[Operand, tuple[int, ...]]], upper: tuple[int, ...],
    lower: tuple[int, ...],
) -> str:  # fmt: skip
    """Write any other step as an einsum with its first operand left open."""
    letters: dict[int, str] = {}
    for label in [*lower, *[k for _, labels in others for k in labels], *upper]:
        letters.setdefault(label, index_letter(len(letters)))
    terms = [lower, *[labels for _, labels in others]]
    inputs = ",".join("".join(letters[k] for k in labels) for labels in terms)
    output = "".join(letters[k] for k in upper)
    shown = ", ".join(style.show(factor) for factor, _ in others)
    text = style.forms["einsum"].format(f"{inputs}{style.forms['arrow']}{output}", shown)
    return text.replace("·, )", "·)").replace(r"\cdot, )", r"\cdot)")
