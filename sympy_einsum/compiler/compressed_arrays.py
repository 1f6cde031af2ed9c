"""Results that are a small array and the pattern that places its entries.

What is computed with them is what ``Compressed`` does with symbols, compiled for their shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..core import as_shape
from ..expressions import TensorSymbol
from ..rules import Compressed
from .calls import MAX_VARIANTS, ByArguments, CompiledFunction
from .program import Request

Lengths = tuple[int, ...]


@dataclass(eq=False, repr=False, slots=True)
class CompressedArray:
    """An array H whose entries are those of a small core, placed among zeros and repeated;
    ``lambdify(..., structured=True)`` gives it. What computes with it is the library of its arrays.

    The first half of its axes are rows, the second half columns, as in a Hessian.

    Attributes
    ==========

    core : the array that is stored, or a number
    pattern : the index string that places it, ``"ab->iaib"``
    shape : the shape of H
    """

    core: Any
    pattern: str
    shape: Lengths

    @property
    def order(self) -> int:
        """The number of axes of H."""
        return len(self.shape)

    def to_dense(self) -> Any:
        """H itself, an array."""
        return self._function("to_dense")(self.core)

    def matvec(self, v: Any) -> Any:
        """H times v, summed over the axes of v, which are the last ones of H.

        Raises ShapeError where v doesn't fit these.
        """
        return self._function("matvec", _shape(v))(self.core, v)

    def solve(self, b: Any) -> Any:
        """The x with H x = b; singular cores do as in the array library's ``solve``.

        Raises ShapeError where b isn't of the shape of the rows, UnsupportedError where H isn't
        square.
        """
        return self._function("solve", _shape(b))(self.core, b)

    def _function(self, method: str, *shapes: Lengths) -> CompiledFunction:
        core = _shape(self.core)
        return _compiled(method, self.pattern, self.shape, core, *shapes)

    def __repr__(self) -> str:
        core = _shape(self.core)
        return f"CompressedArray({self.pattern!r}, shape={self.shape}, core of shape {core})"


def _shape(value: Any) -> Lengths:
    return tuple(value.shape) if hasattr(value, "shape") else np.shape(value)


@lru_cache(maxsize=MAX_VARIANTS)
def _compiled(
    method: str, pattern: str, shape: Lengths, core: Lengths, *shapes: Lengths
) -> CompiledFunction:
    """A method of ``Compressed`` as a function of the core and of what the method takes."""
    H: Any = Compressed(TensorSymbol("core", core), pattern, as_shape(shape))
    given = [TensorSymbol("v" if method == "matvec" else "b", own) for own in shapes]
    return ByArguments(Request([H.core, *given], getattr(H, method)(*given), "auto"))
