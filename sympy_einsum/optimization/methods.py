"""Solution methods, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from ..core import UnsupportedError, optimize, sparse_algebra, tuning
from .functions import Instance, Kink, Unbounded
from .newton import Outcome, minimize_by_hessian, minimize_by_model, squares_model

# Calls after each iteration, with the vector.
Recorder = Callable[[np.ndarray], None]


class Method(NamedTuple):
    """A method: how it runs, and what it can take into account."""

    run: Callable[[Instance, np.ndarray, float, Recorder], Outcome]
    bounds: bool = False
    constraints: bool = False
    squares: bool = False
    linear: bool = False


def names_for(instance: Instance) -> list[str]:
    """Return the methods for a problem, by what is known of it; each is tried if the one before
    fails."""
    functions, size = instance.functions, instance.packing.size
    bounded = instance.bounds.are_some
    is_small = size <= tuning.MAX_DENSE_HESSIAN
    entries = instance.residual_size * size
    is_dense = not instance.has_sparse_jacobian or (bounded and not instance.has_sparse_squares)
    most = tuning.MAX_BOUNDED_JACOBIAN if bounded else tuning.MAX_JACOBIAN
    has_jacobian = entries <= most or not is_dense
    if functions.residual is not None and not instance.general and has_jacobian:
        if functions.has_linear_residual and is_dense and (is_small or not bounded):
            return ["lsq-linear"] if bounded else ["lstsq"]
        return ["least-squares", "L-BFGS-B"] + ["trust-constr"] * bounded
    if functions.is_linear and not instance.curved and (instance.general or bounded):
        return ["linprog"]
    if instance.general:
        return ["SLSQP"] * is_small + ["augmented-lagrangian", "trust-constr"]
    if is_small and not bounded:
        return ["newton", "trust-exact", "BFGS"]
    last = "trust-constr" if bounded else "trust-krylov"
    return ["newton"] * (is_small or instance.has_sparse_hessian) + ["L-BFGS-B", last]


def checked_name(name: object, instance: Instance) -> list[str]:
    """Return the methods to try for a name.

    Raises UnsupportedError for a name that isn't known, and for a method that can't take all of
    the problem into account.
    """
    if isinstance(name, str) and name == "auto":
        return names_for(instance)
    known = {own.lower(): own for own in METHODS}
    if not isinstance(name, str) or name.lower() not in known:
        close = get_close_matches(str(name).lower(), known, n=1)
        hint = f"perhaps {known[close[0]]!r} is meant; there" if close else "there"
        raise UnsupportedError(
            f"no method {name!r}; {hint} are 'auto', {', '.join(map(repr, METHODS))}"
        )
    own = known[name.lower()]
    method, functions = METHODS[own], instance.functions
    lacking = [
        what
        for what, needed in {
            "has constraints other than bounds": instance.general and not method.constraints,
            "has bounds": instance.bounds.are_some and not method.bounds,
            "is no sum of squares": method.squares and functions.residual is None,
            "has a residual that isn't affine": method.squares
            and method.linear
            and not functions.has_linear_residual,
            "isn't linear": method.linear
            and not method.squares
            and not (functions.is_linear and not instance.curved),
        }.items()
        if needed
    ]
    if lacking:
        raise UnsupportedError(
            f"the method {own!r} can't solve this problem, which {lacking[0]}; "
            f"method='auto' takes {names_for(instance)[0]!r}"
        )
    return [own]


def minimize_arguments(instance: Instance, start: np.ndarray) -> dict[str, Any]:
    """Return the keyword arguments of ``scipy.optimize.minimize``."""
    small = instance.packing.size <= tuning.MAX_DENSE_HESSIAN
    second = {"hess": instance.hessian} if small else {"hessp": instance.hessian_product}
    bounds = instance.bounds
    constraints: list[Any] = []
    equations = instance.equations
    count = 0
    if instance.affine:
        zero = np.zeros(len(start))
        gaps, rows = instance.constraints(zero, instance.affine)
        count = len(gaps)
        lower = np.where(equations[:count], -gaps, -np.inf)
        kept = ~_redundant(rows, gaps, equations[:count]) if small else slice(None)
        constraints.append(optimize.LinearConstraint(rows[kept], lower[kept], -gaps[kept]))
    if instance.curved:
        kept = np.ones(len(equations) - count, bool)
        if small:
            kept = ~_redundant_curved(instance, start, equations[count:])
        lower = np.where(equations[count:], 0, -np.inf)[kept]
        constraints.append(
            optimize.NonlinearConstraint(
                lambda vector: instance.curved_constraints(vector)[0][kept],
                lower,
                np.zeros(len(lower)),
                jac=lambda vector: instance.curved_constraints(vector)[1][kept],
                hess=_constraint_hessian(instance, small, kept),
            )
        )
    return {
        "fun": instance.value,
        "x0": start,
        "jac": instance.gradient,
        **second,
        "bounds": optimize.Bounds(bounds.lower, bounds.upper) if bounds.are_some else None,
        "constraints": constraints,
    }


def _redundant(rows: np.ndarray, gaps: np.ndarray, equations: np.ndarray) -> np.ndarray:
    """Return which equations, given by gaps and Jacobian, follow from those before, as the last of
    the row and column sums of a matrix does: with them SciPy's systems are singular. Contradictions
    stay."""
    found = np.zeros(len(rows), bool)
    basis = np.zeros((0, rows.shape[1] + 1))
    for k in np.flatnonzero(equations):
        row = np.append(rows[k], gaps[k])
        rest = row - basis.T @ (basis @ row)
        rest -= basis.T @ (basis @ rest)
        size = np.linalg.norm(rest)
        found[k] = size <= tuning.REDUNDANT_ROW * np.linalg.norm(row)
        if not found[k]:
            basis = np.vstack([basis, rest / size])
    return found


def _redundant_curved(instance: Instance, start: np.ndarray, equations: np.ndarray) -> np.ndarray:
    """Return which equations are one linear combination of those before at several vectors, as the
    entries of a symmetric matrix below its diagonal are."""
    nothing = np.zeros(len(equations), bool)
    count, size = int(equations.sum()), len(start)
    if count < 2:
        return nothing
    rng, reach = np.random.default_rng(0), tuning.SADDLE_STEP * (1 + np.abs(start))
    gaps, rows = instance.curved_constraints(start)
    tables = [rows]
    for _ in range(1 + count // size):
        near, slopes = instance.curved_constraints(start + reach * rng.normal(size=size))
        tables += [near[:, None], slopes]
    table = np.concatenate(tables, axis=1)
    return _redundant(table, gaps, equations) if np.isfinite(table).all() else nothing


def _constraint_hessian(instance: Instance, small: bool, kept: np.ndarray) -> Callable[..., Any]:
    """Return the Hessian of the weighted sum of the constraints that are kept."""

    def spread(weights: np.ndarray) -> np.ndarray:
        every = np.zeros(len(kept))
        every[kept] = weights
        return every

    if small:
        return lambda vector, weights: instance.constraint_hessian(vector, spread(weights))

    def product(vector: np.ndarray, weights: np.ndarray) -> Any:
        size, every = len(vector), spread(weights)
        return sparse_algebra.LinearOperator(
            (size, size), lambda v: instance.constraint_product(vector, every, v), dtype=float
        )

    return product


def _finite(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that raises Kink where the value of a function isn't finite."""

    def checked(vector: np.ndarray) -> np.ndarray:
        found = function(vector)
        if not np.isfinite(found).all():
            raise Kink(vector.copy())
        return found

    return checked


def _within_domain(instance: Instance) -> Callable[[np.ndarray], float]:
    """Return the objective, infinite where a constraint isn't finite."""

    def value(vector: np.ndarray) -> float:
        gaps, _ = instance.curved_constraints(vector)
        return instance.value(vector) if np.isfinite(gaps).all() else np.inf

    return value


def _zeros_for_nan(function: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda vector: np.nan_to_num(function(vector), nan=0.0, posinf=0.0, neginf=0.0)


class _Extended:
    """The value and the gradient of an objective, and where they aren't finite those of a
    paraboloid above the last iterate: line searches by interpolation need finite values."""

    def __init__(self, both: Callable[[np.ndarray], tuple[float, np.ndarray]], iterate: np.ndarray):
        self.both = both
        self.iterate = iterate

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self.both(vector)
        shift = vector - self.iterate
        if (np.isfinite(value) and np.isfinite(gradient).all()) or not shift.any():
            return value, gradient
        least, _ = self.both(self.iterate)
        height = 1 + abs(least)
        return least + height, 2 * height / (shift @ shift) * shift


class _Settled(Exception):
    """Raised where a method doesn't move any more."""


def _by_minimize(
    name: str,
    second: bool = False,
    more: Mapping[str, float] | None = None,
    **options: float,
) -> Callable[..., Outcome]:
    """Return the run of a method of ``scipy.optimize.minimize``; options are factors of the
    tolerance, ``more`` are others, ``second`` is whether it takes second derivatives."""

    def run(instance: Instance, start: np.ndarray, tolerance: float, record: Recorder) -> Outcome:
        arguments = minimize_arguments(instance, start)
        if not second:
            arguments = {k: v for k, v in arguments.items() if k not in ("hess", "hessp")}
        elif name in ("trust-exact", "trust-krylov", "trust-ncg"):
            # Their linear algebra refuses what isn't finite.
            arguments["jac"] = _finite(instance.gradient)
            if name == "trust-exact" or "hess" in arguments:
                arguments |= {"hess": _finite(instance.hessian), "hessp": None}
        for own in arguments["constraints"]:
            if isinstance(own, optimize.NonlinearConstraint):
                # SciPy's methods step back where the objective is infinite.
                arguments["fun"] = _within_domain(instance)
                own.fun, own.jac = _zeros_for_nan(own.fun), _finite(own.jac)
        last = start
        extended = _Extended(instance.both, start)
        if name in ("L-BFGS-B", "TNC"):
            arguments |= {"fun": extended, "jac": True}

        def report(vector: np.ndarray, *state: object) -> None:
            nonlocal last
            record(vector)
            extended.iterate = vector.copy()
            # SciPy's may go on though only rounding errors change.
            if name == "SLSQP" and np.all(np.abs(vector - last) <= _EPSILON * (1 + np.abs(last))):
                raise _Settled
            last = vector.copy()

        try:
            found = optimize.minimize(
                method=name,
                callback=report,
                options={
                    "maxiter": tuning.MAX_SOLVER_ITERATIONS,
                    **{option: factor * tolerance for option, factor in options.items()},
                    **_MORE_OPTIONS.get(name, {}),
                    **(more or {}),
                },
                **arguments,
            )
        except _Settled:
            return Outcome(last, True, "steps are no larger than rounding errors")
        return Outcome(np.asarray(found.x, float), bool(found.success), str(found.message))

    return run


def _solve_by_barriers(
    instance: Instance, start: np.ndarray, tolerance: float, record: Recorder
) -> Outcome:
    """Run SciPy's interior-point method, which may end before its barrier is low: then again, from
    there, with a lower one."""
    outcome = Outcome(start, False, "")
    for barrier in (0.1, 1e-3, 1e-5, tolerance):
        options = {"initial_barrier_parameter": barrier, "initial_barrier_tolerance": barrier}
        run = _by_minimize("trust-constr", second=True, more=options, **_BARRIER)
        outcome = run(instance, outcome.vector, tolerance, record)
        violation = instance.violation(outcome.vector)
        has_barrier = instance.bounds.are_some or not instance.equations.all()
        if not has_barrier or violation > tuning.OPTIMAL * tolerance:
            break
    return outcome


def _solve_by_penalties(
    instance: Instance, start: np.ndarray, tolerance: float, record: Recorder
) -> Outcome:
    """Minimise augmented Lagrangians within the bounds, with products by Jacobians only."""
    equations = instance.equations
    gaps = instance.gaps(start)
    violation = np.where(equations, np.abs(gaps), np.maximum(gaps, 0))
    size = max(1.0, float(violation @ violation) / 2)
    penalty = float(np.clip(10 * max(1.0, abs(instance.value(start))) / size, 1e-2, 1e3))
    multipliers, vector, last = np.zeros(len(gaps)), start, np.inf
    bounds = optimize.Bounds(instance.bounds.lower, instance.bounds.upper)
    options = {"maxiter": tuning.MAX_SOLVER_ITERATIONS, **_MORE_OPTIONS["L-BFGS-B"]}

    def forces(gaps: np.ndarray) -> np.ndarray:
        pushed = multipliers + penalty * gaps
        return np.where(equations, pushed, np.maximum(pushed, 0))

    def both(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = instance.both(vector)
        weights = forces(instance.gaps(vector))
        augmented = value + float(weights @ weights) / (2 * penalty)
        return augmented, gradient + instance.constraint_pullback(vector, weights)

    def report(vector: np.ndarray) -> None:
        record(vector)
        extended.iterate = vector.copy()

    for step in range(tuning.MAX_PENALTIES):
        goal = max(tolerance, 10.0 ** -(step + 1))
        extended = _Extended(both, vector)
        found = optimize.minimize(
            extended,
            vector,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=report,
            options={**options, "gtol": goal},
        )
        vector = np.asarray(found.x, float)
        gaps = instance.gaps(vector)
        changed = forces(gaps)
        # Zero where the constraint holds and the multiplier suits it.
        error = float(np.abs(changed - multipliers).max(initial=0)) / penalty
        multipliers = changed
        if error <= tolerance and goal <= tolerance:
            return Outcome(vector, True, "the augmented Lagrangian converged")
        if error > last / 4:
            penalty *= 10
        last = min(last, error)
    return Outcome(vector, False, "the penalties don't make the constraints hold")


def _solve_squares(
    instance: Instance, start: np.ndarray, tolerance: float, record: Recorder
) -> Outcome:
    """Solve an affine residual by a factorization."""
    offset, rows = instance.residual(np.zeros(len(start)))
    vector = np.linalg.lstsq(rows, -offset)[0]
    record(vector)
    return Outcome(vector, True, "the normal equations hold")


def _solve_bounded_squares(
    instance: Instance, start: np.ndarray, tolerance: float, record: Recorder
) -> Outcome:
    bounds = instance.bounds
    loose = ~bounds.fixed
    vector = np.where(loose, 0.0, bounds.lower)
    offset, rows = instance.residual(vector)
    found = optimize.lsq_linear(
        rows[:, loose],
        -offset,
        (bounds.lower[loose], bounds.upper[loose]),
        method="bvls",
        tol=_least(tolerance),
    )
    vector[loose] = found.x
    vector = bounds.inside(vector)
    record(vector)
    return Outcome(vector, bool(found.success), str(found.message))


def _fit(instance: Instance, start: np.ndarray, tolerance: float, record: Recorder) -> Outcome:
    """Minimise the squares of a residual by the Levenberg–Marquardt method: within bounds or by a
    sparse Jacobian by ours; for fewer equations than unknowns by trust regions."""
    if instance.has_sparse_jacobian or instance.bounds.are_some:
        model, damping = squares_model(instance), tuning.FIRST_DAMPING
        return minimize_by_model(instance, start, tolerance, record, model, damping)

    def rows(vector: np.ndarray) -> np.ndarray:
        record(vector)
        return instance.residual(vector)[1]

    found = optimize.least_squares(
        lambda vector: instance.residual(vector)[0],
        start,
        rows,
        method="lm" if instance.residual_size >= len(start) else "trf",
        **dict.fromkeys(("ftol", "xtol", "gtol"), _least(tolerance)),
        max_nfev=tuning.MAX_SOLVER_ITERATIONS,
    )
    return Outcome(found.x, bool(found.success), str(found.message))


def _by_newton(
    instance: Instance, start: np.ndarray, tolerance: float, record: Recorder
) -> Outcome:
    """Minimise by Newton's method."""
    if instance.packing.size <= tuning.MAX_DENSE_HESSIAN:
        return minimize_by_hessian(instance, start, tolerance, record)
    return minimize_by_model(instance, start, tolerance, record, instance.structured_hessian, 0.0)


def _least(tolerance: float) -> float:
    """Return the relative tolerance of sums of squares: no less than rounding errors."""
    return max(tolerance**2, 10 * _EPSILON)


def _solve_linear(
    instance: Instance, start: np.ndarray, tolerance: float, record: Recorder
) -> Outcome:
    """Solve a linear problem by the simplex method."""
    costs = instance.gradient(np.zeros(len(start)))
    bounds = np.stack([instance.bounds.lower, instance.bounds.upper], axis=1)
    gaps, rows = instance.constraints(np.zeros(len(start)))
    own = instance.equations
    system = rows[~own], -gaps[~own], rows[own], -gaps[own]
    found = optimize.linprog(costs, *system, bounds, method="highs")
    if found.status == 3 or (found.status == 4 and found.x is None):
        # Within a large box, what goes to infinity is at its sides.
        size = tuning.LARGE_ENTRY
        boxed = optimize.linprog(costs, *system, np.clip(bounds, -size, size), method="highs")
        if boxed.x is not None and np.abs(boxed.x).max() >= size / 2:
            raise Unbounded(boxed.x)
    if found.x is None:
        # The least sum of violations says which constraints can't hold together.
        relaxed, count = _relaxed(*system)
        costs = np.concatenate([np.zeros(len(start)), np.ones(count)])
        bounds = np.concatenate([bounds, np.tile([0, np.inf], (count, 1))])
        nearest = optimize.linprog(costs, *relaxed, bounds, method="highs").x
        vector = start if nearest is None else nearest[: len(start)]
        return Outcome(vector, False, str(found.message))
    record(found.x)
    return Outcome(found.x, bool(found.success), str(found.message))


def _relaxed(
    rows: np.ndarray, right: np.ndarray, own: np.ndarray, values: np.ndarray
) -> tuple[tuple[np.ndarray, ...], int]:
    """Add a nonnegative unknown to each constraint, for equations two, that says by how much it is
    violated."""
    few, many = np.eye(len(rows)), np.eye(len(own))
    upper = np.concatenate([rows, -few, np.zeros((len(rows), 2 * len(own)))], axis=1)
    equal = np.concatenate([own, np.zeros((len(own), len(rows))), many, -many], axis=1)
    return (upper, right, equal, values), len(rows) + 2 * len(own)


_EPSILON = float(np.finfo(float).eps)
_BARRIER = {"gtol": 1.0, "xtol": 1e-4, "barrier_tol": 1.0}
_MORE_OPTIONS: dict[str, dict[str, float]] = {
    "L-BFGS-B": {"maxfun": np.inf, "maxls": 50, "ftol": 0},
    "TNC": {"maxfun": 10**6, "ftol": 0},
    "trust-constr": {"maxiter": tuning.MAX_BARRIER_ITERATIONS},
    "trust-exact": {"max_trust_radius": tuning.UNBOUNDED_VALUE},
    "trust-krylov": {"max_trust_radius": tuning.UNBOUNDED_VALUE},
    "trust-ncg": {"max_trust_radius": tuning.UNBOUNDED_VALUE},
}
METHODS = {
    "lstsq": Method(_solve_squares, squares=True, linear=True),
    "lsq-linear": Method(_solve_bounded_squares, bounds=True, squares=True, linear=True),
    "least-squares": Method(_fit, bounds=True, squares=True),
    "linprog": Method(_solve_linear, bounds=True, constraints=True, linear=True),
    "SLSQP": Method(_by_minimize("SLSQP", ftol=1e-4), bounds=True, constraints=True),
    "trust-constr": Method(_solve_by_barriers, bounds=True, constraints=True),
    "augmented-lagrangian": Method(_solve_by_penalties, bounds=True, constraints=True),
    "COBYLA": Method(_by_minimize("COBYLA", tol=1), bounds=True, constraints=True),
    "COBYQA": Method(_by_minimize("COBYQA", final_tr_radius=1), bounds=True, constraints=True),
    "L-BFGS-B": Method(_by_minimize("L-BFGS-B", gtol=1), bounds=True),
    "TNC": Method(_by_minimize("TNC", gtol=1), bounds=True),
    "Nelder-Mead": Method(_by_minimize("Nelder-Mead", xatol=1, fatol=1e-4), bounds=True),
    "Powell": Method(_by_minimize("Powell", xtol=1, ftol=1e-4), bounds=True),
    "newton": Method(_by_newton, bounds=True),
    "BFGS": Method(_by_minimize("BFGS", gtol=1)),
    "CG": Method(_by_minimize("CG", gtol=1)),
    "Newton-CG": Method(_by_minimize("Newton-CG", second=True, xtol=1)),
    "trust-ncg": Method(_by_minimize("trust-ncg", second=True, gtol=1)),
    "trust-exact": Method(_by_minimize("trust-exact", second=True, gtol=1)),
    "trust-krylov": Method(_by_minimize("trust-krylov", second=True, gtol=1)),
}
