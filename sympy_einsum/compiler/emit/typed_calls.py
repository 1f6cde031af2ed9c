"""Calls of helper functions of whole arrays: the shapes of what they return, and arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from ...core import UnsupportedError
from .typed_values import (
    DOUBLE,
    INTEGER,
    AnyValue,
    Argument,
    ArrayValue,
    FactorsValue,
    TupleValue,
    Value,
    array_value,
    difference_of,
    integer,
    refusal,
    scalar_value,
    sum_of,
)


class Lines(Protocol):
    """The lines of a block in the making."""

    new_name: Callable[[], str]

    def compute(
        self, part: str, *arguments: Argument, memory: bool = False, fails: bool = False
    ) -> None:
        """Call a helper function that writes into arrays; it may allocate memory, and it may fail
        otherwise."""
        ...

    def number(self, part: str, *arguments: Argument, memory: bool = False) -> Value:
        """Return the number that a helper function computes, which may fail."""
        ...

    def called(self, part: str, *arguments: Argument) -> str:
        """Return the text of a call of a helper function that returns a number."""
        ...

    def factored(self, own: str, *arguments: Argument) -> None:
        """Factor a matrix."""
        ...

    def new_array(
        self, shape: Sequence[Value], kind: str = DOUBLE, own: str | None = None
    ) -> ArrayValue:
        """Allocate an array."""
        ...


# Prints a call, given its arguments and the name of the array that it makes.
CallPrinter: TypeAlias = Callable[[Lines, Sequence[AnyValue], str | None], AnyValue]


def _flag(value: AnyValue) -> bool:
    """Return a flag that is written out."""
    return bool(scalar_value(value).number)


def _product(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, B = map(array_value, arguments[:2])
    left, right = map(_flag, arguments[2:])
    k, m = A.shape if left else A.shape[::-1]
    n = B.shape[0] if right else B.shape[1]
    new = printer.new_array((m, n), own=own)
    printer.compute("product", m, n, k, A, left, B, right, new, memory=True)
    return new


def _matrix_by_vector(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, x, flag = array_value(arguments[0]), array_value(arguments[1]), _flag(arguments[2])
    new = printer.new_array((A.shape[1 if flag else 0],), own=own)
    printer.compute("matrix_by_vector", *A.shape, A, x, flag, new)
    return new


def _gram(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, flag = array_value(arguments[0]), _flag(arguments[1])
    k, n = A.shape if flag else A.shape[::-1]
    new = printer.new_array((n, n), own=own)
    printer.compute("gram", n, k, A, flag, new, memory=True)
    return new


def _matmul(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, B = map(array_value, arguments)
    (first, m, k), (second, _, n) = A.shape, B.shape
    new = printer.new_array((second if first.is_integer(1) else first, m, n), own=own)
    printer.compute("matmul", first, second, m, n, k, A, B, new, memory=True)
    return new


def _factored(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    X, definite = array_value(arguments[0]), [*map(scalar_value, arguments[1:]), integer(0)][0]
    name = own or printer.new_name()
    printer.factored(name, X.shape[0], X, definite)
    return FactorsValue(name, X.shape[0])


def _given_factors(value: AnyValue) -> FactorsValue:
    assert isinstance(value, FactorsValue)
    return value


def _solved(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    given, B, flag = _given_factors(arguments[0]), array_value(arguments[1]), _flag(arguments[2])
    columns = replace(B, shape=(*B.shape, integer(1))[:2])
    new = printer.new_array(columns.shape, own=own)
    printer.compute("solved", given, columns.shape[1], columns, flag, new, memory=True, fails=True)
    return replace(new, shape=B.shape)


def _inverted(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    given = _given_factors(arguments[0])
    new = printer.new_array((given.rows, given.rows), own=own)
    printer.compute("inverted", given, new, memory=True, fails=True)
    return new


def _determinant(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    return Value(printer.called("determinant", _given_factors(arguments[0])))


def _log_determinant(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    return printer.number("log_determinant", _given_factors(arguments[0]))


def _trace_of_inverse(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    return printer.number("trace_of_inverse", _given_factors(arguments[0]), memory=True)


def _signed_log_determinant(
    printer: Lines, arguments: Sequence[AnyValue], own: str | None
) -> AnyValue:
    new = printer.new_array((integer(2),), own=own)
    printer.compute("signed_log_determinant", _given_factors(arguments[0]), new)
    return new


def _along(part: str, *given: Value, kind: str = DOUBLE, reduces: bool = False) -> CallPrinter:
    """Return the printer of a function along the middle axis of three."""

    def printed(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
        x = array_value(arguments[0])
        outer, _, inner = x.shape
        shape = (outer, integer(1), inner) if reduces else x.shape
        new = printer.new_array(shape, kind, own)
        flags = map(_flag, arguments[1:])
        printer.compute(part, *x.shape, x, *given, *flags, new, fails=reduces)
        return new

    return printed


def _lagged_cumsum(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, flag, (lag, count) = (
        array_value(arguments[0]),
        _flag(arguments[1]),
        map(scalar_value, arguments[2:]),
    )
    new = printer.new_array((x.shape[0], count, x.shape[2]), own=own)
    printer.compute("lagged_cumsum", *x.shape, x, flag, lag, count, new, memory=True)
    return new


def _last_equal(best: str) -> CallPrinter:
    """Return the printer of the positions of the largest or smallest entries so far."""

    def printed(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
        x, found = array_value(arguments[0]), array_value(_along(best)(printer, arguments, None))
        new = printer.new_array(x.shape, INTEGER, own)
        printer.compute("last_equal", *x.shape, x, found, new)
        return new

    return printed


def _cumprod(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x = array_value(arguments[0])
    new = printer.new_array(x.shape, own=own)
    printer.compute("cumprod", *x.shape, x, new)
    return new


def _running_products(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, flag = array_value(arguments[0]), _flag(arguments[1])
    rows, n = x.shape
    new = printer.new_array((rows, sum_of(n, integer(1))), own=own)
    printer.compute("running_products", rows, n, x, flag, new)
    return new


def _recurrence(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, b, flag = array_value(arguments[0]), array_value(arguments[1]), _flag(arguments[2])
    rows = b.shape[0] if x.shape[0].is_integer(1) else x.shape[0]
    new = printer.new_array((rows, b.shape[1]), own=own)
    printer.compute("recurrence", x.shape[0], *b.shape, x, b, flag, new)
    return new


def _correlate(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, w = map(array_value, arguments)
    (n,), (m,) = x.shape, w.shape
    new = printer.new_array((sum_of(difference_of(n, m), integer(1)),), own=own)
    printer.compute("correlate", n, m, x, w, new)
    return new


def _convolve(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, w = map(array_value, arguments)
    (n,), (m,) = x.shape, w.shape
    new = printer.new_array((difference_of(sum_of(n, m), integer(1)),), own=own)
    printer.compute("convolve", n, m, x, w, new, fails=True)
    return new


def _each(part: str, *, is_matrix: bool, fails: bool = True) -> CallPrinter:
    """Return the printer of a function of each matrix of a stack: a matrix, or a number."""

    def printed(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
        A = array_value(arguments[0])
        new = printer.new_array(A.shape if is_matrix else A.shape[:1], own=own)
        numbers = map(scalar_value, arguments[1:])
        printer.compute(part, *A.shape[:2], A, *numbers, new, memory=True, fails=fails)
        return new

    return printed


def _each_slogdet(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A = array_value(arguments[0])
    found = [printer.new_array(A.shape[:1]) for _ in range(2)]
    printer.compute("each_slogdet", *A.shape[:2], A, *found, memory=True)
    return TupleValue(tuple(found))


def _each_logdet(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    found = _each_slogdet(printer, arguments, own)
    assert isinstance(found, TupleValue)
    return found.parts[1]


def _each_solve(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, B = map(array_value, arguments)
    new = printer.new_array(B.shape, own=own)
    printer.compute("each_solve", *B.shape, A, B, new, memory=True, fails=True)
    return new


def _running_weights(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x = array_value(arguments[0])
    found = [printer.new_array(x.shape) for _ in range(3)]
    # One entry: whether no weight vanishes.
    found.append(printer.new_array((integer(1),), INTEGER))
    printer.compute("running_weights", *x.shape, x, *found)
    return TupleValue((x, *found))


def _weights(value: AnyValue) -> list[AnyValue]:
    assert isinstance(value, TupleValue)
    return [*value.parts]


def _running_mean(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    (x, *others), c = map(array_value, _weights(arguments[0])), array_value(arguments[1])
    rows = c.shape[0] if x.shape[0].is_integer(1) else x.shape[0]
    new = printer.new_array((rows, c.shape[1]), own=own)
    sizes, flag = (x.shape[0], *c.shape), _flag(arguments[2])
    printer.compute("running_mean", *sizes, x, *others, c, flag, new)
    return new


def _cofactors(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    X, order = array_value(arguments[0]), scalar_value(arguments[1])
    if not order.is_integer(1):
        raise UnsupportedError(refusal(_SECOND_DERIVATIVES))
    new = printer.new_array(X.shape, own=own)
    printer.compute("matrix_cofactors", X.shape[0], X, new, memory=True)
    return new


_SECOND_DERIVATIVES = "second derivatives of determinants, which need singular values"


def _refused(what: str) -> CallPrinter:
    def refuse(*arguments: Any) -> AnyValue:
        raise UnsupportedError(refusal(what))

    return refuse


CALLS: dict[str, CallPrinter] = {
    "product": _product,
    "matrix_by_vector": _matrix_by_vector,
    "gram": _gram,
    "matmul": _matmul,
    **dict.fromkeys(["factored", "lu_factored"], _factored),
    "solved": _solved,
    "inverted": _inverted,
    "determinant": _determinant,
    "log_determinant": _log_determinant,
    "trace_of_inverse": _trace_of_inverse,
    "signed_log_determinant": _signed_log_determinant,
    "cumsum": _along("cumsum"),
    "lagged_cumsum": _lagged_cumsum,
    "cummax": _along("cummax"),
    "cummin": _along("cummin"),
    "argcummax": _last_equal("cummax"),
    "argcummin": _last_equal("cummin"),
    "argmax": _along("argbest", integer(1), kind=INTEGER, reduces=True),
    "argmin": _along("argbest", integer(-1), kind=INTEGER, reduces=True),
    "cumprod": _cumprod,
    "running_products": _running_products,
    "recurrence": _recurrence,
    "correlate": _correlate,
    "convolve": _convolve,
    **dict.fromkeys(["sort", "argsort"], _refused("sorting")),
    **dict.fromkeys(["spectrum", "from_spectrum"], _refused("Fourier transforms")),
    "cofactors": _cofactors,
    **dict.fromkeys(["cofactors_along", "cofactors_along_two"], _refused(_SECOND_DERIVATIVES)),
    **dict.fromkeys(
        ["each_cofactors", "each_adj"], _refused("cofactors of stacks, which need singular values")
    ),
    **dict.fromkeys(
        ["each_svd", "each_svdvals", "each_pinv"], _refused("singular value decompositions")
    ),
    **dict.fromkeys(["each_eigh", "each_eigvalsh"], _refused("eigenvalues")),
    **dict.fromkeys(["each_qr", "each_qr_r"], _refused("QR decompositions")),
    "each_expm": _refused("matrix exponentials"),
    "each_inv": _each("each_inv", is_matrix=True),
    "each_det": _each("each_det", is_matrix=False, fails=False),
    "each_cholesky": _each("each_cholesky", is_matrix=True),
    "each_power": _each("each_power", is_matrix=True),
    "each_slogdet": _each_slogdet,
    "each_logdet": _each_logdet,
    "each_solve": _each_solve,
    "running_weights": _running_weights,
    "logcumsumexp": lambda printer, arguments, own: _weights(arguments[0])[1],
    "running_mean": _running_mean,
    "blocks": _refused("derivatives of matrix powers and exponentials"),
}
