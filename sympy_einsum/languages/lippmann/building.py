"""Build expressions from trees with known axes.

Sums and products without parentheses become one node with any number of operands: a chain
``A *(ij,jk->ik) B *(ik,k->i) c`` is the einsum of the three. A part in parentheses stays a separate
operand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ... import operations
from ...core import TensorError, transform
from ...expressions import Delta, Operand, contract, shape_of
from ..nodes import Location, SyntaxNode, children_of
from ..numbers import bounded_power, check_number, read_number
from .functions import DELTA, ELEMENTWISE, SPECIAL
from .inference import Inference, Subscripts


@dataclass
class _Sum:
    """Collect the terms of a sum."""

    terms: list[Operand]

    def finished(self) -> Operand:
        return operations.add(*self.terms)


class _IndexedProduct:
    """Collect a product: its factors, the numbers of their indices and of the result's, and which
    indices are unified."""

    def __init__(self, first: Operand):
        shape = shape_of(first)
        self.factors = [first]
        self.terms = [list(range(len(shape)))]
        self.output = list(range(len(shape)))
        self.lengths = dict(enumerate(shape))
        self.merged: dict[int, int] = {}

    def append(self, right: Operand, subscripts: Subscripts) -> None:
        """Multiply by another factor."""
        number: dict[str, int] = {}
        for label, index in zip(subscripts.left, self.output, strict=True):
            if number.setdefault(label, index) != index:
                self.merged[index] = number[label]
        for label, length in zip(subscripts.right, shape_of(right), strict=True):
            self.lengths[number.setdefault(label, len(self.lengths))] = length
        self.factors.append(right)
        self.terms.append([number[label] for label in subscripts.right])
        self.output = [number[label] for label in subscripts.output]

    def finished(self) -> Operand:
        terms = [[self._one(index) for index in term] for term in self.terms]
        output = [self._one(index) for index in self.output]
        lengths = {i: n for i, n in self.lengths.items() if i not in self.merged}
        if not lengths:
            return operations.multiply(*self.factors)
        return contract(self.factors, terms, output, lengths)

    def _one(self, index: int) -> int:
        while index in self.merged:
            index = self.merged[index]
        return index


_Value: TypeAlias = "Operand | _Sum | _IndexedProduct"


def _finished(value: _Value) -> Operand:
    return value.finished() if isinstance(value, (_Sum, _IndexedProduct)) else value


def build(root: SyntaxNode, inference: Inference, symbols: Mapping[str, Operand]) -> Operand:
    """Return the expression of a tree."""

    def visit(node: SyntaxNode, below: tuple[_Value, ...]) -> _Value:
        place = Location(inference.text, node)
        inference.deadline.check(place.error)
        with place.building():
            value = _value(node, below, inference, symbols)
            if node.in_parentheses or not isinstance(value, (_Sum, _IndexedProduct)):
                value = _finished(value)
                check_number(value, node in inference.constants)
        return value

    return _finished(transform([root], visit, children_of)[0])


def _value(
    node: SyntaxNode,
    below: tuple[_Value, ...],
    inference: Inference,
    symbols: Mapping[str, Operand],
) -> _Value:
    if node.kind == "variable":
        return symbols[node.name]
    if node.kind == "number":
        number, shape = read_number(node.name), inference.axes[node].shape
        return operations.filled(number, shape) if shape else number
    if node.name in ("+", "-") and node.kind == "binary":
        sign = -1 if node.name == "-" else 1
        left = below[0] if isinstance(below[0], _Sum) else _Sum([_finished(below[0])])
        left.terms.append(operations.multiply(sign, _finished(below[1])))
        return left
    if node.kind == "product":
        product = (
            below[0]
            if isinstance(below[0], _IndexedProduct)
            else _IndexedProduct(_finished(below[0]))
        )
        product.append(_finished(below[1]), inference.subscripts[node])
        return product
    return _applied(node, [_finished(value) for value in below], inference)


def _applied(node: SyntaxNode, operands: list[Operand], inference: Inference) -> Operand:
    if node.kind == "prefix":
        return operations.multiply(-1 if node.name == "-" else 1, *operands)
    if node.name == "^":
        return bounded_power(*operands)
    if node.name == "/":
        if operands[1].is_zero:
            raise TensorError("division by zero")
        return operations.divide(*operands)
    if node.name == DELTA:
        shape = inference.axes[node].shape
        return Delta(*shape[: len(shape) // 2])
    if node.kind == "call":
        return {**ELEMENTWISE, **SPECIAL}[node.name](*operands)
    return operands[0]
