"""NumPy helper functions of generated sources that write, gather and transform entries."""

from __future__ import annotations

import numpy as np


def diagonal_in(X):
    """Return the diagonal of a matrix as a writable view."""
    diagonal = X.diagonal()
    diagonal.setflags(write=True)
    return diagonal


def add_transposed(X, size=256):
    """Return X + X.T, block by block, so that both stay in the cache."""
    total = np.empty_like(X)
    for i in range(0, len(X), size):
        for j in range(0, len(X), size):
            rows, columns = slice(i, i + size), slice(j, j + size)
            np.add(X[rows, columns], X[columns, rows].T, out=total[rows, columns])
    return total


def weighted_gram(X, w):
    """Return X.T @ diag(w) @ X with w >= 0; of a large wide X as Y.T @ Y, which BLAS computes by
    halves, of one with many rows in pieces that stay in the cache."""
    if X.size < 5000:
        return (X.T * w).dot(X)
    rows, width = X.shape
    is_narrow, total = width < 64, 0.0
    weights = (w if is_narrow else np.sqrt(w))[:, None]
    size = max(width, 2**16 // width) if rows > 100 * width else rows
    size = 2**14 // width if is_narrow else size
    for i in range(0, rows, size):
        part = X[i : i + size]
        Y = weights[i : i + size] * part
        total += (part if is_narrow else Y).T.dot(Y)
    return total


def by_rows(part, width, *arrays):
    """Add up the sums over blocks of rows, each small enough for the cache, unless the sums are as
    large as the rows."""
    count, size = len(arrays[0]), max(2**17 // width, 1)
    size = count if count < 4 * size else size
    totals = part(*[x[:size] for x in arrays])
    step = count if sum(map(np.size, totals)) > 2**14 else size
    for i in range(size, count, step):
        for k, value in enumerate(part(*[x[i : i + step] for x in arrays])):
            totals[k] += value
    return totals


def windows(x, axis, start, steps, counts):
    """Return the entries at start + steps[0] * i + steps[1] * k of an axis, at [i, k], without a
    copy."""
    a, b = steps[0] * (counts[0] - 1), steps[1] * (counts[1] - 1)
    low, high = start + min(a, b, a + b, 0), start + max(a, b, a + b, 0)
    if min(counts) > 0 and (low < 0 or high >= x.shape[axis]):
        raise IndexError(f"windows from {low} to {high} on an axis of length {x.shape[axis]}")
    first = x[(slice(None),) * axis + (slice(start, None),)]
    strides = [step * x.strides[axis] for step in steps]
    return np.lib.stride_tricks.as_strided(
        first,
        (*x.shape[:axis], *counts, *x.shape[axis + 1 :]),
        (*x.strides[:axis], *strides, *x.strides[axis + 1 :]),
        writeable=False,
    )


def scatter(values, lengths, *positions, once=False, to=None):
    """Add values to zeros, or to an array, at positions on the first axes, also at repeated
    ones."""
    order = max(map(np.ndim, positions))
    shape = values.shape[order:]
    if to is None:
        total = np.zeros((*lengths, *shape), values.dtype)
    else:
        total = np.asarray(to, np.result_type(to, values))
    if once:
        total[positions] = values
    elif len(positions) == 1 and shape and total.size:
        # np.add.at is fast for vectors.
        columns = np.arange(shape[0] if len(shape) == 1 else total[0].size)
        flat = np.asarray(positions[0])[..., None] * columns.size + columns
        np.add.at(total.reshape(-1), flat.ravel(), values.ravel())
    else:
        np.add.at(total, positions, values)
    return total


def spectrum(x, length, count, weighted):
    """Return the first frequencies of the last axis, padded with zeros, as real and imaginary
    parts; those that stand for their conjugates too may count twice."""
    if x.dtype.kind == "c":
        parts = [spectrum(part, length, count, weighted) for part in (x.real, x.imag)]
        return parts[0] + 1j * parts[1]
    z = np.ascontiguousarray(np.fft.rfft(x, length))
    half = z.shape[-1]
    if count > half:
        whole = np.empty((*z.shape[:-1], length), z.dtype)
        whole[..., :half] = z
        np.conjugate(z[..., length - half : 0 : -1], out=whole[..., half:])
        z = whole
    if weighted:
        z[..., 1 : (length + 1) // 2] *= 2
    pairs = z.view(z.real.dtype).reshape(*z.shape, 2)
    return pairs if count == z.shape[-1] else pairs[..., :count, :]


def from_spectrum(x, y, length, count, weighted):
    """Return the first real parts of the unnormalised inverse transform of frequencies x + iy."""
    if "c" in (x.dtype.kind, y.dtype.kind):
        pairs = (x.real, y.real), (x.imag, y.imag)
        parts = [from_spectrum(*pair, length, count, weighted) for pair in pairs]
        return parts[0] + 1j * parts[1]
    is_double = x.dtype.char == y.dtype.char == "d"
    z = np.empty(x.shape, complex if is_double else np.result_type(x, y, np.complex64))
    z.real, z.imag = x, y
    half = length // 2 + 1
    if half < z.shape[-1] < length:
        return np.fft.ifft(z, length, norm="forward").real[..., :count]
    if not weighted:
        # Others are the conjugates of these, once they are added to them.
        twins = z[..., 1 : (length + 1) // 2]
        if z.shape[-1] > half:
            twins += z[..., : length // 2 : -1].conj()
        twins *= 0.5
    total = np.fft.irfft(z[..., :half], length, norm="forward")
    return total if count == length else total[..., :count]


def one_hot(positions, length, dtype):
    """Return ones at positions on a last axis."""
    total = np.zeros((np.size(positions), length), dtype)
    total[np.arange(len(total)), np.ravel(positions)] = 1
    return total.reshape(*np.shape(positions), length)


def assembled(shape, blocks, mirrored, tile=256):
    """Return a matrix of which some blocks aren't 0. Each term of a block is its entries, or two
    factors of these, with the lengths of their axes, the row and the column of the first, and the
    steps between rows and columns along each axis. Mirrored blocks are copied to their transposed
    place, in tiles that stay in the cache."""
    kinds = [own for block in blocks for term in block for own in term[0]]
    total = np.zeros(shape, np.result_type(*kinds) if kinds else float)
    kind, size = total.dtype, total.itemsize
    stride = size * shape[1]
    for block in blocks:
        place = None
        for factors, lengths, (row, column), steps in block:
            if 0 in lengths:
                continue
            strides = [stride * i + size * j for i, j in steps]
            is_first = place is None
            place = np.ndarray(lengths, kind, total, stride * row + size * column, strides)
            if len(factors) == 2 and is_first:
                np.multiply(factors[0], factors[1], out=place)
                continue
            value = factors[0] if len(factors) == 1 else factors[0] * factors[1]
            if is_first:
                place[...] = value
            else:
                place += value
    for row, column, height, width in mirrored:
        for i in range(0, height, tile):
            for j in range(0, width, tile):
                rows = slice(row + i, row + min(i + tile, height))
                columns = slice(column + j, column + min(j + tile, width))
                total[columns, rows] = total[rows, columns].T
    return total
