"""The languages with types."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr

from ...core import UnsupportedError
from ..ir.plans import Plan
from .c_language import C
from .fortran_language import Fortran
from .julia_language import Julia
from .language import Language
from .signature import Signature
from .typed_functions import TypedFunction

LANGUAGES: dict[str, Language] = {own.name: own() for own in (C, Fortran, Julia)}


def language_of(name: str) -> Language:
    """Return the language of a name."""
    if name not in LANGUAGES:
        listed = " or ".join(map(repr, ["python", *LANGUAGES]))
        raise UnsupportedError(
            f"language is {listed}, not {name!r}; SymPy's printers, as rust_code, print the "
            "entries that as_explicit() writes out"
        )
    return LANGUAGES[name]


def typed_text(
    language: Language, signature: Signature, plan: Plan, bounds: Mapping[Expr, str], name: str
) -> str:
    """Return the text of a function that computes a plan."""
    return language.text(TypedFunction(language, signature, plan, bounds, name))
