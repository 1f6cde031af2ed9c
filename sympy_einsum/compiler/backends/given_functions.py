"""The caller's functions of arrays for unknown functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ...core import ShapeError, TensorError, UnsupportedError, documentation_link
from .spelling import is_plain_name

Function = Callable[..., Any]


class GivenFunctions:
    """The caller's implementations of unknown functions, by their names.

    ``taken`` are names that mean something else in the code.
    """

    def __init__(self, given: Mapping[str, Function] | None = None, taken: Collection[str] = ()):
        self.given = {} if given is None else _checked(given)
        self.taken = taken
        # The functions that the code calls, by their names in it.
        self.used: dict[str, Function] = {}
        self._names: dict[type, str] = {}

    def name(self, function: type) -> str:
        """Return the name of a function in the code."""
        if function not in self._names:
            own = function.__name__
            value = self.given.get(own, getattr(function, "_imp_", None))
            if value is None:
                raise UnsupportedError(
                    f"the function {own} has no numerical code; give it some, "
                    f'lambdify(..., functions={{"{own}": np.sin}}), or make it by '
                    f"function({own!r}, code=...){documentation_link('own functions')}"
                )
            name = "".join([letter if letter.isalnum() else "_" for letter in own])
            if name in self.taken or name in self.used or not is_plain_name(name):
                name = f"function{len(self.used)}_"
            self._names[function], self.used[name] = name, _guarded(own, value)
        return self._names[function]


def _checked(given: Mapping[str, Function]) -> Mapping[str, Function]:
    if not isinstance(given, Mapping):
        raise TensorError(f"functions is a dictionary, such as {{'f': np.sin}}, not {given!r:.80}")
    for name, value in given.items():
        if not isinstance(name, str) or not callable(value):
            raise TensorError(
                'functions has names for keys, "f" and for its derivative "f\'", and functions '
                f"of arrays for values, not {name!r:.80}: {value!r:.80}"
            )
    return given


def _guarded(name: str, function: Function) -> Function:
    """Wrap a function so that results have the shape of the arguments and share no memory with
    them, since results are written over."""

    def guarded(*arrays: Any) -> Any:
        result = function(*arrays)
        expected = np.broadcast_shapes(*[_known_shape(array) for array in arrays])
        if _known_shape(result) != expected:
            raise ShapeError(
                f"the function that was given for {name} has made an array of shape "
                f"{np.shape(result)} of {', '.join([str(np.shape(array)) for array in arrays])}; "
                "it has to work entry by entry"
            )
        if isinstance(result, np.ndarray) and any(np.may_share_memory(result, a) for a in arrays):
            return result.copy()
        return result

    return guarded


def _known_shape(array: Any) -> tuple[int, ...]:
    """Return the shape; lengths that lazy arrays don't know count as 1."""
    return tuple([n if n == n else 1 for n in np.shape(array)])
