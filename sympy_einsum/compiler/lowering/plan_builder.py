"""The builder of plans: emits each instruction once, in the form that is shared most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from sympy import Add, Expr, S, exp

from ...analysis import is_nonnegative, is_symmetric
from ...contraction_order import Contraction, Factor, KnownProducts, Optimizer
from ...core import Shape, index_letter
from ...expressions import Operand, Slot, TensorExpr, slot
from ..ir.instruction_rules import SPARSE, AxisPart, Instruction, Params, Slice, is_whole
from ..ir.instructions import OPS
from ..ir.plans import result_shape


class PlanBuilder:
    """Instructions so far, and what is known of their values.

    ``size`` gives the number that an axis length counts as, ``optimize`` is opt_einsum's, and
    ``contractions`` lists the products whose order had to be found. ``nodes`` has the expressions
    that values are, and ``uses`` how often each of these is needed.
    """

    def __init__(
        self,
        size: Callable[[Expr], int],
        optimize: Optimizer,
        instructions: list[Instruction],
        contractions: list[Contraction],
    ):
        self.size = size
        self.optimize = optimize
        self.instructions = instructions
        self.contractions = contractions
        self.products = KnownProducts()
        self.nodes: dict[int, TensorExpr] = {}
        self.uses: Counter[Operand] = Counter()
        self._emitted: dict[Instruction, int] = {}

    def inverse(self, factor: Factor) -> int:
        """Emit the inverse that a factor of products stands for."""
        if factor.solves != (SPARSE,):
            return self.emit("inv", factor.value, params=factor.solves or ())
        shape = self.instructions[factor.value].shape
        return self.emit("by_factors", factor.value, params=("inv", SPARSE, shape))

    def emit(self, op: str, *inputs: int, params: Params = ()) -> int:
        """Emit an instruction unless it exists already; return its number."""
        if op == "transpose":
            base, axes = self.untransposed(inputs[0])
            if axes is not None:
                inputs, params = (base,), (tuple([axes[k] for k in params[0]]),)
            if params[0] == tuple(range(len(params[0]))) or self.is_symmetric(inputs[0]):
                return inputs[0]
        if OPS[op].body is not None:
            axes = self._common_axes(inputs)
            if axes is not None:
                bases = [self.untransposed(k)[0] for k in inputs]
                return self.emit("transpose", self.emit(op, *bases, params=params), params=(axes,))
        if op == "add":
            inputs, params = self._sorted_terms(inputs, params[0])
        if op == "multiply" and len(inputs) == 2:
            inputs = self._narrow_divided(*inputs)
        if op == "dot" and len(self.instructions[inputs[1]].shape) == 1:
            inputs = self._with_divided_vector(*inputs)
        if op == "sum" and params[0] is None:
            inputs = (self.untransposed(inputs[0])[0],)
        if op == "sum" and params[0]:
            shape = self.instructions[inputs[0]].shape
            if all(shape[axis] is S.One for axis in params[0]):
                slices = [S.Zero if axis in params[0] else None for axis in range(len(shape))]
                return self.emit("slice", *inputs, params=(tuple(slices),))
        if op == "sum" and self._is_square(inputs[0]):
            return self._sum_of_squares(self.instructions[inputs[0]].inputs[0], params[0])
        if op == "sum" and params[0] is None and self._is_own(inputs[0]):
            total = self._total_of_squares(inputs[0])
            if total is not None:
                return total
        if op == "slice":
            params = (self._slices(inputs[0], params[0]),)
            if not any(part is not None for part in params[0]):
                return inputs[0]
            op, inputs, params = self._without_first(inputs[0], params[0])
        if op == "rows":
            piece = self._as_slice(inputs)
            if piece is not None:
                return piece
        key = Instruction(op, inputs, params)
        if key not in self._emitted:
            self._emitted[key] = self.emit_fresh(op, *inputs, params=params)
        return self._emitted[key]

    def emit_fresh(self, op: str, *inputs: int, params: Params = ()) -> int:
        """Emit an instruction of its own, whose result is written to afterwards."""
        shape = result_shape(op, [self.instructions[k].shape for k in inputs], params)
        self.instructions.append(Instruction(op, inputs, params, shape))
        return len(self.instructions) - 1

    def untransposed(self, value: int) -> tuple[int, tuple[int, ...] | None]:
        """Resolve a transpose to its operand and the axes; another number to itself and None."""
        instruction = self.instructions[value]
        if instruction.op != "transpose":
            return value, None
        return instruction.inputs[0], instruction.params[0]

    def scaled(self, scalar: int, value: int) -> int:
        """Emit a value times a scalar; turning the sign is cheaper than multiplying."""
        op, _, params, _ = self.instructions[scalar]
        if op == "scalar" and params[0] is S.NegativeOne:
            return self.emit("add", value, params=((-1,),))
        return self.emit("multiply", scalar, value)

    def lowest(self, value: int) -> int:
        """Drop the leading axes of length 1, which broadcasting puts back."""
        instruction = self.instructions[value]
        if instruction.op != "index":
            return value
        entries = instruction.params[0]
        first = next((k for k, entry in enumerate(entries) if entry != "None"), len(entries))
        if not first:
            return value
        base = instruction.inputs[0]
        kept = entries[first:]
        return self.emit("index", base, params=(kept,)) if "None" in kept else base

    def arranged(self, value: int, labels: Sequence[int], output: Sequence[int]) -> int:
        """Take diagonals of repeated indices, transpose and add axes, to align a value with
        ``output``."""
        if len(set(labels)) < len(labels):
            unique = list(dict.fromkeys(labels))
            subscripts = f"{index_text(labels)}->{index_text(unique)}"
            value = self.emit("diagonal", value, params=(subscripts,))
            labels = unique
        wanted = [i for i in output if i in labels]
        if wanted != list(labels):
            axes = tuple(list(labels).index(i) for i in wanted)
            value = self.emit("transpose", value, params=(axes,))
        if len(wanted) < len(output):
            entries = tuple(":" if i in labels else "None" for i in output)
            while entries and entries[-1] == ":":
                entries = entries[:-1]
            value = self.emit("index", value, params=(entries,))
        return value

    def is_nonnegative(self, value: int) -> bool:
        """Tell whether no entry can be negative."""
        return value in self.nodes and is_nonnegative(self.nodes[value])

    def use_count(self, value: int) -> int:
        """Count how often a value is used, 1 if it is no node's."""
        return self.uses[self.nodes[value]] if value in self.nodes else 1

    def is_symmetric(self, value: int) -> bool:
        """Tell whether a value is a symmetric matrix, such as the inverse of a definite one."""
        op, _, params, _ = self.instructions[value]
        if op == "inv":
            return params[0] is not False
        return value in self.nodes and is_symmetric(self.nodes[value])

    def _common_axes(self, inputs: Sequence[int]) -> tuple[int, ...] | None:
        """Return the axes, if all operands but scalars are transposes of one kind: what is computed
        before they are transposed is more likely to be shared."""
        found = {self.untransposed(k)[1] for k in inputs if self.instructions[k].shape}
        return found.pop() if len(found) == 1 else None

    def _sorted_terms(
        self, inputs: Sequence[int], signs: Sequence[int]
    ) -> tuple[tuple[int, ...], Params]:
        """Return the terms of a sum and their signs, beginning with one that is added."""
        terms = list(zip(inputs, signs, strict=True))
        if len(terms) > 2:
            terms = self._narrow_together(inputs, signs)
        first = next((k for k, (_, sign) in enumerate(terms) if sign > 0), 0)
        terms.insert(0, terms.pop(first))
        return tuple([k for k, _ in terms]), (tuple([sign for _, sign in terms]),)

    def _narrow_together(
        self, inputs: Sequence[int], signs: Sequence[int]
    ) -> list[tuple[int, int]]:
        """Add terms that are constant along the same axes first; return the new terms."""
        shapes = [self.instructions[k].shape for k in inputs]
        longest = max(map(len, shapes))
        groups: dict[Shape, list[int]] = {}
        for place, shape in enumerate(shapes):
            groups.setdefault(shape, []).append(place)
        terms = []
        for shape, places in groups.items():
            is_narrow = shape and (len(shape) < longest or S.One in shape) and len(groups) > 1
            if not is_narrow or len(places) == 1:
                terms += [(inputs[k], signs[k]) for k in places]
                continue
            own = tuple([signs[k] for k in places])
            sign = -1 if max(own) < 0 else 1
            together = [inputs[k] for k in places]
            terms.append((self._added(together, tuple([sign * s for s in own])), sign))
        return terms

    def _added(self, values: Sequence[int], signs: tuple[int, ...]) -> int:
        """Emit a sum; new axes that all terms are given are given to the sum."""
        steps = [self.instructions[k] for k in values]
        kinds = {(step.op, step.params) for step in steps}
        if kinds != {("index", steps[0].params)} or not {*steps[0].params[0]} <= {":", "None"}:
            return self.emit("add", *values, params=(signs,))
        total = self.emit("add", *[step.inputs[0] for step in steps], params=(signs,))
        return self.emit("index", total, params=steps[0].params)

    def _narrow_divided(self, one: int, other: int) -> tuple[int, ...]:
        """Return the factors of a product; where one of them is a quotient X / t that nothing else
        needs, and the other as small as t, it is divided by t instead."""
        for quotient, factor in ((one, other), (other, one)):
            op, inputs, params, shape = self.instructions[quotient]
            if op != "elementwise" or params[0] != slot(0) / slot(1) or not self._is_own(quotient):
                continue
            small = self.instructions[factor].shape
            if small != shape and self.instructions[inputs[1]].shape == small:
                return inputs[0], self.emit("elementwise", factor, inputs[1], params=params)
        return one, other

    def _with_divided_vector(self, matrix: int, vector: int) -> tuple[int, int]:
        """Return the factors of a product; the vector instead of the matrix is divided by the sums
        of exponentials, which are 1 at least."""
        op, inputs, params, shape = self.instructions[matrix]
        if op != "elementwise" or params[0] != slot(0) / slot(1) or len(shape) < 2:
            return matrix, vector
        weights, total = [self.instructions[k] for k in inputs]
        is_share = total.op == "sum" and total.inputs == inputs[:1] and len(total.shape) == 1
        is_share = is_share and weights.op == "elementwise" and weights.params[0] == exp(slot(0))
        if not is_share:
            return matrix, vector
        return inputs[0], self.emit("elementwise", vector, inputs[1], params=params)

    def _slices(self, value: int, slices: Sequence[AxisPart]) -> tuple[AxisPart, ...]:
        """Normalise the slices of each axis; None for a slice of all of it."""
        return tuple(
            [
                None if isinstance(own, Slice) and is_whole(own, length) else own
                for own, length in zip(slices, self.instructions[value].shape, strict=True)
            ]
        )

    def _without_first(
        self, value: int, slices: tuple[AxisPart, ...]
    ) -> tuple[str, tuple[int, ...], Params]:
        """Return the instruction of a slice; running products without their first entry 1 are a
        cumprod."""
        op, inputs, params, shape = self.instructions[value]
        *others, last = slices
        is_rest = isinstance(last, Slice) and is_whole(
            last._replace(start=last.start - 1), shape[-1] - 1
        )
        if (op, params) == ("running_products", (False,)) and is_rest and {*others} <= {None}:
            return "cumprod", inputs, ()
        return "slice", (value,), (slices,)

    def _as_slice(self, rows: Sequence[int]) -> int | None:
        """Return rows that are those of one array at equal distances as a slice of it."""
        steps = [self.instructions[k] for k in rows]
        if len(rows) < 2 or any(s.op != "slice" or s.inputs != steps[0].inputs for s in steps):
            return None
        first, second = (s.params[0][0] for s in steps[:2])
        if not (isinstance(first, Expr) and isinstance(second, Expr)) or first == second:
            return None
        rest, step = steps[0].params[0][1:], second - first
        if any(s.params[0] != (first + k * step, *rest) for k, s in enumerate(steps)):
            return None
        slices = (Slice(first, step, S(len(rows))), *rest)
        return self.emit("slice", *steps[0].inputs, params=(slices,))

    def _is_own(self, value: int) -> bool:
        """Tell whether nothing but the current instruction needs a value."""
        return value in self.nodes and self.uses[self.nodes[value]] == 1

    def _is_square(self, value: int) -> bool:
        """Tell whether a value is an elementwise square that nothing else needs."""
        instruction = self.instructions[value]
        square = instruction.op == "elementwise" and instruction.params[0] == slot(0) ** 2
        return square and self._is_own(value)

    def _total_of_squares(self, value: int) -> int | None:
        """Emit the total of a sum of multiples of squares without computing the squares."""
        needed = self._multiples_of_squares(value)
        totals: dict[int, int] = {}
        for number in needed:
            op, inputs, params, _ = self.instructions[number]
            if op == "add":
                body = Add(*[sign * slot(k) for k, sign in enumerate(params[0])])
                terms = [totals[k] for k in inputs]
                totals[number] = self.emit("scalar", *terms, params=(body,))
            elif op == "multiply":
                totals[number] = self.emit("multiply", inputs[0], totals[inputs[1]])
            else:
                base = params[0].base
                known = isinstance(base, Slot)
                root = inputs[0] if known else self.emit("elementwise", *inputs, params=(base,))
                totals[number] = self._sum_of_squares(root, None)
        return totals.get(value)

    def _multiples_of_squares(self, value: int) -> list[int]:
        """Return the values that a sum of multiples of squares is made of, in order; none if it is
        no such sum."""
        found, pending = {value}, [value]
        while pending:
            op, inputs, params, shape = self.instructions[pending.pop()]
            if op == "elementwise" and params[0].is_Pow and params[0].exp == 2:
                continue
            if op == "multiply" and not self.instructions[inputs[0]].shape and len(inputs) == 2:
                inputs = inputs[1:]
            elif op != "add" or any(self.instructions[k].shape != shape for k in inputs):
                return []
            pending += {*inputs} - found
            found.update(inputs)
        return sorted(found)

    def _sum_of_squares(self, value: int, axes: Sequence[int] | None) -> int:
        order = len(self.instructions[value].shape)
        if axes is None:
            return self.emit("dot" if order == 1 else "vdot", value, value)
        letters = index_text(range(order))
        kept = "".join(letter for k, letter in enumerate(letters) if k not in axes)
        return self.emit("einsum", value, value, params=(f"{letters},{letters}->{kept}",))


def index_text(labels: Sequence[int]) -> str:
    """Spell indices as letters."""
    return "".join(map(index_letter, labels))
