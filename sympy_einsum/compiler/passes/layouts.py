"""Layout assignment: the order of the axes of intermediate results in memory.

Arrays that are combined entry by entry should all be traversed in memory order. The layouts of
arguments and of most instructions' results are fixed; matrix products and entrywise results can
have their axes in any order, and get that of most arrays that they are combined with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sympy import Expr

from ..ir.instruction_rules import Instruction, Params, Slice
from ..ir.plans import Plan, result_shape, without_dead_code
from .memory_orders import (
    AXES,
    PRODUCTS,
    MemoryOrders,
    Seen,
    reversed_axes,
    seen_through,
    traverses_entrywise,
)


def laid_out(
    plan: Plan, size: Callable[[Expr], int], by_rows: Collection[str] = frozenset()
) -> Plan:
    """Assign a memory layout, the best order of axes, to every intermediate result; ``size`` gives
    the number that an axis length counts as, ``by_rows`` the instructions that are fastest along
    the last axis."""
    if all(len(step.shape) < 2 for step in plan.instructions):
        return plan
    rewriter = _Rewriter(plan, MemoryOrders(plan, size, by_rows))
    for number, step in enumerate(plan.instructions):
        rewriter.rewrite(number, step)
    results = [rewriter.as_seen(k) for k in plan.results]
    return without_dead_code(rewriter.instructions, results)


class _Rewriter:
    def __init__(self, plan: Plan, orders: MemoryOrders):
        self.plan = plan
        self.orders = orders
        self.instructions: list[Instruction] = []
        # The new value of each old one.
        self.seen: list[Seen] = []
        self._views: dict[Seen, int] = {}

    def rewrite(self, number: int, step: Instruction) -> None:
        """Add an instruction that computes the same, maybe with its axes in another order."""
        view = seen_through(step, self.seen)
        if view is not None:
            self.seen.append(view)
        elif traverses_entrywise(step):
            self._entrywise(number, step)
        elif self._is_transposed(number, step):
            pair = [self._transposed(k) for k in reversed(step.inputs)]
            # X' X is its own transpose.
            is_own = pair == [self.as_seen(k) for k in step.inputs]
            count = len(step.shape)
            self._found(self._add(step.op, pair), range(count) if is_own else reversed_axes(count))
        elif step.op == "dot" and len(step.shape) == 1:
            self._found(self._add("dot", self._with_vector(step.inputs)), (0,))
        elif step.op == "vdot":
            order = self.orders.common(number)
            inputs = tuple([self._aligned(k, order) for k in step.inputs])
            self._found(self._add("vdot", inputs), ())
        elif step.op == "einsum":
            self._einsum(number, step)
        elif step.op == "zeros":
            self._zeros(number, step)
        elif step.op == "write":
            self._write(step)
        elif (
            step.op == "index" and _has_positions_only(step) and self._has_all_axes(step.inputs[0])
        ):
            self._index(step)
        elif step.op in REDUCTIONS and self._has_all_axes(step.inputs[0]):
            self._reduced(step)
        else:
            inputs = tuple([self.as_seen(k) for k in step.inputs])
            self._found(self._add(step.op, inputs, step.params), range(len(step.shape)))

    def as_seen(self, number: int) -> int:
        """Return the new instruction for an old one, its axes in the same order."""
        return self._view(self.seen[number])

    def _add(self, op: str, inputs: Sequence[int], params: Params = ()) -> int:
        shape = result_shape(op, [self.instructions[k].shape for k in inputs], params)
        self.instructions.append(Instruction(op, tuple(inputs), params, shape))
        return len(self.instructions) - 1

    def _found(self, number: int, order: Sequence[int]) -> None:
        """Note a value that has its axes in some order in memory."""
        self.seen.append(Seen(number, tuple([order.index(axis) for axis in range(len(order))])))

    def _view(self, seen: Seen) -> int:
        if seen in self._views:
            return self._views[seen]
        number, kept = seen.value, tuple([axis for axis in seen.axes if axis is not None])
        if kept != tuple(range(len(kept))):
            number = self._add("transpose", (number,), (kept,))
        if len(kept) < len(seen.axes):
            entries = ["None" if axis is None else ":" for axis in seen.axes]
            while entries[-1] == ":":
                entries.pop()
            number = self._add("index", (number,), (tuple(entries),))
        self._views[seen] = number
        return number

    def _is_transposed(self, number: int, step: Instruction) -> bool:
        """Tell whether a product of matrices is best computed transposed."""
        count = len(step.shape)
        return step.op in PRODUCTS and count > 1 and self.orders.of(number) == reversed_axes(count)

    def _transposed(self, number: int) -> int:
        """Transpose a matrix, or each of a stack."""
        value, axes = self.seen[number]
        return self._view(Seen(value, tuple([axes[k] for k in reversed_axes(len(axes))])))

    def _with_vector(self, inputs: Sequence[int]) -> list[int]:
        """Return a matrix and a vector, in the order in which the matrix is taken as it lies in
        memory."""
        for k in inputs:
            if self.seen[k].axes == (1, 0):
                return [
                    self._transposed(k) if own == k else self.as_seen(own) for own in inputs[::-1]
                ]
        return [self.as_seen(k) for k in inputs]

    def _has_all_axes(self, number: int) -> bool:
        return None not in self.seen[number].axes

    def _order(self, number: int) -> tuple[int, ...]:
        """Return the axes of a value that has all of them in memory, as they lie there."""
        axes = self.seen[number].axes
        return tuple([axes.index(axis) for axis in range(len(axes))])

    def _aligned(self, number: int, order: Sequence[int], whole: bool = False) -> int:
        """Return an operand of something that is computed with its axes in some order; without axes
        of length 1 in the front, unless it is to be whole."""
        value, axes = seen = self.seen[number]
        if axes == order and axes == tuple(range(len(axes))):
            return self._view(seen)
        padded = (None,) * (len(order) - len(axes)) + axes
        moved = tuple([padded[axis] for axis in order])
        first = next((k for k, axis in enumerate(moved) if axis is not None), len(moved))
        return self._view(Seen(value, moved if whole else moved[first:]))

    def _entrywise(self, number: int, step: Instruction) -> None:
        order = self.orders.of(number)
        inputs = [
            self._aligned(k, order, step.op == "share" and len(self.seen[k].axes) == len(order))
            for k in step.inputs
        ]
        counts = [len(self.instructions[k].shape) for k in inputs]
        if max(counts) < len(order):
            longest = counts.index(max(counts))
            inputs[longest] = self._aligned(step.inputs[longest], order, whole=True)
        params = step.params
        if step.op in AXES:
            params = _with_axes(step, order)
        self._found(self._add(step.op, inputs, params), order)

    def _zeros(self, number: int, step: Instruction) -> None:
        order = self.orders.of(number)
        shape = tuple([step.shape[axis] for axis in order])
        # The operands tell the type.
        inputs = [self.seen[k].value for k in step.inputs]
        self._found(self._add("zeros", inputs, (shape,)), order)

    def _write(self, step: Instruction) -> None:
        target, value = step.inputs
        slices, subscripts, sign = step.params
        order = self._order(target)
        own, _, kept = subscripts.partition("->")
        letters = iter(own)
        whole = slices or (None,) * len(order)
        shown = [next(letters) if part is None or isinstance(part, Slice) else "" for part in whole]
        left = "".join([shown[axis] for axis in order])
        right = "".join(sorted(kept, key=left.index))
        moved = self._aligned(value, [kept.index(letter) for letter in right])
        params = (tuple([slices[axis] for axis in order if slices]), f"{left}->{right}", sign)
        self._found(self._add("write", (self.seen[target].value, moved), params), order)

    def _index(self, step: Instruction) -> None:
        (number,) = step.inputs
        order = self._order(number)
        entries = [*step.params[0], *[":"] * (len(order) - len(step.params[0]))]
        moved = tuple([entries[axis] for axis in order])
        left = [axis for axis in order if entries[axis] == ":"]
        value = self._add("index", (self.seen[number].value,), (moved,))
        self._found(value, [sorted(left).index(axis) for axis in left])

    def _einsum(self, number: int, step: Instruction) -> None:
        terms, output = step.params[0].split("->")
        inputs, texts = [], []
        for k, term in zip(step.inputs, terms.split(","), strict=True):
            if self._has_all_axes(k):
                inputs.append(self.seen[k].value)
                texts.append("".join([term[axis] for axis in self._order(k)]))
            else:
                inputs.append(self.as_seen(k))
                texts.append(term)
        order = self.orders.of(number)
        result = "".join([output[axis] for axis in order])
        self._found(self._add("einsum", inputs, (f"{','.join(texts)}->{result}",)), order)

    def _reduced(self, step: Instruction) -> None:
        """Rewrite a reduction to traverse the first operand in memory order."""
        first, *others = step.inputs
        order = self._order(first)
        over = step.params[AXES[step.op]]
        kept = [axis for axis in order if over is not None and axis not in over]
        left = sorted(kept)
        result = order if step.op == "max_shift" else tuple([left.index(axis) for axis in kept])
        inputs = [self.seen[first].value, *[self._aligned(k, result) for k in others]]
        self._found(self._add(step.op, inputs, _with_axes(step, order)), result)


# Reductions over axes.
REDUCTIONS = AXES.keys() - {"softmax", "share"}


def _has_positions_only(index: Instruction) -> bool:
    """Tell whether nothing but positions stand in the brackets."""
    return not {*index.params[0]} & {"...", "None"}


def _with_axes(step: Instruction, order: Sequence[int]) -> Params:
    """Return the parameters of an instruction for an operand with permuted axes."""
    place = AXES[step.op]
    axes = step.params[place]
    moved = None if axes is None else tuple(sorted([order.index(axis) for axis in axes]))
    return (*step.params[:place], moved, *step.params[place + 1 :])
