"""The base class of tensor expressions: interned nodes of operands, static data and a shape.

Building a node twice returns the same object [L, §3.2.2], so equality is identity, common
subexpressions are shared and every pass is linear in the graph. All constructors end in
:meth:`Node._intern`.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from functools import wraps
from types import FunctionType
from typing import Any, ClassVar, Self, TypeAlias, TypeVar
from weakref import ref

from sympy import Basic, Expr, S

from ..core import LIVE, Shape, StockExpr, cached, data_digest, digest, text_digest, tuning

# The static data of a node besides its operands: a nested tuple of lengths, positions, names and
# numbers. The properties of its class name the items.
Data: TypeAlias = tuple[Any, ...]
Operands: TypeAlias = tuple[Expr, ...]

_lock = threading.RLock()
# A child forked while another thread holds the lock would deadlock.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


class _Entry(ref[Any]):
    """A weak reference to an interned object, with its table, key and size."""

    __slots__ = ("key", "size", "table")
    key: object
    size: int
    table: _Table


# Weak references to interned objects, by key.
_Table: TypeAlias = dict[object, _Entry]


def _add_interned(table: _Table, key: object, new: Any, size: int) -> Any:
    """Intern an object of about ``size`` bytes under a key; return the interned object, which may
    be one that another thread has added meanwhile."""
    entry = _Entry(new, _remove_interned)
    entry.key, entry.table, entry.size = key, table, size
    with _lock:
        found = table.setdefault(key, entry)()
        if found is None:  # it is dead, and its callback hasn't run yet
            table[key] = entry
            found = new
        if found is new:
            LIVE.add(size)
    if LIVE.has_grown:
        LIVE.relieve()
    return found


def _remove_interned(entry: _Entry) -> None:
    with _lock:
        LIVE.free(entry.size)
        if entry.table.get(entry.key) is entry:
            del entry.table[entry.key]


class _Kind:
    """A class of nodes and static data, shared by many nodes: hashing SymPy's expressions would
    take most of the time of interning.

    Attributes
    ==========

    digests : the digests of class and data, which are part of a node's digest
    """

    __slots__ = ("__weakref__", "data", "digests")

    def __init__(self, cls: type[Node], data: Data):
        self.data = data
        self.digests = text_digest(cls.__name__), cls._data_digest(data)


def _size(data: object) -> int:
    """Estimate the bytes of static data."""
    if isinstance(data, tuple):
        return tuning.ENTRY_BYTES * len(data) + sum(map(_size, data))
    return len(data) if isinstance(data, bytes) else 0


_kinds: _Table = {}
_nodes: _Table = {}
# At shutdown modules are cleared before nodes are freed, whose callbacks would then fail.
atexit.register(_kinds.clear)
atexit.register(_nodes.clear)


Value = TypeVar("Value")
_MISSING: Any = object()


def memoised(compute: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Memoise a function of a node at the node. The value mustn't reference the node: the cycle
    would be freed late."""

    @wraps(compute)
    def memoised_compute(node: Node) -> Value:
        found = node.memory.get(compute, _MISSING)
        if found is _MISSING:
            found = node.memory[compute] = compute(node)
        return found

    return memoised_compute


def map_data(data: object, substitute: Callable[[Basic], Basic]) -> Any:
    """Apply a substitution to every SymPy expression in static data."""
    if isinstance(data, tuple):
        return tuple([map_data(part, substitute) for part in data])
    return substitute(data) if isinstance(data, Basic) else data


def data_expressions(data: object) -> list[Basic]:
    """Return the SymPy expressions inside static data."""
    if isinstance(data, tuple):
        return [found for part in data for found in data_expressions(part)]
    return [data] if isinstance(data, Basic) else []


# Attributes for passes, hidden from completion.
FOR_PASSES = {
    "is_alternating",
    *("as_entry_power", "data", "is_affine_selector", "is_built", "is_locally_constant"),
    *("diagonal_entry", "is_one_hot", "is_sum", "stacked_entry"),
    *("keeps_axes", "keeps_shape", "memory", "precedence", "rearranges"),
}


def data_property(index: int, about: str) -> Any:
    """Return a property that is an item of the static data."""
    return property(lambda self: self.data[index], doc=about)


_SHOWN = (FunctionType, classmethod, property, staticmethod)


class NodeType(type):
    """The metaclass of nodes: ``dir`` of a class lists only our attributes, not SymPy's
    hundreds."""

    def __dir__(cls) -> list[str]:
        ours = [kind for kind in cls.__mro__ if isinstance(kind, NodeType)]
        # Common attributes are listed at TensorExpr only.
        members = {name: value for kind in ours[:-2] or ours for name, value in vars(kind).items()}
        shown = {name for name, value in members.items() if isinstance(value, _SHOWN)}
        return sorted(shown - FOR_PASSES)


class Node(StockExpr, metaclass=NodeType):
    """A node of an expression graph; ``TensorExpr`` adds the interface to stock SymPy."""

    __slots__ = (
        "__weakref__",
        "_depth",
        "_digest",
        "_free",
        "_kind",
        "_kinds",
        "_view",
        "data",
        "memory",
        "operands",
        "shape",
    )

    operands: Operands
    data: Data
    # Memoised results of passes on the node, by pass.
    memory: dict[object, Any]
    shape: Shape
    _depth: int
    _digest: int
    _free: frozenset[Basic] | None
    _kind: _Kind
    _kinds: frozenset[type] | None
    _view: tuple[Basic, ...] | None

    # Whether the entries are those of the operand, rearranged.
    rearranges = False
    # Whether code may build its array where it is multiplied.
    is_built = True
    # Whether its derivative by the operands is zero wherever it exists.
    is_locally_constant = False
    # Whether it is an affine selector, a constant.
    is_affine_selector = False
    # Whether it is a one-hot factor, whose operand are the positions.
    is_one_hot = False
    # Whether it is antisymmetric in all its axes.
    is_alternating = False
    # The number that all entries on its diagonal are, if it has one.
    diagonal_entry: Expr | None = None
    # Whether it is a sum.
    is_sum = False
    # Cached: few distinct data occur.
    _data_digest: ClassVar[Callable[..., int]] = staticmethod(cached(8192)(data_digest))

    # --- construction

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{cls.__name__} isn't built directly; use the functions of sympy_einsum")

    @classmethod
    def _intern(cls, operands: Operands, data: Data, shape: Shape) -> Self:
        """Return the interned node of this class with these operands and data."""
        interned = _kinds.get((cls, data))
        kind = interned() if interned is not None else None
        if kind is None:
            kind = _add_interned(_kinds, (cls, data), _Kind(cls, data), _size(data))
        key = (kind, operands)
        entry = _nodes.get(key)
        node = entry() if entry is not None else None
        if node is not None:
            return node
        node = object.__new__(cls)
        node._mhash = None
        node._args = ()
        node._assumptions = cls.default_assumptions
        node.operands = operands
        node.data = kind.data
        node.shape = shape
        node.memory = {}
        node._free = None
        node._view = None
        node._kind = kind
        node._kinds = None
        depth = 0
        parts = [*kind.digests]
        for operand in operands:
            if isinstance(operand, Node):
                depth = operand._depth if operand._depth > depth else depth
                parts.append(operand._digest)
            else:
                parts.append(digest(operand))
        node._depth = depth + 1 if operands else 0
        node._digest = hash(tuple(parts))
        return _add_interned(_nodes, key, node, tuning.NODE_BYTES)

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Expr:
        """Return the canonical expression of this class for operands and data."""
        raise NotImplementedError

    def _times(self, factors: Sequence[Expr]) -> Expr | None:
        """Return the product with scalars if this class distributes over it, None to build a
        view."""
        return None if factors else self

    def _map_data(self, substitute: Callable[[Basic], Basic]) -> Data:
        """Return the static data with its lengths and positions replaced."""
        return map_data(self.data, substitute)

    def _own_symbols(self) -> set[Basic]:
        """Return the free symbols of the node's own data: its lengths and positions."""
        return {s for e in data_expressions(self.data) for s in e.free_symbols}

    def _map_body(self, change: Callable[[Any], Any]) -> Any:
        """Return the node with a change to the expressions of its body, in which it binds symbols;
        itself where it has none."""
        return self

    # --- identity

    @property
    def _key(self) -> tuple[int, str, int]:
        return (self._depth, type(self).__name__, self._digest)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def _hashable_content(self) -> tuple[int]:
        return (self._digest,)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def copy(self) -> Self:
        """Return the expression itself: expressions are immutable."""
        return self

    # --- shape

    @property
    def order(self) -> int:
        """The number of axes.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> A.order, (A @ x).order, (x @ x).order
        (2, 1, 0)
        """
        return len(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes, under NumPy's name."""
        return len(self.shape)

    @property
    def size(self) -> Expr:
        """The number of entries, a SymPy expression."""
        size = S.One
        for length in self.shape:
            size *= length
        return size
