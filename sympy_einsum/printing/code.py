"""``str`` and ``srepr``: texts that evaluate back to the same object.

May import: all node types, slices. Texts are built bottom-up over the graph, each node once.
``str`` writes ``A @ x``, ``A.T``, ``A.sum(axis=0)`` where that rebuilds the very same object, which
is found out by building it, and ``einsum(...)`` where it doesn't. An expression whose text would
be longer than anyone reads is told by its size instead; ``srepr`` then lists the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
from sympy import S
from sympy.core.function import AppliedUndef
from sympy.printing.str import StrPrinter

from ..einsum import Delta, Einsum, Ones, TensorAdd, View, contract
from ..elementwise import Elementwise, slot
from ..indices import index_letter
from ..linalg import MatrixFunction
from ..nodes import TensorExpr, flatten
from ..reshape import Reshape
from ..scalar_functions import FUNCTIONS
from ..softmax import AxesFunction
from ..tensors import Constant, Selection, TensorSymbol, Unit, Zeros
from ..traversal import children, postorder
from .slices import entry, merged, sliced

# Longer texts are replaced by a summary.
MAX_LENGTH = 20_000

# A chain is a product by @ that a factor on the left may join: 2*A @ x is 2*(A @ x).
SUM, PRODUCT, CHAIN, POWER, ATOM = range(5)
Text = tuple[str, int]


def _bracket(text: Text, level: int) -> str:
    return text[0] if text[1] >= level else f"({text[0]})"


class CodeForm:
    """How the parts of a text are spelled by ``str``."""

    operators = True

    def __init__(self, printer: Any):
        self.printer = printer
        self.exact = _ExactPrinter(printer._settings)
        self.exact._tensor_texts = printer.__dict__.setdefault("_tensor_texts", {})

    def stock(self, expr: Any) -> Text:
        """A SymPy scalar."""
        level = ATOM
        if expr.is_Add:
            level = SUM
        elif expr.is_Mul or expr.is_Rational or expr.is_Float or expr.is_Pow:
            level = PRODUCT if not (expr.is_Number and expr < 0) else SUM
            if expr.is_Integer and expr >= 0:
                level = ATOM
        return self.exact.doprint(expr), level

    def lengths(self, shape: Any) -> str:
        """Axis lengths, separated by commas."""
        return ", ".join(self.printer._print(length) for length in shape)

    def symbol(self, node: TensorSymbol) -> str:
        """A tensor symbol."""
        return node.name

    def call(self, name: str, *arguments: str) -> Text:
        """A function call."""
        return f"{name}({', '.join(arguments)})", ATOM

    def scaled(self, number: Any, factors: list[str]) -> str:
        """A product with a numeric coefficient; a fraction's denominator comes last."""
        sign = "-" if number.is_negative else ""
        number = abs(number)
        divisor = number.q if number.is_Rational else 1
        number *= divisor
        parts = factors if number is S.One else [self.printer._print(number), *factors]
        return sign + "*".join(parts) + (f"/{divisor}" if divisor != 1 else "")

    def elementwise(self, body: Any, operands: list[Text]) -> Text:
        """A scalar function on tensors."""
        slots = [slot(k) for k in range(len(operands))]
        name = type(body).__name__
        if name in FUNCTIONS and list(body.args) == slots:
            return self.call(name, *[text for text, _ in operands])
        if body.is_Pow and body.base == slots[0] and body.exp.is_Integer:
            if body.exp == -1 and self.operators:
                return f"1/{_bracket(operands[0], POWER)}", PRODUCT
            base = _bracket(operands[0], ATOM)
            exponent = f"{body.exp}" if body.exp > 0 else f"({body.exp})"
            return f"{base}**{exponent}", POWER
        text = _BodyPrinter().doprint(body)
        arguments = ", ".join(s.name for s in slots)
        return self.call("elementwise", f"lambda {arguments}: {text}", *[t for t, _ in operands])


class ReprForm(CodeForm):
    """srepr: symbols are spelled out with their shapes and assumptions, products as einsums."""

    operators = False

    def stock(self, expr: Any) -> Text:
        return self.printer._print(expr), ATOM

    def scaled(self, number: Any, factors: list[str]) -> str:
        return "*".join([self.printer._print(number), *factors])

    def symbol(self, node: TensorSymbol) -> str:
        name, shape, assumptions = node.data
        lengths = self.lengths(shape) + ("," if len(shape) == 1 else "")
        flags = "".join(f", {assumption}=True" for assumption in assumptions)
        return f"TensorSymbol({name!r}, ({lengths}){flags})"


class _ExactPrinter(StrPrinter):
    """SymPy scalars as Python expressions with exact fractions: Python would divide integers."""

    def _print_Rational(self, expr: Any) -> str:
        return f"S({expr.p})/{expr.q}"


class _BodyPrinter(_ExactPrinter):
    """Bodies as Python expressions; a function nobody defined can't be named in code."""

    def _print_Slot(self, expr: Any) -> str:
        return expr.name

    def _print_Function(self, expr: Any) -> str:
        name = type(expr).__name__
        if isinstance(expr, AppliedUndef):
            name = f"Function({name!r})"
        return f"{name}({self.stringify(expr.args, ', ')})"


# --- one node ------------------------------------------------------------------------------------


def _node_text(node: Any, below: dict[Any, Text], form: CodeForm) -> Text:
    """The text of a node from the texts of its operands."""
    if isinstance(node, TensorSymbol):
        return form.symbol(node), ATOM
    if isinstance(node, (Zeros, Ones, Delta)):
        shape = node.shape[: node.order // 2] if isinstance(node, Delta) else node.shape
        return form.call(type(node).__name__, form.lengths(shape))
    if isinstance(node, Constant):
        return form.call("Constant", repr(node.array.tolist()))
    if isinstance(node, (Unit, Selection)):
        identity = form.call("Delta", form.lengths(node.data[:1]))[0]
        return f"{identity}[{_entry_text(entry(node), form)}]", ATOM
    if isinstance(node, View):
        return _view_text(node, below, form)
    if isinstance(node, Einsum):
        lengths = dict(enumerate(node.lengths))
        return _einsum_text(node.operands, node.subscripts, node.output, lengths, below, form)
    if isinstance(node, TensorAdd):
        return _sum_text(node, below, form)
    if isinstance(node, Elementwise):
        return form.elementwise(node.body, [below[operand] for operand in node.operands])
    if isinstance(node, MatrixFunction):
        static = map(str, node.data)
        return form.call(type(node).__name__.lower(), below[node.operands[0]][0], *static)
    if isinstance(node, AxesFunction):
        operand = below[node.operands[0]][0]
        order = node.operands[0].order
        axis: Any = node.axes[0] if len(node.axes) == 1 else node.axes
        axis = None if len(node.axes) == order else axis
        arguments = [operand] if order == 1 else [operand, f"axis={axis}"]
        return form.call(type(node).__name__.lower(), *arguments)
    if isinstance(node, Reshape):
        operand = _bracket(below[node.operands[0]], ATOM)
        return f"{operand}.reshape({form.lengths(node.shape)})", ATOM
    raise TypeError(f"no printed form for {type(node).__name__}")


def _entry_text(part: Any, form: CodeForm) -> str:
    if part is None:
        return ":"
    if not isinstance(part, tuple):
        return form.lengths([part])
    start, stop, step = part
    end = "" if stop is None else form.lengths([stop])
    return f"{form.lengths([start])}:{end}" + (f":{step}" if step != 1 else "")


def _sum_text(node: TensorAdd, below: dict[Any, Text], form: CodeForm) -> Text:
    texts = [_term_text(operand, below, form) for operand in node.operands]
    if form.operators:
        # Minus signs last, plain symbols after products.
        texts.sort(key=lambda text: (text[0][:1] == "-", text[1] == ATOM, text[0].isdigit()))
    result = ""
    for text in texts:
        term = text[0] if text[0][:1] == "-" else _bracket(text, PRODUCT)
        result += term if not result else f" - {term[1:]}" if term[:1] == "-" else f" + {term}"
    return result, SUM


def _term_text(operand: Any, below: dict[Any, Text], form: CodeForm) -> Text:
    """A term; an integer stands for a tensor filled with it."""
    if form.operators and isinstance(operand, View) and operand.is_constant_fill:
        number = operand.coefficient
        if number.is_Integer and len(operand.operands) == (number is not S.One):
            return str(number), ATOM
    return below[operand]


def _view_text(node: View, below: dict[Any, Text], form: CodeForm) -> Text:
    core = node.core
    if core is not None and node.output == node.subscripts[-1] and _distinct(node.output):
        body = below[core]
    elif node.is_constant_fill:
        body = form.call("Ones", form.lengths(node.shape))
    elif core is None and node.output == tuple(range(node.order // 2)) * 2:
        body = form.call("Delta", form.lengths(node.shape[: node.order // 2]))
    else:
        body = _rearranged_text(node, below, form)
    if not node.scalars:
        return body
    number = node.coefficient
    others = node.scalars[1:] if node.scalars[0].is_Number else node.scalars
    # SymPy multiplies a number into a sum at once, so sums stand behind the tensor.
    sums = [s for s in others if s.is_Add or (s.is_Mul and any(arg.is_Add for arg in s.args))]
    before = [
        _bracket(below[scalar], POWER if isinstance(scalar, TensorExpr) else PRODUCT)
        for scalar in others
        if scalar not in sums
    ]
    after = [_bracket(below[scalar], PRODUCT) for scalar in sums]
    shown = _bracket(body, POWER if after else CHAIN)
    return form.scaled(number, [*before, shown, *after]), PRODUCT


def _distinct(labels: Sequence[Any]) -> bool:
    return len(set(labels)) == len(labels)


def _rearranged_text(node: View, below: dict[Any, Text], form: CodeForm) -> Text:
    """A view but for its scalar factors; a rearranged product is one product."""
    core = node.core
    count = len(node.scalars)
    operands: Sequence[Any] = node.operands[count:]
    terms: Sequence[Any] = node.subscripts[count:]
    lengths = dict(enumerate(node.lengths))
    if form.operators and core is not None and core.order == 1 and node.output == (0, 0):
        return f"diag({below[core][0]})", ATOM
    if type(core) is Einsum and _distinct(node.subscripts[-1]):
        operands, terms, lengths = merged(core, node.subscripts[-1], node.lengths)
    return _einsum_text(operands, terms, node.output, lengths, below, form)


def _einsum_text(
    operands: Any, terms: Any, output: Any, lengths: Any, below: dict[Any, Text], form: CodeForm
) -> Text:
    indexed = sliced(operands, terms, output)
    if indexed is not None:
        inside = ", ".join(_entry_text(part, form) for part in indexed[1])
        return f"{_bracket(below[indexed[0]], ATOM)}[{inside}]", ATOM
    if form.operators:
        short = _Short(operands, terms, tuple(output), lengths, below).text()
        if short is not None:
            return short
    elif output == (1, 0) and len(operands) == 1 and tuple(terms[0]) == (0, 1):
        return f"{_bracket(below[operands[0]], ATOM)}.T", ATOM
    texts = [below[operand][0] for operand in operands]
    terms = list(terms)
    for index in dict.fromkeys(output):
        if not any(index in term for term in terms):
            texts.append(form.call("Ones", form.lengths([lengths[index]]))[0])
            terms.append((index,))
    number: dict[Any, str] = {}
    for index in [i for term in terms for i in term]:
        number.setdefault(index, index_letter(len(number)))
    inputs = ",".join("".join(number[i] for i in term) for term in terms)
    return form.call("einsum", repr(f"{inputs}->{''.join(number[i] for i in output)}"), *texts)


def _chain_level(left: Text) -> int:
    """The level of a product by @ from its left end: a number in front of a sum would be
    multiplied into it."""
    return CHAIN if left[1] >= CHAIN else PRODUCT


class _Short:
    """A product written with operators and methods, or None.

    ``A @ x`` calls for the same contraction as ``einsum('ij,j->i', A, x)``, up to the names of the
    indices and the order of the operands; both are canonical in the result. That it is the same
    object is checked all the same.
    """

    def __init__(
        self, operands: Any, terms: Any, output: Any, lengths: Any, below: dict[Any, Text]
    ):
        self.operands = operands
        self.terms = [tuple(term) for term in terms]
        self.output = output
        self.lengths = lengths
        self.below = below

    def text(self) -> Text | None:
        """The text, if there is one."""
        if len(self.operands) == 1:
            return self._of_one(self.operands[0], self.terms[0])
        if len(self.operands) == 2 and not any(index not in self._all() for index in self.output):
            return self._of_two()
        return None

    def _all(self) -> set[Any]:
        return {index for term in self.terms for index in term}

    def _of_one(self, operand: Any, term: Any) -> Text | None:
        text = _bracket(self.below[operand], ATOM)
        if len(term) == 2 and term[0] == term[1] and len(self.output) < 2:
            return text + (".diagonal()" if self.output else ".trace()"), ATOM
        if not _distinct(term) or not set(self.output) <= set(term) or not _distinct(self.output):
            return None
        if len(self.output) == len(term):
            axes = [term.index(index) for index in self.output]
            reverse = axes == list(range(len(term)))[::-1]
            return text + (".T" if reverse else f".transpose({', '.join(map(str, axes))})"), ATOM
        if list(self.output) != [index for index in term if index in self.output]:
            return None
        summed = [axis for axis, index in enumerate(term) if index not in self.output]
        axis = summed[0] if len(summed) == 1 else tuple(summed)
        return text + (f".sum(axis={axis})" if self.output else ".sum()"), ATOM

    def _of_two(self) -> Text | None:
        one, two = self.terms
        if one and set(one) == set(two) == set(self.output) and _distinct(self.output):
            return self._entrywise()
        shared = set(one) & set(two)
        if len(shared) != 1 or shared & set(self.output) or max(len(one), len(two)) > 2:
            return None
        if not (_distinct(one) and _distinct(two)):
            return None
        index = next(iter(shared))
        for first, second in ((0, 1), (1, 0)):
            rest = [k for k in (*self.terms[first], *self.terms[second]) if k != index]
            matrix_first = len(self.terms[first]) >= len(self.terms[second])
            if rest == list(self.output) and (matrix_first or len(rest) == 2):
                return self._matmul(first, second, index)
        return None

    def _matmul(self, first: int, second: int, index: Any) -> Text | None:
        if not self.output and all(len(term) == 1 for term in self.terms):
            return self._dot()
        turn = len(self.terms[first]) == 2 and self.terms[first][0] == index
        left, left_text = self._oriented(first, turn)
        turn = len(self.terms[second]) == 2 and self.terms[second][1] == index
        right, right_text = self._oriented(second, turn)
        rows, columns = ["i"] * (left.order - 1), ["j"] * (right.order - 1)
        lengths = dict(zip([*rows, "k"], left.shape, strict=True))
        lengths.update(zip(["k", *columns], right.shape, strict=True))
        made = contract((left, right), ([*rows, "k"], ["k", *columns]), [*rows, *columns], lengths)
        if made is not self._target():
            return None
        text = f"{_bracket(left_text, CHAIN)} @ {_bracket(right_text, POWER)}"
        if left.order == 2 and right.order == 1:
            self._note_row(right, first, left_text)
        if left.order == right.order == 2:
            self._note_turned(first, second, index)
        return text, _chain_level(left_text)

    def _note_row(self, vector: Any, k: int, matrix: Text) -> None:
        """``A.T @ x`` may be written ``x @ A`` where it stands on the left."""
        turned = matrix[0].endswith(".T") and matrix[1] == ATOM
        text = self.below[self.operands[k]] if turned else (f"{_bracket(matrix, ATOM)}.T", ATOM)
        row = self._row(vector)
        shown = f"{_bracket(row, CHAIN)} @ {_bracket(text, POWER)}"
        self.below["row", self._target()] = shown, _chain_level(row)

    def _note_turned(self, first: int, second: int, index: Any) -> None:
        """``(A @ B).T`` is written ``B.T @ A.T``."""
        left = self._oriented(second, self.terms[second][0] == index)[1]
        right = self._oriented(first, self.terms[first][1] == index)[1]
        text = f"{_bracket(left, CHAIN)} @ {_bracket(right, POWER)}"
        self.below["turned", self._target()] = text, _chain_level(left)

    def _row(self, vector: Any) -> Text:
        return self.below.get(("row", vector), self.below[vector])

    def _dot(self) -> Text | None:
        """``x @ A @ y``, in the order with the fewest transposes."""
        found = []
        for x, y in (self.operands, self.operands[::-1]):
            left, right = self._row(x), self.below[y]
            text = f"{_bracket(left, CHAIN)} @ {_bracket(right, POWER)}"
            call = f"{_bracket(left, ATOM)}.dot({right[0]})"
            found.append((text.count(".T"), text.count("("), text, call, left))
        _, _, text, call, left = min(found, key=lambda item: item[:2])
        if _chain_level(left) == CHAIN:
            return text, CHAIN
        self.below["call", self._target()] = call, ATOM
        return text, PRODUCT

    def _oriented(self, k: int, turn: bool) -> tuple[Any, Text]:
        operand = self.operands[k]
        text = self.below[operand]
        if not turn:
            return operand, text
        turned = contract((operand,), ((0, 1),), (1, 0), dict(enumerate(operand.shape)))
        return turned, self.below.get(("turned", operand), (f"{_bracket(text, ATOM)}.T", ATOM))

    def _entrywise(self) -> Text | None:
        sides = []
        for k, term in enumerate(self.terms):
            if term != self.output and (len(term) != 2 or term != self.output[::-1]):
                return None
            sides.append(self._oriented(k, term != self.output))
        axes = range(len(self.output))
        tensors = tuple(tensor for tensor, _ in sides)
        made = contract(tensors, (axes, axes), axes, dict(enumerate(tensors[0].shape)))
        if made is not self._target():
            return None
        texts = [text for _, text in sides]
        below = [k for k, text in enumerate(texts) if text[0].startswith("1/")]
        if len(below) == 1 and texts[below[0]][1] == PRODUCT:
            return f"{_bracket(texts[1 - below[0]], POWER)}{texts[below[0]][0][1:]}", PRODUCT
        return "*".join(_bracket(text, POWER) for text in texts), PRODUCT

    def _target(self) -> Any:
        used = {index: self.lengths[index] for index in self._all()}
        return contract(self.operands, self.terms, self.output, used)


# --- graphs --------------------------------------------------------------------------------------


def render(root: TensorExpr, form: CodeForm, nested: bool = False) -> str | None:
    """The text of a graph, or None if it would be too long.

    ``nested`` says that SymPy's printer puts it into a text of its own.
    """
    cache: dict[Any, Text] = form.printer.__dict__.setdefault("_tensor_texts", {})
    # Through stock scalars too: the tensors inside them have their texts when SymPy's printer,
    # which recurses, asks for them.
    for node in postorder([root], lambda n: () if n in cache else children(n)):
        if node in cache or not isinstance(node, TensorExpr):
            continue
        for operand in node.operands:
            if operand not in cache:
                cache[operand] = form.stock(operand)
        if sum(len(cache[operand][0]) for operand in node.operands) > MAX_LENGTH:
            return None
        cache[node] = _node_text(node, cache, form)
    # SymPy writes -x @ y, which must not become the product of -x, where x is a sum.
    return (cache.get(("call", root), cache[root]) if nested else cache[root])[0]


def summary(node: TensorExpr) -> str:
    """What is told of an expression that is too big to be read."""
    count = sum(1 for n in postorder([node]) if children(n))
    return f"<{type(node).__name__} of shape {node.shape}, {count} operations>"


def flat_repr(root: TensorExpr, printer: Any) -> str:
    """The graph, node by node."""
    parts = []
    for item in flatten(root):
        if isinstance(item, tuple):
            kind, below, data = item
            parts.append(f"({kind.__name__}, {below!r}, {_data_repr(data, printer)})")
        else:
            parts.append(printer._print(item))
    return f"unflatten([{', '.join(parts)}])"


def _data_repr(data: Any, printer: Any) -> str:
    if isinstance(data, tuple):
        return "(" + "".join(f"{_data_repr(part, printer)}, " for part in data) + ")"
    return printer._print(data) if isinstance(data, sympy.Basic) else repr(data)
