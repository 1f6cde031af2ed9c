"""Dask: chunked arrays in, lazy chunked arrays out; nothing is computed before ``compute()``.

Matrix functions that Dask has none of are applied to a matrix as one chunk, those of a stack to the
matrices of each chunk.
"""

from __future__ import annotations

import ast
import re
from typing import ClassVar

import numpy as np

from ..ir.code import Code, call, constant, name, number_of, quote
from ..runtime.array_helpers import SHARED
from .base import Backend
from .spelling import Bracket, Codes, Destination, along, numbers_code, spread, type_of

# Functions with several values, which Dask doesn't know how to apply.
PARTS = {"sici": 2, "shichi": 2, "fresnel": 2, "airy": 4, "airye": 4}
# Functions of an order that aren't universal functions.
WHOLE = ("polygamma", "spherical_jn", "spherical_yn", "spherical_in")


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
    packages = ("dask",)
    plain_lengths = True
    words: ClassVar = {"bool", "len", "float", "int"}
    spellings: ClassVar = {"Piecewise": "select([{*0}], [{*1}])"}
    # Functions left to NumPy's universal functions, which act chunk by chunk.
    renamed: ClassVar = {f"np.{name}": f"np.{name}" for name in ("heaviside", "sinc")}
    support: ClassVar = {
        **Backend.support,
        "cofactors": re.sub(r"\bxp\.", "np.", SHARED["cofactors"]),  # of a matrix as one chunk
        # Positions are NumPy's: they decide how chunks are taken.
        "correlate": re.sub(r"\bxp\.", "np.", SHARED["correlate"]),  # of vectors as one chunk
        "windows": re.sub(r"\bxp\.arange", "np.arange", SHARED["windows"]),
        "lagged_cumsum": re.sub(r"\bxp\.(arange|clip)", r"np.\1", SHARED["lagged_cumsum"]),
        # The axis of a transform becomes one chunk.
        "spectrum": SHARED["spectrum"]
        .replace("xp.iscomplexobj", "np.iscomplexobj")
        .replace("function(x,", "function(x.rechunk({x.ndim - 1: -1}),"),
        "from_spectrum": SHARED["from_spectrum"]
        .replace("xp.iscomplexobj", "np.iscomplexobj")
        .replace("z = x + 1j * y", "z = x + 1j * y\n    z = z.rechunk({z.ndim - 1: -1})"),
        "reshaped": '''
def reshaped(x, shape):
    """The entries in C order; Dask merges axes and splits them, one after the other."""
    try:
        return da.reshape(x, shape)
    except NotImplementedError:
        return da.reshape(da.ravel(x), shape)
''',
        "select": '''
def select(conditions, values, default=float("nan")):
    """The value of the first condition that holds."""
    for condition, value in zip(reversed(conditions), reversed(values)):
        default = value if condition is True else da.where(condition, value, default)
    return default
''',
        **{
            name: f'''
def {name}(n, x):
    """special.{name}, lazily."""
    return da.map_blocks(lambda block: special.{name}(n, block), da.asarray(x), dtype=float)
'''
            for name in WHOLE
        },
        **{
            name: f'''
def {name}(x):
    """The values of special.{name}, lazily."""
    return [
        da.map_blocks(lambda block, k=k: special.{name}(block)[k], da.asarray(x), dtype=float)
        for k in range({count})
    ]
'''
            for name, count in PARTS.items()
        },
        "last_equal": re.sub(r"\bxp\.", "np.", SHARED["last_equal"]),  # of an axis as one chunk
        "take": '''
def take(x, axis, *positions):
    """Entries at positions along axes from one on, lazily; x becomes one chunk."""
    shape = np.broadcast_shapes(*[place.shape for place in positions])
    shape = x.shape[:axis] + shape + x.shape[axis + len(positions) :]
    function = dask.delayed(lambda x, *places: x[(slice(None),) * axis + places])
    return da.from_delayed(function(x, *positions), shape, dtype=x.dtype)
''',
        "scatter": '''
def scatter(values, lengths, *positions):
    """Zeros, to which values are added at positions on the first axes, lazily, as one chunk."""
    shape = (*lengths, *values.shape[max(place.ndim for place in positions) :])

    def added(values, *positions):
        total = np.zeros(shape, values.dtype)
        np.add.at(total, positions, values)
        return total

    return da.from_delayed(dask.delayed(added)(values, *positions), shape, dtype=values.dtype)
''',
        "in_one_chunk": '''
def in_one_chunk(function, X, order, *more):
    """A function of matrices as wholes, lazily, that gives an array of some order."""
    axes = {"new_axis": [*range(2, order)], "chunks": X.shape * (order // 2)} if order > 2 else {}
    if order < 2:
        axes = {"drop_axis": [*range(order, 2)], "chunks": (2,) * order}
    whole = [da.asarray(Y).rechunk(-1) for Y in (X, *more)]
    return da.map_blocks(function, *whole, dtype=np.result_type(X.dtype, 0.0), **axes)
''',
        "solved": '''
def solved(X, Y):
    """inv(X) @ Y, lazily: X as one chunk, the columns of Y as they are chunked."""
    X, Y = da.asarray(X).rechunk(-1), da.asarray(Y).rechunk({0: -1})
    kind, second = np.result_type(X.dtype, Y.dtype, 0.0), "jk"[: Y.ndim]
    pairs = X, "ij", Y, second
    return da.blockwise(
        np.linalg.solve, second.replace("j", "i"), *pairs, concatenate=True, dtype=kind
    )
''',
        "derivative_along": re.sub(r"\bxp\.", "np.", SHARED["derivative_along"]),
        "of_each_matrix": '''
def of_each_matrix(function, stacks, tail):
    """A function of each matrix of stacks, lazily: matrices as wholes, stacks in their chunks."""
    order = max(X.ndim for X in stacks) - 2
    batch = tuple(range(order))
    pairs, kind = [], np.result_type(*[X.dtype for X in stacks], 0.0)
    for k, X in enumerate(stacks):
        pairs += [X, (*batch[order + 2 - X.ndim :], order + 2 * k, order + 2 * k + 1)]
    return in_blocks(function, batch, tail, pairs, kind)
''',
        "in_blocks": '''
def in_blocks(function, batch, tail, pairs, kind):
    """A function of blocks that adds axes of some lengths."""
    new = {-1 - k: length for k, length in enumerate(tail)}
    empty = np.empty((0,) * (len(batch) + len(new)), kind)
    options = {"new_axes": new, "concatenate": True, "dtype": kind, "meta": empty}
    return da.blockwise(function, (*batch, *new), *pairs, **options)
''',
        "decomposed": '''
def decomposed(function, X):
    """A decomposition of each matrix of a stack, lazily: blocks of all arrays, and their type."""
    return of_each_matrix(function, (X,), ()), np.result_type(X.dtype, 0.0)
''',
        "part": '''
def part(found, place, tail):
    """One of the arrays of a decomposition."""
    blocks, kind = found
    batch = tuple(range(blocks.ndim))
    return in_blocks(lambda arrays: arrays[place], batch, tail, [blocks, batch], kind)
''',
        "slid": '''
def slid(function, x, w, count):
    """A function of two vectors as wholes, lazily."""
    kind = np.result_type(x.dtype, w.dtype)
    pairs = "k", x, "i", w, "j"
    return da.blockwise(function, *pairs, new_axes={"k": count}, concatenate=True, dtype=kind)
''',
        "diagonal": '''
def diagonal(subscripts, X):
    """Diagonals of repeated indices, lazily: axes that share an index become one chunk."""
    labels, kept = subscripts.split("->")
    X = X.rechunk({k: -1 for k, label in enumerate(labels) if labels.count(label) > 1})
    first = {label: labels.index(label) for label in kept}
    for label in kept:
        axes = [k for k, own in enumerate(labels) if own == label]
        while len(axes) > 1:
            X = da.moveaxis(da.diagonal(X, 0, axes[0], axes[1]), -1, axes[0])
            labels = labels[: axes[1]] + labels[axes[1] + 1 :]
            axes = [k for k, own in enumerate(labels) if own == label]
    return X.transpose([labels.index(label) for label in kept])
''',
    }

    def diagonal(self, operands: Codes, subscripts: str) -> Code:
        """Diagonals of repeated indices."""
        return call("diagonal", subscripts, operands[0])

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """The array with all entries equal to a scalar, which may be lazy."""
        if number_of(operands[0]) is not None:
            return super().full(operands, shape, kind)
        return quote("da.ones({0}, dtype={1}) * {2}", shape, kind, operands[0])

    def reshape(self, operands: Codes, shape: Codes) -> Code:
        """The entries in C order under another shape."""
        return call("reshaped", operands[0], shape)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """The first operand as an array of that type to write to: a copy of the graph, not of the
        entries."""
        return quote("{0}.astype({1}).copy()", operands[0], kind)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Write a value into an array. A number becomes a slice where a later axis is reversed,
        since Dask would confuse the axes."""
        is_slice = [cut.is_slice for cut in place.cuts]
        if all(is_slice) or not any(cut.is_reversed for cut in place.cuts):
            return super().write(place, value, order, sign)
        if place.is_diagonal:
            value, order = self._on_diagonals(place, value, order, sign), sum(is_slice)
        cuts = [
            cut if own else Bracket(ast.Slice(cut.code, quote("{0} + 1", cut.code)))
            for cut, own in zip(place.cuts, is_slice, strict=True)
        ]
        return self.put(place.array, cuts, spread(value, order, is_slice), sign)

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """An array of numbers, written out."""
        kind = type_of(array)
        return quote("da.from_array(np.array({0}, dtype={1}))", numbers_code(array), kind)

    def named_constant(self, constant: str) -> Code:
        """An array of NumPy that the source has by a name."""
        return call("da.from_array", name(constant))

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """The entries along an axis, as one chunk, in order, or the largest or smallest so far."""
        functions = {"sort": "sort", "cummax": "maximum.accumulate", "cummin": "minimum.accumulate"}
        template = f"{{0}}.map_blocks(np.{functions[name]}, axis={{1}})"
        return quote(template, _in_one_chunk(operands[0], axis), axis)

    def positions(self, operands: Codes, name: str, axis: int) -> Code:
        """Positions along an axis, as one chunk if they are all needed."""
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
        """An array at some positions along axes."""
        return call("take", operands[0], first, *operands[1:])

    def correlate(self, operands: Codes) -> Code:
        """Scalar products of a vector with all pieces of a longer one, as one chunk."""
        return quote("slid(correlate, {0}, {1}, len({0}) - len({1}) + 1)", *operands)

    def convolve(self, operands: Codes) -> Code:
        """The convolution of two vectors, as one chunk."""
        return quote("slid(np.convolve, {0}, {1}, len({0}) + len({1}) - 1)", *operands)

    def inv(self, operands: Codes, definite: bool) -> Code:
        """The inverse."""
        return quote("in_one_chunk(np.linalg.inv, {0}, 2)", operands[0])

    def solve(self, operands: Codes, definite: bool) -> Code:
        """inv(X) @ Y."""
        return call("solved", *operands)

    def det(self, operands: Codes, definite: bool) -> Code:
        """The determinant."""
        return quote("in_one_chunk(np.linalg.det, {0}, 0)", operands[0])

    def logdet(self, operands: Codes, definite: bool) -> Code:
        """log |det|."""
        return quote("in_one_chunk(lambda X: np.linalg.slogdet(X)[1], {0}, 0)", operands[0])

    def slogdet(self, operands: Codes, definite: bool) -> Code:
        """The sign of the determinant and the logarithm of its absolute value."""
        return quote("in_one_chunk(lambda X: np.stack(np.linalg.slogdet(X)), {0}, 1)", operands[0])

    def stacked(self, operands: Codes, name: str, tail: Codes) -> Code:
        """A function of each matrix, whose axes become one chunk."""
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
        """A power of each matrix, or its derivative in the directions that follow."""
        chunks = [quote("_[{0}]", k) for k in range(len(operands))]
        code = along(lambda X: quote("np.linalg.matrix_power({0}, {1})", X, exponent), chunks)
        function = quote("lambda *_: {0}", code)
        tail = quote("{0}.shape[-2:]", operands[0])
        return call("of_each_matrix", function, operands, tail)

    def decomposed(self, operands: Codes, name: str) -> Code:
        """A decomposition of each matrix, computed once for all its arrays."""
        return call("decomposed", self._of_matrices(1, name, ()), operands[0])

    def part(self, operands: Codes, place: int, tail: Codes) -> Code:
        """One of the arrays of a decomposition."""
        return call("part", operands[0], place, tail)

    def cofactors(self, operands: Codes, order: int) -> Code:
        """A derivative of det."""
        letters = "X, Y, Z"[: 3 * len(operands) - 2]
        X, *others = [name(letter) for letter in letters.split(", ")]
        function = quote(f"lambda {letters}: {{0}}", call("cofactors", X, order, *others))
        axes = 2 * (order + 1 - len(operands))
        return call("in_one_chunk", function, operands[0], axes, *operands[1:])


def _in_one_chunk(array: Code, axis: int) -> Code:
    """Return an array of which an axis is one chunk."""
    return quote("{0}.rechunk({1})", array, ast.Dict([constant(axis)], [constant(-1)]))
