"""Render forms as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from sympy import Function, Symbol, beta

from .rendering import Renderer

# Operators that LaTeX knows by name.
_KNOWN = {"det", "exp", "log", "max", "min"}
_WHERE, _BREAK = r"\text{where } ", r" \\ "
_INDEXED = re.compile(r"(?<!\\)_")
# Letters of all alphabets, and characters without a meaning in TeX.
_SAFE = re.compile(
    r"(?=[^\W\d_]|[{\\])"
    r"(?:[\w^' *+\-!.:\u0300-\u036f]|\{[A-Za-z0-9, *+()\-]*\}|"
    r"\\(?:hat|bar|tilde|dot|ddot|vec|mathbf|mathrm|mathcal|"
    r"boldsymbol|alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|"
    r"sigma|tau|upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega)"
    r"(?![A-Za-z]))*"
)


class LatexRenderer(Renderer[str]):
    """Render forms as LaTeX."""

    # SymPy's beta(x) is beta(x, x).
    replacements: ClassVar = {beta: lambda *args: Function(r"\operatorname{B}")(args[0], args[-1])}

    tokens = {  # noqa: RUF012
        "plus": " + ",
        "minus": " - ",
        "negative": "- ",
        "times": " ",
        "dot": r" \cdot ",
        "hadamard": r" \odot ",
        "quotient": r" \oslash ",
        "kron": r" \otimes ",
        "cross": r" \times ",
        "circle": r"\odot ",
        "transpose": r"\top",
        "comma": ", ",
        "thin comma": ",",
        "semicolon": r";\, ",
        "colon": ":",
        "space": " ",
        "nabla": r"\nabla",
        "gradient": r"\nabla ",
        "prime": "'",
        "to": r" \to ",
        "hash": r"\#",
        "star": "*",
        "delta": r"\delta",
        "equal": "=",
        "at most": r" \leq ",
        "ones": r"\mathbf{1}",
        "zeros": r"\mathbf{0}",
        "identity": "I",
        "frobenius": "F",
        "unit": "e",
    }

    def row(self, items: Sequence[str]) -> str:
        return "".join(items)

    def bracketed(self, inside: str) -> str:
        return rf"\left({inside}\right)"

    def boxed(self, inside: str) -> str:
        return rf"\left[{inside}\right]"

    def fenced(self, inside: str) -> str:
        return rf"\left\lVert {inside} \right\rVert"

    def raised(self, base: str, exponent: str) -> str:
        if base.startswith(r"\left\lVert"):
            return f"{base}^{{{exponent}}}"
        shown = f"{{{base}}}" if "^" in base and not base.endswith(r"\right)") else base
        return f"{shown}^{{{exponent}}}"

    def lowered(self, base: str, index: str) -> str:
        is_fenced = base.endswith((r"\right)", r"\right\rVert"))
        # Brackets separate the indices from a subscript of the name: h_2 at jk isn't h_{2jk}.
        is_indexed = _INDEXED.search(base) and not is_fenced
        return f"{f'({base})' if is_indexed else base}_{{{index}}}"

    def word(self, name: str) -> str:
        return rf"\{name}" if name in _KNOWN else rf"\operatorname{{{name}}}"

    def with_definitions(self, formula: str, definitions: Sequence[tuple[str, str]]) -> str:
        lines = [f"& {formula}"]
        for k, (name, meaning) in enumerate(definitions):
            lines.append(rf"{'' if k else _WHERE}{name} & = {meaning}")
        return rf"\begin{{aligned}} {_BREAK.join(lines)} \end{{aligned}}"

    def letter(self, name: str) -> str:
        return name

    def summation(self, indices: str, last: str | None, inside: str) -> str:
        return rf"\sum_{{{indices}}}{'' if last is None else f'^{{{last}}}'} {inside}"

    def tensor(self, name: str) -> str:
        """Typeset a symbol's name as SymPy does, and escape everything but letters, indices and
        accents: names may be untrusted, and browsers execute some LaTeX commands."""
        if _SAFE.fullmatch(name):
            return self.printer._print(Symbol(name))
        special = {"\\": r"\backslash{}", "^": r"\hat{}", "~": r"\tilde{}"}
        shown = "".join(c if c.isprintable() else "?" for c in name)
        escaped = "".join(special.get(c, "\\" + c if c in "{}$&%#_" else c) for c in shown)
        return rf"\mathtt{{{escaped}}}"
