"""Products of matrices in the association that contains others which are computed anyway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product as combinations
from typing import NamedTuple

from sympy import Basic, Expr

from ..analysis import SPECIAL, is_symmetric
from ..contraction_order import (
    Factor,
    KnownProducts,
    contraction_cost,
    nominal_length,
    replace_product,
)
from ..core import Indices, children, postorder, transform, tuning
from ..expressions import Einsum, Operand, contract_part, inline_products, order_of, rebuild


def with_shared_products(exprs: Sequence[Operand], given: Sequence[Operand] = ()) -> list[Operand]:
    """Write products of matrices such that they contain others, of these or of the ``given``
    expressions, that are computed anyway: beside B @ C, A @ (B @ C) instead of (A @ B) @ C.

    >>> import sympy_einsum as se
    >>> A, B, C, D = se.tensors("A B C D", 9, 9)
    >>> one, other = with_shared_products([(B @ C) @ D, (A @ B) @ C])
    >>> other is A @ (B @ C)
    True
    """
    search = _SharedProducts(exprs, given)
    return transform(exprs, search.visit, search.below)


class _Form(NamedTuple):
    """A product of factors: their nodes, their indices, and the lengths of these."""

    operands: Sequence[Operand]
    subscripts: Sequence[Indices]
    lengths: Mapping[int, Expr]

    def cost(self, output: Indices) -> int:
        """Return the cost in the best order."""
        number: dict[int, int] = {}
        terms = [tuple([number.setdefault(i, len(number)) for i in own]) for own in self.subscripts]
        sizes = tuple([(k, nominal_length(self.lengths[i])) for i, k in number.items()])
        return contraction_cost(tuple(terms), tuple([number[i] for i in output]), sizes)


class _SharedProducts:
    """The search for products within others, in graphs that are walked from the leaves up."""

    def __init__(self, exprs: Sequence[Operand], given: Sequence[Operand]):
        order = postorder([*given, *exprs])
        self._given = {*postorder(given)}
        self._uses = Counter(child for node in order for child in children(node))
        self._uses.update([*given, *exprs])
        own = [node for node in order if node not in self._given]
        self._factors = {child for node in own for child in children(node)}
        self._numbers: dict[Basic, int] = {}
        self._nodes: list[Operand] = []
        self._known = KnownProducts()
        self._found: dict[Basic, _Form] = {}
        for node in filter(_is_matrix_product, order):
            if node not in self._given:
                self._find_form(node)
            if len(node.operands) == 2:
                self._add(node)

    def below(self, node: Operand) -> Sequence[Operand]:
        """Return the factors of a product as it is written, the children of another node."""
        return self._found[node].operands if node in self._found else children(node)

    def visit(self, node: Operand, operands: Sequence[Operand]) -> Operand:
        """Return a node on other operands, a product as it is written."""
        if node not in self._found:
            return rebuild(node, tuple(operands))
        form = self._found[node]
        return contract_part(operands, form.subscripts, node.output, form.lengths)

    def _find_form(self, node: Einsum) -> None:
        """Find the cheapest form of a product that contains another one. One that costs no more is
        taken instead of a shared factor where that other one is a factor elsewhere: both terms of
        a sum may then have it."""
        within = self._inlined_below(node, lambda inner: self._uses[inner] == 1)
        every = within | self._inlined_below(node, lambda inner: inner in node.operands)
        whole = _inlined(node, within)
        least = whole.cost(node.output)
        for form, own in ((whole, within), (_inlined(node, every), every)):
            for product in self._matching(form, node.output, own):
                price = product.cost(node.output)
                spares = own is every and product.operands[0] in self._factors
                if price < least or (spares and price == least):
                    self._found[node], least = product, price

    def _inlined_below(self, node: Einsum, chosen: Callable[[Basic], bool]) -> set[Basic]:
        """Return the products below a product that are chosen for being inlined, no more of them
        than forms may have factors."""
        found: list[Basic] = [node]
        for own in found:
            products = [k for k in children(own) if k not in self._given and _is_matrix_product(k)]
            room = tuning.MAX_REPEATED_OPERANDS - len(found)
            found += [k for k in products if chosen(k) and k not in found][:room]
        return {*found[1:]}

    def _matching(self, form: _Form, output: Indices, within: Collection[Basic]) -> Iterator[_Form]:
        """Yield the forms of a product that have a known product, none of those ``within``, as
        their first factor."""
        if not 2 < len(form.operands) <= tuning.MAX_REPEATED_OPERANDS:
            return
        pairs = zip(form.operands, form.subscripts, strict=True)
        factors = [Factor(self._number(operand), labels) for operand, labels in pairs]
        for known in self._known.among(factors):
            found = None
            if self._nodes[known.value] not in within:
                found = replace_product(factors, known, output)
            if found is not None:
                operands = [self._nodes[factor.value] for factor in found]
                yield _Form(operands, [factor.labels for factor in found], form.lengths)

    def _add(self, node: Einsum) -> None:
        """Add a product of two factors, with symmetric ones in both orders of their axes."""
        orders = [
            [labels, labels[::-1]] if order_of(own) == 2 and is_symmetric(own) else [labels]
            for own, labels in zip(node.operands, node.subscripts, strict=True)
        ]
        for subscripts in combinations(*orders):
            product = Factor(self._number(node), node.output)
            pairs = zip(node.operands, subscripts, strict=True)
            product.parts = tuple([Factor(self._number(own), labels) for own, labels in pairs])
            self._known.add(product)

    def _number(self, node: Operand) -> int:
        if node not in self._numbers:
            self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
        return self._numbers[node]


def _inlined(node: Einsum, within: Collection[Basic]) -> _Form:
    """Return a product with some products below it inlined."""
    lengths = dict(enumerate(node.lengths))
    return _Form(
        *inline_products(node.operands, node.subscripts, lengths, lambda inner, _: inner in within)
    )


def _is_matrix_product(node: Basic) -> bool:
    """Tell whether a node is a matrix that is a product of tensors."""
    if type(node) is not Einsum or node.order != 2 or not all(node.subscripts):
        return False
    return not any(isinstance(own, SPECIAL) for own in node.operands)
