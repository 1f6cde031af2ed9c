"""Problems of optimization: posed as expressions, solved by SciPy."""

from .problem import Problem as Problem
