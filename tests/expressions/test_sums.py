"""Sums: like terms are collected in time linear in the terms."""

from functools import partial

from oracles import calls
from sympy import Integer, symbols

import sympy_einsum as se
from sympy_einsum.expressions import sum_of_multiples, tensor_sum

n = symbols("n", integer=True, positive=True)


def test_terms_that_stay_are_not_built_again():
    """A sum of scaled terms and one more is built in a few dozen calls per term."""
    count = 60
    terms = [k * se.TensorSymbol(f"term{k}", n) for k in range(2, count + 2)]
    y, z = se.tensors("y z", n)
    total = sum(terms[1:], terms[0])
    assert calls(lambda: total + y) < 45 * count
    assert calls(lambda: total + z) < 45 * count


def test_like_terms_are_collected():
    x, y, z = se.tensors("x y z", n)
    total = 2 * x - 3 * y
    assert total + x == 3 * x - 3 * y
    assert total - 2 * x == -3 * y
    assert total + 3 * y + z == 2 * x + z
    assert (total - x) + 2 * y == x - y
    assert -(total + z) == 3 * y - 2 * x - z


def test_means_that_are_subtracted_repeatedly():
    """Each step collects at most as many terms as a sum holds."""

    def build(name, count):
        x = se.TensorSymbol(name, n)
        total = x
        for _ in range(count):
            total = total - total.mean() + x

    build("warm", 10)
    few, many = (calls(partial(build, f"mean{count}", count)) for count in (80, 160))
    assert many < 2.4 * few
    assert few < 80 * 10_000


def test_sums_that_several_sums_contain_are_opened_once():
    """Walking over all paths of x_k = 2 x_(k-1) - x_(k-2) + y_k would never end."""
    x, y = se.tensors("x y", n)
    older, newer = x - y, x
    for k in range(40):
        parts = [
            (Integer(2), newer),
            (Integer(-1), older),
            (Integer(1), se.TensorSymbol(f"y{k}", n)),
        ]
        older, newer = newer, sum_of_multiples(parts)
    total = tensor_sum([newer, x])
    assert len(total.operands) == 42
    assert "2*x + 40*y + 40*y0 + 39*y1" in str(total)
