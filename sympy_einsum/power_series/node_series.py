"""The power series of each node of a graph, from those of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from sympy import Add, Basic, Dummy, Expr, Rational, S, Symbol, expand, factorial, log

from ..calculus import diff
from ..core import UnsupportedError, deferred, postorder, transform
from ..expressions import (
    Constant,
    Delta,
    Det,
    EigenValues,
    EigenVectors,
    Einsum,
    Elementwise,
    Expm,
    Extremum,
    Inv,
    InvStack,
    LeftVectors,
    LogDet,
    LogDetStack,
    LogSumExp,
    Ones,
    Operand,
    Operands,
    Picked,
    PseudoInverse,
    QFactor,
    Ranking,
    Reshape,
    RFactor,
    RightVectors,
    SingularValues,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Zeros,
    apply_body,
    contract,
    det,
    drop_constant_axes,
    fill_value,
    free_leaves,
    inv,
    is_literal,
    order_of,
    rebuild,
    reshape_node,
    scale,
    shape_of,
    slot,
    split_body,
    substitute,
    total_of,
    varying_axes,
)
from ..rules import simplify
from .coefficients import PowerSeries, added, collected, contracted, vanishes
from .scalar_functions import MoreTermsError, NoSeriesError, coefficients_of

_equal = deferred("verification", "equal")

# In scalar functions; the same for all nodes, so that their power series are computed once.
_VARIABLE = Dummy("t", real=True)


@lru_cache(maxsize=256)
def _unknown(k: int) -> Symbol:
    """Return a symbol for a coefficient that isn't known."""
    return Dummy(f"c{k}", real=True)


# Nodes that aren't differentiable where eigenvalues, singular values or entries are equal.
_OF_DISTINCT = (
    *(EigenValues, EigenVectors, SingularValues, LeftVectors, RightVectors),
    *(Extremum, Picked, Ranking, PseudoInverse, QFactor, RFactor),
)


def of_constants(value: Operand) -> Operand:
    """Evaluate softmax and log-sum-exp of tensors that are constant along their axes."""

    def visit(node: Operand, below: Operands) -> Operand:
        node = rebuild(node, below) if below else node
        if not isinstance(node, (Softmax, LogSumExp)):
            return node
        (operand,) = node.operands
        fixed = isinstance(operand, Zeros) or not {*varying_axes([operand])}.intersection(node.axes)
        if not fixed:
            return node
        count = prod([operand.shape[axis] for axis in node.axes], start=S.One)
        if isinstance(node, Softmax):
            return scale(1 / count, Ones(*node.shape))
        kept = [axis for axis in range(operand.order) if axis not in node.axes]
        value = Zeros(*[operand.shape[axis] for axis in kept])
        if not isinstance(operand, Zeros):
            (value,) = drop_constant_axes([operand], kept)
        rise = contract((log(count),), ((),), range(len(kept)), dict(enumerate(shape_of(value))))
        return total_of([value, rise]) if kept else value + log(count)

    return transform([value], visit)[0]


class NodeSeries:
    """The power series of nodes in a variable at 0, to powers below the ``order``.

    Parameters
    ==========

    side : "+", "-" or "+-", as for :func:`coefficients_of`
    shown, place : the expression that the variable stands for, and the end of error messages
    """

    def __init__(self, variable: Symbol, order: int, side: str, shown: Expr, place: str):
        self._variable, self._order, self._side = variable, order, side
        self._shown, self._place = shown, place
        self._known: dict[Basic, PowerSeries] = {}

    def of(self, root: Operand) -> PowerSeries:
        """Return the power series of a node."""
        known = self._known
        for node in postorder([root], lambda n: () if n in known else self._below(n)):
            if node not in known:
                known[node] = self._found(node)
        return known[root]

    def _depends(self, node: Basic) -> bool:
        return self._variable in free_leaves(node)

    def _below(self, node: Operand) -> Sequence[Operand]:
        if node == self._variable or not self._depends(node):
            return ()
        return node.operands if isinstance(node, TensorExpr) else split_body(node)[1]

    def _found(self, node: Operand) -> PowerSeries:
        if node == self._variable:
            return PowerSeries({1: S.One})
        if not self._depends(node):
            return PowerSeries({} if vanishes(node) else {0: node})
        if not isinstance(node, TensorExpr):
            body, operands = split_body(node)
            return self._composed(body, operands, node)
        below = [self._known[operand] for operand in node.operands]
        if isinstance(node, TensorAdd):
            return added(below, self._order)
        if isinstance(node, Einsum):
            lengths = dict(enumerate(node.lengths))
            return contracted(below, node.subscripts, node.output, lengths, self._order)
        if isinstance(node, Elementwise):
            return self._composed(node.body, node.operands, node)
        if isinstance(node, Reshape):
            terms = {k: reshape_node(term, node.shape) for k, term in below[0].terms.items()}
            return PowerSeries(terms, below[0].order)
        if isinstance(node, (Inv, InvStack)):
            return self._inverse(node, below[0])
        if isinstance(node, Expm) and len(below) == 1 and below[0].low > 0:
            return self._exponential(node, below[0])
        if isinstance(node, Det):
            return self._determinant(node, below[0])
        return self._by_derivatives(node, below)

    # --- scalar functions

    def _composed(self, body: Expr, operands: Sequence[Operand], node: Operand) -> PowerSeries:
        coefficients: list[Operand] = []
        unknown: list[Symbol] = []
        rule: dict[Basic, Expr] = {}
        for k, operand in enumerate(operands):
            series = self._known[operand]
            parts = []
            for power, value in series.terms.items():
                fill = fill_value(value)
                if is_literal(fill):
                    parts.append(fill * _VARIABLE**power)
                else:
                    parts.append(slot(len(coefficients)) * _VARIABLE**power)
                    coefficients.append(value)
            if series.order is not None:
                rest = _unknown(len(unknown))
                unknown.append(rest)
                parts.append(rest * _VARIABLE**series.order)
            rule[slot(k)] = Add(*parts)
        try:
            found, order = coefficients_of(
                body.xreplace(rule), _VARIABLE, tuple(unknown), self._order, self._side
            )
        except NoSeriesError as error:
            kind = MoreTermsError if unknown else UnsupportedError
            raise self._none(node, str(error), kind) from None
        shape = shape_of(node)
        terms = {}
        for power, value in found.items():
            term = apply_body(value, coefficients) if coefficients else value
            if shape and not order_of(term):
                term = contract((term,), ((),), range(len(shape)), dict(enumerate(shape)))
            if not vanishes(term):
                terms[power] = term
        return PowerSeries(terms, order)

    # --- functions of matrices

    def _inverse(self, node: TensorExpr, series: PowerSeries) -> PowerSeries:
        """inv(M) = t^-v Z for M = t^v (M_0 + t M_1 + …), with Z_0 = inv(M_0) and Z_k = -Z_0 (M_1
        Z_(k-1) + … + M_k Z_0)."""
        low = series.low
        matrix = series.shifted(-low)
        if 0 not in matrix.terms:
            reason = "the matrix vanishes to all orders computed"
            raise self._none(node, reason, MoreTermsError)
        self._check_regular(node, matrix.terms[0])
        first = type(node)._build((matrix.terms[0],), ())
        order = self._order + low if matrix.order is None else min(self._order + low, matrix.order)
        found = {0: first}
        stack = tuple(range(node.order - 2))
        row, middle, next_, column = range(len(stack), len(stack) + 4)
        n = node.shape[-1]
        lengths = dict(enumerate((*node.shape[:-2], n, n, n, n)))
        for k in range(1, order):
            parts = [
                contract(
                    (S.NegativeOne, first, matrix.terms[j], found[k - j]),
                    ((), (*stack, row, middle), (*stack, middle, next_), (*stack, next_, column)),
                    (*stack, row, column),
                    lengths,
                )
                for j in range(1, k + 1)
                if j in matrix.terms and k - j in found
            ]
            if parts:
                total = collected([(k, part) for part in parts], None).terms.get(k)
                if total is not None:
                    found[k] = simplify(total)
        return PowerSeries(found, order).shifted(-low)

    def _exponential(self, node: Expm, series: PowerSeries) -> PowerSeries:
        """expm(M) = I + M + M^2/2 + … for M_0 = 0."""
        stack = tuple(range(node.order - 2))
        row, middle, column = range(len(stack), len(stack) + 3)
        n = node.shape[-1]
        lengths = dict(enumerate((*node.shape[:-2], n, n, n)))
        identity = contract((), (), (*stack, row, row), {k: lengths[k] for k in (*stack, row)})
        power = PowerSeries({0: identity})
        summands = [power]
        for k in range(1, self._order):
            subscripts = ((), (*stack, row, middle), (*stack, middle, column))
            factors = [PowerSeries({0: Rational(1, k)}), power, series]
            power = contracted(factors, subscripts, (*stack, row, column), lengths, self._order)
            summands.append(power)
        total = added(summands, self._order)
        return PowerSeries(total.terms, self._order if total.order is None else total.order)

    def _determinant(self, node: Det, series: PowerSeries) -> PowerSeries:
        """det(t^v M) = t^(v n) det(M), and det(M) = det(M_0) exp(tr N - tr N^2/2 + …) for N =
        inv(M_0) (M - M_0)."""
        length = node.operands[0].shape[-1]
        if series.low and not length.is_Integer:
            raise self._none(node, f"it is of order {length}, which isn't a number")
        matrix = series.shifted(-series.low)
        first = matrix.terms.get(0)
        if first is None or self._is_singular(first):
            return self._by_derivatives(node, [matrix]).shifted(series.low * int(length or 0))
        order = self._order if matrix.order is None else min(self._order, matrix.order)
        rest = PowerSeries({k: v for k, v in matrix.terms.items() if k}, matrix.order)
        pair, lengths = ((0, 1), (1, 2)), dict.fromkeys(range(3), length)
        inverse = PowerSeries({0: inv(first)})
        quotient = contracted([inverse, rest], pair, (0, 2), lengths, order)
        power, logarithms = quotient, dict.fromkeys(range(order), S.Zero)
        for j in range(1, order):
            for k, value in power.terms.items():
                trace = contract((value,), ((0, 0),), (), {0: length})
                logarithms[k] += Rational((-1) ** (j + 1), j) * simplify(trace)
            power = contracted([power, quotient], pair, (0, 2), lengths, order)
        found: dict[int, Expr] = {0: S.One}
        for k in range(1, order):
            parts = [j * logarithms[j] * found[k - j] for j in range(1, k + 1)]
            found[k] = expand(Add(*parts) / k)
        determinant = det(first)
        terms = {k: determinant * value for k, value in found.items() if value is not S.Zero}
        return PowerSeries(terms, order).shifted(series.low * int(length) if series.low else 0)

    # --- other nodes

    def _by_derivatives(self, node: TensorExpr, below: Sequence[PowerSeries]) -> PowerSeries:
        """Taylor's formula for the node of the polynomials that its operands begin with."""
        self._check(node, below)
        orders = [series.order for series in below if series.order is not None]
        order = min([self._order, *orders])
        operands = tuple(
            [
                series.polynomial(self._variable, operand)
                for series, operand in zip(below, node.operands, strict=True)
            ]
        )
        current: Operand = type(node)._build(operands, node.data)
        terms: dict[int, Operand] = {}
        for power in range(order):
            value = substitute(current, {self._variable: S.Zero})
            value = simplify(of_constants(value / factorial(power)))
            if not vanishes(value):
                terms[power] = value
            if power < order - 1:
                current = diff(current, self._variable)
        return PowerSeries(terms, order)

    def _check(self, node: TensorExpr, below: Sequence[PowerSeries]) -> None:
        for operand, series in zip(node.operands, below, strict=True):
            if series.low < 0:
                infinite = operand.xreplace({self._variable: self._shown})
                raise self._none(node, f"{str(infinite)[:60]} is infinite")
            if not self._depends(operand):
                continue
            first = series.terms.get(0)
            if isinstance(node, (LogDet, LogDetStack)):
                self._check_regular(node, first)
            has_tensors = first is not None and any(
                isinstance(leaf, TensorSymbol) for leaf in free_leaves(first)
            )
            if isinstance(node, _OF_DISTINCT) and not has_tensors:
                raise self._none(
                    node, "it isn't differentiable where eigenvalues or entries are equal"
                )

    def _is_singular(self, matrix: Operand) -> bool:
        """Tell whether a matrix has no inverse, by numbers if it isn't a symbol."""
        if isinstance(matrix, Constant) and matrix.order == 2:
            values = matrix.array.astype(complex)
            return bool(np.linalg.matrix_rank(values) < len(values))
        if isinstance(matrix, (TensorSymbol, Delta)) or matrix.order > 2:
            return False
        return _equal(det(matrix), 0) is not False

    def _check_regular(self, node: TensorExpr, matrix: Operand | None) -> None:
        """Raise UnsupportedError unless a matrix may be inverted."""
        if matrix is None or vanishes(matrix) or self._is_singular(matrix):
            raise self._none(node, f"{str(matrix)[:60]} is singular")

    def _none(
        self, node: Operand, reason: str, kind: type[UnsupportedError] = UnsupportedError
    ) -> UnsupportedError:
        shown = node.xreplace({self._variable: self._shown})
        return kind(f"no power series of {str(shown)[:80]} {self._place}: {reason}")
