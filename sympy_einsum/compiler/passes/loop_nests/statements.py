"""Statements in loops: stored entries, reductions over axes, writes into arrays."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sympy import Expr

from ....core import Shape
from ...ir.code import (
    WHOLE,
    Code,
    assigned,
    call,
    name,
    product,
    quote,
    raise_if,
    statement,
    subscript,
)
from ...ir.instruction_rules import AxisPart, Slice, broadcast_shape
from ...ir.loops import (
    Affine,
    Block,
    Index,
    Loop,
    depth_of,
    index_on,
    variable,
    variable_name,
    variables,
)
from ...ir.plans import Plan
from .access import Access, broadcast_index, positions_at, sliced_index
from .entries import Entries, Reads, SizeCode, Spelling
from .placement import Place, StoredValue, Unplaced, Write

# Marks a write to an array that isn't allocated yet.
NOWHERE = Write()
# The initial value of a reduction, and a step of it.
REDUCTIONS = {
    "sum": ("0", "{0} = add({0}, {1})"),
    "prod": ("1", "{0} *= {1}"),
    "einsum": ("0", "{0} = add({0}, {1})"),
    "max_shift": ("-np.inf", "{0} = larger({0}, {1})"),
    "max": ("-np.inf", "{0} = maximum({0}, {1})"),
    "min": ("np.inf", "{0} = minimum({0}, {1})"),
}


class ReductionAxes(NamedTuple):
    """The lengths of all axes of a reduction, the operands with their axes, and the kept axes."""

    lengths: Shape
    operands: Sequence[Access]
    kept: Sequence[int]


class WholeArray(NamedTuple):
    """An array with all entries of a value in C order; or with those of its transpose."""

    code: Code
    is_transposed: bool = False


class PlacedStatement(NamedTuple):
    """The loops of a statement, where it stands, and the axes in the order of the loops."""

    loops: Sequence[Loop]
    place: Place
    order: Sequence[int]

    def depth(self, axis: int) -> int:
        """Return the depth of the loop over an axis."""
        return self.order.index(axis)

    def on(self, index: Index) -> Index:
        """Return an index in the variables of axes as one in those of the loops."""
        return _in_loops(index, self.order)


def _in_loops(index: Index, order: Sequence[int]) -> Index:
    if order == tuple(range(len(order))):
        return index
    return index_on(index, [variable(order.index(axis)) for axis in range(len(order))])


def zeros(shape: Sequence[Code], kind: Code) -> Code:
    """Return an array of zeros."""
    return quote("cleared(empty({0}, {1}))", shape, kind)


class Statements(Entries):
    """Puts statements into loops."""

    def __init__(self, plan: Plan, names: Mapping[Expr, str], spelling: Spelling, size: SizeCode):
        super().__init__(plan, names, spelling, size)
        # Zeros that nothing was written to yet; items in which entries were replaced.
        self.fresh: set[int] = set()
        self.apart: dict[int, int] = {}
        # The zeros that are the results: the caller brings them.
        self.given: list[int] = []
        self.results = {*plan.results}

    def results_of(self, number: int) -> Sequence[Code]:
        """Return the results of a loop."""
        raise NotImplementedError

    def compute(self, number: int) -> None:
        """Compute each entry once, and name it."""
        shape = self.shape_of(number)
        if not shape:
            self._compute_scalar(number)
            return
        placed = self._placed(shape, self._sources(number, variables(len(shape))))
        code, own = self._value(number, placed.on(variables(len(shape)))), self.new_name()
        depths = [placed.depth(axis) for axis in range(len(shape))]
        value = StoredValue(placed.place, placed.loops, depths, own)
        value.allocate = placed.loops[0].before
        value.order = range(len(shape)) if number in self.results else placed.order
        self.here += [assigned(name(own), code), value.store]
        placed.loops[-1].learn((number, variables_at(depths)), name(own))
        self.values[number] = value

    def _value(self, number: int, index: Index) -> Code:
        """Return the code that computes an entry, of a copy that of the operand."""
        step = self.step(number)
        if step.op == "copy":
            return self.entry(step.inputs[0], index)
        is_own = number not in self.values and self.facts.entrywise[number]
        return self.computed(number, index) if is_own else self.entry(number, index)

    def _sources(self, number: int, index: Index) -> list[Access]:
        """Return the entries that an entry is computed from."""
        step = self.step(number)
        if step.op == "copy":
            return [(step.inputs[0], index)]
        is_own = number not in self.values and self.facts.entrywise[number]
        return self.operands_at(number, index) if is_own else [(number, index)]

    def _compute_scalar(self, number: int) -> None:
        """Compute a number as early as it can be."""
        reads = self._reads(self._sources(number, ()))
        item = max([self.tree.floor, *[value.place[0] for value in reads.values]])
        self.loops, self.here = (), self.tree.after[item]
        code, own = self._value(number, ()), self.new_name()
        self.here.append(assigned(name(own), code))
        self.values[number] = StoredValue((item,), name=own)

    # --- reductions

    def reduce(self, number: int) -> None:
        """Reduce over axes by a sum, a product or an extremum; contract operands."""
        op, _, params, _ = self.step(number)
        lengths, operands, output = self._reduction(number)
        is_max_shift = op == "extremum" and params[0] == "max_shift"
        start, update = REDUCTIONS[params[0] if op == "extremum" else op]
        kind = self.kind(number)
        placed = self._placed(lengths, operands, kept=output)
        loops = placed.loops
        kept = [placed.depth(axis) for axis in output]
        first = next((k for k in range(len(loops)) if k not in kept), len(loops))
        factors = product([self.entry(k, placed.on(own)) for k, own in operands])
        summed = [lengths[axis] for axis in range(len(lengths)) if axis not in output]
        before = loops[first].before
        if op == "extremum" and not is_max_shift:
            before.append(self._not_empty(summed))
        own = self.new_name()
        value = StoredValue(placed.place[: first + 1], tuple(loops[:first]), kept)
        value.allocate = loops[0].before
        initial = quote("{0}({1})", kind, quote(start))
        if all(depth < first for depth in kept):
            value.name = own
            before.append(assigned(name(own), initial))
            self.here.append(statement(update, name(own), factors))
            end = loops[first].after
            end += [statement("{0} = finite({0})", name(own))] if is_max_shift else []
            end.append(value.store)
            value.order = tuple(sorted(range(len(kept)), key=lambda axis: kept[axis]))
            if number in self.results:
                value.order = tuple(range(len(kept)))
            if first:
                loops[first - 1].learn((number, variables_at(kept)), name(own))
        else:
            value.array, value.order = own, tuple(range(len(output)))
            full = zeros(self.shape(number), kind)
            if start != "0":
                full = quote("np.full({0}, {1}, {2})", self.shape(number), initial, kind)
            loops[0].before.append(assigned(name(own), full))
            entry = subscript(name(own), [variable_name(depth) for depth in kept])
            self.here.append(statement(update, entry, factors))
            if is_max_shift:
                inner = [WHOLE if depth >= first else variable_name(depth) for depth in kept]
                part = subscript(name(own), inner)
                loops[first].after.append(ast.Expr(call("make_finite", part)))
        self.values[number] = value

    def _reduction(self, number: int) -> ReductionAxes:
        op, inputs, params, _ = self.step(number)
        if op == "einsum":
            terms, output = params[0].split("->")
            labels = list(dict.fromkeys(sorted(terms.split(","), key=len, reverse=True)[0]))
            labels += [label for label in dict.fromkeys(terms) if label not in [",", *labels]]
            lengths: dict[str, Expr] = {}
            for term, k in zip(terms.split(","), inputs, strict=True):
                lengths.update(zip(term, self.shape_of(k), strict=True))
            operands = [
                (k, variables_at([labels.index(label) for label in term]))
                for term, k in zip(terms.split(","), inputs, strict=True)
            ]
            kept = [labels.index(label) for label in output]
            return ReductionAxes(tuple([lengths[own] for own in labels]), operands, kept)
        shape = self.shape_of(inputs[0])
        axes = params[-1] if params else None
        kept = [axis for axis in range(len(shape)) if axes is not None and axis not in axes]
        return ReductionAxes(shape, [(inputs[0], variables(len(shape)))], kept)

    def _not_empty(self, lengths: Sequence[Expr]) -> ast.stmt:
        tests = [quote("{0} == 0", self.size(length)) for length in lengths]
        return raise_if(tests, "ValueError", "no entries to take the extremum of")

    # --- arrays that are written to

    def zeros(self, number: int) -> None:
        """Make zeros, to be written to."""
        order, own = tuple(range(len(self.shape_of(number)))), self.new_name()
        if number in self.results and len(order) > 1:
            self.given.append(number)
        else:
            made = zeros(self.shape(number), self.kind(number))
            self.tree.after[0].append(assigned(name(own), made))
        self.values[number] = StoredValue((0,), array=own, order=order)
        self.fresh.add(number)

    def writable(self, number: int) -> None:
        """Make a copy to be written to, or take the array itself."""
        step = self.step(number)
        source = step.inputs[0]
        is_own = self.facts.roots[source] == source and self.facts.uses[source] == 1
        if is_own and source in self.values and self.values[source].is_call:
            self.values[number] = self.values[source]
            return
        index = variables(len(step.shape))
        read = broadcast_index(self.shape_of(source), step.shape, index)
        placed = self._placed(step.shape, [(source, read)], natural=True)
        code, own, order = self.entry(source, placed.on(read)), self.new_name(), range(len(index))
        placed.loops[0].before.append(self.allocate(number, own, order))
        self.here.append(assigned(subscript(name(own), [*map(variable_name, order)]), code))
        self.values[number] = StoredValue(placed.place[:1], array=own, order=order)
        self.apart[number] = placed.place[0]

    def write(self, number: int) -> None:
        """Write a value into the diagonals of a slice of an array, or add it to them."""
        _, (target, value), (slices, subscripts, sign), _ = self.step(number)
        lengths, at = self._region(target, slices, subscripts)
        array = self.values[target]
        is_first = target in self.fresh
        self.fresh.discard(target)
        if is_first and not sign and len(lengths) > 1:
            sign = 1
        read = broadcast_index(self.shape_of(value), lengths, variables(len(lengths)))
        if not lengths:
            self._write_number(target, value, at, sign)
            return
        after = array.place[0] + (0 if sign or is_first else 1)
        where = Write(target, at, after, self.apart.get(target, -1))
        placed = self._placed(lengths, [(value, read)], where)
        at = placed.on(at)
        code = self.entry(value, placed.on(read))
        self.here.append(assigned(self._at(target, at), code, sign))
        placed.loops[-1].writes[target] = at
        array.place = (max(array.place[0], placed.place[0]),)
        if not sign:
            self.apart[target] = array.place[0]

    def _at(self, target: int, index: Index) -> Code:
        """Return the entry of an array that is written to."""
        return subscript(name(self.values[target].array), [*map(self.place, index)])

    def _region(
        self, target: int, slices: Sequence[AxisPart], subscripts: str
    ) -> tuple[Shape, Index]:
        """Return the lengths of the axes of a written region, and its index."""
        whole = self.shape_of(target)
        slices = slices or [None] * len(whole)
        left = [
            n if part is None else part.count
            for n, part in zip(whole, slices, strict=True)
            if part is None or isinstance(part, Slice)
        ]
        labels, kept = subscripts.split("->")
        lengths = dict(zip(labels, left, strict=True))
        inner = variables_at([kept.index(label) for label in labels])
        return tuple([lengths[label] for label in kept]), sliced_index(slices, inner)

    def _write_number(self, target: int, value: int, at: Index, sign: int) -> None:
        array = self.values[target]
        reads = self._reads([(value, ())])
        item = max([self.tree.floor, array.place[0], *[own.place[0] for own in reads.values]])
        self.loops, self.here = (), self.tree.after[item]
        code = self.entry(value, ())
        self.here.append(assigned(self._at(target, at), code, sign))
        array.place = (item,)
        self.apart[target] = item

    def scatter(self, number: int) -> None:
        """Add a value to zeros at positions."""
        _, inputs, (lengths, _), _ = self.step(number)
        self.zeros(number)
        self.fresh.discard(number)
        self._add_at(number, inputs, lengths)

    def scatters(self, number: int) -> None:
        """Add several operands to zeros, at the positions that follow each."""
        _, inputs, (lengths,), _ = self.step(number)
        self.zeros(number)
        self.fresh.discard(number)
        width = 1 + len(lengths)
        for start in range(0, len(inputs), width):
            self._add_at(number, inputs[start : start + width], lengths)

    def _add_at(self, number: int, inputs: Sequence[int], lengths: Shape) -> None:
        """Add a value to an array at positions."""
        value, *positions = inputs
        array, own = self.values[number], self.shape_of(value)
        shapes = [self.shape_of(k) for k in positions]
        order = len(broadcast_shape(shapes))
        index = variables(len(own))
        entries, places = positions_at(positions, shapes, own[:order], index[:order], lengths)
        at = (*places, *index[order:])
        if own:
            placed = self._placed(own, [(value, index), *entries], natural=True)
            place = max(array.place[0], placed.place[0])
        else:
            self.loops, self.here = (), self.tree.after[-1]
            place = len(self.tree.after) - 1
        code = self.entry(value, index)
        self.here.append(assigned(self._at(number, at), code, 1))
        array.place = (place,)

    # --- whole arrays

    def whole(self, number: int) -> Code:
        """Return an array with all entries of a value in C order, or the number that it is."""
        return self._whole(number, False).code

    def whole_or_transpose(self, number: int) -> WholeArray:
        """Return such an array, or one of which it is the transpose."""
        return self._whole(number, True)

    def _whole(self, number: int, may_be_transposed: bool) -> WholeArray:
        shape = self.shape_of(number)
        if not shape:
            self.loops, self.here = (), self.tree.after[-1]
            return WholeArray(self.entry(number, ()))
        wanted = variables(len(shape))
        base, index = self.below(number, wanted)
        if base in self.values or self.step(base).op in ("argument", "constant"):
            order: Sequence[int] = range(len(index))
            if base in self.values:
                value = self.values[base]
                if not value.array and len(index) == len(wanted) and {*index} == {*wanted}:
                    value.order = tuple([index.index(own) for own in wanted])
                array, order = self.stored(base), value.order
            else:
                array = self.array(base)
            places = tuple([index[axis] for axis in order])
            lengths = dict(zip(places, [self.shape_of(base)[axis] for axis in order], strict=True))
            if all(lengths.get(own) == n for own, n in zip(wanted, shape, strict=True)):
                ahead = places[: len(places) - len(wanted)]
                if places == (*ahead, *wanted) and not depth_of(ahead):
                    code = name(array)
                    return WholeArray(subscript(code, [*map(self.place, ahead)]) if ahead else code)
                if may_be_transposed and places == wanted[::-1] and len(wanted) == 2:
                    return WholeArray(name(array), True)
        if number in self.values:
            return WholeArray(self._transposed(number))
        self.compute(number)
        self.values[number].order = range(len(wanted))
        return WholeArray(name(self.stored(number)))

    def _transposed(self, number: int) -> Code:
        """Return a copy in C order of an array that lies otherwise, made in loops: Numba takes
        seconds to compile NumPy's function for that."""
        value, own = self.values[number], self.new_name()
        axes = range(len(value.order))
        here = subscript(name(own), [*map(variable_name, axes)])
        there = subscript(name(value.array), [*map(variable_name, value.order)])
        loop = self.over_entries(number, assigned(here, there))
        self.tree.append([self.allocate(number, own, axes), loop])
        return name(own)

    def over_entries(self, number: int, body: ast.stmt) -> Block | Loop:
        """Return a loop nest over all entries of a value, in which nothing else will stand."""
        loops = self.tree.new_loops(self.shape_of(number))
        if not loops:
            return [body]
        loops[-1].body.add([body])
        return loops[0]

    # --- places

    def _placed(
        self,
        lengths: Sequence[Expr],
        wanted: Sequence[Access],
        write: Write = NOWHERE,
        natural: bool = False,
        kept: Sequence[int] | None = None,
    ) -> PlacedStatement:
        """Place a statement that reads some entries into loops over axes, in the order in which
        what is read lies in memory; of a reduction, with the axes that are ``kept``."""
        found = self._reads(wanted)
        order = _loop_order(len(lengths), [] if natural else found.in_memory)
        reads = {v: [_in_loops(own, order) for own in at] for v, at in found.values.items()}
        is_kept = [kept is None or axis in kept for axis in order]
        accumulates = is_kept != sorted(is_kept, reverse=True)
        write = write._replace(at=_in_loops(write.at, order), accumulates=accumulates)
        new = Unplaced([lengths[axis] for axis in order], reads, write)
        loops, place = self.tree.place(new)
        self.loops, self.here = loops, []
        loops[-1].accumulates = accumulates
        return PlacedStatement(loops, (*place, loops[-1].body.add(self.here)), order)

    def _reads(self, wanted: Sequence[Access]) -> Reads:
        """Collect the reads of entries."""
        found = Reads(self)
        for own in wanted:
            found.add(*own)
        return found


def _loop_order(count: int, in_memory: Sequence[Sequence[Affine]]) -> tuple[int, ...]:
    """Return the order of the first array that has all axes; that of the axes themselves, if one
    has them so."""
    axes = tuple(range(count))
    orders = []
    for index in in_memory:
        found = tuple([own.variable for own in index if own.variable is not None])
        if found == axes:
            return axes
        if sorted(found) == [*axes]:
            orders.append(found)
    return orders[0] if orders else axes


def variables_at(depths: Sequence[int]) -> Index:
    """Return the variables of some loops."""
    return tuple([variable(depth) for depth in depths])
