"""From expressions to a straight-line program: a list of instructions over array primitives.

Every node becomes one or a few instructions, each distinct node once, so that what is shared is
computed once. Deltas and ones are written into place, never multiplied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sympy import Expr, Mul, S, Symbol, exp, log, sign

from ..core import UnsupportedError, children, index_letter, nominal_length, postorder
from ..expressions import (
    Adj,
    AxesFunction,
    Cofactors,
    Constant,
    Delta,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    LogSumExp,
    Ones,
    Reshape,
    Selection,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Unit,
    View,
    Zeros,
    apply_body,
    determinants_in,
    inside_log,
    is_tensor,
    slot,
    split_coefficient,
    stock_children,
    substitute_stock,
    tensor_sum,
    written_out,
)
from ..rules import by_diagonals, is_definite, is_nonnegative
from .factoring import common_factor
from .instructions import OPS, Instruction, Slice
from .pairwise import Factor, Program, arrange, multiply_all
from .plans import Plan, origin, result_shape, without_dead_code

# A product used once merges into the product that uses it, up to this many operands.
MAX_MERGED = 12
# An inverse with so many uses, all in products, is never computed: a system is solved for each.
MAX_SOLVES = 2
# A derivative of det is multiplied by so many matrices without being built itself.
MAX_DIRECTIONS = 2
# Intermediate products of more operands aren't looked for in other products.
MAX_REMEMBERED = 8
# A sum of more terms is a running total.
MAX_SUMMANDS = 16
# What is computed for one term of it may be nested so deep.
MAX_TERM_DEPTH = 50
# Python's parser limits nesting, and a sum nests as often as it has terms; deeper and longer scalar
# expressions are cut into instructions.
MAX_SCALAR_DEPTH = 12
MAX_SCALAR_ARGUMENTS = 100


def make_plan(
    exprs: Sequence[Any],
    size: Callable[[Any], int] = nominal_length,
    optimize: Any = "auto",
    cse: bool = True,
) -> Plan:
    """The program that computes the expressions.

    Parameters
    ==========

    exprs : tensor expressions and SymPy scalars
    size : the number that an axis length counts as where contraction orders are compared
    optimize : how opt_einsum finds contraction orders
    cse : whether what several of the expressions need is computed once
    """
    exprs = by_diagonals(exprs)
    builder = _Builder(size, optimize)
    results: list[int] = []
    for group in [exprs] if cse else [[expr] for expr in exprs]:
        results += builder.lower(group)
    plan = without_dead_code(builder.instructions, results)
    return plan._replace(contractions=builder.contractions)


class _Builder(Program):
    def __init__(self, size: Callable[[Any], int], optimize: Any):
        self.size = size
        self.optimize = optimize
        self.contractions = []
        self.instructions: list[Instruction] = []

    def lower(self, exprs: Sequence[Any]) -> list[int]:
        """The numbers of the results; nothing is shared with what was lowered before."""
        self._known: dict[Instruction, int] = {}
        self._values: dict[Any, int] = {}
        self._nodes: dict[int, Any] = {}
        self._products: dict[int, list[Factor]] = {}
        self._scalars: dict[Any, tuple[Any, int]] = {}
        # Products that wait to be merged, with the number of operands they bring.
        self._waiting: dict[Any, int] = {}
        # The largest results first: the smaller ones are likely to share their parts.
        roots = sorted(exprs, key=lambda expr: -len(expr.shape if is_tensor(expr) else ()))
        order = postorder(roots)
        self._uses = Counter(child for node in order for child in children(node))
        self._uses.update(exprs)
        self._solved = self._only_multiplied(order)
        self._put_off = self._in_one_term(order)
        results: dict[Any, int] = {}
        seen: set[Any] = set()
        for root in roots:
            for node in postorder([root], lambda n: [c for c in children(n) if c not in seen]):
                if node not in seen:
                    seen.add(node)
                    self._lower(node)
            results[root] = self.result(root)
        return [results[expr] for expr in exprs]

    def _only_multiplied(self, order: Sequence[Any]) -> set[Any]:
        """The inverses that are factors of a product or two and nothing else."""
        found: Counter[Any] = Counter()
        for node in order:
            if type(node) is Einsum:
                found.update(operand for operand in node.operands if isinstance(operand, Inv))
        return {inverse for inverse, n in found.items() if n == self._uses[inverse] <= MAX_SOLVES}

    def _in_one_term(self, order: Sequence[Any]) -> set[Any]:
        """What only one term of a long sum needs: it is computed when that term is added."""
        found: set[Any] = set()
        sums = [node for node in order if isinstance(node, TensorAdd) and _is_long(node)]
        pending = [(term, MAX_TERM_DEPTH) for node in sums for term in node.operands]
        while pending:
            node, depth = pending.pop()
            inner = getattr(node, "operands", ())
            # A sum that isn't a term itself would be nested in this one, and others in that.
            long = isinstance(node, TensorAdd) and _is_long(node)
            nested = long and depth < MAX_TERM_DEPTH
            if inner and depth and not nested and self._uses[node] == 1 and node not in found:
                found.add(node)
                pending += [(child, depth - 1) for child in (() if long else inner)]
        return found

    # --- emitting

    def emit(self, op: str, *inputs: int, params: tuple[Any, ...] = ()) -> int:
        """The number of an instruction; the same instruction is emitted once."""
        if op == "transpose":
            base, axes = self.untransposed(inputs[0])
            if axes is not None:
                inputs, params = (base,), (tuple([axes[k] for k in params[0]]),)
            if params[0] == tuple(range(len(params[0]))):
                return inputs[0]
        if OPS[op].body is not None:
            axes = self._common_axes(inputs)
            if axes is not None:
                bases = [self.untransposed(k)[0] for k in inputs]
                return self.emit("transpose", self.emit(op, *bases, params=params), params=(axes,))
        if op == "sum" and params[0] is None:
            inputs = (self.untransposed(inputs[0])[0],)
        if op == "sum" and self._is_square(inputs[0]):
            return self._sum_of_squares(self.instructions[inputs[0]].inputs[0], params[0])
        key = Instruction(op, inputs, params)
        if key not in self._known:
            self._known[key] = self.emit_fresh(op, *inputs, params=params)
        return self._known[key]

    def emit_fresh(self, op: str, *inputs: int, params: tuple[Any, ...] = ()) -> int:
        """An instruction of its own: its result is written to afterwards."""
        shape = result_shape(op, [self.instructions[k].shape for k in inputs], params)
        self.instructions.append(Instruction(op, inputs, params, shape))
        return len(self.instructions) - 1

    def untransposed(self, value: int) -> tuple[int, tuple[int, ...] | None]:
        """Of a transpose, what is transposed and the axes; else the number itself and None."""
        instruction = self.instructions[value]
        if instruction.op != "transpose":
            return value, None
        return instruction.inputs[0], instruction.params[0]

    def _common_axes(self, inputs: Sequence[int]) -> tuple[int, ...] | None:
        """The axes, if all operands but scalars are transposes of one kind: what is computed
        before they are transposed is more likely to be shared."""
        found = {self.untransposed(k)[1] for k in inputs if self.instructions[k].shape}
        return found.pop() if len(found) == 1 else None

    def _is_square(self, value: int) -> bool:
        """Whether a value is an elementwise square that nothing else needs."""
        instruction = self.instructions[value]
        square = instruction.op == "elementwise" and instruction.params[0] == slot(0) ** 2
        return square and value in self._nodes and self._uses[self._nodes[value]] == 1

    def _sum_of_squares(self, value: int, axes: Sequence[int] | None) -> int:
        order = len(self.instructions[value].shape)
        if axes is None:
            return self.emit("dot" if order == 1 else "vdot", value, value)
        letters = "".join(map(index_letter, range(order)))
        kept = "".join(letter for k, letter in enumerate(letters) if k not in axes)
        return self.emit("einsum", value, value, params=(f"{letters},{letters}->{kept}",))

    def remember(self, product: Factor) -> None:
        """Keep an intermediate product for others that need it too."""
        values = [part.value for part in product.parts]
        if len(set(values)) == len(values) <= MAX_REMEMBERED:
            self._products.setdefault(min(values), []).append(product)

    def remembered(self, factors: Sequence[Factor]) -> Sequence[Factor]:
        """Intermediate products that may be those of some factors, the longest first."""
        values = {factor.value for factor in factors}
        found = [product for value in sorted(values) for product in self._products.get(value, [])]
        found = [p for p in found if values.issuperset([part.value for part in p.parts])]
        return sorted(found, key=lambda product: -len(product.parts))

    def scaled(self, scalar: int, value: int) -> int:
        """A value times a scalar; turning the sign is cheaper than multiplying."""
        op, _, params, _ = self.instructions[scalar]
        if op == "scalar" and params[0] is S.NegativeOne:
            return self.emit("add", value, params=((-1,),))
        return self.emit("multiply", scalar, value)

    def lowest(self, value: int) -> int:
        """A value without leading axes of length 1, which broadcasting puts back."""
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

    def is_nonnegative(self, value: int) -> bool:
        """Whether no entry can be negative."""
        return value in self._nodes and is_nonnegative(self._nodes[value])

    def value(self, node: Any) -> int:
        """The number of the instruction that computes a node, lowering it if that was put off."""
        if not isinstance(node, TensorExpr):
            return self._slotted(self._scalar_part(node)[0]).place
        if node not in self._values:
            number = self._values[node] = self._tensor(node)
            self._nodes[number] = node
        return self._values[node]

    def result(self, expr: Any) -> int:
        """A result that is the caller's own: no argument or constant, nor a view of one."""
        number = self.value(expr)
        source = self.instructions[origin(self.instructions, number)]
        is_input = source.op == "argument" and getattr(source.params[0], "shape", None)
        shared = is_input or source.op == "constant" or self.instructions[number].op == "broadcast"
        return self.emit("copy", number) if shared else number

    # --- nodes

    def _lower(self, node: Any) -> None:
        if not isinstance(node, TensorExpr):
            self._scalar(node)
        elif not self._can_wait(node) and node not in self._solved and node not in self._put_off:
            self.value(node)

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
            if inside_log(node):
                return self._exponentials(node)
            inputs = [self.value(operand) for operand in node.operands]
            return self.emit("elementwise", *inputs, params=(node.body,))
        if isinstance(node, (Adj, Cofactors)):
            value = self.emit("cofactors", self.value(node.operands[0]), params=(node.degree,))
            return self.emit("transpose", value, params=((1, 0),)) if node.degree == 1 else value
        if isinstance(node, Det) and isinstance(node.operands[0], View):
            (matrix,) = node.operands
            if matrix.output == (0, 0) and not matrix.scalars and matrix.core is not None:
                core = self.value(matrix.core)
                if matrix.core.order == 2:
                    core = self.emit("diagonal", core, params=("ii->i",))
                return self.emit("prod", core)
        if isinstance(node, (Inv, Det, LogDet)):
            definite = is_definite(node.operands[0])
            name = type(node).__name__.lower()
            return self.emit(name, self.value(node.operands[0]), params=(definite,))
        if isinstance(node, AxesFunction) and self._shares_exponentials(node):
            return self._exponentials(node)
        if isinstance(node, AxesFunction):
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
            return self.emit("unit", params=(node.length, node.position))
        if isinstance(node, Selection):
            params = (node.length, node.start, node.step, node.count)
            return self.emit("selection", params=params)
        raise UnsupportedError(f"no instruction for {type(node).__name__}")

    def _shares_exponentials(self, node: AxesFunction) -> bool:
        """Whether log Σ exp, exp / Σ exp or its logarithm of the same tensor are needed too."""
        total = LogSumExp.over(node.operands[0], node.axes)
        share = Softmax.over(node.operands[0], node.axes)
        logarithm = apply_body(log(slot(0)), (share,)) in self._uses
        shares = self._uses[share] - logarithm
        return (total in self._uses) + (shares > 0) + logarithm > 1

    def _exponentials(self, node: Any) -> int:
        """log Σ exp(x), exp(x) / Σ exp(x) or its logarithm in steps, which the others share."""
        function = inside_log(node) or node
        operand, whole = function.operands[0], len(function.axes) == function.operands[0].order
        axes = None if whole else function.axes
        x = self.value(operand)
        peak = self.emit("peak", x, params=(axes,))
        shifted = self.emit("add", x, peak, params=((1, -1),))
        weights = self.emit("elementwise", shifted, params=(exp(slot(0)),))
        if isinstance(node, Softmax):
            total = self.emit("sum", weights, params=(axes,))
        else:
            total = self.emit("log_total", shifted, weights, params=(axes,))
        if isinstance(node, LogSumExp):
            entries = tuple("0" if k in node.axes else ":" for k in range(operand.order))
            peak = self.emit("index", peak, params=(entries,))
            return self.emit("add", total, peak, params=((1, 1),))
        if not whole:
            entries = tuple("None" if k in function.axes else ":" for k in range(node.order))
            total = self.lowest(self.emit("index", total, params=(entries,)))
        if isinstance(node, Softmax):
            return self.emit("elementwise", weights, total, params=(slot(0) / slot(1),))
        return self.emit("add", shifted, total, params=((1, -1),))

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
        elif self._holds_determinants(node):
            self._scalars[node] = (self._slotted(self._by_logarithms(node)), 0)
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

    def _holds_determinants(self, node: Any) -> bool:
        """Whether a scalar is the logarithm, the sign or a quotient of determinants, which of
        large matrices are no numbers that fit a float."""
        if isinstance(node, (log, sign)):
            return bool(determinants_in(node.args[0])[0])
        factors = determinants_in(node)[0] if node.is_Mul else []
        return len({factor.exponent.is_negative for factor in factors}) == 2

    def _by_logarithms(self, node: Any) -> Expr:
        """Such a scalar, in slots, by signs and logarithms of determinants."""
        factors, rest = determinants_in(node if node.is_Mul else node.args[0])
        signs, logarithm = [self._scalar_part(rest)[0]], S.Zero
        for matrix, exponent, is_absolute in factors:
            pair = self.emit("slogdet", self.value(matrix))
            first, second = (slot(self.emit("cut", pair, params=(0, k))) for k in (0, 1))
            logarithm += exponent * second
            signs.append(S.One if is_absolute else first**exponent)
        if isinstance(node, sign):
            return sign(Mul(*signs))
        return Mul(*signs, exp(logarithm)) if node.is_Mul else log(Mul(*signs)) + logarithm

    def _whole(self, node: Any) -> Any:
        """Conditions and the like: the node with the values inside replaced by slots."""
        rule = {
            part: self._scalar_part(part)[0]
            for part in postorder([node], stock_children)
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
        found = sorted(expr.free_symbols, key=lambda s: s.place)
        if expr in found:
            return expr
        inputs = [s.place for s in found]
        body = expr.xreplace({s: slot(k) for k, s in enumerate(found)})
        return slot(self.emit("scalar", *inputs, params=(body,)))

    # --- sums

    def _sum(self, node: TensorAdd) -> int:
        """Dense terms are added; terms on a diagonal are then added into place."""
        dense: list[Any] = []
        structured: list[Any] = []
        for term in self._terms(node):
            on_diagonal = isinstance(term, View) and len(set(term.output)) < term.order
            (structured if on_diagonal else dense).append(term)
        if not dense:
            values = [self._diagonal_value(term) for term in structured]
            total = self._zeros(values, node.shape)
            for term, value in zip(structured, values, strict=True):
                self._write(total, value, term, add=True)
            return total
        if len(dense) > MAX_SUMMANDS:
            total = self._running_total(dense)
            inputs = [total]  # an equal sum elsewhere may be the same
        else:
            inputs, total = self._added(dense, bool(structured))
        if structured:
            values = [self._diagonal_value(term) for term in structured]
            owned = total not in inputs
            total = self.emit_fresh("writable", total, *values, params=(owned,))
            for term, value in zip(structured, values, strict=True):
                self._write(total, value, term, add=True)
        return total

    def _terms(self, node: TensorAdd) -> Iterator[Any]:
        """The terms of a sum, with those of the sums that are needed for it only."""
        pending = [node]
        while pending:
            for term in pending.pop().operands:
                if isinstance(term, TensorAdd) and term in self._put_off:
                    pending.append(term)
                else:
                    yield term

    def _added(self, terms: Sequence[Any], fresh: bool) -> tuple[list[int], int]:
        """The terms of a short sum, and their sum: a fresh array if it is written to afterwards."""
        inputs, signs = [], []
        # What is constant along axes is stretched by the sum, if something gives that its shape.
        narrow = list(map(_is_stretched, terms))
        if all(narrow):
            narrow[0] = False
        for term, stretched in zip(terms, narrow, strict=True):
            sign, value = self._signed(term, stretched)
            inputs.append(value)
            signs.append(sign)
        if fresh:
            if len(terms) == 1 and signs[0] > 0:
                return inputs, inputs[0]
            # It must not be shared with an equal sum elsewhere.
            return inputs, self.emit_fresh("add", *inputs, params=(tuple(signs),))
        if len(terms) == 2 and signs[0] == signs[1] == 1:
            for one, other in (inputs, inputs[::-1]):
                if self.untransposed(other) == (one, (1, 0)):
                    return inputs, self.emit("add_transposed", one)
        factored = self._common_factor(inputs, signs)
        if factored is not None:
            return inputs, factored
        if len(terms) == 1 and signs[0] > 0:
            return inputs, inputs[0]
        return inputs, self.emit("add", *inputs, params=(tuple(signs),))

    def _running_total(self, terms: list[Any]) -> int:
        """A long sum, term by term, so that none outlives the next; what is a factor of all of
        them is multiplied once."""
        found = common_factor(terms)
        if found is not None:
            factor, rest = found
            total = self.value(tensor_sum(rest))
            value = self.value(factor)
            tensor = bool(self.instructions[value].shape)
            return self.emit("multiply", value, total) if tensor else self.scaled(value, total)
        terms = sorted(terms, key=_is_stretched)
        sign, total = self._signed(terms[0], False)
        for term in terms[1:]:
            second, value = self._signed(term, _is_stretched(term))
            total = self.emit("add", total, value, params=((sign, second),))
            sign = 1
        return total

    def _signed(self, term: Any, stretched: bool) -> tuple[int, int]:
        """The sign of a term of a sum, and the value behind it."""
        coefficient, core = split_coefficient(term)
        negative = coefficient is S.NegativeOne
        term = core if negative else term
        return (-1 if negative else 1), self._narrow(term) if stretched else self.value(term)

    def _narrow(self, term: View) -> int:
        """A term without the axes along which it is constant."""
        if term.core is None:
            return self._factor(term.operands) if term.operands else self.value(S.One)
        return self.lowest(self._aligned(term, term.output))

    def _common_factor(self, inputs: Sequence[int], signs: Sequence[int]) -> int | None:
        """a * b ± a * c as a * (b ± c)."""
        steps = [self.instructions[k] for k in inputs]
        if len(steps) != 2 or any(s.op != "multiply" or len(s.inputs) != 2 for s in steps):
            return None
        common = set(steps[0].inputs) & set(steps[1].inputs)
        if len(common) != 1 or steps[0].shape != steps[1].shape:
            return None
        factor = common.pop()
        others = [
            next(k for k in s.inputs if k != factor) for s in steps if s.inputs != (factor,) * 2
        ]
        if len(others) != 2:
            return None
        if signs[0] < signs[1]:
            others, signs = others[::-1], signs[::-1]
        return self.emit("multiply", factor, self.emit("add", *others, params=(tuple(signs),)))

    # --- views

    def _factor(self, scalars: Sequence[Any]) -> int:
        values = [self.value(scalar) for scalar in scalars]
        return values[0] if len(values) == 1 else self.emit("multiply", *values)

    def _view(self, node: View) -> int:
        if len(set(node.output)) < node.order:
            value = self._diagonal_value(node)
            total = self._zeros([value], node.shape)
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
        return self.lowest(self._aligned(node, list(dict.fromkeys(node.output))))

    def _zeros(self, values: Sequence[int], shape: Any) -> int:
        """Zeros of the type of some values."""
        sources = [origin(self.instructions, value) for value in values]
        return self.emit_fresh("zeros", *dict.fromkeys(sources), params=(shape,))

    def _write(self, target: int, value: int, node: View, add: bool) -> None:
        output = "".join(map(index_letter, node.output))
        diagonal = "".join(dict.fromkeys(output))
        self.emit_fresh("write_diagonal", target, value, params=(f"{output}->{diagonal}", add))

    def _aligned(self, node: View, output: Sequence[int]) -> int:
        """The scaled core with its axes along ``output``, length-1 axes where it has none."""
        core, labels = node.core, node.subscripts[-1]
        assert core is not None
        if core in self._waiting and core not in self._values and len(set(labels)) == len(labels):
            scalar = self._factor(node.scalars) if node.scalars else None
            labels = tuple([i for i in output if i in labels])
            value = self._einsum(core, [node.subscripts[-1].index(i) for i in labels], scalar)
        elif node.scalars:
            value = self.scaled(self._factor(node.scalars), self.value(core))
        else:
            value = self.value(core)
        return arrange(self, value, labels, output)

    # --- products

    def _einsum(
        self, node: Einsum, axes: Sequence[int] | None = None, scalar: int | None = None
    ) -> int:
        """A product, with its axes in another order and multiplied by a scalar if these are
        given."""
        if not node.subscripts or not any(node.subscripts):
            return self._factor(node.operands)
        output = node.output if axes is None else [node.output[k] for k in axes]
        # Products that are used here only are written out in place.
        operands, subscripts, lengths = written_out(
            node.operands,
            node.subscripts,
            dict(enumerate(node.lengths)),
            lambda inner, _: inner in self._waiting and inner not in self._values,
        )
        factors = [self._operand(*pair) for pair in zip(operands, subscripts, strict=True)]
        self._direct(operands, factors, output, lengths)
        self._cut(operands, factors, output)
        return multiply_all(self, factors, output, lengths, scalar)

    def _operand(self, operand: Any, labels: Sequence[int]) -> Factor:
        if operand in self._solved and len(set(labels)) == 2:
            matrix = operand.operands[0]
            return Factor(self.value(matrix), labels, (is_definite(matrix),))
        return Factor(self.value(operand), labels)

    def _direct(
        self,
        operands: list[Any],
        factors: list[Factor],
        output: Sequence[int],
        lengths: dict[int, Any],
    ) -> None:
        """Derivatives of det of which all pairs of axes but one are multiplied by matrices become
        matrices at once: the tensors themselves are never built."""
        tensors = [f for f, own in zip(factors, operands, strict=True) if _is_directed(own)]
        pending = list(tensors)
        while pending:
            tensor = pending.pop()
            pairs = list(zip(tensor.labels[::2], tensor.labels[1::2], strict=True))
            groups = {pair: _multiplied_by(pair, tensor, factors, output) for pair in pairs}
            usable = [p for p, own in groups.items() if own is not None and not {*own} & {*tensors}]
            directions = usable[1 - len(pairs) :]
            kept = [pair for pair in pairs if pair not in directions]
            if len(kept) > 1:
                continue
            inputs = [self._matrix(pair, groups[pair] or [], lengths) for pair in directions]
            used = {own for pair in directions for own in groups[pair] or ()}
            place = factors.index(tensor)
            matrix = self.value(operands[place].operands[0])
            value = self.emit("cofactors", matrix, *inputs, params=(len(pairs),))
            factors[place] = Factor(value, kept[0])
            operands[:] = [o for o, f in zip(operands, factors, strict=True) if f not in used]
            factors[:] = [factor for factor in factors if factor not in used]
            tensors.remove(tensor)
            pending = list(tensors)  # others may have waited for this one

    def _matrix(self, pair: tuple[int, int], factors: list[Factor], lengths: dict[int, Any]) -> int:
        """The product of factors with two axes; ones where they have none, twice the same is a
        diagonal."""
        row, column = pair
        given = [*factors]
        if row == column:
            column = max(lengths) + 1
            lengths = {**lengths, column: lengths[row]}
            given.append(Factor(self.value(Delta(lengths[row])), (row, column)))
        for axis in {row, column}.difference(*[factor.labels for factor in given]):
            given.append(Factor(self.value(Ones(lengths[axis])), (axis,)))
        return multiply_all(self, given, (row, column), lengths)

    def _cut(self, operands: list[Any], factors: list[Factor], output: Sequence[int]) -> None:
        """Unit vectors and selections become indexing of what they are contracted with."""
        for k in range(len(operands) - 1, -1, -1):
            cutter = operands[k]
            if not isinstance(cutter, (Unit, Selection)):
                continue
            labels = factors[k].labels
            axis = labels[-1]
            others = [j for j in range(len(operands)) if j != k and axis in factors[j].labels]
            new = labels[0] if isinstance(cutter, Selection) else None
            uses = [*output, *(i for factor in factors for i in factor.labels)]
            plain = new is None or (new != axis and uses.count(new) > 1)
            if axis in output or not others or not plain:
                continue
            if any(isinstance(operands[j], (Unit, Selection)) for j in others):
                continue
            if any(factors[j].labels.count(axis) > 1 or factors[j].solves for j in others):
                continue
            for j in others:
                factors[j] = self._cut_axis(factors[j], cutter, axis, new)
            del operands[k], factors[k]

    def _cut_axis(self, factor: Factor, cutter: Any, axis: int, new: int | None) -> Factor:
        place = factor.labels.index(axis)
        if new is None:
            entry: Any = cutter.position
            labels = factor.labels[:place] + factor.labels[place + 1 :]
        else:
            entry = Slice(cutter.start, cutter.step, cutter.count)
            labels = tuple(new if i == axis else i for i in factor.labels)
        return Factor(self.emit("cut", factor.value, params=(place, entry)), labels)


def _is_directed(operand: Any) -> bool:
    """Whether it is a derivative of det that can be multiplied by matrices without being built."""
    return isinstance(operand, Cofactors) and operand.degree <= MAX_DIRECTIONS + 1


def _multiplied_by(
    pair: tuple[int, int], tensor: Factor, factors: Sequence[Factor], output: Sequence[int]
) -> list[Factor] | None:
    """The factors that make up the matrix by which a pair of axes of a tensor is multiplied; None
    if there is no such matrix, because they share an index with something else."""
    reached = set(pair)
    beyond = {*output, *tensor.labels} - reached
    if reached & {*output} or sum(i in pair for i in tensor.labels) > 2:
        return None
    found: list[Factor] = []
    others = [factor for factor in factors if factor is not tensor]
    while more := [f for f in others if f not in found and reached & {*f.labels}]:
        found += more
        reached.update(*[factor.labels for factor in more])
    return None if reached & beyond else found


def _is_long(total: TensorAdd) -> bool:
    """Whether a sum has many terms; those that are sums have."""
    terms = total.operands
    return len(terms) > MAX_SUMMANDS or any(isinstance(term, TensorAdd) for term in terms)


def _is_stretched(term: Any) -> bool:
    """Whether a term of a sum is constant along some axes, or everywhere."""
    if not isinstance(term, View):
        return False
    return term.is_constant_fill or bool(set(term.output) - set(term.subscripts[-1]))
