"""Conversions to and from SymPy's own objects: matrix expressions, array expressions, indexed sums.

Each room holds one kind of object in both directions. Importing this package loads SymPy's modules
for them.
"""

from .arrays import from_array, to_array
from .indexed import from_indexed, to_indexed
from .matrices import from_matrix, to_matrix

__all__ = ["from_array", "from_indexed", "from_matrix", "to_array", "to_indexed", "to_matrix"]
