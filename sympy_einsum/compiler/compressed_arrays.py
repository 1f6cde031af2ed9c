"""Results as a small core and the pattern that places its entries.

What is computed with them is what ``Compressed`` does with symbols, compiled for their shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..core import as_shape, tuning
from ..expressions import TensorSymbol
from ..rules import Blocks, Compressed
from .calls import ByArguments, Compiled, CompiledFunction
from .program import Request

Lengths = tuple[int, ...]


@dataclass(eq=False, repr=False, slots=True)
class CompressedArray:
    """An array H whose entries are those of a small core, zero-padded and repeated;
    ``lambdify(..., structured=True)`` returns it. It is computed with by its arrays' library.

    The first half of its axes are rows, the second half columns, as in a Hessian.

    Attributes
    ==========

    core : the array that is stored, or a number; a tuple of some where H is their Kronecker product
    pattern : the index string that places it, ``"ab->iaib"``, or them, ``"ac,bd->abcd"``
    shape : the shape of H
    """

    core: Any
    pattern: str
    shape: Lengths

    @property
    def order(self) -> int:
        """The number of axes of H."""
        return len(self.shape)

    @property
    def cores(self) -> tuple[Any, ...]:
        """The core, or those whose Kronecker product H is."""
        return self.core if isinstance(self.core, tuple) else (self.core,)

    def to_dense(self) -> Any:
        """Return H itself, an array."""
        return self._function("to_dense")(*self.cores)

    def matvec(self, v: Any) -> Any:
        """Multiply H by v, and sum over the axes of v, which are the last ones of H.

        Raises ShapeError where v doesn't fit these.
        """
        return self._function("matvec", _shape(v))(*self.cores, v)

    def solve(self, b: Any) -> Any:
        """Return the x with H x = b; axes of b after those of the rows are other right-hand sides.
        Singular cores do as in the array library's ``solve``.

        Raises ShapeError where the first axes of b aren't the rows, UnsupportedError where H isn't
        square.
        """
        return self._function("solve", _shape(b))(*self.cores, b)

    def diagonal(self) -> Any:
        """Return the entries whose rows and columns are equal, of the shape of the rows."""
        return self._function("diagonal")(*self.cores)

    def logdet(self) -> Any:
        """Return the logarithm of the absolute value of the determinant."""
        return self._function("logdet")(*self.cores)

    def to_scipy(self) -> Any:
        """Return H as SciPy's ``csr_array``, a matrix with a row for each entry of the rows."""
        return self.sparse(len(self.shape) // 2)

    def sparse(self, rows: int) -> Any:
        """Return H as a sparse matrix whose rows are its first axes, of a number that is given."""
        # CuPy's arrays are converted by their own method only.
        cores = [core.get() if hasattr(core, "get") else np.asarray(core) for core in self.cores]
        shapes = tuple([own.shape for own in cores])
        return _compiled_sparse(self.pattern, self.shape, shapes, rows)(*cores)

    def transposed(self, rows: int) -> CompressedArray:
        """Return H with its first axes, of a number that is given, last."""
        inner, _, outer = self.pattern.partition("->")
        pattern = f"{inner}->{outer[rows:]}{outer[:rows]}"
        return CompressedArray(self.core, pattern, (*self.shape[rows:], *self.shape[:rows]))

    @property
    def is_block_diagonal(self) -> bool:
        """Whether rows and columns have a common index, or H is a Kronecker product, so that it
        takes smaller systems to solve one with H."""
        outer, half = self.pattern.partition("->")[2], self.order // 2
        rows, columns = outer[:half], outer[half:]
        is_matrix = len({*rows}) == len(rows) == len({*columns}) == len(columns)
        are_several = not {*rows}.isdisjoint(columns) or len(self.cores) > 1
        return is_matrix and are_several and self.shape[:half] == self.shape[half:]

    def _function(self, method: str, *shapes: Lengths) -> CompiledFunction:
        cores = tuple([_shape(core) for core in self.cores])
        return _compiled(method, self.pattern, self.shape, cores, *shapes)

    def __repr__(self) -> str:
        cores = " ⊗ ".join([str(_shape(core)) for core in self.cores])
        return f"CompressedArray({self.pattern!r}, shape={self.shape}, core of shape {cores})"


def _shape(value: Any) -> Lengths:
    return tuple(value.shape) if hasattr(value, "shape") else np.shape(value)


@lru_cache(maxsize=tuning.MAX_VARIANTS)
def _compiled(
    method: str, pattern: str, shape: Lengths, cores: tuple[Lengths, ...], *shapes: Lengths
) -> CompiledFunction:
    """Compile a method of ``Compressed`` as a function of the cores and of the method's
    arguments."""
    stored, H = _with_symbols(pattern, shape, cores)
    given = [TensorSymbol("v" if method == "matvec" else "b", own) for own in shapes]
    return ByArguments(Request([*stored, *given], getattr(H, method)(*given), "auto"))


@lru_cache(maxsize=tuning.MAX_VARIANTS)
def _compiled_sparse(
    pattern: str, shape: Lengths, cores: tuple[Lengths, ...], rows: int
) -> CompiledFunction:
    """Compile the sparse matrix with the entries of H as a function of the cores."""
    stored, H = _with_symbols(pattern, shape, cores)
    first, last = as_shape(shape[:rows]), as_shape(shape[rows:])
    matrix = Blocks(((H.to_dense(),),), (first,), (last,))
    return Compiled(Request(stored, matrix, sparse=())).function


def _with_symbols(
    pattern: str, shape: Lengths, cores: tuple[Lengths, ...]
) -> tuple[list[TensorSymbol], Any]:
    """Return symbols for cores, and the tensor that is made of them."""
    stored = [TensorSymbol(f"core{k}", own) for k, own in enumerate(cores)]
    return stored, Compressed(tuple(stored), pattern, as_shape(shape))
