"""Derivatives of and by reshaped tensors: those of and by what is reshaped, moved afterwards.

A function of ``z[:m*k].reshape(m, k)`` is one of a matrix, and its Hessian by z holds the blocks of
that by the matrix. A sweep from an axis that is split or merged would lose the deltas on its parts:
the derivative of ``x.reshape(m, k)`` by x is one where ``i*k + j`` is the position on x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from sympy import Expr

from ..analysis import is_nonnegative, is_positive
from ..core import Label, Labels, Lengths, Shape, postorder, tuning
from ..expressions import (
    Operand,
    Reshape,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    View,
    Zeros,
    contract,
    free_leaves,
    is_selector_product,
    is_tensor,
    replace_nodes,
    reshape_node,
    shape_of,
    total_of,
)
from ..rules import Step


class Move(NamedTuple):
    """A linear map of some axes: a reshape, or a product with constants, with the labels ``before``
    and ``after`` for the axes."""

    shape: Shape | None
    factors: tuple[Operand, ...] = ()
    subscripts: tuple[Labels, ...] = ()
    before: Labels = ()
    after: Labels = ()
    lengths: Lengths = MappingProxyType({})


Moves: TypeAlias = tuple[Move, ...]
# The derivatives of an expression by some variables, and the steps.
Derivatives: TypeAlias = Callable[
    [Operand, tuple[Operand, ...]], tuple[Sequence[Operand], list[Step]]
]


# A tensor, and how it is rearranged to give a term of another.
Output: TypeAlias = tuple[Moves, Operand]


class Input(NamedTuple):
    """Pair the substitute of a reshaped variable with the way its derivatives become those by the
    variable."""

    stand_in: Operand
    variable: Operand
    moves: Moves


def by_ends(
    y: Operand, wrt: tuple[Operand, ...], derivatives: Derivatives
) -> tuple[Sequence[Operand], list[Step]]:
    """Differentiate a tensor by variables where these or the tensor's own parts are reshaped: chain
    the derivatives of and by the tensors before the reshapes."""
    if not shape_of(y):
        return derivatives(y, wrt)
    inputs, replacements = _inputs(y, wrt)
    inner = (
        replace_nodes([y], {node: symbol for symbol, node in replacements.items()})[0]
        if replacements
        else y
    )
    parts = _outputs(inner, [own.stand_in for own in inputs])
    if parts == [((), y)]:
        return derivatives(y, wrt)
    found: dict[Operand, list[Operand]] = {v: [Zeros(*y.shape, *shape_of(v))] for v in wrt}
    steps: list[Step] = []
    for moves, core in parts:
        leaves = free_leaves(core)
        present = [own for own in inputs if own.stand_in in leaves]
        if not present:
            continue
        blocks, new = derivatives(core, tuple([own.stand_in for own in present]))
        steps += new
        for own, block in zip(present, blocks, strict=True):
            moved = _moved(block, core.order, moves, own.moves)
            found[own.variable].append(moved)
    results = replace_nodes([total_of(terms) for terms in found.values()], replacements)
    return results, [_with_variables(step, replacements) for step in steps]


def _with_variables(step: Step, replacements: Mapping[Operand, Operand]) -> Step:
    """Substitute the reshaped variables for their stand-ins in a step."""
    before, after = replace_nodes([step.before, step.after], replacements)
    return step._replace(before=before, after=after)


def _inputs(y: Operand, wrt: Sequence[Operand]) -> tuple[list[Input], dict[Operand, Operand]]:
    """Return the variables and their reshapes in an expression, with what the latter stand for."""
    inputs = [Input(v, v, ()) for v in wrt]
    replacements: dict[Operand, Operand] = {}
    reshaped = [node for node in postorder([y]) if isinstance(node, Reshape)]
    taken = {*free_leaves(y)} if reshaped else set()
    for node in reshaped:
        found = _from_variable(node, wrt)
        if found is not None:
            variable, moves = found
            signs = {"positive": is_positive(node), "nonnegative": is_nonnegative(node)}
            number = len(replacements)
            while (symbol := TensorSymbol(f"part{number}", node.shape, **signs)) in taken:
                number += 1
            taken.add(symbol)
            replacements[symbol] = node
            inputs.append(Input(symbol, variable, moves))
    return inputs, replacements


def _from_variable(node: Operand, wrt: Sequence[Operand]) -> tuple[Operand, Moves] | None:
    """Return the variable that a tensor reshapes, and the map of a derivative by it to one by the
    variable."""
    moves: list[Move] = []
    while node not in wrt:
        found = _rearranged(node, wrt)
        if found is None:
            return None
        below, move = found
        if move.shape is None:
            move = move._replace(before=move.after, after=move.before)
        else:
            move = Move(below.shape)
        moves.append(move)
        node = below
    return node, tuple(moves)


def _outputs(y: Operand, wrt: Sequence[Operand]) -> list[Output]:
    """Return the tensors that the terms of a tensor reshape, and how, if any is reshaped."""
    found: dict[Operand, list[Output]] = {}

    def below(node: Operand) -> Sequence[Operand]:
        if isinstance(node, TensorAdd):
            return node.operands
        rearranged = _rearranged(node, wrt)
        return () if rearranged is None else rearranged[:1]

    for node in postorder([y], below):
        parts: list[Output] = []
        if isinstance(node, TensorAdd):
            parts = [part for term in node.operands for part in found[term]]
            rest = [term for term in node.operands if not found[term]]
            parts += [((), total_of(rest))] if parts and rest else []
        elif (rearranged := _rearranged(node, wrt)) is not None:
            core, move = rearranged
            whole = [((), core)] if move.shape is not None else []
            parts = [((*moves, move), inner) for moves, inner in found[core] or whole]
        too_many = len(parts) > tuning.MAX_RESHAPED_PARTS or any(
            len(moves) > tuning.MAX_RESHAPING_STEPS for moves, _ in parts
        )
        found[node] = [] if too_many else parts
    return found[y] or [((), y)]


def _rearranged(node: Operand, wrt: Sequence[Operand]) -> tuple[TensorExpr, Move] | None:
    """Return the tensor whose entries another one has, times what doesn't depend on variables, and
    how it is made of it; None if it is no such."""
    if isinstance(node, Reshape):
        return node.operands[0], Move(node.shape)
    if not (isinstance(node, View) or is_selector_product(node)):
        return None
    places = [
        k for k, own in enumerate(node.operands) if is_tensor(own) and not own.is_affine_selector
    ]
    if len(places) != 1:
        return None
    (k,) = places
    factors = (*node.operands[:k], *node.operands[k + 1 :])
    if not {s for own in factors for s in own.free_symbols}.isdisjoint(wrt):
        return None
    subscripts = (*node.subscripts[:k], *node.subscripts[k + 1 :])
    lengths = dict(enumerate(node.lengths))
    return node.operands[k], Move(
        None, factors, subscripts, node.subscripts[k], node.output, lengths
    )


def _moved(block: Operand, order: int, first: Moves, second: Moves) -> Operand:
    """Move the first axes of a derivative, those of the function, and its other axes."""
    pending = [list(first), list(second)]
    shapes = [block.shape[:order], block.shape[order:]]
    while any(pending):
        # Consecutive reshapes, or products, of both are done at once.
        is_reshape = next(moves[0].shape for moves in pending if moves) is not None
        taken = [
            moves.pop(0) if moves and (moves[0].shape is not None) == is_reshape else None
            for moves in pending
        ]
        if is_reshape:
            both = zip(taken, shapes, strict=True)
            shapes = [shape if move is None else move.shape for move, shape in both]
            block = reshape_node(block, [length for shape in shapes for length in shape])
        else:
            block, shapes = _multiplied(block, shapes, taken)
    return block


def _multiplied(
    block: Operand, shapes: Sequence[Shape], moves: Sequence[Move | None]
) -> tuple[Operand, list[Shape]]:
    """Multiply the first and the other axes of a derivative, of given shapes, by constants; return
    it with the new shapes."""
    factors: list[Operand] = []
    subscripts: list[Labels] = []
    before: list[Label] = []
    after: list[Labels] = []
    lengths: dict[Label, Expr] = {}
    for side, (move, shape) in enumerate(zip(moves, shapes, strict=True)):
        axes = range(len(shape))
        own = Move(None, (), (), axes, axes, dict(enumerate(shape))) if move is None else move
        factors += own.factors
        subscripts += [[(side, i) for i in labels] for labels in own.subscripts]
        before += [(side, i) for i in own.before]
        after.append([(side, i) for i in own.after])
        lengths |= {(side, i): length for i, length in own.lengths.items()}
    output = [*after[0], *after[1]]
    moved = contract((block, *factors), (before, *subscripts), output, lengths)
    return moved, [tuple([lengths[i] for i in labels]) for labels in after]
