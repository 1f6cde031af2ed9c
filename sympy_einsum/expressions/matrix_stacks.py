"""Functions of the matrices along the last two axes of a tensor: inverses and determinants of
stacks, and the factors of decompositions.

Each factor of a decomposition is a node, so that derivatives of any order are products of nodes;
code computes the factors of one decomposition together. The functions of a single matrix in
matrix_functions.py are other nodes, to which the rules of matrix algebra apply.
"""

from __future__ import annotations

from typing import ClassVar

from sympy import Expr, Min

from ..core import Shape, ShapeError, UnsupportedError, same_length, same_name_hint, sort_key
from .base import Operand, TensorExpr, TensorLike
from .broadcasting import broadcast_together
from .complex_entries import holds_complex
from .conversion import as_operand
from .graphs import shape_of
from .interning import Data, Operands, data_property
from .leaves import Zeros
from .matrix_base import CONSTANTS, MatrixFunction


class StackFunction(MatrixFunction):
    """Base class of functions of the matrices along the last two axes of a tensor.

    Attributes
    ==========

    function : the public function that computes it
    part : the index of the result, if the function has several
    letter : the name of that result in formulas
    formula : its name in formulas, if not the function's
    options : further arguments of the call
    is_of_symmetric : whether it is a function of (A + A')/2
    axes : the lengths of its axes behind those of the stack, for m×n matrices: m, n, or k for the
        smaller of both
    """

    __slots__ = ()
    function: ClassVar[str]
    part: ClassVar[int | None] = None
    letter: ClassVar[str | None] = None
    formula: ClassVar[str] = ""
    options: ClassVar[tuple[str, ...]] = ()
    is_of_symmetric: ClassVar[bool] = False
    axes: ClassVar[str] = "mn"

    @classmethod
    def of(cls, matrices: TensorExpr) -> Operand:
        """Build the function of a stack of matrices."""
        return cls._build((matrices,), ())

    @classmethod
    def _shape(cls, shape: Shape, data: Data) -> Shape:
        *stack, rows, columns = shape
        lengths = {"m": rows, "n": columns}
        if "k" in cls.axes:
            lengths["k"] = _shorter(rows, columns)
        return (*stack, *[lengths[axis] for axis in cls.axes])


# --- of square matrices


class InvStack(StackFunction):
    """The inverses of a stack of matrices; build it with ``inv``.

    >>> import sympy_einsum as se
    >>> matrices = se.TensorSymbol("A", (5, 3, 3))
    >>> isinstance(se.inv(matrices), se.InvStack), se.inv(matrices).shape
    (True, (5, 3, 3))
    """

    __slots__ = ()
    function = "inv"
    is_involution = True
    at_identity = "identity"


class AdjStack(StackFunction):
    """The adjugates of a stack of matrices; build it with ``adj``.

    >>> import sympy_einsum as se
    >>> matrices = se.TensorSymbol("A", (5, 3, 3))
    >>> isinstance(se.adj(matrices), se.AdjStack), se.adj(matrices).shape
    (True, (5, 3, 3))
    """

    __slots__ = ()
    function = "adj"
    at_identity = "identity"
    degree = 1


class DetStack(StackFunction):
    """The determinants of a stack of matrices; build it with ``det``.

    >>> import sympy_einsum as se
    >>> matrices = se.TensorSymbol("A", (5, 3, 3))
    >>> isinstance(se.det(matrices), se.DetStack), se.det(matrices).shape
    (True, (5,))
    """

    __slots__ = ()
    function = "det"
    at_identity, at_zeros = "ones", "zeros"
    axes = ""


class DetSigns(DetStack):
    """The signs of the determinants of a stack of matrices; build it with ``slogdet``.

    >>> import sympy_einsum as se
    >>> signs = se.slogdet(se.TensorSymbol("A", (5, 3, 3))).sign
    >>> isinstance(signs, se.DetSigns), signs.shape
    (True, (5,))
    """

    __slots__ = ()
    function, part, letter = "slogdet", 0, "s"


class LogDetStack(DetStack):
    """log|det| of a stack of matrices; build it with ``logdet``.

    >>> import sympy_einsum as se
    >>> matrices = se.TensorSymbol("A", (5, 3, 3))
    >>> isinstance(se.logdet(matrices), se.LogDetStack), se.logdet(matrices).shape
    (True, (5,))
    """

    __slots__ = ()
    function = "logdet"
    at_identity, at_zeros = "zeros", ""


class DeterminantDerivative(MatrixFunction):
    """Base class of derivatives of order 2 or more of the determinant."""

    __slots__ = ()

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        shape = cls._shape(operands[0].shape, data)
        vanishes = (shape[-1] - data[0]).is_negative
        return Zeros(*shape) if vanishes else cls._intern(operands, data, shape)

    @classmethod
    def _shape(cls, shape: Shape, data: Data) -> Shape:
        *stack, rows, columns = shape
        return (*stack, *(rows, columns) * int(data[0]))

    degree: int = data_property(0, "The order of the derivative of the determinant.")


class CofactorStack(DeterminantDerivative, StackFunction):
    """The derivatives of the determinants of a stack of matrices, of order 2 or more.

    >>> import sympy_einsum as se
    >>> matrices = se.TensorSymbol("A", (5, 3, 3))
    >>> cofactors = se.cofactors(matrices, 2)
    >>> isinstance(cofactors, se.CofactorStack), cofactors.shape
    (True, (5, 3, 3, 3, 3))
    """

    __slots__ = ()
    function, formula = "cofactors", "cof"


class DirectionalFunction(StackFunction):
    """Base class of matrix functions defined by power series: of a stack of matrices, or the mixed
    derivative along directions, which are the other operands, sorted."""

    __slots__ = ()

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        matrices, *directions = operands
        if any(isinstance(direction, Zeros) for direction in directions):
            return Zeros(*matrices.shape)
        constant = cls._constant(matrices)
        if constant and not directions:
            return CONSTANTS[constant](matrices.shape)
        ordered = (matrices, *sorted(directions, key=sort_key))
        return cls._intern(ordered, data, matrices.shape)

    def with_operands(self, *operands: Operand) -> Operand:
        """Apply the function to other matrices and directions."""
        return self._build(tuple(broadcast_together(operands)), self.data)


class Expm(DirectionalFunction):
    """The exponential of each matrix of a stack, or a directional derivative of it; build it with
    :func:`expm`.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> isinstance(se.expm(A), se.Expm), se.gradient(se.expm(A).trace(), A)
    (True, expm(A).T)
    """

    __slots__ = ()
    function = "expm"
    at_zeros = "identity"

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        is_derivative_at_zero = len(operands) == 2 and isinstance(operands[0], Zeros)
        return operands[1] if is_derivative_at_zero else super()._build(operands, data)


# --- of symmetric matrices


class Cholesky(StackFunction):
    """The lower triangular factor of positive definite matrices; build it with ``cholesky``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> isinstance(se.cholesky(A), se.Cholesky), se.cholesky(A).operands
    (True, (A,))
    """

    __slots__ = ()
    function, formula = "cholesky", "chol"
    at_identity = "identity"
    is_of_symmetric = True


class EigenValues(StackFunction):
    """The eigenvalues of symmetric matrices, ascending; build it with ``eigh``.

    >>> import sympy_einsum as se
    >>> values = se.eigh(se.TensorSymbol("A", (3, 3))).eigenvalues
    >>> isinstance(values, se.EigenValues), values.shape
    (True, (3,))
    """

    __slots__ = ()
    function = "eigvalsh"
    at_identity, at_zeros = "ones", "zeros"
    is_of_symmetric = True
    axes = "m"


class EigenVectors(StackFunction):
    """The eigenvectors of symmetric matrices, as columns of orthogonal matrices; build it with
    ``eigh``.

    >>> import sympy_einsum as se
    >>> vectors = se.eigh(se.TensorSymbol("A", (3, 3))).eigenvectors
    >>> isinstance(vectors, se.EigenVectors), vectors.shape
    (True, (3, 3))
    """

    __slots__ = ()
    function, part, letter = "eigh", 1, "V"
    at_identity = "identity"
    is_of_symmetric = True


# --- of any matrices


class SingularValues(StackFunction):
    """The singular values of matrices, descending; build it with ``svd``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (4, 3))
    >>> isinstance(se.svdvals(A), se.SingularValues), se.svdvals(A).shape
    (True, (3,))
    """

    __slots__ = ()
    function = "svdvals"
    at_identity, at_zeros = "ones", "zeros"
    axes = "k"


class LeftVectors(StackFunction):
    """The left singular vectors of matrices, as columns; build it with ``svd``.

    >>> import sympy_einsum as se
    >>> vectors = se.svd(se.TensorSymbol("A", (4, 3)), full_matrices=False).U
    >>> isinstance(vectors, se.LeftVectors), vectors.shape
    (True, (4, 3))
    """

    __slots__ = ()
    function, part, letter = "svd", 0, "U"
    at_identity = "identity"
    options = ("full_matrices=False",)
    axes = "mk"


class RightVectors(StackFunction):
    """The right singular vectors of matrices, as rows; build it with ``svd``.

    >>> import sympy_einsum as se
    >>> vectors = se.svd(se.TensorSymbol("A", (4, 3)), full_matrices=False).Vh
    >>> isinstance(vectors, se.RightVectors), vectors.shape
    (True, (3, 3))
    """

    __slots__ = ()
    function, part, letter = "svd", 2, "Vh"
    at_identity = "identity"
    options = ("full_matrices=False",)
    axes = "kn"


class QFactor(StackFunction):
    """The factor Q with orthonormal columns of tall matrices Q R; build it with ``qr``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (4, 3))
    >>> isinstance(se.qr(A).Q, se.QFactor), se.qr(A).Q.shape
    (True, (4, 3))
    """

    __slots__ = ()
    function, part, letter = "qr", 0, "Q"
    at_identity = "identity"


class RFactor(StackFunction):
    """The upper triangular factor R of tall matrices Q R; build it with ``qr``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (4, 3))
    >>> isinstance(se.qr(A).R, se.RFactor), se.qr(A).R.shape
    (True, (3, 3))
    """

    __slots__ = ()
    function, part, letter = "qr", 1, "R"
    at_identity = "identity"
    axes = "nn"


class PseudoInverse(StackFunction):
    """The Moore-Penrose inverses of matrices; build it with ``pinv``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (4, 3))
    >>> isinstance(se.pinv(A), se.PseudoInverse), se.pinv(A).shape
    (True, (3, 4))
    """

    __slots__ = ()
    function = "pinv"
    is_involution = True
    at_identity, at_zeros = "identity", "zeros"
    axes = "nm"


def expm(X: TensorLike, *directions: TensorLike) -> Operand:
    """Return the exponential of a square matrix, or of each matrix along the last two axes of a
    tensor. With directions it is the mixed derivative along them, such as d/dt expm(X + t E) at t =
    0 for one.

    It is Σ_k X^k / k!. Its derivatives are blocks of exponentials of block matrices [M]; each
    direction takes 8 times as long.

    Raises
    ======

    ShapeError : the last two axes have different lengths, or a direction has another shape

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X, E = se.tensors("X E", (2, 2))
    >>> se.jvp(se.expm(X), X, E) == se.expm(X, E)
    True

    References
    ==========

    [M] R. Mathias, "A chain rule for matrix functions and applications", 1996.
    """
    operands = [square_matrices(operand, "expm") for operand in (X, *directions)]
    return Expm._build(tuple(broadcast_together(operands)), ())


def min_length(rows: Expr, columns: Expr) -> Expr:
    """Return the shorter length of a matrix's axes.

    Raises
    ======

    UnsupportedError : the lengths can't be compared
    """
    shorter = _shorter(rows, columns)
    if shorter in (rows, columns):
        return shorter
    difference = rows - columns
    letter = "k" if "k" not in {s.name for s in difference.free_symbols} else "d"
    raise UnsupportedError(
        f"which axis of a matrix of shape ({rows}, {columns}) is shorter must be known; give "
        f"lengths as numbers, or one by the other, as in {columns} + {letter} for positive {letter}"
    )


def _shorter(rows: Expr, columns: Expr) -> Expr:
    """Return the shorter of two lengths, a minimum where they can't be compared."""
    difference = rows - columns
    if difference.is_nonnegative or same_length(rows, columns):
        return columns
    return rows if difference.is_nonpositive else Min(rows, columns)


# Functions that are analytic, so that complex matrices are allowed.
_ANALYTIC = {"adj", "cofactors", "det", "expm", "inv", "matrix_power", "solve"}


def stacked_matrices(value: TensorLike, function: str) -> TensorExpr:
    """Convert to an operand; ShapeError unless it has at least two axes."""
    operand = as_operand(value)
    shape = shape_of(operand)
    if len(shape) < 2:
        raise ShapeError(
            f"{function} takes matrices, along the last two axes of a tensor, not a tensor of "
            f"order {len(shape)}, shape {shape}"
        )
    if function not in _ANALYTIC and holds_complex(operand):
        raise UnsupportedError(
            f"{function} takes real matrices, and this one contains complex numbers; that of "
            "A + i B can be found from the real matrix [[A, -B], [B, A]]"
        )
    return operand


def square_matrices(value: TensorLike, function: str) -> TensorExpr:
    """Convert to an operand; ShapeError unless its last two axes have one length."""
    operand = stacked_matrices(value, function)
    *before, rows, columns = operand.shape
    if not same_length(rows, columns):
        raise ShapeError(
            f"{function} takes a square matrix, but axis {len(before)} has length {rows} and axis "
            f"{len(before) + 1} has length {columns}" + same_name_hint(rows, columns)
        )
    return operand
