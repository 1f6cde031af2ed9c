"""Derivatives of scalar expressions, by the rows of the table where they have one."""

from __future__ import annotations

from collections.abc import Callable

from sympy import (
    Add,
    Basic,
    Derivative,
    DiracDelta,
    Dummy,
    Expr,
    Function,
    Heaviside,
    Max,
    Min,
    Mul,
    Piecewise,
    Pow,
    S,
    SingularityFunction,
    Subs,
    Symbol,
    preorder_traversal,
)
from sympy.core.function import AppliedUndef

from .activations import masked
from .caching import cached
from .errors import UnsupportedError, documentation_link
from .lengths import sympified
from .piecewise_derivatives import piecewise_derivative
from .rows import row_of
from .traversal import postorder
from .undefined_functions import origin_of, undefined_partial
from .user_functions import UserFunction

# Generalised and unevaluated functions, which no derivative may contain.
_FORBIDDEN = (DiracDelta, Heaviside, SingularityFunction, Derivative, Subs)


@cached(4096)
def derivative(expr: Expr, symbol: Symbol) -> Expr:
    """Differentiate a scalar expression by one of its symbols, with the table's conventions.

    Raises UnsupportedError, which names the function, where SymPy has no derivative.

    >>> from sympy import Abs, Symbol, exp
    >>> u = Symbol("u", real=True)
    >>> derivative(u * Abs(u), u)
    u*sign(u) + Abs(u)
    """
    if expr == symbol:
        return S.One
    if symbol not in expr.free_symbols:
        return S.Zero
    if expr.is_Add:
        return Add(*[derivative(arg, symbol) for arg in expr.args])
    if expr.is_Mul:
        return Add(
            *[
                # primitive() undoes SymPy's distribution of 2*(a - b).
                Mul(*expr.args[:k], *derivative(arg, symbol).primitive(), *expr.args[k + 1 :])
                for k, arg in enumerate(expr.args)
                if symbol in arg.free_symbols
            ]
        )
    if isinstance(expr, Piecewise):
        return piecewise_derivative(expr, symbol, derivative)
    if expr.is_Pow and symbol not in expr.exp.free_symbols:
        return expr.exp * Pow(expr.base, expr.exp - 1) * derivative(expr.base, symbol)
    if isinstance(expr, (Function, Pow, Max, Min)):
        join = _masked_product if is_choice(expr) else Mul
        pairs = zip(_partials(expr, symbol), expr.args, strict=True)
        return Add(*[join(p, derivative(a, symbol)) for p, a in pairs])
    return _checked(expr, expr.diff(symbol))


@cached(4096)
def may_be_infinite(expr: Expr) -> bool:
    """Tell whether a value or its derivative can be infinite or nan where its symbols are finite.

    >>> from sympy import log, sin
    >>> from sympy.abc import x
    >>> may_be_infinite(x**2 * sin(x)), may_be_infinite(log(x))
    (False, True)
    """
    for part in postorder([expr], lambda node: node.args):
        if part.is_Pow and not (part.exp.is_Integer and part.exp.is_positive):
            return True
        if isinstance(part, Function) and not (is_choice(part) or _preserves_finiteness(part)):
            return True
    return False


def is_choice(expr: Basic) -> bool:
    """Tell whether an expression selects one of several values, so that the derivative by the
    others is 0 even where theirs are infinite.

    >>> from sympy import Max
    >>> from sympy.abc import x
    >>> is_choice(Max(x, 1)), is_choice(2 * Max(x, 1)), has_choice(2 * Max(x, 1))
    (True, False, True)
    """
    row = row_of(type(expr))
    return isinstance(expr, Piecewise) or (row is not None and row.is_choice)


@cached(4096)
def has_choice(expr: Expr) -> bool:
    """Tell whether an expression contains a choice."""
    return any(map(is_choice, preorder_traversal(expr)))


def _preserves_finiteness(expr: Expr) -> bool:
    row = row_of(type(expr))
    return row is not None and row.keeps_finite


def _masked_product(weight: Expr, partial: Expr) -> Expr:
    """Multiply the weight of a branch by its derivative: 0 for weight 0 even if that is
    infinite."""
    return masked(weight, partial) if may_be_infinite(partial) else weight * partial


def _partials(expr: Expr, symbol: Symbol) -> list[Expr]:
    """Return the derivative by each argument in which the symbol occurs, 0 for the others."""
    row = row_of(type(expr))
    if row is not None and row.derivative is not None:
        partials = row.derivative(*expr.args)
        for position, (partial, arg) in enumerate(zip(partials, expr.args, strict=True), start=1):
            if partial is None and symbol in arg.free_symbols:
                raise UnsupportedError(
                    f"no derivative of {expr.func.__name__} by its argument {position}"
                    + documentation_link("no derivative")
                )
        return [S.Zero if partial is None else partial for partial in partials]
    if isinstance(expr, (AppliedUndef, UserFunction)):
        args = enumerate(expr.args)
        return [
            undefined_partial(expr, k) if symbol in arg.free_symbols else S.Zero for k, arg in args
        ]
    # Real dummies: SymPy's derivatives of Abs and the like depend on the domain.
    dummies = [arg if symbol not in arg.free_symbols else Dummy(real=True) for arg in expr.args]
    back = dict(zip(dummies, expr.args, strict=True))
    found: list[Expr] = []
    for arg, dummy in zip(expr.args, dummies, strict=True):
        if arg is dummy:
            found.append(S.Zero)
            continue
        try:
            partial = expr.func(*dummies).diff(dummy)
        except (NotImplementedError, ValueError, TypeError, AttributeError) as error:
            raise UnsupportedError(f"SymPy has no derivative of {expr.func}: {error}") from error
        found.append(_checked(expr, partial).xreplace(back))
    return found


def _checked(expr: Expr, result: Expr) -> Expr:
    forbidden = next((kind for kind in _FORBIDDEN if result.has(kind)), None)
    if forbidden is not None:
        raise UnsupportedError(
            f"no derivative of {getattr(expr.func, '__name__', expr.func)}: "
            f"SymPy gives {str(result)[:200]}, which can't be evaluated"
            + documentation_link("no derivative")
        )
    return result


def with_function(expr: Expr, old: type, new: Callable[..., Expr]) -> Expr:
    """Replace an undefined function by another, and its derivatives by those of the other.

    >>> from sympy import Function, sin
    >>> from sympy.abc import x
    >>> f = Function("f")
    >>> f_x, f_1 = f(x), undefined_partial(f(x**2), 0)
    >>> with_function(f_x + f_1, f, sin)
    sin(x) + cos(x**2)
    """
    replaced: dict[Basic, Basic] = {}
    for node in postorder([expr], lambda node: node.args):
        args = [replaced[arg] for arg in node.args]
        origin, counts = origin_of(type(node), len(args))
        if isinstance(node, Function) and origin == old:
            dummies = [Dummy(real=True) for _ in args]
            value = sympified(new(*dummies))
            for dummy, count in zip(dummies, counts, strict=True):
                for _ in range(count):
                    value = derivative(value, dummy)
            replaced[node] = value.xreplace(dict(zip(dummies, args, strict=True)))
        else:
            replaced[node] = node if args == list(node.args) else node.func(*args)
    return replaced[expr]
