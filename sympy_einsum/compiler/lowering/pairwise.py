"""Pairwise products: each becomes a matrix product wherever one does it, else an ``einsum``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from sympy import Expr, S

from ...contraction_order import Factor, nominal_size
from ...core import Indices, Shape, tuning
from ..ir.instruction_rules import SPARSE
from .plan_builder import PlanBuilder, index_text


class Pairs:
    """Multiplies two factors at a time, whose indices have some lengths."""

    def __init__(self, builder: PlanBuilder, lengths: Mapping[int, Expr]):
        self.builder = builder
        self.lengths = lengths

    def entries(self, labels: Collection[int]) -> int:
        """Return the size of a tensor with some indices."""
        return nominal_size(self.lengths[i] for i in set(labels))

    def materialise(self, factor: Factor) -> None:
        """Compute an inverse that is more than a factor of a matrix product."""
        if factor.solves is None:
            return
        if len(factor.labels) == 2:
            factor.value = self.builder.inverse(factor)
        else:
            tail = tuple([self.lengths[i] for i in factor.labels[-2:]])
            factor.value = self.builder.emit("stacked", factor.value, params=("inv", tail))
        factor.solves = None

    def reduced(self, factor: Factor, output: Collection[int]) -> Factor:
        """Take diagonals and sum indices that aren't in ``output``."""
        unique = tuple(dict.fromkeys(factor.labels))
        value = self.builder.arranged(factor.value, factor.labels, unique)
        axes = tuple(k for k, i in enumerate(unique) if i not in output)
        if axes:
            whole = len(axes) == len(unique)
            value = self.builder.emit("sum", value, params=(None if whole else axes,))
        return Factor(value, tuple(i for i in unique if i in output))

    def product(self, first: Factor, second: Factor, output: Indices) -> Factor:
        """Emit a product of two operands by the best primitive, its indices in any order."""
        for inverse, other in ((first, second), (second, first)):
            if inverse.solves is not None:
                solved = self._solve(inverse, other, output)
                if solved is not None:
                    return solved
                self.materialise(inverse)
        a = self.reduced(first, {*output, *second.labels})
        b = self.reduced(second, {*output, *first.labels})
        summed = [i for i in a.labels if i in b.labels and i not in output]
        batch = [i for i in a.labels if i in b.labels and i in output]
        rows = [i for i in a.labels if i not in b.labels]
        columns = [i for i in b.labels if i not in a.labels]
        emit = self.builder.emit
        if not summed:
            return self._outer(a, b, output)
        if not batch and not rows and not columns:
            right = self.builder.arranged(b.value, b.labels, a.labels)
            return Factor(emit("dot" if len(summed) == 1 else "vdot", a.value, right), ())
        last = {f.labels[-1] for f in (a, b)}
        by_entries = not (rows or columns) or (
            not (rows and columns)
            and batch
            and (last & set(batch) or self._is_small([*rows, *columns, *summed]))
        )
        if by_entries:
            subscripts = f"{index_text(a.labels)},{index_text(b.labels)}->{index_text(output)}"
            return Factor(emit("einsum", a.value, b.value, params=(subscripts,)), output)
        vector_first = not rows and b.labels[-1] in summed and not batch
        transposed = rows and columns and [i for i in output if i not in batch] == [*columns, *rows]
        if vector_first or transposed:
            a, rows, b, columns = b, columns, a, rows
        if not batch and len(summed) == 1:
            stacked = self._stacked(a, b, rows, columns, summed[0])
            if stacked is not None:
                return stacked
        return self._matmul(a, b, batch, rows, columns, summed)

    def _is_small(self, labels: Sequence[int]) -> bool:
        """Tell whether matrices with some indices are known to have few entries."""
        entries = prod([self.lengths[i] for i in labels], start=S.One)
        return bool(entries.is_Integer and entries <= tuning.MAX_EINSUM_ENTRIES)

    def remembered(self, first: Factor, second: Factor, output: Indices) -> Factor:
        """Emit a product of two operands that other products may contain."""
        product = self.product(first, second, output)
        product.parts = first.parts + second.parts
        self.builder.products.add(product)
        return product

    def _solve(self, inverse: Factor, other: Factor, output: Indices) -> Factor | None:
        """Emit inv(X) @ Y, if the product is of that kind."""
        *stack, first, second = inverse.labels
        summed = [i for i in (first, second) if i in other.labels and i not in output]
        free = [i for i in (first, second) if i not in other.labels and i in output]
        rest = [i for i in other.labels if i not in summed and i not in stack]
        if len(summed) != 1 or len(free) != 1 or len(rest) > 1 or other.solves is not None:
            return None
        if len(set(other.labels)) < len(other.labels) or not {*rest, *stack} <= set(output):
            return None
        matrix, emit = inverse.value, self.builder.emit
        right = self.builder.arranged(other.value, other.labels, [*stack, *summed, *rest])
        is_transposed = first == summed[0]
        if inverse.solves == (SPARSE,):
            params = (SPARSE, is_transposed)
            return Factor(emit("solved", matrix, right, params=params), (*free, *rest))
        if is_transposed and inverse.solves != (True,):
            axes = range(len(stack))
            matrix = emit("transpose", matrix, params=((*axes, len(stack) + 1, len(stack)),))
        if not stack:
            return Factor(emit("solve", matrix, right, params=inverse.solves or ()), (*free, *rest))
        if not rest:
            right = emit("index", right, params=(("...", "None"),))
        columns = self.lengths[rest[0]] if rest else S.One
        tail = (self.lengths[free[0]], columns)
        value = emit("stacked", matrix, right, params=("solve", tail))
        if not rest:
            value = emit("index", value, params=(("...", "0"),))
        return Factor(value, (*stack, *free, *rest))

    def _outer(self, a: Factor, b: Factor, output: Indices) -> Factor:
        """Emit a product in which nothing is summed."""
        left = self.builder.arranged(a.value, a.labels, output)
        right = self.builder.arranged(b.value, b.labels, output)
        if set(output[:1]) & set(a.labels):
            right = self.builder.lowest(right)
        elif set(output[:1]) & set(b.labels):
            left = self.builder.lowest(left)
        return Factor(self.builder.emit("multiply", left, right), output)

    def _matmul(
        self,
        a: Factor,
        b: Factor,
        batch: list[int],
        rows: list[int],
        columns: list[int],
        summed: list[int],
    ) -> Factor:
        """Emit (batch, rows, summed) @ (batch, summed, columns), groups of axes merged by
        reshaping."""
        emit = self.builder.emit
        larger = a if self.entries(a.labels) >= self.entries(b.labels) else b
        # The order that the larger operand has, so that it isn't copied.
        summed = [i for i in larger.labels if i in summed]
        left = self._grouped(a, batch, rows, summed)
        right = self._grouped(b, batch, summed, columns)
        if batch and not rows:
            left = emit("index", left, params=((":",) * len(batch) + ("None",),))
        if batch and not columns:
            right = emit("index", right, params=(("...", "None"),))
        value = emit("matmul" if batch else "dot", left, right)
        if batch and not rows:
            value = emit("index", value, params=(("...", "0", ":"),))
        if batch and not columns:
            value = emit("index", value, params=(("...", "0"),))
        out = (*batch, *rows, *columns)
        if len(rows) > 1 or len(columns) > 1:
            value = emit("reshape", value, params=(self._sizes([[i] for i in out]),))
        return Factor(value, out)

    def _stacked(
        self, a: Factor, b: Factor, rows: list[int], columns: list[int], summed: int
    ) -> Factor | None:
        """Emit a matrix times a stack of matrices, where merging axes would copy the stack."""
        stack, matrix, free = (a, b, columns) if len(a.labels) > 2 else (b, a, rows)
        place = stack.labels.index(summed)
        if len(stack.labels) < 3 or len(matrix.labels) != 2 or place in (0, len(stack.labels) - 1):
            return None
        before, after = stack.labels[:place], stack.labels[place + 1 :]
        value = stack.value
        if len(after) > 1:
            merged = self._sizes([*[[i] for i in (*before, summed)], after])
            value = self.builder.emit("reshape", value, params=(merged,))
        left = self.builder.arranged(matrix.value, matrix.labels, [*free, summed])
        value = self.builder.emit("matmul", left, value)
        out = (*before, *free, *after)
        if len(after) > 1:
            value = self.builder.emit("reshape", value, params=(self._sizes([[i] for i in out]),))
        return Factor(value, out)

    def _grouped(
        self, factor: Factor, batch: list[int], first: list[int], second: list[int]
    ) -> int:
        """Return the operand as a (stack of) matrices of merged axes."""
        emit = self.builder.emit
        transposed = not batch and factor.labels == (*second, *first) and bool(first and second)
        if transposed and max(len(first), len(second)) > 1:
            value = emit("reshape", factor.value, params=(self._sizes([second, first]),))
            return emit("transpose", value, params=((1, 0),))
        value = self.builder.arranged(factor.value, factor.labels, [*batch, *first, *second])
        if batch and first and second and factor.labels[-1] in batch:
            # Strides that no matrix product of a library takes.
            value = emit("contiguous", value)
        if len(first) <= 1 and len(second) <= 1:
            return value
        groups = [[i] for i in batch] + [first, second]
        return emit("reshape", value, params=(self._sizes(groups),))

    def _sizes(self, groups: Sequence[Sequence[int]]) -> Shape:
        return tuple(
            [prod([self.lengths[i] for i in group], start=S.One) for group in groups if group]
        )
