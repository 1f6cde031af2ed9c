"""The antisymmetric tensor, cross products and what simplify makes of them."""

from __future__ import annotations

import pickle
import random
from itertools import permutations, product

import numpy as np
import pytest
import sympy
from libraries import EVERY
from sympy import cos, prod, sin, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.rules import entry_matrices

n, m = symbols("n m", integer=True, positive=True)
a, b, c, d = se.tensors("a b c d", 3)
A, B = se.tensors("A B", n, 3)
M = se.TensorSymbol("M", 3, 3)
S = se.TensorSymbol("S", 3, 3, symmetric=True)
LEAVES = {str(leaf): leaf for leaf in (a, b, c, d, A, B, M, S, n)}
E3 = se.LeviCivita(3)
rng = np.random.default_rng(0)
VALUES = {leaf: rng.standard_normal(3) for leaf in (a, b, c, d)}
VALUES |= {A: rng.standard_normal((5, 3)), B: rng.standard_normal((5, 3))}
VALUES |= {M: rng.standard_normal((3, 3))}
VALUES[S] = VALUES[M] + VALUES[M].T


def array_of(count):
    """Return the entries of the antisymmetric tensor, by the signs of permutation matrices."""
    array = np.zeros((count,) * count)
    for order in permutations(range(count)):
        array[order] = round(np.linalg.det(np.eye(count)[list(order)]))
    return array


def value(e, backend="numpy"):
    args = [leaf for leaf in VALUES if leaf in sympy.sympify(e).free_symbols]
    return se.lambdify(args, e, backend=backend)(*[VALUES[leaf] for leaf in args])


@pytest.mark.parametrize("count", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_entries(count):
    tensor = se.LeviCivita(count)
    assert tensor.shape == (count,) * count
    np.testing.assert_array_equal(np.array(tensor.as_explicit().tolist(), int), array_of(count))
    np.testing.assert_array_equal(value(tensor + 0), array_of(count))
    np.testing.assert_array_equal(tensor.array, array_of(count))
    for position in product([slice(None), *range(count)], repeat=min(count, 4)):
        entries = tensor[position]
        np.testing.assert_array_equal(value(entries), array_of(count)[position])
        if sum(isinstance(k, int) for k in position) > count - 2:
            assert "LeviCivita" not in str(entries)


@pytest.mark.parametrize("count", [0, 7, -1, n, sympy.Rational(5, 2)])
def test_lengths_that_are_refused(count):
    with pytest.raises(se.ShapeError, match=r"LeviCivita takes a number|length"):
        se.LeviCivita(count)


def test_antisymmetry_is_built_in():
    assert E3.transpose(2, 0, 1) is E3
    assert E3.transpose(1, 0, 2) == -E3
    assert se.einsum("iij->j", E3) == se.Zeros(3)
    assert se.einsum("ijk,jk->i", E3, S) == se.Zeros(3)
    assert se.simplify(se.einsum("ijk,jk->i", E3, se.outer(a, a))) == se.Zeros(3)
    assert se.cross(a, a) == se.Zeros(3)
    assert se.cross(a, b) + se.cross(b, a) == se.Zeros(3)
    assert se.cross(A, B) + se.cross(B, A) == se.Zeros(n, 3)
    skew = se.jacobian(se.cross(a, b), b)
    assert -skew == skew.T
    assert se.einsum("ijk,i,j,k->", E3, a, b, b) == 0
    assert se.einsum("ijk,i,j,k->", E3, a, b, c) == se.einsum("ijk,i,j,k->", E3, b, c, a)
    assert E3[0, 0] == se.Zeros(3)


# Random products are those of dense arrays, whatever signs their canonical forms have.
@pytest.mark.parametrize("seed", range(80))
def test_random_products(seed):
    r = random.Random(seed)
    letters = "ijklmn"
    operands, terms = [E3], ["".join(r.sample(letters[:5], 3))]
    if r.random() < 0.35:
        operands.append(E3)
        terms.append("".join(r.sample(letters, 3)))
    for _ in range(r.randint(1, 4)):
        order = r.choice([1, 1, 2, 2, 3])
        operands.append(se.TensorSymbol("xyz"[r.randint(0, 2)] + str(order), (3,) * order))
        terms.append("".join([r.choice(letters) for _ in range(order)]))
    used = "".join(dict.fromkeys("".join(terms)))
    output = "".join(r.sample(used, r.randint(0, min(3, len(used)))))
    indices = ",".join(terms) + "->" + output
    data = {o: rng.standard_normal((3,) * o.order) for o in operands if o is not E3}
    arrays = [array_of(3) if o is E3 else data[o] for o in operands]
    expected = np.einsum(indices, *arrays)
    e = se.einsum(indices, *operands)
    if output and r.random() < 0.5:
        axes = r.sample(range(len(output)), len(output))
        e, expected = e.transpose(*axes) if len(axes) > 1 else e, expected.transpose(axes)
    for form in (e, se.simplify(e)):
        found = se.lambdify([*data], form)(*data.values())
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_contractions_of_two(count):
    """Over all axes but two, or one, or all."""
    tensor, array = se.LeviCivita(count), array_of(count)
    letters = "ijklm"[:count]
    for kept in range(min(3, count)):
        left, right = letters[: count - kept] + "pq"[:kept], letters[: count - kept] + "rs"[:kept]
        indices = f"{left},{right}->{'pq'[:kept]}{'rs'[:kept]}"
        found = se.simplify(se.einsum(indices, tensor, tensor))
        assert not sympy.sympify(found).has(se.LeviCivita)
        expected = np.einsum(indices, array, array)
        np.testing.assert_array_equal(np.array(se.lambdify([], found)(), float), expected)


IDENTITIES = [
    (a @ se.cross(b, c), b @ se.cross(c, a)),
    (a @ se.cross(b, c), -(c @ se.cross(b, a))),
    (a @ se.cross(a, b), 0),
    (se.cross(a, se.cross(b, c)), b * (a @ c) - c * (a @ b)),
    (se.cross(se.cross(a, b), c), b * (a @ c) - a * (b @ c)),
    (se.cross(a, b) @ se.cross(c, d), (a @ c) * (b @ d) - (a @ d) * (b @ c)),
    (se.cross(a, b) @ se.cross(a, b), (a @ a) * (b @ b) - (a @ b) ** 2),
    (
        se.cross(a, se.cross(b, c)) + se.cross(b, se.cross(c, a)) + se.cross(c, se.cross(a, b)),
        se.Zeros(3),
    ),
    (se.cross(a + b, a - b), -2 * se.cross(a, b)),
    (se.cross(M @ a, b) @ c, (M @ a) @ se.cross(b, c)),
    (se.einsum("ijk,jk->i", E3, M - M.T), 2 * se.einsum("ijk,jk->i", E3, M)),
    (se.cross(A, se.cross(A, B)) @ a, ((A * B).sum(axis=1) * (A @ a)) - (A**2).sum(1) * (B @ a)),
]


@pytest.mark.parametrize(("one", "other"), IDENTITIES, ids=str)
def test_identities(one, other):
    assert se.equal(one, other) is True
    np.testing.assert_allclose(value(one - other), 0 * value(one), atol=1e-12)


def test_simplified_forms():
    assert se.simplify(se.cross(a, se.cross(b, c))) == b * (a @ c) - c * (a @ b)
    assert se.simplify(a @ se.cross(a, b)) == 0
    assert se.simplify(se.cross(a, a + b)) == se.cross(a, b)
    assert se.simplify(E3[0, 1, 2]) == 1
    assert se.simplify(se.einsum("ijk,jk->i", E3, se.exp(M + M.T))) == se.Zeros(3)


WRONG = [
    (a @ se.cross(b, c), a @ se.cross(c, b)),
    (se.cross(a, se.cross(b, c)), se.cross(se.cross(a, b), c)),
    (se.cross(a, b), se.cross(a, c)),
    (se.einsum("ijk,jk->i", E3, M), se.Zeros(3)),
]


@pytest.mark.parametrize(("one", "other"), WRONG, ids=str)
def test_what_is_not_equal(one, other):
    assert se.equal(one, other) is False


SHAPES = [((3,), (3,)), ((5, 3), (5, 3)), ((5, 3), (3,)), ((3,), (4, 5, 3)), ((4, 1, 3), (5, 3))]


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_cross_products_are_numpys(shapes, backend):
    x, y = (se.TensorSymbol(name, shape) for name, shape in zip("xy", shapes, strict=True))
    left, right = (rng.standard_normal(shape) for shape in shapes)
    e = se.cross(x, y)
    assert e.shape == np.cross(left, right).shape
    library = EVERY[backend]()
    found = se.lambdify([x, y], e, backend=backend)(library.into(left), library.into(right))
    np.testing.assert_allclose(library.back(found), np.cross(left, right), atol=1e-12)
    assert snp.cross(x, y) is e


def test_other_axes():
    X, Y = se.TensorSymbol("X", 3, 4), se.TensorSymbol("Y", 4, 3)
    left, right = rng.standard_normal((3, 4)), rng.standard_normal((4, 3))
    found = se.lambdify([X, Y], snp.cross(X, Y, axisa=0, axisc=0))(left, right)
    np.testing.assert_allclose(found, np.cross(left, right, axisa=0, axisc=0))


def test_bad_operands():
    with pytest.raises(se.ShapeError, match="operand 2 has n along the axis"):
        se.cross(a, se.TensorSymbol("x", n))
    with pytest.raises(se.ShapeError, match="operand 1 is a scalar"):
        se.cross(symbols("t"), a)
    with pytest.raises(se.ShapeError):
        se.cross(se.TensorSymbol("x", 4, 3), se.TensorSymbol("y", 5, 3))


DIFFERENTIABLE = [
    (sin(a @ se.cross(b, c)), a),
    (se.exp(se.cross(M @ a, b)) @ c, a),
    (se.norm(se.cross(a, b)), b),
    ((se.cross(A, se.sin(B)) ** 3).sum(), B),
    (se.cross(se.cross(a, b) * (1 + a @ b), a), a),
]


@pytest.mark.parametrize(("f", "x"), DIFFERENTIABLE, ids=str)
def test_derivatives(f, x):
    first = se.diff(f, x)
    assert se.check_derivative(f, x) < 1e-5
    assert se.check_derivative(first, x) < 1e-5
    if x.order == 1 and not getattr(f, "order", 0):
        assert se.check_derivative(se.diff(first, x), x) < 1e-5
    np.testing.assert_allclose(value(se.diff(f, x, mode="forward")), value(first), atol=1e-10)


@pytest.mark.parametrize("backend", [None, "numba", "jax", "torch", "dask", "cupy"])
def test_code_has_no_dense_tensor(backend):
    f = se.gradient(sin(se.cross(A, B).sum(axis=0) @ a), [A, a])
    source = se.codegen([A, B, a], f, backend=backend or "numpy")
    assert "3, 3, 3" not in source
    assert ".einsum(" not in source
    assert "tensordot(" not in source


@pytest.mark.parametrize("backend", EVERY)
def test_parts_are_spelled_by_entries_too(backend):
    part = se.concatenate([A[:, :2] * (B[:, 0] * a[0])[:, None], -A[:, 2:]], axis=1)
    product = se.cross(B, part)
    exprs = [product, se.jacobian(product, a)]
    source = se.codegen([A, B, a], exprs, backend=backend)
    assert "0, 0, 1" not in source
    assert "matmul" not in source.partition("def function")[2]
    left, right, weights = (VALUES[own] for own in (A, B, a))

    def by_numpy(weight):
        scaled = np.hstack([left[:, :2] * (right[:, :1] * weight), -left[:, 2:]])
        return np.cross(right, scaled)

    library = EVERY[backend]()
    arrays = [library.into(own) for own in (left, right, weights)]
    found = se.lambdify([A, B, a], exprs, backend=backend)(*arrays)
    np.testing.assert_allclose(library.back(found[0]), by_numpy(weights[0]), atol=1e-12)
    jacobian = np.zeros((5, 3, 3))
    jacobian[:, :, 0] = by_numpy(1) - by_numpy(0)  # affine
    np.testing.assert_allclose(library.back(found[1]), jacobian, atol=1e-12)


def test_code_is_that_of_hand_written_cross_products():
    source = se.codegen([a, b], se.cross(a, b))
    body = source[source.index("def function") :]
    # Two products of entries each.
    assert sum([line.count("*") for line in body.splitlines() if line.startswith("    t")]) <= 6
    assert "roll" not in body


TEXTS = [
    (se.cross(a, b), "cross(a, b)", r"a \times b"),
    (a @ se.cross(b, c), "a @ cross(b, c)", r"a^{\top} \left(b \times c\right)"),
    (2 * se.cross(a, b + c), "2*cross(a, b + c)", r"2 a \times \left(b + c\right)"),
    (
        se.cross(a, se.cross(b, c)),
        "cross(a, cross(b, c))",
        r"a \times \left(b \times c\right)",
    ),
    (se.cross(A, B), "cross(A, B)", r"\operatorname{cross}\left(A, B\right)"),
    (se.cross(A, a), "cross(A, a)", None),
    (M @ se.cross(a, b), "M @ cross(a, b)", r"M \left(a \times b\right)"),
    (E3, "LeviCivita(3)", r"\epsilon"),
    (se.einsum("ijk,k->ij", E3, a), "einsum('ijk,i->jk', LeviCivita(3), a)", None),
    (se.cross(A[:, None], B[None]), None, None),
    (se.einsum("ijk,bi,cj->kbc", E3, A, B), None, None),
    (se.einsum("ijk,bi,bj->kb", E3, A, B), "cross(A, B).T", None),
    (se.einsum("ijk,lmn,il,jm,kn->", E3, E3, M, M, M), None, None),
    (se.LeviCivita(4) * 2, "2*LeviCivita(4)", None),
]


@pytest.mark.parametrize(("e", "text", "formula"), TEXTS, ids=str)
def test_texts(e, text, formula):
    if text is not None:
        assert str(e) == text
    if formula is not None:
        assert se.latex(e) == formula
    namespace = {**vars(sympy), **vars(se), **LEAVES}
    assert se.equal(eval(str(e), namespace), e)
    assert eval(sympy.srepr(e), namespace) is e
    assert pickle.loads(pickle.dumps(e)) is e
    assert se.pretty(e, use_unicode=False).isascii()
    assert sympy.mathml(e, printer="presentation")
    assert se.to_dot(e)


def test_unicode():
    assert se.pretty(se.cross(a, b)) == "a×b"


def test_conversions():
    i, j, k = symbols("i j k", integer=True)
    assert se.to_indexed(E3, (i, j, k)) == sympy.LeviCivita(i, j, k)
    assert se.to_matrix(se.LeviCivita(2)) == sympy.Matrix([[0, 1], [-1, 0]])
    assert se.to_array(E3).tolist() == array_of(3).astype(int).tolist()
    cubes = se.cross(a, b).as_explicit().tolist()
    x, y = sympy.symbols("x:3"), sympy.symbols("y:3")
    entries = dict(zip([*a.as_explicit(), *b.as_explicit()], (*x, *y), strict=True))
    filled = [e.subs(entries) for e in cubes]
    assert list(sympy.Matrix(x).cross(sympy.Matrix(y))) == [e.expand() for e in filled]
    with pytest.raises(se.UnsupportedError, match="semiring"):
        se.lambdify([a], se.cross(a, b), semiring="min-plus")


t, p, q = symbols("t p q")


def rotation(axis, angle):
    rows = [[cos(angle), -sin(angle)], [sin(angle), cos(angle)]]
    matrix = np.full((3, 3), sympy.S.Zero)
    others = [k for k in range(3) if k != axis]
    matrix[axis, axis] = sympy.S.One
    matrix[np.ix_(others, others)] = rows
    return se.stack([se.stack(list(row)) for row in matrix])


def test_deep_chains_of_small_matrices():
    """They are searched for entries without recursion errors."""
    vector = a
    for _ in range(1200):
        vector = M @ vector + b
    se.simplify(se.outer(vector, c) @ (M + se.Delta(3)) @ (S + M))


def test_rotations():
    plane = se.stack([se.stack([cos(t), -sin(t)]), se.stack([sin(t), cos(t)])])
    assert se.simplify(plane.T @ plane) == se.Delta(2)
    assert se.simplify(plane @ plane.T @ a[:2]) == a[:2]
    assert se.simplify(se.det(plane)) == 1
    assert se.equal(se.inv(plane), plane.T)
    assert se.simplify(plane.T @ se.diff(plane, t)) == se.Constant([[0, -1], [1, 0]])
    assert se.equal(plane @ plane, plane.subs(t, 2 * t))
    assert se.equal(plane @ plane, plane) is False
    by_entries = plane.subs(t, a[0] + b @ c)
    assert se.simplify(by_entries.T @ by_entries) == se.Delta(2)
    assert se.simplify(se.det(by_entries)) == 1
    scaled = (a @ b) * by_entries
    assert se.equal(scaled.T @ scaled, (a @ b) ** 2 * se.Delta(2))
    euler = rotation(2, p) @ rotation(0, t) @ rotation(2, q)
    assert se.simplify(euler.T @ euler) == se.Delta(3)
    assert se.simplify(se.det(euler)) == 1


def test_trigonometric_identities_are_not_tried_for_many_terms(monkeypatch):
    """SymPy takes seconds for entries of 40 terms, as two rotations by Rodrigues' formula have."""
    monkeypatch.setattr(entry_matrices, "trigsimp", pytest.fail)
    angles = symbols("a:5", real=True)
    entry = prod([sin(own) + cos(own) for own in angles])
    assert entry_matrices._simplified(entry) == entry.expand()
