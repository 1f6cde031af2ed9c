"""Tensors with symbolic axis lengths for SymPy: einsum, exact derivatives, generated code."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sympy.functions.elementary.piecewise import ExprCondPair

from . import numpy
from .calculus import diff, gradient, hessian, hvp, jacobian, jvp, vjp
from .core import (
    ParseError,
    Row as _Row,
    ShapeError,
    TensorError,
    UnsupportedError,
    of_each_row as _of_each_row,
)
from .expressions import (
    Adj,
    Cofactors,
    Constant,
    Delta,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    LogSumExp,
    Ones,
    Reshape,
    Selection,
    Slot,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unit,
    View,
    Zeros,
    adj,
    cofactors,
    det,
    elementwise,
    inv,
    logdet,
    tensors,
    unflatten,
)
from .operations import (
    FUNCTIONS as _FUNCTIONS,
    around,
    broadcast_to,
    clip,
    concatenate,
    count_nonzero,
    cumsum,
    diag,
    diagonal,
    dot,
    einsum,
    expand_dims,
    eye,
    imag,
    inner,
    isclose,
    kron,
    logsumexp,
    matmul,
    matrix_power,
    mean,
    moveaxis,
    norm,
    outer,
    prod,
    ravel,
    real,
    reshape,
    softmax,
    squeeze,
    stack,
    std,
    sum_ as sum,  # noqa: F401 - see __all__
    swapaxes,
    tensordot,
    trace,
    transpose,
    tri,
    tril,
    triu,
    unstack,
    var,
    where,
)
from .rules import expand, factor, simplify
from .sympy_hooks import Methods as _Methods  # noqa: F401 - importing them attaches them

if TYPE_CHECKING:
    from .compiler import codegen, lambdify
    from .convert import from_array, from_indexed, from_matrix, to_array, to_indexed, to_matrix
    from .languages import parse
    from .printing import draw, latex, pretty, to_dot
    from .verification import check_derivative, equal

# What loads when it is first used, since not every session does.
_LATER = {
    "codegen": "compiler",
    "lambdify": "compiler",
    "from_array": "convert",
    "from_indexed": "convert",
    "from_matrix": "convert",
    "to_array": "convert",
    "to_indexed": "convert",
    "to_matrix": "convert",
    "parse": "languages",
    "draw": "printing",
    "latex": "printing",
    "pretty": "printing",
    "to_dot": "printing",
    "check_derivative": "verification",
    "equal": "verification",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


# Without sum, which a star import would put in the place of Python's.
__all__ = [
    "Adj",
    "Cofactors",
    "Constant",
    "Delta",
    "Det",
    "Einsum",
    "Elementwise",
    "ExprCondPair",
    "Inv",
    "LogDet",
    "LogSumExp",
    "Ones",
    "ParseError",
    "Reshape",
    "Selection",
    "ShapeError",
    "Slot",
    "Softmax",
    "TensorAdd",
    "TensorError",
    "TensorExpr",
    "TensorSymbol",
    "Triangle",
    "Unit",
    "UnsupportedError",
    "View",
    "Zeros",
    "adj",
    "around",
    "broadcast_to",
    "check_derivative",
    "clip",
    "codegen",
    "cofactors",
    "concatenate",
    "count_nonzero",
    "cumsum",
    "det",
    "diag",
    "diagonal",
    "diff",
    "dot",
    "draw",
    "einsum",
    "elementwise",
    "equal",
    "expand",
    "expand_dims",
    "eye",
    "factor",
    "from_array",
    "from_indexed",
    "from_matrix",
    "gradient",
    "hessian",
    "hvp",
    "imag",
    "inner",
    "inv",
    "isclose",
    "jacobian",
    "jvp",
    "kron",
    "lambdify",
    "latex",
    "logdet",
    "logsumexp",
    "matmul",
    "matrix_power",
    "mean",
    "moveaxis",
    "norm",
    "numpy",
    "outer",
    "parse",
    "pretty",
    "prod",
    "ravel",
    "real",
    "reshape",
    "simplify",
    "softmax",
    "squeeze",
    "stack",
    "std",
    "swapaxes",
    "tensordot",
    "tensors",
    "to_array",
    "to_dot",
    "to_indexed",
    "to_matrix",
    "trace",
    "transpose",
    "tri",
    "tril",
    "triu",
    "unflatten",
    "unstack",
    "var",
    "vjp",
    "where",
]


@_of_each_row
def _export(row: _Row) -> None:
    if row.name:
        globals()[row.name] = _FUNCTIONS[row.name]
        __all__.append(row.name)
