"""The methods of tensor expressions, under NumPy's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Unpack, overload

from sympy import Expr, Lambda, Mul

from .. import operations as ops
from ..core import METHODS_ELSEWHERE, Length, ShapeError, UnsupportedError, deferred, hint
from ..expressions import (
    Operand,
    TensorExpr,
    TensorLike,
    adj,
    as_operand,
    det,
    elementwise,
    inv,
    order_of,
)
from .algebra import AlgebraHooks
from .operators import Operators

if TYPE_CHECKING:
    from ..calculus import Options, Trace

_diff = deferred("calculus", "diff")
_unevaluated = deferred("calculus", "unevaluated")
_entries = deferred("convert", "as_explicit")


def _as_columns(*tensors: TensorLike) -> list[Operand]:
    """Return matrices, vectors as columns."""
    operands = [as_operand(tensor) for tensor in tensors]
    return [operand[:, None] if order_of(operand) == 1 else operand for operand in operands]


class Methods(Operators, AlgebraHooks):
    """Mixin of the methods of ``TensorExpr``. Most are the functions of the same names, with the
    tensor as first argument.

    Raises
    ======

    ShapeError : an axis that the tensor doesn't have, or lengths that don't fit
    """

    __slots__ = ()

    unstack, take, repeat = ops.unstack, ops.take, ops.repeat
    reshape, ravel, flatten, squeeze = ops.reshape, ops.ravel, ops.ravel, ops.squeeze
    swapaxes, diagonal = ops.swapaxes, ops.diagonal
    conj, conjugate, round = ops.conj, ops.conj, ops.around
    dot, inv, det, adj, trace, norm = ops.dot, inv, det, adj, ops.trace, ops.norm
    sum, mean, var, std, prod = ops.sum, ops.mean, ops.var, ops.std, ops.prod
    cumsum, cumprod, any, all = ops.cumsum, ops.cumprod, ops.any_, ops.all_
    max, min, argmax, argmin = ops.max, ops.min, ops.argmax, ops.argmin
    ptp, sort, argsort = ops.ptp, ops.sort, ops.argsort

    # --- what arrays say of themselves

    @property
    def ndim(self) -> int:
        """The number of axes, under NumPy's name.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("A", (2, 3)).ndim
        2
        """
        return self.order

    @property
    def size(self) -> Expr:
        """The number of entries, a SymPy expression.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> m, n = symbols("m n", integer=True, positive=True)
        >>> se.TensorSymbol("A", (m, n)).size
        m*n
        """
        return Mul(*self.shape)

    @property
    def real(self) -> Operand:
        """The real part, the tensor itself where there are no complex numbers inside.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> x.real is x
        True
        """
        return ops.real(self)

    @property
    def imag(self) -> Operand:
        """The imaginary part, zeros where there are no complex numbers inside.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("x", 3).imag
        Zeros(3)
        """
        return ops.imag(self)

    def __len__(self) -> int:
        """Return the length of the first axis; TypeError where it is no number."""
        if not self.shape:
            raise TypeError(
                f"a tensor without axes, such as {str(self)[:80]}, has no length; give unknowns to "
                "functions of SymPy as a list"
            )
        length = self.shape[0]
        if not length.is_Integer:
            raise TypeError(
                f"the first axis of {str(self)[:80]} has the length {length}, which is no number; "
                "ask for .shape[0], or substitute a number for it"
            )
        return int(length)

    def __iter__(self) -> Iterator[Operand]:
        """Yield the pieces along the first axis, as ``unstack`` has them; TypeError where its
        length is no number."""
        return map(self.__getitem__, range(len(self)))

    def item(self, *index: int) -> Operand:
        """Return the only entry, or that at some positions.

        Raises ShapeError when there are several and no position is given.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 3))
        >>> A.item(1, 2)
        A[1, 2]
        """
        if not index and self.size != 1:
            raise ShapeError(f"a tensor of shape {self.shape} has several entries; say which")
        return self[index or (0,) * self.order] if self.shape else self

    def tolist(self) -> NoReturn:
        """Refused by an UnsupportedError: there are no numbers; ``as_explicit`` has the entries as
        expressions.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("x", 3).tolist()
        Traceback (most recent call last):
        ...
        sympy_einsum.UnsupportedError: an expression has no numbers; compute them with lambdify;
        as_explicit() writes the entries out
        """
        raise UnsupportedError(
            "an expression has no numbers; compute them with lambdify; as_explicit() "
            "writes the entries out"
        )

    def row_join(self, other: TensorLike) -> Operand:
        """Join matrices, and vectors as columns, side by side, under the name by which SymPy's
        ``Matrix.hstack`` asks for it.

        Raises ShapeError where the other lengths differ.

        >>> import sympy_einsum as se
        >>> from sympy import Matrix
        >>> A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
        >>> Matrix.hstack(x, A).shape
        (3, 4)
        """
        return ops.concatenate(_as_columns(self, other), axis=1)

    def col_join(self, other: TensorLike) -> Operand:
        """Join matrices, and vectors as columns, one below the other, under the name by which
        SymPy's ``Matrix.vstack`` asks for it.

        Raises ShapeError where the other lengths differ.

        >>> import sympy_einsum as se
        >>> from sympy import Matrix
        >>> x, y = se.tensors("x y", 3)
        >>> Matrix.vstack(x, y).shape
        (6, 1)
        """
        return ops.concatenate(_as_columns(self, other), axis=0)

    def copy(self) -> Operand:
        """Return the tensor itself: expressions don't change.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> x.copy() is x
        True
        """
        return self

    # --- axes

    @property
    def mT(self) -> Operand:
        """The transposed matrices, with the last two axes exchanged.

        Raises ShapeError for a vector.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("T", (5, 2, 3)).mT.shape
        (5, 3, 2)
        """
        return ops.swapaxes(self, -1, -2)

    @property
    def T(self) -> Operand:
        """The transpose, with the axes in reverse order.

        >>> import sympy_einsum as se
        >>> A, T = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("T", (5, 2, 3))
        >>> A.T.shape, T.T.shape, A.T.T is A
        ((3, 2), (3, 2, 5), True)
        """
        return ops.transpose(self)

    @property
    def H(self) -> Operand:
        """The conjugate transpose; the transpose, where there are no complex numbers inside.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 3))
        >>> A.H == A.T
        True
        """
        return ops.transpose(ops.conj(self))

    def adjoint(self) -> Operand:
        """Return the conjugate transpose: the transpose, where there are no complex numbers inside.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (2, 3))
        >>> A.adjoint()
        A.T
        """
        return ops.transpose(ops.conj(self))

    def transpose(self, *axes: int | Sequence[int] | None) -> Operand:
        """Return the axes in another order, given one by one or as a tuple; reversed without any.

        Raises ShapeError when they aren't the tensor's axes, each once.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("T", (2, 3, 4)).transpose(1, 0, 2).shape
        (3, 2, 4)
        """
        order: Any = axes
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            order = axes[0]
        return ops.transpose(self, order or None)

    def broadcast_to(self, *shape: Length | Sequence[Length]) -> Operand:
        """Return the tensor repeated to a shape: axes of length 1 stretch, new axes come first.

        Raises ShapeError when an axis of another length would have to.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("x", 3).broadcast_to(2, 3).shape
        (2, 3)
        """
        return ops.broadcast_to(self, shape[0] if len(shape) == 1 else shape)

    # --- entries

    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Operand:
        """Return the entries within bounds; one that is None is left out. On a bound the derivative
        is one half.

        Raises ShapeError for shapes that don't fit.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> se.lambdify([x], x.clip(0, 1))([-1.0, 0.5, 2.0])
        array([0. , 0.5, 1. ])
        """
        return ops.clip(self, min, max)

    def __round__(self, decimals: int = 0) -> Operand:
        """Round the entries to a number of decimals, halves to the even digit."""
        return ops.around(self, decimals)

    # --- products and functions

    def applyfunc(self, f: Callable[..., Expr] | Lambda) -> Operand:
        """Apply a scalar function of one argument, of SymPy's or a ``Lambda``, entry by entry.

        Raises TensorError for what is no such function.

        >>> import sympy_einsum as se
        >>> from sympy import besselj, Lambda, Symbol
        >>> x, t = se.TensorSymbol("x", 3), Symbol("t")
        >>> x.applyfunc(Lambda(t, besselj(0, t)))
        besselj(0, x)
        """
        return elementwise(f, self)

    @overload
    def diff(
        self,
        *variables: Operand | int,
        trace: Literal[False] = ...,
        evaluate: bool = ...,
        **options: Unpack[Options],
    ) -> Operand: ...

    @overload
    def diff(
        self,
        *variables: Operand | int,
        trace: Literal[True],
        evaluate: bool = ...,
        **options: Unpack[Options],
    ) -> tuple[Operand, Trace]: ...

    def diff(
        self,
        *variables: Operand | int,
        mode: str = "auto",
        layout: str = "function-first",
        simplify: bool | None = None,
        trace: bool = False,
        evaluate: bool = True,
    ) -> Operand | tuple[Operand, Trace]:
        """Return the derivative with respect to some variables, of shape self.shape + the
        variables' shapes; a number after a variable says how often. Options are those of
        ``sympy_einsum.diff``; without ``evaluate`` it is what ``sympy.Derivative`` makes.

        Raises UnsupportedError for axis lengths and positions, which no derivative exists for.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", (3,))
        >>> (x @ x).diff(x), (x @ x).diff(x, 2).shape
        (2*x, (3, 3))
        """
        if not evaluate:
            return _unevaluated(self, *variables)
        options: dict[str, Any] = {"simplify": simplify, "trace": trace}
        return _diff(self, *variables, mode=mode, layout=layout, **options)

    def as_explicit(self) -> Any:
        """Return the entries as an ``Array`` of SymPy; a scalar for order 0.

        Raises TensorError when a length isn't a number.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("A", (2, 2)).T.as_explicit()
        [[A[0, 0], A[1, 0]], [A[0, 1], A[1, 1]]]
        """
        return _entries(self)


def _missing(self: TensorExpr, name: str) -> NoReturn:
    """Raise the error about an attribute that isn't there; it says what to write instead."""
    message = f"{type(self).__name__!r} object has no attribute {name!r}"
    if name in ("rows", "cols"):
        message += (
            ", which SymPy's matrices and BlockMatrix ask for; they take no tensors as parts: "
            "se.block([[A, B]]) and se.concatenate put tensors together"
        )
    raise AttributeError(message + hint(METHODS_ELSEWHERE, name), name=name, obj=self)


# No member of the class: to type checkers every name would be there.
setattr(TensorExpr, "__getattr__", _missing)  # noqa: B010

# Attached, not inherited: methods need every type of node, and the base class needs none.
for _class in (Operators, AlgebraHooks, Methods):
    for _name, _member in vars(_class).items():
        if isinstance(_member, (FunctionType, property)):
            setattr(TensorExpr, _name, _member)
