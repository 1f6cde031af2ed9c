"""The table of scalar functions: what SymPy lacks or spells badly. One row per function.

May import: errors. A function that isn't here needs no row: SymPy differentiates it and prints
its numerical code. A row says how the function is spelled numerically (``np.`` and ``special.``
are replaced by the backend's namespaces; ``{0}``, ``{1}`` are the arguments) and, where SymPy's
derivative is missing or not of this world (DiracDelta, Heaviside), the derivative by each argument.

Conventions at kinks, as in [L, table 4.1] and the machine-learning frameworks: abs'(0) = 0,
sign' = 0, relu'(0) = 0; where the arguments of Max or Min tie, each of two shares one half.

References
==========

[L] A. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, table 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import sympy
from sympy import (
    Add,
    Derivative,
    DiracDelta,
    Dummy,
    Expr,
    Function,
    Heaviside,
    Max,
    Min,
    Mul,
    Piecewise,
    Pow,
    S,
    SingularityFunction,
    Subs,
    Symbol,
    exp,
    log,
    sign,
    sympify,
)

from .errors import TensorError, UnsupportedError
from .traversal import postorder


class _StableFunction(Function):
    """A scalar function kept whole, so that it can be evaluated without overflow."""

    def _eval_evalf(self, prec: int) -> Any:
        return self.rewrite(exp)._eval_evalf(prec)

    def _eval_is_extended_real(self) -> Any:
        return True if all(arg.is_extended_real for arg in self.args) else None

    def _numpycode(self, printer: Any, *args: Any) -> str:
        from_row = TABLE[type(self)].numeric
        assert from_row is not None
        text = from_row.format(*map(printer._print, self.args))
        return f"({text.replace('np.', 'numpy.').replace('special.', 'scipy.special.')})"


class relu(_StableFunction):
    """The rectifier max(x, 0), with the derivative 0 at 0.

    >>> import sympy_einsum as se
    >>> se.relu(-2), se.relu(3)
    (0, 3)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        if x.is_nonnegative:
            return x
        return S.Zero if x.is_nonpositive else None

    def _eval_is_extended_nonnegative(self) -> Any:
        return self.args[0].is_extended_real

    def fdiff(self, argindex: int = 1) -> Expr:
        """relu' = relu(sign(x)) [L, table 4.1]."""
        return relu(sign(self.args[0]))

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return Max(x, 0)


class sigmoid(_StableFunction):
    """The logistic function 1 / (1 + exp(-x)).

    >>> import sympy_einsum as se
    >>> se.sigmoid(0)
    1/2
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return S.Half if x.is_zero else None

    def _eval_is_extended_positive(self) -> Any:
        return self.args[0].is_extended_real

    def fdiff(self, argindex: int = 1) -> Expr:
        """sigmoid' = sigmoid (1 - sigmoid)."""
        return self * (1 - self)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return 1 / (1 + exp(-x))


class softplus(_StableFunction):
    """The smooth rectifier log(1 + exp(x)).

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.softplus(t).diff(t)
    sigmoid(t)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return log(2) if x.is_zero else None

    def _eval_is_extended_positive(self) -> Any:
        return self.args[0].is_extended_real

    def fdiff(self, argindex: int = 1) -> Expr:
        """softplus' = sigmoid."""
        return sigmoid(self.args[0])

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return log(1 + exp(x))


class logaddexp(_StableFunction):
    """log(exp(a) + exp(b)).

    >>> import sympy_einsum as se
    >>> from sympy.abc import s, t
    >>> se.logaddexp(s, t).diff(s), se.logaddexp(0, t)
    (sigmoid(s - t), softplus(t))
    """

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Any:
        """One argument that is zero makes a softplus."""
        if a.is_zero:
            return softplus(b)
        return softplus(a) if b.is_zero else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """d/da logaddexp(a, b) = sigmoid(a - b)."""
        a, b = self.args
        return sigmoid(a - b) if argindex == 1 else sigmoid(b - a)

    def _eval_rewrite_as_exp(self, a: Expr, b: Expr, **kwargs: Any) -> Expr:
        return log(exp(a) + exp(b))


class Row(NamedTuple):
    """How a function is computed, and its derivative where SymPy's is not the one to use."""

    numeric: str | None = None
    derivative: Callable[..., tuple[Any, ...]] | None = None


def _max_derivative(*args: Any) -> tuple[Any, ...]:
    # Max(a, b, c) is Max(a, Max(b, c)): 1 where a is larger, one half at a tie.
    partials: list[Any] = []
    weight: Any = S.One
    for k, arg in enumerate(args):
        rest = args[k + 1 :]
        share = (1 + sign(arg - Max(*rest))) / 2 if rest else S.One
        partials.append(weight * share)
        weight *= 1 - share
    return tuple(partials)


def _min_derivative(*args: Any) -> tuple[Any, ...]:
    return _max_derivative(*[-arg for arg in args])


def _zero(*args: Any) -> tuple[Any, ...]:
    return (S.Zero,) * len(args)


TABLE: dict[type, Row] = {
    relu: Row("np.maximum({0}, 0)"),
    sigmoid: Row("np.exp(-np.logaddexp(0, -({0})))"),
    softplus: Row("np.logaddexp({0}, 0)"),
    logaddexp: Row("np.logaddexp({0}, {1})"),
    sympy.Abs: Row("np.abs({0})", lambda x: (sign(x),)),
    sympy.sign: Row("np.sign({0})", _zero),
    sympy.Heaviside: Row("np.heaviside({0}, {1})", _zero),
    sympy.floor: Row("np.floor({0})", _zero),
    sympy.ceiling: Row("np.ceil({0})", _zero),
    sympy.Max: Row(None, _max_derivative),
    sympy.Min: Row(None, _min_derivative),
    sympy.exp: Row("np.exp({0})"),
    sympy.log: Row("np.log({0})"),
    sympy.sin: Row("np.sin({0})"),
    sympy.cos: Row("np.cos({0})"),
    sympy.tan: Row("np.tan({0})"),
    sympy.asin: Row("np.arcsin({0})"),
    sympy.acos: Row("np.arccos({0})"),
    sympy.atan: Row("np.arctan({0})"),
    sympy.atan2: Row("np.arctan2({0}, {1})"),
    sympy.sinh: Row("np.sinh({0})"),
    sympy.cosh: Row("np.cosh({0})"),
    sympy.tanh: Row("np.tanh({0})"),
    sympy.asinh: Row("np.arcsinh({0})"),
    sympy.acosh: Row("np.arccosh({0})"),
    sympy.atanh: Row("np.arctanh({0})"),
    sympy.sec: Row("(1/np.cos({0}))"),
    sympy.csc: Row("(1/np.sin({0}))"),
    sympy.cot: Row("(1/np.tan({0}))"),
    sympy.sech: Row("(1/np.cosh({0}))"),
    sympy.csch: Row("(1/np.sinh({0}))"),
    sympy.coth: Row("(1/np.tanh({0}))"),
    sympy.erf: Row("special.erf({0})"),
    sympy.erfc: Row("special.erfc({0})"),
    sympy.erfi: Row("special.erfi({0})"),
    sympy.erfinv: Row("special.erfinv({0})"),
    sympy.erfcinv: Row("special.erfcinv({0})"),
    sympy.gamma: Row("special.gamma({0})"),
    sympy.loggamma: Row("special.gammaln({0})"),
    sympy.digamma: Row("special.digamma({0})"),
    sympy.beta: Row("special.beta({0}, {1})"),
    sympy.besselj: Row("special.jv({0}, {1})"),
    sympy.bessely: Row("special.yv({0}, {1})"),
    sympy.besseli: Row("special.iv({0}, {1})"),
    sympy.besselk: Row("special.kv({0}, {1})"),
    sympy.Si: Row("special.sici({0})[0]"),
    sympy.Ci: Row("special.sici({0})[1]"),
    sympy.Shi: Row("special.shichi({0})[0]"),
    sympy.Chi: Row("special.shichi({0})[1]"),
    sympy.Ei: Row("special.expi({0})"),
    sympy.expint: Row("special.expn({0}, {1})"),
    sympy.LambertW: Row("np.real(special.lambertw({0}))"),
    sympy.zeta: Row("special.zeta({all})"),
    sympy.KroneckerDelta: Row("(1.0 * (({0}) == ({1})))"),
    sympy.conjugate: Row("np.conj({0})"),
    sympy.re: Row("np.real({0})"),
    sympy.im: Row("np.imag({0})"),
}

# An exact number of more bits is of no use, and takes for ever to compute.
MAX_BITS = 10**6


def exact_power(base: Any, exponent: Any) -> Expr:
    """SymPy's power, if that isn't a rational number too long to be computed.

    >>> exact_power(2, 10)
    1024
    """
    base, exponent = sympify(base), sympify(exponent)
    if base.is_Rational and exponent.is_Rational:
        bits = max(int(base.p).bit_length(), int(base.q).bit_length()) - 1
        if bits * abs(exponent) > MAX_BITS:
            raise TensorError(
                f"an exact power has more than {MAX_BITS} bits; give the base or the exponent as "
                "a floating-point number, such as 2.0"
            )
    return Pow(base, exponent)


def folded(body: Expr, values: Mapping[Any, Any]) -> Expr:
    """A body with numbers in the place of some of its symbols."""
    if body.has(Pow):
        for part in postorder([body], lambda node: node.args):
            if part.is_Pow:
                exact_power(part.base.xreplace(values), part.exp.xreplace(values))
    return body.xreplace(values)


# What must never stand in a derivative: generalised functions and unevaluated ones.
_FORBIDDEN = (DiracDelta, Heaviside, SingularityFunction, Derivative, Subs)


@lru_cache(maxsize=4096)
def derivative(expr: Expr, symbol: Symbol) -> Expr:
    """The derivative of a scalar expression by one of its symbols, by the table's conventions.

    Raises UnsupportedError where SymPy has none, naming the function.

    >>> from sympy import Abs, Symbol, exp
    >>> u = Symbol("u", real=True)
    >>> derivative(u * Abs(u), u)
    u*sign(u) + Abs(u)
    """
    if expr == symbol:
        return S.One
    if symbol not in expr.free_symbols:
        return S.Zero
    if expr.is_Add:
        return Add(*[derivative(arg, symbol) for arg in expr.args])
    if expr.is_Mul:
        return Add(
            *[
                Mul(*expr.args[:k], derivative(arg, symbol), *expr.args[k + 1 :])
                for k, arg in enumerate(expr.args)
                if symbol in arg.free_symbols
            ]
        )
    if isinstance(expr, Piecewise):
        return Piecewise(*[(derivative(value, symbol), cond) for value, cond in expr.args])
    if expr.is_Pow and symbol not in expr.exp.free_symbols:
        return expr.exp * Pow(expr.base, expr.exp - 1) * derivative(expr.base, symbol)
    if isinstance(expr, (Function, Pow, Max, Min)):
        partials = _partials(expr, symbol)
        return Add(*[p * derivative(a, symbol) for p, a in zip(partials, expr.args, strict=True)])
    return _checked(expr, expr.diff(symbol))


def _partials(expr: Expr, symbol: Symbol) -> list[Expr]:
    """The derivative by each argument in which the symbol occurs, 0 for the others."""
    row = TABLE.get(type(expr))
    if row is not None and row.derivative is not None:
        return list(row.derivative(*expr.args))
    # Fresh real symbols: SymPy's derivatives of Abs and the like need to know the domain.
    dummies = [arg if symbol not in arg.free_symbols else Dummy(real=True) for arg in expr.args]
    back = dict(zip(dummies, expr.args, strict=True))
    partials: list[Expr] = []
    for arg, dummy in zip(expr.args, dummies, strict=True):
        if arg is dummy:
            partials.append(S.Zero)
            continue
        try:
            partial = expr.func(*dummies).diff(dummy)
        except (NotImplementedError, ValueError, TypeError, AttributeError) as error:
            raise UnsupportedError(f"SymPy has no derivative of {expr.func}: {error}") from error
        partials.append(_checked(expr, partial).xreplace(back))
    return partials


def _checked(expr: Expr, result: Expr) -> Expr:
    blob = next((kind for kind in _FORBIDDEN if result.has(kind)), None)
    if blob is not None:
        raise UnsupportedError(
            f"no derivative of {getattr(expr.func, '__name__', expr.func)}: "
            f"SymPy gives {str(result)[:200]}, which can't be evaluated"
        )
    return result
