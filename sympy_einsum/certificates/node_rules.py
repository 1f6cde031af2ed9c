"""Curvature of nodes: of sums of products, of maxima, of functions of matrices.

References
==========

[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004, §3.1.5, §3.2, exercises 3.4 and 3.26.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sympy import Expr, Mul, S

from ..analysis import Product, inlined_product, is_nonnegative, is_semidefinite, is_symmetric
from ..core import NodeTable, same_length
from ..expressions import (
    Adj,
    AdjStack,
    Cholesky,
    Constant,
    Det,
    DeterminantDerivative,
    DetSigns,
    DetStack,
    DirectionalFunction,
    EigenValues,
    EigenVectors,
    Einsum,
    Elementwise,
    Extremum,
    ExtremumShare,
    Fourier,
    IntervalProducts,
    Inv,
    InvStack,
    LeftVectors,
    LeviCivita,
    LogCumSumExp,
    LogDet,
    LogDetStack,
    LogSumExp,
    OneHot,
    Operand,
    Picked,
    Positions,
    PseudoInverse,
    QFactor,
    Ranking,
    Reshape,
    RFactor,
    RightVectors,
    RunningSoftmax,
    Scan,
    Selection,
    SingularValues,
    Softmax,
    Solution,
    TensorAdd,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unit,
    Unknown,
    View,
    Zeros,
    is_tensor,
    order_of,
    slot,
)
from .proofs import (
    AFFINE,
    CONCAVE,
    CONVEX,
    LOG_CONCAVE,
    LOG_CONVEX,
    OPPOSITE,
    Goal,
    Proof,
    Requirement,
    Root,
    combined,
    reason_of_sums,
)

if TYPE_CHECKING:
    from .prover import Prover

Row: TypeAlias = "Callable[[Prover, Any, Expr, Goal], Iterator[Proof | None]]"


def _none(prover: Prover, node: Operand, symbol: Expr, goal: Goal) -> Iterator[Proof | None]:
    yield from ()


# --- rearrangements, sums, maxima -----------------------------------------------------------------


def _of_operand(prover: Prover, node: Reshape, symbol: Expr, goal: Goal) -> Iterator[Proof | None]:
    yield combined(
        symbol,
        goal,
        "entries",
        "its entries are those of the operand",
        [prover.prove_node(node.operands[0], goal)],
    )


def _of_sum(prover: Prover, node: TensorAdd, symbol: Expr, goal: Goal) -> Iterator[Proof | None]:
    reason = reason_of_sums(goal)
    if reason:
        premises = [prover.prove_node(term, goal) for term in node.operands]
        yield combined(symbol, goal, "sum", reason, premises)


def _of_body(prover: Prover, node: Elementwise, symbol: Expr, goal: Goal) -> Iterator[Proof | None]:
    """Prove the curvature of a function whose operands aren't written out."""
    labels = tuple(range(node.order))
    entries = [prover.bodies.leaf(o, labels if order_of(o) else ()) for o in node.operands]
    body = node.body.xreplace({slot(k): entry for k, entry in enumerate(entries)})
    yield combined(symbol, goal, "function", "of the operands", [prover.prove(body, goal)])


def _of_log_sum(
    prover: Prover, node: LogSumExp, symbol: Expr, goal: Goal
) -> Iterator[Proof | None]:
    if goal == CONVEX:
        yield combined(
            symbol,
            goal,
            "log-sum-exp",
            "it is convex and increasing in each argument, and these are convex [BV, §3.1.5]",
            [prover.prove_node(node.operands[0], CONVEX)],
        )


def _of_extremum(
    prover: Prover, node: Extremum, symbol: Expr, goal: Goal
) -> Iterator[Proof | None]:
    is_maximum = node.name == "max"
    operand = node.operands[0]
    if isinstance(operand, EigenValues) and goal == (CONVEX if is_maximum else CONCAVE):
        name = "largest" if is_maximum else "smallest"
        yield _of_eigenvalues(prover, operand, symbol, goal, f"the {name} eigenvalue")
        return
    if isinstance(operand, SingularValues) and is_maximum and goal == CONVEX:
        yield _of_singular_values(prover, operand, symbol, "the largest singular value")
        return
    allowed = (CONVEX, LOG_CONVEX) if is_maximum else (CONCAVE, LOG_CONCAVE)
    if goal in allowed or (isinstance(goal, Root) and is_maximum):
        name = "maximum" if is_maximum else "minimum"
        yield combined(
            symbol,
            goal,
            name,
            f"the {name} of {goal} functions is so [BV, §3.2.3]",
            [prover.prove_node(operand, goal)],
        )


# --- functions of matrices ------------------------------------------------------------------------


def _is_affine_and_semidefinite(prover: Prover, matrix: Operand) -> Proof | None:
    return prover.prove_node(matrix, AFFINE) if is_semidefinite(matrix) else None


def _of_eigenvalues(
    prover: Prover, node: EigenValues, symbol: Expr, goal: Goal, name: str
) -> Proof | None:
    if not is_symmetric(node.operands[0]):
        return None
    return combined(
        symbol,
        goal,
        name,
        f"it is {goal} in symmetric matrices, and the matrix affine [BV, §3.2.3, ex. 3.26]",
        [prover.prove_node(node.operands[0], AFFINE)],
    )


def _of_singular_values(
    prover: Prover, node: SingularValues, symbol: Expr, name: str
) -> Proof | None:
    return combined(
        symbol,
        CONVEX,
        name,
        "it is a norm, and the matrix affine [BV, §3.1.5]",
        [prover.prove_node(node.operands[0], AFFINE)],
    )


def _of_logdet(prover: Prover, node: LogDet, symbol: Expr, goal: Goal) -> Iterator[Proof | None]:
    if goal == CONCAVE:
        yield combined(
            symbol,
            goal,
            "log-determinant",
            "it is concave in positive definite matrices, and the matrix affine [BV, §3.1.5]",
            [_is_affine_and_semidefinite(prover, node.operands[0])],
        )


def _of_det(prover: Prover, node: Det, symbol: Expr, goal: Goal) -> Iterator[Proof | None]:
    if goal == LOG_CONCAVE:
        yield combined(
            symbol,
            goal,
            "determinant",
            "its logarithm is concave in positive definite matrices, and the matrix affine "
            "[BV, §3.1.5]",
            [_is_affine_and_semidefinite(prover, node.operands[0])],
        )


def root_of_determinant(prover: Prover, node: Operand, exponent: Expr) -> Proof | None:
    """Prove that the matrix is affine and semidefinite of which a power up to 1/n of the
    determinant is taken."""
    if not isinstance(node, Det) or not (1 / node.operands[0].shape[0] - exponent).is_nonnegative:
        return None
    return _is_affine_and_semidefinite(prover, node.operands[0])


# --- products -------------------------------------------------------------------------------------


class _SplitFactors(NamedTuple):
    """The factors of a product that vary, by number, and the requirements for the others to be
    nonnegative, and to be nonpositive; None where that isn't known."""

    varying: list[int]
    nonnegative: frozenset[Requirement] | None
    nonpositive: frozenset[Requirement] | None


def _of_product(prover: Prover, node: Einsum, symbol: Expr, goal: Goal) -> Iterator[Proof | None]:
    product = inlined_product(node)
    found = _of_ordered(prover, product, symbol, goal)
    if found is not None:
        yield found
        return
    operands = [*product.scalars, *product.operands]
    terms = [*[() for _ in product.scalars], *product.subscripts]
    factors = _split(prover, operands, terms)
    if isinstance(goal, Root) or goal in (LOG_CONVEX, LOG_CONCAVE):
        yield from _of_positive_product(prover, product, operands, terms, factors, symbol, goal)
        return
    for needed, own, sign in (
        (factors.nonnegative, goal, "nonnegative"),
        (factors.nonpositive, OPPOSITE[goal], "nonpositive"),
    ):
        if needed is None and goal != AFFINE:
            continue
        required = needed or frozenset()
        body = _body(prover, operands, terms, factors.varying)
        weights = "" if len(factors.varying) == len(operands) else f", weights are {sign}"
        if goal == AFFINE:
            weights = ""
        yield combined(
            symbol,
            goal,
            "sum of products",
            f"{reason_of_sums(own)}{weights}",
            [prover.prove(body, own)],
            required if goal != AFFINE else (),
        )
        if goal == AFFINE:
            return
    yield _of_form(prover, product, operands, terms, factors.varying, symbol, goal)


def _split(prover: Prover, operands: list[Operand], terms: list[tuple[int, ...]]) -> _SplitFactors:
    """Find which factors vary, and what the sign of the others needs."""
    constant: dict[tuple[Operand, tuple[int, ...]], int] = {}
    varying = []
    for k, (operand, labels) in enumerate(zip(operands, terms, strict=True)):
        if prover.depends(operand):
            varying.append(k)
        else:
            constant[operand, labels] = constant.get((operand, labels), 0) + 1
    sign, unknown = True, []
    for (operand, _), count in constant.items():
        own = prover.range_of_node(operand)
        if count % 2 == 0 or own.is_nonnegative:
            continue
        if own.is_nonpositive:
            sign = not sign
        else:
            unknown.append(operand)
    if not unknown:
        return _SplitFactors(varying, frozenset() if sign else None, None if sign else frozenset())
    if len(unknown) > 1:
        return _SplitFactors(varying, None, None)
    (factor,) = unknown
    if not is_tensor(factor):
        needed = [prover.requires(prover.bodies.written(factor), want) for want in (sign, not sign)]
        return _SplitFactors(varying, *needed)
    leaf = prover.bodies.leaf(factor, tuple(range(order_of(factor))))
    return _SplitFactors(varying, frozenset({(leaf, sign)}), frozenset({(leaf, not sign)}))


def _body(
    prover: Prover, operands: list[Operand], terms: list[tuple[int, ...]], chosen: Collection[int]
) -> Expr:
    return Mul(*[prover.bodies.entry(operands[k], terms[k]) for k in chosen])


def _of_positive_product(
    prover: Prover,
    product: Product,
    operands: list[Operand],
    terms: list[tuple[int, ...]],
    factors: _SplitFactors,
    symbol: Expr,
    goal: Goal,
) -> Iterator[Proof | None]:
    """Prove that a root of a product, or its logarithm, is convex or concave."""
    is_whole = len({*product.output}) == len(product.output)
    constants = [operands[k] for k in range(len(operands)) if k not in factors.varying]
    selectors = [o for o in constants if isinstance(o, (Positions, OneHot))]
    weights = [o for o in constants if o not in selectors]
    ends = [terms[k][-1] for k, o in enumerate(operands) if isinstance(o, (Positions, OneHot))]
    picks = all(end not in product.output for end in ends)
    body = _body(prover, operands, terms, factors.varying)
    if isinstance(goal, Root):
        needed = factors.nonnegative
        reason = reason_of_sums(goal)
        if needed is None or not reason:
            return
        yield combined(symbol, goal, "sum of products", reason, [prover.prove(body, goal)], needed)
        if goal.degree <= 2 and is_whole:
            yield _of_form(prover, product, operands, terms, factors.varying, symbol, goal)
        return
    if not (is_whole and picks and all(prover.range_of_node(w).is_positive for w in weights)):
        return
    summed = {i for term in terms for i in term} - {*product.output} - {*ends}
    if goal == LOG_CONCAVE and summed:
        return
    reason = reason_of_sums(LOG_CONVEX) if summed else "its factors are"
    yield combined(symbol, goal, "sum of products", reason, [prover.prove(body, goal)])


def _of_form(
    prover: Prover,
    product: Product,
    operands: list[Operand],
    terms: list[tuple[int, ...]],
    varying: list[int],
    symbol: Expr,
    goal: Goal,
) -> Proof | None:
    """Prove that a quadratic form in affine functions is convex, or for negative factors concave,
    also with an inverse in it.

    With symbols for the affine functions, and a semidefinite one for the inverse of an affine
    matrix, the form has no negative value. Then it is convex: it is a sum of u' K u, or of the
    matrix fractional functions u' inv(P) u [BV, §3.1.7], or of traces of inv(P) with semidefinite
    weights."""
    tensors = [k for k in varying if is_tensor(operands[k])]
    if len(tensors) < len(varying) or not tensors:
        return None
    inverses = [k for k in tensors if isinstance(operands[k], Inv)]
    others = [k for k in tensors if k not in inverses]
    if len(inverses) > 1 or len(others) not in ((2,) if not inverses else (0, 2)):
        return None
    if inverses and isinstance(goal, Root):
        return None
    stand_ins: dict[Operand, Operand] = {}
    premises: list[Proof | None] = []
    for k in others:
        node = operands[k]
        if node not in stand_ins:
            name = f"(affine {len(stand_ins)})"
            is_form_of_symmetric = node.order == 2 and is_symmetric(node)
            stand_ins[node] = TensorSymbol(name, node.shape, symmetric=is_form_of_symmetric)
            premises.append(prover.prove_node(node, AFFINE))
    for k in inverses:
        matrix = operands[k].operands[0]
        premises.append(_is_affine_and_semidefinite(prover, matrix))
        stand_ins[operands[k]] = TensorSymbol("(inverse)", operands[k].shape, psd=True)
    constant = [k for k in range(len(operands)) if k not in varying]
    # Constants of known sign multiply the form; matrices stay in it.
    kept = [k for k in constant if order_of(operands[k])]
    chosen = [k for k in range(len(operands)) if k in kept or k in tensors]
    form = Product(
        (),
        tuple([stand_ins.get(operands[k], operands[k]) for k in chosen]),
        tuple([terms[k] for k in chosen]),
        product.output,
        product.lengths,
    ).build()
    if not is_nonnegative(form):
        return None
    scalars = [operands[k] for k in constant if k not in kept]
    needed = prover.requires(prover.bodies.written(Mul(*scalars)), goal != CONCAVE)
    if needed is None:
        return None
    if inverses:
        rule = "matrix fractional function" if others else "trace of an inverse"
        reason = "u' inv(P) u is convex in u and a definite P, which are affine [BV, §3.1.7]"
        if not others:
            reason = (
                "tr(C inv(P)) with C >= 0 is convex in a definite P, which is affine [BV, §3.6]"
            )
    else:
        rule, reason = "quadratic form", "it has no negative value, and its arguments are affine"
    return combined(symbol, goal, rule, reason, premises, needed)


def _of_ordered(prover: Prover, product: Product, symbol: Expr, goal: Goal) -> Proof | None:
    """Prove the curvature of sums of the largest or smallest entries, eigenvalues or singular
    values."""
    is_slice_summed = len(product.operands) == 1 and isinstance(product.operands[0], Einsum)
    if is_slice_summed and not product.output:
        product = replace(inlined_product(product.operands[0]), output=())
    if len(product.operands) not in (1, 2) or product.output or product.scalars:
        return None
    ordered = [k for k, o in enumerate(product.operands) if isinstance(o, _ORDERED)]
    if len(ordered) != 1 or product.operands[ordered[0]].order != 1:
        return None
    (place,) = ordered
    node = product.operands[place]
    length = node.shape[0]
    start, count = S.Zero, length
    if len(product.operands) == 2:
        selector = product.operands[1 - place]
        labels = product.subscripts[1 - place]
        if not isinstance(selector, (Unit, Selection)) or labels[-1:] != product.subscripts[place]:
            return None
        start, count = selector.start, S.One
        if isinstance(selector, Selection):
            if selector.steps != (S.One,):
                return None
            (count,) = selector.counts
    is_first, is_last = start is S.Zero, same_length(start + count, length)
    if isinstance(node, SingularValues):
        name = "the sum of the largest singular values"
        return (
            _of_singular_values(prover, node, symbol, name) if is_first and goal == CONVEX else None
        )
    if is_last and goal == CONVEX:
        size = "largest"
    elif is_first and goal == CONCAVE:
        size = "smallest"
    else:
        return None
    if isinstance(node, EigenValues):
        return _of_eigenvalues(prover, node, symbol, goal, f"the sum of the {size} eigenvalues")
    if node.name != "sort":
        return None
    return combined(
        symbol,
        goal,
        f"sum of the {size} entries",
        f"the sum of the {size} {goal} functions is so [BV, §3.2.3]",
        [prover.prove_node(node.operands[0], goal)],
    )


_ORDERED = (Picked, EigenValues, SingularValues)

CURVATURES: NodeTable[Row] = NodeTable(
    "the curvature",
    {
        Reshape: _of_operand,
        View: _of_product,
        Einsum: _of_product,
        TensorAdd: _of_sum,
        Elementwise: _of_body,
        LogSumExp: _of_log_sum,
        LogCumSumExp: _of_log_sum,
        Extremum: _of_extremum,
        LogDet: _of_logdet,
        Det: _of_det,
        **dict.fromkeys((TensorSymbol, Zeros, Constant, Positions, Triangle, Fourier), _none),
        **dict.fromkeys((OneHot, LeviCivita, Softmax, RunningSoftmax, IntervalProducts), _none),
        **dict.fromkeys((ExtremumShare, Picked, Ranking), _none),
        **dict.fromkeys((DetStack, DetSigns, LogDetStack, Inv, InvStack, Adj, AdjStack), _none),
        **dict.fromkeys((DeterminantDerivative, DirectionalFunction, PseudoInverse), _none),
        **dict.fromkeys((EigenValues, EigenVectors, SingularValues, LeftVectors), _none),
        **dict.fromkeys((RightVectors, QFactor, RFactor, Cholesky), _none),
        **dict.fromkeys((Scan, Solution, Unevaluated, Unknown), _none),
    },
)
