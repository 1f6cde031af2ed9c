"""Factorization of long products into pairs, in contraction order.

The derivative of a product of N operands by each of them is N products of N - 1. Written in pairs
it is two products of a few operands for each pair, as the reverse sweep through a program that
computes the product pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..contraction_order import contraction_path, contraction_steps, nominal_length
from ..core import tuning
from ..expressions import Einsum, Operand, contract_part


def has_long_product_rule(node: Operand, active: Callable[[Operand], bool]) -> bool:
    """Tell whether the derivative of a product by its active operands has too many factors to be
    written out."""
    operands = node.operands if isinstance(node, Einsum) else node.args if node.is_Mul else ()
    if len(operands) ** 2 <= tuning.MAX_PRODUCT_RULE_OPERANDS:
        return False
    count = sum(map(active, operands))
    return count > 1 and len(operands) * count > tuning.MAX_PRODUCT_RULE_OPERANDS


def product_of_pairs(node: Operand) -> Operand:
    """Return a product of more than two operands as nested products of two.

    >>> import sympy_einsum as se
    >>> (A, B), x = se.tensors("A B", 9, 9), se.TensorSymbol("x", 9)
    >>> product_of_pairs(se.einsum("ij,jk,k->i", A, B, x)) == A @ (B @ x)
    True
    """
    is_node = isinstance(node, Einsum)
    operands = node.operands if is_node else node.args
    terms: Sequence[Sequence[int]] = node.subscripts if is_node else ((),) * len(operands)
    output, lengths = (node.output, dict(enumerate(node.lengths))) if is_node else ((), {})
    sizes = tuple((k, nominal_length(n)) for k, n in lengths.items())
    found: list[Operand] = list(zip(operands, terms, strict=True))
    for step, _, result in contraction_steps(terms, output, contraction_path(terms, output, sizes)):
        last = len(found) == 2 * len(operands) - 2
        labels = output if last else tuple(sorted(result))
        factors, subscripts = zip(*[found[k] for k in step], strict=True)
        found.append((contract_part(factors, subscripts, labels, lengths), labels))
    return found[-1][0]
