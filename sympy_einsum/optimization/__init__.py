"""Optimization problems: posed as expressions, solved by SciPy, or in closed form."""

from .packing import pack as pack
from .problem import Problem as Problem
from .quadratic import stationary as stationary
