"""NumPy: the spelling with the least overhead, results written in place, SciPy for special
functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from typing import ClassVar

import numpy as np
from sympy import Expr

from ..passes.batching import batched
from ..passes.splitting import split
from ..passes.traces import with_traces
from ..runtime.array_helpers import shared
from ..runtime.numpy_factors import BY_FACTORS, NUMPY_FACTORS
from ..runtime.numpy_reductions import NUMPY_REDUCTIONS
from ..runtime.numpy_running import NUMPY_RUNNING
from ..runtime.stable_functions import STABLE_FUNCTIONS
from .base import Backend
from .scalars import DOUBLES, NumberNames, print_scalar
from .spelling import (
    Bracket,
    Place,
    Texts,
    as_tuple,
    axis_arguments,
    bracketed,
    called,
    is_bracketed,
)


def _is_block(cuts: Sequence[Bracket]) -> bool:
    """Tell whether a slice of a matrix, if any, consists of neighbouring rows and columns."""
    return not cuts or (len(cuts) == 2 and all(cut.step in ("", "1") for cut in cuts))


def _diagonal_of_block(place: Place) -> str:
    """The brackets for the diagonal of a block among the entries of a matrix in C order."""
    width = place.width if place.width.isalnum() else f"({place.width})"
    if not place.cuts:
        return f"[:: {width} + 1]"
    rows, columns = [cut.start or "0" for cut in place.cuts]
    row = {"0": "", "1": width}.get(rows, f"{rows if rows.isalnum() else f'({rows})'} * {width}")
    start = " + ".join([part for part in (row, columns) if part not in ("", "0")])
    entries = f"[{start + ' ' if start else ''}:: {width} + 1]"
    if place.is_last:
        return entries
    number = next(cut.number for cut in place.cuts if cut.number)
    return f"{entries}[: {number}]"


def _has_lapack() -> bool:
    return find_spec("scipy") is not None


class NumpyBackend(Backend):
    """Spells instructions in NumPy 2; special functions come from SciPy, if any are used."""

    name = "numpy"
    imports = (
        "import numpy as np",
        "from scipy import special",
        "from scipy import linalg as scipy_linalg",
        "from scipy.linalg import lapack",
    )
    exponential = "scipy_linalg.expm"
    asarray = "np.asarray"
    passes = (batched, split, with_traces)
    overwrites = True
    in_blocks = True
    plain_lengths = True
    words: ClassVar = {"len", "float", "int"}
    # A tenth of np.select's time.
    spellings: ClassVar = {"Piecewise": "np.where"}

    def quick_tests(self, names: Texts) -> list[str]:
        """Arrays without a doubt, of numbers."""
        types = " is ".join([f"type({name})" for name in names])
        return [f"{types} is np.ndarray", *super().quick_tests(names)]

    def opening(self, body: str, tensors: Texts) -> list[str]:
        """The type of the arguments; NumPy takes long to find what is the same for all."""
        lines = super().opening(body, tensors)
        if self.is_read_back or not lines or not tensors:
            return lines
        types = [f"{name}.dtype" for name in tensors]
        same = f" and {' is '.join(types)}" if len(types) > 1 else ""
        is_known = f'{types[0]}.kind in "{"c" if self.is_complex else "fc"}"{same}'
        wide = self.common_type(tensors, [self.fraction])
        return [f"dtype = {types[0]} if {is_known} else {wide}"]

    def silenced(self, lines: Sequence[str]) -> list[str]:
        """Silence choices, of which both branches are computed, and reciprocals of what overflows,
        which are 0."""
        found: list[str] = []
        for opening, group in groupby(lines, _silence):
            margin = "    " if opening else ""
            found += [*filter(None, [opening]), *[margin + line for line in group]]
        return found

    # --- scalars and elementwise

    def scalar(self, operands: Texts, expr: Expr) -> str:
        """A SymPy scalar expression in slots; numbers have no size that could be asked for. What is
        chosen is a number, too, no array without axes."""
        text = print_scalar(expr, operands, "scalars", self.spellings, self.functions)
        is_choice = text.startswith("np.where(") and is_bracketed(text)
        return f"{text}[()]" if is_choice else text

    def elementwise(self, operands: Texts, expr: Expr) -> str:
        """A SymPy scalar expression in slots, applied to every entry of arrays."""
        return print_scalar(expr, operands, self.name, self.spellings, self.functions)

    def sum(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """The sum over axes, over all for None."""
        if axes is None or len(axes) > 1 or axes[0] == 0:
            return super().sum(operands, axes)
        return f"sums({operands[0]}, {axis_arguments(axes)[0]})"

    def diagonal(self, operands: Texts, subscripts: str) -> str:
        """Diagonals of repeated indices; the method has the least overhead."""
        if subscripts == "ii->i":
            return f"{operands[0]}.diagonal()"
        return super().diagonal(operands, subscripts)

    def contiguous(self, operands: Texts) -> str:
        """The array in C order, contiguous in memory."""
        return f"np.ascontiguousarray({operands[0]})"

    def copy(self, operands: Texts) -> str:
        """A copy that the caller may write to."""
        return f"np.array({operands[0]})"

    def rows(self, operands: Texts) -> str:
        """Arrays of one shape, one after the other; nested lists are the fastest."""
        return f"np.array([{', '.join(operands)}])"

    def in_place(self, op: str, operands: Texts, place: int, signs: Sequence[int] = ()) -> str:
        """A sum or product written over one of its operands; an error where that would change the
        type of the result."""
        name, out = "multiply", operands[place]
        if op == "add":
            name = "negative" if len(signs) == 1 else "add" if min(signs) > 0 else "subtract"
            operands = operands[:: signs[0]]
        return self.written_over(f"np.{name}", ", ".join(operands), out)

    def written_over(self, function: str, arguments: str, out: str) -> str:
        """A call whose result is written over an array; an error where that has another type."""
        return f'{function}({arguments}, out={out}, casting="no")'

    def in_place_function(self, text: str, place: int) -> str:
        """The call of one of NumPy's universal functions written over an argument; other code as
        it is."""
        text = re.sub(r"^(\w+)\*\*2$", r"np.square(\1)", text)
        text = re.sub(r"^(\w+)/(\w+)$", r"np.divide(\1, \2)", text)
        call = re.fullmatch(r"np\.(\w+)\((\w+(?:, \w+)?)\)", text)
        if call is None or not isinstance(getattr(np, call[1], None), np.ufunc):
            return text
        return self.written_over(f"np.{call[1]}", call[2], call[2].split(", ")[place])

    def add_transposed(self, operands: Texts) -> str:
        """X + X'; of a large matrix by blocks that fit the cache."""
        X = operands[0]
        return f"{X} + {X}.T if len({X}) < 1000 else add_transposed({X})"

    def dot(self, operands: Texts) -> str:
        """The product of matrices and vectors; the method has the least overhead."""
        return f"{operands[0]}.dot({operands[1]})"

    weighted_gram = called("weighted_gram")

    def vdot(self, operands: Texts) -> str:
        """The full contraction of two operands of one shape."""
        return f"{operands[0]}.ravel().dot({operands[1]}.ravel())"

    def take(self, operands: Texts, first: int) -> str:
        """An array at some positions along axes; the method has the least overhead."""
        if len(operands) > 2:
            return super().take(operands, first)
        return f"{operands[0]}.take({operands[1]}, {first})"

    def scatter(self, operands: Texts, lengths: Texts, once: bool) -> str:
        """Zeros, to which something is added at positions, or written if none occurs twice."""
        text = super().scatter(operands, lengths, once)
        return f"{text[:-1]}, once=True)" if once else text

    def scatters(self, operands: Texts, lengths: Texts) -> str:
        """Several scatters into one array."""
        text, width = "", 1 + len(lengths)
        for start in range(0, len(operands), width):
            call = self.scatter(operands[start : start + width], lengths, False)
            text = f"{call[:-1]}, to={text})" if text else call
        return text

    def full(self, operands: Texts, shape: Texts, kind: str) -> str:
        """The array with all entries equal to a scalar."""
        if operands[0] in ("0", "1"):
            return f"np.{('zeros', 'ones')[int(operands[0])]}({as_tuple(shape)}, {kind})"
        return f"np.full({as_tuple(shape)}, {operands[0]}, {kind})"

    def zeros(self, operands: Texts, shape: Texts, kind: str) -> str:
        """Zeros, to be written to."""
        return f"np.zeros({as_tuple(shape)}, {kind})"

    def writable(self, operands: Texts, owned: bool, kind: str) -> str:
        """The first operand as an array to write to; itself, if it is ours and of that type."""
        if owned and kind == f"{operands[0]}.dtype":
            return operands[0]
        return f"np.{'asarray' if owned else 'array'}({operands[0]}, {kind})"

    def write(self, place: Place, value: str, order: int, sign: int) -> str:
        """The statement that writes into, or changes, the diagonal of an array that is cut."""
        target, cuts = place.array, place.cuts
        view = f"{target}{bracketed(cuts) or '[...]'}"
        if place.is_diagonal:
            part = f"{target}{bracketed(cuts)}"
            view = f"np.einsum({place.subscripts!r}, {part})[...]"
            if place.subscripts == "ii->i" and not self.is_read_back:
                view = f"diagonal_in({part})[...]"
        if place.width and place.subscripts == "ii->i" and _is_block(cuts):
            view = f"{target}.ravel(){_diagonal_of_block(place)}"
        return self.assigned(view, value, sign)

    # --- matrices that are factored by SciPy's LAPACK, if it is installed

    def factored(self, operands: Texts, definite: bool) -> str:
        """Factors of a matrix."""
        if self.is_read_back or not _has_lapack():
            return super().factored(operands, definite)
        return f"factored({operands[0]}{', definite=True' * definite})"

    def solved(self, operands: Texts, definite: bool, turned: bool) -> str:
        """inv(X) @ Y, or inv(X)' @ Y, by factors."""
        if self.is_read_back or not _has_lapack():
            return super().solved(operands, definite, turned)
        return f"solved({operands[0]}, {operands[1]}{', turned=True' * turned})"

    def by_factors(self, operands: Texts, name: str, definite: bool, shape: Texts) -> str:
        """The inverse or the determinant by factors."""
        if self.is_read_back or not _has_lapack():
            if name == "trace of inv":
                return f"{self.inv(operands, definite)}.trace()"
            return super().by_factors(operands, name, definite, shape)
        return f"{BY_FACTORS[name]}({operands[0]})"

    support: ClassVar = {
        **NUMPY_FACTORS,
        **NUMPY_REDUCTIONS,
        **NUMPY_RUNNING,
        **shared(
            "cofactors",
            "derivative_along",
            "lagged_cumsum",
            "mirrored",
            "last_equal",
            "correlate",
            *STABLE_FUNCTIONS,
        ),
        "diagonal_in": '''
def diagonal_in(X):
    """The diagonal of a matrix, to be written to."""
    diagonal = X.diagonal()
    diagonal.setflags(write=True)
    return diagonal
''',
        "add_transposed": '''
def add_transposed(X, size=256):
    """X + X.T, block by block, so that both stay in the cache."""
    total = np.empty_like(X)
    for i in range(0, len(X), size):
        for j in range(0, len(X), size):
            rows, columns = slice(i, i + size), slice(j, j + size)
            np.add(X[rows, columns], X[columns, rows].T, out=total[rows, columns])
    return total
''',
        "weighted_gram": '''
def weighted_gram(X, w):
    """X.T @ diag(w) @ X with w >= 0; of a large X as Y.T @ Y, which BLAS computes by halves, of
    one with many rows in pieces that stay in the cache."""
    if X.size < 5000:
        return (X.T * w).dot(X)
    roots, total = np.sqrt(w)[:, None], 0.0
    rows, width = X.shape
    size = max(width, 2**16 // width) if rows > 100 * width else rows
    for i in range(0, len(X), size):
        Y = roots[i : i + size] * X[i : i + size]
        total += Y.T.dot(Y)
    return total
''',
        "sigmoid": '''
def sigmoid(z):
    """1 / (1 + exp(-z)); a sum that overflows has the reciprocal 0."""
    if z.size < 100:
        return np.exp(-np.logaddexp(0, -z))
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))
''',
        "sigmoid_slope": '''
def sigmoid_slope(z):
    """sigmoid(z) * sigmoid(-z)."""
    t = np.exp(-np.abs(z))
    return t / (1 + t)**2
''',
        "erfcx_rate": '''
def erfcx_rate(z):
    """2*z - 2/(sqrt(pi)*erfcx(z)), by a continued fraction where that cancels."""
    x = np.maximum(z, 4)
    rate = x
    for k in range(24, 0, -1):
        rate = x + (k + 1) / 2 / rate
    return np.where(z > 4, -1 / rate, 2 * z - 2 / np.sqrt(np.pi) / special.erfcx(z))
''',
        "softplus": '''
def softplus(z):
    """log(1 + exp(z)) without overflow."""
    if z.size < 100:
        return np.logaddexp(0, z)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
''',
        "by_rows": '''
def by_rows(part, width, *arrays):
    """Sums over the rows of arrays, from the sums that are computed from some rows; so many at a
    time that these stay in the cache, unless what they add up to is as large."""
    count, size = len(arrays[0]), max(2**17 // width, 1)
    size = count if count < 4 * size else size
    totals = part(*[x[:size] for x in arrays])
    step = count if sum(map(np.size, totals)) > 2**14 else size
    for i in range(size, count, step):
        for k, value in enumerate(part(*[x[i : i + step] for x in arrays])):
            totals[k] += value
    return totals
''',
        "windows": '''
def windows(x, axis, start, steps, counts):
    """The entries at start + steps[0] * i + steps[1] * k of an axis, at [i, k], without a copy."""
    a, b = steps[0] * (counts[0] - 1), steps[1] * (counts[1] - 1)
    low, high = start + min(a, b, a + b, 0), start + max(a, b, a + b, 0)
    if min(counts) > 0 and (low < 0 or high >= x.shape[axis]):
        raise IndexError(f"windows from {low} to {high} on an axis of length {x.shape[axis]}")
    first = x[(slice(None),) * axis + (slice(start, None),)]
    strides = [step * x.strides[axis] for step in steps]
    return np.lib.stride_tricks.as_strided(
        first,
        (*x.shape[:axis], *counts, *x.shape[axis + 1 :]),
        (*x.strides[:axis], *strides, *x.strides[axis + 1 :]),
        writeable=False,
    )
''',
        "scatter": '''
def scatter(values, lengths, *positions, once=False, to=None):
    """Zeros, or an array, to which values are added at positions on the first axes, also at
    repeated ones."""
    order = max(map(np.ndim, positions))
    shape = values.shape[order:]
    if to is None:
        total = np.zeros((*lengths, *shape), values.dtype)
    else:
        total = np.asarray(to, np.result_type(to, values))
    if once:
        total[positions] = values
    elif len(positions) == 1 and shape and total.size:
        # Of vectors it is fast.
        columns = np.arange(shape[0] if len(shape) == 1 else total[0].size)
        flat = np.asarray(positions[0])[..., None] * columns.size + columns
        np.add.at(total.reshape(-1), flat.ravel(), values.ravel())
    else:
        np.add.at(total, positions, values)
    return total
''',
        "spectrum": '''
def spectrum(x, length, count, weighted):
    """So many frequencies of the last axis, filled up with zeros, in two parts each; those that
    stand for their conjugates too may count twice."""
    if x.dtype.kind == "c":
        parts = [spectrum(part, length, count, weighted) for part in (x.real, x.imag)]
        return parts[0] + 1j * parts[1]
    z = np.ascontiguousarray(np.fft.rfft(x, length))
    half = z.shape[-1]
    if count > half:
        whole = np.empty((*z.shape[:-1], length), z.dtype)
        whole[..., :half] = z
        np.conjugate(z[..., length - half : 0 : -1], out=whole[..., half:])
        z = whole
    if weighted:
        z[..., 1 : (length + 1) // 2] *= 2
    pairs = z.view(z.real.dtype).reshape(*z.shape, 2)
    return pairs if count == z.shape[-1] else pairs[..., :count, :]
''',
        "from_spectrum": '''
def from_spectrum(x, y, length, count, weighted):
    """So many real parts of the inverse transform of frequencies x + iy, unnormalised."""
    if "c" in (x.dtype.kind, y.dtype.kind):
        pairs = (x.real, y.real), (x.imag, y.imag)
        parts = [from_spectrum(*pair, length, count, weighted) for pair in pairs]
        return parts[0] + 1j * parts[1]
    is_double = x.dtype.char == y.dtype.char == "d"
    z = np.empty(x.shape, complex if is_double else np.result_type(x, y, np.complex64))
    z.real, z.imag = x, y
    half = length // 2 + 1
    if half < z.shape[-1] < length:
        return np.fft.ifft(z, length, norm="forward").real[..., :count]
    if not weighted:
        # Others are the conjugates of these, once they are added to them.
        twins = z[..., 1 : (length + 1) // 2]
        if z.shape[-1] > half:
            twins += z[..., : length // 2 : -1].conj()
        twins *= 0.5
    total = np.fft.irfft(z[..., :half], length, norm="forward")
    return total if count == length else total[..., :count]
''',
        "one_hot": '''
def one_hot(positions, length, dtype):
    """Ones at positions on a last axis."""
    total = np.zeros((np.size(positions), length), dtype)
    total[np.arange(len(total)), np.ravel(positions)] = 1
    return total.reshape(*np.shape(positions), length)
''',
    }


def _silence(line: str) -> str:
    """Return the statement that silences a line whose warnings say nothing of its value; empty if
    it needs none."""
    margin = line[: len(line) - len(line.lstrip())]
    if "np.where(" in line and re.search(r"/|\*\*|\w\(", line.replace("np.where(", "(")):
        return f'{margin}with np.errstate(all="ignore"):'
    return f'{margin}with np.errstate(over="ignore"):' if "1 / np.expm1(" in line else ""


class NumpyOfDoubles(NumpyBackend):
    """Spells instructions in what takes NumPy the least time for small arrays."""

    for_doubles: ClassVar = None
    is_of_doubles = True

    def __init__(self) -> None:
        self.numbers = NumberNames()

    @property
    def namespace(self) -> Mapping[str, object]:  # type: ignore[override]
        """The numbers, and the names of types."""
        return {
            **{name: np.array(number) for number, name in self.numbers.items()},
            "_ndarray": np.ndarray,
            "_double": np.dtype(float),
            "_numbers": {float, int, np.float64, np.int64},
        }

    def quick_tests(self, names: Texts) -> list[str]:
        """Arrays of doubles."""
        types = " is ".join([f"type({name})" for name in names])
        return [f"{types} is _ndarray", *self.type_tests(names, ())]

    def number_test(self, name: str) -> str:
        """Return the test that a number, in an array or not, keeps float64 results float64."""
        is_array = f"type({name}) is _ndarray and {name}.dtype is _double and not {name}.ndim"
        return f"(type({name}) in _numbers or {is_array})"

    def type_tests(self, arrays: Texts, numbers: Texts) -> list[str]:
        """Return tests that all arguments are float64 arrays and numbers that fit these."""
        types = " is ".join([*[f"{name}.dtype" for name in arrays], "_double"])
        return [types, *map(self.number_test, numbers)]

    def opening(self, body: str, tensors: Texts) -> list[str]:
        """The type of the arguments."""
        return ["dtype = _double"] if super().opening(body, tensors) else []

    def elementwise(self, operands: Texts, expr: Expr) -> str:
        """A SymPy scalar expression in slots, applied to every entry of arrays."""
        are_doubles = all(text.startswith(DOUBLES) for text in operands)
        numbers = self.numbers if are_doubles and NumberNames.fit(expr) else None
        functions = self.functions
        return print_scalar(expr, operands, self.name, self.spellings, functions, numbers)

    def sum(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """The sum over axes, over all for None; the method takes longer."""
        text = super().sum(operands, axes)
        call = re.fullmatch(r"(.*)\.sum\((axis=)?(.*)\)", text)
        return f"np.add.reduce({call[1]}, {call[3] or None})" if call else text

    def own_number(self, number: Expr) -> str:
        """A number that an array of doubles is combined with."""
        return self.numbers.name(number)

    def common_type(self, arrays: Texts, scalars: Texts) -> str:
        """Doubles, if nothing else is among them."""
        return super().common_type(arrays, scalars) if arrays or scalars else "_double"

    def writable(self, operands: Texts, owned: bool, kind: str) -> str:
        """The first operand as an array to write to; itself, if it is ours and of that type."""
        is_one = owned and kind == "_double"
        return operands[0] if is_one else super().writable(operands, owned, kind)

    def written_over(self, function: str, arguments: str, out: str) -> str:
        """A call whose result is written over an array; by place takes less time, but NumPy gives
        it up for two functions."""
        by_name = "out=" if function in ("np.maximum", "np.minimum") else ""
        return f"{function}({arguments}, {by_name}{out})"


NumpyBackend.for_doubles = NumpyOfDoubles
