"""PyTorch: type and device follow the arguments."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import numpy as np

from ..ir.code import (
    Code,
    assigned,
    call,
    constant,
    equal,
    name,
    number_of,
    quote,
    subscript,
    without_sign,
)
from ..runtime.shared_helpers import SPECIAL, shared
from ..runtime.sources import Helper, aliases, helpers
from .base import Backend
from .spelling import (
    ALL_ENTRIES,
    NEW_AXIS,
    Bracket,
    Codes,
    Destination,
    as_view,
    bracketed,
    called,
    diagonal_view,
    numbers_code,
    type_of,
)

# Its Bessel functions are of the orders 0 and 1 only.
BESSEL = {"jv": "bessel_j", "yv": "bessel_y", "iv": "i", "kv": "modified_bessel_k"}
# Functions of torch for two tensors of one type only, and those whose type is a floating one.
PAIRS = (
    *("maximum", "minimum", "fmax", "fmin", "matmul", "dot", "remainder", "fmod"),
    "floor_divide",
)
FLOATING_PAIRS = ("arctan2", "logaddexp", "copysign", "hypot")


class TorchBackend(Backend):
    """Spells instructions in PyTorch."""

    name = "torch"
    imports = ("import torch", "from torch import special")
    xp = "torch"
    exponential = "torch.linalg.matrix_exp"
    packages = ("torch",)
    is_wide = (
        "({0}.is_floating_point() or {0}.is_complex() or {0}.dtype in (torch.int32, torch.int64))"
    )
    own_numbers = True
    has_factors = True
    keeps_code = True
    by_rows: ClassVar = frozenset(("softmax",))
    words: ClassVar = {"device"}
    spellings: ClassVar = {"Piecewise": "select([{*0}], [{*1}], dtype)"}
    renamed: ClassVar = {"np.rint": "torch.round", "np.iscomplexobj": "torch.is_complex"} | {
        f"special.{name}({order}, ": f"special.{own}{order}("
        for name, own in BESSEL.items()
        for order in (0, 1)
    }
    stacks: ClassVar = {
        "svd": "torch.linalg.svd({0}, full_matrices=False)",
        "svdvals": "torch.linalg.svdvals({0})",
        "solve": "solve({0}, {1})",
        "qr_r": "torch.linalg.qr({0}, mode='r')[1]",
    }
    special: ClassVar = {
        *("digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "gammaln", "i0", "i1", "log_ndtr"),
        *("ndtri", "polygamma", "xlog1py", "xlogy", "zeta"),
    }
    support: ClassVar = {
        **helpers(".torch_helpers", "promoted", "together", "floating_type"),
        **aliases(Helper(".torch_helpers", "maximum"), *PAIRS, space="torch"),
        **aliases(Helper(".torch_helpers", "logaddexp"), *FLOATING_PAIRS, space="torch"),
        **helpers(
            ".torch_helpers",
            *("einsum", "solve", "factored", "solved", "inverted", "log_determinant", "pivot_sign"),
            *("signed_log_determinant", "determinant"),
        ),
        **shared("newton_root", spelled={"xp.linalg.solve": "solve"}),
        **shared(*SPECIAL),
        **helpers(
            ".torch_helpers",
            *("beta", "betaln", "gamma", "rel_entr", "cbrt", "heaviside", "sign", "number"),
            "select",
        ),
        **shared(
            *("cofactors", "derivative_along", "log_total", "running_products", "recurrence"),
            *("logcumsumexp", "running_mean", "spectrum", "from_spectrum"),
        ),
        **helpers(
            ".torch_helpers",
            *(
                "max_shift",
                "one_sided_weights",
                "mirrored",
                "running_weights",
                "windows",
                "correlate",
                "convolve",
            ),
            *("lagged_cumsum", "share", "scatter", "one_hot", "softmax"),
        ),
    }

    def opening(self, used: Collection[str], tensors: Sequence[str]) -> list[ast.stmt]:
        """Return the statements that define the type and the device of the arguments."""
        statements = super().opening(used, tensors)
        if "device" in used:
            device = quote("{0}.device", name(tensors[0])) if tensors else constant(None)
            statements.append(assigned(name("device"), device, 0))
        return statements

    def number(self, value: Code) -> Code:
        """Spell a number of Python's as a tensor without axes."""
        return quote("number({0}, dtype, device)", value)

    def created(self, function: str, arguments: Sequence[Any], kind: Code) -> Code:
        """Spell the call of a function that creates an array of some type."""
        kind = quote("torch.bool") if equal(kind, name("bool")) else kind
        return quote(f"torch.{function}({{*0}}, dtype={{1}}, device=device)", arguments, kind)

    def common_type(self, arrays: Codes, scalars: Codes) -> Code:
        """Spell the type that holds the entries of arrays and scalars."""
        if not arrays and not scalars:
            return name("dtype")
        has_fraction = any(equal(scalar, self.fraction) for scalar in scalars)
        if not arrays:
            if not equal(scalars[0], self.fraction):
                return quote("{0}.dtype", scalars[0])
            return self._with_complex(quote("torch.get_default_dtype()"))
        kind = quote("{0}.dtype", arrays[0]) if len(arrays) == 1 else call("promoted", *arrays)
        if not has_fraction:
            return kind
        return self._with_complex(call("floating_type", kind))

    def _with_complex(self, kind: Code) -> Code:
        """Spell the type that holds complex numbers too, if there are any."""
        return quote("torch.promote_types({0}, torch.complex64)", kind) if self.is_complex else kind

    def loop_type(self, arrays: Codes, scalars: Codes, keeps_integers: bool) -> Code:
        """Spell the type of what a loop carries; that of the arguments if it is made from scalars
        only, which may be Python's numbers."""
        if not arrays:
            return name("dtype")
        # The common type is that of the arrays, and numbers may be fractions.
        return super().loop_type(arrays, scalars, keeps_integers and not scalars)

    def integers(self) -> Code:
        """Spell the type of integers."""
        return quote("torch.int64")

    def transpose(self, operands: Codes, axes: Sequence[int]) -> Code:
        """Spell the axes in another order."""
        if list(axes) == [1, 0]:
            return quote("{0}.T", operands[0])
        return quote("{0}.permute({*1})", operands[0], axes)

    def slice(self, operands: Codes, slices: Sequence[Bracket]) -> Code:
        """Spell positions and slices of axes; torch has no negative steps, so these axes are
        flipped."""
        kept = [part for part in slices if part.is_slice]
        flipped = [axis for axis, part in enumerate(kept) if part.is_reversed]
        forwards = [_forwards(part) if part.is_reversed else part for part in slices]
        code = super().slice(operands, forwards)
        return quote("{0}.flip({*1})", code, flipped) if flipped else code

    def contiguous(self, operands: Codes) -> Code:
        """Spell the tensor in C order, contiguous in memory."""
        return quote("{0}.contiguous()", operands[0])

    def copy(self, operands: Codes) -> Code:
        """Spell a copy that the caller may write to."""
        return quote("{0}.clone()", operands[0])

    dot = called("matmul")

    def cumsum(self, operands: Codes, axis: int, backwards: bool) -> Code:
        """Spell the running sum along an axis, or that from its end."""
        if not backwards:
            return super().cumsum(operands, axis, backwards)
        return quote("{0}.flip({1}).cumsum({1}).flip({1})", operands[0], axis)

    def tri(self, operands: Codes, rows: Code, columns: Code, offset: Code) -> Code:
        """Spell ones at and below a diagonal."""
        return quote(
            "{0}.tril({1})", self.created("ones", [[rows, columns]], name("dtype")), offset
        )

    def weighted_gram(self, operands: Codes) -> Code:
        """Spell X' diag(w) X with w >= 0."""
        return quote("matmul({0}.T * {1}, {0})", *operands)

    def matmul(self, operands: Codes) -> Code:
        """Spell the matrix product of stacks."""
        return self.dot(operands)

    def vdot(self, operands: Codes) -> Code:
        """Spell the full contraction of two operands of one shape."""
        return quote("dot({0}.ravel(), {1}.ravel())", *operands)

    def einsum(self, operands: Codes, subscripts: str) -> Code:
        """Spell a contraction that no faster primitive does."""
        space = "torch." if len(operands) == 1 else ""
        return call(f"{space}einsum", subscripts, *operands)

    def solve(self, operands: Codes, definite: bool | None) -> Code:
        """Spell inv(X) @ Y."""
        return call("solve", *operands)

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """Spell the tensor with all entries equal to a scalar."""
        if number_of(operands[0]) is not None:
            return super().full(operands, shape, kind)
        value = quote("torch.as_tensor({0}, dtype={1}, device=device)", operands[0], kind)
        return quote("{0}.expand({1}).clone()", value, shape)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """Spell the first operand as a tensor to write to; itself, if it is ours and of that
        type."""
        return quote("{0}.to({1}, copy={2})", operands[0], kind, not owned)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell the statement that writes into, or changes, the diagonal of a slice of a tensor;
        what is reversed isn't a view in torch, and is written to by its positions."""
        view = diagonal_view(bracketed(place.array, place.slices), place.subscripts, "permute")
        if any(part.is_reversed for part in place.slices):
            view = subscript(place.array, _mesh(place))
        return self.assigned(as_view(view), value, sign)

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """Spell a tensor of numbers, written out."""
        numbers, kind = numbers_code(array, self.code), type_of(array, self.code)
        return quote("torch.tensor({0}, dtype={1}, device=device)", numbers, kind)

    def named_constant(self, constant: str) -> Code:
        """Spell a tensor made of an array of NumPy that the source has by a name."""
        return quote("torch.as_tensor({0}, device=device)", name(constant))

    def extremum(self, operands: Codes, name: str, axes: Sequence[int] | None) -> Code:
        """Spell the largest or smallest entries over axes, over all for None."""
        return call(f"torch.a{name}", operands[0], *([] if axes is None else [tuple(axes)]))

    def share(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell where entries are equal to others, divided by their count."""
        return call("share", *operands, tuple(axes or ()))

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell the entries along an axis in order, or the largest or smallest so far."""
        return quote(f"torch.{name}({{0}}, dim={{1}}).values", operands[0], axis)

    def positions(self, operands: Codes, name: str, axis: int) -> Code:
        """Spell positions along an axis."""
        if name in ("argcummax", "argcummin"):
            function = name.removeprefix("arg")
            return quote(f"torch.{function}({{0}}, dim={{1}}).indices", operands[0], axis)
        stable = ", stable=True" if name == "argsort" else ""
        return quote(f"torch.{name}({{0}}, dim={{1}}{stable})", operands[0], axis)

    def range(self, operands: Codes, length: Code) -> Code:
        """Spell the positions on an axis."""
        return quote("torch.arange({0}, device=device)", length)

    def logsumexp(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell log Σ exp over axes, over all for None."""
        if axes is None:
            return quote("torch.logsumexp({0}.ravel(), 0)", operands[0])
        return call("torch.logsumexp", operands[0], tuple(axes))

    def softmax(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Spell exp / Σ exp over axes, over all for None; PyTorch's is of real numbers."""
        if self.is_complex:
            every = quote("tuple(range({0}.ndim))", operands[0])
            return call("softmax", operands[0], every if axes is None else tuple(axes))
        if axes is None:
            return quote("torch.softmax({0}.ravel(), 0).reshape({0}.shape)", operands[0])
        if len(axes) == 1:
            return call("torch.softmax", operands[0], axes[0])
        return call("softmax", operands[0], tuple(axes))


def _forwards(part: Bracket) -> Bracket:
    """Spell a slice with its positions in the opposite order."""
    assert part.start is not None
    assert part.step is not None
    assert part.number is not None
    last = quote("{0} + {1} * ({2} - 1)", part.start, part.step, part.number)
    step = without_sign(part.step)
    code = ast.Slice(last, quote("{0} + 1", part.start), step)
    return Bracket(code, last, step, part.number)


def _mesh(place: Destination) -> list[Code]:
    """Spell the positions along each axis of a tensor, for each entry of what is written there."""
    labels, kept = place.subscripts.split("->")
    left = iter(labels)
    positions = []
    for axis, part in enumerate(place.slices):
        if not part.is_slice:
            positions.append(part.code)
            continue
        own = kept.index(next(left))
        count = part.number or quote("{0}.shape[{1}]", place.array, axis)
        line = quote(
            "{0} + {1} * torch.arange({2}, device=device)", part.start or 0, part.step or 1, count
        )
        entries = [ALL_ENTRIES.code if k == own else NEW_AXIS for k in range(len(kept))]
        positions.append(subscript(line, entries))
    return positions
