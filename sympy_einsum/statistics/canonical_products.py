"""Canonical forms of products, so that pairings that give equal terms are counted instead of added.

Products of expressions are canonical up to a number of equal operands that pairings soon exceed:
the trace of (QS)^4 for symmetric Q and S arises in 48 orders.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core import sort_key, tuning
from ..expressions import Operand, TensorExpr, TensorSymbol, shape_of
from .monomials import Labelled, Labels, Monomials

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


def with_labels(codes: Sequence[Code], output: Labels, monomials: Monomials) -> list[Labelled]:
    """Return the factors of a canonical product with labels again."""
    outer = tuple(dict.fromkeys(output))
    factors = []
    for code in codes:
        label_of = dict(enumerate(outer))
        for labels, operand in code:
            for number, length in zip(labels, shape_of(operand), strict=True):
                if number not in label_of:
                    (label_of[number],) = monomials.new_labels([length])
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
    code: list[tuple[Labels, Operand]] = []
    states: list[tuple[dict[int, int], tuple[int, ...]]] = [(outer, tuple(range(len(part))))]
    while states[0][1]:
        best: tuple[Labels, int] | None = None
        following: dict[object, tuple[dict[int, int], tuple[int, ...]]] = {}
        chosen: Operand = None
        for numbers, left in states:
            inner = [k for k in left if any(i in numbers and i not in outer for i in part[k][1])]
            for k in inner or left:
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
                        rest = tuple([other for other in left if other != k])
                        following[frozenset(extended.items()), rest] = (extended, rest)
        assert best is not None
        code.append((best[0], chosen))
        states = list(following.values())
    return tuple(code)


def _symmetries(operand: Operand) -> Sequence[Labels]:
    """Return the orders of axes that leave an operand what it is."""
    order = operand.order if isinstance(operand, TensorExpr) else 0
    if order == 2 and operand.is_symmetric:
        return ((0, 1), (1, 0))
    if isinstance(operand, TensorSymbol) and operand.generators:
        return operand.permutations
    return (tuple(range(order)),)
