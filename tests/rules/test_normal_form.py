"""The normal form: each rule by a case and by numbers, uniqueness, cost, and rewrites that must not
happen."""

import random
from collections import Counter

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from oracles import LENGTHS, assert_close, data_for, evaluate, k, m, n
from random_settings import CONFIG
from sympy import Rational, Symbol, symbols, sympify

import sympy_einsum as se
from sympy_einsum import testing
from sympy_einsum.analysis import cost
from sympy_einsum.rules.normal_form import normal_form

s, t = symbols("s t", positive=True)
p = symbols("p", integer=True)
A, B, C = se.tensors("A B C", n, n)
S = se.TensorSymbol("S", (n, n), symmetric=True)
P = se.TensorSymbol("P", (n, n), psd=True)
X, Y = se.tensors("X Y", m, n)
x, y, z = se.tensors("x y z", n)
b = se.TensorSymbol("b", (m,))
T = se.TensorSymbol("T", (m, n, k))
F, G = se.tensors("F G", m, n, n)
DATA = {
    **data_for([A, B, C, X, Y, b, T, F, G]),
    **data_for([x, y, z], seed=3, domains=dict.fromkeys("xyz", "pos")),
    **data_for([S, P], seed=5, domains={"S": "symmetric", "P": "spd"}),
    p: 3,
    s: 0.7,
    t: 1.3,
}
exp, log = se.exp, se.log


def value(expr):
    used = {symbol: DATA[symbol] for symbol in DATA if symbol in expr.free_symbols}
    return evaluate(expr, used | {n: 3, m: 4, k: 2} if not used else used | lengths_in(expr, used))


def lengths_in(expr, used):
    """Return lengths that no argument determines."""
    told = {length for symbol in used for length in getattr(symbol, "shape", ())}
    return {length: number for length, number in LENGTHS.items() if length not in told}


def assert_equal_values(before, after):
    symbols_used = sorted(
        (set(DATA) & (before.free_symbols | after.free_symbols)) | {X, T}, key=str
    )
    data = {symbol: DATA[symbol] for symbol in symbols_used}
    assert_close(evaluate(after, data), evaluate(before, data))


# rule, before, after: written with plain operators, so that the rows can be read.
CENTRED = x - x.mean()
v, w = x * z, y * z
ON_DIAGONAL, POWER = se.diag(A.diagonal()), se.matrix_power(A, p)
CASES = [
    ("denest", x @ A @ x, se.einsum("i,ij,j->", x, A, x)),
    ("denest", (A @ B) @ C, se.einsum("ij,jk,kl->il", A, B, C)),
    ("denest", A @ (B @ C), se.einsum("ij,jk,kl->il", A, B, C)),
    ("denest", (A * (B @ C)).sum(), se.einsum("ij,ik,kj->", A, B, C)),
    ("inverse", A.inv() @ A, se.Delta(n)),
    ("inverse", A @ A.inv() @ x, x),
    ("inverse", A.T.inv() @ A.T @ x, x),
    ("inverse", (A @ B).inv() @ A @ B, se.Delta(n)),
    ("inverse", (X.T @ X).inv() @ X.T @ X, se.Delta(n)),
    ("inverse", (A @ B).inv() @ A, B.inv()),
    ("inverse", B @ (A @ B).inv(), A.inv()),
    ("inverse", (A.T @ B).inv() @ A.T, B.inv()),
    ("inverse", A.T @ (B @ A.T).inv(), B.inv()),
    ("inverse", (A.inv() @ A).trace(), n),
    ("inverse", (A + B).inv() @ (A + B), se.Delta(n)),
    ("inverse of a multiple", A.T.inv(), A.inv().T),
    ("inverse of a multiple", (A / 2 + B / 2).inv(), 2 * (A + B).inv()),
    ("inverse of a multiple", (-A - 2 * B).inv(), -((A + 2 * B).inv())),
    ("determinant of a multiple", se.det(2 * A - 4 * B), 2**n * se.det(A - 2 * B)),
    ("inverse of a multiple", (t * A.T).inv(), A.inv().T / t),
    ("inverse of a multiple", se.diag(x).inv(), se.diag(1 / x)),
    ("inverse of a multiple", (3 * se.diag(x)).inv(), se.diag(1 / x) / 3),
    ("determinant of a multiple", se.logdet(2 * A.T), n * sympy.log(2) + se.logdet(A)),
    ("softmax", exp(X) / exp(X).sum(axis=1, keepdims=True), se.softmax(X, axis=1)),
    ("softmax", (exp(x) / exp(x).sum()) @ A, se.softmax(x) @ A),
    ("sum of softmax", se.softmax(X, axis=1).sum(axis=1), se.Ones(m)),
    ("sum of softmax", se.softmax(X, axis=1).sum(), m),
    ("stable", sympy.log(exp(x).sum()), se.logsumexp(x)),
    ("logarithm", log(X**2 * exp(X).T.T), log(X**2) + X),
    ("log softmax", X - se.logsumexp(X, axis=1, keepdims=True), log(se.softmax(X, axis=1))),
    ("power", x * x, x**2),
    ("power", x / x, se.Ones(n)),
    ("power", se.sqrt(x) * se.sqrt(x), x),
    ("power", x ** Rational(3, 2) * x ** Rational(1, 2), x**2),
    ("power", (x / y) * (y**2 / x), y),
    ("power", x / (x * y), 1 / y),
    ("power", exp(x) * exp(y), exp(x + y)),
    ("power", exp(x) * exp(-x), se.Ones(n)),
    ("stable", exp(x) / (1 + exp(x)), se.sigmoid(x)),
    ("square", ((X @ x - b) ** 2).sum(), (X @ x - b) @ (X @ x - b)),
    ("square", (X**2).sum(axis=1), se.einsum("ij,ij->i", X, X)),
    ("symmetric", S.T, S),
    ("symmetric", S @ x + S.T @ x, 2 * (S @ x)),
    ("symmetric", B @ P.inv().T @ x, se.einsum("ij,jk,k->i", B, P.inv(), x)),
    ("content", A @ (-x - y), -(A @ (x + y))),
    ("content", A @ (0.5 * x - 0.5 * y), 0.5 * (A @ (x - y))),
    # Whatever the order of the coefficients.
    *[
        ("content", A @ (x + 2 * y + (z + w + v) / q), A @ (q * x + 2 * q * y + z + w + v) / q)
        for q in (3, 5, 7)
    ],
    ("components", se.einsum("i,i,j->j", x, x, y), (x @ x) * y),
    ("content", (x - y) @ A @ (y - x), -((y - x) @ A @ (y - x))),
    ("compose", log(exp(x)), x),
    ("compose", exp(2 * log(x)), x**2),
    ("compose", se.cos(-x), se.cos(x)),
    ("compose", se.tanh(-x), -se.tanh(x)),
    ("compose", se.sqrt(x) ** 2, x),
    ("compose", (-x) ** 2, x**2),
    ("compose", log(1 + exp(x)), se.softplus(x)),
    ("stable", log(se.sigmoid(x)), -se.softplus(-x)),
    ("stable", se.softplus(x) - x, se.softplus(-x)),
    ("stable", se.softplus(x) - x + y + y**2, se.softplus(-x) + y + y**2),
    ("factor inside", se.elementwise(lambda u: sympy.sin(2 * u), x) - se.sin(2 * x), se.Zeros(n)),
    (
        "complement",
        z * se.sigmoid(y) + 2 * x * se.sigmoid(z) + x * se.sigmoid(-z),
        z * se.sigmoid(y) + x * se.sigmoid(z) + x,
    ),
    ("rearranged", se.sin(2 * A.T + 0), se.sin(2 * A).T),
    ("rearranged", exp(se.broadcast_to(x, (m, n))), se.broadcast_to(exp(x), (m, n))),
    ("like terms", t * A - t * A + B, B),
    ("common scalar", A / t**2 - B / t, (A / t - B) / t),
    ("common scalar", 2 * t * (x - y) - 2 * t * (x - z), 2 * t * (z - y)),
    ("inverse of a multiple", (t * ON_DIAGONAL).inv(), se.diag(1 / A.diagonal()) / t),
    ("power of a multiple", se.matrix_power(se.diag(x), p), se.diag(x**p)),
    ("power of a multiple", se.matrix_power(ON_DIAGONAL, p), se.diag(A.diagonal() ** p)),
    ("power of a multiple", se.matrix_power(2 * se.Delta(n), p), 2**p * se.Delta(n)),
    ("diagonal", se.Delta(n) - se.diag(x**2), se.diag(1 - x**2)),
    ("cancel", se.diag(x) @ (se.Delta(n) - A), se.diag(x) - se.diag(x) @ A),
    ("factor", B @ A + C @ A, (B + C) @ A),
    ("factor", X.T @ (X @ A) - X.T @ (X @ B), X.T @ (X @ (A - B))),
]


@pytest.mark.parametrize(("rule", "before", "after"), CASES)
def test_rule(rule, before, after):
    result, steps = se.simplify(before, trace=True)
    assert result == se.simplify(after)
    if before != after:  # else construction does it
        assert rule in {step.rule for step in steps}
    assert getattr(result, "shape", ()) == getattr(before, "shape", ())
    assert_equal_values(before, result)


INVERSES = (A.inv(), A.inv())
TURNED_INVERSES = se.einsum("ba,dc->abcd", *INVERSES) - se.einsum("da,bc->abcd", *INVERSES)
EXPANDED = [
    ("distribute", (A + B) @ (A - C), A @ A - A @ C + B @ A - B @ C),
    ("distribute", t * (s + 1) * A, s * t * A + t * A),
    ("expand", (x @ x) * ((x @ y) + 1), (x @ x) * (x @ y) + x @ x),
    ("inverse of a product", (A @ B).inv(), B.inv() @ A.inv()),
    ("adjugate", se.adj(A), A.det() * A.inv()),
    ("cofactors", se.cofactors(A, 2), A.det() * TURNED_INVERSES),
    ("distribute", ((X @ x - b) ** 2).sum(), x @ X.T @ X @ x - 2 * (b @ X @ x) + b @ b),
]


@pytest.mark.parametrize(("rule", "before", "after"), EXPANDED)
def test_rule_of_the_form_that_decides_equality(rule, before, after):
    assert normal_form(before) == normal_form(after)
    assert se.equal(before, after) is True
    assert_equal_values(before, normal_form(before))


@pytest.mark.parametrize("before", [before for _, before, _ in CASES], ids=str)
def test_the_result_is_a_fixpoint(before):
    result = se.simplify(before)
    assert se.simplify(result) == result


@pytest.mark.slow
@given(testing.programs(kinds=("products", "products", "constants", "functions")))
@settings(CONFIG, max_examples=200)
def test_random_products_keep_their_value(made):
    expr, data = sympify(made.result), dict(zip(made.tensors, made.arrays(), strict=True))
    expected = made.run(testing.NUMPY, made.arrays())[-1]
    simplified, expanded = se.simplify(expr), normal_form(expr)
    assert getattr(simplified, "shape", ()) == getattr(expr, "shape", ())
    for result in evaluate([simplified, expanded], data):
        assert_close(result, expected, 1e-9)
    again = se.simplify(simplified)
    assert cost([again]) <= 1.05 * cost([expr]) + 100


# --- one form ------------------------------------------------------------------------------------


def flat_product(choice):
    """Return operands, their labels and the output of a random product over three lengths."""
    size = dict(zip("ijklpq", (n, n, m, m, k, k), strict=True))
    operands = []
    for number in range(choice.randint(2, 5)):
        labels = [choice.choice("ijklpq") for _ in range(choice.randint(1, 3))]
        name = f"T{number if choice.random() < 0.7 else 0}" + "".join(str(size[i]) for i in labels)
        operands.append((se.TensorSymbol(name, [size[i] for i in labels]), labels))
    used = sorted({i for _, labels in operands for i in labels})
    output = choice.sample(used, choice.randint(0, min(3, len(used))))
    if output and choice.random() < 0.3:
        output.append(choice.choice(output))
    return operands, output, size


def written(choice, operands, output, size):
    """Write a product in a random way: renamed, reordered, nested, deltas split off."""
    operands = [(tensor, list(labels)) for tensor, labels in operands]
    fresh = iter("abcdefghrstuvwxyz")
    rename = dict(zip("ijklpq", choice.sample("ABCDEFGHKLMN", 6), strict=True))
    size = {rename[i]: length for i, length in size.items()}
    operands = [(tensor, [rename[i] for i in labels]) for tensor, labels in operands]
    output = [rename[i] for i in output]
    for _ in range(choice.randint(0, 2)):  # δ_ia X_a for X_i
        place = choice.randrange(len(operands))
        tensor, labels = operands[place]
        axis = choice.randrange(len(labels))
        new, old = next(fresh), labels[axis]
        size[new] = size[old]
        operands[place] = (tensor, [*labels[:axis], new, *labels[axis + 1 :]])
        operands.append((se.Delta(size[old]), [old, new]))
    choice.shuffle(operands)
    while len(operands) > 1 and choice.random() < 0.7:
        pair = choice.sample(range(len(operands)), 2)
        inner = [operands[place] for place in pair]
        operands = [item for place, item in enumerate(operands) if place not in pair]
        outside = {i for _, labels in operands for i in labels}.union(output)
        kept = [i for i in dict.fromkeys(inner[0][1] + inner[1][1]) if i in outside]
        choice.shuffle(kept)
        operands.append((product(inner, kept), kept))
        choice.shuffle(operands)
    return product(operands, output)


def product(operands, output):
    inputs = ",".join("".join(labels) for _, labels in operands)
    return se.einsum(f"{inputs}->{''.join(output)}", *[tensor for tensor, _ in operands])


def test_equal_products_have_one_form():
    choice = random.Random(11)
    differ = []
    count = 400
    for _ in range(count):
        operands, output, size = flat_product(choice)
        one, two = (se.simplify(written(choice, operands, output, size)) for _ in range(2))
        if one != two:
            differ.append((one, two))
    assert len(differ) <= count / 100, differ[:3]


def test_equal_sums_have_one_form():
    choice = random.Random(12)
    differ = 0
    for _ in range(100):
        parts = [flat_product(choice) for _ in range(3)]
        parts = [(operands, [], size) for operands, _, size in parts]
        weights = [choice.randint(-3, 3) for _ in parts]
        sums = []
        for _ in range(2):
            terms = [w * written(choice, *part) for w, part in zip(weights, parts, strict=True)]
            choice.shuffle(terms)
            sums.append(se.simplify(sum(terms)))
        differ += sums[0] != sums[1]
    assert differ <= 1


# --- cost ----------------------------------------------------------------------------------------


def test_a_product_that_others_use_stays_shared():
    power = A
    for _ in range(6):
        power = power @ power  # A^64 by six products
    assert se.simplify(power + B) == power + B
    layers = [x]
    for _ in range(3):
        layers.append(se.tanh(A @ layers[-1]))
    gradients = se.gradient(layers[-1].sum(), [A, x])
    assert cost(gradients) <= cost(se.gradient(layers[-1].sum(), [A, x], simplify=False))


@pytest.mark.parametrize(
    "expr",
    [
        pytest.param(((X @ x - b) ** 2).sum(), id="a sum of squares isn't multiplied out"),
        pytest.param(((x - x.mean()) ** 2).sum(), id="nor is a variance"),
        pytest.param((A @ B).inv() @ x, id="one inverse isn't made two"),
        pytest.param(se.einsum("ij,jk,j->ik", POWER, A, x), id="an index between is used"),
        pytest.param(se.einsum("ij,ij->", POWER, A), id="matrices side by side"),
        pytest.param(x * y / se.sqrt(v * y), id="a root of a product"),
        pytest.param(y * se.sigmoid(x) + z * se.sigmoid(-x), id="shares of different things"),
        pytest.param(se.matrix_power(se.outer(x, y), p), id="a power of a product"),
    ],
)
def test_costlier_rewrites_are_not_made(expr):
    assert cost([se.simplify(expr)]) <= cost([expr])
    assert_equal_values(expr, se.simplify(expr))
    assert not se.simplify(expr).has(se.Zeros)
    assert Counter(map(type, se.simplify(expr).atoms(se.Inv)))[se.Inv] <= 1


def test_work_is_linear_in_the_graph():
    def steps(depth):
        e = x
        for _ in range(depth):
            e = se.tanh(A @ e + y)
        _, found = se.simplify(2 * e @ (A @ A.inv() @ e), trace=True)
        return cost([se.simplify(e)]) / depth, len(found)

    assert steps(200)[0] == pytest.approx(steps(400)[0], rel=0.02)
    assert steps(200)[1] == steps(400)[1]
    deep = x
    for _ in range(3000):
        deep = se.sin(deep) + A @ deep
    assert se.simplify(deep).shape == (n,)


# --- equality ------------------------------------------------------------------------------------


def test_equal():
    assert se.equal((A @ B).T, B.T @ A.T) is True
    assert se.equal(se.adj(A), A.det() * A.inv()) is True
    assert se.equal(A @ (B + C), A @ B + A @ C) is True
    assert se.equal(A @ B, B @ A) is False
    assert se.equal(A, X) is False
    assert se.equal(t * (x @ x), (t * x) @ x) is True
    assert se.equal(A, A + sympy.Float(1e-3) * B) is False
    assert se.equal((A @ x) ** -2, ((A @ x) ** 2) ** -1) is True
    assert se.equal(se.cofactors(A, 5).T, se.cofactors(A, 5)) is not True
    # True, but no rule knows it, and numbers can't prove it.
    assert se.equal(se.elementwise(sympy.Function("g"), x), x) is None


# --- derivations ---------------------------------------------------------------------------------


def test_trace_of_a_simplification_leads_from_one_end_to_the_other():
    result, steps = se.simplify(log(exp(x)) + exp(x) * exp(-x), trace=True)
    assert result == x + 1
    assert {step.rule for step in steps} == {"power", "compose"}
    for step in steps:
        assert_equal_values(step.before, step.after)


def test_trace_of_a_derivative():
    f = ((X @ x - b) ** 2).sum()
    result, steps = se.diff(f, x, trace=True)
    assert result == se.diff(f, x) == 2 * X.T @ (X @ x - b)
    assert [step.rule for step in steps if step.node is not None] == [
        "pullback of Einsum",
        "pullback of Einsum",
        "pullback of TensorAdd",
        "pullback of Einsum",
    ]
    assert steps[0] == ("square", f, (X @ x - b) @ (X @ x - b), None)
    assert steps[-1].after == result
    _, forward = se.diff(f, x, mode="forward", trace=True)
    assert forward[0].rule.startswith("pushforward")


def test_simplify_option():
    f = ((X @ x - b) ** 2).sum()
    assert se.diff(f, x, simplify=True) == se.simplify(se.diff(f, x, simplify=False))
    for operator in (se.gradient, se.jacobian, se.diff, se.hessian):
        assert se.equal(operator(f, x, simplify=True), operator(f, x, simplify=False))
    assert se.equal(se.vjp(A @ x, x, y, simplify=True), se.vjp(A @ x, x, y, simplify=False))
    assert se.equal(se.jvp(A @ x, x, y, simplify=True), se.jvp(A @ x, x, y, simplify=False))
    assert se.equal(se.hvp(f, x, y, simplify=True), se.hvp(f, x, y, simplify=False))


def test_the_derivative_of_the_determinant_is_right_for_singular_matrices():
    singular = np.ones((3, 3))
    derivative = se.diff(A.det(), A)
    np.testing.assert_allclose(evaluate(derivative, {A: singular}), np.zeros((3, 3)), atol=1e-12)


def test_stock_simplify_comes_here():
    i = Symbol("i")
    assert sympy.simplify(log(exp(x))) == log(exp(x)).simplify() == x
    assert sympy.simplify(i + (x**2).sum()) == i + (x**2).sum()  # an atom to SymPy
    assert se.simplify(i + (x**2).sum()) == i + x @ x


def test_lists_are_simplified_together():
    first, second = se.simplify([log(exp(x)), (x / x).sum()])
    assert (first, second) == (x, n)


def test_large_powers_of_scalar_sums_stay_powers():
    total = sympy.Add(*[x.sum() * s for s in sympy.symbols("u0:9")], x @ x) ** 30
    assert normal_form(total).is_Pow


def test_derivatives_of_textbooks_have_no_terms_that_cancel():
    mu = se.TensorSymbol("mu", (n,))
    S = se.TensorSymbol("Sigma", (n, n), psd=True)
    density = -(x - mu) @ S.inv() @ (x - mu) / 2 - se.logdet(S) / 2
    residual = S.inv() @ (x - mu)
    assert se.gradient(density, mu) is residual
    derivative = se.einsum("i,j->ij", residual, residual) / 2 - S.inv() / 2
    assert str(se.gradient(density, S)) == str(derivative)
    assert se.equal(se.gradient(density, S), derivative) is True
    # Without symmetry both terms stay, in the same residual.
    terms = str(se.gradient(density.subs(S, A), mu)).split(" + ")
    assert set(terms) == {"inv(A) @ (x - mu)/2", "inv(A).T @ (x - mu)/2"}


def test_exponentials_and_symbolic_powers_are_common_factors():
    for scalar in (
        exp(x @ x),
        2**n * (x @ x),
        (2 * t**n) * exp(-(x @ y)),
        t**n / sympy.sqrt(x @ x),
    ):
        assert se.simplify(scalar * A + scalar * A.T) == se.simplify(scalar * (A + A.T))
        assert se.simplify(scalar * x - scalar * (x @ y) * y) == scalar * (x - (x @ y) * y)
    assert se.simplify(exp(x @ x) * x + exp(x @ y) * y) == exp(x @ x) * x + exp(x @ y) * y


def test_derivatives_of_a_density_are_multiples_of_it():
    mu, S = se.TensorSymbol("mu", n), se.TensorSymbol("Sigma", n, n)
    residual = x - mu
    scale = sympy.sqrt((2 * sympy.pi) ** n * se.det(S))
    density = exp(-(residual @ S.inv() @ residual) / 2) / scale
    left, right = S.inv() @ residual, S.inv().T @ residual
    assert str(se.gradient(density, mu)) == str(se.simplify(density * (left + right) / 2))
    derivative = se.gradient(density, S)
    assert str(derivative) == str(se.simplify(density * (se.outer(right, left) - S.inv().T) / 2))
    assert "adj" not in str(derivative)
    assert se.check_derivative(density.subs({S: A @ A.T + se.Delta(n)}), mu) < 1e-6


def test_the_gradient_of_a_normalised_layer_is_that_of_the_literature():
    centred = x - x.mean()
    deviation = sympy.sqrt((centred**2).mean() + 1)
    derivative = se.gradient((y * centred / deviation).sum(), x)
    normalised = centred / deviation
    textbook = (y - y.mean() - normalised * (y * normalised).mean()) / deviation
    assert se.equal(derivative, textbook) is True
    assert str(derivative) == str(textbook)


def test_kalman_formulas_know_their_symmetry():
    H, P, R = (
        se.TensorSymbol("H", (m, n)),
        se.TensorSymbol("P", (n, n), symmetric=True),
        se.TensorSymbol("R", (m, m), psd=True),
    )
    innovation = H @ P @ H.T + R
    gain = P @ H.T @ innovation.inv()
    v = se.TensorSymbol("v", (m,))
    derivative = se.gradient(v @ innovation.inv() @ v, v)
    assert derivative is se.simplify(2 * (innovation.inv() @ v))
    assert se.equal((H @ P @ H.T).T, H @ P @ H.T) is True
    assert se.equal(gain.T, innovation.inv() @ H @ P) is True
    covariance = (se.Delta(n) - gain @ H) @ P
    assert se.equal(covariance, covariance.T) is True


def test_polynomials_stay_right_at_singular_matrices():
    q, V = se.TensorSymbol("q", n), np.array([1.0, 2.0, 3.0])
    for expr in (se.det(se.outer(q, q)), se.adj(se.outer(q, q)).sum()):
        derivative = se.simplify(se.diff(expr, q))
        np.testing.assert_allclose(se.lambdify([q], derivative)(V), 0, atol=1e-12)
    assert se.simplify(se.adj(A)) is se.adj(A)
    cofactors = se.lambdify([A], se.simplify(se.diff(se.det(A), A)))
    np.testing.assert_allclose(
        cofactors(np.diag([0.0, 2.0, 3.0])), np.diag([6.0, 0, 0]), atol=1e-12
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (se.einsum("ij,j,i,i->", A, x, y, 1 / (A @ x)), y.sum()),
        (se.einsum("i,ij,j,i->i", y, A, x, (A @ x) ** -3), y * (A @ x) ** -2),
        ((y / (y * (A @ x))) @ B, (1 / (A @ x)) @ B),
        (se.einsum("ij,j,ik->k", A, x, B) / 1, x @ A.T @ B),
        (se.log(1 / y), -se.log(y)),
        (se.log(y**3), 3 * se.log(y)),
        (se.einsum("ij,j->i", se.outer(se.softmax(x), se.softmax(y)), se.Ones(n)), se.softmax(x)),
    ],
)
def test_quotients_logarithms_and_shares(before, after):
    result = se.simplify(before)
    assert result == se.simplify(after)
    assert_equal_values(abs(before), abs(result))


def test_halves_that_differ_stay():
    e = se.simplify(se.einsum("j,ij,ki,k->i", x, A, A, x))
    a, v = DATA[A], DATA[x]
    assert_close(evaluate(e, {A: a, x: v}), (a @ v) * (v @ a))


def test_cofactors_of_order_three():
    F = se.TensorSymbol("F", (4, 4))
    given = np.random.default_rng(0).standard_normal((4, 4))
    forms = [se.cofactors(F, 3), normal_form(se.cofactors(F, 3))]
    assert_close(*se.lambdify([F], forms)(given))


def test_a_quotient_by_a_diagonal_is_none_by_the_matrix():
    e = se.einsum("ji,i,i->i", A, x, 1 / se.einsum("ii,i->i", A, x))
    assert se.simplify(e) == se.simplify(A.sum(axis=0) / A.diagonal())


def test_a_quotient_with_an_index_used_elsewhere_stays():
    """A summed index that occurs elsewhere is no part of the denominator."""
    e = se.einsum("ij,j,i,jk->ik", A, x, 1 / (A @ x), B)
    assert se.simplify(e) == e
