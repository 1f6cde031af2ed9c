"""Describe parameters in words where a docstring has no section on them, from their types, whose
names stand in no signature."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import sympy_einsum as se
from sympy_einsum.expressions import Node

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Descriptions of annotations.
TYPES = {
    "TensorLike": "a tensor, a scalar, or an array",
    "Operand": "a tensor or a scalar",
    "ComplexLike": "a tensor, a scalar, an array, or a pair of real tensors",
    "Axes": "an axis, or several",
    "Length": "a length, an integer or a symbol",
    "Lengths": "lengths, integers or symbols",
    "PerAxis": "a length, or one for each axis",
    "Listed": "a tensor, or several",
    "Several": "several tensors or scalars",
    "Order": "the order of the norm",
    "bool": "True or False",
    "dict": "a dictionary",
    "int": "an integer",
    "float": "a number",
    "complex": "a number",
    "str": "a text",
    "Expr": "a scalar expression",
    "Basic": "an expression of SymPy",
    "Symbol": "a symbol",
    "Values": "a dictionary of arrays or numbers, by symbol or name",
    "Written": "a tensor, a scalar, or an array",
    "ArrayLike": "an array",
    "Callable": "a function",
    "Sequence": "a sequence",
    "Mapping": "a dictionary",
    "Iterable": "an iterable",
    "tuple": "a tuple",
    "None": "None",
    "Shape": "lengths, integers or symbols",
    "Distributions": "a dictionary from variables to their laws",
    "Nested": "a tensor, or nested lists of tensors",
    "Styles": "pairs of a condition on nodes and the attributes of these",
}
# Descriptions of parameters that may be any object, by name: of functions, and of methods, whose
# other ones are SymPy's.
OF_FUNCTIONS = {
    "args": "further arguments of the functions",
    "cond": "a condition of SymPy",
    "dtype": "None, or a floating-point type where a tensor is made",
    "e": "an expression",
    "expr": "an expression, or a list of some",
    "kind": "any value; the result is the same",
    "kw": "further keywords of the functions",
    "more": "the shapes of further arguments, by name",
    "obj": "positions, a slice, or conditions",
    "optimize": "any value; compiled functions choose the order",
    "options": "NumPy's other options; an UnsupportedError for each",
    "order": "None: entries have no fields",
    "out": "None: expressions don't change",
    "rcond": "None",
    "settings": "settings of SymPy's printer",
    "tol": "None",
}
OF_METHODS = {
    "matrices": "a matrix or a stack of matrices",
    "subject_to": "a constraint, or a list of some",
}
OF_STOCK_METHODS = "as in SymPy's method of the same name"
# Sections that come after the one on parameters.
FOLLOWING = {"Returns", "Attributes", "Raises", "Examples", "References", "Notes", "See Also"}


def described(annotation: str) -> str:
    """Return an annotation in words; empty for one that says nothing to a reader.

    >>> described("TensorLike | None"), described("Any")
    ('a tensor, a scalar, or an array, or None', '')
    >>> described("int | Sequence[int | None]"), described("Literal['a', 'b'] | None")
    ('an integer, or a sequence', "'a', 'b', or None")
    >>> described("Unheard | None")
    ''
    """
    words = []
    for part in re.split(r"\|(?![^\[]*\])", annotation.strip("'\"")):
        outer, _, inner = part.strip().removesuffix("]").partition("[")
        if outer == "Literal":
            words.append(inner)
        elif outer in TYPES:
            words.append(TYPES[outer])
    return ", or ".join(words) if words != ["None"] else ""


def signature_of(value: object) -> inspect.Signature | None:
    """Return the signature of a function or class, if it has one."""
    try:
        return inspect.signature(value) if callable(value) else None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def is_built_by_functions(value: object) -> bool:
    """Tell whether a value is a class of nodes or of results, whose arguments nobody writes."""
    is_result = isinstance(value, type) and getattr(se, value.__name__, None) is not value
    return is_result or getattr(value, "__new__", None) is Node.__new__


def _undeclared(name: str, value: object) -> str:
    """Describe a parameter whose annotation says nothing to a reader."""
    if "." in getattr(value, "__qualname__", ""):
        return OF_METHODS.get(name, OF_STOCK_METHODS)
    return OF_FUNCTIONS[name]


def with_parameters(lines: list[str], value: object) -> list[str]:
    """Return the lines of a docstring with a section on the parameters."""
    found = signature_of(value)
    named = [] if found is None else [p for p in found.parameters.values() if p.name != "self"]
    made_by = value.__new__ if isinstance(value, type) else value
    is_stock = (getattr(made_by, "__module__", None) or "").startswith("sympy.")
    if not named or "Parameters" in lines or is_stock or is_built_by_functions(value):
        return lines
    section = ["Parameters", "==========", ""]
    for parameter in named:
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        label = stars.get(parameter.kind, "") + parameter.name
        annotation = getattr(parameter.annotation, "__forward_arg__", parameter.annotation)
        text = described(str(annotation)) or _undeclared(parameter.name, value)
        section.append(f"{label} : {text}")
    follows = (k for k, line in enumerate(lines) if line in FOLLOWING or line.startswith(">>>"))
    place = next(follows, len(lines))
    if lines[place:] and lines[place].startswith(">>>"):
        section += ["", "Examples", "========"]
    return [*lines[:place], "", *section, "", *lines[place:]]


def add_parameters(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Add the section to a docstring."""
    lines[:] = with_parameters(lines, value)


def setup(app: Sphinx) -> dict[str, Any]:
    # Before reference.py converts sections for Napoleon.
    app.connect("autodoc-process-docstring", add_parameters, priority=300)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
