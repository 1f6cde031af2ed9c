"""Numba helper functions of generated sources for special functions of numbers.

Most are SciPy's, by the addresses that it gives to compiled code.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from llvmlite import binding
from numba import extending
from scipy.special import cython_special

from .numba_types import dtype
from .stubs import compiled


def special_in_c(name, signature):
    """Return a function of SciPy for compiled code; of those for several types the one of such
    types."""
    kinds = {
        **{"void": numba.types.void, "double": numba.types.float64},
        **{"double *": numba.types.voidptr, "int __pyx_skip_dispatch": numba.types.int32},
    }
    known = cython_special.__pyx_capi__
    names = [own for own in [name, *[f"__pyx_fuse_{k}{name}" for k in range(3)]] if own in known]
    (own,) = [own for own in names if f'"{signature}"' in repr(known[own])]
    address = extending.get_cython_function_address(cython_special.__name__, own)
    binding.add_symbol(f"scipy_special_{name}", address)
    result, arguments = signature[:-1].split(" (")
    types = [kinds[argument] for argument in arguments.split(", ")]
    return numba.types.ExternalFunction(f"scipy_special_{name}", kinds[result](*types))


def of_scipy(name, count):
    """Return SciPy's function of some numbers with one value, for compiled code."""
    in_c = special_in_c(name, f"double ({'double, ' * count}int __pyx_skip_dispatch)")
    if count == 1:
        return compiled(lambda x: dtype(in_c(np.float64(x), np.int32(0))))
    if count == 2:
        return compiled(lambda x, y: dtype(in_c(np.float64(x), np.float64(y), np.int32(0))))
    return compiled(
        lambda x, y, z: dtype(in_c(np.float64(x), np.float64(y), np.float64(z), np.int32(0)))
    )


def of_scipy_with_values(name, count):
    """Return SciPy's function of a number with two or four values, for compiled code."""
    in_c = special_in_c(name, f"void (double{', double *' * count})")

    def two(x):
        found = np.empty(2)
        in_c(np.float64(x), found.ctypes, found[1:].ctypes)
        return dtype(found[0]), dtype(found[1])

    def four(x):
        found = np.empty(4)
        in_c(np.float64(x), found.ctypes, found[1:].ctypes, found[2:].ctypes, found[3:].ctypes)
        return dtype(found[0]), dtype(found[1]), dtype(found[2]), dtype(found[3])

    return compiled(two if count == 2 else four)


exprel = of_scipy("exprel", 1)
erfi = of_scipy("erfi", 1)
erfinv = of_scipy("erfinv", 1)
erfcinv = of_scipy("erfcinv", 1)
erfcx = of_scipy("erfcx", 1)
log_ndtr = of_scipy("log_ndtr", 1)
ndtri = of_scipy("ndtri", 1)
psi = of_scipy("psi", 1)
zetac = of_scipy("zetac", 1)
expi = of_scipy("expi", 1)
beta = of_scipy("beta", 2)
betaln = of_scipy("betaln", 2)
binom = of_scipy("binom", 2)
jv = of_scipy("jv", 2)
yv = of_scipy("yv", 2)
iv = of_scipy("iv", 2)
kv = of_scipy("kv", 2)
expn = of_scipy("expn", 2)
hyp1f1 = of_scipy("hyp1f1", 3)
sici = of_scipy_with_values("sici", 2)
shichi = of_scipy_with_values("shichi", 2)
fresnel = of_scipy_with_values("fresnel", 2)
airy = of_scipy_with_values("airy", 4)
airye = of_scipy_with_values("airye", 4)
digamma = psi


@compiled
def spherical_jn(n, x):
    """Return the spherical Bessel function."""
    size = abs(np.float64(x))
    if size == 0 or size == np.inf:
        return dtype(1.0 if n == 0 and size == 0 else 0.0)
    value = np.sqrt(0.5 * np.pi) / np.sqrt(size) * jv(n + 0.5, size) if n else np.sin(size) / size
    return dtype(-value if x < 0 and n % 2 else value)


@compiled
def spherical_yn(n, x):
    """Return the spherical Bessel function of the second kind."""
    z = np.float64(x)
    below, value = np.sin(z) / z, -np.cos(z) / z
    for k in range(n):
        if not np.isinf(value):
            below, value = value, (2 * k + 1) / z * value - below
    return dtype(value)


@compiled
def spherical_in(n, x):
    """Return the modified spherical Bessel function of the first kind."""
    size = abs(np.float64(x))
    value = np.inf if size == np.inf else np.sqrt(0.5 * np.pi) / np.sqrt(size) * iv(n + 0.5, size)
    value = value if size != 0 else 1.0 if n == 0 else 0.0
    return dtype(-value if x < 0 and n % 2 else value)


@compiled
def zeta(s, a=1.0):
    """Return the zeta function of Hurwitz, or of Riemann."""
    s, a = np.float64(s), np.float64(a)
    if a == 1 and s < 1:
        return dtype(1 + np.float64(zetac(s)))
    if s == 1 or (a <= 0 and a == np.floor(a)):
        return dtype(np.inf)
    if not s > 1 or (a <= 0 and s != np.floor(s)):
        return dtype(np.nan)
    if a > 1e8:
        return dtype((1 / (s - 1) + 1 / (2 * a)) * a ** (1 - s))
    total, term, count = a**-s, 0.0, 0
    while count < 9 or a <= 9:
        count += 1
        a += 1
        term = a**-s
        total += term
        if abs(term) < 1e-17 * abs(total):
            return dtype(total)
    total += term * a / (s - 1) - 0.5 * term
    factor, k = 1.0, 0
    for number in (
        12.0,
        -720.0,
        30240.0,
        -1209600.0,
        47900160.0,
        -1.8924375803183791606e9,
        7.47242496e10,
        -2.950130727918164224e12,
        1.1646782814350067249e14,
        -4.5979787224074726105e15,
        1.8152105401943546773e17,
        -7.1661652561756670113e18,
    ):
        factor *= s + k
        term /= a
        total += factor * term / number
        factor *= s + k + 1
        term /= a
        k += 2
    return dtype(total)


@compiled
def polygamma(n, x):
    """Return the derivative of digamma of some order."""
    if n == 0:
        return psi(x)
    value = math.gamma(n + 1.0) * np.float64(zeta(n + 1, x))
    return dtype(value if n % 2 else -value)


@compiled
def lambertw(x, branch=0):
    """Return the inverse of w exp(w) where it is real, by Halley's method from a series."""
    x = np.float64(x)
    if x == 0 or x == np.inf or x != x:
        return dtype(-np.inf if branch and x == 0 else x)
    is_far, size = x > (-0.25 if branch else 3.0), np.log(abs(x))
    root = np.sqrt(max(2 * (np.e * x + 1), 0.0))
    root = -root if branch else root
    w = -1 + root * (1 + root * (-1 / 3 + root * 11 / 72))
    if is_far:
        w = size - np.log(abs(size))
    elif not branch and abs(x) < 0.2:
        w = np.log1p(x)
    for _ in range(30):
        if is_far:
            step = (w + np.log(abs(w)) - size) * w / (w + 1)
        else:
            rest = w - x * np.exp(-w)
            step = rest / (w + 1 - (w + 2) * rest / (2 * w + 2)) if w != -1 else 0.0
        w -= step
        if abs(step) <= 1e-16 * abs(w):
            break
    return dtype(w)
