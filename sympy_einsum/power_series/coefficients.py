"""Power series whose coefficients are tensors, and their arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from sympy import Expr, S

from ..core import Labels, Lengths
from ..expressions import Operand, Zeros, contract, scale, shape_of, total_of


class PowerSeries(NamedTuple):
    """A sum of coefficients times powers of a variable.

    Attributes
    ==========

    terms : the coefficient of each power, none of them zero
    order : the least power from which on coefficients are unknown; None if there are no others
    """

    terms: dict[int, Operand]
    order: int | None = None

    @property
    def low(self) -> int:
        """The least power that may occur."""
        return min(self.terms) if self.terms else (0 if self.order is None else self.order)

    def shifted(self, power: int) -> PowerSeries:
        """Multiply by a power of the variable."""
        terms = {k + power: value for k, value in self.terms.items()}
        return PowerSeries(terms, None if self.order is None else self.order + power)

    def known(self, k: int) -> bool:
        """Tell whether the coefficient of a power is known."""
        return self.order is None or k < self.order

    def polynomial(self, variable: Expr, like: Operand) -> Operand:
        """Return the terms as an expression of the shape of ``like``."""
        parts = [scale(variable**k, value) for k, value in sorted(self.terms.items())]
        return total_of(parts) if parts else Zeros(*shape_of(like))


def vanishes(value: Operand) -> bool:
    """Tell whether a coefficient is zero as it stands."""
    return isinstance(value, Zeros) or value is S.Zero


def collected(parts: Sequence[tuple[int, Operand]], order: int | None) -> PowerSeries:
    """Add coefficients of powers below the order."""
    groups: dict[int, list[Operand]] = {}
    for power, value in parts:
        if order is None or power < order:
            groups.setdefault(power, []).append(value)
    totals = {power: total_of(values) for power, values in groups.items()}
    return PowerSeries({k: total for k, total in totals.items() if not vanishes(total)}, order)


def added(summands: Sequence[PowerSeries], limit: int) -> PowerSeries:
    """Add power series, to powers below the limit."""
    parts = [part for summand in summands for part in summand.terms.items()]
    return _cut(collected(parts, _least([summand.order for summand in summands])), limit)


def contracted(
    factors: Sequence[PowerSeries],
    subscripts: Sequence[Labels],
    output: Labels,
    lengths: Lengths,
    limit: int,
) -> PowerSeries:
    """Multiply power series as an einsum does, to powers below the limit."""
    lows = [factor.low for factor in factors]
    total = sum(lows)
    orders = [
        None if factor.order is None else factor.order + total - low
        for factor, low in zip(factors, lows, strict=True)
    ]
    order = _least([*orders])
    bound = limit if order is None else min(order, limit)
    parts = []
    for chosen in product(*[sorted(factor.terms.items()) for factor in factors]):
        power = sum(k for k, _ in chosen)
        if power < bound:
            operands = [value for _, value in chosen]
            parts.append((power, contract(operands, subscripts, output, lengths)))
    highest = sum(max(factor.terms, default=0) for factor in factors)
    return collected(parts, bound if order is not None or highest >= limit else None)


def _least(orders: Sequence[int | None]) -> int | None:
    return min([order for order in orders if order is not None], default=None)


def _cut(series: PowerSeries, limit: int) -> PowerSeries:
    """Forget the coefficients of powers from the limit on."""
    if all(power < limit for power in series.terms):
        return series
    return PowerSeries({k: v for k, v in series.terms.items() if k < limit}, limit)
