"""Products in the form that rules work on: factors with labels, inlined.

A :class:`Product` is one einsum, its scalar factors separate, with the dense products among its
operands inlined (denesting [W, thm 6.5]: in our graphs the inner output indices are distinct and
every inner index gets a name of its own, so the index-symbol graph has no edges to merge along).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sympy import Expr, S

from ..core import once, postorder, tuning
from ..expressions import (
    Einsum,
    Fourier,
    Operand,
    TensorAdd,
    Unit,
    View,
    contract,
    contract_part,
    inline_products,
    is_slice,
    is_tensor,
    is_window,
    memoised,
    representative,
    split_coefficient,
    unite,
)
from .cost_model import cost

# Nodes that aren't inlined, and sums up to their signs.
Barriers: TypeAlias = Container[Operand]
# The terms of a sum, the same for its opposite, and which of the two it is.
UpToSign: TypeAlias = tuple[tuple[tuple[Operand, Expr], ...], bool]


@memoised
def up_to_sign(total: TensorAdd) -> UpToSign:
    """Return a sum in a form that shows whether another is its opposite, without building that."""
    parts = [split_coefficient(term) for term in total.operands]
    is_opposite = bool(parts[0][0].is_negative)
    return tuple(
        [(core, -number if is_opposite else number) for number, core in parts]
    ), is_opposite


def opposite_of(total: Operand) -> UpToSign:
    """Return the opposite of a sum in the form of ``up_to_sign``."""
    terms, is_opposite = up_to_sign(total)
    return terms, not is_opposite


@memoised
def is_difference_of_rows(total: TensorAdd) -> bool:
    """Tell whether a sum has terms of both signs, each repeated along an axis, as X_i - X_j has:
    where they are equal they cancel without rounding, which what is computed from one of them
    doesn't."""
    parts = [split_coefficient(term) for term in total.operands]
    if len({bool(number.is_negative) for number, _ in parts}) == 1:
        return False
    return all(isinstance(core, Einsum) and _is_repeated(core) for _, core in parts)


def _is_repeated(node: Einsum) -> bool:
    """Tell whether a product has axes along which nothing changes, and others."""
    present = {i for labels in node.subscripts for i in labels}
    return bool(present) and not {*node.output} <= present


class Surroundings:
    """The graph around a node, as rules may query it: which dense products are barriers, since
    others use them too, and which sums occur, up to sign. Answers are recorded as dependencies,
    and inlined products are cached."""

    def __init__(self, barriers: Iterable[Operand] = ()):
        self.barriers: set[Hashable] = set()
        for node in barriers:
            self.add_barrier(node)
        self.forget()

    def add_barrier(self, node: Operand) -> None:
        """Make a node a barrier, which isn't inlined."""
        self.barriers.add(node)
        if isinstance(node, TensorAdd):
            self.barriers.add(up_to_sign(node))

    def forget(self) -> None:
        """Clear the recorded dependencies and the cache, for another node."""
        self.present: set[Hashable] = set()
        self.absent: set[Hashable] = set()
        self.products: dict[Operand, Product] = {}

    def __contains__(self, node: Hashable) -> bool:
        found = node in self.barriers
        (self.present if found else self.absent).add(node)
        return found


@dataclass(frozen=True)
class Product:
    """Scalars times an einsum of tensors."""

    scalars: tuple[Operand, ...]
    operands: tuple[Operand, ...]
    subscripts: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    lengths: dict[int, Expr]

    @once
    def counts(self) -> Counter[int]:
        """The number of occurrences of each label, in operands and output."""
        return Counter([i for term in (*self.subscripts, self.output) for i in term])

    def is_private(self, labels: Collection[int], group: Collection[int]) -> bool:
        """Tell whether labels occur in a group of operands only."""
        others = [term for k, term in enumerate(self.subscripts) if k not in group]
        return not any(i in labels for term in (*others, self.output) for i in term)

    def replaced(
        self,
        gone: Collection[int],
        new: Sequence[tuple[Operand, Sequence[int]]] = (),
        absorbed: Collection[int] = (),
    ) -> Product:
        """Return the product with some operands taken out and others put in. A label that then
        stands on ones alone gives its length if it is summed, unless the new operands account for
        it."""
        kept = [k for k in range(len(self.operands)) if k not in gone]
        operands = [self.operands[k] for k in kept] + [tensor for tensor, _ in new]
        subscripts = [self.subscripts[k] for k in kept] + [tuple(labels) for _, labels in new]
        before = {i for term in self.subscripts for i in term}
        present = {i for term in subscripts for i in term}
        lost = [
            self.lengths[i]
            for i in sorted(before - present)
            if i not in self.output and i not in absorbed
        ]
        return replace(
            self,
            scalars=(*self.scalars, *lost),
            operands=tuple(operands),
            subscripts=tuple(subscripts),
        )

    def build(self) -> Operand:
        """Return the canonical expression."""
        return self.part(range(len(self.operands)), self.output, self.scalars)

    def split(self) -> Operand:
        """Return the canonical expression with the components connected with no output index as
        scalar factors; None without any."""
        scalars = list(self.scalars)
        kept: list[int] = []
        for part in components(self.subscripts):
            is_connected = any(i in self.output for k in part for i in self.subscripts[k])
            if is_connected or len(part) == len(self.operands):
                kept.extend(part)
            else:
                scalars.append(self.part(part, ()))
        if len(kept) == len(self.operands):
            return None
        return self.part(sorted(kept), self.output, scalars)

    def part(
        self, places: Sequence[int], output: Sequence[int], scalars: Sequence[Operand] = ()
    ) -> Operand:
        """Return the product of some operands, and of scalars."""
        subscripts = [self.subscripts[k] for k in places]
        return contract_part(
            [*scalars, *[self.operands[k] for k in places]],
            [*[()] * len(scalars), *subscripts],
            output,
            self.lengths,
        )


def components(subscripts: Sequence[Collection[int]]) -> list[list[int]]:
    """Return groups of operands connected by indices, by number."""
    terms = iter(subscripts)
    reached = set(next(terms, ()))
    for term in terms:
        if reached.isdisjoint(term):
            break
        reached.update(term)
    else:  # mostly each is connected with those before
        return [[*range(len(subscripts))]] if subscripts else []
    merged: dict[int, int] = {}
    first: dict[int, int] = {}
    for k, term in enumerate(subscripts):
        for label in term:
            unite(merged, first.setdefault(label, k), k)
    groups: dict[int, list[int]] = {}
    for k in range(len(subscripts)):
        groups.setdefault(representative(merged, k), []).append(k)
    return list(groups.values())


def inlined_product(node: Operand, barriers: Barriers = ()) -> Product:
    """Return a tensor expression as a product; another node is its own only operand. Dense products
    inside are inlined unless they are ``barriers`` or occur twice, as in the square (A x)·(A x)."""
    if not isinstance(barriers, Surroundings):
        return _inlined(node, barriers)
    if node not in barriers.products:
        barriers.products[node] = _inlined(node, barriers)
    return barriers.products[node]


def _inlined(node: Operand, barriers: Barriers) -> Product:
    if isinstance(node, View):
        scalars, operands = node.scalars, node.operands[len(node.scalars) :]
        subscripts = list(node.subscripts[len(scalars) :])
        output, lengths = node.output, dict(enumerate(node.lengths))
    elif isinstance(node, Einsum) and any(node.subscripts):
        scalars, operands, subscripts = (), node.operands, list(node.subscripts)
        output, lengths = node.output, dict(enumerate(node.lengths))
    else:
        axes = tuple(range(node.order))
        scalars, operands, subscripts = (), (node,), [axes]
        output, lengths = axes, dict(enumerate(node.shape))
    if Einsum not in map(type, operands):
        return Product(scalars, operands, tuple(subscripts), output, lengths)
    by_node = barriers == ()  # the result doesn't depend on the context
    if by_node and "written out" in node.memory:
        return node.memory["written out"]
    pending, subscripts, lengths = inline_products(
        operands,
        subscripts,
        lengths,
        lambda inner, others: type(inner) is Einsum and is_inlined(inner, others, barriers),
    )
    product = Product(scalars, tuple(pending), tuple(subscripts), output, lengths)
    if by_node:
        node.memory["written out"] = product
    return product


def factors_of(node: Operand) -> tuple[Operand, ...]:
    """Return the operands of a product, those of the product below for a rearranged one."""
    core = node.core if isinstance(node, View) else None
    return core.operands if type(core) is Einsum else node.operands


def is_inlined(inner: Operand, operands: Sequence[Operand], barriers: Barriers) -> bool:
    """Tell whether an operand is a dense product that is inlined among these operands."""
    if (
        type(inner) is not Einsum
        or len(operands) - 1 + len(inner.operands) > tuning.MAX_INLINED_OPERANDS
    ):
        return False
    # Nodes are compared by what they are, in C.
    is_repeated = [*map(id, operands)].count(id(inner)) > 1
    if is_repeated or not any(inner.subscripts) or inner in barriers:
        return False
    is_barrier = _is_barrier(inner)
    if is_barrier is None:
        # One part of a DFT basis is a matrix, where a transform gives both.
        return not any(isinstance(operand, Unit) for operand in operands)
    return not is_barrier


@memoised
def _is_barrier(product: Einsum) -> bool | None:
    """Tell whether a product is never inlined, such as a slice; None for one with a DFT basis."""
    if any(isinstance(operand, Fourier) for operand in product.operands):
        return None
    positions = [operand for operand in product.operands if operand.is_affine_selector]
    return bool(positions) and (any(map(is_window, positions)) or is_slice(product))


def frontier(products: Iterable[Product]) -> set[Operand]:
    """Return the operands of products: two forms are compared down to these."""
    found: set[Operand] = set()
    for product in products:
        found.update(product.operands)
        for operand in product.operands:
            if isinstance(operand, TensorAdd):  # its terms occur where a sum absorbs it
                cores = [(term, getattr(term, "core", None)) for term in operand.operands]
                found.update(term if core is None else core for term, core in cores)
        scalars = postorder(product.scalars, lambda n: () if hasattr(n, "operands") else n.args)
        found.update(node for node in scalars if hasattr(node, "operands"))
    return found


def pays(new: Operand, node: Operand, barriers: Barriers, made: Collection[Operand] = ()) -> bool:
    """Tell whether the result of a rule for a product, inlined however far, costs no more; barrier
    nodes are free, and so are the operands of the product except those in ``made``."""
    known = (
        frontier([inlined_product(node)])
        .difference(made)
        .union(o for o in node.operands if o in barriers)
    )
    return cost([new], known) <= cost([node], known)


def distributed(
    product: Product, max_terms: int, selects: Callable[[Operand], bool] = lambda total: True
) -> list[Product] | None:
    """Return the product multiplied out over the sums among its operands that are wanted, or None
    if there is none, or if that gives too many terms."""
    terms = [product]
    for k, operand in enumerate(product.operands):
        if not isinstance(operand, TensorAdd) or not selects(operand):
            continue
        if len(terms) * len(operand.operands) > max_terms:
            return None
        terms = [
            replace(term, operands=(*term.operands[:k], inner, *term.operands[k + 1 :]))
            for term in terms
            for inner in operand.operands
        ]
    return terms if len(terms) > 1 else None


def times_entries(factors: Sequence[Operand], like: Operand) -> Operand:
    """Return the product, entry by entry, of scalars and of tensors of the shape of another."""
    axes = range(like.order)
    labels = [axes if is_tensor(factor) else () for factor in factors]
    return contract(factors, labels, axes, dict(enumerate(like.shape)))


def with_common_output(product: Product) -> Product:
    """Rename labels so that the output is 0, 1, …; an output with repeats stays."""
    rename = {label: -1 - k for k, label in enumerate(product.lengths)}
    for axis, label in enumerate(product.output):
        if product.output.count(label) == 1:
            rename[label] = axis
    return Product(
        product.scalars,
        product.operands,
        tuple(tuple(rename[i] for i in term) for term in product.subscripts),
        tuple(rename[i] for i in product.output),
        {rename[i]: n for i, n in product.lengths.items()},
    )


def as_powers(tensor: Operand) -> Mapping[Operand, Expr]:
    """Return the bases of a factor with their exponents; powers of products have several."""
    base, exponent = tensor.as_entry_power()
    if not exponent.is_Integer or type(base) is not Einsum or {*base.subscripts} != {base.output}:
        return {base: exponent}
    inner = _powers_in(base)
    return inner if exponent is S.One else {b: e * exponent for b, e in inner.items()}


@memoised
def _powers_in(product: Einsum) -> Mapping[Operand, Expr]:
    """Return the bases of a product entry by entry, with their exponents."""
    powers: dict[Operand, Expr] = {}
    for factor in product.operands:
        base, exponent = factor.as_entry_power()
        powers[base] = powers.get(base, S.Zero) + exponent
    return powers


def scalar_and_tensor(term: Operand) -> tuple[Expr, Operand]:
    """Return the product of the scalar factors of a term, and the rest."""
    number, rest = split_coefficient(term)
    if isinstance(rest, View) and rest.scalars and rest.core is not None:
        for scalar in rest.scalars:
            number *= scalar
        rest = Einsum._build(rest.operands[-1:], (rest.subscripts[-1:], rest.output, rest.lengths))
    return number, rest


def like_terms(terms: Sequence[Operand]) -> dict[Operand, Operand]:
    """Collect the scalar factors of terms with equal tensors, or opposite sums."""
    collected: dict[Operand, Operand] = {}
    sums: dict[UpToSign, Operand] = {}
    for term in terms:
        number, rest = scalar_and_tensor(term)
        if isinstance(rest, TensorAdd) and rest not in collected:
            opposite = sums.get(opposite_of(rest))
            if opposite is None:
                sums[up_to_sign(rest)] = rest
            else:
                number, rest = -number, opposite
        collected[rest] = collected.get(rest, S.Zero) + number
    return collected
