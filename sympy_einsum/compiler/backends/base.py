"""The base class of backends: the spelling of instructions that all array libraries agree on.

Arguments of the methods are the syntax trees of operands and of axis lengths; what comes back is
the tree of one expression. ``np`` and ``special`` in templates are replaced by the library's own
namespaces.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from sympy import Expr

from ..ir.code import (
    MATMUL,
    Code,
    assigned,
    call,
    constant,
    is_integer,
    name,
    negative,
    product,
    quote,
    subscript,
    total,
    with_keywords,
)
from ..ir.instructions import BY_FACTORS
from ..ir.plans import Plan
from .given_functions import GivenFunctions
from .library import Library
from .scalars import scalar_code
from .spelling import (
    ALL_ENTRIES,
    NEW_AXIS,
    Bracket,
    Codes,
    Destination,
    along_axes,
    bracketed,
    called,
    called_along,
    numbers_code,
    spread,
    type_of,
)


class Backend(Library):
    """Spells instructions as most array libraries do: values that can't be written to, creation
    from shapes and types, the names of NumPy.

    A subclass with a name of its own is a backend from then on, and declares all that makes its
    library different in class attributes and methods.
    """

    # The classes by their names.
    registered: ClassVar[dict[str, type[Backend]]] = {}

    # Passes over a plan before it is written, and whether results are written over operands that
    # nothing needs any more.
    passes: ClassVar[tuple[Callable[[Plan], Plan], ...]] = ()
    overwrites: ClassVar[bool] = False
    # Whether sums over many rows are computed from some rows at a time.
    in_blocks: ClassVar[bool] = False
    # Whether its functions of Python's numbers give doubles that aren't Python's.
    plain_lengths: ClassVar[bool] = False
    # Whether blocks that are added to both halves of an axis are added at once in loops.
    adds_halves: ClassVar[bool] = False
    # Whether entries are written as numbers in loops.
    writes_entries: ClassVar[bool] = False
    # The backends for complex numbers and for the float64 fast path, if they differ.
    for_complex: ClassVar[type[Backend] | None] = None
    for_float64: ClassVar[type[Backend] | None] = None
    # The backends of kernels by the type of the numbers, if it compiles kernels.
    by_type: ClassVar[Mapping[str, type[Backend]]] = {}
    # Whether it is the one for doubles.
    is_of_float64: ClassVar[bool] = False
    # How loops are written: as statements that write into arrays, by JAX's scan, or not at all.
    loops: ClassVar[str] = "written"
    # Whether helper functions factor a matrix, and compute from the factors.
    has_factors: bool = False
    # Whether those of a sparse matrix exist.
    has_sparse_factors: bool = False
    # Whether its compiler keeps what it traced by code objects, which functions then can't share.
    keeps_code: ClassVar[bool] = False
    # Whether it pickles functions, which it looks for in all modules if they have none.
    pickles_functions: ClassVar[bool] = False
    # Whether its functions take its own numbers only.
    own_numbers: ClassVar[bool] = False

    # Values that the code uses, by name.
    namespace: Mapping[str, object] = {}
    # The arrays among the arguments that are positions on axes.
    positions_named: Sequence[str] = ()
    # Whether there are complex numbers in what is computed, whatever the arguments are.
    is_complex: bool = False
    # Whether the text is to be read again, so that it must say what it computes by known names.
    is_read_back: bool = False
    # The functions that a caller gives for unknown ones.
    functions: GivenFunctions = GivenFunctions()
    # The functions of loops that stand above the one that is written.
    loops_above: Sequence[ast.stmt] = ()
    # The spelling of zeros and ones.
    zero: ClassVar[str] = "0"
    one: ClassVar[str] = "1"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            Backend.registered[cls.name] = cls

    def quick_tests(self, names: Sequence[str]) -> list[str]:
        """Return tests that arguments are arrays of this library's numbers; arguments that fail are
        converted."""
        same = " is ".join([f"{name}.dtype" for name in names])
        first, *others = [self.is_wide.format(name) for name in names]
        return [first, *([f"({same} or {' and '.join(others)})"] if others else [])]

    def number_test(self, name: str) -> str:
        """Return the test that an argument is a number."""
        return f'not hasattr({name}, "__len__")'

    def functions_above(self) -> list[ast.stmt]:
        """Return further functions, to be put above the one that is written."""
        return [*self.loops_above]

    def opening(self, used: Collection[str], tensors: Sequence[str]) -> list[ast.stmt]:
        """Return the statements that a function starts with, given the variables that it uses and
        the arrays among its arguments."""
        if "dtype" not in used:
            return []
        kind = self.common_type([name(own) for own in tensors], [self.fraction])
        return [assigned(name("dtype"), kind, 0)]

    def silences(self, parts: Sequence[ast.AST]) -> str:
        """Return the kind of errors of numbers to be ignored in a statement with these nodes,
        because they say nothing of its value; empty for none."""
        return ""

    @property
    def fraction(self) -> Code:
        """A number that integers can't hold; one that real numbers can't, if there are such."""
        return constant(0j if self.is_complex else 0.0)

    # --- scalars and elementwise

    def scalar(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots."""
        return scalar_code(expr, operands, self.code, self.name, self.spellings, self.functions)

    def type_tests(self, arrays: Sequence[str], numbers: Sequence[str]) -> list[str]:
        """Return tests that arguments have the types of the float64 fast path."""
        raise NotImplementedError

    def own_number(self, number: Expr) -> Code:
        """Spell a number that arrays of doubles are combined with, for the one for doubles."""
        raise NotImplementedError

    def length(self, operands: Codes, expr: Expr) -> Code:
        """Spell an axis length or a position, in slots."""
        return self.scalar(operands, expr)

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots, applied to every entry of arrays."""
        return self.scalar(operands, expr)

    def number(self, value: Code) -> Code:
        """Spell a number of Python's as one of the library's, of the arguments' type."""
        return self.code("np.asarray({0}, dtype=np.result_type(dtype, {0}))[()]", value)

    # --- results written over an operand, for those with ``overwrites``

    def in_place(self, op: str, operands: Codes, place: int, signs: Sequence[int] = ()) -> Code:
        """Spell a sum or product written over one of its operands; an error where that would change
        the type of the result."""
        raise NotImplementedError

    def in_place_function(self, code: Code, place: int) -> Code:
        """Spell a quotient or the call of a function written over one of its operands; other code
        as it is."""
        return code

    # --- loops

    def loop_type(self, arrays: Codes, scalars: Codes, keeps_integers: bool) -> Code:
        """Spell the type of what a loop carries, given the arrays and numbers that it is made
        from, and whether it makes integers from integers."""
        # Sums and maxima of Booleans are integers.
        number = constant(0) if keeps_integers else self.fraction
        return self.common_type(arrays, [*scalars, number])

    def integers(self) -> Code:
        """Spell the type of integers."""
        return self.code("np.int64")

    def loop(self, operands: Codes, function: str) -> Code:
        """Spell the call of the function of a loop."""
        return call(function, *operands)

    def stored(self, code: Code, row: Code) -> Code | None:
        """Spell the computation of a value into a row of an array; None where it is copied."""
        return None

    def result(self, operands: Codes, place: int, shape: Codes) -> Code:
        """Spell one of the results of a loop."""
        return subscript(operands[0], [constant(place)])

    def solution(self, operands: Codes, system: Code) -> Code:
        """Spell the solution of an equation, given the function of F and its Jacobian."""
        return call("newton_root", system, *operands)

    # --- axes

    def transpose(self, operands: Codes, axes: Sequence[int]) -> Code:
        """Spell the axes in another order."""
        if list(axes) == [1, 0]:
            return quote("{0}.T", operands[0])
        return quote("{0}.transpose({*1})", operands[0], axes)

    def index(self, operands: Codes, entries: Codes) -> Code:
        """Spell basic indexing, one tree for each axis; new axes are None."""
        return subscript(operands[0], entries)

    def slice(self, operands: Codes, slices: Sequence[Bracket]) -> Code:
        """Spell positions and slices of axes."""
        return bracketed(operands[0], slices)

    def diagonal(self, operands: Codes, subscripts: str) -> Code:
        """Spell diagonals of repeated indices."""
        return self.einsum(operands, subscripts)

    def reshape(self, operands: Codes, shape: Codes) -> Code:
        """Spell the entries in C order under another shape."""
        return quote("{0}.reshape({1})", operands[0], shape)

    def broadcast(self, operands: Codes, shape: Codes) -> Code:
        """Spell the operand repeated along axes, without a copy."""
        return self.code("np.broadcast_to({0}, {1})", operands[0], shape)

    def contiguous(self, operands: Codes) -> Code:
        """Spell the array in C order, contiguous in memory."""
        return operands[0]

    def copy(self, operands: Codes) -> Code:
        """Spell a copy that the caller may write to."""
        return operands[0]

    def matrix_power(self, operands: Codes, exponent: Code) -> Code:
        """Spell a power of each matrix, or its derivative in the directions that follow."""
        code = self.along(
            lambda X: self.code("np.linalg.matrix_power({0}, {1})", X, exponent), operands
        )
        # The first power is the operand itself.
        return code if len(operands) > 1 else self.copy([code])

    # --- arithmetic

    def sum(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell the sum over axes, over all for None."""
        return along_axes(quote("{0}.sum()", operands[0]), axes)

    def cumsum(self, operands: Codes, axis: int, backwards: bool) -> Code:
        """Spell the running sum along an axis, or that from its end."""
        if not backwards:
            return quote("{0}.cumsum({1})", operands[0], axis)
        backward = [ALL_ENTRIES.code] * axis + [ast.Slice(None, None, constant(-1))]
        total = quote("{0}.cumsum({1})", self.index(operands, backward), axis)
        return self.index([total], backward)

    def triangular(self, operands: Codes, upper: bool, offset: Code) -> Code:
        """Spell the last two axes with zeros on the left of a diagonal, or on its right."""
        return self.code(f"np.{'triu' if upper else 'tril'}({{0}}, {{1}})", operands[0], offset)

    def cumprod(self, operands: Codes) -> Code:
        """Spell the running products along the last axis."""
        return quote("{0}.cumprod(-1)", operands[0])

    # Running operations along axes, Fourier transforms and the like: helpers in the source.
    lagged_cumsum = called("lagged_cumsum")
    mirrored = called("mirrored")
    running_products = called("running_products")
    recurrence = called("recurrence")
    running_weights = called("running_weights")
    logcumsumexp = called("logcumsumexp")
    running_mean = called("running_mean")
    spectrum = called("spectrum")
    from_spectrum = called("from_spectrum")
    correlate = called("correlate")
    share = called_along("share")
    max_shift = called_along("max_shift")
    logsumexp = called_along("logsumexp")
    softmax = called_along("softmax")
    log_total = called_along("log_total")

    def rows(self, operands: Codes) -> Code:
        """Spell arrays of one shape, one after the other along a new first axis."""
        return self.code("np.stack([{*0}])", operands)

    def windows(self, operands: Codes, axis: int, start: Code, steps: Codes, counts: Codes) -> Code:
        """Spell an axis as several."""
        return call("windows", operands[0], axis, start, steps, counts)

    def convolve(self, operands: Codes) -> Code:
        """Spell the convolution of two vectors."""
        return self.code("np.convolve({0}, {1})", *operands)

    def prod(self, operands: Codes) -> Code:
        """Spell the product of all entries."""
        return quote("{0}.prod()", operands[0])

    def multiply(self, operands: Codes) -> Code:
        """Spell the broadcast product."""
        return product(operands)

    def add(self, operands: Codes, signs: Sequence[int]) -> Code:
        """Spell the broadcast sum with signs."""
        first = negative(operands[0]) if signs[0] < 0 else operands[0]
        are_negative = [sign < 0 for sign in signs[1:]]
        return total(first, list(zip(are_negative, operands[1:], strict=True)))

    def add_transposed(self, operands: Codes) -> Code:
        """Spell X + X'."""
        return quote("{0} + {0}.T", operands[0])

    def dot(self, operands: Codes) -> Code:
        """Spell the product of matrices and vectors."""
        return ast.BinOp(operands[0], MATMUL, operands[1])

    def weighted_gram(self, operands: Codes) -> Code:
        """Spell X' diag(w) X with w >= 0."""
        return quote("({0}.T * {1}) @ {0}", *operands)

    def matmul(self, operands: Codes) -> Code:
        """Spell the matrix product of stacks."""
        return self.code("np.matmul({0}, {1})", *operands)

    def vdot(self, operands: Codes) -> Code:
        """Spell the full contraction of two operands of one shape."""
        return quote("({0} * {1}).sum()", *operands)

    def einsum(self, operands: Codes, subscripts: str) -> Code:
        """Spell a contraction that no faster primitive does."""
        return self.code("np.einsum({0}, {*1})", subscripts, operands)

    # --- creation and structure

    def common_type(self, arrays: Codes, scalars: Codes) -> Code:
        """Spell the type that holds the entries of arrays and scalars; that of the arguments, if
        there are none."""
        if not arrays and not scalars:
            return name("dtype")
        if len(arrays) == 1 and not scalars:
            return quote("{0}.dtype", arrays[0])
        return self.code("np.result_type({*0})", [*arrays, *scalars])

    def created(self, function: str, arguments: Sequence[Any], kind: Code) -> Code:
        """Spell the call of a function that creates an array of some type."""
        return self.code(f"np.{function}({{*0}}, dtype={{1}})", arguments, kind)

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell the array with all entries equal to a scalar."""
        for number, function in enumerate(("zeros", "ones")):
            if is_integer(operands[0], number):
                return self.created(function, [shape], kind)
        return self.created("full", [shape, operands[0]], kind)

    def zeros(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell zeros, to be written to."""
        return self.created("zeros", [shape], kind)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """Spell the first operand as an array to write to; itself, if it is ours and of that
        type."""
        return quote("{0}.astype({1}, copy={2})", operands[0], kind, not owned)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell the statement that writes a value of some order into a place for the sign 0, and
        adds or subtracts it for 1 and -1: here a diagonal is a choice, which a compiler fuses with
        what comes next."""
        target = place.array
        block = self._on_diagonals(place, value, order, sign) if place.is_diagonal else value
        if place.slices:
            return self.put(target, place.slices, block, sign)
        value = self.add([target, block], (1, sign)) if sign else block
        return assigned(target, value, 0)

    def put(self, target: Code, slices: Sequence[Bracket], block: Code, sign: int) -> ast.stmt:
        """Spell the statement that writes, adds or subtracts a block of an array."""
        return self.assigned(bracketed(target, slices), block, sign)

    def add_halves(self, array: Code, first: Code, second: Code, axis: int) -> ast.stmt:
        """Spell the statement that adds blocks to both halves of an axis, for those with
        ``adds_halves``."""
        raise NotImplementedError

    def write_entry(
        self, array: Code, slices: Sequence[Bracket], value: Code, sign: int
    ) -> ast.stmt:
        """Spell the statement that writes, adds or subtracts an entry of an array, for those with
        ``writes_entries``."""
        raise NotImplementedError

    def assigned(self, place: Code, value: Code, sign: int) -> ast.stmt:
        """Spell the statement that writes, adds or subtracts a value where it may be written to."""
        return assigned(place, value, sign)

    def _on_diagonals(self, place: Destination, value: Code, order: int, sign: int) -> Code:
        """Spell an array with the value on its diagonals; off them the target's entries, or zeros
        to be added."""
        target, slices = place.array, place.slices
        output, kept = place.subscripts.split("->")
        firsts = [output.index(label) for label in kept]
        placed = spread(value, order, [k in firsts for k in range(len(output))])
        axes = enumerate(slices or [ALL_ENTRIES] * len(output))
        lengths = [
            part.number or quote("{0}.shape[{1}]", target, k) for k, part in axes if part.is_slice
        ]
        masks = [
            self._on_diagonal(lengths[k], len(output), output.index(label), k)
            for k, label in enumerate(output)
            if output.index(label) < k
        ]
        mask = reduce(lambda first, second: quote("{0} & {1}", first, second), masks)
        # Beside the diagonals stays what was written there before.
        beside = self.zero_code if sign or not slices else bracketed(target, slices)
        if not sign and not slices:
            beside = target
        return self.code("np.where({0}, {1}, {2})", mask, placed, beside)

    def _on_diagonal(self, length: Code, order: int, first: int, second: int) -> Code:
        """Return the part of an array where two axes have the same position."""
        entries = [ALL_ENTRIES.code if k in (first, second) else NEW_AXIS for k in range(order)]
        return subscript(self.created("eye", [length], name("bool")), entries)

    @property
    def zero_code(self) -> Code:
        """Zero."""
        return self.code(self.zero)

    def tri(self, operands: Codes, rows: Code, columns: Code, offset: Code) -> Code:
        """Spell ones at and below a diagonal."""
        return self.code("np.tri({0}, {1}, {2}, dtype)", rows, columns, offset)

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """Spell an array of numbers, written out."""
        numbers, kind = numbers_code(array, self.code), type_of(array, self.code)
        return self.code("np.array({0}, dtype={1})", numbers, kind)

    def named_constant(self, constant: str) -> Code:
        """Spell an array of NumPy that the source has by a name."""
        return self.code("np.asarray({0})", name(constant))

    # --- matrix functions

    def inv(self, operands: Codes, definite: bool | None) -> Code:
        """Spell the inverse."""
        return self.code("np.linalg.inv({0})", operands[0])

    def solve(self, operands: Codes, definite: bool | None) -> Code:
        """Spell inv(X) @ Y."""
        return self.code("np.linalg.solve({0}, {1})", *operands)

    def det(self, operands: Codes, definite: bool | None) -> Code:
        """Spell the determinant."""
        return self.code("np.linalg.det({0})", operands[0])

    def logdet(self, operands: Codes, definite: bool | None) -> Code:
        """Spell log |det|, by Cholesky's factor if there is one."""
        if definite:
            return self.code("2 * np.log(np.linalg.cholesky({0}).diagonal()).sum()", operands[0])
        return self.code("np.linalg.slogdet({0})[1]", operands[0])

    def slogdet(self, operands: Codes, definite: bool | None) -> Code:
        """Spell the sign of the determinant and the logarithm of its absolute value."""
        return self.code("np.linalg.slogdet({0})", operands[0])

    def factored(self, operands: Codes, definite: bool | None) -> Code:
        """Spell factors of a matrix; without factors the matrix itself, which each function of it
        factors."""
        if not self.has_factors:
            return operands[0]
        code = call("factored", operands[0])
        return with_keywords(code, definite=True) if definite else code

    def solved(self, operands: Codes, definite: bool | None, transposed: bool) -> Code:
        """Spell inv(X) @ Y, or inv(X)' @ Y, by factors."""
        if self.has_factors:
            code = call("solved", *operands)
            return with_keywords(code, transposed=True) if transposed else code
        X, Y = operands
        return self.solve([quote("{0}.T", X) if transposed else X, Y], definite)

    def by_factors(self, operands: Codes, name: str, definite: bool | None, shape: Codes) -> Code:
        """Spell the inverse or the determinant by factors."""
        if self.has_factors:
            return call(BY_FACTORS[name], operands[0])
        if name == "trace of inv":
            return quote("{0}.trace()", self.inv(operands, definite))
        code: Code = getattr(self, name)(operands, definite)
        return code

    def cofactors(self, operands: Codes, order: int) -> Code:
        """Spell a derivative of det, by singular values, so that a singular matrix is fine."""
        return call("cofactors", operands[0], order, *operands[1:])

    # --- stacks of matrices

    def stacked(self, operands: Codes, name: str, tail: Codes) -> Code:
        """Spell a function of each matrix."""
        if name == "adj":
            return self.code("np.swapaxes({0}, -1, -2)", self.cofactors(operands, 1))
        if name == "cofactors":
            return self.cofactors(operands, len(tail) // 2)
        if name == "expm":
            return self._exponential(operands)
        return self.code(self.stacks.get(name, f"np.linalg.{name}({{0}})"), *operands)

    def _exponential(self, operands: Codes) -> Code:
        """Spell the exponential of each matrix, or its derivative in the directions that follow."""
        if not self.exponential:
            raise self.lacks("expm")
        return self.along(lambda X: call(self.exponential, X), operands)

    def along(self, function: Callable[[Code], Code], operands: Codes) -> Code:
        """Spell a function of each matrix, or its derivative in the directions that follow."""
        if len(operands) == 1:
            return function(operands[0])
        body = quote("lambda _: {0}", function(name("_")))
        return quote("derivative_along({0}, {*1})", body, operands)

    def decomposed(self, operands: Codes, name: str) -> Code:
        """Spell a decomposition of each matrix."""
        return self.stacked(operands, name, ())

    def part(self, operands: Codes, place: int, tail: Codes) -> Code:
        """Spell one of the arrays of a decomposition."""
        return quote("{0}[{1}]", operands[0], place)

    # --- maxima and order

    def extremum(self, operands: Codes, name: str, axes: Sequence[int] | None) -> Code:
        """Spell the largest or smallest entries over axes, over all for None."""
        return along_axes(quote(f"{{0}}.{name}()", operands[0]), axes)

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell the entries along an axis in order, or the largest or smallest so far."""
        function = {"cummax": "maximum.accumulate", "cummin": "minimum.accumulate"}.get(name, name)
        return self.code(f"np.{function}({{0}}, axis={{1}})", operands[0], axis)

    def positions(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell positions along an axis."""
        if name in ("argcummax", "argcummin"):
            running = self.picked(operands, name.removeprefix("arg"), axis)
            return call("last_equal", operands[0], running, axis)
        if name == "argsort":
            return self.code(f"np.argsort({{0}}, axis={{1}}{self.stably})", operands[0], axis)
        return quote(f"{{0}}.{name}(axis={{1}})", operands[0], axis)

    # --- positions

    def range(self, operands: Codes, length: Code) -> Code:
        """Spell the positions on an axis."""
        return self.code("np.arange({0})", length)

    def take(self, operands: Codes, first: int) -> Code:
        """Spell an array at some positions along axes."""
        return subscript(operands[0], [ALL_ENTRIES.code] * first + list(operands[1:]))

    def scatter(self, operands: Codes, lengths: Codes, once: bool) -> Code:
        """Spell zeros, to which something is added at positions."""
        if "scatter" not in self.support:
            raise self.lacks("scatter, which adds to entries at positions")
        value, *positions = operands
        return call("scatter", value, lengths, *positions)

    def scatters(self, operands: Codes, lengths: Codes) -> Code:
        """Spell zeros, to which several operands are added at the positions that follow them."""
        width = 1 + len(lengths)
        starts = range(0, len(operands), width)
        parts = [self.scatter(operands[k : k + width], lengths, False) for k in starts]
        return self.add(parts, (1,) * len(parts))

    def one_hot(self, operands: Codes, length: Code) -> Code:
        """Spell ones at positions on a last axis."""
        return call("one_hot", operands[0], length, name("dtype"))
