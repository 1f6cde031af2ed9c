"""Every rule for a matrix holds for a stack of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.expressions import (
    Adj,
    AdjStack,
    Cofactors,
    CofactorStack,
    Det,
    DetStack,
    Inv,
    InvStack,
    LogDet,
    LogDetStack,
    MatrixPower,
)
from sympy_einsum.rules import rewriting, table

q, r, n, p = symbols("q r n p", integer=True, positive=True)
F, G = se.tensors("F G", q, n, n)
A = se.TensorSymbol("A", n, n)
X = se.TensorSymbol("X", q, r, n, n)
v, w = se.TensorSymbol("v", q, n), se.TensorSymbol("w", q, positive=True)
W = w[:, None, None]
XS = se.einsum("ijkk->jik", X)
T, I_ = F.transpose(0, 2, 1), np.eye(3)
rng = np.random.default_rng(0)
VALUES = {
    F: rng.normal(size=(4, 3, 3)) + 2 * I_,
    G: rng.normal(size=(4, 3, 3)) + 2 * I_,
    A: rng.normal(size=(3, 3)) + 2 * I_,
    X: rng.normal(size=(4, 2, 3, 3)) + 2 * I_,
    v: rng.uniform(1, 2, size=(4, 3)),
    w: rng.uniform(1, 2, size=4),
}


def power(matrices, exponent=p):
    return se.matrix_power(matrices, exponent)


def each(weights, matrices):
    """Multiply matrices by a weight each."""
    return se.einsum("i,ijk->ijk", weights, matrices)


def diag(vectors):
    return se.einsum("ij->ijj", vectors)


# The name of a rule for a matrix, and an equation of it for stacks.
RULES = {
    "inverse of entries": [],
    "determinant of entries": [],
    "inverse of a multiple": [
        (se.inv(2 * F), se.inv(F) / 2),
        (se.inv(T), se.inv(F).transpose(0, 2, 1)),
        (se.inv(F * W), each(1 / w, se.inv(F))),
        (se.inv(A[None] * W), each(1 / w, se.broadcast_to(se.inv(A), (q, n, n)))),
        (se.inv(2 * F + 2 * se.adj(F)), se.inv(F + se.adj(F)) / 2),
        (se.inv(diag(v)), diag(1 / v)),
        (se.inv(3 * X.transpose(1, 0, 3, 2)), se.inv(X).transpose(1, 0, 3, 2) / 3),
    ],
    "inverse of a power": [(se.inv(power(F)), power(F, -p))],
    "adjugate": [
        (se.inv(se.adj(F)), each(1 / se.det(F), F)),
        (each(1 / se.det(F), se.adj(F)), se.inv(F)),
        (each(se.det(F) ** -3, se.adj(F)), each(se.det(F) ** -2, se.inv(F))),
        (se.adj(X) / se.det(X)[:, :, None, None], se.inv(X)),
    ],
    "determinant of a power": [
        (se.det(power(F)), se.det(F) ** p),
        (se.logdet(power(F)), p * se.logdet(F)),
    ],
    "determinant of a multiple": [
        (se.det(2 * T), 2**n * se.det(F)),
        (se.det(F * W), w**n * se.det(F)),
        (se.logdet(2 * T), n * se.log(2 + 0 * w) + se.logdet(F)),
        (se.logdet(F * W), n * se.log(w) + se.logdet(F)),
    ],
    "determinant of an inverse": [
        (se.det(se.inv(F)), 1 / se.det(F)),
        (se.logdet(se.inv(F)), -se.logdet(F)),
    ],
    "determinant of a product": [
        (se.det(F @ G), se.det(F) * se.det(G)),
        (se.det(F @ A @ G), se.det(A) * (se.det(F) * se.det(G))),
        (se.logdet(F @ G), se.logdet(F) + se.logdet(G)),
        (se.logdet(F @ G @ A * W), se.logdet(A) + (se.logdet(F) + se.logdet(G) + n * se.log(w))),
    ],
    "power of a multiple": [
        (power(2 * T), 2**p * power(F).transpose(0, 2, 1)),
        (power(F * W), each(w**p, power(F))),
        (power(diag(v)), diag(v**p)),
    ],
    "inverse of a product": [
        (se.inv(F @ G), se.inv(G) @ se.inv(F)),
        (se.inv(F @ A @ G * W), each(1 / w, se.inv(G) @ se.inv(A) @ se.inv(F))),
    ],
    "cofactors": [
        (
            se.cofactors(F, 2),
            se.einsum("i,iba,idc->iabcd", se.det(F), se.inv(F), se.inv(F))
            - se.einsum("i,ida,ibc->iabcd", se.det(F), se.inv(F), se.inv(F)),
        )
    ],
    "inverse": [
        (se.inv(F) @ F @ G, G),
        (G @ F @ se.inv(F), G),
        (se.inv(F @ G) @ F @ G @ F, F),
        (se.einsum("iab,ibc->ac", se.inv(F), F), q * se.Delta(n)),
        (se.einsum("iab,ib->ia", se.inv(F), se.einsum("iab,ib->ia", F, v)), v),
    ],
    "powers of a matrix": [
        (power(F) @ F, power(F, p + 1)),
        (se.inv(F) @ power(F), power(F, p - 1)),
    ],
    "inverse of an exponential": [(se.inv(se.expm(F)), se.expm(-F))],
    "determinant of an exponential": [
        (se.det(se.expm(F)), se.exp(se.trace(F, axis1=1, axis2=2))),
        (se.logdet(se.expm(F)), se.trace(F, axis1=1, axis2=2)),
        (se.logdet(se.expm(X)), se.trace(X, axis1=2, axis2=3)),
    ],
    "determinant of a diagonal": [
        (se.det(diag(v)), se.prod(v, axis=1)),
        (se.det(2 * p * diag(v)), (2 * p) ** n * se.prod(v, axis=1)),
        (se.det(diag(v[:, :3])), v[:, 0] * v[:, 1] * v[:, 2]),
        (se.det(se.broadcast_to(p * se.Delta(n), (q, n, n))), p**n + 0 * w),
        (se.logdet(-3 * diag(v)), n * se.log(3) + se.log(abs(v)).sum(axis=1)),
        (se.logdet(se.einsum("ijkk->jikk", X)), se.log(abs(XS)).sum(axis=2)),
        (se.expm(diag(v) / 2), diag(se.exp(v / 2))),
    ],
    # Those that are for one matrix alone.
    "determinant of a Cholesky factor": [],
    "determinant of a triangle": [],
    "inverse of a Kronecker product": [],
    "determinant of a Kronecker product": [],
    "derivative along the matrix": [],
    "derivative along the identity": [],
    "multiple of a direction": [],
}
KINDS = {Inv: InvStack, Det: DetStack, LogDet: LogDetStack, Adj: AdjStack, Cofactors: CofactorStack}
CASES = [
    pytest.param(before, after, id=f"{name} {k}")
    for name, found in RULES.items()
    for k, (before, after) in enumerate(found)
]


def value(expr):
    return se.lambdify([*VALUES, p], expr)(*VALUES.values(), 3)


@pytest.mark.parametrize(("before", "after"), CASES)
def test_a_rule_holds_for_stacks(before, after):
    results = [rewriting.Run(table.EXPANDED).result(se.simplify(e)) for e in (before, after)]
    assert results[0] == results[1]
    for result in (*results, se.simplify(before)):
        np.testing.assert_allclose(value(result), value(before), rtol=1e-9, atol=1e-11)


def test_every_rule_for_a_matrix_has_a_case():
    for rules in (table.NORMAL_RULES, table.EXPANDED_RULES):
        for kind in (*KINDS, MatrixPower):
            assert {rule.name for rule in rules.get(kind, ())} <= {*RULES, "powers of multiples"}
            assert (kind in rules) <= (KINDS.get(kind, kind) in rules)


WRONG = [
    se.einsum("iab,jbc->iac", se.inv(F), F),
    se.einsum("iab,icb->iac", se.inv(F), F),
    se.einsum("iab,ibc,ib->iac", se.inv(F), F, v),
    se.inv(F * v[:, None, :]),
    se.inv(F + G),
    se.det(se.einsum("iab,ibc,ib->iac", F, G, v)),
    se.einsum("j,iab->iab", 1 / se.det(F), se.adj(F)),
    se.einsum("iab,iba->i", F, se.inv(G)),
]


@pytest.mark.parametrize("e", WRONG, ids=str)
def test_similar_expressions_stay_right(e):
    for found in (se.simplify(e), rewriting.Run(table.EXPANDED).result(e)):
        np.testing.assert_allclose(value(found), value(e), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("function", [se.det, se.logdet])
def test_determinants_of_products_are_taken_apart(function):
    """As those of one matrix: factors have known determinants more often than products."""
    one = function(A @ se.expm(A))
    for e in (function(F @ G), function(F @ se.inv(G)), one):
        simple = se.simplify(e)
        assert "@" not in str(simple)
        assert "einsum" not in str(simple)
        np.testing.assert_allclose(value(simple), value(e))


def test_gradients_of_log_determinants_are_inverses():
    products = se.log(se.det(F @ G)).sum(), se.logdet(G @ F @ A).sum()
    for f in (se.log(se.det(F)).sum(), se.logdet(F).sum(), *products):
        gradient = se.gradient(f, F)
        assert gradient == se.inv(F).transpose(0, 2, 1)
        source = se.lambdify([F], gradient).source
        assert "svd" not in source
        assert "inv" in source


def test_a_trace_of_stacks_names_the_axes():
    with pytest.raises(se.ShapeError, match="axis1=1, axis2=2"):
        F.trace()
    with pytest.raises(se.ShapeError, match="axis1=2, axis2=3"):
        X.diagonal()
    np.testing.assert_allclose(value(np.trace(F, axis1=1, axis2=2)), np.trace(VALUES[F].T))
