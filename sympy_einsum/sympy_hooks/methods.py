"""Methods and operators of tensor expressions, and the hooks through which stock SymPy reaches
ours. Importing this module attaches them.

They are attached here, not defined in the base class, because they need every node type and the
base class needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from sympy import (
    Abs,
    And,
    Basic,
    Derivative,
    Dummy,
    Expr,
    Ge,
    Gt,
    Le,
    Lt,
    MatMul,
    Mod,
    Not,
    Or,
    Piecewise,
    Tuple,
    Xor,
    adjoint as stock_adjoint,
    transpose as stock_transpose,
)
from sympy.concrete import expr_with_limits
from sympy.core.function import FunctionClass
from sympy.core.relational import _Inequality
from sympy.logic.boolalg import BooleanFunction
from sympy.polys.matrices import linsolve
from sympy.tensor.array import arrayop

from .. import operations as ops
from ..calculus import diff
from ..core import TensorError, deferred
from ..expressions import (
    TensorExpr,
    adj,
    as_basic,
    as_operand,
    det,
    elementwise,
    holds_tensor,
    inv,
    is_tensor,
    order_of,
    shape_of,
    substitute,
)
from ..operations import choose, compare, getitem, logical
from ..printing import after_pow
from ..rules import expand, over, simplify, symbols_outside


def _scalar_or(stock: str, ours: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """An operator: SymPy's own between scalars, ours where a tensor takes part."""
    of_expr = getattr(Expr, stock)

    def operator(self: Any, other: Any) -> Any:
        other = as_operand(other)
        if not order_of(self) and not order_of(other):
            return of_expr(self, other)
        return ours(self, other)

    return operator


def _swapped(ours: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: ours(other, self)


def _compared(relation: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: compare(relation, self, other)


def _connected(connective: Any) -> Callable[..., Any]:
    def of_conditions(self: Any, *others: Any) -> Any:
        if any(map(is_tensor, (self, *others))):
            return logical(connective, self, *others)
        raise TypeError(f"{connective} takes conditions, such as x > 0, not a scalar")

    return of_conditions


def _subtract(a: Any, b: Any) -> Any:
    return ops.add(a, ops.multiply(-1, b))


def _negate(self: Any) -> Any:
    return ops.multiply(-1, self)


def _itself(self: Any) -> Any:
    # Tensors are real.
    return self


def _absolute(self: Any) -> Any:
    return elementwise(Abs, self)


def _unsupported(name: str, instead: str) -> Callable[..., Any]:
    def refuse(self: Any, *args: Any) -> Any:
        if not order_of(self):
            return getattr(Expr, name)(self, *args)
        raise TensorError(f"{name} isn't defined for a tensor of order {self.order}; {instead}")

    return refuse


def _reshape(self: Any, *shape: Any) -> Any:
    return ops.reshape(self, *shape)


def _transpose(self: Any, *axes: Any) -> Any:
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = tuple(axes[0] or ())
    return ops.transpose(self, axes or None)


def _as_explicit(self: Any) -> Any:
    return _entries(self)


_entries = deferred("convert", "as_explicit")


def _diff(self: Any, *variables: Any, **options: Any) -> Any:
    options.pop("evaluate", None)
    return diff(self, *variables, **options)


def _eval_derivative(self: Any, symbol: Any) -> Any:
    return diff(self, symbol)


def _eval_simplify(self: Any, **options: Any) -> Any:
    # Stock routines call this on parts of an expression: there a scalar must stay one atom.
    return simplify(self) if self.shape else self


# --- algebra in ordinary symbols: that of the sum in which they stand outside of tensor products


def _expand(self: Any, deep: bool = True, modulus: Any = None, **hints: Any) -> Any:
    """The expression with its products multiplied out; of a scalar with ordinary symbols inside as
    far as is needed for these to stand outside of tensor products."""
    if not hints.get("mul", True):
        return self
    outside = self if self.shape else symbols_outside(self)
    if outside is not self:
        return outside.expand(deep, modulus, **hints)
    return self if self.is_Function else expand(self)


def _eval_expand_mul(self: Any, **hints: Any) -> Any:
    return self if self.shape else symbols_outside(self)


def _rewrite(self: Any, *args: Any, **options: Any) -> Any:
    return symbols_outside(self)


def _is_kind(name: str) -> Callable[..., Any]:
    def ask(self: Any, syms: Any) -> Any:
        outside = self if self.shape else symbols_outside(self)
        return self.is_constant(*syms) if outside is self else getattr(outside, name)(*syms)

    return ask


def _is_meromorphic(self: Any, x: Any, a: Any) -> Any:
    outside = self if self.shape else symbols_outside(self)
    return self.is_constant(x) or (None if outside is self else outside.is_meromorphic(x, a))


def _series(self: Any, x: Any, n: Any, logx: Any, cdir: Any = 0) -> Any:
    outside = symbols_outside(self)
    if outside is not self:
        return outside._eval_nseries(x, n=n, logx=logx, cdir=cdir)
    return _constant_in(self, x)


def _leading_term(self: Any, x: Any, logx: Any = None, cdir: Any = 0) -> Any:
    outside = symbols_outside(self)
    if outside is not self:
        return outside.as_leading_term(x, logx=logx, cdir=cdir)
    return _constant_in(self, x)


def _constant_in(self: Any, x: Any) -> Any:
    if self.is_constant(x):
        return self
    # SymPy goes other ways only where an error says that it is about what isn't implemented.
    name = f"{x}, SymPy's stand-in for the variable," if isinstance(x, Dummy) else x
    raise NotImplementedError(
        f"no series or limit through {self}: {name} can't be taken out of it; use diff"
    )


def _applyfunc(self: Any, f: Any) -> Any:
    return elementwise(f, self)


def _broadcast_to(self: Any, *shape: Any) -> Any:
    return ops.broadcast_to(self, shape[0] if len(shape) == 1 else shape)


def _subs(self: Any, *args: Any, **kwargs: Any) -> Any:
    """SymPy's ``subs``. An array in the place of a tensor symbol brings its axis lengths along, and
    then all is replaced at once. Strings are refused, since SymPy would evaluate them."""
    pairs = _pairs(args)
    for new in pairs.values():
        if not _is_array(new):
            as_basic(new)
    if not kwargs.pop("simultaneous", False) and not any(map(_is_array, pairs.values())):
        return Expr.subs(self, *args, **kwargs)
    # SymPy goes through scalar dummies, which can't stand for tensors; a rule is simultaneous.
    rule: dict[Any, Any] = {}
    for old, new in pairs.items():
        rule[old] = as_operand(new) if _is_array(new) else as_basic(new)
        if _is_array(new):
            axes = zip(shape_of(old), shape_of(rule[old]), strict=False)
            rule.update({n: given for n, given in axes if n.is_Symbol and n not in pairs})
    return substitute(self, rule, stock_rules=True)


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, list, tuple))


def _pairs(args: tuple[Any, ...]) -> dict[Any, Any]:
    """What ``subs`` is to replace, and by what, from any form of its arguments."""
    given = [args] if len(args) == 2 else args[0] if len(args) == 1 else None
    try:
        pairs = dict(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pairs = {"": ""}
    if any(isinstance(part, str) for pair in pairs.items() for part in pair):
        raise TensorError(
            "subs takes an expression and what replaces it, a dictionary or a list of such pairs, "
            "and no strings"
        )
    return {as_basic(old): new for old, new in pairs.items()}


METHODS: dict[str, Any] = {
    "__add__": _scalar_or("__add__", ops.add),
    "__radd__": _scalar_or("__radd__", ops.add),
    "__sub__": _scalar_or("__sub__", _subtract),
    "__rsub__": _scalar_or("__rsub__", _swapped(_subtract)),
    "__mul__": _scalar_or("__mul__", ops.multiply),
    "__rmul__": _scalar_or("__rmul__", ops.multiply),
    "__truediv__": _scalar_or("__truediv__", ops.divide),
    "__rtruediv__": _scalar_or("__rtruediv__", _swapped(ops.divide)),
    "__pow__": _scalar_or("__pow__", ops.power),
    "__rpow__": _scalar_or("__rpow__", _swapped(ops.power)),
    "__matmul__": ops.matmul,
    "__rmatmul__": _swapped(ops.matmul),
    "__gt__": _compared(Gt),
    "__ge__": _compared(Ge),
    "__lt__": _compared(Lt),
    "__le__": _compared(Le),
    "__and__": _connected(And),
    "__rand__": _connected(And),
    "__or__": _connected(Or),
    "__ror__": _connected(Or),
    "__xor__": _connected(Xor),
    "__rxor__": _connected(Xor),
    "__invert__": _connected(Not),
    "__neg__": _negate,
    "__pos__": _itself,
    "__abs__": _absolute,
    "__getitem__": getitem,
    "__mod__": _unsupported("__mod__", "apply Mod with elementwise"),
    "__rmod__": _unsupported("__rmod__", "apply Mod with elementwise"),
    "__floordiv__": _unsupported("__floordiv__", "apply floor with elementwise"),
    "__rfloordiv__": _unsupported("__rfloordiv__", "apply floor with elementwise"),
    "T": property(ops.transpose),
    "H": property(ops.transpose),
    "adjoint": ops.transpose,
    "conjugate": _itself,
    "_eval_transpose": ops.transpose,
    "_eval_adjoint": ops.transpose,
    "_eval_conjugate": _itself,
    "transpose": _transpose,
    "swapaxes": ops.swapaxes,
    "reshape": _reshape,
    "ravel": ops.ravel,
    "flatten": ops.ravel,
    "squeeze": ops.squeeze,
    "broadcast_to": _broadcast_to,
    "diagonal": ops.diagonal,
    "trace": ops.trace,
    "sum": ops.sum_,
    "mean": ops.mean,
    "var": ops.var,
    "std": ops.std,
    "prod": ops.prod,
    "norm": ops.norm,
    "dot": ops.dot,
    "inv": inv,
    "det": det,
    "adj": adj,
    "applyfunc": _applyfunc,
    "expand": _expand,
    "_eval_expand_mul": _eval_expand_mul,
    "_eval_rewrite_as_tractable": _rewrite,
    "_eval_is_polynomial": _is_kind("is_polynomial"),
    "_eval_is_rational_function": _is_kind("is_rational_function"),
    "_eval_is_algebraic_expr": _is_kind("is_algebraic_expr"),
    "_eval_is_meromorphic": _is_meromorphic,
    "_eval_nseries": _series,
    "_eval_as_leading_term": _leading_term,
    "diff": _diff,
    "_eval_derivative": _eval_derivative,
    "_eval_simplify": _eval_simplify,
    "as_explicit": _as_explicit,
    "subs": _subs,
}

for _name, _method in METHODS.items():
    setattr(TensorExpr, _name, _method)


# --- stock constructors --------------------------------------------------------------------------
# ``Add(A, B)``, ``Mul(2, A)`` and ``Pow(A, 2)`` flatten their arguments and then ask here.


def _after_add(expr: Any) -> Any:
    return ops.add(*expr.args) if expr.is_Add and any(map(is_tensor, expr.args)) else expr


def _after_mul(expr: Any) -> Any:
    return ops.multiply(*expr.args) if expr.is_Mul and any(map(is_tensor, expr.args)) else expr


def _after_pow(expr: Any) -> Any:
    return ops.power(*expr.args) if expr.is_Pow and any(map(is_tensor, expr.args)) else expr


Basic._constructor_postprocessor_mapping[TensorExpr] = {
    "Add": [_after_add],
    "Mul": [_after_mul],
    "Pow": [_after_pow, after_pow],
}


# --- stock functions -----------------------------------------------------------------------------
# SymPy asks the arguments of Add, Mul and Pow what to do, but not those of functions: ``exp(x)``
# would be a scalar node, whose sum is itself and whose quotient by itself is one number. So calling
# a function class looks at its arguments; without axes among them it does what it always did.

_stock_call = FunctionClass.__call__
_OF_MATRICES = (stock_transpose, stock_adjoint)
_MAY_HOLD_AXES = (TensorExpr, tuple, list, Tuple)


def _call_function(cls: Any, *args: Any, **options: Any) -> Any:
    for arg in args:
        if isinstance(arg, _MAY_HOLD_AXES):
            return _of_tensors(cls, args, options)
    return _stock_call(cls, *args, **options)


def _of_tensors(cls: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    if cls is Piecewise:
        if any(map(_holds_axes, args)):
            return choose([tuple(pair) for pair in args])
    elif cls not in _OF_MATRICES and any(map(is_tensor, args)):
        return (logical if issubclass(cls, BooleanFunction) else elementwise)(cls, *args)
    elif cls is Mod:
        # It would ask for a common divisor, and that takes what has __getitem__ for a list.
        options.setdefault("evaluate", False)
    return _stock_call(cls, *args, **options)


def _holds_axes(pair: Any) -> bool:
    """Whether a branch of a Piecewise has a tensor with axes in its value or its condition."""
    parts = pair if isinstance(pair, (tuple, list, Tuple)) else ()
    return any(isinstance(part, Basic) and holds_tensor(part) for part in parts)


FunctionClass.__call__ = _call_function


# --- other stock classes and algorithms ----------------------------------------------------------
# Their constructors don't ask their arguments either, and would make nodes without axes: each goes
# its own way where a tensor with axes takes part, and SymPy's in all other cases.


def _derivative(cls: Any, expr: Any, *variables: Any, **options: Any) -> Any:
    if any(map(is_tensor, (expr, *map(_bound, variables)))):
        return diff(expr, *variables)
    return _stock_derivative(cls, expr, *variables, **options)


def _with_limits(cls: Any, function: Any, *limits: Any, **options: Any) -> Any:
    for variable in map(_bound, limits):
        if isinstance(variable, TensorExpr):
            raise TensorError(
                f"{cls.__name__} goes over ordinary symbols, not over the tensor {variable}"
            )
    if is_tensor(function):
        return over(cls, function, *limits)
    return _stock_with_limits(cls, function, *limits, **options)


def _bound(limit: Any) -> Any:
    """The variable of a limit or of a count of derivatives."""
    return limit[0] if isinstance(limit, (tuple, list, Tuple)) and len(limit) else limit


def _relation(cls: Any, lhs: Any, rhs: Any, **options: Any) -> Any:
    if is_tensor(lhs) or is_tensor(rhs):
        return compare(cls, lhs, rhs)
    return _stock_relation(cls, lhs, rhs, **options)


def _matrix_product(cls: Any, *factors: Any, **options: Any) -> Any:
    if any(map(is_tensor, factors)):
        return reduce(lambda a, b: a @ b if is_tensor(a) and is_tensor(b) else a * b, factors)
    return _stock_matrix_product(cls, *factors, **options)


def _as_array(value: Any) -> Any:
    if is_tensor(value):
        raise TensorError(
            f"SymPy's arrays don't take tensors such as {str(value)[:80]}; use einsum, "
            "x[:, None] * y, trace, diagonal and transpose, or to_array first"
        )
    return _stock_as_array(value)


def _linear(equation: Any, symbols: Any) -> Any:
    """The coefficients of a linear equation, for ``linsolve``."""
    is_ours = isinstance(equation, TensorExpr) and not equation.shape
    return _stock_linear(symbols_outside(equation) if is_ours else equation, symbols)


def _subs_of_any(self: Any, *args: Any, **options: Any) -> Any:
    """SymPy's ``subs``; SymPy doesn't take arrays."""
    given: Any = args[0] if len(args) == 1 else (args,)
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if isinstance(pairs, (list, tuple)) and any(map(_gives_array, pairs)):
        return _subs(self, *args, **options)
    return _stock_subs(self, *args, **options)


def _gives_array(pair: Any) -> bool:
    return (
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and isinstance(pair[0], TensorExpr)
        and _is_array(pair[1])
    )


_stock_derivative = Derivative.__new__
_stock_with_limits = expr_with_limits._common_new
_stock_relation = _Inequality._eval_relation.__func__
_stock_matrix_product = MatMul.__new__
_stock_as_array = arrayop._arrayfy
_stock_linear = linsolve._lin_eq2dict
_stock_subs = Basic.subs
Derivative.__new__ = _derivative
expr_with_limits._common_new = _with_limits
_Inequality._eval_relation = classmethod(_relation)
MatMul.__new__ = _matrix_product
arrayop._arrayfy = _as_array
linsolve._lin_eq2dict = _linear
Basic.subs = _subs_of_any
