"""Code of tensor expressions inside that of ``sympy.lambdify`` and ``sympy.pycode``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import permutations
from typing import ClassVar

from sympy import (
    Basic,
    Derivative,
    Dummy,
    Expr,
    MatrixBase,
    NDimArray,
    Subs,
    Symbol,
    cse,
    flatten,
    log,
)
from sympy.combinatorics import Permutation
from sympy.core.function import AppliedUndef
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.numpy import NumPyPrinter, SciPyPrinter

from ..core import TensorError, UnsupportedError, postorder
from ..expressions import (
    TensorExpr,
    TensorSymbol,
    determinants_in,
    outermost,
    shape_of,
    stock_children,
)
from ..rules import stabilise
from .backends import (
    Backend,
    GivenFunctions,
    Place,
    Texts,
    as_tuple,
    axis_arguments,
    bracketed,
    is_plain_name,
)
from .backends.numpy_backend import NumpyBackend
from .emit.signature import plain_names
from .emit.writer import Writer
from .planning import make_plan

# Shared subexpressions and their symbols, as SymPy's cse gives them.
Shared = Sequence[tuple[Symbol, Expr]]


class _ExpressionBackend(NumpyBackend):
    """NumPy's backend for stock ``sympy.lambdify``, where a program must be a single expression."""

    words: ClassVar = {"len", "numpy", "scipy"}
    is_read_back = True
    spellings: ClassVar = {}

    def elementwise(self, operands: Texts, expr: Expr) -> str:
        """A SymPy scalar expression in slots, applied to every entry of arrays."""
        return self.scalar(operands, expr)

    def sum(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """The sum over axes, by the method."""
        return Backend.sum(self, operands, axes)

    def add_transposed(self, operands: Texts) -> str:
        """X + X'."""
        return f"{operands[0]} + {operands[0]}.T"

    def weighted_gram(self, operands: Texts) -> str:
        """X' diag(w) X."""
        return f"({operands[0]}.T * {operands[1]}).dot({operands[0]})"

    def common_type(self, arrays: Texts, scalars: Texts) -> str:
        """Floating point where there is no operand: nothing is known of the arguments."""
        return super().common_type(arrays, scalars or ([] if arrays else ["0.0"]))

    def write(self, place: Place, value: str, order: int, sign: int) -> str:
        """Writing into a diagonal or a part, as a call."""
        part = bracketed(place.cuts)
        diagonal, kept = place.subscripts.split("->")
        if diagonal == kept:
            new = f"{place.array}{part} {'+' if sign > 0 else '-'} {value}" if sign else value
            return f"{place.array}.__setitem__({f'np.s_{part}' if part else '...'}, {new})"
        view = f"np.einsum({place.subscripts!r}, {place.array}{part})"
        if not sign:
            return f"np.copyto({view}, {value})"
        return f"np.{'add' if sign > 0 else 'subtract'}({view}, {value}, out={view})"

    def cofactors(self, operands: Texts, order: int) -> str:
        """A derivative of det, as in the function ``cofactors``, all permutations written out."""
        rows, columns, values = (letters[:order] for letters in ("ijklmn", "IJKLMN", "abcdef"))
        pairs = list(map("".join, zip(rows, columns, strict=True)))
        free = order + 1 - len(operands)
        terms = []
        for turn in permutations(range(order)):
            left = [f"{i}{a}" for i, a in zip(rows, values, strict=True)]
            right = [f"{a}{columns[k]}" for a, k in zip(values, turn, strict=True)]
            terms_of = [*left, *right, values, *pairs[free:]]
            inputs = ",".join(f"...{term}" for term in terms_of)
            subscripts = f"{inputs}->...{''.join(pairs[:free])}"
            bases = ["u[0].conj()"] * order + ["u[2].conj()"] * order
            factors = ", ".join([*bases, "r", *operands[1:]])
            sign = "-" if Permutation(turn).is_odd else "+"
            terms.append(f"{sign} np.einsum({subscripts!r}, {factors}, optimize=True)")
        one = f"np.eye({operands[0]}.shape[-1])"
        places = [["None"] * k + [":"] + ["None"] * (order - 1 - k) for k in range(order)]
        chosen = " + ".join(f"{one}[{', '.join([*place, ':'])}]" for place in places)
        sign = f"(np.linalg.det(u[0]) * np.linalg.det(u[2]))[(..., {'None, ' * order})]"
        values_of = f"u[1][(..., {'None, ' * order}slice(None))]"
        product = f"np.where({chosen} > 0, 1, {values_of}).prod(-1)"
        inner = f"(lambda r: {' '.join(terms)})({sign} * {product})"
        return f"(lambda u: {inner})(np.linalg.svd({operands[0]}))"

    def windows(self, operands: Texts, axis: int, start: str, steps: Texts, counts: Texts) -> str:
        """An axis as several, copied."""
        i, k = (f"{step} * np.arange({n})" for step, n in zip(steps, counts, strict=True))
        return f"np.take({operands[0]}, {start} + ({i})[:, None] + {k}, {axis})"

    def tri(self, operands: Texts, rows: str, columns: str, offset: str) -> str:
        """Ones at and below a diagonal."""
        return f"np.tri({rows}, {columns}, {offset})"

    def lagged_cumsum(
        self, operands: Texts, axis: int, backwards: bool, lag: str, count: str
    ) -> str:
        """Running sums at other positions, as in the function ``lagged_cumsum``."""
        x = "x[..., ::-1]" if backwards else "x"
        first = f"x.shape[-1] - {lag} - np" if backwards else f"1 - {lag} + np"
        positions = f"np.clip({first}.arange({count}), 0, x.shape[-1])"
        total = f"np.take({_padded(x)}.cumsum(-1), {positions}, -1)"
        moved = f"np.moveaxis({operands[0]}, {axis}, -1)"
        return f"(lambda x: np.moveaxis({total}, -1, {axis}))({moved})"

    def mirrored(self, operands: Texts, larger: bool) -> str:
        """x at the larger of two positions, or at the smaller."""
        is_first = f"np.tri(x.shape[-1]){'' if larger else '.T'} > 0"
        entries = f"np.where({is_first}, x[..., :, None], x[..., None, :])"
        return f"(lambda x: {entries})({operands[0]})"

    def running_products(self, operands: Texts, backwards: bool) -> str:
        """1 and running products."""
        turn = "[..., ::-1]" if backwards else ""
        one = f"np.ones((*{operands[0]}.shape[:-1], 1))"
        return f"np.concatenate([{one}, {operands[0]}{turn}.cumprod(-1)], -1){turn}"

    def recurrence(self, operands: Texts, backwards: bool) -> str:
        """A linear recurrence; its matrix is built, since there are no loops in an expression."""
        matrix = "np.where(np.tri(x.shape[-1]) > 0, 1, x[..., None, :]).cumprod(-1)"
        return f"(lambda x: {_times_upper(operands[1], matrix, backwards)})({_padded(operands[0])})"

    def running_weights(self, operands: Texts) -> str:
        """The logarithms themselves."""
        return operands[0]

    def logcumsumexp(self, operands: Texts) -> str:
        """log Σ exp of all entries up to each."""
        return f"np.logaddexp.accumulate({operands[0]} + 0.0, -1)"

    def running_mean(self, operands: Texts, backwards: bool) -> str:
        """Means with the weights of running softmaxes, in a matrix."""
        x, c = operands
        y = self.logcumsumexp([x])
        matrix = f"np.exp(np.minimum({x}[..., :, None] - {y}[..., None, :], 0))"
        return _times_upper(c, matrix, backwards)

    def _exponential(self, operands: Texts) -> str:
        """The exponential of each matrix, or its derivative in the directions that follow."""
        return _along("scipy_linalg.expm({0})", operands)

    def matrix_power(self, operands: Texts, exponent: str) -> str:
        """A power of each matrix, or its derivative in the directions that follow."""
        return _along(f"np.linalg.matrix_power({{0}}, {exponent})", operands)

    def share(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """Where entries are equal to others, divided by how often they are."""
        over = "".join([f"{axis}, " for axis in axis_arguments(axes)])
        hits = f"({operands[0]} == {operands[1]})"
        return f"(lambda hits: hits / hits.sum({over}keepdims=True)){hits}"

    def positions(self, operands: Texts, name: str, axis: int) -> str:
        """Positions along an axis."""
        if name not in ("argcummax", "argcummin"):
            return super().positions(operands, name, axis)
        best = self.picked(operands, name.removeprefix("arg"), axis)
        ones = f"[1] * (np.ndim({operands[0]}) - 1 - {axis})"
        places = f"np.arange(np.shape({operands[0]})[{axis}]).reshape([-1] + {ones})"
        hits = f"np.where({operands[0]} == {best}, {places}, 0)"
        return f"np.maximum.accumulate({hits}, axis={axis})"

    def scatter(self, operands: Texts, lengths: Texts, once: bool) -> str:
        """Zeros, to which something is added at positions, as a call."""
        value, *positions = operands
        places = ", ".join(positions)
        zeros = f"np.zeros({as_tuple(lengths)} + np.shape({value})[np.broadcast({places}).ndim :])"
        return f"(lambda total: (np.add.at(total, ({places},), {value}), total)[1])({zeros})"

    def one_hot(self, operands: Texts, length: str) -> str:
        """Ones at positions on a last axis."""
        places = f"(np.asarray({operands[0]}) % {length})[..., None]"
        return f"({places} == np.arange({length})) * 1.0"

    def peak(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """The largest entries over axes, over all for None."""
        axis = "".join(axis_arguments(axes)) or "axis=None"
        return f"np.nan_to_num({operands[0]}.max({axis}, keepdims=True, initial=-np.inf))"

    def logsumexp(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """log Σ exp as a reduction."""
        return f"np.logaddexp.reduce({operands[0]}, {''.join(axis_arguments(axes)) or 'axis=None'})"

    def log_total(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """log Σ of weights."""
        return f"np.log({operands[0]}.sum({''.join(axis_arguments(axes))}))"

    def spectrum(self, operands: Texts, length: str, count: str, weighted: bool) -> str:
        """The Fourier transform along the last axis, once for each part."""
        z = f"np.fft.fft({operands[0]}, {length})[..., :{count}]"
        parts = f"np.stack([{z}.real, {z}.imag], -1)"
        return f"({parts} * {_twins(count, length)}[:, None])" if weighted else parts

    def from_spectrum(self, operands: Texts, length: str, count: str, weighted: bool) -> str:
        """The real part of the inverse Fourier transform, unnormalised."""
        whole = f"({operands[0]} + 1j * {operands[1]})"
        if weighted:
            whole += f" * {_twins(f'{operands[0]}.shape[-1]', length)}"
        return f"np.fft.ifft({whole}, {length}, norm='forward').real[..., :{count}]"

    def softmax(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """exp / Σ exp by log-sum-exp."""
        inside = f"{operands[0]}, {''.join(axis_arguments(axes)) or 'axis=None'}, keepdims=True"
        return f"np.exp({operands[0]} - np.logaddexp.reduce({inside}))"


class _StockFunctions(GivenFunctions):
    """The functions that stock ``lambdify`` was given; a name such as f' is looked up in what its
    code sees."""

    def __init__(self, printer: CodePrinter):
        super().__init__(taken=_ExpressionBackend.reserved())
        self.known = printer.known_functions

    def name(self, function: type) -> str:
        """The name of a function in the code."""
        own = function.__name__
        if own not in self.known:
            raise UnsupportedError(
                f"the function {own} has no numerical code; give it some, "
                f'sympy.lambdify(..., modules=[{{"{own}": numpy.sin}}, "numpy"])'
            )
        return own if own not in self.taken and is_plain_name(own) else f"globals()[{own!r}]"


def _twins(count: str, length: str) -> str:
    """2 for the frequencies that stand for their conjugates too, 1 for the others."""
    return f"np.where(2 * np.arange({count}) % {length} == 0, 1, 2)"


def _padded(x: str) -> str:
    """An array with a zero before it on the last axis."""
    return f"np.concatenate([np.zeros((*{x}.shape[:-1], 1)), {x}], -1)"


def _along(function: str, operands: Texts) -> str:
    """A function of each matrix, or its derivative, as in the function ``derivative_along``."""
    X, *directions = operands
    matrix = X
    for k, direction in enumerate(directions):
        for _ in range(k):
            direction = (
                f"np.block([[{direction}, 0 * {direction}], [0 * {direction}, {direction}]])"
            )
        matrix = f"np.block([[{matrix}, {direction}], [0 * {matrix}, {matrix}]])"
    block = f"[..., :{X}.shape[-1], -{X}.shape[-1]:]" if directions else ""
    return f"{function.format(matrix)}{block}"


def _times_upper(row: str, matrix: str, backwards: bool) -> str:
    """Rows times the upper triangles of matrices, or times their transposes."""
    subscripts = "...j,...ij->...i" if backwards else "...i,...ij->...j"
    return f"np.einsum({subscripts!r}, {row}, np.triu({matrix}))"


def stock_code(node: Expr, printer: CodePrinter, *args: object) -> str:
    """An expression inside SymPy's own NumPy code: one expression, a tuple of assignments
    of which the last counts, so that shared subexpressions are computed once here too."""
    free = node.free_symbols
    known = {s for e in free for length in shape_of(e) for s in length.free_symbols}
    lengths = getattr(printer, "_lengths_of_arguments", {})
    symbols = sorted(free - known - set(lengths), key=str)
    for symbol in symbols:
        _check_name(symbol)
    names = {s: printer._print(s) if isinstance(s, Dummy) else s.name for s in symbols}
    for symbol in symbols:
        for axis, length in enumerate(shape_of(symbol)):
            names.setdefault(length, f"{symbol.name}.shape[{axis}]")
    if lengths:
        names = {**lengths, **names}
        _check_lengths(node, known.union(lengths))
    exprs, _ = stabilise([node], numeric=True)
    backend = _ExpressionBackend()
    backend.functions = _StockFunctions(printer)
    steps, results = Writer(make_plan(exprs), names, backend, "_t").write()
    parts = [f"{target} := {text}" if target else text for target, text, *_ in steps]
    code = f"({', '.join([*(f'({part})' for part in parts), *results])},)[-1]"
    unknown = backend.used_support(code)
    if unknown:
        name = unknown.split("def ")[1].partition("(")[0]
        raise UnsupportedError(f"sympy.lambdify has no {name}; use sympy_einsum.lambdify")
    if (
        ("special." in code or "scipy_linalg." in code)
        and isinstance(printer, NumPyPrinter)
        and not isinstance(printer, SciPyPrinter)
    ):
        raise UnsupportedError("this expression needs SciPy: sympy.lambdify(..., modules='scipy')")
    code = re.sub(r"\bspecial\.", "scipy.special.", code)
    code = re.sub(r"\bscipy_linalg\.", "scipy.linalg.", code)
    return re.sub(r"\bnp\.", "numpy.", code)


def _is_plain(symbol: Symbol, taken: Collection[str] = ()) -> bool:
    reserved = {*_ExpressionBackend.reserved(), *taken}
    return plain_names([symbol], reserved) == [symbol.name]


def _check_name(symbol: Symbol, taken: Collection[str] = ()) -> None:
    if not _is_plain(symbol, taken):
        raise UnsupportedError(
            f"sympy.lambdify can't take the name {symbol.name!r} safely; use sympy_einsum.lambdify"
        )


def _check_lengths(node: Expr, known: Collection[Expr]) -> None:
    """All axis lengths in a graph have to be known."""
    inside = {s for n in postorder([node]) for e in shape_of(n) for s in e.free_symbols}
    missing = {s for s in inside.difference(known) if not isinstance(s, Dummy)}
    if missing:
        raise TensorError(
            f"{min(missing, key=str)} is an axis length, but neither an argument nor an axis "
            "length of one; add it to the arguments"
        )


# --- functions that SymPy writes ------------------------------------------------------------------
# SymPy prints the parts of an expression one by one and tells printers nothing of the arguments. So
# what needs the whole is done to the expression before it is printed: stable forms, and lines that
# read axis lengths from the arguments.


def prepared(
    printer: CodePrinter, args: object, expr: object, cses: Shared
) -> tuple[object, Shared]:
    """Rewrite the expression and the shared parts that SymPy's lambdify prints, so that code for
    tensors is right; expressions without tensors stay."""
    arguments = flatten([args])
    tensors = [arg for arg in arguments if isinstance(arg, TensorSymbol)]
    is_ours = any(isinstance(node, TensorExpr) for node in _nodes(expr, cses))
    if not (is_ours or tensors):
        return expr, cses
    lengths = {arg: arg.name for arg in arguments if isinstance(arg, Symbol)}
    taken = {*lengths.values(), *(arg.name for arg in tensors)}
    reads: dict[Expr, str] = {}
    for arg in tensors:
        for axis, length in enumerate(arg.shape):
            if length.is_Symbol and length not in lengths and _is_plain(arg):
                reads.setdefault(length, f"{arg.name}.shape[{axis}]")
    if isinstance(printer, NumPyPrinter):
        expr, cses = _stabilised(expr, cses)
    # A length may also stand outside of the tensor expressions, as in the mean Σ x / n, where SymPy
    # takes it for a symbol of its own.
    given = sorted(_nodes(expr, cses).intersection(reads), key=str)
    for length in given:
        _check_name(length, taken)
    printer._lengths_of_arguments = {**lengths, **reads}
    cses = [*((length, Symbol(reads[length])) for length in given), *cses]
    return expr, cses


def _nodes(expr: object, cses: Shared) -> set[Basic]:
    """Return the nodes that SymPy prints, those of tensor expressions as one."""
    found: set[Basic] = set()

    def look(part: object) -> object:
        if isinstance(part, Basic):
            found.update(postorder([part], stock_children))
        return part

    _in_parts(look, [expr, [shared for _, shared in cses]])
    return found


def _stabilised(expr: object, cses: Shared) -> tuple[object, Shared]:
    """Rewrite the argument of lambdify and its shared parts in numerically stable forms, which
    don't depend on sharing."""
    shared = {symbol: part for symbol, part in cses if part is not None}

    def whole(part: object) -> object:
        for symbol in reversed(shared):
            part = part.xreplace({symbol: shared[symbol]}) if isinstance(part, Basic) else part
        return part

    before = _in_parts(whole, expr) if shared else expr
    after = _in_parts(_stable, before)
    if shared and after != before:
        cses, expr = cse(after, list=False)
    elif not shared:
        expr = after
    return _in_parts(_by_us, expr), cses


def _in_parts(f: Callable[[object], object], expr: object) -> object:
    """Apply a function to the expressions in the argument of lambdify."""
    if isinstance(expr, (list, tuple)):
        parts = [_in_parts(f, part) for part in expr]
        return parts if isinstance(expr, list) else tuple(parts)
    if isinstance(expr, dict):
        return {key: _in_parts(f, part) for key, part in expr.items()}
    if isinstance(expr, (MatrixBase, NDimArray)):
        return expr.applyfunc(f)
    return f(expr)


def _stable(expr: object) -> object:
    """A stock scalar with tensor expressions inside, in stable forms."""
    if not isinstance(expr, Expr) or isinstance(expr, TensorExpr) or not outermost(expr):
        return expr
    return stabilise([expr], numeric=True)[0][0]


def _by_us(expr: object) -> object:
    """A stock scalar in which we write the logarithms of determinants and derivatives of unknown
    functions."""
    if not isinstance(expr, Expr) or isinstance(expr, TensorExpr):
        return expr
    ours = [e for e in postorder([expr], stock_children) if _is_ours(e)]
    return expr.xreplace({e: _Own(e) for e in ours})


def _is_ours(expr: Basic) -> bool:
    if isinstance(expr, log):
        return bool(determinants_in(expr.args[0])[0])
    is_derived = isinstance(expr, AppliedUndef) and not type(expr).__name__.isidentifier()
    return is_derived or isinstance(expr, (Derivative, Subs))


class _Own(Expr):
    """A stock scalar whose code is ours, not SymPy's."""

    def _numpycode(self, printer: CodePrinter, *args: object) -> str:
        return stock_code(self.args[0], printer)
