"""Backends that compute in a semiring: the instructions of a plan, spelled with its operations."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import partial, reduce
from typing import ClassVar

import numpy as np
from sympy import Expr

from ...core import UnsupportedError, postorder
from ...expressions import OneHot, Operand, Slot
from ...rules import Natural
from ..backends import Backend, Bracket, Codes, assigned, bracketed, called, called_along
from ..ir.code import Code, call, constant, name, quote
from .algebras import Semiring
from .support import LIBRARIES, semiring_support


class InSemiring(Backend):
    """Mixin that spells arithmetic in a semiring. It stands before the class of an array library,
    whose code moves, slices and writes entries."""

    semiring: ClassVar[Semiring]
    passes: ClassVar = ()
    overwrites = False
    in_blocks = False
    for_float64: ClassVar = None

    def opening(self, used: Collection[str], tensors: Sequence[str]) -> list[ast.stmt]:
        """Convert arrays to such of elements; ``dtype`` holds the elements of all."""
        found = [own for own in tensors if own not in self.positions_named]
        statements: list[ast.stmt] = []
        if self.semiring.entries != "x":
            statements = [assigned(name(own), call("entries", name(own)), 0) for own in found]
        opening = super().opening(used, found or tensors)
        if "dtype" in used:
            operations = self.semiring.operations
            needs_float = not found or isinstance(getattr(operations, "zero", 0), float)
            kind = self.common_type([*map(name, found)], [constant(0.0)] * needs_float)
            opening[0] = assigned(name("dtype"), kind, 0)
        return [*statements, *opening]

    # Scatters add in the semiring.
    scatters = Backend.scatters

    # --- scalars and elementwise

    def length(self, operands: Codes, expr: Expr) -> Code:
        """Spell an axis length: an integer, in no semiring."""
        return super().scalar(operands, expr)

    def scalar(self, operands: Codes, expr: Expr) -> Code:
        """Spell sums, products and powers of entries, and numbers of ones."""
        if isinstance(expr, Natural):
            return call("natural", self.length(operands, expr.args[0]))
        if expr.is_Integer:
            own = {0: self.zero, 1: self.one}.get(int(expr))
            return call("natural", int(expr)) if own is None else quote(own)
        if expr.is_Pow:
            base, exponent = expr.args
            return self.code(self.semiring.power, self.scalar(operands, base), int(exponent))
        if expr.args:
            parts = [self.scalar(operands, part) for part in expr.args]
            return self.multiply(parts) if expr.is_Mul else self.add(parts, (1,) * len(parts))
        if not isinstance(expr, Slot):
            raise UnsupportedError(f"the semiring {self.semiring.name!r} has no {expr}")
        return operands[expr.place]

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots, applied to every entry of arrays."""
        return self.scalar(operands, expr)

    def multiply(self, operands: Codes) -> Code:
        """Spell the broadcast product."""
        return reduce(partial(self.code, self.semiring.multiply), operands)

    def add(self, operands: Codes, signs: Sequence[int]) -> Code:
        """Spell the broadcast sum."""
        return reduce(partial(self.code, self.semiring.add), operands)

    def add_transposed(self, operands: Codes) -> Code:
        """Spell X + X'."""
        return self.add([operands[0], quote("{0}.T", operands[0])], (1, 1))

    sum = called_along("total")
    cumsum = called("running_total")
    lagged_cumsum = called("lagged_total")

    # --- products

    dot = called("dot")
    matmul = called("product")
    convolve = called("convolve")

    def weighted_gram(self, operands: Codes) -> Code:
        """Spell X' diag(w) X."""
        X, w = operands
        return call("dot", self.multiply([quote("{0}.T", X), w]), X)

    def vdot(self, operands: Codes) -> Code:
        """Spell the full contraction of two operands of one shape."""
        return call("total", self.multiply(operands))

    def einsum(self, operands: Codes, subscripts: str) -> Code:
        """Spell a contraction of two operands; of one there are diagonals only."""
        if len(operands) == 1:
            return super().einsum(operands, subscripts)
        return call("contraction", subscripts, *operands)

    # --- zeros and ones

    triangular = called("triangle")

    @property
    def zero_code(self) -> Code:
        """Zero."""
        return quote(self.zero)

    def zeros(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell zeros of the semiring, to be written to."""
        return self.full([self.zero_code], shape, kind)

    def tri(self, operands: Codes, rows: Code, columns: Code, offset: Code) -> Code:
        """Spell ones at and below a diagonal."""
        return quote("chosen({0} != 0, dtype)", super().tri(operands, rows, columns, offset))

    def one_hot(self, operands: Codes, length: Code) -> Code:
        """Spell ones at positions on a last axis."""
        return quote("chosen({0} != 0, dtype)", super().one_hot(operands, length))

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """Spell an array of numbers of ones."""
        return call("natural", super().constant(operands, array))

    def named_constant(self, constant: str) -> Code:
        """Spell a named array of the source as numbers of ones."""
        return call("natural", super().named_constant(constant))

    def assigned(self, place: Code, value: Code, sign: int) -> ast.stmt:
        """Spell the statement that writes a value into a place, or adds it."""
        return assigned(place, self.add([place, value], (1, 1)) if sign else value, 0)

    def put(self, target: Code, slices: Sequence[Bracket], block: Code, sign: int) -> ast.stmt:
        """Spell the statement that writes or adds a block of an array."""
        if sign:
            block = self.add([bracketed(target, slices), block], (1, 1))
        return super().put(target, slices, block, 0)


def backend_in_semiring(backend: type[Backend], semiring: Semiring) -> type[Backend]:
    """Return a backend that computes in a semiring.

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
        "support": {**backend.support, **semiring_support(semiring, backend)},
        "words": {*backend.words, "semiring"},
        "zero": semiring.zero.replace("np.", f"{backend.xp}."),
        "one": semiring.one,
        "namespace": {} if semiring.operations is None else {"semiring": semiring.operations},
    }
    return type(f"{backend.__name__}InSemiring", (InSemiring, backend), parts)


def positions_in(exprs: Sequence[Operand]) -> set[Operand]:
    """Return the arrays of positions on axes that some expressions take entries at."""
    return {node.indices for node in postorder(exprs) if isinstance(node, OneHot)}
