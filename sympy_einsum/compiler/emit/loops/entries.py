"""Entries of values as texts, through views and entrywise functions down to arrays in memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from sympy import Expr, preorder_traversal

from ....core import tuning
from ....expressions import shape_of
from ...backends import Backend
from ...ir.code import Operand, Template, name, template_of
from ...ir.instruction_rules import Instruction
from ...ir.instructions import OPS
from ...ir.plans import Plan
from ..printer import printed
from ..signature import size_text
from .tree import Index, Lines, Loop, Tree, Value
from .views import stretched, through

# Entrywise instructions besides those with a body.
ENTRYWISE = {"full", "tri", "triangular", "mirrored", "one_hot", "range", "take"}

# Instructions from positions to positions, besides views.
OF_POSITIONS = {"take", "copy", "reshape", "full", "sum", "add"}


class Reads:
    """The reads of entries: values with their indices, and the indices of all arrays in memory
    order."""

    def __init__(self) -> None:
        self.values: dict[Value, list[Index]] = {}
        self.in_memory: list[list[str]] = []
        # Visited entries: those that are used twice have the same reads.
        self.seen: set[tuple[int, Index]] = set()


class Entries:
    """The values of a plan, and the texts of their entries."""

    def __init__(self, plan: Plan, names: Mapping[Expr, str], backend: Backend):
        self.plan = plan
        self.names = names
        # Lengths that differ in loops over some of the rows.
        self.lengths: Mapping[Expr, str] = {}
        self.backend = backend
        self.tree = Tree()
        self.values: dict[int, Value] = {}
        # Where statements are written at the moment.
        self.loops: list[Loop] = []
        self.here: Lines = []
        # The reads found while a statement has no place yet.
        self.reads: Reads | None = None
        self.constants: dict[int, str] = {}
        # In how many loops what has a name is known.
        self.depths = {f"i{k}": k + 1 for k in range(tuning.MAX_NAMED_LOOPS)}
        self._count = 0
        self._bodies: dict[int, Template] = {}
        self.uses: Counter[int] = Counter(self.root(k) for k in plan.results)
        self.whole_uses: set[int] = set()
        # The most axes of what is made of a value.
        self.widest: Counter[int] = Counter()
        for step in plan.instructions:
            if not self._is_view(step):
                self._count_uses(step)
        self.integers = self._positions()
        self._costs: dict[int, int] = {}
        self._nestings: dict[int, int] = {}

    def _count_uses(self, step: Instruction) -> None:
        roots = {self.root(k) for k in step.inputs}
        self.uses.update(roots)
        axes = max([_axes(step), *[_axes(self.step(k)) for k in step.inputs]])
        for root in roots:
            self.widest[root] = max(self.widest[root], axes)

    def step(self, number: int) -> Instruction:
        """Return the instruction of a number."""
        return self.plan.instructions[number]

    def size(self, length: Expr) -> str:
        """Return the text of a length."""
        return size_text(length, {**self.names, **self.lengths}, self.backend)

    def new_name(self) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"t{self._count}"

    # --- what is what

    def is_entrywise(self, number: int) -> bool:
        """Tell whether each entry comes from single entries of the operands."""
        op, _, params, _ = self.step(number)
        if op == "einsum":
            terms, output = params[0].split("->")
            return set(terms) - {","} <= set(output)
        return OPS[op].body is not None or op in ENTRYWISE

    def _is_view(self, step: Instruction) -> bool:
        if not step.inputs:
            return False
        shape = self.step(step.inputs[0]).shape
        index = tuple(["0"] * len(step.shape))
        return through(step, shape, index, lambda length: "0") is not None

    def root(self, number: int) -> int:
        """Return the base of a chain of views."""
        step = self.step(number)
        while self._is_view(step):
            number = step.inputs[0]
            step = self.step(number)
        return number

    def _positions(self) -> set[int]:
        """Return the values that are integers: positions on axes."""
        found: set[int] = set()
        steps = self.plan.instructions
        for step in steps:
            if step.op in ("take", "scatter", "scatters"):
                width = 1 + len(step.params[0]) if step.op == "scatters" else len(step.inputs)
                places = [k for place, k in enumerate(step.inputs) if place % width]
                found.update(map(self.root, places))
            if step.op == "one_hot":
                found.add(self.root(step.inputs[0]))
        found = {k for k in found if steps[k].op in ("argument", "constant")}
        for number, step in enumerate(steps):
            made_of = step.inputs if step.op == "add" else step.inputs[:1]
            if step.op in ("positions", "range") or (
                (step.op in OF_POSITIONS or self._is_view(step))
                and found.issuperset(map(self.root, made_of))
            ):
                found.add(number)
        return found

    def cost(self, number: int) -> int:
        """About how many operations an entry takes that isn't in memory."""
        if number not in self._costs:
            self._costs[number] = self._cost(number)
        return self._costs[number]

    def _cost(self, number: int) -> int:
        if number in self.values or not self.is_entrywise(number):
            return 0
        step = self.step(number)
        body = OPS[step.op].body
        own = len(step.inputs)
        if body is not None:
            own = sum(_operations(part) for part in preorder_traversal(body(step)))
        return own + sum(self.cost(self.root(k)) for k in step.inputs)

    def nesting(self, number: int) -> int:
        """In how many levels of functions an entry is computed from what is in memory."""
        if number in self.values or not self.is_entrywise(number):
            return 0
        if number not in self._nestings:
            below = [self.nesting(self.root(k)) for k in self.step(number).inputs]
            self._nestings[number] = 1 + max(below, default=0)
        return self._nestings[number]

    def stands_inside(self, number: int) -> bool:
        """Tell whether the entries of a value are computed where they are needed only."""
        step = self.step(number)
        if not self.is_entrywise(number) or number in self.plan.results:
            return False
        if number in self.whole_uses and step.shape:
            return False
        if not step.shape:
            return not step.inputs
        if self.nesting(number) > tuning.MAX_INLINED_LEVELS:
            return False
        if self.widest[number] > _axes(step):
            return self.cost(number) <= tuning.MAX_OPERATIONS_ALONG
        return self.cost(number) <= tuning.MAX_RECOMPUTED_OPERATIONS or self.uses[number] == 1

    # --- entries

    def entry(self, number: int, index: Index) -> str:
        """Return the text of an entry, which may stand next to an operator."""
        step = self.step(number)
        if number not in self.values:
            number, index = self.below(number, index)
            step = self.step(number)
        if number in self.values:
            return self._read(number, index)
        if step.op == "argument" and not shape_of(step.params[0]):
            return self._argument(step)
        if step.op in ("argument", "constant"):
            return self._in_array(number, self.array(number), index)
        if self.reads is not None:
            if (number, index) not in self.reads.seen:
                self.reads.seen.add((number, index))
                self._spelled(number, step, index)
            return "_"
        known = self._known(number, index)
        if known is None:
            text = self._spelled(number, step, index)
            if re.fullmatch(r"[\w.]+", text):
                return text
            is_inner = self._depth(index) == len(self.loops)
            if is_inner and len(text) <= tuning.MAX_INLINED_TEXT and self.uses[number] == 1:
                return text if is_atom(text) else f"({text})"
            known = self._named(number, index, text)
        return known

    def below(self, number: int, index: Index) -> tuple[int, Index]:
        """Return the base of a chain of views, and the index in it."""
        while number not in self.values and self.step(number).inputs:
            step = self.step(number)
            found = through(step, self.step(step.inputs[0]).shape, index, self.size)
            if found is None:
                break
            number, index = step.inputs[0], found
        return number, index

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

    def _known(self, number: int, index: Index) -> str | None:
        inner = None
        for loop in reversed(self.loops):
            name = loop.name_of(number, index, inner)
            if name is not None:
                return name
            inner = loop
        return None

    def _named(self, number: int, index: Index, text: str) -> str:
        """Return the name of an entry, computed in the outermost loop that it depends on."""
        depth = self._depth(index)
        name = self.new_name()
        self.depths[name] = depth
        if depth == len(self.loops):
            self.here.append(f"{name} = {text}")
            if self.loops:
                self.loops[-1].learn(number, index, name)
        else:
            self.loops[depth].before.append(f"{name} = {text}")
            self.loops[depth].known[number, index] = 0, name
        return name

    def _depth(self, index: Sequence[str]) -> int:
        """In how many loops the entry with an index is known."""
        words = re.findall(r"\w+", " ".join(index))
        return max([self.depths.get(word, 0) for word in words], default=0)

    def _read(self, number: int, index: Index) -> str:
        value = self.values[number]
        if self.reads is not None:
            self.reads.values.setdefault(value, []).append(index)
            self.reads.in_memory.append([index[k] for k in value.order or range(len(index))])
            return "_"
        if not index and value.name:
            return value.name
        known = self._known(number, index)
        if known is not None:
            return known
        return self._in_array(number, self.stored(number), index, value.order)

    def _in_array(self, number: int, array: str, index: Index, order: Sequence[int] = ()) -> str:
        """An entry of an array whose axes lie in some order in memory."""
        places = [index[k] for k in order or range(len(index))]
        if self.reads is not None:
            self.reads.in_memory.append(places)
            return "_"
        text = f"{array}[{', '.join(map(place_text, places))}]"
        if self.uses[number] == 1 and self._depth(index) == len(self.loops):
            return text
        known = self._known(number, index)
        return self._named(number, index, text) if known is None else known

    def stored(self, number: int) -> str:
        """Return the array that holds a value, which is made if there is none yet."""
        value, step = self.values[number], self.step(number)
        if not value.array:
            value.array = self.new_name()
            value.order = value.order or tuple(range(len(step.shape)))
            value.allocate.append(f"{value.array} = {self.empty(number, value.order)}")
            index = [value.index[k] for k in value.order]
            value.store.append(f"{value.array}[{', '.join(index)}] = {value.name}")
        return value.array

    def empty(self, number: int, order: Sequence[int], function: str = "empty") -> str:
        """A new array for a value."""
        shape = self.shape(number, order)
        return f"np.{function}({shape}, {self.kind(number)})"

    def shape(self, number: int, order: Sequence[int] | None = None) -> str:
        """Return the text of a shape, its axes in some order."""
        lengths = self.step(number).shape
        places = range(len(lengths)) if order is None else order
        texts = [self.size(lengths[k]) for k in places]
        return f"({', '.join(texts)}{',' * (len(texts) == 1)})"

    def kind(self, number: int) -> str:
        """Return the type of a value's entries."""
        return "np.int64" if number in self.integers else "dtype"

    # --- what is done to entries

    def _spelled(self, number: int, step: Instruction, index: Index) -> str:
        op, inputs, params, shape = step
        if op in ENTRYWISE:
            text: str = getattr(self, f"_{op}")(step, index)
            return text
        if op == "einsum":
            terms, output = params[0].split("->")
            at = dict(zip(output, index, strict=True))
            indices = [tuple([at[label] for label in term]) for term in terms.split(",")]
        else:
            shapes = [self.step(k).shape for k in inputs]
            indices = [stretched(own, shape, index) for own in shapes]
        operands = [self.entry(k, own) for k, own in zip(inputs, indices, strict=True)]
        if self.reads is not None:
            return "_"
        if op in ("multiply", "einsum"):
            return " * ".join(operands)
        if op == "add":
            return printed(self.backend.add([*map(name, operands)], params[0]))
        if number not in self._bodies:
            places = [Operand(k) for k in range(len(inputs))]
            self._bodies[number] = template_of(self.backend.scalar(places, params[0]))
        return printed(self._bodies[number]([*map(name, operands)]))

    def _full(self, step: Instruction, index: Index) -> str:
        return self.entry(step.inputs[0], ())

    def _tri(self, step: Instruction, index: Index) -> str:
        return f"(1.0 if {index[1]} - ({index[0]}) <= {self.size(step.params[2])} else 0.0)"

    def _triangular(self, step: Instruction, index: Index) -> str:
        upper, offset = step.params
        value = self.entry(step.inputs[0], index)
        compared = f"{index[-1]} - ({index[-2]}) {'>=' if upper else '<='} {self.size(offset)}"
        return f"({value} if {compared} else 0.0)"

    def _mirrored(self, step: Instruction, index: Index) -> str:
        function = "max" if step.params[0] else "min"
        return self.entry(step.inputs[0], (*index[:-2], f"{function}({index[-2]}, {index[-1]})"))

    def _range(self, step: Instruction, index: Index) -> str:
        return f"({index[0]})"

    def _one_hot(self, step: Instruction, index: Index) -> str:
        place = self.position(step.inputs[0], index[:-1], self.size(step.params[0]))
        return f"(1.0 if {place} == {index[-1]} else 0.0)"

    def _take(self, step: Instruction, index: Index) -> str:
        source, *positions = step.inputs
        (first,) = step.params
        shape = self.step(source).shape
        order = len(step.shape) - (len(shape) - len(positions))
        at = index[first : first + order]
        places = self.positions(positions, step.shape[first : first + order], at, shape[first:])
        return self.entry(source, (*index[:first], *places, *index[first + order :]))

    def positions(
        self, positions: Sequence[int], shape: Sequence[Expr], index: Index, lengths: Sequence[Expr]
    ) -> list[str]:
        """Return the texts of positions, which broadcast to a shape, on axes of some lengths."""
        return [
            self.position(k, stretched(self.step(k).shape, tuple(shape), index), self.size(length))
            for k, length in zip(positions, lengths, strict=False)
        ]

    def position(self, number: int, index: Index, length: str) -> str:
        """A position that is an entry of an array, checked."""
        text = f"position({self.entry(number, index)}, {length})"
        if self.reads is not None:
            return "_"
        key = (*index, length)
        known = self._known(~number, key)
        return self._named(~number, key, text) if known is None else known


def _axes(step: Instruction) -> int:
    """Return the number of axes that aren't of length 1."""
    return sum(length != 1 for length in step.shape)


def _operations(part: Expr) -> int:
    if part.is_Function:
        return tuning.FUNCTION
    if part.is_Pow:
        return 1 if part.exp.is_Integer and part.exp > 0 else tuning.ROOT
    return max(len(part.args) - 1, 0)


def place_text(index: str) -> str:
    """An index as it stands in brackets: a number without a sign isn't counted from the end."""
    return index if re.fullmatch(r"\w+( \+ \d+)?|position\(.*\)", index) else f"np.uintp({index})"


def is_atom(text: str) -> bool:
    """Tell whether a text is one name, call or index, such as ``f(x)[0].T``."""
    if text.isidentifier():
        return True
    depth = 0
    for char in text:
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0 and not (char.isalnum() or char in "_."):
            return False
    return not text[:1].isdigit() or text.replace(".", "", 1).isdigit()
