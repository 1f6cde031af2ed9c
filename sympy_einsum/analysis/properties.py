"""Properties of values, found without computing them: signs, symmetry, diagonals, definiteness.

A property is True where it is certain; False says that nothing is known.

References
==========

[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004.
[HJ] R. A. Horn, C. R. Johnson, "Matrix Analysis", 2012, §7.5 (products of definite matrices).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from sympy import Dummy, Expr, Mul, S, cosh, exp, factor, sinh

from ..core import cached, same_length, sigmoid, tuning
from ..expressions import (
    Adj,
    Constant,
    Det,
    DirectionalFunction,
    Einsum,
    Elementwise,
    Expm,
    Extremum,
    ExtremumShare,
    IntervalProducts,
    Inv,
    OneHot,
    Operand,
    Picked,
    Positions,
    PseudoInverse,
    Ranking,
    Reshape,
    RunningSoftmax,
    SingularValues,
    Slot,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unknown,
    View,
    Zeros,
    apply_body,
    contract,
    holds_complex,
    is_tensor,
    outermost,
    representative,
    slot,
    unite,
)
from .inlined_products import Product, inlined_product
from .kernels import inner_part, squared_difference
from .memoised import Analysis, Answer, Property, all_of


def _structure(node: TensorSymbol) -> set[str]:
    return set(node.assumptions)


# --- products with exchanged indices --------------------------------------------------------------


class Exchange(NamedTuple):
    """An exchange of a product's indices that gives the same product: the index for every index,
    the symmetric operands that are transposed, the operands whose indices stay,
    and the operands that are exchanged with an equal one."""

    mapping: dict[int, int]
    transposed: list[int]
    fixed: list[int]
    paired: list[int]


def _axis_exchanges(
    product: Product, start: dict[int, int], symmetric: set[int]
) -> Iterator[Exchange]:
    """Yield the exchanges that extend a given one; ``symmetric`` are the numbers of the operands
    that may be transposed."""
    steps = iter(range(tuning.MAX_PAIRING_STEPS))

    def extend(
        mapping: dict[int, int], a: tuple[int, ...], b: tuple[int, ...]
    ) -> dict[int, int] | None:
        mapping = dict(mapping)
        for here, there in (*zip(a, b, strict=True), *zip(b, a, strict=True)):
            if mapping.setdefault(here, there) != there:
                return None
        return mapping

    def search(exchange: Exchange) -> Iterator[Exchange]:
        settled = {*exchange.transposed, *exchange.fixed, *exchange.paired}
        first = next((k for k in range(len(product.operands)) if k not in settled), None)
        if first is None:
            yield exchange
            return
        terms = product.subscripts
        for k in [*range(first + 1, len(terms)), first]:
            if k in settled or product.operands[k] is not product.operands[first]:
                continue
            turns = [terms[k][::-1]] if first in symmetric and len(set(terms[k])) == 2 else []
            for number, labels in enumerate([*turns, terms[k]]):
                mapping = extend(exchange.mapping, terms[first], labels)
                if mapping is None or next(steps, None) is None:
                    continue
                place = 3 if k != first else 1 if number < len(turns) else 2
                lists = [list(part) for part in exchange[1:]]
                lists[place - 1] += [first] if k == first else [first, k]
                yield from search(Exchange(mapping, *lists))

    return islice(search(Exchange(start, [], [], [])), tuning.MAX_PAIRINGS)


def _has_sides(product: Product, exchange: Exchange) -> bool:
    """Tell whether the exchanged indices are two sides of a product: no exchanged operand has
    indices of both."""
    side: dict[int, int] = {}
    moved = {a for a, b in exchange.mapping.items() if a != b}
    for k in exchange.paired:
        labels = [i for i in product.subscripts[k] if i in moved]
        for label in labels[1:]:
            unite(side, labels[0], label)
    return all(
        representative(side, label) != representative(side, exchange.mapping[label])
        for label in moved
    )


def _find_exchanges(product: Product, start: dict[int, int]) -> Analysis[list[Exchange]]:
    """Find the exchanges of a product after querying which operands are symmetric."""
    symmetric = set()
    for k, operand in enumerate(product.operands):
        if operand.order == 2 and (yield is_symmetric, operand):
            symmetric.add(k)
    # Operands that are neither exchanged nor transposed keep their indices.
    moves = bool(symmetric) or len(set(product.operands)) < len(product.operands)
    kept = {i for term in product.subscripts for i in term}
    if not moves and any(start[i] != i for i in start if i in kept):
        return []
    return list(_axis_exchanges(product, start, symmetric))


def _is_form(product: Product, start: dict[int, int]) -> Answer:
    """Tell whether a product is a sum of terms w u K u' with w >= 0 and K positive semidefinite,
    where the exchange of indices turns the one u into the other: such forms are nonnegative, and as
    matrices semidefinite; so are the Hadamard products of such matrices [HJ, thm 7.5.3]."""
    if not (yield from all_of(is_nonnegative, product.scalars)):
        return False
    for exchange in (yield from _find_exchanges(product, start)):
        if not _has_sides(product, exchange):
            continue
        middles = [product.operands[k] for k in exchange.transposed]
        traced = [k for k in exchange.fixed if len(product.subscripts[k]) == 2]
        traced = [k for k in traced if len(set(product.subscripts[k])) == 1]
        weights = [product.operands[k] for k in exchange.fixed if k not in traced]
        good = yield from all_of(is_semidefinite, middles)
        good = good and (yield from all_of(is_real, [product.operands[k] for k in exchange.paired]))
        good = good and (yield from all_of(is_nonnegative, weights))
        for k in traced if good else ():  # a diagonal
            good = good and (
                (yield is_semidefinite, product.operands[k])
                or (yield is_nonnegative, product.operands[k])
            )
        if good:
            return True
    return False


def _exchanged_axes(product: Product) -> dict[int, int]:
    """Return the exchange of the indices of a square matrix by a transpose."""
    first, second = product.output
    return {first: second, second: first}


def _is_product(node: Operand) -> bool:
    return isinstance(node, Einsum) and any((*node.subscripts, node.output))


@Property
def is_real(node: Operand) -> Answer:
    """Tell whether a node has no complex entries; what has no real value is nan."""
    if not isinstance(node, TensorExpr):
        yield from _query_tensors(node)
        return node.is_extended_real is True
    if isinstance(node, Constant):
        return bool(np.isrealobj(node.array))
    if isinstance(node, Elementwise) and node.body.has(S.ImaginaryUnit):
        return False
    return (yield from all_of(is_real, node.operands))


# --- signs ----------------------------------------------------------------------------------------


@Property
def is_nonnegative(node: Operand) -> Answer:
    """Tell whether all entries are known to be zero or positive."""
    if not isinstance(node, TensorExpr):
        yield from _query_tensors(node)
        return node.is_nonnegative is True
    if holds_complex(node):
        return False
    if isinstance(node, TensorSymbol):
        return bool({"positive", "nonnegative"} & _structure(node))
    if isinstance(node, Constant):
        return bool(np.isrealobj(node.array) and (node.array >= 0).all())
    shares = (Softmax, RunningSoftmax, ExtremumShare)
    if isinstance(node, (Zeros, Positions, Triangle, OneHot, Ranking, SingularValues, *shares)):
        return True
    if isinstance(node, (TensorAdd, Reshape, IntervalProducts, Extremum, Picked)):
        return (yield from all_of(is_nonnegative, node.operands))
    if isinstance(node, Elementwise):
        return (yield from _body_has_sign(node, strict=False))
    if isinstance(node, Det):
        return (yield is_semidefinite, node.operands[0])
    if _is_product(node):
        product = inlined_product(node)
        return (yield from _is_form(product, {i: i for i in product.output}))
    return isinstance(node, Einsum) and (yield from all_of(is_nonnegative, node.operands))


@Property
def is_positive(node: Operand) -> Answer:
    """Tell whether all entries are known to be positive."""
    if not isinstance(node, TensorExpr):
        yield from _query_tensors(node)
        return node.is_positive is True
    if holds_complex(node):
        return False
    if isinstance(node, TensorSymbol):
        # Off its diagonal, a diagonal matrix is zero, whatever else is declared.
        return "positive" in _structure(node) and "diagonal" not in _structure(node)
    if isinstance(node, Constant):
        return bool(np.isrealobj(node.array) and (node.array > 0).all())
    if isinstance(node, Softmax):
        return True
    if isinstance(node, (Reshape, Extremum, Picked)):
        return (yield is_positive, node.operands[0])
    if isinstance(node, TensorAdd):
        if not (yield is_nonnegative, node):
            return False
        for term in node.operands:
            if (yield is_positive, term):
                return True
        return False
    if isinstance(node, Elementwise):
        return (yield from _body_has_sign(node, strict=True))
    if _is_product(node):
        return (yield from _product_is_positive(inlined_product(node)))
    return isinstance(node, Einsum) and (yield from all_of(is_positive, node.operands))


def _product_is_positive(product: Product) -> Answer:
    """Tell whether all factors are positive, summed over axes that aren't empty; a factor that
    picks one position is allowed."""
    if len(set(product.output)) < len(product.output):
        return False
    selects = Positions
    picked = [k for k, operand in enumerate(product.operands) if isinstance(operand, selects)]
    chosen = {product.subscripts[k][-1] for k in picked}
    if chosen & {*product.output}:
        return False
    summed = {i for term in product.subscripts for i in term} - chosen - {*product.output}
    if not all(product.lengths[i].is_positive for i in summed):
        return False
    factors = [operand for k, operand in enumerate(product.operands) if k not in picked]
    return (yield from all_of(is_positive, [*product.scalars, *factors]))


def _query_tensors(scalar: Operand) -> Answer:
    """Query the properties of the tensors in a scalar that SymPy needs, lest it recurse."""
    for node in outermost(scalar):
        yield is_nonnegative, node
        yield is_positive, node
    return True


def _body_has_sign(node: Elementwise, strict: bool) -> Answer:
    signs: list[str] = [""] * len(node.operands)
    if not _body_sign(node.body, ("positive",) * len(signs), strict):
        return False
    for k, operand in enumerate(node.operands):
        if _body_sign(node.body, tuple(signs), strict):
            return True
        signs[k] = yield from sign_of(operand)
    return _body_sign(node.body, tuple(signs), strict)


def sign_of(node: Operand) -> Analysis[str]:
    """Return the known sign of a node's entries, as a word; "" for none."""
    if (yield is_positive, node):
        return "positive"
    return "nonnegative" if (yield is_nonnegative, node) else ""


def _value_in_unit_interval() -> Expr:
    """Return p / (1 + p) with p > 0 for a value in (0, 1), so that 1 less it is positive too."""
    odds = Dummy(positive=True)
    return odds / (1 + odds)


@cached(4096)
def _body_sign(body: Expr, signs: tuple[str, ...], strict: bool) -> bool:
    """Tell whether a scalar expression in slots is positive, or nonnegative, where the slots
    are."""
    known = body.xreplace({part: _value_in_unit_interval() for part in body.atoms(sigmoid)})
    values = {slot(k): Dummy(**{sign: True}) for k, sign in enumerate(signs) if sign}
    known = factor(known.xreplace(values))
    return (known.is_extended_positive if strict else known.is_extended_nonnegative) is True


# --- matrices -------------------------------------------------------------------------------------


def transposed(matrix: Operand) -> Operand:
    """Return the transpose of a matrix."""
    return contract((matrix,), ((0, 1),), (1, 0), dict(enumerate(matrix.shape)))


@Property
def is_symmetric(node: Operand) -> Answer:
    """Tell whether a matrix is known to be its own transpose."""
    if not is_tensor(node) or node.order != 2 or not same_length(*node.shape):
        return False
    if isinstance(node, (TensorSymbol, Unknown)):
        return node.is_symmetric
    if isinstance(node, Constant):
        return bool((node.array == node.array.T).all())
    if isinstance(node, (Inv, Adj, DirectionalFunction)):
        return (yield from all_of(is_symmetric, node.operands))
    if isinstance(node, (Elementwise, TensorAdd)):
        if squared_difference(node) is not None:
            return True
        stays = []
        for operand in node.operands:
            stays.append(not is_tensor(operand) or (yield is_symmetric, operand))
        if stays.count(False) < 2:  # one that moves has nothing to change places with
            return all(stays)
        pairs = zip(node.operands, stays, strict=True)
        transposes = [operand if stay else transposed(operand) for operand, stay in pairs]
        if set(transposes) != set(node.operands):
            return False
        return isinstance(node, TensorAdd) or apply_body(node.body, transposes) is node
    if type(node) is Einsum and [len(term) for term in node.subscripts] == [1, 1]:
        one, other = node.operands
        if one is other or type(one) is not Einsum or type(other) is not Einsum:
            return one is other  # of two vectors, one of which is nothing but itself
    if isinstance(node, Einsum):
        product = inlined_product(node)
        mirrors = yield from _find_exchanges(product, _exchanged_axes(product))
        if mirrors or squared_difference(node) is not None:
            return True
        return (yield is_diagonal, node)
    return isinstance(node, Zeros)


def has_symmetry(node: Operand) -> bool:
    """Tell whether axes of a tensor are known to be interchangeable: of a matrix, or as
    declared."""
    if isinstance(node, (TensorSymbol, Unknown)) and node.order > 2 and node.generators:
        return True
    return is_tensor(node) and node.order == 2 and is_symmetric(node)


def has_declared_symmetry(node: Einsum) -> bool:
    """Tell whether a product has operands of three or more axes that are declared to be
    symmetric."""
    declared = [o for o in node.operands if isinstance(o, (TensorSymbol, Unknown))]
    return any(own.order > 2 and own.generators for own in declared)


@Property
def is_diagonal(node: Operand) -> Answer:
    """Tell whether a square matrix is known to be zero off its diagonal."""
    if not is_tensor(node) or node.order != 2 or not same_length(*node.shape):
        return False
    if isinstance(node, TensorSymbol):
        return "diagonal" in _structure(node)
    if isinstance(node, (TensorAdd, Inv, Adj)):
        return (yield from all_of(is_diagonal, node.operands))
    if isinstance(node, Elementwise):
        body = node.body
        for k, operand in enumerate(node.operands):
            if is_tensor(operand) and (yield is_diagonal, operand):
                body = body.xreplace({slot(k): S.Zero})
        return body is S.Zero
    if type(node) is Einsum and {*node.subscripts} == {node.output}:
        for operand in node.operands:
            if (yield is_diagonal, operand):
                return True
        return False
    if isinstance(node, Einsum):
        # A diagonal operand makes its two indices one.
        product = inlined_product(node)
        matrices = [
            (operand, labels)
            for operand, labels in zip(product.operands, product.subscripts, strict=True)
            if len(labels) == 2 == len(set(labels))
        ]
        if not _are_linked(product.output, [labels for _, labels in matrices]):
            return False
        diagonal = []
        for operand, labels in matrices:
            if (yield is_diagonal, operand):
                diagonal.append(labels)
        return _are_linked(product.output, diagonal)
    return isinstance(node, Zeros)


def _are_linked(pair: Sequence[int], links: Sequence[tuple[int, ...]]) -> bool:
    """Tell whether two indices are one if those of each link are."""
    ends = {pair[0]}
    for _ in links:
        ends.update(*[link for link in links if not ends.isdisjoint(link)])
    return pair[1] in ends


@Property
def is_semidefinite(node: Operand) -> Answer:
    """Tell whether a matrix is known to be symmetric and positive semidefinite."""
    if not is_tensor(node) or node.order != 2 or not same_length(*node.shape):
        return False
    if isinstance(node, TensorSymbol) and "psd" in _structure(node):
        return True
    if isinstance(node, (TensorAdd, Inv, Adj, PseudoInverse)):
        return (yield from all_of(is_semidefinite, node.operands))
    if isinstance(node, Expm) and len(node.operands) == 1:
        return (yield is_symmetric, node.operands[0])
    if isinstance(node, Einsum):
        product = inlined_product(node)
        return (yield from _is_form(product, _exchanged_axes(product)))
    if isinstance(node, Elementwise):
        inner = inner_part(node.operands[0]) if node.body == exp(slot(0)) else None
        if inner is not None and (yield is_semidefinite, inner):
            return True
        if has_nonnegative_series(node.body):
            for operand in node.operands:
                known = is_semidefinite if is_tensor(operand) else is_nonnegative
                if not (yield known, operand):
                    return False
            return True
    if isinstance(node, Reshape):
        pairs = _kronecker_axes(node)
        product = inlined_product(node.operands[0])
        return pairs and (yield from _is_form(product, _exchanged_halves(product)))
    return (yield is_diagonal, node) and (yield is_nonnegative, node)


@cached(1024)
def has_nonnegative_series(body: Expr) -> bool:
    """Tell whether the power series of a scalar expression in slots has no negative coefficient: as
    a function of entries it keeps matrices semidefinite [HJ, thm 7.5.9]."""
    if isinstance(body, Slot):
        return True
    if body.is_number:
        return body.is_nonnegative is True
    if body.is_Pow and body.exp.is_Integer and body.exp.is_nonnegative:
        return has_nonnegative_series(body.base)
    known = body.is_Add or body.is_Mul or isinstance(body, (exp, cosh, sinh))
    return known and all(map(has_nonnegative_series, body.args))


def _kronecker_axes(node: Reshape) -> bool:
    """Tell whether a matrix has one half of the axes of a tensor as rows, the other as columns, as
    Kronecker products have."""
    (tensor,) = node.operands
    half = tensor.order // 2
    if tensor.order % 2 or not all(map(same_length, tensor.shape[:half], tensor.shape[half:])):
        return False
    return same_length(node.shape[0], Mul(*tensor.shape[:half]))


def _exchanged_halves(product: Product) -> dict[int, int]:
    """Return the exchange of the first half of the output indices with the second."""
    half = len(product.output) // 2
    first, second = product.output[:half], product.output[half:]
    return {**dict(zip(first, second, strict=True)), **dict(zip(second, first, strict=True))}


def definiteness(matrix: Operand) -> bool | None:
    """Return True for a matrix that is taken to be positive definite, None for another one that is
    known to be symmetric, and may be definite, and False for all others."""
    if has_cholesky(matrix):
        return True
    return None if is_symmetric(matrix) else False


@Property
def is_positive_definite(node: Operand) -> Answer:
    """Tell whether a matrix is known to be symmetric and positive definite."""
    if not is_tensor(node) or node.order != 2 or not same_length(*node.shape):
        return False
    if isinstance(node, TensorSymbol):
        return "pd" in _structure(node)
    if isinstance(node, (Inv, Adj)):  # what has an inverse isn't singular
        known = is_semidefinite if isinstance(node, Inv) else is_positive_definite
        return (yield known, node.operands[0])
    if isinstance(node, Expm):
        return len(node.operands) == 1 and (yield is_symmetric, node.operands[0])
    if isinstance(node, TensorAdd):
        return (yield from _has_definite_term(node, is_positive_definite))
    if isinstance(node, View):
        return (yield from _is_definite_view(node, is_positive_definite))
    if isinstance(node, Reshape):
        product = inlined_product(node.operands[0])
        start = _exchanged_halves(product) if _kronecker_axes(node) else {}
    elif isinstance(node, Einsum):
        product = inlined_product(node)
        start = _exchanged_axes(product)
    else:
        return False
    return bool(start) and (yield from _is_product_of_definite(product, start))


def _has_definite_term(node: TensorAdd, known: Property) -> Answer:
    if not (yield is_semidefinite, node):
        return False
    for term in node.operands:
        if (yield known, term):
            return True
    return False


def _is_definite_view(node: View, known: Property) -> Answer:
    if not (yield from all_of(is_positive, node.scalars)):
        return False
    if node.core is None or node.core.order == 1:
        is_whole = node.core is None or (yield is_positive, node.core)
        return list(node.output) == [0, 0] and is_whole
    square = sorted(node.output) == sorted(node.subscripts[-1])
    return square and (yield known, node.core)


def _is_product_of_definite(product: Product, start: dict[int, int]) -> Answer:
    """Tell whether a product is one of Hadamard's or Kronecker's of definite matrices, a principal
    submatrix of which is definite [HJ, thm 7.5.3]."""
    if len({*product.output}) < len(product.output) or not product.operands:
        return False
    if {i for term in product.subscripts for i in term} != {*product.output}:
        return False
    for operand, labels in zip(product.operands, product.subscripts, strict=True):
        pairs = len(labels) == 2 and start.get(labels[0]) == labels[1]
        if not (pairs and (yield is_positive_definite, operand)):
            return False
    return (yield from all_of(is_positive, product.scalars))


@Property
def has_cholesky(node: Operand) -> Answer:
    """Tell whether a matrix is taken to be positive definite where it is inverted: one that is, one
    declared ``psd``, and such a one with semidefinite ones added."""
    if not isinstance(node, TensorExpr):
        return False
    if isinstance(node, TensorSymbol):
        return "psd" in _structure(node)
    if isinstance(node, TensorAdd):
        return (yield from _has_definite_term(node, has_cholesky))
    if isinstance(node, View) and len(node.shape) == 2:
        return (yield from _is_definite_view(node, has_cholesky))
    return isinstance(node, Inv) and (yield has_cholesky, node.operands[0])
