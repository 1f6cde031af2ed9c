"""Symmetries: the permutations of axes that leave a tensor unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..core import DeferredModule, Shape, ShapeError, TensorError, same_length, tuning

combinatorics = DeferredModule("sympy.combinatorics")

# A permutation of axes, as transpose takes it.
Axes = tuple[int, ...]


@lru_cache(maxsize=256)
def permutations_of(generators: tuple[Axes, ...], order: int) -> tuple[Axes, ...]:
    """All permutations that some generate, in order, the identity first.

    >>> permutations_of(((1, 0, 2), (0, 2, 1)), 3)[:3]
    ((0, 1, 2), (0, 2, 1), (1, 0, 2))
    """
    permutations = [combinatorics.Permutation([*own]) for own in (*generators, range(order))]
    group = combinatorics.PermutationGroup(*permutations)
    if group.order() > tuning.MAX_PERMUTATIONS:
        raise TensorError(
            f"symmetric= gives {group.order()} equal permutations of {order} axes; at most "
            f"{tuning.MAX_PERMUTATIONS} are supported"
        )
    return tuple(sorted([tuple(own.array_form) for own in group.elements]))


def generators_of(given: object, name: str, shape: Shape) -> tuple[Axes, ...]:
    """Convert the argument ``symmetric=`` of a tensor to generators, equal ones for equal groups.

    True is for all permutations; otherwise a list of them.
    """
    order = len(shape)
    if given is True:
        swaps = [[*range(k), k + 1, k, *range(k + 2, order)] for k in range(order - 1)]
    elif isinstance(given, (list, tuple)):
        swaps = [_axes(own, name, order) for own in given]
    else:
        raise TensorError(
            f"symmetric= of tensor {name!r} is True or a list of permutations of its axes, not "
            f"{given!r}"
        )
    for swap in swaps:
        for axis, other in enumerate(swap):
            if not same_length(shape[axis], shape[other]):
                raise ShapeError(
                    f"axes {axis} and {other} of symmetric tensor {name!r} are exchanged, but "
                    f"have lengths {shape[axis]} and {shape[other]}"
                )
    found: list[Axes] = []
    everything = permutations_of(tuple([tuple(own) for own in swaps]), order)
    known: tuple[Axes, ...] = permutations_of((), order)
    for own in everything:
        if own not in known:
            found.append(own)
            known = permutations_of(tuple(found), order)
    return tuple(found)


def _axes(given: object, name: str, order: int) -> list[int]:
    """A permutation as a list of axes."""
    if isinstance(given, combinatorics.Permutation):
        given = [*given.array_form, *range(given.size, order)]
    if isinstance(given, Sequence) and sorted(map(str, given)) == sorted(map(str, range(order))):
        return [int(axis) for axis in given]
    raise TensorError(
        f"symmetric= of tensor {name!r} of order {order} takes permutations of its axes "
        f"{tuple(range(order))}, not {given!r}"
    )
