"""The table of functions: for each name the function on values with known axes."""

from __future__ import annotations

from collections.abc import Callable

from ...core import Row, for_each_row
from ...expressions import Operand, adj, det, inv, logdet
from ...operations import FUNCTIONS
from ..numbers import bounded_function

# Table 4.1 of the thesis, as it spells what SymPy spells otherwise.
_OWN_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "abs": "Abs"}
ELEMENTWISE: dict[str, Callable[[Operand], Operand]] = {}
# Functions of a square matrix, by name: what they give for one, and how.
SPECIAL: dict[str, Callable[[Operand], Operand]] = {
    "inv": inv,
    "det": det,
    "adj": adj,
    "logdet": logdet,
}
# Functions that give a scalar.
OF_ORDER_0 = {"det", "logdet"}
DELTA = "delta"


@for_each_row
def _add_names(row: Row) -> None:
    """Every function of one argument has its name here too."""
    if row.name and row.arity == 1:
        names = [own for own, name in _OWN_NAMES.items() if name == row.name] or [row.name]
        for name in names:
            ELEMENTWISE[name] = bounded_function(name, FUNCTIONS[row.name])
