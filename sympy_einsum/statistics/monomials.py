"""Expressions in random variables as sums of monomials: products of tensors without randomness,
affine forms, and exponentials, cosines and sines of these.

Every axis has a label, and equal labels are one index, as in an einsum: a label that isn't one of
the expression's axes is summed over. Sums of affine terms stay one affine form, ``A @ x - b``, so
that moments come out in terms of its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations_with_replacement, count
from typing import Any, NamedTuple

import sympy
from sympy import Expr, Integer, Pow, Rational, S, log

from ..analysis import Labelled, Labels, is_positive
from ..core import UnsupportedError, tuning
from ..expressions import (
    Delta,
    Einsum,
    Elementwise,
    Operand,
    Reshape,
    Slot,
    TensorAdd,
    TensorExpr,
    apply_body,
    contract_part,
    free_leaves,
    is_tensor,
    reshape_node,
    shape_of,
    total_of,
)
from .gaussians import Law


class LinearPart(NamedTuple):
    """A product of tensors with a random variable."""

    factors: tuple[Labelled, ...]
    variable: Operand
    labels: Labels


class AffineForm(NamedTuple):
    """An affine form in the random variables: its mean, and its parts that are linear in the
    deviations of the variables from theirs. ``labels`` are its axes."""

    mean: Operand
    parts: tuple[LinearPart, ...]
    labels: Labels


class Monomial(NamedTuple):
    """A product.

    Attributes
    ==========

    factors : tensors without randomness
    forms : affine forms
    exponents : sums of monomials of degree at most 2, each with its axes, whose exponentials are
        factors
    phase, quarters : an affine form and an integer k: cos(phase + kπ/2) is a factor; None for none
    """

    factors: tuple[Labelled, ...] = ()
    forms: tuple[AffineForm, ...] = ()
    exponents: tuple[Exponent, ...] = ()
    phase: AffineForm | None = None
    quarters: int = 0

    @property
    def is_polynomial(self) -> bool:
        """Whether there are no exponentials and cosines."""
        return not self.exponents and self.phase is None

    @property
    def is_affine(self) -> bool:
        """Whether it is a form times a tensor without randomness, or such a tensor."""
        return self.is_polynomial and len(self.forms) < 2


class Exponent(NamedTuple):
    """The argument of an exponential: a sum of monomials with some axes."""

    terms: tuple[Monomial, ...]
    labels: Labels


ONE = Monomial()


class Monomials:
    """The expansion of expressions in the variables of a law."""

    def __init__(self, law: Law):
        self.law = law
        self.lengths: dict[int, Expr] = {}
        self._new = count()

    # --- labels

    def new_labels(self, shape: Iterable[Expr]) -> Labels:
        """Return new labels for axes of some lengths."""
        labels = []
        for length in shape:
            label = next(self._new)
            self.lengths[label] = length
            labels.append(label)
        return tuple(labels)

    def total(self, factors: Sequence[Labelled], output: Labels) -> Operand:
        """Contract factors to a tensor with the axes ``output``."""
        operands = [operand for operand, _ in factors]
        return contract_part(operands, [labels for _, labels in factors], output, self.lengths)

    def renamed(self, value: Any, kept: Labels) -> Any:
        """Return a copy of a monomial, or of a part, in which all labels but some are new."""
        new: dict[int, int] = {label: label for label in kept}

        def labels_of(labels: Labels) -> Labels:
            for label in labels:
                if label not in new:
                    (new[label],) = self.new_labels([self.lengths[label]])
            return tuple([new[label] for label in labels])

        return _with_labels(value, labels_of)

    # --- expansion

    def is_random(self, node: Operand) -> bool:
        """Tell whether an expression depends on the variables."""
        return not free_leaves(node).isdisjoint(self.law.mean)

    def of(self, node: Operand, labels: Labels) -> list[Monomial]:
        """Expand an expression whose axes have some labels."""
        if not self.is_random(node):
            return [Monomial(((node, labels),))]
        if node in self.law.mean:
            return [Monomial(forms=(self._variable(node, labels),))]
        if not isinstance(node, TensorExpr):
            return self._of_scalar(node, {}, labels)
        if isinstance(node, TensorAdd):
            return self._sum([self.of(operand, labels) for operand in node.operands], labels)
        if isinstance(node, Einsum):
            return self._of_product(node, labels)
        if isinstance(node, Elementwise):
            values = dict(enumerate(node.operands))
            return self._of_scalar(node.body, values, labels)
        if isinstance(node, Reshape):
            return self._of_reshaped(node, labels)
        raise _unsupported(node)

    def variable_form(self, variable: Operand) -> AffineForm:
        """Return a variable as a form with axes of its own."""
        return self._variable(variable, self.new_labels(shape_of(variable)))

    def linear_mean(self, form: AffineForm) -> Operand:
        """Return the mean of a form without its constant."""
        means = [
            self.total([*part.factors, (self.law.mean[part.variable], part.labels)], form.labels)
            for part in form.parts
        ]
        return total_of(means)

    def _variable(self, node: Operand, labels: Labels) -> AffineForm:
        mean = self.total([(self.law.mean[node], labels)], tuple(dict.fromkeys(labels)))
        return AffineForm(mean, (LinearPart((), node, labels),), tuple(dict.fromkeys(labels)))

    def _of_product(self, node: Einsum, labels: Labels) -> list[Monomial]:
        label_of: dict[int, int] = {}
        deltas: list[Labelled] = []
        for index, label in zip(node.output, labels, strict=True):
            if label_of.setdefault(index, label) != label:
                deltas.append((Delta(self.lengths[label]), (label_of[index], label)))
        for index, length in enumerate(node.lengths):
            if index not in label_of:
                (label_of[index],) = self.new_labels([length])
        below = [
            self.of(operand, tuple([label_of[i] for i in term]))
            for operand, term in zip(node.operands, node.subscripts, strict=True)
        ]
        summed = {label for i, label in label_of.items() if i not in node.output}
        return [
            self._with_lengths(term, summed)
            for term in self.product([[Monomial(tuple(deltas))], *below], node)
        ]

    def _with_lengths(self, term: Monomial, summed: set[int]) -> Monomial:
        """Multiply by the lengths of summed axes along which a monomial is constant."""
        absent = summed - _labels_in([term])
        lengths = tuple([(self.lengths[label], ()) for label in sorted(absent)])
        return term._replace(factors=(*lengths, *term.factors)) if absent else term

    def _of_reshaped(self, node: Reshape, labels: Labels) -> list[Monomial]:
        """Reshape the tensors of an affine form; of other expressions nothing is known."""
        (operand,) = node.operands
        inner = self.new_labels(operand.shape)
        form = self.affine(self.of(operand, inner), inner)
        if form is None:
            raise _unsupported(node)
        parts = []
        for part in form.parts:
            own = self.new_labels(shape_of(part.variable))
            unit = self.total([*part.factors, *self._matched(part.labels, own)], (*inner, *own))
            shape = (*node.shape, *shape_of(part.variable))
            parts.append(
                LinearPart(((reshape_node(unit, shape), (*labels, *own)),), part.variable, own)
            )
        mean = self.total([(form.mean, form.labels)], inner)
        distinct = tuple(dict.fromkeys(labels))
        reshaped = self.total([(reshape_node(mean, node.shape), labels)], distinct)
        return [Monomial(forms=(AffineForm(reshaped, tuple(parts), distinct),))]

    def _matched(self, labels: Labels, others: Labels) -> list[Labelled]:
        """Return deltas that make labels equal to others."""
        pairs = zip(labels, others, strict=True)
        return [(Delta(self.lengths[label]), (label, other)) for label, other in pairs]

    # --- scalar expressions, and bodies of elementwise functions

    def _of_scalar(
        self, expr: Expr, values: Mapping[int, Operand], labels: Labels
    ) -> list[Monomial]:
        """Expand a scalar expression whose slots stand for the ``values``."""
        used = [s.place for s in expr.free_symbols if isinstance(s, Slot)] if values else []
        if not self.is_random(expr) and not any(self.is_random(values[k]) for k in used):
            return [Monomial((self._constant(expr, values, labels),))]
        if isinstance(expr, Slot) and values:
            value = values[expr.place]
            return self.of(value, labels if is_tensor(value) else ())
        if isinstance(expr, TensorExpr) or expr in self.law.mean:
            return self.of(expr, ())

        def below(part: Expr) -> list[Monomial]:
            return self._of_scalar(part, values, labels)

        if expr.is_Add:
            return self._sum([below(arg) for arg in expr.args], labels)
        if expr.is_Mul:
            return self.product([below(arg) for arg in expr.args], expr)
        exponent = self._exponent_of(expr, values)
        if exponent is not None:
            return [self._exponential(below(exponent), _shown(expr, values), labels)]
        if expr.is_Pow and expr.exp.is_Integer and expr.exp.is_positive:
            return self._power(below(expr.base), int(expr.exp), expr, labels)
        if isinstance(expr, (sympy.sinh, sympy.cosh)):
            return below(expr.rewrite(sympy.exp))
        if isinstance(expr, (sympy.sin, sympy.cos)):
            phase = self.affine(below(expr.args[0]), labels)
            if phase is not None:
                return [Monomial(phase=phase, quarters=3 if isinstance(expr, sympy.sin) else 0)]
        raise _unsupported(_shown(expr, values))

    def _constant(self, expr: Expr, values: Mapping[int, Operand], labels: Labels) -> Labelled:
        value = apply_body(expr, [values[k] for k in range(len(values))]) if values else expr
        return value, labels if is_tensor(value) else ()

    def _exponent_of(self, expr: Expr, values: Mapping[int, Operand]) -> Expr | None:
        """Return y of exp(y), and of a power with a positive base; None for other expressions."""
        if isinstance(expr, sympy.exp):
            return expr.args[0]
        if not isinstance(expr, Pow) or self.is_random(expr.base):
            return None
        base = expr.base
        value = values.get(base.place, base) if isinstance(base, Slot) else base
        known = is_positive(value) if isinstance(value, TensorExpr) else value.is_positive
        return expr.exp * log(base) if known and not self.is_random(value) else None

    def _exponential(self, terms: list[Monomial], shown: Operand, labels: Labels) -> Monomial:
        if any(len(term.forms) > 2 or not term.is_polynomial for term in terms):
            raise UnsupportedError(
                f"no expectation of {str(shown)[:80]} of a Gaussian tensor: exponentials have "
                "arguments of degree at most 2 in it"
            )
        used = _labels_in(terms)
        own = tuple([label for label in dict.fromkeys(labels) if label in used])
        return Monomial(exponents=(Exponent(tuple(terms), own),))

    # --- sums, products, powers

    def _sum(self, sums: Sequence[list[Monomial]], labels: Labels) -> list[Monomial]:
        """Add expansions; affine terms become one form."""
        terms = [term for expansion in sums for term in expansion]
        affine = [term for term in terms if term.is_affine]
        if len(affine) < 2:
            return terms
        form = self.affine(affine, labels)
        assert form is not None
        one = Monomial(forms=(form,)) if form.parts else Monomial(((form.mean, form.labels),))
        return [one, *[term for term in terms if not term.is_affine]]

    def affine(self, terms: Sequence[Monomial], labels: Labels) -> AffineForm | None:
        """Return a sum as an affine form with some axes; None if it isn't affine."""
        if not all(term.is_affine for term in terms):
            return None
        used = _labels_in(terms)
        own = tuple([label for label in dict.fromkeys(labels) if label in used])
        means, parts = [], []
        for term in terms:
            factors = list(term.factors)
            for form in term.forms:
                parts.extend(
                    [part._replace(factors=(*factors, *part.factors)) for part in form.parts]
                )
                factors.append((form.mean, form.labels))
            means.append(self.total(factors, own))
        return AffineForm(total_of(means) if means else S.Zero, tuple(parts), own)

    def product(self, sums: Sequence[list[Monomial]], shown: object) -> list[Monomial]:
        """Multiply expansions."""
        return reduce(lambda one, other: self._times(one, other, shown), sums)

    def _times(self, one: list[Monomial], other: list[Monomial], shown: object) -> list[Monomial]:
        size = len(one) * len(other)
        if size > tuning.MAX_MONOMIALS:
            raise UnsupportedError(
                f"no expectation of {str(shown)[:80]}: it has {size} terms multiplied out, more "
                f"than {tuning.MAX_MONOMIALS}"
            )
        return [term for a in one for b in other for term in self._multiplied(a, b)]

    def _multiplied(self, a: Monomial, b: Monomial) -> list[Monomial]:
        joined = Monomial(
            a.factors + b.factors, a.forms + b.forms, self._joined(a.exponents + b.exponents)
        )
        if a.phase is None or b.phase is None:
            carrier = b if a.phase is None else a
            return [joined._replace(phase=carrier.phase, quarters=carrier.quarters)]
        # 2 cos α cos β = cos(α - β) + cos(α + β)
        half = joined._replace(factors=((Rational(1, 2), ()), *joined.factors))
        return [
            half._replace(
                phase=self._combined(a.phase, sign, b.phase),
                quarters=(a.quarters + sign * b.quarters) % 4,
            )
            for sign in (-1, 1)
        ]

    def _combined(self, one: AffineForm, sign: int, other: AffineForm) -> AffineForm:
        """Add a multiple of a form to another, along the axes of both."""
        labels = tuple(dict.fromkeys((*one.labels, *other.labels)))
        number = (Integer(sign), ())
        parts = [
            part._replace(factors=(number, *part.factors))
            for part in self.renamed(other, other.labels).parts
        ]
        terms = [[(one.mean, one.labels)], [number, (other.mean, other.labels)]]
        mean = total_of([self.total(term, labels) for term in terms])
        own = self.renamed(one, one.labels).parts
        return AffineForm(mean, (*own, *parts), labels)

    def _joined(self, exponents: tuple[Exponent, ...]) -> tuple[Exponent, ...]:
        """Add the exponents that have the same axes."""
        found: dict[frozenset[int], Exponent] = {}
        for exponent in exponents:
            key = frozenset(exponent.labels)
            if key in found:
                known = found[key]
                exponent = known._replace(terms=known.terms + exponent.terms)
            found[key] = exponent
        return tuple(found.values())

    def _power(
        self, base: list[Monomial], power: int, shown: object, labels: Labels
    ) -> list[Monomial]:
        """Multiply out a power by the multinomial theorem."""
        form = self.affine(base, labels)
        if form is not None:
            base = [Monomial(forms=(form,))]
        coefficients = sympy.multinomial_coefficients(len(base), power)
        if len(coefficients) > tuning.MAX_MONOMIALS:
            self._times([ONE] * len(coefficients), [ONE], shown)
        terms = []
        for chosen in combinations_with_replacement(range(len(base)), power):
            number = coefficients[tuple([chosen.count(k) for k in range(len(base))])]
            start = ONE if number == 1 else Monomial(((Integer(number), ()),))
            copies = [[self.renamed(base[k], labels)] for k in chosen]
            terms.extend(self.product([[start], *copies], shown))
        return terms


def _shown(expr: Expr, values: Mapping[int, Operand]) -> Operand:
    """Return the expression of a body, for an error message."""
    return apply_body(expr, [values[k] for k in range(len(values))]) if values else expr


def _unsupported(node: Operand) -> UnsupportedError:
    return UnsupportedError(
        f"no expectation of {str(node)[:80]}, {_described(node)} of a Gaussian tensor; there are "
        "those of polynomials, of exp, sin, cos, sinh and cosh of affine forms, of exp of "
        "quadratic forms, and of products of these"
    )


def _described(node: Operand) -> str:
    kind = node.body if isinstance(node, Elementwise) else node
    return f"the {type(kind).__name__}"


def _labels_in(terms: Iterable[Monomial]) -> set[int]:
    """Return the labels of all tensors of a sum."""
    found: set[int] = set()

    def visit(labels: Labels) -> Labels:
        found.update(labels)
        return labels

    for term in terms:
        _with_labels(term, visit)
    return found


def _with_labels(value: Any, change: Callable[[Labels], Labels]) -> Any:
    """Change the labels of a monomial, or of a part."""
    if isinstance(value, AffineForm):
        parts = tuple([_with_labels(part, change) for part in value.parts])
        return AffineForm(value.mean, parts, change(value.labels))
    if isinstance(value, LinearPart):
        factors = tuple([(operand, change(labels)) for operand, labels in value.factors])
        return LinearPart(factors, value.variable, change(value.labels))
    if isinstance(value, Exponent):
        terms = tuple([_with_labels(term, change) for term in value.terms])
        return Exponent(terms, change(value.labels))
    return Monomial(
        tuple([(operand, change(labels)) for operand, labels in value.factors]),
        tuple([_with_labels(form, change) for form in value.forms]),
        tuple([_with_labels(exponent, change) for exponent in value.exponents]),
        None if value.phase is None else _with_labels(value.phase, change),
        value.quarters,
    )
