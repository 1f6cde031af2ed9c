"""CuPy: everything stays on the device, and a chain of elementwise operations is one kernel."""

from __future__ import annotations

import re
from typing import ClassVar

from sympy import Expr, preorder_traversal
from sympy.core.function import AppliedUndef

from ...core import OwnFunction
from ..passes.fusion import fused
from ..runtime.array_helpers import SHARED, shared
from .base import Backend
from .spelling import Place, Texts, as_tuple, bracketed, diagonal_view

# Special functions that are helpers in the source.
OWN = ("spherical_jn", "spherical_yn", "spherical_in", "hyp1f1")


class CupyBackend(Backend):
    """Spells instructions in CuPy; elementwise code of several operations goes through
    ``cupy.fuse``."""

    name = "cupy"
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
        **shared(*OWN),
        **Backend.support,
        "matrix_exp": '''
def matrix_exp(X):
    """The exponential of each matrix; CuPy takes one at a time."""
    if X.ndim == 2:
        return cupy_linalg.expm(X)
    return cp.stack([matrix_exp(part) for part in X]) if X.size else X + 0.0
''',
        "last_equal": re.sub(r"(xp\.\w+)\.accumulate\(", r"running(\1, ", SHARED["last_equal"]),
        "running": '''
def running(function, x, axis):
    """A function accumulated along an axis, by doubling."""
    x, step = cp.moveaxis(x, axis, 0), 1
    while step < len(x):
        x = cp.concatenate([x[:step], function(x[step:], x[:-step])])
        step *= 2
    return cp.moveaxis(x, 0, axis)
''',
        "scatter": '''
def scatter(values, lengths, *positions):
    """Zeros, to which values are added at positions on the first axes, also at repeated ones."""
    order = max(map(cp.ndim, positions))
    total = cp.zeros((*lengths, *values.shape[order:]), values.dtype)
    cp.add.at(total, positions, values)
    return total
''',
    }
    renamed: ClassVar = {
        f"special.{x}v({order}, ": f"special.{x}{order}(" for x in "jyik" for order in (0, 1)
    }
    lacking = (
        *("erfi", "jv", "yv", "iv", "kv", "shichi", "lambertw", "fresnel", "airy"),
        "airye",
    )

    def __init__(self) -> None:
        self.kernels: dict[str, str] = {}

    def elementwise(self, operands: Texts, expr: Expr) -> str:
        """One operation as it is, several as one kernel."""
        names = [f"s{k}" for k in range(len(operands))]
        body = self.scalar(names, expr)
        # A caller's implementation of an unknown function may not fit into a kernel.
        is_known = not expr.has(AppliedUndef, OwnFunction)
        if not is_known or sum(1 for part in preorder_traversal(expr) if part.args) < 2:
            return self.scalar(operands, expr)
        kernel = self.kernels.setdefault(
            f"({', '.join(names)}): {body}", f"fused{len(self.kernels)}"
        )
        return f"{kernel}({', '.join(operands)})"

    def module_parts(self) -> list[str]:
        """The kernels, to stand above the function."""
        parts = []
        for text, name in self.kernels.items():
            arguments, body = text.split(": ", 1)
            parts.append(f"@cp.fuse()\ndef {name}{arguments}:\n    return {body}")
        return parts

    def contiguous(self, operands: Texts) -> str:
        """The array in C order, contiguous in memory."""
        return f"cp.ascontiguousarray({operands[0]})"

    def copy(self, operands: Texts) -> str:
        """A copy that the caller may write to."""
        return f"{operands[0]}.copy()"

    def picked(self, operands: Texts, name: str, axis: int) -> str:
        """The entries along an axis in order, or the largest or smallest so far."""
        text = super().picked(operands, name, axis)
        return re.sub(r"(cp\.\w+)\.accumulate\(", r"running(\1, ", text)

    def vdot(self, operands: Texts) -> str:
        """The full contraction of two operands of one shape."""
        return f"{operands[0]}.ravel().dot({operands[1]}.ravel())"

    def full(self, operands: Texts, shape: Texts, kind: str) -> str:
        """The array with all entries equal to a scalar, which stays on the device."""
        if operands[0].replace(".", "", 1).isdigit():
            return super().full(operands, shape, kind)
        return f"cp.broadcast_to(cp.asarray({operands[0]}, {kind}), {as_tuple(shape)}).copy()"

    def writable(self, operands: Texts, owned: bool, kind: str) -> str:
        """The first operand as an array to write to; itself, if it is ours and of that type."""
        return f"{operands[0]}.astype({kind}, copy={not owned})"

    def write(self, place: Place, value: str, order: int, sign: int) -> str:
        """The statement that writes into, or changes, the diagonal of an array that is cut."""
        view = diagonal_view(f"{place.array}{bracketed(place.cuts)}", place.subscripts)
        return self.assigned(view if view[-1] == "]" else f"{view}[...]", value, sign)
