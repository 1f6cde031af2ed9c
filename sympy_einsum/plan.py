"""From expressions to a straight-line program: a list of instructions over array primitives.

May import: all node types, traversal, contraction; knows nothing of source text. Every node
becomes one or a few instructions, each distinct node once, so shared subexpressions are computed
once. Deltas and ones are written into place, never multiplied; a product of two operands
is a matrix product wherever one does it.

Contraction orders are found by opt_einsum from nominal lengths: every symbolic length counts as
the same number. (Planning from the actual lengths is the compiler's job, see CHANGELOG.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sympy import Expr, S, Symbol

from .contraction import contraction_path, nominal_length
from .einsum import Einsum, TensorAdd, View, split_coefficient
from .elementwise import Elementwise, slot, substitute_stock
from .errors import UnsupportedError
from .indices import index_letter
from .linalg import Adj, Det, Inv, LogDet
from .nodes import TensorExpr
from .reshape import Reshape
from .softmax import LogSumExp, Softmax
from .tensors import Constant, Selection, TensorSymbol, Unit, Zeros
from .traversal import children, postorder

# A product used once merges into the product that uses it, up to this many operands.
MAX_MERGED = 6
# Instructions whose result may share memory with their operand.
VIEWS = {"transpose", "index", "cut", "diagonal", "reshape", "broadcast"}
# Python's parser limits nesting, and a sum nests as often as it has terms; deeper and longer scalar
# expressions are cut into instructions.
MAX_SCALAR_DEPTH = 12
MAX_SCALAR_ARGUMENTS = 100


class Instruction(NamedTuple):
    """One primitive: its name, the numbers of the instructions it uses, static parameters."""

    op: str
    inputs: tuple[int, ...]
    params: tuple[Any, ...] = ()


class Plan(NamedTuple):
    """A program: instructions in order, and the numbers of those that are the results."""

    instructions: list[Instruction]
    results: list[int]


def make_plan(exprs: Sequence[Any]) -> Plan:
    """The program that computes the expressions."""
    builder = _Builder(exprs)
    return _without_dead_code(builder.instructions, [builder.result(expr) for expr in exprs])


def _without_dead_code(instructions: list[Instruction], results: list[int]) -> Plan:
    """The instructions that the results depend on, renumbered; a write counts as part of the
    array it writes to."""
    live = set(results)
    for number in range(len(instructions) - 1, -1, -1):
        instruction = instructions[number]
        if number in live or (instruction.op == "write_diagonal" and instruction.inputs[0] in live):
            live.add(number)
            live.update(instruction.inputs)
    order = sorted(live)
    place = {old: new for new, old in enumerate(order)}

    def renumber(instruction: Instruction) -> Instruction:
        return instruction._replace(inputs=tuple([place[k] for k in instruction.inputs]))

    return Plan([renumber(instructions[k]) for k in order], [place[k] for k in results])


class _Builder:
    def __init__(self, exprs: Sequence[Any]):
        self.instructions: list[Instruction] = []
        self._known: dict[Instruction, int] = {}
        self._values: dict[Any, int] = {}
        self._scalars: dict[Any, tuple[Any, int]] = {}
        # Products that wait to be merged, with the number of operands they bring.
        self._waiting: dict[Any, int] = {}
        order = postorder(exprs)
        self._uses = Counter(child for node in order for child in children(node))
        self._uses.update(exprs)
        for node in order:
            self._lower(node)

    # --- emitting

    def emit(self, op: str, *inputs: int, params: tuple[Any, ...] = ()) -> int:
        """The number of an instruction; the same instruction is emitted once."""
        instruction = Instruction(op, inputs, params)
        number = self._known.get(instruction)
        if number is None:
            number = len(self.instructions)
            self.instructions.append(instruction)
            self._known[instruction] = number
        return number

    def emit_fresh(self, op: str, *inputs: int, params: tuple[Any, ...] = ()) -> int:
        """An instruction of its own: its result is written to afterwards."""
        self.instructions.append(Instruction(op, inputs, params))
        return len(self.instructions) - 1

    def value(self, node: Any) -> int:
        """The number of the instruction that computes a node, lowering it if that was put off."""
        if not isinstance(node, TensorExpr):
            return int(self._slotted(self._scalar_part(node)[0]).name[1:])
        if node not in self._values:
            self._values[node] = self._tensor(node)
        return self._values[node]

    def result(self, expr: Any) -> int:
        """A result that is the caller's own: no argument or constant, nor a view of one."""
        number = source = self.value(expr)
        while self.instructions[source].op in VIEWS:
            source = self.instructions[source].inputs[0]
        origin = self.instructions[source]
        is_input = origin.op == "argument" and getattr(origin.params[0], "shape", None)
        shared = is_input or origin.op == "constant" or self.instructions[number].op == "broadcast"
        return self.emit("copy", number) if shared else number

    # --- nodes

    def _lower(self, node: Any) -> None:
        if not isinstance(node, TensorExpr):
            self._scalar(node)
        elif self._can_wait(node):
            return
        else:
            self._values[node] = self._tensor(node)

    def _can_wait(self, node: Any) -> bool:
        """Whether a node is a product used once, to be merged into the product that uses it."""
        if type(node) is not Einsum or not node.shape or self._uses[node] != 1:
            return False
        size = sum(self._waiting.get(operand, 1) for operand in node.operands)
        if size <= MAX_MERGED:
            self._waiting[node] = size
        return size <= MAX_MERGED

    def _tensor(self, node: Any) -> int:
        if isinstance(node, TensorSymbol):
            return self.emit("argument", params=(node,))
        if isinstance(node, View):
            return self._view(node)
        if isinstance(node, Einsum):
            return self._einsum(node)
        if isinstance(node, TensorAdd):
            return self._sum(node)
        if isinstance(node, Elementwise):
            inputs = [self.value(operand) for operand in node.operands]
            return self.emit("elementwise", *inputs, params=(node.body,))
        if isinstance(node, (Inv, Det, Adj, LogDet)):
            return self.emit(type(node).__name__.lower(), self.value(node.operands[0]))
        if isinstance(node, (LogSumExp, Softmax)):
            name, operand = type(node).__name__.lower(), node.operands[0]
            axes = None if len(node.axes) == operand.order else node.axes
            return self.emit(name, self.value(operand), params=(axes,))
        if isinstance(node, Reshape):
            return self.emit("reshape", self.value(node.operands[0]), params=(node.shape,))
        if isinstance(node, Constant):
            return self.emit("constant", params=(node,))
        if isinstance(node, Zeros):
            return self.emit("zeros", params=(node.shape,))
        if isinstance(node, Unit):
            return self.emit("unit", params=node.data)
        if isinstance(node, Selection):
            return self.emit("selection", params=node.data)
        raise UnsupportedError(f"no instruction for {type(node).__name__}")

    # --- scalars

    def _scalar(self, node: Any) -> None:
        """A stock scalar: text for its consumer if it is used once, else an instruction."""
        if not isinstance(node, Expr):
            return
        if hasattr(node, "bound_symbols"):
            raise UnsupportedError(
                f"no numerical code for {type(node).__name__}; evaluate it first with .doit()"
            )
        if node.is_Number or node.is_NumberSymbol:
            self._scalars[node] = (node, 0)
        elif isinstance(node, Symbol):
            self._scalars[node] = (slot(self.emit("argument", params=(node,))), 0)
        elif not node.args or not all(isinstance(arg, Expr) for arg in node.args):
            self._scalars[node] = (self._whole(node), 1)
        else:
            parts = [self._scalar_part(arg) for arg in node.args]
            while (node.is_Add or node.is_Mul) and len(parts) > MAX_SCALAR_ARGUMENTS:
                some = node.func(*[part[0] for part in parts[:MAX_SCALAR_ARGUMENTS]])
                parts = [*parts[MAX_SCALAR_ARGUMENTS:], (self._slotted(some), 0)]
            depth = 1 + max(part[1] for part in parts)
            # evaluate=False would print terms unsimplified; parts are opaque slots, so it's cheap.
            expr = node.func(*[part[0] for part in parts])
            if self._uses[node] > 1 or depth > MAX_SCALAR_DEPTH:
                expr, depth = self._slotted(expr), 0
            self._scalars[node] = (expr, depth)

    def _whole(self, node: Any) -> Any:
        """Conditions and the like: the node with the values inside replaced by slots."""
        rule = {
            part: self._scalar_part(part)[0]
            for part in postorder([node], lambda n: () if isinstance(n, TensorExpr) else n.args)
            if isinstance(part, (TensorExpr, Symbol))
        }
        return substitute_stock(node, rule) if rule else node

    def _scalar_part(self, node: Any) -> tuple[Any, int]:
        if isinstance(node, TensorExpr):
            return slot(self.value(node)), 0
        if node not in self._scalars:
            self._scalar(node)  # a factor that is no node of the graph, such as a plain one
        return self._scalars[node]

    def _slotted(self, expr: Any) -> Any:
        """A slot for a scalar expression in slots."""
        found = sorted(expr.free_symbols, key=lambda s: int(s.name[1:]))
        if expr in found:
            return expr
        inputs = [int(s.name[1:]) for s in found]
        body = expr.xreplace({s: slot(k) for k, s in enumerate(found)})
        return slot(self.emit("scalar", *inputs, params=(body,)))

    # --- sums

    def _sum(self, node: TensorAdd) -> int:
        """Dense terms are added; terms on a diagonal are then added into place."""
        dense: list[Any] = []
        structured: list[Any] = []
        for term in node.operands:
            on_diagonal = isinstance(term, View) and len(set(term.output)) < term.order
            (structured if on_diagonal else dense).append(term)
        if not dense:
            values = [self._diagonal_value(term) for term in structured]
            total = self.emit_fresh("zeros", *values, params=(node.shape,))
            for term, value in zip(structured, values, strict=True):
                self._write(total, value, term, add=True)
            return total
        inputs, signs = [], []
        # A constant fill is added as a scalar, as long as something gives the sum its shape.
        fills = [isinstance(term, View) and term.is_constant_fill for term in dense]
        if all(fills):
            fills[0] = False
        for term, is_fill in zip(dense, fills, strict=True):
            coefficient, core = split_coefficient(term)
            sign = 1
            if coefficient is S.NegativeOne:
                sign, term = -1, core
            if is_fill:
                inputs.append(self._factor(term.operands) if term.operands else self.value(S.One))
            else:
                inputs.append(self.value(term))
            signs.append(sign)
        if len(dense) > 1 or signs[0] < 0:
            # Written to below, so it must not be shared with an equal sum elsewhere.
            emit = self.emit_fresh if structured else self.emit
            total = emit("add", *inputs, params=(tuple(signs),))
        else:
            total = inputs[0]
        if structured:
            values = [self._diagonal_value(term) for term in structured]
            owned = total not in inputs
            total = self.emit_fresh("writable", total, *values, params=(owned,))
            for term, value in zip(structured, values, strict=True):
                self._write(total, value, term, add=True)
        return total

    # --- views

    def _factor(self, scalars: Sequence[Any]) -> int:
        values = [self.value(scalar) for scalar in scalars]
        return values[0] if len(values) == 1 else self.emit("multiply", *values)

    def _view(self, node: View) -> int:
        if len(set(node.output)) < node.order:
            value = self._diagonal_value(node)
            total = self.emit_fresh("zeros", value, params=(node.shape,))
            self._write(total, value, node, add=False)
            return total
        if node.core is None:
            factor = self._factor(node.scalars) if node.scalars else self.value(S.One)
            return self.emit("full", factor, params=(node.shape,))
        value = self._aligned(node, node.output)
        indices = node.subscripts[-1]
        if set(node.output) - set(indices):
            return self.emit("broadcast", value, params=(node.shape,))
        return value

    def _diagonal_value(self, node: View) -> int:
        """The entries on the diagonal that a view fills, axes in order of first appearance."""
        if node.core is None:
            return self._factor(node.scalars) if node.scalars else self.value(S.One)
        return self._aligned(node, list(dict.fromkeys(node.output)))

    def _write(self, target: int, value: int, node: View, add: bool) -> None:
        output = "".join(map(index_letter, node.output))
        diagonal = "".join(dict.fromkeys(output))
        self.emit_fresh("write_diagonal", target, value, params=(f"{output}->{diagonal}", add))

    def _aligned(self, node: View, output: Sequence[int]) -> int:
        """The scaled core with its axes along ``output``, length-1 axes where it has none."""
        assert node.core is not None
        value = self.value(node.core)
        if node.scalars == (S.NegativeOne,):
            value = self.emit("add", value, params=((-1,),))
        elif node.scalars:
            value = self.emit("multiply", self._factor(node.scalars), value)
        return self._arrange(value, node.subscripts[-1], output)

    def _arrange(self, value: int, indices: Sequence[int], output: Sequence[int]) -> int:
        """Take diagonals of repeated indices, transpose, and add axes, to align with ``output``."""
        if len(set(indices)) < len(indices):
            unique = list(dict.fromkeys(indices))
            letters = "".join(map(index_letter, indices))
            kept = "".join(map(index_letter, unique))
            value = self.emit("diagonal", value, params=(f"{letters}->{kept}",))
            indices = unique
        wanted = [i for i in output if i in indices]
        if wanted != list(indices):
            axes = tuple(list(indices).index(i) for i in wanted)
            value = self.emit("transpose", value, params=(axes,))
        if len(wanted) < len(output):
            entries = tuple(":" if i in indices else "None" for i in output)
            while entries and entries[-1] == ":":
                entries = entries[:-1]
            value = self.emit("index", value, params=(entries,))
        return value

    # --- products

    def _einsum(self, node: Einsum) -> int:
        if not node.subscripts or not any(node.subscripts):
            return self._factor(node.operands)
        operands, subscripts, lengths = self._merged(node)
        values = [self.value(operand) for operand in operands]
        shapes = tuple(tuple(map(nominal_length, operand.shape)) for operand in operands)
        terms = [tuple(term) for term in subscripts]
        self._cut(operands, values, terms, node.output)
        for pair in contraction_path(tuple(terms), tuple(node.output), _sizes(subscripts, shapes)):
            chosen = [values[k] for k in pair]
            labels = [terms[k] for k in pair]
            values = [v for k, v in enumerate(values) if k not in pair]
            terms = [t for k, t in enumerate(terms) if k not in pair]
            if terms:
                rest = set(node.output).union(*terms)
                output = tuple(i for i in dict.fromkeys(sum(labels, ())) if i in rest)
            else:
                output = tuple(node.output)
            if len(pair) == 1:
                value, output = self._reduce(chosen[0], labels[0], output)
            else:
                value, output = self._pair(chosen, labels, output, lengths)
            values.append(value)
            terms.append(output)
        if terms[0] != tuple(node.output):
            values[0] = self._arrange(values[0], terms[0], node.output)
        return values[0]

    def _merged(self, node: Einsum) -> tuple[list[Any], list[list[int]], dict[int, Any]]:
        """The operands with products that are used here only written out in place."""
        operands, subscripts = list(node.operands), [list(term) for term in node.subscripts]
        lengths = dict(enumerate(node.lengths))
        k = 0
        while k < len(operands):
            inner = operands[k]
            if inner not in self._waiting or inner in self._values:
                k += 1
                continue
            rename = dict(zip(inner.output, subscripts[k], strict=True))
            for index, length in enumerate(inner.lengths):
                if index not in rename:
                    rename[index] = len(lengths)
                    lengths[len(lengths)] = length
            operands[k : k + 1] = inner.operands
            subscripts[k : k + 1] = [[rename[i] for i in term] for term in inner.subscripts]
        return operands, subscripts, lengths

    def _cut(
        self, operands: list[Any], values: list[int], terms: list[Any], output: Sequence[int]
    ) -> None:
        """Unit vectors and selections become indexing of what they are contracted with."""
        for k in range(len(operands) - 1, -1, -1):
            cutter = operands[k]
            if not isinstance(cutter, (Unit, Selection)):
                continue
            axis = terms[k][-1]
            others = [j for j in range(len(operands)) if j != k and axis in terms[j]]
            new = terms[k][0] if isinstance(cutter, Selection) else None
            plain = new is None or (
                new != axis and sum(term.count(new) for term in terms) + list(output).count(new) > 0
            )
            if axis in output or not others or not plain:
                continue
            if any(isinstance(operands[j], (Unit, Selection)) for j in others):
                continue
            if any(terms[j].count(axis) > 1 for j in others):
                continue
            for j in others:
                place = terms[j].index(axis)
                values[j] = self._cut_axis(values[j], cutter, place)
                if new is None:
                    terms[j] = terms[j][:place] + terms[j][place + 1 :]
                else:
                    terms[j] = tuple(new if i == axis else i for i in terms[j])
                operands[j] = None
            del operands[k], values[k], terms[k]

    def _cut_axis(self, value: int, cutter: Any, place: int) -> int:
        if isinstance(cutter, Unit):
            entry: Any = cutter.data[1]
        else:
            _, start, step, count = cutter.data
            entry = (start, step, count)
        return self.emit("cut", value, params=(place, entry))

    def _reduce(
        self, value: int, indices: Sequence[int], output: Collection[int]
    ) -> tuple[int, tuple[int, ...]]:
        """Diagonals taken and indices that aren't in ``output`` summed."""
        unique = tuple(dict.fromkeys(indices))
        value = self._arrange(value, indices, unique)
        axes = tuple(k for k, i in enumerate(unique) if i not in output)
        if axes:
            whole = len(axes) == len(unique)
            value = self.emit("sum", value, params=(None if whole else axes,))
        return value, tuple(i for i in unique if i in output)

    def _pair(
        self,
        values: list[int],
        labels: list[tuple[int, ...]],
        output: tuple[int, ...],
        lengths: dict[int, Any],
    ) -> tuple[int, tuple[int, ...]]:
        """A product of two operands by the best primitive; returns the axes it comes out with."""
        (a, left), (b, right) = (
            self._reduce(value, own, {*output, *other})
            for value, own, other in zip(values, labels, labels[::-1], strict=True)
        )
        summed = [i for i in left if i in right and i not in output]
        batch = [i for i in left if i in right and i in output]
        rows = [i for i in left if i not in right]
        columns = [i for i in right if i not in left]
        if not summed:
            a, b = self._arrange(a, left, output), self._arrange(b, right, output)
            return self.emit("multiply", a, b), output
        if not batch and not rows and not columns:
            b = self._arrange(b, right, left)
            if len(left) == 1:
                return self.emit("matmul", a, b), ()
            return self.emit("vdot", a, b), ()
        if not rows and not columns:
            return self.emit("einsum", a, b, params=(_subscripts(left, right, output),)), output
        if not batch and max(len(summed), len(rows), len(columns)) > 1:
            axes = [tuple(term.index(i) for i in summed) for term in (left, right)]
            return self.emit("tensordot", a, b, params=tuple(axes)), (*rows, *columns)
        vector_first = not rows and right[-1] in summed and not batch
        if vector_first or (
            rows and columns and [i for i in output if i not in batch] == [*columns, *rows]
        ):
            a, left, rows, b, right, columns = b, right, columns, a, left, rows
        return self._matmul(a, left, b, right, batch, rows, columns, summed, lengths)

    def _matmul(
        self,
        a: int,
        left: Sequence[int],
        b: int,
        right: Sequence[int],
        batch: list[int],
        rows: list[int],
        columns: list[int],
        summed: list[int],
        lengths: dict[int, Any],
    ) -> tuple[int, tuple[int, ...]]:
        """(batch, rows, summed) @ (batch, summed, columns), groups of axes merged by reshaping."""
        a = self._grouped(a, left, [batch, rows, summed], lengths)
        b = self._grouped(b, right, [batch, summed, columns], lengths)
        if batch and not rows:
            a = self.emit("index", a, params=((":",) * len(batch) + ("None",),))
        if batch and not columns:
            b = self.emit("index", b, params=(("...", "None"),))
        value = self.emit("matmul", a, b)
        if batch and not rows:
            value = self.emit("index", value, params=(("...", "0", ":"),))
        if batch and not columns:
            value = self.emit("index", value, params=(("...", "0"),))
        out = (*batch, *rows, *columns)
        if len(rows) > 1 or len(columns) > 1:
            value = self.emit("reshape", value, params=(tuple(lengths[i] for i in out),))
        return value, out

    def _grouped(
        self, value: int, indices: Sequence[int], groups: list[list[int]], lengths: dict[int, Any]
    ) -> int:
        order = [i for group in groups for i in group]
        value = self._arrange(value, indices, order)
        if all(len(group) <= 1 for group in groups[1:]):
            return value
        shape = [lengths[i] for i in groups[0]]
        for group in groups[1:]:
            if group:
                size = S.One
                for i in group:
                    size *= lengths[i]
                shape.append(size)
        return self.emit("reshape", value, params=(tuple(shape),))


def _subscripts(left: Sequence[int], right: Sequence[int], output: Sequence[int]) -> str:
    a, b, c = ("".join(map(index_letter, term)) for term in (left, right, output))
    return f"{a},{b}->{c}"


def _sizes(subscripts: Sequence[Sequence[int]], shapes: Sequence[Sequence[int]]) -> Any:
    sizes: dict[int, int] = {}
    for term, shape in zip(subscripts, shapes, strict=True):
        sizes.update(zip(term, shape, strict=True))
    return tuple(sorted(sizes.items()))
