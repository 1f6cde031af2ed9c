"""The normal form: the driver that applies the rules, and what decides between two forms.

One walk from the leaves up: a node is rebuilt on simplified operands, and the rules for its class
are applied until none does anything; what a rule builds goes the same way, each distinct node once.

Two things could make evaluation slower, and are decided by :func:`cost`: opening a product that
others use too (denesting), and multiplying out or factoring sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..core import children, postorder
from ..expressions import TensorExpr, as_operand, is_tensor, rebuild
from .cost_model import SLACK, cost
from .table import Rule, rules_for, stable_rules_for

# On bigger graphs products that several nodes use stay closed from the start.
LARGE = 500


class Step(NamedTuple):
    """One step of a derivation: the rule's name, what it was applied to, what came out.

    In a sweep, ``before`` is the cotangent (or tangent) that the sweep brings, ``after`` what the
    rule makes of it, and ``node`` the node whose rule it is.
    """

    rule: str
    before: Any
    after: Any
    node: Any = None


def simplify(expr: Any, *, trace: bool = False) -> Any:
    """An equal expression in normal form: shorter to read and not slower to evaluate.

    Expressions that differ by the names of indices, the order and nesting of products, deltas
    that can be merged or ones, become the same object. Common factors are pulled out and products
    of sums multiplied out where that is cheaper. Identities of inverses and determinants hold
    where the inverses exist, cancelled powers where the base isn't zero, as in SymPy.

    Parameters
    ==========

    expr : a tensor expression, a SymPy scalar with tensor expressions inside, or a list of them,
        which are simplified together, so that they go on sharing what they share
    trace : return the steps too

    Returns
    =======

    The expression, of the same shape; with ``trace=True`` a pair of it and the list of steps
    ``(rule, before, after)``.

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.simplify(A.inv() @ A @ x) is x
    True
    >>> result, steps = se.simplify(se.log(se.exp(x)) + x, trace=True)
    >>> [step.rule for step in steps]
    ['compose']
    """
    exprs = list(expr) if isinstance(expr, (list, tuple)) else [expr]
    roots = [as_operand(e) for e in exprs]
    order = postorder(roots)
    runs = [_run(roots, _shared(order))]
    if len(order) <= LARGE:
        runs.insert(0, _run(roots))
    # The more open form unless it is dearer, and never one that is dearer than what was given.
    budget = SLACK * cost(roots)
    _, results, steps = next((run for run in runs if run[0] <= budget), (0, roots, []))
    result = results if isinstance(expr, (list, tuple)) else results[0]
    return (result, steps) if trace else result


def tidy(
    exprs: Sequence[Any], wanted: bool | None, given: Sequence[Any]
) -> tuple[Sequence[Any], list[Step]]:
    """What differentiation does to its results, and the steps.

    As :func:`simplify`, but without the rules that need an inverse which the expressions don't.
    The scalars of the ``given`` function stay what they are, so that a derivative is written in
    the function's own terms, and its products aren't opened if nothing is lost by that: it is
    likely to be evaluated too. ``wanted=None`` leaves graphs alone that are too big to be read.
    """
    order = postorder(exprs)
    if wanted is False or (wanted is None and len(order) > LARGE):
        return exprs, []
    below = postorder(given)
    fixed = [node for node in below if not is_tensor(node)]
    best = _run(exprs, _shared(order).union(below), fixed, safe=True)
    if len(order) <= LARGE:
        freer = _run(exprs, (), fixed, safe=True)
        best = freer if SLACK * freer[0] < best[0] else best
    price, results, steps = best
    return (results, steps) if price <= SLACK * cost(exprs) else (exprs, [])


def stable(exprs: Sequence[Any], *, numeric: bool = False) -> tuple[list[Any], list[Step]]:
    """The expressions in forms whose values and derivatives don't overflow, and the steps: one
    walk over a graph of any size, whatever the cost. With ``numeric`` also in those that nobody
    would write, in which no digits cancel.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> stable([se.log(se.sigmoid(x) * x)])[0]
    [log(x) - softplus(-x)]
    """
    run = Run(partial(stable_rules_for, numeric=numeric))
    return [run.result(expr) for expr in exprs], run.steps


def _run(
    roots: Sequence[Any],
    kept: Collection[Any] = (),
    fixed: Sequence[Any] = (),
    safe: bool = False,
) -> tuple[int, list[Any], list[Step]]:
    """The simplified expressions with their cost and the steps."""
    run = Run(partial(rules_for, expand=False, safe=safe), kept, fixed)
    results = [run.result(root) for root in roots]
    return cost(results), results, run.steps


def _shared(order: Sequence[Any]) -> set[Any]:
    """The tensor nodes of a graph that several nodes use."""
    uses = Counter(child for node in order for child in children(node))
    return {node for node in order if uses[node] > 1 and isinstance(node, TensorExpr)}


def normal_form(expr: Any) -> Any:
    """The form that decides equality: products of sums are multiplied out, whatever it costs to
    evaluate. Sums and products beyond a few dozen terms stay as they are.

    >>> import sympy_einsum as se
    >>> A, B = se.tensors("A B", 3, 3)
    >>> normal_form((A + B) @ A) is normal_form(A @ A + B @ A)
    True
    """
    return Run(partial(rules_for, expand=True, safe=False)).result(simplify(expr))


class Run:
    """One application of rules to some graphs.

    ``rules`` says which to try on a node. ``kept`` are nodes used by several others: products among
    them aren't opened. ``fixed`` nodes are in normal form already.
    """

    def __init__(
        self,
        rules: Callable[[Any], Sequence[Rule]],
        kept: Collection[Any] = (),
        fixed: Sequence[Any] = (),
    ):
        self.steps: list[Step] = []
        self._rules = rules
        self._kept = kept
        self._closed: set[Any] = set(kept)
        self._images: dict[Any, Any] = {node: node for node in fixed}
        self._active: set[Any] = set()
        self._rebuilt: set[Any] = set()

    def result(self, root: Any) -> Any:
        """The normal form of an expression."""
        images = self._images
        for node in postorder([root], lambda n: () if n in images else children(n)):
            if node in images:
                continue
            below = children(node)
            rebuilt = rebuild(node, tuple([images[o] for o in below])) if below else node
            moved = any(images.get(o) != o for o in children(rebuilt))
            if moved and rebuilt not in self._rebuilt:
                # The constructor has taken scalars out of a product.
                self._rebuilt.add(rebuilt)
                image = self.result(rebuilt)
            else:
                image = self._settled(rebuilt)
            images[node] = images[image] = image
            if node in self._kept:
                self._closed.add(image)
        return images[root]

    def _settled(self, node: Any) -> Any:
        """The node after the first rule that applies, and what follows from there."""
        if node in self._images:
            return self._images[node]
        if node in self._active:
            return node  # two rules that undo each other
        for rule in self._rules(node):
            new = rule.apply(node, self._closed)
            if new is not None and new is not node:
                self.steps.append(Step(rule.name, node, new))
                self._active.add(node)
                try:
                    return self.result(new)
                finally:
                    self._active.discard(node)
        return node
