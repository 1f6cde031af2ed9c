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


class _UserFunctionClass(FunctionClass):
    """The metaclass of user-defined functions, by which pickle recognises them."""


class UserFunction(WholeFunction, metaclass=_UserFunctionClass):
    """A function made by :func:`function`, from a name and the user's row."""

    definition_of: tuple[Any, ...]


def function(
    name: str,
    *,
    derivative: Callable[..., object] | None = None,
    code: str | Callable[..., object] | None = None,
) -> Callable[..., Any]:
    """Define a scalar function, which is applied to tensors entrywise.

    Parameters
    ==========

    name : its name in formulas
    derivative : the derivative as a function of the same arguments, an expression; for several
        arguments a tuple, one for each. Without it the derivatives are functions named f', f'',
        …, as those of ``sympy.Function("f")``
    code : the numerical code: text in the names of NumPy (``np.``) and SciPy (``special.``), with
        ``{0}``, ``{1}`` for the arguments, which every backend translates, or a function of
        arrays. Without it pass the function to ``lambdify`` in ``functions=``. The text is
        executed: never take it from an untrusted source

    Returns
    =======

    A subclass of ``sympy.Function``, the same one for the same name, derivative and code. It can be
    pickled if derivative and code can: if they are named functions of a module.

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
    return _user_function(name, derivative, code)


@cache
def _user_function(
    name: str, derivative: Callable[..., object] | None, code: str | Callable[..., object] | None
) -> type[UserFunction]:
    members: dict[str, Any] = {"definition_of": (name, derivative, code)}
    count = _count(derivative, code)
    if count is not None:
        members["nargs"] = count
    cls: Any = _UserFunctionClass(name, (UserFunction,), members)
    if callable(code):
        cls._imp_ = staticmethod(code)
    partials = None if derivative is None else _partials(cls, derivative)
    add_row(Row(cls, None if callable(code) else code, partials, is_public=False))
    return cls


def _count(derivative: Callable[..., object] | None, code: object) -> int | None:
    """Return the number of arguments from a signature, None if it isn't fixed."""
    definition = derivative or (code if callable(code) else None)
    if definition is None:
        return None
    try:
        parameters = inspect.signature(definition).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(parameters) if all(p.kind in plain for p in parameters) else None


def _partials(cls: type, derivative: Callable[..., object]) -> Callable[..., Partials]:
    """Wrap the user's derivative: check the number of expressions and convert them."""

    def partials(*args: Expr) -> Partials:
        found = derivative(*args)
        parts = found if isinstance(found, (tuple, list)) else [found]
        if len(parts) != len(args):
            raise TensorError(
                f"{cls.__name__} has {len(args)} arguments, and its derivative gives "
                f"{len(parts)} expressions: one for each is needed"
            )
        return tuple([sympified(part) for part in parts])

    return partials


copyreg.pickle(_UserFunctionClass, lambda cls: (_user_function, cls.definition_of))
