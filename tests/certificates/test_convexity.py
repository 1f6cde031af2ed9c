"""Certificates of convexity, against second differences at random points."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy as sp
from known_functions import BEYOND_RULES, CONVEX, NOT_CONVEX, TEXTBOOK, A, K, X, b, r, t, u, x

import sympy_einsum as se

c, d = sp.symbols("c d")
v = se.TensorSymbol("v", 3)
COMPLEX = se.Constant([1j, 2, 0])
POINTS = 3
ALL_POINTS = 135
STEP = 1e-3


# --- second differences


class Coordinates:
    """Random values of symbols, those of some variables as one vector of free coordinates."""

    def __init__(self, f, variables):
        self.symbols = sorted(f.free_symbols, key=str)
        self.variables = variables
        self.function = se.lambdify(self.symbols, f)

    @staticmethod
    def draw(symbol, rng):
        shape = tuple(map(int, getattr(symbol, "shape", ())))
        words = set(getattr(symbol, "assumptions", ()))
        if not isinstance(symbol, se.TensorSymbol) and symbol.is_nonnegative:
            words = {"positive"}
        if words & {"positive", "nonnegative"}:
            return rng.uniform(0.1, 2, shape)
        normal = rng.standard_normal(shape)
        if words & {"psd", "pd"}:
            return normal @ normal.T + 0.2 * np.eye(shape[0])
        return normal + normal.T if "symmetric" in words else normal

    def basis(self):
        """Return directions in which variables move, symmetric matrices in symmetric ones."""
        for variable in self.variables:
            shape = tuple(map(int, getattr(variable, "shape", ())))
            is_symmetric = len(shape) == 2 and variable.is_symmetric
            for place in np.ndindex(shape):
                direction = np.zeros(shape)
                direction[place] = 1
                if is_symmetric:
                    if place[0] > place[1]:
                        continue
                    direction[place[::-1]] = 1
                yield variable, direction

    def hessian(self, rng):
        """Return second differences at a random point, nan outside of the domain, and their
        error."""
        data = {symbol: self.draw(symbol, rng) for symbol in self.symbols}
        directions = list(self.basis())

        def value(*steps):
            moved = dict(data)
            for size, (variable, direction) in steps:
                moved[variable] = moved[variable] + size * direction
            with np.errstate(all="ignore"):
                return float(self.function(*[moved[s] for s in self.symbols]))

        def differences(step):
            count = len(directions)
            result = np.zeros((count, count))
            for i in range(count):
                for j in range(i, count):
                    corners = [
                        si * sj * value((si * step, directions[i]), (sj * step, directions[j]))
                        for si in (1, -1)
                        for sj in (1, -1)
                    ]
                    result[i, j] = result[j, i] = sum(corners) / (4 * step**2)
            return result

        matrix = differences(STEP)
        error = abs(matrix - differences(2 * STEP)).max()
        return matrix, error + 1e-5 * (abs(matrix).max() + abs(value()) + 1)


def check_hessians(f, variables, kind, count):
    """Return how many Hessians were checked."""
    coordinates, rng = Coordinates(f, variables), np.random.default_rng(1)
    sign = 1 if kind == "convex" else -1
    checked = 0
    for _ in range(100 * count):
        matrix, margin = coordinates.hessian(rng)
        if not np.isfinite([*matrix.flat, margin]).all():
            continue
        eigenvalues = np.linalg.eigvalsh(sign * matrix)
        assert eigenvalues.min() >= -margin
        if kind == "affine":
            assert eigenvalues.max() <= margin
        checked += 1
        if checked == count:
            break
    return checked


@pytest.mark.parametrize("name", CONVEX)
def test_hessians_at_random_points(name):
    assert check_hessians(*CONVEX[name], POINTS) == POINTS


@pytest.mark.slow
def test_ten_thousand_hessians():
    assert sum(check_hessians(*case, ALL_POINTS) for case in CONVEX.values()) >= 10_000


# --- what is certified


@pytest.mark.parametrize("name", CONVEX)
def test_certified(name):
    f, variables, kind = CONVEX[name]
    found = se.convexity(f, variables)
    assert found.kind == kind
    assert found.steps
    assert found.conditions == ()
    assert found.stopped_at is None


def test_the_list_is_long_enough():
    assert len(TEXTBOOK) >= 45
    assert len(BEYOND_RULES) >= 10
    assert len(NOT_CONVEX) >= 20


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_never_certified(name):
    f, variables = NOT_CONVEX[name]
    found = se.convexity(f, variables)
    assert found.kind == "unknown"
    assert found.stopped_at is not None
    assert found.steps == ()


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_opposites_are_never_certified(name):
    f, variables = NOT_CONVEX[name]
    assert se.convexity(-f, variables).kind == "unknown"


@pytest.mark.parametrize("name", TEXTBOOK)
def test_opposites(name):
    """Of a sum with a constant, and of a multiple, as sign and scale mustn't matter."""
    f, variables, kind = TEXTBOOK[name]
    opposite = {"convex": "concave", "concave": "convex", "affine": "affine"}[kind]
    assert se.convexity(-2 * f + c, variables).kind == opposite


@pytest.mark.parametrize("seed", range(8))
def test_random_functions_of_one_symbol(seed):
    """Random sums, products and compositions: if one is certified, second differences agree."""
    rng = np.random.default_rng(seed)
    pool = [t, t**2, sp.exp(t), sp.exp(-(t**2)), abs(t), se.softplus(t), sp.sqrt(1 + t**2)]
    pool += [se.sigmoid(t), sp.sin(t), 1 / (2 + sp.cos(t)), sp.log(1 + t**2), sp.Max(t, 1)]
    for _ in range(4):
        first, second = (pool[k] for k in rng.choice(len(pool), 2))
        made = [first + second, first * second, first - 2 * second, sp.exp(first), first**2]
        made += [se.softplus(first - second), sp.log(1 + sp.exp(first) + second**2)]
        f = made[rng.integers(len(made))]
        pool.append(f)
        kind = se.convexity(f, t).kind
        if kind != "unknown" and f.free_symbols:
            check_hessians(f, [t], kind, 20)


# --- domains


@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (t * sp.log(t), "convex"),  # positive t alone
        (sp.sqrt(t) + t, "concave"),
        (t ** sp.Rational(5, 2), "convex"),
        (sp.log(1 - t) + sp.log(1 + t), "concave"),
        (1 / t - sp.log(t), "convex"),
        (1 / (1 - t) - sp.log(1 - t), "convex"),
        (sp.log(t**2), "unknown"),
        (1 / t**2, "unknown"),
        (1 / r**2, "convex"),
        (sp.Piecewise((t, t > 0), (0, True)) * 1, "convex"),
        (sp.Piecewise((sp.log(t), t > 1), (0, True)) + 1 / t, "unknown"),
        (sp.tan(t), "unknown"),
        (sp.gamma(t), "unknown"),
        (t**3 + 1 / r, "unknown"),
    ],
)
def test_domains(f, kind):
    variables = sorted(f.free_symbols, key=str)
    assert se.convexity(f, variables).kind == kind


def test_a_domain_that_is_not_convex():
    """Where the argument of a root is positive isn't convex."""
    assert se.convexity((x @ x - 1) ** sp.Rational(3, 2), x).kind == "unknown"
    assert se.convexity(-sp.log(x @ x - 1), x).kind == "unknown"
    assert se.convexity(-sp.log(1 - x @ x), x).kind == "convex"


# --- conditions


@pytest.mark.parametrize(
    ("f", "variables", "kind", "conditions"),
    [
        (c * (x @ x), x, "convex", [c >= 0]),
        (c * (x @ x) + d * se.norm(x), x, "convex", [c >= 0, d >= 0]),
        (c * t**2 + u * t, t, "convex", [c >= 0]),
        (c**2 * t**2, t, "convex", []),
        (x @ x / c, x, "convex", [c >= 0]),
        (-c * se.norm(A @ x), x, "convex", [c <= 0]),
        (sp.exp(c * t), t, "convex", []),
        (c * x.sum() + d, x, "affine", []),
        (c * t**2 - c * t**4, t, "unknown", []),
        (x @ x, v, "affine", []),
    ],
)
def test_conditions(f, variables, kind, conditions):
    found = se.convexity(f, variables)
    assert found.kind == kind
    assert set(found.conditions) == set(conditions)


def test_a_condition_on_the_entries_of_a_tensor():
    found = se.convexity((v * x**2).sum(), x)
    assert found.kind == "convex"
    assert str(found).startswith("convex in x if (v >= 0)")


# --- results


def test_a_certificate_is_a_table():
    found = se.convexity(se.norm(A @ x - b), x)
    lines = str(found).splitlines()
    assert lines[0] == "convex in x"
    assert len(lines) == 1 + len(found.steps) == 6
    assert lines[-1].startswith("5  norm(A @ x - d)")
    assert [step.curvature for step in found.steps][-3:] == [
        *["convex square root"] * 2,
        "convex",
    ]
    html, latex = found._repr_html_(), found._repr_latex_()
    assert html.count("<tr>") == 6
    assert latex.count(r"\\") == 4
    assert r"\lVert" in latex
    assert found.steps[-1].range == sp.Interval(0, sp.oo)
    assert found.is_convex
    assert not found.is_concave


def test_each_rule_names_its_source_or_says_why():
    for f, variables, _ in CONVEX.values():
        for step in se.convexity(f, variables).steps:
            assert step.rule
            assert re.search(r"\w", step.reason)


def test_affine_functions_are_both():
    found = se.convexity(b @ A @ x, x)
    assert found.is_convex
    assert found.is_concave


@pytest.mark.parametrize(
    ("f", "node"),
    [
        (se.sin(x).sum() + x[0], se.sin(x)),
        (se.exp(se.tanh(A @ x).sum()), se.tanh(A @ x)),
        (se.sort(x)[1] + x @ x, se.sort(x)),
        (se.det(X) + se.trace(X), se.det(X)),
    ],
)
def test_unknown_functions_name_where_they_stopped(f, node):
    variables = sorted((f.free_symbols & {x, X}), key=str)
    found = se.convexity(f, variables)
    assert found.kind == "unknown"
    assert found.stopped_at == node
    assert str(node) in str(found)
    assert "unknown" in found._repr_html_()
    assert "unknown" in found._repr_latex_()


def test_several_variables_and_one():
    f = t**2 / r
    assert se.convexity(f, [t, r]).kind == "convex"
    assert se.convexity(f, t).kind == se.convexity(f, [r]).kind == "convex"
    assert se.convexity(t * u, t).kind == "affine"
    assert se.convexity(x @ K @ x, [x, K]).kind == "unknown"
    assert se.convexity(x @ K @ x, K).kind == "affine"


@pytest.mark.parametrize("layers", [5, 100])
def test_networks_with_nonnegative_weights(layers):
    """Convex in their input, also where a proof has a thousand steps."""
    W = se.TensorSymbol("W", 3, 3, nonnegative=True)
    convex, other = W @ x, W @ x
    for _ in range(layers):
        convex, other = se.softplus(W @ convex) + x, se.tanh(W @ other)
    assert se.convexity(convex.sum(), x).kind == "convex"
    assert se.convexity(other.sum(), x).kind == "unknown"


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: se.convexity(x, x), se.ShapeError, "sum it"),
        (lambda: se.convexity(x @ x, x @ x), se.TensorError, "in symbols"),
        (lambda: se.convexity(x @ x, []), se.TensorError, "needs a symbol"),
        (lambda: se.convexity(x @ (x * COMPLEX), x), se.UnsupportedError, "complex"),
    ],
)
def test_wrong_arguments(call, error, told):
    with pytest.raises(error, match=told):
        call()


def test_numbers_whose_finiteness_sympy_does_not_know():
    """oo + sigmoid(1) isn't oo to SymPy; as an endpoint it made products negative."""
    x = se.TensorSymbol("x", 3)
    f = se.exp(se.sigmoid(se.sqrt(x**2 + 1))[0])
    assert se.bounds(se.hessian(f, x)) == sp.Interval(-sp.oo, sp.oo)
    assert se.convexity(f, x).kind == "unknown"
