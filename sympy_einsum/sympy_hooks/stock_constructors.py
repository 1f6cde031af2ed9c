"""Stock classes and functions of SymPy, where a tensor with axes takes part.

Their constructors would make nodes without axes: each goes its own way for a tensor with axes, and
SymPy's in all other cases. Importing this module replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from importlib import import_module
from typing import Any, TypeAlias

from sympy import (
    Adjoint,
    Basic,
    Derivative,
    Determinant,
    Expr,
    HadamardPower,
    HadamardProduct,
    Inverse,
    KroneckerProduct,
    MatAdd,
    MatMul,
    MatPow,
    Mod,
    Piecewise,
    S,
    Symbol,
    Trace,
    Transpose,
    Tuple,
    adjoint as stock_adjoint,
    im,
    re,
    transpose as stock_transpose,
)
from sympy.concrete import expr_with_limits
from sympy.core.function import FunctionClass
from sympy.core.relational import Relational, _Inequality
from sympy.logic.boolalg import BooleanFunction
from sympy.matrices import matrixbase
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.polys.matrices import linsolve
from sympy.solvers import solvers
from sympy.tensor.array import NDimArray, arrayop, ndim_array

from .. import operations as ops
from ..calculus import diff, is_cut
from ..core import TensorError, UnsupportedError, deferred
from ..expressions import (
    TensorExpr,
    after_pow,
    as_operand,
    elementwise,
    holds_complex,
    holds_tensor,
    is_tensor,
    outermost,
)
from ..rules import over, symbols_outside
from .algebra import is_array, substituted

# --- stock constructors --------------------------------------------------------------------------
# ``Add(A, B)``, ``Mul(2, A)`` and ``Pow(A, 2)`` flatten their arguments and then ask here.

# The variable of a sum, integral or derivative, or one with its bounds or a count.
Limits: TypeAlias = Expr | Sequence[Expr | int]


def _after_add(expr: Expr) -> Expr:
    return ops.add(*expr.args) if expr.is_Add and any(map(is_tensor, expr.args)) else expr


def _after_mul(expr: Expr) -> Expr:
    if not (expr.is_Mul and any(map(is_tensor, expr.args))):
        return expr
    if any(isinstance(arg, MatrixExpr) for arg in expr.args):
        # Mul forgets the order of its arguments, and the product isn't one entry by entry.
        raise TensorError(f"Mul of tensors and SymPy's matrices, {expr.args}: write @")
    return ops.multiply(*expr.args)


def _after_pow(expr: Expr) -> Expr:
    return ops.power(*expr.args) if expr.is_Pow and any(map(is_tensor, expr.args)) else expr


Basic._constructor_postprocessor_mapping[TensorExpr] = {
    "Add": [_after_add],
    "Mul": [_after_mul],
    "Pow": [_after_pow, after_pow],
}
# SymPy applies what it finds in any order, so what it does with matrices comes after ours.
(_after_mul_of_matrices,) = Basic._constructor_postprocessor_mapping[MatrixExpr]["Mul"]
Basic._constructor_postprocessor_mapping[MatrixExpr]["Mul"] = [
    lambda expr: _after_mul_of_matrices(_after_mul(expr))
]


# --- stock functions -----------------------------------------------------------------------------
# SymPy asks the arguments of Add, Mul and Pow what to do, but not those of functions: ``exp(x)``
# would be a scalar node, whose sum is itself and whose quotient by itself is one number. So calling
# a function class looks at its arguments; without axes among them it does what it always did.

_stock_call = FunctionClass.__call__
_OF_MATRICES = (stock_transpose, stock_adjoint)
# SymPy takes a tensor without axes for real.
_PARTS: Mapping[object, Callable[[Any], Expr]] = {re: ops.real, im: ops.imag}
_MAY_HOLD_AXES = (TensorExpr, tuple, list, Tuple)


def _call_function(cls: FunctionClass, *args: object, **options: object) -> Basic:
    if cls in _PARTS and isinstance(args[0], Expr) and any(map(holds_complex, outermost(args[0]))):
        return _PARTS[cls](args[0])
    for arg in args:
        if isinstance(arg, _MAY_HOLD_AXES):
            return _of_tensors(cls, args, options)
    return _stock_call(cls, *args, **options)


def _of_tensors(cls: FunctionClass, args: Sequence[Any], options: dict[str, object]) -> Basic:
    if cls is Piecewise:
        if any(map(_holds_axes, args)):
            return ops.choose([tuple(pair) for pair in args])
    elif cls not in _OF_MATRICES and any(map(is_tensor, args)):
        return (ops.logical if issubclass(cls, BooleanFunction) else elementwise)(cls, *args)
    elif cls is Mod:
        # It would ask for a common divisor, and that takes what has __getitem__ for a list.
        options.setdefault("evaluate", False)
    return _stock_call(cls, *args, **options)


def _holds_axes(pair: object) -> bool:
    """Whether a branch of a Piecewise has a tensor with axes in its value or its condition."""
    parts = pair if isinstance(pair, (tuple, list, Tuple)) else ()
    return any(isinstance(part, Basic) and holds_tensor(part) for part in parts)


FunctionClass.__call__ = _call_function


# --- other stock classes and algorithms ----------------------------------------------------------
# Their constructors don't ask their arguments either, and would make nodes without axes: each goes
# its own way where a tensor with axes takes part, and SymPy's in all other cases.


def _derivative(cls: type, expr: Expr, *variables: Limits, **options: object) -> Expr:
    if is_tensor(expr) or any(map(_is_ours, map(_bound, variables))):
        return diff(expr, *variables)
    return _stock_derivative(cls, expr, *variables, **options)


def _is_ours(value: object) -> bool:
    """Whether a variable is a tensor, or a part, which SymPy doesn't differentiate by."""
    return is_tensor(value) or (isinstance(value, TensorExpr) and not value.is_symbol)


def _with_limits(cls: type, function: Expr, *limits: Limits, **options: object) -> Expr:
    for variable in map(_bound, limits):
        if isinstance(variable, TensorExpr):
            raise TensorError(
                f"{cls.__name__} goes over ordinary symbols, not over the tensor {variable}"
            )
    if is_tensor(function):
        return over(cls, function, *limits)
    return _stock_with_limits(cls, function, *limits, **options)


def _bound(limit: Limits) -> Expr:
    """The variable of a limit or of a count of derivatives."""
    return limit[0] if isinstance(limit, (tuple, list, Tuple)) and len(limit) else limit


def _relation(cls: type[Relational], lhs: Expr, rhs: Expr, /, **options: object) -> Expr:
    if is_tensor(lhs) or is_tensor(rhs):
        return ops.compare(cls, lhs, rhs)
    return _stock_relation(cls, lhs, rhs, **options)


def _matrix_product(cls: type, *factors: Expr, **options: object) -> Expr:
    if any(map(is_tensor, factors)):
        tensors = map(as_operand, factors)
        return reduce(lambda a, b: a @ b if is_tensor(a) and is_tensor(b) else a * b, tensors)
    return _stock_matrix_product(cls, *factors, **options)


def _matrix_function(cls: type, stock: Callable[..., Expr]) -> Callable[..., Expr]:
    def made(own: type, *args: Expr, **options: object) -> Expr:
        if own is cls and any(map(is_tensor, args)):
            return _of_tensors_in(cls, args)
        return stock(own, *args, **options)

    return made


def _as_array(value: object) -> NDimArray:
    if is_tensor(value):
        raise TensorError(
            f"SymPy's arrays don't take tensors such as {str(value)[:80]}; use einsum, "
            "x[:, None] * y, trace, diagonal and transpose, or to_array first"
        )
    return _stock_as_array(value)


def _by_tensor(stock: Callable[..., Any], reflected: str) -> Callable[..., Any]:
    """An operator of explicit arrays; SymPy would apply it to each entry and the whole tensor."""

    def operator(self: NDimArray, other: Any) -> Any:
        return getattr(other, reflected)(self) if is_tensor(other) else stock(self, other)

    return operator


def _linear(equation: Expr, symbols: Sequence[Symbol]) -> tuple[Expr, dict[Symbol, Expr]]:
    """The coefficients of a linear equation, for ``linsolve``."""
    _recast([equation], symbols)
    is_ours = isinstance(equation, TensorExpr) and not equation.shape
    return _stock_linear(symbols_outside(equation) if is_ours else equation, symbols)


def _recast(equations: Iterable[Basic], symbols: Iterable[Basic]) -> Any:
    """What ``solve`` asks for symbols in the places of entries. It takes all else for constant."""
    equations, symbols = list(equations), list(symbols)
    for entry in filter(is_cut, symbols):
        for node in {node for equation in equations for node in outermost(equation)}:
            if not is_cut(node) and not node.is_constant(entry):
                raise TensorError(
                    f"can't solve for {entry}: {node!s:.80} depends on it too; write that out in "
                    "entries, such as with .as_explicit(), for lengths that are numbers"
                )
    return _stock_recast(equations, symbols)


def _solved_linear(lhs: Expr, rhs: Expr = S.Zero, symbols: Any = (), exclude: Any = ()) -> Any:
    """What ``solve`` asks first. SymPy differentiates by every symbol, but nothing has a derivative
    by an axis length: then it goes on as where an equation isn't linear."""
    try:
        return _stock_solve_linear(lhs, rhs, symbols=symbols, exclude=exclude)
    except UnsupportedError:
        return (lhs - rhs).as_numer_denom()


def _subs_of_any(self: Basic, *args: object, **options: object) -> Basic:
    """SymPy's ``subs``; SymPy doesn't take arrays."""
    given = args[0] if len(args) == 1 else (args,)
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if isinstance(pairs, (list, tuple)) and any(map(_gives_array, pairs)):
        return substituted(self, *args, **options)
    return _stock_subs(self, *args, **options)


def _gives_array(pair: object) -> bool:
    return (
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and isinstance(pair[0], TensorExpr)
        and is_array(pair[1])
    )


def _key_of_nan(self: Expr, order: str | None = None) -> tuple[Any, ...]:
    """Where nan stands among numbers that are sorted; SymPy would ask whether it is less."""
    return self.class_key(), (0, ()), (), S.Infinity


class _Iterability(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Iterable) and not isinstance(value, TensorExpr)


class _IterableByStock(metaclass=_Iterability):
    """What stock matrices and arrays take for a sequence of entries: tensors are entries, of whose
    type scalars with tensors inside are too."""


_of_tensors_in = deferred("convert", "of_tensors")
_MATRIX_FUNCTIONS = (
    *(Adjoint, Determinant, HadamardPower, HadamardProduct, Inverse, KroneckerProduct),
    *(MatAdd, MatPow, Trace, Transpose),
)
_stock_derivative = Derivative.__new__
_stock_with_limits = expr_with_limits._common_new
_stock_relation = _Inequality._eval_relation.__func__
_stock_matrix_product = MatMul.__new__
_stock_as_array = arrayop._arrayfy
_stock_linear = linsolve._lin_eq2dict
_stock_subs = Basic.subs
_stock_recast = solvers.recast_to_symbols
_stock_solve_linear = solvers.solve_linear
Derivative.__new__ = _derivative
expr_with_limits._common_new = _with_limits
_Inequality._eval_relation = classmethod(_relation)
MatMul.__new__ = _matrix_product
arrayop._arrayfy = _as_array
linsolve._lin_eq2dict = _linear
Basic.subs = _subs_of_any
# SymPy gives the name of the second module to a function in it.
for _module in (solvers, import_module("sympy.solvers.solveset")):
    vars(_module)["recast_to_symbols"] = _recast
solvers.solve_linear = _solved_linear
for _class in _MATRIX_FUNCTIONS:
    _class.__new__ = _matrix_function(_class, _class.__new__)
NDimArray.__mul__ = _by_tensor(NDimArray.__mul__, "__rmul__")
NDimArray.__truediv__ = _by_tensor(NDimArray.__truediv__, "__rtruediv__")
type(S.NaN).sort_key = _key_of_nan
matrixbase.Iterable = ndim_array.Iterable = _IterableByStock
