"""One-hot factors: a gather by an array of integers is a product with one.

``OneHot(p, n)`` has the entries [p_i = j], so ``x[p]`` is the contraction of x with it along j, and
the derivative of that, a scatter that adds up repeated positions, the contraction along i. Products
of them are products like any other; none is written out, see compiler/lowering/gathers.py. Nothing
flows into the positions: they are integers.
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
    """The tensor with a one at each of some positions of an axis, the last one, and zeros
    elsewhere; build it with ``one_hot``.

    Attributes
    ==========

    indices : the positions, whose axes come first
    length : the length of the axis

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

    length: Expr = data_property(0, "The length of the axis that the positions are on.")

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        indices, length = operands[0], as_length(data[0])
        if isinstance(indices, (Zeros, View)):
            known = _one_hot_of_view(indices, length)
            if known is not None:
                return known
        if isinstance(indices, Constant):
            indices = _on_axis(indices, length)
        elif not is_tensor(indices) and not outermost(indices):
            return Unit(length, indices)
        shape = indices.shape if is_tensor(indices) else ()
        return cls._intern((indices,), (length,), (*shape, length))

    @classmethod
    def at(cls, indices: Operand, length: Length) -> Operand:
        """Ones at some positions of an axis of a length."""
        return cls._build((indices,), (length,))


def _one_hot_of_view(indices: TensorExpr, length: Expr) -> Operand | None:
    """Those at positions that repeat or rearrange others, or are all the same."""
    order = indices.order
    lengths = dict(enumerate((*indices.shape, length)))
    if isinstance(indices, Zeros):
        return contract((Unit(length, 0),), ((order,),), range(order + 1), lengths)
    if len(set(indices.output)) < order:
        return None  # zeros off a diagonal
    if indices.is_constant_fill:
        (value,) = indices.scalars or (S.One,)
        return contract((OneHot.at(value, length),), ((order,),), range(order + 1), lengths)
    if indices.scalars:
        return None
    own = (*indices.subscripts[-1], -1)
    lengths = {**dict(enumerate(indices.lengths)), -1: length}
    return contract((OneHot.at(indices.core, length),), (own,), (*indices.output, -1), lengths)


def _on_axis(indices: Constant, length: Expr) -> Operand:
    """Constant positions as integers from 0 on, where the length is known; ShapeError for those
    that aren't on the axis."""
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
