"""Render forms: one method per kind, composed of primitives that each output implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from sympy import (
    Basic,
    Derivative,
    Dummy,
    Expr,
    ImmutableDenseMatrix,
    Integer,
    Subs,
    Tuple,
    exp,
    sympify,
)
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.printer import Printer

from ..core import FLOAT_DIGITS, is_long, step, transform
from ..expressions import STOCK_OPERATORS, TensorExpr, as_number, indicator_condition, slot
from .forms import ATOM, BINDERS, HADAMARD, POWER, PRODUCT, SUM, Form, Position, call, indices
from .gathers import GATHERED
from .slices import Cut, Range

# A rendered part.
Shown = TypeVar("Shown")

PRECEDENCES = {
    SUM: PRECEDENCE["Add"],
    HADAMARD: PRECEDENCE["Mul"],
    PRODUCT: PRECEDENCE["Mul"],
    POWER: PRECEDENCE["Pow"],
    ATOM: PRECEDENCE["Atom"],
}


class PrintedAtom(Dummy):
    """Stand for rendered output inside SymPy expressions."""

    shown: Any
    level: int

    @property
    def precedence(self) -> int:
        """The precedence by which SymPy's printers place brackets."""
        return PRECEDENCES[self.level]

    @property
    def free_symbols(self) -> set[Basic]:
        """Several, so that derivatives are shown as partial ones."""
        return {self, Dummy()}

    def _latex(self, printer: Printer, exp: str | None = None) -> object:
        return self.shown if exp is None else f"{self.shown}^{{{exp}}}"

    def _pretty(self, printer: Printer) -> object:
        return self.shown

    def _mathml_presentation(self, printer: Printer) -> object:
        return self.shown.cloneNode(True)


def _indicator_of(x: Expr, *at_0: Expr) -> Expr:
    return step(x, *at_0) if at_0 else as_number(x > 0)


def _printed_atom(shown: object, level: int) -> PrintedAtom:
    atom = PrintedAtom("s", real=True)
    atom.shown, atom.level = shown, level
    return atom


# Not a Symbol: printers would style or bracket it again.
PrintedAtom.is_Symbol = False


class Renderer(Generic[Shown]):
    """Render forms in one output; subclasses implement rows, superscripts and subscripts."""

    tokens: Mapping[str, Shown]
    # Functions whose arguments SymPy's printer formats as plain text, with their formats.
    replacements: ClassVar[Mapping[type, Callable[..., Expr]]] = {}

    def __init__(self, printer: Printer):
        self.printer = printer

    # --- primitives of an output

    def row(self, items: Sequence[Shown]) -> Shown:
        """Place parts and tokens side by side."""
        raise NotImplementedError

    def bracketed(self, inside: Shown) -> Shown:
        """Enclose a part in round brackets."""
        raise NotImplementedError

    def boxed(self, inside: Shown) -> Shown:
        """Enclose a condition in Iverson brackets."""
        raise NotImplementedError

    def fenced(self, inside: Shown) -> Shown:
        """Enclose a part in the bars of a norm."""
        raise NotImplementedError

    def raised(self, base: Shown, exponent: Shown) -> Shown:
        """Add a superscript."""
        raise NotImplementedError

    def lowered(self, base: Shown, index: Shown) -> Shown:
        """Add a subscript."""
        raise NotImplementedError

    def word(self, name: str) -> Shown:
        """Return the name of a function."""
        raise NotImplementedError

    def with_definitions(self, formula: Shown, definitions: Sequence[tuple[Shown, Shown]]) -> Shown:
        """Place the definitions of names below a formula."""
        raise NotImplementedError

    def letter(self, name: str) -> Shown:
        """Return the name of an index."""
        raise NotImplementedError

    def summation(self, indices: Shown, last: Shown | None, inside: Shown) -> Shown:
        """Write a sum over indices, with an upper limit if one is given."""
        raise NotImplementedError

    def tensor(self, name: str) -> Shown:
        """Return the name of a tensor."""
        raise NotImplementedError

    def ready(self, shown: Shown, level: int) -> Shown:
        """Annotate a part with its precedence, if the output needs it."""
        return shown

    # --- the walk

    def render(self, form: Form) -> Shown:
        """Render a form, recursively, because forms are shallow."""
        return getattr(self, f"_{form.kind}")(form)

    def at_least(self, form: Form, level: int) -> Shown:
        """Render a form, in brackets if its precedence is lower than a level."""
        shown = self.render(form)
        return shown if form.level >= level else self.bracketed(shown)

    def expression(self, expr: Basic) -> Shown:
        """Print a SymPy expression; numbers of too many digits rounded to those of doubles."""

        def visit(node: Basic, new: tuple[Basic, ...]) -> Basic:
            if node.is_Number and is_long(node):
                return node.evalf(FLOAT_DIGITS)
            if type(node) in self.replacements:
                return self.replacements[type(node)](*new)
            return node.func(*new) if new != node.args and new else node

        shown = transform([expr], visit, lambda e: () if isinstance(e, TensorExpr) else e.args)
        return self.printer._print(shown[0])

    def separated(self, items: Sequence[Shown], token: str = "comma") -> Shown:
        """Join parts by a token."""
        joined: list[Shown] = []
        for item in items:
            joined += [self.tokens[token], item] if joined else [item]
        return self.row(joined)

    def normed(self, inside: Shown, order: int) -> Shown:
        """Write the Euclidean norm of a vector, the Frobenius norm of other tensors."""
        index = self.expression(Integer(2)) if order == 1 else self.tokens["frobenius"]
        return self.lowered(self.fenced(inside), index)

    def applied(self, body: Expr, parts: Sequence[Form]) -> Shown:
        """Print a scalar expression by SymPy's printer with rendered parts in the slots."""
        atoms = {}
        for k, part in enumerate(parts):
            atoms[slot(k)] = self._atom(part)
        shown = body.xreplace(atoms).replace(step, _indicator_of)
        shown = shown.replace(lambda part: indicator_condition(part) is not None, self._indicator)
        return self.expression(shown)

    def _atom(self, part: Form) -> PrintedAtom:
        """Wrap a rendered part as a SymPy scalar."""
        return _printed_atom(self.ready(self.render(part), part.level), part.level)

    def _indicator(self, number: Expr) -> Expr:
        """Write [x > 0], which is 1 where the condition holds, else 0."""
        condition = self.boxed(self.expression(indicator_condition(number)))
        return _printed_atom(self.ready(condition, ATOM), ATOM)

    # --- leaves

    def _stock(self, form: Form) -> Shown:
        return self.expression(form.data)

    def _array(self, form: Form) -> Shown:
        return self.expression(form.data)

    def _block(self, form: Form) -> Shown:
        parts = [self._atom(part) for part in form.parts]
        return self.expression(ImmutableDenseMatrix(*form.data, parts))

    def _symbol(self, form: Form) -> Shown:
        return self.tensor(form.data[0].name)

    def _ones(self, form: Form) -> Shown:
        return self.tokens["ones"]

    def _zeros(self, form: Form) -> Shown:
        return self.tokens["zeros"]

    def _identity(self, form: Form) -> Shown:
        return self.tokens["identity"]

    def _unit(self, form: Form) -> Shown:
        return self.lowered(self.tokens["unit"], self.expression(form.data[0]))

    # --- sums and products

    def _sum(self, form: Form) -> Shown:
        items: list[Shown] = []
        for term in form.parts:
            negative = term.kind == "product" and term.data[0]
            shown = self._factors(term) if negative else self.render(term)
            if term.kind == "stock" and term.data.is_Number and term.data.is_negative:
                negative, shown = True, self.expression(-term.data)
            if items:
                items.append(self.tokens["minus" if negative else "plus"])
            elif negative:
                items.append(self.tokens["negative"])
            items.append(shown)
        return self.row(items)

    def _product(self, form: Form) -> Shown:
        shown = self._factors(form)
        return self.row([self.tokens["negative"], shown]) if form.data[0] else shown

    def _factors(self, form: Form) -> Shown:
        scalars, last = form.data[1], len(form.parts) - 1
        items: list[Shown] = []
        for k, part in enumerate(form.parts):
            if k:
                # exp(x) (a + b) reads like a function of a + b.
                call = form.parts[k - 1].kind in ("call", "applied", "diag")
                items.append(self.tokens["dot" if call and _opens_with_bracket(part) else "times"])
            open_end = part.kind in (*BINDERS, "logdet") and k == last
            number = part.kind == "stock" and part.level == PRODUCT
            alone = part.level == HADAMARD and k == scalars == last
            bare = last == 0 or open_end or number or alone
            items.append(self.render(part) if bare and part.level else self.at_least(part, POWER))
        return self.row(items)

    def _hadamard(self, form: Form) -> Shown:
        return self.separated([self.at_least(part, POWER) for part in form.parts], form.kind)

    _quotient = _kron = _cross = _hadamard

    def _sigma(self, form: Form) -> Shown:
        shown = self.at_least(form.parts[0], HADAMARD)
        bounded = [limit for limit in form.data if _is_bounded(form, limit)]
        for index, low, high in reversed(bounded):
            first = self.row([self._index(index), self.tokens["equal"], self._index(low)])
            shown = self.summation(first, self._index(high), shown)
        free = [index for index, *rest in form.data if (index, *rest) not in bounded]
        return self.summation(self._indices(free), None, shown) if free else shown

    def _max(self, form: Form) -> Shown:
        word = self.lowered(self.word(form.kind), self._indices([k for k, *_ in form.data]))
        return self.row([word, self.tokens["space"], self.at_least(form.parts[0], HADAMARD)])

    _min = _max

    # --- superscripts

    def _transpose(self, form: Form) -> Shown:
        inside = form.parts[0]
        if inside.kind == "power" and inside.data == -1:
            both = self.row([self.tokens["negative"], self.tokens["transpose"]])
            return self.raised(self.at_least(inside.parts[0], ATOM), both)
        return self.raised(self.at_least(inside, ATOM), self.tokens["transpose"])

    def _power(self, form: Form) -> Shown:
        return self.raised(self.at_least(form.parts[0], ATOM), self.expression(sympify(form.data)))

    def _hadamard_power(self, form: Form) -> Shown:
        exponent: Shown = self.expression(form.data)
        if form.axes:
            exponent = self.row([self.tokens["circle"], exponent])
        return self.raised(self.at_least(form.parts[0], ATOM), exponent)

    def _norm(self, form: Form) -> Shown:
        norm = self.normed(self.render(form.parts[0]), form.parts[0].axes)
        return self.raised(norm, self.expression(Integer(2)))

    # --- functions

    def _call(self, form: Form) -> Shown:
        name, note = form.data
        word = self.word(name)
        if note is not None:
            shown = self.separated([self.expression(sympify(part)) for part in note])
            word = self.lowered(word, self.bracketed(shown) if len(note) != 1 else shown)
        if not form.parts:
            return word
        inside = self.separated([self.render(part) for part in form.parts])
        return self.row([word, self.bracketed(inside)])

    _diag = _call

    def _field(self, form: Form) -> Shown:
        nabla, inside = self.tokens["nabla"], self.at_least(form.parts[0], ATOM)
        if form.data == "laplacian":
            return self.row([self.raised(nabla, self.expression(Integer(2))), inside])
        return self.row([nabla, self.tokens["cross" if form.data == "curl" else "dot"], inside])

    def _unknown(self, form: Form) -> Shown:
        name, degree, is_of_scalar = form.data
        word = self.tensor(name)
        inside = self.bracketed(self.render(form.parts[0]))
        if is_of_scalar:
            return self.row([word, *[self.tokens["prime"]] * degree, inside])
        if degree < 2:
            return self.row([*[self.tokens["gradient"]] * degree, word, inside])
        nabla = self.raised(self.tokens["nabla"], self.expression(Integer(degree)))
        return self.row([nabla, word, inside])

    def _unevaluated(self, form: Form) -> Shown:
        kind, count, counts = form.data
        function, *others = map(self._atom, form.parts)
        variables, values = others[:count], others[count:]
        # Not by SymPy's constructors, to which atoms are independent of each other.
        if not counts:
            shown = Basic.__new__(STOCK_OPERATORS[kind], function, Tuple(*others))
        else:
            own = [Tuple(variables[k], number) for k, number in counts]
            shown = Basic.__new__(Derivative, function, *own)
        if counts and values:
            shown = Basic.__new__(Subs, shown, Tuple(*variables), Tuple(*values))
        return self.printer._print(shown)

    def _logdet(self, form: Form) -> Shown:
        inside = self.bracketed(self.render(form.parts[0]))
        return self.row([self.word("log"), self.tokens["space"], self.word("det"), inside])

    def _applied(self, form: Form) -> Shown:
        if form.axes and isinstance(form.data, exp):
            # e to the power of a matrix would be the matrix exponential.
            return self.row([self.word("exp"), self.bracketed(self.render(form.parts[0]))])
        return self.applied(form.data, form.parts)

    # --- indices

    def _index(self, label: str | Position) -> Shown:
        if isinstance(label, str):
            return self.letter(label)
        rising = [pair for pair in label.terms if not pair[0].could_extract_minus_sign()]
        falling = [pair for pair in label.terms if pair not in rising]
        items: list[Shown] = []
        for times, index in rising:
            items += [self.tokens["plus"], *self._multiple(times, index)]
        value = label.value
        if not value.is_zero or not items:
            is_less = bool(items) and value.could_extract_minus_sign() and not value.is_Add
            items += [self.tokens["minus" if is_less else "plus"]]
            items.append(self.expression(-value if is_less else value))
        for times, index in falling:
            items += [self.tokens["minus"], *self._multiple(-times, index)]
        return self.row(items[1:])

    def _multiple(self, times: Expr, index: int | str) -> list[Shown]:
        """Write a multiple of an index."""
        if times == 1:
            return [self.letter(str(index))]
        shown = self.expression(times)
        factor = self.bracketed(shown) if times.is_Add else shown
        return [factor, self.tokens["times"], self.letter(str(index))]

    def _indices(self, labels: Sequence[str | Position]) -> Shown:
        items = [self._index(label) for label in labels]
        plain = all(isinstance(label, str) for label in labels)
        return self.row(items) if plain else self.separated(items, "thin comma")

    def _entry(self, form: Form) -> Shown:
        return self.lowered(self.at_least(form.parts[0], ATOM), self._indices(form.data))

    def _delta(self, form: Form) -> Shown:
        return self.lowered(self.tokens["delta"], self._indices(form.data))

    def _ordered(self, form: Form) -> Shown:
        return self.boxed(self.separated([self._index(label) for label in form.data], "at most"))

    def _triangle(self, form: Form) -> Shown:
        offset, is_lower = form.data
        note = None if offset.is_zero else (-offset if is_lower else offset,)
        return self._call(call("tril" if is_lower else "triu", form.parts[0], axes=2, note=note))

    def _slice(self, form: Form) -> Shown:
        items = [self._cut(part) for part in form.data]
        return self.lowered(self.at_least(form.parts[0], ATOM), self.separated(items, "thin comma"))

    def _gather(self, form: Form) -> Shown:
        tensor, *positions = form.parts
        arrays = map(self.render, positions)
        items = [next(arrays) if part == GATHERED else self._cut(part) for part in form.data]
        return self.lowered(self.at_least(tensor, ATOM), self.separated(items, "thin comma"))

    def _cut(self, part: Cut) -> Shown:
        if part is None:
            return self.tokens["colon"]
        if not isinstance(part, Range):
            return self.expression(part)
        items = [] if part.start is None else [self.expression(part.start)]
        items.append(self.tokens["colon"])
        if part.stop is not None:
            items.append(self.expression(part.stop))
        if part.step != 1:
            items += [self.tokens["colon"], self.expression(part.step)]
        return self.row(items)

    # --- index strings

    def _wenig(self, form: Form) -> Shown:
        inputs, output = form.data
        head = self._index_string(inputs, output)
        operands = self.separated([self.render(part) for part in form.parts])
        items = [head, self.tokens["semicolon"], operands] if form.parts else [head]
        return self.row([self.tokens["hash"], self.bracketed(self.row(items))])

    def _star(self, form: Form) -> Shown:
        head = self.bracketed(self._index_string(*form.data))
        one, two = (self.at_least(part, POWER) for part in form.parts)
        return self.separated([one, self.lowered(self.tokens["star"], head), two], "space")

    def _index_string(self, inputs: Sequence[str], output: str) -> Shown:
        words = [self.row([self.letter(k) for k in word]) for word in inputs]
        result = self.row([self.letter(k) for k in output])
        return self.row([self.separated(words, "thin comma"), self.tokens["to"], result])


def _is_bounded(form: Form, limit: tuple[str, str | Position, str | Position]) -> bool:
    """Tell whether the limits of a sum are shown: not those of a whole axis."""
    index, low, high = limit
    is_whole = isinstance(low, Position) and low.value.is_zero and not low.terms
    is_whole = is_whole and isinstance(high, Position) and not high.terms
    return not is_whole or any(
        isinstance(label, Position) and index in indices(label) for label in form.parts[0].labels
    )


def _opens_with_bracket(form: Form) -> bool:
    """Tell whether a factor starts with a bracket."""
    while form.kind in ("transpose", "power", "hadamard_power", "entry") and form.level >= POWER:
        form = form.parts[0]
    return form.level < POWER
