"""Infer types and lengths of parsed nodes, then build the expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from itertools import chain

import sympy
from sympy import Expr, S, Symbol

from ...core import ParseError, transform, tuning
from ...expressions import Operand, TensorSymbol
from ...operations import multiply
from ..lengths import Length, name_lengths
from ..nodes import Deadline, SyntaxNode, children_of
from ..numbers import check_number, read_number
from .declarations import KINDS, Declaration, kind_by_name
from .functions import FUNCTIONS, infer_identity
from .operators import OPERATORS
from .types import SCALAR, InferenceContext, Type, TypeRule

# Functions of other languages with their counterparts in this one.
_ELSEWHERE = {
    "trace": "tr(X)",
    "transpose": "X'",
    "dot": "x'*y",
    "inner": "x'*y",
    "outer": "x*y'",
    "ln": "log(a)",
    "norm": "norm2(x), or norm1(x) for the sum of absolute values",
    "maximum": "max(x, y)",
    "minimum": "min(x, y)",
    "hadamard": "x .* y",
    "inverse": "inv(X)",
    "pow": "a^b",
    "ones": "vector(1) or matrix(1)",
    "zeros": "vector(0) or matrix(0)",
    "identity": "eye",
    "mean": "sum(x)/sum(vector(1) + 0*x)",
}
_ARGUMENTS = ("no argument, its size is inferred", "one argument", "two arguments")


def variable_names(root: SyntaxNode) -> list[str]:
    """Return the names of undeclared variables in order of appearance."""
    found: dict[str, None] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        pending += children_of(node)[::-1]
        if node.kind == "variable" and node.name not in ("pi", *FUNCTIONS):
            found[node.name] = None
    return list(found)


@dataclass
class Interpreter:
    """Hold the variables, lengths and types of a text, and build its expression."""

    text: str
    declarations: Mapping[str, Declaration]
    lengths: list[Length] = field(default_factory=list)
    variables: dict[str, Type] = field(default_factory=dict)
    types: dict[SyntaxNode, Type] = field(default_factory=dict)
    depths: dict[SyntaxNode, int] = field(default_factory=dict)
    symbols: dict[str, Operand] = field(default_factory=dict)
    constants: set[SyntaxNode] = field(default_factory=set)
    scaled: dict[SyntaxNode, tuple[Operand, Operand]] = field(default_factory=dict)
    deadline: Deadline = field(default_factory=Deadline)

    def fresh(self, value: Expr | None = None, factors: tuple[Length, ...] = ()) -> Length:
        """Create a length, to be inferred if neither its value nor its factors are given."""
        length = Length(value, factors=factors)
        self.lengths.append(length)
        return length

    def infer(self, *roots: SyntaxNode) -> None:
        """Infer the type of every node and name the lengths that stay unknown."""
        transform(roots, self._infer_node, children_of)
        declared = chain.from_iterable(d.lengths for d in self.declarations.values())
        taken = {symbol.name for length in declared for symbol in length.free_symbols}
        name_lengths(self.lengths, taken | self.variables.keys() | self.declarations.keys())
        for name, type_ in self.variables.items():
            self.symbols[name] = self._symbol(name, type_)
        self._check_names()

    def _check_names(self) -> None:
        """Refuse declared lengths with the name of another variable."""
        for length in chain.from_iterable(type_.lengths for type_ in self.variables.values()):
            for symbol in length.free_symbols:
                if self.symbols.get(symbol.name, symbol) != symbol:
                    raise ParseError(
                        f"{symbol.name!r} is both a variable of the text and a declared length; "
                        "rename one of them"
                    )

    def build(self, root: SyntaxNode) -> Operand:
        """Return the expression."""
        return transform([root], self._build_node, children_of)[0]

    def _infer_node(self, node: SyntaxNode, types: tuple[Type, ...]) -> Type:
        self.deadline.check(self._site(node).error)
        if node.kind == "variable" and self._is_variable(node):
            type_ = self._infer_variable(node)
        elif node.kind in ("number", "variable"):
            type_ = self._infer_constant(node)
        else:
            rule = self.rule(node)
            type_ = rule.infer(self._site(node), *types)
            if node.children and all(child in self.constants for child in node.children):
                self.constants.add(node)
        self.types[node] = type_
        self.depths[node] = self._depth(node, type_)
        return type_

    def _site(self, node: SyntaxNode) -> InferenceContext:
        return InferenceContext(self.text, node, self.fresh, self.declarations)

    def _depth(self, node: SyntaxNode, type_: Type) -> int:
        """Count the nesting of scalar functions; SymPy's time grows with its fourth power."""
        depth = max((self.depths[child] for child in node.children), default=0)
        if type_ == SCALAR and (node.kind == "call" or node.name == "^"):
            depth += 1
        if depth > tuning.MAX_SCALAR_DEPTH:
            message = f"scalar functions are nested more than {tuning.MAX_SCALAR_DEPTH} deep"
            raise ParseError(message, self.text, node.position)
        return depth

    def _is_variable(self, node: SyntaxNode) -> bool:
        return node.name in self.declarations or node.name not in ("pi", *FUNCTIONS)

    def _infer_variable(self, node: SyntaxNode) -> Type:
        if node.name not in self.variables:
            self.variables[node.name] = self.declared_type(node.name)
        return self.variables[node.name]

    def declared_type(self, name: str) -> Type:
        """Return the type of a variable, by its first letter unless it is declared."""
        declared = self.declarations.get(name)
        if declared is None:
            declared = Declaration(kind_by_name(name))
        axes = KINDS[declared.kind]
        if declared.square and not declared.lengths:
            length = self.fresh()
            return Type(length, length)
        given: tuple[Expr | None, ...] = declared.lengths or (None,) * axes
        # Columns first, so that the first matrix is m by n as in textbooks.
        columns_first = [self.fresh(value) for value in reversed(given)]
        return Type(*reversed(columns_first))

    def _infer_constant(self, node: SyntaxNode) -> Type:
        """Infer a number, pi or eye."""
        if node.name == "eye":
            return infer_identity(self._site(node))
        if node.name in FUNCTIONS:
            raise ParseError(
                f"{node.name} is a function; write {node.name}(...), or declare a variable with "
                "this name",
                self.text,
                node.position,
            )
        self.constants.add(node)
        return SCALAR

    def rule(self, node: SyntaxNode) -> TypeRule:
        """Return the rule of an operation."""
        if node.kind != "call":
            return OPERATORS[node.kind, node.name]
        rule = FUNCTIONS.get(node.name)
        if rule is None:
            raise ParseError(self._unknown_function(node), self.text, node.position)
        if len(node.children) not in rule.arities:
            takes = " or ".join(_ARGUMENTS[count] for count in rule.arities)
            dots = ", ".join(["..."] * rule.arities[0])
            message = f"{node.name} takes {takes}; expected {node.name}({dots})"
            raise ParseError(message, self.text, node.position)
        return rule

    def _unknown_function(self, node: SyntaxNode) -> str:
        message = f"there is no function {node.name!r}"
        if node.name in self.variables or node.name in self.declarations or len(node.name) == 1:
            return f"{message}; a product is written {node.name}*(...)"
        if node.name.lower() in _ELSEWHERE:
            return f"{message}; here it is written {_ELSEWHERE[node.name.lower()]}"
        close = get_close_matches(node.name.lower(), FUNCTIONS, n=1)
        if close:
            return f"{message}; perhaps {close[0]!r} is meant"
        return f"{message}; expected one of {', '.join(sorted(FUNCTIONS))}"

    def _symbol(self, name: str, type_: Type) -> Operand:
        declared = self.declarations.get(name, Declaration("scalar"))
        if declared.symbol is not None:
            return declared.symbol
        assumptions = dict.fromkeys(declared.assumptions, True)
        if type_ == SCALAR:
            return Symbol(name, real=True, **assumptions)
        return TensorSymbol(name, type_.lengths, **assumptions)

    def _build_node(self, node: SyntaxNode, values: tuple[Operand, ...]) -> Operand:
        site = self._site(node)
        self.deadline.check(site.error)
        with site.building():
            value = self._value(node, values)
            check_number(value, node in self.constants)
        return value

    def _value(self, node: SyntaxNode, values: tuple[Operand, ...]) -> Operand:
        if node.kind == "number":
            return read_number(node.name)
        if node.kind == "variable" and node.name in self.symbols:
            return self.symbols[node.name]
        if node.name == "pi":
            return sympy.pi
        rule = FUNCTIONS["eye"] if node.kind == "variable" else self.rule(node)
        types = [self.types[n] for n in (node, *node.children)]
        build = partial(rule.build, types) if rule.needs_types else rule.build
        if (node.kind, node.name) in (("binary", "*"), ("prefix", "-")):
            return self._scaled(node, types, build, values)
        return build(*values)

    def _scaled(
        self,
        node: SyntaxNode,
        types: Sequence[Type],
        build: Callable[..., Operand],
        values: tuple[Operand, ...],
    ) -> Operand:
        """Multiply a leading scalar last: in 2*(x - y)'*A it isn't distributed over the sum, so
        that the text round-trips."""
        scalar: Operand
        if node.kind == "prefix":
            scalar, rest = S.NegativeOne, values[0]
        elif types[1] == SCALAR:
            scalar, rest = values
        elif node.children[0] in self.scaled:
            scalar, first = self.scaled[node.children[0]]
            rest = build(first, values[1])
        else:
            return build(*values)
        self.scaled[node] = scalar, rest
        return multiply(scalar, rest)
