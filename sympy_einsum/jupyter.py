"""The cell magic ``%%einsum`` for IPython and Jupyter, after ``%load_ext sympy_einsum``."""

from __future__ import annotations

import re
import shlex
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from sympy import Symbol

from .commandline import ReportRequest, differentiate, question
from .core import TensorError
from .expressions import Operand, TensorSymbol
from .languages import SYNTAXES

_WORD = re.compile(r"[A-Za-z_]\w*")
_SYMBOLS = (Symbol, TensorSymbol)
_ASKS_FOR_HELP = re.compile(r"(?:^|\s)(?:-h|--help)(?:\s|$)")


@magics_class
class EinsumMagics(Magics):
    """Cells in one of the languages that :func:`parse` reads."""

    @magic_arguments()
    @argument("name", nargs="?", help="the variable that keeps the answer")
    @argument("--wrt", action="append", default=[], help="a variable to differentiate by")
    @argument("--order", type=int, default=1, help="how often to differentiate")
    @argument("--syntax", default="auto", choices=["auto", *SYNTAXES], help="the language")
    @argument("--declare", default="", help="what the variables are, instead of the session's")
    @cell_magic
    def einsum(self, line: str, cell: str) -> Operand | list[Operand] | None:
        """Read the cell: its answer is its expression, or the derivatives that are asked for.

        Symbols of the session that have the names in the text stand for these; the others become
        symbols of the session.
        """
        if _ASKS_FOR_HELP.search(line):
            print(self.einsum.parser.format_help())
            return None
        shell: Any = self.shell
        options = self.einsum.parser.parse_args(shlex.split(line))
        request = ReportRequest(
            cell,
            options.wrt,
            options.declare or _symbols(shell, cell),
            options.syntax,
            options.order,
        )
        try:
            read = question(request)
            found = [differentiate(request, e, read.variables[x])[0][-1] for e, x in read.requested]
        except TensorError as error:
            raise UsageError(str(error)) from None
        answers = found or [*read.expressions]
        answer = answers[0] if len(answers) == 1 else answers
        shell.user_ns.update(read.variables)
        if options.name:
            shell.user_ns[options.name] = answer
        return answer


def _symbols(shell: InteractiveShell, text: str) -> dict[str, Operand]:
    """Return the symbols of the session whose names are words of a text."""
    found = {name: shell.user_ns.get(name) for name in _WORD.findall(text)}
    return {k: v for k, v in found.items() if isinstance(v, _SYMBOLS) and v.name == k}


def _with_body(lines: list[str]) -> list[str]:
    """Return the lines of a cell; one that is the magic alone gets an empty line, without which
    IPython doesn't call it and it can't say what it takes."""
    return [*lines, "\n"] if len(lines) == 1 and lines[0].startswith("%%einsum") else lines


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Attach the magic and its completions, as ``%load_ext sympy_einsum`` does."""
    shell.register_magics(EinsumMagics)
    shell.input_transformers_cleanup.append(_with_body)

    @context_matcher()
    def einsum_matcher(context: CompletionContext) -> SimpleMatcherResult:
        """Return the names of the cell and the session's symbols, in cells with the magic."""
        first, _, cell = context.full_text.lstrip().partition("\n")
        names: set[str] = set()
        if first.startswith("%%einsum"):
            symbols = [k for k, v in shell.user_ns.items() if isinstance(v, _SYMBOLS)]
            names = {*symbols, *_WORD.findall(cell)} - {context.token}
        found = sorted(name for name in names if name.startswith(context.token))
        return {"completions": [SimpleCompletion(name, type="symbol") for name in found]}

    shell.Completer.custom_matchers.append(einsum_matcher)
