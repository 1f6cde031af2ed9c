"""Labels of axes: found equal, numbered, and with operands in a canonical order.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations, product
from math import factorial, prod
from typing import TypeVar

from ..core import Label, Labels, sort_key
from .base import TensorExpr

# Identical operands can trade places; beyond this many orders their given order is kept.
MAX_ORDERS = 24

Item = TypeVar("Item")


def unite(merged: dict[Item, Item], a: Item, b: Item) -> None:
    """Note that two labels stand for one axis."""
    a, b = representative(merged, a), representative(merged, b)
    if a != b:
        merged[b] = a


def representative(merged: dict[Item, Item], label: Item) -> Item:
    """What a label is called once those of one axis are one."""
    while label in merged:
        label = merged[label]
    return label


def numbered(subs: Iterable[Labels]) -> dict[Label, int]:
    """Labels numbered by first appearance."""
    number: dict[Label, int] = {}
    for labels in subs:
        for label in labels:
            number.setdefault(label, len(number))
    return number


def sorted_operands(
    tensors: list[TensorExpr], subs: list[Labels], output: Labels
) -> tuple[list[TensorExpr], list[Labels]]:
    """Operands in canonical order; identical ones are tried in every order [W, lemma 5.1]."""
    order = sorted(range(len(tensors)), key=lambda k: sort_key(tensors[k]))
    tensors = [tensors[k] for k in order]
    subs = [subs[k] for k in order]
    if len(set(tensors)) == len(tensors):
        return tensors, subs
    groups: list[list[int]] = []
    for k, tensor in enumerate(tensors):
        if groups and tensors[groups[-1][0]] is tensor:
            groups[-1].append(k)
        else:
            groups.append([k])
    if prod(factorial(len(group)) for group in groups) > MAX_ORDERS:
        return tensors, subs

    def code(candidate: list[Labels]) -> list[list[int]]:
        number = numbered([*candidate, output])
        return [[number[label] for label in labels] for labels in [*candidate, output]]

    choices = product(*[permutations(group) for group in groups])
    candidates = ([subs[k] for group in choice for k in group] for choice in choices)
    return tensors, min(candidates, key=code)
