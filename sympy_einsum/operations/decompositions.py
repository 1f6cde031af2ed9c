"""Decompositions of matrices, and of each matrix along the last two axes of a tensor."""

from __future__ import annotations

from typing import NamedTuple

from sympy import sign

from ..core import UnsupportedError, as_flag, same_length
from ..expressions import (
    Cholesky,
    DetSigns,
    EigenValues,
    EigenVectors,
    LeftVectors,
    Operand,
    PseudoInverse,
    QFactor,
    RFactor,
    RightVectors,
    SingularValues,
    TensorLike,
    det,
    logdet,
    min_length,
    square_matrices,
    stacked_matrices,
)
from .axes import swapaxes
from .indexing import getitem
from .products import matmul


class SlogdetResult(NamedTuple):
    """The result of ``slogdet``, as in NumPy: the sign of the determinant and log|det|.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> se.slogdet(A).logabsdet
    logdet(A)
    """

    sign: Operand
    logabsdet: Operand


class EighResult(NamedTuple):
    """The result of ``eigh``, as in NumPy."""

    eigenvalues: Operand
    eigenvectors: Operand


class QRResult(NamedTuple):
    """The result of ``qr``, as in NumPy."""

    Q: Operand
    R: Operand


class SVDResult(NamedTuple):
    """The result of ``svd``, as in NumPy."""

    U: Operand
    S: Operand
    Vh: Operand


def slogdet(a: TensorLike) -> SlogdetResult:
    """Compute the sign of the determinant and the logarithm of its absolute value.

    Raises
    ======

    ShapeError : the last two axes have different lengths, or there are fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", (2, 3, 3))
    >>> se.slogdet(X).logabsdet == se.logdet(X)
    True
    """
    matrices = square_matrices(a, "slogdet")
    if matrices.order == 2:
        return SlogdetResult(sign(det(matrices)), logdet(matrices))
    return SlogdetResult(DetSigns.of(matrices), logdet(matrices))


def cholesky(a: TensorLike, *, upper: bool = False) -> Operand:
    """Return the lower triangular L with L L' = A of a positive definite matrix A, or of each
    matrix along the last two axes of a tensor; with ``upper`` return the transpose.

    It is the factor of (A + A')/2; its derivative is dL = L Φ(inv(L) dA inv(L)'), where Φ takes the
    lower triangle with half of the diagonal [M].

    Raises
    ======

    ShapeError : the last two axes have different lengths, or there are fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> se.lambdify([A], se.cholesky(A))([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]])

    References
    ==========

    [M] I. Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    factor = Cholesky.of(square_matrices(a, "cholesky"))
    return swapaxes(factor, -1, -2) if as_flag(upper, "upper") else factor


def eigh(a: TensorLike) -> EighResult:
    """Return the eigenvalues of a symmetric matrix, ascending, and the orthonormal eigenvectors, as
    columns; of each matrix along the last two axes of a tensor.

    They are those of (A + A')/2; the derivatives are dλ = diag(V' dA V) and dV = V (F ∘ V' dA V)
    with F[i,j] = 1 / (λ[j] - λ[i]) off the diagonal [G, §3.1]. Where eigenvalues are equal, the
    derivatives of eigenvectors and the second derivatives of eigenvalues aren't finite.

    Raises
    ======

    ShapeError : the last two axes have different lengths, or there are fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> se.lambdify([A], se.eigh(A).eigenvalues)([[2.0, 1.0], [1.0, 2.0]])
    array([1., 3.])

    References
    ==========

    [G] M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
    differentiation", 2008.
    """
    matrices = square_matrices(a, "eigh")
    return EighResult(EigenValues.of(matrices), EigenVectors.of(matrices))


def eigvalsh(a: TensorLike) -> Operand:
    """Compute the eigenvalues of a symmetric matrix, ascending, as in :func:`eigh`.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> se.eigvalsh(A) == se.eigh(A).eigenvalues
    True
    """
    return EigenValues.of(square_matrices(a, "eigvalsh"))


def svd(a: TensorLike, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decomposition A = U diag(s) V': U, the singular values, descending,
    and V'; of each matrix along the last two axes of a tensor.

    There are as many singular values as the shorter axis is long, ``Min(m, n)`` of symbolic
    lengths. Derivatives are those of [T]; those of singular vectors aren't finite where singular
    values are equal, and for a matrix that isn't square where one is 0.

    Raises
    ======

    ShapeError : there are fewer than two axes
    UnsupportedError : ``full_matrices`` for a matrix that isn't square, because the additional
        singular vectors aren't unique

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (4, 3))
    >>> [part.shape for part in se.svd(A, full_matrices=False)]
    [(4, 3), (3,), (3, 3)]

    References
    ==========

    [T] J. Townsend, "Differentiating the singular value decomposition", 2016.
    """
    matrices = stacked_matrices(a, "svd")
    rows, columns = matrices.shape[-2:]
    if as_flag(full_matrices, "full_matrices") and not same_length(rows, columns):
        raise UnsupportedError(
            f"svd of a matrix of shape ({rows}, {columns}) has further singular vectors, which "
            "aren't unique; pass full_matrices=False"
        )
    U, s, V = (kind.of(matrices) for kind in (LeftVectors, SingularValues, RightVectors))
    return SVDResult(U, s, V)


def svdvals(a: TensorLike) -> Operand:
    """Compute the singular values, descending, as in :func:`svd`.

    >>> import sympy_einsum as se
    >>> se.svdvals(se.TensorSymbol("A", (2, 4, 3))).shape
    (2, 3)
    """
    return SingularValues.of(stacked_matrices(a, "svdvals"))


def qr(a: TensorLike, mode: str = "reduced") -> QRResult | Operand:
    """Return the factors of A = Q R, Q with orthonormal columns and R upper triangular; of each
    matrix along the last two axes of a tensor. With ``mode="r"`` return only R.

    Derivatives are those of [W], for matrices of full rank whose leading columns are independent.

    Raises
    ======

    ShapeError : there are fewer than two axes
    UnsupportedError : ``mode="complete"`` for a tall matrix, because the additional columns aren't
        unique; ``mode="raw"``; lengths that can't be compared

    Examples
    ========

    >>> import sympy_einsum as se
    >>> Q, R = se.qr(se.TensorSymbol("A", (4, 3)))
    >>> Q.shape, R.shape
    ((4, 3), (3, 3))

    References
    ==========

    [W] S. F. Walter, L. Lehmann, R. Lamour, "On evaluating higher-order derivatives of the QR
    decomposition of tall matrices with full column rank in forward and reverse mode algorithmic
    differentiation", 2012.
    """
    matrices = stacked_matrices(a, "qr")
    rows, columns = matrices.shape[-2:]
    shortest = min_length(rows, columns)
    if not isinstance(mode, str) or mode not in ("reduced", "complete", "r"):
        raise UnsupportedError(f"qr has the modes reduced, r and complete, not {mode!r}")
    if mode == "complete" and not same_length(shortest, rows):
        raise UnsupportedError(
            f"qr of a matrix of shape ({rows}, {columns}) has further columns in Q, which aren't "
            "unique; pass mode='reduced'"
        )
    if same_length(shortest, columns):
        Q, R = QFactor.of(matrices), RFactor.of(matrices)
    else:
        # Q is that of the leading square block.
        Q = QFactor.of(getitem(matrices, (..., slice(rows))))
        R = matmul(swapaxes(Q, -1, -2), matrices)
    return R if mode == "r" else QRResult(Q, R)


def pinv(a: TensorLike) -> Operand:
    """Return the Moore-Penrose inverse of a matrix, or of each matrix along the last two axes of a
    tensor.

    Derivatives are [GP, eq. 4.12], which holds where the rank is constant.

    Raises
    ======

    ShapeError : there are fewer than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.pinv(se.TensorSymbol("A", (4, 3))).shape
    (3, 4)

    References
    ==========

    [GP] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
    squares problems whose variables separate", 1973.
    """
    return PseudoInverse.of(stacked_matrices(a, "pinv"))
