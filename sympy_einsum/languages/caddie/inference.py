"""Infer the types of a program: numbers, tuples, and arrays of one type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sympy import Integer, Symbol

from ...core import Length as AnyLength, ParseError
from ...expressions import Operand, TensorSymbol
from ..lengths import Length, UnionFindNode, name_lengths
from ..nodes import Deadline, Location, SyntaxNode
from .parser import FunctionText

# The value of an expression: a tuple where its type is one that no vector represents.
Value: TypeAlias = "Operand | tuple[Value, ...]"
NUMBER, TUPLE, ARRAY = "number", "tuple", "array"
# Functions of a number.
ENTRYWISE = {"ln": "log", "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "abs": "abs"}
# Bilinear functions of a pair, and whether they take triples.
BILINEAR = {"dprod": False, "dprod3": True, "cprod3": True, "cross": True}
PRIMITIVES = (*ENTRYWISE, *BILINEAR, "sprod", "norm2sq")


@dataclass(eq=False, slots=True)
class CaddieType(UnionFindNode[str]):
    """Represent a type; ``value`` is NUMBER, TUPLE or ARRAY, or None where it is unknown.

    parts : the types of the known components of a tuple by number from 1, or of the entries, as 0
    arity : the number of components, if it is known
    length : of an array
    """

    parts: dict[int, CaddieType] = field(default_factory=dict)
    arity: int | None = None
    length: Length | None = None

    def below(self) -> Iterator[CaddieType]:
        """Yield this type and those of its parts."""
        stack = [self.root()]
        while stack:
            found = stack.pop()
            yield found
            stack += [part.root() for part in found.parts.values()]

    def __str__(self) -> str:
        root = self.root()
        if root.value == TUPLE:
            count = max(root.parts, default=0) if root.arity is None else root.arity
            shown = [str(root.parts.get(k, "?")) for k in range(1, count + 1)]
            return f"({', '.join(shown)}{', …' * (root.arity is None)})"
        return f"[{root.parts[0]}]" if root.value == ARRAY else root.value or "?"


def tuple_of(*parts: CaddieType) -> CaddieType:
    """Return the type of a tuple."""
    return CaddieType(TUPLE, parts=dict(enumerate(parts, start=1)), arity=len(parts))


def array_of(entry: CaddieType, length: Length) -> CaddieType:
    """Return the type of an array."""
    return CaddieType(ARRAY, parts={0: entry}, length=length)


@dataclass
class TypeInference:
    """Infer the types of variables and functions; a function's body anew for each application."""

    text: str
    deadline: Deadline
    functions: Mapping[str, FunctionText]
    # Variables that nothing binds, of an expression.
    free: dict[str, CaddieType] | None = None
    lengths: list[Length] = field(default_factory=list)

    def fresh_length(self) -> Length:
        """Return an unknown length."""
        self.lengths.append(Length())
        return self.lengths[-1]

    def infer(self, node: SyntaxNode, scope: Mapping[str, CaddieType]) -> CaddieType:
        """Return the type of an expression; raises ParseError where types don't match."""
        place = Location(self.text, node)
        self.deadline.check(place.error)
        kind, children = node.kind, node.children
        if kind == "variable":
            return self._variable(place, scope)
        if kind == "let":
            bound = self.infer(children[0], scope)
            return self.infer(children[1], {**scope, node.name: bound})
        if kind == "map":
            entry, length = CaddieType(), self.fresh_length()
            self._unify(place, array_of(entry, length), self.infer(children[1], scope))
            return array_of(self.infer(children[0], {**scope, node.name: entry}), length)
        types = [self.infer(child, scope) for child in children]
        if kind == "number":
            # 0 is the zero of any type.
            return CaddieType() if node.name == "0" else CaddieType(NUMBER)
        if kind == "iota":
            if not node.name.isdigit() or int(node.name) == 0:
                raise place.error(f"iota takes a positive whole number, not {node.name}")
            return array_of(CaddieType(NUMBER), Length(Integer(int(node.name))))
        if kind == "array":
            for other in types[1:]:
                self._unify(place, types[0], other)
            return array_of(types[0], Length(Integer(len(types))))
        if kind == "tuple":
            return tuple_of(*types)
        if kind == "projection":
            return self._projection(place, types[0])
        if kind == "call":
            return self._call(place, types[0])
        if kind in ("negation", "group"):
            return types[0]
        if kind == "power" or node.name == "*":
            for number in types:
                self._unify(place, number, CaddieType(NUMBER))
            return CaddieType(NUMBER)
        if node.name == "*>":
            self._unify(place, types[0], CaddieType(NUMBER))
            return types[1]
        self._unify(place, types[0], types[1])
        return types[0]

    def _variable(self, place: Location, scope: Mapping[str, CaddieType]) -> CaddieType:
        name = place.node.name
        if name in scope:
            return scope[name]
        if name == "pi":
            return CaddieType(NUMBER)
        if name in self.functions or name in PRIMITIVES:
            raise place.error(f"the function {name!r} has no argument here")
        if self.free is None:
            raise place.error(f"{name!r} is neither the argument nor bound by let")
        return self.free.setdefault(name, CaddieType())

    def _projection(self, place: Location, given: CaddieType) -> CaddieType:
        name = place.node.name
        if not name.isdigit() or int(name) == 0 or len(name) > 3:
            raise place.error(f"components are counted from 1; #{name} is none")
        component = CaddieType()
        self._unify(place, given, CaddieType(TUPLE, parts={int(name): component}))
        return component

    def _call(self, place: Location, given: CaddieType) -> CaddieType:
        name = place.node.name
        if name in self.functions:
            function = self.functions[name]
            names = list(self.functions)
            earlier = {own: self.functions[own] for own in names[: names.index(name)]}
            inner = TypeInference(self.text, self.deadline, earlier, None, self.lengths)
            return inner.infer(function.body, {str(function.argument): given})
        number = CaddieType(NUMBER)
        if name in ENTRYWISE:
            self._unify(place, given, number)
            return number
        if name in BILINEAR:
            vector = CaddieType()
            self._unify(place, given, tuple_of(vector, vector))
            if BILINEAR[name]:
                self._unify(place, vector, tuple_of(number, number, number))
            elif vector.root().value != TUPLE:
                self._unify(place, vector, array_of(number, self.fresh_length()))
            return vector if name in ("cprod3", "cross") else number
        if name == "sprod":
            vector = CaddieType()
            self._unify(place, given, tuple_of(number, vector))
            return vector
        if name == "norm2sq":
            self._unify(place, given, tuple_of(number, number))
            return number
        known = ", ".join((*self.functions, *PRIMITIVES))
        raise place.error(f"there is no function {name!r}; there are {known}, and pow 2.0")

    def _unify(self, place: Location, one: CaddieType, other: CaddieType) -> None:
        pairs = [(one, other)]
        while pairs:
            first, second = pairs.pop()
            a, b = first.root(), second.root()
            if a is b:
                continue
            before = str(a), str(b)
            if a.value is None or (a.value == ARRAY and b.value == TUPLE):
                a, b = b, a
            if b.value is None:
                if any(part is b for part in a.below()):
                    raise place.error("a tuple would contain itself here")
            elif not _fits(a, b):
                raise place.error(f"the types differ here: {before[0]} and {before[1]}")
            for k, part in b.parts.items():
                for own in a.parts if b.value == ARRAY and a.value == TUPLE else (k,):
                    pairs.append((a.parts.setdefault(own, part), part))
            a.arity = b.arity if a.arity is None else a.arity
            b.parent = a

    def declared(self, value: Operand) -> CaddieType:
        """Return the type of a symbol of the user."""
        shape = getattr(value, "shape", ())
        found = CaddieType(NUMBER)
        for length in reversed(shape):
            if length.is_Integer and found.value != ARRAY and 0 < length < 1000:
                found = tuple_of(*[found] * int(length))
            else:
                found = array_of(found, Length(length))
        return found

    def symbols(self, name: str, found: CaddieType, taken: set[str]) -> Value:
        """Return a value of symbols of a type: a symbol, a vector, or a tuple of values."""
        root = found.root()
        if root.value == TUPLE:
            count = max(root.parts, default=1) if root.arity is None else root.arity
            parts = [root.parts.get(k, CaddieType()).root() for k in range(1, count + 1)]
            if all(part.value in (NUMBER, None) for part in parts):
                return TensorSymbol(name, count)
            return tuple(
                [self.symbols(f"{name}{k}", part, taken) for k, part in enumerate(parts, start=1)]
            )
        shape: list[AnyLength] = []
        while root.value == ARRAY and root.length is not None:
            name_lengths([root.length], taken)
            known = root.length.known()
            assert known is not None
            taken |= {symbol.name for symbol in known.free_symbols}
            shape.append(known)
            root = root.parts[0].root()
        if root.value == TUPLE:
            raise ParseError(f"{name} is an array of tuples; only arrays of numbers are supported")
        return TensorSymbol(name, tuple(shape)) if shape else Symbol(name, real=True)


def _fits(a: CaddieType, b: CaddieType) -> bool:
    """Tell whether two known types can be one, but for their parts."""
    if a.value == TUPLE and b.value == ARRAY:
        # A vector of numbers of known length is also an array.
        return a.arity is not None and (
            b.length is None or b.length.merge(Length(Integer(a.arity)))
        )
    if a.value != b.value:
        return False
    if a.value == ARRAY:
        return a.length is None or b.length is None or a.length.merge(b.length)
    arity = a.arity if a.arity is not None else b.arity
    if a.arity is not None and b.arity is not None and a.arity != b.arity:
        return False
    return arity is None or max((*a.parts, *b.parts), default=0) <= arity
