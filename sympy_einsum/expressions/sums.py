"""The sum node, and tensors that are constant along axes."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from sympy import Add, Expr, S

from ..core import Shape, sort_key, tuning
from .affine_selectors import Unit
from .base import Operand, TensorExpr
from .graphs import order_of, shape_of
from .interning import Data, Operands, memoised
from .leaves import Zeros
from .products import View, contract, contract_part, unit_position


class TensorAdd(TensorExpr):
    """A sum of tensors of one shape with like terms collected; build it with ``A + B``.

    >>> import sympy_einsum as se
    >>> A, B = se.tensors("A B", 2, 3)
    >>> isinstance(A + 2 * B, se.TensorAdd), (A + 2 * B).operands
    (True, (A, 2*B))
    """

    __slots__ = ()
    is_sum = True

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        return tensor_sum(operands)

    @property
    def is_symmetric(self) -> bool:
        """Whether each term is constructed equal to the transpose of a term. Sums among the terms,
        which may be nested deeply, aren't examined."""
        terms = {*self.operands}
        return self.order == 2 and all(
            not isinstance(term, TensorAdd)
            and contract((term,), ((0, 1),), (1, 0), dict(enumerate(term.shape))) in terms
            for term in self.operands
        )

    def stacked_entry(self, axis: int, position: int) -> Operand | None:
        """Return the entry at a position of an axis along which each term is one entry, as those of
        a stack are; None for other sums."""
        stacked = _stacked_terms(self)[axis]
        if stacked is None:
            return None
        axes, lengths = range(self.order), dict(enumerate(self.shape))
        unit, rest = Unit(self.shape[axis], position), [k for k in axes if k != axis]
        terms = [
            contract((term, unit), (axes, (axis,)), rest, lengths)
            for term in stacked.get(position, ())
        ]
        return total_of(terms) if terms else Zeros(*[lengths[k] for k in rest])

    def _times(self, factors: Sequence[Expr]) -> Operand | None:
        is_number = len(factors) == 1 and factors[0].is_Number
        return _collect_terms(factors[0], [self]) if is_number else super()._times(factors)


@memoised
def _stacked_terms(total: TensorAdd) -> list[dict[int, list[TensorExpr]] | None]:
    """Return for each axis the terms by their only position along it; None if one has others."""
    found: list[dict[int, list[TensorExpr]] | None] = []
    for axis in range(total.order):
        stacked: dict[int, list[TensorExpr]] = {}
        for term in total.operands:
            position = unit_position(term, axis)
            if position is None:
                break
            stacked.setdefault(position, []).append(term)
        else:
            found.append(stacked)
            continue
        found.append(None)
    return found


def scale(factor: Expr, tensor: Operand) -> Operand:
    """Multiply a tensor, or a scalar, by a scalar."""
    axes = range(order_of(tensor))
    return contract((factor, tensor), ((), axes), axes, dict(enumerate(shape_of(tensor))))


def _multiple(number: Expr, core: TensorExpr) -> Operand:
    """Multiply a term without a numeric factor by a number; a long sum isn't expanded."""
    if number is S.One:
        return core
    if isinstance(core, View):
        return scale(number, core)
    axes = tuple(range(core.order))
    return View._intern((number, core), (((), axes), axes, core.shape), core.shape)


def split_coefficient(tensor: Operand) -> tuple[Expr, Operand]:
    """Return the numeric factor of a term and the rest."""
    if isinstance(tensor, View) and tensor.coefficient is not S.One:
        return tensor.coefficient, tensor.without_coefficient()
    return S.One, tensor


def has_large_factor(term: Operand) -> bool:
    """Tell whether a term is a large multiple, beside which others are rounded: a mask
    -1e9*(1 - M) is a sum of two, which have to be added before anything else is."""
    return bool(abs(split_coefficient(term)[0]) >= tuning.LARGE_FACTOR)


def tensor_sum(terms: Sequence[Operand]) -> Operand:
    """Return the canonical sum of tensors of one shape: like terms collected, zeros removed."""
    return _collect_terms(S.One, terms)


def _inside(tensor: Operand) -> Sequence[Operand]:
    """Return the terms of a sum, also of one that is repeated along axes, unless it is long; none
    for other tensors."""
    total: Operand | None = tensor
    if isinstance(tensor, View):
        total = tensor.core if len(tensor.operands) == 1 else None
    if not isinstance(total, TensorAdd) or len(total.operands) > tuning.MAX_FLATTENED_TERMS:
        return ()
    if total is tensor:
        return total.operands
    if len(varying_axes([tensor])) == tensor.order:
        return ()
    subscripts, output, lengths = tensor.data
    return [
        contract((own,), subscripts, output, dict(enumerate(lengths))) for own in total.operands
    ]


def sum_of_multiples(parts: Sequence[tuple[Expr, TensorExpr]]) -> TensorExpr:
    """Add multiples of tensors of one shape without flattening sums among them."""
    scaled = tuple([_multiple(c, core) for c, core in parts])
    return TensorAdd._intern(scaled, (), scaled[0].shape) if len(scaled) > 1 else scaled[0]


def total_of(terms: Sequence[Operand]) -> Operand:
    """Add tensors of one shape, or scalars."""
    return tensor_sum(terms) if isinstance(terms[0], TensorExpr) and terms[0].order else Add(*terms)


def varying_axes(tensors: Sequence[TensorExpr]) -> list[int]:
    """Return the axes along which not all tensors of one shape are constant: an elementwise
    function of tensors that are constant along an axis is constant along it too."""
    axes: set[int] = set()
    for tensor in tensors:
        if not isinstance(tensor, View):
            return list(range(tensor.order))
        term = tensor.subscripts[-1] if tensor.core is not None else ()
        output = tensor.output
        axes.update(k for k, i in enumerate(output) if i in term or output.count(i) > 1)
    return sorted(axes)


def drop_constant_axes(operands: Sequence[Operand], axes: Sequence[int]) -> list[Operand]:
    """Remove all axes but some, along which the tensors are constant; leave scalars unchanged."""
    short = []
    for operand in operands:
        if isinstance(operand, View):
            output = [operand.output[k] for k in axes]
            lengths = dict(enumerate(operand.lengths))
            operand = contract_part(operand.operands, operand.subscripts, output, lengths)
        short.append(operand)
    return short


def repeat_along_axes(value: Operand, axes: Sequence[int], shape: Shape) -> Operand:
    """Repeat a value with some axes of a shape along the other axes."""
    return contract((value,), (axes,), range(len(shape)), dict(enumerate(shape)))


def _collect_terms(factor: Expr, terms: Sequence[Operand]) -> Operand:
    """Expand a number times a sum, and collect like terms: ``2 * (A + B)`` equals ``(A + B) + (A +
    B)``."""
    collected: dict[Operand, Expr] = {}
    unchanged: dict[Operand, Operand] = {}
    pending = [(factor, term) for term in reversed(terms)]
    # Sums that contain others are opened before these, each once.
    sums: dict[Operand, Expr] = {}
    deepest: list[tuple[int, int, Operand, Sequence[Operand]]] = []
    while pending or deepest:
        if not pending:
            *_, core, inside = heappop(deepest)
            coefficient = sums.pop(core)
            pending.extend((coefficient, own) for own in reversed(inside))
            continue
        outer, term = pending.pop()
        coefficient, core = split_coefficient(term)
        coefficient = coefficient if outer is S.One else outer * coefficient
        if core in sums:
            sums[core] += coefficient
        elif inside := _inside(core):
            sums[core] = coefficient
            heappush(deepest, (-core._depth, core._digest, core, inside))
        elif core in collected:
            collected[core] += coefficient
            unchanged.pop(core, None)
        elif not isinstance(core, Zeros):
            collected[core] = coefficient
            if outer is S.One:
                unchanged[core] = term
    nonzero = [(core, c) for core, c in collected.items() if c]
    if not nonzero:
        return Zeros(*terms[0].shape)
    nonzero.sort(key=lambda pair: sort_key(pair[0]))
    scaled = tuple(
        [unchanged[core] if core in unchanged else _multiple(c, core) for core, c in nonzero]
    )
    if len(scaled) == 1:
        return scaled[0]
    shape = terms[0].shape
    axes = varying_axes(scaled)
    if len(axes) == len(shape):
        return TensorAdd._intern(scaled, (), shape)
    short = drop_constant_axes(scaled, axes)
    return repeat_along_axes(tensor_sum(short) if axes else Add(*short), axes, shape)
