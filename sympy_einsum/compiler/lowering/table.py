"""The lowering of each type of node.

Every node becomes one or a few instructions, each distinct node once, so that what is shared is
computed once. Deltas and ones are written into place, never multiplied.
"""

from __future__ import annotations

from ... import expressions as nodes
from ...core import NodeTable, UnsupportedError
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


def _refuse_unknown(builder: Lowering, node: nodes.Unknown) -> int:
    raise UnsupportedError(
        f"{node.name} is an unknown function: fill it in by .subs({node.name}, Lambda(x, …)), or "
        f"give {node} as an argument"
    )


def _refuse_unevaluated(builder: Lowering, node: nodes.Unevaluated) -> int:
    raise UnsupportedError(
        f"{str(node)[:80]} stays as it is under .doit(): no closed form of it is known; take the "
        "integral of the scalar function of an entry, and apply the result with elementwise"
    )


# The lowering of each type of node.
LOWERINGS: NodeTable[Row] = NodeTable(
    "numerical code",
    {
        nodes.TensorSymbol: lambda builder, node: builder.emit("argument", params=(node,)),
        nodes.Constant: lambda builder, node: builder.emit("constant", params=(node,)),
        nodes.LeviCivita: lambda builder, node: builder.value(nodes.Constant(node.array)),
        nodes.Zeros: lambda builder, node: builder.emit("zeros", params=(node.shape,)),
        nodes.Positions: lower_positions,
        nodes.Triangle: lower_triangle,
        nodes.Fourier: lower_fourier_basis,
        **dict.fromkeys([nodes.IntervalProducts, nodes.RunningSoftmax], lower_running_matrix),
        nodes.LogCumSumExp: lower_logcumsumexp,
        nodes.Einsum: lower_product,
        nodes.View: lower_view,
        nodes.TensorAdd: lower_sum,
        nodes.Elementwise: lower_elementwise,
        nodes.LogSumExp: lower_logsumexp,
        nodes.Softmax: lower_softmax,
        nodes.Inv: lower_inverse,
        nodes.Det: lower_det,
        nodes.LogDet: lower_logdet,
        nodes.Adj: lower_cofactors,
        nodes.Cofactors: lower_cofactors,
        nodes.StackFunction: lower_stack_function,
        nodes.MatrixPower: lower_matrix_power,
        nodes.Reshape: lower_reshape,
        nodes.OneHot: lambda builder, node: builder.emit(
            "one_hot", builder.value(node.indices), params=(node.length,)
        ),
        nodes.Extremum: lower_extremum,
        nodes.ExtremumShare: lower_share,
        nodes.Picked: lower_picked,
        nodes.Ranking: lower_ranking,
        nodes.Scan: lower_scan,
        nodes.Solution: lower_solution,
        nodes.Unevaluated: _refuse_unevaluated,
        nodes.Unknown: _refuse_unknown,
    },
)
