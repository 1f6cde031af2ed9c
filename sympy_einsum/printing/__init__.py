"""Text, LaTeX, pretty and MathML forms of tensor expressions. Importing this package attaches the
hooks that SymPy's printers look for.

May import: all node types, and its own rooms: forms (what a formula looks like), matrices and
notation (which formula stands for an expression), rendering and one room per output, code (texts
that evaluate back).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
from sympy.printing.pretty.stringpict import prettyForm

from ..elementwise import Slot
from ..nodes import TensorExpr
from .code import CodeForm, ReprForm, flat_repr, render, summary
from .forms import ATOM
from .latex import LatexRenderer
from .mathml import MathMLRenderer
from .notation import Notation, level_of
from .pretty import PrettyRenderer
from .rendering import PRECEDENCES, Renderer


def latex(expr: Any, notation: str = "auto", **settings: Any) -> str:
    r"""The LaTeX of an expression, or of a list, tuple, dict or matrix of them.

    Parameters
    ==========

    notation :
        ``"matrix"``: products of matrices and vectors [LMG18], vectors being columns;
        ``"index"``: entries, ``\sum_{j} A_{ij} x_{j}``; every sum is written, since an index may
        occur twice in a result;
        ``"auto"``: matrix notation up to order 2 where there is one, else entries of matrix blocks;
        ``"einsum"``: ``\#(ij,j \to i; A, x)`` [W];
        ``"star"``: the same with products of two written ``A *_{(ij,j \to i)} x`` [L]
    settings : those of ``sympy.latex``

    Raises
    ======

    UnsupportedError : there is no matrix notation, and nothing else was asked for
    TensorError : there is no such notation

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x, b = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", n), se.TensorSymbol("b", m)
    >>> r = A @ x - b
    >>> print(se.latex(se.diff(r @ r, x)))
    2 A^{\top} \left(A x - b\right)
    >>> print(se.latex(A @ x, notation="index"))
    \sum_{j} A_{ij} x_{j}
    >>> print(se.latex(A @ x, notation="einsum"))
    \#\left(ij,j \to i;\, A, x\right)
    """
    printer = LatexPrinter(settings)
    printer._tensor_notation = Notation(notation)
    return printer.doprint(expr)


def pretty(expr: Any, notation: str = "auto", **settings: Any) -> str:
    """The expression as SymPy's two-dimensional text; parameters and errors as for :func:`latex`.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 2)
    >>> print(se.pretty(A.T @ x, use_unicode=False))
     T
    A *x
    """
    printer = PrettyPrinter(settings)
    unicode_before = pretty_use_unicode(printer._settings["use_unicode"])
    try:
        printer._tensor_notation = Notation(notation)
        return printer.doprint(expr)
    finally:
        pretty_use_unicode(unicode_before)


def _shown(node: TensorExpr, printer: Any, output: type[Renderer]) -> Any:
    """What a printer shows for a node, and how tightly it holds together."""
    notation = printer.__dict__.setdefault("_tensor_notation", None) or Notation()
    printer._tensor_notation = notation
    renderer = output(printer)
    form = notation.form(node)
    if form is None:
        return renderer.ready(renderer.remark(summary(node)[1:-1]), ATOM)
    level = form.level
    shown = renderer.render(form)
    nested = printer._print_level > 1 and not node.order
    if nested and PRECEDENCES[level] < _precedence(node):
        # What SymPy was told of its brackets is the automatic notation.
        shown, level = renderer.bracketed(shown), ATOM
    return renderer.ready(shown, level)


def _latex(self: Any, printer: Any, *args: Any, exp: Any = None, **kwargs: Any) -> str:
    text = _shown(self, printer, LatexRenderer)
    return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


def _pretty(self: Any, printer: Any, *args: Any) -> prettyForm:
    return _shown(self, printer, PrettyRenderer)


def _mathml_presentation(self: Any, printer: Any, *args: Any) -> Any:
    return _shown(self, printer, MathMLRenderer)


def _mathml_content(self: Any, printer: Any, *args: Any) -> Any:
    """Content MathML has no einsum: the text stands as one identifier."""
    return MathMLRenderer(printer).identifier("ci", str(self))


def _sympystr(self: Any, printer: Any, *args: Any) -> str:
    text = render(self, CodeForm(printer), nested=printer._print_level > 1)
    return summary(self) if text is None else text


def _sympyrepr(self: Any, printer: Any, *args: Any) -> str:
    text = render(self, ReprForm(printer))
    return flat_repr(self, printer) if text is None else text


def _precedence(self: Any) -> int:
    """How tightly a scalar holds together, for SymPy's printers."""
    return PRECEDENCES[ATOM if self.order else level_of(self)]


_HOOKS: dict[str, Callable[..., Any]] = {
    "_sympystr": _sympystr,
    "_sympyrepr": _sympyrepr,
    "_latex": _latex,
    "_pretty": _pretty,
    "_mathml_presentation": _mathml_presentation,
    "_mathml_content": _mathml_content,
}
for _name, _hook in _HOOKS.items():
    setattr(TensorExpr, _name, _hook)
TensorExpr.precedence = property(_precedence)
Slot._sympystr = lambda self, printer: self.name
