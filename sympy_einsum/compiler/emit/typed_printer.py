"""Statements of kernels in a language with types.

Types come from the arguments, from allocations and from the signatures of functions: each variable
is declared where it is first assigned, with the type of that value. An array that is assigned to
more than once, as what a loop carries, has memory of its own, which is copied to.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any

from ...core import TensorError, UnsupportedError
from ..ir.code import Code, called_name, dotted_name, names_in, nodes
from ..ir.loops import Allocate
from .language import COMPARISONS, Language, call_text
from .typed_calls import CALLS
from .typed_values import (
    DOUBLE,
    INTEGER,
    RELATION,
    SIGN,
    TRUTH,
    AnyValue,
    Argument,
    ArrayValue,
    TupleValue,
    Value,
    array_value,
    difference_of,
    integer,
    offset_in,
    product_of,
    refusal,
    scalar_value,
    sum_of,
)


class ErrorCode(IntEnum):
    """The codes that functions return for errors."""

    SINGULAR = 1
    OUTSIDE = 2
    NO_MEMORY = 3


# Steps of reductions, with their names in OpenMP's clauses.
_STEPS = {"add": "+", "larger": "max"}
_CREATED = ("empty", "np.full")


class TypedPrinter:
    """Prints statements into lines.

    Attributes
    ==========

    language : how it spells them
    values : the values of the variables in scope
    lines : the lines of the block that is written, without its margin
    positions : the arguments that are positions on axes
    used : the parts of the helper functions that are called
    results : the names of the results, by the variables that are these
    allocated : the arrays that are allocated in the block
    declared : the variables that are declared before all statements, with their types
    can_fail : whether there is a test for an error
    """

    def __init__(self, language: Language, new_name: Callable[[], str]):
        self.language = language
        self.new_name = new_name
        self.values: dict[str, AnyValue] = {}
        self.positions: list[str] = []
        self.results: dict[str, str] = {}
        self.lines: list[str] = []
        self.used: dict[str, None] = {}
        self.can_fail = False
        self.declared: dict[str, str] = {}
        self.allocated: list[str] = []
        self._uses: Counter[str] = Counter()
        self._assigned: Counter[str] = Counter()
        # The pointers that carries of loops may be exchanged with.
        self._exchanged: set[str] = set()
        self._carried: set[str] = set()
        # The variables that doubles are assigned to, also where they are integers first.
        self._doubles: set[str] = set()

    def body(self, statements: Sequence[ast.stmt], results: Sequence[Code]) -> list[AnyValue]:
        """Print the statements of a function; return the values of its results."""
        whole = ast.Module([*statements, *map(ast.Expr, results)], [])
        copies: list[tuple[str, str]] = []
        for node in nodes(whole):
            if isinstance(node, ast.Name):
                self._uses[node.id] += 1
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
                names = [own.id for own in _parts(target) if isinstance(own, ast.Name)]
                self._assigned.update(names)
                if called_name(node.value) == "dtype":
                    self._doubles.update(names)
                    # To convert a variable doesn't use it.
                    self._uses.subtract([own for own in names if _is_in(own, node.value)])
                elif isinstance(node.value, ast.Name):
                    copies += [(own, node.value.id) for own in names]
        # Nor does a copy that nothing reads.
        while dead := [pair for pair in copies if self._is_dead(pair[0])]:
            self._uses.subtract([source for _, source in dead])
            copies = [pair for pair in copies if pair not in dead]
        self.block(statements)
        return [self.value(code) for code in results]

    # --- what calls of helper functions need

    def use(self, part: str) -> str:
        """Return the name of a function in place of a helper function, or of that, which is used
        then."""
        own = self.language.intrinsics.get(part, part)
        if own in self.language.parts():
            self.used[own] = None
        return own

    def compute(
        self, part: str, *arguments: Argument, memory: bool = False, fails: bool = False
    ) -> None:
        """Call a helper function that writes into arrays."""
        self.language.compute(self, self.use(part), arguments, memory=memory, fails=fails)

    def number(self, part: str, *arguments: Argument, memory: bool = False) -> Value:
        """Return the number that a helper function computes, which may fail."""
        return self.language.number(self, self.use(part), arguments, memory=memory)

    def called(self, part: str, *arguments: Argument) -> str:
        """Return the text of a call of a helper function that returns a number."""
        return call_text(self.language, self.use(part), arguments, self.use)

    def factored(self, own: str, *arguments: Argument) -> None:
        """Factor a matrix."""
        self.use("factored")
        self.language.factors(self, own, arguments)

    def fail_if(self, test: Value, error: ErrorCode) -> None:
        """Add a test for an error."""
        self.can_fail = True
        self.language.fail_if(self, test, error)

    def new_array(
        self, shape: Sequence[Value], kind: str = DOUBLE, own: str | None = None
    ) -> ArrayValue:
        """Allocate an array, or return the result that is to have its entries."""
        if own is not None and own in self.results:
            text = self.results[own]
            return ArrayValue(text, tuple(shape), kind, root=text)
        text = own or self.new_name()
        found = ArrayValue(text, tuple(shape), kind, root=text)
        self.allocated.append(text)
        self.can_fail = True
        self.language.allocate(self, found, text in self._exchanged)
        return found

    # --- statements

    def block(self, statements: Iterable[ast.stmt]) -> None:
        """Print statements, one after the other."""
        for own in statements:
            _STATEMENTS[type(own)](self, own)

    def _inner(self, statements: Sequence[ast.stmt], names: Mapping[str, AnyValue]) -> list[str]:
        """Return the lines of an inner block, in which some variables are declared."""
        lines, values, allocated = self.lines, self.values, self.allocated
        self.lines, self.values, self.allocated = [], {**values, **names}, []
        self.block(statements)
        found = self.language.released(self, self.lines, self.allocated)
        self.lines, self.values, self.allocated = lines, values, allocated
        return inner_lines(found)

    def _for(self, tree: ast.For) -> None:
        assert isinstance(tree.iter, ast.Call)
        assert isinstance(tree.target, ast.Name)
        own, bounds = tree.target.id, [scalar_value(self.value(part)) for part in tree.iter.args]
        start, stop, *steps = bounds if len(bounds) > 1 else [integer(0), *bounds]
        step = steps[0] if steps else integer(1)
        hoisted = [own for own in tree.body if isinstance(own, Allocate) and self._is_known(own)]
        self._exchanged.update([own.array for own in hoisted])
        self.block(hoisted)
        self._simd(tree)
        self.language.loop(self, own, start, stop, step)
        body = [own for own in tree.body if own not in hoisted]
        self.lines += self._inner(body, {own: Value(own, kind=INTEGER)})
        self.lines.append(self.language.end)

    def _is_known(self, tree: Allocate) -> bool:
        """Tell whether an array of a step of a loop can be allocated before the loop."""
        return self.values.keys() >= {*names_in(ast.Tuple([*tree.shape]))}

    def _simd(self, tree: ast.For) -> None:
        """Let the sums of an innermost loop be added up in several parts at once, where nothing
        else depends on the order of the steps."""
        assert isinstance(tree.target, ast.Name)
        sums: dict[str, str] = {}
        stored: list[str] = []
        for own in tree.body:
            if not isinstance(own, (ast.Assign, ast.AugAssign)):
                return
            target = own.target if isinstance(own, ast.AugAssign) else own.targets[0]
            if isinstance(target, ast.Subscript):
                # Where one index moves with the loop, no step writes what another writes.
                if not any(_moves_with(own, tree.target.id) for own in _parts(target.slice)):
                    return
                stored += [node.id for node in nodes(target.value) if isinstance(node, ast.Name)]
            elif isinstance(target, ast.Name) and target.id in self.values:
                step = _STEPS.get(called_name(own.value))
                if step is None:
                    return
                sums[target.id] = step
        names = Counter(node.id for node in nodes(tree) if isinstance(node, ast.Name))
        if "position" in names or any(names[own] > 1 for own in stored):
            return
        self.language.vectorize(self, sums)

    def _if(self, tree: ast.If) -> None:
        (own,) = tree.body
        assert isinstance(own, ast.Raise)
        self.fail_if(scalar_value(self.value(tree.test)), ErrorCode.OUTSIDE)

    def _expression(self, tree: ast.Expr) -> None:
        assert isinstance(tree.value, ast.Call)
        first, *rest = map(self.value, tree.value.args)
        array = array_value(first)
        if called_name(tree.value) == "store_row":
            place, row = scalar_value(rest[0]), array_value(rest[1])
            self._copy(_part(array, offset_in(array, [place]), array.shape[1:]), row)
        else:
            assert called_name(tree.value) == "make_finite"
            self.compute("make_finite", array, array.size)

    def _augmented(self, tree: ast.AugAssign) -> None:
        target, value = scalar_value(self.value(tree.target)), scalar_value(self.value(tree.value))
        operator = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(tree.op)]
        self.language.augment(self, target.text, operator, value)

    def _allocate(self, tree: Allocate) -> None:
        shape = [scalar_value(self.value(length)) for length in tree.shape]
        self.values[tree.array] = self.new_array(shape, self._kind(tree.kind), tree.array)

    def _assign(self, tree: ast.Assign) -> None:
        (target,) = tree.targets
        if isinstance(target, ast.Subscript):
            entry = scalar_value(self.value(target))
            if called_name(tree.value) in _STEPS:
                self._step(entry.text, tree.value)
            else:
                self._assign_entry(entry, scalar_value(self.value(tree.value)))
        elif isinstance(target, ast.Tuple):
            assert isinstance(tree.value, ast.Tuple)
            names = [own.id for own in target.elts if isinstance(own, ast.Name)]
            self._assign_together(names, tree.value.elts)
        else:
            assert isinstance(target, ast.Name)
            self._assign_name(target.id, tree.value)

    def _assign_entry(self, target: Value, value: Value) -> None:
        text = self.language.stored(value, target.kind, self.use)
        self.language.assign(self, target.text, text)

    def _assign_name(self, own: str, tree: Code) -> None:
        if called_name(tree) in _STEPS:
            self._step(own, tree)
            return
        is_fixed = self._assigned[own] < 2
        if isinstance(tree, ast.Name) and self._is_dead(own):
            return
        value = self.value(tree, own if is_fixed else None)
        if self._is_dead(own):
            return
        if own in self.values:
            self._reassign(own, value)
        elif isinstance(value, Value):
            self._declare(own, value, is_fixed)
        elif isinstance(value, ArrayValue) and not is_fixed:
            self._exchanged.add(own)
            self._carried.add(own)
            new = self.new_array(value.shape, value.kind, own)
            self._copy(new, value)
            self.values[own] = new
        else:
            self.values[own] = self._named_part(own, value)

    def _is_dead(self, own: str) -> bool:
        """Tell whether a variable is assigned to only."""
        return self._uses[own] == self._assigned[own]

    def _step(self, own: str, tree: Code) -> None:
        """Add a step of a reduction to the text of a variable or an entry."""
        assert isinstance(tree, ast.Call)
        term = scalar_value(self.value(tree.args[1]))
        if called_name(tree) == "add":
            self.language.augment(self, own, "+", term)
        else:
            old, new = Value(own), Value(self._named(term))
            is_larger = self.language.comparison(ast.Gt(), old, new)
            best = self.language.choice(is_larger, old, new, self.use)
            self.language.assign(self, own, best.text)

    def declare(self, own: str, value: Value, is_fixed: bool) -> None:
        """Declare a variable by its first value."""
        self.language.declare(self, own, value, is_fixed)

    def _declare(self, own: str, value: Value, is_fixed: bool) -> None:
        value = self.language.as_double(value, self.use) if own in self._doubles else value
        self.declare(own, value, is_fixed)
        found = self.values[own] = Value(own, kind=value.kind)
        if is_fixed and value.kind == INTEGER:
            self._name_lengths(value.text, found)

    def _name_lengths(self, text: str, own: Value) -> None:
        """Let arrays whose lengths were expressions have them by the name of a variable."""
        for name, array in self.values.items():
            if isinstance(array, ArrayValue) and any(n.text == text for n in array.shape):
                shape = tuple([own if n.text == text else n for n in array.shape])
                self.values[name] = replace(array, shape=shape)

    def _named(self, value: Value) -> str:
        """Return a variable with a value."""
        return value.text if value.text.isidentifier() else self._copied(value)

    def _named_part(self, own: str, value: AnyValue) -> AnyValue:
        """Give a part of an array a name; others need no other one."""
        if not isinstance(value, ArrayValue) or value.is_whole:
            return value
        return self.language.named_part(self, own, value)

    def _reassign(self, own: str, value: AnyValue, is_free: bool = True) -> None:
        """Assign to a variable again; the array of a step, which is ``free`` then, is exchanged
        with that of a carry."""
        old = self.values[own]
        if isinstance(old, ArrayValue):
            given = array_value(value)
            is_local = given.text == given.root and given.root in self._exchanged - self._carried
            if is_local and given.is_whole and is_free and given.kind == old.kind:
                self.language.exchange(self, own, given.text, old.kind)
            else:
                self._copy(old, given)
            return
        assert isinstance(old, Value)
        new = scalar_value(value)
        if old.kind == INTEGER != new.kind:
            raise TensorError(f"{own} is an integer and a double: an error of the compiler")
        if new.text != own:
            self._assign_entry(Value(own, kind=old.kind), new)

    def _copy(self, target: ArrayValue, source: ArrayValue) -> None:
        if target.kind != source.kind:
            raise UnsupportedError(refusal("loops that carry arrays of positions"))
        self.language.copy(self, target, source)

    def _assign_together(self, owns: Sequence[str], trees: Sequence[Code]) -> None:
        """Assign to several variables, whose old values may be among the new ones."""
        values: list[AnyValue] = []
        for place, tree in enumerate(trees):
            value, before = self.value(tree), owns[:place]
            if isinstance(value, ArrayValue) and value.root in before:
                new = self.new_array(value.shape, value.kind)
                self._copy(new, value)
                value = new
            elif isinstance(value, Value) and any(_is_in(other, tree) for other in before):
                value = Value(self._copied(value), kind=value.kind)
            values.append(value)
        roots = Counter(value.root for value in values if isinstance(value, ArrayValue))
        for own, value in zip(owns, values, strict=True):
            is_free = isinstance(value, ArrayValue) and roots[value.root] == 1
            if not self._is_dead(own):
                self._reassign(own, value, is_free)

    def _copied(self, value: Value) -> str:
        own = self.new_name()
        self.declare(own, value, is_fixed=True)
        return own

    # --- expressions

    def value(self, tree: Any, own: str | None = None) -> AnyValue:
        """Return the value of an expression; an array that it makes may have a name."""
        language = self.language
        match tree:
            case ast.Name():
                return self.values[tree.id]
            case ast.Constant():
                return language.constant(tree.value, self.use)
            case ast.UnaryOp(op=ast.USub()):
                return language.negative(scalar_value(self.value(tree.operand)), self.use)
            case ast.BinOp():
                left, right = [scalar_value(self.value(part)) for part in (tree.left, tree.right)]
                return language.binary(tree.op, left, right, self.use)
            case ast.BoolOp():
                return language.logic(
                    tree.op, [scalar_value(self.value(part)) for part in tree.values]
                )
            case ast.Compare(ops=[operator], comparators=[other]) if type(operator) in COMPARISONS:
                left, right = [scalar_value(self.value(o)) for o in (tree.left, other)]
                return language.comparison(operator, left, right)
            case ast.IfExp():
                return self._chosen(tree)
            case ast.Attribute() if text := language.named_constant(dotted_name(tree), self.use):
                return Value(text)
            case ast.Tuple():
                return TupleValue(tuple([self._kept(self.value(part)) for part in tree.elts]))
            case ast.Subscript():
                return self._subscript(tree)
            case ast.Call():
                return self._call(tree, own)
        raise UnsupportedError(refusal(f"a {type(tree).__name__}"))

    def _kept(self, value: AnyValue) -> AnyValue:
        """Return a value that later changes of variables don't change."""
        return Value(self._copied(value), kind=value.kind) if isinstance(value, Value) else value

    def _chosen(self, tree: ast.IfExp) -> Value:
        """Return one of two numbers, of which one is computed."""
        test, parts = scalar_value(self.value(tree.test)), (tree.body, tree.orelse)
        reads = any(isinstance(node, ast.Subscript) for part in parts for node in nodes(part))
        if not (reads and self.language.computes_both):
            first, second = [scalar_value(self.value(part)) for part in parts]
            return self.language.choice(test, first, second, self.use)
        own, before, blocks = self.new_name(), self.lines, []
        for part in parts:
            self.lines = []
            text = self.language.as_double(scalar_value(self.value(part)), self.use).text
            self.language.assign(self, own, text)
            blocks.append(self.lines)
        self.lines = before
        self.language.branch(self, own, test, *blocks)
        return Value(own)

    def _subscript(self, tree: ast.Subscript) -> AnyValue:
        if isinstance(tree.value, ast.Attribute) and tree.value.attr == "shape":
            assert isinstance(tree.slice, ast.Constant)
            return array_value(self.value(tree.value.value)).shape[tree.slice.value]  # type: ignore[index]
        given = self.value(tree.value)
        if isinstance(given, TupleValue):
            assert isinstance(tree.slice, ast.Constant)
            return given.parts[tree.slice.value]  # type: ignore[index]
        own, entries = array_value(given), _parts(tree.slice)
        while entries and isinstance(entries[-1], ast.Slice) and entries[-1].lower is None:
            if entries[-1].upper is not None:
                break
            entries.pop()
        if len(entries) == 1 and isinstance(entries[0], ast.Slice):
            return self._slice(own, entries[0])
        pairs = zip(entries, own.shape, strict=False)
        index = [self._index(entry, length) for entry, length in pairs]
        place = offset_in(own, index)
        if len(index) == len(own.shape):
            return Value(self.language.entry(own, sum_of(own.offset, place)), kind=own.kind)
        return _part(own, place, own.shape[len(index) :])

    def _index(self, tree: Code, length: Value) -> Value:
        """Return an index; an argument may be counted from the end, as those of Python's arrays."""
        place = self.language.as_integer(scalar_value(self.value(tree)))
        if not isinstance(tree, ast.Name) or tree.id not in self.positions:
            return place
        is_negative = self.language.comparison(ast.Lt(), place, integer(0))
        return self.language.choice(is_negative, sum_of(place, length), place, self.use)

    def _slice(self, own: ArrayValue, tree: ast.Slice) -> ArrayValue:
        """Return a slice of the first axis."""
        length, *rest = own.shape
        start = integer(0) if tree.lower is None else scalar_value(self.value(tree.lower))
        stop = length
        if tree.upper is not None:
            upper = scalar_value(self.value(tree.upper))
            own_name = self.use("smaller_integer")
            stop = self.language.called(own_name, [upper, length], INTEGER, self.use)
        place = product_of([start, *rest])
        return _part(own, place, (difference_of(stop, start), *rest))

    def _call(self, tree: ast.Call, own: str | None) -> AnyValue:
        function = called_name(tree)
        if isinstance(tree.func, ast.Attribute) and tree.func.attr == "ravel":
            given = array_value(self.value(tree.func.value, own))
            return replace(given, shape=(given.size,))
        if function == "copied":
            given = array_value(self.value(tree.args[0]))
            new = self.new_array(given.shape, given.kind, own)
            self._copy(new, given)
            return new
        if function == "reshaped":
            return self._reshaped(array_value(self.value(tree.args[0], own)), tree.args[1])
        if function in _CREATED:
            return self._created(function, tree.args, own)
        if isinstance(made := tree.args[0] if function == "cleared" else None, ast.Call):
            return self._created("np.zeros", made.args, own)
        arguments = [self.value(argument) for argument in tree.args]
        if function == "position":
            return self._position(*map(scalar_value, arguments))
        if function in CALLS:
            return CALLS[function](self, arguments, own)
        return self.language.call(function, [*map(scalar_value, arguments)], self.use)

    def _reshaped(self, given: ArrayValue, shape: Code) -> ArrayValue:
        assert isinstance(shape, ast.Tuple)
        return replace(
            given, shape=tuple([scalar_value(self.value(length)) for length in shape.elts])
        )

    def _created(self, function: str, arguments: Sequence[Code], own: str | None) -> ArrayValue:
        """Return a new array."""
        assert isinstance(arguments[0], ast.Tuple)
        shape = [scalar_value(self.value(length)) for length in arguments[0].elts]
        start = scalar_value(self.value(arguments[1])) if function == "np.full" else integer(0)
        kind = self._kind(arguments[-1]) if len(arguments) > 1 else DOUBLE
        new = self.new_array(shape, kind, own)
        if function != "empty":
            self.fill(new, start)
        return new

    def fill(self, own: ArrayValue, value: Value) -> None:
        """Write one number into all entries of an array."""
        is_double = own.kind == DOUBLE
        value = self.language.as_double(value, self.use) if is_double else value
        self.language.fill(self, own, value.text)

    def _position(self, place: Value, length: Value) -> Value:
        """Return a position on an axis, which may be counted from its end; checked."""
        language, own = self.language, self.new_name()
        self.declare(own, language.as_integer(place), is_fixed=False)
        found = Value(own, kind=INTEGER)
        below = Value(f"{own} < -{length.at(SIGN)}", RELATION, TRUTH)
        above = language.comparison(ast.GtE(), found, length)
        self.fail_if(language.logic(ast.Or(), [below, above]), ErrorCode.OUTSIDE)
        is_negative = language.comparison(ast.Lt(), found, integer(0))
        language.augment(self, own, "+", language.choice(is_negative, length, integer(0), self.use))
        return found

    @staticmethod
    def _kind(tree: Code) -> str:
        return INTEGER if dotted_name(tree) == "np.int64" else DOUBLE


def _part(own: ArrayValue, place: Value, shape: Sequence[Value]) -> ArrayValue:
    """Return the part of an array from an entry on."""
    return replace(own, offset=sum_of(own.offset, place), shape=tuple(shape))


def inner_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines of an inner block."""
    return [f"    {line}" for line in lines]


def _parts(tree: Code) -> list[Code]:
    return [*tree.elts] if isinstance(tree, ast.Tuple) else [tree]


def _moves_with(index: Code, variable: str) -> bool:
    """Tell whether an index is the variable of a loop, or at a constant distance from it."""
    while isinstance(index, ast.BinOp) and isinstance(index.op, (ast.Add, ast.Sub)):
        if _is_in(variable, index.right):
            return False
        index = index.left
    return isinstance(index, ast.Name) and index.id == variable


def _is_in(name: str, tree: Code) -> bool:
    """Tell whether a variable occurs in an expression."""
    return any(isinstance(node, ast.Name) and node.id == name for node in nodes(tree))


_STATEMENTS: dict[type, Callable[[TypedPrinter, Any], None]] = {
    ast.For: TypedPrinter._for,
    ast.If: TypedPrinter._if,
    ast.Expr: TypedPrinter._expression,
    ast.Assign: TypedPrinter._assign,
    ast.AugAssign: TypedPrinter._augmented,
    Allocate: TypedPrinter._allocate,
}
