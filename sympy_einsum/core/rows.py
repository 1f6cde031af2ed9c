"""Properties of scalar functions, one row each.

The public functions, NumPy's namespace and its universal functions, the names of languages,
derivatives and generated code are made from the rows: :func:`for_each_row` registers a function
that is called with every row, also with later ones, so that :func:`add_row` adds a function
everywhere."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sympy import Expr, FiniteSet

from .errors import TensorError

# A template in which ``np.`` and ``special.`` are NumPy and scipy.special, or a backend's
# equivalents; ``{0}``, ``{1}`` are the arguments, ``{all}`` all of them. Or a function from
# arguments to templates.
Code = str | Callable[..., str | None]
# The derivative by each argument, None if there is none.
Partials = tuple[Expr | int | None, ...]

# A placeholder of an argument in code, and whether it is a whole argument of a call.
_PLACEHOLDER = re.compile(
    r"(?P<all>\{all\})|(?P<whole>(?:(?<=\()|(?<=, ))(?=\{\d\}[,)]))?\{(?P<place>\d)\}"
)


@dataclass(frozen=True, eq=False)
class Row:
    """A scalar function. Only ``function`` is required: without the others SymPy differentiates it
    and prints its code.

    Parameters
    ==========

    function : a subclass of ``sympy.Function``, or a function that returns an expression
    code : its code in the names of NumPy and SciPy
    on : its code for particular backends, by their name; ``"arrays"`` is for all others, which
        have the helper functions of generated code, ``"math"`` is Python's module
    derivative : the derivatives with respect to the arguments, as a function of these, where
        SymPy's is missing, wrong at some points or a distribution (DiracDelta)
    definition : the textbook's formula as a function of the arguments, by which numbers are
        evaluated: exact, but neither stable nor defined everywhere
    numpy, scipy, matrixcalculus : its names there, separated by blanks
    is_public : whether it is exported under its own name
    is_choice : whether it selects one of several values, so that the others don't matter
    keeps_finite : whether it and its derivatives are finite wherever the arguments are
    is_analytic : whether it has a power series wherever it and its derivatives are finite
    about : its description, where its docstring doesn't begin with one

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
        """All its names, by namespace."""
        return {
            "sympy_einsum": self.name.split(),
            "numpy": self.numpy.split(),
            "scipy.special": self.scipy.split(),
            "matrixcalculus": self.matrixcalculus.split(),
        }

    @property
    def arity(self) -> int:
        """The number of arguments in its documentation: those in its code, or the fewest
        allowed."""
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
    """Call a function with every row, and register it for later rows."""
    _views.append(view)
    for row in ROWS:
        view(row)
    return view


def add_row(row: Row) -> None:
    """Add a scalar function; TensorError if it has a row, or one of its names is taken.

    >>> import sympy
    >>> add_row(Row(sympy.sin))
    Traceback (most recent call last):
    ...
    sympy_einsum.TensorError: the function sin has a row already
    """
    if row.function in _by_function:
        raise TensorError(f"the function {row.function.__name__} has a row already")
    names = [f"{space}.{name}" for space, aliases in row.names.items() for name in aliases]
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
    """Return the code template of a function for a backend, None if the table has none.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> code_of(se.sigmoid(t)), code_of(se.sigmoid(t), "torch")
    ('np.exp(-np.logaddexp(0, -({0})))', 'torch.sigmoid({0})')
    """
    row = _by_function.get(type(expr))
    if row is None:
        return None
    of_helpers = row.on.get("arrays") if backend else None
    code = row.on.get(backend) or of_helpers or row.code
    return code(*expr.args) if callable(code) else code


def fill_template(code: str, texts: Sequence[str], are_atomic: Sequence[bool]) -> str:
    """Insert the arguments' texts into a code template; those that aren't ``are_atomic``, such as
    sums, get brackets unless they are whole arguments of a call.

    >>> fill_template("np.maximum({0}, 2 * {1})", ["a + b", "a + b"], [False, False])
    'np.maximum(a + b, 2 * (a + b))'
    """

    def argument(found: re.Match[str]) -> str:
        if found["all"]:
            return ", ".join(texts)
        k = int(found["place"])
        return texts[k] if found["whole"] is not None or are_atomic[k] else f"({texts[k]})"

    return _PLACEHOLDER.sub(argument, code)
