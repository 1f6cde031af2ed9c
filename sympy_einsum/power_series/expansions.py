"""Power series in a scalar, Taylor polynomials in tensors, and limits.

References
==========

[GW] A. Griewank, A. Walther, "Evaluating Derivatives", 2nd ed., 2008, chapter 13: Taylor
arithmetic.
"""

from __future__ import annotations

from sympy import Dummy, Expr, Integer, Order, S, Symbol

from ..core import ShapeError, TensorError, UnsupportedError, same_name_hint, same_shape, tuning
from ..expressions import (
    Operand,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    Zeros,
    as_operand,
    free_leaves,
    is_variable,
    lengths_of,
    order_of,
    scale,
    shape_of,
    substitute,
    total_of,
)
from ..rules import simplify
from .coefficients import PowerSeries
from .node_series import NodeSeries
from .scalar_functions import MoreTermsError


def series(e: TensorLike, t: Expr, x0: Expr | int = 0, n: int = 3) -> Operand:
    """Expand an expression in a scalar as a power series, to powers below n.

    The coefficients are computed from the leaves up, by Taylor arithmetic [GW]: through products,
    functions of entries, inverses, determinants, softmax, exponentials and loops. Removable
    singularities, such as that of sin(t*x)/t, are removed.

    Parameters
    ==========

    e : an expression of any shape
    t : an ordinary symbol, or a tensor symbol without axes
    x0 : the point at which it is expanded
    n : the number of powers of t - x0, as in SymPy's ``series``

    Returns
    =======

    The polynomial in t, of the shape of ``e``. It has no O(t**n), which no tensor can have;
    ``removeO`` returns it as it is. SymPy's ``series`` of a scalar with tensors inside has one.

    Raises
    ======

    UnsupportedError : ``e`` has no power series at x0: a pole, a logarithm, a kink or a singular
        matrix, which the message names
    TensorError : ``t`` isn't a symbol, or is an axis length

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> t = symbols("t")
    >>> A, x = se.TensorSymbol("A", n, n), se.TensorSymbol("x", n)
    >>> se.series(se.logdet(se.eye(n) + t * A), t)
    -t**2*((A @ A).trace())/2 + t*A.trace()
    >>> se.series(se.inv(se.eye(n) + t * A) @ x, t, n=2)
    x - t*A @ x
    >>> se.series(se.inv(t * A), t)
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: no power series of inv(t*A) at t = 0: it has a pole there, of
    order 1
    """
    e, t = as_operand(e), _as_scalar_symbol(t, e)
    if isinstance(n, bool) or not isinstance(n, (int, Integer)) or n < 1:
        raise TensorError(f"n is the number of powers, an integer from 1 on, not {n!r}")
    point = _as_point(x0, t)
    if point.is_infinite:
        raise TensorError(
            f"there is no power series at {point}; put 1/{t} in the place of {t}, and expand at 0"
        )
    variable = Dummy("t", real=True)
    moved = substitute(e, {t: point + variable})
    found = _expanded(moved, variable, int(n), "+-", t - point, f"at {t} = {point}")
    if found.low < 0:
        raise UnsupportedError(
            f"no power series of {str(e)[:80]} at {t} = {point}: it has a pole there, of order "
            f"{-found.low}"
        )
    return _polynomial(found, t - point, int(n), e)


def taylor(f: TensorLike, x: Operand, at: TensorLike, n: int = 2) -> Operand:
    """Return the Taylor polynomial of degree n of an expression in a tensor: the sum of D^k f(at)
    [x - at, …, x - at] / k! for k from 0 to n.

    Parameters
    ==========

    f : an expression of any shape
    x : a tensor symbol, or an ordinary symbol
    at : an expression of x's shape
    n : the degree; 2 is the quadratic model of Newton's method

    Raises
    ======

    ShapeError : ``at`` has another shape than x
    UnsupportedError : there is no such polynomial, as at a kink
    TensorError : ``at`` depends on x

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", 3, 3)
    >>> x, a = se.tensors("x a", 3)
    >>> se.taylor(se.exp(x), x, a, n=1)
    (x - a)*exp(a) + exp(a)
    >>> se.taylor(se.exp(A @ x).sum(), x, se.Zeros(3), n=1)
    (A @ x).sum() + 3
    """
    f = as_operand(f)
    if not (isinstance(x, TensorSymbol) or (isinstance(x, Expr) and is_variable(x))):
        raise TensorError(f"a Taylor polynomial is one in a symbol, not in {str(x)[:80]!r}")
    if isinstance(n, bool) or not isinstance(n, (int, Integer)) or n < 0:
        raise TensorError(f"n is the degree, an integer from 0 on, not {n!r}")
    start = as_operand(at)
    if not same_shape(shape_of(start), shape_of(x)):
        raise ShapeError(
            f"the point {str(start)[:80]} has shape {shape_of(start)}, and {x} has {shape_of(x)}"
            + same_name_hint(*shape_of(start), *shape_of(x))
        )
    if x in free_leaves(start):
        raise TensorError(f"the point {str(start)[:80]} depends on {x}; give another symbol")
    variable = Dummy("t", real=True)
    line = total_of([start, scale(variable, total_of([x, scale(S.NegativeOne, start)]))])
    moved = substitute(f, {x: line})
    place = f"at {x} = {str(start)[:60]}"
    found = _expanded(moved, variable, int(n) + 1, "+-", Symbol("t"), place)
    if found.low < 0:
        raise UnsupportedError(f"no Taylor polynomial of {str(f)[:80]} at {x} = {start}: a pole")
    return _polynomial(found, S.One, int(n) + 1, f)


def limit(e: TensorLike, t: Expr, x0: Expr | int, dir: str = "+") -> Operand:
    """Return the limit of an expression as a scalar t goes to x0, entry by entry, by its power
    series.

    Parameters
    ==========

    e : an expression of any shape
    t : an ordinary symbol
    x0 : the point, which may be ``oo`` or ``-oo``
    dir : "+" for the limit from above, "-" from below, "+-" if they agree; as SymPy's ``limit``

    Raises
    ======

    UnsupportedError : the limit isn't finite, or ``e`` has no power series at x0

    Examples
    ========

    >>> from sympy import oo, symbols
    >>> import sympy_einsum as se
    >>> t = symbols("t")
    >>> A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
    >>> se.limit((se.expm(t * A) @ x - x) / t, t, 0)
    A @ x
    >>> se.limit(se.softmax(x / t), t, oo)
    Ones(3)/3
    """
    e, t = as_operand(e), _as_scalar_symbol(t, e)
    if not isinstance(dir, str) or dir not in ("+", "-", "+-"):
        raise TensorError(f"dir is '+', '-' or '+-', not {dir!r}")
    point = _as_point(x0, t)
    variable = Dummy("t", real=True)
    side, value, shown = dir, point + variable, t - point
    if point.is_infinite:
        side, value, shown = ("+" if point is S.Infinity else "-"), 1 / variable, 1 / t
    moved = substitute(e, {t: value})
    found = _expanded(moved, variable, 1, side, shown, f"at {t} = {point}")
    if found.low >= 0:
        return found.terms.get(0, Zeros(*shape_of(e)))
    leading = found.terms[found.low]
    if not order_of(leading) and side != "+-":
        sign = S.One if side == "+" else S.NegativeOne**found.low
        if (sign * leading).is_positive:
            return S.Infinity
        if (sign * leading).is_negative:
            return S.NegativeInfinity
    raise UnsupportedError(
        f"the limit of {str(e)[:80]} for {t} -> {point} isn't finite: it grows like "
        f"{str(scale(shown**found.low, leading))[:60]}"
    )


def series_with_order(e: TensorExpr, variable: Symbol, n: int, side: str) -> Expr:
    """Return the power series of a scalar in a variable at 0, with O(variable**n) unless it ends:
    what SymPy's ``_eval_nseries`` asks for."""
    count = max(n, 1)
    found = _expanded(e, variable, count, side, variable, "at 0")
    total = found.polynomial(variable, e)
    return total if found.order is None else total + Order(variable**found.order)


def leading_term(e: TensorExpr, variable: Symbol, side: str) -> Expr:
    """Return the first term of the power series of a scalar in a variable at 0."""
    for count in tuning.EXTRA_POWERS[1:]:
        found = NodeSeries(variable, count, side, variable, "at 0").of(e)
        if found.terms:
            return found.terms[found.low] * variable**found.low
        if found.order is None:
            return S.Zero
    raise UnsupportedError(f"the first terms of the power series of {str(e)[:80]} vanish")


def _as_scalar_symbol(t: object, e: Operand) -> Expr:
    is_symbol = isinstance(t, Expr) and not order_of(t)
    if not is_symbol or not (isinstance(t, TensorSymbol) or is_variable(t)):
        raise TensorError(f"expansions and limits are in a scalar symbol, not in {str(t)[:80]!r}")
    assert isinstance(t, Expr)
    if isinstance(e, TensorExpr) and t in lengths_of(*free_leaves(e)):
        raise UnsupportedError(
            f"no expansion over {t}: it is an axis length in {str(e)[:80]}; put a number in its "
            f"place, .subs({t}, 3)"
        )
    return t


def _as_point(value: object, t: Expr) -> Expr:
    point = as_operand(value)
    if order_of(point) or t in free_leaves(point):
        raise TensorError(f"the point is a scalar without {t}, not {str(point)[:80]}")
    return point


def _expanded(
    moved: Operand, variable: Symbol, count: int, side: str, shown: Expr, place: str
) -> PowerSeries:
    """Expand in the variable at 0 to powers below a count."""
    error = UnsupportedError(
        f"no power series of {str(moved.xreplace({variable: shown}))[:80]} {place} is found: the "
        f"first {tuning.EXTRA_POWERS[-1]} terms of a denominator cancel"
    )
    for extra in tuning.EXTRA_POWERS:
        try:
            found = NodeSeries(variable, count + extra, side, shown, place).of(moved)
        except MoreTermsError as reason:
            error = reason
            continue
        if found.known(count - 1):
            return found
    raise error


def _polynomial(found: PowerSeries, base: Expr, count: int, e: Operand) -> Operand:
    """Return the terms below a power as an expression in ``base``."""
    terms = [
        scale(base**power, simplify(value))
        for power, value in sorted(found.terms.items())
        if power < count
    ]
    return total_of(terms) if terms else Zeros(*shape_of(e))
