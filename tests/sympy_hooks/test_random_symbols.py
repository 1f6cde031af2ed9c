"""sympy.stats, and other objects that are their own free symbols, with tensors around them."""

import numpy as np
import pytest
from oracles import assert_close, evaluate, n
from sympy import (
    Dummy,
    Function,
    Idx,
    IndexedBase,
    Lambda,
    MatrixSymbol,
    Symbol,
    Wild,
    diff,
    exp,
    expand,
    pi,
    simplify,
    sin,
    solve,
    sqrt,
)
from sympy.stats import (
    Bernoulli,
    Die,
    E,
    GaussianUnitaryEnsemble,
    Normal,
    P,
    Poisson,
    Uniform,
    covariance,
    density,
    moment,
    std,
    variance,
)
from sympy.stats.rv import is_random, random_symbols
from sympy.vector import CoordSys3D

import sympy_einsum as se

t = Symbol("t", real=True)
j = Symbol("j", integer=True)
x, y, d = se.tensors("x y d", n)
A = se.TensorSymbol("A", n, n)
Z, W = Normal("Z", 0, 1), Normal("W", 1, 2)
DATA = {
    x: np.array([0.5, -1.0, 2.0]),
    y: np.array([1.5, 0.25, -0.75]),
    d: np.array([-0.3, 0.8, 1.1]),
    A: np.arange(9.0).reshape(3, 3) / 7,
}
# Nodes and weights of Gauss and Hermite, for expectations by numbers.
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

RANDOM = [
    ((x + Z * d) ** 2).sum(),
    x @ (x + Z * d),
    Z * x,
    Z**2 * A,
    (x + Z * d) @ A @ (x + Z * d),
    ((x + Z * d) ** 3).sum() * t,
    (Z + 1) * (x @ d) + Z**2,
]


def by_points(f, data=None):
    """The expectation by quadrature, of what Z is put into by number."""
    values = [
        evaluate(f.xreplace({Z: Symbol("z", real=True)}), {**(data or DATA), **extra(z)})
        for z in POINTS
    ]
    return np.einsum("k,k...->...", WEIGHTS, np.array(values))


def extra(z):
    return {Symbol("z", real=True): z, t: 0.7}


@pytest.mark.parametrize("f", RANDOM, ids=str)
def test_expectations(f):
    found = E(f)
    assert getattr(found, "shape", ()) == getattr(f, "shape", ())
    assert not random_symbols(found)
    assert_close(evaluate(found, {**DATA, t: 0.7}), by_points(f))


@pytest.mark.parametrize("f", [f for f in RANDOM if not getattr(f, "shape", ())], ids=str)
def test_variances_and_covariances(f):
    assert is_random(f)
    assert random_symbols(f) == [Z]
    mean, square = by_points(f), by_points(f * f)
    assert_close(evaluate(variance(f), {**DATA, t: 0.7}), square - mean**2)
    both = by_points(f * Z) - by_points(Z + 0 * (x @ x)) * mean
    assert_close(evaluate(covariance(f, Z), {**DATA, t: 0.7}), both)


ENTRYWISE = [
    (se.exp(Z * x + y), lambda z: np.exp(z * DATA[x] + DATA[y])),
    (se.exp(Z * x).sum(), lambda z: np.exp(z * DATA[x]).sum()),
    (exp(Z) * A, lambda z: np.exp(z) * DATA[A]),
    (exp(Z * (x @ d)) * y, lambda z: np.exp(z * (DATA[x] @ DATA[d])) * DATA[y]),
    (se.sin(Z * x + y), lambda z: np.sin(z * DATA[x] + DATA[y])),
    (sin(Z * (x @ y)), lambda z: np.sin(z * (DATA[x] @ DATA[y]))),
    (Z * A + Z**2 * A.T, lambda z: z * DATA[A] + z**2 * DATA[A].T),
    (Z * se.exp(-((Z * x / 5) ** 2)), lambda z: z * np.exp(-((z * DATA[x] / 5) ** 2))),
]


@pytest.mark.parametrize(
    ("f", "function"), ENTRYWISE, ids=lambda value: str(value).partition("<")[0]
)
def test_normal_variables_without_integrals(f, function):
    """Variances and the like of tensors are entry by entry, as SymPy defines them."""
    values = np.array([function(z) for z in POINTS])
    mean, square = [np.einsum("k,k...->...", WEIGHTS, v) for v in (values, values**2)]
    assert_close(evaluate(E(f), DATA), mean)
    assert_close(evaluate(variance(f), DATA), square - mean**2)
    assert_close(evaluate(std(f), DATA), np.sqrt(square - mean**2))
    assert_close(evaluate(moment(f, 2), DATA), square)
    both = np.einsum("k,k...->...", WEIGHTS, values * POINTS.reshape(-1, *(1,) * (values.ndim - 1)))
    assert_close(evaluate(covariance(f, Z), DATA), both)


def test_several_normal_variables():
    assert se.equal(E(se.exp(Z * x + W * y)), se.exp(x**2 / 2 + y + 2 * y**2))
    assert se.equal(E(Z**2 * W * A), A)
    assert se.equal(covariance(Z * x + W * y, W * d), 4 * y * d)
    assert se.equal(variance(W * A), 4 * A**2)


def test_moments_in_closed_form():
    assert se.equal(E(((x + Z * d) ** 2).sum()), x @ x + d @ d)
    assert E(((x + Z * d) ** 2).sum()) == x @ x + d @ d
    assert E(Z * x) == se.Zeros(n)
    assert se.equal(variance(x @ (x + Z * d)), (d @ x) ** 2)
    assert se.equal(covariance(x @ (x + Z * d), d @ (x + Z * y)), (d @ x) * (d @ y))
    assert se.equal(E(W * x), x)
    assert se.equal(E(Z * W * (x @ y)), 0 * (x @ y))
    assert se.equal(moment(Z * (x @ x), 2), (x @ x) ** 2)
    assert P(Z * (x @ x) > 0, evaluate=False).args[0].has(Z)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "mean", "square"),
    [
        (Die("D", 6), 3.5, 91 / 6),
        (Bernoulli("B", 0.25), 0.25, 0.25),
        (Uniform("U", 0, 2), 1, 4 / 3),
        (Poisson("N", 3), 3, 12),
    ],
    ids=str,
)
def test_other_distributions(variable, mean, square):
    found = evaluate(E(((x + variable * d) ** 2).sum()), DATA)
    X, D = DATA[x], DATA[d]
    assert_close(found, X @ X + 2 * mean * X @ D + square * D @ D)


@pytest.mark.parametrize("variable", [Die("D", 6), Bernoulli("B", 0.25)], ids=str)
def test_expectations_of_tensors_over_outcomes(variable):
    is_die = variable.name == "D"
    outcomes, chances = (range(1, 7), [1 / 6] * 6) if is_die else ((0, 1), [0.75, 0.25])
    X = DATA[x]
    for expr, f in (
        (variable * x, lambda k: k * X),
        ((x + variable * x) ** 2, lambda k: (X + k * X) ** 2),
        (se.exp(variable * x), lambda k: np.exp(k * X)),
    ):
        expected = sum(chance * f(k) for chance, k in zip(chances, outcomes, strict=True))
        assert_close(evaluate(E(expr), DATA), expected)
    die, coin = Die("D", 6), Bernoulli("C", 0.5)
    assert_close(evaluate(E(die * coin * x), DATA), 1.75 * X)
    assert E(die * x, die > 3) == 5 * x


def test_conditional_expectations_of_tensors():
    Z, U = Normal("Z", 0, 1), Uniform("U", 0, 1)
    assert E(Z * x, Z > 0) == sqrt(2 / pi) * x
    assert E(U * x, 2 * U > 1) == 3 * x / 4
    assert simplify(E((x + Z * d) * Z, Z > 0) - (sqrt(2 / pi) * x + d)) == se.Zeros(n)
    with pytest.raises(se.UnsupportedError, match="functions of Z"):
        E(se.exp(Z * x), Z > 0)


def test_densities_and_parameters():
    f = density(x @ (x * Z))(t)
    s = Symbol("s", positive=True)
    assert simplify(f.subs(x @ x, s) - exp(-(t**2) / (2 * s**2)) / (s * sqrt(2 * pi))) == 0
    mu = Symbol("mu", real=True)
    shifted = Normal("Y", mu, 1) * x
    assert E(shifted) == mu * x
    assert shifted.free_symbols == {x, *(Normal("Y", mu, 1) * t).free_symbols} - {t}
    assert E(shifted.subs(mu, 3)) == 3 * x


def test_random_matrices_are_refused():
    H = GaussianUnitaryEnsemble("H", 2)
    with pytest.raises(se.UnsupportedError, match="random matrix H"):
        se.from_matrix(H)


# --- other variables -----------------------------------------------------------------------------

a, C = IndexedBase("a"), CoordSys3D("C")
VARIABLES = [
    *(Z, a[Idx("i")], a[j], a[0], Idx("i", 3), Dummy("q"), Wild("w"), C.x, Symbol("s")),
    *(Normal("Y", Symbol("mu"), 1), a[j + 1, 2]),
]


@pytest.mark.parametrize("variable", VARIABLES, ids=str)
def test_free_symbols_are_sympys(variable):
    """A node has the free symbols that SymPy's functions of the variable have."""
    known = sin(variable * t).free_symbols - {t}
    for f in (sin(variable * x), se.elementwise(lambda u: sin(variable * u), x), variable * x):
        assert f.free_symbols == known | {x}
        assert f.sum().free_symbols == known | {x}
        assert f.func(*f.args) is f
        assert f.has(variable)
        assert f.subs(variable, 2) == f.xreplace({variable: 2})
        assert not f.subs(variable, 2).has(variable)


@pytest.mark.parametrize("variable", VARIABLES, ids=str)
def test_variables_are_taken_out(variable):
    f = x @ (variable * d + x)
    (found,) = solve(f - 1, variable)
    assert se.equal(found, (1 - x @ x) / (d @ x))
    expanded = expand(f**2).subs(variable, t)
    assert se.equal(expanded, (x @ (t * d + x)) ** 2)


@pytest.mark.parametrize("f", [a[j] * x, sin(a[j] * x).sum()], ids=str)
def test_positions_in_entries_have_no_derivative(f):
    """Moving the index of an entry isn't small; the derivative is not zero."""
    with pytest.raises(se.UnsupportedError, match=r"with respect to j: .* position in a\["):
        diff(f, j)


def test_entries_of_matrix_symbols_are_those_of_tensors():
    M = MatrixSymbol("M", 2, 2)
    own = se.TensorSymbol("M", 2, 2)[0, 1]
    f = se.elementwise(lambda u: sin(M[0, 1] * u), x)
    assert f.free_symbols == {x, own.operands[0]}
    assert_close(evaluate(f.subs(own, t), {**DATA, t: 0.7}), np.sin(0.7 * DATA[x]))
    assert (M[0, 1] * (x @ x)).subs(M[0, 1], t) == t * (x @ x)
    assert se.equal(*solve(M[0, 1] * (x @ x) - 1, M[0, 1]), 1 / (x @ x))


@pytest.mark.parametrize(
    "value",
    [
        *(C.i, t * C.i, C.i | C.j, Normal("V", [0, 1], [[1, 0], [0, 1]])),
        *(Symbol("P", commutative=False), Function("g", commutative=False)(t)),
    ],
    ids=str,
)
def test_nonscalars_are_refused(value):
    """Vectors, functions and what doesn't commute stand in no tensor."""
    for made in (
        lambda: x * value,
        lambda: x + value,
        lambda: se.einsum("i,->i", x, value),
        lambda: (t * x).subs(t, value),
        lambda: (sin(t * x) @ x).xreplace({t: value}),
        lambda: se.elementwise(lambda u: u * value, x),
    ):
        with pytest.raises(se.TensorError):
            made()


def test_functions_are_no_scalars():
    with pytest.raises(se.TensorError, match="is no scalar"):
        x * Lambda(t, t)
