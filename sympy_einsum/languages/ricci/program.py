"""Infer indices and axis lengths of a parse tree, then build the expression.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018, §2, table 1.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sympy import Expr, Symbol

from ... import operations
from ...core import ParseError, Shape, TensorError, transform, tuning
from ...expressions import Delta, Operand, TensorSymbol, contract, shape_of
from ..lengths import Length, symbols_of
from ..lippmann.functions import ELEMENTWISE, OF_ORDER_0, SPECIAL
from ..nodes import Deadline, Location, SyntaxNode, children_of
from ..numbers import bounded_power, check_number, read_number
from .parser import UPPER, read, read_indices

DELTAS = ("δ", "delta")

# Free indices with their levels; None for a number, which broadcasts.
Indices: TypeAlias = "dict[str, str] | None"


@dataclass
class _IndexInference:
    """Infer indices and axis lengths of the values in a text.

    Attributes
    ==========

    indices : the free indices of each node, in the order of its axes, that of the text
    lengths : those of each node's free indices
    axes : those of each variable, in order
    written : the indices as written of each tensor and number
    """

    text: str
    deadline: Deadline
    axes: dict[str, list[Length]] = field(default_factory=dict)
    indices: dict[SyntaxNode, Indices] = field(default_factory=dict)
    lengths: dict[SyntaxNode, dict[str, Length]] = field(default_factory=dict)
    written: dict[SyntaxNode, list[Length]] = field(default_factory=dict)
    known: list[Length] = field(default_factory=list)
    depths: dict[SyntaxNode, int] = field(default_factory=dict)
    constants: set[SyntaxNode] = field(default_factory=set)

    def fresh(self, value: Expr | None = None, origin: str = "") -> Length:
        length = Length(value, origin=origin)
        self.known.append(length)
        return length

    def infer(self, root: SyntaxNode) -> None:
        """Infer the indices and lengths of all nodes."""
        transform([root], self._visit, _operands)

    def _visit(self, node: SyntaxNode, below: tuple[None, ...]) -> None:
        place = Location(self.text, node)
        self.deadline.check(place.error)
        if node.kind in ("tensor", "number"):
            found, lengths = self._leaf(place)
        else:
            found, lengths = _RULES[node.kind](self, place)
        self.indices[node] = found
        self.lengths[node] = lengths
        is_constant = all(child in self.constants for child in _operands(node))
        if node.kind == "number" or (node.kind != "tensor" and is_constant):
            self.constants.add(node)
        depth = max((self.depths[child] for child in _operands(node)), default=0)
        self.depths[node] = depth + (not found and node.kind in ("call", "power"))
        if self.depths[node] > tuning.MAX_SCALAR_DEPTH:
            raise place.error(
                f"scalar functions are nested more than {tuning.MAX_SCALAR_DEPTH} deep"
            )

    def _leaf(self, place: Location) -> tuple[Indices, dict[str, Length]]:
        node = place.node
        labels = tensor_indices(node)
        if node.kind == "number":
            if not labels:
                return None, {}
            axes = [self.fresh() for _ in labels]
        elif node.name in DELTAS:
            if len(labels) != 2:
                raise place.error(f"{node.name} has two indices, not {len(labels)}")
            axes = [self.fresh()] * 2
        else:
            axes = self.axes.setdefault(
                node.name,
                [self.fresh(None, f"axis {k} of {node.name}") for k in range(1, len(labels) + 1)],
            )
            if len(axes) != len(labels):
                raise place.error(
                    f"{node.name} has order {len(axes)}, but {len(labels)} indices here"
                )
        self.written[node] = axes
        return self._contracted(place, [(labels, axes, node.name)])

    def _contracted(
        self, place: Location, factors: list[tuple[list[tuple[str, str]], list[Length], str]]
    ) -> tuple[Indices, dict[str, Length]]:
        """Return the free indices of a product, those that aren't both upper and lower."""
        levels: dict[str, set[str]] = {}
        lengths: dict[str, tuple[Length, str]] = {}
        for labels, axes, name in factors:
            for (letter, level), axis in zip(labels, axes, strict=True):
                levels.setdefault(letter, set()).add(level)
                first, other = lengths.setdefault(letter, (axis, name))
                if not first.merge(axis):
                    raise place.error(
                        f"index {letter} is one axis, but in {other} it has length {first} and in "
                        f"{name} length {axis}"
                    )
        free = {letter: min(own) for letter, own in levels.items() if len(own) == 1}
        return free, {letter: lengths[letter][0] for letter in free}

    def _product(self, place: Location) -> tuple[Indices, dict[str, Length]]:
        factors: list[tuple[list[tuple[str, str]], list[Length], str]] = []
        for k, (child, operator) in enumerate(
            zip(place.node.children, place.node.name, strict=True)
        ):
            own = self.indices[child] or {}
            if operator == "/" and own:
                before = {pair for labels, _, _ in factors for pair in labels}
                if not before.issuperset(own.items()):
                    raise place.error(
                        f"a divisor's indices must stand in the dividend on the same levels; "
                        f"those of {place.quote(k)} don't"
                    )
            if child in self.written and operator == "*":
                factors.append((tensor_indices(child), self.written[child], place.quote(k)))
            else:
                axes = [*self.lengths[child].values()]
                factors.append((list(own.items()), axes, place.quote(k)))
        if all(self.indices[child] is None for child in place.node.children):
            return None, {}
        return self._contracted(place, factors)

    def _sum(self, place: Location) -> tuple[Indices, dict[str, Length]]:
        terms = [child for child in place.node.children if self.indices[child] is not None]
        if not terms:
            return None, {}
        first = self.indices[terms[0]]
        for k, child in enumerate(place.node.children):
            own = self.indices[child]
            if own is None:
                continue
            if own != first:
                raise place.error(
                    f"terms of a sum need the same indices: {place.quote(0)} has "
                    f"{index_string(first)}, {place.quote(k)} has {index_string(own)}"
                )
            for letter, length in self.lengths[child].items():
                one = self.lengths[terms[0]][letter]
                if not one.merge(length):
                    raise place.error(
                        f"index {letter} is one axis, but in {place.quote(0)} it has length {one} "
                        f"and in {place.quote(k)} length {length}"
                    )
        return first, self.lengths[terms[0]]

    def _call(self, place: Location) -> tuple[Indices, dict[str, Length]]:
        name, (child,) = place.node.name, place.node.children
        own, lengths = self.indices[child], self.lengths[child]
        if name in ELEMENTWISE:
            return own, lengths
        if name not in SPECIAL:
            raise place.error(f"there is no function {name!r}; a product has a space before '('")
        if own is None or len(own) != 2:
            raise place.error(
                f"{name} needs two free indices, {place.quote(0)} has {index_string(own)}"
            )
        one, two = lengths.values()
        if not one.merge(two):
            raise place.error(f"{name} needs a square matrix, not one of {one} by {two}")
        return ({}, {}) if name in OF_ORDER_0 else (own, lengths)

    def _power(self, place: Location) -> tuple[Indices, dict[str, Length]]:
        base, exponent = place.node.children
        if self.indices[exponent]:
            raise place.error(f"an exponent has no indices, {place.quote(1)} has some")
        return self.indices[base], self.lengths[base]

    def _group(self, place: Location) -> tuple[Indices, dict[str, Length]]:
        (child,) = place.node.children
        return self.indices[child], self.lengths[child]


_RULES: dict[str, Callable[[_IndexInference, Location], tuple[Indices, dict[str, Length]]]] = {
    "product": _IndexInference._product,
    "sum": _IndexInference._sum,
    "call": _IndexInference._call,
    "power": _IndexInference._power,
    "group": _IndexInference._group,
}


def tensor_indices(node: SyntaxNode) -> list[tuple[str, str]]:
    """Return the indices of a tensor or a number."""
    return read_indices(node.children[0].name) if node.children else []


def index_string(indices: Indices) -> str:
    """Format indices for messages."""
    if not indices:
        return "none"
    return " ".join(f"{'upper' if level == UPPER else 'lower'} {i}" for i, level in indices.items())


def _operands(node: SyntaxNode) -> tuple[SyntaxNode, ...]:
    return () if node.kind in ("tensor", "number") else children_of(node)


def read_ricci(
    text: str, declarations: Mapping[str, Operand] | None = None
) -> tuple[Operand, dict[str, Operand]]:
    """Parse a text; return its expression, and its variables by name."""
    indices, tree, position = read(text)
    inference = _IndexInference(text, Deadline())
    given = _declared(inference, declarations)
    inference.infer(tree)
    own = inference.indices[tree] or {}
    output = sorted(own)
    if indices is not None:
        left = read_indices(indices)
        output = [letter for letter, _ in left]
        if dict(left) != own or len(output) != len(own):
            sides = index_string(dict(left)), index_string(own)
            message = "the left side has the indices {}, the right {}".format(*sides)
            raise ParseError(message, text, position)
    symbols = symbols_of(inference.axes, inference.known, given)
    value = _build(tree, inference, symbols)
    if not output:
        return value, symbols
    lengths = dict(zip(own, shape_of(value), strict=True))
    return contract((value,), (list(own),), output, lengths), symbols


def _shape(axes: list[Length]) -> Shape:
    return tuple([axis.known() for axis in axes])


def _declared(inference: _IndexInference, declarations: Any) -> dict[str, Operand]:
    if declarations is None:
        return {}
    form = "give a symbol for each name"
    if not isinstance(declarations, Mapping):
        raise ParseError(f"can't read the declarations {str(declarations)[:80]!r}; {form}")
    for name, value in declarations.items():
        if not isinstance(value, (Symbol, TensorSymbol)):
            raise ParseError(f"can't declare {name!r} as {str(value)[:80]!r}; {form}")
        inference.axes[name] = [
            inference.fresh(length, f"axis {k} of {name}")
            for k, length in enumerate(shape_of(value), start=1)
        ]
    return dict(declarations)


def _build(root: SyntaxNode, inference: _IndexInference, symbols: Mapping[str, Operand]) -> Operand:
    def visit(node: SyntaxNode, below: tuple[Operand, ...]) -> Operand:
        place = Location(inference.text, node)
        inference.deadline.check(place.error)
        with place.building():
            value = _value(node, below, inference, symbols)
            check_number(value, node in inference.constants)
        return value

    return transform([root], visit, _operands)[0]


def _value(
    node: SyntaxNode,
    below: tuple[Operand, ...],
    inference: _IndexInference,
    symbols: Mapping[str, Operand],
) -> Operand:
    own = list(inference.indices[node] or ())
    if node.kind in ("tensor", "number"):
        tensor, labels = _leaf(node, inference, symbols)
        return _contract_factors([(tensor, labels)], own) if labels else tensor
    if node.kind == "product":
        pairs = zip(node.children, below, node.name, strict=True)
        factors = []
        for child, value, operator in pairs:
            if operator == "/":
                factors.append((_divisor(value), list(inference.indices[child] or ())))
            elif child in inference.written:
                factors.append(_leaf(child, inference, symbols))
            else:
                factors.append((value, list(inference.indices[child] or ())))
        return _contract_factors(factors, own)
    if node.kind == "sum":
        shape = _shape([inference.lengths[node][i] for i in own])
        terms = []
        for child, value, sign in zip(node.children, below, node.name, strict=True):
            free = inference.indices[child]
            if own and free is None:
                value = operations.filled(value, shape)
            elif free:
                value = _contract_factors([(value, list(free))], own)
            terms.append(operations.multiply(-1 if sign == "-" else 1, value))
        return operations.add(*terms)
    if node.kind == "power":
        return bounded_power(*below)
    if node.kind == "call":
        return {**ELEMENTWISE, **SPECIAL}[node.name](*below)
    return below[0]


def _leaf(
    node: SyntaxNode, inference: _IndexInference, symbols: Mapping[str, Operand]
) -> tuple[Operand, list[str]]:
    """Return a tensor or a number with the indices of its axes, as written."""
    labels = [letter for letter, _ in tensor_indices(node)]
    if node.kind == "number":
        number = read_number(node.name.removeprefix("-")) * (-1 if node.name[0] == "-" else 1)
        return (
            operations.filled(number, _shape(inference.written[node])) if labels else number
        ), labels
    if node.name in DELTAS:
        return Delta(inference.written[node][0].known()), labels
    return symbols[node.name], labels


def _divisor(value: Operand) -> Operand:
    if value.is_zero:
        raise TensorError("division by zero")
    return operations.power(value, -1)


def _contract_factors(factors: list[tuple[Operand, list[str]]], output: list[str]) -> Operand:
    lengths = {
        letter: length
        for value, labels in factors
        for letter, length in zip(labels, shape_of(value), strict=True)
    }
    if not lengths:
        return operations.multiply(*[value for value, _ in factors])
    if any(len(labels) > 2 for _, labels in factors):
        values = [value for value, _ in factors]
        return contract(values, [labels for _, labels in factors], output, lengths)
    # Multiply one by one, as operators do: an index is summed over as soon as no other factor
    # has it, and factors that share an index come first.
    pending = list(factors)
    value, labels = _reduced(*pending.pop(0), {*output}.union(*[own for _, own in factors[1:]]))
    while pending:
        place = next((k for k, (_, own) in enumerate(pending) if {*own} & {*labels}), 0)
        factor, own = pending.pop(place)
        later = {*output}.union(*[others for _, others in pending])
        factor, own = _reduced(factor, own, later.union(labels))
        kept = [i for i in dict.fromkeys((*labels, *own)) if i in later]
        both = {i: lengths[i] for i in (*labels, *own)}
        value, labels = contract((value, factor), (labels, own), kept, both), kept
    return contract((value,), (labels,), output, {i: lengths[i] for i in output})


def _reduced(
    value: Operand, labels: Sequence[str], kept: Container[str]
) -> tuple[Operand, list[str]]:
    """Sum a vector or matrix over the indices that no other factor has."""
    own = [i for i in dict.fromkeys(labels) if i in kept]
    if own == [*labels]:
        return value, own
    lengths = dict(zip(labels, shape_of(value), strict=True))
    return contract((value,), (labels,), own, lengths), own
