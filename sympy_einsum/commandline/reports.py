"""Report on a text in any of the languages: its derivatives and their code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

from sympy import Basic, Expr, Symbol

from ..calculus import diff
from ..compiler import BACKENDS, Request, module_texts
from ..core import TensorError, children, postorder, tuning
from ..expressions import Operand, TensorExpr, order_of, shape_of
from ..languages import (
    SYNTAXES,
    checked_syntax,
    parse_program,
    parse_with_variables,
    read_declarations,
)
from ..operations import to_kronecker
from ..printing import latex, presentation, to_dot
from ..rules import Step
from ..verification import check_derivative

# Allowed values of the fields of a request.
CHOICES: dict[str, tuple[str | int | bool, ...]] = {
    "syntax": ("auto", *SYNTAXES),
    "notation": ("auto", "matrix", "index", "einsum", "star", "kronecker"),
    "mode": ("auto", "reverse", "forward"),
    "backend": tuple(BACKENDS),
    "order": tuple(range(1, tuning.MAX_REPORTED_ORDER + 1)),
    "check": (False, True),
    "task": ("derive", "convexity", "solve"),
}


class ReportRequest(NamedTuple):
    """Hold the text and options of a report."""

    text: str
    wrt: Sequence[str] = ()
    declarations: str | Mapping[str, Operand] = ""
    syntax: str = "auto"
    order: int = 1
    mode: str = "auto"
    notation: str = "auto"
    backend: str = "numpy"
    check: bool = False
    steps: bool = False
    task: str = "derive"
    data: str = ""


class Question(NamedTuple):
    """Hold a parsed text: its expressions, pairs of expression and variable to differentiate, and
    all variables by name."""

    expressions: Sequence[Operand]
    requested: Sequence[tuple[Operand, str]]
    variables: dict[str, Operand]


class Check(TypedDict):
    """Hold the outcome of a comparison with finite differences."""

    passed: bool
    max_relative_error: float | None
    message: str


class Report(NamedTuple):
    """Hold a derivative with its formulas, code and check."""

    wrt: str
    order: int
    expression: str
    variables: dict[str, list[str]]
    derivative: str
    shape: list[str]
    latex: str
    mathml: str
    function: str
    code: str
    module: str
    dot: str
    steps: list[dict[str, str]] | None
    check: Check | None

    def as_text(self, label: Callable[[str], str] = str) -> str:
        """Format the report as text, with its labels as ``label`` shows them."""
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
        lines += [(s["rule"], f"{s['before']}  ->  {s['after']}") for s in self.steps or ()]
        if self.check is not None:
            lines.append(("check", self.check["message"]))
        table = "\n".join(f"{label(f'{name:<10}')} {value}".rstrip() for name, value in lines)
        return f"{table}\n\n{self.code.rstrip()}"


def _tuple(lengths: Sequence[str]) -> str:
    return f"({', '.join(lengths)}{',' * (len(lengths) == 1)})"


def question(request: ReportRequest) -> Question:
    """Parse the text of a request; raises TensorError if that fails."""
    text, declarations = request.text.strip(), request.declarations or None
    syntax = checked_syntax(text, request.syntax)
    if syntax == "lippmann" and not request.wrt:
        program = parse_program(text, declarations)
        requested = [(program.expressions[place], name) for place, name in program.requested]
        return Question(program.expressions, requested, program.symbols)
    expr, variables = parse_with_variables(text, declarations, syntax)
    if syntax in ("matrixcalculus", "python"):
        unused = sorted(read_declarations(request.declarations).keys() - variables.keys())
        if unused:
            raise TensorError(f"{unused[0]!r} is declared, but doesn't occur in the expression")
    for name in request.wrt:
        if name not in variables:
            names = ", ".join(variables)
            known = f"its variables are {names}" if names else "it has no variables"
            raise TensorError(f"{name!r} isn't a variable of the expression; {known}")
    return Question([expr], [(expr, name) for name in dict.fromkeys(request.wrt)], variables)


def reports(request: ReportRequest) -> list[Report]:
    """Differentiate, print and check for each variable; raises TensorError for invalid input."""
    read = question(request)
    if not read.requested:
        raise TensorError('name a variable to differentiate with respect to, as in "--wrt x"')
    return [_report(request, expr, read.variables, name) for expr, name in read.requested]


def differentiate(
    request: ReportRequest, expr: Operand, x: Operand
) -> tuple[list[Operand], list[dict[str, str]]]:
    """Return an expression with its derivatives up to the requested order, and the steps."""
    found = [expr]
    steps: list[Step] = []
    for count in range(1, request.order + 1):
        if request.steps:
            derivative, own = diff(found[-1], x, mode=request.mode, trace=True)
            steps += own
        else:
            derivative = diff(found[-1], x, mode=request.mode)
        found.append(derivative)
        if _written_nodes(derivative) > tuning.MAX_REPORTED_OPERATIONS:
            raise TensorError(
                f"the derivative of order {count} has more than "
                f"{tuning.MAX_REPORTED_OPERATIONS} operations to write; ask for a lower order"
            )
    return found, [
        {k: str(getattr(step, k)) for k in ("rule", "before", "after")} for step in steps
    ]


def _report(
    request: ReportRequest, expr: Operand, variables: dict[str, Operand], name: str
) -> Report:
    """Compose the report on the derivatives with respect to one variable."""
    x = variables[name]
    found, steps = differentiate(request, expr, x)
    lower, derivative = found[-2:]
    arguments = [*variables.values(), *unbound_lengths([derivative], variables.values())]
    module, source = module_texts(Request(arguments, derivative, request.backend), "function")
    return Report(
        wrt=name,
        order=request.order,
        expression=str(expr),
        variables={own: _strings(shape_of(symbol)) for own, symbol in variables.items()},
        derivative=str(derivative),
        shape=_strings(shape_of(derivative)),
        latex=_formula(derivative, request.notation, order_of(lower)),
        mathml=presentation(derivative),
        function=source.own,
        code=source.text,
        module=module,
        dot=to_dot(derivative),
        steps=steps if request.steps else None,
        check=_check(lower, x, derivative) if request.check else None,
    )


def _formula(derivative: Operand, notation: str, order: int) -> str:
    if notation == "kronecker":
        return latex(to_kronecker(derivative, order))
    return latex(derivative, notation=notation)


def _written_nodes(expr: Operand) -> int:
    """Bound the number of nodes that a printer visits: each tensor once, each SymPy scalar once per
    occurrence."""
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


def unbound_lengths(exprs: Sequence[Operand], symbols: Iterable[Operand]) -> list[Symbol]:
    """Return the free symbols that the arguments don't determine: lengths as in ``vector(1)``."""
    bound = set(symbols)
    bound.update([s for x in symbols for length in shape_of(x) for s in length.free_symbols])
    return sorted({s for e in exprs for s in e.free_symbols} - bound, key=str)


def _check(y: Operand, x: Operand, derivative: Operand) -> Check:
    """Compare a derivative with finite differences on random data."""
    try:
        error = check_derivative(y, x, derivative)
    except TensorError as failure:
        return {"passed": False, "max_relative_error": None, "message": f"failed: {failure}"}
    message = f"passed, max relative error {error:.1e} against finite differences"
    return {"passed": True, "max_relative_error": error, "message": message}
