"""Undefined functions and their derivatives, which are functions named f', f'', f''', f^(4), or
f^(1,0) for several arguments.

SymPy writes ``Derivative(f(t), t)``, or ``Subs`` if the argument isn't a symbol; an elementwise
node needs a function."""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any

from sympy import Basic, Derivative, Dummy, Expr, Subs
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.printing.latex import LatexPrinter

from . import tuning
from .traversal import postorder


def undefined_partial(expr: Expr, position: int) -> Expr:
    """Return the derivative of an undefined function by one of its arguments.

    >>> from sympy import Function, symbols
    >>> f, x, y = Function("f"), *symbols("x y")
    >>> undefined_partial(f(x), 0), undefined_partial(undefined_partial(f(x, y), 0), 1)
    (f'(x), f^(1,1)(x, y))
    """
    origin, counts = origin_of(type(expr), len(expr.args))
    counts[position] += 1
    return _derived(origin, counts)(*expr.args)


def origin_of(function: type, arity: int) -> tuple[type, list[int]]:
    """Return the function of which one is a derivative, and the number of derivatives by each
    argument."""
    origin = getattr(function, "derivative_of", None)
    return (function, [0] * arity) if origin is None else (origin[0], list(origin[1]))


def _derived(origin: type, counts: Sequence[int]) -> type:
    if len(counts) == 1 and counts[0] <= tuning.MAX_PRIMES:
        mark = "'" * counts[0]
    else:
        mark = f"^({','.join(map(str, counts))})"
    members = {"_latex": _latex, "mark": mark}
    return UndefinedFunction(
        origin.__name__ + mark, (AppliedUndef,), members, derivative_of=(origin, tuple(counts))
    )


def _latex(self: Expr, printer: LatexPrinter, exp: str | None = None) -> str:
    """Print the name in italics, as textbooks do; SymPy would print it upright."""
    mark = self.mark.replace("^", "^{") + "}" * ("^" in self.mark)
    head = printer._hprint_Function(origin_of(type(self), 0)[0].__name__)
    arguments = ", ".join([printer._print(arg) for arg in self.args])
    text = rf"{head}{mark}{{\left({arguments} \right)}}"
    return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


def named_derivatives(expr: Expr) -> Expr:
    """Replace the derivatives of undefined functions by their arguments by functions f', f'', ….

    >>> from sympy import Function, symbols
    >>> f, x, y = Function("f"), *symbols("x y")
    >>> named_derivatives(x * f(x).diff(x, 2)), named_derivatives(f(y * x).diff(x))
    (x*f''(x), y*f'(x*y))
    """
    if not expr.has(Derivative):
        return expr
    renamed: dict[Basic, Basic] = {}
    for node in postorder([expr], lambda node: node.args):
        new = [renamed[arg] for arg in node.args]
        if isinstance(node, Derivative):
            renamed[node] = _named(node)
        elif isinstance(node, Subs) and not renamed[node.expr].has(Derivative):
            points = zip(node.variables, [renamed[point] for point in node.point], strict=True)
            renamed[node] = renamed[node.expr].xreplace(dict(points))
        else:
            renamed[node] = node if new == list(node.args) else node.func(*new)
    return renamed[expr]


def _named(node: Derivative) -> Expr:
    inner = named_derivatives(node.expr)
    args = inner.args
    by = [
        (args.index(variable), count) for variable, count in node.variable_count if variable in args
    ]
    is_plain = isinstance(inner, AppliedUndef) and len(by) == len(node.variable_count)
    if not (is_plain and all(_occurs_only_at(inner, position) for position, _ in by)):
        return node
    for position, count in by:
        if not count.is_Integer:
            return node
        for _ in range(int(count)):
            inner = undefined_partial(inner, position)
    return inner


def _occurs_only_at(expr: Expr, position: int) -> bool:
    others = [arg for k, arg in enumerate(expr.args) if k != position]
    return not any(arg.has(expr.args[position]) for arg in others)


def as_stock_derivative(expr: Expr) -> Expr:
    """Convert a function f', f'', … to SymPy's Derivative; return other expressions unchanged.

    >>> from sympy import Function, symbols
    >>> f, x, y = Function("f"), *symbols("x y")
    >>> as_stock_derivative(undefined_partial(f(x), 0))
    Derivative(f(x), x)
    >>> as_stock_derivative(undefined_partial(f(x * y), 0))
    Subs(Derivative(f(_u0), _u0), _u0, x*y)
    """
    origin, counts = origin_of(type(expr), len(expr.args))
    if not any(counts):
        return expr
    by = [k for k, count in enumerate(counts) if count]
    variables = {k: expr.args[k] for k in by}
    loose = [k for k in by if not (variables[k].is_Symbol and _occurs_only_at(expr, k))]
    variables.update({k: Dummy(f"u{k}", real=True) for k in loose})
    inner = origin(*[variables.get(k, arg) for k, arg in enumerate(expr.args)])
    derivative = Derivative(inner, *[(variables[k], counts[k]) for k in by])
    if not loose:
        return derivative
    return Subs(
        derivative, tuple([variables[k] for k in loose]), tuple([expr.args[k] for k in loose])
    )


def with_stock_derivatives(expr: Basic) -> Basic:
    """Replace all functions f', f'', … by SymPy's derivatives."""
    named = [e for e in expr.atoms(AppliedUndef) if hasattr(type(e), "derivative_of")]
    if not named:
        return expr
    return expr.replace(lambda e: e in named, as_stock_derivative)


# Pickle looks classes up in modules, where these aren't.
copyreg.pickle(UndefinedFunction, lambda function: (_unpickle, (function.name, function._kwargs)))


def _unpickle(name: str, attributes: dict[str, Any]) -> type:
    made = attributes.get("derivative_of")
    return UndefinedFunction(name, **attributes) if made is None else _derived(*made)
