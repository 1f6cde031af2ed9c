"""Nodes built by substitution equal those built by construction."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import sympy as sp
from sympy import Float, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

n, m = symbols("n m", integer=True, positive=True)
k = symbols("k", integer=True)
t = symbols("t", real=True)


def special(size):
    """Return matrices of a size for which a function has a constant value, or another canonical
    form."""
    x, B = se.TensorSymbol("x", size), se.TensorSymbol("B", size, size)
    found = {
        "identity": se.Delta(size),
        "zeros": se.Zeros(size, size),
        "ones": se.Ones(size, size),
        "diagonal": se.diag(x),
        "inverse": se.inv(B),
        "transposed inverse": se.inv(B).T,
        "transpose": B.T,
        "multiple": t * B,
        "multiple of the identity": 3 * se.Delta(size),
        "exponential": se.expm(B),
        "power": se.matrix_power(B, k),
        "pseudoinverse": se.pinv(B),
        "outer product": se.outer(x, se.TensorSymbol("y", size)),
        "rows": se.outer(se.Ones(size), x),
        "entry by entry": se.exp(B),
        "sum": B + se.Delta(size),
        "shifted": B + t,
        "product": B @ B,
        "triangle": se.tril(B),
        "constant": t * se.Ones(size, size),
    }
    if size == 2:
        found["numbers"] = se.Constant([[1, 2], [3, 5]])
    return found


FUNCTIONS = {
    "inv": se.inv,
    "det": se.det,
    "adj": se.adj,
    "logdet": se.logdet,
    "cofactors": lambda A: se.cofactors(A, 2),
    "expm": se.expm,
    "expm in a direction": lambda A: se.expm(A, se.TensorSymbol("E", *A.shape)),
    "expm in the direction": lambda A: se.expm(se.TensorSymbol("E", *A.shape), A),
    "matrix_power": lambda A: se.matrix_power(A, k),
    "square": lambda A: se.matrix_power(A, 2),
    "power of the inverse": lambda A: se.matrix_power(A, -2),
    "power in a direction": lambda A: se.matrix_power(A, k, se.TensorSymbol("E", *A.shape)),
    "cholesky": se.cholesky,
    "eigvalsh": se.eigvalsh,
    "eigenvectors": lambda A: se.eigh(A).eigenvectors,
    "svdvals": se.svdvals,
    "left vectors": lambda A: se.svd(A).U,
    "right vectors": lambda A: se.svd(A).Vh,
    "Q": lambda A: se.qr(A).Q,
    "R": lambda A: se.qr(A).R,
    "pinv": se.pinv,
    "solve": lambda A: se.solve(A, se.TensorSymbol("z", A.shape[0])),
    "slogdet": lambda A: se.slogdet(A).sign,
    "stack of inverses": lambda A: se.inv(se.stack([A, A])),
    "stack of determinants": lambda A: se.det(se.stack([A, A])),
    "transpose": lambda A: A.T,
    "trace": se.trace,
    "diagonal": lambda A: A.diagonal(),
    "sum": lambda A: A.sum(axis=0),
    "mean": lambda A: A.mean(),
    "exp": se.exp,
    "log": se.log,
    "sqrt": se.sqrt,
    "Abs": se.Abs,
    "sigmoid": se.sigmoid,
    "squares": lambda A: A**2,
    "difference": lambda A: A - A.T,
    "condition": lambda A: A > 0,
    "logsumexp": lambda A: se.logsumexp(A, axis=1),
    "softmax": lambda A: se.softmax(A, axis=0),
    "max": lambda A: A.max(axis=0),
    "argmax": lambda A: A.argmax(axis=1),
    "sort": lambda A: A.sort(),
    "cumsum": lambda A: A.cumsum(axis=0),
    "cumprod": lambda A: A.cumprod(axis=1),
    "logcumsumexp": lambda A: se.logcumsumexp(A, axis=1),
    "running_softmax": lambda A: se.running_softmax(A, axis=1),
    "ravel": lambda A: A.ravel(),
    "norm": se.norm,
    "kron": lambda A: se.kron(A, A),
    "matrix product": lambda A: A @ A,
    "stack": lambda A: se.stack([A, A]),
    "entry": lambda A: A[0, 0],
    "row": lambda A: A[0],
    "tril": se.tril,
    "roll": lambda A: se.roll(A, 1, 0),
    "std": lambda A: A.std(axis=0),
    "pad": lambda A: se.pad(A, 1),
    "fft": lambda A: snp.fft.fft(A).real,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [n, 2], ids=str)
def test_a_function_of_a_special_matrix_is_built_by_substitution_too(name, size):
    """By subs, xreplace, replace, func and from pickled entries."""
    function, A = FUNCTIONS[name], se.TensorSymbol("A", size, size)
    general = function(A)
    for kind, matrix in special(size).items():
        built = function(matrix)
        for way, found in {
            "subs": general.subs(A, matrix),
            "xreplace": general.xreplace({A: matrix}),
            "replace": general.replace(A, matrix),
            "func": general.func(*[own.subs(A, matrix) for own in general.args])
            if not isinstance(general, se.TensorExpr)
            else general.func(*[matrix if arg == A else arg for arg in general.args]),
        }.items():
            assert found == built, (kind, way)
        assert pickle.loads(pickle.dumps(built)) == built


STACK = se.Delta(n).broadcast_to(m, n, n)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda A: se.inv(A), se.Delta(n)),
        (lambda A: se.adj(A), se.Delta(n)),
        (lambda A: se.det(A), sp.S.One),
        (lambda A: se.logdet(A), sp.S.Zero),
        (lambda A: se.matrix_power(A, k), se.Delta(n)),
        (lambda A: se.cholesky(A), se.Delta(n)),
        (lambda A: se.pinv(A), se.Delta(n)),
        (lambda A: se.eigvalsh(A), se.Ones(n)),
        (lambda A: se.svdvals(A), se.Ones(n)),
        (lambda A: se.eigh(A).eigenvectors, se.Delta(n)),
        (lambda A: se.qr(A).Q, se.Delta(n)),
        (lambda A: se.qr(A).R, se.Delta(n)),
        (lambda A: se.svd(A).U, se.Delta(n)),
        (lambda A: se.svd(A).Vh, se.Delta(n)),
        (lambda A: se.solve(A, se.TensorSymbol("x", n)), se.TensorSymbol("x", n)),
        (lambda A: se.expm(A - se.Delta(n)), se.Delta(n)),
    ],
)
def test_functions_of_the_identity(value, expected):
    assert value(se.Delta(n)) == expected
    A = se.TensorSymbol("A", n, n)
    assert value(A).subs(A, se.Delta(n)) == expected


def test_functions_of_a_stack_of_identities():
    assert STACK.shape == (m, n, n)
    assert se.inv(STACK) is STACK
    assert se.matrix_power(STACK, k) is STACK
    assert se.det(STACK) is se.Ones(m)
    assert se.logdet(STACK) is se.Zeros(m)
    assert se.slogdet(STACK).logabsdet is se.Zeros(m)
    assert se.eigvalsh(STACK) is se.Ones(m, n)
    # Deltas of another kind are no identities.
    assert isinstance(se.inv(se.Delta(2, 2)), se.InvStack)
    assert isinstance(se.det(se.outer(se.Ones(n), se.Ones(n))), se.Det)


def test_functions_of_zeros():
    zeros, wide = se.Zeros(n, n), se.Zeros(2, 3)
    E = se.TensorSymbol("E", n, n)
    assert se.expm(zeros) is se.Delta(n)
    assert se.expm(zeros, E) is E
    assert se.det(zeros) == 0
    assert se.det(se.Zeros(0, 0)) == 1
    assert se.eigvalsh(zeros) is se.Zeros(n)
    assert se.svdvals(wide) is se.Zeros(2)
    assert se.pinv(wide) is se.Zeros(3, 2)


def test_involutions():
    B, T, X = se.TensorSymbol("B", n, n), se.TensorSymbol("T", m, n, n), se.TensorSymbol("X", m, n)
    A, S = se.TensorSymbol("A", n, n), se.TensorSymbol("S", m, n, n)
    assert se.inv(A).subs(A, se.inv(B)) is B
    assert se.inv(S).subs(S, se.inv(T)) is T
    assert se.pinv(se.pinv(X)) is X


LENGTHS = {
    "symbol": lambda length: se.TensorSymbol("x", length),
    "ones": se.Ones,
    "identity": se.Delta,
    "zeros": se.Zeros,
    "triangle": se.Triangle,
    "waves": se.Fourier,
    "slice": lambda length: se.TensorSymbol("x", 5)[:length],
    "unit": lambda length: se.Delta(5)[length],
    "power": lambda length: se.matrix_power(se.TensorSymbol("A", 4, 4), length),
    "sum": lambda length: (se.TensorSymbol("x", length) ** 2).sum(),
    "reshaped": lambda length: se.TensorSymbol("x", 3 * length).reshape(3, length),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_length_that_is_a_whole_float_is_an_integer(name):
    general, known = LENGTHS[name](n), LENGTHS[name](sp.Integer(2))
    assert general.subs(n, 2) is known
    assert general.subs(n, 2.0) is known
    assert general.xreplace({n: Float(2)}) is known
    assert general.subs(n, np.float64(2)) is known
    with pytest.raises(se.ShapeError, match=r"counts entries|doesn't divide"):
        general.subs(n, 2.25)


@pytest.mark.parametrize("wrong", [-1, sp.Rational(1, 2), sp.oo, sp.I])
@pytest.mark.parametrize("kind", [se.Ones, se.Zeros, se.Delta, lambda k: se.TensorSymbol("x", k)])
def test_a_length_that_can_be_none_is_refused(kind, wrong):
    with pytest.raises(se.ShapeError, match="an axis length must be a non-negative integer"):
        kind(n).subs(n, wrong)


def test_a_symbol_whose_lengths_were_replaced_is_found():
    """It prints as before, but is a different symbol."""
    A, x = se.TensorSymbol("A", n, n), se.TensorSymbol("x", n)
    fixed = (A @ x).subs(n, 2)
    assert fixed.subs(x, [1, 2]) is se.TensorSymbol("A", 2, 2) @ se.Constant([1, 2])
    assert (t * (x @ x)).subs(n, 2).subs(x, [1, 2]).doit() == 5 * t
    assert (x @ x).subs(n, 2).evalf(subs={x: [1, 2]}) == 5.0
    assert fixed.subs({x: [1, 2], A: [[1, 0], [0, 1]]}).as_explicit().tolist() == [1, 2]
    with pytest.raises(se.ShapeError, match="axis 0 has length 2"):
        fixed.subs(x, [1, 2, 3])
    with pytest.raises(se.ShapeError, match="substitute the lengths first"):
        fixed.subs(x, 2 * x)
    other = se.TensorSymbol("x", 3)
    with pytest.raises(se.TensorError, match=r"of shape \(2,\), doesn't occur.* of shape \(3,\)"):
        (other @ other).subs(se.TensorSymbol("x", 2), [1, 2])
    # An expression of two symbols with one name has both, and other names are no matter.
    assert (other @ other).subs({se.TensorSymbol("x", 2): [1, 2], other: [1, 2, 3]}).doit() == 14
    assert (x @ x).subs(se.TensorSymbol("y", 2), [1, 2]) is x @ x


@pytest.mark.parametrize("rows", [*itertools.product(range(2), repeat=3)])
def test_equal_operands_of_a_product_whose_axes_are_permuted(rows):
    """Transposed, reshaped or substituted, it is the product that is written at once."""
    pair = se.tensors("F G", n, n)
    factors = [pair[k] for k in rows]
    apart = se.tensors("P Q R", n, n)
    for order in itertools.permutations("ijklpq"):
        subscripts = f"ij,kl,pq->{''.join(order)}"
        made = se.einsum(subscripts, *factors)
        axes = ["ijklpq".index(label) for label in order]
        assert se.einsum("ij,kl,pq->ijklpq", *factors).transpose(axes) is made
        assert se.einsum(subscripts, *apart).subs(dict(zip(apart, factors, strict=True))) is made


def test_kronecker_products_of_one_matrix_made_by_substitution():
    B, C = se.tensors("B C", n, n)
    for product in (np.kron(B, C), np.kron(C, B)):
        assert product.subs(C, B) is product.xreplace({C: B}) is np.kron(B, B)
