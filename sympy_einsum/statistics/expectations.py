"""The expectation, variance and covariance of expressions in Gaussian variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sympy import Integer

from ..analysis import Code, Labels, canonical_product, with_labels
from ..core import UnsupportedError
from ..expressions import (
    Operand,
    TensorLike,
    TensorSymbol,
    Zeros,
    as_operand,
    shape_of,
    substitute,
    total_of,
)
from ..operations import tensordot
from ..rules import tidy
from .gaussians import Gaussian, as_law
from .monomials import Monomial, Monomials
from .orientation import with_symbol
from .wick import Factors, SeveralVariablesError, expected

# The distribution of each random variable.
Distributions = Mapping[Operand, Gaussian]


def expectation(e: TensorLike, variables: Distributions) -> Operand:
    """Return the expectation of an expression in independent Gaussian variables.

    Polynomials are computed by Isserlis' theorem (Wick's theorem), as sums over pairings in which
    equal ones are counted; exponentials of affine forms by the moment generating function, of
    quadratic forms by completing the square, and sines and cosines as parts of exponentials with an
    imaginary argument. Products of these are supported, entry by entry and in any einsum.

    Parameters
    ==========

    e : an expression of any shape; its mean values keep its structure
    variables : the distribution of each random variable, a dictionary ``{x: Gaussian(mu, Sigma)}``.
        The variables are tensor symbols or SymPy's symbols, and independent; correlated ones are
        one variable and its parts. All other symbols are fixed.

    Returns
    =======

    The expectation, of the shape of ``e``. That of the exponential of a quadratic form
    ``x @ Q @ x`` exists where ``inv(Sigma) - 2*Q`` is positive definite, and is given for that
    case.

    Raises
    ======

    UnsupportedError : ``e`` contains another function of a variable, which the message names, or
        the expectation is infinite
    ShapeError : a distribution hasn't the shape of its variable
    TensorError : a variable isn't a symbol, or the distribution of one depends on another

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> x, mu, b = se.tensors("x mu b", n)
    >>> A, Sigma = se.TensorSymbol("A", n, n), se.TensorSymbol("Sigma", n, n, symmetric=True)
    >>> law = {x: se.Gaussian(mu, Sigma)}
    >>> se.expectation(x @ A @ x, law)
    mu @ A @ mu + (Sigma @ A).trace()
    >>> se.expectation(se.outer(x, x), law)
    Sigma + outer(mu, mu)
    >>> se.expectation(se.exp(b @ x), law)
    exp((b @ Sigma @ b)/2 + b @ mu)
    >>> se.expectation(se.relu(x), law)
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: no expectation of relu(x), the relu of a Gaussian tensor; there
    are those of polynomials, of exp, sin, cos, sinh and cosh of affine forms, of exp of quadratic
    forms, and of products of these
    """
    e = as_operand(e)
    monomials = Monomials(as_law(variables))
    labels = monomials.new_labels(shape_of(e))
    try:
        terms = _expanded(monomials, e, labels)
        products = [found for term in terms for found in expected(monomials, term)]
    except SeveralVariablesError:
        if len(variables) == 1:
            raise
        for variable, gaussian in variables.items():
            e = expectation(e, {variable: gaussian})
        return e
    return _added(monomials, products, labels, [e])


def variance(e: TensorLike, variables: Distributions) -> Operand:
    """Return the variance of an expression in independent Gaussian variables: of a scalar a scalar,
    of a tensor the covariance of each pair of entries, as in the covariance matrix of a vector.

    Parameters and errors are those of :func:`expectation`.

    Returns
    =======

    The variance, of shape e.shape + e.shape; the variances of the entries are its diagonal.

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> x, B = se.TensorSymbol("x", n), se.TensorSymbol("B", m, n)
    >>> Q, Sigma = se.tensors("Q Sigma", n, n, symmetric=True)
    >>> law = {x: se.Gaussian(se.Zeros(n), Sigma)}
    >>> se.variance(B @ x, law)
    B @ Sigma @ B.T
    >>> se.variance(x @ Q @ x, law)
    2*((Q @ Sigma @ Q @ Sigma).trace())
    """
    return covariance(e, e, variables)


def covariance(a: TensorLike, b: TensorLike, variables: Distributions) -> Operand:
    """Return the covariance of two expressions in independent Gaussian variables, E[a b] - E[a]
    E[b] for each entry of ``a`` and each of ``b``.

    Of polynomials only those pairings are built that pair a factor of one with one of the other, so
    that nothing cancels. Parameters and errors are those of :func:`expectation`.

    Returns
    =======

    The covariance, of shape a.shape + b.shape.

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, mu, b = se.tensors("x mu b", 3)
    >>> Sigma = se.TensorSymbol("Sigma", 3, 3, symmetric=True)
    >>> law = {x: se.Gaussian(mu, Sigma)}
    >>> se.covariance(x, b @ x, law)
    Sigma @ b
    >>> se.covariance(x, x @ x, law)
    2*Sigma @ mu
    """
    a, b = as_operand(a), as_operand(b)
    monomials = Monomials(as_law(variables))
    left = monomials.new_labels(shape_of(a))
    right = monomials.new_labels(shape_of(b))
    try:
        products = [
            found
            for one in _expanded(monomials, a, left)
            for other in _expanded(monomials, b, right)
            for found in _connected_products(monomials, one, other)
        ]
    except SeveralVariablesError:
        both = tensordot(a, b, 0)
        total, first, second = [expectation(e, variables) for e in (both, a, b)]
        return tidy([total - tensordot(first, second, 0)], None, [both])[0][0]
    return _added(monomials, products, (*left, *right), [a, b])


def _expanded(monomials: Monomials, e: Operand, labels: Labels) -> list[Monomial]:
    try:
        return monomials.of(e, labels)
    except RecursionError:
        raise UnsupportedError(
            "no expectation of an expression nested this deeply; take that of a part, and put it in"
        ) from None


def _connected_products(
    monomials: Monomials, one: Monomial, other: Monomial
) -> Iterator[tuple[int, Factors]]:
    """Yield the covariance of two monomials as multiples of products."""
    joined = monomials.product([[one], [other]], "a product")
    if one.is_polynomial and other.is_polynomial:
        for term in joined:
            yield from expected(monomials, term, len(one.forms))
        return
    for term in joined:
        yield from expected(monomials, term)
    for first, left in expected(monomials, one):
        for second, right in expected(monomials, other):
            yield -first * second, (*left, *right)


def _added(
    monomials: Monomials,
    products: Iterable[tuple[int, Factors]],
    labels: Labels,
    given: Sequence[Operand],
) -> Operand:
    """Add multiples of products, with the axes ``labels``."""
    counts: dict[tuple[Code, ...], int] = {}
    for number, product in products:
        key = canonical_product(product, labels)
        counts[key] = counts.get(key, 0) + number
    values = []
    for codes, number in counts.items():
        factors = with_labels(codes, labels, lambda n: monomials.new_labels([n])[0])
        values.append(monomials.total([(Integer(number), ()), *factors], labels))
    shape = [monomials.lengths[label] for label in labels]
    total = total_of(values) if values else Zeros(*shape)
    plain = {
        stand_in: covariance
        for stand_in, covariance in monomials.law.given.items()
        if isinstance(covariance, TensorSymbol) and covariance.order == 2
    }
    others = {key: value for key, value in monomials.law.given.items() if key not in plain}
    total = tidy([substitute(total, others)], None, given)[0][0]
    for stand_in, covariance in plain.items():
        total = with_symbol(total, stand_in, covariance)
    return total
