"""NumPy: every instruction of a plan as one Python expression.

Arguments of the methods are Python texts of operands, already safe to stand next to an operator's
dot or bracket, and of axis lengths; what comes back is the text of one expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .scalars import print_scalar

Texts = Sequence[str]


def _tuple(items: Sequence[Any]) -> str:
    return "(" + ", ".join(map(str, items)) + ("," if len(items) == 1 else "") + ")"


def _axis(axes: Sequence[int] | None) -> list[str]:
    """The argument that names axes; none for all axes."""
    return [] if axes is None else [f"axis={axes[0] if len(axes) == 1 else tuple(axes)}"]


class NumpyBackend:
    """Spells instructions in NumPy 2; special functions come from SciPy, if any are used."""

    name = "numpy"
    imports = ("import numpy as np", "from scipy import special")

    def used_imports(self, body: str) -> list[str]:
        """The import lines that a body of source needs."""
        return [line for line in self.imports if f"{line.split()[-1]}." in body]

    # --- scalars and elementwise

    def scalar(self, operands: Texts, expr: Any) -> str:
        """A SymPy scalar expression in slots."""
        return print_scalar(expr, operands)

    elementwise = scalar

    # --- axes

    def transpose(self, operands: Texts, axes: Sequence[int]) -> str:
        """The axes in another order."""
        if list(axes) == [1, 0]:
            return f"{operands[0]}.T"
        return f"{operands[0]}.transpose({', '.join(map(str, axes))})"

    def index(self, operands: Texts, entries: Sequence[str]) -> str:
        """Basic indexing, one text for each axis; new axes are ``None``."""
        return f"{operands[0]}[{', '.join(entries)}]"

    def diagonal(self, operands: Texts, subscripts: str) -> str:
        """Diagonals of repeated indices, a view."""
        return f"np.einsum({subscripts!r}, {operands[0]})"

    def reshape(self, operands: Texts, shape: Texts) -> str:
        """The entries in C order under another shape."""
        return f"np.reshape({operands[0]}, {_tuple(shape)})"

    def broadcast(self, operands: Texts, shape: Texts) -> str:
        """The operand repeated along axes, without a copy."""
        return f"np.broadcast_to({operands[0]}, {_tuple(shape)})"

    def copy(self, operands: Texts) -> str:
        """A copy that the caller may write to."""
        return f"np.array({operands[0]})"

    # --- arithmetic

    def sum(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """The sum over axes, over all for None."""
        return f"{operands[0]}.sum({''.join(_axis(axes))})"

    def multiply(self, operands: Texts) -> str:
        """The broadcast product."""
        return " * ".join(operands)

    def add(self, operands: Texts, signs: Sequence[int]) -> str:
        """The broadcast sum with signs."""
        first = ("-" if signs[0] < 0 else "") + operands[0]
        rest = [
            (" - " if s < 0 else " + ") + o for s, o in zip(signs[1:], operands[1:], strict=True)
        ]
        return first + "".join(rest)

    def matmul(self, operands: Texts) -> str:
        """The matrix product, of stacks too."""
        return " @ ".join(operands)

    def vdot(self, operands: Texts) -> str:
        """The full contraction of two operands of one shape."""
        return f"{operands[0]}.ravel() @ {operands[1]}.ravel()"

    def tensordot(self, operands: Texts, left: Sequence[int], right: Sequence[int]) -> str:
        """The sum over pairs of axes."""
        return f"np.tensordot({operands[0]}, {operands[1]}, ({list(left)}, {list(right)}))"

    def einsum(self, operands: Texts, subscripts: str) -> str:
        """A contraction that no faster primitive does."""
        return f"np.einsum({subscripts!r}, {', '.join(operands)})"

    # --- structure

    def full(self, operands: Texts, shape: Texts) -> str:
        """The array with all entries equal to a scalar; of floats, as ``np.ones`` is."""
        operands = [text + ".0" if text.isdigit() else text for text in operands]
        return f"np.full({_tuple(shape)}, {operands[0]})"

    def zeros(self, operands: Texts, shape: Texts) -> str:
        """Zeros, of the operands' common type."""
        kind = f", np.result_type({', '.join(operands)}, 1.0)" if operands else ""
        return f"np.zeros({_tuple(shape)}{kind})"

    def writable(self, operands: Texts, owned: bool) -> str:
        """An array of the operands' common type to write to; the first operand itself, if it is
        ours and of that type."""
        kind = f"np.result_type({', '.join(operands)})"
        return f"np.{'asarray' if owned else 'array'}({operands[0]}, {kind})"

    def write_diagonal(self, target: str, value: str, subscripts: str, add: bool) -> str:
        """The statement that writes into, or adds to, the diagonal of an array."""
        return f"np.einsum({subscripts!r}, {target})[...] {'+=' if add else '='} {value}"

    def unit(self, operands: Texts, length: str, position: str) -> str:
        """A unit vector."""
        return f"(np.arange({length}) == {position}) * 1.0"

    def selection(self, operands: Texts, length: str, start: str, step: int, count: str) -> str:
        """The matrix that selects a slice."""
        return f"np.eye({length})[{start} + {step} * np.arange({count})]"

    def constant(self, operands: Texts, array: Any) -> str:
        """An array of numbers, written out."""
        return f"np.array({array.tolist()!r}, dtype={array.dtype.name!r})".replace(
            "inf", "np.inf"
        ).replace("nan", "np.nan")

    # --- matrix functions

    def inv(self, operands: Texts) -> str:
        """The inverse."""
        return f"np.linalg.inv({operands[0]})"

    def det(self, operands: Texts) -> str:
        """The determinant."""
        return f"np.linalg.det({operands[0]})"

    def logdet(self, operands: Texts) -> str:
        """log |det|."""
        return f"np.linalg.slogdet({operands[0]})[1]"

    def adj(self, operands: Texts) -> str:
        """The adjugate, by singular values, so that a singular matrix is fine."""
        return f"adjugate({operands[0]})"

    # --- log-sum-exp and softmax

    def logsumexp(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """log Σ exp over axes, over all for None."""
        return f"logsumexp({', '.join([operands[0], *_axis(axes)])})"

    def softmax(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """exp / Σ exp over axes, over all for None."""
        return f"softmax({', '.join([operands[0], *_axis(axes)])})"

    support: ClassVar = {
        "adjugate(": '''
def adjugate(X):
    """The adjugate of a square matrix, singular or not, by its singular values."""
    U, s, V = np.linalg.svd(X)
    rest = [np.prod(np.delete(s, i)) for i in range(len(s))]
    sign = np.linalg.det(U) * np.linalg.det(V)
    return sign * (V.conj().T * rest) @ U.conj().T
''',
        "logsumexp(": '''
def logsumexp(x, axis=None):
    """log(sum(exp(x))) without overflow."""
    x = np.asarray(x, np.result_type(x, 0.0))
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x - top).sum(axis=axis)) + np.squeeze(top, axis=axis)
''',
        "softmax(": '''
def softmax(x, axis=None):
    """exp(x) / sum(exp(x)) without overflow."""
    x = np.asarray(x, np.result_type(x, 0.0))
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    weights = np.exp(x - np.where(np.isfinite(top), top, 0))
    return weights / weights.sum(axis=axis, keepdims=True)
''',
    }


class NumpyExpressionBackend(NumpyBackend):
    """The same for stock ``sympy.lambdify``, where a program must be a single expression."""

    def write_diagonal(self, target: str, value: str, subscripts: str, add: bool) -> str:
        """Writing into a diagonal, as a call."""
        diagonal = f"np.einsum({subscripts!r}, {target})"
        if add:
            return f"np.add({diagonal}, {value}, out={diagonal})"
        return f"np.copyto({diagonal}, {value})"

    def adj(self, operands: Texts) -> str:
        """The adjugate, as in the function ``adjugate``."""
        rest = "[np.prod(np.delete(u[1], i)) for i in range(len(u[1]))]"
        value = f"np.linalg.det(u[0] @ u[2]) * (u[2].conj().T * {rest}) @ u[0].conj().T"
        return f"(lambda u: {value})(np.linalg.svd({operands[0]}))"

    def logsumexp(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """log Σ exp as a reduction."""
        return f"np.logaddexp.reduce({operands[0]}, {''.join(_axis(axes)) or 'axis=None'})"

    def softmax(self, operands: Texts, axes: Sequence[int] | None) -> str:
        """exp / Σ exp by log-sum-exp."""
        inside = f"{operands[0]}, {''.join(_axis(axes)) or 'axis=None'}, keepdims=True"
        return f"np.exp({operands[0]} - np.logaddexp.reduce({inside}))"
