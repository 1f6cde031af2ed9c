"""Loop invariants of symmetry: carries that are symmetric matrices at all steps, by induction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Basic

from ..analysis import is_symmetric
from ..core import postorder
from ..expressions import VALUES, Operand, Recurrence, Scan, substitute_all
from .loop_hoisting import rewrite_loops
from .rewriting import Run
from .shared_products import with_shared_products
from .table import SYMMETRIES


def with_symmetric_symbols(loop: Recurrence) -> Recurrence:
    """Let the symbols of carries that are symmetric matrices at all steps have this property, and
    those of inputs and invariants that are, if there are such carries; and let its products share
    more with each other.

    A carry is symmetric if it starts so, and if a step maps symmetric matrices to one. Code makes
    it exactly symmetric after each step: where a step reads the carry instead of its transpose, the
    antisymmetric part of rounding errors might grow.

    >>> import sympy_einsum as se
    >>> A, S = se.TensorSymbol("A", 9, 9), se.TensorSymbol("S", 9, 9, symmetric=True)
    >>> last, _ = se.scan(lambda c, t: (A @ c @ A.T, None), S, length=9)
    >>> with_symmetric_symbols(last.loop).carries[0].symbol.is_symmetric
    True
    """
    names = {} if _is_known(loop) else _symmetric_symbols(loop)
    if not names:
        return loop
    rules = Run(SYMMETRIES)
    outputs = [rules.result(own) for own in substitute_all(loop.outputs, names)]
    outputs = with_shared_products(outputs)
    count = len(loop.carries)
    carries = [own._replace(symbol=names.get(own.symbol, own.symbol)) for own in loop.carries]
    inputs, invariants = [
        tuple([own._replace(symbol=names.get(own.symbol, own.symbol)) for own in group])
        for group in (loop.inputs, loop.invariants)
    ]
    return loop._replace(
        carries=tuple([c._replace(new=new) for c, new in zip(carries, outputs, strict=False)]),
        inputs=inputs,
        invariants=invariants,
        values=tuple(outputs[count:]),
    )


def _symmetric_symbols(loop: Recurrence) -> Mapping[Basic, Basic]:
    """Return symbols with the property for those of a step that are symmetric matrices; none if no
    carry is."""
    carries = [own for own in loop.carries if is_symmetric(own.init)]
    given = [own.symbol for own in loop.invariants if is_symmetric(own.stacked)]
    given += [own.symbol for own in loop.inputs if _has_symmetric_entries(own.stacked)]
    while carries:
        names = {own: own.assuming("symmetric") for own in [*given, *[c.symbol for c in carries]]}
        news = substitute_all([own.new for own in carries], names)
        kept = [own for own, new in zip(carries, news, strict=True) if is_symmetric(new)]
        if len(kept) == len(carries):
            return names
        carries = kept
    return {}


def _has_symmetric_entries(stacked: Operand) -> bool:
    """Tell whether a stack is one of symmetric matrices, as values of a loop are seen to be."""
    is_path = isinstance(stacked, Scan) and stacked.kind == VALUES
    return is_path and is_symmetric(stacked.loop.values[stacked.place])


def share_symmetric_carries(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Let all loops have carries known to be symmetric if one loop has: a function and its gradient
    then have equal ones."""
    if not any(isinstance(node, Scan) and _is_known(node.loop) for node in postorder(exprs)):
        return exprs
    return rewrite_loops(exprs, with_symmetric_symbols)


def _is_known(loop: Recurrence) -> bool:
    """Tell whether carries of a loop are known to be symmetric."""
    return any(carry.symbol.is_symmetric for carry in loop.carries)
