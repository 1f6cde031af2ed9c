"""One-hot factors: gathering at an array of integer positions is a product with one.

``OneHot(p, n)`` has the entries [p_i = j], so ``x[p]`` is the contraction of x with it along j, and
its derivative, a scatter-add, the contraction along i. One-hot factors are never materialised, see
compiler/lowering/gathers.py. Positions are integers: the derivative by them is zero.
"""

from __future__ import annotations

import numpy as np
from sympy import Expr, S

from ..core import Length, ShapeError, TensorError, as_length
from .affine_selectors import Unit
from .base import Operand, TensorExpr
from .graphs import is_tensor, outermost
from .interning import Data, Operands, data_property
from .leaves import Constant, Zeros
from .products import View, contract


class OneHot(TensorExpr):
    """The tensor with a one at a given position of the last axis, for each index of the others, and
    zeros elsewhere; build it with ``one_hot``.

    Attributes
    ==========

    indices : the positions; their axes are the leading ones
    length : the length of the last axis

    Examples
    ========

    >>> import sympy_einsum as se
    >>> tokens = se.one_hot([2, 0], 3)
    >>> isinstance(tokens, se.OneHot), tokens.as_explicit()
    (True, [[0, 0, 1], [1, 0, 0]])
    """

    __slots__ = ()
    is_one_hot = True
    is_locally_constant = True

    @property
    def indices(self) -> Operand:
        """The positions."""
        return self.operands[0]

    length: Expr = data_property(0, "The length of the axis of the positions.")

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        indices, length = operands[0], as_length(data[0])
        if isinstance(indices, (Zeros, View)):
            simplified = _one_hot_of_view(indices, length)
            if simplified is not None:
                return simplified
        if isinstance(indices, Constant):
            indices = _on_axis(indices, length)
        elif not is_tensor(indices) and not outermost(indices):
            return Unit(length, indices)
        shape = indices.shape if is_tensor(indices) else ()
        return cls._intern((indices,), (length,), (*shape, length))

    @classmethod
    def at(cls, indices: Operand, length: Length) -> Operand:
        """Build the one-hot factor of positions on an axis of a length."""
        return cls._build((indices,), (length,))


def _one_hot_of_view(indices: TensorExpr, length: Expr) -> Operand | None:
    """Simplify the one-hot factor of positions that are constant, or rearrange other positions;
    None if they don't."""
    order = indices.order
    lengths = dict(enumerate((*indices.shape, length)))
    if isinstance(indices, Zeros):
        return contract((Unit(length, 0),), ((order,),), range(order + 1), lengths)
    if len(set(indices.output)) < order:
        return None  # a diagonal has zeros beside it
    if indices.is_constant_fill:
        (value,) = indices.scalars or (S.One,)
        return contract((OneHot.at(value, length),), ((order,),), range(order + 1), lengths)
    if indices.scalars:
        return None
    labels = (*indices.subscripts[-1], -1)
    lengths = {**dict(enumerate(indices.lengths)), -1: length}
    return contract((OneHot.at(indices.core, length),), (labels,), (*indices.output, -1), lengths)


def _on_axis(indices: Constant, length: Expr) -> Operand:
    """Convert constant positions to integers from 0 on if the length is known; ShapeError for
    positions out of range."""
    values = indices.array
    if values.size and values.dtype.kind not in "iub":
        raise TensorError(f"positions are integers, not numbers of type {values.dtype}")
    values = values.astype(np.int64)
    if length.is_Integer:
        n = int(length)
        outside = values[(values < -n) | (values >= n)]
        if outside.size:
            raise ShapeError(f"position {outside[0]} is out of range for an axis of length {n}")
        values = np.where(values < 0, values + n, values)
    return Constant(values)
