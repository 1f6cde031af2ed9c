"""Define directives that print the tables of rules, functions, patches and other names.

``rewriting-rules`` takes a table and node types, ``derivative`` an expression and a variable;
``stable-forms``, ``scalar-functions``, ``sympy-patches``, ``lacking`` and ``names-elsewhere`` take
nothing.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sympy import Dummy, Eq, Expr, Function, Integral, Piecewise, S, Symbol, symbols

import sympy_einsum as se
from sympy_einsum.calculus.linear_actions import LINEAR_ACTIONS
from sympy_einsum.calculus.terms import RULES, UNARY_RULES
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.ir.code import name, nodes as nodes_of
from sympy_einsum.core import (
    NUMERIC_NAMES,
    REFLECTED_NAMES,
    ROWS,
    STABLE_NAMES,
    Row,
    derivative,
    other_names,
)
from sympy_einsum.expressions import Operand, as_operand, shape_of, slot
from sympy_einsum.rules import table
from sympy_einsum.rules.rewriting import Rule
from sympy_einsum.rules.stable import rules as stable_rules
from sympy_einsum.sympy_hooks import PATCHES

_m, _n, _k = symbols("m n k", integer=True, positive=True)
# The symbols of cases and examples.
LETTERS: dict[str, Any] = {
    **{name: getattr(se, name) for name in se.__all__},
    **{letter: se.TensorSymbol(letter, _n, _n) for letter in "ABCX"},
    "S": se.TensorSymbol("S", _n, _n, symmetric=True),
    "P": se.TensorSymbol("P", _n, _n, psd=True),
    "M": se.TensorSymbol("M", _m, _n),
    "H": se.TensorSymbol("H", _n + _k, _n),
    "T": se.TensorSymbol("T", _k, _n, _n),
    **{letter: se.TensorSymbol(letter, _m, _n, _n) for letter in "FG"},
    **{letter: se.TensorSymbol(letter, _n) for letter in "xyz"},
    **dict(zip("st", symbols("s t", positive=True), strict=True)),
    "m": _m,
    "n": _n,
    "p": symbols("p", integer=True),
    "u": symbols("u"),
    "f": Function("f"),
    "phi": se.unknown("phi", se.TensorSymbol("z", _m)),
    "Eq": Eq,
    "Integral": Integral,
    "Piecewise": Piecewise,
}
TABLES: dict[str, Mapping[type, tuple[Rule, ...]]] = {
    "normal": table.NORMAL_RULES,
    "equality": table.EXPANDED_RULES,
    "numbers": stable_rules.FOR_NUMBERS,
}
# Names of lengths, distinct from those of indices.
LENGTHS = dict(zip((_m, _n, _k), symbols("e d g", integer=True, positive=True), strict=True))
# Maximum length of a formula; beyond it the rule's description is easier to read.
MAX_FORMULA = 330
MODULES = ("sympy_einsum.rules.", "sympy_einsum.calculus.")


def value(text: str) -> Operand:
    """Evaluate an expression of the pages or tables."""
    return as_operand(eval(text, dict(LETTERS)))


class Generated(SphinxDirective):
    """Insert generated Markdown."""

    has_content = True
    final_argument_whitespace = True

    def lines(self) -> Iterator[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        container = nodes.container()
        text = "\n".join(self.lines()).split("\n")
        self.state.nested_parse(StringList(text, "the tables"), 0, container)
        return container.children


def plain(text: str | None) -> str:
    """Convert a docstring to Markdown, escaping special characters."""
    parts = " ".join((text or "").split()).split("``")
    escaped = [re.sub(r"([\\`*_\[\]<>|$])", r"\\\1", part) for part in parts[::2]]
    code = [f"`{part}`" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(escaped, [*code, ""], strict=True))


# --- rewriting rules


class RewritingRules(Generated):
    """List the rules for some node types; ``*`` stands for those that the page doesn't name."""

    required_arguments = 1
    optional_arguments = 20

    def lines(self) -> Iterator[str]:
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        for rule in rules_shown(" ".join(self.arguments), page):
            yield from _rule_text(rule)


def rules_shown(arguments: str, page: str) -> list[Rule]:
    """Return the rules that a directive of a page lists, without those of earlier tables."""
    name, *listed = arguments.split()
    rows = {kind.__name__: rules for kind, rules in TABLES[name].items()}
    if "*" in listed:
        listed.remove("*")
        named = " ".join(re.findall(rf"^```\{{rewriting-rules\}} {name} (.*)$", page, re.M)).split()
        listed += [kind for kind in rows if kind not in named]
    earlier = rules_of("normal") if name != "normal" else []
    found = dict.fromkeys(rule for kind in listed for rule in rows[kind])
    return [rule for rule in found if rule not in earlier]


def rules_of(name: str) -> list[Rule]:
    """Return the rules of a table."""
    return list(dict.fromkeys(rule for found in TABLES[name].values() for rule in found))


def _rule_text(rule: Rule) -> Iterator[str]:
    function = getattr(rule.apply, "func", rule.apply)
    yield f"**{rule.name}**: {plain(inspect.getdoc(function))}\n"
    typed = rule.case.split(" = ")
    sides = [se.latex(value(side), where=False) for side in typed]
    # If both sides have the same formula, print code instead.
    same = sides[0] == sides[1]
    yield " becomes ".join(f"`{side}`" for side in typed) if same else f"$${' = '.join(sides)}$$"
    yield ""
    if rule.wrong:
        one, other = [se.latex(value(side), where=False) for side in rule.wrong.split(" = ")]
        yield rf"Not: ${one} \neq {other}$"
        yield ""


# --- derivatives


def derivative_rule(kind: type) -> Callable[..., Any]:
    """Return the function that states the derivative of a node type."""
    base = RULES.base_of(kind) or kind
    if base in LINEAR_ACTIONS:
        return LINEAR_ACTIONS[base].pushforward
    return UNARY_RULES.get(base) or RULES[base]


class Derivative(Generated):
    """Print a derivative, given as ``expression; variable``, with the description of its rule."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"not": str}

    def lines(self) -> Iterator[str]:
        function, variable = derived(self.arguments[0])
        typed = [part.strip() for part in self.arguments[0].split(";")]
        yield f"**`{typed[0]}`** by `{typed[1]}`\n"
        yield f"$${derivative_formula(function, variable)}$$\n"
        rule = derivative_rule(type(function)) if isinstance(function, se.TensorExpr) else None
        if rule is not None and rule.__doc__:
            yield f"{plain(rule.__doc__)}\n"
        if "not" in self.options:
            yield f"Not: ${se.latex(value(self.options['not']).subs(LENGTHS))}$\n"
        yield from self.content


def derived(text: str) -> list[Operand]:
    """Evaluate a function and a variable from their texts."""
    return [value(part).subs(LENGTHS) for part in text.split(";")]


def derivative_formula(function: Operand, variable: Operand) -> str:
    """Write the derivative as an equation in entries, without the right side if it is too long."""
    found = se.diff(function, variable)
    letters = iter("ijklmnopqrst")
    upper, lower = ("".join(next(letters) for _ in shape_of(e)) for e in (function, variable))
    shown = rf"\left({se.latex(function)}\right)_{{{upper}}}" if upper else se.latex(function)
    under = rf"{se.latex(variable)}_{{{lower}}}" if lower else se.latex(variable)
    left = rf"\frac{{\partial {shown}}}{{\partial {under}}}"
    right = se.latex(found, notation="index", where=False)
    return f"{left} = {right}" if len(right) < MAX_FORMULA else rf"{left} = \dots"


# --- functions


class ScalarFunctions(Generated):
    """Print all rows of the table of scalar functions."""

    def lines(self) -> Iterator[str]:
        yield "| function | elsewhere | what it is | derivative |\n| --- | --- | --- | --- |"
        for row in ROWS:
            if row.is_public and (row.name or row.numpy or row.scipy):
                yield f"| {' | '.join(_cells(row))} |"


def _cells(row: Row) -> Iterator[str]:
    given = [Symbol(letter, real=True) for letter in "xyzw"[: row.arity]]
    body = row.function(*given)
    yield f"`{row.name}`" if row.name else ""
    elsewhere = [f"`np.{name}`" for name in row.numpy.split()]
    yield " ".join([*elsewhere, *[f"`special.{name}`" for name in row.scipy.split()]])
    yield f"${_in_cell(row.definition(*given) if row.definition else body)}$"
    yield "<br>".join(f"${_in_cell(derivative(body, x))}$" for x in given if _varies(body, x))


def _varies(body: Expr, x: Symbol) -> bool:
    try:
        derivative(body, x)
    except se.UnsupportedError:
        return False
    return True


def _in_cell(expr: Expr) -> str:
    """Write a formula without the character that ends a table cell."""
    text = se.latex(expr).replace(r"\left|", r"\left\vert ").replace(r"\right|", r"\right\vert ")
    return text.replace("|", r"\vert ").replace("\n", " ")


# --- what backends lack


class Lacking(Generated):
    """List the functions that some backends refuse, and the orders that they support."""

    def lines(self) -> Iterator[str]:
        found = lacking()
        names = [name for name in BACKENDS if any(name in own for own in found.values())]
        rest = [f"`{name}`" for name in BACKENDS if name not in names]
        yield f"Nothing is lacking for {', '.join(rest)}.\n"
        yield f"| function | {' | '.join([f'`{name}`' for name in names])} |"
        yield f"| --- |{' --- |' * len(names)}"
        for row, own in found.items():
            special = " ".join([f"special.{name}" for name in row.scipy.split()])
            label = row.name or special or row.function.__name__
            yield f"| `{label}` | {' | '.join([own.get(name, '') for name in names])} |"


def lacking() -> dict[Row, dict[str, str]]:
    """Return for each function that some backends refuse the supported orders by backend."""
    found = {}
    for row in ROWS:
        body = example(row)
        refused = [name for name in BACKENDS if not _is_spelled(name, body)]
        if refused:
            found[row] = {name: _orders(name, row) for name in refused}
    return found


def example(row: Row) -> Expr:
    """Apply a function to slots, with an integer for an order that must be one."""
    slots = [slot(k) for k in range(row.arity)]
    tried = [row.function(*slots)]
    if row.arity > 1:
        tried += [row.function(1, *slots[1:]), row.function(*slots[:-1], 1)]
    return next((body for body in tried if _is_spelled("numpy", body)), tried[0])


def _orders(backend: str, row: Row) -> str:
    """Return the small orders for which a backend has a function."""
    tried = range(3) if row.arity == 2 else ()
    orders = [str(k) for k in tried if _is_spelled(backend, row.function(k, slot(0)))]
    return f"orders {', '.join(orders)} only" if orders else "no"


def _is_spelled(backend: str, body: Expr) -> bool:
    library = BACKENDS[backend]
    try:
        code = library().scalar([*map(name, "xyzw")], body)
        # Helper functions may need a function that the library lacks too.
        library.used_support(node.id for node in nodes_of(code) if isinstance(node, ast.Name))
    except se.UnsupportedError:
        return False
    return True


# --- stable forms


class StableForms(Generated):
    """Print the tables of stable forms with a number at which the left side is inaccurate."""

    def lines(self) -> Iterator[str]:
        forms = {**STABLE_NAMES, **NUMERIC_NAMES, **REFLECTED_NAMES}
        u = Symbol("u", real=True)
        yield "| written | computed as | as written, in numbers |\n| --- | --- | --- |"
        for written, stable in forms.items():
            sides = [e.xreplace(dict.fromkeys(e.atoms(Dummy), u)) for e in (written, stable)]
            shown = [f"${_in_cell(side)}$" for side in sides]
            if sides[0] == sides[1]:
                shown[1] = "one function, `log1p` or `expm1`"
            yield f"| {shown[0]} | {shown[1]} | {_mishap(*sides, u)} |"


def _mishap(written: Expr, stable: Expr, u: Symbol) -> str:
    """Find a number at which the left side, evaluated part by part, differs from the right one."""
    import numpy as np

    for place in (1000.0, -1000.0, 40.0, -40.0, 1e-20, 9.0):
        with np.errstate(all="ignore"):
            found = _by_parts(written, u, place)
            right = float(se.lambdify(u, stable)(place))
        if np.isfinite(right) and not np.isclose(found, right, rtol=1e-3, atol=0):
            return f"{found:g} instead of {right:.3g} at $u = {place:g}$"
    return ""


def _by_parts(expr: Expr, u: Symbol, place: float) -> float:
    if expr == u:
        return place
    if not expr.args or expr.is_number:
        return float(expr)
    given = [Symbol(f"a{k}", real=True) for k in range(len(expr.args))]
    part = expr.func(*given, evaluate=False) if not isinstance(expr, S.EmptySet.func) else expr
    return float(se.lambdify(given, part)(*[_by_parts(arg, u, place) for arg in expr.args]))


# --- what is replaced in SymPy


class Patches(Generated):
    """Print the table of replaced attributes of SymPy, merging rows with one description."""

    def lines(self) -> Iterator[str]:
        groups: dict[tuple[str, str], list[str]] = {}
        for patch in PATCHES:
            said = plain(patch.reason), plain(patch.fallback)
            groups.setdefault(said, []).append(f"`{patch.path}`")
        yield "| replaced | SymPy's own | without it |\n| --- | --- | --- |"
        for said, names in groups.items():
            yield f"| {'<br>'.join(names)} | {' | '.join(said)} |"


# --- names of other libraries


class NamesElsewhere(Generated):
    """Print the table of names of other libraries, with the expressions to write instead."""

    def lines(self) -> Iterator[str]:
        yield "| missing | instead |\n| --- | --- |"
        yield from (f"| `{absent}` | `{instead}` |" for absent, instead in names_elsewhere())


def names_elsewhere() -> Iterator[tuple[str, str]]:
    """Return functions, methods and keywords of other libraries with the expressions for them."""
    for own, instead in other_names.FUNCTIONS_ELSEWHERE.items():
        yield f"se.{own}", instead
    for own, instead in other_names.METHODS_ELSEWHERE.items():
        yield f"A.{own}", instead
    for (function, keyword), instead in other_names.KEYWORDS.items():
        yield f"se.{function}({keyword}=)", instead


# --- references


class References(Generated):
    """List the rules' references, from the docstrings of their modules."""

    def lines(self) -> Iterator[str]:
        for entry in sorted(set(_references())):
            yield f"- {plain(entry)}"


def _references() -> Iterator[str]:
    for own, module in list(sys.modules.items()):
        if own.startswith(MODULES):
            text = (inspect.getdoc(module) or "").partition("References\n==========\n")[2]
            yield from (" ".join(e.split()) for e in re.split(r"\n(?=\[\w+\] )", text) if e.strip())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rewriting-rules", RewritingRules)
    app.add_directive("derivative", Derivative)
    app.add_directive("scalar-functions", ScalarFunctions)
    app.add_directive("lacking", Lacking)
    app.add_directive("stable-forms", StableForms)
    app.add_directive("sympy-patches", Patches)
    app.add_directive("names-elsewhere", NamesElsewhere)
    app.add_directive("rule-references", References)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
