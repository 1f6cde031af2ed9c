"""The base class of all tensor expressions: what stock SymPy sees of a node.

*The firewall.* Stock SymPy walks ``args`` recursively, once per path: on deep or shared graphs it
overflows the stack or never ends. So ``args`` shows the leaves only: ``(tag, *free symbols)``. To
stock code a tensor expression is an applied function of its leaves; ``func`` rebuilds it by
substituting leaves. Our own passes use ``operands``, the true children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from sympy import Basic, Derivative, Expr, Integer, Limit, S, Subs, Symbol
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.expr import AtomicExpr
from sympy.core.function import AppliedUndef
from sympy.core.rules import Transform

from ..core import TensorError, children, postorder, sort_key, transform
from .graphs import Entry, flatten, free_leaves, kinds_in, unflatten
from .interning import FOR_PASSES, Node, Operands, data_expressions
from .substitution import as_basic, rebuild, substitute, substitute_function

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    # The methods and operators that are attached above, where every type of node is known.
    from ..sympy_hooks import Methods
else:
    Methods = Node

# What stock scalars may leave to be evaluated later.
UNEVALUATED = (Derivative, ExprWithLimits, Limit, Subs)


class NodeTag(AtomicExpr):
    """The first of a node's ``args``: it tells two nodes with the same leaves apart."""

    __slots__ = ("node",)
    is_commutative = True
    is_number = False

    def __new__(cls, node: TensorExpr) -> NodeTag:
        self = AtomicExpr.__new__(cls)
        self.node = node
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[type, tuple[TensorExpr]]:
        return NodeTag, (self.node,)

    def __getnewargs__(self) -> tuple[TensorExpr]:
        return (self.node,)

    def _hashable_content(self) -> tuple[int]:
        return (self.node._digest,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeTag) and self.node is other.node

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
        leaves = self.node.args[1:]
        if len(args) != len(leaves) + 1:
            raise TensorError(
                f"{self.__name__}.func takes the {len(leaves) + 1} arguments of .args "
                f"(a tag and the leaves), not {len(args)}"
            )
        return substitute(
            self.node, {old: new for old, new in zip(leaves, args[1:], strict=True) if old != new}
        )


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
    is_number = False
    is_comparable = False
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

    def _applied(self) -> set[Basic]:
        """The unknown functions of ordinary symbols, and their derivatives, which stock code looks
        for: q(t) in a Lagrangian."""
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
    def free_symbols(self) -> set[Basic]:
        """The tensor symbols and ordinary symbols in the expression. As for SymPy's matrices,
        the axis lengths of a tensor symbol don't count.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> sorted((A @ x).free_symbols, key=str)
        [A, x]
        """
        return set(self._leaves())

    def has(self, *patterns: Basic | type) -> bool:
        """Whether any of the given symbols (lengths included), nodes or types occurs.

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

    def has_free(self, *patterns: Basic | type) -> bool:
        """Whether any of the given symbols occurs free.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> se.sin(x).has_free(x), se.sin(x).has_free(y)
        (True, False)
        """
        return self.has(*patterns)

    def has_xfree(self, patterns: Iterable[Basic]) -> bool:
        """Whether any symbol of the set occurs free.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> se.sin(x).has_xfree({x, y})
        True
        """
        return self.has(*patterns)

    def atoms(self, *types: Basic | type) -> set[Basic]:
        """The leaves of the graph, or its nodes of the given types.

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
        """The number of nodes that compute something.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> se.sin(A @ x).count_ops()
        2
        """
        return Integer(sum(1 for node in postorder([self]) if children(node)))

    def is_constant(self, *wrt: Basic, **flags: object) -> bool:
        """Whether the expression is free of the given symbols (of all symbols, without any). It
        depends on an entry where it does on the tensor of that.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> se.sin(x).is_constant(), se.sin(x).is_constant(y), se.Ones(3).is_constant()
        (False, True, True)
        """
        given = [as_basic(value) for value in wrt]
        tensors = {leaf for v in given if isinstance(v, TensorExpr) for leaf in v._leaves()}
        kept = {leaf for leaf in tensors if isinstance(leaf, TensorExpr)}.union(given)
        return not (self._leaves() & kept if wrt else self._leaves())

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
        return not self.shape and any(isinstance(leaf, Symbol) for leaf in self._leaves())

    def as_entry_power(self) -> tuple[TensorExpr, Expr]:
        """The tensor of which this is a power entry by entry, and the exponent, a number. By
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

    def doit(self, **hints: object) -> TensorExpr:
        """The expression with the integrals, sums and derivatives in its scalars evaluated.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> from sympy import Integral
        >>> x, t = se.TensorSymbol("x", 3), symbols("t")
        >>> (Integral(t, (t, 0, 1)) * x).doit()
        x/2
        """
        if not any(issubclass(kind, UNEVALUATED) for kind in kinds_in(self)):
            return self

        def visit(node: Basic, below: Operands) -> Basic:
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

    def __float__(self) -> float:
        try:
            return Expr.__float__(self)
        except TypeError:
            raise TypeError(
                f"{str(self)[:80]} is an expression and no number; lambdify computes it, and "
                "functions of it are SymPy's or sympy_einsum's, not those of math"
            ) from None

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is symbolic and has no array of numbers; "
            "use sympy_einsum.lambdify to evaluate it, and functions of sympy_einsum, such as "
            "softmax and logsumexp, in place of those that make arrays of what they are given"
        )


# What an operation is applied to: a tensor, or a scalar of SymPy's.
Operand: TypeAlias = TensorExpr | Expr
# What a user may write in its place.
TensorLike: TypeAlias = "Operand | ArrayLike"
# Several expressions: functions that take these too then give a list.
Several: TypeAlias = "list[Operand] | tuple[Operand, ...]"
