"""Instructions: the primitives that a straight-line program over arrays is made of.

Knows neither source text nor how expressions become programs: an instruction is a name, the numbers
of the instructions it uses, static parameters, and the shape of what it computes, in lengths that
may be symbols. ``OPS`` has one row for everything that the compiler knows of each; what it costs,
whether it may be written over, how its text binds are read from there. A new one needs a row here
and a method of its name in the backends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any, NamedTuple

from sympy import Add, Expr, Integer, Mul, S, preorder_traversal

from ..core import Shape
from ..expressions import Slot, slot


class Instruction(NamedTuple):
    """One primitive: name, numbers of the instructions it uses, static parameters, shape."""

    op: str
    inputs: tuple[int, ...]
    params: tuple[Any, ...] = ()
    shape: Shape = ()


class Slice(NamedTuple):
    """So many positions of an axis, from a first one on, so far apart."""

    start: Expr
    step: int
    count: Expr


class Work(NamedTuple):
    """An instruction at some lengths of axes: the shapes of its operands and of its result."""

    operands: Sequence[tuple[int, ...]]
    result: tuple[int, ...]
    params: tuple[Any, ...]


# How tightly texts bind: names and calls, products, sums, anything else.
ATOM, PRODUCT, SUM, LOOSE = 3, 2, 1, 0


class Inline(Enum):
    """Where the text of an instruction that is used once may stand instead of a name."""

    NOWHERE = 0
    IN_FORMULAS = 1
    ANYWHERE = 2


@dataclass(frozen=True, kw_only=True)
class Op:
    """What the compiler knows of an instruction.

    value, parameters : what it computes, from which static parameters
    shape : the shape of that, from those of the operands and the parameters
    flops : the arithmetic operations it takes; None if it touches no memory
    is_view : whether the result may share memory with the first operand
    is_whole : whether that has an entry for each of the operand
    owns : whether the result is an array of its own, worth being written over
    is_dear : whether it costs much more than an array to scale its result into
    in_place : whether an instruction of this kind can write over an operand
    body : what it does to an entry, in slots, if it works entry by entry
    is_code : whether its text is that of its body
    is_typed : whether it creates an array of a type that has to be named
    is_written : whether its first operand is written to later, and so needs a name
    binding : how tightly its text binds; None where the text shows it
    operands : how tightly those of its first operand and of the others must
    inline, is_formula : where its text may stand, and whether that of others may stand in it
    """

    value: str
    shape: Callable[..., Sequence[Expr]]
    parameters: tuple[str, ...] = ()
    flops: Callable[[Work], int] | None = None
    is_view: bool = False
    is_whole: bool = False
    owns: bool = False
    is_dear: bool = False
    in_place: Callable[[Instruction], bool] = lambda instruction: False
    body: Callable[[Instruction], Expr] | None = None
    is_code: bool = False
    is_typed: bool = False
    is_written: bool = False
    binding: int | None = None
    operands: tuple[int, int] = (ATOM, ATOM)
    inline: Inline = Inline.NOWHERE
    is_formula: bool = False


# --- shapes


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """The common shape of operands whose axes of length 1 stretch."""
    order = max(map(len, shapes))
    padded = [(S.One,) * (order - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(
        [
            next((length for length in lengths if length != 1), S.One)
            for lengths in zip(*padded, strict=True)
        ]
    )


def _no_axes(shapes: Sequence[Shape], *params: object) -> Shape:
    return ()


def _first(shapes: Sequence[Shape], *params: object) -> Shape:
    return shapes[0]


def _given(shapes: Sequence[Shape], shape: Shape) -> Shape:
    return shape


def _stretched(shapes: Sequence[Shape], *params: object) -> Shape:
    return broadcast_shape(shapes)


def _entrywise(shapes: Sequence[Shape], body: Expr) -> Shape:
    """What the operands that occur in a body stretch to."""
    used = [shapes[own.place] for own in body.free_symbols]
    return broadcast_shape(used) if used else ()


def _indexed(shapes: Sequence[Shape], entries: Sequence[str]) -> Sequence[Expr]:
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


def _cut(shapes: Sequence[Shape], axis: int, entry: Expr | Slice) -> Sequence[Expr]:
    kept = [entry.count] if isinstance(entry, Slice) else []
    return [*shapes[0][:axis], *kept, *shapes[0][axis + 1 :]]


def _labelled(shapes: Sequence[Shape], subscripts: str) -> Sequence[Expr]:
    inputs, output = subscripts.split("->")
    lengths: dict[str, Expr] = {}
    for term, shape in zip(inputs.split(","), shapes, strict=True):
        lengths.update(zip(term, shape, strict=True))
    return [lengths[letter] for letter in output]


def _without(shapes: Sequence[Shape], axes: Sequence[int] | None) -> Sequence[Expr]:
    return [n for k, n in enumerate(shapes[0]) if axes is not None and k not in axes]


def _kept(shapes: Sequence[Shape], axes: Sequence[int] | None) -> Sequence[Expr]:
    return [S.One if axes is None or k in axes else n for k, n in enumerate(shapes[0])]


def _stacked(shapes: Sequence[Shape]) -> Shape:
    a, b = shapes
    return (*broadcast_shape([a[:-2], b[:-2]]), a[-2], b[-1])


# --- arithmetic operations


def _largest(work: Work) -> int:
    return max(map(prod, work.operands), default=0)


def _twice_largest(work: Work) -> int:
    return 2 * _largest(work)


def _product(work: Work) -> int:
    return 2 * prod(work.result) * work.operands[0][-1]


def _each_but_one(work: Work) -> int:
    return prod(work.result) * (len(work.operands) - 1)


def _operations(work: Work) -> int:
    return prod(work.result) * sum(1 for part in preorder_traversal(work.params[0]) if part.args)


def _cubes(thirds: int) -> Callable[[Work], int]:
    return lambda work: thirds * work.operands[0][0] ** 3 // 3


def _solved(work: Work) -> int:
    return _cubes(2)(work) + 2 * work.operands[0][0] * prod(work.result)


def _cofactors(work: Work) -> int:
    n = work.operands[0][0]
    return 20 * n**3 + 2 * n * prod(work.result) + 4 * n**3 * (len(work.operands) - 1)


# --- what is done to an entry


def _coded(instruction: Instruction) -> Expr:
    return instruction.params[0]


def _slots(instruction: Instruction) -> list[Slot]:
    return [slot(k) for k in range(len(instruction.inputs))]


def _multiplied(instruction: Instruction) -> Expr:
    return Mul(*_slots(instruction))


def _added(instruction: Instruction) -> Expr:
    (signs,) = instruction.params
    return Add(*[sign * own for sign, own in zip(signs, _slots(instruction), strict=True)])


def _is_function(instruction: Instruction) -> bool:
    """A function of one operand, which is all there is to do."""
    (body,) = instruction.params
    root = body.is_Pow and body.exp in (2, S.Half)
    one = len(instruction.inputs) == 1 and bool(body.is_Function or root)
    return one and body.args[0].is_Symbol


def _is_sum_of_two(instruction: Instruction) -> bool:
    """A sum that is one operation: -a - b isn't."""
    (signs,) = instruction.params
    return len(signs) == 1 or (len(signs) == 2 and max(signs) > 0)


def _is_product_of_two(instruction: Instruction) -> bool:
    return len(instruction.inputs) == 2


OPS: Mapping[str, Op] = {
    "argument": Op(
        value="an argument of the program",
        parameters=("symbol",),
        shape=lambda shapes, symbol: getattr(symbol, "shape", ()),
    ),
    "constant": Op(
        value="an array of numbers",
        parameters=("node",),
        shape=lambda shapes, node: node.shape,
    ),
    "scalar": Op(
        value="a scalar expression in slots",
        parameters=("body",),
        shape=_no_axes,
        flops=_operations,
        body=_coded,
        is_code=True,
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "elementwise": Op(
        value="the same, entry by entry, with broadcasting",
        parameters=("body",),
        shape=_entrywise,
        flops=_operations,
        owns=True,
        in_place=_is_function,
        body=_coded,
        is_code=True,
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "transpose": Op(
        value="the axes in another order",
        parameters=("axes",),
        shape=lambda shapes, axes: [shapes[0][k] for k in axes],
        is_view=True,
        is_whole=True,
        inline=Inline.ANYWHERE,
    ),
    "index": Op(
        value="basic indexing by texts; new axes are None",
        parameters=("entries",),
        shape=_indexed,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "cut": Op(
        value="one position of an axis, or a slice: start, step, count",
        parameters=("axis", "entry"),
        shape=_cut,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "diagonal": Op(
        value="diagonals of repeated indices, as in iij->ij",
        parameters=("subscripts",),
        shape=_labelled,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "reshape": Op(
        value="the entries in C order under another shape",
        parameters=("shape",),
        shape=_given,
        is_view=True,
        is_whole=True,
        inline=Inline.ANYWHERE,
    ),
    "broadcast": Op(
        value="repeated along axes",
        parameters=("shape",),
        shape=_given,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "contiguous": Op(
        value="the entries in C order in memory, copied if they aren't",
        shape=_first,
        flops=_largest,
        is_view=True,
    ),
    "copy": Op(value="a copy", shape=_first, flops=_largest),
    "sum": Op(
        value="the sum over axes, over all for None",
        parameters=("axes",),
        shape=_without,
        flops=_largest,
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "prod": Op(value="the product of all entries", shape=_no_axes, flops=_largest),
    "multiply": Op(
        value="the broadcast product",
        shape=_stretched,
        flops=_each_but_one,
        owns=True,
        in_place=_is_product_of_two,
        body=_multiplied,
        binding=PRODUCT,
        operands=(PRODUCT, ATOM),
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "add": Op(
        value="the broadcast sum",
        parameters=("signs",),
        shape=_stretched,
        flops=_each_but_one,
        owns=True,
        in_place=_is_sum_of_two,
        body=_added,
        binding=SUM,
        operands=(SUM, PRODUCT),
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "add_transposed": Op(
        value="X + X'",
        shape=_first,
        flops=lambda work: prod(work.result),
        owns=True,
        binding=LOOSE,
    ),
    "dot": Op(
        value="the product of matrices and vectors",
        shape=lambda shapes: (*shapes[0][:-1], *shapes[1][1:]),
        flops=_product,
        owns=True,
        is_dear=True,
        operands=(ATOM, LOOSE),
        inline=Inline.IN_FORMULAS,
    ),
    "matmul": Op(
        value="the product of stacks of matrices",
        shape=_stacked,
        flops=_product,
        owns=True,
        is_dear=True,
    ),
    "weighted_gram": Op(
        value="X' diag(w) X of a matrix and w ≥ 0",
        shape=lambda shapes: (shapes[0][1], shapes[0][1]),
        flops=lambda work: prod(work.result) * prod(work.operands[1]),
        owns=True,
        is_dear=True,
    ),
    "vdot": Op(
        value="the full contraction of two operands of one shape",
        shape=_no_axes,
        flops=_twice_largest,
        inline=Inline.IN_FORMULAS,
    ),
    "einsum": Op(
        value="any other contraction of two operands",
        parameters=("subscripts",),
        shape=_labelled,
        flops=_twice_largest,
        owns=True,
    ),
    "full": Op(
        value="one scalar everywhere",
        parameters=("shape",),
        shape=_given,
        flops=_largest,
        is_typed=True,
    ),
    "zeros": Op(
        value="zeros to be written to, of the operands' type",
        parameters=("shape",),
        shape=_given,
        flops=_largest,
        is_typed=True,
    ),
    "writable": Op(
        value="the first operand, to be written to; as it is, if it is owned",
        parameters=("owned",),
        shape=_first,
        flops=_largest,
        is_typed=True,
        is_written=True,
        binding=LOOSE,
    ),
    "write_diagonal": Op(
        value="writes into the diagonals iij->ij of its first operand, or adds to them",
        parameters=("subscripts", "add"),
        shape=_first,
        flops=_largest,
        is_written=True,
    ),
    "unit": Op(
        value="a unit vector",
        parameters=("length", "position"),
        shape=lambda shapes, length, position: (length,),
        flops=_largest,
    ),
    "selection": Op(
        value="the matrix that selects a slice",
        parameters=("length", "start", "step", "count"),
        shape=lambda shapes, length, start, step, count: (count, length),
        flops=_largest,
    ),
    "inv": Op(
        value="the inverse of a matrix, which may be declared definite",
        parameters=("definite",),
        shape=_first,
        flops=_cubes(6),
        owns=True,
        is_dear=True,
    ),
    "solve": Op(
        value="inv(X) @ Y",
        parameters=("definite",),
        shape=lambda shapes, definite: shapes[1],
        flops=_solved,
        owns=True,
        is_dear=True,
    ),
    "det": Op(
        value="the determinant",
        parameters=("definite",),
        shape=_no_axes,
        flops=_cubes(2),
    ),
    "logdet": Op(
        value="log |det X|",
        parameters=("definite",),
        shape=_no_axes,
        flops=_cubes(2),
    ),
    "slogdet": Op(
        value="the sign of the determinant and log |det X|",
        shape=lambda shapes: (Integer(2),),
        flops=_cubes(2),
    ),
    "cofactors": Op(
        value="a derivative of det, of an order from 1 on; its last pairs of axes contracted with "
        "the other operands",
        parameters=("order",),
        shape=lambda shapes, order: tuple(shapes[0]) * (order + 1 - len(shapes)),
        flops=_cofactors,
    ),
    "peak": Op(
        value="the largest entries over axes or all, finite, the axes kept",
        parameters=("axes",),
        shape=_kept,
        flops=_largest,
    ),
    "logsumexp": Op(
        value="log Σ exp over axes or all",
        parameters=("axes",),
        shape=_without,
        flops=_largest,
    ),
    "softmax": Op(
        value="exp / Σ exp over axes or all",
        parameters=("axes",),
        shape=_first,
        flops=_largest,
        owns=True,
    ),
    "log_total": Op(
        value="log Σ over axes or all of weights, of which the largest are 1; the first operand "
        "holds their logarithms",
        parameters=("axes",),
        shape=_without,
        flops=_largest,
    ),
}


def reference() -> str:
    """The table of instructions as text.

    >>> print(reference().splitlines()[0])
    argument(symbol)                         an argument of the program
    """
    calls = {name: f"{name}({', '.join(op.parameters)})" for name, op in OPS.items()}
    return "\n".join(f"{call:40} {OPS[name].value}" for name, call in calls.items())


__doc__ += f"\n{reference()}\n"
