"""Instructions: the primitives that a straight-line program over arrays is made of.

Knows neither expressions nor source text: an instruction is a name, the numbers of the instructions
it uses, static parameters, and the shape of what it computes, in lengths that may be symbols.

=================  ==========================  ===================================================
name               parameters                  value
=================  ==========================  ===================================================
argument           symbol                      an argument of the program
constant           constant node               an array of numbers
scalar             body                        a scalar expression in slots
elementwise        body                        the same, entry by entry, with broadcasting
transpose          axes                        the axes in another order, a view
index              texts                       basic indexing, a view; new axes are ``None``
cut                axis, entry or slice        one position or a slice of an axis, a view
diagonal           "iij->ij"                   diagonals of repeated indices, a view
reshape            shape                       the entries in C order under another shape
broadcast          shape                       repeated along axes, a view
copy                                           a copy
sum                axes or None for all        the sum over axes
prod                                           the product of all entries
multiply                                       the broadcast product
add                signs                       the broadcast sum
add_transposed                                 X + X'
dot                                            the product of matrices and vectors
matmul                                         the product of stacks of matrices
weighted_gram                                  X' diag(w) X of a matrix and w ≥ 0
vdot                                           the full contraction of two operands of one shape
einsum             subscripts                  any other contraction of two operands
full               shape                       one scalar everywhere
zeros              shape                       zeros; of the operands' type, to be written to
writable           owned                       the first operand, to be written to
write_diagonal     "iij->ij", add              writes into its first operand, or adds to it
unit               length, position            a unit vector
selection          length, start, step, count  the matrix that selects a slice
inv, det, logdet   definite                    matrix functions; ``definite`` if that is declared
slogdet                                        the sign of the determinant and its logarithm
cofactors          order                       a derivative of det, of some order from 1 on; its
                                               last pairs of axes contracted with the other
                                               operands
solve              definite                    inv(X) @ Y
peak               axes or None for all        the largest entries, finite, their axes kept
logsumexp          axes or None for all        log Σ exp
softmax            axes or None for all        exp / Σ exp
log_total          axes or None for all        log Σ of weights, of which the largest are 1; the
                                               first operand holds their logarithms
=================  ==========================  ===================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from sympy import Integer, S, preorder_traversal

from ..core import Contraction, Shape, TensorError, same_length

# Instructions whose result may share memory with their operand.
VIEWS = {"transpose", "index", "cut", "diagonal", "reshape", "broadcast"}


class Instruction(NamedTuple):
    """One primitive: name, numbers of the instructions it uses, static parameters, shape."""

    op: str
    inputs: tuple[int, ...]
    params: tuple[Any, ...] = ()
    shape: Shape = ()


class Plan(NamedTuple):
    """A program: instructions in order, the numbers of those that are the results, and the
    contractions whose order was chosen."""

    instructions: list[Instruction]
    results: list[int]
    contractions: Sequence[Contraction] = ()


def origin(instructions: Sequence[Instruction], number: int, views: set[str] = VIEWS) -> int:
    """The instruction whose memory a value may share."""
    while instructions[number].op in views:
        number = instructions[number].inputs[0]
    return number


def without_dead_code(instructions: Sequence[Instruction], results: Sequence[int]) -> Plan:
    """The instructions that the results depend on, renumbered; a write counts as part of the
    array it writes to."""
    live = set(results)
    for number in range(len(instructions) - 1, -1, -1):
        instruction = instructions[number]
        if number in live or (instruction.op == "write_diagonal" and instruction.inputs[0] in live):
            live.add(number)
            live.update(instruction.inputs)
    order = sorted(live)
    place = {old: new for new, old in enumerate(order)}

    def renumber(instruction: Instruction) -> Instruction:
        return instruction._replace(inputs=tuple([place[k] for k in instruction.inputs]))

    return Plan([renumber(instructions[k]) for k in order], [place[k] for k in results])


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


def result_shape(op: str, shapes: Sequence[Shape], params: tuple[Any, ...]) -> Shape:
    """The shape of what an instruction computes from operands of some shapes."""
    rule = _SHAPES.get(op)
    if rule is not None:
        return tuple(rule(shapes, *params))
    if op in _SCALAR:
        return ()
    return broadcast_shape(shapes)


def proven(plan: Plan, shapes: Sequence[Shape]) -> Plan:
    """The plan, after it is found that every instruction gives the shape that it is known by, and
    the results those of the expressions.

    Raises
    ======

    TensorError : a pass of the compiler has lost axes
    """
    instructions = plan.instructions
    for number, (op, inputs, params, shape) in enumerate(instructions):
        given = result_shape(op, [instructions[k].shape for k in inputs], params)
        _same_shape(f"instruction {number}, {op},", given, shape)
    for place, (number, shape) in enumerate(zip(plan.results, shapes, strict=True)):
        _same_shape(f"result {place}", instructions[number].shape, shape)
    return plan


def _same_shape(what: str, given: Shape, expected: Shape) -> None:
    if len(given) != len(expected) or not all(map(same_length, given, expected)):
        raise TensorError(
            f"{what} of the compiled program has shape {tuple(given)}, where the expression has "
            f"{tuple(expected)}: an error of the compiler; optimize=False may avoid it"
        )


def _entrywise(shapes: Sequence[Shape], body: Any) -> Shape:
    """What the operands that occur in a body stretch to."""
    used = [shapes[slot.place] for slot in body.free_symbols]
    return broadcast_shape(used) if used else ()


def _indexed(shapes: Sequence[Shape], entries: Sequence[str]) -> list[Any]:
    shape, result, axis = shapes[0], [], 0
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


def _cut(shapes: Sequence[Shape], place: int, entry: Any) -> list[Any]:
    kept = [Integer(entry[2])] if isinstance(entry, tuple) and isinstance(entry[2], int) else []
    if isinstance(entry, tuple) and not kept:
        kept = [entry[2]]
    shape = list(shapes[0])
    return shape[:place] + kept + shape[place + 1 :]


def _labelled(shapes: Sequence[Shape], subscripts: str) -> list[Any]:
    inputs, output = subscripts.split("->")
    lengths: dict[str, Any] = {}
    for term, shape in zip(inputs.split(","), shapes, strict=True):
        lengths.update(zip(term, shape, strict=True))
    return [lengths[letter] for letter in output]


def _without(shapes: Sequence[Shape], axes: Sequence[int] | None) -> list[Any]:
    return [n for k, n in enumerate(shapes[0]) if axes is not None and k not in axes]


def _stacked(shapes: Sequence[Shape]) -> Shape:
    a, b = shapes
    return (*broadcast_shape([a[:-2], b[:-2]]), a[-2], b[-1])


_SCALAR = {"scalar", "vdot", "prod", "det", "logdet"}
_SHAPES: dict[str, Callable[..., Sequence[Any]]] = {
    "elementwise": _entrywise,
    "argument": lambda shapes, symbol: getattr(symbol, "shape", ()),
    "constant": lambda shapes, node: node.shape,
    "transpose": lambda shapes, axes: [shapes[0][k] for k in axes],
    "index": _indexed,
    "cut": _cut,
    "diagonal": _labelled,
    "einsum": _labelled,
    "reshape": lambda shapes, shape: shape,
    "broadcast": lambda shapes, shape: shape,
    "full": lambda shapes, shape: shape,
    "zeros": lambda shapes, shape: shape,
    "sum": _without,
    "logsumexp": _without,
    "log_total": _without,
    "peak": lambda shapes, axes: [
        S.One if axes is None or k in axes else n for k, n in enumerate(shapes[0])
    ],
    "softmax": lambda shapes, axes: shapes[0],
    "dot": lambda shapes: (*shapes[0][:-1], *shapes[1][1:]),
    "matmul": _stacked,
    "weighted_gram": lambda shapes: (shapes[0][1], shapes[0][1]),
    "solve": lambda shapes, definite: shapes[1],
    "writable": lambda shapes, owned: shapes[0],
    "write_diagonal": lambda shapes, subscripts, add: shapes[0],
    "unit": lambda shapes, length, position: (length,),
    "selection": lambda shapes, length, start, step, count: (count, length),
    "inv": lambda shapes, definite: shapes[0],
    "slogdet": lambda shapes: (Integer(2),),
    "cofactors": lambda shapes, order: tuple(shapes[0]) * (order + 1 - len(shapes)),
}


class Cost(NamedTuple):
    """Arithmetic operations, and bytes of memory read and written in double precision."""

    flops: int
    bytes: int


def plan_cost(plan: Plan, lengths: Mapping[Any, int]) -> Cost:
    """What running a program costs at some axis lengths, given by symbol or by name."""
    values = {str(symbol): Integer(n) for symbol, n in lengths.items()}

    def entries(shape: Shape) -> int:
        return prod([int(_length_value(length, values)) for length in shape])

    flops = memory = 0
    for op, inputs, params, shape in plan.instructions:
        if op in VIEWS or op in ("argument", "constant"):
            continue
        operands = [entries(plan.instructions[k].shape) for k in inputs]
        memory += 8 * (sum(operands) + entries(shape))
        if op in ("dot", "matmul"):
            left = plan.instructions[inputs[0]].shape
            flops += 2 * entries(shape) * entries(left[-1:])
        elif op == "weighted_gram":
            flops += entries(shape) * operands[1]
        elif op in _FACTORED:
            n = entries(plan.instructions[inputs[0]].shape[:1])
            flops += _FACTORED[op] * n**3 // 3
            flops += 2 * n * entries(shape) if op in ("solve", "cofactors") else 0
            flops += 4 * n**3 * (len(inputs) - 1) if op == "cofactors" else 0
        elif op in ("elementwise", "scalar"):
            flops += entries(shape) * sum(1 for part in preorder_traversal(params[0]) if part.args)
        elif op == "add_transposed":
            flops += entries(shape)
        elif op in ("multiply", "add"):
            flops += entries(shape) * (len(inputs) - 1)
        else:
            flops += max(operands, default=0) * (2 if op in ("einsum", "vdot") else 1)
    return Cost(flops, memory)


# Thirds of a cube.
_FACTORED = {"inv": 6, "cofactors": 60, "det": 2, "logdet": 2, "slogdet": 2, "solve": 2}


def _length_value(length: Any, values: Mapping[str, Any]) -> Any:
    found = length.xreplace({s: values[s.name] for s in length.free_symbols if s.name in values})
    if not found.is_Integer:
        missing = ", ".join(sorted(map(str, found.free_symbols)))
        raise TensorError(f"the cost depends on the length {missing}, which isn't given")
    return found
