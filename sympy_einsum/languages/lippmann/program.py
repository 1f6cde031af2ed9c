"""Parse programs of declarations, expressions and derivatives [L, §2.1].

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sympy import Symbol

from ...core import (
    LabelledGraph,
    Length as AnyLength,
    ParseError,
    UnsupportedError,
    as_length,
    once,
    tuning,
)
from ...expressions import Operand, TensorSymbol
from ..lengths import symbols_of
from ..nodes import Deadline, SyntaxNode
from .building import build
from .derivation import ReverseMode, explicit_sums
from .inference import Inference, read_length
from .parser import Declared, Wanted, read
from .simplification import simplifications
from .vertices import Vertex, Vertices, drawing, tree_drawing

# Declaration of a variable by a user: a symbol, its order, or its axis lengths.
Declarable: TypeAlias = "Operand | int | Sequence[AnyLength]"
Declarations: TypeAlias = "str | Mapping[str, Declarable] | None"


class Derivative(NamedTuple):
    """Hold an expression of a program, a variable, and the derivative."""

    expression: Operand
    variable: Operand
    derivative: Operand


@dataclass(frozen=True)
class TensorProgram:
    """Hold a parsed program.

    Attributes
    ==========

    symbols : the declared symbols, by name
    expressions : the expressions in order
    derivatives : for each ``derivative wrt x`` the expression before it, x and the derivative
    """

    symbols: dict[str, Operand]
    expressions: list[Operand]
    requested: list[tuple[int, str]]
    _trees: list[SyntaxNode]
    _inference: Inference

    @once
    def derivatives(self) -> list[Derivative]:
        """The requested derivatives, of shape expression.shape + variable.shape."""
        pairs = [(self.expressions[place], self.symbols[name]) for place, name in self.requested]
        return [Derivative(e, x, e.diff(x)) for e, x in pairs]

    # --- pictures of the thesis

    def tree(self, place: int = 0) -> LabelledGraph:
        """Return the binary parse tree of an expression [L, fig. 3.1], for ``draw``."""
        root = self._trees[place]
        text = self._inference.text[root.start : root.end]
        return tree_drawing(root, text)

    def graph(self, place: int = 0) -> LabelledGraph:
        """Return the graph with common subtrees merged, and differences, quotients, powers and
        adjugates replaced by other operations [L, fig. 3.2, table 3.1], for ``draw``."""
        return drawing(self._vertex(Vertices(), place), "graph")

    def derivation(self, variable: str, place: int = 0) -> list[LabelledGraph]:
        """Return the graphs of reverse mode for one variable, for ``draw``: the pullbacks in order,
        the derivative, and this after each simplification [L, fig. 4.6, 4.8, 4.9].

        Raises ParseError for a variable that isn't declared, UnsupportedError for a function
        without a row in the thesis' table of derivatives, or a tree that is too big.

        >>> program = read_program("declare v 1 expression sin(v) + cos(sin(v))")
        >>> [step.text for step in program.derivation("v") if "derivative" in step.title][0]
        '(delta(1) + (delta(1) *(ba,a->ba) (-sin(sin(v))))) *(ba,a->ba) cos(v)'
        """
        if variable not in self.symbols:
            raise ParseError(f"{variable!r} isn't declared")
        count = len(self.tree(place).labels)
        if count > tuning.MAX_DRAWN_NODES:
            raise UnsupportedError(
                f"the tree has {count} nodes; reverse mode is drawn for {tuning.MAX_DRAWN_NODES} "
                "at most"
            )
        vertices = Vertices()
        root = explicit_sums(self._vertex(vertices, place), vertices)
        argument = vertices.variable(variable, len(self._inference.variables[variable].shape))
        reverse = ReverseMode(vertices, root, argument)
        return [*reverse.steps(), *simplifications(reverse.derivative(), vertices)]

    def _vertex(self, vertices: Vertices, place: int) -> Vertex:
        orders = {name: len(axes.shape) for name, axes in self._inference.variables.items()}
        variables = {name: vertices.variable(name, order) for name, order in orders.items()}
        return vertices.of(self._trees[place], self._inference, variables)


def read_program(text: str, declarations: Declarations = None) -> TensorProgram:
    """Parse a program."""
    inference = Inference(text, Deadline())
    given = declare_given(inference, declarations)
    trees: list[SyntaxNode] = []
    requested: list[tuple[int, str]] = []
    for part in read(text, "program"):
        if isinstance(part, Declared):
            _declare(inference, part, text)
        elif isinstance(part, Wanted):
            name, position = str(part.name), part.name.start_pos
            if not trees:
                raise ParseError("there is no expression before this derivative", text, position)
            if name not in inference.variables:
                raise ParseError(f"{name!r} isn't declared", text, position)
            requested.append((len(trees) - 1, name))
        else:
            inference.infer(part)
            trees.append(part)
    return _built(inference, trees, requested, given)


def read_expression(text: str, declarations: Declarations = None) -> TensorProgram:
    """Parse an expression, or a program of one expression and no derivative."""
    if isinstance(text, str) and text.split(None, 1)[:1] in (["declare"], ["expression"]):
        program = read_program(text, declarations)
        if len(program.expressions) != 1 or program.requested:
            raise ParseError(
                f"this is a program with {len(program.expressions)} expressions and "
                f"{len(program.requested)} derivatives; parse_program reads it"
            )
        return program
    inference = Inference(text, Deadline())
    given = declare_given(inference, declarations)
    tree = read(text, "sum")
    inference.infer(tree)
    return _built(inference, [tree], [], given)


def _built(
    inference: Inference,
    trees: list[SyntaxNode],
    requested: list[tuple[int, str]],
    given: Mapping[str, Operand],
) -> TensorProgram:
    symbols = symbols_of(inference.known_axes(), inference.lengths, given)
    expressions = [build(tree, inference, symbols) for tree in trees]
    return TensorProgram(symbols, expressions, requested, trees, inference)


def _declare(inference: Inference, declared: Declared, text: str) -> None:
    name, position = str(declared.name), declared.name.start_pos
    if name in inference.variables:
        raise ParseError(f"{name!r} is declared twice", text, position)
    number = str(declared.order)
    if not number.isdigit() or len(number) > 2 or int(number) > tuning.MAX_READ_ORDER:
        message = f"an order is a number from 0 to {tuning.MAX_READ_ORDER}, not {number}"
        raise ParseError(message, text, declared.order.start_pos)
    order = int(number)
    lengths = declared.lengths
    if lengths is None:
        inference.declare(name, order)
        return
    if len(lengths) != order:
        message = f"{name!r} has order {order}, but {len(lengths)} lengths are given"
        raise ParseError(message, text, position)
    inference.declare(name, order, [read_length(str(length)) for length in lengths])


def declare_given(inference: Inference, declarations: Declarations) -> dict[str, Operand]:
    """Declare variables that the text doesn't declare; return the user's symbols."""
    symbols: dict[str, Operand] = {}
    if isinstance(declarations, str):
        for declared in read(declarations, "variables"):
            _declare(inference, declared, declarations)
    elif isinstance(declarations, Mapping):
        for name, value in declarations.items():
            if isinstance(value, (Symbol, TensorSymbol)):
                symbols[name] = value
                value = getattr(value, "shape", ())
            if (
                isinstance(value, int)
                and not isinstance(value, bool)
                and 0 <= value <= tuning.MAX_READ_ORDER
            ):
                inference.declare(name, value)
            elif isinstance(value, (tuple, list)):
                inference.declare(name, len(value), [as_length(length) for length in value])
            else:
                raise ParseError(f"can't declare {name!r} as {str(value)[:80]!r}; {_FORM}")
    elif declarations is not None:
        raise ParseError(f"can't read the declarations {str(declarations)[:80]!r}; {_FORM}")
    return symbols


_FORM = 'write "A 2 b 1", or give {"A": 2} or {"b": (3,)} or a symbol for each name'
