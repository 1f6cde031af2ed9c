"""The steps of a chain as a loop, if each does the same to the values of steps before.

Walking down from two consecutive values, node by node, pairs each node of a step with that of the
step before. A step consists of the nodes that its value needs and no earlier value does. Operands
from elsewhere are then the same in all steps, entries at positions that advance, numbers that
advance, or values of earlier steps: carries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from functools import partial
from itertools import pairwise, takewhile
from typing import NamedTuple, TypeAlias

from sympy import Basic, Expr, Integer, S, ilcm

from ...contraction_order import nominal_size
from ...core import postorder, tuning
from ...expressions import (
    LAST,
    VALUES,
    BoundTensor,
    Carry,
    Einsum,
    Node,
    Operand,
    Positions,
    closed_loop,
    entry_at,
    order_of,
    shape_of,
    step_index,
    works_entrywise,
)
from .graphs import LoopValue, Pairing, SignedGraph, Slot, are_alike
from .number_sequences import NumberSequence


class _Sequence(NamedTuple):
    """The values of an operand of a step at each step, from the last step on, and the operands that
    have these values."""

    values: tuple[Basic, ...]
    slots: list[Slot]


class _Advancing(NamedTuple):
    """An operand as a function of a number, the number at the last step, and the difference to the
    step before."""

    operand: Callable[[Expr], Basic]
    last: Expr
    difference: Expr

    def at(self, count: int, index: Expr, is_reverse: bool) -> Basic:
        """Return the operand in a step of a loop."""
        before_last = index if is_reverse else count - 1 - index
        return self.operand(self.last - self.difference * before_last)


class _Earlier(NamedTuple):
    """A node of the step, and how many steps before its value was computed."""

    node: Basic
    delay: int


# An operand that is the same at all steps, or how it changes.
_Meaning: TypeAlias = "Basic | _Advancing | NumberSequence | _Earlier"


class StepChain:
    """Values that steps carry, the first one first, and how the nodes of each step correspond to
    those of the one before."""

    def __init__(self, graph: SignedGraph, step: Sequence[Basic], before: Basic):
        self.graph = graph
        self.back: dict[Basic, Basic] = {}
        self.pairings: dict[Basic, Pairing] = {}
        self._pair(step[0], before)
        self.values = self._orbit(step[0])
        if len(self.values) >= tuning.MIN_REROLLED_STEPS and len(step) > 1:
            self.values = self._orbit(self._best_end(step))

    def _orbit(self, last: Basic) -> list[Basic]:
        """Return the values that correspond to one of the last step, the first one first."""
        values = {last: None}
        while (last := self.back.get(last)) is not None and last not in values:
            values[last] = None
        return [*values][::-1]

    def _best_end(self, step: Sequence[Basic]) -> Basic:
        """Choose the value at which steps end, such that they carry least."""
        whole = _EqualSteps(self)
        below, number, inside = self.graph.below, whole.number, {*whole.body}
        end, least = step[0], None
        for value in step[: tuning.MAX_STEP_ENDS]:
            # The nodes of the last step up to here, and those of the step before from here on.
            first = postorder([value], lambda n: [c for c in below(n) if c in inside])
            before = {self.back.get(node) for node in first}
            rest = [node for node in whole.body_before if node not in before]
            body = {*first, *rest}
            carried = {c for n in body for c in below(n) if c in number and c not in body}
            size = sum([nominal_size(shape_of(own)) for own in carried])
            if least is None or size < least:
                end, least = value, size
        return end

    def _pair(self, last: Basic, before: Basic) -> None:
        pending = [(last, before)]
        while pending:
            new, old = pending.pop()
            if new is old or new in self.back:
                continue
            pairing = self.graph.pairing(new, old)
            if pairing is None:
                continue
            self.back[new] = old
            self.pairings[new] = pairing
            others = self.graph.below(old)
            pending += [
                (own, others[k]) for own, k in zip(self.graph.below(new), pairing, strict=True)
            ]

    def rerolled(
        self, claimed: Set[Basic], fuses: bool, keeps_integers: bool
    ) -> tuple[dict[Basic, LoopValue], Collection[Basic]] | None:
        """Return the nodes whose values others need, as results of a loop, and all nodes that it
        computes; None if there are too few equal steps."""
        # The last steps may differ from those before.
        for _ in range(1 + tuning.MAX_OTHER_STEPS):
            if len(self.values) < tuning.MIN_REROLLED_STEPS:
                return None
            steps = _EqualSteps(self)
            if steps.are_equal():
                if fuses and steps.are_entrywise() and steps.count < tuning.MIN_ENTRYWISE_STEPS:
                    return None
                nodes = steps.nodes()
                found = steps.results(keeps_integers) if claimed.isdisjoint(nodes) else None
                return None if found is None else (found, nodes)
            self.values.pop()
        return None


class _EqualSteps:
    """The nodes of each step, and what the last step takes from elsewhere."""

    def __init__(self, chain: StepChain):
        self.chain = chain
        self.graph = chain.graph
        # The number of the step of each node.
        self.number: dict[Basic, int] = {}
        inside = {*chain.back, *chain.back.values()}
        body: list[Basic] = []
        before: list[Basic] = []
        for number, value in enumerate(chain.values):
            before = body
            body = postorder(
                [value],
                lambda n: [c for c in self.graph.below(n) if c in inside and c not in self.number],
            )
            self.number.update(dict.fromkeys(body, number))
        self.last = len(chain.values) - 1
        self.first = 0
        self.body = body
        self.body_before = before
        # The node of the last step for nodes of other steps.
        self.counterpart: dict[Basic, Basic] = {}
        self.sequences: list[_Sequence] = []
        self.meaning: list[_Meaning] = []
        # The nodes of the last step that depend on earlier ones.
        self.varying: set[Basic] = set()

    @property
    def count(self) -> int:
        """The number of steps."""
        return self.last - self.first + 1

    def nodes(self) -> list[Basic]:
        """Return the nodes that the loop computes: those that depend on carries. Others, as entries
        of tensors, are computed anew where they are needed."""
        counterpart, number = self.counterpart, self.number
        return [
            n for n in counterpart if number[n] >= self.first and counterpart[n] in self.varying
        ]

    def _needed(self) -> dict[Basic, list[Basic]]:
        """Return the nodes that others need, by the nodes of the last step."""
        inside = {*self.nodes()}
        found: dict[Basic, list[Basic]] = {}
        for node in self.nodes():
            if any(user not in inside for user in self.graph.users[node]):
                found.setdefault(self.counterpart[node], []).append(node)
        return found

    def _may_be_integers(self) -> bool:
        """Tell whether others may need a value of a step as an integer."""
        floating = self.graph.floating
        inside = {*self.nodes()}
        return any(
            node not in floating
            and any(user not in inside and user not in floating for user in self.graph.users[node])
            for node in inside
        )

    def _carried_slots(self) -> set[Slot]:
        """Return the operands that are values of earlier steps."""
        pairs = zip(self.sequences, self.meaning, strict=True)
        return {slot for own, found in pairs if isinstance(found, _Earlier) for slot in own.slots}

    def are_equal(self) -> bool:
        """Tell whether there are enough equal steps, after finding the first of them and what each
        takes from elsewhere."""
        if any(getattr(node, "is_one_hot", False) for node in self.body):
            # Carried values are floating-point numbers, no positions.
            return False
        self._follow()
        for sequence in self.sequences:
            if self.count < tuning.MIN_REROLLED_STEPS:
                return False
            found = self._explained(sequence)
            if found is None:
                return False
            meaning, explained = found
            self.meaning.append(meaning)
            self.first = max(self.first, self.last + 1 - explained)
        if self.count < tuning.MIN_REROLLED_STEPS or self._is_reordered():
            return False
        carried = self._carried_slots()
        for node in self.body:
            below = self.graph.below(node)
            if any(c in self.varying or (node, k) in carried for k, c in enumerate(below)):
                self.varying.add(node)
        return bool(carried)

    def are_entrywise(self) -> bool:
        """Tell whether each step computes tensors entry by entry."""
        return any(map(shape_of, self.varying)) and all(map(works_entrywise, self.varying))

    def _follow(self) -> None:
        """Follow the nodes of the last step back while steps have the same nodes."""
        current = {node: node for node in self.body}
        below = self.graph.below
        places = {node: [*range(len(below(node)))] for node in self.body}
        inside = {*self.body}
        outer = [
            (node, k) for node in self.body for k, c in enumerate(below(node)) if c not in inside
        ]
        inner = [
            (node, k, c) for node in self.body for k, c in enumerate(below(node)) if c in inside
        ]
        values: dict[Slot, list[Basic]] = {slot: [] for slot in outer}
        number = self.last
        while number >= 0:
            if any(self.number.get(own) != number for own in current.values()):
                break
            operands = {
                node: [below(own)[k] for k in places[node]] for node, own in current.items()
            }
            if any(operands[node][k] is not current[c] for node, k, c in inner):
                break
            for node, k in outer:
                values[node, k].append(operands[node][k])
            for node, own in current.items():
                self.counterpart[own] = node
            number -= 1
            if any(own not in self.chain.back for own in current.values()):
                break
            pairings = self.chain.pairings
            places = {
                node: [pairings[own][k] for k in places[node]] for node, own in current.items()
            }
            current = {node: self.chain.back[own] for node, own in current.items()}
        self.first = number + 1
        found: dict[tuple[Basic, ...], list[Slot]] = {}
        for slot, own in values.items():
            found.setdefault(tuple(own), []).append(slot)
        self.sequences = [_Sequence(*own) for own in found.items()]

    def _explained(self, sequence: _Sequence) -> tuple[_Meaning, int] | None:
        """Return the form of an operand, and the number of steps, from the last, that have it."""
        values = sequence.values
        if len(values) < 2:
            return None
        last, before = values[:2]
        numbers = [*takewhile(_is_finite, values)]
        if len(numbers) > 1:
            return self._of_numbers(sequence, numbers)
        if last is before:
            return last, _equal(values)
        if are_alike(last, before):
            length, _, steps, counts = last.data
            return _advancing(
                lambda start: Positions._build((), (length, start, steps, counts)),
                [own.start for own in takewhile(partial(are_alike, last), values)],
            )
        entries = self._entries(values)
        if len(entries) > 1:
            return _advancing(partial(entry_at, self.graph.stored[last].result), entries)
        node = self.counterpart.get(last)
        if node is None:
            return None
        delay = self.last - self.number[last]
        explained = 0
        for k, own in enumerate(values):
            if self.counterpart.get(own) is not node or self.number[own] != self.last - k - delay:
                break
            explained += 1
        # The first steps get initial values.
        return _Earlier(node, delay), min(explained + delay, len(values))

    def _of_numbers(self, sequence: _Sequence, numbers: Sequence[Expr]) -> tuple[_Meaning, int]:
        """Return numbers, given from the last step on, as one number, a function of the step, or a
        list, and how many of them have these values."""
        closed = _closed(numbers)
        most = tuning.MAX_OTHER_STEPS
        # The first and the last steps may differ from the others.
        is_closed = any(_closed(numbers[k:])[1] >= len(numbers) - k - most for k in range(most + 1))
        # Scalar steps with a list of numbers take longer as a loop.
        is_of_tensors = all(isinstance(node, Node) for node, _ in sequence.slots)
        share = len(self.number) / len(self.graph.order)
        if is_closed or not is_of_tensors or share < tuning.MIN_SHARE_WITH_NUMBERS:
            return closed
        return NumberSequence(numbers), len(numbers)

    def _entries(self, values: Sequence[Basic]) -> list[Expr]:
        """Return the positions of operands in the result of another loop, as far as they have
        any."""
        stored = self.graph.stored
        found: list[Expr] = []
        for value in values:
            own = stored.get(value)
            if own is None or own.position is None or own.result is not stored[values[0]].result:
                break
            found.append(Integer(own.position))
        return found

    def _is_reordered(self) -> bool:
        """Tell whether steps multiply along some axes of the carry only: then the order in which
        all steps are multiplied is free, and another one may be cheaper."""
        if not all(isinstance(node, Einsum) for node in self.body):
            return False
        for node, k in self._carried_slots():
            others = {
                i
                for j, term in enumerate(node.subscripts)
                if j != k and order_of(node.operands[j])
                for i in term
            }
            if not {*node.subscripts[k]} <= others | {
                i for i in node.subscripts[k] if i not in node.output
            }:
                return True
        return False

    # --- the loop

    def results(self, keeps_integers: bool) -> dict[Basic, LoopValue] | None:
        """Return nodes that others need as results of the loop; None if values that may be integers
        have to stay so, and would be floating-point numbers in a loop."""
        needed = self._needed()
        is_reverse = self._goes_back()
        index = step_index(-1)
        operands: dict[Slot, Basic] = {}
        carries: list[tuple[BoundTensor, Basic, Basic]] = []
        for sequence, meaning in zip(self.sequences, self.meaning, strict=True):
            value: Basic
            if isinstance(meaning, _Earlier):
                value = self._carried(carries, sequence.values, meaning)
            elif isinstance(meaning, (_Advancing, NumberSequence)):
                value = meaning.at(self.count, index, is_reverse)
            else:
                value = meaning
            operands.update(dict.fromkeys(sequence.slots, value))
        new: dict[Basic, Operand] = {}
        for node in self.body:
            below = self.graph.below(node)
            own = [operands.get((node, k), new.get(c)) for k, c in enumerate(below)]
            new[node] = self.graph.rebuilt(node, own)
        places = {node: k for k, (_, _, node) in enumerate(carries) if node in new}
        last = {node: own for node, own in needed.items() if node in places and [*own] == [node]}
        stacked = [node for node in self.body if node in needed and node not in last]
        loop = closed_loop(
            *(Integer(self.count), is_reverse, index),
            [Carry(symbol, init, new.get(node, node)) for symbol, init, node in carries],
            *((), [new[node] for node in stacked]),
        )
        if keeps_integers and not loop.keeps_integers and self._may_be_integers():
            return None
        found = {node: LoopValue(loop.result(LAST, places[node])) for node in last}
        for k, node in enumerate(stacked):
            steps = loop.result(VALUES, k)
            for own in needed[node]:
                number = self.number[own] - self.first
                position = self.count - 1 - number if is_reverse else number
                found[own] = LoopValue(steps, position)
        return found

    def _goes_back(self) -> bool:
        """Tell whether most entries are read from the last to the first."""
        signs = [
            1 if own.difference.is_negative else -1
            for own in self.meaning
            if isinstance(own, _Advancing)
        ]
        return sum(signs) > 0

    def _carried(
        self,
        carries: list[tuple[BoundTensor, Basic, Basic]],
        values: Sequence[Basic],
        earlier: _Earlier,
    ) -> BoundTensor:
        """Carry a value over one step or several; return the symbol of the oldest one."""
        node: Basic = earlier.node
        for age in range(1, earlier.delay + 1):
            step = self.first - age + earlier.delay
            init = values[self.last - step]
            symbol = BoundTensor("carry", len(carries), -1, shape_of(init))
            carries.append((symbol, init, node))
            node = symbol
        return symbol


def _advancing(operand: Callable[[Expr], Basic], numbers: Sequence[Expr]) -> tuple[_Advancing, int]:
    """Return an operand as a function of a number, and how many steps advance as the last one
    does."""
    differences = [new - old for new, old in pairwise(numbers)]
    return _Advancing(operand, numbers[0], differences[0]), 1 + _equal(differences)


def _closed(numbers: Sequence[Expr]) -> tuple[_Meaning, int]:
    """Return numbers as one or as a function of the step, and how many have these values."""
    found: list[tuple[_Meaning, int]] = [(numbers[0], _equal(numbers))]
    rational = [*takewhile(lambda own: own.is_Rational, numbers)]
    if len(rational) > 1:
        found += [_advancing(lambda number: number, rational), _quotients(rational)]
    return max(found, key=lambda own: own[1])


def _is_finite(node: Basic) -> bool:
    """Tell whether a node is a finite real number."""
    return bool(node.is_Rational or node.is_Float)


def _quotients(values: Sequence[Expr]) -> tuple[_Advancing, int]:
    """Return rational numbers, given from the last step on, as quotients (a + b k)/(c + k) of
    numbers k, such as weights 1/(k + 1) and k/(k + 3), and how many of them have these values."""
    bend = values[0] - 2 * values[1] + values[2] if len(values) > 2 else S.Zero
    c = 2 * (values[2] - values[1]) / bend if bend else S.Zero
    a, b = values[0] * c, values[0] * c - values[1] * (c - 1)
    scale = ilcm(*[own.q for own in (a, b, c)])

    def quotient(number: Expr) -> Expr:
        return scale * (a + b * number) / (scale * (c + number))

    alike = takewhile(lambda k: c != k and quotient(Integer(-k)) == values[k], range(len(values)))
    return _Advancing(quotient, S.Zero, S.One), len([*alike])


def _equal(values: Sequence[object]) -> int:
    """Count the values at the beginning that are equal."""
    return sum(1 for _ in takewhile(lambda own: own == values[0], values))
