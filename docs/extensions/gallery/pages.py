"""The text of the gallery's pages, in Markdown."""

from __future__ import annotations

from typing import Any

import sympy_einsum as se
from sympy_einsum.printing import presentation

from .oracle import error_of
from .row import Made, are_equal

# Maximum length of the formulas in a cell of a table.
MAX_LATEX = 700
INDICES = "ijklmnop"


def page_of(made: Made) -> str:
    """Write the page of one derivative; a wrong row raises an error."""
    row = made.row
    sizes, error = error_of(made)
    if error > 1e-6 or not are_equal(made):
        raise ValueError(f"the gallery's row {row.title!r} is wrong")
    parts = [f"# {row.title}", f"*{row.keywords}*", _display("<mi>f</mi>", made.f)]
    parts += _equations(made, made.derivatives)
    parts += [row.note, _shapes(made), f"```python\n{row.code}\n```", _literature(made)]
    where = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
    parts.append(
        f"**Check.** {f'At {where} and random entries' if where else 'At random entries'} "
        "it differs from differences of the same function, computed with NumPy and SciPy, by "
        f"{error:.1g} of its size."
    )
    source = se.lambdify(made.tensors, made.derivatives).source
    latex = "\n\n".join(map(se.latex, made.derivatives))
    text = "\n".join(map(str, made.derivatives))
    parts.append(_folded("Generated NumPy code", "python", source))
    parts.append(_folded("As text, and as LaTeX", "text", f"{text}\n\n{latex}"))
    return "\n\n".join(part for part in parts if part) + "\n"


def table_of(field: str, all_made: list[Made]) -> str:
    """Write the page of a field."""
    lines = [f"# {field}", "", "| | derivative |", "|---|---|"]
    for made in all_made:
        is_short = sum(len(se.latex(one)) for one in made.derivatives) <= MAX_LATEX
        formulas = f'<div class="formula">{", ".join(map(_inline, made.derivatives))}</div>'
        shown = formulas if is_short else "a long formula: see its page"
        lines.append(f"| [{made.row.title}]({made.row.page}.md) | {shown} |")
    names = "\n".join(made.row.page for made in all_made)
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def _equations(made: Made, values: list[Any]) -> list[str]:
    """Write each derivative as a formula in MathML."""
    pairs = zip(made.variables, values, strict=True)
    return [_display(_left(made, variable, value), value) for variable, value in pairs]


def _left(made: Made, variable: Any, value: Any) -> str:
    """Write the symbol of a derivative, with indices beyond order 2."""
    is_hessian = made.row.kind == "hessian"
    own, order = len(getattr(made.f, "shape", ())), len(getattr(variable, "shape", ()))
    indices = INDICES if len(getattr(value, "shape", ())) > 2 else ""
    of = _indexed("<mi>f</mi>", indices[:own])
    below = [indices[own + k * order : own + (k + 1) * order] for k in range(1 + is_hessian)]
    of = ("<msup><mo>∂</mo><mn>2</mn></msup>" if is_hessian else "<mo>∂</mo>") + of
    by = "".join(f"<mo>∂</mo>{_indexed(_mathml(variable), letters)}" for letters in below)
    return f"<mfrac><mrow>{of}</mrow><mrow>{by}</mrow></mfrac>"


def _indexed(name: str, letters: str) -> str:
    if not letters:
        return name
    return f"<msub>{name}<mrow>{''.join(f'<mi>{letter}</mi>' for letter in letters)}</mrow></msub>"


def _display(left: str, value: Any) -> str:
    formula = f'<math display="block"><mrow>{left}<mo>=</mo>{_mathml(value)}</mrow></math>'
    return f'<div class="formula">{formula}</div>'


def _inline(value: Any) -> str:
    return f"<math>{_mathml(value)}</math>"


def _mathml(value: Any) -> str:
    # A bar would end the table cell.
    return presentation(value).replace("|", "&#124;")


def _shapes(made: Made) -> str:
    # Cells beyond the header are hidden: the third is shown only if there are declarations.
    is_told = any(word for _, words in made.row.declared.values() for word in words)
    lines = ["| | shape | |", "|---|---|---|"] if is_told else ["| | shape |", "|---|---|"]
    for tensor, (_, words) in zip(made.tensors, made.row.declared.values(), strict=True):
        told = ", ".join(word for word in words if word)
        lines.append(f"| {_inline(tensor)} | {_shape(tensor)} | {told} |")
    lines.append(f"| <math><mi>f</mi></math> | {_shape(made.f)} | |")
    for variable, value in zip(made.variables, made.derivatives, strict=True):
        lines.append(f"| {made.row.kind} by {_inline(variable)} | {_shape(value)} | |")
    return "\n".join(lines)


def _shape(tensor: Any) -> str:
    shape = getattr(tensor, "shape", ())
    return " × ".join(map(str, shape)) if shape else "scalar"


def _literature(made: Made) -> str:
    row = made.row
    if not made.closed:
        return f"See {row.source}." if row.source else ""
    said = f"in {row.source}" if row.source else "in textbooks"
    told = f"**The closed form** {said}, which `se.equal` finds equal:"
    return "\n\n".join([told, *_equations(made, made.closed)])


def _folded(title: str, language: str, text: str) -> str:
    block = f"```{language}\n{text}\n```"
    return f"<details><summary>{title}</summary>\n\n{block}\n\n</details>"
