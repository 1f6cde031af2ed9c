"""Evaluate programs on symbols of the inferred types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sympy import Symbol, pi

from ...core import ParseError, TensorError, postorder
from ...expressions import Constant, Operand, TensorSymbol
from ..nodes import Deadline, Location, SyntaxNode, children_of
from ..numbers import read_number
from .inference import PRIMITIVES, CaddieType, TypeInference, Value
from .parser import FunctionText, read
from .point_free import PointFree, projection, translated
from .values import (
    BINARY,
    FUNCTIONS,
    as_expression,
    component,
    mapped,
    negated,
    raised_to,
    symbols_in,
)

Functions = Mapping[str, Callable[[Value], Value]]


@dataclass(frozen=True)
class CaddieFunction:
    """Hold a function of a program, ``fun name argument = …``.

    Attributes
    ==========

    name : its name
    argument : a symbol for a number, a vector for a tuple or an array of numbers, a tuple of these
        for another tuple
    value : an expression, or a tuple of expressions and tuples
    """

    name: str
    argument: Value
    value: Value
    _translate: Callable[[], PointFree]

    @property
    def point_free(self) -> PointFree:
        """The function as a composition of combinators, without variables.

        Raises UnsupportedError for arrays, which have none.
        """
        return self._translate()

    @property
    def symbols(self) -> list[Operand]:
        """The symbols of the argument, in order."""
        return list(symbols_in(self.argument))

    @property
    def expr(self) -> Operand:
        """The value as one expression; a tuple of numbers is a vector.

        Raises TensorError for a tuple of several shapes.
        """
        found = as_expression(self.value)
        if found is None:
            raise TensorError(
                f"{self.name} returns a tuple of several shapes, which no tensor holds; its "
                "components are in value"
            )
        return found

    def __str__(self) -> str:
        return f"{self.name} {self.argument} = {self.value}"

    __repr__ = __str__


@dataclass(frozen=True)
class CaddieProgram:
    """Hold a parsed program.

    Attributes
    ==========

    functions : by name, in order
    """

    functions: dict[str, CaddieFunction]


@dataclass
class _Evaluation:
    """Evaluate expressions in a scope."""

    text: str
    deadline: Deadline
    functions: Functions

    def value(self, node: SyntaxNode, scope: Mapping[str, Value]) -> Value:
        """Return the value of an expression."""
        place = Location(self.text, node)
        self.deadline.check(place.error)
        with place.building():
            return self._value(node, scope)

    def _value(self, node: SyntaxNode, scope: Mapping[str, Value]) -> Value:
        kind, name, children = node.kind, node.name, node.children
        if kind == "variable":
            return scope.get(name, pi)
        if kind == "number":
            return read_number(name)
        if kind == "iota":
            return Constant(range(int(name)))
        if kind == "let":
            bound = self.value(children[0], scope)
            return self.value(children[1], {**scope, name: bound})
        if kind == "map":
            values = self.value(children[1], scope)
            return mapped(lambda entry: self.value(children[0], {**scope, name: entry}), values)
        below = [self.value(child, scope) for child in children]
        if kind == "tuple":
            return tuple(below)
        if kind == "array":
            found = as_expression(tuple(below))
            if found is None:
                raise TensorError("an array has entries of one shape")
            return found
        if kind == "binary":
            return BINARY[name](*below)
        if kind == "projection":
            return component(below[0], int(name))
        if kind == "group":
            return below[0]
        if kind == "negation":
            return negated(below[0])
        if kind == "power":
            return raised_to(name)(below[0])
        return (self.functions.get(name) or FUNCTIONS[name])(below[0])


def read_functions(text: str, declarations: object = None) -> CaddieProgram:
    """Parse a program of functions, or an expression, which becomes a function ``expr`` of its free
    variables."""
    found, given = read(text), _symbols_given(declarations)
    reading = _Reading(text, Deadline(), given)
    try:
        if isinstance(found, SyntaxNode):
            reading.add_expression(found)
        else:
            for part in found:
                reading.add(part)
    except RecursionError:
        raise ParseError("the expression is nested too deeply") from None
    return CaddieProgram(reading.functions)


def caddie_expression(text: str, declarations: object) -> tuple[Operand, dict[str, Operand]]:
    """Return the value of the last function of a text, or of its expression, and the symbols."""
    last = [*read_functions(text, declarations).functions.values()][-1]
    try:
        return last.expr, {str(symbol): symbol for symbol in last.symbols}
    except TensorError as error:
        raise ParseError(f"{error}; parse_program reads it") from None


@dataclass
class _Reading:
    """Hold the functions read so far: as texts, as values, and as functions of values."""

    text: str
    deadline: Deadline
    given: Mapping[str, Operand]
    texts: dict[str, FunctionText] = field(default_factory=dict)
    functions: dict[str, CaddieFunction] = field(default_factory=dict)
    calls: dict[str, Callable[[Value], Value]] = field(default_factory=dict)

    def add(self, part: FunctionText) -> None:
        """Add a function."""
        name, argument, body = str(part.name), str(part.argument), part.body
        if name in self.texts or name in PRIMITIVES:
            raise ParseError(f"{name!r} is defined already", self.text, part.name.start_pos)
        inference = TypeInference(self.text, self.deadline, dict(self.texts))
        types = {argument: self._declared(inference, argument)}
        inference.infer(body, types)
        symbols = self._symbols(inference, types)[argument]
        evaluation = _Evaluation(self.text, self.deadline, dict(self.calls))

        def call(value: Value) -> Value:
            return evaluation.value(body, {argument: value})

        value = call(symbols)
        maps = self._maps()
        self.functions[name] = CaddieFunction(
            name, symbols, value, lambda: translated(body, {argument: PointFree()}, maps)
        )
        self.calls[name], self.texts[name] = call, part

    def add_expression(self, body: SyntaxNode) -> None:
        """Add an expression as a function of its free variables."""
        free: dict[str, CaddieType] = {}
        inference = TypeInference(self.text, self.deadline, {}, free)
        for name in self.given:
            free[name] = self._declared(inference, name)
        used = {node.name for node in postorder([body], children_of) if node.kind == "variable"}
        inference.infer(body, {})
        free = {name: found for name, found in free.items() if name in used}
        scope = self._symbols(inference, free)
        value = _Evaluation(self.text, self.deadline, {}).value(body, scope)
        argument = next(iter(scope.values())) if len(scope) == 1 else tuple(scope.values())
        places = {name: projection(k) for k, name in enumerate(scope, start=1)}
        if len(scope) == 1:
            places = dict.fromkeys(scope, PointFree())
        self.functions["expr"] = CaddieFunction(
            "expr", argument, value, lambda: translated(body, places, {})
        )

    def _declared(self, inference: TypeInference, name: str) -> CaddieType:
        return inference.declared(self.given[name]) if name in self.given else CaddieType()

    def _symbols(
        self, inference: TypeInference, types: Mapping[str, CaddieType]
    ) -> dict[str, Value]:
        taken = {*types}
        return {
            name: self.given[name] if name in self.given else inference.symbols(name, own, taken)
            for name, own in types.items()
        }

    def _maps(self) -> dict[str, Callable[[Value], Value]]:
        """Return the functions so far as combinators, which are made when they are applied."""

        def apply(function: CaddieFunction) -> Callable[[Value], Value]:
            return lambda value: function.point_free(value)

        return {name: apply(function) for name, function in self.functions.items()}


def _symbols_given(declarations: object) -> dict[str, Operand]:
    """Check the declarations: a mapping from names to symbols, or None."""
    given = {} if declarations is None else declarations
    if not isinstance(given, Mapping) or not all(
        isinstance(symbol, (Symbol, TensorSymbol)) for symbol in given.values()
    ):
        raise ParseError('types are inferred; declarations are symbols by name, {"x": x}')
    return {str(name): symbol for name, symbol in given.items()}
