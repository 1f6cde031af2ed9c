"""A row of the gallery, and its rendering."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import pi

import sympy_einsum as se

# Words after a shape that are assumptions of the symbol; others only affect its random entries.
TENSOR_ASSUMPTIONS = ("positive", "symmetric", "psd", "diagonal")


@dataclass(frozen=True)
class Row:
    """Define a function and its derivative.

    ``tensors`` has one entry for each, "name: lengths, words" (without lengths a scalar), and
    ``derivative`` is the operator and the variables: "gradient W", "jacobian X", "hessian w".
    ``closed`` is the closed form in ``source``, for each variable; it may use names defined in
    ``function``.
    """

    title: str
    keywords: str
    tensors: str
    function: str
    derivative: str
    closed: str | tuple[str, ...] = ()
    source: str = ""
    note: str = ""

    @property
    def kind(self) -> str:
        return self.derivative.split()[0]

    @property
    def by(self) -> list[str]:
        return self.derivative.split()[1:]

    @property
    def closed_forms(self) -> tuple[str, ...]:
        return (self.closed,) if isinstance(self.closed, str) else self.closed

    @property
    def page(self) -> str:
        """Return the name of its page."""
        kept = "".join(c if c.isalnum() else " " for c in self.title.lower())
        return "-".join(kept.split())

    @cached_property
    def declared(self) -> dict[str, tuple[list[str], list[str]]]:
        """Return lengths and words by tensor."""
        found = {}
        for entry in self.tensors.split(";"):
            name, _, about = entry.partition(":")
            lengths, *words = about.split(",")
            found[name.strip()] = (lengths.split(), [word.strip() for word in words])
        return found

    @property
    def lengths(self) -> list[str]:
        """Return the letters of lengths in order of occurrence."""
        letters = [one for lengths, _ in self.declared.values() for one in lengths]
        return [letter for letter in dict.fromkeys(letters) if not letter.isdigit()]

    @property
    def code(self) -> str:
        """Return a program that computes the derivative."""
        wanted = "pi, symbols" if "pi" in re.split(r"\W", self.function) else "symbols"
        lines = [f"from sympy import {wanted}", "import sympy_einsum as se"]
        if "snp." in self.function:
            lines.append("import sympy_einsum.numpy as snp")
        lines.append("")
        if self.lengths:
            names = " ".join(self.lengths)
            lines.append(f"{', '.join(self.lengths)} = {_symbols(names, 'integer', 'positive')}")
        lines += [_declaration(name, *about) for name, about in self.declared.items()]
        by = ", ".join(self.by)
        by = f"[{by}]" if len(self.by) > 1 else by
        return "\n".join([*lines, "", self.function, f"derivative = se.{self.kind}(f, {by})"])


def _symbols(names: str, *assumptions: str) -> str:
    told = "".join(f", {word}=True" for word in assumptions)
    return f'symbols("{names}"{told})'


def _declaration(name: str, lengths: list[str], words: list[str]) -> str:
    if not lengths:
        told = ["positive"] if "positive" in words else ["real"]
        return f"{name} = {_symbols(name, *told)}"
    told = [f"{word}=True" for word in words if word in TENSOR_ASSUMPTIONS]
    arguments = ", ".join([f'"{name}"', *lengths, *told])
    return f"{name} = se.TensorSymbol({arguments})"


@dataclass(frozen=True)
class Made:
    """Hold the results of a row's program."""

    row: Row
    f: Any
    variables: list[Any]
    tensors: list[Any]
    derivatives: list[Any]
    closed: list[Any]


def make(row: Row) -> Made:
    names: dict[str, Any] = {}
    exec(row.code, names)
    derivative = names["derivative"]
    return Made(
        row,
        names["f"],
        [names[name] for name in row.by],
        [names[name] for name in row.declared],
        derivative if len(row.by) > 1 else [derivative],
        [_value_of(text, {"pi": pi, **names}) for text in row.closed_forms if text],
    )


def _value_of(text: str, names: dict[str, Any]) -> Any:
    """Execute a text and return the value of its last line."""
    *before, last = text.splitlines()
    exec("\n".join(before), names)
    return eval(last, names)


def are_equal(made: Made) -> bool:
    """Tell whether each derivative equals its closed form, if there is one."""
    return not made.closed or all(
        se.equal(*pair) is True for pair in zip(made.derivatives, made.closed, strict=True)
    )
