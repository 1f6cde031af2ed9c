"""Compilation of a :class:`Request` to source: stabilise, plan, run passes, emit."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sympy import Expr, Integer, MatrixBase, NDimArray, Symbol, Tuple

from ..analysis import cost
from ..contraction_order import (
    Contraction,
    Optimizer,
    check_optimizer,
    nominal_length,
    path_determining_symbols,
    path_is_near_optimal,
)
from ..core import Shape, TensorError, UnsupportedError, once, postorder, same_shape, tuning
from ..expressions import (
    STOCK_VARIABLES,
    Inv,
    LogDet,
    Operand,
    TensorSymbol,
    Unknown,
    as_operand,
    evaluated,
    free_leaves,
    holds_complex,
    shape_of,
    substitute_all,
)
from ..rules import (
    Blocks,
    Compressed,
    in_meaning,
    reroll,
    share_symmetric_carries,
    stabilise,
    structure,
    tidy,
)
from .assembled_matrices import Assembly, assembly_of
from .backends import BACKENDS, Backend, GivenFunctions
from .emit.index_bounds import position_bounds
from .emit.kernels import KernelText, kernel_text
from .emit.modules import Line, SourceModule, module_of
from .emit.signature import RESERVED, Signature, size_code
from .emit.writer import Body, function_body, kernel_body
from .ir.code import Code, as_code, constant, quote
from .ir.plans import Plan, proven
from .ir.scans import in_bodies
from .low_rank_blocks import LowRankSum, low_rank_sum
from .lowering.scheduling import is_large_system
from .passes.in_place import overwritten
from .passes.instruction_order import reductions_first
from .passes.row_blocks import in_row_blocks
from .passes.symmetric_carries import keep_symmetric
from .planning import Prepared, plan_prepared, prepare
from .semirings.algebras import semiring_of
from .semirings.backends import backend_in_semiring, positions_in
from .sparse_matrices import (
    SparseMatrix,
    is_zero,
    sparse_block,
    sparse_blocks,
    sparse_matrix,
    sparse_system,
)

# The numbers that symbols in axis lengths stand for.
Lengths: TypeAlias = Mapping[Expr, Integer]

# A symbol or a list of them.
Arguments: TypeAlias = Operand | Sequence[Operand]
# Arranges the code of expressions to that of a result.
Layout = Callable[[Sequence[Code]], Code]


class Request(NamedTuple):
    """The arguments of a compilation."""

    args: Arguments
    exprs: object
    backend: str = "numpy"
    check: bool = True
    cse: bool = True
    optimize: Optimizer = "auto"
    semiring: object = None
    functions: Mapping[str, Callable[..., Any]] | None = None
    structured: bool = False
    # The variables whose axes may be the columns of sparse matrices, where these are wanted.
    sparse: tuple[Operand, ...] | None = None


class CachedPlan:
    """A plan, what it was made from, and the axis lengths that it was made for; others were
    nominal."""

    def __init__(self, plan: Plan, prepared: Prepared, lengths: Lengths):
        self.plan = plan
        self.prepared = prepared
        self.lengths = lengths

    def fits(self, lengths: Lengths, optimize: Optimizer, systems: Iterable[Operand]) -> bool:
        """Check whether for other lengths the same is lowered, in orders that are about as good,
        and systems are solved with the same matrices as sparse ones."""
        old, new = _size(self.lengths), _size(lengths)
        rows = [matrix.shape[0] for matrix in systems]
        if any(is_large_system(old(n)) != is_large_system(new(n)) for n in rows):
            return False
        products = dict.fromkeys(self.plan.contractions)
        if not all(path_is_near_optimal(own, self.lengths, lengths, optimize) for own in products):
            return False
        lowered = self._lowered
        return lowered is not None and lowered == self.prepared.multiplied_out(_size(lengths))

    @once
    def _lowered(self) -> list[Operand] | None:
        return self.prepared.multiplied_out(_size(self.lengths))


class Compilation:
    """The expressions, signature and backend of one compilation."""

    def __init__(self, request: Request, reserved: Iterable[str] = ()):
        self.request = request
        backend = _backend(request)
        self.backend = backend()
        self.sparse_matrices = None if request.sparse is None else backend.sparse_matrices()
        check_optimizer(request.optimize)
        given = _arguments(request.args)
        stand_ins = {own: own.stand_in() for own in given if isinstance(own, Unknown)}
        symbols = [stand_ins.get(own, own) for own in given]
        exprs: list[Expr] = []
        # Tensors of which only some factors are computed, and whose positions are checked.
        self._placed: list[Expr] = []
        self.layout = self._layout(request.exprs, exprs)
        exprs = evaluated(exprs)
        if stand_ins:
            exprs = substitute_all(exprs, stand_ins)
        if any(map(holds_complex, exprs)):
            self.backend = (backend.for_complex or backend)()
            self.backend.is_complex = True
        self.shapes = [shape_of(expr) for expr in exprs]
        self.signature = Signature(symbols, self.backend, reserved, [*exprs, *self._placed])
        taken = {*RESERVED, *self.backend.reserved(), *self.signature.names.values()}
        self.backend.functions = GivenFunctions(request.functions, taken)
        if request.semiring is not None:
            self.exprs = in_meaning(exprs, semiring_of(request.semiring).name)
            named = [s for s in self.signature.names if s in positions_in(exprs)]
            self.backend.positions_named = [self.signature.names[s] for s in named]
        elif request.optimize is False:
            self.exprs = exprs
        else:
            if self.backend.loops and not self.backend.is_complex:
                fuses, keeps = self.backend.loops != "written", not self.backend.is_compiled
                exprs = [*reroll(exprs, fuses=fuses, keeps_integers=keeps)]
            self.exprs = _in_best_forms(exprs)
        self._check_complete()
        if self._systems and self.sparse_matrices is None:
            self.sparse_matrices = backend.sparse_matrices()
        # Those for arrays of doubles are shared.
        self._known: list[CachedPlan] = []

    def _layout(self, exprs: Any, leaves: list[Expr]) -> Layout:
        """Collect the expressions of a nested list, or where these are wanted the cores of those
        with structure or the entries of sparse matrices; returns how to write it from their
        code."""
        if isinstance(exprs, (list, tuple)):
            parts = [self._layout(part, leaves) for part in exprs]
            kind = ast.List if isinstance(exprs, list) else ast.Tuple
            return lambda codes: kind([part(codes) for part in parts])
        position = len(leaves)
        if isinstance(exprs, Blocks) and self.request.structured:
            return self._structured(exprs, leaves)
        placed = self._matrix(exprs)
        if placed is not None:
            leaves.extend(placed.leaves)
            last = len(leaves)
            if isinstance(placed, Assembly):
                return lambda codes: placed.code(codes[position:last], self._length)
            return lambda codes: self._sparse(codes[position:last], placed)
        expr = as_operand(exprs)
        found = structure(expr) if self.request.structured else None
        if found is None:
            half = self._rows_of_sparse(expr) if self.request.structured else ()
            if half:
                return self._structured(Blocks(((expr,),), (half,), (half,)), leaves)
            leaves.append(expr)
            return lambda codes: codes[position]
        leaves.extend(found.cores)
        end = len(leaves)
        return lambda codes: self._compressed(codes[position:end], found)

    def _matrix(self, expr: Any) -> SparseMatrix | Assembly | None:
        """Return the positions of the entries of a matrix, where these are computed alone."""
        is_in_blocks = isinstance(expr, Blocks)
        if self.request.sparse is not None:
            if is_in_blocks:
                return sparse_blocks(expr)
            return sparse_matrix(as_operand(expr), self.request.sparse)
        if not is_in_blocks or "assembled" not in self.backend.support or self.request.semiring:
            return None
        self._placed.extend([block for row in expr.blocks for block in row])
        return assembly_of(expr)

    def _structured(self, matrix: Blocks, leaves: list[Expr]) -> Layout:
        """Collect the blocks of a matrix, each with its structure."""
        if self.backend.name not in ("numpy", "numba"):
            raise UnsupportedError(
                f"backend {self.backend.name!r} has no matrices of structured blocks; leave "
                "structured out, or take the backend 'numpy'"
            )
        layouts: list[list[Layout]] = []
        for i, row in enumerate(matrix.blocks):
            layouts.append([])
            for j, block in enumerate(row):
                is_left_out = (matrix.is_symmetric and j < i) or is_zero(block)
                layouts[i].append(_nothing if is_left_out else self._block(matrix, i, j, leaves))

        def laid_out(codes: Sequence[Code]) -> Code:
            blocks = [as_code([part(codes) for part in line]) for line in layouts]
            rows, columns = [map(self._spelled, own) for own in (matrix.rows, matrix.columns)]
            shapes = as_code([*rows]), as_code([*columns])
            return quote("block_array({0}, {1}, {2}, {3})", blocks, *shapes, matrix.is_symmetric)

        return laid_out

    def _rows_of_sparse(self, expr: Operand) -> Shape:
        """Return the shape of the rows of a tensor that comes back as a matrix of one block, since
        its rows and columns are alike, and it has several diagonals or gathers, or is such a
        matrix plus one of low rank; else nothing."""
        shape = shape_of(expr)
        half = shape[: len(shape) // 2]
        is_square = len(shape) % 2 == 0 and same_shape(half, shape[len(half) :])
        if not half or not is_square or self.backend.name != "numpy" or is_zero(expr):
            return ()
        found = sparse_block(expr, half, half) if find_spec("scipy") else None
        has_diagonals = found is not None and not any(term.above for term in found.terms)
        return half if has_diagonals or low_rank_sum(expr) else ()

    def _low_rank(self, found: LowRankSum, half: Shape, leaves: list[Expr]) -> Layout:
        """Collect the parts of a block of low rank beside another."""
        core = self._block(Blocks(((found.core,),), (half,), (half,)), 0, 0, leaves)
        position = len(leaves)
        leaves.extend([own for pair in found.factors for own in pair])
        end = len(leaves)
        return lambda codes: as_code([core(codes), *codes[position:end]])

    def _block(self, matrix: Blocks, i: int, j: int, leaves: list[Expr]) -> Layout:
        """Collect the entries of a block: sparse where gathers or several patterns place these."""
        block, row, column = matrix.blocks[i][j], matrix.rows[i], matrix.columns[j]
        position = len(leaves)
        self._placed.append(block)
        found = sparse_block(block, row, column)
        if found is None or not found.positions:
            core = structure(block) if row and column else None
            if core is not None:
                leaves.extend(core.cores)
                end = len(leaves)
                return lambda codes: self._compressed(codes[position:end], core)
        summed = low_rank_sum(block) if i == j and same_shape(row, column) else None
        if found is None and summed is not None:
            return self._low_rank(summed, row, leaves)
        if found is None or not self.backend.sparse or find_spec("scipy") is None:
            leaves.append(block)
            return lambda codes: codes[position]
        if self.sparse_matrices is None:
            self.sparse_matrices = type(self.backend).sparse_matrices()
        leaves.extend(found.leaves)
        last = len(leaves)
        return lambda codes: self._sparse(codes[position:last], found)

    def _sparse(self, codes: Sequence[Code], found: SparseMatrix) -> Code:
        """Spell a sparse matrix by the code of its entries."""
        return found.code(codes, self._length, self.signature.names.values())

    def _length(self, length: Expr) -> Code:
        return size_code(length, self.signature.names, self.backend)

    def _spelled(self, shape: Shape) -> Code:
        return as_code([*map(self._length, shape)])

    def _compressed(self, codes: Sequence[Code], found: Compressed) -> Code:
        """Spell cores with their pattern and shape."""
        shape = [*map(self._length, found.shape)]
        cores = codes[0] if len(codes) == 1 else codes
        return quote("compressed({0}, {1}, {2})", cores, found.pattern, shape)

    def _check_complete(self) -> None:
        missing = free_leaves(*self.exprs) - set(self.signature.names)
        if missing:
            shown = ", ".join(sorted(str(symbol) for symbol in missing))
            raise TensorError(
                f"{shown} occurs in the expressions, but is neither an argument nor an axis length "
                f"of one; add it to the arguments{_for_lengths(missing)}"
            )

    @once
    def _prepared(self) -> Prepared:
        return prepare(self.exprs)

    @once
    def _systems(self) -> Mapping[Operand, SparseMatrix]:
        """The matrices that systems are solved with, as sparse ones, if they are."""
        if not self.backend.has_sparse_factors or self.request.semiring is not None:
            return {}
        matrices = [
            node.operands[0]
            for form in self._prepared.forms
            for node in postorder(form)
            if isinstance(node, (Inv, LogDet))
        ]
        found = {matrix: sparse_system(matrix) for matrix in dict.fromkeys(matrices)}
        return {matrix: own for matrix, own in found.items() if own is not None}

    def plan(self, lengths: Lengths = MappingProxyType({})) -> Plan:
        """Plan for some axis lengths, others are nominal; or return a plan that was made for others
        before, if the same is lowered for these, in orders that are about as good."""
        for known in self._known:
            if known.fits(lengths, self.request.optimize, self._systems):
                return known.plan
        plan = self._planned(lengths)
        del self._known[tuning.MAX_PLANS - 1 :]
        self._known.append(CachedPlan(plan, self._prepared, lengths))
        return plan

    def _planned(self, lengths: Lengths) -> Plan:
        """Make the plan for some axis lengths, after the passes of the backend."""
        request, backend = self.request, self.backend
        size = _size(lengths)
        options = request.optimize, request.cse, backend.by_rows, True, self._systems
        plan = plan_prepared(self._prepared, size, *options)
        first = plan
        if request.semiring is None:
            plan = keep_symmetric(plan)
        for backend_pass in backend.passes:
            plan = in_bodies(backend_pass)(plan)
        return proven(in_bodies(reductions_first)(plan), self.shapes)._replace(
            contractions=first.contractions
        )

    def for_float64(self) -> Compilation | None:
        """Return the program of the float64 fast path, if the library has one and no argument holds
        positions."""
        backend, signature = self.backend.for_float64, self.signature
        is_of_float64 = not self.backend.is_complex and not positions_in(self.exprs)
        if backend is None or not any(map(shape_of, signature.symbols)) or not is_of_float64:
            return None
        other = copy(self)
        other.backend = backend()
        other.backend.functions = self.backend.functions
        other.signature = copy(signature)
        other.signature.backend = other.backend
        return other

    def deciding(self, contractions: Sequence[Contraction]) -> list[Expr]:
        """Return the lengths that the best orders of contraction depend on, and those of sparse
        matrices: small ones are factored as dense ones."""
        found = {*path_determining_symbols(contractions, self.request.optimize)}
        found.update(s for matrix in self._systems for s in matrix.shape[0].free_symbols)
        return sorted(found, key=str)

    def body(
        self, plan: Plan, reuse: bool = True, careful: bool = False, in_blocks: bool = True
    ) -> Body:
        """Return the body of the function that computes a plan."""
        if self.backend.is_compiled:
            kernel = kernel_text(self.signature, plan, self.bounds)
            return kernel_body(self.signature, kernel, self.layout)
        # Real arrays couldn't be overwritten with complex numbers.
        reuse = reuse and not self.backend.is_complex
        rows = in_row_blocks(plan) if reuse and in_blocks and self.backend.in_blocks else None
        plan = rows.plan if rows else plan
        reused = overwritten(plan) if reuse and self.backend.overwrites else None
        body = function_body(self.signature, plan, self.layout, reused, careful, rows)
        body.constants.update({**self.backend.namespace, **self.backend.functions.used})
        return body

    def checks(self, error: str) -> Sequence[Line]:
        """Return the lines that check the arguments."""
        return self.signature.checks(error, self.bounds)

    def quick_checks(self, used: Collection[str]) -> tuple[list[ast.stmt], list[str]]:
        """Return the statements that read axis lengths for lines that use some variables, and the
        tests that arguments are of doubles and need no other check."""
        signature = self.signature
        if self.request.check:
            return signature.quick_checks(self.bounds)
        symbols = [s for s in signature.symbols if signature.names[s] in used]
        arrays = [signature.names[s] for s in symbols if shape_of(s)]
        numbers = [signature.names[s] for s in symbols if not shape_of(s)]
        lengths = [s for s in signature.lengths if signature.names[s] in used]
        return signature.read_lengths(lengths), self.backend.type_tests(arrays, numbers)

    @once
    def bounds(self) -> dict[Expr, str]:
        """Collect the expressions in positions that mustn't be negative, with what is wrong."""
        return position_bounds([*self.exprs, *self._placed], self.signature.symbols)

    def few_rows(self, plan: Plan) -> list[str]:
        """State the condition under which a plan that takes rows in blocks needs no blocks."""
        rows = in_row_blocks(plan) if self.backend.in_blocks else None
        if rows is None:
            return []
        return [f"len({self.signature.names[rows.arguments[0]]}) < {tuning.MIN_BLOCKED_ROWS}"]

    def module(
        self,
        name: str,
        lines: Sequence[Line],
        first: Sequence[str] = (),
        kernel: KernelText | None = None,
    ) -> SourceModule:
        """Return the module of a function with a body; other arguments may come first."""
        arguments = [*first, *self.signature.arguments]
        return module_of(self.backend, name, arguments, lines, kernel)

    def source(self, body: Body) -> SourceModule:
        """Return the module of a function that computes only."""
        return self.module("function", [*body.reads, *body.block()], kernel=body.kernel)


def _nothing(codes: Sequence[Code]) -> Code:
    """Spell a block of zeros."""
    return constant(None)


def _size(lengths: Lengths) -> Callable[[Expr], int]:
    """Return the function that tells what a length counts as, where some are known."""
    return cache(lambda length: nominal_length(length.xreplace(lengths)))


def backend_class(name: object) -> type[Backend]:
    """Return the backend of a name."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise UnsupportedError(f"no backend {str(name)[:80]!r}; there are {', '.join(BACKENDS)}")
    return BACKENDS[name]


def _backend(request: Request) -> type[Backend]:
    backend = backend_class(request.backend)
    if request.semiring is None:
        return backend
    if backend.is_compiled:
        raise UnsupportedError(f"backend {backend.name!r} has no semirings")
    return backend_in_semiring(backend, semiring_of(request.semiring))


def _arguments(args: Arguments) -> list[Expr]:
    symbols = list(args) if isinstance(args, (list, tuple)) else [args]
    symbols = [as_operand(s) if isinstance(s, STOCK_VARIABLES) else s for s in symbols]
    for symbol in symbols:
        if isinstance(symbol, (list, tuple, Tuple, MatrixBase, NDimArray)):
            raise TensorError(
                f"an argument is a TensorSymbol or a Symbol, not a {type(symbol).__name__} of "
                "some: for symbols that come in one array, make them entries of a TensorSymbol x, "
                "with expression.subs(dict(zip(symbols, x)))"
            )
        if not isinstance(symbol, (TensorSymbol, Symbol, Unknown)):
            raise TensorError(
                f"an argument is a TensorSymbol or a Symbol, not {symbol!r}; arguments come first, "
                "expressions after them"
            )
    if len(set(symbols)) != len(symbols):
        raise TensorError("an argument is given twice")
    return symbols


def _in_best_forms(exprs: Sequence[Expr]) -> list[Expr]:
    """Choose one form for all expressions, which shares most, if that doesn't cost more; then
    rewrite stably."""
    tidied, _ = tidy(exprs, None, ())
    if tidied is exprs and 1 < len(exprs) <= tuning.MAX_SEPARATE_EXPRESSIONS:
        # Derivatives are those of the tidy form of a function, and share that with its value.
        tidied = [tidy([expr], None, ())[0][0] for expr in exprs]
    is_new = any(new is not old for new, old in zip(tidied, exprs, strict=True))
    is_better = is_new and cost(tidied) <= cost(exprs)
    best, _ = stabilise(tidied if is_better else exprs, numeric=True)
    return [*share_symmetric_carries(best)]


def _for_lengths(missing: Iterable[Expr]) -> str:
    """Return the remedy for missing lengths of tensors that cancelled, as in the gradient of
    x.mean()."""
    if not any(isinstance(s, Symbol) and s.is_integer for s in missing):
        return ""
    return "; for the length of an axis that no argument has, add the symbol or a tensor with it"
