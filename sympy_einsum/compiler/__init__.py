"""From an expression to a function: instructions, passes over them, source text, backends."""

from .backends.numpy_backend import NumpyExpressionBackend as NumpyExpressionBackend
from .functions import codegen as codegen, lambdify as lambdify
from .lowering import make_plan as make_plan
from .signature import plain_names as plain_names
from .writing import Writer as Writer
