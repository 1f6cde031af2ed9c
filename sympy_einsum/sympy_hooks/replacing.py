"""SymPy's ``replace`` and ``rewrite``, inside of tensor expressions too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from sympy import Basic
from sympy.core.function import FunctionClass

from .. import operations as ops
from ..core import UnsupportedError, postorder, transform
from ..expressions import (
    Adj,
    AdjStack,
    Cholesky,
    Det,
    DetStack,
    EigenValues,
    Elementwise,
    Expm,
    Inv,
    InvStack,
    LogDet,
    LogDetStack,
    LogSumExp,
    Node,
    Operand,
    Operands,
    PseudoInverse,
    SingularValues,
    Slot,
    Softmax,
    TensorExpr,
    Unevaluated,
    adj,
    apply_body,
    as_basic,
    det,
    expm,
    inv,
    logdet,
    rebuild,
    slot,
    substitute,
    substitute_function,
)
from .patterns import is_pattern, with_patterns_replaced

# The nodes that a function builds, for functions of nothing but operands.
NODES: Mapping[Callable[..., Operand], tuple[type[TensorExpr], ...]] = {
    inv: (Inv, InvStack),
    det: (Det, DetStack),
    adj: (Adj, AdjStack),
    logdet: (LogDet, LogDetStack),
    expm: (Expm,),
    ops.cholesky: (Cholesky,),
    ops.eigvalsh: (EigenValues,),
    ops.svdvals: (SingularValues,),
    ops.pinv: (PseudoInverse,),
}
# The target of a replacement: a type or several, or a predicate on expressions.
Query: TypeAlias = type | tuple[type, ...] | Callable[[Basic], bool]


def as_query(query: object) -> object:
    """Convert a function of ours to SymPy's function, or to the type of node that it builds; keep
    all else.

    Raises UnsupportedError for functions that build several nodes or have options.
    """
    if isinstance(query, ops.ScalarFunction):
        function = query.row.function
        if not isinstance(function, FunctionClass):
            raise UnsupportedError(
                f"replace doesn't find {query.__name__}, which SymPy writes by other functions; "
                "replace these, such as sympy.Pow for sqrt"
            )
        return function
    if isinstance(query, type) or not callable(query):
        return query
    if query in NODES:
        return NODES[query]
    if _is_ours(query):
        name = getattr(query, "__name__", query)
        raise UnsupportedError(
            f"replace doesn't find what {name} builds; give the type of node, such as "
            "sympy_einsum.Softmax, or a function that says whether a node is to be replaced"
        )
    return query


def replaced(
    expr: Basic, query: object, value: Any, map: bool = False, exact: bool | None = None
) -> Any:
    """Return an expression with all that matches replaced, below first, each distinct node once."""
    known = as_query(query)
    if isinstance(known, FunctionClass) and callable(value) and not map:
        return substitute_function(expr, known, value)
    found: dict[Basic, Basic] = {}
    if not isinstance(known, Basic):
        result = _with_matches(expr, known, value, found)
    elif is_pattern(known):
        result = with_patterns_replaced(expr, known, value, found, exact)
    else:
        found[known] = as_basic(value() if callable(value) else value)
        result = substitute(expr, found)
    return (result, found) if map else result


def _with_matches(expr: Basic, query: Any, value: Any, found: dict[Basic, Basic]) -> Basic:
    """Return an expression with what is of some types, or what a function says, replaced."""
    is_type = isinstance(query, (type, tuple))

    def matches(part: Basic) -> bool:
        if isinstance(part, Slot):
            return False
        return isinstance(part, query) if is_type else bool(query(part))

    def new(part: Basic) -> Basic:
        if not matches(part):
            return part
        own = part.operands if isinstance(part, Node) else part.args
        result = as_basic(value(*own) if is_type else value(part))
        if result != part:
            found[part] = result
        return result

    def inside(body: Basic) -> Basic:
        return _with_matches(body, query, value, found)

    def visit(node: Basic, below: Operands) -> Basic:
        built = rebuild(node, below) if below else node
        if isinstance(built, Node):
            built = built._map_body(inside)
        if isinstance(built, Elementwise):
            body = built.body.replace(matches, new)
            built = built if body == built.body else apply_body(body, built.operands)
        return new(built)

    return transform([expr], visit)[0]


def found_in(root: Basic, query: object) -> set[Basic]:
    """Return the nodes that match a query, and the parts of scalar functions, of their operands."""
    known: Any = as_query(query)

    def matches(part: Basic) -> bool:
        if isinstance(known, Basic):
            return part.match(known) is not None
        return isinstance(part, known) if isinstance(known, (type, tuple)) else bool(known(part))

    return set(_matching(root, matches))


def _matching(root: Basic, matches: Callable[[Basic], bool]) -> Iterator[Basic]:
    for node in postorder([root]):
        if matches(node):
            yield node
        if isinstance(node, Elementwise):
            operands = {slot(k): operand for k, operand in enumerate(node.operands)}
            for part in postorder([node.body]):
                if not isinstance(part, Slot) and matches(part):
                    yield node if part is node.body else part.xreplace(operands)
        if isinstance(node, Unevaluated):
            yield from _matching(node.expr, matches)


def rewritten(
    node: Basic, pattern: tuple[type, ...], rule: object, method: str, **hints: object
) -> Basic:
    """Return an expression with its functions in terms of others, as SymPy's ``rewrite`` has them,
    and a softmax and log-sum-exp in exponentials and logarithms."""

    @cache
    def rewrite(part: Basic) -> Basic:
        return part._rewrite(pattern, rule, method, **hints)

    def inside(body: Basic) -> Basic:
        return rewritten(body, pattern, rule, method, **hints)

    def visit(own: Basic, below: Operands) -> Basic:
        built = rebuild(own, below) if below else own
        if isinstance(built, Node):
            built = built._map_body(inside)
        if isinstance(built, Elementwise):
            body = rewrite(built.body)
            return built if body == built.body else apply_body(body, built.operands)
        if isinstance(built, Node):
            spelled = _SPELLED.get((type(built), method))
            is_meant = not pattern or isinstance(built, pattern)
            return spelled(built) if spelled and is_meant else built
        return built._rewrite(pattern, rule, method, **{**hints, "deep": False})

    return transform([node], visit)[0]


def _total(powers: Operand, axes: tuple[int, ...], keepdims: bool) -> Operand:
    return ops.sum(powers, axis=axes, keepdims=keepdims)


def _softmax_by_exp(node: Softmax) -> Operand:
    powers = ops.FUNCTIONS["exp"](node.operands[0])
    return ops.divide(powers, _total(powers, node.axes, True))


def _logsumexp_by_exp(node: LogSumExp) -> Operand:
    powers = ops.FUNCTIONS["exp"](node.operands[0])
    return ops.FUNCTIONS["log"](_total(powers, node.axes, False))


_SPELLED: Mapping[tuple[type, str], Callable[[Any], Operand]] = {
    (Softmax, "_eval_rewrite_as_exp"): _softmax_by_exp,
    (LogSumExp, "_eval_rewrite_as_exp"): _logsumexp_by_exp,
}


def is_function(query: object) -> bool:
    """Tell whether what is to be replaced is a function, of SymPy's or of ours."""
    return isinstance(query, FunctionClass) or _is_ours(query)


def _is_ours(query: object) -> bool:
    """Tell whether a query is a public function of ours."""
    if isinstance(query, (type, Basic)) or not callable(query):
        return False
    is_inner = "<" in getattr(query, "__qualname__", "<")
    return not is_inner and str(query.__module__).startswith("sympy_einsum.")
