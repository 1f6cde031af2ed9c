"""Derivatives of loops against those of the steps written out, and against JAX's."""

import tracemalloc

import jax
import numpy as np
import pytest
import sympy
from jax import numpy as jnp
from oracles import assert_close, evaluate
from random_scans import LENGTHS, Program, T, m, n

import sympy_einsum as se
from sympy_einsum.core import postorder

W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)
LAST, STATES = se.scan(lambda c, x: 2 * (se.tanh(W @ c + x),), h, X)


def some(first, last):
    """Seeds: few in the first tier, the others when all tests run."""
    more = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(first, last)]
    return pytest.mark.parametrize("seed", [*range(first), *more])


class Compared:
    """A random loop, and the same with its steps written out."""

    def __init__(self, seed):
        self.loop = Program(seed)
        self.lengths = {**LENGTHS, T: seed % 4}
        self.values = dict(zip(self.loop.arguments, self.loop.data(seed, seed % 4), strict=True))

    def plain(self, e):
        """An expression or a symbol with numbers for lengths and no loops."""
        return se.unroll(sympy.sympify(e).subs(self.lengths))

    def check(self, loops, plain):
        symbols = [s for s in self.values if s not in self.lengths]
        actual = se.lambdify([*self.values], loops)(*self.values.values())
        expected = evaluate(plain, {self.plain(s): self.values[s] for s in symbols})
        for one, other in zip(actual, expected, strict=True):
            assert_close(np.asarray(one), np.asarray(other))


@some(60, 160)
def test_values_and_gradients_of_random_loops(seed):
    own = Compared(seed)
    total, variables = own.loop.total, own.loop.variables
    loops = [total, *own.loop.results]
    plain = [own.plain(e) for e in loops]
    if variables:
        loops += se.gradient(total, variables)
        plain += se.gradient(plain[0], [own.plain(v) for v in variables])
    own.check(loops, plain)


@some(15, 40)
def test_second_derivatives_of_random_loops(seed):
    """Tangents of gradients, along a direction in all variables at once."""
    own = Compared(seed)
    variables = own.loop.variables
    if not variables:
        pytest.skip("nothing to differentiate by")
    normal = np.random.default_rng(seed + 1).standard_normal
    tangents = [
        se.TensorSymbol(f"{v}_t", *v.shape) if getattr(v, "shape", ()) else sympy.Symbol(f"{v}_t")
        for v in variables
    ]
    loops = [se.jvp(g, variables, tangents) for g in se.gradient(own.loop.total, variables)]
    plain_variables = [own.plain(v) for v in variables]
    gradient = se.gradient(own.plain(own.loop.total), plain_variables)
    along = [own.plain(t) for t in tangents]
    plain = [se.jvp(g, plain_variables, along) for g in gradient]
    own.values.update(
        (t, normal(np.shape(own.values[v]))) for t, v in zip(tangents, variables, strict=True)
    )
    own.check(loops, plain)


def test_the_adjoint_equation():
    """λ_t = W' ((1 - h_(t+1)²) ∘ λ_(t+1)), and W' gets one product over all steps."""
    gradient = se.gradient(LAST.sum(), [h, W])
    assert isinstance(gradient[0], se.Scan)
    assert gradient[0].reverse
    (new, _) = gradient[0].loop.outputs
    (carry,), (after,) = gradient[0].loop.carries, gradient[0].loop.inputs
    (weights,) = gradient[0].loop.invariants
    expected = weights.symbol.T @ ((1 - after.symbol**2) * carry.symbol)
    assert se.equal(new, expected)
    assert gradient[1].shape == (n, n)
    assert not isinstance(gradient[1], se.Scan)


@pytest.mark.parametrize("mode", ["reverse", "forward", "auto"])
def test_jacobians_in_all_modes(mode):
    """By the first carry, an input and a symbol of the step, of values and of the last carry."""
    x = np.random.default_rng(0).standard_normal
    data = [x((3, 3)), x((4, 3)), x(3)]
    for y in (LAST, STATES):
        for v in (h, X, W):
            jacobian = se.jacobian(y, v, mode=mode)
            assert jacobian.shape == (*y.shape, *v.shape)
            lengths = {n: 3, T: 4}
            plain = se.jacobian(se.unroll(y.subs(lengths)), v.subs(lengths))
            expected = se.lambdify([s.subs(lengths) for s in (W, X, h)], plain)(*data)
            assert_close(se.lambdify([W, X, h], jacobian)(*data), expected)


def test_hessian():
    f = (STATES**2).sum() + LAST.sum()
    hessian = se.hessian(f, h)
    lengths = {n: 3, T: 4}
    x = np.random.default_rng(1).standard_normal
    data = [x((3, 3)), x((4, 3)), x(3)]
    plain = se.hessian(se.unroll(f.subs(lengths)), h.subs(lengths))
    expected = se.lambdify([s.subs(lengths) for s in (W, X, h)], plain)(*data)
    assert_close(se.lambdify([W, X, h], hessian)(*data), expected)


def test_the_derivative_does_not_grow_with_the_steps():
    short, long = (
        len(postorder([se.gradient(LAST.subs(T, length).sum(), W.subs(T, length))]))
        for length in (10, 10_000)
    )
    assert short == long


def test_a_carry_is_read_where_it_is_needed_only():
    """A loop that is linear in its carry needs none of its values to go back."""
    last, _ = se.scan(lambda c, x: (W @ c + x, None), h, X)
    gradient = se.gradient(last.sum(), h)
    assert not [node for node in gradient.operands if isinstance(node, se.Scan)]


def test_results_of_the_loop_forward_are_read_instead_of_carries():
    """A leapfrog step: speeds are multiplied by the differences, which needn't be computed again
    from the positions."""
    before, now, speeds = (se.TensorSymbol(name, n) for name in ("before", "now", "speeds"))

    def leap(carry, x):
        before, now = carry
        differences = se.roll(now, 1) - 2 * now
        return (now, 2 * now - before + speeds * differences + x), None

    ((_, last), _) = se.scan(leap, (before, now), X)
    gradient = se.gradient((last**2).sum(), speeds)
    forward = [
        node.loop.values
        for node in postorder([gradient])
        if isinstance(node, se.Scan) and node.kind == "values"
    ]
    ((value,),) = forward
    assert value.shape == (n,)
    assert value not in {carry.symbol for carry in last.loop.carries}
    normal = np.random.default_rng(3).standard_normal
    data = [normal(3), normal(3), normal(3), normal((4, 3))]
    lengths = {n: 3, T: 4}
    own = [s.subs(lengths) for s in (before, now, speeds, X)]
    plain = se.gradient((se.unroll(last.subs(lengths)) ** 2).sum(), own[2])
    expected = se.lambdify(own, plain)(*data)
    assert_close(se.lambdify([before, now, speeds, X], gradient)(*data), expected)


def test_entries_at_the_step_are_slices():
    """Read a tensor that a step indexes by its number as an input: no sum of unit vectors."""
    A, c = se.TensorSymbol("A", n, m), se.TensorSymbol("c", m)
    last, _ = se.scan(lambda d, t: (d * A[t] + A[t + 1], None), c, length=n - 1)
    assert len(last.loop.inputs) == 2
    assert not last.loop.invariants
    lengths = {n: 5, m: 2}
    data = np.random.default_rng(2).standard_normal((5, 2)), np.ones(2)
    own = [A.subs(lengths), c.subs(lengths)]
    plain = se.gradient(se.unroll(last.subs(lengths)).sum(), own[0])
    expected = se.lambdify(own, plain)(*data)
    assert_close(se.lambdify([A, c], se.gradient(last.sum(), A))(*data), expected)


@pytest.mark.parametrize("reverse", [False, True])
def test_windows_at_the_step_are_inputs(reverse):
    """Their cotangents are those of windows, which nothing carries through all steps."""
    Y, Z = se.TensorSymbol("Y", T + 1), se.TensorSymbol("Z", 2 * T + 3, n)
    A = se.TensorSymbol("A", 2, 2)
    loops = [
        (lambda c, t: (se.tanh(A @ Y[t : t + 2] + c * Y[t + 1]), None), se.Ones(2), Y, 2),
        (lambda c, t: (se.tanh(c + Z[2 * t + 2 : 2 * t : -1]), None), se.Ones(2, n), Z, 1),
    ]
    for step, init, variable, count in loops:
        last, _ = se.scan(step, init, length=T, reverse=reverse)
        assert len(last.loop.inputs) == count
        gradient = se.gradient(last.sum(), variable)
        carries = [own for node in gradient.atoms(se.Scan) for own in node.loop.carries]
        assert not any(T in own.symbol.shape[0].free_symbols for own in carries)
        for steps in (4, 1, 0):
            lengths = {T: steps, n: 3}
            own = [s.subs(lengths) for s in (A, variable)]
            data = [np.random.default_rng(steps).standard_normal([*map(int, s.shape)]) for s in own]
            plain = se.gradient(se.unroll(last.subs(lengths)).sum(), own[1])
            expected = se.lambdify(own, plain)(*data)
            assert_close(se.lambdify([A, variable, T, n], gradient)(*data, steps, 3), expected)


def test_no_derivative_with_respect_to_the_number_of_steps():
    last, _ = se.scan(lambda c, t: (se.sin(c), None), h, length=T)
    with pytest.raises(se.UnsupportedError, match="with respect to T"):
        se.diff(last.sum(), T)


@pytest.mark.parametrize("checkpoint", ["sqrt", 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_checkpoints_change_no_value(checkpoint, reverse):
    def cell(c, x):
        return 2 * (se.tanh(W @ c + x),)

    results = []
    for own in (None, checkpoint):
        last, states = se.scan(cell, h, X, reverse=reverse, checkpoint=own)
        f = (states**2).sum() + last.sum()
        results.append(se.lambdify([W, X, h], [last, states, *se.gradient(f, [W, X, h])]))
    normal = np.random.default_rng(5).standard_normal
    for steps in (10, 9, 2, 1, 0):
        data = normal((3, 3)), normal((steps, 3)), normal(3)
        for one, other in zip(*[f(*data) for f in results], strict=True):
            assert_close(one, other)


def test_checkpoints_by_the_number_of_the_step():
    kept, again = (
        se.scan(lambda c, t: (se.sin(c * t) + h, c), h, length=T, checkpoint=own)
        for own in (None, "sqrt")
    )
    for one, other in zip(kept, again, strict=True):
        pair = [se.lambdify([h, T], se.gradient(e.sum(), h))(np.ones(2), 11) for e in (one, other)]
        assert_close(*pair)


def test_checkpoints_take_less_memory():
    peaks = []
    data = 0.1 * np.eye(20), np.ones((1000, 20)), np.ones(20)
    for checkpoint in (None, "sqrt"):
        last, _ = se.scan(lambda c, x: (se.tanh(W @ c + x), None), h, X, checkpoint=checkpoint)
        f = se.lambdify([W, X, h], se.gradient(last.sum(), h))
        f(*data)
        tracemalloc.start()
        f(*data)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] / 8


def test_finite_differences():
    assert se.check_derivative(LAST, X) < 1e-5
    assert se.check_derivative(se.gradient(LAST.sum(), W), h) < 1e-4


@pytest.mark.parametrize(
    "step",
    [
        lambda c, x: (se.sin(W @ c + x), se.cos(se.sin(W @ c + x) * h)),
        lambda c, x: (se.exp(-(W @ c) + x), se.sqrt(se.exp(-(W @ c) + x) + 1)),
        lambda c, x: (se.tanh(W @ c + x), se.tanh(W @ se.tanh(W @ c + x))),
    ],
)
def test_functions_of_the_next_carry_are_read(step):
    """Functions that the adjoint loop reads are ones of carries where that of carries is read."""
    lengths = {n: 3, T: 4}
    random = np.random.default_rng(2)
    data = [random.standard_normal([lengths[k] for k in s.shape]) for s in (W, X, h)]
    last, values = se.scan(step, h, X)
    total = (values**2).sum() + last.sum()
    plain = [se.unroll(sympy.sympify(e).subs(lengths)) for e in (W, X, h, total)]
    for variable, symbol in zip((W, X, h), plain, strict=False):
        found = se.lambdify([W, X, h], se.gradient(total, variable))(*data)
        assert_close(found, se.lambdify(plain[:3], se.gradient(plain[3], symbol))(*data))


def test_loops_over_what_came_before():
    """The number of steps of an inner loop is that of the outer one: nothing of it is stacked."""
    x, a = se.TensorSymbol("x", T), sympy.Symbol("a")

    def outer(c, t):
        inner, _ = se.scan(lambda d, v: (se.tanh(d * a + v), None), c, x[:t])
        return inner + x[t] * c, inner

    last, values = se.scan(outer, a, length=T)
    f = last**2 + (values**3).sum()

    def by_hand(x, a):
        c, total = a, 0
        for t in range(len(x)):
            inner = c
            for v in x[:t]:
                inner = jnp.tanh(inner * a + v)
            total, c = total + inner**3, inner + x[t] * c
        return c**2 + total

    derivatives = [f, se.gradient(f, x), se.gradient(f, a), se.jacobian(se.gradient(f, x), a)]
    compiled = se.lambdify([x, a], derivatives)
    data = np.random.default_rng(0).normal(size=5), 0.7
    with jax.enable_x64(True):
        by_x = jax.grad(by_hand)
        expected = [by_hand, by_x, jax.grad(by_hand, 1), jax.jacobian(by_x, 1)]
        for found, function in zip(compiled(*data), expected, strict=True):
            assert_close(found, np.asarray(function(*data)))
    for count in (0, 1, 2):
        found = compiled(data[0][:count], 0.7)
        assert_close(found[0], np.asarray(by_hand(data[0][:count], 0.7)), 1e-5)


def test_attention_to_what_came_before():
    Q, K, V = (se.TensorSymbol(name, T, length) for name, length in (("Q", 3), ("K", 3), ("V", 2)))
    _, values = se.scan(lambda c, t: (c, se.softmax(K[: t + 1] @ Q[t]) @ V[: t + 1]), 0, length=T)

    def by_hand(Q, K, V):
        scores = jnp.where(np.tri(5) > 0, Q @ K.T, -jnp.inf)
        return (jnp.sin(jax.nn.softmax(scores) @ V)).sum()

    f = se.sin(values).sum()
    rng = np.random.default_rng(0)
    data = [rng.normal(size=(5, length)) for length in (3, 3, 2)]
    found = se.lambdify([Q, K, V], [f, *se.gradient(f, [Q, K, V])])(*data)
    with jax.enable_x64(True):
        value, derivatives = jax.value_and_grad(by_hand, (0, 1, 2))(*data)
    for one, other in zip(found, (value, *derivatives), strict=True):
        assert_close(one, np.asarray(other))
