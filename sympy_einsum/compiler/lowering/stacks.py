"""Lowering of functions of stacks of matrices."""

from __future__ import annotations

from sympy import Rational

from ...analysis import is_symmetric
from ...expressions import (
    DetSigns,
    EigenValues,
    EigenVectors,
    LeftVectors,
    LogDetStack,
    MatrixPower,
    Operand,
    QFactor,
    RFactor,
    RightVectors,
    SingularValues,
    StackFunction,
    slot,
)
from .context import Lowering

# The decompositions with several results, and the place of each in them.
PARTS: dict[str, dict[type[StackFunction], int]] = {
    "slogdet": {DetSigns: 0, LogDetStack: 1},
    "eigh": {EigenValues: 0, EigenVectors: 1},
    "qr": {QFactor: 0, RFactor: 1},
    "svd": {LeftVectors: 0, SingularValues: 1, RightVectors: 2},
}
DECOMPOSITION = {kind: name for name, kinds in PARTS.items() for kind in kinds}
# Parts that cost less alone, and the functions that compute them.
ALONE = {EigenValues: "eigvalsh", SingularValues: "svdvals", RFactor: "qr_r"}


def lower_stack_function(builder: Lowering, node: StackFunction) -> int:
    """Emit a function of a stack; all parts of one decomposition are computed together."""
    matrices, *directions = node.operands
    value = builder.value(matrices)
    if node.is_of_symmetric and not is_symmetric(matrices):
        value = _symmetric_part(builder, matrices, value)
    tail = node.shape[matrices.order - 2 :]
    name = DECOMPOSITION.get(type(node))
    if name is None:
        values = [value, *map(builder.value, directions)]
        return builder.emit("stacked", *values, params=(node.function, tail))
    others = [kind.of(matrices) for kind in PARTS[name] if kind is not type(node)]
    alone = ALONE.get(type(node))
    if alone is not None and not any(other in builder.uses for other in others):
        return builder.emit("stacked", value, params=(alone, tail))
    place = PARTS[name][type(node)]
    together = builder.emit("decomposed", value, params=(name,))
    return builder.emit("part", together, params=(place, tail))


def lower_matrix_power(builder: Lowering, node: MatrixPower) -> int:
    """Lower to a call of the library, of block matrices where there are directions."""
    return builder.emit("matrix_power", *map(builder.value, node.operands), params=(node.exponent,))


def _symmetric_part(builder: Lowering, matrices: Operand, value: int) -> int:
    """Emit (A + A') / 2."""
    axes = list(range(matrices.order))
    transposed = builder.emit("transpose", value, params=((*axes[:-2], axes[-1], axes[-2]),))
    mean = (slot(0) + slot(1)) * Rational(1, 2)
    return builder.emit("elementwise", value, transposed, params=(mean,))
