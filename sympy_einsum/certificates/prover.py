"""Curvature by composition, entry by entry.

An entry is a scalar expression of the entries of nodes below (:class:`EntryBodies`). For each of
its parts a proof is looked for that it is affine, convex or concave, or that its logarithm or a
root is: products and powers need those [BV, §3.5]. Parameters whose sign isn't known give
requirements.

References
==========

[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004, §3.1-§3.5.
[GBY] M. Grant, S. Boyd, Y. Ye, "Disciplined convex programming", 2006.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import sympy
from sympy import Abs, Add, Basic, Expr, Max, Min, Mul, Pow, S

from ..analysis import (
    NONNEGATIVE,
    POSITIVE,
    REALS,
    EntryBodies,
    Ranges,
    ValueRange,
    intersection,
    is_defined,
    is_smooth,
    lies_in,
    node_ranges,
    scalar_range,
)
from ..core import ROWS, derivative, logaddexp, modulus, relu, tuning
from ..expressions import Operand
from .node_rules import CURVATURES, root_of_determinant
from .pieces import pieces_curvature
from .proofs import (
    AFFINE,
    CONCAVE,
    CONVEX,
    LOG_CONCAVE,
    LOG_CONVEX,
    OPPOSITE,
    Goal,
    Proof,
    Requirement,
    Root,
    as_tensor,
    best,
    combined,
    reason_of_sums,
)
from .signs import requirements_of_sign


class Prover:
    """Look for proofs of the curvature of expressions as functions of some variables.

    Attributes
    ==========

    variables : symbols, all of which vary
    domain : narrower intervals of nodes, on which the function is defined
    """

    def __init__(self, variables: Collection[Operand], domain: Mapping[Basic, ValueRange]) -> None:
        self.variables = frozenset(variables)
        self.domain = dict(domain)
        self.bodies = EntryBodies(self.domain)
        self.ranges: dict[Basic, ValueRange] = {}
        self._nodes: dict[Basic, ValueRange] = dict(domain)
        self._proofs: dict[tuple[Expr, Goal], Proof | None] = {}
        self._varies: dict[Basic, bool] = {}

    # --- what is known of entries

    def depends(self, node: Operand) -> bool:
        """Tell whether a node depends on a variable."""
        if node not in self._varies:
            self._varies[node] = not self.variables.isdisjoint(node.free_symbols)
        return self._varies[node]

    def varying(self, expr: Expr) -> list[Basic]:
        """Return the symbols of leaves that depend on a variable."""
        leaves = self.bodies.leaves
        found = [s for s in expr.free_symbols if s in leaves and self.depends(leaves[s].node)]
        return sorted(found, key=lambda s: s.dummy_index)

    def range_of_node(self, node: Operand) -> ValueRange:
        """Return the interval of the entries of a node."""
        if node not in self._nodes:
            self._nodes.update(node_ranges([node], self._nodes))
        return self._nodes[node]

    def ranges_of(self, expr: Expr) -> Ranges:
        """Return the intervals of the symbols of an entry."""
        for symbol in expr.free_symbols:
            if symbol not in self.ranges and symbol in self.bodies.leaves:
                self.ranges[symbol] = self.range_of_node(self.bodies.leaves[symbol].node)
        return self.ranges

    def range_of(self, expr: Expr) -> ValueRange:
        """Return the interval of an entry."""
        return scalar_range(expr, self.ranges_of(expr))

    def requires(self, expr: Expr, is_nonnegative: bool) -> frozenset[Requirement] | None:
        """Return what makes an entry nonnegative, or nonpositive."""
        return requirements_of_sign(expr, self.ranges_of(expr), self.varying(expr), is_nonnegative)

    # --- proofs

    def prove_node(self, node: Operand, goal: Goal) -> Proof | None:
        """Prove the curvature of all entries of a node."""
        return self.prove(self.bodies.written(node), goal)

    def prove(self, expr: Expr, goal: Goal) -> Proof | None:
        """Prove the curvature of an entry; None if no rule does."""
        expr = in_elementary_functions(expr)
        key = expr, goal
        if key not in self._proofs:
            self._proofs[key] = None  # while it is looked for
            self._proofs[key] = best(self._options(expr, goal))
        return self._proofs[key]

    def _options(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        if not self.varying(expr):
            yield self._of_constant(expr, goal)
            return
        if goal in (CONVEX, CONCAVE):
            affine = self.prove(expr, AFFINE)
            if affine is not None:
                yield affine
                return
        if expr in self.bodies.leaves:
            yield from self._of_leaf(expr, goal)
        else:
            yield from self._by_structure(expr, goal)
        yield from self._by_other_goals(expr, goal)
        if goal in (CONVEX, CONCAVE):
            yield self._by_hessian(expr, goal)
        if goal in (LOG_CONVEX, LOG_CONCAVE) and self.range_of(expr).is_positive:
            proof = self._by_hessian(sympy.log(expr), CONVEX if goal == LOG_CONVEX else CONCAVE)
            if proof is not None:
                reason = f"the logarithm is {proof.goal}: {proof.reason}"
                yield replace(proof, expr=expr, goal=goal, reason=reason)

    def _of_constant(self, expr: Expr, goal: Goal) -> Proof | None:
        if goal in OPPOSITE:
            return Proof(expr, AFFINE, "constant", "it doesn't depend on the variables")
        own = self.range_of(expr)
        if isinstance(goal, Root):
            needed = self.requires(expr, True)
            return (
                combined(expr, goal, "constant", "it is nonnegative", (), needed or ())
                if (needed is not None)
                else None
            )
        if own.is_positive:
            return Proof(expr, goal, "constant", "it is positive")
        return None

    def _of_leaf(self, symbol: Basic, goal: Goal) -> Iterator[Proof | None]:
        leaf = self.bodies.leaves[symbol]
        if leaf.node in self.variables:
            if goal == AFFINE:
                yield Proof(symbol, AFFINE, "variable", "it is a variable")
            return
        yield from CURVATURES[type(leaf.node)](self, leaf.node, symbol, goal)

    def _by_other_goals(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        """Prove a curvature by another one of the same expression."""
        if goal == CONVEX:
            proof = self.prove(expr, LOG_CONVEX)
            if proof is not None:
                yield Proof(
                    expr,
                    CONVEX,
                    "exponential of its logarithm",
                    "log-convex functions are convex [BV, §3.5.1]",
                    (proof,),
                    proof.requirements,
                )
        elif goal == LOG_CONCAVE and self.range_of(expr).is_positive:
            yield combined(
                expr,
                goal,
                "logarithm",
                "the logarithm of a positive concave function is concave",
                [self.prove(expr, CONCAVE)],
            )
        elif isinstance(goal, Root):
            if goal.degree <= 1 and self.range_of(expr).is_nonnegative:
                yield combined(
                    expr, goal, "power", "it is convex and nonnegative", [self.prove(expr, CONVEX)]
                )
            proof = self.prove(expr, LOG_CONVEX)
            if proof is not None:
                yield combined(expr, goal, "log-convex", "its powers are log-convex too", [proof])

    def _of_function(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        """Prove the curvature of a function whose curvature and monotonicity are known."""
        curvature, monotonicity, domain = _FUNCTIONS[type(expr)]
        (inner,) = expr.args
        if goal != curvature:
            return
        name = type(expr).__name__
        if domain != REALS and not lies_in(self.range_of(inner), domain):
            return
        yield combined(
            expr,
            goal,
            name,
            f"{name} is {curvature}, and the argument affine",
            [self.prove(inner, AFFINE)],
        )
        if monotonicity:
            needed = curvature if monotonicity > 0 else OPPOSITE[curvature]
            yield combined(
                expr,
                goal,
                name,
                f"{name} is {curvature} and {'in' if monotonicity > 0 else 'de'}creasing"
                f", and the argument {needed} [BV, §3.2.4]",
                [self.prove(inner, needed)],
            )

    def _by_structure(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        if expr.is_Add:
            yield from self._of_sum(expr, goal)
        elif expr.is_Mul:
            yield from self._of_product(expr, goal)
        elif expr.is_Pow:
            yield from self._of_power(expr, goal)
        elif isinstance(expr, sympy.exp):
            yield from self._of_exponential(expr, expr.exp, goal)
        elif isinstance(expr, sympy.log):
            yield from self._of_logarithm(expr, goal)
        elif isinstance(expr, (Max, Min, relu)):
            yield from self._of_maximum(expr, goal)
        elif type(expr) in _FUNCTIONS:
            yield from self._of_function(expr, goal)
        elif isinstance(expr, Abs):
            if goal == CONVEX:
                yield from self._of_absolute_value(expr)
        elif isinstance(expr, sympy.Piecewise) and goal in (CONVEX, CONCAVE):
            yield self._of_pieces(expr, goal)

    def _of_sum(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        reason = reason_of_sums(goal)
        if not reason:
            return
        proofs = {term: self.prove(term, goal) for term in expr.args}
        rest = [term for term, proof in proofs.items() if proof is None]
        if rest and len(rest) < len(expr.args) and goal in (CONVEX, CONCAVE):
            total = Add(*rest)
            proofs = {term: proof for term, proof in proofs.items() if proof is not None}
            proofs[total] = self.prove(total, goal)
        yield combined(expr, goal, "sum", reason, proofs.values())

    def _of_product(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        constant = Mul(*[factor for factor in expr.args if not self.varying(factor)])
        rest = [factor for factor in expr.args if self.varying(factor)]
        if constant is not S.One:
            yield from self._of_multiple(expr, constant, Mul(*rest), goal)
            return
        if goal in (LOG_CONVEX, LOG_CONCAVE):
            yield combined(
                expr,
                goal,
                "product",
                f"a product of {goal} functions is {goal} [BV, §3.5.2]",
                [self.prove(factor, goal) for factor in rest],
            )
            return
        yield self._of_odd_power(expr, rest, goal)
        if goal in (CONVEX, CONCAVE):
            yield from self._of_powers(expr, rest, goal)

    def _of_multiple(
        self, expr: Expr, constant: Expr, rest: Expr, goal: Goal
    ) -> Iterator[Proof | None]:
        if goal == AFFINE:
            yield combined(
                expr,
                goal,
                "multiple",
                "a multiple of an affine function is affine",
                [self.prove(rest, AFFINE)],
            )
            return
        if goal in (LOG_CONVEX, LOG_CONCAVE):
            if self.range_of(constant).is_positive:
                yield combined(
                    expr, goal, "multiple", "the factor is positive", [self.prove(rest, goal)]
                )
            return
        inner: list[tuple[bool, Goal]] = [(True, goal)]
        if goal in OPPOSITE:
            inner.append((False, OPPOSITE[str(goal)]))
        for is_nonnegative, own in inner:
            needed = self.requires(constant, is_nonnegative)
            if needed is not None:
                sign = "nonnegative" if is_nonnegative else "nonpositive"
                yield combined(
                    expr,
                    goal,
                    "multiple",
                    f"the factor is {sign} [BV, §3.2.1]",
                    [self.prove(rest, own)],
                    needed,
                )

    def _of_odd_power(self, expr: Expr, factors: list[Expr], goal: Goal) -> Proof | None:
        """Prove the convexity of |u|^(2 k + 1), which SymPy writes as u^(2 k) |u|."""
        sizes = [factor for factor in factors if isinstance(factor, Abs)]
        if len(sizes) != 1 or len(factors) != 2:
            return None
        base = sizes[0].args[0]
        own, exponent = next(f for f in factors if f is not sizes[0]).as_base_exp()
        if own != base or not exponent.is_even or goal not in (CONVEX, Root(exponent + 1)):
            return None
        return combined(
            expr,
            goal,
            "power of an absolute value",
            "of an affine function [BV, §3.1.5]",
            [self.prove(base, AFFINE)],
        )

    def _of_powers(self, expr: Expr, factors: list[Expr], goal: Goal) -> Iterator[Proof | None]:
        """Prove the curvature of a product of powers of distinct functions."""
        powers = [factor.as_base_exp() for factor in factors]
        if not all(exponent.is_Rational for _, exponent in powers):
            return
        if goal == CONCAVE:
            if all(e.is_positive for _, e in powers) and sum(e for _, e in powers) <= 1:
                bases = [base for base, _ in powers]
                if all(self._is_nonnegative(base) for base in bases):
                    yield combined(
                        expr,
                        goal,
                        "geometric mean",
                        "the exponents are positive, their sum is at most 1, and the bases are "
                        "concave and nonnegative [BV, §3.1.5]",
                        [self.prove(base, CONCAVE) for base in bases],
                    )
            return
        rising = [k for k, (_, e) in enumerate(powers) if e.is_positive]
        falling = [base for base, e in powers if e.is_negative]
        if not all(self.range_of(base).is_positive for base in falling) or len(rising) > 1:
            return
        premises = [self.prove(base, CONCAVE) for base in falling]
        if not rising:
            yield combined(
                expr,
                goal,
                "inverses",
                "a product of inverse powers of positive concave functions is convex [BV, §3.2.4]",
                premises,
            )
            return
        degree = 1 - sum(e for _, e in powers if e.is_negative)
        (top,) = rising
        yield combined(
            expr,
            goal,
            "power over powers",
            f"u^{degree} over powers with the sum {degree - 1} is convex for convex u and positive "
            "concave denominators, as x^2/y is [BV, §3.2.6]",
            [self.prove(factors[top], Root(degree)), *premises],
        )

    def _is_nonnegative(self, base: Expr) -> bool:
        """Tell whether a base is nonnegative wherever a root of it is defined."""
        return self.range_of(base).is_nonnegative

    def _of_power(self, expr: Pow, goal: Goal) -> Iterator[Proof | None]:
        base, exponent = expr.base, expr.exp
        if not self.varying(base):
            if self.range_of(base).is_positive:
                yield from self._of_exponential(expr, exponent * sympy.log(base), goal)
            return
        if not exponent.is_Rational:
            return
        if goal in (LOG_CONVEX, LOG_CONCAVE):
            inner = goal
            if exponent.is_negative:
                inner = LOG_CONCAVE if goal == LOG_CONVEX else LOG_CONVEX
            if self.range_of(base).is_positive:
                yield combined(
                    expr,
                    goal,
                    "power",
                    "its logarithm is a multiple of that of the base",
                    [self.prove(base, inner)],
                )
            return
        is_concave_power = goal == CONCAVE and 0 < exponent <= 1
        if is_concave_power:
            yield combined(
                expr,
                goal,
                "root",
                "it is concave and increasing, and the argument concave [BV, §3.2.4]",
                [self.prove(base, CONCAVE)],
            )
            yield from self._of_root_of_determinant(expr, goal)
            return
        if goal != CONVEX and not isinstance(goal, Root):
            return
        degree = goal.degree if isinstance(goal, Root) else S.One
        own = self.range_of(base)
        if exponent.is_negative:
            if own.is_positive:
                yield combined(
                    expr,
                    goal,
                    "inverse",
                    "it is convex and decreasing, and the argument concave "
                    "and positive [BV, §3.2.4]",
                    [self.prove(base, CONCAVE)],
                )
            return
        if exponent.is_even and exponent >= degree:
            yield combined(
                expr,
                goal,
                "even power",
                "of an affine function [BV, §3.2.2]",
                [self.prove(base, AFFINE)],
            )
        root = degree / exponent
        premise = self.prove(base, Root(root)) if own.is_nonnegative else None
        if root > 1:
            yield combined(
                expr,
                goal,
                "norm" if goal == CONVEX else "power",
                f"the base is u^{root} with u convex and nonnegative, or a sum of these "
                "[BV, §3.2.4]",
                [premise],
            )
        else:
            yield combined(
                expr,
                goal,
                "power",
                "it is convex and increasing, and the argument convex and nonnegative [BV, §3.2.4]",
                [premise],
            )

    def _of_root_of_determinant(self, expr: Pow, goal: Goal) -> Iterator[Proof | None]:
        leaf = self.bodies.leaves.get(expr.base)
        if leaf is None:
            return
        found = root_of_determinant(self, leaf.node, expr.exp)
        if found is not None:
            yield combined(
                expr,
                goal,
                "root of a determinant",
                "det^(1/n) of positive semidefinite matrices is concave [BV, §3.1.5]",
                [found],
            )

    def _of_exponential(self, expr: Expr, exponent: Expr, goal: Goal) -> Iterator[Proof | None]:
        reason = "its logarithm is the argument"
        if goal == LOG_CONVEX:
            yield combined(expr, goal, "exponential", reason, [self.prove(exponent, CONVEX)])
        elif goal == LOG_CONCAVE:
            yield combined(expr, goal, "exponential", reason, [self.prove(exponent, CONCAVE)])

    def _of_logarithm(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        inner = expr.args[0]
        if goal == CONVEX:
            yield combined(
                expr,
                goal,
                "log-sum-exp",
                "the argument is log-convex [BV, §3.5.2]",
                [self.prove(inner, LOG_CONVEX)],
            )
        elif goal == CONCAVE:
            yield combined(
                expr,
                goal,
                "logarithm",
                "it is concave and increasing, and the argument concave [BV, §3.2.4]",
                [self.prove(inner, CONCAVE)],
            )
            yield combined(
                expr,
                goal,
                "logarithm",
                "the argument is log-concave",
                [self.prove(inner, LOG_CONCAVE)],
            )

    def _of_maximum(self, expr: Expr, goal: Goal) -> Iterator[Proof | None]:
        is_minimum = isinstance(expr, Min)
        allowed = (CONCAVE, LOG_CONCAVE) if is_minimum else (CONVEX, LOG_CONVEX)
        if goal in allowed or (isinstance(goal, Root) and not is_minimum):
            arguments = [*expr.args, *([S.Zero] if isinstance(expr, relu) else [])]
            if goal in (LOG_CONVEX, LOG_CONCAVE) and S.Zero in arguments:
                return
            name = "minimum" if is_minimum else "maximum"
            yield combined(
                expr,
                goal,
                name,
                f"the {name} of {goal} functions is so [BV, §3.2.3]",
                [self.prove(arg, goal) for arg in arguments],
            )

    def _of_absolute_value(self, expr: Expr) -> Iterator[Proof | None]:
        (inner,) = expr.args
        yield combined(
            expr,
            CONVEX,
            "absolute value",
            "of an affine function [BV, §3.2.2]",
            [self.prove(inner, AFFINE)],
        )
        if self.range_of(inner).is_nonnegative:
            yield combined(
                expr,
                CONVEX,
                "absolute value",
                "of a nonnegative function",
                [self.prove(inner, CONVEX)],
            )

    def _of_pieces(self, expr: Expr, goal: Goal) -> Proof | None:
        symbols = self.varying(expr)
        if len(symbols) != 1 or expr.free_symbols != set(symbols):
            return None
        inner = self.prove(symbols[0], AFFINE)
        own = self.ranges_of(expr)[symbols[0]]
        if inner is None or not pieces_curvature(expr, symbols[0], own, goal == CONVEX):
            return None
        return combined(
            expr,
            goal,
            "pieces",
            f"each piece is {goal}, and derivatives "
            f"{'rise' if goal == CONVEX else 'fall'} where they meet",
            [inner],
        )

    def _by_hessian(self, expr: Expr, goal: Goal) -> Proof | None:
        """Prove the curvature of a smooth function of few entries by its Hessian, and by its
        derivatives by the entries that aren't affine [BV, §3.2.4]."""
        symbols = self.varying(expr)
        if not 0 < len(symbols) <= tuning.MAX_HESSIAN_ARGUMENTS or expr in symbols:
            return None
        if not is_smooth(expr):
            return None
        ranges = dict(self.ranges_of(expr))
        affine = [s for s in symbols if self.prove(s, AFFINE) is not None]
        ranges.update(implied_ranges(expr, affine, ranges))
        if not is_defined(expr, ranges):
            return None
        needed: set[Requirement] = set()
        is_convex = goal == CONVEX
        derivatives = {s: derivative(expr, s) for s in symbols}
        premises = []
        for symbol in symbols:
            if symbol in affine:
                premises.append(self.prove(symbol, AFFINE))
                continue
            for inner, is_rising in ((CONVEX, is_convex), (CONCAVE, not is_convex)):
                proof = self.prove(symbol, inner)
                found = None
                if proof is not None:
                    found = requirements_of_sign(derivatives[symbol], ranges, symbols, is_rising)
                if found is not None:
                    premises.append(proof)
                    needed |= found
                    break
            else:
                return None
        of_minors = self._minors(derivatives, symbols, ranges, is_convex)
        if of_minors is None:
            return None
        minors, shown = of_minors
        sign = ">= 0" if is_convex else "<= 0"
        if len(symbols) == 1:
            rule, reason = "second derivative", f"{shown[0]} {sign}"
        else:
            rule = "Hessian"
            of = "its" if is_convex else "its opposite's"
            reason = f"{of} principal minors, {', '.join(shown)}, are >= 0 [BV, §A.5.1]"
        return combined(expr, goal, rule, reason, premises, needed | minors)

    def _minors(
        self,
        derivatives: Mapping[Basic, Expr],
        symbols: list[Basic],
        ranges: Ranges,
        is_convex: bool,
    ) -> tuple[frozenset[Requirement], list[str]] | None:
        """Return what makes all principal minors of the Hessian, or of its opposite, nonnegative
        [BV, §A.5.1], and the minors."""
        sign = 1 if is_convex or len(symbols) == 1 else -1
        matrix = sympy.Matrix(
            [[sign * derivative(derivatives[a], b) for b in symbols] for a in symbols]
        )
        needed: frozenset[Requirement] = frozenset()
        shown = []
        for count in range(1, len(symbols) + 1):
            for rows in combinations(range(len(symbols)), count):
                minor = matrix.extract(list(rows), list(rows)).det(method="berkowitz")
                if count > 1:
                    minor = sympy.factor(sympy.powsimp(sympy.expand(minor)))
                wanted = is_convex or len(symbols) > 1
                found = requirements_of_sign(minor, ranges, symbols, wanted)
                if found is None:
                    return None
                needed |= found
                shown.append(str(as_tensor(sympy.factor_terms(minor), self.bodies)))
        return needed, list(dict.fromkeys(shown))


# Functions of one argument: their curvature, the sign of their derivative, and where that holds.
_CURVATURES_BY_NAME: dict[str, tuple[str, int, ValueRange]] = {
    "softplus": (CONVEX, 1, REALS),
    "log_ndtr": (CONCAVE, 1, REALS),
    "erfcx": (CONVEX, -1, REALS),
    "exprel": (CONVEX, 1, REALS),
    "cosh": (CONVEX, 0, REALS),
    "log_sinhc": (CONVEX, 0, REALS),
    "loggamma": (CONVEX, 0, POSITIVE),
    "digamma": (CONCAVE, 1, POSITIVE),
}
_FUNCTIONS = {
    row.function: _CURVATURES_BY_NAME[row.function.__name__]
    for row in ROWS
    if row.function.__name__ in _CURVATURES_BY_NAME
}
# Functions that are proved by their definitions.
_DEFINED = {
    row.function: row.definition
    for row in ROWS
    if row.definition and row.function.__name__ in ("entr", "rel_entr", "xlogy", "xlog1py")
}
_DEFINED[logaddexp] = lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b))
_DEFINED[modulus] = lambda a, b: sympy.sqrt(a**2 + b**2)


def in_elementary_functions(expr: Expr) -> Expr:
    """Replace entropies and sums of exponentials or squares by their definitions."""
    for function, definition in _DEFINED.items():
        if expr.has(function):
            expr = expr.replace(function, definition)
    return expr


def implied_ranges(
    expr: Expr, symbols: Collection[Basic], ranges: Ranges
) -> dict[Basic, ValueRange]:
    """Return narrower intervals of symbols, outside of which logarithms and roots of multiples of
    them aren't real."""
    known = dict(ranges)
    narrowed: dict[Basic, ValueRange] = {}
    for node in sympy.preorder_traversal(expr):
        argument, domain = _argument_and_domain(node)
        if argument is None or domain is None or len(argument.free_symbols) != 1:
            continue
        (symbol,) = argument.free_symbols
        if symbol not in symbols:
            continue
        coefficient = argument.diff(symbol)
        if not coefficient.is_Rational or coefficient.is_zero:
            continue
        edge = -argument.subs(symbol, 0) / coefficient
        if not edge.is_Rational:
            continue
        is_open = domain.is_low_open
        if coefficient.is_positive:
            own = ValueRange(edge, S.Infinity, is_open, True)
        else:
            own = ValueRange(S.NegativeInfinity, edge, True, is_open)
        narrower = intersection(known[symbol], own)
        if narrower != known[symbol]:
            known[symbol] = narrowed[symbol] = narrower
    return narrowed


def _argument_and_domain(node: Basic) -> tuple[Expr | None, ValueRange | None]:
    if isinstance(node, sympy.log):
        return node.args[0], POSITIVE
    if isinstance(node, Pow) and node.exp.is_Rational and not node.exp.is_Integer:
        return node.base, NONNEGATIVE if node.exp.is_positive else POSITIVE
    return None, None
