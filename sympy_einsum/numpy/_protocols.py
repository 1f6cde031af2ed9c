"""Implementations of NumPy's protocols, which dispatch NumPy's functions of tensors, complex
tensors and SymPy scalars to the namespace."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import FunctionType

import numpy as np
from sympy import Expr, Integer, LambertW

from ..core import Row, UnsupportedError, for_each_row
from ..expressions import Operand, TensorExpr, TensorLike, elementwise, outermost
from ..operations import ComplexTensor
from ._complex import OF_COMPLEX
from ._entrywise import Ufunc
from ._methods import method_of
from ._namespace import FFT, FUNCTIONS, LINALG
from ._refused import refusal
from ._rows import refuse

# SciPy's universal functions, under the names that they give themselves.
_SPECIAL: dict[str, Callable[..., Operand]] = {}

# Those of NumPy's packages that have functions for tensors.
_PACKAGES = {"linalg": LINALG, "fft": FFT}


def array_ufunc(
    self: TensorExpr, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
) -> Operand:
    """Apply a universal function to tensors."""
    if any(isinstance(value, ComplexTensor) for value in inputs):
        return NotImplemented
    name = ufunc.__name__
    is_call = method == "__call__"
    function = FUNCTIONS.get(name) or _SPECIAL.get(name)
    if not is_call:
        function = method_of(FUNCTIONS, name, method)
    if function is None:
        reason = refusal(name) if is_call else None
        raise UnsupportedError(
            f"the ufunc {name} (method {method}) isn't supported on tensor expressions: "
            + (reason or "sympy_einsum.elementwise applies any SymPy function")
        )
    return _called(name, function, inputs, kwargs)


def array_function(
    self: TensorExpr,
    func: FunctionType,
    types: object,
    args: Sequence[object],
    kwargs: dict[str, object],
) -> Operand:
    """Apply another function of NumPy's to tensors."""
    name = func.__name__
    package = (func.__module__ or "").rpartition(".")[2]
    function = _PACKAGES.get(package, FUNCTIONS).get(name)
    if function is None:
        module = func.__module__ or "numpy"
        reason = refusal(name, module)
        raise UnsupportedError(
            f"{module}.{name} isn't supported on tensor expressions"
            + (f": {reason}" if reason else "")
        )
    return _called(name, function, args, kwargs)


def scalar_ufunc(
    self: Expr, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
) -> object:
    """Apply a universal function to SymPy's own scalars. NumPy's way with any object comes
    first: it calls a method of the function's name, but ``exp`` of a power is the exponent,
    and numbers have none."""
    if not any(isinstance(value, TensorExpr) for value in inputs):
        boxed = [_boxed(value) if isinstance(value, Expr) else value for value in inputs]
        try:
            return getattr(ufunc, method)(*boxed, **kwargs)
        except (TypeError, AttributeError):
            if not _are_ours(inputs) or ufunc.__name__ not in FUNCTIONS:
                raise
    return array_ufunc(self, ufunc, method, *inputs, **kwargs)


def complex_ufunc(
    self: ComplexTensor, ufunc: np.ufunc, method: str, *inputs: object, **options: object
) -> object:
    """Apply a universal function to complex tensors."""
    if method != "__call__" or ufunc.__name__ not in OF_COMPLEX or options:
        raise _refused(f"the ufunc {ufunc.__name__} (method {method})")
    return OF_COMPLEX[ufunc.__name__](*inputs)


def complex_function(
    self: ComplexTensor,
    func: FunctionType,
    types: object,
    args: Sequence[object],
    options: Mapping[str, object],
) -> object:
    """Apply another function of NumPy's to complex tensors."""
    name = func.__name__
    own = (FFT if func.__module__ == "numpy.fft" else OF_COMPLEX).get(name)
    if own is None:
        raise _refused(f"{func.__module__}.{name}")
    return own(*args, **options)


def _refused(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name} isn't supported on complex tensors; apply it to .real, .imag or abs of one"
    )


def _are_ours(inputs: Sequence[object]) -> bool:
    """Tell whether scalars contain tensors, or are all numbers and lengths."""
    if not all(isinstance(value, (Expr, int, float, np.number)) for value in inputs):
        return False
    exprs = [value for value in inputs if isinstance(value, Expr)]
    return any(map(outermost, exprs)) or all(value.is_number or value.is_integer for value in exprs)


def _boxed(scalar: Expr) -> np.ndarray:
    """Put a scalar into an array without axes."""
    box = np.empty((), dtype=object)
    box[()] = scalar
    return box


def _called(
    name: str, function: Callable[..., Operand], args: Sequence[object], kwargs: dict[str, object]
) -> Operand:
    """Call a function, refusing by name NumPy's options that it doesn't have."""
    known = _parameters(function)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        refuse(name, {option: v for option, v in kwargs.items() if option not in known})
        kwargs = {option: v for option, v in kwargs.items() if option in known}
    return function(*args, **kwargs)


@lru_cache(maxsize=1024)
def _parameters(function: Callable[..., Operand]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def _lambertw(z: TensorLike, k: np.ndarray, tol: float) -> Operand:
    """Apply LambertW where SciPy's lambertw, a Python function, calls its ufunc with an array as
    the branch."""
    if k.ndim:
        raise UnsupportedError("the branch of lambertw is a single integer, for all entries")
    branch = (Integer(int(k)),) if k else ()
    return elementwise(lambda value: LambertW(value, *branch), z)


_SPECIAL["_lambertw"] = _lambertw


@for_each_row
def _answer(row: Row) -> None:
    for name in row.scipy.split():
        _SPECIAL[name] = Ufunc(row, name)
