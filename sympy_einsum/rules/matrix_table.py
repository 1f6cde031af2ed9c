"""The rules for functions of matrices, and of stacks of them: a part of the table of rules (see
table.py)."""

from __future__ import annotations

from ..expressions import (
    Adj,
    AdjStack,
    Cholesky,
    Cofactors,
    CofactorStack,
    Delta,
    Det,
    DetStack,
    Einsum,
    Expm,
    Inv,
    InvStack,
    LogDet,
    LogDetStack,
    MatrixPower,
    PseudoInverse,
    Reshape,
    TensorAdd,
    Triangle,
    View,
)
from . import entry_matrices, factorizations, kronecker, matrices, matrix_powers
from .rewriting import Rule, any_of

ALONG = Rule(
    "multiple of a direction",
    "expm(A, 2*B) = 2*expm(A, B)",
    matrix_powers.along_multiple,
    any_of(View),
    wrong="expm(2*A, B) = 2*expm(A, B)",
)
IDENTITY = Rule(
    "derivative along the identity",
    "matrix_power(A, p, Delta(n)) + expm(A, Delta(n)) = p*matrix_power(A, p - 1) + expm(A)",
    matrix_powers.along_identity,
    any_of(Delta),
    wrong="matrix_power(A, p, B) = p*matrix_power(A, p - 1) @ B",
)
ITSELF = Rule(
    "derivative along the matrix",
    "matrix_power(A, p, A) + expm(t*A, A) = p*matrix_power(A, p) + A @ expm(t*A)",
    matrix_powers.along_itself,
    wrong="expm(A, B) = B @ expm(A)",
)

STACKS: dict[type, tuple[Rule, ...]] = {
    MatrixPower: (
        Rule(
            "powers of multiples",
            "matrix_power(2*F, p) = 2**p*matrix_power(F, p)",
            matrices.powers_of_multiples,
            any_of(View, Einsum, TensorAdd),
        ),
    ),
    InvStack: (
        Rule(
            "inverses of multiples",
            "inv(2*F) = inv(F)/2",
            matrices.inv_of_multiple,
            any_of(View, Einsum, TensorAdd),
        ),
        Rule(
            "inverses of exponentials",
            "inv(expm(F)) = expm(-F)",
            matrix_powers.inv_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "inverses of functions",
            "inv(adj(F)) = einsum('i,ijk->ijk', 1/det(F), F)",
            matrices.inv_of_adj,
            any_of(AdjStack),
        ),
        Rule(
            "inverses of functions",
            "inv(matrix_power(F, p)) = matrix_power(F, -p)",
            matrix_powers.inv_of_power,
            any_of(MatrixPower),
        ),
    ),
    DetStack: (
        Rule(
            "determinants of exponentials",
            "det(expm(F)) = exp(trace(F, axis1=1, axis2=2))",
            matrix_powers.determinant_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "determinants of inverses",
            "det(inv(F)) = 1/det(F)",
            matrices.determinant_of_inverse,
            any_of(InvStack),
            wrong="det(inv(F)) = -det(F)",
        ),
        Rule(
            "determinants of powers",
            "det(matrix_power(F, p)) = det(F)**p",
            matrices.determinant_of_power,
            any_of(MatrixPower),
        ),
        Rule(
            "determinants of diagonals",
            "det(einsum('ijj->ijj', F)) = prod(einsum('ijj->ij', F), axis=1)",
            matrices.determinant_of_diagonal,
            any_of(View),
        ),
        Rule(
            "determinants of triangles",
            "det(einsum('ijk,jk->ijk', F, Triangle(n))) = prod(einsum('ijj->ij', F), axis=1)",
            matrices.determinant_of_triangle,
            any_of(Triangle, View, Einsum, TensorAdd),
        ),
        Rule(
            "determinants of products",
            "det(F @ G) = det(F)*det(G)",
            matrices.determinant_of_product,
        ),
    ),
    LogDetStack: (
        Rule(
            "determinants of exponentials",
            "logdet(expm(F)) = trace(F, axis1=1, axis2=2)",
            matrix_powers.determinant_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "determinants of inverses",
            "logdet(inv(F)) = -logdet(F)",
            matrices.determinant_of_inverse,
            any_of(InvStack),
            wrong="logdet(inv(F)) = 1/logdet(F)",
        ),
        Rule(
            "determinants of powers",
            "logdet(matrix_power(F, p)) = p*logdet(F)",
            matrices.determinant_of_power,
            any_of(MatrixPower),
        ),
        Rule(
            "determinants of diagonals",
            "logdet(einsum('ijj->ijj', F)) = log(abs(einsum('ijj->ij', F))).sum(axis=1)",
            matrices.determinant_of_diagonal,
            any_of(View),
        ),
        Rule(
            "determinants of triangles",
            "logdet(einsum('ijk,jk->ijk', F, Triangle(n)))"
            " = log(abs(einsum('ijj->ij', F))).sum(axis=1)",
            matrices.determinant_of_triangle,
            any_of(Triangle, View, Einsum, TensorAdd),
        ),
        Rule(
            "determinants of products",
            "logdet(F @ G) = logdet(F) + logdet(G)",
            matrices.determinant_of_product,
        ),
    ),
}
MATRICES: dict[type, tuple[Rule, ...]] = {
    Expm: (
        ALONG,
        IDENTITY,
        ITSELF,
        Rule(
            "exponential of a transpose",
            "expm(A.T, B.T) = expm(A, B).T",
            matrix_powers.exponential_of_transpose,
            any_of(View),
            wrong="expm(A.T, B) = expm(A, B).T",
        ),
        Rule(
            "exponential of a diagonal",
            "expm(diag(x)) = diag(exp(x))",
            matrix_powers.exponential_of_diagonal,
            any_of(View),
            wrong="expm(A) = exp(A)",
        ),
    ),
    MatrixPower: (
        *STACKS[MatrixPower],
        ALONG,
        IDENTITY,
        ITSELF,
        Rule(
            "power of a multiple",
            "matrix_power(2*A.T, p) = 2**p*matrix_power(A, p).T",
            matrices.power_of_multiple,
            any_of(View, TensorAdd),
            wrong="matrix_power(2*A, p) = 2*matrix_power(A, p)",
        ),
    ),
    Inv: (
        Rule(
            "inverse of a multiple",
            "inv(2*A) = inv(A)/2",
            matrices.inv_of_multiple,
            any_of(View, TensorAdd),
            wrong="inv(2*A) = 2*inv(A)",
        ),
        Rule(
            "inverse of entries",
            "inv(stack([stack([cos(s), -sin(s)]), stack([sin(s), cos(s)])]))"
            " = stack([stack([cos(s), -sin(s)]), stack([sin(s), cos(s)])]).T",
            entry_matrices.inv_of_entries,
            any_of(TensorAdd, Einsum),
            wrong="inv(stack([stack([cos(s), -sin(s)]), stack([2*sin(s), cos(s)])]))"
            " = stack([stack([cos(s), -sin(s)]), stack([2*sin(s), cos(s)])]).T",
        ),
        Rule(
            "inverse of a power",
            "inv(matrix_power(A, p)) = matrix_power(A, -p)",
            matrix_powers.inv_of_power,
            any_of(MatrixPower),
        ),
        Rule("adjugate", "inv(adj(A)) = A/det(A)", matrices.inv_of_adj, any_of(Adj)),
        Rule(
            "inverse of an exponential",
            "inv(expm(A)) = expm(-A)",
            matrix_powers.inv_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "inverse of a Kronecker product",
            "inv(kron(A, S)) = kron(inv(A), inv(S))",
            kronecker.function_of_product,
            any_of(Reshape),
        ),
    ),
    Det: (
        Rule(
            "determinant of entries",
            "det(stack([stack([cos(s), -sin(s)]), stack([sin(s), cos(s)])])) = 1",
            entry_matrices.det_of_entries,
            any_of(TensorAdd, Einsum),
            wrong="det(stack([stack([cos(s), sin(s)]), stack([sin(s), cos(s)])])) = 1",
        ),
        Rule(
            "determinant of a power",
            "det(matrix_power(A, p)) = det(A)**p",
            matrices.determinant_of_power,
            any_of(MatrixPower),
            wrong="det(matrix_power(A, p)) = p*det(A)",
        ),
        Rule(
            "determinant of a multiple",
            "det(2*A.T) = 2**n*det(A)",
            matrices.determinant_of_multiple,
            any_of(View, TensorAdd),
            wrong="det(2*A) = 2*det(A)",
        ),
        Rule(
            "determinant of an inverse",
            "det(inv(A)) = 1/det(A)",
            matrices.determinant_of_inverse,
            any_of(Inv),
        ),
        Rule(
            "determinant of an exponential",
            "det(expm(A)) = exp(A.trace())",
            matrix_powers.determinant_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "determinant of a diagonal",
            "det(2*diag(x)) = 2**n*prod(x)",
            matrices.determinant_of_diagonal,
            any_of(View),
        ),
        Rule(
            "determinant of a Cholesky factor",
            "det(cholesky(S @ S + Delta(n))) = sqrt(det(S @ S + Delta(n)))",
            factorizations.determinant_of_cholesky,
            any_of(Cholesky),
        ),
        Rule(
            "determinant of a triangle",
            "det(A*Triangle(n) + t*Delta(n)) = prod(A.diagonal() + t*Ones(n))",
            matrices.determinant_of_triangle,
            any_of(Triangle, View, Einsum, TensorAdd),
            wrong="det(A*Triangle(n) + A*Triangle(n).T) = prod(2*A.diagonal())",
        ),
        Rule(
            "determinant of a Kronecker product",
            "det(kron(A, S)) = det(A)**n*det(S)**n",
            kronecker.determinant_of_kronecker,
            any_of(Reshape),
            wrong="det(kron(A, S)) = det(A)*det(S)",
        ),
        Rule(
            "determinant of a product",
            "det(A @ B) = det(A)*det(B)",
            matrices.determinant_of_product,
            any_of(Einsum),
            wrong="det(A + B) = det(A) + det(B)",
        ),
    ),
    LogDet: (
        Rule(
            "determinant of a power",
            "logdet(matrix_power(A, p)) = p*logdet(A)",
            matrices.determinant_of_power,
            any_of(MatrixPower),
        ),
        Rule(
            "determinant of a multiple",
            "logdet(t*A.T) = n*log(abs(t)) + logdet(A)",
            matrices.determinant_of_multiple,
            any_of(View, TensorAdd),
            wrong="logdet(t*A) = log(t) + logdet(A)",
        ),
        Rule(
            "determinant of an inverse",
            "logdet(inv(A)) = -logdet(A)",
            matrices.determinant_of_inverse,
            any_of(Inv),
        ),
        Rule(
            "determinant of an exponential",
            "logdet(expm(A)) = A.trace()",
            matrix_powers.determinant_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "determinant of a diagonal",
            "logdet(t*diag(x)) = n*log(abs(t)) + log(abs(x)).sum()",
            matrices.determinant_of_diagonal,
            any_of(View),
        ),
        Rule(
            "determinant of a Cholesky factor",
            "logdet(cholesky(S @ S + Delta(n))) = logdet(S @ S + Delta(n))/2",
            factorizations.determinant_of_cholesky,
            any_of(Cholesky),
        ),
        Rule(
            "determinant of a triangle",
            "logdet(A*Triangle(n) + t*Delta(n)) = log(abs(A.diagonal() + t*Ones(n))).sum()",
            matrices.determinant_of_triangle,
            any_of(Triangle, View, Einsum, TensorAdd),
            wrong="logdet(A*Triangle(n) + A*Triangle(n).T) = log(abs(2*A.diagonal())).sum()",
        ),
        Rule(
            "determinant of a Kronecker product",
            "logdet(kron(A, S)) = n*logdet(A) + n*logdet(S)",
            kronecker.determinant_of_kronecker,
            any_of(Reshape),
        ),
        Rule(
            "determinant of a product",
            "logdet(A @ B) = logdet(A) + logdet(B)",
            matrices.determinant_of_product,
            any_of(Einsum),
            wrong="logdet(A * B) = logdet(A) + logdet(B)",
        ),
    ),
    Cholesky: (
        Rule(
            "Cholesky factor of a diagonal",
            "cholesky(diag(exp(x))) = diag(sqrt(exp(x)))",
            matrices.cholesky_of_diagonal,
            any_of(View),
        ),
    ),
    PseudoInverse: (
        Rule(
            "pseudoinverse of a multiple",
            "pinv(2*M.T) = pinv(M).T/2",
            matrices.pinv_of_multiple,
            any_of(View, TensorAdd),
            wrong="pinv(2*M) = 2*pinv(M)",
        ),
        Rule(
            "pseudoinverse of a Kronecker product",
            "pinv(kron(A, M)) = kron(pinv(A), pinv(M))",
            kronecker.function_of_product,
            any_of(Reshape),
        ),
    ),
}
# Where matrices with an adjugate have an inverse.
WITH_INVERSES: dict[type, tuple[Rule, ...]] = {
    InvStack: (
        *STACKS[InvStack],
        Rule("inverses of products", "inv(F @ G) = inv(G) @ inv(F)", matrices.inv_of_product),
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
    AdjStack: (
        Rule(
            "adjugates",
            "adj(F) = einsum('i,ijk->ijk', det(F), inv(F))",
            matrices.adj_as_inverse,
        ),
    ),
    CofactorStack: (
        Rule(
            "cofactors",
            "cofactors(F, 2) = einsum('i,iba,idc->iabcd', det(F), inv(F), inv(F))"
            " - einsum('i,ida,ibc->iabcd', det(F), inv(F), inv(F))",
            matrices.cofactors_as_inverse,
        ),
    ),
}
