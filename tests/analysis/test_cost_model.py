"""The cost of evaluation."""

from __future__ import annotations

from oracles import n

import sympy_einsum as se
from sympy_einsum.analysis import cost

A, B, C = se.tensors("A B C", n, n)
x = se.TensorSymbol("x", n)


def test_cost_counts_shared_nodes_once_and_finds_the_best_order():
    product = A @ B
    assert cost([product, product @ C]) < cost([product]) + cost([product @ C])
    assert cost([se.einsum("ij,jk,k->i", A, B, x)]) < cost([product @ x])
    assert cost([se.exp(A)]) > cost([2 * A]) > cost([-A]) == cost([A.T]) == 0
