"""Lowering of products: merged, sliced by unit vectors and selections among the operands, and
multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr

from ...analysis import definiteness
from ...contraction_order import Factor
from ...core import Indices, tuning
from ...expressions import (
    RUNNING,
    Cofactors,
    Delta,
    Einsum,
    Inv,
    OneHot,
    Ones,
    Operand,
    View,
    inline_products,
    is_window,
    order_of,
)
from ..ir.instruction_rules import SPARSE
from .context import Lowering
from .gathers import Gathers, OneHotFactor
from .multiplication import multiply_all
from .running import Triangles
from .selectors import ZeroPadded, apply_slices, distinct_labels, emit_padded, whole
from .sliding_windows import Windows


def lower_product(builder: Lowering, node: Einsum) -> int:
    """Lower a product."""
    if any(map(is_window, node.operands)):
        return Windows(builder, node).value(lambda term: _padded_term(builder, term))
    return emit_padded(builder, padded_product(builder, node, range(node.order)), node.shape)


def _padded_term(builder: Lowering, term: Operand) -> ZeroPadded:
    """Lower a term of a sum over the positions of windows."""
    core = term.core if isinstance(term, View) else None
    if type(core) is Einsum and not any(map(is_window, core.operands)):
        labels = term.subscripts[-1]
        if len({*labels}) == len(labels) and sorted(labels) == sorted(term.output):
            scalar = builder.factor(term.scalars) if term.scalars else None
            return padded_product(builder, core, [labels.index(i) for i in term.output], scalar)
    if type(term) is Einsum and any(term.subscripts) and not any(map(is_window, term.operands)):
        return padded_product(builder, term, range(term.order))
    return whole(builder.value(term), range(order_of(term)))


def padded_product(
    builder: Lowering, node: Einsum, axes: Sequence[int], scalar: int | None = None
) -> ZeroPadded:
    """Lower a product with its axes in some order, times a scalar if one is given."""
    if not any(node.subscripts):
        return whole(builder.factor(node.operands), ())
    if any(map(is_window, node.operands)):
        value = builder.value(node)
        value = value if scalar is None else builder.scaled(scalar, value)
        return whole(builder.arranged(value, range(node.order), axes), axes)
    output = tuple([node.output[k] for k in axes])
    # Products that are used here only are written out in place.
    operands, subscripts, lengths = inline_products(
        node.operands,
        node.subscripts,
        dict(enumerate(node.lengths)),
        lambda inner, _: builder.is_waiting(inner),
    )
    if any(isinstance(operand, RUNNING) for operand in operands):
        product = Triangles(builder, operands, subscripts, output, lengths)
        operands, subscripts = product.replaced()
    pairs = list(zip(operands, subscripts, strict=True))
    hots = [(own, labels) for own, labels in pairs if isinstance(own, OneHot)]
    if hots:
        pairs = [(own, labels) for own, labels in pairs if not isinstance(own, OneHot)]
        operands = [operand for operand, _ in pairs]
    factors = [_factor(builder, *pair) for pair in pairs]
    _direct(builder, operands, factors, (*output, *[i for _, own in hots for i in own]), lengths)
    if not hots:
        places = apply_slices(builder, operands, factors, output)
        value = multiply_all(builder, factors, distinct_labels(places), lengths, scalar)
        return ZeroPadded(value, places)
    # Slices of the positions' axes slice the positions; slices of the axis that they are on can't.
    axes = tuple([labels[-1] for _, labels in hots])
    operands = [node if f.labels[-1] in axes else o for o, f in zip(operands, factors, strict=True)]
    operands += [operand for operand, _ in hots]
    factors += [Factor(builder.value(own.indices), labels[:-1]) for own, labels in hots]
    places = apply_slices(builder, operands, factors, (*output, *axes))[: len(output)]
    first = len(factors) - len(hots)
    positions = zip(factors[first:], axes, strict=True)
    found = [OneHotFactor(factor.value, factor.labels, axis) for factor, axis in positions]
    gathers = Gathers(builder, lengths, scalar)
    return ZeroPadded(gathers.product(factors[:first], found, distinct_labels(places)), places)


def _factor(builder: Lowering, operand: Operand, labels: Indices) -> Factor:
    is_solved = isinstance(operand, Inv) or operand in builder.solved
    if is_solved and len(set(labels)) == len(labels):
        matrix = operand.operands[0]
        factors = builder.sparse_factors(matrix)
        if factors is not None:
            return Factor(factors, labels, (SPARSE,))
        return Factor(builder.value(matrix), labels, (definiteness(matrix),))
    return Factor(builder.value(operand), labels)


# --- derivatives of determinants


def _direct(
    builder: Lowering,
    operands: list[Operand],
    factors: list[Factor],
    output: Indices,
    lengths: Mapping[int, Expr],
) -> None:
    """Lower derivatives of det, of which all pairs of axes but one are multiplied by matrices, to
    matrices at once: the tensors themselves are never built."""
    tensors = [f for f, own in zip(factors, operands, strict=True) if _is_directed(own)]
    pending = list(tensors)
    while pending:
        tensor = pending.pop()
        pairs = list(zip(tensor.labels[::2], tensor.labels[1::2], strict=True))
        groups = {pair: _multiplied_by(pair, tensor, factors, output) for pair in pairs}
        usable = [p for p, own in groups.items() if own is not None and not {*own} & {*tensors}]
        directions = usable[1 - len(pairs) :]
        kept = [pair for pair in pairs if pair not in directions]
        if len(kept) > 1:
            continue
        inputs = [_matrix(builder, pair, groups[pair] or [], lengths) for pair in directions]
        used = {own for pair in directions for own in groups[pair] or ()}
        place = factors.index(tensor)
        matrix = builder.value(operands[place].operands[0])
        value = builder.emit("cofactors", matrix, *inputs, params=(len(pairs),))
        factors[place] = Factor(value, kept[0])
        operands[:] = [o for o, f in zip(operands, factors, strict=True) if f not in used]
        factors[:] = [factor for factor in factors if factor not in used]
        tensors.remove(tensor)
        pending = list(tensors)  # others may have waited for this one


def _is_directed(operand: Operand) -> bool:
    """Tell whether a derivative of det can be multiplied by matrices without being built."""
    return isinstance(operand, Cofactors) and operand.degree <= tuning.MAX_DET_DIRECTIONS + 1


def _multiplied_by(
    pair: tuple[int, int], tensor: Factor, factors: Sequence[Factor], output: Indices
) -> list[Factor] | None:
    """Return the factors that make up the matrix by which a pair of axes of a tensor is multiplied;
    None if there is no such matrix, because they share an index with something else."""
    reached = set(pair)
    beyond = {*output, *tensor.labels} - reached
    if reached & {*output} or sum(i in pair for i in tensor.labels) > 2:
        return None
    found: list[Factor] = []
    others = [factor for factor in factors if factor is not tensor]
    while more := [f for f in others if f not in found and reached & {*f.labels}]:
        found += more
        reached.update(*[factor.labels for factor in more])
    return None if reached & beyond else found


def _matrix(
    builder: Lowering, pair: tuple[int, int], factors: Sequence[Factor], lengths: Mapping[int, Expr]
) -> int:
    """Return the product of factors with two axes; ones where they have none, twice the same is a
    diagonal."""
    row, column = pair
    given = [*factors]
    if row == column:
        column = max(lengths) + 1
        lengths = {**lengths, column: lengths[row]}
        given.append(Factor(builder.value(Delta(lengths[row])), (row, column)))
    for axis in {row, column}.difference(*[factor.labels for factor in given]):
        given.append(Factor(builder.value(Ones(lengths[axis])), (axis,)))
    return multiply_all(builder, given, (row, column), lengths)
