"""Parse Python functions from their source, without executing it, as expressions."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, TypeAlias

import numpy as np
from sympy import Expr, Integer, Symbol

from ..core import (
    Length,
    ParseError,
    TensorError,
    UnsupportedError,
    as_shape,
    tuning,
    with_time_limit,
)
from ..expressions import Operand, TensorSymbol, as_operand
from .interpreter import StatementInterpreter
from .names import MODULES, Module
from .scopes import Closure, Scope
from .values import DType, NamedFunction, Value, array, entries_of

# A user's symbol, or the shape of an argument, of numbers, symbols or their names.
Shape: TypeAlias = Expr | Length | str | tuple[Length | str, ...]
# An expression, or tuples and lists of expressions.
Outputs: TypeAlias = Any


@dataclass(frozen=True)
class PythonFunction:
    """Hold a Python function as expressions.

    name : its name
    args : a symbol for each argument: ordinary symbols for numbers, else tensor symbols
    outputs : the returned expression, or tuples and lists of expressions
    """

    name: str
    args: tuple[TensorSymbol | Any, ...]
    outputs: Outputs


@with_time_limit
def parse_python(
    source: str, name: str | None = None, shapes: Mapping[str, Shape] | None = None
) -> PythonFunction:
    """Parse a Python function from source text, which is never executed.

    Supported are assignments (also ``a, b = x``, ``a += b``, and to entries and slices of arrays
    without an alias), arithmetic, comparisons, conditions, ``for`` over ranges and axes (with a
    symbolic length, or more than 16 steps, as a :func:`scan`), comprehensions, ``lambda``,
    functions of the same text, the functions and methods of NumPy that ``sympy_einsum.numpy`` has
    (as NumPy's or JAX's; ``np.add(a, b, out=a)`` for arrays without an alias), ``math``,
    ``scipy.special``, and the output of :func:`codegen`. If a condition depends on arguments, both
    branches are evaluated and selected between. Mathematical functions need no import: ``sin``,
    ``log`` or ``ln``, ``pow``. Numbers are exact.

    Parameters
    ==========

    source : definitions of functions, imports and constants
    name : the function to parse; by default the last one
    shapes : for each argument with axes its shape, such as ``{"x": 3, "A": ("m", "n")}``, or your
        own symbol. An argument used only as ``x[0]``, ``x[1]`` and the like, or unpacked, is a
        vector; ``x : array of shape (3,)`` in the docstring declares a shape; other arguments are
        numbers, and one with a default has that value.

    Returns
    =======

    A function with ``name``, ``args`` (symbols) and ``outputs``, expressions in the structure
    that the function returns; ``codegen`` generates source code of it and its derivatives.

    Raises
    ======

    ParseError : unsupported code, with line and column, and a replacement; also for texts of more
        than 100 000 characters, and if parsing takes longer than 2 s

    Examples
    ========

    >>> import sympy_einsum as se
    >>> f = se.parse_python("def f(x): return x[0] * sin(x[1])")
    >>> f.args, f.outputs
    ((x,), sin(x[1])*x[0])
    >>> print(se.diff(f.outputs, f.args[0]).shape)
    (2,)
    >>> se.parse_python("def f(x): return frob(x)")
    Traceback (most recent call last):
    ...
    sympy_einsum.ParseError: nothing is known of 'frob': it is neither an argument, nor \
    assigned, nor imported, nor a function of math, at line 1, column 18:
      def f(x): return frob(x)
                       ^

    References
    ==========

    [C] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python
        Context", 2025, §4, whose language is a subset of this one.
    """
    try:
        return _read(StatementInterpreter(source), name, _as_dict(shapes))
    except RecursionError:
        raise ParseError("the text is nested too deeply") from None


def _as_dict(shapes: Mapping[str, Shape] | None) -> dict[str, Shape]:
    if shapes is None or (isinstance(shapes, Mapping) and all(isinstance(k, str) for k in shapes)):
        return dict(shapes or {})
    raise TensorError(f"shapes maps names of arguments to shapes, not {str(shapes)[:80]}")


def from_function(
    f: Callable[..., object], shapes: Mapping[str, Shape] | None = None, **more: Shape
) -> PythonFunction:
    """Parse a function object from its source, and the functions that it calls from theirs.

    Nothing is executed. Global and nonlocal numbers, arrays and expressions are constants.
    Parameters, supported code and errors are those of :func:`parse_python`; shapes may also be
    keyword arguments.

    Raises
    ======

    UnsupportedError : the source isn't available, as for functions defined at Python's prompt

    Examples
    ========

    >>> import sympy_einsum as se
    >>> from colorsys import rgb_to_yiq
    >>> read = se.from_function(rgb_to_yiq)
    >>> read.args, read.outputs[0]
    ((r, g, b), 11*b/100 + 59*g/100 + 3*r/10)
    """
    function = inspect.unwrap(f) if callable(f) else f
    if not isinstance(function, FunctionType):
        raise UnsupportedError(
            f"functions written in Python are read, not {str(f)[:80]}; define one that calls it"
        )
    return _read(*_parse_object(function, 0), {**_as_dict(shapes), **more})


def _read(
    reader: StatementInterpreter, name: str | None, shapes: dict[str, Shape]
) -> PythonFunction:
    names = reader.functions()
    if name is not None and not isinstance(name, str):
        raise TensorError(f"the name of a function is needed, not {str(name)[:80]}")
    if not names and name is None:
        raise ParseError("the text defines no function: begin with `def f(x):`")
    name = names[-1] if name is None else name
    closure = reader.globals.names.get(name)
    if not isinstance(closure, Closure):
        raise ParseError(f"the text defines no function {name!r}, but {', '.join(names)}")
    spec = closure.node.args
    parameters = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    unknown = shapes.keys() - {parameter.arg for parameter in parameters}
    if unknown:
        raise TensorError(f"{name} has no argument {', '.join(sorted(unknown))}")
    declared = _declared_shapes(closure.node)
    declared |= {
        name: _length(name) for name in _lengths_in(declared.values()).difference(declared)
    }
    defaults = {arg.arg for arg in spec.args[len(spec.args) - len(spec.defaults) :]}
    pairs = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    defaults |= {arg.arg for arg, default in pairs if default is not None}
    args = {
        p.arg: _symbol(p.arg, shapes.get(p.arg, declared.get(p.arg, ())))
        for p in parameters
        if p.arg in shapes or p.arg not in defaults
    }
    result = reader.call(closure, closure.node, [], args)
    if result is None:
        reader.fail(closure.node, f"{name} returns nothing: end it with return and a value")
    outputs = reader.trying(closure.node, _as_outputs, result)
    return PythonFunction(name, tuple(args.values()), outputs)


def _as_outputs(value: Value) -> Outputs:
    entries_of(value)
    if isinstance(value, (list, tuple)):
        return tuple(map(_as_outputs, value))
    if isinstance(value, (Closure, NamedFunction, DType, Module, slice, str)) or value is None:
        raise TensorError(f"a function returns numbers and arrays, not a {type(value).__name__}")
    return as_operand(array(value))


def _symbol(name: str, shape: Shape) -> Operand:
    """Return the symbol for an argument."""
    if isinstance(shape, TensorSymbol) or (isinstance(shape, Symbol) and shape.name == name):
        return shape
    lengths = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    if not lengths:
        return Symbol(name, real=True)
    return TensorSymbol(name, as_shape(list(map(_length, lengths))))


def _length(length: Length | str) -> Length:
    if isinstance(length, str):
        if not length.isidentifier():
            raise TensorError(f"a length is a number, a symbol or the name of one, not {length!r}")
        return Symbol(length, integer=True, positive=True)
    return length


# --- shapes declared in a text --------------------------------------------------------------------

_IN_DOCSTRING = re.compile(r"^\s*(\w+) : array of shape (\(.*\))\s*$", re.M)


def _declared_shapes(node: ast.FunctionDef | ast.Lambda) -> dict[str, Shape]:
    """Infer shapes of arguments that are only unpacked, and parse those in the docstring."""
    loads: dict[str, int] = {}
    lengths: dict[str, list[int]] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            loads[inner.id] = loads.get(inner.id, 0) + 1
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            index = inner.slice
            if isinstance(index, ast.Constant) and type(index.value) is int:
                lengths.setdefault(inner.value.id, []).append(index.value + 1)
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Name):
            for target in inner.targets:
                if isinstance(target, ast.Tuple):
                    lengths.setdefault(inner.value.id, []).append(len(target.elts))
    declared: dict[str, Shape] = {
        name: max(found) for name, found in lengths.items() if loads[name] == len(found)
    }
    declared |= {name: _length(name) for name in _counts(node)}
    docstring = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
    for name, shape in _IN_DOCSTRING.findall(docstring or ""):
        found = _parse_shape(shape)
        if found is not None:
            declared[name] = found
    return declared


def _counts(node: ast.AST) -> set[str]:
    """Return the names in the bounds of ranges, other than those of arrays and functions."""
    found: set[str] = set()
    others: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            others |= {n.id for n in ast.walk(inner.func) if isinstance(n, ast.Name)}
            if isinstance(inner.func, ast.Name) and inner.func.id == "range":
                bounds = [n for bound in inner.args for n in ast.walk(bound)]
                found |= {n.id for n in bounds if isinstance(n, ast.Name)}
            elif isinstance(inner.func, ast.Name) and inner.func.id == "len":
                others |= {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
        elif isinstance(inner, (ast.Subscript, ast.Attribute)):
            others |= {n.id for n in ast.walk(inner.value) if isinstance(n, ast.Name)}
    return found - others


def _lengths_in(shapes: Iterable[Shape]) -> set[str]:
    """Return the names of lengths in shapes; an argument with such a name is that length."""
    lengths = [n for shape in shapes if isinstance(shape, tuple) for n in shape]
    return {symbol.name for length in lengths for symbol in length.free_symbols}


def _parse_shape(shape: str) -> Shape | None:
    """Parse a shape in a docstring, such as (m, n + 1); None if that fails."""
    names = dict.fromkeys(re.findall(r"[^\W\d]\w*", shape))
    try:
        reader = StatementInterpreter(f"def shape({', '.join(names)}): return {shape}")
        closure = reader.globals.names["shape"]
        found = reader.call(closure, closure.node, [], {name: _length(name) for name in names})
        return as_shape(found) if isinstance(found, tuple) else None
    except TensorError:
        return None


# --- functions in memory -------------------------------------------------------------------------


def _parse_object(function: FunctionType, depth: int) -> tuple[StatementInterpreter, str]:
    """Parse the source of a function object, with its global and nonlocal values."""
    if depth > tuning.MAX_CALLED_FUNCTIONS:
        raise UnsupportedError(f"{function.__name__} calls functions more than {depth} deep")
    text, name = _source_of(function)
    around = inspect.getclosurevars(function)
    names: dict[str, Value] = {}
    for key, value in {**around.globals, **around.nonlocals}.items():
        if value is function:
            continue
        known = _as_value(value, depth)
        if known is not None:
            names[key] = known
    return StatementInterpreter(text, Scope(names)), name


def _source_of(function: FunctionType) -> tuple[str, str]:
    """Return the source of a function, and its name there."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise UnsupportedError(
            f"the source of {function.__name__} isn't known; put it into a file, or give its text "
            "to parse_python"
        ) from None
    if function.__name__ != "<lambda>":
        # Drop decorators.
        return text[re.search(r"^\s*def ", text, re.M).start() :], function.__name__  # type: ignore[union-attr]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    for start in [found.start() for found in re.finditer(r"\blambda\b", text)]:
        for end in range(len(text), start, -1):
            try:
                tree = ast.parse(text[start:end].strip(), mode="eval").body
            except SyntaxError:
                continue
            if isinstance(tree, ast.Lambda) and tuple(a.arg for a in tree.args.args) == names:
                body = ast.unparse(tree.body)
                return f"def function({ast.unparse(tree.args)}):\n    return {body}\n", "function"
            break
    raise UnsupportedError("the source of this lambda can't be found; write it as a def")


def _as_value(value: object, depth: int) -> Value:
    """Convert a Python object to a value of the interpreter; None if it has no counterpart."""
    if isinstance(value, ModuleType):
        return Module(value.__name__) if value.__name__ in MODULES else None
    if isinstance(value, (bool, int, float)):
        return value if isinstance(value, int) else as_operand(value)
    if isinstance(value, (np.ndarray, np.generic, Expr)):
        return as_operand(value)
    if isinstance(value, tuple | list):
        parts = [_as_value(part, depth) for part in value]
        return None if None in parts else type(value)(parts)
    if isinstance(value, np.ufunc):
        module = "numpy" if getattr(np, value.__name__, None) is value else "scipy.special"
        return Module(module)[value.__name__]
    name, module = getattr(value, "__name__", ""), getattr(value, "__module__", "") or ""
    home = next((m for m in ("math", "numpy.linalg", "numpy", "functools") if module == m), None)
    if home is not None and callable(value):
        return Module(home)[name]
    if isinstance(value, BuiltinFunctionType):
        return None
    if isinstance(value, FunctionType):
        reader, inside = _parse_object(value, depth + 1)
        return reader.globals.names[inside]
    return Integer(value) if isinstance(value, Integer) else None
