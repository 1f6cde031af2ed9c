"""Properties of scalar functions: one row each, of which everything else is a view.

The public functions, NumPy's namespace and its universal functions, the names of languages,
derivatives and generated code are made from the rows: :func:`for_each_row` calls a view with every
row, those that come later included, so that :func:`add_row` is all there is to adding a function.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sympy import Expr, FiniteSet

from .errors import TensorError

# ``np.`` and ``special.`` stand for NumPy and scipy.special, or for what a backend has in their
# place; ``{0}``, ``{1}`` are the arguments, ``{all}`` all of them. Where the code depends on the
# arguments, it is a function of them.
Code = str | Callable[..., str | None]
# The derivative by each argument, None where there is none.
Partials = tuple[Expr | int | None, ...]

# A place for an argument in code, and whether nothing else stands between the commas.
_PLACE = re.compile(
    r"(?P<all>\{all\})|(?P<whole>(?:(?<=\()|(?<=, ))(?=\{\d\}[,)]))?\{(?P<place>\d)\}"
)


@dataclass(frozen=True, eq=False)
class Row:
    """A scalar function. Only ``function`` must be said: SymPy differentiates it and prints its
    code, unless the row knows better.

    Parameters
    ==========

    function : a class of SymPy's kind, or whatever makes an expression of its arguments
    code : how it is spelled in the names of NumPy and SciPy
    on : how backends spell it, by their name, where that isn't the same; ``"math"`` is Python's own
    derivative : the derivative by each argument as a function of the arguments, where SymPy has
        none, or has one that is not right everywhere or not of this world (DiracDelta)
    definition : the textbook's formula as a function of the arguments, by which numbers are
        evaluated: exact, but neither stable nor defined everywhere
    numpy, scipy, matrixcalculus : its names there, if any, blanks between
    is_public : whether it is exported under its own name
    is_choice : whether it takes one of several values, so that the others don't matter
    keeps_finite : whether it and its derivatives are finite wherever the arguments are
    is_analytic : whether it has a power series wherever it and its derivatives are finite
    about : what it is, where its docstring doesn't begin with that

    Examples
    ========

    >>> import sympy
    >>> Row(sympy.sin, "np.sin({0})", numpy="sin").name
    'sin'
    """

    function: Callable[..., Expr]
    code: Code | None = None
    derivative: Callable[..., Partials] | None = None
    definition: Callable[..., Expr] | None = None
    on: Mapping[str, Code] = field(default_factory=dict)
    numpy: str = ""
    scipy: str = ""
    matrixcalculus: str = ""
    is_public: bool = True
    is_choice: bool = False
    keeps_finite: bool = False
    is_analytic: bool = False
    about: str = ""

    @property
    def name(self) -> str:
        """The name under which it is exported; empty for none."""
        name = self.function.__name__
        return name if self.is_public and name.isidentifier() else ""

    @property
    def names(self) -> dict[str, list[str]]:
        """All its names, by the namespace that they stand in."""
        return {
            "sympy_einsum": self.name.split(),
            "numpy": self.numpy.split(),
            "scipy.special": self.scipy.split(),
            "matrixcalculus": self.matrixcalculus.split(),
        }

    @property
    def arity(self) -> int:
        """How many arguments it is shown with: those in its code, or the fewest that it takes."""
        if isinstance(self.code, str):
            return max(map(int, re.findall(r"\{(\d)\}", self.code)), default=0) + 1
        nargs = getattr(self.function, "nargs", None)
        if isinstance(nargs, FiniteSet):
            return int(min(nargs))
        parameters = inspect.signature(self.function).parameters.values()
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
            return 2
        return sum(1 for parameter in parameters if parameter.default is parameter.empty)


ROWS: list[Row] = []
_by_function: dict[Callable[..., Expr], Row] = {}
_names: set[str] = set()
_views: list[Callable[[Row], None]] = []


def for_each_row(view: Callable[[Row], None]) -> Callable[[Row], None]:
    """Has a function called with every row, those that are added later included."""
    _views.append(view)
    for row in ROWS:
        view(row)
    return view


def add_row(row: Row) -> None:
    """Make a scalar function known everywhere; TensorError if it is already, or another one is
    under one of its names.

    >>> import sympy
    >>> add_row(Row(sympy.sin))
    Traceback (most recent call last):
    ...
    sympy_einsum.TensorError: the function sin has a row already
    """
    if row.function in _by_function:
        raise TensorError(f"the function {row.function.__name__} has a row already")
    names = [f"{space}.{name}" for space, own in row.names.items() for name in own]
    for name in names:
        if name in _names:
            raise TensorError(f"{name} is the name of another function")
    _names.update(names)
    _by_function[row.function] = row
    ROWS.append(row)
    for view in _views:
        view(row)


def is_name(name: str) -> bool:
    """Tell whether a function is exported under a name."""
    return f"sympy_einsum.{name}" in _names


def row_of(function: Callable[..., Expr]) -> Row | None:
    """Return the row of a function, such as the type of an expression."""
    return _by_function.get(function)


def code_of(expr: Expr, backend: str = "") -> str | None:
    """Return the code of a function at some arguments for a backend, if the table knows one.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> code_of(se.sigmoid(t)), code_of(se.sigmoid(t), "torch")
    ('np.exp(-np.logaddexp(0, -({0})))', 'torch.sigmoid({0})')
    """
    row = _by_function.get(type(expr))
    if row is None:
        return None
    code = row.on.get(backend, row.code)
    return code(*expr.args) if callable(code) else code


def fill_template(code: str, texts: Sequence[str], are_whole: Sequence[bool]) -> str:
    """Code with the arguments' texts in their places; those that aren't whole, as sums are not,
    have brackets where they don't make up a whole argument of a call.

    >>> fill_template("np.maximum({0}, 2 * {1})", ["a + b", "a + b"], [False, False])
    'np.maximum(a + b, 2 * (a + b))'
    """

    def place(found: re.Match[str]) -> str:
        if found["all"]:
            return ", ".join(texts)
        k = int(found["place"])
        return texts[k] if found["whole"] is not None or are_whole[k] else f"({texts[k]})"

    return _PLACE.sub(place, code)
