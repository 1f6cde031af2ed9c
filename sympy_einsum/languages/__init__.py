"""Text in other languages, read as expressions."""

from .matrixcalculus.declarations import read_declarations as read_declarations
from .parsing import parse as parse, parse_with_variables as parse_with_variables
