"""Values of expressions without free symbols: exact where all that they are made of is exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias, overload

import numpy as np
from sympy import Array, Basic, Expr, Float, sympify
from sympy.matrices.exceptions import NonInvertibleMatrixError

from .compiler import lambdify
from .convert import as_explicit
from .core import TensorError, UnsupportedError, postorder, transform, tuning
from .expressions import (
    Constant,
    Einsum,
    Operand,
    Several,
    TensorExpr,
    TensorLike,
    as_operand,
    is_tensor,
    rebuild,
    shape_of,
)

# A value: an exact number or array of SymPy's, or one of floats.
Value: TypeAlias = Expr | Array | float | complex | np.ndarray


@overload
def evaluate(expr: Several, values: Mapping[Operand, TensorLike] | None = ...) -> list[Value]: ...


@overload
def evaluate(expr: TensorLike, values: Mapping[Operand, TensorLike] | None = ...) -> Value: ...


def evaluate(
    expr: TensorLike | Several, values: Mapping[Operand, TensorLike] | None = None
) -> Value | list[Value]:
    """Evaluate an expression, or each of a list or tuple of them.

    Use :func:`lambdify` to evaluate one expression on many data.

    Parameters
    ==========

    expr : a tensor expression, or a SymPy scalar with tensor expressions inside
    values : what to put in the places of symbols and axis lengths: numbers, nested lists, arrays,
        SymPy's matrices. Arrays bring their axis lengths along. Symbols that don't occur are left
        out

    Returns
    =======

    A SymPy number for a scalar, a ``sympy.Array`` for a tensor, if all values and constants are
    exact (integers, fractions and SymPy's other exact numbers) and the computation is short and has
    an exact result. Otherwise a Python number or a NumPy array.

    Raises
    ======

    TensorError : symbols or lengths are left without a value, or the values are no dictionary
    ShapeError : a value has another shape than its symbol

    Examples
    ========

    >>> from sympy import Rational, symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> se.evaluate(x @ x / 2, {x: [1, 2]}), se.evaluate(x @ x / 2, {x: [1.0, 2.0]})
    (5/2, 2.5)
    >>> se.evaluate(Rational(1, 2) * x, {x: [1, 2]})
    [1/2, 1]
    """
    if values is not None and not isinstance(values, Mapping):
        raise TensorError(f"evaluate takes a dictionary of values, not {str(values)[:80]!r}")
    several = isinstance(expr, (list, tuple)) and any(isinstance(e, Basic) for e in expr)
    exprs: Any = expr if several else [expr]
    found = [_evaluated(as_operand(e), dict(values or {})) for e in exprs]
    return found if several else found[0]


def _evaluated(expr: Operand, values: dict[Operand, TensorLike]) -> Value:
    result = as_operand(expr.subs(values, simultaneous=True) if values else expr)
    lengths = {s for length in shape_of(result) for s in length.free_symbols}
    left = sorted(result.free_symbols | lengths, key=str)
    if left:
        raise TensorError(
            f"no value is given for {', '.join(map(str, left))}: {_hint(left, values)}"
        )
    # np.eye(n) is the identity, which is exact, but it consists of floats.
    arrays = [own for own in values.values() if isinstance(own, np.ndarray)]
    found = None if any(own.dtype.kind in "fc" for own in arrays) else exact_value(result)
    return floats(result) if found is None else found


def _hint(left: Sequence[Basic], values: Mapping[Operand, TensorLike]) -> str:
    """Say how to give the missing values."""
    for symbol in left:
        alike = [own for own in values if str(own) == str(symbol) and own != symbol]
        if alike:
            return (
                f"the {symbol} that a value is given for is another symbol, of shape "
                f"{shape_of(alike[0])}; the one in the expression has shape {shape_of(symbol)}"
            )
    return "give one in the dictionary"


def exact_value(expr: Operand) -> Expr | Array | None:
    """Evaluate an expression without free symbols, if it is exact and short to compute."""
    if not _is_exact(expr):
        return None
    try:
        return as_explicit(expr)
    except UnsupportedError:
        return None  # such as a factor of a matrix, which floats give


def _is_exact(expr: Operand) -> bool:
    """Tell whether everything in an expression is exact, and it is short to write out."""
    terms = 0
    for node in postorder([expr]):
        if isinstance(node, Float):
            return False
        if isinstance(node, TensorExpr):
            lengths = node.lengths if isinstance(node, Einsum) else node.shape
            if not all(length.is_Integer for length in lengths):
                return False
            terms += prod(map(int, lengths))
            if isinstance(node, Constant) and not node.is_exact and node.array.dtype.kind in "fc":
                return False
    return terms <= tuning.MAX_EXACT_TERMS


def floats(expr: Operand) -> Value:
    """Return the value in floating point."""
    found = np.asarray(lambdify([], expr)())
    return found if is_tensor(expr) else found.item()


def evaluated_scalar(scalar: TensorExpr) -> Expr:
    """Evaluate a scalar node without free symbols to a number of SymPy's, kept at the node."""
    if evaluated_scalar not in scalar.memory:
        exact = exact_value(scalar)
        scalar.memory[evaluated_scalar] = sympify(floats(scalar)) if exact is None else exact
    return scalar.memory[evaluated_scalar]


def with_numbers(expr: Operand) -> Operand:
    """Evaluate scalar nodes without free symbols in an expression, where these are fractions or
    floats; those of a singular matrix stay."""

    def visit(node: Basic, below: tuple[Basic, ...]) -> Basic:
        done = rebuild(node, below) if below else node
        if not (isinstance(done, TensorExpr) and done.is_number):
            return done
        try:
            value = evaluated_scalar(done)
        except (NonInvertibleMatrixError, np.linalg.LinAlgError):
            return done
        return value if value.is_Number else done

    return transform([expr], visit)[0]
