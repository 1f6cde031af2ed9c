"""Dask helper functions of generated sources for semirings: all are lazy, and what slices arrays
into blocks acts on chunks."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np

from .dask_helpers import slid
from .semiring_helpers import (
    convolve as convolve_chunks,
    product as product_of_chunks,
    scatter as scatter_chunks,
    total,
)


def product(x, y):
    """Return the product of stacks of matrices, lazily, chunk by chunk."""
    stack = "abcdefgh"[: max(x.ndim, y.ndim) - 2]
    first, second = (stack[len(stack) + 2 - z.ndim :] for z in (x, y))
    parts = da.blockwise(
        lambda x, y: product_of_chunks(x, y)[..., None, :],
        *(f"{stack}ikj", x, f"{first}ik", y, f"{second}kj"),
        adjust_chunks={"k": 1},
        dtype=np.result_type(x.dtype, y.dtype),
    )
    return total(parts, -2)


def convolve(x, w):
    """Return the sums over i + k = j of the products of entries i and k of two vectors, lazily."""
    return slid(convolve_chunks, x, w, len(x) + len(w) - 1)


def scatter(values, lengths, *positions):
    """Return zeros with values added at positions on the first axes, lazily, as one chunk."""
    shape = (*lengths, *values.shape[max(place.ndim for place in positions) :])
    found = dask.delayed(scatter_chunks)(values, lengths, *positions)
    return da.from_delayed(found, shape, dtype=values.dtype)
