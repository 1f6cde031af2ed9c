"""Loops as functions, whose bodies are plans of their own."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from sympy import Expr

from ...core import UnsupportedError
from ...expressions import LAST, VALUES, Operand, StepIndex, shape_of
from ..ir.code import (
    Code,
    assigned,
    call,
    constant,
    dotted,
    equal,
    function,
    name,
    quote,
    subscript,
    with_keywords,
)
from ..ir.loops import Allocate
from ..ir.plans import origin
from ..ir.scans import ScanBody

# The statements that compute the outputs of a plan, given the names of its arguments.
WriteBody = Callable[[ScanBody, Mapping[Expr, str]], tuple[list[ast.stmt], list[Code]]]
Size = Callable[[Expr], Code]


class LoopSpelling(Protocol):
    """The part of a backend that code of loops needs."""

    @property
    def name(self) -> str: ...

    @property
    def loops(self) -> str: ...

    @property
    def own_numbers(self) -> bool: ...

    def number(self, value: Code) -> Code:
        """Spell a number of Python's as one of the library's."""
        ...

    def loop_type(
        self, arrays: Sequence[Code], scalars: Sequence[Code], keeps_integers: bool
    ) -> Code:
        """Spell the type of what a loop carries."""
        ...

    def integers(self) -> Code:
        """Spell the type of integers."""
        ...

    def created(self, function: str, arguments: Sequence[Any], kind: Code) -> Code:
        """Spell the call of a function that creates an array."""
        ...

    def copy(self, operands: Sequence[Code]) -> Code:
        """Spell a copy."""
        ...

    def stored(self, code: Code, row: Code) -> Code | None:
        """Spell the computation of a value into a row of an array, if there is such code."""
        ...


class LoopWriter:
    """Writes the function of a loop: the names of its variables, and its statements."""

    def __init__(self, body: ScanBody, prefix: str, backend: LoopSpelling, size: Size):
        self.body = body
        self.loop = body.loop
        self.backend = backend
        self.size = size
        self.prefix = prefix
        self.carries = _numbered(f"{prefix}c", self.loop.carries)
        self.stacked = _numbered(f"{prefix}s", self.loop.inputs)
        self.inputs = _numbered(f"{prefix}x", self.loop.inputs)
        self.invariants = _numbered(f"{prefix}a", self.loop.invariants)
        self.results = _numbered(f"{prefix}r", body.results)
        self.index = f"{prefix}step"
        self.kind = f"{prefix}kind"

    @property
    def names(self) -> dict[Expr, str]:
        """The names of the symbols in the body."""
        own = [*self.carries, *self.inputs, *self.invariants]
        return {**dict(zip(self.loop.parameters, own, strict=True)), self.loop.index: self.index}

    @property
    def arguments(self) -> list[str]:
        """The names of the operands."""
        return [*self.carries, *self.stacked, *self.invariants]

    def common_type(self) -> ast.stmt:
        """Return the statement that finds the type of carries and values."""
        shapes = [shape_of(operand) for operand in self.loop.operands]
        pairs = list(zip(self.arguments, shapes, strict=True))
        arrays = [name(own) for own, shape in pairs if shape]
        scalars = [name(own) for own, shape in pairs if not shape]
        kind = self.backend.loop_type(arrays, scalars, self.body.loop.keeps_integers)
        return assigned(name(self.kind), kind)

    def entries(self) -> list[ast.stmt]:
        """Return the statements that take the inputs of a step."""
        return [
            assigned(name(own), subscript(name(stacked), [name(self.index)]))
            for own, stacked in zip(self.inputs, self.stacked, strict=True)
        ]

    def written(self, name_of: str, write: WriteBody) -> ast.stmt:
        """Return the function with a statement ``for``, whose results are written into arrays."""
        loop = self.loop
        steps, outputs = write(self.body, self.names)
        carried = len(loop.carries)
        before: list[ast.stmt] = [self.common_type()]
        behind: list[ast.stmt] = []
        length = self.size(loop.length)
        first = length if loop.reverse else constant(0)
        after = name(self.index) if loop.reverse else quote("{0} + 1", name(self.index))
        returned: list[Code] = []
        slices: dict[int, Code] = {}
        for k, ends in self.body.paths.items():
            path, carry = name(self.results[ends[0]]), name(self.carries[k])
            has_positions = all(map(self.body.has_positions, ends))
            before.append(
                self._allocated(path, loop.length + 1, loop.carries[k].new, has_positions)
            )
            before.append(assigned(subscript(path, [first]), carry))
            behind.append(assigned(subscript(path, [after]), carry))
            parts = [ast.Slice(None, constant(-1)), ast.Slice(constant(1), None)]
            slices.update(
                (place, subscript(path, [part]))
                for place, part in zip(ends, parts[:: -1 if loop.reverse else 1], strict=True)
            )
        sources = self._sources()
        for number, (kind, place) in enumerate(self.body.results):
            own = name(self.results[number])
            if kind == LAST:
                carry = name(self.carries[place])
                returned.append(self._own(place))
                if not loop.length.is_Integer and shape_of(loop.carries[place].symbol):
                    # After no steps it is the first one, which others may write over.
                    before.append(assigned(carry, self.backend.copy([carry])))
            elif number in slices:
                returned.append(slices[number])
            else:
                returned.append(own)
                has_positions = self.body.has_positions(number)
                before.append(self._allocated(own, loop.length, loop.values[place], has_positions))
                target = subscript(own, [name(self.index)])
                value = outputs[carried + place]
                # What carries get is written over, or belongs to another result.
                is_own = sources.count(sources[carried + place]) == 1
                is_array = bool(shape_of(loop.values[place])) and not has_positions
                if not (is_own and is_array and self._computed_into(target, value, steps)):
                    steps.append(assigned(target, value))
        steps = [*self.entries(), *steps, *self._step(outputs[:carried]), *behind]
        body: list[ast.stmt] = [*before, self._over_steps(steps)]
        body.append(ast.Return(as_tuple(returned)))
        return function(name_of, [*map(name, self.arguments)], body)

    def _computed_into(self, row: Code, value: Code, steps: list[ast.stmt]) -> bool:
        """Let the statement that makes a value compute it into a row of a result, if it is there,
        once, and the backend has code for that."""
        makes = [
            own for own in steps if isinstance(own, ast.Assign) and equal(own.targets[0], value)
        ]
        code = self.backend.stored(makes[0].value, row) if len(makes) == 1 else None
        if code is None:
            return False
        steps[steps.index(makes[0])] = assigned(value, code)
        return True

    def _allocated(self, own: Code, count: Expr, entry: Operand, has_positions: bool) -> ast.stmt:
        """Return the statement that makes an array for a number of tensors, or of positions."""
        shape = [self.size(length) for length in (count, *shape_of(entry))]
        kind = self.backend.integers() if has_positions else name(self.kind)
        return assigned(own, self.backend.created("empty", [shape], kind))

    def compiled(
        self, operands: Sequence[Code], write: WriteBody
    ) -> tuple[list[ast.stmt], list[Code]]:
        """Return the statements for a compiler of loops, and the results: what a step computes goes
        into rows of these."""
        loop = self.loop
        pairs = list(zip(self.arguments, operands, strict=True))
        # Only carries change.
        known = {own: code.id for own, code in pairs if isinstance(code, ast.Name)}
        self.stacked = [known.get(own, own) for own in self.stacked]
        self.invariants = [known.get(own, own) for own in self.invariants]
        steps, outputs = write(self.body, self.names)
        carried = len(loop.carries)
        length = self.size(loop.length)
        kind = name("dtype")
        before: list[ast.stmt] = [
            assigned(name(own), code)
            for own, code in pairs
            if own in self.carries or own not in known
        ]
        before += [
            assigned(name(own), ast.Call(kind, [name(own)], []))
            for own, carry in zip(self.carries, loop.carries, strict=True)
            if not shape_of(carry.symbol)
        ]
        rows: dict[str, Code] = {}
        stores: list[ast.stmt] = []
        returned: list[Code] = []
        slices: dict[int, Code] = {}

        def store(value: Code, array: Code, position: Code, like: Operand) -> None:
            """Let a value be computed into a row of an array, or copy it there."""
            is_own = isinstance(value, ast.Name) and value.id in allocated
            if is_own and shape_of(like) and value.id not in rows:  # type: ignore[attr-defined]
                rows[value.id] = subscript(array, [position])  # type: ignore[attr-defined]
            else:
                stores.append(self._copied(value, array, position, like))

        allocated = {own.array for own in steps if isinstance(own, Allocate)}
        for k, ends in self.body.paths.items():
            path, carry = name(self.results[ends[0]]), name(self.carries[k])
            shape = [self.size(n) for n in (loop.length + 1, *shape_of(loop.carries[k].new))]
            before.append(assigned(path, quote("empty({0}, dtype)", shape)))
            start = length if loop.reverse else constant(0)
            before.append(self._copied(carry, path, start, loop.carries[k].new))
            after = name(self.index) if loop.reverse else quote("{0} + 1", name(self.index))
            store(outputs[k], path, after, loop.carries[k].new)
            parts = [quote("{0}[:{1}]", path, length), quote("{0}[1:]", path)]
            slices.update(zip(ends, parts[:: -1 if loop.reverse else 1], strict=True))
        for number, (result, place) in enumerate(self.body.results):
            own = name(self.results[number])
            if result == LAST:
                last = name(self.carries[place])
                # A row of a result, or an operand after no steps: others may write over it.
                is_array = bool(shape_of(loop.carries[place].symbol))
                returned.append(call("copied", last) if is_array else last)
            elif number in slices:
                returned.append(slices[number])
            else:
                returned.append(own)
                like = loop.values[place]
                shape = [self.size(n) for n in (loop.length, *shape_of(like))]
                before.append(assigned(own, quote("empty({0}, dtype)", shape)))
                store(outputs[carried + place], own, name(self.index), like)
        steps = [
            assigned(name(own.array), rows[own.array])
            if isinstance(own, Allocate) and own.array in rows
            else own
            for own in steps
        ]
        body = [*self.entries(), *steps, *stores, *self._step(outputs[:carried])]
        return [*before, self._over_steps(body)], returned

    @staticmethod
    def _copied(value: Code, array: Code, position: Code, like: Operand) -> ast.stmt:
        """Return the statement that copies a value to a row of an array."""
        if not shape_of(like):
            return assigned(subscript(array, [position]), value)
        return ast.Expr(call("store_row", array, position, value))

    def _over_steps(self, body: list[ast.stmt]) -> ast.For:
        """Return the statement that executes a body at all steps."""
        counting = "range({0} - 1, -1, -1)" if self.loop.reverse else "range({0})"
        return ast.For(name(self.index), quote(counting, self.size(self.loop.length)), body, [])

    def _sources(self) -> list[int]:
        """Return for each output of the step the instruction whose memory it has."""
        plan = self.body.plan
        return [origin(plan.instructions, number) for number in plan.results]

    def _own(self, place: int) -> Code:
        """Return the last value of a carry, in memory that no operand and no other carry has."""
        last = name(self.carries[place])
        sources = self._sources()[: len(self.loop.carries)]
        source = self.body.plan.instructions[sources[place]]
        if self.backend.own_numbers and not source.shape:
            # It may be written out at the start, or in the step.
            return self.backend.number(last)
        is_shared = (
            source.op in ("argument", "constant", "broadcast", "result")
            or sources.count(sources[place]) > 1
        )
        return self.backend.copy([last]) if source.shape and is_shared else last

    def _step(self, new: Sequence[Code]) -> list[ast.stmt]:
        """Return the statement by which carries get their next values."""
        pairs = [
            (name(own), value)
            for own, value in zip(self.carries, new, strict=True)
            if not (isinstance(value, ast.Name) and value.id == own)
        ]
        if len(pairs) < 2:
            return [assigned(own, value) for own, value in pairs]
        owns, values = zip(*pairs, strict=True)
        return [assigned(as_tuple(owns), as_tuple(values))]

    def scanned(self, name_of: str, write: WriteBody) -> ast.stmt:
        """Return the function with JAX's scan."""
        loop = self.loop
        if loop.length.atoms(StepIndex):
            raise UnsupportedError(
                f"backend {self.backend.name!r} has no loops whose number of steps changes with "
                "the step of a loop around them; mask the steps by where, or write them out with "
                "unroll"
            )
        steps, outputs = write(self.body, self.names)
        carried = len(loop.carries)
        carry = as_tuple([*map(name, self.carries)])
        stored = [outputs[carried + place] for kind, place in self.body.results if kind == VALUES]
        pairs = list(zip(self.results, self.body.results, strict=True))
        kept = [own for own, (kind, _) in pairs if kind == VALUES]
        kinds = [name("int" if own else self.kind) for own in self.body.positions[:carried]]
        new = [call("jnp.asarray", *own) for own in zip(outputs[:carried], kinds, strict=True)]
        step, entries = f"{name_of}_step", as_tuple([*map(name, self.inputs), name(self.index)])
        given = [name(f"{self.prefix}carry"), name(f"{self.prefix}entries")]
        inner = function(
            step,
            given,
            [
                assigned(carry, given[0]),
                assigned(entries, given[1]),
                *steps,
                ast.Return(as_tuple([as_tuple(new), as_tuple(stored)])),
            ],
        )
        length = self.size(loop.length)
        init = [
            call("jnp.asarray", name(own), kind)
            for own, kind in zip(self.carries, kinds, strict=True)
        ]
        xs = as_tuple([*map(name, self.stacked), call("jnp.arange", length)])
        body: list[ast.stmt] = [
            self.common_type(),
            # Arrays of NumPy's have no entry at a step that JAX traces.
            *[
                assigned(name(own), call("jnp.asarray", name(own)))
                for own, invariant in zip(self.invariants, loop.invariants, strict=True)
                if shape_of(invariant.symbol)
            ],
            inner,
            assigned(
                as_tuple([carry, as_tuple([*map(name, kept)])]),
                call("jax.lax.scan", name(step), as_tuple(init), xs, length, loop.reverse),
            ),
        ]
        returned = [
            name(own if kind == VALUES else self.carries[place]) for own, (kind, place) in pairs
        ]
        body.append(ast.Return(as_tuple(returned)))
        return function(name_of, [*map(name, self.arguments)], body)


def _numbered(stem: str, group: Sequence[object]) -> list[str]:
    """Return a name for each of a group."""
    return [f"{stem}{k + 1}" for k in range(len(group))]


# The first letters of names in the functions of loops: of carries, stacked inputs, inputs,
# invariants, results, of indices of entries, and of what a step computes.
STEMS = "csxareu"


def free_prefix(taken: Collection[str]) -> str:
    """Return a beginning of names, which the functions of loops give, that keeps them apart from
    some names."""
    prefixes = itertools.chain([""], "uvwz", ("u" + "_" * k for k in itertools.count(1)))
    return next(
        prefix
        for prefix in prefixes
        if not any(_is_given(own.removeprefix(prefix)) for own in taken if own.startswith(prefix))
    )


def _is_given(name: str) -> bool:
    """Tell whether a name is one that the functions of loops give."""
    is_numbered = name[:1] in {*STEMS} and (name[1:].isdigit() or not name[1:])
    return is_numbered or name in ("step", "kind", "carry", "entries") or name.startswith("loop")


def ignoring(kind: str, tree: ast.stmt) -> ast.stmt:
    """Return a statement in which a kind of errors of numbers is ignored."""
    call_of = ast.Call(dotted("np.errstate"), [], [ast.keyword(kind, constant("ignore"))])
    return ast.With([ast.withitem(call_of)], [tree])


def as_tuple(parts: Sequence[Code]) -> Code:
    """Return a tuple."""
    return ast.Tuple([*parts])


def loop_function(
    body: ScanBody, name_of: str, prefix: str, backend: LoopSpelling, size: Size, write: WriteBody
) -> ast.stmt:
    """Return the function of a loop.

    Raises
    ======

    UnsupportedError : the library has no loops
    """
    writer = LoopWriter(body, prefix, backend, size)
    if backend.loops == "written":
        return writer.written(name_of, write)
    if backend.loops == "scanned":
        return writer.scanned(name_of, write)
    raise UnsupportedError(
        f"backend {backend.name!r} has no loops; use another one, or write the steps out with "
        "unroll"
    )


def compiled_once(tree: Any, outer: Sequence[str]) -> list[ast.stmt]:
    """Return the function of a loop as JAX compiles it once for all calls, with the lengths and the
    type that it uses as further arguments."""
    tree.args.args += [ast.arg(own) for own in outer]
    jitted = call("jax.jit", name(tree.name))
    if outer:
        jitted = with_keywords(jitted, static_argnames=as_tuple([*map(constant, outer)]))
    return [tree, assigned(name(tree.name), jitted)]
