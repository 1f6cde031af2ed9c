"""What is known of values without computing them: signs and definiteness.

May import: all node types. A ``False`` says that nothing is known.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

from sympy import Dummy, factor

from .einsum import Einsum, TensorAdd, View
from .elementwise import Elementwise, slot
from .functions import sigmoid
from .linalg import Inv
from .nodes import TensorExpr
from .softmax import Softmax
from .tensors import TensorSymbol

# Deeper expressions aren't looked into.
MAX_DEPTH = 12


def is_nonnegative(node: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether all entries of a tensor are known to be zero or positive.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> is_nonnegative(se.exp(x) * x**2), is_nonnegative(x)
    (True, False)
    """
    if not isinstance(node, TensorExpr):
        return node.is_nonnegative is True
    if depth == 0:
        return False
    if isinstance(node, TensorSymbol):
        return bool({"positive", "nonnegative"} & set(node.data[2]))
    if isinstance(node, TensorAdd):
        return all(is_nonnegative(term, depth - 1) for term in node.operands)
    if isinstance(node, Einsum):
        powers = Counter(zip(node.operands, node.subscripts, strict=True))
        return all(
            power % 2 == 0 or is_nonnegative(operand, depth - 1)
            for (operand, _), power in powers.items()
        )
    if isinstance(node, Elementwise):
        signs = []
        for operand in node.operands:
            share = isinstance(operand, Softmax) or getattr(operand, "body", None) == _SIGMOID
            signs.append("share" if share else is_nonnegative(operand, depth - 1))
        return _body_is_nonnegative(node.body, tuple(signs))
    return isinstance(node, Softmax)


_SIGMOID = sigmoid(slot(0))


@lru_cache(maxsize=1024)
def _body_is_nonnegative(body: Any, signs: tuple[Any, ...]) -> bool:
    # What is between 0 and 1 is p / (1 + p) with p > 0, so that 1 less that is positive too.
    def share() -> Any:
        odds = Dummy(positive=True)
        return odds / (1 + odds)

    shares = {part: share() for part in body.atoms(sigmoid)}
    known = body.xreplace(shares)
    for k, sign in enumerate(signs):
        if sign == "share":
            known = known.xreplace({slot(k): share()})
        elif sign:
            known = known.xreplace({slot(k): Dummy(nonnegative=True)})
    return factor(known).is_nonnegative is True


def is_definite(node: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether a matrix is known to be positive semidefinite, because it is made of ones declared
    ``psd``.

    >>> import sympy_einsum as se
    >>> K, A = se.TensorSymbol("K", (3, 3), psd=True), se.TensorSymbol("A", (3, 3))
    >>> is_definite(K + 2 * se.Delta(3)), is_definite(A)
    (True, False)
    """
    if depth == 0 or not isinstance(node, TensorExpr):
        return False
    if isinstance(node, TensorSymbol):
        return "psd" in node.data[2]
    if isinstance(node, TensorAdd):
        return all(is_definite(term, depth - 1) for term in node.operands)
    if isinstance(node, View):
        scaled = all(is_nonnegative(scalar, depth - 1) for scalar in node.scalars)
        if node.core is None:
            return scaled and list(node.output) == [0, 0]
        square = len(node.shape) == 2 and sorted(node.output) == sorted(node.subscripts[-1])
        return scaled and square and is_definite(node.core, depth - 1)
    return isinstance(node, Inv) and is_definite(node.operands[0], depth - 1)
