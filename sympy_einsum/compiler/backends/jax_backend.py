"""JAX: functions that can be jitted, mapped and differentiated again by JAX itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..ir.code import Code, call, negative, quote, with_keywords
from ..runtime.array_helpers import FOURIER, RUNNING, SPECIAL, shared
from ..runtime.numpy_factors import BY_FACTORS
from .base import Backend
from .spelling import (
    Bracket,
    Codes,
    along_axes,
    assigned,
    bracketed,
    called,
    called_along,
    numbers_code,
)


class JaxBackend(Backend):
    """Spells instructions in jax.numpy; nothing is written to, and XLA fuses what it can."""

    name = "jax"
    imports = ("import jax", "import jax.numpy as jnp", "from jax.scipy import special")
    xp = "jnp"
    exponential = "jax.scipy.linalg.expm"
    stably = ""
    by_rows: ClassVar = frozenset(
        ("dot", "matmul", "sum", "extremum", "peak", "log_total", "logsumexp", "softmax")
    )
    packages = ("jax", "jaxlib")
    # JAX reads numbers in the other order of bytes as if they were in this.
    is_wide = f"{Backend.is_wide} and {{0}}.dtype.isnative"
    support: ClassVar = shared(
        *(
            "cofactors",
            "derivative_along",
            "peak",
            "log_total",
            "share",
            "last_equal",
            "one_hot",
            "windows",
            *RUNNING,
            *FOURIER,
            "correlate",
        ),
        *SPECIAL,
    )
    # Its own log-sum-exp along an axis, and its own way with recurrences, which takes XLA long.
    support |= {
        "recurrence": '''
def recurrence(x, b, backwards):
    """y[j] = x[j - 1] y[j - 1] + b[j] on the last axis; backwards y[j] = x[j] y[j + 1] + b[j]."""
    pad = [(0, 0)] * (x.ndim - 1) + [(0, 1) if backwards else (1, 0)]
    x, b = jnp.broadcast_arrays(jnp.pad(x, pad), b)
    if not b.size:
        return b

    def joined(first, second):
        return first[0] * second[0], second[0] * first[1] + second[1]

    return jax.lax.associative_scan(joined, (x, b), reverse=backwards, axis=b.ndim - 1)[1]
''',
        "running_weights": '''
def running_weights(x):
    """x and log(cumsum(exp(x))) along the last axis without overflow; exp(x - top) and its running
    sum, and whether these vanish nowhere."""
    x = x + 0.0
    first = jnp.exp(x[..., :1] - peak(x, axis=-1))
    is_plain = (first > jnp.finfo(x.dtype).tiny ** 0.8).all()
    safe = jnp.where(is_plain, x, 0)
    top = peak(safe, axis=-1)
    weights = jnp.exp(safe - top)
    total = weights.cumsum(-1)

    def careful():
        return jax.lax.cumlogsumexp(x, axis=x.ndim - 1)

    y = jax.lax.cond(is_plain, lambda: jnp.log(total) + top, careful)
    return x, y, weights, total, is_plain
''',
        "running_mean": '''
def running_mean(weights, c, backwards):
    """Sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of the x that has such
    weights and y = log(cumsum(exp(x)))."""
    x, y, weights, total, is_plain = weights

    def plain():
        if backwards:
            return weights * (c / total)[..., ::-1].cumsum(-1)[..., ::-1]
        return (weights * c).cumsum(-1) / total

    def careful():
        finite = jnp.where(y == -jnp.inf, 0, y)
        shares, ratio = jnp.exp(x - finite), jnp.exp(y[..., :-1] - finite[..., 1:])
        if backwards:
            return shares * recurrence(ratio, c, True)
        return recurrence(ratio, shares * c, False)

    return jax.lax.cond(is_plain, plain, careful)
''',
        "product_of_transposed": '''
def product_of_transposed(X, Y):
    """X.T @ Y. On processors XLA has a fast product since JAX 0.10, of which the left operand lies
    in rows: X is written out so, where Y has enough columns to pay for it."""
    is_narrow = X.ndim < 2 or Y.ndim < 2 or Y.shape[1] < 32
    if is_narrow or jax.default_backend() != "cpu" or jax.__version_info__ < (0, 10):
        return X.T @ Y
    return jax.lax.optimization_barrier(X.T) @ Y
''',
        "factored": '''
def factored(X, definite):
    """Cholesky's lower factor of a definite matrix, nan for one that isn't; else LU's factors in
    one array, and the rows that were exchanged."""
    return (jnp.linalg.cholesky(X), None) if definite else jax.scipy.linalg.lu_factor(X)
''',
        "solved": '''
def solved(factors, B, transposed):
    """inv(X) @ B, or inv(X.T) @ B, of a matrix X that is factored."""
    if factors[1] is None:
        return jax.scipy.linalg.cho_solve((factors[0], True), B)
    return jax.scipy.linalg.lu_solve(factors, B, trans=int(transposed))
''',
        "inverted": '''
def inverted(factors):
    """The inverse of a matrix that is factored."""
    return solved(factors, jnp.eye(len(factors[0]), dtype=factors[0].dtype), False)
''',
        "log_determinant": '''
def log_determinant(factors):
    """log |det X| of a matrix that is factored."""
    sizes = jnp.log(jnp.abs(factors[0].diagonal())).sum()
    return 2 * sizes if factors[1] is None else sizes
''',
        "turns": '''
def turns(exchanged):
    """The sign of an exchange of rows."""
    return 1 - 2 * ((exchanged != jnp.arange(len(exchanged))).sum() % 2)
''',
        "signed_log_determinant": '''
def signed_log_determinant(factors):
    """The sign of the determinant of a matrix that is factored, and log |det X|."""
    sign = jnp.sign(factors[0].diagonal()).prod()
    sign = sign**2 if factors[1] is None else sign * turns(factors[1])
    return sign, log_determinant(factors)
''',
        "determinant": '''
def determinant(factors):
    """The determinant of a matrix that is factored."""
    product = factors[0].diagonal().prod()
    return product**2 if factors[1] is None else product * turns(factors[1])
''',
        "scatter": '''
def scatter(values, lengths, *positions):
    """Zeros, to which values are added at positions on the first axes, also at repeated ones."""
    order = max(map(jnp.ndim, positions))
    total = jnp.zeros((*lengths, *values.shape[order:]), values.dtype)
    return total.at[positions].add(values)
''',
    }
    support["last_equal"] = support["last_equal"].replace("xp.maximum.accumulate", "jax.lax.cummax")
    renamed: ClassVar = {f"special.iv({order}, ": f"special.i{order}(" for order in (0, 1)}
    special: ClassVar = {
        *("digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "expi", "expit", "expn", "gamma"),
        *("gammaln", "log_ndtr", "ndtr", "polygamma", "rel_entr", "sici", "xlog1py", "xlogy"),
        "zeta",
    }

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """An array of numbers, written out; of JAX's default types, which may be short ones."""
        if array.dtype in (np.float64, np.int64):
            return self.code("np.array({0})", numbers_code(array, self.code))
        return super().constant(operands, array)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """The first operand as an array of that type, which arrays of NumPy's become too."""
        return call("jnp.asarray", operands[0], kind)

    def put(self, target: Code, cuts: Sequence[Bracket], block: Code, sign: int) -> ast.stmt:
        """The statement that makes an array with a block written into it, added or subtracted."""
        block = negative(block) if sign < 0 else block
        place = bracketed(quote("{0}.at", target), cuts)
        value = quote(f"{{0}}.{'add' if sign else 'set'}({{1}})", place, block)
        return assigned(target, value, 0)

    def dot(self, operands: Codes) -> Code:
        """The product of matrices and vectors; one that names its axes is taken as it is, where
        XLA would compute what is transposed the other way round."""
        left, right = operands
        if self.is_read_back:
            return super().dot(operands)
        if transposed := _transposed(left):
            return call("product_of_transposed", transposed, right)
        if transposed := _transposed(right):
            return call("jnp.tensordot", left, transposed, (-1, 1))
        return super().dot(operands)

    factored = called("factored")
    logsumexp = called_along("jax.nn.logsumexp")

    def solved(self, operands: Codes, definite: bool, transposed: bool) -> Code:
        """inv(X) @ Y, or inv(X)' @ Y, by factors."""
        return call("solved", *operands, transposed)

    def by_factors(self, operands: Codes, name: str, definite: bool, shape: Codes) -> Code:
        """The inverse or the determinant by factors."""
        return call(BY_FACTORS[name], operands[0])

    def softmax(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """exp / Σ exp over axes, over all for None."""
        code = call("jax.nn.softmax", operands[0])
        return with_keywords(code, axis=None) if axes is None else along_axes(code, axes)

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """The entries along an axis in order, or the largest or smallest so far."""
        if name == "sort":
            return super().picked(operands, name, axis)
        return with_keywords(call(f"jax.lax.{name}", operands[0]), axis=axis)


def _transposed(code: Code) -> Code | None:
    """Return the variable that a tree is the transpose of; None for other trees."""
    if not isinstance(code, ast.Attribute) or code.attr != "T":
        return None
    return code.value if isinstance(code.value, ast.Name) else None
