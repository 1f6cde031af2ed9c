"""User-defined scalar functions."""

from __future__ import annotations

import copyreg
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import sympy
from sympy import Expr
from sympy.core.function import FunctionClass

from .errors import TensorError
from .lengths import sympified
from .rows import Partials, Row, add_row, is_name
from .whole_functions import WholeFunction


class _OwnClass(FunctionClass):
    """The type of own functions, by which pickle knows them."""


class OwnFunction(WholeFunction, metaclass=_OwnClass):
    """A function made by :func:`function`: a name, and a row given by the user."""

    made_of: tuple[Any, ...]


def function(
    name: str,
    *,
    derivative: Callable[..., object] | None = None,
    code: str | Callable[..., object] | None = None,
) -> Callable[..., Any]:
    """A scalar function of one's own, which is applied to tensors entry by entry.

    Parameters
    ==========

    name : what it is called in formulas
    derivative : the derivative as a function of the same arguments, an expression; for several
        arguments a tuple, one for each. Without it the derivatives are called f', f'' and so on,
        as those of ``sympy.Function("f")`` are
    code : how numbers are computed: text in the names of NumPy (``np.``) and SciPy (``special.``)
        with ``{0}``, ``{1}`` for the arguments, which every backend spells in its own, or a
        function of arrays. Without it ``lambdify`` takes the function in ``functions=``. The text
        is run: never take it from somebody else

    Returns
    =======

    A class of SymPy's kind. The same name, derivative and code give the same one; pickle takes it
    if it takes these, which are functions with a name of their own in a module.

    Raises
    ======

    TensorError : the name is no identifier, or that of one of SymPy's or our functions

    Examples
    ========

    >>> from sympy import exp
    >>> import sympy_einsum as se
    >>> swish = se.function("swish", derivative=lambda x: tilt(x), code="{0} / (1 + np.exp(-{0}))")
    >>> tilt = se.function("tilt")
    >>> x = se.TensorSymbol("x", 3)
    >>> se.gradient(swish(x).sum(), x), se.diff(tilt(x).sum(), x)
    (tilt(x), tilt'(x))
    >>> se.lambdify(x, swish(x).sum())([0.0, 0.0, 0.0]).item()
    0.0
    """
    if not (isinstance(name, str) and name.isidentifier()):
        raise TensorError(f"the name of a function is an identifier, not {name!r:.80}")
    if hasattr(sympy, name) or is_name(name):
        raise TensorError(f"{name} is the name of another function")
    return _made(name, derivative, code)


@cache
def _made(
    name: str, derivative: Callable[..., object] | None, code: str | Callable[..., object] | None
) -> type[OwnFunction]:
    members: dict[str, Any] = {"made_of": (name, derivative, code)}
    count = _count(derivative, code)
    if count is not None:
        members["nargs"] = count
    made: Any = _OwnClass(name, (OwnFunction,), members)
    if callable(code):
        made._imp_ = staticmethod(code)
    partials = None if derivative is None else _partials(made, derivative)
    add_row(Row(made, None if callable(code) else code, partials, is_public=False))
    return made


def _count(derivative: Callable[..., object] | None, code: object) -> int | None:
    """Return the number of arguments, if it is known."""
    definition = derivative or (code if callable(code) else None)
    if definition is None:
        return None
    try:
        parameters = inspect.signature(definition).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(parameters) if all(p.kind in plain for p in parameters) else None


def _partials(made: type, derivative: Callable[..., object]) -> Callable[..., Partials]:
    """Return the derivative by each argument from the user's definition."""

    def partials(*args: Expr) -> Partials:
        found = derivative(*args)
        parts = found if isinstance(found, (tuple, list)) else [found]
        if len(parts) != len(args):
            raise TensorError(
                f"{made.__name__} has {len(args)} arguments, and its derivative gives "
                f"{len(parts)} expressions: one for each is needed"
            )
        return tuple([sympified(part) for part in parts])

    return partials


copyreg.pickle(_OwnClass, lambda made: (_made, made.made_of))
