"""A plan as the body of one function of loop nests and calls."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sympy import Add, Expr, Mul

from ....core import UnsupportedError, tuning
from ...ir.code import Code, assigned, name, quote, statement, subscript
from ...ir.instructions import OPS
from ...ir.loops import statements_of, variable_name
from ...ir.plans import Plan
from ...ir.scans import ScanBody
from ..loop_functions import LoopWriter
from ..row_blocks import RowBlocks, in_row_blocks
from .calls import CALLS
from .contraction import with_rows
from .decomposition import decomposed
from .entries import SizeCode, Spelling
from .placement import StoredValue
from .statements import Statements, zeros

REDUCED = {"sum", "prod", "extremum", "einsum"}
WRITTEN = {"zeros", "writable", "write", "scatter", "scatters"}


class BlockLoop(NamedTuple):
    """A loop over blocks of rows: its head, and the items of the top level that are its body."""

    head: ast.For
    items: range


class Kernel(Statements):
    """Builds the statements of a plan and the code of the results."""

    def __init__(self, plan: Plan, names: Mapping[Expr, str], spelling: Spelling, size: SizeCode):
        simple = decomposed(plan)
        # Two products that read the same rows read them from memory once.
        self.rows = in_row_blocks(simple, lambda step: step.op in ("dot", "matmul"), 2)
        super().__init__(self.rows.plan if self.rows else simple, names, spelling, size)
        steps = enumerate(self.plan.instructions)
        # The numbers of loops.
        self.loop_numbers = itertools.count(1)
        self.loops_results: dict[int, Sequence[Code]] = {}
        called = [step for number, step in steps if self._is_called(number)]
        self.inlined = self.facts.inlined({self.facts.roots[k] for s in called for k in s.inputs})

    def statements(self) -> tuple[list[ast.stmt], list[Code]]:
        """Return the statements, and the code of the results."""
        count = len(self.plan.instructions)
        first, last = (self.rows.first, self.rows.last) if self.rows else (count, count)
        self._write_part(range(first))
        blocks = self._write_blocks(self.rows) if self.rows else None
        self._write_part(range(last, count))
        results = [self._result(k) for k in self.plan.results]
        items = with_rows([[*statements_of(own)] for own in self.tree.items()], results)
        if blocks:
            inside = slice(2 * blocks.items.start, 2 * blocks.items.stop)
            blocks.head.body += [own for item in items[inside] for own in item]
            items[inside] = [[blocks.head]]
        return [own for item in items for own in item], results

    def _write_blocks(self, rows: RowBlocks) -> BlockLoop:
        """Write the sums over rows as the body of a loop over row blocks."""
        steps, names = self.plan.instructions, self.names
        count = self.new_name()
        block, start = name(self.new_name()), name(self.new_name())
        parts = {symbol: self.new_name() for symbol in rows.arguments}
        totals = {k: self.new_name() for k in rows.totals}
        sizes = self.size(Add(*[Mul(*steps[k].shape) for k in rows.totals]))
        length = self.size(rows.length)
        opening = []
        for k, own in totals.items():
            zero = zeros(self.shape(k), name("dtype")) if steps[k].shape else quote("dtype(0)")
            opening.append(assigned(name(own), zero))
        width, (most, least) = self.size(rows.width), (tuning.BLOCK_ENTRIES, tuning.MIN_BLOCK_ROWS)
        few = quote("max({0} // max({1}, 1), {2})", most, width, least)
        bound = tuning.MAX_BLOCK_TOTALS
        choice = quote("{0} if {1} <= {2} else max({3}, 1)", few, sizes, bound, length)
        self.tree.append([*opening, assigned(block, choice)])
        head = ast.For(start, quote("range(0, max({0}, 1), {1})", length, block), [], [])
        self.tree.end_part()
        slices = [
            statement("{0} = {1}[{2}:{2} + {3}]", name(own), name(names[symbol]), start, block)
            for symbol, own in parts.items()
        ]
        first = name(parts[rows.arguments[0]])
        self.tree.append([*slices, statement("{0} = {1}.shape[0]", name(count), first)])
        self.names = {**names, **parts, rows.length: count}
        self._write_part(range(rows.first, rows.last))
        for k, own in totals.items():
            at = [variable_name(axis) for axis in range(len(steps[k].shape))]
            pair = (name(own), self.whole(k))
            total, part = [subscript(code, at) if at else code for code in pair]
            self.tree.append(self.over_entries(k, assigned(total, part, 1)))
        inside = range(self.tree.floor, len(self.tree.after))
        self.tree.end_part()
        self.names = names
        for k, own in totals.items():
            value = self.values[k] = StoredValue((self.tree.floor,))
            if steps[k].shape:
                value.array, value.order = own, range(len(steps[k].shape))
            else:
                value.name = own
        return BlockLoop(head, inside)

    def _write_part(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            step = self.step(number)
            if step.op in WRITTEN:
                getattr(self, step.op)(number)
            elif step.op == "loop":
                self._write_loop(number)
            elif self._is_called(number):
                self._call(number)
            elif step.op in REDUCED and not self.facts.entrywise[number]:
                self.reduce(number)
            elif step.op == "copy" or (self.facts.entrywise[number] and number not in self.inlined):
                self.compute(number)

    def results_of(self, number: int) -> Sequence[Code]:
        """Return the results of a loop."""
        return self.loops_results[number]

    def _write_loop(self, number: int) -> None:
        """Write a loop. It is no function of its own, which Numba would compile once by itself and
        once more for the kernel."""
        operands = [self.whole(k) for k in self.step(number).inputs]
        taken = {*self.names.values()}
        prefix = next(
            own
            for k in self.loop_numbers
            if not any(other.startswith(own := f"loop{k}_") for other in taken)
        )
        writer = LoopWriter(self.step(number).params[0], prefix, self.spelling, self.size)
        statements, results = writer.compiled(operands, self._body)
        self.tree.append([*statements])
        self.loops_results[number] = results

    def _body(self, body: ScanBody, names: Mapping[Expr, str]) -> tuple[list[ast.stmt], list[Code]]:
        """Return the statements of a step, and the code of its outputs."""
        inner = Kernel(body.plan, {**self.names, **names}, self.spelling, self._size)
        inner.loop_numbers, inner.new_names = self.loop_numbers, self.new_names
        statements, outputs = inner.statements()
        given = [
            assigned(name(inner.values[k].array), zeros(inner.shape(k), name("dtype")))
            for k in inner.given
        ]
        return [*given, *statements], outputs

    def _is_called(self, number: int) -> bool:
        if self.step(number).op in WRITTEN | REDUCED | {"argument", "constant", "copy"}:
            return False
        return not self.facts.entrywise[number] and not self.facts.views[number]

    def _call(self, number: int) -> None:
        step = self.step(number)
        if step.op not in CALLS:
            raise UnsupportedError(f"backend {self.spelling.name!r} has no {step.op}")
        code = CALLS[step.op](self, number)
        if isinstance(code, ast.Name):
            own, statements = code.id, []
        else:
            own = self.new_name()
            statements = [assigned(name(own), code)]
        place = self.tree.append([*statements])
        value = StoredValue(place, is_call=OPS[step.op].owns)
        if step.shape:
            value.array, value.order = own, range(len(step.shape))
        else:
            value.name = own
        self.values[number] = value

    def _result(self, number: int) -> Code:
        code = self.whole(number)
        is_kept = self.shape_of(number) or number in self.facts.positions
        return code if is_kept else quote("dtype({0})", code)
