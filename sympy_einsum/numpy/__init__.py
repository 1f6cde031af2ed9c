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

import sympy as _sympy

from ..core import Row as _Row, of_each_row as _of_each_row
from ..operations import (
    add as add,
    broadcast_to as broadcast_to,
    cumulative_sum as cumulative_sum,
    diagonal as diagonal,
    divide as divide,
    dot as dot,
    expand_dims as expand_dims,
    inner as inner,
    kron as kron,
    matmul as matmul,
    moveaxis as moveaxis,
    multiply as multiply,
    outer as outer,
    power as power,
    squeeze as squeeze,
    subtract as subtract,
    swapaxes as swapaxes,
    tensordot as tensordot,
    transpose as transpose,
    tril as tril,
    triu as triu,
    vdot as vdot,
)
from ._entrywise import (
    CONDITIONS as _CONDITIONS,
    clip as clip,
    negative as negative,
    positive as positive,
    select as select,
    ufunc as _ufunc,
    where as where,
)
from ._linalg import SlogdetResult as SlogdetResult, linalg as linalg
from ._making import (
    eye as eye,
    full as full,
    full_like as full_like,
    identity as identity,
    ndim as ndim,
    ones as ones,
    ones_like as ones_like,
    shape as shape,
    size as size,
    zeros as zeros,
    zeros_like as zeros_like,
)
from ._products import (
    concatenate as concatenate,
    diag as diag,
    einsum as einsum,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    ravel as ravel,
    reshape as reshape,
    stack as stack,
    trace as trace,
    vecdot as vecdot,
    vecmat as vecmat,
)
from ._protocols import attach as _attach
from ._reductions import (
    average as average,
    mean as mean,
    prod as prod,
    std as std,
    sum as sum,
    var as var,
)
from ._running import cumsum as cumsum, tri as tri

newaxis = None
pi, e, inf = _sympy.pi, _sympy.E, _sympy.oo
true_divide, float_power, permute_dims = divide, power, transpose
globals().update(_CONDITIONS)
__all__ = [name for name in globals() if not name.startswith("_")]


@_of_each_row
def _add_names(row: _Row) -> None:
    for name in row.numpy.split():
        globals()[name] = _ufunc(name, row.function)
        __all__.append(name)


def __dir__() -> list[str]:
    return sorted(__all__)


_attach(globals())
