"""Slicing, flipping, rolling, repeating, padding and joining arrays, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n = symbols("m n", integer=True, positive=True)
CASES = {
    "flip": lambda xp, x, X: xp.flip(X),
    "flip axis": lambda xp, x, X: xp.flip(X, 1),
    "fliplr": lambda xp, x, X: xp.fliplr(X),
    "flipud": lambda xp, x, X: xp.flipud(X) * xp.flipud(x)[:, None][:1, :1],
    "rot90": lambda xp, x, X: xp.rot90(X),
    "rot90 twice": lambda xp, x, X: xp.rot90(X, 2),
    "rot90 back": lambda xp, x, X: xp.rot90(X, -1, (1, 0)),
    "rot90 thrice": lambda xp, x, X: xp.rot90(X, 3),
    "roll": lambda xp, x, X: xp.roll(x, 2),
    "roll back": lambda xp, x, X: xp.roll(x, -1),
    "roll all": lambda xp, x, X: xp.roll(X, 2),
    "roll all by the sum": lambda xp, x, X: xp.roll(X, (1, -4, 2)),
    "roll axes": lambda xp, x, X: xp.roll(X, (1, -2), (0, 1)),
    "split": lambda xp, x, X: xp.concatenate(xp.split(x, [1, 3])[::-1]),
    "hsplit": lambda xp, x, X: xp.hsplit(X, [1])[1] * 2,
    "hsplit vector": lambda xp, x, X: xp.hsplit(x, [2])[1],
    "vsplit": lambda xp, x, X: xp.vsplit(X, [1])[1],
    "dsplit": lambda xp, x, X: xp.dsplit(X[None], [1])[1],
    "tile": lambda xp, x, X: xp.tile(X, (2, 3)),
    "tile more axes": lambda xp, x, X: xp.tile(x, (2, 1, 2)),
    "tile fewer": lambda xp, x, X: xp.tile(X, 2),
    "repeat": lambda xp, x, X: xp.repeat(X, 2, axis=1),
    "repeat all": lambda xp, x, X: xp.repeat(X, 3),
    "pad": lambda xp, x, X: xp.pad(X, 1),
    "pad pairs": lambda xp, x, X: xp.pad(X, ((1, 0), (2, 3))),
    "pad value": lambda xp, x, X: xp.pad(x, (2, 1), constant_values=3),
    "pad edge": lambda xp, x, X: xp.pad(X, ((1, 2), (0, 2)), mode="edge"),
    "pad reflect": lambda xp, x, X: xp.pad(x, (2, 1), mode="reflect"),
    "pad symmetric": lambda xp, x, X: xp.pad(X, ((0, 2), (2, 1)), mode="symmetric"),
    "pad wrap": lambda xp, x, X: xp.pad(x, (1, 3), mode="wrap"),
    "pad values": lambda xp, x, X: xp.pad(X, 1, constant_values=((1, 2), (3, 4))),
    "pad ramp": lambda xp, x, X: xp.pad(X, ((1, 2), (0, 3)), "linear_ramp", end_values=(2, -1)),
    "pad maximum": lambda xp, x, X: xp.pad(X, 2, "maximum"),
    "pad minimum": lambda xp, x, X: xp.pad(X, ((0, 1), (2, 1)), "minimum", stat_length=(2, 1)),
    "pad mean": lambda xp, x, X: xp.pad(X, 1, "mean", stat_length=2),
    "pad median": lambda xp, x, X: xp.pad(x, (2, 0), "median", stat_length=3),
    "pad odd": lambda xp, x, X: xp.pad(X, (2, 1), "reflect", reflect_type="odd"),
    "pad odd with the edge": lambda xp, x, X: xp.pad(x, 3, "symmetric", reflect_type="odd"),
    "block": lambda xp, x, X: xp.block([[X, X], [X, 2 * X]]),
    "block of vectors": lambda xp, x, X: xp.block([x, 2 * x]),
    "vstack": lambda xp, x, X: xp.vstack([X, X[:1]]),
    "vstack vectors": lambda xp, x, X: xp.vstack([x, 2 * x]),
    "hstack": lambda xp, x, X: xp.hstack([X, 3 * X]),
    "hstack vectors": lambda xp, x, X: xp.hstack([x, x[:2]]),
    "dstack": lambda xp, x, X: xp.dstack([X, 2 * X]),
    "column_stack": lambda xp, x, X: xp.column_stack([x, 2 * x]),
    "append": lambda xp, x, X: xp.append(X, x),
    "append axis": lambda xp, x, X: xp.append(X, X[:1], axis=0),
    "array": lambda xp, x, X: xp.array([[x[0], 1.0], [x[1] * x[2], x[3]]]),
    "array of tensors": lambda xp, x, X: xp.array([x, 2 * x]),
}
KNOWN = {
    "pad reflect beyond": lambda xp, x, X: xp.pad(X, ((7, 4), (1, 9)), "reflect"),
    "pad symmetric beyond": lambda xp, x, X: xp.pad(x, (11, 6), "symmetric"),
    "pad wrap beyond": lambda xp, x, X: xp.pad(X, ((0, 8), (7, 0)), "wrap"),
    "pad reflect of one": lambda xp, x, X: xp.pad(X[:1], ((2, 1), (0, 0)), "reflect"),
    "pad by axes": lambda xp, x, X: xp.pad(X, {-1: (1, 2)}, "edge"),
    "take clipped": lambda xp, x, X: xp.take(X, [[-9, 1], [7, 2]], axis=1, mode="clip"),
    "take wrapped": lambda xp, x, X: xp.take(X, [-9, 1, 7, 20], mode="wrap"),
    "array_split": lambda xp, x, X: xp.array_split(x, 3)[1],
    "split equally": lambda xp, x, X: xp.split(x, 2)[1],
    "repeat by numbers": lambda xp, x, X: xp.repeat(x, [1, 0, 2, 3]),
    "delete": lambda xp, x, X: xp.delete(x, [0, -1]),
    "delete column": lambda xp, x, X: xp.delete(X, 1, axis=1),
    "delete slice": lambda xp, x, X: xp.delete(x, slice(0, 2)),
    "insert": lambda xp, x, X: xp.insert(x, 1, x[2]),
    "insert several": lambda xp, x, X: xp.insert(x, [0, 2], x[:2]),
    "insert rows": lambda xp, x, X: xp.insert(X, 1, x[:3], axis=0),
    "block mixed": lambda xp, x, X: xp.block([[X[:, :1], X], [xp.ones((1, 1)), x[None, :3]]]),
}


def check(function, lengths, sizes):
    x, X = se.TensorSymbol("x", lengths[1]), se.TensorSymbol("X", lengths[0], lengths[2])
    rng = np.random.default_rng(4)
    data = [rng.normal(size=sizes[1]), rng.normal(size=(sizes[0], sizes[2]))]
    expr = function(snp, x, X)
    expected = function(np, *data)
    found = se.lambdify([x, X], expr)(*data)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected)
    loss = (expr**2).sum()
    for symbol, place in ((x, 0), (X, 1)):
        gradient = se.lambdify([x, X], se.gradient(loss, symbol))(*data)
        direction = rng.normal(size=data[place].shape)
        ahead, behind = ([*data] for _ in range(2))
        ahead[place] = data[place] + 1e-5 * direction
        behind[place] = data[place] - 1e-5 * direction
        derivative = ((function(np, *ahead) ** 2).sum() - (function(np, *behind) ** 2).sum()) / 2e-5
        np.testing.assert_allclose((gradient * direction).sum(), derivative, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_symbolic_lengths(name):
    check(CASES[name], (m, n, m), (3, 4, 3))


@pytest.mark.parametrize("name", [*CASES, *KNOWN])
def test_numeric_lengths(name):
    check({**CASES, **KNOWN}[name], (3, 4, 3), (3, 4, 3))


def test_indivisible_lengths_are_refused():
    x = se.TensorSymbol("x", 5)
    with pytest.raises(se.ShapeError, match="length 5 can't be divided into 2"):
        se.split(x, 2)
    with pytest.raises(se.UnsupportedError, match="whether 2 divides n"):
        se.split(se.TensorSymbol("y", n), 2)
    with pytest.raises(se.TensorError, match=r"modes constant, edge.*not .blank"):
        se.pad(x, 1, "blank")
    with pytest.raises(se.ShapeError, match="doesn't fit a tensor of order 1"):
        se.pad(x, ((1, 2), (3, 4)))
    with pytest.raises(se.UnsupportedError, match="odd reflection longer than an axis"):
        se.pad(x, 5, "reflect", reflect_type="odd")
    with pytest.raises(se.UnsupportedError, match="lengths that are numbers"):
        se.pad(se.TensorSymbol("y", n), n + 1, "wrap")
    with pytest.raises(se.TensorError, match="even or odd, not 'both'"):
        se.pad(x, 1, "reflect", reflect_type="both")
    with pytest.raises(se.ShapeError, match=r"end_values .* doesn't fit"):
        se.pad(x, 1, "linear_ramp", end_values=((1, 2), (3, 4)))
    with pytest.raises(se.TensorError, match="raise, clip or wrap, not 'last'"):
        se.take(x, 1, mode="last")
    with pytest.raises(se.ShapeError, match="3 shifts for 2 axes"):
        se.roll(x[None], (1, 2, 3), (0, 1))


def test_a_piece_of_pieces_is_a_piece():
    x, y = se.tensors("x y", n)
    whole = se.concatenate([x, y])
    assert se.simplify(whole[:n]) == x
    assert se.simplify(whole[n:]) == y
    assert se.simplify(se.flip(se.flip(x))) == x
    assert se.simplify(se.pad(x, (2, 1))[2 : n + 2]) == x


def test_padding_writes_once():
    source = se.lambdify([X := se.TensorSymbol("X", m, n)], se.pad(X, 1)).source
    assert source.count("zeros") == 1
    assert "+=" not in source


def test_stacked_tensors_are_sums_of_outer_products():
    v, w = se.tensors("v w", 3)
    assert np.stack([v, w], axis=1) == se.outer(v, se.Delta(2)[0]) + se.outer(w, se.Delta(2)[1])
    assert np.stack([v, 2 * w])[1] == 2 * w
    assert np.stack([v, w], axis=1)[2, 0] == v[2]
    assert se.stack([v[0] ** 2, 0])[1] == 0
    source = se.lambdify([v, w], np.stack([v, w])).source
    assert "[0] = v" in source
    assert "[1] = w" in source


@pytest.mark.parametrize("shift", [-9, -7, -2, 0, 1, 3, 4, 10])
def test_symbolic_shifts_are_taken_modulo_the_length(shift):
    k = symbols("k", integer=True)
    X = se.TensorSymbol("X", (n, 2))
    values = np.arange(6.0).reshape(3, 2)
    for axis in (0, 1, None):
        rolled = se.lambdify([X, k], se.roll(X, k, axis))
        np.testing.assert_array_equal(rolled(values, shift), np.roll(values, shift, axis))
    derivative = se.lambdify([X, k], se.gradient((X * se.roll(X, -k, 0) ** 2).sum(), X))
    expected = np.roll(values, -shift, 0) ** 2 + 2 * values * np.roll(values, shift, 0)
    np.testing.assert_array_equal(derivative(values, shift), expected)


def test_a_shift_that_does_not_fit_is_explained():
    rolled = se.lambdify(A := se.TensorSymbol("A", (m, n)), se.roll(A, (-7, 2), (0, 1)))
    with pytest.raises(se.ShapeError, match=r"axis 0 of A, of length m.*roll.* m = 2 it is -5"):
        rolled(np.ones((2, 3)))
