"""Lowering of views: scaled, repeated and permuted tensors, and zero-padded ones."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import S

from ...expressions import Einsum, Operand, Positions, View, is_padded_product, is_window
from .context import Lowering
from .products import padded_product
from .selectors import Axis, ZeroPadded, emit_padded, padded_ones, whole


def lower_view(builder: Lowering, node: View) -> int:
    """Lower a scaled core on axes of its own and others."""
    if node.is_constant_fill:
        return builder.emit("full", _fill(builder, node), params=(node.shape,))
    padded = padded_view(builder, node)
    value = emit_padded(builder, padded, node.shape)
    if padded.is_whole and has_stretched_axes(node):
        return builder.emit("broadcast", value, params=(node.shape,))
    return value


def is_padded(node: Operand) -> bool:
    """Tell whether all entries but those on a diagonal or at some positions are zeros."""
    if isinstance(node, View):
        on_diagonal = len(set(node.output)) < node.order
        return on_diagonal or (node.core is not None and is_padded(node.core))
    if isinstance(node, Positions):
        return not is_window(node)
    return is_padded_product(node)


def padded_value(builder: Lowering, node: Operand) -> ZeroPadded:
    """Return the entries of a node that aren't known to be zeros, and where they are."""
    if isinstance(node, View):
        return padded_view(builder, node)
    if isinstance(node, Positions):
        return padded_ones(node, range(node.order), builder.value(S.One))
    assert isinstance(node, Einsum)
    return padded_product(builder, node, range(node.order))


def has_stretched_axes(node: View) -> bool:
    """Tell whether a view is constant along some axes, or everywhere."""
    return node.core is None or bool(set(node.output) - set(node.subscripts[-1]))


def narrow_value(builder: Lowering, node: Operand) -> int:
    """Lower a view without the leading axes along which it is constant, unless it is
    zero-padded."""
    padded = padded_view(builder, node)
    return padded.value if padded.is_whole else emit_padded(builder, padded, node.shape)


def _fill(builder: Lowering, node: Operand) -> int:
    return builder.factor(node.scalars) if node.scalars else builder.value(S.One)


def padded_view(builder: Lowering, node: Operand) -> ZeroPadded:
    """Lower a view to a value that has no leading axes along which it is constant."""
    if node.core is None:
        return whole(_fill(builder, node), node.output)
    kept = [i for i in dict.fromkeys(node.output) if i in node.subscripts[-1]]
    inner = _padded_core(builder, node, kept)
    known = dict(zip(kept, inner.axes, strict=True))
    number: dict[object, int] = {}
    axes = []
    for index in node.output:
        # Along an axis that the core hasn't it is constant.
        axis = known.get(index, Axis(None, -1 - index))
        own = None if axis.label is None else number.setdefault(axis.label, len(number))
        axes.append(Axis(axis.part, own))
    labels = [number[label] for label in inner.labels]
    # The value may lack leading axes, along which it is constant.
    missing = len(labels) - len(builder.instructions[inner.value].shape)
    value = builder.arranged(inner.value, labels[missing:], range(len(number)))
    return ZeroPadded(builder.lowest(value), tuple(axes))


def _padded_core(builder: Lowering, node: Operand, kept: Sequence[int]) -> ZeroPadded:
    """Return the scaled core with its axes in some order."""
    core, labels = node.core, node.subscripts[-1]
    scalar = builder.factor(node.scalars) if node.scalars else None
    if len(set(labels)) == len(labels):
        axes = [labels.index(i) for i in kept]
        if isinstance(core, Positions) and not is_window(core):
            return padded_ones(core, axes, builder.value(S.One) if scalar is None else scalar)
        is_own = core in builder.only_scaled or builder.is_waiting(core)
        if isinstance(core, Einsum) and (is_own or is_padded_product(core)):
            return padded_product(builder, core, axes, scalar)
    assert core is not None
    value = builder.value(core)
    value = value if scalar is None else builder.scaled(scalar, value)
    return whole(builder.arranged(value, labels, kept), kept)
