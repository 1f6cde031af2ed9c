"""Scaled, repeated and permuted tensors; what lies on a diagonal is written into zeros."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import S

from ..core import Shape
from ..expressions import Einsum, View
from .context import Lowering
from .lowering_products import arranged_product
from .plan_builder import index_text
from .plans import origin


def lower_view(builder: Lowering, node: View) -> int:
    """A scaled core on axes of its own and others."""
    if is_on_diagonal(node):
        value = diagonal_value(builder, node)
        total = zeros_like(builder, [value], node.shape)
        write_diagonal(builder, total, value, node, add=False)
        return total
    if node.core is None:
        return builder.emit("full", _fill(builder, node), params=(node.shape,))
    value = _aligned(builder, node, node.output)
    if has_stretched_axes(node):
        return builder.emit("broadcast", value, params=(node.shape,))
    return value


def is_on_diagonal(node: View) -> bool:
    """Whether all entries but those on a diagonal are zeros."""
    return len(set(node.output)) < node.order


def has_stretched_axes(node: View) -> bool:
    """Whether a view is constant along some axes, or everywhere."""
    return node.core is None or bool(set(node.output) - set(node.subscripts[-1]))


def diagonal_value(builder: Lowering, node: View) -> int:
    """The entries on the diagonal that a view fills, axes in order of first appearance."""
    return _without_leading_ones(builder, node, list(dict.fromkeys(node.output)))


def narrow_value(builder: Lowering, node: View) -> int:
    """A view without the axes along which it is constant."""
    return _without_leading_ones(builder, node, node.output)


def zeros_like(builder: Lowering, values: Sequence[int], shape: Shape) -> int:
    """Zeros of the type of some values."""
    sources = [origin(builder.instructions, value) for value in values]
    return builder.emit_fresh("zeros", *dict.fromkeys(sources), params=(shape,))


def write_diagonal(builder: Lowering, target: int, value: int, node: View, *, add: bool) -> None:
    """Writes the entries that a view has on its diagonal into an array, or adds them to it."""
    output = index_text(node.output)
    diagonal = "".join(dict.fromkeys(output))
    builder.emit_fresh("write_diagonal", target, value, params=(f"{output}->{diagonal}", add))


def _without_leading_ones(builder: Lowering, node: View, output: Sequence[int]) -> int:
    if node.core is None:
        return _fill(builder, node)
    return builder.lowest(_aligned(builder, node, output))


def _fill(builder: Lowering, node: View) -> int:
    return builder.factor(node.scalars) if node.scalars else builder.value(S.One)


def _aligned(builder: Lowering, node: View, output: Sequence[int]) -> int:
    """The scaled core with its axes along ``output``, length-1 axes where it has none."""
    core, labels = node.core, node.subscripts[-1]
    assert core is not None
    scalar = builder.factor(node.scalars) if node.scalars else None
    if isinstance(core, Einsum) and builder.is_waiting(core) and len(set(labels)) == len(labels):
        kept = [i for i in output if i in labels]
        value = arranged_product(builder, core, [labels.index(i) for i in kept], scalar)
        return builder.arranged(value, kept, output)
    value = builder.value(core)
    value = value if scalar is None else builder.scaled(scalar, value)
    return builder.arranged(value, labels, output)
