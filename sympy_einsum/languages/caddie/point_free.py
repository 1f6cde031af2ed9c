"""Expressions as compositions of combinators, without variables.

References
==========

[C] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python Context", 2025,
    equation 2.18 and §2.4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sympy import pi

from ...core import UnsupportedError
from ..nodes import SyntaxNode
from ..numbers import read_number
from .inference import Value
from .values import BINARY, FUNCTIONS, as_value, component, mapped, negated, raised_to


class Combinator(NamedTuple):
    """Hold one function of a composition.

    text, latex : its notation
    function : its value
    """

    text: str
    latex: str
    function: Callable[[Value], Value]


@dataclass(frozen=True)
class PointFree:
    """A program as a composition of combinators [C, equation 2.18].

    ``∘`` is composition, ``×`` applies functions to the components of a tuple, ``Δ`` repeats its
    argument as a pair, ``Δ3`` as a triple, ``π 2`` is the second component, ``K 5`` the constant
    function, ``Id`` the identity. Calling it applies it to a value.

    steps : the combinators, that which is applied last first
    """

    steps: tuple[Combinator, ...] = ()

    def __call__(self, value: Any) -> Any:
        """Apply the composition to a number, a tensor or a tuple of these."""
        result = as_value(value)
        for step in reversed(self.steps):
            result = step.function(result)
        return result

    def trace(self, value: Any) -> list[tuple[PointFree, Any]]:
        """Apply one combinator after the other; return what is left with the value so far."""
        result = as_value(value)
        rows: list[tuple[PointFree, Any]] = [(self, result)]
        for place in range(len(self.steps) - 1, -1, -1):
            result = self.steps[place].function(result)
            rows.append((PointFree(self.steps[:place]), result))
        return rows

    def __str__(self) -> str:
        return " ∘ ".join(step.text for step in self.steps) or "Id"

    __repr__ = __str__

    def _latex(self, printer: object = None) -> str:
        return r" \circ ".join(step.latex for step in self.steps) or r"\mathrm{Id}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self._latex()}$"


def composed(*maps: PointFree) -> PointFree:
    """Compose maps, the last of which is applied first."""
    return PointFree(tuple([step for one in maps for step in one.steps]))


def projection(number: int) -> PointFree:
    """Return the map from a tuple to its component, counted from 1."""
    latex = rf"\pi_{{{number}}}"
    return PointFree((Combinator(f"π {number}", latex, lambda v: component(v, number)),))


def _repeated(count: int) -> PointFree:
    suffix = "" if count == 2 else f"{count}"
    latex = rf"\Delta_{{{suffix}}}" if suffix else r"\Delta"
    return PointFree((Combinator(f"Δ{suffix}", latex, lambda value: (value,) * count),))


def _side_by_side(maps: list[PointFree]) -> PointFree:
    def function(value: Value) -> Value:
        assert isinstance(value, tuple)
        return tuple([one(part) for one, part in zip(maps, value, strict=True)])

    text = " × ".join(map(str, maps))
    latex = r" \times ".join(one._latex() for one in maps)
    return PointFree((Combinator(f"({text})", rf"\left({latex}\right)", function),))


def _constant(text: str, value: Value) -> PointFree:
    return PointFree((Combinator(f"K {text}", rf"\mathrm{{K}}\,{text}", lambda _: value),))


def _primitive(text: str, function: Callable[[Value], Value], latex: str = "") -> PointFree:
    return PointFree((Combinator(text, latex or rf"\mathrm{{{text}}}", function),))


def _map_of_pair(function: Callable[[Value, Value], Value]) -> Callable[[Value], Value]:
    def apply(pair: Value) -> Value:
        assert isinstance(pair, tuple)
        return function(*pair)

    return apply


def translated(
    node: SyntaxNode,
    scope: Mapping[str, PointFree],
    functions: Mapping[str, Callable[[Value], Value]],
) -> PointFree:
    """Translate an expression by the rules of [C, §2.4.3]; ``scope`` has each variable as a
    composition of projections from the environment."""
    kind, name = node.kind, node.name
    if kind == "variable":
        if name not in scope and name != "pi":
            raise UnsupportedError(
                f"the function of a map uses {name!r} from outside; it has no point-free form"
            )
        return scope[name] if name in scope else _constant("pi", pi)
    if kind == "number":
        return _constant(name, read_number(name))
    if kind == "map":
        return _translated_map(node, scope, functions)
    if kind == "let":
        value = translated(node.children[0], scope, functions)
        second = projection(2)
        inner = {own: composed(one, second) for own, one in scope.items()} | {name: projection(1)}
        body = translated(node.children[1], inner, functions)
        return composed(body, _side_by_side([value, PointFree()]), _repeated(2))
    parts = [translated(child, scope, functions) for child in node.children]
    if kind in ("array", "iota"):
        raise UnsupportedError("arrays have no point-free form in this language; use a tuple")
    if kind == "group":
        return parts[0]
    if kind == "tuple":
        return composed(_side_by_side(parts), _repeated(len(parts)))
    if kind == "binary":
        function = _map_of_pair(BINARY[name])
        latex = {"*": r"{*}", "*>": r"{*}{>}"}.get(name, f"{{{name}}}")
        return composed(_primitive(name, function, latex), _side_by_side(parts), _repeated(2))
    if kind == "projection":
        return composed(projection(int(name)), parts[0])
    if kind == "negation":
        return composed(_primitive("~", negated, r"{\sim}"), parts[0])
    if kind == "power":
        return composed(_primitive(f"pow {name.replace('-', '~')}", raised_to(name)), parts[0])
    return composed(_primitive(name, functions.get(name) or FUNCTIONS[name]), parts[0])


def _translated_map(
    node: SyntaxNode,
    scope: Mapping[str, PointFree],
    functions: Mapping[str, Callable[[Value], Value]],
) -> PointFree:
    body = translated(node.children[0], {node.name: PointFree()}, functions)
    values = translated(node.children[1], scope, functions)
    return composed(_primitive(f"map ({body})", lambda v: mapped(body, v)), values)
