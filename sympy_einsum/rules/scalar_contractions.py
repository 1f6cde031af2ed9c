"""Distribution of products without axes over sums whose terms are products: the trace of (X - u v')
M is that of X M less v' M u, and the sum is never built."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sympy import Add, Mul

from ..analysis import SPECIAL, Product, components, inlined_product
from ..core import children, has_more_nodes, postorder, tuning
from ..expressions import Einsum, Operand, TensorAdd, View, replace_nodes, tensor_sum


def distribute_scalar_contractions(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Distribute products without axes over sums whose terms are products, in their terms too,
    where nothing else needs the sums; return the same expressions if there are none.

    The rounding error stays of the same size: a term that is a product is rounded before it is
    added anyway. Other terms stay together, since they may cancel exactly; so does a product of
    two sums, whose terms might cancel in both.
    """
    if has_more_nodes(exprs, tuning.LARGE_GRAPH):
        return exprs
    order = postorder(exprs)
    private = _private_to_contractions(order, exprs)
    sums = {
        node
        for node in private
        if isinstance(node, TensorAdd) and any(map(_is_product, node.operands))
    }
    if not sums:
        return exprs
    distributor = _Distributor(sums, {*order} - private)
    rewritten = {node: distributor.distributed(node) for node in order if _is_scalar_product(node)}
    rewritten = {
        node: distributed for node, distributed in rewritten.items() if distributed is not node
    }
    return replace_nodes(exprs, rewritten) if rewritten else exprs


def _private_to_contractions(order: Sequence[Operand], exprs: Sequence[Operand]) -> set[Operand]:
    """Return the products without axes, and the products and sums that only these need."""
    public: set[Operand] = set(exprs)
    private: set[Operand] = set()
    for node in reversed(order):
        is_private = isinstance(node, (Einsum, View, TensorAdd)) and node not in public
        if is_private or _is_scalar_product(node):
            private.add(node)
        else:
            public.update(children(node))
    return private


def _is_scalar_product(node: Operand) -> bool:
    return type(node) is Einsum and not node.order and any(node.subscripts)


def _is_product(term: Operand) -> bool:
    """Tell whether a term is a product of several tensors, which aren't all of its own shape."""
    product = inlined_product(term)
    is_plain = not any(isinstance(operand, SPECIAL) for operand in product.operands)
    return is_plain and len({*product.subscripts}) > 1


class _Distributor:
    """Distributes products over sums; products in ``barriers`` aren't inlined."""

    def __init__(self, sums: Collection[Operand], barriers: set[Operand]):
        self.sums = sums
        self.barriers = barriers

    def distributed(self, node: Operand) -> Operand:
        """Return a product without axes as a sum of such products."""
        product = inlined_product(node, self.barriers)
        places = [k for k, operand in enumerate(product.operands) if operand in self.sums]
        if len(places) != 1 or any(isinstance(o, SPECIAL) for o in product.operands):
            return node
        (place,) = places
        total = product.operands[place]
        assert isinstance(total, TensorAdd)
        terms = [term for term in total.operands if _is_product(term)]
        rest = [term for term in total.operands if term not in terms]
        terms += [tensor_sum(rest)] if rest else []
        built = [self._times(term, product, place) for term in terms]
        return Add(*[Mul(*map(self._distributed_factor, Mul.make_args(term))) for term in built])

    def _distributed_factor(self, node: Operand) -> Operand:
        return self.distributed(node) if _is_scalar_product(node) else node

    def _times(self, term: Operand, product: Product, place: int) -> Operand:
        """Multiply by one term of a sum; an outer product enters as several factors."""
        labels = product.subscripts[place]
        inner = inlined_product(term, self.barriers)
        parts = components(inner.subscripts)
        if len(parts) < 2 or len({*inner.output}) < len(inner.output):
            operands = (*product.operands[:place], term, *product.operands[place + 1 :])
            return replace(product, operands=operands).build()
        rename = dict(zip(inner.output, labels, strict=True))
        factors = []
        for part in parts:
            own = [i for i in inner.output if any(i in inner.subscripts[k] for k in part)]
            factor = inner.part(part, own)
            self.barriers.add(factor)
            factors.append((factor, [rename[i] for i in own]))
        scaled = replace(product, scalars=(*product.scalars, *inner.scalars))
        return scaled.replaced([place], factors).build()
