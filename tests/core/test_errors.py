"""Messages of errors that quote a text."""

from __future__ import annotations

import pytest

import sympy_einsum as se


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "bad"),
        (("x+y",), "bad"),
        ((None, 3), "bad"),
        (("x+y", 1), "bad, at position 1:\n  x+y\n   ^"),
        (("x\ny+z", 3), "bad, at line 2, column 2:\n  x y+z\n     ^"),
        (("x" * 70, 65), f"bad, at position 65:\n  {'x' * 65}\n  {' ' * 60}^"),
    ],
)
def test_a_parse_error_quotes_the_text_at_the_position(given, message):
    error = se.ParseError("bad", *given)
    assert str(error) == message
    assert (error.text, error.position) == (*given, None, None)[:2]
