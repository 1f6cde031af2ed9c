"""Functions that code for Numba brings along: numbers, then arrays with the axes before one, that
axis and those behind it."""

from __future__ import annotations

import re

from .numba_factors import NUMBA_FACTORS
from .numba_fourier import FOURIER_OF_COMPLEX, NUMBA_FOURIER
from .numba_special import NUMBA_SPECIAL
from .numba_stacks import NUMBA_STACKS
from .stable_functions import STABLE_FUNCTIONS, of_numbers

# Straight-line code, which loops are compiled to vectors of: libm takes one number at a time.
# W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980; the coefficients are
# those of Cephes and FDLIBM.
_ELEMENTARY = '''
def exponent_parts(x):
    """Of x = k log 2 + r: exp(r) - 1, and two factors of 2**k."""
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


def exp(x):
    """The exponential function."""
    y = 710.0 if x > 710.0 else -750.0 if x < -750.0 else x
    e, a, b = exponent_parts(np.float64(y))
    return (1.0 + e) * a * b


def expm1(x):
    """exp(x) - 1."""
    y = 710.0 if x > 710.0 else -60.0 if x < -60.0 else x
    e, a, b = exponent_parts(np.float64(y))
    z = e * a * b + (a * b - 1.0) if y < 60.0 else (1.0 + e) * a * b
    return z if abs(x) > 1e-20 or x != x else x


def tanh(x):
    """The hyperbolic tangent."""
    t = expm1(-2.0 * abs(x))
    return math.copysign(t / (t + 2.0), x) if abs(x) > 1e-20 or x != x else x


def log(x):
    """The natural logarithm."""
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


def log1p(x):
    """log(1 + x)."""
    total = 1.0 + x
    lost = (x - (total - 1.0)) / total
    value = log(total) + (lost if 0 < total < np.inf else 0.0)
    return value if total != 1 else x
'''
_NUMBERS = '''
def maximum(a, b):
    """The larger one; no number if one is none."""
    return a if a > b or a != a else b


def minimum(a, b):
    """The smaller one; no number if one is none."""
    return a if a < b or a != a else b


def fmax(a, b):
    """The larger one, or the one that is a number."""
    return a if a >= b or b != b else b


def fmin(a, b):
    """The smaller one, or the one that is a number."""
    return a if a <= b or b != b else b


def where(condition, a, b):
    """One of two numbers."""
    return a if condition else b


def finite(x):
    """A number, or 0 if it isn't finite."""
    return x if np.isfinite(x) else 0.0


def heaviside(x, at_0):
    """0, a value at 0, 1."""
    return 1.0 if x > 0 else 0.0 if x < 0 else at_0 if x == 0 else np.nan


def sign(x):
    """-1, 0 or 1."""
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0 if x == 0 else np.nan


def logaddexp(a, b):
    """log(exp(a) + exp(b)) without overflow."""
    return a + log(2.0) if a == b else max(a, b) + log1p(exp(-abs(a - b)))


def nan_to_num(x):
    """0 for what is no number, the largest ones for infinity."""
    return 0.0 if x != x else min(max(x, -1.7976931348623157e308), 1.7976931348623157e308)


def sinc(x):
    """sin(pi x) / (pi x)."""
    return 1.0 if x == 0 else np.sin(np.pi * x) / (np.pi * x)


def sigmoid(z):
    """1 / (1 + exp(-z)); a sum that overflows has the reciprocal 0."""
    return 1 / (1 + exp(-z))


def sigmoid_slope(z):
    """sigmoid(z) * sigmoid(-z)."""
    t = exp(-abs(z))
    return t / (1 + t) ** 2


def softplus(z):
    """log(1 + exp(z)) without overflow."""
    return maximum(z, 0.0) + log1p(exp(-abs(z)))


def ndtr(x):
    """The normal distribution function."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


def xlogy(x, y):
    """x log y, which is 0 where x is."""
    return 0.0 if x == 0 and y == y else x * log(y)


def xlog1py(x, y):
    """x log(1 + y), which is 0 where x is."""
    return 0.0 if x == 0 and y == y else x * log1p(y)


def entr(x):
    """-x log x."""
    return -np.inf if x < 0 else -xlogy(x, x)


def rel_entr(x, y):
    """x log(x / y)."""
    if x > 0 and y > 0:
        return x * log(x / y)
    return 0.0 if x == 0 and y >= 0 else np.nan if x != x or y != y else np.inf


def loggamma(x):
    """The logarithm of the gamma function, where it is real."""
    return np.nan if x < 0 else math.lgamma(x)


def position(place, length):
    """A position on an axis, which may be counted from its end."""
    if place < -length or place >= length:
        raise IndexError("a position is outside of its axis")
    return np.uintp(place + length if place < 0 else place)
'''
_ARRAYS = '''
def make_finite(x):
    """0 for what isn't finite."""
    for k in range(x.size):
        if not np.isfinite(x[k]):
            x[k] = 0


def matmul(A, B):
    """The products of two stacks of matrices."""
    total = np.empty((max(A.shape[0], B.shape[0]), A.shape[1], B.shape[2]), A.dtype)
    for k in range(total.shape[0]):
        np.dot(A[k % A.shape[0]], B[k % B.shape[0]], total[k])
    return total


def cumsum(x, backwards):
    """Running sums along the middle axis, or those from its end."""
    total = x.copy()
    count = x.shape[1]
    for i in range(x.shape[0]):
        for j in range(1, count):
            here, there = (count - 1 - j, count - j) if backwards else (j, j - 1)
            for k in range(x.shape[2]):
                total[i, here, k] += total[i, there, k]
    return total


def lagged_cumsum(x, backwards, lag, count):
    """Running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    sums = cumsum(x, backwards)
    length = x.shape[1]
    total = np.zeros((x.shape[0], count, x.shape[2]), x.dtype)
    for j in range(count):
        place = max(j + lag, 0) if backwards else min(j - lag, length - 1)
        if 0 <= place < length:
            total[:, j] = sums[:, place]
    return total


def cummax(x):
    """The largest entries so far along the middle axis."""
    total = x.copy()
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            for k in range(x.shape[2]):
                total[i, j, k] = maximum(total[i, j - 1, k], x[i, j, k])
    return total


def cummin(x):
    """The smallest entries so far along the middle axis."""
    total = x.copy()
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            for k in range(x.shape[2]):
                total[i, j, k] = minimum(total[i, j - 1, k], x[i, j, k])
    return total


def sort(x):
    """The entries along the middle axis in order."""
    total = x.copy()
    for i in range(x.shape[0]):
        for k in range(x.shape[2]):
            total[i, :, k] = np.sort(x[i, :, k])
    return total


def argsort(x):
    """The positions of the entries along the middle axis in order; equal ones stay in theirs."""
    total = np.empty(x.shape, np.int64)
    for i in range(x.shape[0]):
        for k in range(x.shape[2]):
            total[i, :, k] = np.argsort(x[i, :, k].copy(), kind="mergesort")
    return total


def argmax(x):
    """The position of the largest entry along the middle axis, or of the first that is none."""
    if x.shape[1] == 0:
        raise ValueError("no entries to take the extremum of")
    total = np.zeros((x.shape[0], 1, x.shape[2]), np.int64)
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            for k in range(x.shape[2]):
                best = x[i, total[i, 0, k], k]
                if best == best and not x[i, j, k] <= best:
                    total[i, 0, k] = j
    return total


def argmin(x):
    """The position of the smallest entry along the middle axis, or of the first that is none."""
    return argmax(-x)


def last_equal(x, best):
    """The positions of the last entries so far that are equal to others."""
    total = np.zeros(x.shape, np.int64)
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            for k in range(x.shape[2]):
                is_best = x[i, j, k] == best[i, j, k]
                total[i, j, k] = j if is_best else total[i, j - 1, k]
    return total


def argcummax(x):
    """The positions of the largest entries so far."""
    return last_equal(x, cummax(x))


def argcummin(x):
    """The positions of the smallest entries so far."""
    return last_equal(x, cummin(x))


def cumprod(x):
    """The running products of rows."""
    total = x.copy()
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            total[i, j] *= total[i, j - 1]
    return total


def running_products(x, backwards):
    """1 and the running products of rows, or those from their ends and 1."""
    rows, n = x.shape
    total = np.ones((rows, n + 1), x.dtype)
    for i in range(rows):
        for j in range(n):
            if backwards:
                total[i, n - 1 - j] = x[i, n - 1 - j] * total[i, n - j]
            else:
                total[i, j + 1] = total[i, j] * x[i, j]
    return total


def recurrence(x, b, backwards):
    """y[j] = x[j - 1] y[j - 1] + b[j] of rows; backwards y[j] = x[j] y[j + 1] + b[j]."""
    rows, n = max(x.shape[0], b.shape[0]), b.shape[1]
    total = np.empty((rows, n), b.dtype)
    for i in range(rows):
        k, l = i % x.shape[0], i % b.shape[0]
        for j in range(n):
            if backwards:
                here = n - 1 - j
                last = x[k, here] * total[i, here + 1] if j else b[l, here] * 0
                total[i, here] = b[l, here] + last
            else:
                last = x[k, j - 1] * total[i, j - 1] if j else b[l, j] * 0
                total[i, j] = b[l, j] + last
    return total


def running_weights(x):
    """x, log(cumsum(exp(x))), exp(x - top) and cumsum(exp(x - top)) of rows, without overflow; the
    last two are empty where they would vanish."""
    weights, total, logs = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    is_plain = True
    for i in range(x.shape[0]):
        top = -np.inf
        for j in range(x.shape[1]):
            top = larger(top, x[i, j])
        running = 0.0
        for j in range(x.shape[1]):
            weights[i, j] = exp(x[i, j] - top)
        for j in range(x.shape[1]):
            running += weights[i, j]
            total[i, j] = running
        for j in range(x.shape[1]):
            logs[i, j] = log(total[i, j]) + top
        is_plain = is_plain and (x.shape[1] == 0 or weights[i, 0] > 1e-260)
    if is_plain:
        return x, logs, weights, total
    for i in range(x.shape[0]):
        logs[i, 0] = x[i, 0]
        for j in range(1, x.shape[1]):
            logs[i, j] = logaddexp(logs[i, j - 1], x[i, j])
    return x, logs, weights[:0], total[:0]


def logcumsumexp(weights):
    """log(cumsum(exp(x))) of the x that has such weights."""
    return weights[1]


def running_mean(weights, c, backwards):
    """Sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of rows x and y = log(
    cumsum(exp(x)))."""
    x, y, plain, sums = weights
    rows, n = max(x.shape[0], c.shape[0]), c.shape[1]
    total = np.empty((rows, n), c.dtype)
    if plain.shape[0] == x.shape[0]:
        for i in range(rows):
            k, l = i % x.shape[0], i % c.shape[0]
            running = 0.0
            for j in range(n):
                here = n - 1 - j if backwards else j
                if backwards:
                    running += c[l, here] / sums[k, here]
                    total[i, here] = running * plain[k, here]
                else:
                    running += c[l, here] * plain[k, here]
                    total[i, here] = running / sums[k, here]
        return total
    shares, ratio = np.empty_like(x), np.empty((x.shape[0], max(n - 1, 0)), x.dtype)
    for i in range(x.shape[0]):
        for j in range(n):
            finite = where(y[i, j] == -np.inf, 0.0, y[i, j])
            shares[i, j] = exp(x[i, j] - finite)
            if j:
                ratio[i, j - 1] = exp(y[i, j - 1] - finite)
    for i in range(rows):
        for j in range(n):
            share = 1.0 if backwards else shares[i % x.shape[0], j]
            total[i, j] = share * c[i % c.shape[0], j]
    total = recurrence(ratio, total, backwards)
    if backwards:
        for i in range(rows):
            for j in range(n):
                total[i, j] *= shares[i % x.shape[0], j]
    return total


def correlate(x, w):
    """Scalar products of a vector with all pieces of a longer one."""
    total = np.zeros(max(x.size - w.size + 1, 0), x.dtype)
    for k in range(w.size):
        for i in range(total.size):
            total[i] += x[i + k] * w[k]
    return total


def convolve(x, w):
    """The convolution of two vectors."""
    if x.size == 0 or w.size == 0:
        raise ValueError("a convolution needs entries")
    total = np.zeros(x.size + w.size - 1, x.dtype)
    for k in range(w.size):
        for i in range(x.size):
            total[i + k] += x[i] * w[k]
    return total
'''
_ADD = '''
@numba.njit(fastmath={"reassoc"})
def add(a, b):
    """a + b as a step of a sum, which may be added up in several parts at once."""
    return a + b
'''

_LARGER = '''
@numba.njit(fastmath={"nnan", "nsz"})
def larger(a, b):
    """The larger one of two numbers; any, if one is none."""
    return a if a > b else b
'''


def _functions(text: str, decorator: str) -> dict[str, str]:
    parts = re.split(r"\n+(?=def )", text.strip())
    return {part[4 : part.index("(")]: f"\n@{decorator}\n{part}\n" for part in parts}


SUPPORT = {
    "compiled": 'compiled = numba.njit(nogil=True, error_model="numpy")\n',
    # A loop that calls a function becomes no vectors, and LLVM calls what it finds too long.
    "inlined": 'inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True)\n',
    "dtype": "dtype = np.float64\n",
    "add": _ADD,
    "larger": _LARGER,
    **_functions(_ELEMENTARY, "inlined"),
    **_functions(_NUMBERS, "inlined"),
    **NUMBA_FACTORS,
    **NUMBA_STACKS,
    **NUMBA_FOURIER,
    **NUMBA_SPECIAL,
    **_functions(_ARRAYS, "compiled"),
    **{name: of_numbers(text) for name, text in STABLE_FUNCTIONS.items()},
}
# What NumPy's own functions do for complex numbers.
COMPLEX = {name: f"{name} = np.{name}\n" for name in ("exp", "expm1", "tanh", "log", "log1p")}
COMPLEX |= {
    "dtype": "dtype = np.complex128\n",
    "is_real": "is_real = False\n",
    **FOURIER_OF_COMPLEX,
}
