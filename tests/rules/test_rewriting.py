"""The lookup of rules, and the memory of nodes."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from sympy import symbols
from test_cases import LETTERS, ROWS
from test_normal_form import CASES, EXPANDED

import sympy_einsum as se
from sympy_einsum.analysis import features
from sympy_einsum.core import postorder
from sympy_einsum.rules.normal_form import normal_form, stabilise
from sympy_einsum.rules.rewriting import Run

m, n = symbols("m n", integer=True, positive=True)


def logistic(tag=""):
    X, y = se.TensorSymbol("X" + tag, (m, n)), se.TensorSymbol("y" + tag, (m,))
    w = se.TensorSymbol("w" + tag, (n,))
    return se.log(1 + se.exp(-y * (X @ w))).sum(), [X, y, w]


@pytest.fixture
def tried(monkeypatch):
    """Return the rules that were tried on nodes."""
    found = []
    search = Run._apply_rules

    def counted(self, node):
        rules_for = self._rules.rules_for

        def watched(node):
            return [rule._replace(apply=noting(rule)) for rule in rules_for(node)]

        def noting(rule):
            def apply(node, around):
                found.append((rule.name, node))
                return rule.apply(node, around)

            return apply

        self._rules = self._rules._replace(rules_for=watched)
        try:
            return search(self, node)
        finally:
            self._rules = self._rules._replace(rules_for=rules_for)

    monkeypatch.setattr(Run, "_apply_rules", counted)
    return found


BEFORE = [before for _, before, _ in CASES + EXPANDED]
BEFORE += [eval(row.values[1].case.split(" = ")[0], dict(LETTERS)) for row in ROWS]


@pytest.mark.parametrize("before", BEFORE, ids=str)
def test_a_rule_without_its_features_is_not_tried(before, monkeypatch):
    search = Run._apply_rules

    def tried(self, node):
        result = search(self, node)
        around = self._around
        for rule in self._rules.rules_for(node):
            if rule.name == result.rule:
                break
            if not rule.fits(features(node, around)):
                new = rule.apply(node, around)
                assert new is None or new is node, f"{rule} does something with {node}"
        return result

    monkeypatch.setattr(Run, "_apply_rules", tried)
    for node in postorder([before]):
        getattr(node, "memory", {}).clear()
    normal_form(before)
    stabilise([before], numeric=True)


def test_a_second_run_tries_nothing(tried):
    f, (_, _, w) = logistic("_twice")
    derivative = se.gradient(f, w, simplify=False)
    first = se.simplify(derivative)
    assert tried
    del tried[:]
    assert se.simplify(derivative) is first
    assert se.simplify(first) is first
    assert not [node for _, node in tried if hasattr(node, "operands")]


def test_few_rules_are_tried_for_a_hessian(tried):
    f, arguments = logistic("_few")
    se.lambdify(arguments, se.hessian(f, arguments[-1]))
    assert 0 < len(tried) <= 122


def test_the_surroundings_of_a_node_are_no_part_of_it():
    """A shared node is a barrier in one graph, and inlined in another."""
    A, B = se.tensors("A B", n, n)
    x = se.TensorSymbol("x", n)
    alone, both = A @ (B @ x), [A @ (B @ x), B @ x]
    fresh = [str(se.simplify(alone)), str(se.simplify(both))]
    assert [str(se.simplify(alone)), str(se.simplify(both))] == fresh
    assert str(se.simplify(alone)) == fresh[0]


def test_intermediate_forms_are_simplified_again():
    """An intermediate form of a node is a node of its own afterwards."""
    A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
    both = [A.inv() @ (A @ se.log(se.exp(x))), A.inv() @ (A @ x)]
    assert se.simplify(both) == [x, x]


def test_number_is_taken_out_of_a_product_that_is_shared():
    y, eta = se.tensors("y eta", 4)
    mu, tau = symbols("mu tau")
    sigma = se.TensorSymbol("sigma", 4, positive=True)
    density = -(((y - mu - tau * eta) / sigma) ** 2).sum() / 2
    for derivative in se.gradient(density, [mu, tau, eta]):
        assert "2*" not in str(derivative)
        assert str(derivative).count("sigma**(-2)*(y - tau*eta - mu*Ones(4))") == 1


def test_memories_of_nodes_keep_no_node_alive():
    x = se.TensorSymbol("x_forgotten", 5)
    node = se.exp(se.log(x * x) + x).sum() * x
    image = se.simplify(node)
    assert image is not node
    references = [weakref.ref(node), weakref.ref(image)]
    del x, node, image
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_threads_get_the_same_form():
    f, (_, _, w) = logistic("_threads")
    derivative = se.gradient(f, w, simplify=False)
    with ThreadPoolExecutor(8) as pool:
        forms = list(pool.map(lambda _: se.simplify(derivative), range(16)))
    assert len(set(forms)) == 1
