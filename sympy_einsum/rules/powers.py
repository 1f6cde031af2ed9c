"""Rules for products entry by entry and in bodies: powers of one base, exponentials, squares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import comb

from sympy import Abs, Expr, Integer, Mul, Pow, S, besselk, log, multinomial_coefficients, sign

from ..analysis import (
    Barriers,
    as_powers,
    inlined_product,
    scalar_and_tensor,
    times_entries,
)
from ..core import powbesselk, power_derivative, powlog, tuning
from ..expressions import (
    EXP,
    Einsum,
    Elementwise,
    Operand,
    Slot,
    TensorAdd,
    View,
    apply_body,
    contract_part,
    is_tensor,
    scale,
    slot,
    tensor_sum,
    total_of,
)

SIGN, MAGNITUDE = sign(slot(0)), Abs(slot(0))


def merge_powers(node: Operand, barriers: Barriers) -> Operand | None:
    """Merge powers of one base and exponentials that are multiplied entry by entry."""
    if len(node.operands) < 2:
        return None
    product = inlined_product(node, barriers)
    groups: dict[tuple[int, ...], list[int]] = {}
    for k, term in enumerate(product.subscripts):
        groups.setdefault(term, []).append(k)
    diagonals = [k for k, term in enumerate(product.subscripts) if len({*term}) < len(term)]
    for labels, group in groups.items():
        factors = [product.operands[k] for k in group]
        for k in diagonals:
            own = product.subscripts[k]
            if len(own) > len(labels) and tuple(dict.fromkeys(own)) == labels:
                group = [*group, k]
                factors.append(
                    contract_part(product.operands[k : k + 1], (own,), labels, product.lengths)
                )
        if len(group) < 2:
            continue
        scalar, factors = _without_scalars(factors)
        is_square = len(group) == 2 and factors[0] is factors[1]
        summed = {*labels}.difference(product.output) if is_square else ()
        if any(product.counts[i] == 2 for i in summed):
            continue  # a square that is summed: a product of matrices does that
        merged = _merge_factors(factors, barriers)
        if merged is not None:
            is_whole = len(group) == len(product.operands) and labels == product.output
            scalars = product.scalars if scalar is S.One else (*product.scalars, scalar)
            if is_whole and len(merged) == 1 and is_tensor(merged[0]) and not scalars:
                return merged[0]
            new = [(tensor, labels) for tensor in merged if is_tensor(tensor)]
            return replace(product.replaced(group, new), scalars=scalars).build()
    return None


def _without_scalars(factors: list[Operand]) -> tuple[Expr, list[Operand]]:
    """Take the scalars out of powers of multiples of what other factors are powers of: x²/(s x),
    or give the others the scalar where a power isn't whole: x/√(s x) = √(s x)/s."""
    split = [_power_of_multiple(factor) for factor in factors]
    if not any(split):
        return S.One, factors
    bases = [{*as_powers(factor)} for factor in factors]
    scalar, rest = S.One, list(factors)
    for k, found in enumerate(split):
        if found is None:
            continue
        multiplier, core, exponent = found
        others = [j for j, own in enumerate(bases) if j != k and core in own]
        if exponent.is_Integer and others:
            scalar *= multiplier**exponent
            rest[k] = power_of(core, exponent)
        elif not exponent.is_Integer:
            for j in others:
                base, other = rest[j].as_entry_power()
                if base is core and other.is_Integer:
                    scalar *= multiplier**-other
                    rest[j] = power_of(factors[k].as_entry_power()[0], other)
    return scalar, rest


def _power_of_multiple(factor: Operand) -> tuple[Expr, Operand, Expr] | None:
    """Return the scalar, the tensor and the exponent of a power of a multiple."""
    base, exponent = factor.as_entry_power()
    if not isinstance(base, View):
        return None
    scalar, core = scalar_and_tensor(base)
    return None if scalar is S.One or core is base else (scalar, core, exponent)


def split_quotient(node: Operand, barriers: Barriers) -> Operand | None:
    """Write a function that is a product of powers as a product, where powers of one base occur in
    several of its operands: x / (x y)."""
    factors = Mul.make_args(node.body)
    powers = [factor.as_base_exp() for factor in factors]
    if len(powers) != len(node.operands) or not all(map(is_tensor, node.operands)):
        return None
    if not all(isinstance(base, Slot) and e.is_Integer for base, e in powers):
        return None
    new = [power_of(node.operands[base.place], e) for base, e in powers]
    bases = [{*as_powers(own)} for own in _without_scalars(new)[1]]
    if len(set().union(*bases)) == sum(map(len, bases)):
        return None
    return times_entries(new, node)


def _merge_factors(factors: list[Operand], barriers: Barriers) -> list[Operand] | None:
    """Return fewer factors with the same product, None if there are none."""
    own = [factor.as_entry_power() for factor in factors]
    base, exponent = own[0]
    is_square = len(factors) == 2 and factors[0] is factors[1]
    if is_square and type(base) is not Einsum and not _is_exponential(base):
        return [power_of(base, exponent + exponent)]
    powers: dict[Operand, Expr] = {}
    uses = Counter(base for base, _ in own)
    # Operands that others use too aren't inlined to be squared.
    parts: list[Mapping[Operand, Expr]] = [
        {base: exponent} if uses[base] > 1 and base in barriers else as_powers(factor)
        for factor, (base, exponent) in zip(factors, own, strict=True)
    ]
    if len({base for part in parts for base in part}) == sum(len(part) for part in parts):
        parts = [{base: exponent} for base, exponent in own]  # nothing to cancel
    for part in parts:
        for base, exponent in part.items():
            powers[base] = powers.get(base, S.Zero) + exponent
    for base in [own for own in powers if isinstance(own, Elementwise) and own.body == SIGN]:
        magnitude = apply_body(MAGNITUDE, base.operands)
        if powers[base] == 1 and powers.get(magnitude, S.Zero).is_odd:  # sign(x)/|x| = 1/x
            inner = base.operands[0]
            powers[inner] = powers.get(inner, S.Zero) + powers.pop(magnitude)
            del powers[base]
    exponentials = {base: own for base, own in powers.items() if _is_exponential(base)}
    if len(powers) == sum(len(part) for part in parts) and len(exponentials) < 2:
        return None
    given = dict(zip(own, factors, strict=True))
    merged = [
        given[power] if power in given else power_of(*power)
        for power in powers.items()
        if power[0] not in exponentials and power[1] != 0
    ]
    if exponentials:
        exponent = tensor_sum([scale(e, base.operands[0]) for base, e in exponentials.items()])
        merged.append(apply_body(EXP, (exponent,)))
    return merged


def _is_exponential(base: Operand) -> bool:
    return isinstance(base, Elementwise) and base.body == EXP


def power_of(base: Operand, exponent: Expr) -> Operand:
    """Return a power of a tensor entry by entry."""
    return base if exponent == 1 else apply_body(slot(0) ** exponent, (base,))


def expand_power(node: Operand, barriers: Barriers) -> Operand | None:
    """Multiply out a whole power of a product, or a positive one of a sum, entry by entry."""
    base, exponent = node.as_entry_power()
    if not exponent.is_Integer or exponent is S.One:
        return None
    if isinstance(base, TensorAdd):
        return _power_of_sum(base, int(exponent)) if exponent.is_positive else None
    product = inlined_product(base)
    scalars = tuple([scalar**exponent for scalar in product.scalars])
    labels = {i for term in product.subscripts for i in term}
    if len(product.output) == len(labels) and labels == {*product.output}:
        if len(product.operands) + len(scalars) < 2:
            return None
        powers = tuple([power_of(operand, exponent) for operand in product.operands])
        return replace(product, scalars=scalars, operands=powers).build()
    if exponent.is_positive and len(product.operands) * exponent <= tuning.MAX_INLINED_OPERANDS:
        return times_entries([base] * int(exponent), base)
    return None


def _power_of_sum(total: TensorAdd, exponent: int) -> Operand | None:
    count = len(total.operands)
    if comb(exponent + count - 1, exponent) > tuning.MAX_DISTRIBUTED_TERMS:
        return None
    terms = []
    for exponents, number in multinomial_coefficients(count, exponent).items():
        pairs = zip(total.operands, exponents, strict=True)
        powers = [power_of(term, Integer(e)) for term, e in pairs if e]
        terms.append(scale(Integer(number), times_entries(powers, total)))
    return total_of(terms)


def split_square(node: Operand, barriers: Barriers) -> Operand | None:
    """Write a square that is summed over an axis of its own as a product: Σ x² = x·x."""
    if not any(operand.as_entry_power()[1] == 2 for operand in node.operands):
        return None
    product = inlined_product(node, barriers)
    counts = product.counts
    for k, operand in enumerate(product.operands):
        base, exponent = operand.as_entry_power()
        labels = product.subscripts[k]
        if exponent == 2 and any(counts[i] == 1 for i in labels):
            return product.replaced({k}, [(base, labels), (base, labels)]).build()
    return None


def power_of_bessel(node: Operand, barriers: Barriers) -> Operand | None:
    """Merge a power with a Bessel function, x**p besselk(p, x), which has a limit at 0."""
    product = inlined_product(node, barriers)
    for k, function in enumerate(product.operands):
        if not isinstance(function, Elementwise) or not isinstance(function.body, besselk):
            continue
        order, argument = function.body.args
        if not (order.is_number and order.is_positive and argument == slot(0)):
            continue
        (x,) = function.operands
        scalar, core = scalar_and_tensor(x)
        base, exponent = core.as_entry_power()
        # The base of a power of x, its exponent there, and the remaining factors.
        forms = {base: (order * exponent, scalar), core: (order, scalar), x: (order, S.One)}
        for j, power in enumerate(product.operands):
            given, left = power.as_entry_power()
            if j == k or product.subscripts[j] != product.subscripts[k] or given not in forms:
                continue
            needed, factor = forms[given]
            if not (left - needed).is_nonnegative or not (factor.is_positive or order.is_integer):
                continue
            new = [apply_body(powbesselk(order, slot(0)), (x,))]
            new += [power_of(given, left - needed)] if left != needed else []
            labels = product.subscripts[k]
            merged = product.replaced({j, k}, [(own, labels) for own in new])
            return replace(merged, scalars=(*merged.scalars, factor**-order)).build()
    return None


def merge_power_derivatives(product: Expr) -> Expr | None:
    """Combine a product of derivatives of b**t, such as t b**(t - 1), b**t t/b or b**t log(b), into
    one function that is right at b = 0; None for other products."""
    for base in [f.base for f in product.args if f.is_Pow and not f.exp.is_number]:
        exponent, logarithms, rest = S.Zero, S.Zero, []
        for factor in product.args:
            b, e = factor.as_base_exp()
            if isinstance(factor, Pow) and b == base:
                exponent += e
            elif b == log(base) and e.is_Integer and e.is_positive:
                logarithms += e
            elif isinstance(factor, powlog) and factor.args[0] == base:
                exponent += factor.args[1]
                logarithms += factor.args[2]
            else:
                rest.append(factor)
        vanishing = [f for f in rest if (exponent - f).is_negative and not f.is_number]
        others = Mul(*[f for f in rest if f not in vanishing])
        if vanishing:
            return others * power_derivative(Mul(*vanishing), base, exponent, logarithms)
        if logarithms:
            return others * powlog(base, exponent, logarithms)
        if len(rest) < len(product.args) - 1:
            return others * base**exponent
    return None
