"""Conversion of arguments to operands: numbers, arrays, SymPy functions that contain tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sympy import (
    Array,
    Basic,
    Expr,
    Lambda,
    MatrixBase,
    NDimArray,
    Product,
    S,
    Sum,
    Symbol,
    sympify,
)
from sympy.logic.boolalg import Boolean
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr, MatrixSymbol

from ..core import (
    DeferredClasses,
    TensorError,
    UnsupportedError,
    cached,
    deferred,
    has_shape,
    named_derivatives,
    postorder,
    sort_key,
    sympified,
    tuning,
)
from .base import Operand, TensorExpr, TensorLike
from .broadcasting import broadcast_together
from .complex_entries import OF_COMPLEX, check_analytic, holds_complex
from .entrywise import apply_body
from .graphs import (
    check_scalar,
    is_literal,
    is_tensor,
    is_variable,
    outermost,
    scalar_children,
    stock_children,
)
from .leaves import Constant
from .products import Delta
from .scalar_lambdas import Slot, as_number, slot, substitute_stock
from .sums import scale

# SymPy's classes of symbolic matrices and arrays.
_ARRAYS = "sympy.tensor.array.expressions"
STOCK_TENSORS: tuple[Any, ...] = (
    MatrixExpr,
    DeferredClasses(
        _ARRAYS,
        *("ArraySymbol", "ZeroArray", "OneArray", "ArrayTensorProduct", "ArrayContraction"),
        *("ArrayDiagonal", "ArrayAdd", "PermuteDims", "ArrayElementwiseApplyFunc", "Reshape"),
    ),
)

# The symbols among them, and their entries.
_ENTRIES: tuple[Any, ...] = (MatrixElement, DeferredClasses(_ARRAYS, "ArrayElement"))
STOCK_VARIABLES: tuple[Any, ...] = (
    MatrixSymbol,
    DeferredClasses(_ARRAYS, "ArraySymbol"),
    *_ENTRIES,
)
# All of them, and entries of them.
_WITH_AXES = (*STOCK_TENSORS, *_ENTRIES)

# The maximum number of axes of a NumPy array.
MAX_DEPTH = 64

_of_entries = deferred("convert", "from_explicit")
_of_stock = deferred("convert", "from_stock")


def _as_identity(constant: Operand) -> Operand:
    """Return a multiple of the identity for a constant of floats that is one; others stay, and
    integers, which may be positions."""
    if not isinstance(constant, Constant) or constant.order != 2 or constant.is_exact:
        return constant
    array = constant.array
    rows, columns = array.shape
    if array.dtype.kind != "f" or rows != columns or rows < 2:
        return constant
    factor = array[0, 0]
    if not factor or not (array == factor * np.eye(rows)).all():
        return constant
    return scale(S.One if factor == 1 else sympify(float(factor)), Delta(rows))


def as_operand(value: TensorLike) -> Operand:
    """Convert an argument to a tensor expression or a SymPy scalar.

    Arrays of numbers become constants, or multiples of the identity. The entries of SymPy's
    explicit matrices and arrays stay exact unless one is a float. Matrix and array expressions are
    converted, their symbols to tensor symbols. A stock function of a tensor (``sympy.exp(A)``)
    becomes an elementwise node, a relation of scalars 1 or 0. Strings and other objects with axes
    raise TensorError.
    """
    if isinstance(value, TensorExpr):
        return value
    if isinstance(value, str):
        raise TensorError(f"{value!r} is a string; write an expression, or use parse for text")
    if hasattr(value, "_sympy_"):
        return as_operand(value._sympy_())
    if isinstance(value, np.ndarray) and _has_symbols(value):
        return _of_symbols(value)
    if isinstance(value, (list, tuple)) and _holds_symbols(value):
        return _of_symbols(_array_of(value))
    if isinstance(value, (np.ndarray, np.generic, list, tuple)) or hasattr(value, "toarray"):
        return _as_identity(Constant(value))
    if isinstance(value, (bool, int, float, complex)):
        return sympify(int(value) if isinstance(value, bool) else value)
    if isinstance(value, (MatrixBase, NDimArray)):
        return _of_entries(value)
    if isinstance(value, STOCK_TENSORS):
        return _of_stock(value)
    if isinstance(value, (Expr, Boolean)) and not has_shape(value):
        if value.args and _holds_stock_axes(value):
            return as_operand(_of_stock(value))
        if value.args and sums_entries(value):
            # Those that are no product of tensors are loops, in code.
            with suppress(UnsupportedError):
                return _of_stock(value)
        if isinstance(value, Expr):
            check_scalar(value)
        if holds_tensor(value):
            return lift(value)
        return as_number(value)
    instead = "give a tensor expression, a SymPy scalar, or a NumPy array of numbers"
    if callable(value) and not isinstance(value, type):
        instead = "call it with symbols, and give the result"
    raise TensorError(
        f"can't use {str(value)[:80]}, of type {type(value).__name__}, as a tensor; "
        f"{getattr(value, 'instead', instead)}"
    )


def _has_symbols(array: np.ndarray) -> bool:
    """Tell whether an array consists of SymPy scalars that aren't all numbers, as a symbol times an
    array does."""
    if array.dtype != object:
        return False
    scalars = [entry for entry in array.flat if isinstance(entry, Expr)]
    others = (entry for entry in array.flat if not isinstance(entry, (Expr, int, float, complex)))
    are_scalars = next(others, None) is None and not any(map(is_tensor, scalars))
    return are_scalars and not all(map(is_literal, scalars))


def _holds_symbols(items: Sequence[object]) -> bool:
    """Tell whether nested lists contain SymPy scalars that aren't all numbers, and no tensors with
    axes."""
    parts = [part for part in _flattened(items) if isinstance(part, Expr)]
    return not any(map(is_tensor, parts)) and not all(map(is_literal, parts))


def _flattened(items: Sequence[object], depth: int = 1) -> Iterator[object]:
    """Yield the items of nested lists."""
    if depth > MAX_DEPTH:
        raise TensorError(
            f"lists are nested more than {MAX_DEPTH} levels deep, deeper than any array"
        )
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _flattened(item, depth + 1)
        else:
            yield item


def _array_of(items: Sequence[Any]) -> np.ndarray:
    """Convert nested lists of scalars to an array of objects; ``np.array`` would iterate over
    nodes."""
    shape: list[int] = []
    level: Sequence[Any] = [items]
    while all(isinstance(item, (list, tuple)) for item in level) and level:
        lengths = {len(item) for item in level}
        if len(lengths) > 1:
            break
        shape.extend(lengths)
        level = [part for item in level for part in item]
    if any(isinstance(item, (list, tuple, np.ndarray)) for item in level):
        raise TensorError("nested lists of different lengths aren't an array; pad them")
    array = np.empty(len(level), dtype=object)
    for position, item in enumerate(level):
        if not isinstance(item, (Expr, int, float, complex, np.number)):
            raise TensorError(
                f"{item!r:.80} can't be an entry of a tensor; give numbers or scalars"
            )
        array[position] = item
    return array.reshape(shape)


def _of_symbols(array: np.ndarray) -> Operand:
    if array.size > tuning.MAX_CONVERTED_ENTRIES:
        raise UnsupportedError(
            f"an array of {array.size} entries with symbols in it; at most "
            f"{tuning.MAX_CONVERTED_ENTRIES} are written out: write t * se.Constant(array) for "
            "a symbol times an array"
        )
    return _of_entries(Array(array.flatten().tolist(), array.shape))


@cached(8192)
def _holds_stock_axes(expr: Basic) -> bool:
    """Tell whether a scalar contains SymPy's matrix or array expressions."""
    return any(isinstance(node, _WITH_AXES) for node in postorder([expr], scalar_children))


@cached(8192)
def sums_entries(expr: Basic) -> bool:
    """Tell whether a stock expression contains a sum or a product over entries of tensors."""
    found = [own for own in postorder([expr], stock_children) if isinstance(own, (Sum, Product))]
    return any({*s.variables} & e.free_symbols for s in found for e in outermost(s.function))


@cached(8192)
def holds_tensor(expr: Basic) -> bool:
    """Tell whether a stock expression contains a tensor of order 1 or more."""
    return any(map(is_tensor, outermost(expr)))


def lift(expr: Basic) -> Operand:
    """Convert a stock expression that contains tensors to an elementwise function of them."""
    body, operands = split_body(expr)
    return apply_body(as_number(body), broadcast_together(operands))


def split_body(expr: Basic) -> tuple[Basic, list[Operand]]:
    """Split a stock expression into a body and the outermost tensors and free symbols in it."""
    order = postorder([expr], scalar_children)
    for node in order:
        _check_bound_symbols(node)
    free = expr.free_symbols
    operands = [
        node
        for node in order
        if isinstance(node, TensorExpr) or (is_variable(node) and node in free)
    ]
    body = substitute_stock(expr, {operand: slot(k) for k, operand in enumerate(operands)})
    return named_derivatives(body), operands


def _check_bound_symbols(node: Basic) -> None:
    """Raise UnsupportedError if a tensor in an integral or sum depends on its bound variable:
    tensors become operands outside of it."""
    bound = set(getattr(node, "bound_symbols", ()))
    if not bound:
        return
    for inner in outermost(node):
        if bound & inner.free_symbols:
            raise UnsupportedError(
                f"{type(node).__name__} over {min(bound, key=str)}: the tensor expression {inner} "
                "inside depends on it; write the sum over entries with einsum or .sum()"
            )


def elementwise(f: Callable[..., Expr], *tensors: TensorLike) -> Operand:
    """Apply a scalar function of one or more arguments entrywise.

    Parameters
    ==========

    f : a SymPy function (``exp``, ``Max``), a ``Lambda``, or a callable that returns a SymPy
        expression when it is called with symbols
    tensors : tensors of one order (axes of length 1 are broadcast) and scalars

    Raises
    ======

    TensorError : ``f`` isn't a function of that number of scalars
    ShapeError : the shapes can't be broadcast

    Examples
    ========

    >>> from sympy import Lambda, Piecewise, besselj, symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", (n,))
    >>> u = symbols("u")
    >>> hinge = se.elementwise(Lambda(u, Piecewise((1 - u, u < 1), (0, True))), x)
    >>> hinge.shape
    (n,)
    >>> se.diff(se.elementwise(lambda t: besselj(2, t), x).sum(), x).shape
    (n,)
    """
    operands = broadcast_together([as_operand(tensor) for tensor in tensors])
    if not operands:
        raise TensorError("elementwise needs at least one tensor to apply the function to")
    if not any(map(is_tensor, operands)):
        return f(*operands)
    if isinstance(f, Lambda):
        # Free symbols of the body are operands too: the result depends on them.
        if not all(isinstance(v, Symbol) for v in f.variables) or len(f.variables) != len(operands):
            raise TensorError(f"{f} takes {len(f.variables)} arguments, not {len(operands)}")
    elif isinstance(f, (str, Expr)) or not callable(f):
        raise TensorError(f"{f!r} isn't a function; give a SymPy function, a Lambda or a callable")
    if f in OF_COMPLEX and any(map(holds_complex, operands)):
        return OF_COMPLEX[f](*operands)
    arguments = [slot(k) for k in range(len(operands))]
    try:
        body = named_derivatives(sympified(f(*arguments)))
    except (TypeError, ValueError) as error:
        raise TensorError(
            f"{f} can't be applied to SymPy scalars, as SymPy's functions and a Lambda can: {error}"
        ) from error
    check_analytic(f, operands)
    if not isinstance(body, Expr):
        raise TensorError(f"{f} gives {body!r}, which isn't a scalar expression")
    check_scalar(body)
    others = sorted(
        (s for e in postorder([body], scalar_children) for s in _free_leaf(e, body)), key=sort_key
    )
    extended = [*operands, *map(as_operand, others)]
    body = substitute_stock(body, {s: slot(len(operands) + k) for k, s in enumerate(others)})
    return apply_body(body, extended)


def _free_leaf(node: Basic, body: Expr) -> list[Basic]:
    """Return a list of the node if the body depends on it besides its slots, else an empty list."""
    if isinstance(node, TensorExpr):
        if node.order:
            raise TensorError(f"the function contains the tensor {node}; pass it as an argument")
        return [node]
    if not is_variable(node) or isinstance(node, Slot):
        return []
    # The free symbol of a matrix's entry is the matrix.
    return [node] if node in body.free_symbols or isinstance(node, _WITH_AXES) else []
