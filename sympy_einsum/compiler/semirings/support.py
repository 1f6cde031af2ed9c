"""Helper functions of generated sources for semirings, in NumPy's names after ``xp.``.

Words in capitals stand for what a semiring has in their place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from ..ir.code import names_in
from ..runtime.sources import Helper, HelperText, Spelling
from .algebras import Semiring

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
    if 0 in x.shape:
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
        order = [labels.index(i) for group in groups for i in group]
        return xp.moveaxis(z, order, [*range(z.ndim)]).reshape(sizes)

    z = product(grouped(x, first, both, rows, inner), grouped(y, second, both, inner, columns))
    found = both + rows + columns
    z = z.reshape([length[i] for i in found])
    return xp.moveaxis(z, [found.index(i) for i in output], [*range(z.ndim)])
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
        left, right = x[:, k : k + across, None], CONTIGUOUS(y[k : k + across])
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
    return correlate(xp.concatenate([zeros, x, zeros]), xp.flip(w, (0,)))
''',
    "running_total": '''
def running_total(x, axis, backwards):
    """The running sum of the semiring along an axis, or that from its end, by doubling."""
    x, size = xp.moveaxis(x, axis, 0), 1
    x = xp.flip(x, (0,)) if backwards else x
    while size < len(x):
        x = xp.concatenate([x[:size], plus(x[size:], x[:-size])])
        size *= 2
    return xp.moveaxis(xp.flip(x, (0,)) if backwards else x, 0, axis)
''',
    "lagged_total": '''
def lagged_total(x, axis, backwards, lag, count):
    """Running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    x, n = xp.moveaxis(x, axis, 0), x.shape[axis]
    x = running_total(xp.flip(x, (0,)) if backwards else x, 0, False)
    x = xp.concatenate([xp.full_like(x.sum(axis=0), ZERO, dtype=x.dtype)[None], x])
    positions = n - lag - xp.arange(count) if backwards else xp.arange(1 - lag, count + 1 - lag)
    return xp.moveaxis(x[xp.clip(positions, 0, n)], 0, axis)
''',
    "chosen": '''
def chosen(mask, dtype):
    """Ones where a mask is true."""
    return xp.where(mask, ONE, ZERO).astype(dtype)
''',
    "triangle": '''
def triangle(x, upper, offset):
    """The last two axes with zeros on the left of a diagonal, or on its right."""
    below = xp.tril(xp.ones_like(x == x), offset - 1 if upper else offset)
    return xp.where(below, ZERO, x) if upper else xp.where(below, x, ZERO)
''',
    "scatter": '''
def scatter(values, lengths, *positions):
    """Zeros, to which values are added at positions on the first axes: these are sorted, and those
    that are equal added up by doubling."""
    keys, size = 0, 1
    for place, length in zip(positions, lengths):
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
    total = xp.full_like(values, ZERO, shape=(size, *tail))
    total[keys[last]] = values[last]
    return total.reshape(*lengths, *tail)
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
    "scatter": _SHARED["scatter"].replace(
        "total[keys[last]] = values[last]",
        'total = total.at[jnp.where(last, keys, size)].set(values, mode="drop")',
    ),
}
# Torch knows sums, maxima and types by other names.
_OF_TORCH = {
    "total": '''
def total(x, axis=None):
    """The sum of the semiring over axes, over all for None."""
    axis = tuple(range(x.ndim)) if axis is None else axis
    if 0 in x.shape:
        return torch.full_like(x.sum(axis), ZERO, dtype=x.dtype)
    return TOTAL if x.ndim else x
''',
    "natural": '''
def natural(k):
    """The sum of k ones."""
    if isinstance(k, int) and k < 0:
        raise ValueError(f"{k} is negative: no sum of ones of a semiring")
    k = torch.as_tensor(k)
    return NATURAL
''',
    "entries": '''
def entries(x):
    """A tensor as one of elements of the semiring."""
    if x.is_complex():
        raise ValueError("complex numbers are no elements of the semiring")
    return ENTRIES
''',
    "whole_numbers": '''
def whole_numbers(x):
    """A tensor of integers."""
    if x.is_floating_point() or x.dtype == torch.bool:
        raise ValueError(f"what is counted are integers, not {x.dtype}")
    return x
''',
    "number": '''
def number(value, dtype, device):
    """A tensor of a number, which is exact if that is whole."""
    kind = dtype if isinstance(value, float) else None
    return torch.as_tensor(value, dtype=kind, device=device)
''',
    **{
        name: f'''
def {name}(x, y):
    """torch.{name} of tensors and numbers."""
    return torch.{name}(torch.as_tensor(x), torch.as_tensor(y))
'''
        for name in ("logical_or", "logical_and")
    },
    "chosen": _SHARED["chosen"].replace(".astype(", ".to("),
    "scatter": _SHARED["scatter"].replace(
        "xp.full_like(values, ZERO, shape=(size, *tail))",
        "torch.full((size, *tail), ZERO, dtype=values.dtype, device=values.device)",
    ),
}
# Dask's arrays have NumPy's functions; what cuts arrays into pieces acts on chunks.
_OF_DASK = {
    "product_of_chunks": _SHARED["product"].replace("product(", "product_of_chunks("),
    "product": '''
def product(x, y):
    """The product of stacks of matrices, lazily, chunk by chunk."""
    stack = "abcdefgh"[: max(x.ndim, y.ndim) - 2]
    first, second = (stack[len(stack) + 2 - z.ndim :] for z in (x, y))
    parts = da.blockwise(
        lambda x, y: product_of_chunks(x, y)[..., None, :],
        f"{stack}ikj", x, f"{first}ik", y, f"{second}kj",
        adjust_chunks={"k": 1}, dtype=np.result_type(x.dtype, y.dtype),
    )
    return total(parts, -2)
''',
    "convolved": _SHARED["convolve"].replace("convolve(", "convolved("),
    "convolve": '''
def convolve(x, w):
    """The sums over i + k = j of the products of entries i and k of two vectors, lazily."""
    return slid(convolved, x, w, len(x) + len(w) - 1)
''',
    "scattered": _SHARED["scatter"].replace("scatter(", "scattered("),
    "scatter": '''
def scatter(values, lengths, *positions):
    """Zeros, to which values are added at positions on the first axes, lazily, as one chunk."""
    shape = (*lengths, *values.shape[max(place.ndim for place in positions) :])
    found = dask.delayed(scattered)(values, lengths, *positions)
    return da.from_delayed(found, shape, dtype=values.dtype)
''',
}
# How else torch spells parts of what semirings have in NumPy's names. Numbers of ones are exact.
_IN_TORCH = {
    "x.max(axis=axis)": "torch.amax(x, axis)",
    "x.min(axis=axis)": "torch.amin(x, axis)",
    "x.any(axis=axis)": "torch.any(x, axis)",
    "x.sum(axis=axis)": "x.sum(axis)",
    "logsumexp(x, axis)": "torch.logsumexp(x, axis)",
    "xp.issubdtype(x.dtype, xp.floating)": "x.is_floating_point()",
    "x.astype(float)": "x.to(torch.float64)",
    ".astype(xp.float32)": ".to(torch.float32)",
    "xp.log(xp.where(k > 0, k, 1))": "torch.log(k.clamp(min=1).to(torch.float64))",
    "xp.asarray(k)": "k",
    "xp.asarray([known[number] for number in k.ravel().tolist()])": (
        "torch.tensor([known[number] for number in k.ravel().tolist()], "
        "dtype=torch.float64 if isinstance(semiring.one, float) else None)"
    ),
    "xp.maximum(": "maximum(",
    "xp.minimum(": "minimum(",
    "xp.logaddexp(": "logaddexp(",
    "xp.logical_or(": "logical_or(",
    "xp.logical_and(": "logical_and(",
}
# The libraries for which there are such functions: those that are theirs, their spellings, and how
# many products of entries at a time stay in the cache, or keep a device busy.
LIBRARIES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "numpy": ({}, {"CONTIGUOUS": "xp.ascontiguousarray", "AT_ONCE": "2**16"}),
    "cupy": ({}, {"CONTIGUOUS": "xp.ascontiguousarray", "AT_ONCE": "2**22"}),
    "jax": (_OF_JAX, {}),
    "torch": (_OF_TORCH, {**_IN_TORCH, "CONTIGUOUS": "torch.clone", "AT_ONCE": "2**17"}),
    "dask": (
        _OF_DASK,
        {
            "CONTIGUOUS": "np.ascontiguousarray",
            "AT_ONCE": "2**16",
            "k.ravel()": "np.asarray(k).ravel()",
            "xp.": "np.",
        },
    ),
}


class _OfText(Helper):
    def written(self, name: str, spelling: Spelling) -> HelperText:
        text = self.origin.strip("\n") + "\n"
        xp = (spelling("xp.exp") or "").partition(".")[0]
        text = re.sub(r"\bxp\.", f"{xp}.", text)
        return HelperText(text, frozenset(names_in(ast.parse(text))))


def semiring_support(semiring: Semiring, library: str) -> dict[str, Helper]:
    """Return the functions of a semiring by their names."""
    own, spellings = LIBRARIES[library]
    functions = {**_SHARED, **own}
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
    }

    def written(text: str) -> str:
        text = re.sub(r"\b[A-Z_]{3,}\b", lambda found: words.get(found[0], found[0]), text)
        text = text if library == "dask" else re.sub(r"\bnp\.", "xp.", text)
        for name, spelling in spellings.items():
            text = text.replace(name, spelling)
        return text

    return {name: _OfText("", written(text)) for name, text in functions.items()}
