"""Axes that are equal wherever a tensor isn't 0: its deltas, and what they leave to be computed.

A product takes the deltas of its operands out when it is built. Here sums and functions do, so that
a product around them takes the deltas in, and nothing is computed where they are 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sympy import S

from ..core import postorder, transform
from ..expressions import (
    Elementwise,
    Operand,
    TensorAdd,
    TensorExpr,
    View,
    apply_body,
    contract,
    is_tensor,
    rebuild,
    representative,
    slot,
    tensor_sum,
    unite,
)

# A label for each axis.
Axes = tuple[int, ...]


def equal_axes(tensor: TensorExpr) -> Axes:
    """Label each axis of a tensor; axes with one label are equal wherever the tensor isn't 0."""
    return _numbered(tensor.output if isinstance(tensor, View) else range(tensor.order))


def equal_in_all(terms: Sequence[TensorExpr]) -> Axes:
    """Label each axis of a sum; axes with one label are equal in every term."""
    return _numbered([*zip(*map(equal_axes, terms), strict=True)])


def _numbered(labels: Sequence[Hashable]) -> Axes:
    names: dict[Hashable, int] = {}
    return tuple([names.setdefault(label, len(names)) for label in labels])


def has_deltas(axes: Axes) -> bool:
    """Tell whether some axes are equal."""
    return len(set(axes)) < len(axes)


def sum_on_diagonal(axes: Axes, terms: Sequence[TensorExpr]) -> Operand:
    """Return the sum of terms that are 0 except on a diagonal, added there."""
    return _embed_on_diagonal(
        axes, tensor_sum([on_diagonal(axes, term) for term in terms]), terms[0]
    )


def on_diagonal(axes: Axes, tensor: TensorExpr) -> Operand:
    """Return the entries where axes with one label are equal."""
    lengths = dict(zip(axes, tensor.shape, strict=True))
    return contract((tensor,), (axes,), range(len(lengths)), lengths)


def _embed_on_diagonal(axes: Axes, values: Operand, like: TensorExpr) -> Operand:
    """Embed values on such a diagonal of a tensor of some shape."""
    lengths = dict(zip(axes, like.shape, strict=True))
    return contract((values,), (range(len(lengths)),), axes, lengths)


def lift_deltas(exprs: Sequence[Operand]) -> list[Operand]:
    """Move deltas out of sums and of functions that are 0 off them.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> print(lift_deltas([se.sin(se.diag(x) + se.diag(y))])[0])
    diag(sin(x + y))
    """
    views = [node for node in postorder(exprs) if isinstance(node, View)]
    return transform(exprs, _lifted) if any(has_deltas(view.output) for view in views) else [*exprs]


def _lifted(node: Operand, operands: Sequence[Operand]) -> Operand:
    node = rebuild(node, tuple(operands))
    if isinstance(node, TensorAdd):
        axes = equal_in_all(node.operands)
        return sum_on_diagonal(axes, node.operands) if has_deltas(axes) else node
    if isinstance(node, Elementwise) and has_deltas(axes := _of_function(node)):
        own = [on_diagonal(axes, o) if is_tensor(o) else o for o in node.operands]
        return _embed_on_diagonal(axes, apply_body(node.body, own), node)
    return node


def _of_function(node: Elementwise) -> Axes:
    """Return the axes that are equal in operands where the function is 0 if one of these is."""
    merged: dict[int, int] = {}
    for k, operand in enumerate(node.operands):
        axes = equal_axes(operand) if is_tensor(operand) else ()
        if has_deltas(axes) and node.body.xreplace({slot(k): S.Zero}) is S.Zero:
            for axis, label in enumerate(axes):
                unite(merged, axes.index(label), axis)
    return _numbered([representative(merged, axis) for axis in range(node.order)])
