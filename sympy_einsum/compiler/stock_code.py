"""Code of tensor expressions inside that of ``sympy.lambdify`` and ``sympy.pycode``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence

from sympy import (
    Basic,
    Derivative,
    Dummy,
    Expr,
    MatrixBase,
    NDimArray,
    Subs,
    Symbol,
    cse,
    flatten,
    log,
)
from sympy.core.function import AppliedUndef
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.numpy import NumPyPrinter, SciPyPrinter

from ..core import TensorError, UnsupportedError, postorder
from ..expressions import (
    Binder,
    TensorExpr,
    TensorSymbol,
    determinants_in,
    evaluated,
    outermost,
    shape_of,
    stock_children,
)
from ..rules import stabilise
from .backends import GivenFunctions, is_plain_name
from .backends.single_expressions import SingleExpression
from .emit.printer import printed
from .emit.signature import plain_names
from .emit.writer import Writer
from .ir.code import Code, names_in
from .planning import make_plan

# Shared subexpressions and their symbols, as SymPy's cse gives them.
Shared = Sequence[tuple[Symbol, Expr]]


class _StockFunctions(GivenFunctions):
    """The functions that stock ``lambdify`` was given; a name such as f' is looked up in what its
    code sees."""

    def __init__(self, printer: CodePrinter):
        super().__init__(taken=SingleExpression.reserved())
        self.known = printer.known_functions

    def name(self, function: type) -> str:
        """Return the name of a function in the code."""
        own = function.__name__
        if own not in self.known:
            raise UnsupportedError(
                f"the function {own} has no numerical code; give it some, "
                f'sympy.lambdify(..., modules=[{{"{own}": numpy.sin}}, "numpy"])'
            )
        return own if own not in self.taken and is_plain_name(own) else f"globals()[{own!r}]"


def stock_code(node: Expr, printer: CodePrinter, *args: object) -> str:
    """Spell an expression inside SymPy's own NumPy code: one expression, a tuple of assignments of
    which the last counts, so that shared subexpressions are computed once here too."""
    free = node.free_symbols
    known = {s for e in free for length in shape_of(e) for s in length.free_symbols}
    lengths = getattr(printer, "_lengths_of_arguments", {})
    symbols = sorted(free - known - set(lengths), key=str)
    for symbol in symbols:
        _check_name(symbol)
    names = {s: printer._print(s) if isinstance(s, Dummy) else s.name for s in symbols}
    for symbol in symbols:
        for axis, length in enumerate(shape_of(symbol)):
            names.setdefault(length, f"{symbol.name}.shape[{axis}]")
    if lengths:
        names = {**lengths, **names}
        _check_lengths(node, known.union(lengths))
    (node,) = evaluated([node])
    if any(isinstance(own, Binder) for own in postorder([node])):
        raise UnsupportedError(
            "sympy.lambdify writes one expression, which has no loops; use sympy_einsum.lambdify, "
            "or write the steps of scans out with unroll"
        )
    exprs, _ = stabilise([node], numeric=True)
    backend = SingleExpression()
    backend.functions = _StockFunctions(printer)
    steps, results = Writer(make_plan(exprs), names, backend, "_t").write()
    parts: list[Code] = []
    for step in steps:
        value = step.code.value if isinstance(step.code, ast.Expr) else step.code
        assert isinstance(value, ast.expr)
        parts.append(ast.NamedExpr(ast.Name(step.target), value) if step.target else value)
    tree = backend.joined([*parts, *results])
    used = names_in(tree)
    unknown = backend.used_support(used)
    if unknown:
        raise UnsupportedError(f"sympy.lambdify has no {unknown[0]}; use sympy_einsum.lambdify")
    if (
        "scipy" in used
        and isinstance(printer, NumPyPrinter)
        and not isinstance(printer, SciPyPrinter)
    ):
        raise UnsupportedError("this expression needs SciPy: sympy.lambdify(..., modules='scipy')")
    return printed(tree)


def _is_plain(symbol: Symbol, taken: Collection[str] = ()) -> bool:
    reserved = {*SingleExpression.reserved(), *taken}
    return plain_names([symbol], reserved) == [symbol.name]


def _check_name(symbol: Symbol, taken: Collection[str] = ()) -> None:
    if not _is_plain(symbol, taken):
        raise UnsupportedError(
            f"sympy.lambdify can't take the name {symbol.name!r} safely; use sympy_einsum.lambdify"
        )


def _check_lengths(node: Expr, known: Collection[Expr]) -> None:
    """Require that all axis lengths in a graph are known."""
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
    printer: CodePrinter, args: object, expr: object, cses: Shared
) -> tuple[object, Shared]:
    """Rewrite the expression and the shared parts that SymPy's lambdify prints, so that code for
    tensors is right; expressions without tensors stay."""
    arguments = flatten([args])
    tensors = [arg for arg in arguments if isinstance(arg, TensorSymbol)]
    is_ours = any(isinstance(node, TensorExpr) for node in _nodes(expr, cses))
    if not (is_ours or tensors):
        return expr, cses
    lengths = {arg: arg.name for arg in arguments if isinstance(arg, Symbol)}
    taken = {*lengths.values(), *(arg.name for arg in tensors)}
    reads: dict[Expr, str] = {}
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


def _nodes(expr: object, cses: Shared) -> set[Basic]:
    """Return the nodes that SymPy prints, those of tensor expressions as one."""
    found: set[Basic] = set()

    def look(part: object) -> object:
        if isinstance(part, Basic):
            found.update(postorder([part], stock_children))
        return part

    _in_parts(look, [expr, [shared for _, shared in cses]])
    return found


def _stabilised(expr: object, cses: Shared) -> tuple[object, Shared]:
    """Rewrite the argument of lambdify and its shared parts in numerically stable forms, which
    don't depend on sharing."""
    shared = {symbol: part for symbol, part in cses if part is not None}

    def whole(part: object) -> object:
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


def _in_parts(f: Callable[[object], object], expr: object) -> object:
    """Apply a function to the expressions in the argument of lambdify."""
    if isinstance(expr, (list, tuple)):
        parts = [_in_parts(f, part) for part in expr]
        return parts if isinstance(expr, list) else tuple(parts)
    if isinstance(expr, dict):
        return {key: _in_parts(f, part) for key, part in expr.items()}
    if isinstance(expr, (MatrixBase, NDimArray)):
        return expr.applyfunc(f)
    return f(expr)


def _stable(expr: object) -> object:
    """Rewrite a stock scalar with tensor expressions inside in stable forms."""
    if not isinstance(expr, Expr) or isinstance(expr, TensorExpr) or not outermost(expr):
        return expr
    return stabilise([expr], numeric=True)[0][0]


def _by_us(expr: object) -> object:
    """Mark the parts of a stock scalar that we write: logarithms of determinants and derivatives of
    unknown functions."""
    if not isinstance(expr, Expr) or isinstance(expr, TensorExpr):
        return expr
    ours = [e for e in postorder([expr], stock_children) if _is_ours(e)]
    return expr.xreplace({e: _Own(e) for e in ours})


def _is_ours(expr: Basic) -> bool:
    if isinstance(expr, log):
        return bool(determinants_in(expr.args[0])[0])
    is_derived = isinstance(expr, AppliedUndef) and not type(expr).__name__.isidentifier()
    return is_derived or isinstance(expr, (Derivative, Subs))


class _Own(Expr):
    """A stock scalar whose code is ours, not SymPy's."""

    def _numpycode(self, printer: CodePrinter, *args: object) -> str:
        return stock_code(self.args[0], printer)
