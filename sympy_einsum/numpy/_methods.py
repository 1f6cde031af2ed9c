"""Methods of universal functions of two arguments: reduce, accumulate and outer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ..expressions import Operand, TensorLike, as_operand, order_of
from ..operations import cummax, cummin, expand_dims, logcumsumexp, logsumexp

_Function = Callable[..., Operand]

# Functions along an axis, some by their names in NumPy, of universal functions.
_ALONG: dict[str, dict[str, _Function | str]] = {
    "reduce": {
        "add": "sum",
        "multiply": "prod",
        "maximum": "max",
        "minimum": "min",
        "logaddexp": logsumexp,
        "logical_and": "all",
        "logical_or": "any",
    },
    "accumulate": {
        "add": "cumsum",
        "multiply": "cumprod",
        "maximum": cummax,
        "minimum": cummin,
        "logaddexp": logcumsumexp,
    },
}


def method_of(namespace: Mapping[str, _Function], name: str, method: str) -> _Function | None:
    """Return a method of a universal function, by its name; None where there is none."""
    if method == "outer":
        return partial(_outer, namespace[name]) if name in namespace else None
    along = _ALONG.get(method, {}).get(name)
    return _first_axis(namespace[along] if isinstance(along, str) else along) if along else None


def attach_methods(namespace: Mapping[str, _Function]) -> None:
    """Attach the methods of NumPy's universal functions to the functions of a namespace."""
    for name, function in namespace.items():
        ufunc = getattr(np, name, None)
        if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.signature is None:
            for kind in ("reduce", "accumulate", "outer"):
                method = method_of(namespace, ufunc.__name__, kind)
                if method:
                    setattr(function, kind, method)


def _first_axis(function: _Function) -> _Function:
    """Make a method of a function along an axis, whose default is the first axis."""
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    named = [own.replace(default=0) if own.name == "axis" else own for own in parameters]

    def method(a: TensorLike, axis: object = 0, **options: object) -> Operand:
        return function(a, axis=axis, **options)

    method.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return method


def _outer(function: _Function, a: TensorLike, b: TensorLike) -> Operand:
    """Apply a function to every pair of entries of two tensors."""
    a, b = as_operand(a), as_operand(b)
    before, behind = range(order_of(a)), range(order_of(a), order_of(a) + order_of(b))
    return function(expand_dims(a, (*behind,)), expand_dims(b, (*before,)))
