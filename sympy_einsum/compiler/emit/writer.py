"""Instruction selection: a plan as statements of Python, one for each instruction, and their text.

No string that a user chose reaches the text: free symbols that aren't arguments are errors.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sympy import Expr, Function, I, S, ceiling, floor

from ...core import Shape, UnsupportedError, once, tuning
from ...expressions import StepIndex, shape_of, slot
from ..backends import ALL_ENTRIES, NEW_AXIS, Backend, Bracket, Destination, numbers_code
from ..ir.code import (
    FLOAT64,
    LENGTH,
    NUMBER,
    OTHER,
    Code,
    Operand,
    assigned,
    call,
    constant,
    dotted,
    function,
    in_steps,
    is_integer,
    name,
    names_in,
    nodes,
    quote,
    subscript,
    template_of,
)
from ..ir.instruction_rules import AxisPart, Instruction, Params, Slice, broadcast_shape
from ..ir.instructions import OPS, Inline
from ..ir.plans import Plan, origins
from ..ir.scans import ScanBody
from ..ir.solutions import EquationBody, solutions_refused
from ..ir.types import deciding_type, doubles, type_sources
from ..passes.in_place import overwritten
from ..passes.loop_functions import compiled_once, free_prefix, ignoring, loop_function
from ..passes.registers import Assignment, with_fewer_names
from ..passes.row_blocks import RowBlocks
from .kernels import KernelText
from .modules import Block, Line
from .printer import printed
from .signature import Signature, shape_text, size_code

# Entries of basic indexing.
ENTRIES = {
    ":": ALL_ENTRIES.code,
    "None": NEW_AXIS,
    "...": constant(...),
    "0": constant(0),
}


# Two writes and an axis.
Halves: TypeAlias = tuple[int, int, int]


class Writer:
    """Writes a plan as steps in Python, one instruction each, short ones inside those that use
    them."""

    def __init__(
        self,
        plan: Plan,
        names: Mapping[Expr, str],
        backend: Backend,
        prefix: str = "t",
        reuse: Mapping[int, int] | None = None,
        careful: bool = False,
        lengths: Collection[Expr] = (),
        named: Collection[int] = (),
        in_loop: bool = False,
    ):
        self.plan = plan
        self.lengths = lengths
        self.overwrites = reuse is not None
        self.reuse = reuse or {}
        self.names = names
        self.backend = backend
        self.prefix = prefix
        self.careful = careful
        self.in_loop = in_loop
        self.constants: dict[str, object] = {}
        self._codes: list[Code] = []
        # For loops that stand above the function, the variables of this one that they use.
        self._outer: dict[int, list[str]] = {}
        # The values known to be float64, for the backend that makes use of it.
        self._doubles = doubles(plan.instructions) if backend.is_of_float64 else ()
        # Scalar code is lowered once, with places for its operands.
        selected = lru_cache(None)(self._scalar)
        self._bodies = {
            number: selected(step.op, self._kinds(step.inputs), step.params)
            for number, step in enumerate(plan.instructions)
            if OPS[step.op].is_code
        }
        self._uses = plan.uses()
        self._inside = self._standing_inside().difference(named)

    @once
    def type_sources(self) -> list[frozenset[int]]:
        """For each instruction, those whose common type it has."""
        return type_sources(self.plan.instructions)

    @once
    def fixed(self) -> list[bool]:
        """For each value whether it depends on nothing but axis lengths."""
        return _fixed(self.plan, self.lengths)

    @once
    def plain_numbers(self) -> list[bool]:
        """For each value whether it may be a number of Python's."""
        found: list[bool] = []
        for op, inputs, _, shape in self.plan.instructions:
            may_be = op in ("argument", "result", "solution") or all(found[k] for k in inputs)
            found.append(not shape and may_be)
        return found

    @once
    def numbers(self) -> list[bool]:
        """For each value whether it depends on nothing."""
        return _fixed(self.plan)

    @once
    def halves(self) -> dict[int, Halves | None]:
        """The writes in a loop that add to both halves of an axis, for a backend that adds them at
        once: for the later one of two the numbers of both and the axis, for the other None."""
        found: dict[int, Halves | None] = {}
        if not self.in_loop or not self.backend.adds_halves:
            return found
        steps = self.plan.instructions
        targets: list[int] = []
        waiting: dict[int, list[tuple[int, int, Slice]]] = {}
        for number, step in enumerate(steps):
            is_write = step.op == "write"
            targets.append(targets[step.inputs[0]] if is_write or OPS[step.op].is_view else number)
            for k in step.inputs[is_write:]:
                waiting.pop(targets[k], None)
            part = _added_slice(step, steps[step.inputs[1]].shape) if is_write else None
            if part is None:
                continue
            axis, own = part
            others = waiting.setdefault(targets[number], [])
            for entry in others:
                other, place, rest = entry
                pair = [(rest, other), (own, number)]
                (one, first), (two, second) = sorted(pair, key=lambda half: half[0].start != 0)
                ends = one.start, one.count - two.start, two.start + two.count
                if place == axis and ends == (0, 0, step.shape[axis]):
                    found.update({other: None, number: (first, second, axis)})
                    others.remove(entry)
                    break
            else:
                others.append((number, axis, own))
        return found

    def write(self) -> tuple[list[Assignment], list[Code]]:
        """Return the steps, and the code of the results."""
        steps: list[Assignment] = []
        count = 0
        for number, (op, inputs, params, shape) in enumerate(self.plan.instructions):
            if op == "write":
                target, value = [self._codes[k] for k in inputs]
                if number in self.halves:
                    steps += self._added_halves(number, target)
                    self._codes.append(target)
                    continue
                order = len(self.plan.instructions[inputs[1]].shape)
                slices, subscripts, sign = params
                is_fresh = self.plan.instructions[inputs[0]].op == "zeros"
                width = self._size(shape[-1]) if is_fresh else None
                axes = self.plan.instructions[inputs[0]].shape
                brackets = list(map(self._bracket, slices, axes))
                place = Destination(
                    target, brackets, subscripts, width, _reaches_end(slices, shape)
                )
                if self._are_float64(inputs):
                    value = self._own_number(inputs[1]) or value
                if self._writes_entry(number):
                    entry = subscript(value, [constant(0)] * order)
                    statement = self.backend.write_entry(target, brackets, entry, sign)
                else:
                    statement = self.backend.write(place, value, order, sign)
                steps.append(self._assignment("", statement, None, number))
                self._codes.append(target)
                continue
            if op == "loop":
                steps += self._loop(number, params[0])
            if op == "solution":
                steps.append(self._equation(number, params[0]))
            over, code = self._select(number, op, inputs, params)
            is_name = op in ("argument", "writable") and isinstance(code, ast.Name)
            is_inside = number in self._inside and len(printed(code)) <= tuning.MAX_INLINED_CODE
            if not is_name and not is_inside:
                count += 1
                variable = f"{self.prefix}{count}"
                steps.append(self._assignment(variable, code, shape, number, over))
                code = name(variable)
            self._codes.append(code)
        return steps, [self._codes[k] for k in self.plan.results]

    def _added_halves(self, number: int, target: Code) -> list[Assignment]:
        """Return the statement that adds to both halves of an axis, where both blocks are known."""
        halves = self.halves[number]
        if halves is None:
            return []
        *writes, axis = halves
        first, second = [self._codes[self.plan.instructions[k].inputs[1]] for k in writes]
        statement = self.backend.add_halves(target, first, second, axis)
        return [self._assignment("", statement, None, number)]

    def _writes_entry(self, number: int) -> bool:
        """Tell whether an instruction writes a single entry at each step of a loop, and the backend
        has a statement for it."""
        op, inputs, params, shape = self.plan.instructions[number]
        if op != "write" or not (self.in_loop and self.backend.writes_entries):
            return False
        value = self.plan.instructions[inputs[1]].shape
        return _is_entry(params[0]) and len(value) == len(shape)

    def _assignment(
        self, target: str, code: ast.AST, shape: Shape | None, number: int, over: str = ""
    ) -> Assignment:
        """Return an assignment with what is to be known of its code, which is walked over once."""
        found = nodes(code)
        mentioned = [node.id for node in found if isinstance(node, ast.Name)]
        return Assignment(
            target, code, mentioned, self.backend.silences(found), shape, number, over
        )

    def _standing_inside(self) -> set[int]:
        """Return the instructions whose code may stand inside that of the one that uses them."""
        instructions = self.plan.instructions
        written = {step.inputs[0] for step in instructions if OPS[step.op].is_written}
        written |= {instructions[number].inputs[place] for number, place in self.reuse.items()}
        inside = set()
        for number, (op, inputs, _, _) in enumerate(instructions):
            if op == "scalar" and not inputs:
                inside.add(number)
            if op == "transpose" and instructions[inputs[0]].op == "argument":
                inside.add(number)
        for number, (op, inputs, _, _) in enumerate(instructions):
            is_formula = OPS[op].is_formula and number not in self.reuse
            for place, k in enumerate(inputs):
                inline = OPS[instructions[k].op].inline
                once = self._uses[k] == 1 and k not in written
                if once and number in self._bodies and number not in self.reuse:
                    once = self._bodies[number].uses[place] == 1
                fits = inline is Inline.ANYWHERE or (inline is Inline.IN_FORMULAS and is_formula)
                if once and fits:
                    inside.add(k)
        # Reads of an array that is overwritten later must not be put off.
        sources = origins(instructions)
        targets = {sources[instructions[n].inputs[p]] for n, p in self.reuse.items()}
        if not targets:
            return inside
        late = {
            number
            for number, step in enumerate(instructions)
            if not OPS[step.op].is_view
            and not targets.isdisjoint([sources[k] for k in step.inputs])
        }
        return inside - late

    def _kinds(self, inputs: Sequence[int]) -> tuple[str, ...]:
        """Return the kinds of operands of scalar code: axis lengths of Python's, further numbers
        that may be Python's, float64 values, others."""
        return tuple(map(self._kind, inputs))

    def _kind(self, number: int) -> str:
        op, _, params, shape = self.plan.instructions[number]
        are_plain = self.backend.plain_lengths and not self.careful
        if are_plain and op == "argument" and params[0] in self.lengths:
            return LENGTH
        if not shape:
            return NUMBER if self.plain_numbers[number] else OTHER
        return FLOAT64 if self._are_float64([number]) else OTHER

    def _are_float64(self, inputs: Sequence[int]) -> bool:
        """Tell whether some values are known to be of double precision."""
        return bool(self._doubles) and all(self._doubles[k] for k in inputs)

    def _scalar(self, op: str, kinds: Sequence[str], params: Params) -> _Body:
        operands = [Operand(k, kind) for k, kind in enumerate(kinds)]
        return _Body.of(self._spelled(op, operands, params))

    def _spelled(self, op: str, operands: Sequence[Code], params: Params) -> Code:
        """Spell an instruction by the backend's method of that name."""
        code: Code = getattr(self.backend, op)(operands, *params)
        return code

    def _select(
        self, number: int, op: str, inputs: Sequence[int], params: Params
    ) -> tuple[str, Code]:
        """Return the code of an instruction, and the variable whose array it is written over."""
        is_rounded = bool(params) and isinstance(params[0], (floor, ceiling))
        if is_rounded and self.fixed[number]:
            length = self._length(number)
            if all(isinstance(part, (floor, ceiling)) for part in length.atoms(Function)):
                # NumPy's would be a double.
                return "", self._number(self._size(length))
        operands = [self._codes[k] for k in inputs]
        place = self.reuse.get(number)
        over = "" if place is None else printed(operands[place])
        if number in self._bodies:
            body = self._bodies[number]
            if place is not None:
                written = self.backend.in_place_function(body.code, place)
                over = "" if written is body.code else over
                body = _Body.of(written)
            return over, self._with_axes(number, {inputs[k] for k in body.uses}, body.on(operands))
        if op == "argument":
            if params[0] not in self.names:
                self._size(params[0])
            code = quote(self.names[params[0]])
            return "", code if shape_of(params[0]) else self._number(code)
        if op == "constant":
            return "", self._constant(params[0].array)
        if op == "writable":
            params = (params[0] or place is not None,)
        if OPS[op].is_typed:
            params = (*params, self._type(inputs))
        if op == "loop":
            outer = map(name, self._outer.get(number, ()))
            return "", self.backend.loop([*operands, *outer], self._function_name(number))
        if op == "solution":
            return "", self.backend.solution(operands, name(self._function_name(number)))
        if op == "sparse_matrix":
            return "", params[0].code(operands, self._size, self.names.values())
        if op == "slice":
            axes = self.plan.instructions[inputs[0]].shape
            return "", self.backend.slice(operands, list(map(self._bracket, params[0], axes)))
        if op == "index":
            return "", self.backend.index(operands, [ENTRIES[entry] for entry in params[0]])
        params = tuple(
            [self._size(part) for part in param] if _is_shape(param) else self._param(param)
            for param in params
        )
        if op in ("add", "multiply") and self._are_float64(inputs):
            operands = self._with_numbers(operands, inputs)
        if place is not None and op != "writable":
            return over, self.backend.in_place(op, operands, place, *params)
        return over, self._spelled(op, operands, params)

    def _function_name(self, number: int) -> str:
        """Return the name of the function of a loop or an equation."""
        op = self.plan.instructions[number].op
        places = [k for k, step in enumerate(self.plan.instructions) if step.op == op]
        kind = "loop" if op == "loop" else "equation"
        return f"{self.inner_prefix}{kind}{places.index(number) + 1}"

    @once
    def inner_prefix(self) -> str:
        """A beginning of names that no other name has."""
        return free_prefix([*self.names.values(), self.prefix])

    def _loop(self, number: int, body: ScanBody) -> list[Assignment]:
        """Return the function of a loop; none if it stands above the function that is written,
        where the variables of this one are further arguments."""
        own = self._function_name(number)
        tree = loop_function(
            *(body, own, self.inner_prefix, self.backend, self._size), self._body_of_loop
        )
        if self.prefix == "t" and self.backend.loops == "scanned":
            outer = sorted({*self.names.values(), "dtype"}.intersection(names_in(tree)))
            self._outer[number] = outer
            above = self.backend.loops_above
            self.backend.loops_above = [*above, *compiled_once(tree, outer)]
            return []
        return [self._assignment("", tree, None, number)]

    def _equation(self, number: int, body: EquationBody) -> Assignment:
        """Return the function of an equation: F and its Jacobian at an unknown."""
        if self.backend.loops not in ("written", "scanned"):
            raise UnsupportedError(solutions_refused(self.backend.name))
        suffixes = ["x", *[f"a{k}" for k in range(1, len(body.parameters))]]
        arguments = [self.inner_prefix + suffix for suffix in suffixes]
        names = dict(zip(body.parameters, arguments, strict=True))
        statements, outputs = self._body_of_loop(body, names)
        statements.append(ast.Return(ast.Tuple(outputs)))
        tree = function(self._function_name(number), [*map(name, arguments)], statements)
        return self._assignment("", tree, None, number)

    def _body_of_loop(
        self, body: ScanBody | EquationBody, names: Mapping[Expr, str]
    ) -> tuple[list[ast.stmt], list[Code]]:
        """Return the statements of a step, and the code of its outputs."""
        overwrites = self.overwrites and not self.backend.is_read_back
        inner = Writer(
            *(body.plan, {**self.names, **names}, self.backend, f"{self.inner_prefix}u"),
            reuse=overwritten(body.plan) if overwrites else None,
            careful=self.careful,
            lengths=self.lengths,
            in_loop=isinstance(body, ScanBody),
        )
        steps, outputs = inner.write()
        statements: list[ast.stmt] = []
        for step in steps:
            tree: Any = step.code
            if step.target and not step.ignored and inner.keeps_shape(step.number):
                statements += in_steps(ast.Name(step.target), tree)
                continue
            if step.target:
                tree = assigned(name(step.target), tree)
            statements.append(ignoring(step.ignored, tree) if step.ignored else tree)
        return statements, outputs

    def keeps_shape(self, number: int) -> bool:
        """Tell whether all arrays that the code of an instruction makes are known to be of double
        precision and of one shape."""
        shape = self.plan.instructions[number].shape
        parts = [number]
        for part in parts:
            if part == number or part in self._inside:
                parts += self.plan.instructions[part].inputs
        shapes = {self.plan.instructions[part].shape for part in parts}
        return bool(shape) and shapes <= {shape, ()} and self._are_float64(parts)

    def _with_numbers(self, operands: Sequence[Code], inputs: Sequence[int]) -> list[Code]:
        """Return the operands, of which numbers among arrays are such as the backend has."""
        found = [*operands]
        for place, k in enumerate(inputs):
            if not self.plan.instructions[k].shape:
                number = self._own_number(k)
                if number is None:
                    return [*operands]
                found[place] = number
        return found

    def _own_number(self, number: int) -> Code | None:
        """Return a number that is written out, as the backend for doubles has it; None for
        others."""
        op, inputs, params, _ = self.plan.instructions[number]
        is_number = op == "scalar" and not inputs and params[0].is_real
        return self.backend.own_number(params[0]) if is_number else None

    def _number(self, code: Code) -> Code:
        """Return a number of Python's, as one of the library's if that is asked for."""
        careful = self.careful or self.backend.own_numbers
        return self.backend.number(code) if careful else code

    def _length(self, number: int) -> Expr:
        """Return a number that depends on nothing but axis lengths, as an expression."""
        op, inputs, params, _ = self.plan.instructions[number]
        if op == "argument":
            return params[0]
        return params[0].xreplace({slot(k): self._length(i) for k, i in enumerate(inputs)})

    def _with_axes(self, number: int, used: Collection[int], code: Code) -> Code:
        """Return scalar code with the shape of its instruction: some functions are spelled in terms
        of others, and operands may cancel in that."""
        instructions = self.plan.instructions
        _, inputs, params, shape = instructions[number]
        if used == {*inputs}:
            return code
        given = broadcast_shape([instructions[k].shape for k in used]) if used else ()
        if given == shape:
            return code
        if given:
            text = printed(code)
            raise UnsupportedError(f"the code for {params[0]}, {text}, has lost axes of {shape}")
        return self.backend.full([code], [self._size(n) for n in shape], self._type(inputs))

    def _type(self, inputs: Sequence[int]) -> Code:
        """Return the type of an array that values are written to: that of the arrays among them, or
        else of the arguments."""
        if self._are_float64(inputs):
            return self.backend.common_type((), ())
        arrays, scalars = [], []
        for k in deciding_type(inputs, self.type_sources):
            if self.plan.instructions[k].shape:
                arrays.append(self._codes[k])
            elif not self.fixed[k]:
                scalars.append(self._codes[k])
        steps = [self.plan.instructions[k] for k in inputs if self.numbers[k]]
        numbers = [s.params[0] for s in steps if s.op == "scalar"]
        is_fraction = [number.is_integer is False or number.has(I) for number in numbers]
        if (arrays or scalars) and any(is_fraction):
            scalars.append(self.backend.fraction)  # integers can't hold it
        return self.backend.common_type(arrays, scalars)

    def _constant(self, array: np.ndarray) -> Code:
        if self.prefix != "t" or array.size <= tuning.MAX_WRITTEN_CONSTANT:
            return self.backend.constant([], array)
        own = f"_constant{len(self.constants)}"
        self.constants[own] = array
        return self.backend.named_constant(own)

    def _param(self, param: object) -> object:
        return self._size(param) if isinstance(param, Expr) else param

    def _bracket(self, part: AxisPart, length: Expr) -> Bracket:
        if part is None:
            return ALL_ENTRIES
        if not isinstance(part, Slice):
            return Bracket(self._size(part))
        start, step, count = map(self._size, part)
        stop = part.start + part.step * part.count
        end = self._size(stop)
        code: Code = ast.Slice(start, end, None if is_integer(step, 1) else step)
        if part.step.is_negative and stop.is_negative and part.start.is_nonnegative:
            code = ast.Slice(start, None, step)
            if part.start + 1 != length and _may_be_negative(part.start):
                # Without entries it starts before the first one, which counts from the end.
                code = quote("slice({0}, None, {1}) if {0} >= 0 else slice(0)", start, step)
        elif part.step.is_negative and not stop.is_nonnegative:
            # Negative numbers would count from the end.
            code = quote(
                "slice({0}, {1} if {1} >= 0 else None, {2}) if {0} >= 0 else slice(0)",
                *(start, end, step),
            )
        if self.backend.loops == "scanned" and part.count.atoms(StepIndex):
            raise UnsupportedError(
                f"backend {self.backend.name!r} has no slices whose length changes with the step "
                "of a loop; mask the entries, or write the steps out with unroll"
            )
        return Bracket(code, start, step, count, bool(part.start.atoms(StepIndex)))

    def _size(self, length: Expr) -> Code:
        return size_code(length, self.names, self.backend)


class _Body(NamedTuple):
    """Scalar code with places for its operands: the function that fills these, and how often each
    occurs."""

    code: Code
    on: Callable[[Sequence[Code]], Code]
    uses: Counter[int]

    @staticmethod
    def of(code: Code) -> _Body:
        """Return the body of a tree."""
        places = [node.number for node in nodes(code) if isinstance(node, Operand)]
        return _Body(code, template_of(code), Counter(places))


def _reaches_end(slices: Sequence[AxisPart], shape: Shape) -> bool:
    """Tell whether the diagonal of a block of a matrix, entry by entry in C order, goes on to the
    end: the block has the last rows, or the last but one and the last columns."""
    if len(slices) != 2:
        return False
    ends = [
        part.start + part.count if isinstance(part, Slice) else n
        for part, n in zip(slices, shape, strict=True)
    ]
    below, beside = [n - end for n, end in zip(shape, ends, strict=True)]
    return bool(below.is_zero or ((below - 1).is_zero and beside.is_zero))


def _added_slice(step: Instruction, block: Shape) -> tuple[int, Slice] | None:
    """Return the axis that a write adds a block to a slice of, if all others are whole."""
    slices, subscripts, sign = step.params
    parts = [(axis, own) for axis, own in enumerate(slices) if own is not None]
    diagonal, kept = subscripts.split("->")
    if sign != 1 or diagonal != kept or len(parts) != 1:
        return None
    axis, own = parts[0]
    if not isinstance(own, Slice) or own.step != 1:
        return None
    return (
        (axis, own) if block == (*step.shape[:axis], own.count, *step.shape[axis + 1 :]) else None
    )


def _is_entry(slices: Sequence[AxisPart]) -> bool:
    """Tell whether slices of all axes take one entry."""
    return bool(slices) and all(isinstance(own, Slice) and own.count == 1 for own in slices)


def _may_be_negative(position: Expr) -> bool:
    """Tell whether a position is before the first entry where all lengths in it are 0."""
    return bool(position.xreplace(dict.fromkeys(position.free_symbols, S.Zero)).is_negative)


def _is_shape(param: object) -> bool:
    return isinstance(param, tuple) and bool(param) and all(isinstance(p, Expr) for p in param)


class Body(NamedTuple):
    """The body of a function.

    Attributes
    ==========

    reads : the statements that read axis lengths; checks of arguments read them too
    lines : the lines that compute, and the names in them
    constants : by name those that are too large to be written out
    kernel : the kernel that it calls, if any
    """

    reads: list[ast.stmt]
    lines: Block | list[ast.stmt]
    constants: dict[str, object]
    kernel: KernelText | None = None

    @property
    def names(self) -> Collection[str]:
        """The names in the lines that compute, but for a kernel."""
        return self.lines.names if isinstance(self.lines, Block) else ()

    def block(self, depth: int = 0) -> list[Line]:
        """Return the lines that compute, for a module."""
        if isinstance(self.lines, Block):
            return [self.lines._replace(depth=depth)]
        return [*self.lines]


class _Line(NamedTuple):
    """A line of text, the kind of errors of numbers that is ignored in it, and its indentation."""

    text: str
    ignored: str = ""
    depth: int = 0


def function_body(
    signature: Signature,
    plan: Plan,
    layout: Callable[[Sequence[Code]], Code],
    reuse: Mapping[int, int] | None,
    careful: bool = False,
    rows: RowBlocks | None = None,
) -> Body:
    """Return the body of a function that computes a plan, writing over operands where ``reuse``
    says, or nowhere, in loops either; a careful one computes with the library's numbers, for which
    division by zero is no error. With ``rows`` many rows are processed in blocks."""
    backend = signature.backend
    backend.loops_above = ()
    writer = Writer(
        *(plan, signature.names, backend),
        reuse=reuse,
        careful=careful,
        lengths=signature.lengths,
        named=rows.totals if rows else (),
    )
    steps, results = writer.write()
    tensors = [signature.names[s] for s in signature.symbols if shape_of(s)]
    if tensors:
        fixed = [writer.fixed[k] for k in plan.results]
        pairs = zip(fixed, results, strict=True)
        results = [backend.number(code) if is_fixed else code for is_fixed, code in pairs]
    result = layout(results)
    used = {own for step in steps for own in step.mentioned}.union(names_in(result))
    emit = _Emission(signature)
    names: Mapping[str, str] = {}
    if rows:
        lines = emit.in_blocks(rows, steps)
        used.add("by_rows")
    else:
        shorter, names = with_fewer_names(steps, results)
        lines = emit.lines(shorter)
    opening = backend.opening(used, tensors)
    used.update(own for statement in opening for own in names_in(statement))
    if any(line.ignored for line in lines):
        used.add("np")
    wanted = [s for s in signature.lengths if signature.names[s] in used]
    texts = [
        *map(printed, opening),
        *_with_ignored_errors(lines),
        f"return {printed(result, names)}",
    ]
    return Body(signature.read_lengths(wanted), Block(texts, used), writer.constants)


class _Emission:
    """The lines of steps, with the shapes of their values as comments."""

    def __init__(self, signature: Signature):
        self.signature = signature
        self._shapes: dict[Shape, str] = {}

    def lines(self, steps: Sequence[Assignment], depth: int = 0) -> list[_Line]:
        """Return a line for each step; none where a variable would get its own value."""
        found = []
        for step in steps:
            text = printed(step.code, step.names)
            if text == step.target:
                continue
            text = f"{step.target} = {text}" if step.target else text
            text += f"  # {self._shape(step.shape)}" if step.shape else ""
            found.append(_Line(text, step.ignored, depth))
        return found

    def _shape(self, shape: Shape) -> str:
        if shape not in self._shapes:
            text = shape_text(shape, self.signature.names, self.signature.backend)
            self._shapes[shape] = text
        return self._shapes[shape]

    def in_blocks(self, rows: RowBlocks, steps: Sequence[Assignment]) -> list[_Line]:
        """Return the lines of steps, with those that compute sums over rows as a function of some
        rows."""
        names, backend = self.signature.names, self.signature.backend
        first = sum(step.number < rows.first for step in steps)
        last = sum(step.number < rows.last for step in steps)
        totals = [step.target for step in steps if step.number in rows.totals]
        inner, image = with_fewer_names(steps[first:last], [*map(name, totals)], first)
        results = [image.get(own, own) for own in totals]
        arrays = [names[symbol] for symbol in rows.arguments]
        shapes = {
            length: f"{names[symbol]}.shape[{axis}]"
            for length, (symbol, axis) in self.signature.axes.items()
        }
        width = size_code(rows.width, {**names, **shapes}, backend)
        call = quote(
            "rows({*0}) if len({1}) < {2} else by_rows(rows, {3}, {*0})",
            *([*map(name, arrays)], name(arrays[0]), tuning.MIN_BLOCKED_ROWS, width),
        )
        return [
            *self.lines(steps[:first]),
            _Line(f"def rows({', '.join(arrays)}):"),
            *self.lines(inner, 1),
            _Line(f"return [{', '.join(results)}]", depth=1),
            _Line(f"[{', '.join(totals)}] = {printed(call)}"),
            *self.lines(steps[last:]),
        ]


def _with_ignored_errors(lines: Sequence[_Line]) -> list[str]:
    """Return the lines, those in which errors are ignored under one statement that says so."""
    found: list[str] = []
    for (depth, ignored), group in groupby(lines, lambda line: (line.depth, line.ignored)):
        margin = "    " * depth
        if ignored:
            found.append(f'{margin}with np.errstate({ignored}="ignore"):')
            margin += "    "
        found += [margin + text for line in group for text in line.text.split("\n")]
    return found


def _fixed(plan: Plan, lengths: Collection[Expr] = ()) -> list[bool]:
    """Tell for each value whether it is a number that depends on no argument, but maybe on axis
    lengths."""
    found: list[bool] = []
    for op, inputs, params, shape in plan.instructions:
        if op == "argument":
            found.append(params[0] in lengths)
        else:
            is_number = not shape and OPS[op].body is not None
            found.append(is_number and all(found[k] for k in inputs))
    return found


def kernel_body(
    signature: Signature, kernel: KernelText, layout: Callable[[Sequence[Code]], Code]
) -> Body:
    """Return the body of a function that calls a kernel, for whatever can be made arrays of."""
    kind = name("dtype")
    statements = []
    for own, (order, is_position) in zip(signature.arguments, kernel.arguments, strict=False):
        template = "np.ascontiguousarray({0}, {1})" if order else "np.asarray({0}, {1})[()]"
        value = quote(template, name(own), dotted("np.int64") if is_position else kind)
        statements.append(assigned(name(own), value))
    large: dict[str, object] = {}
    types = kernel.arguments[len(signature.arguments) :]
    for (own, array), (_, is_position) in zip(kernel.constants.items(), types, strict=False):
        if array.size > tuning.MAX_WRITTEN_CONSTANT:
            large[own] = array
        else:
            entries = dotted("np.int64") if is_position else kind
            statements.append(assigned(name(own), call("np.array", numbers_code(array), entries)))
    statements += kernel.calling(signature, layout, name("compute"), (kind, kind))
    return Body([], statements, large, kernel)
