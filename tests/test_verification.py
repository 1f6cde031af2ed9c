"""Numerical checks: derivatives against finite differences, and equality of expressions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sympy import Symbol, cos, sin, symbols

import sympy_einsum as se
from sympy_einsum.rules import normal_form
from sympy_einsum.verification import Samples

m, n = symbols("m n", integer=True, positive=True)
X, Y = se.tensors("X Y", n, m)
A, B = se.tensors("A B", n, n)
v, w = se.tensors("v w", n)
BIG = 10**14
ROOT = se.sqrt(1 + v**2 / BIG)
H = X @ se.inv(X.T @ X) @ X.T
S = se.TensorSymbol("S", (n, n), symmetric=True)
K = se.TensorSymbol("K", (n, n), psd=True)
D = se.TensorSymbol("D", (n, n), diagonal=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (H @ H, H),
        (H @ X, X),
        (H.T, H),
        (se.inv(X.T @ X) @ X.T @ X, se.Delta(m)),
        (X @ se.inv(X.T @ X), se.inv(X @ X.T) @ X),  # never both defined, but for square X
        (
            se.inv(A + X @ X.T),
            A.inv() - A.inv() @ X @ se.inv(se.Delta(m) + X.T @ A.inv() @ X) @ X.T @ A.inv(),
        ),
        (BIG * (ROOT - 1), v**2 / (1 + ROOT)),  # rounding errors of a percent
        (se.log(se.cosh(20 * v)), se.log(2 * se.cosh(20 * v)) - se.log(2)),
    ],
)
def test_equal_expressions_are_never_called_different(left, right):
    assert se.equal(left, right) in (True, None)
    assert se.equal(left, 2 * left) is not True


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((v + w) ** 3, v**3 + 3 * v**2 * w + 3 * v * w**2 + w**3),
        ((v * w) ** -2, v**-2 * w**-2),
        ((v + X.sum(axis=1)) ** 2, v**2 + 2 * v * X.sum(axis=1) + X.sum(axis=1) * X.sum(axis=1)),
        ((X.sum(axis=1) / m) ** 2, X.sum(axis=1) ** 2 / m**2),
        ((w * X.sum(axis=1)) ** 3, w**3 * X.sum(axis=1) ** 3),
        (se.diag(v) ** 2, se.diag(v**2)),
        (X.var(axis=0), (X**2).mean(axis=0) - X.mean(axis=0) ** 2),
        ((v * w + 1) ** 2, v**2 * w**2 + 2 * v * w + 1),
    ],
)
def test_powers_entry_by_entry_are_multiplied_out(left, right):
    assert se.equal(left, right) is True
    assert se.equal(left, right + right**2) is False


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1 / (v @ v + 1) + (v @ v) / (v @ v + 1), 1),
        (
            1 / ((v @ v) * (v @ w)),
            (1 / (v @ w) - 1 / (v @ w + v @ v)) * (1 / (v @ v) + (v @ w) / (v @ v) ** 2),
        ),
        (((v @ w) ** 2 - 1) / (v @ w - 1), v @ w + 1),
        (1 / (1 + 1 / (v @ v)), (v @ v) / (1 + v @ v)),
    ],
)
def test_fractions_of_scalars_are_brought_to_one_denominator(left, right):
    assert se.equal(left, right) is True
    assert se.equal(left, right + 1 / (v @ v)) is False


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (v / (1 + v), 1 - 1 / (1 + v)),
        (1 / (1 + v) + 1 / (1 - v), 2 / (1 - v**2)),
        (1 / (1 / v + 1 / w), v * w / (v + w)),
        (v / (1 + se.exp(w)), v - v * se.sigmoid(w)),
        (se.tanh(v), 2 * se.sigmoid(2 * v) - 1),
        ((se.exp(v) - se.exp(-v)) / (se.exp(v) + se.exp(-v)), se.tanh(v)),
        ((A @ v) / (1 + A @ v), 1 - 1 / (1 + A @ v)),
        (1 / (1 + A @ v) ** 2, 1 / (1 + 2 * (A @ v) + (A @ v) ** 2)),
        (v - v * (v @ v) / (v @ v + 1), v / (v @ v + 1)),
        (v / (w @ v) - v * (w @ v - 1) / (w @ v) ** 2, v / (w @ v) ** 2),
    ],
)
def test_fractions_entry_by_entry_too(left, right):
    assert se.equal(left, right) is True
    assert se.equal(left.sum(), right.sum()) in (True, None)
    assert se.equal(left, right + 1 / (2 + v)) is False
    wrong = right.subs(v, 2 * v)
    assert se.equal(left, wrong) is False


SINE, COSINE = se.sin(A @ v), se.cos(A @ v)
ANGLE = symbols("angle", real=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sin(ANGLE) ** 2 * v + cos(ANGLE) ** 2 * v, v),
        (SINE**2 + COSINE**2, se.Ones(*v.shape)),
        (se.sin(A @ v + w), SINE * se.cos(w) + COSINE * se.sin(w)),
        (se.cos(2 * v), 1 - 2 * se.sin(v) ** 2),
        (se.tan(A @ v), SINE / COSINE),
        (se.gradient(se.tan(v).sum(), v), 1 / se.cos(v) ** 2),
        (se.cosh(v) ** 2, 1 + se.sinh(v) ** 2),
        (se.sinh(2 * v), 2 * se.sinh(v) * se.cosh(v)),
        (se.tanh(v), se.sinh(v) / se.cosh(v)),
        (sin(v @ w) ** 2 * v, v - cos(v @ w) ** 2 * v),
    ],
)
def test_circular_and_hyperbolic_functions(left, right):
    """Identities that hold once functions are written as exponentials."""
    assert se.equal(left, right) is True
    assert se.equal(left, right + v) is False
    assert se.equal(left, -right) is False


ONE = se.Delta(*v.shape)
TOTAL = 1 + v @ v
MATRICES = [
    (se.diag(v / (1 + v)), ONE - se.diag(1 / (1 + v))),
    (v[:, None] * ONE / TOTAL + A, ONE * v[None, :] - ONE * v[None, :] * (v @ v) / TOTAL + A),
    (se.outer(v, w) / (1 + se.outer(v, w)), 1 - 1 / (1 + se.outer(v, w))),
    ((A @ A).T / (1 + (A @ A).T), 1 - 1 / (1 + A.T @ A.T)),
    (se.diff(A @ v / (1 + A @ v), v), se.diag(1 / (1 + A @ v) ** 2) @ A),
    (A.diagonal() / (1 + A.diagonal()), 1 - 1 / (1 + ONE * A).diagonal()),
]


@pytest.mark.parametrize(("left", "right"), MATRICES)
def test_fractions_of_several_axes_too(left, right):
    assert se.equal(left, right) is True
    assert se.equal(left, right + (ONE if left.order == 2 else v) / TOTAL) is False


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (se.diag(v) / TOTAL, se.outer(v, v) / TOTAL),
        (A / TOTAL + v[:, None], A.T / TOTAL + v[:, None]),
        ((A @ v) / (1 + A @ v), (A.T @ v) / (1 + A.T @ v)),
        (se.outer(v, w) / TOTAL, se.outer(w, v) / TOTAL),
        (A * ONE / TOTAL, A / TOTAL),
    ],
)
def test_entries_elsewhere_are_others(left, right):
    assert se.equal(left, right) is False


def test_large_quotients_are_left_alone():
    """In bounded time."""
    total = v
    for _ in range(30):
        total = 1 / (1 + total) + total
    assert se.equal(total, total + 1 / (1 + w) - 1 / (1 + w)) is True
    assert se.equal(total, total + 1 / (1 + w)) is False


def test_a_power_with_too_many_terms_stays_one():
    total = v + w + A @ v + A @ w
    assert se.equal(total**100, (w + v + A @ (v + w)) ** 100) is True
    assert normal_form(total**100).as_entry_power()[1] == 100


def test_a_counterexample_shows_where_expressions_differ():
    right, wrong = se.gradient(v @ A @ v, v), 2 * A @ v
    found = se.counterexample(wrong, right)
    arrays = [found.values[s] for s in (A, v)]
    for expression, value in ((wrong, found.left), (right, found.right)):
        assert se.lambdify([A, v], expression)(*arrays)[found.entry] == pytest.approx(value)
    assert found.values[n] == len(arrays[1])
    assert str(found).startswith(f"at entry [{found.entry[0]}] {found.left:.4g} and ")
    scalar = se.counterexample(v @ v, 2 * (v @ v))
    assert scalar.entry == ()
    assert scalar.right == pytest.approx(2 * scalar.left)
    assert str(scalar).splitlines()[0] == f"{scalar.left:.4g} and {scalar.right:.4g}, where"
    bodies = se.counterexample(se.tanh(v) ** 2 * w, se.tanh(v) * w)
    assert {*bodies.values} == {v, w, n}


def test_no_counterexample_where_none_is_found():
    assert se.counterexample(H @ H, H) is None
    with pytest.raises(se.ShapeError, match=r"\(n,\) and \(n, n\), always differ"):
        se.counterexample(v, A)


def test_equal_takes_no_sample_for_the_axis_lengths_to_be_in_one_order():
    assert se.equal(H, 2 * H) is False
    wide = X.T @ se.inv(X @ X.T)
    assert se.equal(wide, 2 * wide) is False
    both = [Samples([e]).draw(3) for e in (H, wide)]
    assert [len(list(drawn)) for drawn in both] == [3, 3]


def test_functions_of_entries_are_equal_however_they_are_nested():
    x = se.TensorSymbol("x", n)
    nested, whole = 1 / (x**2 + 1), se.elementwise(lambda u: 1 / (u**2 + 1), x)
    assert nested != whole
    assert se.equal(nested, whole) is True
    assert se.equal(se.diag(nested), se.diag(whole)) is True
    assert se.equal(nested, se.elementwise(lambda u: 1 / (u**2 + 2), x)) is False


def test_equal_of_lengths_positions_and_nothing():
    i = symbols("i", integer=True)
    assert se.equal(se.Ones(n) / n, se.Ones(n)) is False
    assert se.equal(v * n, v * (n + 1)) is False
    assert se.equal(A[i, 0], A[0, i]) is False
    assert se.equal(v[1:], v[:-1]) is False
    z = se.TensorSymbol("z", (0, 3))
    assert se.equal(z, 2 * z) is True
    assert se.equal(v, se.TensorSymbol("u", 3)) is False


def test_many_lengths_make_no_large_samples():
    T = se.TensorSymbol("T", symbols("d0:12", integer=True, positive=True))
    assert se.equal(T.sum(), 2 * T.sum()) is False


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (se.logdet(X.T @ X) + v @ H @ v, X),
        (se.inv(X.T @ X) @ X.T @ v, X),
        (X @ se.inv(X.T @ X) @ X.T @ v, v),
        (se.logdet(K) + v @ K.inv() @ v, K),
        (v @ S.inv() @ v, S),
        (v @ D.inv() @ v, D),
        (se.relu(A @ v).sum(), A),
        (se.Abs(v).sum(), v),
    ],
)
def test_derivatives_are_checked_where_they_exist(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert se.check_derivative(f, x) < 1e-8


def test_a_wrong_derivative_is_found_and_shown():
    data = Samples([v @ v, 3 * v], first=[v])
    values, _ = next(data.draw(1))
    largest = int(abs(values[0]).argmax())
    with pytest.raises(se.TensorError, match=r"differs from finite differences by .*: entry \["):
        se.check_derivative(v @ v, v, 3 * v, samples=1)
    with pytest.raises(se.TensorError, match=rf"entry \[{largest}\] is "):
        se.check_derivative(v @ v, v, 3 * v, samples=1)
    t = Symbol("t")
    with pytest.raises(se.TensorError, match=r"by 0\.\d+: it is -?\d"):
        se.check_derivative(t**2, t, 3 * t, samples=1)


def test_loops_have_more_than_one_step():
    """The derivative is zero where y has two entries, and the loop one step."""
    y, a = se.TensorSymbol("y", n), symbols("a")
    _, errors = se.scan(lambda level, v: (level + a * (v - level), v - level), y[0], y[1:])
    assert 0 < se.check_derivative(errors @ errors, a) < 1e-6
    with pytest.raises(se.TensorError, match="differs from finite differences"):
        se.check_derivative(errors @ errors, a, 0 * a)


def test_a_symmetric_variable_is_moved_along_symmetric_matrices():
    # The antisymmetric part of a derivative by it says nothing.
    f = v @ S @ w
    assert se.check_derivative(f, S, se.einsum("i,j->ij", w, v)) < 1e-8
    with pytest.raises(se.TensorError, match="differs"):
        se.check_derivative(f, S, se.einsum("i,j->ij", v, v))


def test_data_have_the_structure_that_is_declared():
    P = se.TensorSymbol("P", (n, n), positive=True)
    for seed in range(6):
        data = Samples([S, K, D, P, X])
        values = dict(zip(data.symbols, data.arguments(seed), strict=True))
        assert np.allclose(values[S], values[S].T)
        assert np.linalg.eigvalsh(values[K]).min() > 0
        assert not (values[D] - np.diag(values[D].diagonal())).any()
        assert values[P].min() > 0
        assert np.linalg.cond(values[X]) < 100


@pytest.mark.parametrize(
    "expr",
    [
        se.sin(100 * v), se.sin(10**6 * v), 10**6 * se.sin(1000 * v), se.exp(50 * v),
        se.exp(-10000 * v**2), se.tanh(1000 * v), se.sin(v / 10**6), 10**-9 * se.sin(v),
        abs(v), se.relu(v - v.mean()), se.Max(v, w), se.floor(50 * v), se.log(abs(v)),
        se.sqrt(v**2 + 10**-12), se.sin(100 * (A @ v)), se.log(v),
    ],
)  # fmt: skip
def test_steps_of_differences_adapt_to_the_expression(expr):
    assert se.check_derivative(expr, v) < 1e-5
    assert se.check_derivative(expr.sum(), v) < 1e-5


@pytest.mark.parametrize("expr", [se.sin(100 * v), se.sin(10**6 * v), se.exp(50 * v), abs(v)])
def test_a_derivative_with_an_error_of_a_thousandth_is_found(expr):
    with pytest.raises(se.TensorError, match="differs from finite differences"):
        se.check_derivative(expr.sum(), v, 1.001 * se.gradient(expr.sum(), v))


@pytest.mark.parametrize(
    ("expr", "match"),
    [
        (se.sin(10**12 * v), "don't converge"),
        (10**12 + se.sin(v), "don't converge"),
        (10**9 + se.sin(v), "don't converge"),
        (se.log(-abs(v) - 1), "finite"),
    ],
)
def test_a_check_says_why_there_are_no_differences(expr, match):
    with pytest.raises(se.TensorError, match=match):
        se.check_derivative(expr, v)


def test_steps_of_differences_adapt_to_scalars():
    t = Symbol("t", real=True)
    assert se.check_derivative(sin(100 * t), t) < 1e-5
    with pytest.raises(se.TensorError, match="differs from finite differences"):
        se.check_derivative(sin(100 * t), t, 99 * cos(100 * t))


def test_large_graphs_that_differ_need_no_normal_form(monkeypatch):
    """It takes seconds for hundreds of links."""
    f = g = x = se.TensorSymbol("x", Symbol("n", integer=True, positive=True))
    for _ in range(600):
        f, g = f * f / 8 + x, g * g / 8 + x
    monkeypatch.setattr("sympy_einsum.verification._are_identical", None)
    assert se.equal(f.sum(), 2 * g.sum()) is False
