"""Convexity of scalar functions, with the steps that show it.

References
==========

[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004, §3.
[LMG22] S. Laue, M. Mitterreiter, J. Giesen, "Convexity certificates from Hessians", NeurIPS 2022.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import chain
from typing import NamedTuple

import sympy
from sympy import Basic, Expr, Mul, Piecewise, S, Set

from ..analysis import (
    ValueRange,
    as_set,
    intersection,
    is_defined,
    is_semidefinite,
    is_smooth,
)
from ..calculus import diff
from ..core import (
    ShapeError,
    TensorError,
    UnsupportedError,
    masked,
    postorder,
    tuning,
)
from ..expressions import (
    Constant,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    LogSumExp,
    Operand,
    Reshape,
    Several,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    Zeros,
    as_operand,
    holds_complex,
    is_variable,
    scale,
    shape_of,
)
from ..operations import block, reshape
from ..rules import simplify
from .definiteness import sign_of_form
from .proofs import AFFINE, CONCAVE, CONVEX, Proof, as_tensor, best
from .prover import Prover, implied_ranges

UNKNOWN = "unknown"


class CertificateStep(NamedTuple):
    """A step of a certificate, which follows from steps before it.

    Attributes
    ==========

    expression : the expression, entry by entry
    curvature : ``"affine"``, ``"convex"``, ``"concave"``, ``"log-convex"``, ``"log-concave"``, or
        ``"convex square root"`` for the square of a convex nonnegative function
    range : an interval that contains the values
    rule : the name of the rule
    reason : why the rule applies
    """

    expression: Operand
    curvature: str
    range: Set
    rule: str
    reason: str


@dataclass(frozen=True, repr=False)
class Convexity:
    """Hold what is known of the curvature of a function, and the steps that show it.

    Attributes
    ==========

    kind : ``"affine"``, ``"convex"``, ``"concave"`` or ``"unknown"``
    steps : the steps that show it, each from those before; none where it isn't known
    conditions : what has to hold of the parameters, entry by entry: a sufficient condition
    stopped_at : the expression of which nothing is known, though it is of what it is made of; None
        where the curvature is known
    reason : why it isn't known
    function : the expression whose curvature it is
    variables : the variables that it is convex or concave in
    """

    function: Operand = field(repr=False)
    variables: tuple[Operand, ...]
    kind: str
    steps: tuple[CertificateStep, ...]
    conditions: tuple[Basic, ...] = ()
    stopped_at: Operand = None
    reason: str = ""

    @property
    def is_convex(self) -> bool:
        """Whether it is shown to be convex, as affine functions are, if the conditions hold."""
        return self.kind in (AFFINE, CONVEX)

    @property
    def is_concave(self) -> bool:
        """Whether it is shown to be concave, as affine functions are, if the conditions hold."""
        return self.kind in (AFFINE, CONCAVE)

    def _summary(self) -> str:
        names = ", ".join(map(str, self.variables))
        if self.kind == UNKNOWN:
            return f"unknown in {names}: {self.reason}"
        conditions = " and ".join(map(str, self.conditions))
        return f"{self.kind} in {names}" + (f" if {conditions}" if conditions else "")

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (str(k), str(s.expression), s.curvature, str(s.range), f"{s.rule}: {s.reason}")
            for k, s in enumerate(self.steps, 1)
        ]

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(4)] if rows else []
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[4]])
            for row in rows
        ]
        return "\n".join([self._summary(), *lines])

    def _repr_html_(self) -> str:
        summary = f"<p>{escape(self._summary())}</p>"
        if not self.steps:
            return summary
        heads = ("", "expression", "curvature", "range", "rule")
        lines = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
        for number, step in enumerate(self.steps, 1):
            cells = (
                *(str(number), f"${escape(sympy.latex(step.expression))}$", step.curvature),
                *(f"${escape(sympy.latex(step.range))}$", escape(f"{step.rule}: {step.reason}")),
            )
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        return f"{summary}<table>\n" + "\n".join(lines) + "\n</table>"

    def _repr_latex_(self) -> str:
        if not self.steps:
            return rf"$\displaystyle {sympy.latex(self.function)}\text{{ {UNKNOWN}}}$"
        lines = [
            rf"{sympy.latex(s.expression)} & \text{{{s.curvature}}} & {sympy.latex(s.range)} & "
            rf"\text{{{s.rule}}}"
            for s in self.steps
        ]
        body = " \\\\\n".join(lines)
        return f"$\\displaystyle \\begin{{array}}{{l|l|l|l}}\n{body}\n\\end{{array}}$"


def convexity(f: TensorLike, x: TensorLike | Several) -> Convexity:
    """Tell whether a scalar function is affine, convex or concave in some variables, with steps
    that a person can check.

    Two ways are tried. By composition, from the leaves up: the curvature, monotonicity and interval
    of each part give the curvature of the whole [BV, §3.2], also through logarithms and roots of
    parts, for norms, log-sum-exp, products of powers such as ``x**2/y``, geometric means and
    posynomials [BV, §3.5]; functions of few entries by their second derivatives in intervals;
    quadratic and matrix fractional forms, log-determinants, traces of inverses, eigenvalues and
    singular values as such. Then by the normal form of the Hessian and its definiteness
    [LMG22]: ``X.T @ D @ X`` with D >= 0, sums, Schur complements, diagonal dominance.

    The function is examined where it and the assumptions about its symbols make sense:
    ``x*log(x)`` for positive x, a symbol with ``psd=True`` among semidefinite matrices. A function
    that is convex on either side of a pole isn't convex. What can't be shown is ``"unknown"``.

    Parameters
    ==========

    f : a scalar
    x : a symbol, or a list of symbols, in which f is examined jointly

    Returns
    =======

    A :class:`Convexity` with ``kind``, ``steps``, ``conditions`` and, for ``"unknown"``,
    ``stopped_at``. It prints as a table.

    Raises
    ======

    ShapeError : f isn't a scalar
    TensorError : x is no symbol
    UnsupportedError : f is complex

    Examples
    ========

    >>> import sympy
    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, b, x = se.TensorSymbol("A", m, n), se.TensorSymbol("b", m), se.TensorSymbol("x", n)
    >>> c = symbols("c", real=True)
    >>> se.convexity(se.norm(A @ x - b), x).kind
    'convex'
    >>> found = se.convexity(c * (x @ x), x)
    >>> found.kind, found.conditions
    ('convex', (c >= 0,))
    >>> t = symbols("t", positive=True)
    >>> se.convexity(t * sympy.log(t) + t**2, t)
    convex in t
    1  t**2             convex  Interval.open(0, oo)  even power: of an affine function [BV, §3.2.2]
    2  t*log(t)         convex  Interval(-oo, oo)     second derivative: 1/t >= 0
    3  t**2 + t*log(t)  convex  Interval(-oo, oo)     sum: a sum of convex functions is convex [BV,
    §3.2.1]
    >>> se.convexity(se.tanh(x).sum(), x)
    unknown in x: no rule shows that tanh(x) is convex or concave
    """
    function = as_operand(f)
    if shape_of(function):
        raise ShapeError(f"convexity is one of scalars, not of shape {shape_of(function)}; sum it")
    if holds_complex(function):
        raise UnsupportedError("convexity of complex functions isn't defined")
    listed = list(x) if isinstance(x, (list, tuple)) else [x]
    variables = tuple([as_operand(variable) for variable in listed])
    for variable in variables:
        if not (isinstance(variable, TensorSymbol) or is_variable(variable)):
            raise TensorError(f"convexity is in symbols, not in {str(variable)[:80]!r}")
    if not variables:
        raise TensorError("convexity needs a symbol, or a list of symbols")
    if len(postorder([function])) > tuning.MAX_RECURSIVE_NODES:
        prover, entry = _prover(function, variables)
        stopped = _first_unknown(prover, function)
        if stopped is not None:
            return _unknown(function, variables, stopped)
        proof = _proof(prover, entry)
        if proof is not None:
            return _certificate(function, variables, proof, prover)
    provers = [_prover(form, variables) for form in dict.fromkeys([function, simplify(function)])]
    proofs = [_proof(prover, entry) for prover, entry in provers]
    options = [(p, prover) for p, (prover, _) in zip(proofs, provers, strict=True) if p is not None]
    for proof, prover in options:
        if not proof.requirements:
            return _certificate(function, variables, proof, prover)
    step = _by_second_derivatives(provers[-1][0], simplify(function), variables)
    if step is not None:
        return Convexity(function, variables, step.curvature, (step,))
    for proof, prover in options:
        return _certificate(function, variables, proof, prover)
    prover, entry = provers[0]
    return _unknown(function, variables, as_tensor(_blamed(prover, entry), prover.bodies))


def _unknown(function: Operand, variables: tuple[Operand, ...], node: Operand) -> Convexity:
    text = str(node)
    shown = text if len(text) <= tuning.MAX_SHOWN_CHARACTERS else f"{text[:80]}…"
    reason = f"no rule shows that {shown} is convex or concave"
    return Convexity(function, variables, UNKNOWN, (), (), node, reason)


def _first_unknown(prover: Prover, function: Operand) -> Operand | None:
    """Return the first node of a large graph whose curvature isn't known, from the leaves up, so
    that no proof needs a deep recursion."""
    for node in postorder([function]):
        if not isinstance(node, Expr) or not prover.depends(node):
            continue
        if all(prover.prove_node(node, goal) is None for goal in (CONVEX, CONCAVE)):
            return node
    return None


# --- by composition -------------------------------------------------------------------------------


def _prover(function: Operand, variables: Sequence[Operand]) -> tuple[Prover, Expr]:
    """Return what looks for proofs on the domain of a function, and the function's entry."""
    prover = Prover(variables, _domain(function, variables))
    return prover, prover.bodies.written(function)


def _domain(function: Operand, variables: Sequence[Operand]) -> dict[Basic, ValueRange]:
    """Return the intervals of affine nodes in which logarithms and roots of them are real. Where
    there is a choice, what isn't chosen needn't be."""
    nodes = postorder([function])
    if any(isinstance(node, (Piecewise, masked)) for node in nodes):
        return {}
    prover = Prover(variables, {})
    found: dict[Basic, ValueRange] = {}
    for node in nodes:
        if isinstance(node, TensorExpr) and not isinstance(node, Elementwise):
            continue
        if not isinstance(node, Expr) or not prover.depends(node):
            continue
        body = prover.bodies.written(node)
        if body.has(Piecewise, masked):
            return {}
        affine = [s for s in prover.varying(body) if prover.prove(s, AFFINE) is not None]
        for symbol, own in implied_ranges(body, affine, prover.ranges_of(body)).items():
            inner = prover.bodies.leaves[symbol].node
            found[inner] = intersection(found.get(inner, own), own)
    return found


def _proof(prover: Prover, entry: Expr) -> Proof | None:
    """Return the proof of an entry's curvature that needs the fewest conditions."""
    return best(prover.prove(entry, goal) for goal in (AFFINE, CONVEX, CONCAVE))


def _certificate(
    function: Operand, variables: tuple[Operand, ...], proof: Proof, prover: Prover
) -> Convexity:
    parts = postorder([proof], lambda part: part.premises)
    shown = {
        (part.expr, part.goal): part
        for part in parts
        if part.rule != "variable" and prover.varying(part.expr)
    }
    steps = [_step(part, prover) for part in shown.values()]
    if not steps and prover.varying(proof.expr):
        steps.append(_step(proof, prover))
    conditions = [
        _condition(as_tensor(expr, prover.bodies), is_nonnegative)
        for expr, is_nonnegative in proof.requirements
    ]
    conditions.sort(key=str)
    return Convexity(function, variables, str(proof.goal), tuple(steps), tuple(conditions))


def _step(part: Proof, prover: Prover) -> CertificateStep:
    expression = as_tensor(part.expr, prover.bodies)
    own = as_set(prover.range_of(part.expr))
    return CertificateStep(expression, str(part.goal), own, part.rule, part.reason)


def _condition(expression: Operand, is_nonnegative: bool) -> Basic:
    return expression >= 0 if is_nonnegative else expression <= 0


def _blamed(prover: Prover, entry: Expr) -> Expr:
    """Return the first part whose curvature isn't known, though that of its parts is."""
    while True:
        if entry in prover.bodies.leaves:
            node = prover.bodies.leaves[entry].node
            operands = getattr(node, "operands", ())
            parts = [prover.bodies.written(o) for o in operands if isinstance(o, Expr)]
        else:
            parts = [part for part in entry.args if isinstance(part, Expr)]
        for part in parts:
            is_known = any(prover.prove(part, goal) is not None for goal in (CONVEX, CONCAVE))
            if part != entry and prover.varying(part) and not is_known:
                entry = part
                break
        else:
            return entry


# --- by second derivatives ------------------------------------------------------------------------


def _by_second_derivatives(
    prover: Prover, function: Operand, variables: Sequence[Operand]
) -> CertificateStep | None:
    """Return the step that shows the curvature by the definiteness of the Hessian."""
    if len(variables) > tuning.MAX_HESSIAN_ARGUMENTS or _is_large([function]):
        return None
    if not _is_smooth(prover, function):
        return None
    first = [diff(function, a) for a in variables]
    if _is_large(first):
        return None
    seconds = [[diff(own, b) for b in variables] for own in first]
    if _is_large(chain.from_iterable(seconds)):
        return None
    blocks = [
        [_as_matrix(own, a, b) for own, b in zip(row, variables, strict=True)]
        for row, a in zip(seconds, variables, strict=True)
    ]
    matrix = simplify(block(blocks) if len(variables) > 1 else blocks[0][0])
    for sign, curvature, word in (
        (S.One, CONVEX, "positive"),
        (S.NegativeOne, CONCAVE, "negative"),
    ):
        signed = scale(sign, matrix)
        if _is_nonnegative_number(prover, signed) or sign_of_form(signed, given=prover.domain):
            shown = matrix[0, 0] if _is_scalar(matrix) else matrix
            own = as_set(prover.range_of(prover.bodies.written(function)))
            kind = "second derivative" if _is_scalar(matrix) else "Hessian"
            end = "" if _is_scalar(matrix) else " semidefinite"
            reason = f"its {kind}, {simplify(shown)}, is {word}{end}"
            return CertificateStep(function, curvature, own, kind, reason)
    return None


def _is_large(exprs: Iterable[Operand]) -> bool:
    """Tell whether it would take long to find the sign of expressions."""
    return len(postorder([*exprs])) > tuning.MAX_HESSIAN_NODES


def _is_scalar(matrix: Operand) -> bool:
    return all(length is S.One for length in shape_of(matrix))


def _is_nonnegative_number(prover: Prover, matrix: Operand) -> bool:
    """Tell whether a matrix with one entry is nonnegative."""
    if not _is_scalar(matrix):
        return False
    entry = prover.bodies.written(simplify(matrix[0, 0]))
    return prover.requires(entry, True) == frozenset()


def _as_matrix(second: Operand, a: Operand, b: Operand) -> Operand:
    sizes = [Mul(*shape_of(variable)) for variable in (a, b)]
    return reshape(as_operand(second), sizes)


# Nodes with all derivatives wherever their operands have them.
_SMOOTH_NODES = (Constant, Det, Einsum, LogSumExp, Reshape, Softmax, TensorAdd, TensorSymbol, Zeros)


def _is_smooth(prover: Prover, function: Operand) -> bool:
    """Tell whether a function has second derivatives on a convex domain."""
    for node in postorder([function]):
        if not isinstance(node, Expr) or not prover.depends(node):
            continue
        if isinstance(node, (Inv, LogDet)):
            matrix = node.operands[0]
            if not is_semidefinite(matrix) or prover.prove_node(matrix, AFFINE) is None:
                return False
        elif isinstance(node, TensorExpr) and not isinstance(node, Elementwise):
            if not isinstance(node, _SMOOTH_NODES):
                return False
        elif not is_variable(node):
            body = prover.bodies.written(node)
            if not is_smooth(body) or not is_defined(body, prover.ranges_of(body)):
                return False
    return True
