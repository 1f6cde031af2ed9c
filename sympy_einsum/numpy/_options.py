"""NumPy's options that mean nothing for symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, ParamSpec, TypeAlias

import numpy as np
from sympy import Expr

from ..core import UnsupportedError
from ..expressions import Operand

# Axes and lengths as NumPy's functions take them.
Axes: TypeAlias = int | Sequence[int] | None
Lengths: TypeAlias = Expr | int | Sequence[Expr | int]

P = ParamSpec("P")

# NumPy's options that say nothing about the values, and the defaults of others.
_HARMLESS = {"optimize", "copy", "subok", "device"}
_DEFAULTS: dict[str, bool | str] = {
    "where": True,
    "order": "K",
    "casting": "same_kind",
    "keepdims": False,
    "returned": False,
}


class Example(NamedTuple):
    """A call, the values of x in it, and the result."""

    call: str
    values: str
    result: str


def named(
    function: Callable[P, Operand], name: str, about: str, errors: str, example: Example
) -> Callable[P, Operand]:
    """A function that another has made, by its name in NumPy."""
    function.__name__ = function.__qualname__ = name
    call, values, result = example
    function.__doc__ = f"""``numpy.{name}`` {about}.

    {errors}

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", {values.count(",") + 1})
    >>> se.lambdify([x], snp.{name}({call}))({values})
    {result}
    """
    return function


def refuse(name: str, options: Mapping[str, object]) -> None:
    """NumPy's options that mean nothing for symbols; at their defaults they're let through."""
    for option, value in options.items():
        known = isinstance(value, (bool, str)) and value == _DEFAULTS.get(option)
        if not known and value is not None and option not in _HARMLESS:
            raise UnsupportedError(f"{name} doesn't support {option}={value!r} on symbols")


def is_fortran_order(name: str, order: str) -> bool:
    """Tell whether entries are taken with the first axis the fastest; in C's order the last one
    is."""
    if not isinstance(order, str) or order not in ("C", "F"):
        raise UnsupportedError(
            f"{name} knows the orders 'C' and 'F', not {order!r}: expressions have no memory"
        )
    return order == "F"


def check_type(dtype: object) -> None:
    """Raise UnsupportedError for a type that would change entries, which are real numbers."""
    try:
        kind = np.dtype(dtype).kind  # type: ignore[call-overload]
    except TypeError:
        kind = ""
    if kind != "f":
        raise UnsupportedError(
            f"entries of tensors are real numbers and can't become {dtype!r}; round them with trunc"
        )
