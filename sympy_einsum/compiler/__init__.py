"""Compilation of expressions to functions: instructions, passes over them, source text,
backends."""

from .backends import BACKENDS as BACKENDS, Backend as Backend
from .block_arrays import BlockArray as BlockArray
from .functions import (
    checking_text as checking_text,
    lambdify as lambdify,
    module_texts as module_texts,
    typed_function as typed_function,
)
from .program import Arguments as Arguments, Request as Request
from .schur_complements import in_blocks as in_blocks
from .sparse_matrices import dense_blocks as dense_blocks
