"""Adapt tensorgrad, whose axes have names, to NumPy's positional axes.

The adapter runs the cases' plain functions on it, with documented features only. It needs a PyTorch
with named tensors (before 2.13).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from .case import Case

_numbers = count()


@dataclass
class Placed:
    """Hold a tensor and its edges in the order of the axes, None for an axis of length 1."""

    tensor: Any
    edges: list[str | None]

    def fresh(self) -> Placed:
        """Rename the edges to fresh names."""
        names = {edge: f"e{next(_numbers)}" for edge in self.edges if edge}
        return Placed(self.tensor.rename(**names), [edge and names[edge] for edge in self.edges])

    def __getitem__(self, key: tuple[slice | None, ...]) -> Placed:
        """Insert axes of length 1 where the key has None."""
        edges = iter(self.edges)
        return Placed(self.tensor, [None if part is None else next(edges) for part in key])

    @property
    def T(self) -> Placed:
        return Placed(self.tensor, self.edges[::-1])

    def __matmul__(self, other: Placed) -> Placed:
        import tensorgrad.functions as F

        left, right = self.fresh(), other.fresh()
        edge, place = left.edges[-1], max(len(right.edges) - 2, 0)
        meeting = right.tensor.rename(**{right.edges[place]: edge})
        kept = [e for k, e in enumerate(right.edges) if k != place]
        return Placed(F.dot(left.tensor, meeting, dim=edge), [*left.edges[:-1], *kept])

    def _with(self, other: Any, combined: Callable[[Any, Any], Any]) -> Placed:
        """Combine with a number, or with an array of the same order, entry by entry."""
        if not isinstance(other, Placed):
            return Placed(combined(self.tensor, other), self.edges)
        left, right = self.fresh(), other.fresh()
        pairs = list(zip(right.edges, left.edges, strict=True))
        renamed = right.tensor.rename(**{mine: edge for mine, edge in pairs if mine and edge})
        return Placed(combined(left.tensor, renamed), [edge or mine for mine, edge in pairs])

    def __add__(self, other: Any) -> Placed:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Placed:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> Placed:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Placed:
        return self._with(other, operator.truediv)

    def __rsub__(self, other: Any) -> Placed:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Placed:
        return Placed(-self.tensor, self.edges)

    def __pow__(self, power: int) -> Placed:
        return Placed(self.tensor**power, self.edges)


def _namespace() -> SimpleNamespace:
    """Return the part of NumPy's namespace that the cases call."""
    import tensorgrad.functions as F

    def entrywise(function: Callable[[Any], Any]) -> Callable[[Placed], Placed]:
        return lambda value: Placed(function(value.tensor), value.edges)

    def total(value: Placed, axis: int | None = None) -> Placed:
        if axis is None:
            return Placed(F.sum(value.tensor), [])
        edge = value.edges[axis]
        return Placed(F.sum(value.tensor, [edge]), [e for e in value.edges if e != edge])

    def einsum(subscripts: str, *operands: Placed) -> Placed:
        inputs, output = subscripts.split("->")
        product: Any = 1
        for letters, operand in zip(inputs.split(","), operands, strict=True):
            names = zip(operand.edges, letters, strict=True)
            product = operand.tensor.rename(**{edge: new for edge, new in names if edge}) * product
        summed = sorted({*inputs} - {*output, ","})
        return Placed(F.sum(product, summed) if summed else product, list(output))

    def maximum(_: int, value: Placed) -> Placed:
        """Take the maximum with 0, the only one in the cases."""
        return Placed(F.relu(value.tensor), value.edges)

    entries = {name: entrywise(getattr(F, name)) for name in ("exp", "log", "tanh")}
    return SimpleNamespace(sum=total, einsum=einsum, maximum=maximum, **entries)


def compiled(case: Case, data: list[Any]) -> Callable[[], Any]:
    """Compile a case by tensorgrad, and return the call for its arrays."""
    import tensorgrad as tg
    import torch
    from sympy import Symbol
    from tensorgrad.compiler import compile_to_callable

    arguments, _ = case.build()
    shapes = [[Symbol(str(length)) for length in symbol.shape] for symbol in arguments]
    variables = [
        tg.Variable(f"v{k}", **{f"v{k}a{axis}": length for axis, length in enumerate(shape)})
        for k, shape in enumerate(shapes)
    ]
    value = case.of(_namespace(), *[Placed(v, list(v.edges)) for v in variables]).tensor
    derivatives = [variables[place] for place in np.atleast_1d(case.wrt)]
    # Simplify, because unsimplified second derivatives of larger arrays compile to zero.
    results = [value.grad(variable).full_simplify() for variable in derivatives]
    edges: list[list[str]] = [list(variable.edges) for variable in derivatives]
    if case.order == 2:
        results = [results[0].grad(derivatives[0]).full_simplify()]
        edges = [[*edges[0], *[f"{edge}_" for edge in edges[0]]]]
    if case.value:
        results, edges = [value, *results], [[], *edges]
    program = compile_to_callable(*results)
    arrays = {v: torch.from_numpy(np.array(a)) for v, a in zip(variables, data, strict=True)}
    lengths = {
        length: given
        for shape, array in zip(shapes, data, strict=True)
        for length, given in zip(shape, np.shape(array), strict=True)
    }

    def call() -> Any:
        found = program(arrays, lengths)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    orders = [
        [result.names.index(edge) for edge in wanted]
        for result, wanted in zip(call(), edges, strict=True)
    ]
    if all(order == sorted(order) for order in orders):
        return lambda: [result.rename(None) for result in call()]
    return lambda: [
        result.rename(None).permute(order) for result, order in zip(call(), orders, strict=True)
    ]
