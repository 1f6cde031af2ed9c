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

from sympy import Expr, Integer

from .instruction_rules import (
    Instruction,
    Work,
    body_flops,
    cofactors_flops,
    cubes,
    cut,
    decomposition_flops,
    entrywise,
    flops_between,
    given_shape,
    indexed,
    is_function_of_one,
    is_product_of_two,
    is_sum_of_two,
    labelled,
    largest,
    longer_by_one,
    no_axes,
    of_stack,
    own_body,
    positions_shape,
    product_body,
    product_flops,
    recurring,
    scattered,
    shape_of_first,
    solve_flops,
    stacked,
    stretched,
    sum_body,
    taken,
    twice_largest,
    windowed,
    with_axes,
    with_length,
    without_axes,
)

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
        shape=no_axes,
        flops=body_flops,
        body=own_body,
        is_code=True,
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "elementwise": Op(
        value="the same, entry by entry, with broadcasting",
        parameters=("body",),
        shape=entrywise,
        flops=body_flops,
        owns=True,
        in_place=is_function_of_one,
        body=own_body,
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
        shape=indexed,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "cut": Op(
        value="positions and slices of axes; None for all of one",
        parameters=("cuts",),
        shape=cut,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "diagonal": Op(
        value="diagonals of repeated indices, as in iij->ij",
        parameters=("subscripts",),
        shape=labelled,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "windows": Op(
        value="an axis as several, of which the positions start + Σ step·i are on it",
        parameters=("axis", "start", "steps", "counts"),
        shape=windowed,
        is_view=True,
    ),
    "correlate": Op(
        value="Σ_k x_(i+k) w_k of vectors, where all of w is on x",
        shape=lambda shapes: (shapes[0][0] - shapes[1][0] + 1,),
        flops=lambda work: 2 * work.result[0] * prod(work.operands[1]),
        owns=True,
    ),
    "convolve": Op(
        value="Σ_k x_(j-k) w_k of vectors, where any of w is on x",
        shape=lambda shapes: (shapes[0][0] + shapes[1][0] - 1,),
        flops=lambda work: 2 * prod(work.operands[0]) * prod(work.operands[1]),
        owns=True,
    ),
    "reshape": Op(
        value="the entries in C order under another shape",
        parameters=("shape",),
        shape=given_shape,
        is_view=True,
        is_whole=True,
        inline=Inline.ANYWHERE,
    ),
    "broadcast": Op(
        value="repeated along axes",
        parameters=("shape",),
        shape=given_shape,
        is_view=True,
        inline=Inline.ANYWHERE,
    ),
    "contiguous": Op(
        value="the entries in C order in memory, copied if they aren't",
        shape=shape_of_first,
        flops=largest,
        is_view=True,
    ),
    "copy": Op(value="a copy", shape=shape_of_first, flops=largest),
    "sum": Op(
        value="the sum over axes, over all for None",
        parameters=("axes",),
        shape=without_axes,
        flops=largest,
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "cumsum": Op(
        value="the running sum along an axis, or that from its end",
        parameters=("axis", "backwards"),
        shape=shape_of_first,
        flops=largest,
        owns=True,
        inline=Inline.IN_FORMULAS,
    ),
    "lagged_cumsum": Op(
        value="the running sum so many positions later, or earlier, at so many positions",
        parameters=("axis", "backwards", "lag", "count"),
        shape=with_length,
        flops=largest,
        owns=True,
    ),
    "triangular": Op(
        value="the last two axes with zeros on the left of a diagonal, or on its right",
        parameters=("upper", "offset"),
        shape=shape_of_first,
        flops=largest,
        owns=True,
    ),
    "running_products": Op(
        value="1 and the running products along the last axis, or those from its end and 1",
        parameters=("backwards",),
        shape=longer_by_one,
        flops=largest,
        owns=True,
    ),
    "recurrence": Op(
        value="y_j = x_(j-1) y_(j-1) + b_j along the last axis, or y_j = x_j y_(j+1) + b_j",
        parameters=("backwards",),
        shape=recurring,
        flops=twice_largest,
        owns=True,
    ),
    "logcumsumexp": Op(
        value="log Σ exp of all entries up to each on the last axis",
        shape=shape_of_first,
        flops=largest,
        owns=True,
    ),
    "running_mean": Op(
        value="Σ_i S_ij c_i on the last axis with S_ij = exp(x_i - y_j) for i ≤ j, or Σ_j S_ij c_j",
        parameters=("backwards",),
        shape=recurring,
        flops=twice_largest,
        owns=True,
    ),
    "rows": Op(
        value="arrays of one shape, one after the other along a new first axis",
        shape=lambda shapes: (Integer(len(shapes)), *shapes[0]),
        flops=lambda work: prod(work.result),
    ),
    "prod": Op(value="the product of all entries", shape=no_axes, flops=largest),
    "multiply": Op(
        value="the broadcast product",
        shape=stretched,
        flops=flops_between,
        owns=True,
        in_place=is_product_of_two,
        body=product_body,
        binding=PRODUCT,
        operands=(PRODUCT, ATOM),
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "add": Op(
        value="the broadcast sum",
        parameters=("signs",),
        shape=stretched,
        flops=flops_between,
        owns=True,
        in_place=is_sum_of_two,
        body=sum_body,
        binding=SUM,
        operands=(SUM, PRODUCT),
        inline=Inline.IN_FORMULAS,
        is_formula=True,
    ),
    "add_transposed": Op(
        value="X + X'",
        shape=shape_of_first,
        flops=lambda work: prod(work.result),
        owns=True,
        binding=LOOSE,
    ),
    "dot": Op(
        value="the product of matrices and vectors",
        shape=lambda shapes: (*shapes[0][:-1], *shapes[1][1:]),
        flops=product_flops,
        owns=True,
        is_dear=True,
        operands=(ATOM, LOOSE),
        inline=Inline.IN_FORMULAS,
    ),
    "matmul": Op(
        value="the product of stacks of matrices",
        shape=stacked,
        flops=product_flops,
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
        shape=no_axes,
        flops=twice_largest,
        inline=Inline.IN_FORMULAS,
    ),
    "einsum": Op(
        value="any other contraction of two operands",
        parameters=("subscripts",),
        shape=labelled,
        flops=twice_largest,
        owns=True,
    ),
    "full": Op(
        value="one scalar everywhere",
        parameters=("shape",),
        shape=given_shape,
        flops=largest,
        is_typed=True,
    ),
    "zeros": Op(
        value="zeros to be written to, of the operands' type",
        parameters=("shape",),
        shape=given_shape,
        flops=largest,
        is_typed=True,
    ),
    "writable": Op(
        value="the first operand, to be written to; as it is, if it is owned",
        parameters=("owned",),
        shape=shape_of_first,
        flops=largest,
        is_typed=True,
        is_written=True,
        binding=LOOSE,
    ),
    "write": Op(
        value="writes into the diagonals iij->ij of its first operand, cut; for the signs 1 and -1 "
        "adds to them or subtracts from them",
        parameters=("cuts", "subscripts", "sign"),
        shape=shape_of_first,
        flops=lambda work: prod(work.operands[1]),
        is_written=True,
    ),
    "tri": Op(
        value="ones at and below a diagonal",
        parameters=("rows", "columns", "offset"),
        shape=lambda shapes, rows, columns, offset: (rows, columns),
        flops=largest,
    ),
    "inv": Op(
        value="the inverse of a matrix, which may be declared definite",
        parameters=("definite",),
        shape=shape_of_first,
        flops=cubes(6),
        owns=True,
        is_dear=True,
    ),
    "solve": Op(
        value="inv(X) @ Y",
        parameters=("definite",),
        shape=lambda shapes, definite: shapes[1],
        flops=solve_flops,
        owns=True,
        is_dear=True,
    ),
    "det": Op(
        value="the determinant",
        parameters=("definite",),
        shape=no_axes,
        flops=cubes(2),
    ),
    "logdet": Op(
        value="log |det X|",
        parameters=("definite",),
        shape=no_axes,
        flops=cubes(2),
    ),
    "slogdet": Op(
        value="the sign of the determinant and log |det X|",
        shape=lambda shapes: (Integer(2),),
        flops=cubes(2),
    ),
    "cofactors": Op(
        value="a derivative of det, of an order from 1 on; its last pairs of axes contracted with "
        "the other operands",
        parameters=("order",),
        shape=lambda shapes, order: tuple(shapes[0]) * (order + 1 - len(shapes)),
        flops=cofactors_flops,
    ),
    "stacked": Op(
        value="a function of each matrix of a stack, by its name; each has such axes in it",
        parameters=("name", "tail"),
        shape=of_stack,
        flops=decomposition_flops,
        owns=True,
        is_dear=True,
    ),
    "decomposed": Op(
        value="a decomposition of each matrix of a stack, by its name",
        parameters=("name",),
        shape=shape_of_first,
        flops=decomposition_flops,
    ),
    "part": Op(
        value="one of the arrays of a decomposition, with such axes for each matrix",
        parameters=("place", "tail"),
        shape=of_stack,
        flops=None,
        owns=True,
        is_dear=True,
        inline=Inline.ANYWHERE,
    ),
    "peak": Op(
        value="the largest entries over axes or all, finite, the axes kept",
        parameters=("axes",),
        shape=with_axes,
        flops=largest,
    ),
    "logsumexp": Op(
        value="log Σ exp over axes or all",
        parameters=("axes",),
        shape=without_axes,
        flops=largest,
    ),
    "softmax": Op(
        value="exp / Σ exp over axes or all",
        parameters=("axes",),
        shape=shape_of_first,
        flops=largest,
        owns=True,
    ),
    "extremum": Op(
        value="the largest or smallest entries over axes or all",
        parameters=("name", "axes"),
        shape=lambda shapes, name, axes: without_axes(shapes, axes),
        flops=largest,
        inline=Inline.IN_FORMULAS,
    ),
    "share": Op(
        value="where entries are equal to others, divided by how often they are over axes or all",
        parameters=("axes",),
        shape=shape_of_first,
        flops=largest,
        owns=True,
    ),
    "picked": Op(
        value="the entries along an axis in order, or the largest or smallest so far",
        parameters=("name", "axis"),
        shape=shape_of_first,
        flops=largest,
        owns=True,
    ),
    "positions": Op(
        value="positions along an axis: of the largest or smallest entries, or in order",
        parameters=("name", "axis"),
        shape=positions_shape,
        flops=largest,
        inline=Inline.IN_FORMULAS,
    ),
    "range": Op(
        value="the positions on an axis of some length",
        parameters=("length",),
        shape=lambda shapes, length: (length,),
        flops=largest,
        inline=Inline.ANYWHERE,
    ),
    "take": Op(
        value="the first operand at the positions that are the others, along so many axes from "
        "some axis on, in their place",
        parameters=("first",),
        shape=taken,
        flops=lambda work: prod(work.result),
        owns=True,
        inline=Inline.IN_FORMULAS,
    ),
    "scatter": Op(
        value="zeros on axes of some lengths, to which the first operand is added at the positions "
        "that are the others, and that may be known to occur once",
        parameters=("lengths", "once"),
        shape=scattered,
        flops=largest,
        owns=True,
    ),
    "one_hot": Op(
        value="ones at positions on a last axis",
        parameters=("length",),
        shape=lambda shapes, length: (*shapes[0], length),
        flops=largest,
    ),
    "log_total": Op(
        value="log Σ over axes or all of weights, of which the largest are 1; the first operand "
        "holds their logarithms, the third their sum",
        parameters=("axes",),
        shape=without_axes,
        flops=largest,
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
