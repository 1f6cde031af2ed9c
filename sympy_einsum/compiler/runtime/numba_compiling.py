"""Decorators by which Numba compiles helper functions, and steps of reductions that may be
reordered. Only the kernel is called from Python and nothing from C; each wrapper for that would be
compiled too.
"""

from __future__ import annotations

import numba

kernel = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)
compiled = numba.njit(
    nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True
)
inlined = numba.njit(
    nogil=True,
    error_model="numpy",
    forceinline=True,
    no_cfunc_wrapper=True,
    no_cpython_wrapper=True,
)


@numba.njit(fastmath={"reassoc"}, no_cfunc_wrapper=True)
def add(a, b):
    """Return a + b as a step of a sum, which may be added up in several parts at once."""
    return a + b


@numba.njit(fastmath={"nnan", "nsz"}, no_cfunc_wrapper=True)
def larger(a, b):
    """Return the larger one of two numbers; either, if one is nan."""
    return a if a > b else b
