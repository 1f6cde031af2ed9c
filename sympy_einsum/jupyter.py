"""The cell magic ``%%einsum`` for IPython and Jupyter, and notes on what takes long, after
``%load_ext sympy_einsum``."""

from __future__ import annotations

import re
import shlex
import sys
import threading
import time
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from sympy import Symbol

from .commandline import ReportRequest, differentiate, question
from .core import TensorError, tuning
from .expressions import Operand, TensorExpr, TensorSymbol
from .languages import SYNTAXES

_WORD = re.compile(r"[A-Za-z_]\w*")
# A name and the beginning of one of its attributes.
_ATTRIBUTE = re.compile(r"(?:^|.*[^\w.])([A-Za-z_]\w*)\.(\w*)", re.DOTALL)
_SYMBOLS = (Symbol, TensorSymbol)
# Functions and methods that may take long.
_LONG = {"diff", "gradient", "jacobian", "hessian", "jvp", "vjp", "hvp", "linearize", "simplify"}
_LONG |= {"expand", "factor", "equal", "lambdify", "codegen", "compress", "convexity", "solve"}
_LONG |= {"expectation", "variance", "covariance", "series", "taylor", "limit", "latex"}
_LONG |= {"check_derivative", "evaluate"}
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
    @line_cell_magic
    def einsum(self, line: str, cell: str | None = None) -> Operand | list[Operand] | None:
        """Read the cell: its answer is its expression, or the derivatives that are asked for.

        Symbols of the session that have the names in the text stand for these; the others become
        symbols of the session.
        """
        if _ASKS_FOR_HELP.search(line):
            print(self.einsum.parser.format_help())
            return None
        if cell is None:
            raise UsageError("begin the cell with %%einsum, and write the expression below it")
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


def _own_first(tensor: TensorExpr, prefix: str) -> list[str]:
    """Return the attributes of a tensor that begin with a prefix: public ones of ours, public ones
    of SymPy's expressions, private ones."""

    def rank(name: str) -> tuple[bool, bool, str]:
        owner = next((own for own in type(tensor).__mro__ if name in vars(own)), object)
        is_ours = owner.__module__.startswith("sympy_einsum")
        return name.startswith("_"), not is_ours, name.lower()

    return sorted({name for name in dir(tensor) if name.startswith(prefix)}, key=rank)


def _with_body(lines: list[str]) -> list[str]:
    """Return the lines of a cell; one that is the magic alone gets an empty line, without which
    IPython doesn't call it and it can't say what it takes."""
    return [*lines, "\n"] if len(lines) == 1 and lines[0].startswith("%%einsum") else lines


class ProgressNotes:
    """Say on standard error which of our functions runs, when a cell has taken some seconds, and
    again after twice the time."""

    def __init__(self) -> None:
        self.timer: threading.Timer | None = None
        self.start = 0.0

    def begin(self, info: object = None) -> None:
        """Start the timer, before a cell runs."""
        self.end()
        self.start = time.monotonic()
        self._wait(tuning.NOTE_SECONDS)

    def end(self, result: object = None) -> None:
        """Stop the timer."""
        if self.timer is not None:
            self.timer.cancel()

    def _wait(self, seconds: float) -> None:
        self.timer = threading.Timer(seconds, self._note)
        self.timer.daemon = True
        self.timer.start()

    def _note(self) -> None:
        name = self._running()
        elapsed = time.monotonic() - self.start
        if name is not None:
            text = f"sympy_einsum: {name} is running, after {elapsed:.0f} s; interrupt to stop it"
            print(text, file=sys.stderr, flush=True)
        self._wait(tuning.NOTE_SECONDS if name is None else elapsed)

    def _running(self) -> str | None:
        """Return the name of the outermost public function of ours in the main thread."""
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        found = None
        while frame is not None:
            name = frame.f_code.co_name
            is_ours = frame.f_globals.get("__name__", "").startswith("sympy_einsum.")
            if is_ours and name in _LONG:
                found = name
            frame = frame.f_back
        return found


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Attach the magic and its completions, as ``%load_ext sympy_einsum`` does."""
    shell.register_magics(EinsumMagics)
    notes = ProgressNotes()
    shell.events.register("pre_run_cell", notes.begin)
    shell.events.register("post_run_cell", notes.end)
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

    @context_matcher(identifier="sympy_einsum.attributes")
    def attribute_matcher(context: CompletionContext) -> SimpleMatcherResult:
        """Return a tensor's attributes instead of IPython, which sorts them by their names."""
        found = _ATTRIBUTE.fullmatch(context.text_until_cursor)
        tensor = shell.user_ns.get(found[1]) if found else None
        if found is None or not isinstance(tensor, TensorExpr):
            return {"completions": []}
        return {
            "completions": [SimpleCompletion(name) for name in _own_first(tensor, found[2])],
            "matched_fragment": found[2],
            "ordered": True,
            "suppress": True,
        }

    shell.Completer.custom_matchers += [einsum_matcher, attribute_matcher]
