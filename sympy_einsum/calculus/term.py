"""Terms of derivatives of a node by its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..expressions import Operand


class Term(NamedTuple):
    """One summand of the derivative of a node by an operand: an einsum of factors with the
    node's axes (``upper``) and the operand's axes (``lower``). Labels are non-negative integers.
    """

    operand: int
    factors: tuple[Operand, ...]
    subscripts: tuple[Sequence[int], ...]
    upper: Sequence[int]
    lower: Sequence[int]
