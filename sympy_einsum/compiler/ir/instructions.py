"""Instructions: the primitives that a straight-line program over arrays is made of.

Knows neither source text nor how expressions become programs: an instruction is a name, the numbers
of the instructions it uses, static parameters, and the shape of what it computes, in lengths that
may be symbols. ``OPS`` has one row for everything that the compiler knows of each; what it costs,
whether it may be written over, how its text binds are read from there. A new one needs a row here
and a method of its name in the backends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from functools import partial
from math import prod

from sympy import Expr, Integer

from .instruction_rules import (
    Instruction,
    Work,
    body_flops,
    cofactors_flops,
    cubes,
    decomposition_flops,
    entrywise,
    factoring_flops,
    factors_flops,
    flops_between,
    given_shape,
    indexed,
    is_one_function,
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
    scattered_together,
    shape_of_first,
    sliced_shape,
    solve_flops,
    stacked,
    stretched,
    sum_body,
    taken,
    transform_flops,
    twice_largest,
    windowed,
    with_axes,
    with_length,
    without_axes,
)


class Inline(Enum):
    """The places in which an instruction that is used once may be inlined."""

    NOWHERE = 0
    IN_FORMULAS = 1
    ANYWHERE = 2


@dataclass(frozen=True)
class Op:
    """The properties of an instruction.

    value : what it computes
    shape : the shape of that, from those of the operands and the parameters
    parameters : the names of its static ones
    flops : the arithmetic operations it takes; None if it touches no memory
    is_view : whether the result may share memory with the first operand
    is_whole : whether that has an entry for each of the operand
    owns : whether the result is an array of its own, worth being written over
    is_superlinear : whether it takes much longer than to write its result
    in_place : whether an instruction of this kind can write over an operand
    body : what it does to an entry, in slots, if it works entry by entry
    is_code : whether its text is that of its body
    keeps_type : whether the entries have the common type of the operands
    is_typed : whether it creates an array of a type that has to be named
    is_written : whether its first operand is written to later, and so needs a name
    inline, is_formula : where its text may stand, and whether that of others may stand in it
    """

    value: str
    shape: Callable[..., Sequence[Expr]]
    parameters: tuple[str, ...] = ()
    _: KW_ONLY
    flops: Callable[[Work], int] | None = None
    is_view: bool = False
    is_whole: bool = False
    owns: bool = False
    is_superlinear: bool = False
    in_place: Callable[[Instruction], bool] = lambda instruction: False
    body: Callable[[Instruction], Expr] | None = None
    is_code: bool = False
    keeps_type: bool = False
    is_typed: bool = False
    is_written: bool = False
    inline: Inline = Inline.NOWHERE
    is_formula: bool = False


# The kinds that most of them are of: what is there already, otherwise arranged; what goes over all
# entries once; that into an array of its own; what takes longer; what formulas are made of.
view = partial(Op, is_view=True, inline=Inline.ANYWHERE)
plain = partial(Op, flops=largest)
own = partial(Op, flops=largest, owns=True)
superlinear = partial(Op, owns=True, is_superlinear=True)
formula = partial(Op, inline=Inline.IN_FORMULAS, is_formula=True)

OPS: Mapping[str, Op] = {
    "argument": Op(
        "an argument of the program",
        lambda shapes, symbol: getattr(symbol, "shape", ()),
        ("symbol",),
    ),
    "constant": Op("an array of numbers", lambda shapes, node: node.shape, ("node",)),
    "scalar": formula(
        "a scalar expression in slots",
        no_axes,
        ("body",),
        flops=body_flops,
        body=own_body,
        is_code=True,
    ),
    "elementwise": formula(
        "the same, entry by entry, with broadcasting",
        entrywise,
        ("body",),
        flops=body_flops,
        owns=True,
        in_place=is_one_function,
        body=own_body,
        is_code=True,
    ),
    "transpose": view(
        "the axes in another order",
        lambda shapes, axes: [shapes[0][k] for k in axes],
        ("axes",),
        is_whole=True,
    ),
    "index": view("basic indexing by texts; new axes are None", indexed, ("entries",)),
    "slice": view("positions and slices of axes; None for all of one", sliced_shape, ("slices",)),
    "diagonal": view("diagonals of repeated indices, as in iij->ij", labelled, ("subscripts",)),
    "windows": Op(
        "an axis as several, of which the positions start + Σ step·i are on it",
        windowed,
        ("axis", "start", "steps", "counts"),
        is_view=True,
    ),
    "correlate": own(
        "Σ_k x_(i+k) w_k of vectors, where all of w is on x",
        lambda shapes: (shapes[0][0] - shapes[1][0] + 1,),
        flops=lambda work: 2 * work.result[0] * prod(work.operands[1]),
    ),
    "convolve": own(
        "Σ_k x_(j-k) w_k of vectors, where any of w is on x",
        lambda shapes: (shapes[0][0] + shapes[1][0] - 1,),
        flops=lambda work: 2 * prod(work.operands[0]) * prod(work.operands[1]),
    ),
    "reshape": view(
        "the entries in C order under another shape", given_shape, ("shape",), is_whole=True
    ),
    "broadcast": view("repeated along axes", given_shape, ("shape",)),
    "contiguous": plain(
        "the entries in C order in memory, copied if they aren't", shape_of_first, is_view=True
    ),
    "copy": plain("a copy", shape_of_first),
    "sum": formula("the sum over axes, over all for None", without_axes, ("axes",), flops=largest),
    "cumsum": own(
        "the running sum along an axis, or that from its end",
        shape_of_first,
        ("axis", "backwards"),
        inline=Inline.IN_FORMULAS,
    ),
    "lagged_cumsum": own(
        "the running sum shifted by ``lag`` positions, later or earlier, at ``count`` positions",
        with_length,
        ("axis", "backwards", "lag", "count"),
    ),
    "triangular": own(
        "the last two axes with zeros on the left of a diagonal, or on its right",
        shape_of_first,
        ("upper", "offset"),
    ),
    "mirrored": own(
        "the last axis as two, x at the larger of the two positions, or at the smaller",
        lambda shapes, larger: (*shapes[0], shapes[0][-1]),
        ("larger",),
        flops=lambda work: prod(work.result),
    ),
    "running_products": own(
        "1 and the running products along the last axis, or those from its end and 1",
        longer_by_one,
        ("backwards",),
    ),
    "cumprod": own("the running products along the last axis", shape_of_first),
    "recurrence": own(
        "y_j = x_(j-1) y_(j-1) + b_j along the last axis, or y_j = x_j y_(j+1) + b_j",
        recurring,
        ("backwards",),
        flops=twice_largest,
    ),
    "running_weights": plain(
        "what running log-sum-exps and softmaxes along the last axis are computed from",
        shape_of_first,
    ),
    "logcumsumexp": plain(
        "log Σ exp of all entries up to each on the last axis, from running weights", shape_of_first
    ),
    "running_mean": own(
        "Σ_i S_ij c_i or Σ_j S_ij c_j on the last axis; the running softmax S from weights",
        recurring,
        ("backwards",),
        flops=twice_largest,
    ),
    "spectrum": superlinear(
        "Σ_j x_j exp(-2πijk/n) along the last axis, real and imaginary parts along a new one; "
        "weighted, frequencies stand for their conjugates too",
        lambda shapes, length, count, weighted: (*shapes[0][:-1], count, Integer(2)),
        ("length", "count", "weighted"),
        flops=transform_flops,
    ),
    "from_spectrum": superlinear(
        "the real part of Σ_k (x + iy)_k exp(2πijk/n) along the last axis",
        lambda shapes, length, count, weighted: (*shapes[0][:-1], count),
        ("length", "count", "weighted"),
        flops=transform_flops,
    ),
    "rows": Op(
        "arrays of one shape, one after the other along a new first axis",
        lambda shapes: (Integer(len(shapes)), *shapes[0]),
        flops=lambda work: prod(work.result),
    ),
    "prod": plain("the product of all entries", no_axes),
    "multiply": formula(
        "the broadcast product",
        stretched,
        flops=flops_between,
        owns=True,
        keeps_type=True,
        in_place=is_product_of_two,
        body=product_body,
    ),
    "add": formula(
        "the broadcast sum",
        stretched,
        ("signs",),
        flops=flops_between,
        owns=True,
        keeps_type=True,
        in_place=is_sum_of_two,
        body=sum_body,
    ),
    "add_transposed": own("X + X'", shape_of_first, flops=lambda work: prod(work.result)),
    "dot": superlinear(
        "the product of matrices and vectors",
        lambda shapes: (*shapes[0][:-1], *shapes[1][1:]),
        flops=product_flops,
        keeps_type=True,
        inline=Inline.IN_FORMULAS,
    ),
    "matmul": superlinear(
        "the product of stacks of matrices", stacked, flops=product_flops, keeps_type=True
    ),
    "weighted_gram": superlinear(
        "X' diag(w) X of a matrix and w ≥ 0",
        lambda shapes: (shapes[0][1], shapes[0][1]),
        flops=lambda work: prod(work.result) * prod(work.operands[1]),
    ),
    "vdot": Op(
        "the full contraction of two operands of one shape",
        no_axes,
        flops=twice_largest,
        keeps_type=True,
        inline=Inline.IN_FORMULAS,
    ),
    "einsum": own(
        "any other contraction of two operands",
        labelled,
        ("subscripts",),
        flops=twice_largest,
        keeps_type=True,
    ),
    "full": plain("one scalar everywhere", given_shape, ("shape",), is_typed=True),
    "zeros": plain(
        "zeros to be written to, of the operands' type", given_shape, ("shape",), is_typed=True
    ),
    "writable": plain(
        "the first operand, to be written to; as it is, if it is owned",
        shape_of_first,
        ("owned",),
        in_place=lambda instruction: True,
        owns=True,
        is_typed=True,
        is_written=True,
    ),
    "write": Op(
        "writes into the diagonals iij->ij of a slice of its first operand; for the signs 1 and -1 "
        "adds to them or subtracts from them",
        shape_of_first,
        ("slices", "subscripts", "sign"),
        flops=lambda work: prod(work.operands[1]),
        is_written=True,
    ),
    "tri": plain(
        "ones at and below a diagonal",
        lambda shapes, rows, columns, offset: (rows, columns),
        ("rows", "columns", "offset"),
    ),
    "inv": superlinear(
        "the inverse of a matrix, which may be declared definite",
        shape_of_first,
        ("definite",),
        flops=cubes(6),
    ),
    "solve": superlinear(
        "inv(X) @ Y", lambda shapes, definite: shapes[1], ("definite",), flops=solve_flops
    ),
    "det": Op("the determinant", no_axes, ("definite",), flops=cubes(2)),
    "logdet": Op("log |det X|", no_axes, ("definite",), flops=cubes(2)),
    "slogdet": Op(
        "the sign of the determinant and log |det X|",
        lambda shapes, definite: (Integer(2),),
        ("definite",),
        flops=cubes(2),
    ),
    "factored": Op(
        "factors of a matrix, for all that needs some: Cholesky's, if it is definite, or LU's; or "
        "those of a sparse one",
        shape_of_first,
        ("definite",),
        flops=factoring_flops,
    ),
    "sparse_matrix": Op(
        "the matrix of some entries, at positions that follow them, and zeros",
        lambda shapes, matrix: matrix.shape,
        ("matrix",),
    ),
    "solved": superlinear(
        "inv(X) @ Y, or inv(X)' @ Y, of a matrix that is factored",
        lambda shapes, definite, transposed: shapes[1],
        ("definite", "transposed"),
        flops=lambda work: 2 * work.operands[0][0] * prod(work.result),
    ),
    "by_factors": superlinear(
        "the inverse or determinant of a matrix that is factored, by its name",
        lambda shapes, name, definite, shape: shape,
        ("name", "definite", "shape"),
        flops=factors_flops,
    ),
    "cofactors": Op(
        "a derivative of det, of an order from 1 on; its last pairs of axes contracted with "
        "the other operands",
        lambda shapes, order: tuple(shapes[0]) * (order + 1 - len(shapes)),
        ("order",),
        flops=cofactors_flops,
    ),
    "stacked": superlinear(
        "a function of each matrix of a stack, by its name; each has such axes in it",
        of_stack,
        ("name", "tail"),
        flops=decomposition_flops,
    ),
    "matrix_power": superlinear(
        "a power of each matrix of a stack, or its derivative in the directions that follow",
        shape_of_first,
        ("exponent",),
        flops=decomposition_flops,
    ),
    "decomposed": Op(
        "a decomposition of each matrix of a stack, by its name",
        shape_of_first,
        ("name",),
        flops=decomposition_flops,
    ),
    "part": superlinear(
        "one of the arrays of a decomposition, with such axes for each matrix",
        of_stack,
        ("place", "tail"),
        flops=None,
        inline=Inline.ANYWHERE,
    ),
    "max_shift": plain(
        "the largest entries over axes or all, finite, the axes kept", with_axes, ("axes",)
    ),
    "logsumexp": plain("log Σ exp over axes or all", without_axes, ("axes",)),
    "softmax": own("exp / Σ exp over axes or all", shape_of_first, ("axes",)),
    "extremum": plain(
        "the largest or smallest entries over axes or all",
        lambda shapes, name, axes: without_axes(shapes, axes),
        ("name", "axes"),
        inline=Inline.IN_FORMULAS,
    ),
    "share": own(
        "where entries are equal to others, divided by how often they are over axes or all",
        shape_of_first,
        ("axes",),
    ),
    "picked": own(
        "the entries along an axis in order, or the largest or smallest so far",
        shape_of_first,
        ("name", "axis"),
    ),
    "positions": plain(
        "positions along an axis: of the largest or smallest entries, or in order",
        positions_shape,
        ("name", "axis"),
        inline=Inline.IN_FORMULAS,
    ),
    "range": plain(
        "the positions on an axis of some length",
        lambda shapes, length: (length,),
        ("length",),
        inline=Inline.ANYWHERE,
    ),
    "take": own(
        "the first operand at the positions that are the others, along consecutive axes from "
        "some axis on, in their place",
        taken,
        ("first",),
        flops=lambda work: prod(work.result),
        inline=Inline.IN_FORMULAS,
    ),
    "scatter": own(
        "zeros on axes of some lengths, to which the first operand is added at the positions "
        "that are the others, and that may be known to occur once",
        scattered,
        ("lengths", "once"),
    ),
    "scatters": own(
        "zeros on axes of some lengths, to which several operands are added, each at the "
        "positions that follow it",
        scattered_together,
        ("lengths",),
    ),
    "one_hot": plain(
        "ones at positions on a last axis", lambda shapes, length: (*shapes[0], length), ("length",)
    ),
    "loop": Op(
        "the results of a loop, whose operands are first carries, inputs and invariants",
        no_axes,
        ("body",),
    ),
    "solution": Op(
        "the solution of an equation by Newton's method, whose operands are a start and invariants",
        shape_of_first,
        ("body",),
    ),
    "result": Op("one of these", lambda shapes, place, shape: shape, ("place", "shape")),
    "log_total": plain(
        "log Σ over axes or all of weights, of which the largest are 1; the second operand "
        "is their sum",
        without_axes,
        ("axes",),
    ),
}

# The helper functions for the instruction ``by_factors``, by what it computes.
BY_FACTORS = {
    "inv": "inverted",
    "trace of inv": "trace_of_inverse",
    "det": "determinant",
    "logdet": "log_determinant",
    "slogdet": "signed_log_determinant",
}


def reference() -> str:
    """Return the table of instructions as text.

    >>> print(reference().splitlines()[0])
    argument(symbol)                         an argument of the program
    """
    calls = {name: f"{name}({', '.join(op.parameters)})" for name, op in OPS.items()}
    return "\n".join(f"{call:40} {OPS[name].value}" for name, call in calls.items())


__doc__ += f"\n{reference()}\n"
