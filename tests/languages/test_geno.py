"""GENO's language: optimization problems as text."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from oracles import assert_close

import sympy_einsum as se
from sympy_einsum.languages import parse_with_variables

HEAD = "parameters Matrix A Vector b variables Vector x min norm2(A*x - b)^2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD, "minimise ((A @ x - b)**2).sum() over x"),
        (f"{HEAD} st x >= 0", "minimise ((A @ x - b)**2).sum() over x subject to x >= 0"),
        (
            "parameters\nmatrix A\nvector b, c\nvariables\nvector x\n"
            "max\nc'*x\nst\nA*x <= b\nx >= 0",
            "maximise c @ x over x subject to A @ x <= b, x >= 0",
        ),
        (
            "VARIABLES Vector x MINIMIZE x'*x SUBJECT TO sum(x) = 1",
            "minimise x @ x over x subject to x.sum() = 1",
        ),
        (
            "# of a test\nvariable vector x # one\nmin x'*x # min max st\ns.t. x < 1 # the end\n",
            "minimise x @ x over x subject to x <= 1",
        ),
        (
            "variables Vector x min x'*x st\nsum(\nx)\n>= 1\n-x <= 3\nx\n+ x\n<= 5\n\n",
            "minimise x @ x over x subject to x.sum() >= 1, -x <= 3, 2*x <= 5",
        ),
        (
            "variables Vector x min x'*x st 0 <= x <= 1",
            "minimise x @ x over x subject to x >= 0, x <= 1",
        ),
        ("variables Vector max, min min max'*min", "minimise max @ min over max, min"),
        (
            "variables Vector x min max(x.*x)\nst min(x) >= 1",
            "minimise (x*x).max() over x subject to x.min() >= 1",
        ),
        # A relation that the assumptions deny is a constraint still.
        (
            "variables Scalar x positive min x st x = -1",
            "minimise x over x subject to x = -1, x >= 0",
        ),
    ],
)
def test_texts(text, expected):
    assert repr(se.parse(text, syntax="geno")) == expected
    assert repr(se.parse(text)) == expected


def test_a_problem_is_solved():
    """The dual of a support vector machine."""
    problem = se.parse(
        """
        parameters
          Matrix K symmetric
          Scalar c
          Vector y
        variables
          Vector a
        min
          0.5 * (a.*y)'*K*(a.*y) - sum(a)
        st
          a >= 0
          a <= c
          y'*a == 0
        """
    )
    points, y = np.array([[0.0, 1], [1, 0], [2, 2]]), np.array([-1.0, -1, 1])
    result = problem.solve({"K": points @ points.T, "c": 10, "y": y})
    # Of the widest margin: w = (4/3)(1/2, 1/2).
    assert_close((result["a"] * y) @ points, np.array([2, 2]) / 3, 1e-7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variables Vector x", "expected Matrix, Vector or Scalar and a name, or the next part"),
        ("parameters Matrix A min x", "expected Matrix, Vector or Scalar and a name, or the next"),
        ("variables Foo x min sum(x)", "found 'Foo', at position 10"),
        ("variables Vector x min sum(x) st x + 1", "expected <=, >= or ==, but found the end"),
        ("variables Vector x min sum(x - ) st x >= 0", "after '-', but found ')', at position 31"),
        ("variables Vector x min sum(x - y)", "'y' is declared neither under parameters nor"),
        ("variables Vector x min sum(x) st x >= x'", ">= can't combine the column vector x with"),
        ("variables Vector x, x min sum(x)", "'x' is declared twice"),
        ("variables Vector x min x", "the objective has shape (n,), not that of a scalar"),
        ("variables Vector x, y min sum(x)", "the variable 'y' is declared, but doesn't occur"),
        ("variables Vector x min sum(x) st\nx >= 0 x <= 1", "at line 2, column 8"),
        ("variables Vector x min x'*x st x >= 0\nx @ x <= 1", "unexpected character '@'"),
    ],
)
def test_errors_say_where(text, message):
    with pytest.raises(se.ParseError) as error:
        se.parse(text, syntax="geno")
    assert message in str(error.value)


def test_a_problem_is_no_expression():
    with pytest.raises(se.ParseError, match="problem of optimization"):
        parse_with_variables(HEAD)
    with pytest.raises(se.ParseError, match="declarations in the text"):
        se.parse(HEAD, "A matrix")


@pytest.mark.parametrize(
    "text",
    [
        "# " * 40_000 + "x",
        "# a\n" * 20_000 + "variables Vector x min sum(x)",
        "variables Vector x min sum(x) st " + "\n" * 90_000 + "x >= 0",
        "variables Vector x min sum(x) st " + "(" * 20_000,
        "variables " + "Vector x " * 10_000,
    ],
    ids=["signs", "comments", "empty lines", "parentheses", "declarations"],
)
def test_long_texts_take_little_time(text):
    """Time grows with the length: else these would take minutes."""
    with suppress(se.ParseError):
        assert isinstance(se.parse(text), se.Problem)
