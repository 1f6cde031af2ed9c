"""Parse einsum expressions [W, section 3]: ``#(ij,jk,k->i; A, B, v)``, nested and added.

An index symbol is a character other than ``,;->→(){}+⊕#`` and space, or several in braces.
Arguments are variables, numbers, ``Delta(m, n)``, ``Ones(n)``, products, and sums of these.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core import ParseError, TensorError, postorder, transform, tuning
from ..expressions import Delta, Ones, Operand
from ..operations import Written, WrittenProduct, WrittenSum
from .lengths import Length, symbols_of
from .lippmann.inference import Inference, read_length
from .lippmann.program import Declarations, declare_given
from .nodes import Deadline, Location, SyntaxNode, check_text, children_of
from .numbers import read_number

_TOKEN = re.compile(
    r"(?P<product>#\s*\()"
    r"|(?P<number>-?(\d+/0*[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?))"
    r"|(?P<constant>(Delta|Ones)\s*\(([^()]*)\))"
    r"|(?P<variable>[^\W\d]\w*)"
    r"|(?P<mark>[+⊕,)])"
)
_SYMBOL = re.compile(r"\{([^{}]+)\}|([^\s,;>→(){}+⊕#-])")
_OPERAND = "a variable, a number, Delta(n), Ones(n) or a product #(ij,j->i; A, x)"


def read_einsum(text: str, declarations: Declarations = None) -> Written:
    """Parse an einsum expression, keeping the nesting of its products.

    Parameters
    ==========

    text : such as ``"#(ij,jk,k->i; A, B, v)"``, with ``→`` or ``->``, and ``+`` or ``⊕`` between
        terms. Index symbols are single characters, or several in braces: ``#({row}k->k; A)``
    declarations : as for ``parse(text, syntax="lippmann")``: the variables' orders, shapes or
        symbols. Undeclared variables have the order of their index strings; axis lengths are
        inferred, and those that stay free become symbols ``n, m, k, …``

    Returns
    =======

    The parsed tree; ``str`` returns its text, ``expr`` the expression.

    Raises
    ======

    ParseError : the text isn't in the language, or its shapes don't match; names the position

    Examples
    ========

    >>> import sympy_einsum as se
    >>> e = se.read_einsum("#(ik,kj→ij; A, #(i→ii; v))")
    >>> e
    #(ik,kj->ij; A, #(i->ii; v))
    >>> se.denest(e), e.expr
    (#(ik,k->ik; A, v), A @ diag(v))
    """
    return _read(text, declarations)[0]


def _read(text: str, declarations: Declarations) -> tuple[Written, dict[str, Operand]]:
    if not isinstance(text, str):
        raise ParseError(f"text is needed, not {type(text).__name__}")
    check_text(text, "the text has")
    root = _EinsumParser(text).tree()
    known = Inference(text, Deadline())
    given = declare_given(known, declarations)
    inference = _Inference(known)
    inference.infer(root)
    return inference.built(root, given)


@dataclass
class _Frame:
    """Hold the parser's state for a product or the whole text: index strings, start, arguments so
    far, and the terms of the next one."""

    format: str = ""
    start: int = 0
    arguments: list[SyntaxNode] = field(default_factory=list)
    terms: list[SyntaxNode] = field(default_factory=list)

    def finish_argument(self) -> None:
        """Add the terms up to one argument."""
        if len(self.terms) > 1:
            first, last = self.terms[0], self.terms[-1]
            node = SyntaxNode("sum", "+", tuple(self.terms), first.position, first.start, last.end)
            self.terms = [node]
        self.arguments += self.terms
        self.terms = []


class _EinsumParser:
    """Parse a text to a tree without recursion."""

    def __init__(self, text: str):
        self.text = text
        self.position = 0
        self.frames = [_Frame()]

    def tree(self) -> SyntaxNode:
        """Parse the whole text."""
        expects_operand, is_opened = True, False
        while self._skip_space():
            found = _TOKEN.match(self.text, self.position)
            if found is None:
                raise self._error(f"unexpected character {self.text[self.position]!r}")
            kind, start = str(found.lastgroup), found.start()
            if (kind == "mark") == expects_operand and not (is_opened and found[0] == ")"):
                what = _OPERAND if expects_operand else "'+', ',' or ')'"
                raise self._error(f"expected {what}, but found {found[0]!r}")
            self.position, is_opened = found.end(), kind == "product"
            if is_opened:
                self._open(start)
            elif kind != "mark":
                node = SyntaxNode(kind, found[0], (), start, start, found.end())
                self.frames[-1].terms.append(node)
                expects_operand = False
            else:
                expects_operand = found[0] != ")"
                self._mark(found[0], start)
        if len(self.frames) > 1:
            raise ParseError("this '#(' is never closed", self.text, self.frames[-1].start)
        if expects_operand:
            raise self._error(f"expected {_OPERAND}, but the text ends")
        self.frames[0].finish_argument()
        return self.frames[0].arguments[0]

    def _skip_space(self) -> bool:
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1
        return self.position < len(self.text)

    def _error(self, message: str) -> ParseError:
        return ParseError(message, self.text, self.position)

    def _open(self, start: int) -> None:
        if len(self.frames) > tuning.MAX_NESTING:
            raise self._error(f"products are nested more than {tuning.MAX_NESTING} deep")
        end = self.text.find(";", self.position)
        if end < 0:
            raise self._error("expected index strings, ';' and arguments, as in #(ij,j->i; A, x)")
        self.frames.append(_Frame(self.text[self.position : end], start))
        self.position = end + 1

    def _mark(self, mark: str, start: int) -> None:
        frame = self.frames[-1]
        if mark in "+⊕":
            return
        if len(self.frames) == 1:
            raise ParseError(f"this {mark!r} has no '#(' before it", self.text, start)
        frame.finish_argument()
        if mark == ")":
            self.frames.pop()
            children = tuple(frame.arguments)
            node = SyntaxNode(
                "product", frame.format, children, frame.start, frame.start, start + 1
            )
            self.frames[-1].terms.append(node)


def _read_format(place: Location) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the index strings of a product, that of the result last."""
    left, *right = re.split("->|→", place.node.name)
    if len(right) != 1:
        raise place.error("index strings have one arrow, as in ij,j->i")
    terms = []
    for text in (*left.split(","), right[0]):
        if _SYMBOL.sub("", text).strip():
            raise place.error(f"{text.strip()[:80]!r} is no index string: a symbol for each axis")
        terms.append(tuple([one or several for several, one in _SYMBOL.findall(text)]))
    inputs, output = terms[:-1], terms[-1]
    count = len(place.node.children)
    if inputs == [()] and not count:
        return [], output
    if len(inputs) != count:
        raise place.error(f"there are {len(inputs)} index strings for {count} arguments")
    missing = [i for i in output if not any(i in term for term in inputs)]
    if missing:
        raise place.error(f"the output index {missing[0]!r} is in no index string of an argument")
    return inputs, output


class _Inference:
    """Infer the axes in a tree: orders from the enclosing index strings, lengths by unification."""

    def __init__(self, known: Inference):
        self.known = known
        self.formats: dict[SyntaxNode, tuple[list[tuple[str, ...]], tuple[str, ...]]] = {}
        self.orders: dict[SyntaxNode, int] = {}
        self.axes: dict[SyntaxNode, tuple[Length, ...]] = {}

    def infer(self, root: SyntaxNode) -> None:
        """Infer orders and lengths."""
        nodes = postorder([root], children_of)
        for node in nodes:
            if node.kind == "product":
                self.formats[node] = _read_format(self._place(node))
        self.orders[root] = self._outermost(root)
        for node in reversed(nodes):
            inputs = self.formats[node][0] if node.kind == "product" else ()
            for k, child in enumerate(node.children):
                self.orders[child] = len(inputs[k]) if inputs else self.orders[node]
        transform([root], self._infer_node, children_of)

    def _place(self, node: SyntaxNode) -> Location:
        return Location(self.known.text, node)

    def _outermost(self, root: SyntaxNode) -> int:
        """Return the order of the whole text, if one of its terms determines it."""
        for term in root.children if root.kind == "sum" else (root,):
            if term.kind == "product":
                return len(self.formats[term][1])
            if term.kind == "variable" and term.name in self.known.variables:
                return len(self.known.variables[term.name].known or ())
        return 0

    def _infer_node(
        self, node: SyntaxNode, below: tuple[tuple[Length, ...], ...]
    ) -> tuple[Length, ...]:
        place = self._place(node)
        self.known.deadline.check(place.error)
        axes = self.axes[node] = self._axes(place, below)
        if len(axes) != self.orders[node]:
            quoted = self.known.text[node.start : node.end][:80]
            raise place.error(
                f"{quoted} has order {len(axes)}, but order {self.orders[node]} is needed here"
            )
        return axes

    def _axes(self, place: Location, below: tuple[tuple[Length, ...], ...]) -> tuple[Length, ...]:
        node = place.node
        if node.kind == "variable":
            if node.name not in self.known.variables:
                if self.orders[node] > tuning.MAX_READ_ORDER:
                    raise place.error(f"a tensor has an order up to {tuning.MAX_READ_ORDER}")
                self.known.declare(node.name, self.orders[node])
            return self.known.variables[node.name].known or ()
        if node.kind == "constant":
            lengths = tuple([self.known.fresh(n) for n in _lengths(place)])
            return lengths * 2 if node.name.startswith("Delta") else lengths
        if node.kind == "sum":
            for term in below[1:]:
                self._merge(place, "terms of a sum have one shape", below[0], term)
            return below[0]
        if node.kind == "product":
            return self._axes_of_product(place, below)
        return ()

    def _axes_of_product(
        self, place: Location, below: tuple[tuple[Length, ...], ...]
    ) -> tuple[Length, ...]:
        inputs, output = self.formats[place.node]
        found: dict[str, Length] = {}
        for axes, term in zip(below, inputs, strict=True):
            for i, length in zip(term, axes, strict=True):
                self._merge(
                    place, f"index {i} is one axis", (found.setdefault(i, length),), (length,)
                )
        return tuple([found[i] for i in output])

    def _merge(
        self, place: Location, need: str, one: Sequence[Length], other: Sequence[Length]
    ) -> None:
        for a, b in zip(one, other, strict=True):
            if not a.merge(b):
                raise place.error(f"{need}, but the lengths are {a} and {b}")

    def built(
        self, root: SyntaxNode, given: dict[str, Operand]
    ) -> tuple[Written, dict[str, Operand]]:
        """Build the unevaluated form of a tree; return it with its variables."""
        symbols = symbols_of(self.known.known_axes(), self.known.lengths, given)

        def visit(node: SyntaxNode, below: tuple[Written | Operand, ...]) -> Written | Operand:
            if node.kind == "variable":
                return symbols[node.name]
            if node.kind == "sum":
                return WrittenSum(below)
            if node.kind == "product":
                return WrittenProduct(*self.formats[node], below)
            if node.kind == "constant":
                make = Delta if node.name.startswith("Delta") else Ones
                return make(*_lengths(self._place(node)))
            numerator, _, divisor = node.name.removeprefix("-").partition("/")
            try:
                value = read_number(numerator) / read_number(divisor or "1")
            except TensorError as error:
                raise self._place(node).error(str(error)) from None
            return -value if node.name.startswith("-") else value

        (found,) = transform([root], visit, children_of)
        whole = found if isinstance(found, Written) else WrittenSum((found,))
        return whole, symbols


def _lengths(place: Location) -> list[Operand]:
    """Return the lengths in the brackets of a constant."""
    inside = place.node.name.partition("(")[2][:-1]
    try:
        return [read_length(text.strip()) for text in inside.split(",")]
    except (ParseError, IndexError):
        raise place.error(
            f"lengths are names or positive numbers with commas between, not {inside[:80]!r}"
        ) from None


def einsum_expression(text: str, declarations: Declarations) -> tuple[Operand, dict[str, Operand]]:
    """Return the expression of a text, and its variables."""
    found, symbols = _read(text, declarations)
    try:
        return found.expr, symbols
    except TensorError as error:
        raise ParseError(str(error)) from error
