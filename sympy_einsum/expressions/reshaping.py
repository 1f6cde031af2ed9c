"""Reshaping: merging and splitting axes in C order.

Axes of length 1 are added and removed by an einsum; only merging or splitting axes needs a node.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, Mul, S, cancel

from ..core import Length, Shape, ShapeError, as_length, same_length, same_name_hint, same_shape
from .base import Operand, TensorExpr
from .interning import Data, Operands
from .leaves import Zeros
from .products import View, contract
from .sums import scale


class Reshape(TensorExpr):
    """A tensor's entries in C order under another shape; build it with ``A.reshape(...)``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> isinstance(A.reshape(6), se.Reshape)
    True
    """

    __slots__ = ()
    rearranges = True

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        return reshape_node(operands[0], data[0])


def reshape_node(tensor: TensorExpr, shape: Sequence[Length]) -> Operand:
    """Return a tensor's entries in C order with another shape; one length may be -1.

    Raises ShapeError unless the numbers of entries are provably equal.
    """
    new = _resolve_shape(tensor, shape)
    if same_shape(tensor.shape, new):
        return tensor
    if isinstance(tensor, Zeros):
        return Zeros(*new)
    if isinstance(tensor, Reshape):
        return reshape_node(tensor.operands[0], new)
    if isinstance(tensor, View) and tensor.scalars:
        factor = Mul(*tensor.scalars)
        bare = View._build(
            () if tensor.core is None else (tensor.core,),
            (tensor.subscripts[len(tensor.scalars) :], tensor.output, tensor.lengths),
        )
        reshaped = reshape_node(bare, new)
        return scale(factor, reshaped) if new else factor * reshaped
    old_axes = [axis for axis, length in enumerate(tensor.shape) if length is not S.One]
    new_axes = [axis for axis, length in enumerate(new) if length is not S.One]
    if len(old_axes) == len(new_axes) and all(
        same_length(tensor.shape[a], new[b]) for a, b in zip(old_axes, new_axes, strict=True)
    ):
        return _move_units(tensor, new, old_axes, new_axes)
    split = _split_view(tensor, new) if isinstance(tensor, View) else None
    return split if split is not None else Reshape._intern((tensor,), (new,), new)


def _resolve_shape(tensor: TensorExpr, shape: Sequence[Length]) -> Shape:
    if sum(1 for length in shape if length == -1) > 1:
        raise ShapeError(f"only one length of the new shape {tuple(shape)} can be -1")
    known = [as_length(length) for length in shape if length != -1]
    size = Mul(*known)
    if len(known) == len(shape):
        if not same_length(size, tensor.size):
            raise ShapeError(
                f"can't reshape {tensor.shape}, of {tensor.size} entries, to {tuple(shape)}, "
                f"of {size}" + same_name_hint(tensor.size, size)
            )
        return tuple(known)
    rest = cancel(tensor.size / size)
    if rest.is_integer is False or not _divides(size, tensor.size):
        hint = same_name_hint(tensor.size, size)
        raise ShapeError(
            f"can't reshape {tensor.shape} to {tuple(shape)}: {size} doesn't divide" + hint
        )
    return tuple([rest if length == -1 else as_length(length) for length in shape])


def _move_units(
    tensor: TensorExpr, new: Shape, old_axes: list[int], new_axes: list[int]
) -> Operand:
    """Add and remove axes of length 1."""
    order = tensor.order
    output = [order + axis for axis in range(len(new))]
    for old, axis in zip(old_axes, new_axes, strict=True):
        output[axis] = old
    lengths: dict[int, Expr] = dict(enumerate(tensor.shape))
    lengths.update({label: S.One for label in output if label >= order})
    return contract((tensor,), (range(order),), output, lengths)


def _divides(a: Expr, b: Expr) -> bool:
    return cancel(b / a).as_numer_denom()[1] == 1


def _groups(old: Shape, new: Shape) -> list[tuple[list[int], list[int]]]:
    """Group runs of old and new axes with equal products of lengths, as short as can be decided."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        left, right = [i], [j]
        a, b = old[i], new[j]
        i, j = i + 1, j + 1
        while not same_length(a, b):
            if i < len(old) and (_divides(a, b) or j == len(new)):
                a, i = a * old[i], i + 1
                left.append(i - 1)
            elif j < len(new):
                b, j = b * new[j], j + 1
                right.append(j - 1)
            else:
                break
        groups.append((left, right))
    if groups:
        groups[-1][0].extend(range(i, len(old)))
        groups[-1][1].extend(range(j, len(new)))
    return groups


def _split_view(view: View, new: Shape) -> Operand | None:
    """Split all axes of a view, each index in the same way everywhere, into a view; None if that
    isn't possible.

    So the delta of a merged axis is a product of deltas, which is never materialised.
    """
    parts: dict[int, Shape] = {}
    for left, right in _groups(view.shape, new):
        if len(left) != 1:
            return None
        lengths = tuple([new[axis] for axis in right])
        first = parts.setdefault(view.output[left[0]], lengths)
        if not same_shape(first, lengths):
            return None
    labels = {index: [(index, k) for k in range(len(parts[index]))] for index in parts}
    lengths_of = {label: parts[i][k] for i in parts for k, label in enumerate(labels[i])}
    operands, subscripts = [], []
    if view.core is not None:
        indices = view.subscripts[-1]
        operands.append(reshape_node(view.core, [length for i in indices for length in parts[i]]))
        subscripts.append([label for i in indices for label in labels[i]])
    output = [label for i in view.output for label in labels[i]]
    return contract(operands, subscripts, output, lengths_of)
