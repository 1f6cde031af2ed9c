"""Run the command line; the end of its help states the exit status."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ..core import TensorError, tuning
from .completion import SHELLS, completion
from .evaluation import as_arrays, evaluate_report, problem_of, read_numbers, solve_problem
from .reports import CHOICES, ReportRequest, reports
from .serving import serve

_EPILOG = """\
In the language of MatrixCalculus.org capital letters are matrices, a to g scalars, h to z vectors
(columns; x' is a row), by the first letter of a name. Operators: + - * / ^ .* ./ .^ and ' for the
transpose. Functions: sum, norm1, norm2, tr, det, logdet, inv, adj, diag, vec, kron, max, softmax,
exp, log, sin, tanh, relu and other elementwise ones; vector(1), matrix(1) and eye take their
lengths from the context.

Lippmann's tensor language has index strings: A *(ij,j->i) b. Orders are declared, with --declare or
in the text, which may be a program that asks for derivatives itself.

Caddie's language has functions of numbers and tuples: fun f x = let y = #1 x in ln y * sin (#2 x).

examples:
  sympy-einsum derive "sum(log(exp(-y .* (X*w)) + vector(1)))" --wrt w --order 2 --check
  sympy-einsum derive "x *(i,ij->j) A *(j,j->) x" --declare "x 1 A 2" --wrt x --code
  sympy-einsum derive "fun f x = ln (sin x)" --wrt x
  sympy-einsum eval "x'*A*x" --set "x=[1, 2]" --set "A=[[1, 0], [0, 3]]" --wrt x
  sympy-einsum solve problem.txt --data data.npz
  sympy-einsum serve

"solve" reads a problem in GENO's language: parameters, variables, min or max, st.

Without a command, "derive" is meant. "python -m sympy_einsum" is the same.

exit status:
  0    done
  1    a check against finite differences failed, or a problem wasn't solved
  2    the input can't be used; one message on standard error says why
  130  interrupted

Colours are written to a terminal only, and not where NO_COLOR is set.
"""
# Options of the program itself.
_OWN = ("-h", "--help", "--version", "--completion")
_BOLD, _RED = "1", "31"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    >>> main(["derive", "a^2", "--wrt", "a"])
    function   a**2
    variables  a
    d/da       2*a
    shape      ()
    LaTeX      2 a
    <BLANKLINE>
    def function(a):
        t1 = 2*a
        return t1
    0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0].partition("=")[0] not in (*COMMANDS, *_OWN):
        words.insert(0, "derive")
    # argparse would take an expression that starts with a minus sign for an option.
    spaced = [f" {w}" if re.match(r"-[^-h]", w) else w for w in words]
    arguments = _parser().parse_args(spaced)
    try:
        return COMMANDS[arguments.command](arguments)
    except TensorError as error:
        _print_error(str(error).replace('declare "', '--declare "'))
    except RecursionError:
        _print_error("the expression is nested too deeply for SymPy")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 2


def _print_error(message: str) -> None:
    print(f"{_coloured('error:', _RED, sys.stderr)} {message}", file=sys.stderr)


def _coloured(text: str, colour: str, stream: TextIO) -> str:
    """Return a text in a colour, if the stream is a terminal that shows colours."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not stream.isatty() else f"\033[{colour}m{text}\033[0m"


def _derive(arguments: argparse.Namespace) -> int:
    found = reports(_request(arguments))
    if arguments.json:
        objects = [report._asdict() for report in found]
        print(json.dumps(objects[0] if len(objects) == 1 else objects, indent=2))
    elif arguments.code:
        print("\n\n".join(report.module.rstrip() for report in found))
    elif arguments.dot:
        print("\n".join(report.dot for report in found))
    else:
        label = partial(_coloured, colour=_BOLD, stream=sys.stdout)
        print("\n\n".join(report.as_text(label) for report in found))
    return 0 if all(report.check is None or report.check["passed"] for report in found) else 1


def _eval(arguments: argparse.Namespace) -> int:
    values = evaluate_report(_request(arguments), _data(arguments))
    if arguments.json:
        print(json.dumps({name: value.tolist() for name, value in values.items()}))
    else:
        print("\n".join(f"{name} = {value}" for name, value in values.items()))
    return 0


def _solve(arguments: argparse.Namespace) -> int:
    problem = problem_of(ReportRequest(_text(arguments), syntax="geno"))
    result = solve_problem(
        problem,
        _data(arguments),
        arguments.method,
        arguments.tolerance,
        _print_progress if arguments.progress else None,
    )
    print(json.dumps(_as_json(result)) if arguments.json else result)
    return 0 if result.success else 1


def _print_progress(iteration: Any) -> None:
    number, value, violation, seconds = iteration
    print(f"{number:>6}  {value:<22.15g}  {violation:<8.1e}  {seconds:.2f} s", file=sys.stderr)


def _as_json(result: Any) -> dict[str, object]:
    """Return a result as objects of JSON; what isn't finite is null."""
    values = {str(x): np.asarray(value).tolist() for x, value in result.values.items()}
    names = "success", "message", "method", "iterations"
    return {
        "variables": values,
        "value": result.value if np.isfinite(result.value) else None,
        **{name: getattr(result, name) for name in names},
    }


def _serve(arguments: argparse.Namespace) -> int:
    serve(arguments.port, arguments.json)
    return 0


# --- inputs


def _request(arguments: argparse.Namespace) -> ReportRequest:
    given = vars(arguments)
    options = {name: given[name] for name in ReportRequest._fields if name in given}
    return ReportRequest(_text(arguments), declarations=";".join(arguments.declare), **options)


def _text(arguments: argparse.Namespace) -> str:
    """Read the expression from the command line, a file or standard input."""
    if arguments.file is not None and arguments.expression is not None:
        raise TensorError("give an expression or a file, not both")
    if arguments.file is not None:
        with _readable(arguments.file):
            return str(arguments.file.read_text(encoding="utf-8"))
    if arguments.expression in (None, "-"):
        return sys.stdin.read()
    return str(arguments.expression)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Convert errors of reading a file to TensorErrors."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise TensorError(f"can't read {path}: {error}") from None


def _data(arguments: argparse.Namespace) -> dict[str, np.ndarray]:
    """Return arrays by name, from NumPy or JSON files and from the command line."""
    data: dict[str, object] = {}
    for path in arguments.data:
        with _readable(path):
            if path.suffix == ".npz":
                with np.load(path, allow_pickle=False) as arrays:
                    data |= dict(arrays)
            else:
                data |= dict(read_numbers(path.read_text(encoding="utf-8")))
    for text in arguments.set:
        name, _, value = text.partition("=")
        try:
            data[name.strip()] = read_numbers(value)
        except ValueError:
            raise TensorError(f'--set takes NAME=VALUE as in "x=[1, 2.5]", not {text!r}') from None
    return as_arrays(data)


# --- options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sympy-einsum",
        description="Derivatives of tensor expressions.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=version("sympy_einsum"))
    parser.add_argument(
        "--completion",
        action=_Completion,
        choices=SHELLS,
        help='print the script that completes the command line in a shell, for bash: eval "$('
        'sympy-einsum --completion bash)"',
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    derive = commands.add_parser("derive", help="print derivatives", allow_abbrev=False)
    evaluation = commands.add_parser("eval", help="evaluate on data", allow_abbrev=False)
    solving = commands.add_parser("solve", help="solve a problem", allow_abbrev=False)
    serving = commands.add_parser("serve", help="answer in a browser", allow_abbrev=False)
    _add_texts(derive)
    _add_texts(evaluation)
    _add_reports(derive)
    _add_data(evaluation)
    add = solving.add_argument
    add("file", nargs="?", type=Path, help="a file with the problem; else standard input")
    _add_data(solving)
    add("--method", default="auto", help="of solution (default auto)")
    add("--tolerance", type=float, default=1e-8, help="of the solution (default 1e-8)")
    add("--progress", action="store_true", help="print each iteration on standard error")
    add("--json", action="store_true", help="print JSON")
    solving.set_defaults(expression=None)
    serving.add_argument("--port", type=int, default=8765, help="of this machine (default 8765)")
    serving.add_argument("--json", action="store_true", help="print the address as JSON")
    return parser


class _Completion(argparse.Action):
    """Print a script and end, as ``--version`` does."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: Any, *_: object
    ) -> None:
        print(completion(parser, values))
        parser.exit()


def _add_data(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that give arrays."""
    add = parser.add_argument
    add("--set", action="append", default=[], metavar="NAME=VALUE", help='as in "x=[1, 2.5]"')
    add("--data", action="append", default=[], type=Path, metavar="FILE", help=".npz or .json")


def _add_texts(parser: argparse.ArgumentParser) -> None:
    """Add the arguments shared by both commands that take an expression."""
    add = parser.add_argument
    add("expression", nargs="?", help='such as "norm2(A*x - y)^2"; else, or for -, standard input')
    add("--file", type=Path, help="a file with the expression")
    add("--syntax", default="auto", choices=CHOICES["syntax"], help="its language")
    add(
        "--declare",
        action="append",
        default=[],
        metavar="TEXT",
        help='what a variable is: "K symmetric", "a, b vector(n)", "x positive scalar"; in '
        'Lippmann\'s language its order, "A 2 b 1"; can be given several times',
    )
    add(
        "--wrt",
        action="append",
        default=[],
        metavar="NAME",
        help="the variable; can be given several times; a program may name it itself",
    )
    add(
        "--order",
        type=int,
        default=1,
        choices=CHOICES["order"],
        metavar="K",
        help=f"how often to differentiate, 1 to {tuning.MAX_REPORTED_ORDER} (default 1)",
    )
    add("--mode", default="auto", choices=CHOICES["mode"], help="of differentiation")
    add("--json", action="store_true", help="print JSON, for several variables a list")


def _add_reports(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--notation", default="auto", choices=CHOICES["notation"], help="of the LaTeX")
    add(
        "--backend",
        default="numpy",
        choices=CHOICES["backend"],
        help="the array library of the code",
    )
    add("--steps", action="store_true", help="show each step of the derivation")
    add("--check", action="store_true", help="compare with finite differences on random data")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--code", action="store_true", help="print nothing but the code")
    only.add_argument("--dot", action="store_true", help="print the graph, for Graphviz")


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "derive": _derive,
    "eval": _eval,
    "solve": _solve,
    "serve": _serve,
}
