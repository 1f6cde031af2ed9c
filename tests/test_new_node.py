"""The type of node that CONTRIBUTING.md adds in one file, with its rows for every pass."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from sympy import symbols
from test_contributing import RECIPES

import sympy_einsum as se
from sympy_einsum.compiler import lambdify
from sympy_einsum.core import NODE_TABLES
from sympy_einsum.expressions import order_of

n, m = symbols("n m", integer=True, positive=True)
x, A = se.TensorSymbol("x", n), se.TensorSymbol("A", m, n)
numbers = np.random.default_rng(0).standard_normal

# The file that the page adds.
SOURCE = re.sub(r"^\+", "", RECIPES["Add a node"].diff.split("@@\n")[1], flags=re.M)
NAMESPACE = {"__name__": "flip"}
exec(SOURCE, NAMESPACE)
Flip, flip = NAMESPACE["Flip"], NAMESPACE["flip"]


def test_it_has_a_row_for_every_pass():
    assert not [name for name, table in NODE_TABLES.items() if table.base_of(Flip) is not Flip]


def test_it_is_a_node_like_others():
    assert flip(x) is flip(x)
    assert flip(flip(x)) is x
    assert flip(x).free_symbols == {x}
    assert flip(x + 1).xreplace({x: 2 * x}) is flip(2 * x + 1)
    assert flip(x).subs(n, 3).shape == (3,)
    assert se.simplify(flip(2 * x) - flip(2 * x)) == se.Zeros(n)


@pytest.mark.parametrize("of", [x, A], ids=["vector", "matrix"])
def test_it_is_differentiated_and_compiled(of):
    f = (se.sin(flip(of)) * of).sum()
    assert se.check_derivative(f, of) < 1e-6
    assert se.check_derivative(se.diff(f, of), of) < 1e-6
    values = numbers((4,) * order_of(of))
    np.testing.assert_allclose(lambdify([of], flip(of))(values), np.flip(values, axis=-1))


def test_forward_mode():
    tangent = se.TensorSymbol("t", n)
    assert se.jvp(flip(x), [x], [tangent]) is flip(tangent).spelled


def test_it_is_printed():
    assert str(flip(x) + 1) == "flip(x) + 1"
    assert "flip" in sympy.latex(flip(A))
    assert "flip" in sympy.pretty(flip(x))


def test_it_is_converted():
    three = se.TensorSymbol("x", 3)
    assert flip(three).as_explicit().tolist() == [three[2], three[1], three[0]]
    i = sympy.Symbol("i", integer=True)
    assert se.to_indexed(flip(x), (i,)) == sympy.IndexedBase("x", shape=(n,))[n - 1 - i]
    with pytest.raises(se.UnsupportedError, match="spell it as a product"):
        se.to_matrix(flip(A))
