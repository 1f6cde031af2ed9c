"""Products of many operands as a sequence of primitives on two.

The order comes from ``contraction_path``; each pair becomes a matrix product wherever one
does it, and ``einsum`` where nothing better exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import Any

from sympy import S

from ..core import (
    Contraction,
    Path,
    carried_out,
    contraction_path,
    index_letter,
    nominal_length,
    path_cost,
)

Labels = tuple[int, ...]

# Products of more operands don't look for what others have computed: each find is planned anew.
MAX_SHARED = 32


class Program:
    """What the lowering of products needs: to emit instructions and to know shapes.

    ``size`` gives the number that an axis length counts as, ``optimize`` is opt_einsum's, and
    ``contractions`` lists the products whose order had to be found.
    """

    size: Callable[[Any], int]
    optimize: Any
    contractions: list[Contraction]

    def emit(self, op: str, *inputs: int, params: tuple[Any, ...] = ()) -> int:
        """The number of an instruction; the same instruction is emitted once."""
        raise NotImplementedError

    def untransposed(self, value: int) -> tuple[int, tuple[int, ...] | None]:
        """Of a transpose, what is transposed and the axes; else the number itself and None."""
        raise NotImplementedError

    def scaled(self, scalar: int, value: int) -> int:
        """A value times a scalar."""
        raise NotImplementedError

    def lowest(self, value: int) -> int:
        """A value without leading axes of length 1, which broadcasting puts back."""
        raise NotImplementedError

    def is_nonnegative(self, value: int) -> bool:
        """Whether no entry can be negative."""
        raise NotImplementedError

    def remember(self, product: Factor) -> None:
        """Keep an intermediate product for others that need it too."""
        raise NotImplementedError

    def remembered(self, factors: Sequence[Factor]) -> Sequence[Factor]:
        """Intermediate products that may be those of some factors, the longest first."""
        raise NotImplementedError


class Factor:
    """An operand of a product: the number of its instruction, and the index of each axis.

    For the inverse of a matrix that is only multiplied, ``solves`` is set and the number is that
    of the matrix: ``solve`` needs no inverse.
    """

    def __init__(self, value: int, labels: Sequence[int], solves: tuple[bool] | None = None):
        self.value = value
        self.labels = tuple(labels)
        self.solves = solves
        # The operands that it is the product of.
        self.parts: tuple[Factor, ...] = (self,)


def arrange(program: Program, value: int, labels: Sequence[int], output: Sequence[int]) -> int:
    """Take diagonals of repeated indices, transpose, and add axes, to align with ``output``."""
    if len(set(labels)) < len(labels):
        unique = list(dict.fromkeys(labels))
        value = program.emit("diagonal", value, params=(f"{_text(labels)}->{_text(unique)}",))
        labels = unique
    wanted = [i for i in output if i in labels]
    if wanted != list(labels):
        axes = tuple(list(labels).index(i) for i in wanted)
        value = program.emit("transpose", value, params=(axes,))
    if len(wanted) < len(output):
        entries = tuple(":" if i in labels else "None" for i in output)
        while entries and entries[-1] == ":":
            entries = entries[:-1]
        value = program.emit("index", value, params=(entries,))
    return value


def _text(labels: Sequence[int]) -> str:
    return "".join(map(index_letter, labels))


def multiply_all(
    program: Program,
    factors: list[Factor],
    output: Sequence[int],
    lengths: dict[int, Any],
    scalar: int | None = None,
) -> int:
    """The number of the instruction that computes a product; ``scalar`` is one more factor."""
    return _Product(program, factors, tuple(output), lengths, scalar).run()


class _Product:
    def __init__(
        self,
        program: Program,
        factors: list[Factor],
        output: Labels,
        lengths: dict[int, Any],
        scalar: int | None,
    ):
        self.program = program
        self.factors = [self._stripped(factor) for factor in factors]
        self.output = output
        self.lengths = lengths
        self.scalar = scalar

    def run(self) -> int:
        self._weighted_gram()
        self._scale_smallest()
        path = self._path()
        for pair, (output, summed_next) in zip(path, self._outputs(path), strict=True):
            chosen = [self.factors[k] for k in pair]
            if len(chosen) == 1:
                self._materialise(chosen[0])
                self.factors.append(self._reduce(chosen[0], output))
            else:
                # What the next product sums comes last, so that it takes this one as a matrix.
                if len(output) > 2:
                    output = tuple(sorted(output, key=lambda i: i in summed_next))
                result = self._pair(chosen[0], chosen[1], output)
                result.parts = chosen[0].parts + chosen[1].parts
                self.program.remember(result)
                self.factors.append(result)
        result = self.factors[-1]
        self._materialise(result)
        value = arrange(self.program, result.value, result.labels, self.output)
        if self.scalar is not None:
            value = self.program.scaled(self.scalar, value)
        return value

    # --- the order

    def _path(self) -> Path:
        """The order of contraction; what an earlier product has computed is taken from there, if
        that is no dearer."""
        known = self.program.remembered(self.factors) if 2 < len(self.factors) <= MAX_SHARED else ()
        # A product of all operands but one leaves two large ones: the parts of it may be better.
        shorter = [product for product in known if len(product.parts) < len(self.factors) - 1]
        choices = [self._with_all(products) for products in ((known, shorter) if known else ((),))]
        self.factors, contraction, path, _ = min(choices, key=lambda choice: choice[-1])
        if len(self.factors) > 2:
            self.program.contractions.append(contraction)
        return path

    def _with_all(self, products: Sequence[Factor]) -> tuple[list[Factor], Contraction, Path, int]:
        """The factors with known products in their place, as long as that is no dearer."""
        best = (self.factors, *self._plan(self.factors))
        for product in products:
            factors = self._with(best[0], product)
            if factors is not None:
                found = (factors, *self._plan(factors))
                if found[-1] <= best[-1]:
                    best = found
        return best

    def _plan(self, factors: Sequence[Factor]) -> tuple[Contraction, Path, int]:
        """The best order, and what it costs with the reading of the operands."""
        number: dict[int, int] = {}
        terms = tuple(
            [tuple([number.setdefault(i, len(number)) for i in f.labels]) for f in factors]
        )
        output = tuple([number[i] for i in self.output if i in number])
        lengths = tuple([self.lengths[i] for i in number])
        sizes = tuple([(k, self.program.size(n)) for k, n in enumerate(lengths)])
        path = contraction_path(terms, output, sizes, self.program.optimize)
        size = dict(sizes)
        cost = path_cost(terms, output, sizes, path)
        cost += sum(prod(size[i] for i in set(term)) for term in terms)
        return Contraction(terms, output, lengths), path, cost

    def _with(self, factors: Sequence[Factor], known: Factor) -> list[Factor] | None:
        """The factors with a product of some of them that is known, if it is a product of these."""
        rename: dict[int, int] = {}
        rest = list(factors)
        for part in known.parts:
            own = next((f for f in rest if f.parts == (f,) and f.value == part.value), None)
            if own is None or own.solves != part.solves:
                return None
            rest.remove(own)
            for theirs, label in zip(part.labels, own.labels, strict=True):
                if rename.setdefault(theirs, label) != label:
                    return None
        if len(set(rename.values())) < len(rename):
            return None
        inner = {label for theirs, label in rename.items() if theirs not in known.labels}
        if inner & set(self.output).union(*[f.labels for f in rest]):
            return None
        return [*rest, Factor(known.value, [rename[i] for i in known.labels])]

    def _outputs(self, path: Path) -> list[tuple[Labels, set[int]]]:
        """For each step the indices of its result, and those that the step after it sums."""
        labels = [factor.labels for factor in self.factors]
        outputs: list[tuple[Labels, set[int]]] = []
        for pair, _, kept in carried_out(labels, self.output, path):
            last = len(outputs) == len(path) - 1
            found = dict.fromkeys(i for k in pair for i in labels[k])
            output = self.output if last else tuple(i for i in found if i in kept)
            for k in pair:
                if k >= len(self.factors):
                    outputs[k - len(self.factors)][1].update(set(labels[k]) - set(output))
            outputs.append((output, set()))
            labels.append(output)
        return outputs

    # --- before any pair

    def _stripped(self, factor: Factor) -> Factor:
        """The operand with its axes as they lie in memory."""
        value, axes = self.program.untransposed(factor.value)
        if axes is None or factor.solves is not None:
            return factor
        return Factor(value, [factor.labels[axes.index(k)] for k in range(len(axes))])

    def _entries(self, labels: Collection[int]) -> int:
        return prod(nominal_length(self.lengths[i]) for i in set(labels))

    def _scale_smallest(self) -> None:
        """The scalar goes to an operand that is smaller than the result."""
        if self.scalar is None:
            return
        whole = [factor for factor in self.factors if factor.solves is None]
        best = min(whole, key=lambda f: self._entries(f.labels), default=None)
        if best is not None and self._entries(best.labels) < self._entries(self.output):
            best.value = self.program.scaled(self.scalar, best.value)
            self.scalar = None

    def _weighted_gram(self) -> None:
        """X' diag(w) X with w ≥ 0 is symmetric, which libraries make use of."""
        weights = [f for f in self.factors if len(f.labels) == 1]
        matrices = [f for f in self.factors if len(f.labels) == 2]
        if len(matrices) != 2 or len(weights) + 2 != len(self.factors) or not weights:
            return
        (a, b), rows = matrices, set(matrices[0].labels) & set(matrices[1].labels)
        if a.value != b.value or len(rows) != 1 or a.solves or b.solves:
            return
        row = rows.pop()
        place = a.labels.index(row)
        if b.labels.index(row) != place or row in self.output:
            return
        if set(self.output) != (set(a.labels) | set(b.labels)) - {row}:
            return
        powers = Counter(f.value for f in weights)
        signed = [value for value, power in powers.items() if power % 2]
        if any(f.labels != (row,) for f in weights):
            return
        if not all(map(self.program.is_nonnegative, signed)):
            return
        values = [f.value for f in weights]
        weight = values[0] if len(values) == 1 else self.program.emit("multiply", *values)
        matrix = arrange(self.program, a.value, a.labels, [row, a.labels[1 - place]])
        gram = self.program.emit("weighted_gram", matrix, weight)
        self.factors = [Factor(gram, [a.labels[1 - place], b.labels[1 - place]])]

    # --- pairs

    def _materialise(self, factor: Factor) -> None:
        """An inverse that is more than a factor of a matrix product."""
        if factor.solves is not None:
            factor.value = self.program.emit("inv", factor.value, params=factor.solves)
            factor.solves = None

    def _reduce(self, factor: Factor, output: Collection[int]) -> Factor:
        """Diagonals taken and indices that aren't in ``output`` summed."""
        unique = tuple(dict.fromkeys(factor.labels))
        value = arrange(self.program, factor.value, factor.labels, unique)
        axes = tuple(k for k, i in enumerate(unique) if i not in output)
        if axes:
            whole = len(axes) == len(unique)
            value = self.program.emit("sum", value, params=(None if whole else axes,))
        return Factor(value, tuple(i for i in unique if i in output))

    def _solve(self, inverse: Factor, other: Factor, output: Labels) -> Factor | None:
        """inv(X) @ Y, if the product is of that kind."""
        summed = [i for i in inverse.labels if i in other.labels and i not in output]
        free = [i for i in inverse.labels if i not in other.labels and i in output]
        rest = [i for i in other.labels if i not in summed]
        if len(summed) != 1 or len(free) != 1 or len(rest) > 1 or other.solves is not None:
            return None
        if len(set(other.labels)) < len(other.labels) or not set(rest) <= set(output):
            return None
        matrix = inverse.value
        if inverse.labels[0] == summed[0] and inverse.solves != (True,):
            matrix = self.program.emit("transpose", matrix, params=((1, 0),))
        right = arrange(self.program, other.value, other.labels, [*summed, *rest])
        value = self.program.emit("solve", matrix, right, params=inverse.solves or ())
        return Factor(value, (free[0], *rest))

    def _pair(self, first: Factor, second: Factor, output: Labels) -> Factor:
        """A product of two operands by the best primitive."""
        for inverse, other in ((first, second), (second, first)):
            if inverse.solves is not None:
                solved = self._solve(inverse, other, output)
                if solved is not None:
                    return solved
                self._materialise(inverse)
        a = self._reduce(first, {*output, *second.labels})
        b = self._reduce(second, {*output, *first.labels})
        summed = [i for i in a.labels if i in b.labels and i not in output]
        batch = [i for i in a.labels if i in b.labels and i in output]
        rows = [i for i in a.labels if i not in b.labels]
        columns = [i for i in b.labels if i not in a.labels]
        emit = self.program.emit
        if not summed:
            left = arrange(self.program, a.value, a.labels, output)
            right = arrange(self.program, b.value, b.labels, output)
            if set(output[:1]) & set(a.labels):
                right = self.program.lowest(right)
            elif set(output[:1]) & set(b.labels):
                left = self.program.lowest(left)
            return Factor(emit("multiply", left, right), output)
        if not batch and not rows and not columns:
            right = arrange(self.program, b.value, b.labels, a.labels)
            return Factor(emit("dot" if len(summed) == 1 else "vdot", a.value, right), ())
        last = [f.labels[-1] for f in (a, b)]
        if not (rows and columns) and (not (rows or columns) or (batch and set(last) & set(batch))):
            subscripts = f"{_text(a.labels)},{_text(b.labels)}->{_text(output)}"
            return Factor(emit("einsum", a.value, b.value, params=(subscripts,)), output)
        vector_first = not rows and b.labels[-1] in summed and not batch
        turned = rows and columns and [i for i in output if i not in batch] == [*columns, *rows]
        if vector_first or turned:
            a, rows, b, columns = b, columns, a, rows
        return self._matmul(a, b, batch, rows, columns, summed)

    def _matmul(
        self,
        a: Factor,
        b: Factor,
        batch: list[int],
        rows: list[int],
        columns: list[int],
        summed: list[int],
    ) -> Factor:
        """(batch, rows, summed) @ (batch, summed, columns), groups of axes merged by reshaping."""
        emit = self.program.emit
        if not batch and len(summed) == 1:
            stacked = self._stacked(a, b, rows, columns, summed[0])
            if stacked is not None:
                return stacked
        larger = a if self._entries(a.labels) >= self._entries(b.labels) else b
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
            value = emit("reshape", value, params=(tuple(self.lengths[i] for i in out),))
        return Factor(value, out)

    def _stacked(
        self, a: Factor, b: Factor, rows: list[int], columns: list[int], summed: int
    ) -> Factor | None:
        """A matrix times a stack of matrices, where merging axes would copy the stack."""
        stack, matrix, free = (a, b, columns) if len(a.labels) > 2 else (b, a, rows)
        place = stack.labels.index(summed)
        if len(stack.labels) < 3 or len(matrix.labels) != 2 or place in (0, len(stack.labels) - 1):
            return None
        before, after = stack.labels[:place], stack.labels[place + 1 :]
        value = stack.value
        if len(after) > 1:
            sizes = [self.lengths[i] for i in (*before, summed)]
            last = prod([self.lengths[i] for i in after], start=S.One)
            value = self.program.emit("reshape", value, params=((*sizes, last),))
        left = arrange(self.program, matrix.value, matrix.labels, [*free, summed])
        value = self.program.emit("matmul", left, value)
        out = (*before, *free, *after)
        if len(after) > 1:
            shape = tuple([self.lengths[i] for i in out])
            value = self.program.emit("reshape", value, params=(shape,))
        return Factor(value, out)

    def _grouped(
        self, factor: Factor, batch: list[int], first: list[int], second: list[int]
    ) -> int:
        """The operand as a (stack of) matrices of merged axes."""
        emit = self.program.emit
        turned = not batch and factor.labels == (*second, *first) and bool(first and second)
        if turned and max(len(first), len(second)) > 1:
            value = emit("reshape", factor.value, params=(self._sizes([second, first]),))
            return emit("transpose", value, params=((1, 0),))
        value = arrange(self.program, factor.value, factor.labels, [*batch, *first, *second])
        if batch and first and second and factor.labels[-1] in batch:
            # Strides that no matrix product of a library takes.
            value = emit("contiguous", value)
        if len(first) <= 1 and len(second) <= 1:
            return value
        groups = [[i] for i in batch] + [first, second]
        return emit("reshape", value, params=(self._sizes(groups),))

    def _sizes(self, groups: Sequence[Sequence[int]]) -> tuple[Any, ...]:
        return tuple(
            [prod([self.lengths[i] for i in group], start=S.One) for group in groups if group]
        )
