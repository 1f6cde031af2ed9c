"""Values of one step of a loop whose steps are symbolic: items, entries, arrays that it writes.

A loop is read by executing its body once. Entries that depend on the step become inputs of a scan,
and of an array that gets one entry in each step, earlier entries become carries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import EllipsisType
from typing import TypeAlias

from sympy import Basic, Expr, Integer, expand

from .. import operations as ops
from ..core import ShapeError, TensorError, same_length, tuning
from ..expressions import (
    BoundTensor,
    Operand,
    TensorExpr,
    TensorSymbol,
    as_operand,
    shape_of,
    step_index,
)
from .values import Value, choose_value, part, sliced_sum, with_part

# How entries of tensors are taken, and how an item is made from its position.
Entry: TypeAlias = Callable[[Value, Value], Value]
Item: TypeAlias = Callable[[Value, Entry], Value]


class Steps:
    """Represent the items of an iteration whose steps are symbolic, or many.

    length : the number of items
    item : the item at a position, from 0 to length - 1
    reverse : whether positions go from the last to the first
    """

    def __init__(self, length: Value, item: Item, reverse: bool = False):
        self.length = as_operand(length)
        self.item = item
        self.reverse = reverse

    @property
    def is_long(self) -> bool:
        """Tell whether the number of steps isn't known, or too large to write them out."""
        return not self.length.is_Integer or int(self.length) > tuning.MAX_WRITTEN_STEPS

    def items(self) -> list[Value]:
        """List the items.

        Raises
        ======

        TensorError : the length is a symbol, or large
        """
        if not self.length.is_Integer:
            raise TensorError(
                f"there are {self.length} items, which must be a number here: give it by shapes=, "
                "use a for statement, or NumPy's functions of arrays"
            )
        if self.length > tuning.MAX_LIST_ENTRIES:
            raise TensorError(f"a loop over more than {tuning.MAX_LIST_ENTRIES} entries")
        found = [self.item(k, part) for k in range(int(self.length))]
        return found[::-1] if self.reverse else found

    def reversed(self) -> Steps:
        """Return the iteration from the last item to the first."""
        return Steps(self.length, self.item, not self.reverse)

    def in_order(self) -> Steps:
        """Return an iteration whose positions count from its first step."""
        if not self.reverse:
            return self
        return Steps(self.length, lambda k, entry: self.item(self.length - 1 - k, entry))


def as_steps(value: Value) -> Steps | None:
    """Return the iteration over a range or the first axis of a tensor; None for other values."""
    if isinstance(value, Steps):
        return value
    if isinstance(value, range):
        return counted(value.start, len(value), value.step)
    if isinstance(value, TensorExpr) and value.order:
        return Steps(value.shape[0], lambda k, entry: entry(value, k))
    return None


def counted(start: Value, length: Value, step: int) -> Steps:
    """Return an iteration over numbers; descending by 1, positions are those of ascending ones."""
    if step == -1:
        return Steps(length, lambda k, _: start - length + 1 + k, reverse=True)
    return Steps(length, lambda k, _: start + step * k)


def zipped(parts: Sequence[Steps]) -> Steps:
    """Return an iteration over several at once.

    Raises
    ======

    ShapeError : the lengths differ
    """
    first = parts[0]
    for other in parts[1:]:
        if not same_length(first.length, other.length):
            raise ShapeError(
                f"what a loop goes over at once has {first.length} and {other.length} items; "
                "give both the same length"
            )
    if any(other.reverse != first.reverse for other in parts):
        parts = [other.in_order() for other in parts]
    return Steps(
        first.length,
        lambda k, entry: tuple([own.item(k, entry) for own in parts]),
        parts[0].reverse,
    )


class NotStepwise(Exception):
    """An array isn't used as one of which each step writes one entry."""

    def __init__(self, name: str, reason: str):
        super().__init__(f"{name!r} {reason}")
        self.name = name


class StepTrace:
    """Hold the symbols of one step, and the tensors whose entries it takes."""

    def __init__(self, length: Expr, reverse: bool, level: int):
        self.length = length
        self.reverse = reverse
        self.level = level
        self.index = step_index(level)
        self.symbols: set[Basic] = {self.index}
        self.inputs: dict[TensorSymbol, Operand] = {}
        # Names of arrays, and positions, of entries that may have another name.
        self.views: list[tuple[str, Expr]] = []

    def symbol(self, shape: Sequence[Expr]) -> TensorSymbol:
        """Return a new symbol of the step."""
        made = BoundTensor("carry", len(self.symbols), self.level, tuple(shape))
        self.symbols.add(made)
        return made

    def owns(self, value: Value) -> bool:
        """Tell whether a value depends on the step."""
        if isinstance(value, slice):
            return any(map(self.owns, (value.start, value.stop, value.step)))
        return isinstance(value, Basic) and not self.symbols.isdisjoint(value.free_symbols)

    def affine(self, position: Value) -> tuple[Integer, Expr] | None:
        """Return c and r of a position c*k + r at step k, with c != 0; None for others."""
        if not isinstance(position, Expr) or self.index not in position.free_symbols:
            return None
        position = expand(position)
        factor = position.coeff(self.index)
        rest = expand(position - factor * self.index)
        return (factor, rest) if factor.is_Integer and not self.owns(rest) else None

    def input(self, stacked: Operand) -> Operand:
        """Return the symbol of the entry at the step of a tensor along its first axis."""
        for symbol, known in self.inputs.items():
            if known is stacked:
                return symbol
        symbol = self.symbol(shape_of(stacked)[1:])
        self.inputs[symbol] = stacked
        return symbol

    def entry(self, base: TensorExpr, index: Value, outer: Entry) -> Value:
        """Return ``base[index]`` if one position goes with the steps, as an input; else None.

        ``outer`` returns entries outside of the loop.
        """
        entries = _entries(index, base.order)
        moving = [k for k, own in enumerate(entries or ()) if self.owns(own)]
        if entries is None or len(moving) != 1 or self.owns(base):
            return None
        axis = moving[0]
        found = self.affine(entries[axis])
        if found is None:
            return None
        others = (*entries[:axis], slice(None), *entries[axis + 1 :])
        rest = base if all(own == slice(None) for own in others) else outer(base, others)
        kept = sum(isinstance(own, slice) for own in entries[:axis])
        return self.input(self._selected(ops.moveaxis(rest, kept, 0), *found))

    def _selected(self, tensor: TensorExpr, factor: Integer, start: Expr) -> Operand:
        """Return the entries at factor*k + start, for all steps k."""
        end = start + factor * (self.length - 1)
        low, high = (start, end) if factor > 0 else (end, start)
        if expand(high).is_negative:
            low, high = low + tensor.shape[0], high + tensor.shape[0]
        elif expand(low).is_negative:
            raise TensorError(
                f"the position {factor * self.index + start} is negative at the first steps, where "
                "Python counts from the end; let the range begin later"
            )
        length = tensor.shape[0]
        if expand(low).is_negative or expand(length - 1 - high).is_negative:
            raise ShapeError(
                f"the slice {low}:{high + 1} doesn't lie within an axis of length {length}"
            )
        taken = tensor[low : high + 1 : abs(factor)]
        return taken if factor > 0 else taken[::-1]


def _entries(index: Value, order: int) -> tuple[Value, ...] | None:
    """Return an index with one entry for each axis; None for masks and new axes."""
    entries = index if isinstance(index, tuple) else (index,)
    if not all(isinstance(own, (int, slice, Expr, EllipsisType)) for own in entries):
        return None
    place = next((k for k, own in enumerate(entries) if own is ...), len(entries))
    before, after = entries[:place], entries[place + 1 :]
    missing = order - len(before) - len(after)
    return None if missing < 0 else (*before, *[slice(None)] * missing, *after)


@dataclass(frozen=True, eq=False)
class SteppedArray:
    """Represent an array, or a list that grows, of which each step writes one entry.

    base : the array or list before the loop
    entries : symbols of entries that a step didn't write before it read them, by their position at
        step 0
    position : the position at step 0 of the entry that the step has written
    value : this entry
    """

    name: str
    base: Value
    trace: StepTrace
    entries: dict[Expr, TensorSymbol] = field(default_factory=dict)
    position: Expr | None = None
    value: Value = None

    @property
    def is_list(self) -> bool:
        """Tell whether it is a list, which grows by one value in each step."""
        return isinstance(self.base, list)

    def __getitem__(self, index: Value) -> Value:
        first, rest = self._split(index)
        entry = self._at(self._position(first))
        return part(entry, rest) if rest else entry

    def view(self, index: Value) -> Value:
        """Return an entry that may get a name."""
        entry = self[index]
        if shape_of(as_operand(entry)):
            self.trace.views.append((self.name, self._position(self._split(index)[0])))
        return entry

    def stored(self, index: Value, value: Value) -> SteppedArray:
        """Return the array after ``array[index] = value``."""
        first, rest = self._split(index)
        position = self._position(first)
        if self.is_list:
            raise NotStepwise(self.name, "is a list, which grows by append in a loop")
        if self.position not in (None, position):
            raise NotStepwise(self.name, "is written at several positions in one step")
        if (self.name, position) in self.trace.views:
            raise NotStepwise(self.name, "is written again while a part of it has another name")
        shape = self.base.shape[1:]
        if rest:
            new = with_part(self._at(position), rest, value)
        elif shape:
            new = ops.broadcast_to(as_operand(value), shape)
        elif shape_of(as_operand(value)):
            raise ShapeError(f"an entry of {self.name!r} is a number, not of shape {value.shape}")
        else:
            new = as_operand(value)
        return replace(self, position=position, value=new)

    def appended(self, value: Value) -> SteppedArray:
        """Return the list after ``list.append(value)``."""
        if self.position is not None:
            raise NotStepwise(self.name, "grows by more than one value in a step")
        return replace(self, position=as_operand(len(self.base)), value=value)

    def merged(self, condition: Value, other: SteppedArray) -> SteppedArray:
        """Return the array after a branch, or after another one."""
        positions = {own.position for own in (self, other)} - {None}
        if len(positions) != 1:
            raise NotStepwise(self.name, "is written at several positions in one step")
        (position,) = positions
        value = choose_value(condition, self._at(position), other._at(position))
        return replace(self, position=position, value=value)

    def _at(self, position: Expr) -> Value:
        if position == self.position:
            return self.value
        if position not in self.entries:
            if self.is_list and not self.base:
                raise TensorError(f"{self.name!r} is empty at the first step")
            like = shape_of(as_operand(self.base[-1])) if self.is_list else self.base.shape[1:]
            self.entries[position] = self.trace.symbol(like)
        return self.entries[position]

    def _split(self, index: Value) -> tuple[Value, tuple[Value, ...]]:
        entries = index if isinstance(index, tuple) else (index,)
        if not entries or not isinstance(entries[0], (int, Expr)):
            raise NotStepwise(self.name, "is used as a whole in a loop that writes its entries")
        rest = entries[1:]
        return entries[0], () if all(own in (slice(None), ...) for own in rest) else rest

    def _position(self, first: Value) -> Expr:
        """Return the position at step 0 of an entry whose position grows with the steps."""
        if self.is_list and isinstance(first, int) and first < 0:
            return as_operand(len(self.base) + first + (self.position is not None))
        found = self.trace.affine(first)
        if found is None or found[0] != 1 or (self.is_list and self.trace.reverse):
            raise NotStepwise(
                self.name, f"is read or written at {first}, which doesn't grow by 1 in each step"
            )
        return found[1]

    def lag(self, position: Expr) -> int:
        """Return the number of steps ago in which an entry was written; 0 or less if it wasn't."""
        assert self.position is not None
        lag = expand(self.position - position)
        if not lag.is_Integer:
            raise NotStepwise(self.name, f"is read {lag} steps back, which must be a number")
        return int(-lag if self.trace.reverse and not self.is_list else lag)

    def before(self, position: Expr) -> Operand:
        """Return the entry at a position, of the steps' first, before the loop."""
        if self.is_list:
            count = int(position)
            if not 0 <= count < len(self.base):
                raise TensorError(f"{self.name!r} is shorter at the first step")
            return as_operand(self.base[count])
        at = expand(position + self.trace.length - 1) if self.trace.reverse else position
        return sliced_sum(self.base, (int(at) if at.is_Integer else at,))

    def inputs(self, position: Expr) -> Operand:
        """Return the entries that the steps read before they were written."""
        if self.is_list:
            raise NotStepwise(self.name, "is read at positions that it hasn't yet")
        if position.is_negative:
            raise NotStepwise(self.name, "is read at negative positions")
        count = self.base.shape[0]
        if expand(count - position - self.trace.length).is_negative:
            raise ShapeError(f"{self.name!r} is read beyond its axis of length {count}")
        return self.base[position : position + self.trace.length]

    def rewritten_views(self) -> bool:
        """Tell whether an entry has a name and is written later."""
        return self.position is not None and any(
            self.lag(own) < 0 for name, own in self.trace.views if name == self.name
        )

    def after(self, values: Operand) -> Operand:
        """Return the array after the loop, given the entries that it wrote."""
        assert self.position is not None
        if self.is_list:
            if self.trace.reverse:
                values = values[::-1]
            if not self.base:
                return values
            return ops.concatenate([ops.stack([as_operand(own) for own in self.base]), values])
        count, start = self.base.shape[0], self.position
        end = expand(start + self.trace.length)
        if start.is_negative or expand(count - end).is_negative:
            raise ShapeError(f"{self.name!r} is written beyond its axis of length {count}")
        pieces = [] if start == 0 else [sliced_sum(self.base, (slice(None, start),))]
        pieces.append(values)
        if not same_length(end, count):
            pieces.append(sliced_sum(self.base, (slice(end, None),)))
        return values if len(pieces) == 1 else ops.concatenate(pieces)

    def has_path(self) -> bool:
        """Tell whether the loop writes all entries but the first, in the order of its steps."""
        if self.position is None or (self.is_list and self.trace.reverse):
            return False
        if isinstance(self.base, list):
            return len(self.base) == 1
        first = 0 if self.trace.reverse else 1
        return self.position == first and same_length(
            self.base.shape[0], expand(self.trace.length + 1)
        )


def stored_part(base: Value, index: Value, value: Value) -> Value:
    """Return an array after ``base[index] = value``."""
    if isinstance(base, SteppedArray):
        return base.stored(index, value)
    return with_part(base, index, value)


def chosen(condition: Value, a: Value, b: Value) -> Value:
    """Select ``a`` if a condition on the arguments holds, else ``b``."""
    if isinstance(a, SteppedArray) and isinstance(b, SteppedArray) and a is not b:
        return a.merged(condition, b)
    return choose_value(condition, a, b)
