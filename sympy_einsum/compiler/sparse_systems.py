"""Systems with sparse matrices in compiled functions; generated code calls ``SparseSystem``."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .schur_complements import Factorization, factorization_of


class SparseSystem:
    """A sparse matrix, factored once for all solutions and its determinant.

    >>> from scipy.sparse import csr_array
    >>> system = SparseSystem(csr_array(np.array([[2.0, 1.0], [0.0, 4.0]])))
    >>> system.solve(np.array([4.0, 8.0])), system.solve(np.array([4.0, 8.0]), transposed=True)
    (array([1., 2.]), array([2. , 1.5]))
    """

    def __init__(self, matrix: Any):
        self.matrix = matrix
        # Factors of single precision have too few digits where many entries are filled in.
        self.kind = np.result_type(matrix, np.float32)
        self.wide = np.result_type(self.kind, float)

    @cached_property
    def _factors(self) -> Factorization:
        return factorization_of(self.matrix.astype(self.wide))

    def solve(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        """Return the solution; raises LinAlgError where the matrix is singular."""
        if np.iscomplexobj(right) and self.wide.kind == "f":
            return self.solve(right.real, transposed) + 1j * self.solve(right.imag, transposed)
        found = self._factors.solve(right.astype(self.wide, copy=False), transposed)
        return np.asarray(found, np.result_type(right, self.kind))

    def inv(self) -> np.ndarray:
        """Return the inverse, which is dense."""
        return np.linalg.inv(self.matrix.toarray())

    def logdet(self) -> Any:
        """Return log |det|; minus infinity for a singular matrix."""
        try:
            return self.kind.type(self._factors.logdet())
        except np.linalg.LinAlgError:
            return self.kind.type(-np.inf)
