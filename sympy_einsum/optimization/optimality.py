"""Multipliers, and how far a vector is from the conditions for an optimum."""

from __future__ import annotations

from math import isfinite, prod
from typing import NamedTuple

import numpy as np

from ..core import lapack, optimize, tuning
from .functions import Instance


class Conditions(NamedTuple):
    """Multipliers at a vector, and the largest violation of the KKT conditions.

    Attributes
    ==========

    general : multipliers of the constraints that aren't bounds
    bounds : those of bounds, positive at a lower and negative at an upper one
    residual : the largest of: entry of the Lagrangian's gradient, violation, and product of a
        multiplier with its gap
    violation : the largest violation of a constraint
    """

    general: np.ndarray
    bounds: np.ndarray
    residual: float
    violation: float


class Active(NamedTuple):
    """Constraints that hold with equality: of entries of the vector, and of general ones."""

    lower: np.ndarray
    upper: np.ndarray
    general: np.ndarray


def active_at(instance: Instance, vector: np.ndarray, gaps: np.ndarray, near: float) -> Active:
    """Return the constraints that are at most ``near`` from equality."""
    bounds, scale = instance.bounds, 1 + np.abs(vector)
    with np.errstate(invalid="ignore"):
        lower = vector - bounds.lower <= near * scale
        upper = (bounds.upper - vector <= near * scale) & ~lower
    return Active(lower, upper, instance.equations | (gaps >= -near))


def conditions_at(instance: Instance, vector: np.ndarray, near: float) -> Conditions:
    """Return the multipliers that fulfil the conditions best, with those of constraints that are
    further than ``near`` from equality 0."""
    key = vector.tobytes(), near if instance.is_constrained else 0.0
    if key not in instance.known_conditions:
        instance.known_conditions[key] = _conditions_at(instance, vector, near)
    found: Conditions = instance.known_conditions[key]
    return found


def _conditions_at(instance: Instance, vector: np.ndarray, near: float) -> Conditions:
    gradient = instance.gradient(vector)
    if not instance.is_constrained:
        residual = float(np.abs(gradient).max(initial=0))
        nothing = np.zeros(0), np.zeros(len(vector))
        return Conditions(*nothing, residual if isfinite(residual) else np.inf, 0.0)
    gaps, rows = instance.constraints(vector)
    violation = instance.violation(vector)
    general, bounds = np.zeros(len(gaps)), np.zeros(len(vector))
    known = np.isfinite(gradient).all() and np.isfinite(rows).all() and np.isfinite(gaps).all()
    if not known:
        return Conditions(general, bounds, np.inf, violation)
    active = active_at(instance, vector, gaps, near)
    free = ~(active.lower | active.upper)
    if active.general.any():
        # Multipliers of entries that both bounds fix have any sign.
        loose = ~instance.bounds.fixed
        general[active.general] = _multipliers(
            rows[active.general][:, loose],
            gradient[loose],
            free[loose],
            active.lower[loose],
            instance.equations[active.general],
        )
    remaining = gradient + general @ rows
    bounds[active.lower] = np.maximum(remaining[active.lower], 0)
    bounds[active.upper] = np.minimum(remaining[active.upper], 0)
    fixed = instance.bounds.fixed
    bounds[fixed] = remaining[fixed]
    stationarity = np.abs(remaining - bounds).max(initial=0)
    products = np.abs(general * gaps)[~instance.equations].max(initial=0)
    ends = np.where(bounds > 0, instance.bounds.lower, instance.bounds.upper)
    touching = bounds != 0
    at_bounds = np.abs(bounds[touching] * (vector - ends)[touching]).max(initial=0)
    residual = max(stationarity, violation, products, at_bounds)
    return Conditions(general, bounds, float(residual), violation)


def _multipliers(
    rows: np.ndarray,
    gradient: np.ndarray,
    free: np.ndarray,
    at_lower: np.ndarray,
    equations: np.ndarray,
) -> np.ndarray:
    """Solve rows.T @ multipliers = -gradient by least squares; those of inequalities and bounds
    have a sign."""
    fixed = np.flatnonzero(~free)
    signs = np.where(at_lower[fixed], -1.0, 1.0)
    # Those of bounds make up for any rest that has their sign.
    general = np.linalg.lstsq(rows[:, free].T, -gradient[free])[0]
    has_signs = (general[~equations] >= 0).all()
    has_signs &= (signs * (gradient + general @ rows)[fixed] <= 0).all()
    if has_signs:
        return general
    if len(gradient) > tuning.MAX_DENSE_HESSIAN:
        # The signs of bounds' multipliers are checked afterwards.
        rows, gradient, fixed, signs = rows[:, free], gradient[free], fixed[:0], signs[:0]
    columns = np.zeros((len(gradient), len(fixed)))
    columns[fixed, np.arange(len(fixed))] = signs
    matrix = np.concatenate([rows.T, columns], axis=1)
    lower = np.concatenate([np.where(equations, -np.inf, 0), np.zeros(len(fixed))])
    found = optimize.lsq_linear(matrix, -gradient, (lower, np.inf), method="bvls", tol=1e-14)
    return found.x[: len(rows)]


def polishing_goal(value: float, tolerance: float) -> float:
    """Return the residual that needs no polishing: rounding errors grow with the objective."""
    return tolerance * tuning.POLISHED * (1 + abs(value))


def polished(instance: Instance, vector: np.ndarray, tolerance: float) -> np.ndarray:
    """Return a vector that fulfils the conditions better, by Newton's method with the active
    constraints as equations."""
    if len(vector) + len(instance.equations) > tuning.MAX_DENSE_HESSIAN:
        return vector
    best = conditions_at(instance, vector, tuning.NEAR_ACTIVE).residual
    goal = polishing_goal(instance.value(vector), tolerance)
    for near in (tuning.NEAR_ACTIVE, tuning.NEAR_ACTIVE**2):
        for _ in range(tuning.MAX_POLISHING_STEPS):
            if best <= goal:
                return vector
            trial = _newton_step(instance, vector, near)
            if trial is None:
                break
            found = conditions_at(instance, trial, near).residual
            value = instance.value(vector)
            # Newton's method may lead to a maximum, from afar.
            if not found < best or instance.value(trial) > value + near * (1 + abs(value)):
                break
            vector, best = trial, found
    return vector


def falling_direction(instance: Instance, vector: np.ndarray) -> np.ndarray | None:
    """Return a direction along all active constraints in which the Lagrangian curves downwards, or
    along bounds one in which it is flat and a step lowers the objective; None where there is none,
    as at a minimum, or there are too many unknowns to tell."""
    gaps, rows = instance.constraints(vector)
    if not 0 < len(vector) + len(gaps) <= tuning.MAX_DENSE_HESSIAN:
        return None
    near = tuning.NEAR_ACTIVE
    active = active_at(instance, vector, gaps, near)
    free = ~(active.lower | active.upper)
    matrix = _lagrangian_hessian(instance, vector, conditions_at(instance, vector, near))
    matrix = matrix if free.all() else matrix[np.ix_(free, free)]
    own = rows[active.general][:, free]
    if not (free.any() and np.isfinite(matrix).all() and np.isfinite(own).all()):
        return None
    scale = np.abs(matrix).max(initial=0)
    if not lapack.dpotrf(matrix - near * (1 + scale) * np.eye(len(matrix)))[1]:
        return None
    tangents = np.eye(int(free.sum()))
    if len(own):
        _, sizes, turned = np.linalg.svd(own)
        rank = int((sizes > tuning.NEAR_ACTIVE * sizes.max(initial=0)).sum())
        tangents = turned[rank:].T
    curvatures, directions = np.linalg.eigh(tangents.T @ matrix @ tangents)
    found = np.zeros((len(curvatures), len(vector)))
    found[:, free] = (tangents @ directions).T
    if len(curvatures) and curvatures[0] < -near * scale:
        return found[0]
    if len(own) or instance.functions.has_linear_residual or instance.functions.is_linear:
        return None
    value = instance.value(vector)
    lower = value - near * (1 + abs(value))
    for direction in found[curvatures <= near * (1 + scale)]:
        if min(map(instance.value, steps(instance, vector, direction))) < lower:
            return direction
    return None


def steps(instance: Instance, vector: np.ndarray, direction: np.ndarray) -> list[np.ndarray]:
    """Return the ends of steps along a direction and against it, within the bounds."""
    step = tuning.SADDLE_STEP * (1 + np.abs(vector).max()) * direction
    return [instance.bounds.inside(vector + sign * step) for sign in (1, -1)]


def _lagrangian_hessian(instance: Instance, vector: np.ndarray, current: Conditions) -> np.ndarray:
    matrix = instance.hessian(vector)
    if not instance.curved:
        return matrix
    count = sum(prod(instance.gap_shapes[k]) for k in instance.curved)
    weights = current.general[len(current.general) - count :]
    return matrix + instance.constraint_hessian(vector, weights)


def _newton_step(instance: Instance, vector: np.ndarray, near: float) -> np.ndarray | None:
    gaps, rows = instance.constraints(vector)
    current = conditions_at(instance, vector, near)
    active = active_at(instance, vector, gaps, near)
    kept = instance.equations | (active.general & (current.general > 0))
    matrix = _lagrangian_hessian(instance, vector, current)
    start = instance.bounds.inside(vector)
    at_bound = (active.lower & (current.bounds > 0)) | (active.upper & (current.bounds < 0))
    at_bound |= instance.bounds.fixed
    start = np.where(active.lower & at_bound, instance.bounds.lower, start)
    start = np.where(active.upper & at_bound, instance.bounds.upper, start)
    free = ~at_bound
    shift = start - vector
    gradient = (instance.gradient(vector) + matrix @ shift)[free]
    own = rows[kept][:, free]
    zero = np.zeros((len(own), len(own)))
    system = np.block([[matrix[np.ix_(free, free)], own.T], [own, zero]])
    right = -np.concatenate([gradient, gaps[kept] + rows[kept] @ shift])
    if not (np.isfinite(system).all() and np.isfinite(right).all()):
        return None
    step = np.linalg.lstsq(system, right)[0][: int(free.sum())]
    trial = start.copy()
    trial[free] += step
    return instance.bounds.inside(trial)
