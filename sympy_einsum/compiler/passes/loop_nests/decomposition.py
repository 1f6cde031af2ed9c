"""Decomposition of functions of axes and contractions into instructions that become loops:
entrywise functions, sums, products and extrema.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sympy import Integer, KroneckerDelta, exp, log, sqrt

from ....core import index_letter
from ....expressions import slot
from ...ir.instruction_rules import broadcast_shape
from ...ir.plans import Plan, Rewriting, result_shape

Axes: TypeAlias = Sequence[int] | None
Inputs: TypeAlias = tuple[int, ...]


def decomposed(plan: Plan) -> Plan:
    """Decompose instructions that can be loop nests into simpler ones."""
    new = _Decomposition()
    for step in plan.instructions:
        inputs = new.inputs(step)
        rule = RULES.get(step.op)
        found = rule(new, inputs, *step.params) if rule is not None else None
        if found is None:
            found = new.emit(step.op, *inputs, params=step.params)
        new.place.append(found)
    return new.plan(plan.results)


class _Decomposition(Rewriting):
    def order(self, number: int) -> int:
        """Count how many axes a value has."""
        return len(self.instructions[number].shape)

    def kept(self, total: int, axes: Axes, order: int) -> int:
        """Put the axes of a reduction back as axes of length 1."""
        if not order:
            return total
        entries = tuple("None" if axes is None or k in axes else ":" for k in range(order))
        return self.emit("index", total, params=(entries,))

    def sum(self, value: int, axes: Axes) -> int:
        """Return the sum over axes, which stay with the length 1."""
        total = self.emit("sum", value, params=(axes,))
        return self.kept(total, axes, self.order(value))


def _letters(order: int) -> str:
    return "".join(map(index_letter, range(order)))


def _vdot(new: _Decomposition, inputs: Inputs) -> int:
    letters = _letters(new.order(inputs[0]))
    return new.emit("einsum", *inputs, params=(f"{letters},{letters}->",))


def _dot(new: _Decomposition, inputs: Inputs) -> int | None:
    """Decompose a product of vectors; a product of transposes is the transpose of one."""
    if all(new.order(k) == 1 for k in inputs):
        return _vdot(new, inputs)
    steps = [new.instructions[k] for k in inputs]
    if all(step.op == "transpose" and len(step.shape) == 2 for step in steps):
        product = new.emit("dot", steps[1].inputs[0], steps[0].inputs[0])
        return new.emit("transpose", product, params=((1, 0),))
    return None


def _weighted_gram(new: _Decomposition, inputs: Inputs) -> int:
    matrix, weights = inputs
    roots = new.emit("index", new.apply(sqrt(slot(0)), weights), params=((":", "None"),))
    rows = new.emit("multiply", roots, matrix)
    return new.emit("dot", new.emit("transpose", rows, params=((1, 0),)), rows)


def _add_transposed(new: _Decomposition, inputs: Inputs) -> int:
    transposed = new.emit("transpose", *inputs, params=((1, 0),))
    return new.emit("add", *inputs, transposed, params=((1, 1),))


def _max_shift(new: _Decomposition, inputs: Inputs, axes: Axes) -> int:
    top = new.emit("extremum", *inputs, params=("max_shift", axes))
    return new.kept(top, axes, new.order(inputs[0]))


def _weights(new: _Decomposition, inputs: Inputs, axes: Axes) -> tuple[int, int]:
    """Emit exp(x - max_shift) and the max_shift."""
    max_shift = _max_shift(new, inputs, axes)
    return new.apply(exp(slot(0) - slot(1)), *inputs, max_shift), max_shift


def _softmax(new: _Decomposition, inputs: Inputs, axes: Axes) -> int:
    weights, _ = _weights(new, inputs, axes)
    return new.apply(slot(0) / slot(1), weights, new.sum(weights, axes))


def _logsumexp(new: _Decomposition, inputs: Inputs, axes: Axes) -> int:
    weights, max_shift = _weights(new, inputs, axes)
    total = new.emit("sum", weights, params=(axes,))
    order = new.order(inputs[0])
    entries = tuple("0" if axes is None or k in axes else ":" for k in range(order))
    top = new.emit("index", max_shift, params=(entries,)) if order else max_shift
    return new.apply(log(slot(0)) + slot(1), total, top)


def _log_total(new: _Decomposition, inputs: Inputs, axes: Axes) -> int:
    """Emit log(1 + rest) with the rest of the weights beside one of the largest."""
    weights, _ = inputs
    is_top = KroneckerDelta(slot(0), 1)
    tops = new.apply(slot(0) * is_top, weights)
    others = new.apply(slot(0) * (1 - is_top), weights)
    rest, top = [new.emit("sum", part, params=(axes,)) for part in (others, tops)]
    more = new.apply(slot(0) + slot(1), rest, new.apply(slot(0) - 1, top))
    return new.apply(log(1 + slot(0)), more)


def _share(new: _Decomposition, inputs: Inputs, axes: Axes) -> int:
    hits = new.apply(KroneckerDelta(slot(0), slot(1)), *inputs)
    return new.apply(slot(0) / slot(1), hits, new.sum(hits, axes))


def _rows(new: _Decomposition, inputs: Inputs) -> int:
    shape = (Integer(len(inputs)), *new.instructions[inputs[0]].shape)
    target = new.emit("zeros", *inputs, params=(shape,))
    letters = _letters(len(shape) - 1)
    for place, row in enumerate(inputs):
        slices = (Integer(place), *[None] * (len(shape) - 1))
        new.emit("write", target, row, params=(slices, f"{letters}->{letters}", 0))
    return target


def _matmul(new: _Decomposition, inputs: Inputs) -> int | None:
    """Decompose a product of stacks of one shape, or of one matrix with all of a stack."""
    shapes = [new.instructions[k].shape for k in inputs]
    batch = broadcast_shape([own[:-2] for own in shapes])
    stacks = [
        k
        if own[:-2] == batch or all(n == 1 for n in own[:-2])
        else new.emit("broadcast", k, params=((*batch, *own[-2:]),))
        for k, own in zip(inputs, shapes, strict=True)
    ]
    return new.emit("matmul", *stacks)


def _stretched(new: _Decomposition, inputs: Inputs, backwards: bool) -> int | None:
    """Broadcast the stacks of a recurrence, or of what is computed as one, to one shape."""
    first, second = inputs
    step = new.instructions[first]
    is_mean = step.op == "running_weights"
    shapes = [new.instructions[k].shape for k in inputs]
    ahead = broadcast_shape([shape[:-1] for shape in shapes])
    if shapes[0][:-1] != ahead and not all(n == 1 for n in shapes[0][:-1]):
        (source,) = step.inputs if is_mean else (first,)
        first = new.emit("broadcast", source, params=((*ahead, shapes[0][-1]),))
        first = new.emit("running_weights", first) if is_mean else first
    if shapes[1][:-1] != ahead and not all(n == 1 for n in shapes[1][:-1]):
        second = new.emit("broadcast", second, params=((*ahead, shapes[1][-1]),))
    name = "running_mean" if is_mean else "recurrence"
    return new.emit(name, first, second, params=(backwards,))


def _function(name: str) -> Callable[..., int]:
    """Return the lowering of a function of one matrix to a function of its factors."""

    def by_factors(new: _Decomposition, inputs: Inputs, definite: bool | None) -> int:
        step = new.instructions[inputs[0]]
        shape = result_shape(name, [step.shape], (definite,))
        factors = new.emit("factored", *inputs, params=(definite,))
        return new.emit("by_factors", factors, params=(name, definite, shape))

    return by_factors


def _solve(new: _Decomposition, inputs: Inputs, definite: bool | None) -> int:
    matrix, right = inputs
    step = new.instructions[matrix]
    transposed = step.op == "transpose"
    factors = new.emit("factored", step.inputs[0] if transposed else matrix, params=(definite,))
    return new.emit("solved", factors, right, params=(definite, transposed and definite is False))


def _of_stacks(op: str) -> Callable[..., int]:
    """Decompose a function of several stacks, all as long as the first."""

    def of_stacks(new: _Decomposition, inputs: Inputs, *params: object) -> int:
        batch = new.instructions[inputs[0]].shape[:-2]
        shapes = [(*batch, *new.instructions[k].shape[-2:]) for k in inputs]
        found = [
            new.emit("broadcast", k, params=(shape,))
            for k, shape in zip(inputs, shapes, strict=True)
        ]
        return new.emit(op, *found, params=params)

    return of_stacks


# Each gives the number of the value, or None where it stays what it is.
RULES: dict[str, Callable[..., int | None]] = {
    "vdot": _vdot,
    "dot": _dot,
    "matmul": _matmul,
    **dict.fromkeys(["recurrence", "running_mean"], _stretched),
    "weighted_gram": _weighted_gram,
    "add_transposed": _add_transposed,
    "max_shift": _max_shift,
    "softmax": _softmax,
    "logsumexp": _logsumexp,
    "log_total": _log_total,
    "share": _share,
    "rows": _rows,
    **{name: _function(name) for name in ("inv", "det", "logdet", "slogdet")},
    "solve": _solve,
    **{op: _of_stacks(op) for op in ("stacked", "matrix_power")},
    "contiguous": lambda new, inputs: inputs[0],
}
