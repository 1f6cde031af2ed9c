"""The array libraries that have backends: conversion of arrays to and from each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

import sympy_einsum as se
from sympy_einsum.compiler.backends import BACKENDS

# Our own backends compute all that the tests ask of every backend; others may lack functions.
COMPLETE = {"numpy", "numba", "jax", "torch", "cupy", "dask"}


class Library:
    """A library with a function ``asarray``; tests are skipped where it isn't installed."""

    def __init__(self, name):
        self.name = name
        self.module = pytest.importorskip(BACKENDS[name].imports[0].split()[1])

    def into(self, value):
        """Convert a NumPy array to one of the library's; return anything else as it is."""
        return self.array(value) if isinstance(value, np.ndarray) else value

    def array(self, value):
        """Convert to an array of the library's."""
        return self.module.asarray(value)

    def back(self, value):
        """Convert a result to an array of NumPy's."""
        return np.asarray(value)


class Jax(Library):
    """JAX with 64 bits."""

    def __init__(self, name):
        super().__init__(name)
        self.module.config.update("jax_enable_x64", True)

    def array(self, value):
        return self.module.numpy.asarray(value)


class Torch(Library):
    """PyTorch; results must be tensors or Python's numbers."""

    def array(self, value):
        return self.module.from_numpy(value.copy())

    def back(self, value):
        assert isinstance(value, (self.module.Tensor, int, float))
        return np.asarray(value)


class Cupy(Library):
    """CuPy, where there is a GPU."""

    def __init__(self, name):
        super().__init__(name)
        try:
            self.module.cuda.runtime.getDeviceCount()
        except Exception as error:
            pytest.skip(f"no GPU for CuPy: {error}")

    def back(self, value):
        return self.module.asnumpy(value)


class Dask(Library):
    """Dask, with two chunks along each axis."""

    def array(self, value):
        chunks = [max(1, -(-length // 2)) for length in value.shape]
        return self.module.from_array(value, chunks=tuple(chunks))

    def back(self, value):
        return np.asarray(value.compute() if hasattr(value, "compute") else value)


class Numba(Library):
    """Numba, whose arrays are NumPy's."""

    def array(self, value):
        return value


OWN = {"numba": Numba, "jax": Jax, "torch": Torch, "cupy": Cupy, "dask": Dask}
EVERY: dict[str, Callable[[], Library]] = {
    name: partial(OWN.get(name, Library), name) for name in BACKENDS
}
# Those whose functions run at once: Numba takes seconds to compile one.
LIBRARIES = {name: make for name, make in EVERY.items() if not BACKENDS[name].is_compiled}


@contextmanager
def allowances_for(backend: str) -> Iterator[None]:
    """Allow a third-party backend to refuse a function by name, and its library to warn about
    numbers in branches that aren't taken."""
    if backend in COMPLETE:
        yield
        return
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        try:
            yield
        except se.UnsupportedError as error:
            if f"backend {backend!r} has no function" not in str(error):
                raise
