"""The sum node, and tensors that are repeated along axes."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Expr, S

from ..core import Shape, sort_key, tuning
from .base import Operand, TensorExpr
from .interning import Data, Operands
from .leaves import Zeros
from .products import View, contract, contract_part


class TensorAdd(TensorExpr):
    """A sum of tensors of one shape, like terms collected; reached through ``A + B``.

    >>> import sympy_einsum as se
    >>> A, B = se.tensors("A B", 2, 3)
    >>> isinstance(A + 2 * B, se.TensorAdd), (A + 2 * B).operands
    (True, (A, 2*B))
    """

    __slots__ = ()

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        return tensor_sum(operands)

    @property
    def is_symmetric(self) -> bool:
        """Whether terms are built as their own transposes, or as each other's; of sums among them,
        which may be nested deeply, it isn't asked."""
        terms = {*self.operands}
        return self.order == 2 and all(
            not isinstance(term, TensorAdd)
            and contract((term,), ((0, 1),), (1, 0), dict(enumerate(term.shape))) in terms
            for term in self.operands
        )

    def _times(self, factors: Sequence[Expr]) -> Operand | None:
        is_number = len(factors) == 1 and factors[0].is_Number
        return _collect_terms(factors[0], [self]) if is_number else super()._times(factors)


def scale(factor: Expr, tensor: TensorExpr) -> Operand:
    """A tensor times a scalar."""
    axes = range(tensor.order)
    return contract((factor, tensor), ((), axes), axes, dict(enumerate(tensor.shape)))


def _multiple(number: Expr, core: TensorExpr) -> Operand:
    """A number times a term without one; a sum too long to be flattened stays whole."""
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


def tensor_sum(terms: Sequence[Operand]) -> Operand:
    """Return the canonical sum of tensors of one shape: like terms collected, zeros gone."""
    return _collect_terms(S.One, terms)


def _repeated_sum(tensor: Operand) -> TensorAdd | None:
    """Return the sum that a tensor only repeats along axes; None for other tensors."""
    if not isinstance(tensor, View) or len(tensor.operands) != 1:
        return None
    core = tensor.core
    if not isinstance(core, TensorAdd) or len(varying_axes([tensor])) == tensor.order:
        return None
    return core


def sum_of_parts(parts: Sequence[tuple[Expr, TensorExpr]]) -> TensorExpr:
    """Return the sum of multiples of tensors of one shape; sums among them aren't flattened."""
    scaled = tuple([_multiple(c, core) for c, core in parts])
    return TensorAdd._intern(scaled, (), scaled[0].shape) if len(scaled) > 1 else scaled[0]


def total_of(terms: Sequence[Operand]) -> Operand:
    """Return the sum of tensors of one shape, or of scalars."""
    return tensor_sum(terms) if isinstance(terms[0], TensorExpr) and terms[0].order else Add(*terms)


def varying_axes(tensors: Sequence[TensorExpr]) -> list[int]:
    """Return the axes of tensors of one shape on which they aren't all repeated: a function of
    tensors that are repeated along an axis is repeated too, and that of a column x[:, None] is a
    column."""
    kept: set[int] = set()
    for tensor in tensors:
        if not isinstance(tensor, View):
            return list(range(tensor.order))
        own = tensor.subscripts[-1] if tensor.core is not None else ()
        output = tensor.output
        kept.update(k for k, i in enumerate(output) if i in own or output.count(i) > 1)
    return sorted(kept)


def drop_repeated_axes(operands: Sequence[Operand], kept: Sequence[int]) -> list[Operand]:
    """Tensors without the axes along which they are repeated; scalars stay."""
    short = []
    for operand in operands:
        if isinstance(operand, View):
            output = [operand.output[k] for k in kept]
            lengths = dict(enumerate(operand.lengths))
            operand = contract_part(operand.operands, operand.subscripts, output, lengths)
        short.append(operand)
    return short


def repeat_along_axes(value: Operand, kept: Sequence[int], shape: Shape) -> Operand:
    """A value on some axes of a shape, repeated along the others."""
    return contract((value,), (kept,), range(len(shape)), dict(enumerate(shape)))


def _collect_terms(factor: Expr, terms: Sequence[Operand]) -> Operand:
    """A number times a sum, multiplied out, so that ``2 * (A + B)`` is ``(A + B) + (A + B)``."""
    collected: dict[Operand, Expr] = {}
    whole: dict[Operand, Operand] = {}  # terms that stay as they are
    pending = [(factor, term) for term in reversed(terms)]
    while pending:
        outer, term = pending.pop()
        coefficient, core = split_coefficient(term)
        coefficient = coefficient if outer is S.One else outer * coefficient
        repeated = _repeated_sum(core)
        total = core if repeated is None else repeated
        if isinstance(total, TensorAdd) and len(total.operands) <= tuning.MAX_FLATTENED_TERMS:
            inside: Sequence[Operand] = total.operands
            if repeated is not None:
                lengths = dict(enumerate(core.lengths))
                inside = [contract((o,), core.subscripts, core.output, lengths) for o in inside]
            pending.extend((coefficient, inner) for inner in reversed(inside))
        elif core in collected:
            collected[core] += coefficient
            whole.pop(core, None)
        elif not isinstance(core, Zeros):
            collected[core] = coefficient
            if outer is S.One:
                whole[core] = term
    kept = [(core, c) for core, c in collected.items() if c]
    if not kept:
        return Zeros(*terms[0].shape)
    kept.sort(key=lambda pair: sort_key(pair[0]))
    scaled = tuple([whole[core] if core in whole else _multiple(c, core) for core, c in kept])
    if len(scaled) == 1:
        return scaled[0]
    shape = terms[0].shape
    axes = varying_axes(scaled)
    if len(axes) == len(shape):
        return TensorAdd._intern(scaled, (), shape)
    short = drop_repeated_axes(scaled, axes)
    return repeat_along_axes(tensor_sum(short) if axes else Add(*short), axes, shape)
