"""Commutative semirings: the meanings of sum and product besides those for real numbers.

A natural number k in an expression is the sum of k ones, a power x**k the product of k factors x:
that is the only way to read them in all semirings, and what collecting like terms does, as x + x =
2*x, agrees with it. Deltas, ones and zeros have the entries 1 and 0 of the semiring.

References
==========

M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025, section 4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core import TensorError, UnsupportedError


class Semiring(NamedTuple):
    """The spelling of a semiring in NumPy's names; ``{0}`` and ``{1}`` are the operands.

    add, multiply : the two operations on arrays
    zero, one : their neutral elements
    total : the sum over ``axis`` of an array ``x`` that isn't empty, as helper functions spell it
    natural : the sum of ``k`` ones, for arrays of numbers too, as they spell it
    power : the product of ``{1}`` factors
    entries : an array ``x`` as one of elements, as they spell it
    product : the helper function of the matrix product
    operations : an object of the caller's, which the texts call ``semiring``

    Those of a caller's have the defaults: they add by halves, and square.
    """

    name: str
    add: str
    multiply: str
    zero: str
    one: str
    total: str = ""
    natural: str = ""
    power: str = "power({0}, {1})"
    entries: str = "x"
    product: str = "product"
    operations: Any = None


SEMIRINGS = {
    row.name: row
    for row in (
        Semiring(
            "max-plus",
            *("np.maximum({0}, {1})", "({0} + {1})", "-np.inf", "0.0"),
            total="x.max(axis=axis)",
            natural="xp.where(k > 0, 0.0, -xp.inf)",
            power="({1} * {0})",
            entries="floating(x)",
        ),
        Semiring(
            "min-plus",
            *("np.minimum({0}, {1})", "({0} + {1})", "np.inf", "0.0"),
            total="x.min(axis=axis)",
            natural="xp.where(k > 0, 0.0, xp.inf)",
            power="({1} * {0})",
            entries="floating(x)",
        ),
        Semiring(
            "max-times",
            *("np.maximum({0}, {1})", "({0} * {1})", "0.0", "1.0"),
            total="x.max(axis=axis)",
            natural="xp.where(k > 0, 1.0, 0.0)",
            power="({0} ** {1})",
            entries="floating(x)",
        ),
        Semiring(
            "or-and",
            *("np.logical_or({0}, {1})", "np.logical_and({0}, {1})", "False", "True"),
            total="x.any(axis=axis)",
            natural="k > 0",
            power="np.logical_and({0}, {0})",
            entries="x != 0",
            product="product_of_truth_values",
        ),
        Semiring(
            "log",
            *("np.logaddexp({0}, {1})", "({0} + {1})", "-np.inf", "0.0"),
            total="logsumexp(x, axis)",
            natural="log_of_natural(k)",
            power="({1} * {0})",
            entries="floating(x)",
        ),
        Semiring(
            "count",
            *("({0} + {1})", "({0} * {1})", "0", "1"),
            total="x.sum(axis=axis)",
            natural="xp.asarray(k)",
            power="({0} ** {1})",
            entries="whole_numbers(x)",
            product="product_of_numbers",
        ),
    )
}


def semiring_of(given: Any) -> Semiring:
    """Return the semiring of a name, or of an object with ``add``, ``multiply``, ``zero`` and
    ``one``.

    Raises
    ======

    UnsupportedError : there is none of that name
    TensorError : the object has no such attributes
    """
    if isinstance(given, str):
        if given not in SEMIRINGS:
            names = ", ".join(SEMIRINGS)
            raise UnsupportedError(
                f"no semiring {given[:80]!r}; there are {names}, and any object with add, "
                "multiply, zero and one"
            )
        return SEMIRINGS[given]
    missing = [name for name in ("add", "multiply", "zero", "one") if not hasattr(given, name)]
    missing += [name for name in ("add", "multiply") if not callable(getattr(given, name, len))]
    if missing:
        raise TensorError(
            "a semiring is a name or an object with two functions of arrays, add and multiply, and "
            f"their neutral elements zero and one; {given!r:.80} has no {' and '.join(missing)}"
        )
    return Semiring(
        type(given).__name__,
        *("semiring.add({0}, {1})", "semiring.multiply({0}, {1})", "semiring.zero", "semiring.one"),
        operations=given,
    )
