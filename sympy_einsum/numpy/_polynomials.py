"""NumPy's polynomials: vectors of coefficients, the highest power first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sympy import Expr, S

from .. import operations as ops
from ..core import ShapeError, TensorError, UnsupportedError, as_flag, as_scalar
from ..expressions import Constant, Operand, TensorLike, as_operand, elementwise, order_of, shape_of
from ._rows import NumpyRow as Row

_KNOWN = "Raises UnsupportedError for a symbolic number of coefficients."


def coefficients_of(name: str, p: TensorLike) -> Operand:
    """Convert an argument to a vector of coefficients."""
    p = ops.reshape(p, -1) if not order_of(as_operand(p)) else as_operand(p)
    if order_of(p) != 1:
        raise ShapeError(f"{name} takes a vector of coefficients, not one of shape {shape_of(p)}")
    return p


def count_of(name: str, p: Operand) -> int:
    """Return the number of coefficients; UnsupportedError for a symbolic one."""
    (length,) = shape_of(p)
    if not length.is_Integer:
        raise UnsupportedError(
            f"{name} takes a known number of coefficients, not {length}; substitute a number"
        )
    return int(length)


def entries_of(name: str, vector: TensorLike) -> Sequence[TensorLike]:
    """Return the entries of a vector, as numbers for a constant."""
    vector = coefficients_of(name, vector)
    count_of(name, vector)
    return vector.array.tolist() if isinstance(vector, Constant) else ops.unstack(vector)


def polyval(p: TensorLike, x: TensorLike) -> Operand:
    x, entries = as_operand(x), entries_of("polyval", p)

    def horner(t: Expr, *coefficients: Expr) -> Expr:
        value = S.Zero
        for coefficient in coefficients:
            value = value * t + coefficient
        return value

    return elementwise(horner, x, *entries) if entries else ops.multiply(x, 0)


def polyder(p: TensorLike, m: int) -> Operand:
    p, times = coefficients_of("polyder", p), _times(m)
    for _ in range(times):
        count = count_of("polyder", p)
        p = ops.multiply(p[:-1], as_operand(np.arange(count - 1, 0, -1))) if count else p
    return p


def polyint(p: TensorLike, m: int, k: TensorLike | None) -> Operand:
    p, times = coefficients_of("polyint", p), _times(m)
    given = coefficients_of("polyint", S.Zero if k is None else k)
    constants = [given[j if count_of("polyint", given) > 1 else 0] for j in range(times)]
    for constant in constants:
        count = count_of("polyint", p)
        parts = ops.divide(p, as_operand(np.arange(count, 0, -1)))
        p = ops.concatenate([parts, ops.reshape(constant, 1)])
    return p


def _times(m: int) -> int:
    times = as_scalar(m, "how often")
    if not times.is_Integer or times < 0:
        raise TensorError(f"a polynomial is differentiated 0, 1, 2, ... times, not {m}")
    return int(times)


def polyadd(a1: TensorLike, a2: TensorLike) -> Operand:
    a, b = coefficients_of("polyadd", a1), coefficients_of("polyadd", a2)
    counts = [count_of("polyadd", p) for p in (a, b)]
    return ops.add(*[_longer(p, max(counts) - n) for p, n in zip((a, b), counts, strict=True)])


def _longer(p: Operand, count: int) -> Operand:
    return ops.concatenate([as_operand(np.zeros(count)), p]) if count else p


def polydiv(u: TensorLike, v: TensorLike) -> tuple[Operand, Operand]:
    left, right = coefficients_of("polydiv", u), coefficients_of("polydiv", v)
    count, width = count_of("polydiv", left), count_of("polydiv", right)
    if not width:
        raise TensorError("polydiv takes a divisor with coefficients")
    quotient = []
    for k in range(count - width + 1):
        factor = ops.divide(left[k], right[0])
        quotient.append(factor)
        part = ops.pad(ops.multiply(factor, right), (k, count - width - k))
        left = ops.subtract(left, part)
    whole = ops.stack(quotient) if quotient else as_operand(np.zeros(1))
    return whole, left[max(count - width + 1, 0) :] if width > 1 else as_operand(np.zeros(1))


def poly(seq_of_zeros: TensorLike) -> Operand:
    roots = as_operand(seq_of_zeros)
    if order_of(roots) == 2:
        raise UnsupportedError(
            "poly takes roots, a vector; those of a matrix are its eigenvalues, which are complex"
        )
    p = as_operand(np.ones(1))
    for root in entries_of("poly", roots):
        p = ops.convolve(p, ops.stack([S.One, ops.multiply(-1, root)]))
    return p


def polyfit(x: TensorLike, y: TensorLike, deg: int, w: TensorLike | None) -> Operand:
    degree = as_scalar(deg, "the degree")
    if not degree.is_Integer or degree < 0:
        raise TensorError(f"polyfit takes a known degree, 0, 1, 2, ..., not {deg}")
    matrix, values = vander(x, int(degree) + 1), as_operand(y)
    points, count = shape_of(matrix)
    if (points - count).is_negative:
        raise ShapeError(f"{points} points don't determine the {count} coefficients of polyfit")
    if w is not None:
        weights = coefficients_of("polyfit", w)
        matrix = ops.multiply(matrix, weights[:, None])
        values = ops.multiply(values, weights[:, None] if order_of(values) == 2 else weights)
    return ops.lstsq(matrix, values).x


def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Operand:
    x = as_operand(x)
    if order_of(x) != 1:
        raise ShapeError(f"vander takes a vector, not a tensor of shape {shape_of(x)}")
    count = as_scalar(shape_of(x)[0] if N is None else N, "the number of columns")
    if not count.is_Integer or count < 0:
        raise UnsupportedError(f"vander takes a known number of columns, not {count}")
    powers = range(int(count)) if as_flag(increasing, "increasing") else range(int(count))[::-1]
    if not count:
        return ops.broadcast_to(S.Zero, (shape_of(x)[0], 0))
    return ops.stack([ops.power(x, k) for k in powers], axis=1)


# fmt: off
ROWS = (
    Row("polyval(p, x)", polyval,
        "the value of a polynomial at every entry of ``x``, by Horner's rule",
        "snp.polyval([1, 2, 3], t), se.jacobian(snp.polyval(y, x), y).shape",
        "(t*(t + 2) + 3, (3, 3))",
        _KNOWN),
    Row("polyder(p, m=1)", polyder,
        "the coefficients of a derivative of a polynomial",
        "snp.polyder([1, 2, 3]).as_explicit()", "[2, 2]", _KNOWN),
    Row("polyint(p, m=1, k=None)", polyint,
        "the coefficients of an antiderivative of a polynomial, with constants of integration",
        "snp.polyint([6, 2], k=5).as_explicit()", "[3, 2, 5]", _KNOWN),
    Row("polyadd(a1, a2)", polyadd,
        "the coefficients of a sum of polynomials",
        "snp.polyadd([1, 2, 3], [1, 1]).as_explicit()", "[1, 3, 4]", _KNOWN),
    Row("polysub(a1, a2)",
        lambda a1, a2: polyadd(a1, ops.multiply(-1, coefficients_of("polysub", a2))),
        "the coefficients of a difference of polynomials",
        "snp.polysub([1, 2, 3], [1, 1]).as_explicit()", "[1, 1, 2]", _KNOWN),
    Row("polymul(a1, a2)",
        lambda a1, a2: ops.convolve(coefficients_of("polymul", a1), coefficients_of("polymul", a2)),
        "the coefficients of a product of polynomials, with leading zeros",
        "snp.polymul([1, 1], [1, -1]).as_explicit()", "[1, 0, -1]",
        "Raises ShapeError for what isn't a vector."),
    Row("polydiv(u, v) -> tuple[Operand, Operand]", polydiv,
        "the coefficients of the quotient and of the remainder, which keeps leading zeros",
        "quotient, remainder = snp.polydiv(x, [1.0, -2.0])\n"
        "quotient.shape, se.lambdify([x], remainder)([1.0, 0.0, 0.0])", "((2,), array([4.]))",
        "The first coefficient of the divisor must not be 0. Raises ShapeError for what isn't a "
        "vector, UnsupportedError for a symbolic number of coefficients."),
    Row("poly(seq_of_zeros)", poly,
        "the coefficients of the polynomial with given roots",
        "se.lambdify([x], snp.poly(x))([1.0, 2.0, 3.0])", "array([ 1., -6., 11., -6.])",
        "Raises ShapeError for what isn't a vector, UnsupportedError for a matrix or a symbolic "
        "number of roots."),
    Row("polyfit(x, y, deg: int, rcond: None = None, full=False, w=None, cov=False)", polyfit,
        "the coefficients, the highest first, of the polynomial that minimises the sum of the "
        "squares (w (p(x) - y))²; ``y`` may have a column for each of several polynomials",
        "line = se.lambdify([x, y], snp.polyfit(x, y, 1))\n"
        "print(line([0.0, 1.0, 2.0], [1.0, 3.0, 5.0]).round(9))", "[2. 1.]",
        "Raises ShapeError if lengths differ or there are fewer points than coefficients, "
        "TensorError for a symbolic degree.",
        refused={
            "full": "lstsq(vander(x, deg + 1), y) returns residuals, rank and singular values",
            "cov": "it is the variance of the residuals times the inverse of V.T @ V, where "
            "V = vander(x, deg + 1)",
        }),
    Row("vander(x, N: int | None = None, increasing=False)", vander,
        "the powers of a vector as columns, a known number of them",
        "snp.vander(x[:2], 3).as_explicit()", "[[x[0]**2, x[0], 1], [x[1]**2, x[1], 1]]",
        "Raises ShapeError for what isn't a vector, UnsupportedError for a symbolic number of "
        "columns."),
)
