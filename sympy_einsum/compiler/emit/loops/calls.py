"""Calls of functions of whole arrays, which aren't loops of ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr

from ....core import UnsupportedError
from ...runtime.shared_helpers import BY_FACTORS
from .statements import Statements

Call = Callable[[Statements, int], str]


def _operands(kernel: Statements, number: int) -> list[str]:
    return [kernel.whole(k) for k in kernel.step(number).inputs]


def _dot(kernel: Statements, number: int) -> str:
    inputs = kernel.step(number).inputs
    texts = [kernel.whole(k, transposed=True) for k in inputs]
    # Flags are floats: Numba compiles a function again for each other integer.
    first, second = [text.removesuffix(".T") for text in texts]
    left, right = [text.endswith(".T") for text in texts]
    if len(kernel.step(inputs[1]).shape) == 1:
        return f"matrix_by_vector({first}, {second}, {left:.1f})"
    if len(kernel.step(inputs[0]).shape) == 1:
        return f"matrix_by_vector({second}, {first}, {not right:.1f})"
    if first == second and left != right:
        return f"gram({first}, {left:d})"
    return f"product({first}, {second}, {left:.1f}, {right:.1f})"


def _matmul(kernel: Statements, number: int) -> str:
    """Of stacks of one shape, as one stack; of one matrix with all of a stack."""
    parts = ", ".join([_stack(kernel, k) for k in kernel.step(number).inputs])
    return _like(kernel, number, f"matmul({parts})")


def _product(kernel: Statements, lengths: Sequence[Expr]) -> str:
    texts = [kernel.size(length) for length in lengths if length != 1]
    return " * ".join([own if own.isalnum() else f"({own})" for own in texts]) or "1"


def threefold(kernel: Statements, number: int, axis: int) -> str:
    """Return the text of a value reshaped to three axes: those before an axis, it, those after."""
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
    """Return the text of a value as a matrix, whose rows are what lies on its last axis."""
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


def _factors(kernel: Statements, number: int) -> str:
    return kernel.values[kernel.step(number).inputs[0]].array


def _factored(kernel: Statements, number: int) -> str:
    (definite,) = kernel.step(number).params
    return f"factored({_operands(kernel, number)[0]}, {definite:d})"


def _solved(kernel: Statements, number: int) -> str:
    _, inputs, (_, transposed), _ = kernel.step(number)
    right = kernel.step(inputs[1]).shape
    lengths = ", ".join([*map(kernel.size, right), "1"][:2])
    text = f"{kernel.whole(inputs[1])}.reshape(({lengths}))"
    return _like(kernel, number, f"solved({_factors(kernel, number)}, {text}, {transposed:.1f})")


def _by_factors(kernel: Statements, number: int) -> str:
    name = kernel.step(number).params[0]
    return f"{BY_FACTORS[name]}({_factors(kernel, number)})"


def _stack(kernel: Statements, number: int) -> str:
    """Return the text of a stack of matrices with one axis for all of them."""
    *stack, rows, columns = kernel.step(number).shape
    lengths = f"{_product(kernel, stack)}, {kernel.size(rows)}, {kernel.size(columns)}"
    return f"{kernel.whole(number)}.reshape(({lengths}))"


def _stacked(kernel: Statements, number: int) -> str:
    step = kernel.step(number)
    name, *rest = step.params
    operands = [_stack(kernel, k) for k in step.inputs]
    if f"each_{name}" not in kernel.backend.support:
        raise UnsupportedError(f"backend {kernel.backend.name!r} has no {name}")
    if name == "expm":
        return _like(kernel, number, _along(kernel, number, "each_expm({0})", operands))
    orders = [str(len(rest[0]) // 2)] if name == "cofactors" else []
    text = f"each_{name}({', '.join(operands + orders)})"
    return text if step.op == "decomposed" else _like(kernel, number, text)


def _along(kernel: Statements, number: int, function: str, operands: Sequence[str]) -> str:
    """A function of matrices, or its derivative in the directions that follow."""
    text, *directions = operands
    for place, own in enumerate(directions):
        for _ in range(place):
            own = f"blocks({own}, np.zeros_like({own}))"
        text = f"blocks({text}, {own})"
    text = function.format(text)
    rows = kernel.size(kernel.step(number).shape[-1])
    return f"last_block({text}, {rows})" if directions else text


def _power(kernel: Statements, number: int) -> str:
    _, inputs, (exponent,), _ = kernel.step(number)
    operands = [_stack(kernel, k) for k in inputs]
    text = f"each_power({{0}}, {kernel.size(exponent)})"
    return _like(kernel, number, _along(kernel, number, text, operands))


def _cofactors(kernel: Statements, number: int) -> str:
    matrix, *directions = _operands(kernel, number)
    if not directions:
        (order,) = kernel.step(number).params
        return _like(kernel, number, f"cofactors({matrix}, {order})")
    name = "cofactors_along" if len(directions) == 1 else "cofactors_along_two"
    return f"{name}({', '.join([matrix, *directions])})"


def _spectrum(kernel: Statements, number: int) -> str:
    op, inputs, (length, count, weighted), _ = kernel.step(number)
    rows = ", ".join([_rows(kernel, k) for k in inputs])
    lengths = f"{kernel.size(length)}, {kernel.size(count)}"
    return _like(kernel, number, f"{op}({rows}, {lengths}, {weighted:d})")


def _part(kernel: Statements, number: int) -> str:
    _, inputs, (place, _), _ = kernel.step(number)
    return _like(kernel, number, f"{kernel.values[inputs[0]].array}[{place}]")


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
    **dict.fromkeys(["spectrum", "from_spectrum"], _spectrum),
    "cofactors": _cofactors,
    "correlate": _call("correlate({0}, {1})"),
    "convolve": _call("convolve({0}, {1})"),
    "factored": _factored,
    "solved": _solved,
    "by_factors": _by_factors,
    "stacked": _stacked,
    "decomposed": _stacked,
    "matrix_power": _power,
    "part": _part,
}
