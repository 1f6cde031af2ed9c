"""Draw expression graphs and tensor networks in Graphviz's DOT language.

Writing DOT needs no package; rendering it needs the package ``graphviz`` (imported on first use)
and the program ``dot``.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from sympy import Add, Basic, Expr, MatrixBase, Mul, NDimArray, Pow, Symbol, Tuple
from sympy.core.function import Function
from sympy.core.operations import LatticeOp
from sympy.printing.dot import styleof

from ..core import (
    LabelledGraph,
    NodeTable,
    TensorError,
    UnsupportedError,
    children,
    index_letter,
    postorder,
    tuning,
)
from ..expressions import (
    AxesFunction,
    Constant,
    Delta,
    Einsum,
    Elementwise,
    Fourier,
    LeviCivita,
    MatrixFunction,
    OneHot,
    Ones,
    Operand,
    Positions,
    Reshape,
    RunningFunction,
    Scan,
    Solution,
    StackFunction,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unknown,
    Zeros,
    as_operand,
    representative,
    slot,
    unite,
)
from .slices import Factors, Labels

KINDS = ("graph", "network")
Styles = Sequence[tuple[type, Mapping[str, str]]]
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

_BLUE, _GREY = "#dbe9f6", "#777777"
_FONT = 'fontname="Helvetica,Arial,sans-serif"'
_NODES = f'shape="box", style="rounded,filled", fillcolor="white", margin="0.1,0.05", {_FONT}'
_GRAPH_HEAD = (
    'graph [rankdir="TD", nodesep="0.3", ranksep="0.35"]',
    f'node [{_NODES}, height="0.35", width="0.35", fontsize="13"]',
    f'edge [dir="back", arrowsize="0.6", color="{_GREY}", fontcolor="{_GREY}", fontsize="10", '
    f'labeldistance="1.4", {_FONT}]',
)
_NETWORK_HEAD = (
    'layout="neato"',
    'graph [mode="KK", pack="12", overlap="false", overlap_shrink="false"]',
    f'graph [splines="true", labelloc="b", fontsize="12", {_FONT}]',
    f'node [{_NODES}, height="0.45", width="0.45", fontsize="14"]',
    f'edge [len="1.0", color="{_GREY}", fontsize="12", {_FONT}]',
)
_LEAF = {"fillcolor": _BLUE, "style": "filled"}
_STOCK = {"shape": "ellipse", "color": _GREY}
_ROOT = {"penwidth": "2"}
_MARK = {"shape": "plaintext", "style": "", "fontcolor": _GREY}
_END = {"shape": "plaintext", "style": "", "width": "0.2", "height": "0.2", "margin": "0"}
_POINT = {"shape": "point", "style": "", "fillcolor": "black", "width": "0.08", "height": "0.08"}


def to_dot(e: object, kind: str = "graph", styles: Styles = ()) -> str:
    r"""Write the picture of an expression in Graphviz's DOT language.

    Parameters
    ==========

    e : an expression, or lists, tuples, dicts or matrices of expressions, which are drawn as one
        graph; a network is the picture of one product. Or a ``LabelledGraph``, as programs in
        Lippmann's language give
    kind :
        ``"graph"``: the expression graph [L, §3.2]. Each node is drawn once, however often it is
        used; leaves are at the bottom, symbols with their shape; products show their index string,
        and where the order of operands matters the edges are numbered. Numbers are in the labels
        of their products, sums and powers. Arrows run from operands to results, which have
        a bold border.
        ``"network"``: the tensor network of a product. Operands are nodes, nested products inlined;
        an index is an edge between the two operands that have it, a loose edge where it is an axis
        of the result, and a dot where more than two ends meet. Letters are those of
        ``latex(e, notation="index")``: the axes of the result are i, j, …, then the summed
        indices; letters that name a length are skipped.
    styles : pairs of a class and DOT attributes for nodes of that class, as for
        ``sympy.printing.dot.dotprint``

    Raises
    ======

    TensorError : there is no such kind of picture
    UnsupportedError : a network of something that isn't a product

    References
    ==========

    [L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> for line in se.to_dot(A @ x).splitlines()[4:-2]:
    ...     print(line)
    0 [label="A\n2 × 3", tooltip="TensorSymbol (2, 3)", fillcolor="#dbe9f6", style="filled"];
    1 [label="x\n3", tooltip="TensorSymbol (3)", fillcolor="#dbe9f6", style="filled"];
    2 [label="ij,j→i", tooltip="Einsum (2)", penwidth="2"];
    2 -> 0 [taillabel="1"];
    2 -> 1 [taillabel="2"];
    >>> for line in se.to_dot(A @ x, kind="network").splitlines()[7:-1]:
    ...     print(line)
    0 [label="A", fillcolor="#dbe9f6"];
    1 [label="x", fillcolor="#dbe9f6"];
    axis0 [label="i", shape="plaintext", style="", width="0.2", height="0.2", margin="0"];
    0 -- axis0;
    0 -- 1 [label="j"];
    """
    if isinstance(e, LabelledGraph):
        return _labelled(e)
    if kind not in KINDS:
        raise TensorError(f"unknown kind {kind!r}; choose from {', '.join(KINDS)}")
    return _network(e, styles) if kind == "network" else _graph(e, styles)


def draw(e: object, kind: str = "graph", styles: Styles = ()) -> Any:
    """Draw an expression, for notebooks to display; parameters are those of :func:`to_dot`.

    Returns a ``graphviz.Source``: ``draw(e).render("name", format="pdf")`` writes a file.

    Raises
    ======

    UnsupportedError : the package ``graphviz`` or the program ``dot`` isn't installed
    TensorError : as for :func:`to_dot`

    Examples
    ========

    >>> import sympy_einsum as se
    >>> import shutil
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> if shutil.which("dot"):
    ...     picture = se.draw(A @ x, kind="network")
    ...     assert picture.source.rstrip() == se.to_dot(A @ x, kind="network")
    """
    text = to_dot(e, kind, styles)
    try:
        graphviz = import_module("graphviz")
    except ImportError:
        raise UnsupportedError(
            "draw needs the Python package graphviz: pip install 'sympy_einsum[draw]'; "
            "to_dot gives the text without it"
        ) from None
    if shutil.which("dot") is None:
        raise UnsupportedError(
            "draw needs Graphviz's program dot, which isn't on the path; install the system "
            "package graphviz (apt, brew, conda, or graphviz.org); to_dot gives the text without it"
        )
    return graphviz.Source(text)


# --- DOT text ------------------------------------------------------------------------------------


def _shown(text: str, limit: int = tuning.MAX_DRAWN_LINE) -> str:
    """Sanitize text to one short line; unprintable characters, such as newlines or bidirectional
    marks, become their code points."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _quoted(text: str) -> str:
    """Quote a string so that Graphviz shows it literally: escape quotes, backslashes, entities."""
    for char, escape in (("\\", r"\\"), ('"', r"\""), ("\n", r"\n"), ("&", "&amp;")):
        text = text.replace(char, escape)
    return f'"{text}"'


def _statement(subject: str, attributes: Mapping[str, str]) -> str:
    inside = ", ".join(f"{name}={_quoted(text)}" for name, text in attributes.items())
    return f"{subject} [{inside}];" if inside else f"{subject};"


def _dot(kind: str, head: Sequence[str], statements: Iterable[str]) -> str:
    return "\n".join([f"{kind} {{", *[f"{line};" for line in head], *statements, "}"])


# --- the expression graph ------------------------------------------------------------------------


def _graph(e: object, styles: Styles) -> str:
    roots = list(_named_roots(e, ""))
    order = postorder([root for _, root in roots], _drawn)
    number = {node: k for k, node in enumerate(order)}
    found = {root for _, root in roots}
    statements = []
    for node, k in number.items():
        below = _drawn(node)
        attributes = {"label": _node_label(node), "tooltip": _node_tooltip(node)}
        if not below:
            attributes |= _LEAF
        elif not isinstance(node, TensorExpr):
            attributes |= _STOCK
        if node in found:
            attributes |= _ROOT
        statements.append(_statement(f"{k}", {**attributes, **styleof(node, styles)}))
        numbered = len(below) > 1 and _order_matters(node)
        for place, child in enumerate(below, start=1):
            attributes = {"taillabel": f"{place}"} if numbered else {}
            statements.append(_statement(f"{k} -> {number[child]}", attributes))
    leaves = [f"{k}" for node, k in number.items() if not _drawn(node)]
    statements.append(f"{{rank=sink; {'; '.join(leaves)}}}")
    for k, (name, root) in enumerate(roots):
        if name:
            statements.append(_statement(f"root{k}", {"label": name, **_MARK}))
            statements.append(_statement(f"root{k} -> {number[root]}", {}))
    return _dot("digraph", _GRAPH_HEAD, statements)


def _labelled(graph: LabelledGraph) -> str:
    statements = []
    for k, (label, below) in enumerate(zip(graph.labels, graph.below, strict=True)):
        style = (_ROOT if k == len(graph.labels) - 1 else {}) | ({} if below else _LEAF)
        statements.append(_statement(f"{k}", {"label": _shown(label), **style}))
        for place, child in enumerate(below, start=1):
            attributes = {"taillabel": f"{place}"} if label.startswith("*") else {}
            statements.append(_statement(f"{k} -> {child}", attributes))
    return _dot("digraph", _GRAPH_HEAD, statements)


def _named_roots(e: object, name: str) -> Iterator[tuple[str, Operand]]:
    """Yield the expressions in nested containers with their paths."""
    if isinstance(e, (MatrixBase, NDimArray)):
        e = e.tolist()
    if isinstance(e, Mapping):
        for key, part in e.items():
            yield from _named_roots(part, name + _shown(str(key)))
    elif isinstance(e, (list, tuple, Tuple)):
        for k, part in enumerate(e):
            yield from _named_roots(part, f"{name}[{k}]")
    else:
        yield name, as_operand(e)


def _drawn(node: Basic) -> tuple[Basic, ...]:
    """Return the children drawn as nodes of their own; most numbers are in the label."""
    below = children(node)
    if isinstance(node, (Einsum, Add, Mul, Pow)):
        return tuple([child for child in below if not child.is_Number])
    return below


def _order_matters(node: Basic) -> bool:
    if isinstance(node, Einsum):
        return len({term for _, term in _factors(node)}) > 1
    return not isinstance(node, (TensorAdd, Add, Mul, LatticeOp))


def _factors(node: Einsum) -> list[tuple[Operand, Labels]]:
    """Return the non-numeric operands of a product with their indices."""
    pairs = zip(node.operands, node.subscripts, strict=True)
    return [(operand, term) for operand, term in pairs if not operand.is_Number]


def _node_tooltip(node: Basic) -> str:
    shape = ", ".join(map(str, node.shape)) if isinstance(node, TensorExpr) else ""
    return _shown(f"{type(node).__name__} ({shape})" if shape else type(node).__name__)


def _node_label(node: Basic) -> str:
    lines = [_shown(line) for line in LINES[type(node)](node)]
    if isinstance(node, TensorExpr) and node.order and not _drawn(node):
        lines.append(_shown(" × ".join(map(str, node.shape))))
    return "\n".join(lines)


def _product_lines(node: Einsum) -> list[str]:
    letters = [index_letter(k) for k in range(len(node.lengths))]
    terms = ["".join([letters[k] for k in term]) for _, term in _factors(node)]
    output = "".join([letters[k] for k in node.output])
    numbers = [f"× {operand}" for operand in node.operands if operand.is_Number]
    if numbers and terms == [output]:
        return numbers
    return [f"{','.join(terms)}→{output}", *numbers]


def _function_text(body: Expr, slots: Sequence[Expr]) -> str:
    """Return a function's name, or its formula with boxes for the operands."""
    if isinstance(body, Function) and list(body.args) == list(slots):
        return type(body).__name__
    places = [
        f"{k}".translate(_LOWERED) if len(slots) > 1 else "" for k in range(1, len(slots) + 1)
    ]
    boxes = {s: Symbol(f"□{place}", real=True) for s, place in zip(slots, places, strict=True)}
    return str(body.xreplace(boxes)).replace("**", "^")


def _scalar_lines(body: Expr, operands: Sequence[Expr]) -> list[str]:
    """Label a power of scalars, whose numbers aren't drawn."""
    if not operands:
        return [str(body)]
    slots = [slot(k) for k in range(len(operands))]
    places = iter(slots)
    arguments = [arg if arg.is_Number else next(places) for arg in body.args]
    return [_function_text(Pow(*arguments), slots)]


def _sum_lines(node: TensorAdd | Add | Mul) -> list[str]:
    drawn = _drawn(node)
    numbers = [f" {child}" for child in children(node) if child not in drawn]
    return [("×" if isinstance(node, Mul) else "+") + "".join(numbers)]


def _name_lines(node: Basic) -> list[str]:
    """Label a node by its function's name, a number or constant by its value."""
    if not _drawn(node):
        return [str(node)]
    if isinstance(node, StackFunction):
        return [" ".join(filter(None, [node.formula or node.function, node.letter]))]
    return [type(node).__name__.lower() if isinstance(node, TensorExpr) else type(node).__name__]


LINES: NodeTable[Callable[..., list[str]]] = NodeTable(
    "the drawing",
    {
        TensorSymbol: lambda node: [node.name],
        Delta: lambda node: ["δ"],
        Ones: lambda node: ["1"],
        Zeros: lambda node: ["0"],
        Einsum: _product_lines,
        Elementwise: lambda node: [
            _function_text(node.body, [slot(k) for k in range(len(node.operands))])
        ],
        AxesFunction: lambda node: [node.name, f"axis {', '.join(map(str, node.axes))}"],
        RunningFunction: lambda node: [node.called.replace("_", " ")],
        Scan: lambda node: ["scan", f"{node.kind} {node.place}"],
        Solution: lambda node: ["solution", "F = 0"],
        LeviCivita: lambda node: ["ε"],
        Unevaluated: lambda node: [node.kind, ", ".join(node.names)],
        Unknown: lambda node: [node.name + "'" * node.degree],
        OneHot: lambda node: ["one_hot", str(node.length)],
        Reshape: lambda node: ["reshape", " × ".join(map(str, node.shape))],
        TensorAdd: _sum_lines,
        **dict.fromkeys([Constant, Positions, Triangle, Fourier, MatrixFunction], _name_lines),
        # SymPy's scalars.
        Symbol: lambda node: [node.name],
        Add: _sum_lines,
        Mul: _sum_lines,
        Pow: lambda node: _scalar_lines(node, _drawn(node)),
        Basic: _name_lines,
    },
)


# --- the tensor network --------------------------------------------------------------------------


def _network(e: object, styles: Styles) -> str:
    e = as_operand(e)
    operands, terms, output, lengths = _inlined(e)
    symbols = {s for length in lengths.values() for s in length.free_symbols} | e.free_symbols
    # Skip letters that also name a length or a tensor.
    taken = {str(symbol) for symbol in symbols}
    letters = (letter for letter in map(index_letter, itertools.count()) if letter not in taken)
    # In the order of formulas: the axes of the result first.
    name: dict[int, str] = {}
    for label in (*output, *[label for label in lengths if label not in output]):
        letter = next(letters)
        name.setdefault(label, letter)
    statements = []
    ends: dict[int, list[str]] = {label: [] for label in lengths}
    for k, (operand, term) in enumerate(zip(operands, terms, strict=True)):
        attributes = {"label": _operand_label(operand)}
        if term:
            attributes["fillcolor"] = _BLUE
        statements.append(_statement(f"{k}", {**attributes, **styleof(operand, styles)}))
        for label in term:
            ends[label].append(f"{k}")
    for axis, label in enumerate(output):
        statements.append(_statement(f"axis{axis}", {"label": name[label], **_END}))
        ends[label].append(f"axis{axis}")
    for label, nodes in ends.items():
        # The letter is at a loose end, else at the dot or the edge.
        text = {} if label in output else {"label": name[label]}
        if len(nodes) == 2:
            statements.append(_statement(" -- ".join(nodes), text))
            continue
        point = f"index{len(statements)}"
        statements.append(
            _statement(point, {"label": "", "xlabel": text.get("label", ""), **_POINT})
        )
        statements.extend(_statement(f"{node} -- {point}", {"len": "0.8"}) for node in nodes)
    index_string = f"{','.join(_word(term, name) for term in terms)}→{_word(output, name)}"
    legend = [_shown(index_string, 2 * tuning.MAX_DRAWN_LINE)]
    by_length: dict[Expr, list[str]] = {}
    for label, length in lengths.items():
        by_length.setdefault(length, []).append(name[label])
    sizes = [_shown(f"{', '.join(names)}: {length}") for length, names in by_length.items()]
    legend += ["    ".join(sizes[k : k + 4]) for k in range(0, len(sizes), 4)]
    return _dot("graph", (*_NETWORK_HEAD, f"label={_quoted(chr(10).join(legend))}"), statements)


def _word(term: Iterable[int], name: Mapping[int, str]) -> str:
    return "".join([name[label] for label in term])


def _operand_label(operand: Operand) -> str:
    if isinstance(operand, (TensorSymbol, Symbol)):
        return _shown(operand.name)
    if isinstance(operand, TensorExpr) and operand._depth > tuning.MAX_DRAWN_DEPTH:
        return _shown(f"{LINES[type(operand)](operand)[0]} (…)")
    return _shown(str(operand))


def _inlined(e: Operand) -> Factors:
    """Inline nested products into a product [W, thm 6.5].

    An index is an integer; two that a diagonal makes equal are merged.
    """
    if not isinstance(e, (Einsum, Mul)) and children(e):
        raise UnsupportedError(
            f"a network is the picture of one product, not of {type(e).__name__}: give the "
            "product, or draw the expression graph with kind='graph'"
        )
    fresh = itertools.count()
    lengths = {next(fresh): length for length in getattr(e, "shape", ())}
    merged: dict[int, int] = {}
    output = tuple(lengths)
    operands: list[Operand] = []
    terms: list[Sequence[int]] = []
    stack: list[tuple[Operand, Sequence[int]]] = [(e, output)]
    while stack:
        operand, term = stack.pop()
        if len(operands) + len(stack) > tuning.MAX_DRAWN_OPERANDS or not isinstance(
            operand, (Einsum, Mul)
        ):
            operands.append(operand)
            terms.append(term)
        elif isinstance(operand, Mul):
            stack.extend((factor, ()) for factor in reversed(operand.args))
        else:
            outer: dict[int, int] = {}
            for index, label in zip(operand.output, term, strict=True):
                known = outer.setdefault(index, label)
                unite(merged, known, label)
            for index, length in enumerate(operand.lengths):
                if index not in outer:
                    outer[index] = next(fresh)
                    lengths[outer[index]] = length
            below = zip(operand.operands, operand.subscripts, strict=True)
            stack.extend((o, [outer[k] for k in t]) for o, t in reversed(list(below)))
    kept = [tuple([representative(merged, label) for label in term]) for term in [*terms, output]]
    used = dict.fromkeys(label for term in [kept[-1], *kept] for label in term)
    return Factors(operands, kept[:-1], kept[-1], {label: lengths[label] for label in used})
