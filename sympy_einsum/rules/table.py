"""The table of rewriting rules: what turns an expression into its normal form.

A rule is named, local and correct on its own: it takes a node whose operands are in normal form
and gives an equal expression, or None. Where it only pays sometimes, it compares costs. Canonical
index names and operand order, delta merging, ones, zeros, numeric factors and like terms need no
rule: nodes are built that way (see expressions/products.py).

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sympy import Add, Expr, Mul, Pow, exp, log

from ..core import sigmoid
from ..expressions import (
    Adj,
    Cofactors,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    LogSumExp,
    Softmax,
    TensorAdd,
    TensorExpr,
    View,
)
from . import (
    axis_functions as softmax,
    distribution,
    entries,
    inverses,
    matrices,
    nesting,
    powers,
    signs,
    stable_forms as stable,
    sums,
    symmetry,
)
from .marks import (
    APART,
    DIAGONAL,
    NESTED,
    PAIRS,
    REPEATED,
    SHARED,
    SIGNS,
    SQUARE,
    SYMMETRIC,
)
from .rewriting import Rule, RuleSet, any_of
from .stable_table import NAMES, NUMERIC, TURNED, functions_in

# The functions that a stable form is made of, or a product of two.
FORMS = functions_in(NAMES)
PRODUCTS = functions_in(form for form in NAMES if form.is_Mul)
NUMERIC_FORMS = (*FORMS, *functions_in((*NUMERIC, *TURNED)))

DENEST = Rule("denest", "[W, thm 6.5]", nesting.denest, any_of(NESTED))
SOFTMAX = Rule("softmax", "exp(z) / sum exp(z)", softmax.softmax_of_parts, any_of(exp))
CONTENT = Rule("content", "A (2 x + 2 y) = 2 A (x + y)", distribution.content, any_of(TensorAdd))
DISTRIBUTE = Rule("distribute", "[W, thm 5.4]", distribution.distribute)
HALVES = Rule("halves", "x'A'A x = (A x)'(A x)", nesting.fold_square, any_of(PAIRS))
# What keeps values from overflowing: applied always, whatever it costs.
PAIR_OF_FACTORS = Rule(
    "stable", "sinh(u) / cosh(u) = tanh(u)", stable.pair_of_factors, any_of(*PRODUCTS)
)
STABLE_RULES: dict[type, tuple[Rule, ...]] = {
    Einsum: (SOFTMAX, PAIR_OF_FACTORS),
    View: (SOFTMAX,),
    TensorAdd: (
        Rule(
            "log softmax",
            "z - logsumexp(z) = log softmax(z)",
            stable.log_softmax,
            any_of(LogSumExp),
        ),
        Rule("stable", "log(1 - sigmoid(u)) = -softplus(u)", stable.name, any_of(*FORMS)),
        Rule("stable", "softplus(u) - u = softplus(-u)", stable.pair_of_terms, any_of(*FORMS)),
    ),
    Elementwise: (
        Rule("factor inside", "f(2 s) at x = f(s) at 2 x", entries.factor_inside, any_of(Mul)),
        Rule("stable", "log(1 - sigmoid(u)) = -softplus(u)", stable.name, any_of(*FORMS)),
        Rule("logarithm", "log(a exp(u)) = log(a) + u", stable.logarithm_of, any_of(log)),
    ),
    Expr: (
        Rule(
            "log softmax",
            "z - logsumexp(z) = log softmax(z)",
            stable.log_softmax_entry,
            any_of(frozenset([Add, LogSumExp])),
        ),
        Rule("stable", "log(1 - sigmoid(u)) = -softplus(u)", stable.scalar, any_of(log, *FORMS)),
    ),
}
# Not in the normal form, where weighted sums of exponentials are written as they are.
WEIGHTED = Rule(
    "weights",
    "log Σ w exp(z) = log Σ exp(z + log w)",
    stable.log_of_weighted,
    any_of(frozenset([log, Einsum])),
)
WEIGHTED_RULES: dict[type, tuple[Rule, ...]] = {Elementwise: (WEIGHTED,), Expr: (WEIGHTED,)}
# What a textbook writes, but numbers can't be computed from.
NUMERIC_NAME = Rule(
    "numeric",
    "1 - sigmoid(u) = sigmoid(-u)",
    partial(stable.name, numeric=True),
    any_of(Pow, *NUMERIC_FORMS),
)
NUMERIC_RULES: dict[type, tuple[Rule, ...]] = {
    TensorAdd: (
        NUMERIC_NAME,
        Rule(
            "numeric",
            "1 - exp(u) = -expm1(u)",
            partial(stable.pair_of_terms, numeric=True),
            any_of(*NUMERIC_FORMS),
        ),
        Rule(
            "numeric",
            "1 - softmax(z) = -expm1(log softmax(z))",
            stable.one_less_softmax,
            any_of(Softmax),
        ),
    ),
    Elementwise: (
        NUMERIC_NAME,
        Rule("numeric", "log(1 + x) = log1p(x)", stable.log_of_one_more, any_of(log)),
        Rule("numeric", "s (1 - s)", stable.complement_in_body, any_of(sigmoid)),
    ),
    Expr: (
        Rule(
            "numeric",
            "1 - sigmoid(u) = sigmoid(-u)",
            partial(stable.scalar, numeric=True),
            any_of(log, Pow, *NUMERIC_FORMS),
        ),
    ),
}

PRODUCT = (
    DENEST,
    Rule("inverse", "inv(X) X = I", inverses.cancel_inverse, any_of(Inv)),
    SOFTMAX,
    PAIR_OF_FACTORS,
    Rule("sum of softmax", "sum softmax(z) = 1", softmax.sum_softmax, any_of(Softmax)),
    Rule(
        "power",
        "x^a * x^b = x^(a+b), exp(u) * exp(v) = exp(u+v)",
        powers.merge_powers,
        any_of(REPEATED, exp),
    ),
    Rule("square", "sum x^2 = x' x", powers.split_square, any_of(SQUARE)),
    Rule("symmetric", "X' = X", symmetry.order_symmetric, any_of(SYMMETRIC)),
    HALVES,
    CONTENT,
    Rule("components", "[W, thm 5.4]", nesting.split_components, any_of(APART)),
)
VIEW = (
    Rule("diagonal of a product", "[W, thm 6.5]", nesting.diagonal_of_product, any_of(DIAGONAL)),
    Rule("adjugate", "adj(X) / det(X) = inv(X)", inverses.adj_over_det, any_of(Adj)),
    SOFTMAX,
    CONTENT,
    Rule("sign", "-A (x - y) = A (y - x)", distribution.turn_sign, any_of(TensorAdd)),
    Rule("symmetric", "X' = X", symmetry.transpose_symmetric, any_of(SYMMETRIC)),
)
ELEMENTWISE = (
    Rule("rearranged", "f(A') = f(A)'", entries.of_rearranged, any_of(View)),
    Rule("compose", "exp(log(x)) = x", entries.compose, any_of(Elementwise, View)),
    Rule("sign", "|x| = x", signs.use_signs, any_of(SIGNS)),
    Rule("sign", "log(x^a) = a log(x)", signs.log_of_power, any_of(log)),
    *STABLE_RULES[Elementwise],
)
SUM = (
    Rule(
        "transposed sum", "(A + B)' = A' + B'", sums.flatten, any_of(frozenset([View, TensorAdd]))
    ),
    *STABLE_RULES[TensorAdd],
    Rule("like terms", "s A + t A = (s + t) A", sums.collect),
    Rule("common scalar", "s A + s B = s (A + B)", sums.common_scalar, any_of(View)),
    Rule("diagonal", "I + diag(x) = diag(1 + x)", sums.add_diagonals, any_of(View)),
    Rule(
        "complement",
        "b sigmoid(z) + a sigmoid(-z) = a + (b - a) sigmoid(z)",
        sums.complement,
        any_of(sigmoid),
    ),
    Rule("factor", "[W, thm 5.4]", sums.factor, any_of(SHARED)),
)
MATRICES: dict[type, tuple[Rule, ...]] = {
    Inv: (
        Rule(
            "inverse of a multiple", "inv(c X') = inv(X)' / c", matrices.inv_of_view, any_of(View)
        ),
        Rule("adjugate", "inv(adj X) = X / det(X)", matrices.inv_of_adj, any_of(Adj)),
    ),
    Det: (
        Rule(
            "determinant of a multiple", "det(c X') = c^n det X", matrices.det_of_view, any_of(View)
        ),
        Rule(
            "determinant of an inverse",
            "det(inv X) = 1 / det X",
            matrices.det_of_inverse,
            any_of(Inv),
        ),
        Rule(
            "determinant of a product",
            "det(A B) = det A det B [MC, eq. 21]",
            matrices.det_of_product,
            any_of(Einsum),
        ),
    ),
    LogDet: (
        Rule(
            "determinant of a multiple",
            "det(c X') = c^n det X",
            matrices.logdet_of_view,
            any_of(View),
        ),
        Rule(
            "determinant of an inverse",
            "det(inv X) = 1 / det X",
            matrices.logdet_of_inverse,
            any_of(Inv),
        ),
        Rule(
            "determinant of a product",
            "det(A B) = det A det B [MC, eq. 21]",
            matrices.logdet_of_product,
            any_of(Einsum),
        ),
    ),
}
NORMAL_RULES: dict[type, tuple[Rule, ...]] = {
    **MATRICES,
    Einsum: (
        *PRODUCT,
        Rule("cancel", "[W, thm 5.4]", distribution.cancel_terms, any_of(TensorAdd)),
        Rule(
            "vanishing sum",
            "sum (x - mean(x)) = 0",
            distribution.drop_vanishing,
            any_of(TensorAdd),
        ),
    ),
    View: VIEW,
    TensorAdd: SUM,
    Elementwise: ELEMENTWISE,
    Expr: STABLE_RULES[Expr],
}
# In the normal form that decides equality products are written and multiplied out instead, and
# matrices with an adjugate have an inverse.
EXPANDED_RULES: dict[type, tuple[Rule, ...]] = {
    **MATRICES,
    Einsum: (
        Rule("denest", "[W, thm 6.5]", nesting.denest_fully, any_of(Einsum)),
        *[rule for rule in PRODUCT if rule not in (DENEST, HALVES)],
        DISTRIBUTE,
    ),
    View: (*VIEW, DISTRIBUTE),
    Elementwise: (
        *ELEMENTWISE,
        Rule(
            "log softmax",
            "log softmax(z) = z - logsumexp(z)",
            softmax.log_softmax,
            any_of(frozenset([log, Softmax])),
        ),
    ),
    Adj: (Rule("adjugate", "adj X = det(X) inv(X)", matrices.adj_as_inverse),),
    Cofactors: (
        Rule("cofactors", "cof X = det(X) inv(X)' ∧ inv(X)'", matrices.cofactors_as_inverse),
    ),
    Inv: (
        *MATRICES[Inv],
        Rule(
            "inverse of a product",
            "inv(A B) = inv(B) inv(A) [MC, eq. 145]",
            matrices.inv_of_product,
            any_of(Einsum),
        ),
    ),
    Expr: (
        *STABLE_RULES[Expr],
        Rule("expand", "[W, thm 5.4]", sums.expand_scalar, any_of(Mul, Pow)),
    ),
}


def _rule_set(name: str, *tables: Mapping[type, tuple[Rule, ...]]) -> RuleSet:
    """The rules of some tables, for every type of node in them."""
    kinds = {kind for table in tables for kind in table}
    rules = {kind: tuple([r for table in tables for r in table.get(kind, ())]) for kind in kinds}

    def rules_for(node: Any) -> tuple[Rule, ...]:
        if isinstance(node, View):
            return rules[View]
        if isinstance(node, Einsum):
            return rules[Einsum] if any(node.subscripts) else ()  # else scalars alone
        return rules.get(type(node) if isinstance(node, TensorExpr) else Expr, ())

    return RuleSet(name, rules_for)


NORMAL = _rule_set("normal", NORMAL_RULES)
EXPANDED = _rule_set("expanded", EXPANDED_RULES)
STABLE = _rule_set("stable", STABLE_RULES, WEIGHTED_RULES)
STABLE_NUMERIC = _rule_set("numeric", STABLE_RULES, WEIGHTED_RULES, NUMERIC_RULES)
