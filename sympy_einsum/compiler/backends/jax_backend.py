"""JAX: functions that can be jitted, mapped and differentiated again by JAX itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..ir.code import WHOLE, Code, assigned, call, negative, quote, subscript, with_keywords
from ..ir.instructions import BY_FACTORS
from ..runtime.jax_sparse_arrays import bcoo
from ..runtime.shared_helpers import FOURIER, RUNNING, SPECIAL, shared
from ..runtime.sources import helpers
from .base import Backend
from .spelling import (
    NEW_AXIS,
    Bracket,
    Codes,
    Destination,
    along_axes,
    bracketed,
    called,
    called_along,
    numbers_code,
)


class JaxBackend(Backend):
    """Spells instructions in jax.numpy; nothing is written to, and XLA fuses what it can."""

    name = "jax"
    imports = ("import jax", "import jax.numpy as jnp", "from jax.scipy import special")
    xp = "jnp"
    sparse = "from jax.experimental.sparse import BCOO"
    exponential = "jax.scipy.linalg.expm"
    loops = "scanned"
    adds_halves = True
    stably = ""
    by_rows: ClassVar = frozenset(
        ("dot", "matmul", "sum", "extremum", "max_shift", "log_total", "logsumexp", "softmax")
    )
    packages = ("jax", "jaxlib")
    # JAX reads numbers in the other order of bytes as if they were in this.
    is_wide = f"{Backend.is_wide} and {{0}}.dtype.isnative"
    support: ClassVar = {
        **shared(
            *(
                "cofactors",
                "derivative_along",
                "max_shift",
                "log_total",
                "share",
                "one_hot",
                "windows",
            ),
            *(*RUNNING, *FOURIER, "correlate", *SPECIAL),
        ),
        **shared("last_equal", spelled={"xp.maximum.accumulate": "jax.lax.cummax"}),
        # Its own way with recurrences, which takes XLA long.
        **helpers(
            ".jax_helpers",
            *("recurrence", "running_weights", "running_mean", "product_of_transposed"),
            *("factored", "solved", "inverted", "log_determinant", "pivot_sign", "newton_root"),
            *("signed_log_determinant", "determinant", "scatter", "halves_added"),
        ),
    }
    renamed: ClassVar = {f"special.iv({order}, ": f"special.i{order}(" for order in (0, 1)}
    special: ClassVar = {
        *("digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "expi", "expit", "expn", "gamma"),
        *("gammaln", "log_ndtr", "ndtr", "polygamma", "rel_entr", "sici", "xlog1py", "xlogy"),
        "zeta",
    }

    @classmethod
    def sparse_matrices(cls) -> Callable[..., Any]:
        """Return what makes its sparse matrices."""
        cls.require([cls.sparse])
        return bcoo

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """Spell an array of numbers, written out; of JAX's default types, which may be short
        ones."""
        if array.dtype in (np.float64, np.int64):
            return self.code("np.array({0})", numbers_code(array, self.code))
        return super().constant(operands, array)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """Spell the first operand as an array of that type, which arrays of NumPy's become too."""
        return call("jnp.asarray", operands[0], kind)

    def slice(self, operands: Codes, slices: Sequence[Bracket]) -> Code:
        """Spell positions and slices of axes."""
        return super().slice(operands, _gathered(operands[0], slices))

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell the statement that writes a value into a place."""
        place = place._replace(slices=_gathered(place.array, place.slices))
        return super().write(place, value, order, sign)

    def add_halves(self, array: Code, first: Code, second: Code, axis: int) -> ast.stmt:
        """Spell the statement that adds blocks to both halves of an axis."""
        return assigned(array, call("halves_added", array, first, second, axis), 0)

    def put(self, target: Code, slices: Sequence[Bracket], block: Code, sign: int) -> ast.stmt:
        """Spell the statement that makes an array with a block written into it, added or
        subtracted."""
        block = negative(block) if sign < 0 else block
        place = bracketed(quote("{0}.at", target), slices)
        value = quote(f"{{0}}.{'add' if sign else 'set'}({{1}})", place, block)
        return assigned(target, value, 0)

    def dot(self, operands: Codes) -> Code:
        """Spell the product of matrices and vectors. A product that names its axes is taken as it
        is, where XLA would transpose the other way round."""
        left, right = operands
        if self.is_read_back:
            return super().dot(operands)
        if transposed := _transposed(left):
            return call("product_of_transposed", transposed, right)
        if transposed := _transposed(right):
            return call("jnp.tensordot", left, transposed, (-1, 1))
        return super().dot(operands)

    factored = called("factored")
    logsumexp = called_along("jax.nn.logsumexp")

    def solved(self, operands: Codes, definite: bool | None, transposed: bool) -> Code:
        """Spell inv(X) @ Y, or inv(X)' @ Y, by factors."""
        return call("solved", *operands, transposed)

    def by_factors(self, operands: Codes, name: str, definite: bool | None, shape: Codes) -> Code:
        """Spell the inverse or the determinant by factors."""
        return call(BY_FACTORS[name], operands[0])

    def softmax(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell exp / Σ exp over axes, over all for None."""
        code = call("jax.nn.softmax", operands[0])
        return with_keywords(code, axis=None) if axes is None else along_axes(code, axes)

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell the entries along an axis in order, or the largest or smallest so far."""
        if name == "sort":
            return super().picked(operands, name, axis)
        return with_keywords(call(f"jax.lax.{name}", operands[0]), axis=axis)


def _gathered(array: Code, slices: Sequence[Bracket]) -> Sequence[Bracket]:
    """Spell slices that move with the steps of a loop by positions, since XLA's are static; the
    others too, where positions would move axes to the front."""
    moving = [k for k, part in enumerate(slices) if part.is_moving]
    if not moving:
        return slices
    kept = [k for k, part in enumerate(slices) if part.is_slice]
    if len(moving) == 1 and len(kept) == len(slices):
        kept = moving
    found = [*slices]
    for axis in kept:
        part = slices[axis]
        count = part.number or quote("{0}.shape[{1}]", array, axis)
        line = quote("{0} + {1} * jnp.arange({2})", part.start or 0, part.step or 1, count)
        if len(kept) > 1:
            line = subscript(line, [WHOLE if k == axis else NEW_AXIS for k in kept])
        found[axis] = part._replace(code=line, number=count)
    return found


def _transposed(code: Code) -> Code | None:
    """Return the variable that a tree is the transpose of; None for other trees."""
    if not isinstance(code, ast.Attribute) or code.attr != "T":
        return None
    return code.value if isinstance(code.value, ast.Name) else None
