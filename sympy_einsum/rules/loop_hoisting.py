"""Loop distribution: compute parts of a step that depend on inputs alone for all steps at once,
before the loop, and sums of stored values after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from sympy import Basic

from ..contraction_order import nominal_size
from ..core import children, postorder, transform, tuning
from ..expressions import (
    VALUES,
    BoundTensor,
    Operand,
    Recurrence,
    Scan,
    ScanInput,
    TensorAdd,
    TensorExpr,
    View,
    contract,
    depending,
    over_batch,
    rebuild,
    replace_nodes,
    shape_of,
    total_of,
    works_entrywise,
)


def hoist_inputs(exprs: Sequence[Operand]) -> list[Operand]:
    """Compute the largest parts of steps that depend on inputs alone before the loops, as batches.

    >>> import sympy_einsum as se
    >>> W, X = se.TensorSymbol("W", 3, 3), se.TensorSymbol("X", 9, 3)
    >>> last, _ = se.scan(lambda c, x: (se.sin(c + W @ x), None), se.Zeros(3), X)
    >>> print(hoist_inputs([last])[0])
    scan(lambda c, x: (sin(c + x), None), Zeros(3), X @ W.T)[0]
    """
    return rewrite_loops(exprs, _hoisted)


def rewrite_loops(
    exprs: Sequence[Operand], rewritten: Callable[[Recurrence], Recurrence]
) -> list[Operand]:
    """Replace each loop, from the innermost operands on."""
    known: dict[object, Recurrence] = {}

    def visit(node: Operand, operands: tuple[Operand, ...]) -> Operand:
        built = rebuild(node, operands) if operands else node
        if not isinstance(built, Scan):
            return built
        if built.group not in known:
            known[built.group] = rewritten(built.loop)
        return known[built.group].result(built.kind, built.place)

    return transform(exprs, visit)


def _hoisted(loop: Recurrence, by_entries: bool = True) -> Recurrence:
    """Return the loop without parts of its step that depend on inputs alone; ``by_entries`` tells
    whether that includes parts that are computed entry by entry."""
    entries = loop.stacks
    if not entries:
        return loop
    carries = [own.symbol for own in loop.carries]
    on_entries = {*depending(loop.outputs, entries)}
    on_carries = {*depending(loop.outputs, [*carries, loop.index])}
    room = tuning.MAX_HOISTED_ENTRIES * _size(*entries, *carries)
    known = loop.invariant_values
    found: dict[Operand, ScanInput] = {}
    parts: dict[Basic, Operand] = {}

    def is_sum(node: Operand) -> bool:
        """Tell whether more is done than to compute entries from entries."""
        is_computed = isinstance(node, TensorExpr) and not isinstance(node, (BoundTensor, View))
        return is_computed and not works_entrywise(node)

    def is_hoisted(node: Operand) -> bool:
        """Add the batch of an expression to the inputs, if there is one and it isn't large."""
        if node in found:
            return True
        is_small = not isinstance(node, View) and _size(node) <= room
        if not (by_entries or any(map(is_sum, depending([node], entries)))):
            return False
        batch = over_batch(node, entries, loop.length) if is_small else None
        if batch is None:
            return False
        (stacked,) = replace_nodes([batch], known)
        number = len(loop.inputs) + len(found)
        symbol = BoundTensor("input", number, loop.level, shape_of(node))
        found[node] = ScanInput(symbol, stacked)
        return True

    def below(node: Basic) -> Sequence[Basic]:
        if node in on_carries:
            part = _part_of_inputs(node, on_entries, on_carries, entries)
            if part is not None and is_hoisted(part):
                parts[node] = part
                return [own for own in children(node) if own in on_carries]
            return children(node)
        if node not in on_entries or node in entries or is_hoisted(node):
            return ()
        return children(node)

    postorder(loop.outputs, below)
    if not found:
        return loop
    if by_entries and _size(*found) > tuning.MAX_HOISTED_ENTRIES * _size(*entries):
        # Arrays for all steps go through memory, where those of a step stay in the cache.
        return _hoisted(loop, by_entries=False)

    def replaced(node: Operand, operands: tuple[Operand, ...]) -> Operand:
        if node in found:
            return found[node].symbol
        if node in parts:
            pairs = zip(children(node), operands, strict=True)
            rest = [new for own, new in pairs if own in on_carries]
            return total_of([*rest, found[parts[node]].symbol])
        return rebuild(node, operands)

    outputs = transform(loop.outputs, replaced)
    more = loop._replace(inputs=(*loop.inputs, *found.values()))
    return more.with_outputs(replace_nodes(outputs, known))


def _part_of_inputs(
    node: Basic,
    on_entries: Collection[Basic],
    on_carries: Collection[Basic],
    entries: Collection[Basic],
) -> Operand | None:
    """Return the sum of those terms of a sum that depend on no carry; None if there are fewer than
    two, or if each is an invariant or an input as it stands."""
    if not isinstance(node, TensorAdd):
        return None
    part = [own for own in node.operands if own not in on_carries]
    is_computed = any(own in on_entries and own not in entries for own in part)
    return total_of(part) if is_computed and len(part) > 1 else None


def sum_stored_values(exprs: Sequence[Operand]) -> list[Operand]:
    """Replace carries to which each step adds a value that is stored by sums of these values.

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", 9, 3)
    >>> step = lambda c, x: ((se.sin(c[0] + x), c[1] + se.sin(c[0] + x)), se.sin(c[0] + x))
    >>> (_, total), values = se.scan(step, (X[0], X[1]), X)
    >>> sum_stored_values([total, values])[0] == X[1] + values.sum(axis=0)
    True
    """
    stored: dict[object, dict[Operand, Scan]] = {}
    for node in postorder(exprs):
        if isinstance(node, Scan) and node.kind == VALUES:
            stored.setdefault(node.group, {})[node.loop.values[node.place]] = node

    def visit(node: Operand, operands: tuple[Operand, ...]) -> Operand:
        total = _stored_summand(node, stored) if isinstance(node, Scan) else None
        if total is None:
            return rebuild(node, operands) if operands else node
        init = operands[node.place]
        labels = range(1 + len(shape_of(init)))
        lengths = dict(enumerate((node.length, *shape_of(init))))
        return total_of(
            [init, contract((rebuild(total, operands),), (labels,), labels[1:], lengths)]
        )

    return transform(exprs, visit)


def _stored_summand(node: Scan, stored: Mapping[object, Mapping[Operand, Scan]]) -> Scan | None:
    """Return the values of what each step adds to a carry, if they are stored and nothing else
    needs the carry."""
    loop = node.loop
    if node.kind == VALUES:
        return None
    carry = loop.carries[node.place]
    if not isinstance(carry.new, TensorAdd) or carry.symbol not in carry.new.operands:
        return None
    summand = total_of([own for own in carry.new.operands if own is not carry.symbol])
    others = [own.new for own in loop.carries if own is not carry]
    if carry.symbol in {*postorder([summand, *others, *loop.values])}:
        return None
    return stored.get(node.group, {}).get(summand)


def _size(*nodes: Basic) -> int:
    return sum(nominal_size(shape_of(node)) for node in nodes)
