"""Products as one would type them: ``A @ x``, ``x*y``, ``A.T``, ``A.sum(axis=0)``.

A product of one or two operands is written by the operator that makes it; one of more is brought
into matrix algebra and written as that, which has the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import PRODUCTS_FIRST, Network
from ..expressions import contract
from . import algebra
from .forms import ROW, Form

# A quotient is one over something, which a factor on the left may join: y*(1/x) is y/x. A chain is
# a product by @ that a factor on the left may join, 2*A @ x is 2*(A @ x), unless it is open: a
# number in front of a sum would be multiplied into it.
SUM, PRODUCT, QUOTIENT, OPEN, CHAIN, POWER, ATOM = range(7)
Text = tuple[str, int]
# A power of a matrix up to this one is written as a chain.
MAX_POWER = 4


def bracket(text: Text, level: int) -> str:
    """A text, in brackets if it doesn't hold together tightly enough."""
    return text[0] if text[1] >= level else f"({text[0]})"


def is_distinct(labels: Sequence[Any]) -> bool:
    """Whether no label occurs twice."""
    return len(set(labels)) == len(labels)


def chained(texts: Sequence[Text]) -> Text:
    """A product by @."""
    if len(texts) == 1:
        return texts[0]
    first = bracket(texts[0], OPEN)
    rest = [bracket(text, POWER) for text in texts[1:]]
    return " @ ".join([first, *rest]), CHAIN if texts[0][1] >= CHAIN else OPEN


def multiplied(texts: Sequence[Text]) -> Text:
    """A product by *, one over something being divided by."""
    kept = [text for text in texts if text[1] != QUOTIENT]
    above = [
        bracket(text, POWER if k or text[1] != PRODUCT else PRODUCT) for k, text in enumerate(kept)
    ]
    below = [text[0].removeprefix("1") for text in texts if text[1] == QUOTIENT]
    return "*".join(above or ["1"]) + "".join(below), PRODUCT


def turned_text(matrix: Any, below: dict[Any, Text]) -> Text:
    """The text of a transpose; a matrix declared symmetric is its own."""
    if contract((matrix,), ((0, 1),), (1, 0), dict(enumerate(matrix.shape))) is matrix:
        return below[matrix]
    return below.get(("turned", matrix), (f"{bracket(below[matrix], ATOM)}.T", ATOM))


class Short:
    """A product of one or two operands written with operators and methods, or None.

    ``A @ x`` calls for the same contraction as ``einsum('ij,j->i', A, x)``, up to the names of the
    indices and the order of the operands; both are canonical in the result.
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
        text = bracket(self.below[operand], ATOM)
        if len(term) == 2 and term[0] == term[1] and len(self.output) < 2:
            return text + (".diagonal()" if self.output else ".trace()"), ATOM
        if (
            not is_distinct(term)
            or not set(self.output) <= set(term)
            or not is_distinct(self.output)
        ):
            return None
        if len(self.output) == len(term):
            axes = [term.index(index) for index in self.output]
            reverse = axes == list(range(len(term)))[::-1]
            if not reverse:
                return f"{text}.transpose({', '.join(map(str, axes))})", ATOM
            return turned_text(operand, self.below)
        if list(self.output) != [index for index in term if index in self.output]:
            return None
        summed = [axis for axis, index in enumerate(term) if index not in self.output]
        axis = summed[0] if len(summed) == 1 else tuple(summed)
        return text + (f".sum(axis={axis})" if self.output else ".sum()"), ATOM

    def _of_two(self) -> Text | None:
        one, two = self.terms
        if one and set(one) == set(two) == set(self.output) and is_distinct(self.output):
            return self._entrywise()
        shared = set(one) & set(two)
        if len(shared) != 1 or shared & set(self.output) or max(len(one), len(two)) > 2:
            return None
        if not (is_distinct(one) and is_distinct(two)):
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
        left = self._oriented(first, self.terms[first][0] == index)
        right = self._oriented(second, self.terms[second][-1] == index)
        orders = len(self.terms[first]), len(self.terms[second])
        if orders == (2, 1):
            self._note_row(self.operands[second], first, left)
        if orders == (2, 2):
            self._note_turned(first, second, index)
        return chained([left, right])

    def _note_row(self, vector: Any, k: int, matrix: Text) -> None:
        """``A.T @ x`` may be written ``x @ A`` where it stands on the left."""
        turned = matrix[0].endswith(".T") and matrix[1] == ATOM
        operand = self.operands[k]
        text = self.below[operand] if turned else turned_text(operand, self.below)
        row = self._row(vector)
        self.below["row", self._target()] = chained([row, text])

    def _note_turned(self, first: int, second: int, index: Any) -> None:
        """``(A @ B).T`` is written ``B.T @ A.T``."""
        left = self._oriented(second, self.terms[second][0] == index)
        right = self._oriented(first, self.terms[first][1] == index)
        self.below["turned", self._target()] = chained([left, right])

    def _row(self, vector: Any) -> Text:
        return self.below.get(("row", vector), self.below[vector])

    def _dot(self) -> Text:
        """``x @ A @ y``, in the order with the fewest transposes."""
        found = [
            chained([self._row(x), self.below[y]]) for x, y in (self.operands, self.operands[::-1])
        ]
        return min(found, key=lambda text: (text[0].count(".T"), text[0].count("(")))

    def _oriented(self, k: int, turn: bool) -> Text:
        operand = self.operands[k]
        if turn and len(self.terms[k]) == 2:
            return turned_text(operand, self.below)
        return self.below[operand]

    def _entrywise(self) -> Text | None:
        sides = []
        for k, term in enumerate(self.terms):
            if term != self.output and (len(term) != 2 or term != self.output[::-1]):
                return None
            sides.append(self._oriented(k, term != self.output))
        return multiplied(sides)

    def _target(self) -> Any:
        used = {index: self.lengths[index] for index in self._all()}
        return contract(self.operands, self.terms, self.output, used)


# --- more operands -------------------------------------------------------------------------------


def matrix_text(
    operands: Sequence[Any],
    terms: Sequence[Sequence[Any]],
    output: Sequence[Any],
    lengths: dict[Any, Any],
    below: dict[Any, Text],
    spell: Callable[[Sequence[Any]], str],
) -> Text | None:
    """A product in matrix algebra, or None; ``spell`` spells axis lengths."""
    if len(output) > 2 or any(len(term) > 2 for term in terms):
        return None
    edges = []
    for operand, term in zip(operands, terms, strict=True):
        turned = turned_text(operand, below) if len(term) == 2 else None
        edges.append((Form("code", (), (below[operand], turned), len(term)), tuple(term)))
    result = Network(algebra, edges, output, lengths, PRODUCTS_FIRST).result(output)
    return None if result is None else _Code(spell).text(result)


class _Code:
    """Forms of products as Python; rows and columns both are vectors without orientation."""

    def __init__(self, spell: Callable[[Sequence[Any]], str]):
        self.spell = spell

    def text(self, form: Form) -> Text | None:
        """The text of a form, None if it has a part that can't be typed."""
        write = getattr(self, f"_{form.kind}", None)
        return None if write is None else write(form)

    def _texts(self, forms: Sequence[Form]) -> list[Text] | None:
        found = []
        for form in forms:
            text = self.text(form)
            if text is None:
                return None
            found.append(text)
        return found

    def _code(self, form: Form) -> Text:
        return form.data[0]

    def _stock(self, form: Form) -> Text:
        return self.spell([form.data]), ATOM if form.data.is_Atom else SUM

    def _ones(self, form: Form) -> Text:
        return f"Ones({self.spell(form.data)})", ATOM

    def _identity(self, form: Form) -> Text:
        return f"Delta({self.spell([form.data])})", ATOM

    def _transpose(self, form: Form) -> Text | None:
        inside = form.parts[0]
        if form.axes == 2 and inside.kind == "code":
            return inside.data[1]
        text = self.text(inside)
        return text if text is None or form.axes != 2 else (f"{bracket(text, ATOM)}.T", ATOM)

    def _power(self, form: Form) -> Text | None:
        text = self.text(form.parts[0])
        if text is None or not 0 < form.data <= MAX_POWER:
            return None
        return chained([text] * form.data)

    def _hadamard(self, form: Form) -> Text | None:
        texts = self._texts(form.parts)
        return None if texts is None else multiplied(texts)

    def _hadamard_power(self, form: Form) -> Text | None:
        text = self.text(form.parts[0])
        if text is None or not form.data.is_Integer or form.data < 0:
            return None
        return f"{bracket(text, ATOM)}**{form.data}", POWER

    def _diag(self, form: Form) -> Text | None:
        text = self.text(form.parts[0])
        return text and (f"diag({text[0]})", ATOM)

    def _call(self, form: Form) -> Text | None:
        methods = {"tr": "trace", "diag": "diagonal"}
        text = self.text(form.parts[0])
        return text and (f"{bracket(text, ATOM)}.{methods[form.data[0]]}()", ATOM)

    def _product(self, form: Form) -> Text | None:
        negative, count = form.data
        texts = self._texts(form.parts[:count])
        if texts is None or negative:
            return None
        if count < len(form.parts):
            chain = self._factors(form.parts[count:])
            if chain is None:
                return None
            texts.append(chain)
        if len(texts) == 1:
            return texts[0]
        return multiplied(texts)

    def _factors(self, factors: Sequence[Form]) -> Text | None:
        """Vectors and matrices side by side."""
        # A column times a row is an outer product.
        joints = [k for k in range(1, len(factors)) if factors[k - 1].axes == 1 != factors[k].axes]
        if not joints:
            return self._chain(factors)
        left = self._chain(factors[: joints[0]])
        right = self.text(algebra.transpose(algebra.product(factors[joints[0] :])))
        if len(joints) > 1 or factors[0].axes == ROW or left is None or right is None:
            return None
        return f"outer({left[0]}, {right[0]})", ATOM

    def _chain(self, factors: Sequence[Form]) -> Text | None:
        """Factors without an outer product among them; what ones stand next to is summed."""
        forms: list[Form] = []
        for form in factors:
            is_power = form.kind == "power" and 0 < form.data <= MAX_POWER
            forms.extend([form.parts[0]] * form.data if is_power else [form])
        texts = self._texts(forms)
        if texts is None:
            return None
        summed = [k for k in sorted({0, len(forms) - 1}) if _is_ones(forms[k])]
        inside = [text for k, text in enumerate(texts) if k not in summed]
        if not summed or not inside:
            return chained(texts)
        order = sum(1 for k in (0, -1) if forms[k].axes == 2) + len(summed)
        axis = "" if len(summed) == order else f"axis={1 if summed[0] else 0}"
        return f"{bracket(chained(inside), ATOM)}.sum({axis})", ATOM


def _is_ones(form: Form) -> bool:
    return form.kind == "ones" or (form.kind == "transpose" and form.parts[0].kind == "ones")
