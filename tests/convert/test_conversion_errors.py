"""Conversions of random expressions: an equal expression, or an error of this package."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import sympy as sp
from sympy import Piecewise, srepr, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n = symbols("m n", integer=True, positive=True)
t = symbols("t")
s1 = symbols("s1", real=True)
SIZES = {m: 3, n: 2}
NAMESPACE: dict = {}
exec("from sympy import *", NAMESPACE)
NAMESPACE.update({name: getattr(se, name) for name in se.__all__})


def leaves(rows, columns):
    """Return symbols of every order, with names like those of slots, instructions and functions."""
    return [
        se.TensorSymbol("A", rows, columns),
        se.TensorSymbol("t1", columns, rows),
        se.TensorSymbol("s0", rows, rows),
        se.TensorSymbol("x", rows),
        se.TensorSymbol("y", columns),
        se.TensorSymbol("T", rows, columns, rows),
        se.TensorSymbol("tb"),
        se.Delta(rows),
        se.Ones(rows),
        se.Constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        t,
        s1,
    ]


OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a @ b,
    lambda a, b: a / b,
    lambda a, b: a**b,
    lambda a, b: se.exp(a),
    lambda a, b: se.sign(a),
    lambda a, b: se.Max(a, b),
    lambda a, b: se.where(a > b, a, b),
    lambda a, b: se.where(a > t, a, 0),
    lambda a, b: sp.Piecewise((a, a > b), (b, True)),
    lambda a, b: snp.clip(a, b, t),
    lambda a, b: se.softmax(a, axis=-1),
    lambda a, b: se.logsumexp(a, axis=0),
    lambda a, b: se.norm(a),
    lambda a, b: a.sum(axis=0),
    lambda a, b: se.trace(a),
    lambda a, b: se.inv(a),
    lambda a, b: se.det(a),
    lambda a, b: se.diag(a),
    lambda a, b: se.kron(a, b),
    lambda a, b: se.outer(a, b),
    lambda a, b: se.stack([a, b]),
    lambda a, b: se.einsum("i,i->ii", a, b),
    lambda a, b: a.T,
    lambda a, b: se.ravel(a),
    lambda a, b: a.swapaxes(0, -1).reshape(-1, 2),
    lambda a, b: a[0],
    lambda a, b: a[1:],
    lambda a, b: a[..., :1],
    lambda a, b: a[::-1],
    lambda a, b: a[None],
]


def random_expression(random, pool, depth):
    """Return an expression of some depth; combinations that don't fit are drawn again."""
    for _ in range(30 if depth else 0):
        left = random_expression(random, pool, depth - 1)
        right = random_expression(random, pool, random.randint(0, depth - 1))
        try:
            return random.choice(OPERATIONS)(left, right)
        except (se.TensorError, AttributeError, TypeError, NotImplementedError):
            continue
    return random.choice(pool)


def value(e):
    """Return the value on fixed random data."""
    found = sorted(e.free_symbols, key=str)
    lengths = {s for own in found for d in getattr(own, "shape", ()) for s in d.free_symbols}
    lengths = sorted((lengths | {m, n} & set(found)), key=str)
    own = [s for s in found if s not in SIZES]
    data = []
    for symbol in own:
        numbers = Random(str(symbol))
        shape = [int(sp.sympify(d).subs(SIZES)) for d in getattr(symbol, "shape", ())]
        entries = np.array([numbers.uniform(0.5, 1.5) for _ in range(int(np.prod(shape)))])
        data.append(entries.reshape(shape) if shape else float(entries[0]))
    return se.lambdify([*lengths, *own], e)(*[SIZES[s] for s in lengths], *data)


INDICES = symbols("i j k l p q", integer=True)


def by_entries(e):
    shape = getattr(e, "shape", ())
    indices = INDICES[: len(shape)]
    return se.from_indexed(se.to_indexed(e, indices), list(zip(indices, shape, strict=True)))


def by_matrices(e):
    return se.from_matrix(se.to_matrix(e), vectors=True)


def by_arrays(e):
    return se.from_array(se.to_array(e))


def by_text(e):
    return eval(srepr(e), dict(NAMESPACE))


WAYS = [by_entries, by_matrices, by_arrays, by_text]
CHECKS = 40


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(CHECKS))
def test_there_and_back_or_an_error_of_ours(seed):
    random = Random(seed)
    pool = leaves(*random.choice([(n, m), (2, 3)]))
    e = random_expression(random, pool, random.randint(1, 3))
    if not isinstance(e, sp.Expr):
        return
    try:
        expected = value(e)
    except (np.linalg.LinAlgError, se.ShapeError):
        return
    for way in WAYS:
        try:
            found = value(way(e))
        except (se.TensorError, np.linalg.LinAlgError):
            continue
        shape = np.shape(expected) if way is not by_matrices else np.shape(np.squeeze(expected))
        np.testing.assert_allclose(
            np.reshape(found, shape), np.reshape(expected, shape), rtol=1e-6, err_msg=f"{way}: {e}"
        )


def test_reshaped_arrays():
    X = se.TensorSymbol("X", 2, 3)
    for e in (se.norm(se.sin(se.ravel(X)) + 1), se.exp(X.reshape(3, 2)).sum(axis=0), X.reshape(6)):
        np.testing.assert_allclose(value(by_arrays(e)), value(e))


def test_slices_of_slices():
    A = se.TensorSymbol("A", m, n)
    assert str(se.to_matrix(A[0:2, 0:2])) == "A[:2, :2]"
    assert se.from_matrix(se.to_matrix(A[1:, :-1])) == A[1:, :-1]
    big = se.TensorSymbol("B", 7, 9)
    e = big[1:6, 2:8:3][1:5:2, 1:]
    np.testing.assert_allclose(value(se.from_matrix(se.to_matrix(e))), value(e))
    numbers = value(big[:, 2:9:3])
    entries = se.to_matrix(big[:, 2:9:3]).as_explicit()
    data = dict(zip(se.to_matrix(big).as_explicit(), value(big).ravel(), strict=True))
    np.testing.assert_allclose(np.array(entries.subs(data)).astype(float), numbers)


def test_relations_have_no_word_in_sympys_matrices():
    A, B = se.tensors("A B", m, n)
    for convert in (se.to_matrix, se.to_array):
        with pytest.raises(se.UnsupportedError, match="SymPy has no"):
            convert(se.where(t < A, B, A))


def test_functions_of_an_entry_with_a_determinant_inside():
    X = se.TensorSymbol("X", 2, 2)
    e = X ** se.det(X)
    for way in (by_matrices, by_arrays):
        assert way(e).free_symbols == {X}
        np.testing.assert_allclose(value(way(e)), value(e))


def test_the_text_of_a_piecewise():
    x = se.TensorSymbol("x", n)
    e = Piecewise((x @ x, t > 0), (t, True)) * se.exp(x).sum()
    assert eval(srepr(e), dict(NAMESPACE)) == e


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
def test_numbers_that_are_none(backend):
    module = pytest.importorskip("jax.numpy" if backend == "jax" else backend)
    x = se.TensorSymbol("x", n)
    for number, expected in [
        (sp.zoo, np.nan),
        (sp.nan, np.nan),
        (sp.oo, np.inf),
        (-sp.oo, -np.inf),
    ]:
        for e in (number, number * se.Ones(n)):
            found = np.asarray(se.lambdify(x, e, backend)(module.ones(2)))
            np.testing.assert_array_equal(found, np.full(getattr(e, "order", 0) * (2,), expected))
    assert "nan" in se.codegen(x, sp.zoo)


def test_slots_have_a_place():
    assert [se.Slot(f"s{k}").place for k in (0, 12)] == [0, 12]
    for name in ("s", "tb", "s-1", "x0", 3):
        with pytest.raises(se.TensorError, match="a slot is called"):
            se.Slot(name)


@pytest.mark.parametrize("names", [("tb", "t1"), ("s0", "s1"), ("tx", "sx"), ("t", "s")])
def test_tensors_called_like_instructions(names):
    a, b = se.TensorSymbol(names[0], n, n), se.TensorSymbol(names[1])
    e = se.exp(a * b) * a + a.T / (1 + b**2) + Piecewise((b, b > 0), (0, True))
    data = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = np.exp(data * 0.5) * data + data.T / 1.25 + 0.5
    np.testing.assert_allclose(se.lambdify([a, b], e)(data, 0.5), expected)


def test_pieces_that_are_put_together_fit():
    A, row = se.TensorSymbol("A", 2, 2), se.TensorSymbol("r", 1, 2)
    for call in (lambda: se.stack([A, row]), lambda: se.concatenate([A, row], axis=1)):
        with pytest.raises(se.ShapeError, match=r"operand 1 has shape .*, operand 2"):
            call()
    assert se.concatenate([A, row]).shape == (3, 2)
    for function in (se.stack, se.concatenate):
        with pytest.raises(se.TensorError, match="expected a list of tensors"):
            function(A)
