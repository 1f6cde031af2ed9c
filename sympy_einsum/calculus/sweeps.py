"""The two sweeps through an expression graph, pullback and pushforward, and the derivatives that
are chained from them: in reverse mode, in forward mode, or from bottlenecks to bottlenecks.

A sweep visits each node once, in O(|V| + |E|) [L, §4.7].

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
[LMG20] S. Laue, M. Mitterreiter, J. Giesen, "A Simple and Efficient Tensor Calculus", AAAI 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from sympy import Expr, S

from ..analysis import cost
from ..contraction_order import nominal_size
from ..core import (
    TensorError,
    UnsupportedError,
    cached,
    collector_paused,
    postorder,
    tuning,
)
from ..expressions import (
    Delta,
    Elementwise,
    OneHot,
    Operand,
    Scan,
    Solution,
    TensorExpr,
    Zeros,
    contract,
    data_expressions,
    fuse_loops,
    is_variable,
    order_of,
    scalar_product,
    shape_of,
    softmax_inside_log,
    total_of,
)
from ..rules import Step, stabilise, tidy
from .choices import inline_operands
from .implicit_functions import pull_back_solution, push_forward_solution
from .linear_actions import LINEAR_ACTIONS
from .pairs import has_long_product_rule, product_of_pairs
from .reshaped_ends import by_ends
from .row_differences import splits_differences, with_exact_zeros
from .scans import LoopNode, Result, pull_back_loop, push_forward_loop
from .terms import Term, stock_operands, terms

MODES = ("reverse", "forward", "cross-country", "auto")


def inputs_of(node: Operand) -> tuple[Operand, ...]:
    """Return the operands that a node's derivative rule refers to."""
    if isinstance(node, Solution):
        return node.hoisted
    if isinstance(node, TensorExpr):
        return (
            ()
            if node.is_locally_constant
            else (softmax_inside_log(node) or inline_operands(node)).operands
        )
    return () if is_variable(node) or not node.args else stock_operands(node)


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
        self._pairs = {
            n: product_of_pairs(n) for n in self.order if has_long_product_rule(n, is_active)
        }
        if self._pairs:
            self._below.clear()
            self._walk(roots, wrt)

    def _walk(self, roots: Sequence[Operand], wrt: Sequence[Operand]) -> None:
        self.order = postorder(roots, self.below)  # fills self._below
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
        """Return the operands that a node's derivative rule refers to."""
        if node not in self._below:
            if isinstance(node, Scan):
                self._below[node] = (LoopNode(*node.group),)
            elif isinstance(node, LoopNode):
                self._below[node] = node.operands
            else:
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
            f"no derivative with respect to {min(clash, key=str)}: it is an axis length or a "
            f"position in {where}"
        )


def _check_positions(node: OneHot, variables: Collection[Operand]) -> None:
    if node.indices in variables:
        raise UnsupportedError(
            f"no derivative with respect to {node.indices}: its entries are positions on an axis "
            f"of length {node.length}: integers have no derivative"
        )


def _lengths(*pairs: tuple[Sequence[int], Sequence[Expr]]) -> dict[int, Expr]:
    return {label: n for labels, shape in pairs for label, n in zip(labels, shape, strict=True)}


def accumulated(contributions: Sequence[Operand]) -> Operand:
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
    outer_shape + v.shape. The applied rules are appended to ``steps``.
    """
    graph = Graph(roots, wrt)
    outer = [-1 - k for k in range(len(outer_shape))]
    outer_lengths = _lengths((outer, outer_shape))
    contributions: dict[Operand, list[Operand]] = {}
    of_loops: dict[Operand, dict[Result, Operand]] = {}
    of_results: dict[Operand, tuple[Operand, Operand]] = {}
    for root, seed in zip(roots, seeds, strict=True):
        contributions.setdefault(root, []).append(seed)
    variables = set(wrt)
    for node in reversed(graph.order):
        if node in of_loops and node in graph.active:
            active = [k for k, own in enumerate(node.operands) if own in graph.active]
            found = pull_back_loop(
                *(node.loop, of_loops.pop(node), active, tuple(outer_shape), pullback)
            )
            for k, own in found.items():
                contributions.setdefault(node.operands[k], []).append(own)
                if steps is not None:
                    result, cotangent = of_results[node]
                    steps.append(Step("pullback of Scan", cotangent, own, result))
        if node not in contributions or node in variables or node not in graph.active:
            continue
        cotangent = accumulated(contributions.pop(node))
        if isinstance(node, Scan):
            (loop,) = graph.below(node)
            of_loops.setdefault(loop, {})[node.kind, node.place] = cotangent
            of_results.setdefault(loop, (node, cotangent))
            continue
        if isinstance(node, Solution):
            known = [k for k, o in enumerate(node.operands) if k and o in graph.active]
            found = pull_back_solution(node, cotangent, known, tuple(outer_shape), pullback)
            for k, own in found.items():
                contributions.setdefault(node.operands[k], []).append(own)
            continue
        if type(node) in LINEAR_ACTIONS:
            for k, operand in enumerate(node.operands):
                if operand in graph.active:
                    pulled = LINEAR_ACTIONS[type(node)].pullback(
                        node, k, cotangent, tuple(outer_shape)
                    )
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
        accumulated(contributions[v]) if v in contributions else Zeros(*outer_shape, *shape_of(v))
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
    of_loops: dict[Operand, Callable[[Result], Operand]] = {}
    for node in graph.order:
        if node in tangent_of or node not in graph.active:
            continue
        if isinstance(node, LoopNode):
            known = {k: tangent_of[o] for k, o in enumerate(node.operands) if o in tangent_of}
            of_loops[node] = push_forward_loop(node.loop, known, tuple(inner), pushforward)
            continue
        if isinstance(node, Scan):
            (loop,) = graph.below(node)
            tangent_of[node] = of_loops[loop]((node.kind, node.place))
            if steps is not None:
                known_tangents = [tangent_of[o] for o in loop.operands if o in tangent_of]
                steps.extend(
                    Step("pushforward of Scan", own, tangent_of[node], node)
                    for own in known_tangents
                )
            continue
        if isinstance(node, Solution):
            known = {
                k: tangent_of[o] for k, o in enumerate(node.operands) if k and o in graph.active
            }
            tangent_of[node] = push_forward_solution(node, known, tuple(inner), pushforward)
            continue
        if type(node) in LINEAR_ACTIONS:
            push = LINEAR_ACTIONS[type(node)].pushforward
            tangent_of[node] = accumulated(
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
        tangent_of[node] = (
            accumulated(contributions) if contributions else Zeros(*shape_of(node), *inner)
        )
    return tangent_of.get(y, Zeros(*shape_of(y), *inner))


def term_lengths(
    node: Operand, operand: Operand, term: Term, others: Mapping[int, Expr]
) -> dict[int, Expr]:
    """Add the lengths of a term's labels to others."""
    lengths = dict(others)
    lengths.update(zip(term.upper, shape_of(node), strict=True))
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
    """Contract a tangent or cotangent with a term's factors."""
    if not term.factors and tuple(labels) == tuple(output) and len(set(labels)) == len(labels):
        return value
    if not lengths:
        return scalar_product((value, *term.factors))
    return contract((value, *term.factors), (labels, *term.subscripts), output, lengths)


# --- bottlenecks


class Segment(NamedTuple):
    """A stretch of a path from a function down to variables, differentiated in one sweep: the node
    at its top, those at its bottom, and whether the sweep is the reverse one."""

    top: Operand
    bottom: tuple[Operand, ...]
    is_reverse: bool


def through_bottlenecks(y: Operand, variable: Operand, steps: list[Step] | None) -> Operand:
    """Compute the derivative of y by a variable, of shape y.shape + variable.shape, in the cheapest
    of reverse mode, forward mode and the product over bottlenecks."""
    wrt = (variable,)
    paths = [[Segment(y, wrt, True)], [Segment(y, wrt, False)]]
    path, _ = path_over_bottlenecks(y, wrt)
    if len(path) > 1:
        paths.append(path)
    found: list[tuple[Operand, list[Step]]] = []
    for path in paths:
        taken: list[Step] = []
        (derivative,) = chain_along_path(path, taken)
        found.append((derivative, taken))
    result, taken = min(found, key=lambda pair: cost([pair[0]]))
    if steps is not None:
        steps.extend(taken)
    return result


def chain_along_path(path: Sequence[Segment], steps: list[Step] | None) -> list[Operand]:
    """Chain the derivatives of the segments of a path to those by the variables at its end."""
    y = path[0].top
    results: list[Operand] = []
    for top, bottom, is_reverse in path:
        if is_reverse:
            shape = shape_of(top)
            parts = pullback([top], bottom, [unit_seed(shape)], shape, steps)
        else:
            shapes = [shape_of(v) for v in bottom]
            pairs = zip(bottom, shapes, strict=True)
            parts = [pushforward(top, [v], [unit_seed(s)], s, steps) for v, s in pairs]
        if top is not y:
            ends = zip(parts, bottom, strict=True)
            parts = [_chain(y, results[0], top, part, end) for part, end in ends]
        results = parts
    return results


def path_over_bottlenecks(y: Operand, wrt: tuple[Operand, ...]) -> tuple[list[Segment], int]:
    """Return the path over the bottlenecks, and the number of nodes between y and the variables.

    A bottleneck is a node on all paths from y to the variables, with the fewest entries of these
    and fewer than both ends; each segment is differentiated from its smaller end [LMG20].
    """
    graph = Graph([y], wrt)
    nodes = [node for node in graph.order if node in graph.active]
    place = {node: k for k, node in enumerate(nodes)}
    # In a topological order of the nodes on paths, all paths meet a node that no edge skips.
    changes = [0] * (len(nodes) + 1)
    for node in nodes:
        for operand in graph.below(node):
            if operand in place and place[operand] + 1 < place[node]:
                changes[place[operand] + 1] += 1
                changes[place[node]] -= 1
    passing = accumulate(changes)
    through = [node for node, count in zip(nodes, passing, strict=False) if not count]
    # A variable later in the order is no descendant of the node.
    last = max((place[v] for v in wrt if v in place), default=-1)
    inner = [n for n in through if place[n] > last and n is not y and not isinstance(n, LoopNode)]
    ends = _size([y]), _size(wrt)
    least = min((_size([node]) for node in inner), default=0)
    stops = [node for node in reversed(inner) if _size([node]) == least < min(ends)]
    groups = [(y,), *((node,) for node in stops), wrt]
    pairs = pairwise(groups)
    path = [Segment(top, bottom, _size([top]) <= _size(bottom)) for (top, *_), bottom in pairs]
    return path, len(nodes)


def _size(nodes: Sequence[Operand]) -> int:
    """Count the entries of all nodes together."""
    return sum(nominal_size(shape_of(node)) for node in nodes)


def _chain(y: Operand, left: Operand, middle: Operand, right: Operand, end: Operand) -> Operand:
    """Chain the derivative of y by a node with the derivative of that node by another."""
    shapes = [shape_of(node) for node in (y, middle, end)]
    lengths = dict(enumerate([length for shape in shapes for length in shape]))
    first, second = len(shapes[0]), len(shapes[0]) + len(shapes[1])
    labels = list(lengths)
    return contract(
        (left, right),
        (labels[:second], labels[first:]),
        [*labels[:first], *labels[second:]],
        lengths,
    )


def unit_seed(shape: Sequence[Expr]) -> Operand:
    """Return the derivative of a tensor of a shape by itself."""
    return Delta(*shape) if shape else S.One


# --- from stable form to normal form


def check_mode(mode: str) -> None:
    if mode not in MODES:
        raise UnsupportedError(f"mode {mode!r} is not supported; there are {', '.join(MODES)}")


@cached(256)
def sweep(
    y: Operand, wrt: tuple[Operand, ...], mode: str, simplify: bool | None, trace: bool = False
) -> tuple[Sequence[Operand], list[Step]]:
    """Differentiate y by several variables, in one reverse sweep or one by one.

    Return the derivatives in normal form, and with ``trace`` the steps.
    """
    check_mode(mode)
    if len(set(wrt)) != len(wrt):
        raise TensorError("a variable is named twice")
    with collector_paused():
        # The derivative of an unstable form may divide 0 by 0.
        (y,), steps = stabilise(fuse_loops([y], prune=False), wrt)
        y = with_exact_zeros(y, wrt)
        results, new = by_ends(
            y, wrt, lambda own, variables: _derivatives(own, variables, mode, simplify, trace)
        )
    return results, [*steps, *new]


def _derivatives(
    y: Operand, wrt: tuple[Operand, ...], mode: str, simplify: bool | None, trace: bool
) -> tuple[Sequence[Operand], list[Step]]:
    """Compute the simplified derivatives of an expression in stable form."""
    if mode == "auto":
        return _cheapest_derivatives(y, wrt, simplify, trace)
    steps: list[Step] = []
    record = steps if trace else None
    if mode == "forward":
        blocks = chain_along_path([Segment(y, wrt, False)], record)
    elif mode == "cross-country":
        blocks = [through_bottlenecks(y, v, record) for v in wrt]
    else:
        roots, seeds = _simplified_roots(y, wrt, simplify, steps)
        blocks = pullback(roots, wrt, seeds, shape_of(y), record)
    results, new = tidy(blocks, simplify, [y])
    return results, [*steps, *new]


def _cheapest_derivatives(
    y: Operand, wrt: tuple[Operand, ...], simplify: bool | None, trace: bool
) -> tuple[Sequence[Operand], list[Step]]:
    """Differentiate in reverse mode, or over bottlenecks where that is much cheaper: reverse mode
    gives short functions the derivatives of textbooks."""
    if splits_differences(y, wrt):
        return _derivatives(y, wrt, "forward", simplify, trace)
    reverse = [Segment(y, wrt, True)]
    path, count = path_over_bottlenecks(y, wrt) if shape_of(y) else (reverse, 0)
    if path == reverse:
        return _derivatives(y, wrt, "reverse", simplify, trace)
    if count <= tuning.MAX_COMPARED_NODES:
        usual = _derivatives(y, wrt, "reverse", simplify, trace)
    steps: list[Step] = []
    results, new = tidy(chain_along_path(path, steps if trace else None), simplify, [y])
    if count <= tuning.MAX_COMPARED_NODES and cost(usual[0]) <= tuning.MIN_GAIN * cost(results):
        return usual
    return results, [*steps, *new]


def _simplified_roots(
    y: Operand, wrt: Sequence[Operand], simplify: bool | None, steps: list[Step]
) -> tuple[Sequence[Operand], list[Operand]]:
    """Return the simplified roots of the reverse sweep from y, with their seeds.

    The tensors in a stock scalar are simplified one by one; the partial derivatives of the stock
    scalar keep them as given, as SymPy's own do.
    """
    roots, seeds = [y], [unit_seed(shape_of(y))]
    if not isinstance(y, TensorExpr):
        found = postorder([y], lambda n: () if isinstance(n, TensorExpr) else inputs_of(n))
        roots = [n for n in found if isinstance(n, TensorExpr) or n in wrt]
        seeds = pullback([y], roots, [S.One], ())
    tidied, new = tidy(roots, simplify, ())
    steps.extend(new)
    return tidied, seeds
