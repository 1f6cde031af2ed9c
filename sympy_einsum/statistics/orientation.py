"""The covariance put back into results, where a symbol that isn't declared symmetric stands for a
symmetric matrix: of its two orders of axes the one in which formulas have fewer transposes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sympy import Basic, latex

from ..core import transform, tuning
from ..expressions import Einsum, Operand, Operands, TensorSymbol, contract, rebuild


def with_symbol(total: Operand, stand_in: Basic, symbol: TensorSymbol) -> Operand:
    """Replace a symmetric matrix by a symbol that isn't declared so.

    >>> import sympy_einsum as se
    >>> A, Sigma = se.tensors("A Sigma", 3, 3)
    >>> S = se.TensorSymbol("S", 3, 3, symmetric=True)
    >>> with_symbol(A @ S @ A.T + A, S, Sigma)
    A @ Sigma @ A.T + A
    """

    def visit(node: Operand, below: Operands) -> Operand:
        if node == stand_in:
            return symbol
        if isinstance(node, Einsum) and stand_in in node.operands:
            return min(_oriented(node, stand_in, below), key=_transposes)
        return rebuild(node, below) if below else node

    return transform([total], visit)[0]


def _transposes(product: Operand) -> tuple[int, str]:
    """Return the number of transposes in a formula, and a text, which orders products alike in
    every process."""
    return latex(product).count(r"\top"), str(product)


def _oriented(node: Einsum, stand_in: Basic, below: Operands) -> Iterator[Operand]:
    """Yield a product with each order of the axes of each occurrence."""
    places = [k for k, operand in enumerate(node.operands) if operand == stand_in]
    count = len(places) if len(places) <= tuning.MAX_ORIENTED_FACTORS else 1
    for flips in product((False, True), repeat=count):
        subscripts = list(node.subscripts)
        for place, flip in zip(places, flips if count > 1 else flips * len(places), strict=True):
            if flip:
                subscripts[place] = subscripts[place][::-1]
        yield contract(below, subscripts, node.output, dict(enumerate(node.lengths)))
