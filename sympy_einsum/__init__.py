"""Tensors with symbolic axis lengths for SymPy: einsum, exact derivatives, generated code."""

from . import methods as _methods  # noqa: F401 - importing it attaches the methods
from . import numpy
from .differentiation import diff, gradient, hessian, hvp, jacobian, jvp, vjp
from .einsum import Delta, Einsum, Ones, TensorAdd, View
from .elementwise import Elementwise, Slot, elementwise
from .errors import ParseError, ShapeError, TensorError, UnsupportedError
from .lambdify import lambdify
from .linalg import Adj, Det, Inv, LogDet, adj, det, inv, logdet
from .nodes import TensorExpr, unflatten
from .operations import (
    broadcast_to,
    concatenate,
    diag,
    einsum,
    kron,
    logsumexp,
    norm,
    softmax,
    stack,
    trace,
    where,
)
from .parsing import parse
from .printing import latex, pretty
from .reshape import Reshape
from .scalar_functions import FUNCTIONS as _FUNCTIONS
from .tensors import Constant, Selection, TensorSymbol, Unit, Zeros, tensors
from .verification import check_derivative

globals().update(_FUNCTIONS)

__all__ = [
    "Adj",
    "Constant",
    "Delta",
    "Det",
    "Einsum",
    "Elementwise",
    "Inv",
    "LogDet",
    "Ones",
    "ParseError",
    "Reshape",
    "Selection",
    "ShapeError",
    "Slot",
    "TensorAdd",
    "TensorError",
    "TensorExpr",
    "TensorSymbol",
    "Unit",
    "UnsupportedError",
    "View",
    "Zeros",
    "adj",
    "broadcast_to",
    "check_derivative",
    "concatenate",
    "det",
    "diag",
    "diff",
    "einsum",
    "elementwise",
    "gradient",
    "hessian",
    "hvp",
    "inv",
    "jacobian",
    "jvp",
    "kron",
    "lambdify",
    "latex",
    "logdet",
    "logsumexp",
    "norm",
    "numpy",
    "parse",
    "pretty",
    "softmax",
    "stack",
    "tensors",
    "trace",
    "unflatten",
    "vjp",
    "where",
    *_FUNCTIONS,
]
