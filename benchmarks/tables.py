"""Format Markdown tables and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Format a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(shown, row)) + " |" for row in rows]
    return "\n".join(lines)


def shown(value: Any) -> str:
    """Format a cell: numbers have three digits and no exponent."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 999.5 else f"{float(f'{value:.3g}'):,.0f}"
