"""The helper functions of generated code, called with arrays of NumPy's."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy
from libraries import EVERY
from scipy import special

import sympy_einsum.compiler.runtime as runtime
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.runtime.sources import Helper

PACKAGE = Path(runtime.__file__).parent
# Modules of helper functions that only Numba can call, and those of CuPy, for which NumPy stands.
COMPILED = {
    *("numba_factors", "numba_special", "numba_fourier", "numba_complex", "numba_compiling"),
    "numba_memory",
}


def defined():
    """The names of all functions in the runtime, as ``module.function``."""
    return {
        f"{path.stem}.{node.name}"
        for path in PACKAGE.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


def helper(name):
    """A helper function by the name ``module.function``, from arrays of NumPy's to such."""
    function = raw(name)
    library = EVERY.get(name.partition("_")[0], EVERY["numpy"])
    if name.startswith("cupy"):
        return function
    return lambda *given, **options: _back(library(), function(*_into(library(), given), **options))


@cache
def raw(name):
    """A helper function from arrays of its library's to such."""
    module, _, own = name.partition(".")
    if module.startswith("cupy_"):
        return _with_numpy(own)
    if module in COMPILED:
        return compiled("complex128" if module == "numba_complex" else "float64")[own]
    # Skip what isn't installed; JAX computes with 64 bits.
    EVERY.get(module.partition("_")[0], EVERY["numpy"])()
    return getattr(import_module(f"{runtime.__name__}.{module}"), own)


@cache
def compiled(kind):
    """Numba's helper functions for a type, as they stand in the source of a kernel."""
    return _executed(BACKENDS["numba"].by_type[kind])


def in_names_of(backend, name):
    """A helper function as a backend's source has it."""
    return _executed(backend)[name]


@cache
def _executed(backend):
    texts = [*backend.imports, *[backend.helper(name).text for name in backend.support]]
    namespace = {}
    # Only kernels are compiled to be called from Python.
    exec(re.sub(r",\s*no_cpython_wrapper=True", "", "\n".join(texts)), namespace)
    return namespace


@cache
def _with_numpy(own):
    """A function of CuPy's helper modules in which NumPy and SciPy stand for CuPy."""
    spelled = {"cp": "np", "cp.fuse": "fuse", "cupy_linalg": "scipy.linalg"}
    namespace = {"np": np, "scipy": scipy, "special": special, "fuse": lambda: lambda own: own}
    for module, _, name in (name.partition(".") for name in defined() if name.startswith("cupy_")):
        text = Helper(f".{module}", name, spelled).written(name, lambda name: None).text
        exec(text, namespace)
    return namespace[own]


def _into(library, value):
    if isinstance(value, (tuple, list)):
        return type(value)(_into(library, part) for part in value)
    return library.into(value)


def _back(library, value):
    if isinstance(value, (tuple, list)):
        return type(value)(_back(library, part) for part in value)
    if value is None or isinstance(value, (bool, int, float, complex)):
        return value
    return library.back(value)
