"""The base class of scalar functions that SymPy lacks. They aren't expanded into a formula that
overflows, cancels or divides zero by zero.

A class defines special values and printing; the rest is in its row of the table.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from sympy import Expr, Function, S, exp
from sympy.core.function import ArgumentIndexError
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE, precedence

from .errors import UnsupportedError
from .rows import Row, code_of, fill_template, row_of

_MODULES = {"np": "numpy", "special": "scipy.special", "math": "math"}
_NAME = re.compile(r"\b(np|special|math)\.(\w+)")


class WholeFunction(Function):
    """A scalar function that isn't expanded, so that its code doesn't overflow or cancel.

    Attributes
    ==========

    at_zero : its value at 0, if it has one argument and a value there
    formula : its LaTeX with the arguments as {0}, {1} …, and {power} where an exponent may stand;
        by default its name before the arguments
    """

    at_zero: Expr | None = None
    formula: ClassVar[str] = ""

    @classmethod
    def eval(cls, *args: Any, **options: Any) -> Expr | None:
        """Return the value at special arguments, None to stay unevaluated."""
        return cls.at_zero if len(args) == 1 and args[0].is_zero else None

    @property
    def row(self) -> Row:
        """The row of this function; an empty one if it has none."""
        return row_of(type(self)) or Row(type(self))

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return the derivative by one argument, by SymPy's protocol."""
        partials = self.row.derivative(*self.args) if self.row.derivative else ()
        partial = (None, *partials)[argindex] if 0 < argindex <= len(partials) else None
        if partial is None:
            raise ArgumentIndexError(self, argindex)
        return partial

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        if not self.formula:
            return str(printer._print_Function(self, exp))
        power = "" if exp is None else f"^{{{exp}}}"
        text = self.formula.format(*map(printer._print, self.args), power=power)
        return text if not power or "{power}" in self.formula else rf"\left({text}\right){power}"

    def _eval_evalf(self, prec: int) -> Expr | None:
        value = self.rewrite(exp)._eval_evalf(prec)
        # SymPy's functions fail on nan.
        return None if value is S.NaN else value

    def _eval_rewrite_as_exp(self, *args: Expr, **kwargs: object) -> Expr | None:
        return self.row.definition(*args) if self.row.definition else None

    def _eval_is_extended_real(self) -> bool | None:
        return True if all(arg.is_extended_real for arg in self.args) else None

    def _code(self, printer: CodePrinter, code: str | None) -> str:
        """Return code in a stock printer's names; that of the definition if there is no
        template."""
        if code is None and self.row.definition is not None:
            return f"({printer._print(self.rewrite(exp))})"
        if code is None:
            return str(printer._print_Function(self))

        def name(found: re.Match[str]) -> str:
            return str(printer._module_format(f"{_MODULES[found[1]]}.{found[2]}"))

        texts = [printer._print(arg) for arg in self.args]
        are_atomic = [precedence(arg) >= PRECEDENCE["Func"] for arg in self.args]
        return f"({fill_template(_NAME.sub(name, code), texts, are_atomic)})"

    def _numpycode(self, printer: CodePrinter, *args: object) -> str:
        return self._code(printer, code_of(self))

    def _mpmathcode(self, printer: CodePrinter, *args: object) -> str:
        return self._code(printer, None)

    def _pythoncode(self, printer: CodePrinter, *args: object) -> str:
        return self._code(printer, code_of(self, "math") if "math" in self.row.on else None)


def check_order(function: type[WholeFunction], order: Expr, least: int = 0) -> None:
    """Refuse code of a function whose order isn't a literal integer from ``least`` on.

    >>> from sympy import Symbol
    >>> check_order(WholeFunction, Symbol("k"))
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: the order of WholeFunction must be an integer from 0 on
    """
    if not (order.is_Integer and order >= least):
        # Don't print the order: that of a tensor is a slot here.
        raise UnsupportedError(
            f"the order of {function.__name__} must be an integer from {least} on"
        )
