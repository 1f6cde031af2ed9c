"""Lowering of expressions to a straight-line program over array primitives.

The forms that plans are made from, the lowering of each node, and the passes that every backend
needs, in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sympy import Expr

from ..contraction_order import Optimizer, nominal_length
from ..core import tuning
from ..expressions import (
    Operand,
    Positions,
    Scan,
    TensorAdd,
    TensorSymbol,
    View,
    fuse_loops,
    kinds_in,
)
from ..rules import (
    by_diagonals,
    by_low_rank,
    distribute_scalar_contractions,
    hoist_inputs,
    lift_deltas,
    push_diagonals_down,
    push_slices_down,
    sum_stored_values,
    with_partial_sums,
)
from .ir.instruction_rules import Instruction
from .ir.plans import Plan, plan_cost, without_dead_code
from .lowering.context import Lowering
from .lowering.scheduling import SparseForm
from .lowering.table import LOWERINGS
from .passes.common_factors import factored, with_known_multiples
from .passes.factorizations import with_factors
from .passes.layouts import laid_out
from .passes.scatters import merge_scatters
from .passes.shared_calls import share_calls


def make_plan(exprs: Sequence[Operand]) -> Plan:
    """Lower tensor expressions and SymPy scalars to a plan, for any axis lengths."""
    return plan_prepared(prepare(exprs))


class Prepared(NamedTuple):
    """Expressions in the forms that plans are made from, whatever the lengths of axes are; two
    where the cheaper plan is taken."""

    forms: Sequence[Sequence[Operand]]

    def multiplied_out(self, size: Callable[[Expr], int]) -> list[Operand] | None:
        """Return what is lowered for some lengths, None where two plans are compared."""
        return [*by_low_rank(self.forms[0], size)[0]] if len(self.forms) == 1 else None


def prepare(exprs: Sequence[Operand]) -> Prepared:
    """Bring expressions into the forms that plans are made from."""
    for rewrite, kind in _REWRITES:
        if _holds(exprs, kind):
            exprs = rewrite(exprs)
    apart = distribute_scalar_contractions(exprs) if _holds(exprs, TensorAdd) else exprs
    return Prepared([exprs] if apart is exprs else [exprs, apart])


# Rewrites before lowering, in this order, and the kind of nodes without which they change nothing.
_REWRITES: tuple[tuple[Callable[[Sequence[Operand]], Sequence[Operand]], type], ...] = (
    (fuse_loops, Scan),
    (sum_stored_values, Scan),
    (fuse_loops, Scan),
    (hoist_inputs, Scan),
    (by_diagonals, TensorSymbol),
    (lift_deltas, View),
    (push_diagonals_down, View),
    (push_slices_down, Positions),
)


def _holds(exprs: Sequence[Operand], kind: type) -> bool:
    """Tell whether nodes of a kind occur in a graph."""
    return any(issubclass(own, kind) for expr in exprs for own in kinds_in(expr))


def plan_prepared(
    prepared: Prepared,
    size: Callable[[Expr], int] = nominal_length,
    optimize: Optimizer = "auto",
    cse: bool = True,
    by_rows: Collection[str] = frozenset(),
    owns_results: bool = True,
    systems: Mapping[Operand, SparseForm] = MappingProxyType({}),
) -> Plan:
    """Lower expressions to a plan.

    Parameters
    ==========

    prepared : the expressions, in the forms that plans are made from
    size : the number that an axis length counts as where contraction orders are compared
    optimize : how opt_einsum finds contraction orders
    cse : whether what several of the expressions need is computed once
    by_rows : the instructions that a library does fastest along the last axis
    owns_results : whether results are arrays of their own
    systems : the matrices that large systems are solved with by factors of sparse ones
    """
    plans = [
        _plan(exprs, size, optimize, cse, by_rows, owns_results, systems)
        for exprs in prepared.forms
    ]
    plan = min(plans, key=lambda own: _price(own, size)) if len(plans) > 1 else plans[0]
    return laid_out(plan, size, by_rows)._replace(contractions=plan.contractions)


def _price(plan: Plan, size: Callable[[Expr], int]) -> int:
    """Compute the cost of a plan as that of contractions: a multiplication comes with an
    addition."""
    symbols = {s for step in plan.instructions for n in step.shape for s in n.free_symbols}
    flops, memory = plan_cost(plan, {symbol: size(symbol) for symbol in symbols})
    return flops // 2 + tuning.ENTRY * memory // 8


def _plan(
    exprs: Sequence[Operand],
    size: Callable[[Expr], int],
    optimize: Optimizer,
    cse: bool,
    by_rows: Collection[str],
    owns_results: bool,
    systems: Mapping[Operand, SparseForm],
) -> Plan:
    exprs, contractions = by_low_rank(exprs, size)
    exprs = with_partial_sums(exprs)

    def plan_body(outputs: Sequence[Operand]) -> Plan:
        return plan_prepared(prepare(outputs), size, optimize, cse, by_rows, False)

    instructions: list[Instruction] = []
    results: list[int] = []
    for group in [exprs] if cse else [[expr] for expr in exprs]:
        builder = Lowering(
            *(LOWERINGS, size, optimize, instructions, contractions, plan_body, owns_results),
            systems,
        )
        results += builder.lower(group)
    plan = merge_scatters(without_dead_code(instructions, results))
    plan = with_known_multiples(factored(plan))
    plan = share_calls(plan) if cse else plan
    return with_factors(plan)._replace(contractions=contractions)
