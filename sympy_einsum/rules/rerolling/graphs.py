"""The graph in which chains of equal steps are looked for: its depths, signatures of its nodes, and
sums that contain others."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any, NamedTuple, TypeAlias

from sympy import (
    Abs,
    Add,
    Basic,
    Expr,
    Function,
    Integer,
    Max,
    Min,
    Mod,
    Mul,
    Piecewise,
    Pow,
    S,
    ceiling,
    floor,
    sign,
)
from sympy.core.function import AppliedUndef

from ...core import UserFunction, children, digest, once, postorder, text_digest, tuning
from ...expressions import (
    Einsum,
    Elementwise,
    Node,
    Operand,
    Positions,
    Scan,
    TensorAdd,
    declares_free_symbols,
    entry_at,
    is_variable,
    rename_slots,
    slot_numbers,
)
from ..partial_sums import parts_of_sums, rebuild_nested

# Functions whose values may be integers, if their arguments are.
KEEPING_TYPES = (AppliedUndef, UserFunction, Abs, Max, Min, Mod, Piecewise, ceiling, floor, sign)
# For each operand of a node the place of the operand of another node that corresponds to it.
Pairing: TypeAlias = list[int]
# An operand of a node: the node and its place.
Slot: TypeAlias = tuple[Basic, int]


class LoopValue(NamedTuple):
    """The result of a loop, or its entry at a position, that is the value of a node."""

    result: Operand
    position: int | None = None

    def of(self, result: Operand) -> Operand:
        """Return the value for another result."""
        return result if self.position is None else entry_at(result, Integer(self.position))


class SignedGraph:
    """A graph, in which a sum of scalars that consists of another one and further terms is seen as
    the sum of both, however flat it was built: the states of x + h(x). So are products."""

    def __init__(self, roots: Sequence[Operand]):
        self.roots = roots
        # Values that loops compute.
        self.stored: dict[Basic, LoopValue] = {}
        self.parts: dict[Basic, tuple[Basic, ...]] = {}
        self._below: dict[Basic, tuple[Basic, ...]] = {}
        self.order = self.walk(roots)
        self._find_products()
        sums = [own for own in self.order if isinstance(own, Add)]
        for total, found in parts_of_sums(sums).items():
            self.parts[total] = tuple([_multiple(*part) for part in found])
        if self.parts:
            self._below.update(self.parts)
            self.order = self.walk(roots)
        self.depths = self._depths()

    def below(self, node: Basic) -> Sequence[Basic]:
        """Return the operands of a node. Those of stock expressions with bound symbols, which would
        be captured, aren't seen."""
        found = self._below.get(node)
        if found is None:
            found = self._below[node] = _operands(node)
        return found

    def walk(self, roots: Sequence[Basic]) -> list[Basic]:
        """Return the nodes below some, operands first."""
        return postorder(roots, self.below)

    def rebuilt(self, node: Basic, operands: Sequence[Basic]) -> Basic:
        """Return a node with other operands."""
        if all(map(is_, operands, self.below(node))):
            return node
        if node in self.parts:
            return type(node)(*operands)
        return rebuild_nested(node, tuple(operands))

    def _depths(self) -> dict[Basic, int]:
        depths: dict[Basic, int] = {}
        for node in self.order:
            below = self._below[node]
            depths[node] = 1 + max([depths[own] for own in below]) if below else 0
        return depths

    def _find_products(self) -> None:
        """Find products of scalars all of whose factors are factors of longer ones."""
        totals = [own for own in self.order if isinstance(own, Mul)]
        if len(totals) < 2:
            return
        depths = self._depths()
        known: dict[Basic, list[tuple[Basic, set[Basic]]]] = {}
        for total in sorted(totals, key=lambda own: len(children(own))):
            terms = {*children(total)}
            deepest = sorted(terms, key=depths.__getitem__)[-tuning.MAX_TRIED_SUMS :]
            inside = [
                (part, own)
                for term in deepest
                for part, own in known.get(term, ())
                if len(own) < len(terms) and own <= terms
            ]
            if inside:
                part, own = max(inside, key=lambda pair: len(pair[1]))
                rest = [term for term in children(total) if term not in own]
                self.parts[total] = (part, *rest)
            alike = known.setdefault(deepest[-1], [])
            alike.append((total, terms))
            del alike[: -tuning.MAX_TRIED_SUMS]

    @once
    def users(self) -> dict[Basic, list[Basic | None]]:
        """The nodes that have each node as an operand, and None for a root."""
        found: dict[Basic, list[Basic | None]] = {node: [] for node in self.order}
        for root in self.roots:
            found[root].append(None)
        for node in self.order:
            for part in self._below[node]:
                found[part].append(node)
        return found

    # --- signatures

    @once
    def levels(self) -> list[dict[Basic, int]]:
        """The signatures of nodes, which are equal for the nodes of equal steps, up to 0, 1, …
        levels below."""
        own = {node: _kind(node) for node in self.order}
        below = self._below
        found = [own]
        for _ in range(tuning.SIGNATURE_LEVELS):
            last = found[-1]
            signed = {}
            for node in self.order:
                parts = [last[part] for part in below[node]]
                parts.sort()
                signed[node] = hash((own[node], *parts))
            found.append(signed)
        return found

    def rank(self, node: Basic) -> tuple[int, int]:
        """Return the depth and the signature of a node."""
        return self.depths[node], self.levels[-1][node]

    @once
    def floating(self) -> set[Basic]:
        """The nodes whose values are floating-point numbers even if all arguments are integers."""
        found: set[Basic] = set()
        for node in self.order:
            passes = isinstance(node, (Einsum, TensorAdd, Elementwise, Add, Mul, Pow))
            if _makes_floats(node) or (passes and not found.isdisjoint(self.below(node))):
                found.add(node)
        return found

    # --- pairs of nodes

    def pairing(self, new: Basic, old: Basic) -> Pairing | None:
        """Return how operands of two nodes correspond, if the nodes do the same to them."""
        if type(new) is not type(old) or new in self.stored:
            return None
        own, others = self.below(new), self.below(old)
        if len(own) != len(others):
            return None
        same = [*range(len(own))]
        if isinstance(new, (TensorAdd, Add, Mul)):
            return self._matched(own, others)
        if not isinstance(new, Node):
            return same if own and new.func == old.func else None
        is_same = new._kind is old._kind
        signed = [self.levels[-1][part] for part in own]
        is_aligned = is_same and signed == [self.levels[-1][part] for part in others]
        if is_aligned and len({*signed}) == len(signed):
            return same if own else None
        # Operands of equal signatures are told apart by positions.
        found = self._matched(own, others)
        if _does_same(new, old, found):
            return found
        return same if is_same and own else None

    def _matched(self, own: Sequence[Basic], others: Sequence[Basic]) -> Pairing:
        """Pair the operands of commutative operations by signatures, those with equal ones by depth
        and position."""
        found: dict[int, int] = {}
        left = sorted(range(len(own)), key=lambda k: self.place(own[k]))
        free = sorted(range(len(others)), key=lambda k: self.place(others[k]))
        for signed in reversed(self.levels):
            groups: dict[int, list[int]] = {}
            for k in free:
                groups.setdefault(signed[others[k]], []).append(k)
            for group in groups.values():
                group.reverse()
            for k in left:
                group = groups.get(signed[own[k]], [])
                if group:
                    found[k] = group.pop()
            left = [k for k in left if k not in found]
            if not left:
                break
            taken = {*found.values()}
            free = [k for k in free if k not in taken]
        found.update(zip(left, free, strict=False))
        return [found[k] for k in range(len(own))]

    def place(self, node: Basic) -> tuple[int, list[int]]:
        """Return the depth of a node and the positions in it."""
        parts = (node, *self.below(node))
        starts = [own.start for own in parts if isinstance(own, Positions)]
        return self.depths[node], [int(start) for start in starts if start.is_Integer]


def _multiple(number: Expr, core: Expr) -> Expr:
    """Return a multiple of a sum, over whose terms the number isn't distributed."""
    is_product = number is S.One or not isinstance(core, Add)
    return number * core if is_product else Mul(number, core, evaluate=False)


def _operands(node: Basic) -> tuple[Basic, ...]:
    if isinstance(node, Node):
        return node.operands
    kind: Any = type(node)
    return () if is_variable(node) or declares_free_symbols(kind) else children(node)


def _makes_floats(node: Basic) -> bool:
    if isinstance(node, Elementwise):
        return any(map(_makes_floats, postorder([node.body])))
    if isinstance(node, Pow):
        return not (node.exp.is_Integer and node.exp.is_nonnegative)
    if isinstance(node, Function):
        return not isinstance(node, KEEPING_TYPES)
    return isinstance(node, Scan) or (bool(node.is_Number) and not node.is_Integer)


def are_alike(one: Basic, other: Basic) -> bool:
    """Tell whether two nodes are selectors that differ by where they start only."""
    return (
        isinstance(one, Positions)
        and isinstance(other, Positions)
        and (one.length, one.steps, one.counts) == (other.length, other.steps, other.counts)
    )


def _kind(node: Basic) -> int:
    """Return a number for what a node does to its operands, apart from their order, positions, and
    numbers."""
    if not isinstance(node, Node):
        if node.is_Number:
            return 0
        return digest(node) if not node.args or is_variable(node) else text_digest(str(node.func))
    name = text_digest(type(node).__name__)
    if isinstance(node, Positions):
        return name
    if isinstance(node, Einsum):
        return hash((name, len(node.output), *sorted(map(len, node.subscripts))))
    if isinstance(node, Elementwise) and len(node.operands) > 1:
        return hash((name, text_digest(type(node.body).__name__), len(node.operands)))
    return hash(node._kind.digests) if node.operands else node._digest


def _does_same(new: Basic, old: Basic, pairing: Pairing) -> bool:
    """Tell whether two nodes do the same, up to the order of operands."""
    if isinstance(new, Elementwise) and isinstance(old, Elementwise):
        renaming = tuple([(k, pairing[k]) for k in slot_numbers(new.body)])
        return rename_slots(new.body, renaming) == old.body
    return isinstance(new, Einsum) and isinstance(old, Einsum) and _have_same(new, old, pairing)


def _have_same(new: Einsum, old: Einsum, pairing: Pairing) -> bool:
    """Tell whether two products have equal index strings, up to names and order of operands."""
    renaming: dict[int, int] = {}
    terms = [(new.output, old.output)]
    terms += [(own, old.subscripts[k]) for own, k in zip(new.subscripts, pairing, strict=True)]
    for own, other in terms:
        if len(own) != len(other):
            return False
        for label, named in zip(own, other, strict=True):
            if renaming.setdefault(label, named) != named:
                return False
            if new.lengths[label] != old.lengths[named]:
                return False
    return len({*renaming.values()}) == len(renaming)
