"""A type of node that isn't ours, with its rows for every pass in one file."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.calculus.terms import Term
from sympy_einsum.compiler import lambdify
from sympy_einsum.convert.to_sums import EntryFormula
from sympy_einsum.core import NODE_TABLES
from sympy_einsum.expressions import Reshape, Selection, TensorExpr, contract, order_of
from sympy_einsum.printing.forms import call

n, m = symbols("n m", integer=True, positive=True)
x, A = se.TensorSymbol("x", n), se.TensorSymbol("A", m, n)
numbers = np.random.default_rng(0).standard_normal


class Flip(TensorExpr):
    """A tensor with the entries along its last axis in reverse order."""

    __slots__ = ()
    rearranges = True

    @classmethod
    def _build(cls, operands, data):
        (tensor,) = operands
        if isinstance(tensor, Flip):
            return tensor.operands[0]
        return cls._intern(operands, data, tensor.shape)

    @property
    def exchange(self):
        """The matrix that flips."""
        return Selection(self.shape[-1], self.shape[-1] - 1, -1, self.shape[-1])

    @property
    def spelled(self):
        """The same as a product."""
        axes = list(range(self.order))
        lengths = {**dict(enumerate(self.shape)), self.order: self.shape[-1]}
        terms = ((self.order, axes[-1]), [*axes[:-1], axes[-1]])
        return contract((self.exchange, *self.operands), terms, [*axes[:-1], self.order], lengths)


def flip(tensor):
    return Flip._build((tensor,), ())


def derivative(node, active):
    axes = tuple(range(node.order))
    lower = (*axes[:-1], node.order)
    factors, labels, upper, kept = (node.exchange,), ((axes[-1], node.order),), axes, lower
    yield Term(0, factors, labels, upper, kept)


def entry(writer, node, at):
    flipped = (*at[:-1], node.shape[-1] - 1 - at[-1])
    return EntryFormula([(node.operands[0], flipped)], lambda v: v[0])


def refused(node, images):
    raise se.UnsupportedError("a flipped tensor isn't converted; spell it as a product")


ROWS = {
    "the derivative": derivative,
    "the cost": lambda node: 0,
    "numerical code": lambda builder, node: builder.value(node.spelled),
    "the text": lambda node, below, form: form.call("flip", below[node.operands[0]].shown),
    "the formula": lambda notation, node: call(
        "flip", notation.of(node.operands[0]), axes=node.order
    ),
    "the drawing": lambda node: ["flip"],
    "the explicit array": lambda node, operands, shape: np.flip(operands[0], axis=-1),
    "the entry": entry,
    "the matrix": refused,
    "the array": refused,
    "the value in a semiring": lambda node: True,
    "the ordinary expression for a value in a semiring": lambda meaning, node, below: flip(*below),
}
for name, row in ROWS.items():
    NODE_TABLES[name][Flip] = row
NODE_TABLES["the formula of an entry"][Flip] = NODE_TABLES["the formula of an entry"][Reshape]


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
