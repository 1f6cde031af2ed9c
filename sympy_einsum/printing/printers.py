"""Print tensor expressions as text, LaTeX, two-dimensional text and MathML.

Importing this package attaches the hooks that SymPy's printers look up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod
from typing import Any

from sympy import Expr
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.printer import Printer

from ..core import children, postorder
from ..expressions import Einsum, HalfPower, TensorExpr, as_operand, outermost
from .code import CodeForm, ReprForm
from .forms import ATOM
from .latex_renderer import LatexRenderer
from .mathml_renderer import MathMLRenderer, Part
from .naming import is_long_text, length_names, names_of_leaves
from .node_texts import flat_repr, power_text, render
from .norms import Norm
from .notation import Notation, level_of
from .pretty_renderer import PrettyRenderer
from .recurrences import scans_in
from .rendering import PRECEDENCES, Renderer, Shown
from .ricci_text import ricci_latex
from .slices import as_slice, labelled_factors


def latex(expr: object, notation: str = "auto", where: bool = True, **settings: object) -> str:
    r"""Print an expression, or a list, tuple, dict or matrix of expressions, as LaTeX.

    Parameters
    ==========

    notation :
        ``"matrix"``: products of matrices and vectors [LMG18], vectors being columns;
        ``"index"``: entries, ``\sum_{j} A_{ij} x_{j}``; every sum is written, since an index may
        occur twice in a result;
        ``"auto"``: matrix notation up to order 2 where there is one, else entries of matrix blocks;
        ``"einsum"``: ``\#(ij,j \to i; A, x)`` [W];
        ``"star"``: the same with products of two written ``A *_{(ij,j \to i)} x`` [L];
        ``"ricci"``: upper and lower indices, ``A^i{}_j\, x^j`` [LMG18]
    where : whether shared parts of a long expression get names, which are defined below the
        formula, "where h_1 = …"; with ``False`` the formula has none, however long
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
    if notation == "ricci":
        return ricci_latex(as_operand(expr))
    printer = _Latex(settings)
    printer._tensor_notation = Notation(notation, where)
    return printer.doprint(expr)


def pretty(expr: object, notation: str = "auto", where: bool = True, **settings: object) -> str:
    """Print an expression as SymPy's two-dimensional text; parameters and errors as for
    :func:`latex`.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 2)
    >>> print(se.pretty(A.T @ x, use_unicode=False))
     T
    A *x
    """
    printer = _Pretty(settings)
    unicode_before = pretty_use_unicode(printer._settings["use_unicode"])
    try:
        printer._tensor_notation = Notation(notation, where)
        return printer.doprint(expr)
    finally:
        pretty_use_unicode(unicode_before)


def _notation(printer: Printer) -> Notation:
    """Return the notation of a printer, automatic for SymPy's own printers."""
    if "_tensor_notation" not in printer.__dict__:
        printer._tensor_notation = Notation()
    return printer._tensor_notation


class _WithDefinitions(Printer):
    """Print with the definitions of names below."""

    _output: type[Renderer[Any]]
    _has_begun = False

    def _print(self, expr: Any, **kwargs: Any) -> Any:
        notation, renderer = _notation(self), self._output(self)
        if self._has_begun:
            return super()._print(expr, **kwargs)
        self._has_begun = True
        notation.avoid(names_of_leaves(expr))
        notation.recurrences.fuse(scans_in(expr))
        notation.is_collecting = True
        is_long_scalar = isinstance(expr, Expr) and outermost(expr) and is_long_text(expr)
        if is_long_scalar and not isinstance(expr, TensorExpr):
            shown = renderer.ready(renderer.render(notation.form(expr)), ATOM)
        else:
            shown = super()._print(expr, **kwargs)
        return _with_definitions(shown, notation, renderer)


class _Latex(_WithDefinitions, LatexPrinter):
    _output = LatexRenderer


class _Pretty(_WithDefinitions, PrettyPrinter):
    _output = PrettyRenderer


def _with_definitions(shown: Shown, notation: Notation, renderer: Renderer[Shown]) -> Shown:
    """Add the definitions of the names in a formula."""
    definitions = [
        (renderer.render(name), renderer.render(form)) for name, form in notation.definitions()
    ]
    return renderer.with_definitions(shown, definitions) if definitions else shown


def _shown(node: TensorExpr, printer: Printer, output: type[Renderer[Shown]]) -> Shown:
    """Render a node for a printer, with its precedence level."""
    notation, renderer = _notation(printer), output(printer)
    is_outermost = not notation.is_collecting
    notation.is_collecting = True
    nested = printer._print_level > 1 and not node.order
    if nested and is_outermost and not isinstance(printer, _WithDefinitions):
        # The surrounding expression is unknown; a mean is divided by a length.
        notation.avoid(length_names(postorder([node], children)))
    form = notation.form(node)
    level = form.level
    shown = renderer.render(form)
    if is_outermost:
        whole = _with_definitions(shown, notation, renderer)
        notation.is_collecting = False
        if whole is not shown:
            # SymPy's printer may append to a nested formula.
            return renderer.ready(renderer.bracketed(whole), ATOM) if nested else whole
    is_negative = form.kind == "product" and form.data[0]
    if nested and (is_negative or PRECEDENCES[level] < _precedence(node)):
        # The precedence that SymPy queried is that of automatic notation; before a factor -1 it
        # queries none.
        shown, level = renderer.bracketed(shown), ATOM
    return renderer.ready(shown, level)


def _shown_norm(norm: Norm, printer: Printer, output: type[Renderer[Shown]]) -> Shown:
    """Render a norm for a printer."""
    renderer = output(printer)
    inside = renderer.render(_notation(printer).form(norm.tensor))
    return renderer.ready(renderer.normed(inside, norm.tensor.order), ATOM)


def _shown_power(power: HalfPower, printer: Printer, output: type[Renderer[Shown]]) -> Shown:
    """Render a power of a norm, or another square root, for a printer."""
    notation, renderer = _notation(printer), output(printer)
    norm = notation.norm(power)
    if norm is power:
        return printer._print_Pow(power)
    is_outermost = not notation.is_collecting
    notation.is_collecting = True
    shown = printer._print(norm)
    if is_outermost:
        whole = _with_definitions(shown, notation, renderer)
        notation.is_collecting = False
        if whole is not shown:
            nested = printer._print_level > 1
            return renderer.ready(renderer.bracketed(whole), ATOM) if nested else whole
    return shown


def _latex(
    self: TensorExpr, printer: Printer, *args: object, exp: str | None = None, **kwargs: object
) -> str:
    if exp is not None:  # the base of a power
        return f"{printer.parenthesize(self, PRECEDENCE['Pow'])}^{{{exp}}}"
    return _shown(self, printer, LatexRenderer)


def _pretty(self: TensorExpr, printer: Printer, *args: object) -> prettyForm:
    return _shown(self, printer, PrettyRenderer)


def _mathml_presentation(self: TensorExpr, printer: Printer, *args: object) -> Part:
    return _shown(self, printer, MathMLRenderer)


def _mathml_content(self: TensorExpr, printer: Printer, *args: object) -> Part:
    """Write the text as one identifier, because content MathML has no einsum."""
    return MathMLRenderer(printer).identifier("ci", str(self))


def _sympystr(self: TensorExpr, printer: Printer, *args: object) -> str:
    nested = printer._print_level > 1
    text = render(self, CodeForm(printer), nested)
    return text.within(ATOM) if nested and _is_closed(self) else text.shown


def _sympyrepr(self: TensorExpr, printer: Printer, *args: object) -> str:
    form = ReprForm(printer)
    return flat_repr(self, form.exact) if is_long_text(self) else render(self, form).shown


class _Binding(int):
    """Hold the precedence of a scalar for SymPy's printers.

    Printers of formulas compare with ``<`` to place brackets. The printer of text compares with
    ``<=`` for factors and bases, and gives a negative product the precedence of a sum; there a
    chain of @ always needs brackets, because @ is left-associative. All printers compare bases of
    powers with ``<=``: a squared norm needs brackets there.
    """

    is_closed: bool

    def __le__(self, level: int) -> bool:
        if self == level == PRECEDENCE["Pow"]:
            return True
        return level >= PRECEDENCE["Add"] and not self.is_closed


def _is_closed(node: TensorExpr) -> bool:
    """Tell whether the text of a scalar never needs brackets."""
    if not isinstance(node, Einsum) or len(node.operands) == 1:
        return True
    return as_slice(labelled_factors(node)) is not None


def _precedence(self: TensorExpr) -> _Binding:
    """Return the precedence of a scalar for SymPy's printers."""
    binding = _Binding(PRECEDENCES[ATOM if self.order else level_of(self)])
    binding.is_closed = bool(self.order) or _is_closed(self)
    return binding


_HOOKS: dict[str, Callable[..., object]] = {
    "_sympystr": _sympystr,
    "_sympyrepr": _sympyrepr,
    "_latex": _latex,
    "_pretty": _pretty,
    "_mathml_presentation": _mathml_presentation,
    "_mathml_content": _mathml_content,
}
for _name, _hook in _HOOKS.items():
    setattr(TensorExpr, _name, _hook)
for _name, _output in (
    ("_latex", LatexRenderer),
    ("_pretty", PrettyRenderer),
    ("_mathml_presentation", MathMLRenderer),
):
    setattr(Norm, _name, partialmethod(_shown_norm, output=_output))
    setattr(HalfPower, _name, partialmethod(_shown_power, output=_output))
HalfPower._sympystr = power_text
TensorExpr.precedence = property(_precedence)
