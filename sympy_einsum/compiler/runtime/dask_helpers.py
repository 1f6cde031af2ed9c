"""Dask helper functions of generated sources: all are lazy."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
from scipy import special


def reshaped(x, shape):
    """Return the entries in C order; Dask merges axes and splits them, one after the other."""
    try:
        return da.reshape(x, shape)
    except NotImplementedError:
        return da.reshape(da.ravel(x), shape)


def select(conditions, values, default=float("nan")):
    """Return the value of the first condition that holds."""
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        default = value if condition is True else da.where(condition, value, default)
    return default


def polygamma(n, x):
    """Return SciPy's function of this name, lazily."""
    return da.map_blocks(lambda block: special.polygamma(n, block), da.asarray(x), dtype=float)


def sici(x):
    """Return the two values of SciPy's function of this name, lazily."""
    return [
        da.map_blocks(lambda block, k=k: special.sici(block)[k], da.asarray(x), dtype=float)
        for k in range(2)
    ]


def airy(x):
    """Return the four values of SciPy's function of this name, lazily."""
    return [
        da.map_blocks(lambda block, k=k: special.airy(block)[k], da.asarray(x), dtype=float)
        for k in range(4)
    ]


def take(x, axis, *positions):
    """Return entries at positions along axes from one on, lazily; x becomes one chunk."""
    shape = np.broadcast_shapes(*[place.shape for place in positions])
    shape = x.shape[:axis] + shape + x.shape[axis + len(positions) :]
    function = dask.delayed(lambda x, *places: x[(slice(None),) * axis + places])
    return da.from_delayed(function(x, *positions), shape, dtype=x.dtype)


def scatter(values, lengths, *positions):
    """Add values to zeros at positions on the first axes, lazily, as one chunk."""
    shape = (*lengths, *values.shape[max(place.ndim for place in positions) :])

    def added(values, *positions):
        total = np.zeros(shape, values.dtype)
        np.add.at(total, positions, values)
        return total

    return da.from_delayed(dask.delayed(added)(values, *positions), shape, dtype=values.dtype)


def in_one_chunk(function, X, order, *more):
    """Return a function of matrices as wholes, lazily, that gives an array of some order."""
    axes = {"new_axis": [*range(2, order)], "chunks": X.shape * (order // 2)} if order > 2 else {}
    if order < 2:
        axes = {"drop_axis": [*range(order, 2)], "chunks": (2,) * order}
    whole = [da.asarray(Y).rechunk(-1) for Y in (X, *more)]
    return da.map_blocks(function, *whole, dtype=np.result_type(X.dtype, 0.0), **axes)


def solved(X, Y):
    """Return inv(X) @ Y, lazily: X as one chunk, the columns of Y as they are chunked."""
    X, Y = da.asarray(X).rechunk(-1), da.asarray(Y).rechunk({0: -1})
    kind, second = np.result_type(X.dtype, Y.dtype, 0.0), "jk"[: Y.ndim]
    pairs = X, "ij", Y, second
    return da.blockwise(
        np.linalg.solve, second.replace("j", "i"), *pairs, concatenate=True, dtype=kind
    )


def of_each_matrix(function, stacks, tail):
    """Return a function of each matrix of stacks, lazily: matrices as wholes, stacks in their
    chunks."""
    order = max(X.ndim for X in stacks) - 2
    batch = tuple(range(order))
    pairs, kind = [], np.result_type(*[X.dtype for X in stacks], 0.0)
    for k, X in enumerate(stacks):
        pairs += [X, (*batch[order + 2 - X.ndim :], order + 2 * k, order + 2 * k + 1)]
    return in_blocks(function, batch, tail, pairs, kind)


def in_blocks(function, batch, tail, pairs, kind):
    """Return a function of blocks that adds axes of some lengths."""
    new = {-1 - k: length for k, length in enumerate(tail)}
    empty = np.empty((0,) * (len(batch) + len(new)), kind)
    options = {"new_axes": new, "concatenate": True, "dtype": kind, "meta": empty}
    return da.blockwise(function, (*batch, *new), *pairs, **options)


def decomposed(function, X):
    """Return a decomposition of each matrix of a stack, lazily: blocks of all arrays, and their
    type."""
    return of_each_matrix(function, (X,), ()), np.result_type(X.dtype, 0.0)


def part(found, place, tail):
    """Return one of the arrays of a decomposition."""
    blocks, kind = found
    batch = tuple(range(blocks.ndim))
    return in_blocks(lambda arrays: arrays[place], batch, tail, [blocks, batch], kind)


def slid(function, x, w, count):
    """Return a function of two vectors as wholes, lazily."""
    kind = np.result_type(x.dtype, w.dtype)
    pairs = "k", x, "i", w, "j"
    return da.blockwise(function, *pairs, new_axes={"k": count}, concatenate=True, dtype=kind)


def diagonal(subscripts, X):
    """Return diagonals of repeated indices, lazily: axes that share an index become one chunk."""
    labels, kept = subscripts.split("->")
    X = X.rechunk({k: -1 for k, label in enumerate(labels) if labels.count(label) > 1})
    for label in kept:
        axes = [k for k, own in enumerate(labels) if own == label]
        while len(axes) > 1:
            X = da.moveaxis(da.diagonal(X, 0, axes[0], axes[1]), -1, axes[0])
            labels = labels[: axes[1]] + labels[axes[1] + 1 :]
            axes = [k for k, own in enumerate(labels) if own == label]
    return X.transpose([labels.index(label) for label in kept])
