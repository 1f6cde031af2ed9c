"""Loops as recurrences: h_(t+1) = tanh(W h_t + x_t) in formulas, calls of ``scan`` in text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sympy import Basic, Expr, Integer, S, Symbol

from ..core import postorder, tuning
from ..expressions import (
    LAST,
    VALUES,
    Binder,
    BoundTensor,
    Operand,
    Recurrence,
    Scan,
    Solution,
    TensorExpr,
    TensorSymbol,
    Zeros,
    depending,
    fuse_loops,
    replace_nodes,
    shape_of,
    substitute_all,
)
from .forms import Form
from .naming import repeated_nodes, shown_names, text_extent
from .slices import Range

if TYPE_CHECKING:
    from .notation import Notation

# The letters of carries by direction, of values, of inputs, of common parts of a step, of
# unknowns, and of the step.
CARRIES = {
    False: ("h", "s", "u", "v", "w", "z", "p", "q", "r", "a", "b", "d", "e", "f", "g"),
    True: ("lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "eta", "kappa", "zeta"),
}
VALUES_OF_STEPS = ("y", "z", "u", "v", "w", "p", "q", "r")
INPUTS = ("x", "y", "z", "u", "v", "w")
PARTS = ("a", "b", "d", "f", "g")
UNKNOWNS = ("x", "y", "z", "u", "v", "w", "p", "q", "r")
STEP = ("t", "s", "k", "j", "i", "l")


class RecurrenceNames(NamedTuple):
    """The names in the recurrence of a loop: of the carries and values, and of the step."""

    carries: list[str]
    values: list[str]
    step: str


def _shown_in(loop: Recurrence | Solution) -> set[str]:
    """Return the names in the body of a loop or an equation, and in its operands."""
    return shown_names(postorder([*loop.operands, *loop.outputs]))


def _free(letters: Sequence[str], taken: Collection[str]) -> Iterator[str]:
    """Yield letters that aren't taken, then letters with numbers."""
    yield from [letter for letter in letters if letter not in taken]
    number = 0
    while True:
        number += 1
        yield from [f"{x}{number}" for x in letters if f"{x}{number}" not in taken]


class Recurrences:
    """The recurrences in the formulas of one notation: names of loops, and lines that define
    them."""

    def __init__(self, notation: Notation):
        self.notation = notation
        self._found: dict[object, RecurrenceNames] = {}
        self._taken: set[str] = set()
        # The steps of the loops whose bodies are being written.
        self._steps: list[str] = []
        self._count = 0
        self._fused: dict[Operand, Any] = {}
        self._solutions: dict[Solution, Form] = {}
        # The equations that aren't shown yet.
        self.pending: list[tuple[Form, Form]] = []

    def fuse(self, nodes: Sequence[Scan]) -> None:
        """Show loops over the same steps as one."""
        new = [node for node in nodes if node not in self._fused]
        self._fused.update(zip(new, fuse_loops(new), strict=True))

    def form(self, node: Scan) -> Form:
        """Return the name of a result of a loop; its recurrence is shown below the formula."""
        node = self._fused.get(node, node)
        found, loop = self._recurrence(node), node.loop
        if node.kind == LAST:
            end = S.Zero if loop.reverse else loop.length
            return _at(_named(found.carries[node.place], (S.One, *node.shape)), end)
        name, shift = self._values(node)
        whole = _named(name, node.shape)
        if shift is None:
            return whole
        start = Integer(shift)
        steps = Range(start, loop.length + shift, S.One, start)
        return Form("slice", [whole], (steps,), node.order)

    def solution(self, node: Solution) -> Form:
        """Return the name of the solution of an equation; the equation is shown below."""
        if node not in self._solutions:
            taken = self._taken | self.notation.reserved | _shown_in(node)
            name = next(_free(UNKNOWNS, taken))
            self._taken.add(name)
            form = self._solutions[node] = _named(name, node.shape)
            shown = self._shown_as(form, node.unknown)
            (residual,) = node.at(shown, node.outputs[:1])
            zero = Zeros(*node.shape)
            self.pending.append((self.notation.finished(residual), self.notation.finished(zero)))
        return self._solutions[node]

    def _values(self, node: Scan) -> tuple[str, int | None]:
        """Return the name of the values of a step; where they are those of a carry before or after
        it, the carry's, and how far its index is ahead of the step."""
        found, loop = self._recurrence(node), node.loop
        value = loop.values[node.place]
        for carry, name in zip(loop.carries, found.carries, strict=True):
            if value in (carry.symbol, carry.new):
                return name, int((value is carry.symbol) == loop.reverse)
        return found.values[node.place], None

    def _recurrence(self, node: Scan) -> RecurrenceNames:
        if node.group not in self._found:
            loop = node.loop
            taken = self._taken.union(self._steps, self.notation.reserved, _shown_in(loop))
            letters = _free(CARRIES[loop.reverse], taken)
            carries = [next(letters) for _ in loop.carries]
            letters = _free(VALUES_OF_STEPS, taken.union(carries))
            values = [next(letters) for _ in loop.values]
            step = next(_free(STEP, taken.union(carries, values)))
            self._taken.update(carries, values)
            self._found[node.group] = RecurrenceNames(carries, values, step)
            self._steps.append(step)
            self._define(loop, self._found[node.group])
            self._steps.pop()
        return self._found[node.group]

    def _define(self, loop: Recurrence, found: RecurrenceNames) -> None:
        """Add the equations of a loop: initial values, next values, values of steps."""
        step = Symbol(found.step, integer=True, nonnegative=True)
        before, after = (step + 1, step) if loop.reverse else (step, step + 1)
        names: dict[Basic, Basic] = {loop.index: step}

        def shown(name: str, position: Expr, like: Operand) -> Form:
            return _at(_named(name, (S.One, *shape_of(like))), position)

        for carry, name in zip(loop.carries, found.carries, strict=True):
            names[carry.symbol] = self._shown_as(shown(name, before, carry.symbol), carry.symbol)
        for own in loop.inputs:
            names[own.symbol] = self._shown_as(self._entry(own.stacked, step), own.symbol)
        names |= loop.invariant_values
        outputs = self._with_named_parts(substitute_all(loop.outputs, names), step, names.values())
        self.fuse([node for own in outputs for node in scans_in(own)])
        start = loop.length if loop.reverse else S.Zero
        whole = self.notation.finished
        for carry, name, new in zip(loop.carries, found.carries, outputs, strict=False):
            self.pending.append((shown(name, after, carry.symbol), whole(new)))
            self.pending.append((shown(name, start, carry.symbol), whole(carry.init)))
        states = {part for carry in loop.carries for part in (carry.symbol, carry.new)}
        pairs = zip(loop.values, outputs[len(loop.carries) :], found.values, strict=True)
        for value, output, name in pairs:
            if value not in states:
                self.pending.append((shown(name, step, value), whole(output)))

    def _with_named_parts(
        self, outputs: Sequence[Operand], step: Expr, changing: Iterable[Basic]
    ) -> list[Operand]:
        """Replace the common parts of the long formulas of a step by names, and define these."""
        is_long = any(text_extent(output)[0] > tuning.LONG_PART for output in outputs)
        if not is_long or not self.notation.where:
            return [*outputs]
        order = postorder(outputs)
        repeated = repeated_nodes(order, (), {})
        varying = {*depending(outputs, [step, *changing])}
        known: dict[Basic, Basic] = {}
        for node in order:
            if node not in repeated or node not in varying or isinstance(node, Binder):
                continue
            name = next(_free(PARTS, self._taken | self.notation.reserved))
            self._taken.add(name)
            (built,) = replace_nodes([node], known)
            form = _at(_named(name, (S.One, *shape_of(node))), step)
            known[node] = self._shown_as(form, node)
            self.pending.append((form, self.notation.finished(built)))
        return replace_nodes(outputs, known)

    def _shown_as(self, form: Form, symbol: Operand) -> TensorSymbol:
        """Return a symbol that is shown as a form."""
        self._count += 1
        own = BoundTensor("shown", self._count, 0, shape_of(symbol))
        self.notation.show(own, form)
        return own

    def _entry(self, stacked: Operand, step: Expr) -> Form:
        """Return the form of the entry of an input at a step."""
        if isinstance(stacked, TensorSymbol):
            return _at(self.notation.whole(stacked), step)
        if isinstance(stacked, Scan) and stacked.kind == VALUES:
            name, shift = self._values(stacked)
            return _at(_named(name, stacked.shape), step + (shift or 0))
        name = next(_free(INPUTS, self._taken | self.notation.reserved))
        self._taken.add(name)
        whole = _named(name, stacked.shape)
        self.pending.append((whole, self.notation.finished(stacked)))
        return _at(whole, step)


def scans_in(expr: object) -> list[Scan]:
    """Return the results of loops in an expression."""
    nodes = postorder([expr]) if isinstance(expr, Basic) else []
    return [node for node in nodes if isinstance(node, Scan)]


def _named(name: str, shape: Sequence[Expr]) -> Form:
    symbol = TensorSymbol(name, tuple(shape))
    return Form("symbol", (), (symbol, False), symbol.order)


def _at(whole: Form, position: Expr) -> Form:
    """Return the entry of a form at a position along its first axis."""
    return Form("slice", [whole], (position,), whole.axes - 1)


def scan_form(notation: Notation, node: Scan) -> Form:
    """Return the name of a result of a loop."""
    return notation.recurrences.form(node)


def scan_code(
    node: Scan, operands: Sequence[str], inside: Callable[[Operand], str], length: str
) -> str:
    """Return the call of ``scan`` for a loop, given the texts of its operands and of its length,
    and what writes a body."""
    loop = node.loop
    uses_index = any(
        loop.index in (own._own_symbols() if isinstance(own, TensorExpr) else (own,))
        for own in postorder(loop.outputs)
    )
    inputs = () if uses_index else loop.inputs
    taken = _shown_in(loop)
    carry, entry = next(_free(["c"], taken)), next(_free(["x" if inputs else "t"], taken))
    count = len(loop.carries)
    entries = _parts(entry, inputs)
    if not inputs:
        # A step gets entries of inputs or its number; for both it takes entries by its number.
        texts = operands[count : count + len(loop.inputs)]
        texts = [f"{own if own.isidentifier() else f'({own})'}[{entry}]" for own in texts]
        entries = [
            TensorSymbol(text, shape_of(own.symbol))
            for text, own in zip(texts, loop.inputs, strict=True)
        ]
    names: dict[Basic, Basic] = {
        loop.index: Symbol(entry, integer=True, nonnegative=True),
        **dict(zip([c.symbol for c in loop.carries], _parts(carry, loop.carries), strict=True)),
        **dict(zip([own.symbol for own in loop.inputs], entries, strict=True)),
        **loop.invariant_values,
    }
    outputs = [inside(output) for output in substitute_all(loop.outputs, names)]
    values = outputs[count:]
    result = f"{_tuple(outputs[:count])}, {_tuple(values) if values else None}"
    arguments = [f"lambda {carry}, {entry}: ({result})", _tuple(operands[:count])]
    if inputs:
        arguments.append(_tuple(operands[count : count + len(inputs)]))
    else:
        arguments.append(f"length={length}")
    if loop.reverse:
        arguments.append("reverse=True")
    group = loop.carries if node.kind == LAST else loop.values
    place = f"[{node.place}]" if len(group) > 1 else ""
    return f"scan({', '.join(arguments)})[{int(node.kind == VALUES)}]{place}"


def _parts(name: str, group: Sequence[object]) -> list[TensorSymbol]:
    """Return the symbols of a structure: one by its name, several by their places."""
    shapes = [shape_of(own.symbol) for own in group]  # type: ignore[attr-defined]
    if len(shapes) == 1:
        return [TensorSymbol(name, shapes[0])]
    return [TensorSymbol(f"{name}[{k}]", shape) for k, shape in enumerate(shapes)]


def _tuple(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def solution_form(notation: Notation, node: Solution) -> Form:
    """Return the name of the solution of an equation, which is shown below the formula."""
    return notation.recurrences.solution(node)


def solution_code(node: Solution, start: str, inside: Callable[[Operand], str]) -> str:
    """Return the call of ``solution`` for a solution, given the text of the start, and what writes
    a body."""
    x = next(_free(UNKNOWNS, _shown_in(node)))
    (residual,) = node.at(TensorSymbol(x, node.shape), node.outputs[:1])
    return f"solution(lambda {x}: {inside(residual)}, start={start})"
