"""JAX helper functions of generated sources."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .array_helpers import max_shift


def recurrence(x, b, backwards):
    """Solve y[j] = x[j - 1] y[j - 1] + b[j] on the last axis; backwards y[j] = x[j] y[j + 1] +
    b[j]."""
    pad = [(0, 0)] * (x.ndim - 1) + [(0, 1) if backwards else (1, 0)]
    x, b = jnp.broadcast_arrays(jnp.pad(x, pad), b)
    if not b.size:
        return b

    def joined(first, second):
        return first[0] * second[0], second[0] * first[1] + second[1]

    return jax.lax.associative_scan(joined, (x, b), reverse=backwards, axis=b.ndim - 1)[1]


def running_weights(x):
    """Return x and log(cumsum(exp(x))) along the last axis without overflow; exp(x - top) and its
    running sum, and whether these vanish nowhere."""
    x = x + 0.0
    first = jnp.exp(x[..., :1] - max_shift(x, axis=-1))
    is_plain = (first > jnp.finfo(x.dtype).tiny ** 0.8).all()
    safe = jnp.where(is_plain, x, 0)
    top = max_shift(safe, axis=-1)
    weights = jnp.exp(safe - top)
    total = weights.cumsum(-1)

    def careful():
        return jax.lax.cumlogsumexp(x, axis=x.ndim - 1)

    y = jax.lax.cond(is_plain, lambda: jnp.log(total) + top, careful)
    return x, y, weights, total, is_plain


def running_mean(weights, c, backwards):
    """Return sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of the x that has
    such weights and y = log(cumsum(exp(x)))."""
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


def product_of_transposed(X, Y):
    """Return X.T @ Y. On processors XLA has a fast product since JAX 0.10 if the left operand is
    stored by rows: X is transposed in memory, where Y has enough columns to pay for it."""
    is_narrow = X.ndim < 2 or Y.ndim < 2 or Y.shape[1] < 32
    if is_narrow or jax.default_backend() != "cpu" or jax.__version_info__ < (0, 10):
        return X.T @ Y
    return jax.lax.optimization_barrier(X.T) @ Y


def factored(X, definite):
    """Return Cholesky's lower factor of a definite matrix, nan for one that isn't; else LU's
    factors in one array, and the rows that were exchanged."""
    return (jnp.linalg.cholesky(X), None) if definite else jax.scipy.linalg.lu_factor(X)


def solved(factors, B, transposed):
    """Return inv(X) @ B, or inv(X.T) @ B, of a matrix X that is factored."""
    if factors[1] is None:
        return jax.scipy.linalg.cho_solve((factors[0], True), B)
    return jax.scipy.linalg.lu_solve(factors, B, trans=int(transposed))


def inverted(factors):
    """Return the inverse of a matrix that is factored."""
    return solved(factors, jnp.eye(len(factors[0]), dtype=factors[0].dtype), False)


def log_determinant(factors):
    """Return log |det X| of a matrix that is factored."""
    sizes = jnp.log(jnp.abs(factors[0].diagonal())).sum()
    return 2 * sizes if factors[1] is None else sizes


def pivot_sign(exchanged):
    """Return the sign of an exchange of rows."""
    return 1 - 2 * ((exchanged != jnp.arange(len(exchanged))).sum() % 2)


def signed_log_determinant(factors):
    """Return the sign of the determinant of a matrix that is factored, and log |det X|."""
    sign = jnp.sign(factors[0].diagonal()).prod()
    sign = sign**2 if factors[1] is None else sign * pivot_sign(factors[1])
    return sign, log_determinant(factors)


def determinant(factors):
    """Return the determinant of a matrix that is factored."""
    product = factors[0].diagonal().prod()
    return product**2 if factors[1] is None else product * pivot_sign(factors[1])


def scatter(values, lengths, *positions):
    """Add values to zeros at positions on the first axes, also at repeated ones."""
    order = max(map(jnp.ndim, positions))
    total = jnp.zeros((*lengths, *values.shape[order:]), values.dtype)
    return total.at[positions].add(values)


def halves_added(total, first, second, axis):
    """Return an array with blocks added to the parts of an axis. XLA fuses a sum of whole arrays
    with what is around it, which pays for small ones: what is concatenated isn't vectorised."""
    if total.size <= 4096:
        return total + jnp.concatenate([first, second], axis).astype(total.dtype)
    total, count = jnp.moveaxis(total, axis, 0), first.shape[axis]
    first, second = jnp.moveaxis(first, axis, 0), jnp.moveaxis(second, axis, 0)
    return jnp.moveaxis(total.at[:count].add(first).at[count:].add(second), 0, axis)


def newton_root(system, start, *values):
    """Return x with f = 0, of f and its Jacobian from system(x, *values), by Newton's method. Steps
    are halved until they reduce f, and end where they only change digits that rounding decides.
    JAX's derivatives of x are those of the implicit function theorem; traced, x is nan where it
    isn't found."""
    kinds = jax.eval_shape(system, start, *values)
    start = jnp.asarray(start, jnp.result_type(start, 0.0, *kinds))
    if not start.size:
        return start
    digits = jnp.finfo(start.dtype).eps ** 0.5

    def residual(x):
        return jnp.asarray(system(x, *values)[0], start.dtype)

    def improved(state):
        x, least, share, step, trial, count, _ = state
        f, jacobian = system(trial, *values)
        f = jnp.reshape(f, (-1,)).astype(start.dtype)
        found = abs(f).max()
        is_better = found < least
        jacobian = jnp.reshape(jacobian, (f.size, f.size)).astype(start.dtype)
        next_step = jnp.reshape(jnp.linalg.solve(jacobian, f), start.shape)
        x, step = jnp.where(is_better, trial, x), jnp.where(is_better, next_step, step)
        least = jnp.where(is_better | (count == 0), found, least)
        share = jnp.where(is_better, 1, share / 2)
        size = abs(x).max() + jnp.where(is_better, 0, 1)
        is_exact, is_small = found == 0, abs(step).max() <= digits * size
        rest = jnp.where(is_exact | (is_small & ~is_better), 0, share).astype(start.dtype)
        trial = jnp.where(rest == 0, x, x - rest * step)
        return x, least, share, step, trial, count + 1, is_exact | is_small

    def found_root(_, x):
        one = jnp.ones((), start.real.dtype)
        state = x, one * jnp.inf, one, jnp.full_like(x, jnp.inf), x, 0, False
        state = jax.lax.while_loop(lambda s: ~s[-1] & (s[-2] < 100), improved, state)
        # Derivatives are for numbers with a fraction only.
        return state[4], tuple([one * own for own in (state[1], state[5], state[6])])

    def solved(linear, y):
        matrix = jnp.reshape(jax.jacobian(linear)(y), (y.size, y.size))
        return jnp.reshape(jnp.linalg.solve(matrix, jnp.reshape(y, (-1,))), y.shape)

    x, (least, count, is_found) = jax.lax.custom_root(
        residual, start, found_root, solved, has_aux=True
    )
    if isinstance(is_found, jax.core.Tracer):
        return jnp.where(is_found > 0, x, jnp.nan)
    if not is_found:
        raise ArithmeticError(
            f"Newton's method did not converge: the residual is {least:.3g} after {count:.0f} "
            "iterations; give another start"
        )
    return x
