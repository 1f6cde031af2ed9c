"""The table of rewriting rules: what turns an expression into its normal form.

A rule is named, local and correct on its own: it takes a node whose operands are in normal form
and gives an equal expression, or None. Where it only pays sometimes, it compares costs. Canonical
index names and operand order, delta merging, ones, zeros, numeric factors and like terms need no
rule: nodes are built that way (see expressions/products.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sympy import Add, Expr, Mul, Pow, exp, log, sign

from ..analysis import (
    DIAGONAL,
    DISCONNECTED,
    NESTED,
    PAIRS,
    QUOTIENT,
    REPEATED,
    SHARED,
    SQUARE,
    SYMMETRIC,
)
from ..core import sigmoid, softplus, tuning
from ..expressions import (
    Adj,
    AdjStack,
    Einsum,
    Elementwise,
    Expm,
    Extremum,
    ExtremumShare,
    Fourier,
    IntervalProducts,
    Inv,
    InvStack,
    LeviCivita,
    LogSumExp,
    MatrixPower,
    Operand,
    Reshape,
    Scan,
    Softmax,
    TensorAdd,
    TensorExpr,
    Triangle,
    Unit,
    View,
)
from . import (
    axis_functions as softmax,
    conditions,
    distribution,
    entries,
    entry_matrices,
    extrema,
    factorizations,
    fourier,
    intervals,
    inverses,
    kronecker,
    levi_civita,
    loops,
    matrices,
    matrix_powers,
    nesting,
    powers,
    quotients,
    scalar_content,
    signs,
    sums,
    symmetry,
)
from .matrix_table import MATRICES, STACKS, WITH_INVERSES
from .rewriting import Rule, RuleSet, any_of
from .stable.rules import (
    BY_FUNCTIONS,
    DERIVATIVE_RULES,
    FACTORS_OF_MATRIX,
    LOG_OF_FACTOR,
    LOOP_AS_EXTREMUM,
    NUMERIC_RULES,
    PAIR_OF_FACTORS,
    SOFTMAX,
    STABLE_RULES,
)

DENEST = Rule(
    "denest", "A @ (B @ x) = einsum('ij,jk,k->i', A, B, x)", nesting.merge_products, any_of(NESTED)
)
CONTENT = Rule(
    "content", "A @ (2*x + 2*y) = 2*(A @ (x + y))", distribution.content, any_of(TensorAdd)
)
CONTENT_OF_SCALARS = Rule(
    "content of scalars",
    "-2/p*(-s/2 - 3*t/2)*A = (s + 3*t)/p*A",
    scalar_content.content_of_scalars,
    wrong="-2*(-s/2 - t)*A = (s + t)*A",
)
DISTRIBUTE = Rule(
    "distribute",
    "(A + B) @ x = A @ x + B @ x",
    distribution.distribute,
    wrong="(A + B) @ (A - B) = A @ A - B @ B",
)
HALVES = Rule(
    "halves",
    "x @ M.T @ M @ x = (M @ x) @ (M @ x)",
    nesting.fold_square,
    any_of(PAIRS),
    wrong="x @ A @ A @ x = (A @ x) @ (A @ x)",
)
ORDER_SYMMETRIC = Rule(
    "symmetric",
    "x @ S @ y - y @ S @ x = 0",
    symmetry.order_symmetric,
    any_of(SYMMETRIC),
    wrong="x @ A @ y - y @ A @ x = 0",
)
TRANSPOSE_SYMMETRIC = Rule(
    "symmetric",
    "exp(S).T = exp(S)",
    symmetry.transpose_symmetric,
    any_of(SYMMETRIC),
    wrong="(S @ exp(S)).T = S @ exp(S)",
)

ADJUGATE = Rule(
    "adjugate", "adj(A) / det(A) = inv(A)", inverses.adj_over_det, any_of(Adj, AdjStack)
)
PRODUCT = (
    DENEST,
    Rule(
        "product of entries",
        "stack([stack([cos(s), sin(s)]), stack([-sin(s), cos(s)])])"
        " @ stack([stack([cos(s), -sin(s)]), stack([sin(s), cos(s)])]) = Delta(2)",
        entry_matrices.product_of_entries,
        any_of(TensorAdd, Einsum),
        wrong="stack([stack([cos(s), sin(s)]), stack([sin(s), cos(s)])])"
        " @ stack([stack([cos(s), sin(s)]), stack([sin(s), cos(s)])]) = Delta(2)",
    ),
    Rule(
        "antisymmetric and symmetric",
        "einsum('ijk,jk->i', LeviCivita(3), (A + A.T)[:3, :3]) = Zeros(3)",
        levi_civita.contract_with_symmetric,
        any_of(LeviCivita),
        wrong="einsum('ijk,jk->i', LeviCivita(3), A[:3, :3]) = Zeros(3)",
    ),
    Rule(
        "double cross product",
        "cross(A[0, :3], cross(x[:3], y[:3])) = "
        "(A[0, :3] @ y[:3])*x[:3] - (A[0, :3] @ x[:3])*y[:3]",
        partial(levi_civita.contract_pair, max_terms=tuning.MAX_CONTRACTED_TERMS),
        any_of(LeviCivita),
        wrong="cross(cross(A[0, :3], x[:3]), y[:3]) = cross(A[0, :3], cross(x[:3], y[:3]))",
    ),
    ADJUGATE,
    Rule(
        "inverse",
        "inv(A) @ A @ x = x",
        inverses.cancel_inverse,
        any_of(Inv, InvStack),
        wrong="inv(A) @ diag(x) @ A = diag(x)",
    ),
    FACTORS_OF_MATRIX,
    Rule(
        "mask of a triangular factor",
        "Triangle(n)*cholesky(S @ S + Delta(n)) = diag(cholesky(S @ S + Delta(n)).diagonal())",
        factorizations.mask_of_factor,
        any_of(Triangle),
        wrong="Triangle(n).T*cholesky(S @ S + Delta(n))"
        " = diag(cholesky(S @ S + Delta(n)).diagonal())",
    ),
    LOG_OF_FACTOR,
    Rule(
        "powers of a matrix",
        "matrix_power(A, p) @ A @ x = matrix_power(A, p + 1) @ x",
        matrix_powers.join_powers,
        any_of(MatrixPower),
        wrong="matrix_power(A, p) @ matrix_power(B, p) = matrix_power(A @ B, p)",
    ),
    SOFTMAX,
    PAIR_OF_FACTORS,
    Rule(
        "sum of softmax",
        "softmax(x).sum() = 1",
        softmax.sum_softmax,
        any_of(Softmax),
        wrong="softmax(M, axis=1).sum(axis=0) = Ones(n)",
    ),
    Rule(
        "power",
        "x**3 * x / x**2 = x**2",
        powers.merge_powers,
        any_of(REPEATED, exp, sign),
        wrong="sqrt((x - y)**2) = x - y",
    ),
    Rule(
        "quotient",
        "(1/(A @ x)) @ A @ x = n",
        quotients.cancel_quotient,
        any_of(QUOTIENT),
        wrong="(1/(A @ x)) @ A.T @ x = n",
    ),
    Rule(
        "square",
        "(x**2).sum() = x @ x",
        powers.split_square,
        any_of(SQUARE),
        wrong="(A**2).sum(axis=1) = (A @ A).diagonal()",
    ),
    ORDER_SYMMETRIC,
    Rule(
        "exponentials of multiples",
        "expm(s*A) @ expm(t*A) @ x = expm((s + t)*A) @ x",
        matrix_powers.join_exponentials,
        any_of(Expm),
        wrong="expm(A) @ expm(B) @ x = expm(A + B) @ x",
    ),
    Rule(
        "matrix and its exponential",
        "expm(t*A) @ A @ x = A @ expm(t*A) @ x",
        matrix_powers.exponential_last,
        any_of(Expm),
        wrong="expm(A) @ B @ x = B @ expm(A) @ x",
    ),
    Rule(
        "trace of a Kronecker product",
        "kron(A, S).trace() = A.trace()*S.trace()",
        kronecker.trace_of_product,
        any_of(Reshape),
    ),
    HALVES,
    Rule(
        "intervals",
        "x*interval_products(x)[0, :-1]*(interval_products(x)[1:, 1:] @ y)"
        " = Triangle(n) @ (cumprod(x)*y)",
        intervals.join_intervals,
        any_of(IntervalProducts),
    ),
    Rule(
        "DFT bases",
        "einsum('ijk,ilk,j->l', Fourier(n), Fourier(n), x) = n*x",
        fourier.join_dft_bases,
        any_of(Fourier),
    ),
    CONTENT,
    Rule(
        "components",
        "einsum('i,i,j,j->', x, x, y, y) = (x @ x)*(y @ y)",
        nesting.split_components,
        any_of(DISCONNECTED),
        wrong="einsum('i,i,i,i->', x, x, y, y) = (x @ x)*(y @ y)",
    ),
)
VIEW = (
    Rule(
        "diagonal of a product",
        "(A @ B).diagonal() = einsum('ij,ji->i', A, B)",
        nesting.diagonal_of_product,
        any_of(DIAGONAL),
        wrong="(A @ B).diagonal() = A.diagonal()*B.diagonal()",
    ),
    Rule(
        "diagonal of a sum",
        "(A + diag(x)).diagonal() = A.diagonal() + x",
        nesting.diagonal_of_sum,
        any_of(TensorAdd),
    ),
    ADJUGATE,
    Rule(
        "transpose of a Kronecker product",
        "kron(A, M).T = kron(A.T, M.T)",
        kronecker.transpose_of_product,
        any_of(Reshape),
        wrong="kron(A, M).T = kron(M.T, A.T)",
    ),
    SOFTMAX,
    CONTENT,
    CONTENT_OF_SCALARS,
    Rule(
        "sign",
        "-(A @ (x - y)) = A @ (y - x)",
        distribution.move_sign_into_difference,
        any_of(TensorAdd),
    ),
    TRANSPOSE_SYMMETRIC,
    Rule(
        "transposed",
        "(A.T - B).T = A - B.T",
        sums.transpose_terms,
        any_of(TensorAdd),
        wrong="(A @ B).T = A.T @ B.T",
    ),
)
ELEMENTWISE = (
    Rule("rearranged", "exp(A.T) = exp(A).T", entries.of_rearranged, any_of(View, Einsum)),
    Rule(
        "compose",
        "exp(log(x)) = x",
        entries.compose,
        any_of(Elementwise, View),
        wrong="log(exp(x) + exp(y)) = x + y",
    ),
    Rule(
        "function of entries",
        "1/stack([s, t]) = stack([1/s, 1/t])",
        entry_matrices.function_of_entries,
        any_of(TensorAdd),
        wrong="1/stack([s, t]) = stack([1/t, 1/s])",
    ),
    Rule(
        "quotient of slots",
        "elementwise(lambda u, v: u/v, x, x*y) = 1/y",
        powers.split_quotient,
        any_of(Einsum, View),
        wrong="elementwise(lambda u, v: u/v, x, y*(x + y)) = x/y",
    ),
    Rule(
        "sign",
        "log(softmax(x)**3) = 3*log(softmax(x))",
        signs.log_of_power,
        any_of(log),
        wrong="log((x - y)**2) = 2*log(x - y)",
    ),
    Rule(
        "condition",
        "step(2*s*(x - y) - (2*s - 2)*(x - y)) = step(x - y)",
        conditions.normal_condition,
        any_of(*conditions.SIGNS, *conditions.RELATIONS),
        wrong="step(-2*x) = step(x)",
    ),
    *STABLE_RULES[Elementwise],
)
SCALAR = (
    Rule(
        "condition",
        "step(2*(x @ y)) = step(x @ y)",
        conditions.normal_scalar_condition,
        any_of(*conditions.SIGNS),
        wrong="step(-2*(x @ y)) = step(x @ y)",
    ),
    Rule(
        CONTENT_OF_SCALARS.name,
        "-2/p*(-s/2 - 3*t/2)*(x @ y) = (s + 3*t)/p*(x @ y)",
        scalar_content.content_of_scalars,
        any_of(Add),
    ),
    *STABLE_RULES[Expr],
)
SUM = (
    Rule(
        "transposed sum",
        "A + B + (A + B).T = A + B + A.T + B.T",
        sums.flatten_transposed_sums,
        any_of(frozenset([View, TensorAdd])),
    ),
    *STABLE_RULES[TensorAdd],
    Rule("like terms", "s*A + t*A = (s + t)*A", sums.collect, wrong="s*A + t*B = (s + t)*(A + B)"),
    Rule(
        "sum of entries",
        "stack([cos(s)**2*t, s]) + stack([sin(s)**2*t, 1]) = stack([t, s + 1])",
        entry_matrices.sum_of_entries,
        any_of(Unit),
        wrong="stack([cos(s)**2*t, s]) + stack([sin(s)**2, 1]) = stack([t, s + 1])",
    ),
    Rule("common scalar", "t*A + t*B/s = t*(A + B/s)", sums.common_scalar, any_of(View)),
    Rule(
        "diagonal",
        "Delta(n) + diag(x) = diag(1 + x)",
        sums.add_diagonals,
        any_of(View),
        wrong="Ones(n, n) + diag(x) = diag(1 + x)",
    ),
    Rule(
        "complement",
        "y*sigmoid(x) - (1 - y)*sigmoid(-x) = sigmoid(x) + y - 1",
        sums.complement_sigmoid,
        any_of(sigmoid),
        wrong="sigmoid(-x) = -sigmoid(x)",
    ),
    Rule(
        "factor",
        "A @ B + A @ C = A @ (B + C)",
        sums.factor_common,
        any_of(SHARED),
        wrong="A @ B + C @ A = A @ (B + C)",
    ),
)
NORMAL_RULES: dict[type, tuple[Rule, ...]] = {
    **STACKS,
    **MATRICES,
    Softmax: (
        Rule(
            "constant in a softmax",
            "softmax(A + outer(x, Ones(n)), axis=1) = softmax(A, axis=1)",
            extrema.without_constant,
            any_of(TensorAdd),
            wrong="softmax(A + outer(x, Ones(n)), axis=0) = softmax(A, axis=0)",
        ),
    ),
    LogSumExp: (
        Rule(
            "constant in a log-sum-exp",
            "logsumexp(A + outer(x, Ones(n)), axis=1) = logsumexp(A, axis=1) + x",
            extrema.constant_in_extremum,
            any_of(TensorAdd),
            wrong="logsumexp(2*A, axis=1) = 2*logsumexp(A, axis=1)",
        ),
    ),
    Scan: (
        Rule(
            "loop as a sum",
            "scan(lambda c, row: (c + sin(row), None), x, A)[0] = x + sin(A).sum(axis=0)",
            loops.loop_as_sum,
            wrong="scan(lambda c, row: (c - c*row, None), x, A)[0] = x - A.sum(axis=0)",
        ),
        Rule(
            "loop as a power",
            "scan(lambda c, row: (s*c, None), x, A)[0] = s**n*x",
            loops.loop_as_power,
            wrong="scan(lambda c, row: (s*c + x, None), x, A)[0] = s**n*x",
        ),
        Rule(
            "loop as a product",
            "scan(lambda c, row: (c*row, c*row), Ones(n), A)[1] = cumprod(A, axis=0)",
            loops.loop_as_product,
            wrong="scan(lambda c, row: (c*row + c, None), x, A)[0] = A.prod(axis=0)*x",
        ),
        Rule(
            "loop as a log-sum-exp",
            "scan(lambda c, row: (logaddexp(c, row), None), x, A)[0] = "
            "logsumexp(concatenate([x[None], A]), axis=0)",
            loops.loop_as_logsumexp,
            wrong="scan(lambda c, row: (logaddexp(-c, row), None), x, A)[0] = "
            "logsumexp(concatenate([x[None], A]), axis=0)",
        ),
        Rule(
            "loop as a matrix power",
            "scan(lambda c, t: (A[:2, :2] @ c, None), x[:2], length=n)[0] = "
            "matrix_power(A[:2, :2], n) @ x[:2]",
            loops.loop_as_matrix_power,
            wrong="scan(lambda c, t: (c @ A[:2, :2], None), x[:2], length=n)[0] = "
            "matrix_power(A[:2, :2], n) @ x[:2]",
        ),
        Rule(
            "values of closed carries",
            "scan(lambda c, row: (c + row, sin(c + row)), x, A)[1] = sin(cumsum(A, 0) + x[None])",
            loops.values_of_closed_carries,
            wrong="scan(lambda c, row: (c + row, sin(c)), x, A)[1] = sin(cumsum(A, 0) + x[None])",
        ),
    ),
    Extremum: (
        Rule(
            "constant in an extremum",
            "(A + outer(x, Ones(n))).max(axis=1) = A.max(axis=1) + x",
            extrema.constant_in_extremum,
            any_of(TensorAdd),
            wrong="(-A).max(axis=1) = -A.max(axis=1)",
        ),
    ),
    ExtremumShare: (
        Rule(
            "constant in an extremum's subgradient",
            "gradient((A + outer(x, Ones(n))).max(axis=1).sum(), A, simplify=False)"
            " = gradient(A.max(axis=1).sum(), A, simplify=False)",
            extrema.without_constant,
            any_of(TensorAdd),
        ),
    ),
    Einsum: (
        *PRODUCT,
        Rule(
            "cancel",
            "(x - x.mean()).sum() = 0",
            distribution.cancel_terms,
            any_of(TensorAdd),
            wrong="(y*(x - x.mean())).sum() = 0",
        ),
        Rule(
            "zero-padded terms",
            "gradient(x[0]*x[1], x) @ y = x[1]*y[0] + x[0]*y[1]",
            distribution.distribute_places,
            any_of(TensorAdd),
        ),
        Rule(
            "vanishing sum",
            "(y + s*(x - x.mean())).sum()*(x - x.mean()) = y.sum()*(x - x.mean())",
            distribution.drop_vanishing,
            any_of(TensorAdd),
            wrong="(y + x*(x - x.mean())).sum() = y.sum()",
        ),
    ),
    View: VIEW,
    TensorAdd: SUM,
    Elementwise: ELEMENTWISE,
    Expr: SCALAR,
}
# In the normal form that decides equality products are written and multiplied out instead, and
# matrices with an adjugate have an inverse.
EXPANDED_RULES: dict[type, tuple[Rule, ...]] = {
    Scan: (*NORMAL_RULES[Scan], LOOP_AS_EXTREMUM),
    **STACKS,
    **MATRICES,
    **WITH_INVERSES,
    Einsum: (
        Rule(
            "denest",
            "A @ (B @ x) = einsum('ij,jk,k->i', A, B, x)",
            nesting.merge_all_products,
            any_of(Einsum),
        ),
        *[rule for rule in PRODUCT if rule not in (DENEST, HALVES)],
        Rule(
            "product of antisymmetric tensors",
            "einsum('abc,def->abcdef', LeviCivita(3), LeviCivita(3)) = "
            "einsum('ad,be,cf->abcdef', Delta(3), Delta(3), Delta(3)) + "
            "einsum('ae,bf,cd->abcdef', Delta(3), Delta(3), Delta(3)) + "
            "einsum('af,bd,ce->abcdef', Delta(3), Delta(3), Delta(3)) - "
            "einsum('ad,bf,ce->abcdef', Delta(3), Delta(3), Delta(3)) - "
            "einsum('ae,bd,cf->abcdef', Delta(3), Delta(3), Delta(3)) - "
            "einsum('af,be,cd->abcdef', Delta(3), Delta(3), Delta(3))",
            partial(levi_civita.contract_pair, max_terms=tuning.MAX_ALTERNATING_TERMS),
            any_of(LeviCivita),
        ),
        DISTRIBUTE,
    ),
    View: (*VIEW, DISTRIBUTE),
    Elementwise: (
        *ELEMENTWISE,
        Rule(
            "expand",
            "(x + s*y)**2 = x**2 + 2*s*x*y + s**2*y**2",
            powers.expand_power,
            wrong="(x + s*y)**2 = x**2 + s**2*y**2",
        ),
        Rule(
            "log softmax",
            "log(softmax(x)) = x - logsumexp(x)",
            softmax.expand_log_softmax,
            any_of(frozenset([log, Softmax])),
        ),
        Rule("reflect", "sigmoid(-x) = 1 - sigmoid(x)", entries.reflect, any_of(sigmoid, softplus)),
        Rule("reflect", "sin(y - x) = -sin(x - y)", entries.reflect_sum, any_of(TensorAdd)),
        Rule(
            "split body",
            "elementwise(lambda u, v: (1 - u**2)*exp(v), x, y) = exp(y) - x**2*exp(y)",
            entries.expand_body,
            any_of(Add, Mul),
        ),
        Rule(
            "compose all",
            "exp(-(x**2)/2) = elementwise(lambda u: exp(-u**2/2), x)",
            entries.compose_all,
            any_of(Elementwise, View),
        ),
    ),
    Inv: (
        *MATRICES[Inv],
        Rule(
            "inverse of a product",
            "inv(A @ B) = inv(B) @ inv(A)",
            matrices.inv_of_product,
            any_of(Einsum),
            wrong="inv(A @ B) = inv(A) @ inv(B)",
        ),
    ),
    Expr: (
        *SCALAR,
        Rule(
            "reflect",
            "sigmoid(-(x @ y)) = 1 - sigmoid(x @ y)",
            entries.reflect_scalar,
            any_of(sigmoid, softplus),
        ),
        Rule(
            "expand",
            "(x @ x)*((x @ y) + 1) = (x @ x)*(x @ y) + x @ x",
            sums.expand_scalar,
            any_of(Mul, Pow),
        ),
    ),
}


def _rule_set(name: str, *tables: Mapping[type, tuple[Rule, ...]]) -> RuleSet:
    """Return the rules of some tables, for every type of node in them."""
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
    return RuleSet(name, rules_for, is_by_functions=set(products) <= set(BY_FUNCTIONS))


NORMAL = _rule_set("normal", NORMAL_RULES)
EXPANDED = _rule_set("expanded", EXPANDED_RULES)
SYMMETRIES = _rule_set("symmetries", {Einsum: (ORDER_SYMMETRIC,), View: (TRANSPOSE_SYMMETRIC,)})
STABLE = _rule_set("stable", STABLE_RULES, DERIVATIVE_RULES)
STABLE_NUMERIC = _rule_set("numeric", STABLE_RULES, DERIVATIVE_RULES, NUMERIC_RULES)
