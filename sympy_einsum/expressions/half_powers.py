"""Square roots of scalar products, which printers may show as norms."""

from __future__ import annotations

from sympy import Expr, Pow
from sympy.printing.printer import Printer

from .products import Einsum


class HalfPower(Pow):
    """An odd power of the square root of a scalar product. Only printers distinguish it from a
    SymPy power: they show it as a power of a norm where it is one."""

    __slots__ = ()

    @property
    def func(self) -> type[Pow]:
        """The class that rebuilds it from its arguments."""
        return Pow

    def __reduce_ex__(self, protocol: object) -> tuple[type[Pow], tuple[Expr, ...]]:
        return Pow, self.args

    def _sympyrepr(self, printer: Printer, *args: object) -> str:
        return f"Pow({', '.join(printer._print(arg) for arg in self.args)})"


def as_half_power(power: Expr) -> Expr:
    """Convert a power built by SymPy's constructor to a HalfPower if it is one."""
    if not is_half_power(power) or isinstance(power, HalfPower):
        return power
    return Expr.__new__(HalfPower, *power.args)


def is_half_power(expr: Expr) -> bool:
    """Tell whether an expression is an odd power of the square root of a scalar product."""
    if not (expr.is_Pow and expr.exp.is_Rational and expr.exp.q == 2):
        return False
    return isinstance(expr.base, Einsum) and not expr.base.order
