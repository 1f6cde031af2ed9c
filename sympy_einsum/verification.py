"""Checks by numbers: derivatives against finite differences, and equality of expressions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np
from sympy import Add, Expr, I, Integer, S, Symbol, cos, cosh, exp, flatten, sin, sinh, tan, tanh

from .analysis import is_diagonal
from .calculus import diff
from .compiler import lambdify
from .core import ShapeError, TensorError, UnsupportedError, postorder, same_shape, sigmoid, tuning
from .evaluation import exact_value
from .expressions import (
    MatrixFunction,
    OneHot,
    Operand,
    Positions,
    Scan,
    Slot,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    Zeros,
    as_operand,
    evaluated,
    is_tensor,
    shape_of,
    written_size,
)
from .operations import add, diag, multiply, unroll
from .rules import entry_of, normal_form, reassociated, stabilise

# An argument of a compiled function.
Argument: TypeAlias = np.ndarray | float


class Samples:
    """Random data on which some expressions are finite and the matrices that they invert are
    well-conditioned. Axis lengths come in several orders, so that some matrix that is tall in one
    sample is wide in the next."""

    def __init__(self, exprs: Sequence[Operand], first: Sequence[Operand] = ()):
        nodes = [node for node in postorder(exprs) if isinstance(node, TensorExpr)]
        found = {s for e in exprs for s in e.free_symbols} - {*first}
        tensors = [s for s in (*first, *found) if isinstance(s, TensorSymbol)]
        shapes = {s for e in (*nodes, *tensors) for n in e.shape for s in n.free_symbols}
        data = {s for node in nodes for s in node._own_symbols() if not isinstance(s, Slot)}
        starts = [node.start for node in nodes if isinstance(node, Positions)]
        self.positions = {s for start in starts for s in start.free_symbols} - shapes
        self.lengths = sorted(shapes.union(data) - self.positions - {*tensors}, key=str)
        others = sorted(found.union(self.positions) - {*self.lengths}, key=str)
        self.symbols = [*first, *others, *self.lengths]
        self.matrices = list(
            dict.fromkeys(node.operands[0] for node in nodes if isinstance(node, MatrixFunction))
        )
        # The axes that the entries of a tensor are positions on.
        self.axes = {node.indices: node.length for node in nodes if isinstance(node, OneHot)}
        # Of a loop over n - 1 steps, n = 2 leaves one step, in which no carry is used.
        is_loop = any(isinstance(node, Scan) for node in nodes)
        self.least = tuning.LEAST_LENGTH_OF_LOOPS if is_loop else tuning.LEAST_LENGTH
        self.count = len(exprs)
        self.exprs = [*exprs, *self.matrices]
        self.function = lambdify(self.symbols, self.exprs, optimize=False)

    def of_first(self) -> Samples:
        """Return samples of the first expression alone: a Jacobian takes long to compute for each
        difference quotient."""
        other = copy(self)
        other.count, other.exprs = 1, self.exprs[:1]
        other.function = lambdify(self.symbols, other.exprs, optimize=False)
        return other

    def draw(self, samples: int) -> Iterator[tuple[list[Argument], list[np.ndarray]]]:
        """Yield up to ``samples`` sets of arguments with finite values of the expressions."""
        tried = (self.arguments(seed) for seed in range(tuning.MAX_SAMPLE_DRAWS * samples))
        pairs = ((values, self.values(values)) for values in tried if values is not None)
        yield from islice(((v, results) for v, results in pairs if results is not None), samples)

    def arguments(self, seed: int) -> list[Argument] | None:
        """Draw values that respect the symbols' assumptions; every other set is positive."""
        rng = np.random.default_rng(seed)
        count = len(self.lengths)
        different = count if count <= tuning.MAX_DIFFERENT_LENGTHS else 2
        order = range(count) if seed == 0 else rng.permutation(count)
        sizes = [Integer(self.least + seed // 8 + int(k) % different) for k in order]
        lengths: dict[Symbol, Integer] = dict(zip(self.lengths, sizes, strict=True))
        for symbol in sorted(self.positions, key=str):
            lengths[symbol] = Integer(rng.integers(2))
        values = []
        for symbol in self.symbols:
            shape = [n.xreplace(lengths) for n in shape_of(symbol)]
            if any(n.is_negative for n in shape):
                return None
            given = lengths.get(symbol)
            drawn = _random_value(symbol, tuple(map(int, shape)), rng, seed % 2 == 1)
            if symbol in self.axes:
                drawn = rng.integers(int(self.axes[symbol].xreplace(lengths)), size=np.shape(drawn))
            values.append(drawn if given is None else int(given))
        return values

    def values(self, arguments: Sequence[Argument]) -> list[np.ndarray] | None:
        """Return the values of the expressions; None where the arguments are of no use."""
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = [np.asarray(value) for value in self.function(*arguments)]
        except (ArithmeticError, np.linalg.LinAlgError, IndexError, ValueError):
            return None  # not a point where the expressions have a value
        if not all(np.all(np.isfinite(value)) for value in found):
            return None
        return found[: self.count] if all(map(_is_regular, found[self.count :])) else None


def _is_regular(matrix: np.ndarray) -> bool:
    """Tell whether a matrix is far from singular ones."""
    s = np.linalg.svd(matrix.astype(float), compute_uv=False)
    return bool(s.min(initial=np.inf) * tuning.MAX_CONDITION >= s.max(initial=0))


def _random_value(
    symbol: Operand, shape: tuple[int, ...], rng: np.random.Generator, positive: bool
) -> Argument:
    if isinstance(symbol, Symbol) or not shape:
        if symbol.is_integer:
            return int(rng.integers(2, 6))
        scalar = rng.uniform(0.3, 1.7)
        is_free = not (positive or symbol.is_positive or symbol.is_nonnegative)
        return scalar * rng.choice([-1.0, 1.0]) if is_free else scalar
    structure = set(symbol.assumptions)
    if positive or structure & {"positive", "nonnegative"}:
        value = rng.uniform(0.3, 1.7, shape)
        if len(shape) == 2:
            np.fill_diagonal(value, value.diagonal() + 2)
    else:
        value = rng.standard_normal(shape)
        if len(shape) == 2 and value.size:
            left, singular, right = np.linalg.svd(value, full_matrices=False)
            value = left * rng.uniform(0.5, 1.5, singular.shape) @ right
    if symbol.generators:
        return _symmetrized(value, symbol.permutations)
    return _with_structure(value, structure)


def _symmetrized(value: np.ndarray, permutations: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the mean of an array's transposes."""
    return np.mean([value.transpose(own) for own in permutations], axis=0)


def _with_structure(value: np.ndarray, structure: set[str]) -> np.ndarray:
    """Return the nearest thing with a structure."""
    if "diagonal" in structure:
        entries = value.diagonal() + np.copysign(0.3, value.diagonal())
        return np.diag(abs(entries) if "psd" in structure else entries)
    if "psd" in structure:
        return value @ value.T
    return value + value.T if "symmetric" in structure else value


class Difference(NamedTuple):
    """The largest deviation of a derivative from finite differences: its relative error, its
    entry, and both values."""

    error: float
    entry: tuple[int, ...]
    derivative: float
    differences: float


def check_derivative(
    y: TensorLike, x: Operand, d: TensorLike | None = None, samples: int = 3
) -> float:
    """Compare a derivative with central finite differences on random data.

    A variable that is declared symmetric, diagonal or psd is moved in directions that keep that
    structure: in others the function isn't defined.

    Parameters
    ==========

    y : the expression
    x : the variable
    d : the derivative to check, by default ``diff(y, x)``
    samples : how many sets of random data are tried

    Returns
    =======

    The largest relative error found: ``|d - differences| / (1 + max |differences|)``.

    Raises
    ======

    TensorError : the error is above 1e-5 (the message names the worst entry and both values), no
        data were found on which y is finite, or finite differences don't settle for any step

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.check_derivative(x @ A @ x, x) < 1e-6
    True
    """
    y, x = as_operand(y), as_operand(x)
    derivative = diff(y, x) if d is None else as_operand(d)
    if shape_of(derivative) != shape_of(y) + shape_of(x):
        raise TensorError(
            f"a derivative of shape {shape_of(y) + shape_of(x)} is expected, "
            f"not {shape_of(derivative)}"
        )
    data = Samples([y, derivative], first=[x])
    values_of_y = data.of_first()
    tried = (
        _difference(values_of_y, x, values, derivative)
        for values, (_, derivative) in data.draw(tuning.MAX_SAMPLE_DRAWS)
    )
    found = list(islice((one for one in tried if one is not None), samples))
    if not found and next(data.draw(1), None) is None:
        raise TensorError("the expression isn't finite on any random data that were tried")
    if not found:
        raise TensorError(
            "finite differences of the expression don't converge on random data: it changes too "
            "fast there, jumps or loses too many digits; scale its variable"
        )
    worst = max(found)
    if worst.error > tuning.TOLERANCE:
        entry = f"entry {list(worst.entry)}" if worst.entry else "it"
        raise TensorError(
            f"the derivative differs from finite differences by {worst.error:.2g}: {entry} is "
            f"{worst.derivative:.6g}, and by finite differences {worst.differences:.6g}"
        )
    return worst.error


def _difference(
    data: Samples, x: Operand, values: list[Argument], derivative: np.ndarray
) -> Difference | None:
    """Return the worst entry on one set of data; None where differences don't settle."""
    point = np.asarray(values[0], dtype=float)
    structure = set(x.assumptions) if isinstance(x, TensorSymbol) else set()
    found, expected, places = [], [], []
    for place in np.ndindex(point.shape):
        if "diagonal" in structure and place[0] != place[1]:
            continue
        direction = np.zeros(point.shape)
        direction[place] = 1
        if structure & {"symmetric", "psd"}:
            direction = (direction + direction.T) / 2
        if isinstance(x, TensorSymbol) and x.generators:
            direction = _symmetrized(direction, x.permutations)
        moved = _moved(data, values, point, direction)
        if moved is None:
            return None
        expected.append(moved)
        found.append(np.tensordot(derivative, direction, axes=point.ndim))
        places.append(place)
    if not found:
        return Difference(0.0, (), 0.0, 0.0)
    derivative, differences = np.array(found), np.array(expected)
    gaps = abs(derivative - differences)
    if not gaps.size:
        return Difference(0.0, (), 0.0, 0.0)
    worst = np.unravel_index(int(gaps.argmax()), gaps.shape)
    error = gaps[worst] / (1 + abs(differences).max())
    entry = (*map(int, worst[1:]), *places[worst[0]])
    return Difference(float(error), entry, float(derivative[worst]), float(differences[worst]))


def _moved(
    data: Samples, values: list[Argument], x: np.ndarray, direction: np.ndarray
) -> np.ndarray | None:
    """Return the derivative in a direction, by Richardson's extrapolation of two central
    differences, with an error of order step**4; None where no step is small enough.

    The first two steps are used if their differences are close. Smaller ones lose digits, so that
    two extrapolations have to agree there.
    """
    step = 1e-3 * max(1.0, float(abs(x * (direction != 0)).max()))
    coarse = extrapolated = None
    for halvings in range(tuning.MAX_HALVINGS):
        fine = _central(data, values, x, direction, step / 2**halvings)
        if coarse is None or fine is None:
            coarse, extrapolated = fine, None
            continue
        before, extrapolated = extrapolated, (4 * fine - coarse) / 3
        if halvings == 1 and _are_close(fine, coarse, 1e-3):
            return extrapolated
        if before is not None and _are_close(extrapolated, before, tuning.TOLERANCE / 10):
            return extrapolated
        coarse = fine
    return None


def _central(
    data: Samples, values: list[Argument], x: np.ndarray, direction: np.ndarray, step: float
) -> np.ndarray | None:
    """Return the central difference quotient; None where the expression isn't finite at both ends,
    or their rounding errors alone could exceed the tolerance."""
    ends = []
    for moved in (x + step * direction, x - step * direction):
        results = data.values([moved if x.ndim else float(moved), *values[1:]])
        if results is None:
            return None
        ends.append(results[0])
    quotient = (ends[0] - ends[1]) / (2 * step)
    rounding = np.finfo(float).eps * np.max(abs(ends[0]), initial=0) / step
    limit = tuning.TOLERANCE * (1 + np.max(abs(quotient), initial=0))
    return quotient if rounding <= limit else None


def _are_close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return bool(np.max(abs(a - b), initial=0) <= tolerance * (1 + np.max(abs(a), initial=0)))


def equal(a: TensorLike, b: TensorLike) -> bool | None:
    """Tell whether two expressions are equal, as far as can be found out.

    Returns
    =======

    True if they have one normal form, where what both of them invert is invertible and what they
    divide by isn't 0; False if their shapes or their values on random data clearly differ, twice,
    on data where rounding errors can't be the reason; None if neither is certain
    (``sympy.Expr.equals`` does the same).

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, B = se.tensors("A B", n, n)
    >>> se.equal((A @ B).T, B.T @ A.T), se.equal(A @ B, B @ A)
    (True, False)
    """
    a, b = evaluated([as_operand(a), as_operand(b)])
    if not same_shape(shape_of(a), shape_of(b)):
        return False
    if S.Zero in shape_of(a):
        return True
    if (known := _equal_numbers(a, b)) is not None:
        return known
    # The normal form of a large graph takes far longer than code for it.
    is_large = len(postorder([a, b])) > tuning.LARGE_GRAPH
    if is_large and _clearly_differ(a, b):
        return False
    left, right = _without_short_loops(_with_vectors(a, b))
    # A derivative may be in a numerically stable form, which a formula of a textbook isn't.
    if _are_identical(left, right) or _are_identical(*stabilise([left, right])[0]):
        return True
    if not is_large and _clearly_differ(a, b):
        return False
    one, other = reassociated([left, right])
    if one is other:
        return True
    forms = reassociated([normal_form(one), normal_form(other)])
    return True if forms != [left, right] and _are_identical(*forms) else None


def _clearly_differ(a: Operand, b: Operand) -> bool:
    """Tell whether a counterexample is found; False where a function has no numerical code."""
    try:
        return _counterexample(a, b) is not None
    except UnsupportedError:
        return False


def _without_short_loops(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Write out the steps of loops, if all are short and have a number of steps."""
    scans = [node for node in postorder(exprs) if isinstance(node, Scan)]
    lengths = [scan.length for scan in scans]
    if not scans or not all(n.is_Integer and n <= tuning.MAX_COMPARED_STEPS for n in lengths):
        return exprs
    return unroll(list(exprs))


def _are_identical(left: Operand, right: Operand) -> bool:
    """Tell whether two expressions, or their difference and zero, have one normal form."""
    difference = normal_form(add(left, multiply(-1, right)))
    is_zero = difference == 0 or isinstance(difference, Zeros) or _vanishes_over_one(difference)
    return is_zero or normal_form(left) is normal_form(right)


def _equal_numbers(a: Operand, b: Operand) -> bool | None:
    """Tell whether two expressions without free symbols have the same exact values, if these are
    known."""
    if a.free_symbols or b.free_symbols:
        return None
    values = [exact_value(e) for e in (a, b)]
    if any(value is None for value in values):
        return None
    pairs = zip(*[flatten(v) if is_tensor(a) else [v] for v in values], strict=True)
    found = [(one - other).equals(0) for one, other in pairs]
    return False if False in found else None if None in found else True


class Counterexample(NamedTuple):
    """Data on which two expressions differ: the value of each symbol, the entry at which they
    differ most, and both values there.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 2)
    >>> found = se.counterexample(x @ x, x.sum())
    >>> found.entry, found.left != found.right
    ((), True)
    """

    values: dict[Operand, Argument]
    entry: tuple[int, ...]
    left: float
    right: float

    def __str__(self) -> str:
        """Format three digits of each number, a symbol a line."""
        lines = []
        for symbol, value in self.values.items():
            text = np.array2string(np.asarray(value), precision=3, suppress_small=True)
            lines.append(f"{symbol} =" + ("\n" if "\n" in text else " ") + text)
        at = f"at entry {list(self.entry)} " if self.entry else ""
        return "\n".join([f"{at}{self.left:.4g} and {self.right:.4g}, where", *lines])


def counterexample(a: TensorLike, b: TensorLike) -> Counterexample | None:
    """Return data on which two expressions of one shape clearly differ, where :func:`equal` is
    False.

    Returns
    =======

    The ``values`` of all symbols and axis lengths, the ``entry`` at which the expressions differ
    most, and what they are there, ``left`` and ``right``; None where no such data were found.

    Raises
    ======

    ShapeError : the shapes differ, which needs no data
    UnsupportedError : there is no numerical code for some function

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> found = se.counterexample(se.gradient(x @ A @ x, x), 2 * A @ x)
    >>> print(found)
    at entry [1] 0.6128 and 4.019, where
    A =
    [[ 0.388 -1.356]
     [ 1.256  0.392]]
    x = [1.304 0.947]
    n = 2
    >>> se.counterexample(x @ A @ x, x @ A.T @ x) is None
    True
    """
    a, b = as_operand(a), as_operand(b)
    left, right = shape_of(a), shape_of(b)
    if not same_shape(left, right):
        raise ShapeError(f"expressions of different shapes, {left} and {right}, always differ")
    return _counterexample(a, b)


def _counterexample(a: Operand, b: Operand) -> Counterexample | None:
    """Return the first data on which they differ, if they do so twice."""
    data = Samples([a, b])
    draws = data.draw(tuning.SAMPLES)
    found = list(islice((d for d in draws if _differ(data, d[0], *d[1])), 2))
    if len(found) < 2:
        return None
    values, (left, right) = found[0]
    gap = abs(left - right)
    entry = tuple(map(int, np.unravel_index(int(gap.argmax()), gap.shape)))
    symbols = dict(zip(data.symbols, values, strict=True))
    return Counterexample(symbols, entry, float(left[entry]), float(right[entry]))


def _vanishes_over_one(difference: Operand) -> bool:
    """Tell whether a scalar, or each entry of a tensor, is 0 once its terms are brought to one
    denominator, and functions made of exponentials are written as such."""
    scalar = entry_of(difference, tuning.MAX_FRACTIONS) if is_tensor(difference) else difference
    if not 1 < len(Add.make_args(scalar)) <= tuning.MAX_FRACTIONS:
        return bool(scalar == 0)
    if not _is_short(scalar):
        return False
    for function, written in _OF_EXPONENTIALS.items():
        scalar = scalar.replace(function, written)
    return _is_short(scalar) and normal_form(scalar.as_numer_denom()[0]) == 0


def _is_short(scalar: Expr) -> bool:
    """Tell whether SymPy, which walks a scalar as a tree, brings it to one denominator in a few
    seconds. Each function within another doubles the time."""
    return written_size(scalar) <= 16 * tuning.MAX_FRACTIONS


_OF_EXPONENTIALS: Mapping[type[Expr], Callable[[Expr], Expr]] = {
    sigmoid: lambda u: exp(u) / (1 + exp(u)),
    tanh: lambda u: (exp(2 * u) - 1) / (exp(2 * u) + 1),
    sinh: lambda u: (exp(u) - exp(-u)) / 2,
    cosh: lambda u: (exp(u) + exp(-u)) / 2,
    tan: lambda u: I * (1 - exp(2 * I * u)) / (1 + exp(2 * I * u)),
    sin: lambda u: I * (exp(-I * u) - exp(I * u)) / 2,
    cos: lambda u: (exp(I * u) + exp(-I * u)) / 2,
}


def _with_vectors(*exprs: Operand) -> list[Operand]:
    """Return the expressions with vectors of their own put on diagonals in the place of the
    matrices that are declared diagonal: these commute."""
    found = {s for e in exprs for s in e.free_symbols}
    names = {s.name for s in found}
    rule = {}
    for symbol in sorted(found, key=str):
        if is_diagonal(symbol):
            name = symbol.name
            while name in names:
                name += "'"
            names.add(name)
            rule[symbol] = diag(TensorSymbol(name, symbol.shape[:1]))
    return [e.xreplace(rule) for e in exprs] if rule else list(exprs)


def _differ(data: Samples, values: list[Argument], left: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether two values differ by more than rounding errors: those of single precision would
    be other ones, and larger."""
    gap = left - right
    size = np.max(abs(gap), initial=0)
    if size <= tuning.TOLERANCE * (1 + np.max(abs(left), initial=0)):
        return False
    short = data.values(
        [v if np.asarray(v).dtype.kind == "i" else np.asarray(v, np.float32)[()] for v in values]
    )
    return short is not None and bool(np.max(abs(short[0] - short[1] - gap)) < 0.1 * size)
