"""``numpy.linalg``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from .. import operations as ops
from ..core import TensorError, UnsupportedError, as_flag, as_list
from ..expressions import Operand, TensorLike, det as _det, inv as _inv
from ._options import Axes
from ._products import cross as _cross, vecdot as _vecdot

SlogdetResult = ops.SlogdetResult


class linalg:
    """``numpy.linalg``, of matrices and of stacks of them."""

    slogdet = staticmethod(ops.slogdet)
    solve = staticmethod(ops.solve)
    tensorsolve = staticmethod(ops.tensorsolve)
    tensorinv = staticmethod(ops.tensorinv)
    cholesky = staticmethod(ops.cholesky)
    qr = staticmethod(ops.qr)
    svdvals = staticmethod(ops.svdvals)
    cond = staticmethod(ops.cond)
    matmul = staticmethod(ops.matmul)
    outer = staticmethod(ops.outer)
    tensordot = staticmethod(ops.tensordot)
    vecdot = staticmethod(_vecdot)

    @staticmethod
    def inv(a: TensorLike) -> Operand:
        """``numpy.linalg.inv``."""
        return _inv(a)

    @staticmethod
    def det(a: TensorLike) -> Operand:
        """``numpy.linalg.det``."""
        return _det(a)

    @staticmethod
    def norm(
        x: TensorLike, ord: ops.Order = None, axis: Axes = None, keepdims: bool = False
    ) -> Operand:
        """``numpy.linalg.norm``."""
        return ops.norm(x, ord, axis, keepdims)

    @staticmethod
    def matrix_power(a: TensorLike, n: TensorLike) -> Operand:
        """``numpy.linalg.matrix_power``."""
        return ops.matrix_power(a, n)

    @staticmethod
    def eigh(a: TensorLike, UPLO: str = "L") -> ops.EighResult:
        """``numpy.linalg.eigh`` of symmetric matrices, of which either triangle may be read."""
        _check_triangle(UPLO)
        return ops.eigh(a)

    @staticmethod
    def eigvalsh(a: TensorLike, UPLO: str = "L") -> Operand:
        """``numpy.linalg.eigvalsh`` of symmetric matrices, of which either triangle may be read."""
        _check_triangle(UPLO)
        return ops.eigvalsh(a)

    @staticmethod
    def svd(
        a: TensorLike,
        full_matrices: bool = True,
        compute_uv: bool = True,
        hermitian: bool = False,
    ) -> ops.SVDResult | Operand:
        """``numpy.linalg.svd``; that of a symmetric matrix is the same."""
        as_flag(hermitian, "hermitian")
        if as_flag(compute_uv, "compute_uv"):
            return ops.svd(a, full_matrices)
        return ops.svdvals(a)

    @staticmethod
    def pinv(a: TensorLike, rcond: None = None, hermitian: bool = False) -> Operand:
        """``numpy.linalg.pinv`` with NumPy's default for what counts as 0."""
        _of_full_rank("pinv", rcond)
        as_flag(hermitian, "hermitian")
        return ops.pinv(a)

    @staticmethod
    def lstsq(a: TensorLike, b: TensorLike, rcond: None = None) -> ops.LstsqResult:
        """``numpy.linalg.lstsq`` of a matrix of full rank."""
        _of_full_rank("lstsq", rcond)
        return ops.lstsq(a, b)

    @staticmethod
    def vector_norm(
        x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False, ord: ops.Order = 2
    ) -> Operand:
        """``numpy.linalg.vector_norm``: of the entries along the axes, as one vector."""
        return ops.vector_norm(x, ord, axis, keepdims)

    @staticmethod
    def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: ops.Order = "fro") -> Operand:
        """``numpy.linalg.matrix_norm``: of the matrices along the last two axes."""
        return ops.norm(x, ord, (-2, -1), keepdims)

    @staticmethod
    def cross(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Operand:
        """``numpy.linalg.cross``."""
        return _cross(x1, x2, axis=axis)

    @staticmethod
    def multi_dot(arrays: Sequence[TensorLike]) -> Operand:
        """``numpy.linalg.multi_dot``: the matrix product of all."""
        arrays = as_list(arrays, "tensors")
        if len(arrays) < 2:
            raise TensorError("multi_dot takes at least two tensors")
        result = arrays[0]
        for array in arrays[1:]:
            result = ops.matmul(result, array)
        return result

    @staticmethod
    def matrix_transpose(x: TensorLike, /) -> Operand:
        """``numpy.linalg.matrix_transpose``."""
        return ops.swapaxes(x, -1, -2)

    @staticmethod
    def diagonal(x: TensorLike, /, *, offset: int = 0) -> Operand:
        """``numpy.linalg.diagonal``, of the last two axes."""
        return ops.diagonal(x, offset, -2, -1)

    @staticmethod
    def trace(x: TensorLike, /, *, offset: int = 0) -> Operand:
        """``numpy.linalg.trace``, of the last two axes."""
        return ops.sum_(ops.diagonal(x, offset, -2, -1), axis=-1)

    @staticmethod
    def eig(a: TensorLike) -> NoReturn:
        """``numpy.linalg.eig`` is refused."""
        raise UnsupportedError(
            "eig isn't supported: eigenvalues of a matrix that isn't symmetric are complex, and "
            "tensors are real; eigh takes symmetric matrices"
        )

    @staticmethod
    def eigvals(a: TensorLike) -> NoReturn:
        """``numpy.linalg.eigvals`` is refused."""
        raise UnsupportedError(
            "eigvals isn't supported: eigenvalues of a matrix that isn't symmetric are complex, "
            "and tensors are real; eigvalsh takes symmetric matrices"
        )

    @staticmethod
    def matrix_rank(A: TensorLike, tol: object = None, hermitian: bool = False) -> NoReturn:
        """``numpy.linalg.matrix_rank`` is refused."""
        raise UnsupportedError(
            "matrix_rank isn't supported: it counts singular values, and has no derivative; count "
            "svdvals(A) of numbers"
        )


def _of_full_rank(name: str, rcond: None) -> None:
    if rcond is not None:
        raise UnsupportedError(
            f"{name} takes no rcond={str(rcond)[:80]}: how many singular values count as 0 depends "
            "on the numbers, and where their number changes there is no derivative; leave it out"
        )


def _check_triangle(name: str) -> None:
    if name not in ("L", "U"):
        raise TensorError(f"UPLO names the triangle that is read, 'L' or 'U', not {name!r}")
