"""Resolve names of Python, its math module, NumPy, SciPy and JAX."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

import numpy as np
import sympy
from sympy import Expr, Integer, S

from .. import numpy as snp, operations as ops
from ..core import Row, TensorError, for_each_row, tuning
from ..expressions import (
    Operand,
    TensorExpr,
    as_operand,
    cofactors,
    det,
    elementwise,
    expm,
    inv,
    logdet,
    order_of,
)
from .steps import Steps, as_steps, counted, zipped
from .values import BINARY, DType, NamedFunction, Value, aligned, array, checked, truth

# --- modules -------------------------------------------------------------------------------------


def words(text: str) -> frozenset[str]:
    """Split a text into words."""
    return frozenset(text.split())


# Functions of lists of arrays, and functions that accept lengths of any size.
_TAKE_LISTS = words("""
    array asarray stack concatenate hstack vstack dstack block column_stack append select
    piecewise einsum broadcast_arrays meshgrid multi_dot row_stack concat""")
_ANY_SIZE = words("""
    zeros ones full eye identity reshape broadcast_to zeros_like ones_like full_like""")
_REAL_TYPES = words("""float64 float32 double single""")
_TYPES = _REAL_TYPES | words(
    """float16 int64 int32 int8 int_ uint8 bool bool_ complex64 complex128"""
)


def _entrywise(name: str, function: Callable[..., Operand]) -> NamedFunction:
    return NamedFunction(name, lambda *a: function(*aligned(a)), is_entrywise=True)


def _select(conditions: Sequence[Value], values: Sequence[Value], default: Value = 0) -> Value:
    """Implement ``numpy.select``, dropping choices after a condition that is always true."""
    result = default
    for condition, value in zip(conditions[::-1], values[::-1], strict=True):
        if isinstance(condition, bool):
            result = value if condition else result
        else:
            result = ops.where(*aligned([condition, value, result]))
    return result


def _stack(arrays: Value, axis: int = 0) -> Value:
    if isinstance(arrays, TensorExpr) and arrays.order:
        return ops.moveaxis(arrays, 0, axis)
    return snp.stack(arrays, axis=axis)


# NumPy's functions with an implementation other than that of ``sympy_einsum.numpy``.
_OWN_NUMPY: dict[str, NamedFunction] = {
    "result_type": NamedFunction("result_type", lambda *values: DType()),
    "empty": NamedFunction("empty", lambda shape: snp.zeros(shape), is_any_size=True),
    "empty_like": NamedFunction("empty_like", lambda a: snp.zeros_like(a), is_any_size=True),
    "stack": NamedFunction("stack", _stack, takes_lists=True),
    "select": NamedFunction("select", _select, takes_lists=True),
    "where": NamedFunction("where", lambda c, a, b: ops.where(*aligned([c, a, b]))),
}
_MATH_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "pow": "power",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    "fsum": "sum",
    "fmod": "fmod",
    "ln": "log",
}
_MATH = words("""
    sin cos tan sinh cosh tanh exp exp2 expm1 log2 log10 log1p sqrt cbrt fabs floor ceil trunc
    hypot copysign prod""")
_MATH_VALUES = {"pi": sympy.pi, "e": sympy.E, "tau": 2 * sympy.pi, "inf": S.Infinity}
_MATH_VALUES["nan"] = S.NaN


def _log(x: Value, base: Value = None) -> Value:
    value = elementwise(sympy.log, array(x))
    return value if base is None else ops.divide(value, elementwise(sympy.log, array(base)))


def _softmax(x: Value, axis: Value = -1) -> Value:
    return ops.softmax(x, axis)


def _log_softmax(x: Value, axis: Value = -1) -> Value:
    return elementwise(sympy.log, ops.softmax(x, axis))


def _gelu(x: Value, approximate: Value = True) -> Value:
    return ops.FUNCTIONS["gelu_tanh" if approximate else "gelu"](*aligned([x]))


_SPECIAL: dict[str, NamedFunction] = {
    "softmax": NamedFunction("softmax", lambda x, axis=None: ops.softmax(x, axis)),
    "log_softmax": NamedFunction("log_softmax", lambda x, axis=None: _log_softmax(x, axis)),
    "logsumexp": NamedFunction(
        "logsumexp", lambda a, axis=None, keepdims=False: ops.logsumexp(a, axis, keepdims)
    ),
}
# Functions that have the same names in this package and in jax.nn.
_NAMED: dict[str, NamedFunction] = {
    "softmax": NamedFunction("softmax", _softmax),
    "log_softmax": NamedFunction("log_softmax", _log_softmax),
    "logsumexp": NamedFunction("logsumexp", ops.logsumexp),
    "gelu": NamedFunction("gelu", _gelu, is_entrywise=True),
    "swish": _entrywise("swish", lambda x: ops.FUNCTIONS["silu"](x)),
}
_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "softmax": ops.softmax,
    "logsumexp": ops.logsumexp,
    "inv": inv,
    "det": det,
    "logdet": logdet,
    "expm": expm,
    "norm": ops.norm,
    "trace": ops.trace,
    "one_hot": ops.one_hot,
    "cofactors": cofactors,
    "logcumsumexp": ops.logcumsumexp,
}
_OWN = {name: NamedFunction(name, function) for name, function in _FUNCTIONS.items()}
_JAX_NN = words("""
    relu sigmoid softplus silu elu selu leaky_relu log_sigmoid mish hard_tanh""")


@for_each_row
def _add_names(row: Row) -> None:
    for name in row.scipy.split():
        _SPECIAL[name] = _entrywise(name, partial(elementwise, row.function))
    if row.name:
        known = _entrywise(row.name, ops.FUNCTIONS[row.name])
        _OWN.setdefault(row.name, known)
        if row.name in _JAX_NN:
            _NAMED[row.name] = known


def _of_numpy(name: str) -> Value:
    if name in _OWN_NUMPY:
        return _OWN_NUMPY[name]
    if name in ("nan", "NaN"):
        return S.NaN
    if name in _TYPES:
        return DType(is_real=name in _REAL_TYPES)
    if name == "linalg":
        return Module("numpy.linalg")
    found = getattr(snp, name)
    if not callable(found) or isinstance(found, sympy.Basic):
        return found
    ufunc = getattr(np, name, None)
    if isinstance(ufunc, np.ufunc) and ufunc.signature is None:
        return _entrywise(name, found)
    return NamedFunction(
        name, found, takes_lists=name in _TAKE_LISTS, is_any_size=name in _ANY_SIZE
    )


def _of_linalg(name: str) -> Value:
    if name not in snp.linalg.__all__:
        raise AttributeError(f"there is no {name} of numpy.linalg here")
    return NamedFunction(name, getattr(snp.linalg, name), takes_lists=name in _TAKE_LISTS)


def _of_math(name: str) -> Value:
    if name in _MATH_VALUES:
        return _MATH_VALUES[name]
    if name == "log":
        return NamedFunction("log", _log)
    if name in ("gamma", "lgamma", "erf", "erfc"):
        return _SPECIAL["gammaln" if name == "lgamma" else name]
    if name in _MATH or name in _MATH_NAMES:
        return _of_numpy(_MATH_NAMES.get(name, name))
    raise AttributeError(f"there is no {name} of math here; NumPy's functions are read")


def _of_scipy(name: str) -> Value:
    if name in ("special", "linalg"):
        return Module(f"scipy.{name}")
    raise AttributeError(f"scipy.{name} isn't read; scipy.special is")


def _of_lapack(name: str) -> Value:
    """Refuse LAPACK, which only helper functions of generated code import, whose bodies aren't
    parsed."""
    raise AttributeError(f"scipy.linalg.lapack.{name} isn't read; numpy.linalg is")


def _of_jax(name: str) -> Value:
    if name in ("numpy", "nn", "scipy"):
        return Module(f"jax.{name}")
    raise AttributeError(f"jax.{name} isn't read; jax.numpy is")


MODULES: Mapping[str, Callable[[str], Value]] = {
    "numpy": _of_numpy,
    "numpy.linalg": _of_linalg,
    "math": _of_math,
    "scipy": _of_scipy,
    "scipy.special": _SPECIAL.__getitem__,
    "scipy.linalg": lambda name: _OWN["expm"] if name == "expm" else _of_linalg(name),
    "scipy.linalg.lapack": _of_lapack,
    "jax": _of_jax,
    "jax.numpy": _of_numpy,
    "jax.numpy.linalg": _of_linalg,
    "jax.nn": _NAMED.__getitem__,
    "jax.scipy": _of_scipy,
    "jax.scipy.special": _SPECIAL.__getitem__,
    "autograd.numpy": _of_numpy,
    "sympy_einsum.numpy": _of_numpy,
    "sympy_einsum": _OWN.__getitem__,
    "functools": lambda name: {"reduce": BUILTINS["reduce"]}[name],
}
# Conventional names of modules, for texts without imports.
CUSTOMARY = {"np": "numpy", "numpy": "numpy", "math": "math", "jnp": "jax.numpy"}
CUSTOMARY |= {"special": "scipy.special", "scipy_linalg": "scipy.linalg"}


class Module:
    """Represent a known module."""

    def __init__(self, name: str):
        self.name = name

    def __getitem__(self, name: str) -> Value:
        """Resolve a name in the module."""
        inside = f"{self.name}.{name}"
        if inside in MODULES:
            return Module(inside)
        try:
            if name.startswith("_"):
                raise KeyError(name)
            return MODULES[self.name](name)
        except KeyError:
            raise TensorError(f"there is no {name} of {self.name} here") from None
        except AttributeError as error:
            raise TensorError(str(error)) from None


# --- Python's own --------------------------------------------------------------------------------


def items(value: Value) -> list[Value]:
    """List the items of an iteration over a value."""
    if isinstance(value, Steps):
        return value.items()
    if isinstance(value, TensorExpr) and value.order:
        if not value.shape[0].is_Integer:
            raise TensorError(
                f"the items of an axis of symbolic length {value.shape[0]}, which must be a number "
                "here: give it by shapes=, use a for statement, or NumPy's functions of arrays"
            )
        if value.shape[0] > tuning.MAX_LIST_ENTRIES:
            raise TensorError(
                f"a loop over more than {tuning.MAX_LIST_ENTRIES} entries; use functions of arrays"
            )
        return list(ops.unstack(value))
    if not isinstance(value, (list, tuple, range)) and not hasattr(value, "__next__"):
        raise TensorError("loops go over ranges, lists, tuples and arrays of known length")
    found = list(islice(value, tuning.MAX_LIST_ENTRIES + 1))
    if len(found) > tuning.MAX_LIST_ENTRIES:
        raise TensorError(f"a loop over more than {tuning.MAX_LIST_ENTRIES} entries")
    return found


def _length(value: Value) -> Value:
    if isinstance(value, (list, tuple, range)):
        return len(value)
    return value.shape[0]


def _range(*bounds: Value) -> range | Steps:
    if all(isinstance(bound, int) for bound in bounds):
        return range(*bounds)
    for bound in bounds:
        if not as_operand(bound).is_integer:
            raise TensorError(
                f"a range needs integers, not {bound}: give a length, such as x.shape[0], or an "
                "argument that is used as an integer only"
            )
    start, stop, step = {1: (0, *bounds, 1), 2: (*bounds, 1)}.get(len(bounds), bounds)
    if step not in (1, -1):
        raise TensorError(
            f"a range whose length is a symbol goes by steps of 1 or -1, not {step}: count by 1, "
            "and multiply the index"
        )
    return counted(start, (stop - start) * step, step)


def _long_steps(*values: Value) -> list[Steps]:
    """Return the iterations over values if one of them has many or symbolic steps, else none."""
    steps = [as_steps(value) for value in values]
    known = [own for own in steps if own is not None]
    return known if len(known) == len(steps) and any(own.is_long for own in known) else []


def _enumerate(values: Value, start: Value = 0) -> Value:
    for steps in _long_steps(values):
        return zipped([counted(start, steps.length, 1), steps.in_order()])
    return [(start + k, v) for k, v in enumerate(items(values))]


def _reversed(values: Value) -> Value:
    for steps in _long_steps(values):
        return steps.reversed()
    return items(values)[::-1]


def _total(values: Value, start: Value = 0) -> Value:
    if isinstance(values, TensorExpr) and start == 0:
        return snp.sum(values, axis=0)
    for value in items(values):
        start = checked(BINARY[ast.Add](start, value))
    return start


def _extreme(name: str) -> Callable[..., Value]:
    def extreme(*values: Value) -> Value:
        if len(values) == 1 and isinstance(values[0], TensorExpr):
            return getattr(snp, name)(values[0], axis=0)
        found = items(values[0]) if len(values) == 1 else list(values)
        if all(isinstance(v, int) for v in found):
            return max(found) if name == "max" else min(found)
        function: Callable[..., Value] = getattr(snp, f"{name}imum")
        total, *rest = found
        for value in rest:
            total = function(total, value)
        return total

    return extreme


def _whole(value: Value) -> int:
    if isinstance(value, Expr) and value.is_number and value.is_real:
        return int(Integer(value))
    if not isinstance(value, int):
        raise TensorError(
            "int() of a value that depends on arguments isn't differentiable; use np.floor"
        )
    return value


def _zip(*values: Value, strict: bool = False) -> Value:
    steps = _long_steps(*values)
    return zipped(steps) if steps else list(zip(*map(items, values), strict=strict))


def _all(values: Value) -> bool:
    known = [truth(value) for value in items(values)]
    if None in known:
        raise TensorError("all() can't take conditions on arguments; use np.all")
    return all(known)


def _any(values: Value) -> bool:
    known = [truth(value) for value in items(values)]
    if None in known:
        raise TensorError("any() can't take conditions on arguments; use np.any")
    return any(known)


# ``map`` and ``reduce`` may call functions of the text; ``reading`` implements them.
_PYTHON: dict[str, Callable[..., Value]] = {
    "abs": lambda value: (
        abs(value) if isinstance(value, int) else elementwise(sympy.Abs, array(value))
    ),
    "all": _all,
    "any": _any,
    "enumerate": _enumerate,
    "float": lambda value: value,
    "int": _whole,
    "len": _length,
    "list": lambda values=(): items(values),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "range": _range,
    "reversed": _reversed,
    "sum": _total,
    "tuple": lambda values=(): tuple(items(values)),
    "zip": _zip,
    "map": lambda function, *values: [function(*v) for v in zip(*map(items, values), strict=False)],
}


def _reduce(function: Callable[..., Value], values: Value, *start: Value) -> Value:
    total, *rest = [*start, *items(values)]
    for value in rest:
        total = function(total, value)
    return total


BUILTINS: dict[str, Value] = {
    name: NamedFunction(name, function, takes_lists=True, is_any_size=True)
    for name, function in {**_PYTHON, "reduce": _reduce}.items()
}
BUILTINS["pow"] = NamedFunction("pow", BINARY[ast.Pow])
BUILTINS |= {"True": True, "False": False, "None": None, "slice": NamedFunction("slice", slice)}


def bare(name: str) -> Value:
    """Resolve a name that a text neither defines nor imports, as in Caddie: a built-in or a
    mathematical function; KeyError for others."""
    if name in BUILTINS:
        return BUILTINS[name]
    if name in CUSTOMARY:
        return Module(CUSTOMARY[name])
    if name in _MATH or name in _MATH_NAMES or name in ("log", "pi", "dot", "tan", "erf", "gamma"):
        return _of_numpy("dot") if name == "dot" else _of_math(name)
    if name in ("cross", "norm", "transpose"):
        return _of_linalg(name) if name == "norm" else _of_numpy(name)
    raise KeyError(name)


def imported(name: str) -> Module:
    """Return a module by its name."""
    if name not in MODULES:
        readable = ", ".join(sorted(MODULES))
        raise TensorError(f"the module {name} isn't read; those that are: {readable}")
    return Module(name)


def attribute(value: Value, name: str) -> Value:
    """Return ``value.name`` of a number or an array."""
    operand = as_operand(value)
    if name == "dtype":
        return DType()
    if name == "astype":
        return NamedFunction(name, lambda *types, **options: operand)
    if name in _CHANGING:
        raise TensorError(
            f"{name} modifies the array in place; use a NumPy function that returns a new one"
        )
    if name in _METHODS_OF_UFUNCS:
        raise TensorError(f"{name} belongs to functions of NumPy")
    if not isinstance(operand, TensorExpr):
        if name not in _OF_NUMBERS:
            raise TensorError(f"a number has no {name} here")
        return _OF_NUMBERS[name](operand)
    if name.startswith("_") or not (hasattr(np.ndarray, name) and hasattr(operand, name)):
        raise TensorError(f"arrays have no {name} here; use NumPy's functions")
    found = getattr(operand, name)
    if name == "shape":
        return tuple(found)
    return NamedFunction(name, found) if callable(found) and not isinstance(found, Expr) else found


_CHANGING = words("""sort partition fill put resize itemset setfield setflags byteswap""")
_METHODS_OF_UFUNCS = ("accumulate", "reduce")
_OF_NUMBERS: dict[str, Callable[[Operand], Value]] = {
    "shape": lambda value: (),
    "ndim": order_of,
    "T": lambda value: value,
    "real": lambda value: value,
    **{
        name: lambda value: NamedFunction("the same", lambda *a, **options: value)
        for name in ("sum", "mean", "copy", "item", "prod", "max", "min")
    },
}
