"""Hooks of ``sympy.lambdify``, ``sympy.pycode`` and SymPy's printers of other languages on our
nodes; they load the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import Basic, Expr, Indexed, MatrixExpr, MatrixSymbol, S, Symbol
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.precedence import PRECEDENCE

from ..core import UnsupportedError, WholeFunction, deferred
from ..expressions import TensorExpr, TensorSymbol

_prepared = deferred("compiler.stock_code", "prepared")
_stock_code = deferred("compiler.stock_code", "stock_code")
_indexed = deferred("convert", "to_indexed")


def write_function(
    stock: Callable[..., str],
    self: Any,
    name: str,
    args: Sequence[Basic],
    expr: Basic,
    *,
    cses: Sequence[tuple[Symbol, Expr]] = (),
) -> str:
    """Return the text of a function for ``sympy.lambdify``."""
    printer = getattr(self._exprrepr, "__self__", None)
    if printer is not None:
        expr, cses = _prepared(printer, args, expr, cses)
    return stock(self, name, args, expr, cses=cses)


def _numpycode(self: TensorExpr, printer: CodePrinter, *args: object) -> str:
    return _stock_code(self, printer)


def _refusal(backend: str) -> Callable[..., str]:
    """Return a hook that refuses the printer of a library other than NumPy, but for scalars of
    constants and ordinary symbols, such as ``nsolve`` has."""

    def hook(self: TensorExpr, printer: CodePrinter, *args: object, **options: object) -> str:
        if not self.shape and not any(isinstance(own, TensorSymbol) for own in self.free_symbols):
            formula = _written_out(self)
            if formula is not None:
                return _bracketed(printer, formula)
        raise UnsupportedError(
            "sympy.lambdify has NumPy's code of tensors only; use sympy_einsum.lambdify(args, expr"
            + (f", {backend!r})" if backend else ")")
        )

    return hook


# SymPy prints the indices of these as they are, and they count from 1.
_FROM_1 = ("Fortran", "Julia", "Octave", "R")


def _other_language(self: TensorExpr, printer: Any, *args: object, **options: object) -> str:
    """Print a scalar as ``as_explicit`` has it, if its entries can be written out."""
    entry = None if self.shape else _written_out(self)
    if entry is None:
        raise UnsupportedError(
            f"SymPy's code of tensors is Python; for {printer.language} print single entries, or "
            "those of as_explicit(), with numbers for lengths; sympy_einsum.codegen(args, expr, "
            "language='c') writes whole functions of C, 'fortran' and 'julia' of these"
        )
    first = int(printer.language in _FROM_1)
    return _bracketed(
        printer,
        entry.replace(
            lambda own: isinstance(own, Indexed),
            lambda own: own.base[tuple([place + first for place in own.indices])],
        ),
    )


def _written_out(scalar: TensorExpr) -> Expr | None:
    """Return a formula of entries at positions that are numbers; None if there is none."""
    try:
        found = _indexed(scalar).doit()
    except UnsupportedError:
        return None
    entries = [own for own in found.atoms(MatrixElement) if isinstance(own.parent, MatrixSymbol)]
    places = [own.args[1:] for own in entries] + [own.indices for own in found.atoms(Indexed)]
    is_known = all(place.is_Integer for at in places for place in at)
    others = found.xreplace(dict.fromkeys(entries, S.One))
    return found if is_known and not others.has(ExprWithLimits, MatrixExpr, TensorExpr) else None


def _bracketed(printer: Any, formula: Expr) -> str:
    """Print what stands for an atom."""
    # Printers count how deep they are.
    level = PRECEDENCE["Func"] if printer._print_level > 1 else 0
    text: str = printer.parenthesize(formula, level)
    return text


def _definition(self: WholeFunction, printer: Any, *args: object, **options: object) -> str:
    """Print a function that other languages lack by its definition."""
    definition = self.row.definition
    if definition is None:
        raise UnsupportedError(
            f"SymPy has no code of {self.func.__name__} for {printer.language}; "
            "sympy_einsum.codegen(args, expr, language='c') may have"
        )
    return _bracketed(printer, definition(*self.args))


TensorExpr._numpycode = _numpycode
TensorExpr._pythoncode = _numpycode
for _library in ("jax", "cupy", "torch"):
    setattr(TensorExpr, f"_{_library}code", _refusal(_library))
TensorExpr._mpmathcode = TensorExpr._tensorflowcode = _refusal("")
for _hook in (
    "_ccode",
    "_cxxcode",
    "_fcode",
    "_rcode",
    "_rust_code",
    "_glsl",
    "_javascript",
    "_julia",
    "_octave",
):
    setattr(TensorExpr, _hook, _other_language)
    setattr(WholeFunction, _hook, _definition)
