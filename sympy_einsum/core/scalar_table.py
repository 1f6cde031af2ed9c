"""The table of scalar functions: what SymPy lacks or spells badly. One row per function.

A function that isn't here needs no row: SymPy differentiates it and prints its numerical code. A
row says how the function is spelled numerically (``np.`` and ``special.`` are replaced by the
backend's namespaces; ``{0}``, ``{1}`` are the arguments, ``{all}`` all of them) and, where SymPy's
derivative is missing, not of this world (DiracDelta, Heaviside) or not right everywhere, the
derivative by each argument.

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
    Abs,
    Add,
    Derivative,
    DiracDelta,
    Dummy,
    Expr,
    Function,
    Heaviside,
    KroneckerDelta,
    LambertW,
    Max,
    Min,
    Mul,
    Piecewise,
    Pow,
    S,
    SingularityFunction,
    Subs,
    Symbol,
    atan,
    cos,
    csch,
    erf,
    exp,
    jn,
    log,
    sign,
    sin,
    sinc,
    sympify,
    tanh,
)

from .errors import TensorError, UnsupportedError
from .limits import piecewise_derivative
from .special_functions import Slopes, WholeFunction, fmax, fmin, masked, powlog, spherical_in, step
from .traversal import postorder


class relu(WholeFunction):
    """The rectifier max(x, 0), with the derivative 0 at 0.

    >>> import sympy_einsum as se
    >>> se.relu(-2), se.relu(3)
    (0, 3)
    """

    nargs = 1
    numeric = "np.maximum({0}, 0)"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        if x.is_nonnegative:
            return x
        return S.Zero if x.is_nonpositive else None

    def _eval_is_extended_nonnegative(self) -> Any:
        return self.args[0].is_extended_real

    def slopes(self) -> Slopes:
        """relu' = [x > 0], which is relu(sign(x)) of [L, table 4.1]."""
        return (step(self.args[0]),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return Max(x, 0)


class sigmoid(WholeFunction):
    """The logistic function 1 / (1 + exp(-x)).

    >>> import sympy_einsum as se
    >>> se.sigmoid(0)
    1/2
    """

    nargs = 1
    numeric = "np.exp(-np.logaddexp(0, -({0})))"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return S.Half if x.is_zero else None

    def _eval_is_extended_positive(self) -> Any:
        return self.args[0].is_extended_real

    def slopes(self) -> Slopes:
        """sigmoid' = sigmoid (1 - sigmoid)."""
        return (self * (1 - self),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return 1 / (1 + exp(-x))


class sigmoid_slope(WholeFunction):
    """sigmoid(x) (1 - sigmoid(x)) with one exponential, which only generated code has.

    >>> from sympy import Symbol
    >>> sigmoid_slope(Symbol("x", real=True)).is_extended_positive
    True
    """

    nargs = 1
    numeric = "(np.exp(-np.abs({0})) / (1 + np.exp(-np.abs({0})))**2)"

    def _eval_is_extended_positive(self) -> Any:
        return self.args[0].is_extended_real

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return exp(x) / (1 + exp(x)) ** 2


class softplus(WholeFunction):
    """The smooth rectifier log(1 + exp(x)).

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.softplus(t).diff(t)
    sigmoid(t)
    """

    nargs = 1
    numeric = "np.logaddexp({0}, 0)"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return log(2) if x.is_zero else None

    def _eval_is_extended_positive(self) -> Any:
        return self.args[0].is_extended_real

    def slopes(self) -> Slopes:
        """softplus' = sigmoid."""
        return (sigmoid(self.args[0]),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return log(1 + exp(x))


class logaddexp(WholeFunction):
    """log(exp(a) + exp(b)).

    >>> import sympy_einsum as se
    >>> from sympy.abc import s, t
    >>> se.logaddexp(s, t).diff(s), se.logaddexp(0, t)
    (sigmoid(s - t), softplus(t))
    """

    nargs = 2
    numeric = "np.logaddexp({0}, {1})"

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Any:
        """One argument that is zero makes a softplus."""
        if a.is_zero:
            return softplus(b)
        return softplus(a) if b.is_zero else None

    def slopes(self) -> Slopes:
        """d/da logaddexp(a, b) = sigmoid(a - b)."""
        a, b = self.args
        return sigmoid(a - b), sigmoid(b - a)

    def _eval_rewrite_as_exp(self, a: Expr, b: Expr, **kwargs: Any) -> Expr:
        return log(exp(a) + exp(b))


class Row(NamedTuple):
    """How a function is computed, and its derivatives where SymPy's are not those to use: by each
    argument, None where there is none."""

    numeric: str | Callable[..., str] | None = None
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


def _power_derivative(base: Any, exponent: Any) -> tuple[Any, ...]:
    return exponent * base ** (exponent - 1), powlog(base, exponent, S.One)


def _spherical_derivative(order: Any, x: Any) -> tuple[Any, ...]:
    # By two other orders, without a quotient.
    if order.is_zero:
        return None, -jn(1, x)
    below = jn(order - 1, x) if order != 1 else sinc(x)
    return None, (order * below - (order + 1) * jn(order + 1, x)) / (2 * order + 1)


def _lambertw_derivative(x: Any, *branch: Any) -> tuple[Any, ...]:
    value = LambertW(x, *branch)
    return exp(-value) / (1 + value), *[None for _ in branch]


def _lambertw_code(x: Any, branch: Any = S.Zero) -> str:
    # Real on the right of the branch point; the branch -1 on the left of 0 only.
    beyond = "({0} < -1/np.e)" + (" | ({0} > 0)" if branch == -1 else "")
    return f"np.where({beyond}, np.nan, np.real(special.lambertw({{all}})))"


def _binomial_code(n: Any, k: Any) -> str:
    if k.is_Integer:
        factors = "*".join([f"({{0}} - {j})" if j else "{0}" for j in range(k)])
        return f"({factors} / {sympy.factorial(k)})"
    return "special.binom({0}, {1})"


def _binomial_derivative(n: Any, k: Any) -> tuple[Any, ...]:
    if k.is_Integer:
        factors = [n - j for j in range(k)]
        rest = [Mul(*factors[:j], *factors[j + 1 :]) for j in range(k)]
        return Add(*rest) / sympy.factorial(k), None
    value, below = sympy.binomial(n, k), sympy.digamma(n - k + 1)
    return value * (sympy.digamma(n + 1) - below), value * (below - sympy.digamma(k + 1))


def _zero(*args: Any) -> tuple[Any, ...]:
    return (S.Zero,) * len(args)


TABLE: dict[type, Row] = {
    sympy.Abs: Row("np.abs({0})", lambda x: (sign(x),)),
    sympy.sign: Row("np.sign({0})", _zero),
    sympy.Heaviside: Row("np.heaviside({0}, {1})", lambda x, at_0: (0, KroneckerDelta(x, 0))),
    sympy.floor: Row("np.floor({0})", _zero),
    sympy.ceiling: Row("np.ceil({0})", _zero),
    sympy.Pow: Row(None, _power_derivative),
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
    sympy.coth: Row("(1/np.tanh({0}))", lambda x: (-(csch(x) ** 2),)),
    sympy.sinc: Row("np.sinc({0} / np.pi)", lambda x: (-jn(1, x),)),
    sympy.jn: Row("special.spherical_jn({0}, {1})", _spherical_derivative),
    sympy.erf: Row("special.erf({0})"),
    sympy.erfc: Row("special.erfc({0})"),
    sympy.erfi: Row("special.erfi({0})"),
    sympy.erfinv: Row("special.erfinv({0})"),
    sympy.erfcinv: Row("special.erfcinv({0})"),
    sympy.gamma: Row("special.gamma({0})"),
    sympy.loggamma: Row("special.loggamma({0})"),
    sympy.factorial: Row("special.gamma({0} + 1)"),
    sympy.digamma: Row("special.digamma({0})"),
    sympy.polygamma: Row(
        lambda n, x: "special.digamma({1})" if n.is_zero else "special.polygamma({0}, {1})"
    ),
    sympy.beta: Row("special.beta({0}, {1})"),
    sympy.besselj: Row("special.jv({0}, {1})"),
    sympy.bessely: Row("special.yv({0}, {1})"),
    sympy.besseli: Row("special.iv({0}, {1})"),
    sympy.besselk: Row("special.kv({0}, {1})"),
    sympy.binomial: Row(_binomial_code, _binomial_derivative),
    sympy.Si: Row("special.sici({0})[0]", lambda x: (sinc(x),)),
    sympy.Ci: Row("special.sici({0})[1]"),
    sympy.Shi: Row("special.shichi({0})[0]", lambda x: (spherical_in(0, x),)),
    sympy.Chi: Row("special.shichi({0})[1]"),
    sympy.Ei: Row("special.expi({0})"),
    sympy.expint: Row("special.expn({0}, {1})"),
    sympy.LambertW: Row(_lambertw_code, _lambertw_derivative),
    sympy.zeta: Row("special.zeta({all})"),
    sympy.KroneckerDelta: Row("(1.0 * (({0}) == ({1})))", _zero),
    sympy.conjugate: Row("np.conj({0})"),
    sympy.re: Row("np.real({0})"),
    sympy.im: Row("np.imag({0})"),
}


def numeric_of(expr: Expr) -> str | None:
    """The numerical code of a function at some arguments, if we know one."""
    if isinstance(expr, WholeFunction):
        return expr.numeric
    row = TABLE.get(type(expr))
    code = row.numeric if row else None
    return code(*expr.args) if callable(code) else code


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
        return piecewise_derivative(expr, symbol, derivative)
    if expr.is_Pow and symbol not in expr.exp.free_symbols:
        return expr.exp * Pow(expr.base, expr.exp - 1) * derivative(expr.base, symbol)
    if isinstance(expr, (Function, Pow, Max, Min)):
        join = _chosen if isinstance(expr, CHOICES) else Mul
        pairs = zip(_partials(expr, symbol), expr.args, strict=True)
        return Add(*[join(p, derivative(a, symbol)) for p, a in pairs])
    return _checked(expr, expr.diff(symbol))


# What takes one of several values, and whose slope by the others is 0, whatever theirs are.
CHOICES = (Piecewise, Max, Min, relu, fmax, fmin, masked)
# Functions that are finite wherever their arguments are, as their slopes are.
_TAME = (sin, cos, atan, tanh, erf, sinc, sign, Abs, step, sigmoid, softplus, *CHOICES)


@lru_cache(maxsize=4096)
def may_be_infinite(expr: Expr) -> bool:
    """Whether a value, or its slope, can be infinite or none where the symbols in it are finite.

    >>> from sympy.abc import x
    >>> may_be_infinite(x**2 * sin(x)), may_be_infinite(log(x))
    (False, True)
    """
    for part in postorder([expr], lambda node: node.args):
        if part.is_Pow and not (part.exp.is_Integer and part.exp.is_positive):
            return True
        if isinstance(part, Function) and not isinstance(part, _TAME):
            return True
    return False


def _chosen(weight: Expr, slope: Expr) -> Expr:
    """The product of the weight in a choice and the slope of what is chosen, 0 where it isn't."""
    return masked(weight, slope) if may_be_infinite(slope) else weight * slope


def _partials(expr: Expr, symbol: Symbol) -> list[Expr]:
    """The derivative by each argument in which the symbol occurs, 0 for the others."""
    row = TABLE.get(type(expr))
    if row is not None and row.derivative is not None:
        given = row.derivative(*expr.args)
        for place, (partial, arg) in enumerate(zip(given, expr.args, strict=True), start=1):
            if partial is None and symbol in arg.free_symbols:
                raise UnsupportedError(
                    f"no derivative of {expr.func.__name__} by its argument {place}"
                )
        return [S.Zero if partial is None else partial for partial in given]
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
