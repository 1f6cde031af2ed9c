"""Functions of semirings that generated sources bring along, in NumPy's names after ``xp.``.

Words in capitals stand for what a semiring has in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .semirings import Semiring

_SHARED = {
    "plus": '''
def plus(x, y):
    """The sum of the semiring."""
    return PLUS
''',
    "times": '''
def times(x, y):
    """The product of the semiring."""
    return TIMES
''',
    "total": '''
def total(x, axis=None):
    """The sum of the semiring over axes, over all for None."""
    if not x.size:
        return xp.full_like(x.sum(axis=axis), ZERO, dtype=x.dtype)
    return TOTAL
''',
    "natural": '''
def natural(k):
    """The sum of k ones."""
    if isinstance(k, int) and k < 0:
        raise ValueError(f"{k} is negative: no sum of ones of a semiring")
    return NATURAL
''',
    "entries": '''
def entries(x):
    """An array as one of elements of the semiring."""
    if x.dtype.kind == "c":
        raise ValueError("complex numbers are no elements of the semiring")
    return ENTRIES
''',
    "whole_numbers": '''
def whole_numbers(x):
    """An array of integers; as objects of Python they may be of any size."""
    if x.dtype.kind not in "iuO":
        raise ValueError(f"what is counted are integers, not {x.dtype}")
    return x
''',
    "dot": '''
def dot(x, y):
    """The product of matrices and vectors."""
    if x.ndim == 1:
        return total(times(x if y.ndim == 1 else x[:, None], y), 0)
    return total(times(x, y), 1) if y.ndim == 1 else product(x, y)
''',
    "contraction": '''
def contraction(subscripts, x, y):
    """A contraction of two operands, neither of which has an index twice."""
    terms, output = subscripts.split("->")
    first, second = terms.split(",")
    length = dict(zip(first + second, x.shape + y.shape))
    both = [i for i in first if i in second and i in output]
    inner = [i for i in first if i not in output]
    rows = [i for i in first if i in output and i not in second]
    columns = [i for i in second if i not in first]

    def grouped(z, labels, *groups):
        sizes = [1] * len(groups)
        for place, group in enumerate(groups):
            for i in group:
                sizes[place] *= length[i]
        return z.transpose(*[labels.index(i) for group in groups for i in group]).reshape(*sizes)

    z = product(grouped(x, first, both, rows, inner), grouped(y, second, both, inner, columns))
    found = both + rows + columns
    z = z.reshape(*[length[i] for i in found])
    return z.transpose(*[found.index(i) for i in output])
''',
    "product": '''
def product(x, y):
    """The product of stacks of matrices; so many products of entries at once stay in the cache."""
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
            parts = [product(own, other)[None] for own, other in zip(x, y)]
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
''',
    "correlate": '''
def correlate(x, w):
    """The products of a vector with all pieces of a longer one."""
    count = max(len(x) - len(w) + 1, 0)
    if not count or count < len(w):
        pieces = [total(times(x[i : i + len(w)], w))[None] for i in range(count)]
        return xp.concatenate([x[:0], *pieces])
    z = xp.full_like(x[:count], ZERO)
    for k in range(len(w)):
        z = plus(z, times(x[k : k + count], w[k]))
    return z
''',
    "convolve": '''
def convolve(x, w):
    """The sums over i + k = j of the products of entries i and k of two vectors."""
    zeros = xp.full_like(w[1:], ZERO)
    return correlate(xp.concatenate([zeros, x, zeros]), w[::-1])
''',
    "running_total": '''
def running_total(x, axis, backwards):
    """The running sum of the semiring along an axis, or that from its end, by doubling."""
    x, size = xp.moveaxis(x, axis, 0), 1
    x = x[::-1] if backwards else x
    while size < len(x):
        x = xp.concatenate([x[:size], plus(x[size:], x[:-size])])
        size *= 2
    return xp.moveaxis(x[::-1] if backwards else x, 0, axis)
''',
    "lagged_total": '''
def lagged_total(x, axis, backwards, lag, count):
    """Running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    x, n = xp.moveaxis(x, axis, 0), x.shape[axis]
    x = running_total(x[::-1] if backwards else x, 0, False)
    x = xp.concatenate([xp.full_like(x, ZERO, shape=(1, *x.shape[1:])), x])
    positions = n - lag - xp.arange(count) if backwards else xp.arange(1 - lag, count + 1 - lag)
    return xp.moveaxis(xp.take(x, xp.clip(positions, 0, n), 0), 0, axis)
''',
}
# One's own operations have nothing but the two functions.
_OWN = {
    "total": '''
def total(x, axis=None):
    """The sum of the semiring over axes, over all for None, by halves."""
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
''',
    "natural": '''
def natural(k):
    """The sum of k ones."""
    if getattr(k, "shape", ()):
        known = {number: natural(int(number)) for number in set(k.ravel().tolist())}
        return xp.asarray([known[number] for number in k.ravel().tolist()]).reshape(k.shape)
    if k < 0:
        raise ValueError(f"{k} is negative: no sum of ones of a semiring")
    if k < 2:
        return ONE if k else ZERO
    half = natural(k // 2)
    both = plus(half, half)
    return plus(both, ONE) if k % 2 else both
''',
    "power": '''
def power(x, k):
    """The product of k > 0 factors."""
    if k == 1:
        return x
    root = power(x, k // 2)
    square = times(root, root)
    return times(square, x) if k % 2 else square
''',
}
# JAX writes to nothing, and compiles loops; XLA doesn't always see that no array of all products of
# entries is needed.
_OF_JAX = {
    "logsumexp": '''
def logsumexp(x, axis=None):
    """log(sum(exp(x))) without overflow."""
    return jax.nn.logsumexp(x, axis=axis)
''',
    "product": '''
@jax.jit
def product(x, y):
    """The product of stacks of matrices, row by row."""

    def row(own):
        return total(times(own[..., :, None], y), -2)

    return jnp.moveaxis(jax.lax.map(row, jnp.moveaxis(x, -2, 0)), 0, -2)
''',
}
# The libraries for which there are such functions, and what is theirs.
LIBRARIES: Mapping[str, Mapping[str, str]] = {"numpy": {}, "cupy": {}, "jax": _OF_JAX}
# So many products of entries at a time stay in the cache, or keep a device busy.
_AT_ONCE = {"numpy": "2**16", "cupy": "2**22"}


def semiring_support(semiring: Semiring, library: str) -> dict[str, str]:
    """The functions of a semiring by their names."""
    functions = {**_SHARED, **LIBRARIES[library]}
    if semiring.operations is not None:
        functions |= _OWN
    if semiring.product:
        functions["product"] = f'''
def product(x, y):
    """The product of stacks of matrices."""
    return {semiring.product}
'''
    words = {
        "PLUS": semiring.add.format("x", "y"),
        "TIMES": semiring.multiply.format("x", "y"),
        "TOTAL": semiring.total,
        "NATURAL": semiring.natural,
        "ENTRIES": semiring.entries,
        "ZERO": semiring.zero,
        "ONE": semiring.one,
        "AT_ONCE": _AT_ONCE.get(library, ""),
    }

    def written(text: str) -> str:
        text = re.sub(r"\b[A-Z_]{3,}\b", lambda found: words.get(found[0], found[0]), text)
        return re.sub(r"\bnp\.", "xp.", text)

    return {name: written(text) for name, text in functions.items()}
