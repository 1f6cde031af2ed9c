"""NumPy's products of vectors and matrices."""

from __future__ import annotations

from .. import operations as ops
from ..core import ShapeError
from ..expressions import Operand, TensorLike, as_operand, order_of, shape_of
from ._rows import NumpyRow as Row

_LENGTHS = "Raises ShapeError if the lengths don't match."


def matvec(x1: TensorLike, x2: TensorLike) -> Operand:
    # Index strings broadcast axes of length 1, products don't.
    return ops.squeeze(ops.matmul(_matrices(x1), ops.expand_dims(x2, -1)), -1)


def vecmat(x1: TensorLike, x2: TensorLike) -> Operand:
    return ops.squeeze(ops.matmul(ops.expand_dims(ops.conj(x1), -2), _matrices(x2)), -2)


def _matrices(x: TensorLike) -> Operand:
    operand = as_operand(x)
    if order_of(operand) < 2:
        raise ShapeError(f"a matrix has two axes or more, but the shape is {shape_of(operand)}")
    return operand


def vecdot(x1: TensorLike, x2: TensorLike, axis: int) -> Operand:
    x1, x2 = (ops.moveaxis(x, axis, -1) for x in (x1, x2))
    return ops.squeeze(vecmat(x1, ops.expand_dims(x2, -1)), -1)


def cross(
    a: TensorLike,
    b: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Operand:
    places = [place if axis is None else axis for place in (axisa, axisb, axisc)]
    a, b = (ops.moveaxis(v, place, -1) for v, place in zip((a, b), places, strict=False))
    return ops.moveaxis(ops.cross(a, b), -1, places[2])


# fmt: off
ROWS = (
    Row("einsum(*operands, optimize: object = None)", lambda operands: ops.einsum(*operands),
        "the einsum of operands, given by an index string or index lists; ``optimize`` isn't "
        "needed",
        'snp.einsum("ij,j->i", A, x) == snp.einsum(A, [0, 1], x, [1], [0]) == A @ x', "True",
        "Shapes and errors are those of :func:`sympy_einsum.einsum`."),
    Row("matvec(x1, x2)", matvec,
        "the products of stacks of matrices and of vectors, (…, m, n) and (…, n) to (…, m)",
        "snp.matvec(A, x) == A @ x, snp.matvec(A, S) == S @ A.T", "(True, True)", _LENGTHS),
    Row("vecmat(x1, x2)", vecmat,
        "the products of stacks of vectors and of matrices, (…, m) and (…, m, n) to (…, n)",
        "snp.vecmat(x, S) == x @ S, snp.vecmat(A, S) == A @ S", "(True, True)", _LENGTHS),
    Row("vecdot(x1, x2, *, axis: int = -1)", vecdot,
        "the scalar products of stacks of vectors, which are along an axis of both",
        "snp.vecdot(A, B)", "(A*B).sum(axis=1)", _LENGTHS),
    Row("cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis: int | None = None)", cross,
        "the cross product of vectors of length 3",
        "snp.cross(x, y).as_explicit()[0], se.jacobian(snp.cross(x, y), y).shape",
        "(-y[1]*x[2] + x[1]*y[2], (3, 3))", "Raises ShapeError for other lengths."),
)
