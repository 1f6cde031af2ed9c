"""What can be done with tensors, as functions: arithmetic, products, axes, reductions, joining.

May import: everything below it (indices, tensors, einsum, elementwise, conditions, linalg,
reshape, softmax, indexing). The methods and operators of tensors (methods.py) and the NumPy
namespace (numpy.py) are other spellings of these.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from sympy import Add, Expr, Integer, Mul, S, Tuple

from .conditions import choose
from .einsum import Delta, contract, tensor_sum
from .elementwise import (
    apply_body,
    as_operand,
    broadcast_together,
    elementwise,
    slot,
    stretch,
)
from .errors import ShapeError, TensorError, UnsupportedError
from .functions import exact_power
from .indexing import getitem
from .indices import EllipsisAxis, parse_subscripts, resolve_labels
from .lengths import Shape, as_flag, as_list, as_scalar, as_shape, same_length
from .linalg import inv
from .nodes import TensorExpr
from .reshape import reshape as reshape_tensor
from .softmax import LogSumExp, Softmax
from .tensors import Selection


def order_of(value: Any) -> int:
    """The number of axes of an operand; SymPy scalars have none."""
    return value.order if isinstance(value, TensorExpr) else 0


def shape_of(value: Any) -> Shape:
    """The shape of an operand; that of a SymPy scalar is ``()``."""
    return value.shape if isinstance(value, TensorExpr) else ()


def filled(value: Any, shape: Shape) -> Any:
    """The tensor of the given shape with all entries equal to a scalar."""
    return contract((value,), ((),), range(len(shape)), dict(enumerate(shape)))


# --- einsum --------------------------------------------------------------------------------------


def einsum(subscripts: Any, *operands: Any) -> Any:
    """The product of tensors by an index string [W, §3–4].

    Parameters
    ==========

    subscripts : str
        One index string per operand and, after ``->``, the output: ``"ij,jk->ik"``. The same
        letter may occur several times in an operand (a diagonal is taken) and in the output (a
        diagonal is filled, ``"i->ii"``). Without ``->`` the output is found by NumPy's rule.
        ``...`` stands for further axes, aligned from the right.
    operands : tensor expressions, arrays or scalars

    The list form of ``numpy.einsum`` is understood too:
    ``einsum(A, [0, 1], x, [1], [0])``; its indices are arbitrary integers.

    Returns
    =======

    A tensor expression; for an empty output a SymPy scalar.

    Raises
    ======

    ParseError : the index string can't be read, or an output index occurs in no operand
    ShapeError : the order of an operand doesn't fit its indices, or two lengths of one index differ

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
        return _contract_checked(tensors, inputs, output, subscripts)
    tensors, terms, given = _list_form([subscripts, *operands])
    shown = ",".join(str(list(term)) for term in terms)
    inputs, output = resolve_labels(terms, given, [order_of(t) for t in tensors], shown)
    return _contract_checked(tensors, inputs, output, shown)


def _contract_checked(
    tensors: Sequence[Any], inputs: Sequence[Any], output: Sequence[Any], shown: str
) -> Any:
    """Contract after checking that axes with the same label have the same length."""
    lengths: dict[Hashable, Any] = {}
    first: dict[Hashable, int] = {}
    labels = [list(term) for term in inputs]
    for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True), start=1):
        for label, length in zip(term, shape_of(tensor), strict=True):
            known = lengths.setdefault(label, length)
            first.setdefault(label, number)
            if same_length(known, length):
                continue
            if isinstance(label, EllipsisAxis) and S.One in (known, length):
                lengths[label] = length if known is S.One else known
                continue
            raise ShapeError(
                f"index {str(label)!r} of {shown!r} has length {known} in operand "
                f"{first[label]} and length {length} in operand {number}; "
                "axes with the same index must have the same length"
            )
    _stretch_ellipsis(tensors, labels, lengths)
    return contract(tensors, labels, output, lengths)


def _stretch_ellipsis(
    tensors: Sequence[Any], labels: list[list[Any]], lengths: dict[Any, Any]
) -> None:
    """Axes of length 1 under an ellipsis stretch, as in NumPy: each becomes a summed axis."""
    dots = [
        (number, axis, label, shape_of(tensor)[axis])
        for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True))
        for axis, label in enumerate(term)
        if isinstance(label, EllipsisAxis)
    ]
    for number, axis, label, length in dots:
        if length is S.One and lengths[label] is not S.One:
            labels[number][axis] = ("stretched", number, axis)
            lengths[labels[number][axis]] = S.One


def _list_form(items: list[Any]) -> tuple[list[Any], list[Any], Any]:
    """Operands and labels of ``einsum(A, [0, 1], x, [1], [0])``."""
    tensors = [as_operand(item) for item in items[0 : len(items) // 2 * 2 : 2]]
    terms = items[1::2]
    output = items[-1] if len(items) % 2 else None
    labels = None if output is None else _as_labels(output)
    return tensors, [_as_labels(term) for term in terms], labels


def _as_labels(term: Any) -> list[Any]:
    """One operand's labels: integers of any kind and an ellipsis, in any sequence."""
    try:
        if not isinstance(term, (str, TensorExpr)):
            return [label if label is Ellipsis else operator.index(label) for label in term]
    except TypeError:
        pass
    raise TensorError(
        "einsum takes an index string first, or operands and lists of integer indices in turn; "
        f"{term!r} is no list of integers"
    )


# --- arithmetic ----------------------------------------------------------------------------------


def add(*values: Any) -> Any:
    """The sum; scalars are added to every entry."""
    operands = broadcast_together([as_operand(value) for value in values])
    shape = next((o.shape for o in operands if order_of(o)), None)
    if shape is None:
        return Add(*operands)
    scalar = Add(*[o for o in operands if not order_of(o)])
    terms = [o for o in operands if order_of(o)]
    return tensor_sum(terms if scalar.is_zero else [*terms, filled(scalar, shape)])


def multiply(*values: Any) -> Any:
    """The product entry by entry; scalars multiply every entry."""
    operands = broadcast_together([as_operand(value) for value in values])
    shape = next((o.shape for o in operands if order_of(o)), None)
    if shape is None:
        return Mul(*operands)
    axes = range(len(shape))
    subscripts = [axes if order_of(o) else () for o in operands]
    return contract(operands, subscripts, axes, dict(enumerate(shape)))


def power(base: Any, exponent: Any) -> Any:
    """The power entry by entry."""
    operands = [as_operand(base), as_operand(exponent)]
    if not any(order_of(o) for o in operands):
        return exact_power(*operands)
    return apply_body(slot(0) ** slot(1), broadcast_together(operands))


def divide(a: Any, b: Any) -> Any:
    """The quotient entry by entry."""
    return multiply(a, power(b, S.NegativeOne))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Entries of ``a`` where a condition holds, else entries of ``b``; the condition is a
    comparison (``x > 0``, ``np.equal(x, 0)``) or a tensor, true where it isn't zero.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> np.where(x > 0, x, y).shape
    (3,)
    """
    return choose([(a, condition), (b, True)])


# --- products ------------------------------------------------------------------------------------


def matmul(a: Any, b: Any) -> Any:
    """The matrix product as in NumPy: vectors are rows on the left and columns on the right, axes
    before the last two are a stack and stretch.

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
            f"must be equal (shapes {a.shape} and {b.shape})"
        )
    output = [Ellipsis, *left[:-1], *right[1:]]
    return _labelled((a, b), ([Ellipsis, *left], [Ellipsis, *right]), output, "@")


def dot(a: Any, b: Any) -> Any:
    """``numpy.dot``: the last axis of ``a`` with the second to last of ``b`` (or its only one).

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


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``numpy.tensordot``: sum over the last ``axes`` of ``a`` and the first of ``b``, or over
    two lists of axes.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.tensordot(A, T).shape
    (4,)
    """
    a, b = as_operand(a), as_operand(b)
    if isinstance(axes, (int, Integer)):
        pairs = [(order_of(a) - int(axes) + k, k) for k in range(int(axes))]
    else:
        lists = [[x] if isinstance(x, int) else as_list(x, "axes") for x in as_list(axes, "axes")]
        if len(lists) != 2 or len(lists[0]) != len(lists[1]):
            raise ShapeError(f"tensordot takes two lists of axes of one length, not {axes}")
        pairs = list(zip(*lists, strict=True))
    left = list(range(order_of(a)))
    right = [order_of(a) + k for k in range(order_of(b))]
    summed = set()
    for one, two in pairs:
        one, two = as_axis(one, order_of(a)), as_axis(two, order_of(b))
        right[two] = left[one]
        summed.add(left[one])
    output = [label for label in [*left, *right] if label not in summed]
    return _labelled((a, b), (left, right), output, "tensordot")


def inner(a: Any, b: Any) -> Any:
    """``numpy.inner``: sum over the last axes of both.

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


def outer(a: Any, b: Any) -> Any:
    """``numpy.outer``: the matrix of products of the entries of both, taken as vectors.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> x, y = se.tensors("x y", 3)
    >>> se.outer(x, A).shape
    (3, 6)
    """
    a, b = ravel(a), ravel(b)
    return _labelled((a, b), ([0], [1]), [0, 1], "outer")


def vdot(a: Any, b: Any) -> Any:
    """The sum of products of corresponding entries of two real tensors."""
    a, b = as_operand(a), as_operand(b)
    if shape_of(a) != shape_of(b):
        a, b = ravel(a), ravel(b)
    return tensordot(a, b, order_of(a))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product; of two matrices the blocks a_ij B.

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
    pairs = _labelled((a, b), labels, output, "kron")
    return reshape_tensor(pairs, [p * q for p, q in zip(a.shape, b.shape, strict=True)])


def matrix_power(X: Any, exponent: Any) -> Any:
    """A square matrix to an integer power; a negative one is a power of the inverse.

    >>> import sympy_einsum as se
    >>> S = se.TensorSymbol("S", (3, 3))
    >>> se.matrix_power(S, 2) == S @ S
    True
    """
    X = as_operand(X)
    if order_of(X) != 2 or not same_length(*X.shape):
        raise ShapeError(f"matrix_power takes a square matrix, not one of shape {shape_of(X)}")
    power = as_scalar(exponent, "the exponent of a matrix")
    if not power.is_Integer:
        raise UnsupportedError(f"matrix_power takes a known integer exponent, not {exponent}")
    count = int(power)
    if count < 0:
        X, count = inv(X), -count
    result = Delta(X.shape[0])
    # Repeated squaring, so that the graph is as small as the program should be.
    square = X
    while count:
        if count & 1:
            result = matmul(result, square)
        count >>= 1
        if count:
            square = matmul(square, square)
    return result


# --- axes ----------------------------------------------------------------------------------------


def as_axis(axis: Any, order: int) -> int:
    """A valid axis number from 0 on; negative ones count from the end."""
    if isinstance(axis, bool) or not isinstance(axis, (int, Integer, np.integer)):
        raise TensorError(f"an axis is an integer, not {axis!r}")
    if not -order <= axis < order:
        raise ShapeError(f"axis {axis} is out of range for a tensor of order {order}")
    return int(axis) % order


def as_axes(axis: Any, order: int) -> list[int]:
    """A list of distinct axes from None (all), one axis or several."""
    if axis is None:
        return list(range(order))
    axes = [as_axis(a, order) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ShapeError(f"axis {axis} names an axis twice")
    return axes


def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in another order, reversed without ``axes``.

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.transpose(T).shape, se.transpose(T, (1, 0, 2)).shape
    ((4, 3, 2), (3, 2, 4))
    """
    a = as_operand(a)
    order = order_of(a)
    new = list(range(order))[::-1] if axes is None else as_axes(as_list(axes, "axes"), order)
    if len(new) != order:
        raise ShapeError(f"transpose needs each of the {order} axes once, not {axes}")
    if not order:
        return a
    return contract((a,), (range(order),), new, dict(enumerate(a.shape)))


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.swapaxes(T, 0, 2).shape
    (4, 3, 2)
    """
    a = as_operand(a)
    axes = list(range(order_of(a)))
    i, j = as_axis(axis1, len(axes)), as_axis(axis2, len(axes))
    axes[i], axes[j] = axes[j], axes[i]
    return transpose(a, axes)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to new places, the others keeping their order.

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.moveaxis(T, 0, -1).shape
    (3, 4, 2)
    """
    a = as_operand(a)
    order = order_of(a)
    old, new = as_axes(source, order), as_axes(destination, order)
    if len(old) != len(new):
        raise ShapeError(f"moveaxis needs as many sources as destinations, not {old} and {new}")
    axes = [axis for axis in range(order) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        axes.insert(place, axis)
    return transpose(a, axes)


def expand_dims(a: Any, axis: Any) -> Any:
    """New axes of length 1 at the given places of the result.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.expand_dims(A, 0).shape
    (1, 2, 3)
    """
    a = as_operand(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    order = order_of(a) + count
    new = set(as_axes(axis, order))
    old = iter(shape_of(a))
    return reshape(a, [S.One if k in new else next(old) for k in range(order)])


def squeeze(a: Any, axis: Any = None) -> Any:
    """Axes of length 1 removed, all of them without ``axis``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (1, 3))
    >>> se.squeeze(A).shape
    (3,)
    """
    a = as_operand(a)
    shape = shape_of(a)
    if axis is None:
        axes = [k for k, length in enumerate(shape) if length is S.One]
    else:
        axes = as_axes(axis, len(shape))
        for k in axes:
            if shape[k] is not S.One:
                raise ShapeError(f"can't squeeze axis {k}: its length is {shape[k]}, not 1")
    return reshape(a, [length for k, length in enumerate(shape) if k not in axes])


def reshape(A: Any, *shape: Any) -> Any:
    """The entries in C order under another shape; one length may be -1.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.reshape(A, 3, -1).shape
    (3, 2)
    """
    A = as_operand(A)
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list, Tuple)) else shape
    new = [as_scalar(length, "a length of the new shape") for length in given]
    if not order_of(A):
        if any(length not in (1, -1) for length in new):
            raise ShapeError(f"can't reshape a scalar to {tuple(new)}")
        return filled(A, (S.One,) * len(new)) if new else A
    return reshape_tensor(A, new)


def ravel(A: Any) -> Any:
    """All entries in C order as a vector.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.ravel(A).shape
    (6,)
    """
    return reshape(A, -1)


def broadcast_to(array: Any, shape: Any) -> Any:
    """The tensor repeated to a shape: axes of length 1 stretch, new axes come first.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.broadcast_to(x, (2, 3)).shape
    (2, 3)
    """
    array = as_operand(array)
    new = as_shape(shape if isinstance(shape, (tuple, list)) else (shape,))
    if not order_of(array):
        return filled(array, new) if new else array
    if array.order > len(new):
        raise ShapeError(f"can't broadcast shape {array.shape} to {new}: it has more axes")
    wide = reshape(array, (S.One,) * (len(new) - array.order) + array.shape)
    for axis, (old, length) in enumerate(zip(wide.shape, new, strict=True)):
        if old is not S.One and not same_length(old, length):
            raise ShapeError(
                f"can't broadcast shape {array.shape} to {new}: axis {axis} has length {old}, "
                f"not {length} or 1"
            )
    return stretch(wide, new)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, as a new last axis.

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (3, 3, 2))
    >>> se.diagonal(T).shape
    (2, 3)
    """
    a = as_operand(a)
    if order_of(a) < 2:
        raise ShapeError(f"diagonal takes a tensor of order 2 or more, not {order_of(a)}")
    if not as_scalar(offset, "the offset").is_zero:
        raise UnsupportedError("diagonal supports offset 0 only; slice first: a[:-1, 1:]")
    i, j = as_axis(axis1, a.order), as_axis(axis2, a.order)
    if i == j:
        raise ShapeError("diagonal needs two different axes")
    if not same_length(a.shape[i], a.shape[j]):
        raise ShapeError(
            f"the diagonal of axes {i} and {j} needs equal lengths, but they are {a.shape[i]} "
            f"and {a.shape[j]}"
        )
    labels = list(range(a.order))
    labels[j] = i
    output = [k for k in range(a.order) if k not in (i, j)] + [i]
    return _labelled((a,), (labels,), output, "diagonal")


def diag(A: Any) -> Any:
    """A vector on the diagonal of a matrix, or the diagonal of a matrix.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.diag(x).shape, se.diag(se.diag(x)) == x
    ((3, 3), True)
    """
    A = as_operand(A)
    if order_of(A) == 1:
        return _labelled((A,), ([0],), [0, 0], "diag")
    if order_of(A) == 2:
        return diagonal(A)
    raise ShapeError(f"diag takes a vector or a matrix, not a tensor of order {order_of(A)}")


def trace(A: Any) -> Any:
    """The sum over the diagonal of the first two axes.

    >>> import sympy_einsum as se
    >>> S = se.TensorSymbol("S", (3, 3))
    >>> se.trace(S) == se.einsum("ii", S)
    True
    """
    return sum_(diagonal(A), axis=-1)


def eye(n: Any) -> Any:
    """The identity matrix: NumPy's name for ``Delta(n)``.

    >>> import sympy_einsum as se
    >>> se.eye(3) == se.Delta(3)
    True
    """
    return Delta(n)


# --- reductions ----------------------------------------------------------------------------------


def sum_(A: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum over the given axes, over all without ``axis``.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.sum(A, axis=0).shape
    (3,)
    """
    A = as_operand(A)
    order = order_of(A)
    axes = as_axes(axis, order)
    output = [k for k in range(order) if k not in axes]
    total = contract((A,), (range(order),), output, dict(enumerate(A.shape))) if order else A
    return _keep(total, A, axes) if as_flag(keepdims, "keepdims") else total


def _keep(reduced: Any, A: Any, axes: list[int]) -> Any:
    """A reduced tensor with its axes put back with length 1."""
    return reshape(reduced, [S.One if k in axes else n for k, n in enumerate(shape_of(A))])


def mean(A: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean over the given axes; that of no entries is nan, as in NumPy, without a warning.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.mean(A, axis=1).shape
    (2,)
    """
    A = as_operand(A)
    total, count = sum_(A, axis, keepdims), _count(A, axis)
    return filled(S.NaN, shape_of(total)) if count.is_zero else divide(total, count)


def _count(A: Any, axis: Any) -> Expr:
    return Mul(*[shape_of(A)[k] for k in as_axes(axis, order_of(A))])


def var(A: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The variance over the given axes, with ``ddof`` taken off the divisor, which is at least 0.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.var(x) == se.mean((x - se.mean(x)) ** 2)
    True
    """
    A = as_operand(A)
    centred = add(A, multiply(-1, _spread(mean(A, axis, keepdims=True), A)))
    total = sum_(power(centred, 2), axis, keepdims)
    divisor = _count(A, axis) - as_scalar(ddof, "ddof")
    if _count(A, axis).is_zero:
        return filled(S.NaN, shape_of(total))
    return divide(total, S.Zero if divisor.is_negative else divisor)


def _spread(reduced: Any, A: Any) -> Any:
    return stretch(reduced, A.shape) if order_of(A) else reduced


def std(A: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The standard deviation over the given axes.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.std(A, axis=0).shape
    (3,)
    """
    return power(var(A, axis, ddof, keepdims), S.Half)


def prod(A: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product over the given axes, whose lengths must be numbers.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.prod(A, axis=1).shape
    (2,)
    """
    A = as_operand(A)
    result = A
    axes = as_axes(axis, order_of(A))
    for k in sorted(axes, reverse=True):
        length = shape_of(result)[k]
        if not length.is_Integer:
            raise UnsupportedError(
                f"prod over axis {k} of symbolic length {length}: there is no finite expression "
                "for its derivative; substitute a number for the length, or write exp(sum(log(A)))"
                " for positive entries"
            )
        index: list[Any] = [slice(None)] * result.order
        factors = []
        for position in range(int(length)):
            index[k] = position
            factors.append(getitem(result, tuple(index)))
        result = multiply(*factors) if factors else filled(S.One, shape_of(result)[:k])
    return _keep(result, A, axes) if as_flag(keepdims, "keepdims") else result


def norm(A: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The Euclidean norm of a vector, the Frobenius norm of anything else; with ``ord=1`` the
    sum of absolute values of a vector, with another number the corresponding p-norm.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.equal(se.norm(x) ** 2, x @ x)
    True
    """
    A = as_operand(A)
    if not order_of(A):
        return abs(A)
    over = as_axes(axis, A.order)
    p = ord if ord is None or isinstance(ord, str) else as_scalar(ord, "ord")
    if p is None or p == "fro" or (p == 2 and len(over) == 1):
        return power(sum_(power(A, 2), axis, keepdims), S.Half)
    if isinstance(p, str) or len(over) != 1:
        raise UnsupportedError(f"norm supports ord=None, 'fro' and vector p-norms, not ord={ord!r}")
    if p.is_infinite or p.is_zero:
        raise UnsupportedError(f"norm supports finite non-zero ord, not {ord!r}")
    absolute = elementwise(abs, A)
    total = sum_(absolute if p == 1 else power(absolute, p), axis, keepdims)
    return total if p == 1 else power(total, 1 / p)


def _axes_of(function: str, A: Any, axis: Any) -> list[int]:
    """The axes that a softmax or log-sum-exp is taken over. For a matrix the frameworks' default,
    SciPy's and the statistician's are three different ones, so there it must be said."""
    if axis is ...:
        if order_of(A) > 1:
            raise TensorError(
                f"{function} of a tensor of order {order_of(A)} needs an axis: axis=-1 for the "
                "last one, as the frameworks have it, axis=None for all together"
            )
        axis = None
    return as_axes(axis, order_of(A))


def logsumexp(A: Any, axis: Any = ..., keepdims: bool = False) -> Any:
    """log Σ exp over the given axes, without overflow.

    Its derivative is the softmax over the same axes [BV, §3.1.5].

    Parameters
    ==========

    A : a tensor; a scalar is its own log-sum-exp
    axis : an axis, several, or None for all; it may be left out for a vector
    keepdims : whether the axes stay, with length 1

    Raises
    ======

    ShapeError : an axis is out of range or named twice
    TensorError : a tensor of order 2 or more, and no axis

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> x, A = se.TensorSymbol("x", (n,)), se.TensorSymbol("A", (m, n))
    >>> se.diff(se.logsumexp(x), x) == se.softmax(x)
    True
    >>> se.logsumexp(A, axis=1).shape
    (m,)

    References
    ==========

    [BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004.
    """
    A = as_operand(A)
    axes = _axes_of("logsumexp", A, axis)
    total = LogSumExp._build((A,), (tuple(axes),))
    return _keep(total, A, axes) if as_flag(keepdims, "keepdims") else total


def softmax(A: Any, axis: Any = ...) -> Any:
    """exp(A) / Σ exp(A) over the given axes, without overflow.

    Along the axes the derivative of p = softmax(x) is diag(p) - p pᵀ.

    Parameters
    ==========

    A : a tensor; the softmax of a scalar is 1
    axis : an axis, several, or None for all; it may be left out for a vector

    Raises
    ======

    ShapeError : an axis is out of range or named twice
    TensorError : a tensor of order 2 or more, and no axis

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", (3,))
    >>> p = se.softmax(x)
    >>> se.diff(p, x) == se.diag(p) - se.einsum("i,j->ij", p, p)
    True
    """
    A = as_operand(A)
    axes = _axes_of("softmax", A, axis)
    return Softmax._build((A,), (tuple(axes),)) if axes else filled(S.One, shape_of(A))


# --- joining -------------------------------------------------------------------------------------


def concatenate(tensors: Sequence[Any], axis: int = 0) -> Any:
    """Tensors one after the other along an axis: a sum of pieces placed by selection matrices.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.concatenate([x, y]).shape
    (6,)
    """
    pieces = [as_operand(tensor) for tensor in as_list(tensors, "tensors")]
    if not pieces or not all(order_of(piece) for piece in pieces):
        raise ShapeError("concatenate takes a list of tensors of order 1 or more")
    axis = as_axis(axis, pieces[0].order)
    for number, piece in enumerate(pieces[1:], start=2):
        same = piece.order == pieces[0].order and all(
            k == axis or same_length(a, b)
            for k, (a, b) in enumerate(zip(pieces[0].shape, piece.shape, strict=True))
        )
        if not same:
            raise ShapeError(
                f"operand 1 has shape {pieces[0].shape}, operand {number} {piece.shape}; they can "
                f"differ in the length of axis {axis} only, along which they are put together"
            )
    total = Add(*[piece.shape[axis] for piece in pieces])
    start = S.Zero
    terms = []
    for piece in pieces:
        count = piece.shape[axis]
        place = Selection(total, start, 1, count)
        labels = list(range(piece.order))
        output = [piece.order if k == axis else k for k in labels]
        lengths = {**dict(enumerate(piece.shape)), piece.order: total}
        terms.append(contract((piece, place), (labels, (axis, piece.order)), output, lengths))
        start += count
    return tensor_sum(terms)


def stack(tensors: Sequence[Any], axis: int = 0) -> Any:
    """Tensors of one shape side by side along a new axis.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.stack([x, y]).shape, se.stack([x, y], axis=1).shape
    ((2, 3), (3, 2))
    """
    return concatenate([expand_dims(tensor, axis) for tensor in as_list(tensors, "tensors")], axis)


def _labelled(operands: Sequence[Any], terms: Sequence[Any], output: Any, name: str) -> Any:
    """Contract with labels whose lengths are checked; ``name`` is what the user called."""
    return _contract_checked(
        list(operands), *resolve_labels(terms, output, [order_of(o) for o in operands], name), name
    )
