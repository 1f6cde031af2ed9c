"""Calls of functions of whole arrays, which aren't loops of ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sympy import Expr

from ....core import UnsupportedError
from ...ir.code import Code, call, constant, equal, name, product, quote
from ...ir.instructions import BY_FACTORS
from ...ir.solutions import solutions_refused
from .statements import Statements

# Returns the code of the value of an instruction.
CallRule: TypeAlias = Callable[[Statements, int], Code]


def _operands(kernel: Statements, number: int) -> list[Code]:
    return [kernel.whole(k) for k in kernel.step(number).inputs]


def _dot(kernel: Statements, number: int) -> Code:
    inputs = kernel.step(number).inputs
    (first, left), (second, right) = [kernel.whole_or_transpose(k) for k in inputs]
    # Flags are floats: Numba compiles a function again for each other integer.
    if len(kernel.shape_of(inputs[1])) == 1:
        return call("matrix_by_vector", first, second, float(left))
    if len(kernel.shape_of(inputs[0])) == 1:
        return call("matrix_by_vector", second, first, float(not right))
    if left != right and equal(first, second):
        return call("gram", first, int(left))
    return call("product", first, second, float(left), float(right))


def _matmul(kernel: Statements, number: int) -> Code:
    """Return the product of stacks of one shape, or of one matrix with all of a stack."""
    stacks = [_stack(kernel, k) for k in kernel.step(number).inputs]
    return _like(kernel, number, call("matmul", *stacks))


def _count(kernel: Statements, lengths: Sequence[Expr]) -> Code:
    """Return the number of entries along axes of some lengths."""
    factors = [kernel.size(length) for length in lengths if length != 1]
    return product(factors) if factors else constant(1)


def _reshaped(kernel: Statements, number: int, *shape: Code) -> Code:
    return quote("reshaped({0}, {1})", kernel.whole(number), shape)


def around_axis(kernel: Statements, number: int, axis: int) -> Code:
    """Return a value reshaped to three axes: those before an axis, it, those after."""
    shape = kernel.shape_of(number)
    axis %= len(shape)
    parts = (shape[:axis], (shape[axis],), shape[axis + 1 :])
    return _reshaped(kernel, number, *[_count(kernel, part) for part in parts])


def _like(kernel: Statements, number: int, code: Code) -> Code:
    """Return a result with the shape of its instruction."""
    if not kernel.shape_of(number):
        return quote("{0}.ravel()[0]", code)
    return quote("reshaped({0}, {1})", code, kernel.shape(number))


def _cumsum(kernel: Statements, number: int) -> Code:
    _, inputs, (axis, backwards), _ = kernel.step(number)
    code = call("cumsum", around_axis(kernel, inputs[0], axis), backwards)
    return _like(kernel, number, code)


def _lagged_cumsum(kernel: Statements, number: int) -> Code:
    _, inputs, (axis, backwards, *lengths), _ = kernel.step(number)
    array = around_axis(kernel, inputs[0], axis)
    sizes = map(kernel.size, lengths)
    return _like(kernel, number, call("lagged_cumsum", array, backwards, *sizes))


def _picked(kernel: Statements, number: int) -> Code:
    _, inputs, (function, axis), _ = kernel.step(number)
    return _like(kernel, number, call(function, around_axis(kernel, inputs[0], axis)))


def _rows(kernel: Statements, number: int) -> Code:
    """Return a value as a matrix, whose rows lie on its last axis."""
    if kernel.step(number).op == "running_weights":
        return name(kernel.values[number].array)
    *stack, length = kernel.shape_of(number)
    return _reshaped(kernel, number, _count(kernel, stack), kernel.size(length))


def _running(kernel: Statements, number: int) -> Code:
    """Return a running operation along the last axis; its weights are no array."""
    op, inputs, params, _ = kernel.step(number)
    code = call(op, *[_rows(kernel, k) for k in inputs], *params[:1])
    return code if op == "running_weights" else _like(kernel, number, code)


def _factors(kernel: Statements, number: int) -> Code:
    return name(kernel.values[kernel.step(number).inputs[0]].array)


def _factored(kernel: Statements, number: int) -> Code:
    (definite,) = kernel.step(number).params
    (matrix,) = _operands(kernel, number)
    if definite is False:
        return call("lu_factored", matrix)
    return call("factored", matrix, 2 if definite is None else 1)


def _solved(kernel: Statements, number: int) -> Code:
    _, inputs, (_, transposed), _ = kernel.step(number)
    return call("solved", _factors(kernel, number), kernel.whole(inputs[1]), float(transposed))


def _by_factors(kernel: Statements, number: int) -> Code:
    function = kernel.step(number).params[0]
    return call(BY_FACTORS[function], _factors(kernel, number))


def _stack(kernel: Statements, number: int) -> Code:
    """Return a stack of matrices with one axis for all of them."""
    *stack, rows, columns = kernel.shape_of(number)
    sizes = (_count(kernel, stack), kernel.size(rows), kernel.size(columns))
    return _reshaped(kernel, number, *sizes)


def _stacked(kernel: Statements, number: int) -> Code:
    step = kernel.step(number)
    function, *rest = step.params
    operands = [_stack(kernel, k) for k in step.inputs]
    if f"each_{function}" not in kernel.spelling.support:
        raise UnsupportedError(f"backend {kernel.spelling.name!r} has no {function}")
    if function == "expm":
        code = _along(kernel, number, lambda own: call("each_expm", own), operands)
        return _like(kernel, number, code)
    orders = [len(rest[0]) // 2] if function == "cofactors" else []
    code = call(f"each_{function}", *operands, *orders)
    return code if step.op == "decomposed" else _like(kernel, number, code)


def _along(
    kernel: Statements, number: int, function: Callable[[Code], Code], operands: Sequence[Code]
) -> Code:
    """Return a function of matrices, or its derivative in the directions that follow."""
    code, *directions = operands
    for place, own in enumerate(directions):
        for _ in range(place):
            own = quote("blocks({0}, np.zeros_like({0}))", own)
        code = call("blocks", code, own)
    code = function(code)
    rows = kernel.size(kernel.shape_of(number)[-1])
    return call("last_block", code, rows) if directions else code


def _power(kernel: Statements, number: int) -> Code:
    _, inputs, (exponent,), _ = kernel.step(number)
    operands = [_stack(kernel, k) for k in inputs]
    size = kernel.size(exponent)
    code = _along(kernel, number, lambda own: call("each_power", own, size), operands)
    return _like(kernel, number, code)


def _cofactors(kernel: Statements, number: int) -> Code:
    matrix, *directions = _operands(kernel, number)
    if not directions:
        (order,) = kernel.step(number).params
        return _like(kernel, number, call("cofactors", matrix, order))
    function = "cofactors_along" if len(directions) == 1 else "cofactors_along_two"
    return call(function, matrix, *directions)


def _spectrum(kernel: Statements, number: int) -> Code:
    op, inputs, (length, count, weighted), _ = kernel.step(number)
    rows = [_rows(kernel, k) for k in inputs]
    sizes = (kernel.size(length), kernel.size(count))
    return _like(kernel, number, call(op, *rows, *sizes, int(weighted)))


def _part(kernel: Statements, number: int) -> Code:
    _, inputs, (place, _), _ = kernel.step(number)
    code = quote("{0}[{1}]", name(kernel.values[inputs[0]].array), place)
    return _like(kernel, number, code)


def _solution(kernel: Statements, number: int) -> Code:
    raise UnsupportedError(solutions_refused(kernel.spelling.name))


def _result(kernel: Statements, number: int) -> Code:
    _, inputs, (place, _), _ = kernel.step(number)
    return kernel.results_of(inputs[0])[place]


def _reshape(kernel: Statements, number: int) -> Code:
    return _like(kernel, number, kernel.whole(kernel.step(number).inputs[0]))


CALLS: dict[str, CallRule] = {
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
    **dict.fromkeys(
        ["correlate", "convolve"],
        lambda kernel, number: call(kernel.step(number).op, *_operands(kernel, number)),
    ),
    "factored": _factored,
    "solved": _solved,
    "by_factors": _by_factors,
    "stacked": _stacked,
    "decomposed": _stacked,
    "matrix_power": _power,
    "part": _part,
    "result": _result,
    "solution": _solution,
}
