"""Rules for powers of matrices with symbolic exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sympy import Eq, Expr, Mul, Piecewise, S, solve_linear

from ..expressions import (
    AlongDirections,
    Delta,
    Inv,
    MatrixPower,
    Operand,
    TensorExpr,
    View,
    contract,
    det,
    logdet,
    matrix_power,
    order_of,
    scale,
)
from .matrices import multiple, power_on_diagonal
from .properties import transposed
from .written_products import Closed, Product, opened


def _power(matrix: Operand) -> tuple[Operand, Operand] | None:
    """Base and exponent of a symbolic power of one matrix, which isn't a derivative."""
    if not isinstance(matrix, MatrixPower) or len(matrix.operands) > 1 or matrix.order > 2:
        return None
    return matrix.operands[0], matrix.exponent


def power_of_view(node: MatrixPower, closed: Closed) -> Operand | None:
    """(c X')^k = c^k (X^k)', diag(c v)^k = diag((c v)^k)."""
    known = _power(node)
    if known is None:
        return None
    matrix, exponent = known
    found = multiple(matrix)
    if found is not None:
        factor, core, is_transposed = found
        power = matrix_power(core, exponent)
        return scale(factor**exponent, transposed(power) if is_transposed else power)
    return power_on_diagonal(matrix, exponent)


def along_multiple(node: AlongDirections, closed: Closed) -> Operand | None:
    """A derivative in the direction c E is c times that in the direction E."""
    factor, directions = S.One, []
    for direction in node.operands[1:]:
        if isinstance(direction, View):
            for scalar in direction.scalars:
                factor *= scalar
            kept = [own for own in direction.operands if order_of(own)]
            terms = direction.subscripts[len(direction.operands) - len(kept) :]
            direction = contract(kept, terms, direction.output, dict(enumerate(direction.lengths)))
        directions.append(direction)
    return None if factor is S.One else scale(factor, node.along(node.operands[0], *directions))


def along_identity(node: AlongDirections, closed: Closed) -> Operand | None:
    """The derivative of exp(X) in the direction 1 is exp(X), that of X^k is k X^(k - 1)."""
    matrix, *directions = node.operands
    for place, direction in enumerate(directions):
        if isinstance(direction, Delta) and direction.order == 2:
            others = directions[:place] + directions[place + 1 :]
            if not isinstance(node, MatrixPower):
                return node.along(matrix, *others)
            return scale(node.exponent, matrix_power(matrix, node.exponent - 1, *others))
    return None


def inv_of_power(node: Operand, closed: Closed) -> Operand | None:
    """inv(X^k) = X^-k."""
    found = _power(node.operands[0])
    return None if found is None else matrix_power(found[0], -found[1])


def det_of_power(node: Operand, closed: Closed) -> Operand | None:
    """det(X^k) = det(X)^k."""
    found = _power(node.operands[0])
    return None if found is None else det(found[0]) ** found[1]


def logdet_of_power(node: Operand, closed: Closed) -> Operand | None:
    """log|det(X^k)| = k log|det X|."""
    found = _power(node.operands[0])
    return None if found is None else found[1] * logdet(found[0])


def join_powers(node: Operand, closed: Closed) -> Operand | None:
    """X^j_ab X^k_bc = X^(j + k)_ac, where nothing else hangs on b; X may be there itself, or its
    inverse."""
    product = opened(node, closed)
    powers = [_as_power(operand) for operand in product.operands]
    for k, operand in enumerate(product.operands):
        if _power(operand) is None:
            continue
        base, exponent = powers[k]
        for j, other in enumerate(powers):
            if j == k or other[0] is not base:
                continue
            for axis in (0, 1):
                shared, outer = product.subscripts[k][axis], product.subscripts[k][1 - axis]
                if product.subscripts[j][1 - axis] != shared or shared == outer:
                    continue
                end = product.subscripts[j][axis]
                if end == shared or not product.is_private({shared}, {j, k}):
                    continue
                ends = (end, outer) if axis == 0 else (outer, end)
                new = [(matrix_power(base, exponent + other[1]), ends)]
                return product.replaced({j, k}, new, absorbed={shared}).build()
    return None


def _as_power(operand: Operand) -> tuple[Operand, Operand]:
    """Base and exponent of any operand of a product."""
    if isinstance(operand, Inv):
        base, exponent = _as_power(operand.operands[0])
        return base, -exponent
    return _power(operand) or (operand, 1)


def power_beside_zero(node: View, closed: Closed) -> Operand | None:
    """k X^(k - 1) is 0 at k = 0, also of a singular X: where the factor is 0, the exponent is."""
    product = _beside_zero(opened(node, closed), Mul.make_args(Mul(*node.scalars)))
    return None if product is None else product.build()


def scalar_beside_zero(node: Expr, closed: Closed) -> Operand | None:
    """The same of a number, k y'X^(k - 1) x."""
    for own in node.args if node.is_Mul else ():
        if isinstance(own, TensorExpr):
            factors = [factor for factor in node.args if factor is not own]
            product = _beside_zero(opened(own, closed), factors)
            if product is not None:
                return Mul(*factors, product.build())
    return None


def _beside_zero(product: Product, factors: Sequence[Expr]) -> Product | None:
    """A product with other exponents where some of its factors are 0; None if none are to be."""
    operands = list(product.operands)
    for k, operand in enumerate(operands):
        if isinstance(operand, MatrixPower):
            exponent = operand.exponent
            zeros = [factor for factor in factors if _is_negative_where_zero(exponent, factor)]
            if zeros:
                known = Piecewise((S.Zero, Eq(Mul(*zeros), 0)), (exponent, True))
                operands[k] = matrix_power(operand.operands[0], known, *operand.operands[1:])
    return None if operands == [*product.operands] else replace(product, operands=tuple(operands))


def _is_negative_where_zero(exponent: Expr, factor: Expr) -> bool:
    """Whether an exponent is negative where a factor, linear in one of its symbols, is 0."""
    symbols = sorted(factor.free_symbols, key=str)
    if not symbols or not exponent.free_symbols.issuperset(symbols):
        return False
    symbol, zero = solve_linear(factor, symbols=symbols)
    return bool(symbol.is_Symbol and exponent.subs(symbol, zero).is_negative)
