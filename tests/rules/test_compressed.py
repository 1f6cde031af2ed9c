"""Deltas times small cores: recognised, and computed with, against dense algebra."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sympy import Symbol, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.core import same_shape

m, n, k, p = symbols("m n k p", integer=True, positive=True)
LENGTHS = {m: 4, n: 5, k: 3, p: 2}
a = Symbol("a")
x = se.TensorSymbol("x", n)
T, U, V, X = [se.TensorSymbol(*own) for own in [("T", m, n), ("U", m, k), ("V", n, k), ("X", m, n)]]
A, B, C, D = [
    se.TensorSymbol(*own) for own in [("A", m, k), ("B", n, k), ("C", p, k), ("D", m, n, p)]
]
FACTORIZATION = ((T - U @ V.T) ** 2).sum()
CP = ((D - se.einsum("ia,ja,la->ijl", A, B, C)) ** 2).sum()
SOFTMAX = se.hessian(se.logsumexp(X, axis=1).sum() + (X**2).sum(), X)

# Rows are independent of each other, through slices of sums and functions of them.
w, R = se.TensorSymbol("w", 3), se.TensorSymbol("R", m, 3)
CROSS = snp.cross(w, R)
DISTORTED = CROSS * (1 + (CROSS**2).sum(axis=1)[:, None])
TURNED = np.flip(DISTORTED, axis=1) + np.roll(CROSS, 1, axis=1)
JOINED = np.concatenate([R, se.sin(CROSS)], axis=1)

FOUND = {
    "cross products": (se.jacobian(CROSS, R), "ab->iaib", None),
    "functions of cross products": (se.jacobian(DISTORTED, R), "iab->iaib", None),
    "flipped and rolled": (se.jacobian(TURNED, R), "iab->iaib", None),
    "differences of rows": (se.jacobian(np.diff(DISTORTED, axis=1), R), "iab->iaib", None),
    "cumulated rows": (se.jacobian(np.cumsum(DISTORTED, axis=1), R), "iab->iaib", None),
    "padded rows": (se.jacobian(np.pad(CROSS, ((0, 0), (1, 2))) ** 2, R), "iab->iaib", None),
    "joined rows": (se.jacobian(JOINED**2, R), "iab->iaib", None),
    "stacked": (se.jacobian(np.stack([CROSS, DISTORTED]), R), "aibc->aibic", None),
    "products of sums": (
        (SOFTMAX + se.Delta(m, n)) * se.einsum("ij,ab->iajb", se.Ones(m, m), X.T @ X),
        "iab->iaib",
        None,
    ),
    "functions of sums": (se.sin(SOFTMAX + se.Delta(m, n)), "iab->iaib", None),
    "factorization by U": (se.hessian(FACTORIZATION, U), "ab->iaib", 2 * V.T @ V),
    "factorization by V": (se.hessian(FACTORIZATION, V), "ab->iaib", 2 * U.T @ U),
    "CP by A": (se.hessian(CP, A), "ab->iaib", 2 * (B.T @ B) * (C.T @ C)),
    "CP by C": (se.hessian(CP, C), "ab->iaib", 2 * (A.T @ A) * (B.T @ B)),
    "entry by entry": (se.hessian((se.exp(x) + x**3).sum(), x), "i->ii", 6 * x + se.exp(x)),
    "by entry of a matrix": (se.hessian(se.exp(X).sum(), X), "ij->ijij", se.exp(X)),
    "rows": (SOFTMAX, "iab->iaib", None),
    "rows times a number": (a * SOFTMAX + se.Delta(m, n), "iab->iaib", None),
    "rows and a constant core": (
        SOFTMAX + 3 * se.einsum("ij,ab->iajb", se.Delta(m), V @ V.T),
        "iab->iaib",
        None,
    ),
    "a core with ones": (
        se.hessian((X**2).sum() + (X.sum(axis=1) ** 2).sum(), X),
        "ab->iaib",
        2 + 2 * se.Delta(n),
    ),
    "a core that is constant": (se.hessian((X.sum(axis=0) ** 2).sum(), X), "->aibi", 2),
    "delta": (se.Delta(n), "->ii", 1),
    "deltas": (-a * se.Delta(m, n), "->ijij", -a),
    "times a matrix": (3 * se.einsum("ij,ab->iajb", se.Delta(n), U @ U.T), "ab->iaib", None),
    "transposed": (SOFTMAX.transpose(2, 1, 0, 3), "iab->iaib", None),
    "rows together": (SOFTMAX.transpose(0, 2, 1, 3), "iab->iiab", None),
    "columns swapped": (SOFTMAX.transpose(0, 1, 3, 2), "iab->iabi", None),
    "another axis": (SOFTMAX.transpose(1, 0, 3, 2), "aib->aibi", None),
    "a cube": (se.einsum("i->iii", x), "i->iii", x),
    "a block that isn't square": (se.einsum("ij,ab->iajb", se.Delta(m), V), "ab->iaib", V),
}
# The Hessian of a Tucker decomposition by its core, and others without index between their factors.
G, P, Q = [se.TensorSymbol(*own) for own in [("G", k, k, k), ("P", p, p), ("Q", p, p)]]
TUCKER = ((D - se.einsum("abc,ia,jb,lc->ijl", G, A, B, C)) ** 2).sum()
ROWS = se.einsum("ai,bj,kl->abkijl", P, Q, se.Delta(m))
FOUND |= {
    "Tucker by the core": (se.hessian(TUCKER, G), "ad,be,cf->abcdef", None),
    "two factors": (se.einsum("ai,bj->abij", P, Q), "ac,bd->abcd", (P, Q)),
    "scaled": (-3 * a * se.einsum("ai,bj->abij", P, Q), "ac,bd->abcd", None),
    "turned": (se.einsum("ia,bj->abij", P, Q), "ac,bd->abcd", (P.T, Q)),
    "with a delta": (ROWS, "ac,bd->abicdi", (P, Q)),
    "a diagonal and a matrix": (
        se.einsum("i,ij,ab->iajb", x, se.Delta(n), P),
        "i,ab->iaib",
        (x, P),
    ),
    "a sum in a factor": (
        se.simplify(se.einsum("ai,bj->abij", P.T @ Q, Q) + se.einsum("ai,bj->abij", P, Q)),
        "ac,bd->abcd",
        None,
    ),
}
DENSE = {
    "vectors": se.einsum("i,j->ij", x, x),
    "rows and columns apart": se.einsum("ab,ij->abij", P, Q),
    "mixed block": se.hessian(FACTORIZATION, [U, V])[0][1],
    "logistic": se.hessian(se.softplus(V @ se.TensorSymbol("w", k)).sum(), se.TensorSymbol("w", k)),
    "diagonal and dense": se.hessian((x**2).sum() + x.sum() ** 2, x),
    "different pairs": se.einsum("i,j->ijij", x, x) + se.einsum("i,j->iijj", x, x),
    "symbol": X,
    "zeros": se.Zeros(n, n),
    "number": a,
}
LEAVES = [a, x, X, U, V, A, B, C, D, T, w, R, G, P, Q]


def numbers(lengths=LENGTHS):
    """Return a value for each leaf."""
    rng = np.random.default_rng(0)
    shapes = [[int(length.subs(lengths)) for length in leaf.shape] for leaf in LEAVES[1:]]
    return [1.5, *[rng.normal(size=shape) for shape in shapes]]


def value(expr, lengths=LENGTHS):
    return se.lambdify(LEAVES, expr)(*numbers(lengths))


@pytest.mark.parametrize("name", FOUND)
def test_recognised_structure(name):
    H, pattern, core = FOUND[name]
    found = se.compress(H)
    assert found.pattern == pattern
    assert found.shape == H.shape
    assert found.order == H.order
    if isinstance(core, tuple):
        assert found.core == core
    else:
        assert core is None or se.equal(found.core, core)
    assert se.equal(found.to_dense(), H)
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("name", ["factorization by U", "rows", "delta", "by entry of a matrix"])
def test_the_dense_tensor_is_the_same_node(name):
    assert se.compress(FOUND[name][0]).to_dense() == FOUND[name][0]


@pytest.mark.parametrize("name", DENSE)
def test_dense_tensors_are_refused(name):
    with pytest.raises(se.UnsupportedError, match=r"no axes that are equal in all.*one by one"):
        se.compress(DENSE[name])


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("lengths", [LENGTHS, dict.fromkeys(LENGTHS, 1)], ids=["many", "one"])
def test_products_and_solutions_are_those_of_dense_tensors(name, lengths):
    H = FOUND[name][0]
    found, dense = se.compress(H), value(H, lengths)
    rng = np.random.default_rng(1)
    for count in range(1, H.order + 1):
        v = se.TensorSymbol("v", H.shape[H.order - count :])
        given = rng.normal(size=dense.shape[H.order - count :])
        product = se.lambdify([*LEAVES, v], found.matvec(v))(*numbers(lengths), given)
        np.testing.assert_allclose(product, np.tensordot(dense, given, count), atol=1e-12)
    half = H.order // 2
    rows = int(np.prod(dense.shape[:half]))
    if (
        H.order % 2
        or rows**2 != dense.size
        or np.linalg.matrix_rank(dense.reshape(rows, rows)) < rows
    ):
        return
    b, given = se.TensorSymbol("b", H.shape[:half]), rng.normal(size=dense.shape[:half])
    try:
        solution = found.solve(b)
    except se.UnsupportedError:
        assert name in {"rows together", "a block that isn't square"}
        return
    x_ = se.lambdify([*LEAVES, b], solution)(*numbers(lengths), given)
    assert x_.shape == dense.shape[half:]
    np.testing.assert_allclose(np.tensordot(dense, x_, half), given, atol=1e-9)


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("lengths", [LENGTHS, dict.fromkeys(LENGTHS, 1)], ids=["many", "one"])
def test_diagonals_and_determinants_are_those_of_dense_tensors(name, lengths):
    H = FOUND[name][0]
    found, dense = se.compress(H), value(H, lengths)
    half = H.order // 2
    rows = dense.shape[:half]
    matrix = dense.reshape(int(np.prod(rows)), -1)
    if H.order % 2 or not same_shape(H.shape[:half], H.shape[half:]):
        with pytest.raises(se.UnsupportedError, match="the diagonal takes rows and columns"):
            found.diagonal()
    else:
        diagonal = value(found.diagonal(), lengths)
        np.testing.assert_allclose(diagonal, matrix.diagonal().reshape(rows))
    is_square = H.order % 2 == 0 and matrix.shape[0] == matrix.shape[1]
    if not is_square or name in {"rows together", "a block that isn't square"}:
        if lengths is LENGTHS:
            with pytest.raises(se.UnsupportedError, match="logdet takes"):
                found.logdet()
        return
    logarithm = found.logdet()
    expected = np.linalg.slogdet(matrix)[1]
    with np.errstate(divide="ignore"):
        actual = value(logarithm, lengths)
    if np.isfinite(expected) and np.linalg.matrix_rank(matrix) == len(matrix):
        np.testing.assert_allclose(actual, expected, atol=1e-9)


def test_several_axes_are_one_row():
    K, b = se.TensorSymbol("K", 2, 3, 3, 2), se.TensorSymbol("b", 2, 3, 5)
    H = se.einsum("abcd,i->abicdi", K, se.Ones(5))
    found = se.compress(H)
    assert found.pattern == "abcd->abicdi"
    rng = np.random.default_rng(0)
    core, right = rng.normal(size=(2, 3, 3, 2)), rng.normal(size=(2, 3, 5))
    solution = se.lambdify([K, b], found.solve(b))(core, right)
    expected = np.linalg.solve(core.reshape(6, 6), right.reshape(6, 5)).reshape(3, 2, 5)
    np.testing.assert_allclose(solution, expected)


def test_no_delta_is_left_in_a_product():
    found = se.compress(FOUND["factorization by U"][0])
    assert se.equal(found.matvec(A), 2 * A @ V.T @ V)
    assert se.equal(found.solve(A), A @ se.inv(V.T @ V) / 2)


def test_wrong_operands():
    found = se.compress(FOUND["factorization by U"][0])
    with pytest.raises(se.ShapeError, match="v has length n on axis 0, but axis 2 of H has m"):
        found.matvec(V)
    with pytest.raises(se.ShapeError, match="b has length n on axis 0, but axis 0 of H has m"):
        found.solve(V)
    with pytest.raises(se.ShapeError, match=r"matvec takes a tensor v.*not one of shape \(\)"):
        found.matvec(a)
    with pytest.raises(se.ShapeError, match=r"first axes are \(m, k\), not one of shape \(n,\)"):
        found.solve(x)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a cube", "not i and ii of the pattern i->iii"),
        ("rows together", "not ii and ab of the pattern"),
        ("a block that isn't square", "n rows a and k columns b"),
    ],
)
def test_systems_without_solution(name, message):
    H = FOUND[name][0]
    with pytest.raises(se.UnsupportedError, match=message):
        se.compress(H).solve(se.TensorSymbol("b", H.shape[: H.order // 2]))


def test_cores_are_small():
    found = se.compress(FOUND["Tucker by the core"][0])
    assert [core.shape for core in found.core] == [(k, k)] * 3
    assert se.equal(found.cores[0], 2 * A.T @ A)
    assert found.cores[1:] == (B.T @ B, C.T @ C)
    b = se.TensorSymbol("b", k, k, k)
    assert "reshape(k*k" not in str(found.solve(b))
    assert repr(found).startswith("Compressed(2*A.T @ A ⊗ B.T @ B ⊗ C.T @ C, 'ad,be,cf->abcdef'")
    assert r" \otimes " in found._repr_latex_()


def test_it_is_shown_shortly():
    found = se.compress(FOUND["factorization by U"][0])
    assert repr(found) == "Compressed(2*V.T @ V, 'ab->iaib', shape=(m, k, m, k))"
    assert found._repr_latex_() == r"$\displaystyle 2 V^{\top} V\quad\texttt{ab->iaib}$"


def test_long_sums_nest_deeply():
    H = total = se.Delta(n)
    for j in range(300):
        total = total + se.einsum("i->ii", se.sin((j + 2) * x))
        H = a * total
    assert se.compress(H).pattern == "i->ii"


def test_no_array_has_an_axis_twice():
    jacobian = se.jacobian(DISTORTED, R)
    core = se.lambdify([w, R], se.compress(jacobian).core)
    assert "(m, m" not in core.source
    assert "m, 3, m" not in core.source
    dense = se.lambdify([w, R], jacobian)
    lines = [line for line in dense.source.splitlines() if "m, 3, m" in line]
    assert len(lines) <= 2  # the zeros that the rows are written to


def test_parts_of_a_packed_variable():
    """The Hessian with respect to a vector of a matrix and a vector, by blocks."""
    packed, C = se.TensorSymbol("z", m * k + n), se.TensorSymbol("C", k, k)
    Z, w = packed[: m * k].reshape(m, k), packed[m * k :]
    H = se.hessian((Z @ C * Z).sum() + (w**3).sum(), packed)
    with pytest.raises(se.UnsupportedError, match=r"packed or reshaped, its part: H\[:m\*k"):
        se.compress(H)
    block = se.compress(H[: m * k, : m * k].reshape(m, k, m, k))
    assert (block.core, block.pattern) == (C + C.T, "ab->iaib")
    assert se.compress(H[m * k :, m * k :]).pattern == "i->ii"
