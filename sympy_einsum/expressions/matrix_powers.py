"""Powers of square matrices, and their directional derivatives.

A power with a numeric exponent is a product, one with a symbolic exponent a node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr, S

from ..core import Length, UnsupportedError, as_scalar, floats_to_integers
from .base import Operand, TensorExpr, TensorLike
from .broadcasting import broadcast_together
from .interning import Data, Operands, data_property
from .leaves import Zeros
from .matrix_base import identities
from .matrix_functions import Inv, inv
from .matrix_stacks import DirectionalFunction, InvStack, square_matrices
from .products import contract
from .sums import scale, tensor_sum

# A power of X + t E + s F + … modulo t², s², …: the coefficient of each monomial, which is given by
# the numbers of its variables.
Multilinear = Mapping[frozenset[int], Operand]


class MatrixPower(DirectionalFunction):
    """A symbolic power of each matrix of a stack, or a directional derivative of it; build it with
    :func:`matrix_power`.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> A, k = se.TensorSymbol("A", (3, 3)), symbols("k", integer=True)
    >>> power = se.matrix_power(A, k)
    >>> isinstance(power, se.MatrixPower), power.subs(k, 2)
    (True, A @ A)
    """

    __slots__ = ()
    function = "matrix_power"
    at_identity = "identity"

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        matrices, *directions = operands
        (exponent,) = data
        if exponent.is_Integer:
            return _power_by_squaring(matrices, int(exponent), directions)
        if not directions:
            base = matrices.operands[0] if matrices.operands else matrices
            if isinstance(matrices, MatrixPower) and len(matrices.operands) == 1:
                return cls._build((base,), (matrices.exponent * exponent,))
            if isinstance(matrices, (Inv, InvStack)):
                return cls._build((base,), (-exponent,))
        return super()._build(operands, data)

    exponent: Expr = data_property(0, "The power to which the matrices are raised.")


def matrix_power(X: TensorLike, exponent: Length, *directions: TensorLike) -> Operand:
    """Return a square matrix to an integer power, or each matrix along the last two axes of a
    tensor; a negative exponent is a power of the inverse. With directions it is the mixed
    derivative along them, such as d/dt (X + t E)^k at t = 0 for one.

    A numeric exponent gives a product. For a symbolic one, an integer, derivatives are blocks of
    powers of block matrices, as those of :func:`expm`.

    Raises
    ======

    ShapeError : the last two axes have different lengths, or a direction has another shape
    UnsupportedError : the exponent isn't provably an integer

    Examples
    ========

    >>> import sympy_einsum as se
    >>> from sympy import symbols
    >>> S, E = se.tensors("S E", (3, 3))
    >>> se.matrix_power(S, 2) == S @ S
    True
    >>> k = symbols("k", integer=True)
    >>> print(se.gradient(se.matrix_power(S, k).trace(), S))
    k*matrix_power(S, k - 1).T
    >>> print(se.jvp(se.matrix_power(S, k), S, E).subs(k, 2))
    E @ S + S @ E
    """
    operands = [square_matrices(operand, "matrix_power") for operand in (X, *directions)]
    power = floats_to_integers(as_scalar(exponent, "the exponent of a matrix"))
    if not power.is_integer:
        remedy = (
            "a root of a symmetric matrix is V @ diag(w**p) @ V.T with w, V = eigh(X)"
            if power.is_number
            else "declare it as one, such as with sympy.symbols('k', integer=True), or substitute "
            "a number"
        )
        raise UnsupportedError(f"matrix_power takes an integer exponent, not {exponent}; {remedy}")
    return MatrixPower._build(tuple(broadcast_together(operands)), (power,))


def _power_by_squaring(matrices: TensorExpr, count: int, directions: Sequence[Operand]) -> Operand:
    """Build a numeric power, or its derivative along some directions, by repeated squaring."""
    factor: Multilinear = {
        frozenset(): matrices,
        **{frozenset([k]): direction for k, direction in enumerate(directions)},
    }
    if count < 0:
        factor, count = _polynomial_inverse(factor), -count
    result: Multilinear = {frozenset(): identities(matrices.shape)}
    while count:
        if count & 1:
            result = _polynomial_product(result, factor)
        count >>= 1
        if count:
            factor = _polynomial_product(factor, factor)
    return result.get(frozenset(range(len(directions))), Zeros(*matrices.shape))


def _polynomial_product(one: Multilinear, other: Multilinear) -> Multilinear:
    terms: dict[frozenset[int], list[Operand]] = {}
    for left, A in one.items():
        for right, B in other.items():
            if not left & right:
                terms.setdefault(left | right, []).append(_matmul(A, B))
    return {which: tensor_sum(found) for which, found in terms.items()}


def _polynomial_inverse(factor: Multilinear) -> Multilinear:
    """Solve (X + Σ t_k E_k) Y = 1 for Y: Y_K = -inv(X) Σ_k E_k Y_{K - k}."""
    variables = frozenset[int]().union(*factor)
    first = inv(factor[frozenset()])
    found = {frozenset[int](): first}
    for size in range(1, 2 ** len(variables)):
        which = frozenset(k for k in variables if size >> k & 1)
        terms = [_matmul(factor[frozenset([k])], found[which - {k}]) for k in which]
        found[which] = scale(S.NegativeOne, _matmul(first, tensor_sum(terms)))
    return found


def _matmul(A: TensorExpr, B: TensorExpr) -> Operand:
    *stack, rows, shared, columns = range(A.order + 1)
    lengths = {**dict(enumerate(A.shape)), columns: B.shape[-1]}
    terms = ((*stack, rows, shared), (*stack, shared, columns))
    return contract((A, B), terms, (*stack, rows, columns), lengths)
