"""Broadcasting of operands of one order."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import S

from ..core import Shape, ShapeError, documentation_link, same_length, same_name_hint
from .base import Operand, TensorExpr
from .graphs import is_tensor
from .products import contract


def broadcast_together(operands: Sequence[Operand]) -> list[Operand]:
    """Repeat the operands of one order along axes of length 1 to a common shape; leave scalars
    unchanged.

    Raises ShapeError for different orders above 0, and for incompatible lengths.
    """
    tensors = [o for o in operands if is_tensor(o)]
    if not tensors:
        return list(operands)
    shape = common_shape(tensors)
    return [stretch(o, shape) if is_tensor(o) else o for o in operands]


def common_shape(tensors: Sequence[TensorExpr]) -> Shape:
    """Return the shape to which tensors of one order broadcast."""
    first = tensors[0]
    shape = list(first.shape)
    for number, tensor in enumerate(tensors[1:], start=2):
        if tensor.order != first.order:
            raise ShapeError(
                f"can't combine a tensor of order {first.order}, shape {first.shape}, with one of "
                f"order {tensor.order}, shape {tensor.shape}, entry by entry: {_name(first)} and "
                f"{_name(tensor)}; the matrix product is @; to repeat entries, add axes with "
                "x[None, :] or broadcast_to, or say with einsum which axes belong together"
                + documentation_link("broadcasting")
            )
        for axis, (common, length) in enumerate(zip(shape, tensor.shape, strict=True)):
            if common is S.One:
                shape[axis] = length
            elif length is not S.One and not same_length(common, length):
                raise ShapeError(
                    f"axis {axis} has length {common} in operand 1, {_name(first)}, and length "
                    f"{length} in operand {number}, {_name(tensor)}; lengths must be equal or 1"
                    + same_name_hint(common, length)
                )
    return tuple(shape)


def _name(tensor: TensorExpr) -> str:
    return tensor.name if hasattr(tensor, "name") else type(tensor).__name__


def stretch(tensor: TensorExpr, shape: Shape) -> Operand:
    """Repeat a tensor along its axes of length 1 to a shape of the same order."""
    if tensor.shape == shape:
        return tensor
    order = tensor.order
    labels = [
        axis if same_length(old, new) else order + axis
        for axis, (old, new) in enumerate(zip(tensor.shape, shape, strict=True))
    ]
    lengths = dict(enumerate(shape))
    lengths.update({label: S.One for label in labels if label >= order})
    return contract((tensor,), (labels,), range(order), lengths)
