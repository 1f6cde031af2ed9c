"""From an expression to a function: instructions, passes over them, source text, backends."""

from .backends import BACKENDS as BACKENDS, Backend as Backend
from .functions import lambdify as lambdify, module_of as module_of
from .program import Request as Request
from .stock_code import prepared as prepared, stock_code as stock_code
