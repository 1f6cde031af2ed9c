"""PyTorch: type and device follow the arguments."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import numpy as np

from ..ir.code import (
    Code,
    call,
    constant,
    equal,
    name,
    number_of,
    quote,
    subscript,
    without_sign,
)
from ..runtime.array_helpers import SHARED, SPECIAL, shared
from .base import Backend
from .spelling import (
    ALL_ENTRIES,
    NEW_AXIS,
    Bracket,
    Codes,
    Destination,
    as_view,
    assigned,
    bracketed,
    called,
    diagonal_view,
    numbers_code,
    type_of,
)

# Its Bessel functions are of the orders 0 and 1 only.
BESSEL = {"jv": "bessel_j", "yv": "bessel_y", "iv": "i", "kv": "modified_bessel_k"}
# Functions of torch for two tensors of one type only, and whether that must be a floating one.
PAIRS = {"maximum": False, "minimum": False, "fmax": False, "fmin": False, "arctan2": True}
PAIRS |= {"logaddexp": True, "matmul": False, "dot": False, "copysign": True, "hypot": True}
PAIRS |= {"remainder": False, "fmod": False, "floor_divide": False}


GAMMA = '''
def gamma(x):
    """The gamma function; by reflection on the left of 1/2."""
    right = torch.exp(special.gammaln(torch.where(x < 0.5, 1 - x, x)))
    pole = torch.where((x == torch.floor(x)) & (x < 0), torch.nan, x)
    return torch.where(x < 0.5, torch.pi / (torch.sin(torch.pi * pole) * right), right)
'''
REL_ENTR = '''
def rel_entr(a, b):
    """a log(a / b) with its limits."""
    a, b = together(a, b, floating=True)
    inside = torch.where((a > 0) & (b > 0), a * torch.log(a / b), torch.inf)
    return torch.where((a == 0) & (b >= 0), 0, inside)
'''
CBRT = '''
def cbrt(x):
    """The real cube root."""
    return torch.sign(x) * torch.abs(x) ** (1 / 3)
'''
# What tensors of two types ask of a shared function.
TOGETHER = '"""\n    a, b = together(a, b, floating=True)\n'


# Torch's own are 0 there.
HEAVISIDE = '''
def heaviside(a, b):
    """0, b or 1 by the sign of a; nan where that is."""
    a, b = together(a, b)
    return torch.where(torch.isnan(a), a, torch.heaviside(a, b))
'''
SIGN = '''
def sign(x):
    """The sign; nan where x is."""
    return torch.where(torch.isnan(x), x, torch.sign(x))
'''


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
    by_rows: ClassVar = frozenset(("softmax",))
    words: ClassVar = {"device"}
    spellings: ClassVar = {"Piecewise": "select([{*0}], [{*1}], dtype)"}
    renamed: ClassVar = {"np.rint": "torch.round"} | {
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
        "promoted": '''
def promoted(*arrays):
    """The type that holds the entries of some tensors."""
    kind = arrays[0].dtype
    for array in arrays[1:]:
        kind = torch.promote_types(kind, array.dtype)
    return kind
''',
        "together": '''
def together(a, b, floating=False):
    """Two tensors or numbers as tensors of one type, as NumPy takes them."""
    kind, like = torch.result_type(a, b), a if isinstance(a, torch.Tensor) else b
    if floating and not (kind.is_floating_point or kind.is_complex):
        kind = torch.get_default_dtype()
    return [torch.as_tensor(v, dtype=kind, device=like.device) for v in (a, b)]
''',
        **{
            name: f'''
def {name}(a, b):
    """torch.{name} of tensors and numbers, whatever their types."""
    return torch.{name}(*together(a, b{", floating=True" * floating}))
'''
            for name, floating in PAIRS.items()
        },
        "einsum": '''
def einsum(subscripts, a, b):
    """torch.einsum of two tensors, whatever their types."""
    return torch.einsum(subscripts, *together(a, b))
''',
        "solve": '''
def solve(A, B):
    """inv(A) @ B, whatever their types."""
    return torch.linalg.solve(*together(A, B, floating=True))
''',
        "solved": '''
def solved(L, B):
    """inv(X) @ B of a matrix with such a factor by Cholesky, whatever their types."""
    L, B = together(L, B, floating=True)
    return torch.cholesky_solve(B, L) if B.ndim > 1 else torch.cholesky_solve(B[:, None], L)[:, 0]
''',
        **shared(*SPECIAL),
        **{name: SHARED[name].replace('"""\n', TOGETHER) for name in ("beta", "betaln")},
        "gamma": GAMMA,
        "rel_entr": REL_ENTR,
        "cbrt": CBRT,
        "heaviside": HEAVISIDE,
        "sign": SIGN,
        "number": '''
def number(value, dtype, device):
    """A tensor of a number."""
    if isinstance(value, torch.Tensor):
        return value
    return torch.as_tensor(value, dtype=dtype, device=device)
''',
        "select": '''
def select(conditions, values, dtype):
    """The value of the first condition that holds; numbers are of the given type."""
    chosen = float("nan")
    for condition, value in zip(reversed(conditions), reversed(values)):
        if not isinstance(value, torch.Tensor):
            device = getattr(condition, "device", None)
            value = torch.as_tensor(value, dtype=dtype, device=device)
        chosen = value if condition is True else torch.where(condition, value, chosen)
    return chosen
''',
        **shared(
            *("cofactors", "derivative_along", "log_total", "running_products", "recurrence"),
            *("logcumsumexp", "running_mean"),
        ),
        "peak": '''
def peak(x, axis=()):
    """The largest entries, 0 where those are infinite."""
    if not x.numel():
        return torch.exp(x).sum(axis, keepdim=True)
    top = torch.amax(x, axis, keepdim=True)
    return torch.where(torch.isfinite(top), top, 0)
''',
        "spectrum": SHARED["spectrum"].replace("iscomplexobj", "is_complex"),
        "from_spectrum": SHARED["from_spectrum"].replace("iscomplexobj", "is_complex"),
        "twins": '''
def twins(z, length, factor):
    """A factor for the frequencies of real numbers that stand for their conjugates too."""
    found = torch.full_like(z.real, factor)
    found[..., 0] = 1
    if length % 2 == 0:
        found[..., length // 2 :] = 1
    return found
''',
        "mirrored": SHARED["mirrored"].replace("[-1])", "[-1], device=x.device)"),
        "running_weights": '''
def running_weights(x):
    """x and log(cumsum(exp(x))) along the last axis without overflow."""
    return x, torch.logcumsumexp(x if x.is_floating_point() else x + 0.0, -1)
''',
        "windows": '''
def windows(x, axis, start, steps, counts):
    """The entries at start + steps[0] * i + steps[1] * k of an axis, at [i, k]."""
    i, k = (torch.arange(count, device=x.device) for count in counts)
    return x[(slice(None),) * axis + (start + steps[0] * i[:, None] + steps[1] * k,)]
''',
        "correlate": '''
def correlate(x, w):
    """Scalar products of a vector with all pieces of a longer one."""
    x, w = together(x, w)
    if len(x) < len(w):
        return x[:0]
    return torch.nn.functional.conv1d(x[None, None], w[None, None])[0, 0]
''',
        "convolve": '''
def convolve(x, w):
    """The convolution of two vectors."""
    x, w = together(x, w)
    pad = len(w) - 1
    return torch.nn.functional.conv1d(x[None, None], w.flip(0)[None, None], padding=pad)[0, 0]
''',
        "lagged_cumsum": '''
def lagged_cumsum(x, axis, backwards, lag, count):
    """Running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    x, n = x.movedim(axis, -1), x.shape[axis]
    total = torch.nn.functional.pad(x.flip(-1) if backwards else x, (1, 0)).cumsum(-1)
    positions = torch.arange(count, device=x.device)
    positions = n - lag - positions if backwards else positions + 1 - lag
    return total[..., positions.clip(0, n)].movedim(-1, axis)
''',
        "share": '''
def share(x, top, axes):
    """Where x is the largest, or smallest, over how often it is."""
    hits = (x == top).to(torch.result_type(x, 0.0))
    return hits / hits.sum(axes, keepdim=True)
''',
        "scatter": '''
def scatter(values, lengths, *positions):
    """Zeros, to which values are added at positions on the first axes."""
    order = max(place.ndim for place in positions)
    total = values.new_zeros((*lengths, *values.shape[order:]))
    return total.index_put_(positions, values, accumulate=True)
''',
        "one_hot": '''
def one_hot(positions, length, dtype):
    """Ones at positions on a last axis, which may be counted from its end."""
    places = positions[..., None] % length
    return (places == torch.arange(length, device=positions.device)).to(dtype)
''',
        "softmax": '''
def softmax(x, axes):
    """exp(x) / sum(exp(x)) over several axes, without overflow."""
    if not x.numel():
        return torch.exp(x)
    weights = torch.exp(x - torch.amax(x, axes, keepdim=True))
    return weights / weights.sum(axes, keepdim=True)
''',
    }

    def opening(self, used: Collection[str], tensors: Sequence[str]) -> list[ast.stmt]:
        """The type and the device of the arguments."""
        statements = super().opening(used, tensors)
        if "device" in used:
            device = quote("{0}.device", name(tensors[0])) if tensors else constant(None)
            statements.append(assigned(name("device"), device, 0))
        return statements

    def number(self, value: Code) -> Code:
        """A number of Python's as a tensor without axes."""
        return quote("number({0}, dtype, device)", value)

    def created(self, function: str, arguments: Sequence[Any], kind: Code) -> Code:
        """The call of a function that creates an array of some type."""
        kind = quote("torch.bool") if equal(kind, name("bool")) else kind
        return quote(f"torch.{function}({{*0}}, dtype={{1}}, device=device)", arguments, kind)

    def common_type(self, arrays: Codes, scalars: Codes) -> Code:
        """The type that holds the entries of arrays and scalars."""
        if not arrays and not scalars:
            return name("dtype")
        has_fraction = any(equal(scalar, self.fraction) for scalar in scalars)
        if not arrays:
            if not equal(scalars[0], self.fraction):
                return quote("{0}.dtype", scalars[0])
            real = quote("torch.get_default_dtype()")
            if not self.is_complex:
                return real
            return quote("torch.promote_types({0}, torch.complex64)", real)
        if has_fraction and len(arrays) == 1:
            return call("torch.result_type", arrays[0], self.fraction)
        kind = quote("{0}.dtype", arrays[0]) if len(arrays) == 1 else call("promoted", *arrays)
        if has_fraction:
            template = "torch.result_type(torch.empty(1, dtype={0}), {1})"
            return quote(template, kind, self.fraction)
        return kind

    # --- definite matrices; others are factored by what needs their factors

    def factored(self, operands: Codes, definite: bool) -> Code:
        """Cholesky's factor."""
        return call("torch.linalg.cholesky", operands[0]) if definite else operands[0]

    def solved(self, operands: Codes, definite: bool, transposed: bool) -> Code:
        """inv(X) @ Y, or inv(X)' @ Y, by factors."""
        if not definite:
            return super().solved(operands, definite, transposed)
        return call("solved", *operands)

    def by_factors(self, operands: Codes, name: str, definite: bool, shape: Codes) -> Code:
        """The inverse or the determinant by factors."""
        if not definite:
            return super().by_factors(operands, name, definite, shape)
        template = {
            "inv": "torch.cholesky_inverse({0})",
            "det": "{0}.diagonal().prod()**2",
            "logdet": "2 * torch.log({0}.diagonal()).sum()",
            "slogdet": "(1, 2 * torch.log({0}.diagonal()).sum())",
        }[name]
        return quote(template, operands[0])

    def transpose(self, operands: Codes, axes: Sequence[int]) -> Code:
        """The axes in another order."""
        if list(axes) == [1, 0]:
            return quote("{0}.T", operands[0])
        return quote("{0}.permute({*1})", operands[0], axes)

    def cut(self, operands: Codes, cuts: Sequence[Bracket]) -> Code:
        """Positions and slices of axes; torch has no negative steps, so these axes are flipped."""
        kept = [cut for cut in cuts if cut.is_slice]
        flipped = [axis for axis, cut in enumerate(kept) if cut.is_reversed]
        forwards = [_forwards(cut) if cut.is_reversed else cut for cut in cuts]
        code = super().cut(operands, forwards)
        return quote("{0}.flip({*1})", code, flipped) if flipped else code

    def contiguous(self, operands: Codes) -> Code:
        """The tensor in C order, contiguous in memory."""
        return quote("{0}.contiguous()", operands[0])

    def copy(self, operands: Codes) -> Code:
        """A copy that the caller may write to."""
        return quote("{0}.clone()", operands[0])

    dot = called("matmul")

    def cumsum(self, operands: Codes, axis: int, backwards: bool) -> Code:
        """The running sum along an axis, or that from its end."""
        if not backwards:
            return super().cumsum(operands, axis, backwards)
        return quote("{0}.flip({1}).cumsum({1}).flip({1})", operands[0], axis)

    def tri(self, operands: Codes, rows: Code, columns: Code, offset: Code) -> Code:
        """Ones at and below a diagonal."""
        return quote(
            "{0}.tril({1})", self.created("ones", [[rows, columns]], name("dtype")), offset
        )

    def weighted_gram(self, operands: Codes) -> Code:
        """X' diag(w) X with w >= 0."""
        return quote("matmul({0}.T * {1}, {0})", *operands)

    def matmul(self, operands: Codes) -> Code:
        """The matrix product of stacks."""
        return self.dot(operands)

    def vdot(self, operands: Codes) -> Code:
        """The full contraction of two operands of one shape."""
        return quote("dot({0}.ravel(), {1}.ravel())", *operands)

    def einsum(self, operands: Codes, subscripts: str) -> Code:
        """A contraction that no faster primitive does."""
        space = "torch." if len(operands) == 1 else ""
        return call(f"{space}einsum", subscripts, *operands)

    def solve(self, operands: Codes, definite: bool) -> Code:
        """inv(X) @ Y."""
        return call("solve", *operands)

    def full(self, operands: Codes, shape: Codes, kind: Code) -> Code:
        """The tensor with all entries equal to a scalar."""
        if number_of(operands[0]) is not None:
            return super().full(operands, shape, kind)
        value = quote("torch.as_tensor({0}, dtype={1}, device=device)", operands[0], kind)
        return quote("{0}.expand({1}).clone()", value, shape)

    def writable(self, operands: Codes, owned: bool, kind: Code) -> Code:
        """The first operand as a tensor to write to; itself, if it is ours and of that type."""
        return quote("{0}.to({1}, copy={2})", operands[0], kind, not owned)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """The statement that writes into, or changes, the diagonal of a tensor that is cut; what is
        reversed isn't a view in torch, and is written to by its positions."""
        view = diagonal_view(bracketed(place.array, place.cuts), place.subscripts, "permute")
        if any(cut.is_reversed for cut in place.cuts):
            view = subscript(place.array, _mesh(place))
        return self.assigned(as_view(view), value, sign)

    def constant(self, operands: Codes, array: np.ndarray) -> Code:
        """A tensor of numbers, written out."""
        numbers, kind = numbers_code(array, self.code), type_of(array, self.code)
        return quote("torch.tensor({0}, dtype={1}, device=device)", numbers, kind)

    def named_constant(self, constant: str) -> Code:
        """A tensor made of an array of NumPy that the source has by a name."""
        return quote("torch.as_tensor({0}, device=device)", name(constant))

    def extremum(self, operands: Codes, name: str, axes: Sequence[int] | None) -> Code:
        """The largest or smallest entries over axes, over all for None."""
        return call(f"torch.a{name}", operands[0], *([] if axes is None else [tuple(axes)]))

    def share(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """Where entries are equal to others, divided by how often they are."""
        return call("share", *operands, tuple(axes or ()))

    def picked(self, operands: Codes, name: str, axis: int) -> Code:
        """The entries along an axis in order, or the largest or smallest so far."""
        return quote(f"torch.{name}({{0}}, dim={{1}}).values", operands[0], axis)

    def positions(self, operands: Codes, name: str, axis: int) -> Code:
        """Positions along an axis."""
        if name in ("argcummax", "argcummin"):
            function = name.removeprefix("arg")
            return quote(f"torch.{function}({{0}}, dim={{1}}).indices", operands[0], axis)
        stable = ", stable=True" if name == "argsort" else ""
        return quote(f"torch.{name}({{0}}, dim={{1}}{stable})", operands[0], axis)

    def range(self, operands: Codes, length: Code) -> Code:
        """The positions on an axis."""
        return quote("torch.arange({0}, device=device)", length)

    def logsumexp(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """log Σ exp over axes, over all for None."""
        if axes is None:
            return quote("torch.logsumexp({0}.ravel(), 0)", operands[0])
        return call("torch.logsumexp", operands[0], tuple(axes))

    def softmax(self, operands: Codes, axes: Sequence[int] | None) -> Code:
        """exp / Σ exp over axes, over all for None."""
        if axes is None:
            return quote("torch.softmax({0}.ravel(), 0).reshape({0}.shape)", operands[0])
        if len(axes) == 1:
            return call("torch.softmax", operands[0], axes[0])
        return call("softmax", operands[0], tuple(axes))


def _forwards(cut: Bracket) -> Bracket:
    """A slice with its positions in the opposite order."""
    assert cut.start is not None
    assert cut.step is not None
    assert cut.number is not None
    last = quote("{0} + {1} * ({2} - 1)", cut.start, cut.step, cut.number)
    step = without_sign(cut.step)
    code = ast.Slice(last, quote("{0} + 1", cut.start), step)
    return Bracket(code, last, step, cut.number)


def _mesh(place: Destination) -> list[Code]:
    """The positions along each axis of a tensor, for each entry of what is written there."""
    labels, kept = place.subscripts.split("->")
    left = iter(labels)
    positions = []
    for axis, cut in enumerate(place.cuts):
        if not cut.is_slice:
            positions.append(cut.code)
            continue
        own = kept.index(next(left))
        count = cut.number or quote("{0}.shape[{1}]", place.array, axis)
        line = quote(
            "{0} + {1} * torch.arange({2}, device=device)", cut.start or 0, cut.step or 1, count
        )
        entries = [ALL_ENTRIES.code if k == own else NEW_AXIS for k in range(len(kept))]
        positions.append(subscript(line, entries))
    return positions
