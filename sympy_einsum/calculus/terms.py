"""The derivative of every type of node by each of its operands: one rule per type.

A rule yields :class:`Term` objects: the derivative of a node by one operand, written as an einsum
of factors. The pullback contracts it with a cotangent, the pushforward with a tangent, so every
derivative is stated once and serves both modes.

A stack of matrices has the derivative of each of its matrices: the letters i, j, … in the rules of
functions of matrices stand for the last axes; the axes before are those of the stack.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004.
[JAX] The JAX authors, "JAX: composable transformations of Python+NumPy programs", jax.lax, 2018.
[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
[G] M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", 2008.
[M] I. Murray, "Differentiation of the Cholesky decomposition", 2016.
[T] J. Townsend, "Differentiating the singular value decomposition", 2016.
[GP] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
problems whose variables separate", 1973.
[W] S. F. Walter, L. Lehmann, R. Lamour, "On evaluating higher-order derivatives of the QR
decomposition of tall matrices with full column rank in forward and reverse mode algorithmic
differentiation", 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sympy import Dummy, Expr, Function, Piecewise, Pow, S, expand_mul, factor_terms, log, sqrt

from .. import expressions as nodes
from ..core import NodeTable, cached, derivative, is_choice, may_be_infinite, same_length, tuning
from ..expressions import (
    Operand,
    TensorExpr,
    apply_body,
    cofactors,
    contract,
    determinants_in,
    inv,
    is_literal,
    order_of,
    slot,
    softmax_inside_log,
    split_body,
    substitute_stock,
    tensor_sum,
)
from .choices import inline_operands
from .linear_actions import LINEAR_ACTIONS


class Term(NamedTuple):
    """One summand of the derivative of a node by an operand: an einsum of factors with the
    node's axes (``upper``) and the operand's axes (``lower``). Labels are non-negative integers.
    """

    operand: int
    factors: tuple[Operand, ...]
    subscripts: tuple[Sequence[int], ...]
    upper: Sequence[int]
    lower: Sequence[int]


def _einsum_terms(node: nodes.Einsum, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """[L, §4.3–4.6]: the other operands; an index of this operand alone stays, with a ones axis."""
    operands, subscripts = node.operands, node.subscripts
    for k, operand in enumerate(operands):
        if active(operand):
            factors = operands[:k] + operands[k + 1 :]
            yield Term(k, factors, subscripts[:k] + subscripts[k + 1 :], node.output, subscripts[k])


def _sum_terms(node: nodes.TensorAdd, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """d(X + Y) = dX + dY."""
    axes = range(node.order)
    for k, operand in enumerate(node.operands):
        if active(operand):
            yield Term(k, (), (), axes, axes)


def _elementwise_terms(
    node: nodes.Elementwise, active: Callable[[Operand], bool]
) -> Iterator[Term]:
    """[L, §4.5]: multiply by the function's derivative along the node's axes."""
    axes = range(node.order)
    for k, operand in enumerate(node.operands):
        if active(operand):
            partial = node.partial(k)
            lower = axes if order_of(operand) else ()
            yield Term(k, (partial,), (axes if order_of(partial) else (),), axes, lower)


def _unknown_terms(node: nodes.Unknown) -> Iterator[Term]:
    """Yield the function's next derivative, at the same point."""
    axes = range(node.order)
    lower = range(node.order, node.order + order_of(node.argument))
    yield Term(0, (node.at(node.argument, node.degree + 1),), ((*axes, *lower),), axes, lower)


def _unevaluated_terms(
    node: nodes.Unevaluated, active: Callable[[Operand], bool]
) -> Iterator[Term]:
    """Yield the derivative of the body, under the sign; the body at a bound [Leibniz's rule]."""
    axes = range(node.order)
    for k, operand in enumerate(node.operands):
        if active(operand):
            lower = range(node.order, node.order + order_of(operand))
            yield Term(k, (node.partial(k),), ((*axes, *lower),), axes, lower)


def _logsumexp_terms(node: nodes.LogSumExp) -> Iterator[Term]:
    """Yield the softmax over the same axes [BV, §3.1.5]."""
    (operand,) = node.operands
    axes = range(operand.order)
    kept = [axis for axis in axes if axis not in node.axes]
    yield Term(0, (nodes.Softmax.over(operand, node.axes),), (axes,), kept, axes)


def _extremum_terms(node: nodes.Extremum) -> Iterator[Term]:
    """Yield the tie-averaged subgradient [JAX, reduce_max]."""
    axes = range(node.operands[0].order)
    kept = [axis for axis in axes if axis not in node.axes]
    yield Term(0, (node.subgradient,), (axes,), kept, axes)


def _picked_terms(node: nodes.Picked) -> Iterator[Term]:
    """Yield ones at the positions from which entries are taken along the axis."""
    axes = range(node.order)
    other = [node.order if axis in node.axes else axis for axis in axes]
    yield Term(0, (node.one_hot,), ((*axes, node.order),), axes, other)


def _softmax_terms(node: nodes.Softmax) -> Iterator[Term]:
    """diag(p) - p pᵀ along the softmax's axes, entry by entry along the others."""
    axes = range(node.order)
    other = [node.order + axis if axis in node.axes else axis for axis in axes]
    yield Term(0, (node,), (axes,), axes, axes)
    yield Term(0, (S.NegativeOne, node, node), ((), axes, other), axes, other)


def _logcumsumexp_terms(node: nodes.LogCumSumExp) -> Iterator[Term]:
    """Yield the softmax of all entries up to each position."""
    *rest, place = range(node.order)
    subgradient = nodes.RunningSoftmax.of(node.operands[0])
    yield Term(
        0, (subgradient,), ((*rest, place + 1, place),), range(node.order), (*rest, place + 1)
    )


def _running_softmax_terms(node: nodes.RunningSoftmax) -> Iterator[Term]:
    """diag(p) - p pᵀ for each column p."""
    *rest, row, column = axes = range(node.order)
    other = node.order
    yield Term(0, (node,), (axes,), axes, (*rest, row))
    factors = (S.NegativeOne, node, node)
    yield Term(0, factors, ((), axes, (*rest, other, column)), axes, (*rest, other))


def _interval_products_terms(node: nodes.IntervalProducts) -> Iterator[Term]:
    """Yield the product of the entries before a position times the product of those behind it."""
    *rest, row, column = axes = range(node.order)
    count = node.operands[0].shape[-1]
    place, before, after = range(node.order, node.order + 3)
    selectors = [nodes.Selection(count + 1, start, 1, count) for start in (0, 1)]
    factors = (node, selectors[0], selectors[1], node)
    terms = ((*rest, row, before), (place, before), (place, after), (*rest, after, column))
    yield Term(0, factors, terms, axes, (*rest, place))


def _log_softmax_terms(node: Operand) -> Iterator[Term]:
    """I - 1 pᵀ along the softmax's axes: the derivative by way of p would divide by p, which may be
    0."""
    subgradient = node.operands[0]
    axes = range(node.order)
    other = [node.order + axis if axis in subgradient.axes else axis for axis in axes]
    yield Term(0, (), (), axes, axes)
    yield Term(0, (S.NegativeOne, subgradient), ((), other), axes, other)


def _stock_terms(node: Expr, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """Yield SymPy's partial derivatives of a stock scalar by its operands."""
    below = stock_operands(node)
    if isinstance(node, log) and below is not node.args:
        # d log(det(X)) / dX[k,l] = inv(X)[l,k], as for logdet, in whatever det(X) is a factor.
        factors, rest = determinants_in(node.args[0])
        for k, factor in enumerate(factors):
            if active(factor.matrix):
                yield Term(k, (factor.exponent, inv(factor.matrix)), ((), (1, 0)), (), (0, 1))
        if active(rest):
            yield Term(len(factors), (1 / rest,), ((),), (), ())
        return
    if node.is_Add and below is node.args:
        for k, operand in enumerate(below):
            if active(operand):
                yield Term(k, (), (), (), ())
        return
    rule: dict[Operand, Operand]
    if below is node.args:
        # Numbers stay, so that a power rule sees its exponent.
        arguments = [arg if is_literal(arg) else slot(k) for k, arg in enumerate(below)]
        body = node.func(*arguments)
    else:
        body, found = split_body(node)
        assert tuple(found) == below
    by_square = None if below is node.args else _by_square(node)
    rule = {slot(k): operand for k, operand in enumerate(below)}
    for k, operand in enumerate(below):
        if active(operand):
            if by_square is not None and operand == by_square[0]:
                partial = by_square[1]
            else:
                partial = substitute_stock(derivative(body, slot(k)), rule)
            yield Term(k, (partial,), ((),), (), ())


def stock_operands(node: Expr) -> tuple[Operand, ...]:
    """Return the operands of a stock scalar: its arguments; for the logarithm of determinants their
    matrices and the other factors; for conditions, integrals and the like the tensors and symbols
    inside."""
    if isinstance(node, log):
        factors, rest = determinants_in(node.args[0])
        if factors:
            return (*[factor.matrix for factor in factors], rest)
    is_plain = node.is_Add or node.is_Mul or node.is_Pow or isinstance(node, Function)
    is_whole = (
        isinstance(node, Piecewise)
        or (is_choice(node) and may_be_infinite(node))
        or _by_square(node) is not None
    )
    if is_plain and not is_whole and all(isinstance(a, Expr) for a in node.args):
        return node.args
    return tuple(split_body(node)[1])


@cached(4096)
def _by_square(node: Expr) -> tuple[Operand, Expr] | None:
    """Return the square of the only norm in a short scalar and the derivative by it, if that
    divides by the norm only before its terms are added: (1 + u) exp(-u) where u = norm(x)."""
    found: list[Expr] = []
    roots: dict[Expr, Expr] = {}
    norm = Dummy(positive=True)
    pending: list[Expr] = [node]
    for _ in range(2 * tuning.STABLE_FORM_NODES):
        if not pending:
            break
        part = pending.pop()
        if isinstance(part, nodes.HalfPower):
            roots[part] = norm ** (2 * part.exp)
            found.append(part.base)
        elif isinstance(part, nodes.TensorExpr):
            found.append(part)
        else:
            pending += [arg for arg in part.args if isinstance(arg, Expr)]
    if pending or not roots or len(found) < 2 or len({*found}) > 1:
        return None
    body = node.xreplace({**roots, found[0]: norm**2})
    partial = expand_mul(derivative(body, norm) / (2 * norm))
    if any(own.base == norm and own.exp.is_negative for own in partial.atoms(Pow)):
        return None
    partial = factor_terms(partial)
    return found[0], partial.xreplace({norm**2: found[0]}).xreplace({norm: sqrt(found[0])})


# --- functions of matrices

# A factor and the letters of its last axes.
Lettered = tuple[Operand, str]


def _term(
    node: nodes.MatrixFunction, upper: str, lower: str, *factors: Lettered, by: Expr = S.One
) -> Term:
    """Build a term from letters for the axes of matrices; the axes of the stack stand before
    them."""
    (matrix,) = node.operands
    stack = range(matrix.order - 2)
    scalars = () if by is S.One else (by,)

    def labels(letters: str) -> tuple[int, ...]:
        return (*stack, *[len(stack) + ord(letter) - ord("a") for letter in letters])

    # Constants are the same for all matrices.
    used = [labels(letters)[-order_of(factor) :] for factor, letters in factors]
    return Term(
        0,
        (*scalars, *[factor for factor, _ in factors]),
        (*[() for _ in scalars], *used),
        labels(upper),
        labels(lower),
    )


# --- inverses and determinants


def _inv_terms(node: nodes.Inv | nodes.InvStack) -> Iterator[Term]:
    """d inv(X)[i,j] / dX[k,l] = -inv(X)[i,k] inv(X)[l,j] [MC, eq. 60]."""
    yield _term(node, "ij", "kl", (node, "ik"), (node, "lj"), by=S.NegativeOne)


def _det_terms(node: nodes.Det | nodes.DetStack) -> Iterator[Term]:
    """d det(X) / dX[k,l] = adj(X)[l,k] [L, table 4.1]."""
    kind = nodes.Adj if isinstance(node, nodes.Det) else nodes.AdjStack
    yield _term(node, "", "kl", (kind._build(node.operands, ()), "lk"))


def _logdet_terms(node: nodes.LogDet | nodes.LogDetStack) -> Iterator[Term]:
    """d log|det(X)| / dX[k,l] = inv(X)[l,k] [MC, eq. 57]."""
    kind = nodes.Inv if isinstance(node, nodes.LogDet) else nodes.InvStack
    yield _term(node, "", "kl", (kind._build(node.operands, ()), "lk"))


def _adj_terms(node: nodes.Adj | nodes.AdjStack) -> Iterator[Term]:
    """adj(X)[i,j] is d det(X) / dX[j,i]."""
    yield _term(node, "ij", "kl", (cofactors(node.operands[0], 2), "jikl"))


def _cofactor_terms(node: nodes.Cofactors | nodes.CofactorStack) -> Iterator[Term]:
    """Yield the derivative of the determinant of the next order."""
    upper = "abcdefghijklmnopqrstuvwx"[: 2 * node.degree]
    yield _term(node, upper, "yz", (cofactors(node.operands[0], node.degree + 1), upper + "yz"))


def _sign_terms(node: nodes.DetSigns) -> Iterator[Term]:
    """Yield nothing: a sign is constant wherever it has a derivative."""
    yield from ()


# --- symmetric matrices


def _both_ways(node: nodes.StackFunction, *factors: Lettered) -> Iterator[Term]:
    """Yield the terms of a matrix function of (A + A')/2."""
    for lower in ("kl", "lk"):
        yield _term(node, "ij", lower, *factors, by=S.Half)


def _cholesky_terms(node: nodes.Cholesky) -> Iterator[Term]:
    """dL = L Φ(inv(L) dA inv(L)'), where Φ takes the lower triangle with half of the diagonal
    [M, eq. 8]."""
    inverse, length = inv(node), node.shape[-1]
    half = contract((-S.Half, nodes.Delta(length)), ((), (0, 1)), (0, 1), {0: length, 1: length})
    mask = tensor_sum([nodes.Triangle(length), half])
    yield from _both_ways(node, (node, "ia"), (mask, "ja"), (inverse, "ak"), (inverse, "jl"))


def _eigenvalue_terms(node: nodes.EigenValues) -> Iterator[Term]:
    """dλ[i] = (V' dA V)[i,i] [G, §3.1]."""
    vectors = nodes.EigenVectors.of(node.operands[0])
    yield _term(node, "i", "kl", (vectors, "ki"), (vectors, "li"))


def _eigenvector_terms(node: nodes.EigenVectors) -> Iterator[Term]:
    """dV = V (F ∘ V' dA V) with F[i,j] = 1 / (λ[j] - λ[i]) off the diagonal, 0 on it [G, §3.1];
    where eigenvalues are equal it isn't finite."""
    inverse = _inverse_gaps(nodes.EigenValues.of(node.operands[0]), slot(1) - slot(0))
    yield from _both_ways(node, (node, "ia"), (inverse, "aj"), (node, "ka"), (node, "lj"))


def _inverse_gaps(values: TensorExpr, gap: Expr) -> Operand:
    """Return 1 / gap of the values at i and j, and 0 where i = j; the gap is a difference."""
    *stack, axis = range(values.order)
    lengths = {**dict(enumerate(values.shape)), axis + 1: values.shape[-1]}
    output = (*stack, axis, axis + 1)
    rows = contract((values,), ((*stack, axis),), output, lengths)
    columns = contract((values,), ((*stack, axis + 1),), output, lengths)
    one = contract((nodes.Delta(values.shape[-1]),), ((axis, axis + 1),), output, lengths)
    # 1 is added where the difference is 0.
    shifted = tensor_sum([one, apply_body(gap, (rows, columns))])
    inverse = apply_body(1 / slot(0), (shifted,))
    return tensor_sum([inverse, contract((S.NegativeOne, one), ((), output), output, lengths)])


# --- any matrices


def _svd(matrices: Operand) -> tuple[TensorExpr, TensorExpr, TensorExpr]:
    return (
        nodes.LeftVectors.of(matrices),
        nodes.SingularValues.of(matrices),
        nodes.RightVectors.of(matrices),
    )


def _singular_value_terms(node: nodes.SingularValues) -> Iterator[Term]:
    """ds[i] = (U' dA V)[i,i] [T, eq. 16]."""
    left, _, right = _svd(node.operands[0])
    yield _term(node, "i", "kl", (left, "ki"), (right, "il"))


def _squared_gaps(values: TensorExpr) -> tuple[Operand, Operand]:
    """Return 1 / (s[j]² - s[i]²) off the diagonal, and 1 / s."""
    gap = (slot(1) - slot(0)) * (slot(1) + slot(0))
    return _inverse_gaps(values, gap), apply_body(1 / slot(0), (values,))


def _left_terms(node: nodes.LeftVectors) -> Iterator[Term]:
    """dU = U (F ∘ (P S + S P')) + (I - U U') dA V / S with P = U' dA V and F[i,j] =
    1 / (s[j]² - s[i]²) off the diagonal, 0 on it [T, eq. 13 and 20]."""
    U, s, V = _svd(node.operands[0])
    F, inverse = _squared_gaps(s)
    yield _term(node, "ij", "kl", (U, "ia"), (F, "aj"), (U, "ka"), (V, "jl"), (s, "j"))
    yield _term(node, "ij", "kl", (U, "ia"), (F, "aj"), (s, "a"), (U, "kj"), (V, "al"))
    if not same_length(U.shape[-2], U.shape[-1]):
        yield _term(node, "ij", "il", (V, "jl"), (inverse, "j"))
        minus = S.NegativeOne
        yield _term(node, "ij", "kl", (U, "ia"), (U, "ka"), (V, "jl"), (inverse, "j"), by=minus)


def _right_terms(node: nodes.RightVectors) -> Iterator[Term]:
    """dV = V (F ∘ (S P + P' S)) + (I - V V') dA' U / S [T, eq. 15 and 21]; here V' is the node."""
    U, s, V = _svd(node.operands[0])
    F, inverse = _squared_gaps(s)
    yield _term(node, "ji", "kl", (V, "ai"), (F, "aj"), (s, "a"), (U, "ka"), (V, "jl"))
    yield _term(node, "ji", "kl", (V, "ai"), (F, "aj"), (U, "kj"), (V, "al"), (s, "j"))
    if not same_length(V.shape[-2], V.shape[-1]):
        yield _term(node, "ji", "ki", (U, "kj"), (inverse, "j"))
        minus = S.NegativeOne
        yield _term(node, "ji", "kl", (V, "ai"), (V, "al"), (U, "kj"), (inverse, "j"), by=minus)


def _pinv_terms(node: nodes.PseudoInverse) -> Iterator[Term]:
    """dP = -P dA P + P P' dA' (I - A P) + (I - P A) dA' P' P at matrices of constant rank
    [GP, eq. 4.12]."""
    (A,) = node.operands
    minus = S.NegativeOne
    yield _term(node, "ij", "kl", (node, "ik"), (node, "lj"), by=minus)
    yield _term(node, "ij", "jl", (node, "ia"), (node, "la"))
    yield _term(node, "ij", "kl", (node, "ia"), (node, "la"), (A, "kc"), (node, "cj"), by=minus)
    yield _term(node, "ij", "ki", (node, "ak"), (node, "aj"))
    yield _term(node, "ij", "kl", (node, "ic"), (A, "cl"), (node, "ak"), (node, "aj"), by=minus)


def _q_terms(node: nodes.QFactor) -> Iterator[Term]:
    """dQ = Q (Ω - M) + dA inv(R) with M = Q' dA inv(R), where Ω is the lower triangle of M without
    the diagonal, less its transpose [W, eq. 8]."""
    Q, inverse = node, inv(nodes.RFactor.of(node.operands[0]))
    strict = nodes.Triangle(Q.shape[-1], Q.shape[-1], 1)
    minus = S.NegativeOne
    yield _term(node, "ij", "kl", (Q, "ia"), (strict, "ja"), (Q, "ka"), (inverse, "lj"))
    yield _term(node, "ij", "kl", (Q, "ia"), (strict, "aj"), (Q, "kj"), (inverse, "la"), by=minus)
    if not same_length(Q.shape[-2], Q.shape[-1]):
        yield _term(node, "ij", "kl", (Q, "ia"), (Q, "ka"), (inverse, "lj"), by=minus)
        yield _term(node, "ij", "il", (inverse, "lj"))


def _r_terms(node: nodes.RFactor) -> Iterator[Term]:
    """dR = (M - Ω) R with M and Ω as for Q: what M - Ω has are its upper triangle and, above the
    diagonal, its transposed lower one [W, eq. 9]."""
    Q, R = nodes.QFactor.of(node.operands[0]), node
    inverse, length = inv(R), R.shape[-1]
    upper, strict = nodes.Triangle(length), nodes.Triangle(length, length, 1)
    yield _term(node, "ij", "kl", (Q, "ki"), (upper, "ia"), (inverse, "la"), (R, "aj"))
    yield _term(node, "ij", "kl", (strict, "ia"), (Q, "ka"), (inverse, "li"), (R, "aj"))


# The rules of nodes of one operand, which is active wherever there is a derivative.
UNARY_RULES: Mapping[type, Callable[..., Iterator[Term]]] = {
    nodes.LogSumExp: _logsumexp_terms,
    nodes.Softmax: _softmax_terms,
    nodes.LogCumSumExp: _logcumsumexp_terms,
    nodes.RunningSoftmax: _running_softmax_terms,
    nodes.IntervalProducts: _interval_products_terms,
    nodes.Extremum: _extremum_terms,
    nodes.Picked: _picked_terms,
    **dict.fromkeys([nodes.Inv, nodes.InvStack], _inv_terms),
    **dict.fromkeys([nodes.Det, nodes.DetStack], _det_terms),
    **dict.fromkeys([nodes.LogDet, nodes.LogDetStack], _logdet_terms),
    **dict.fromkeys([nodes.Adj, nodes.AdjStack], _adj_terms),
    **dict.fromkeys([nodes.Cofactors, nodes.CofactorStack], _cofactor_terms),
    nodes.DetSigns: _sign_terms,
    nodes.Cholesky: _cholesky_terms,
    nodes.QFactor: _q_terms,
    nodes.RFactor: _r_terms,
    nodes.EigenValues: _eigenvalue_terms,
    nodes.EigenVectors: _eigenvector_terms,
    nodes.SingularValues: _singular_value_terms,
    nodes.LeftVectors: _left_terms,
    nodes.RightVectors: _right_terms,
    nodes.PseudoInverse: _pinv_terms,
    nodes.Unknown: _unknown_terms,
}


def _unary(rule: Callable[..., Iterator[Term]]) -> Callable[..., Iterator[Term]]:
    """Return a rule of a node of one operand with the parameters of a row of RULES."""
    return lambda node, active: rule(node)


_CONSTANT = "it is zero wherever it exists, and no sweep needs it"
_LINEAR = "the sweeps apply it as a linear map"
_NO_OPERANDS = "it has no operands"
RULES: NodeTable[Callable[..., Iterator[Term]]] = NodeTable(
    "the derivative",
    {
        nodes.Einsum: _einsum_terms,
        nodes.TensorAdd: _sum_terms,
        nodes.Elementwise: _elementwise_terms,
        nodes.Unevaluated: _unevaluated_terms,
        **{kind: _unary(rule) for kind, rule in UNARY_RULES.items()},
    },
    refused={
        nodes.TensorSymbol: _NO_OPERANDS,
        nodes.Zeros: _NO_OPERANDS,
        nodes.Constant: _NO_OPERANDS,
        nodes.Positions: _NO_OPERANDS,
        nodes.Triangle: _NO_OPERANDS,
        nodes.LeviCivita: _NO_OPERANDS,
        nodes.Fourier: _NO_OPERANDS,
        **dict.fromkeys(
            [*LINEAR_ACTIONS, nodes.DirectionalFunction, nodes.Scan, nodes.Solution], _LINEAR
        ),
        **dict.fromkeys([nodes.OneHot, nodes.Ranking, nodes.ExtremumShare], _CONSTANT),
    },
)


def terms(node: Operand, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """Yield the derivative of a node by each of its active operands."""
    if not isinstance(node, TensorExpr):
        return _stock_terms(node, active)
    if softmax_inside_log(node):
        return _log_softmax_terms(inline_operands(node))
    return RULES[type(node)](inline_operands(node), active)
