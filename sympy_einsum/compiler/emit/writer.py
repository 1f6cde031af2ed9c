"""Emission of a plan as source text, one line for each instruction.

No string that a user chose reaches the text: free symbols that aren't arguments are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from sympy import Expr, Function, I, ceiling, floor

from ...core import Shape, UnsupportedError, once
from ...expressions import shape_of, slot
from ..backends import DOUBLES, LENGTH, Backend, Bracket, Place, is_bracketed, numbers_text
from ..ir.instruction_rules import Cut, Params, Slice, broadcast_shape
from ..ir.instructions import ATOM, LOOSE, OPS, PRODUCT, SUM, Inline
from ..ir.plans import Plan, origin
from ..ir.types import deciding_type, doubles, type_sources
from ..passes.registers import Step, with_fewer_names
from ..passes.row_blocks import RowBlocks
from .kernels import KernelText
from .signature import Signature, shape_text, size_text

# Constant arrays up to this many entries are written into the source.
MAX_WRITTEN = 1000
# Fewer rows than that are computed at once.
FEW = 200
# Texts up to this length stand inside the one that uses them.
MAX_INLINE = 60


class Writer:
    """Writes a plan as steps in Python, one instruction each, short ones inside those that use
    them."""

    def __init__(
        self,
        plan: Plan,
        names: Mapping[Expr, str],
        backend: Backend,
        prefix: str = "t",
        reuse: Mapping[int, int] = MappingProxyType({}),
        careful: bool = False,
        lengths: Collection[Expr] = (),
        named: Collection[int] = (),
    ):
        self.plan = plan
        self.lengths = lengths
        self.reuse = reuse
        self.names = names
        self.backend = backend
        self.prefix = prefix
        self.careful = careful
        self.constants: dict[str, object] = {}
        self._texts: list[tuple[str, int]] = []
        # What is known to be of double precision, for the backend that makes use of it.
        self._doubles = doubles(plan.instructions) if backend.is_of_doubles else ()
        # Scalar code is printed once, with places for its operands.
        printed = lru_cache(None)(self._called)
        self._placed = {
            number: self._places(step.inputs)
            for number, step in enumerate(plan.instructions)
            if OPS[step.op].is_code
        }
        self._bodies = {
            number: printed(plan.instructions[number].op, places, plan.instructions[number].params)
            for number, places in self._placed.items()
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
    def numbers(self) -> list[bool]:
        """For each value whether it depends on nothing."""
        return _fixed(self.plan)

    def write(self) -> tuple[list[Step], list[str]]:
        """Return the steps, and the texts of the results."""
        steps: list[Step] = []
        count = 0
        for number, (op, inputs, params, shape) in enumerate(self.plan.instructions):
            if op == "write":
                target, value = [self._operand(k) for k in inputs]
                order = len(self.plan.instructions[inputs[1]].shape)
                cuts, subscripts, sign = params
                is_fresh = self.plan.instructions[inputs[0]].op == "zeros"
                width = self._size(shape[-1]) if is_fresh else ""
                brackets = [self._bracket(cut) for cut in cuts]
                place = Place(target, brackets, subscripts, width, _reaches_end(cuts, shape))
                if self._are_doubles(inputs):
                    value = self._own_number(inputs[1]) or value
                text = self.backend.write(place, value, order, sign)
                steps.append(Step("", text, number=number))
                self._texts.append((target, ATOM))
                continue
            text = self._spell(number, op, inputs, params)
            known = OPS[op].binding
            if OPS[op].is_code:
                binding = _body_binding(params[0], text)
            elif known is None:
                binding = ATOM if is_bracketed(text) else PRODUCT
            else:
                binding = known
            named = op == "argument" and text.isidentifier()
            if not named and (number not in self._inside or len(text) > MAX_INLINE):
                count += 1
                name = f"{self.prefix}{count}"
                steps.append(Step(name, text, shape, number))
                text, binding = name, ATOM
            self._texts.append((text, binding))
        return steps, [self._texts[k][0] for k in self.plan.results]

    def _standing_inside(self) -> set[int]:
        """Return the instructions whose text may stand inside that of the one that uses them."""
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
                    once = self._bodies[number].count(self._placed[number][place]) == 1
                fits = inline is Inline.ANYWHERE or (inline is Inline.IN_FORMULAS and is_formula)
                if once and fits:
                    inside.add(k)
        # Reads of an array that is overwritten later must not be put off.
        targets = {origin(instructions, instructions[n].inputs[p]) for n, p in self.reuse.items()}
        if not targets:
            return inside
        late = {
            number
            for number, step in enumerate(instructions)
            if not OPS[step.op].is_view and targets & {origin(instructions, k) for k in step.inputs}
        }
        return inside - late

    def _operand(self, number: int, binding: int = ATOM) -> str:
        """Return the text of an operand, in brackets unless it binds at least so tightly."""
        text, own = self._texts[number]
        return text if own >= binding or is_bracketed(text) else f"({text})"

    def _places(self, inputs: Sequence[int]) -> tuple[str, ...]:
        """Return the names of operands in scalar code, by kind: axis lengths of Python's, float64
        values, others."""
        steps = [self.plan.instructions[k] for k in inputs]
        are_plain = self.backend.plain_lengths and not self.careful
        lengths = [are_plain and s.op == "argument" and s.params[0] in self.lengths for s in steps]
        kinds = [
            LENGTH if own else DOUBLES if step.shape and self._are_doubles([k]) else "_operand"
            for own, step, k in zip(lengths, steps, inputs, strict=True)
        ]
        return tuple([f"{kind}{k}_" for k, kind in enumerate(kinds)])

    def _are_doubles(self, inputs: Sequence[int]) -> bool:
        """Tell whether some values are known to be of double precision."""
        return bool(self._doubles) and all(self._doubles[k] for k in inputs)

    def _called(self, op: str, operands: Sequence[str], params: Params) -> str:
        """Spell an instruction by the backend's method of that name."""
        text: str = getattr(self.backend, op)(operands, *params)
        return text

    def _spell(self, number: int, op: str, inputs: Sequence[int], params: Params) -> str:
        is_rounded = bool(params) and isinstance(params[0], (floor, ceiling))
        if is_rounded and self.fixed[number]:
            length = self._length(number)
            if all(isinstance(part, (floor, ceiling)) for part in length.atoms(Function)):
                # NumPy's would be a double.
                return self._number(self._size(length))
        if number in self._bodies:
            body = self._bodies[number]
            if number in self.reuse:
                body = self.backend.in_place_function(body, self.reuse[number])
            literals, places = _template(body)
            texts = [self._operand(inputs[k], binding) for k, binding in places]
            text = literals[0] + "".join(chain(*zip(texts, literals[1:], strict=True)))
            return self._with_axes(number, {inputs[k] for k, _ in places}, text)
        if op == "argument":
            if params[0] not in self.names:
                self._size(params[0])
            name = self.names[params[0]]
            return name if shape_of(params[0]) else self._number(name)
        if op == "constant":
            return self._constant(params[0].array)
        if op == "writable":
            params = (params[0] or number in self.reuse,)
        if OPS[op].is_typed:
            params = (*params, self._type(inputs))
        # How tightly the first operand and the others must bind.
        first, rest = OPS[op].operands
        if op == "add" and params[0][0] < 0:
            # A minus binds tighter than @: without brackets it would negate a whole matrix.
            first = ATOM if OPS[self.plan.instructions[inputs[0]].op].is_dear else PRODUCT
        operands = [self._operand(k, rest if place else first) for place, k in enumerate(inputs)]
        if op == "cut":
            return self.backend.cut(operands, [self._bracket(cut) for cut in params[0]])
        params = tuple(
            [self._size(part) for part in param] if _is_shape(param) else self._param(param)
            for param in params
        )
        if number in self.reuse and op != "writable":
            operands = [self._operand(k, LOOSE) for k in inputs]
        if op in ("add", "multiply") and self._are_doubles(inputs):
            operands = self._with_numbers(operands, inputs)
        if number in self.reuse and op != "writable":
            return self.backend.in_place(op, operands, self.reuse[number], *params)
        return self._called(op, operands, params)

    def _with_numbers(self, operands: Sequence[str], inputs: Sequence[int]) -> list[str]:
        """Return the operands, of which numbers among arrays are such as the backend has."""
        numbers = [self._own_number(k) for k in inputs]
        shapes = [self.plan.instructions[k].shape for k in inputs]
        if not all(own or shape for own, shape in zip(numbers, shapes, strict=True)):
            return [*operands]
        return [own or text for own, text in zip(numbers, operands, strict=True)]

    def _own_number(self, number: int) -> str:
        """A number that is written out, as the backend for doubles has it; nothing for others."""
        op, inputs, params, _ = self.plan.instructions[number]
        is_number = op == "scalar" and not inputs and params[0].is_real
        return self.backend.own_number(params[0]) if is_number else ""

    def _number(self, text: str) -> str:
        """A number of Python's, as one of the library's if that is asked for."""
        careful = self.careful or self.backend.own_numbers
        return self.backend.number(text) if careful else text

    def _length(self, number: int) -> Expr:
        """A number that depends on nothing but axis lengths, as an expression."""
        op, inputs, params, _ = self.plan.instructions[number]
        if op == "argument":
            return params[0]
        return params[0].xreplace({slot(k): self._length(i) for k, i in enumerate(inputs)})

    def _with_axes(self, number: int, used: Collection[int], text: str) -> str:
        """Scalar code with the shape of its instruction: SymPy's printer writes some functions in
        terms of others, and operands may cancel in that."""
        instructions = self.plan.instructions
        _, inputs, params, shape = instructions[number]
        if used == {*inputs}:
            return text
        given = broadcast_shape([instructions[k].shape for k in used]) if used else ()
        if given == shape:
            return text
        if given:
            raise UnsupportedError(f"the code for {params[0]}, {text}, has lost axes of {shape}")
        return self.backend.full([text], [self._size(n) for n in shape], self._type(inputs))

    def _type(self, inputs: Sequence[int]) -> str:
        """Return the type of an array that values are written to: that of the arrays among them, or
        else of the arguments."""
        if self._are_doubles(inputs):
            return self.backend.common_type((), ())
        arrays, scalars = [], []
        for k in deciding_type(inputs, self.type_sources):
            if self.plan.instructions[k].shape:
                arrays.append(self._operand(k))
            elif not self.fixed[k]:
                scalars.append(self._operand(k))
        steps = [self.plan.instructions[k] for k in inputs if self.numbers[k]]
        numbers = [s.params[0] for s in steps if s.op == "scalar"]
        is_fraction = [number.is_integer is False or number.has(I) for number in numbers]
        if (arrays or scalars) and any(is_fraction):
            scalars.append(self.backend.fraction)  # integers can't hold it
        return self.backend.common_type(arrays, scalars)

    def _constant(self, array: np.ndarray) -> str:
        if self.prefix != "t" or array.size <= MAX_WRITTEN:
            return self.backend.constant([], array)
        name = f"_constant{len(self.constants)}"
        self.constants[name] = array
        return self.backend.named_constant(name)

    def _param(self, param: object) -> object:
        return self._size(param) if isinstance(param, Expr) else param

    def _bracket(self, cut: Cut) -> Bracket:
        if cut is None:
            return Bracket(":")
        if not isinstance(cut, Slice):
            return Bracket(self._size(cut))
        start, step, count = map(self._size, cut)
        stop = cut.start + cut.step * cut.count
        end = self._size(stop)
        text = f"{start}:{end}" + (f":{step}" if step != "1" else "")
        if cut.step.is_negative and stop.is_negative and cut.start.is_nonnegative:
            text = f"{start}::{step}"
        elif cut.step.is_negative and not stop.is_nonnegative:
            # Negative numbers would count from the end.
            whole = f"slice({start}, {end} if {end} >= 0 else None, {step})"
            text = f"{whole} if {start} >= 0 else slice(0)"
        return Bracket(text, start, step, count)

    def _size(self, length: Expr) -> str:
        return size_text(length, self.names, self.backend)


def _reaches_end(cuts: Sequence[Cut], shape: Shape) -> bool:
    """Tell whether the diagonal of a block of a matrix, entry by entry in C order, goes on to the
    end: the block has the last rows, or the last but one and the last columns."""
    if len(cuts) != 2:
        return False
    ends = [
        cut.start + cut.count if isinstance(cut, Slice) else n
        for cut, n in zip(cuts, shape, strict=True)
    ]
    below, beside = [n - end for n, end in zip(shape, ends, strict=True)]
    return bool(below.is_zero or ((below - 1).is_zero and beside.is_zero))


def _body_binding(body: Expr, text: str) -> int:
    if text[0] == "-":
        return PRODUCT if body.is_Number else SUM
    if body.is_Mul or body.is_Pow:
        return PRODUCT
    return SUM if body.is_Add else LOOSE


_PLACE = re.compile(rf"(?:{LENGTH}|{DOUBLES}|_operand)(\d+)_")


@lru_cache(maxsize=1024)
def _template(body: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The text around the operands in scalar code, and for each of these its number and how tightly
    it must bind: no brackets where it is an argument of a call."""
    parts = _PLACE.split(body)
    literals, places = parts[::2], [*map(int, parts[1::2])]
    enclosed = [a[-1:] == "(" and b[:1] == ")" for a, b in pairwise(literals)]
    return literals, [(k, LOOSE if own else ATOM) for k, own in zip(places, enclosed, strict=True)]


def _is_shape(param: object) -> bool:
    return isinstance(param, tuple) and bool(param) and all(isinstance(p, Expr) for p in param)


class Body(NamedTuple):
    """The body of a function: the lines that read axis lengths, those that compute, by name the
    constants that are too large to be written out, and the kernel that it calls, if any."""

    reads: list[str]
    lines: list[str]
    constants: dict[str, object]
    kernel: KernelText | None = None


def function_body(
    signature: Signature,
    plan: Plan,
    layout: Callable[[Sequence[str]], str],
    reuse: Mapping[int, int],
    careful: bool = False,
    rows: RowBlocks | None = None,
) -> Body:
    """Return the body of a function that computes a plan, writing over operands where ``reuse``
    says; a careful one computes with the library's numbers, for which division by zero is no error.
    With ``rows`` many rows are processed in blocks."""
    backend = signature.backend
    writer = Writer(
        *(plan, signature.names, backend),
        reuse=reuse,
        careful=careful,
        lengths=signature.lengths,
        named=rows.totals if rows else (),
    )
    steps, results = writer.write()
    if rows:
        steps = _in_blocks(rows, steps, signature)
    else:
        steps, results = with_fewer_names(steps, results)
    steps = [step for step in steps if step.target != step.text]
    tensors = [signature.names[s] for s in signature.symbols if shape_of(s)]
    if tensors:
        fixed = [writer.fixed[k] for k in plan.results]
        pairs = zip(fixed, results, strict=True)
        results = [backend.number(text) if is_fixed else text for is_fixed, text in pairs]
    lines = [f"{step.target} = {step.text}" if step.target else step.text for step in steps]
    lines.append(f"return {layout(results)}")
    body = "\n".join(lines)
    shapes: dict[Shape, str] = {}
    for number, step in enumerate(steps):
        if step.shape:
            if step.shape not in shapes:
                shapes[step.shape] = shape_text(step.shape, signature.names, backend)
            lines[number] += f"  # {shapes[step.shape]}"
    lines = [*backend.opening(body, tensors), *backend.silenced(lines)]
    words = set(re.findall(r"\w+", body))
    wanted = [s for s in signature.lengths if signature.names[s] in words]
    return Body(signature.read_lengths(wanted), lines, writer.constants)


def _in_blocks(rows: RowBlocks, steps: Sequence[Step], signature: Signature) -> list[Step]:
    """Return the steps with those that compute sums over rows as a function of some rows."""
    first = sum(step.number < rows.first for step in steps)
    last = sum(step.number < rows.last for step in steps)
    totals = [step.target for step in steps if step.number in rows.totals]
    inner, results = with_fewer_names(steps[first:last], totals, first)
    arrays = ", ".join([signature.names[symbol] for symbol in rows.arguments])
    shapes = {
        length: f"{signature.names[symbol]}.shape[{axis}]"
        for length, (symbol, axis) in signature.axes.items()
    }
    width = size_text(rows.width, {**signature.names, **shapes}, signature.backend)
    first_array = signature.names[rows.arguments[0]]
    call = f"rows({arrays}) if len({first_array}) < {FEW} else by_rows(rows, {width}, {arrays})"
    return [
        *steps[:first],
        Step("", f"def rows({arrays}):"),
        *[step._replace(target=f"    {step.target}") for step in inner],
        Step("", f"    return [{', '.join(results)}]"),
        Step(f"[{', '.join(totals)}]", call),
        *steps[last:],
    ]


def _fixed(plan: Plan, lengths: Collection[Expr] = ()) -> list[bool]:
    """For each value whether it is a number that depends on no argument, but maybe on axis
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
    signature: Signature, kernel: KernelText, layout: Callable[[Sequence[str]], str]
) -> Body:
    """Return the body of a function that calls a kernel, for whatever can be made arrays of."""
    lines = [
        f"{name} = {'np.ascontiguousarray' if order else 'np.asarray'}"
        f"({name}, {'np.int64' if is_integer else 'dtype'}){'' if order else '[()]'}"
        for name, (order, is_integer) in zip(signature.arguments, kernel.arguments, strict=False)
    ]
    large: dict[str, object] = {}
    types = kernel.arguments[len(signature.arguments) :]
    for (name, array), (_, is_integer) in zip(kernel.constants.items(), types, strict=False):
        if array.size > MAX_WRITTEN:
            large[name] = array
        else:
            text = numbers_text(array).rpartition(", dtype=")[0]
            lines.append(f"{name} = np.array({text}, {'np.int64' if is_integer else 'dtype'})")
    return Body([], [*lines, *kernel.calling(signature, layout, "compute", "dtype")], large, kernel)
