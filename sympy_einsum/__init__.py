"""Tensors with symbolic axis lengths for SymPy: einsum, exact derivatives, generated code.

============================ ==================================================================
to make tensors              ``TensorSymbol``, ``tensors``, ``Ones``, ``Zeros``, ``Delta``
to combine them              ``+ - * / ** @``, ``einsum``, slices, NumPy's functions and methods
to apply functions           ``exp``, ``softmax``, ``inv`` …; any other by ``elementwise``
to differentiate             ``gradient``, ``hessian``, ``jacobian``, ``diff``, ``hvp``
to simplify and compare      ``simplify``, ``equal``, ``expand``, ``factor``
to examine                   ``convexity``, ``is_definite``, ``bounds``
to read                      ``print``, ``latex``, ``pretty``, ``draw``
to compute                   ``lambdify``, ``codegen``, ``evaluate``
to read other languages      ``parse``, ``parse_program``, ``parse_python``
NumPy's whole namespace      ``sympy_einsum.numpy``
============================ ==================================================================

Each name tells its shapes, its errors and an example: ``help(se.einsum)``.

Examples
========

>>> import sympy_einsum as se
>>> A, b, x = se.TensorSymbol("A", 3, 2), se.TensorSymbol("b", 3), se.TensorSymbol("x", 2)
>>> loss = ((A @ x - b) ** 2).sum()
>>> gradient = se.gradient(loss, x)
>>> print(gradient)
2*A.T @ (A @ x - b)
>>> print(se.hessian(loss, x))
2*A.T @ A
>>> compiled = se.lambdify([A, b, x], gradient)
>>> compiled([[1, 0], [0, 1], [0, 0]], [1, 2, 3], [0, 0])
array([-2, -4])
"""

import typing as _typing
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from sympy.functions.elementary.piecewise import ExprCondPair as ExprCondPair

from .core import (
    FUNCTIONS_ELSEWHERE as _ELSEWHERE,
    ParseError as ParseError,
    Row as _Row,
    ShapeError as ShapeError,
    TensorError as TensorError,
    UnsupportedError as UnsupportedError,
    for_each_row as _for_each_row,
    function as function,
    hint as _hint,
)
from .expressions import (
    Adj as Adj,
    AdjStack as AdjStack,
    BoundScalar as BoundScalar,
    BoundTensor as BoundTensor,
    Cholesky as Cholesky,
    Cofactors as Cofactors,
    CofactorStack as CofactorStack,
    Constant as Constant,
    Delta as Delta,
    Det as Det,
    DetSigns as DetSigns,
    DetStack as DetStack,
    EigenValues as EigenValues,
    EigenVectors as EigenVectors,
    Einsum as Einsum,
    Elementwise as Elementwise,
    Expm as Expm,
    Extremum as Extremum,
    ExtremumShare as ExtremumShare,
    Fourier as Fourier,
    IntervalProducts as IntervalProducts,
    Inv as Inv,
    InvStack as InvStack,
    LeftVectors as LeftVectors,
    LeviCivita as LeviCivita,
    LogCumSumExp as LogCumSumExp,
    LogDet as LogDet,
    LogDetStack as LogDetStack,
    LogSumExp as LogSumExp,
    MatrixPower as MatrixPower,
    OneHot as OneHot,
    Ones as Ones,
    Picked as Picked,
    Positions as Positions,
    PseudoInverse as PseudoInverse,
    QFactor as QFactor,
    Ranking as Ranking,
    Reshape as Reshape,
    RFactor as RFactor,
    RightVectors as RightVectors,
    RunningSoftmax as RunningSoftmax,
    Scan as Scan,
    Selection as Selection,
    SingularValues as SingularValues,
    Slot as Slot,
    Softmax as Softmax,
    Solution as Solution,
    StepIndex as StepIndex,
    TensorAdd as TensorAdd,
    TensorExpr as TensorExpr,
    TensorSymbol as TensorSymbol,
    Triangle as Triangle,
    Unevaluated as Unevaluated,
    Unit as Unit,
    Unknown as Unknown,
    View as View,
    Zeros as Zeros,
    adj as adj,
    cofactors as cofactors,
    det as det,
    elementwise as elementwise,
    expm as expm,
    inv as inv,
    logdet as logdet,
    matrix_power as matrix_power,
    tensors as tensors,
    unflatten as unflatten,
    unknown as unknown,
)
from .operations import (
    FUNCTIONS as _FUNCTIONS,
    THEOREMS as THEOREMS,
    ComplexTensor as ComplexTensor,
    add_ones as add_ones,
    argcummax as argcummax,
    argcummin as argcummin,
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    around as around,
    batch as batch,
    block as block,
    broadcast_to as broadcast_to,
    cholesky as cholesky,
    clip as clip,
    commute as commute,
    concatenate as concatenate,
    conv as conv,
    convolve as convolve,
    correlate as correlate,
    count_nonzero as count_nonzero,
    cross as cross,
    cummax as cummax,
    cummin as cummin,
    cumprod as cumprod,
    cumsum as cumsum,
    denest as denest,
    diag as diag,
    diagonal as diagonal,
    dot as dot,
    eigh as eigh,
    eigvalsh as eigvalsh,
    einsum as einsum,
    expand_dims as expand_dims,
    eye as eye,
    flip as flip,
    imag as imag,
    inner as inner,
    interval_products as interval_products,
    isclose as isclose,
    kron as kron,
    logcumsumexp as logcumsumexp,
    logsumexp as logsumexp,
    lstsq as lstsq,
    matmul as matmul,
    max as max,
    max_share as max_share,
    mean as mean,
    median as median,
    merge_deltas as merge_deltas,
    min as min,
    min_share as min_share,
    moveaxis as moveaxis,
    nest as nest,
    norm as norm,
    one_hot as one_hot,
    outer as outer,
    pad as pad,
    percentile as percentile,
    pinv as pinv,
    prod as prod,
    ptp as ptp,
    qr as qr,
    quantile as quantile,
    ravel as ravel,
    real as real,
    remove_ones as remove_ones,
    repeat as repeat,
    reshape as reshape,
    roll as roll,
    running_softmax as running_softmax,
    scan as scan,
    sliding_window_view as sliding_window_view,
    slogdet as slogdet,
    softmax as softmax,
    solve as solve,
    sort as sort,
    split as split,
    split_deltas as split_deltas,
    squeeze as squeeze,
    stack as stack,
    std as std,
    substitute_deltas as substitute_deltas,
    sum as sum,
    svd as svd,
    svdvals as svdvals,
    swapaxes as swapaxes,
    take as take,
    take_along_axis as take_along_axis,
    tensordot as tensordot,
    tile as tile,
    to_kronecker as to_kronecker,
    trace as trace,
    transpose as transpose,
    tri as tri,
    tril as tril,
    triu as triu,
    unroll as unroll,
    unstack as unstack,
    var as var,
    vec as vec,
    vectorize_constants as vectorize_constants,
    where as where,
    windows as windows,
    written as written,
)
from .sympy_hooks import Methods as _Methods  # noqa: F401 - importing them attaches them

if _typing.TYPE_CHECKING:
    from . import numpy as numpy
    from .analysis import bounds as bounds
    from .calculus import (
        curl as curl,
        diff as diff,
        divergence as divergence,
        gradient as gradient,
        hessian as hessian,
        hvp as hvp,
        identity_map as identity_map,
        jacobian as jacobian,
        jvp as jvp,
        laplacian as laplacian,
        linearize as linearize,
        minimizer as minimizer,
        projection_map as projection_map,
        solution as solution,
        vjp as vjp,
        zero_map as zero_map,
    )
    from .certificates import convexity as convexity, is_definite as is_definite
    from .compiler import lambdify as lambdify
    from .convert import (
        from_array as from_array,
        from_indexed as from_indexed,
        from_matrix as from_matrix,
        in_semiring as in_semiring,
        to_array as to_array,
        to_indexed as to_indexed,
        to_matrix as to_matrix,
    )
    from .evaluation import evaluate as evaluate
    from .languages import (
        parse as parse,
        parse_program as parse_program,
        read_einsum as read_einsum,
        tokens as tokens,
    )
    from .operations.scalar_names import *  # noqa: F403
    from .optimization import Problem as Problem, pack as pack, stationary as stationary
    from .power_series import limit as limit, series as series, taylor as taylor
    from .printing import (
        draw as draw,
        index_graph as index_graph,
        latex as latex,
        pretty as pretty,
        to_dot as to_dot,
        to_text as to_text,
    )
    from .programs import (
        codegen as codegen,
        from_function as from_function,
        parse_python as parse_python,
    )
    from .rules import (
        compress as compress,
        expand as expand,
        factor as factor,
        simplify as simplify,
    )
    from .statistics import (
        Gaussian as Gaussian,
        covariance as covariance,
        expectation as expectation,
        variance as variance,
    )
    from .verification import (
        Counterexample as Counterexample,
        check_derivative as check_derivative,
        counterexample as counterexample,
        equal as equal,
    )

# Names that load on first use, since not every session needs them.
_LATER = {
    name: package
    for package, names in {
        "analysis": "bounds",
        "calculus": "curl diff divergence gradient hessian hvp identity_map jacobian jvp laplacian "
        "linearize minimizer projection_map solution vjp zero_map",
        "certificates": "convexity is_definite",
        "compiler": "lambdify",
        "convert": "from_array from_indexed from_matrix in_semiring to_array to_indexed to_matrix",
        "evaluation": "evaluate",
        "jupyter": "load_ipython_extension",
        "languages": "parse parse_program read_einsum tokens",
        "optimization": "Problem pack stationary",
        "power_series": "limit series taylor",
        "printing": "draw index_graph latex pretty to_dot to_text",
        "programs": "codegen from_function parse_python",
        "rules": "compress expand factor simplify",
        "statistics": "Gaussian covariance expectation variance",
        "verification": "Counterexample check_derivative counterexample equal",
    }.items()
    for name in names.split()
}


if not _typing.TYPE_CHECKING:  # so that type checkers tell a name that isn't there

    def __getattr__(name):
        if name == "__version__":
            return _import_module("importlib.metadata").version(__name__)
        if name == "numpy":
            return _import_module(".numpy", __name__)
        if name not in _LATER:
            # With name and obj Python says what may have been meant.
            module = _import_module(__name__)
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message + _hint(_ELSEWHERE, name), name=name, obj=module)
        value = globals()[name] = getattr(_import_module(f".{_LATER[name]}", __name__), name)
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_KEPT_FROM_STARS, "__version__"])


__version__: str
# Names that a star import would put in place of Python's functions and of NumPy itself.
_KEPT_FROM_STARS = ["max", "min", "numpy", "sum"]
__all__ = [
    name
    for name in sorted({**globals(), **_LATER})
    if not name.startswith("_") and not isinstance(globals().get(name), _ModuleType)
    if name not in (*_KEPT_FROM_STARS, "load_ipython_extension")
]


@_for_each_row
def _export(row: _Row) -> None:
    if row.name:
        globals()[row.name] = _FUNCTIONS[row.name]
        __all__.append(row.name)
