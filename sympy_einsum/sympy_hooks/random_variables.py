"""Expectations of tensors in ``sympy.stats``, where its own ask for what scalars alone have."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from sympy import Add, Dummy, Expr, Symbol

from .. import operations as ops
from ..core import DeferredClasses, DeferredModule, UnsupportedError, deferred
from ..expressions import Operand, TensorAdd, is_tensor, outermost, tensor_sum

_stats = DeferredModule("sympy.stats.rv")
_NormalDistribution: Any = DeferredClasses("sympy.stats.crv_types", "NormalDistribution")
_expectation = deferred("statistics", "expectation")
_Gaussian = deferred("statistics", "Gaussian")
_expand = deferred("rules", "expand")
_scalar_and_tensor = deferred("analysis", "scalar_and_tensor")


def expectation_node(
    stock: Callable[..., Expr], cls: Any, expr: Any, condition: Any = None, **options: object
) -> Expr:
    """Make an ``Expectation``, of a tensor its value: a node of SymPy's would make a scalar of
    it."""
    made = stock(cls, expr, condition, **options)
    return made.doit() if is_tensor(expr) and type(made) is cls else made


def expectation_value(stock: Callable[..., Expr], node: Any, **hints: Any) -> Expr:
    """Return the value of an ``Expectation``: under normal distributions without integrals, if they
    can be avoided."""
    expr = node.args[0]
    if node._condition is None and hints.get("evaluate", True) and outermost(expr):
        inner = expr.doit(**hints) if hints.get("deep", True) else expr
        normal = {} if inner.atoms(type(node)) else _normal_variables(inner)
        if normal:
            stand_ins = {variable: Dummy(variable.name, real=True) for variable in normal}
            law = {stand_ins[variable]: gaussian for variable, gaussian in normal.items()}
            try:
                return _expectation(inner.xreplace(stand_ins), law)
            except UnsupportedError:
                pass  # of a single variable SymPy may find an integral
    return stock(node, **hints)


def _normal_variables(expr: Expr) -> dict[Any, Any]:
    """Return the distributions of the random variables in an expression if these are independent
    and normal with known parameters; else none."""
    found = {}
    for variable in _stats.random_symbols(expr):
        distribution = getattr(variable.pspace, "distribution", None)
        if not isinstance(distribution, _NormalDistribution) or any(
            map(_stats.is_random, distribution.args)
        ):
            return {}
        found[variable] = _Gaussian(distribution.mean, distribution.std**2)
    return found


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
