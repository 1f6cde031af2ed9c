"""Parse text in other languages to expressions."""

from .einsum_text import read_einsum as read_einsum
from .matrixcalculus.declarations import read_declarations as read_declarations
from .matrixcalculus.functions import FUNCTIONS as FUNCTIONS
from .parsing import (
    SYNTAXES as SYNTAXES,
    checked_syntax as checked_syntax,
    parse as parse,
    parse_program as parse_program,
    parse_with_variables as parse_with_variables,
    tokens as tokens,
    variable_kinds as variable_kinds,
)
