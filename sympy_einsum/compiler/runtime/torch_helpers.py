"""PyTorch helper functions of generated sources."""

from __future__ import annotations

import torch
from torch import special


def promoted(*arrays):
    """Return the type that holds the entries of some tensors."""
    kind = arrays[0].dtype
    for array in arrays[1:]:
        kind = torch.promote_types(kind, array.dtype)
    return kind


def floating_type(kind):
    """Return a type, or the default one of floating-point numbers for one of integers."""
    return kind if kind.is_floating_point or kind.is_complex else torch.get_default_dtype()


def together(a, b, floating=False):
    """Convert two tensors or numbers to tensors of one type, as NumPy does."""
    like, other = (a, b) if isinstance(a, torch.Tensor) else (b, a)
    kind = like.dtype
    holds = isinstance(other, (int, float)) and floating_type(kind) == kind
    # torch.compile can't trace result_type.
    if not holds and getattr(other, "dtype", None) != kind:
        kind = torch.result_type(a, b)
    kind = floating_type(kind) if floating else kind
    return [torch.as_tensor(v, dtype=kind, device=like.device) for v in (a, b)]


def maximum(a, b):
    """Return PyTorch's function of this name for tensors and numbers, whatever their types."""
    return torch.maximum(*together(a, b))


def logaddexp(a, b):
    """Return PyTorch's function of this name for tensors and numbers, as floating-point ones."""
    return torch.logaddexp(*together(a, b, floating=True))


def einsum(subscripts, a, b):
    """Return torch.einsum of two tensors, whatever their types."""
    return torch.einsum(subscripts, *together(a, b))


def solve(A, B):
    """Return inv(A) @ B, whatever their types."""
    return torch.linalg.solve(*together(A, B, floating=True))


def factored(X, definite=False):
    """Factor a matrix for all that is computed from its factors: Cholesky's lower factor of a
    definite one, or LU's factors in one tensor and the rows that were exchanged."""
    X = X.to(floating_type(X.dtype))
    if definite and not X.is_complex():
        return torch.linalg.cholesky(X), None
    return torch.linalg.lu_factor(X)


def solved(factors, B, transposed=False):
    """Return inv(X) @ B, or inv(X.T) @ B, of a matrix X that is factored."""
    factor, exchanged = factors
    factor, B = together(factor, B, floating=True)
    columns = B if B.ndim > 1 else B[:, None]
    if exchanged is None:
        Y = torch.cholesky_solve(columns, factor)
    elif transposed:
        Y = (
            torch.linalg.lu_solve(factor, exchanged, columns.conj(), adjoint=True)
            .conj()
            .resolve_conj()
        )
    else:
        Y = torch.linalg.lu_solve(factor, exchanged, columns)
    return Y if B.ndim > 1 else Y[:, 0]


def inverted(factors):
    """Return the inverse of a matrix that is factored."""
    factor, exchanged = factors
    if exchanged is None:
        return torch.cholesky_inverse(factor)
    return solved(factors, torch.eye(len(factor), dtype=factor.dtype, device=factor.device))


def log_determinant(factors):
    """Return log |det X| of a matrix that is factored."""
    factor, exchanged = factors
    total = torch.log(torch.abs(factor.diagonal())).sum()
    return 2 * total if exchanged is None else total


def pivot_sign(exchanged):
    """Return the sign of an exchange of rows, which are counted from 1."""
    rows = torch.arange(1, len(exchanged) + 1, device=exchanged.device)
    return 1 - 2 * ((exchanged != rows).sum() % 2)


def signed_log_determinant(factors):
    """Return the sign of the determinant of a matrix that is factored, and log |det X|."""
    factor, exchanged = factors
    sign = torch.sgn(factor.diagonal()).prod()
    sign = sign**2 if exchanged is None else sign * pivot_sign(exchanged)
    return sign, log_determinant(factors)


def determinant(factors):
    """Return the determinant of a matrix that is factored."""
    factor, exchanged = factors
    total = factor.diagonal().prod()
    return total**2 if exchanged is None else total * pivot_sign(exchanged)


def betaln(a, b):
    """Return log |beta(a, b)|."""
    a, b = together(a, b, floating=True)
    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)


def beta(a, b):
    """Return the beta function."""
    a, b = together(a, b, floating=True)
    signs = [torch.where((v < 0) & (torch.floor(v) % 2 != 0), -1, 1) for v in (a, b, a + b)]
    return signs[0] * signs[1] * signs[2] * torch.exp(betaln(a, b))


def gamma(x):
    """Return the gamma function; by reflection on the left of 1/2."""
    right = torch.exp(special.gammaln(torch.where(x < 0.5, 1 - x, x)))
    pole = torch.where((x == torch.floor(x)) & (x < 0), torch.nan, x)
    return torch.where(x < 0.5, torch.pi / (torch.sin(torch.pi * pole) * right), right)


def rel_entr(a, b):
    """Return a log(a / b), with its limits; nan where a or b is."""
    a, b = together(a, b, floating=True)
    is_outside = ((a <= 0) | (b <= 0)) & (a == a) & (b == b)
    inside = torch.where(is_outside, torch.inf, a * torch.log(a / b))
    return torch.where((a == 0) & (b >= 0), 0, inside)


def cbrt(x):
    """Return the real cube root."""
    return torch.sign(x) * torch.abs(x) ** (1 / 3)


def heaviside(a, b):
    """Return 0, b or 1 by the sign of a; nan where that is."""
    a, b = together(a, b)
    return torch.where(torch.isnan(a), a, torch.heaviside(a, b))


def sign(x):
    """Return the sign; nan where x is."""
    return torch.where(torch.isnan(x), x, torch.sign(x))


def number(value, dtype, device):
    """Return a tensor of a number."""
    if isinstance(value, torch.Tensor):
        return value
    return torch.as_tensor(value, dtype=dtype, device=device)


def select(conditions, values, dtype):
    """Return the value of the first condition that holds; numbers are of the given type."""
    chosen = float("nan")
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        if not isinstance(value, torch.Tensor):
            device = getattr(condition, "device", None)
            value = torch.as_tensor(value, dtype=dtype, device=device)
        chosen = value if condition is True else torch.where(condition, value, chosen)
    return chosen


def max_shift(x, axis=()):
    """Return the largest entries, 0 where those are infinite."""
    if not x.numel():
        return torch.exp(x).sum(axis, keepdim=True)
    top = torch.amax(x, axis, keepdim=True)
    return torch.where(torch.isfinite(top), top, 0)


def one_sided_weights(z, length, factor):
    """Return a factor for the frequencies of real numbers that stand for their conjugates too."""
    found = torch.full_like(z.real, factor)
    found[..., 0] = 1
    if length % 2 == 0:
        found[..., length // 2 :] = 1
    return found


def mirrored(x, larger):
    """Return x at the larger of two positions on the last axis, or at the smaller."""
    places = torch.arange(x.shape[-1], device=x.device)
    first, second = x[..., :, None], x[..., None, :]
    is_first = places[:, None] >= places if larger else places[:, None] <= places
    return torch.where(is_first, first, second)


def running_weights(x):
    """Return x and log(cumsum(exp(x))) along the last axis without overflow."""
    return x, torch.logcumsumexp(x if x.is_floating_point() else x + 0.0, -1)


def windows(x, axis, start, steps, counts):
    """Return the entries at start + steps[0] * i + steps[1] * k of an axis, at [i, k]."""
    i, k = (torch.arange(count, device=x.device) for count in counts)
    return x[(slice(None),) * axis + (start + steps[0] * i[:, None] + steps[1] * k,)]


def correlate(x, w):
    """Return scalar products of a vector with all pieces of a longer one."""
    x, w = together(x, w)
    if len(x) < len(w):
        return x[:0]
    return torch.nn.functional.conv1d(x[None, None], w[None, None])[0, 0]


def convolve(x, w):
    """Return the convolution of two vectors."""
    x, w = together(x, w)
    pad = len(w) - 1
    return torch.nn.functional.conv1d(x[None, None], w.flip(0)[None, None], padding=pad)[0, 0]


def lagged_cumsum(x, axis, backwards, lag, count):
    """Return running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    x, n = x.movedim(axis, -1), x.shape[axis]
    total = torch.nn.functional.pad(x.flip(-1) if backwards else x, (1, 0)).cumsum(-1)
    positions = torch.arange(count, device=x.device)
    positions = n - lag - positions if backwards else positions + 1 - lag
    return total[..., positions.clip(0, n)].movedim(-1, axis)


def share(x, top, axes):
    """Return where x is the extremum, divided by how often it is."""
    hits = (x == top).to(floating_type(x.dtype))
    return hits / hits.sum(axes, keepdim=True)


def scatter(values, lengths, *positions):
    """Add values to zeros at positions on the first axes."""
    order = max(place.ndim for place in positions)
    total = values.new_zeros((*lengths, *values.shape[order:]))
    return total.index_put_(positions, values, accumulate=True)


def one_hot(positions, length, dtype):
    """Return ones at positions on a last axis, which may be counted from its end."""
    places = positions[..., None] % length
    return (places == torch.arange(length, device=positions.device)).to(dtype)


def softmax(x, axes):
    """Return exp(x) / sum(exp(x)) over several axes, without overflow."""
    if not x.numel():
        return torch.exp(x)
    largest = torch.amax(x.real if x.is_complex() else x, axes, keepdim=True)
    weights = torch.exp(x - largest)
    return weights / weights.sum(axes, keepdim=True)
