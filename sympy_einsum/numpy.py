"""NumPy's namespace on symbols: its names, signatures and semantics for tensors and SymPy scalars.

Plain ``numpy`` functions and ufuncs called on tensors, and the ufuncs of ``scipy.special``, arrive
here through NumPy's protocols.

Examples
========

>>> import numpy as np
>>> from sympy import symbols
>>> import sympy_einsum as se
>>> import sympy_einsum.numpy as snp
>>> m, n = symbols("m n", integer=True, positive=True)
>>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
>>> snp.sum(snp.exp(A @ x)) == np.sum(np.exp(A @ x))
True
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import sympy
from sympy import S

from . import operations as ops
from .core import (
    TensorError,
    UnsupportedError,
    as_length,
    as_list,
    as_scalar,
    as_shape,
    exact_power,
    logaddexp,
    same_length,
    sigmoid,
    softplus,
    special_functions,
)
from .expressions import (
    Delta,
    TensorExpr,
    Zeros,
    as_operand,
    det as _det,
    elementwise,
    inv as _inv,
    logdet as _logdet,
    order_of,
    outermost,
    shape_of,
)
from .operations import choose, compare, logical

newaxis = None
pi, e, inf = sympy.pi, sympy.E, sympy.oo


# --- elementwise functions: NumPy's and SciPy's name -> a scalar SymPy function -------------------


_UFUNCS: dict[str, Callable[..., Any]] = {
    "exp": sympy.exp,
    "exp2": lambda x: exact_power(2, x),
    "expm1": lambda x: sympy.exp(x) - 1,
    "log": sympy.log,
    "log2": lambda x: sympy.log(x) / sympy.log(2),
    "log10": lambda x: sympy.log(x) / sympy.log(10),
    "log1p": lambda x: sympy.log(1 + x),
    "logaddexp": logaddexp,
    "sqrt": sympy.sqrt,
    "cbrt": special_functions.real_cbrt,
    "square": lambda x: x**2,
    "reciprocal": lambda x: 1 / x,
    "absolute": sympy.Abs,
    "fabs": sympy.Abs,
    "sign": sympy.sign,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "maximum": sympy.Max,
    "minimum": sympy.Min,
    "fmax": special_functions.fmax,
    "fmin": special_functions.fmin,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "arctan2": sympy.atan2,
    "hypot": lambda x, y: sympy.sqrt(x**2 + y**2),
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "arcsinh": sympy.asinh,
    "arccosh": sympy.acosh,
    "arctanh": sympy.atanh,
    "deg2rad": lambda x: x * sympy.pi / 180,
    "rad2deg": lambda x: x * 180 / sympy.pi,
    "heaviside": sympy.Heaviside,
    "conjugate": sympy.conjugate,
}
_SPECIAL: dict[str, Callable[..., Any]] = {
    "erf": sympy.erf,
    "erfc": sympy.erfc,
    "erfi": sympy.erfi,
    "erfinv": sympy.erfinv,
    "erfcinv": sympy.erfcinv,
    "gamma": sympy.gamma,
    "gammaln": special_functions.gammaln,
    "loggamma": sympy.loggamma,
    "digamma": sympy.digamma,
    "psi": sympy.digamma,
    "beta": sympy.beta,
    "betaln": special_functions.betaln,
    "jv": sympy.besselj,
    "yv": sympy.bessely,
    "iv": sympy.besseli,
    "kv": sympy.besselk,
    "j0": lambda x: sympy.besselj(0, x),
    "j1": lambda x: sympy.besselj(1, x),
    "i0": lambda x: sympy.besseli(0, x),
    "i1": lambda x: sympy.besseli(1, x),
    "expit": sigmoid,
    "logit": lambda x: sympy.log(x) - sympy.log(1 - x),
    "log_expit": lambda x: -softplus(-x),
    "log1p": lambda x: sympy.log(1 + x),
    "expm1": lambda x: sympy.exp(x) - 1,
    **{
        name: getattr(special_functions, name)
        for name in ("xlogy", "xlog1py", "entr", "rel_entr", "exprel", "ndtr", "log_ndtr")
    },
}
_RELATIONS: dict[str, Callable[..., Any]] = {
    "greater": sympy.Gt,
    "greater_equal": sympy.Ge,
    "less": sympy.Lt,
    "less_equal": sympy.Le,
    "equal": sympy.Eq,
    "not_equal": sympy.Ne,
}
_CONNECTIVES: dict[str, Any] = {
    "logical_and": sympy.And,
    "logical_or": sympy.Or,
    "logical_xor": sympy.Xor,
    "logical_not": sympy.Not,
}


def _ufunc(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*tensors: Any, **options: Any) -> Any:
        _refuse(name, options)
        return elementwise(function, *tensors)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"``numpy.{name}`` entry by entry, on tensors and SymPy scalars."
    return apply


def _relation(name: str, relation: Callable[..., Any]) -> Callable[..., Any]:
    def apply(a: Any, b: Any) -> Any:
        return compare(relation, a, b)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"``numpy.{name}``: ones where it holds, else zeros; of scalars a relation."
    return apply


def _connective(name: str, connective: Any) -> Callable[..., Any]:
    def apply(*conditions: Any) -> Any:
        return logical(connective, *conditions)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"``numpy.{name}`` of conditions or of tensors, true where they aren't zero."
    return apply


# NumPy's options that say nothing about the values, and the defaults of others.
_HARMLESS = {"optimize", "copy", "subok", "device"}
_DEFAULTS: dict[str, Any] = {
    "where": True,
    "order": "K",
    "casting": "same_kind",
    "keepdims": False,
    "returned": False,
}


def _refuse(name: str, options: dict[str, Any]) -> None:
    """NumPy's options that mean nothing for symbols; at their defaults they're let through."""
    for option, value in options.items():
        known = isinstance(value, (bool, str)) and value == _DEFAULTS.get(option)
        if not known and value is not None and option not in _HARMLESS:
            raise UnsupportedError(f"{name} doesn't support {option}={value!r} on symbols")


# --- arithmetic ----------------------------------------------------------------------------------


def subtract(a: Any, b: Any) -> Any:
    """``numpy.subtract``."""
    return ops.add(a, ops.multiply(-1, b))


def negative(a: Any) -> Any:
    """``numpy.negative``."""
    return ops.multiply(-1, a)


def positive(a: Any) -> Any:
    """``numpy.positive``."""
    return as_operand(a)


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    """``numpy.clip``; a bound that is None is left out."""
    _refuse("clip", {"out": out})
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise TensorError("clip takes a bound as a_min or as min, as a_max or as max, not as both")
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    a = as_operand(a) if low is None else elementwise(sympy.Max, a, low)
    return a if high is None else elementwise(sympy.Min, a, high)


def where(condition: Any, x: Any, y: Any) -> Any:
    """``numpy.where`` with three arguments; the condition is a comparison such as ``A > 0``."""
    return ops.where(condition, x, y)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """``numpy.select``: the entry of the first choice whose condition holds."""
    condlist, choicelist = as_list(condlist, "conditions"), as_list(choicelist, "choices")
    if len(condlist) != len(choicelist):
        raise TensorError(
            f"select takes as many conditions as choices, not {len(condlist)} and {len(choicelist)}"
        )
    return choose([*zip(choicelist, condlist, strict=True), (default, True)])


# --- reductions ----------------------------------------------------------------------------------


def _chosen(a: Any, where: Any, otherwise: Any) -> Any:
    """The entries that a reduction takes."""
    return a if where is None or where is True else ops.where(where, a, otherwise)


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``numpy.sum``; ``where`` is a condition or a tensor."""
    _refuse("sum", {"dtype": dtype, "out": out})
    total = ops.sum_(_chosen(a, where, S.Zero), axis, keepdims)
    return total if initial is None else ops.add(total, initial)


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """``numpy.mean``; ``where`` is a condition or a tensor."""
    _refuse("mean", {"dtype": dtype, "out": out})
    if where is None or where is True:
        return ops.mean(a, axis, keepdims)
    count = sum(ones_like(a), axis, keepdims=keepdims, where=where)
    return ops.divide(sum(a, axis, keepdims=keepdims, where=where), count)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``numpy.prod``, over axes of numeric length; ``where`` is a condition or a tensor."""
    _refuse("prod", {"dtype": dtype, "out": out})
    product = ops.prod(_chosen(a, where, S.One), axis, keepdims)
    return product if initial is None else ops.multiply(product, initial)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    correction: Any = None,
) -> Any:
    """``numpy.var``; ``correction`` is another name of ``ddof``."""
    _refuse("var", {"dtype": dtype, "out": out})
    if correction is not None and ddof != 0:
        raise TensorError("var and std take ddof or correction, two names of the same, not both")
    return ops.var(a, axis, ddof if correction is None else correction, keepdims)


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    correction: Any = None,
) -> Any:
    """``numpy.std``; ``correction`` is another name of ``ddof``."""
    return ops.power(var(a, axis, dtype, out, ddof, keepdims, correction=correction), S.Half)


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = False,
) -> Any:
    """``numpy.average``; weights have the shape of ``a``."""
    _refuse("average", {"returned": returned})
    if weights is None:
        return ops.mean(a, axis, keepdims)
    total = ops.sum_(ops.multiply(a, weights), axis, keepdims)
    return ops.divide(total, ops.sum_(weights, axis, keepdims))


# --- products and axes ---------------------------------------------------------------------------


def einsum(*operands: Any, optimize: Any = None) -> Any:
    """``numpy.einsum``, string or list form; ``optimize`` is accepted and not needed."""
    return ops.einsum(*operands)


def matvec(x1: Any, x2: Any) -> Any:
    """``numpy.matvec``: stacks of matrices times stacks of vectors."""
    return ops.einsum("...ij,...j->...i", x1, x2)


def vecmat(x1: Any, x2: Any) -> Any:
    """``numpy.vecmat``: stacks of vectors times stacks of matrices."""
    return ops.einsum("...i,...ij->...j", x1, x2)


def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Any:
    """``numpy.vecdot``: the products of stacks of vectors, which lie along an axis of both."""
    x1, x2 = (ops.moveaxis(x, axis, -1) for x in (x1, x2))
    return ops.einsum("...i,...i->...", x1, x2)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """``numpy.trace``, offset 0 only."""
    return ops.sum_(ops.diagonal(a, offset, axis1, axis2), axis=-1)


def diag(v: Any, k: int = 0) -> Any:
    """``numpy.diag``, k = 0 only."""
    if not as_scalar(k, "k").is_zero:
        raise UnsupportedError("diag supports k=0 only")
    return ops.diag(v)


def reshape(a: Any, shape: Any, order: str = "C") -> Any:
    """``numpy.reshape`` in C order."""
    _c_order("reshape", order)
    return ops.reshape(a, *(shape if isinstance(shape, (tuple, list)) else (shape,)))


def ravel(a: Any, order: str = "C") -> Any:
    """``numpy.ravel`` in C order."""
    _c_order("ravel", order)
    return ops.ravel(a)


def _c_order(name: str, order: str) -> None:
    if not isinstance(order, str) or order != "C":
        raise UnsupportedError(f"{name} supports order='C' only, not {order!r}")


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Any:
    """``numpy.concatenate``."""
    return ops.concatenate(arrays, axis)


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """``numpy.stack``."""
    return ops.stack(arrays, axis)


def shape(a: Any) -> Any:
    """``numpy.shape``: the tuple of axis lengths."""
    return shape_of(as_operand(a))


def ndim(a: Any) -> int:
    """``numpy.ndim``."""
    return order_of(as_operand(a))


def size(a: Any, axis: int | None = None) -> Any:
    """``numpy.size``: the number of entries, or the length of an axis."""
    lengths = shape(a)
    return sympy.Mul(*lengths) if axis is None else lengths[ops.as_axis(axis, len(lengths))]


# --- making tensors ------------------------------------------------------------------------------


def full(shape: Any, fill_value: Any) -> Any:
    """``numpy.full`` with a scalar."""
    value = as_operand(fill_value)
    if order_of(value):
        return ops.broadcast_to(value, shape)
    lengths = as_shape(shape if isinstance(shape, (tuple, list)) else (shape,))
    return ops.filled(value, lengths) if lengths else value


def ones(shape: Any, dtype: Any = None) -> Any:
    """``numpy.ones``."""
    return full(shape, S.One)


def zeros(shape: Any, dtype: Any = None) -> Any:
    """``numpy.zeros``."""
    return Zeros(*(shape if isinstance(shape, (tuple, list)) else (shape,)))


def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Any:
    """``numpy.eye`` for a square matrix."""
    square = M is None or same_length(as_length(M), as_length(N))
    if not square or not as_scalar(k, "k").is_zero:
        raise UnsupportedError("eye supports square matrices with k=0 only")
    return Delta(N)


def identity(n: Any, dtype: Any = None) -> Any:
    """``numpy.identity``."""
    return Delta(n)


def ones_like(a: Any, dtype: Any = None) -> Any:
    """``numpy.ones_like``."""
    return ones(shape(a))


def zeros_like(a: Any, dtype: Any = None) -> Any:
    """``numpy.zeros_like``."""
    return zeros(shape(a))


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    """``numpy.full_like``."""
    return full(shape(a), fill_value)


# --- linalg --------------------------------------------------------------------------------------


class SlogdetResult(NamedTuple):
    """What ``linalg.slogdet`` returns, as in NumPy."""

    sign: Any
    logabsdet: Any


class linalg:
    """``numpy.linalg``."""

    @staticmethod
    def inv(a: Any) -> Any:
        """``numpy.linalg.inv`` of one matrix."""
        return _inv(a)

    @staticmethod
    def det(a: Any) -> Any:
        """``numpy.linalg.det`` of one matrix."""
        return _det(a)

    @staticmethod
    def slogdet(a: Any) -> SlogdetResult:
        """``numpy.linalg.slogdet`` of one matrix: the sign and log |det|."""
        return SlogdetResult(sympy.sign(_det(a)), _logdet(a))

    @staticmethod
    def solve(a: Any, b: Any) -> Any:
        """``numpy.linalg.solve``: inv(a) @ b."""
        return ops.matmul(_inv(a), b)

    @staticmethod
    def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        """``numpy.linalg.norm``: Euclidean, Frobenius, and p-norms of vectors."""
        return ops.norm(x, ord, axis, keepdims)

    @staticmethod
    def matrix_power(a: Any, n: Any) -> Any:
        """``numpy.linalg.matrix_power``."""
        return ops.matrix_power(a, n)

    @staticmethod
    def multi_dot(arrays: Sequence[Any]) -> Any:
        """``numpy.linalg.multi_dot``: the matrix product of all."""
        arrays = as_list(arrays, "tensors")
        if len(arrays) < 2:
            raise TensorError("multi_dot takes at least two tensors")
        result = arrays[0]
        for array in arrays[1:]:
            result = ops.matmul(result, array)
        return result

    @staticmethod
    def trace(x: Any) -> Any:
        """``numpy.linalg.trace`` of one matrix."""
        return ops.trace(x)

    @staticmethod
    def outer(x1: Any, x2: Any) -> Any:
        """``numpy.linalg.outer``."""
        return ops.outer(x1, x2)


add, multiply, divide, power = ops.add, ops.multiply, ops.divide, ops.power
true_divide, float_power = divide, power
dot, matmul, vdot, inner, outer = ops.dot, ops.matmul, ops.vdot, ops.inner, ops.outer
tensordot, kron = ops.tensordot, ops.kron
transpose, swapaxes, moveaxis = ops.transpose, ops.swapaxes, ops.moveaxis
permute_dims, matrix_transpose = ops.transpose, lambda a: ops.swapaxes(a, -1, -2)
expand_dims, squeeze, broadcast_to, diagonal = (
    ops.expand_dims,
    ops.squeeze,
    ops.broadcast_to,
    ops.diagonal,
)

_ELEMENTWISE = {name: _ufunc(name, function) for name, function in _UFUNCS.items()}
_ELEMENTWISE.update({name: _relation(name, kind) for name, kind in _RELATIONS.items()})
_ELEMENTWISE.update({name: _connective(name, kind) for name, kind in _CONNECTIVES.items()})
globals().update(_ELEMENTWISE)
abs = _ELEMENTWISE["absolute"]
acos, asin, atan = (_ELEMENTWISE[name] for name in ("arccos", "arcsin", "arctan"))
conj = _ELEMENTWISE["conjugate"]

# --- NumPy's protocols ---------------------------------------------------------------------------

_BY_UFUNC: dict[str, Callable[..., Any]] = {
    **{name: _ufunc(name, function) for name, function in _SPECIAL.items()},
    **_ELEMENTWISE,
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "true_divide": divide,
    "power": power,
    "float_power": power,
    "negative": negative,
    "positive": positive,
    "matmul": matmul,
    "vecdot": vecdot,
    "matvec": matvec,
    "vecmat": vecmat,
}


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if method == "reduce" and ufunc.__name__ == "add":
        return sum(*inputs, **kwargs)
    function = _BY_UFUNC.get(ufunc.__name__)
    if method != "__call__" or function is None:
        raise UnsupportedError(
            f"the ufunc {ufunc.__name__} (method {method}) isn't supported on tensor expressions; "
            "sympy_einsum.elementwise applies any SymPy function"
        )
    return _called(ufunc.__name__, function, inputs, kwargs)


def _array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    in_linalg = (func.__module__ or "").endswith("linalg")
    space: Any = linalg if in_linalg else globals()
    name = func.__name__
    function = getattr(space, name, None) if in_linalg else _PUBLIC.get(name)
    if function is None:
        raise UnsupportedError(f"{func.__module__}.{name} isn't supported on tensor expressions")
    return _called(name, function, args, kwargs)


def _called(name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A call by NumPy, which has more options than we: they are refused by name."""
    known = _parameters(function)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        _refuse(name, {option: v for option, v in kwargs.items() if option not in known})
        kwargs = {option: v for option, v in kwargs.items() if option in known}
    return function(*args, **kwargs)


@lru_cache(maxsize=1024)
def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


_PUBLIC = {name: value for name, value in globals().items() if not name.startswith("_")}
TensorExpr.__array_ufunc__ = _array_ufunc
TensorExpr.__array_function__ = _array_function


# --- NumPy on SymPy's own scalars ----------------------------------------------------------------
# ``np.sqrt(1 + x @ x)`` gets an Add, and asks it for a method of the function's name.


class _AskedByNumpy:
    """NumPy's function as a method of scalars with tensors inside; to other scalars there is none.

    No property: that would forbid classes derived from SymPy's an attribute of this name.
    """

    def __init__(self, name: str, function: Callable[..., Any]):
        self._name = name
        self._function = function

    def __get__(self, scalar: Any, kind: type) -> Any:
        if scalar is not None and outermost(scalar):
            return partial(self._function, scalar)
        owner = kind if scalar is None else scalar
        raise AttributeError(f"{owner!r:.80} has no attribute {self._name!r}")


for _name in set(_UFUNCS) - set(dir(sympy.Expr)):
    setattr(sympy.Expr, _name, _AskedByNumpy(_name, _UFUNCS[_name]))
