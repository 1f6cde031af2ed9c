"""Values of expressions without free symbols."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy import Rational, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

n = symbols("n", integer=True, positive=True)
t = symbols("t", real=True)
h, x = se.TensorSymbol("h", 2), se.TensorSymbol("x", n)
A = se.TensorSymbol("A", 2, 2)
FIVE = (h @ h).subs(h, [1, 2])


def test_a_scalar_without_symbols_is_a_number():
    assert FIVE.is_number
    assert not (h @ h).is_number
    assert not h.subs(h, [1, 2]).is_number
    assert FIVE.free_symbols == set()
    assert (float(FIVE), int(FIVE), complex(FIVE)) == (5.0, 5, 5 + 0j)
    assert (type(float(FIVE)), type(int(FIVE))) == (float, int)
    assert sp.N(FIVE) == FIVE.evalf() == FIVE.n() == sp.Float(5)
    assert FIVE.doit() == se.simplify(FIVE) == sp.simplify(FIVE) == sp.Integer(5)
    assert {type(FIVE.doit()), type(se.simplify(FIVE)), type(sp.simplify(FIVE))} == {sp.Integer}
    assert FIVE.as_explicit() == 5


@pytest.mark.parametrize("matrix", [sp.Matrix([1, 2]), [1, 2], (1, 2), np.array([1, 2])])
def test_an_array_in_the_place_of_a_symbol_gives_a_number(matrix):
    assert float((h @ h).subs(h, matrix)) == 5.0
    assert (h @ h).evalf(subs={h: matrix}) == 5.0
    assert (x @ x).evalf(subs={x: matrix}) == 5.0
    assert sp.sin(h @ h).evalf(subs={h: matrix}) == sp.sin(5).evalf()
    assert sp.N(t * (h @ h), subs={h: matrix, t: 2}) == 10.0
    assert se.evaluate(h @ h, {h: matrix}) == 5


def test_scalars_of_sympy_with_numbers_inside_are_numbers():
    assert float(sp.sqrt(FIVE)) == pytest.approx(5**0.5)
    assert int(2 * FIVE + 1) == 11
    assert complex(sp.I * FIVE) == 5j
    assert sp.sqrt(FIVE).evalf(30) == sp.sqrt(5).evalf(30)
    assert sp.Abs(FIVE - 7).evalf() == 2.0
    assert (t * FIVE).doit() == 5 * t
    assert sp.simplify(t * FIVE) == 5 * t
    assert sp.Max(FIVE, 3).doit() == 5


def test_comparisons_of_numbers_are_decided():
    assert (FIVE > 3) == sp.true
    assert bool(FIVE > 3)
    assert not bool(FIVE < 3)
    assert bool(sp.sqrt(99) <= 2 * FIVE)
    assert bool(sp.Ne(FIVE, 4))
    assert bool(sp.Eq(FIVE, 5))
    assert isinstance(h @ h > 3, sp.core.relational.Relational)


def test_equality_with_a_number_is_known():
    assert se.equal(FIVE, 5) is True
    assert se.equal(FIVE, 6) is False
    assert se.equal(se.exp(h).sum().subs(h, [1, 2]), sp.E + sp.E**2) is True
    assert se.equal((A @ h).subs({A: [[1, 2], [3, 4]], h: [1, 1]}), [3, 7]) is True
    assert se.equal((A @ h).subs({A: [[1, 2], [3, 4]], h: [1, 1]}), [3, 8]) is False
    assert se.equal(t * FIVE, 5 * t) is True


@pytest.mark.parametrize(
    ("expr", "values", "expected"),
    [
        (h @ h / 3, {h: [1, 2]}, Rational(5, 3)),
        (se.exp(h).sum(), {h: [1, 2]}, sp.E + sp.E**2),
        (se.norm(h), {h: [1, 2]}, sp.sqrt(5)),
        (se.det(A), {A: [[1, 2], [3, 5]]}, -1),
        (se.trace(se.inv(A)), {A: [[1, 2], [3, 5]]}, -6),
        (h @ h, {h: [Rational(1, 3), 1]}, Rational(10, 9)),
        (h @ h, {h: sp.Matrix([sp.sqrt(2), 1])}, 3),
        (t * (h @ h), {h: [1, 2], t: sp.pi}, 5 * sp.pi),
        (x.sum() / n, {x: [1, 2, 3]}, 2),
        (n * x.max(), {x: [1, 2, 3]}, 9),
        (se.logdet(A), {A: [[1, 2], [3, 5]]}, 0),
        (h @ h, {h: [10**30, 1]}, 10**60 + 1),
        (x @ x, {n: 3, x: [2, 2, 2]}, 12),
    ],
)
def test_exact_values_give_an_exact_number(expr, values, expected):
    found = se.evaluate(expr, values)
    assert isinstance(found, sp.Expr)
    assert sp.simplify(found - expected) == 0


@pytest.mark.parametrize(
    ("expr", "values", "expected"),
    [
        (A @ h / 3, {A: [[1, 2], [3, 4]], h: [1, 1]}, [1, Rational(7, 3)]),
        (se.inv(A), {A: [[1, 2], [3, 5]]}, [[-5, 2], [3, -1]]),
        (x[1:], {x: [1, 2, 3]}, [2, 3]),
        (se.Ones(n), {n: 2}, [1, 1]),
        (se.softmax(h), {h: [0, 0]}, [Rational(1, 2)] * 2),
    ],
)
def test_exact_values_give_an_exact_array(expr, values, expected):
    assert se.evaluate(expr, values).tolist() == expected


@pytest.mark.parametrize(
    ("expr", "values", "expected"),
    [
        (h @ h / 3, {h: [1.0, 2]}, 5 / 3),
        (A @ h, {A: np.eye(2), h: [1, 2]}, [1.0, 2.0]),
        (h * 0.5, {h: [1, 2]}, [0.5, 1.0]),
        (t * h, {h: [1, 2], t: 0.5}, [0.5, 1.0]),
        (se.cholesky(A), {A: [[4, 2], [2, 5]]}, [[2.0, 0.0], [1.0, 2.0]]),
        (se.eigvalsh(A).sum(), {A: [[4, 2], [2, 5]]}, 9.0),
        (se.sort(h), {h: [2, 1]}, [1, 2]),
        (x @ x, {x: np.ones(100_000, dtype=int)}, 100_000),
    ],
)
def test_floats_and_inexact_values_are_computed_by_numpy(expr, values, expected):
    found = se.evaluate(expr, values)
    assert not isinstance(found, (sp.Basic, np.generic))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_several_expressions_give_a_list():
    value, gradient = se.evaluate([h @ h, se.gradient(h @ h, h)], {h: [1, 2]})
    assert (value, gradient.tolist()) == (5, [2, 4])


@pytest.mark.parametrize(
    ("expr", "values", "told"),
    [
        (h @ h, None, "no value is given for h: give one in the dictionary"),
        (h @ h, {}, "no value is given for h"),
        (x.sum(), {t: 1}, "no value is given for x"),
        (se.Ones(n), {}, "no value is given for n"),
        (h @ h, [1, 2], "takes a dictionary"),
        (h @ h, {h: [1, 2, 3]}, "axis 0 has length 2"),
        (h @ h, {h: "1"}, "no strings"),
        (h @ h, {se.TensorSymbol("h", 3): [1, 2, 3]}, r"another symbol|of shape \(3,\), doesn't"),
        (h @ h, {h: h + 1}, "no value is given for h"),
    ],
)
def test_missing_values_are_named(expr, values, told):
    with pytest.raises(se.TensorError, match=told):
        se.evaluate(expr, values)


def test_float_of_symbolic_values_is_refused():
    for convert in (float, int, complex):
        with pytest.raises(TypeError, match="compute it with lambdify"):
            convert(h @ h)


def test_tensors_of_numbers_evaluate_to_floats():
    found = se.exp(h).subs(h, [0, 1]).evalf()
    assert isinstance(found, se.Constant)
    np.testing.assert_array_equal(found.array, [1.0, np.e])
    assert h.evalf() is h
    with pytest.raises(se.UnsupportedError, match="as_explicit"):
        se.exp(h).subs(h, [0, 1]).evalf(30)


def test_digits_beyond_those_of_floats_are_right():
    value = (se.exp(h).sum()).subs(h, [1, 2])
    assert value.evalf(40) == (sp.E + sp.E**2).evalf(40)
    assert (h @ h).subs(h, [10**20, 1]).evalf(50) == sp.Integer(10**40 + 1).evalf(50)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (2 * (h @ h) * t, 2 * t * (h[0] ** 2 + h[1] ** 2)),
        (sp.sin(h @ h), sp.sin(h[0] ** 2 + h[1] ** 2)),
        (se.norm(h), sp.sqrt(h[0] ** 2 + h[1] ** 2)),
        (sp.Pow(h @ h, t), (h[0] ** 2 + h[1] ** 2) ** t),
        (t + h[0], t + h[0]),
        (t, t),
        (sp.Integer(3), 3),
    ],
)
def test_scalars_of_sympy_are_written_out_in_entries(expr, expected):
    assert sp.expand(expr.as_explicit() - expected) == 0


@pytest.mark.parametrize("entries", [[1, t], (1, t), sp.Matrix([1, t]), sp.Array([1, t])])
def test_lists_with_symbols_are_tensors(entries):
    assert (h @ h).subs(h, entries).as_explicit() == t**2 + 1
    if not isinstance(entries, sp.Matrix):
        assert se.einsum("i,i->", h, entries).as_explicit() == h[1] * t + h[0]
        assert (h + entries).as_explicit().tolist() == [h[0] + 1, h[1] + t]
        assert (h @ entries).as_explicit() == h[1] * t + h[0]
        assert se.diff(h @ entries, t) == h[1]


@pytest.mark.parametrize(
    ("entries", "shape"),
    [
        ([[1, t], [t, 2]], (2, 2)),
        ([(1, t), (h @ h, 2)], (2, 2)),
        ([[[t]]], (1, 1, 1)),
        ([t, 0.5], (2,)),
        ([FIVE, 1], (2,)),
        ([h[0], h[1]], (2,)),
    ],
)
def test_nested_lists_with_symbols_are_tensors(entries, shape):
    made = snp.exp(se.einsum("...->...", entries))
    assert made.shape == shape
    values = {h: [3, 4], t: 2}
    found = np.array(se.evaluate(made, values).tolist(), dtype=float)
    numbers = [float(sp.sympify(e).subs(values)) for e in sp.flatten(entries)]
    np.testing.assert_allclose(found, np.exp(np.reshape(numbers, shape)))


def test_ragged_lists_and_lists_of_tensors_are_refused():
    with pytest.raises(se.TensorError, match="different lengths"):
        h * [[1, t], [1]]
    with pytest.raises(se.TensorError, match="different lengths"):
        h * [t, [1]]
    with pytest.raises(se.TensorError, match="stack"):
        h * [h, t]
    # A string is never evaluated.
    for entry in ("t", None, {1}):
        with pytest.raises(se.TensorError, match="be an entry of a tensor"):
            h * [t, entry]
    endless = [t]
    endless.append(endless)
    with pytest.raises(se.TensorError, match="nested more than"):
        h * endless


def test_entries_of_the_inverse_of_a_singular_matrix_stay():
    entry = se.inv(se.Ones(3, 3))[0, 0]
    assert se.simplify(entry) == entry
    assert se.is_definite(se.inv(se.Ones(3, 3))) in ("psd", "pd", None)
