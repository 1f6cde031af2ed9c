"""Functions that code brings along on every backend: quotients with a removable singularity,
differences of gamma functions and of normal distribution functions, which libraries lack.
"""

from __future__ import annotations

import re

# The coefficients of coth(x) - 1/x at 0, of which log(sinh(x) / x) is the integral.
LANGEVIN_SERIES = """    coefficients = (
        0.3333333333333333, -0.022222222222222223, 0.0021164021164021165,
        -0.00021164021164021165, 2.1377799155576935e-05, -2.1644042808063972e-06,
        2.1925947851873778e-07, -2.2214608789979678e-08, 2.2507846516808994e-09,
        -2.2805151204592183e-10, 2.3106432599002624e-11, -2.3411706819824882e-12,
        2.3721017400233653e-13, -2.4034415333307705e-14, 2.4351954029183367e-15,
        -2.4673688045172075e-16, 2.499967277122081e-17, -2.532996435740635e-18,
        2.566461970282629e-19, -2.6003696460137274e-20,
    )
"""

STABLE_FUNCTIONS = {
    "sinhc": '''
def sinhc(x):
    """sinh(x) / x, and its limit at 0."""
    z = xp.where(x == 0, 1.0, x)
    return xp.where(x == 0, 1.0, xp.sinh(z) / z)
''',
    "tanhc": '''
def tanhc(x):
    """tanh(x) / x, and its limit at 0."""
    z = xp.where(x == 0, 1.0, x)
    return xp.where(x == 0, 1.0, xp.tanh(z) / z)
''',
    "log_sinhc": '''
def log_sinhc(x):
    """log(sinh(x) / x), by its series near 0."""
'''
    + LANGEVIN_SERIES
    + """    near = xp.abs(x) < 1
    z, size = xp.where(near, x, 0.0), xp.where(near, 1.0, xp.abs(x))
    series = 0.0 * z
    for k in range(20, 0, -1):
        series = (series + coefficients[k - 1] / (2 * k)) * z * z
    # The logarithm of infinity isn't taken from infinity.
    bounded = xp.where(size < 1e30, size, 1e30)
    return xp.where(near, series, size + xp.log1p(-xp.exp(-2 * size)) - xp.log(2 * bounded))
""",
    # The derivatives of coth are polynomials in it over sinh**2.
    "langevin": '''
def langevin(n, x):
    """The derivative of coth(x) - 1/x of an order, by its series near 0."""
'''
    + LANGEVIN_SERIES
    + """    near = xp.abs(x) < 1
    z = xp.where(near, x, 0.0)
    series = 0.0 * z
    for k in range(20, n // 2, -1):
        factor = coefficients[k - 1]
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
""",
    # Of c: lost is 1 - (x / (x + k))**c, left the rest, power x**-c.
    "gamma_rise": '''
def gamma_rise(n, x, k, difference):
    """polygamma(n, x + k) - polygamma(n, x), of gammaln for n = -1: by recurrence and a series for
    large x, where both arguments are positive; elsewhere the difference."""
    bernoulli = (
        0.16666666666666666, -0.03333333333333333, 0.023809523809523808,
        -0.03333333333333333, 0.07575757575757576, -0.2531135531135531, 1.1666666666666667,
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
''',
    "log_ndtr_difference": '''
def log_ndtr_difference(a, b):
    """log(ndtr(a) - ndtr(b)), in the left tail by symmetry."""
    is_right = a + b > 0
    top = special.log_ndtr(xp.where(is_right, -b, a))
    gap = special.log_ndtr(xp.where(is_right, -a, b)) - top
    return top + xp.where(gap > -0.7, xp.log(-xp.expm1(gap)), xp.log1p(-xp.exp(gap)))
''',
    # In the tail by erfcx: the squares cancel before they are rounded.
    "ndtr_share": '''
def ndtr_share(x, a, b):
    """The density of the normal distribution at x over ndtr(a) - ndtr(b)."""
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
''',
}


def of_numbers(text: str) -> str:
    """A function of the table as Numba compiles it, of numbers."""
    text = re.sub(r"\b(xp|special)\.(?!sinh)", "", text).replace("xp.sinh", "np.sinh")
    return "\n@compiled" + re.sub(r"    return (.*)\n", r"    return dtype(\1)\n", text)
