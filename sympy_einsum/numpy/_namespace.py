"""The functions of NumPy's namespace and of its packages, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import sympy

from .. import operations as ops
from ..core import Row, for_each_row
from . import (
    _conditions,
    _entrywise,
    _fft,
    _linalg,
    _making,
    _orders,
    _polynomials,
    _products,
    _reductions,
    _sequences,
    _shapes,
)
from ._complex import with_complex
from ._entrywise import Ufunc
from ._methods import attach_methods
from ._rows import NumpyRow, functions_of


class Family(NamedTuple):
    """Functions on one page of the reference: rows, and operations with the names and parameters of
    NumPy's functions."""

    title: str
    rows: Iterable[NumpyRow]
    operations: str = ""

    @property
    def names(self) -> list[str]:
        """The names of all functions."""
        return [*[row.name for row in self.rows], *self.operations.split()]


FAMILIES = {
    "entrywise": Family(
        "entry by entry", _entrywise.ROWS, "divide imag isclose power real subtract"
    ),
    "conditions": Family("conditions", _conditions.ROWS),
    "making": Family("making arrays", _making.ROWS),
    "shapes": Family(
        "shapes and pieces",
        _shapes.ROWS,
        "array_split block broadcast_to diag diagflat diagonal expand_dims flip moveaxis pad "
        "repeat roll sliding_window_view split squeeze swapaxes tile transpose tril triu",
    ),
    "products": Family(
        "products and polynomials",
        (*_products.ROWS, *_polynomials.ROWS),
        "convolve correlate dot inner kron matmul outer tensordot trace vdot",
    ),
    "reductions": Family("sums and statistics", _reductions.ROWS),
    "orders": Family("orders and searches", _orders.ROWS, "take_along_axis"),
    "sequences": Family("along an axis", _sequences.ROWS, "cumulative_sum diff gradient"),
}
PACKAGES = {
    "linalg": Family(
        "numpy.linalg",
        _linalg.ROWS,
        "cholesky cond matmul outer qr slogdet solve svdvals tensordot tensorinv tensorsolve",
    ),
    "fft": Family(
        "numpy.fft",
        _fft.ROWS,
        "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq "
        "rfftn",
    ),
}
# Names of functions that have another one.
ALIASES = {
    "amax": "max",
    "amin": "min",
    "around": "round",
    "asanyarray": "asarray",
    "ascontiguousarray": "asarray",
    "bitwise_invert": "invert",
    "bitwise_not": "invert",
    "concat": "concatenate",
    "float_power": "power",
    "permute_dims": "transpose",
    "pow": "power",
    "row_stack": "vstack",
    "true_divide": "divide",
}
VALUES = {
    "newaxis": None,
    "pi": sympy.pi,
    "e": sympy.E,
    "inf": sympy.oo,
    "euler_gamma": sympy.EulerGamma,
    "nan": sympy.nan,
}


def _functions(family: Family, module: str) -> dict[str, Callable[..., Any]]:
    operations = {name: getattr(ops, name) for name in family.operations.split()}
    return operations | functions_of(family.rows, module)


FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _family in FAMILIES.values():
    FUNCTIONS.update(_functions(_family, "sympy_einsum.numpy"))


@for_each_row
def _add_ufuncs(row: Row) -> None:
    FUNCTIONS.update({name: Ufunc(row, name) for name in row.numpy.split()})


FUNCTIONS.update(with_complex(FUNCTIONS))
FUNCTIONS.update({alias: FUNCTIONS[name] for alias, name in ALIASES.items()})
attach_methods(FUNCTIONS)
LINALG = _functions(PACKAGES["linalg"], "sympy_einsum.numpy.linalg") | {
    "vecdot": FUNCTIONS["vecdot"]
}
FFT = _functions(PACKAGES["fft"], "sympy_einsum.numpy.fft")
