"""Solve a problem on data: a start, methods in turn, polishing, and what the end means."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..core import tuning
from .diagnosis import unbounded, violated
from .functions import Instance, Kink, Unbounded
from .methods import METHODS
from .newton import Outcome
from .optimality import Conditions, conditions_at, falling_direction, polished, steps
from .relations import Constraint
from .results import Iteration


class Stop(Exception):
    """Raised where the caller's function asks for an end; holds the vector."""


class End(NamedTuple):
    """Where solving ended."""

    vector: np.ndarray
    success: bool
    message: str
    method: str
    conditions: Conditions


def starts(instance: Instance) -> Iterator[np.ndarray]:
    """Yield vectors within the bounds from which to start, the simplest first."""
    bounds, size = instance.bounds, instance.packing.size
    lower, upper = bounds.lower, bounds.upper
    rng = np.random.default_rng(0)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(lower) & np.isfinite(upper), (lower + upper) / 2, 0)
    margin = np.minimum(1, np.where(np.isfinite(upper - lower), (upper - lower) / 4, 1))
    # Away from the bounds, where functions such as the logarithm may not be finite, and not the
    # same for all entries, since what is symmetric in them may stay so.
    for base in (middle, np.ones(size), np.zeros(size)):
        for scale in (0.1, 1.0):
            shift = rng.uniform(0, scale, size)
            yield np.clip(base, lower + margin, upper - margin) + shift * margin / 2


def is_start(instance: Instance, vector: np.ndarray) -> bool:
    """Tell whether the objective, the constraints and their derivatives are finite at a vector."""
    value, gradient = instance.both(vector)
    is_finite = np.isfinite(value) and np.isfinite(gradient).all()
    return bool(is_finite and instance.has_finite_constraints(vector))


def chosen_start(instance: Instance) -> np.ndarray:
    """Return the first start at which everything is finite and the gradient isn't zero."""
    finite = (vector for vector in starts(instance) if is_start(instance, vector))
    first = next(finite, None)
    if first is None:
        return next(starts(instance))
    moving = (vector for vector in chain([first], finite) if np.any(instance.gradient(vector)))
    return next(moving, first)


class Progress:
    """Record iterations, and call the caller's function after each."""

    def __init__(
        self,
        instance: Instance,
        sign: int,
        callback: Callable[[Iteration], object] | None,
    ):
        self.instance = instance
        self.sign = sign
        self.callback = callback
        self.history: list[Iteration] = []
        self.began = perf_counter()

    def __call__(self, vector: np.ndarray) -> None:
        vector = np.array(vector, float)
        value = self.sign * self.instance.value(vector)
        violation = self.instance.violation(vector)
        seconds = perf_counter() - self.began
        self.history.append(Iteration(len(self.history) + 1, value, violation, seconds))
        if self.callback is not None:
            answer = self.callback(self.history[-1])
            if isinstance(answer, (bool, np.bool_)) and answer:
                raise Stop(vector)


def run(
    instance: Instance,
    start: np.ndarray,
    names: Sequence[str],
    tolerance: float,
    progress: Progress,
    constraints: Sequence[Constraint],
) -> End:
    """Try methods until one ends at an optimum; else return the best end."""

    def rank(end: End) -> tuple[float, ...]:
        violation = 0.0 if _is_feasible(end, tolerance) else end.conditions.violation
        value = instance.final_value(end.vector)
        return not end.success, violation, value, end.conditions.residual

    best: End | None = None
    if np.any(instance.bounds.lower > instance.bounds.upper):
        message = f"{violated(instance, constraints, start)}: bounds contradict each other"
        return End(start, False, message, names[0], _unknown(instance))
    instance.floor = -tuning.UNBOUNDED_VALUE * max(1.0, abs(instance.value(start)))
    for name in names:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                # Of SciPy's, on steps that it corrects.
                warnings.simplefilter("ignore")
                end = _end_of(instance, start, name, tolerance, progress, constraints)
        except Unbounded as found:
            (vector,) = found.args
            falls = "falls" if progress.sign > 0 else "grows"
            message = unbounded(instance, vector, falls)
            return End(vector, False, message, name, _unknown(instance))
        except Stop as stop:
            (vector,) = stop.args
            conditions = conditions_at(instance, vector, tuning.NEAR_ACTIVE)
            return End(vector, False, "stopped by the callback", name, conditions)
        if best is None or rank(end) < rank(best):
            best = end
        if best.success:
            break
    assert best is not None
    return best


def _end_of(
    instance: Instance,
    start: np.ndarray,
    name: str,
    tolerance: float,
    progress: Progress,
    constraints: Sequence[Constraint],
) -> End:
    """Run a method; from a saddle point or a maximum again, after a step that leads down."""
    for _ in range(tuning.MAX_SADDLES):
        try:
            outcome = METHODS[name].run(instance, start, tolerance, progress)
        except Kink as kink:
            (vector,) = kink.args
            outcome = Outcome(vector, False, "derivatives aren't finite there")
        end = _judged(instance, outcome, name, tolerance, constraints)
        if not end.success or (outcome.is_minimum and np.array_equal(end.vector, outcome.vector)):
            return end
        direction = falling_direction(instance, end.vector)
        if direction is None:
            return end
        start = min(steps(instance, end.vector, direction), key=instance.value)
    message = (
        f"the objective still falls from where {name} ended, at a saddle point or where it is "
        "nearly flat; give a start, or constraints if the problem is unbounded"
    )
    return end._replace(success=False, message=message)


def _is_feasible(end: End, tolerance: float) -> bool:
    scale = 1 + np.abs(end.vector).max(initial=0)
    return bool(end.conditions.violation <= tuning.OPTIMAL * tolerance * scale)


def _unknown(instance: Instance) -> Conditions:
    nothing = np.zeros(len(instance.equations)), np.zeros(instance.packing.size)
    return Conditions(*nothing, np.inf, 0.0)


def _judged(
    instance: Instance,
    outcome: Outcome,
    name: str,
    tolerance: float,
    constraints: Sequence[Constraint],
) -> End:
    """Polish the end of a method, and tell whether it is an optimum."""
    # Without the sign of zeros.
    start = instance.bounds.inside(outcome.vector) + 0.0
    vector = polished(instance, start, tolerance) + 0.0
    exact = instance.bounds.restored(vector) + 0.0
    vector = exact if is_start(instance, exact) else vector
    conditions = conditions_at(instance, vector, tuning.NEAR_ACTIVE)
    if conditions.residual > tuning.POLISHED * tolerance:
        other = conditions_at(instance, vector, tolerance * tuning.NEAR_ACTIVE)
        conditions = min(conditions, other, key=lambda found: found.residual)
    end = End(vector, True, outcome.message, name, conditions)
    if not np.isfinite(instance.value(vector)):
        message = f"the objective isn't finite where {name} ended: {outcome.message}"
        return end._replace(success=False, message=message)
    if not _is_feasible(end, tolerance):
        message = (
            f"{violated(instance, constraints, vector)}: the constraints can't hold together, or "
            f"{name} found no point where they do from this start"
        )
        return end._replace(success=False, message=message)
    if _holds(instance, end, tolerance, tuning.OPTIMAL):
        return end
    if outcome.success and _holds(instance, end, tolerance, tuning.NEARLY_OPTIMAL):
        return end
    message = (
        f"{name} ended where the gradient of the Lagrangian, or a multiplier times its gap, is "
        f"still {conditions.residual:.3g}; the functions may have kinks there, or another start or "
        f"method may help: {outcome.message}"
    )
    place = int(np.abs(vector).argmax())
    if abs(vector[place]) > tuning.LARGE_ENTRY:
        name = instance.packing.place(place)
        message += f"; {name} is {vector[place]:.3g}, so the problem may be unbounded"
    return end._replace(success=False, message=message)


def _holds(instance: Instance, end: End, tolerance: float, factor: float) -> bool:
    gradient = instance.gradient(end.vector)
    scale = 1 + np.abs(gradient).max(initial=0) + np.abs(end.conditions.general).max(initial=0)
    return bool(end.conditions.residual <= factor * tolerance * scale)
