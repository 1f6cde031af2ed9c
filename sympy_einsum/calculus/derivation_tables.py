"""Derivations as tables: a row per node, with its partial derivatives and its tangent or cotangent.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018, tables 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import sympy
from sympy import Basic, Expr, S, Symbol

from ..core import UnsupportedError, postorder, tuning
from ..expressions import (
    VALUES,
    Delta,
    Operand,
    Recurrence,
    Scan,
    TensorExpr,
    TensorSymbol,
    Zeros,
    depending,
    order_of,
    rebuild,
    shape_of,
    split_body,
    substitute,
    substitute_all,
)
from ..operations import add, tensordot
from ..rules import Step, tidy
from .sweeps import pullback, pushforward, sweep

# The letters of carries and values in a step.
LETTERS = "suwzpqrabcdefg"
# Characters that are markup in HTML.
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Derivation(NamedTuple):
    """A function, what it is differentiated by, and how."""

    function: Operand
    variables: tuple[Operand, ...]
    mode: str


class DerivationRow(NamedTuple):
    """A node of the function's graph, or the next value of a carry or a value of a loop's step.

    Attributes
    ==========

    name : x_0, x_1, … for symbols, v_0, v_1, … for what is computed, y_0 for the function; s_t+1,
        … for the next value of a carry after t steps, and other letters for values of the step t
    node : the expression
    definition : the node as its operation on the names of its operands
    partials : by the name of each operand, the node's derivative by it, in names
    rule : how the derivative follows from those of other rows, in LaTeX
    derivative : forward the node's derivative by the variable, else the function's by the node; of
        a step the equation of tangents, or the adjoint equation, in names such as sbar_t+1
    of : whose derivative it is: the row's, or before a step
    """

    name: str
    node: Operand
    definition: Operand
    partials: dict[str, Operand]
    rule: str
    derivative: Operand
    of: str


class Trace(list[Step]):
    """The steps of a derivation. In notebooks it is shown as the tables of [LMG18]: one for each
    time that was differentiated and, forward, for each variable.

    Attributes
    ==========

    derivations : what the tables are about
    """

    def __init__(self, steps: Iterable[Step], derivations: Sequence[Derivation]):
        super().__init__(steps)
        self.derivations = derivations

    def rows(self, place: int = 0) -> list[DerivationRow]:
        """Return the rows of a table.

        Raises
        ======

        UnsupportedError : there are more than can be read

        Examples
        ========

        >>> import sympy_einsum as se
        >>> A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
        >>> _, trace = se.diff(se.exp(A @ x), x, mode="forward", trace=True)
        >>> for row in trace.rows():
        ...     print(row.name, row.definition, row.partials, row.derivative)
        x_0 A {} Zeros(3, 3, 3)
        x_1 x {} Delta(3)
        v_0 x_0 @ x_1 {'x_0': einsum('i,j->jji', x_1, Ones(3)), 'x_1': x_0} A
        y_0 exp(v_0) {'v_0': diag(exp(v_0))} diag(exp(A @ x)) @ A
        """
        return _rows(self.derivations[place])

    def _repr_latex_(self) -> str:
        tables = [
            " \\\\\n".join([" & ".join(_cells(row, d.mode)) for row in _rows(d)])
            for d in self.derivations
        ]
        arrays = [f"\\begin{{array}}{{l|l|l}}\n{table}\n\\end{{array}}" for table in tables]
        return "$\\displaystyle " + "\n\\\\[2ex]\n".join(arrays) + "$"

    def _repr_html_(self) -> str:
        tables = []
        for derivation in self.derivations:
            kind = "Forward" if derivation.mode == "forward" else "Reverse"
            heads = "Forward trace", "Partial derivatives", f"{kind} derivative trace"
            lines = [f"<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"]
            for row in _rows(derivation):
                cells = [
                    f"${c.translate(_ENTITIES)}$" if c else "" for c in _cells(row, derivation.mode)
                ]
                lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
            tables.append(f"<table>\n{chr(10).join(lines)}\n</table>")
        return "\n".join(tables)


def _cells(row: DerivationRow, mode: str) -> list[str]:
    """Return the three columns of a row in LaTeX."""
    name = _letter(row.name)
    # A loop's partial derivatives are those of its step.
    partials = [
        rf"\frac{{\partial {name}}}{{\partial {_letter(of)}}} = {sympy.latex(partial)}"
        for of, partial in row.partials.items()
        if not isinstance(row.node, Scan)
    ]
    steps = [_letter(row.of, mode), row.rule, sympy.latex(row.derivative)] if row.of else []
    return [
        " = ".join(dict.fromkeys([name, sympy.latex(row.definition), sympy.latex(row.node)])),
        r",\; ".join(partials),
        " = ".join(filter(None, steps)),
    ]


def _letter(name: str, mode: str | None = None) -> str:
    """Format a name in LaTeX, with a dot for its tangent and a bar for its cotangent."""
    letter, _, number = name.partition("_")
    marked = letter if mode is None else rf"\{'dot' if mode == 'forward' else 'bar'}{{{letter}}}"
    return f"{marked}_{{{number}}}"


def _rule(terms: Sequence[tuple[str, str]], mode: str) -> str:
    """Return the chain rule: pairs of an operand and what is computed from it."""
    texts = []
    for of, to in terms:
        partial = rf"\frac{{\partial {_letter(to)}}}{{\partial {_letter(of)}}}"
        pair = [partial, _letter(of, mode)] if mode == "forward" else [_letter(to, mode), partial]
        texts.append(" ".join(pair))
    return " + ".join(texts)


def _below(node: Operand) -> tuple[Operand, ...]:
    """Return the operands that are rows of their own."""
    if isinstance(node, TensorSymbol) or node.is_Symbol or not node.free_symbols:
        return ()
    below = node.operands if isinstance(node, TensorExpr) else split_body(node)[1]
    return tuple([operand for operand in below if operand.free_symbols])


def _rows(derivation: Derivation) -> list[DerivationRow]:
    function = derivation.function
    nodes = postorder([function, *derivation.variables], _below)
    if len(nodes) > tuning.MAX_DERIVATION_ROWS:
        raise UnsupportedError(
            f"the table has {len(nodes)} rows; at most {tuning.MAX_DERIVATION_ROWS} are shown"
        )
    inputs = [node for node in nodes if not _below(node)]
    inner = [node for node in nodes if _below(node) and node is not function]
    names = {node: f"x_{k}" for k, node in enumerate(inputs)}
    names |= {node: f"v_{k}" for k, node in enumerate(inner)}
    names.setdefault(function, "y_0")
    symbols = {node: _placeholder(name, node) for node, name in names.items()}
    definitions = {node: _in_names(node, symbols) for node in nodes}
    partials = {
        node: {
            names[operand]: sweep(definitions[node], (symbols[operand],), "auto", None)[0][0]
            for operand in dict.fromkeys(_below(node))
        }
        for node in nodes
    }
    found, rules = _swept(derivation, nodes, names, partials, symbols, definitions)
    order = [*inputs, *inner, *([function] if _below(function) else [])]
    rows: list[DerivationRow] = []
    loops: dict[object, None] = {}
    letters = iter(LETTERS)
    for v in order:
        definition = definitions[v]
        if isinstance(v, Scan) and isinstance(definition, Scan) and v.group not in loops:
            loops[v.group] = None
            shown = [w for w in order if isinstance(w, Scan) and w.group == v.group]
            rows += _step_rows(shown, definition.loop, derivation, letters)
        own = v if v in inputs else definition
        rows.append(DerivationRow(names[v], v, own, partials[v], rules[v], found[v], names[v]))
    return rows


def _step_rows(
    results: Sequence[Scan], loop: Recurrence, derivation: Derivation, letters: Iterator[str]
) -> list[DerivationRow]:
    """Return rows for the step of a loop, of which some results are asked for: the next values of
    carries with their tangents, or the carries' cotangents, and values of the step."""
    is_forward = derivation.mode == "forward"
    seed = derivation.variables[0] if is_forward else derivation.function
    extra = shape_of(seed)
    values = list(dict.fromkeys([loop.values[w.place] for w in results if w.kind == VALUES]))
    own = [next(letters) for _ in loop.carries]
    before = [_placeholder(f"{x}_t", c.symbol) for x, c in zip(own, loop.carries, strict=True)]
    names = [*[f"{x}_t+1" for x in own], *[f"{next(letters)}_t" for _ in values]]
    known: dict[Basic, object] = {loop.index: Symbol("t", integer=True, nonnegative=True)}
    known |= {c.symbol: symbol for c, symbol in zip(loop.carries, before, strict=True)}
    for entry in loop.inputs:
        is_named = isinstance(entry.stacked, TensorSymbol)
        name = f"{entry.stacked.name}t" if is_named else f"{next(letters)}_t"
        known[entry.symbol] = _placeholder(name, entry.symbol)
    known |= loop.invariant_values
    outputs = substitute_all([*[c.new for c in loop.carries], *values], known)
    variables = [
        symbol
        for symbol in known.values()
        if isinstance(symbol, (TensorSymbol, Symbol)) and symbol is not known[loop.index]
    ]
    partials = [
        {
            str(symbol): sweep(output, (symbol,), "auto", None)[0][0]
            for symbol in variables
            if depending([output], [symbol])
        }
        for output in outputs
    ]

    def marked(name: str, like: Operand) -> Operand:
        """Return the symbol of a tangent or cotangent."""
        letter, _, rest = name.partition("_")
        mark = "dot" if is_forward else "bar"
        axes = (*shape_of(like), *extra) if is_forward else (*extra, *shape_of(like))
        name = f"{letter}{mark}_{rest}"
        return TensorSymbol(name, axes) if axes else Symbol(name, real=True)

    tangents = [marked(str(symbol), symbol) for symbol in variables]
    seeds = [marked(name, output) for name, output in zip(names, outputs, strict=True)]
    rows = []
    for k, (name, output) in enumerate(zip(names, outputs, strict=True)):
        if is_forward:
            of, pairs = name, [(variable, name) for variable in partials[k]]
            derivative = pushforward(output, variables, tangents, extra)
        elif k < len(before):
            of = str(before[k])
            pairs = [(of, names[j]) for j, found in enumerate(partials) if of in found]
            (derivative,) = pullback(outputs, [before[k]], seeds, extra)
        else:
            of, pairs, derivative = "", [], seeds[k]
        (derivative,), _ = tidy([derivative], None, outputs)
        rule = _rule(pairs, derivation.mode)
        rows.append(DerivationRow(name, output, output, partials[k], rule, derivative, of))
    return rows


def _swept(
    derivation: Derivation,
    nodes: Sequence[Operand],
    names: dict[Operand, str],
    partials: dict[Operand, dict[str, Operand]],
    symbols: dict[Operand, Operand],
    definitions: dict[Operand, Operand],
) -> tuple[dict[Operand, Operand], dict[Operand, str]]:
    """Compute the derivatives of all nodes by equations 1 and 2 of [LMG18], and how they follow."""
    function, variables, mode = derivation
    is_forward = mode == "forward"
    node_of = {symbol: node for node, symbol in symbols.items()}
    edges = [(of, to) for to in nodes for of in dict.fromkeys(_below(to))]
    found: dict[Operand, Operand] = {}
    rules: dict[Operand, str] = {}
    for node in nodes if is_forward else reversed(nodes):
        seed = variables[0] if is_forward else function
        pairs = [] if node is seed else [edge for edge in edges if edge[is_forward] is node]
        parts = [Delta(*shape_of(node)) if order_of(node) else S.One] if node is seed else []
        for of, to in pairs:
            if is_forward and isinstance(found[of], Zeros):
                continue
            partial = substitute(partials[to][names[of]], node_of)
            if isinstance(to, Scan):
                # The recurrence of tangents, or the adjoint one, without the loop's Jacobian.
                own, symbol = definitions[to], symbols[of]
                if is_forward:
                    part = pushforward(own, [symbol], [found[of]], shape_of(seed))
                else:
                    (part,) = pullback([own], [symbol], [found[to]], shape_of(seed))
                parts.append(substitute(part, node_of))
            elif is_forward:
                parts.append(tensordot(partial, found[of], order_of(of)))
            else:
                parts.append(tensordot(found[to], partial, order_of(to)))
        outer, inner = (node, seed) if is_forward else (seed, node)
        total = add(*parts) if parts else Zeros(*shape_of(outer), *shape_of(inner))
        (found[node],), _ = tidy([total], None, [function])
        rules[node] = _rule([(names[of], names[to]) for of, to in pairs], mode)
    return found, rules


def _placeholder(name: str, node: Operand) -> Operand:
    return TensorSymbol(name, shape_of(node)) if order_of(node) else Symbol(name, real=True)


def _in_names(node: Operand, symbols: dict[Operand, Operand]) -> Operand:
    """Return a node whose operands are replaced by symbols with their names."""
    if not _below(node):
        return symbols[node]
    if isinstance(node, TensorExpr):
        return rebuild(node, tuple([symbols.get(operand, operand) for operand in node.operands]))
    replaced: Expr = node.xreplace({operand: symbols[operand] for operand in _below(node)})
    return replaced
