"""Derivatives as linear maps: against Jacobians, their products, and Caddie's output."""

import numpy as np
import pytest
import sympy as sp
from oracles import assert_close, data_for, evaluate

import sympy_einsum as se
import sympy_einsum.numpy as snp

t, u = sp.symbols("t u", real=True)
A = se.TensorSymbol("A", 4, 3)
X = se.TensorSymbol("X", 3, 3)
T = se.TensorSymbol("T", 3, 3, 3)
w, x, y = se.TensorSymbol("w", 3), se.TensorSymbol("x", 3), se.TensorSymbol("y", 4)
CASES = {
    "scalar": (sp.log(sp.sin(t)), t),
    "scalars": ([t * sp.sin(u), t + u**2], [t, u]),
    "layer": (se.tanh(A @ x), x),
    "matrix": (se.tanh(A @ x), A),
    "entries": (x[0] * se.sin(x[1]), x),
    "shared": (se.exp(A @ x) @ (A @ x) + se.sin(A @ x).sum() ** 2, x),
    "quadratic": (X @ x @ X @ x, [x, X]),
    "inverse": (se.inv(X) @ x, [X, x]),
    "products": (X @ X @ X.T, X),
    "softmax": (se.softmax(A, axis=1) @ x, [A, x]),
    "direction": (se.jvp(se.expm(X), X, se.outer(x, w)), w),
    "maximum": (snp.max(A, axis=1) * y, A),
    "place of the maximum": (x[snp.argmax(w)] * w, [x, w]),
    "reshaped": (se.reshape(se.exp(X), (9,)), X),
    "exponential": (se.expm(X), X),
    "exponential times a vector": (A @ se.expm(X) @ x, X),
    "diagonal": (se.diag(x) + se.outer(x, x), x),
    "norm": (se.norm(A @ x), x),
    "constant": ([y, x * 2], [x, y]),
    "sums": (A.sum(axis=0) * se.exp(A.sum()), A),
}


def data(*symbols):
    return data_for([s for s in symbols if isinstance(s, se.TensorSymbol)]) | {t: 0.7, u: 0.4}


def listed(value):
    return value if isinstance(value, list) else [value]


def numbers(values):
    found = evaluate(listed(values), data(A, X, x, y, w))
    return [np.asarray(value, float) for value in found]


@pytest.mark.parametrize("name", CASES)
def test_maps_are_derivatives(name):
    f, variables = CASES[name]
    L = se.linearize(f, variables)
    jacobians = se.jacobian(f, variables)
    for found, expected in zip(flat(L.matrix()), flat(jacobians), strict=True):
        assert_close(*numbers([found, expected]), label="matrix")
    for found, row in zip(flat(L.adjoint().matrix()), flat(transposed(f, variables)), strict=True):
        assert_close(*numbers([found, row]), label="matrix of the adjoint")
    tangents = [se.sin(v + 1) for v in listed(variables)]
    given = tangents if isinstance(variables, list) else tangents[0]
    for found, expected in zip(listed(L @ given), listed(se.jvp(f, variables, given)), strict=True):
        assert_close(*numbers([found, expected]), label="tangent")
    bars = [se.cos(v) for v in listed(f)]
    given = bars if isinstance(f, list) else bars[0]
    back = zip(listed(L.adjoint() @ given), listed(se.vjp(f, variables, given)), strict=True)
    for found, expected in back:
        assert_close(*numbers([found, expected]), label="cotangent")


def flat(value):
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, list) else [value]


def transposed(f, variables):
    """Return the blocks of the Jacobian with the axes of the variable first."""
    rows = []
    for v in listed(variables):
        rows.append([se.jacobian(part, v, layout="wrt-first") for part in listed(f)])
    return rows


def test_composition():
    inner, outer = se.tanh(A @ x), se.exp(y) * y[0]
    chained = se.linearize(outer, y) @ se.linearize(inner, x)
    z = se.TensorSymbol("z", 3)
    expected = se.diff(outer, y) @ se.diff(inner, x)
    assert_close(*numbers([chained.matrix(), expected]))
    back = chained.adjoint() @ y
    assert_close(*numbers([back, expected.T @ y]))
    assert (chained @ z).shape == (4,)
    # The adjoint of a composition is that of the adjoints, the other way round.
    turned = se.linearize(inner, x).adjoint() @ se.linearize(outer, y).adjoint()
    assert_close(*numbers([turned.matrix(), expected.T]))
    assert str(turned) == str(chained.adjoint())
    with pytest.raises(se.ShapeError, match=r"takes a tensor of shape \(3,\), not of shape \(4,\)"):
        se.linearize(inner, x) @ se.linearize(outer, y)
    with pytest.raises(se.ShapeError, match="takes a tensor of shape"):
        chained @ y
    with pytest.raises(se.TensorError, match="a list of 2 tensors"):
        se.linearize(t * u, [t, u]) @ t
    with pytest.raises(se.ShapeError, match="a map of 2 tensors can't follow one that gives 1"):
        se.linearize(t * u, [t, u]) @ se.linearize(sp.sin(t), t)


def test_composition_with_constants():
    some = se.linearize([t * u, sp.sin(u)], [t, u]) @ se.linearize([t**2, u], [t])
    assert str(some) == "⟨(u *) ∘ (2*t *) ∘ π1, 0⟩"


def test_a_map_grows_with_the_graph():
    """... although a tree of the same formula would have 2 ** 30 leaves."""
    v = x
    for _ in range(30):
        v = se.sin(v) * v
    L = se.linearize(v, x)
    assert len(str(L)) < 50_000
    assert_close(*numbers([L @ x, se.jvp(v, x, x)]))
    assert_close(*numbers([L.adjoint() @ x, se.vjp(v, x, x)]))


@pytest.mark.parametrize(
    ("f", "v", "forward", "back"),
    [
        # What Caddie prints for ln.cad [Hansen 2025, §2.4]: (pow(-1)(sin(x)) *) :o: (cos(x) *).
        (sp.log(sp.sin(t)), t, "(1/sin(t) *) ∘ (cos(t) *)", "(cos(t) *) ∘ (1/sin(t) *)"),
        # f(x) = x[0] * sin(x[1]), §1.2.
        (
            x[0] * se.sin(x[1]),
            x,
            "(sin(x[1]) *) ∘ π[0] + (x[0] *) ∘ (cos(x[1]) *) ∘ π[1]",
            "ι[0] ∘ (sin(x[1]) *) + ι[1] ∘ (cos(x[1]) *) ∘ (x[0] *)",
        ),
        (se.tanh(A @ x), x, "(1 - tanh(A @ x)**2 *) ∘ (A @)", "(A.T @) ∘ (1 - tanh(A @ x)**2 *)"),
        (X @ A.T, X, "T ∘ (A @) ∘ T", "(@ A)"),
        (x @ w, x, "(w ·)", "(* w)"),
        (x.sum(), x, "Σ", "Δ"),
        (X.T, X, "T", "T"),
        (X.T @ X, X, "(@ X) ∘ T + (X.T @)", "(X @) ∘ T + (X @)"),
        ([t * u, t], [t, u], "⟨(u *) ∘ π1 + (t *) ∘ π2, π1⟩", "⟨π2 + (u *) ∘ π1, (t *) ∘ π1⟩"),
        (x + 1, x, "Id", "Id"),
        (y, x, "0", "0"),
        (se.expm(X), X, "DExpm", "DExpm*"),
        (w * se.exp(w) * x, x, "(w*exp(w) *)", "(w*exp(w) *)"),
        (x[1] * w, x, "(* w) ∘ π[1]", "ι[1] ∘ (w ·)"),
        (se.det(X), X, "(adj(X) ·) ∘ T", "#(,ij->ji; ·, adj(X))"),
        (se.diag(x), x, "#(i->ii; ·)", "#(ii->i; ·)"),
        (se.einsum("ij,j->", A, x), x, "#(i,ji->; ·, A)", "#(,ij->j; ·, A)"),
        (T @ x, x, "#(i,jki->jk; ·, T)", "#(ij,ijk->k; ·, T)"),
        (T.sum(axis=0), T, "#(ijk->jk; ·)", "#(ij->kij; ·)"),
        (X.T @ x, X, "#(ij,i->j; ·, x)", "#(i,j->ji; ·, x)"),
    ],
)
def test_point_free_text(f, v, forward, back):
    L = se.linearize(f, v)
    assert str(L) == forward
    assert str(L.adjoint()) == back
    assert sp.latex(L).count(r"\circ") == forward.count("∘")
    assert L._repr_latex_().startswith("$")


def test_loops_and_solutions():
    """Their maps have names; matrices and adjoints are those of jacobian, vjp and jvp."""
    N = sp.Symbol("N", integer=True, positive=True)
    Y = se.TensorSymbol("Y", N, 3)
    last, states = se.scan(lambda c, y: 2 * (se.sin(X @ c + y),), 2 * x, Y)
    root = se.solution(lambda z: z**3 + z - se.exp(x), start=x)
    draw = np.random.default_rng(4).standard_normal
    data = {x: draw(3), X: draw((3, 3)), Y: draw((2, 3))}
    for f, variables in ((last, (x, X, Y)), (states[0], (X, Y)), (se.exp(root), (x,))):
        for v in variables:
            L = se.linearize(f, v)
            tangent, cotangent = se.TensorSymbol("p", v.shape), se.TensorSymbol("q", f.shape)
            given = {**data, tangent: draw(data[v].shape), cotangent: draw(3)}
            pairs = [
                (L.matrix(), se.jacobian(f, v)),
                (L @ tangent, se.jvp(f, v, tangent)),
                (L.adjoint() @ cotangent, se.vjp(f, v, cotangent)),
                (L.adjoint().adjoint() @ tangent, se.jvp(f, v, tangent)),
            ]
            computed = se.lambdify([*given], [e for pair in pairs for e in pair])(*given.values())
            for one, other in zip(computed[::2], computed[1::2], strict=True):
                assert_close(one, other)
    assert str(se.linearize(last, x)) == "DScan ∘ (2 *)"
    assert str(se.linearize(last, x).adjoint()) == "(2 *) ∘ DScan*"
    assert str(se.linearize(root, x)) == "DSolution ∘ (-1 *) ∘ (exp(x) *)"
