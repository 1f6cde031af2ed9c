"""Hooks of ``sympy.lambdify``, ``sympy.pycode`` and SymPy's printers of other languages on our
nodes; they load the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import Basic, Expr, Indexed, Symbol
from sympy.printing.codeprinter import CodePrinter

from ..core import UnsupportedError, deferred
from ..expressions import TensorExpr

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
    """Return a hook that refuses the printer of a library other than NumPy."""

    def hook(self: TensorExpr, printer: CodePrinter, *args: object, **options: object) -> str:
        raise UnsupportedError(
            "sympy.lambdify has NumPy's code of tensors only; use sympy_einsum.lambdify(args, expr"
            + (f", {backend!r})" if backend else ")")
        )

    return hook


# SymPy prints the indices of these as they are, and they count from 1.
_FROM_1 = ("Fortran", "Julia", "Octave", "R")


def _other_language(self: TensorExpr, printer: Any, *args: object, **options: object) -> str:
    """Print single entries of symbols, as ``as_explicit`` has them; refuse tensors."""
    entry = self if self.shape else _indexed(self)
    if isinstance(entry, Indexed) and all(own.is_Integer for own in entry.indices):
        first = int(printer.language in _FROM_1)
        text: str = printer._print(entry.base[tuple([own + first for own in entry.indices])])
        return text
    raise UnsupportedError(
        f"SymPy's code of tensors is Python; for {printer.language} print single entries, "
        "to_indexed(expr[0, 0]).doit() or those of as_explicit(), with numbers for lengths; "
        "sympy_einsum.codegen(args, expr, language='c') writes whole functions of C"
    )


TensorExpr._numpycode = _numpycode
TensorExpr._pythoncode = _numpycode
for _library in ("jax", "cupy", "torch"):
    setattr(TensorExpr, f"_{_library}code", _refusal(_library))
TensorExpr._mpmathcode = TensorExpr._tensorflowcode = _refusal("")
for _language in ("c", "cxx", "f", "r", "rust_"):
    setattr(TensorExpr, f"_{_language}code", _other_language)
for _language in ("glsl", "javascript", "julia", "octave"):
    setattr(TensorExpr, f"_{_language}", _other_language)
