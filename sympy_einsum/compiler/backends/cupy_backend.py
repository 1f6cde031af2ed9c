"""CuPy: everything stays on the device, and a chain of elementwise operations is one kernel."""

from __future__ import annotations

import ast
from typing import ClassVar

from sympy import Expr
from sympy.core.function import AppliedUndef

from ...core import UserFunction
from ..ir.code import (
    Code,
    call,
    dotted,
    function,
    name,
    number_of,
    quote,
    with_keywords,
)
from ..passes.fusion import fused
from ..passes.inner_products import with_inner_products
from ..runtime.shared_helpers import shared
from ..runtime.sources import Helper, aliases, helpers
from .base import Backend
from .cupy_kernels import CHOICE, FusedKernel, kernel_of
from .spelling import Codes, Destination, as_view, bracketed, diagonal_view, spread

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
    # Measured: a sum over the rows of a matrix of 20,000 rows of 50 takes ten times as long as one
    # of the entries of each row.
    by_rows: ClassVar = frozenset(
        ("sum", "extremum", "max_shift", "log_total", "logsumexp", "softmax")
    )
    exponential = "matrix_exp"
    has_factors = True
    stably = ""
    packages = ("cupy",)
    extras: ClassVar = {"cupy": "cupy13", "cupyx": "cupy13"}
    passes = (with_inner_products, fused)
    # Systems don't stretch.
    stacks: ClassVar = {
        **Backend.stacks,
        "solve": "cp.linalg.solve({0}, cp.broadcast_to({1}, {0}.shape[:-1] + {1}.shape[-1:]))",
    }
    support: ClassVar = {
        **shared(*OWN, "newton_root"),
        **Backend.support,
        **helpers(
            ".cupy_factors",
            *("factored", "solved", "inverted", "log_determinant", "signed_log_determinant"),
            "determinant",
        ),
        **aliases(Helper(".cupy_helpers", "polygamma"), "polygamma", space="special"),
        **helpers(
            ".cupy_helpers",
            *("matrix_exp", "last_equal", "running", "scatter", "where", "shifted_exp", "finite"),
            *("sum_of_squares", "inner", "below_one", "log1p_with_ones", "max_shift", "log_total"),
            "softmax",
        ),
    }
    spellings: ClassVar = {"Piecewise": "np.where"}
    renamed: ClassVar = {"np.where": CHOICE} | {
        f"special.{x}v({order}, ": f"special.{x}{order}(" for x in "jyik" for order in (0, 1)
    }
    lacking = (
        *("erfi", "jv", "yv", "iv", "kv", "shichi", "lambertw", "fresnel", "airy"),
        "airye",
    )

    def __init__(self) -> None:
        # Kernels and their names, by the number of arguments and the body.
        self.kernels: dict[tuple[int, str], tuple[str, FusedKernel]] = {}

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell one operation as it is, several as one kernel."""
        code = self.scalar(operands, expr)
        # A caller's implementation of an unknown function may not fit into a kernel.
        kernel = None if expr.has(AppliedUndef, UserFunction) else kernel_of(code)
        if kernel is None:
            return code
        key = len(kernel.arguments), ast.dump(kernel.body)
        own, _ = self.kernels.setdefault(key, (f"fused{len(self.kernels)}", kernel))
        return call(own, *kernel.arguments)

    def functions_above(self) -> list[ast.stmt]:
        """Return the kernels, to stand above the function."""
        return [
            function(
                *(own, [name(f"s{k}") for k in range(len(kernel.arguments))]),
                *([ast.Return(kernel.body)], [call("cp.fuse")]),
            )
            for own, kernel in self.kernels.values()
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

    def diagonal(self, operands: Codes, subscripts: str) -> Code:
        """Spell diagonals of repeated indices."""
        return diagonal_view(operands[0], subscripts)

    def einsum(self, operands: Codes, subscripts: str) -> Code:
        """Spell a contraction as a sum of products, if an operand has all indices: CuPy's own
        ``einsum`` takes several times as long to start."""
        labels, kept = subscripts.split("->")
        parts = labels.split(",")
        whole = max(parts, key=len)
        if set(whole) != set(labels) - {","} or any(len(set(part)) < len(part) for part in parts):
            return super().einsum(operands, subscripts)
        factors = []
        for operand, part in zip(operands, parts, strict=True):
            axes = [part.index(label) for label in whole if label in part]
            moved = operand if axes == sorted(axes) else self.transpose([operand], axes)
            factors.append(spread(moved, len(part), [label in part for label in whole]))
        summed = tuple(k for k, label in enumerate(whole) if label not in kept)
        code = self.multiply(factors)
        code = self.sum([code], summed) if summed else code
        rest = [label for label in whole if label in kept]
        axes = [rest.index(label) for label in kept]
        return code if axes == sorted(axes) else self.transpose([code], axes)

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell the array with all entries equal to a scalar, which stays on the device."""
        if number_of(operands[0]) is not None:
            return super().full(operands, shape, kind)
        value = call("cp.asarray", operands[0], kind)
        return quote("cp.broadcast_to({0}, {1}).copy()", value, shape)

    def vdot(self, operands: Codes) -> Code:
        """Spell the full contraction of two operands of one shape."""
        return call("inner", *operands)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell the statement that writes into, or changes, the diagonal of a slice of an
        array."""
        view = diagonal_view(bracketed(place.array, place.slices), place.subscripts)
        return self.assigned(as_view(view), value, sign)
