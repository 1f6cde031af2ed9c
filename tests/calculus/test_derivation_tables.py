"""Tables of derivations: the chain rule holds in every row, and zeros are shown."""

import numpy as np
import pytest
import sympy
from oracles import assert_close

import sympy_einsum as se

n = sympy.Symbol("n", integer=True, positive=True)
A, x = se.TensorSymbol("A", n, n), se.TensorSymbol("x", n)
M, w = se.TensorSymbol("M", 4, 3), se.TensorSymbol("w", 3)
c = sympy.Symbol("c", real=True)

FUNCTIONS = [
    (x @ A @ x, x),
    (A @ x + A.T @ x, x),
    (se.exp(A @ x), A),
    (sympy.log(1 + sympy.exp(x @ x)) + sympy.sin(x @ x), x),
    (se.softmax(M @ w), w),
    ((c * M @ w) ** 2, c),
    (se.inv(A) @ x, A),
    (sympy.log(se.det(A)), A),
    (se.log(1 + se.exp(M @ w)).sum(), M),
    (se.einsum("i->ii", w) * 2 + 1, w),
    (se.scan(lambda d, row: (se.tanh(c * d + row) * w, None), w, M)[0] @ w, w),
    ((se.scan(lambda d, row: (d * row, d + row), w, M, reverse=True)[1] ** 2).sum(), M),
    (se.scan(lambda d, t: (c * d + t, None), c**2, length=3)[0] ** 2, c),
]


def values(expressions, arrays):
    """Return the values of expressions in the rows' names and the function's symbols."""
    known = {str(s): s for e in expressions for s in e.free_symbols}
    return se.lambdify(list(known.values()), expressions)(*[arrays[name] for name in known])


@pytest.mark.parametrize(("f", "v"), FUNCTIONS, ids=str)
def test_rows(f, v):
    rng = np.random.default_rng(2)
    data = {"A": rng.uniform(0.2, 1, (3, 3)) + np.eye(3), "M": rng.uniform(0.2, 1, (4, 3))}
    data |= {"x": rng.uniform(0.2, 1, 3), "w": rng.uniform(0.2, 1, 3), "c": 1.5, "n": 3}
    expected = values([se.diff(f, v)], data)[0]
    for mode in ("forward", "reverse"):
        _, trace = se.diff(f, v, mode=mode, trace=True)
        # Those of steps have names of their own.
        rows = [row for row in trace.rows() if "_t" not in row.name]
        symbols = [row.name for row in rows if not row.partials]
        assert symbols == [f"x_{k}" for k in range(len(symbols))]
        assert rows[-1].name == "y_0"
        assert rows[-1].node == f
        # What is defined is what stands there.
        arrays = dict(data)
        for row in rows:
            (arrays[row.name],) = values([row.node], data)
        for row in rows:
            assert_close(values([row.definition], arrays)[0], arrays[row.name])
        (result,) = [row for row in rows if row.node == (f if mode == "forward" else v)]
        assert_close(values([result.derivative], data)[0], expected)
        check_chain_rule(rows, arrays, mode)


def check_chain_rule(rows, arrays, mode):
    """Equations 1 and 2 of the paper."""
    ends = {row.name: row for row in rows}
    tangents = {row.name: np.asarray(values([row.derivative], arrays)[0]) for row in rows}
    sums = {}
    for row in rows:
        for name, partial in row.partials.items():
            derivative = np.asarray(values([partial], arrays)[0])
            order = np.ndim(arrays[name] if mode == "forward" else arrays[row.name])
            if mode == "forward":
                sums.setdefault(row.name, []).append(
                    np.tensordot(derivative, tangents[name], order)
                )
            else:
                sums.setdefault(name, []).append(
                    np.tensordot(tangents[row.name], derivative, order)
                )
    assert sums.keys() <= ends.keys()
    for name, parts in sums.items():
        assert_close(sum(parts), tangents[name])


def test_tables_2_and_3():
    """The quadratic form of the paper, forward: the gradient, then the Hessian."""
    hessian, trace = se.diff(x @ A @ x, x, 2, mode="forward", trace=True)
    assert hessian == A + A.T
    first, second = (trace.rows(place) for place in (0, 1))
    assert {row.node: row.derivative for row in first}[A] == se.Zeros(n, n, n)
    assert {row.node: row.derivative for row in first}[x] == se.Delta(n)
    assert first[-1].derivative == A @ x + A.T @ x
    assert second[-1].derivative == A + A.T
    assert [row.name for row in second] == ["x_0", "x_1", "v_0", "v_1", "y_0"]


def test_notebook_representations():
    _, trace = se.gradient(x @ A @ x, [x, A], trace=True)
    html, latex = trace._repr_html_(), trace._repr_latex_()
    assert html.count("<table>") == 1
    assert html.count("<tr>") == 1 + len(trace.rows())
    assert r"\bar{v}_{0} = \bar{y}_{0} \frac{\partial y_{0}}{\partial v_{0}}" in html
    assert latex.count(r"\begin{array}") == 1
    gradients, forward = se.gradient(x @ A @ x, [x, A], mode="forward", trace=True)
    assert gradients == se.gradient(x @ A @ x, [x, A])
    assert forward._repr_html_().count("<table>") == 2
    assert r"\dot{x}_{1} = \mathbf{0}" in forward._repr_html_()
    evil = se.TensorSymbol("<script>", n)
    assert "<script>" not in se.diff(se.sin(evil), evil, trace=True)[1]._repr_html_()


def test_long_tables_are_refused():
    f = x
    for _ in range(60):
        f = se.sin(f) * x
    _, trace = se.diff(f, x, trace=True)
    assert len(trace) > 100
    with pytest.raises(se.UnsupportedError, match="at most 100 are shown"):
        trace.rows()


def test_the_step_of_a_loop():
    """A row has partial derivatives, and the adjoint equation or that of tangents."""
    T = sympy.Symbol("T", integer=True, positive=True)
    X = se.TensorSymbol("X", T, n)
    last, states = se.scan(lambda h, row: 2 * (se.tanh(A @ h + row),), x, X)
    f = last.sum() + (states**2).sum()
    _, trace = se.diff(f, x, trace=True)
    rules = [step.rule for step in trace]
    assert "pullback of Scan" in rules
    rows = {row.name: row for row in trace.rows()}
    step, value = rows["s_t+1"], rows["u_t"]
    symbols = {name: se.TensorSymbol(name, n) for name in ("s_t", "sbar_t+1", "ubar_t")}
    matrix, entry = se.TensorSymbol("x_2", n, n), se.TensorSymbol("x_1t", n)
    new = se.tanh(matrix @ symbols["s_t"] + entry)
    assert step.node == value.node == new
    assert {*step.partials} == {"s_t", str(matrix), str(entry)}
    assert se.equal(step.partials["s_t"], se.einsum("i,ij->ij", 1 - new**2, matrix))
    total = symbols["sbar_t+1"] + symbols["ubar_t"]
    assert se.equal(step.derivative, matrix.T @ ((1 - new**2) * total))
    assert (step.of, value.of) == ("s_t", "")
    assert r"\bar{s}_{t} = \bar{s}_{t+1} \frac{\partial s_{t+1}}{\partial s_{t}} + " in (
        trace._repr_latex_()
    )
    assert r"\bar{s}_{t}" in trace._repr_html_()
    _, forward = se.diff(f, x, mode="forward", trace=True)
    assert "pushforward of Scan" in [step.rule for step in forward]
    (row,) = [row for row in forward.rows() if row.name == "s_t+1"]
    assert r"\frac{\partial s_{t+1}}{\partial s_{t}} \dot{s}_{t}" in row.rule
    assert row.of == "s_t+1"
