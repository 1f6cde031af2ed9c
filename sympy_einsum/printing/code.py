"""Spell nodes and SymPy's scalars for ``str`` and ``srepr``."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import (
    Basic,
    Dummy,
    Expr,
    Float,
    Ge,
    Gt,
    Integer,
    Le,
    Lt,
    NumberSymbol,
    Rational,
    S,
    Symbol,
    preorder_traversal,
    srepr,
)
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.printer import Printer
from sympy.printing.repr import ReprPrinter
from sympy.printing.str import StrPrinter

from ..core import UserFunction, as_stock_derivative, cached, integer_text
from ..expressions import (
    BoundTensor,
    Operand,
    Slot,
    TensorExpr,
    TensorSymbol,
    indicator_condition,
    slot,
)
from ..operations import FUNCTIONS
from .naming import with_names
from .texts import ATOM, POWER, PRODUCT, QUOTIENT, SUM, Text, Texts


def texts_of(printer: Printer) -> Texts:
    """Return a printer's texts by node."""
    return printer.__dict__.setdefault("_tensor_texts", Texts())


class _ExactPrinter(StrPrinter):
    """Print SymPy scalars as Python with exact numbers of any length, and fractions as calls, since
    Python divides to floats."""

    def _print_Integer(self, expr: Integer) -> str:
        return integer_text(expr.p)

    def _print_Rational(self, expr: Rational) -> str:
        # The sign comes first, so that a sum shows it as its operator.
        sign = "-" if expr.p < 0 else ""
        return sign + f"Rational({integer_text(abs(expr.p))}, {integer_text(expr.q)})"

    def parenthesize(self, item: Basic, level: int, strict: bool = False) -> str:
        """Bracket an item, except fractions, which are calls."""
        if isinstance(item, Rational) and not item.is_Integer:
            return f"Rational({integer_text(item.p)}, {integer_text(item.q)})"
        return super().parenthesize(item, level, strict)


class _ExactReprPrinter(ReprPrinter):
    """Print SymPy scalars for ``srepr``, with exact numbers of any length."""

    def _print_Integer(self, expr: Integer) -> str:
        return f"Integer({integer_text(expr.p)})"

    def _print_Rational(self, expr: Rational) -> str:
        return f"Rational({integer_text(expr.p)}, {integer_text(expr.q)})"


class CodeForm:
    """Spell the parts of a text for ``str``."""

    operators = True
    exact_printer: type[Printer] = _ExactPrinter

    def __init__(self, printer: Printer):
        self.printer = printer
        self.exact = self.exact_printer(printer._settings)
        self.texts = texts_of(printer)
        # Named parts of stock scalars.
        self.replaced: dict[Basic, Symbol] = {}
        # Sums written as an earlier sum plus the other terms.
        self.sums: dict[TensorExpr, tuple[Operand, ...]] = {}

    @property
    def texts(self) -> Texts:
        """The texts of nodes, shared with the printer, which looks up nodes inside scalars."""
        return texts_of(self.exact)

    @texts.setter
    def texts(self, texts: Texts) -> None:
        self.exact._tensor_texts = texts

    def stock(self, expr: Expr) -> Text:
        """Write a SymPy scalar."""
        expr = with_names(expr, self.replaced) if self.replaced else expr
        return Text(self.exact.doprint(expr), _stock_level(expr))

    def lengths(self, shape: Sequence[Expr]) -> str:
        """Write axis lengths, separated by commas."""
        return ", ".join(self.printer._print(length) for length in shape)

    def symbol(self, node: TensorSymbol) -> str:
        """Write a tensor symbol; one that a body binds by what it is and how deep its body is."""
        if isinstance(node, BoundTensor):
            kind, number, level = node.binding
            return f"<{kind} {number}>" if level in (-1, 0) else f"<{kind} {number}, {abs(level)}>"
        return node.name

    def call(self, name: str, *arguments: str) -> Text:
        """Write a function call."""
        return Text(f"{name}({', '.join(arguments)})")

    def scaled(self, number: Expr, factors: list[str]) -> str:
        """Write a product with a numeric coefficient; a fraction's denominator comes last."""
        sign = "-" if number.is_extended_negative else ""
        number = abs(number)
        divisor = number.q if number.is_Rational else 1
        number *= divisor
        text = integer_text(number.p) if number.is_Integer else self.printer._print(number)
        parts = factors if number is S.One else [text, *factors]
        return sign + "*".join(parts) + (f"/{integer_text(divisor)}" if divisor != 1 else "")

    def elementwise(self, body: Expr, operands: list[Text]) -> Text:
        """Write a scalar function of tensors."""
        if self.operators and _is_typed(body):
            return Text(_BodyPrinter(operands).doprint(body), _stock_level(body))
        slots = [slot(k) for k in range(len(operands))]
        condition = indicator_condition(body) if self.operators else None
        if (
            isinstance(condition, (Gt, Ge, Lt, Le))
            and condition.lhs in slots
            and condition.rhs.is_number
        ):
            # With a scalar on the left it would be a SymPy relation.
            return Text(f"({_BodyPrinter(operands).doprint(condition)})")
        if type(body).__name__ in FUNCTIONS and list(body.args) == slots:
            return self.call(type(body).__name__, *[text.shown for text in operands])
        arguments = ", ".join(s.name for s in slots)
        printer = _BodyPrinter if self.operators else _SpelledPrinter
        inside = printer([Text(s.name) for s in slots]).doprint(body)
        shown = [text.shown for text in operands]
        return self.call("elementwise", f"lambda {arguments}: {inside}", *shown)


class ReprForm(CodeForm):
    """Spell for ``srepr``: symbols with shapes and assumptions, products as einsums."""

    operators = False
    exact_printer = _ExactReprPrinter

    def stock(self, expr: Expr) -> Text:
        return Text(self.exact._print(expr))

    def scaled(self, number: Expr, factors: list[str]) -> str:
        return "*".join([self.exact._print(number), *factors])

    def symbol(self, node: TensorSymbol) -> str:
        lengths = self.lengths(node.shape) + ("," if node.order == 1 else "")
        if isinstance(node, BoundTensor):
            kind, number, level = node.binding
            return f"BoundTensor({kind!r}, {number}, {level}, ({lengths}), {node.assumptions!r})"
        flags = "".join(f", {assumption}=True" for assumption in node.assumptions)
        symmetric = f", symmetric={[*node.generators]}" if node.generators else ""
        return f"TensorSymbol({node.name!r}, ({lengths}){flags}{symmetric})"


class _BodyPrinter(_ExactPrinter):
    """Print bodies as Python with texts in the slots; undefined functions have no name there."""

    # Bypass the hooks by which nodes print themselves.
    printmethod = "_bodystr"

    def __init__(self, operands: Sequence[Text]):
        super().__init__()
        self.operands = operands

    def _print_Slot(self, expr: Slot) -> str:
        return self.operands[expr.place].shown

    def parenthesize(self, item: Basic, level: int, strict: bool = False) -> str:
        """Bracket an expression; a slot by the precedence of its operand."""
        if not isinstance(item, Slot):
            return super().parenthesize(item, level, strict)
        needed = ATOM if level >= PRECEDENCE["Pow"] else POWER if level else SUM
        return self.operands[item.place].within(needed)

    def _print_Function(self, expr: Expr) -> str:
        return f"{type(expr).__name__}({self.stringify(expr.args, ', ')})"


class _SpelledPrinter(_BodyPrinter):
    """Printer of bodies for ``srepr``: constructs unknown functions in place, and prints all digits
    of numbers."""

    def _print_Float(self, expr: Float) -> str:
        return srepr(expr)

    def _print_Function(self, expr: Expr) -> str:
        if not isinstance(expr, AppliedUndef):
            return super()._print_Function(expr)
        stock = as_stock_derivative(expr)
        if stock is not expr:
            return self._print(stock)
        return f"Function({type(expr).__name__!r})({self.stringify(expr.args, ', ')})"

    def _print_Dummy(self, expr: Dummy) -> str:
        return f"Symbol('_{expr.name}')"


def _stock_level(expr: Expr) -> int:
    """Return the precedence of the text of a SymPy scalar."""
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


@cached(4096)
def _is_typed(body: Expr) -> bool:
    """Tell whether the text of a body keeps its meaning with tensors in the slots."""
    for part in preorder_traversal(body):
        known = part.is_Add or part.is_Mul or part.is_Pow
        known = known or isinstance(part, (Slot, NumberSymbol, AppliedUndef, UserFunction))
        number = part.is_Number and part.is_finite
        if not known and not number and type(part).__name__ not in FUNCTIONS:
            return False
    return True
