"""Register reuse: names of variables whose values are dead are used again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...core import Shape


class Step(NamedTuple):
    """A variable, its value and its shape; without a variable for a statement. ``number`` is that
    of the instruction."""

    target: str
    text: str
    shape: Shape | None = None
    number: int = 0


def with_fewer_names(
    steps: Sequence[Step], results: Sequence[str], count: int = 0
) -> tuple[list[Step], list[str]]:
    """Reuse the names of dead arrays, so that these don't take up memory until the function
    returns. ``count`` names are taken already."""
    last: dict[str, int] = {}
    mentioned = [_NAME.findall(step.text) for step in steps]
    for number, step in enumerate(steps):
        last[step.target] = number
        last.update(dict.fromkeys(mentioned[number], number))
    last.update((name, len(steps)) for text in results for name in _NAME.findall(text))
    orders = {target: len(shape) for target, _, shape, _ in steps if shape}
    image: dict[str, str] = {}
    free = _FreeNames()

    def renamed(text: str) -> str:
        return _NAME.sub(lambda found: image.get(found[0], found[0]), text)

    shorter: list[Step] = []
    for number, (target, text, shape, _) in enumerate(steps):
        text = renamed(text)
        dying = {name for name in mentioned[number] if name in orders and last[name] == number}
        for name in sorted(dying):
            free.add(image[name], orders[name])
        if target:
            over = _OUT.search(text) if "out=" in text or text.endswith(")") else None
            name = free.taken(over[1] if over else "", bool(shape)) or f"t{count + 1}"
            count += name == f"t{count + 1}"
            image[target] = name
            target = name
        shorter.append(Step(target, text, shape))
    return shorter, [renamed(text) for text in results]


class _FreeNames:
    """Names that nothing needs, by the orders of the arrays that they still hold."""

    def __init__(self) -> None:
        self._orders: dict[str, int] = {}
        # Of each order the last one last.
        self._names: dict[int, dict[str, None]] = {}

    def add(self, name: str, order: int) -> None:
        """Add a name that isn't there."""
        self._orders[name] = order
        self._names.setdefault(order, {})[name] = None

    def taken(self, wanted: str, or_another: bool) -> str:
        """Take a name away, or another one if that isn't there; none is an empty string."""
        if wanted not in self._orders:
            # The largest array is the first to go.
            largest = max(self._names, default=None) if or_another else None
            wanted = "" if largest is None else next(reversed(self._names[largest]))
        order = self._orders.pop(wanted, None)
        if order is not None:
            del self._names[order][wanted]
            if not self._names[order]:
                del self._names[order]
        return wanted


_NAME = re.compile(r"\bt\d+\b")
_OUT = re.compile(r"(?:\bout=|^np\.\w+\(.*, (?=t\d+\)$))(t\d+)\b")
