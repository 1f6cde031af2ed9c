"""Generated C and Fortran: compiled in one shared library each, compared with NumPy."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pytest
import sympy as sp

import sympy_einsum as se
from sympy_einsum.compiler.emit.languages import LANGUAGES as SPELLED
from sympy_einsum.compiler.runtime.language_helpers import needed_parts

FLAGS = {
    "c": ["gcc", "-Wall", "-Werror", "-std=c99"],
    "fortran": ["gfortran", "-Wall", "-Werror", "-std=f2008", "-fopenmp-simd"],
}
# Where both are conditional, gfortran can't see that an array is allocated or a number is set; it
# warns of functions with effects, which errors are tested by.
FLAGS["fortran"] += ["-Wno-maybe-uninitialized", "-Wno-uninitialized", "-Wno-function-elimination"]
FLAGS["fortran"] += ["-Wno-unused-dummy-argument"]
ENDINGS = {"c": "c", "fortran": "f90"}
LANGUAGES = [*FLAGS]


def needs(language):
    """Skip a test where there is no compiler."""
    if shutil.which(FLAGS[language][0]) is None:
        pytest.skip(f"{FLAGS[language][0]} isn't installed")


n, m, k, T = sp.symbols("n m k T", integer=True, positive=True)
c = sp.Symbol("c")
A, B, S, R = [
    se.TensorSymbol(*own) for own in (("A", (n, m)), ("B", (m, k)), ("S", (n, n)), ("R", (n, n)))
]
x, y, z = se.TensorSymbol("x", m), se.TensorSymbol("y", n), se.TensorSymbol("z", k)
C, D = se.TensorSymbol("C", (n, m, k)), se.TensorSymbol("D", (n, n, m))
P = se.TensorSymbol("P", (n, n), psd=True)
at = se.TensorSymbol("at", k)
long = se.TensorSymbol("long", n + 1)
U = se.TensorSymbol("U", (T, n))
W = se.TensorSymbol("W", (n, n))
DD, EE = se.TensorSymbol("DD", (T, n, n)), se.TensorSymbol("EE", (T, n, k))


def network():
    last, states = se.scan(lambda h, u: (se.tanh(W @ h + u),) * 2, y, U)
    return last, states


def newton_steps():
    return se.scan(lambda v, t: (v - (v**2 - c) / (2 * v), v), c, length=T)


def together():
    (a, b), both = se.scan(lambda ab, u: ((ab[1] + u, ab[0]), ab[0] * u), (y, 2 * y), U)
    return a, b, both


def nested():
    def outer(h, u):
        inner, _ = se.scan(lambda g, v: (se.sin(g) + v * u, None), h, x)
        return inner, inner.sum()

    return se.scan(outer, y, U)


def from_zero():
    total, sums = se.scan(lambda s, u: (s + u.sum() ** 2, s), sp.Integer(0), U)
    return total, sums, se.gradient(total**2, U)


def run_from_zero(U):
    squares = U.sum(1) ** 2
    sums = np.concatenate([[0.0], squares.cumsum()])
    return sums[-1], sums[:-1], np.outer(4 * sums[-1] * U.sum(1), np.ones(U.shape[1]))


def walk():
    return se.scan(lambda s, u: (s + x[0] * u[0], s), 1, U)


def unused():
    (total, _), _ = se.scan(lambda ab, u: ((ab[0] + u.sum(), ab[1]), None), (0, 1), U)
    return total


def run_walk(x, U):
    steps = x[0] * U[:, 0]
    sums = np.concatenate([[1.0], 1 + steps.cumsum()])
    return sums[-1], sums[:-1]


def softmax(X, axis=-1):
    E = np.exp(X - X.max(axis, keepdims=True)) if X.size else X
    return E / E.sum(axis, keepdims=True)


def run_network(W, y, U):
    states = [y]
    for u in U:
        states.append(np.tanh(W @ states[-1] + u))
    return states[-1], np.array(states[1:]).reshape(U.shape)


@dataclass
class Case:
    """Arguments, expressions, and the function of NumPy's that computes them; None for our own
    code for NumPy."""

    args: Any
    exprs: Any
    oracle: Any = None

    @property
    def listed(self):
        return [*self.exprs] if isinstance(self.exprs, (list, tuple)) else [self.exprs]

    def values(self, arrays):
        compute = self.oracle or se.lambdify(self.args, self.exprs)
        found = compute(*arrays)
        return [*found] if isinstance(self.exprs, (list, tuple)) else [found]


logistic = (se.log(1 + se.exp(A @ x)) * y).sum()
evidence = se.logdet(P) + y @ se.solve(P, y)
quartic = ((A @ x) ** 4).sum()

CASES = {
    # Entrywise functions.
    "elementwise": Case(
        [x],
        se.exp(x) + se.sin(x) ** 2 / (1 + x**2),
        lambda x: np.exp(x) + np.sin(x) ** 2 / (1 + x**2),
    ),
    "powers": Case([x, c], [x**3, x**7, se.sqrt(1 + x**2), c**x, x / 3], None),
    "special": Case(
        [x], [se.erf(x), se.gammaln(1 + x**2), se.tanh(x), se.sigmoid(x), se.softplus(x)]
    ),
    "inverse functions": Case(
        [x],
        [se.atan(x), se.asinh(x), se.log(1 + x**2), se.exp(x) - 1, se.cosh(x)],
        lambda x: [np.arctan(x), np.arcsinh(x), np.log1p(x**2), np.expm1(x), np.cosh(x)],
    ),
    "choices": Case(
        [x, c],
        [abs(x), se.sign(x), se.Max(x, c), se.where(x > c, x, -x), se.relu(x)],
        lambda x, c: [abs(x), np.sign(x), np.maximum(x, c), np.where(x > c, x, -x), x * (x > 0)],
    ),
    "rounding": Case(
        [x],
        [se.floor(x), se.ceiling(x), se.floor_divide(x, 0.3), x % 0.7],
        lambda x: [np.floor(x), np.ceil(x), np.floor_divide(x, 0.3), np.remainder(x, 0.7)],
    ),
    "broadcast": Case([A, x, y], A * x[None, :] + y[:, None], lambda A, x, y: A * x + y[:, None]),
    "scalars": Case([c], [c**2 + 1, sp.sin(c) / 3], lambda c: [c**2 + 1, np.sin(c) / 3]),
    # Sums and products.
    "sums": Case(
        [C],
        [C.sum(), C.sum(0), C.sum((0, 2)), C.sum(2), (C**2).sum(1)],
        lambda C: [C.sum(), C.sum(0), C.sum((0, 2)), C.sum(2), (C**2).sum(1)],
    ),
    "means": Case([A], [A.mean(), A.T.mean(1)], lambda A: [A.mean(), A.mean(0)]),
    "products": Case(
        [A, B, x],
        [A @ B, A @ x, A.T @ A, A @ A.T],
        lambda A, B, x: [A @ B, A @ x, A.T @ A, A @ A.T],
    ),
    "transposes": Case(
        [A, B, y], [B.T @ A.T, y @ A, A.T @ y], lambda A, B, y: [(A @ B).T, y @ A, y @ A]
    ),
    "einsum": Case(
        [C, A, z],
        [
            se.einsum("ijk,ij->ik", C, A),
            se.einsum("ijk,k->ji", C, z),
            se.einsum("ijk,ij,k->", C, A, z),
        ],
        lambda C, A, z: [
            np.einsum("ijk,ij->ik", C, A),
            np.einsum("ijk,k->ji", C, z),
            np.einsum("ijk,ij,k->", C, A, z),
        ],
    ),
    "stacks": Case(
        [C, A],
        se.einsum("ijk,jl->ilk", C, A.T @ A),
        lambda C, A: np.einsum("ijk,jl->ilk", C, A.T @ A),
    ),
    "traces": Case(
        [S, D],
        [se.trace(S), se.einsum("iij->j", D), se.einsum("iij->ij", D)],
        lambda S, D: [np.trace(S), np.einsum("iij->j", D), np.einsum("iij->ij", D)],
    ),
    "deltas": Case(
        [x, y],
        [se.diag(x), se.outer(x, y), se.eye(m) + se.outer(x, x)],
        lambda x, y: [np.diag(x), np.outer(x, y), np.eye(len(x)) + np.outer(x, x)],
    ),
    "kronecker": Case([A, B], se.kron(A, B), np.kron),
    # Slices and positions.
    "slices": Case(
        [long, A],
        [long[1:] - long[:-1], A[::-1, 1:], A[0], A[:, -1]],
        lambda v, A: [np.diff(v), A[::-1, 1:], A[0], A[:, -1]],
    ),
    "gathers": Case(
        [A, at], [A[:, at], (A[:, at] ** 2).sum()], lambda A, at: [A[:, at], (A[:, at] ** 2).sum()]
    ),
    "scatters": Case([x, z, at], se.gradient((x[at] * z).sum() ** 2, x)),
    "concatenation": Case(
        [x, y], se.concatenate([x, y, x]), lambda x, y: np.concatenate([x, y, x])
    ),
    "reshape": Case([A], A.reshape(m, n), lambda A: A.reshape(A.shape[::-1])),
    "constants": Case(
        [se.TensorSymbol("v", 3)],
        se.TensorSymbol("v", 3) * np.array([1.5, -2.0, 0.25]),
        lambda v: v * np.array([1.5, -2.0, 0.25]),
    ),
    "windows": Case(
        [long, se.TensorSymbol("w", 2)],
        se.correlate(long, se.TensorSymbol("w", 2), "valid"),
        lambda v, w: v[:-1] * w[0] + v[1:] * w[1],
    ),
    # Reductions other than sums.
    "extrema": Case(
        [A],
        [A.max(), A.min(0), A.max(1), A.argmax(1)],
        lambda A: [A.max(), A.min(0), A.max(1), A.argmax(1)],
    ),
    "softmax": Case(
        [A],
        [se.softmax(A, axis=1), se.softmax(A, axis=0)],
        lambda A: [softmax(A), softmax(A, 0)],
    ),
    "logsumexp": Case(
        [A],
        [se.logsumexp(A, axis=None), se.logsumexp(A, axis=1)],
        lambda A: [np.log(np.exp(A).sum()), np.log(np.exp(A).sum(1))],
    ),
    "running": Case(
        [A],
        [se.cumsum(A, 0), se.cumsum(A, 1), se.cumprod(A, 1)],
        lambda A: [A.cumsum(0), A.cumsum(1), A.cumprod(1)],
    ),
    "running sums back": Case([x], se.gradient((se.cumsum(x) ** 3).sum(), x)),
    "running products back": Case([x], se.gradient(se.cumprod(x).sum(), x)),
    "triangles": Case([S], [se.tril(S), se.triu(S, 1)], lambda S: [np.tril(S), np.triu(S, 1)]),
    # Matrices.
    "inverse": Case(
        [S, y],
        [se.inv(S), se.solve(S, y), se.solve(S.T, y)],
        lambda S, y: [np.linalg.inv(S), np.linalg.solve(S, y), np.linalg.solve(S.T, y)],
    ),
    "several right-hand sides": Case([S, A], se.solve(S, A), np.linalg.solve),
    "determinants": Case(
        [S], [se.det(S), se.logdet(S)], lambda S: [np.linalg.det(S), np.linalg.slogdet(S)[1]]
    ),
    "cofactors": Case(
        [S], se.gradient(se.det(S), S), lambda S: np.linalg.det(S) * np.linalg.inv(S).T
    ),
    "definite": Case(
        [P, y],
        [evidence, se.inv(P)],
        lambda P, y: [np.linalg.slogdet(P)[1] + y @ np.linalg.solve(P, y), np.linalg.inv(P)],
    ),
    "evidence": Case(
        [P, y],
        se.gradient(evidence, P),
        lambda P, y: np.linalg.inv(P) - np.outer(np.linalg.solve(P, y), np.linalg.solve(P, y)),
    ),
    "each matrix": Case(
        [DD, EE],
        [se.inv(DD), se.det(DD), se.logdet(DD), se.solve(DD, EE), DD @ EE],
        lambda D, E: [
            np.linalg.inv(D),
            np.linalg.det(D),
            np.linalg.slogdet(D)[1],
            np.linalg.solve(D, E),
            D @ E,
        ],
    ),
    "matrix powers": Case(
        [S],
        [se.matrix_power(S, 9), se.matrix_power(S, -3)],
        lambda S: [np.linalg.matrix_power(S, 9), np.linalg.matrix_power(S, -3)],
    ),
    "Cholesky": Case([P], se.cholesky(P), np.linalg.cholesky),
    "running log-sum-exps": Case(
        [A, x],
        [se.logcumsumexp(A, axis=1), se.gradient(se.logcumsumexp(100 * x).sum(), x)],
        None,
    ),
    "running log-sum-exps beyond range": Case(
        [x], [se.logcumsumexp(900 * x), se.gradient((se.logcumsumexp(900 * x) ** 2).sum(), x)]
    ),
    # Derivatives.
    "logistic gradient": Case(
        [A, x, y],
        [logistic, se.gradient(logistic, x)],
        lambda A, x, y: [(np.log1p(np.exp(A @ x)) * y).sum(), A.T @ (y / (1 + np.exp(-A @ x)))],
    ),
    "logistic Hessian": Case([A, x, y], se.hessian(logistic, x)),
    "quartic Hessian": Case(
        [A, x], se.hessian(quartic, x), lambda A, x: A.T @ np.diag(12 * (A @ x) ** 2) @ A
    ),
    "softmax Jacobian": Case(
        [x],
        se.jacobian(se.softmax(x), x),
        lambda x: np.diag(softmax(x)) - np.outer(softmax(x), softmax(x)),
    ),
    "entropy Hessian": Case([A, x], se.hessian(se.logsumexp(A @ x), x)),
    "mixed Hessian": Case([A, B], se.hessian(((A @ B) ** 2).sum(), A)),
    "maximum gradient": Case([A], se.gradient(A.max(1).sum(), A)),
    # Loops.
    "loop": Case([W, y, U], network(), run_network),
    "loop gradient": Case([W, y, U], se.gradient((network()[1] ** 2).sum(), W)),
    "loop Hessian product": Case(
        [W, y, U, R], se.einsum("ijkl,kl->ij", se.hessian((network()[0] ** 2).sum(), W), R)
    ),
    "loop of numbers": Case([c, se.TensorSymbol("t", T)], newton_steps()),
    "loop from 0": Case([U], from_zero(), run_from_zero),
    "loop from 1": Case([x, U], walk(), run_walk),
    "loop with a number unused": Case([U], unused()),
    "loop of two": Case([y, U], together()),
    "loop in a loop": Case([x, y, U], nested()),
}
LENGTHS = [
    {n: 5, m: 3, k: 4, T: 6},
    {n: 2, m: 7, k: 1, T: 3},
    {n: 1, m: 1, k: 2, T: 1},
]
# Lengths beyond those of the blocks of products and factors.
LARGE = {n: 70, m: 90, k: 65, T: 2}
BLOCKED = {"products", "transposes", "inverse", "several right-hand sides", "definite", "evidence"}
BLOCKED |= {"determinants", "logistic Hessian", "sums", "softmax", "loop gradient"}


def arrays_of(case, lengths, rng):
    """Return random arguments."""
    found = []
    for symbol in case.args:
        shape = tuple(int(own.subs(lengths)) for own in getattr(symbol, "shape", ()))
        if symbol is at:
            found.append(rng.integers(0, min(lengths[m], lengths[m]), shape))
        elif not shape and not hasattr(symbol, "shape"):
            found.append(0.75)
        else:
            value = rng.normal(size=shape) / max(1, shape[-1]) ** 0.5
            if symbol is P:
                value = value @ value.T + np.eye(len(value))
            elif symbol in (S, W, DD):
                value = value + np.eye(value.shape[-1])
            found.append(value)
    return found


def joined(language, texts):
    """Return one text with the functions of several units, whose helper functions are alike."""
    if language == "c":
        units = [text.partition("*/\n\n")[2] for text in texts.values()]
        return "\n\n".join(dict.fromkeys(part for unit in units for part in unit.split("\n\n")))
    first, *_ = texts.values()
    head = first[first.index("\nmodule ") :].partition("\n\n")[0].splitlines()[:-1]
    bodies = [text.partition("public :: ")[2].partition("\n\n")[2] for text in texts.values()]
    blocks = []
    for side in (0, 2):
        found = {}
        for body in bodies:
            for part in (
                body.rpartition("end module")[0].partition("contains\n")[side].split("\n\n")
            ):
                found[part.strip("\n")] = None
        blocks.append("\n\n".join(found))
    head += [f"public :: {own}" for own in texts]
    return "\n".join([*head, blocks[0], "contains", blocks[1], "end module"])


class Library:
    """Functions in one shared library."""

    def __init__(self, language, path, texts, flags=()):
        self.language, self.texts = language, texts
        file = f"all.{ENDINGS[language]}"
        (path / file).write_text(joined(language, texts))
        command = [*FLAGS[language], "-O1", *flags, "-shared", "-fPIC", "-o", "all.so", file, "-lm"]
        done = subprocess.run(command, cwd=path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        self.library = ctypes.CDLL(str(path / "all.so"))

    def call(self, own, case, arrays, shapes):
        """Call a function; return the error code and the results."""
        text = self.texts[own]
        start = f"int {own}(" if self.language == "c" else f"subroutine {own}("
        prototype = text[text.index(start) :].partition(")")[0].partition("(")[2].replace("&", "")
        parameters = [parameter.split()[-1] for parameter in prototype.split(",")]
        known = {}
        for symbol, value in zip(case.args, arrays, strict=True):
            for axis, length in enumerate(getattr(symbol, "shape", ())):
                known.setdefault(str(length), value.shape[axis])
                if length == n + 1:
                    known.setdefault("n", value.shape[axis] - 1)
        count = len(parameters) - len(arrays) - len(shapes) - (self.language == "fortran")
        # In Fortran a length T has another name beside an array t.
        lengths = [
            known.get(name, [*known.values()][k]) for k, name in enumerate(parameters[:count])
        ]
        results, given = [], [*map(ctypes.c_int64, lengths)]
        for symbol, value in zip(case.args, arrays, strict=True):
            if np.ndim(value):
                value = np.ascontiguousarray(value, np.int64 if symbol is at else float)
                results.append(value)
                given.append(ctypes.c_void_p(value.ctypes.data))
            else:
                is_place = isinstance(value, int)
                given.append((ctypes.c_int64 if is_place else ctypes.c_double)(value))
        kept, results = results, []  # The arguments stay alive.
        for place, shape in enumerate(shapes):
            # Filled with what isn't a result, so that each entry must be written.
            described = text.partition(f"result{place} : ")[2].partition("\n")[0]
            kind = np.int64 if "integer" in described else float
            results.append(np.full(shape, -777, kind))
            given.append(ctypes.c_void_p(results[-1].ctypes.data))
        function = getattr(self.library, own)
        if self.language == "c":
            error = function(*given)
        else:
            code = ctypes.c_int(-1)
            function(*given, ctypes.byref(code))
            error = code.value
        del kept
        return error, results


def names_of(cases):
    return {name: f"f{place}" for place, name in enumerate(cases)}


def texts_of(cases, language):
    return {
        own: se.codegen(cases[name].args, cases[name].exprs, name=own, language=language)
        for name, own in names_of(cases).items()
    }


@pytest.fixture(scope="module", params=LANGUAGES)
def library(request, tmp_path_factory):
    needs(request.param)
    texts = texts_of(CASES, request.param)
    return Library(request.param, tmp_path_factory.mktemp(request.param), texts)


@pytest.mark.parametrize("name", CASES)
def test_values(library, name):
    case = CASES[name]
    rng = np.random.default_rng(7)
    for lengths in [*LENGTHS, *[LARGE] * (name in BLOCKED)]:
        arrays = arrays_of(case, lengths, rng)
        expected = [np.asarray(own) for own in case.values(arrays)]
        shapes = [own.shape for own in expected]
        error, found = library.call(names_of(CASES)[name], case, arrays, shapes)
        assert error == 0
        for own, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(own, other, rtol=2e-9, atol=1e-10)


EMPTY = [{n: 0, m: 3, k: 2, T: 2}, {n: 4, m: 0, k: 2, T: 2}, {n: 2, m: 3, k: 0, T: 0}]
# The oracles of NumPy's that need entries.
NEEDS_ENTRIES = {"logsumexp", "softmax", "softmax Jacobian", "kronecker"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lengths", EMPTY, ids=str)
def test_lengths_of_0(library, lengths):
    rng = np.random.default_rng(8)
    for name, own in names_of(CASES).items():
        case = CASES[name]
        if at in case.args and not lengths[m]:
            continue
        arrays = arrays_of(case, lengths, rng)
        try:
            expected = [*map(np.asarray, case.values(arrays))]
        except (ValueError, IndexError):
            if name in NEEDS_ENTRIES:
                case = Case(case.args, case.exprs)
                expected = [*map(np.asarray, case.values(arrays))]
            else:
                expected = []
        known = {
            symbol.name: value.shape
            for symbol, value in zip(case.args, arrays, strict=True)
            if np.ndim(value)
        }
        shapes = [own.shape for own in expected] or [(99,)] * len(case.listed)
        error, found = library.call(own, case, arrays, shapes)
        assert error == (0 if expected else 2), (name, known)
        for one, other in zip(found, expected, strict=False):
            np.testing.assert_allclose(one, other, rtol=2e-9, atol=1e-10, err_msg=name)


ERRORS = {
    "singular": Case([S, y], [se.solve(S, y), se.inv(S)]),
    "indefinite": Case([P], se.logdet(P)),
    "outside": Case([x, at], x[at]),
    "maximum": Case([x], x.max()),
    "windows": Case([x, y], se.correlate(x, y, "valid")),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_positions_that_are_arguments(tmp_path, language):
    needs(language)
    j = sp.Symbol("j", integer=True)
    case = Case([A, j], [A[:, j], A[j], se.gradient(A[:, j].sum() ** 2, A), j * A[0, 0]])
    text = se.codegen(case.args, case.exprs, name="f", language=language)
    library = Library(language, tmp_path, {"f": text})
    value = np.random.default_rng(11).normal(size=(3, 4))
    for place in (0, 2, -1, -3, 3, -4):
        is_inside = -3 <= place < 3
        gradient = np.zeros((3, 4))
        gradient[:, place] = 2 * value[:, place].sum()
        expected = [
            value[:, place],
            value[place] if is_inside else 0,
            gradient,
            place * value[0, 0],
        ]
        shapes = [(3,), (4,), (3, 4), ()]
        error, found = library.call("f", case, [value, place], shapes)
        assert error == (0 if is_inside else 2)
        for one, other in zip(found, expected, strict=True):
            if is_inside:
                np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_errors(tmp_path, language):
    needs(language)
    library = Library(language, tmp_path, texts_of(ERRORS, language))

    def error(name, arrays, shapes):
        return library.call(names_of(ERRORS)[name], ERRORS[name], arrays, shapes)[0]

    ones = np.ones((3, 3))
    assert error("singular", [ones, np.ones(3)], [(3,), (3, 3)]) == 1
    assert error("singular", [np.eye(3), np.ones(3)], [(3,), (3, 3)]) == 0
    assert error("indefinite", [-np.eye(3)], [()]) == 1
    assert error("indefinite", [np.eye(3)], [()]) == 0
    assert error("outside", [np.ones(3), np.array([0, 3])], [(2,)]) == 2
    assert error("outside", [np.ones(3), np.array([-4, 0])], [(2,)]) == 2
    assert error("outside", [np.ones(3), np.array([-3, 2])], [(2,)]) == 0
    assert error("maximum", [np.ones(0)], [()]) == 2
    assert error("windows", [np.ones(2), np.ones(3)], [(9,)]) == 2
    # A negative length.
    function, code = getattr(library.library, names_of(ERRORS)["maximum"]), ctypes.c_int(-1)
    if language == "c":
        assert function(ctypes.c_int64(-1), None, None) == 2
    else:
        function(ctypes.c_int64(-1), None, None, ctypes.byref(code))
        assert code.value == 2


def minors(X):
    """Return the cofactors of a matrix, from the determinants of its parts."""
    rows = range(len(X))
    return np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(X, i, 0), j, 1)) for j in rows]
            for i in rows
        ]
    )


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4, 5])
def test_cofactors_of_singular_matrices(library, rank):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(5, rank)) @ rng.normal(size=(rank, 5))
    own = names_of(CASES)["cofactors"]
    error, (found,) = library.call(own, CASES["cofactors"], [X], [(5, 5)])
    assert error == 0
    np.testing.assert_allclose(found, minors(X), rtol=1e-9, atol=1e-12)


# What a BLAS is compared with: its interface, by loops.
CBLAS = """
#include <stddef.h>
enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112 };
static inline void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double *A,
                               int lda, const double *x, int incx, double beta, double *y, int incy)
{
    (void)order;
    for (int i = 0; i < (trans == CblasTrans ? n : m); i++) {
        double sum = 0;
        for (int j = 0; j < (trans == CblasTrans ? m : n); j++)
            sum += (trans == CblasTrans ? A[j * lda + i] : A[i * lda + j]) * x[j * incx];
        y[i * incy] = alpha * sum + (beta == 0 ? 0 : beta * y[i * incy]);
    }
}
static inline void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha,
                               const double *A, int lda, const double *B, int ldb, double beta,
                               double *C, int ldc)
{
    (void)order;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = lda < (ta == CblasTrans ? m : k) || ldb < (tb == CblasTrans ? k : n);
            for (int p = 0; p < k; p++)
                sum += (ta == CblasTrans ? A[p * lda + i] : A[i * lda + p]) *
                       (tb == CblasTrans ? B[j * ldb + p] : B[p * ldb + j]);
            C[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * C[i * ldc + j]);
        }
}
"""


def test_products_of_a_blas(tmp_path):
    needs("c")
    (tmp_path / "cblas.h").write_text(CBLAS)
    names = ["products", "transposes", "inverse", "definite", "several right-hand sides"]
    cases = {name: CASES[name] for name in names}
    library = Library("c", tmp_path, texts_of(cases, "c"), ["-DUSE_CBLAS", "-I."])
    rng = np.random.default_rng(10)
    for lengths in (LENGTHS[0], LENGTHS[2], LARGE):
        for name, own in names_of(cases).items():
            arrays = arrays_of(cases[name], lengths, rng)
            expected = [*map(np.asarray, cases[name].values(arrays))]
            shapes = [own.shape for own in expected]
            error, found = library.call(own, cases[name], arrays, shapes)
            assert error == 0
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        (se.svdvals(S), "singular value"),
        (se.eigvalsh(P), "eigenvalues"),
        (se.sort(x), "sorting"),
        (se.digamma(x), "digamma"),
        (se.besselj(2, x), "jv"),
        (se.hessian(se.det(S), S), "second derivatives of determinants"),
        (se.solution(lambda v: v**3 + v - y, se.TensorSymbol("v", n), y), "solution"),
        (x * sp.I, "real numbers"),
        (sp.Function("f")(c), "f"),
    ],
    ids=str,
)
def test_refused(expression, what):
    with pytest.raises(se.UnsupportedError, match=what):
        se.codegen([A, x, y, c, P, S], expression, language="c")


WRONG_NAMES = {
    "c": ("double", "exp", "result0", "memory", "cumsum", "2x", "a b"),
    "fortran": ("Result0", "SQRT", "merge", "Module", "cumsum", "Gram", "2x", "a b", "x" * 60),
}


def test_wrong_arguments():
    with pytest.raises(se.UnsupportedError, match=r"'fortran' or 'julia'.*, not 'basic'"):
        se.codegen(x, x.sum(), language="basic")
    with pytest.raises(se.UnsupportedError, match="a semiring is for language='python' only"):
        se.codegen(x, x.sum(), language="c", semiring="max-plus")
    with pytest.raises(se.UnsupportedError, match="the backend 'jax' is for"):
        se.codegen(x, x.sum(), "jax", language="c")
    for language, names in WRONG_NAMES.items():
        for name in names:
            with pytest.raises(se.TensorError, match="must be an identifier"):
                se.codegen(x, x.sum(), name=name, language=language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_arguments(tmp_path, language):
    # Words of the language and of our helper functions get other names, as do those that differ by
    # case in Fortran, which generated names mustn't be equal to either.
    needs(language)
    names = ["int", "double", "error", "result0", "exp", "x; abort()", "X", "x", "T1", "I0", "F"]
    symbols = [se.TensorSymbol(name, 2) for name in names]
    weighted = sum(place * se.exp(own) for place, own in enumerate(symbols, 1))
    case = Case(symbols, (weighted * weighted.sum(), weighted))
    library = Library(language, tmp_path, texts_of({"f": case}, language))
    assert "abort" not in library.texts["f0"]
    arrays = [np.random.default_rng(12).normal(size=2) for _ in names]
    total = sum(place * np.exp(own) for place, own in enumerate(arrays, 1))
    error, found = library.call("f0", case, arrays, [(2,), (2,)])
    assert error == 0
    np.testing.assert_allclose(found, [total * total.sum(), total])


def test_bessel_functions_of_fortran(tmp_path):
    needs("fortran")
    expr = [se.besselj(3, x), se.gradient(se.besselj(0, x**2).sum(), x), se.bessely(1, 1 + x**2)]
    case = Case([x], expr)
    library = Library("fortran", tmp_path, texts_of({"f": case}, "fortran"))
    arrays = [np.array([0.0, -1.5, 0.3, 12.0])]
    error, found = library.call("f0", case, arrays, [(4,)] * 3)
    assert error == 0
    np.testing.assert_allclose(found, case.values(arrays), rtol=1e-9, atol=1e-14)
    with pytest.raises(se.UnsupportedError, match="jv"):
        se.codegen(x, se.besselj(sp.Rational(1, 3), x), language="fortran")


def test_lines_of_fortran_are_short():
    numbers = np.arange(1000.0).reshape(2, 500) - 3.5
    v = se.TensorSymbol("a_rather_long_name_of_a_vector", 500)
    total = se.tanh(sum(se.sin(k * v + 0.1) * se.cos(v - k) for k in range(12)))
    text = se.codegen(v, [total, numbers @ v, v[::-1] * numbers[1]], language="fortran")
    assert max(map(len, text.splitlines())) <= 132
    runs = [
        len([*own])
        for is_open, own in groupby(text.splitlines(), lambda own: own.endswith("&"))
        if is_open
    ]
    assert max(runs) <= 255


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["products", "definite", "loop", "extrema", "gathers"])
def test_units_compile_alone(tmp_path, name, language):
    needs(language)
    case, file = CASES[name], f"unit.{ENDINGS[language]}"
    (tmp_path / file).write_text(se.codegen(case.args, case.exprs, language=language))
    strict = ["-O1", "-Wextra", "-pedantic"] if language == "c" else ["-O0", "-pedantic"]
    command = [*FLAGS[language], *strict, "-c", file]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


@pytest.mark.parametrize("language", SPELLED)
def test_parts_of_helper_functions(language):
    # A part needs others above it only, and all whose names it has.
    spelled, seen = SPELLED[language], set()
    for name, part in spelled.parts().items():
        assert {*part.needs} <= seen
        seen.add(name)
        known = needed_parts(spelled.file, [name])
        assert [*known][-1] == name
        if language == "c":  # which a compiler sees
            continue
        code = re.sub(r"(!|#|/\*|//).*|[\"'].*?[\"']|\w+%|%\w+|\.\w+", "", part.text)
        called = {*re.findall(r"\b[A-Za-z_]\w*(?=\()", code)}
        assert called & spelled.parts().keys() <= known.keys(), name


# Functions of Julia's that are called.
JULIAS = """Array ArgumentError DimensionMismatch Float64 Int64 Matrix PosDefException Symmetric
SingularException Vector abs acos asin atan asinh cbrt ceil cholesky clamp collect copysign copyto!
cos cosh det exp expm1 fill! fld floatmax floor hypot inv isfinite isinf isinteger isnan issuccess
log log10 log1p log2 logabsdet logabsgamma logdet lu max min mod mul! permutedims prod rem reshape
round sign sin sinc sinh size sqrt tan tanh throw tr transpose trunc view"""


def test_loops_are_vectorized():
    # One without sums, and one that writes along another axis than the last.
    pair = [(A**2).sum(), se.tanh(A).T]
    for exprs, clause in ((A * x[None, :], ""), (pair, "reduction(+ : t2)")):
        assert f"SIMD({clause})\n" in se.codegen([A, x], exprs, language="c")


def test_julia_is_well_formed():
    # There is no Julia here: blocks and brackets are closed, calls are those of functions that are
    # defined or Julia's, and nothing is C's or Fortran's.
    for name, case in CASES.items():
        text = se.codegen(case.args, case.exprs, name="f", language="julia")
        code = re.sub(r'#.*|".*?"', "", text)
        openers = re.findall(r"^ *(?:@\w+ )?(?:for|if|function|begin|struct)\b", code, re.M)
        assert len(openers) == len(re.findall(r"^ *end$", code, re.M)), name
        for one, other in ("()", "[]", "{}"):
            assert code.count(one) == code.count(other), name
        foreign = r";(?! check)|\+\+|->|\.and\.|\bint\b|\bdo\b|\bcall\b|\*\*"
        assert not re.search(foreign, code), name
        defined = {*re.findall(r"^(?:function )?(\w+!?)\(.*(?:\) =|\)$)", code, re.M)}
        imported = {*re.findall(r"using SpecialFunctions: (\w+)", code), "Factors", "above"}
        called = {*re.findall(r"(?<![\w.])([A-Za-z_]\w*!?)\(", code)}
        assert called <= {*defined, *imported, *JULIAS.split()}, name


def test_julia_counts_from_1_and_reverses_axes():
    expr = (A * x[None, :]).sum(0)[1:] + long[0]
    text = se.codegen([A, x, long], expr, name="f", language="julia")
    body = text[text.index("function f(") :]
    assert "n = size(A, 2)\n    m = size(A, 1)\n" in body
    assert "if size(A) != (m, n)\n" in body
    assert "if size(long) != (n + 1,)\n" in body
    assert "t3 = t1[i0 + 1] * x[i0 + 2] + t2\n" in body
    assert "for i0 in 0:m - 2\n" in body
