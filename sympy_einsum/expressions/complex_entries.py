"""Complex numbers in expressions, whose symbols are real."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sympy import (
    Abs,
    Basic,
    Dummy,
    I,
    Max,
    Min,
    arg,
    ceiling,
    conjugate,
    floor,
    im,
    preorder_traversal,
    re,
    sign,
)
from sympy.core.relational import Relational

from ..core import UnsupportedError, children, deferred, modulus, postorder, relu, rint, step, trunc
from .base import Operand
from .interning import Node, data_expressions
from .leaves import Constant, Zeros

# Functions that aren't analytic: SymPy and our rules evaluate them for real arguments, which is
# wrong for complex ones.
_OF_REAL_NUMBERS = (
    *(Abs, arg, ceiling, conjugate, floor, im, re, sign, Max, Min, Relational),
    *(modulus, relu, rint, step, trunc),
)

# Functions of one complex operand that are computed from its parts.
OF_COMPLEX: Mapping[object, Callable[[Operand], Operand]] = {
    conjugate: deferred("operations", "conj"),
    re: deferred("operations", "real"),
    im: deferred("operations", "imag"),
    arg: deferred("operations", "angle"),
    **dict.fromkeys([Abs, abs], deferred("operations", "complex_modulus")),
}


def holds_complex(root: Basic) -> bool:
    """Tell whether an expression contains a complex number; memoised at each node."""
    if isinstance(root, Node) and "complex" in root.memory:
        return bool(root.memory["complex"])
    found: dict[Basic, bool] = {}

    def is_memoised(node: Basic) -> bool:
        return isinstance(node, Node) and "complex" in node.memory

    for node in postorder([root], lambda n: () if is_memoised(n) else children(n)):
        if is_memoised(node):
            found[node] = node.memory["complex"]
            continue
        found[node] = _is_complex(node) or any(found[child] for child in children(node))
        if isinstance(node, Node):
            node.memory["complex"] = found[node]
    return found[root]


def _is_complex(node: Basic) -> bool:
    if isinstance(node, Constant):
        return bool(np.iscomplexobj(node.array))
    if isinstance(node, Node):
        return any(part.has(I) for part in data_expressions(node.data))
    return node is I


def conjugated(e: Operand) -> Operand:
    """Return the complex conjugate: the expression with its constants conjugated, because all
    functions in it are real for real arguments.

    >>> from sympy import I
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> conjugated(se.exp(x + I * y)), conjugated(x) is x
    (exp(x - I*y), True)
    """
    if not holds_complex(e):
        return e
    constants = _complex_constants(e)
    conjugates = {
        c: Constant(np.conjugate(c.entries if c.is_exact else c.array)) for c in constants
    }
    return e.xreplace({I: -I, **conjugates})


def of_real_constants(e: Operand) -> Operand:
    """Replace every complex constant by a sum of two real ones."""
    replacements = {}
    for constant in _complex_constants(e):
        parts = np.array([entry.as_real_imag() for entry in constant.entries.flat], dtype=object)
        real, imaginary = (
            Constant(part.reshape(constant.array.shape)) if any(part) else Zeros(*constant.shape)
            for part in parts.T
        )
        replacements[constant] = real + I * imaginary
    return e.xreplace(replacements) if replacements else e


def _complex_constants(e: Operand) -> list[Constant]:
    found = [node for node in postorder([e], children) if isinstance(node, Constant)]
    return [constant for constant in found if np.iscomplexobj(constant.array)]


def check_analytic(f: Callable[..., Basic], operands: Sequence[Operand]) -> None:
    """Raise UnsupportedError if a function that isn't analytic is applied to a complex operand."""
    if not any(map(holds_complex, operands)):
        return
    dummies = [Dummy(real=None if holds_complex(operand) else True) for operand in operands]
    free = {dummy for dummy in dummies if dummy.is_real is None}
    for part in preorder_traversal(f(*dummies)):
        if isinstance(part, _OF_REAL_NUMBERS) and part.free_symbols & free:
            raise UnsupportedError(
                f"{type(part).__name__} isn't defined for complex entries here; write it with "
                "z.real, z.imag, abs(z) and np.angle(z)"
            )
