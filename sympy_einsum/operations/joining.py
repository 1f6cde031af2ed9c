"""Tensors joined along an axis that they have, or along a new one."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Integer, S

from ..core import ShapeError, UnsupportedError, as_list, same_length, same_name_hint
from ..expressions import (
    Operand,
    Selection,
    TensorLike,
    Unit,
    as_operand,
    contract,
    order_of,
    shape_of,
    tensor_sum,
)
from .axes import as_axis, expand_dims, ravel
from .indexing import getitem


def concatenate(tensors: Sequence[TensorLike], axis: int | None = 0) -> Operand:
    """Tensors one after the other along an axis: a sum of pieces placed by selection matrices.
    Without an axis it is their entries in C order.

    Raises ShapeError when they differ in another axis, and without any tensors.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.concatenate([x, y]).shape
    (6,)
    """
    pieces = [as_operand(tensor) for tensor in as_list(tensors, "tensors")]
    if axis is None:
        pieces, axis = [ravel(piece) for piece in pieces], 0
    if not pieces or not all(order_of(piece) for piece in pieces):
        raise ShapeError("concatenate takes a list of tensors of order 1 or more")
    axis = as_axis(axis, pieces[0].order)
    for number, piece in enumerate(pieces[1:], start=2):
        same = piece.order == pieces[0].order and all(
            k == axis or same_length(a, b)
            for k, (a, b) in enumerate(zip(pieces[0].shape, piece.shape, strict=True))
        )
        if not same:
            raise ShapeError(
                f"operand 1 has shape {pieces[0].shape}, operand {number} {piece.shape}; they can "
                f"differ in the length of axis {axis} only, along which they are put together"
                + same_name_hint(*pieces[0].shape, *piece.shape)
            )
    total = Add(*[piece.shape[axis] for piece in pieces])
    start = S.Zero
    terms = []
    for piece in pieces:
        count = piece.shape[axis]
        place = Selection(total, start, 1, count)
        labels = list(range(piece.order))
        output = [piece.order if k == axis else k for k in labels]
        lengths = {**dict(enumerate(piece.shape)), piece.order: total}
        terms.append(contract((piece, place), (labels, (axis, piece.order)), output, lengths))
        start += count
    return tensor_sum(terms)


def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Operand:
    """Tensors of one shape side by side along a new axis.

    Raises ShapeError when their shapes differ, and without any tensors.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.stack([x, y]).shape, se.stack([x, y], axis=1).shape
    ((2, 3), (3, 2))
    """
    parts = [as_operand(tensor) for tensor in as_list(tensors, "tensors")]
    shapes = set(map(shape_of, parts))
    if len(shapes) != 1:
        return concatenate([expand_dims(part, axis) for part in parts], axis)
    shape, count = shapes.pop(), Integer(len(parts))
    new = as_axis(axis, len(shape) + 1)
    axes = list(range(len(shape)))
    lengths = {**dict(enumerate(shape)), len(shape): count}
    output = [*axes[:new], len(shape), *axes[new:]]
    places = (axes, (len(shape),))
    return tensor_sum(
        [contract((part, Unit(count, k)), places, output, lengths) for k, part in enumerate(parts)]
    )


def unstack(A: TensorLike, axis: int = 0) -> tuple[Operand, ...]:
    """Split along an axis, and drop it: into the entries of a vector, the rows of a matrix.

    Raises UnsupportedError for an axis whose length isn't a number.

    >>> import sympy_einsum as se
    >>> a, b = se.unstack(se.TensorSymbol("x", 2))
    >>> a / b
    x[0]/x[1]
    """
    A = as_operand(A)
    axis = as_axis(axis, order_of(A))
    length = shape_of(A)[axis]
    if not length.is_Integer:
        raise UnsupportedError(
            f"axis {axis} has symbolic length {length}; substitute an integer for it"
        )
    before = (slice(None),) * axis
    return tuple([getitem(A, (*before, place)) for place in range(int(length))])
