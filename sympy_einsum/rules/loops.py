"""Rules for loops whose results have a form without a loop.

A carry is *closed* if its values at all steps are one expression of the inputs: sums, products
and logarithms of sums of exponentials. What a step computes from closed carries is computed
for all steps at once. Other linear recurrences c a_t + b_t stay loops: their closed form, a product
with the interval products of a, is longer than the recurrence that it is computed by.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

from sympy import Basic, Max, Min, Mul, S

from ..analysis import Barriers, cost, inlined_product, with_common_output
from ..contraction_order import nominal_size
from ..core import logaddexp, postorder
from ..expressions import (
    LAST,
    BoundTensor,
    Carry,
    Elementwise,
    Extremum,
    IntervalProducts,
    LogCumSumExp,
    LogSumExp,
    MatrixPower,
    Operand,
    Picked,
    Recurrence,
    Scan,
    Selection,
    TensorAdd,
    Triangle,
    Unit,
    apply_body,
    contract,
    contract_part,
    depending,
    order_of,
    over_batch,
    repeated,
    replace_nodes,
    scale,
    shape_of,
    slot,
    total_of,
)


class Closed(NamedTuple):
    """The values of a carry without steps: the last one, and those before or after all steps."""

    last: Callable[[], Operand]
    values: Callable[[bool], Operand]


# How a carry is closed, if it is.
Form: TypeAlias = Callable[[Recurrence, Carry], Closed | None]


def loop_as_sum(node: Scan, around: Barriers) -> Operand | None:
    """Sum a carry to which each step adds what doesn't depend on carries: its last value is a sum
    over the steps, its values are running sums."""
    return _result(node, _as_sum)


def loop_as_product(node: Scan, around: Barriers) -> Operand | None:
    """Multiply up a carry that each step multiplies by what doesn't depend on carries: its last
    value is a product over the steps, its values are running products."""
    return _result(node, _as_product)


def loop_as_logsumexp(node: Scan, around: Barriers) -> Operand | None:
    """Take the log-sum-exp of a carry and of what doesn't depend on carries: its last value is that
    over the first carry and the steps, its values are running ones."""
    return _result(node, _as_logsumexp)


def loop_as_extremum(node: Scan, around: Barriers) -> Operand | None:
    """Take the maximum or minimum of a carry and of what doesn't depend on carries; only in code,
    since steps halve the derivative at ties, which an extremum shares equally."""
    return _result(node, _as_extremum)


def loop_as_power(node: Scan, around: Barriers) -> Operand | None:
    """Raise to a power a carry that each step multiplies by one scalar, or by the entries of one
    tensor."""
    loop = node.loop
    if node.kind != LAST:
        return None
    carry = loop.carries[node.place]
    factor = _factor(carry)
    if factor is None or factor is S.One or _changes(loop, factor):
        return None
    factor = _without_bound(loop, factor)
    if not shape_of(factor):
        return scale(factor**loop.length, carry.init)
    axes = range(order_of(factor))
    power = apply_body(slot(0) ** slot(1), (factor, loop.length))
    return contract((carry.init, power), (axes, axes), axes, dict(enumerate(shape_of(factor))))


def loop_as_matrix_power(node: Scan, around: Barriers) -> Operand | None:
    """Raise to a power a carry that each step multiplies by one matrix, where the power of the
    matrix costs less than the steps."""
    loop = node.loop
    if node.kind != LAST or loop.length.is_Integer:
        return None
    carry = loop.carries[node.place]
    if not shape_of(carry.new):
        return None
    product = with_common_output(inlined_product(carry.new))
    places = [k for k, own in enumerate(product.operands) if own is carry.symbol]
    if len(places) != 1 or product.output != tuple(range(len(product.output))):
        return None
    labels = product.subscripts[places[0]]
    moved = [pair for pair in zip(product.output, labels, strict=True) if pair[0] != pair[1]]
    rest = product.replaced(places)
    if len(moved) != 1 or moved[0][1] in product.output or moved[0][1] not in product.lengths:
        return None
    (row, column) = moved[0]
    ends = {i for own in rest.subscripts for i in own} & {*product.output, *labels}
    if ends != {row, column}:
        return None
    operands = [*rest.scalars, *rest.operands]
    terms = [*[()] * len(rest.scalars), *rest.subscripts]
    matrix = contract_part(operands, terms, (row, column), product.lengths)
    if _changes(loop, matrix):
        return None
    power = MatrixPower._build((_without_bound(loop, matrix),), (loop.length,))
    found = contract_part(
        (power, carry.init), ((row, column), labels), product.output, product.lengths
    )
    given = [carry.init, *[own.stacked for own in loop.invariants]]
    return found if cost([found], given) < cost([node], given) else None


def values_of_closed_carries(node: Scan, around: Barriers) -> Operand | None:
    """Compute the values of a step from closed carries, for all steps at once."""
    loop = node.loop
    if node.kind == LAST:
        return None
    value = loop.values[node.place]
    after = {
        carry.new: BoundTensor("after", k, loop.level, shape_of(carry.new))
        for k, carry in enumerate(loop.carries)
    }
    (value,) = replace_nodes([value], after)
    used = {*postorder([value])}
    entries = loop.stacks
    for carry in loop.carries:
        symbols = {carry.symbol: False, after[carry.new]: True}
        if used.isdisjoint(symbols):
            continue
        closed = next((own for form in FORMS if (own := form(loop, carry))), None)
        if closed is None:
            return None
        entries |= {own: closed.values(flag) for own, flag in symbols.items() if own in used}
    changing = depending([value], [*entries, loop.index])
    # Nothing larger than the stacks is computed for all steps.
    limit = max([nominal_size(shape_of(own)) for own in (value, *entries)])
    if loop.index in changing or any(nominal_size(shape_of(own)) > limit for own in changing):
        return None
    if value not in changing:
        return None
    batch = over_batch(value, entries, loop.length)
    return None if batch is None else _without_bound(loop, batch)


def _result(node: Scan, form: Form) -> Operand | None:
    """Return a result that is a closed carry."""
    loop = node.loop
    if node.kind == LAST:
        closed = form(loop, loop.carries[node.place])
        return closed.last() if closed else None
    value = loop.values[node.place]
    for carry in loop.carries:
        if value in (carry.symbol, carry.new):
            closed = form(loop, carry)
            return closed.values(value is carry.new) if closed else None
    return None


def _as_sum(loop: Recurrence, carry: Carry) -> Closed | None:
    terms = _terms(carry.new)
    if carry.symbol not in terms:
        return None
    terms.remove(carry.symbol)
    if not terms:
        return None
    steps = _over_steps(loop, total_of(terms) if len(terms) > 1 else terms[0])
    if steps is None:
        return None
    axes, count = range(order_of(steps)), loop.length
    lengths = dict(enumerate(shape_of(steps)))

    def last() -> Operand:
        return total_of([carry.init, contract((steps,), (axes,), axes[1:], lengths)])

    def values(is_after: bool) -> Operand:
        # Row t of the triangle has ones for the steps before t, and for t itself after it.
        triangle = Triangle(count, count, S.Zero if is_after else S.One)
        label = len(axes)
        labels = (label, 0) if loop.reverse else (0, label)
        running = contract(
            (steps, triangle), (axes, labels), (label, *axes[1:]), {**lengths, label: count}
        )
        return total_of([repeated(carry.init, count), running])

    return Closed(last, values)


def _as_product(loop: Recurrence, carry: Carry) -> Closed | None:
    factor = _factor(carry)
    if factor is None or factor not in {*depending([factor], [o.symbol for o in loop.inputs])}:
        return None
    steps = _over_steps(loop, factor)
    if steps is None:
        return None
    # One scalar a step multiplies all entries.
    whole = range(1, order_of(carry.symbol) + 1)
    axes = whole[: order_of(factor)]
    lengths = dict(enumerate((loop.length, *shape_of(carry.symbol))))
    row, column, label = (len(lengths) + k for k in range(3))
    moved = contract_part((steps,), ((0, *axes),), (*axes, 0), lengths)
    products = IntervalProducts.of(moved)
    count = loop.length
    lengths |= {row: count + 1, column: count + 1, label: count}
    # An end of all intervals: those before the first step to come, or behind the first one made.
    end = (column, Unit(count + 1, count)) if loop.reverse else (row, Unit(count + 1, S.Zero))
    other = row if loop.reverse else column

    def along(selector: Operand, *new: int) -> Operand:
        terms = ((*axes, row, column), end[:1], (*new, other))
        found = contract_part((products, end[1], selector), terms, (*new, *axes), lengths)
        output = (*new, *whole)
        return contract_part((carry.init, found), (whole, (*new, *axes)), output, lengths)

    def last() -> Operand:
        return along(Unit(count + 1, S.Zero if loop.reverse else count))

    def values(is_after: bool) -> Operand:
        start = S.One if is_after != loop.reverse else S.Zero
        return along(Selection(count + 1, start, S.One, count), label)

    return Closed(last, values)


def _as_logsumexp(loop: Recurrence, carry: Carry) -> Closed | None:
    path = _joined(loop, carry, (logaddexp,))
    if path is None:
        return None
    _, joined = path
    axes = range(order_of(joined))
    lengths = dict(enumerate(shape_of(joined)))
    moved = (*axes[1:], 0)

    def running() -> Operand:
        return LogCumSumExp.of(contract((joined,), (axes,), moved, lengths))

    return Closed(
        lambda: LogSumExp.over(joined, (0,)),
        lambda is_after: _at_steps(loop, running(), moved, is_after),
    )


def _as_extremum(loop: Recurrence, carry: Carry) -> Closed | None:
    path = _joined(loop, carry, (Max, Min))
    if path is None:
        return None
    name, joined = "max" if path[0] is Max else "min", path[1]
    axes = range(order_of(joined))
    return Closed(
        lambda: Extremum.over(joined, (0,), name),
        lambda is_after: _at_steps(loop, Picked.over(joined, (0,), f"cum{name}"), axes, is_after),
    )


# Those by which a derivative doesn't change.
FORMS: tuple[Form, ...] = (_as_sum, _as_product, _as_logsumexp)


def _joined(
    loop: Recurrence, carry: Carry, kinds: Collection[type[Basic]]
) -> tuple[type[Basic], Operand] | None:
    """Return the function of a carry and of something else that each step is, and one tensor of the
    first carry and of that at all steps, in the order in which they are made."""
    own = _reduced(carry)
    steps = _over_steps(loop, own[1]) if own and own[0] in kinds else None
    if own is None or steps is None:
        return None
    count = loop.length
    axes = range(order_of(steps))
    label = len(axes)
    lengths = {**dict(enumerate(shape_of(steps))), label: count + 1}
    output = (label, *axes[1:])
    first = Selection(count + 1, S.Zero, S.One, S.One)
    init = contract(
        (repeated(carry.init, S.One), first), (axes, (0, label)), output, {**lengths, 0: S.One}
    )
    start, step = (count, S.NegativeOne) if loop.reverse else (S.One, S.One)
    behind = Selection(count + 1, start, step, count)
    return own[0], total_of([init, contract((steps, behind), (axes, (0, label)), output, lengths)])


def _at_steps(loop: Recurrence, path: Operand, labels: Sequence[int], is_after: bool) -> Operand:
    """Return the values before or after all steps of a path whose axis of steps is labelled 0."""
    count = loop.length
    label = order_of(path)
    start = S.One if is_after else S.Zero
    chosen = (
        Selection(count + 1, start + count - 1, S.NegativeOne, count)
        if loop.reverse
        else Selection(count + 1, start, S.One, count)
    )
    lengths = {**dict(zip(labels, shape_of(path), strict=True)), label: count}
    output = (label, *range(1, label))
    return contract((path, chosen), (labels, (label, 0)), output, lengths)


def _reduced(carry: Carry) -> tuple[type[Basic], Operand] | None:
    """Return the function of a carry and of something else that a step is, and what that is."""
    new, symbol = carry.new, carry.symbol
    if isinstance(new, Elementwise) and symbol in new.operands:
        body, symbol = new.body, slot(new.operands.index(symbol))
    else:
        body = new
    kind = type(body)
    if kind not in (Max, Min, logaddexp) or body.args.count(symbol) != 1:
        return None
    rest = [arg for arg in body.args if arg != symbol]
    other = kind(*rest) if len(rest) > 1 else rest[0]
    if body is new:
        return kind, other
    return kind, apply_body(other, new.operands)


def _factor(carry: Carry) -> Operand | None:
    """Return the tensor by whose entries a step multiplies those of a carry, or the scalar by which
    it multiplies all."""
    new, symbol = carry.new, carry.symbol
    if not shape_of(new):
        if not new.is_Mul or new.args.count(symbol) != 1:
            return None
        return Mul(*[own for own in new.args if own != symbol])
    product = with_common_output(inlined_product(new))
    output = tuple(range(order_of(new)))
    places = [k for k, own in enumerate(product.operands) if own is symbol]
    if product.output != output or len(places) != 1 or product.subscripts[places[0]] != output:
        return None
    rest = product.replaced(places)
    if not rest.operands:
        return Mul(*rest.scalars)
    operands = [*rest.scalars, *rest.operands]
    terms = [*[()] * len(rest.scalars), *rest.subscripts]
    return contract_part(operands, terms, output, product.lengths)


def _terms(value: Operand) -> list[Operand]:
    if isinstance(value, TensorAdd):
        return list(value.operands)
    return list(value.args) if not shape_of(value) and value.is_Add else [value]


def _changes(loop: Recurrence, value: Operand) -> bool:
    """Tell whether something isn't the same at all steps."""
    varying = loop.parameters[: len(loop.carries) + len(loop.inputs)]
    return value in {*depending([value], [*varying, loop.index])}


def _without_bound(loop: Recurrence, value: Operand) -> Operand:
    """Replace the symbols of invariants by their values."""
    return replace_nodes([value], loop.invariant_values)[0]


def _over_steps(loop: Recurrence, step: Operand) -> Operand | None:
    """Return the values of an expression that doesn't depend on carries at all steps."""
    carries = [own.symbol for own in loop.carries]
    if step in {*depending([step], [*carries, loop.index])}:
        return None
    entries = loop.stacks
    if step in {*depending([step], entries)}:
        batch = over_batch(step, entries, loop.length)
        return None if batch is None else _without_bound(loop, batch)
    return repeated(_without_bound(loop, step), loop.length)
