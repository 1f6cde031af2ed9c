"""Derivatives as linear maps: against Jacobians, their products, and Caddie's output."""

import re

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


# --- values bound to names, named maps ------------------------------------------------------------


def test_values_that_occur_twice_have_names():
    """The bindings that Caddie prints: thesis §2.4.2, and the example of the tool."""
    L = se.linearize(sp.sin(t) * (sp.cos(t) * t), t)
    lines = L.let_text().splitlines()
    assert lines[:2] == ["v1 = sin(t)", "v2 = cos(t)"]
    assert lines[2] == "(v1*v2 *) + (t*v1 *) ∘ (-v1 *) + (t*v2 *) ∘ (v2 *)"
    L = se.linearize(sp.log(t * sp.cos(u)), [t, u])
    assert L.let_text().splitlines() == [
        "v1 = cos(u)",
        "(1/(t*v1) *) ∘ ((v1 *) ∘ π1 + (t *) ∘ (-sin(u) *) ∘ π2)",
    ]
    assert L.adjoint().let_text().splitlines() == [
        "v1 = cos(u)",
        "v2 = 1/(t*v1)",
        "⟨(v1 *) ∘ (v2 *), (-sin(u) *) ∘ (t *) ∘ (v2 *)⟩",
    ]


def test_entries_have_no_names():
    L = se.linearize(sp.log(x[0] * se.cos(x[1])), x).adjoint()
    assert L.let_text().splitlines() == [
        "v1 = cos(x[1])",
        "v2 = 1/(v1*x[0])",
        "ι[0] ∘ (v1 *) ∘ (v2 *) + ι[1] ∘ (-sin(x[1]) *) ∘ (x[0] *) ∘ (v2 *)",
    ]


def test_names_of_values_are_new_and_shared_parts_keep_theirs():
    v1 = se.TensorSymbol("v1", 3)
    L = se.linearize(se.exp(X @ v1) @ (X @ v1), v1)
    assert L.let_text().splitlines()[:2] == ["v2 = X @ v1", "v3 = exp(v2)"]
    L = se.linearize(se.inv(X).sum() + (se.inv(X) ** 2).sum(), X)
    assert L.let_text().splitlines()[:2] == [
        "v1 = inv(X)",
        "m1 = (-1 *) ∘ #(ij,ki,jl->kl; ·, v1, v1)",
    ]
    plain = se.linearize(sp.log(sp.sin(t)), t)
    assert plain.let_text() == str(plain)


@pytest.mark.parametrize("name", CASES)
def test_bindings_are_values_of_the_map(name):
    """Each name is used twice, each binding is read back, and put in gives the values of str."""
    f, variables = CASES[name]
    symbols = {s.name: s for s in (t, u, A, X, T, w, x, y)}
    for L in (se.linearize(f, variables), se.linearize(f, variables).adjoint()):
        text = L.let_text()
        scope = {**vars(se), "sin": se.sin, "cos": se.cos, **symbols}
        bindings = [line for line in text.splitlines() if re.match(r"v\d+ = ", line)]
        for line in bindings:
            name, _, value = line.partition(" = ")
            scope[name] = eval(value, scope)
            assert len(re.findall(rf"\b{name}\b", text)) >= 3, line
            assert str(scope[name]) in str(L)
        if not bindings:
            assert text == str(L)


def test_named_maps():
    domain = [(3,), (2, 4), ()]
    n = sp.Symbol("n", integer=True, positive=True)
    M, c = se.TensorSymbol("M", 2, 4), sp.Symbol("c", real=True)
    assert [str(se.projection_map(k, domain)) for k in (1, 2, 3)] == ["π1", "π2", "π3"]
    assert [se.projection_map(k, domain) @ [x, M, c] for k in (1, 2, 3)] == [x, M, c]
    back = se.projection_map(2, domain).adjoint()
    assert str(back) == "⟨0, Id, 0⟩"
    assert back @ M == [se.Zeros(3), M, 0]
    assert str(se.identity_map((n,))) == "Id"
    assert se.identity_map((3,)) @ x == x
    assert se.identity_map(domain) @ [x, M, c] == [x, M, c]
    assert se.identity_map((2, 3)).matrix() == se.Delta(2, 3)
    zero = se.zero_map((n, 3), (2,))
    assert (str(zero), str(zero.adjoint())) == ("0", "0")
    assert (zero.domain, zero.codomain) == (((n, 3),), ((2,),))
    assert zero.matrix() == se.Zeros(2, n, 3)
    assert se.zero_map(domain, [(2,), ()]) @ [x, M, c] == [se.Zeros(2), 0]


def test_named_maps_compose_as_the_rules_say():
    """Figure 2: the adjoint of a projection, by matrices; composition with identity and zero."""
    L = se.linearize([se.tanh(A @ x), x * x], x)
    first = se.projection_map(1, [(4,), (3,)]) @ L
    assert str(first) == str(se.linearize(se.tanh(A @ x), x))
    assert str(se.identity_map([(4,), (3,)]) @ L) == str(L) == str(L @ se.identity_map((3,)))
    assert str(se.zero_map([(4,), (3,)], (2,)) @ L) == "0"
    assert (L @ se.zero_map((2,), (3,))).matrix() == [se.Zeros(4, 2), se.Zeros(3, 2)]
    blocks = se.projection_map(2, [(4,), (3,)]).adjoint().matrix()
    assert blocks == [se.Zeros(4, 3), se.Delta(3)]
    for k in (0, 3, 1.0, "1", None):
        with pytest.raises(se.TensorError, match="counted from 1 to 2"):
            se.projection_map(k, [(4,), (3,)])
    with pytest.raises(se.ShapeError, match="takes a list of shapes"):
        se.projection_map(1, (4, 3))
    with pytest.raises(se.ShapeError):
        se.zero_map((-1,), (2,))
