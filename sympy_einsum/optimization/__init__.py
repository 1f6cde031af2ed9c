"""Optimization problems: posed as expressions, solved by SciPy."""

from .packing import pack as pack
from .problem import Problem as Problem
