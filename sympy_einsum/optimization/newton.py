"""Newton's method and the Levenberg–Marquardt method, with matrices whose blocks have a
structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..compiler import BlockArray, in_blocks
from ..core import lapack, tuning
from .functions import Bounds, Instance, Kink
from .optimality import polishing_goal


class Matrix(Protocol):
    """The matrix of a quadratic model of the objective."""

    def diagonal(self) -> np.ndarray: ...

    def matvec(self, v: np.ndarray) -> np.ndarray: ...

    def plus_diagonal(self, d: np.ndarray) -> Matrix: ...

    def solve(self, b: np.ndarray) -> np.ndarray: ...


Shape: TypeAlias = tuple[int, ...]
# Returns the matrix at a vector.
Model = Callable[[np.ndarray], Matrix]


class _DenseMatrix:
    """A matrix of few unknowns, which has to be positive definite for a solution; ``factor`` is its
    Cholesky factor where that is known."""

    def __init__(self, matrix: np.ndarray, factor: np.ndarray | None = None):
        self.matrix = matrix
        self.factor = factor

    def diagonal(self) -> np.ndarray:
        return self.matrix.diagonal()

    def matvec(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.matrix @ v)

    def plus_diagonal(self, d: np.ndarray) -> _DenseMatrix:
        return _DenseMatrix(self.matrix + np.diag(d))

    def solve(self, b: np.ndarray) -> np.ndarray:
        if self.factor is not None:
            return np.asarray(lapack.dpotrs(self.factor, b)[0])
        _, found, failed = lapack.dposv(self.matrix, b)
        if failed:
            raise np.linalg.LinAlgError("the matrix isn't positive definite")
        return np.asarray(found)


class Outcome(NamedTuple):
    """Where a method ended, whether it says that this is an optimum, its message, and whether the
    Hessians that it computed tell that it is a minimum."""

    vector: np.ndarray
    success: bool
    message: str
    is_minimum: bool = False


def squares_model(instance: Instance) -> Model:
    """Return the model of a sum of squares, 2 J'J, by the residual's Jacobian."""
    shapes = instance.packing.shapes

    def model(vector: np.ndarray) -> Matrix:
        if not instance.has_sparse_jacobian:
            _, matrix = instance.residual(vector)
            return _DenseMatrix(2 * matrix.T @ matrix)
        blocks = _products(instance.sparse_jacobian(vector), instance.residual_shapes, shapes)
        return BlockArray(blocks, shapes, shapes, is_symmetric=True)

    return model


def _products(rows: Any, heights: Sequence[Shape], shapes: Sequence[Shape]) -> list[list[Any]]:
    """Return the blocks of 2 J'J above the diagonal, for arrays of residuals and variables."""
    ends = accumulate(map(prod, shapes), initial=0)
    parts = [
        in_blocks(rows[:, a:b], heights, [own])
        for (a, b), own in zip(pairwise(ends), shapes, strict=True)
    ]
    del rows
    products: list[list[Any]] = []
    for i, own in enumerate(parts):
        # Products of two matrices in CSR format, or in blocks, are the fastest.
        turned = own.T if own.format == "bsr" else own.T.tocsr()
        turned.data *= 2
        products.append([None] * i + [(turned @ own).tocsr()])
        del own
        parts[i] = None
        products[i] += [turned @ other for other in parts[i + 1 :]]
    return products


def minimize_by_model(
    instance: Instance,
    start: np.ndarray,
    tolerance: float,
    record: Callable[[np.ndarray], None],
    model: Model,
    damping: float,
) -> Outcome:
    """Minimise quadratic models of the objective within the bounds, one after the other, damped by
    a multiple of their diagonals as far as it takes for steps that lower the objective as these
    predict.

    References
    ==========

    H. B. Nielsen, "Damping parameter in Marquardt's method", 1999.
    D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints",
    SIAM Journal on Control and Optimization 20(2), 1982.
    """
    bounds = instance.bounds
    vector = bounds.inside(start)
    value, gradient = instance.both(vector)
    error = _error(bounds, vector, gradient)
    growth = 2.0
    for _ in range(tuning.MAX_SOLVER_ITERATIONS):
        if error <= tolerance:
            return Outcome(vector, True, "the gradient is zero, or points out of the bounds")
        matrix = model(vector)
        scale = np.abs(matrix.diagonal())
        if not np.isfinite(scale).all():
            raise Kink(vector)
        scale = np.maximum(scale, tuning.LEAST_DIAGONAL * scale.max()) if scale.any() else scale + 1
        while True:
            if damping > tuning.MAX_DAMPING:
                return Outcome(vector, False, "no step lowers the objective")
            step = _step(matrix, damping * scale, gradient, bounds, vector)
            if step is None:
                damping, growth = max(damping * growth, tuning.FIRST_DAMPING), 2 * growth
                continue
            predicted = -(gradient @ step) - step @ matrix.matvec(step) / 2
            trial = _moved(bounds, vector, step)
            found, changed = instance.both(trial)
            new_error = _error(bounds, trial, changed)
            is_flat = abs(predicted) <= tuning.FLAT_STEP * abs(value)
            if is_flat and not new_error < error:
                return Outcome(vector, True, "the objective doesn't change any more")
            ratio = 1.0 if is_flat else (value - found) / predicted
            if ratio > tuning.MIN_RATIO and predicted > 0:
                break
            damping, growth = max(damping * growth, tuning.FIRST_DAMPING), 2 * growth
        vector, value, gradient, error = trial, found, changed, new_error
        record(vector)
        # Nielsen's factor is at least a third, which takes many steps at the end.
        damping *= max(0.2, 1 - (2 * ratio - 1) ** 3)
        damping, growth = damping if damping > tuning.MIN_DAMPING else 0.0, 2.0
    return Outcome(vector, False, "too many iterations")


def minimize_by_hessian(
    instance: Instance, start: np.ndarray, tolerance: float, record: Callable[[np.ndarray], None]
) -> Outcome:
    """Minimise by Newton's method with a line search within the bounds, for few unknowns.

    Curvatures that are negative are taken with the other sign. While steps reduce the gradient much
    the Hessian is kept, and corrected by the BFGS formula; it is computed anew for the step that
    will probably be the last, unless it tells already that the end is a minimum.

    References
    ==========

    J. Nocedal, S. J. Wright, "Numerical optimization", 2nd edition, 2006, sections 3.4, 3.5, 7.2.
    """
    bounds = instance.bounds
    here = _point(instance, bounds.inside(start))
    hessian: _Hessian | None = None
    is_kept = False
    # The error after a step by a new Hessian, relative to the square of that before.
    rate = np.inf
    before = here
    for _ in range(tuning.MAX_SOLVER_ITERATIONS):
        goal = min(tolerance, polishing_goal(here.value, tolerance))
        if here.error <= goal:
            message = "the gradient is zero, or points out of the bounds"
            is_minimum = hessian is not None and hessian.stays_definite(here.vector)
            return Outcome(here.vector, True, message, is_minimum)
        step = hessian.corrected_step(here, bounds) if hessian and is_kept else None
        is_new = hessian is None or step is None
        if hessian is None or step is None:
            hessian = _Hessian(instance, here, hessian)
            step = hessian.step(here, bounds)
            if step is None:
                break
        most = tuning.MAX_STEP_CUTS if is_new else 1
        there, cuts = _moved_down(instance, before, here, step, most)
        if there is None or there is here:
            if is_new and there is here:
                return Outcome(here.vector, True, "the objective doesn't change any more")
            if is_new:
                break
            is_kept = False
            continue
        if is_new and not cuts:
            rate = there.error / here.error**2
        is_good = not cuts and there.error <= tuning.KEPT_HESSIAN * here.error
        is_kept = is_good and hessian.corrected(here, there)
        if is_kept and rate * there.error**2 <= goal:
            is_kept = hessian.stays_definite(there.vector)
        before, here = here, there
        record(here.vector)
    else:
        return Outcome(here.vector, False, "too many iterations")
    return Outcome(here.vector, False, "no step lowers the objective")


class _Point(NamedTuple):
    """A vector, the objective and its gradient there, and how far that is from pointing out of the
    bounds."""

    vector: np.ndarray
    value: float
    gradient: np.ndarray
    error: float


def _point(instance: Instance, vector: np.ndarray) -> _Point:
    value, gradient = instance.both(vector)
    return _Point(vector, value, gradient, _error(instance.bounds, vector, gradient))


def _moved_down(
    instance: Instance, before: _Point, here: _Point, step: np.ndarray, most: int
) -> tuple[_Point | None, int]:
    """Return the end of a step, and how often it was shortened so that the objective falls; the
    point itself where that changes by rounding errors only, None after too many trials. An end
    where the objective is far steeper is nothing that the model could tell."""
    for cuts in range(most):
        fall = here.gradient @ step
        there = _point(instance, _moved(instance.bounds, here.vector, step))
        slope = there.gradient @ step
        is_known = there.error < np.inf and abs(slope) <= tuning.MAX_STEEPER * -fall
        is_better = there.value < here.value or there.error < here.error
        if is_known and is_better and there.value <= here.value + tuning.MIN_RATIO * fall:
            is_long = _norm(step) > tuning.LARGE_ENTRY
            return (_stretched(instance, here, there, step) if is_long else there), cuts
        if -fall <= tuning.FLAT_STEP * abs(here.value):
            return (there if there.error < here.error else here), cuts
        factor = _shorter(here.value, fall, there.value, slope)
        # A model may hold as far as entries are large, and beyond where the last step was long.
        length = tuning.LONGER_STEP * np.abs(here.vector - before.vector).max()
        reach = max(1 + np.abs(here.vector).max(), length)
        step = step * min(factor, reach / np.abs(step).max())
    return None, most


def _stretched(instance: Instance, here: _Point, there: _Point, step: np.ndarray) -> _Point:
    """Return the end of ten times a long step, and so on, as long as the objective falls as steeply
    at the end as at the start, as along directions in which it is linear."""
    slope = tuning.STEEP_END * (here.gradient @ step)
    while there.gradient @ step <= slope:
        step, slope = 10 * step, 10 * slope
        trial = _point(instance, _moved(instance.bounds, here.vector, step))
        if not (trial.value < there.value and trial.error < np.inf):
            break
        there = trial
    return there


class _Hessian:
    """The Hessian at a point and the one before it, and corrections of it by later gradients."""

    def __init__(self, instance: Instance, here: _Point, last: _Hessian | None):
        self.vector = here.vector
        self.held = _held(instance.bounds, here.vector, here.gradient)
        self.matrix = instance.hessian(here.vector)
        self.model = _convex(self.matrix, self.held, here.vector)
        self.is_definite = self.model.factor is not None and not self.held.any()
        self.last = None if last is None else (last.vector, last.matrix)
        self.pairs: list[tuple[np.ndarray, np.ndarray, float]] = []

    def stays_definite(self, vector: np.ndarray) -> bool:
        """Tell whether it is so far from singular that the one at a vector nearby is definite too,
        by its change from the Hessian before."""
        if self.last is None or not self.is_definite:
            return False
        before, matrix = self.last
        rate = _norm(self.matrix - matrix) / _norm(self.vector - before)
        change = rate * _norm(vector - self.vector)
        least = tuning.CHANGE_MARGIN * change + tuning.NEAR_ACTIVE * (1 + np.abs(self.matrix).max())
        shifted = self.matrix.copy()
        shifted.ravel()[:: len(vector) + 1] -= least
        return not lapack.dpotrf(shifted)[1]

    def corrected(self, here: _Point, there: _Point) -> bool:
        """Correct it by the change of the gradient along a step; tell whether that is possible."""
        step, change = there.vector - here.vector, there.gradient - here.gradient
        product = float(step @ change)
        if not self.is_definite or product <= 0:
            return False
        self.pairs.append((step, change, 1 / product))
        return True

    def step(self, here: _Point, bounds: Bounds) -> np.ndarray | None:
        """Return the step from its point, within the bounds; None where there is none."""
        found = self.corrected_step(here, bounds) if self.is_definite else None
        if found is not None:
            return found
        return _step(self.model, np.zeros(len(here.vector)), here.gradient, bounds, here.vector)

    def corrected_step(self, here: _Point, bounds: Bounds) -> np.ndarray | None:
        """Return the step by the corrected Hessian; None where it leads out of the bounds."""
        rest, weights = -here.gradient, []
        for step, change, scale in reversed(self.pairs):
            weights.append(scale * step.dot(rest))
            rest -= weights[-1] * change
        found = self.model.solve(rest)
        for step, change, scale in self.pairs:
            found += (weights.pop() - scale * change.dot(found)) * step
        falls = here.gradient.dot(found) < 0
        return found if falls and bounds.hold(here.vector + found) else None


def _norm(array: np.ndarray) -> float:
    """Return the square root of the sum of squares, of few entries in a third of the time that
    NumPy's takes."""
    entries = array.ravel()
    return float(entries.dot(entries)) ** 0.5


def _convex(matrix: np.ndarray, held: np.ndarray, vector: np.ndarray) -> _DenseMatrix:
    """Return a Hessian without the entries that are held, positive definite."""
    if not np.isfinite(matrix).all():
        raise Kink(vector)
    if held.any():
        matrix = np.where(held | held[:, None], np.diag(np.ones(len(held))), matrix)
    factor, failed = lapack.dpotrf(matrix)
    least, roots = tuning.LEAST_CURVATURE, factor.diagonal()
    if failed or roots.min() ** 2 <= least * roots.max() ** 2:
        sizes, directions = np.linalg.eigh(matrix)
        sizes = np.abs(sizes)
        sizes = np.maximum(sizes, least * (sizes.max() or 1.0))
        return _DenseMatrix((directions * sizes) @ directions.T)
    return _DenseMatrix(matrix, factor)


def _shorter(value: float, fall: float, found: float, changed: float) -> float:
    """Return by which factor to shorten a step: to the minimum of the cubic polynomial with the
    values and gradient at both ends, within limits."""
    with np.errstate(all="ignore"):
        a = fall + changed - 3 * (found - value)
        b = np.sqrt(a * a - fall * changed)
        least = 1 - (changed + b - a) / (changed - fall + 2 * b)
    return float(np.clip(least, 0.1, 0.5)) if np.isfinite(least) else 0.1


def _held(bounds: Bounds, vector: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the entries at bounds out of which steps would lead."""
    if not bounds.are_some:
        return np.zeros(len(vector), bool)
    low, high = bounds.lower - vector, bounds.upper - vector
    return ((low >= 0) & (gradient > 0)) | ((high <= 0) & (gradient < 0))


def _error(bounds: Bounds, vector: np.ndarray, gradient: np.ndarray) -> float:
    """Return how far the gradient is from pointing out of the bounds."""
    if not bounds.are_some:
        return float(np.abs(gradient).max())
    return float(np.abs(bounds.inside(vector - gradient) - vector).max())


def _moved(bounds: Bounds, vector: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return the end of a step, exactly on the bounds that it leads to."""
    if not bounds.are_some:
        return vector + step
    found = np.where(step <= bounds.lower - vector, bounds.lower, vector + step)
    return np.where(step >= bounds.upper - vector, bounds.upper, found)


def _step(
    matrix: Matrix, added: np.ndarray, gradient: np.ndarray, bounds: Bounds, vector: np.ndarray
) -> np.ndarray | None:
    """Return the step to the optimum of a damped model within the bounds, as far as a few systems
    find it; None where it isn't a minimum."""
    low, high = bounds.lower - vector, bounds.upper - vector
    held = _held(bounds, vector, gradient)
    step = np.zeros(len(gradient))
    for _ in range(tuning.MAX_BOUNDED_SYSTEMS):
        weights, right = added, -gradient
        if held.any():
            # So large a diagonal holds entries whatever the structure of the matrix.
            largest = tuning.HELD_DIAGONAL * (1 + np.abs(matrix.diagonal()).max())
            weights = np.where(held, largest, added)
            right = np.where(held, 0, right - matrix.matvec(step))
        try:
            found = (matrix.plus_diagonal(weights) if weights.any() else matrix).solve(right)
        except np.linalg.LinAlgError:
            return None
        if not bounds.are_some:
            step = found
            break
        crosses = ~held & ((found < low) | (found > high))
        step = np.where(held, step, np.clip(found, low, high))
        if not crosses.any():
            break
        held |= crosses
        step = np.where(held, step, 0)
    return step if np.isfinite(step).all() and gradient @ step < 0 else None
