"""Stationary points of quadratic functions."""

from __future__ import annotations

from math import prod

from sympy import S

from ..calculus import checked_unknown, gradient, jacobian
from ..certificates import convexity
from ..core import ShapeError, TensorError, UnsupportedError
from ..expressions import (
    Operand,
    TensorLike,
    Zeros,
    as_operand,
    order_of,
    reshape_node,
    scale,
    shape_of,
)
from ..operations import add, solve, tensordot
from ..rules import simplify, structure
from ..verification import equal
from .functions import like, weighted_sum
from .packing import free_names


def stationary(f: TensorLike, x: Operand) -> Operand:
    r"""Return the x where the gradient of a scalar f is zero, of an f that is quadratic in x.

    The linear system is solved by what is known of the Hessian: deltas and the factors of Kronecker
    products stay apart, as in the steps of alternating least squares. Like :func:`minimizer`, it is
    a minimum of a convex f.

    Parameters
    ==========

    f : a scalar
    x : a tensor or scalar symbol in f; of the solution's shape

    Raises
    ======

    ShapeError : f isn't a scalar
    TensorError : f doesn't depend on x, or linearly, or x is no symbol
    UnsupportedError : the gradient isn't linear in x, as of functions with kinks, or x is
        symmetric. When it is evaluated, ``LinAlgError`` if the Hessian is found to be singular

    Examples
    ========

    A step of alternating least squares for a factorization, and for a canonical polyadic
    decomposition [KB, §3.4]:

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n, k, r = symbols("m n k r", integer=True, positive=True)
    >>> X, U, V = se.TensorSymbol("X", m, n), se.TensorSymbol("U", m, r), se.TensorSymbol("V", n, r)
    >>> print(se.latex(se.stationary(((X - U @ V.T) ** 2).sum(), U)))
    X V \left(V^{\top} V\right)^{-1}
    >>> T, W = se.TensorSymbol("T", m, n, k), se.TensorSymbol("W", k, r)
    >>> f = ((T - se.einsum("ia,ja,ka->ijk", U, V, W)) ** 2).sum()
    >>> best = se.einsum("ijk,jb,kb,ba->ia", T, V, W, se.inv((V.T @ V) * (W.T @ W)))
    >>> se.equal(se.stationary(f, U), best)
    True

    References
    ==========

    [KB] T. G. Kolda, B. W. Bader, "Tensor Decompositions and Applications", 2009.
    """
    unknown, value = checked_unknown("stationary", x), as_operand(f)
    if shape_of(value):
        raise ShapeError(
            f"only a scalar has a stationary point, not a tensor of shape {shape_of(value)}"
        )
    derivative = gradient(value, unknown)
    hessian = simplify(jacobian(derivative, unknown))
    if unknown in hessian.free_symbols:
        raise UnsupportedError(
            f"the gradient isn't linear in {unknown}; minimizer() finds a stationary point by "
            "Newton's method"
        )
    if unknown not in simplify(derivative).free_symbols:
        raise TensorError(f"f is linear in {unknown} or doesn't depend on it; its Hessian is zero")
    constant = derivative.subs(unknown, Zeros(*shape_of(unknown)))
    affine = add(tensordot(hessian, unknown, order_of(unknown)), constant)
    if not _is_affine(derivative, unknown) and not equal(derivative, affine):
        raise UnsupportedError(
            f"the gradient isn't known to be linear in {unknown}, though its derivative is "
            "constant, as that of a function with kinks or steps is; give a Problem where these "
            "are constraints"
        )
    return simplify(_solved(hessian, scale(S.NegativeOne, constant)))


def _solved(matrix: Operand, right: Operand) -> Operand:
    """Return the x with H x = b, of the shape of b."""
    shape = shape_of(right)
    if not shape:
        return right / matrix
    found = structure(matrix)
    if found is not None:
        return found.solve(right)
    count = prod(shape)
    square, vector = reshape_node(matrix, (count, count)), reshape_node(right, (count,))
    return reshape_node(solve(square, vector), shape)


def _is_affine(derivative: Operand, x: Operand) -> bool:
    """Tell whether each entry is known to be affine in x. That the derivative is constant isn't
    enough: those of signs and of other functions with steps are zero."""
    name = next(free_names("weight", derivative.free_symbols))
    total = weighted_sum([like(name, derivative)], [derivative])
    return convexity(total, x).kind == "affine"
