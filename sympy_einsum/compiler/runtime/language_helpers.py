"""The helper functions of other languages: the texts of ``c_helpers.c`` and its like, in parts.

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
def helper_parts(file: str) -> dict[str, HelperPart]:
    """Return the parts of a file by their names, each after those that it needs."""
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    found: dict[str, HelperPart] = {}
    for part in text.removeprefix(MARK).split(f"\n{MARK}"):
        head, _, own = part.partition("\n")
        name, _, needs = head.partition(":")
        found[name] = HelperPart(own.strip("\n"), needs.split())
    return found


def needed_parts(file: str, names: Iterable[str]) -> dict[str, HelperPart]:
    """Return some parts of a file, and those that they need, in order."""
    parts, needed = helper_parts(file), {*names}
    for name in reversed(parts):
        if name in needed:
            needed.update(parts[name].needs)
    return {name: part for name, part in parts.items() if name in needed}
