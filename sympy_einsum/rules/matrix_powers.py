"""Rules for powers of matrices with symbolic exponents."""

from __future__ import annotations

from sympy import S

from ..expressions import (
    AlongDirections,
    Delta,
    Inv,
    MatrixPower,
    Operand,
    View,
    apply_body,
    contract,
    det,
    logdet,
    matrix_power,
    order_of,
    scale,
    slot,
)
from .matrices import multiple
from .properties import transposed
from .written_products import Closed, opened


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
    if not isinstance(matrix, View) or len(set(matrix.output)) != 1:
        return None
    scalars = [scalar**exponent for scalar in matrix.scalars]
    cores = [] if matrix.core is None else [apply_body(slot(0) ** exponent, (matrix.core,))]
    if cores and cores[0].order != 1:
        return None
    subscripts = [()] * len(scalars) + [(0,)] * len(cores)
    return contract([*scalars, *cores], subscripts, (0, 0), {0: matrix.shape[0]})


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
