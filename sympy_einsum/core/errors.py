"""The package's exceptions: one hierarchy, every class a ``ValueError``. Imports nothing."""

from __future__ import annotations

# The headings of the documentation that explain the most frequent errors.
_EXPLAINED = {
    "broadcasting": "semantics.md#broadcasting",
    "layout": "semantics.md#the-layout-of-derivatives",
    "equality": "semantics.md#what-is-equal",
    "slices": "indexing.md#entries-and-slices",
    "own functions": "compiling.md#functions-of-your-own",
    "no derivative": "rules.md#what-has-no-derivative",
    "stock functions": "sympy.md#what-doesnt-work",
}


class TensorError(ValueError):
    """Base class of every error that sympy_einsum raises on purpose; a ``ValueError``.

    >>> import sympy_einsum as se
    >>> try:
    ...     se.einsum("ij->k", se.TensorSymbol("A", (2, 3)))
    ... except se.TensorError as error:
    ...     print(error)
    output index 'k' of 'ij->k' occurs in no operand; multiply with Ones to add an axis
    """


class ShapeError(TensorError):
    """Orders or axis lengths that don't fit together; the message names operand, axis and lengths.

    >>> import sympy_einsum as se
    >>> se.TensorSymbol("A", (2, 3)) @ se.TensorSymbol("x", 4)
    Traceback (most recent call last):
    ...
    sympy_einsum.ShapeError: @ sums over the last axis of operand 1, of length 3, and axis 0
    of operand 2, of length 4; the lengths must be equal (shapes (2, 3) and (4,))
    """


class NoScalarError(ShapeError, NotImplementedError):
    """A tensor where SymPy expects a scalar; also a ``NotImplementedError``, upon which SymPy's
    algorithms try another way."""


class UnsupportedError(TensorError):
    """A well-formed request that the calculus or a backend can't carry out; the message says what
    to do instead.

    >>> import sympy_einsum as se
    >>> se.lambdify([], 1, backend="fortran")
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: no backend 'fortran'; there are numpy, cupy, dask, jax,
    numba, torch
    """


class ParseError(TensorError):
    """Text that can't be parsed, with the position of the error.

    Attributes
    ==========

    text : the text, or None
    position : the index in it, or None; for a text of several lines the message gives line and
        column, counted from 1

    Examples
    ========

    >>> from sympy_einsum import ParseError
    >>> print(ParseError("expected an operand", "x + * y", 4))
    expected an operand, at position 4:
      x + * y
          ^
    >>> print(ParseError("expected an operand", "x\\n+ * y", 4))
    expected an operand, at line 2, column 3:
      x + * y
          ^
    """

    def __init__(self, message: str, text: str | None = None, position: int | None = None):
        self.text = text
        self.position = position
        if text is not None and position is not None:
            start = max(0, position - 60)
            excerpt = text[start : position + 20].replace("\n", " ")
            location = f"position {position}"
            if "\n" in text:
                before = text[:position].split("\n")
                location = f"line {len(before)}, column {len(before[-1]) + 1}"
            message = f"{message}, at {location}:\n  {excerpt}\n  {' ' * (position - start)}^"
        super().__init__(message)


def documentation_link(topic: str) -> str:
    """Return the end of an error message that links to the documentation of a topic.

    >>> documentation_link("broadcasting")
    ' (documentation: semantics.md#broadcasting)'
    """
    return f" (documentation: {_EXPLAINED[topic]})"


# Tracebacks name them as users import them.
for _error in (TensorError, ShapeError, UnsupportedError, ParseError):
    _error.__module__ = "sympy_einsum"
