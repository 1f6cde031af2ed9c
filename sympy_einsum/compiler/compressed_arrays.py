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
from ..rules import Compressed
from .calls import ByArguments, CompiledFunction
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
        """Return the x with H x = b; singular cores do as in the array library's ``solve``.

        Raises ShapeError where b isn't of the shape of the rows, UnsupportedError where H isn't
        square.
        """
        return self._function("solve", _shape(b))(*self.cores, b)

    def diagonal(self) -> Any:
        """Return the entries whose rows and columns are equal, of the shape of the rows."""
        return self._function("diagonal")(*self.cores)

    def logdet(self) -> Any:
        """Return the logarithm of the absolute value of the determinant."""
        return self._function("logdet")(*self.cores)

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
    stored = tuple([TensorSymbol(f"core{k}", own) for k, own in enumerate(cores)])
    H: Any = Compressed(stored, pattern, as_shape(shape))
    given = [TensorSymbol("v" if method == "matvec" else "b", own) for own in shapes]
    return ByArguments(Request([*stored, *given], getattr(H, method)(*given), "auto"))
