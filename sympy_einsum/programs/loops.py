"""Read loops as scans: find what they carry, what they take, and what they store."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeGuard

from sympy import Expr, S

from ..core import same_shape
from ..expressions import (
    LAST,
    VALUES,
    Carry,
    Operand,
    Recurrence,
    ScanInput,
    TensorExpr,
    TensorSymbol,
    Zeros,
    as_operand,
    closed_loop,
    shape_of,
)
from ..operations import Structure, calling, flatten_structure
from .names import Module
from .scopes import Closure, Scope
from .steps import NotStepwise, SteppedArray, Steps, StepTrace
from .values import DType, NamedFunction, Value, array as as_array, entries_of, plain


class Reader(Protocol):
    """The part of the interpreter that reads loops."""

    tree: ast.Module
    traces: list[StepTrace]
    known: dict[Operand, dict[Value, Value]]
    stacked: dict[str, Value]
    depth: int
    branches: int

    def entry(self, base: Value, index: Value) -> Value: ...

    def fail(self, node: ast.AST, message: str, cause: BaseException | None = None) -> Any: ...

    def trying(self, node: ast.AST, function: Callable[..., Value], *args: Value) -> Value: ...

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None: ...


class CarriedVariable(NamedTuple):
    """A variable that a step gives to the next one: its structure, initial values and symbols."""

    structure: Structure
    starts: list[Operand]
    symbols: Sequence[TensorSymbol]


def read_comprehension(reader: Reader, node: ast.ListComp | ast.GeneratorExp, steps: Steps,
                       value: Callable[[Value], Value]) -> Value:  # fmt: skip
    """Return the values of all items of a comprehension, as a tensor or a tuple of tensors."""
    with calling() as level:
        trace = StepTrace(steps.length, steps.reverse, level)
        reader.traces.append(trace)
        try:
            found = value(steps.item(trace.index, reader.entry))
        finally:
            reader.traces.pop()
    leaves: list[Any] = []
    structure = flatten_structure(found, leaves)
    loop = _loop(trace, [], reader.trying(node, lambda: list(map(as_operand, leaves))))
    results = [loop.result(VALUES, k) for k in range(len(leaves))]
    if steps.reverse:
        results = [own[::-1] for own in results]
    return structure.build(iter(results))


def read_loop(
    reader: Reader,
    statement: ast.For,
    steps: Steps,
    scope: Scope,
    run: Callable[[], ast.AST | None],
) -> None:
    """Execute a loop as a scan. ``run`` executes the body, and returns a statement that leaves the
    loop, if there is one.

    Raises
    ======

    ParseError : the loop isn't a scan, with the line, the variable, and a remedy
    """
    before, fresh = dict(scope.names), set(scope.fresh)
    depth, branches, traces = reader.depth, reader.branches, list(reader.traces)
    whole: set[str] = set()
    lists = _lists(scope)
    while True:
        loop = LoopReading(reader, statement, steps, scope, whole)
        try:
            loop.execute(run)
            lost = set() if loop.keeps_unaliased(fresh) else fresh - scope.fresh
            if not lost:
                if any(own != copy for own, copy in lists):
                    reader.fail(statement, "a function that the loop calls changes a list; use "
                                "arrays, or append to the list in the loop itself")  # fmt: skip
                loop.finish(before, fresh)
                return
            fresh -= lost
        except NotStepwise as error:
            if isinstance(before.get(error.name), SteppedArray):
                raise
            if error.name in whole or isinstance(before.get(error.name), list):
                reader.fail(statement, f"{error}; give it a value for each step, or write out "
                            "the steps")  # fmt: skip
            whole.add(error.name)
        finally:
            for own, copy in lists:
                own[:] = copy
            reader.depth, reader.branches = depth, branches
            reader.traces[:] = traces
            if not loop.is_finished:
                scope.names, scope.fresh = dict(before), set(fresh)


class LoopReading:
    """The execution of one step, with symbols for everything that other steps change."""

    def __init__(
        self, reader: Reader, statement: ast.For, steps: Steps, scope: Scope, whole: set[str]
    ):
        self.reader, self.statement, self.steps, self.scope = reader, statement, steps, scope
        self.stored = _stored(statement.body)
        self.changed = _changed(statement.body)
        self.whole = whole
        self.carried: dict[str, CarriedVariable] = {}
        self.arrays: dict[str, SteppedArray] = {}
        self.is_finished = False

    def execute(self, run: Callable[[], ast.AST | None]) -> None:
        """Execute the body once."""
        with calling() as level:
            self.trace = StepTrace(self.steps.length, self.steps.reverse, level)
            names = self.scope.names
            rewritten = self.stored | self.changed
            for name in [own for own in names if own in rewritten]:
                names[name] = self._at_a_step(name, names[name])
            self.reader.traces.append(self.trace)
            item = self.reader.trying(
                self.statement.iter, self.steps.item, self.trace.index, self.reader.entry
            )
            self.reader.bind(self.statement.target, item, self.scope)
            leaving = run()
            self.reader.traces.pop()
        if leaving is not None:
            self.reader.fail(
                leaving,
                "a loop whose number of steps isn't known goes to its end; choose values by "
                "np.where instead of leaving it",
            )

    def _at_a_step(self, name: str, value: Value) -> Value:
        """Return the value of a name at the beginning of any step."""
        if isinstance(value, SteppedArray):
            raise NotStepwise(value.name, "is written in a loop inside of another one")
        is_array = isinstance(value, TensorExpr) and value.order and name in self.scope.fresh
        if name in self.changed and name not in self.stored and name not in self.whole:
            grows = isinstance(value, list) and name in _appended(self.statement.body)
            if grows or (is_array and _by_entries(name, self.statement.body)):
                self.arrays[name] = SteppedArray(name, value, self.trace)
                return self.arrays[name]
        leaves: list[Any] = []
        structure = flatten_structure(value, leaves)
        if any(isinstance(own, bool) or not isinstance(own, (int, Expr)) for own in leaves):
            if name in self.changed or not _is_function(value):
                self._refuse(name, "is neither a number nor an array nor a tuple of them")
            return value
        starts = [as_operand(own) for own in leaves]
        symbols = [self.trace.symbol(shape_of(own)) for own in starts]
        self.carried[name] = CarriedVariable(structure, starts, symbols)
        return structure.build(iter(symbols))

    def _refuse(self, name: str, reason: str) -> None:
        self.reader.fail(self._last_store(name), f"{name!r} {reason}, which a loop can't carry")

    def _last_store(self, name: str) -> ast.AST:
        """Return the place of the last assignment to a name in the body."""
        found: ast.AST = self.statement
        for node in _walk(self.statement.body):
            if (
                isinstance(node, ast.Name)
                and node.id == name
                and (isinstance(node.ctx, ast.Store) or name in self.changed)
            ):
                found = node
        return found

    def keeps_unaliased(self, fresh: set[str]) -> bool:
        """Tell whether arrays that have no alias before the step have none after it."""
        for name, own in self.arrays.items():
            end = self.scope.names[name]
            if isinstance(end, SteppedArray) and end.rewritten_views():
                raise NotStepwise(own.name, "is written where an entry has another name")
        ours = fresh & ((self.stored | self.changed) - self.arrays.keys())
        return ours <= self.scope.fresh

    # --- from the step to the scan

    def finish(self, before: dict[str, Value], fresh: set[str]) -> None:
        """Build the scan, and give its results to the names that are read after the loop."""
        names, live = self.scope.names, self._live()
        carries: list[Carry] = []
        places: dict[str, tuple[Structure, list[int]]] = {}
        for name, own in self.carried.items():
            news = self._news(name, own, names[name])
            places[name] = own.structure, [len(carries) + k for k in range(len(news))]
            carries += [Carry(*each) for each in zip(own.symbols, own.starts, news, strict=True)]
        for name in sorted((self.stored & live) - before.keys()):
            leaves: list[Any] = []
            structure = flatten_structure(names.get(name), leaves)
            if not leaves or any(not isinstance(own, (int, Expr)) for own in leaves):
                continue
            # Without steps Python has no value.
            places[name] = structure, [len(carries) + k for k in range(len(leaves))]
            for new in map(as_operand, leaves):
                start = Zeros(*shape_of(new)) if shape_of(new) else S.Zero
                carries.append(Carry(self.trace.symbol(shape_of(new)), start, new))
        values: list[Operand] = []
        stacked: dict[str, tuple[SteppedArray, int, int | None]] = {}
        for name in self.arrays:
            array = names[name]
            if array.position is None:
                raise NotStepwise(name, "isn't written at the step")
            entries_of(array.value)
            value = as_operand(as_array(array.value))
            earlier = self._earlier(array, value, carries)
            stacked[name] = array, len(values), earlier
            values.append(value)
            if earlier is not None and self._reads_earlier(name):
                values.append(carries[earlier].symbol)
        self._inputs_of_arrays()
        places = {name: own for name, own in places.items() if name in live}
        wanted = [place for _, numbered in places.values() for place in numbered]
        kept = self._needed(carries, values, wanted)
        numbers = {place: k for k, place in enumerate(kept)}
        loop = _loop(self.trace, [carries[place] for place in kept], values)
        results: dict[str, Value] = {}
        for name, (structure, numbered) in places.items():
            lasts = [loop.result(LAST, numbers[place]) for place in numbered]
            results[name] = structure.build(iter(map(plain, lasts)))
        for name, (array, place, earlier) in stacked.items():
            written = loop.result(VALUES, place)
            results[name] = after = self.reader.trying(self.statement, array.after, written)
            if array.is_list:
                self.reader.stacked[name] = after
            if earlier is not None:
                last = loop.result(LAST, numbers[earlier]) if earlier in numbers else None
                self._remember(array, after, loop, place, last)
        is_fresh = {
            name
            for name in results
            if name in self.scope.fresh
            and (name not in stacked or all(own != name for own, _ in self.trace.views))
        }
        self._leave(before, fresh, results, is_fresh)

    def _leave(
        self,
        before: dict[str, Value],
        fresh: set[str],
        results: dict[str, Value],
        is_fresh: set[str],
    ) -> None:
        """Set the names after the loop."""
        changed = self.stored | self.changed
        aliased = fresh - self.scope.fresh
        self.scope.names = {**before, **results}
        self.scope.fresh = (fresh - changed - aliased) | is_fresh
        last = self.trace.length - 1 if not self.steps.reverse else S.Zero
        targets = {n.id for n in ast.walk(self.statement.target) if isinstance(n, ast.Name)}
        if targets & self._live():
            item = self.reader.trying(
                self.statement.target, self.steps.item, last, self.reader.entry
            )
            inner = Scope({}, self.scope)
            self.reader.bind(self.statement.target, item, inner)
            self.scope.names.update({n: v for n, v in inner.names.items() if n not in results})
        else:
            for name in targets - results.keys():
                self.scope.names.pop(name, None)
        for name in self.stored - results.keys():
            self.scope.names.pop(name, None)
        self.is_finished = True

    def _news(self, name: str, own: CarriedVariable, value: Value) -> list[Operand]:
        """Return the next values of a carried variable.

        Raises
        ======

        ParseError : its structure or a shape changes
        """
        leaves: list[Any] = []
        structure = flatten_structure(value, leaves)
        if structure != own.structure:
            self.reader.fail(
                self._last_store(name),
                f"{name!r} must keep its structure in the loop: it starts as {own.structure}, and "
                f"a step gives {structure}",
            )
        if any(isinstance(v, bool) or not isinstance(v, (int, Expr)) for v in leaves):
            self._refuse(name, "is neither a number nor an array nor a tuple of them")
        news = [as_operand(v) for v in leaves]
        for start, new in zip(own.starts, news, strict=True):
            first, then = shape_of(start), shape_of(new)
            if not same_shape(first, then):
                self.reader.fail(
                    self._last_store(name),
                    f"{name!r} must keep its shape in the loop: it starts with {first}, and a step "
                    f"gives {then}; begin with an array of this shape, such as np.zeros",
                )
        return news

    def _earlier(self, array: SteppedArray, value: Operand, carries: list[Carry]) -> int | None:
        """Make carries of the entries that earlier steps wrote; return the place of that of the
        step before, if the first entry is from before the loop and the others from it."""
        lags = {array.lag(position): symbol for position, symbol in array.entries.items()}
        deepest = max(lags, default=0)
        has_path = array.has_path()
        if has_path:
            deepest = max(deepest, 1)
        first, new = None, value
        sign = -1 if self.trace.reverse and not array.is_list else 1
        for lag in range(1, deepest + 1):
            assert array.position is not None
            at = array.position - sign * lag
            start = as_operand(self.reader.trying(self.statement, array.before, at))
            if lag == 1 and lag not in lags:
                found = [k for k, own in enumerate(carries) if (own.init, own.new) == (start, new)]
                if found:
                    first, new = found[0], carries[found[0]].symbol
                    continue
            symbol = lags.get(lag)
            if symbol is None:
                symbol = self.trace.symbol(shape_of(new))
            if shape_of(symbol) != shape_of(new):
                self.reader.fail(
                    self.statement,
                    f"entries of {array.name!r} must keep the shape {shape_of(symbol)}, and a step "
                    f"gives {shape_of(new)}",
                )
            carries.append(Carry(symbol, start, new))
            if lag == 1:
                first = len(carries) - 1
            new = symbol
        return first if has_path else None

    def _inputs_of_arrays(self) -> None:
        """Make inputs of the entries that steps read before they are written."""
        for name in self.arrays:
            array = self.scope.names[name]
            for position, symbol in array.entries.items():
                if array.lag(position) <= 0:
                    stacked = self.reader.trying(self.statement, array.inputs, position)
                    self.trace.inputs[symbol] = stacked

    def _needed(
        self, carries: Sequence[Carry], values: Sequence[Operand], wanted: Sequence[int]
    ) -> list[int]:
        """Return the places of the carries that results depend on."""
        places = {own.symbol: k for k, own in enumerate(carries)}
        found = {*wanted}
        waiting = [*values, *[carries[k].new for k in found]]
        while waiting:
            for symbol in waiting.pop().free_symbols:
                place = places.get(symbol)
                if place is not None and place not in found:
                    found.add(place)
                    waiting.append(carries[place].new)
        return sorted(found)

    def _remember(
        self,
        array: SteppedArray,
        after: Operand,
        loop: Recurrence,
        place: int,
        last: Operand | None,
    ) -> None:
        """Note the results of the loop that slices and the last entry of an array are."""
        written = loop.result(VALUES, place)
        earlier = loop.result(VALUES, place + 1) if self._reads_earlier(array.name) else None
        if self.trace.reverse:
            first, end = last, array.base[-1]
            behind, ahead = written, earlier
        else:
            first, end = as_operand(array.base[0]), last
            behind, ahead = earlier, written
        known: dict[Value, Operand | None] = {(None, -1, None): behind, (1, None, None): ahead}
        known |= {0: first, -1: end, self.trace.length: end}
        found = {at: value for at, value in known.items() if value is not None}
        self.reader.known[after] = found

    def _reads_earlier(self, name: str) -> bool:
        """Tell whether the entries before each step are read after the loop, as one slice."""
        text = f"{name}[1:]" if self.trace.reverse else f"{name}[:-1]"
        return any(
            isinstance(node, ast.Subscript) and ast.unparse(node) == text
            for node in ast.walk(_enclosing(self.reader.tree, self.statement))
        )

    def _live(self) -> set[str]:
        """Return the names that may be read after the loop."""
        function = _enclosing(self.reader.tree, self.statement)
        inside = {id(node) for own in self.statement.body for node in ast.walk(own)}
        outer = [
            node
            for node in ast.walk(function)
            if isinstance(node, (ast.For, ast.While))
            and node is not self.statement
            and any(inner is self.statement for inner in ast.walk(node))
        ]
        if outer:
            inside = set()
        loads = {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and id(node) not in inside
        }
        for node in ast.walk(function):
            if isinstance(node, ast.AugAssign) and id(node) not in inside:
                loads |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        return loads


def _loop(trace: StepTrace, carries: Sequence[Carry], values: Sequence[Operand]) -> Recurrence:
    """Return the loop of a step."""
    inputs = [ScanInput(*own) for own in trace.inputs.items()]
    return closed_loop(trace.length, trace.reverse, trace.index, carries, inputs, values)


def _stored(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements assign."""
    return {
        node.id
        for node in _walk(body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _changed(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names of arrays and lists that statements may modify."""
    found = _appended(body)
    for node in _walk(body):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            targets.append(node.value)
        if isinstance(node, ast.Call):
            targets += [option.value for option in node.keywords if option.arg == "out"]
        for target in targets:
            while isinstance(target, ast.Subscript):
                target = target.value
            found |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return found


def _appended(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names of lists that grow."""
    return {
        node.value.id
        for node in _walk(body)
        if isinstance(node, ast.Attribute)
        and node.attr == "append"
        and isinstance(node.value, ast.Name)
    }


def _by_entries(name: str, body: Sequence[ast.stmt]) -> bool:
    """Tell whether statements use an array by its entries only, each at a position."""
    uses = {id(n) for n in _walk(body) if isinstance(n, ast.Name) and n.id == name}
    for node in _walk(body):
        if isinstance(node, ast.Subscript):
            index = node.slice.elts[0] if _is_pair(node.slice) else node.slice
            if not isinstance(index, (ast.Slice, ast.Constant)):
                uses.discard(id(node.value))
        elif isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "dtype"):
            uses.discard(id(node.value))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
            uses -= {id(argument) for argument in node.args}
    return not uses


def _is_pair(node: ast.expr) -> TypeGuard[ast.Tuple]:
    return isinstance(node, ast.Tuple) and bool(node.elts)


def _walk(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of statements, without those of functions and comprehensions' targets."""
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.comprehension):
            waiting += [node.iter, *node.ifs]
        elif isinstance(node, ast.FunctionDef):
            waiting.append(ast.Name(node.name, ast.Store()))
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _enclosing(tree: ast.Module, statement: ast.stmt) -> ast.AST:
    """Return the innermost function around a statement."""
    found: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(n is statement for n in ast.walk(node)):
            found = node
    return found


def _lists(scope: Scope) -> list[tuple[list[Value], list[Value]]]:
    """Return the lists of a scope and those around it, each with a copy."""
    found: list[tuple[list[Value], list[Value]]] = []
    around: Scope | None = scope
    while around is not None:
        found += [(own, list(own)) for own in around.names.values() if isinstance(own, list)]
        around = around.outer
    return found


def _is_function(value: Value) -> bool:
    return value is None or isinstance(value, (Closure, DType, Module, NamedFunction))
