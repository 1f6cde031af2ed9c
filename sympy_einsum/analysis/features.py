"""Features of nodes, by which rules are looked up: types of nodes and of functions, and a few words
for properties of several operands together.

A node is searched once, as far as its rules look, and not further.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from sympy import Basic, Expr, Mul, S

from ..core import cached, postorder, tuning
from ..expressions import (
    Einsum,
    Elementwise,
    HalfPower,
    Inv,
    LeviCivita,
    Operand,
    StackFunction,
    TensorAdd,
    TensorExpr,
    View,
    split_coefficient,
)
from .inlined_products import (
    Barriers,
    as_powers,
    components,
    inlined_product,
    scalar_and_tensor,
)
from .properties import has_declared_symmetry, has_symmetry, is_symmetric

# An operand is inlined, a base or an operand occurs twice, operands aren't connected, a matrix is
# known to be symmetric, a divisor is a product.
NESTED, SQUARE, REPEATED, PAIRS, SHARED = "nested", "square", "repeated", "pairs", "shared"
DISCONNECTED, SYMMETRIC, DIAGONAL, QUOTIENT = "disconnected", "symmetric", "diagonal", "quotient"

Feature = type | str
Features = Collection[Feature]


@cached(4096)
def functions_of(body: Expr) -> frozenset[type]:
    """Return the types of the parts of a scalar expression."""
    return frozenset([type(part) for part in postorder([body])])


def _functions_near(roots: Collection[TensorExpr]) -> frozenset[Feature]:
    """Collect the functions in nodes and their entrywise operands, a few levels down."""
    for root in roots:
        if "near" not in root.memory:
            _find_functions(root)
    none: frozenset[Feature] = frozenset()
    return none.union(*[root.memory["near"][-1] for root in roots])


def _find_functions(root: TensorExpr) -> None:
    """Keep at the nodes the functions in each, those one level down too, and so on, until there
    are no more."""
    below: dict[TensorExpr, list[TensorExpr]] = {}

    def unknown(node: TensorExpr) -> list[TensorExpr]:
        below[node] = _entry_operands(node)
        return [operand for operand in below[node] if "near" not in operand.memory]

    # Those below are mostly known: then there is nothing to walk over.
    for node in postorder([root], unknown) if unknown(root) else (root,):
        own = functions_of(node.body) if isinstance(node, Elementwise) else frozenset()
        inside = frozenset([operand.memory["near"] for operand in below[node]])
        node.memory["near"] = _levels(own, inside)


@cached(4096)
def _levels(
    own: frozenset[type], inside: frozenset[tuple[frozenset[type], ...]]
) -> tuple[frozenset[type], ...]:
    """Return the functions in a node down to each level, given those in its operands."""
    levels = [own]
    # Numeric factors stand between the levels.
    for k in range(min(2 * tuning.STABLE_LEVELS - 1, max(map(len, inside)))) if inside else ():
        levels.append(own.union(*[known[min(k, len(known) - 1)] for known in inside]))
    while len(levels) > 1 and levels[-1] == levels[-2]:
        levels.pop()
    return tuple(levels)


def _entry_operands(node: TensorExpr) -> list[TensorExpr]:
    """Return the entrywise operands of a node that are entrywise themselves."""
    if isinstance(node, View):
        below = node.operands[-1:]
    elif isinstance(node, TensorAdd):
        below = node.operands[: tuning.STABLE_TERMS + 1]
    else:
        below = node.operands if _is_by_entries(node) else ()
    return [operand for operand in below if _is_by_entries(operand)]


def _is_by_entries(node: Operand) -> bool:
    if type(node) is Einsum:
        return set(node.subscripts) == {node.output}
    return isinstance(node, (Elementwise, TensorAdd, View))


_IN_PRODUCTS = (StackFunction, Inv, LeviCivita, HalfPower)


def functions_below(product: Einsum) -> frozenset[Feature]:
    """Return the functions, functions of matrices and antisymmetric tensors in a product and the
    products in it, at whatever depth; kept at the nodes."""

    def unknown(node: Einsum) -> list[Einsum]:
        inside = [o for o in node.operands if isinstance(o, Einsum)]
        return [o for o in inside if "functions" not in o.memory]

    for node in postorder([product], unknown) if "functions" not in product.memory else ():
        entrywise = [o for o in node.operands if isinstance(o, (Elementwise, TensorAdd))]
        inside = [o.memory["functions"] for o in node.operands if isinstance(o, Einsum)]
        factors = [own for o in node.operands for own in Mul.make_args(o)]
        own = {type(factor) for factor in factors if isinstance(factor, _IN_PRODUCTS)}
        node.memory["functions"] = _functions_near(entrywise).union(own, *inside)
    return product.memory["functions"]


def is_denominator(operand: Operand) -> bool:
    """Tell whether a factor is a negative power of a product or of a multiple of one."""
    if not isinstance(operand, Elementwise):
        return False
    base, exponent = operand.as_entry_power()
    if not exponent.is_number or not exponent.is_negative:
        return False
    return type(scalar_and_tensor(base)[1]) is Einsum


def _bare(base: Operand) -> Operand:
    """Return the tensor of a multiple or of a diagonal."""
    if isinstance(base, View) and base.core is not None and len({*base.subscripts[-1]}) == 1:
        return base.core
    return scalar_and_tensor(base)[1]


def _of_product(node: Einsum, around: Barriers) -> Features:
    product = inlined_product(node, around)
    operands = product.operands
    nested = [own for own in node.operands if type(own) is Einsum]
    inside = [o for own in nested for o in own.operands]
    found: set[Feature] = {type(operand) for operand in (*node.operands, *operands, *inside)}
    by_entries = [o for o in operands if isinstance(o, (Elementwise, TensorAdd))]
    if by_entries:
        found |= _functions_near(by_entries)
    everything = {*operands, *inside} if inside else operands
    if Elementwise in found and any(map(is_denominator, everything)):
        found.add(QUOTIENT)
    bases: list[Operand] = []
    for operand in operands:
        base, exponent = operand.as_entry_power()
        bases.extend(as_powers(operand) if type(base) is Einsum else (_bare(base),))
        if exponent is not S.One and exponent == 2:
            found.add(SQUARE)
    if len(set(bases)) < len(bases):
        found.add(REPEATED)
    if len(set(node.operands)) < len(node.operands) - 1:
        found.add(PAIRS)
    if nested and operands != node.operands:
        found.add(NESTED)
    output = set(product.output)
    is_connected = all(map(output.intersection, product.subscripts))
    if not is_connected and len(operands) > 1 and len(components(product.subscripts)) > 1:
        found.add(DISCONNECTED)
    # Transposing one of many entrywise factors gains nothing, nor does it in a square.
    is_by_entries = {*node.subscripts} == {node.output}
    is_long = len(node.operands) > 2 or len({*node.operands}) == 1
    if not (is_by_entries and is_long) and any(map(has_symmetry, node.operands)):
        found.add(SYMMETRIC)
    return found


def _of_view(node: View, around: Barriers) -> Features:
    core = node.core
    if core is None:
        return ()
    operands = inlined_product(node, around).operands
    found: set[Feature] = {type(core), *map(type, operands)}
    found |= _functions_near([o for o in operands if isinstance(o, Elementwise)])
    if len(set(node.subscripts[-1])) < core.order:
        found.add(DIAGONAL)
    own, output = node.subscripts[-1], node.output
    is_transposed = core.order == 2 and output.index(own[0]) > output.index(own[1])
    if (is_transposed and is_symmetric(core)) or (
        type(core) is Einsum and has_declared_symmetry(core)
    ):
        found.add(SYMMETRIC)
    return found


def _of_elementwise(node: Elementwise, around: Barriers) -> Features:
    found: set[Feature] = {type(operand) for operand in node.operands}
    found |= _functions_near([node])
    return found


def _of_sum(node: TensorAdd, around: Barriers) -> Features:
    cores = [split_coefficient(term)[1] for term in node.operands[: tuning.STABLE_TERMS + 1]]
    found: set[Feature] = {*map(type, node.operands), *map(type, cores)}
    near = [*cores]
    seen: list[Operand] = []
    for core in cores:
        found.update(map(type, getattr(core, "operands", ())))
        if isinstance(core, Einsum):
            inner = inlined_product(core).operands
            found.update(map(type, inner))
            near += [o for o in inner if isinstance(o, Elementwise)]
            seen += {*inlined_product(core, around).operands}
        else:
            seen.append(core)
    found |= _functions_near(near)
    if len({*seen}) < len(seen):
        found.add(SHARED)
    return found


def _of_scalar(node: Basic, around: Barriers) -> Features:
    """Return the types of the parts of a stock scalar, as deep as the stable forms; long products
    are no part of any."""
    found: set[Feature] = {type(node)}
    level: Collection[Operand] = (
        node.args if len(node.args) <= tuning.STABLE_TERMS or node.is_Add else ()
    )
    for _ in range(tuning.STABLE_FORM_DEPTH):
        found.update(map(type, level))
        small = [
            p for p in level if not isinstance(p, TensorExpr) and len(p.args) <= tuning.STABLE_TERMS
        ]
        level = {arg for part in small for arg in part.args}
    return found


_SEARCH: tuple[tuple[type, Callable[[Any, Barriers], Features]], ...] = (
    (View, _of_view),
    (Einsum, _of_product),
    (Elementwise, _of_elementwise),
    (TensorAdd, _of_sum),
    (TensorExpr, lambda node, around: {type(operand) for operand in node.operands}),
    (Basic, _of_scalar),
)


_search_of: dict[type, Callable[[Any, Barriers], Features]] = {}


def features(node: Operand, around: Barriers) -> Features:
    """Return the features of a node."""
    kind = type(node)
    if kind not in _search_of:
        _search_of[kind] = next(search for base, search in _SEARCH if issubclass(kind, base))
    return _search_of[kind](node, around)
