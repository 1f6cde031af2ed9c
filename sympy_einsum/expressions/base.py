"""The base class of all tensor expressions: what stock SymPy sees of a node.

*The firewall.* Stock SymPy walks ``args`` recursively, once per path: on deep or shared graphs it
overflows the stack or never ends. So ``args`` shows the leaves only: ``(tag, *free symbols)``. To
stock code a tensor expression is an applied function of its leaves; ``func`` rebuilds it by
substituting leaves. Our own passes use ``operands``, the true children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from sympy import Basic, Derivative, Expr, Integer, S
from sympy.core.expr import AtomicExpr
from sympy.core.function import AppliedUndef
from sympy.core.rules import Transform
from sympy.core.symbol import Str

from ..core import TensorError, children, postorder, sort_key
from .graphs import (
    Entry,
    are_numeric,
    flatten,
    free_leaves,
    is_variable,
    kinds_in,
    lengths_of,
    unflatten,
)
from .interning import FOR_PASSES, Node, data_expressions
from .substitution import as_basic, substitute, substitute_function

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    # The methods and operators that are attached above, where every type of node is known.
    from ..sympy_hooks import Methods
else:
    Methods = Node


_LENGTHS = Str("lengths")


class NodeTag(AtomicExpr):
    """The first of a node's ``args``: it tells two nodes with the same leaves apart, and its own
    ``args`` are a name and the symbols in the leaves' axis lengths, so that stock code finds these.
    """

    __slots__ = ("given", "node")
    given: tuple[Basic, ...]
    is_commutative = True
    is_number = False

    def __new__(cls, node: TensorExpr, *args: Basic) -> NodeTag:
        self = AtomicExpr.__new__(cls)
        self.node = node
        self.given = args
        return self

    @property
    def args(self) -> tuple[Basic, ...]:
        if not self.given:
            lengths = lengths_of(*self.node._leaves())
            # SymPy takes an expression for real where all atoms are, and goes wrong then; of a
            # name it doesn't know.
            self.given = (_LENGTHS, *sorted(lengths, key=sort_key)) if lengths else ()
        return self.given

    @property
    def func(self) -> Callable[..., NodeTag]:
        return partial(NodeTag, self.node)

    def __reduce_ex__(self, protocol: object) -> tuple[type, tuple[Basic, ...]]:
        return NodeTag, (self.node, *self.given)

    def __getnewargs__(self) -> tuple[Basic, ...]:
        return (self.node, *self.given)

    def _hashable_content(self) -> tuple[object, ...]:
        return (self.node._digest, *self.args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeTag) and self.node is other.node and self.args == other.args

    def __hash__(self) -> int:
        return hash((NodeTag, self.node._digest))

    @property
    def free_symbols(self) -> set[Basic]:
        return set()

    def sort_key(self, order: object = None) -> tuple[object, ...]:
        return self.class_key(), (1, (str(self.node._key),)), S.One.sort_key(), S.One

    def _sympystr(self, printer: object) -> str:
        return type(self.node).__name__


class Rebuild:
    """``node.func``: rebuilds the node from its leaf view, by substituting leaves."""

    __slots__ = ("node",)

    def __init__(self, node: TensorExpr):
        self.node = node

    @property
    def __name__(self) -> str:
        return type(self.node).__name__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rebuild) and self.node is other.node

    def __hash__(self) -> int:
        return hash((Rebuild, self.node._digest))

    def __call__(self, *args: Basic, **options: object) -> Basic:
        if args == self.node.args:
            return self.node
        own = self.node.args
        if len(args) != len(own) or not isinstance(args[0], NodeTag):
            raise TensorError(
                f"{self.__name__}.func takes the {len(own)} arguments of .args "
                f"(a tag and the leaves), not {len(args)}"
            )
        tag, *leaves = own
        replacements = [
            *zip(leaves, args[1:], strict=True),
            *zip(tag.args, args[0].args, strict=True),
        ]
        return substitute(self.node, {old: new for old, new in replacements if old != new})


class TensorExpr(Methods):
    """Base class of tensor expressions.

    Attributes
    ==========

    shape : tuple of axis lengths, SymPy expressions
    order : the number of axes
    operands : the nodes this one is computed from

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> isinstance(A @ x, se.TensorExpr), isinstance(x @ x, se.TensorExpr)
    (True, True)
    >>> (A @ x).shape, (A @ x).order, (A @ x).operands
    ((2,), 1, (A, x))
    """

    __slots__ = ()

    is_commutative = True
    is_real = True
    _op_priority = 100.0
    # Stock code takes what can be iterated for a sequence, but a tensor is one thing.
    _iterable = False

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in FOR_PASSES]

    def __bool__(self) -> bool:
        # An axis of length 0 is no reason to be false: expressions aren't.
        return True

    def __reduce_ex__(
        self, protocol: object
    ) -> tuple[Callable[..., Expr], tuple[tuple[Entry, ...]]]:
        return unflatten, (flatten(self),)

    @property
    def is_symmetric(self) -> bool:
        """Whether a matrix is known to be its own transpose when that is built.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (3, 3))
        >>> A.is_symmetric, se.TensorSymbol("K", (3, 3), symmetric=True).is_symmetric
        (False, True)
        """
        return False

    # --- what stock SymPy sees

    @property
    def args(self) -> tuple[Basic, ...]:
        """The leaf view: a tag, the free symbols and unknown functions of these. The true children
        are in ``operands``.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> (A @ x).args
        (Einsum, A, x)
        """
        if self._view is None:
            leaves = sorted(self._leaves() | self._applied(), key=sort_key)
            self._view = (NodeTag(self), *leaves)
        return self._view

    @property
    def func(self) -> Callable[..., Basic]:
        """A callable with ``e.func(*e.args) == e``.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> e = se.sin(x)
        >>> e.func(*e.args) is e
        True
        """
        return Rebuild(self)

    @property
    def is_number(self) -> bool:
        """Whether it is a scalar without symbols: ``float``, ``evalf`` and comparisons then know
        its value.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 2)
        >>> (x @ x).is_number, (x @ x).subs(x, [1, 2]).is_number
        (False, True)
        """
        return not self.shape and are_numeric(kinds_in(self))

    def _applied(self) -> set[Basic]:
        """Return the unknown functions of ordinary symbols and their derivatives, for stock code:
        q(t) in a Lagrangian."""
        if not any(issubclass(kind, (AppliedUndef, Derivative)) for kind in kinds_in(self)):
            return set()
        found = {e for e in postorder([self]) if isinstance(e, (AppliedUndef, Derivative))}
        return {e for e in found if not any(isinstance(s, Node) for s in e.free_symbols)}

    def _leaves(self) -> frozenset[Basic]:
        # Big sets are cached where they are asked for, not at every node: with one fresh symbol
        # per level, the cached sets alone would be quadratic.
        if self._free is None:
            self._free = free_leaves(self)
        return self._free

    @property
    def free_symbols(self) -> set[Any]:
        """The tensor symbols and ordinary symbols in the expression. As for SymPy's matrices,
        the axis lengths of a tensor symbol don't count.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> sorted((A @ x).free_symbols, key=str)
        [A, x]
        """
        return set(self._leaves())

    def has(self, *patterns: Basic | type) -> bool:
        """Tell whether any of the given symbols (lengths included), nodes or types occurs.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> n = symbols("n", integer=True, positive=True)
        >>> x = se.TensorSymbol("x", n)
        >>> se.sin(x).has(x), se.sin(x).has(n), se.sin(x).has(se.Einsum)
        (True, True, False)
        """
        types = tuple(p for p in patterns if isinstance(p, type))
        if types and any(issubclass(kind, types) for kind in kinds_in(self)):
            return True
        requested = {as_basic(p) for p in patterns if not isinstance(p, type)}
        if not requested:
            return False
        nodes = set(postorder([self]))
        if requested & nodes or requested & self._leaves():
            return True
        inside = {
            part
            for node in nodes
            if isinstance(node, TensorExpr)
            for e in {*node.shape, *data_expressions(node.data)}
            for part in (e, *e.free_symbols)
        }
        return bool(requested & inside)

    def has_free(self, *patterns: Basic | type) -> bool:
        """Tell whether any of the given symbols occurs free.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> se.sin(x).has_free(x), se.sin(x).has_free(y)
        (True, False)
        """
        return self.has(*patterns)

    def has_xfree(self, patterns: Iterable[Basic]) -> bool:
        """Tell whether any symbol of the set occurs free.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> se.sin(x).has_xfree({x, y})
        True
        """
        return self.has(*patterns)

    def atoms(self, *types: Basic | type) -> set[Basic]:
        """Return the leaves of the graph, or its nodes of the given types.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> se.sin(A @ x).atoms(se.Einsum)
        {A @ x}
        """
        nodes = set(postorder([self])) | self._leaves()
        if not types:
            return {node for node in nodes if not children(node)}
        kinds = tuple(t if isinstance(t, type) else type(t) for t in types)
        return {node for node in nodes if isinstance(node, kinds)}

    def count_ops(self, visual: bool | None = None) -> Integer:
        """Return the number of nodes that compute something.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> se.sin(A @ x).count_ops()
        2
        """
        return Integer(sum(1 for node in postorder([self]) if children(node)))

    def is_constant(self, *wrt: Basic, **flags: object) -> bool:
        """Tell whether the expression is free of the given symbols (of all symbols, without any).
        It depends on an entry where it does on the tensor of that, and on the axis lengths of that.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> se.sin(x).is_constant(), se.sin(x).is_constant(y), se.Ones(3).is_constant()
        (False, True, True)
        """
        given = [as_basic(value) for value in wrt]
        tensors = {leaf for v in given if isinstance(v, TensorExpr) for leaf in v._leaves()}
        kept = {leaf for leaf in tensors if isinstance(leaf, TensorExpr)}.union(given)
        leaves = self._leaves()
        return kept.isdisjoint(leaves | lengths_of(*leaves)) if wrt else not leaves

    @property
    def is_Function(self) -> bool:
        """Whether it is a scalar that depends on ordinary symbols: to ``sympy.solve``, ``limit``
        and the like a function of these.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> t = symbols("t")
        >>> (x @ x).is_Function, (se.sin(t * x) @ x).is_Function
        (False, True)
        """
        return not self.shape and any(map(is_variable, self._leaves()))

    def as_entry_power(self) -> tuple[TensorExpr, Expr]:
        """Return the tensor of which this is a power entry by entry, and the exponent, a number. By
        ``as_base_exp`` SymPy would learn of it, and make scalars of opposite powers.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> (x**2).as_entry_power(), x.as_entry_power()
        ((x, 2), (x, 1))
        """
        return self, S.One

    def could_extract_minus_sign(self) -> bool:
        """Never: a sign stays where it is.

        >>> import sympy_einsum as se
        >>> (-se.TensorSymbol("x", 3)).could_extract_minus_sign()
        False
        """
        return False

    # SymPy asks for the signs of scalars; analysis/properties.py knows them.

    def _is_nonnegative(self) -> bool | None:
        return None

    def _is_positive(self) -> bool | None:
        return None

    def _eval_is_nonnegative(self) -> bool | None:
        return self._is_nonnegative()

    def _eval_is_positive(self) -> bool | None:
        return self._is_positive()

    # --- substitution

    def xreplace(self, rule: Mapping[Basic, Basic] | Transform) -> Basic:
        """Replace nodes, symbols and lengths exactly, all at once.

        Raises TensorError for what is no dictionary, ShapeError for what has another shape than
        what it replaces.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> (x - y).xreplace({x: y, y: x})
        y - x
        """
        if not isinstance(rule, (Mapping, Transform)):
            raise TensorError(f"xreplace takes a dictionary, not {str(rule)[:80]!r}")
        return self._xreplace(rule)[0]

    def _xreplace(self, rule: Mapping[Basic, Basic] | Transform) -> tuple[Basic, bool]:
        if self in rule:
            return rule[self], True
        if not isinstance(rule, dict):
            # A Transform of SymPy's: a rule for any expression; it gets to see the leaves.
            rule = {leaf: rule[leaf] for leaf in self._leaves() if leaf in rule}
        result = substitute(self, rule)
        return result, result is not self

    def _subs(self, old: Basic | type, new: Basic, **hints: object) -> Basic:
        if isinstance(old, type):
            return substitute_function(self, old, new)
        return substitute(self, {old: new}, stock_rules=True)

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is symbolic and has no array of numbers; "
            "use sympy_einsum.lambdify to evaluate it, .as_explicit() to write out its entries, "
            "and functions of sympy_einsum, such as softmax and logsumexp, in place of those that "
            "make arrays of what they are given"
        )


# What an operation is applied to: a tensor, or a scalar of SymPy's. Any in its place lets what a
# function gives be used as a tensor, without a test of which of the two it is.
Operand: TypeAlias = TensorExpr | Any
# Values that a user may write in its place.
TensorLike: TypeAlias = "Operand | ArrayLike"
# Several expressions: functions that take these too then give a list.
Several: TypeAlias = "list[Operand] | tuple[Operand, ...]"
