"""To and from SymPy's matrices, array expressions, indexed sums and explicit arrays."""

from .arrays import from_array as from_array, to_array as to_array
from .explicit import as_explicit as as_explicit
from .indexed import from_indexed as from_indexed, to_indexed as to_indexed
from .matrices import from_matrix as from_matrix, to_matrix as to_matrix
