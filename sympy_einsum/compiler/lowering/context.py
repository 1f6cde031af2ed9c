"""Lowering of a graph, each distinct node once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from sympy import Expr

from ...contraction_order import Contraction, Optimizer
from ...core import NodeTable, children, postorder, tuning
from ...expressions import (
    Einsum,
    Operand,
    Scan,
    TensorExpr,
    TensorSymbol,
    View,
    is_padded_product,
    is_window,
    order_of,
    shape_of,
)
from ..ir.instruction_rules import SPARSE, Instruction
from ..ir.plans import Plan, origin
from .plan_builder import PlanBuilder
from .scheduling import SparseForm, in_one_term, is_large_system, only_multiplied
from .sympy_scalars import StockScalars


class Lowering(PlanBuilder):
    """The state of lowering that rows of the table of nodes use: the program that they extend, the
    values of other nodes, and the nodes that are computed elsewhere.

    ``solved`` are inverses that systems are solved for instead, ``put_off`` is what belongs to one
    term of a long sum, ``only_scaled`` are products of which only a multiple is needed, and that
    have a small factor to scale that is in no other product.
    """

    def __init__(
        self,
        rows: NodeTable[Row],
        size: Callable[[Expr], int],
        optimize: Optimizer,
        instructions: list[Instruction],
        contractions: list[Contraction],
        plan_body: Callable[[Sequence[Operand]], Plan],
        owns_results: bool = True,
        systems: Mapping[Operand, SparseForm] = MappingProxyType({}),
    ):
        super().__init__(size, optimize, instructions, contractions)
        self.solved: set[Operand] = set()
        self.put_off: set[Operand] = set()
        self.only_scaled: set[Operand] = set()
        self.plan_body = plan_body
        self.owns_results = owns_results
        self.systems = systems
        # The wanted results of each loop, and its instruction.
        self.loop_results: dict[Hashable, list[tuple[str, int]]] = {}
        self.loops: dict[Hashable, int] = {}
        self._rows = rows
        self._values: dict[TensorExpr, int] = {}
        self._handed_out: set[int] = set()
        # Products that wait to be merged, with the number of operands they bring.
        self._waiting: dict[Operand, int] = {}
        self._scalars = StockScalars(self, self.value)

    def lower(self, exprs: Sequence[Operand]) -> list[int]:
        """Lower expressions; return the numbers of the instructions that compute them."""
        # The largest results first: the smaller ones are likely to share their parts.
        roots = sorted(exprs, key=lambda expr: -order_of(expr))
        order = postorder(roots)
        self.uses.update(child for node in order for child in children(node))
        self.uses.update(exprs)
        for node in order:
            if isinstance(node, Scan):
                self.loop_results.setdefault(node.group, []).append((node.kind, node.place))
        self.solved = only_multiplied(order, self.uses)
        self.put_off = in_one_term(order, self.uses)
        self.only_scaled = {
            node.core
            for node in order
            if isinstance(node, View) and node.scalars and type(node.core) is Einsum
            if self.uses[node.core] == 1 and self._has_own_factor(node.core)
        }
        results: dict[Operand, list[int]] = {}
        lowered: set[Operand] = set()
        pending = iter(order)
        for root in roots:
            while root not in lowered:
                node = next(pending)
                self._lower(node)
                lowered.add(node)
            results.setdefault(root, []).append(self._result(root))
        return [results[expr].pop() for expr in exprs]

    def value(self, node: Operand) -> int:
        """Return the number of a node's instruction; lower the node if that was put off."""
        if not isinstance(node, TensorExpr):
            return self._scalars.value(node)
        if node not in self._values:
            number = self._values[node] = self._rows[type(node)](self, node)
            self.nodes[number] = node
        return self._values[node]

    def stand_in(self, value: int, nonnegative: bool = False) -> TensorExpr:
        """Return a symbol in expressions for a value that is computed already."""
        shape = self.instructions[value].shape
        symbol = TensorSymbol(f" {value}", shape, nonnegative=nonnegative)
        self._values[symbol] = value
        self.nodes.setdefault(value, symbol)
        return symbol

    def sparse_factors(self, matrix: Operand) -> int | None:
        """Return the factors of a large sparse matrix; None for one that is dense or small."""
        found = self.systems.get(matrix)
        if found is None or not is_large_system(self.size(shape_of(matrix)[0])):
            return None
        entries = [self.value(own) for own in found.leaves]
        number = self.emit("sparse_matrix", *entries, params=(found,))
        return self.emit("factored", number, params=(SPARSE,))

    def factor(self, scalars: Sequence[Operand]) -> int:
        """Return the product of some scalars."""
        values = [self.value(scalar) for scalar in scalars]
        return values[0] if len(values) == 1 else self.emit("multiply", *values)

    def is_waiting(self, node: Operand) -> bool:
        """Tell whether a node is a product that can be merged into the one that uses it."""
        return node in self._waiting and node not in self._values

    def _is_slice(self, source: Instruction) -> bool:
        """Tell whether a value is a result of a loop that shares memory with another."""
        if source.op != "result":
            return False
        return source.params[0] in self.instructions[source.inputs[0]].params[0].slices

    def _lower(self, node: Operand) -> None:
        if not isinstance(node, TensorExpr):
            self._scalars.lower(node)
            return
        # Zero-padded products are written where they are needed.
        elsewhere = node in self.solved or node in self.put_off or is_padded_product(node)
        elsewhere = elsewhere or node in self.only_scaled
        elsewhere = elsewhere or node.is_one_hot  # it stays positions where it is multiplied
        if not self._can_wait(node) and not elsewhere:
            self.value(node)

    def _has_own_factor(self, node: Einsum) -> bool:
        return any(self.uses[o] == 1 for o in node.operands if order_of(o) < order_of(node))

    def _can_wait(self, node: TensorExpr) -> bool:
        if type(node) is not Einsum or not node.shape or self.uses[node] != 1:
            return False
        if any(map(is_window, node.operands)):
            return False
        size = sum(self._waiting.get(operand, 1) for operand in node.operands)
        if size <= tuning.MAX_MERGED_OPERANDS:
            self._waiting[node] = size
        return size <= tuning.MAX_MERGED_OPERANDS

    def _result(self, expr: Operand) -> int:
        """Return a result that is the caller's own: no argument, constant or other result, nor a
        view of one."""
        number = self.value(expr)
        if not self.owns_results:
            return number
        place = origin(self.instructions, number)
        source = self.instructions[place]
        is_input = source.op == "argument" and shape_of(source.params[0])
        shared = (
            is_input
            or source.op == "constant"
            or self._is_slice(source)
            or self.instructions[number].op == "broadcast"
        )
        if shared or (place in self._handed_out and order_of(expr)):
            return self.emit_fresh("copy", number)
        self._handed_out.add(place)
        return number


# The lowering of the nodes of a type.
Row: TypeAlias = Callable[[Lowering, Any], int]
