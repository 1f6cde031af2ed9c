"""Compiled functions of a problem, and their values on data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import accumulate
from math import isfinite, prod
from typing import Any

import numpy as np
from sympy import Add, Symbol

from ..calculus import gradient, hessian, hvp, jacobian, jvp
from ..compiler import BlockArray, dense_blocks, lambdify
from ..core import once, tuning
from ..expressions import Operand, TensorSymbol, shape_of
from ..operations import tensordot
from ..rules import Blocks
from .packing import Arrays, Lengths, Packed, Packing, as_vector, free_names, numeric_shape
from .relations import Constraint


def like(name: str, value: Operand) -> Operand:
    """Return a real symbol of the shape of a value."""
    shape = shape_of(value)
    return TensorSymbol(name, shape) if shape else Symbol(name, real=True)


def weighted_sum(weights: Sequence[Operand], values: Sequence[Operand]) -> Operand:
    """Return the sum of all entries, each times its weight."""
    pairs = zip(weights, values, strict=True)
    return Add(*[tensordot(a, b, len(shape_of(b))) if shape_of(b) else a * b for a, b in pairs])


# Expressions, and the arguments that they have beside those of the problem.
Outputs = tuple[Sequence[Any], Sequence[Operand]]
_OfConstraints = Callable[["Functions", tuple[int, ...]], Callable[..., Any]]


def _by_constraints(outputs: Callable[[Functions, tuple[int, ...]], Outputs]) -> _OfConstraints:
    """Return the method that compiles what another returns, once for each choice of constraints."""

    @wraps(outputs)
    def compiled(self: Functions, which: tuple[int, ...]) -> Callable[..., Any]:
        key = outputs.__name__, which
        if key not in self.compiled:
            exprs, more = outputs(self, which)
            self.compiled[key] = lambdify([*self.arguments, *more], exprs)
        return self.compiled[key]

    return compiled


class Functions:
    """Compile the functions of a problem, each at its first use and once for all data.

    ``arguments`` are the variables, then whatever else the expressions depend on.
    """

    def __init__(
        self,
        objective: Operand,
        residuals: Sequence[Operand] | None,
        constraints: Sequence[Constraint],
        variables: Sequence[Operand],
        arguments: Sequence[Operand],
    ):
        self.objective = objective
        self.residuals = residuals
        self.residual = None if residuals is None else as_vector(residuals)
        self.gaps = [constraint.gap for constraint in constraints]
        self.equations = [constraint.is_equation for constraint in constraints]
        self.variables = [*variables]
        self.arguments = [*arguments]
        # Functions of constraints, by what they compute and of which.
        self.compiled: dict[tuple[str, tuple[int, ...]], Callable[..., Any]] = {}

    @once
    def value_and_gradient(self) -> Callable[..., Any]:
        """The objective and its gradients, computed together."""
        outputs = [self.objective, *gradient(self.objective, self.variables)]
        return lambdify(self.arguments, outputs)

    @once
    def hessian(self) -> Callable[..., Any]:
        """The objective's Hessian matrix."""
        return lambdify(self.arguments, self.second)

    @once
    def hessian_product(self) -> Callable[..., Any]:
        """The objective's Hessian times a direction, which follows the arguments."""
        directions = self._directions()
        product = hvp(self.objective, self.variables, directions)
        return lambdify([*self.arguments, *directions], product)

    @once
    def residual_and_jacobian(self) -> Callable[..., Any]:
        """The residual and its Jacobians."""
        return lambdify(self.arguments, [self.residual, *jacobian(self.residual, self.variables)])

    @once
    def jacobian(self) -> Blocks:
        """The Jacobian of the residuals, in blocks."""
        assert self.residuals is not None
        return Packed(self.variables).jacobian(self.residuals)

    @once
    def sparse_jacobian(self) -> Callable[..., Any]:
        """The Jacobian of the residuals as a sparse matrix."""
        return lambdify(self.arguments, self.jacobian, sparse=())

    @once
    def second(self) -> Blocks:
        """The objective's Hessian, in blocks."""
        return Packed(self.variables).hessian(self.objective)

    @once
    def structured_hessian(self) -> Callable[..., Any]:
        """The objective's Hessian as a matrix whose blocks have their structure."""
        return lambdify(self.arguments, self.second, structured=True)

    @once
    def affine(self) -> tuple[int, ...]:
        """The constraints whose gap is affine in all variables."""
        return tuple([k for k, gap in enumerate(self.gaps) if self._is_affine(gap)])

    @once
    def is_linear(self) -> bool:
        """Whether the objective is affine in all variables."""
        return self._is_affine(self.objective)

    @once
    def has_linear_residual(self) -> bool:
        """Whether there is a residual, affine in all variables."""
        return self.residual is not None and self._is_affine(self.residual)

    def _is_affine(self, value: Operand) -> bool:
        blocks = jacobian(value, self.variables)
        return not any({*self.variables} & block.free_symbols for block in blocks)

    @_by_constraints
    def constraint_values(self, which: tuple[int, ...]) -> Outputs:
        """Return the function that computes gaps."""
        return [self.gaps[k] for k in which], []

    @_by_constraints
    def constraint_slopes(self, which: tuple[int, ...]) -> Outputs:
        """Return the function that computes the derivatives of gaps along a direction, which
        follows the arguments."""
        directions = self._directions()
        return [jvp(self.gaps[k], self.variables, directions) for k in which], directions

    @_by_constraints
    def constraint_jacobians(self, which: tuple[int, ...]) -> Outputs:
        """Return the function that computes gaps, each with its Jacobians."""
        return [[self.gaps[k], *jacobian(self.gaps[k], self.variables)] for k in which], []

    @_by_constraints
    def constraint_pullback(self, which: tuple[int, ...]) -> Outputs:
        """Return the function that computes the gradients of a weighted sum of gaps; the weights
        follow the arguments."""
        total, weights = self._weighted(which)
        return gradient(total, self.variables), weights

    @_by_constraints
    def constraint_hessian(self, which: tuple[int, ...]) -> Outputs:
        """Return the function that computes the Hessian's blocks of a weighted sum of gaps; the
        weights follow the arguments."""
        total, weights = self._weighted(which)
        return hessian(total, self.variables), weights

    @_by_constraints
    def constraint_product(self, which: tuple[int, ...]) -> Outputs:
        """Return the function that computes that Hessian times a direction, which comes last."""
        (total, weights), directions = self._weighted(which), self._directions()
        return hvp(total, self.variables, directions), [*weights, *directions]

    def _directions(self) -> list[Operand]:
        names = free_names("direction", self._taken)
        return [like(name, x) for name, x in zip(names, self.variables, strict=False)]

    def _weighted(self, which: tuple[int, ...]) -> tuple[Operand, list[Operand]]:
        """Return the weighted sum of gaps, and the weights."""
        names = free_names("weight", self._taken)
        weights = [like(name, self.gaps[k]) for name, k in zip(names, which, strict=False)]
        return weighted_sum(weights, [self.gaps[k] for k in which]), weights

    @once
    def _taken(self) -> set[Operand]:
        exprs = [self.objective, *self.gaps, *self.arguments]
        return {symbol for expr in exprs for symbol in expr.free_symbols}


class Bounds:
    """Bounds on the entries of a vector, and the constraints that they come from.

    Attributes
    ==========

    lower, upper : the bounds, infinite where there is none
    given : both, before any was moved inside
    """

    def __init__(self, size: int):
        self.lower, self.upper = np.full(size, -np.inf), np.full(size, np.inf)
        self.given = self.lower, self.upper

    @once
    def owners(self) -> dict[str, np.ndarray]:
        """For each side the place of the bound among the entries of all constraints."""
        return {side: np.full(len(self.lower), -1) for side in ("lower", "upper")}

    @once
    def scales(self) -> dict[str, np.ndarray]:
        """For each side the factor of the entry of the vector there."""
        return {side: np.ones(len(self.lower)) for side in ("lower", "upper")}

    def add(
        self, factors: np.ndarray, places: np.ndarray, rest: np.ndarray, owners: np.ndarray
    ) -> None:
        """Add the bounds factors*x[places] + rest <= 0."""
        bounds = -rest / factors
        for side, sign in (("lower", -1), ("upper", 1)):
            ends = getattr(self, side)
            own = np.flatnonzero((sign * factors > 0) & (sign * (bounds - ends[places]) < 0))
            # Of those on one entry the tightest comes last, which is the one that stays.
            own = own[np.argsort(-sign * bounds[own], kind="stable")]
            ends[places[own]] = bounds[own]
            self.owners[side][places[own]] = owners[own]
            self.scales[side][places[own]] = np.abs(factors[own])

    def add_multipliers(self, found: np.ndarray, entries: np.ndarray) -> None:
        """Write multipliers of bounds to their places among the entries of all constraints."""
        for side, sign in (("lower", 1), ("upper", -1)):
            own = np.flatnonzero((sign * found > 0) & (self.owners[side] >= 0))
            entries[self.owners[side][own]] = sign * found[own] / self.scales[side][own]

    @once
    def are_some(self) -> bool:
        """Whether any entry is bounded."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def fixed(self) -> np.ndarray:
        """The entries whose bounds are equal."""
        fixed: np.ndarray = self.lower == self.upper
        return fixed

    def restored(self, vector: np.ndarray) -> np.ndarray:
        """Return a vector with the bounds that were given in place of those that were moved."""
        lower, upper = self.given
        if not self.are_some:
            return vector
        vector = np.where(vector <= self.lower, lower, vector)
        return np.where(vector >= self.upper, upper, vector)

    def hold(self, vector: np.ndarray) -> bool:
        """Tell whether a vector is within the bounds."""
        if not self.are_some:
            return True
        return bool((vector >= self.lower).all() and (vector <= self.upper).all())

    def violation(self, vector: np.ndarray) -> float:
        """Return the largest violation of a bound, as of its constraint."""
        if self.hold(vector):
            return 0.0
        below, above = self.given[0] - vector, vector - self.given[1]
        both = np.maximum(below * self.scales["lower"], above * self.scales["upper"])
        return float(_violations(both, np.zeros(len(vector), bool)).max())

    def inside(self, vector: np.ndarray) -> np.ndarray:
        """Return the nearest vector within the bounds."""
        if not self.are_some:
            return vector
        return np.minimum(np.maximum(vector, self.lower), self.upper)


class Unbounded(Exception):
    """Raised where the objective falls without end; holds the vector."""


class Kink(Exception):
    """Raised where derivatives aren't finite; holds the vector."""


class Instance:
    """A problem on data: its functions of one vector.

    Constraints are split into bounds, affine and other ones. All values are those of minimising.
    """

    def __init__(self, functions: Functions, packing: Packing, arrays: Arrays, lengths: Lengths):
        self.functions = functions
        self.packing = packing
        self.lengths = lengths
        count = len(functions.variables)
        self.rest = [arrays[symbol] for symbol in functions.arguments[count:]]
        # Below it the objective counts as unbounded.
        self.floor = -np.inf
        self._at: bytes | None = None
        self._first = np.nan, np.zeros(0)
        # By the vector and what counts as near: several questions are asked about the end.
        self.known_conditions: dict[tuple[bytes, float], Any] = {}
        self._residual_at: bytes | None = None
        self._residual = np.zeros((0, 1))
        self._constrained_at: bytes = b""
        self._constrained: tuple[np.ndarray, np.ndarray] | None = None
        self.bounds = Bounds(packing.size)
        self.gap_shapes = [numeric_shape(gap, lengths) for gap in functions.gaps]
        sizes = [prod(shape) for shape in self.gap_shapes]
        self.starts = [*accumulate(sizes, initial=0)]
        residual = functions.residual
        self.residual_size = 0 if residual is None else prod(numeric_shape(residual, lengths))
        bounds = self._take_bounds()
        others = [k for k in range(len(functions.gaps)) if k not in bounds]
        if self.bounds.are_some:
            self._step_inside()
        self.affine = tuple([k for k in others if k in functions.affine])
        self.curved = tuple([k for k in others if k not in functions.affine])
        self.general = (*self.affine, *self.curved)
        self.is_constrained = bool(self.general) or self.bounds.are_some
        equations = [np.full(sizes[k], functions.equations[k]) for k in self.general]
        self.equations = np.concatenate(equations) if equations else np.zeros(0, bool)
        self.owners = np.concatenate(
            [np.arange(self.starts[k], self.starts[k + 1]) for k in self.general] or [np.arange(0)]
        )

    def _step_inside(self) -> None:
        """Move bounds inside where the gradient isn't finite on them, such as a logarithm's."""
        bounds = self.bounds
        bounds.given = bounds.lower.copy(), bounds.upper.copy()
        for corner, sign in ((bounds.lower, 1), (bounds.upper, -1)):
            if not np.isfinite(corner).any():
                continue
            vector = bounds.inside(np.where(np.isfinite(corner), corner, 0.0))
            _, gradient = self._value_and_gradient(vector)
            margin = tuning.POLE_MARGIN * (1 + np.abs(corner))
            has_room = np.isfinite(corner) & (bounds.upper - bounds.lower > 4 * margin)
            at_pole = ~np.isfinite(gradient) & has_room
            corner[at_pole] += sign * margin[at_pole]

    def _take_bounds(self) -> list[int]:
        """Take affine inequalities as bounds where each entry depends on one of the vector; return
        their numbers."""
        functions, size = self.functions, self.packing.size
        which = tuple([k for k in functions.affine if not functions.equations[k]])
        if not which or not size:
            return []
        # Their derivatives along three directions say which factor and entry each would have, and
        # whether that is right.
        probe = np.random.default_rng(0).uniform(1, 2, size)
        offsets = self._call(functions.constraint_values(which), np.zeros(size))
        slopes = [
            self._call(functions.constraint_slopes(which), np.zeros(size), *parts)
            for parts in map(self.packing.unpack, (np.ones(size), np.arange(float(size)), probe))
        ]
        return [
            k
            for k, *parts in zip(which, offsets, *slopes, strict=True)
            if self._bound(self.starts[k], probe, *map(np.ravel, parts))
        ]

    def _bound(
        self,
        first: int,
        probe: np.ndarray,
        offset: np.ndarray,
        factors: np.ndarray,
        weighted: np.ndarray,
        probed: np.ndarray,
    ) -> bool:
        # An infinite bound is none.
        own = np.flatnonzero(offset != -np.inf)
        offset, factors = offset[own], factors[own]
        with np.errstate(all="ignore"):
            found = np.rint(weighted[own] / factors)
        if not (np.isfinite(offset).all() and np.all((found >= 0) & (found < len(probe)))):
            return False
        found = found.astype(int)
        expected = factors * probe[found]
        if not np.all(np.abs(probed[own] - expected) <= tuning.SAME_PROBE * np.abs(expected)):
            return False
        self.bounds.add(factors, found, offset, first + own)
        return True

    # --- values

    def _call(self, function: Callable[..., Any], vector: np.ndarray, *more: np.ndarray) -> Any:
        return function(*self.packing.unpack(vector), *self.rest, *more)

    def _array(self, shape: tuple[int, ...], compute: Callable[[], np.ndarray]) -> np.ndarray:
        """Return what is computed; where a matrix is singular that isn't a number."""
        try:
            with np.errstate(all="ignore"):
                return compute()
        except np.linalg.LinAlgError:
            return np.full(shape, np.nan)

    def _value_and_gradient(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            with np.errstate(all="ignore"):
                value, *parts = self._call(self.functions.value_and_gradient, vector)
                return float(value), self._vector(parts)
        except np.linalg.LinAlgError:
            return np.nan, np.full(self.packing.size, np.nan)

    def both(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient; the value is infinite where it isn't a number."""
        at = vector.tobytes()
        if at != self._at:
            self._first = self._value_and_gradient(vector)
            self._at = at
        value, gradient = self._first
        if value < self.floor:
            raise Unbounded(vector)
        return (value if isfinite(value) else np.inf), gradient

    def value(self, vector: np.ndarray) -> float:
        """Return the objective."""
        return self.both(vector)[0]

    def final_value(self, vector: np.ndarray) -> float:
        """Return the objective, however low."""
        try:
            return self.value(vector)
        except Unbounded:
            return self._first[0]

    def gradient(self, vector: np.ndarray) -> np.ndarray:
        """Return the gradient."""
        return self.both(vector)[1]

    def hessian(self, vector: np.ndarray) -> np.ndarray:
        """Return the Hessian matrix."""
        function, size = self.functions.hessian, self.packing.size
        return self._array((size, size), lambda: self._call(function, vector).astype(float))

    def hessian_product(self, vector: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the Hessian times a vector."""
        function, parts = self.functions.hessian_product, self.packing.unpack(np.ravel(direction))
        return self._array(
            (self.packing.size,), lambda: self._vector(self._call(function, vector, *parts))
        )

    def residual(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the residual and its Jacobian."""
        count = self.residual_size

        def compute() -> np.ndarray:
            value, *parts = self._call(self.functions.residual_and_jacobian, vector)
            return np.concatenate([np.reshape(value, (-1, 1)), self._rows(count, parts)], axis=1)

        if vector.tobytes() != self._residual_at:
            self._residual = self._array((count, 1 + self.packing.size), compute)
            self._residual_at = vector.tobytes()
        return self._residual[:, 0], self._residual[:, 1:]

    @once
    def has_sparse_jacobian(self) -> bool:
        """Whether the residual's Jacobian is large, and few of its entries may differ from 0."""
        if self.residual_size * self.packing.size < tuning.MIN_SPARSE_JACOBIAN:
            return False
        return self._has_few_entries(self.functions.jacobian, [*map(prod, self.residual_shapes)])

    @once
    def residual_shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the arrays of residuals."""
        return [numeric_shape(own, self.lengths) for own in self.functions.residuals or ()]

    @once
    def has_sparse_squares(self) -> bool:
        """Whether few entries of the squared Jacobian may differ from 0 too: at most the pairs of
        such entries in each row."""
        rows = self.sparse_jacobian(self.bounds.inside(np.ones(self.packing.size)))
        pairs = float((np.diff(rows.indptr).astype(float) ** 2).sum())
        return pairs <= tuning.MAX_SPARSE_SHARE * self.packing.size**2

    @once
    def has_sparse_hessian(self) -> bool:
        """Whether the objective's Hessian is large, and few of its entries may differ from 0."""
        if self.packing.size <= tuning.MAX_DENSE_HESSIAN:
            return False
        return self._has_few_entries(self.functions.second, self.packing.sizes)

    def _has_few_entries(self, matrix: Blocks, heights: Sequence[int]) -> bool:
        widths = self.packing.sizes
        dense = sum([heights[i] * widths[j] for i, j in dense_blocks(matrix)])
        return dense <= tuning.MAX_SPARSE_SHARE * sum(heights) * self.packing.size

    def sparse_jacobian(self, vector: np.ndarray) -> Any:
        """Return the residual's Jacobian as a sparse matrix."""
        return self._call(self.functions.sparse_jacobian, vector)

    def structured_hessian(self, vector: np.ndarray) -> BlockArray:
        """Return the Hessian as a matrix whose blocks have their structure."""
        found: BlockArray = self._call(self.functions.structured_hessian, vector)
        return found

    def constraints(
        self, vector: np.ndarray, which: tuple[int, ...] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return gaps of constraints that aren't bounds, and their Jacobian."""
        chosen = self.general if which is None else which
        if not chosen:
            return np.zeros(0), np.zeros((0, self.packing.size))
        function = self.functions.constraint_jacobians(chosen)

        def compute() -> np.ndarray:
            found = self._call(function, vector)
            gaps = [np.reshape(value, (-1, 1)) for value, *_ in found]
            rows = [self._rows(np.size(value), parts) for value, *parts in found]
            return np.concatenate([np.concatenate(gaps), np.concatenate(rows)], axis=1)

        table = self._array((self._count(chosen), 1 + self.packing.size), compute)
        return table[:, 0], table[:, 1:]

    def _count(self, which: tuple[int, ...]) -> int:
        return sum(prod(self.gap_shapes[k]) for k in which)

    def curved_constraints(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return those that aren't affine, kept for the last vector."""
        if self._constrained is None or vector.tobytes() != self._constrained_at:
            self._constrained = self.constraints(vector, self.curved)
            self._constrained_at = vector.tobytes()
        return self._constrained

    def has_finite_constraints(self, vector: np.ndarray) -> bool:
        """Tell whether the constraints that aren't affine, and their derivatives, are finite."""
        if not self.curved:
            return True
        if self.packing.size <= tuning.MAX_DENSE_HESSIAN:
            gaps, slopes = self.curved_constraints(vector)
        else:
            gaps = self.gaps(vector)
            slopes = self.constraint_pullback(vector, np.ones(len(gaps)))
        return bool(np.isfinite(gaps).all() and np.isfinite(slopes).all())

    def gaps(self, vector: np.ndarray) -> np.ndarray:
        """Return the gaps of constraints that aren't bounds, without their Jacobian."""
        if not self.general:
            return np.zeros(0)
        function = self.functions.constraint_values(self.general)
        count = self._count(self.general)
        return self._array((count,), lambda: self._vector(self._call(function, vector)))

    def constraint_pullback(self, vector: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of the weighted sum of those constraints."""
        if not self.general:
            return np.zeros(self.packing.size)
        function = self.functions.constraint_pullback(self.general)
        own = self._split(weights, self.general)
        return self._array(
            (self.packing.size,), lambda: self._vector(self._call(function, vector, *own))
        )

    def constraint_hessian(self, vector: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the Hessian of the weighted sum of the constraints that aren't affine."""
        function = self.functions.constraint_hessian(self.curved)
        own, size = self._split(weights, self.curved), self.packing.size
        return self._array((size, size), lambda: self._matrix(self._call(function, vector, *own)))

    def constraint_product(
        self, vector: np.ndarray, weights: np.ndarray, direction: np.ndarray
    ) -> np.ndarray:
        """Return that Hessian times a vector."""
        function = self.functions.constraint_product(self.curved)
        own = [*self._split(weights, self.curved), *self.packing.unpack(np.ravel(direction))]
        return self._array(
            (self.packing.size,), lambda: self._vector(self._call(function, vector, *own))
        )

    def _split(self, weights: np.ndarray, which: tuple[int, ...]) -> list[np.ndarray]:
        shapes = [self.gap_shapes[k] for k in which]
        ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
        parts = np.split(np.asarray(weights, float), ends)
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def violation(self, vector: np.ndarray) -> float:
        """Return the largest violation of a constraint."""
        found = self.bounds.violation(vector)
        if not self.general:
            return found
        return float(max(found, _violations(self.gaps(vector), self.equations).max(initial=0)))

    def violations(self, vector: np.ndarray) -> np.ndarray:
        """Return by how much each entry of all constraints is violated."""
        every = tuple(range(len(self.functions.gaps)))
        if not every:
            return np.zeros(0)
        function = self.functions.constraint_values(every)
        count = self._count(every)
        gaps = self._array((count,), lambda: self._vector(self._call(function, vector)))
        return _violations(gaps, np.repeat(self.functions.equations, np.diff(self.starts)))

    def _vector(self, parts: Sequence[Any]) -> np.ndarray:
        flat = [np.asarray(part, float).reshape(-1) for part in parts]
        # A result may be an argument, or be kept by the function.
        return flat[0].copy() if len(flat) == 1 else np.concatenate(flat)

    def _rows(self, count: int, parts: Sequence[Any]) -> np.ndarray:
        sizes = self.packing.sizes
        blocks = [np.reshape(p, (count, size)) for p, size in zip(parts, sizes, strict=True)]
        return np.concatenate(blocks, axis=1).astype(float)

    def _matrix(self, blocks: Sequence[Sequence[Any]]) -> np.ndarray:
        rows = zip(self.packing.sizes, blocks, strict=True)
        return np.concatenate([self._rows(size, row) for size, row in rows]).astype(float)


def _violations(gaps: np.ndarray, equations: np.ndarray) -> np.ndarray:
    found = np.where(equations, np.abs(gaps), np.maximum(gaps, 0))
    return np.where(np.isnan(found), np.inf, found)
