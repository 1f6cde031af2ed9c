"""NumPy: the spelling with the least overhead, results written in place, SciPy for special
functions."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
from sympy import Expr

from ..ir.code import (
    FLOAT64,
    Code,
    Operand,
    call,
    called_name,
    constant,
    equal,
    is_integer,
    name,
    nodes,
    number_of,
    product,
    quote,
    with_keywords,
)
from ..passes.batching import batched
from ..passes.splitting import split
from ..passes.traces import with_traces
from ..runtime.array_helpers import shared
from ..runtime.numpy_factors import BY_FACTORS, NUMPY_FACTORS
from ..runtime.numpy_reductions import NUMPY_REDUCTIONS
from ..runtime.numpy_running import NUMPY_RUNNING
from ..runtime.stable_functions import STABLE_FUNCTIONS
from .base import Backend
from .scalars import NumberNames, scalar_code
from .spelling import (
    Bracket,
    Codes,
    Destination,
    along_axes,
    as_view,
    assigned,
    bracketed,
    called,
)


def _is_block(cuts: Sequence[Bracket]) -> bool:
    """Tell whether a slice of a matrix, if any, consists of neighbouring rows and columns."""
    return not cuts or (len(cuts) == 2 and all(cut.is_contiguous for cut in cuts))


def _diagonal_of_block(place: Destination, width: Code) -> Code:
    """Return the diagonal of a block among the entries of a matrix in C order."""
    entries, step = quote("{0}.ravel()", place.array), quote("{0} + 1", width)
    if not place.cuts:
        return quote("{0}[::{1}]", entries, step)
    row, column = [cut.start or constant(0) for cut in place.cuts]
    parts = [] if is_integer(row, 0) else [width if is_integer(row, 1) else product([row, width])]
    parts += [] if is_integer(column, 0) else [column]
    if not parts:
        view = quote("{0}[::{1}]", entries, step)
    else:
        start = parts[0] if len(parts) == 1 else quote("{0} + {1}", *parts)
        view = quote("{0}[{1}::{2}]", entries, start, step)
    if place.is_last:
        return view
    return quote("{0}[:{1}]", view, next(cut.number for cut in place.cuts if cut.number))


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

    def quick_tests(self, names: Sequence[str]) -> list[str]:
        """Arrays without a doubt, of numbers."""
        types = " is ".join([f"type({name})" for name in names])
        return [f"{types} is np.ndarray", *super().quick_tests(names)]

    def opening(self, used: Collection[str], tensors: Sequence[str]) -> list[ast.stmt]:
        """The type of the arguments; NumPy takes long to find what is the same for all."""
        lines = super().opening(used, tensors)
        if self.is_read_back or not lines or not tensors:
            return lines
        arrays = [name(own) for own in tensors]
        types = [quote("{0}.dtype", array) for array in arrays]
        kinds = "c" if self.is_complex else "fc"
        tests = [quote("{0}.kind in {1}", types[0], kinds)]
        if len(types) > 1:
            tests.append(ast.Compare(types[0], [ast.Is()] * (len(types) - 1), types[1:]))
        is_known = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        wide = self.common_type(arrays, [self.fraction])
        return [assigned(name("dtype"), ast.IfExp(is_known, types[0], wide), 0)]

    def silences(self, code: ast.AST) -> str:
        """Ignore errors in choices, of which both branches are computed, and the overflow of what
        has the reciprocal 0."""
        found = list(nodes(code))
        calls = [called_name(node) for node in found if isinstance(node, ast.Call)]
        if "np.where" in calls:
            divides = any(isinstance(node, (ast.Div, ast.FloorDiv, ast.Pow)) for node in found)
            return "all" if divides or {*calls} != {"np.where"} else ""
        return "over" if any(map(_is_reciprocal_of_expm1, found)) else ""

    # --- scalars and elementwise

    def scalar(self, operands: Codes, expr: Expr) -> Code:
        """A SymPy scalar expression in slots; numbers have no size that could be asked for. What is
        chosen is a number, too, no array without axes."""
        code = scalar_code(expr, operands, self.code, "scalars", self.spellings, self.functions)
        return quote("{0}[()]", code) if called_name(code) == "np.where" else code

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """A SymPy scalar expression in slots, applied to every entry of arrays."""
        return scalar_code(expr, operands, self.code, self.name, self.spellings, self.functions)

    def sum(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """The sum over axes, over all for None."""
        if self.sums_quickly(axes):
            return super().sum(operands, axes)
        return along_axes(call("sums", operands[0]), axes)

    @staticmethod
    def sums_quickly(axes: Sequence[int] | None) -> bool:
        """Tell whether NumPy's own sum is the fastest over these axes."""
        return axes is None or len(axes) > 1 or axes[0] == 0

    def diagonal(self, operands: Codes, subscripts: str) -> Code:
        """Diagonals of repeated indices; the method has the least overhead."""
        if subscripts == "ii->i":
            return quote("{0}.diagonal()", operands[0])
        return super().diagonal(operands, subscripts)

    def contiguous(self, operands: Codes) -> Code:
        """The array in C order, contiguous in memory."""
        return quote("np.ascontiguousarray({0})", operands[0])

    def copy(self, operands: Codes) -> Code:
        """A copy that the caller may write to."""
        return quote("np.array({0})", operands[0])

    def rows(self, operands: Codes) -> Code:
        """Arrays of one shape, one after the other; nested lists are the fastest."""
        return quote("np.array([{*0}])", operands)

    def in_place(self, op: str, operands: Codes, place: int, signs: Sequence[int] = ()) -> Code:
        """A sum or product written over one of its operands; an error where that would change the
        type of the result."""
        function, out = "np.multiply", operands[place]
        if op == "add":
            function = "np.negative"
            if len(signs) > 1:
                function = "np.add" if min(signs) > 0 else "np.subtract"
            operands = operands[:: signs[0]]
        return self.written_over(function, operands, out)

    def written_over(self, function: str, arguments: Codes, out: Code) -> Code:
        """A call whose result is written over an array; an error where that has another type."""
        return with_keywords(call(function, *arguments), out=out, casting="no")

    def in_place_function(self, code: Code, place: int) -> Code:
        """The call of one of NumPy's universal functions written over an argument; other code as
        it is."""
        function, arguments = called_name(code), []
        if isinstance(code, ast.BinOp):
            function, arguments = "np.divide", [code.left, code.right]
            if isinstance(code.op, ast.Pow) and is_integer(code.right, 2):
                function, arguments = "np.square", [code.left]
            elif not isinstance(code.op, ast.Div) or not isinstance(code.left, Operand):
                return code
        elif isinstance(code, ast.Call) and not code.keywords:
            arguments = code.args
        are_leaves = all(isinstance(own, (ast.Name, ast.Constant)) for own in arguments)
        is_ufunc = isinstance(getattr(np, function.removeprefix("np."), None), np.ufunc)
        if not arguments or len(arguments) > 2 or not are_leaves or not is_ufunc:
            return code
        return self.written_over(function, arguments, arguments[place])

    def add_transposed(self, operands: Codes) -> Code:
        """X + X'; of a large matrix by blocks that fit the cache."""
        return quote("{0} + {0}.T if len({0}) < 1000 else add_transposed({0})", operands[0])

    def dot(self, operands: Codes) -> Code:
        """The product of matrices and vectors; the method has the least overhead."""
        return quote("{0}.dot({1})", *operands)

    weighted_gram = called("weighted_gram")

    def vdot(self, operands: Codes) -> Code:
        """The full contraction of two operands of one shape."""
        return quote("{0}.ravel().dot({1}.ravel())", *operands)

    def take(self, operands: Codes, first: int) -> Code:
        """An array at some positions along axes; the method has the least overhead."""
        if len(operands) > 2:
            return super().take(operands, first)
        return quote("{0}.take({1}, {2})", *operands, first)

    def scatter(self, operands: Codes, lengths: Codes, once: bool) -> Code:
        """Zeros, to which something is added at positions, or written if none occurs twice."""
        code = super().scatter(operands, lengths, once)
        return with_keywords(code, once=True) if once else code

    def scatters(self, operands: Codes, lengths: Codes) -> Code:
        """Several scatters into one array."""
        width = 1 + len(lengths)
        first, *rest = [
            self.scatter(operands[start : start + width], lengths, False)
            for start in range(0, len(operands), width)
        ]
        for code in rest:
            first = with_keywords(code, to=first)
        return first

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """The array with all entries equal to a scalar."""
        for number, function in enumerate(("np.zeros", "np.ones")):
            if is_integer(operands[0], number):
                return call(function, shape, kind)
        return call("np.full", shape, operands[0], kind)

    def zeros(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Zeros, to be written to."""
        return call("np.zeros", shape, kind)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """The first operand as an array to write to; itself, if it is ours and of that type."""
        if owned and equal(kind, quote("{0}.dtype", operands[0])):
            return operands[0]
        return call(f"np.{'asarray' if owned else 'array'}", operands[0], kind)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """The statement that writes into, or changes, the diagonal of an array that is cut."""
        part = bracketed(place.array, place.cuts)
        if place.width and place.subscripts == "ii->i" and _is_block(place.cuts):
            view = _diagonal_of_block(place, place.width)
        elif place.subscripts == "ii->i" and not self.is_read_back:
            view = quote("diagonal_in({0})[...]", part)
        elif place.is_diagonal:
            view = quote("np.einsum({0}, {1})[...]", place.subscripts, part)
        else:
            view = as_view(part) if part is place.array else part
        return self.assigned(view, value, sign)

    # --- matrices that are factored by SciPy's LAPACK, if it is installed

    def factored(self, operands: Codes, definite: bool) -> Code:
        """Factors of a matrix."""
        if self.is_read_back or not _has_lapack():
            return super().factored(operands, definite)
        code = call("factored", operands[0])
        return with_keywords(code, definite=True) if definite else code

    def solved(self, operands: Codes, definite: bool, transposed: bool) -> Code:
        """inv(X) @ Y, or inv(X)' @ Y, by factors."""
        if self.is_read_back or not _has_lapack():
            return super().solved(operands, definite, transposed)
        code = call("solved", *operands)
        return with_keywords(code, transposed=True) if transposed else code

    def by_factors(self, operands: Codes, name: str, definite: bool, shape: Codes) -> Code:
        """The inverse or the determinant by factors."""
        if self.is_read_back or not _has_lapack():
            if name == "trace of inv":
                return quote("{0}.trace()", self.inv(operands, definite))
            return super().by_factors(operands, name, definite, shape)
        return call(BY_FACTORS[name], operands[0])

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


def _is_reciprocal_of_expm1(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return False
    return number_of(node.left) == 1 and called_name(node.right) == "np.expm1"


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

    def quick_tests(self, names: Sequence[str]) -> list[str]:
        """Arrays of doubles."""
        types = " is ".join([f"type({name})" for name in names])
        return [f"{types} is _ndarray", *self.type_tests(names, ())]

    def number_test(self, name: str) -> str:
        """Return the test that a number, in an array or not, keeps float64 results float64."""
        is_array = f"type({name}) is _ndarray and {name}.dtype is _double and not {name}.ndim"
        return f"(type({name}) in _numbers or {is_array})"

    def type_tests(self, arrays: Sequence[str], numbers: Sequence[str]) -> list[str]:
        """Return tests that all arguments are float64 arrays and numbers that fit these."""
        types = " is ".join([*[f"{name}.dtype" for name in arrays], "_double"])
        return [types, *map(self.number_test, numbers)]

    def opening(self, used: Collection[str], tensors: Sequence[str]) -> list[ast.stmt]:
        """The type of the arguments."""
        return [assigned(name("dtype"), name("_double"), 0)] if "dtype" in used else []

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """A SymPy scalar expression in slots, applied to every entry of arrays."""
        kinds = {code.kind if isinstance(code, Operand) else "" for code in operands}
        numbers = self.numbers if kinds <= {FLOAT64} and NumberNames.fit(expr) else None
        functions = self.functions
        return scalar_code(expr, operands, self.code, self.name, self.spellings, functions, numbers)

    def sum(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """The sum over axes, over all for None; the method takes longer."""
        if not self.sums_quickly(axes):
            return super().sum(operands, axes)
        over = None if axes is None else axes[0] if len(axes) == 1 else tuple(axes)
        return call("np.add.reduce", operands[0], over)

    def own_number(self, number: Expr) -> Code:
        """A number that an array of doubles is combined with."""
        return name(self.numbers.name(number))

    def common_type(self, arrays: Codes, scalars: Codes) -> Code:
        """Doubles, if nothing else is among them."""
        return super().common_type(arrays, scalars) if arrays or scalars else name("_double")

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """The first operand as an array to write to; itself, if it is ours and of that type."""
        is_one = owned and equal(kind, name("_double"))
        return operands[0] if is_one else super().writable(operands, owned, kind)

    def written_over(self, function: str, arguments: Codes, out: Code) -> Code:
        """A call whose result is written over an array; by place takes less time, but NumPy gives
        it up for two functions."""
        if function in ("np.maximum", "np.minimum"):
            return with_keywords(call(function, *arguments), out=out)
        return call(function, *arguments, out)


NumpyBackend.for_doubles = NumpyOfDoubles
