"""NumPy: the spelling with the least overhead, results written in place, SciPy for special
functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
from sympy import Expr

from ..ir.code import (
    FLOAT64,
    Code,
    Operand,
    assigned,
    call,
    called_name,
    constant,
    equal,
    is_integer,
    name,
    number_of,
    product,
    quote,
    subscript,
    with_keywords,
)
from ..ir.instruction_rules import Definiteness
from ..ir.plans import Plan
from ..passes.batching import batched
from ..passes.joined_slices import join_slices
from ..passes.shared_calls import share_logarithms
from ..passes.splitting import split_elementwise
from ..passes.traces import with_traces
from ..runtime.shared_helpers import STABLE_FUNCTIONS, shared
from ..runtime.sources import Helper, helpers
from .base import Backend
from .scalars import NumberNames, scalar_code
from .spelling import (
    Bracket,
    Codes,
    Destination,
    along_axes,
    as_view,
    bracketed,
    called,
)


def _is_block(slices: Sequence[Bracket]) -> bool:
    """Tell whether a slice of a matrix, if any, consists of neighbouring rows and columns."""
    return not slices or (len(slices) == 2 and all(part.is_contiguous for part in slices))


def _diagonal_of_block(place: Destination, width: Code) -> Code:
    """Return the diagonal of a block among the entries of a matrix in C order."""
    entries, step = quote("{0}.ravel()", place.array), quote("{0} + 1", width)
    if not place.slices:
        return quote("{0}[::{1}]", entries, step)
    row, column = [part.start or constant(0) for part in place.slices]
    parts = [] if is_integer(row, 0) else [width if is_integer(row, 1) else product([row, width])]
    parts += [] if is_integer(column, 0) else [column]
    if not parts:
        view = quote("{0}[::{1}]", entries, step)
    else:
        start = parts[0] if len(parts) == 1 else quote("{0} + {1}", *parts)
        view = quote("{0}[{1}::{2}]", entries, start, step)
    if place.is_last:
        return view
    return quote("{0}[:{1}]", view, next(part.number for part in place.slices if part.number))


def _has_lapack() -> bool:
    return find_spec("scipy") is not None


class NumpyBackend(Backend):
    """Spells instructions in NumPy 2; special functions come from SciPy, if any are used."""

    name = "numpy"
    sparse = "from scipy.sparse import csr_array"
    imports = (
        "import numpy as np",
        "from scipy import special",
        "from scipy import linalg as scipy_linalg",
        "from scipy.linalg import lapack",
    )
    exponential = "scipy_linalg.expm"
    asarray = "np.asarray"
    overwrites = True
    in_blocks = True
    plain_lengths = True
    writes_entries = True
    words: ClassVar = {"len", "float", "int"}
    # A tenth of np.select's time.
    spellings: ClassVar = {
        "Piecewise": "np.where",
        "ndtr_share_of_log": "ndtr_share_of_log({0}, {1}, {2}, {3})",
    }

    @property
    def passes(self) -> tuple[Callable[[Plan], Plan], ...]:  # type: ignore[override]
        """The passes over plans; text that is read back has no functions of its own."""
        own = (batched, join_slices, split_elementwise, with_traces)
        return own if self.is_read_back else (share_logarithms, *own)

    def quick_tests(self, names: Sequence[str]) -> list[str]:
        """Return tests that arguments are arrays of numbers, and no subclass."""
        types = " is ".join([f"type({name})" for name in names])
        return [f"{types} is np.ndarray", *super().quick_tests(names)]

    def opening(self, used: Collection[str], tensors: Sequence[str]) -> list[ast.stmt]:
        """Spell the type of the arguments; NumPy takes long to find what is the same for all."""
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

    def silences(self, parts: Sequence[ast.AST]) -> str:
        """Ignore errors in choices, of which both branches are computed, and the overflow of what
        has the reciprocal 0."""
        if any(isinstance(part, ast.Name) and part.id == "newton_root" for part in parts):
            return "all"  # Steps that lead to no numbers are halved.
        attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
        if "where" in attributes:
            calls = {called_name(part) for part in parts if isinstance(part, ast.Call)}
            if "np.where" in calls:
                divides = any(isinstance(part, (ast.Div, ast.FloorDiv, ast.Pow)) for part in parts)
                return "all" if divides or calls != {"np.where"} else ""
        is_reciprocal = "expm1" in attributes and any(map(_is_reciprocal_of_expm1, parts))
        return "over" if is_reciprocal else ""

    # --- scalars and elementwise

    def scalar(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots. Numbers have no size to be asked for, and
        choices between numbers are numbers, no arrays without axes."""
        code = scalar_code(expr, operands, self.code, "scalars", self.spellings, self.functions)
        return quote("{0}[()]", code) if called_name(code) == "np.where" else code

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots, applied to every entry of arrays."""
        return scalar_code(expr, operands, self.code, self.name, self.spellings, self.functions)

    def sum(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell the sum over axes, over all for None."""
        if self.sums_quickly(axes):
            return super().sum(operands, axes)
        return along_axes(call("sums", operands[0]), axes)

    @staticmethod
    def sums_quickly(axes: Sequence[int] | None) -> bool:
        """Tell whether NumPy's own sum is the fastest over these axes."""
        return axes is None or len(axes) > 1 or axes[0] == 0

    def diagonal(self, operands: Codes, subscripts: str) -> Code:
        """Spell diagonals of repeated indices; the method has the least overhead."""
        if subscripts == "ii->i":
            return quote("{0}.diagonal()", operands[0])
        return super().diagonal(operands, subscripts)

    def contiguous(self, operands: Codes) -> Code:
        """Spell the array in C order, contiguous in memory."""
        return quote("np.ascontiguousarray({0})", operands[0])

    def copy(self, operands: Codes) -> Code:
        """Spell a copy that the caller may write to."""
        return quote("np.array({0})", operands[0])

    def rows(self, operands: Codes) -> Code:
        """Spell arrays of one shape, one after the other; nested lists are the fastest."""
        return quote("np.array([{*0}])", operands)

    def in_place(self, op: str, operands: Codes, place: int, signs: Sequence[int] = ()) -> Code:
        """Spell a sum or product written over one of its operands; an error where that would change
        the type of the result."""
        function, out = "np.multiply", operands[place]
        if op == "add":
            function = "np.negative"
            if len(signs) > 1:
                function = "np.add" if min(signs) > 0 else "np.subtract"
            operands = operands[:: signs[0]]
        return self.written_over(function, operands, out)

    def written_over(self, function: str, arguments: Codes, out: Code) -> Code:
        """Spell a call whose result is written over an array; an error where that has another
        type."""
        return with_keywords(call(function, *arguments), out=out, casting="no")

    def in_place_function(self, code: Code, place: int) -> Code:
        """Spell the call of one of NumPy's universal functions written over an argument; other code
        as it is."""
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
        """Spell X + X'; of a large matrix by blocks that fit the cache."""
        return quote("{0} + {0}.T if len({0}) < 1000 else add_transposed({0})", operands[0])

    def dot(self, operands: Codes) -> Code:
        """Spell the product of matrices and vectors; the method has the least overhead."""
        return quote("{0}.dot({1})", *operands)

    weighted_gram = called("weighted_gram")

    def vdot(self, operands: Codes) -> Code:
        """Spell the full contraction of two operands of one shape."""
        return quote("{0}.ravel().dot({1}.ravel())", *operands)

    def take(self, operands: Codes, first: int) -> Code:
        """Spell an array at some positions along axes; the method has the least overhead."""
        if len(operands) > 2:
            return super().take(operands, first)
        return quote("{0}.take({1}, {2})", *operands, first)

    def scatter(self, operands: Codes, lengths: Codes, once: bool) -> Code:
        """Spell zeros, to which something is added at positions, or written if none occurs
        twice."""
        code = super().scatter(operands, lengths, once)
        return with_keywords(code, once=True) if once else code

    def scatters(self, operands: Codes, lengths: Codes) -> Code:
        """Spell several scatters into one array."""
        width = 1 + len(lengths)
        first, *rest = [
            self.scatter(operands[start : start + width], lengths, False)
            for start in range(0, len(operands), width)
        ]
        for code in rest:
            first = with_keywords(code, to=first)
        return first

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell the array with all entries equal to a scalar."""
        for number, function in enumerate(("np.zeros", "np.ones")):
            if is_integer(operands[0], number):
                return call(function, shape, kind)
        return call("np.full", shape, operands[0], kind)

    def zeros(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell zeros, to be written to."""
        return call("np.zeros", shape, kind)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """Spell the first operand as an array to write to; itself, if it is ours and of that
        type."""
        if owned and equal(kind, quote("{0}.dtype", operands[0])):
            return operands[0]
        return call(f"np.{'asarray' if owned else 'array'}", operands[0], kind)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell the statement that writes into, or changes, the diagonal of a slice of an
        array."""
        part = bracketed(place.array, place.slices)
        if place.width and place.subscripts == "ii->i" and _is_block(place.slices):
            view = _diagonal_of_block(place, place.width)
        elif place.subscripts == "ii->i" and not self.is_read_back:
            view = quote("diagonal_in({0})[...]", part)
        elif place.is_diagonal:
            view = quote("np.einsum({0}, {1})[...]", place.subscripts, part)
        else:
            view = as_view(part) if part is place.array else part
        return self.assigned(view, value, sign)

    def write_entry(
        self, array: Code, slices: Sequence[Bracket], value: Code, sign: int
    ) -> ast.stmt:
        """Spell the statement that writes or changes an entry: numbers take a third of the time of
        slices."""
        places = [part.start or constant(0) for part in slices]
        return self.assigned(subscript(array, places), value, sign)

    # --- matrices that are factored by SciPy's LAPACK, if it is installed

    @property
    def has_factors(self) -> bool:  # type: ignore[override]
        """Whether SciPy is there, and the text isn't to be read again."""
        return not self.is_read_back and _has_lapack()

    @property
    def has_sparse_factors(self) -> bool:  # type: ignore[override]
        """Whether SciPy is there, and the text isn't to be read again."""
        return self.has_factors

    def factored(self, operands: Codes, definite: Definiteness) -> Code:
        """Spell factors of a matrix."""
        if isinstance(definite, str):
            return quote("sparse_factors({0})", operands[0])
        code = super().factored(operands, definite)
        return (
            with_keywords(code, symmetric=True) if definite is None and self.has_factors else code
        )

    def solved(self, operands: Codes, definite: Definiteness, transposed: bool) -> Code:
        """Spell inv(X) @ Y, or inv(X)' @ Y, by factors."""
        if not isinstance(definite, str):
            return super().solved(operands, definite, transposed)
        code = quote("{0}.solve({1})", *operands)
        return with_keywords(code, transposed=True) if transposed else code

    def by_factors(self, operands: Codes, name: str, definite: Definiteness, shape: Codes) -> Code:
        """Spell the inverse or the determinant by factors."""
        if not isinstance(definite, str):
            return super().by_factors(operands, name, definite, shape)
        return quote({"inv": "{0}.inv()", "logdet": "{0}.logdet()"}[name], operands[0])

    support: ClassVar = {
        **helpers(
            ".numpy_factors",
            *("lapack_function", "factored", "trace_of_inverse", "cholesky_factor", "lu_factors"),
            *("unit_lower", "lower_inverse", "lower_gram", "lower_solve", "upper_solve"),
            *("row_order", "solved", "inverted", "log_determinant", "signed_log_determinant"),
            "determinant",
        ),
        **helpers(
            ".numpy_reductions",
            *("sums", "largest", "max_shift", "log_total", "logsumexp", "softmax", "share"),
        ),
        **helpers(
            ".numpy_running",
            *("running_products", "recurrence", "running_weights", "logcumsumexp", "running_mean"),
        ),
        **shared(
            *("cofactors", "derivative_along", "lagged_cumsum", "mirrored", "last_equal"),
            *("correlate", "newton_root", *STABLE_FUNCTIONS),
        ),
        **helpers(".numpy_arrays", "assembled", "diagonal_in", "add_transposed", "weighted_gram"),
        **helpers(
            ".numpy_functions",
            *("sigmoid", "sigmoid_derivative", "softplus", "gamma_rise", "ndtr_share_of_log"),
            *("log_ndtr_difference", "logaddexp_by_log1p", "polygamma", "replaced"),
        ),
        "gamma_rise_by_series": Helper(".special_functions", "gamma_rise"),
        "log_ndtr_difference_by_tails": Helper(".special_functions", "log_ndtr_difference"),
        "ndtr_share_by_tails": Helper(".special_functions", "ndtr_share"),
        **helpers(
            ".numpy_arrays",
            *("by_rows", "windows", "scatter", "spectrum", "from_spectrum", "one_hot"),
        ),
    }


def _is_reciprocal_of_expm1(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return False
    return number_of(node.left) == 1 and called_name(node.right) == "np.expm1"


# NumPy's names of operators.
UNIVERSAL = {
    ast.Add: "np.add",
    ast.Sub: "np.subtract",
    ast.Mult: "np.multiply",
    ast.Div: "np.divide",
}


class NumpyOfFloat64(NumpyBackend):
    """Spells instructions in what takes NumPy the least time for small arrays."""

    for_float64: ClassVar = None
    is_of_float64 = True

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
        """Return tests that arguments are arrays of doubles."""
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
        """Spell the type of the arguments."""
        return [assigned(name("dtype"), name("_double"), 0)] if "dtype" in used else []

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots, applied to every entry of arrays."""
        kinds = {code.kind if isinstance(code, Operand) else "" for code in operands}
        numbers = self.numbers if kinds <= {FLOAT64} and NumberNames.fit(expr) else None
        functions = self.functions
        return scalar_code(expr, operands, self.code, self.name, self.spellings, functions, numbers)

    def sum(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell the sum over axes, over all for None; the method takes longer."""
        if not self.sums_quickly(axes):
            return super().sum(operands, axes)
        over = None if axes is None else axes[0] if len(axes) == 1 else tuple(axes)
        return call("np.add.reduce", operands[0], over)

    def own_number(self, number: Expr) -> Code:
        """Spell a number that an array of doubles is combined with."""
        return name(self.numbers.name(number))

    def common_type(self, arrays: Codes, scalars: Codes) -> Code:
        """Spell float64, if no operand may have another type."""
        return super().common_type(arrays, scalars) if arrays or scalars else name("_double")

    def loop_type(self, arrays: Codes, scalars: Codes, keeps_integers: bool) -> Code:
        """Doubles."""
        return name("_double")

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """Spell the first operand as an array to write to; itself, if it is ours and of that
        type."""
        is_one = owned and equal(kind, name("_double"))
        return operands[0] if is_one else super().writable(operands, owned, kind)

    def written_over(self, function: str, arguments: Codes, out: Code) -> Code:
        """Spell a call whose result is written over an array; by place takes less time, but NumPy
        gives it up for two functions."""
        if function in ("np.maximum", "np.minimum"):
            return with_keywords(call(function, *arguments), out=out)
        return call(function, *arguments, out)

    def stored(self, code: Code, row: Code) -> Code | None:
        """Spell a universal function whose result is computed into a row of an array."""
        function, arguments = called_name(code), []
        if isinstance(code, ast.BinOp):
            function = UNIVERSAL.get(type(code.op), "")
            arguments = [code.left, code.right]
        elif isinstance(code, ast.Call) and not code.keywords:
            arguments = code.args
        own = getattr(np, function.removeprefix("np."), None)
        is_whole = isinstance(own, np.ufunc) and own.nin == len(arguments)
        return self.written_over(function, arguments, row) if is_whole else None


NumpyBackend.for_float64 = NumpyOfFloat64
