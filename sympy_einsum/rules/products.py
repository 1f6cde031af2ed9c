"""Rules for products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import product as combinations
from typing import Any

from sympy import Add, Expr, Integer, S, exp, expand, gcd_list

from ..cost import SLACK, cost
from ..einsum import (
    Delta,
    Einsum,
    TensorAdd,
    View,
    contract,
    scalar_product,
    scale,
    split_coefficient,
    tensor_sum,
)
from ..elementwise import Elementwise, apply_body, slot
from ..functions import sigmoid
from ..linalg import Adj, Inv, det, inv
from ..products import Product, distributed, is_tensor, opened, opens
from ..softmax import Softmax
from ..tensors import TensorSymbol
from .matrices import matrix_product, square_factors, transposed

# Multiplying out stops here.
MAX_TERMS = 64
# Symmetric operands can be turned round; beyond this many they stay as they are.
MAX_SYMMETRIC = 4
_EXP, _SIGMOID = exp(slot(0)), sigmoid(slot(0))


def denest(node: Any, closed: Collection[Any]) -> Any:
    """A product of products is one product."""
    nested = any(opens(operand, node.operands, closed) for operand in node.operands)
    return opened(node, closed).build() if nested else None


def diagonal_of_product(node: Any, closed: Collection[Any]) -> Any:
    """A diagonal of a product: only its entries are computed."""
    repeats = node.core is not None and len(set(node.subscripts[-1])) < node.core.order
    return opened(node).build() if repeats and type(node.core) is Einsum else None


def split_components(node: Any, closed: Collection[Any]) -> Any:
    """A part that is summed completely and shares no index with the rest is a scalar factor."""
    return opened(node, closed).split() if len(node.operands) > 1 else None


# --- inverses ------------------------------------------------------------------------------------


def cancel_inverse(node: Any, closed: Collection[Any]) -> Any:
    """inv(X)_ab X_bc = δ_ac, where nothing else hangs on b; X may be a product itself."""
    if not any(isinstance(operand, Inv) for operand in node.operands):
        return None
    product = opened(node, closed)
    for k, operand in enumerate(product.operands):
        if not isinstance(operand, Inv) or len(set(product.subscripts[k])) < 2:
            continue
        pattern = opened(operand.operands[0])
        for axis in (0, 1) if pattern.operands else ():
            shared, outer = product.subscripts[k][1 - axis], product.subscripts[k][axis]
            # inv(X)_ab X_bc binds X's first axis, X_ca inv(X)_ab its second.
            start = {pattern.output[axis]: shared}
            for used, found in _matches(pattern, product, start, {k}):
                other = found[pattern.output[1 - axis]]
                inner = {found[i] for i in found if i not in pattern.output} | {shared}
                if other in inner or not _private(product, inner, {k, *used}):
                    continue
                identity = [(Delta(product.lengths[outer]), (outer, other))]
                return product.replaced({k, *used}, identity, absorbed=inner).build()
        shorter = _shortened_inverse(product, k)
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
            if j == k or shared not in labels or not _private(product, {shared}, {j, k}):
                continue
            towards = labels if axis else labels[::-1]
            same = operand is factor and len(labels) == 2 and towards[0] == shared
            turned = len(labels) == 2 and towards[1] == shared and transposed(operand) is factor
            if (same or turned) and labels[0] != labels[1]:
                other = towards[1] if same else towards[0]
                ends = (outer, other) if axis else (other, outer)
                new = [(inv(matrix_product(rest)), ends)]
                return product.replaced({j, k}, new, absorbed={shared})
    return None


def _private(product: Product, labels: Collection[int], group: Collection[int]) -> bool:
    """Whether labels occur in a group of operands only."""
    others = [t for k, t in enumerate(product.subscripts) if k not in group]
    return not any(i in labels for term in (*others, product.output) for i in term)


def _matches(
    pattern: Product, product: Product, found: dict[int, int], used: set[int], position: int = 0
) -> Iterator[tuple[set[int], dict[int, int]]]:
    """The ways to find the operands of a pattern among those of a product: the operands' numbers
    and the labels that the pattern's labels stand for."""
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


def adj_over_det(node: Any, closed: Collection[Any]) -> Any:
    """adj(X) / det(X) = inv(X), where the determinant isn't zero anyway."""
    if not any(isinstance(operand, Adj) for operand in _factors(node)):
        return None
    product = opened(node, closed)
    for k, operand in enumerate(product.operands):
        for position, scalar in enumerate(product.scalars):
            if not isinstance(operand, Adj):
                continue
            (X,) = operand.operands
            exponent = scalar.as_powers_dict().get(det(X), S.Zero)
            if exponent.is_Integer and exponent < 0:
                scalars = list(product.scalars)
                scalars[position] = scalar * det(X)
                new = [(inv(X), product.subscripts[k])]
                return replace(product, scalars=tuple(scalars)).replaced({k}, new).build()
    return None


# --- softmax -------------------------------------------------------------------------------------


def softmax_of_parts(node: Any, closed: Collection[Any]) -> Any:
    """exp(z) over its own sum, over all axes or some."""
    if not any(isinstance(o, Elementwise) and o.body == _EXP for o in _factors(node)):
        return None
    product = opened(node, closed)
    for k, operand in enumerate(product.operands):
        if not (isinstance(operand, Elementwise) and operand.body == _EXP):
            continue
        z, labels = operand.operands[0], product.subscripts[k]
        for position, scalar in enumerate(product.scalars):
            total = _sum_over(operand, range(operand.order))
            exponent = scalar.as_powers_dict().get(total, S.Zero)
            if exponent.is_Integer and exponent < 0:
                scalars = list(product.scalars)
                scalars[position] = scalar * total
                new = [(Softmax._build((z,), (tuple(range(z.order)),)), labels)]
                return replace(product, scalars=tuple(scalars)).replaced({k}, new).build()
        for j, other in enumerate(product.operands):
            base, exponent = _as_power(other)
            if exponent is S.One or not (exponent.is_Integer and exponent < 0):
                continue
            axes = tuple(a for a, i in enumerate(labels) if i not in product.subscripts[j])
            kept = tuple(i for i in labels if i in product.subscripts[j])
            if kept != product.subscripts[j] or base is not _sum_over(operand, axes):
                continue
            new = [
                (Softmax._build((z,), (axes,)), labels),
                (_power(base, exponent + 1), product.subscripts[j]),
            ]
            return product.replaced({j, k}, [n for n in new if is_tensor(n[0])]).build()
    return None


def _factors(node: Any) -> tuple[Any, ...]:
    core = node.operands[-1:] if isinstance(node, View) else ()
    return core[0].operands if core and type(core[0]) is Einsum else node.operands


def _sum_over(tensor: Any, axes: Any) -> Any:
    kept = [a for a in range(tensor.order) if a not in axes]
    return contract((tensor,), (range(tensor.order),), kept, dict(enumerate(tensor.shape)))


def sum_softmax(node: Any, closed: Collection[Any]) -> Any:
    """The entries of a softmax add up to one."""
    if not any(isinstance(operand, Softmax) for operand in node.operands):
        return None
    product = opened(node, closed)
    counts = product.counts()
    for k, operand in enumerate(product.operands):
        if not isinstance(operand, Softmax):
            continue
        summed = {product.subscripts[k][axis] for axis in operand.data[0]}
        if all(counts[i] == 1 for i in summed):
            return product.replaced({k}, absorbed=summed).build()
    return None


# --- powers --------------------------------------------------------------------------------------


def _as_power(tensor: Any) -> tuple[Any, Expr]:
    """Base and numeric exponent of an elementwise power."""
    body = tensor.body if isinstance(tensor, Elementwise) else S.One
    if body.is_Pow and body.base == slot(0) and body.exp.is_number:
        return tensor.operands[0], body.exp
    return tensor, S.One


def _power(base: Any, exponent: Any) -> Any:
    return base if exponent == 1 else apply_body(slot(0) ** exponent, (base,))


def merge_powers(node: Any, closed: Collection[Any]) -> Any:
    """Powers of one base and exponentials, multiplied entry by entry."""
    if len(node.operands) < 2:
        return None
    product = opened(node, closed)
    counts = product.counts()
    groups: dict[tuple[int, ...], list[int]] = {}
    for k, term in enumerate(product.subscripts):
        groups.setdefault(term, []).append(k)
    for labels, group in groups.items():
        factors = [product.operands[k] for k in group]
        if len(group) < 2:
            continue
        if len(group) == 2 and factors[0] is factors[1] and any(counts[i] == 2 for i in labels):
            continue  # a square that is summed: a product of matrices does that
        merged = _merge_factors(factors)
        if merged is not None:
            new = [(tensor, labels) for tensor in merged if is_tensor(tensor)]
            return product.replaced(group, new).build()
    return None


def _as_powers(tensor: Any) -> dict[Any, Expr]:
    """The bases of a factor with their exponents; an integer power of a product has several."""
    base, exponent = _as_power(tensor)
    if exponent.is_Integer and type(base) is Einsum and set(base.subscripts) == {base.output}:
        return {
            inner: count * exponent * _as_power(factor)[1]
            for factor, count in Counter(base.operands).items()
            for inner in [_as_power(factor)[0]]
        }
    return {base: exponent}


def _merge_factors(factors: list[Any]) -> list[Any] | None:
    """Fewer factors with the same product, None if there are none."""
    powers: dict[Any, Expr] = {}
    parts = [_as_powers(factor) for factor in factors]
    if len({base for part in parts for base in part}) == sum(len(part) for part in parts):
        parts = [dict([_as_power(factor)]) for factor in factors]  # nothing to cancel
    for part in parts:
        for base, exponent in part.items():
            powers[base] = powers.get(base, S.Zero) + exponent
    exponentials = {
        base: exponent
        for base, exponent in powers.items()
        if isinstance(base, Elementwise) and base.body == _EXP
    }
    for base in exponentials:
        # exp(z) / (1 + exp(z)): the reciprocal is sigmoid(-z) by construction.
        other = apply_body(_SIGMOID, (scale(S.NegativeOne, base.operands[0]),))
        other = other if other in powers else apply_body(sigmoid(-slot(0)), (base.operands[0],))
        if powers.get(other) == 1 and powers[base] == 1:
            rest = [_power(b, e) for b, e in powers.items() if b not in (base, other)]
            return [*rest, apply_body(_SIGMOID, base.operands)]
    if len(powers) == sum(len(part) for part in parts) and len(exponentials) < 2:
        return None
    merged = [_power(b, e) for b, e in powers.items() if b not in exponentials and e != 0]
    if exponentials:
        exponent = tensor_sum([scale(e, base.operands[0]) for base, e in exponentials.items()])
        merged.append(apply_body(_EXP, (exponent,)))
    return merged


def split_square(node: Any, closed: Collection[Any]) -> Any:
    """A square that is summed over an axis of its own is a product: Σ x² = x·x."""
    if not any(_as_power(operand)[1] == 2 for operand in node.operands):
        return None
    product = opened(node, closed)
    counts = product.counts()
    for k, operand in enumerate(product.operands):
        base, exponent = _as_power(operand)
        labels = product.subscripts[k]
        if exponent == 2 and any(counts[i] == 1 for i in labels):
            return product.replaced({k}, [(base, labels), (base, labels)]).build()
    return None


# --- symmetry ------------------------------------------------------------------------------------


def is_symmetric(node: Any) -> bool:
    """Whether a matrix is known to be its own transpose."""
    if not isinstance(node, (TensorSymbol, Inv, Adj, Elementwise, TensorAdd, Einsum)):
        return False
    if node.order != 2:
        return False
    if isinstance(node, TensorSymbol):
        return bool({"symmetric", "diagonal", "psd"} & set(node.data[2]))
    if isinstance(node, (Inv, Adj)):
        return is_symmetric(node.operands[0])
    if isinstance(node, Elementwise):
        return all(is_symmetric(o) for o in node.operands if is_tensor(o))
    if node.shape[0] != node.shape[1]:
        return False
    if contract((node,), ((0, 1),), (1, 0), dict(enumerate(node.shape))) is node:
        return True
    if isinstance(node, TensorAdd):
        turned = {transposed(term) for term in node.operands if not is_symmetric(term)}
        return turned.issubset(node.operands)
    return isinstance(node, View) and node.core is not None and is_symmetric(node.core)


def transpose_symmetric(node: Any, closed: Collection[Any]) -> Any:
    """The transpose of a symmetric matrix is the matrix."""
    core = node.core
    if core is None or core.order != 2 or not is_symmetric(core):
        return None
    first, second = node.subscripts[-1]
    if first == second or node.output.index(first) < node.output.index(second):
        return None
    subscripts = (*node.subscripts[:-1], (second, first))
    return contract(node.operands, subscripts, node.output, dict(enumerate(node.lengths)))


def order_symmetric(node: Any, closed: Collection[Any]) -> Any:
    """Symmetric operands turned round so that equal products look alike."""
    flexible = [
        k for k, operand in enumerate(node.operands) if operand.shape and is_symmetric(operand)
    ]
    if not flexible or len(flexible) > MAX_SYMMETRIC:
        return None
    lengths = dict(enumerate(node.lengths))
    candidates = []
    for flips in combinations((False, True), repeat=len(flexible)):
        subscripts = list(node.subscripts)
        for k, flip in zip(flexible, flips, strict=True):
            if flip:
                subscripts[k] = subscripts[k][::-1]
        candidates.append(contract(node.operands, subscripts, node.output, lengths))
    return min(candidates, key=_simplicity)


def _simplicity(node: Any) -> Any:
    """Few transposes before many, dense products before rearranged ones, then by index names."""
    if not isinstance(node, Einsum):
        return (0, 0, ())
    core = node.core if isinstance(node, View) else node
    return (
        _transposes(core) if type(core) is Einsum else 0,
        isinstance(node, View),
        (getattr(core, "data", ())[:2], node.data[:2]),
    )


def _transposes(product: Einsum) -> int:
    """How often two matrices meet on the same axis, or a vector stands on the left."""
    axes: dict[int, list[int]] = {}
    for term in product.subscripts:
        for axis, label in enumerate(term):
            axes.setdefault(label, []).append(axis if len(term) > 1 else 0)
    return sum(len(met) == 2 and met[0] == met[1] for met in axes.values())


# --- distribution --------------------------------------------------------------------------------


def distribute(node: Any, closed: Collection[Any]) -> Any:
    """A product of sums is a sum of products."""
    product = opened(node, closed)
    scalar = expand(scalar_product(product.scalars))
    if scalar.is_Add and len(scalar.args) <= MAX_TERMS:
        return tensor_sum([replace(product, scalars=(term,)).build() for term in scalar.args])
    terms = distributed(product, MAX_TERMS)
    return None if terms is None else _total([term.build() for term in terms])


def _total(terms: list[Any]) -> Any:
    return tensor_sum(terms) if is_tensor(terms[0]) else Add(*terms)


def cancel_terms(node: Any, closed: Collection[Any]) -> Any:
    """A sum in a product is multiplied out where terms cancel, as in Σ (x - mean(x)), or a delta
    in it merges. Elsewhere the factored form is the one with fewer roundings."""
    sums = [k for k, o in enumerate(node.operands) if isinstance(o, TensorAdd) and o not in closed]
    if len(sums) != 1:
        return None
    operand, labels = node.operands[sums[0]], node.subscripts[sums[0]]
    has_delta = any(isinstance(t, View) and len(set(t.output)) < t.order for t in operand.operands)
    if set(labels).issubset(node.output) and not has_delta:
        return None
    terms = distributed(opened(node, closed), MAX_TERMS)
    if terms is None:
        return None
    total = _total([term.build() for term in terms])
    left = total.operands if isinstance(total, TensorAdd) else total.as_ordered_terms()
    given = {o for term in operand.operands for o in opened(term).operands}
    before, after = cost([node], given), cost([total], given)
    cancels = after < before and len(left) < len(operand.operands)
    return total if cancels or (has_delta and after <= SLACK * before) else None


# --- content -------------------------------------------------------------------------------------


def content(node: Any, closed: Collection[Any]) -> Any:
    """The numeric factor that the terms of a sum have in common, in front of the product."""
    if not any(isinstance(operand, TensorAdd) for operand in node.operands):
        return None
    product = opened(node, closed)
    factor = S.One
    operands = list(product.operands)
    for k, operand in enumerate(operands):
        if isinstance(operand, TensorAdd):
            found = _sum_content(operand)
            factor *= found
            operands[k] = operand if found is S.One else _divided(operand, found)
    return None if factor is S.One else _rescaled(product, factor, operands)


def _rescaled(product: Product, factor: Any, operands: list[Any]) -> Any:
    scalars = (factor, *product.scalars)
    return replace(product, scalars=scalars, operands=tuple(operands)).build()


def _signs(total: TensorAdd) -> set[bool]:
    return {bool(split_coefficient(term)[0].is_negative) for term in total.operands}


def _sum_content(total: TensorAdd) -> Expr:
    """The greatest common divisor of the terms' coefficients, negative if they all are."""
    coefficients = [split_coefficient(term)[0] for term in total.operands]
    sizes = {abs(coefficient) for coefficient in coefficients}
    if len(sizes) == 1:
        divisor = sizes.pop()
    elif all(size.is_Rational for size in sizes):
        divisor = gcd_list(list(sizes))
    else:
        return S.One
    return -divisor if _signs(total) == {True} else divisor


def _divided(total: TensorAdd, number: Any) -> Any:
    """A sum divided by a number; 0.5 / 0.5 is one, not 1.0."""
    terms = []
    for term in total.operands:
        coefficient, rest = split_coefficient(term)
        quotient = coefficient / number
        terms.append(scale(Integer(quotient) if not abs(quotient) - 1 else quotient, rest))
    return tensor_sum(terms)


def turn_sign(node: Any, closed: Collection[Any]) -> Any:
    """A minus in front goes into a difference: -A (x - y) = A (y - x)."""
    if not node.coefficient.is_negative or type(node.core) is not Einsum:
        return None
    product = opened(node, closed)
    operands = list(product.operands)
    for k, operand in enumerate(operands):
        occurs_once = operands.count(operand) == 1
        if occurs_once and isinstance(operand, TensorAdd) and len(_signs(operand)) == 2:
            operands[k] = scale(S.NegativeOne, operand)
            return _rescaled(product, S.NegativeOne, operands)
    return None


# --- squares -------------------------------------------------------------------------------------


def fold_square(node: Any, closed: Collection[Any]) -> Any:
    """Two equal halves of a product are computed once: x_j A_ij A_ik x_k = (A x)_i (A x)_i."""
    twice = [o for o, count in Counter(node.operands).items() if count == 2]
    if len(twice) < 2:
        return None
    product = opened(node, closed)
    pairs = [[k for k, o in enumerate(product.operands) if o is tensor] for tensor in twice]
    if any(len(pair) != 2 for pair in pairs) or len(pairs) > MAX_SYMMETRIC:
        return None
    for flips in combinations((False, True), repeat=len(pairs) - 1):
        choice = [
            pair[::-1] if flip else pair for pair, flip in zip(pairs, (False, *flips), strict=True)
        ]
        first, second = zip(*choice, strict=True)
        labels = [{i for k in half for i in product.subscripts[k]} for half in (first, second)]
        common = sorted(labels[0] & labels[1])
        inner = (labels[0] | labels[1]).difference(common)
        if not common or not inner or not _private(product, inner, {*first, *second}):
            continue
        halves = [
            contract(
                [product.operands[k] for k in half],
                [product.subscripts[k] for k in half],
                common,
                {i: product.lengths[i] for i in own},
            )
            for half, own in zip((first, second), labels, strict=True)
        ]
        if halves[0] is halves[1]:
            new = [(halves[0], common)] * 2
            return product.replaced({*first, *second}, new, absorbed=inner).build()
    return None
