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

from ..analysis import Barriers, Feature, Surroundings, features, functions_below
from ..core import children, postorder, tuning
from ..expressions import Binder, Einsum, Operand, TensorExpr, View, rebuild


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
    has to occur in that: all features of one of the sets; nothing in particular if there are none.
    ``wrong`` is an equation like the case that doesn't hold, so that it mustn't be applied there.
    """

    name: str
    case: str
    apply: Callable[[Any, Barriers], Operand | None]
    needs: tuple[frozenset[Feature], ...] = ()
    wrong: str = ""

    def fits(self, features: Collection[Feature]) -> bool:
        """Tell whether a node with these features has what the rule needs."""
        return not self.needs or any(need.issubset(features) for need in self.needs)


def any_of(*needs: Feature | frozenset[Feature]) -> tuple[frozenset[Feature], ...]:
    """Return the alternatives of what a rule needs: features, or sets of features that occur
    together."""
    return tuple([need if isinstance(need, frozenset) else frozenset([need]) for need in needs])


class RuleSet(NamedTuple):
    """Rules by type of node, under the name by which nodes remember what they did; whether those
    for products need nothing but functions in them."""

    name: str
    rules_for: Callable[[Operand], tuple[Rule, ...]]
    is_by_functions: bool


# Few sets of features occur. The rules are kept with their id, so that it stays unique.
_fits: dict[tuple[int, frozenset[Feature]], tuple[tuple[Rule, ...], tuple[Rule, ...]]] = {}


def _fitting(rules: tuple[Rule, ...], features: Collection[Feature]) -> tuple[Rule, ...]:
    """Select the rules that fit a node with these features."""
    key = id(rules), frozenset(features)
    if key not in _fits:
        _fits[key] = rules, tuple([rule for rule in rules if rule.fits(key[1])])
    return _fits[key][1]


class _Found(NamedTuple):
    """The result of the rules for a node, None if none applied, and its dependency set: ``present``
    are the queries answered with yes, ``absent`` those with no."""

    present: frozenset[Hashable]
    absent: frozenset[Hashable]
    rule: str | None
    new: Operand | None

    def holds(self, barriers: set[Hashable]) -> bool:
        return self.present <= barriers and self.absent.isdisjoint(barriers)


_NOTHING = _Found(frozenset(), frozenset(), None, None)


class Run:
    """One application of rules to some graphs.

    ``shared`` are nodes used by several others: products among them aren't inlined. ``fixed`` nodes
    are in normal form already. ``enters_loops`` says whether the steps of loops are rewritten too.
    """

    def __init__(
        self,
        rules: RuleSet,
        shared: Collection[Operand] = (),
        fixed: Sequence[Operand] = (),
        enters_loops: bool = True,
    ) -> None:
        self.steps: list[Step] = []
        self.depends_on_shared = False
        self._rules = rules
        self._enters_loops = enters_loops
        self._shared = frozenset(shared)
        self._around = Surroundings(shared)
        self._rewritten: dict[Operand, Operand] = {node: node for node in fixed}
        self._active: set[Operand] = set()
        self._rebuilt: set[Operand] = set()

    def result(self, root: Operand) -> Operand:
        """Return the normal form of an expression."""
        rewritten = self._rewritten
        is_last = all(own in rewritten for own in children(root))
        order = (
            [root]
            if is_last
            else postorder([root], lambda n: () if n in rewritten else children(n))
        )
        for node in order:
            if node in rewritten:
                continue
            below = children(node)
            new = tuple([rewritten[o] for o in below])
            rebuilt = node if new == below else rebuild(node, new)
            moved = False
            if rebuilt is not node:
                moved = any(rewritten.get(o) != o for o in children(rebuilt))
                if isinstance(node, TensorExpr):
                    node.memory["rebuilt"] = rebuilt  # it remembers as long as it lives
            if self._enters_loops and isinstance(rebuilt, Binder):
                rebuilt = self._with_body(rebuilt)
            if moved and rebuilt not in self._rebuilt:
                # The constructor has taken scalars out of a product.
                self._rebuilt.add(rebuilt)
                result = self.result(rebuilt)
            else:
                result = self._normalised(rebuilt)
            rewritten[node] = rewritten[result] = result
            if node in self._shared:
                self._around.add_barrier(result)
                if result is not node and isinstance(result, View) and result.core is not None:
                    self._around.add_barrier(result.core)  # 2*(A @ x) becomes a part of a product
        return rewritten[root]

    def _with_body(self, node: Binder) -> Operand:
        """Apply the rules to the body of a node, into which what doesn't change isn't inlined."""
        key = self._rules.name, "body"
        if key not in node.memory:
            inner = Run(self._rules, node.hoisted)
            new = [inner.result(output) for output in node.open_outputs()]
            # None for a node that stays what it is: what holds itself is freed late.
            changed = node.with_outputs(new)
            node.memory[key] = None if changed is node else changed
        found = node.memory[key]
        if found is None:
            return node
        self.steps.append(Step("body of a loop or an equation", node, found))
        return found

    def _normalised(self, node: Operand) -> Operand:
        """Apply the first rule that fits a node, and normalise the result."""
        if node in self._rewritten:
            return self._rewritten[node]
        if node in self._active:
            return node  # two rules that undo each other
        if not self._rules.rules_for(node):
            return node
        found = self._found(node)
        self.depends_on_shared = self.depends_on_shared or bool(found.present)
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
            return self._apply_rules(node)
        known: tuple[_Found, ...] = node.memory.get(self._rules.name, ())
        for found in known:
            if found.holds(self._around.barriers):
                return found
        found = self._apply_rules(node)
        node.memory[self._rules.name] = (found, *known[: tuning.MAX_REMEMBERED_RESULTS - 1])
        return found

    def _apply_rules(self, node: Operand) -> _Found:
        candidates = self._rules.rules_for(node)
        # Finding the features of a product inlines it, which costs more than trying few rules.
        is_tried = False
        if self._rules.is_by_functions and isinstance(node, Einsum):
            candidates, is_tried = _fitting(candidates, functions_below(node)), True
        if not candidates:
            return _NOTHING
        around = self._around
        around.forget()
        rule, new = None, None
        for rule in candidates if is_tried else _fitting(candidates, features(node, around)):
            new = rule.apply(node, around)
            if new is not None and new is not node:
                break
        else:
            rule, new = None, None
        if rule is None and not around.present and not around.absent:
            return _NOTHING
        name = None if rule is None else rule.name
        return _Found(frozenset(around.present), frozenset(around.absent), name, new)
