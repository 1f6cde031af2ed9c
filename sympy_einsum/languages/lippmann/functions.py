"""List functions by name, as functions of values with known axes."""

from __future__ import annotations

from collections.abc import Callable

from ...core import Row, for_each_row
from ...expressions import Operand, adj, det, inv, logdet
from ...operations import FUNCTIONS
from ..numbers import bounded_function

# The thesis' names of functions (table 4.1), where they differ from SymPy's.
_OWN_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "abs": "Abs"}
ELEMENTWISE: dict[str, Callable[[Operand], Operand]] = {}
# Functions of a square matrix, by name.
SPECIAL: dict[str, Callable[[Operand], Operand]] = {
    "inv": inv,
    "det": det,
    "adj": adj,
    "logdet": logdet,
}
# Functions with a scalar result.
OF_ORDER_0 = {"det", "logdet"}
DELTA = "delta"


@for_each_row
def _add_names(row: Row) -> None:
    """Add each scalar function of one argument under its name."""
    if row.name and row.arity == 1:
        names = [own for own, name in _OWN_NAMES.items() if name == row.name] or [row.name]
        for name in names:
            ELEMENTWISE[name] = bounded_function(name, FUNCTIONS[row.name])
