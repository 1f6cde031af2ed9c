"""Rules and the driver that applies them.

One walk from the leaves up: a node is rebuilt on simplified operands, and the rules for its class
are applied until none does anything; what a rule builds goes the same way, each distinct node once.

What a rule needs to find in a node is declared with it, and a node is searched for that once. What
the rules did with a node is remembered at the node, with the answers that they got from the graph
around it: where these are the same, nothing is tried again, in any graph and any run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, NamedTuple

from ..core import children, postorder
from ..expressions import Einsum, Operand, TensorExpr, rebuild
from .marks import Mark, functions_below, marks
from .written_products import Closed, Surroundings

# Maximum number of dependency sets, each with its result, that a node remembers.
MAX_REMEMBERED = 4


class Step(NamedTuple):
    """One step of a derivation: the rule's name, what it was applied to, what came out.

    In a sweep, ``before`` is the cotangent (or tangent) that the sweep brings, ``after`` what the
    rule makes of it, and ``node`` the node whose rule it is.
    """

    rule: str
    before: Operand
    after: Operand
    node: Operand = None


class Rule(NamedTuple):
    """A rule: its name, a case of it (tests know the letters), what applies it to a node, and what
    has to occur in that: all marks of one of the sets; nothing in particular if there are none.
    ``wrong`` is an equation like the case that doesn't hold, so that it mustn't be applied there.
    """

    name: str
    case: str
    apply: Callable[[Any, Closed], Operand | None]
    needs: tuple[frozenset[Mark], ...] = ()
    wrong: str = ""

    def fits(self, marks: Collection[Mark]) -> bool:
        """Tell whether a node with these marks has what the rule needs."""
        return not self.needs or any(need.issubset(marks) for need in self.needs)


def any_of(*needs: Mark | frozenset[Mark]) -> tuple[frozenset[Mark], ...]:
    """Return the alternatives of what a rule needs: marks, or sets of marks that occur together."""
    return tuple([need if isinstance(need, frozenset) else frozenset([need]) for need in needs])


class RuleSet(NamedTuple):
    """Rules by type of node, under the name by which nodes remember what they did; whether those
    for products need nothing but functions in them."""

    name: str
    rules_for: Callable[[Operand], tuple[Rule, ...]]
    is_by_functions: bool


# The same few marks come again and again. The rules are kept with their number.
_fits: dict[tuple[int, frozenset[Mark]], tuple[tuple[Rule, ...], tuple[Rule, ...]]] = {}


def _fitting(rules: tuple[Rule, ...], marks: Collection[Mark]) -> tuple[Rule, ...]:
    """Those of some rules that fit a node with these marks."""
    key = id(rules), frozenset(marks)
    if key not in _fits:
        _fits[key] = rules, tuple([rule for rule in rules if rule.fits(key[1])])
    return _fits[key][1]


class _Found(NamedTuple):
    """The result of the rules for a node, None if none applied, and its dependency set: ``told``
    are the queries answered with yes, ``denied`` those with no."""

    told: frozenset[Hashable]
    denied: frozenset[Hashable]
    rule: str | None
    new: Operand | None

    def holds(self, closed: set[Hashable]) -> bool:
        return self.told <= closed and self.denied.isdisjoint(closed)


_NOTHING = _Found(frozenset(), frozenset(), None, None)


class Run:
    """One application of rules to some graphs.

    ``kept`` are nodes used by several others: products among them aren't opened. ``fixed`` nodes
    are in normal form already.
    """

    def __init__(
        self, rules: RuleSet, kept: Collection[Operand] = (), fixed: Sequence[Operand] = ()
    ) -> None:
        self.steps: list[Step] = []
        self.depends_on_kept = False
        self._rules = rules
        self._kept = frozenset(kept)
        self._around = Surroundings(kept)
        self._images: dict[Operand, Operand] = {node: node for node in fixed}
        self._active: set[Operand] = set()
        self._rebuilt: set[Operand] = set()

    def result(self, root: Operand) -> Operand:
        """Return the normal form of an expression."""
        images = self._images
        for node in postorder([root], lambda n: () if n in images else children(n)):
            if node in images:
                continue
            below = children(node)
            new = tuple([images[o] for o in below])
            rebuilt = node if new == below else rebuild(node, new)
            moved = False
            if rebuilt is not node:
                moved = any(images.get(o) != o for o in children(rebuilt))
                if isinstance(node, TensorExpr):
                    node.memory["rebuilt"] = rebuilt  # it remembers as long as it lives
            if moved and rebuilt not in self._rebuilt:
                # The constructor has taken scalars out of a product.
                self._rebuilt.add(rebuilt)
                image = self.result(rebuilt)
            else:
                image = self._settled(rebuilt)
            images[node] = images[image] = image
            if node in self._kept:
                self._around.close(image)
        return images[root]

    def _settled(self, node: Operand) -> Operand:
        """Apply the first rule that fits a node, and normalise the result."""
        if node in self._images:
            return self._images[node]
        if node in self._active:
            return node  # two rules that undo each other
        if not self._rules.rules_for(node):
            return node
        found = self._found(node)
        self.depends_on_kept = self.depends_on_kept or bool(found.told)
        if found.rule is None:
            return node
        self.steps.append(Step(found.rule, node, found.new))
        self._active.add(node)
        try:
            return self.result(found.new)
        finally:
            self._active.discard(node)

    def _found(self, node: Operand) -> _Found:
        """Apply the rules to a node, or reuse a result whose dependency set still holds."""
        if not isinstance(node, TensorExpr):
            return self._tried(node)
        known: tuple[_Found, ...] = node.memory.get(self._rules.name, ())
        for found in known:
            if found.holds(self._around.closed):
                return found
        found = self._tried(node)
        node.memory[self._rules.name] = (found, *known[: MAX_REMEMBERED - 1])
        return found

    def _tried(self, node: Operand) -> _Found:
        candidates = self._rules.rules_for(node)
        # A product is opened for its marks, which costs more than to try the few rules.
        is_tried = False
        if self._rules.is_by_functions and isinstance(node, Einsum):
            candidates, is_tried = _fitting(candidates, functions_below(node)), True
        if not candidates:
            return _NOTHING
        around = self._around
        around.forget()
        rule, new = None, None
        for rule in candidates if is_tried else _fitting(candidates, marks(node, around)):
            new = rule.apply(node, around)
            if new is not None and new is not node:
                break
        else:
            rule, new = None, None
        if rule is None and not around.told and not around.denied:
            return _NOTHING
        name = None if rule is None else rule.name
        return _Found(frozenset(around.told), frozenset(around.denied), name, new)
