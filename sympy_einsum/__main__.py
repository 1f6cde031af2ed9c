"""The command line: an expression in one of the languages in, its derivative out.

Exit status: 0, or 1 if the numerical check failed, or 2 if the input can't be used, with one
message on stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypedDict

import sympy
from sympy import Basic, Expr, Symbol

from .calculus import diff
from .compiler import lambdify
from .core import TensorError, children, postorder
from .expressions import Operand, TensorExpr, shape_of
from .languages import SYNTAXES, parse_program, parse_with_variables, read_declarations
from .verification import check_derivative

MAX_ORDER = 10
# Derivatives of more operations aren't printed.
MAX_WRITTEN = 30_000
_EPILOG = """\
Capital letters are matrices, a to g scalars, h to z vectors (columns; x' is a row), by the first
letter of a name. Operators: + - * / ^ .* ./ .^ and ' for the transpose. Functions: sum, norm1,
norm2, tr, det, logdet, inv, adj, diag, exp, log, sin, tanh, relu and other elementwise ones;
vector(1), matrix(1) and eye take their lengths from the context.

Lippmann's tensor language has index strings: A *(ij,j->i) b. Orders are declared, with --declare or
in the text, which may be a program that asks for derivatives itself.

examples:
  python -m sympy_einsum "sum(log(exp(-y .* (X*w)) + vector(1)))" --wrt w --order 2 --check
  python -m sympy_einsum --syntax lippmann "x *(i,ij->j) A *(j,j->) x" --declare "x 1 A 2" --wrt x
"""


class Check(TypedDict):
    """The outcome of a comparison with finite differences."""

    passed: bool
    max_relative_error: float | None
    message: str


class Report(NamedTuple):
    """All that is printed about one derivative."""

    wrt: str
    order: int
    expression: str
    variables: dict[str, list[str]]
    derivative: str
    shape: list[str]
    latex: str
    code: str
    check: Check | None

    def as_text(self) -> str:
        """For people."""
        variables = ", ".join(
            f"{name} {_tuple(shape)}" if shape else name for name, shape in self.variables.items()
        )
        power = f"^{self.order}" if self.order > 1 else ""
        lines = [
            ("function", self.expression),
            ("variables", variables),
            (f"d{power}/d{self.wrt}{power}", self.derivative),
            ("shape", _tuple(self.shape)),
            ("LaTeX", self.latex),
        ]
        if self.check is not None:
            lines.append(("check", self.check["message"]))
        table = "\n".join(f"{label:<10} {value}".rstrip() for label, value in lines)
        return f"{table}\n\n{self.code.rstrip()}"


def _tuple(lengths: Sequence[str]) -> str:
    return f"({', '.join(lengths)}{',' * (len(lengths) == 1)})"


def make_reports(arguments: argparse.Namespace) -> list[Report]:
    """Parse, and for each variable differentiate, print and check; raises TensorError for input
    that can't be used."""
    text, declarations = arguments.expression, ";".join(arguments.declare)
    wanted: list[tuple[Operand, str]] = []
    if arguments.syntax == "lippmann" and not arguments.wrt:
        program = parse_program(text, declarations or None)
        variables = program.symbols
        wanted = [(program.expressions[place], name) for place, name in program.wanted]
    else:
        expr, variables = parse_with_variables(text, declarations or None, arguments.syntax)
        wanted = [(expr, name) for name in dict.fromkeys(arguments.wrt)]
    if arguments.syntax == "matrixcalculus":
        unused = sorted(read_declarations(declarations).keys() - variables.keys())
        if unused:
            raise TensorError(f"{unused[0]!r} is declared, but doesn't occur in the expression")
    if not wanted:
        raise TensorError("no variable to differentiate by; name one by --wrt")
    for _, name in wanted:
        if name not in variables:
            names = ", ".join(variables)
            known = f"its variables are {names}" if names else "it has no variables"
            raise TensorError(f"{name!r} is no variable of the expression; {known}")
    return [
        _report(expr, variables, name, arguments.order, arguments.check) for expr, name in wanted
    ]


def _report(
    expr: Operand, variables: dict[str, Operand], name: str, order: int, check: bool
) -> Report:
    """What is printed about the derivative by one variable."""
    x = variables[name]
    lower, derivative = expr, expr
    for count in range(1, order + 1):
        lower, derivative = derivative, diff(derivative, x)
        if _written_nodes(derivative) > MAX_WRITTEN:
            raise TensorError(
                f"the derivative of order {count} has more than {MAX_WRITTEN} operations to be "
                "written; ask for a lower order"
            )
    unbound = _unbound_lengths([derivative], variables.values())
    function = lambdify([*variables.values(), *unbound], derivative)
    return Report(
        wrt=name,
        order=order,
        expression=str(expr),
        variables={own: _strings(shape_of(symbol)) for own, symbol in variables.items()},
        derivative=str(derivative),
        shape=_strings(shape_of(derivative)),
        latex=sympy.latex(derivative),
        code=function.source,
        check=_check(lower, x, derivative) if check else None,
    )


def _written_nodes(expr: Operand) -> int:
    """How many nodes a printer meets at most: each tensor once, but SymPy's scalars wherever they
    occur."""
    size: dict[Basic, int] = {}
    tensors = 0
    for node in postorder([expr]):
        size[node] = 1 + sum(size[child] for child in children(node))
        if isinstance(node, TensorExpr):
            tensors += size[node]
            size[node] = 1
    return tensors + size[expr]


def _strings(shape: Sequence[Expr]) -> list[str]:
    return [str(length) for length in shape]


def _unbound_lengths(exprs: Sequence[Operand], symbols: Iterable[Operand]) -> list[Symbol]:
    """Free symbols that neither are nor come with the arguments: lengths as in ``vector(1)``."""
    bound = set(symbols)
    bound.update([s for x in symbols for length in shape_of(x) for s in length.free_symbols])
    return sorted({s for e in exprs for s in e.free_symbols} - bound, key=str)


def _check(y: Operand, x: Operand, derivative: Operand) -> Check:
    """The outcome of the comparison with finite differences on random data."""
    try:
        error = check_derivative(y, x, derivative)
    except TensorError as failure:
        return {"passed": False, "max_relative_error": None, "message": f"failed: {failure}"}
    message = f"passed, max relative error {error:.1e} against finite differences"
    return {"passed": True, "max_relative_error": error, "message": message}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sympy_einsum",
        description="Differentiate an expression, by default one in MatrixCalculus.org's language.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("expression", help='such as "norm2(A*x - y)^2"')
    parser.add_argument(
        "--syntax",
        default="matrixcalculus",
        choices=list(SYNTAXES),
        help="the language of the expression (default matrixcalculus)",
    )
    parser.add_argument(
        "--wrt",
        default=[],
        action="append",
        metavar="NAME",
        help="the variable; can be given several times; a program may name it itself",
    )
    parser.add_argument(
        "--order",
        type=int,
        default=1,
        choices=range(1, MAX_ORDER + 1),
        metavar="K",
        help=f"how often to differentiate, 1 to {MAX_ORDER} (default 1)",
    )
    parser.add_argument(
        "--declare",
        action="append",
        default=[],
        metavar="TEXT",
        help='what a variable is: "K symmetric", "a, b vector(n)", "x positive scalar"; '
        'in Lippmann\'s language its order, "A 2 b 1"; '
        "can be given several times",
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with finite differences on random data"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object, or for several variables a list of them",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    >>> main(["a^2", "--wrt", "a"])  # doctest: +ELLIPSIS
    function   a**2
    variables  a
    d/da       2*a
    shape      ()
    LaTeX      2 a
    ...
    def function(a):
    ...
    0
    """
    words = sys.argv[1:] if argv is None else argv
    # An expression may start with a minus sign, in which argparse sees an option.
    spaced = [f" {w}" if w[:1] == "-" and w[:2] not in ("--", "-h") else w for w in words]
    arguments = _parser().parse_args(spaced)
    arguments.expression = arguments.expression.strip()
    try:
        reports = make_reports(arguments)
    except TensorError as error:
        print(f"error: {_for_shells(str(error))}", file=sys.stderr)
        return 2
    except RecursionError:
        print("error: the expression is nested too deeply for SymPy", file=sys.stderr)
        return 2
    if arguments.json:
        objects = [report._asdict() for report in reports]
        print(json.dumps(objects[0] if len(objects) == 1 else objects, indent=2))
    else:
        print("\n\n".join(report.as_text() for report in reports))
    return 0 if all(report.check is None or report.check["passed"] for report in reports) else 1


def _for_shells(message: str) -> str:
    """An error message with declarations as options."""
    return message.replace('declare "', '--declare "')


if __name__ == "__main__":
    sys.exit(main())
