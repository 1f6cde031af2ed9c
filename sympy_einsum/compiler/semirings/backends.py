"""Backends that compute in a semiring: the instructions of a plan, spelled with its operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import ClassVar

import numpy as np
from sympy import Expr

from ...core import UnsupportedError, postorder
from ...expressions import OneHot, Operand, Slot
from ...rules import Natural
from ..backends import Backend, Texts, called, called_along
from .algebras import Semiring
from .support import LIBRARIES, semiring_support


class InSemiring(Backend):
    """Mixin that spells arithmetic in a semiring. It stands before the class of an array library,
    whose code moves, slices and writes entries."""

    semiring: ClassVar[Semiring]
    passes: ClassVar = ()
    overwrites = False
    in_blocks = False
    for_doubles: ClassVar = None

    def opening(self, body: str, tensors: Texts) -> list[str]:
        """Arrays become such as hold elements, and ``dtype`` is what holds those of all."""
        found = [name for name in tensors if name not in self.positions_named]
        lines = [f"{name} = entries({name})" for name in found]
        first, *rest = [*super().opening(body, found or tensors), ""]
        if first.startswith("dtype = "):
            own = self.semiring.operations
            needs_float = not found or isinstance(getattr(own, "zero", 0), float)
            first = f"dtype = {self.common_type(found, ['0.0'] * needs_float)}"
        lines = lines if self.semiring.entries != "x" else []
        return [*lines, *filter(None, [first, *rest])]

    # Scatters add in the semiring.
    scatters = Backend.scatters

    # --- scalars and elementwise

    def length(self, operands: Texts, expr: Expr) -> str:
        """An axis length: an integer, in no semiring."""
        return super().scalar(operands, expr)

    def scalar(self, operands: Texts, expr: Expr) -> str:
        """Sums, products and powers of entries, and numbers of ones."""
        if isinstance(expr, Natural):
            return f"natural({self.length(operands, expr.args[0])})"
        if expr.is_Integer:
            return {0: self.zero, 1: self.one}.get(int(expr), f"natural({expr})")
        if expr.is_Pow:
            base, exponent = expr.args
            text = self.semiring.power.format(self.scalar(operands, base), exponent)
            return self.spell(text)
        if expr.args:
            parts = [self.scalar(operands, part) for part in expr.args]
            return self.multiply(parts) if expr.is_Mul else self.add(parts, (1,) * len(parts))
        if not isinstance(expr, Slot):
            raise UnsupportedError(f"the semiring {self.semiring.name!r} has no {expr}")
        return operands[expr.place]

    def elementwise(self, operands: Texts, expr: Expr) -> str:
        """A SymPy scalar expression in slots, applied to every entry of arrays."""
        return self.scalar(operands, expr)

    def multiply(self, operands: Texts) -> str:
        """The broadcast product."""
        return self.spell(reduce(self.semiring.multiply.format, operands))

    def add(self, operands: Texts, signs: Sequence[int]) -> str:
        """The broadcast sum."""
        return self.spell(reduce(self.semiring.add.format, operands))

    def add_transposed(self, operands: Texts) -> str:
        """X + X'."""
        return self.add([operands[0], f"{operands[0]}.T"], (1, 1))

    sum = called_along("total")
    cumsum = called("running_total")
    lagged_cumsum = called("lagged_total")

    # --- products

    dot = called("dot")
    matmul = called("product")
    convolve = called("convolve")

    def weighted_gram(self, operands: Texts) -> str:
        """X' diag(w) X."""
        return f"dot({self.multiply([f'{operands[0]}.T', operands[1]])}, {operands[0]})"

    def vdot(self, operands: Texts) -> str:
        """The full contraction of two operands of one shape."""
        return f"total({self.multiply(operands)})"

    def einsum(self, operands: Texts, subscripts: str) -> str:
        """A contraction of two operands; of one there are diagonals only."""
        if len(operands) == 1:
            return super().einsum(operands, subscripts)
        return f"contraction({subscripts!r}, {operands[0]}, {operands[1]})"

    # --- zeros and ones

    triangular = called("triangle")

    def zeros(self, operands: Texts, shape: Texts, kind: str) -> str:
        """Zeros of the semiring, to be written to."""
        return self.full([self.zero], shape, kind)

    def tri(self, operands: Texts, rows: str, columns: str, offset: str) -> str:
        """Ones at and below a diagonal."""
        return f"chosen({super().tri(operands, rows, columns, offset)} != 0, dtype)"

    def one_hot(self, operands: Texts, length: str) -> str:
        """Ones at positions on a last axis."""
        return f"chosen({super().one_hot(operands, length)} != 0, dtype)"

    def constant(self, operands: Texts, array: np.ndarray) -> str:
        """An array of numbers of ones."""
        return f"natural({super().constant(operands, array)})"

    def named_constant(self, name: str) -> str:
        """A named array of the source as numbers of ones."""
        return f"natural({super().named_constant(name)})"

    def assigned(self, place: str, value: str, sign: int) -> str:
        """The statement that writes a value into a place, or adds it."""
        return f"{place} = {self.add([place, value], (1, 1)) if sign else value}"

    def put(self, target: str, brackets: str, block: str, sign: int) -> str:
        """The statement that writes or adds a block of an array."""
        if sign:
            block = self.add([f"{target}{brackets}", block], (1, 1))
        return super().put(target, brackets, block, 0)


def in_semiring(backend: type[Backend], semiring: Semiring) -> type[Backend]:
    """A backend that computes in a semiring.

    Raises
    ======

    UnsupportedError : there is no code for semirings in that library
    """
    if backend.name not in LIBRARIES:
        raise UnsupportedError(
            f"backend {backend.name!r} doesn't compute in semirings; {', '.join(LIBRARIES)} do"
        )
    parts = {
        "semiring": semiring,
        "support": {**backend.support, **semiring_support(semiring, backend.name)},
        "words": {*backend.words, "semiring"},
        "zero": re.sub(r"\bnp\.", f"{backend.xp}.", semiring.zero),
        "one": semiring.one,
        "namespace": {} if semiring.operations is None else {"semiring": semiring.operations},
    }
    return type(f"{backend.__name__}InSemiring", (InSemiring, backend), parts)


def positions_in(exprs: Sequence[Operand]) -> set[Operand]:
    """The arrays of positions on axes that some expressions take entries at."""
    return {node.indices for node in postorder(exprs) if isinstance(node, OneHot)}
