"""Interning, graph walks, substitution, labels."""

from __future__ import annotations

import copy
import pickle
from itertools import permutations

import pytest
from sympy import Integral, Symbol, log, symbols
from sympy.core.rules import Transform

import sympy_einsum as se
from sympy_einsum.core import tuning
from sympy_einsum.expressions import (
    data_expressions,
    flatten,
    free_leaves,
    is_tensor,
    order_of,
    outermost,
    rebuild,
    shape_of,
    substitute,
    unflatten,
)
from sympy_einsum.expressions.graphs import kinds_in
from sympy_einsum.expressions.interning import map_data
from sympy_einsum.expressions.labels import number_labels, representative, sorted_operands, unite

n, m = symbols("n m", integer=True, positive=True)
u = Symbol("u")
A, B = se.tensors("A B", n, n)
x = se.TensorSymbol("x", n)


def test_a_node_is_built_once():
    assert se.tanh(A @ x) is se.tanh(A @ x)
    assert copy.deepcopy(A @ x) is A @ x
    assert pickle.loads(pickle.dumps(A @ x)) is A @ x


def test_nodes_of_one_kind_with_other_data_differ():
    assert x[0] != x[1]
    assert se.TensorSymbol("x", n, positive=True) != x


def test_nodes_arent_built_by_their_class():
    with pytest.raises(TypeError, match="isn't built directly"):
        se.TensorAdd(A, B)


def test_static_data_are_mapped_and_listed():
    data = ("x", (n, (m, 3)), 2)
    assert data_expressions(data) == [n, m]
    assert map_data(data, lambda e: e + 1) == ("x", (n + 1, (m + 1, 3)), 2)


def test_objects_with_axes():
    scalar = (x @ x) * u
    assert [is_tensor(e) for e in (x, x @ x, u, 3)] == [True, False, False, False]
    assert [order_of(e) for e in (A, x @ x, u, 3)] == [2, 0, 0, 0]
    assert shape_of(A) == (n, n)
    assert shape_of(scalar) == ()


def test_outermost_tensors_are_those_a_scalar_holds_itself():
    assert outermost(log(x @ x) + u) == [x @ x]


def test_types_in_a_graph_include_those_of_lengths():
    assert {se.TensorSymbol, se.Elementwise, type(n + 1)} <= kinds_in(
        se.sin(se.TensorSymbol("y", n + 1))
    )
    assert Integral not in kinds_in(se.sin(x))


@pytest.mark.parametrize("count", [2, tuning.MAX_KEPT_LEAVES, tuning.MAX_KEPT_LEAVES + 5])
def test_free_symbols_of_a_graph(count):
    vectors = [se.TensorSymbol(f"x{k}", n) for k in range(count)]
    total = sum(vectors[1:], vectors[0]).sum() * u
    assert free_leaves(total) == {*vectors, u}
    assert free_leaves(total) == {*vectors, u}


def test_flat_graphs_have_each_node_once():
    e = se.exp(A @ x) + A @ x
    entries = flatten(e)
    assert len([entry for entry in entries if isinstance(entry, tuple)]) == 5
    assert unflatten(entries) is e


def test_rebuilding_with_nothing_new_is_the_node_itself():
    e = A @ x
    assert rebuild(e, e.operands) is e
    assert rebuild(e, (B, x)) is B @ x
    assert rebuild(log(u), (x @ x,)) == log(x @ x)


def test_substitution_is_simultaneous_and_reaches_lengths():
    assert substitute(A @ B, {A: B, B: A}) is B @ A
    assert substitute(x, {n: m}).shape == (m,)
    assert substitute(u**4 * (x @ x), {u**2: m}) == u**4 * (x @ x)
    assert substitute(u**4 * (x @ x), {u**2: m}, stock_rules=True) == m**2 * (x @ x)


def test_transforms_of_sympy_see_the_leaves():
    assert (A @ x).xreplace(Transform(lambda e: B, lambda e: e == A)) is B @ x


def test_labels_of_one_axis_have_one_name():
    merged = {}
    for a, b in [("i", "j"), ("k", "l"), ("j", "l")]:
        unite(merged, a, b)
    assert len({representative(merged, label) for label in "ijkl"}) == 1
    assert representative(merged, "m") == "m"


def test_labels_are_numbered_by_first_appearance():
    assert number_labels(["ki", "ij"]) == {"k": 0, "i": 1, "j": 2}


def test_orders_of_equal_operands_are_all_tried():
    found = set()
    for terms in permutations(["ij", "jk", "kl"]):
        tensors, subs = sorted_operands([A, A, A], list(terms), "il")
        number = number_labels([*subs, "il"])
        found.add((tuple(tensors), tuple(tuple(number[i] for i in term) for term in subs)))
    assert len(found) == 1
