"""From an expression to a function: instructions, passes over them, source text, backends."""

from .backends import BACKENDS as BACKENDS, Backend as Backend
from .functions import codegen as codegen, lambdify as lambdify
from .stock_code import prepared as prepared, stock_code as stock_code
