"""The derivatives of functions of matrices.

A stack of matrices has the derivative of each of its matrices; what is written with i, j, … below
stands for the last axes, and the axes before are the same everywhere.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
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

from collections.abc import Callable, Iterator, Mapping

from sympy import Expr, S

from ..core import same_length
from ..expressions import (
    Adj,
    AdjStack,
    Cholesky,
    Cofactors,
    CofactorStack,
    Delta,
    Det,
    DetSigns,
    DetStack,
    EigenValues,
    EigenVectors,
    Inv,
    InvStack,
    LeftVectors,
    LogDet,
    LogDetStack,
    MatrixFunction,
    Operand,
    PseudoInverse,
    QFactor,
    RFactor,
    RightVectors,
    SingularValues,
    StackFunction,
    TensorExpr,
    Triangle,
    apply_body,
    cofactors,
    contract,
    inv,
    order_of,
    slot,
    tensor_sum,
)
from .term import Term

# A factor and the letters of its last axes.
Lettered = tuple[Operand, str]


def _term(
    node: MatrixFunction, upper: str, lower: str, *factors: Lettered, by: Expr = S.One
) -> Term:
    """A term in letters for the axes of matrices, before which those of the stack stand."""
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


def _inv_terms(node: Inv | InvStack) -> Iterator[Term]:
    """d inv(X)[i,j] / dX[k,l] = -inv(X)[i,k] inv(X)[l,j] [MC, eq. 60]."""
    yield _term(node, "ij", "kl", (node, "ik"), (node, "lj"), by=S.NegativeOne)


def _det_terms(node: Det | DetStack) -> Iterator[Term]:
    """d det(X) / dX[k,l] = adj(X)[l,k] [L, table 4.1]."""
    kind = Adj if isinstance(node, Det) else AdjStack
    yield _term(node, "", "kl", (kind._build(node.operands, ()), "lk"))


def _logdet_terms(node: LogDet | LogDetStack) -> Iterator[Term]:
    """d log|det(X)| / dX[k,l] = inv(X)[l,k] [MC, eq. 57]."""
    kind = Inv if isinstance(node, LogDet) else InvStack
    yield _term(node, "", "kl", (kind._build(node.operands, ()), "lk"))


def _adj_terms(node: Adj | AdjStack) -> Iterator[Term]:
    """adj(X)[i,j] is d det(X) / dX[j,i]."""
    yield _term(node, "ij", "kl", (cofactors(node.operands[0], 2), "jikl"))


def _cofactor_terms(node: Cofactors | CofactorStack) -> Iterator[Term]:
    """The next derivative of the determinant."""
    upper = "abcdefghijklmnopqrstuvwx"[: 2 * node.degree]
    yield _term(node, upper, "yz", (cofactors(node.operands[0], node.degree + 1), upper + "yz"))


def _sign_terms(node: DetSigns) -> Iterator[Term]:
    """None: a sign is constant wherever it has a derivative."""
    yield from ()


# --- symmetric matrices


def _both_ways(node: StackFunction, upper: str, *factors: Lettered) -> Iterator[Term]:
    """The terms of a function of (A + A')/2."""
    for lower in ("kl", "lk"):
        yield _term(node, upper, lower, *factors, by=S.Half)


def _cholesky_terms(node: Cholesky) -> Iterator[Term]:
    """dL = L Φ(inv(L) dA inv(L)'), where Φ takes the lower triangle with half of the diagonal
    [M, eq. 8]."""
    inverse, length = inv(node), node.shape[-1]
    half = contract((-S.Half, Delta(length)), ((), (0, 1)), (0, 1), {0: length, 1: length})
    mask = tensor_sum([Triangle(length), half])
    yield from _both_ways(node, "ij", (node, "ia"), (mask, "ja"), (inverse, "ak"), (inverse, "jl"))


def _eigenvalue_terms(node: EigenValues) -> Iterator[Term]:
    """dλ[i] = (V' dA V)[i,i] [G, §3.1]."""
    vectors = EigenVectors.of(node.operands[0])
    yield _term(node, "i", "kl", (vectors, "ki"), (vectors, "li"))


def _eigenvector_terms(node: EigenVectors) -> Iterator[Term]:
    """dV = V (F ∘ V' dA V) with F[i,j] = 1 / (λ[j] - λ[i]) off the diagonal, 0 on it [G, §3.1];
    where eigenvalues are equal it isn't finite."""
    inverse = _inverse_gaps(EigenValues.of(node.operands[0]), slot(1) - slot(0))
    yield from _both_ways(node, "ij", (node, "ia"), (inverse, "aj"), (node, "ka"), (node, "lj"))


def _inverse_gaps(values: TensorExpr, gap: Expr) -> Operand:
    """1 / gap of the values at i and j, and 0 where i = j; the gap is a difference."""
    *stack, axis = range(values.order)
    lengths = {**dict(enumerate(values.shape)), axis + 1: values.shape[-1]}
    output = (*stack, axis, axis + 1)
    rows = contract((values,), ((*stack, axis),), output, lengths)
    columns = contract((values,), ((*stack, axis + 1),), output, lengths)
    one = contract((Delta(values.shape[-1]),), ((axis, axis + 1),), output, lengths)
    # 1 is added where the difference is 0.
    shifted = tensor_sum([one, apply_body(gap, (rows, columns))])
    inverse = apply_body(1 / slot(0), (shifted,))
    return tensor_sum([inverse, contract((S.NegativeOne, one), ((), output), output, lengths)])


# --- any matrices


def _svd(matrices: Operand) -> tuple[TensorExpr, TensorExpr, TensorExpr]:
    return LeftVectors.of(matrices), SingularValues.of(matrices), RightVectors.of(matrices)


def _singular_value_terms(node: SingularValues) -> Iterator[Term]:
    """ds[i] = (U' dA V)[i,i] [T, eq. 16]."""
    left, _, right = _svd(node.operands[0])
    yield _term(node, "i", "kl", (left, "ki"), (right, "il"))


def _squared_gaps(values: TensorExpr) -> tuple[Operand, Operand]:
    """1 / (s[j]² - s[i]²) off the diagonal, and 1 / s."""
    gap = (slot(1) - slot(0)) * (slot(1) + slot(0))
    return _inverse_gaps(values, gap), apply_body(1 / slot(0), (values,))


def _left_terms(node: LeftVectors) -> Iterator[Term]:
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


def _right_terms(node: RightVectors) -> Iterator[Term]:
    """dV = V (F ∘ (S P + P' S)) + (I - V V') dA' U / S [T, eq. 15 and 21]; here V' is the node."""
    U, s, V = _svd(node.operands[0])
    F, inverse = _squared_gaps(s)
    yield _term(node, "ji", "kl", (V, "ai"), (F, "aj"), (s, "a"), (U, "ka"), (V, "jl"))
    yield _term(node, "ji", "kl", (V, "ai"), (F, "aj"), (U, "kj"), (V, "al"), (s, "j"))
    if not same_length(V.shape[-2], V.shape[-1]):
        yield _term(node, "ji", "ki", (U, "kj"), (inverse, "j"))
        minus = S.NegativeOne
        yield _term(node, "ji", "kl", (V, "ai"), (V, "al"), (U, "kj"), (inverse, "j"), by=minus)


def _pinv_terms(node: PseudoInverse) -> Iterator[Term]:
    """dP = -P dA P + P P' dA' (I - A P) + (I - P A) dA' P' P at matrices of constant rank
    [GP, eq. 4.12]."""
    (A,) = node.operands
    minus = S.NegativeOne
    yield _term(node, "ij", "kl", (node, "ik"), (node, "lj"), by=minus)
    yield _term(node, "ij", "jl", (node, "ia"), (node, "la"))
    yield _term(node, "ij", "kl", (node, "ia"), (node, "la"), (A, "kc"), (node, "cj"), by=minus)
    yield _term(node, "ij", "ki", (node, "ak"), (node, "aj"))
    yield _term(node, "ij", "kl", (node, "ic"), (A, "cl"), (node, "ak"), (node, "aj"), by=minus)


def _q_terms(node: QFactor) -> Iterator[Term]:
    """dQ = Q (Ω - M) + dA inv(R) with M = Q' dA inv(R), where Ω is the lower triangle of M without
    the diagonal, less its transpose [W, eq. 8]."""
    Q, inverse = node, inv(RFactor.of(node.operands[0]))
    strict = Triangle(Q.shape[-1], Q.shape[-1], 1)
    minus = S.NegativeOne
    yield _term(node, "ij", "kl", (Q, "ia"), (strict, "ja"), (Q, "ka"), (inverse, "lj"))
    yield _term(node, "ij", "kl", (Q, "ia"), (strict, "aj"), (Q, "kj"), (inverse, "la"), by=minus)
    if not same_length(Q.shape[-2], Q.shape[-1]):
        yield _term(node, "ij", "kl", (Q, "ia"), (Q, "ka"), (inverse, "lj"), by=minus)
        yield _term(node, "ij", "il", (inverse, "lj"))


def _r_terms(node: RFactor) -> Iterator[Term]:
    """dR = (M - Ω) R with M and Ω as for Q: what M - Ω has are its upper triangle and, above the
    diagonal, its transposed lower one [W, eq. 9]."""
    Q, R = QFactor.of(node.operands[0]), node
    inverse, length = inv(R), R.shape[-1]
    upper, strict = Triangle(length), Triangle(length, length, 1)
    yield _term(node, "ij", "kl", (Q, "ki"), (upper, "ia"), (inverse, "la"), (R, "aj"))
    yield _term(node, "ij", "kl", (strict, "ia"), (Q, "ka"), (inverse, "li"), (R, "aj"))


# The terms of each type of function of matrices.
MATRIX_TERMS: Mapping[type[MatrixFunction], Callable[..., Iterator[Term]]] = {
    **dict.fromkeys([Inv, InvStack], _inv_terms),
    **dict.fromkeys([Det, DetStack], _det_terms),
    **dict.fromkeys([LogDet, LogDetStack], _logdet_terms),
    **dict.fromkeys([Adj, AdjStack], _adj_terms),
    **dict.fromkeys([Cofactors, CofactorStack], _cofactor_terms),
    DetSigns: _sign_terms,
    Cholesky: _cholesky_terms,
    QFactor: _q_terms,
    RFactor: _r_terms,
    EigenValues: _eigenvalue_terms,
    EigenVectors: _eigenvector_terms,
    SingularValues: _singular_value_terms,
    LeftVectors: _left_terms,
    RightVectors: _right_terms,
    PseudoInverse: _pinv_terms,
}
