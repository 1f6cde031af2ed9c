"""Rows of NumPy's namespace, and the functions that are made from them.

A function of NumPy's is a :class:`NumpyRow` in the table ``ROWS`` of its family: ``_entrywise.py``,
``_conditions.py``, ``_making.py``, ``_shapes.py``, ``_products.py``, ``_polynomials.py``,
``_reductions.py``, ``_orders.py``, ``_sequences.py``, ``_linalg.py``, ``_fft.py``. To add one, add
a row, calls with all of its options in ``tests/data/numpy_calls.txt`` and one with right arguments
in ``tests/test_wrong_arguments.py``, and run ``python tests/stubs.py``, which writes the types that
editors and type checkers see. Its docstring, its place in the reference and the errors about
options are made from the row; NumPy's own function finds it by its name.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from textwrap import fill
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sympy import Expr

from ..core import UnsupportedError
from ._refused import OPTIONS

# Axes and lengths as NumPy's functions take them.
Axes: TypeAlias = int | Sequence[int] | None
Lengths: TypeAlias = Expr | int | Sequence[Expr | int]

NO_AXIS = "Raises ShapeError for an axis out of range."
NO_FIT = "Raises ShapeError if the shapes don't broadcast."
NO_NUMBER = (
    "Raises ShapeError for a length that isn't an integer, TensorError for what isn't a number."
)

# NumPy's options that say nothing about the values, and the defaults of others.
HARMLESS = {"copy", "device", "kind", "optimize", "overwrite_input", "subok"}
_DEFAULTS: dict[str, object] = {
    "where": True,
    "order": "K",
    "casting": "same_kind",
    "keepdims": False,
    "returned": False,
}

# Types of parameters by their names; others have that of their default.
_TYPES = {
    "axis": "Axes",
    "correction": "Expr | int | None",
    "ddof": "Expr | int",
    "dtype": "object",
    "kind": "object",
    "new_shape": "Lengths",
    "order": "object",
    "ord": "Order",
    "out": "object",
    "shape": "Lengths",
    "where": "TensorLike | None",
}
_TYPES_OF_DEFAULTS = {bool: "bool", int: "int", str: "str", type(None): "TensorLike | None"}

# Symbols of the examples.
_SYMBOLS = {
    "np": "import numpy as np",
    "t": 't = se.TensorSymbol("t", ())',
    "m": 'm = Symbol("m", integer=True, positive=True)',
    "n": 'n = Symbol("n", integer=True, positive=True)',
    "x": 'x = se.TensorSymbol("x", 3)',
    "y": 'y = se.TensorSymbol("y", 3)',
    "w": 'w = se.TensorSymbol("w", 3)',
    "A": 'A = se.TensorSymbol("A", 2, 3)',
    "B": 'B = se.TensorSymbol("B", 2, 3)',
    "S": 'S = se.TensorSymbol("S", 3, 3)',
    "T": 'T = se.TensorSymbol("T", 2, 3, 4)',
}


class NumpyRow(NamedTuple):
    """A function of NumPy's namespace.

    Parameters
    ==========

    signature : name, parameters and defaults as in NumPy, and the types of those that have others
        than their names or defaults tell; behind ``->`` that of the result, if it is no Operand
    compute : the operation, or a function, that computes the result. The first argument is passed
        by position, of the others those that it has parameters for (all, if it has ``**``);
        options for which it has none are refused at another value than their default, for the
        reasons in ``_refused.OPTIONS``
    about : a phrase that says what is returned; for a function that always raises, why
    example, result : a doctest: lines of code, in which x, y, w are vectors with 3 entries, A, B
        are 2 x 3 matrices, S is square and T has the shape (2, 3, 4); and what the last one prints
    errors : sentences on the errors, and on special cases
    ignored : options that are accepted and change nothing
    refused : the reasons why other options than those of ``_refused.OPTIONS`` are refused

    Examples
    ========

    >>> from sympy_einsum import operations as ops
    >>> example = "snp.matrix_transpose(A).shape", "(3, 2)"
    >>> about = "the tensor with its last two axes exchanged"
    >>> NumpyRow("matrix_transpose(a)", lambda a: ops.swapaxes(a, -1, -2), about, *example).name
    'matrix_transpose'
    """

    signature: str
    compute: Callable[..., Any]
    about: str
    example: str
    result: str
    errors: str = ""
    ignored: str = ""
    refused: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """The name in NumPy."""
        return self.signature.partition("(")[0]


def functions_of(rows: Iterable[NumpyRow], module: str) -> dict[str, Callable[..., Any]]:
    """Make the functions of some rows of a module; return them by name."""
    return {row.name: _function(row, module) for row in rows}


def _function(row: NumpyRow, module: str) -> Callable[..., Any]:
    name, signature = row.name, signature_of(row)
    first, *others = signature.parameters
    asked = list(inspect.signature(row.compute).parameters.values())[1:]
    takes_all = any(own.kind is Parameter.VAR_KEYWORD for own in asked)
    taken = others if takes_all else [own.name for own in asked if own.name in others]
    refused = refused_options(row)
    defaults = {own: signature.parameters[own].default for own in refused}

    def function(*args: Any, **options: Any) -> Any:
        try:
            given = signature.bind(*args, **options)
        except TypeError as error:
            raise TypeError(f"{name}() {_binding_error(signature, args, options, error)}") from None
        given.apply_defaults()
        arguments = given.arguments
        if refused:
            refuse(name, {option: arguments[option] for option in refused}, defaults, refused)
        return row.compute(arguments[first], **{own: arguments[own] for own in taken})

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = _docstring(row, module, refused)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def refused_options(row: NumpyRow) -> dict[str, str]:
    """Return the options that a function refuses and the reasons.

    >>> row = NumpyRow("ptp(a, axis=None, out=None)", lambda a, axis: a, "", "", "")
    >>> refused_options(row)
    {'out': "expressions don't change; assign the result"}
    """
    _, *others = signature_of(row).parameters
    asked = inspect.signature(row.compute).parameters.values()
    if any(own.kind is Parameter.VAR_KEYWORD for own in asked):
        return {}
    kept = {*[own.name for own in asked][1:], *HARMLESS, *row.ignored.split()}
    return {own: row.refused.get(own) or OPTIONS[own] for own in others if own not in kept}


def _binding_error(
    signature: Signature, args: Sequence[object], options: Mapping[str, object], error: TypeError
) -> str:
    """Explain, in Python's words, why arguments don't fit a signature."""
    parameters = signature.parameters.values()
    by_position = [
        own
        for own in parameters
        if own.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    missing = [
        f"'{own.name}'"
        for own in by_position[len(args) :]
        if own.default is own.empty and own.name not in options
    ]
    if missing:
        ending = "s" if len(missing) > 1 else ""
        named = " and ".join([", ".join(missing[:-1]), missing[-1]] if ending else missing)
        return f"missing {len(missing)} required positional argument{ending}: {named}"
    if str(error) == "too many positional arguments":
        least = sum(own.default is own.empty for own in by_position)
        most = len(by_position)
        takes = most if least == most else f"from {least} to {most}"
        arguments = "arguments" if most != 1 else "argument"
        return f"takes {takes} positional {arguments} but {len(args)} were given"
    return str(error)


def signature_of(row: NumpyRow) -> Signature:
    """Parse the signature of a row.

    >>> from sympy_einsum import operations as ops
    >>> str(signature_of(NumpyRow("ptp(a, axis=None, keepdims=False)", ops.ptp, "", "", "")))
    "(a: 'TensorLike', axis: 'Axes' = None, keepdims: 'bool' = False) -> 'Operand'"
    """
    (tree,) = ast.parse(f"def {row.signature}: ...").body
    assert isinstance(tree, ast.FunctionDef)
    given, own = tree.args, Parameter
    names = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(names) - len(given.defaults)), *given.defaults]
    kinds: list[Any] = [own.POSITIONAL_ONLY] * len(given.posonlyargs)
    kinds += [own.POSITIONAL_OR_KEYWORD] * len(given.args)
    parameters = [*map(_parameter, names, kinds, defaults)]
    if given.vararg:
        parameters.append(_parameter(given.vararg, own.VAR_POSITIONAL, None))
    keyword_only = [own.KEYWORD_ONLY] * len(given.kwonlyargs)
    parameters += map(_parameter, given.kwonlyargs, keyword_only, given.kw_defaults)
    if given.kwarg:
        parameters.append(_parameter(given.kwarg, own.VAR_KEYWORD, None))
    returned = ast.unparse(tree.returns) if tree.returns else "Operand"
    return Signature(parameters, return_annotation=returned)


def _parameter(own: ast.arg, kind: Any, default: ast.expr | None) -> Parameter:
    value = Parameter.empty if default is None else ast.literal_eval(default)
    by_default = _TYPES_OF_DEFAULTS.get(type(value), "TensorLike")
    written = ast.unparse(own.annotation) if own.annotation else None
    annotation = written or _TYPES.get(own.arg, by_default)
    return Parameter(own.arg, kind, default=value, annotation=annotation)


def _docstring(row: NumpyRow, module: str, refused: Mapping[str, str]) -> str:
    space = module.removeprefix("sympy_einsum.")
    opening = "Raise UnsupportedError:" if "NoReturn" in row.signature else "Return"
    counterpart = f"This is the counterpart of ``{space}.{row.name}``. {row.errors}"
    parts = [f"{opening} {row.about}.", counterpart]
    if refused:
        reasons = ", ".join(f"``{option}`` ({reason})" for option, reason in refused.items())
        parts.append(f"Raises UnsupportedError for {reasons}.")
    told = "\n\n".join([fill(" ".join(part.split()), 88) for part in parts if part])
    return f"{told}\n\n{_doctest(row.example, row.result)}\n"


def _doctest(code: str, result: str) -> str:
    """Compose a doctest from an example and its result, with the imports and symbols it needs."""
    names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
    assigned = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    used = {node.id for node in names} - assigned
    symbols = [line for name, line in _SYMBOLS.items() if name in used]
    lines = ["from sympy import Symbol"] if {"m", "n"} & used else []
    lines += ["import sympy_einsum as se"] if "se." in code + str(symbols) else []
    lines += ["import sympy_einsum.numpy as snp", *symbols, *code.split("\n")]
    return "\n".join([*[f">>> {line}" for line in lines], result])


def refuse(
    name: str,
    options: Mapping[str, object],
    defaults: Mapping[str, object] = _DEFAULTS,
    reasons: Mapping[str, str] = OPTIONS,
) -> None:
    """Raise UnsupportedError for NumPy's options that mean nothing for symbols; at their defaults
    they're let through."""
    for option, value in options.items():
        known = isinstance(value, (bool, str)) and value == defaults.get(option)
        if not known and value is not None and option not in HARMLESS:
            reason = f": {reasons[option]}" if option in reasons else ""
            shown = repr(value)[:80]
            raise UnsupportedError(f"{name} doesn't support {option}={shown} on symbols{reason}")


def check_type(dtype: object) -> None:
    """Raise UnsupportedError for a type that would change entries, which are real numbers."""
    try:
        kind = np.dtype(dtype).kind  # type: ignore[call-overload]
    except TypeError:
        kind = ""
    if kind != "f":
        raise UnsupportedError(
            f"entries of tensors are real numbers and can't become {dtype!r}; round them with trunc"
        )
