"""Special functions that SciPy has and an array library may lack: code that it brings along.

Written in NumPy's names, to be replaced by the library's own.
"""

FUNCTIONS = {
    "spherical_jn": '''
def spherical_jn(n, x):
    """The spherical Bessel function: a series near 0, recurrence elsewhere."""
    near = np.abs(x) < n + 2
    z = np.where(near, x, 0)
    term, series = z**0, 0
    for k in range(1, n + 1):
        term = term * z / (2 * k + 1)
    for k in range(1, 20):
        series = series + term
        term = term * (-(z**2)) / (2 * k * (2 * n + 2 * k + 1))
    z = np.where(near, 1, x)
    below, value = np.cos(z) / z, np.sin(z) / z
    for k in range(n):
        below, value = value, (2 * k + 1) / z * value - below
    return np.where(near, series, value)
''',
    "hyp1f1": '''
def hyp1f1(a, b, x):
    """Kummer's function for b = a + 1: series of positive terms near 0, recurrence elsewhere."""
    near = np.abs(x) < 10
    z = np.where(near, x, 0)
    up, down = (np.abs(z) + z) / 2, (np.abs(z) - z) / 2
    right, left, term, other = 0, 0, z**0, z**0
    for k in range(1, 60):
        right, left = right + term / (a + k - 1), left + other
        term, other = term * up / k, other * down / (a + k)
    z = np.where(near, 10, x)
    first, value = np.where(z > 0, 1, np.exp(z)), -np.expm1(-np.abs(z)) / np.abs(z)
    for k in range(1, a):
        value = (first - k * value) / z
    right = np.where(near, right, np.exp(x) * value)
    return np.where(x > 0, a * right, np.where(near, np.exp(x) * left, a * value))
''',
    "exprel": '''
def exprel(x):
    """(exp(x) - 1) / x, and its limit at 0."""
    return hyp1f1(1, 2, x)
''',
    "loggamma": '''
def loggamma(x):
    """The logarithm of the gamma function, where it is real."""
    return np.where(x < 0, np.nan, special.gammaln(x))
''',
    "betaln": '''
def betaln(a, b):
    """log |beta(a, b)|."""
    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)
''',
    "beta": '''
def beta(a, b):
    """The beta function."""
    signs = [np.where((v < 0) & (np.floor(v) % 2 != 0), -1, 1) for v in (a, b, a + b)]
    return signs[0] * signs[1] * signs[2] * np.exp(betaln(a, b))
''',
    "binom": '''
def binom(n, k):
    """The binomial coefficient."""
    return 1 / ((n + 1) * beta(n - k + 1, k + 1))
''',
    "zeta": '''
def zeta(s, a=1.0):
    """The zeta function of Hurwitz, or of Riemann."""
    return special.zeta(s, a)
''',
}
