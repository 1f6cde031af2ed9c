"""Numba helper functions of generated sources for elementary functions: straight-line code, which
loops are compiled to vectors of, where libm takes one number at a time.

W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980; the coefficients are
those of Cephes and FDLIBM.
"""

from __future__ import annotations

import math

import numpy as np

from .stubs import inlined


@inlined
def exponent_parts(x):
    """Return of x = k log 2 + r: exp(r) - 1, and two factors of 2**k."""
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 6.93145751953125e-1
    r = r - k * 1.42860682030941723212e-6
    z = r * r
    p = r * ((1.26177193074810590878e-4 * z + 3.02994407707441961300e-2) * z + 1.0)
    q = (3.00198505138664455042e-6 * z + 2.52448340349684104192e-3) * z
    q = (q + 2.27265548208155028766e-1) * z + 2.0
    # Integers in the last bits of doubles: not all processors convert vectors of them.
    half = np.floor(0.5 * k)
    shift = 6755399441055744.0 + 1023.0
    a = np.int64(np.float64(half + shift).view(np.int64) << 52).view(np.float64)
    b = np.int64(np.float64(k - half + shift).view(np.int64) << 52).view(np.float64)
    return 2.0 * (p / (q - p)), a, b


@inlined
def exp(x):
    """Return the exponential function."""
    y = 710.0 if x > 710.0 else -750.0 if x < -750.0 else x
    e, a, b = exponent_parts(np.float64(y))
    return (1.0 + e) * a * b


@inlined
def expm1(x):
    """Return exp(x) - 1."""
    y = 710.0 if x > 710.0 else -60.0 if x < -60.0 else x
    e, a, b = exponent_parts(np.float64(y))
    z = e * a * b + (a * b - 1.0) if y < 60.0 else (1.0 + e) * a * b
    return z if abs(x) > 1e-20 or x != x else x


@inlined
def tanh(x):
    """Return the hyperbolic tangent."""
    t = expm1(-2.0 * abs(x))
    return math.copysign(t / (t + 2.0), x) if abs(x) > 1e-20 or x != x else x


@inlined
def log(x):
    """Return the natural logarithm."""
    is_tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if is_tiny else x
    bits = np.float64(y).view(np.int64) + (0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
    high = (np.uint64(bits) >> np.uint64(52)) | np.uint64(0x4330000000000000)
    k = np.uint64(high).view(np.float64) - (4503599627370496.0 + 1023.0)
    k = k - (54.0 if is_tiny else 0.0)
    f = np.int64((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    one = 2.222219843214978396e-01 + w * 1.531383769920937332e-01
    one = w * (3.999999999940941908e-01 + w * one)
    other = 1.818357216161805012e-01 + w * 1.479819860511658591e-01
    other = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * other))
    half = 0.5 * f * f
    rest = half - (s * (half + one + other) + k * 1.90821492927058770002e-10)
    value = k * 6.93147180369123816490e-01 - (rest - f)
    value = value if x < np.inf else x
    return value if x > 0 else -np.inf if x == 0 else np.nan


@inlined
def log1p(x):
    """Return log(1 + x)."""
    total = 1.0 + x
    lost = (x - (total - 1.0)) / total
    value = log(total) + (lost if 0 < total < np.inf else 0.0)
    return value if total != 1 else x
