"""To and from SymPy's matrices, array expressions, indexed sums and explicit arrays."""

from .explicit_entries import as_explicit as as_explicit
from .from_arrays import from_array as from_array
from .from_matrices import (
    from_explicit as from_explicit,
    from_matrix as from_matrix,
    of_tensors as of_tensors,
)
from .from_stock import from_stock as from_stock
from .from_sums import from_indexed as from_indexed
from .in_semirings import in_semiring as in_semiring
from .to_arrays import to_array as to_array
from .to_matrices import to_matrix as to_matrix
from .to_sums import to_indexed as to_indexed
