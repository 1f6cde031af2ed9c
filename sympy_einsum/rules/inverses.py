"""Rules for inverses and adjugates among the operands of a product."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sympy import Expr, Mul

from ..analysis import Barriers, Product, factors_of, inlined_product, transposed
from ..expressions import Adj, AdjStack, Delta, Inv, InvStack, Operand, apply_body, det, inv, slot
from .matrices import product_of_matrices, square_factors


def cancel_inverse(node: Operand, barriers: Barriers) -> Operand | None:
    """inv(X)_ab X_bc = δ_ac, where nothing else has the index b; X may be a product itself, or a
    stack of matrices."""
    if not any(isinstance(operand, (Inv, InvStack)) for operand in node.operands):
        return None
    product = inlined_product(node, barriers)
    for k, operand in enumerate(product.operands):
        labels = product.subscripts[k]
        if not isinstance(operand, (Inv, InvStack)) or len(set(labels)) < len(labels):
            continue
        pattern = inlined_product(operand.operands[0])
        (*stack, _, _), sides = labels, labels[-2:]
        for axis in (0, 1) if pattern.operands else ():
            shared, outer = sides[1 - axis], sides[axis]
            ends = pattern.output[-2:]
            # inv(X)_ab X_bc binds X's first axis, X_ca inv(X)_ab its second.
            start = {**dict(zip(pattern.output, stack, strict=False)), ends[axis]: shared}
            for used, found in _matches(pattern, product, start, {k}):
                other = found[ends[1 - axis]]
                inner = {found[i] for i in found if i not in pattern.output} | {shared}
                if other in inner or not product.is_private(inner, {k, *used}):
                    continue
                identity = [(Delta(product.lengths[outer]), (outer, other))]
                return product.replaced({k, *used}, identity, absorbed=inner).build()
        shorter = None if stack else _shortened_inverse(product, k)
        if shorter is not None:
            return shorter.build()
    return None


def _shortened_inverse(product: Product, k: int) -> Product | None:
    """inv(A B) A = inv(B) and B inv(A B) = inv(A), for square A and B."""
    factors = square_factors(product.operands[k].operands[0])
    if factors is None:
        return None
    for axis, factor, rest in ((1, factors[0], factors[1:]), (0, factors[-1], factors[:-1])):
        shared, outer = product.subscripts[k][axis], product.subscripts[k][1 - axis]
        for j, operand in enumerate(product.operands):
            labels = product.subscripts[j]
            if j == k or shared not in labels or not product.is_private({shared}, {j, k}):
                continue
            towards = labels if axis else labels[::-1]
            same = operand is factor and len(labels) == 2 and towards[0] == shared
            is_transposed = (
                len(labels) == 2 and towards[1] == shared and transposed(operand) is factor
            )
            if (same or is_transposed) and labels[0] != labels[1]:
                other = towards[1] if same else towards[0]
                ends = (outer, other) if axis else (other, outer)
                new = [(inv(product_of_matrices(rest)), ends)]
                return product.replaced({j, k}, new, absorbed={shared})
    return None


def _matches(
    pattern: Product, product: Product, found: dict[int, int], used: set[int], position: int = 0
) -> Iterator[tuple[set[int], dict[int, int]]]:
    """Yield the ways to find the operands of a pattern among those of a product: the operands'
    numbers and the labels that the pattern's labels stand for."""
    if position == len(pattern.operands):
        yield used, found
        return
    for k, operand in enumerate(product.operands):
        if k in used or operand is not pattern.operands[position]:
            continue
        extended = dict(found)
        fits = all(
            extended.setdefault(inner, label) == label
            for inner, label in zip(
                pattern.subscripts[position], product.subscripts[k], strict=True
            )
        )
        if fits and len(set(extended.values())) == len(extended):
            yield from _matches(pattern, product, extended, used | {k}, position + 1)


def adj_over_det(node: Operand, barriers: Barriers) -> Operand | None:
    """adj(X) / det(X) = inv(X), where the determinant isn't zero anyway."""
    if not any(isinstance(operand, (Adj, AdjStack)) for operand in factors_of(node)):
        return None
    product = inlined_product(node, barriers)
    for k, operand in enumerate(product.operands):
        if isinstance(operand, AdjStack):
            stacked = _inverses(product, k)
            if stacked is not None:
                return stacked.build()
        for position, scalar in enumerate(product.scalars):
            if not isinstance(operand, Adj):
                continue
            (X,) = operand.operands
            remaining = _times_divisor(scalar, det(X))
            if remaining is not None:
                scalars = list(product.scalars)
                scalars[position] = remaining
                new = [(inv(X), product.subscripts[k])]
                return replace(product, scalars=tuple(scalars)).replaced({k}, new).build()
    return None


def _times_divisor(scalar: Expr, divisor: Expr) -> Expr | None:
    """Return the product of a scalar with one of its divisors; None if it isn't divided by that.

    >>> from sympy import sqrt, symbols
    >>> c, d = symbols("c d")
    >>> _times_divisor(c / sqrt(c * d) ** 3, d), _times_divisor(c * d, d)
    (1/sqrt(c*d), None)
    """
    for base, exponent in scalar.as_powers_dict().items():
        if divisor in Mul.make_args(base) and exponent.is_Number and exponent < 0:
            return scalar * base**-exponent * base ** (exponent + 1) / (base / divisor)
    return None


def _inverses(product: Product, k: int) -> Product | None:
    """Replace a stack of adjugates, each divided by its determinant, by inverses; None if these
    divisors are missing."""
    (matrices,), labels = product.operands[k].operands, product.subscripts[k]
    determinants = det(matrices)
    for j, other in enumerate(product.operands):
        base, exponent = other.as_entry_power()
        if base is determinants and product.subscripts[j] == labels[:-2] and exponent.is_negative:
            rest = apply_body(slot(0) ** (exponent + 1), (determinants,))
            new = [(inv(matrices), labels), (rest, labels[:-2])]
            return product.replaced({j, k}, new)
    return None
