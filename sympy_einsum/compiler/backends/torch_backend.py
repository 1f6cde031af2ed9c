"""PyTorch: type and device follow the arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..runtime.array_helpers import SHARED, SPECIAL, shared
from .base import Backend
from .spelling import (
    Bracket,
    Place,
    Texts,
    as_tuple,
    bracketed,
    called,
    diagonal_view,
    numbers_text,
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
    spellings: ClassVar = {"Piecewise": "select([{0}], [{1}], dtype)"}
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

    def opening(self, body: str, tensors: Texts) -> list[str]:
        """The type and the device of the arguments."""
        lines = super().opening(body, tensors)
        if re.search(r"\bdevice\b(?!=)", body) is not None:
            lines.append(f"device = {tensors[0]}.device" if tensors else "device = None")
        return lines

    def number(self, name: str) -> str:
        """A number of Python's as a tensor without axes."""
        return f"number({name}, dtype, device)"

    def created(self, function: str, arguments: str, kind: str) -> str:
        """The call of a function that creates an array of some type."""
        kind = "torch.bool" if kind == "bool" else kind
        return f"torch.{function}({arguments}, dtype={kind}, device=device)"

    def common_type(self, arrays: Texts, scalars: Texts) -> str:
        """The type that holds the entries of arrays and scalars."""
        if not arrays and not scalars:
            return "dtype"
        if not arrays:
            if scalars[0] != self.fraction:
                return f"{scalars[0]}.dtype"
            real = "torch.get_default_dtype()"
            return f"torch.promote_types({real}, torch.complex64)" if self.is_complex else real
        text = f"{arrays[0]}.dtype" if len(arrays) == 1 else f"promoted({', '.join(arrays)})"
        if self.fraction in scalars and len(arrays) == 1:
            return f"torch.result_type({arrays[0]}, {self.fraction})"
        if self.fraction in scalars:
            return f"torch.result_type(torch.empty(1, dtype={text}), {self.fraction})"
        return text

    # --- definite matrices; others are factored by what needs their factors

    def factored(self, operands: Texts, definite: bool) -> str:
        """Cholesky's factor."""
        return f"torch.linalg.cholesky({operands[0]})" if definite else operands[0]

    def solved(self, operands: Texts, definite: bool, turned: bool) -> str:
        """inv(X) @ Y, or inv(X)' @ Y, by factors."""
        if not definite:
            return super().solved(operands, definite, turned)
        return f"solved({', '.join(operands)})"

    def by_factors(self, operands: Texts, name: str, definite: bool, shape: Texts) -> str:
        """The inverse or the determinant by factors."""
        if not definite:
            return super().by_factors(operands, name, definite, shape)
        return {
            "inv": "torch.cholesky_inverse({0})",
            "det": "{0}.diagonal().prod() ** 2",
            "logdet": "(2 * torch.log({0}.diagonal()).sum())",
            "slogdet": "(1, 2 * torch.log({0}.diagonal()).sum())",
        }[name].format(operands[0])

    def transpose(self, operands: Texts, axes: Sequence[int]) -> str:
        """The axes in another order."""
        if list(axes) == [1, 0]:
            return f"{operands[0]}.T"
        return f"{operands[0]}.permute({', '.join(map(str, axes))})"

    def cut(self, operands: Texts, cuts: Sequence[Bracket]) -> str:
        """Positions and slices of axes; torch has no negative steps, so these axes are flipped."""
        kept = [cut for cut in cuts if cut.text == ":" or cut.number]
        turned = [axis for axis, cut in enumerate(kept) if cut.step.startswith("-")]
        forwards = [_forwards(cut) if cut.step.startswith("-") else cut for cut in cuts]
        text = super().cut(operands, forwards)
        return f"{text}.flip({', '.join(map(str, turned))})" if turned else text

    def contiguous(self, operands: Texts) -> str:
        """The tensor in C order, contiguous in memory."""
        return f"{operands[0]}.contiguous()"

    def copy(self, operands: Texts) -> str:
        """A copy that the caller may write to."""
        return f"{operands[0]}.clone()"

    dot = called("matmul")

    def cumsum(self, operands: Texts, axis: int, backwards: bool) -> str:
        """The running sum along an axis, or that from its end."""
        if not backwards:
            return super().cumsum(operands, axis, backwards)
        return f"{operands[0]}.flip({axis}).cumsum({axis}).flip({axis})"

    def tri(self, operands: Texts, rows: str, columns: str, offset: str) -> str:
        """Ones at and below a diagonal."""
        return f"{self.created('ones', f'({rows}, {columns})', 'dtype')}.tril({offset})"

    def weighted_gram(self, operands: Texts) -> str:
        """X' diag(w) X with w >= 0."""
        return f"matmul({operands[0]}.T * {operands[1]}, {operands[0]})"

    def matmul(self, operands: Texts) -> str:
        """The matrix product of stacks."""
        return self.dot(operands)

    def vdot(self, operands: Texts) -> str:
        """The full contraction of two operands of one shape."""
        return f"dot({operands[0]}.ravel(), {operands[1]}.ravel())"

    def einsum(self, operands: Texts, subscripts: str) -> str:
        """A contraction that no faster primitive does."""
        space = "torch." if len(operands) == 1 else ""
        return f"{space}einsum({subscripts!r}, {', '.join(operands)})"

    def solve(self, operands: Texts, definite: bool) -> str:
        """inv(X) @ Y."""
        return f"solve({operands[0]}, {operands[1]})"

    def full(self, operands: Texts, shape: Texts, kind: str) -> str:
        """The tensor with all entries equal to a scalar."""
        if operands[0].replace(".", "", 1).isdigit():
            return super().full(operands, shape, kind)
        value = f"torch.as_tensor({operands[0]}, dtype={kind}, device=device)"
        return f"{value}.expand({as_tuple(shape)}).clone()"

    def writable(self, operands: Texts, owned: bool, kind: str) -> str:
        """The first operand as a tensor to write to; itself, if it is ours and of that type."""
        return f"{operands[0]}.to({kind}, copy={not owned})"

    def write(self, place: Place, value: str, order: int, sign: int) -> str:
        """The statement that writes into, or changes, the diagonal of a tensor that is cut; what is
        turned isn't a view in torch, and is written to by its positions."""
        cut = f"{place.array}{bracketed(place.cuts)}"
        view = diagonal_view(cut, place.subscripts, "permute")
        if any(cut.step.startswith("-") for cut in place.cuts):
            view = f"{place.array}[{', '.join(_mesh(place))}]"
        return self.assigned(view if view[-1] == "]" else f"{view}[...]", value, sign)

    def constant(self, operands: Texts, array: np.ndarray) -> str:
        """A tensor of numbers, written out."""
        return self.spell(f"np.tensor({numbers_text(array)}, device=device)")

    def named_constant(self, name: str) -> str:
        """A tensor made of an array of NumPy that the source has by a name."""
        return f"torch.as_tensor({name}, device=device)"

    def extremum(self, operands: Texts, name: str, axes: Sequence[int] | None) -> str:
        """The largest or smallest entries over axes, over all for None."""
        over = "" if axes is None else f", {tuple(axes)}"
        return f"torch.a{name}({operands[0]}{over})"

    def share(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """Where entries are equal to others, divided by how often they are."""
        return f"share({', '.join([*operands, str(tuple(axes or ()))])})"

    def picked(self, operands: Texts, name: str, axis: int) -> str:
        """The entries along an axis in order, or the largest or smallest so far."""
        return f"torch.{name}({operands[0]}, dim={axis}).values"

    def positions(self, operands: Texts, name: str, axis: int) -> str:
        """Positions along an axis."""
        if name in ("argcummax", "argcummin"):
            return f"torch.{name.removeprefix('arg')}({operands[0]}, dim={axis}).indices"
        stable = ", stable=True" if name == "argsort" else ""
        return f"torch.{name}({operands[0]}, dim={axis}{stable})"

    def range(self, operands: Texts, length: str) -> str:
        """The positions on an axis."""
        return f"torch.arange({length}, device=device)"

    def logsumexp(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """log Σ exp over axes, over all for None."""
        if axes is None:
            return f"torch.logsumexp({operands[0]}.ravel(), 0)"
        return f"torch.logsumexp({operands[0]}, {tuple(axes)})"

    def softmax(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """exp / Σ exp over axes, over all for None."""
        if axes is None:
            return f"torch.softmax({operands[0]}.ravel(), 0).reshape({operands[0]}.shape)"
        if len(axes) == 1:
            return f"torch.softmax({operands[0]}, {axes[0]})"
        return f"softmax({operands[0]}, {tuple(axes)})"


def _forwards(cut: Bracket) -> Bracket:
    """A slice with its positions in the opposite order."""
    last = f"{cut.start} + {cut.step} * ({cut.number} - 1)"
    text = f"{last}:{cut.start} + 1:{cut.step[1:]}"
    return Bracket(text, last, cut.step[1:], cut.number)


def _mesh(place: Place) -> list[str]:
    """The positions along each axis of a tensor, for each entry of what is written there."""
    target, cuts = place.array, place.cuts
    labels, kept = place.subscripts.split("->")
    left = iter(labels)
    positions = []
    for axis, cut in enumerate(cuts):
        if cut.text != ":" and not cut.number:
            positions.append(cut.text)
            continue
        own = kept.index(next(left))
        spread = ", ".join(":" if k == own else "None" for k in range(len(kept)))
        count = cut.number or f"{target}.shape[{axis}]"
        line = f"{cut.start or 0} + {cut.step or 1} * torch.arange({count}, device=device)"
        positions.append(f"({line})[{spread}]")
    return positions
