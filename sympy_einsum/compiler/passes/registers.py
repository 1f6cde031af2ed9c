"""Register reuse: names of variables whose values are dead are used again."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...core import Shape
from ..ir.code import Code, names_in

# A statement that needs no other names than it has.
UNCHANGED: Mapping[str, str] = {}


class Assignment(NamedTuple):
    """A variable, its value and its shape; without a variable for a statement. ``mentioned`` are
    the names in the code, ``ignored`` the kind of errors of numbers that is ignored in it,
    ``number`` is that of the instruction, ``over`` the variable whose array the value is written
    over, and ``names`` are those that variables have in place of their own."""

    target: str
    code: ast.AST
    mentioned: Sequence[str]
    ignored: str = ""
    shape: Shape | None = None
    number: int = 0
    over: str = ""
    names: Mapping[str, str] = UNCHANGED


def with_fewer_names(
    steps: Sequence[Assignment], results: Sequence[Code], count: int = 0
) -> tuple[list[Assignment], Mapping[str, str]]:
    """Reuse the names of dead arrays, so that these don't take up memory until the function
    returns; returns the names that variables have in the results too. ``count`` names are taken
    already."""
    targets = {step.target for step in steps if step.target}
    last: dict[str, int] = {}
    mentioned = [targets.intersection(step.mentioned) for step in steps]
    for number, step in enumerate(steps):
        last[step.target] = number
        last.update(dict.fromkeys(mentioned[number], number))
    last.update((name, len(steps)) for code in results for name in names_in(code))
    orders = {step.target: len(step.shape) for step in steps if step.shape}
    image: dict[str, str] = {}
    free = _FreeNames()
    shorter: list[Assignment] = []
    for number, step in enumerate(steps):
        names = {name: image[name] for name in mentioned[number]}
        dying = {name for name in mentioned[number] if name in orders and last[name] == number}
        for name in sorted(dying):
            free.add(image[name], orders[name])
        target = step.target
        if target:
            name = free.taken(names.get(step.over, ""), bool(step.shape)) or f"t{count + 1}"
            count += name == f"t{count + 1}"
            image[target] = target = name
        _, code, own, ignored, shape, instruction, *_ = step
        shorter.append(Assignment(target, code, own, ignored, shape, instruction, "", names))
    return shorter, image


class _FreeNames:
    """Names that nothing needs, by the orders of the arrays that they still hold."""

    def __init__(self) -> None:
        self._orders: dict[str, int] = {}
        # For each order the one that was freed last comes last.
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
