"""Loops: recurrences as expressions, and their steps written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import signature
from typing import Any, NamedTuple

from sympy import Basic, Expr, Integer, S, floor, sqrt

from ..core import (
    Length,
    ShapeError,
    TensorError,
    as_flag,
    as_length,
    postorder,
    same_length,
    same_name_hint,
    same_shape,
    transform,
)
from ..expressions import (
    LAST,
    VALUES,
    BoundTensor,
    Carry,
    Operand,
    Recurrence,
    Scan,
    ScanInput,
    Selection,
    Several,
    TensorLike,
    Unit,
    as_operand,
    closed_loop,
    contract,
    order_of,
    rebuild,
    shape_of,
    step_index,
)
from .axes import reshape
from .joining import concatenate, stack

# How many steps are being called, one inside another: bound symbols are named by it.
_depth: ContextVar[int] = ContextVar("depth", default=0)


class Structure(NamedTuple):
    """A nested tuple, list or dictionary: its type, its keys, and the structures of its parts; of a
    leaf no type, of None a type and no parts."""

    kind: type | None
    keys: tuple[object, ...] = ()
    parts: tuple[Structure, ...] = ()

    def build(self, leaves: Iterator[Any]) -> Any:
        """Put leaves into the structure."""
        if self.kind is None:
            return next(leaves)
        if self.kind is type(None):
            return None
        parts = [part.build(leaves) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.keys, parts, strict=True))
        is_named = hasattr(self.kind, "_fields")
        return self.kind(*parts) if is_named else self.kind(parts)

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        if self.kind is type(None):
            return "None"
        if self.kind is dict:
            pairs = zip(self.keys, self.parts, strict=True)
            return "{" + ", ".join([f"{key!r}: {part}" for key, part in pairs]) + "}"
        opening, closing = "[]" if self.kind is list else "()"
        return opening + ", ".join(map(str, self.parts)) + closing


def flatten_structure(value: object, leaves: list[Any]) -> Structure:
    """Append the leaves of a nested tuple, list or dictionary; return its structure."""
    if value is None:
        return Structure(type(None))
    if isinstance(value, dict):
        parts = [flatten_structure(part, leaves) for part in value.values()]
        return Structure(dict, tuple(value), tuple(parts))
    if isinstance(value, (tuple, list)):
        parts = [flatten_structure(part, leaves) for part in value]
        return Structure(type(value), (), tuple(parts))
    leaves.append(value)
    return Structure(None)


def scan(
    step: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: Length | None = None,
    reverse: bool = False,
    *,
    checkpoint: Length | str | None = None,
) -> tuple[Any, Any]:
    """Build a loop: c_(t+1), y_t = step(c_t, x_t), for steps whose number may be symbolic.

    Parameters
    ==========

    step : a function of the carry and the input of a step, which returns the next carry and a value
        of the step, or None. It is called once, with symbols, and may use any other symbols
    init : the first carry: a tensor, a scalar, or a nested tuple, list or dictionary of them
    xs : tensors of one first length, of which a step gets an entry each, structured likewise;
        without them a step gets its number t, an integer symbol from 0 to length - 1
    length : the number of steps; that of xs, if there are any
    reverse : whether the steps go from the last to the first
    checkpoint : ``"sqrt"``, or a number of steps: the reverse mode keeps the carry after every so
        many steps and computes those between again, so that memory grows with the square root of
        the number of steps, or less [GW]; by default all carries are kept that it needs

    Returns
    =======

    The last carry, structured as ``init``, and the values of all steps, structured as those of a
    step, with the steps as a new first axis.

    Raises
    ======

    ShapeError : a carry changes its shape, or inputs have different first lengths
    TensorError : the step isn't a function that returns a carry and a value, a carry changes its
        structure, or nothing tells the number of steps

    Examples
    ========

    A recurrent network, h_(t+1) = tanh(W h_t + x_t), and its derivative by W:

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> T, n = symbols("T n", integer=True, positive=True)
    >>> W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)
    >>> last, states = se.scan(lambda h, x: 2 * (se.tanh(W @ h + x),), h, X)
    >>> last.shape, states.shape
    ((n,), (T, n))
    >>> se.gradient(last.sum(), W).shape
    (n, n)

    Compound interest, whose rate a step changes:

    >>> r = symbols("r")
    >>> last, _ = se.scan(lambda c, t: (c * (1 + r) + t, None), 1, length=T)
    >>> se.unroll(last.subs(T, 2)).expand()
    r**2 + 2*r + 2

    References
    ==========

    [JAX] The JAX authors, "JAX: composable transformations of Python+NumPy programs", jax.lax.scan,
    2018.
    [GW] A. Griewank, A. Walther, "Evaluating Derivatives", 2nd edition, 2008, §12.
    """
    if not callable(step) or isinstance(step, type):
        raise TensorError(f"the step of a scan is a function of a carry and an input, not {step!r}")
    _check_arguments(step)
    starts: list[Any] = []
    structure = flatten_structure(init, starts)
    starts = [as_operand(own) for own in starts]
    stacked: list[Any] = []
    inputs = flatten_structure(xs, stacked)
    stacked = [as_operand(own) for own in stacked]
    count = _number_of_steps(stacked, length)
    backwards = as_flag(reverse, "reverse")
    loop = _Steps(step, structure, inputs, backwards)
    if checkpoint is None:
        return loop.run(starts, stacked, count)
    # One more than the root, so that it is no divisor 0 where there are no steps.
    size = floor(sqrt(count)) + 1 if checkpoint == "sqrt" else _block_length(checkpoint)
    return loop.in_blocks(starts, stacked, count, size)


def _check_arguments(step: Callable[[Any, Any], tuple[Any, Any]]) -> None:
    """Refuse a step that can't be called with a carry and an input."""
    try:
        asked = signature(step)
    except ValueError:
        # Functions written in C may have none.
        return
    try:
        asked.bind(None, None)
    except TypeError as error:
        raise TensorError(
            "the step of a scan is called with two arguments, a carry and an input, and takes "
            f"{asked}: {error}"
        ) from None


def _block_length(checkpoint: Length | str) -> Expr:
    if isinstance(checkpoint, (str, bool)):
        raise TensorError(f'checkpoint is "sqrt" or a number of steps, not {checkpoint!r}')
    size = as_length(checkpoint)
    if size is S.Zero:
        raise TensorError("checkpoint is a number of steps from 1 on, not 0")
    return size


class _Steps(NamedTuple):
    """A step, the structures of its carry and its input, and the order of the steps."""

    step: Callable[[Any, Any], tuple[Any, Any]]
    carry: Structure
    inputs: Structure
    reverse: bool

    def run(
        self,
        starts: Sequence[Operand],
        stacked: Sequence[Operand],
        count: Expr,
        recomputes: bool = False,
    ) -> tuple[Any, Any]:
        """Return the last carry and the values of a loop."""
        with calling() as level:
            index = step_index(level)
            carried = [
                BoundTensor("carry", k, level, shape_of(own)) for k, own in enumerate(starts)
            ]
            entries = [
                BoundTensor("input", k, level, own.shape[1:]) for k, own in enumerate(stacked)
            ]
            given = self.inputs.build(iter(entries)) if stacked else index
            result = self.step(self.carry.build(iter(carried)), given)
        news, values, outputs = self._results(starts, result, index)
        loop = closed_loop(
            *(count, self.reverse, index),
            [Carry(*own) for own in zip(carried, starts, news, strict=True)],
            [ScanInput(*own) for own in zip(entries, stacked, strict=True)],
            values,
            recomputes,
        )
        _check_positions(loop)
        last = self.carry.build(iter([loop.result(LAST, k) for k in range(len(news))]))
        return last, outputs.build(iter([loop.result(VALUES, k) for k in range(len(values))]))

    def _results(
        self, starts: Sequence[Operand], result: Any, index: Expr
    ) -> tuple[list[Operand], list[Operand], Structure]:
        """Return the next carries and the values of a step, and the structure of the values."""
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TensorError(
                "the step of a scan returns a pair, the next carry and a value or None, not "
                f"{result!r:.80}"
            )
        news: list[Any] = []
        found = flatten_structure(result[0], news)
        if found != self.carry:
            raise TensorError(
                f"the carry of a scan must keep its structure: it starts as {self.carry}, and the "
                f"step returns {found}"
            )
        news = [as_operand(own) for own in news]
        for number, (own, new) in enumerate(zip(starts, news, strict=True)):
            _check_carry(number, own, new)
        values: list[Any] = []
        outputs = flatten_structure(result[1], values)
        values = [as_operand(own) for own in values]
        for number, value in enumerate(values):
            if any(length.has(index) for length in shape_of(value)):
                raise ShapeError(
                    f"value {number} of a step has the shape {shape_of(value)}, which changes from "
                    "step to step; the values of all steps are stacked"
                )
        return news, values, outputs

    def in_blocks(
        self, starts: Sequence[Operand], stacked: Sequence[Operand], count: Expr, size: Expr
    ) -> tuple[Any, Any]:
        """Return the results of a loop over blocks of steps, each of which the reverse mode runs
        again, and of the steps that are left."""
        blocks = floor(count / size)
        whole = blocks * size
        rest = count - whole
        first, left = (rest, S.Zero) if self.reverse else (S.Zero, whole)

        def block(carry: Any, part: Any) -> tuple[Any, Any]:
            own: list[Any] = []
            flatten_structure(carry, own)
            rows: list[Any] = []
            if stacked:
                flatten_structure(part, rows)
                return self.run(own, rows, size)
            return self._from(first + part * size).run(own, (), size)

        parts = [
            reshape(_rows(own, first, whole), (blocks, size, *own.shape[1:])) for own in stacked
        ]
        last, values = self._replace(step=block).run(starts, parts, blocks, recomputes=True)
        carried: list[Any] = []
        flatten_structure(last, carried)
        remaining = self if stacked else self._from(left)
        last, more = remaining.run(carried, [_rows(own, left, rest) for own in stacked], rest)
        pieces: tuple[list[Any], list[Any]] = ([], [])
        structure = flatten_structure(values, pieces[0])
        flatten_structure(more, pieces[1])
        joined = [
            concatenate([end, start] if self.reverse else [start, end])
            for start, end in zip(
                [reshape(own, (whole, *own.shape[2:])) for own in pieces[0]], pieces[1], strict=True
            )
        ]
        return last, structure.build(iter(joined))

    def _from(self, first: Expr) -> _Steps:
        """Return the steps counted from a number on."""
        return self._replace(step=lambda carry, t: self.step(carry, first + t))


def _rows(tensor: Operand, start: Expr, count: Expr) -> Operand:
    """Return some entries of a tensor along its first axis."""
    axes = range(tensor.order)
    label = len(axes)
    selector = Selection(tensor.shape[0], start, 1, count)
    lengths = {**dict(enumerate(tensor.shape)), label: count}
    return contract((tensor, selector), (axes, (label, 0)), (label, *axes[1:]), lengths)


@contextmanager
def calling() -> Iterator[int]:
    """Count a step as being called; yield a level below those of bodies."""
    token = _depth.set(_depth.get() + 1)
    try:
        yield -_depth.get()
    finally:
        _depth.reset(token)


def _number_of_steps(stacked: list[Operand], length: Length | None) -> Expr:
    for number, own in enumerate(stacked):
        if not order_of(own):
            raise ShapeError(
                f"input {number} of a scan, {own}, is a scalar; inputs have the steps as their "
                "first axis"
            )
    if length is None and not stacked:
        raise TensorError("the number of steps of a scan is unknown; give xs or length")
    counts = [own.shape[0] for own in stacked]
    first = counts[0] if length is None else as_length(length)
    for number, count in enumerate(counts):
        if not same_length(first, count):
            known = "length" if length is not None else "the first axis of input 0"
            raise ShapeError(
                f"input {number} of a scan has {count} entries along its first axis, and {known} "
                f"says {first}; there is one for each step" + same_name_hint(first, count)
            )
    return first


def _check_carry(number: int, old: Operand, new: Operand) -> None:
    before, after = shape_of(old), shape_of(new)
    if not same_shape(before, after):
        raise ShapeError(
            f"carry {number} of a scan must keep its shape: it starts with {before}, and the step "
            f"returns {after}" + same_name_hint(*before, *after)
        )


def _check_positions(loop: Recurrence) -> None:
    """Raise ShapeError where the first or the last step takes an entry beside its axis."""
    for node in postorder(loop.outputs):
        if not isinstance(node, Unit) or not node.position.has(loop.index):
            continue
        for step in (S.Zero, loop.length - 1):
            place = node.position.xreplace({loop.index: step})
            if place.is_negative or (node.length - 1 - place).is_negative:
                raise ShapeError(
                    f"step {step} of a scan takes the entry {place} of an axis of length "
                    f"{node.length}; entries are counted from 0, and none lies before"
                )


def unroll(expr: TensorLike | Several) -> Any:
    """Write out the steps of all scans in an expression, or in each of a list.

    Raises
    ======

    TensorError : the number of steps is a symbol; substitute a number for it

    Examples
    ========

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", 3, 2)
    >>> last, values = se.scan(lambda c, x: (c + x, c), se.Zeros(2), X)
    >>> print(se.unroll(last))
    X[0, :] + X[2, :] + X[1, :]
    """
    roots = list(expr) if isinstance(expr, (tuple, list)) else [expr]
    results = transform([as_operand(own) for own in roots], _unrolled)
    return results if isinstance(expr, (tuple, list)) else results[0]


def _unrolled(node: Basic, operands: tuple[Basic, ...]) -> Basic:
    built = rebuild(node, operands) if operands else node
    if not isinstance(built, Scan):
        return built
    if not isinstance(built.length, Integer):
        raise TensorError(
            f"the steps of a scan of length {built.length} can't be written out; substitute a "
            "number for it"
        )
    lasts, values = built.loop.unrolled()
    return unroll(lasts[built.place] if built.kind == LAST else stack(values[built.place]))
