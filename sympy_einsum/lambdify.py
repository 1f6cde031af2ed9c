"""From expressions to a Python function: plan, source text, compiled function, argument checks.

May import: plan, backends, tensors, operations. No string that a user chose reaches the compiler:
names that aren't plain identifiers are replaced, and free symbols that aren't arguments are errors.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sympy import Expr, Integer, Symbol
from sympy.printing.numpy import SciPyPrinter

from .backends import BACKENDS, NumpyExpressionBackend
from .elementwise import as_operand, slot
from .errors import ShapeError, TensorError, UnsupportedError
from .nodes import TensorExpr, free_leaves
from .operations import order_of, shape_of
from .plan import Plan, make_plan
from .tensors import TensorSymbol

# Names that generated code uses itself.
RESERVED = {"np", "numpy", "scipy", "special", "adjugate", "logsumexp", "softmax", "function"}
# Instructions that are short and cheap enough to stand inside the one that uses them.
INLINE = {"transpose", "index", "cut", "argument"}

# Constant arrays up to this many entries are written into the source.
MAX_WRITTEN = 1000


def lambdify(args: Any, exprs: Any, backend: str = "numpy", *, check: bool = True) -> Any:
    """A Python function that evaluates expressions on arrays.

    Parameters
    ==========

    args : a symbol or a list of them, tensor symbols and ordinary symbols
    exprs : an expression, or a (nested) list or tuple of them; the function returns the same
        structure. Subexpressions that they share are computed once.
    backend : ``"numpy"``
    check : whether each call verifies orders and lengths of the arguments

    Returns
    =======

    A function with the attribute ``source``: readable Python that computes the same (constant
    arrays of more than 1000 entries are named there, not written out).

    Raises
    ======

    TensorError : an expression has a free symbol that is no argument
    UnsupportedError : a function has no numerical code, or the backend doesn't exist
    ShapeError : (when called) an argument doesn't fit; the message names it, its axis and lengths

    Examples
    ========

    >>> import numpy as np
    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> f = se.lambdify([A, x], se.gradient(((A @ x)**2).sum(), x))
    >>> f(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, 1.0]))
    array([ 6., 14.])
    """
    if backend not in BACKENDS:
        raise UnsupportedError(f"no backend {backend!r}; there are {', '.join(BACKENDS)}")
    symbols = _arguments(args)
    leaves: list[Any] = []
    layout = _layout(exprs, leaves)
    source, namespace = generate(symbols, leaves, layout, BACKENDS[backend]())
    exec(compile(source, "<sympy_einsum>", "exec"), namespace)
    compute = namespace["function"]

    def function(*values: Any) -> Any:
        if len(values) != len(symbols):
            raise TypeError(
                f"the function takes {len(symbols)} arguments "
                f"({', '.join(map(str, symbols))}), not {len(values)}"
            )
        arrays = check_arguments(symbols, values) if check else values
        return compute(*arrays)

    function.source = source  # type: ignore[attr-defined]
    function.__doc__ = f"Generated from {len(leaves)} expression(s).\n\n{source}"
    return function


def _arguments(args: Any) -> list[Any]:
    symbols = list(args) if isinstance(args, (list, tuple)) else [args]
    for symbol in symbols:
        if not isinstance(symbol, (TensorSymbol, Symbol)):
            raise TensorError(f"an argument is a TensorSymbol or a Symbol, not {symbol!r}")
    if len(set(symbols)) != len(symbols):
        raise TensorError("an argument is given twice")
    return symbols


def _layout(exprs: Any, leaves: list[Any]) -> Callable[[Sequence[str]], str]:
    """Collect the expressions of a nested list; returns how to write it from their texts."""
    if isinstance(exprs, (list, tuple)):
        parts = [_layout(part, leaves) for part in exprs]
        left, right = "[]" if isinstance(exprs, list) else ("(", ",)" if len(exprs) == 1 else ")")
        return lambda texts: left + ", ".join(part(texts) for part in parts) + right
    position = len(leaves)
    leaves.append(as_operand(exprs))
    return lambda texts: texts[position]


def check_arguments(symbols: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """The arguments as arrays, after their orders and lengths are found consistent."""
    known: dict[Any, tuple[int, str]] = {}
    arrays: list[Any] = []
    compound: list[tuple[Any, int, Any, int]] = []
    for symbol, value in zip(symbols, values, strict=True):
        array = np.asarray(value) if order_of(symbol) else value
        arrays.append(array)
        if np.ndim(array) != order_of(symbol):
            raise ShapeError(
                f"argument {symbol} must have order {order_of(symbol)}, but an array of order "
                f"{np.ndim(array)}, shape {np.shape(array)}, was given"
            )
        for axis, length in enumerate(shape_of(symbol)):
            given = np.shape(array)[axis]
            if isinstance(length, Symbol):
                expected, origin = known.setdefault(length, (given, f"axis {axis} of {symbol}"))
                if expected != given:
                    raise ShapeError(
                        f"argument {symbol} has length {given} on axis {axis}, but {length} is "
                        f"{expected}, from {origin}"
                    )
            else:
                compound.append((symbol, axis, length, given))
    for symbol, value in zip(symbols, values, strict=True):
        if symbol in known and known[symbol][0] != value:
            raise ShapeError(
                f"argument {symbol} is {value}, but {symbol} is {known[symbol][0]}, from "
                f"{known[symbol][1]}"
            )
    for symbol, axis, length, given in compound:
        expected = length.xreplace({s: Integer(value) for s, (value, _) in known.items()})
        if expected.is_Integer and int(expected) != given:
            raise ShapeError(
                f"argument {symbol} has length {given} on axis {axis}, which must be {length}"
                + ("" if length.is_Integer else f" = {expected}")
            )
    return arrays


# --- source --------------------------------------------------------------------------------------


def generate(
    symbols: Sequence[Any],
    exprs: Sequence[Any],
    layout: Callable[[Sequence[str]], str],
    backend: Any,
) -> tuple[str, dict[str, Any]]:
    """The source of a function of the symbols that returns the expressions' values, arranged by
    ``layout``; and by name the constants that are too large to be written out."""
    names = argument_names(symbols)
    lengths = _length_texts(symbols, names)
    free = {leaf for expr in exprs for leaf in free_leaves(expr)}
    missing = free - set(symbols) - set(lengths)
    if missing:
        shown = ", ".join(sorted(str(symbol) for symbol in missing))
        raise TensorError(
            f"{shown} occurs in the expressions, but is neither an argument nor an axis length of "
            "one; add it to the arguments"
        )
    writer = _Writer(make_plan(exprs), dict(zip(symbols, names, strict=True)), lengths, backend)
    steps, results = writer.write()
    lines = [f"{target} = {text}" if target else text for target, text in steps]
    lines.append(f"return {layout(results)}")
    body = "\n".join(f"    {line}" for line in lines)
    support = "".join(text for key, text in backend.support.items() if key in body)
    imports = "\n".join(backend.used_imports(support + body))
    header = f"{imports}\n\n{support}\n" if imports else ""
    return f"{header}def function({', '.join(names)}):\n{body}\n", writer.constants


def argument_names(symbols: Sequence[Any]) -> list[str]:
    """An identifier for each argument: its name where that is plain and unique, else its place."""
    names: list[str] = []
    for number, symbol in enumerate(symbols):
        name = symbol.name
        plain = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
        generated = name[:1] == "t" and name[1:].isdigit()
        if not plain or generated or name.startswith("_") or name in RESERVED or name in names:
            name = f"arg{number}_"
        names.append(name)
    return names


def _length_texts(symbols: Sequence[Any], names: Sequence[str]) -> dict[Any, str]:
    """How generated code reads each symbolic length: from the first argument that has it."""
    texts: dict[Any, str] = {}
    for symbol, name in zip(symbols, names, strict=True):
        if isinstance(symbol, Symbol):
            texts.setdefault(symbol, name)
        for axis, length in enumerate(shape_of(symbol)):
            if isinstance(length, Symbol):
                texts.setdefault(length, f"{name}.shape[{axis}]")
    return texts


class _Writer:
    """Writes a plan as steps in Python, one instruction each."""

    def __init__(
        self,
        plan: Plan,
        arguments: dict[Any, str],
        lengths: dict[Any, str],
        backend: Any,
        prefix: str = "t",
    ):
        self.prefix = prefix
        self.plan = plan
        self.arguments = arguments
        self.lengths = lengths
        self.backend = backend
        self.texts: list[str] = []
        self.constants: dict[str, np.ndarray] = {}

    def write(self) -> tuple[list[tuple[str, str]], list[str]]:
        """The steps as pairs of a variable and its value, without a variable for a statement;
        and the texts of the results."""
        steps: list[tuple[str, str]] = []
        uses = Counter(k for step in self.plan.instructions for k in step.inputs)
        uses.update(self.plan.results)
        for number, instruction in enumerate(self.plan.instructions):
            operands = [self.texts[k] for k in instruction.inputs]
            if instruction.op == "write_diagonal":
                steps.append(("", self.backend.write_diagonal(*operands, *instruction.params)))
                self.texts.append(operands[0])
                continue
            text = self._spell(instruction.op, operands, instruction.params)
            once = uses[number] == 1 or not operands
            inline = instruction.op in INLINE or (instruction.op == "scalar" and once)
            if not inline or len(text) > 60:
                steps.append((f"{self.prefix}{number}", text))
                text = f"{self.prefix}{number}"
            self.texts.append(_atomic(text))
        return steps, [self.texts[k] for k in self.plan.results]

    def _spell(self, op: str, operands: list[str], params: tuple[Any, ...]) -> str:
        if op == "argument":
            symbol = params[0]
            return self.arguments[symbol] if symbol in self.arguments else self.lengths[symbol]
        if op == "constant":
            return self._constant(params[0].array)
        if op == "cut":
            place, entry = params
            return self.backend.index(operands, [":"] * place + [self._entry(entry)])
        if op not in _BODIES:
            params = tuple(
                [self._size(part) for part in param] if _is_shape(param) else self._param(param)
                for param in params
            )
        return getattr(self.backend, op)(operands, *params)

    def _constant(self, array: np.ndarray) -> str:
        if self.prefix != "t" or array.size <= MAX_WRITTEN:
            return self.backend.constant([], array)
        name = f"_constant{len(self.constants)}"
        self.constants[name] = array
        return name

    def _param(self, param: Any) -> Any:
        return self._size(param) if isinstance(param, Expr) else param

    def _entry(self, entry: Any) -> str:
        if not isinstance(entry, tuple):
            return self._size(entry)
        start, step, count = entry
        stop = start + step * count
        end = "" if stop.is_negative else self._size(stop)
        return f"{self._size(start)}:{end}" + (f":{step}" if step != 1 else "")

    def _size(self, length: Any) -> str:
        """An axis length or a position as integer code."""
        if isinstance(length, (int, Integer)):
            return str(int(length))
        symbols = sorted(length.free_symbols, key=str)
        for symbol in symbols:
            if symbol not in self.lengths:
                raise TensorError(
                    f"{symbol} is neither an argument nor an axis length of one; add it to the "
                    "arguments"
                )
        body = length.xreplace({s: slot(k) for k, s in enumerate(symbols)})
        text = self.backend.scalar([self.lengths[s] for s in symbols], body)
        return text if length.is_Symbol else f"int({text})"


_BODIES = {"scalar", "elementwise"}


def _is_shape(param: Any) -> bool:
    return isinstance(param, tuple) and bool(param) and all(isinstance(p, Expr) for p in param)


def _atomic(text: str) -> str:
    """A text that can stand next to any operator."""
    if text.replace("_", "").replace(".", "").isalnum() or _is_bracketed(text):
        return text
    return f"({text})"


def _is_bracketed(text: str) -> bool:
    """Whether a text is one name, call or index, such as ``f(x)[0].T``."""
    depth = 0
    for char in text:
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0 and not (char.isalnum() or char in "_."):
            return False
    return not text[:1].isdigit()


# --- stock sympy.lambdify ------------------------------------------------------------------------


def _numpycode(self: TensorExpr, printer: Any, *args: Any) -> str:
    """A tensor expression inside SymPy's own NumPy code: one expression, a tuple of assignments
    of which the last counts, so that shared subexpressions are computed once here too."""
    free = self.free_symbols
    known = {s for e in free for length in shape_of(e) for s in length.free_symbols}
    symbols = sorted(free - known, key=str)
    for symbol in symbols:
        name = symbol.name
        if argument_names([symbol]) != [name]:
            raise UnsupportedError(
                f"sympy.lambdify can't take the name {name!r} safely; use sympy_einsum.lambdify"
            )
    names = {symbol: symbol.name for symbol in symbols}
    lengths = _length_texts(symbols, list(names.values()))
    backend = NumpyExpressionBackend()
    steps, results = _Writer(make_plan([self]), names, lengths, backend, prefix="_t").write()
    parts = [f"{target} := {text}" if target else text for target, text in steps]
    code = f"({', '.join([*(f'({part})' for part in parts), *results])},)[-1]"
    if "special." in code and not isinstance(printer, SciPyPrinter):
        raise UnsupportedError("this expression needs SciPy: sympy.lambdify(..., modules='scipy')")
    code = re.sub(r"\bspecial\.", "scipy.special.", code)
    return re.sub(r"\bnp\.", "numpy.", code)


TensorExpr._numpycode = _numpycode
