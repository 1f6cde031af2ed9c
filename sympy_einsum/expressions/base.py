"""The base class of all tensor expressions: identity, shape, and the bridge to stock SymPy.

Why it is as it is:

*Hash-consing.* Building a node twice gives the same object [L, §3.2.2], so equality is identity,
common subexpressions are shared by construction and every pass is linear in the graph. All
construction ends in :meth:`TensorExpr._intern`.

*The firewall.* Stock SymPy walks ``args`` recursively, once per path: on deep or shared graphs it
overflows the stack or never ends. So ``args`` shows the leaves only: ``(tag, *free symbols)``. To
stock code a tensor expression is an applied function of its leaves; ``func`` rebuilds it by
substituting leaves. Our own passes use ``operands``, the true children.

References
==========

[L] A. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias
from weakref import WeakValueDictionary

from sympy import Basic, Derivative, Expr, Integer, Limit, S, Subs, Symbol, SympifyError
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.expr import AtomicExpr
from sympy.core.rules import Transform

from ..core import (
    NoScalarError,
    Shape,
    ShapeError,
    TensorError,
    children,
    data_digest,
    digest,
    has_shape,
    postorder,
    same_length,
    sort_key,
    sympified,
    text_digest,
    transform,
)

# What stock scalars may leave to be evaluated later.
UNEVALUATED = (Derivative, ExprWithLimits, Limit, Subs)
# Sets of free symbols up to this size are kept at every node of a graph.
FEW_LEAVES = 16

# What a node knows besides its operands: lengths, positions, names, numbers, nested. The properties
# of its class give each part a name.
Data: TypeAlias = tuple[Any, ...]

_nodes: WeakValueDictionary[Any, TensorExpr] = WeakValueDictionary()
_lock = threading.RLock()
# A child that is forked while another thread holds the lock would wait for it for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )
# At shutdown modules go before nodes do, and forgetting a node would hash its key with them gone.
atexit.register(_nodes.clear)


def map_data(data: Any, image: Callable[[Basic], Basic]) -> Any:
    """Static data with every SymPy expression in it (lengths, positions) replaced by its image."""
    if isinstance(data, tuple):
        return tuple([map_data(part, image) for part in data])
    return image(data) if isinstance(data, Basic) else data


def data_expressions(data: Any) -> list[Basic]:
    """The SymPy expressions inside static data."""
    if isinstance(data, tuple):
        return [found for part in data for found in data_expressions(part)]
    return [data] if isinstance(data, Basic) else []


# --- the bridge to stock SymPy -------------------------------------------------------------------


class NodeTag(AtomicExpr):
    """The first of a node's ``args``: it tells two nodes with the same leaves apart."""

    __slots__ = ("node",)
    is_commutative = True
    is_number = False

    def __new__(cls, node: TensorExpr) -> NodeTag:
        self = AtomicExpr.__new__(cls)
        self.node = node
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return NodeTag, (self.node,)

    def __getnewargs__(self) -> Any:
        return (self.node,)

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self.node._digest,)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, NodeTag) and self.node is other.node

    def __hash__(self) -> int:
        return hash((NodeTag, self.node._digest))

    @property
    def free_symbols(self) -> set[Basic]:
        return set()

    def sort_key(self, order: Any = None) -> Any:
        return self.class_key(), (1, (str(self.node._key),)), S.One.sort_key(), S.One

    def _sympystr(self, printer: Any) -> str:
        return type(self.node).__name__


class Rebuild:
    """``node.func``: rebuilds the node from its leaf view, by substituting leaves."""

    __slots__ = ("node",)

    def __init__(self, node: TensorExpr):
        self.node = node

    @property
    def __name__(self) -> str:
        return type(self.node).__name__

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Rebuild) and self.node is other.node

    def __hash__(self) -> int:
        return hash((Rebuild, self.node._digest))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args == self.node.args:
            return self.node
        leaves = self.node.args[1:]
        if len(args) != len(leaves) + 1:
            raise TensorError(
                f"{self.__name__}.func takes the {len(leaves) + 1} arguments of .args "
                f"(a tag and the leaves), not {len(args)}"
            )
        return substitute(
            self.node, {old: new for old, new in zip(leaves, args[1:], strict=True) if old != new}
        )


class TensorExpr(Expr):
    """Base class of tensor expressions.

    Attributes
    ==========

    shape : tuple of axis lengths, SymPy expressions
    order : the number of axes
    operands : the nodes this one is computed from
    """

    __slots__ = (
        "__weakref__",
        "_depth",
        "_digest",
        "_free",
        "_kinds",
        "_view",
        "data",
        "operands",
        "shape",
    )

    operands: tuple[Any, ...]
    data: tuple[Any, ...]
    shape: Shape
    _depth: int
    _digest: int
    _free: frozenset[Any] | None
    _kinds: frozenset[type] | None
    _view: tuple[Any, ...] | None

    # Whether the entries are those of the operand, in other places.
    rearranges = False
    is_commutative = True
    is_real = True
    is_number = False
    is_comparable = False
    _op_priority = 100.0
    # Stock code takes whatever can be iterated for a sequence, and __getitem__ makes iterable.
    _iterable = False
    __iter__ = None
    _data_digest: ClassVar[Any] = staticmethod(lru_cache(8192)(data_digest))

    # --- construction

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{cls.__name__} isn't built directly; use the functions of sympy_einsum")

    @classmethod
    def _intern(cls, operands: tuple[Any, ...], data: tuple[Any, ...], shape: Shape) -> Any:
        """The one node of this class with these operands and data."""
        key = (cls, operands, data)
        node = _nodes.get(key)
        if node is not None:
            return node
        node = object.__new__(cls)
        node._mhash = None
        node._args = ()
        node._assumptions = cls.default_assumptions
        node.operands = operands
        node.data = data
        node.shape = shape
        node._free = None
        node._view = None
        node._kinds = None
        depth = 0
        parts = [text_digest(cls.__name__), cls._data_digest(data)]
        for operand in operands:
            if isinstance(operand, TensorExpr):
                depth = max(depth, operand._depth)
                parts.append(operand._digest)
            else:
                parts.append(digest(operand))
        node._depth = depth + 1 if operands else 0
        node._digest = hash(tuple(parts))
        with _lock:
            # Another thread may have published the node meanwhile: the first one stays.
            return _nodes.setdefault(key, node)

    @classmethod
    def _build(cls, operands: tuple[Any, ...], data: tuple[Any, ...]) -> Any:
        """The canonical expression for new operands and data of this class of node."""
        raise NotImplementedError

    @property
    def _key(self) -> tuple[int, str, int]:
        return (self._depth, type(self).__name__, self._digest)

    # --- shape

    @property
    def order(self) -> int:
        """The number of axes."""
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

    # --- identity

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> bool:
        return self is other

    def __ne__(self, other: Any) -> bool:
        return self is not other

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self._digest,)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return unflatten, (flatten(self),)

    def __copy__(self) -> TensorExpr:
        return self

    def __deepcopy__(self, memo: Any) -> TensorExpr:
        return self

    def copy(self) -> TensorExpr:
        """The expression itself: expressions are immutable."""
        return self

    # --- what stock SymPy sees

    @property
    def args(self) -> tuple[Any, ...]:
        """The leaf view: a tag and the free symbols. The true children are in ``operands``."""
        if self._view is None:
            leaves = sorted(self._leaves(), key=sort_key)
            self._view = (NodeTag(self), *leaves)
        return self._view

    @property
    def func(self) -> Any:
        """A callable with ``e.func(*e.args) == e``."""
        return Rebuild(self)

    def _leaves(self) -> frozenset[Any]:
        # Big sets are cached where they are asked for, not at every node: with one fresh symbol
        # per level, the cached sets alone would be quadratic.
        if self._free is None:
            self._free = free_leaves(self)
        return self._free

    def _map_data(self, image: Callable[[Basic], Basic]) -> tuple[Any, ...]:
        """The static data with its lengths and positions replaced by their images."""
        return map_data(self.data, image)

    def _own_symbols(self) -> set[Any]:
        """The free symbols of the node's own data: its lengths and positions."""
        return {s for e in data_expressions(self.data) for s in e.free_symbols}

    @property
    def free_symbols(self) -> set[Basic]:
        """The tensor symbols and ordinary symbols in the expression. As for SymPy's matrices,
        the axis lengths of a tensor symbol don't count."""
        return set(self._leaves())

    def has(self, *patterns: Any) -> bool:
        """Whether any of the given symbols (lengths included), nodes or types occurs."""
        types = tuple(p for p in patterns if isinstance(p, type))
        if types and any(issubclass(kind, types) for kind in kinds_in(self)):
            return True
        wanted = {as_basic(p) for p in patterns if not isinstance(p, type)}
        if not wanted:
            return False
        nodes = set(postorder([self]))
        if wanted & nodes or wanted & self._leaves():
            return True
        inside = {
            part
            for node in nodes
            if isinstance(node, TensorExpr)
            for e in {*node.shape, *data_expressions(node.data)}
            for part in (e, *e.free_symbols)
        }
        return bool(wanted & inside)

    def has_free(self, *patterns: Any) -> bool:
        """Whether any of the given symbols occurs free."""
        return self.has(*patterns)

    def has_xfree(self, patterns: Any) -> bool:
        """Whether any symbol of the set occurs free."""
        return self.has(*patterns)

    def atoms(self, *types: Any) -> set[Basic]:
        """The leaves of the graph, or its nodes of the given types."""
        nodes = set(postorder([self])) | self._leaves()
        if not types:
            return {node for node in nodes if not children(node)}
        kinds = tuple(t if isinstance(t, type) else type(t) for t in types)
        return {node for node in nodes if isinstance(node, kinds)}

    def count_ops(self, visual: Any = None) -> Any:
        """The number of nodes that compute something."""
        return Integer(sum(1 for node in postorder([self]) if children(node)))

    def is_constant(self, *wrt: Any, **flags: Any) -> bool:
        """Whether the expression is free of the given symbols (of all symbols, without any)."""
        return not (self._leaves() & set(map(as_basic, wrt)) if wrt else self._leaves())

    @property
    def is_Function(self) -> bool:
        """Whether it is a scalar that depends on ordinary symbols: to ``sympy.solve``, ``limit``
        and the like a function of these."""
        return not self.shape and any(isinstance(leaf, Symbol) for leaf in self._leaves())

    def as_entry_power(self) -> tuple[Any, Any]:
        """The tensor of which this is a power entry by entry, and the exponent, a number. By
        ``as_base_exp`` SymPy would learn of it, and make scalars of opposite powers."""
        return self, S.One

    def could_extract_minus_sign(self) -> bool:
        """Never: a sign stays where it is."""
        return False

    def doit(self, **hints: Any) -> TensorExpr:
        """The expression with the integrals, sums and derivatives in its scalars evaluated."""
        if not any(issubclass(kind, UNEVALUATED) for kind in kinds_in(self)):
            return self

        def visit(node: Any, below: tuple[Any, ...]) -> Any:
            done = rebuild(node, below) if below else node
            return done.doit(**hints) if isinstance(done, UNEVALUATED) else done

        return transform([self], visit)[0]

    # SymPy asks for the signs of scalars; rules/properties.py knows them.

    def _is_nonnegative(self) -> bool | None:
        return None

    def _is_positive(self) -> bool | None:
        return None

    def _eval_is_nonnegative(self) -> bool | None:
        return self._is_nonnegative()

    def _eval_is_positive(self) -> bool | None:
        return self._is_positive()

    # --- substitution

    def xreplace(self, rule: Any) -> Any:
        """Replace nodes, symbols and lengths exactly, all at once."""
        if not isinstance(rule, (Mapping, Transform)):
            raise TensorError(f"xreplace takes a dictionary, not {str(rule)[:80]!r}")
        return self._xreplace(rule)[0]

    def _xreplace(self, rule: Any) -> tuple[Any, bool]:
        if self in rule:
            return rule[self], True
        if not isinstance(rule, dict):
            # A Transform of SymPy's: a rule for any expression; it gets to see the leaves.
            rule = {leaf: rule[leaf] for leaf in self._leaves() if leaf in rule}
        result = substitute(self, rule)
        return result, result is not self

    def _subs(self, old: Any, new: Any, **hints: Any) -> Any:
        return substitute(self, {old: new}, stock_rules=True)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{type(self).__name__} is symbolic and has no array of numbers; "
            "use sympy_einsum.lambdify to evaluate it"
        )


# What an operation is applied to: a tensor, or a scalar of SymPy's.
Operand: TypeAlias = TensorExpr | Expr


def as_basic(value: Any) -> Any:
    """A SymPy object from what stock code passes around; a string would be evaluated."""
    if isinstance(value, Basic):
        return value
    try:
        return sympified(value)
    except SympifyError:
        raise TensorError(
            f"a symbol or an expression is needed, not {value!r}; Constant takes arrays of numbers"
        ) from None


def is_tensor(value: Any) -> bool:
    """Whether a value has axes."""
    return isinstance(value, TensorExpr) and bool(value.shape)


def order_of(value: Any) -> int:
    """The number of axes of an operand; SymPy scalars have none."""
    return value.order if isinstance(value, TensorExpr) else 0


def shape_of(value: Any) -> Shape:
    """The shape of an operand; that of a SymPy scalar is ``()``."""
    return value.shape if isinstance(value, TensorExpr) else ()


def stock_children(node: Any) -> Sequence[Any]:
    """Where a walk through a stock expression goes on: it ends at tensor expressions."""
    return () if isinstance(node, TensorExpr) else children(node)


def outermost(expr: Any) -> list[TensorExpr]:
    """The tensor expressions in a stock expression, without those inside of others."""
    return [node for node in postorder([expr], stock_children) if isinstance(node, TensorExpr)]


def kinds_in(root: Any) -> frozenset[type]:
    """The types of the nodes of a graph, lengths and positions included. Printers ask at every
    scalar for types that never occur, so they are kept at the nodes; equal sets are one object."""
    found: dict[Any, frozenset[type]] = {}
    same: dict[frozenset[type], frozenset[type]] = {}

    def is_known(node: Any) -> bool:
        return isinstance(node, TensorExpr) and node._kinds is not None

    for node in postorder([root], lambda n: () if is_known(n) else children(n)):
        if is_known(node):
            found[node] = node._kinds
            continue
        own = {type(node)}
        if isinstance(node, TensorExpr):
            lengths = {*node.shape, *data_expressions(node.data)}
            own |= {type(part) for e in lengths for part in (e, *e.free_symbols)}
        kinds = frozenset(own.union(*{found[child] for child in children(node)}))
        found[node] = same.setdefault(kinds, kinds)
        if isinstance(node, TensorExpr):
            node._kinds = found[node]
    return found[root]


def free_leaves(*roots: Any) -> frozenset[Any]:
    """The free symbols of the graph below some roots, each distinct node once."""

    def is_leaf(node: Any) -> bool:
        if isinstance(node, TensorExpr):
            return node._free is not None
        return not node.args or hasattr(node, "bound_symbols")

    order = postorder(roots, lambda n: () if is_leaf(n) else children(n))
    total = _without_lengths({s for node in order for s in _own_leaves(node, is_leaf)})
    if len(total) <= FEW_LEAVES:
        _remember_leaves(order, is_leaf)
    return total


def _own_leaves(node: Any, is_leaf: Callable[[Any], bool]) -> Any:
    """The free symbols that a node adds to those of the nodes below."""
    if not isinstance(node, TensorExpr):
        return node.free_symbols if is_leaf(node) else ()
    return node._own_symbols() if node._free is None else node._free


def _without_lengths(found: set[Any]) -> frozenset[Any]:
    """Without the axis lengths of the tensor symbols among them."""
    tensors = [e for e in found if isinstance(e, TensorExpr)]
    return frozenset(found - {s for e in tensors for n in e.shape for s in n.atoms()})


def _remember_leaves(order: Sequence[Any], is_leaf: Callable[[Any], bool]) -> None:
    """Keep the free symbols at every node: the next walk from above then stops here. Nodes with
    the same symbols share one set."""
    raw: dict[Any, frozenset[Any]] = {}
    known: dict[frozenset[Any], tuple[frozenset[Any], frozenset[Any]]] = {}
    for node in order:
        below = () if is_leaf(node) else children(node)
        found = frozenset(_own_leaves(node, is_leaf)).union(*[raw[child] for child in below])
        if found not in known:
            known[found] = found, _without_lengths(set(found))
        raw[node] = known[found][0]
        if isinstance(node, TensorExpr) and node._free is None:
            node._free = known[found][1]


def rebuild(node: Any, operands: tuple[Any, ...], data: tuple[Any, ...] | None = None) -> Any:
    """``node`` on other operands: the node itself if nothing changed."""
    if isinstance(node, TensorExpr):
        new_data = node.data if data is None else data
        if new_data is node.data and operands == node.operands:
            return node
        return node._build(operands, new_data)
    if operands == node.args:
        return node
    return node.func(*operands)


def substitute(root: Any, rule: dict[Any, Any], stock_rules: bool = False) -> Any:
    """Replace nodes, symbols and lengths, each distinct node once.

    With ``stock_rules`` the stock scalars in the graph get SymPy's ``subs`` treatment
    (``x**4`` contains ``x**2``), else the exact one of ``xreplace``.
    """
    images: dict[Basic, Any] = {}

    def image(expr: Basic) -> Any:
        if expr not in images:
            images[expr] = (
                expr.subs(rule, simultaneous=True) if stock_rules else expr.xreplace(rule)
            )
        return images[expr]

    rule = {old: as_basic(new) for old, new in rule.items()}

    def visit(node: Any, new: tuple[Any, ...]) -> Any:
        if node in rule:
            return _checked(node, rule[node], image)
        if isinstance(node, TensorExpr):
            data = node._map_data(image)
            return rebuild(node, new, node.data if data == node.data else data)
        if stock_rules and new == node.args and node.args:
            for old, target in rule.items():
                hit = node._eval_subs(old, target)
                if hit is not None:
                    return hit
        return rebuild(node, new) if node.args else node

    return transform([root], visit)[0]


def _checked(old: Any, new: Any, image: Callable[[Basic], Basic]) -> Any:
    """``new``, checked to fit in the place of ``old``."""
    if has_shape(new) and not isinstance(new, TensorExpr):
        raise TensorError(f"can't replace {old} by {new}, of type {type(new).__name__}")
    shape = new.shape if isinstance(new, TensorExpr) else ()
    expected = old.shape if isinstance(old, TensorExpr) else ()
    if len(shape) != len(expected) and isinstance(new, Symbol):
        raise NoScalarError(
            f"can't replace {old}, of shape {expected}, by the scalar {new}; solve and the like "
            "take tensors for scalars: A @ x = y has the solution inv(A) @ y"
        )
    if len(shape) != len(expected):
        raise ShapeError(
            f"can't replace {old}, of shape {expected}, by {new}, of shape {shape}; give an "
            "expression of the same order"
        )
    for axis, (length, given) in enumerate(zip(expected, shape, strict=True)):
        if not same_length(image(length), given):
            raise ShapeError(
                f"can't replace {old} by {new}: axis {axis} has length {image(length)} in the one "
                f"and length {given} in the other; substitute the lengths first"
            )
    return new


def flatten(root: Any) -> tuple[Any, ...]:
    """A graph as a flat post-order tuple, so that pickling it doesn't recurse."""
    number: dict[Any, int] = {}
    entries: list[Any] = []
    holds_tensor: set[Any] = set()
    for node in postorder([root]):
        below = children(node)
        if isinstance(node, TensorExpr) or any(child in holds_tensor for child in below):
            holds_tensor.add(node)
    for node in postorder([root], lambda n: children(n) if n in holds_tensor else ()):
        number[node] = len(entries)
        if node not in holds_tensor:
            entries.append(node)
        else:
            below = tuple([number[child] for child in children(node)])
            data = node.data if isinstance(node, TensorExpr) else None
            entries.append((type(node), below, data))
    return tuple(entries)


def unflatten(entries: Sequence[Any]) -> Any:
    """The inverse of :func:`flatten`."""
    if not isinstance(entries, (list, tuple)) or not entries:
        raise TensorError(f"unflatten takes what repr and pickle write, not {str(entries)[:80]!r}")
    nodes: list[Any] = []
    for entry in entries:
        if not isinstance(entry, tuple):
            nodes.append(entry)
            continue
        kind, below, data = entry
        operands = tuple([nodes[i] for i in below])
        nodes.append(kind(*operands) if data is None else kind._build(operands, data))
    return nodes[-1]
