"""The operations that random programs are made of, under NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from .. import numpy as snp
from ..operations import FUNCTIONS, logsumexp, scan
from . import choices as draws, loops
from .choices import Choices, Chosen, two_alike


class Namespace:
    """A library under NumPy's names, with SciPy's special functions, repeated output indices in
    ``einsum``, and loops.

    Parameters
    ==========

    numpy : a module with NumPy's names: ``numpy``, ``jax.numpy``, ``sympy_einsum.numpy``, …
    special : an object with the names of ``scipy.special``

    Examples
    ========

    >>> import numpy as np
    >>> from sympy_einsum.testing import Namespace
    >>> Namespace(np).einsum("i->ii", np.array([1.0, 2.0]))
    array([[1., 0.],
           [0., 2.]])
    """

    def __init__(self, numpy: Any, special: Any = None) -> None:
        self.numpy, self.special = numpy, special

    def __getattr__(self, name: str) -> Any:
        return getattr(self.numpy, name)

    def einsum(self, text: str, *operands: Any) -> Any:
        """Compute NumPy's einsum; an index that occurs twice in the output gives a diagonal."""
        inputs, output = text.split("->")
        terms, unique, deltas = inputs.split(","), "", []
        spare = iter("STUVWXYZ")
        for letter in output:
            if letter not in unique:
                unique += letter
                continue
            copy = next(spare)
            place = next(k for k, term in enumerate(terms) if letter in term)
            length = operands[place].shape[terms[place].index(letter)]
            unique += copy
            deltas.append((letter + copy, self.numpy.eye(length)))
        terms += [pair for pair, _ in deltas]
        matrices = [delta for _, delta in deltas]
        return self.numpy.einsum(f"{','.join(terms)}->{unique}", *operands, *matrices)

    def scan(
        self,
        step: Callable[[Any, Any], tuple[Any, Any]],
        init: Any,
        xs: Any = None,
        length: Any = None,
        reverse: bool = False,
        *,
        checkpoint: Any = None,
    ) -> tuple[Any, Any]:
        """Run a loop of one value a step, as :func:`sympy_einsum.scan` without checkpoints."""
        count = length if xs is None else len(xs[0])
        if not count:
            entry = 0 if xs is None else [self.numpy.zeros(own.shape[1:]) for own in xs]
            value = self.numpy.asarray(step(init, entry)[1])
            return init, self.numpy.zeros((0, *value.shape))
        carry, values = init, {}
        for t in reversed(range(count)) if reverse else range(count):
            carry, values[t] = step(carry, t if xs is None else [own[t] for own in xs])
        return carry, self.numpy.stack([self.numpy.asarray(values[t]) for t in range(count)])


class _Symbolic(Namespace):
    """The namespace of expressions, whose loops stay loops."""

    scan = staticmethod(scan)


# The namespace in which every program is built.
SYMBOLS = _Symbolic(
    snp, SimpleNamespace(erf=FUNCTIONS["erf"], expit=FUNCTIONS["sigmoid"], logsumexp=logsumexp)
)


class Operation(NamedTuple):
    """A step that a random program may take.

    Parameters
    ==========

    kind : its family; families are drawn first
    apply : of a :class:`Namespace`, operands and parameters
    choose : of :class:`Choices`, draws operands and parameters

    Examples
    ========

    A function of your own takes part:

    >>> import numpy as np
    >>> from sympy_einsum import testing
    >>> double = testing.Operation("functions", lambda xp, v: 2 * v, testing.one)
    >>> made = testing.programs(operations={**testing.OPERATIONS, "double": double})
    """

    kind: str
    apply: Callable[..., Any]
    choose: Callable[[Choices], Chosen]


def _definite(xp: Namespace, v: Any) -> Any:
    """Return a symmetric matrix with eigenvalues far from zero and from each other."""
    bounded = xp.tanh(v)
    length = v.shape[0]
    increasing = xp.cumsum(xp.ones((length,)))
    return xp.einsum("ij,kj->ik", bounded, bounded) / 20 + xp.einsum("i->ii", 1 + increasing)


def _invertible(xp: Namespace, v: Any) -> Any:
    """Return an invertible matrix that isn't symmetric."""
    return _definite(xp, v) + xp.triu(xp.einsum("ij,kj->ik", xp.sin(v), xp.cos(v)), 1) / 5


def _windows(xp: Namespace, v: Any, width: int, axis: int) -> Any:
    before = (slice(None),) * axis
    count = v.shape[axis] - width
    slices = [v[(*before, slice(k, count + k + 1))] for k in range(width)]
    return xp.stack(slices, axis=len(v.shape))


def _apply_along(xp: Namespace, v: Any, axis: int, numbers: list[float]) -> Any:
    index = [None] * len(v.shape)
    index[axis] = slice(None)  # type: ignore[call-overload]
    return v * xp.asarray(numbers)[tuple(index)]


def _softmax(xp: Namespace, v: Any, axis: int) -> Any:
    return xp.exp(v) / xp.sum(xp.exp(v), axis=axis, keepdims=True)


_ROWS: dict[str, dict[str, tuple[Callable[..., Any], Callable[[Choices], Chosen]]]] = {
    "functions": {
        "sin": (lambda xp, v: xp.sin(v), draws.one),
        "cos": (lambda xp, v: xp.cos(v), draws.one),
        "tanh": (lambda xp, v: xp.tanh(v), draws.one),
        "exp": (lambda xp, v: xp.exp(xp.tanh(v)), draws.one),
        "log": (lambda xp, v: xp.log(2 + v * v), draws.one),
        "sqrt": (lambda xp, v: xp.sqrt(1 + v**2), draws.one),
        "square": (lambda xp, v: xp.square(v) / 2, draws.one),
        "cube": (lambda xp, v: v**3 / 4, draws.one),
        "half power": (lambda xp, v: (1 + v**2) ** -1.5, draws.one),
        "arctan": (lambda xp, v: xp.arctan(v), draws.one),
        "reciprocal": (lambda xp, v: 1 / (2 + xp.sin(v)), draws.one),
        "erf": (lambda xp, v: xp.special.erf(v), draws.one),
        "expit": (lambda xp, v: xp.special.expit(v), draws.one),
        "softplus": (lambda xp, v: xp.log(1 + xp.exp(v)), draws.one),
        "logistic": (lambda xp, v: 1 / (1 + xp.exp(-v)), draws.one),
        "log1p": (lambda xp, v: xp.log1p(xp.exp(-v)) + xp.expm1(xp.tanh(v)), draws.one),
        "affine": (lambda xp, v: 0.5 * v - 1, draws.one),
        "negative": (lambda xp, v: -v, draws.one),
        "rational": (lambda xp, v: v * xp.sin(v) ** 2 + 1 / (1 + v * v), draws.one),
        "where": (lambda xp, v: xp.where(v > 0.25, v, v * v), draws.one),
        "clip": (lambda xp, v: xp.clip(v, -0.45, 0.65), draws.one),
        "absolute": (lambda xp, v: xp.abs(v + 0.15), draws.one),
    },
    "pairs": {
        "add": (lambda xp, a, b: a + b, draws.two_alike),
        "subtract": (lambda xp, a, b: a - 2 * b, draws.two_alike),
        "multiply": (lambda xp, a, b: a * b, draws.two_alike),
        "divide": (lambda xp, a, b: a / (1.5 + b * b), draws.two_alike),
        "power": (lambda xp, a, b: (1 + a * a) ** xp.tanh(b), draws.two_alike),
        "maximum": (lambda xp, a, b: xp.maximum(a, b), draws.two_alike),
        "minimum": (lambda xp, a, b: xp.minimum(a, 0.5 - b), draws.two_alike),
        "logaddexp": (lambda xp, a, b: xp.logaddexp(a, b), draws.two_alike),
        "hypot": (lambda xp, a, b: xp.hypot(a, 1 + b * b), draws.two_alike),
        "arctan2": (lambda xp, a, b: xp.arctan2(a, 1 + b * b), draws.two_alike),
    },
    "products": {
        "einsum": (lambda xp, *parts: xp.einsum(parts[-1], *parts[:-1]), draws.subscripts),
        "einsum of sums": (
            lambda xp, *parts: xp.einsum(parts[-1], *[v - 0.5 for v in parts[:-1]]),
            draws.subscripts,
        ),
        "matmul": (lambda xp, a, b: a @ b, draws.factors),
        "outer": (
            lambda xp, a, b: xp.tensordot(a, b, 0),
            lambda c: ([c.one(1, 2), c.one(1, 1)], []),
        ),
    },
    "constants": {
        "delta": (
            lambda xp, v, axis: xp.eye(v.shape[axis]) * xp.mean(v), draws.one_axis
        ),
        "ones": (lambda xp, v: xp.ones(v.shape) - v, lambda c: ([c.one(1)], [])),
        "zeros": (lambda xp, v: xp.zeros(v.shape) + xp.mean(v), lambda c: ([c.one(1)], [])),
        "triangle": (
            lambda xp, v: xp.einsum("ij,jk->ik", xp.tri(v.shape[0]), v), draws.matrix
        ),
        "numbers": (_apply_along, draws.numbers_along),
    },
    "reductions": {
        "sum": (lambda xp, v, axis: xp.sum(v, axis=axis), draws.one_axis),
        "mean": (lambda xp, v, axis: xp.mean(v, axis=axis), draws.one_axis),
        "var": (lambda xp, v, axis: xp.var(v, axis=axis), draws.one_axis),
        "total": (lambda xp, v: xp.sum(v), draws.one),
        "prod": (lambda xp, v, axis: xp.prod(v, axis=axis), draws.one_axis),
        "kept sum": (lambda xp, v, axis: xp.sum(v, axis=axis, keepdims=True), draws.one_axis),
        "centred": (
            lambda xp, v, axis: v - xp.mean(v, axis=axis, keepdims=True), draws.one_axis
        ),
        "logsumexp": (lambda xp, v, axis: xp.special.logsumexp(v, axis=axis), draws.one_axis),
        "softmax": (_softmax, draws.one_axis),
    },
    "axes": {
        "transpose": (lambda xp, v, axes: xp.transpose(v, axes), draws.all_axes),
        "new axis": (lambda xp, v, axis: xp.expand_dims(v, axis), draws.new_axis),
        "reshape": (lambda xp, v: xp.reshape(v, (-1,)), lambda c: ([c.one(1)], [])),
    },
    "positions": {
        "slice": (
            lambda xp, v, axis, bounds: v[(slice(None),) * axis + (slice(*bounds),)], draws.slice_of
        ),
        "entry": (lambda xp, v, axis, place: v[(slice(None),) * axis + (place,)], draws.at_entry),
        "take": (
            lambda xp, v, places, axis: xp.take(v, xp.asarray(places), axis), draws.positions_along
        ),
        "concatenate": (
            lambda xp, *parts: xp.concatenate(parts[:-1], axis=parts[-1]), draws.in_a_row
        ),
        "stack": (lambda xp, a, b, axis: xp.stack([a, b], axis=axis), draws.pair_and_axis),
        "flip": (lambda xp, v, axis: xp.flip(v, axis), draws.one_axis),
        "roll": (lambda xp, v, axis, shift: xp.roll(v, shift, axis), draws.shifted),
        "pad": (lambda xp, v, widths: xp.pad(v, widths), draws.widths),
        "tile": (lambda xp, v, counts: xp.tile(v, counts), draws.counts),
        "repeat": (lambda xp, v, axis: xp.repeat(v, 2, axis=axis), draws.one_axis),
        "triu": (lambda xp, v, offset: xp.triu(v, offset), draws.with_offset),
        "tril": (lambda xp, v, offset: xp.tril(v, offset), draws.with_offset),
    },
    "windows": {
        "windows": (_windows, draws.window),
        "convolve": (lambda xp, a, b, mode: xp.convolve(a, b, mode), draws.convolved),
        "diff": (lambda xp, v, axis: xp.diff(v, axis=axis), draws.long_axis),
    },
    "running": {
        "cumsum": (lambda xp, v, axis: xp.cumsum(v, axis=axis), draws.one_axis),
        "cumprod": (lambda xp, v, axis: xp.cumprod(v, axis=axis), draws.one_axis),
    },
    "orders": {
        "max": (lambda xp, v, axis: xp.max(v, axis=axis), draws.one_axis),
        "min": (lambda xp, v, axis: xp.min(v, axis=axis), draws.one_axis),
        "sort": (lambda xp, v, axis: xp.sort(v, axis=axis), draws.one_axis),
        "median": (lambda xp, v, axis: xp.median(v, axis=axis), draws.one_axis),
        "range": (lambda xp, v, axis: xp.ptp(v, axis=axis), draws.one_axis),
    },
    "matrices": {
        "inv": (lambda xp, v: xp.linalg.inv(_invertible(xp, v)), draws.matrix),
        "det": (lambda xp, v: xp.linalg.det(_invertible(xp, v) / 2), draws.matrix),
        "logdet": (lambda xp, v: xp.linalg.slogdet(_invertible(xp, v))[1], draws.matrix),
        "solve": (
            lambda xp, v, b: xp.linalg.solve(
                _invertible(xp, v), b if len(b.shape) == 2 else b[:, None]
            ),
            draws.system,
        ),
        "cholesky": (lambda xp, v: xp.linalg.cholesky(_definite(xp, v)), draws.matrix),
        "eigvalsh": (lambda xp, v: xp.linalg.eigvalsh(_definite(xp, v)), draws.matrix),
        "matrix power": (
            lambda xp, v: xp.linalg.matrix_power(_invertible(xp, v) / 4, 3), draws.matrix
        ),
    },
    "loops": {
        "scan": (lambda xp, *given: given[-1].run(xp, *given[:-1]), loops.loop),
    },
}  # fmt: skip
OPERATIONS = {
    name: Operation(kind, *row) for kind, rows in _ROWS.items() for name, row in rows.items()
}
KINDS = tuple(_ROWS)
# Gives a result the shape of a tensor: axes that it lacks are averaged.
FIT = Operation("", lambda xp, v, like, text, count: xp.einsum(text, v, like) / count, two_alike)
