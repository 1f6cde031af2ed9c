"""Tensors that are a delta times something small, as Hessians often are: found and computed with.

The structure is visible in normal forms: axes that one index of the output stands on are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from sympy import Expr, Mul, latex

from ..core import (
    Label,
    Labels,
    Shape,
    ShapeError,
    UnsupportedError,
    index_letter,
    postorder,
    same_length,
)
from ..expressions import (
    Operand,
    TensorAdd,
    TensorExpr,
    TensorLike,
    View,
    apply_body,
    as_operand,
    axes_with_entries,
    contract,
    contract_part,
    inv,
    on_axes,
    order_of,
    representative,
    reshape,
    shape_of,
    slot,
    total_of,
    unite,
)
from .normal_form import simplify

# Axes that are equal have letters from i on, the others from a on.
LETTERS = 18


@dataclass(frozen=True, repr=False)
class Compressed:
    """A tensor H whose entries are those of a small core, placed among zeros and repeated;
    :func:`sympy_einsum.compress` finds it.

    The first half of its axes are rows, the second half columns, as in a Hessian.

    Attributes
    ==========

    core : the expression of what is stored
    pattern : the index string that places it, ``"ab->iaib"``; indices that only the output has are
        axes of ones, or with others of their name deltas
    shape : the shape of H
    """

    core: Operand
    pattern: str
    shape: Shape

    @property
    def order(self) -> int:
        """The number of axes of H."""
        return len(self.shape)

    def to_dense(self) -> Operand:
        """H itself.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> H = se.hessian(se.exp(x).sum(), x)
        >>> se.compress(H).to_dense() == H
        True
        """
        inner, outer = self._indices()
        terms = self.core.operands if isinstance(self.core, TensorAdd) else (self.core,)
        lengths = dict(zip(outer, self.shape, strict=True))
        return total_of([contract((term,), (inner,), outer, lengths) for term in terms])

    def matvec(self, v: TensorLike) -> Operand:
        """H times v, summed over the axes of v, which are the last ones of H; deltas aren't built.

        Raises
        ======

        ShapeError : v is no tensor, has more axes than H, or other lengths than these

        Examples
        ========

        >>> import sympy_einsum as se
        >>> x, v = se.tensors("x v", 3)
        >>> print(se.compress(se.hessian(se.exp(x).sum(), x)).matvec(v))
        v*exp(x)
        """
        vector = as_operand(v)
        inner, outer = self._indices()
        rows = self.order - order_of(vector)
        if not 0 <= rows < self.order:
            raise ShapeError(
                f"matvec takes a tensor v of the last axes of H, of shape {self.shape}, not one of "
                f"shape {shape_of(vector)}"
            )
        self._check("v", vector, range(rows, self.order))
        lengths = dict(zip(outer, self.shape, strict=True))
        return contract((self.core, vector), (inner, outer[rows:]), outer[:rows], lengths)

    def solve(self, b: TensorLike) -> Operand:
        """The x with H x = b, of the shape of the columns: a system for each index that rows and
        columns share, or one with many right-hand sides if the core has no such index.

        Raises
        ======

        UnsupportedError : rows and columns don't pair up, or what is left of them isn't square
        ShapeError : b isn't of the shape of the rows

        Examples
        ========

        >>> import sympy_einsum as se
        >>> x, b = se.tensors("x b", 3)
        >>> print(se.compress(se.hessian(se.exp(x).sum(), x)).solve(b))
        b/exp(x)
        """
        right = as_operand(b)
        inner, outer = self._indices()
        half = self.order // 2
        rows, columns = outer[:half], outer[half:]
        if self.order % 2 or len({*rows}) < half or len({*columns}) < half:
            raise UnsupportedError(
                f"solve takes as many rows as columns, each with its own index, not {outer[:half]} "
                f"and {outer[half:]} of the pattern {self.pattern}"
            )
        if order_of(right) != half:
            raise ShapeError(
                f"solve takes a tensor b of shape {self.shape[:half]}, not of shape "
                f"{shape_of(right)}"
            )
        self._check("b", right, range(half))
        left = [i for i in rows if i not in columns]
        if left:
            return self._solved(right, rows, columns, left)
        inverse = apply_body(1 / slot(0), [self.core])
        lengths = dict(zip(outer, self.shape, strict=True))
        return contract((inverse, right), (inner, rows), columns, lengths)

    def _solved(self, right: Operand, rows: str, columns: str, left: Sequence[str]) -> Operand:
        """The same where rows are left that aren't columns; those together are one axis."""
        inner, outer = self._indices()
        lengths: dict[Label, Expr] = dict(zip(outer, self.shape, strict=True))
        above = [i for i in columns if i not in rows]
        sizes = [Mul(*[lengths[i] for i in part]) for part in (left, above)]
        if not same_length(*sizes):
            raise UnsupportedError(
                f"solve takes a square core, but there are {sizes[0]} rows {''.join(left)} and "
                f"{sizes[1]} columns {''.join(above)} in the pattern {self.pattern}"
            )
        lengths |= {"row": sizes[0], "column": sizes[1]}
        shared = [i for i in rows if i in columns]
        stack, free = [i for i in shared if i in inner], [i for i in shared if i not in inner]
        # From the axes of H and b to a matrix for each index of the stack, and back to those of x.
        rows_last, columns_last = [*stack, *left, *free], [*stack, *above, *free]
        matrices, given, found = (
            [*stack, "row", "column"],
            [*stack, "row", *free],
            [*stack, "column", *free],
        )

        def moved(tensor: Operand, labels: Labels, output: Labels, shape: Labels) -> Operand:
            placed = contract_part((tensor,), (labels,), output, lengths)
            return reshape(placed, [lengths[i] for i in shape])

        core = moved(self.core, inner, [*stack, *left, *above], matrices)
        terms = ([*stack, "column", "row"], given)
        x = contract_part((inv(core), moved(right, rows, rows_last, given)), terms, found, lengths)
        x = reshape(x, [lengths[i] for i in columns_last])
        return contract_part((x,), (columns_last,), columns, lengths)

    def _indices(self) -> tuple[str, str]:
        """The indices of the core, and of H."""
        inner, _, outer = self.pattern.partition("->")
        return inner, outer

    def _check(self, name: str, tensor: Operand, axes: Sequence[int]) -> None:
        for own, axis in enumerate(axes):
            given, taken = shape_of(tensor)[own], self.shape[axis]
            if not same_length(given, taken):
                raise ShapeError(
                    f"{name} has length {given} on axis {own}, but axis {axis} of H has {taken}"
                )

    def __repr__(self) -> str:
        return f"Compressed({self.core!s:.200}, {self.pattern!r}, shape={self.shape})"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {latex(self.core)}\\quad\\texttt{{{self.pattern}}}$"


def compress(H: TensorLike) -> Compressed:
    """A tensor as a small core and the pattern that places its entries, where axes are equal.

    Raises
    ======

    UnsupportedError : no two axes are equal in all terms

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n, k = symbols("m n k", integer=True, positive=True)
    >>> T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
    >>> H = se.hessian(((T - U @ V.T) ** 2).sum(), U)
    >>> se.compress(H)
    Compressed(2*V.T @ V, 'ab->iaib', shape=(m, k, m, k))
    >>> B = se.TensorSymbol("B", m, k)
    >>> print(se.simplify(se.compress(H).solve(B)))
    B @ inv(V.T @ V)/2
    """
    tensor = as_operand(H)
    found = structure(tensor)
    if found is None:
        raise UnsupportedError(
            f"the tensor of shape {shape_of(tensor)} has no axes that are equal in all of its "
            "terms: it is dense, or its terms have different patterns; compute it as it is, or "
            "compress the terms of a sum one by one (.operands)"
        )
    return found


def structure(tensor: Operand) -> Compressed | None:
    """What ``compress`` finds, or None."""
    axes = range(order_of(tensor))
    labels = _equal_axes(tensor)
    if not isinstance(tensor, TensorExpr) or labels == [*axes]:
        return None
    distinct = [*dict.fromkeys(labels)]
    repeated = [i for i in distinct if labels.count(i) > 1]
    single = [i for i in distinct if i not in repeated]
    letters = {i: index_letter(k) for k, i in enumerate(repeated)}
    letters |= {i: index_letter(max(LETTERS, len(repeated)) + k) for k, i in enumerate(single)}
    core = simplify(_on_diagonals(tensor, labels))
    kept = axes_with_entries([core])
    (short,) = on_axes([core], kept) if len(kept) < core.order else (core,)
    inner = "".join([letters[distinct[k]] for k in kept])
    return Compressed(short, f"{inner}->{''.join(letters[i] for i in labels)}", tensor.shape)


def _equal_axes(tensor: Operand) -> list[int]:
    """For each axis the first one that it is equal to in every term: entries elsewhere are 0."""
    found: dict[Operand, list[int]] = {}
    for node in postorder([tensor], _terms):
        if isinstance(node, TensorAdd):
            keys: list[Hashable] = [*zip(*[found[term] for term in node.operands], strict=True)]
        elif isinstance(node, View):
            merged: dict[int, int] = {}
            for core in _terms(node):
                own = node.subscripts[-1]
                for axis, first in enumerate(found[core]):
                    unite(merged, own[first], own[axis])
            keys = [representative(merged, i) for i in node.output]
        else:
            keys = [*range(order_of(node))]
        found[node] = [keys.index(key) for key in keys]
    return found[tensor]


def _terms(node: Operand) -> Sequence[Operand]:
    """What is looked at below a node."""
    if isinstance(node, View):
        return () if node.core is None else (node.core,)
    return node.operands if isinstance(node, TensorAdd) else ()


def _on_diagonals(tensor: TensorExpr, labels: Sequence[int]) -> Operand:
    """The entries where axes with one label are equal, each label once."""
    terms = tensor.operands if isinstance(tensor, TensorAdd) else (tensor,)
    lengths = {i: tensor.shape[i] for i in labels}
    output = [*dict.fromkeys(labels)]
    return total_of([contract((term,), (labels,), output, lengths) for term in terms])
