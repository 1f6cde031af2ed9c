"""Texts of the helper functions of generated code, read from the modules that define them.

A module isn't imported for that, since the library that it is written for may be missing. Names
are respelled where the tree says that they stand, so that comments and layout are kept.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec, resolve_name
from itertools import zip_longest
from types import CodeType
from typing import Any, NamedTuple

from ..ir.code import dotted_name, names_in, nodes

# Gives another spelling of a dotted name, or None.
Spelling = Callable[[str], str | None]


class HelperText(NamedTuple):
    """The text of a helper function, and the names of modules and helpers that occur in it."""

    text: str
    names: frozenset[str]


class Edit(NamedTuple):
    """A text in place of what stands between two positions, each a line and a byte in it."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str

    @staticmethod
    def of(node: ast.expr, text: str) -> Edit:
        """Return the edit that writes a text in place of a node."""
        return Edit(_start(node), _end(node), text)

    @staticmethod
    def around(node: ast.expr, before: str, after: str) -> list[Edit]:
        """Return the edits that write texts before and after a node."""
        start, end = _start(node), _end(node)
        return [Edit(start, start, before), Edit(end, end, after)]


@dataclass(frozen=True)
class Helper:
    """A function of a module, or a variable, that generated code brings along.

    Attributes
    ==========

    module : the module's name, relative to this package where it starts with a dot
    origin : the name in the module; each occurrence becomes the name that the text has for it
    spelled : other spellings of dotted names in it: ``{"xp": "np", "xp.arange": "np.arange"}``
    result : an expression that the function returns last in place of its own
    """

    module: str
    origin: str
    spelled: Mapping[str, str] = field(default_factory=dict)
    result: str = ""

    def written(self, name: str, spelling: Spelling) -> HelperText:
        """Return the text of the helper by a name, in a library's spelling."""
        lines, tree = _definition(resolve_name(self.module, __package__ or ""), self.origin)
        if self.result:
            lines, tree = _returning(lines, tree, self.result)
        edits, names = self._respelled(tree, {**self.spelled, self.origin: name}, spelling)
        return HelperText(_edited(lines, tree, [*edits, *self.edits(tree)]), names)

    def edits(self, tree: ast.stmt) -> list[Edit]:
        """Return further changes of the text."""
        return []

    def _respelled(
        self, tree: ast.stmt, spelled: Mapping[str, str], spelling: Spelling
    ) -> tuple[list[Edit], frozenset[str]]:
        """Return what is to be changed, and the names of modules and helpers afterwards."""
        edits, used = [], set()
        local = _local_names(tree)
        if isinstance(tree, ast.FunctionDef):
            start = tree.lineno, tree.col_offset + len("def ")
            end = start[0], start[1] + len(tree.name)
            edits.append(Edit(start, end, spelled[tree.name]))
        pending: list[ast.AST] = [tree]
        while pending:
            node = pending.pop()
            own = dotted_name(node)
            root = own.partition(".")[0]
            other = None
            if own and root not in local:
                other = spelled.get(own) or (None if root in spelled else spelling(own))
            if other is not None and isinstance(node, ast.expr):
                edits.append(Edit.of(node, other))
                used.update(names_in(ast.parse(other, mode="eval").body))
                continue
            if isinstance(node, ast.Name) and root not in local:
                used.add(root)
            pending += ast.iter_child_nodes(node)
        return edits, frozenset(used)


def helpers(
    module: str, *names: str, spelled: Mapping[str, str] | None = None
) -> dict[str, Helper]:
    """Return some helpers of a module by their names."""
    return {name: Helper(module, name, spelled or {}) for name in names}


def aliases(helper: Helper, *names: str, space: str) -> dict[str, Helper]:
    """Return helpers like one that calls the function of its own name in a namespace: with other
    names."""
    own = f"{space}.{helper.origin}"
    return {
        name: Helper(helper.module, helper.origin, {**helper.spelled, own: f"{space}.{name}"})
        for name in names
    }


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _definition(module: str, name: str) -> tuple[list[bytes], ast.stmt]:
    """Return the tree of a function or variable at the top of a module, and the lines from which
    on its positions count."""
    lines, ranges = _functions(module)
    lines = lines[ranges.get(name, slice(None))]
    for statement in ast.parse(b"".join(lines)).body:
        own = statement.targets[0] if isinstance(statement, ast.Assign) else statement
        if name in (getattr(own, "name", ""), getattr(own, "id", "")):
            return lines, statement
    raise ImportError(f"{module} has no {name}", name=module)


@cache
def _functions(module: str) -> tuple[list[bytes], dict[str, slice]]:
    """Return the lines of a module, and which of them each function begins with.

    Its compiled code tells, which is read in a tenth of the time that all functions are parsed in.
    """
    spec = find_spec(module)
    loader: Any = None if spec is None else spec.loader
    text = None if loader is None else loader.get_source(module)
    if text is None:
        raise ImportError(f"the source of {module} is missing", name=module)
    codes = [part for part in loader.get_code(module).co_consts if isinstance(part, CodeType)]
    starts = sorted([(code.co_firstlineno - 1, code.co_name) for code in codes])
    ends = [start for start, _ in starts[1:]]
    ranges = {name: slice(start, end) for (start, name), end in zip_longest(starts, ends)}
    return text.encode().splitlines(keepends=True), ranges


def _local_names(tree: ast.stmt) -> set[str]:
    """Return the arguments and variables of a function."""
    if not isinstance(tree, ast.FunctionDef):
        return set()
    inside = [node for part in tree.body for node in nodes(part)]
    arguments = [node for node in [*nodes(tree.args), *inside] if isinstance(node, ast.arg)]
    stored = [n for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    functions = [n.name for n in inside if isinstance(n, ast.FunctionDef)]
    return {*[own.arg for own in arguments], *[own.id for own in stored], *functions}


def _returning(lines: list[bytes], tree: ast.stmt, result: str) -> tuple[list[bytes], ast.stmt]:
    """Return a function, and its lines, with another expression returned last."""
    assert isinstance(tree, ast.FunctionDef)
    own = tree.body[-1]
    assert isinstance(own, ast.Return)
    assert own.value is not None
    text = _edited(lines, tree, [Edit.of(own.value, result)])
    return text.encode().splitlines(keepends=True), ast.parse(text).body[0]


def _edited(lines: list[bytes], tree: ast.stmt, edits: list[Edit]) -> str:
    """Return the text of a statement after edits."""
    first = min([tree.lineno, *[own.lineno for own in getattr(tree, "decorator_list", [])]])
    lines = lines[: tree.end_lineno]
    for (top, left), (bottom, right), text in sorted(edits, reverse=True):
        joined = lines[top - 1][:left] + text.encode() + lines[bottom - 1][right:]
        lines[top - 1 : bottom] = [joined]
    return b"".join(lines[first - 1 :]).decode()
