"""Sums in products multiplied out and common factors taken out, and what SymPy's algebra in
ordinary symbols gets to see of tensor expressions.

To stock SymPy a scalar such as ``x @ (y + t*x)`` is an applied function of ``t``. Here it is
written as a sum of stock scalars in ``t`` times tensor expressions without it, ``x @ y + t*(x @
x)``, and that is what ``expand``, ``Poly``, ``solve``, ``series``, ``limit`` and ``integrate`` work
on. Only as much is multiplied out as is needed for that; :func:`expand` multiplies everything out.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any

import sympy
from sympy import Add, Expr, Integer, Mul, Poly, S, Symbol, Tuple, summation
from sympy.concrete.expr_with_limits import AddWithLimits

from ..core import UnsupportedError, cached, children, postorder, transform, tuning
from ..expressions import (
    Det,
    Einsum,
    Elementwise,
    Inv,
    Operand,
    Reshape,
    Slot,
    TensorAdd,
    TensorExpr,
    apply_body,
    as_operand,
    contract,
    is_tensor,
    is_variable,
    rebuild,
    reshape_node,
    scale,
    slot,
    tensor_sum,
    total_of,
)
from .sums import collect, common_scalar, factorings

# A stock scalar, and what it is multiplied with.
Part = tuple[Expr, Operand]


def expand(expr: Operand) -> Operand:
    """Multiply out sums in products and in whole powers [W, thm 5.4].

    Valid in any commutative semiring.

    SymPy's ``expand`` does so too, but in a scalar with ordinary symbols inside only as far as
    is needed to have them outside of the tensor products.

    Parameters
    ==========

    expr : a tensor expression, or a SymPy scalar with tensor expressions inside

    Returns
    =======

    The expression, of the same shape. A product that would give more than 256 terms stays one.

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n, t = symbols("n t", integer=True, positive=True)
    >>> x, y, z = se.tensors("x y z", n)
    >>> se.expand(x @ (y + z))
    x @ y + x @ z
    >>> se.expand((x + t * y) * z) == x * z + t * y * z
    True
    """
    expr = as_operand(expr)
    symbols = frozenset(filter(is_variable, expr.free_symbols))
    return _total(_Expansion(symbols, whole=True).parts(expr), expr)


def factor(expr: Operand) -> Operand:
    """Take out common factors of sums: ``x @ A @ y + x @ B @ y`` becomes ``x @ (A + B) @ y`` [W,
    thm 5.4]. :func:`simplify` does so only where that is cheaper to evaluate. Valid in any
    commutative ring: numbers are divided by their greatest common divisor.

    Parameters
    ==========

    expr : a tensor expression, or a SymPy scalar with tensor expressions inside, whose polynomials
        in ordinary symbols are factored by SymPy

    Returns
    =======

    The expression, of the same shape.

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, y, z = se.tensors("x y z", 3)
    >>> se.factor(x @ y + x @ z)
    x @ (y + z)
    """
    expr = as_operand(expr)
    if not isinstance(expr, TensorExpr):
        expr = sympy.factor(expr)
    return transform([expr], _factored)[0]


def _factored(node: Operand, below: tuple[Operand, ...]) -> Operand:
    node = rebuild(node, below) if below else node
    if isinstance(node, TensorAdd):
        new = collect(node, ()) or common_scalar(node, ()) or next(factorings(node.operands), None)
    else:
        new = next(factorings(node.args), None) if node.is_Add else None
    return node if new is None else transform([new], _factored)[0]


@cached(1024)
def symbols_outside(node: TensorExpr) -> Operand:
    """Write a scalar as a stock sum with its ordinary symbols outside of the tensor products;
    return the node itself if there are none, or if they can't be taken out.

    >>> from sympy.abc import t
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> symbols_outside(x @ (y - t * x))
    -t*(x @ x) + x @ y
    """
    symbols = frozenset(filter(is_variable, node.free_symbols))
    return _total(_Expansion(symbols, whole=False).parts(node), node) if symbols else node


def over(kind: type[Expr], tensor: Operand, *limits: Any) -> Operand:
    """Return the integral, sum or product, entry by entry, of a tensor over ordinary symbols that
    stand, or can be taken, outside of it; ``sympy.Product`` of a tensor with axes is this, and
    ``doit`` of ``Integral`` and ``Sum``.

    Raises
    ======

    UnsupportedError : entries depend on the symbol otherwise

    Examples
    ========

    >>> from sympy import integrate, product
    >>> from sympy.abc import t
    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> integrate(t * x, (t, 0, 2))
    2*x
    >>> product(t * x, (t, 1, 3))
    6*x**3
    """
    variables = frozenset(part[0] if isinstance(part, (tuple, Tuple)) else part for part in limits)
    parts = _Expansion(variables, whole=False).parts(tensor)
    is_sum = issubclass(kind, AddWithLimits)
    for _, part in parts:
        if variables & part.free_symbols or not (is_sum or len(parts) == 1):
            raise UnsupportedError(
                f"no {kind.__name__} over {min(variables, key=str)} of the tensor {part}, whose "
                "entries depend on it; take that of the scalar function of an entry, and apply the "
                "result with elementwise"
            )
    if is_sum:
        return _total([(kind(key, *limits).doit(), part) for key, part in parts], tensor)
    ((key, part),) = parts
    return kind(key, *limits).doit() * part ** summation(1, *limits)


def _total(parts: Sequence[Part], expr: Operand) -> Operand:
    if is_tensor(expr):
        return tensor_sum([part if key is S.One else scale(key, part) for key, part in parts])
    return Add(*[Mul(key, part) for key, part in parts])


class _Expansion:
    """Expressions as sums of products of a scalar in some symbols with what is free of these; terms
    with the same scalar are one, unless the ``whole`` is to be multiplied out."""

    def __init__(self, symbols: frozenset[Symbol], whole: bool):
        self._symbols = symbols
        self._whole = whole
        self._known: dict[Operand, list[Part]] = {}

    def parts(self, root: Operand) -> list[Part]:
        """Return the summands of an expression."""
        known = self._known
        for node in postorder([root], lambda n: () if n in known else self._below(n)):
            if node not in known:
                known[node] = self._grouped(self._opened(node))
        return known[root]

    def _below(self, node: Operand) -> tuple[Operand, ...]:
        return children(node) if self._whole or self._symbols & node.free_symbols else ()

    def _grouped(self, parts: list[Part]) -> list[Part]:
        if self._whole or len(parts) < 2:
            return parts
        groups: dict[Operand, list[Operand]] = {}
        for key, part in parts:
            groups.setdefault(key, []).append(part)
        return [(key, total_of(found)) for key, found in groups.items()]

    def _opaque(self, node: Operand) -> list[Part]:
        """Return a node as one part, unexpanded; a scalar with a symbol inside is its key."""
        is_scalar = not is_tensor(node)
        return [(node, S.One) if is_scalar and self._symbols & node.free_symbols else (S.One, node)]

    def _opened(self, node: Operand) -> list[Part]:
        if not isinstance(node, TensorExpr):
            return self._of_scalar(node)
        below = [self._known[operand] for operand in node.operands] if self._below(node) else []
        plain = [[(S.One, operand)] for operand in node.operands]
        if isinstance(node, TensorAdd) and (self._whole or below not in ([], plain)):
            return [part for parts in below for part in parts]
        if not below or below == plain:
            return self._opaque(node)
        if isinstance(node, Einsum):
            return self._of_product(node, below)
        if isinstance(node, Elementwise):
            return self._of_elementwise(node, below)
        if isinstance(node, Reshape):
            return [(key, reshape_node(part, node.shape)) for key, part in below[0]]
        if isinstance(node, (Inv, Det)) and len(below[0]) == 1:
            (key, part) = below[0][0]
            power = S.NegativeOne if isinstance(node, Inv) else node.operands[0].shape[0]
            return [(key**power, type(node)._build((part,), ()))]
        return self._opaque(node)

    def _of_scalar(self, node: Operand) -> list[Part]:
        """Multiply out sums, products and powers in a stock scalar."""
        if not node.args or not self._below(node) or not isinstance(node, Expr):
            return self._opaque(node)
        if node.is_Add:
            return [part for arg in node.args for part in self._known[arg]]
        factors: list[list[Part]] = []
        if node.is_Mul:
            factors = [self._known[arg] for arg in node.args]
        elif node.is_Pow and node.exp.is_Integer:
            base = self._known[node.base]
            if len(base) == 1:
                return [(base[0][0] ** node.exp, base[0][1] ** node.exp)]
            if (
                node.exp.is_positive
                and _count(len(base), int(node.exp)) <= tuning.MAX_EXPANDED_TERMS
            ):
                return _expanded_power(base, int(node.exp))
        if not factors or prod(map(len, factors)) > tuning.MAX_EXPANDED_TERMS:
            return self._opaque(node)
        return [_multiplied(chosen) for chosen in product(*factors)]

    def _of_product(self, node: Einsum, below: list[list[Part]]) -> list[Part]:
        if prod(map(len, below)) > tuning.MAX_EXPANDED_TERMS:
            return self._opaque(node)
        parts = []
        for chosen in product(*below):
            factors = [part for _, part in chosen]
            term = contract(factors, node.subscripts, node.output, dict(enumerate(node.lengths)))
            parts.append((Mul(*[key for key, _ in chosen]), term))
        return parts

    def _of_elementwise(self, node: Elementwise, below: list[list[Part]]) -> list[Part]:
        """Expand a polynomial of the operands; of a single term any whole power."""
        body, slots = node.body, [slot(k) for k in range(len(below))]
        is_power = body.is_Pow and isinstance(body.base, Slot) and body.exp.is_Integer
        if is_power and len(below[0]) == 1:
            key, part = below[0][0]
            return [(key**body.exp, apply_body(body, (part,)))]
        if not body.is_polynomial(*slots):
            return self._opaque(node)
        terms = Poly(body, *slots).terms()
        sizes = [
            prod(_count(len(parts), power) for parts, power in zip(below, powers, strict=True))
            for powers, _ in terms
        ]
        if sum(sizes) > tuning.MAX_EXPANDED_TERMS:
            return self._opaque(node)
        axes = range(node.order)
        lengths = dict(enumerate(node.shape))
        result = []
        for powers, coefficient in terms:
            expanded = [_expanded_power(parts, p) for parts, p in zip(below, powers, strict=True)]
            for chosen in product(*expanded):
                key, factors = Mul(*[k for k, _ in chosen]), [coefficient, *(p for _, p in chosen)]
                subscripts = [axes if is_tensor(f) else () for f in factors]
                result.append((key, contract(factors, subscripts, axes, lengths)))
        return result


def _count(terms: int, power: int) -> int:
    """Count how many terms a power of a sum has."""
    return comb(power + terms - 1, power)


def _multiplied(chosen: Sequence[Part]) -> Part:
    return Mul(*[key for key, _ in chosen]), Mul(*[part for _, part in chosen])


def _expanded_power(parts: list[Part], power: int) -> list[Part]:
    """Multiply out a power of a sum, entry by entry."""
    result = []
    for chosen in combinations_with_replacement(range(len(parts)), power):
        counts = [chosen.count(k) for k in range(len(parts))]
        number = sympy.multinomial_coefficients(len(parts), power)[tuple(counts)]
        used = [(k, count) for k, count in enumerate(counts) if count]
        key = Mul(*[parts[k][0] ** count for k, count in used])
        factors = [parts[k][1] for k, _ in used]
        body = Mul(Integer(number), *[slot(j) ** count for j, (_, count) in enumerate(used)])
        result.append((key, apply_body(body, factors) if factors else body))
    return result
