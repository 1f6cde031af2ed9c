"""NumPy's functions that give arrays other shapes, or bring several to one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from sympy import S

from .. import operations as ops
from ..core import Shape, ShapeError, TensorError, UnsupportedError, as_flag, as_shape, same_length
from ..expressions import Operand, TensorLike, as_operand, order_of, shape_of
from ._options import Lengths, check_type


def _at_least(order: int, arrays: Sequence[TensorLike]) -> Operand | tuple[Operand, ...]:
    """Tensors with axes of length 1 before theirs, up to an order; a single one by itself."""
    new = []
    for tensor in map(as_operand, arrays):
        missing = max(order - order_of(tensor), 0)
        new.append(ops.reshape(tensor, (S.One,) * missing + shape_of(tensor)))
    return new[0] if len(new) == 1 else tuple(new)


def atleast_1d(*arys: TensorLike) -> Operand | tuple[Operand, ...]:
    """``numpy.atleast_1d``: a scalar is a vector of one entry; several arguments give a tuple.

    >>> from sympy import symbols
    >>> import sympy_einsum.numpy as snp
    >>> t = symbols("t")
    >>> snp.atleast_1d(t).shape
    (1,)
    """
    return _at_least(1, arys)


def atleast_2d(*arys: TensorLike) -> Operand | tuple[Operand, ...]:
    """``numpy.atleast_2d``: a vector is a row; several arguments give a tuple.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.atleast_2d(se.TensorSymbol("x", 3)).shape
    (1, 3)
    """
    return _at_least(2, arys)


def atleast_3d(*arys: TensorLike) -> Operand | tuple[Operand, ...]:
    """``numpy.atleast_3d``: a vector lies along the axis in the middle, a matrix along the first
    two; several arguments give a tuple.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, A = se.TensorSymbol("x", 3), se.TensorSymbol("A", (3, 4))
    >>> [tensor.shape for tensor in snp.atleast_3d(x, A)]
    [(1, 3, 1), (3, 4, 1)]
    """
    tensors = [
        ops.expand_dims(tensor, -1) if order_of(tensor) == 2 else tensor
        for tensor in map(as_operand, arys)
    ]
    rows = [ops.expand_dims(t, -1) if order_of(t) == 1 else t for t in tensors]
    return _at_least(3, rows)


def resize(a: TensorLike, new_shape: Lengths) -> Operand:
    """``numpy.resize``: the entries in C order, again from the first on where they are too few.

    Both shapes are numbers; UnsupportedError for symbols.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.resize(x, (2, 2)).as_explicit()
    [[x[0], x[1]], [x[2], x[0]]]
    """
    a, shape = (
        ops.ravel(a),
        as_shape(new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)),
    )
    (size,), count = shape_of(a), prod(shape, start=S.One)
    if not (size.is_Integer and count.is_Integer):
        raise UnsupportedError(
            f"resize takes lengths that are numbers, not {size} entries for the shape {shape}; "
            "tile and slices take symbols"
        )
    if not size:
        return ops.broadcast_to(S.Zero, shape)
    return ops.reshape(ops.tile(a, -(-count // size))[:count], shape)


def rollaxis(a: TensorLike, axis: int, start: int = 0) -> Operand:
    """``numpy.rollaxis``: an axis moved before another.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.rollaxis(se.TensorSymbol("T", (2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    order = order_of(as_operand(a))
    axis = ops.as_axis(axis, order)
    if isinstance(start, bool) or not isinstance(start, (int, np.integer)):
        raise TensorError(f"the start of rollaxis is an integer, not {start!r}")
    if not -order <= start <= order:
        raise ShapeError(f"start {start} is out of range for a tensor of order {order}")
    place = start + order if start < 0 else start
    return ops.moveaxis(a, axis, place - 1 if axis < place else place)


def broadcast_shapes(*args: Lengths) -> Shape:
    """``numpy.broadcast_shapes``: axes are aligned at the end, those of length 1 stretch.

    Raises ShapeError for two lengths that aren't known to be equal.

    >>> from sympy import symbols
    >>> import sympy_einsum.numpy as snp
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> snp.broadcast_shapes((m, 1), (n,))
    (m, n)
    >>> snp.broadcast_shapes((m,), (n,))
    Traceback (most recent call last):
    ...
    sympy_einsum.ShapeError: shapes (m,), (n,) don't fit: axis -1 has the lengths m and n,
    neither of them 1
    """
    shapes = [as_shape(arg if isinstance(arg, (tuple, list)) else (arg,)) for arg in args]
    order = max(map(len, shapes), default=0)
    found = [S.One] * order
    for shape in shapes:
        for axis, length in enumerate(shape, start=order - len(shape)):
            if found[axis] is S.One:
                found[axis] = length
            elif length is not S.One and not same_length(length, found[axis]):
                raise ShapeError(
                    f"shapes {', '.join(map(str, shapes))} don't fit: axis {axis - order} has the "
                    f"lengths {found[axis]} and {length}, neither of them 1"
                )
    return tuple(found)


def broadcast_arrays(*args: TensorLike, subok: bool = False) -> tuple[Operand, ...]:
    """``numpy.broadcast_arrays``: tensors repeated to their common shape.

    Raises ShapeError for lengths that don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> [tensor.shape for tensor in snp.broadcast_arrays(A, x)]
    [(2, 3), (2, 3)]
    """
    tensors = [as_operand(arg) for arg in args]
    shape = broadcast_shapes(*map(shape_of, tensors))
    return tuple([ops.broadcast_to(tensor, shape) for tensor in tensors])


def meshgrid(
    *xi: TensorLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Operand, ...]:
    """``numpy.meshgrid``: each vector along an axis of its own; with ``sparse`` the other axes have
    length 1.

    Raises TensorError for another ``indexing`` than ``"xy"`` and ``"ij"``.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.TensorSymbol("x", 3), se.TensorSymbol("y", 4)
    >>> [grid.shape for grid in snp.meshgrid(x, y, indexing="ij")]
    [(3, 4), (3, 4)]
    >>> [grid.shape for grid in snp.meshgrid(x, y, sparse=True)]
    [(1, 3), (4, 1)]
    """
    if indexing not in ("xy", "ij"):
        raise TensorError(f"meshgrid takes indexing='xy' or 'ij', not {indexing!r}")
    vectors = [ops.ravel(vector) for vector in xi]
    places = list(range(len(vectors)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]
    grids = []
    for place, vector in zip(places, vectors, strict=True):
        shape = [S.One] * len(vectors)
        shape[place] = shape_of(vector)[0]
        grids.append(ops.reshape(vector, shape))
    return tuple(grids) if as_flag(sparse, "sparse") else broadcast_arrays(*grids)


def asarray(a: TensorLike, dtype: object = None, order: str | None = None) -> Operand:
    """``numpy.asarray``: a tensor as it is, an array of numbers as a constant.

    Raises TensorError for what is no array of numbers.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> snp.asarray(x) is x, snp.asarray(np.array([1.0, 2.0]))
    (True, Constant([1.0, 2.0]))
    """
    return as_operand(a) if dtype is None else astype(a, dtype)


def astype(x: TensorLike, dtype: object, *, copy: bool = True) -> Operand:
    """``numpy.astype`` to floating-point numbers: entries of tensors have no type, so there is
    nothing to change.

    Raises UnsupportedError for other types.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> snp.astype(x, float) is x
    True
    """
    check_type(dtype)
    return as_operand(x)


def copy(a: TensorLike, order: str = "K", subok: bool = False) -> Operand:
    """``numpy.copy``: the tensor itself, expressions don't change.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> snp.copy(x) is x
    True
    """
    return as_operand(a)


def isscalar(element: TensorLike) -> bool:
    """``numpy.isscalar``: whether there are no axes.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> snp.isscalar(x), snp.isscalar(x @ x)
    (False, True)
    """
    return order_of(as_operand(element)) == 0
