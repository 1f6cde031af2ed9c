"""Second derivatives by a vector of which only parts are used, block by block."""

from __future__ import annotations

from sympy import Add, Expr, S

from ..core import postorder, tuning
from ..expressions import Einsum, Operand, Positions, Selection, TensorSymbol, Unit, contract
from ..operations import add
from ..rules import tidy
from .sweeps import sweep


def hessian_by_parts(f: Operand, x: TensorSymbol) -> Operand | None:
    """Return the Hessian by a vector, as the blocks of the parts that it is used by, such as those
    of ``pack``; None unless these are several that make it up. A sweep by the whole vector has an
    axis of all its entries everywhere."""
    parts = _parts(f, x)
    if parts is None:
        return None
    prefix = "part"
    while any(str(symbol).startswith(prefix) for symbol in f.free_symbols):
        prefix += "_"
    symbols = [TensorSymbol(f"{prefix}{k}", own.size) for k, own in enumerate(parts)]
    starts = [Add(*[own.size for own in parts[:k]]) for k in range(len(parts))]
    selections = [
        Positions(x.shape[0], start, (1,), (own.size,))
        for start, own in zip(starts, parts, strict=True)
    ]
    pairs = [*zip(parts, symbols, strict=True)]
    inner = f.xreplace({node: own if node.shape else own[0] for node, own in pairs})
    if x in inner.free_symbols:
        return None
    gradients, _ = sweep(inner, tuple(symbols), "auto", None)
    terms = []
    for i, own in enumerate(gradients):
        for j, block in enumerate(sweep(own, tuple(symbols[i:]), "auto", None)[0], i):
            operands = selections[i], block, selections[j]
            lengths = {0: x.shape[0], 1: parts[i].size, 2: parts[j].size, 3: x.shape[0]}
            labels = (1, 0), (1, 2), (2, 3)
            terms += [contract(operands, labels, (0, 3), lengths)]
            terms += [contract(operands, labels, (3, 0), lengths)] * (i < j)
    back = {own: node if node.shape else node.reshape(1) for node, own in pairs}
    return tidy([add(*terms).xreplace(back)], None, ())[0][0]


def _parts(f: Operand, x: TensorSymbol) -> list[Einsum] | None:
    """Return the slices and entries of a vector, in order, by which an expression depends on it."""
    if x.assumptions:
        return None
    by_start: dict[Expr, Einsum] = {}
    for node in postorder([f]):
        if x not in getattr(node, "operands", ()):
            continue
        others = [own for own in node.operands if own is not x]
        if not isinstance(node, Einsum) or len(node.operands) != 2 or len(others) != 1:
            return None
        (own,) = others
        if not isinstance(own, (Unit, Selection)) or node.shape != own.shape[:-1]:
            return None
        _, start, steps, _ = own.data
        if steps not in ((), (S.One,)) or by_start.setdefault(start, node) is not node:
            return None
    found, start = [], S.Zero
    while start in by_start:
        found.append(by_start[start])
        start += found[-1].size
    are_all = len(found) == len(by_start) and start == x.shape[0]
    is_worth = 1 < len(found) <= tuning.MAX_VECTOR_PARTS and any(own.shape for own in found)
    return found if are_all and is_worth else None
