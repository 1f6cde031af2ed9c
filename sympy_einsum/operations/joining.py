"""Concatenation along an axis, stacking along a new one, and unstacking."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Integer, S

from ..core import ShapeError, UnsupportedError, as_list, same_length, same_name_hint, with_hints
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


@with_hints
def concatenate(tensors: Sequence[TensorLike], axis: int | None = 0) -> Operand:
    """Concatenate tensors along an axis, as a sum of zero-padded tensors; without an axis
    concatenate their entries in C order.

    Raises ShapeError if they differ on another axis, or if there are no tensors.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.concatenate([x, y]).shape
    (6,)
    """
    parts = [as_operand(tensor) for tensor in as_list(tensors, "tensors")]
    if axis is None:
        parts, axis = [ravel(part) for part in parts], 0
    if not parts or not all(order_of(part) for part in parts):
        raise ShapeError("concatenate takes a list of tensors of order 1 or more")
    axis = as_axis(axis, parts[0].order)
    for number, part in enumerate(parts[1:], start=2):
        same = part.order == parts[0].order and all(
            k == axis or same_length(a, b)
            for k, (a, b) in enumerate(zip(parts[0].shape, part.shape, strict=True))
        )
        if not same:
            raise ShapeError(
                f"operand 1 has shape {parts[0].shape}, operand {number} {part.shape}; they can "
                f"differ in the length of axis {axis} only, along which they are put together"
                + same_name_hint(*parts[0].shape, *part.shape)
            )
    total = Add(*[part.shape[axis] for part in parts])
    start = S.Zero
    terms = []
    for part in parts:
        count = part.shape[axis]
        selection = Selection(total, start, 1, count)
        labels = list(range(part.order))
        output = [part.order if k == axis else k for k in labels]
        lengths = {**dict(enumerate(part.shape)), part.order: total}
        terms.append(contract((part, selection), (labels, (axis, part.order)), output, lengths))
        start += count
    return tensor_sum(terms)


@with_hints
def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Operand:
    """Stack tensors of one shape along a new axis.

    Raises ShapeError if their shapes differ, or if there are no tensors.

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
    terms = (axes, (len(shape),))
    return tensor_sum(
        [contract((part, Unit(count, k)), terms, output, lengths) for k, part in enumerate(parts)]
    )


def unstack(A: TensorLike, axis: int = 0) -> tuple[Operand, ...]:
    """Split along an axis, and remove it: into the entries of a vector or the rows of a matrix.

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
    return tuple([getitem(A, (*before, k)) for k in range(int(length))])
