"""Rules for exponentials of matrices, and for powers with symbolic exponents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sympy import Eq, Expr, Mul, Piecewise, S, solve_linear

from ..analysis import Barriers, Product, inlined_product, transposed
from ..expressions import (
    EXP,
    Delta,
    DirectionalFunction,
    Expm,
    Inv,
    InvStack,
    MatrixPower,
    Operand,
    TensorExpr,
    View,
    apply_body,
    contract,
    expm,
    holds_complex,
    matrix_power,
    order_of,
    scale,
    tensor_sum,
)
from .matrices import (
    diagonal_parts,
    embedded_diagonal,
    is_logarithm,
    multiple,
    product_of_matrices,
    symbolic_power,
)


def along_multiple(node: DirectionalFunction, barriers: Barriers) -> Operand | None:
    """Take a factor out of a direction: the derivative along c E is c times the one along E."""
    factor, directions = S.One, []
    for direction in node.operands[1:]:
        if isinstance(direction, View):
            for scalar in direction.scalars:
                factor *= scalar
            kept = [own for own in direction.operands if order_of(own)]
            terms = direction.subscripts[len(direction.operands) - len(kept) :]
            direction = contract(kept, terms, direction.output, dict(enumerate(direction.lengths)))
        directions.append(direction)
    return (
        None
        if factor is S.One
        else scale(factor, node.with_operands(node.operands[0], *directions))
    )


def along_identity(node: DirectionalFunction, barriers: Barriers) -> Operand | None:
    """Replace the derivative along 1: that of exp(X) is exp(X), that of X^k is k X^(k - 1)."""
    matrix, *directions = node.operands
    for place, direction in enumerate(directions):
        if isinstance(direction, Delta) and direction.order == 2:
            others = directions[:place] + directions[place + 1 :]
            if not isinstance(node, MatrixPower):
                return node.with_operands(matrix, *others)
            return scale(node.exponent, matrix_power(matrix, node.exponent - 1, *others))
    return None


def along_itself(node: DirectionalFunction, barriers: Barriers) -> Operand | None:
    """Replace the derivative along X: that of exp(c X) is X exp(c X), that of (c X)^k is k (c X)^(k
    - 1) X."""
    matrix, *directions = node.operands
    if len(directions) != 1 or matrix.order > 2 or _core(matrix) != _core(directions[0]):
        return None
    if isinstance(node, MatrixPower):
        power = matrix_power(matrix, node.exponent - 1)
        return scale(node.exponent, product_of_matrices([directions[0], power]))
    return product_of_matrices([directions[0], node.with_operands(matrix)])


def _core(matrix: Operand) -> tuple[Operand, bool]:
    """Return the matrix that a matrix is a multiple of, and whether it is transposed."""
    found = multiple(matrix)
    return (matrix, False) if found is None else found[1:]


def exponential_of_transpose(node: Expm, barriers: Barriers) -> Operand | None:
    """exp(X') = exp(X)', and its derivative in the direction E' is that in the direction E."""
    found = [multiple(operand) for operand in node.operands]
    if not all(own is not None and own[2] for own in found):
        return None
    return transposed(node.with_operands(*map(transposed, node.operands)))


def exponential_of_diagonal(node: Expm, barriers: Barriers) -> Operand | None:
    """exp(diag(v)) = diag(exp(v)), for stacks too."""
    found = diagonal_parts(node.operands[0])
    if found is None or len(node.operands) > 1:
        return None
    factor, vectors = found
    return embedded_diagonal(apply_body(EXP, (scale(factor, vectors),)))


def _exponent(matrix: Operand) -> Operand | None:
    """Return X for a matrix exp(X); None for others, and for derivatives."""
    is_one = isinstance(matrix, Expm) and len(matrix.operands) == 1
    return matrix.operands[0] if is_one else None


def inv_of_exponential(node: Operand, barriers: Barriers) -> Operand | None:
    """inv(exp(X)) = exp(-X)."""
    exponent = _exponent(node.operands[0])
    return None if exponent is None else expm(scale(S.NegativeOne, exponent))


def _traces(matrices: TensorExpr) -> Operand:
    *stack, rows, _ = range(matrices.order)
    lengths = {axis: matrices.shape[axis] for axis in (*stack, rows)}
    return contract((matrices,), ((*stack, rows, rows),), stack, lengths)


def determinant_of_exponential(node: Operand, barriers: Barriers) -> Operand | None:
    """det(exp(X)) = exp(tr X), log|det(exp(X))| = tr X for a real X."""
    exponent = _exponent(node.operands[0])
    if exponent is None:
        return None
    if not is_logarithm(node):
        return apply_body(EXP, (_traces(exponent),))
    return None if holds_complex(exponent) else _traces(exponent)


def join_exponentials(node: Operand, barriers: Barriers) -> Operand | None:
    """exp(s X)_ab exp(t X)_bc = exp((s + t) X)_ac, where nothing else has the index b."""
    product = inlined_product(node, barriers)
    for k, j, ends in _neighbours(product):
        left, right = (_exponent(product.operands[place]) for place in (k, j))
        if left is not None and right is not None:
            shared = {product.subscripts[k][1]}
            new = [(expm(tensor_sum([left, right])), ends)]
            return product.replaced({k, j}, new, absorbed=shared).build()
    return None


def exponential_last(node: Operand, barriers: Barriers) -> Operand | None:
    """exp(t X)_ab X_bc = X_ab exp(t X)_bc, where nothing else has b; for powers of X too."""
    product = inlined_product(node, barriers)
    for k, j, (start, end) in _neighbours(product):
        left, right = product.operands[k], product.operands[j]
        if _exponent(left) is not None and _exponent(right) is None:
            middle = product.subscripts[k][1]
            new = [(right, (start, middle)), (left, (middle, end))]
            return product.replaced({k, j}, new).build()
    return None


def _neighbours(product: Product) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Yield the places of factors f(X)_ab g(X)_bc that commute, one of them an exponential, with a
    and c; b is on nothing else."""
    bases = [
        _core(exponent if (exponent := _exponent(operand)) is not None else _as_power(operand)[0])
        for operand in product.operands
    ]
    for k, left in enumerate(product.subscripts):
        for j, right in enumerate(product.subscripts):
            if k == j or bases[k] != bases[j] or not len(left) == len(right) == 2:
                continue
            if bases[k][1] or left[1] != right[0] or left[0] == left[1] or right[0] == right[1]:
                continue
            if product.is_private({left[1]}, {j, k}) and left[0] != right[1]:
                yield k, j, (left[0], right[1])


def inv_of_power(node: Operand, barriers: Barriers) -> Operand | None:
    """inv(X^k) = X^-k."""
    found = symbolic_power(node.operands[0])
    return None if found is None else matrix_power(found[0], -found[1])


def join_powers(node: Operand, barriers: Barriers) -> Operand | None:
    """X^j_ab X^k_bc = X^(j + k)_ac, where nothing else has the index b; X itself and its inverse
    are powers too."""
    product = inlined_product(node, barriers)
    powers = [_as_power(operand) for operand in product.operands]
    for k, operand in enumerate(product.operands):
        if symbolic_power(operand) is None:
            continue
        base, exponent = powers[k]
        for j, other in enumerate(powers):
            if j == k or other[0] is not base:
                continue
            own, others = product.subscripts[k], product.subscripts[j]
            for axis in (0, 1) if own[:-2] == others[:-2] else ():
                shared, outer = own[-2:][axis], own[-2:][1 - axis]
                if others[-2:][1 - axis] != shared or shared == outer:
                    continue
                end = others[-2:][axis]
                if end == shared or not product.is_private({shared}, {j, k}):
                    continue
                ends = (end, outer) if axis == 0 else (outer, end)
                new = [(matrix_power(base, exponent + other[1]), (*own[:-2], *ends))]
                return product.replaced({j, k}, new, absorbed={shared}).build()
    return None


def _as_power(operand: Operand) -> tuple[Operand, Operand]:
    """Return base and exponent of an operand of a product."""
    if isinstance(operand, (Inv, InvStack)):
        base, exponent = _as_power(operand.operands[0])
        return base, -exponent
    return symbolic_power(operand) or (operand, 1)


def power_beside_zero(node: View, barriers: Barriers) -> Operand | None:
    """k X^(k - 1) is 0 at k = 0, also of a singular X: where the factor is 0, the exponent is."""
    product = _beside_zero(inlined_product(node, barriers), Mul.make_args(Mul(*node.scalars)))
    return None if product is None else product.build()


def scalar_beside_zero(node: Expr, barriers: Barriers) -> Operand | None:
    """k y'X^(k - 1) x is 0 at k = 0, also of a singular X."""
    for own in node.args if node.is_Mul else ():
        if isinstance(own, TensorExpr):
            factors = [factor for factor in node.args if factor is not own]
            product = _beside_zero(inlined_product(own, barriers), factors)
            if product is not None:
                return Mul(*factors, product.build())
    return None


def _beside_zero(product: Product, factors: Sequence[Expr]) -> Product | None:
    """Change the exponents of a product in which some of the factors are 0; None if none has to
    be."""
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
    """Tell whether an exponent is negative where a factor, linear in one of its symbols, is 0."""
    symbols = sorted(factor.free_symbols, key=str)
    if not symbols or not exponent.free_symbols.issuperset(symbols):
        return False
    symbol, zero = solve_linear(factor, symbols=symbols)
    return bool(symbol.is_Symbol and exponent.subs(symbol, zero).is_negative)
