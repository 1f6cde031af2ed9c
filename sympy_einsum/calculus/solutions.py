"""Functions given implicitly: solutions of equations, and minimizers."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Basic, Symbol

from ..core import ShapeError, TensorError, UnsupportedError, same_name_hint, same_shape
from ..expressions import (
    BoundTensor,
    Operand,
    TensorLike,
    TensorSymbol,
    as_operand,
    shape_of,
    solution_of,
)
from ..operations import calling
from .operators import gradient, jacobian


def solution(
    F: TensorLike | Callable[[Operand], TensorLike],
    x: Operand | None = None,
    start: TensorLike | None = None,
) -> Operand:
    """Build the x with F(x) = 0, as a function of the other symbols in F.

    Its value is found by Newton's method when it is evaluated, with shorter steps where a whole one
    doesn't bring F nearer to zero. Derivatives of any order are those of the implicit function
    theorem: with J the Jacobian of F by x, dx = -inv(J) dF. They don't depend on ``start``.

    Parameters
    ==========

    F : an expression of the shape of x, or a function of x that returns it
    x : the unknown, a tensor or scalar symbol that stands for nothing outside of F; if F is a
        function, it isn't needed
    start : the value of x that Newton's method starts from

    Raises
    ======

    ShapeError : F or ``start`` has another shape than x
    TensorError : F doesn't depend on x, or x is no symbol. When it is evaluated, ArithmeticError if
        Newton's method doesn't converge; from JAX under ``jit`` the value is nan then

    Examples
    ========

    The square root of a matrix, and how a root moves with a parameter:

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> X, A = se.tensors("X A", (2, 2))
    >>> root = se.solution(X @ X - A, X, start=A)
    >>> f = se.lambdify([A], root)
    >>> f([[4.0, 0], [0, 9]]).round(6)
    array([[2., 0.],
           [0., 3.]])
    >>> x, a = symbols("x a", positive=True)
    >>> y = se.solution(x**3 + x - a, x, start=1)
    >>> se.lambdify([a], [y, se.diff(y, a)])(10.0)
    [np.float64(2.0), np.float64(0.07692307692307693)]

    References
    ==========

    [KP] S. G. Krantz, H. R. Parks, "The Implicit Function Theorem", 2002.
    """
    x, residual, first = _equation("solution", F, x, start)
    _check_shape("solution", "F", residual, x)
    return _solution(residual, x, first)


def minimizer(
    f: TensorLike | Callable[[Operand], TensorLike],
    x: Operand | None = None,
    start: TensorLike | None = None,
) -> Operand:
    """Build the x where the gradient of a scalar f is zero, as a function of the other symbols.

    It is a minimum of a convex f; of others it may be any stationary point.

    Parameters
    ==========

    f, x, start : the function, the unknown and the first value, as of :func:`solution`

    Raises
    ======

    ShapeError : f isn't a scalar, or ``start`` has another shape than x
    TensorError : f doesn't depend on x, or x is no symbol

    Examples
    ========

    Ridge regression, and how its coefficients move with the penalty:

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> t = symbols("t", positive=True)
    >>> A, b, x = se.TensorSymbol("A", m, n), se.TensorSymbol("b", m), se.TensorSymbol("x", n)
    >>> r = A @ x - b
    >>> best = se.minimizer(r @ r / 2 + t / 2 * x @ x, x, start=se.Zeros(n))
    >>> f = se.lambdify([A, b, t], [best, se.diff(best, t)])
    >>> f([[1.0, 0], [0, 2], [0, 0]], [2.0, 2, 0], 1.0)
    [array([1. , 0.8]), array([-0.5 , -0.16])]

    References
    ==========

    [KP] S. G. Krantz, H. R. Parks, "The Implicit Function Theorem", 2002.
    """
    x, value, first = _equation("minimizer", f, x, start)
    if shape_of(value):
        raise ShapeError(f"only a scalar has a minimizer, not a tensor of shape {shape_of(value)}")
    return _solution(gradient(value, x), x, first)


def checked_unknown(name: str, x: Operand) -> Operand:
    """Return the unknown of a function; raise an error for what can't be one."""
    x = as_operand(x)
    if not isinstance(x, (TensorSymbol, Symbol)):
        raise TensorError(f"the unknown x of {name} is a TensorSymbol or a Symbol, not {x!s:.80}")
    if isinstance(x, TensorSymbol) and (x.is_symmetric or x.generators):
        raise UnsupportedError(
            f"the unknown {x} of {name} is symmetric, and its Jacobian singular; give one without "
            "assumptions of symmetry"
        )
    return x


def _equation(
    name: str,
    value: TensorLike | Callable[[Operand], TensorLike],
    x: Operand | None,
    start: TensorLike | None,
) -> tuple[Operand, Operand, Operand]:
    """Return the unknown, the expression of it, and the start, checked."""
    if start is None:
        raise TensorError(
            f"{name} needs a value that Newton's method starts from; give start= of the shape of x"
        )
    first = as_operand(start)
    if callable(value) and not isinstance(value, Basic):
        with calling() as level:
            x = BoundTensor("unknown", 0, level, shape_of(first))
            value = value(x)
    x = checked_unknown(name, x)
    _check_shape(name, "start", first, x)
    expr = as_operand(value)
    if x not in expr.free_symbols:
        raise TensorError(
            f"the unknown {x} of {name} isn't in {expr!s:.80}; give an expression of it"
        )
    return x, expr, first


def _check_shape(name: str, what: str, given: Operand, x: Operand) -> None:
    own, wanted = shape_of(given), shape_of(x)
    if not same_shape(own, wanted):
        raise ShapeError(
            f"{what} of {name} has shape {own}, and the unknown {x} has {wanted}; both must agree"
            + same_name_hint(*own, *wanted)
        )


def _solution(residual: Operand, x: Operand, start: Operand) -> Operand:
    return solution_of([residual, jacobian(residual, x)], x, start)
