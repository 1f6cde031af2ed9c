"""``str`` and ``srepr``: texts that evaluate back.

Texts are built bottom-up over the graph, each node once. ``str`` writes what one would type, and
``einsum(...)`` where there are no operators for it; what it writes has the value of the expression,
``srepr`` gives the very same object. In a long expression ``str`` assigns what is used again to
names; ``srepr`` then lists the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sympy
from sympy import Ge, Gt, Le, Lt, NumberSymbol, S, Symbol, preorder_traversal
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from ..core import children, index_letter, postorder
from ..expressions import (
    AxesFunction,
    Constant,
    Delta,
    Einsum,
    Elementwise,
    MatrixFunction,
    Ones,
    Reshape,
    Selection,
    Slot,
    Softmax,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Unit,
    View,
    Zeros,
    flatten,
    indicated,
    slot,
)
from ..operations import FUNCTIONS
from .chains import (
    ATOM,
    CHAIN,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Short,
    Text,
    bracket,
    is_distinct,
    matrix_text,
    turned_text,
)
from .naming import (
    DEEP,
    is_long,
    is_nameable,
    length_names,
    names,
    partial_sums,
    repeated,
    shown_names,
    with_names,
)
from .norms import HalfPower, normed
from .slices import entry, merged, sliced

# In a long expression what takes more letters gets a name.
LONG_TEXT = 300


class CodeForm:
    """How the parts of a text are spelled by ``str``."""

    operators = True

    def __init__(self, printer: Any):
        self.printer = printer
        self.exact = _ExactPrinter(printer._settings)
        self.exact._tensor_texts = printer.__dict__.setdefault("_tensor_texts", {})
        # Parts of stock scalars that stand as names.
        self.replaced: dict[Any, Symbol] = {}
        # Sums that are written as an earlier sum and the other terms.
        self.sums: dict[Any, tuple[Any, ...]] = {}

    def stock(self, expr: Any) -> Text:
        """A SymPy scalar."""
        expr = with_names(expr, self.replaced) if self.replaced else expr
        return self.exact.doprint(expr), _stock_level(expr)

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
        if self.operators and _is_typed(body):
            return _BodyPrinter(operands).doprint(body), _stock_level(body)
        slots = [slot(k) for k in range(len(operands))]
        condition = indicated(body) if self.operators else None
        if (
            isinstance(condition, (Gt, Ge, Lt, Le))
            and condition.lhs in slots
            and condition.rhs.is_number
        ):
            # A scalar on the left would make it a stock relation.
            return f"({_BodyPrinter(operands).doprint(condition)})", ATOM
        if type(body).__name__ in FUNCTIONS and list(body.args) == slots:
            return self.call(type(body).__name__, *[text for text, _ in operands])
        arguments = ", ".join(s.name for s in slots)
        text = _BodyPrinter([(s.name, ATOM) for s in slots]).doprint(body)
        return self.call("elementwise", f"lambda {arguments}: {text}", *[t for t, _ in operands])


class ReprForm(CodeForm):
    """srepr: symbols are spelled out with their shapes and assumptions, products as einsums."""

    operators = False

    def stock(self, expr: Any) -> Text:
        return self.printer._print(expr), ATOM

    def scaled(self, number: Any, factors: list[str]) -> str:
        return "*".join([self.printer._print(number), *factors])

    def symbol(self, node: TensorSymbol) -> str:
        lengths = self.lengths(node.shape) + ("," if node.order == 1 else "")
        flags = "".join(f", {assumption}=True" for assumption in node.assumptions)
        return f"TensorSymbol({node.name!r}, ({lengths}){flags})"


class _ExactPrinter(StrPrinter):
    """SymPy scalars as Python expressions with exact fractions: Python would divide integers."""

    def _print_Rational(self, expr: Any) -> str:
        return f"Rational({expr.p}, {expr.q})"


def power_text(power: HalfPower, printer: Any, *args: Any) -> str:
    """The text of the power of a norm, or of another square root."""
    tensor = normed(power)
    texts = printer.__dict__.setdefault("_tensor_texts", {})
    # What has a name is shown by it.
    if tensor is None or texts.get(power.base, ("(", ATOM))[0].isidentifier():
        return printer._print_Pow(power)
    norm = Symbol(f"norm({render(tensor, CodeForm(printer), printer._print_level > 1)[0]})")
    return printer._print(norm ** (2 * power.exp))


class _BodyPrinter(_ExactPrinter):
    """Bodies as Python expressions with texts in the slots; a function nobody defined can't be
    named in code."""

    # Nothing in a body prints itself.
    printmethod = "_bodystr"

    def __init__(self, operands: Sequence[Text]):
        super().__init__()
        self.operands = operands

    def _print_Slot(self, expr: Any) -> str:
        return self.operands[expr.place][0]

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        """What stands in a slot has brackets by its own level."""
        if not isinstance(item, Slot):
            return super().parenthesize(item, level, strict)
        needed = ATOM if level >= PRECEDENCE["Pow"] else POWER if level else SUM
        return bracket(self.operands[item.place], needed)

    def _print_Function(self, expr: Any) -> str:
        name = type(expr).__name__
        if isinstance(expr, AppliedUndef):
            name = f"Function({name!r})"
        return f"{name}({self.stringify(expr.args, ', ')})"


def _stock_level(expr: Any) -> int:
    """How tightly the text of a SymPy scalar holds together."""
    if expr.is_Add or (expr.is_Number and expr.is_extended_negative):
        return SUM
    if expr.is_Pow:
        if expr.exp is S.Half:
            return ATOM
        if expr.exp in (-S.One, -S.Half):
            return QUOTIENT
        return POWER if expr.exp.is_Integer and expr.exp > 0 else PRODUCT
    if expr.is_Integer:
        return ATOM
    return PRODUCT if expr.is_Mul or expr.is_Rational or expr.is_Float else ATOM


@lru_cache(maxsize=4096)
def _is_typed(body: Any) -> bool:
    """Whether a body means the same on tensors, when they stand in its slots."""
    for part in preorder_traversal(body):
        known = part.is_Add or part.is_Mul or part.is_Pow or isinstance(part, (Slot, NumberSymbol))
        number = part.is_Number and part.is_finite
        if not known and not number and type(part).__name__ not in FUNCTIONS:
            return False
    return True


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
        identity = form.call("Delta", form.lengths((node.length,)))[0]
        return f"{identity}[{_entry_text(entry(node), form)}]", ATOM
    if isinstance(node, View):
        return _view_text(node, below, form)
    if isinstance(node, Einsum):
        lengths = dict(enumerate(node.lengths))
        return _einsum_text(node, node.operands, node.subscripts, node.output, lengths, below, form)
    if isinstance(node, TensorAdd):
        return _sum_text(node, below, form)
    if isinstance(node, Elementwise):
        return form.elementwise(node.body, [below[operand] for operand in node.operands])
    if isinstance(node, MatrixFunction):
        static = map(str, node.data)
        return form.call(type(node).__name__.lower(), below[node.operands[0]][0], *static)
    if isinstance(node, AxesFunction):
        operand = below[node.operands[0]][0]
        name = type(node).__name__.lower()
        order = node.operands[0].order
        axis: Any = node.axes[0] if len(node.axes) == 1 else node.axes
        axis = None if len(node.axes) == order else axis
        if isinstance(node, Softmax) and order == 2 and axis is not None:
            # softmax(A, axis=0).T is written softmax(A.T, axis=1).
            turned = turned_text(node.operands[0], below)[0]
            below["turned", node] = form.call(name, turned, f"axis={1 - axis}")
        return form.call(name, *([operand] if order == 1 else [operand, f"axis={axis}"]))
    if isinstance(node, Reshape):
        operand = bracket(below[node.operands[0]], ATOM)
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
    terms = form.sums.get(node, node.operands)
    texts = [_term_text(operand, below, form) for operand in terms]
    if form.operators:
        # Minus signs last, plain symbols after products.
        texts.sort(key=lambda text: (text[0][:1] == "-", text[1] == ATOM, text[0].isdigit()))
    result = ""
    for text in texts:
        term = text[0] if form.operators or text[0][:1] == "-" else bracket(text, PRODUCT)
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
    if core is not None and node.output == node.subscripts[-1] and is_distinct(node.output):
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
    factors = [s for s in others if s not in sums]
    divisors = [below[s][0].removeprefix("1") for s in factors if below[s][1] == QUOTIENT]
    before = [
        bracket(below[s], POWER if isinstance(s, TensorExpr) else PRODUCT)
        for s in factors
        if below[s][1] != QUOTIENT
    ]
    after = [bracket(below[scalar], PRODUCT) for scalar in sums]
    shown = bracket(body, POWER if after else CHAIN)
    return form.scaled(number, [*before, shown, *after]) + "".join(divisors), PRODUCT


def _rearranged_text(node: View, below: dict[Any, Text], form: CodeForm) -> Text:
    """A view but for its scalar factors; a rearranged product is one product."""
    core = node.core
    count = len(node.scalars)
    operands: Sequence[Any] = node.operands[count:]
    terms: Sequence[Any] = node.subscripts[count:]
    lengths = dict(enumerate(node.lengths))
    if form.operators and core is not None and core.order == 1 and node.output == (0, 0):
        return f"diag({below[core][0]})", ATOM
    if type(core) is Einsum and is_distinct(node.subscripts[-1]):
        operands, terms, lengths = merged(core, node.subscripts[-1], node.lengths)
    return _einsum_text(node, operands, terms, node.output, lengths, below, form)


def _einsum_text(
    node: Any,
    operands: Any,
    terms: Any,
    output: Any,
    lengths: Any,
    below: dict[Any, Text],
    form: CodeForm,
) -> Text:
    indexed = sliced(operands, terms, output)
    if indexed is not None:
        inside = ", ".join(_entry_text(part, form) for part in indexed[1])
        return f"{bracket(below[indexed[0]], ATOM)}[{inside}]", ATOM
    if form.operators:
        short = Short(operands, terms, tuple(output), lengths, below).text()
        present = {index for term in terms for index in term}
        if short is None and (len(operands) > 1 or not present.issuperset(output)):
            short = matrix_text(operands, terms, output, lengths, below, form.lengths)
            turned = matrix_text(operands, terms, output[::-1], lengths, below, form.lengths)
            if turned is not None and len(output) == 2:
                below["turned", node] = turned
        if short is not None:
            return short
    elif output == (1, 0) and len(operands) == 1 and tuple(terms[0]) == (0, 1):
        return f"{bracket(below[operands[0]], ATOM)}.T", ATOM
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


# --- graphs --------------------------------------------------------------------------------------


def render(root: TensorExpr, form: CodeForm, nested: bool = False) -> Text:
    """The text of a graph.

    In a long one what is used again is assigned to a name: ``(h_1 := tanh(A @ x), h_1*h_1)[-1]``.
    ``nested`` says that SymPy's printer puts it into a text of its own.
    """
    texts = form.exact._tensor_texts
    if root not in texts:
        if is_long(root):
            return _render_long(root, form, nested)
        # Through stock scalars too: the tensors inside them have their texts when SymPy's
        # printer, which recurses, asks for them.
        for node in postorder([root], lambda n: () if n in texts else children(n)):
            _write(node, texts, form)
    return texts[root]


def _write(node: Any, texts: dict[Any, Text], form: CodeForm) -> None:
    """Put the text of a node to those of the nodes below."""
    if node in texts or not isinstance(node, TensorExpr):
        return
    for operand in node.operands:
        if operand not in texts:
            texts[operand] = form.stock(operand)
    texts[node] = _node_text(node, texts, form)


def _render_long(root: TensorExpr, form: CodeForm, nested: bool) -> Text:
    """The text of a long graph, with assignments in front; nothing outside may refer to them."""
    texts: dict[Any, Text] = {}
    form.exact._tensor_texts = texts
    nodes = postorder([root])
    # Names in the text around this one aren't known: they won't look like these.
    stem = f"h{root._digest % 10**6}" if nested else "h"
    fresh = names(shown_names(nodes) | length_names(nodes), stem)
    form.sums = partial_sums(nodes)
    shared = repeated(nodes, (), form.sums)
    assignments = []
    levels: dict[Any, int] = {}
    for node in nodes:
        is_tensor = isinstance(node, TensorExpr)
        _write(node, texts, form)
        levels[node] = 0 if is_tensor else 1 + max([levels[arg] for arg in node.args], default=0)
        is_big = len(texts[node][0]) > LONG_TEXT if is_tensor else levels[node] > DEEP
        if node is not root and (node in shared or is_big) and is_nameable(node):
            name, levels[node] = next(fresh), 0
            text = texts.get(node) or form.stock(node)
            assignments.append(f"{name} := {text[0]}")
            texts[node] = name, ATOM
            for variant in ("row", "turned"):
                texts.pop((variant, node), None)
            if not is_tensor:
                form.replaced[node] = Symbol(name, real=node.is_real)
    return f"({', '.join([*assignments, texts[root][0]])},)[-1]", ATOM


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
