"""The table of rewriting rules: what turns an expression into its normal form.

A rule is named, local and correct on its own: it takes a node whose operands are in normal form
and gives an equal expression, or None. Where it only pays sometimes, it compares costs. Canonical
index names and operand order, delta merging, ones, zeros, numeric factors and like terms need no
rule: nodes are built that way (see expressions/products.py).

Denesting is [W, thm 6.5], distribution and factoring are [W, thm 5.4], determinants and inverses of
products [MC, eq. 21 and 145].

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sympy import Add, Expr, Mul, Pow, exp, log

from ..core import NUMERIC_NAMES, STABLE_NAMES, TURNED_NAMES, modulus, sigmoid
from ..expressions import (
    Adj,
    Cofactors,
    Det,
    Einsum,
    Elementwise,
    Extremum,
    ExtremumShare,
    Fourier,
    IntervalProducts,
    Inv,
    LogDet,
    LogSumExp,
    Operand,
    Softmax,
    TensorAdd,
    TensorExpr,
    View,
)
from . import (
    axis_functions as softmax,
    distribution,
    entries,
    extrema,
    fourier,
    intervals,
    inverses,
    matrices,
    nesting,
    powers,
    quotients,
    signs,
    stable_forms as stable,
    sums,
    symmetry,
)
from .marks import APART, DIAGONAL, NESTED, PAIRS, QUOTIENT, REPEATED, SHARED, SQUARE, SYMMETRIC
from .rewriting import Rule, RuleSet, any_of
from .stable_table import functions_in

# The functions that a stable form is made of, or a product of two.
FORMS = functions_in(STABLE_NAMES)
PRODUCTS = functions_in(form for form in STABLE_NAMES if form.is_Mul)
NUMERIC_FORMS = (*FORMS, *functions_in((*NUMERIC_NAMES, *TURNED_NAMES)))

DENEST = Rule(
    "denest", "A @ (B @ x) = einsum('ij,jk,k->i', A, B, x)", nesting.denest, any_of(NESTED)
)
SOFTMAX = Rule(
    "softmax", "exp(x) / exp(x).sum() = softmax(x)", softmax.softmax_of_parts, any_of(exp)
)
CONTENT = Rule(
    "content", "A @ (2*x + 2*y) = 2*(A @ (x + y))", distribution.content, any_of(TensorAdd)
)
DISTRIBUTE = Rule("distribute", "(A + B) @ x = A @ x + B @ x", distribution.distribute)
HALVES = Rule("halves", "x @ M.T @ M @ x = (M @ x) @ (M @ x)", nesting.fold_square, any_of(PAIRS))
# What keeps values from overflowing: applied always, whatever it costs.
PAIR_OF_FACTORS = Rule(
    "stable", "sinh(x)*y/cosh(x) = y*tanh(x)", stable.pair_of_factors, any_of(*PRODUCTS)
)
STABLE_PRODUCT = (SOFTMAX, PAIR_OF_FACTORS)
STABLE_RULES: dict[type, tuple[Rule, ...]] = {
    Einsum: STABLE_PRODUCT,
    View: (SOFTMAX,),
    TensorAdd: (
        Rule(
            "log softmax",
            "x - logsumexp(x) = log(softmax(x))",
            stable.log_softmax,
            any_of(LogSumExp),
        ),
        Rule("stable", "softplus(x) - softplus(-x) = x", stable.name, any_of(*FORMS)),
        Rule(
            "stable", "softplus(x) - x + y = softplus(-x) + y", stable.pair_of_terms, any_of(*FORMS)
        ),
    ),
    Elementwise: (
        Rule(
            "factor inside",
            "elementwise(lambda u: sin(2*u), x) = sin(2*x)",
            entries.factor_inside,
            any_of(Mul),
        ),
        Rule("modulus", "modulus(x, y)**2 = x**2 + y**2", entries.open_modulus, any_of(modulus)),
        Rule("stable", "log(1 - sigmoid(x)) = -softplus(x)", stable.name, any_of(*FORMS)),
        Rule(
            "logarithm",
            "log(exp(M).sum(axis=0)) = logsumexp(M, axis=0)",
            stable.logarithm_of,
            any_of(log),
        ),
    ),
    Expr: (
        Rule(
            "log softmax",
            "x[0] - logsumexp(x) = log(softmax(x))[0]",
            stable.log_softmax_entry,
            any_of(frozenset([Add, LogSumExp])),
        ),
        Rule("stable", "log(1 + exp(x @ y)) = softplus(x @ y)", stable.scalar, any_of(log, *FORMS)),
    ),
}
# Not in the normal form, where weighted sums of exponentials are written as they are.
WEIGHTED = Rule(
    "weights",
    "log(abs(M) @ exp(x)) = logsumexp(log(abs(M)) + x[None, :], axis=1)",
    stable.log_of_weighted,
    any_of(frozenset([log, Einsum])),
)
WEIGHTED_RULES: dict[type, tuple[Rule, ...]] = {Elementwise: (WEIGHTED,), Expr: (WEIGHTED,)}
# What a textbook writes, but numbers can't be computed from.
NUMERIC_NAME = Rule(
    "numeric",
    "1 - sigmoid(x) = sigmoid(-x)",
    partial(stable.name, numeric=True),
    any_of(Pow, *NUMERIC_FORMS),
)
NUMERIC_RULES: dict[type, tuple[Rule, ...]] = {
    TensorAdd: (
        NUMERIC_NAME,
        Rule(
            "numeric",
            "1 - exp(x) + y = y + elementwise(lambda u: 1 - exp(u), x)",
            partial(stable.pair_of_terms, numeric=True),
            any_of(*NUMERIC_FORMS),
        ),
        Rule(
            "numeric",
            "1 - softmax(x) = elementwise(lambda u: 1 - exp(u), log(softmax(x)))",
            stable.one_less_softmax,
            any_of(Softmax),
        ),
    ),
    Elementwise: (
        NUMERIC_NAME,
        Rule(
            "numeric",
            "log(1 + x + y) = elementwise(lambda u: log(1 + u), x + y)",
            stable.log_of_one_more,
            any_of(log),
        ),
        Rule(
            "numeric",
            "elementwise(lambda u, v: u*(1 - u)*cos(v), sigmoid(x), y) = "
            "elementwise(lambda u, v, w: u*w*cos(v), sigmoid(x), y, sigmoid(-x))",
            stable.complement_in_body,
            any_of(sigmoid),
        ),
    ),
    Expr: (
        Rule(
            "numeric",
            "1 - sigmoid(x @ y) = sigmoid(-(x @ y))",
            partial(stable.scalar, numeric=True),
            any_of(log, Pow, *NUMERIC_FORMS),
        ),
    ),
}

PRODUCT = (
    DENEST,
    Rule("inverse", "inv(A) @ A @ x = x", inverses.cancel_inverse, any_of(Inv)),
    SOFTMAX,
    PAIR_OF_FACTORS,
    Rule("sum of softmax", "softmax(x).sum() = 1", softmax.sum_softmax, any_of(Softmax)),
    Rule("power", "x**3 * x / x**2 = x**2", powers.merge_powers, any_of(REPEATED, exp)),
    Rule("quotient", "(1/(A @ x)) @ A @ x = n", quotients.cancel_quotient, any_of(QUOTIENT)),
    Rule("square", "(x**2).sum() = x @ x", powers.split_square, any_of(SQUARE)),
    Rule("symmetric", "x @ S @ y - y @ S @ x = 0", symmetry.order_symmetric, any_of(SYMMETRIC)),
    HALVES,
    Rule(
        "intervals",
        "x*interval_products(x)[0, :-1]*(interval_products(x)[1:, 1:] @ y)"
        " = Triangle(n) @ (cumprod(x)*y)",
        intervals.join_intervals,
        any_of(IntervalProducts),
    ),
    Rule(
        "waves",
        "einsum('ijk,ilk,j->l', Fourier(n), Fourier(n), x) = n*x",
        fourier.join_waves,
        any_of(Fourier),
    ),
    CONTENT,
    Rule(
        "components",
        "einsum('i,i,j,j->', x, x, y, y) = (x @ x)*(y @ y)",
        nesting.split_components,
        any_of(APART),
    ),
)
VIEW = (
    Rule(
        "diagonal of a product",
        "(A @ B).diagonal() = einsum('ij,ji->i', A, B)",
        nesting.diagonal_of_product,
        any_of(DIAGONAL),
    ),
    Rule("adjugate", "adj(A) / det(A) = inv(A)", inverses.adj_over_det, any_of(Adj)),
    SOFTMAX,
    CONTENT,
    Rule("sign", "-(A @ (x - y)) = A @ (y - x)", distribution.turn_sign, any_of(TensorAdd)),
    Rule("symmetric", "exp(S).T = exp(S)", symmetry.transpose_symmetric, any_of(SYMMETRIC)),
    Rule("transposed", "(A.T - B).T = A - B.T", sums.transpose_terms, any_of(TensorAdd)),
)
ELEMENTWISE = (
    Rule("rearranged", "exp(A.T) = exp(A).T", entries.of_rearranged, any_of(View)),
    Rule("compose", "exp(log(x)) = x", entries.compose, any_of(Elementwise, View)),
    Rule("sign", "log(softmax(x)**3) = 3*log(softmax(x))", signs.log_of_power, any_of(log)),
    *STABLE_RULES[Elementwise],
)
SUM = (
    Rule(
        "transposed sum",
        "A + B + (A + B).T = A + B + A.T + B.T",
        sums.flatten,
        any_of(frozenset([View, TensorAdd])),
    ),
    *STABLE_RULES[TensorAdd],
    Rule("like terms", "s*A + t*A = (s + t)*A", sums.collect),
    Rule("common scalar", "t*A + t*B/s = t*(A + B/s)", sums.common_scalar, any_of(View)),
    Rule("diagonal", "Delta(n) + diag(x) = diag(1 + x)", sums.add_diagonals, any_of(View)),
    Rule(
        "complement",
        "y*sigmoid(x) - (1 - y)*sigmoid(-x) = sigmoid(x) + y - 1",
        sums.complement,
        any_of(sigmoid),
    ),
    Rule("factor", "A @ B + A @ C = A @ (B + C)", sums.factor, any_of(SHARED)),
)
MATRICES: dict[type, tuple[Rule, ...]] = {
    Inv: (
        Rule("inverse of a multiple", "inv(2*A) = inv(A)/2", matrices.inv_of_view, any_of(View)),
        Rule("adjugate", "inv(adj(A)) = A/det(A)", matrices.inv_of_adj, any_of(Adj)),
    ),
    Det: (
        Rule(
            "determinant of a multiple",
            "det(2*A.T) = 2**n*det(A)",
            matrices.det_of_view,
            any_of(View),
        ),
        Rule(
            "determinant of an inverse",
            "det(inv(A)) = 1/det(A)",
            matrices.det_of_inverse,
            any_of(Inv),
        ),
        Rule(
            "determinant of a product",
            "det(A @ B) = det(A)*det(B)",
            matrices.det_of_product,
            any_of(Einsum),
        ),
    ),
    LogDet: (
        Rule(
            "determinant of a multiple",
            "logdet(t*A.T) = n*log(abs(t)) + logdet(A)",
            matrices.logdet_of_view,
            any_of(View),
        ),
        Rule(
            "determinant of an inverse",
            "logdet(inv(A)) = -logdet(A)",
            matrices.logdet_of_inverse,
            any_of(Inv),
        ),
        Rule(
            "determinant of a product",
            "logdet(A @ B) = logdet(A) + logdet(B)",
            matrices.logdet_of_product,
            any_of(Einsum),
        ),
    ),
}
NORMAL_RULES: dict[type, tuple[Rule, ...]] = {
    **MATRICES,
    Extremum: (
        Rule(
            "constant in an extremum",
            "(A + outer(x, Ones(n))).max(axis=1) = A.max(axis=1) + x",
            extrema.constant_in_extremum,
            any_of(TensorAdd),
        ),
    ),
    ExtremumShare: (
        Rule(
            "constant in an extremum's share",
            "gradient((A + outer(x, Ones(n))).max(axis=1).sum(), A, simplify=False)"
            " = gradient(A.max(axis=1).sum(), A, simplify=False)",
            extrema.constant_in_share,
            any_of(TensorAdd),
        ),
    ),
    Einsum: (
        *PRODUCT,
        Rule("cancel", "(x - x.mean()).sum() = 0", distribution.cancel_terms, any_of(TensorAdd)),
        Rule(
            "places",
            "gradient(x[0]*x[1], x) @ y = x[1]*y[0] + x[0]*y[1]",
            distribution.distribute_places,
            any_of(TensorAdd),
        ),
        Rule(
            "vanishing sum",
            "(y + s*(x - x.mean())).sum()*(x - x.mean()) = y.sum()*(x - x.mean())",
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
        Rule(
            "denest",
            "A @ (B @ x) = einsum('ij,jk,k->i', A, B, x)",
            nesting.denest_fully,
            any_of(Einsum),
        ),
        *[rule for rule in PRODUCT if rule not in (DENEST, HALVES)],
        DISTRIBUTE,
    ),
    View: (*VIEW, DISTRIBUTE),
    Elementwise: (
        *ELEMENTWISE,
        Rule("expand", "(x + s*y)**2 = x**2 + 2*s*x*y + s**2*y**2", powers.expand_power),
        Rule(
            "log softmax",
            "log(softmax(x)) = x - logsumexp(x)",
            softmax.log_softmax,
            any_of(frozenset([log, Softmax])),
        ),
    ),
    Adj: (Rule("adjugate", "adj(A) = det(A)*inv(A)", matrices.adj_as_inverse),),
    Cofactors: (
        Rule(
            "cofactors",
            "cofactors(A, 2) = "
            "det(A)*einsum('ba,dc->abcd', inv(A), inv(A))"
            " - det(A)*einsum('da,bc->abcd', inv(A), inv(A))",
            matrices.cofactors_as_inverse,
        ),
    ),
    Inv: (
        *MATRICES[Inv],
        Rule(
            "inverse of a product",
            "inv(A @ B) = inv(B) @ inv(A)",
            matrices.inv_of_product,
            any_of(Einsum),
        ),
    ),
    Expr: (
        *STABLE_RULES[Expr],
        Rule(
            "expand",
            "(x @ x)*((x @ y) + 1) = (x @ x)*(x @ y) + x @ x",
            sums.expand_scalar,
            any_of(Mul, Pow),
        ),
    ),
}


def _rule_set(name: str, *tables: Mapping[type, tuple[Rule, ...]]) -> RuleSet:
    """The rules of some tables, for every type of node in them."""
    kinds = {kind for table in tables for kind in table}
    rules = {kind: tuple([r for table in tables for r in table.get(kind, ())]) for kind in kinds}
    rules_of: dict[type, tuple[Rule, ...]] = {}

    def rules_for(node: Operand) -> tuple[Rule, ...]:
        kind = type(node)
        if kind is Einsum:
            return rules[Einsum] if any(node.subscripts) else ()  # else scalars alone
        if kind not in rules_of:
            named = View if issubclass(kind, View) else kind
            rules_of[kind] = rules.get(named if issubclass(kind, TensorExpr) else Expr, ())
        return rules_of[kind]

    products = (*rules.get(Einsum, ()), *rules.get(View, ()))
    return RuleSet(name, rules_for, is_by_functions=set(products) <= set(STABLE_PRODUCT))


NORMAL = _rule_set("normal", NORMAL_RULES)
EXPANDED = _rule_set("expanded", EXPANDED_RULES)
STABLE = _rule_set("stable", STABLE_RULES, WEIGHTED_RULES)
STABLE_NUMERIC = _rule_set("numeric", STABLE_RULES, WEIGHTED_RULES, NUMERIC_RULES)
