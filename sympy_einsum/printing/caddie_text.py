"""Write scalar expressions in the language of Caddie, which ``parse(text, syntax="caddie")`` reads.

References
==========

[C] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python Context", 2025,
    equation 2.17.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from sympy import Abs, Basic, Expr, Float, Pow, Rational, S, Symbol, cos, exp, log, sin, tan

from ..core import UnsupportedError, postorder, tuning
from ..expressions import Einsum, Operand, TensorExpr, TensorSymbol, Unit

_FUNCTIONS = {exp: "exp", log: "ln", sin: "sin", cos: "cos", tan: "tan", Abs: "abs"}
_WORDS = {
    *("fun", "let", "in", "end", "map", "fn", "iota", "pow", "red", "pi", "cross", "sprod"),
    *("dprod", "dprod3", "cprod3", "norm2sq", *_FUNCTIONS.values()),
}
_SUM, _PRODUCT, _ATOM = range(3)


class _Signed(NamedTuple):
    """Hold the text of a value but for its sign, and how tightly it binds."""

    shown: str
    binding: int = _ATOM
    is_negative: bool = False

    def within(self, binding: int) -> str:
        """Return the text as an operand of an operation."""
        if self.is_negative:
            return f"~({self.shown})" if self.binding < _ATOM else f"~{self.shown}"
        return f"({self.shown})" if self.binding < binding else self.shown


def caddie_text(root: Operand) -> str:
    """Return the text of a scalar expression; values used several times are bound by ``let``."""
    if isinstance(root, TensorExpr) and root.order:
        raise UnsupportedError(
            f"expressions in Caddie's language are numbers here, not of shape {root.shape}; write "
            "the entries"
        )
    order = postorder([root], _below)
    uses = Counter(child for node in order for child in _below(node))
    taken = {symbol.name for symbol in root.free_symbols} | _WORDS
    free = (name for k in count(1) if (name := f"v{k}") not in taken)
    texts: dict[Basic, _Signed] = {}
    bindings, size = [], 0
    for node in order:
        text = _text(node, texts)
        if uses[node] > 1 and _below(node):
            name = next(free)
            bindings.append(f"let {name} = {text.within(_SUM)} in ")
            text = _Signed(name)
        texts[node] = text
        size += len(text.shown)
        if size > tuning.MAX_TEXT * 10:
            raise UnsupportedError(f"the text has more than {tuning.MAX_TEXT} characters")
    return "".join(bindings) + texts[root].within(_SUM)


def _below(node: Basic) -> Sequence[Basic]:
    if isinstance(node, Einsum):
        return [] if _entry(node) else node.operands
    if isinstance(node, TensorExpr):
        return ()
    return [node.base] if isinstance(node, Pow) else node.args


def _entry(node: Einsum) -> str | None:
    """Return the text of an entry of a vector."""
    if len(node.operands) != 2:
        return None
    selector, source = node.operands
    if not isinstance(selector, Unit) or not isinstance(source, TensorSymbol):
        return None
    if source.order != 1 or node.order or not selector.position.is_Integer:
        return None
    return f"#{int(selector.position) + 1} {_checked(source.name)}"


def _text(node: Basic, texts: dict[Basic, _Signed]) -> _Signed:
    if isinstance(node, (Symbol, TensorSymbol)):
        return _Signed(_checked(node.name))
    if isinstance(node, Einsum):
        entry = _entry(node)
        if entry is None and node.subscripts == ((0,), (0,)) and not node.output:
            pair = ", ".join(texts[operand].within(_SUM) for operand in node.operands)
            return _Signed(f"dprod ({pair})", _PRODUCT)
        if entry is not None:
            return _Signed(entry, _PRODUCT)
    if node is S.Pi:
        return _Signed("pi")
    if isinstance(node, (Rational, Float)):
        return _number(node)
    if isinstance(node, Expr) and node.is_Add:
        first, *rest = [texts[term] for term in node.args]
        shown = first.within(_SUM)
        for term in rest:
            positive = term._replace(is_negative=False).within(_PRODUCT)
            shown += f" {'-' if term.is_negative else '+'} {positive}"
        return _Signed(shown, _SUM)
    if isinstance(node, Expr) and node.is_Mul:
        factors = [texts[factor] for factor in node.args]
        is_negative = sum(factor.is_negative for factor in factors) % 2 == 1
        positive_ones = [factor._replace(is_negative=False) for factor in factors]
        shown = " * ".join(f.within(_PRODUCT) for f in positive_ones if f.shown != "1")
        return _Signed(shown or "1", _PRODUCT, is_negative)
    if isinstance(node, Pow) and isinstance(node.exp, Rational):
        exponent = _number(node.exp)
        if exponent.binding == _ATOM:
            return _Signed(
                f"pow {exponent.within(_ATOM)} {texts[node.base].within(_ATOM)}", _PRODUCT
            )
    if node.func in _FUNCTIONS:
        return _Signed(f"{_FUNCTIONS[node.func]} {texts[node.args[0]].within(_ATOM)}", _PRODUCT)
    raise UnsupportedError(
        f"{str(node)[:80]} has no text in Caddie's language; it has numbers, entries of vectors, "
        "+ - *, pow, ln, sin, cos, tan, exp, abs and dprod"
    )


def _number(value: Rational | Float) -> _Signed:
    is_negative = bool(value < 0)
    if isinstance(value, Float):
        # With an exponent it is read as a floating-point number, not as a fraction.
        text = repr(abs(float(value)))
        return _Signed(text if "e" in text else f"{text}e0", _ATOM, is_negative)
    size = abs(value)
    digits = 0
    while digits < 15 and (size * 10**digits).q != 1:
        digits += 1
    scaled = size * 10**digits
    if scaled.q == 1:
        text = str(scaled.p).rjust(digits + 1, "0")
        if len(text) < 16:
            decimals = f".{text[-digits:]}" if digits else ""
            return _Signed(text[: len(text) - digits] + decimals, _ATOM, is_negative)
    if size.q == 1:
        return _Signed(str(size.p), _ATOM, is_negative)
    factor = f"{size.p} * " if size.p != 1 else ""
    return _Signed(f"{factor}pow ~1 {size.q}", _PRODUCT, is_negative)


def _checked(name: str) -> str:
    if not name.isidentifier() or not name.isascii() or name in _WORDS:
        raise UnsupportedError(f"{name!r:.80} is no name of a variable in Caddie's language")
    return name
