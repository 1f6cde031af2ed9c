"""Kernels of elementwise code in CuPy: the functions that ``cupy.fuse`` makes kernels of.

Numbers of Python's that are combined inside a kernel have half precision there, so that what is
computed from such numbers alone is computed before the call and given as an argument.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from ..ir.code import LENGTH, NUMBER, Code, Operand, called_name, name, nodes

# A function that is made of several kernels itself.
UNFUSED = "cp.nan_to_num"
# The helper function for choices.
CHOICE = "where"


class _NotFusableError(Exception):
    """Code that no kernel can be made of."""


class FusedKernel(NamedTuple):
    """The body of a kernel in variables s0, s1, …, and the code of its arguments."""

    body: Code
    arguments: list[Code]


def kernel_of(code: Code) -> FusedKernel | None:
    """Return the kernel for the code of an entry, or None if it is one operation, or can't be
    one kernel."""
    fusing = _Fusing()
    try:
        body = fusing.entry(code)
    except _NotFusableError:
        return None
    # CuPy defines functions that two special functions share twice.
    is_one = fusing.operations < 2 or len(fusing.special) > 1
    return None if is_one else FusedKernel(body, list(fusing.arguments.values()))


class _Fusing:
    """The kernel in the making: arguments by what they are, and operations."""

    def __init__(self) -> None:
        self.arguments: dict[str, Code] = {}
        self.special: set[str] = set()
        self.operations = 0

    def entry(self, code: Any) -> Code:
        """Return the code of an entry in the kernel's variables."""
        if isinstance(code, Operand) or _is_number(code):
            return code if isinstance(code, ast.Constant) else self._argument(code)
        self.operations += 1
        kind = type(code)
        if isinstance(code, ast.BinOp):
            if isinstance(code.op, ast.Pow) and _is_number(code.left):
                # CuPy has no powers of Python's numbers.
                return kind(self._argument(code.left), code.op, self.entry(code.right))
            return kind(self.entry(code.left), code.op, self.entry(code.right))
        if isinstance(code, ast.UnaryOp):
            return kind(code.op, self.entry(code.operand))
        if isinstance(code, ast.Compare):
            return kind(self.entry(code.left), code.ops, [*map(self.entry, code.comparators)])
        if isinstance(code, ast.Call):
            self._check(code)
            return kind(code.func, [*map(self.entry, code.args)], [])
        raise _NotFusableError

    def _argument(self, code: Code) -> Code:
        key = ast.dump(code)
        self.arguments.setdefault(key, code)
        return name(f"s{list(self.arguments).index(key)}")

    def _check(self, code: ast.Call) -> None:
        """Refuse calls that no kernel can have."""
        own = called_name(code)
        if own.startswith("special."):
            self.special.add(own)
        is_choice = own == CHOICE
        is_known = is_choice or own.startswith(("cp.", "special."))
        if not is_known or own == UNFUSED or code.keywords:
            raise _NotFusableError
        if is_choice and all(map(_is_number, code.args[1:])):
            raise _NotFusableError


def _is_number(code: Code) -> bool:
    """Tell whether code is a number that may be Python's."""
    operands = [node for node in nodes(code) if isinstance(node, Operand)]
    return all(own.kind in (NUMBER, LENGTH) for own in operands)
