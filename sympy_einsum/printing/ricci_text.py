"""Write expressions in Ricci calculus, which ``parse(text, syntax="ricci")`` reads.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018, §2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TypeAlias

from sympy import Basic

from ..core import UnsupportedError, children, postorder, transform, tuning
from ..expressions import (
    Einsum,
    Elementwise,
    MatrixFunction,
    Operand,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    View,
    Zeros,
    order_of,
    slot,
    split_body,
)
from .star_text import CONSTANTS, FUNCTIONS, MATRIX_FUNCTIONS, as_sum, number_in, number_text
from .texts import ATOM, POWER, PRODUCT, Text

LETTERS = "ijklmnopqrstuvwxyz"
_NAME = re.compile(r"(?!delta$)[A-Za-z][A-Za-z0-9]*")

# A letter and whether it is an upper or a lower index.
Index: TypeAlias = tuple[str, str]


def ricci_text(root: Operand) -> str:
    """Write an expression; its first axis has an upper index, the others lower ones."""
    order = order_of(root)
    if order > len(LETTERS):
        raise UnsupportedError(f"Ricci calculus has letters for {len(LETTERS)} axes, not {order}")
    depths: dict[Basic, int] = {}
    for node in postorder([root]):
        depths[node] = 1 + max((depths[child] for child in children(node)), default=0)
    if depths[root] > tuning.MAX_RICCI_DEPTH:
        raise UnsupportedError(f"the expression is nested more than {tuning.MAX_RICCI_DEPTH} deep")
    indices = [(letter, "_" if k else "^") for k, letter in enumerate(LETTERS[:order])]
    return _node_text(root, indices, set(LETTERS[:order])).shown


def ricci_latex(root: Operand) -> str:
    r"""Print an expression in Ricci notation as LaTeX.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
    >>> print(ricci_latex(se.exp(A @ x)))
    \operatorname{exp}(A^i{}_j\, x^j)
    """
    text = re.sub(r"\b([A-Za-z][A-Za-z0-9]*)(?=\()", r"\\operatorname{\1}", ricci_text(root))
    # Stagger upper and lower indices, which shows the order of the axes.
    text = re.sub(r"([\^_](?:\{\w+\}|[a-z]))(?=[\^_][a-z{])", r"\1{}", text)
    return re.sub(r"(?<=[^+\- ]) (?=[^+\- ])", r"\\, ", text).replace("δ", r"\delta")


def _text(node: Operand, indices: Sequence[Index], used: set[str]) -> Text:
    """Write a node with given indices, in a term where some letters are used."""
    text = _node_text(node, indices, used)
    if len(text.shown) > tuning.MAX_TEXT:
        raise UnsupportedError(f"the text has more than {tuning.MAX_TEXT} characters")
    # Letters in a scalar are local to it.
    return Text(text.within(ATOM)) if isinstance(node, TensorExpr) and not indices else text


def _node_text(node: Operand, indices: Sequence[Index], used: set[str]) -> Text:
    if isinstance(node, TensorSymbol) or node.is_Symbol:
        return _indexed(_name(node.name), indices)
    if isinstance(node, Zeros):
        return _indexed("0", indices)
    if isinstance(node, Einsum):
        return _product_text(node, indices, used)
    if isinstance(node, TensorAdd):
        has_tensor_term = any(not isinstance(o, View) or o.core is not None for o in node.operands)
        numbers = [number_in(o) if has_tensor_term else None for o in node.operands]
        pairs = zip(node.operands, numbers, strict=True)
        return as_sum([number or _text(o, indices, used) for o, number in pairs])
    if isinstance(node, MatrixFunction) and type(node) in MATRIX_FUNCTIONS:
        one, two = _fresh(used, 2)
        own = indices or [(one, "^"), (two, "_")]
        inside = _text(node.operands[0], own, used | {i for i, _ in own})
        return Text(f"{MATRIX_FUNCTIONS[type(node)]}({inside.shown})")
    if isinstance(node, TensorExpr) and not isinstance(node, Elementwise):
        raise UnsupportedError(f"Ricci calculus has no {type(node).__name__}")
    is_elementwise = isinstance(node, Elementwise)
    body, operands = (node.body, [*node.operands]) if is_elementwise else split_body(node)
    parts: dict[Basic, tuple[Text, bool]] = {}
    for k, operand in enumerate(operands):
        is_full = order_of(operand) > 0
        parts[slot(k)] = _text(operand, indices if is_full else [], used), is_full
    ones = _indexed("1", indices)

    def visit(part: Basic, below: tuple[tuple[Text, bool], ...]) -> tuple[Text, bool]:
        return parts[part] if part in parts else _scalar(part, below, ones)

    return transform([body], visit)[0][0]


def _scalar(expr: Basic, below: Sequence[tuple[Text, bool]], ones: Text) -> tuple[Text, bool]:
    """Write one scalar or entrywise operation, and tell whether it contains indices."""
    if expr in CONSTANTS:
        return Text(CONSTANTS[expr]), False
    if expr.is_Number and expr.is_finite:
        return number_text(expr), False
    texts = [text for text, _ in below]
    is_full = any(full for _, full in below)
    if expr.is_Add:
        return as_sum(
            [
                _joined([text, ones]) if is_full and not full and not arg.is_number else text
                for arg, (text, full) in zip(expr.args, below, strict=True)
            ]
        ), is_full
    if expr.is_Mul:
        return _joined(texts), is_full
    if expr.is_Pow and not below[1][1]:
        base, exponent = texts
        shown = exponent.shown if expr.exp.is_Integer else f"({exponent.shown})"
        return Text(f"{base.within(ATOM)}^{shown}", POWER), is_full
    name = FUNCTIONS.get(type(expr))
    if name is None or len(below) != 1:
        raise UnsupportedError(f"Ricci calculus has no {type(expr).__name__} of this kind")
    return Text(f"{name}({texts[0].shown})"), is_full


def _product_text(node: Einsum, indices: Sequence[Index], used: set[str]) -> Text:
    names: dict[int, Index] = {}
    extra: list[Text] = []
    for label, index in zip(node.output, indices, strict=True):
        if names.setdefault(label, index) != index:
            extra.append(_indexed("δ", [names[label], index]))
    labels = [label for term in node.subscripts for label in term]
    bound = [label for label in dict.fromkeys(labels) if label not in names]
    letters = dict(zip(bound, _fresh(used, len(bound)), strict=True))
    used = used | set(letters.values())
    # Lower in the first factor that has it, upper in the others and where it is repeated.
    homes = Counter(label for term in node.subscripts for label in {*term})
    seen: set[int] = set()
    factors = []
    for operand, term in zip(node.operands, node.subscripts, strict=True):
        own: list[Index] = []
        for place, label in enumerate(term):
            is_again = label in term[:place]
            is_upper = label in seen or (is_again and homes[label] == 1)
            index = names.get(label) or (letters[label], "^" if is_upper else "_")
            if is_again and not isinstance(operand, TensorSymbol):
                # Indices inside the operand are local to it.
                (other,) = _fresh(used, 1)
                used = used | {other}
                extra.append(_indexed("δ", [(other, "^"), index]))
                index = (other, "_")
            own.append(index)
        seen.update(term)
        factors.append(_text(operand, own, used))
    once = [label for label, count in Counter(labels).items() if count == 1 and label in letters]
    extra += [_indexed("1", [(letters[label], "^")]) for label in once]
    repeated = {label for label in node.output if node.output.count(label) > 1}
    absent = [index for label, index in names.items() if label not in {*labels, *repeated}]
    return _joined([*factors, *extra, *([_indexed("1", absent)] if absent else [])])


def _joined(factors: Sequence[Text]) -> Text:
    """Multiply texts."""
    if len(factors) == 1:
        return factors[0]
    if factors[0].shown == "-1":
        rest = _joined(factors[1:])
        return Text(f"-{rest.within(POWER if len(factors) == 2 else PRODUCT)}", PRODUCT)
    return Text(" ".join([factor.within(POWER) for factor in factors]), PRODUCT)


def _indexed(name: str, indices: Sequence[Index]) -> Text:
    """Attach indices to a name, grouping neighbours of one kind."""
    shown = name
    for level, group in groupby(indices, key=lambda index: index[1]):
        letters = "".join(letter for letter, _ in group)
        shown += level + (letters if len(letters) == 1 else f"{{{letters}}}")
    return Text(shown, POWER if indices else ATOM)


def _fresh(used: set[str], count: int) -> list[str]:
    """Return letters that aren't used in a term."""
    free = [letter for letter in LETTERS + "abcdefgh" if letter not in used]
    if len(free) < count:
        raise UnsupportedError("Ricci calculus has too few letters for this term")
    return free[:count]


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UnsupportedError(f"Ricci calculus has no tensor {name!r}")
    return name
