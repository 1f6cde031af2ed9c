"""Calls of helper functions of whole arrays in C: the shapes of what they return, and arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from ...core import UnsupportedError
from .typed_values import (
    DOUBLE,
    INTEGER,
    TRUTH,
    AnyValue,
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
    """The lines of a block in the making, and what they use."""

    lines: list[str]
    new_name: Callable[[], str]

    def use(self, part: str) -> str:
        """Return the name of a helper function, which is used."""
        ...

    def memory(self) -> str:
        """Return the argument that helper functions allocate by."""
        ...

    def checked(self, call: str) -> None:
        """Add a call that returns an error code."""
        ...

    def new_array(
        self, shape: Sequence[Value], kind: str = DOUBLE, own: str | None = None
    ) -> ArrayValue:
        """Allocate an array."""
        ...


# Prints a call, given its arguments and the name of the array that it makes.
CallPrinter: TypeAlias = Callable[[Lines, Sequence[AnyValue], str | None], AnyValue]


def _texts(*arguments: Value | ArrayValue | str) -> str:
    return ", ".join([own if isinstance(own, str) else own.text for own in arguments])


def _flag(value: AnyValue) -> bool:
    """Return a flag that is written out."""
    return bool(scalar_value(value).number)


def _product(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, B = map(array_value, arguments[:2])
    left, right = map(_flag, arguments[2:])
    k, m = A.shape if left else A.shape[::-1]
    n = B.shape[0] if right else B.shape[1]
    new = printer.new_array((m, n), own=own)
    sizes = _texts(printer.memory(), m, n, k)
    flags = [str(int(flag)) for flag in (left, right)]
    call = f"{printer.use('product')}({sizes}, {_texts(A, flags[0], B, flags[1], new)})"
    printer.checked(call)
    return new


def _matrix_by_vector(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, x, flag = array_value(arguments[0]), array_value(arguments[1]), _flag(arguments[2])
    new = printer.new_array((A.shape[1 if flag else 0],), own=own)
    part = printer.use("matrix_by_vector")
    printer.lines.append(f"{part}({_texts(*A.shape, A, x, str(int(flag)), new)});")
    return new


def _gram(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, flag = array_value(arguments[0]), _flag(arguments[1])
    k, n = A.shape if flag else A.shape[::-1]
    new = printer.new_array((n, n), own=own)
    part = printer.use("gram")
    printer.checked(f"{part}({_texts(printer.memory(), n, k, A, str(int(flag)), new)})")
    return new


def _matmul(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, B = map(array_value, arguments)
    (first, m, k), (second, _, n) = A.shape, B.shape
    new = printer.new_array((second if first.is_integer(1) else first, m, n), own=own)
    part = printer.use("matmul")
    sizes = _texts(printer.memory(), first, second, m, n, k)
    printer.checked(f"{part}({sizes}, {_texts(A, B, new)})")
    return new


def _factored(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    X, definite = array_value(arguments[0]), scalar_value(arguments[1])
    name = own or printer.new_name()
    printer.lines.append(f"Factors {name};")
    return _factors_of(printer, X, definite, name)


def _factors_of(printer: Lines, X: ArrayValue, definite: Value, name: str) -> AnyValue:
    part = printer.use("factored")
    sizes = _texts(printer.memory(), X.shape[0], X, definite)
    printer.checked(f"{part}({sizes}, &{name})")
    return FactorsValue(name, X.shape[0])


def _given_factors(value: AnyValue) -> FactorsValue:
    assert isinstance(value, FactorsValue)
    return value


def _solved(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    given, B, flag = _given_factors(arguments[0]), array_value(arguments[1]), _flag(arguments[2])
    new = printer.new_array(B.shape, own=own)
    start = _texts(printer.memory(), f"&{given.text}", B.shape[1])
    printer.checked(f"{printer.use('solved')}({start}, {_texts(B, str(int(flag)), new)})")
    return new


def _inverted(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    given = _given_factors(arguments[0])
    new = printer.new_array((given.rows, given.rows), own=own)
    part = printer.use("inverted")
    printer.checked(f"{part}({printer.memory()}, &{given.text}, {new.text})")
    return new


def _determinant(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    return Value(f"{printer.use('determinant')}(&{_given_factors(arguments[0]).text})")


def _log_determinant(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    given, name = _given_factors(arguments[0]), printer.new_name()
    printer.lines.append(f"double {name} = 0.0;")
    printer.checked(f"{printer.use('log_determinant')}(&{given.text}, &{name})")
    return Value(name)


def _trace_of_inverse(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    given, name = _given_factors(arguments[0]), printer.new_name()
    printer.lines.append(f"double {name} = 0.0;")
    part = printer.use("trace_of_inverse")
    printer.checked(f"{part}({printer.memory()}, &{given.text}, &{name})")
    return Value(name)


def _signed_log_determinant(
    printer: Lines, arguments: Sequence[AnyValue], own: str | None
) -> AnyValue:
    new = printer.new_array((integer(2),), own=own)
    part = printer.use("signed_log_determinant")
    printer.lines.append(f"{part}(&{_given_factors(arguments[0]).text}, {new.text});")
    return new


def _along(part: str, *flags: str, kind: str = DOUBLE, reduces: bool = False) -> CallPrinter:
    """Return the printer of a function along the middle axis of three."""

    def printed(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
        x = array_value(arguments[0])
        outer, _, inner = x.shape
        given = [*flags, *[str(int(_flag(flag))) for flag in arguments[1:]]]
        shape = (outer, integer(1), inner) if reduces else x.shape
        new = printer.new_array(shape, kind, own)
        call = f"{printer.use(part)}({_texts(*x.shape, x, *given, new)})"
        if reduces:
            printer.checked(call)
        else:
            printer.lines.append(f"{call};")
        return new

    return printed


def _lagged_cumsum(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, flag, (lag, count) = (
        array_value(arguments[0]),
        _flag(arguments[1]),
        map(scalar_value, arguments[2:]),
    )
    new = printer.new_array((x.shape[0], count, x.shape[2]), own=own)
    start = _texts(printer.memory(), *x.shape, x, str(int(flag)))
    printer.checked(f"{printer.use('lagged_cumsum')}({start}, {_texts(lag, count, new)})")
    return new


def _last_equal(best: str) -> CallPrinter:
    """Return the printer of the positions of the largest or smallest entries so far."""

    def printed(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
        x, found = array_value(arguments[0]), array_value(_along(best)(printer, arguments, None))
        new = printer.new_array(x.shape, INTEGER, own)
        printer.lines.append(f"{printer.use('last_equal')}({_texts(*x.shape, x, found, new)});")
        return new

    return printed


def _cumprod(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x = array_value(arguments[0])
    new = printer.new_array(x.shape, own=own)
    printer.lines.append(f"{printer.use('cumprod')}({_texts(*x.shape, x, new)});")
    return new


def _running_products(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, flag = array_value(arguments[0]), str(int(_flag(arguments[1])))
    rows, n = x.shape
    new = printer.new_array((rows, sum_of(n, integer(1))), own=own)
    printer.lines.append(f"{printer.use('running_products')}({_texts(rows, n, x, flag, new)});")
    return new


def _recurrence(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, b, flag = array_value(arguments[0]), array_value(arguments[1]), str(int(_flag(arguments[2])))
    rows = b.shape[0] if x.shape[0].is_integer(1) else x.shape[0]
    new = printer.new_array((rows, b.shape[1]), own=own)
    sizes = _texts(x.shape[0], b.shape[0], b.shape[1])
    printer.lines.append(f"{printer.use('recurrence')}({sizes}, {_texts(x, b, flag, new)});")
    return new


def _correlate(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, w = map(array_value, arguments)
    (n,), (m,) = x.shape, w.shape
    new = printer.new_array((sum_of(difference_of(n, m), integer(1)),), own=own)
    printer.lines.append(f"{printer.use('correlate')}({_texts(n, m, x, w, new)});")
    return new


def _convolve(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, w = map(array_value, arguments)
    (n,), (m,) = x.shape, w.shape
    new = printer.new_array((difference_of(sum_of(n, m), integer(1)),), own=own)
    printer.checked(f"{printer.use('convolve')}({_texts(n, m, x, w, new)})")
    return new


def _each(part: str, *, is_matrix: bool) -> CallPrinter:
    """Return the printer of a function of each matrix of a stack: a matrix, or a number."""

    def printed(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
        A = array_value(arguments[0])
        new = printer.new_array(A.shape if is_matrix else A.shape[:1], own=own)
        numbers = [scalar_value(value) for value in arguments[1:]]
        sizes = _texts(printer.memory(), *A.shape[:2], A, *numbers)
        printer.checked(f"{printer.use(part)}({sizes}, {new.text})")
        return new

    return printed


def _each_slogdet(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A = array_value(arguments[0])
    signs, logs = [printer.new_array(A.shape[:1]) for _ in range(2)]
    sizes = _texts(printer.memory(), *A.shape[:2], A)
    printer.checked(f"{printer.use('each_slogdet')}({sizes}, {_texts(signs, logs)})")
    return TupleValue((signs, logs))


def _each_logdet(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    found = _each_slogdet(printer, arguments, own)
    assert isinstance(found, TupleValue)
    return found.parts[1]


def _each_solve(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    A, B = map(array_value, arguments)
    new = printer.new_array(B.shape, own=own)
    sizes = _texts(printer.memory(), *B.shape)
    printer.checked(f"{printer.use('each_solve')}({sizes}, {_texts(A, B, new)})")
    return new


def _running_weights(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    x, is_plain = array_value(arguments[0]), printer.new_name()
    found = [printer.new_array(x.shape) for _ in range(3)]
    call = f"{printer.use('running_weights')}({_texts(*x.shape, x, *found)})"
    # Log-sum-exps alone don't need it.
    printer.lines += [f"const int {is_plain} = {call};", f"(void){is_plain};"]
    return TupleValue((x, *found, Value(is_plain, kind=TRUTH)))


def _weights(value: AnyValue) -> list[AnyValue]:
    assert isinstance(value, TupleValue)
    return [*value.parts]


def _logcumsumexp(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    return _weights(arguments[0])[1]


def _running_mean(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    *arrays, is_plain = _weights(arguments[0])
    (x, *others), c = map(array_value, arrays), array_value(arguments[1])
    flag = str(int(_flag(arguments[2])))
    rows = c.shape[0] if x.shape[0].is_integer(1) else x.shape[0]
    new = printer.new_array((rows, c.shape[1]), own=own)
    sizes = _texts(x.shape[0], c.shape[0], c.shape[1], x, *others, scalar_value(is_plain))
    printer.lines.append(f"{printer.use('running_mean')}({sizes}, {_texts(c, flag, new)});")
    return new


def _cofactors(printer: Lines, arguments: Sequence[AnyValue], own: str | None) -> AnyValue:
    X, order = array_value(arguments[0]), scalar_value(arguments[1])
    if not order.is_integer(1):
        raise UnsupportedError(refusal(_SECOND_DERIVATIVES))
    new = printer.new_array(X.shape, own=own)
    sizes = _texts(printer.memory(), X.shape[0], X, new)
    printer.checked(f"{printer.use('matrix_cofactors')}({sizes})")
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
    "factored": _factored,
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
    "argmax": _along("argbest", "1.0", kind=INTEGER, reduces=True),
    "argmin": _along("argbest", "-1.0", kind=INTEGER, reduces=True),
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
    "each_det": _each("each_det", is_matrix=False),
    "each_cholesky": _each("each_cholesky", is_matrix=True),
    "each_power": _each("each_power", is_matrix=True),
    "each_slogdet": _each_slogdet,
    "each_logdet": _each_logdet,
    "each_solve": _each_solve,
    "running_weights": _running_weights,
    "logcumsumexp": _logcumsumexp,
    "running_mean": _running_mean,
    "blocks": _refused("derivatives of matrix powers and exponentials"),
}
