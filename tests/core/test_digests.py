"""Digests of stock expressions: cached while they are used, up to a bound."""

from functools import partial

import pytest
from oracles import calls
from sympy import Add, Symbol, cos, exp, sin

from sympy_einsum.core import ordering, tuning

BOUND = 50


@pytest.fixture(autouse=True)
def bounded(monkeypatch):
    monkeypatch.setattr(tuning, "MAX_DIGESTS", BOUND)
    ordering._forget_digests()


def grown(name, count):
    """Return expressions, each a part of the next."""
    found = [Symbol(name)]
    for _ in range(count):
        found.append(Add(sin(found[-1], evaluate=False), cos(found[0]), evaluate=False))
    return found


def test_digests_are_forgotten():
    t = Symbol("t")
    for k in range(10 * BOUND):
        ordering.digest(sin(t + k))
    assert len(ordering._recent) + len(ordering._older) <= 2 * (BOUND + 2)


def test_digests_that_are_asked_for_stay():
    t = Symbol("t")
    kept = exp(t) + 1
    for k in range(10 * BOUND):
        ordering.digest(sin(t + k))
        ordering.digest(kept)
    assert kept in {**ordering._recent, **ordering._older}


def test_a_growing_expression_is_walked_once():
    few, many = (
        calls(partial(list, map(ordering.digest, grown(f"t{count}", count))))
        for count in (200, 800)
    )
    assert many < 4.5 * few


def test_forgetting_changes_no_digest():
    steps = grown("t", 4 * BOUND)
    known = [*map(ordering.digest, steps)]
    ordering._forget_digests()
    assert [ordering.digest(e) for e in reversed(steps)] == known[::-1]
