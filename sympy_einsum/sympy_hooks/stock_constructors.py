"""Stock classes and functions of SymPy, where a tensor with axes takes part.

Their constructors would make nodes without axes: each goes its own way for a tensor with axes, and
SymPy's, its first argument, in all other cases. ``table.py`` lists what they stand in for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

from sympy import (
    Add,
    Basic,
    Expr,
    Integral,
    Mod,
    Piecewise,
    Pow,
    S,
    Sum,
    Symbol,
    Tuple,
    adjoint as stock_adjoint,
    log,
    transpose as stock_transpose,
)
from sympy.core.function import FunctionClass
from sympy.core.relational import Relational, is_eq
from sympy.integrals.transforms import IntegralTransform
from sympy.logic.boolalg import BooleanFunction
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.multipledispatch import dispatch
from sympy.tensor.array import NDimArray

from .. import operations as ops
from ..core import FLOAT_DIGITS, ShapeError, TensorError, UnsupportedError, deferred, postorder
from ..expressions import (
    OF_COMPLEX,
    STOCK_VARIABLES,
    Constant,
    TensorExpr,
    are_numeric,
    as_half_power,
    as_operand,
    elementwise,
    holds_complex,
    holds_tensor,
    is_tensor,
    kinds_in,
    lengths_of,
    outermost,
    over_symbol,
    stock_children,
    sums_entries,
)
from .algebra import is_array, substituted
from .patterns import is_pattern
from .replacing import as_query, is_function, replaced

# SymPy's own function behind a replacement.
Stock: TypeAlias = Callable[..., Any]
# The variable of a sum, integral or derivative, or one with its bounds or a count.
Limits: TypeAlias = Expr | Sequence[Expr | int]
# Postprocessors that Add, Mul and Pow call after flattening, by the types of their arguments.
Postprocessors: TypeAlias = MutableMapping[type, dict[str, list[Callable[[Expr], Expr]]]]

_diff = deferred("calculus", "diff")
_derivative = deferred("calculus", "unevaluated")
_is_part_of_symbol = deferred("calculus", "is_part_of_symbol")
_over = deferred("rules", "over")
_symbols_outside = deferred("rules", "symbols_outside")
_limit = deferred("power_series", "limit")
_series = deferred("power_series", "series")
_of_tensors_in = deferred("convert", "of_tensors")
_written_out = deferred("convert", "as_explicit")
_floats = deferred("evaluation", "floats")
_number = deferred("evaluation", "evaluated_scalar")

# --- Add, Mul and Pow ----------------------------------------------------------------------------


def _after_add(expr: Expr) -> Expr:
    return ops.add(*expr.args) if expr.is_Add and any(map(is_tensor, expr.args)) else expr


def _after_mul(expr: Expr) -> Expr:
    if not (expr.is_Mul and any(map(is_tensor, expr.args))):
        return expr
    if any(isinstance(arg, MatrixExpr) for arg in expr.args):
        # Mul forgets the order of its arguments, and the product isn't one entry by entry.
        raise TensorError(f"Mul of tensors and SymPy's matrices, {expr.args}: write @")
    return ops.multiply(*expr.args)


def _after_pow(expr: Expr) -> Expr:
    return ops.power(*expr.args) if expr.is_Pow and any(map(is_tensor, expr.args)) else expr


def power_of_power(stock: Stock, power: Pow, exponent: Expr) -> Expr | None:
    """Return a power of a power by its exponent; None where they aren't multiplied.

    SymPy asks for the real part and the angle of a base that may be complex or infinite, and writes
    both out, in which all that is shared inside is written again.
    """
    base, inner = power.as_base_exp()
    is_open = base.is_extended_real is None and not (exponent.is_integer or base.is_polar)
    if is_open and inner.is_extended_real and not abs(inner) < 1 and outermost(base):
        return None
    result: Expr | None = stock(power, exponent)
    return result


def combined_logarithms(stock: Stock, expr: Expr, force: bool = False) -> Expr:
    """Call SymPy's ``logcombine``, which walks the tree: exp asks it for each of its factors."""
    if outermost(expr) and not any(isinstance(e, log) for e in postorder([expr], stock_children)):
        return expr
    result: Expr = stock(expr, force)
    return result


def monotonic_sign(stock: Stock, expr: Expr) -> Expr | None:
    """Bound the sign of an expression as SymPy does, multiplying nested fractions out; None if the
    expression holds tensors, of which no such bound is known."""
    result: Expr | None = None if outermost(expr) else stock(expr)
    return result


def with_tensors(stock: Postprocessors) -> Postprocessors:
    """Return SymPy's table of postprocessors, with those of tensors."""
    stock[TensorExpr] = {
        "Add": [_after_add],
        "Mul": [_after_mul],
        "Pow": [_after_pow, as_half_power],
    }
    # SymPy applies what it finds in any order, so what it does with matrices comes after ours.
    (of_matrices,) = stock[MatrixExpr]["Mul"]
    stock[MatrixExpr]["Mul"] = [lambda expr: of_matrices(_after_mul(expr))]
    return stock


# --- stock functions -----------------------------------------------------------------------------
# SymPy asks the arguments of Add, Mul and Pow what to do, but not those of functions: ``exp(x)``
# would be a scalar node, whose sum is itself and whose quotient by itself is one number. So calling
# a function class looks at its arguments; without axes among them it does what it always did.

_OF_MATRICES = (stock_transpose, stock_adjoint)
_MAY_HOLD_AXES = (TensorExpr, tuple, list, Tuple)


def call_function(stock: Stock, cls: FunctionClass, *args: object, **options: object) -> Basic:
    """Apply a function class to its arguments."""
    if (
        cls in OF_COMPLEX
        and len(args) == 1
        and isinstance(args[0], Expr)
        and any(map(holds_complex, outermost(args[0])))
    ):
        return OF_COMPLEX[cls](args[0])
    for arg in args:
        if isinstance(arg, _MAY_HOLD_AXES):
            return _of_tensors(stock, cls, args, options)
    return stock(cls, *args, **options)


def _of_tensors(
    stock: Stock, cls: FunctionClass, args: Sequence[Any], options: dict[str, object]
) -> Basic:
    if cls is Piecewise:
        if any(map(_holds_axes, args)):
            return ops.choose([tuple(pair) for pair in args])
    elif any(map(is_tensor, args)):
        if issubclass(cls, IntegralTransform):
            raise UnsupportedError(
                f"no {cls.__name__} of tensors: take that of the scalar function of an entry, and "
                "apply the result with elementwise"
            )
        if cls.is_commutative is False:
            raise TensorError(
                f"{cls.__name__} doesn't commute, as functions of entries do; write the products "
                "with @"
            )
        if not issubclass(cls, _OF_MATRICES):
            return (ops.logical if issubclass(cls, BooleanFunction) else elementwise)(cls, *args)
    elif cls is Mod:
        # It would ask for a common divisor, and that takes what has __getitem__ for a list.
        options.setdefault("evaluate", False)
    return stock(cls, *args, **options)


def _holds_axes(pair: object) -> bool:
    """Tell whether a branch of a Piecewise has a tensor with axes in its value or its condition."""
    parts = pair if isinstance(pair, (tuple, list, Tuple)) else ()
    return any(isinstance(part, Basic) and holds_tensor(part) for part in parts)


# --- derivatives, integrals, sums, limits --------------------------------------------------------


def _bound(limit: Limits) -> Expr:
    """Return the variable of a limit or of a count of derivatives."""
    return limit[0] if isinstance(limit, (tuple, list, Tuple)) and len(limit) else limit


def _is_length(variable: object, tensor: Basic) -> bool:
    return isinstance(variable, Basic) and variable in lengths_of(tensor)


def _tensors_in(expr: object) -> set[Basic]:
    inside = outermost(expr) if isinstance(expr, Expr) else []
    return {leaf for node in inside for leaf in node.free_symbols}


def _check_lengths(name: str, expr: object, *variables: object) -> None:
    """Raise UnsupportedError where an expression depends on a variable by axis lengths, so that
    SymPy would take it for constant."""
    tensors = _tensors_in(expr)
    clash = [(v, tensor) for v in variables for tensor in tensors if _is_length(v, tensor)]
    if clash:
        length, tensor = min(clash, key=str)
        raise UnsupportedError(
            f"no {name} over {length}: it is an axis length of {tensor}, of shape {tensor.shape}; "
            f"write the tensors out in entries, or put numbers in its place, .subs({length}, 3)"
        )


def derivative(stock: Stock, cls: type, expr: Expr, *variables: Limits, **options: object) -> Expr:
    """Make a ``Derivative``."""
    wrt = [_bound(variable) for variable in variables]
    if is_tensor(expr) or any(map(_is_ours, wrt)):
        if options.get("evaluate"):
            return _diff(expr, *variables)
        _check_lengths(cls.__name__, expr, *wrt)
        return _derivative(expr, *variables)
    _check_lengths(cls.__name__, expr, *wrt)
    return stock(cls, expr, *variables, **options)


def _is_ours(value: object) -> bool:
    """Tell whether a variable is a tensor, or a part, which SymPy doesn't differentiate by."""
    return is_tensor(value) or (isinstance(value, TensorExpr) and not value.is_symbol)


def with_limits(stock: Stock, cls: type, function: Any, *limits: Limits, **options: object) -> Expr:
    """Make an ``Integral``, a ``Sum`` or a ``Product``."""
    variables = [_bound(limit) for limit in limits]
    for variable in variables:
        if isinstance(variable, TensorExpr):
            raise TensorError(
                f"{cls.__name__} goes over ordinary symbols, not over the tensor {variable}"
            )
    _check_lengths(cls.__name__, function, *variables)
    if is_tensor(function):
        if cls not in (Integral, Sum) or not all(isinstance(v, Symbol) for v in variables):
            return _over(cls, function, *limits)
        for variable, *bounds in stock(cls, Add(*variables), *limits).limits:
            function = over_symbol(cls.__name__, function, variable, bounds)
        return function
    if isinstance(function, Expr):
        held = [e for e in outermost(function) if not e.free_symbols.isdisjoint(variables)]
        function = function.xreplace({node: _symbols_outside(node) for node in held})
    return stock(cls, function, *limits, **options)


def sum_value(stock: Stock, self: Expr, **hints: object) -> Expr:
    """Return the value of a ``Sum`` or a ``Product``; over entries of tensors without limits."""
    found = as_operand(self) if sums_entries(self) else self
    return found if found is not self else stock(self, **hints)


def limit(stock: Stock, cls: type, expr: Any, variable: Any, *args: Any, **options: Any) -> Expr:
    """Make a ``Limit``, of a tensor its value."""
    _check_lengths(cls.__name__, expr, variable)
    if is_tensor(expr):
        return _limit(expr, variable, *args, **options)
    return stock(cls, expr, variable, *args, **options)


def series(stock: Stock, self: Expr, x: Any = None, *args: Any, **options: Any) -> Any:
    """Call the method ``series``; of a tensor without O(x**n)."""
    _check_lengths("series", self, x)
    if is_tensor(self) and x is not None:
        given = {**dict(zip(("x0", "n"), args, strict=False)), **options}
        return _series(self, x, given.get("x0", 0), given.get("n", 6))
    return stock(self, x, *args, **options)


def is_constant(stock: Stock, self: Expr, *wrt: Any, **flags: Any) -> bool | None:
    """Tell whether nothing in it varies, as the method ``is_constant``."""
    if _depends(self, wrt) and _depends(self.simplify(), wrt):
        return False
    return stock(self, *wrt, **flags)


def _depends(expr: Expr, wrt: Sequence[Any]) -> bool:
    """Tell whether some of the variables, or of all without any, are tensors in it, or their
    lengths."""
    tensors = {leaf for leaf in _tensors_in(expr) if isinstance(leaf, TensorExpr)}
    if not wrt:
        return bool(tensors)
    return any(v in tensors or _is_length(v, tensor) for v in wrt for tensor in tensors)


# --- relations, matrices, arrays -----------------------------------------------------------------


def relation(stock: Stock, cls: type[Relational], lhs: Expr, rhs: Expr, **options: object) -> Expr:
    """Make an inequality."""
    if is_tensor(lhs) or is_tensor(rhs):
        return ops.compare(cls, lhs, rhs)
    return stock(cls, lhs, rhs, **options)


def _eval_is_eq(lhs: TensorExpr, rhs: Expr) -> bool | None:
    """Tell whether a scalar without symbols, whose value SymPy doesn't know, is equal to
    another."""
    return is_eq(_number(lhs), rhs) if lhs.is_number and rhs.is_number else None


dispatch(TensorExpr, Expr)(_eval_is_eq)


def matrix_product(stock: Stock, cls: type, *factors: Expr, **options: object) -> Expr:
    """Make a ``MatMul``."""
    if any(map(is_tensor, factors)):
        tensors = map(as_operand, factors)
        return reduce(lambda a, b: a @ b if is_tensor(a) and is_tensor(b) else a * b, tensors)
    return stock(cls, *factors, **options)


def matrix_function(name: str) -> Callable[..., Expr]:
    """Return the replacement of the constructor of a class of matrix expressions, not of those that
    are derived from it."""

    def made(stock: Stock, cls: type, *args: Expr, **options: object) -> Expr:
        if cls.__name__ == name and any(map(is_tensor, args)):
            return _of_tensors_in(cls, args)
        return stock(cls, *args, **options)

    return made


def as_array(stock: Stock, value: object) -> NDimArray:
    """Convert an argument of a stock function of arrays; TensorError for a tensor."""
    if is_tensor(value):
        raise TensorError(
            f"SymPy's arrays don't take tensors such as {str(value)[:80]}; use einsum, "
            "x[:, None] * y, trace, diagonal and transpose, or to_array first"
        )
    return stock(value)


def by_tensor(reflected: str) -> Callable[..., Any]:
    """Return the replacement of an operator of explicit arrays, which SymPy would apply to each
    entry and the whole tensor."""

    def operator(stock: Stock, self: NDimArray, other: Any) -> Any:
        return getattr(other, reflected)(self) if is_tensor(other) else stock(self, other)

    return operator


class _Iterability(type):
    def __instancecheck__(cls, value: object) -> bool:
        is_scalar = isinstance(value, TensorExpr) and not value.shape
        return isinstance(value, Iterable) and not is_scalar


class IterableByStock(metaclass=_Iterability):
    """Stand-in for ``Iterable`` in stock matrices and arrays: a tensor with axes is a sequence of
    entries, and a scalar with tensors inside, which is of the same type, is an entry."""


def diagonal_matrix(stock: Stock, cls: type, *parts: Any, **options: Any) -> Any:
    """Call the class method ``diag``, which takes what has a shape for a matrix: scalars that
    contain tensors are entries, a vector is a list of them, a matrix is written out.

    Raises ShapeError for other tensors, and where a length is no number.
    """
    if len(parts) == 1 and is_tensor(parts[0]) and len(parts[0].shape) == 1:
        parts = tuple(parts[0])
    for part in filter(is_tensor, parts):
        if len(part.shape) != 2 or not all(length.is_Integer for length in part.shape):
            raise ShapeError(
                "diag of SymPy takes scalars, and matrices whose lengths are numbers, not "
                f"{part!s:.80} of shape {part.shape}; se.diag makes a diagonal matrix of a vector, "
                "and se.block puts tensors together"
            )
    if any(isinstance(part, TensorExpr) for part in parts):
        options["unpack"] = False
        parts = tuple([_as_block(part) for part in parts])
    return stock(cls, *parts, **options)


def _as_block(part: Any) -> Any:
    """Return a tensor as a list of entries or of rows."""
    if not isinstance(part, TensorExpr):
        return part
    return _written_out(part).tolist() if part.shape else [part]


def scaled_vector(stock: Stock, self: Any, factor: Any) -> Any:
    """A vector of a reference frame times a scalar; ShapeError for a tensor with axes."""
    if not isinstance(factor, TensorExpr):
        return stock(self, factor)
    if factor.shape:
        raise ShapeError(
            f"a vector of a reference frame takes scalars, not {factor!s:.80} of shape "
            f"{factor.shape}; multiply it by the entries"
        )
    return type(self)([(matrix.applyfunc(factor.__mul__), frame) for matrix, frame in self.args])


def as_entry(stock: Stock, value: object, **options: object) -> Any:
    """Return an entry of a stock matrix; ShapeError for a tensor with axes, of which it would hide
    that it isn't one number."""
    entry = stock(value, **options)
    if isinstance(entry, TensorExpr) and entry.shape:
        raise ShapeError(
            f"an entry of SymPy's matrices is a scalar, and {entry!s:.80} has the shape "
            f"{entry.shape}; as_explicit() writes entries out, block and stack of sympy_einsum put "
            "tensors together, and its jacobian and hessian take tensors"
        )
    return entry


# --- solving and substitution --------------------------------------------------------------------


def linear(stock: Stock, equation: Expr, symbols: Sequence[Symbol]) -> Any:
    """Return the coefficients of a linear equation, for ``linsolve``."""
    ((equation,), _) = recast(lambda *given: given, [equation], symbols)
    is_ours = isinstance(equation, TensorExpr) and not equation.shape
    return stock(_symbols_outside(equation) if is_ours else equation, symbols)


def recast(stock: Stock, equations: Iterable[Basic], symbols: Iterable[Basic]) -> Any:
    """Replace entries by symbols for ``solve``, and write out in entries what else depends on
    them, which ``solve`` would take for constant; TensorError where lengths aren't numbers."""
    equations, symbols = list(equations), list(symbols)
    if any(map(outermost, equations)):
        symbols = [as_operand(s) if isinstance(s, STOCK_VARIABLES) else s for s in symbols]
    for equation in equations:
        _check_lengths("solution", equation, *symbols)
    written: dict[Basic, Expr] = {}
    for entry in filter(_is_part_of_symbol, symbols):
        for node in {node for equation in equations for node in outermost(equation)}:
            if not _is_part_of_symbol(node) and not node.is_constant(entry):
                try:
                    written[node] = _written_out(node)
                except TensorError:
                    raise TensorError(
                        f"can't solve for {entry}: {node!s:.80} depends on it too, and can't be "
                        "written out in entries, as lengths that are numbers can be"
                    ) from None
    return stock([equation.xreplace(written) for equation in equations], symbols)


def solved_linear(
    stock: Stock, lhs: Expr, rhs: Expr = S.Zero, symbols: Any = (), exclude: Any = ()
) -> Any:
    """Solve an equation as a linear one. SymPy differentiates by every symbol, but nothing has a
    derivative by an axis length: then return what stands for an equation that isn't linear."""
    try:
        return stock(lhs, rhs, symbols=symbols, exclude=exclude)
    except UnsupportedError:
        return (lhs - rhs).as_numer_denom()


def subs_of_any(stock: Stock, self: Basic, *args: object, **options: object) -> Basic:
    """Substitute as SymPy's ``subs``, which takes no arrays, nor a matrix symbol for the tensor
    symbol."""
    given = args[0] if len(args) == 1 else (args,)
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if isinstance(pairs, (list, tuple)):
        found = [pair for pair in pairs if isinstance(pair, (list, tuple)) and len(pair) == 2]
        if any(isinstance(old, TensorExpr) and is_array(new) for old, new in found) or (
            any(isinstance(old, STOCK_VARIABLES) for old, _ in found) and outermost(self)
        ):
            return substituted(self, *args, **options)
    return stock(self, *args, **options)


def replace(
    stock: Stock, self: Basic, query: Any, value: Any = None, *others: Any, **options: Any
) -> Any:
    """Replace as SymPy's ``replace``; the functions and patterns that it looks for are inside of
    tensors too."""
    if is_function(query) or is_pattern(query):
        query = as_query(query)
        replacements = {node: replaced(node, query, value) for node in outermost(self)}
        self = self.xreplace(replacements) if replacements else self
    # Nodes of ours, which a tuple of types stands for, are found inside of others alone.
    return self if isinstance(query, tuple) else stock(self, query, value, *others, **options)


def find(stock: Stock, self: Basic, query: Any, group: bool = False) -> Any:
    """Return SymPy's ``find``, inside of tensors too."""
    query = as_query(query)
    found: Any = {} if group else set()
    if not isinstance(query, tuple):
        found = stock(self, query, group)
    for node in set(outermost(self)):
        found.update(node.find(query, group))
    return found


def count(stock: Stock, self: Basic, query: Any) -> int:
    """Return SymPy's ``count``; inside of tensors distinct nodes are counted."""
    known = as_query(query)
    own = 0 if isinstance(known, tuple) else stock(self, known)
    return own + sum(node.count(query) for node in set(outermost(self)))


def evalf(
    stock: Stock, self: Expr, n: int = 15, subs: Any = None, *others: Any, **options: Any
) -> Expr:
    """Evaluate as SymPy's ``evalf``, which takes numbers for symbols alone, and gives numbers
    alone."""
    if subs and any(isinstance(old, TensorExpr) for old in subs):
        return self.subs(subs).evalf(n, None, *others, **options)
    if is_tensor(self) and are_numeric(kinds_in(self)):
        if n > FLOAT_DIGITS:
            raise UnsupportedError(
                f"the entries of a tensor have {FLOAT_DIGITS} digits; for {n} take those of "
                ".as_explicit()"
            )
        return Constant(_floats(self))
    return stock(self, n, subs, *others, **options)


def as_explicit(self: Expr) -> Expr:
    """Return a scalar with the tensor expressions in it written out in entries."""
    return _written_out(self) if outermost(self) else self


def key_of_nan(stock: Stock, self: Expr, order: str | None = None) -> tuple[Any, ...]:
    """Return the key of nan among numbers that are sorted; SymPy would ask whether it is less."""
    return self.class_key(), (0, ()), (), S.Infinity
