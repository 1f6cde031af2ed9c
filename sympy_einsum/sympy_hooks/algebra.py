"""Hooks of SymPy's algebra on tensor expressions: expansion, series, substitution.

Of a scalar with ordinary symbols inside, the algebra in these is that of the sum in which they
stand outside of tensor products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import Basic, Derivative, Expr, Limit, MatrixBase, NDimArray, Subs, Symbol
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.evalf import prec_to_dps
from sympy.core.function import FunctionClass

from .. import operations as ops
from ..core import TensorError, UnsupportedError, deferred, transform
from ..expressions import (
    STOCK_TENSORS,
    STOCK_VARIABLES,
    Constant,
    Node,
    Operand,
    Operands,
    TensorSymbol,
    Unknown,
    as_basic,
    as_operand,
    fill_in,
    kinds_in,
    rebuild,
    shape_of,
    substitute,
    substitute_function,
)
from .patterns import wild_values
from .replacing import found_in, replaced, rewritten

# Nodes of stock scalars that may be evaluated later.
UNEVALUATED = (Derivative, ExprWithLimits, Limit, Subs)

_diff = deferred("calculus", "diff")
_is_part_of_symbol = deferred("calculus", "is_part_of_symbol")
_expand = deferred("rules", "expand")
_factor = deferred("rules", "factor")
_simplify = deferred("rules", "simplify")
# Rules that arrange the factors of a product.
_ARRANGEMENTS = {"components", "denest", "halves", "square", "symmetric"}
_symbols_outside = deferred("rules", "symbols_outside")
_series_with_order = deferred("power_series", "series_with_order")
_leading_term = deferred("power_series", "leading_term")
_number = deferred("evaluation", "evaluated_scalar")
_with_numbers = deferred("evaluation", "with_numbers")


def _outside(node: Node) -> Expr:
    """Return a scalar with its ordinary symbols outside of tensor products; a tensor stays."""
    return node if node.shape else _symbols_outside(node)


def _is_kind(name: str) -> Callable[[Node, set[Symbol]], bool | None]:
    def ask(self: Node, syms: set[Symbol]) -> bool | None:
        outside = _outside(self)
        return self.is_constant(*syms) if outside is self else getattr(outside, name)(*syms)

    return ask


def _expansion(node: Node, x: Symbol, cdir: Expr, expand: Callable[[str], Expr]) -> Expr:
    """Expand a scalar by its power series, for positive, negative or all values of the variable."""
    if node.is_constant(x):
        return node
    side = "-" if cdir == -1 else "+" if cdir == 1 or x.is_positive else "+-"
    try:
        return expand(side)
    except UnsupportedError as error:
        # SymPy goes other ways only where an error says that it is about what isn't implemented.
        raise NotImplementedError(str(error)) from error


class AlgebraHooks(Node):
    """Mixin of the methods that SymPy's algorithms call on each part of an expression."""

    __slots__ = ()

    def expand(
        self,
        deep: bool = True,
        modulus: Expr | None = None,
        power_base: bool = True,
        power_exp: bool = True,
        mul: bool = True,
        *others: bool,
        **hints: object,
    ) -> Operand:
        """Return the expression with its products multiplied out; of a scalar with ordinary symbols
        inside as far as is needed for these to stand outside of tensor products.

        >>> import sympy_einsum as se
        >>> A, B = se.tensors("A B", 3, 3)
        >>> (A @ (A + B)).expand()
        A @ B + A @ A
        """
        if not mul:
            return self
        outside = _outside(self)
        if outside is not self:
            return outside.expand(deep, modulus, power_base, power_exp, mul, *others, **hints)
        return self if self.is_Function else _expand(self)

    def subs(self, *args: object, **options: object) -> Operand:
        """Substitute as SymPy's ``subs``. An array in the place of a tensor symbol brings its axis
        lengths along, and then all is replaced at once.

        Raises TensorError for strings, which SymPy would evaluate, and ShapeError for what has
        another shape than what it replaces.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> n = symbols("n", integer=True, positive=True)
        >>> x = se.TensorSymbol("x", n)
        >>> (x @ x).subs(x, 2 * x), (x @ x).subs(x, [1, 2, 3]), x.subs(n, 3).shape
        (4*(x @ x), Constant([1, 2, 3]) @ Constant([1, 2, 3]), (3,))
        """
        return substituted(self, *args, **options)

    def replace(
        self,
        query: object,
        value: Any = None,
        map: bool = False,
        simultaneous: bool = True,
        exact: bool | None = None,
    ) -> Any:
        """Replace as SymPy's ``replace``: a function is replaced inside of tensors too, with its
        derivatives where it is an unknown one, a type of node by a function of its operands, a
        symbol or node by another. A function as the query sees every node, the parts of scalar
        functions too. A pattern with ``Wild`` matches what is computed entry by entry, numbers and
        tensors alike.

        Raises UnsupportedError for patterns inside of products, and for functions that build
        several nodes or have options.

        >>> import sympy_einsum as se
        >>> from sympy import Function
        >>> f, x, A = Function("f"), se.TensorSymbol("x", 3), se.TensorSymbol("A", 3, 3)
        >>> f(x).sum().replace(f, se.tanh)
        tanh(x).sum()
        >>> (se.inv(A) @ se.exp(x)).replace(se.exp, se.cos).replace(se.inv, se.pinv)
        pinv(A) @ cos(x)
        >>> from sympy import Wild, cos
        >>> w = Wild("w")
        >>> (A @ se.exp(2 * x)).replace(se.exp(2 * w), cos(w))
        A @ cos(x)
        """
        return replaced(self, query, value, map, exact)

    def match(self, pattern: Basic, old: bool = False) -> dict[Basic, Basic] | None:
        """Return SymPy's ``match``: the values of the wild symbols for which a pattern is the
        expression, entry by entry; None without any.

        Raises UnsupportedError for wild symbols inside of products, inverses and the like.

        >>> import sympy_einsum as se
        >>> from sympy import Wild
        >>> x, y, w, b = *se.tensors("x y", 3), Wild("w"), Wild("b")
        >>> (2 * x + se.exp(y)).match(w * x + b) == {w: 2, b: se.exp(y)}
        True
        """
        return wild_values(self, as_basic(pattern), old)

    def find(self, query: object, group: bool = False) -> Any:
        """Return SymPy's ``find``: the set of nodes, and of parts of scalar functions, of a type,
        that match a pattern, or for which a function is true. With ``group`` a dictionary; each
        distinct one counts once.

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
        >>> (A @ se.exp(1 + se.sin(x))).find(se.sin)
        {sin(x)}
        """
        found = found_in(self, query)
        return dict.fromkeys(found, 1) if group else found

    def count(self, query: object) -> int:
        """Return how many distinct nodes and parts of scalar functions ``find`` finds.

        >>> import sympy_einsum as se
        >>> x = se.TensorSymbol("x", 3)
        >>> (se.exp(x) + se.exp(2 * x)).count(se.exp)
        2
        """
        return len(found_in(self, query))

    def _rewrite(self, pattern: Any, rule: object, method: str, **hints: Any) -> Basic:
        if method == "_eval_rewrite_as_tractable":
            return _symbols_outside(self)
        return rewritten(self, tuple(pattern), rule, method, **hints)

    def doit(self, **hints: object) -> Operand:
        """Return the expression with the integrals, sums and derivatives in its scalars evaluated,
        and the scalars without symbols in it as numbers.

        >>> from sympy import symbols
        >>> import sympy_einsum as se
        >>> from sympy import Integral
        >>> x, t = se.TensorSymbol("x", 3), symbols("t")
        >>> (Integral(t, (t, 0, 1)) * x).doit(), (x @ x).subs(x, [1, 2, 3]).doit()
        (x/2, 14)
        """

        def visit(node: Basic, below: Operands) -> Basic:
            done = rebuild(node, below) if below else node
            return done.doit(**hints) if isinstance(done, UNEVALUATED) else done

        kinds = kinds_in(self)
        if any(issubclass(kind, UNEVALUATED) for kind in kinds):
            return transform([self], visit)[0].doit(**hints)
        return _with_numbers(self) if Constant in kinds else self

    def _eval_evalf(self, prec: int) -> Expr | None:
        # SymPy's nan has no value of one digit.
        return _number(self).evalf(max(prec_to_dps(prec), 2)) if self.is_number else None

    def __float__(self) -> float:
        return float(self._known_number())

    def __complex__(self) -> complex:
        return complex(self._known_number())

    def __int__(self) -> int:
        return int(self._known_number())

    def _known_number(self) -> Expr:
        if self.is_number:
            return _number(self)
        raise TypeError(
            f"{str(self)[:80]} is an expression, not a number; compute it with lambdify; "
            "functions of it are SymPy's or sympy_einsum's, not those of math"
        )

    def _eval_transpose(self) -> Operand:
        return ops.transpose(self)

    def _eval_adjoint(self) -> Operand:
        return ops.transpose(ops.conj(self))

    # The adjoint by the name that sympy.physics.secondquant asks for.
    _dagger_ = _eval_adjoint

    def _eval_conjugate(self) -> Operand:
        return ops.conj(self)

    def _eval_derivative(self, symbol: Symbol) -> Operand:
        return _diff(self, symbol)

    def _eval_simplify(self, **options: object) -> Operand:
        found, steps = _simplify(self, trace=True)
        # A scalar that is merely arranged in another way stays the one that users compare with.
        is_same = {step.rule for step in steps} <= _ARRANGEMENTS
        return self if is_same and not (self.shape or self.is_number) else found

    def normal(self) -> Operand:
        """Simplify a scalar; return other tensors unchanged. SymPy's ``simplify`` calls this for
        all parts of an expression.

        >>> import sympy_einsum as se
        >>> A = se.TensorSymbol("A", 4, 4)
        >>> (A.inv() @ A).trace().normal()
        4
        """
        return self if self.shape else self._eval_simplify()

    @property
    def _diff_wrt(self) -> bool:
        # Stock arrays of a tensor's entries are derived by; slices are ours alone.
        return not self.shape and _is_part_of_symbol(self)

    def _eval_factor(self) -> Operand:
        return _factor(self) if self.shape else self

    def _eval_expand_mul(self, **hints: object) -> Expr:
        return _outside(self)

    _eval_is_polynomial = _is_kind("is_polynomial")
    _eval_is_rational_function = _is_kind("is_rational_function")
    _eval_is_algebraic_expr = _is_kind("is_algebraic_expr")

    def _eval_is_meromorphic(self, x: Symbol, a: Expr) -> bool | None:
        outside = _outside(self)
        return self.is_constant(x) or (None if outside is self else outside.is_meromorphic(x, a))

    def _eval_nseries(self, x: Symbol, n: int, logx: Expr | None, cdir: Expr = 0) -> Expr:
        outside = _symbols_outside(self)
        if outside is not self:
            return outside._eval_nseries(x, n=n, logx=logx, cdir=cdir)
        return _expansion(self, x, cdir, lambda side: _series_with_order(self, x, n, side))

    def _eval_as_leading_term(self, x: Symbol, logx: Expr | None = None, cdir: Expr = 0) -> Expr:
        outside = _symbols_outside(self)
        if outside is not self:
            return outside.as_leading_term(x, logx=logx, cdir=cdir)
        return _expansion(self, x, cdir, lambda side: _leading_term(self, x, side))


def substituted(expr: Basic, *args: object, **options: object) -> Basic:
    """Return SymPy's ``subs`` of any expression of ours, or of any that has tensor symbols replaced
    by arrays."""
    pairs = _of_symbols_within(expr, _pairs(args))
    for old, new in pairs.items():
        if isinstance(old, FunctionClass):
            rest = [(other, value) for other, value in pairs.items() if other is not old]
            function: Any = new
            return substitute_function(expr, old, function).subs(rest, **options)
    for old, new in pairs.items():
        if isinstance(old, Unknown) and not old.degree:
            # The other pairs first, among which may be derivatives of the function.
            others = {other: value for other, value in pairs.items() if other is not old}
            inner = substituted(expr, others, **options) if others else expr
            return fill_in(inner, old, as_operand(new) if is_array(new) else as_basic(new))
    for new in pairs.values():
        if not is_array(new):
            as_basic(new)
    if not options.pop("simultaneous", False) and not any(map(is_array, pairs.values())):
        return Expr.subs(expr, list(pairs.items()), **options)
    # SymPy goes through scalar dummies, which can't stand for tensors; a rule is simultaneous.
    rule: dict[Basic, Basic] = {}
    for old, new in pairs.items():
        if isinstance(new, MatrixBase) and new.cols == 1 and len(shape_of(old)) == 1:
            rule[old] = as_operand(list(new))  # SymPy's vectors are columns
        else:
            rule[old] = as_operand(new) if is_array(new) else as_basic(new)
        if is_array(new):
            axes = zip(shape_of(old), shape_of(rule[old]), strict=False)
            rule.update({n: given for n, given in axes if n.is_Symbol and n not in pairs})
    return substitute(expr, rule, stock_rules=True)


def _of_symbols_within(expr: Basic, pairs: dict[Basic, object]) -> dict[Basic, object]:
    """Return the pairs for the symbols that an expression has: where lengths have been replaced, a
    tensor symbol is another one with the same name."""
    absent = [old for old in pairs if isinstance(old, TensorSymbol)]
    if not absent:
        return pairs
    free = expr.free_symbols
    found: dict[Basic, object] = {}
    for old, new in pairs.items():
        alike = [
            symbol
            for symbol in free.difference(pairs)
            if isinstance(symbol, TensorSymbol) and symbol.name == getattr(old, "name", None)
        ]
        if not isinstance(old, TensorSymbol) or old in free or not alike:
            found[old] = new
            continue
        symbol, *others = sorted(alike, key=str)
        if not others and _has_lengths_replaced(symbol, old):
            found[symbol] = new
        elif is_array(new):
            raise TensorError(
                f"the {old} to be replaced, of shape {old.shape}, doesn't occur; the {symbol} "
                f"in the expression is another symbol, of shape {symbol.shape}"
            )
    return found


def _has_lengths_replaced(symbol: TensorSymbol, old: TensorSymbol) -> bool:
    """Tell whether a symbol is another one with other lengths in the places of symbols."""
    return (
        symbol.order == old.order
        and symbol.assumptions == old.assumptions
        and all(a == b or a.free_symbols for a, b in zip(old.shape, symbol.shape, strict=True))
    )


def _as_replaced(old: Any) -> Basic:
    """Convert the target of a replacement: functions stay, matrix symbols and their entries become
    those of tensor symbols."""
    if isinstance(old, FunctionClass):
        return old
    return as_operand(old) if isinstance(old, STOCK_VARIABLES) else as_basic(old)


def is_array(value: object) -> bool:
    """Tell whether a value to be substituted is an array or a matrix, or one of SymPy's
    expressions."""
    return isinstance(value, (np.ndarray, list, tuple, MatrixBase, NDimArray, *STOCK_TENSORS))


def _pairs(args: tuple[object, ...]) -> dict[Basic, object]:
    """Map each target of ``subs`` to its replacement, from any form of the arguments."""
    given: Any = [args] if len(args) == 2 else args[0] if len(args) == 1 else None
    try:
        pairs = dict(given)
    except (TypeError, ValueError):
        pairs = {"": ""}
    if any(isinstance(part, str) for pair in pairs.items() for part in pair):
        raise TensorError(
            "subs takes an expression and its replacement, a dictionary, or a list of such pairs, "
            "and no strings"
        )
    return {_as_replaced(old): new for old, new in pairs.items()}
