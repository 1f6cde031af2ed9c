"""The derivative of every type of node by each of its operands: one rule per type.

A rule is a :class:`Term`: the derivative of a node by one operand, written as an einsum of
factors. The pullback contracts it with a cotangent, the pushforward with a tangent, so every
derivative is stated once and serves both modes.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004.
[JAX] The JAX authors, "JAX: composable transformations of Python+NumPy programs", jax.lax, 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sympy import Expr, Function, Piecewise, S, log

from ..core import NodeTable, derivative, is_choice, may_be_infinite
from ..expressions import (
    Constant,
    DirectionalFunction,
    Einsum,
    Elementwise,
    Extremum,
    ExtremumShare,
    Fourier,
    IntervalProducts,
    LogCumSumExp,
    LogSumExp,
    OneHot,
    Operand,
    Picked,
    Positions,
    Ranking,
    RunningSoftmax,
    Selection,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Zeros,
    determinants_in,
    inv,
    is_literal,
    order_of,
    slot,
    softmax_inside_log,
    split_body,
    substitute_stock,
)
from .choices import inline_operands
from .linear_actions import CARRIERS
from .matrix_terms import MATRIX_TERMS
from .term import Term


def _einsum_terms(node: Einsum, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """[L, §4.3–4.6]: the other operands; an index of this operand alone stays, with a ones axis."""
    operands, subscripts = node.operands, node.subscripts
    for k, operand in enumerate(operands):
        if active(operand):
            factors = operands[:k] + operands[k + 1 :]
            yield Term(k, factors, subscripts[:k] + subscripts[k + 1 :], node.output, subscripts[k])


def _sum_terms(node: TensorAdd, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """The derivative of a sum is the sum of the derivatives."""
    axes = range(node.order)
    for k, operand in enumerate(node.operands):
        if active(operand):
            yield Term(k, (), (), axes, axes)


def _elementwise_terms(node: Elementwise, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """[L, §4.5]: multiply by the function's derivative along the node's axes."""
    axes = range(node.order)
    for k, operand in enumerate(node.operands):
        if active(operand):
            partial = node.partial(k)
            lower = axes if order_of(operand) else ()
            yield Term(k, (partial,), (axes if order_of(partial) else (),), axes, lower)


def _logsumexp_terms(node: LogSumExp, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """The softmax over the same axes [BV, §3.1.5]."""
    (operand,) = node.operands
    axes = range(operand.order)
    kept = [axis for axis in axes if axis not in node.axes]
    yield Term(0, (Softmax.over(operand, node.axes),), (axes,), kept, axes)


def _extremum_terms(node: Extremum, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """The tie-averaged subgradient [JAX, reduce_max]."""
    axes = range(node.operands[0].order)
    kept = [axis for axis in axes if axis not in node.axes]
    yield Term(0, (node.subgradient,), (axes,), kept, axes)


def _picked_terms(node: Picked, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """Ones where its entries come from along the axis."""
    axes = range(node.order)
    other = [node.order if axis in node.axes else axis for axis in axes]
    yield Term(0, (node.one_hot,), ((*axes, node.order),), axes, other)


def _softmax_terms(node: Softmax, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """diag(p) - p pᵀ along the softmax's axes, entry by entry along the others."""
    axes = range(node.order)
    other = [node.order + axis if axis in node.axes else axis for axis in axes]
    yield Term(0, (node,), (axes,), axes, axes)
    yield Term(0, (S.NegativeOne, node, node), ((), axes, other), axes, other)


def _logcumsumexp_terms(node: LogCumSumExp, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """The softmax of all entries up to each."""
    *rest, place = range(node.order)
    subgradient = RunningSoftmax.of(node.operands[0])
    yield Term(
        0, (subgradient,), ((*rest, place + 1, place),), range(node.order), (*rest, place + 1)
    )


def _running_softmax_terms(
    node: RunningSoftmax, active: Callable[[Operand], bool]
) -> Iterator[Term]:
    """diag(p) - p pᵀ for each column p."""
    *rest, row, column = axes = range(node.order)
    other = node.order
    yield Term(0, (node,), (axes,), axes, (*rest, row))
    factors = (S.NegativeOne, node, node)
    yield Term(0, factors, ((), axes, (*rest, other, column)), axes, (*rest, other))


def _interval_products_terms(
    node: IntervalProducts, active: Callable[[Operand], bool]
) -> Iterator[Term]:
    """All entries before a position times all behind it."""
    *rest, row, column = axes = range(node.order)
    count = node.operands[0].shape[-1]
    place, before, after = range(node.order, node.order + 3)
    selectors = [Selection(count + 1, start, 1, count) for start in (0, 1)]
    factors = (node, selectors[0], selectors[1], node)
    terms = ((*rest, row, before), (place, before), (place, after), (*rest, after, column))
    yield Term(0, factors, terms, axes, (*rest, place))


def _log_softmax_terms(node: Operand, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """I - 1 pᵀ along the softmax's axes: by way of p it would be divided by p, which may be 0."""
    subgradient = node.operands[0]
    axes = range(node.order)
    other = [node.order + axis if axis in subgradient.axes else axis for axis in axes]
    yield Term(0, (), (), axes, axes)
    yield Term(0, (S.NegativeOne, subgradient), ((), other), axes, other)


def _stock_terms(node: Expr, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """A stock scalar: SymPy's own partial derivatives by what it is computed from."""
    below = scalar_children(node)
    if isinstance(node, log) and below is not node.args:
        # d log(det(X)) / dX[k,l] = inv(X)[l,k], as for logdet, in whatever det(X) is a factor.
        factors, rest = determinants_in(node.args[0])
        for k, factor in enumerate(factors):
            if active(factor.matrix):
                yield Term(k, (factor.exponent, inv(factor.matrix)), ((), (1, 0)), (), (0, 1))
        if active(rest):
            yield Term(len(factors), (1 / rest,), ((),), (), ())
        return
    if node.is_Add:
        for k, operand in enumerate(below):
            if active(operand):
                yield Term(k, (), (), (), ())
        return
    rule: dict[Operand, Operand]
    if below is node.args:
        # Numbers stay, so that a power rule sees its exponent.
        arguments = [arg if is_literal(arg) else slot(k) for k, arg in enumerate(below)]
        body = node.func(*arguments)
    else:
        body, found = split_body(node)
        assert tuple(found) == below
    rule = {slot(k): operand for k, operand in enumerate(below)}
    for k, operand in enumerate(below):
        if active(operand):
            partial = substitute_stock(derivative(body, slot(k)), rule)
            yield Term(k, (partial,), ((),), (), ())


def scalar_children(node: Expr) -> tuple[Operand, ...]:
    """Return the operands of a stock scalar: its arguments; for the logarithm of determinants their
    matrices and the other factors; for conditions, integrals and the like the tensors and symbols
    inside."""
    if isinstance(node, log):
        factors, rest = determinants_in(node.args[0])
        if factors:
            return (*[factor.matrix for factor in factors], rest)
    is_plain = node.is_Add or node.is_Mul or node.is_Pow or isinstance(node, Function)
    is_whole = isinstance(node, Piecewise) or (is_choice(node) and may_be_infinite(node))
    if is_plain and not is_whole and all(isinstance(a, Expr) for a in node.args):
        return node.args
    return tuple(split_body(node)[1])


def _of_matrices(rule: Callable[..., Iterator[Term]]) -> Callable[..., Iterator[Term]]:
    """Return the row of a function of one operand, which a variable must be in."""
    return lambda node, active: rule(node)


_CONSTANT = "it is zero wherever there is one, and no sweep asks for it"
_NO_OPERANDS = "it isn't computed from anything"
RULES: NodeTable[Callable[..., Iterator[Term]]] = NodeTable(
    "the derivative",
    {
        Einsum: _einsum_terms,
        TensorAdd: _sum_terms,
        Elementwise: _elementwise_terms,
        **{kind: _of_matrices(rule) for kind, rule in MATRIX_TERMS.items()},
        LogSumExp: _logsumexp_terms,
        Softmax: _softmax_terms,
        LogCumSumExp: _logcumsumexp_terms,
        RunningSoftmax: _running_softmax_terms,
        IntervalProducts: _interval_products_terms,
        Extremum: _extremum_terms,
        Picked: _picked_terms,
    },
    refused={
        TensorSymbol: _NO_OPERANDS,
        Zeros: _NO_OPERANDS,
        Constant: _NO_OPERANDS,
        Positions: _NO_OPERANDS,
        Triangle: _NO_OPERANDS,
        Fourier: _NO_OPERANDS,
        **dict.fromkeys([*CARRIERS, DirectionalFunction], "the sweeps apply it to what comes by"),
        **dict.fromkeys([OneHot, Ranking, ExtremumShare], _CONSTANT),
    },
)


def terms(node: Operand, active: Callable[[Operand], bool]) -> Iterator[Term]:
    """Yield the derivative of a node by each of its active operands."""
    if not isinstance(node, TensorExpr):
        return _stock_terms(node, active)
    if softmax_inside_log(node):
        return _log_softmax_terms(inline_operands(node), active)
    return RULES[type(node)](inline_operands(node), active)
