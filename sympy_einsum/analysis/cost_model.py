"""The cost model of evaluation, which decides between two forms of an expression.

The unit is one multiplication inside a contraction; every symbolic length counts as the same
number. Writing an array out costs more than the arithmetic on it, so an entry of a sum or of an
elementwise function counts several times. Each distinct node counts once: what is shared is
computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from sympy import Basic, Expr, S

from .. import expressions as nodes
from ..contraction_order import Sizes, contraction_cost, nominal_length, nominal_size
from ..core import Indices, NodeTable, Shape, cached, children, postorder, tuning
from ..expressions import RUNNING, Operand, TensorExpr, memoised, shape_of, softmax_inside_log


def cost(exprs: Iterable[Operand], known: Collection[Operand] = ()) -> int:
    """Return the number of multiplications that evaluating the expressions amounts to; ``known``
    nodes are there already.

    >>> import sympy_einsum as se
    >>> (A, B), x = se.tensors("A B", 9, 9), se.TensorSymbol("x", 9)
    >>> cost([A @ (B @ x)]) < cost([(A @ B) @ x])
    True
    """
    order = postorder(
        exprs, (lambda node: () if node in known else children(node)) if known else None
    )
    return sum([_node_cost(node) for node in order if node not in known])


def _node_cost(node: Operand) -> int:
    return _tensor_cost(node) if isinstance(node, TensorExpr) else len(node.args)


@memoised
def _tensor_cost(node: TensorExpr) -> int:
    return COSTS[type(node)](node)


def _nothing(node: TensorExpr) -> int:
    return 0


def _entries(node: TensorExpr) -> int:
    return nominal_size(node.shape)


def _view_cost(node: nodes.View) -> int:
    """Count a rearrangement as free; a minus becomes a subtraction."""
    if node.core is None or node.scalars in ((), (S.NegativeOne,)):
        return 0
    return tuning.ENTRY * _smallest_factor(node)


def _product_cost(node: nodes.Einsum) -> int:
    """Compute the cost of a contraction, and of writing a zero-padded result."""
    sizes = _nominal(node.lengths)
    is_plain = not any(isinstance(operand, SPECIAL) for operand in node.operands)
    if is_plain and len({*node.operands}) == len(node.operands):
        return contraction_cost(node.subscripts, node.output, sizes)
    terms, output = _without_slices(node)
    written = tuning.ENTRY * _nonzero_count(node) if output != node.output else 0
    if any(isinstance(operand, RUNNING) for operand in node.operands):
        return written + _running_product_cost(node, terms, output, dict(sizes))
    price = contraction_cost(tuple(terms.values()), output, sizes)
    return written + (price // 2 if _is_gram(node, terms, output) else price)


# Nodes that are more than one operand of a contraction.
SPECIAL = (nodes.Positions, nodes.OneHot, *RUNNING)


@cached(4096)
def _nominal(lengths: Shape) -> Sizes:
    return tuple([(k, nominal_length(n)) for k, n in enumerate(lengths)])


def _is_gram(node: nodes.Einsum, terms: Mapping[int, Indices], output: Indices) -> bool:
    """Tell whether a product is X'X or X' diag(w) X, of which libraries compute a triangle."""
    longest = max(map(len, terms.values()), default=0)
    matrices = [k for k, labels in terms.items() if len(labels) == 2]
    if (
        longest != 2
        or len(matrices) != 2
        or node.operands[matrices[0]] is not node.operands[matrices[1]]
    ):
        return False
    one, other = [terms[k] for k in matrices]
    shared = [a for a, b in zip(one, other, strict=True) if a == b]
    return len(shared) == 1 and {*output} == {*one, *other}.difference(shared)


def _without_slices(node: nodes.Einsum) -> tuple[dict[int, Indices], Indices]:
    """Return the indices of a product by operand, with entries and slices taken from its operands
    first; those of the result are written into zeros."""
    terms = dict(enumerate(node.subscripts))
    output = node.output
    for k, operand in enumerate(node.operands):
        if isinstance(operand, nodes.Positions):
            own = terms.pop(k)
            if not own:
                # Another entry of the same axis, whose position wasn't compared with this one.
                continue
            *source, target = own
            terms = {j: _renamed(term, target, source) for j, term in terms.items()}
            output = _renamed(output, target, source)
        elif isinstance(operand, nodes.OneHot) and len(terms[k]) == operand.order:
            # Entries are taken, or added to others, where the positions are; not from a diagonal.
            *places, axis = terms[k]
            terms = {j: _renamed(term, axis, places[:1]) for j, term in terms.items()}
            output = _renamed(output, axis, places[:1])
    return terms, output


def _renamed(term: Indices, old: int, new: Sequence[int]) -> Indices:
    return tuple(dict.fromkeys([i for own in term for i in (new if own == old else (own,))]))


def _running_product_cost(
    node: nodes.Einsum, given: Mapping[int, Indices], output: Indices, sizes: dict[int, int]
) -> int:
    """Compute the cost of a product with running factors: each counts as an entrywise product,
    unless all entries of its matrix are needed."""
    renamed = {i: i for i in sizes}
    terms = {}
    for k, labels in given.items():
        is_one = isinstance(node.operands[k], RUNNING) and labels == node.subscripts[k]
        old, new = sorted([renamed[i] for i in labels[-2:]] if is_one else (0, 0))
        outside = [renamed[i] for i in output]
        if not is_one or (old in outside and new in outside):
            terms[k] = labels
            continue
        old, new = (old, new) if new in outside else (new, old)
        renamed = {i: new if own == old else own for i, own in renamed.items()}
        sizes[new] = max(sizes[old], sizes[new])
        terms[k] = labels[:-1]
    merged = {k: tuple(dict.fromkeys(renamed[i] for i in own)) for k, own in terms.items() if own}
    result = tuple(dict.fromkeys(renamed[i] for i in output))
    price = contraction_cost(tuple(merged.values()), result, tuple(sizes.items()))
    return price // 2 if _is_gram(node, merged, result) else price


def _sum_cost(node: nodes.TensorAdd) -> int:
    """Compute the cost of a sum; zero-padded terms are written into the others' sum, or zeros."""
    whole = _entries(node)
    written = [_nonzero_count(term) for term in node.operands]
    views = [
        n for n, term in zip(written, node.operands, strict=True) if type(term) is not nodes.Einsum
    ]
    dense = [n for n in written if n == whole]
    return tuning.ENTRY * (sum(n for n in views if n < whole) + max(sum(dense), whole))


@memoised
def has_known_zeros(total: nodes.TensorAdd) -> bool:
    """Tell whether entries of a term are known to be zeros, beside a diagonal or some positions."""
    return any(_nonzero_count(term) < _entries(term) for term in total.operands)


def _nonzero_count(term: Operand) -> int:
    """Count how many entries aren't zeros on a side of a diagonal, or beside some positions."""
    if isinstance(term, nodes.View):
        core = 1 if term.core is None else _nonzero_count(term.core)
        present = set(term.subscripts[-1]) if term.core is not None else set()
        return core * nominal_size(term.lengths[i] for i in {*term.output} - present)
    if isinstance(term, nodes.Positions):
        return nominal_size(term.counts)
    if type(term) is nodes.Einsum and any(isinstance(o, nodes.Positions) for o in term.operands):
        _, output = _without_slices(term)
        return nominal_size(term.lengths[i] for i in set(output))
    return nominal_size(shape_of(term))


def _exponentials_cost(node: nodes.AxesFunction | nodes.RunningFunction) -> int:
    """Count products with matrices of running functions as linear recurrences."""
    return (tuning.FUNCTION + tuning.ENTRY) * _entries(node.operands[0])


def _comparisons_cost(node: nodes.NamedAxesFunction) -> int:
    """Count one pass for a maximum, several for positions."""
    passes = 1 if isinstance(node, nodes.Extremum) else tuning.FUNCTION
    return passes * tuning.ENTRY * _entries(node.operands[0])


def _factorized(times: int) -> Callable[[nodes.MatrixFunction], int]:
    """Return the cost of ``times`` factorizations of each of a node's matrices, as a function."""
    return lambda node: (
        times * _entries(node.operands[0]) * nominal_length(node.operands[0].shape[-1])
    )


def _decomposed(node: nodes.StackFunction) -> int:
    """Count a factorization of each matrix, with iterations; each direction doubles the matrix."""
    matrices, *directions = node.operands
    return (
        10
        * 8 ** len(directions)
        * _entries(matrices)
        * min(nominal_length(n) for n in matrices.shape[-2:])
    )


def _cofactors_cost(node: nodes.Cofactors) -> int:
    n = nominal_length(node.shape[0])
    return 20 * n**3 + n * _entries(node)


def _smallest_factor(view: nodes.View) -> int:
    """Return the number of entries that a scalar factor is multiplied into: the view's diagonal, or
    an operand of the product below, reduced over the axes that it alone has."""
    lengths = [nominal_length(n) for n in view.lengths]
    sizes = [prod(lengths[i] for i in set(view.subscripts[-1]))]
    core = view.core
    if type(core) is nodes.Einsum:
        count = Counter(i for term in (*map(set, core.subscripts), core.output) for i in term)
        lengths = [nominal_length(n) for n in core.lengths]
        sizes += [prod(lengths[i] for i in set(t) if count[i] > 1) for t in core.subscripts]
    return min(sizes)


@cached(4096)
def _body_cost(body: Expr) -> int:
    def operation(part: Basic) -> int:
        is_power = part.is_Pow and not (part.exp.is_Integer or abs(part.exp) == S.Half)
        return tuning.FUNCTION if part.is_Function or is_power else 1

    return tuning.ENTRY + sum(operation(part) for part in postorder([body]) if part.args)


def _solution_cost(node: nodes.Solution) -> int:
    """Compute the cost of some iterations of Newton's method."""
    size = nominal_size(node.shape)
    return tuning.NEWTON_ITERATIONS * (cost(node.outputs) + size**3)


COSTS: NodeTable[Callable[[Any], int]] = NodeTable(
    "the cost",
    {
        nodes.TensorSymbol: _nothing,
        nodes.Zeros: _nothing,
        nodes.Constant: _nothing,
        nodes.LeviCivita: _nothing,
        nodes.Unevaluated: lambda node: cost(node.outputs) + _entries(node),
        nodes.Unknown: lambda node: (tuning.FUNCTION + tuning.ENTRY) * _entries(node),
        nodes.Positions: _nothing,
        nodes.Triangle: _nothing,
        nodes.Fourier: _nothing,
        nodes.Reshape: _nothing,
        nodes.View: _view_cost,
        nodes.Einsum: _product_cost,
        nodes.TensorAdd: _sum_cost,
        nodes.Elementwise: lambda node: (
            _entries(node) * (tuning.ENTRY if softmax_inside_log(node) else _body_cost(node.body))
        ),
        nodes.Softmax: _exponentials_cost,
        nodes.LogSumExp: _exponentials_cost,
        nodes.NamedAxesFunction: _comparisons_cost,
        nodes.OneHot: _nothing,
        nodes.RunningFunction: _exponentials_cost,
        nodes.Inv: _factorized(3),
        nodes.InvStack: _factorized(3),
        nodes.Det: _factorized(1),
        nodes.DetStack: _factorized(1),
        nodes.LogDet: _factorized(1),
        nodes.Adj: _factorized(20),
        nodes.AdjStack: _factorized(20),
        nodes.Cofactors: _cofactors_cost,
        nodes.StackFunction: _decomposed,
        nodes.Scan: lambda node: (
            nominal_length(node.length) * (tuning.STEP + cost(node.loop.outputs))
        ),
        nodes.Solution: _solution_cost,
    },
)
