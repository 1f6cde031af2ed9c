"""Derivative rules of all node types, modes, layouts, joint sweeps and errors."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import Integral, Lambda, Piecewise, Sum, Symbol, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.core.traversal import postorder

m, n, k = symbols("m n k", integer=True, positive=True)
i = symbols("i", integer=True)
t, u = symbols("t u")
A = se.TensorSymbol("A", (m, n))
S = se.TensorSymbol("S", (n, n))
B = se.TensorSymbol("B", (n, k))
x, y = se.tensors("x y", n)
q = se.TensorSymbol("q", 5)
s = se.TensorSymbol("s", ())
hinge = Lambda(u, Piecewise((u**3, u > 0), (-u, True)))

# One function (or more) for each rule, and for each way in which rules meet.
CASES = {
    "product": (A @ B, B),
    "argument used twice": (S @ x * x, x),
    "three times": (se.einsum("ij,i,j,j->i", S, x, x, x), x),
    "diagonal taken": (S.diagonal() * x, S),
    "diagonal filled": (se.einsum("i->ii", x * x), x),
    "repeated in and out": (se.einsum("iji,j->ijj", se.einsum("ij,k->ijk", S, x), x), x),
    "index of one operand only": (se.einsum("ij,j->", A, x), A),
    "diagonal of a variable kept square": (S * se.Delta(n), S),
    "sum": (2 * x - x * y + 1, x),
    "elementwise": (se.tanh(A @ x), x),
    "elementwise of several": (
        se.elementwise(lambda a, b: a**2 * sympy.sin(b) / (1 + a**2), x, y),
        x,
    ),
    "the part behind the point": (sympy.frac(t) * se.elementwise(sympy.frac, x) ** 2, x),
    "the part of a scalar behind the point": (sympy.frac(t) ** 2 * x, t),
    "elementwise of a scalar": (se.elementwise(lambda a, b: a * sympy.exp(b * a), x, t), t),
    "tensor exponent": (se.exp(x) ** y, y),
    "piecewise": (x.applyfunc(hinge), x),
    "broadcast row": (A * x[None, :], x),
    "broadcast column": (A * (A @ x)[:, None], x),
    "inverse": (se.inv(S) @ x, S),
    "inverse inverse": (se.inv(S @ S + se.Delta(n)), S),
    "determinant": (se.det(S) * x, S),
    "log-determinant": (se.logdet(S) ** 2, S),
    "adjugate": (se.adj(S), S),
    "reshaped": (snp.kron(A, B).sum(axis=0), A),
    "raveled": (A.ravel() * 2, A),
    "entry": (S[0, i] * x, S),
    "slice": ((x[1:] - x[:-1]) ** 2, x),
    "concatenated": (snp.concatenate([x, x * x]), x),
    "stacked": (snp.stack([x, y * x], axis=1), x),
    "scalar in the middle": (sympy.sin((x @ y) ** 2) * x / (1 + x @ x), x),
    "scalar Piecewise": (Piecewise((x @ x, x @ y > 0), (x @ y, True)) * x, x),
    "scalar symbol": (x * sympy.exp(t * (x @ x)), t),
    "scalar tensor": (s**2 * A, s),
    "norm": (x / se.norm(x), x),
    "softmax": (se.softmax(A, axis=1), A),
    "variance": (A.var(axis=0), A),
}


def check(expr, variable):
    position = {i: sympy.Integer(1)}
    return se.check_derivative(
        expr.subs(position), variable, se.diff(expr, variable).subs(position)
    )


@pytest.mark.parametrize("name", CASES)
def test_against_finite_differences(name):
    assert check(*CASES[name]) < 1e-6


@pytest.mark.parametrize("name", CASES)
def test_second_derivative_against_finite_differences(name):
    expr, variable = CASES[name]
    if name in ("inverse inverse", "adjugate", "reshaped"):
        expr = expr.sum()  # the full second derivative has too many entries to difference
    first = se.diff(expr, variable)
    second = se.diff(expr, variable, 2)
    assert se.check_derivative(first.subs(i, 1), variable, second.subs(i, 1)) < 1e-6


@pytest.mark.parametrize("name", CASES)
def test_forward_mode_is_reverse_mode(name):
    expr, variable = CASES[name]
    forward = se.jacobian(expr, variable, mode="forward").subs(i, 1)
    assert se.check_derivative(expr.subs(i, 1), variable, forward) < 1e-6


@pytest.mark.parametrize("name", ["product", "scalar in the middle", "diagonal filled", "inverse"])
def test_layout(name):
    expr, variable = CASES[name]
    ours = se.diff(expr, variable)
    theirs = se.diff(expr, variable, layout="wrt-first")
    assert ours.shape == expr.shape + variable.shape
    assert theirs.shape == variable.shape + expr.shape
    back = [*range(variable.order, theirs.order), *range(variable.order)]
    assert snp.transpose(theirs, back) == ours


def test_repeated_derivatives_append_axes():
    f = (A @ x @ (A @ x)) * (x @ y)
    assert se.diff(f, A, x, y).shape == (m, n, n, n)
    assert se.diff(f, x, 2, y).shape == (n, n, n)
    assert se.diff(f, (x, 3)).shape == (n, n, n)
    assert se.diff(f, x, 2, layout="wrt-first", mode="forward").shape == (n, n)
    assert se.diff(f, (x, 0)) == f


def test_a_joint_gradient_is_one_sweep():
    z = se.tanh(A @ x)
    f = (z * z).sum()
    both = se.gradient(f, [A, x])
    assert all(map(se.equal, both, [se.gradient(f, A), se.gradient(f, x)]))
    assert len(postorder(both)) < sum(len(postorder([one])) for one in both)


def test_hessian_blocks():
    f = (A @ x) @ (A @ x) * (x @ y)
    blocks = se.hessian(f, [x, y])
    assert [[block.shape for block in row] for row in blocks] == [[(n, n)] * 2] * 2
    assert blocks[0][1] == se.diff(f, x, y)


def test_products_with_derivatives():
    f = sympy.log(1 + (A @ x) @ (A @ x))
    v = se.TensorSymbol("v", (n,))
    data = {
        A: np.random.default_rng(0).standard_normal((3, 4)),
        x: np.array([0.5, -1.0, 2.0, 0.1]),
        v: np.array([1.0, 2.0, -1.0, 0.5]),
    }
    pairs = [
        (se.hvp(f, x, v), se.hessian(f, x) @ v),
        (se.jvp(A @ x * f, x, v), se.jacobian(A @ x * f, x) @ v),
        (se.vjp(se.exp(x) * f, x, v), v @ se.jacobian(se.exp(x) * f, x)),
    ]
    for one, other in pairs:
        left, right = se.lambdify(list(data), [one, other])(*data.values())
        np.testing.assert_allclose(left, right)


def test_independent_functions_have_zeros_with_a_shape():
    assert se.diff(A @ y, x) == se.Zeros(m, n)
    assert se.diff(t**2, x) == se.Zeros(n)
    assert se.diff(x @ x, t) == 0
    assert se.gradient(x @ x, [y, x]) == [se.Zeros(n), 2 * x]


def test_the_variable_itself():
    assert se.diff(A, A) == se.Delta(m, n)
    assert se.diff(x, x) == se.Delta(n)
    assert se.diff(s, s) == 1


UNSUPPORTED = {
    "axis length": (lambda: se.diff(x.mean(), n), "n"),
    "position": (lambda: se.diff(x[i], i), "i"),
    "order of a Bessel function": (
        lambda: se.diff(se.elementwise(sympy.besselj, t, x).sum(), t),
        "besselj",
    ),
    "mode": (lambda: se.diff(x @ x, x, mode="sideways"), "sideways"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_functions_without_derivative_are_named(name):
    request, word = UNSUPPORTED[name]
    with pytest.raises(se.UnsupportedError, match=word):
        request()


BAD = {
    "by an expression": lambda: se.diff(x @ x, x + y),
    "by a number": lambda: se.diff(x @ x, 3),
    "by nothing": lambda: se.diff(x @ x),
    "by a string": lambda: se.diff(x @ x, "x"),
    "gradient of a tensor": lambda: se.gradient(x, x),
    "variable twice": lambda: se.gradient(x @ x, [x, x]),
    "negative count": lambda: se.diff(x @ x, x, -1),
    "layout": lambda: se.diff(x @ x, x, layout="upside-down"),
    "layout of blocks": lambda: se.hessian((q[:2] @ q[:2]) * q[2:].sum(), q, layout="upside-down"),
    "shape of a tangent": lambda: se.jvp(A @ x, x, se.TensorSymbol("v", (m,))),
    "shape of a cotangent": lambda: se.vjp(A @ x, x, x),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_requests(name):
    with pytest.raises(se.TensorError):
        BAD[name]()


BY_AN_ABSENT_SYMBOL = {
    "diff": lambda f, v: se.diff(f, v),
    "diff, counted": lambda f, v: se.diff(f, (v, 2)),
    "method": lambda f, v: f.diff(v),
    "of SymPy": lambda f, v: sympy.diff(f, v),
    "of SymPy, inside": lambda f, v: sympy.diff(t * sympy.sin(f), v),
    "gradient": lambda f, v: se.gradient(f, v),
    "with steps": lambda f, v: se.gradient(f, [v], trace=True),
    "joint": lambda f, v: se.gradient(f, [t, v]),
    "jacobian": lambda f, v: se.jacobian([y, f], v),
    "hessian": lambda f, v: se.hessian(f, v),
    "jvp": lambda f, v: se.jvp(f, v, v),
    "vjp": lambda f, v: se.vjp(f, v, 1),
    "hvp": lambda f, v: se.hvp(f, v, v),
    "linearize": lambda f, v: se.linearize(f, v),
}


@pytest.mark.parametrize("name", BY_AN_ABSENT_SYMBOL)
def test_by_a_symbol_from_before_a_substitution(name):
    """With other lengths or assumptions a symbol is another one: its derivative isn't 0."""
    derivative = BY_AN_ABSENT_SYMBOL[name]
    with pytest.raises(se.TensorError, match=r"no x of shape \(n,\).* another .*shape \(2,\)"):
        derivative((x @ x + y @ y).subs(n, 2), x)
    positive = se.TensorSymbol("x", n, positive=True)
    with pytest.raises(se.TensorError, match=r"no x of shape \(n,\).* \(n,\), positive"):
        derivative(positive @ positive, x)
    derivative((x @ x).subs(n, 2), x.subs(n, 2))
    derivative(y @ y, x)


def test_integrals_and_sums_around_scalars():
    f = Integral(sympy.sin(t * (x @ x)), (t, 0, 1)) + Sum((x @ x) ** t, (t, 1, 3))
    expected = se.diff(f, x).subs(n, 2)
    assert expected.shape == (2,)
    assert t not in expected.free_symbols


def test_by_a_symbol_that_a_tensor_shares_its_name_with():
    assert se.diff(Symbol("x") * x, Symbol("x")) == x


@pytest.mark.parametrize(
    ("mode", "word", "kinds"),
    [
        ("reverse", "pullback", {"tanh", "Einsum", "View", "Add"}),
        ("forward", "pushforward", {"tanh", "Einsum", "View", "TensorAdd"}),
    ],
)
def test_the_steps_of_a_sweep_name_the_rules(mode, word, kinds):
    f = se.tanh(A @ x).sum() * x + x
    _, steps = se.diff(f, x, mode=mode, trace=True)
    names = {step.rule for step in steps if step.node is not None}
    assert names == {f"{word} of {kind}" for kind in kinds}


@pytest.mark.parametrize("assumption", ["symmetric", "psd"])
@pytest.mark.parametrize(
    "function",
    [
        se.logdet,
        lambda X: (X @ X).trace(),
        lambda X: (X @ X @ X).trace() * X.trace(),
        lambda X: se.exp(X).sum() + (X @ X.inv() @ X).sum(),
    ],
)
def test_hessians_by_symmetric_matrices_agree_along_these(function, assumption):
    """Gradients simplified with X' = X aren't differentiated in their unsimplified form."""
    rng = np.random.default_rng(0)
    at, one, other = (part + part.T for part in rng.standard_normal((3, 3, 3)))
    at += 9 * np.eye(3)
    found = []
    for X in (se.TensorSymbol("X", 3, 3), se.TensorSymbol("X", 3, 3, **{assumption: True})):
        hessian = se.lambdify([X], se.hessian(function(X), X))(at)
        found.append(np.einsum("ij,ijkl,kl", one, hessian, other))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
