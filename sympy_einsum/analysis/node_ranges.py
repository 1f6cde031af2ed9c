"""Intervals that contain the entries of expressions, by interval arithmetic on the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any, TypeAlias

import numpy as np
from sympy import Basic, Expr, FiniteSet, Float, Interval, Mul, Rational, S, Set, Symbol, exp, log
from sympy.calculus.accumulationbounds import AccumulationBounds

from .. import expressions as nodes
from ..core import NodeTable, TensorError, UnsupportedError, is_long, postorder
from ..expressions import (
    Operand,
    TensorExpr,
    TensorLike,
    as_operand,
    holds_complex,
    is_variable,
    order_of,
    shape_of,
    slot,
    split_body,
)
from .entry_bodies import EntryBodies
from .inlined_products import Product, inlined_product
from .properties import is_nonnegative, is_positive, is_semidefinite
from .scalar_ranges import assumed_range, scalar_range
from .value_ranges import (
    NONNEGATIVE,
    POSITIVE,
    REALS,
    SIGNED_UNIT,
    UNIT,
    ValueRange,
    absolute,
    hull,
    intersection,
    is_at_most,
    lies_in,
    plus,
    point,
    rounded,
    times,
)

Found: TypeAlias = dict[Basic, ValueRange]
Row: TypeAlias = Callable[[Any, Found], ValueRange]
Bounds: TypeAlias = "Set | AccumulationBounds | tuple[TensorLike, TensorLike]"

ZERO = point(S.Zero)


# --- the walk over the graph ----------------------------------------------------------------------


def node_ranges(roots: Iterable[Operand], given: Mapping[Basic, ValueRange]) -> Found:
    """Return an interval for the entries of every node below some roots, given those of some."""
    found: Found = dict(given)
    bodies = EntryBodies(given)
    for node in postorder(roots, lambda n: () if n in given else _below(n)):
        if node not in found:
            found[node] = _with_one_symbol(node, _of_node(node, found), bodies, found)
    return found


def _with_one_symbol(
    node: Operand, own: ValueRange, bodies: EntryBodies, found: Found
) -> ValueRange:
    """Narrow an interval where all that an entry depends on is one entry of another node, which
    occurs several times."""
    body = bodies.written(node)
    leaves = [symbol for symbol in body.free_symbols if symbol in bodies.leaves]
    if len(leaves) != 1 or body.count(leaves[0]) < 2:
        return own
    node_below = bodies.leaves[leaves[0]].node
    return intersection(own, scalar_range(body, {leaves[0]: found[node_below]}))


def _below(node: Basic) -> tuple[Basic, ...]:
    if isinstance(node, TensorExpr):
        return node.operands
    return () if is_variable(node) or not node.args else tuple(split_body(node)[1])


def _of_node(node: Operand, found: Found) -> ValueRange:
    if not isinstance(node, TensorExpr):
        if is_variable(node):
            return assumed_range(node)
        body, operands = split_body(node)
        return scalar_range(body, {slot(k): found[o] for k, o in enumerate(operands)})
    own = RANGES[type(node)](node, found)
    if is_positive(node):
        return intersection(own, POSITIVE)
    return intersection(own, NONNEGATIVE) if is_nonnegative(node) else own


# --- rows -----------------------------------------------------------------------------------------


def _constant_range(range_of_all: ValueRange) -> Row:
    return lambda node, found: range_of_all


_unknown = _constant_range(REALS)


def _array_range(node: nodes.Constant, found: Found) -> ValueRange:
    entries = [as_exact(entry) for entry in node.entries.flat]
    if not entries:
        return ZERO
    if not all(entry.is_extended_real for entry in entries):
        return REALS
    return rounded(ValueRange(min(entries), max(entries)))


def _operand_range(node: TensorExpr, found: Found) -> ValueRange:
    return found[node.operands[0]]


def _body_range(node: nodes.Elementwise, found: Found) -> ValueRange:
    return scalar_range(node.body, {slot(k): found[o] for k, o in enumerate(node.operands)})


def _sum_range(node: nodes.TensorAdd, found: Found) -> ValueRange:
    total = ZERO
    for term in node.operands:
        total = plus(total, found[term])
    return total


def _product_range(node: nodes.Einsum, found: Found) -> ValueRange:
    product = inlined_product(node)
    own = _of_product(product, found)
    if product.operands == node.operands[len(product.scalars) :]:
        return own
    # Operands may have sharper intervals than the products that they are.
    axes = [*node.subscripts]
    as_built = Product((), node.operands, tuple(axes), node.output, dict(enumerate(node.lengths)))
    return intersection(own, _of_product(as_built, found))


def _of_product(product: Product, found: Found) -> ValueRange:
    """Return the interval of a product: of one summand, times their number. A summand has one
    function of each distinct factor, so that squares aren't negative."""
    output, counted = {*product.output}, {i for term in product.subscripts for i in term}
    counted -= output
    value = point(S.One)
    for scalar in product.scalars:
        value = times(value, _found(scalar, found))
    bodies: dict[tuple[Operand, tuple[int, ...]], Expr] = {}
    for operand, labels in zip(product.operands, product.subscripts, strict=True):
        pinned = _normalised_labels(operand, labels)
        if pinned and pinned <= counted:
            # The factors are nonnegative and sum to 1: a mean of the others.
            counted -= pinned
            if isinstance(operand, nodes.OneHot):
                value = times(value, UNIT)
            continue
        base, body = operand, slot(0)
        if isinstance(operand, nodes.Elementwise) and len(operand.operands) == 1:
            base, body = operand.operands[0], operand.body
        bodies[base, labels] = bodies.get((base, labels), S.One) * body
    for (base, _), body in bodies.items():
        value = times(value, scalar_range(body, {slot(0): _found(base, found)}))
    count = Mul(*[product.lengths[i] for i in sorted(counted)])
    absent = [i for i in product.lengths if i not in output and i not in counted]
    present = {i for term in product.subscripts for i in term}
    count *= Mul(*[product.lengths[i] for i in absent if i not in present])
    value = times(value, point(count))
    is_diagonal = len(output) < len(product.output)
    return hull([value, ZERO]) if is_diagonal else value


def _found(node: Operand, found: Found) -> ValueRange:
    """Return the interval of an operand of a product that was inlined."""
    if node not in found:
        found.update(node_ranges([node], found))
    return found[node]


def _normalised_labels(operand: Operand, labels: tuple[int, ...]) -> set[int]:
    """Return the labels over which a factor of zeros and ones, or a softmax, sums to 1."""
    if isinstance(operand, (nodes.Positions, nodes.OneHot)):
        pinned = labels[-1:]
    elif isinstance(operand, nodes.Softmax):
        pinned = tuple([labels[axis] for axis in operand.axes])
    else:
        return set()
    return {*pinned} if all(labels.count(label) == 1 for label in pinned) else set()


def _softmax_range(node: nodes.Softmax, found: Found) -> ValueRange:
    own = found[node.operands[0]]
    whole = ValueRange(S.Zero, S.One, True, False)
    if not own.is_bounded:
        return whole
    others = Mul(*[node.shape[axis] for axis in node.axes]) - 1
    spread = own.high - own.low
    ends = 1 / (1 + others * exp(spread)), 1 / (1 + others * exp(-spread))
    return intersection(rounded(ValueRange(*ends)), whole)


def _log_sum_range(node: nodes.LogSumExp, found: Found) -> ValueRange:
    (operand,) = node.operands
    count = Mul(*[operand.shape[axis] for axis in node.axes])
    if count.is_zero:
        return REALS
    return plus(found[operand], point(log(count)))


def _running_log_sum_range(node: nodes.LogCumSumExp, found: Found) -> ValueRange:
    own = found[node.operands[0]]
    return hull([own, plus(own, point(log(node.shape[-1])))])


def _interval_products_range(node: nodes.IntervalProducts, found: Found) -> ValueRange:
    own = found[node.operands[0]]
    for bound in (UNIT, SIGNED_UNIT):
        if lies_in(own, bound):
            return bound
    return NONNEGATIVE if own.is_nonnegative else REALS


def _ranking_range(node: nodes.Ranking, found: Found) -> ValueRange:
    operand = node.operands[0]
    count = Mul(*[operand.shape[axis] for axis in node.axes])
    return ValueRange(S.Zero, count - 1)


def _size(node: TensorExpr, found: Found) -> Expr:
    """Return the largest absolute value of an entry of the operand."""
    return absolute(found[node.operands[0]]).high


def _within(size: Expr) -> ValueRange:
    return rounded(ValueRange(-size, size))


def _determinant_range(node: nodes.Det | nodes.DetStack, found: Found) -> ValueRange:
    """Apply Hadamard's inequality."""
    n, size = node.operands[0].shape[-1], _size(node, found)
    if not n.is_Integer or size.is_infinite:
        return REALS
    return _within(n ** (n / 2) * size**n)


def _eigenvalues_range(node: nodes.EigenValues, found: Found) -> ValueRange:
    size = _size(node, found)
    own = REALS if size.is_infinite else _within(node.shape[-1] * size)
    return intersection(own, NONNEGATIVE) if is_semidefinite(node.operands[0]) else own


def _singular_values_range(node: nodes.SingularValues, found: Found) -> ValueRange:
    *_, m, n = node.operands[0].shape
    size = _size(node, found)
    if size.is_infinite:
        return NONNEGATIVE
    return rounded(ValueRange(S.Zero, (m * n) ** S.Half * size))


def _expm_range(node: nodes.Expm, found: Found) -> ValueRange:
    if len(node.operands) > 1:
        return REALS
    size = _size(node, found)
    own = REALS if size.is_infinite else _within(exp(node.shape[-1] * size))
    is_whole = found[node.operands[0]].is_nonnegative
    return intersection(own, NONNEGATIVE) if is_whole else own


def _cholesky_range(node: nodes.Cholesky, found: Found) -> ValueRange:
    # The squares in a row sum to the entry on the diagonal.
    high = found[node.operands[0]].high
    return REALS if high.is_infinite else _within(high**S.Half)


RANGES: NodeTable[Row] = NodeTable(
    "the bounds",
    {
        nodes.TensorSymbol: lambda node, found: REALS,
        nodes.Zeros: _constant_range(ZERO),
        nodes.Constant: _array_range,
        nodes.LeviCivita: _constant_range(SIGNED_UNIT),
        nodes.Positions: _constant_range(UNIT),
        nodes.Triangle: _constant_range(UNIT),
        nodes.OneHot: _constant_range(UNIT),
        nodes.Fourier: _constant_range(ValueRange(Rational(-2), Rational(2))),
        nodes.Reshape: _operand_range,
        nodes.View: _product_range,
        nodes.Einsum: _product_range,
        nodes.TensorAdd: _sum_range,
        nodes.Elementwise: _body_range,
        nodes.Softmax: _softmax_range,
        nodes.LogSumExp: _log_sum_range,
        nodes.LogCumSumExp: _running_log_sum_range,
        nodes.RunningSoftmax: _constant_range(UNIT),
        nodes.IntervalProducts: _interval_products_range,
        nodes.Extremum: _operand_range,
        nodes.ExtremumShare: _constant_range(UNIT),
        nodes.Picked: _operand_range,
        nodes.Ranking: _ranking_range,
        nodes.Det: _determinant_range,
        nodes.DetStack: _determinant_range,
        nodes.DetSigns: _constant_range(SIGNED_UNIT),
        nodes.EigenValues: _eigenvalues_range,
        nodes.SingularValues: _singular_values_range,
        nodes.Expm: _expm_range,
        nodes.Cholesky: _cholesky_range,
        **dict.fromkeys(
            (nodes.EigenVectors, nodes.LeftVectors, nodes.RightVectors, nodes.QFactor),
            _constant_range(SIGNED_UNIT),
        ),
        **dict.fromkeys(
            (
                nodes.LogDet,
                nodes.LogDetStack,
                nodes.Inv,
                nodes.InvStack,
                nodes.PseudoInverse,
                nodes.RFactor,
            ),
            _unknown,
        ),
        **dict.fromkeys(
            (nodes.Adj, nodes.AdjStack, nodes.DeterminantDerivative, nodes.DirectionalFunction),
            _unknown,
        ),
        **dict.fromkeys((nodes.Scan, nodes.Solution, nodes.Unevaluated, nodes.Unknown), _unknown),
    },
)


# --- the public function --------------------------------------------------------------------------


def as_exact(value: Expr) -> Expr:
    """Convert a float to the rational number that it is."""
    is_float = value.is_Float and value.is_finite and not is_long(value)
    return Rational(value) if is_float else value


def bounds(e: TensorLike, ranges: Mapping[Any, Bounds] | None = None) -> Set:
    """Return an interval that contains all entries of an expression.

    It is found by interval arithmetic on the graph, so it may be wider than necessary where a
    symbol occurs in several operands; it is sharp for squares, even powers, norms, products of a
    tensor with itself, softmax and functions of one entry. Endpoints are exact, or rounded outward.
    Entries that aren't real, such as the logarithm of a negative number, don't count.

    Parameters
    ==========

    e : a tensor of any shape, or a scalar
    ranges : by symbol the interval of its entries: a pair of numbers, arrays (of which the smallest
        and the largest entry count), or symbols; or an ``Interval``. Symbols without one have that
        of their assumptions, such as ``positive=True``.

    Returns
    =======

    A SymPy ``Interval``, whose endpoints may be infinite or contain symbols, or a ``FiniteSet`` of
    the one value of all entries.

    Raises
    ======

    TensorError : a key is no symbol, or its lower bound isn't at most the upper
    UnsupportedError : the expression is complex

    Examples
    ========

    >>> from sympy import oo, symbols
    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3)
    >>> se.bounds(x @ x, {x: (-1, 2)})
    Interval(0, 12)
    >>> se.bounds(se.softmax(x) @ A.T, {A: (-1, 5)})
    Interval(-1, 5)
    >>> se.bounds(se.sigmoid(x)), se.bounds(se.norm(x))
    (Interval.open(0, 1), Interval(0, oo))
    >>> r = symbols("r", positive=True)
    >>> se.bounds((x**2).sum(), {x: (-r, r)})
    Interval(0, 3*r**2)

    References
    ==========

    R. E. Moore, R. B. Kearfott, M. J. Cloud, "Introduction to Interval Analysis", 2009.
    """
    expr = as_operand(e)
    if holds_complex(expr):
        raise UnsupportedError("complex numbers have no bounds; take those of .real, .imag or abs")
    if not isinstance(ranges, (Mapping, NoneType)):
        raise TensorError(f"bounds are given as {{symbol: (low, high)}}, not {str(ranges)[:80]!r}")
    given = {as_operand(key): value for key, value in (ranges or {}).items()}
    known = {symbol: _given_range(symbol, value) for symbol, value in given.items()}
    found = node_ranges([expr], known)[expr]
    has_floats = any(_has_floats(node) for node in postorder([expr])) or any(
        _has_floats(value) for value in given.values()
    )
    return as_set(found, has_floats)


def as_set(found: ValueRange, has_floats: bool = False) -> Set:
    """Return an interval as a set of SymPy's, with floats that contain it if there were some."""
    low, high = found.low, found.high
    if has_floats and not found.is_point:
        low, high = _as_float(low, is_upper=False), _as_float(high, is_upper=True)
    if low == high:
        return FiniteSet(low)
    return Interval(low, high, found.is_low_open, found.is_high_open)


def _as_float(endpoint: Expr, is_upper: bool) -> Expr:
    if not endpoint.is_number:
        return endpoint.evalf()
    if endpoint.is_infinite or endpoint.is_Integer:
        return endpoint
    rounded_value = float(endpoint)
    if not np.isfinite(rounded_value):
        return endpoint
    gap = endpoint - Rational(rounded_value)
    if gap.is_positive if is_upper else gap.is_negative:
        rounded_value = float(np.nextafter(rounded_value, np.inf if is_upper else -np.inf))
    return Float(rounded_value)


def _has_floats(value: object) -> bool:
    if isinstance(value, nodes.Constant):
        return value.array.dtype.kind == "f" and not value.is_exact
    if isinstance(value, tuple):
        return any(map(_has_floats, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f"
    return isinstance(value, (float, Float, np.floating))


def _given_range(symbol: Operand, value: Bounds) -> ValueRange:
    if not isinstance(symbol, (nodes.TensorSymbol, Symbol)):
        raise TensorError(f"bounds are given for symbols, not for {str(symbol)[:80]}")
    assumed = node_ranges([symbol], {})[symbol]
    if isinstance(value, Interval):
        low, high = as_exact(value.start), as_exact(value.end)
        given = ValueRange(low, high, bool(value.left_open), bool(value.right_open))
    elif isinstance(value, FiniteSet) and len(value.args) == 1:
        given = point(as_exact(value.args[0]))
    elif isinstance(value, AccumulationBounds):
        given = ValueRange(as_exact(value.min), as_exact(value.max))
    else:
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise TensorError(
                f"the bounds of {symbol} are a pair (low, high) or an Interval, not "
                f"{str(value)[:80]!r}"
            )
        ends = [_end_range(symbol, end) for end in value]
        if is_at_most(ends[0].low, ends[1].low) is False or (
            is_at_most(ends[0].high, ends[1].high) is False
        ):
            raise TensorError(f"the lower bound of {symbol}, {value[0]}, is above the upper")
        given = ValueRange(ends[0].low, ends[1].high)
    if is_at_most(given.low, given.high) is False:
        raise TensorError(f"the lower bound of {symbol}, {given.low}, is above the upper")
    if isinstance(symbol, nodes.TensorSymbol) and "diagonal" in symbol.assumptions:
        given = hull([given, ZERO])
    if given.low.is_infinite:
        given = given._replace(is_low_open=True)
    if given.high.is_infinite:
        given = given._replace(is_high_open=True)
    return rounded(intersection(given, assumed))


def _end_range(symbol: Operand, end: TensorLike) -> ValueRange:
    """Return the interval from the smallest to the largest entry of a bound."""
    bound = as_operand(end)
    if order_of(bound) > order_of(symbol):
        raise TensorError(
            f"a bound of {symbol} has the shape {shape_of(bound)}, not {shape_of(symbol)}"
        )
    if isinstance(bound, nodes.Constant):
        return _array_range(bound, {})
    if isinstance(bound, TensorExpr):
        raise TensorError(f"a bound of {symbol} is a number, an array or a symbol, not {bound}")
    if bound.is_extended_real is False or bound is S.NaN:
        raise TensorError(f"a bound of {symbol} is a real number, not {bound}")
    return point(as_exact(bound)) if bound.is_finite is not False else ValueRange(bound, bound)
