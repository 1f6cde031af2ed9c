"""Stable forms: expressions that are right as mathematics, and inf, nan or rounded to nothing in
floating-point numbers, in the form that isn't.

What one function of a function is better written as stands in a table (stable_table.py). The rest
are the laws of the logarithm: it is never taken of a product of exponentials, softmaxes and the
like, but made of what they are the exponentials of.

The rules look at a node and what it is made of, never at what else uses that: whatever is compiled
together, each value comes out in the same form. They are applied in one walk over a graph of any
size, whether that makes it cheaper or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

from sympy import Add, Expr, Function, Mul, Pow, exp, log

from ..core import logaddexp, sigmoid, transform
from ..expressions import (
    LOG,
    Einsum,
    Elementwise,
    LogSumExp,
    Operand,
    Selection,
    Softmax,
    TensorAdd,
    TensorExpr,
    Unit,
    View,
    Zeros,
    apply_body,
    contract,
    is_tensor,
    rebuild,
    scale,
    slot,
    split_coefficient,
    tensor_sum,
)
from .powers import slope_of_power
from .properties import is_nonnegative, is_positive
from .running import running_total
from .stable_table import (
    FUNCTIONS,
    MAX_OPERANDS,
    MAX_TERMS,
    arguments,
    is_ones,
    matched,
    named,
    reached,
)
from .written_products import Closed, Product, opened


def _in_body(body: Expr, numeric: bool) -> Expr:
    """A scalar expression with all its parts in stable form."""

    def visit(part: Operand, args: tuple[Operand, ...]) -> Operand:
        if not args:
            return part
        new = part if args == part.args else part.func(*args)
        found = _of_scalar(new, numeric) if isinstance(new, Expr) else None
        return new if found is None else found

    return transform([body], visit)[0]


_stable_body = lru_cache(maxsize=4096)(_in_body)


def _of_scalar(expr: Operand, numeric: bool) -> Operand:
    """The stable form of a stock expression, of its top levels."""
    if isinstance(expr, log):
        found = logarithm(expr.args[0])
        if found is not None:
            return found
    if not (isinstance(expr, Function) or expr.is_Add or expr.is_Mul or expr.is_Pow):
        return None
    if numeric and expr.is_Mul:
        slope = slope_of_power(expr)
        if slope is not None:
            return slope
    found = matched(expr, numeric)
    if found is not None and found.expression() != expr:
        return found.expression()
    return _pair_of_scalars(expr, numeric) if expr.is_Add or expr.is_Mul else None


def _pair_of_scalars(expr: Operand, numeric: bool) -> Operand:
    """A longer sum or product with two of its terms as one."""
    if not 2 < len(expr.args) <= MAX_TERMS:
        return None
    has_function = [bool(arguments(arg)) for arg in expr.args]
    for k, one in enumerate(expr.args):
        for j, other in enumerate(expr.args[:k]):
            if not (has_function[k] or has_function[j]):
                continue
            pair = expr.func(one, other)
            found = matched(pair, numeric)
            if found is not None and found.expression() != pair:
                rest = [arg for arg in expr.args if arg is not one and arg is not other]
                return expr.func(found.expression(), *rest)
    return None


# --- the logarithm -------------------------------------------------------------------------------


def logarithm(value: Operand) -> Operand:
    """The logarithm of a tensor or a scalar, made of the logarithms of its factors; None where the
    logarithm of the value itself is as good."""
    if isinstance(value, Softmax):
        return apply_body(LOG, (value,))
    if isinstance(value, (Elementwise, TensorAdd)):
        found = named(apply_body(LOG, (value,)), False)
        if found is None:
            found = _log_of_body(value) if isinstance(value, Elementwise) else _log_of_sum(value)
        return found
    if isinstance(value, Einsum) and any(value.subscripts):
        return _log_of_product(value)
    if isinstance(value, TensorExpr):
        core = value.operands[0] if value.rearranges else None
        found = logarithm(core) if core is not None else None
        return None if found is None else rebuild(value, (found,))
    return _log_of_scalar(value)


def _log_of_body(node: Elementwise) -> Operand:
    body = node.body
    if body.is_Mul or body.is_Pow:
        return _log_of_factors([apply_body(f, node.operands) for f in Mul.make_args(body)], node)
    return apply_body(body.args[0], node.operands) if isinstance(body, exp) else None


def _log_of_factors(factors: Sequence[Operand], node: Operand) -> Operand:
    """log(a b^2) = log(a) + 2 log(b), for those factors that have a logarithm of their own, and
    so are positive; the others stay together."""
    known: list[Operand] = []
    rest: list[Operand] = []
    for factor in factors:
        found = _log_of_power(factor)
        (rest if found is None else known).append(factor if found is None else found)
    if not known:
        return None
    left = _times(rest, node.shape) if is_tensor(node) else Mul(*rest)
    return _plus([*known, _log(left)], node) if rest else _plus(known, node)


def _log_of_power(factor: Operand) -> Operand:
    """The logarithm of a factor that may be a power."""
    if isinstance(factor, Elementwise) and factor.body.is_Pow:
        base, exponent = factor.body.as_base_exp()
        found = logarithm(apply_body(base, factor.operands)) if exponent.is_number else None
        return None if found is None else scale(exponent, found)
    if not isinstance(factor, TensorExpr) and factor.is_Pow and not isinstance(factor, exp):
        found = logarithm(factor.base) if factor.exp.is_extended_real else None
        return None if found is None else factor.exp * found
    return logarithm(factor)


def _log(value: Operand) -> Operand:
    return apply_body(LOG, (value,)) if is_tensor(value) else log(value)


def _times(factors: Sequence[Operand], shape: Sequence[Expr]) -> Operand:
    axes = range(len(shape))
    labels = [axes if is_tensor(f) else () for f in factors]
    return contract(factors, labels, axes, dict(enumerate(shape)))


def _plus(terms: Sequence[Operand], node: Operand) -> Operand:
    """A sum of tensors and scalars, of a node's shape."""
    if not is_tensor(node):
        return Add(*terms)
    return tensor_sum([term if is_tensor(term) else _times([term], node.shape) for term in terms])


def _log_of_sum(node: TensorAdd) -> Operand:
    """log(exp(a) + exp(b))."""
    bodies = [getattr(term, "body", None) for term in node.operands]
    if len(bodies) != 2 or not all(isinstance(body, exp) for body in bodies):
        return None
    exponents = [apply_body(term.body.args[0], term.operands) for term in node.operands]
    return apply_body(logaddexp(slot(0), slot(1)), exponents)


def _log_of_product(node: Einsum) -> Operand:
    if isinstance(node, View):
        return _log_of_view(node)
    cut = _cut_operand(node)
    if cut is not None:
        found = logarithm(node.operands[cut])
        if found is None:
            return None
        operands = [found if k == cut else o for k, o in enumerate(node.operands)]
        return contract(operands, node.subscripts, node.output, dict(enumerate(node.lengths)))
    present = {i for term in node.subscripts for i in term}
    if present - set(node.output):
        return _log_of_total(node)
    lengths = dict(enumerate(node.lengths))
    factors = [
        contract((operand,), (labels,), node.output, {i: lengths[i] for i in node.output})
        for operand, labels in zip(node.operands, node.subscripts, strict=True)
    ]
    return _log_of_factors(factors, node)


def _log_of_view(node: View) -> Operand:
    """A multiple, its axes in another order or repeated; what is on a diagonal has zeros beside."""
    if node.core is None or len(set(node.output)) < node.order or node.coefficient.is_negative:
        return None
    found = logarithm(node.core)
    if found is None:
        return None
    lengths = dict(enumerate(node.lengths))
    moved = contract((found,), node.subscripts[-1:], node.output, lengths)
    return _plus([moved, *[log(scalar) for scalar in node.scalars]], node)


def _cut_operand(node: Einsum) -> int | None:
    """Which operand positions and slices are cut from, in a product that does nothing else."""
    cutters = [k for k, o in enumerate(node.operands) if isinstance(o, (Unit, Selection))]
    others = [k for k in range(len(node.operands)) if k not in cutters]
    if len(others) != 1 or not cutters:
        return None
    labels = node.subscripts[others[0]]
    cut = [node.subscripts[k][-1] for k in cutters]
    plain = len(set(cut)) == len(cut) and set(cut) <= set(labels) and not set(cut) & {*node.output}
    # A label that is neither cut nor kept would be summed.
    return others[0] if plain and set(labels) - set(cut) <= set(node.output) else None


def _exponential(product: Product) -> int | None:
    """Which factor of a sum is an exponential that has an axis of the sum."""
    for k, operand in enumerate(product.operands):
        labels = product.subscripts[k]
        is_exp = isinstance(operand, Elementwise) and isinstance(operand.body, exp)
        if is_exp and len(set(labels)) == len(labels) and not {*labels} <= {*product.output}:
            return k
    return None


def _log_of_total(node: Einsum) -> Operand:
    """log Σ exp(z), also with positive weights."""
    product = opened(node)
    k = _exponential(product)
    running = None if k is None else running_total(product, k)
    if running is not None:
        total, weighted = running
        if weighted is None:
            return total
        found = logarithm(weighted)
        return _plus([total, _log(weighted) if found is None else found], node)
    if k is None or not all(is_positive(o) for j, o in enumerate(product.operands) if j != k):
        return None
    return _log_of_shares(product, k, node)


def _log_of_shares(product: Product, k: int, node: Einsum) -> Operand:
    """log Σ w exp(z) = log Σ exp(z) + log Σ w softmax(z)."""
    operand, labels = product.operands[k], product.subscripts[k]
    axes = tuple([a for a, i in enumerate(labels) if i not in product.output])
    z = apply_body(operand.body.args[0], operand.operands)
    kept = [i for i in labels if i in product.output]
    lengths = {i: product.lengths[i] for i in product.output}
    moved = contract((LogSumExp.over(z, axes),), (kept,), product.output, lengths)
    if len(product.operands) == 1:
        return moved
    shares = product.replaced({k}, [(Softmax.over(z, axes), labels)]).build()
    found = logarithm(shares)
    return _plus([moved, _log(shares) if found is None else found], node)


def log_of_weighted(node: Operand, closed: Closed) -> Operand | None:
    """log Σ w exp(z) = log Σ exp(z + log w), for weights that are known not to be negative and may
    be 0 where z is largest. By the weights this has no derivative at 0: if they depend on what is
    ``closed``, they stay outside, and so do those whose sign nobody knows."""
    if isinstance(node, Elementwise) and node.body == LOG:
        total = node.operands[0]
    else:
        total = node.args[0] if isinstance(node, log) else None
    if type(total) is not Einsum or not any(total.subscripts):
        return None
    product = opened(total)
    k = _exponential(product)
    output = product.output
    if k is None or len(product.operands) == 1 or len(set(output)) < len(output):
        return None
    operand, labels = product.operands[k], product.subscripts[k]
    axes = (*output, *[i for i in labels if i not in output])
    weight = replace(product.replaced({k}, absorbed=labels), output=axes).build()
    if not is_nonnegative(weight) or any(symbol in closed for symbol in weight.free_symbols):
        return _log_of_shares(product, k, total)
    every = range(len(axes))
    z = apply_body(operand.body.args[0], operand.operands)
    lengths = dict(enumerate(weight.shape))
    spread = contract((z,), ([axes.index(i) for i in labels],), every, lengths)
    exponent = tensor_sum([spread, apply_body(LOG, (weight,))])
    return LogSumExp.over(exponent, every[len(output) :])


def _log_of_scalar(value: Operand) -> Operand:
    if value.is_Mul or (value.is_Pow and not isinstance(value, exp)):
        return _log_of_factors(Mul.make_args(value), value) if not _is_negative(value) else None
    if value.is_Add and len(value.args) == 2 and all(isinstance(a, exp) for a in value.args):
        return logaddexp(*[arg.args[0] for arg in value.args])
    if isinstance(value, exp) and value.args[0].is_extended_real:
        return value.args[0]
    found = matched(log(value), False)
    return None if found is None else found.expression()


def _is_negative(value: Operand) -> bool:
    return bool(value.as_coeff_Mul()[0].is_negative)


# --- the rules -----------------------------------------------------------------------------------


def name(node: Operand, closed: Closed, numeric: bool = False) -> Operand | None:
    """A function of functions that has a stable form, also inside a body."""
    if isinstance(node, Elementwise) and node.body.has(*FUNCTIONS, Pow):
        body = _stable_body(node.body, numeric)
        if body != node.body:
            return apply_body(body, node.operands)
    return named(node, numeric)


def logarithm_of(node: Operand, closed: Closed) -> Operand | None:
    """The logarithm of products, powers and sums of exponentials."""
    if isinstance(node, Elementwise):
        if not isinstance(node.body, log):
            return None
        return logarithm(apply_body(node.body.args[0], node.operands))
    return logarithm(node.args[0]) if isinstance(node, log) else None


def scalar(node: Operand, closed: Closed, numeric: bool = False) -> Operand | None:
    """A stock scalar with a stable form."""
    return _of_scalar(node, numeric) if isinstance(node, Expr) and node.args else None


def pair_of_terms(node: TensorAdd, closed: Closed, numeric: bool = False) -> Operand | None:
    """Two terms of a longer sum that are one function: softplus(z) - z = softplus(-z)."""
    if not MAX_OPERANDS <= len(node.operands) <= MAX_TERMS:
        return None
    cores = [split_coefficient(term)[1] for term in node.operands]
    for k, core in enumerate(cores):
        if not _is_function(core):
            continue
        for j, other in enumerate(cores):
            if j == k or not (is_ones(other) or set(_below(other)) & set(_below(core))):
                continue
            found = named(tensor_sum([node.operands[k], node.operands[j]]), numeric)
            if found is not None:
                rest = [term for i, term in enumerate(node.operands) if i not in (j, k)]
                return tensor_sum([found, *rest])
    return None


def _is_function(node: Operand) -> bool:
    return isinstance(node, Elementwise) and node.body.has(*FUNCTIONS)


def _below(core: Operand) -> tuple[Operand, ...]:
    """A term and the tensors in it, without their numeric factors."""
    inside = core.operands if isinstance(core, Elementwise) else ()
    return (core, *[split_coefficient(operand)[1] for operand in inside if is_tensor(operand)])


def pair_of_factors(node: Einsum, closed: Closed) -> Operand | None:
    """Two factors of a product that are one function: sinh(z) / cosh(z) = tanh(z)."""
    product = opened(node)
    places: dict[tuple[int, ...], list[int]] = {}
    for k, operand in enumerate(product.operands):
        if (
            _is_function(operand.as_entry_power()[0])
            and len(set(product.subscripts[k])) == operand.order
        ):
            places.setdefault(product.subscripts[k], []).append(k)
    for labels, found in places.items():
        for j, k in combinations(found[:MAX_TERMS], 2):
            one, other = product.operands[j], product.operands[k]
            if reached(one).isdisjoint(reached(other)):
                continue
            merged = named(_times([one, other], one.shape), False)
            if merged is not None:
                return product.replaced({j, k}, [(merged, labels)]).build()
    return None


def log_softmax(node: TensorAdd, closed: Closed) -> Operand | None:
    """z - logsumexp(z) = log softmax(z): the difference of large numbers is gone."""
    for term in node.operands:
        number, bare = split_coefficient(term)
        inside = (bare, *getattr(bare, "operands", ()))
        total = next((o for o in inside if isinstance(o, LogSumExp)), None)
        if total is None:
            continue
        (z,), axes = total.operands, total.axes
        kept = [a for a in range(z.order) if a not in axes]
        spread = contract((total,), (kept,), range(z.order), dict(enumerate(z.shape)))
        if bare is not spread:
            continue
        rest = tensor_sum([node, scale(number, z), scale(-number, spread)])
        if len(_terms(rest)) == len(node.operands) - len(_terms(z)) - 1:
            return tensor_sum([rest, scale(-number, _log(Softmax.over(z, axes)))])
    return None


def log_softmax_entry(node: Operand, closed: Closed) -> Operand | None:
    """An entry z_i - logsumexp(z) = log softmax(z)_i among the terms of a scalar."""
    if not node.is_Add:
        return None
    totals = [arg for arg in node.args if isinstance(arg.as_coeff_Mul()[1], LogSumExp)]
    for number, total in [arg.as_coeff_Mul() for arg in totals]:
        for entry in [arg.as_coeff_Mul()[1] for arg in node.args if arg.has(Unit)]:
            cut = _cut_operand(entry) if isinstance(entry, Einsum) else None
            if cut is None or entry.operands[cut] is not total.operands[0]:
                continue
            rest = node + number * entry - number * total
            if len(Add.make_args(rest)) < len(node.args):
                share = Softmax.over(total.operands[0], total.axes)
                operands = [_log(share) if k == cut else o for k, o in enumerate(entry.operands)]
                lengths = dict(enumerate(entry.lengths))
                return rest - number * contract(operands, entry.subscripts, (), lengths)
    return None


def _terms(tensor: Operand) -> tuple[Operand, ...]:
    if isinstance(tensor, TensorAdd):
        return tensor.operands
    return () if isinstance(tensor, Zeros) else (tensor,)


def one_less_softmax(node: TensorAdd, closed: Closed) -> Operand | None:
    """1 - p = 1 - exp(log p), of which code knows the small values too."""
    terms = [split_coefficient(term) for term in node.operands]
    if len(terms) != 2 or not any(is_ones(core) for _, core in terms):
        return None
    (number, share), (one, _) = sorted(terms, key=lambda term: is_ones(term[1]))
    if number != -one or logarithm(share) is None or not isinstance(share, (Softmax, View)):
        return None
    return scale(one, apply_body(1 - exp(slot(0)), (logarithm(share),)))


def log_of_one_more(node: Elementwise, closed: Closed) -> Operand | None:
    """log(1 + x) of a longer sum, with 1.0 too."""
    total = node.operands[0]
    if node.body != LOG or not isinstance(total, TensorAdd):
        return None
    pairs = [(split_coefficient(term), term) for term in total.operands]
    rest = [term for (c, core), term in pairs if not (is_ones(core) and (c - 1).is_zero)]
    if len(rest) == len(total.operands):
        return None
    return apply_body(log(1 + slot(0)), (tensor_sum(rest),))


def complement_in_body(node: Elementwise, closed: Closed) -> Operand | None:
    """s (1 - s), where s is a sigmoid, is s times another sigmoid."""
    for k, operand in enumerate(node.operands):
        if not isinstance(operand, Elementwise) or not isinstance(operand.body, sigmoid):
            continue
        rest = 1 - slot(k)
        if node.body.has(rest):
            other = apply_body(sigmoid(-operand.body.args[0]), operand.operands)
            body = node.body.xreplace({rest: slot(len(node.operands))})
            return apply_body(body, (*node.operands, other))
    return None
