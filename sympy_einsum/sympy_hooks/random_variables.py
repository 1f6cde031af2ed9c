"""Expectations of tensors in ``sympy.stats``, where its own ask for what scalars alone have."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from sympy import Add, Expr, Symbol

from .. import operations as ops
from ..core import UnsupportedError, deferred
from ..expressions import Operand, TensorAdd, is_tensor, tensor_sum

_expand = deferred("rules", "expand")
_scalar_and_tensor = deferred("analysis", "scalar_and_tensor")


def finite_expectation(
    stock: Callable[..., Expr], space: Any, expr: Operand, rvs: Any = None, **options: object
) -> Operand:
    """Return the sum over the outcomes, each with its probability."""
    if not is_tensor(expr):
        return stock(space, expr, rvs, **options)
    expr = expr.xreplace({variable: variable.symbol for variable in rvs or space.values})
    terms = [
        ops.multiply(space.prob_of(outcome), expr.xreplace(dict(outcome)))
        for outcome in space.domain
    ]
    return tensor_sum(terms)


def conditional_expectation(
    stock: Callable[..., Expr],
    domain: Any,
    expr: Operand,
    variables: Collection[Symbol] | None = None,
    **options: object,
) -> Operand:
    """Return the sum of tensors times conditional expectations of their scalar factors."""
    if not is_tensor(expr):
        return stock(domain, expr, variables, **options)
    random = domain.symbols if variables is None else variables
    total = _expand(expr)
    found = []
    for term in total.operands if isinstance(total, TensorAdd) else [total]:
        factor, tensor = _scalar_and_tensor(term)
        if not tensor.free_symbols.isdisjoint(random):
            names = ", ".join(sorted(map(str, tensor.free_symbols.intersection(random))))
            raise UnsupportedError(
                f"no conditional expectation of {tensor}, of which entries are functions of "
                f"{names}: take that of the function of a number, and apply it with elementwise"
            )
        parts = [stock(domain, own, variables, **options) for own in Add.make_args(factor.expand())]
        found.append(ops.multiply(Add(*[part.doit() for part in parts]), tensor))
    return tensor_sum(found)
