"""Helper functions of generated code that compute special functions: those of SciPy that a library
may lack; quotients with a removable singularity, differences of gamma functions and of normal
distribution functions, which all libraries lack.

``xp`` and ``special`` stand for the library's own namespaces.
"""

from __future__ import annotations

import numpy as xp
from scipy import special

LANGEVIN_SERIES = (
    0.3333333333333333,
    -0.022222222222222223,
    0.0021164021164021165,
    -0.00021164021164021165,
    2.1377799155576935e-05,
    -2.1644042808063972e-06,
    2.1925947851873778e-07,
    -2.2214608789979678e-08,
    2.2507846516808994e-09,
    -2.2805151204592183e-10,
    2.3106432599002624e-11,
    -2.3411706819824882e-12,
    2.3721017400233653e-13,
    -2.4034415333307705e-14,
    2.4351954029183367e-15,
    -2.4673688045172075e-16,
    2.499967277122081e-17,
    -2.532996435740635e-18,
    2.566461970282629e-19,
    -2.6003696460137274e-20,
)


def sinhc(x):
    """Return sinh(x) / x, and its limit at 0."""
    z = xp.where(x == 0, 1.0, x)
    return xp.where(x == 0, 1.0, xp.sinh(z) / z)


def tanhc(x):
    """Return tanh(x) / x, and its limit at 0."""
    z = xp.where(x == 0, 1.0, x)
    return xp.where(x == 0, 1.0, xp.tanh(z) / z)


def log_sinhc(x):
    """Return log(sinh(x) / x), by its series near 0."""
    near = xp.abs(x) < 1
    z, size = xp.where(near, x, 0.0), xp.where(near, 1.0, xp.abs(x))
    series = 0.0 * z
    for k in range(20, 0, -1):
        series = (series + LANGEVIN_SERIES[k - 1] / (2 * k)) * z * z
    # The logarithm of infinity isn't taken from infinity.
    bounded = xp.where(size < 1e30, size, 1e30)
    return xp.where(near, series, size + xp.log1p(-xp.exp(-2 * size)) - xp.log(2 * bounded))


def langevin(n, x):
    """Return the derivative of coth(x) - 1/x of an order, by its series near 0."""
    near = xp.abs(x) < 1
    z = xp.where(near, x, 0.0)
    series = 0.0 * z
    for k in range(20, n // 2, -1):
        factor = LANGEVIN_SERIES[k - 1]
        for j in range(n):
            factor *= 2 * k - 1 - j
        series = series * z * z + factor
    series = series if n % 2 == 1 else series * z
    z = xp.where(near, 1.0, x)
    tail = xp.exp(-2 * xp.abs(z))
    coth = xp.where(z < 0, -1.0, 1.0) * (1 + tail) / (1 - tail)
    pole = 1 / z
    if n == 0:
        return xp.where(near, series, coth - pole)
    polynomial = [-1.0]
    for _ in range(n - 1):
        new = [0.0] * (len(polynomial) + 1)
        for k in range(len(polynomial)):
            new[k + 1] -= (k + 2) * polynomial[k]
            if k > 0:
                new[k - 1] += k * polynomial[k]
        polynomial = new
    value, power = 0.0 * z, 4 * tail / (1 - tail) ** 2
    for k in range(n):
        value, power = value + polynomial[k] * power, power * coth
        pole = -(k + 1) * pole / z
    return xp.where(near, series, value - pole)


def gamma_rise(n, x, k, difference):
    """Return polygamma(n, x + k) - polygamma(n, x), of gammaln for n = -1: by recurrence and a
    series for large x, where both arguments are positive; elsewhere the difference."""
    bernoulli = (
        0.16666666666666666,
        -0.03333333333333333,
        0.023809523809523808,
        -0.03333333333333333,
        0.07575757575757576,
        -0.2531135531135531,
        1.1666666666666667,
    )
    is_right = (x > 0) & (x + k > 0)
    x, k = xp.where(is_right, x, 1.0), xp.where(is_right, k, 0.0)
    steps = 0.0 * (x + k)
    for _ in range(10):
        if n < 0:
            steps = steps + k / x * (1 + steps)
        else:
            lost, left = 0.0 * steps, k / (x + k)
            for _ in range(n + 1):
                lost, left = (lost + left) / x, left / (x + k)
            steps = steps + lost
        x = x + 1
    share, ratio, size = k / (x + k), x / (x + k), xp.log1p(k / x)
    lost, left, power, factor = 0.0 * steps, 1.0 + 0.0 * steps, 1.0 + 0.0 * steps, 1.0
    for c in range(n):
        lost, left, power, factor = lost + left * share, left * ratio, power / x, factor * max(c, 1)
    if n < 0:
        value = (x + k - 0.5) * size + k * xp.log(x) - k - xp.log1p(steps)
    else:
        value = factor * lost * power if n > 0 else size
        lost, left, power, factor = lost + left * share, left * ratio, power / x, factor * max(n, 1)
        value = value + factor * (lost * power / 2 + steps)
    for j in range(1, 8):
        weight = bernoulli[j - 1] if n >= 0 else -bernoulli[j - 1]
        for i in range(2 * j + n, 2 * j + 1):
            weight /= i
        for i in range(2 * j + 1, 2 * j + n):
            weight *= i
        for _ in range(min(j, 2)):
            lost, left, power = lost + left * share, left * ratio, power / x
        value = value + weight * lost * power
    return xp.where(is_right, -value if n > 0 and n % 2 == 1 else value, difference)


def erfcx_rate(n, x):
    """Return -2 n times the quotient of two repeated integrals of erfc, by a continued fraction
    where the recurrence that begins with 2/(sqrt(pi)*erfcx(x)) - 2*x cancels."""
    is_large = x > 4
    large, other = xp.where(is_large, x, 4.0), xp.where(is_large, 4.0, x)
    ratio = 0.0 * large
    for k in range(n + 24, n - 1, -1):
        ratio = 2 * k / (2 * large + ratio)
    found = 1.1283791670955126 / special.erfcx(other) - 2 * other
    for k in range(1, n):
        found = 2 * k / found - 2 * other
    return -xp.where(is_large, ratio, found)


def log_ndtr_difference(a, b):
    """Return log(ndtr(a) - ndtr(b)), in the left tail by symmetry."""
    is_right = a + b > 0
    top = special.log_ndtr(xp.where(is_right, -b, a))
    gap = special.log_ndtr(xp.where(is_right, -a, b)) - top
    return top + xp.where(gap > -0.7, xp.log(-xp.expm1(gap)), xp.log1p(-xp.exp(gap)))


def ndtr_share(x, a, b):
    """Return the density of the normal distribution at x over ndtr(a) - ndtr(b)."""
    is_right = a + b > 0
    top, bottom = xp.where(is_right, -b, a), xp.where(is_right, -a, b)
    is_tail = top < 0
    near = xp.where(is_tail, -top, 0.0) / 2**0.5
    far = xp.where(is_tail, -bottom, 1.0) / 2**0.5
    scaled = special.erfcx(near)
    tail_gap = (near - far) * (near + far) + xp.log(special.erfcx(far) / scaled)
    above = special.log_ndtr(xp.where(is_tail, 0.0, top))
    gap = xp.where(is_tail, tail_gap, special.log_ndtr(bottom) - above)
    lost = xp.where(gap > -0.7, xp.log(-xp.expm1(gap)), xp.log1p(-xp.exp(gap)))
    size = xp.abs(x) / 2**0.5
    value = xp.where(is_tail, xp.log(scaled / 2), above) + lost
    return xp.exp((near - size) * (near + size) - value - 0.9189385332046727)


def spherical_jn(n, x):
    """Return the spherical Bessel function, by a series near 0, by recurrence elsewhere."""
    near = xp.abs(x) < n + 2
    z = xp.where(near, x, 0)
    term, series = z**0, 0 * near
    for k in range(1, n + 1):
        term = term * z / (2 * k + 1)
    for k in range(1, 20):
        series = series + term
        term = term * (-(z**2)) / (2 * k * (2 * n + 2 * k + 1))
    z = xp.where(near, 1, x)
    below, value = xp.cos(z) / z, xp.sin(z) / z
    for k in range(n):
        below, value = value, (2 * k + 1) / z * value - below
    return xp.where(near, series, value)


def spherical_yn(n, x):
    """Return the spherical Bessel function of the second kind."""
    below, value = xp.sin(x) / x, -xp.cos(x) / x
    for k in range(n):
        above = (2 * k + 1) / x * value - below
        below, value = value, xp.where(xp.isinf(value), value, above)
    return value


def spherical_in(n, x):
    """Return the modified spherical Bessel function, by a series of positive terms near 0, by
    exponentials elsewhere."""
    near = xp.abs(x) < n * (n + 1) + 20
    z = xp.where(near, x, 0)
    term, series = z**0, 0 * near
    for k in range(1, n + 1):
        term = term * z / (2 * k + 1)
    for k in range(1, 40 + n * (n + 1)):
        series = series + term
        term = term * z**2 / (2 * k * (2 * n + 2 * k + 1))
    z = xp.where(near, 1, x)
    size = xp.abs(z)
    term, value = 1 / (2 * size), 0 * near
    for k in range(1, n + 2):
        value = value + term
        term = term * -((n + k) * (n - k + 1)) / (2 * k * size)
    half = xp.exp(size / 2)
    value = value * half * half
    return xp.where(near, series, xp.where((z < 0) & (n % 2 == 1), -value, value))


def hyp1f1(a, b, x):
    """Return Kummer's function for b = a + 1, by a series of positive terms near 0, by recurrence
    elsewhere."""
    near = xp.abs(x) < 10
    z = xp.where(near, x, 0)
    up, down = (xp.abs(z) + z) / 2, (xp.abs(z) - z) / 2
    right, left, term, other = 0 * near, 0 * near, z**0, z**0
    for k in range(1, 60):
        right, left = right + term / (a + k - 1), left + other
        term, other = term * up / k, other * down / (a + k)
    z = xp.where(near, 10, x)
    first, value = xp.where(z > 0, 1, xp.exp(z)), -xp.expm1(-xp.abs(z)) / xp.abs(z)
    for k in range(1, a):
        value = (first - k * value) / z
    right = xp.where(near, right, xp.exp(x) * value)
    return xp.where(x > 0, a * right, xp.where(near, xp.exp(x) * left, a * value))


def exprel(x):
    """Return (exp(x) - 1) / x, and its limit at 0."""
    return hyp1f1(1, 2, x)


def loggamma(x):
    """Return the logarithm of the gamma function, where it is real."""
    return xp.where(x < 0, xp.nan, special.gammaln(x))


def betaln(a, b):
    """Return log |beta(a, b)|."""
    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)


def beta(a, b):
    """Return the beta function."""
    signs = [xp.where((v < 0) & (xp.floor(v) % 2 != 0), -1, 1) for v in (a, b, a + b)]
    return signs[0] * signs[1] * signs[2] * xp.exp(betaln(a, b))


def binom(n, k):
    """Return the binomial coefficient."""
    return 1 / ((n + 1) * beta(n - k + 1, k + 1))


def zeta(s, a=1.0):
    """Return the zeta function of Hurwitz, or of Riemann."""
    return special.zeta(s, a)


def kve(order, x):
    """Return exp(x) besselk(order, x), where x isn't near 0 by the trapezoidal rule for its
    integral over exp(x - x cosh(t)) cosh(order t), which converges exponentially."""

    def kernel(order, x, t):
        both = (1 + xp.exp(-2 * order * t)) / 2
        return xp.exp(order * t - 2 * x * xp.sinh(t / 2) ** 2) * both

    near, far = x < 1e-8, x > 1e15
    z = xp.where(near | far, 1.0, x)
    size = xp.abs(0.0 * z + order)
    # From the integrand's maximum to where it is exp(-40) of that, on both sides; not below 0.
    large = xp.where(size > 120, size, 120.0)
    below = xp.where(size > 120, xp.sqrt(120 / large), 40 / xp.where(size > 1, size, 1.0) + 1)
    below = xp.where(size > 1, below, xp.inf)
    maximum, width = xp.arcsinh(size / z), xp.arccosh(1 + 40 / xp.sqrt(z * z + size * size))
    start = xp.where(below < maximum, maximum - below, 0.0)
    step = (maximum + width - start) / 128
    ends = 0.5 * step * (kernel(size, z, start) + kernel(size, z, start + 128 * step))
    points = start[..., None] + step[..., None] * xp.arange(1, 128)
    inner = kernel(size[..., None], z[..., None], points).sum(-1)
    value = xp.where(far, xp.sqrt(1.5707963267948966 / xp.where(far, x, 1.0)), ends + step * inner)
    # The terms of its series that don't vanish at 0: of both signs of the order if that is small.
    logarithm = -xp.log(xp.where(near, x, 1.0) / 2)
    small = xp.where(size < 1, size, 0.5)
    up, down = special.gammaln(1 + small), special.gammaln(1 - small)
    rate = xp.where(small == 0, 1.0, small)
    series = -0.5772156649015329 - 0.4006856343865314 * small * small
    quotient = xp.where(small < 1e-4, series, (up - down) / 2 / rate) + logarithm
    both = xp.exp((up + down) / 2) * xp.where(small == 0, quotient, xp.sinh(rate * quotient) / rate)
    whole = xp.where(size < 1, 1.0, size)
    pole = xp.exp(special.gammaln(whole) + whole * logarithm) / 2
    return xp.where(near, (1 + x) * xp.where(size < 1, both, pole), value)


def kv(order, x):
    """Return besselk(order, x)."""
    return xp.exp(-x) * kve(order, x)


def k0e(x):
    """Return exp(x) besselk(0, x)."""
    return kve(0.0, x)


def k1e(x):
    """Return exp(x) besselk(1, x)."""
    return kve(1.0, x)
