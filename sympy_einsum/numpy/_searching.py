"""NumPy's searches in sorted vectors, sorts by several keys, and the lines that they interpolate.

Positions come from sorts: that of v among the entries of a is its rank among both less its rank
among all v, so there is no table of all comparisons. Nothing flows through them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sympy import Eq, Expr, Piecewise

from .. import operations as ops
from ..core import ShapeError, TensorError, as_flag, same_length
from ..expressions import Constant, Operand, TensorLike, as_operand, elementwise, order_of, shape_of


def as_vector(name: str, a: TensorLike) -> Operand:
    """Convert points or edges to a vector; ShapeError for other orders."""
    a = as_operand(a)
    if order_of(a) != 1:
        raise ShapeError(f"{name} takes a vector, not a tensor of shape {shape_of(a)}")
    return a


def searchsorted(
    a: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None
) -> Operand:
    """``numpy.searchsorted``: where entries would be put into a sorted vector, before or behind
    equal ones; a tensor of integers, whose derivative is zero.

    Raises TensorError for another ``side`` than ``"left"`` and ``"right"``.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.searchsorted([0, 1, 2], x, side="right"))([0.5, 1.0, 9.0])
    array([1, 2, 3])
    """
    if not isinstance(side, str) or side not in ("left", "right"):
        raise TensorError(f"searchsorted takes side='left' or 'right', not {side!r}")
    a, v = as_vector("searchsorted", a), as_operand(v)
    a = a if sorter is None else ops.take(a, sorter)
    found = ops.reshape(v, -1)
    pair = [found, a] if side == "left" else [a, found]
    ranks = _ranks(ops.concatenate(pair))
    among = slice(shape_of(found)[0]) if side == "left" else slice(shape_of(a)[0], None)
    return ops.reshape(ops.subtract(ranks[among], _ranks(found)), shape_of(v))


def _ranks(a: Operand) -> Operand:
    """Count how many entries of a vector come before each in its order."""
    return ops.argsort(ops.argsort(a))


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Operand:
    """``numpy.digitize``: the numbers of the bins that entries fall into, integers; the edges rise
    or fall.

    Raises TensorError for edges that do neither, as far as they are known.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.digitize(x, [0, 1, 2]))([0.5, -1.0, 2.0])
    array([1, 0, 3])
    """
    edges = as_vector("digitize", bins)
    side = "left" if as_flag(right, "right") else "right"
    count = shape_of(edges)[0]
    found = searchsorted(ops.sort(edges), x, side)
    if count.is_zero:
        return found
    if isinstance(edges, Constant):
        steps = np.diff(edges.array)
        if (steps < 0).any() and (steps > 0).any():
            raise TensorError("digitize takes edges that rise or fall, not both")
        falls: Operand = as_operand(int((steps < 0).any()))
    else:
        falls = ops.argmax(ops.stack([edges[-1], edges[0]]))
    return ops.add(found, ops.multiply(falls, ops.subtract(count, ops.multiply(2, found))))


def lexsort(keys: TensorLike | Sequence[TensorLike], axis: int = -1) -> Operand:
    """``numpy.lexsort``: the positions that sort by the last key, those that tie by the one before
    it, and so on; integers, whose derivative is zero.

    Raises ShapeError for keys of different shapes.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> first, second = se.tensors("first second", 3)
    >>> order = snp.lexsort((second, first))
    >>> se.lambdify([first, second], order)([1.0, 0.0, 1.0], [2.0, 5.0, 1.0])
    array([1, 2, 0])
    """
    listed = keys if isinstance(keys, (list, tuple)) else ops.unstack(keys)
    if not listed:
        raise TensorError("lexsort takes at least one key")
    first, *rest = map(as_operand, listed)
    for key in rest:
        shapes = shape_of(first), shape_of(key)
        if order_of(first) != order_of(key) or not all(map(same_length, *shapes)):
            raise ShapeError(f"the keys of lexsort have one shape, not {shapes[0]} and {shapes[1]}")
    order = ops.argsort(first, axis)
    for key in rest:
        ranks = ops.argsort(ops.take_along_axis(key, order, axis), axis)
        order = ops.take_along_axis(order, ranks, axis)
    return order


def line_through(
    x: Operand, xp: Operand, fp: Operand, left: TensorLike | None, right: TensorLike | None
) -> Operand:
    """Interpolate linearly between any number of points, whose interval is searched."""
    last = shape_of(xp)[0] - 1
    behind = ops.clip(searchsorted(xp, x, "right"), 1, last)
    ends = [ops.subtract(behind, 1), behind]
    given = [ops.take(points, place) for points in (xp, fp) for place in ends]
    outside = (
        xp[0],
        xp[last],
        fp[0] if left is None else left,
        fp[last] if right is None else right,
    )
    return elementwise(_between, x, *given, *outside)


def _between(
    t: Expr, a: Expr, b: Expr, f: Expr, g: Expr, first: Expr, last: Expr, low: Expr, high: Expr
) -> Expr:
    inside = Piecewise((f, Eq(a, b)), (f + (g - f) / (b - a) * (t - a), True))
    return Piecewise((low, t < first), (high, t > last), (inside, True))
