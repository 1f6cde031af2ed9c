"""``scan`` and ``unroll``: structures, equality of loops, substitution, errors."""

import pickle

import numpy as np
import pytest
import sympy
from sympy import Rational, Symbol, symbols

import sympy_einsum as se

T, n, m = symbols("T n m", integer=True, positive=True)
a, b = symbols("a b")
W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)


def cell(c, x):
    new = se.tanh(W @ c + x)
    return new, new * c


LAST, VALUES = se.scan(cell, h, X)


def test_shapes_and_free_symbols():
    assert LAST.shape == (n,)
    assert VALUES.shape == (T, n)
    assert LAST.free_symbols == {W, X, h}
    assert LAST.has(T)
    assert not LAST.is_number


def test_the_symbols_in_a_body_are_found_once():
    outer, _ = se.scan(lambda c, t: (se.scan(cell, c, X)[0], None), h, length=n)
    assert outer._own_symbols() is outer._own_symbols()
    assert outer._own_symbols() == {T, n}


def test_loops_that_differ_by_names_are_one_object():
    def renamed(state, entry):
        other = se.tanh(W @ state + entry)
        return other, other * state

    assert se.scan(renamed, h, X)[0] is LAST
    assert se.scan(cell, h, X)[1] is VALUES
    assert pickle.loads(pickle.dumps(VALUES)) is VALUES


def test_inputs_that_are_the_same_at_all_steps_are_no_inputs():
    v = se.TensorSymbol("v", n)
    bias = se.einsum("t,i->ti", se.Ones(T), v)
    without, values = se.scan(lambda c, t: (se.tanh(W @ c + v), c * v), h, length=T)
    last, stacked = se.scan(lambda c, x: (se.tanh(W @ c + x), c * x), h, bias)
    assert last is without
    assert stacked is values
    assert LAST.subs(X, 2 * se.Ones(T, n)) is se.scan(lambda c, t: cell(c, 2), h, length=T)[0]
    # The adjoint of a sum of all states takes no array of ones.
    _, states = se.scan(lambda c, x: (se.tanh(W @ c + x),) * 2, h, X)
    assert not se.gradient(states.sum(), W).atoms(se.Ones)


def test_structures_come_back():
    def step(carry, entry):
        (p, q), extra = carry["pair"], entry["x"]
        return {"pair": [q, p + extra]}, (p, {"sum": p + q}, None)

    last, values = se.scan(step, {"pair": [h, 2 * h]}, {"x": X})
    assert list(last) == ["pair"]
    assert isinstance(last["pair"], list)
    assert [e.shape for e in last["pair"]] == [(n,), (n,)]
    assert values[0].shape == values[1]["sum"].shape == (T, n)
    assert values[2] is None


def test_what_the_step_does_not_change_is_hoisted():
    last, _ = se.scan(lambda c, t: (c * se.expm(W)[0, 0] + (a + b) * t, None), h, length=T)
    assert se.expm(W)[0, 0] in last.operands
    assert a + b in last.operands


def test_substitution_captures_nothing():
    """The names of symbols inside can be those of symbols outside."""
    x = se.TensorSymbol("x", n)
    last, _ = se.scan(lambda c, x_t: (c + se.sin(x) * x_t, None), h, X)
    (symbol,) = [c.symbol for c in last.loop.carries]
    outside = se.TensorSymbol(symbol.name, n)
    moved = last.subs(x, outside)
    assert moved.free_symbols == {h, X, outside}
    assert moved.subs(outside, x) is last
    assert moved is not last
    assert se.unroll(moved.subs(T, 2)).has(outside.subs(T, 2))


def test_substitution_of_lengths_and_operands():
    assert LAST.subs(T, 1) is se.tanh(W @ h + X.subs(T, 1)[0])
    assert VALUES.subs({T: 0, n: 2}) == se.Zeros(0, 2)
    assert LAST.subs(h, 2 * h) is se.scan(cell, 2 * h, X)[0]
    assert LAST.xreplace({n: sympy.Integer(3)}).shape == (3,)


@pytest.mark.parametrize("reverse", [False, True])
def test_steps_written_out(reverse):
    Y = se.TensorSymbol("Y", 3, 2)
    last, values = se.scan(lambda c, y: (c / 2 + y, c), se.Zeros(2), Y, reverse=reverse)
    order = [2, 1, 0] if reverse else [0, 1, 2]
    rows, carry = {}, se.Zeros(2)
    for t in order:
        rows[t] = carry
        carry = carry / 2 + Y[t]
    assert se.equal(se.unroll(last), carry)
    assert se.equal(se.unroll(values), se.stack([rows[t] for t in range(3)]))
    assert se.equal(last, carry)


def test_the_number_of_the_step():
    last, values = se.scan(lambda c, t: (c + t**2, t), sympy.Integer(0), length=4)
    assert last.is_number
    assert se.evaluate(last) == 14
    assert float(last) == 14
    assert list(se.evaluate(values)) == [0, 1, 2, 3]
    assert se.evaluate(
        se.scan(lambda c, t: (c / 2 + 1, None), Rational(1), length=3)[0]
    ) == Rational(15, 8)


def test_loops_in_loops():
    def outer(c, x):
        last, _ = se.scan(lambda d, t: (d * x + c * t, None), x, length=3)
        return last, last @ c

    last, values = se.scan(outer, h, X)
    f = se.lambdify([h, X], [last, values])
    x = np.random.default_rng(0).standard_normal
    start, rows = x(2), x((4, 2))
    carry, expected = start, []
    for row in rows:
        inner = row
        for t in range(3):
            inner = inner * row + carry * t
        expected.append(inner @ carry)
        carry = inner
    got = f(start, rows)
    np.testing.assert_allclose(got[0], carry)
    np.testing.assert_allclose(got[1], expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: se.scan(3, h, X), se.TensorError, "is a function of a carry and an input, not 3"),
        (
            lambda: se.scan(lambda c: (c, None), h, X),
            se.TensorError,
            r"two arguments, a carry and an input, and takes \(c\): too many positional arguments",
        ),
        (
            lambda: se.scan(lambda c, x: c + x, h, X),
            se.TensorError,
            r"returns a pair, the next carry and a value or None, not <carry 0> \+ <input 0>",
        ),
        (
            lambda: se.scan(lambda c, t: (c, X[:t]), h, length=T),
            se.ShapeError,
            r"value 0 of a step has the shape \(_t, n\), which changes from step to step",
        ),
        (
            lambda: se.scan(lambda c, x: ((c, c), None), h, X),
            se.TensorError,
            r"keep its structure: it starts as \*, and the step returns \(\*, \*\)",
        ),
        (
            lambda: se.scan(lambda c, x: (c @ c, None), h, X),
            se.ShapeError,
            r"carry 0 of a scan must keep its shape: it starts with \(n,\), and the step returns",
        ),
        (
            lambda: se.scan(lambda c, x: (c, None), h, (X, W)),
            se.ShapeError,
            "input 1 of a scan has n entries along its first axis, and the first axis of input 0",
        ),
        (
            lambda: se.scan(lambda c, x: (c, None), h, X, length=n),
            se.ShapeError,
            "input 0 of a scan has T entries along its first axis, and length says n",
        ),
        (lambda: se.scan(lambda c, x: (c, None), h, a), se.ShapeError, "is a scalar"),
        (lambda: se.scan(lambda c, x: (c, None), h), se.TensorError, "give xs or length"),
        (lambda: se.scan(lambda c, x: (c, None), h, length=-1), se.ShapeError, "-1"),
        (
            lambda: se.scan(lambda c, t: (c + W[t - 1], None), h, length=n),
            se.ShapeError,
            "positions from -1",
        ),
        (lambda: se.scan(cell, h, X, checkpoint=0), se.TensorError, "from 1 on"),
        (lambda: se.scan(cell, h, X, checkpoint="all"), se.TensorError, '"sqrt" or a number'),
        (lambda: se.unroll(LAST), se.TensorError, "length T can't be written out"),
        (lambda: se.to_indexed(LAST), se.UnsupportedError, "can"),
        (lambda: se.to_array(LAST), se.UnsupportedError, "Scan|scan"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_text_evaluates_to_an_equal_loop():
    names = {**vars(se), "W": W, "X": X, "h": h, "T": T, "n": n, "a": a, "Rational": Rational}
    counted = se.scan(lambda c, t: ((c[1], c[0] / 2 + a * t), c[0]), (h, 2 * h), length=T)
    for e in (LAST, VALUES, counted[0][1], counted[1], se.gradient(LAST.sum(), h)):
        assert se.equal(eval(str(e), names), e)
        assert eval(sympy.srepr(e), {**vars(sympy), **vars(se)}) == e


def test_a_symbol_named_as_the_carry_is_shown():
    c = Symbol("c")
    last, _ = se.scan(lambda d, x: (c * d + x, None), h, X)
    assert str(last) == "scan(lambda c1, x: (c*c1 + x, None), h, X)[0]"
