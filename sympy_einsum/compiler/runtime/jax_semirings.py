"""JAX helper functions of generated sources for semirings.

JAX writes to nothing, and compiles loops; XLA doesn't always see that no array of all products of
entries is needed.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .semiring_helpers import ZERO, times, total


@jax.jit
def product(x, y):
    """Return the product of stacks of matrices, row by row."""

    def row(own):
        return total(times(own[..., :, None], y), -2)

    return jnp.moveaxis(jax.lax.map(row, jnp.moveaxis(x, -2, 0)), 0, -2)


def rows_at(values, positions, wanted, size):
    """Return zeros with the wanted ones of some rows written at their positions."""
    total = jnp.full_like(values, ZERO, shape=(size, *values.shape[1:]))
    return total.at[jnp.where(wanted, positions, size)].set(values, mode="drop")
