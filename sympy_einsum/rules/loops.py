"""Rules for loops whose results have a form without a loop."""

from __future__ import annotations

from sympy import Basic, Mul, S

from ..analysis import Barriers
from ..expressions import (
    LAST,
    Carry,
    Operand,
    Recurrence,
    Scan,
    TensorAdd,
    Triangle,
    View,
    contract,
    depending,
    order_of,
    over_batch,
    repeated,
    replace_nodes,
    scale,
    shape_of,
    total_of,
)


def loop_as_sum(node: Scan, around: Barriers) -> Operand | None:
    """A carry to which each step adds what doesn't depend on carries: its last value is a sum over
    the steps, its values are running sums."""
    loop = node.loop
    found = _carry_of(node, loop)
    if found is None:
        return None
    carry, is_after = found
    terms = _terms(carry.new)
    if carry.symbol not in terms:
        return None
    terms.remove(carry.symbol)
    changing = {*depending(terms, [*[own.symbol for own in loop.carries], loop.index])}
    if not terms or any(term in changing for term in terms):
        return None
    step = total_of(terms) if len(terms) > 1 else terms[0]
    steps = _over_steps(loop, step)
    if steps is None:
        return None
    axes = range(order_of(steps))
    lengths = dict(enumerate(shape_of(steps)))
    if node.kind == LAST:
        return total_of([carry.init, contract((steps,), (axes,), axes[1:], lengths)])
    count = loop.length
    # Row t of the triangle has ones for the steps before t, and for t itself after it.
    offset = S.Zero if is_after else S.One
    triangle = Triangle(count, count, offset)
    label = len(axes)
    labels = (label, 0) if loop.reverse else (0, label)
    running = contract(
        (steps, triangle), (axes, labels), (label, *axes[1:]), {**lengths, label: count}
    )
    return total_of([repeated(carry.init, count), running])


def loop_as_power(node: Scan, around: Barriers) -> Operand | None:
    """A carry that each step multiplies by one scalar."""
    loop = node.loop
    if node.kind != LAST:
        return None
    carry = loop.carries[node.place]
    new, factor = carry.new, S.One
    if isinstance(new, View) and new.core is carry.symbol and new.output == new.subscripts[-1]:
        factor = Mul(*new.scalars)
    elif not shape_of(new) and new.is_Mul and carry.symbol in new.args:
        factor = Mul(*[own for own in new.args if own is not carry.symbol])
    varying = loop.parameters[: len(loop.carries) + len(loop.inputs)]
    if factor is S.One or factor in {*depending([factor], [*varying, loop.index])}:
        return None
    (factor,) = replace_nodes([factor], {own.symbol: own.stacked for own in loop.invariants})
    power = factor**loop.length
    return scale(power, carry.init)


def _carry_of(node: Scan, loop: Recurrence) -> tuple[Carry, bool] | None:
    """Return the carry that a result is, and whether it is that after each step."""
    if node.kind == LAST:
        return loop.carries[node.place], True
    value = loop.values[node.place]
    for carry in loop.carries:
        if value in (carry.symbol, carry.new):
            return carry, value is carry.new
    return None


def _terms(value: Operand) -> list[Operand]:
    if isinstance(value, TensorAdd):
        return list(value.operands)
    return list(value.args) if not shape_of(value) and value.is_Add else [value]


def _over_steps(loop: Recurrence, step: Operand) -> Operand | None:
    """Return the values of an expression at all steps."""
    entries: dict[Basic, Operand] = {own.symbol: own.stacked for own in loop.inputs}
    known: dict[Basic, Operand] = {own.symbol: own.stacked for own in loop.invariants}
    if step in {*depending([step], entries)}:
        batch = over_batch(step, entries, loop.length)
        return None if batch is None else replace_nodes([batch], known)[0]
    (value,) = replace_nodes([step], known)
    return repeated(value, loop.length)
