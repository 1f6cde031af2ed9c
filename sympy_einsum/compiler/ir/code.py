"""Generated code as syntax trees of Python, until it is printed.

Backends spell instructions by templates: Python in which ``{0}`` stands for an operand and ``{*1}``
for several, parsed once, with a tree in place of each field. Trees are shared, so none is changed
after it has been made.

>>> from sympy_einsum.compiler.emit.printer import printed
>>> printed(quote("np.where({0} > 0, {1}, {0})", name("x"), 1.5))
'np.where(x > 0, 1.5, x)'
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any, TypeAlias

Code: TypeAlias = ast.expr
# A field of a template: a tree, several of them, or a constant.
Field: TypeAlias = "Code | Sequence[Field] | str | int | float | bool | None"
# A template that takes its fields.
Template: TypeAlias = Callable[[Sequence[Any]], Any]

_FIELD, _FIELDS = "_field", "_fields"
# The field of a template that stands for all operands.
ALL = "all"
# Kinds of operands of scalar code.
LENGTH, NUMBER, FLOAT64, OTHER = "length", "number", "float64", "other"


class Operand(ast.Name):
    """A place for an operand of scalar code, by its number and kind: an axis length of Python's,
    any other number that may be Python's, a float64 value, or any other."""

    def __init__(self, number: int, kind: str = OTHER):
        super().__init__(f"_operand{number}_")
        self.number = number
        self.kind = kind


def name(text: str) -> Code:
    """Return a variable."""
    return ast.Name(text)


def constant(value: object) -> Code:
    """Return a number, a string, None, or a tuple of such."""
    if isinstance(value, tuple):
        return ast.Tuple([constant(part) for part in value])
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    own: Any = value
    return ast.Constant(own)


def as_code(value: Field) -> Code:
    """Return a tree for a field."""
    if isinstance(value, ast.AST):
        return value
    if isinstance(value, (list, tuple)):
        return ast.Tuple([as_code(part) for part in value])
    return constant(value)


def quote(template: str, *fields: Any) -> Code:
    """Return an expression with its fields filled in.

    A field is a tree, a constant of Python's, or for ``{*0}`` a sequence of them; a list elsewhere
    is a tuple of code.
    """
    tree: Code = parsed(template)(fields)
    return tree


def in_steps(target: ast.Name, tree: Code) -> list[ast.stmt]:
    """Return statements that compute sums and products of arrays of one shape one after the other,
    each written over the one before."""
    if not isinstance(tree, ast.BinOp):
        return [assigned(target, tree)]
    first, other = tree.left, tree.right
    if isinstance(tree.op, (ast.Add, ast.Mult)) and not isinstance(first, ast.BinOp):
        first, other = other, first
    is_split = isinstance(tree.op, (ast.Add, ast.Sub, ast.Mult, ast.Div))
    if not is_split or not isinstance(first, ast.BinOp):
        return [assigned(target, tree)]
    return [*in_steps(target, first), ast.AugAssign(target, tree.op, other)]


def statement(template: str, *fields: Any) -> ast.stmt:
    """Return a statement with its fields filled in."""
    tree: ast.stmt = _parsed_statement(template)(fields)
    return tree


def assigned(target: Code, value: Code, sign: int = 0) -> ast.stmt:
    """Return the statement that writes a value for the sign 0, and adds or subtracts it for 1 and
    -1."""
    if sign:
        assert isinstance(target, (ast.Name, ast.Attribute, ast.Subscript))
        return ast.AugAssign(target, ast.Add() if sign > 0 else ast.Sub(), value)
    return ast.Assign([target], value)


def raise_if(tests: Sequence[Code], error: str, message: str) -> ast.stmt:
    """Return the statement that raises an error with a message if any test holds."""
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), [*tests])
    return ast.If(test, [ast.Raise(call(error, message), None)], [])


def call(function: str, *arguments: Field, **keywords: Field) -> Code:
    """Return the call of a function by its dotted name."""
    return ast.Call(
        dotted(function),
        [as_code(argument) for argument in arguments],
        [ast.keyword(key, as_code(value)) for key, value in keywords.items()],
    )


def with_keywords(tree: Code, **keywords: Field) -> Code:
    """Return a call with further arguments by keyword."""
    assert isinstance(tree, ast.Call)
    more = [ast.keyword(key, as_code(value)) for key, value in keywords.items()]
    return ast.Call(tree.func, tree.args, [*tree.keywords, *more])


def function(
    own: str, arguments: Sequence[Code], body: Sequence[ast.stmt], decorators: Sequence[Code] = ()
) -> ast.stmt:
    """Return the definition of a function."""
    names = [ast.arg(argument.id) for argument in arguments if isinstance(argument, ast.Name)]
    parameters = ast.arguments([], names, None, [], [], None, [])
    return ast.FunctionDef(own, parameters, [*body], [*decorators])


@lru_cache(maxsize=1024)
def dotted(text: str) -> Code:
    """Return a variable, or an attribute of one."""
    first, *rest = text.split(".")
    tree = name(first)
    for part in rest:
        tree = ast.Attribute(tree, part)
    return tree


def subscript(tree: Code, entries: Sequence[Code]) -> Code:
    """Return an entry or a slice."""
    return ast.Subscript(tree, entries[0] if len(entries) == 1 else ast.Tuple([*entries]))


WHOLE = ast.Slice()


@lru_cache(maxsize=4096)
def parsed(template: str) -> Template:
    """Parse a template for expressions."""
    return template_of(syntax(template))


def syntax(template: str) -> Code:
    """Return the tree of a template, with names for its fields."""
    return ast.parse(_with_names(template), mode="eval").body


@lru_cache(maxsize=1024)
def _parsed_statement(template: str) -> Template:
    (tree,) = ast.parse(_with_names(template)).body
    return template_of(tree)


def _with_names(template: str) -> str:
    """Return a template with names for its fields."""
    parts = []
    for text, field, _, _ in Formatter().parse(template):
        parts.append(text)
        if field is not None:
            several = field == ALL or field.startswith("*")
            parts.append(f"*{_FIELDS}{field.lstrip('*')}" if several else f"{_FIELD}{field}")
    return "".join(parts)


def template_of(tree: Any) -> Template:
    """Return the function that builds a tree from its fields; what has none is shared."""
    build = _building(tree)
    return build if build is not None else lambda fields: tree


def _building(tree: Any) -> Template | None:
    if isinstance(tree, list):
        return _building_list(tree)
    if not isinstance(tree, ast.AST):
        return None
    number = _number(tree)
    if number is not None:
        return lambda fields: as_code(fields[number])
    parts = {key: getattr(tree, key, None) for key in tree._fields}
    builders = {key: _building(part) for key, part in parts.items()}
    if not any(builders.values()):
        return None
    kind = type(tree)
    order = [(parts[key], builders[key]) for key in tree._fields]
    return lambda fields: kind(*[own(fields) if own else part for part, own in order])


def _number(tree: Any) -> int | None:
    """Return the number of a field that stands for one tree."""
    if isinstance(tree, Operand):
        return tree.number
    text = tree.id.removeprefix(_FIELD) if isinstance(tree, ast.Name) else ""
    return int(text) if text.isdigit() and tree.id != text else None


def _building_list(trees: list[Any]) -> Template | None:
    builders = [_building(part) for part in trees]
    starred = [_starred(part) for part in trees]
    if not any(builders) and not any(starred):
        return None

    def build(fields: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for part, own, number in zip(trees, builders, starred, strict=True):
            if number:
                several = fields if number == ALL else fields[int(number)]
                found += [as_code(field) for field in several]
            else:
                found.append(own(fields) if own else part)
        return found

    return build


def _starred(tree: Any) -> str:
    """Return the number of a field that stands for several trees; empty for others."""
    if isinstance(tree, ast.Starred) and isinstance(tree.value, ast.Name):
        text = tree.value.id
        return text.removeprefix(_FIELDS) if text.startswith(_FIELDS) else ""
    return ""


# --- what is in a tree ----------------------------------------------------------------------------


# Nodes without parts, apart from operators, which have no attributes at all.
_LEAVES = {ast.Name, ast.Constant, Operand}


def nodes(tree: Any) -> list[Any]:
    """Return the nodes of a tree, each before its parts."""
    found = [tree]
    for node in found:
        if type(node) in _LEAVES:
            continue
        for part in node.__dict__.values():
            if isinstance(part, ast.AST):
                found.append(part)
            elif isinstance(part, list):
                found += [own for own in part if isinstance(own, ast.AST)]
    return found


def names_in(tree: Any) -> list[str]:
    """Return the variables of a tree, as often as they occur."""
    return [node.id for node in nodes(tree) if isinstance(node, ast.Name)]


def dotted_name(tree: Any) -> str:
    """Return the dotted name of a function; empty for other trees."""
    parts: list[str] = []
    while isinstance(tree, ast.Attribute):
        parts.append(tree.attr)
        tree = tree.value
    if not isinstance(tree, ast.Name):
        return ""
    return ".".join([tree.id, *reversed(parts)])


def called_name(tree: Any) -> str:
    """Return the dotted name of the function that is called; empty where none is."""
    return dotted_name(tree.func) if isinstance(tree, ast.Call) else ""


def number_of(tree: Any) -> int | float | None:
    """Return the value of a number that is written out."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        value = number_of(tree.operand)
        return None if value is None else -value
    is_number = isinstance(tree, ast.Constant) and type(tree.value) in (int, float)
    return tree.value if is_number else None


def is_integer(tree: Any, value: int) -> bool:
    """Tell whether a tree is an integer that is written out."""
    return isinstance(tree, ast.Constant) and type(tree.value) is int and tree.value == value


def equal(first: Any, second: Any) -> bool:
    """Tell whether two trees are equal."""
    return first is second or ast.dump(first) == ast.dump(second)


# --- arithmetic -----------------------------------------------------------------------------------

ADD, SUB, MULT, DIV, POW = ast.Add(), ast.Sub(), ast.Mult(), ast.Div(), ast.Pow()
MATMUL = ast.MatMult()
# Operators that are printed without spaces: those within the function of an entry.
TIMES, OVER = ast.Mult(), ast.Div()
_SIGN = ast.USub()
# The operators that a sign may be moved through.
_PRODUCTS = (ast.Mult, ast.Div)


def negative(tree: Code) -> Code:
    """Return a tree with a minus before its first factor."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, _PRODUCTS):
        return ast.BinOp(negative(tree.left), tree.op, tree.right)
    return ast.UnaryOp(_SIGN, tree)


def without_sign(tree: Code) -> Code | None:
    """Return a product without the minus before its first factor; None where there is none."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return tree.operand
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, _PRODUCTS):
        left = without_sign(tree.left)
        return None if left is None else ast.BinOp(left, tree.op, tree.right)
    return None


def total(first: Code, rest: Sequence[tuple[bool, Code]]) -> Code:
    """Return a sum; of the terms that are marked, the negative."""
    for is_negative, term in rest:
        first = ast.BinOp(first, SUB if is_negative else ADD, term)
    return first


def product(factors: Sequence[Code], operator: ast.operator = MULT) -> Code:
    """Return a product, from the left."""
    first, *rest = factors
    for factor in rest:
        first = ast.BinOp(first, operator, factor)
    return first


class Enclosed(ast.BinOp):
    """An operation that is printed in brackets, wherever it stands."""


def rewritten(tree: Any, rule: Callable[[Any], Code | None]) -> Any:
    """Return a tree with others in place of the nodes that a rule has others for."""
    if isinstance(tree, list):
        parts = [rewritten(part, rule) for part in tree]
        return parts if any(a is not b for a, b in zip(parts, tree, strict=True)) else tree
    if not isinstance(tree, ast.AST):
        return tree
    found = rule(tree)
    if found is not None:
        return found
    old = [getattr(tree, key, None) for key in tree._fields]
    new = [rewritten(part, rule) for part in old]
    return type(tree)(*new) if any(a is not b for a, b in zip(old, new, strict=True)) else tree


def renamed(tree: Code, names: Mapping[str, Code]) -> Code:
    """Return a tree with others in place of variables."""
    found: Code = rewritten(
        tree, lambda node: names.get(node.id) if isinstance(node, ast.Name) else None
    )
    return found
