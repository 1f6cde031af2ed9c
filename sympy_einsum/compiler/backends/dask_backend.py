"""Dask: chunked arrays in, lazy chunked arrays out; nothing is computed before ``compute()``.

Matrix functions that Dask has none of are applied to a matrix as one chunk, those of a stack to the
matrices of each chunk.
"""

from __future__ import annotations

import ast
from typing import Any, ClassVar

import numpy as np

from ..ir.code import Code, call, constant, name, number_of, quote
from ..runtime.shared_helpers import shared
from ..runtime.sources import Helper, aliases, helpers
from .base import Backend
from .spelling import Bracket, Codes, Destination, numbers_code, spread, type_of

# Functions of an order that aren't universal functions, and functions with several values, which
# Dask doesn't know how to apply.
OF_ORDERS = ("polygamma", "spherical_jn", "spherical_yn", "spherical_in")
WITH_TWO_VALUES = ("sici", "shichi", "fresnel")
WITH_FOUR_VALUES = ("airy", "airye")


class DaskBackend(Backend):
    """Spells instructions in dask.array; SciPy's special functions act chunk by chunk."""

    name = "dask"
    imports = (
        "import dask.array as da",
        "import dask",
        "import numpy as np",
        "from scipy import special",
        "from scipy import linalg as scipy_linalg",
    )
    xp = "da"
    exponential = "scipy_linalg.expm"
    loops = ""
    packages = ("dask",)
    plain_lengths = True
    pickles_functions: ClassVar[bool] = True
    words: ClassVar = {"bool", "len", "float", "int"}
    spellings: ClassVar = {"Piecewise": "select([{*0}], [{*1}])"}
    # Functions left to NumPy's universal functions, which act chunk by chunk.
    renamed: ClassVar = {f"np.{name}": f"np.{name}" for name in ("heaviside", "sinc")}
    support: ClassVar = {
        **Backend.support,
        # These take a matrix, vectors or an axis as one chunk.
        **shared(
            *("cofactors", "correlate", "last_equal", "derivative_along"), spelled={"xp": "np"}
        ),
        # Positions are NumPy's: they decide how chunks are taken.
        **shared(
            *("windows", "lagged_cumsum"), spelled={"xp.arange": "np.arange", "xp.clip": "np.clip"}
        ),
        **shared("spectrum", "from_spectrum", spelled={"xp.iscomplexobj": "np.iscomplexobj"}),
        **helpers(".dask_helpers", "reshaped", "select"),
        **aliases(Helper(".dask_helpers", "polygamma"), *OF_ORDERS, space="special"),
        **aliases(Helper(".dask_helpers", "sici"), *WITH_TWO_VALUES, space="special"),
        **aliases(Helper(".dask_helpers", "airy"), *WITH_FOUR_VALUES, space="special"),
        **helpers(
            ".dask_helpers",
            *("take", "scatter", "in_one_chunk", "solved", "of_each_matrix", "in_blocks"),
            *("decomposed", "part", "slid", "diagonal"),
        ),
    }

    def diagonal(self, operands: Codes, subscripts: str) -> Code:
        """Spell diagonals of repeated indices."""
        return call("diagonal", subscripts, operands[0])

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell the array with all entries equal to a scalar, which may be lazy."""
        if number_of(operands[0]) is not None:
            return super().full(operands, shape, kind)
        return quote("da.ones({0}, dtype={1}) * {2}", shape, kind, operands[0])

    def reshape(self, operands: Codes, shape: Codes) -> Code:
        """Spell the entries in C order under another shape."""
        return call("reshaped", operands[0], shape)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """Spell the first operand as an array of that type to write to: a copy of the graph, not of
        the entries."""
        return quote("{0}.astype({1}).copy()", operands[0], kind)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Write a value into an array. A number becomes a slice where a later axis is reversed,
        since Dask would confuse the axes."""
        is_slice = [part.is_slice for part in place.slices]
        if all(is_slice) or not any(part.is_reversed for part in place.slices):
            return super().write(place, value, order, sign)
        if place.is_diagonal:
            value, order = self._on_diagonals(place, value, order, sign), sum(is_slice)
        slices = [
            part if own else Bracket(ast.Slice(part.code, quote("{0} + 1", part.code)))
            for part, own in zip(place.slices, is_slice, strict=True)
        ]
        return self.put(place.array, slices, spread(value, order, is_slice), sign)

    def spectrum(self, operands: Codes, *params: Any) -> Code:
        """Spell frequencies of the last axis, which becomes one chunk."""
        return call("spectrum", _in_one_chunk(operands[0], -1), *params)

    def from_spectrum(self, operands: Codes, *params: Any) -> Code:
        """Spell the inverse transform along the last axis, which becomes one chunk."""
        parts = [_in_one_chunk(own, -1) for own in operands]
        return call("from_spectrum", *parts, *params)

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """Spell an array of numbers, written out."""
        kind = type_of(array)
        return quote("da.from_array(np.array({0}, dtype={1}))", numbers_code(array), kind)

    def named_constant(self, constant: str) -> Code:
        """Spell an array of NumPy that the source has by a name."""
        return call("da.from_array", name(constant))

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell the entries along an axis, as one chunk, in order, or the largest or smallest so
        far."""
        functions = {"sort": "sort", "cummax": "maximum.accumulate", "cummin": "minimum.accumulate"}
        template = f"{{0}}.map_blocks(np.{functions[name]}, axis={{1}})"
        return quote(template, _in_one_chunk(operands[0], axis), axis)

    def positions(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell positions along an axis, as one chunk if they are all needed."""
        if name in ("argmax", "argmin"):
            return super().positions(operands, name, axis)
        whole = _in_one_chunk(operands[0], axis)
        if name == "argsort":
            return quote(
                '{0}.map_blocks(np.argsort, axis={1}, dtype=np.intp, kind="stable")', whole, axis
            )
        running = self.picked(operands, name.removeprefix("arg"), axis)
        return quote(
            "da.map_blocks(last_equal, {0}, {1}, {2}, dtype=np.intp)", whole, running, axis
        )

    def take(self, operands: Codes, first: int) -> Code:
        """Spell an array at some positions along axes."""
        return call("take", operands[0], first, *operands[1:])

    def correlate(self, operands: Codes) -> Code:
        """Spell scalar products of a vector with all pieces of a longer one, as one chunk."""
        return quote("slid(correlate, {0}, {1}, len({0}) - len({1}) + 1)", *operands)

    def convolve(self, operands: Codes) -> Code:
        """Spell the convolution of two vectors, as one chunk."""
        return quote("slid(np.convolve, {0}, {1}, len({0}) + len({1}) - 1)", *operands)

    def inv(self, operands: Codes, definite: bool | None) -> Code:
        """Spell the inverse."""
        return quote("in_one_chunk(np.linalg.inv, {0}, 2)", operands[0])

    def solve(self, operands: Codes, definite: bool | None) -> Code:
        """Spell inv(X) @ Y."""
        return call("solved", *operands)

    def det(self, operands: Codes, definite: bool | None) -> Code:
        """Spell the determinant."""
        return quote("in_one_chunk(np.linalg.det, {0}, 0)", operands[0])

    def logdet(self, operands: Codes, definite: bool | None) -> Code:
        """Spell log |det|."""
        return quote("in_one_chunk(lambda X: np.linalg.slogdet(X)[1], {0}, 0)", operands[0])

    def slogdet(self, operands: Codes, definite: bool | None) -> Code:
        """Spell the sign of the determinant and the logarithm of its absolute value."""
        return quote("in_one_chunk(lambda X: np.stack(np.linalg.slogdet(X)), {0}, 1)", operands[0])

    def stacked(self, operands: Codes, name: str, tail: Codes) -> Code:
        """Spell a function of each matrix, whose axes become one chunk."""
        function = self._of_matrices(len(operands), name, tail)
        return call("of_each_matrix", function, operands, tail)

    def _of_matrices(self, count: int, name: str, tail: Codes) -> Code:
        """Return NumPy's function of matrices in ``count`` chunks."""
        chunks = [quote("X[{0}]", k) for k in range(count)]
        if name == "adj":
            code = quote("np.swapaxes(cofactors(X[0], 1), -1, -2)")
        elif name == "cofactors":
            code = call("cofactors", chunks[0], len(tail) // 2, *chunks[1:])
        elif name == "expm":
            code = self._exponential(chunks)
        else:
            code = quote(self.stacks.get(name, f"np.linalg.{name}({{0}})"), *chunks)
        return quote("lambda *X: {0}", code)

    def matrix_power(self, operands: Codes, exponent: Code) -> Code:
        """Spell a power of each matrix, or its derivative in the directions that follow."""
        chunks = [quote("_[{0}]", k) for k in range(len(operands))]
        code = self.along(lambda X: quote("np.linalg.matrix_power({0}, {1})", X, exponent), chunks)
        function = quote("lambda *_: {0}", code)
        tail = quote("{0}.shape[-2:]", operands[0])
        return call("of_each_matrix", function, operands, tail)

    def decomposed(self, operands: Codes, name: str) -> Code:
        """Spell a decomposition of each matrix, computed once for all its arrays."""
        return call("decomposed", self._of_matrices(1, name, ()), operands[0])

    def part(self, operands: Codes, place: int, tail: Codes) -> Code:
        """Spell one of the arrays of a decomposition."""
        return call("part", operands[0], place, tail)

    def cofactors(self, operands: Codes, order: int) -> Code:
        """Spell a derivative of det."""
        letters = "X, Y, Z"[: 3 * len(operands) - 2]
        X, *others = [name(letter) for letter in letters.split(", ")]
        function = quote(f"lambda {letters}: {{0}}", call("cofactors", X, order, *others))
        axes = 2 * (order + 1 - len(operands))
        return call("in_one_chunk", function, operands[0], axes, *operands[1:])


def _in_one_chunk(array: Code, axis: int) -> Code:
    """Return an array of which an axis is one chunk."""
    return quote("{0}.rechunk({1})", array, ast.Dict([constant(axis)], [constant(-1)]))
