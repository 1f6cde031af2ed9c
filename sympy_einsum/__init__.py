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

from importlib import import_module
from typing import TYPE_CHECKING

from sympy.functions.elementary.piecewise import ExprCondPair

from .core import (
    FUNCTIONS_ELSEWHERE as _ELSEWHERE,
    ParseError,
    Row as _Row,
    ShapeError,
    TensorError,
    UnsupportedError,
    for_each_row as _for_each_row,
    function,
    hint as _hint,
)
from .expressions import (
    Adj,
    AdjStack,
    BoundScalar,
    BoundTensor,
    Cholesky,
    Cofactors,
    CofactorStack,
    Constant,
    Delta,
    Det,
    DetSigns,
    DetStack,
    EigenValues,
    EigenVectors,
    Einsum,
    Elementwise,
    Expm,
    Extremum,
    ExtremumShare,
    Fourier,
    IntervalProducts,
    Inv,
    InvStack,
    LeftVectors,
    LeviCivita,
    LogCumSumExp,
    LogDet,
    LogDetStack,
    LogSumExp,
    MatrixPower,
    OneHot,
    Ones,
    Picked,
    Positions,
    PseudoInverse,
    QFactor,
    Ranking,
    Reshape,
    RFactor,
    RightVectors,
    RunningSoftmax,
    Scan,
    Selection,
    SingularValues,
    Slot,
    Softmax,
    Solution,
    StepIndex,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unit,
    Unknown,
    View,
    Zeros,
    adj,
    cofactors,
    det,
    elementwise,
    expm,
    inv,
    logdet,
    matrix_power,
    tensors,
    unflatten,
    unknown,
)
from .operations import (
    FUNCTIONS as _FUNCTIONS,
    THEOREMS,
    ComplexTensor,
    add_ones,
    argcummax,
    argcummin,
    argmax,
    argmin,
    argsort,
    around,
    batch,
    block,
    broadcast_to,
    cholesky,
    clip,
    commute,
    concatenate,
    conv,
    convolve,
    correlate,
    count_nonzero,
    cross,
    cummax,
    cummin,
    cumprod,
    cumsum,
    denest,
    diag,
    diagonal,
    dot,
    eigh,
    eigvalsh,
    einsum,
    expand_dims,
    eye,
    flip,
    imag,
    inner,
    interval_products,
    isclose,
    kron,
    logcumsumexp,
    logsumexp,
    lstsq,
    matmul,
    max as max,
    max_share,
    mean,
    median,
    merge_deltas,
    min as min,
    min_share,
    moveaxis,
    nest,
    norm,
    one_hot,
    outer,
    pad,
    percentile,
    pinv,
    prod,
    ptp,
    qr,
    quantile,
    ravel,
    real,
    remove_ones,
    repeat,
    reshape,
    roll,
    running_softmax,
    scan,
    sliding_window_view,
    slogdet,
    softmax,
    solve,
    sort,
    split,
    split_deltas,
    squeeze,
    stack,
    std,
    substitute_deltas,
    sum as sum,
    svd,
    svdvals,
    swapaxes,
    take,
    take_along_axis,
    tensordot,
    tile,
    to_kronecker,
    trace,
    transpose,
    tri,
    tril,
    triu,
    unroll,
    unstack,
    var,
    vec,
    vectorize_constants,
    where,
    windows,
    written,
)
from .sympy_hooks import Methods as _Methods  # noqa: F401 - importing them attaches them

if TYPE_CHECKING:
    from . import numpy as numpy
    from .analysis import bounds
    from .calculus import (
        curl,
        diff,
        divergence,
        gradient,
        hessian,
        hvp,
        identity_map,
        jacobian,
        jvp,
        laplacian,
        linearize,
        minimizer,
        projection_map,
        solution,
        stationary,
        vjp,
        zero_map,
    )
    from .certificates import convexity, is_definite
    from .compiler import lambdify
    from .convert import (
        from_array,
        from_indexed,
        from_matrix,
        in_semiring,
        to_array,
        to_indexed,
        to_matrix,
    )
    from .evaluation import evaluate
    from .languages import parse, parse_program, read_einsum, tokens
    from .operations import scalar_names as _scalar_names
    from .operations.scalar_names import *  # noqa: F403
    from .optimization import Problem, pack
    from .power_series import limit, series, taylor
    from .printing import draw, index_graph, latex, pretty, to_dot, to_text
    from .programs import codegen, from_function, parse_python
    from .rules import compress, expand, factor, simplify
    from .statistics import Gaussian, covariance, expectation, variance
    from .verification import Counterexample, check_derivative, counterexample, equal

# Names that load on first use, since not every session needs them.
_LATER = {
    name: package
    for package, names in {
        "analysis": "bounds",
        "calculus": "curl diff divergence gradient hessian hvp identity_map jacobian jvp laplacian "
        "linearize minimizer projection_map solution stationary vjp zero_map",
        "certificates": "convexity is_definite",
        "compiler": "lambdify",
        "convert": "from_array from_indexed from_matrix in_semiring to_array to_indexed to_matrix",
        "evaluation": "evaluate",
        "jupyter": "load_ipython_extension",
        "languages": "parse parse_program read_einsum tokens",
        "optimization": "Problem pack",
        "power_series": "limit series taylor",
        "printing": "draw index_graph latex pretty to_dot to_text",
        "programs": "codegen from_function parse_python",
        "rules": "compress expand factor simplify",
        "statistics": "Gaussian covariance expectation variance",
        "verification": "Counterexample check_derivative counterexample equal",
    }.items()
    for name in names.split()
}


if not TYPE_CHECKING:  # so that type checkers tell a name that isn't there

    def __getattr__(name):
        if name == "__version__":
            return import_module("importlib.metadata").version(__name__)
        if name == "numpy":
            return import_module(".numpy", __name__)
        if name not in _LATER:
            # With name and obj Python says what may have been meant.
            module = import_module(__name__)
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message + _hint(_ELSEWHERE, name), name=name, obj=module)
        value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_KEPT_FROM_STARS, "__version__"])


__version__: str
# Names that a star import would put in place of Python's functions and of NumPy itself.
_KEPT_FROM_STARS = ["max", "min", "numpy", "sum"]
__all__ = [
    "THEOREMS",
    "Adj",
    "AdjStack",
    "BoundScalar",
    "BoundTensor",
    "Cholesky",
    "CofactorStack",
    "Cofactors",
    "ComplexTensor",
    "Constant",
    "Counterexample",
    "Delta",
    "Det",
    "DetSigns",
    "DetStack",
    "EigenValues",
    "EigenVectors",
    "Einsum",
    "Elementwise",
    "Expm",
    "ExprCondPair",
    "Extremum",
    "ExtremumShare",
    "Fourier",
    "Gaussian",
    "IntervalProducts",
    "Inv",
    "InvStack",
    "LeftVectors",
    "LeviCivita",
    "LogCumSumExp",
    "LogDet",
    "LogDetStack",
    "LogSumExp",
    "MatrixPower",
    "OneHot",
    "Ones",
    "ParseError",
    "Picked",
    "Positions",
    "Problem",
    "PseudoInverse",
    "QFactor",
    "RFactor",
    "Ranking",
    "Reshape",
    "RightVectors",
    "RunningSoftmax",
    "Scan",
    "Selection",
    "ShapeError",
    "SingularValues",
    "Slot",
    "Softmax",
    "Solution",
    "StepIndex",
    "TensorAdd",
    "TensorError",
    "TensorExpr",
    "TensorSymbol",
    "Triangle",
    "Unevaluated",
    "Unit",
    "Unknown",
    "UnsupportedError",
    "View",
    "Zeros",
    "add_ones",
    "adj",
    "argcummax",
    "argcummin",
    "argmax",
    "argmin",
    "argsort",
    "around",
    "batch",
    "block",
    "bounds",
    "broadcast_to",
    "check_derivative",
    "cholesky",
    "clip",
    "codegen",
    "cofactors",
    "commute",
    "compress",
    "concatenate",
    "conv",
    "convexity",
    "convolve",
    "correlate",
    "count_nonzero",
    "counterexample",
    "covariance",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "curl",
    "denest",
    "det",
    "diag",
    "diagonal",
    "diff",
    "divergence",
    "dot",
    "draw",
    "eigh",
    "eigvalsh",
    "einsum",
    "elementwise",
    "equal",
    "evaluate",
    "expand",
    "expand_dims",
    "expectation",
    "expm",
    "eye",
    "factor",
    "flip",
    "from_array",
    "from_function",
    "from_indexed",
    "from_matrix",
    "function",
    "gradient",
    "hessian",
    "hvp",
    "identity_map",
    "imag",
    "in_semiring",
    "index_graph",
    "inner",
    "interval_products",
    "inv",
    "is_definite",
    "isclose",
    "jacobian",
    "jvp",
    "kron",
    "lambdify",
    "laplacian",
    "latex",
    "limit",
    "linearize",
    "logcumsumexp",
    "logdet",
    "logsumexp",
    "lstsq",
    "matmul",
    "matrix_power",
    "max_share",
    "mean",
    "median",
    "merge_deltas",
    "min_share",
    "minimizer",
    "moveaxis",
    "nest",
    "norm",
    "one_hot",
    "outer",
    "pack",
    "pad",
    "parse",
    "parse_program",
    "parse_python",
    "percentile",
    "pinv",
    "pretty",
    "prod",
    "projection_map",
    "ptp",
    "qr",
    "quantile",
    "ravel",
    "read_einsum",
    "real",
    "remove_ones",
    "repeat",
    "reshape",
    "roll",
    "running_softmax",
    "scan",
    "series",
    "simplify",
    "sliding_window_view",
    "slogdet",
    "softmax",
    "solution",
    "solve",
    "sort",
    "split",
    "split_deltas",
    "squeeze",
    "stack",
    "stationary",
    "std",
    "substitute_deltas",
    "svd",
    "svdvals",
    "swapaxes",
    "take",
    "take_along_axis",
    "taylor",
    "tensordot",
    "tensors",
    "tile",
    "to_array",
    "to_dot",
    "to_indexed",
    "to_kronecker",
    "to_matrix",
    "to_text",
    "tokens",
    "trace",
    "transpose",
    "tri",
    "tril",
    "triu",
    "unflatten",
    "unknown",
    "unroll",
    "unstack",
    "var",
    "variance",
    "vec",
    "vectorize_constants",
    "vjp",
    "where",
    "windows",
    "written",
    "zero_map",
]

# Of an installed package, type checkers take for private what isn't in __all__.
if TYPE_CHECKING:
    __all__ += _scalar_names.__all__


@_for_each_row
def _export(row: _Row) -> None:
    if row.name:
        globals()[row.name] = _FUNCTIONS[row.name]
        __all__.append(row.name)
