"""Write products with operators and methods: ``A @ x``, ``x*y``, ``A.T``, ``A.sum(axis=0)``.

A product of one or two operands is written by the operator that builds it; a longer one is first
converted to matrix algebra, which has the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core import PRODUCTS_FIRST, Network, tuning
from ..expressions import Operand, TensorExpr, contract
from . import algebra
from .forms import ROW, Form
from .slices import Factors, Labels
from .texts import ATOM, POWER, SUM, Text, Texts, chained, multiplied


def is_distinct(labels: Sequence[int]) -> bool:
    """Tell whether no label occurs twice."""
    return len(set(labels)) == len(labels)


class OperatorText:
    """Write a product of one or two operands with operators and methods, if possible.

    ``A @ x`` calls for the same contraction as ``einsum('ij,j->i', A, x)``, up to the names of the
    indices and the order of the operands; both are canonical in the result.
    """

    def __init__(self, product: Factors, below: Texts):
        self.product = product
        self.operands, self.terms, self.output, self.lengths = product
        self.below = below

    def text(self) -> Text | None:
        """Return the text, or None."""
        if len(self.operands) == 1:
            return self._of_one(self.operands[0], self.terms[0])
        return self._of_two() if len(self.operands) == 2 and not self.product.absent else None

    def _of_one(self, operand: TensorExpr, term: Labels) -> Text | None:
        text = self.below[operand].within(ATOM)
        if len(term) == 2 and term[0] == term[1] and len(self.output) < 2:
            transposed = self.below.transpose(operand).within(ATOM)
            shorter = min(text, transposed, key=len)
            return Text(shorter + (".diagonal()" if self.output else ".trace()"))
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
                return Text(f"{text}.transpose({', '.join(map(str, axes))})")
            return self.below.transpose(operand)
        if list(self.output) != [index for index in term if index in self.output]:
            return None
        summed = [axis for axis, index in enumerate(term) if index not in self.output]
        axis = summed[0] if len(summed) == 1 else tuple(summed)
        return Text(text + (f".sum(axis={axis})" if self.output else ".sum()"))

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

    def _matmul(self, first: int, second: int, index: int) -> Text | None:
        if not self.output and all(len(term) == 1 for term in self.terms):
            return self._dot()
        transposed = self.terms[first][0] == index
        left = self._oriented(first, transposed)
        right = self._oriented(second, self.terms[second][-1] == index)
        orders = len(self.terms[first]), len(self.terms[second])
        if orders == (2, 1):
            row = self.below.row(self.operands[second])
            # ``A.T @ x`` is written ``x @ A`` on the left of another ``@``.
            self.below.rows[self._target()] = chained([row, self._oriented(first, not transposed)])
        if orders == (2, 2):
            self._note_transpose(first, second, index)
        return chained([left, right])

    def _note_transpose(self, first: int, second: int, index: int) -> None:
        """Record ``B.T @ A.T`` as the text of ``(A @ B).T``."""
        left = self._oriented(second, self.terms[second][0] == index)
        right = self._oriented(first, self.terms[first][1] == index)
        self.below.transposes[self._target()] = chained([left, right])

    def _dot(self) -> Text:
        """Write ``x @ A @ y`` in the order with the fewest transposes."""
        found = [
            chained([self.below.row(x), self.below[y]])
            for x, y in (self.operands, self.operands[::-1])
        ]
        return min(found, key=lambda text: (text.shown.count(".T"), text.shown.count("(")))

    def _oriented(self, k: int, turn: bool) -> Text:
        operand = self.operands[k]
        if turn and len(self.terms[k]) == 2:
            return self.below.transpose(operand)
        return self.below[operand]

    def _entrywise(self) -> Text | None:
        sides = []
        for k, term in enumerate(self.terms):
            if term != self.output and (len(term) != 2 or term != self.output[::-1]):
                return None
            sides.append(self._oriented(k, term != self.output))
        return multiplied(sides)

    def _target(self) -> TensorExpr:
        used = {index: self.lengths[index] for term in self.terms for index in term}
        return contract(self.operands, self.terms, self.output, used)


# --- more operands -------------------------------------------------------------------------------


def matrix_text(
    product: Factors, below: Texts, spell: Callable[[Sequence[Operand]], str]
) -> Text | None:
    """Write a product in matrix algebra, or return None; ``spell`` writes axis lengths."""
    operands, terms, output, lengths = product
    if len(output) > 2 or any(len(term) > 2 for term in terms):
        return None
    edges = []
    for operand, term in zip(operands, terms, strict=True):
        transposed = below.transpose(operand) if len(term) == 2 else None
        edges.append((Form("code", (), (below[operand], transposed), len(term)), term))
    result = Network(algebra, edges, output, lengths, PRODUCTS_FIRST).result(output)
    return None if result is None else _Code(spell).text(result)


class _Code:
    """Write forms of products as Python, where rows and columns are both plain vectors."""

    def __init__(self, spell: Callable[[Sequence[Operand]], str]):
        self.spell = spell

    def text(self, form: Form) -> Text | None:
        """Return the text of a form; None if Python has no text for a part of it."""
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
        text, _ = form.data
        return text

    def _stock(self, form: Form) -> Text:
        return Text(self.spell([form.data]), ATOM if form.data.is_Atom else SUM)

    def _ones(self, form: Form) -> Text:
        return Text(f"Ones({self.spell(form.data)})")

    def _identity(self, form: Form) -> Text:
        return Text(f"Delta({self.spell([form.data])})")

    def _transpose(self, form: Form) -> Text | None:
        inside = form.parts[0]
        if form.axes == 2 and inside.kind == "code":
            _, transposed = inside.data
            return transposed
        text = self.text(inside)
        return text if text is None or form.axes != 2 else Text(f"{text.within(ATOM)}.T")

    def _power(self, form: Form) -> Text | None:
        text = self.text(form.parts[0])
        if text is None or not 0 < form.data <= tuning.MAX_CHAIN_POWER:
            return None
        return chained([text] * form.data)

    def _hadamard(self, form: Form) -> Text | None:
        texts = self._texts(form.parts)
        return None if texts is None else multiplied(texts)

    def _hadamard_power(self, form: Form) -> Text | None:
        text = self.text(form.parts[0])
        if text is None or not form.data.is_Integer or form.data < 0:
            return None
        return Text(f"{text.within(ATOM)}**{form.data}", POWER)

    def _diag(self, form: Form) -> Text | None:
        text = self.text(form.parts[0])
        return text and Text(f"diag({text.shown})")

    def _call(self, form: Form) -> Text | None:
        (inside,), (name, _) = form.parts, form.data
        text = self.text(inside)
        if text is None:
            return None
        methods = {"tr": "trace()", "diag": "diagonal()"}
        found = [Text(f"{text.within(ATOM)}.{methods[name]}")]
        if inside.kind == "product" and [part.axes for part in inside.parts] == [2, 2]:
            # ``(A.T @ B).diagonal()`` is ``(A*B).sum(axis=0)``.
            a, b = inside.parts
            for axis, factors in enumerate([(algebra.transpose(a), b), (a, algebra.transpose(b))]):
                if product := self.text(algebra.hadamard(factors)):
                    summed = "" if name == "tr" else f"axis={axis}"
                    found.append(Text(f"{product.within(ATOM)}.sum({summed})"))
        return min(found, key=lambda text: text.shown.count(".T"))

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
        """Write a product of vectors and matrices."""
        # A column times a row is an outer product.
        joints = [k for k in range(1, len(factors)) if factors[k - 1].axes == 1 != factors[k].axes]
        if not joints:
            return self._chain(factors)
        left = self._chain(factors[: joints[0]])
        right = self.text(algebra.transpose(algebra.product(factors[joints[0] :])))
        if len(joints) > 1 or factors[0].axes == ROW or left is None or right is None:
            return None
        return Text(f"outer({left.shown}, {right.shown})")

    def _chain(self, factors: Sequence[Form]) -> Text | None:
        """Write factors without an outer product; a product with ones is a sum."""
        forms: list[Form] = []
        for form in factors:
            is_power = form.kind == "power" and 0 < form.data <= tuning.MAX_CHAIN_POWER
            forms.extend([form.parts[0]] * form.data if is_power else [form])
        texts = self._texts(forms)
        if texts is None:
            return None
        summed = [k for k in sorted({0, len(forms) - 1}) if _is_ones(forms[k])]
        inside = [text for k, text in enumerate(texts) if k not in summed]
        if not summed or not inside:
            return chained(texts)
        order = sum(1 for k in (0, -1) if forms[k].axes == 2) + len(summed)
        whole, axis = chained(inside), 1 if summed[0] else 0
        if len(summed) == order:
            return Text(f"{whole.within(ATOM)}.sum()")
        if whole.shown.endswith(".T") and len(inside) == 1:  # X.sum(axis=0), not X.T.sum(axis=1)
            (form,) = [form for k, form in enumerate(forms) if k not in summed]
            whole, axis = self.text(algebra.transpose(form)) or whole, 1 - axis
        return Text(f"{whole.within(ATOM)}.sum(axis={axis})")


def _is_ones(form: Form) -> bool:
    return form.kind == "ones" or (form.kind == "transpose" and form.parts[0].kind == "ones")
