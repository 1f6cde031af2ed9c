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

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

from sympy import Expr

from ..expressions import (
    Adj,
    Cofactors,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
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


class Rule(NamedTuple):
    """A rule: its name, the equation it rests on, and what applies it to a node. ``closed`` are
    the dense products that stay what they are, since others use them too."""

    name: str
    source: str
    apply: Callable[[Any, Collection[Any]], Any]


DENEST = Rule("denest", "[W, thm 6.5]", nesting.denest)
SOFTMAX = Rule("softmax", "exp(z) / sum exp(z)", softmax.softmax_of_parts)
LOG_SOFTMAX = Rule("log softmax", "z - logsumexp(z) = log softmax(z)", stable.log_softmax)
LOGARITHM = Rule("logarithm", "log(a exp(u)) = log(a) + u", stable.logarithm_of)
DISTRIBUTE = Rule("distribute", "[W, thm 5.4]", distribution.distribute)
CONTENT = Rule("content", "A (2 x + 2 y) = 2 A (x + y)", distribution.content)

ADJUGATE_OVER_DET = Rule("adjugate", "adj(X) / det(X) = inv(X)", inverses.adj_over_det)

FACTOR_INSIDE = Rule("factor inside", "f(2 s) at x = f(s) at 2 x", entries.factor_inside)
# What keeps values from overflowing: applied always, whatever it costs.
STABLE = Rule("stable", "log(1 - sigmoid(u)) = -softplus(u)", stable.name)
PAIR_OF_FACTORS = Rule("stable", "sinh(u) / cosh(u) = tanh(u)", stable.pair_of_factors)
PAIR_OF_TERMS = Rule("stable", "softplus(u) - u = softplus(-u)", stable.pair_of_terms)
STABLE_SCALAR = Rule("stable", "log(1 - sigmoid(u)) = -softplus(u)", stable.scalar)
STABLE_RULES: dict[type, tuple[Rule, ...]] = {
    Einsum: (SOFTMAX, PAIR_OF_FACTORS),
    View: (SOFTMAX,),
    TensorAdd: (LOG_SOFTMAX, STABLE, PAIR_OF_TERMS),
    Elementwise: (FACTOR_INSIDE, STABLE, LOGARITHM),
    Expr: (
        Rule("log softmax", "z - logsumexp(z) = log softmax(z)", stable.log_softmax_entry),
        STABLE_SCALAR,
    ),
}
# What a textbook writes, but numbers can't be computed from.
NUMERIC_RULES: dict[type, tuple[Rule, ...]] = {
    Einsum: (),
    View: (),
    TensorAdd: (
        Rule("numeric", "1 - sigmoid(u) = sigmoid(-u)", partial(stable.name, numeric=True)),
        Rule("numeric", "1 - exp(u) = -expm1(u)", partial(stable.pair_of_terms, numeric=True)),
        Rule("numeric", "1 - softmax(z) = -expm1(log softmax(z))", stable.one_less_softmax),
    ),
    Elementwise: (
        Rule("numeric", "log(1 - exp(u))", partial(stable.name, numeric=True)),
        Rule("numeric", "log(1 + x) = log1p(x)", stable.log_of_one_more),
        Rule("numeric", "s (1 - s)", stable.complement_in_body),
    ),
    Expr: (Rule("numeric", "1 - sigmoid(u) = sigmoid(-u)", partial(stable.scalar, numeric=True)),),
}

HALVES = Rule("halves", "x'A'A x = (A x)'(A x)", nesting.fold_square)
PRODUCT = (
    DENEST,
    Rule("inverse", "inv(X) X = I", inverses.cancel_inverse),
    SOFTMAX,
    PAIR_OF_FACTORS,
    Rule("sum of softmax", "sum softmax(z) = 1", softmax.sum_softmax),
    Rule("power", "x^a * x^b = x^(a+b), exp(u) * exp(v) = exp(u+v)", powers.merge_powers),
    Rule("square", "sum x^2 = x' x", powers.split_square),
    Rule("symmetric", "X' = X", symmetry.order_symmetric),
    HALVES,
    CONTENT,
    Rule("components", "[W, thm 5.4]", nesting.split_components),
)
VIEW = (
    Rule("diagonal of a product", "[W, thm 6.5]", nesting.diagonal_of_product),
    ADJUGATE_OVER_DET,
    SOFTMAX,
    CONTENT,
    Rule("sign", "-A (x - y) = A (y - x)", distribution.turn_sign),
    Rule("symmetric", "X' = X", symmetry.transpose_symmetric),
)
ELEMENTWISE = (
    Rule("rearranged", "f(A') = f(A)'", entries.of_rearranged),
    Rule("compose", "exp(log(x)) = x", entries.compose),
    Rule("sign", "|x| = x", signs.use_signs),
    Rule("sign", "log(x^a) = a log(x)", signs.log_of_power),
    *STABLE_RULES[Elementwise],
)
SUM = (
    Rule("transposed sum", "(A + B)' = A' + B'", sums.flatten),
    *STABLE_RULES[TensorAdd],
    Rule("like terms", "s A + t A = (s + t) A", sums.collect),
    Rule("common scalar", "s A + s B = s (A + B)", sums.common_scalar),
    Rule("diagonal", "I + diag(x) = diag(1 + x)", sums.add_diagonals),
    Rule("complement", "b sigmoid(z) + a sigmoid(-z) = a + (b - a) sigmoid(z)", sums.complement),
    Rule("factor", "[W, thm 5.4]", sums.factor),
)
# In the normal form that decides equality products are written and multiplied out instead.
OPEN_LOG_SOFTMAX = Rule("log softmax", "log softmax(z) = z - logsumexp(z)", softmax.log_softmax)
CANCEL = Rule("cancel", "[W, thm 5.4]", distribution.cancel_terms)
VANISH = Rule("vanishing sum", "sum (x - mean(x)) = 0", distribution.drop_vanishing)
EXPANDED_PRODUCT = (
    Rule("denest", "[W, thm 6.5]", nesting.denest_fully),
    *[rule for rule in PRODUCT if rule not in (DENEST, HALVES)],
    DISTRIBUTE,
)
MATRICES: dict[type, tuple[Rule, ...]] = {
    Inv: (Rule("inverse of a multiple", "inv(c X') = inv(X)' / c", matrices.inv_of_view),),
    Det: (
        Rule("determinant of a multiple", "det(c X') = c^n det X", matrices.det_of_view),
        Rule("determinant of an inverse", "det(inv X) = 1 / det X", matrices.det_of_inverse),
        Rule(
            "determinant of a product",
            "det(A B) = det A det B [MC, eq. 21]",
            matrices.det_of_product,
        ),
    ),
    LogDet: (
        Rule("determinant of a multiple", "det(c X') = c^n det X", matrices.logdet_of_view),
        Rule("determinant of an inverse", "det(inv X) = 1 / det X", matrices.logdet_of_inverse),
        Rule(
            "determinant of a product",
            "det(A B) = det A det B [MC, eq. 21]",
            matrices.logdet_of_product,
        ),
    ),
}
# Not true of singular matrices, which have an adjugate.
ADJUGATE = {
    Adj: Rule("adjugate", "adj X = det(X) inv(X)", matrices.adj_as_inverse),
    Cofactors: Rule("cofactors", "cof X = det(X) inv(X)' ∧ inv(X)'", matrices.cofactors_as_inverse),
}
INVERSE_OF_PRODUCT = Rule(
    "inverse of a product", "inv(A B) = inv(B) inv(A) [MC, eq. 145]", matrices.inv_of_product
)


def rules_for(node: Any, expand: bool, safe: bool) -> tuple[Rule, ...]:
    """The rules to try on a node, in order."""
    if not isinstance(node, TensorExpr):
        stock = STABLE_RULES[Expr]
        return (*stock, Rule("expand", "[W, thm 5.4]", sums.expand_scalar)) if expand else stock
    if isinstance(node, View):
        return (*VIEW, DISTRIBUTE) if expand else VIEW
    if isinstance(node, Einsum) and not any(node.subscripts):
        return ()  # scalars alone
    if isinstance(node, Einsum):
        return EXPANDED_PRODUCT if expand else (*PRODUCT, CANCEL, VANISH)
    if isinstance(node, TensorAdd):
        return () if expand else SUM
    if isinstance(node, Elementwise):
        return (*ELEMENTWISE, OPEN_LOG_SOFTMAX) if expand else ELEMENTWISE
    if type(node) in ADJUGATE:
        return () if safe else (ADJUGATE[type(node)],)
    found = MATRICES.get(type(node), ())
    return (*found, INVERSE_OF_PRODUCT) if expand and isinstance(node, Inv) else found


def stable_rules_for(node: Any, numeric: bool) -> tuple[Rule, ...]:
    """The rules that give a node its stable form, in order."""
    kind = type(node) if isinstance(node, TensorExpr) else Expr
    found = STABLE_RULES.get(kind, ())
    return (*found, *NUMERIC_RULES.get(kind, ())) if numeric else found
