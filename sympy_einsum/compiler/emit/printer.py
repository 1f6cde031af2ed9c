"""Printing of syntax trees as Python's text, with as few brackets as there can be.

>>> import ast
>>> tree = ast.parse("(a * (b)) ** 2 + f(x, axis=0)[1:, None]", mode="eval").body
>>> printed(tree)
'(a * b)**2 + f(x, axis=0)[1:, None]'
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from math import isinf, isnan
from typing import Any

from ..ir.code import OVER, TIMES, Enclosed, Operand
from ..ir.loops import Allocate

# How tightly operators bind.
TUPLE, NAMED, LAMBDA, CHOICE, OR, AND, NOT, COMPARISON = range(8)
BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM = range(8, 17)

OPERATORS: dict[type, tuple[str, int]] = {
    ast.BitOr: (" | ", BIT_OR),
    ast.BitXor: (" ^ ", BIT_XOR),
    ast.BitAnd: (" & ", BIT_AND),
    ast.LShift: (" << ", SHIFT),
    ast.RShift: (" >> ", SHIFT),
    ast.Add: (" + ", SUM),
    ast.Sub: (" - ", SUM),
    ast.Mult: (" * ", PRODUCT),
    ast.MatMult: (" @ ", PRODUCT),
    ast.Div: (" / ", PRODUCT),
    ast.FloorDiv: (" // ", PRODUCT),
    ast.Mod: (" % ", PRODUCT),
    ast.Pow: ("**", POWER),
}
UNARY: dict[type, tuple[str, int]] = {
    ast.USub: ("-", SIGN),
    ast.UAdd: ("+", SIGN),
    ast.Invert: ("~", SIGN),
    ast.Not: ("not ", NOT),
}
COMPARISONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

Names = Mapping[str, str]
NO_NAMES: Names = {}


def printed(tree: Any, names: Names = NO_NAMES) -> str:
    """Return the text of an expression or of a statement; variables may get other names."""
    return _PRINTERS[type(tree)](tree, names)[0]


def indented(body: Sequence[ast.stmt], names: Names = NO_NAMES) -> list[str]:
    """Return the lines of the statements in a block."""
    return [f"    {line}" for statement in body for line in printed(statement, names).split("\n")]


def binding(tree: Any) -> int:
    """Tell how tightly an expression binds."""
    return _PRINTERS[type(tree)](tree, NO_NAMES)[1]


def _at(tree: Any, level: int, names: Names) -> str:
    """Return the text of an operand, in brackets unless it binds at least so tightly."""
    text, own = _PRINTERS[type(tree)](tree, names)
    return text if own >= level else f"({text})"


def _name(tree: ast.Name, names: Names) -> tuple[str, int]:
    return names.get(tree.id, tree.id), ATOM


def _constant(tree: ast.Constant, names: Names) -> tuple[str, int]:
    value = tree.value
    if value is ...:
        return "...", ATOM
    if isinstance(value, float) and (isinf(value) or isnan(value)):
        return f'float("{value}")', ATOM
    return repr(value), ATOM


def _attribute(tree: ast.Attribute, names: Names) -> tuple[str, int]:
    owner = _at(tree.value, ATOM, names)
    if isinstance(tree.value, ast.Constant) and isinstance(tree.value.value, (int, float)):
        owner = f"({owner})"
    return f"{owner}.{tree.attr}", ATOM


def _call(tree: ast.Call, names: Names) -> tuple[str, int]:
    arguments = [_at(argument, NAMED, names) for argument in tree.args]
    for keyword in tree.keywords:
        value = _at(keyword.value, NAMED, names)
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            value = f'"{keyword.value.value}"'
        arguments.append(f"{keyword.arg}={value}" if keyword.arg else f"**{value}")
    return f"{_at(tree.func, ATOM, names)}({', '.join(arguments)})", ATOM


def _subscript(tree: ast.Subscript, names: Names) -> tuple[str, int]:
    entries = tree.slice
    if isinstance(entries, ast.Tuple) and entries.elts:
        inside = ", ".join([_at(entry, LAMBDA, names) for entry in entries.elts])
        inside += "," * (len(entries.elts) == 1)
    else:
        inside = _at(entries, TUPLE, names)
    return f"{_at(tree.value, ATOM, names)}[{inside}]", ATOM


def _slice(tree: ast.Slice, names: Names) -> tuple[str, int]:
    lower, upper, step = [
        "" if part is None else _at(part, LAMBDA, names)
        for part in (tree.lower, tree.upper, tree.step)
    ]
    return f"{lower}:{upper}" + (f":{step}" if step else ""), ATOM


def _starred(tree: ast.Starred, names: Names) -> tuple[str, int]:
    return f"*{_at(tree.value, BIT_OR, names)}", ATOM


def _binary(tree: ast.BinOp, names: Names) -> tuple[str, int]:
    text, level = OPERATORS[type(tree.op)]
    if tree.op is TIMES or tree.op is OVER:
        text = text.strip()
    is_power = level == POWER
    left = _at(tree.left, level + is_power, names)
    # A sign may stand in an exponent.
    right = _at(tree.right, SIGN if is_power else level + 1, names)
    return f"{left}{text}{right}", level


def _unary(tree: ast.UnaryOp, names: Names) -> tuple[str, int]:
    text, level = UNARY[type(tree.op)]
    return f"{text}{_at(tree.operand, level, names)}", level


def _boolean(tree: ast.BoolOp, names: Names) -> tuple[str, int]:
    text, level = (" and ", AND) if isinstance(tree.op, ast.And) else (" or ", OR)
    return text.join([_at(part, level + 1, names) for part in tree.values]), level


def _comparison(tree: ast.Compare, names: Names) -> tuple[str, int]:
    parts = [_at(tree.left, COMPARISON + 1, names)]
    for operator, part in zip(tree.ops, tree.comparators, strict=True):
        parts += [COMPARISONS[type(operator)], _at(part, COMPARISON + 1, names)]
    return " ".join(parts), COMPARISON


def _choice(tree: ast.IfExp, names: Names) -> tuple[str, int]:
    parts = [_at(tree.body, OR, names), _at(tree.test, OR, names), _at(tree.orelse, CHOICE, names)]
    return "{} if {} else {}".format(*parts), CHOICE


def _lambda(tree: ast.Lambda, names: Names) -> tuple[str, int]:
    arguments = [own.arg for own in tree.args.args]
    arguments += [f"*{tree.args.vararg.arg}"] if tree.args.vararg else []
    before = f"lambda {', '.join(arguments)}" if arguments else "lambda"
    return f"{before}: {_at(tree.body, LAMBDA, names)}", LAMBDA


def _tuple(tree: ast.Tuple, names: Names) -> tuple[str, int]:
    inside = ", ".join([_at(part, LAMBDA, names) for part in tree.elts])
    return f"({inside}{',' * (len(tree.elts) == 1)})", ATOM


def _list(tree: ast.List, names: Names) -> tuple[str, int]:
    return f"[{', '.join([_at(part, LAMBDA, names) for part in tree.elts])}]", ATOM


def _dict(tree: ast.Dict, names: Names) -> tuple[str, int]:
    pairs = [
        f"{_at(key, LAMBDA, names)}: {_at(value, LAMBDA, names)}"
        for key, value in zip(tree.keys, tree.values, strict=True)
    ]
    return f"{{{', '.join(pairs)}}}", ATOM


def _named(tree: ast.NamedExpr, names: Names) -> tuple[str, int]:
    return f"{_at(tree.target, ATOM, names)} := {_at(tree.value, LAMBDA, names)}", NAMED


def _assign(tree: ast.Assign, names: Names) -> tuple[str, int]:
    targets = [_target(target, names) for target in tree.targets]
    return " = ".join([*targets, _at(tree.value, TUPLE, names)]), TUPLE


def _target(tree: ast.expr, names: Names) -> str:
    """Return the text of what is assigned to: of several variables without brackets."""
    if isinstance(tree, ast.Tuple) and len(tree.elts) > 1:
        return ", ".join([_at(own, NAMED, names) for own in tree.elts])
    return _at(tree, TUPLE, names)


def _augmented(tree: ast.AugAssign, names: Names) -> tuple[str, int]:
    operator = OPERATORS[type(tree.op)][0].strip()
    return f"{_at(tree.target, ATOM, names)} {operator}= {_at(tree.value, TUPLE, names)}", TUPLE


def _expression(tree: ast.Expr, names: Names) -> tuple[str, int]:
    return _at(tree.value, TUPLE, names), TUPLE


def _function(tree: ast.FunctionDef, names: Names) -> tuple[str, int]:
    arguments = ", ".join([own.arg for own in tree.args.args])
    lines = [f"@{_at(own, NAMED, names)}" for own in tree.decorator_list]
    lines.append(f"def {tree.name}({arguments}):")
    return "\n".join([*lines, *indented(tree.body, names)]), TUPLE


def _for(tree: ast.For, names: Names) -> tuple[str, int]:
    head = f"for {_at(tree.target, TUPLE, names)} in {_at(tree.iter, TUPLE, names)}:"
    return "\n".join([head, *indented(tree.body, names)]), TUPLE


def _with(tree: ast.With, names: Names) -> tuple[str, int]:
    items = [_at(item.context_expr, NAMED, names) for item in tree.items]
    return "\n".join([f"with {', '.join(items)}:", *indented(tree.body, names)]), TUPLE


def _if(tree: ast.If, names: Names) -> tuple[str, int]:
    head = f"if {_at(tree.test, NAMED, names)}:"
    return "\n".join([head, *indented(tree.body, names)]), TUPLE


_PRINTERS: dict[type, Callable[[Any, Names], tuple[str, int]]] = {
    ast.Name: _name,
    Operand: _name,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Starred: _starred,
    ast.BinOp: _binary,
    Enclosed: lambda tree, names: (f"({_binary(tree, names)[0]})", ATOM),
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Lambda: _lambda,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.NamedExpr: _named,
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: lambda tree, names: (f"return {_at(tree.value, TUPLE, names)}", TUPLE),
    ast.FunctionDef: _function,
    ast.For: _for,
    ast.If: _if,
    ast.With: _with,
    ast.Raise: lambda tree, names: (f"raise {_at(tree.exc, TUPLE, names)}", TUPLE),
    Allocate: _assign,
}
