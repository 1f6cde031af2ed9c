"""NumPy's namespace on symbols: its names, signatures and semantics for tensors and SymPy scalars.

Plain ``numpy`` functions and ufuncs called on tensors, and the ufuncs of ``scipy.special``, arrive
here through NumPy's protocols.

Examples
========

>>> import numpy as np
>>> from sympy import symbols
>>> import sympy_einsum as se
>>> import sympy_einsum.numpy as snp
>>> m, n = symbols("m n", integer=True, positive=True)
>>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
>>> snp.sum(snp.exp(A @ x)) == np.sum(np.exp(A @ x))
True
"""

# Each name is a row of a table: _rows.py says how one is added, __init__.pyi is made from them.

import sys as _sys

from ..core import Row as _Row, for_each_row as _for_each_row
from ..operations import SlogdetResult
from . import fft, linalg
from ._namespace import FUNCTIONS as _FUNCTIONS, VALUES as _VALUES
from ._refused import refusal as _refusal

globals().update(_FUNCTIONS | _VALUES)
__all__ = ["SlogdetResult", "fft", "linalg", *_FUNCTIONS, *_VALUES]


@_for_each_row
def _add_names(row: _Row) -> None:
    for name in row.numpy.split():
        if name not in globals():
            globals()[name] = _FUNCTIONS[name]
            __all__.append(name)


def __getattr__(name: str) -> object:
    reason = _refusal(name)
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}" + (f": {reason}" if reason else ""),
        name=name,
        obj=_sys.modules[__name__],
    )


def __dir__() -> list[str]:
    return sorted(__all__)
