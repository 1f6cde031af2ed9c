"""Helper functions of generated code for semirings, in NumPy's names.

They compute in the semiring max-plus. Other semirings have other elements for ``ZERO`` and ``ONE``,
and return other expressions in ``plus``, ``times``, ``total``, ``natural`` and ``entries``.
"""

from __future__ import annotations

import numpy as xp

from ...core import tuning

ZERO, ONE = -xp.inf, 0.0
AT_ONCE = tuning.MAX_SEMIRING_PRODUCTS


def plus(x, y):
    """Return the sum in the semiring."""
    return xp.maximum(x, y)


def times(x, y):
    """Return the product in the semiring."""
    return x + y


def total(x, axis=None):
    """Return the sum in the semiring over axes, over all for None."""
    if 0 in x.shape:
        return xp.full_like(x.sum(axis=axis), ZERO, dtype=x.dtype)
    return x.max(axis=axis)


def natural(k):
    """Return the sum of k ones."""
    if isinstance(k, int) and k < 0:
        raise ValueError(f"{k} is negative: no sum of ones of a semiring")
    return xp.where(k > 0, 0.0, -xp.inf)


def entries(x):
    """Return an array as one of elements of the semiring."""
    if x.dtype.kind == "c":
        raise ValueError("complex numbers are no elements of the semiring")
    return floating(x)


def floating(x):
    """Return an array as one of floating-point numbers."""
    return x if xp.issubdtype(x.dtype, xp.floating) else x.astype(float)


def whole_numbers(x):
    """Check that an array is one of integers; as objects of Python they may be of any size."""
    if x.dtype.kind not in "iuO":
        raise ValueError(f"what is counted are integers, not {x.dtype}")
    return x


def log_of_natural(k):
    """Return log(k), of integers too."""
    return xp.log(xp.where(k > 0, k, 1)) + xp.where(k > 0, 0.0, -xp.inf)


def total_by_halves(x, axis=None):
    """Return the sum in the semiring over axes, over all for None, by halves."""
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for k in sorted([k % x.ndim for k in axes], reverse=True):
        x = xp.moveaxis(x, k, 0)
        if not len(x):
            x = xp.full((1, *x.shape[1:]), ZERO)
        while len(x) > 1:
            half = len(x) // 2
            both = plus(x[:half], x[half : 2 * half])
            x = xp.concatenate([both, x[2 * half :]]) if len(x) % 2 else both
        x = x[0]
    return x


def natural_by_doubling(k):
    """Return the sum of k ones, for an array of numbers too."""
    if getattr(k, "shape", ()):
        numbers = xp.asarray(k).ravel().tolist()
        known = {number: natural_by_doubling(int(number)) for number in set(numbers)}
        return xp.array([known[number] for number in numbers]).reshape(k.shape)
    if k < 0:
        raise ValueError(f"{k} is negative: no sum of ones of a semiring")
    if k < 2:
        return ONE if k else ZERO
    half = natural_by_doubling(k // 2)
    both = plus(half, half)
    return plus(both, ONE) if k % 2 else both


def power(x, k):
    """Return the product of k > 0 factors."""
    if k == 1:
        return x
    root = power(x, k // 2)
    square = times(root, root)
    return times(square, x) if k % 2 else square


def dot(x, y):
    """Return the product of matrices and vectors."""
    if x.ndim == 1:
        return total(times(x if y.ndim == 1 else x[:, None], y), 0)
    return total(times(x, y), 1) if y.ndim == 1 else product(x, y)


def contraction(subscripts, x, y):
    """Return a contraction of two operands, neither of which has an index twice."""
    terms, output = subscripts.split("->")
    first, second = terms.split(",")
    length = dict(zip(first + second, x.shape + y.shape, strict=True))
    both = [i for i in first if i in second and i in output]
    inner = [i for i in first if i not in output]
    rows = [i for i in first if i in output and i not in second]
    columns = [i for i in second if i not in first]

    def grouped(z, labels, *groups):
        sizes = [1] * len(groups)
        for place, group in enumerate(groups):
            for i in group:
                sizes[place] *= length[i]
        order = [labels.index(i) for group in groups for i in group]
        return xp.moveaxis(z, order, [*range(z.ndim)]).reshape(sizes)

    z = product(grouped(x, first, both, rows, inner), grouped(y, second, both, inner, columns))
    found = both + rows + columns
    z = z.reshape([length[i] for i in found])
    return xp.moveaxis(z, [found.index(i) for i in output], [*range(z.ndim)])


def product(x, y):
    """Return the product of stacks of matrices, from blocks of entries that fit into the cache."""
    at_once, (rows, length), columns = AT_ONCE, x.shape[-2:], y.shape[-1]
    stack = xp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    size = count = rows * length * columns
    for n in stack:
        count *= n
    if count <= at_once:
        return total(times(x[..., :, :, None], y[..., None, :, :]), -2)
    if stack:
        x = xp.broadcast_to(x, (*stack, rows, length)).reshape(-1, rows, length)
        y = xp.broadcast_to(y, (*stack, length, columns)).reshape(-1, length, columns)
        step = at_once // size
        if step:
            parts = [product(x[i : i + step], y[i : i + step]) for i in range(0, len(x), step)]
        else:
            parts = [product(own, other)[None] for own, other in zip(x, y, strict=True)]
        return xp.concatenate(parts).reshape(*stack, rows, columns)
    if columns < rows:
        return product(y.T, x.T).T
    across = min(length, max(1, at_once // columns))
    down = max(1, at_once // (across * columns))
    z = None
    for k in range(0, length, across):
        left, right = x[:, k : k + across, None], xp.ascontiguousarray(y[k : k + across])
        parts = [total(times(left[i : i + down], right), 1) for i in range(0, rows, down)]
        part = xp.concatenate(parts)
        z = part if z is None else plus(z, part)
    return z


def product_of_truth_values(x, y):
    """Return the product of stacks of matrices of truth values, by that of numbers."""
    return xp.matmul(x.astype(xp.float32), y.astype(xp.float32)) > 0


def product_of_numbers(x, y):
    """Return the product of stacks of matrices of numbers."""
    return xp.matmul(x, y)


def correlate(x, w):
    """Return the products of a vector with all windows of a longer one."""
    count = max(len(x) - len(w) + 1, 0)
    if not count or count < len(w):
        pieces = [total(times(x[i : i + len(w)], w))[None] for i in range(count)]
        return xp.concatenate([x[:0], *pieces])
    z = xp.full_like(x[:count], ZERO)
    for k in range(len(w)):
        z = plus(z, times(x[k : k + count], w[k]))
    return z


def convolve(x, w):
    """Return the sums over i + k = j of the products of entries i and k of two vectors."""
    zeros = xp.full_like(w[1:], ZERO)
    return correlate(xp.concatenate([zeros, x, zeros]), xp.flip(w, (0,)))


def running_total(x, axis, backwards):
    """Return the running sum in the semiring along an axis, or that from its end, by doubling."""
    x, size = xp.moveaxis(x, axis, 0), 1
    x = xp.flip(x, (0,)) if backwards else x
    while size < len(x):
        x = xp.concatenate([x[:size], plus(x[size:], x[:-size])])
        size *= 2
    return xp.moveaxis(xp.flip(x, (0,)) if backwards else x, 0, axis)


def lagged_total(x, axis, backwards, lag, count):
    """Return running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    x, n = xp.moveaxis(x, axis, 0), x.shape[axis]
    x = running_total(xp.flip(x, (0,)) if backwards else x, 0, False)
    x = xp.concatenate([xp.full_like(x.sum(axis=0), ZERO, dtype=x.dtype)[None], x])
    positions = n - lag - xp.arange(count) if backwards else xp.arange(1 - lag, count + 1 - lag)
    return xp.moveaxis(x[xp.clip(positions, 0, n)], 0, axis)


def chosen(mask, dtype):
    """Return ones where a mask is true, and zeros."""
    return xp.where(mask, ONE, ZERO).astype(dtype)


def triangle(x, upper, offset):
    """Return the last two axes with zeros on the left of a diagonal, or on its right."""
    below = xp.tril(xp.ones_like(x == x), offset - 1 if upper else offset)
    return xp.where(below, ZERO, x) if upper else xp.where(below, x, ZERO)


def scatter(values, lengths, *positions):
    """Return zeros with values added at positions on the first axes: these are sorted, and those
    that are equal added up by doubling."""
    keys, size = positions[0] % lengths[0], lengths[0]
    for place, length in zip(positions[1:], lengths[1:], strict=True):
        keys, size = keys * length + place % length, size * length
    tail, count = values.shape[keys.ndim :], 1
    for length in keys.shape:
        count *= length
    keys, step = keys.reshape(count), 1
    order = xp.argsort(keys)
    keys, values = keys[order], values.reshape(count, *tail)[order]
    while step < count:
        same = (keys[step:] == keys[:-step]).reshape(-1, *[1] * len(tail))
        both = xp.where(same, plus(values[step:], values[:-step]), values[step:])
        values, step = xp.concatenate([values[:step], both]), 2 * step
    last = xp.concatenate([keys[1:] != keys[:-1], keys[:1] == keys[:1]])
    return rows_at(values, keys, last, size).reshape(*lengths, *tail)


def rows_at(values, positions, wanted, size):
    """Return zeros with the wanted ones of some rows written at their positions."""
    total = xp.full_like(values, ZERO, shape=(size, *values.shape[1:]))
    total[positions[wanted]] = values[wanted]
    return total
