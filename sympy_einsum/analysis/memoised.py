"""Memoised analyses of nodes, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeAlias, TypeVar

from ..expressions import Operand, TensorExpr


class Property:
    """A property of nodes, given by its rule: a generator that yields the questions it has about
    the operands, as pairs of a property and a node, and returns the answer. Answers are memoised at
    the node, so that the time is linear in the graph."""

    def __init__(self, rule: Callable[[Operand], Answer]):
        self._rule = rule
        self.__doc__ = rule.__doc__

    def __call__(self, node: Operand) -> bool:
        """Tell whether a node is known to have the property."""
        answer = self._cached_answer(node)
        if answer is not None:
            return answer
        stack = [(self, node, self._rule(node))]
        while stack:
            analysis, subject, rule = stack[-1]
            try:
                question, other = rule.send(answer)
            except StopIteration as end:
                answer = bool(end.value)
                stack.pop()
                if isinstance(subject, TensorExpr):
                    subject.memory[analysis] = answer
            else:
                answer = question._cached_answer(other)
                if answer is None:
                    stack.append((question, other, question._rule(other)))
        return bool(answer)

    def _cached_answer(self, node: Operand) -> bool | None:
        return node.memory.get(self) if isinstance(node, TensorExpr) else None


Result = TypeVar("Result")
# A memoised analysis as a generator: it yields queries, is sent answers, and returns its own.
Analysis: TypeAlias = Generator[tuple[Property, Operand], Any, Result]
Answer: TypeAlias = Analysis[bool]


def all_of(known: Property, nodes: Iterable[Operand]) -> Answer:
    """Tell whether all of some nodes have a property; leaves first, they are answered at once."""
    for node in sorted(nodes, key=lambda n: getattr(n, "_depth", 0)):
        if not (yield known, node):
            return False
    return True
