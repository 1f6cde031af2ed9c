"""Memory layouts: groups of arrays that are combined entry by entry, and the best order of axes for
each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

from sympy import Expr

from ..ir.instruction_rules import Instruction
from ..ir.instructions import OPS
from ..ir.plans import Plan


class Seen(NamedTuple):
    """A value as a view of another one: for each of its axes one of that, None for a new one."""

    value: int
    axes: tuple[int | None, ...]


def seen_through(step: Instruction, seen: Sequence[Seen]) -> Seen | None:
    """Resolve an instruction that permutes or adds axes to the value that it views; else None."""
    if step.op == "transpose":
        value, axes = seen[step.inputs[0]]
        return Seen(value, tuple([axes[k] for k in step.params[0]]))
    if step.op == "index" and {*step.params[0]} <= {":", "None"}:
        value, axes = seen[step.inputs[0]]
        rest = iter(axes)
        entries = [None if entry == "None" else next(rest) for entry in step.params[0]]
        return Seen(value, (*entries, *rest))
    return None


def traverses_entrywise(step: Instruction) -> bool:
    """Tell whether an instruction traverses its operands together, entry by entry."""
    known = OPS[step.op]
    return bool(step.shape) and (known.body is not None or step.op in ("softmax", "share"))


# The place of the axes among the parameters of what works on some.
AXES = dict.fromkeys(["sum", "max_shift", "logsumexp", "log_total", "softmax", "share"], 0)
AXES["extremum"] = 1
# Products of matrices, which can be computed transposed.
PRODUCTS = ("dot", "matmul")
# Axes of a group of arrays, in an order.
Order: TypeAlias = tuple[int, ...]


def reversed_axes(count: int) -> Order:
    """Return the order of ``count`` axes with the last two exchanged."""
    return (*range(count - 2), count - 1, count - 2)


class MemoryOrders:
    """Groups of arrays that are combined entry by entry. Each array has a label for each of its
    axes, and the same label means the same axis; each group votes on an order of its labels.

    ``by_rows`` names the instructions that go fastest along the last axis; others add up rows.
    """

    def __init__(
        self, plan: Plan, size: Callable[[Expr], int], by_rows: Collection[str] = frozenset()
    ):
        self.plan = plan
        self.size = size
        self.by_rows = by_rows
        self._seen: list[Seen] = []
        self._labels: dict[int, Order] = {}
        self._members: dict[int, list[int]] = {}
        self._group: list[int] = []
        # Pairs of a weight and an order of axes that a value had better be in.
        self._votes: list[tuple[int, Order, tuple[int, int]]] = []
        for number, step in enumerate(plan.instructions):
            self._group.append(number)
            self._members[number] = [number]
            self._labels[number] = tuple(range(len(step.shape)))
            self._seen.append(seen_through(step, self._seen) or Seen(number, self._labels[number]))
            self._combine(number, step)
        for k in plan.results:
            self._vote(self._seen[k], 1)
        self._chosen = self._choices()

    def of(self, number: int) -> Order:
        """Return the order in memory of the axes of what an instruction computes."""
        labels, chosen = self._labels[number], self._chosen.get(self._group[number])
        if chosen is None:
            return tuple(range(len(labels)))
        return tuple([labels.index(label) for label in chosen])

    def common(self, number: int) -> Order:
        """Return the order in which an instruction traverses the axes of its operands."""
        value, axes = self._seen[self.plan.instructions[number].inputs[0]]
        if None in axes:
            return tuple(range(len(axes)))
        return tuple([axes.index(axis) for axis in self.of(value)])

    def _combine(self, number: int, step: Instruction) -> None:
        whole = [self._seen[k] for k in step.inputs if self._is_whole(k)]
        if traverses_entrywise(step):
            own = self._seen[number]
            for seen in whole:
                if len(seen.axes) == len(step.shape):
                    self._join(own, seen)
        elif step.op == "vdot" and len(whole) == 2:
            self._join(*whole)
        elif step.op == "write" and len(whole) == 2:
            self._join_written(step, *whole)
        elif step.op in PRODUCTS and step.op in self.by_rows:
            self._weigh_product_by_rows(number, step)
        elif step.op in PRODUCTS:
            self._weigh_product(number, step)
        elif step.op in ("reshape", "contiguous"):
            for seen in whole:
                self._vote(seen, 2)
        if step.op in AXES and whole:
            self._weigh_reduction(step, whole[0])

    def _is_whole(self, number: int) -> bool:
        """Tell whether a value has several axes, all of them in memory."""
        axes = self._seen[number].axes
        return len(axes) > 1 and None not in axes

    def _join(self, one: Seen, other: Seen) -> None:
        """Bring two values into one group, the axes in the same places to the same labels."""
        for seen in (one, other):
            if not is_free(self.plan.instructions[seen.value]):
                self._vote(Seen(seen.value, self._own(seen.value)), 2)
        target, source = self._group[one.value], self._group[other.value]
        if target == source:
            return
        if len(self._members[target]) < len(self._members[source]):
            one, other, target, source = other, one, source, target
        image = dict(zip(self._labels_of(other), self._labels_of(one), strict=True))
        for member in self._members.pop(source):
            self._labels[member] = tuple([image[label] for label in self._labels[member]])
            self._group[member] = target
            self._members[target].append(member)

    def _join_written(self, step: Instruction, target: Seen, value: Seen) -> None:
        """Join the orders of a target and a written value, except on a diagonal or one position."""
        own, _, kept = step.params[1].partition("->")
        if len({*own}) == len(target.axes) == len(value.axes):
            self._join(target, Seen(value.value, tuple([value.axes[kept.index(i)] for i in own])))

    def _own(self, number: int) -> Order:
        return tuple(range(len(self.plan.instructions[number].shape)))

    def _labels_of(self, seen: Seen) -> Order:
        labels = self._labels[seen.value]
        return tuple([labels[axis] for axis in seen.axes if axis is not None])

    def _vote(self, seen: Seen, times: int) -> None:
        """Vote for the axes in the order in which they are seen."""
        if len(seen.axes) > 1 and None not in seen.axes:
            entries = prod(map(self.size, self.plan.instructions[seen.value].shape))
            axes = tuple([axis for axis in seen.axes if axis is not None])
            self._votes.append((seen.value, axes, (times * entries, 0)))

    def _weigh_product(self, number: int, step: Instruction) -> None:
        """Weigh the axes of a product of matrices: it takes them as they are, and reads best
        without transposes."""
        for k in step.inputs:
            value, axes = self._seen[k]
            own = self._own(value)
            if len(axes) == len(step.shape) > 1 and axes in (own, reversed_axes(len(own))):
                self._votes.append((value, own if axes == own else reversed_axes(len(own)), (0, 1)))
                if not is_free(self.plan.instructions[value]):
                    self._votes.append(
                        (number, own if axes == own else reversed_axes(len(own)), (0, 1))
                    )

    def _weigh_product_by_rows(self, number: int, step: Instruction) -> None:
        """Weigh the axes of a product by rows: the axis that is summed had better be the last one
        of both operands; where it isn't that of an operand which lies in memory already, the other
        one comes first, and transposed."""
        if len(step.shape) < 2:
            return
        natural = self._own(number)
        # On equal votes the first order wins.
        self._votes.append((number, natural, (0, 0)))
        for place, k in enumerate(step.inputs):
            value, axes = self._seen[k]
            own = self._own(value)
            if len(axes) == len(natural) and axes in (own, reversed_axes(len(own))):
                is_transposed = (axes == own) == bool(place)
                if is_free(self.plan.instructions[value]):
                    self._votes.append(
                        (value, reversed_axes(len(own)) if is_transposed else own, (0, 1))
                    )
                elif is_transposed:
                    result = natural if place else reversed_axes(len(natural))
                    self._votes.append((number, result, (0, 1)))

    def _weigh_reduction(self, step: Instruction, seen: Seen) -> None:
        """Weigh the axes of a reduction: most libraries add up rows faster than the entries of
        each, above all of short ones."""
        over, last = step.params[AXES[step.op]] or (), step.op in self.by_rows
        axes = sorted(range(len(seen.axes)), key=lambda k: (k in over) == last)
        moved = tuple([axis for axis in [seen.axes[k] for k in axes] if axis is not None])
        self._votes.append((seen.value, moved, (0, 2)))

    def _choices(self) -> dict[int, Order]:
        votes: dict[int, Counter[Order]] = {}
        weak: dict[int, Counter[Order]] = {}
        for value, axes, (strong, light) in self._votes:
            group = self._group[value]
            order = self._labels_of(Seen(value, axes))
            votes.setdefault(group, Counter())[order] += strong
            weak.setdefault(group, Counter())[order] += light
        return {
            group: max(found, key=lambda order: (found[order], weak[group][order]))
            for group, found in votes.items()
        }


def is_free(step: Instruction) -> bool:
    """Tell whether the order of a result's axes in memory makes no difference."""
    is_product = step.op in PRODUCTS and len(step.shape) > 1
    return is_product or step.op in ("einsum", "zeros") or traverses_entrywise(step)
