"""Terms with known positions."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.analysis import cost
from sympy_einsum.rules import AffinePlace, GatheredPlace, sparse_terms
from sympy_einsum.rules.labelled_terms import Labelled

m, n, k = symbols("m n k", integer=True, positive=True)
x, P = se.TensorSymbol("x", n), se.TensorSymbol("P", n, 3)
p, q = se.tensors("p q", m)


def found(y, variable):
    """The entries of each term with the lengths of their axes, and the dense terms."""
    terms, dense = sparse_terms(se.jacobian(y, variable))
    return {str(term.entries): term.lengths for term in terms}, dense


def test_positions():
    ((term,), _) = sparse_terms(se.jacobian(x[p] ** 2, x))
    assert term.places == (0, GatheredPlace(p, (0,), n))
    ((term,), _) = sparse_terms(se.jacobian(x.reshape(1, n)[:, ::2] ** 2, x))
    assert term.places == (0, 1, AffinePlace(0, ((2, 1),)))
    v = se.TensorSymbol("v", 6)
    ((term,), _) = sparse_terms(se.jacobian((v[:4] ** 2).reshape(2, 2), v))
    halves = [AffinePlace(0, ((1, 0),), divisor, modulus) for divisor, modulus in ((2, 0), (1, 2))]
    assert term.places == (*halves, 0)
    ((term,), _) = sparse_terms(se.jacobian(se.cumsum(x), x))
    assert (term.places, term.above, term.entries) == ((0, 1), ((1, 0, 0),), 1)


@pytest.mark.parametrize(
    ("y", "variable", "expected"),
    [
        # What stands at the same positions is added up before it is computed.
        (x**2 + se.sin(x), x, {"2*x + cos(x)": (n,)}),
        # Constant along an axis: one entry.
        (P * x[:, None], x, {"P": (n, 3)}),
        (P[p], P, {"1": (m, 3)}),
        # Only half of the block of a stack isn't 0.
        (se.stack([x, x**2], axis=1), x, {"1": (n,), "2*x": (n,)}),
        # A sum inside of a product.
        (x[q] * (x[p] - x[q]), x,
         {"x[q]": (m,), "x[p] - 2*x[q]": (m,)}),
    ],
)  # fmt: skip
def test_entries(y, variable, expected):
    assert found(y, variable) == (expected, [])


def test_dense_terms():
    A = se.TensorSymbol("A", n, n)
    terms, dense = found(A @ x + x**2, x)
    assert terms == {"2*x": (n,)}
    assert dense == [A]
    # A gather of rows of a dense derivative, and a scatter of one.
    assert found((A @ x)[p], x)[1] != []
    assert sparse_terms(se.one_hot(p, n).T @ A[q])[0] == []


def test_sums_at_the_same_positions_stay_in_products():
    u, v = x[p] * x[q], x[p] + x[q] ** 2
    r = 1 + u * v + u**2
    terms, _ = sparse_terms(se.jacobian(se.stack([r * u, r * v], axis=1), x))
    assert len(terms) == 4
    # Multiplied out it is 27,200.
    assert cost([term.entries for term in terms]) < 22_000


@pytest.mark.parametrize("count", [1, 2])
def test_products_by_two_positions_have_entries_for_these_only(count):
    first, second = se.one_hot(p, n), se.one_hot(q, n)
    pairs = [se.tensors(f"a{k} b{k}", n) for k in range(count)]
    total = sum([se.einsum("ip,iq,p,q->pq", first, second, *pair) for pair in pairs])
    args, size = [p, q, x, *[own for pair in pairs for own in pair]], 10**5
    function = se.lambdify(args, x[:, None] * total, sparse=x)
    values = [np.arange(1.0, 1 + size) / size] * (2 * count + 1)
    found = function(np.array([2, size - 1]), np.array([0, 5]), *values)
    assert found.nnz == 2
    assert found[size - 1, 5] == pytest.approx(count * 6 / size)


def test_the_diagonal_of_a_slice_stays():
    flip = se.Delta(3)[::-1]
    term = Labelled(((flip, (0, 0)), (se.TensorSymbol("y", 3), (0,))), (), {0: 3})
    assert term.with_slices_taken() == term


def test_sums_are_multiplied_out_up_to_a_bound():
    many = sum([se.sin(x[i] + x[1:]) for i in range(20)])
    J = se.jacobian(many, x)
    assert len(sparse_terms(J)[0]) == 21
    assert sparse_terms(J.T @ J)[1] != []
