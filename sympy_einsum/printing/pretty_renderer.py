"""Render forms as SymPy's two-dimensional text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sympy import Function, Max, Min, Symbol
from sympy.printing.pretty.pretty_symbology import xsym
from sympy.printing.pretty.stringpict import prettyForm, stringPict
from sympy.printing.printer import Printer

from ..core import is_long
from .forms import ATOM, HADAMARD, POWER, PRODUCT, SUM, Form
from .rendering import Renderer

_BINDINGS = {
    SUM: prettyForm.ADD,
    HADAMARD: prettyForm.MUL,
    PRODUCT: prettyForm.MUL,
    POWER: prettyForm.POW,
    ATOM: prettyForm.ATOM,
}
_TOKENS = {
    "plus": " + ",
    "minus": " - ",
    "negative": "-",
    "transpose": "T",
    "comma": ", ",
    "thin comma": ",",
    "semicolon": "; ",
    "colon": ":",
    "space": " ",
    "prime": "'",
    "hash": "#",
    "equal": "=",
    "star": "*",
    "unit": "e",
    "frobenius": "F",
}
# SymPy's characters for these matrices and operations.
_UNICODE = {
    "hadamard": "∘",
    "quotient": "⊘",
    "circle": "∘",
    "kron": "⊗",
    "cross": "×",
    "to": " → ",
    "delta": "δ",
    "nabla": "∇",
    "gradient": "∇",
    "at most": " ≤ ",
    "ones": "𝟙",
    "zeros": "𝟘",
    "identity": "𝕀",
}
_ASCII = {
    "hadamard": ".*",
    "quotient": "./",
    "circle": ".",
    "kron": " x ",
    "cross": " x ",
    "to": " -> ",
    "delta": "delta",
    "nabla": "D",
    "gradient": "D",
    "at most": " <= ",
    "ones": "1",
    "zeros": "0",
    "identity": "I",
}


class PrettyRenderer(Renderer[prettyForm]):
    """Render forms as two-dimensional text."""

    replacements: ClassVar = {Max: Function("Max"), Min: Function("Min")}

    def __init__(self, printer: Printer):
        super().__init__(printer)
        letters = _UNICODE if printer._use_unicode else _ASCII
        self.tokens = {**_TOKENS, **letters, "times": xsym("*"), "dot": xsym("*")}

    def _stock(self, form: Form) -> prettyForm:
        if form.data.is_Rational and not form.data.is_Integer and not is_long(form.data):
            # SymPy writes small fractions in one line, which is ambiguous in front of a matrix.
            return prettyForm(str(form.data.p)) / prettyForm(str(form.data.q))
        return super()._stock(form)

    def row(self, items: Sequence[prettyForm]) -> prettyForm:
        return prettyForm(*stringPict.next(*items)) if items else prettyForm("")

    def bracketed(self, inside: prettyForm) -> prettyForm:
        return prettyForm(*_picture(inside).parens())

    def boxed(self, inside: prettyForm) -> prettyForm:
        return prettyForm(*_picture(inside).parens("[", "]"))

    def fenced(self, inside: prettyForm) -> prettyForm:
        picture = _picture(inside)
        bar = "‖" if self.printer._use_unicode else "||"
        bars = stringPict("\n".join([bar] * picture.height()), picture.baseline)
        return self.row([bars, picture, bars])

    def raised(self, base: prettyForm, exponent: prettyForm) -> prettyForm:
        below, above = _picture(base), _picture(exponent)
        top = stringPict(*above.left(" " * below.width()))
        bottom = stringPict(*below.right(" " * above.width()))
        return prettyForm(*bottom.above(top))

    def lowered(self, base: prettyForm, index: prettyForm) -> prettyForm:
        above, below = _picture(base), _picture(index)
        bottom = stringPict(*below.left(" " * above.width()))
        top = stringPict(*above.right(" " * below.width()))
        return prettyForm(*top.below(bottom))

    def word(self, name: str) -> prettyForm:
        return prettyForm(name)

    def with_definitions(
        self, formula: prettyForm, definitions: Sequence[tuple[prettyForm, prettyForm]]
    ) -> prettyForm:
        lines = [_picture(formula)]
        for k, (name, meaning) in enumerate(definitions):
            lines.append(self.row(["      " if k else "where ", name, " = ", meaning]))
        return Stacked(lines)

    def letter(self, name: str) -> prettyForm:
        return prettyForm(name)

    def summation(
        self, indices: prettyForm, last: prettyForm | None, inside: prettyForm
    ) -> prettyForm:
        sign = stringPict("∑" if self.printer._use_unicode else "Sum")
        above = sign if last is None else stringPict(*sign.above(last))
        return self.row([stringPict(*above.below(indices)), " ", inside])

    def tensor(self, name: str) -> prettyForm:
        return self.printer._print(Symbol(name))

    def ready(self, shown: prettyForm, level: int) -> prettyForm:
        """Set the binding by which SymPy places brackets."""
        picture = _picture(shown)
        return prettyForm("\n".join(picture.picture), picture.baseline, _BINDINGS[level])


class Stacked(prettyForm):
    """Stack formulas; each is wrapped separately."""

    def __init__(self, formulas: Sequence[stringPict]):
        below = [line for formula in formulas[1:] for line in ("", formula)]
        picture = stringPict(*formulas[0].below(*below)) if below else formulas[0]
        widest = max(len(line) for line in picture.picture)
        super().__init__("\n".join(line.ljust(widest) for line in picture.picture))
        self.formulas = formulas

    def render(self, *args: object, **settings: object) -> str:
        """Return the text for SymPy's printer."""
        return "\n\n".join(formula.render(*args, **settings) for formula in self.formulas)


def _picture(part: prettyForm | str) -> stringPict:
    return stringPict(part) if isinstance(part, str) else part
