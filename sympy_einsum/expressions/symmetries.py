"""Symmetries: permutations of axes under which a tensor is invariant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..core import (
    DeferredModule,
    Shape,
    ShapeError,
    TensorError,
    same_length,
    same_name_hint,
    tuning,
)

combinatorics = DeferredModule("sympy.combinatorics")

# A permutation of axes, as transpose takes it.
Axes = tuple[int, ...]


@lru_cache(maxsize=256)
def permutations_of(generators: tuple[Axes, ...], order: int) -> tuple[Axes, ...]:
    """Return all permutations of the group that some generate, sorted, the identity first.

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
    return tuple(sorted([tuple(element.array_form) for element in group.elements]))


def generators_of(value: object, name: str, shape: Shape) -> tuple[Axes, ...]:
    """Convert the argument ``symmetric=`` of a tensor to generators, equal ones for equal groups.

    True means all permutations; otherwise it is a list of permutations.
    """
    order = len(shape)
    if value is True:
        swaps = [[*range(k), k + 1, k, *range(k + 2, order)] for k in range(order - 1)]
    elif isinstance(value, (list, tuple)):
        swaps = [_axes(item, name, order) for item in value]
    else:
        raise TensorError(
            f"symmetric= of tensor {name!r} is True or a list of permutations of its axes, not "
            f"{value!r}"
        )
    for swap in swaps:
        for axis, other in enumerate(swap):
            if not same_length(shape[axis], shape[other]):
                raise ShapeError(
                    f"axes {axis} and {other} of symmetric tensor {name!r} are exchanged, but "
                    f"have lengths {shape[axis]} and {shape[other]}"
                    + same_name_hint(shape[axis], shape[other])
                )
    found: list[Axes] = []
    group = permutations_of(tuple([tuple(swap) for swap in swaps]), order)
    generated: tuple[Axes, ...] = permutations_of((), order)
    for axes in group:
        if axes not in generated:
            found.append(axes)
            generated = permutations_of(tuple(found), order)
    return tuple(found)


def _axes(value: object, name: str, order: int) -> list[int]:
    """Convert a permutation to a list of axes; TensorError if it isn't one."""
    if isinstance(value, combinatorics.Permutation):
        value = [*value.array_form, *range(value.size, order)]
    if isinstance(value, Sequence) and sorted(map(str, value)) == sorted(map(str, range(order))):
        return [int(axis) for axis in value]
    raise TensorError(
        f"symmetric= of tensor {name!r} of order {order} takes permutations of its axes "
        f"{tuple(range(order))}, not {value!r}"
    )
