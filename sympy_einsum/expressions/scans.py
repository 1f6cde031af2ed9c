"""Scans: recurrences over steps whose number may be symbolic.

A step maps carries c_t and inputs x_t to new carries c_(t+1) and values y_t [JAX, lax.scan]. One
node is one result of a loop: a last carry, or the values y of all steps. Results of one loop have
equal operands, and equal data but for ``kind`` and ``place``; they are computed together.

The body of a node is closed: each maximal subexpression that no step changes is an operand, which
hoists it out of the loop, and the body refers to it by a bound symbol. So free symbols,
substitution and differentiation look at operands only, nothing can be captured, and scans that
differ by the names of bound symbols are one object. Bound symbols are numbered by the level of
nesting, so that those of an inner loop differ from those around it.

References
==========

[JAX] The JAX authors, "JAX: composable transformations of Python+NumPy programs", jax.lax, 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sympy import Abs, Add, Basic, Dummy, Expr, Max, Min, Mul, Pow, S, Symbol

from ..core import Shape, children, postorder
from .affine_selectors import Positions
from .base import Operand, TensorExpr
from .batching import batch_of_product
from .entrywise import Elementwise
from .graphs import declares_free_symbols, is_variable, order_of, shape_of
from .interning import Data, Node, Operands, data_property, memoised
from .leaves import Constant, TensorSymbol, Zeros
from .products import Einsum, View, contract, contract_part, is_slice
from .scalar_lambdas import Slot
from .substitution import replace_nodes, substitute_all
from .sums import TensorAdd

# The kinds of results.
LAST, VALUES = "last", "values"
# Dummies with fixed numbers, far from those that SymPy counts.
FIRST_INDEX = 1 << 48


class BoundTensor(TensorSymbol):
    """A symbol that a scan binds: a carry, an input, or an invariant of its step.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> total, _ = se.scan(lambda c, t: (c + x, None), se.Zeros(3), length=9)
    >>> [isinstance(symbol, se.BoundTensor) for symbol in total.loop.parameters]
    [True, True]
    """

    __slots__ = ()
    is_bound = True

    def __new__(
        cls, kind: str, number: int, level: int, shape: Shape, assumptions: Sequence[str] = ()
    ) -> BoundTensor:
        return cls._build((), (f"{kind} {number} {level}", shape, tuple(assumptions)))

    @property
    def binding(self) -> tuple[str, int, int]:
        """The kind of the symbol, its number among those, and the level of the body."""
        kind, number, level = self.name.split()
        return kind, int(number), int(level)

    def assuming(self, *assumptions: str) -> BoundTensor:
        """Return the symbol with more assumptions."""
        known = sorted({*self.assumptions, *assumptions})
        return BoundTensor(*self.binding, self.shape, known)


class StepIndex(Dummy):
    """The number of a step, from 0 on, a symbol that a scan binds.

    >>> import sympy_einsum as se
    >>> total, _ = se.scan(lambda c, t: (c + t**2, None), 0, length=9)
    >>> isinstance(total.loop.index, se.StepIndex)
    True
    """

    __slots__ = ()
    is_bound = True


def step_index(level: int) -> Symbol:
    """Return the symbol of the number of a step in a body of some level."""
    # Where a step is called, its number is shown as t, that of a step inside as t2.
    name = f"t{level}" if level >= 0 else f"t{-level}" if level < -1 else "t"
    return StepIndex(name, dummy_index=FIRST_INDEX + level, integer=True, nonnegative=True)


class Carry(NamedTuple):
    """A carried variable: its symbol in the step, its initial value, and its next value."""

    symbol: TensorSymbol
    init: Operand
    new: Operand


class ScanInput(NamedTuple):
    """A symbol of the step, and the tensor whose entry t along the first axis it is."""

    symbol: TensorSymbol
    stacked: Operand


class Recurrence(NamedTuple):
    """A loop: the steps' number, order and body, and the operands.

    ``invariants`` pairs the symbols of what no step changes with their values. ``values`` are the
    expressions whose values of all steps are wanted. Where the loop ``recomputes``, the adjoint
    loop reads nothing of it but carries.
    """

    length: Expr
    reverse: bool
    recomputes: bool
    index: Symbol
    carries: tuple[Carry, ...]
    inputs: tuple[ScanInput, ...]
    invariants: tuple[ScanInput, ...]
    values: tuple[Operand, ...]

    @property
    def operands(self) -> Operands:
        """The initial values, inputs and invariants, in this order."""
        return (
            *[carry.init for carry in self.carries],
            *[own.stacked for own in (*self.inputs, *self.invariants)],
        )

    @property
    def parameters(self) -> tuple[TensorSymbol, ...]:
        """The symbols of the operands."""
        own: list[Carry | ScanInput] = [*self.carries, *self.inputs, *self.invariants]
        return tuple([each.symbol for each in own])

    @property
    def outputs(self) -> tuple[Operand, ...]:
        """The next values of the carries, and the values of the step."""
        return (*[carry.new for carry in self.carries], *self.values)

    @property
    def stacks(self) -> dict[Basic, Operand]:
        """The tensors of the inputs by the symbols of their entries."""
        return {own.symbol: own.stacked for own in self.inputs}

    @property
    def invariant_values(self) -> dict[Basic, Operand]:
        """The values of the invariants by their symbols."""
        return {own.symbol: own.stacked for own in self.invariants}

    @property
    def keeps_integers(self) -> bool:
        """Whether steps make arrays of integers from integers; numbers may be Python's, which have
        no longest one."""
        outputs = self.outputs
        return all(map(shape_of, outputs)) and all(map(_keeps_integers, postorder(outputs)))

    @property
    def level(self) -> int:
        """The level of nesting of the body, 0 for one without loops."""
        return int(self.index.dummy_index) - FIRST_INDEX

    def result(self, kind: str, place: int) -> Operand:
        """Return a result: the last value of a carry, or the values of an expression."""
        counts = len(self.carries), len(self.inputs)
        flags = int(self.reverse), int(self.recomputes)
        data = (kind, place, self.length, *flags, *counts, self.index)
        return Scan._build(self.operands, (*data, self.parameters, self.outputs))

    def with_operands(self, operands: Sequence[Operand]) -> Recurrence:
        """Return the loop on other operands."""
        values = iter(operands)
        return self._replace(
            carries=tuple([own._replace(init=next(values)) for own in self.carries]),
            inputs=tuple([own._replace(stacked=next(values)) for own in self.inputs]),
            invariants=tuple([own._replace(stacked=next(values)) for own in self.invariants]),
        )

    def open_outputs(self) -> list[Operand]:
        """Return the outputs with the values of invariants in place of their symbols."""
        return replace_nodes(self.outputs, self.invariant_values)

    def with_outputs(self, outputs: Sequence[Operand]) -> Recurrence:
        """Return a loop with other outputs, in which invariants are values."""
        carries = [c._replace(new=new) for c, new in zip(self.carries, outputs, strict=False)]
        return self.with_body(carries, self.inputs, outputs[len(carries) :])

    def with_body(
        self, carries: Sequence[Carry], inputs: Sequence[ScanInput], values: Sequence[Operand]
    ) -> Recurrence:
        """Return a loop over the same steps with another body, in which invariants are values."""
        return closed_loop(
            *(self.length, self.reverse, self.index, carries, inputs, values),
            recomputes=self.recomputes,
        )

    def changed_by(self, symbols: Iterable[Basic]) -> list[Basic]:
        """Return symbols of the body, and those of carries that depend on them at some step."""
        found = dict.fromkeys(symbols)
        while True:
            changing = {*depending([carry.new for carry in self.carries], found)}
            more = [c.symbol for c in self.carries if c.new in changing and c.symbol not in found]
            if not more:
                return [*found]
            found.update(dict.fromkeys(more))

    def step(
        self, carries: Sequence[Operand], inputs: Sequence[Operand], index: Operand
    ) -> list[Operand]:
        """Return the outputs of one step, for values of carries, inputs and index."""
        invariants = [own.stacked for own in self.invariants]
        values = [*carries, *inputs, *invariants]
        rule: dict[Basic, object] = dict(zip(self.parameters, values, strict=True))
        return substitute_all(self.outputs, {**rule, self.index: index})

    def unrolled(self) -> tuple[list[Operand], list[list[Operand]]]:
        """Return the last carries, and the values by expression and step, for a length that is a
        number."""
        count = int(self.length)
        carried = [carry.init for carry in self.carries]
        values: list[list[Operand]] = [[S.Zero] * count for _ in self.values]
        for t in reversed(range(count)) if self.reverse else range(count):
            inputs = [entry_at(own.stacked, t) for own in self.inputs]
            outputs = self.step(carried, inputs, S(t))
            carried = outputs[: len(carried)]
            for place, value in enumerate(outputs[len(carried) :]):
                values[place][t] = value
        return carried, values


def entry_at(stacked: Operand, position: Operand) -> Operand:
    """Return the entry of a tensor at a position along its first axis."""
    first, *rest = stacked.shape
    axes = range(stacked.order)
    unit = Positions._build((), (first, S(position), (), ()))
    return contract((stacked, unit), (axes, (0,)), axes[1:], dict(enumerate((first, *rest))))


def repeated(value: Operand, count: Expr) -> Operand:
    """Return a tensor a number of times along a new first axis."""
    axes = range(1, order_of(value) + 1)
    lengths = {0: count, **dict(zip(axes, shape_of(value), strict=True))}
    return contract((value,), (axes,), (0, *axes), lengths)


class Binder(TensorExpr):
    """A node with a body, in which it binds symbols."""

    __slots__ = ()

    @property
    def level(self) -> int:
        """The level of nesting of the body, 0 for one without such nodes."""
        raise NotImplementedError

    @property
    def hoisted(self) -> tuple[Operand, ...]:
        """The operands that the body refers to by symbols, because nothing bound is in them."""
        raise NotImplementedError

    def open_outputs(self) -> list[Operand]:
        """Return the expressions of the body, with hoisted operands in place of their symbols."""
        raise NotImplementedError

    def with_outputs(self, outputs: Sequence[Operand]) -> Operand:
        """Return a node with other expressions in its body, in which nothing is hoisted."""
        raise NotImplementedError


class Scan(Binder):
    """A result of a loop; build it with ``scan``.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> T, n = symbols("T n", integer=True, positive=True)
    >>> X = se.TensorSymbol("X", T, n)
    >>> last, values = se.scan(lambda c, x: (c + x, c * x), se.Zeros(n), X)
    >>> values.shape
    (T, n)
    """

    __slots__ = ()

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        kind, place, length, _, _, carries, inputs, _, parameters, outputs = data
        loop = loop_of(operands, data)
        if length in (S.Zero, S.One):
            lasts, values = loop.unrolled()
            if kind == LAST:
                return lasts[place]
            if not values[place]:
                return Zeros(0, *shape_of(loop.values[place]))
            return repeated(values[place][0], S.One)
        if kind == LAST and outputs[place] is parameters[place]:
            return operands[place]
        if kind == VALUES and outputs[carries + place] in parameters[carries:]:
            number = parameters.index(outputs[carries + place])
            if number < carries + inputs:
                return operands[number]
            return repeated(operands[number], length)
        rows = {own.symbol: _row_of_all_steps(own.stacked) for own in loop.inputs}
        rows = {own: row for own, row in rows.items() if row is not None}
        if rows:
            changed = loop.with_outputs(substitute_all(loop.open_outputs(), rows))
            return changed.result(kind, place)
        own = shape_of(outputs[place + (carries if kind == VALUES else 0)])
        return cls._intern(operands, data, (length, *own) if kind == VALUES else own)

    kind: str = data_property(0, "Which kind of result it is: LAST or VALUES.")
    place: int = data_property(1, "The number of the carry, or of the expression of the step.")
    length: Expr = data_property(2, "The number of steps.")
    reverse: int = data_property(3, "Whether the steps go from the last to the first.")

    @property
    def loop(self) -> Recurrence:
        """The loop that it is a result of."""
        return loop_of(self.operands, self.data)

    @property
    def level(self) -> int:
        """The level of nesting of the step."""
        return self.loop.level

    @property
    def hoisted(self) -> tuple[Operand, ...]:
        """The values of invariants."""
        return tuple([own.stacked for own in self.loop.invariants])

    def open_outputs(self) -> list[Operand]:
        """Return the outputs of the step, with the values of invariants."""
        return self.loop.open_outputs()

    def with_outputs(self, outputs: Sequence[Operand]) -> Operand:
        """Return the result of a loop with another step."""
        return self.loop.with_outputs(outputs).result(self.kind, self.place)

    def _map_body(self, change: Callable[[Any], Any]) -> Any:
        return self.with_outputs([change(output) for output in self.open_outputs()])

    @property
    def group(self) -> tuple[Operands, Data]:
        """The operands, and the data after kind and place: equal for all results of one loop."""
        return self.operands, self.data[2:]

    @memoised
    def _own_symbols(self) -> set[Basic]:
        # Only lengths: symbols of values are operands, and those of the body are bound.
        lengths = [n for symbol in self.data[8] for n in symbol.shape]
        found = {s for n in (self.length, *lengths) for s in n.free_symbols}
        for node in postorder(self.data[9]):
            if isinstance(node, Node) and not isinstance(node, BoundTensor):
                found |= node._own_symbols()
        return found - {self.data[7]}

    def _map_data(self, substitute: Callable[[Basic], Basic]) -> Data:
        rule: dict[Basic, object] = {s: substitute(s) for s in self._own_symbols()}
        rule = {old: new for old, new in rule.items() if old is not new}
        if not rule:
            return self.data
        kind, place, length, *numbers, parameters, outputs = self.data
        fixed = (kind, place, substitute(length), *numbers)
        replaced = substitute_all([*parameters, *outputs], rule)
        count = len(parameters)
        return (*fixed, tuple(replaced[:count]), tuple(replaced[count:]))


# Nodes that make integers from integers.
_KEEPING_INTEGERS = (
    *(BoundTensor, StepIndex, Slot, Einsum, View, TensorAdd, Positions, Zeros),
    *(Add, Mul, Max, Min, Abs),
)


def _keeps_integers(node: Basic) -> bool:
    """Tell whether a node makes integers from integers."""
    if isinstance(node, Elementwise):
        return all(map(_keeps_integers, postorder([node.body])))
    if isinstance(node, Pow):
        return bool(node.exp.is_Integer and node.exp.is_nonnegative)
    if isinstance(node, Constant):
        return node.array.dtype.kind in "biu"
    return bool(node.is_Integer) or isinstance(node, _KEEPING_INTEGERS)


def loop_of(operands: Operands, data: Data) -> Recurrence:
    """Return the loop that operands and data of a node describe."""
    _, _, length, reverse, recomputes, count, inputs, index, parameters, outputs = data
    pairs = list(zip(parameters, operands, strict=True))
    carries = [
        Carry(symbol, value, new)
        for (symbol, value), new in zip(pairs[:count], outputs, strict=False)
    ]
    rest = [ScanInput(*pair) for pair in pairs[count:]]
    return Recurrence(
        *(length, bool(reverse), bool(recomputes), index, tuple(carries)),
        *(tuple(rest[:inputs]), tuple(rest[inputs:]), tuple(outputs[count:])),
    )


def closed_loop(
    length: Expr,
    reverse: bool,
    index: Symbol,
    carries: Sequence[Carry],
    inputs: Sequence[ScanInput],
    values: Sequence[Operand],
    recomputes: bool = False,
) -> Recurrence:
    """Return a loop with canonical bound symbols, and with what no step changes as operands."""
    outputs = [*[carry.new for carry in carries], *values]
    used = {*postorder(outputs)}
    inputs = [own for own in inputs if own.symbol in used]
    given = [*[own.symbol for own in carries], *[own.symbol for own in inputs]]
    level = level_of_body(outputs, {*given, index})
    names: dict[Basic, Basic] = {index: step_index(level)}
    for number, symbol in enumerate(given):
        kind, place = (
            ("carry", number) if number < len(carries) else ("input", number - len(carries))
        )
        names[symbol] = BoundTensor(kind, place, level, symbol.shape, symbol.assumptions)
    outputs = substitute_all(outputs, names)
    outputs, read = _entries_as_inputs(outputs, {*names.values()}, names[index], length, level)
    inputs = [*[own._replace(symbol=names[own.symbol]) for own in inputs], *read]
    names.update((own.symbol, own.symbol) for own in inputs)
    outputs, invariants = with_invariants(outputs, {*names.values()}, level)
    count = len(carries)
    return Recurrence(
        *(length, reverse, recomputes, names[index]),
        tuple(
            [
                Carry(names[own.symbol], own.init, new)
                for own, new in zip(carries, outputs[:count], strict=True)
            ]
        ),
        tuple([ScanInput(names[own.symbol], own.stacked) for own in inputs]),
        invariants,
        tuple(outputs[count:]),
    )


def _row_of_all_steps(stacked: Operand) -> Operand | None:
    """Return what all steps get of an input that is the same at all of them, else None."""
    if not isinstance(stacked, (Einsum, View)):
        return None
    step, *rest = stacked.output
    if step in rest or any(step in own for own in stacked.subscripts):
        return None
    return contract_part(
        stacked.operands, stacked.subscripts, rest, dict(enumerate(stacked.lengths))
    )


def _entries_as_inputs(
    roots: Sequence[Operand],
    bound: Collection[Basic],
    index: Symbol,
    length: Expr,
    level: int,
) -> tuple[list[Operand], list[ScanInput]]:
    """Replace entries and short slices of what no step changes, at positions that are affine in the
    number of the step, by inputs: slices and windows, of which each step gets an entry."""
    others = {*depending(roots, [own for own in bound if own is not index])}
    found: dict[Basic, ScanInput] = {}
    count = sum(isinstance(own, BoundTensor) and own.binding[0] == "input" for own in bound)
    for node in postorder(roots):
        if node in others or not isinstance(node, Einsum) or not is_slice(node):
            continue
        moving = [own for own in node.operands if index in own.free_symbols]
        selector = _at_all_steps(moving[0], index, length) if len(moving) == 1 else None
        if selector is None:
            continue
        stacked = batch_of_product(node, {moving[0]: selector}, length)
        symbol = BoundTensor("input", count + len(found), level, node.shape)
        found[node] = ScanInput(symbol, stacked)
    symbols = {node: own.symbol for node, own in found.items()}
    return replace_nodes(roots, symbols) if found else [*roots], list(found.values())


def _at_all_steps(selector: Operand, index: Symbol, length: Expr) -> Operand | None:
    """Return the selector of what a step selects, for all steps. None for positions that aren't
    affine in the number of the step, and for slices of symbolic length: windows are stored for each
    step."""
    if not isinstance(selector, Positions):
        return None
    size, start, steps, counts = selector.data
    first = start.xreplace({index: S.Zero})
    step = (start - first).expand() / index
    if any(own.has(index) for own in (step, size, *steps)):
        return None
    if not all(count.is_Integer for count in counts):
        return None
    return Positions._build((), (size, first, (step, *steps), (length, *counts)))


def level_of_body(outputs: Sequence[Operand], bound: Iterable[Basic]) -> int:
    """Return the level of a body that binds some symbols: above those of nodes in it."""
    inner = depending(outputs, bound)
    return 1 + max([node.level for node in inner if isinstance(node, Binder)], default=-1)


def with_invariants(
    outputs: Sequence[Operand], bound: Collection[Basic], level: int
) -> tuple[list[Operand], tuple[ScanInput, ...]]:
    """Replace what doesn't depend on bound symbols in a body by symbols; return these with their
    values."""
    found = _invariants(outputs, bound)
    symbols = {
        node: BoundTensor("invariant", number, level, shape_of(node), assumptions_of(node))
        for number, node in enumerate(found)
    }
    invariants = [ScanInput(symbols[node], node) for node in found]
    return replace_nodes(outputs, symbols), tuple(invariants)


def depending(roots: Sequence[Operand], bound: Iterable[Basic]) -> list[Basic]:
    """Return the nodes of graphs that depend on bound symbols, operands first."""
    variables = {*bound}
    found: dict[Basic, None] = {}
    for node in postorder(roots):
        own = node._own_symbols() if isinstance(node, Node) else (node,)
        if not variables.isdisjoint(own) or any(child in found for child in children(node)):
            found[node] = None
    return list(found)


def _invariants(roots: Sequence[Operand], bound: Collection[Basic]) -> list[Operand]:
    """Return the largest subexpressions without bound symbols that hold values: symbols or
    constants, not only deltas and lengths."""
    changing = {*depending(roots, bound)}
    found: dict[Operand, None] = {}
    for node in postorder(roots, lambda n: _parts(n) if n in changing else ()):
        if node not in changing and isinstance(node, Expr) and _holds_values(node):
            found[node] = None
    return list(found)


def _parts(node: Basic) -> Sequence[Basic]:
    """Return the children of a node; of a stock expression with bound symbols its free ones."""
    kind: Any = type(node)
    if not isinstance(node, Node) and node.args and declares_free_symbols(kind):
        return sorted(node.free_symbols, key=str)
    return () if is_variable(node) else children(node)


def _holds_values(node: Operand) -> bool:
    """Tell whether symbols or constants are in a graph, beside those in lengths and positions."""
    for own in postorder([node], lambda n: () if is_variable(n) else children(n)):
        if isinstance(own, (TensorSymbol, Constant)) or is_variable(own):
            return True
    return False


def assumptions_of(node: Operand) -> Sequence[str]:
    """Return the assumptions of an expression that a bound symbol for it keeps."""
    if isinstance(node, TensorSymbol) and not node.generators:
        return node.assumptions
    if not shape_of(node) and node.is_positive:
        return ("positive",)
    return ("nonnegative",) if not shape_of(node) and node.is_nonnegative else ()
