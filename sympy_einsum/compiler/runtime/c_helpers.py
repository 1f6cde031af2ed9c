"""The helper functions of generated C: the text of ``c_helpers.c``, in parts.

A line ``/// name: others`` begins a part, which needs those others.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

MARK = "/// "


class HelperPart(NamedTuple):
    """The text of a part of the helper functions, and the parts that it needs."""

    text: str
    needs: list[str]


@cache
def helper_parts() -> dict[str, HelperPart]:
    """Return the parts by their names, each after those that it needs."""
    text = files(__package__).joinpath("c_helpers.c").read_text(encoding="utf-8")
    found: dict[str, HelperPart] = {}
    for part in text.removeprefix(MARK).split(f"\n{MARK}"):
        head, _, own = part.partition("\n")
        name, _, needs = head.partition(":")
        found[name] = HelperPart(own.strip("\n"), needs.split())
    return found


def helper_texts(names: Iterable[str]) -> list[str]:
    """Return the texts of some parts, and of those that they need, in order."""
    parts, needed = helper_parts(), {*names}
    for name in reversed(parts):
        if name in needed:
            needed.update(parts[name].needs)
    return [part.text for name, part in parts.items() if name in needed]
