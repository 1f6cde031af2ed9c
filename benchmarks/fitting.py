"""Measure problems of optimization: ``python -m benchmarks.fitting``.

Compares the time to one optimum: ours, SciPy with derivatives by hand, SciPy with JAX's, and
scikit-learn's or statsmodels' own program, and writes results-fitting.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.linalg
from scipy import special
from scipy.optimize import minimize
from sympy import Eq, Symbol, exp, log, symbols

import sympy_einsum as se
from sympy_einsum.optimization import functions, packing

from .report import machine
from .tables import table

m, n, k = symbols("m n k", integer=True, positive=True)
X, y, w = se.TensorSymbol("X", m, n), se.TensorSymbol("y", m), se.TensorSymbol("w", n)
RESULTS = Path(__file__).with_name("results-fitting.md")
# The largest entry of the gradient, for all of them.
TOLERANCE = 1e-6
# By seed 0 our Gaussian process ends at another local optimum than L-BFGS-B, by 1 to 7 at the same.
rng = np.random.default_rng(1)
STATE = rng.bit_generator.state


@dataclass
class Case:
    """Define a problem, of which the least value is sought.

    ``own`` makes ours; ``value`` is the objective of the flat vector in the names of a module such
    as JAX's, ``both`` the same in NumPy with the gradient by hand; ``library`` returns the
    objective at which a program of ``peer`` ends.
    """

    name: str
    own: Callable[[], se.Problem]
    data: Mapping[Any, Any]
    begin: Mapping[Any, Any]
    value: Callable[..., Any]
    both: Callable[[np.ndarray], tuple[float, np.ndarray]]
    start: np.ndarray
    peer: str = ""
    library: Callable[[], float] | None = None
    method: str = "L-BFGS-B"
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> str:
        """The lengths of the largest array of the data."""
        return "×".join(map(str, max(self.data.values(), key=np.size).shape))

    def solve(self, both: Callable[[np.ndarray], tuple[float, np.ndarray]]) -> float:
        """Solve by SciPy with a function that returns the value and the gradient."""
        options = {"SLSQP": {"ftol": 1e-12}, "L-BFGS-B": {"gtol": TOLERANCE, "ftol": 1e-15}}
        found = minimize(
            both,
            self.start,
            jac=True,
            method=self.method,
            options={"maxiter": 10**4, **options[self.method]},
            **self.more,
        )
        return float(found.fun)

    def by_jax(self) -> Callable[[], float]:
        """Return the run with JAX's derivatives."""
        jax = import_module("jax")
        jax.config.update("jax_enable_x64", True)
        compiled = jax.jit(jax.value_and_grad(lambda z: self.value(z, jax.numpy, jax.scipy)))

        def both(z: np.ndarray) -> tuple[float, np.ndarray]:
            value, derivatives = compiled(z)
            return float(value), np.asarray(derivatives)

        return lambda: self.solve(both)

    def by_us(self) -> Callable[[], float]:
        """Return our run."""
        problem = self.own()
        sign = -1 if problem.maximize else 1
        return lambda: sign * problem.solve(self.data, self.begin, tolerance=TOLERANCE).value


def regression(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return covariates and a linear predictor."""
    covariates = rng.normal(size=(rows, columns))
    return covariates, covariates @ rng.uniform(-0.5, 0.5, columns)


def logistic(scale: int) -> Case:
    """Logistic regression with a ridge penalty."""
    Z, eta = regression(2000 * scale, 20)
    signs = np.where(rng.uniform(size=len(Z)) < special.expit(eta), 1.0, -1.0)

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        margin = -signs * (Z @ z)
        derivatives = -(signs * special.expit(margin)) @ Z + z
        return np.logaddexp(0, margin).sum() + z @ z / 2, derivatives

    def library() -> float:
        model = import_module("sklearn.linear_model")
        kind = model.LogisticRegression(fit_intercept=False, solver="newton-cholesky", tol=1e-8)
        return both(kind.fit(Z, signs).coef_[0])[0]

    return Case(
        "logistic regression",
        lambda: se.Problem(se.softplus(-y * (X @ w)).sum() + w @ w / 2, w),
        {X: Z, y: signs},
        {w: np.zeros(20)},
        lambda z, np, scipy: np.logaddexp(0, -signs * (Z @ z)).sum() + z @ z / 2,
        both,
        np.zeros(20),
        "scikit-learn",
        library,
    )


def poisson(scale: int) -> Case:
    """Poisson regression."""
    Z, eta = regression(2000 * scale, 20)
    counts = rng.poisson(np.exp(eta)).astype(float)

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        eta = Z @ z
        mu = np.exp(eta)
        return mu.sum() - counts @ eta, (mu - counts) @ Z

    def library() -> float:
        model = import_module("sklearn.linear_model")
        own = model.PoissonRegressor(
            alpha=0, fit_intercept=False, solver="newton-cholesky", tol=1e-8
        )
        return both(own.fit(Z, counts).coef_)[0]

    return Case(
        "Poisson regression",
        lambda: se.Problem((se.exp(X @ w) - y * (X @ w)).sum(), w),
        {X: Z, y: counts},
        {w: np.zeros(20)},
        lambda z, np, scipy: np.exp(Z @ z).sum() - counts @ (Z @ z),
        both,
        np.zeros(20),
        "scikit-learn",
        library,
    )


def negative_binomial(scale: int) -> Case:
    """Negative binomial regression, with the dispersion."""
    Z, eta = regression(1000 * scale, 10)
    counts = rng.negative_binomial(3, 3 / (3 + np.exp(eta + 1))).astype(float)
    Z = np.column_stack([Z, np.ones(len(Z))])
    theta = Symbol("theta", positive=True)

    def own() -> se.Problem:
        eta = X @ w
        likelihood = se.gammaln(y + theta) - se.gammaln(theta) + theta * log(theta) + y * eta
        likelihood -= (y + theta) * se.log(theta + se.exp(eta))
        return se.Problem(likelihood.sum(), [w, theta], maximize=True)

    def value(z: Any, np: Any, scipy: Any) -> Any:
        eta, t = Z @ z[:-1], z[-1]
        found = scipy.special.gammaln(counts + t) - scipy.special.gammaln(t) + t * np.log(t)
        return -(found + counts * eta - (counts + t) * np.log(t + np.exp(eta))).sum()

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        eta, t = Z @ z[:-1], z[-1]
        mu, more = np.exp(eta), counts + t
        total, share = np.log(t + mu), more / (t + mu)
        found = special.gammaln(more) - special.gammaln(t) + t * np.log(t) + counts * eta
        last = special.digamma(more) - special.digamma(t) + np.log(t) + 1 - total - share
        derivatives = (counts - mu * share) @ Z
        return -(found - more * total).sum(), -np.append(derivatives, last.sum())

    def library() -> float:
        model = import_module("statsmodels.discrete.discrete_model")
        found = model.NegativeBinomial(counts, Z).fit(method="bfgs", disp=False, maxiter=500)
        return both(np.append(found.params[:-1], 1 / found.params[-1]))[0]

    start = np.append(np.zeros(11), 1.0)
    return Case(
        "negative binomial regression",
        own,
        {X: Z, y: counts},
        {w: start[:-1], theta: 1},
        value,
        both,
        start,
        "statsmodels",
        library,
        more={"bounds": [(None, None)] * 11 + [(1e-9, None)]},
    )


def ordered_probit(scale: int) -> Case:
    """Ordered categories by thresholds of a normal variable."""
    Z, eta = regression(1000 * scale, 5)
    category = np.digitize(eta + rng.normal(size=len(Z)), [-1, 0, 1])
    cut = se.TensorSymbol("cut", 3)
    start = np.append(np.zeros(5), [-1.0, 0, 1])

    def own() -> se.Problem:
        bounds, eta = se.concatenate([[-40], cut, [40]]), X @ w
        chance = se.ndtr(bounds[y + 1] - eta) - se.ndtr(bounds[y] - eta)
        return se.Problem(se.log(chance).sum(), [w, cut], maximize=True)

    def value(z: Any, np: Any, scipy: Any) -> Any:
        bounds = np.concatenate([np.array([-40.0]), z[5:], np.array([40.0])])
        eta, cdf = Z @ z[:5], scipy.special.ndtr
        return -np.log(cdf(bounds[category + 1] - eta) - cdf(bounds[category] - eta)).sum()

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        bounds = np.concatenate([[-40], z[5:], [40]])
        eta = Z @ z[:5]
        upper, lower = bounds[category + 1] - eta, bounds[category] - eta
        chance = special.ndtr(upper) - special.ndtr(lower)
        above, below = [np.exp(-(t**2) / 2) / (np.sqrt(2 * np.pi) * chance) for t in (upper, lower)]
        derivatives = np.bincount(category + 1, above, 5) - np.bincount(category, below, 5)
        return -np.log(chance).sum(), -np.append((below - above) @ Z, derivatives[1:4])

    def library() -> float:
        model = import_module("statsmodels.miscmodels.ordinal_model").OrderedModel
        own = model(category, Z, distr="probit")
        found = own.fit(method="bfgs", disp=False, maxiter=500)
        return both(np.append(found.params[:5], own.transform_threshold_params(found.params)[1:4]))[
            0
        ]

    return Case(
        "ordered probit",
        own,
        {X: Z, y: category},
        {w: np.zeros(5), cut: [-1, 0, 1]},
        value,
        both,
        start,
        "statsmodels",
        library,
    )


def cox(scale: int) -> Case:
    """Cox's partial likelihood, of rows with falling times."""
    Z, eta = regression(1000 * scale, 5)
    times = rng.exponential(np.exp(-eta))
    Z = Z[np.argsort(-times)]
    deaths = (rng.uniform(size=len(Z)) < 0.7).astype(float)

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        eta = Z @ z
        weights = np.exp(eta)
        totals = np.cumsum(weights)
        derivatives = deaths - weights * np.cumsum((deaths / totals)[::-1])[::-1]
        return -deaths @ (eta - np.log(totals)), -derivatives @ Z

    def library() -> float:
        model = import_module("statsmodels.duration.hazard_regression")
        found = model.PHReg(np.sort(times)[::-1], Z, status=deaths).fit(disp=False)
        return both(found.params)[0]

    return Case(
        "Cox regression",
        lambda: se.Problem(y @ (X @ w - se.logcumsumexp(X @ w)), w, maximize=True),
        {X: Z, y: deaths},
        {w: np.zeros(5)},
        lambda z, np, scipy: -deaths @ (Z @ z - np.log(np.cumsum(np.exp(Z @ z)))),
        both,
        np.zeros(5),
        "statsmodels",
        library,
    )


def gaussian_process(scale: int) -> Case:
    """The hyperparameters of a Gaussian process, by their logarithms."""
    count = round(200 * scale ** (1 / 3))
    points = np.sort(rng.uniform(0, 10, count))
    squares, values = (points[:, None] - points) ** 2, np.sin(points) + 0.2 * rng.normal(size=count)
    D, h = se.TensorSymbol("D", (m, m), symmetric=True), se.TensorSymbol("h", 3)
    start = np.array([0.0, 0.0, -1.0])

    def own() -> se.Problem:
        K = exp(h[0]) * se.exp(-D * exp(-h[1])) + exp(h[2]) * se.Delta(m)
        return se.Problem((y @ se.solve(K, y) + se.logdet(K)) / 2, h)

    def value(z: Any, np: Any, scipy: Any) -> Any:
        K = np.exp(z[0] - squares * np.exp(-z[1])) + np.exp(z[2]) * np.eye(count)
        factor = scipy.linalg.cho_factor(K, lower=True)
        quadratic = values @ scipy.linalg.cho_solve(factor, values)
        return quadratic / 2 + np.log(np.diag(factor[0])).sum()

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        noise, rate = np.exp(z[2]), np.exp(-z[1])
        smooth = np.exp(z[0] - squares * rate)
        K = smooth.copy()
        K.ravel()[:: count + 1] += noise
        factor = scipy.linalg.cholesky(K, lower=True, overwrite_a=True)
        found = scipy.linalg.cho_solve((factor, True), values)
        total = values @ found / 2 + np.log(np.diag(factor)).sum()
        inverse = scipy.linalg.lapack.dpotri(factor, lower=True)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        smooth *= inverse - np.outer(found, found)
        last = noise * (np.trace(inverse) - found @ found)
        derivatives = [smooth.sum(), rate * np.vdot(smooth, squares), last]
        return total, np.array(derivatives) / 2

    def library() -> float:
        kernels = import_module("sklearn.gaussian_process.kernels")
        kernel = kernels.ConstantKernel(1.0) * kernels.RBF(np.sqrt(0.5))
        kernel += kernels.WhiteKernel(np.exp(-1))
        process = import_module("sklearn.gaussian_process").GaussianProcessRegressor(
            kernel, alpha=0.0
        )
        found = process.fit(points[:, None], values).kernel_.theta
        return both(np.array([found[0], np.log(2) + 2 * found[1], found[2]]))[0]

    return Case(
        "Gaussian process",
        own,
        {D: squares, y: values},
        {h: start},
        value,
        both,
        start,
        "scikit-learn",
        library,
    )


def machine_dual(scale: int) -> Case:
    """The dual problem of a support vector machine."""
    count = round(200 * scale ** (1 / 3))
    points = rng.normal(size=(count, 5))
    signs = np.sign(points[:, 0] + points[:, 1] ** 2 - 1 + rng.normal(size=count) / 2)
    gram = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 5)
    signed = signs[:, None] * gram * signs
    K = se.TensorSymbol("K", (m, m), symmetric=True)
    a = se.TensorSymbol("a", m)

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        product = signed @ z
        return z @ product / 2 - z.sum(), product - 1

    def library() -> float:
        found = import_module("sklearn.svm").SVC(C=1.0, kernel="precomputed", tol=1e-6)
        found.fit(gram, signs)
        own = np.zeros(count)
        own[found.support_] = np.abs(found.dual_coef_[0])
        return both(own)[0]

    limit = {"type": "eq", "fun": lambda z: z @ signs, "jac": lambda z: signs}
    return Case(
        "support vector machine, dual",
        lambda: se.Problem(
            a.sum() - (a * y) @ K @ (a * y) / 2, a, [Eq(a @ y, 0), a >= 0, a <= 1], maximize=True
        ),
        {K: gram, y: signs},
        {a: np.zeros(count)},
        lambda z, np, scipy: z @ signed @ z / 2 - z.sum(),
        both,
        np.zeros(count),
        "scikit-learn",
        library,
        "SLSQP",
        {"bounds": [(0, 1)] * count, "constraints": [limit]},
    )


def portfolio(scale: int) -> Case:
    """A portfolio of given sum, without short sales."""
    count = round(100 * scale ** (1 / 3))
    returns = rng.normal(0.05, 0.2, (5 * count, count))
    risks, mean = np.cov(returns.T), rng.uniform(0, 0.1, count)
    start = np.full(count, 1 / count)
    S = se.TensorSymbol("S", (n, n), symmetric=True)
    r = se.TensorSymbol("r", n)

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        product = risks @ z
        return 2 * z @ product - mean @ z, 4 * product - mean

    limit = {"type": "eq", "fun": lambda z: z.sum() - 1, "jac": np.ones_like}
    return Case(
        "portfolio",
        lambda: se.Problem(r @ w - 2 * w @ S @ w, w, [Eq(w.sum(), 1), w >= 0], maximize=True),
        {r: mean, S: risks},
        {w: start},
        lambda z, np, scipy: 2 * z @ risks @ z - mean @ z,
        both,
        start,
        method="SLSQP",
        more={"bounds": [(0, None)] * count, "constraints": [limit]},
    )


def factorization(scale: int) -> Case:
    """A nonnegative factorization, from one start."""
    T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
    rows, columns = 100 * scale, 60
    table = rng.uniform(size=(rows, 5)) @ rng.uniform(size=(5, columns))
    table += 0.1 * rng.uniform(size=(rows, columns))
    first = {U: rng.uniform(size=(rows, 5)), V: rng.uniform(size=(columns, 5))}

    def parts(z: Any) -> tuple[Any, Any]:
        return z[: 5 * rows].reshape(rows, 5), z[5 * rows :].reshape(columns, 5)

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        u, v = parts(z)
        rest = u @ v.T - table
        derivatives = np.concatenate([(rest @ v).ravel(), (rest.T @ u).ravel()])
        return (rest**2).sum(), 2 * derivatives

    def value(z: Any, np: Any, scipy: Any) -> Any:
        u, v = parts(z)
        return ((table - u @ v.T) ** 2).sum()

    def library() -> float:
        model = import_module("sklearn.decomposition")
        own = model.NMF(5, init="custom", max_iter=2000, tol=1e-7)
        left = own.fit_transform(table, W=first[U].copy(), H=first[V].T.copy())
        return float(((table - left @ own.components_) ** 2).sum())

    return Case(
        "nonnegative factorization",
        lambda: se.Problem(((T - U @ V.T) ** 2).sum(), [U, V], [U >= 0, V >= 0]),
        {T: table},
        first,
        value,
        both,
        np.concatenate([first[U].ravel(), first[V].ravel()]),
        "scikit-learn",
        library,
        more={"bounds": [(0, None)] * (5 * (rows + columns))},
    )


CASES = [
    *(logistic, poisson, negative_binomial, ordered_probit, cox, gaussian_process),
    *(machine_dual, portfolio, factorization),
]


# Of the data, in the second row of each case; matrices of a covariance have as many times the
# arithmetic.
SCALES = (1, 10)


def seconds(call: Callable[[], object]) -> float:
    """Return the processor's time for a call."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def least_seconds(calls: Mapping[str, Callable[[], float]], limit: float = 2) -> dict[str, float]:
    """Return the least time of each call, called in turn, at least three times."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + limit
    for count in range(200):
        if count >= 3 and time.perf_counter() > end:
            break
        for name, call in calls.items():
            found[name].append(seconds(call))
    return {name: min(times) for name, times in found.items()}


def first_seconds(case: Case) -> tuple[float, float]:
    """Return the time of our first solve, and the part of it that goes to derivation."""
    spent = 0.0

    def timed(derive: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            nonlocal spent
            begin = time.process_time()
            found = derive(*args)
            spent += time.process_time() - begin
            return found

        return call

    derivatives = ("gradient", "jacobian", "hessian", "hvp")
    places = [(module, name) for module in (functions, packing) for name in derivatives]
    with ExitStack() as stack:
        for module, name in places:
            if hasattr(module, name):
                own = timed(getattr(module, name))
                stack.enter_context(patch.object(module, name, own))
        return seconds(lambda: case.by_us()()), spent


def run(names: Sequence[str]) -> list[list[Any]]:
    """Return rows for each case, or those of given names."""
    rows = []
    for make, scale in product(CASES, SCALES):
        if names and make.__name__ not in names:
            continue
        rng.bit_generator.state = STATE
        case = make(scale)
        first, derivation = first_seconds(case)
        first_of_jax = seconds(lambda case=case: case.by_jax()())
        calls: dict[str, Callable[[], float]] = {
            "by hand": lambda case=case: case.solve(case.both),
            "ours": case.by_us(),
            "JAX": case.by_jax(),
        }
        best = calls["by hand"]()
        ends = {name: call() for name, call in calls.items()}
        if case.library is not None:
            try:
                ends["library"] = case.library()
                calls["library"] = case.library
            except ModuleNotFoundError:
                print(f"{case.peer} isn't installed")
        for name, end in ends.items():
            gap = (end - best) / (1 + abs(best))
            print(f"{case.name}, {name}: {gap:.1g} from the optimum by hand", flush=True)
            assert name == "library" or abs(gap) < 1e-6, (case.name, name, end, best)
        times = least_seconds(calls)
        hand = times["by hand"]
        others = [
            times[name] / hand if name in times else None for name in ("ours", "JAX", "library")
        ]
        late = None if "library" not in ends else (ends["library"] - best) / (1 + abs(best))
        # The same expressions aren't derived twice.
        once: list[float | None] = [None, None, None]
        if scale == SCALES[0]:
            once = [derivation, first - derivation - times["ours"], first_of_jax - times["JAX"]]
        rows.append(
            [
                case.name,
                case.size,
                1000 * hand,
                *others,
                case.peer if "library" in ends else "",
                None if late is None else f"{max(late, 0):.0e}",
                *once,
            ]
        )
    return rows


TEXT = """# Problems of optimization

{machine}.

The processor's time to one optimum, the least of several solves that were made in turn. "By hand"
is SciPy with a gradient written by hand, by L-BFGS-B, or SLSQP for constraints; the next columns
are ratios to it. JAX's gradients are given to the same methods. L-BFGS-B and ours are asked for
gradients of at most 1e-6. scikit-learn and statsmodels run their own programs; the gap is how far
they end above the optimum, relative to 1 and its value. Ours and JAX's end within 1e-6; ours also
checks the conditions for an optimum, by a Hessian, and returns multipliers. Each case has a row
with ten times the data, of covariances and kernels ten times the arithmetic. The first solve takes
the time for the derivation and for the compilation more, or JAX's for tracing and compilation.
Gaussian processes have several local optima: of eight draws of the data, one isn't taken because
ours ends 0.06 above L-BFGS-B there.

{table}
"""


if __name__ == "__main__":
    head = ["problem", "data", "by hand, ms", "ours", "JAX + SciPy", "library", "which", "its gap"]
    head += ["our derivation, s", "our compilation, s", "JAX's, s"]
    about = ", ".join([f"{key} {value}" for key, value in machine().items()])
    text = TEXT.format(machine=about, table=table(head, run(sys.argv[1:])))
    if not sys.argv[1:]:
        RESULTS.write_text(text)
    print(text)
