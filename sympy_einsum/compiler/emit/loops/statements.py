"""Statements of loops: stored entries, reductions over axes, writes into arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sympy import Expr

from ....core import Shape
from ...backends import Backend
from ...ir.instruction_rules import Cut, Slice, broadcast_shape
from ...ir.plans import Plan
from .entries import Entries, Reads, place_text
from .tree import Index, Loop, Position, Target, Value, renamed
from .views import cut_index, stretched

SIGNS = {0: "=", 1: "+=", -1: "-="}
# Where a reduction begins, and a step of it.
REDUCTIONS = {
    "sum": ("0", "{0} = add({0}, {1})"),
    "prod": ("1", "{0} *= {1}"),
    "einsum": ("0", "{0} = add({0}, {1})"),
    "peak": ("-np.inf", "{0} = larger({0}, {1})"),
    "max": ("-np.inf", "{0} = maximum({0}, {1})"),
    "min": ("np.inf", "{0} = minimum({0}, {1})"),
}


class Place(NamedTuple):
    """The loops of a statement, where it stands, the axes in the order of the loops, and the
    variables."""

    loops: list[Loop]
    position: Position
    order: tuple[int, ...]
    variables: dict[str, str]


class Statements(Entries):
    """Puts statements into loops."""

    def __init__(self, plan: Plan, names: Mapping[Expr, str], backend: Backend):
        super().__init__(plan, names, backend)
        # Zeros that nothing was written to yet; items in which entries were replaced.
        self.fresh: set[int] = set()
        self.apart: dict[int, int] = {}
        # The zeros that are the results: the caller brings them.
        self.given: list[int] = []

    def compute(self, number: int) -> None:
        """Entries, each computed once."""
        shape = self.step(number).shape
        if not shape:
            self._scalar(number)
            return
        index = variables(len(shape))
        loops, position, order, names = self._placed(shape, [(number, index)], Target())
        index = renamed(index, names)
        text, name = self._value(number, index), self.new_name()
        value = Value(position, tuple(loops), index, name, allocate=loops[0].before)
        value.order = tuple(range(len(shape))) if number in self.plan.results else order
        self.here += [f"{name} = {text}", value.store]
        self.depths[name] = len(loops)
        loops[-1].learn(number, index, name)
        self.values[number] = value

    def _value(self, number: int, index: Index) -> str:
        """An entry, computed even where there is something that computes it."""
        step = self.step(number)
        if step.op == "copy":
            return self.entry(step.inputs[0], index)
        is_own = number not in self.values and self.is_entrywise(number)
        return self._spelled(number, step, index) if is_own else self.entry(number, index)

    def _scalar(self, number: int) -> None:
        """A number, computed as early as it can be."""
        reads = self._reads([(number, ())])
        item = max([self.tree.floor, *[value.position[0] for value in reads.values]])
        self.loops, self.here = [], self.tree.after[item]
        text, name = self._value(number, ()), self.new_name()
        self.here.append(f"{name} = {text}")
        self.values[number] = Value((item,), name=name)

    # --- reductions

    def reduce(self, number: int) -> None:
        """A sum, product or extremum over axes, or a contraction."""
        op, _, params, _ = self.step(number)
        lengths, operands, output = self._terms(number)
        is_peak = op == "extremum" and params[0] == "peak"
        start, update = REDUCTIONS[params[0] if op == "extremum" else op]
        kind = self.kind(number)
        reads = [(k, tuple([f"${axis}" for axis in axes])) for k, axes in operands]
        loops, position, order, names = self._placed(lengths, reads, Target(), kept=output)
        kept = [order.index(axis) for axis in output]
        first = next((k for k in range(len(loops)) if k not in kept), len(loops))
        factors = " * ".join([self.entry(k, renamed(own, names)) for k, own in reads])
        index = tuple([loops[depth].variable for depth in kept])
        summed = [lengths[axis] for axis in range(len(lengths)) if axis not in output]
        before = loops[first].before
        if op == "extremum" and not is_peak:
            before += self._not_empty(summed)
        name = self.new_name()
        value = Value(position[: first + 1], tuple(loops[:first]), index)
        value.allocate = loops[0].before
        if all(depth < first for depth in kept):
            value.name = name
            self.depths[name] = first
            before.append(f"{name} = {kind}({start})")
            self.here.append(update.format(name, factors))
            end = loops[first].after
            end += [f"{name} = finite({name})"] if is_peak else []
            end.append(value.store)
            value.order = tuple(sorted(range(len(kept)), key=lambda axis: kept[axis]))
            if number in self.plan.results:
                value.order = tuple(range(len(kept)))
            if first:
                loops[first - 1].learn(number, index, name)
        else:
            value.array, value.order = name, tuple(range(len(output)))
            loops[0].before.append(
                f"{name} = np.full({self.shape(number)}, {kind}({start}), {kind})"
            )
            self.here.append(update.format(f"{name}[{', '.join(index)}]", factors))
            if is_peak:
                inner = [loop.variable for loop in loops[first:]]
                places = [":" if i in inner else i for i in index]
                loops[first].after.append(f"make_finite({name}[{', '.join(places)}])")
        self.values[number] = value

    def _terms(self, number: int) -> tuple[list[Expr], list[tuple[int, list[int]]], list[int]]:
        """Return the lengths of all axes of a reduction, the operands with their axes, and the kept
        axes."""
        op, inputs, params, shape = self.step(number)
        if op == "einsum":
            terms, output = params[0].split("->")
            labels = list(dict.fromkeys(sorted(terms.split(","), key=len, reverse=True)[0]))
            labels += [label for label in dict.fromkeys(terms) if label not in [",", *labels]]
            lengths: dict[str, Expr] = {}
            for term, k in zip(terms.split(","), inputs, strict=True):
                lengths.update(zip(term, self.step(k).shape, strict=True))
            operands = [
                (k, [labels.index(label) for label in term])
                for term, k in zip(terms.split(","), inputs, strict=True)
            ]
            return [lengths[own] for own in labels], operands, [labels.index(o) for o in output]
        shape = self.step(inputs[0]).shape
        axes = params[-1] if params else None
        kept = [a for a in range(len(shape)) if axes is not None and a not in axes]
        return [*shape], [(inputs[0], [*range(len(shape))])], kept

    def _not_empty(self, lengths: Sequence[Expr]) -> list[str]:
        tests = " or ".join([f"{self.size(length)} == 0" for length in lengths])
        return [f"if {tests}:", '    raise ValueError("no entries to take the extremum of")']

    # --- arrays that are written to

    def zeros(self, number: int) -> None:
        """Zeros, to be written to."""
        order = tuple(range(len(self.step(number).shape)))
        name = self.new_name()
        if number in self.plan.results and len(order) > 1:
            self.given.append(number)
        else:
            self.tree.after[0].append(f"{name} = {self.empty(number, order, 'zeros')}")
        self.values[number] = Value((0,), array=name, order=order)
        self.fresh.add(number)

    def writable(self, number: int) -> None:
        """A copy to be written to, or the array itself."""
        step = self.step(number)
        base = self.root(step.inputs[0])
        is_own = base == step.inputs[0] and self.uses[base] == 1
        if is_own and base in self.values and self.values[base].is_call:
            self.values[number] = self.values[base]
            return
        index = variables(len(step.shape))
        reads = [(step.inputs[0], stretched(self.step(step.inputs[0]).shape, step.shape, index))]
        loops, position, _, names = self._placed(step.shape, reads, Target(), natural=True)
        index = renamed(index, names)
        text = self.entry(step.inputs[0], renamed(reads[0][1], names))
        name, order = self.new_name(), tuple(range(len(index)))
        loops[0].before.append(f"{name} = {self.empty(number, order)}")
        self.here.append(f"{name}[{', '.join(index)}] = {text}")
        self.values[number] = Value(position[:1], array=name, order=order)
        self.apart[number] = position[0]

    def write(self, number: int) -> None:
        """A value written into the diagonals of an array that is cut, or added to them."""
        _, (target, value), (cuts, subscripts, sign), _ = self.step(number)
        lengths, places, at = self._region(target, cuts, subscripts)
        self._write(target, value, lengths, places, at, sign)

    def _region(
        self, target: int, cuts: Sequence[Cut], subscripts: str
    ) -> tuple[Shape, Index, Index]:
        """Return the lengths of the axes of a written region, their variables, and the index."""
        whole = self.step(target).shape
        cuts = cuts or [None] * len(whole)
        left = [
            n if cut is None else cut.count
            for n, cut in zip(whole, cuts, strict=True)
            if cut is None or isinstance(cut, Slice)
        ]
        labels, kept = subscripts.split("->")
        lengths = dict(zip(labels, left, strict=True))
        places = dict(zip(kept, variables(len(kept)), strict=True))
        inner = tuple([places[label] for label in labels])
        at = cut_index(cuts, inner, self.size)
        return tuple([lengths[label] for label in kept]), tuple(places.values()), at

    def _write(
        self, target: int, value: int, lengths: Shape, index: Index, at: Index, sign: int
    ) -> None:
        array = self.values[target]
        first = target in self.fresh
        self.fresh.discard(target)
        if first and not sign and len(lengths) > 1:
            sign = 1
        after = array.position[0] + (0 if sign or first else 1)
        where = Target(target, at, after, self.apart.get(target, -1))
        shape = self.step(value).shape
        own = stretched(shape, lengths, index)
        if not lengths:
            self._write_number(target, value, at, sign)
            return
        loops, position, _, names = self._placed(lengths, [(value, own)], where)
        at = renamed(at, names)
        text = self.entry(value, renamed(own, names))
        place = ", ".join(map(place_text, at))
        self.here.append(f"{array.array}[{place}] {SIGNS[sign]} {text}")
        loops[-1].writes[target] = at
        array.position = (max(array.position[0], position[0]),)
        if not sign:
            self.apart[target] = array.position[0]

    def _write_number(self, target: int, value: int, at: Index, sign: int) -> None:
        array = self.values[target]
        reads = self._reads([(value, ())])
        item = max([self.tree.floor, array.position[0], *[own.position[0] for own in reads.values]])
        self.loops, self.here = [], self.tree.after[item]
        text = self.entry(value, ())
        place = ", ".join(map(place_text, at))
        self.here.append(f"{array.array}[{place}] {SIGNS[sign]} {text}")
        array.position = (item,)
        self.apart[target] = item

    def scatter(self, number: int) -> None:
        """Zeros, to which something is added at positions."""
        _, inputs, (lengths, _), _ = self.step(number)
        self.zeros(number)
        self.fresh.discard(number)
        self._add_at(number, inputs, lengths)

    def scatters(self, number: int) -> None:
        """Zeros, to which several operands are added at the positions that follow them."""
        _, inputs, (lengths,), _ = self.step(number)
        self.zeros(number)
        self.fresh.discard(number)
        width = 1 + len(lengths)
        for start in range(0, len(inputs), width):
            self._add_at(number, inputs[start : start + width], lengths)

    def _add_at(self, number: int, inputs: Sequence[int], lengths: Shape) -> None:
        """Add a value to an array at positions."""
        value, *positions = inputs
        array = self.values[number]
        own = self.step(value).shape
        order = len(broadcast_shape([self.step(k).shape for k in positions]))
        index = variables(len(own))

        def place(index: Index) -> list[str]:
            found = self.positions(positions, own[:order], index[:order], lengths)
            return [*found, *index[order:]]

        if not own:
            self.loops, self.here = [], self.tree.after[-1]
            self.here.append(f"{array.array}[{', '.join(place(()))}] += {self.entry(value, ())}")
            array.position = (len(self.tree.items) - 1,)
            return
        reads = [(value, index)]
        reads += [(k, stretched(self.step(k).shape, own[:order], index[:order])) for k in positions]
        _, position, _, names = self._placed(own, reads, Target(), natural=True)
        index = renamed(index, names)
        text = self.entry(value, index)
        self.here.append(f"{array.array}[{', '.join(place(index))}] += {text}")
        array.position = (max(array.position[0], position[0]),)

    # --- whole arrays

    def whole(self, number: int, transposed: bool = False) -> str:
        """Return the text of an array with all entries in C order; the transpose of one will do if
        it may be ``transposed``."""
        step = self.step(number)
        if not step.shape:
            self.loops, self.here = [], self.tree.after[-1]
            return self.entry(number, ())
        wanted = variables(len(step.shape))
        base, index = self.below(number, wanted)
        if base in self.values or self.step(base).op in ("argument", "constant"):
            order = tuple(range(len(index)))
            if base in self.values:
                value = self.values[base]
                if not value.array and sorted(index) == [*wanted]:
                    value.order = tuple([index.index(own) for own in wanted])
                array, order = self.stored(base), value.order
            else:
                array = self.array(base)
            places = tuple([index[axis] for axis in order])
            lengths = [self.step(base).shape[axis] for axis in order]
            pairs = dict(zip(places, lengths, strict=True))
            is_whole = all(pairs.get(i) == n for i, n in zip(wanted, step.shape, strict=True))
            if is_whole and places == wanted:
                return array
            if is_whole and transposed and places == wanted[::-1] and len(wanted) == 2:
                return f"{array}.T"
            ahead = places[: len(places) - len(wanted)]
            if is_whole and places == (*ahead, *wanted) and not any("$" in own for own in ahead):
                return f"{array}[{', '.join(map(place_text, ahead))}]"
        if number in self.values:
            return self._transposed(number)
        self.compute(number)
        self.values[number].order = tuple(range(len(wanted)))
        return self.stored(number)

    def _transposed(self, number: int) -> str:
        """Return the name of a copy in C order of an array that lies otherwise, in loops: Numba
        takes seconds to compile NumPy's function for that."""
        value, name = self.values[number], self.new_name()
        axes = range(len(value.order))
        here = ", ".join([f"i{axis}" for axis in axes])
        there = ", ".join([f"i{axis}" for axis in value.order])
        loops = self.over_entries(number, f"{name}[{here}] = {value.array}[{there}]")
        self.tree.append([f"{name} = {self.empty(number, axes)}", *loops])
        return name

    def over_entries(self, number: int, statement: str) -> list[str]:
        """Return a loop nest over all entries of a value, at i0, i1 and so on, with its body."""
        lengths = enumerate(self.step(number).shape)
        lines = [*[f"for i{axis} in range({self.size(n)}):" for axis, n in lengths], statement]
        return [f"{' ' * 4 * depth}{line}" for depth, line in enumerate(lines)]

    # --- places

    def _placed(
        self,
        lengths: Sequence[Expr],
        wanted: Sequence[tuple[int, Index]],
        target: Target,
        natural: bool = False,
        kept: Sequence[int] | None = None,
    ) -> Place:
        """Loops over axes for a statement that reads some entries, in the order in which what is
        read lies in memory; of a sum, with the axes that are ``kept``."""
        found = self._reads(wanted)
        order = _order(len(lengths), [] if natural else found.in_memory)
        variables = {f"${axis}": f"${depth}" for depth, axis in enumerate(order)}
        reads = {v: [renamed(own, variables) for own in at] for v, at in found.values.items()}
        is_kept = [kept is None or axis in kept for axis in order]
        adds_up = is_kept != sorted(is_kept, reverse=True)
        target = replace(target, index=renamed(target.index, variables), adds_up=adds_up)
        loops, position = self.tree.place(
            [self.size(lengths[axis]) for axis in order], reads, target
        )
        self.loops, self.here = loops, []
        loops[-1].adds_up = adds_up
        loops[-1].body.append(self.here)
        variables = {f"${axis}": loops[depth].variable for depth, axis in enumerate(order)}
        return Place(loops, (*position, len(loops[-1].body) - 1), order, variables)

    def _reads(self, wanted: Sequence[tuple[int, Index]]) -> Reads:
        """Collect the reads of entries."""
        self.loops = []
        self.reads = found = Reads()
        for number, index in wanted:
            self._value(number, index)
        self.reads = None
        return found


def _order(count: int, in_memory: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Return the order of the first array that has all axes; that of the axes themselves, if one
    has them so."""
    orders = []
    for index in in_memory:
        found = tuple([int(own[1:]) for own in index if re.fullmatch(r"\$\d+", own)])
        if sorted(found) == [*range(count)]:
            orders.append(found)
    axes = tuple(range(count))
    return axes if not orders or axes in orders else orders[0]


def variables(count: int) -> Index:
    """Return placeholders for loop variables before these are known."""
    return tuple([f"${axis}" for axis in range(count)])
