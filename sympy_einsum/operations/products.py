"""Products: einsum, and those that NumPy and linear algebra name."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from sympy import Integer, Mul

from ..core import (
    Label,
    Labels,
    ShapeError,
    TensorError,
    as_list,
    parse_subscripts,
    resolve_labels,
    same_length,
    same_name_hint,
)
from ..expressions import (
    LeviCivita,
    Operand,
    TensorAdd,
    TensorExpr,
    TensorLike,
    as_operand,
    conjugated,
    order_of,
    reshape_node as reshape_tensor,
    shape_of,
)
from .arithmetic import add, multiply
from .axes import Axes, as_axes, as_axis, ravel, reshape, transpose
from .checked import contract_checked, contract_labelled


def einsum(
    subscripts: str | Sequence[Label] | TensorLike, *operands: TensorLike | Sequence[Label]
) -> Operand:
    """Multiply tensors by an index string [W, §3–4].

    The list form of ``numpy.einsum`` is also allowed, ``einsum(A, [0, 1], x, [1], [0])``, with any
    integers as indices.

    Parameters
    ==========

    subscripts : str
        One index string per operand and, after ``->``, the output: ``"ij,jk->ik"``. The same
        letter may be repeated in an operand (its diagonal is taken) and in the output (a diagonal
        is written, ``"i->ii"``). Without ``->`` the output is that of NumPy's rule. ``...``
        stands for further axes, aligned from the right. An axis of length 1 is broadcast to the
        length that its index has in another operand, as in NumPy.
    operands : tensor expressions, arrays or scalars

    Returns
    =======

    A tensor expression; a SymPy scalar if the output is empty.

    Raises
    ======

    ParseError : the index string can't be read, or an output index occurs in no operand
    ShapeError : an operand has another number of axes than indices, or an index has two lengths

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> se.einsum("ij,j->i", A, x) == A @ x
    True
    >>> se.einsum("i->ii", x).shape
    (n, n)
    """
    if isinstance(subscripts, str):
        tensors = [as_operand(operand) for operand in operands]
        orders = [order_of(tensor) for tensor in tensors]
        inputs, output = parse_subscripts(subscripts, orders)
        return contract_checked(tensors, inputs, output, subscripts, stretches=True)
    tensors, terms, explicit = _list_form([subscripts, *operands])
    shown = ",".join(str(list(term)) for term in terms)
    inputs, output = resolve_labels(terms, explicit, [order_of(t) for t in tensors], shown)
    return contract_checked(tensors, inputs, output, shown, stretches=True)


def _list_form(items: Sequence[Any]) -> tuple[list[Operand], list[Labels], Labels | None]:
    """Return operands, labels, and the output if there is one, of ``einsum(A, [0, 1], x, [1],
    [0])``."""
    tensors = [as_operand(item) for item in items[0 : len(items) // 2 * 2 : 2]]
    terms = items[1::2]
    output = items[-1] if len(items) % 2 else None
    labels = None if output is None else _as_labels(output)
    return tensors, [_as_labels(term) for term in terms], labels


def _as_labels(term: Iterable[Any]) -> Labels:
    """Convert the labels of one operand: a sequence of integers and an ellipsis."""
    try:
        if not isinstance(term, (str, TensorExpr)):
            return [label if label is Ellipsis else operator.index(label) for label in term]
    except TypeError:
        pass
    raise TensorError(
        "einsum takes an index string first, or operands and lists of integer indices in turn; "
        f"{term!r} is no list of integers"
    )


def matmul(a: TensorLike, b: TensorLike) -> Operand:
    """Multiply matrices as NumPy does: a vector is a row on the left and a column on the right;
    axes before the last two are broadcast.

    Raises ShapeError for incompatible shapes.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> x, y = se.tensors("x y", 3)
    >>> se.matmul(A, x).shape, se.matmul(x, y).shape
    ((2,), ())
    """
    a, b = as_operand(a), as_operand(b)
    if not order_of(a) or not order_of(b):
        raise ShapeError("@ takes tensors of order 1 or more; multiply a scalar with *")
    left = ["i"] * (a.order > 1) + ["k"]
    right = ["k"] + ["j"] * (b.order > 1)
    if not same_length(a.shape[-1], b.shape[-len(right)]):
        raise ShapeError(
            f"@ sums over the last axis of operand 1, of length {a.shape[-1]}, and axis "
            f"{b.order - len(right)} of operand 2, of length {b.shape[-len(right)]}; the lengths "
            f"must be equal (shapes {a.shape} and {b.shape})" + same_name_hint(*a.shape, *b.shape)
        )
    output = [Ellipsis, *left[:-1], *right[1:]]
    return contract_labelled((a, b), ([Ellipsis, *left], [Ellipsis, *right]), output, "@")


def dot(a: TensorLike, b: TensorLike) -> Operand:
    """Contract the last axis of ``a`` with the second to last of ``b``, or its only one;
    ``numpy.dot``.

    Raises ShapeError if the lengths differ.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> x, y = se.tensors("x y", 3)
    >>> se.dot(A, x) == A @ x
    True
    """
    a, b = as_operand(a), as_operand(b)
    if not order_of(a) or not order_of(b):
        return multiply(a, b)
    return tensordot(a, b, ([a.order - 1], [max(b.order - 2, 0)]))


def tensordot(a: TensorLike, b: TensorLike, axes: int | Sequence[Axes] = 2) -> Operand:
    """Sum over the last ``axes`` of ``a`` and the first ones of ``b``, or over two lists of axes;
    ``numpy.tensordot``.

    The result has the other axes of ``a``, then those of ``b``. Raises ShapeError if two lengths
    differ, or the lists have different lengths.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.tensordot(A, T).shape
    (4,)
    """
    a, b = as_operand(a), as_operand(b)
    if isinstance(axes, (int, Integer)):
        if axes > min(order_of(a), order_of(b)):
            raise ShapeError(f"tensordot can't sum over {axes} axes of {a} and {b}")
        lists = [[*range(order_of(a) - int(axes), order_of(a))], [*range(int(axes))]]
    else:
        lists = [[x] if isinstance(x, int) else as_list(x, "axes") for x in as_list(axes, "axes")]
        if len(lists) != 2 or len(lists[0]) != len(lists[1]):
            raise ShapeError(f"tensordot takes two lists of axes of one length, not {axes}")
    summed = as_axes(lists[0], order_of(a))
    right = [order_of(a) + k for k in range(order_of(b))]
    for one, two in zip(summed, as_axes(lists[1], order_of(b)), strict=True):
        right[two] = one
    left = range(order_of(a))
    output = [label for label in [*left, *right] if label not in summed]
    return contract_labelled((a, b), (left, right), output, "tensordot")


def inner(a: TensorLike, b: TensorLike) -> Operand:
    """Contract the last axes of both; ``numpy.inner``.

    The result has the other axes of ``a``, then those of ``b``. Raises ShapeError if the lengths
    differ.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> x, y = se.tensors("x y", 3)
    >>> se.inner(A, x).shape
    (2,)
    """
    a, b = as_operand(a), as_operand(b)
    if not order_of(a) or not order_of(b):
        return multiply(a, b)
    return tensordot(a, b, ([a.order - 1], [b.order - 1]))


def outer(a: TensorLike, b: TensorLike) -> Operand:
    """Return the matrix of products of the entries of two tensors, as vectors; ``numpy.outer``.

    Its shape is (size of ``a``, size of ``b``).

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> x, y = se.tensors("x y", 3)
    >>> se.outer(x, A).shape
    (3, 6)
    """
    a, b = ravel(a), ravel(b)
    return contract_labelled((a, b), ([0], [1]), [0, 1], "outer")


def vdot(a: TensorLike, b: TensorLike) -> Operand:
    """Return the scalar product of the entries, with the first tensor conjugated.

    Raises ShapeError for different numbers of entries.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, B = se.tensors("A B", 2, 3)
    >>> snp.vdot(A, B)
    (A*B).sum()
    """
    a, b = conjugated(as_operand(a)), as_operand(b)
    if shape_of(a) != shape_of(b):
        a, b = ravel(a), ravel(b)
    return tensordot(a, b, order_of(a))


def kron(a: TensorLike, b: TensorLike) -> Operand:
    """Return the Kronecker product; of two matrices the block matrix of a_ij B.

    Each length is the product of the lengths; a tensor of lower order gets leading axes of length
    1.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> S = se.TensorSymbol("S", (3, 3))
    >>> se.kron(A, S).shape
    (6, 9)
    """
    a, b = as_operand(a), as_operand(b)
    order = max(order_of(a), order_of(b))
    if not order:
        return Mul(a, b)
    a, b = (reshape(x, (1,) * (order - order_of(x)) + shape_of(x)) for x in (a, b))
    labels = [[("a", k) for k in range(order)], [("b", k) for k in range(order)]]
    output = [label for pair in zip(*labels, strict=True) for label in pair]
    pairs = contract_labelled((a, b), labels, output, "kron")
    return reshape_tensor(pairs, [p * q for p, q in zip(a.shape, b.shape, strict=True)])


def vec(A: TensorLike) -> Operand:
    """Stack the columns of a matrix into a vector; return a vector unchanged.

    This is vec of matrix calculus [1]; :func:`ravel` concatenates the rows.

    Raises ShapeError for a tensor of order 3 or more.

    >>> import sympy_einsum as se
    >>> A, X, B = (se.TensorSymbol(name, (2, 2)) for name in "AXB")
    >>> print(se.latex(se.vec(A)))
    \\operatorname{vec}\\left(A\\right)

    References
    ==========

    .. [1] J. R. Magnus, H. Neudecker, Matrix Differential Calculus, Wiley, 2019, §2.4
    """
    A = as_operand(A)
    if order_of(A) > 2:
        raise ShapeError(f"vec takes a vector or a matrix, not a tensor of order {order_of(A)}")
    return ravel(transpose(A))


def to_kronecker(derivative: TensorLike, order: int) -> Operand:
    """Return a derivative as the matrix ∂vec(Y)/∂vec(X)ᵀ, whose formula has Kronecker products [1].

    Parameters
    ==========

    derivative : of a scalar, vector or matrix Y by a scalar, vector or matrix X, with the axes of
        Y first
    order : the order of Y

    Returns
    =======

    A matrix with a row for each entry of vec(Y) and a column for each entry of vec(X). In formulas,
    ``⊗`` is the Kronecker product and ``K`` the commutation matrix, K vec(X) = vec(Xᵀ).

    Raises
    ======

    ShapeError : Y or X has more than two axes

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, X, B = (se.TensorSymbol(name, (2, 2)) for name in "AXB")
    >>> print(se.latex(se.to_kronecker(se.diff(A @ X @ B, X), 2)))
    B^{\\top} \\otimes A
    >>> print(se.latex(se.to_kronecker(se.diff(X.T, X), 2)))
    \\operatorname{K}_{\\left(2, 2\\right)}

    References
    ==========

    .. [1] J. R. Magnus, H. Neudecker, Matrix Differential Calculus, Wiley, 2019, §9.3
    """
    derivative = as_operand(derivative)
    shape, order = shape_of(derivative), as_axis(order, order_of(derivative) + 1)
    if max(order, len(shape) - order) > 2:
        raise ShapeError(
            f"a derivative of shape {shape} of a tensor of order {order} is no matrix of Kronecker "
            "products: there are two axes at most for each of both tensors"
        )
    axes = [*reversed(range(order)), *reversed(range(order, len(shape)))]
    size = prod(shape[:order]), prod(shape[order:])
    terms = derivative.operands if isinstance(derivative, TensorAdd) else [derivative]
    return add(*[reshape(transpose(term, axes), size) for term in terms])


def cross(a: TensorLike, b: TensorLike) -> Operand:
    """Compute the cross product of vectors of length 3, along the last axes of two tensors.

    It is the contraction ε_ijk a_j b_k with :class:`LeviCivita`, by which ``simplify`` knows the
    identities of vector algebra. The other axes broadcast, as those of ``numpy.cross``; that one of
    ``sympy_einsum.numpy`` takes other axes.

    Raises
    ======

    ShapeError : a last axis isn't known to have the length 3, or the other axes don't match

    Examples
    ========

    >>> import sympy_einsum as se
    >>> a, b, c = se.tensors("a b c", 3)
    >>> se.cross([1, 0, 0], [0, 2, 0]).as_explicit()
    [0, 0, 2]
    >>> se.cross(b, a) + se.cross(a, b), se.simplify(a @ se.cross(a, b))
    (Zeros(3), 0)
    >>> print(se.simplify(se.cross(a, se.cross(b, c))))
    (a @ c)*b - (a @ b)*c
    >>> print(se.gradient(a @ se.cross(b, c), a))
    cross(b, c)
    """
    a, b = as_operand(a), as_operand(b)
    for number, vectors in enumerate((a, b), start=1):
        shape = shape_of(vectors)
        if not shape:
            raise ShapeError(
                f"cross takes vectors with 3 entries, and operand {number} is a scalar"
            )
        if shape[-1] != 3:
            raise ShapeError(
                f"cross takes vectors with 3 entries, and operand {number} has {shape[-1]} along "
                "the axis; of two with 2 entries it is a[0]*b[1] - a[1]*b[0]"
            )
    return einsum("ijk,...j,...k->...i", LeviCivita(3), a, b)
