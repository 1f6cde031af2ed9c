"""Canonical forms of products and sums: zeros, sharing, interning."""

from __future__ import annotations

import itertools
import pickle
import random

import numpy as np
import pytest
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum.core.traversal import postorder
from sympy_einsum.core.tuning import MAX_FLATTENED_FACTORS
from sympy_einsum.expressions.products import View

m, n, k = symbols("m n k", integer=True, positive=True)
t = Symbol("t")
A = se.TensorSymbol("A", (m, n))
B = se.TensorSymbol("B", (n, k))
D = se.TensorSymbol("D", (m,))
S = se.TensorSymbol("S", (n, n))
x, y = se.tensors("x y", n)

SAME = {
    "one name": (se.tensors("x", n), x),
    "transposed twice": (A.T.T, A),
    "delta merges": (se.einsum("ij,jk->ik", A, se.Delta(n)), A),
    "delta between": (A @ se.Delta(n) @ B, A @ B),
    "higher delta": (se.einsum("ij,ijkl->kl", A, se.Delta(m, n)), A),
    "trace of a delta": (se.Delta(n).trace(), n),
    "ones do nothing": (se.einsum("ij,i,j->ij", A, se.Ones(m), se.Ones(n)), A),
    "ones sum": (se.einsum("ij,j->i", A, se.Ones(n)), A.sum(axis=1)),
    "sum of ones": (se.Ones(m, n).sum(), m * n),
    "zeros absorb": (se.einsum("ij,jk->ik", A, se.Zeros(n, k)), se.Zeros(m, k)),
    "zero times": (0 * A, se.Zeros(m, n)),
    "operand order": (se.einsum("ij,j->i", A, x), se.einsum("j,ij->i", x, A)),
    "index names": (se.einsum("ab,b->a", A, x), A @ x),
    "list form": (se.einsum(A, [7, 3], x, [3], [7]), A @ x),
    "symmetric product": ((A.T @ A).T, A.T @ A),
    "scaled symmetric product": (
        se.einsum("ki,k,kj->ij", A, D, A),
        se.einsum("ki,k,kj->ji", A, D, A),
    ),
    "outer square": (se.einsum("i,j->ij", x, x), se.einsum("i,j->ji", x, x)),
    "diagonal embedded and taken": (se.einsum("ii->i", se.einsum("i->ii", x)), x),
    "scalars collect": (2 * (3 * A), 6 * A),
    "scalar out of a scalar product": (se.einsum(",i,i->", t, x, y), t * (x @ y)),
    "like terms": (A + 2 * A - A / 2, A * 5 / 2),
    "difference": (A - A, se.Zeros(m, n)),
    "number over a sum": (2 * (x + y), 2 * x + 2 * y),
    "order of a sum": (x + y, y + x),
    "nested sums": ((x + y) - x, y),
    "unit picks": (se.Delta(n)[2] @ x, x[2]),
    "row of a delta summed": (se.Delta(n)[0].sum(), 1),
}


@pytest.mark.parametrize("name", SAME)
def test_one_object(name):
    left, right = SAME[name]
    assert left == right


DIFFERENT = {
    "transposes": (S, S.T),
    "diagonals": (se.einsum("i->ii", x), se.einsum("i,j->ij", x, x)),
    "products": (S @ S, S * S),
    "a bilinear form": (x @ S @ y, y @ S @ x),
    "assumptions": (se.TensorSymbol("S", (n, n), symmetric=True), S),
    "lengths": (se.TensorSymbol("x", (m,)), x),
    "types of length symbols": (se.TensorSymbol("x", (Symbol("n"),)), x),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_two_objects(name):
    left, right = DIFFERENT[name]
    assert left != right
    assert hash(left) != hash(right)


def test_a_product_and_its_transpose_share_their_arithmetic():
    product, transposed = A @ B, (A @ B).T
    assert isinstance(transposed, View)
    assert transposed.core is product


def test_no_delta_is_ever_an_operand():
    f = ((A @ x) ** 2).sum() + (se.exp(S @ x) * x).sum()
    for expr in (se.hessian(f, x), se.jacobian(se.gradient(f, S), S)):
        for node in postorder([expr]):
            if isinstance(node, se.Einsum):
                assert not any(isinstance(o, se.Delta) for o in node.operands)


def test_the_structure_of_a_tensor_stands_above_a_dense_core():
    T = se.einsum("jp,pl,i->ijil", B.T, B, se.Ones(m))
    assert isinstance(T, View)
    assert T.core == B.T @ B


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_identical_operands(seed):
    choice = random.Random(seed)
    terms = ["".join(choice.choice("abc") for _ in range(2)) for _ in range(3)]
    output = "".join(choice.sample(sorted(set("".join(terms))), 1))
    forms = {
        se.einsum(",".join(order) + "->" + output, S, S, S)
        for order in itertools.permutations(terms)
    }
    assert len(forms) == 1


def test_running_sums_and_products_stay_linear():
    """Flattening is bounded, so building N terms doesn't cost N² operands."""
    total, product = x, x
    for j in range(1000):
        total = total + se.TensorSymbol(f"b{j}", (n,))
        product = Symbol(f"c{j}") * product
    for expr in (total, product):
        operands = sum(len(node.operands) for node in postorder([expr]) if node in {expr})
        assert operands <= 70
        assert sum(len(getattr(node, "operands", ())) for node in postorder([expr])) <= 4000
    assert MAX_FLATTENED_FACTORS < 70


def test_slices_of_operands_are_views_over_a_dense_core_too():
    """A slice of X is a transposed view: its trace is the trace of the slice."""
    X = se.TensorSymbol("X", (2, 4))
    product = se.trace(X)
    assert not any(isinstance(operand, View) for operand in product.operands)
    assert product is se.einsum("ii->", X[:, :2])
    assert pickle.loads(pickle.dumps(product)) is product
    assert str(product) == "X[:, :2].trace()"


def test_fifty_operands():
    symbols_ = [se.TensorSymbol(f"M{j}", (n, n)) for j in range(50)]
    terms = [[j, j + 1] for j in range(50)]
    items = [part for pair in zip(symbols_, terms, strict=True) for part in pair]
    network = se.einsum(*items, [0, 50])
    assert network.shape == (n, n)
    data = [np.eye(3) + 0.1 * j / 50 for j in range(50)]
    expected = np.linalg.multi_dot(data)
    np.testing.assert_allclose(se.lambdify(symbols_, network)(*data), expected)


@pytest.mark.parametrize("length", [1, 4, 5])
def test_flipped_axes_meet_in_the_middle(length):
    flip = se.Delta(length)[::-1]
    assert se.lambdify([], flip.trace())() == length % 2
    assert se.lambdify([], flip.sum())() == length


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_diagonals_of_triangles_are_numbers(offset):
    """Of products with them as well, once these are one product."""
    n = symbols("n", integer=True, positive=True)
    W = se.TensorSymbol("W", n, n)
    inside = se.Triangle(n, n, offset)
    assert inside.trace() == (n if offset <= 0 else 0)
    value = se.simplify(se.diagonal(se.triu(W, offset)))
    assert value == (se.diagonal(W) if offset <= 0 else se.Zeros(n))
    wide = se.simplify(se.diagonal(se.triu(W[:, : n - 1], offset)))
    assert wide.shape == (n - 1,)
    array = np.arange(16.0).reshape(4, 4)
    expected = np.diagonal(np.triu(array[:, :3], offset))
    np.testing.assert_array_equal(se.lambdify(W, wide)(array), expected)
