"""Tensors with symbolic axis lengths for SymPy: einsum, exact derivatives, generated code."""

from sympy.functions.elementary.piecewise import ExprCondPair

from . import methods as _methods  # noqa: F401 - importing it attaches the methods
from . import numpy
from . import stock as _stock  # noqa: F401 - and so here, for sympy.lambdify
from .convert import (
    from_array,
    from_indexed,
    from_matrix,
    to_array,
    to_indexed,
    to_matrix,
)
from .differentiation import diff, gradient, hessian, hvp, jacobian, jvp, vjp
from .drawing import draw, to_dot
from .einsum import Delta, Einsum, Ones, TensorAdd, View
from .elementwise import Elementwise, Slot, elementwise
from .errors import ParseError, ShapeError, TensorError, UnsupportedError
from .expansion import expand, factor
from .lambdify import codegen, lambdify
from .linalg import Adj, Cofactors, Det, Inv, LogDet, adj, cofactors, det, inv, logdet
from .nodes import TensorExpr, unflatten
from .operations import (
    broadcast_to,
    concatenate,
    diag,
    diagonal,
    dot,
    einsum,
    expand_dims,
    eye,
    inner,
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
    reshape,
    softmax,
    squeeze,
    stack,
    std,
    swapaxes,
    tensordot,
    trace,
    transpose,
    var,
    where,
)
from .operations import sum_ as sum  # noqa: F401 - see __all__
from .parsing import parse
from .printing import latex, pretty
from .reshape import Reshape
from .scalar_functions import FUNCTIONS as _FUNCTIONS
from .simplify import simplify
from .softmax import LogSumExp, Softmax
from .tensors import Constant, Selection, TensorSymbol, Unit, Zeros, tensors
from .verification import check_derivative, equal

globals().update(_FUNCTIONS)

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
    "Unit",
    "UnsupportedError",
    "View",
    "Zeros",
    "adj",
    "cofactors",
    "broadcast_to",
    "check_derivative",
    "codegen",
    "concatenate",
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
    "factor",
    "expand_dims",
    "eye",
    "from_array",
    "from_indexed",
    "from_matrix",
    "gradient",
    "hessian",
    "hvp",
    "inner",
    "inv",
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
    "unflatten",
    "var",
    "vjp",
    "where",
    *_FUNCTIONS,
]
