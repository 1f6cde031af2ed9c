"""Parse Python functions as expressions, and generate source code of them and their derivatives."""

from .code_generation import codegen as codegen
from .python_functions import (
    PythonFunction as PythonFunction,
    from_function as from_function,
    parse_python as parse_python,
)
