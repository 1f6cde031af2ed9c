"""Expressions with complex numbers inside: what differs from the real case is computed from both
parts or refused."""

import numpy as np
import pytest
import scipy.linalg
import sympy
from sympy import I, Rational

import sympy_einsum as se
import sympy_einsum.numpy as snp

a, b = se.tensors("a b", 3)
A, B = se.tensors("A B", 3, 3)
t = sympy.Symbol("t", real=True)
rng = np.random.default_rng(0)
DATA = [rng.normal(size=shape) for shape in [(3,), (3,), (3, 3), (3, 3)]] + [0.3]
z, Z = a + I * b, A + I * B
w, W = DATA[0] + 1j * DATA[1], DATA[2] + 1j * DATA[3]
PAULI = np.array([[0, -1j], [1j, 0]])

COMPUTED = {
    "conj": (snp.conj(z), w.conj()),
    "conjugate": (z.conjugate(), w.conj()),
    "sympy.conjugate": (sympy.conjugate(z), w.conj()),
    "of a function": (snp.conj(se.exp(z)), np.exp(w).conj()),
    "of an inverse": (np.conj(se.inv(Z)), np.linalg.inv(W).conj()),
    "of a constant": (np.conj(np.array([1j, 2, 3]) * a), np.array([-1j, 2, 3]) * DATA[0]),
    "of an exact constant": (
        np.conj(se.from_matrix(sympy.Matrix([[0, -I], [I, 1]])) @ a[:2]),
        np.array([[0, 1j], [-1j, 1]]) @ DATA[0][:2],
    ),
    "of a scalar": ((z @ z).conjugate(), (w @ w).conj()),
    "inside a scalar": (sympy.conjugate(t + (z @ z)), (0.3 + w @ w).conj()),
    "adjoint": (Z.adjoint(), W.conj().T),
    "H": (Z.H, W.conj().T),
    "sympy.adjoint": (sympy.adjoint(Z), W.conj().T),
    "real": (z.real, w.real),
    "imag": (np.imag(z), w.imag),
    "sympy.re": (sympy.re(z), w.real),
    "real of a product": (sympy.re(z @ z), (w @ w).real),
    "imaginary inside a scalar": (sympy.im(t * (z @ z) + 1), 0.3 * (w @ w).imag),
    "abs of a scalar": (sympy.Abs(z @ z), abs(w @ w)),
    "abs": (abs(se.ComplexTensor(z.real, z.imag)), abs(w)),
    "norm": (se.norm(z), np.linalg.norm(w)),
    "1-norm": (se.norm(z, 1), np.linalg.norm(w, 1)),
    "norm of a scalar": (se.norm(se.exp(z).sum()), abs(np.exp(w).sum())),
    "abs of a sum of phases": (sympy.Abs(se.exp(I * a).sum()), abs(np.exp(1j * DATA[0]).sum())),
    "norm of a matrix": (se.norm(Z), np.linalg.norm(W)),
    "vdot": (np.vdot(z, a), np.vdot(w, DATA[0])),
    "vecdot": (np.vecdot(z, z), np.vecdot(w, w)),
    "vecmat": (np.vecmat(z, Z), np.vecmat(w, W)),
    "var": (np.var(z), np.var(w)),
    "std": (np.std(z), np.std(w)),
    "cov": (np.cov(z), np.cov(w)),
    "fft": (np.abs(np.fft.fft(z)), abs(np.fft.fft(w))),
    "sqrt of a square": (se.sqrt(z**2), np.sqrt(w**2)),
    "a choice": (se.where(a > 0, z, 0), np.where(DATA[0] > 0, w, 0)),
    "is it real": (np.isreal(z), np.isreal(w)),
}
PARTED = {
    "exp": (se.exp(z), np.exp(w)),
    "a phase": (a * se.exp(I * b), DATA[0] * np.exp(1j * DATA[1])),
    "a steering vector": (Z @ se.exp(1j * np.outer(a, b)), W @ np.exp(1j * np.outer(*DATA[:2]))),
    "a quotient": (a / z, DATA[0] / w),
    "a power": (z**-3, w**-3),
    "a root": (se.sqrt(z), np.sqrt(w)),
    "another power": (z ** Rational(1, 3), w ** (1 / 3)),
    "a complex power": ((1 + a**2) ** (I * b), (1 + DATA[0] ** 2) ** (1j * DATA[1])),
    "powers of powers": (z**z, w**w),
    "log": (se.log(z), np.log(w)),
    "nested": (
        se.exp(b * se.sqrt(1 + z)) / (2 + se.log(z)),
        np.exp(DATA[1] * np.sqrt(1 + w)) / (2 + np.log(w)),
    ),
    "tanh": (se.tanh(z), np.tanh(w)),
    "a case": (se.where(a > 0, se.exp(z), z), np.where(DATA[0] > 0, np.exp(w), w)),
    "of a scalar": (1 / (1 + I * (a @ b)), 1 / (1 + 1j * (DATA[0] @ DATA[1]))),
    "of a sum": (se.log(t + se.exp(z).sum()), np.log(0.3 + np.exp(w).sum())),
    "a symbol": (se.exp(I * t) * a, np.exp(0.3j) * DATA[0]),
    "an inverse": (se.inv(Z), np.linalg.inv(W)),
    "a solution": (se.solve(Z @ Z.H, z), np.linalg.solve(W @ W.conj().T, w)),
    "inverses": (se.inv(np.stack([Z, Z.T])), np.linalg.inv(np.stack([W, W.T]))),
    "an exponential": (se.expm(I * A) @ z, scipy.linalg.expm(1j * DATA[2]) @ w),
    "an inverse of an inverse": (se.inv(se.inv(Z) + Z), np.linalg.inv(np.linalg.inv(W) + W)),
}
REFUSED = {
    "sign": lambda: se.sign(I * a),
    "Max": lambda: se.Max(z, 0),
    "relu": lambda: se.relu(z),
    "parts of gamma": lambda: se.gamma(z).real,
    "parts of a determinant": lambda: sympy.Abs(se.det(Z)),
    "eigenvalues": lambda: se.eigvalsh(Z),
    "singular values": lambda: se.svdvals(Z),
    "logdet": lambda: se.logdet(Z),
    "a Lambda": lambda: z.applyfunc(lambda u: sympy.Abs(u) ** 2),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_right_values(name):
    e, expected = COMPUTED[name]
    found = se.lambdify([a, b, A, B, t], e)(*DATA)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    with pytest.raises(se.UnsupportedError, match="complex"):
        REFUSED[name]()


@pytest.mark.parametrize("name", PARTED)
def test_parts_of_functions(name):
    """Against NumPy, and the derivative of the absolute values against differences."""
    e, expected = PARTED[name]
    parts = [se.real(e), se.imag(e), sympy.Abs(e), sympy.arg(e)]
    found = se.lambdify([a, b, A, B, t], parts)(*DATA)
    values = expected.real, expected.imag, abs(expected), np.angle(expected)
    for part, value in zip(found, values, strict=True):
        np.testing.assert_allclose(part, value, rtol=1e-11, atol=1e-13)
    assert all(se.check_derivative(se.norm(e), v) < 1e-6 for v in (a, A) if parts[0].has(v))


def test_scalars_with_complex_numbers_are_not_real():
    for scalar in (se.exp(I * a).sum(), se.cosh(I * a).sum(), 1 / (2 + se.exp(I * a).sum())):
        assert not any([scalar.is_real, scalar.is_nonnegative, scalar.is_positive])
    assert (a @ b).is_real
    assert (a @ b).is_imaginary is False


def test_an_expectation_is_differentiated():
    p, q = se.tensors("p q", 2)
    psi = p + I * q
    value = se.real(se.einsum("i,ij,j->", np.conj(psi), PAULI, psi))  # 2 (p0 q1 - q0 p1)
    derivative = se.lambdify([p, q], se.gradient(value, p))([1.0, 2.0], [3.0, -1.0])
    np.testing.assert_allclose(derivative, [-2, -6])


def test_real_tensors_are_unchanged():
    for same in (a.conjugate(), a.real, A.H.T):
        assert same in (a, A)
    assert se.imag(a) == se.Zeros(3)
