"""The pages on rules show every row of the tables, and their statements hold."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from test_passes import NODES

import sympy_einsum as se
from sympy_einsum.calculus.terms import RULES
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.core import ROWS
from sympy_einsum.expressions import apply_body

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS / "extensions"))
rule_tables = pytest.importorskip("rule_tables", reason="Sphinx isn't installed")

# Other tests add functions of their own.
TABLE = tuple(ROWS)
TEXT = (DOCS / "rules.md").read_text(encoding="utf-8")
DERIVATIVES = re.findall(r"^```\{derivative\} (.*)\n(?::not: (.*)\n)?", TEXT, re.M)


@pytest.mark.parametrize(("text", "wrong"), DERIVATIVES, ids=[text for text, _ in DERIVATIVES])
def test_derivatives(text, wrong):
    function, variable = rule_tables.derived(text)
    assert rule_tables.derivative_formula(function, variable)
    # Unknown functions, and what stays as it is, have no values.
    if not re.search(r"\b(f|phi|Integral)\(", text):
        assert se.check_derivative(function, variable) < 1e-5
    if wrong:
        with pytest.raises(se.TensorError, match="differs from finite differences"):
            se.check_derivative(function, variable, rule_tables.derived(wrong)[0])


def test_every_kind_of_node_has_its_derivative_on_the_page():
    shown = {RULES.base_of(type(rule_tables.derived(text)[0])) for text, _ in DERIVATIVES}
    kinds = {RULES.base_of(kind) for kind in NODES}
    assert {k for k in kinds if k not in RULES.refused or k in rule_tables.LINEAR_ACTIONS} == shown


def test_every_rewriting_rule_is_on_the_page():
    text = (DOCS / "rewriting.md").read_text(encoding="utf-8")
    directives = re.findall(r"^```\{rewriting-rules\} (.*)$", text, re.M)
    shown = {rule for arguments in directives for rule in rule_tables.rules_shown(arguments, text)}
    assert shown == {rule for name in rule_tables.TABLES for rule in rule_tables.rules_of(name)}


def test_every_backend_is_on_the_page():
    text = (DOCS / "compiling.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r'^\| `"(\w+)"` \|', text, re.M)) == sorted([*BACKENDS, "auto"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends_lack_what_the_page_says(backend):
    """Exactly these, with the orders that it names."""
    lacking = {row: own[backend] for row, own in rule_tables.lacking().items() if backend in own}
    given = [se.TensorSymbol(name, 3) for name in "xyzw"]
    own = [(row, apply_body(rule_tables.example(row), given[: row.arity])) for row in TABLE]
    se.codegen(given, [expr for row, expr in own if row not in lacking], backend)
    for row, expr in own:
        if row in lacking:
            with pytest.raises(se.UnsupportedError, match=f"'{backend}' has no function"):
                se.codegen(given, expr, backend)
            orders = [int(digit) for digit in re.findall(r"\d", lacking[row])]
            parts = [
                se.elementwise(lambda u, k=k, f=row.function: f(k, u), given[0]) for k in orders
            ]
            se.codegen(given, parts, backend)
