"""CuPy: everything stays on the device, and a chain of elementwise operations is one kernel."""

from __future__ import annotations

import ast
from typing import ClassVar

from sympy import Expr, preorder_traversal
from sympy.core.function import AppliedUndef

from ...core import UserFunction
from ..ir.code import Code, call, dotted, function, name, number_of, quote, with_keywords
from ..passes.fusion import fused
from ..runtime.shared_helpers import shared
from ..runtime.sources import helpers
from .base import Backend
from .spelling import Codes, Destination, as_view, bracketed, diagonal_view

# Special functions that are helpers in the source.
OWN = ("spherical_jn", "spherical_yn", "spherical_in", "hyp1f1")


class CupyBackend(Backend):
    """Spells instructions in CuPy; elementwise code of several operations goes through
    ``cupy.fuse``."""

    name = "cupy"
    sparse = "from cupyx.scipy.sparse import csr_matrix"
    imports = (
        "import cupy as cp",
        "from cupyx.scipy import special",
        "from cupyx.scipy import linalg as cupy_linalg",
    )
    xp = "cp"
    exponential = "matrix_exp"
    stably = ""
    packages = ("cupy",)
    extras: ClassVar = {"cupy": "cupy13", "cupyx": "cupy13"}
    passes = (fused,)
    # Systems don't stretch.
    stacks: ClassVar = {
        **Backend.stacks,
        "solve": "cp.linalg.solve({0}, cp.broadcast_to({1}, {0}.shape[:-1] + {1}.shape[-1:]))",
    }
    support: ClassVar = {
        **shared(*OWN, "newton_root"),
        **Backend.support,
        **helpers(".cupy_helpers", "matrix_exp", "last_equal", "running", "scatter"),
    }
    renamed: ClassVar = {
        f"special.{x}v({order}, ": f"special.{x}{order}(" for x in "jyik" for order in (0, 1)
    }
    lacking = (
        *("erfi", "jv", "yv", "iv", "kv", "shichi", "lambertw", "fresnel", "airy"),
        "airye",
    )

    def __init__(self) -> None:
        # By the number of arguments and the body: the name, the arguments, the body.
        self.kernels: dict[tuple[int, str], tuple[str, list[Code], Code]] = {}

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell one operation as it is, several as one kernel."""
        arguments = [name(f"s{k}") for k in range(len(operands))]
        body = self.scalar(arguments, expr)
        # A caller's implementation of an unknown function may not fit into a kernel.
        is_known = not expr.has(AppliedUndef, UserFunction)
        if not is_known or sum(1 for part in preorder_traversal(expr) if part.args) < 2:
            return self.scalar(operands, expr)
        key = len(operands), ast.dump(body)
        kernel, _, _ = self.kernels.setdefault(key, (f"fused{len(self.kernels)}", arguments, body))
        return call(kernel, *operands)

    def functions_above(self) -> list[ast.stmt]:
        """Return the kernels, to stand above the function."""
        return [
            function(kernel, arguments, [ast.Return(body)], [call("cp.fuse")])
            for kernel, arguments, body in self.kernels.values()
        ]

    def contiguous(self, operands: Codes) -> Code:
        """Spell the array in C order, contiguous in memory."""
        return call("cp.ascontiguousarray", operands[0])

    def copy(self, operands: Codes) -> Code:
        """Spell a copy that the caller may write to."""
        return quote("{0}.copy()", operands[0])

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell the entries along an axis in order, or the largest or smallest so far."""
        if name == "sort":
            return super().picked(operands, name, axis)
        function = dotted({"cummax": "cp.maximum", "cummin": "cp.minimum"}[name])
        return with_keywords(call("running", function, operands[0]), axis=axis)

    def vdot(self, operands: Codes) -> Code:
        """Spell the full contraction of two operands of one shape."""
        return quote("{0}.ravel().dot({1}.ravel())", *operands)

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell the array with all entries equal to a scalar, which stays on the device."""
        if number_of(operands[0]) is not None:
            return super().full(operands, shape, kind)
        value = call("cp.asarray", operands[0], kind)
        return quote("cp.broadcast_to({0}, {1}).copy()", value, shape)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell the statement that writes into, or changes, the diagonal of a slice of an
        array."""
        view = diagonal_view(bracketed(place.array, place.slices), place.subscripts)
        return self.assigned(as_view(view), value, sign)
