"""Entries of values as code, through views and entrywise functions down to arrays in memory."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from sympy import Expr

from ....core import Shape, tuning
from ....expressions import shape_of
from ...ir.code import (
    Code,
    Operand,
    Template,
    assigned,
    call,
    dotted,
    dotted_name,
    name,
    negative,
    nodes,
    product,
    quote,
    subscript,
    template_of,
    total,
)
from ...ir.instruction_rules import Instruction
from ...ir.loops import (
    Affine,
    Allocate,
    Atom,
    Block,
    GatheredIndex,
    Index,
    Key,
    Loop,
    LoopVariable,
    MinMax,
    depth_of,
    variable_name,
)
from ...ir.plans import Plan
from ..loop_functions import LoopSpelling
from .access import Access, operands_at, through
from .inlining import ValueFacts
from .placement import LoopTree, StoredValue

# The code of a length, given the names of symbols.
SizeCode: TypeAlias = Callable[[Expr, Mapping[Expr, str]], Code]


class Spelling(LoopSpelling, Protocol):
    """The part of a backend that code of entries needs."""

    @property
    def support(self) -> Collection[str]: ...

    def scalar(self, operands: Sequence[Code], expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots."""
        ...


class Entries:
    """The values of a plan, and the code of their entries where statements are written at the
    moment."""

    def __init__(self, plan: Plan, names: Mapping[Expr, str], spelling: Spelling, size: SizeCode):
        self.plan = plan
        # The code of arguments and axis lengths.
        self.names = names
        self.spelling = spelling
        self.facts = ValueFacts(plan)
        self.tree = LoopTree(self.size)
        self.values: dict[int, StoredValue] = {}
        # The loops that the next statement stands in, and the list that it is appended to.
        self.loops: Sequence[Loop] = ()
        self.here: Block = []
        self.constants: dict[int, str] = {}
        self._size = size
        self.new_names: Iterator[int] = itertools.count(1)
        self._bodies: dict[tuple[Expr, int], Template] = {}

    def step(self, number: int) -> Instruction:
        """Return the instruction of a number."""
        return self.plan.instructions[number]

    def shape_of(self, number: int) -> Shape:
        """Return the shape of a value."""
        return self.plan.instructions[number].shape

    def size(self, length: Expr) -> Code:
        """Return the code of a length."""
        return self._size(length, self.names)

    def new_name(self) -> str:
        """Return a name that nothing has yet."""
        return f"t{next(self.new_names)}"

    # --- entries

    def entry(self, number: int, index: Index) -> Code:
        """Return the code of an entry."""
        number, index = self.below(number, index)
        if number in self.values:
            return self._read(number, index)
        step = self.step(number)
        if step.op == "argument" and not shape_of(step.params[0]):
            return name(self._argument(step))
        if step.op in ("argument", "constant"):
            return self._in_array(number, self.array(number), index)
        known = self._known((number, index))
        if known is not None:
            return known
        code = self.computed(number, index)
        if isinstance(code, ast.Constant) or bool(dotted_name(code)):
            return code
        is_innermost = depth_of(index) == len(self.loops)
        if (
            is_innermost
            and self.facts.uses[number] == 1
            and sum([isinstance(node, (ast.Name, ast.Constant)) for node in nodes(code)])
            <= tuning.MAX_INLINED_NAMES
        ):
            return code
        return self._named((number, index), depth_of(index), code)

    def below(self, number: int, index: Index) -> tuple[int, Index]:
        """Return the base of a chain of views, and the index in it."""
        while number not in self.values and self.facts.views[number]:
            step = self.step(number)
            found = through(step, self.shape_of(step.inputs[0]), index)
            assert found is not None
            number, index = step.inputs[0], found
        return number, index

    def operands_at(self, number: int, index: Index) -> list[Access]:
        """Return the entries that an entry of an entrywise value is computed from."""
        step = self.step(number)
        return operands_at(step, [self.shape_of(k) for k in step.inputs], index)

    def _argument(self, step: Instruction) -> str:
        if step.params[0] not in self.names:
            self.size(step.params[0])  # says what is missing
        return self.names[step.params[0]]

    def array(self, number: int) -> str:
        """Return the name of an argument or a constant."""
        step = self.step(number)
        if step.op == "argument":
            return self._argument(step)
        return self.constants.setdefault(number, f"_constant{len(self.constants)}")

    def _known(self, key: Key) -> Code | None:
        inner = None
        for loop in reversed(self.loops):
            own = loop.name_of(key, inner)
            if own is not None:
                return own
            inner = loop
        return None

    def _named(self, key: Key, depth: int, code: Code) -> Code:
        """Assign an entry to a variable, in the outermost loop in which it isn't invariant; return
        that."""
        own = name(self.new_name())
        if depth == len(self.loops):
            self.here.append(assigned(own, code))
            if self.loops:
                self.loops[-1].learn(key, own)
        else:
            self.loops[depth].before.append(assigned(own, code))
            self.loops[depth].known[key] = 0, own
        return own

    def _read(self, number: int, index: Index) -> Code:
        value = self.values[number]
        if not index and value.name:
            return name(value.name)
        known = self._known((number, index))
        if known is not None:
            return known
        return self._in_array(number, self.stored(number), index, value.order)

    def _in_array(
        self, number: int, array: str, index: Index, order: Sequence[int] | None = None
    ) -> Code:
        """Return the entry of an array whose axes lie in some order in memory."""
        places = index if order is None else [index[k] for k in order]
        key, depth = (number, index), depth_of(index)
        is_read_once = self.facts.uses[number] == 1 and depth == len(self.loops)
        known = None if is_read_once else self._known(key)
        if known is not None:
            return known
        code = subscript(name(array), [self.place(own) for own in places])
        return code if is_read_once else self._named(key, depth, code)

    def stored(self, number: int) -> str:
        """Return the array that holds a value, which is allocated if there is none yet."""
        value = self.values[number]
        if not value.array:
            value.array = self.new_name()
            value.allocate.append(self.allocate(number, value.array, value.order))
            index = [variable_name(value.index[k]) for k in value.order]
            value.store.append(assigned(subscript(name(value.array), index), name(value.name)))
        return value.array

    def allocate(self, number: int, array: str, order: Sequence[int]) -> Allocate:
        """Return the allocation of an array for a value, its axes in some order."""
        lengths = self.shape_of(number)
        return Allocate(array, [self.size(lengths[k]) for k in order], self.kind(number))

    def shape(self, number: int) -> list[Code]:
        """Return the code of a shape."""
        return [self.size(length) for length in self.shape_of(number)]

    def kind(self, number: int) -> Code:
        """Return the type of a value's entries."""
        return dotted("np.int64") if number in self.facts.positions else name("dtype")

    # --- indices

    def place(self, index: Affine) -> Code:
        """Return an index as it stands in brackets: a number without a sign isn't counted from the
        end."""
        code = self.index(index)
        return code if _is_unsigned(index) else quote("np.uintp({0})", code)

    def index(self, index: Affine) -> Code:
        """Return the code of an index."""
        added: list[Code] = []
        subtracted: list[Code] = []
        for atom, coefficient in index.terms:
            factor = -coefficient if coefficient.is_negative else coefficient
            term = self._atom(atom)
            term = term if factor == 1 else product([self.size(factor), term])
            (subtracted if coefficient.is_negative else added).append(term)
        if not added or not index.offset.is_zero:
            is_negative = bool(added) and bool(index.offset.is_negative)
            offset = self.size(-index.offset if is_negative else index.offset)
            (subtracted if is_negative else added).append(offset)
        first, *rest = added
        terms = [*[(False, term) for term in rest], *[(True, term) for term in subtracted]]
        return total(first, terms)

    def _atom(self, atom: Atom) -> Code:
        if isinstance(atom, LoopVariable):
            return variable_name(atom.depth)
        if isinstance(atom, GatheredIndex):
            return self._position(atom)
        return call(atom.function, self.index(atom.first), self.index(atom.second))

    def _position(self, key: GatheredIndex) -> Code:
        """Return a position that is an entry of an array, checked."""
        known = self._known(key)
        if known is not None:
            return known
        entry = self.entry(key.number, key.at)
        code = quote("position({0}, {1})", entry, self.size(key.length))
        return self._named(key, depth_of(key.at), code)

    # --- entrywise instructions

    def computed(self, number: int, index: Index) -> Code:
        """Return the code that computes an entry of an entrywise value."""
        step, operands = self.step(number), self.operands_at(number, index)
        rule = _COMPUTED.get(step.op)
        if rule is not None:
            return rule(self, step, index, operands)
        codes = [self.entry(*own) for own in operands]
        key = step.params[0], len(codes)
        if key not in self._bodies:
            places = [Operand(k) for k in range(len(codes))]
            self._bodies[key] = template_of(self.spelling.scalar(places, step.params[0]))
        code: Code = self._bodies[key](codes)
        return code

    def _last(self, step: Instruction, index: Index, operands: Sequence[Access]) -> Code:
        return self.entry(*operands[-1])

    def _product(self, step: Instruction, index: Index, operands: Sequence[Access]) -> Code:
        return product([self.entry(*own) for own in operands])

    def _sum(self, step: Instruction, index: Index, operands: Sequence[Access]) -> Code:
        codes = [self.entry(*own) for own in operands]
        signs = [sign < 0 for sign in step.params[0]]
        first = negative(codes[0]) if signs[0] else codes[0]
        return total(first, [*zip(signs[1:], codes[1:], strict=True)])

    def _tri(self, step: Instruction, index: Index, operands: Sequence[Access]) -> Code:
        row, column = map(self.index, index)
        diagonal = self.size(step.params[2])
        return quote("1.0 if {0} - {1} <= {2} else 0.0", column, row, diagonal)

    def _triangular(self, step: Instruction, index: Index, operands: Sequence[Access]) -> Code:
        upper, offset = step.params
        entry = self.entry(*operands[0])
        test = "{1} - {2} >= {3}" if upper else "{1} - {2} <= {3}"
        row, column = map(self.index, index[-2:])
        return quote(f"{{0}} if {test} else 0.0", entry, column, row, self.size(offset))

    def _range(self, step: Instruction, index: Index, operands: Sequence[Access]) -> Code:
        return self.index(index[0])

    def _one_hot(self, step: Instruction, index: Index, operands: Sequence[Access]) -> Code:
        place = self._position(GatheredIndex(*operands[0], step.params[0]))
        return quote("1.0 if {0} == {1} else 0.0", place, self.index(index[-1]))


_COMPUTED: dict[str, Callable[[Entries, Instruction, Index, Sequence[Access]], Code]] = {
    "multiply": Entries._product,
    "einsum": Entries._product,
    "add": Entries._sum,
    "full": Entries._last,
    "mirrored": Entries._last,
    "tri": Entries._tri,
    "triangular": Entries._triangular,
    "range": Entries._range,
    "one_hot": Entries._one_hot,
    "take": Entries._last,
}


class Reads:
    """The entries of stored values that a statement reads, and the indices of all arrays that it
    reads, their axes in the order of memory."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self.values: dict[StoredValue, list[Index]] = {}
        self.in_memory: list[Sequence[Affine]] = []
        self._seen: set[Access] = set()

    def add(self, number: int, index: Index) -> None:
        """Add what an entry is read or computed from."""
        number, index = self.entries.below(number, index)
        value = self.entries.values.get(number)
        if value is not None:
            self.values.setdefault(value, []).append(index)
            self.in_memory.append([index[k] for k in value.order] if value.order else index)
        elif self.entries.step(number).op in ("argument", "constant"):
            self.in_memory.append(index)
        elif (number, index) not in self._seen:
            self._seen.add((number, index))
            for own in self.entries.operands_at(number, index):
                self.add(*own)


def _is_unsigned(index: Affine) -> bool:
    """Tell whether Numba knows an index not to be negative, or it is a position."""
    if not index.terms:
        return index.offset.is_Symbol or bool(index.offset.is_Integer and index.offset >= 0)
    is_sum = len(index.terms) > 1 or index.terms[0][1] != 1
    is_ahead = bool(index.offset.is_Integer and index.offset >= 0)
    return is_ahead and not is_sum and not isinstance(index.terms[0][0], MinMax)
