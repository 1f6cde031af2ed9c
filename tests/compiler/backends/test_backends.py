"""One list of instructions, emitted for every array library: equal values, types and errors."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from libraries import EVERY, LIBRARIES, allowances_for
from scipy import linalg, special
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.emit.signature import RESERVED
from sympy_einsum.compiler.ir.instructions import OPS
from sympy_einsum.compiler.program import Compilation, Request

m, n, k = symbols("m n k", integer=True, positive=True)
t = symbols("t", real=True)
SIZES = {m: 4, n: 3, k: 2}
X, Y, T = (se.TensorSymbol(name, (m, n)) for name in "XYT")
U, V = se.TensorSymbol("U", (m, k)), se.TensorSymbol("V", (n, k))
A, B = se.TensorSymbol("A", (n, n)), se.TensorSymbol("B", (n, n))
K = se.TensorSymbol("K", (n, n), psd=True)
C = se.TensorSymbol("C", (m, n, k))
D = se.TensorSymbol("D", (m, k, n))
x, y = se.TensorSymbol("x", (n,)), se.TensorSymbol("y", (m,))
Z = se.TensorSymbol("Z", (3,))
c = se.TensorSymbol("c", ())
S = se.einsum("mnk,mlk->mnl", C, C) + se.broadcast_to(se.Delta(n), (m, n, n))
logistic = snp.sum(snp.log(1 + snp.exp(-y * (X @ x))))
factorization = ((T - U @ V.T) ** 2).sum()

# At least one expression for every instruction.
EXPRESSIONS = {
    "argument": x,
    "constant": Z * np.array([1.0, -2.0, 3.0]),
    "scalar": t * sympy.sin(t) + (x @ x) ** 2,
    "elementwise": se.exp(X) * se.tanh(Y) + X**3 + 1 / (1 + Y**2),
    "power": (X**2 + 1) ** se.Delta(1)[0, 0] * (X**2) ** 0.3,
    "transpose": C.transpose(2, 0, 1),
    "index": X[None, 1],
    "cut": X[1:, 0] + t,
    "cut backwards": Z[::-1],
    "diagonal": se.einsum("ii->i", A),
    "diagonal twice": se.einsum("ii,i->i", A, x),
    "reshape": X.reshape(m * n),
    "reshape across": se.outer(Z, Z[:2]).reshape(2, 3),
    "rows": se.outer(x, se.exp(y)) - 2 * se.outer(se.sin(x), y),
    "broadcast": se.broadcast_to(x, (m, n)),
    "sum": X.sum(axis=0) * C.sum(axis=(0, 2)),
    "sum of squares": (X**2).sum(axis=1),
    "multiply": se.einsum("i,j->ij", y, x),
    "add": X - 2 * Y + t,
    "add transposed": A + A.T,
    "dot": X @ A @ x,
    "matmul": se.einsum("mnk,mkl->mnl", C, D),
    "batched vectors": se.einsum("mnk,mk->mn", C, U),
    "several summed": se.einsum("mnk,nk->m", C, V),
    "batch last": se.einsum("mnk,nk->mk", C, V),
    "batch last of matrices": se.einsum("mnk,mlk->nlk", C, C),
    "middle axis": se.einsum("mnk,nl->mlk", C, A),
    "weighted gram": se.hessian(logistic, x),
    "vdot": (X * Y).sum(),
    "einsum": se.einsum("mn,mn->m", X, Y),
    "full": 3 * se.Ones(m, n),
    "full of a value": x.sum() * se.Ones(m),
    "ones": se.Ones(2, m),
    "zeros": se.Zeros(m, n),
    "delta": se.Delta(n),
    "delta of a value": (x @ x) * se.Delta(n),
    "diagonals beside each other": se.hessian((100 * (x[1:] - x[:-1] ** 2) ** 2).sum(), x),
    "delta of order 4": se.Delta(m, n),
    "diagonal matrix": se.diag(se.sin(x)),
    "writable": A @ A + se.diag(x),
    "structured": se.hessian(factorization, U),
    "embedded": se.einsum("ij->iji", A),
    "thrice": se.einsum("i->iii", x),
    "unit": x + se.jacobian(x[1], x),
    "selection": se.jacobian(x[1:], x),
    "slices": [X[1:, ::-1], x[::2], X[::-1][:, 1], x[:-2:3]],
    "placed": [
        se.gradient((X[1:, ::-1] ** 3).sum(), X), se.hessian((x[1:] * x[:-1] ** 2).sum(), x),
        se.hessian((x[::-1] * x**2).sum(), x), x + se.gradient((x[::2] ** 2).sum(), x),
        se.gradient((C[1, :0:-1] ** 3).sum(), C), se.hessian((C[:, 1, :0:-1] ** 3).sum(), C),
    ],
    "spectrum": [
        part for z in (snp.fft.rfft(X), snp.fft.fft(X, axis=0)) for part in (z.real, z.imag)
    ],
    "from spectrum": [
        snp.fft.irfft(se.ComplexTensor(X, Y)),
        se.gradient((abs(snp.fft.rfft(X)) ** 2).sum(), X),
        se.gradient((snp.fft.fft(X).imag ** 3).sum(), X),
        se.gradient((snp.fft.irfft(se.ComplexTensor(X, Y), axis=0) ** 3).sum(), X),
    ],
    "inverse": se.inv(A) * 1,
    "solve": se.inv(A) @ x,
    "solve transposed": x @ se.inv(A) @ B,
    "solve definite": se.inv(K) @ x,
    "one matrix": [
        se.inv(A), se.det(A), x @ se.inv(A) @ x, se.inv(A) @ x, se.inv(A) @ B, B @ se.inv(A),
        sympy.log(se.det(A) ** 2),
    ],
    "one definite matrix": [
        se.inv(K), se.det(K), se.logdet(K), x @ se.inv(K) @ x, se.inv(K) @ B, B @ se.inv(K),
    ],
    "solved for two": [se.inv(A) @ X.T, x @ se.inv(A), se.inv(K) @ X.T, se.inv(K) @ x],
    "adjugate": se.adj(A),
    "cofactors": se.cofactors(A, 2),
    "determinant": se.det(A),
    "log determinant": se.logdet(A) + se.logdet(K),
    "determinant of a diagonal matrix": se.det(se.diag(x)),
    "sign of a determinant": sympy.sign(se.det(A)) * x,
    "log-sum-exp": se.logsumexp(X, axis=None),
    "log softmax": se.log(se.softmax(X, axis=1)) + se.log(se.softmax(Y, axis=0)),
    "log softmax of all": [se.log(se.softmax(X, axis=None)), se.softmax(X, axis=None)],
    "stable": [snp.log(1 - snp.exp(-(X**2))), 1 - snp.exp(X), 1 - se.sigmoid(Y)],
    "log-sum-exp of rows": se.logsumexp(X, axis=1),
    "softmax": se.softmax(x),
    "softmax of rows": se.softmax(X, axis=1),
    "softmax of pairs": se.softmax(C, axis=(0, 2)),
    "both": [se.logsumexp(X, axis=1), se.softmax(X, axis=1), se.logsumexp(x) * se.softmax(x)],
    "sigmoid": se.sigmoid(X) * se.softplus(Y),
    "maximum": se.Max(X, Y) + se.relu(X) + se.Abs(Y) + se.sign(X),
    "choice": snp.where(snp.greater(x, 0), x, x**2) + snp.where(snp.less(x, 0), 0.1, 2),
    "erf": se.erf(x) + se.gamma(x**2 + 1),
    "gamma": se.gamma(x - 1.5) + se.loggamma(2 + x**2),
    "numbers": sympy.sqrt(2) * x + sympy.log(2 * sympy.pi) + se.log(t) * se.Ones(n),
    "a length as a number": (sympy.sqrt(n) * x + snp.std(x)) @ (sympy.log(n) * se.Delta(n)),
    "integers": np.arange(1, 4) @ Z + Z @ np.array([2, 0, 1]),
    "two numbers": se.logaddexp(t, 2) + sympy.Max(t, 1) + sympy.atan2(t, 3) * x,
    "special": [
        special.ndtr(x), special.log_ndtr(x), special.exprel(x), special.xlogy(x**2, 2 + x**2),
        se.gradient(special.log_ndtr(x).sum(), x), se.gradient(special.exprel(x).sum(), x),
        se.gradient(se.sinc(x).sum(), x), np.cbrt(x), np.fmax(x, 0.5), special.entr(x**2),
        se.gradient((x**2).sum() * se.relu(x).sum(), x), special.rel_entr(x**2, 1 + x**2),
    ],
    "power of tensors": se.gradient(((x**2) ** se.sin(x)).sum(), x),
    "a point": se.gradient(
        se.elementwise(lambda u: sympy.Piecewise((1, sympy.Eq(u, 0)), (sympy.sin(u) / u, True)), x)
        .sum(), x
    ),
    "rounding": [
        np.rint(3 * x), np.trunc(3 * x), np.floor(3 * x), np.ceil(3 * x), np.round(x, 1),
        np.mod(x, 0.3), np.fmod(x, 0.3), x // 0.3, 2 % x, 2 // x, np.copysign(1, x),
        np.copysign(X, -Y), np.signbit(x), np.mod(X, Y),
        se.gradient(np.mod(X, Y).sum() + np.fmod(X, Y).sum(), Y), np.sinc(x),
    ],
    "no numbers": [
        np.nan_to_num(np.log(x)), np.where(np.isnan(np.log(X)), Y, X), np.isinf(1 / (x - x[0])),
        np.nansum(np.sqrt(x)), np.nanvar(np.sqrt(x)), np.nan_to_num(1 / (x - x[0]), posinf=2.0),
        se.gradient(np.nansum(np.sqrt(x)), x), np.isposinf(1 / (x - x[0])),
    ],
    "counted": [
        (X > Y).sum(), np.mean(X > Y), np.any(x > 5) * x, np.all(X > Y, axis=0) * x,
        np.isclose(x, x + 1e-9), np.count_nonzero(np.floor(X), axis=1),
        np.logical_xor(X > 0, Y > 0), np.choose([0, 1, 0], [Z, Z**2]),
    ],
    "pieces": [
        np.interp(x, [-1.0, 0.0, 1.0], [2.0, 0.0, 5.0]), np.polyval([1.0, 2.0, 3.0], x),
        np.unwrap(9 * x), np.vander(x, 3), np.trapezoid(X, x), np.cov(X), np.cross(Z, 1 + Z),
        np.linspace(X, Y, 4), np.einsum("ij,ij->j", X[:, :1], X),
        se.gradient(np.interp(x, [-1.0, 0.0, 1.0], [2.0, 0.0, 5.0]).sum(), x),
    ],
    "Bessel": se.besseli(0, x) + se.besseli(1, x),
    "maxima": [
        X.max(axis=1), X.min(), C.max(axis=(0, 2)), se.gradient(X.max(), X),
        se.gradient((C.min(axis=(0, 2)) ** 2).sum(), C), se.argmax(X, axis=0), se.argmin(X),
    ],
    "order": [
        se.sort(X, axis=0), se.argsort(x), se.cummax(X, axis=1), se.argcummin(X), se.median(y),
    ],
    "taken": [X[:, [2, 0, 0]], X[[0, 1, 1], [2, 0, -1]], X[np.arange(8).reshape(2, 4) % 4],
              se.take_along_axis(X, se.argsort(X, axis=0), axis=0), x[se.argmax(x)],
              Z[[True, False, True]]],
    "added at positions": [
        se.gradient((X[:, [2, 0, 0]] ** 2).sum(), X), se.gradient((se.sort(x) ** 2) @ x, x),
        se.gradient((X[[0, 1, 1], [2, 0, -1]] ** 3).sum(), X), se.one_hot([2, 0, -1], n),
        se.gradient((se.cummax(X) ** 2).sum(), X), se.gradient(x[se.argmax(x)] ** 2, x),
        se.gradient((V[[0, 1, 1]] ** 4).sum() + (V[[2, 0]] ** 3).sum(), V),
    ],
    "running": [
        X.cumsum(axis=1), se.gradient((se.cumsum(X[:, ::-1], axis=0) ** 2).sum(), X),
        se.cumsum(X, axis=0)[1:], se.gradient((se.cumsum(x)[:-1] ** 2).sum(), x),
        np.cumulative_sum(x, include_initial=True), se.tri(n, n, -1) @ x,
    ],
    "running products": [
        se.cumprod(X, axis=1), se.gradient((se.cumprod(x) ** 2).sum(), x),
        se.jacobian(se.cumprod(x), x), se.logcumsumexp(X, axis=1),
        se.gradient((se.logcumsumexp(X, axis=0) ** 2).sum(), X),
        se.hessian(se.logcumsumexp(x).sum(), x), se.jvp(se.logcumsumexp(X, axis=1), X, Y),
    ],
    "triangles": [
        se.tri(m, n), se.tri(n) @ se.exp(A), se.tril(A), se.triu(X, 1),
        se.jacobian(se.cumsum(x), x), se.hessian((se.cumsum(x) ** 3).sum(), x),
    ],
    "windows": [
        se.sliding_window_view(X, 2, axis=1), se.windows(X, 2, 1) ** 2, se.convolve(x, y),
        se.gradient((se.sliding_window_view(x, 2) ** 2).sum(), x), se.correlate(y, x),
        se.convolve(y, Z, "valid"), se.convolve(X[:, 0], Z[:2], "same"),
        se.gradient((se.convolve(y, Z) ** 2).sum(), Z),
    ],
    "stacks of matrices": [
        se.inv(S), se.det(S), se.logdet(S), se.inv(S) @ x, se.expm(A),
        se.gradient(se.expm(A).sum(), A), se.matrix_power(A, n),
        se.gradient(se.matrix_power(A, 2 - n).sum(), A),
    ],
    "decompositions": [
        # Up to the signs of vectors, which libraries choose.
        se.eigh(K)[0], abs(se.eigh(K)[1]), abs(se.qr(A)[0]),
        se.svdvals(A), se.cholesky(K), se.eigvalsh(K),
        se.gradient((se.eigvalsh(K) ** 2).sum(), K),
    ],
    "order 0": c * x + c**2,
    "several": [logistic, [se.gradient(logistic, x)], (x, t)],
}  # fmt: skip


# Of what takes a second to compile, that is compiled: at least one of each kind of loop and call.
COMPILED = (
    *("constant", "elementwise", "cut backwards", "diagonal twice", "reshape", "rows", "broadcast"),
    *("sum", "dot", "several summed", "weighted gram", "full of a value", "delta"),
    *("writable", "structured", "slices", "placed", "log softmax", "both"),
    *("softmax of pairs", "maximum", "choice", "integers", "a point", "maxima", "taken"),
    *("order 0", "several"),
)


def arguments_of(exprs):
    flat, stack = [], [exprs]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple)):
            stack += item
        else:
            flat.append(item)
    free = set().union(*[expr.free_symbols for expr in flat])
    known = {s for own in free for length in getattr(own, "shape", ()) for s in [length]}
    lengths = {s for expr in flat for s in _lengths(expr)}
    return sorted(free | (lengths - known), key=str)


def _lengths(expr):
    found = set()
    for node in sympy.preorder_traversal(expr):
        for length in getattr(node, "shape", ()):
            found |= length.free_symbols
    return found


def data_for(arguments, dtype=float, seed=3):
    rng = np.random.default_rng(seed)
    values = []
    for argument in arguments:
        shape = [
            int(sympy.sympify(length).subs(SIZES)) for length in getattr(argument, "shape", ())
        ]
        if argument in SIZES:
            values.append(SIZES[argument])
        elif argument == t:
            values.append(0.7)
        else:
            value = rng.standard_normal(shape)
            if argument in (A, B):
                value += 3 * np.eye(3)
            if argument is K:
                value = value @ value.T + np.eye(3)
            values.append(np.asarray(value, dtype))
    return values


@pytest.fixture(params=EVERY)
def library(request):
    return EVERY[request.param]()


def flattened(value):
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flattened(part)]
    return [value]


def test_there_is_an_expression_for_every_instruction():
    requests = [Request(arguments_of(exprs), exprs) for exprs in EXPRESSIONS.values()]
    plans = [Compilation(request).plan() for request in requests]
    # Loops and solutions, which Dask hasn't, and sparse matrices have tests of their own.
    own = {"loop", "result", "solution", "sparse_matrix"}
    assert {step.op for plan in plans for step in plan.instructions} == set(OPS) - own


# What is no number on purpose warns, as in NumPy.
WARNS = pytest.mark.filterwarnings("ignore::RuntimeWarning")
NAMES = [pytest.param(k, marks=[WARNS] * (k == "no numbers"), id=k) for k in EXPRESSIONS]


@pytest.mark.parametrize("name", NAMES)
def test_values(library, name):
    exprs = EXPRESSIONS[name]
    arguments = arguments_of(exprs)
    data = data_for(arguments)
    expected = flattened(se.lambdify(arguments, exprs)(*data))
    if library.name == "numba" and "spectrum" in name:
        pytest.importorskip("rocket_fft")
    with allowances_for(library.name):
        function = se.lambdify(arguments, exprs, library.name)
        if library.name == "numba" and name not in COMPILED:
            return
        found = flattened(function(*map(library.into, data)))
        for result, value in zip(found, expected, strict=True):
            assert np.shape(result) == np.shape(value)
            np.testing.assert_allclose(library.back(result), value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["elementwise", "structured", "writable", "delta of a value",
                                  "weighted gram", "softmax of rows", "unit", "full of a value",
                                  "solve", "log-sum-exp", "sigmoid"])  # fmt: skip
def test_float32_stays(library, name):
    if library.name == "numba" and name not in ("elementwise", "structured", "log-sum-exp"):
        return
    exprs = EXPRESSIONS[name]
    arguments = arguments_of(exprs)
    data = data_for(arguments, np.float32)
    result = se.lambdify(arguments, exprs, library.name)(*map(library.into, data))
    assert library.back(result).dtype == np.float32


LACKING = {
    "torch": {"Si", "Ci", "Shi", "Chi", "Ei", "airyai", "airybi", "LambertW", "erfi", "fresnels",
              "fresnelc", "besselj 2", "expint 1"},
    "jax": {"Shi", "Chi", "airyai", "airybi", "LambertW", "erfcinv", "erfi", "fresnels", "fresnelc",
            "besselj 2", "besselj 0"},
    "dask": set(),
}  # fmt: skip
SPECIAL = {name: getattr(se, name) for name in (
    "Si", "Ci", "Shi", "Chi", "Ei", "airyai", "airybi", "LambertW", "erf", "erfc", "erfi", "erfinv",
    "erfcinv", "gamma", "loggamma", "digamma", "trigamma", "factorial", "fresnels", "fresnelc",
)}  # fmt: skip
SPECIAL |= {
    "besselj 2": lambda v: se.besselj(2, v), "besselj 0": lambda v: se.besselj(0, v),
    "beta": lambda v: se.beta(v, 2), "zeta": lambda v: se.zeta(3, v), "binomial": lambda v:
    se.binomial(v, 3), "expint 1": lambda v: se.expint(1, v), "gammaln": special.gammaln,
    "betaln": lambda v: special.betaln(v, 0.5), "polygamma": lambda v: se.polygamma(2, v),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LACKING)
@pytest.mark.filterwarnings("ignore")
def test_special_functions_are_there_or_refused_by_name(name):
    library, lacking = EVERY[name](), set()
    points = np.array([1e-3, 0.25, 0.5, 0.75, 0.9375])
    for function, apply in SPECIAL.items():
        try:
            compute = se.lambdify([x], apply(x), name)
        except se.UnsupportedError:
            lacking.add(function)
            continue
        found = compute(library.into(points))
        assert name != "dask" or hasattr(found, "compute")
        expected = se.lambdify([x], apply(x))(points)
        np.testing.assert_allclose(library.back(found), expected, rtol=1e-8, err_msg=function)
    assert lacking == LACKING[name]


def test_stable_far_out(library):
    exprs = [se.sigmoid(x), se.softplus(x), se.logsumexp(x), se.softmax(x), snp.log(1 + snp.exp(x))]
    data = np.array([-800.0, 0.0, 800.0])
    found = se.lambdify([x], exprs, library.name)(library.into(data))
    expected = [[0, 0.5, 1], [0, np.log(2), 800], 800, [0, 0, 1], [0, np.log(2), 800]]
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(library.back(result), value, rtol=1e-12)
    tail = library.back(se.lambdify([x], se.sigmoid(x), library.name)(library.into(data / 20)))
    np.testing.assert_allclose(tail, [np.exp(-40.0), 0.5, 1], rtol=1e-12)


def test_nan_stays_nan(library):
    total = (se.relu(x) + se.Max(x, 1) + se.Abs(x)).sum()
    exprs = [se.sign(x), se.step(x), snp.heaviside(x, 0.5), se.gradient(total, x)]
    found = se.lambdify([x], exprs, library.name)(library.into(np.array([np.nan, -2.0, 3.0])))
    expected = [[np.nan, -1, 1], [np.nan, 0, 1], [np.nan, 0, 1], [np.nan, -1, 3]]
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_array_equal(library.back(result), value)


def test_shapes_are_checked(library):
    compute = se.lambdify([X, x], X @ x, library.name)
    with pytest.raises(se.ShapeError, match=r"argument x has length 2 on axis 0, but n is 3"):
        compute(library.into(np.ones((4, 3))), library.into(np.ones(2)))
    with pytest.raises(se.ShapeError, match="argument X must have order 2"):
        compute(library.into(np.ones(4)), library.into(np.ones(3)))


def test_results_do_not_touch_the_arguments(library):
    exprs = [X, X.T, (T - U @ V.T), X - Y]
    arguments = arguments_of(exprs)
    data = data_for(arguments)
    given = [library.into(value) for value in data]
    se.lambdify(arguments, exprs, library.name)(*given)
    for value, after in zip(data, given, strict=True):
        np.testing.assert_array_equal(library.back(after), value)


INTEGERS = {
    "product": A @ x,
    "product of floats": se.exp(A) @ x,
    "vectors": x @ se.tanh(x),
    "einsum": se.einsum("mnk,mk->mn", C, se.sin(U)),
    "solve": se.inv(A) @ x,
    "sigmoid": se.sigmoid(x) + se.softplus(x) + se.relu(x),
    "logaddexp": se.logaddexp(x, 0.5) + se.Max(x, sympy.Rational(1, 2)) + se.atan2(x, 2),
    "special": se.erf(x) + se.gamma(x),
    "number": t * x + sympy.sqrt(n),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_and_mixed_types(library, name):
    """All backends promote types as NumPy does."""
    if library.name == "numba" and name not in ("product", "einsum", "number"):
        return
    arguments = [A, x, C, U, t]
    integers = [np.round(value) for value in data_for(arguments)]
    given = [np.array(3 + abs(value), int) for value in integers[:-1]]
    given[0] += 5 * np.eye(3, dtype=int)
    compute = se.lambdify(arguments, INTEGERS[name], library.name)
    reference = se.lambdify(arguments, INTEGERS[name])
    for kind in (int, np.float32, float):
        data = [*given[:1], *[value.astype(kind) for value in given[1:]], 2]
        found, expected = compute(*map(library.into, data)), reference(*data)
        # torch makes single precision of integers.
        np.testing.assert_allclose(library.back(found), expected, rtol=1e-5)


# --- names ----------------------------------------------------------------------------------------


def free_names(source):
    """Return the free names of the last function of a source."""
    function = ast.parse(source).body[-1]
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {
        argument.arg
        for node in ast.walk(function)
        if isinstance(node, (ast.FunctionDef, ast.Lambda))
        for argument in [*node.args.args, *[own for own in [node.args.vararg] if own]]
    }
    return {node.id for node in names} - own, own


SIZE_NAMES = {str(length) for length in SIZES}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_name_that_code_uses_is_reserved(backend):
    reserved = RESERVED | BACKENDS[backend].reserved()
    for exprs in EXPRESSIONS.values():
        arguments = arguments_of(exprs)
        with allowances_for(backend):
            found, own = free_names(se.codegen(arguments, exprs, backend))
            names = {"X", *SIZE_NAMES, *(argument.name for argument in arguments)}
            assert not {name for name in found - reserved if not re.fullmatch(r"fused\d+", name)}
            assert {
                name
                for name in own - names
                if not re.fullmatch(r"t\d+|_|_\d+_\d+|_constant\d+", name)
            } <= reserved


@pytest.mark.slow
@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "cupy"])
def test_tensors_may_have_any_name(backend):
    library = LIBRARIES[backend]()
    values = np.array([[3.0, 1.0], [0.5, 2.0]])
    given = library.into(values)

    def exprs(M, v):
        return [
            se.relu(M) + se.logaddexp(M, 1) + se.atan2(M, 2) + snp.heaviside(M, 0.5) + se.gamma(M),
            se.inv(M) @ v + se.einsum("ii->i", M) + se.softmax(M, axis=1) @ v,
            se.adj(M),
            se.logdet(M),
            sympy.sqrt(n) * v,
            snp.where(snp.greater(M, 1), M, 2),
        ]

    plain = se.TensorSymbol("X", (n, n)), se.TensorSymbol("x", (n,))
    expected = se.lambdify(plain, exprs(*plain))(values, values[0])
    for name in sorted(RESERVED | BACKENDS[backend].reserved() | {"sum", "max", "list", "print"}):
        named = se.TensorSymbol(name, (n, n)), se.TensorSymbol(f"{name}_", (n,))
        found = se.lambdify(named, exprs(*named), backend)(given, given[0])
        for result, value in zip(found, expected, strict=True):
            np.testing.assert_allclose(library.back(result), value, rtol=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_may_not_take_a_name_that_its_code_uses(backend):
    for name in BACKENDS[backend].reserved():
        with pytest.raises(se.TensorError, match="name of a function"):
            se.codegen([x], se.exp(x), backend, name=name)


def test_complex(library):
    data = [np.array([[1 + 2j, 3.0], [0.5j, 1.0]]), np.array([1.0, 2j])]
    result = se.lambdify([A, x], [A @ x, se.exp(x) * x], library.name)(*map(library.into, data))
    np.testing.assert_allclose(library.back(result[0]), data[0] @ data[1])
    np.testing.assert_allclose(library.back(result[1]), np.exp(data[1]) * data[1])


# --- one library each -----------------------------------------------------------------------------


def test_jax_transforms():
    jax = LIBRARIES["jax"]().module
    function = se.lambdify([X, y, x], [logistic, se.gradient(logistic, x)], "jax")
    data = data_for([X, y, x])
    value, derivative = jax.jit(function)(*data)
    by_jax = jax.grad(lambda w: function(data[0], data[1], w)[0])(jax.numpy.asarray(data[2]))
    np.testing.assert_allclose(derivative, by_jax, rtol=1e-10)
    batch = np.stack([data[2], 2 * data[2]])
    values, _ = jax.vmap(lambda w: function(data[0], data[1], w))(batch)
    np.testing.assert_allclose(values[0], value)
    hessian = se.lambdify([T, U, V], se.hessian(factorization, U), "jax")
    assert jax.jit(hessian)(*data_for([T, U, V])).shape == (4, 2, 4, 2)


def test_torch_keeps_device_and_gradients():
    torch = LIBRARIES["torch"]().module
    function = se.lambdify([X, y, x], logistic, "torch")
    data = [torch.from_numpy(value) for value in data_for([X, y, x])]
    data[2].requires_grad_(True)
    function(*data).backward()
    derivative = se.lambdify([X, y, x], se.gradient(logistic, x))(*data_for([X, y, x]))
    np.testing.assert_allclose(data[2].grad.numpy(), derivative, rtol=1e-10)
    meta = [torch.empty(4, 3, device="meta"), torch.empty(3, device="meta")]
    assert se.lambdify([X, x], X @ x, "torch")(*meta).device.type == "meta"


def test_torch_compiles_whole_functions():
    """Each is one graph. PyTorch keeps what it traced by code objects, which functions that call
    the same helper functions must not share."""
    torch = LIBRARIES["torch"]().module
    m, n = symbols("m n", integer=True, positive=True)
    X, y, w = se.TensorSymbol("X", m, n), se.TensorSymbol("y", m), se.TensorSymbol("w", n)
    loss = se.log(1 + se.exp(-y * (X @ w))).sum()
    soft = se.logsumexp(X @ w) + (X**2).sum(axis=0).max()
    spread = w @ se.inv(X.T @ X) @ w + se.logdet(X.T @ X)
    random = np.random.default_rng(0)
    data = [random.standard_normal(shape) for shape in ((7, 5), (7,), (5,))]
    for value in (loss, soft, spread):
        exprs = [value, se.gradient(value, w), se.hessian(value, w)]
        function = se.lambdify([X, y, w], exprs, "torch")
        compiled = torch.compile(function, backend="eager", fullgraph=True)
        found = compiled(*map(torch.from_numpy, data))
        expected = se.lambdify([X, y, w], exprs)(*data)
        for own, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-12)


def test_dask_is_lazy_and_chunked():
    array = LIBRARIES["dask"]().module
    rows = array.ones((10000, 20), chunks=(1000, 20))
    labels = array.ones(10000, chunks=1000)
    compute = se.lambdify([X, y, x], [logistic, se.gradient(logistic, x)], "dask")
    value, derivative = compute(rows, labels, array.zeros(20))
    assert isinstance(derivative, array.Array)
    np.testing.assert_allclose(value.compute(), 10000 * np.log(2))
    np.testing.assert_allclose(derivative.compute(), -5000 * np.ones(20))
    residual = se.lambdify([X, x, y], X @ x - y, "dask")(rows, array.ones(20), labels)
    assert max(residual.chunks[0]) == 1000


def test_dask_solves_without_the_inverse():
    """By an inverse of this matrix ten more digits would be lost."""
    array = LIBRARIES["dask"]().module
    matrix = 1 / (np.arange(8)[:, None] + np.arange(8) + 1)
    right = matrix @ np.ones((8, 3))
    solve = se.lambdify([A, X], A.inv() @ X.T, "dask")
    found = solve(array.from_array(matrix, 3), array.from_array(right.T, (2, 3)))
    np.testing.assert_allclose(matrix @ found.compute(), right, atol=1e-14)
    assert found.chunks == ((8,), (2, 1))


def test_a_minus_is_of_the_product_and_not_of_a_matrix():
    jax = pytest.importorskip("jax")
    function = se.lambdify([X, y, x], -(X.T @ (X @ x * y)), "jax")
    steps = jax.make_jaxpr(function)(*data_for([X, y, x])).jaxpr.eqns
    assert [step.outvars[0].aval.ndim for step in steps if step.primitive.name == "neg"] == [1]


def test_dask_takes_stacks_chunk_by_chunk(monkeypatch):
    """Matrices become one chunk, stacks keep theirs, and all factors of a decomposition are
    computed once."""
    array = LIBRARIES["dask"]().module
    stack = se.TensorSymbol("G", 5, 3, 3)
    numbers = np.random.default_rng(2).standard_normal((5, 3, 3))
    numbers += numbers.swapaxes(1, 2)
    calls = []
    eigh = np.linalg.eigh

    def watched(X):
        calls.append(X.shape)
        return eigh(X)

    monkeypatch.setattr(np.linalg, "eigh", watched)
    values, vectors = se.lambdify([stack], se.eigh(stack), "dask")(
        array.from_array(numbers, chunks=(2, 2, 2))
    )
    assert (values.chunks, vectors.chunks) == (((2, 2, 1), (3,)), ((2, 2, 1), (3,), (3,)))
    found = array.compute(values, vectors, scheduler="synchronous")
    np.testing.assert_allclose(found[0], eigh(numbers)[0])
    assert sorted(calls) == [(1, 3, 3), (2, 3, 3), (2, 3, 3)]
    second = se.TensorSymbol("B", 2, 5, 3, 1)
    columns = np.arange(30.0).reshape(2, 5, 3, 1)
    chunks = array.from_array(numbers, chunks=2), array.from_array(columns, chunks=1)
    found = se.lambdify([stack, second], np.linalg.solve(stack, second), "dask")(*chunks)
    np.testing.assert_allclose(found.compute(), np.linalg.solve(numbers, columns))


def test_dask_on_a_cluster():
    pytest.importorskip("distributed")
    array = LIBRARIES["dask"]().module
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((2000, 5)), np.sign(rng.standard_normal(2000))
    weights = rng.standard_normal(5)
    exprs = [logistic, se.gradient(logistic, x), se.hessian(logistic, x)]
    chunks = [array.from_array(rows, (500, 5)), array.from_array(labels, 500)]
    lazy = se.lambdify([X, y, x], exprs, "dask")(*chunks, array.from_array(weights))
    with (
        LocalCluster(2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        found = client.gather(client.compute(lazy))
    expected = se.lambdify([X, y, x], exprs)(rows, labels, weights)
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-9)


# --- CuPy without a GPU ---------------------------------------------------------------------------


def cupy_names():
    """Return the names that CuPy has, by path; from the library, or from a stored list."""
    try:
        cupy = importlib.import_module("cupy")
        special = importlib.import_module("cupyx.scipy.special")
    except ImportError:
        return set((Path(__file__).parents[2] / "data" / "cupy_names.txt").read_text().split())
    found = {f"cp.{name}" for name in dir(cupy)}
    found |= {f"cp.linalg.{name}" for name in dir(cupy.linalg)}
    found |= {f"cp.fft.{name}" for name in dir(cupy.fft)}
    found |= {f"cp.add.{name}" for name in dir(cupy.add)}
    return found | {f"special.{name}" for name in dir(special)}


def names_in(source):
    """Return the attribute chains that start at CuPy's namespaces."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            path, inner = node.attr, node.value
            while isinstance(inner, ast.Attribute):
                path, inner = f"{inner.attr}.{path}", inner.value
            if isinstance(inner, ast.Name) and inner.id in ("cp", "special"):
                found.add(f"{inner.id}.{path}")
    return found


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_cupy_has_the_names(name):
    arguments = arguments_of(EXPRESSIONS[name])
    source = _cupy_source(arguments, EXPRESSIONS[name])
    assert names_in(source) <= cupy_names()
    assert "np." not in source.replace("cp.", "").replace("from cupyx", "")


@pytest.mark.parametrize("name", SPECIAL)
def test_cupy_has_the_special_functions_or_refuses_them_by_name(name):
    try:
        source = _cupy_source([x], SPECIAL[name](x))
    except se.UnsupportedError as error:
        assert "backend 'cupy' has no function" in str(error)  # noqa: PT017
        return
    assert names_in(source) <= cupy_names()
    assert "None(" not in source


def _cupy_source(arguments, exprs):
    return se.codegen(arguments, exprs, "cupy")


def writable(view):
    view.setflags(write=True)
    return view


@pytest.mark.parametrize("name", NAMES)
def test_cupy_code_on_numpy(name):
    """Run the generated text with NumPy in place of CuPy."""
    arguments = arguments_of(EXPRESSIONS[name])
    source = _cupy_source(arguments, EXPRESSIONS[name])
    special = pytest.importorskip("scipy.special")
    stand_in = SimpleNamespace(**vars(np), fuse=lambda: lambda function: function)
    # NumPy's diagonals are views that can't be written to unless told so.
    source = re.sub(r"^( +)(\S.*diagonal.*)\[\.\.\.\]", r"\1writable(\2)[...]", source, flags=re.M)
    lines = [line for line in source.splitlines() if not line.startswith(("import", "from"))]
    namespace = {"cp": stand_in, "special": special, "writable": writable, "cupy_linalg": linalg}
    exec("\n".join(lines), namespace)
    data = data_for(arguments)
    found = flattened(namespace["function"](*data))
    expected = flattened(se.lambdify(arguments, EXPRESSIONS[name])(*data))
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_cupy_code_imports_and_defines_its_names(name):
    source = _cupy_source(arguments_of(EXPRESSIONS[name]), EXPRESSIONS[name])
    tree = ast.parse(source)
    known = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.ExceptHandler):
            known.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert used <= known


def test_cupy_fuses_a_chain():
    source = _cupy_source([X, Y], se.exp(-(X**2)) * Y + 2 * X)
    assert source.count("@cp.fuse()") == 1
    body = source[source.index("def function") :]
    assert "cp.exp" not in body
    assert body.count("fused0(") == 1


# --- backend="auto" -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["numpy", "jax", "torch", "dask"])
def test_auto_follows_the_arguments(name):
    library = LIBRARIES[name]()
    function = se.lambdify([X, x], X @ x, "auto")
    result = function(*[library.into(value) for value in data_for([X, x])])
    assert type(result).__module__.partition(".")[0] in (name, "jaxlib")
    np.testing.assert_allclose(library.back(result), np.matmul(*data_for([X, x])))


def test_auto_refuses_a_mixture():
    jax, torch = LIBRARIES["jax"](), LIBRARIES["torch"]()
    data = data_for([X, x])
    with pytest.raises(se.TensorError, match="jax and torch"):
        se.lambdify([X, x], X @ x, "auto")(jax.into(data[0]), torch.into(data[1]))


def output(code):
    run = subprocess.run(
        [sys.executable, "-c", "import sys, sympy_einsum as se\n" + code],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    return run.stdout.split()


def test_no_library_is_loaded_before_its_code_runs():
    code = (
        "from sympy_einsum.compiler.backends import BACKENDS\n"
        "x = se.TensorSymbol('x', (3,))\n"
        "for name in BACKENDS:\n"
        "    se.codegen([x], se.gradient(se.sigmoid(x).sum(), x), name)\n"
        "se.lambdify([x], x, 'auto')\n"
        "print(*{'scipy', 'jax', 'torch', 'cupy', 'dask'} & set(sys.modules))"
    )
    assert output(code) == []


def test_a_backend_is_loaded_when_it_is_first_asked_for():
    code = (
        "x = se.TensorSymbol('x', (3,))\n"
        "for name in ('numpy', 'jax'):\n"
        "    se.codegen([x], se.exp(x), name)\n"
        "print(*[name for name in sys.modules if name.startswith('sympy_einsum.compiler')])"
    )
    loaded = [name.rpartition(".")[2] for name in output(code)]
    found = [name for name in loaded if name.endswith("_backend")]
    assert found == ["numpy_backend", "jax_backend"]
