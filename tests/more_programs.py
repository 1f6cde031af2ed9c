"""Operations beyond the default ones of random programs: further functions of NumPy's, and SymPy's
functions of scalars."""

from __future__ import annotations

import sympy
from hypothesis import strategies as st

import sympy_einsum as se
from sympy_einsum import testing
from sympy_einsum.operations import FUNCTIONS
from sympy_einsum.testing import Namespace, Operation
from sympy_einsum.testing.choices import convolved, long_axis, matrix, one, one_axis
from sympy_einsum.testing.operations import _definite, _invertible

for _name, _own in {"gammaln": "loggamma", "digamma": "digamma", "erfc": "erfc"}.items():
    setattr(testing.SYMBOLS.special, _name, FUNCTIONS[_own])


def of_order(*bounds):
    """Draw as many values as there are numbers of axes."""
    return lambda c: ([c.one(*own) for own in bounds], [])


def alike(c):
    place = c.one(1)
    return [place, c.like(place)], []


def offset(c):
    return [c.one(2, 2)], [c.among([0, 0, 1, -1])]


def pairs(c):
    """Draw positions along the first two axes."""
    place = c.one(2)
    return [place], [[c.among(range(c.length(place, k))) for _ in range(3)] for k in (0, 1)]


def mode(c):
    """Draw widths of known axes that are long enough for every mode."""
    place = c.one(1)
    if not all(n.is_Integer and n > 2 for n in c.shape(place)):
        raise testing.ImpossibleError
    widths = [(c.among(range(3)), c.among(range(3))) for _ in c.shape(place)]
    return [place], [widths, c.among(["edge", "reflect", "symmetric", "wrap"])]


def share(c):
    places, axes = one_axis(c)
    return places, [c.among([0.3, 0.75]), *axes]


def _of_eigenvectors(xp, v):
    values, vectors = xp.linalg.eigh(_definite(xp, v))
    return xp.einsum("ij,j,kj->ik", vectors, xp.sin(values), vectors)


def _taken(xp, v, axis):
    return xp.take_along_axis(v, xp.expand_dims(xp.argmax(v, axis), axis), axis)


MORE = {
    "trace": (lambda xp, v, k: xp.trace(v, offset=k), offset),
    "diagonal": (lambda xp, v, k: xp.diagonal(v, offset=k), offset),
    "diag": (lambda xp, v: xp.diag(v), of_order((1, 2))),
    "kron": (lambda xp, a, b: xp.kron(a, b), of_order((2, 2), (2, 2))),
    "norm": (lambda xp, v: xp.linalg.norm(2 + v * v), of_order((1, 2))),
    "pinv": (lambda xp, v: xp.linalg.pinv(_invertible(xp, v)), matrix),
    "of eigenvectors": (_of_eigenvectors, matrix),
    "svdvals": (lambda xp, v: xp.linalg.svd(_invertible(xp, v), compute_uv=False), matrix),
    "qr": (lambda xp, v: abs(xp.linalg.qr(_invertible(xp, v))[1]), matrix),
    "gram": (lambda xp, v: v.T @ v @ v.T, matrix),
    "quadratic": (lambda xp, v: v.T @ xp.linalg.solve(_invertible(xp, v), v), matrix),
    "inv of one's own": (
        lambda xp, v: xp.linalg.inv(_invertible(xp, v)) @ _invertible(xp, v) @ v, matrix
    ),
    "logdet of squares": (
        lambda xp, v: xp.linalg.slogdet(v @ v.T + 3 * xp.eye(v.shape[0]))[1], matrix
    ),
    "fft": (lambda xp, v, axis: abs(xp.fft.fft(v, axis=axis)) ** 2, one_axis),
    "rfft": (lambda xp, v, axis: xp.fft.rfft(v, axis=axis).real, one_axis),
    "pad in a mode": (lambda xp, v, widths, mode: xp.pad(v, widths, mode), mode),
    "quantile": (lambda xp, v, q, axis: xp.quantile(v, q, axis=axis), share),
    "std": (lambda xp, v: xp.std(xp.arange(v.shape[0]) + 0.1 * v, axis=0), of_order((1, 1))),
    "argmax": (_taken, one_axis),
    "argsort": (
        lambda xp, v, axis: xp.take_along_axis(xp.flip(v, axis), xp.argsort(v, axis), axis),
        one_axis,
    ),
    "average": (lambda xp, v, w: xp.average(v, weights=1 + w * w), alike),
    "cov": (lambda xp, v: xp.cov(v), matrix),
    "correlate": (lambda xp, a, b, mode: xp.correlate(a, b, mode), convolved),
    "gather": (lambda xp, v, p, q: v[xp.asarray(p), xp.asarray(q)], pairs),
    "interp": (
        lambda xp, v: xp.interp(v, xp.asarray([-1.03, 0.01, 1.07]), xp.asarray([0.5, 2.0, -1.0])),
        of_order((1, 1)),
    ),
    "trapezoid": (lambda xp, v, axis: xp.trapezoid(v, axis=axis), long_axis),
    "differences": (lambda xp, v, axis: xp.gradient(v, axis=axis), long_axis),
    "polyval": (lambda xp, v, w: xp.polyval(v, xp.tanh(w)), of_order((1, 1), ())),
    "from the last": (lambda xp, v, axis: v - xp.roll(v, 1, axis), one_axis),
    "outer difference": (
        lambda xp, v, w: v[:, None] - w[None, :], of_order((1, 1), (1, 1))
    ),
    "distances": (
        lambda xp, v: xp.sqrt(1 + xp.sum((v[:, None] - v[None]) ** 2, -1)), matrix
    ),
    "vander": (lambda xp, v: xp.vander(xp.tanh(v), 3), of_order((1, 1))),
    "rot90": (lambda xp, v: xp.rot90(v), matrix),
    "floor": (lambda xp, v: v * xp.floor(v + 0.13), one),
    "mod": (lambda xp, v: xp.mod(v + 0.0137, 1.1), one),
    "sign": (lambda xp, v: v * xp.sign(v - 0.123), one),
    "special": (
        lambda xp, v: xp.special.gammaln(2.5 + xp.tanh(v)) + xp.special.digamma(3 + xp.tanh(v)),
        one,
    ),
    "hyperbolic": (lambda xp, v: xp.sinh(xp.tanh(v)) + xp.arcsinh(v) + xp.special.erfc(v), one),
    "logarithms": (lambda xp, v: xp.log2(2 + v * v) + xp.cbrt(1 + v * v), one),
    "choice of two": (lambda xp, v, w: xp.where((v > 0.21) & (w < 0.37), v * w, v - w), alike),
}  # fmt: skip


def scalar(symbolic, numeric, count=1):
    """Return an operation on scalars that is SymPy's own for symbols."""

    def apply(xp: Namespace, *values):
        return symbolic(*values) if xp is testing.SYMBOLS else numeric(xp, *values)

    return apply, of_order(*[(0, 0)] * count)


_QUARTER, _THIRD = sympy.Rational(1, 4), sympy.Rational(1, 3)
SCALARS = {
    "Piecewise": scalar(
        lambda v: sympy.Piecewise((v**2, v > _QUARTER), (sympy.sin(v), True)),
        lambda xp, v: xp.where(v > 0.25, v**2, xp.sin(v)),
    ),
    "Piecewise of two": scalar(
        lambda v, w: sympy.Piecewise((v * w, v > w), (v - w, True)),
        lambda xp, v, w: xp.where(v > w, v * w, v - w), 2,
    ),
    "Max": scalar(sympy.Max, lambda xp, v, w: xp.maximum(v, w), 2),
    "Min": scalar(
        lambda v, w: sympy.Min(v, w, _THIRD),
        lambda xp, v, w: xp.minimum(xp.minimum(v, w), 1 / 3), 2,
    ),
    "Abs": scalar(lambda v: sympy.Abs(v + _THIRD), lambda xp, v: xp.abs(v + 1 / 3)),
    "exp": scalar(lambda v: sympy.exp(-(v**2)), lambda xp, v: xp.exp(-(v**2))),
    "power by exp": scalar(
        lambda v, w: sympy.exp(sympy.tanh(w) * sympy.log(1 + v**2)),
        lambda xp, v, w: (1 + v**2) ** xp.tanh(w), 2,
    ),
    "log": scalar(lambda v: sympy.log(sympy.exp(v) + 1), lambda xp, v: xp.logaddexp(v, 0)),
    "sqrt": scalar(lambda v: sympy.sqrt(v**2 + 1) - v, lambda xp, v: xp.sqrt(v**2 + 1) - v),
    "rational": scalar(
        lambda v, w: (v + w) / (2 + v**2) - v * w,
        lambda xp, v, w: (v + w) / (2 + v**2) - v * w, 2,
    ),
    "product": scalar(lambda v, w: v * w + v, lambda xp, v, w: v * w + v, 2),
    "expanded": scalar(
        lambda v, w: sympy.expand((v + w) ** 3) / 4, lambda xp, v, w: (v + w) ** 3 / 4, 2
    ),
    "atan": scalar(
        lambda v: sympy.atan(v) + sympy.erf(v), lambda xp, v: xp.arctan(v) + xp.special.erf(v)
    ),
    "scaled": (lambda xp, v, w: v * w + w, of_order((0, 0), (1,))),
    "squares": (lambda xp, v: xp.sum(v * v), of_order((1,))),
    "first entries": (lambda xp, v: xp.sum(v[0]), of_order((1,))),
}  # fmt: skip


def _operations(kind, rows):
    return {**testing.OPERATIONS, **{f"{kind} {k}": Operation(kind, *v) for k, v in rows.items()}}


@st.composite
def _with_symbols(draw):
    """Draw programs of tensors and of SymPy's symbols, in any order: they are differentiated by the
    first."""
    n = draw(st.sampled_from([3, sympy.Symbol("n", integer=True, positive=True)]))
    shape = draw(st.sampled_from([(n,), (n, n), (2, n)]))
    tensors = [se.TensorSymbol("x", shape), se.TensorSymbol("a", (n,))]
    given = draw(st.permutations([*tensors, *sympy.symbols("s t", real=True)]))
    kinds = [*testing.KINDS, *["scalars"] * 10]
    operations = _operations("scalars", SCALARS)
    return draw(testing.programs(given=given[:3], operations=operations, kinds=kinds, max_steps=8))


@st.composite
def _with_lengths(draw):
    """Draw programs of tensors and of their lengths, each determined by one axis or by several."""
    n, m, _ = testing.LENGTHS
    axes, others = [n, m, n, m, n + 1, 2 * m, m - 1], []
    if draw(st.booleans()):
        # A product of two lengths tells neither.
        axes, others = [*axes, n * m], [se.TensorSymbol("b", n, m)]
    given = [*[draw(testing.tensors(name=name, lengths=axes)) for name in "xa"], *others]
    asked = draw(st.lists(st.sampled_from([n, m]), min_size=1, unique=True))
    return draw(testing.programs(given=[*given, *asked], max_steps=4))


PROGRAMS = {
    "lengths": _with_lengths(),
    "more": testing.programs(
        operations=_operations("more", MORE), kinds=[*testing.KINDS, *["more"] * 10]
    ),
    "scalars": _with_symbols(),
}
