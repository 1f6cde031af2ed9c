"""Quotients with removable singularities, as derivatives of functions of a norm have at 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sympy import Add, Eq, Expr, Mul, Piecewise, S

from ...analysis import Barriers, Product, inlined_product, is_positive
from ...core import Indices, Use, tuning
from ...expressions import (
    Einsum,
    Elementwise,
    Operand,
    Slot,
    TensorAdd,
    TensorExpr,
    View,
    apply_body,
    is_tensor,
    scale,
    tensor_sum,
)
from .functions import stable_scalar
from .matching import has_functions
from .nodes import stable_node


def divide_terms(node: View, barriers: Barriers) -> Operand | None:
    """Divide each term of a sum in a product, where all quotients are finite: (sin(u)*x +
    jn(1, u)*y)/u with u = norm(w)."""
    divisor = _divisor(node.scalars)
    if divisor is None:
        return None
    rest = tuple([scalar for scalar in node.scalars if scalar is not divisor])
    undivided = replace(inlined_product(node), scalars=rest).build()
    return _quotient(undivided, divisor, tuning.STABLE_FORM_DEPTH)


def divide_scalar_terms(node: Operand, barriers: Barriers) -> Expr | None:
    """Divide each term of a scalar sum, where all quotients are finite."""
    divisor = _divisor(node.args) if isinstance(node, Mul) else None
    if divisor is None:
        return None
    return _scalar_quotient(node / divisor, divisor, tuning.STABLE_FORM_DEPTH)


def divide_factor(node: View, barriers: Barriers) -> Operand | None:
    """Divide a factor by the scalar at whose zero it vanishes: (exp(c*x) - 1)/c."""
    for divisor in _powers_in_denominator(node.scalars):
        rest = tuple([scalar for scalar in node.scalars if scalar is not divisor])
        found = _divided(replace(inlined_product(node), scalars=rest), divisor)
        if found is not None:
            return found
    return None


def divide_scalar_factor(node: Operand, barriers: Barriers) -> Expr | None:
    """Divide a factor of a contraction by the scalar at whose zero it vanishes."""
    for divisor in _powers_in_denominator(node.args) if isinstance(node, Mul) else ():
        for contraction in node.args:
            if isinstance(contraction, TensorExpr):
                found = _divided(inlined_product(contraction), divisor)
                if found is not None:
                    return node / divisor / contraction * found
    return None


def _powers_in_denominator(scalars: Sequence[Expr]) -> list[Expr]:
    return [own for own in scalars if own.is_Pow and own.exp.is_negative and own.base.free_symbols]


def _divided(product: Product, divisor: Expr) -> Operand | None:
    """Divide one factor of a product, where its quotient is finite."""
    for k, operand in enumerate(product.operands):
        if not (is_tensor(operand) and operand.has(divisor.base)):
            continue
        found = stable_node(operand * divisor, Use.DIFFERENTIATING)
        left = () if found is None else inlined_product(found).scalars
        if found is not None and all(own.as_base_exp()[0] != divisor.base for own in left):
            return product.replaced({k}, [(found, product.subscripts[k])]).build()
    return None


def _divisor(scalars: Sequence[Expr]) -> Expr | None:
    """Return the only scalar factor with a negative exponent."""
    found = [own for own in scalars if own.is_Pow and own.exp.is_negative]
    return found[0] if len(found) == 1 else None


def _quotient(node: Operand, divisor: Expr, depth: int) -> Operand | None:
    """Return a tensor times a negative power, all of whose terms cancel it."""
    product = inlined_product(node)
    scalar = _scalar_quotient(Mul(*product.scalars), divisor, depth)
    if scalar is not None:
        return replace(product, scalars=(scalar,)).build()
    for k, total in enumerate(product.operands if depth else ()):
        if not isinstance(total, TensorAdd) or len(total.operands) > tuning.STABLE_TERMS:
            continue
        terms = _all_or_none(_quotient(term, divisor, depth - 1) for term in total.operands)
        if terms:
            return product.replaced({k}, [(tensor_sum(terms), product.subscripts[k])]).build()
    return None


def _all_or_none(quotients: Iterator[Operand | None]) -> list[Operand]:
    """List quotients up to the first that there isn't; none then."""
    found = []
    for quotient in quotients:
        if quotient is None:
            return []
        found.append(quotient)
    return found


def _scalar_quotient(scalar: Expr, divisor: Expr, depth: int) -> Expr | None:
    """Return a scalar times a negative power that cancels in each of its terms."""
    if not has_functions(scalar):
        return None
    for total in Mul.make_args(scalar) if depth else ():
        if total.is_Add and len(total.args) <= tuning.STABLE_TERMS:
            terms = _all_or_none(_scalar_quotient(own, divisor, depth - 1) for own in total.args)
            if terms:
                return scalar / total * Add(*terms)
    found = stable_scalar(scalar * divisor, (), Use.DIFFERENTIATING)
    left = () if found is None else Mul.make_args(found)
    is_left = any(own.is_Pow and own.base == divisor.base and own.exp.is_negative for own in left)
    return None if is_left else found


class _Divisor(NamedTuple):
    """A negative power of a sum of products, the factor of a product that contains it, and the
    labels of that factor."""

    power: Expr
    total: Einsum
    place: int
    labels: Indices


def zero_with_norm(node: TensorExpr, barriers: Barriers) -> Operand | None:
    """Write 0 for negative powers of norms that are 0, in products with more factors of the vector:
    x_i x_j/norm(x)."""
    product = inlined_product(node)
    count = len(product.scalars)
    divisors = [*_divisors(product)]
    degree = sum([-2 * own.power.exp for own in divisors])
    for divisor in divisors:
        if not degree < _zeros(product, divisor):
            continue
        is_zero = Eq(divisor.power.base, 0)
        if divisor.place < count:
            scalars = [*product.scalars]
            scalars[divisor.place] = Piecewise((0, is_zero), (scalars[divisor.place], True))
            return replace(product, scalars=tuple(scalars)).build()
        place = divisor.place - count
        factor = product.operands[place]
        assert isinstance(factor, Elementwise)
        found = apply_body(Piecewise((0, is_zero), (factor.body, True)), factor.operands)
        return product.replaced({place}, [(found, divisor.labels)]).build()
    return None


def _divisors(product: Product) -> Iterator[_Divisor]:
    """Yield the negative powers of sums of products."""
    for place, scalar in enumerate(product.scalars):
        for power in Mul.make_args(scalar):
            if power.is_Pow and isinstance(power.base, Einsum) and power.exp.is_negative:
                yield _Divisor(power, power.base, place, ())
    for place, operand in enumerate(product.operands, len(product.scalars)):
        labels = product.subscripts[place - len(product.scalars)]
        for power in Mul.make_args(operand.body) if isinstance(operand, Elementwise) else ():
            if power.is_Pow and isinstance(power.base, Slot) and power.exp.is_negative:
                own = operand.operands[power.base.place]
                if isinstance(own, Einsum) and own.order == len(labels):
                    yield _Divisor(power, own, place, labels)


def _zeros(product: Product, divisor: _Divisor) -> int:
    """Return how many factors of a product are 0 with a divisor that is an odd power of a norm."""
    square = divisor.total
    if not all(map(is_tensor, square.operands)):
        return 0
    # The square of a norm is v @ v, or (v**2).sum().
    factors = [operand.as_entry_power() for operand in square.operands]
    ((vector, _), *_), (term, *others) = factors, square.subscripts
    is_square = factors in ([(vector, 1), (vector, 1)], [(vector, 2)])
    is_norm = is_square and all(other == term for other in others) and len({*term}) == len(term)
    if not (is_norm and divisor.power.exp.is_Rational and divisor.power.exp.q == 2):
        return 0
    own = dict(zip(square.output, divisor.labels, strict=True))
    vectors = [(zero, [own.get(i) for i in axes]) for zero, axes in _vanishing(vector, term)]
    return sum(
        _degree(operand, labels, vectors)
        for operand, labels in zip(product.operands, product.subscripts, strict=True)
    )


def _vanishing(vector: Operand, term: Indices) -> Iterator[tuple[Operand, Indices]]:
    """Yield tensors whose entries are 0 where those of a vector are, with the labels of their
    axes."""
    yield vector, term
    if isinstance(vector, TensorAdd):
        yield tensor_sum([scale(S.NegativeOne, own) for own in vector.operands]), term
    if isinstance(vector, Einsum) and len({*vector.output}) == len(vector.output):
        names = dict(zip(vector.output, term, strict=True))
        for k, (operand, axes) in enumerate(zip(vector.operands, vector.subscripts, strict=True)):
            others = [own for j, own in enumerate(vector.operands) if j != k]
            if sorted(axes) == sorted(vector.output) and all(map(is_positive, others)):
                yield from _vanishing(operand, tuple([names[i] for i in axes]))


def _degree(
    operand: Operand, labels: Indices, vectors: Sequence[tuple[Operand, Sequence[int | None]]]
) -> int:
    """Return how often an operand contains one of some vectors as a factor, entry by entry."""
    base, exponent = operand.as_entry_power()
    count = int(exponent) if exponent.is_Integer and exponent > 0 else 0
    for vector, own in vectors:
        pairs = zip(own, labels, strict=False)
        if base == vector and all(i is None or i == j for i, j in pairs):
            return count
    return 0
