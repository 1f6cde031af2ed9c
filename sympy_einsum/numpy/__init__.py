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

import sys as _sys
import typing as _typing

import sympy as _sympy

from ..core import Row as _Row, for_each_row as _for_each_row
from ..operations import (
    SlogdetResult as SlogdetResult,
    array_split as array_split,
    block as block,
    broadcast_to as broadcast_to,
    convolve as convolve,
    correlate as correlate,
    cumulative_sum as cumulative_sum,
    diag as diag,
    diagflat as diagflat,
    diagonal as diagonal,
    diff as diff,
    divide as divide,
    dot as dot,
    expand_dims as expand_dims,
    flip as flip,
    gradient as gradient,
    imag as imag,
    inner as inner,
    isclose as isclose,
    kron as kron,
    matmul as matmul,
    moveaxis as moveaxis,
    outer as outer,
    pad as pad,
    power as power,
    real as real,
    repeat as repeat,
    roll as roll,
    sliding_window_view as sliding_window_view,
    split as split,
    squeeze as squeeze,
    subtract as subtract,
    swapaxes as swapaxes,
    take_along_axis as take_along_axis,
    tensordot as tensordot,
    tile as tile,
    trace as trace,
    transpose as transpose,
    tril as tril,
    triu as triu,
    vdot as vdot,
)
from . import fft as fft, linalg as linalg
from ._complex import of_both as _of_both
from ._conditions import (
    CONDITIONS as _CONDITIONS,
    choose as choose,
    piecewise as piecewise,
    select as select,
    where as where,
)
from ._entrywise import (
    Ufunc as _Ufunc,
    add as add,
    angle as angle,
    clip as clip,
    divmod as divmod,
    iscomplex as iscomplex,
    iscomplexobj as iscomplexobj,
    isreal as isreal,
    isrealobj as isrealobj,
    modf as modf,
    multiply as multiply,
    nan_to_num as nan_to_num,
    negative as negative,
    positive as positive,
    real_if_close as real_if_close,
    round as round,
)
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
from ._orders import (
    argmax as argmax,
    argmin as argmin,
    argpartition as argpartition,
    argsort as argsort,
    bincount as bincount,
    compress as compress,
    max as max,
    median as median,
    min as min,
    partition as partition,
    ptp as ptp,
    sort as sort,
    take as take,
)
from ._pieces import (
    append as append,
    array as array,
    column_stack as column_stack,
    delete as delete,
    dsplit as dsplit,
    dstack as dstack,
    fliplr as fliplr,
    flipud as flipud,
    hsplit as hsplit,
    hstack as hstack,
    insert as insert,
    rot90 as rot90,
    vsplit as vsplit,
    vstack as vstack,
)
from ._polynomials import (
    poly as poly,
    polyadd as polyadd,
    polyder as polyder,
    polydiv as polydiv,
    polyfit as polyfit,
    polyint as polyint,
    polymul as polymul,
    polysub as polysub,
    polyval as polyval,
    vander as vander,
)
from ._products import (
    concatenate as concatenate,
    cross as cross,
    einsum as einsum,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    ravel as ravel,
    reshape as reshape,
    stack as stack,
    unstack as unstack,
    vecdot as vecdot,
    vecmat as vecmat,
)
from ._protocols import protocols as _protocols
from ._ranges import (
    CONSTANTS as _CONSTANTS,
    arange as arange,
    linspace as linspace,
    logspace as logspace,
)
from ._reductions import (
    all as all,
    allclose as allclose,
    any as any,
    array_equal as array_equal,
    count_nonzero as count_nonzero,
    mean as mean,
    prod as prod,
    std as std,
    sum as sum,
    var as var,
)
from ._refused import refusal as _refusal
from ._running import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_prod as cumulative_prod,
    tri as tri,
)
from ._searching import digitize as digitize, lexsort as lexsort, searchsorted as searchsorted
from ._sequences import (
    ediff1d as ediff1d,
    interp as interp,
    trapezoid as trapezoid,
    unwrap as unwrap,
)
from ._shapes import (
    asarray as asarray,
    astype as astype,
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    broadcast_arrays as broadcast_arrays,
    broadcast_shapes as broadcast_shapes,
    copy as copy,
    isscalar as isscalar,
    meshgrid as meshgrid,
    resize as resize,
    rollaxis as rollaxis,
)
from ._statistics import (
    average as average,
    corrcoef as corrcoef,
    cov as cov,
    nanargmax as nanargmax,
    nanargmin as nanargmin,
    nancumprod as nancumprod,
    nancumsum as nancumsum,
    nanmax as nanmax,
    nanmean as nanmean,
    nanmedian as nanmedian,
    nanmin as nanmin,
    nanpercentile as nanpercentile,
    nanprod as nanprod,
    nanquantile as nanquantile,
    nanstd as nanstd,
    nansum as nansum,
    nanvar as nanvar,
    percentile as percentile,
    quantile as quantile,
)

if _typing.TYPE_CHECKING:
    from ._names import *  # noqa: F403

newaxis = None
pi, e, inf = _sympy.pi, _sympy.E, _sympy.oo
euler_gamma, nan = _sympy.EulerGamma, _sympy.nan
true_divide, float_power, pow, permute_dims = divide, power, power, transpose
around, concat, row_stack = round, concatenate, vstack
asanyarray = ascontiguousarray = asarray
amax, amin = max, min
globals().update(_CONDITIONS | _CONSTANTS)
__all__ = [name for name in globals() if not name.startswith("_")]


@_for_each_row
def _add_names(row: _Row) -> None:
    for name in row.numpy.split():
        globals()[name] = _Ufunc(row, name)
        __all__.append(name)


globals().update(_of_both(globals()))


if not _typing.TYPE_CHECKING:  # so that type checkers tell a name that isn't there

    def __getattr__(name):
        reason = _refusal(name)
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}" + (f": {reason}" if reason else ""),
            name=name,
            obj=_sys.modules[__name__],
        )


def __dir__() -> list[str]:
    return sorted(__all__)


_array_ufunc, _array_function, _scalar_ufunc = _protocols(globals())
