"""The lowering of each type of node.

Every node becomes one or a few instructions, each distinct node once, so that what is shared is
computed once. Deltas and ones are written into place, never multiplied.
"""

from __future__ import annotations

from ...core import NodeTable, UnsupportedError
from ...expressions import (
    Adj,
    Cofactors,
    Constant,
    Det,
    Einsum,
    Elementwise,
    Extremum,
    ExtremumShare,
    Fourier,
    IntervalProducts,
    Inv,
    LeviCivita,
    LogCumSumExp,
    LogDet,
    LogSumExp,
    MatrixPower,
    OneHot,
    Picked,
    Positions,
    Ranking,
    Reshape,
    RunningSoftmax,
    Scan,
    Softmax,
    Solution,
    StackFunction,
    TensorAdd,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unknown,
    View,
    Zeros,
)
from .context import Lowering, Row
from .fourier import lower_fourier_basis
from .functions import (
    lower_cofactors,
    lower_det,
    lower_elementwise,
    lower_inverse,
    lower_logdet,
    lower_logsumexp,
    lower_reshape,
    lower_softmax,
)
from .orders import lower_extremum, lower_picked, lower_ranking, lower_share
from .products import lower_product
from .running import lower_logcumsumexp, lower_running_matrix, lower_triangle
from .scans import lower_scan
from .selectors import lower_positions
from .solutions import lower_solution
from .stacks import lower_matrix_power, lower_stack_function
from .sums import lower_sum
from .views import lower_view


def _refuse_unknown(builder: Lowering, node: Unknown) -> int:
    raise UnsupportedError(
        f"{node.name} is an unknown function: fill it in by .subs({node.name}, Lambda(x, …)), or "
        f"give {node} as an argument"
    )


def _refuse_unevaluated(builder: Lowering, node: Unevaluated) -> int:
    raise UnsupportedError(
        f"{str(node)[:80]} stays as it is under .doit(): no closed form of it is known; take the "
        "integral of the scalar function of an entry, and apply the result with elementwise"
    )


# The lowering of each type of node.
LOWERINGS: NodeTable[Row] = NodeTable(
    "numerical code",
    {
        TensorSymbol: lambda builder, node: builder.emit("argument", params=(node,)),
        Constant: lambda builder, node: builder.emit("constant", params=(node,)),
        LeviCivita: lambda builder, node: builder.value(Constant(node.array)),
        Zeros: lambda builder, node: builder.emit("zeros", params=(node.shape,)),
        Positions: lower_positions,
        Triangle: lower_triangle,
        Fourier: lower_fourier_basis,
        **dict.fromkeys([IntervalProducts, RunningSoftmax], lower_running_matrix),
        LogCumSumExp: lower_logcumsumexp,
        Einsum: lower_product,
        View: lower_view,
        TensorAdd: lower_sum,
        Elementwise: lower_elementwise,
        LogSumExp: lower_logsumexp,
        Softmax: lower_softmax,
        Inv: lower_inverse,
        Det: lower_det,
        LogDet: lower_logdet,
        Adj: lower_cofactors,
        Cofactors: lower_cofactors,
        StackFunction: lower_stack_function,
        MatrixPower: lower_matrix_power,
        Reshape: lower_reshape,
        OneHot: lambda builder, node: builder.emit(
            "one_hot", builder.value(node.indices), params=(node.length,)
        ),
        Extremum: lower_extremum,
        ExtremumShare: lower_share,
        Picked: lower_picked,
        Ranking: lower_ranking,
        Scan: lower_scan,
        Solution: lower_solution,
        Unevaluated: _refuse_unevaluated,
        Unknown: _refuse_unknown,
    },
)
