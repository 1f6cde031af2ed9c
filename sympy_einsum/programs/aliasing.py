"""Analyse aliasing: which Python expressions return a new array, and which a view.

An array may be modified as long as it has one name. ``known`` looks up the value of a name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from .names import Module, words
from .scopes import Closure
from .values import NamedFunction, Value

# Functions and methods, other than entrywise ones, whose results share no memory with their
# arguments.
_NEW = words("""
    zeros ones empty full zeros_like ones_like empty_like full_like array copy eye arange linspace
    einsum outer dot where concatenate stack sort tril triu roll sum prod max min cumsum cumprod
    take solve inv cholesky""")
# Calls that return a view of an array, or the array itself.
_VIEWS = words("""T reshape swapaxes transpose""")


def is_unaliased(node: ast.expr, known: Callable[[ast.AST], Value]) -> bool:
    """Tell whether an expression returns an array without another reference."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.List, ast.ListComp)):
        return True
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if not isinstance(function, ast.Attribute):
        value = known(function)
        return isinstance(value, NamedFunction) and (value.is_entrywise or value.makes_new)
    if function.attr == "einsum":
        subscripts = node.args[0] if node.args else None
        return isinstance(subscripts, ast.Constant) and "," in str(subscripts.value)
    if isinstance(getattr(np, function.attr, None), np.ufunc):
        return isinstance(known(function.value), Module)
    return function.attr in _NEW and all(option.arg != "copy" for option in node.keywords)


def may_alias(node: ast.expr, known: Callable[[ast.AST], Value]) -> bool:
    """Tell whether an expression may alias an array by another name or a list."""
    return any(
        isinstance(inner, (ast.NamedExpr, ast.Lambda))
        or (isinstance(inner, ast.Attribute) and inner.attr == "append")
        or isinstance(known(inner), Closure)
        for inner in ast.walk(node)
    )


def is_view(node: ast.expr, name: str | None) -> bool:
    """Tell whether an expression is ``np.asarray(name, ...)`` or a view such as ``name[1:].T``, and
    doesn't let the array escape."""
    inside = node
    others: list[ast.expr] = []
    while not isinstance(inside, ast.Name):
        if isinstance(inside, ast.Subscript):
            others.append(inside.slice)
            inside = inside.value
        elif isinstance(inside, ast.Attribute) and inside.attr in _VIEWS:
            inside = inside.value
        elif isinstance(inside, ast.Call) and isinstance(inside.func, ast.Attribute):
            args = [*inside.args, *[option.value for option in inside.keywords]]
            function = inside.func
            if function.attr == "asarray" and args:
                inside = args.pop(0)
            elif function.attr in _VIEWS:
                inside = function
            else:
                return False
            others += args
        else:
            return False
    return inside.id == name and not any(
        isinstance(part, (ast.NamedExpr, ast.Lambda)) or _is_unknown_call(part)
        for other in others
        for part in ast.walk(other)
    )


def _is_unknown_call(node: ast.AST) -> bool:
    """Tell whether an expression calls anything but a choice of dtype."""
    return isinstance(node, ast.Call) and not (
        isinstance(node.func, ast.Attribute) and node.func.attr == "result_type"
    )


def out_argument(node: ast.expr) -> ast.expr | None:
    """Return the array of ``out=`` of a call."""
    options = node.keywords if isinstance(node, ast.Call) else []
    return next((o.value for o in options if o.arg == "out"), None)
