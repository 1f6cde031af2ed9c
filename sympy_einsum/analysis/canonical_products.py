"""Canonical forms of products with many factors, or with many equal ones.

Products of expressions are canonical up to a number of equal operands that pairings of Gaussian
variables soon exceed: the trace of (QS)^4 for symmetric Q and S arises in 48 orders. They are
written without brackets up to a number of operands that a chain of matrices soon exceeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr

from ..core import sort_key, tuning
from ..expressions import Operand, TensorExpr, TensorSymbol, shape_of
from .properties import is_symmetric

Labels = tuple[int, ...]
# An operand with a label for each of its axes.
Labelled = tuple[Operand, Labels]
# What is left of a part: the numbers of its labels so far, its factors, and those next to numbered
# ones.
State = tuple[dict[int, int], frozenset[int], frozenset[int]]
# The operands of a connected part in canonical order, with numbers for labels.
Code = tuple[tuple[Labels, Operand], ...]


def canonical_product(factors: Sequence[Labelled], output: Labels) -> tuple[Code, ...]:
    """Return the connected parts of a product in a form that is the same for all products that are
    equal up to the names of summed labels, the order of the factors, and their symmetries. Labels
    of the ``output`` are numbered first.

    >>> import sympy_einsum as se
    >>> Q = se.TensorSymbol("Q", 3, 3, symmetric=True)
    >>> A = se.TensorSymbol("A", 3, 3)
    >>> one = canonical_product([(Q, (7, 8)), (A, (8, 9))], (7, 9))
    >>> one == canonical_product([(A, (5, 9)), (Q, (5, 7))], (7, 9))
    True
    """
    numbers = {label: k for k, label in enumerate(dict.fromkeys(output))}
    ranks = {
        operand: rank for rank, operand in enumerate(sorted({o for o, _ in factors}, key=sort_key))
    }
    codes = [_code(part, numbers, ranks) for part in _connected(factors, numbers)]
    return tuple(sorted(codes, key=lambda code: [(labels, ranks[o]) for labels, o in code]))


def with_labels(
    codes: Sequence[Code], output: Labels, new_label: Callable[[Expr], int]
) -> list[Labelled]:
    """Return the factors of a canonical product with labels again, new ones for given lengths."""
    outer = tuple(dict.fromkeys(output))
    factors = []
    for code in codes:
        label_of = dict(enumerate(outer))
        for labels, operand in code:
            for number, length in zip(labels, shape_of(operand), strict=True):
                if number not in label_of:
                    label_of[number] = new_label(length)
            factors.append((operand, tuple([label_of[number] for number in labels])))
    return factors


def _connected(factors: Sequence[Labelled], outer: dict[int, int]) -> list[list[Labelled]]:
    """Split a product into the parts that share no summed labels."""
    parts: list[tuple[set[int], list[Labelled]]] = []
    for factor in factors:
        inner = {label for label in factor[1] if label not in outer}
        joined: list[Labelled] = [factor]
        separate = []
        for labels, own in parts:
            if labels.isdisjoint(inner):
                separate.append((labels, own))
            else:
                inner |= labels
                joined = own + joined
        parts = [*separate, (inner, joined)]
    return [own for _, own in parts]


def _code(part: list[Labelled], outer: dict[int, int], ranks: dict[Operand, int]) -> Code:
    """Return the least code of a connected part: operands one after the other, each next to those
    before, with its labels numbered as they come."""
    if len(part) == 1 and len(part[0][1]) < 2:
        ((operand, labels),) = part
        return ((tuple([outer.get(label, len(outer)) for label in labels]), operand),)
    holders: dict[int, set[int]] = {}
    for k, (_, labels) in enumerate(part):
        for label in labels:
            if label not in outer:
                holders.setdefault(label, set()).add(k)
    code: list[tuple[Labels, Operand]] = []
    states: list[State] = [(outer, frozenset(range(len(part))), frozenset())]
    while states[0][1]:
        best: tuple[Labels, int] | None = None
        following: dict[object, State] = {}
        chosen: Operand = None
        for numbers, left, reached in states:
            for k in sorted(reached or left):
                operand, labels = part[k]
                for axes in _symmetries(operand):
                    extended = numbers
                    own = []
                    for axis in axes:
                        label = labels[axis]
                        if label not in extended:
                            extended = {**extended, label: len(extended)}
                        own.append(extended[label])
                    entry = (tuple(own), ranks[operand])
                    if best is None or entry < best:
                        best, chosen = entry, operand
                        following = {}
                    if entry == best and len(following) < tuning.MAX_CODE_STATES:
                        rest = left - {k}
                        near = reached.union(*[holders.get(i, ()) for i in labels]) & rest
                        following[tuple(extended), rest] = (extended, rest, near)
        assert best is not None
        code.append((best[0], chosen))
        states = list(following.values())
    return tuple(code)


def _symmetries(operand: Operand) -> Sequence[Labels]:
    """Return the orders of axes that leave an operand what it is."""
    order = operand.order if isinstance(operand, TensorExpr) else 0
    if order == 2 and is_symmetric(operand):
        return ((0, 1), (1, 0))
    if isinstance(operand, TensorSymbol) and operand.generators:
        return operand.permutations
    return (tuple(range(order)),)
