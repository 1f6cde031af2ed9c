"""The base class of backends: the spelling of instructions that all array libraries agree on.

Arguments of the methods are Python texts of operands, already safe to stand next to an operator's
dot or bracket, and of axis lengths; what comes back is the text of one expression. ``np`` and
``special`` in what is written here are replaced by the library's own namespaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from sympy import Expr

from ...core import UnsupportedError
from ..ir.plans import Plan
from .given_functions import GivenFunctions
from .library import Library
from .scalars import print_scalar
from .spelling import (
    SIGNS,
    Bracket,
    Place,
    Texts,
    along,
    as_tuple,
    axis_arguments,
    bracketed,
    called,
    called_along,
    is_bracketed,
    numbers_text,
    spread,
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
    # The backends for complex numbers and for the float64 fast path, if they differ.
    for_complex: ClassVar[type[Backend] | None] = None
    for_doubles: ClassVar[type[Backend] | None] = None
    # Whether it is the one for doubles.
    is_of_doubles: ClassVar[bool] = False
    # Whether its functions take its own numbers only.
    own_numbers: ClassVar[bool] = False

    # Values that the code uses, by name.
    namespace: Mapping[str, object] = {}
    # The arrays among the arguments that are positions on axes.
    positions_named: Texts = ()
    # Whether there are complex numbers in what is computed, whatever the arguments are.
    is_complex: bool = False
    # Whether the text is to be read again, so that it must say what it computes by known names.
    is_read_back: bool = False
    # The functions that a caller gives for unknown ones.
    functions: GivenFunctions = GivenFunctions()
    # The spelling of zeros and ones.
    zero: ClassVar[str] = "0"
    one: ClassVar[str] = "1"

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            Backend.registered[cls.name] = cls

    def quick_tests(self, names: Texts) -> list[str]:
        """Return tests that arguments are arrays of this library's numbers; arguments that fail are
        converted."""
        same = " is ".join([f"{name}.dtype" for name in names])
        first, *others = [self.is_wide.format(name) for name in names]
        return [first, *([f"({same} or {' and '.join(others)})"] if others else [])]

    def number_test(self, name: str) -> str:
        """Return the test that an argument is a number."""
        return f'not hasattr({name}, "__len__")'

    def module_parts(self) -> list[str]:
        """Return further lines to put above the function."""
        return []

    def opening(self, body: str, tensors: Texts) -> list[str]:
        """The lines that a function starts with, given its body and the arrays among its
        arguments."""
        if re.search(r"(?<!\.)\bdtype\b(?!=)", body) is None:
            return []
        return [f"dtype = {self.common_type(tensors, [self.fraction])}"]

    def silenced(self, lines: Sequence[str]) -> list[str]:
        """Return the lines of a function, without warnings about values that aren't chosen."""
        return [*lines]

    @property
    def fraction(self) -> str:
        """A number that integers can't hold; one that real numbers can't, if there are such."""
        return "0j" if self.is_complex else "0.0"

    # --- scalars and elementwise

    def scalar(self, operands: Texts, expr: Expr) -> str:
        """A SymPy scalar expression in slots."""
        return self.spell(print_scalar(expr, operands, self.name, self.spellings, self.functions))

    def type_tests(self, arrays: Texts, numbers: Texts) -> list[str]:
        """Return tests that arguments have the types of the float64 fast path."""
        raise NotImplementedError

    def own_number(self, number: Expr) -> str:
        """A number that arrays of doubles are combined with, for the one for doubles."""
        raise NotImplementedError

    def length(self, operands: Texts, expr: Expr) -> str:
        """An axis length or a position, in slots."""
        return self.scalar(operands, expr)

    def elementwise(self, operands: Texts, expr: Expr) -> str:
        """A SymPy scalar expression in slots, applied to every entry of arrays."""
        return self.scalar(operands, expr)

    def number(self, name: str) -> str:
        """A number of Python's as one of the library's, of the arguments' type."""
        return self.spell(f"np.asarray({name}, dtype=np.result_type(dtype, {name}))[()]")

    # --- results written over an operand, for those with ``overwrites``

    def in_place(self, op: str, operands: Texts, place: int, signs: Sequence[int] = ()) -> str:
        """A sum or product written over one of its operands; an error where that would change the
        type of the result."""
        raise NotImplementedError

    def in_place_function(self, text: str, place: int) -> str:
        """A quotient or the call of a function written over one of its operands; other code as it
        is."""
        return text

    # --- axes

    def transpose(self, operands: Texts, axes: Sequence[int]) -> str:
        """The axes in another order."""
        if list(axes) == [1, 0]:
            return f"{operands[0]}.T"
        return f"{operands[0]}.transpose({', '.join(map(str, axes))})"

    def index(self, operands: Texts, entries: Sequence[str]) -> str:
        """Basic indexing, one text for each axis; new axes are ``None``."""
        return f"{operands[0]}[{', '.join(entries)}]"

    def cut(self, operands: Texts, cuts: Sequence[Bracket]) -> str:
        """Positions and slices of axes."""
        return f"{operands[0]}{bracketed(cuts)}"

    def diagonal(self, operands: Texts, subscripts: str) -> str:
        """Diagonals of repeated indices."""
        return self.einsum(operands, subscripts)

    def reshape(self, operands: Texts, shape: Texts) -> str:
        """The entries in C order under another shape."""
        return f"{operands[0]}.reshape({as_tuple(shape)})"

    def broadcast(self, operands: Texts, shape: Texts) -> str:
        """The operand repeated along axes, without a copy."""
        return self.spell(f"np.broadcast_to({operands[0]}, {as_tuple(shape)})")

    def contiguous(self, operands: Texts) -> str:
        """The array in C order, contiguous in memory."""
        return operands[0]

    def copy(self, operands: Texts) -> str:
        """A copy that the caller may write to."""
        return operands[0]

    # --- arithmetic

    def sum(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """The sum over axes, over all for None."""
        return f"{operands[0]}.sum({''.join(axis_arguments(axes))})"

    def cumsum(self, operands: Texts, axis: int, backwards: bool) -> str:
        """The running sum along an axis, or that from its end."""
        if not backwards:
            return f"{operands[0]}.cumsum({axis})"
        turned = [":"] * axis + ["::-1"]
        return self.index([f"{self.index(operands, turned)}.cumsum({axis})"], turned)

    def triangular(self, operands: Texts, upper: bool, offset: str) -> str:
        """The last two axes with zeros on the left of a diagonal, or on its right."""
        return self.spell(f"np.{'triu' if upper else 'tril'}({operands[0]}, {offset})")

    def cumprod(self, operands: Texts) -> str:
        """The running products along the last axis."""
        return f"{operands[0]}.cumprod(-1)"

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
    peak = called_along("peak")
    logsumexp = called_along("logsumexp")
    softmax = called_along("softmax")
    log_total = called_along("log_total")

    def rows(self, operands: Texts) -> str:
        """Arrays of one shape, one after the other along a new first axis."""
        return self.spell(f"np.stack([{', '.join(operands)}])")

    def windows(self, operands: Texts, axis: int, start: str, steps: Texts, counts: Texts) -> str:
        """An axis as several."""
        return f"windows({operands[0]}, {axis}, {start}, {as_tuple(steps)}, {as_tuple(counts)})"

    def convolve(self, operands: Texts) -> str:
        """The convolution of two vectors."""
        return self.spell(f"np.convolve({operands[0]}, {operands[1]})")

    def prod(self, operands: Texts) -> str:
        """The product of all entries."""
        return f"{operands[0]}.prod()"

    def multiply(self, operands: Texts) -> str:
        """The broadcast product."""
        return " * ".join(operands)

    def add(self, operands: Texts, signs: Sequence[int]) -> str:
        """The broadcast sum with signs."""
        first = ("-" if signs[0] < 0 else "") + operands[0]
        rest = [
            (" - " if s < 0 else " + ") + o for s, o in zip(signs[1:], operands[1:], strict=True)
        ]
        return first + "".join(rest)

    def add_transposed(self, operands: Texts) -> str:
        """X + X'."""
        return f"{operands[0]} + {operands[0]}.T"

    def dot(self, operands: Texts) -> str:
        """The product of matrices and vectors."""
        second = operands[1] if is_bracketed(operands[1]) else f"({operands[1]})"
        return f"{operands[0]} @ {second}"

    def weighted_gram(self, operands: Texts) -> str:
        """X' diag(w) X with w >= 0."""
        return f"(({operands[0]}.T * {operands[1]}) @ {operands[0]})"

    def matmul(self, operands: Texts) -> str:
        """The matrix product of stacks."""
        return self.spell(f"np.matmul({operands[0]}, {operands[1]})")

    def vdot(self, operands: Texts) -> str:
        """The full contraction of two operands of one shape."""
        return f"({operands[0]} * {operands[1]}).sum()"

    def einsum(self, operands: Texts, subscripts: str) -> str:
        """A contraction that no faster primitive does."""
        return self.spell(f"np.einsum({subscripts!r}, {', '.join(operands)})")

    # --- creation and structure

    def common_type(self, arrays: Texts, scalars: Texts) -> str:
        """The type that holds the entries of arrays and scalars; that of the arguments, if there
        are none."""
        if not arrays and not scalars:
            return "dtype"
        if len(arrays) == 1 and not scalars:
            return f"{arrays[0]}.dtype"
        return self.spell(f"np.result_type({', '.join([*arrays, *scalars])})")

    def created(self, function: str, arguments: str, kind: str) -> str:
        """The call of a function that creates an array of some type."""
        return self.spell(f"np.{function}({arguments}, dtype={kind})")

    def full(self, operands: Texts, shape: Texts, kind: str) -> str:
        """The array with all entries equal to a scalar."""
        if operands[0] in ("0", "1"):
            return self.created(("zeros", "ones")[int(operands[0])], as_tuple(shape), kind)
        return self.created("full", f"{as_tuple(shape)}, {operands[0]}", kind)

    def zeros(self, operands: Texts, shape: Texts, kind: str) -> str:
        """Zeros, to be written to."""
        return self.created("zeros", as_tuple(shape), kind)

    def writable(self, operands: Texts, owned: bool, kind: str) -> str:
        """The first operand as an array to write to."""
        return operands[0]

    def write(self, place: Place, value: str, order: int, sign: int) -> str:
        """The statement that writes a value of some order into a place for the sign 0, and adds or
        subtracts it for 1 and -1: here a diagonal is a choice, which a compiler fuses with what
        comes next."""
        target = place.array
        block = self._on_diagonals(place, value, order, sign) if place.is_diagonal else value
        if place.cuts:
            return self.spell(self.put(target, bracketed(place.cuts), block, sign))
        value = self.add([target, block], (1, sign)) if sign else block
        return self.spell(f"{target} = {value}")

    def put(self, target: str, brackets: str, block: str, sign: int) -> str:
        """The statement that writes, adds or subtracts a block of an array."""
        return self.assigned(f"{target}{brackets}", block, sign)

    def assigned(self, place: str, value: str, sign: int) -> str:
        """The statement that writes, adds or subtracts a value where it may be written to."""
        return f"{place} {SIGNS[sign]} {value}"

    def _on_diagonals(self, place: Place, value: str, order: int, sign: int) -> str:
        """An array with the value on its diagonals; off them the target's entries, or zeros to be
        added."""
        target, cuts = place.array, place.cuts
        output, kept = place.subscripts.split("->")
        firsts = [output.index(label) for label in kept]
        placed = spread(value, order, [k in firsts for k in range(len(output))])
        axes = enumerate(cuts or [Bracket(":")] * len(output))
        lengths = [c.number or f"{target}.shape[{k}]" for k, c in axes if c.number or c.text == ":"]
        mask = " & ".join(
            self._on_diagonal(lengths[k], len(output), output.index(label), k)
            for k, label in enumerate(output)
            if output.index(label) < k
        )
        # Beside the diagonals stays what was written there before.
        beside = self.zero if sign else f"{target}{bracketed(cuts)}" if cuts else target
        return f"np.where({mask}, {placed}, {beside})"

    def _on_diagonal(self, length: str, order: int, first: int, second: int) -> str:
        """Where two axes have the same position."""
        entries = [":" if k in (first, second) else "None" for k in range(order)]
        return f"{self.created('eye', length, 'bool')}[{', '.join(entries)}]"

    def tri(self, operands: Texts, rows: str, columns: str, offset: str) -> str:
        """Ones at and below a diagonal."""
        return self.spell(f"np.tri({rows}, {columns}, {offset}, dtype)")

    def constant(self, operands: Texts, array: np.ndarray) -> str:
        """An array of numbers, written out."""
        return self.spell(f"np.array({numbers_text(array)})")

    def named_constant(self, name: str) -> str:
        """An array of NumPy that the source has by a name."""
        return self.spell(f"np.asarray({name})")

    # --- matrix functions

    def inv(self, operands: Texts, definite: bool) -> str:
        """The inverse."""
        return self.spell(f"np.linalg.inv({operands[0]})")

    def solve(self, operands: Texts, definite: bool) -> str:
        """inv(X) @ Y."""
        return self.spell(f"np.linalg.solve({operands[0]}, {operands[1]})")

    def det(self, operands: Texts, definite: bool) -> str:
        """The determinant."""
        return self.spell(f"np.linalg.det({operands[0]})")

    def logdet(self, operands: Texts, definite: bool) -> str:
        """log |det|, by Cholesky's factor if there is one."""
        if definite:
            diagonal = f"np.linalg.cholesky({operands[0]}).diagonal()"
            return self.spell(f"(2 * np.log({diagonal}).sum())")
        return self.spell(f"np.linalg.slogdet({operands[0]})[1]")

    def slogdet(self, operands: Texts, definite: bool) -> str:
        """The sign of the determinant and the logarithm of its absolute value."""
        return self.spell(f"np.linalg.slogdet({operands[0]})")

    def factored(self, operands: Texts, definite: bool) -> str:
        """Factors of a matrix; here the matrix, which all that needs some factors for itself."""
        return operands[0]

    def solved(self, operands: Texts, definite: bool, turned: bool) -> str:
        """inv(X) @ Y, or inv(X)' @ Y, by factors."""
        X, Y = operands
        return self.solve([f"{X}.T" if turned else X, Y], definite)

    def by_factors(self, operands: Texts, name: str, definite: bool, shape: Texts) -> str:
        """The inverse or the determinant by factors."""
        text: str = getattr(self, name)(operands, definite)
        return text

    def cofactors(self, operands: Texts, order: int) -> str:
        """A derivative of det, by singular values, so that a singular matrix is fine."""
        return f"cofactors({', '.join([operands[0], str(order), *operands[1:]])})"

    # --- stacks of matrices

    def stacked(self, operands: Texts, name: str, tail: Texts) -> str:
        """A function of each matrix."""
        if name == "adj":
            return self.spell(f"np.swapaxes({self.cofactors(operands, 1)}, -1, -2)")
        if name == "cofactors":
            return self.cofactors(operands, len(tail) // 2)
        if name == "expm":
            return self._exponential(operands)
        call = self.stacks.get(name, f"np.linalg.{name}({{0}})")
        return self.spell(call.format(*operands))

    def _exponential(self, operands: Texts) -> str:
        """The exponential of each matrix, or its derivative in the directions that follow."""
        if not self.exponential:
            raise UnsupportedError(f"backend {self.name!r} has no expm")
        return along(f"{self.exponential}({{0}})", operands)

    def decomposed(self, operands: Texts, name: str) -> str:
        """A decomposition of each matrix."""
        return self.stacked(operands, name, ())

    def part(self, operands: Texts, place: int, tail: Texts) -> str:
        """One of the arrays of a decomposition."""
        return f"{operands[0]}[{place}]"

    # --- maxima and order

    def extremum(self, operands: Texts, name: str, axes: Sequence[int] | None) -> str:
        """The largest or smallest entries over axes, over all for None."""
        return f"{operands[0]}.{name}({''.join(axis_arguments(axes))})"

    def picked(self, operands: Texts, name: str, axis: int) -> str:
        """The entries along an axis in order, or the largest or smallest so far."""
        if name == "sort":
            return self.spell(f"np.sort({operands[0]}, axis={axis})")
        ufunc = {"cummax": "maximum", "cummin": "minimum"}[name]
        return self.spell(f"np.{ufunc}.accumulate({operands[0]}, axis={axis})")

    def positions(self, operands: Texts, name: str, axis: int) -> str:
        """Positions along an axis."""
        if name in ("argcummax", "argcummin"):
            running = self.picked(operands, name.removeprefix("arg"), axis)
            return f"last_equal({operands[0]}, {running}, {axis})"
        if name == "argsort":
            return self.spell(f"np.argsort({operands[0]}, axis={axis}{self.stably})")
        return f"{operands[0]}.{name}(axis={axis})"

    # --- positions

    def range(self, operands: Texts, length: str) -> str:
        """The positions on an axis."""
        return self.spell(f"np.arange({length})")

    def take(self, operands: Texts, first: int) -> str:
        """An array at some positions along axes."""
        entries = [":"] * first + list(operands[1:])
        return f"{operands[0]}[{', '.join(entries)}]"

    def scatter(self, operands: Texts, lengths: Texts, once: bool) -> str:
        """Zeros, to which something is added at positions."""
        if "scatter" not in self.support:
            raise UnsupportedError(
                f"backend {self.name!r} has no function that adds to entries at positions"
            )
        value, *positions = operands
        return f"scatter({value}, {as_tuple(lengths)}, {', '.join(positions)})"

    def scatters(self, operands: Texts, lengths: Texts) -> str:
        """Zeros, to which several operands are added at the positions that follow them."""
        width = 1 + len(lengths)
        starts = range(0, len(operands), width)
        parts = [self.scatter(operands[k : k + width], lengths, False) for k in starts]
        return self.add(parts, (1,) * len(parts))

    def one_hot(self, operands: Texts, length: str) -> str:
        """Ones at positions on a last axis."""
        return f"one_hot({operands[0]}, {length}, dtype)"
