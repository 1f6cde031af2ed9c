"""A plan as the body of one function of loop nests and calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sympy import Add, Expr, Mul

from ....core import UnsupportedError, tuning
from ...backends import Backend
from ...ir.instructions import OPS
from ...ir.plans import Plan
from ...passes.row_blocks import RowBlocks, in_row_blocks
from .calls import CALLS
from .rows import with_rows
from .spelled_out import spelled_out
from .statements import Statements
from .tree import Value

REDUCED = {"sum", "prod", "extremum", "einsum"}
WRITTEN = {"zeros", "writable", "write", "scatter", "scatters"}


class Kernel(Statements):
    """Writes a plan as lines and the texts of the results."""

    def __init__(self, plan: Plan, names: Mapping[Expr, str], backend: Backend):
        simple = spelled_out(plan)
        # Two products that read the same rows read them from memory once.
        self.rows = in_row_blocks(simple, lambda step: step.op in ("dot", "matmul"), 2)
        super().__init__(self.rows.plan if self.rows else simple, names, backend)
        for number, step in enumerate(self.plan.instructions):
            if self._is_called(number):
                self.whole_uses.update(self.root(k) for k in step.inputs)

    def write_all(self) -> tuple[list[str], list[str]]:
        """Return the lines, and the texts of the results."""
        count, inside = len(self.plan.instructions), range(0)
        first, last = (self.rows.first, self.rows.last) if self.rows else (count, count)
        self._write_parts(range(first))
        if self.rows:
            inside = self._write_blocks(self.rows)
        self._write_parts(range(last, count))
        results = [self._result(k) for k in self.plan.results]
        parts = enumerate(with_rows([*self.tree.parts()], results))
        indented = [(" " * 4 * (k // 2 in inside), lines) for k, lines in parts]
        return [f"{indent}{line}" for indent, lines in indented for line in lines], results

    def _write_blocks(self, rows: RowBlocks) -> range:
        """Write the sums over rows as the body of a loop over row blocks; return the items
        that stand in it."""
        steps, names = self.plan.instructions, self.names
        block, start, count = self.new_name(), self.new_name(), self.new_name()
        parts = {symbol: self.new_name() for symbol in rows.arguments}
        totals = {k: self.new_name() for k in rows.totals}
        sizes = Add(*[Mul(*steps[k].shape) for k in rows.totals])
        length = self.size(rows.length)
        lines = []
        for k, name in totals.items():
            zeros = f"np.zeros({self.shape(k)}, dtype)" if steps[k].shape else "dtype(0)"
            lines.append(f"{name} = {zeros}")
        whole, size = f"max({length}, 1)", f"max({self.size(rows.width)}, 1)"
        few = f"max({tuning.BLOCK_ENTRIES} // {size}, {tuning.MIN_BLOCK_ROWS})"
        lines += [
            f"{block} = {few} if {self.size(sizes)} <= {tuning.MAX_BLOCK_TOTALS} else {whole}",
            f"for {start} in range(0, {whole}, {block}):",
        ]
        self.tree.append([*lines])
        self.tree.end_part()
        opening = [f"{name} = {names[s]}[{start}:{start} + {block}]" for s, name in parts.items()]
        self.tree.append([*opening, f"{count} = {parts[rows.arguments[0]]}.shape[0]"])
        self.names, self.lengths = {**names, **parts}, {rows.length: count}
        self._write_parts(range(rows.first, rows.last))
        for k, name in totals.items():
            order = len(steps[k].shape)
            at = f"[{', '.join([f'i{axis}' for axis in range(order)])}]" if order else ""
            self.tree.append([*self.over_entries(k, f"{name}{at} += {self.whole(k)}{at}")])
        inside = range(self.tree.floor, len(self.tree.items))
        self.tree.end_part()
        self.names, self.lengths = names, {}
        for k, name in totals.items():
            value = self.values[k] = Value((self.tree.floor,))
            if steps[k].shape:
                value.array, value.order = name, tuple(range(len(steps[k].shape)))
            else:
                value.name = name
        return inside

    def _write_parts(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            step = self.step(number)
            if step.op in WRITTEN:
                getattr(self, "write" if step.op == "write" else step.op)(number)
            elif self._is_called(number):
                self._call(number)
            elif step.op in REDUCED and not self.is_entrywise(number):
                self.reduce(number)
            elif step.op == "copy" or (
                self.is_entrywise(number) and not self.stands_inside(number)
            ):
                self.compute(number)

    def _is_called(self, number: int) -> bool:
        step = self.step(number)
        if step.op in WRITTEN | REDUCED | {"argument", "constant", "copy"}:
            return False
        return not self.is_entrywise(number) and not self._is_view(step)

    def _call(self, number: int) -> None:
        step = self.step(number)
        if step.op not in CALLS:
            raise UnsupportedError(f"backend {self.backend.name!r} has no {step.op}")
        text = CALLS[step.op](self, number)
        name = self.new_name()
        position = self.tree.append([f"{name} = {text}"])
        value = Value(position, is_call=not OPS[step.op].is_view)
        if step.shape:
            value.array, value.order = name, tuple(range(len(step.shape)))
        else:
            value.name = name
        self.values[number] = value

    def _result(self, number: int) -> str:
        text = self.whole(number)
        is_kept = self.step(number).shape or number in self.integers
        return text if is_kept else f"dtype({text})"
