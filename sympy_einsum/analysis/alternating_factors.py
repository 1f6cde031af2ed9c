"""The factors of a product that are multiplied by an antisymmetric tensor, axis by axis."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..core import Indices


def sides_of(
    subscripts: Sequence[Indices], output: Collection[int], place: int
) -> dict[int, list[int] | None]:
    """Return by label of one factor the places of the factors with which it is contracted there:
    those that have the label, and what is summed with them alone. None if one of them has another
    label of the factor too.

    >>> sides_of([(0, 1, 2), (1,), (3, 2), (3,)], {0}, 0)
    {0: [], 1: [1], 2: [2, 3]}
    """
    others = [k for k in range(len(subscripts)) if k != place]
    found: dict[int, list[int] | None] = {}
    for label in subscripts[place]:
        barred = {i for i in subscripts[place] if i != label}
        direct = [k for k in others if label in subscripts[k]]
        group, reached = [*direct], {i for k in direct for i in subscripts[k]}
        while more := [
            k for k in others if k not in group and reached.difference(output) & {*subscripts[k]}
        ]:
            group += more
            reached.update(*[subscripts[k] for k in more])
        if reached.isdisjoint(barred):
            found[label] = sorted(group)
        else:
            # Labels that lead to the other axes number the cross products of a stack.
            is_apart = all(barred.isdisjoint(subscripts[k]) for k in direct)
            found[label] = direct if is_apart else None
    return found


def joined_labels(
    subscripts: Sequence[Indices], output: Collection[int], group: Collection[int]
) -> list[int]:
    """Return the labels of a group of factors that the result or other factors have too, sorted."""
    beyond = {i for k, own in enumerate(subscripts) if k not in group for i in own}.union(output)
    return sorted({i for k in group for i in subscripts[k]} & beyond)
