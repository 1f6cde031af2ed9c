"""Queries of expression graphs: tensors, types of nodes, free symbols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sympy import Basic, Expr, Lambda
from sympy.core.function import AppliedUndef

from ..core import Shape, TensorError, cached, children, has_shape, postorder, tuning
from .interning import Data, Node, data_expressions
from .scalar_lambdas import Slot

# Attributes of SymPy's classes that have components or take an index.
_NON_SCALAR_ATTRIBUTES = ("_expr_type", "__getitem__")

# A node of a flattened graph: itself, or its class, the numbers of its operands, and its data.
Entry: TypeAlias = Basic | tuple[type, tuple[int, ...], Data | None]


def is_tensor(value: object) -> bool:
    """Tell whether a value has axes."""
    return isinstance(value, Node) and bool(value.shape)


def order_of(value: object) -> int:
    """Return the number of axes of an operand; SymPy scalars have none."""
    return value.order if isinstance(value, Node) else 0


def shape_of(value: object) -> Shape:
    """Return the shape of an operand; that of a SymPy scalar is ``()``."""
    return value.shape if isinstance(value, Node) else ()


def is_variable(node: Basic) -> bool:
    """Tell whether a stock scalar is its own free symbol: a symbol, an entry, a random variable."""
    return bool(node.is_symbol) and not isinstance(node, Node)


@lru_cache(maxsize=1024)
def _is_scalar(kind: type) -> bool:
    """Tell whether the instances of a SymPy class are scalar expressions."""
    has_components = any(hasattr(kind, name) for name in _NON_SCALAR_ATTRIBUTES)
    return issubclass(kind, Expr) and not issubclass(kind, Lambda) and not has_components


def is_noncommutative(value: object) -> bool:
    """Tell whether a value is a noncommutative SymPy expression without axes."""
    if not isinstance(value, Expr) or isinstance(value, (Node, Lambda)):
        return False
    return value.is_commutative is False and not has_shape(value)


def check_scalar(value: Basic) -> None:
    """Raise TensorError unless a SymPy expression is a commutative scalar."""
    kind: Any = type(value)
    if not _is_scalar(kind):
        raise TensorError(
            f"{str(value)[:80]}, of type {kind.__name__}, is no scalar; give its entries one by "
            "one, or a tensor expression"
        )
    if value.is_commutative is False:
        raise TensorError(
            f"{str(value)[:80]}, of type {kind.__name__}, doesn't commute, as entries of tensors "
            "do; keep it outside, beside scalars such as x @ x"
        )


def scalar_children(node: Basic) -> Sequence[Basic]:
    """Return the children for a walk through a stock scalar, which ends at tensors and at
    variables: the args of a variable are a name, lengths or a probability space."""
    return () if is_variable(node) else stock_children(node)


def stock_children(node: Basic) -> Sequence[Basic]:
    """Return the children for a walk through a stock expression, which ends at tensor
    expressions."""
    return () if isinstance(node, Node) else children(node)


def written_size(expr: Basic) -> int:
    """Count the nodes of a stock expression above tensors as a tree: shared ones once per
    occurrence."""
    sizes: dict[Basic, int] = {}
    for node in postorder([expr], stock_children):
        sizes[node] = 1 + sum([sizes[child] for child in stock_children(node)])
    return sizes[expr]


def outermost(expr: Basic) -> list[Node]:
    """Return the tensor expressions in a stock expression that aren't inside other ones."""
    return [node for node in postorder([expr], stock_children) if isinstance(node, Node)]


def kinds_in(root: Basic) -> frozenset[type]:
    """Return the types of all nodes of a graph, including those in lengths, positions and bodies.
    Memoised at the nodes, because printers query every scalar; equal sets are one object."""
    found: dict[Basic, frozenset[type]] = {}
    same: dict[frozenset[type], frozenset[type]] = {}

    def is_memoised(node: Basic) -> bool:
        return isinstance(node, Node) and node._kinds is not None

    for node in postorder([root], lambda n: () if is_memoised(n) else children(n)):
        if is_memoised(node):
            found[node] = node._kinds
            continue
        types = {type(node), node.__class__}
        if isinstance(node, Node):
            lengths = {*node.shape, *data_expressions(node.data)}
            inside = set[type]().union(*map(kinds_in, lengths))
            types |= {kind for kind in inside if not getattr(kind, "is_bound", False)}
        kinds = frozenset(types.union(*{found[child] for child in children(node)}))
        found[node] = same.setdefault(kinds, kinds)
        if isinstance(node, Node):
            node._kinds = found[node]
    return found[root]


@cached(1024)
def are_numeric(kinds: frozenset[type]) -> bool:
    """Tell whether types of nodes include neither symbols nor undefined functions."""
    return not any(
        issubclass(kind, AppliedUndef)
        or (getattr(kind, "is_symbol", False) and not issubclass(kind, Slot))
        for kind in kinds
    )


def is_literal(value: Basic) -> bool:
    """Tell whether a scalar is a number without tensor expressions inside."""
    return value.is_Number or bool(value.is_number and not outermost(value))


def free_leaves(*roots: Basic) -> frozenset[Basic]:
    """Return the free symbols of the graphs below some roots, visiting each distinct node once."""

    def is_leaf(node: Basic) -> bool:
        if isinstance(node, Node):
            return node._free is not None
        kind: Any = type(node)
        return not node.args or declares_free_symbols(kind)

    order = postorder(roots, lambda n: () if is_leaf(n) else children(n))
    total = _without_lengths({s for node in order for s in _own_leaves(node, is_leaf)})
    if len(total) <= tuning.MAX_KEPT_LEAVES:
        _cache_leaves(order, is_leaf)
    return total


@cached(1024)
def declares_free_symbols(cls: type) -> bool:
    """Tell whether a class defines ``free_symbols``, as classes with bound symbols do."""
    return next(c for c in cls.__mro__ if "free_symbols" in vars(c)) is not Basic


def free_symbols_of(root: Basic) -> set[Basic]:
    """Return the free symbols of a stock expression, visiting each distinct subexpression once."""
    found: set[Basic] = set()
    seen: set[Basic] = set()
    stack = [root]
    while stack:
        for arg in stack.pop().args:
            if arg in seen:
                continue
            seen.add(arg)
            kind: Any = type(arg)
            if declares_free_symbols(kind):
                found |= arg.free_symbols
            else:
                stack.append(arg)
    return found


def _own_leaves(node: Basic, is_leaf: Callable[[Basic], bool]) -> Collection[Basic]:
    """Return the free symbols that a node adds to those of its operands."""
    if not isinstance(node, Node):
        return node.free_symbols if is_leaf(node) else ()
    return node._own_symbols() if node._free is None else node._free


def _without_lengths(found: set[Basic]) -> frozenset[Basic]:
    """Remove the symbols in the axis lengths of the tensor symbols in a set."""
    tensors = [e for e in found if isinstance(e, Node)]
    return frozenset(found - {s for e in tensors for n in e.shape for s in n.atoms()})


def _cache_leaves(order: Sequence[Basic], is_leaf: Callable[[Basic], bool]) -> None:
    """Cache the free symbols at every node, so that later walks stop there. Nodes with the same
    symbols share one set."""
    raw: dict[Basic, frozenset[Basic]] = {}
    known: dict[frozenset[Basic], tuple[frozenset[Basic], frozenset[Basic]]] = {}
    for node in order:
        below = () if is_leaf(node) else children(node)
        found = frozenset(_own_leaves(node, is_leaf)).union(*[raw[child] for child in below])
        if found not in known:
            known[found] = found, _without_lengths(set(found))
        raw[node] = known[found][0]
        if isinstance(node, Node) and node._free is None:
            node._free = known[found][1]


def lengths_of(*leaves: Basic) -> frozenset[Basic]:
    """Return the symbols in the axis lengths of leaves, which aren't free symbols."""
    return frozenset({s for leaf in leaves for n in shape_of(leaf) for s in n.free_symbols})


def flatten(root: Expr) -> tuple[Entry, ...]:
    """Flatten a graph to a tuple in post-order, so that pickling it doesn't recurse."""
    number: dict[Basic, int] = {}
    entries: list[Entry] = []
    holds_tensor: set[Basic] = set()
    for node in postorder([root]):
        below = children(node)
        if isinstance(node, Node) or any(child in holds_tensor for child in below):
            holds_tensor.add(node)
    for node in postorder([root], lambda n: children(n) if n in holds_tensor else ()):
        number[node] = len(entries)
        if node not in holds_tensor:
            entries.append(node)
        else:
            below = tuple([number[child] for child in children(node)])
            data = node.data if isinstance(node, Node) else None
            entries.append((type(node) if isinstance(node, Node) else node.func, below, data))
    return tuple(entries)


def unflatten(entries: Sequence[Entry]) -> Expr:
    """Build an expression from the entries that ``repr`` and ``pickle`` write, operands first.

    Raises TensorError for anything else.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> function, (entries,) = se.sin(x).__reduce_ex__(4)
    >>> entries
    ((<class 'sympy_einsum.expressions.leaves.TensorSymbol'>, (), ('x', (3,), ())), (<class
    'sympy_einsum.expressions.entrywise.Elementwise'>, (0,), (sin(s0),)))
    >>> se.unflatten(entries) is se.sin(x)
    True
    """
    if (
        not isinstance(entries, (list, tuple))
        or not entries
        or any(isinstance(entry, tuple) and len(entry) != 3 for entry in entries)
    ):
        raise TensorError(f"unflatten takes what repr and pickle write, not {str(entries)[:80]!r}")
    nodes: list[Basic] = []
    for entry in entries:
        if not isinstance(entry, tuple):
            nodes.append(entry)
            continue
        kind, below, data = entry
        operands = tuple([nodes[i] for i in below])
        nodes.append(kind(*operands) if data is None else kind._build(operands, data))
    return nodes[-1]
