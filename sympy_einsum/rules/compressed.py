"""Tensors that are products of deltas and of something small, as Hessians often are: found and
computed with.

The structure is visible in normal forms: axes that one index of the output stands on are equal, and
factors that no index connects are those of a Kronecker product.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sympy import Abs, Expr, Mul, latex, log

from ..analysis import components, inlined_product
from ..core import Label, Shape, ShapeError, UnsupportedError, index_letter, same_length, same_shape
from ..expressions import (
    Operand,
    TensorAdd,
    TensorLike,
    apply_body,
    as_operand,
    contract,
    contract_part,
    drop_constant_axes,
    inv,
    is_tensor,
    logdet,
    order_of,
    reshape_node,
    scale,
    shape_of,
    slot,
    total_of,
    varying_axes,
)
from .equal_axes import equal_axes, lift_deltas, on_diagonal
from .normal_form import simplify

# Axes that are equal have letters from i on, the others from a on.
LETTERS = 18


@dataclass(frozen=True, repr=False)
class Compressed:
    """A tensor H whose entries are those of a small core, zero-padded and repeated;
    :func:`sympy_einsum.compress` finds it.

    The first half of its axes are rows, the second half columns, as in a Hessian.

    Attributes
    ==========

    core : the expression of what is stored; a tuple of some where H is their Kronecker product
    pattern : the index string that places it, ``"ab->iaib"``, or them, ``"ac,bd->abcd"``; indices
        that only the output has are axes of ones, or with others of their name deltas
    shape : the shape of H
    """

    core: Operand | tuple[Operand, ...]
    pattern: str
    shape: Shape

    @property
    def order(self) -> int:
        """The number of axes of H."""
        return len(self.shape)

    @property
    def cores(self) -> tuple[Operand, ...]:
        """The core, or the factors of the Kronecker product H."""
        return self.core if isinstance(self.core, tuple) else (self.core,)

    def to_dense(self) -> Operand:
        """Return H itself.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> H = se.hessian(se.exp(x).sum(), x)
        >>> se.compress(H).to_dense() == H
        True
        """
        inner, outer = self._indices()
        first, *others = self.cores
        terms = first.operands if isinstance(first, TensorAdd) else (first,)
        lengths = dict(zip(outer, self.shape, strict=True))
        return total_of([contract((term, *others), inner, outer, lengths) for term in terms])

    def matvec(self, v: TensorLike) -> Operand:
        """Return H times v, summed over the axes of v, the last ones of H, without building deltas.

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
        return contract((*self.cores, vector), (*inner, outer[rows:]), outer[:rows], lengths)

    def solve(self, b: TensorLike) -> Operand:
        """Return the x with H x = b, of the shape of the columns: a system for each core and each
        index that rows and columns share, or one with many right-hand sides if a core has no such
        index. Axes of b after those of the rows are other right-hand sides, as columns of b are for
        a matrix.

        Raises
        ======

        UnsupportedError : rows and columns don't pair up, or what is left of them isn't square
        ShapeError : the first axes of b aren't the rows

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
        self._check_pairs("solve")
        if order_of(right) < half:
            raise ShapeError(
                f"solve takes a tensor b whose first axes are {self.shape[:half]}, not one of "
                f"shape {shape_of(right)}"
            )
        self._check("b", right, range(half))
        others: dict[Label, Expr] = dict(enumerate(shape_of(right)[half:]))
        lone = {*outer}.difference(*inner)
        found, labels, lengths = right, [*rows, *others], self._lengths() | others
        for core, own in zip(self.cores, inner, strict=True):
            found, labels = self._solved(core, own, {*own} | lone, found, labels, lengths)
            lone = set()
        return contract_part((found,), (labels,), [*columns, *others], lengths)

    def diagonal(self) -> Operand:
        """Return the entries of H whose rows and columns are equal, of the shape of the rows.

        Raises
        ======

        UnsupportedError : rows and columns don't have the same lengths

        Examples
        ========

        >>> import sympy_einsum as se
        >>> X, U = se.TensorSymbol("X", 4, 2), se.TensorSymbol("U", 4, 3)
        >>> V = se.TensorSymbol("V", 2, 3)
        >>> H = se.compress(se.hessian(((X - U @ V.T) ** 2).sum(), U))
        >>> se.equal(H.diagonal(), 2 * se.broadcast_to((V**2).sum(axis=0), (4, 3)))
        True
        """
        inner, outer = self._indices()
        half = self.order // 2
        if self.order % 2 or not same_shape(self.shape[:half], self.shape[half:]):
            raise UnsupportedError(
                f"the diagonal takes rows and columns of the same lengths, not {self.shape[:half]} "
                f"and {self.shape[half:]}"
            )
        image = {i: i for i in outer}
        for row, column in zip(outer[:half], outer[half:], strict=True):
            kept, renamed = image[row], image[column]
            image = {i: kept if own == renamed else own for i, own in image.items()}
        lengths = {image[i]: n for i, n in zip(outer, self.shape, strict=True)}
        terms = [[image[i] for i in own] for own in inner]
        return contract(self.cores, terms, [image[i] for i in outer[:half]], lengths)

    def logdet(self) -> Operand:
        """Return the logarithm of the absolute value of the determinant, from those of the cores.

        Raises
        ======

        UnsupportedError : rows and columns don't pair up, or what is left of them isn't square

        Examples
        ========

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> H = se.compress(se.hessian(se.exp(x).sum(), x))
        >>> print(H.logdet())
        log(exp(x)).sum()
        """
        inner, outer = self._indices()
        half = self.order // 2
        self._check_pairs("logdet")
        lengths = self._lengths()
        lone = {*outer}.difference(*inner)
        total: list[Operand] = []
        for core, own in zip(self.cores, inner, strict=True):
            block = self._block("logdet", core, own, {*own} | lone)
            size = Mul(*[lengths[i] for i in {*outer[:half]}.difference(block.left, block.stack)])
            if block.left:
                logarithms = logdet(block.matrices)
            else:
                logarithms = apply_body(log(Abs(slot(0))), [block.matrices])
            axes = dict(enumerate(shape_of(logarithms)))
            total.append(scale(size, contract((logarithms,), ([*axes],), (), axes)))
            lone = set()
        return total_of(total)

    def _solved(
        self,
        core: Operand,
        inner: str,
        own: Collection[str],
        right: Operand,
        rows: list[Label],
        lengths: Mapping[Label, Expr],
    ) -> tuple[Operand, list[Label]]:
        """Return the solution for one core and its labels, of which those of the axes of the
        right-hand side that aren't shared become those of columns."""
        block = self._block("solve", core, inner, own)
        if not (block.left or block.above):
            inverse = apply_body(1 / slot(0), [core])
            return contract_part((inverse, right), (inner, rows), rows, lengths), rows
        left, above, stack = block.left, block.above, block.stack
        lengths = dict(lengths)
        lengths["row"] = Mul(*[lengths[i] for i in left])
        lengths["column"] = Mul(*[lengths[i] for i in above])
        free = [i for i in rows if i not in (*left, *stack)]
        # From the axes of b to a matrix for each index of the stack, and back to those of x.
        rows_last, columns_last = [*stack, *left, *free], [*stack, *above, *free]
        given, found = [*stack, "row", *free], [*stack, "column", *free]
        moved = contract_part((right,), (rows,), rows_last, lengths)
        columns = reshape_node(moved, [lengths[i] for i in given])
        terms = ([*stack, "column", "row"], given)
        x = contract_part((inv(block.matrices), columns), terms, found, lengths)
        return reshape_node(x, [lengths[i] for i in columns_last]), columns_last

    def _block(self, method: str, core: Operand, inner: str, own: Collection[str]) -> _Block:
        """Return a core as a matrix for each index that rows and columns share; ``own`` are the
        indices that belong to it."""
        outer, half = self._indices()[1], self.order // 2
        left = [i for i in outer[:half] if i in own and i not in outer[half:]]
        above = [i for i in outer[half:] if i in own and i not in outer[:half]]
        stack = [i for i in inner if i not in (*left, *above)]
        lengths = self._lengths()
        sizes = [Mul(*[lengths[i] for i in part]) for part in (left, above)]
        if not same_length(*sizes):
            raise UnsupportedError(
                f"{method} takes a square core, but there are {sizes[0]} rows {''.join(left)} and "
                f"{sizes[1]} columns {''.join(above)} in the pattern {self.pattern}"
            )
        if not (left or above):
            return _Block(core, left, above, stack)
        moved = contract_part((core,), (inner,), [*stack, *left, *above], lengths)
        shape = [*[lengths[i] for i in stack], *sizes]
        return _Block(reshape_node(moved, shape), left, above, stack)

    def _check_pairs(self, method: str) -> None:
        _, outer = self._indices()
        half = self.order // 2
        if self.order % 2 or len({*outer[:half]}) < half or len({*outer[half:]}) < half:
            raise UnsupportedError(
                f"{method} takes as many rows as columns, each with its own index, not "
                f"{outer[:half]} and {outer[half:]} of the pattern {self.pattern}"
            )

    def _lengths(self) -> dict[Label, Expr]:
        return dict(zip(self._indices()[1], self.shape, strict=True))

    def _indices(self) -> tuple[list[str], str]:
        """Return the indices of each core, and of H."""
        inner, _, outer = self.pattern.partition("->")
        return inner.split(","), outer

    def _check(self, name: str, tensor: Operand, axes: Sequence[int]) -> None:
        for own, axis in enumerate(axes):
            given, taken = shape_of(tensor)[own], self.shape[axis]
            if not same_length(given, taken):
                raise ShapeError(
                    f"{name} has length {given} on axis {own}, but axis {axis} of H has {taken}"
                )

    def __repr__(self) -> str:
        cores = " ⊗ ".join([f"{core!s:.200}" for core in self.cores])
        return f"Compressed({cores}, {self.pattern!r}, shape={self.shape})"

    def _repr_latex_(self) -> str:
        cores = r" \otimes ".join([latex(core) for core in self.cores])
        return f"$\\displaystyle {cores}\\quad\\texttt{{{self.pattern}}}$"


class _Block(NamedTuple):
    """A core as matrices: the indices of their rows, of their columns, and of the stack."""

    matrices: Operand
    left: list[str]
    above: list[str]
    stack: list[str]


def compress(H: TensorLike) -> Compressed:
    """Split a tensor into a small core and the pattern of equal axes that embeds it, or into the
    factors of a Kronecker product.

    Raises
    ======

    UnsupportedError : no two axes are equal in all terms, and it is no Kronecker product

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
    >>> C = se.TensorSymbol("C", k, k)
    >>> se.compress(se.hessian(((T - U @ C @ V.T) ** 2).sum(), C))
    Compressed(2*U.T @ U ⊗ V.T @ V, 'ac,bd->abcd', shape=(k, k, k, k))
    """
    tensor = as_operand(H)
    found = structure(tensor)
    if found is None:  # parts of a slice may be zero
        found = structure(simplify(tensor))
    if found is None:
        raise UnsupportedError(
            f"the tensor of shape {shape_of(tensor)} has no axes that are equal in all of its "
            "terms, and is no Kronecker product: it is dense, or its terms have different "
            "patterns; compute it as it is, compress the terms of a sum one by one (.operands), "
            "or, for a variable that is packed or reshaped, its part: "
            "H[:m*k, :m*k].reshape(m, k, m, k)"
        )
    return found


def structure(tensor: Operand) -> Compressed | None:
    """Find equal axes and Kronecker factors of a tensor; None without any."""
    (tensor,) = lift_deltas([tensor])
    if not is_tensor(tensor):
        return None
    labels = equal_axes(tensor)
    distinct = [*dict.fromkeys(labels)]
    repeated = [i for i in distinct if labels.count(i) > 1]
    single = [i for i in distinct if i not in repeated]
    letters = {i: index_letter(k) for k, i in enumerate(repeated)}
    letters |= {i: index_letter(max(LETTERS, len(repeated)) + k) for k, i in enumerate(single)}
    core = simplify(on_diagonal(labels, tensor)) if repeated else tensor
    kept = varying_axes([core])
    (short,) = drop_constant_axes([core], kept) if len(kept) < core.order else (core,)
    half = tensor.order // 2
    own = [letters[distinct[k]] for k in kept]
    outer = "".join([letters[i] for i in labels])
    parts = _kronecker_factors(short, own, outer[:half], outer[half:])
    if len(parts) == 1 and not repeated:
        return None
    cores = tuple([part for part, _ in parts])
    pattern = f"{','.join([inner for _, inner in parts])}->{outer}"
    return Compressed(cores if len(cores) > 1 else cores[0], pattern, tensor.shape)


def _kronecker_factors(
    core: Operand, labels: Sequence[str], rows: str, columns: str
) -> list[tuple[Operand, str]]:
    """Return the factors of a product that no index connects, with their labels, if each of them
    has rows and columns; else the whole."""
    whole = [(core, "".join(labels))]
    if not is_tensor(core) or len(rows) != len(columns):
        return whole
    product = inlined_product(core)
    parts: list[tuple[list[int], list[int]]] = []
    for group in components(product.subscripts):
        present = {i for k in group for i in product.subscripts[k]}
        axes = [axis for axis, i in enumerate(product.output) if i in present]
        own = {labels[axis] for axis in axes}
        if own.isdisjoint(rows) or own.isdisjoint(columns):
            return whole
        parts.append((axes, group))
    found: list[tuple[Operand, str]] = []
    for axes, group in sorted(parts):
        output = [product.output[axis] for axis in axes]
        factor = product.part(group, output, () if found else product.scalars)
        found.append((simplify(factor), "".join([labels[axis] for axis in axes])))
    return found if len(found) > 1 else whole
