"""Vectorisation over examples: from an expression for one to that for a batch of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Basic, Expr, Symbol

from ..core import (
    Length,
    ShapeError,
    TensorError,
    UnsupportedError,
    as_length,
    postorder,
    same_length,
    same_name_hint,
    same_shape,
)
from ..expressions import (
    LAST,
    VALUES,
    BoundTensor,
    Carry,
    Operand,
    Scan,
    ScanInput,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    as_operand,
    closed_loop,
    depending,
    level_of_body,
    over_batch,
    repeated,
    replace_nodes,
    shape_of,
    step_index,
)
from .axes import moveaxis

# Assumptions that hold for a stack of tensors if they hold for each of them.
_OF_ENTRIES = ("positive", "nonnegative")


def batch(exprs: TensorLike | Sequence[Any], variables: Mapping[Any, Length | TensorExpr]) -> Any:
    """Return an expression for many examples: the batch of an expression for one.

    Parameters
    ==========

    exprs : an expression, or a nested list or tuple of expressions
    variables : the symbols that differ between examples, each with the number of examples: ``x``
        of shape (n,) becomes a symbol of the same name of shape (b, n); or with a tensor of that
        shape, whose rows are the examples. All others are the same for all examples.

    Each result has one more first axis, that of the examples. A node that has no batched form, such
    as the solution of an equation, is computed in a loop over the examples.

    Raises
    ======

    ShapeError : the numbers of examples differ, or a tensor doesn't have the shape of its symbol
        behind the first axis
    TensorError : a key isn't a symbol
    UnsupportedError : lengths, or exponents of matrices, would differ between examples

    Examples
    ========

    The gradients of a loss for each example [JAX, ``vmap(grad(f))``]:

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n, b = symbols("n b", integer=True, positive=True)
    >>> w, x, y = se.TensorSymbol("w", n), se.TensorSymbol("x", n), se.TensorSymbol("y", ())
    >>> loss = se.log(1 + se.exp(-y * (w @ x)))
    >>> each = se.batch(se.gradient(loss, w), {x: b, y: b})
    >>> each.shape
    (b, n)
    >>> X = se.TensorSymbol("X", b, n)
    >>> print(se.batch(x @ w, {x: X}))
    X @ w
    """
    if not isinstance(variables, Mapping):
        raise TensorError(
            f"the variables of a batch are a dictionary, {{x: b}}, not {type(variables).__name__}"
        )
    stacked: dict[Basic, Operand] = {}
    length: Expr | None = None
    for key, value in variables.items():
        symbol = as_operand(key)
        if not isinstance(symbol, (Symbol, TensorSymbol)):
            raise TensorError(f"the variables of a batch are symbols, not {key}")
        own = _stacked(symbol, value)
        first = own.shape[0]
        if length is not None and not same_length(length, first):
            names = ", ".join(map(str, stacked))
            raise ShapeError(
                f"{symbol} has {first} examples and {names} {length}; the numbers must be equal"
                + same_name_hint(first, length)
            )
        length = first if length is None else length
        stacked[symbol] = own
    if length is None:
        raise TensorError("a batch needs a variable: {x: b}, with the number b of examples")
    return _over(exprs, stacked, length)


def _stacked(symbol: Symbol | TensorSymbol, value: Length | TensorExpr) -> TensorExpr:
    """Return the tensor of all examples."""
    shape = shape_of(symbol)
    if isinstance(value, (TensorExpr, Sequence)) or hasattr(value, "shape"):
        tensor = as_operand(value)
        if not isinstance(tensor, TensorExpr) or not same_shape(tensor.shape[1:], shape):
            raise ShapeError(
                f"a batch of {symbol}, of shape {shape}, has the shape (b, "
                f"{', '.join(map(str, shape))}), not {shape_of(tensor)}"
                + same_name_hint(*shape, *shape_of(tensor))
            )
        return tensor
    known = symbol.assumptions if isinstance(symbol, TensorSymbol) else _signs(symbol)
    kept = {name: True for name in _OF_ENTRIES if name in known}
    return TensorSymbol(symbol.name, as_length(value), *shape, **kept)


def _signs(symbol: Symbol) -> list[str]:
    return [name for name in _OF_ENTRIES if getattr(symbol, f"is_{name}")][:1]


def _over(exprs: Any, stacked: Mapping[Basic, Operand], length: Expr) -> Any:
    if isinstance(exprs, (list, tuple)):
        return type(exprs)([_over(part, stacked, length) for part in exprs])
    root = as_operand(exprs)
    lengths = {s for node in postorder([root]) for n in shape_of(node) for s in n.free_symbols}
    if not lengths.isdisjoint(stacked):
        raise UnsupportedError(
            f"{min(map(str, lengths & stacked.keys()))} is an axis length, which can't differ "
            "between the examples of a batch"
        )
    return _batch_of(root, stacked, length)


def _batch_of(root: Operand, stacked: Mapping[Basic, Operand], length: Expr) -> Operand:
    found = over_batch(root, stacked, length, _by_loop)
    return repeated(root, length) if found is None else found


def _batched_loop(node: Scan, batched: Mapping[Basic, Operand], length: Expr) -> Operand:
    """Batch the step: what depends on the batch has one more axis, behind that of the steps."""
    loop = node.loop
    of_step: dict[Basic, Operand] = {}
    known: dict[Basic, Operand] = {}
    symbols: dict[Basic, TensorSymbol] = {}
    for own in loop.invariants:
        if own.stacked in batched:
            of_step[own.symbol] = batched[own.stacked]
        else:
            known[own.symbol] = own.stacked

    def with_batch(symbol: TensorSymbol) -> TensorSymbol:
        shape = (length, *shape_of(symbol))
        new = BoundTensor("batch", len(symbols), loop.level, shape)
        of_step[symbol] = symbols[symbol] = new
        return new

    inputs = [
        ScanInput(with_batch(own.symbol), moveaxis(batched[own.stacked], 1, 0))
        if own.stacked in batched
        else own
        for own in loop.inputs
    ]
    starts = [own.symbol for own in loop.carries if own.init in batched]
    for symbol in loop.changed_by([*of_step, *starts]):
        if symbol not in of_step:
            with_batch(symbol)
    changing = {*depending(loop.outputs, of_step)}
    outputs: list[Operand] = []
    for number, output in enumerate(loop.outputs):
        is_carried = number < len(loop.carries) and loop.carries[number].symbol in of_step
        is_batched = output in changing or is_carried
        outputs.append(_batch_of(output, of_step, length) if is_batched else output)
    outputs = replace_nodes(outputs, known)
    carries = [
        Carry(symbols[own.symbol], batched.get(own.init, repeated(own.init, length)), new)
        if own.symbol in symbols
        else own._replace(new=new)
        for own, new in zip(loop.carries, outputs, strict=False)
    ]
    result = loop.with_body(carries, inputs, outputs[len(carries) :]).result(node.kind, node.place)
    if node.kind == LAST:
        is_batched = loop.carries[node.place].symbol in of_step
    else:
        is_batched = loop.values[node.place] in changing
        result = moveaxis(result, 1, 0) if is_batched else result
    return result if is_batched else repeated(result, length)


def _by_loop(node: Operand, batched: Mapping[Basic, Operand], length: Expr) -> Operand:
    """Compute a loop with a batch of its carries, another node in a loop over the examples."""
    if isinstance(node, Scan):
        return _batched_loop(node, batched, length)
    symbols = {own: BoundTensor("example", k, 0, shape_of(own)) for k, own in enumerate(batched)}
    inputs = [ScanInput(symbols[own], batched[own]) for own in batched]
    (value,) = replace_nodes([node], symbols)
    index = step_index(level_of_body([value], symbols.values()))
    return closed_loop(length, False, index, (), inputs, [value]).result(VALUES, 0)
