"""Derivatives of expression graphs: the rules per node type, the sweeps, and the public operators.

May import: everything below it (node types, operations, simplify); knows nothing of printers and
compilers.

A rule is a :class:`Term`: the derivative of a node by one operand, written as an einsum of
factors. The pullback contracts it with a cotangent, the pushforward with a tangent, so every
derivative is stated once and serves both modes. The sweeps visit each node once, in
O(|V| + |E|) [L, §4.7].

References
==========

[L] A. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004.
[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from sympy import (
    Add,
    Expr,
    Function,
    Integer,
    MatrixBase,
    NDimArray,
    Piecewise,
    S,
    Symbol,
    Tuple,
    log,
)

from .choices import opened
from .einsum import Delta, Einsum, TensorAdd, contract, scalar_product, tensor_sum
from .elementwise import Elementwise, as_operand, slot, split_body, substitute_stock
from .errors import ShapeError, TensorError, UnsupportedError
from .functions import CHOICES, derivative, may_be_infinite
from .linalg import Adj, Cofactors, Det, Inv, LogDet, cofactors, determinants_in, inv
from .nodes import TensorExpr, data_expressions
from .operations import order_of, shape_of, transpose
from .pairs import in_pairs, is_long
from .reshape import Reshape, reshape
from .simplify import Step, stable, tidy
from .softmax import LogSumExp, Softmax, inside_log
from .tensors import TensorSymbol, Zeros
from .traversal import postorder

MODES = ("reverse", "forward", "auto")


class Term(NamedTuple):
    """One summand of the derivative of a node by an operand: an einsum of factors with the
    node's axes (``upper``) and the operand's axes (``lower``). Labels are non-negative integers.
    """

    operand: int
    factors: tuple[Any, ...]
    subscripts: tuple[Sequence[int], ...]
    upper: Sequence[int]
    lower: Sequence[int]


# --- the rules, one per node type ----------------------------------------------------------------


def _einsum_terms(node: Einsum, active: Callable[[Any], bool]) -> Iterator[Term]:
    """[L, §4.3–4.6]: the other operands; an index of this operand alone stays, with a ones axis."""
    operands, subscripts = node.operands, node.subscripts
    for k, operand in enumerate(operands):
        if active(operand):
            factors = operands[:k] + operands[k + 1 :]
            yield Term(k, factors, subscripts[:k] + subscripts[k + 1 :], node.output, subscripts[k])


def _sum_terms(node: TensorAdd, active: Callable[[Any], bool]) -> Iterator[Term]:
    axes = range(node.order)
    for k, operand in enumerate(node.operands):
        if active(operand):
            yield Term(k, (), (), axes, axes)


def _elementwise_terms(node: Elementwise, active: Callable[[Any], bool]) -> Iterator[Term]:
    """[L, §4.5]: multiply by the function's derivative along the node's axes."""
    axes = range(node.order)
    for k, operand in enumerate(node.operands):
        if active(operand):
            partial = node.partial(k)
            lower = axes if order_of(operand) else ()
            yield Term(k, (partial,), (axes if order_of(partial) else (),), axes, lower)


def _inv_terms(node: Inv, active: Callable[[Any], bool]) -> Iterator[Term]:
    """d inv(X)[i,j] / dX[k,l] = -inv(X)[i,k] inv(X)[l,j] [MC, eq. 60]."""
    yield Term(0, (S.NegativeOne, node, node), ((), (0, 2), (3, 1)), (0, 1), (2, 3))


def _det_terms(node: Det, active: Callable[[Any], bool]) -> Iterator[Term]:
    """d det(X) / dX[k,l] = adj(X)[l,k] [L, table 4.1]."""
    yield Term(0, (Adj._build(node.operands, ()),), ((1, 0),), (), (0, 1))


def _logdet_terms(node: LogDet, active: Callable[[Any], bool]) -> Iterator[Term]:
    """d log|det(X)| / dX[k,l] = inv(X)[l,k] [MC, eq. 57]."""
    yield Term(0, (Inv._build(node.operands, ()),), ((1, 0),), (), (0, 1))


def _adj_terms(node: Adj, active: Callable[[Any], bool]) -> Iterator[Term]:
    """adj(X)[i,j] is d det(X) / dX[j,i]."""
    yield Term(0, (cofactors(node.operands[0], 2),), ((1, 0, 2, 3),), (0, 1), (2, 3))


def _cofactors_terms(node: Cofactors, active: Callable[[Any], bool]) -> Iterator[Term]:
    """The next derivative of the determinant."""
    (order,) = node.data
    axes = range(2 * order + 2)
    yield Term(0, (cofactors(node.operands[0], order + 1),), (axes,), axes[:-2], axes[-2:])


def _logsumexp_terms(node: LogSumExp, active: Callable[[Any], bool]) -> Iterator[Term]:
    """The softmax over the same axes [BV, §3.1.5]."""
    (operand,) = node.operands
    axes = range(operand.order)
    kept = [axis for axis in axes if axis not in node.axes]
    yield Term(0, (Softmax._build((operand,), node.data),), (axes,), kept, axes)


def _softmax_terms(node: Softmax, active: Callable[[Any], bool]) -> Iterator[Term]:
    """diag(p) - p pᵀ along the softmax's axes, entry by entry along the others."""
    axes = range(node.order)
    other = [node.order + axis if axis in node.axes else axis for axis in axes]
    yield Term(0, (node,), (axes,), axes, axes)
    yield Term(0, (S.NegativeOne, node, node), ((), axes, other), axes, other)


def _log_softmax_terms(node: Elementwise, active: Callable[[Any], bool]) -> Iterator[Term]:
    """I - 1 pᵀ along the softmax's axes: by way of p it would be divided by p, which may be 0."""
    share = node.operands[0]
    axes = range(node.order)
    other = [node.order + axis if axis in share.axes else axis for axis in axes]
    yield Term(0, (), (), axes, axes)
    yield Term(0, (S.NegativeOne, share), ((), other), axes, other)


def _stock_terms(node: Expr, active: Callable[[Any], bool]) -> Iterator[Term]:
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
    rule: dict[Any, Any]
    if below is node.args:
        # Numbers stay, so that a power rule sees its exponent.
        arguments = [arg if arg.is_number else slot(k) for k, arg in enumerate(below)]
        body = node.func(*arguments)
    else:
        body, found = split_body(node)
        assert tuple(found) == below
    rule = {slot(k): operand for k, operand in enumerate(below)}
    for k, operand in enumerate(below):
        if active(operand):
            partial = substitute_stock(derivative(body, slot(k)), rule)
            yield Term(k, (partial,), ((),), (), ())


def scalar_children(node: Expr) -> tuple[Any, ...]:
    """What a stock scalar is computed from: its arguments; for the logarithm of determinants their
    matrices and the other factors; for conditions, integrals and the like the tensors and symbols
    inside."""
    if isinstance(node, log):
        factors, rest = determinants_in(node.args[0])
        if factors:
            return (*[factor.matrix for factor in factors], rest)
    is_plain = node.is_Add or node.is_Mul or node.is_Pow or isinstance(node, Function)
    is_choice = isinstance(node, Piecewise) or (isinstance(node, CHOICES) and may_be_infinite(node))
    if is_plain and not is_choice and all(isinstance(a, Expr) for a in node.args):
        return node.args
    return tuple(split_body(node)[1])


RULES: dict[type, Callable[..., Iterator[Term]]] = {
    TensorAdd: _sum_terms,
    Elementwise: _elementwise_terms,
    Inv: _inv_terms,
    Adj: _adj_terms,
    Cofactors: _cofactors_terms,
    Det: _det_terms,
    LogDet: _logdet_terms,
    LogSumExp: _logsumexp_terms,
    Softmax: _softmax_terms,
}


def terms(node: Any, active: Callable[[Any], bool]) -> Iterator[Term]:
    """The derivative of a node by each of its active operands."""
    if isinstance(node, Einsum):
        return _einsum_terms(node, active)
    if not isinstance(node, TensorExpr):
        return _stock_terms(node, active)
    rule = _log_softmax_terms if inside_log(node) else RULES.get(type(node))
    if rule is None:
        raise UnsupportedError(f"no derivative rule for {type(node).__name__}: {node}")
    return rule(opened(node), active)


def _below(node: Any) -> tuple[Any, ...]:
    """The operands of a node in the sense of the rules."""
    if isinstance(node, TensorExpr):
        return (inside_log(node) or opened(node)).operands
    return scalar_children(node) if node.args else ()


# --- the sweeps ----------------------------------------------------------------------------------


class _Graph:
    """What a sweep walks over.

    Attributes
    ==========

    order : the nodes, operands before those that use them
    active : the nodes that depend on a variable
    """

    def __init__(self, roots: Sequence[Any], wrt: Sequence[Any]):
        self._pairs: dict[Any, Any] = {}
        self._walk(roots, wrt)
        self._pairs = {n: in_pairs(n) for n in self.order if is_long(n, self.active.__contains__)}
        if self._pairs:
            self._walk(roots, wrt)

    def _walk(self, roots: Sequence[Any], wrt: Sequence[Any]) -> None:
        self.order = postorder(roots, self.below)
        self.active: set[Any] = set(wrt)
        symbols = [v for v in wrt if not isinstance(v, TensorExpr)]
        for node in self.order:
            if symbols and isinstance(node, TensorExpr):
                _check_data(node, symbols)
            if node not in self.active and any(n in self.active for n in self.below(node)):
                self.active.add(node)

    def below(self, node: Any) -> tuple[Any, ...]:
        """The operands of a node in the sense of the rules."""
        return (self._pairs[node],) if node in self._pairs else _below(node)

    def terms(self, node: Any) -> Iterator[Term]:
        """The derivative of a node by each of its active operands."""
        if node in self._pairs:
            axes = range(order_of(node))
            return iter([Term(0, (), (), axes, axes)])
        return terms(node, self.active.__contains__)


def _check_data(node: Any, symbols: Sequence[Any]) -> None:
    inside = {s for e in data_expressions(node.data) for s in e.free_symbols}
    clash = inside.intersection(symbols)
    if clash:
        raise UnsupportedError(
            f"no derivative by {min(clash, key=str)}: it is an axis length or a position in "
            f"{type(node).__name__} of shape {node.shape}"
        )


def _lengths(*pairs: tuple[Sequence[int], Sequence[Any]]) -> dict[int, Any]:
    return {label: n for labels, shape in pairs for label, n in zip(labels, shape, strict=True)}


def _total(contributions: Sequence[Any]) -> Any:
    if len(contributions) == 1:
        return contributions[0]
    return tensor_sum(contributions) if order_of(contributions[0]) else Add(*contributions)


def _rule_name(node: Any) -> str:
    """What a node is called in a derivation."""
    named = node.body if isinstance(node, Elementwise) else node
    return type(named).__name__


def pullback(
    roots: Sequence[Any],
    wrt: Sequence[Any],
    seeds: Sequence[Any],
    outer_shape: Sequence[Any],
    steps: list[Step] | None = None,
) -> list[Any]:
    """The reverse sweep [L, §4.3; LMG18]: cotangents of the variables.

    A root's seed has shape outer_shape + root.shape; the cotangent of v has shape
    outer_shape + v.shape. What the rules do is appended to ``steps``.
    """
    graph = _Graph(roots, wrt)
    outer = [-1 - k for k in range(len(outer_shape))]
    outer_lengths = _lengths((outer, outer_shape))
    contributions: dict[Any, list[Any]] = {}
    for root, seed in zip(roots, seeds, strict=True):
        contributions.setdefault(root, []).append(seed)
    variables = set(wrt)
    for node in reversed(graph.order):
        if node not in contributions or node in variables or node not in graph.active:
            continue
        cotangent = _total(contributions.pop(node))
        if isinstance(node, Reshape):
            back = reshape(cotangent, (*outer_shape, *node.operands[0].shape))
            contributions.setdefault(node.operands[0], []).append(back)
            continue
        below = graph.below(node)
        for term in graph.terms(node):
            operand = below[term.operand]
            contribution = _combine(
                cotangent,
                (*outer, *term.upper),
                term,
                (*outer, *term.lower),
                {**outer_lengths, **_term_lengths(node, operand, term)},
            )
            contributions.setdefault(operand, []).append(contribution)
            if steps is not None:
                rule = f"pullback of {_rule_name(node)}"
                steps.append(Step(rule, cotangent, contribution, node))
    return [
        _total(contributions[v]) if v in contributions else Zeros(*outer_shape, *shape_of(v))
        for v in wrt
    ]


def pushforward(
    y: Any,
    wrt: Sequence[Any],
    tangents: Sequence[Any],
    inner: Sequence[Any],
    steps: list[Step] | None = None,
) -> Any:
    """The forward sweep: the tangent of y, of shape y.shape + inner, from those of the variables,
    of shape v.shape + inner. What the rules do is appended to ``steps``."""
    graph = _Graph([y], wrt)
    extra = [-1 - k for k in range(len(inner))]
    inner_lengths = _lengths((extra, inner))
    tangent_of: dict[Any, Any] = dict(zip(wrt, tangents, strict=True))
    for node in graph.order:
        if node in tangent_of or node not in graph.active:
            continue
        if isinstance(node, Reshape):
            tangent_of[node] = reshape(tangent_of[node.operands[0]], (*node.shape, *inner))
            continue
        below = graph.below(node)
        used = list(graph.terms(node))
        contributions = [
            _combine(
                tangent_of[below[term.operand]],
                (*term.lower, *extra),
                term,
                (*term.upper, *extra),
                {**inner_lengths, **_term_lengths(node, below[term.operand], term)},
            )
            for term in used
        ]
        if steps is not None:
            rule = f"pushforward of {_rule_name(node)}"
            carried = [tangent_of[below[term.operand]] for term in used]
            pairs = zip(carried, contributions, strict=True)
            steps.extend(Step(rule, before, after, node) for before, after in pairs)
        tangent_of[node] = (
            _total(contributions) if contributions else Zeros(*shape_of(node), *inner)
        )
    return tangent_of.get(y, Zeros(*shape_of(y), *inner))


def _term_lengths(node: Any, operand: Any, term: Term) -> dict[int, Any]:
    lengths = _lengths((term.upper, shape_of(node)), (term.lower, shape_of(operand)))
    for factor, labels in zip(term.factors, term.subscripts, strict=True):
        lengths.update(zip(labels, shape_of(factor), strict=True))
    return lengths


def _combine(
    carried: Any, labels: Sequence[int], term: Term, output: Sequence[int], lengths: dict[int, Any]
) -> Any:
    """The einsum of what the sweep carries and a term's factors."""
    if not term.factors and tuple(labels) == tuple(output) and len(set(labels)) == len(labels):
        return carried
    if not lengths:
        return scalar_product((carried, *term.factors))
    return contract((carried, *term.factors), (labels, *term.subscripts), output, lengths)


# --- the public operators ------------------------------------------------------------------------


def as_variable(value: Any) -> Any:
    """A variable to differentiate by: a tensor symbol or an ordinary symbol."""
    if isinstance(value, (TensorSymbol, Symbol)):
        return value
    raise TensorError(
        f"can't differentiate by {str(value)[:80]}, of type {type(value).__name__}; "
        "give a TensorSymbol or a Symbol"
    )


def as_function(value: Any) -> Any:
    """The expression to differentiate."""
    if isinstance(value, (list, tuple, set, dict, MatrixBase, NDimArray)):
        raise TensorError(
            f"one expression is needed, not a {type(value).__name__}: take one at a time, or put "
            "tensors of one shape side by side with stack; jacobian, jvp and vjp take lists"
        )
    return as_operand(value)


def diff(
    y: Any,
    *variables: Any,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
    trace: bool = False,
) -> Any:
    """The derivative of an expression by one variable after the other, of any order.

    Parameters
    ==========

    y : a tensor expression, or a SymPy scalar with tensor expressions inside
    variables : tensor symbols and ordinary symbols, each optionally followed by a count;
        ``diff(y, x, 2)`` is ``diff(y, x, x)``
    mode : ``"reverse"``, ``"forward"`` or ``"auto"``
    layout : ``"function-first"``: shape y.shape + x.shape, each repetition appends axes;
        ``"wrt-first"``: SymPy's ``derive_by_array`` order, x.shape + y.shape
    simplify : whether the function (in reverse mode) and the derivative are simplified, by the
        rules of :func:`simplify` that are right for singular matrices too; by default where the
        graph is small enough for somebody to read
    trace : return the steps too

    Returns
    =======

    A tensor expression, for order 0 a SymPy scalar; zeros with a shape where y doesn't depend on
    a variable. Derivatives by a symmetric tensor are unconstrained. With ``trace=True`` a pair of
    it and the list of steps ``(rule, before, after, node)``: first those of the sweep, where
    ``before`` is the cotangent of ``node`` and ``after`` what its rule contributes to an operand,
    as in the tables of [LMG18], then those of the simplification.

    Raises
    ======

    UnsupportedError : some node has no derivative, named in the message
    TensorError : a variable is no symbol

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.diff(x @ A @ x, x, 2) == A + A.T
    True
    >>> derivative, steps = se.diff(se.sin(x), x, trace=True)
    >>> steps[0].rule, steps[0].node == se.sin(x)
    ('pullback of sin', True)
    """
    if layout not in ("function-first", "wrt-first"):
        raise TensorError(f"layout is 'function-first' or 'wrt-first', not {layout!r}")
    y = as_function(y)
    result = y
    names = _expand_counts(variables)
    if not variables:
        raise TensorError("diff needs at least one variable to differentiate by")
    steps: list[Step] = []
    for variable in names:
        (result,), new = _sweep(result, (variable,), mode, simplify, trace)
        steps.extend(new)
    if layout == "wrt-first":
        result = _wrt_first(result, order_of(y), [order_of(v) for v in names])
    return (result, steps) if trace else result


def _wrt_first(result: Any, order: int, blocks: Sequence[int]) -> Any:
    """Axes of the last variable first, then those of the one before, the function's last."""
    axes: list[int] = []
    start = order
    for count in blocks:
        axes = [*range(start, start + count), *axes]
        start += count
    return transpose(result, [*axes, *range(order)]) if order_of(result) else result


def _expand_counts(variables: Sequence[Any]) -> list[Any]:
    """``x, 2, (y, 3), z`` written out: x, x, y, y, y, z."""
    names: list[Any] = []
    previous: Any = None
    for item in variables:
        if isinstance(item, (tuple, list, Tuple)) and len(item) == 2:
            names.extend([as_variable(item[0])] * _count(item[1]))
            previous = None
        elif isinstance(item, (int, Integer)) and previous is not None:
            names[-1:] = [previous] * _count(item)
            previous = None
        else:
            previous = as_variable(item)
            names.append(previous)
    return names


def _count(value: Any) -> int:
    if not isinstance(value, (int, Integer)) or isinstance(value, bool) or value < 0:
        raise TensorError(f"how often to differentiate is a number from 0 on, not {value!r}")
    return int(value)


def jacobian(
    y: Any,
    x: Any,
    *,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
) -> Any:
    """The derivative of y by x, of shape y.shape + x.shape; lists give nested lists of blocks.

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> se.jacobian(A @ x, x) == A
    True
    """
    if isinstance(y, (list, tuple)):
        return [jacobian(part, x, mode=mode, layout=layout, simplify=simplify) for part in y]
    y = as_function(y)
    variables = [as_variable(v) for v in _listed(x)]
    blocks = list(_sweep(y, tuple(variables), mode, simplify)[0])
    if layout == "wrt-first":
        pairs = zip(blocks, variables, strict=True)
        blocks = [_wrt_first(block, order_of(y), [order_of(v)]) for block, v in pairs]
    return blocks if isinstance(x, (list, tuple)) else blocks[0]


@lru_cache(maxsize=256)
def _sweep(
    y: Any, wrt: tuple[Any, ...], mode: str, simplify: bool | None, trace: bool = False
) -> tuple[Sequence[Any], list[Step]]:
    """The derivatives of y by several variables, in one reverse sweep or in forward sweeps, and
    the steps if they are wanted."""
    if mode not in MODES:
        raise UnsupportedError(f"mode {mode!r} is not supported; there are {', '.join(MODES)}")
    if len(set(wrt)) != len(wrt):
        raise TensorError("a variable is named twice")
    with _collector_paused():
        # As it is written, a derivative may divide what is 0 by what is 0.
        (y,), steps = stable([y])
        record = steps if trace else None
        if mode == "forward":
            blocks = [
                pushforward(y, [v], [_identity(shape_of(v))], shape_of(v), record) for v in wrt
            ]
        else:
            roots, seeds = _simplified_roots(y, wrt, simplify, steps)
            blocks = pullback(roots, wrt, seeds, shape_of(y), record)
        results, new = tidy(blocks, simplify, [y])
    return results, [*steps, *new]


def _simplified_roots(
    y: Any, wrt: Sequence[Any], simplify: bool | None, steps: list[Step]
) -> tuple[Sequence[Any], list[Any]]:
    """What the reverse sweep starts from, with the seeds: y, simplified.

    The tensors in a stock scalar are simplified one by one, and the chain rule in the stock
    scalar itself speaks of them as they were given. So does SymPy's, which finds the same.
    """
    roots, seeds = [y], [_identity(shape_of(y))]
    if not isinstance(y, TensorExpr):
        found = postorder([y], lambda n: () if isinstance(n, TensorExpr) else _below(n))
        roots = [n for n in found if isinstance(n, TensorExpr) or n in wrt]
        seeds = pullback([y], roots, [S.One], ())
    tidied, new = tidy(roots, simplify, ())
    steps.extend(new)
    return tidied, seeds


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Nodes never die during a sweep, so looking for garbage is two thirds of a big one's time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    _pausing.add(threading.get_ident())
    try:
        yield
    finally:
        _pausing.clear()
        gc.enable()


_pausing: set[int] = set()


def _collect_in_child() -> None:
    """A forked child has none of the threads that would turn the collector on again."""
    if _pausing.difference([threading.get_ident()]):
        _pausing.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collect_in_child)


def _identity(shape: Sequence[Any]) -> Any:
    return Delta(*shape) if shape else S.One


def gradient(f: Any, x: Any, *, mode: str = "auto", simplify: bool | None = None) -> Any:
    """The gradient of a scalar by a tensor, or by each of a list in one joint sweep.

    Raises
    ======

    ShapeError : f isn't a scalar

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> gA, gx = se.gradient(((A @ x) ** 2).sum(), [A, x])
    >>> gA.shape, gx.shape
    ((m, n), (n,))
    """
    return jacobian(_as_scalar(f, "gradient"), x, mode=mode, simplify=simplify)


def hessian(f: Any, x: Any, *, mode: str = "auto", simplify: bool | None = None) -> Any:
    """The second derivative of a scalar, of shape x.shape + x.shape; for a list of variables the
    nested list of blocks.

    Raises
    ======

    ShapeError : f isn't a scalar

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.hessian(x @ A @ x, x) == A + A.T
    True
    """
    slope = gradient(_as_scalar(f, "hessian"), x, mode=mode, simplify=simplify)
    return jacobian(slope, x, mode=mode, simplify=simplify)


def _as_scalar(f: Any, name: str) -> Any:
    f = as_function(f)
    if order_of(f):
        raise ShapeError(
            f"{name} takes a scalar, not a tensor of shape {f.shape}; use jacobian, or sum it"
        )
    return f


def vjp(y: Any, x: Any, u: Any, *, simplify: bool | None = None) -> Any:
    """The cotangent u, of y's shape, pulled back to x: Σ u · dy/dx, without the Jacobian.

    A list of variables gives a list; a list of functions takes a list of cotangents, and their
    pullbacks are added.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (3, 2)), se.TensorSymbol("x", (2,))
    >>> u = se.TensorSymbol("u", (3,))
    >>> se.vjp(A @ x, x, u) == u @ A
    True
    """
    functions, _ = stable([as_function(part) for part in _listed(y)])
    cotangents = _fitting(u, functions, isinstance(y, (list, tuple)), "vjp")
    variables = [as_variable(v) for v in _listed(x)]
    results, _ = tidy(pullback(functions, variables, cotangents, ()), simplify, functions)
    return list(results) if isinstance(x, (list, tuple)) else results[0]


def jvp(y: Any, x: Any, v: Any, *, simplify: bool | None = None) -> Any:
    """The tangent v, of x's shape, pushed forward to y: Σ dy/dx · v, without the Jacobian.

    A list of functions gives a list; a list of variables takes a list of tangents.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (3, 2)), se.TensorSymbol("x", (2,))
    >>> v = se.TensorSymbol("v", (2,))
    >>> se.jvp(A @ x, x, v) == A @ v
    True
    """
    functions, _ = stable([as_function(part) for part in _listed(y)])
    variables = [as_variable(variable) for variable in _listed(x)]
    tangents = _fitting(v, variables, isinstance(x, (list, tuple)), "jvp")
    pushed = [pushforward(part, variables, tangents, ()) for part in functions]
    results, _ = tidy(pushed, simplify, functions)
    return list(results) if isinstance(y, (list, tuple)) else results[0]


def hvp(f: Any, x: Any, v: Any, *, simplify: bool | None = None) -> Any:
    """The Hessian of a scalar times v, of x's shape, without the Hessian.

    Lists of variables and of directions give a list: the rows of the Hessian of all variables
    times all directions.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 2)), se.TensorSymbol("x", (2,))
    >>> v = se.TensorSymbol("v", (2,))
    >>> se.hvp(x @ A @ x, x, v) == A @ v + v @ A
    True
    """
    slope = gradient(_as_scalar(f, "hvp"), x, simplify=simplify)
    return jvp(slope, x, v, simplify=simplify)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _fitting(values: Any, likes: Sequence[Any], several: bool, name: str) -> list[Any]:
    """A tangent for each variable, or a cotangent for each function."""
    if several:
        if not isinstance(values, (list, tuple)) or len(values) != len(likes):
            raise TensorError(
                f"{name} of a list needs a list of tensors, one for each of the {len(likes)}"
            )
        return [_same_shape(value, like, name) for value, like in zip(values, likes, strict=True)]
    return [_same_shape(values, likes[0], name)]


def _same_shape(value: Any, like: Any, name: str) -> Any:
    value = as_operand(value)
    if shape_of(value) != shape_of(like):
        raise ShapeError(
            f"{name} needs a tensor of shape {shape_of(like)}, not of shape {shape_of(value)}"
        )
    return value
