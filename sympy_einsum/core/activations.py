"""Rectifiers, logistic functions and choices, which SymPy lacks.

The table, :mod:`scalar_table`, holds their code, derivatives and definitions.
"""

from __future__ import annotations

from sympy import Expr, Mul, Piecewise, Rational, S, exp, log, pi, sqrt, tanh
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.printer import Printer

from .rows import row_of
from .special_functions import ndtr
from .whole_functions import WholeFunction

_HUNDREDTH = Rational(1, 100)


class relu(WholeFunction):
    """The rectifier max(x, 0), with the derivative 0 at 0.

    >>> import sympy_einsum as se
    >>> se.relu(-2), se.relu(3)
    (0, 3)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Evaluate at special arguments."""
        if x.is_nonnegative:
            return x
        return S.Zero if x.is_nonpositive else None

    _eval_is_extended_nonnegative = WholeFunction._eval_is_extended_real


class step(WholeFunction):
    """The indicator [x > 0]: 1 for positive x, else 0; the derivative of relu. Its own derivative
    is 0, at 0 too. A second argument is its value at 0: one half in derivatives of Max, where two
    arguments that tie share.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.step(-2), se.step(0), se.step(3), se.relu(t).diff(t)
    (0, 0, 1, step(t))
    """

    nargs = (1, 2)

    @classmethod
    def eval(cls, x: Expr, at_0: Expr = S.Zero) -> Expr | None:
        """Evaluate at special arguments."""
        if x.is_positive:
            return S.One
        if x.is_zero:
            return at_0
        return S.Zero if x.is_negative or (x.is_nonpositive and at_0.is_zero) else None

    def _eval_power(self, exponent: Expr) -> Expr | None:
        return self if exponent.is_positive and self.args[1:] in ((), (S.Zero,)) else None

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        x, *at_0 = map(printer._print, self.args)
        text = rf"\left[{x} > 0\right]" + "".join([f"_{{{value}}}" for value in at_0])
        return text if exp is None else f"{text}^{{{exp}}}"

    def _pretty(self, printer: Printer) -> prettyForm:
        if len(self.args) > 1:
            return printer._print_Function(self)
        inside = prettyForm(*printer._print(self.args[0]).right(" > 0"))
        return prettyForm(*inside.parens("[", "]"))


class masked(WholeFunction):
    """The product of a weight and a value, and 0 where the weight is 0, whatever the value: the
    derivative of what a choice such as relu hasn't taken.

    >>> import sympy_einsum as se
    >>> from sympy.abc import w, x
    >>> se.masked(0, x), se.masked(2, x), se.masked(w, x).diff(x)
    (0, 2*x, w)
    """

    nargs = 2

    @classmethod
    def eval(cls, weight: Expr, value: Expr) -> Expr | None:
        """Evaluate where the weight is 0 or known not to be, and move a number to the front."""
        if weight.is_zero or value.is_zero:
            return S.Zero
        if weight.is_zero is False:
            return weight * value
        number, rest = value.as_coeff_Mul()
        if number is S.One or not number.is_finite:
            return None
        return number * (weight if rest is S.One else cls(weight, rest))

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        text = printer._print(Mul(*self.args, evaluate=False))
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


class _WithoutNan(WholeFunction):
    """Base of the larger and the smaller of two numbers, of which a nan is ignored."""

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate numbers."""
        row = row_of(cls)
        are_numbers = a.is_number and b.is_number and S.NaN not in (a, b)
        return row.definition(a, b) if are_numbers and row and row.definition else None


class fmax(_WithoutNan):
    """The larger of two numbers; where one isn't a number, the other.

    >>> import sympy_einsum as se
    >>> se.fmax(1, 2)
    2
    """


class fmin(_WithoutNan):
    """The smaller of two numbers; where one isn't a number, the other.

    >>> import sympy_einsum as se
    >>> se.fmin(1, 2)
    1
    """


class sigmoid(WholeFunction):
    """The logistic function 1 / (1 + exp(-x)).

    >>> import sympy_einsum as se
    >>> se.sigmoid(0)
    1/2
    """

    nargs = 1
    at_zero = S.Half

    _eval_is_extended_positive = WholeFunction._eval_is_extended_real


class sigmoid_derivative(WholeFunction):
    """sigmoid(x) (1 - sigmoid(x)) with one exponential, which only generated code has.

    >>> from sympy import Symbol
    >>> sigmoid_derivative(Symbol("x", real=True)).is_extended_positive
    True
    """

    nargs = 1

    _eval_is_extended_positive = WholeFunction._eval_is_extended_real


class softplus(WholeFunction):
    """The smooth rectifier log(1 + exp(x)).

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.softplus(t).diff(t)
    sigmoid(t)
    """

    nargs = 1
    at_zero = log(2)

    _eval_is_extended_positive = WholeFunction._eval_is_extended_real


class logaddexp(WholeFunction):
    """log(exp(a) + exp(b)).

    >>> import sympy_einsum as se
    >>> from sympy.abc import s, t
    >>> se.logaddexp(s, t).diff(s), se.logaddexp(0, t)
    (sigmoid(s - t), softplus(t))
    """

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Return a softplus where one argument is 0."""
        if a.is_zero:
            return softplus(b)
        return softplus(a) if b.is_zero else None


# --- compositions ---------------------------------------------------------------------------------


def log_sigmoid(x: Expr) -> Expr:
    """The logarithm of the logistic function."""
    return -softplus(-x)


def silu(x: Expr) -> Expr:
    """The sigmoid linear unit x sigmoid(x), also called swish."""
    return x * sigmoid(x)


def gelu(x: Expr) -> Expr:
    """The Gaussian error linear unit x ndtr(x); gelu_tanh is JAX's approximation of it."""
    return x * ndtr(x)


def gelu_tanh(x: Expr) -> Expr:
    """The approximation x (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))) / 2 of gelu, which JAX
    computes by default."""
    # 1 + tanh cancels for negative x.
    return x * sigmoid(sqrt(8 / pi) * (x + Rational(44715, 10**6) * x**3))


def mish(x: Expr) -> Expr:
    """The unit x tanh(softplus(x))."""
    return x * tanh(softplus(x))


def elu(x: Expr, alpha: Expr = S.One) -> Expr:
    """The exponential linear unit: x where it is positive, else alpha (exp(x) - 1)."""
    return Piecewise((x, x > 0), (alpha * (exp(x) - 1), True))


def selu(x: Expr) -> Expr:
    """The scaled exponential linear unit, which keeps mean 0 and variance 1."""
    # https://arxiv.org/abs/1706.02515
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return Piecewise((scale * x, x > 0), (scale * alpha * (exp(x) - 1), True))


def leaky_relu(x: Expr, slope: Expr = _HUNDREDTH) -> Expr:
    """The rectifier with a slope on the left of 0; at 0 its derivative is 1."""
    return Piecewise((x, x >= 0), (slope * x, True))


def hard_tanh(x: Expr) -> Expr:
    """x between -1 and 1, and the nearer of these outside."""
    return Piecewise((S.NegativeOne, x < -1), (S.One, x > 1), (x, True))
