"""Functions of NumPy's namespace on complex numbers, which are pairs of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from ..operations import ComplexTensor, as_complex

OF_COMPLEX: Mapping[str, Callable[..., Any]] = {
    "real": lambda val: val.real,
    "imag": lambda val: val.imag,
    "angle": ComplexTensor.angle,
    **dict.fromkeys(["conj", "conjugate"], ComplexTensor.conj),
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


def with_complex(namespace: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return the functions of a namespace that complex tensors have too, dispatching to these."""

    def made(function: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def either(*args: object, **options: object) -> object:
            chosen = own if any(isinstance(arg, ComplexTensor) for arg in args) else function
            return chosen(*args, **options)

        return either

    return {name: made(namespace[name], own) for name, own in OF_COMPLEX.items()}
