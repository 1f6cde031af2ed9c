"""Hypothesis strategies for tensors, programs, expressions and derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from hypothesis import HealthCheck, settings, strategies as st
from scipy import special
from sympy import Integer, Symbol, symbols

from ..calculus import diff
from ..core import ShapeError, UnsupportedError, tuning
from ..expressions import Operand, TensorSymbol, as_operand, shape_of
from .choices import Choices, ImpossibleError
from .operations import FIT, KINDS, OPERATIONS, SYMBOLS, Namespace, Operation
from .programs import Program, Step

# An axis length: a symbol or a number.
Length: TypeAlias = "Symbol | Integer | int"

# Symbolic axis lengths with the numbers that they stand for; they differ, so that axes that are
# mistaken for others don't fit.
LENGTHS = dict(zip(symbols("n m k", integer=True, positive=True), (3, 4, 2), strict=True))
NUMPY = Namespace(np, special)
# Expressions take a while to make, and the first ones longer.
SETTINGS = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def _grow(draw: Any, made: Program, steps: int, kinds: Sequence[str]) -> None:
    """Add up to ``steps`` random steps, fewer where none is possible."""
    arrays = made.run(NUMPY, made.arrays())
    for _ in range(steps):
        any(_step(draw, made, arrays, kinds) for _ in range(tuning.MAX_DRAWN_STEPS))


def _step(draw: Any, made: Program, arrays: list[Any], kinds: Sequence[str]) -> bool:
    """Add a step, if the drawn one is possible."""
    kind = draw(st.sampled_from(kinds))
    names = [name for name, own in made.operations.items() if own.kind == kind]
    name = draw(st.sampled_from(names))
    try:
        step = Step(name, *made.operations[name].choose(Choices(draw, made.values, arrays)))
    except ImpossibleError:
        return False
    with np.errstate(all="ignore"):
        array = np.asarray(made.after(NUMPY, arrays, step))
    is_small = array.ndim <= tuning.MAX_DRAWN_AXES and 0 < array.size <= tuning.MAX_DRAWN_ENTRIES
    if not is_small or not np.max(abs(array)) <= tuning.MAX_DRAWN_VALUE:
        return False
    try:
        value = as_operand(made.after(SYMBOLS, made.values, step))
    except UnsupportedError as error:
        made.refused.append((name, str(error)))
        return False
    except ShapeError:
        # A symbolic length may be too small for a slice, or equal another one.
        if all(n.is_Integer for k in step.operands for n in shape_of(made.values[k])):
            raise
        return False
    made.steps.append(step)
    made.values.append(value)
    arrays.append(array)
    return True


def _fit(made: Program, shape: Sequence[Operand]) -> None:
    """Add a last step that gives the result a shape."""
    letters = {chr(ord("a") + k): length for k, length in enumerate(shape)}
    whole, left, spare, term, count = "".join(letters), dict(letters), iter("ABCDEFGHIJ"), "", 1
    for length in shape_of(made.result):
        found = next((letter for letter, n in left.items() if n == length), "")
        left.pop(found, None)
        term += found or next(spare)
        count *= 1 if found else int(length.subs(made.lengths))
    operands = [len(made.values) - 1, len(made.tensors) - 1]
    step = Step("fit", operands, [f"{term},{whole}->{whole}", count])
    made.steps.append(step)
    made.values.append(as_operand(made.after(SYMBOLS, made.values, step)))


@st.composite
def tensors(
    draw: Any,
    shape: Sequence[Length] | None = None,
    name: str = "x",
    max_order: int = 2,
    lengths: Iterable[Length] | None = None,
) -> TensorSymbol:
    """Draw tensor symbols.

    Parameters
    ==========

    shape : the axis lengths; by default some of ``lengths``
    name : the symbol's name
    max_order : the largest number of axes that is drawn
    lengths : what axis lengths are drawn from, by default symbols or numbers

    Examples
    ========

    >>> from hypothesis import find
    >>> from sympy_einsum import testing
    >>> find(testing.tensors(lengths=[2, 3]), lambda x: x.order == 2).shape
    (2, 2)
    """
    if shape is None:
        if lengths is None:
            lengths = draw(st.sampled_from([tuple(LENGTHS), tuple(LENGTHS.values())]))
        axes = st.sampled_from(list(lengths))
        shape = draw(st.lists(axes, max_size=max_order))
    return TensorSymbol(name, tuple(shape))


@st.composite
def programs(
    draw: Any,
    shape: Sequence[Length] | None = None,
    given: Sequence[TensorSymbol | Symbol] | None = None,
    kinds: Sequence[str] = KINDS,
    operations: Mapping[str, Operation] = OPERATIONS,
    max_steps: int = 6,
    max_order: int = 2,
    lengths: Mapping[Symbol, int] = LENGTHS,
    numbers: bool = True,
) -> Program:
    """Draw random programs.

    Parameters
    ==========

    shape : that of the result, by default any
    given : the tensor symbols, or SymPy's own for scalars, that a program starts from, by default
        two or three random ones
    kinds : the families of operations, by default all
    operations : the operations by name
    max_steps : the largest number of steps
    max_order : the largest order of the first tensor, by which one may differentiate
    lengths : symbolic axis lengths, with the numbers that they stand for
    numbers : whether half of the programs have those numbers for axis lengths

    Examples
    ========

    >>> from hypothesis import find
    >>> from sympy_einsum import testing
    >>> find(testing.programs(kinds=["matrices"]), lambda made: made.steps)  # doctest: +SKIP
    program of x: (), a: (n, n), for {n: 3, m: 4, k: 2}
        v2 = cholesky(a)
    """
    if given is None:
        kinds_of_lengths = [tuple(lengths), tuple(lengths.values())][: 1 + numbers]
        drawn = draw(st.sampled_from(kinds_of_lengths))
        given = [draw(tensors(name="x", max_order=max_order, lengths=drawn))]
        for name in ("a", "b")[: draw(st.integers(1, 2))]:
            given.append(draw(tensors(name=name, max_order=3, lengths=drawn)))
    leaves = [*given] if shape is None else [*given, TensorSymbol("shaped", tuple(shape))]
    made = Program(tuple(leaves), dict(lengths), {**operations, "fit": FIT}, values=[*leaves])
    _grow(draw, made, draw(st.integers((max_steps + 1) // 2, max_steps)), list(kinds))
    if shape is not None:
        _fit(made, leaves[-1].shape)
    return made


def expressions(
    shape: Sequence[Length] | None = None, **options: Any
) -> st.SearchStrategy[Operand]:
    """Draw random expressions: the results of :func:`programs`, which has the same options.

    Examples
    ========

    >>> from hypothesis import given, settings
    >>> from sympy_einsum import testing
    >>> @given(testing.expressions(shape=(2, 3)))
    ... @settings(testing.SETTINGS, max_examples=5, derandomize=True, database=None)
    ... def shapes_are_those_asked_for(expr):
    ...     assert expr.shape == (2, 3)
    >>> shapes_are_those_asked_for()
    """
    return programs(shape, **options).map(lambda made: made.result)


@st.composite
def derivatives(draw: Any, /, **options: Any) -> tuple[Operand, TensorSymbol, Operand]:
    """Draw random expressions, a tensor in each and the derivative with respect to it; options are
    those of :func:`programs`.

    Examples
    ========

    >>> from hypothesis import given, settings
    >>> from sympy_einsum import testing
    >>> @given(testing.derivatives(kinds=["products"], shape=(2,)))
    ... @settings(testing.SETTINGS, max_examples=5, derandomize=True, database=None)
    ... def shapes_are_put_side_by_side(made):
    ...     y, x, derivative = made
    ...     assert derivative.shape == y.shape + x.shape
    >>> shapes_are_put_side_by_side()
    """
    made = draw(programs(**options))
    x = draw(st.sampled_from(made.tensors))
    return made.result, x, diff(made.result, x)
