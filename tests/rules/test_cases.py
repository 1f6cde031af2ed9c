"""Every rule of the table with its own case."""

from __future__ import annotations

import pytest
from sympy import Eq, Piecewise
from test_normal_form import A, B, C, F, G, S, X, assert_equal_values, m, n, p, s, t, x, y

import sympy_einsum as se
from sympy_einsum.expressions import as_operand
from sympy_einsum.rules import rewriting, table
from sympy_einsum.rules.stable import rules as stable_rules

LETTERS = {name: getattr(se, name) for name in se.__all__}
LETTERS |= {"A": A, "B": B, "C": C, "F": F, "G": G, "S": S, "M": X, "x": x, "y": y}
LETTERS |= {"m": m, "n": n, "p": p, "s": s, "t": t}
LETTERS |= {"Eq": Eq, "Piecewise": Piecewise}
TABLES = {
    table.NORMAL: table.NORMAL_RULES,
    table.EXPANDED: table.EXPANDED_RULES,
    table.STABLE_NUMERIC: stable_rules.FOR_NUMBERS,
}
ALWAYS = {rule for found in table.NORMAL_RULES.values() for rule in found}
ROWS = [
    pytest.param(rules, rule, id=f"{rules.name}: {rule.case}")
    for rules, rows in TABLES.items()
    for rule in dict.fromkeys(rule for found in rows.values() for rule in found)
    if rules is table.NORMAL or rule not in ALWAYS
]


@pytest.mark.parametrize(("rules", "rule"), ROWS)
def test_the_case_of_a_rule(rules, rule):
    before, after = (as_operand(eval(text, dict(LETTERS))) for text in rule.case.split(" = "))
    run = rewriting.Run(rules)
    result = run.result(before)
    assert result == rewriting.Run(rules).result(after)
    assert rewriting.Run(rules).result(result) == result
    assert rule.name in {step.rule for step in run.steps}
    assert getattr(result, "shape", ()) == getattr(before, "shape", ())
    assert_equal_values(before, result)


WRONG = [
    pytest.param(*row.values, id=f"{row.values[1].name}: {row.values[1].wrong}")
    for row in ROWS
    if row.values[1].wrong
]


@pytest.mark.parametrize(("rules", "rule"), WRONG)
# Some equations don't hold since one side isn't defined.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrong_equations_are_not_made(rules, rule):
    """An equation that doesn't hold isn't applied."""
    one, other = (as_operand(eval(text, dict(LETTERS))) for text in rule.wrong.split(" = "))
    assert getattr(one, "shape", ()) == getattr(other, "shape", ())
    results = [rewriting.Run(rules).result(side) for side in (one, other)]
    assert results[0] != results[1]
    with pytest.raises(AssertionError):
        assert_equal_values(one, other)
    assert_equal_values(one, results[0])
