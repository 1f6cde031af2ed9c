"""What isn't loops of ours: calls of functions of whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr

from ...core import UnsupportedError
from .statements import Statements

Call = Callable[[Statements, int], str]


def _operands(kernel: Statements, number: int) -> list[str]:
    return [kernel.whole(k) for k in kernel.step(number).inputs]


def _dot(kernel: Statements, number: int) -> str:
    first, second = [kernel.whole(k, turned=True) for k in kernel.step(number).inputs]
    if second == f"{first}.T":
        return f"gram({first})"
    if first == f"{second}.T":
        return f"gram({first}.copy())"
    return f"np.dot({first}, {second})"


def _matmul(kernel: Statements, number: int) -> str:
    """Of stacks of one shape, as one stack; of one matrix with all of a stack."""
    parts = []
    for k in kernel.step(number).inputs:
        *stack, rows, columns = kernel.step(k).shape
        lengths = f"{_product(kernel, stack)}, {kernel.size(rows)}, {kernel.size(columns)}"
        parts.append(f"{kernel.whole(k)}.reshape(({lengths}))")
    return _like(kernel, number, f"matmul({', '.join(parts)})")


def _product(kernel: Statements, lengths: Sequence[Expr]) -> str:
    texts = [kernel.size(length) for length in lengths if length != 1]
    return " * ".join([own if own.isalnum() else f"({own})" for own in texts]) or "1"


def threefold(kernel: Statements, number: int, axis: int) -> str:
    """The text of a value with three axes: those before an axis, the axis, those behind it."""
    shape = kernel.step(number).shape
    axis %= len(shape)
    parts = (shape[:axis], (shape[axis],), shape[axis + 1 :])
    lengths = ", ".join([_product(kernel, part) for part in parts])
    return f"{kernel.whole(number)}.reshape(({lengths}))"


def _like(kernel: Statements, number: int, text: str) -> str:
    if not kernel.step(number).shape:
        return f"{text}.ravel()[0]"
    return f"{text}.reshape({kernel.shape(number)})"


def _cumsum(kernel: Statements, number: int) -> str:
    _, inputs, (axis, backwards), _ = kernel.step(number)
    return _like(kernel, number, f"cumsum({threefold(kernel, inputs[0], axis)}, {backwards})")


def _lagged_cumsum(kernel: Statements, number: int) -> str:
    _, inputs, (axis, backwards, lag, count), _ = kernel.step(number)
    array = threefold(kernel, inputs[0], axis)
    lengths = f"{kernel.size(lag)}, {kernel.size(count)}"
    return _like(kernel, number, f"lagged_cumsum({array}, {backwards}, {lengths})")


def _picked(kernel: Statements, number: int) -> str:
    _, inputs, (name, axis), _ = kernel.step(number)
    return _like(kernel, number, f"{name}({threefold(kernel, inputs[0], axis)})")


def _rows(kernel: Statements, number: int) -> str:
    """The text of a value as a matrix, whose rows are what lies on its last axis."""
    if kernel.step(number).op == "running_weights":
        return kernel.values[number].array
    *stack, length = kernel.step(number).shape
    return f"{kernel.whole(number)}.reshape(({_product(kernel, stack)}, {kernel.size(length)}))"


def _running(kernel: Statements, number: int) -> str:
    """Something along the last axis; what has nothing before that repeats."""
    op, inputs, params, _ = kernel.step(number)
    operands = ", ".join([_rows(kernel, k) for k in inputs])
    text = f"{op}({operands}{f', {params[0]}' if params else ''})"
    return text if op == "running_weights" else _like(kernel, number, text)


def _cofactors(kernel: Statements, number: int) -> str:
    step = kernel.step(number)
    if step.params[0] != 1 or len(step.inputs) > 1 or len(step.shape) != 2:
        raise UnsupportedError("backend 'numba' has no cofactors of higher order, nor of stacks")
    return f"cofactors({kernel.whole(step.inputs[0])})"


def _matrix(template: str) -> Call:
    """The call of a function of one matrix, or of that and others."""

    def text(kernel: Statements, number: int) -> str:
        step = kernel.step(number)
        if any(len(kernel.step(k).shape) > 2 for k in step.inputs):
            raise UnsupportedError(f"backend 'numba' has no {step.op} of stacks of matrices")
        return template.format(*_operands(kernel, number))

    return text


def _logdet(kernel: Statements, number: int) -> str:
    (definite,) = kernel.step(number).params
    return _matrix("logdet_definite({0})" if definite else "np.linalg.slogdet({0})[1]")(
        kernel, number
    )


STACKED = {
    "det": "np.linalg.det({0})",
    "inv": "np.ascontiguousarray(np.linalg.inv({0}))",
    "logdet": "np.linalg.slogdet({0})[1]",
    "cholesky": "np.linalg.cholesky({0})",
    "eigvalsh": "np.linalg.eigvalsh({0})",
    "svdvals": "np.linalg.svd({0}, False)[1]",
    "qr_r": "np.linalg.qr({0})[1]",
    "eigh": "np.linalg.eigh({0})",
    "qr": "np.linalg.qr({0})",
    "svd": "np.linalg.svd({0}, False)",
    "slogdet": "np.linalg.slogdet({0})",
}


def _stacked(kernel: Statements, number: int) -> str:
    _, inputs, params, _ = kernel.step(number)
    name = params[0]
    if name not in STACKED or len(kernel.step(inputs[0]).shape) != 2:
        raise UnsupportedError(f"backend 'numba' has no {name} of stacks of matrices")
    return STACKED[name].format(*_operands(kernel, number))


def _part(kernel: Statements, number: int) -> str:
    _, inputs, (place, tail), _ = kernel.step(number)
    part = f"{kernel.values[inputs[0]].array}[{place}]"
    return f"np.ascontiguousarray({part})" if tail else part


def _reshape(kernel: Statements, number: int) -> str:
    return _like(kernel, number, kernel.whole(kernel.step(number).inputs[0]))


def _call(template: str) -> Call:
    return lambda kernel, number: template.format(*_operands(kernel, number))


CALLS: dict[str, Call] = {
    "dot": _dot,
    "matmul": _matmul,
    "reshape": _reshape,
    "cumsum": _cumsum,
    "lagged_cumsum": _lagged_cumsum,
    "picked": _picked,
    "positions": _picked,
    **dict.fromkeys(
        [
            "cumprod",
            "running_products",
            "recurrence",
            "running_weights",
            "logcumsumexp",
            "running_mean",
        ],
        _running,
    ),
    "cofactors": _cofactors,
    "correlate": _call("correlate({0}, {1})"),
    "convolve": _call("convolve({0}, {1})"),
    "inv": _matrix("np.ascontiguousarray(np.linalg.inv({0}))"),
    "solve": _matrix("np.ascontiguousarray(np.linalg.solve({0}, {1}))"),
    "det": _matrix("np.linalg.det({0})"),
    "logdet": _logdet,
    "slogdet": _matrix("slogdet({0})"),
    "stacked": _stacked,
    "decomposed": _stacked,
    "part": _part,
}
