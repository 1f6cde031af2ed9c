"""The signature of a generated function: names of arguments, axis lengths read from them, and the
code that checks them.

No string that a user chose reaches the text: names that aren't plain identifiers are replaced.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sympy import (
    Abs,
    Dummy,
    Expr,
    Integer,
    Max,
    Min,
    Piecewise,
    Pow,
    S,
    Symbol,
    ceiling,
    floor,
    fraction,
    together,
)
from sympy.printing.pycode import PythonCodePrinter

from ...core import Shape, TensorError, cached
from ...expressions import Operand, shape_of, slot
from ..backends import Backend, is_plain_name
from ..ir.code import Code, assigned, constant, dotted, name, quote, renamed
from .index_bounds import given_lengths
from .printer import indented, printed

# Names that generated code uses itself, besides those of its backend.
RESERVED = {"axis", "check_shapes", "checked_array", "checked_integer", "dtype", "fallback", "fits"}
RESERVED |= {"_first", "function", "range", "rows", "slice"}
RESERVED |= {
    "block_array",
    "compressed",
    "sparse",
    "sparse_factors",
    "hasattr",
    "int",
    "type",
    "variants",
    "ShapeError",
}
RESERVED |= {"ArithmeticError", "AttributeError", "IndexError", "TypeError", "ValueError"}


def plain_names(symbols: Iterable[Symbol], reserved: Iterable[str]) -> list[str]:
    """Return an identifier for each symbol: its name where that is plain and unique, else its
    place."""
    taken = {*RESERVED, *reserved}
    names: list[str] = []
    for number, symbol in enumerate(symbols):
        name = symbol.name
        if not is_plain_name(name) or name in taken:
            name = f"arg{number}_"
        taken.add(name)
        names.append(name)
    return names


class Signature:
    """The arguments of a generated function, their names, and where the axis lengths come from.

    ``exprs`` are what is computed: an argument that a length in them depends on is a length.
    """

    def __init__(
        self,
        symbols: Sequence[Expr],
        backend: Backend,
        reserved: Iterable[str] = (),
        exprs: Sequence[Operand] = (),
    ):
        self.symbols = list(symbols)
        self.backend = backend
        given = set(symbols)
        own = {length for symbol in symbols for length in shape_of(symbol)}
        # The lengths that depend on arguments, other than those of arguments.
        self.sizes = [length for length in given_lengths(exprs, given) if length not in own]
        # The arguments that are lengths.
        self.given = {s for length in [*own, *self.sizes] for s in length.free_symbols & given}
        # The first axis that has each length.
        self.axes: dict[Expr, tuple[Expr, int]] = {}
        for symbol in symbols:
            for axis, length in enumerate(shape_of(symbol)):
                if isinstance(length, Symbol) and length not in given:
                    self.axes.setdefault(length, (symbol, axis))
        self._lengths_of: dict[Expr, dict[int, Expr]] = {symbol: {} for symbol in symbols}
        for length, (symbol, axis) in self.axes.items():
            self._lengths_of[symbol][axis] = length
        # Lengths that an axis tells together with others, as n + 1 tells n.
        self.solved = _solved_lengths(symbols, given | self.axes.keys())
        taken = {*backend.reserved(), *reserved}
        names = plain_names([*symbols, *self.axes, *self.solved], taken)
        self.names = dict(zip([*symbols, *self.axes, *self.solved], names, strict=True))
        self.arguments = names[: len(self.symbols)]

    @property
    def lengths(self) -> list[Expr]:
        """The lengths that the arguments tell."""
        return [*self.axes, *self.solved]

    def read_lengths(self, wanted: Iterable[Expr]) -> list[ast.stmt]:
        """Return the statements that read axis lengths from the arguments."""
        found: list[ast.stmt] = []
        needed = set(wanted)
        for s in reversed(self.solved):
            if s in needed:
                needed |= self.solved[s].others
        for symbol in self.symbols:
            axes = {axis: s for axis, s in self._lengths_of[symbol].items() if s in needed}
            if not axes:
                continue
            order = len(shape_of(symbol))
            if len(axes) == 1:
                (axis, length), *_ = axes.items()
                found.append(assigned(name(self.names[length]), self._length(symbol, axis)))
            else:
                targets = [self.names[axes[k]] if k in axes else "_" for k in range(order)]
                found.append(self._unpacked(symbol, targets))
        return found + [self._solve(s) for s in self.solved if s in needed]

    def _length(self, symbol: Expr, axis: int) -> Code:
        """Return the length of an axis of an argument."""
        return quote("{0}.shape[{1}]", name(self.names[symbol]), axis)

    def _unpacked(self, symbol: Expr, targets: Sequence[str]) -> ast.stmt:
        """Return the statement that reads all axis lengths of an argument."""
        return assigned(ast.Tuple([*map(name, targets)]), dotted(f"{self.names[symbol]}.shape"))

    def _solve(self, length: Expr) -> ast.stmt:
        """Return the statement that finds a length from one that it is part of."""
        symbol, axis, value, _ = self.solved[length]
        given = self._length(symbol, axis)
        solution = _solution(value, given, self.names, self.backend)
        return assigned(name(self.names[length]), solution)

    def quick_checks(self, bounds: Collection[Expr]) -> tuple[list[ast.stmt], list[str]]:
        """Return the statements that read all axis lengths, and the tests of types, orders, lengths
        and bounds, which mustn't be negative. Arguments that fail are converted or refused."""
        tests: list[str] = []
        reads: list[ast.stmt] = []
        integers = self._integers(bounds)
        tensors = [symbol for symbol in self.symbols if shape_of(symbol)]
        if tensors:
            tests += self.backend.quick_tests([self.names[symbol] for symbol in tensors])
        for symbol in self.symbols:
            argument, shape = self.names[symbol], shape_of(symbol)
            own = self._lengths_of[symbol]
            known = {s for n in shape for s in n.free_symbols} <= self.names.keys()
            if own:
                targets = [self.names[own[k]] if k in own else "_" for k in range(len(shape))]
                for k, length in enumerate(shape):
                    if k not in own and known:
                        targets[k] = f"_{len(reads)}_{k}"
                        text = size_text(length, self.names, self.backend)
                        tests.append(f"{targets[k]} == {text}")
                reads.append(self._unpacked(symbol, targets))
            elif not shape:
                is_integer = symbol in integers
                test = f"type({argument}) is int" if is_integer else None
                tests.append(test or self.backend.number_test(argument))
            else:
                text = shape_text(shape, self.names, self.backend) if known else ""
                order = f"{argument}.ndim == {len(shape)}"
                tests.append(f"{argument}.shape == {text}" if text else order)
        if tests or reads:
            reads += [self._solve(s) for s in self.solved]
            wanted = self._known([*self.sizes, *bounds])
            tests += [f"{size_text(bound, self.names, self.backend)} >= 0" for bound in wanted]
        return reads, tests

    def _integers(self, bounds: Collection[Expr]) -> set[Expr]:
        """Return the arguments that are lengths or positions."""
        return self.given.union(*[bound.free_symbols for bound in bounds]) & {*self.symbols}

    def _known(self, bounds: Collection[Expr]) -> list[Expr]:
        return [bound for bound in bounds if bound.free_symbols <= self.names.keys()]

    def checks(self, error: str, bounds: Mapping[Expr, str]) -> list[str]:
        """Return the lines that verify orders, lengths and bounds: a quick test, and on its failure
        the whole check, which converts what isn't an array or says what is wrong."""
        reads, tests = self.quick_checks(bounds)
        if not tests and not reads:
            return []
        positions = self._integers(bounds) - self.given
        special = dict.fromkeys(self.given, "None") | dict.fromkeys(positions, "...")
        entries = []
        for symbol in self.symbols:
            described = special.get(symbol) or self._described(shape_of(symbol))
            entries.append(f"({symbol.name!r}, {self.names[symbol]}, {described})")
        names = ", ".join(self.arguments) + ("," if len(self.arguments) == 1 else "")
        errors = ["AttributeError", "ValueError"]
        errors[1:1] = ["IndexError"] * bool(self.solved) + ["TypeError"] * bool(special)
        lines = [
            "try:",
            *indented(reads),
            f"    fits = {' and '.join(tests) or 'True'}",
            f"except ({', '.join(errors)}):",
            "    fits = False",
            "if not fits:",
            f"    {names} = check_shapes((",
            *[f"        {entry}," for entry in entries],
            f"    ), {self.backend.asarray}, {error}{self._solutions()})",
        ]
        lines += indented(self.read_lengths(self.lengths))
        for bound in self._known([*self.sizes, *bounds]):
            text = size_text(bound, self.names, self.backend)
            if bound in self.sizes:
                problem = f"the length {text} can't be negative, but it is"
            else:
                known = sorted(bound.free_symbols, key=str)
                values = ", ".join([f"{s} = {{{self.names[s]}}}" for s in known])
                problem = f"{bounds[bound]}: {text} must be at least 0, but with {values} it is"
            # A position that a library traces isn't known yet.
            traced = [self.names[s] for s in self.symbols if s in positions & bound.free_symbols]
            test = " and ".join([*[f"type({name}) is int" for name in traced], f"{text} < 0"])
            lines += [f"    if {test}:", f'        raise {error}(f"{problem} {{{text}}}")']
        return lines

    def _solutions(self) -> str:
        """Spell how the full check finds solved lengths: a name, the place of the argument and the
        axis, the lengths that are known, and the function of these and that axis."""
        texts = []
        for s, (symbol, axis, value, others) in self.solved.items():
            known = sorted(others, key=str)
            keys = ", ".join([repr(other.name) for other in known])
            names = ", ".join(["axis", *[self.names[other] for other in known]])
            solution = printed(_solution(value, name("axis"), self.names, self.backend))
            function = f"lambda {names}: {solution}"
            texts.append(
                f"({s.name!r}, {self.symbols.index(symbol)}, {axis}, [{keys}], {function})"
            )
        return f", [{', '.join(texts)}]" if texts else ""

    def documented(self) -> list[str]:
        """Return a line of documentation for each argument."""
        texts = []
        for symbol, own in zip(self.symbols, self.arguments, strict=True):
            shape = shape_of(symbol)
            free = {s for length in shape for s in length.free_symbols}
            known = shape and free <= self.names.keys()
            texts.append(
                f"{own} : array of shape {shape_text(shape, self.names, self.backend)}"
                if known
                else f"{own} : array of order {len(shape)}"
                if shape
                else f"{own} : number"
            )
        return texts

    def _described(self, shape: Shape) -> str:
        texts = []
        for length in shape:
            if isinstance(length, Symbol):
                texts.append(repr(length.name))
            elif length.is_Integer:
                texts.append(str(length))
            else:
                free = sorted(length.free_symbols, key=str)
                function = "None"  # a length that no argument tells isn't checked
                if all(s in self.names for s in free):
                    names = ", ".join([self.names[s] for s in free])
                    function = f"lambda {names}: {size_text(length, self.names, self.backend)}"
                keys = [repr(s.name) for s in free]
                texts.append(f"({str(length)!r}, [{', '.join(keys)}], {function})")
        return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


class SolvedLength(NamedTuple):
    """The solution for a length that is part of an axis: the argument, the axis, and the value in
    terms of the axis' length ``AXIS`` and of others."""

    argument: Expr
    axis: int
    value: Expr
    others: set[Expr]


AXIS = Dummy("_axis", integer=True)


def _solved_lengths(symbols: Sequence[Expr], known: set[Expr]) -> dict[Expr, SolvedLength]:
    """Return the lengths that the axes of some arguments determine one after the other, where
    others are known, because they are an integer multiple and a sum there."""
    found: dict[Expr, SolvedLength] = {}
    pending = [
        (symbol, axis, length)
        for symbol in symbols
        for axis, length in enumerate(shape_of(symbol))
        if not length.is_Atom
    ]
    count = -1
    while count < len(found):
        count = len(found)
        for symbol, axis, length in pending:
            unknown = length.free_symbols - known - found.keys()
            if len(unknown) != 1:
                continue
            (s,) = unknown
            factor, rest = length.expand().coeff(s, 1), length.expand().coeff(s, 0)
            if factor.is_Integer and (length - factor * s - rest).expand() == 0:
                value = (AXIS - rest) / factor
                found[s] = SolvedLength(symbol, axis, value, length.free_symbols - {s})
    return found


def _solution(value: Expr, given: Code, names: Mapping[Expr, str], backend: Backend) -> Code:
    """Return a solution as code; the check of its length refuses an axis that it doesn't fit."""
    numerator, divisor = value.as_numer_denom()
    code = renamed(size_code(numerator, {**names, AXIS: AXIS.name}, backend), {AXIS.name: given})
    return code if divisor == 1 else quote("{0} // {1}", code, int(divisor))


class _LengthPrinter(PythonCodePrinter):
    """Lengths with rounded quotients and choices, in whole numbers of Python's."""

    def __init__(self, names: Mapping[Expr, str]):
        super().__init__({"fully_qualified_modules": False})
        self.names = names

    def _print_Symbol(self, expr: Symbol) -> str:
        return self.names[expr]

    _print_Dummy = _print_Symbol

    def _print_floor(self, expr: Expr) -> str:
        above, below = fraction(together(expr.args[0]))
        text = f"(({self.doprint(above)}) // ({self.doprint(below)}))"
        # Roots are floating-point numbers, but for those in rounded parts.
        rounded = expr.args[0].atoms(floor, ceiling)
        unrounded = expr.args[0].xreplace(dict.fromkeys(rounded, S.One))
        return f"int{text}" if any(part.exp == S.Half for part in unrounded.atoms(Pow)) else text

    def _print_Pow(self, expr: Expr, **settings: object) -> str:
        if expr.exp == S.Half:
            return f"({self.doprint(expr.base)})**0.5"
        return super()._print_Pow(expr, **settings)

    def _print_ceiling(self, expr: Expr) -> str:
        return f"(-{self._print_floor(floor(-expr.args[0], evaluate=False))})"


def size_text(length: Expr | int, names: Mapping[Expr, str], backend: Backend) -> str:
    """Return an axis length or a position as the text of integer code, given the names of
    symbols."""
    return printed(size_code(length, names, backend))


def size_code(length: Expr | int, names: Mapping[Expr, str], backend: Backend) -> Code:
    """Return an axis length or a position as integer code, given the names of symbols."""
    if isinstance(length, (int, Integer)):
        return constant(int(length))
    if isinstance(length, Symbol) and length in names:
        return quote(names[length])
    symbols = sorted(length.free_symbols, key=str)
    for symbol in symbols:
        if symbol not in names:
            raise TensorError(
                f"{symbol} is neither an argument nor an axis length of one; add it to the "
                "arguments, or a tensor that has an axis of that length"
            )
    if length.has(floor, ceiling, Piecewise, Max, Min, Abs):
        return quote(_LengthPrinter(names).doprint(length))
    body = length.xreplace({s: slot(k) for k, s in enumerate(symbols)})
    kind: Any = type(backend)
    return _length_code(body, tuple([names[s] for s in symbols]), kind)


# Few different lengths are spelled, many times.
@cached(4096)
def _length_code(body: Expr, operands: tuple[str, ...], backend: Callable[[], Backend]) -> Code:
    """Return a length in slots as integer code."""
    code = backend().length([*map(quote, operands)], body)
    whole = all(part.is_Integer or not part.is_Number for part in body.atoms())
    polynomial = body.is_polynomial() and whole
    return code if polynomial else quote("int({0})", code)


def shape_text(shape: Shape, names: Mapping[Expr, str], backend: Backend) -> str:
    """Return a shape as a tuple in code."""
    texts = [size_text(length, names, backend) for length in shape]
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"
