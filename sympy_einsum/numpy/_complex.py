"""Functions of NumPy's namespace on complex numbers, which are pairs of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import FunctionType

import numpy as np

from ..core import UnsupportedError
from ..operations import ComplexTensor, as_complex
from . import fft

_CONJUGATE = ComplexTensor.conj
_OF_COMPLEX: Mapping[str, Callable[..., object]] = {
    "real": lambda val: val.real,
    "imag": lambda val: val.imag,
    "angle": ComplexTensor.angle,
    **dict.fromkeys(["conj", "conjugate"], _CONJUGATE),
    **dict.fromkeys(["abs", "absolute"], abs),
    "add": lambda a, b: as_complex(a) + b,
    "subtract": lambda a, b: as_complex(a) - b,
    "multiply": lambda a, b: as_complex(a) * b,
    "divide": lambda a, b: as_complex(a) / b,
    "negative": operator.neg,
    "positive": operator.pos,
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "iscomplexobj": lambda x: True,
    "isrealobj": lambda x: False,
}


def of_both(namespace: Mapping[str, Callable[..., object]]) -> dict[str, Callable[..., object]]:
    """Those functions of a namespace that take complex tensors too, and do."""

    def made(function: Callable[..., object], own: Callable[..., object]) -> Callable[..., object]:
        @wraps(function)
        def either(*args: object, **options: object) -> object:
            chosen = own if any(isinstance(arg, ComplexTensor) for arg in args) else function
            return chosen(*args, **options)

        return either

    found = {id(namespace[name]): made(namespace[name], own) for name, own in _OF_COMPLEX.items()}
    # Other names of a function stay names of one.
    return {name: found[id(value)] for name, value in namespace.items() if id(value) in found}


def _refused(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name} isn't supported on complex tensors; apply it to .real, .imag or abs of one"
    )


def array_ufunc(
    self: ComplexTensor, ufunc: np.ufunc, method: str, *inputs: object, **options: object
) -> object:
    """Implement NumPy's protocol of universal functions for complex tensors."""
    if method != "__call__" or ufunc.__name__ not in _OF_COMPLEX or options:
        raise _refused(f"the ufunc {ufunc.__name__} (method {method})")
    return _OF_COMPLEX[ufunc.__name__](*inputs)


def array_function(
    self: ComplexTensor,
    func: FunctionType,
    types: object,
    args: Sequence[object],
    options: Mapping[str, object],
) -> object:
    """Implement NumPy's protocol of functions for complex tensors."""
    name = func.__name__
    own = getattr(fft, name, None) if func.__module__ == "numpy.fft" else _OF_COMPLEX.get(name)
    if own is None:
        raise _refused(f"{func.__module__}.{name}")
    return own(*args, **options)
