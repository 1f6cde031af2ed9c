"""A sweep between two simplifications, with the garbage collector paused."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import (
    S,
)

from ..analysis import cost
from ..core import (
    TensorError,
    UnsupportedError,
    cached,
    collector_paused,
    postorder,
    tuning,
)
from ..expressions import (
    Operand,
    TensorExpr,
    shape_of,
)
from ..rules import Step, stabilise, tidy
from .bottlenecks import Part, chain_along_path, from_smaller_ends, identity, through_bottlenecks
from .reshaped_ends import by_ends
from .row_differences import splits_differences, with_exact_zeros
from .sweeps import MODES, inputs_of, pullback


def check_mode(mode: str) -> None:
    if mode not in MODES:
        raise UnsupportedError(f"mode {mode!r} is not supported; there are {', '.join(MODES)}")


@cached(256)
def sweep(
    y: Operand, wrt: tuple[Operand, ...], mode: str, simplify: bool | None, trace: bool = False
) -> tuple[Sequence[Operand], list[Step]]:
    """Differentiate y by several variables, in one reverse sweep or one by one; return the
    derivatives, and the steps if they are wanted."""
    check_mode(mode)
    if len(set(wrt)) != len(wrt):
        raise TensorError("a variable is named twice")
    with collector_paused():
        # As it is written, a derivative may divide what is 0 by what is 0.
        (y,), steps = stabilise([y], wrt)
        y = with_exact_zeros(y, wrt)
        results, new = by_ends(
            y, wrt, lambda own, variables: _derivatives(own, variables, mode, simplify, trace)
        )
    return results, [*steps, *new]


def _derivatives(
    y: Operand, wrt: tuple[Operand, ...], mode: str, simplify: bool | None, trace: bool
) -> tuple[Sequence[Operand], list[Step]]:
    """Compute the simplified derivatives of an expression in stable form."""
    if mode == "auto":
        return _cheapest_derivatives(y, wrt, simplify, trace)
    steps: list[Step] = []
    record = steps if trace else None
    if mode == "forward":
        blocks = chain_along_path([Part(y, wrt, False)], record)
    elif mode == "cross-country":
        blocks = [through_bottlenecks(y, v, record) for v in wrt]
    else:
        roots, seeds = _simplified_roots(y, wrt, simplify, steps)
        blocks = pullback(roots, wrt, seeds, shape_of(y), record)
    results, new = tidy(blocks, simplify, [y])
    return results, [*steps, *new]


def _cheapest_derivatives(
    y: Operand, wrt: tuple[Operand, ...], simplify: bool | None, trace: bool
) -> tuple[Sequence[Operand], list[Step]]:
    """Differentiate in reverse mode, or over bottlenecks where that is much cheaper: of short
    functions the reverse mode gives the derivatives of textbooks."""
    if splits_differences(y, wrt):
        return _derivatives(y, wrt, "forward", simplify, trace)
    reverse = [Part(y, wrt, True)]
    way, count = from_smaller_ends(y, wrt) if shape_of(y) else (reverse, 0)
    if way == reverse:
        return _derivatives(y, wrt, "reverse", simplify, trace)
    if count <= tuning.MAX_COMPARED_NODES:
        usual = _derivatives(y, wrt, "reverse", simplify, trace)
    steps: list[Step] = []
    results, new = tidy(chain_along_path(way, steps if trace else None), simplify, [y])
    if count <= tuning.MAX_COMPARED_NODES and cost(usual[0]) <= tuning.SWEEP_GAIN * cost(results):
        return usual
    return results, [*steps, *new]


def _simplified_roots(
    y: Operand, wrt: Sequence[Operand], simplify: bool | None, steps: list[Step]
) -> tuple[Sequence[Operand], list[Operand]]:
    """Return the simplified roots of the reverse sweep from y, with their seeds.

    The tensors in a stock scalar are simplified one by one, and the chain rule in the stock
    scalar itself speaks of them as they were given. So does SymPy's, which finds the same.
    """
    roots, seeds = [y], [identity(shape_of(y))]
    if not isinstance(y, TensorExpr):
        found = postorder([y], lambda n: () if isinstance(n, TensorExpr) else inputs_of(n))
        roots = [n for n in found if isinstance(n, TensorExpr) or n in wrt]
        seeds = pullback([y], roots, [S.One], ())
    tidied, new = tidy(roots, simplify, ())
    steps.extend(new)
    return tidied, seeds
