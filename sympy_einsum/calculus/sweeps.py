"""The two sweeps through an expression graph: pullback and pushforward.

They visit each node once, in O(|V| + |E|) [L, §4.7].

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sympy import Expr

from ..core import UnsupportedError, postorder
from ..expressions import (
    Elementwise,
    OneHot,
    Operand,
    TensorExpr,
    Zeros,
    contract,
    data_expressions,
    is_variable,
    order_of,
    scalar_product,
    shape_of,
    softmax_inside_log,
    total_of,
)
from ..rules import Step
from .choices import inline_operands
from .linear_actions import CARRIERS
from .pairs import in_pairs, is_long
from .term import Term
from .terms import scalar_children, terms

MODES = ("reverse", "forward", "cross-country", "auto")


def inputs_of(node: Operand) -> tuple[Operand, ...]:
    """Return the operands of a node in the sense of the rules."""
    if isinstance(node, TensorExpr):
        return (
            ()
            if node.is_locally_constant
            else (softmax_inside_log(node) or inline_operands(node)).operands
        )
    return () if is_variable(node) or not node.args else scalar_children(node)


class Graph:
    """The graph that a sweep walks over.

    Attributes
    ==========

    order : the nodes, operands before those that use them
    active : the nodes that depend on a variable
    """

    def __init__(self, roots: Sequence[Operand], wrt: Sequence[Operand]):
        self._pairs: dict[Operand, Operand] = {}
        self._below: dict[Operand, tuple[Operand, ...]] = {}
        self._walk(roots, wrt)
        is_active = self.active.__contains__
        self._pairs = {n: in_pairs(n) for n in self.order if is_long(n, is_active)}
        if self._pairs:
            self._below.clear()
            self._walk(roots, wrt)

    def _walk(self, roots: Sequence[Operand], wrt: Sequence[Operand]) -> None:
        self.order = postorder(roots, self.below)  # which remembers what is below
        self.active: set[Operand] = set(wrt)
        symbols = [v for v in wrt if not isinstance(v, TensorExpr)]
        for node in self.order:
            if symbols and (isinstance(node, TensorExpr) or node.args):
                _check_data(node, symbols)
            if isinstance(node, OneHot):
                _check_positions(node, self.active)
            if not self.active.isdisjoint(self._below[node]):
                self.active.add(node)

    def below(self, node: Operand) -> tuple[Operand, ...]:
        """Return the operands of a node in the sense of the rules."""
        if node not in self._below:
            paired = node in self._pairs
            self._below[node] = (self._pairs[node],) if paired else inputs_of(node)
        return self._below[node]

    def terms(self, node: Operand) -> Iterator[Term]:
        """Yield the derivative of a node by each of its active operands."""
        if node in self._pairs:
            axes = range(order_of(node))
            return iter([Term(0, (), (), axes, axes)])
        return terms(node, self.active.__contains__)


def _check_data(node: Operand, symbols: Sequence[Operand]) -> None:
    is_tensor = isinstance(node, TensorExpr)
    if is_tensor:
        parts = data_expressions(node.data)
    else:
        parts = [node] if is_variable(node) and node not in symbols else []
    clash = {s for part in parts for s in part.free_symbols}.intersection(symbols)
    if clash:
        where = f"{type(node).__name__} of shape {node.shape}" if is_tensor else f"{node}"
        raise UnsupportedError(
            f"no derivative by {min(clash, key=str)}: it is an axis length or a position in {where}"
        )


def _check_positions(node: OneHot, variables: Collection[Operand]) -> None:
    if node.indices in variables:
        raise UnsupportedError(
            f"no derivative by {node.indices}: its entries are positions on an axis of length "
            f"{node.length}, integers that can't be moved a little"
        )


def _lengths(*pairs: tuple[Sequence[int], Sequence[Expr]]) -> dict[int, Expr]:
    return {label: n for labels, shape in pairs for label, n in zip(labels, shape, strict=True)}


def total(contributions: Sequence[Operand]) -> Operand:
    """Return the sum of tensors of one shape, or of scalars."""
    return contributions[0] if len(contributions) == 1 else total_of(contributions)


def _rule_name(node: Operand) -> str:
    """Return the name of a node's derivative rule in a derivation."""
    named = node.body if isinstance(node, Elementwise) else node
    return type(named).__name__


def pullback(
    roots: Sequence[Operand],
    wrt: Sequence[Operand],
    seeds: Sequence[Operand],
    outer_shape: Sequence[Expr],
    steps: list[Step] | None = None,
) -> list[Operand]:
    """Run the reverse sweep [L, §4.3; LMG18]; return the cotangents of the variables.

    A root's seed has shape outer_shape + root.shape; the cotangent of v has shape
    outer_shape + v.shape. What the rules do is appended to ``steps``.
    """
    graph = Graph(roots, wrt)
    outer = [-1 - k for k in range(len(outer_shape))]
    outer_lengths = _lengths((outer, outer_shape))
    contributions: dict[Operand, list[Operand]] = {}
    for root, seed in zip(roots, seeds, strict=True):
        contributions.setdefault(root, []).append(seed)
    variables = set(wrt)
    for node in reversed(graph.order):
        if node not in contributions or node in variables or node not in graph.active:
            continue
        cotangent = total(contributions.pop(node))
        if type(node) in CARRIERS:
            for k, operand in enumerate(node.operands):
                if operand in graph.active:
                    pulled = CARRIERS[type(node)].pullback(node, k, cotangent, tuple(outer_shape))
                    contributions.setdefault(operand, []).append(pulled)
            continue
        below = graph.below(node)
        for term in graph.terms(node):
            operand = below[term.operand]
            contribution = combine(
                cotangent,
                (*outer, *term.upper),
                term,
                (*outer, *term.lower),
                term_lengths(node, operand, term, outer_lengths),
            )
            contributions.setdefault(operand, []).append(contribution)
            if steps is not None:
                rule = f"pullback of {_rule_name(node)}"
                steps.append(Step(rule, cotangent, contribution, node))
    return [
        total(contributions[v]) if v in contributions else Zeros(*outer_shape, *shape_of(v))
        for v in wrt
    ]


def pushforward(
    y: Operand,
    wrt: Sequence[Operand],
    tangents: Sequence[Operand],
    inner: Sequence[Expr],
    steps: list[Step] | None = None,
) -> Operand:
    """Run the forward sweep: return the tangent of y, of shape y.shape + inner, from those of the
    variables, of shape v.shape + inner. The rules' steps are appended to ``steps``."""
    graph = Graph([y], wrt)
    extra = [-1 - k for k in range(len(inner))]
    inner_lengths = _lengths((extra, inner))
    tangent_of: dict[Operand, Operand] = dict(zip(wrt, tangents, strict=True))
    for node in graph.order:
        if node in tangent_of or node not in graph.active:
            continue
        if type(node) in CARRIERS:
            push = CARRIERS[type(node)].pushforward
            tangent_of[node] = total(
                [
                    push(node, k, tangent_of[operand], tuple(inner))
                    for k, operand in enumerate(node.operands)
                    if operand in graph.active
                ]
            )
            continue
        below = graph.below(node)
        used = list(graph.terms(node))
        contributions = [
            combine(
                tangent_of[below[term.operand]],
                (*term.lower, *extra),
                term,
                (*term.upper, *extra),
                term_lengths(node, below[term.operand], term, inner_lengths),
            )
            for term in used
        ]
        if steps is not None:
            rule = f"pushforward of {_rule_name(node)}"
            operand_tangents = [tangent_of[below[term.operand]] for term in used]
            pairs = zip(operand_tangents, contributions, strict=True)
            steps.extend(Step(rule, before, after, node) for before, after in pairs)
        tangent_of[node] = total(contributions) if contributions else Zeros(*shape_of(node), *inner)
    return tangent_of.get(y, Zeros(*shape_of(y), *inner))


def term_lengths(
    node: Operand, operand: Operand, term: Term, others: Mapping[int, Expr]
) -> dict[int, Expr]:
    """Return the lengths of the labels of a term, and others."""
    lengths = {**others, **dict(zip(term.upper, shape_of(node), strict=True))}
    lengths.update(zip(term.lower, shape_of(operand), strict=True))
    for factor, labels in zip(term.factors, term.subscripts, strict=True):
        lengths.update(zip(labels, shape_of(factor), strict=True))
    return lengths


def combine(
    value: Operand,
    labels: Sequence[int],
    term: Term,
    output: Sequence[int],
    lengths: dict[int, Expr],
) -> Operand:
    """Contract the value that a sweep carries with a term's factors."""
    if not term.factors and tuple(labels) == tuple(output) and len(set(labels)) == len(labels):
        return value
    if not lengths:
        return scalar_product((value, *term.factors))
    return contract((value, *term.factors), (labels, *term.subscripts), output, lengths)
