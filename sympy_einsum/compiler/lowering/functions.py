"""Lowering of entrywise functions, and of functions of axes and of matrices."""

from __future__ import annotations

from ...analysis import definiteness
from ...expressions import (
    EXP,
    LOG,
    Adj,
    AxesFunction,
    Cofactors,
    Det,
    Elementwise,
    Inv,
    LogDet,
    LogSumExp,
    Reshape,
    Softmax,
    View,
    apply_body,
    slot,
    softmax_inside_log,
)
from ..ir.instruction_rules import SPARSE
from .context import Lowering


def lower_elementwise(builder: Lowering, node: Elementwise) -> int:
    """Lower a function of entries; the logarithm of a softmax needs no softmax."""
    share = softmax_inside_log(node)
    if share is not None:
        return _Exponentials(builder, share).logarithm()
    inputs = [builder.value(operand) for operand in node.operands]
    op = "elementwise" if node.shape else "scalar"
    return builder.emit(op, *inputs, params=(node.body,))


def lower_reshape(builder: Lowering, node: Reshape) -> int:
    """Emit a reshape in C order."""
    return builder.emit("reshape", builder.value(node.operands[0]), params=(node.shape,))


# --- functions of matrices


def lower_inverse(builder: Lowering, node: Inv) -> int:
    """Lower an inverse that isn't only multiplied."""
    return _matrix_function(builder, "inv", node)


def lower_logdet(builder: Lowering, node: LogDet) -> int:
    """Lower log |det X|."""
    factors = builder.sparse_factors(node.operands[0])
    if factors is not None:
        return builder.emit("by_factors", factors, params=("logdet", SPARSE, ()))
    return _matrix_function(builder, "logdet", node)


def lower_det(builder: Lowering, node: Det) -> int:
    """Lower a determinant; of a diagonal matrix to a product."""
    (matrix,) = node.operands
    if not (isinstance(matrix, View) and matrix.output == (0, 0)):
        return _matrix_function(builder, "det", node)
    if matrix.scalars or matrix.core is None:
        return _matrix_function(builder, "det", node)
    core = builder.value(matrix.core)
    if matrix.core.order == 2:
        core = builder.emit("diagonal", core, params=("ii->i",))
    return builder.emit("prod", core)


def lower_cofactors(builder: Lowering, node: Adj | Cofactors) -> int:
    """Lower a derivative of det; of the first order to a transposed adjugate."""
    value = builder.emit("cofactors", builder.value(node.operands[0]), params=(node.degree,))
    return builder.emit("transpose", value, params=((1, 0),)) if node.degree == 1 else value


def _matrix_function(builder: Lowering, name: str, node: Inv | Det | LogDet) -> int:
    (matrix,) = node.operands
    return builder.emit(name, builder.value(matrix), params=(definiteness(matrix),))


# --- functions of axes


def lower_logsumexp(builder: Lowering, node: LogSumExp) -> int:
    """Lower log Σ exp."""
    if _shares_exponentials(builder, node):
        return _Exponentials(builder, node).total()
    return _over_axes(builder, "logsumexp", node)


def lower_softmax(builder: Lowering, node: Softmax) -> int:
    """Lower exp / Σ exp."""
    if _shares_exponentials(builder, node):
        return _Exponentials(builder, node).share()
    return _over_axes(builder, "softmax", node)


def _over_axes(builder: Lowering, name: str, node: AxesFunction) -> int:
    (operand,) = node.operands
    axes = None if len(node.axes) == operand.order else node.axes
    return builder.emit(name, builder.value(operand), params=(axes,))


def _shares_exponentials(builder: Lowering, node: AxesFunction) -> bool:
    """Tell whether log Σ exp, exp / Σ exp or its logarithm of the same tensor are needed too."""
    total = LogSumExp.over(node.operands[0], node.axes)
    share = Softmax.over(node.operands[0], node.axes)
    logarithm = apply_body(LOG, (share,)) in builder.uses
    shares = builder.uses[share] - logarithm
    return (total in builder.uses) + (shares > 0) + logarithm > 1


class _Exponentials:
    """Functions of one tensor x and some of its axes, in steps that they share."""

    def __init__(self, builder: Lowering, node: AxesFunction):
        self.builder = builder
        self.node = node
        (operand,) = node.operands
        self.order = operand.order
        self.is_whole = len(node.axes) == operand.order
        self.axes = None if self.is_whole else node.axes
        x = builder.value(operand)
        self.max_shift = builder.emit("max_shift", x, params=(self.axes,))
        self.shifted = builder.emit("add", x, self.max_shift, params=((1, -1),))
        self.weights = builder.emit("elementwise", self.shifted, params=(EXP,))

    def total(self) -> int:
        """Emit log Σ exp(x)."""
        total = self._log_total()
        max_shift = self.builder.emit("index", self.max_shift, params=(self._entries("0"),))
        return self.builder.emit("add", total, max_shift, params=((1, 1),))

    def share(self) -> int:
        """Emit exp(x) / Σ exp(x)."""
        total = self._kept(self._sum())
        quotient = slot(0) / slot(1)
        return self.builder.emit("elementwise", self.weights, total, params=(quotient,))

    def logarithm(self) -> int:
        """Return the logarithm of that."""
        total = self._kept(self._log_total())
        return self.builder.emit("add", self.shifted, total, params=((1, -1),))

    def _log_total(self) -> int:
        return self.builder.emit("log_total", self.weights, self._sum(), params=(self.axes,))

    def _sum(self) -> int:
        return self.builder.emit("sum", self.weights, params=(self.axes,))

    def _kept(self, total: int) -> int:
        """Return a total with its axes put back."""
        if self.is_whole:
            return total
        return self.builder.lowest(
            self.builder.emit("index", total, params=(self._entries("None"),))
        )

    def _entries(self, entry: str) -> tuple[str, ...]:
        return tuple(entry if k in self.node.axes else ":" for k in range(self.order))
