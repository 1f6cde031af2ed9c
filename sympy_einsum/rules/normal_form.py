"""The normal forms, and the choice between two forms of an expression.

Two things could make evaluation slower, and are decided by :func:`cost`: opening a product that
others use too (denesting), and multiplying out or factoring sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Literal, overload

from ..analysis import cost
from ..core import children, deferred, has_more_nodes, postorder, tuning
from ..expressions import (
    Einsum,
    Operand,
    Several,
    TensorAdd,
    TensorExpr,
    TensorLike,
    View,
    as_operand,
    is_tensor,
)
from .equal_axes import lift_deltas
from .rewriting import Run, Step
from .table import EXPANDED, NORMAL, STABLE, STABLE_NUMERIC

_with_numbers = deferred("evaluation", "with_numbers")
# The number of terms of a node from those of its operands.
COMBINED: dict[type, Callable[[Iterable[int]], int]] = {TensorAdd: sum, Einsum: prod, View: prod}


@overload
def simplify(expr: Several, *, trace: Literal[False] = ...) -> Sequence[Operand]: ...


@overload
def simplify(expr: TensorLike, *, trace: Literal[False] = ...) -> Operand: ...


@overload
def simplify(expr: Several, *, trace: Literal[True]) -> tuple[Sequence[Operand], list[Step]]: ...


@overload
def simplify(expr: TensorLike, *, trace: Literal[True]) -> tuple[Operand, list[Step]]: ...


def simplify(expr: TensorLike | Several, *, trace: bool = False) -> object:
    """Rewrite an expression in normal form: shorter to read and not slower to evaluate.

    Expressions that differ by the names of indices, the order and nesting of products, deltas
    that can be merged or ones, become the same object. Common factors are pulled out and products
    of sums multiplied out where that is cheaper. Identities of inverses and determinants hold
    where the inverses exist, cancelled powers where the base isn't zero, as in SymPy.

    Parameters
    ==========

    expr : a tensor expression, a SymPy scalar with tensor expressions inside, or a list of them,
        which are simplified together, so that common parts stay shared
    trace : return the steps too

    Returns
    =======

    The expression, of the same shape; with ``trace=True`` a pair of it and the list of steps
    ``(rule, before, after)``.

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.simplify(A.inv() @ A @ x) is x
    True
    >>> result, steps = se.simplify(se.log(se.exp(x)) + x, trace=True)
    >>> [step.rule for step in steps]
    ['compose']
    """
    exprs = list(expr) if isinstance(expr, (list, tuple)) else [expr]
    roots = [as_operand(e) for e in exprs]
    order = postorder(roots)
    if any(isinstance(node, TensorExpr) and node.is_number for node in order):
        roots = [_with_numbers(root) for root in roots]
        order = postorder(roots)
    results, steps = roots, []
    # The more expanded form unless it costs more, and never one that costs more than the given.
    for kept in [(), _shared(order)] if len(order) <= tuning.LARGE_GRAPH else [_shared(order)]:
        run = Run(NORMAL, kept)
        found = [run.result(root) for root in roots]
        if not run.steps or cost(found) <= tuning.COST_SLACK * cost(roots):
            results, steps = found, run.steps
            break
    result = results if isinstance(expr, (list, tuple)) else results[0]
    return (result, steps) if trace else result


def tidy(
    exprs: Sequence[Operand], wanted: bool | None, given: Sequence[Operand]
) -> tuple[Sequence[Operand], list[Step]]:
    """Simplify the results of differentiation; return them and the steps.

    As :func:`simplify`, but the scalars of the ``given`` function stay what they are, so that a
    derivative is written in the function's own terms, and its products aren't inlined if nothing is
    lost by that: it is likely to be evaluated too. ``wanted=None`` leaves graphs alone that are too
    big to be read.
    """
    if wanted is False or (wanted is None and has_more_nodes(exprs, tuning.LARGE_GRAPH)):
        return exprs, []
    order = postorder(exprs)
    if wanted is None and _has_many_terms(order):
        return exprs, []
    below = postorder(given)
    fixed = [node for node in below if not is_tensor(node)]
    shared = _shared(order)
    # Otherwise a step's form would differ from an equal part of another loop's step.
    run = Run(NORMAL, shared.union(below), fixed, enters_loops=False)
    results = [run.result(expr) for expr in exprs]
    price = cost(results) if run.steps or run.depends_on_shared else 0
    if (
        run.depends_on_shared
        and len(order) <= tuning.LARGE_GRAPH
        and len(shared) <= tuning.MAX_SHARED_NODES
    ):
        freer = Run(NORMAL, (), fixed, enters_loops=False)
        inlined = [freer.result(expr) for expr in exprs]
        if tuning.COST_SLACK * cost(inlined) < price:
            run, results, price = freer, inlined, cost(inlined)
    if run.steps and price > tuning.COST_SLACK * cost(exprs):
        return exprs, []
    return results, run.steps


def stabilise(
    exprs: Sequence[Operand], variables: Sequence[Operand] = (), *, numeric: bool = False
) -> tuple[list[Operand], list[Step]]:
    """Rewrite expressions in numerically stable forms, whose values and derivatives don't overflow;
    return them and the steps. It is one walk over a graph of any size, whatever the cost.
    Derivatives by the ``variables`` are right wherever the expressions' own are. With ``numeric``
    use also forms that nobody would write, in which no digits cancel.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> stabilise([se.log(se.sigmoid(x) * x)])[0]
    [log(x) - softplus(-x)]
    """
    run = Run(STABLE_NUMERIC if numeric else STABLE, variables)
    return [run.result(expr) for expr in exprs], run.steps


def _has_many_terms(order: Sequence[Operand]) -> bool:
    """Tell whether the products of a graph have too many terms to be read."""
    terms: dict[Operand, int] = {}
    for node in order:
        combined = COMBINED.get(type(node))
        count = combined(terms[o] for o in children(node)) if combined else 1
        terms[node] = min(count, tuning.MAX_DISTRIBUTED_TERMS)
    inlined = [count for node, count in terms.items() if isinstance(node, Einsum) and count > 1]
    return sum(inlined) > tuning.MAX_READABLE_TERMS


def _shared(order: Sequence[Operand]) -> set[Operand]:
    """Return the tensor nodes of a graph that several nodes use."""
    uses = Counter(child for node in order for child in children(node))
    return {node for node in order if uses[node] > 1 and isinstance(node, TensorExpr)}


def normal_form(expr: Operand) -> Operand:
    """Return the form that decides equality: products of sums are multiplied out at any cost
    to evaluate. Sums and products beyond a few dozen terms stay as they are.

    >>> import sympy_einsum as se
    >>> A, B = se.tensors("A B", 3, 3)
    >>> normal_form((A + B) @ A) is normal_form(A @ A + B @ A)
    True
    """
    (lifted,) = lift_deltas([expr])
    return Run(EXPANDED).result(simplify(lifted))
