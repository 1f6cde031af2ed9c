"""The base class of tensor expressions: the interface of a node to stock SymPy.

Stock SymPy traverses ``args`` recursively, once per path: on deep graphs that overflows the stack,
on shared ones it takes exponential time. So ``args`` has the leaves only: ``(tag, *free symbols)``.
To stock code a tensor expression is an applied function of its leaves; ``func`` rebuilds it by
substituting leaves. Our passes use ``operands``, the children."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from sympy import Basic, Derivative, Expr, Integer, S
from sympy.core.expr import AtomicExpr
from sympy.core.function import AppliedUndef
from sympy.core.rules import Transform
from sympy.core.symbol import Str

from ..core import TensorError, children, deferred, postorder, sort_key
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

    # The methods and operators that sympy_hooks attaches, where every type of node is defined.
    from ..sympy_hooks import Methods
else:
    Methods = Node


_LENGTHS = Str("lengths")
_holds_complex = deferred("expressions", "holds_complex")
_is_nonnegative = deferred("analysis", "is_nonnegative")
_is_positive = deferred("analysis", "is_positive")


class AppliedFunction:
    """The base of nodes that stand for a function at a point."""

    __slots__ = ()


_APPLIED = (AppliedUndef, Derivative, AppliedFunction)


class NodeTag(AtomicExpr):
    """The first of a node's ``args``. It distinguishes nodes with the same leaves; its own ``args``
    are a name and the symbols in the leaves' axis lengths, where stock code finds them."""

    __slots__ = ("node", "stored")
    stored: tuple[Basic, ...]
    is_commutative = True
    is_number = False

    def __new__(cls, node: TensorExpr, *args: Basic) -> NodeTag:
        self = AtomicExpr.__new__(cls)
        self.node = node
        self.stored = args
        return self

    @property
    def args(self) -> tuple[Basic, ...]:
        if not self.stored:
            lengths = lengths_of(*self.node._leaves())
            # The name keeps SymPy from concluding that an expression is real because all atoms are.
            self.stored = (_LENGTHS, *sorted(lengths, key=sort_key)) if lengths else ()
        return self.stored

    @property
    def func(self) -> Callable[..., NodeTag]:
        return partial(NodeTag, self.node)

    def __reduce_ex__(self, protocol: object) -> tuple[type, tuple[Basic, ...]]:
        return NodeTag, (self.node, *self.stored)

    def __getnewargs__(self) -> tuple[Basic, ...]:
        return (self.node, *self.stored)

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
    """``node.func``: rebuilds a node from new ``args`` by substituting leaves."""

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
        current = self.node.args
        if len(args) != len(current) or not isinstance(args[0], NodeTag):
            raise TensorError(
                f"{self.__name__}.func takes the {len(current)} arguments of .args "
                f"(a tag and the leaves), not {len(args)}"
            )
        tag, *leaves = current
        replacements = [
            *zip(leaves, args[1:], strict=True),
            *zip(tag.args, args[0].args, strict=True),
        ]
        return substitute(self.node, {old: new for old, new in replacements if old != new})


# Attributes of SymPy's expressions that completion shows.
_FROM_STOCK = {"args", "atoms", "cancel", "coeff", "collect", "count", "doit", "evalf", "expand"}
_FROM_STOCK |= {"factor", "find", "free_symbols", "func", "has", "integrate", "limit", "match", "n"}
_FROM_STOCK |= {"replace", "rewrite", "series", "simplify", "subs", "together", "xreplace"}


class TensorExpr(Methods):
    """Base class of tensor expressions.

    Attributes
    ==========

    shape : tuple of axis lengths, SymPy expressions
    order : the number of axes
    operands : the nodes from which it is computed

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
    is_complex = True
    _op_priority = 100.0
    # Stock code would treat an iterable as a sequence of arguments.
    _iterable = False

    def __dir__(self) -> list[str]:
        """List our attributes, and of SymPy's those that users call."""
        own = type(self)
        left_out = {
            name
            for name in {*dir(Expr)} - _FROM_STOCK
            if not name.startswith("_") and getattr(own, name, None) is getattr(Expr, name, own)
        }
        return [name for name in super().__dir__() if name not in FOR_PASSES | left_out]

    def __bool__(self) -> bool:
        # Without it a tensor with an axis of length 0 would be false.
        return True

    def __reduce_ex__(
        self, protocol: object
    ) -> tuple[Callable[..., Expr], tuple[tuple[Entry, ...]]]:
        return unflatten, (flatten(self),)

    @property
    def is_symmetric(self) -> bool:
        """Whether it is a matrix that is constructed equal to its transpose.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", (3, 3))
        >>> A.is_symmetric, se.TensorSymbol("K", (3, 3), symmetric=True).is_symmetric
        (False, True)
        """
        return False

    @property
    def generators(self) -> tuple[tuple[int, ...], ...]:
        """The permutations of three or more axes that generate the declared symmetries.

        >>> import sympy_einsum as se
        >>> se.TensorSymbol("T", (3, 3, 3)).generators
        ()
        """
        return ()

    @property
    def permutations(self) -> tuple[tuple[int, ...], ...]:
        """All permutations of axes that are declared to leave it invariant, () if only the identity
        does.

        >>> import sympy_einsum as se
        >>> len(se.TensorSymbol("T", (3, 3, 3), symmetric=True).permutations)
        6
        """
        return ()

    # --- the interface to stock SymPy

    @property
    def args(self) -> tuple[Basic, ...]:
        """A tag, the free symbols and undefined functions of ordinary symbols. The children are
        ``operands``.

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
        """Whether it is a scalar without symbols, which has a value for ``float``, ``evalf`` and
        comparisons.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 2)
        >>> (x @ x).is_number, (x @ x).subs(x, [1, 2]).is_number
        (False, True)
        """
        return not self.shape and are_numeric(kinds_in(self))

    def _applied(self) -> set[Basic]:
        """Return the undefined functions of ordinary symbols, such as q(t) in a Lagrangian, and
        their derivatives."""
        if not any(issubclass(kind, _APPLIED) for kind in kinds_in(self)):
            return set()
        nodes = postorder([self])
        found: set[Any] = {e for e in nodes if issubclass(type(e), _APPLIED) and e is not self}
        return {e for e in found if not any(isinstance(s, Node) for s in e.free_symbols)}

    def _leaves(self) -> frozenset[Basic]:
        # Large sets are cached only at the root of a query: with a new symbol on each level, sets
        # at all nodes would take quadratic memory.
        if self._free is None:
            self._free = free_leaves(self)
        return self._free

    @property
    def free_symbols(self) -> set[Any]:
        """The tensor symbols and ordinary symbols in the expression, without those in axis lengths,
        as for SymPy's matrices.

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
        """Return the number of nodes with operands.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
        >>> se.sin(A @ x).count_ops()
        2
        """
        return Integer(sum(1 for node in postorder([self]) if children(node)))

    def is_constant(self, *wrt: Basic, **flags: object) -> bool:
        """Tell whether the expression is independent of the given symbols, or of all symbols if
        none is given. It depends on an entry if it depends on the entry's tensor or on that
        tensor's axis lengths.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 3)
        >>> se.sin(x).is_constant(), se.sin(x).is_constant(y), se.Ones(3).is_constant()
        (False, True, True)
        """
        variables = [as_basic(value) for value in wrt]
        tensors = {leaf for v in variables if isinstance(v, TensorExpr) for leaf in v._leaves()}
        sources = {leaf for leaf in tensors if isinstance(leaf, TensorExpr)}.union(variables)
        leaves = self._leaves()
        return sources.isdisjoint(leaves | lengths_of(*leaves)) if wrt else not leaves

    @property
    def is_Function(self) -> bool:
        """Whether it is a scalar that depends on ordinary symbols, so that ``sympy.solve``,
        ``limit`` and others treat it as a function of them.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> t = symbols("t")
        >>> (x @ x).is_Function, (se.sin(t * x) @ x).is_Function
        (False, True)
        """
        return not self.shape and any(map(is_variable, self._leaves()))

    def as_entry_power(self) -> tuple[TensorExpr, Expr]:
        """Return a tensor and a number so that this is the tensor to the power of the number,
        entrywise. ``as_base_exp`` stays SymPy's, which would combine powers to scalars.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> (x**2).as_entry_power(), x.as_entry_power()
        ((x, 2), (x, 1))
        """
        return self, S.One

    def could_extract_minus_sign(self) -> bool:
        """Return False, so that SymPy moves no signs.

        >>> import sympy_einsum as se
        >>> (-se.TensorSymbol("x", 3)).could_extract_minus_sign()
        False
        """
        return False

    # SymPy's queries for the kind and the signs of scalars.

    @property
    def is_real(self) -> bool | None:
        """True; None where there are complex numbers inside.

        >>> from sympy import I
        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> x.is_real, se.exp(I * x).sum().is_real
        (True, None)
        """
        return None if _holds_complex(self) else True

    is_extended_real = is_hermitian = is_real

    @property
    def is_imaginary(self) -> bool | None:
        """False; None where there are complex numbers inside.

        >>> from sympy import I
        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> x.is_imaginary, se.exp(I * x).sum().is_imaginary
        (False, None)
        """
        return None if _holds_complex(self) else False

    def _eval_is_real(self) -> bool | None:
        return self.is_real

    _eval_is_extended_real = _eval_is_hermitian = _eval_is_real

    def _eval_is_nonnegative(self) -> bool | None:
        return _is_nonnegative(self) or None

    def _eval_is_positive(self) -> bool | None:
        return _is_positive(self) or None

    # --- substitution

    def xreplace(self, rule: Mapping[Basic, Basic] | Transform) -> Basic:
        """Replace nodes, symbols and lengths exactly and simultaneously.

        Raises TensorError unless the rule is a dictionary, ShapeError for a replacement of another
        shape.

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
            # SymPy's Transform is a function of expressions; it is applied to the leaves.
            rule = {leaf: rule[leaf] for leaf in self._leaves() if leaf in rule}
        result = substitute(self, rule)
        return result, result is not self

    def _subs(self, old: Basic | type, new: Basic, **hints: object) -> Basic:
        if isinstance(old, type):
            return substitute_function(self, old, new)
        if isinstance(old, TensorExpr):
            return old._substituted_in(self, new)
        return substitute(self, {old: new}, stock_rules=True)

    def _substituted_in(self, root: Basic, new: Basic) -> Basic:
        """Return a graph with the expression replaced; what stands for a function has its own
        way."""
        return substitute(root, {self: new}, stock_rules=True)

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is symbolic and has no array of numbers; "
            "use sympy_einsum.lambdify to evaluate it, .as_explicit() to write out its entries, "
            "sympy_einsum.numpy.array in place of numpy.array for a matrix of entries, "
            "and functions of sympy_einsum, such as softmax and logsumexp, in place of those that "
            "convert their arguments to arrays"
        )


# An operand: a tensor, or a SymPy scalar. The Any lets a result be used as a tensor without a test.
Operand: TypeAlias = TensorExpr | Any
# The type of arguments that are converted to operands.
TensorLike: TypeAlias = "Operand | ArrayLike"
# Several expressions, for which a function returns a list.
Several: TypeAlias = "list[Operand] | tuple[Operand, ...]"
