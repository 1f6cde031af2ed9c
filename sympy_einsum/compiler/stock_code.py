"""Code of tensor expressions inside that of ``sympy.lambdify`` and ``sympy.pycode``."""

from __future__ import annotations

import ast
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
    Binder,
    TensorExpr,
    TensorSymbol,
    determinants_in,
    evaluated,
    outermost,
    shape_of,
    stock_children,
)
from ..rules import stabilise
from .backends import (
    ALL_ENTRIES,
    NEW_AXIS,
    Backend,
    Codes,
    Destination,
    GivenFunctions,
    along_axes,
    bracketed,
    is_plain_name,
)
from .backends.numpy_backend import NumpyBackend
from .emit.printer import printed
from .emit.signature import plain_names
from .emit.writer import Writer
from .ir.code import (
    Code,
    call,
    constant,
    dotted,
    name,
    names_in,
    quote,
    rewritten,
    subscript,
    total,
    with_keywords,
)
from .planning import make_plan

# Shared subexpressions and their symbols, as SymPy's cse gives them.
Shared = Sequence[tuple[Symbol, Expr]]


class _ExpressionBackend(NumpyBackend):
    """NumPy's backend for stock ``sympy.lambdify``, where a program must be a single expression."""

    words: ClassVar = {"len", "numpy", "scipy"}
    is_read_back = True
    spellings: ClassVar = {}

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots, applied to every entry of arrays."""
        return self.scalar(operands, expr)

    def sum(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell the sum over axes, by the method."""
        return Backend.sum(self, operands, axes)

    def add_transposed(self, operands: Codes) -> Code:
        """Spell X + X'."""
        return quote("{0} + {0}.T", operands[0])

    def weighted_gram(self, operands: Codes) -> Code:
        """Spell X' diag(w) X."""
        return quote("({0}.T * {1}).dot({0})", *operands)

    def common_type(self, arrays: Codes, scalars: Codes) -> Code:
        """Spell a floating-point type where there is no operand: nothing is known of the
        arguments."""
        return super().common_type(arrays, scalars or ([] if arrays else [constant(0.0)]))

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell writing into a diagonal or a part as a call."""
        part = bracketed(place.array, place.slices)
        if not place.is_diagonal:
            entries = part.slice if isinstance(part, ast.Subscript) else None
            where = quote("...") if entries is None else ast.Subscript(dotted("np.s_"), entries)
            if sign:
                value = total(part, [(sign < 0, value)])
            return ast.Expr(quote("{0}.__setitem__({1}, {2})", place.array, where, value))
        view = quote("np.einsum({0}, {1})", place.subscripts, part)
        if not sign:
            return ast.Expr(quote("np.copyto({0}, {1})", view, value))
        function = "np.add" if sign > 0 else "np.subtract"
        return ast.Expr(with_keywords(call(function, view, value), out=view))

    def cofactors(self, operands: Codes, order: int) -> Code:
        """Spell a derivative of det, as in the function ``cofactors``, all permutations written
        out."""
        rows, columns, values = (letters[:order] for letters in ("ijklmn", "IJKLMN", "abcdef"))
        pairs = list(map("".join, zip(rows, columns, strict=True)))
        free = order + 1 - len(operands)
        bases = [quote("u[0].conj()")] * order + [quote("u[2].conj()")] * order
        terms = []
        for turn in permutations(range(order)):
            left = [f"{i}{a}" for i, a in zip(rows, values, strict=True)]
            right = [f"{a}{columns[k]}" for a, k in zip(values, turn, strict=True)]
            terms_of = [*left, *right, values, *pairs[free:]]
            inputs = ",".join(f"...{term}" for term in terms_of)
            subscripts = f"{inputs}->...{''.join(pairs[:free])}"
            factors = [*bases, name("r"), *operands[1:]]
            code = quote("np.einsum({0}, {*1}, optimize=True)", subscripts, factors)
            terms.append((Permutation(turn).is_odd, code))
        (_, first), *rest = terms
        one = quote("np.eye({0}.shape[-1])", operands[0])
        places = [
            [NEW_AXIS] * k + [ALL_ENTRIES.code] + [NEW_AXIS] * (order - 1 - k) for k in range(order)
        ]
        chosen = [subscript(one, [*place, ALL_ENTRIES.code]) for place in places]
        new = [NEW_AXIS] * order
        return quote(
            "(lambda u: (lambda r: {0})((np.linalg.det(u[0]) * np.linalg.det(u[2]))[(..., {*1})]"
            " * np.where({2} > 0, 1, u[1][(..., {*1}, slice(None))]).prod(-1)))"
            "(np.linalg.svd({3}))",
            *(total(first, rest), new, total(chosen[0], [(False, own) for own in chosen[1:]])),
            operands[0],
        )

    def windows(self, operands: Codes, axis: int, start: Code, steps: Codes, counts: Codes) -> Code:
        """Spell an axis as several, copied."""
        i, k = (
            quote("{0} * np.arange({1})", step, count)
            for step, count in zip(steps, counts, strict=True)
        )
        template = "np.take({0}, {1} + ({2})[:, None] + {3}, {4})"
        return quote(template, operands[0], start, i, k, axis)

    def tri(self, operands: Codes, rows: Code, columns: Code, offset: Code) -> Code:
        """Spell ones at and below a diagonal."""
        return call("np.tri", rows, columns, offset)

    def lagged_cumsum(
        self, operands: Codes, axis: int, backwards: bool, lag: Code, count: Code
    ) -> Code:
        """Spell running sums at other positions, as in the function ``lagged_cumsum``."""
        x = quote("x[..., ::-1]" if backwards else "x")
        template = "x.shape[-1] - {0} - np.arange({1})"
        if not backwards:
            template = "1 - {0} + np.arange({1})"
        positions = quote("np.clip({0}, 0, x.shape[-1])", quote(template, lag, count))
        sums = quote("np.take({0}.cumsum(-1), {1}, -1)", _padded(x), positions)
        template = "(lambda x: np.moveaxis({0}, -1, {1}))(np.moveaxis({2}, {1}, -1))"
        return quote(template, sums, axis, operands[0])

    def mirrored(self, operands: Codes, larger: bool) -> Code:
        """Spell x at the larger of two positions, or at the smaller."""
        is_first = quote(f"np.tri(x.shape[-1]){'' if larger else '.T'} > 0")
        template = "(lambda x: np.where({0}, x[..., :, None], x[..., None, :]))({1})"
        return quote(template, is_first, operands[0])

    def running_products(self, operands: Codes, backwards: bool) -> Code:
        """Spell 1 and running products."""
        order = "[..., ::-1]" if backwards else ""
        one = "np.ones((*{0}.shape[:-1], 1))"
        template = f"np.concatenate([{one}, {{0}}{order}.cumprod(-1)], -1){order}"
        return quote(template, operands[0])

    def recurrence(self, operands: Codes, backwards: bool) -> Code:
        """Spell a linear recurrence; its matrix is built, since there are no loops in an
        expression."""
        matrix = quote("np.where(np.tri(x.shape[-1]) > 0, 1, x[..., None, :]).cumprod(-1)")
        product = _times_upper(operands[1], matrix, backwards)
        return quote("(lambda x: {0})({1})", product, _padded(operands[0]))

    def running_weights(self, operands: Codes) -> Code:
        """Spell the logarithms themselves."""
        return operands[0]

    def logcumsumexp(self, operands: Codes) -> Code:
        """Spell log Σ exp of all entries up to each."""
        return quote("np.logaddexp.accumulate({0} + 0.0, -1)", operands[0])

    def running_mean(self, operands: Codes, backwards: bool) -> Code:
        """Spell means with the weights of running softmaxes, in a matrix."""
        x, c = operands
        y = self.logcumsumexp([x])
        matrix = quote("np.exp(np.minimum({0}[..., :, None] - {1}[..., None, :], 0))", x, y)
        return _times_upper(c, matrix, backwards)

    def _exponential(self, operands: Codes) -> Code:
        """Spell the exponential of each matrix, or its derivative in the directions that follow."""
        return _along("scipy_linalg.expm({0})", operands)

    def matrix_power(self, operands: Codes, exponent: Code) -> Code:
        """Spell a power of each matrix, or its derivative in the directions that follow."""
        return _along("np.linalg.matrix_power({0}, {1})", operands, exponent)

    def share(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell where entries are equal to others, divided by their count."""
        total = with_keywords(along_axes(quote("hits.sum()"), axes), keepdims=True)
        return quote("(lambda hits: hits / {0})({1} == {2})", total, *operands)

    def positions(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell positions along an axis."""
        if name not in ("argcummax", "argcummin"):
            return super().positions(operands, name, axis)
        best = self.picked(operands, name.removeprefix("arg"), axis)
        places = "np.arange(np.shape({0})[{1}]).reshape([-1] + [1] * (np.ndim({0}) - 1 - {1}))"
        template = f"np.maximum.accumulate(np.where({{0}} == {{2}}, {places}, 0), axis={{1}})"
        return quote(template, operands[0], axis, best)

    def scatter(self, operands: Codes, lengths: Codes, once: bool) -> Code:
        """Spell zeros, to which something is added at positions, as a call."""
        value, *positions = operands
        zeros = quote(
            "np.zeros({0} + np.shape({1})[np.broadcast({*2}).ndim:])", lengths, value, positions
        )
        template = "(lambda total: (np.add.at(total, {0}, {1}), total)[1])({2})"
        return quote(template, positions, value, zeros)

    def one_hot(self, operands: Codes, length: Code) -> Code:
        """Spell ones at positions on a last axis."""
        template = "((np.asarray({0}) % {1})[..., None] == np.arange({1})) * 1.0"
        return quote(template, operands[0], length)

    def peak(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell the largest entries over axes, over all for None."""
        largest = quote("{0}.max(keepdims=True, initial=-np.inf)", operands[0])
        return call("np.nan_to_num", _over(largest, axes))

    def logsumexp(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell log Σ exp as a reduction."""
        return _over(call("np.logaddexp.reduce", operands[0]), axes)

    def log_total(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell log Σ of weights."""
        return call("np.log", along_axes(quote("{0}.sum()", operands[0]), axes))

    def spectrum(self, operands: Codes, length: Code, count: Code, weighted: bool) -> Code:
        """Spell the Fourier transform along the last axis, once for each part."""
        z = quote("np.fft.fft({0}, {1})[..., :{2}]", operands[0], length, count)
        parts = quote("np.stack([{0}.real, {0}.imag], -1)", z)
        if not weighted:
            return parts
        return quote("{0} * {1}[:, None]", parts, _twins(count, length))

    def from_spectrum(self, operands: Codes, length: Code, count: Code, weighted: bool) -> Code:
        """Spell the real part of the inverse Fourier transform, unnormalised."""
        whole = quote("{0} + 1j * {1}", *operands)
        if weighted:
            twins = _twins(quote("{0}.shape[-1]", operands[0]), length)
            whole = quote("{0} * {1}", whole, twins)
        template = 'np.fft.ifft({0}, {1}, norm="forward").real[..., :{2}]'
        return quote(template, whole, length, count)

    def softmax(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell exp / Σ exp by log-sum-exp."""
        total = _over(quote("np.logaddexp.reduce({0}, keepdims=True)", operands[0]), axes)
        return quote("np.exp({0} - {1})", operands[0], total)


class _StockFunctions(GivenFunctions):
    """The functions that stock ``lambdify`` was given; a name such as f' is looked up in what its
    code sees."""

    def __init__(self, printer: CodePrinter):
        super().__init__(taken=_ExpressionBackend.reserved())
        self.known = printer.known_functions

    def name(self, function: type) -> str:
        """Return the name of a function in the code."""
        own = function.__name__
        if own not in self.known:
            raise UnsupportedError(
                f"the function {own} has no numerical code; give it some, "
                f'sympy.lambdify(..., modules=[{{"{own}": numpy.sin}}, "numpy"])'
            )
        return own if own not in self.taken and is_plain_name(own) else f"globals()[{own!r}]"


def _over(code: Code, axes: Sequence[int] | None) -> Code:
    """Return a call with the argument that names axes, which is None for all."""
    return with_keywords(code, axis=None) if axes is None else along_axes(code, axes)


def _twins(count: Code, length: Code) -> Code:
    """Spell 2 for the frequencies that stand for their conjugates too, 1 for the others."""
    return quote("np.where(2 * np.arange({0}) % {1} == 0, 1, 2)", count, length)


def _padded(x: Code) -> Code:
    """Spell an array with a zero before it on the last axis."""
    return quote("np.concatenate([np.zeros((*{0}.shape[:-1], 1)), {0}], -1)", x)


def _along(function: str, operands: Codes, *more: Code) -> Code:
    """Spell a function of each matrix, or its derivative, as in the function
    ``derivative_along``."""
    X, *directions = operands
    matrix = X
    for k, direction in enumerate(directions):
        for _ in range(k):
            direction = quote("np.block([[{0}, 0 * {0}], [0 * {0}, {0}]])", direction)
        matrix = quote("np.block([[{0}, {1}], [0 * {0}, {0}]])", matrix, direction)
    value = quote(function, matrix, *more)
    if not directions:
        return value
    return quote("{0}[..., :{1}.shape[-1], -{1}.shape[-1]:]", value, X)


def _times_upper(row: Code, matrix: Code, backwards: bool) -> Code:
    """Spell rows times the upper triangles of matrices, or times their transposes."""
    subscripts = "...j,...ij->...i" if backwards else "...i,...ij->...j"
    return quote("np.einsum({0}, {1}, np.triu({2}))", subscripts, row, matrix)


def stock_code(node: Expr, printer: CodePrinter, *args: object) -> str:
    """Spell an expression inside SymPy's own NumPy code: one expression, a tuple of assignments of
    which the last counts, so that shared subexpressions are computed once here too."""
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
    (node,) = evaluated([node])
    if any(isinstance(own, Binder) for own in postorder([node])):
        raise UnsupportedError(
            "sympy.lambdify writes one expression, which has no loops; use sympy_einsum.lambdify, "
            "or write the steps of scans out with unroll"
        )
    exprs, _ = stabilise([node], numeric=True)
    backend = _ExpressionBackend()
    backend.functions = _StockFunctions(printer)
    steps, results = Writer(make_plan(exprs), names, backend, "_t").write()
    parts: list[Code] = []
    for step in steps:
        value = step.code.value if isinstance(step.code, ast.Expr) else step.code
        assert isinstance(value, ast.expr)
        parts.append(ast.NamedExpr(ast.Name(step.target), value) if step.target else value)
    tree = rewritten(quote("({*0},)[-1]", [*parts, *results]), _for_sympy)
    used = names_in(tree)
    unknown = backend.used_support(used)
    if unknown:
        raise UnsupportedError(f"sympy.lambdify has no {unknown[0]}; use sympy_einsum.lambdify")
    if (
        "scipy" in used
        and isinstance(printer, NumPyPrinter)
        and not isinstance(printer, SciPyPrinter)
    ):
        raise UnsupportedError("this expression needs SciPy: sympy.lambdify(..., modules='scipy')")
    return printed(tree)


# The modules that SymPy's code names otherwise.
_MODULES = {"np": "numpy", "special": "scipy.special", "scipy_linalg": "scipy.linalg"}


def _for_sympy(node: object) -> Code | None:
    """Return the name of a module in SymPy's code."""
    own = _MODULES.get(node.id) if isinstance(node, ast.Name) else None
    return None if own is None else dotted(own)


def _is_plain(symbol: Symbol, taken: Collection[str] = ()) -> bool:
    reserved = {*_ExpressionBackend.reserved(), *taken}
    return plain_names([symbol], reserved) == [symbol.name]


def _check_name(symbol: Symbol, taken: Collection[str] = ()) -> None:
    if not _is_plain(symbol, taken):
        raise UnsupportedError(
            f"sympy.lambdify can't take the name {symbol.name!r} safely; use sympy_einsum.lambdify"
        )


def _check_lengths(node: Expr, known: Collection[Expr]) -> None:
    """Require that all axis lengths in a graph are known."""
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
    """Rewrite a stock scalar with tensor expressions inside in stable forms."""
    if not isinstance(expr, Expr) or isinstance(expr, TensorExpr) or not outermost(expr):
        return expr
    return stabilise([expr], numeric=True)[0][0]


def _by_us(expr: object) -> object:
    """Mark the parts of a stock scalar that we write: logarithms of determinants and derivatives of
    unknown functions."""
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
