"""Rule for the numbers in the scalar factors of a product."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm

from sympy import Add, Expr, Integer, Mul, Rational, S

from ..analysis import Barriers
from ..core import tuning
from ..expressions import Operand, View, contract, scalar_product


def content_of_scalars(node: Operand, barriers: Barriers) -> Operand | None:
    """-2 (-s/2 - 3/2)/t A = (s + 3)/t A: coefficients of sums are integers, and not all negative,
    where the number before the product gets no longer by that."""
    given = scalar_product(node.scalars) if isinstance(node, View) else node
    found = _with_primitive_sums(given)
    if found is None or not isinstance(node, View):
        return found
    count = len(node.scalars)
    operands, subscripts = node.operands[count:], node.subscripts[count:]
    lengths = dict(enumerate(node.lengths))
    return contract((found, *operands), ((), *subscripts), node.output, lengths)


def _with_primitive_sums(product: Expr) -> Expr | None:
    """Move the contents of the sums in a product to its number; None if that is no simpler."""
    if not isinstance(product, Mul):
        return None
    number, factors = product.as_coeff_mul()
    after, complexity = number, 0
    found: list[Expr] = []
    for factor in factors:
        base, exponent = factor.as_base_exp()
        content = _content(base) if exponent.is_Integer else S.One
        if content is not S.One:
            terms = [term / content for term in base.args]
            factor = Add(*terms) ** exponent
            after *= content**exponent
            complexity += 2 * (abs(content) != 1) + bool(content.is_negative)
        found.append(factor)
    if not complexity or not number.is_Rational:
        return None
    if _length(after) >= _length(number) + complexity:
        return None
    moved = Mul(after, *found)
    return None if moved == product else moved


def _content(total: Expr) -> Expr:
    """Return the greatest common divisor of the coefficients of a sum, negative if all of these
    are; 1 for others than short sums with rational coefficients."""
    if not isinstance(total, Add) or len(total.args) > tuning.MAX_PAIRED_TERMS:
        return S.One
    numbers: Sequence[Rational] = [term.as_coeff_Mul()[0] for term in total.args]
    if not all(number.is_Rational for number in numbers):
        return S.One
    divisor = Rational(gcd(*[int(r.p) for r in numbers]), lcm(*[int(r.q) for r in numbers]))
    return -divisor if all(number.is_negative for number in numbers) else divisor


def _length(number: Expr) -> Expr:
    """Return a measure of how long a rational number is to read."""
    return abs(Integer(number.p)) * number.q + bool(number.is_negative)
