"""The protocols by which NumPy's functions of tensors reach ``sympy_einsum.numpy``, which is loaded
by the first call, and methods that NumPy calls on SymPy's scalars."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sympy import Add, Expr, Mul, Number, Pow, Symbol, exp

from ..core import Row, deferred, for_each_row
from ..expressions import Operand, TensorExpr, outermost

TensorExpr.__array_ufunc__ = deferred("numpy._protocols", "array_ufunc")
TensorExpr.__array_function__ = deferred("numpy._protocols", "array_function")
for _kind in (Add, Mul, Pow, exp, Number, Symbol):
    _kind.__array_ufunc__ = deferred("numpy._protocols", "scalar_ufunc")


class _CalledByNumpy:
    """NumPy's function as a method of scalars with tensors inside; to other scalars there is none:
    ``np.sqrt(1 + x @ x)`` gets an Add, and asks it for a method of the function's name.

    No property: that would forbid classes derived from SymPy's an attribute of this name.
    """

    def __init__(self, name: str, function: Callable[..., Operand]):
        self._name = name
        self._function = function

    def __get__(self, scalar: Expr | None, kind: type) -> Callable[..., Operand]:
        if scalar is not None and outermost(scalar):
            return partial(self._function, scalar)
        owner = kind if scalar is None else scalar
        raise AttributeError(f"{owner!r:.80} has no attribute {self._name!r}")


@for_each_row
def _add_methods(row: Row) -> None:
    for name in row.numpy.split():
        is_its_name = getattr(getattr(np, name, None), "__name__", None) == name
        if is_its_name and not hasattr(Expr, name):
            setattr(Expr, name, _CalledByNumpy(name, row.function))
