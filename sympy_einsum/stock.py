"""Tensor expressions inside the code that ``sympy.lambdify`` and ``sympy.pycode`` make.

May import: plan, simplify, signature, source, backends.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from typing import Any

from sympy import Basic, Dummy, Expr, Symbol, flatten
from sympy.printing.numpy import NumPyPrinter, SciPyPrinter
from sympy.utilities.lambdify import _EvaluatorPrinter

from .backends import NumpyExpressionBackend
from .errors import TensorError, UnsupportedError
from .nodes import TensorExpr, stock_children
from .operations import shape_of
from .plan import make_plan
from .signature import plain_names
from .simplify import stable
from .source import Writer
from .tensors import TensorSymbol
from .traversal import postorder


def _numpycode(self: TensorExpr, printer: Any, *args: Any) -> str:
    """A tensor expression inside SymPy's own NumPy code: one expression, a tuple of assignments
    of which the last counts, so that shared subexpressions are computed once here too."""
    free = self.free_symbols
    known = {s for e in free for length in shape_of(e) for s in length.free_symbols}
    lengths = _lengths_of_arguments(printer)
    symbols = sorted(free - known - set(lengths), key=str)
    for symbol in symbols:
        _check_name(symbol)
    names = {symbol: symbol.name for symbol in symbols}
    for symbol in symbols:
        for axis, length in enumerate(shape_of(symbol)):
            names.setdefault(length, f"{symbol.name}.shape[{axis}]")
    if lengths:
        names = {**lengths, **names}
        _check_lengths(self, known.union(lengths))
    exprs, _ = stable([self], numeric=True)
    steps, results = Writer(make_plan(exprs), names, NumpyExpressionBackend(), "_t").write()
    parts = [f"{target} := {text}" if target else text for target, text, _ in steps]
    code = f"({', '.join([*(f'({part})' for part in parts), *results])},)[-1]"
    if (
        "special." in code
        and isinstance(printer, NumPyPrinter)
        and not isinstance(printer, SciPyPrinter)
    ):
        raise UnsupportedError("this expression needs SciPy: sympy.lambdify(..., modules='scipy')")
    code = re.sub(r"\bspecial\.", "scipy.special.", code)
    return re.sub(r"\bnp\.", "numpy.", code)


def _is_plain(symbol: Any, taken: Collection[str] = ()) -> bool:
    reserved = {*NumpyExpressionBackend.reserved(), *taken}
    return plain_names([symbol], reserved) == [symbol.name]


def _check_name(symbol: Any, taken: Collection[str] = ()) -> None:
    if not _is_plain(symbol, taken):
        raise UnsupportedError(
            f"sympy.lambdify can't take the name {symbol.name!r} safely; use sympy_einsum.lambdify"
        )


def _check_lengths(node: TensorExpr, known: Collection[Any]) -> None:
    """All axis lengths in a graph have to be known."""
    inside = {s for n in postorder([node]) for e in shape_of(n) for s in e.free_symbols}
    missing = {s for s in inside.difference(known) if not isinstance(s, Dummy)}
    if missing:
        raise TensorError(
            f"{min(missing, key=str)} is an axis length, but neither an argument nor an axis "
            "length of one; add it to the arguments"
        )


def _lengths_of_arguments(printer: Any) -> dict[Any, str]:
    """The axis lengths that the arguments of the function have in which a node is printed, with
    their texts; none outside of ``sympy.lambdify``.

    SymPy doesn't tell printers of arguments, so they are read where it prepares the function. A
    length may also stand outside of the tensor expressions, as in the mean Σ x / n, where SymPy
    takes it for a symbol of its own: lines that read it are put before the function's last one.
    """
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code is not _EvaluatorPrinter.doprint.__code__:
        frame = frame.f_back
    if frame.f_code is not _EvaluatorPrinter.doprint.__code__:
        return {}
    body = frame.f_locals["funcbody"]
    found = printer.__dict__.get("_lengths_of_arguments", (None, {}))
    if found[0] is not body:
        found = printer._lengths_of_arguments = body, _read_lengths(frame.f_locals)
    return found[1]


def _read_lengths(function: Mapping[str, Any]) -> dict[Any, str]:
    """The lengths in the arguments of a function that SymPy is writing, given what it knows."""
    arguments = [arg for arg in flatten(function["args"]) if isinstance(arg, Expr)]
    lengths = {arg: arg.name for arg in arguments if isinstance(arg, Symbol)}
    taken = set(lengths.values())
    reads: dict[Any, str] = {}
    for arg in (arg for arg in arguments if isinstance(arg, TensorSymbol)):
        taken.add(arg.name)
        for axis, length in enumerate(arg.shape):
            if length.is_Symbol and length not in lengths and _is_plain(arg):
                reads.setdefault(length, f"{arg.name}.shape[{axis}]")
    expr = function["expr"]
    parts = list(expr.items()) if isinstance(expr, dict) else expr
    roots = flatten([parts, *function.get("subexprs", ())])
    outside = postorder(
        [root for root in roots if isinstance(root, Basic)],
        stock_children,
    )
    for length in sorted(set(reads).intersection(outside), key=str):
        _check_name(length, taken)
        function["funcbody"].append(f"{length.name} = {reads[length]}")
    return {**lengths, **reads}


TensorExpr._numpycode = _numpycode
TensorExpr._pythoncode = _numpycode
