"""Tensors with symbolic axis lengths for SymPy: einsum, exact derivatives, generated code."""

from . import methods as _methods  # noqa: F401 - importing it attaches the methods
from . import numpy
from .differentiation import diff, gradient, hessian, hvp, jacobian, jvp, vjp
from .einsum import Delta, Einsum, Ones, TensorAdd
from .elementwise import Elementwise, elementwise
from .errors import ParseError, ShapeError, TensorError, UnsupportedError
from .lambdify import lambdify
from .linalg import adj, det, inv, logdet
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
from .printing import latex, pretty
from .scalar_functions import FUNCTIONS as _FUNCTIONS
from .tensors import Constant, TensorExpr, TensorSymbol, Zeros, tensors
from .verification import check_derivative

globals().update(_FUNCTIONS)

__all__ = [
    "Constant",
    "Delta",
    "Einsum",
    "Elementwise",
    "Ones",
    "ParseError",
    "ShapeError",
    "TensorAdd",
    "TensorError",
    "TensorExpr",
    "TensorSymbol",
    "UnsupportedError",
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
    "pretty",
    "softmax",
    "stack",
    "tensors",
    "trace",
    "vjp",
    "where",
    *_FUNCTIONS,
]
