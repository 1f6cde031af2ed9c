"""Numba: a plan as one function of loop nests, compiled at the first call."""

from __future__ import annotations

from typing import ClassVar

from ...core import tuning
from ..runtime.numba_helpers import COMPLEX, SUPPORT, of_type
from .base import Backend
from .scalars import CHOICES


class NumbaBackend(Backend):
    """Spells functions of numbers; loops and calls are those of a kernel."""

    name = "numba"
    imports = (
        "import numba",
        "import math",
        "import numpy as np",
        "import rocket_fft",
        "from llvmlite import binding",
        "from numba import extending",
        "from scipy.linalg import cython_blas",
        "from scipy.linalg import cython_lapack",
        "from scipy.special import cython_special",
    )
    extras: ClassVar = {"rocket_fft": "numba"}
    is_compiled = True
    loops = "compiled"
    asarray = "np.asarray"
    # A row stays in the cache.
    by_rows: ClassVar = frozenset(("max_shift", "log_total", "logsumexp", "softmax"))
    support: ClassVar = SUPPORT
    words: ClassVar = {
        *("compute", "converted", "kind", "max", "min", "range", "abs", "ValueError", "IndexError"),
        *[f"i{k}" for k in range(tuning.MAX_NAMED_LOOPS)],
    }
    spellings: ClassVar = {
        "sigmoid": "sigmoid({0})",
        "Piecewise": CHOICES,
    }
    renamed: ClassVar = {
        "special.erf": "math.erf",
        "special.erfc": "math.erfc",
        "special.gamma": "math.gamma",
        "special.gammaln": "math.lgamma",
    }
    special: ClassVar = ()


class _OfFloat32(NumbaBackend):
    support: ClassVar = {**SUPPORT, **of_type("float32")}


class _OfComplex128(NumbaBackend):
    support: ClassVar = {**SUPPORT, **COMPLEX, **of_type("complex128")}


class _OfComplex64(NumbaBackend):
    support: ClassVar = {**SUPPORT, **COMPLEX, **of_type("complex64")}


NumbaBackend.for_complex = _OfComplex128
NumbaBackend.by_type = {
    "float64": NumbaBackend,
    "float32": _OfFloat32,
    "complex128": _OfComplex128,
    "complex64": _OfComplex64,
}
