"""PyTorch helper functions of generated sources for semirings.

They differ from those in NumPy's names in how PyTorch spells sums, maxima and types.
"""

from __future__ import annotations

import torch

from .semiring_helpers import ONE, ZERO
from .torch_helpers import maximum


def plus(x, y):
    """Return the sum in the semiring."""
    return maximum(x, y)


def total(x, axis=None):
    """Return the sum in the semiring over axes, over all for None."""
    if x.ndim == 0:
        return x
    axis = tuple(range(x.ndim)) if axis is None else axis
    if 0 in x.shape:
        return torch.full_like(x.sum(axis), ZERO, dtype=x.dtype)
    return torch.amax(x, axis)


def natural(k):
    """Return the sum of k ones."""
    if isinstance(k, int) and k < 0:
        raise ValueError(f"{k} is negative: no sum of ones of a semiring")
    k = torch.as_tensor(k)
    return torch.where(k > 0, 0.0, -torch.inf)


def entries(x):
    """Return a tensor as one of elements of the semiring."""
    if x.is_complex():
        raise ValueError("complex numbers are no elements of the semiring")
    return floating(x)


def floating(x):
    """Return a tensor as one of floating-point numbers."""
    return x if x.is_floating_point() else x.to(torch.float64)


def whole_numbers(x):
    """Check that a tensor is one of integers."""
    if x.is_floating_point() or x.dtype == torch.bool:
        raise ValueError(f"what is counted are integers, not {x.dtype}")
    return x


def log_of_natural(k):
    """Return log(k), of integers too."""
    return torch.log(k.clamp(min=1).to(torch.float64)) + torch.where(k > 0, 0.0, -torch.inf)


def elements(numbers):
    """Return a tensor of elements of the semiring."""
    return torch.tensor(numbers, dtype=torch.float64 if isinstance(ONE, float) else None)


def number(value, dtype, device):
    """Return a tensor of a number, which is exact if that is whole."""
    kind = dtype if isinstance(value, float) else None
    return torch.as_tensor(value, dtype=kind, device=device)


def logical_or(x, y):
    """Return the disjunction of tensors and numbers."""
    return torch.logical_or(torch.as_tensor(x), torch.as_tensor(y))


def product_of_truth_values(x, y):
    """Return the product of stacks of matrices of truth values, by that of numbers."""
    return torch.matmul(x.to(torch.float32), y.to(torch.float32)) > 0


def chosen(mask, dtype):
    """Return ones where a mask is true, and zeros."""
    return torch.where(mask, ONE, ZERO).to(dtype)


def rows_at(values, positions, wanted, size):
    """Return zeros with the wanted ones of some rows written at their positions."""
    shape = size, *values.shape[1:]
    total = torch.full(shape, ZERO, dtype=values.dtype, device=values.device)
    total[positions[wanted]] = values[wanted]
    return total
