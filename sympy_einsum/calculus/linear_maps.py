"""The derivative as a linear map, made of steps that are composed and added.

A map is a straight-line program: each line is a sum of steps, each from an earlier line. So shared
parts are shared, the adjoint is the program read backwards, with each step transposed, and
composition writes one program behind the other.

References
==========

[C] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python Context", 2025,
    §2.4.3–2.4.4, figures 1 and 2.
[E] M. Elsman, F. Henglein, R. Kaarsgaard, M. K. Mathiesen, R. Schenck, "Combinatory Adjoints and
    Differentiation", 2022, theorem 6.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from sympy import Integer

from ..core import (
    Length,
    Shape,
    ShapeError,
    TensorError,
    as_shape,
    same_name_hint,
    same_shape,
)
from ..expressions import Delta, Operand, Solution, Zeros, as_operand, shape_of
from ..operations import transpose
from ..rules import stabilise, tidy
from .operators import Listed, as_function, as_variable, listed
from .point_free import LATEX, TEXT, Steps, Style, let_text, map_text
from .scans import LoopNode
from .steps import APPLIED, ActionStep, TermMap
from .sweeps import Graph, accumulated, term_lengths


class Line(NamedTuple):
    """A tensor of some shape: a sum of steps, each applied to an earlier tensor given by its
    number; the arguments have the first numbers."""

    shape: Shape
    steps: Sequence[tuple[TermMap | ActionStep, int]]


class LinearMap:
    """A linear map from tensors to tensors; :func:`sympy_einsum.linearize` makes it.

    ``L @ dx`` applies it, ``L @ M`` is the map M followed by L, ``L.adjoint()`` the adjoint,
    ``L.matrix()`` the tensor of all partial derivatives.

    ``str`` and LaTeX show it without its argument: ``∘`` is composition, ``(A @)`` multiplies by a
    matrix from the left, ``(e *)`` entry by entry, ``(* e)`` is e times a number, ``(e ·)`` the
    scalar product with e, ``Σ`` adds up, ``Δ`` repeats, ``π[k]`` takes an entry, ``ι[k]`` puts one
    among zeros, ``π1`` is the first of several arguments, ``⟨f, g⟩`` a tuple; ``DScan`` is the
    recurrence of tangents of a loop, ``DScan*`` its adjoint, and likewise ``DSolution`` and others.

    domain : the shapes of the tensors that it takes
    codomain : the shapes of the tensors that it gives
    """

    def __init__(
        self,
        domain: Sequence[Shape],
        lines: Sequence[Line],
        results: Sequence[tuple[Shape, int | None]],
        is_single: tuple[bool, bool],
    ):
        self.domain = tuple(domain)
        self.codomain = tuple([shape for shape, _ in results])
        self._lines = tuple(lines)
        self._results = tuple([number for _, number in results])
        # Whether it takes, and gives, a tensor and not a list of tensors.
        self._is_single = is_single

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, LinearMap):
            return self._after(other)
        values = self._arguments(other)
        results, _ = tidy(self._applied(values, ()), None, values)
        return results[0] if self._is_single[1] else list(results)

    def adjoint(self) -> LinearMap:
        """Return the adjoint, the pullback of cotangents [C, figure 2; E, theorem 6.5].

        >>> import sympy_einsum as se
        >>> A, x, u = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3), se.TensorSymbol("u", 2)
        >>> L = se.linearize(se.sin(A @ x), x)
        >>> L.adjoint() @ u
        A.T @ (u*cos(A @ x))
        """
        first = len(self.domain)
        shapes = [*self.domain, *[line.shape for line in self._lines]]
        users: dict[int, list[tuple[TermMap | ActionStep, int]]] = {}
        for number, line in enumerate(self._lines, start=first):
            for step, source in line.steps:
                users.setdefault(source, []).append((step.transposed(), number))
        place: dict[int, int] = {}
        lines: list[Line] = []
        for number in range(len(shapes) - 1, -1, -1):
            seeds = [k for k, result in enumerate(self._results) if result == number]
            steps: list[tuple[TermMap | ActionStep, int]] = [
                (TermMap.identity(shapes[number]), k) for k in seeds
            ]
            steps += [(step, place[user]) for step, user in users.get(number, []) if user in place]
            if len(seeds) == len(steps) == 1:
                place[number] = seeds[0]
            elif steps:
                place[number] = len(self.codomain) + len(lines)
                lines.append(Line(shapes[number], steps))
        results = [(shape, place.get(k)) for k, shape in enumerate(self.domain)]
        return LinearMap(self.codomain, lines, results, self._is_single[::-1])

    def matrix(self) -> Any:
        """Return the tensor of all partial derivatives, of the shape of the value and then that of
        the argument; nested lists, a row for each value, where there are several.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> se.linearize(A @ x, x).matrix()
        A
        """
        blocks = [
            [self._block(i, k) for k in range(len(self.domain))] for i in range(len(self.codomain))
        ]
        rows = [row[0] if self._is_single[0] else row for row in blocks]
        return rows[0] if self._is_single[1] else rows

    def _block(self, result: int, argument: int) -> Operand:
        shape, value = self.domain[argument], self.codomain[result]
        if len(value) < len(shape):
            # From the smaller side it takes less.
            block = self.adjoint()._column(result, argument)
            axes = range(len(shape) + len(value))
            block = transpose(block, [*axes[len(shape) :], *axes[: len(shape)]]) if axes else block
        else:
            block = self._column(argument, result)
        return tidy([block], None, ())[0][0]

    def _column(self, argument: int, result: int) -> Operand:
        values: list[Operand | None] = [None] * len(self.domain)
        shape = self.domain[argument]
        values[argument] = Delta(*shape) if shape else as_operand(1)
        return self._applied(values, shape)[result]

    def _applied(self, values: Sequence[Operand | None], inner: Shape) -> list[Operand]:
        """Apply the map to tensors with further axes behind their own; None stands for zeros."""
        found = list(values)
        for line in self._lines:
            parts = [(step, found[source]) for step, source in line.steps]
            made = [step.applied(value, inner) for step, value in parts if value is not None]
            found.append(accumulated(made) if made else None)
        results = [None if number is None else found[number] for number in self._results]
        pairs = zip(results, self.codomain, strict=True)
        return [Zeros(*shape, *inner) if value is None else value for value, shape in pairs]

    def _arguments(self, given: object) -> list[Operand]:
        values = [given] if self._is_single[0] else given
        if not isinstance(values, (list, tuple)) or len(values) != len(self.domain):
            raise TensorError(f"the map takes a list of {len(self.domain)} tensors")
        operands = [as_operand(value) for value in values]
        for operand, shape in zip(operands, self.domain, strict=True):
            _check(shape_of(operand), shape)
        return operands

    def _after(self, other: LinearMap) -> LinearMap:
        """Compose another map with this one behind it."""
        if len(self.domain) != len(other.codomain):
            raise ShapeError(
                f"a map of {len(self.domain)} tensors can't follow one that gives "
                f"{len(other.codomain)}"
            )
        for given, taken in zip(other.codomain, self.domain, strict=True):
            _check(given, taken)
        place: list[int | None] = list(other._results)
        lines = list(other._lines)
        for line in self._lines:
            steps = [(step, at) for step, k in line.steps if (at := place[k]) is not None]
            place.append(len(other.domain) + len(lines) if steps else None)
            if steps:
                lines.append(Line(line.shape, steps))
        found = [None if number is None else place[number] for number in self._results]
        results = list(zip(self.codomain, found, strict=True))
        return LinearMap(other.domain, lines, results, (other._is_single[0], self._is_single[1]))

    def _written(self, style: Style) -> str:
        return map_text(style, *self._parts())

    def _parts(self) -> tuple[int | None, Sequence[Steps], Sequence[int | None], bool]:
        steps = [line.steps for line in self._lines]
        count = None if self._is_single[0] else len(self.domain)
        return count, steps, self._results, self._is_single[1]

    def let_text(self) -> str:
        """Write the map with the values that occur in it several times bound to names, as Caddie
        binds them by ``let`` [C, §2.4.2]: first the bindings, one a line, then the map.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> print(se.linearize(se.exp(A @ x) @ se.sin(A @ x), x).let_text())
        v1 = A @ x
        v2 = exp(v1)
        (sin(v1) ·) ∘ (v2 *) ∘ (A @) + (v2 ·) ∘ (cos(v1) *) ∘ (A @)
        """
        return let_text(*self._parts())

    def __str__(self) -> str:
        return self._written(TEXT)

    __repr__ = __str__

    def _latex(self, printer: object = None) -> str:
        return self._written(LATEX)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self._latex()}$"


# A shape, or a list of shapes, of a map of lists of tensors.
Space: TypeAlias = "tuple[Length, ...] | list[tuple[Length, ...]]"


def identity_map(space: Space) -> LinearMap:
    """Return the identity on tensors of a shape, or on lists of tensors.

    Parameters
    ==========

    space : a shape, or a list of shapes

    Raises
    ======

    ShapeError : it isn't a shape

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.identity_map((3,)), se.identity_map([(3,), ()])
    (Id, ⟨π1, π2⟩)
    """
    shapes, is_single = _shapes(space)
    results = [(shape, k) for k, shape in enumerate(shapes)]
    return LinearMap(shapes, [], results, (is_single, is_single))


def zero_map(domain: Space, codomain: Space) -> LinearMap:
    """Return the linear map that is zero [C, equation 2.19].

    Parameters
    ==========

    domain, codomain : shapes, or lists of shapes

    Raises
    ======

    ShapeError : one isn't a shape

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> zero = se.zero_map((3,), (2,))
    >>> zero, zero @ x, zero.adjoint().codomain
    (0, Zeros(2), ((3,),))
    """
    (before, takes_one), (after, gives_one) = _shapes(domain), _shapes(codomain)
    return LinearMap(before, [], [(shape, None) for shape in after], (takes_one, gives_one))


def projection_map(number: int, space: list[tuple[Length, ...]]) -> LinearMap:
    """Return the projection of lists of tensors to one of them [C, equation 2.19]; the adjoint puts
    a tensor among zeros [C, figure 2].

    Parameters
    ==========

    number : the place in the list, counted from 1, as ``π1`` is printed
    space : a list of shapes

    Raises
    ======

    ShapeError : it isn't a list of shapes
    TensorError : the list has no such place

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, y = se.TensorSymbol("x", 3), se.TensorSymbol("y", 2)
    >>> second = se.projection_map(2, [(3,), (2,)])
    >>> second, second @ [x, y], second.adjoint(), second.adjoint() @ y
    (π2, y, ⟨0, Id⟩, [Zeros(3), y])
    """
    shapes, is_single = _shapes(space)
    if is_single:
        raise ShapeError(f"a projection takes a list of shapes, not {str(space)[:80]}")
    if not isinstance(number, (int, Integer)) or not 1 <= number <= len(shapes):
        raise TensorError(
            f"components are counted from 1 to {len(shapes)}; {str(number)[:80]!r} is none"
        )
    place = int(number) - 1
    return LinearMap(shapes, [], [(shapes[place], place)], (False, True))


def _shapes(space: Any) -> tuple[list[Shape], bool]:
    """Return the shapes of a space, and whether it is one of tensors and not of lists."""
    if isinstance(space, list):
        return [as_shape([one]) for one in space], False
    return [as_shape([space])], True


def _check(given: Shape, taken: Shape) -> None:
    if not same_shape(given, taken):
        hint = same_name_hint(*taken, *given)
        raise ShapeError(f"the map takes a tensor of shape {taken}, not of shape {given}" + hint)


def linearize(f: Listed, x: Listed) -> LinearMap:
    """Return the derivative of an expression with respect to a variable as a linear map.

    Lists of expressions and of variables give a map between lists of tensors.

    Raises
    ======

    UnsupportedError : some node has no derivative, named in the message
    TensorError : a variable is no symbol

    Examples
    ========

    >>> import sympy_einsum as se
    >>> from sympy import Symbol, log, sin
    >>> x = Symbol("x", real=True)
    >>> derivative = se.linearize(log(sin(x)), x)
    >>> print(derivative)
    (1/sin(x) *) ∘ (cos(x) *)
    >>> print(derivative.adjoint())
    (cos(x) *) ∘ (1/sin(x) *)
    >>> A, v = se.TensorSymbol("A", (3, 2)), se.TensorSymbol("v", 2)
    >>> layer = se.linearize(se.tanh(A @ v), v)
    >>> print(layer)
    (1 - tanh(A @ v)**2 *) ∘ (A @)
    >>> layer.matrix() == se.jacobian(se.tanh(A @ v), v)
    True
    """
    variables = [as_variable(v) for v in listed(x)]
    functions = [as_function(part, variables) for part in listed(f)]
    roots, _ = stabilise(functions, variables)
    graph = Graph(roots, variables)
    number = {variable: k for k, variable in enumerate(variables)}
    lines: list[Line] = []
    for node in graph.order:
        # The steps of loops are those of their results, which come after them.
        if node in number or node not in graph.active or isinstance(node, LoopNode):
            continue
        steps = [(step, number[o]) for step, o in _steps(graph, node) if o in number]
        if steps:
            number[node] = len(variables) + len(lines)
            lines.append(Line(shape_of(node), steps))
    results = [(shape_of(root), number.get(root)) for root in roots]
    is_single = (not isinstance(x, (list, tuple)), not isinstance(f, (list, tuple)))
    return LinearMap([shape_of(v) for v in variables], lines, results, is_single)


def _steps(graph: Graph, node: Operand) -> Iterator[tuple[TermMap | ActionStep, Operand]]:
    """Yield the derivative of a node by each of its operands that depend on a variable."""
    if type(node) in APPLIED:
        for k, operand in enumerate(node.operands):
            # A solution doesn't depend on where it is searched for.
            if operand in graph.active and (k or not isinstance(node, Solution)):
                yield ActionStep(node, k), operand
        return
    below = graph.below(node)
    for term in graph.terms(node):
        operand = below[term.operand]
        yield TermMap(term, term_lengths(node, operand, term, {})), operand
