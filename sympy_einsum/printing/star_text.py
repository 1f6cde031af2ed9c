"""Write expressions in Lippmann's language, which ``parse(text, syntax="lippmann")`` reads.

A product of several operands is a chain ``A *(ij,jk->ik) B *(ik,k->i) x``. Axis
lengths of a number or a delta tensor follow it in brackets where nothing else determines them.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sympy import Basic, Expr, Integer, S, Symbol

from ..core import ROWS, UnsupportedError, children, index_letter, postorder, powlog, tuning
from ..expressions import (
    Adj,
    Det,
    Einsum,
    Elementwise,
    Inv,
    LogDet,
    MatrixFunction,
    Operand,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    View,
    Zeros,
    slot,
)
from .texts import ATOM, POWER, PRODUCT, SUM, Text

_NAME = re.compile(r"(?!(declare|expression|derivative|wrt)$)[A-Za-z][A-Za-z0-9_]*")
# The language's names of SymPy's functions and constants, where they differ.
_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "Abs": "abs"}
CONSTANTS = {S.Pi: "arccos(-1)", S.Exp1: "exp(1)"}
MATRIX_FUNCTIONS: dict[type, str] = {Inv: "inv", Det: "det", Adj: "adj", LogDet: "logdet"}


class _OrderedText(NamedTuple):
    """Hold a text and the order of its value, None for a number, which broadcasts."""

    text: Text
    order: int | None = None


def star_text(root: Operand) -> str:
    """Return the text of an expression."""
    texts: dict[Basic, Text] = {}
    for node in postorder([root]):
        texts[node] = _text(node, texts)
        if len(texts[node].shown) > tuning.MAX_TEXT:
            raise UnsupportedError(
                f"the text has more than {tuning.MAX_TEXT} characters; latex and codegen give what "
                "is used again a name"
            )
    return texts[root].shown


def _text(node: Basic, texts: dict[Basic, Text]) -> Text:
    if isinstance(node, TensorSymbol):
        return Text(_name(node.name))
    if isinstance(node, Zeros):
        return Text(f"0{_lengths(node.shape)}")
    if isinstance(node, Einsum):
        return _product_text(node, texts)
    if isinstance(node, TensorAdd):
        has_tensor_term = any(not isinstance(o, View) or o.core is not None for o in node.operands)
        return as_sum([(has_tensor_term and number_in(o)) or texts[o] for o in node.operands])
    if isinstance(node, Elementwise):
        parts = [_OrderedText(texts[o], getattr(o, "order", 0)) for o in node.operands]
        return _body(node.body, parts, node.order)
    if isinstance(node, MatrixFunction) and type(node) in MATRIX_FUNCTIONS:
        return Text(f"{MATRIX_FUNCTIONS[type(node)]}({texts[node.operands[0]].shown})")
    if isinstance(node, TensorExpr):
        raise UnsupportedError(f"Lippmann's language has no {type(node).__name__}")
    return _scalar(node, [_OrderedText(texts[child], 0) for child in children(node)], 0).text


def number_in(tensor: Operand) -> Text | None:
    """Return the number that a tensor is filled with, or None."""
    if not isinstance(tensor, View) or not tensor.is_constant_fill:
        return None
    is_number = tensor.scalars in ((), (tensor.coefficient,))
    return number_text(tensor.coefficient) if is_number else None


def _body(body: Expr, operands: Sequence[_OrderedText], order: int) -> Text:
    """Write a scalar function with texts in its slots."""
    parts: dict[Basic, _OrderedText] = {slot(k): part for k, part in enumerate(operands)}
    for node in postorder([body]):
        if node not in parts:
            parts[node] = _scalar(node, [parts[child] for child in children(node)], order)
    return parts[body].text


def _scalar(expr: Basic, below: Sequence[_OrderedText], order: int) -> _OrderedText:
    """Write one operation on scalars, or entry by entry on tensors of an order and scalars."""
    if expr in CONSTANTS:
        return _OrderedText(Text(CONSTANTS[expr]))
    if isinstance(expr, Symbol):
        return _OrderedText(Text(_name(expr.name)), 0)
    if expr.is_Number and expr.is_finite:
        return _OrderedText(number_text(expr))
    orders = [part.order for part in below if part.order is not None]
    full = max(orders, default=None)
    texts = [part.text for part in below]
    letters = range(full or 0)
    labels = [letters if part.order else () for part in below]
    if expr.is_Add:
        ones = (Text("1"), letters)
        pairs = zip(below, texts, strict=True)
        terms = [_chain([(t, ()), ones], letters) if full and p.order == 0 else t for p, t in pairs]
        return _OrderedText(as_sum(terms), full)
    if expr.is_Mul:
        return _OrderedText(_chain(list(zip(texts, labels, strict=True)), letters), full)
    if expr.is_Pow and not below[1].order:
        return _OrderedText(_power_text(*texts), full)
    if isinstance(expr, powlog) and not below[1].order:
        # b^t log(b)^k
        base, exponent, count = texts
        powers = _power_text(base, exponent), _power_text(Text(f"log({base.shown})"), count)
        return _OrderedText(_chain([(power, labels[0]) for power in powers], letters), full)
    name = FUNCTIONS.get(type(expr))
    if name is None or len(below) != 1:
        raise UnsupportedError(f"Lippmann's language has no {type(expr).__name__} of this kind")
    return _OrderedText(Text(f"{name}({texts[0].shown})"), full)


FUNCTIONS = {
    row.function: _NAMES.get(row.name, row.name) for row in ROWS if row.name and row.arity == 1
}


def _power_text(base: Text, exponent: Text) -> Text:
    if exponent.shown in ("1", "-1"):
        return base if exponent.shown == "1" else Text(f"1/{base.within(POWER)}", PRODUCT)
    return Text(f"{base.within(ATOM)}^{exponent.within(ATOM)}", POWER)


def number_text(number: Expr) -> Text:
    """Write a number so that parsing it preserves whether it is exact."""
    if number.is_Integer:
        return Text(f"{number}", ATOM if number >= 0 else POWER)
    if number.is_Rational:
        return Text(f"{number}", PRODUCT)
    # Without an exponent it would be parsed as an exact fraction.
    shown = repr(float(number))
    return Text(shown if "e" in shown else f"{shown}e0", ATOM if number >= 0 else POWER)


def as_sum(terms: Sequence[Text]) -> Text:
    """Add terms; a leading minus of a later term becomes the operator."""
    first, *rest = [term.within(PRODUCT) for term in terms]
    signed = [f" - {t.removeprefix('-')}" if t.startswith("-") else f" + {t}" for t in rest]
    return Text(first + "".join(signed), SUM)


def _product_text(node: Einsum, texts: dict[Basic, Text]) -> Text:
    factors: list[tuple[Text, Sequence[int]]] = [
        (texts[o], term) for o, term in zip(node.operands, node.subscripts, strict=True)
    ]
    present = {label for term in node.subscripts for label in term}
    absent = [label for label in dict.fromkeys(node.output) if label not in present]
    if absent:
        is_delta = node.output == (*absent, *absent)
        shown = f"delta({len(absent)})" if is_delta else "1"
        labels = node.output if is_delta else absent
        number = number_in(node)
        if number is not None:
            return Text(f"{number.within(ATOM)}{_lengths(node.shape)}")
        shown += _lengths([node.lengths[label] for label in labels])
        if is_delta and not factors:
            return Text(shown)
        factors.append((Text(shown), labels))
    return _chain(factors, node.output)


def _chain(factors: list[tuple[Text, Sequence[int]]], output: Sequence[int]) -> Text:
    """Multiply labelled factors from left to right."""
    # A minus binds to the first factor, where SymPy would distribute it over a sum.
    if len(factors) > 1 and factors[0][0].shown == "-1" and factors[1][0].level >= POWER:
        return Text(f"-{_chain(factors[1:], output).shown}", PRODUCT)
    if len(factors) == 1:
        text, labels = factors[0]
        if list(labels) == list(output) and len(set(labels)) == len(labels):
            return text
        factors = [*factors, (Text("1"), ())]
    (first, left), *others = factors
    shown = [first.within(POWER)]
    for k, (factor, right) in enumerate(others, start=1):
        after = {label for _, labels in factors[k + 1 :] for label in labels}.union(output)
        is_last = k == len(others)
        kept = output if is_last else [i for i in dict.fromkeys([*left, *right]) if i in after]
        subscripts = ["".join(map(index_letter, labels)) for labels in (left, right, kept)]
        shown.append(f"*({subscripts[0]},{subscripts[1]}->{subscripts[2]}) {factor.within(POWER)}")
        left = kept
    return Text(" ".join(shown), PRODUCT)


def _lengths(shape: Sequence[Expr]) -> str:
    """Write axis lengths in brackets."""
    for length in shape:
        is_known = isinstance(length, Integer) and length > 0
        if not is_known and length != Symbol(str(length), integer=True, positive=True):
            raise UnsupportedError(f"Lippmann's language has no length {length}")
    return f"[{','.join(map(str, shape))}]"


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UnsupportedError(f"Lippmann's language has no variable {name!r}")
    return name
