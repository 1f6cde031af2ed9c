"""What ``sympy.lambdify`` and ``sympy.pycode`` find on our nodes; the compiler loads then."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Basic, Expr, Symbol
from sympy.printing.codeprinter import CodePrinter
from sympy.utilities.lambdify import _EvaluatorPrinter

from ..core import deferred
from ..expressions import TensorExpr

_prepared = deferred("compiler", "prepared")
_stock_code = deferred("compiler", "stock_code")
_stock_write_function = _EvaluatorPrinter.doprint


def _write_function(
    self: _EvaluatorPrinter,
    name: str,
    args: Sequence[Basic],
    expr: Basic,
    *,
    cses: Sequence[tuple[Symbol, Expr]] = (),
) -> str:
    printer = getattr(self._exprrepr, "__self__", None)
    if printer is not None:
        expr, cses = _prepared(printer, args, expr, cses)
    return _stock_write_function(self, name, args, expr, cses=cses)


def _numpycode(self: TensorExpr, printer: CodePrinter, *args: object) -> str:
    return _stock_code(self, printer)


TensorExpr._numpycode = _numpycode
TensorExpr._pythoncode = _numpycode
_EvaluatorPrinter.doprint = _write_function
