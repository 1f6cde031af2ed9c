"""SymPy's scalar functions under SymPy's names, for tensors as well as scalars.

A tensor gives an elementwise tensor, scalars give SymPy's own object. Any function that isn't
listed is reached by ``elementwise(f, x)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from ..core import scalar_table as functions, special_functions
from ..expressions import elementwise

_STOCK = [
    "exp",
    "log",
    "sqrt",
    "cbrt",
    "Abs",
    "sign",
    "Max",
    "Min",
    "floor",
    "ceiling",
    "Heaviside",
    "sin",
    "cos",
    "tan",
    "cot",
    "sec",
    "csc",
    "asin",
    "acos",
    "atan",
    "acot",
    "atan2",
    "sinc",
    "sinh",
    "cosh",
    "tanh",
    "coth",
    "sech",
    "csch",
    "asinh",
    "acosh",
    "atanh",
    "acoth",
    "erf",
    "erfc",
    "erfi",
    "erfinv",
    "erfcinv",
    "gamma",
    "loggamma",
    "digamma",
    "trigamma",
    "polygamma",
    "beta",
    "besselj",
    "bessely",
    "besseli",
    "besselk",
    "airyai",
    "airybi",
    "LambertW",
    "zeta",
    "factorial",
    "binomial",
    "Ei",
    "expint",
    "Si",
    "Ci",
    "Shi",
    "Chi",
    "fresnels",
    "fresnelc",
    "conjugate",
    "re",
    "im",
]


def _on_tensors(function: Any, name: str) -> Callable[..., Any]:
    def apply(*tensors: Any) -> Any:
        return elementwise(function, *tensors)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = (
        f"``{name}`` entry by entry: a tensor gives a tensor of its shape, a scalar SymPy's own "
        "object; shapes must be equal, axes of length 1 stretch."
    )
    return apply


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _on_tensors(getattr(sympy, name), name) for name in _STOCK
}
FUNCTIONS.update(
    {
        function.__name__: _on_tensors(function, function.__name__)
        for function in (
            functions.relu,
            functions.sigmoid,
            functions.softplus,
            functions.logaddexp,
            *special_functions.FUNCTIONS,
        )
    }
)
