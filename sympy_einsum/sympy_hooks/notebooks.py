"""Lists of expressions as formulas in notebooks, and compiled functions by their arguments."""

from __future__ import annotations

import sys
from types import MethodType
from typing import Any

from sympy import Basic

from ..core import deferred, tuning
from ..expressions import TensorExpr

CONTAINERS = (list, tuple, dict)

_latex = deferred("printing", "latex")


def formula_of(values: object) -> str | None:
    r"""Return the LaTeX of a container of expressions, nested too; None where anything else is in
    it, or no tensor, so that Jupyter shows its text.

    >>> from sympy_einsum import tensors
    >>> x, y = tensors("x y", 3)
    >>> print(formula_of([x - y, 2]))
    $\displaystyle \left[ x - y, \  2\right]$
    >>> formula_of([x, "text"])
    """
    found = _leaves(values)
    is_formula = all(isinstance(leaf, (Basic, int, float)) for leaf in found)
    has_tensor = any(isinstance(leaf, TensorExpr) for leaf in found)
    if not is_formula or not has_tensor or len(found) > tuning.MAX_SHOWN_FORMULAS:
        return None
    return rf"$\displaystyle {_latex(values)}$"


def _leaves(values: object) -> list[object]:
    if isinstance(values, dict):
        values = [*values, *values.values()]
    if not isinstance(values, CONTAINERS):
        return [values]
    found: list[object] = []
    for value in values:
        found += _leaves(value)
        if len(found) > tuning.MAX_SHOWN_FORMULAS:
            break
    return found


def _print_method(method: MethodType, printer: Any, is_cycle: bool) -> None:
    """Print a compiled function, a method of what knows its arguments."""
    printer.text(repr(method.__self__ if hasattr(method, "cost") else method))


def attach(shell: Any) -> None:
    """Show containers of expressions in an IPython shell as formulas, unless something else, such
    as SymPy's ``init_printing``, does so already; and compiled functions by their arguments."""
    formatters = shell.display_formatter.formatters
    formatters["text/plain"].for_type(MethodType, _print_method)
    for kind in CONTAINERS:
        if kind not in formatters["text/latex"]:
            formatters["text/latex"].for_type(kind, formula_of)


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    attach(_shell)
