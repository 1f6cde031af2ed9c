"""Instructions, and the rules that rows of their table are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

from sympy import Add, Expr, Mul, S, preorder_traversal

from ...core import Shape
from ...expressions import Slot, slot, slot_numbers

# The static parameters of an instruction: numbers, texts, lengths, nodes, as its row says.
Params: TypeAlias = tuple[Any, ...]


class Instruction(NamedTuple):
    """One primitive: name, numbers of the instructions it uses, static parameters, shape."""

    op: str
    inputs: tuple[int, ...]
    params: Params = ()
    shape: Shape = ()

    def on(self, inputs: tuple[int, ...]) -> Instruction:
        """Build the same instruction of other operands."""
        return Instruction(self.op, inputs, self.params, self.shape)


class Slice(NamedTuple):
    """``count`` positions of an axis from ``start`` on, ``step`` apart."""

    start: Expr
    step: Expr
    count: Expr


# An index of an axis: a position, a slice, or None for all of it.
AxisPart: TypeAlias = Expr | Slice | None


def is_whole(piece: Slice, length: Expr) -> bool:
    """Tell whether a slice is known to be all of an axis in order."""
    start, step, count = piece
    return bool(start.is_zero and step == 1 and (length - count).is_zero)


class Work(NamedTuple):
    """An instruction at some lengths of axes: the shapes of its operands and of its result."""

    operands: Sequence[tuple[int, ...]]
    result: tuple[int, ...]
    params: Params


# --- shapes


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the common shape of operands whose axes of length 1 stretch."""
    shapes = [shape for shape in shapes if shape] or [()]
    if shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    order = max(map(len, shapes))
    padded = [(S.One,) * (order - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(
        [
            next((length for length in lengths if length != 1), S.One)
            for lengths in zip(*padded, strict=True)
        ]
    )


def no_axes(shapes: Sequence[Shape], *params: object) -> Shape:
    """Return the shape of a scalar."""
    return ()


def shape_of_first(shapes: Sequence[Shape], *params: object) -> Shape:
    """Return the shape of the first operand."""
    return shapes[0]


def given_shape(shapes: Sequence[Shape], shape: Shape) -> Shape:
    """Return the shape that is a parameter."""
    return shape


def stretched(shapes: Sequence[Shape], *params: object) -> Shape:
    """Return the broadcast shape of all operands."""
    return broadcast_shape(shapes)


def entrywise(shapes: Sequence[Shape], body: Expr) -> Shape:
    """Return the broadcast shape of the operands that occur in a body."""
    used = [shapes[place] for place in slot_numbers(body)]
    return broadcast_shape(used) if used else ()


def indexed(shapes: Sequence[Shape], entries: Sequence[str]) -> Sequence[Expr]:
    """Return the shape of basic indexing."""
    shape, axis = shapes[0], 0
    result: list[Expr] = []
    for entry in entries:
        if entry == "None":
            result.append(S.One)
        elif entry == "...":
            rest = len(shape) - sum(e not in ("None", "...") for e in entries)
            result += shape[axis : axis + rest]
            axis += rest
        else:
            if entry == ":":
                result.append(shape[axis])
            axis += 1
    return result + list(shape[axis:])


def sliced_shape(shapes: Sequence[Shape], slices: Sequence[AxisPart]) -> Sequence[Expr]:
    """Return the shape of a slice."""
    return [
        length if own is None else own.count
        for length, own in zip(shapes[0], slices, strict=True)
        if own is None or isinstance(own, Slice)
    ]


def with_length(
    shapes: Sequence[Shape], axis: int, backwards: bool, lag: Expr, count: Expr
) -> Sequence[Expr]:
    """Return the operand's shape with another length of one axis."""
    return [*shapes[0][:axis], count, *shapes[0][axis + 1 :]]


def longer_by_one(shapes: Sequence[Shape], *params: object) -> Sequence[Expr]:
    """Return the operand's shape with one position more on the last axis."""
    return [*shapes[0][:-1], shapes[0][-1] + 1]


def recurring(shapes: Sequence[Shape], *params: object) -> Sequence[Expr]:
    """Return the last operand's shape, broadcast to the others along all axes but the last."""
    return [*broadcast_shape([shape[:-1] for shape in shapes]), shapes[-1][-1]]


def windowed(
    shapes: Sequence[Shape], axis: int, start: Expr, steps: Shape, counts: Shape
) -> Sequence[Expr]:
    """Return the operand's shape with the indices of windows in place of an axis."""
    return [*shapes[0][:axis], *counts, *shapes[0][axis + 1 :]]


def labelled(shapes: Sequence[Shape], subscripts: str) -> Sequence[Expr]:
    """Return the shape of the output of an index string."""
    inputs, output = subscripts.split("->")
    lengths: dict[str, Expr] = {}
    for term, shape in zip(inputs.split(","), shapes, strict=True):
        lengths.update(zip(term, shape, strict=True))
    return [lengths[letter] for letter in output]


def without_axes(shapes: Sequence[Shape], axes: Sequence[int] | None) -> Sequence[Expr]:
    """Return the operand's shape without some axes, or without all."""
    return [n for k, n in enumerate(shapes[0]) if axes is not None and k not in axes]


def with_axes(shapes: Sequence[Shape], axes: Sequence[int] | None) -> Sequence[Expr]:
    """Return the operand's shape with length 1 for some axes, or for all."""
    return [S.One if axes is None or k in axes else n for k, n in enumerate(shapes[0])]


def positions_shape(shapes: Sequence[Shape], name: str, axis: int) -> Sequence[Expr]:
    """Return the operand's shape, without the axis for a single position on it."""
    return without_axes(shapes, (axis,)) if name in ("argmax", "argmin") else shapes[0]


def taken(shapes: Sequence[Shape], first: int) -> Shape:
    """Return the first operand's shape with axes replaced by those of the positions."""
    source, *positions = shapes
    return (*source[:first], *broadcast_shape(positions), *source[first + len(positions) :])


def scattered(shapes: Sequence[Shape], lengths: Shape, once: bool) -> Shape:
    """Return the first operand's shape with the axes of the positions replaced by ``lengths``."""
    value, *positions = shapes
    return (*lengths, *value[len(broadcast_shape(positions)) :])


def scattered_together(shapes: Sequence[Shape], lengths: Shape) -> Shape:
    """Return the shape of several scatters into one array, that of the first."""
    return scattered(shapes[: 1 + len(lengths)], lengths, False)


def stacked(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of a product of stacks of matrices."""
    a, b = shapes
    return (*broadcast_shape([a[:-2], b[:-2]]), a[-2], b[-1])


def of_stack(shapes: Sequence[Shape], name: str, tail: Shape) -> Shape:
    """Return the shape of a function of each matrix of a stack, of shape ``tail``."""
    return (*shapes[0][:-2], *tail)


# --- arithmetic operations


def largest(work: Work) -> int:
    """Count one operation for each entry of the largest operand."""
    return max(map(prod, work.operands), default=0)


def twice_largest(work: Work) -> int:
    """Count two operations for each entry of the largest operand."""
    return 2 * largest(work)


def product_flops(work: Work) -> int:
    """Count the operations of a matrix product."""
    return 2 * prod(work.result) * work.operands[0][-1]


def flops_between(work: Work) -> int:
    """Count one operation for each entry between two operands."""
    return prod(work.result) * (len(work.operands) - 1)


def body_flops(work: Work) -> int:
    """Count the operations of a body at each entry."""
    return prod(work.result) * sum(1 for part in preorder_traversal(work.params[0]) if part.args)


def cubes(thirds: int) -> Callable[[Work], int]:
    """Return a flop count of ``thirds``/3 n**3 for matrices of length n."""
    return lambda work: thirds * work.operands[0][0] ** 3 // 3


# Stands for the definiteness of a matrix whose factors are those of a sparse one.
SPARSE = "sparse"
Definiteness: TypeAlias = "bool | str | None"


def factoring_flops(work: Work) -> int:
    """Count the operations of a factorization; of a sparse matrix about those of a band."""
    (definite,) = work.params
    if definite == SPARSE:
        return work.operands[0][0] ** 2
    return cubes(1 if definite else 2)(work)


def solve_flops(work: Work) -> int:
    """Count the operations of a factorisation and two substitutions."""
    return cubes(2)(work) + 2 * work.operands[0][0] * prod(work.result)


def factors_flops(work: Work) -> int:
    """Count the operations of an inverse by factors; a determinant has next to none."""
    return cubes(4)(work) if work.params[0] == "inv" else work.operands[0][0]


def transform_flops(work: Work) -> int:
    """Count the operations of Fourier transforms."""
    entries = max(prod(work.operands[0]), prod(work.result))
    return 3 * entries * entries.bit_length()


def decomposition_flops(work: Work) -> int:
    """Count the operations of a decomposition of each matrix of a stack."""
    return 4 * largest(work) * min(work.operands[0][-2:])


def cofactors_flops(work: Work) -> int:
    """Count the operations of a singular value decomposition and of products with directions."""
    n = work.operands[0][0]
    return 20 * n**3 + 2 * n * prod(work.result) + 4 * n**3 * (len(work.operands) - 1)


# --- what is done to an entry


def own_body(instruction: Instruction) -> Expr:
    """Return the scalar body, a parameter."""
    return instruction.params[0]


def _slots(instruction: Instruction) -> list[Slot]:
    return [slot(k) for k in range(len(instruction.inputs))]


def product_body(instruction: Instruction) -> Expr:
    """Return the product of the operands as a scalar body."""
    return Mul(*_slots(instruction))


def sum_body(instruction: Instruction) -> Expr:
    """Return the signed sum of the operands as a scalar body."""
    (signs,) = instruction.params
    return Add(*[sign * own for sign, own in zip(signs, _slots(instruction), strict=True)])


def is_one_function(instruction: Instruction) -> bool:
    """Tell whether a body is a single quotient, or a single function of one operand."""
    (body,) = instruction.params
    if body == slot(0) / slot(1):
        return True
    root = body.is_Pow and body.exp in (2, S.Half)
    one = len(instruction.inputs) == 1 and bool(body.is_Function or root)
    return one and body.args[0].is_Symbol


def is_sum_of_two(instruction: Instruction) -> bool:
    """Tell whether a sum is a single operation: -a - b isn't."""
    (signs,) = instruction.params
    return len(signs) == 1 or (len(signs) == 2 and max(signs) > 0)


def is_product_of_two(instruction: Instruction) -> bool:
    """Tell whether a product is a single operation."""
    return len(instruction.inputs) == 2
