"""Short inputs that would take unbounded time are refused at once, with a reason."""

import sys

import numpy as np
import pytest
import sympy
from oracles import n

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.commandline import main

x = se.TensorSymbol("x", (n,))
a = sympy.Symbol("a", real=True)
# Function calls, first imports among them: a few seconds at most.
MAX_CALLS = 12_000_000


@pytest.fixture(autouse=True)
def bounded():
    """Fail the test if too much is computed, instead of running for ever."""
    count = 0

    def watch(frame, event, argument):
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count > MAX_CALLS:
                sys.setprofile(None)
                raise AssertionError("too much is computed")

    sys.setprofile(watch)
    yield
    sys.setprofile(None)


@pytest.mark.parametrize(
    "power",
    [
        lambda: snp.exp2(10**30),
        lambda: snp.power(2, 10**30),
        lambda: snp.power(sympy.Rational(2, 3), -(10**12)),
        lambda: snp.power(3, sympy.Rational(10**12, 7)),
        lambda: se.Ones(n) * 3 ** (10**9 * se.Ones(n)),
        lambda: (3 * se.Ones(n)) ** (10**9),
        lambda: se.elementwise(lambda u: sympy.sin(u ** (10**9)), 5 * se.Ones(n)),
    ],
)
def test_exact_powers_of_many_digits_are_refused(power):
    with pytest.raises(se.TensorError, match="bits"):
        power()


def test_other_large_powers_are_computed():
    assert snp.power(2, 1000) == 2**1000
    assert snp.power(1, 10**30) == 1
    assert snp.power(-1, 10**30 + 1) == -1
    assert snp.power(0, 10**30) == 0
    assert float(snp.power(1.0000001, 10**7)) == pytest.approx(np.exp(1), rel=1e-6)
    assert ((2 * x) ** (10**9)).shape == (n,)
    assert snp.power(a, 10**30) == a ** (10**30)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [6, 20])
def test_towers_of_functions(depth, capsys):
    text = "exp(" * depth + "a" + ")" * depth
    assert main([text, "--wrt", "a"]) == 0
    assert main([text, "--wrt", "a", "--order", "10"]) == 2
    assert "ask for a lower order" in capsys.readouterr().err


def test_long_derivatives_that_can_be_written(capsys):
    assert main(["exp(a^2)", "--wrt", "a", "--order", "6"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "declarations",
    [
        ", ".join(f"v{k}" for k in range(100_000)) + " vector",
        "a " * 100_000,
        "a, b" * 100_000 + "?",
        ["b" * 100_000 + " vector"],
        {"a": "positive " * 100_000},
    ],
)
def test_long_declarations_are_refused(declarations):
    with pytest.raises(se.ParseError, match="at most 100000 are read"):
        se.parse("a", declarations)


def test_stable_forms_are_looked_for_at_the_top_only():
    """A shared scalar that is enormous as a tree."""
    f = x @ x
    for _ in range(12):
        f = f * f + sympy.sin(f)
    assert se.simplify(sympy.log(1 + sympy.exp(f))) == se.softplus(f)
    assert se.simplify(1 / (1 + sympy.exp(-f))) == se.sigmoid(f)


def test_equality_of_nested_functions_may_stay_open():
    """Written as exponentials, functions inside of others are too long for a denominator."""
    f = a
    for _ in range(4):
        f = sympy.sin(f) * f + 1
    assert se.equal((a + f) * (1 / f + 1) - a / f, a + f + 1) is not False
