"""Tensor expressions inside the code that ``sympy.lambdify`` and ``sympy.pycode`` make."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from sympy import Basic, Dummy, Expr, MatrixBase, NDimArray, Symbol, cse, flatten, log
from sympy.printing.numpy import NumPyPrinter, SciPyPrinter

from ..core import TensorError, UnsupportedError, postorder
from ..expressions import (
    TensorExpr,
    TensorSymbol,
    determinants_in,
    outermost,
    shape_of,
    stock_children,
)
from ..rules import stable
from .backends.numpy_backend import NumpyExpressionBackend
from .lowering import make_plan
from .signature import plain_names
from .writing import Writer


def stock_code(node: Expr, printer: Any, *args: Any) -> str:
    """An expression inside SymPy's own NumPy code: one expression, a tuple of assignments
    of which the last counts, so that shared subexpressions are computed once here too."""
    free = node.free_symbols
    known = {s for e in free for length in shape_of(e) for s in length.free_symbols}
    lengths = getattr(printer, "_lengths_of_arguments", {})
    symbols = sorted(free - known - set(lengths), key=str)
    for symbol in symbols:
        _check_name(symbol)
    names = {symbol: symbol.name for symbol in symbols}
    for symbol in symbols:
        for axis, length in enumerate(shape_of(symbol)):
            names.setdefault(length, f"{symbol.name}.shape[{axis}]")
    if lengths:
        names = {**lengths, **names}
        _check_lengths(node, known.union(lengths))
    exprs, _ = stable([node], numeric=True)
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


def _check_lengths(node: Expr, known: Collection[Any]) -> None:
    """All axis lengths in a graph have to be known."""
    inside = {s for n in postorder([node]) for e in shape_of(n) for s in e.free_symbols}
    missing = {s for s in inside.difference(known) if not isinstance(s, Dummy)}
    if missing:
        raise TensorError(
            f"{min(missing, key=str)} is an axis length, but neither an argument nor an axis "
            "length of one; add it to the arguments"
        )


# --- functions that SymPy writes ------------------------------------------------------------------
# SymPy prints the parts of an expression one by one and tells printers nothing of the arguments. So
# what needs the whole is done to the expression before it is printed: stable forms, and lines that
# read axis lengths from the arguments.


def prepared(
    printer: Any, args: Any, expr: Any, cses: Sequence[tuple[Any, Any]]
) -> tuple[Any, Sequence[tuple[Any, Any]]]:
    """What SymPy's lambdify is to print, and its shared parts, so that code for tensors comes out
    right; what holds none stays as it is."""
    arguments = flatten([args])
    tensors = [arg for arg in arguments if isinstance(arg, TensorSymbol)]
    is_ours = any(isinstance(node, TensorExpr) for node in _nodes(expr, cses))
    if not (is_ours or tensors):
        return expr, cses
    lengths = {arg: arg.name for arg in arguments if isinstance(arg, Symbol)}
    taken = {*lengths.values(), *(arg.name for arg in tensors)}
    reads: dict[Any, str] = {}
    for arg in tensors:
        for axis, length in enumerate(arg.shape):
            if length.is_Symbol and length not in lengths and _is_plain(arg):
                reads.setdefault(length, f"{arg.name}.shape[{axis}]")
    if isinstance(printer, NumPyPrinter):
        expr, cses = _stabilised(expr, cses)
    # A length may also stand outside of the tensor expressions, as in the mean Σ x / n, where SymPy
    # takes it for a symbol of its own.
    given = sorted(_nodes(expr, cses).intersection(reads), key=str)
    for length in given:
        _check_name(length, taken)
    printer._lengths_of_arguments = {**lengths, **reads}
    cses = [*((length, Symbol(reads[length])) for length in given), *cses]
    return expr, cses


def _nodes(expr: Any, cses: Sequence[tuple[Any, Any]]) -> set[Any]:
    """The nodes that SymPy prints, those of tensor expressions as one."""
    found: set[Any] = set()

    def look(part: Any) -> Any:
        if isinstance(part, Basic):
            found.update(postorder([part], stock_children))
        return part

    _in_parts(look, [expr, [shared for _, shared in cses]])
    return found


def _stabilised(expr: Any, cses: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """What lambdify takes, and its shared parts, in stable forms; these don't depend on sharing."""
    shared = {symbol: part for symbol, part in cses if part is not None}

    def whole(part: Any) -> Any:
        for symbol in reversed(shared):
            part = part.xreplace({symbol: shared[symbol]}) if isinstance(part, Basic) else part
        return part

    before = _in_parts(whole, expr) if shared else expr
    after = _in_parts(_stable, before)
    if shared and after != before:
        cses, expr = cse(after, list=False)
    elif not shared:
        expr = after
    return _in_parts(_by_us, expr), cses


def _in_parts(f: Any, expr: Any) -> Any:
    """What lambdify takes, with a function applied to the expressions in it."""
    if isinstance(expr, (list, tuple)):
        parts = [_in_parts(f, part) for part in expr]
        return parts if isinstance(expr, list) else tuple(parts)
    if isinstance(expr, dict):
        return {key: _in_parts(f, part) for key, part in expr.items()}
    if isinstance(expr, (MatrixBase, NDimArray)):
        return expr.applyfunc(f)
    return f(expr)


def _stable(expr: Any) -> Any:
    """A stock scalar with tensor expressions inside, in stable forms."""
    if not isinstance(expr, Expr) or isinstance(expr, TensorExpr) or not outermost(expr):
        return expr
    return stable([expr], numeric=True)[0][0]


def _by_us(expr: Any) -> Any:
    """A stock scalar in which we write the logarithms of determinants."""
    if not isinstance(expr, Expr) or isinstance(expr, TensorExpr):
        return expr
    logarithms = [e for e in postorder([expr], stock_children) if isinstance(e, log)]
    return expr.xreplace({e: _Own(e) for e in logarithms if determinants_in(e.args[0])[0]})


class _Own(Expr):
    """A stock scalar whose code is ours, not SymPy's."""

    def _numpycode(self, printer: Any, *args: Any) -> str:
        return stock_code(self.args[0], printer)
