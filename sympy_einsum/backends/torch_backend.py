"""PyTorch: type and device follow the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .base import ADJUGATE, SELECT, Backend, Texts, as_tuple
from .cupy_backend import diagonal_view

# What torch.special has of the functions in our table.
SPECIAL = ("digamma", "erf", "erfc", "erfinv", "gammaln", "polygamma", "zeta")
# NumPy's functions of a tensor and a number that torch has for tensors only.
PAIRS = ("maximum", "minimum", "logaddexp", "heaviside", "arctan2")


class TorchBackend(Backend):
    """Spells instructions in PyTorch."""

    name = "torch"
    xp = "torch"
    imports = ("import torch",)
    spellings: ClassVar = {
        "sigmoid": "torch.sigmoid({0})",
        "softplus": "logaddexp({0}, 0)",
    }
    known: ClassVar = {f"special.{name}" for name in SPECIAL}
    renamed: ClassVar = {
        **{f"np.{name}": name for name in PAIRS},
        "np.select": "select",
        "np.logical_and": None,
        "np.logical_or": None,
    }
    support: ClassVar = {
        **{
            f"{name}(": f'''
def {name}(a, b):
    """torch.{name} of tensors and numbers."""
    like = a if isinstance(a, torch.Tensor) else b
    a, b = [torch.as_tensor(v, dtype=like.dtype, device=like.device) for v in (a, b)]
    return torch.{name}(a, b)
'''
            for name in PAIRS
        },
        "select(": SELECT.replace("np.", "torch."),
        "adjugate(": ADJUGATE.replace("np.", "torch."),
        "peak(": '''
def peak(x, axis=()):
    """The largest entries, 0 where those are infinite."""
    top = torch.amax(x, axis, keepdim=True)
    return torch.where(torch.isfinite(top), top, 0)
''',
        "softmax(": '''
def softmax(x, axes):
    """exp(x) / sum(exp(x)) over several axes, without overflow."""
    weights = torch.exp(x - torch.amax(x, axes, keepdim=True))
    return weights / weights.sum(axes, keepdim=True)
''',
    }

    def opening(self, body: str, tensors: Texts, scalars: Texts) -> list[str]:
        """The type and the device of the arguments, and tensors made of numbers."""
        lines = [
            f"{name} = torch.as_tensor({name}, dtype=dtype, device=device)" for name in scalars
        ]
        text = "\n".join([body, *lines])
        if "device=device" in text:
            device = f"{tensors[0]}.device" if tensors else "None"
            lines.insert(0, f"device = {device}")
        return [*super().opening(text, tensors, scalars), *lines]

    def created(self, function: str, arguments: str, kind: str) -> str:
        """The call of a function that creates an array of some type."""
        kind = "torch.bool" if kind == "bool" else kind
        return f"torch.{function}({arguments}, dtype={kind}, device=device)"

    def common_type(self, arrays: Texts, scalars: Texts) -> str:
        """The type that holds the entries of arrays and scalars."""
        if not arrays and not scalars:
            return "dtype"
        if not arrays:
            return f"{scalars[0]}.dtype" if scalars != ["0.0"] else "torch.get_default_dtype()"
        text = f"{arrays[0]}.dtype"
        for other in arrays[1:]:
            text = f"torch.promote_types({text}, {other}.dtype)"
        if "0.0" in scalars and len(arrays) == 1:
            return f"torch.result_type({arrays[0]}, 0.0)"
        if "0.0" in scalars:
            return f"torch.result_type(torch.empty(1, dtype={text}), 0.0)"
        return text

    def scalar(self, operands: Texts, expr: Any) -> str:
        """A SymPy scalar expression in slots; a number alone stays one."""
        if expr.is_Number:
            return str(expr) if expr.is_Integer else repr(float(expr))
        return super().scalar(operands, expr)

    def number(self, name: str) -> str:
        """A number of Python's as a tensor without axes."""
        return f"torch.as_tensor({name}, dtype=dtype, device=device)"

    def transpose(self, operands: Texts, axes: Sequence[int]) -> str:
        """The axes in another order."""
        if list(axes) == [1, 0]:
            return f"{operands[0]}.T"
        return f"{operands[0]}.permute({', '.join(map(str, axes))})"

    def index(self, operands: Texts, entries: Sequence[str]) -> str:
        """Indexing, one text for each axis; torch has no negative steps."""
        return super().index(operands, [self._entry(entry) for entry in entries])

    def _entry(self, entry: str) -> str:
        start, stop, step = (*entry.split(":"), "", "", "")[:3]
        if not step.startswith("-"):
            return entry
        return f"torch.arange({start}, {stop or -1}, {step})"

    def contiguous(self, operands: Texts) -> str:
        """The same tensor, its entries one after the other in memory."""
        return f"{operands[0]}.contiguous()"

    def copy(self, operands: Texts) -> str:
        """A copy that the caller may write to."""
        return f"{operands[0]}.clone()"

    def vdot(self, operands: Texts) -> str:
        """The full contraction of two operands of one shape."""
        return f"{operands[0]}.ravel().dot({operands[1]}.ravel())"

    def full(self, operands: Texts, shape: Texts, kind: str) -> str:
        """The tensor with all entries equal to a scalar."""
        if operands[0].replace(".", "", 1).isdigit():
            return super().full(operands, shape, kind)
        value = f"torch.as_tensor({operands[0]}, dtype={kind}, device=device)"
        return f"{value}.expand({as_tuple(shape)}).clone()"

    def writable(self, operands: Texts, owned: bool, kind: str) -> str:
        """The first operand as a tensor to write to; itself, if it is ours and of that type."""
        return f"{operands[0]}.to({kind}, copy={not owned})"

    def write_diagonal(
        self, target: str, value: str, order: int, subscripts: str, add: bool
    ) -> str:
        """The statement that writes into, or adds to, the diagonal of a tensor."""
        return f"{diagonal_view(target, subscripts, 'permute')}[...] {'+=' if add else '='} {value}"

    def unit(self, operands: Texts, length: str, position: str) -> str:
        """A unit vector."""
        return f"(torch.arange({length}, device=device) == {position}).to(dtype)"

    def constant(self, operands: Texts, array: Any) -> str:
        """A tensor of numbers, written out."""
        numbers = repr(array.tolist()).replace("inf", "torch.inf").replace("nan", "torch.nan")
        return f"torch.tensor({numbers}, dtype=torch.{array.dtype.name}, device=device)"

    def named_constant(self, name: str) -> str:
        """A tensor made of an array of NumPy that the source has by a name."""
        return f"torch.as_tensor({name}, device=device)"

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
