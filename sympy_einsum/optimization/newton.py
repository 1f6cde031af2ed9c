"""Newton's method and the Levenberg–Marquardt method, with matrices whose blocks have a
structure."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..compiler import BlockArray
from ..core import tuning
from .functions import Instance, Kink

# Returns the matrix of a quadratic model of the objective.
Model = Callable[[np.ndarray], BlockArray]


class Outcome(NamedTuple):
    """Where a method ended, whether it says that this is an optimum, and its message."""

    vector: np.ndarray
    success: bool
    message: str


def squares_model(instance: Instance) -> Model:
    """Return the model of a sum of squares, 2 J'J, by the residual's sparse Jacobian."""
    ends, shapes = instance.packing.ends, instance.packing.shapes

    def model(vector: np.ndarray) -> BlockArray:
        rows = instance.sparse_jacobian(vector)
        parts = [rows[:, a:b] for a, b in pairwise(ends)]
        # Products of two matrices in CSR format are the fastest.
        turned = [(2 * own.T).tocsr() for own in parts]
        blocks = [
            [own @ other if i <= j else None for j, other in enumerate(parts)]
            for i, own in enumerate(turned)
        ]
        return BlockArray(blocks, shapes, shapes, is_symmetric=True)

    return model


def minimize_by_model(
    instance: Instance,
    start: np.ndarray,
    tolerance: float,
    record: Callable[[np.ndarray], None],
    model: Model,
    damping: float,
) -> Outcome:
    """Minimise quadratic models of the objective, one after the other, damped by a multiple of
    their diagonals as far as it takes for steps that lower the objective as these predict.

    References
    ==========

    H. B. Nielsen, "Damping parameter in Marquardt's method", 1999.
    """
    vector = start
    value, slopes = instance.both(vector)
    growth = 2.0
    for _ in range(tuning.MAX_SOLVER_ITERATIONS):
        if np.abs(slopes).max() <= tolerance:
            return Outcome(vector, True, "the gradient is zero")
        matrix = model(vector)
        scale = np.abs(matrix.diagonal())
        if not np.isfinite(scale).all():
            raise Kink(vector)
        scale = np.maximum(scale, tuning.LEAST_DIAGONAL * scale.max()) if scale.any() else scale + 1
        while True:
            if damping > tuning.MAX_DAMPING:
                return Outcome(vector, False, "no step lowers the objective")
            step = _step(matrix, damping * scale, slopes)
            if step is None:
                damping, growth = max(damping * growth, tuning.MIN_DAMPING), 2 * growth
                continue
            predicted = -(slopes @ step) - step @ matrix.matvec(step) / 2
            found, changed = instance.both(vector + step)
            is_flat = abs(predicted) <= tuning.FLAT_STEP * abs(value)
            if is_flat and not np.abs(changed).max() < np.abs(slopes).max():
                return Outcome(vector, True, "the objective doesn't change any more")
            ratio = 1.0 if is_flat else (value - found) / predicted
            if ratio > tuning.MIN_RATIO and predicted > 0:
                break
            damping, growth = max(damping * growth, tuning.MIN_DAMPING), 2 * growth
        vector, value, slopes = vector + step, found, changed
        record(vector)
        damping *= max(1 / 3, 1 - (2 * ratio - 1) ** 3)
        damping, growth = damping if damping > tuning.MIN_DAMPING else 0.0, 2.0
    return Outcome(vector, False, "too many iterations")


def _step(matrix: BlockArray, added: np.ndarray, slopes: np.ndarray) -> np.ndarray | None:
    """Return the step to the optimum of a damped model; None where it isn't a minimum."""
    try:
        step = (matrix.plus_diagonal(added) if added.any() else matrix).solve(-slopes)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() and slopes @ step < 0 else None
