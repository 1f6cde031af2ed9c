"""Substitution in expression graphs, visiting each distinct node once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sympy import Basic, Expr, Function, Symbol, SympifyError
from sympy.logic.boolalg import Boolean

from ..core import (
    NoScalarError,
    ShapeError,
    TensorError,
    as_length,
    documentation_link,
    floats_to_integers,
    has_shape,
    origin_of,
    same_length,
    same_name_hint,
    sympified,
    transform,
    with_function,
)
from .graphs import check_scalar
from .interning import Data, Node, Operands


def as_basic(value: object) -> Basic:
    """Convert an argument of stock code to a SymPy object; TensorError for strings, which would be
    evaluated."""
    if isinstance(value, Basic):
        return value
    try:
        return sympified(value)
    except SympifyError:
        raise TensorError(
            f"expected a symbol or an expression, not {value!r}; Constant takes arrays of numbers"
        ) from None


def rebuild(node: Basic, operands: Operands, data: Data | None = None) -> Basic:
    """Return a node with other operands, or the node itself if nothing changed."""
    if isinstance(node, Node):
        new_data = node.data if data is None else data
        if new_data is node.data and operands == node.operands:
            return node
        return node._build(operands, new_data)
    if operands == node.args:
        return node
    return node.func(*operands)


def replace_nodes(roots: Sequence[Basic], replacements: Mapping[Basic, Basic]) -> list[Basic]:
    """Replace nodes by others of the same shapes, without traversing these."""
    return transform(
        roots, lambda node, new: replacements[node] if node in replacements else rebuild(node, new)
    )


def substitute(root: Basic, rule: Mapping[Basic, object], stock_rules: bool = False) -> Basic:
    """Replace nodes, symbols and lengths, visiting each distinct node once."""
    return substitute_all([root], rule, stock_rules)[0]


def substitute_all(
    roots: Sequence[Basic], rule: Mapping[Basic, object], stock_rules: bool = False
) -> list[Basic]:
    """Replace nodes, symbols and lengths in several graphs, visiting each distinct node once.

    With ``stock_rules`` stock scalars in the graph are replaced by SymPy's ``subs`` (``x**4``
    contains ``x**2``), else exactly, by ``xreplace``."""
    rewritten: dict[Basic, Basic] = {}

    def rewrite(expr: Basic) -> Basic:
        if expr not in rewritten:
            new = expr.subs(rule, simultaneous=True) if stock_rules else expr.xreplace(rule)
            rewritten[expr] = new = floats_to_integers(new)
            if new.is_Float:
                raise ShapeError(
                    f"{expr} counts entries and {new} isn't an integer; substitute an integer"
                )
        return rewritten[expr]

    rule = {old: as_basic(new) for old, new in rule.items()}

    def visit(node: Basic, new: Operands) -> Basic:
        if node in rule:
            return _checked(node, rule[node], rewrite)
        if isinstance(node, Node):
            data = node._map_data(rewrite)
            if data == node.data:
                return rebuild(node, new)
            built = rebuild(node, new, data)
            for length in built.shape if isinstance(built, Node) else ():
                as_length(length)
            return built
        if stock_rules and new == node.args and node.args:
            for old, target in rule.items():
                hit = node._eval_subs(old, target)
                if hit is not None:
                    return hit
        return rebuild(node, new) if node.args else node

    return transform(roots, visit)


def _checked(old: Basic, new: Basic, rewrite: Callable[[Basic], Basic]) -> Basic:
    """Return ``new``; raise an error unless it has the type and shape of ``old``."""
    if has_shape(new) and not isinstance(new, Node):
        raise TensorError(f"can't replace {old} by {new}, of type {type(new).__name__}")
    is_condition = isinstance(new, Boolean) and not isinstance(new, Expr)
    if isinstance(old, Expr) and not (is_condition or isinstance(new, Node)):
        check_scalar(new)
    shape = new.shape if isinstance(new, Node) else ()
    expected = old.shape if isinstance(old, Node) else ()
    if len(shape) != len(expected) and new.is_polar:
        return old  # SymPy temporarily replaces all free symbols by polar dummies
    if len(shape) != len(expected) and isinstance(new, Symbol):
        raise NoScalarError(
            f"can't replace {old}, of shape {expected}, by the scalar {new}; solve and the like "
            "take tensors for scalars: A @ x = y has the solution inv(A) @ y"
            + documentation_link("stock functions")
        )
    if len(shape) != len(expected):
        raise ShapeError(
            f"can't replace {old}, of shape {expected}, by {new}, of shape {shape}; give an "
            "expression of the same order"
        )
    for axis, (length, given) in enumerate(zip(expected, shape, strict=True)):
        if not same_length(rewrite(length), given):
            raise ShapeError(
                f"can't replace {old} by {new}: axis {axis} has length {rewrite(length)} in one "
                f"and {given} in the other; substitute the lengths first"
                + same_name_hint(rewrite(length), given)
            )
    return new


def substitute_function(root: Basic, old: type, new: Callable[..., Expr]) -> Basic:
    """Replace an undefined function by another, and its derivatives by those of the other."""

    def inside(body: Basic) -> Basic:
        return substitute_function(body, old, new)

    def visit(node: Basic, below: Operands) -> Basic:
        if isinstance(node, Node):
            data = [
                with_function(part, old, new) if isinstance(part, Expr) else part
                for part in node.data
            ]
            new_data = node.data if data == list(node.data) else tuple(data)
            built = rebuild(node, below, new_data)
            return built._map_body(inside) if isinstance(built, Node) else built
        built = rebuild(node, below) if below else node
        is_hit = isinstance(node, Function) and origin_of(type(node), len(below))[0] == old
        return with_function(built, old, new) if is_hit else built

    return transform([root], visit)[0]
