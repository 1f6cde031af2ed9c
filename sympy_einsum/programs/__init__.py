"""Functions of Python, read as expressions, and written with their derivatives as text again."""

from .python_functions import (
    PythonFunction as PythonFunction,
    from_function as from_function,
    parse_python as parse_python,
)
from .texts import codegen as codegen
