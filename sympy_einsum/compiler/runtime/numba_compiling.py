"""Decorators by which Numba compiles helper functions, and steps of reductions that may be
reordered.
"""

from __future__ import annotations

import numba

compiled = numba.njit(nogil=True, error_model="numpy")
inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True)


@numba.njit(fastmath={"reassoc"})
def add(a, b):
    """Return a + b as a step of a sum, which may be added up in several parts at once."""
    return a + b


@numba.njit(fastmath={"nnan", "nsz"})
def larger(a, b):
    """Return the larger one of two numbers; either, if one is nan."""
    return a if a > b else b
