"""Derivatives as matrices of Kronecker products: formulas and values."""

import numpy as np
import pytest
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, p, q, t = symbols("m n p q t", integer=True, positive=True)
A, B, X = (se.TensorSymbol(*v) for v in (("A", m, n), ("B", p, q), ("X", n, p)))
S, a, b, x = (se.TensorSymbol(*v) for v in (("S", n, n), ("a", p), ("b", m), ("x", n)))
SIZES = {m: 2, n: 3, p: 4, q: 5}
rng = np.random.default_rng(0)
DATA = {v: rng.standard_normal([SIZES[k] for k in v.shape]) for v in (A, B, X, S, a, b, x)}
I, kron = np.eye, np.kron


def vec(matrix):
    return matrix.T.ravel()


def K(rows, columns):
    """Return the commutation matrix: K vec(X) = vec(Xᵀ)."""
    numbers = np.arange(rows * columns).reshape(columns, rows).T
    return np.eye(rows * columns)[vec(numbers.T)]


v = {s.name: value for s, value in DATA.items()}
inverse, growth = np.linalg.inv(v["S"]), np.exp(v["A"] @ v["X"])
ONES = np.ones((4, 1))
CASES = [
    (A @ X @ B, X, r"B^{\top} \otimes A", kron(v["B"].T, v["A"])),
    (2 * t * A @ X, X, r"2 t I \otimes A", 2 * 7 * kron(I(4), v["A"])),
    (X.T, X, r"\operatorname{K}_{\left(n, p\right)}", K(3, 4)),
    (X, X, "I", I(12)),
    (
        X.T @ X,
        X,
        r"\left(X^{\top} \otimes I\right) \operatorname{K}_{\left(n, p\right)} + "
        r"I \otimes X^{\top}",
        (I(16) + K(4, 4)) @ kron(I(4), v["X"].T),
    ),
    (S.inv(), S, r"- S^{- \top} \otimes S^{-1}", -kron(inverse.T, inverse)),
    (S @ S, S, r"I \otimes S + S^{\top} \otimes I", kron(I(3), v["S"]) + kron(v["S"].T, I(3))),
    (X @ a, X, r"a^{\top} \otimes I", kron(v["a"], I(3))),
    (a @ X.T, X, r"a^{\top} \otimes I", kron(v["a"], I(3))),
    (snp.outer(x, x), x, r"x \otimes I + I \otimes x", None),
    (snp.outer(b, A @ x), x, r"A \otimes b", kron(v["A"], v["b"][:, None])),
    (snp.outer(b, x @ X), X, r"I \otimes \left(b x^{\top}\right)", None),
    (
        S.trace() * S,
        S,
        r"\operatorname{vec}\left(S\right) \operatorname{vec}\left(I\right)^{\top} + "
        r"\operatorname{tr}\left(S\right) I",
        np.trace(v["S"]) * I(9) + np.outer(vec(v["S"]), vec(I(3))),
    ),
    (
        se.exp(A @ X),
        X,
        r"\operatorname{diag}\left(\operatorname{vec}\left(\exp\left(A X\right)\right)\right) "
        r"\cdot \left(I \otimes A\right)",
        np.diag(vec(growth)) @ kron(I(4), v["A"]),
    ),
    (
        snp.diag(x) @ X,
        x,
        r"\operatorname{diag}\left(\operatorname{vec}\left(X\right)\right) \cdot "
        r"\left(\mathbf{1} \otimes I\right)",
        np.diag(vec(v["X"])) @ kron(ONES, I(3)),
    ),
    (snp.diag(x) @ X, X, r"I \otimes \operatorname{diag}\left(x\right)", None),
    (x @ S @ x, x, None, None),
]


@pytest.mark.parametrize(("y", "by", "formula", "value"), CASES, ids=lambda part: "")
def test_formulas_and_values(y, by, formula, value):
    derivative = se.diff(y, by)
    order = len(getattr(y, "shape", ()))
    matrix = se.to_kronecker(derivative, order)
    if formula is not None:
        assert se.latex(matrix) == formula
    arguments = [*DATA, t]
    result, plain = se.lambdify(arguments, [matrix, derivative])(*DATA.values(), 7)
    axes = [*reversed(range(order)), *reversed(range(order, plain.ndim))]
    assert_close(result, plain.transpose(axes).reshape(result.shape))
    if value is not None:
        assert_close(result, value)


def test_reshapes_without_another_form():
    y = se.softmax(X, axis=1)
    matrix = se.to_kronecker(se.diff(y, X), 2)
    assert matrix.shape == (n * p, n * p)
    assert "reshape" in se.latex(matrix)


def test_too_many_axes():
    T = se.TensorSymbol("T", n, n, n)
    with pytest.raises(se.ShapeError, match="two axes at most"):
        se.to_kronecker(se.diff(T, x), 3)
    with pytest.raises(se.ShapeError, match="vec takes a vector or a matrix"):
        se.vec(T)
