"""Moments of Gaussian variables: products of affine forms by Isserlis' theorem, exponentials by the
moment generating function and by completing the square.

An exponential of an affine form times a density is a density with a shifted mean, that of a
quadratic form one with another covariance too, and a cosine is the real part of an exponential.

References
==========

[I] L. Isserlis, "On a formula for the product-moment coefficient of any order of a normal frequency
distribution in any number of variables", Biometrika 12, 1918.
[W] G.-C. Wick, "The evaluation of the collision matrix", Physical Review 80, 1950.
[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012, chapter 8.
[MP] A. M. Mathai, S. B. Provost, "Quadratic Forms in Random Variables", 1992, theorem 3.2a.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from sympy import Expr, Integer, Rational, S, cos, exp, pi

from ..analysis import Labelled, Labels
from ..core import UnsupportedError, tuning
from ..expressions import (
    EXP,
    Delta,
    Ones,
    Operand,
    Zeros,
    apply_body,
    det,
    inv,
    reshape_node,
    scale,
    slot,
    total_of,
)
from .monomials import AffineForm, Exponent, Monomial, Monomials

# A product of tensors with labelled axes.
Factors = tuple[Labelled, ...]

TWO = (Integer(2), ())
HALF = (S.Half, ())


class SeveralVariablesError(UnsupportedError):
    """A quadratic form of several variables in an exponent: these are integrated one by one."""


class Measure:
    """The means and covariances of affine forms in the variables of a law."""

    def __init__(self, monomials: Monomials):
        self.monomials = monomials

    def mean(self, form: AffineForm) -> list[Factors]:
        """Return the mean of a form as a sum of products."""
        return [((form.mean, form.labels),)]

    def covariance(self, one: AffineForm, other: AffineForm) -> list[Factors]:
        """Return the covariance of two forms as a sum of products. Labels that both forms have are
        one index, and so are the axes of the exponents that the measure is tilted by."""
        covariance = self.monomials.law.covariance
        return [
            (*p.factors, *q.factors, (covariance[p.variable], p.labels + q.labels))
            for p in one.parts
            for q in other.parts
            if p.variable == q.variable
        ]

    def total(self, products: Sequence[Factors], labels: Labels) -> Labelled | None:
        """Add products to one tensor with those of some labels that occur; None for zero."""
        used = {label for product in products for _, own in product for label in own}
        own = tuple([label for label in dict.fromkeys(labels) if label in used])
        terms = [self.monomials.total(product, own) for product in products]
        value = total_of(terms) if terms else S.Zero
        return None if _vanishes(value) else (value, own)

    def covariance_total(self, one: AffineForm, other: AffineForm, axes: Labels) -> Labelled | None:
        """Return the covariance of two forms as one tensor; ``axes`` are those of the measure."""
        if one is other:
            other = self.monomials.renamed(other, other.labels)
        return self.total(self.covariance(one, other), (*one.labels, *other.labels, *axes))


class Tilted(Measure):
    """A measure times exp(y'Qy) for a vector or scalar y of forms, with mean m and covariance S.

    For K = (I - 2QS)^-1 2Q each covariance gains cov(f, y) K cov(y, g), each mean cov(f, y) K m,
    and the integral is det(I - 2QS)^(-1/2) exp(m'Km/2) [MP].

    Parameters
    ==========

    base : the measure
    form, other : y, twice, with different labels
    gain : K, with the labels of both and ``axes``
    root : the root of 1/det(I - 2QS)
    axes : the axes of all exponents so far
    """

    def __init__(
        self,
        base: Measure,
        form: AffineForm,
        other: AffineForm,
        gain: Labelled,
        root: Labelled,
        axes: Labels,
    ):
        super().__init__(base.monomials)
        self._base, self._form, self._other, self._gain = base, form, other, gain
        self._axes = axes
        mean = base.total(base.mean(other), (*other.labels, *axes))
        self.normaliser = [root]
        self._pulled: Labelled | None = None
        if mean is not None:
            labels = (*form.labels, *axes)
            self._pulled = base.total([(gain, mean)], labels)
            first = base.total(base.mean(form), labels)
            assert first is not None
            assert self._pulled is not None
            exponent = base.total([(HALF, first, self._pulled)], axes)
            if exponent is not None:
                self.normaliser.append(_mapped(EXP, exponent))

    def mean(self, form: AffineForm) -> list[Factors]:
        """Return the mean of a form as a sum of products."""
        products = self._base.mean(form)
        left = self._base.covariance_total(form, self._form, self._axes)
        if left is None or self._pulled is None:
            return products
        return [*products, (left, self._pulled)]

    def covariance(self, one: AffineForm, other: AffineForm) -> list[Factors]:
        """Return the covariance of two forms as a sum of products."""
        products = self._base.covariance(one, other)
        left = self._base.covariance_total(one, self._form, self._axes)
        right = self._base.covariance_total(self._other, other, self._axes)
        if left is None or right is None:
            return products
        return [*products, (left, self._gain, right)]


def _tilted_by_scalar(base: Measure, form: AffineForm, factor: Labelled, axes: Labels) -> Tilted:
    """Return a measure times exp(q y^2), entry by entry."""
    variance = base.covariance_total(form, form, axes)
    products: list[Factors] = [((S.One, ()),)]
    if variance is not None:
        products.append(((Integer(-2), ()), factor, variance))
    rest = base.total(products, (*axes, *form.labels))
    if rest is None or rest[0].is_nonpositive:
        raise UnsupportedError(
            "the expectation is infinite: the exponential of a square grows at least as fast as "
            "the density decays"
        )
    gain = base.total([(TWO, factor, _powered(rest, S.NegativeOne))], (*axes, *form.labels))
    assert gain is not None
    return Tilted(base, form, form, gain, _powered(rest, Rational(-1, 2)), axes)


def _tilted_by_vector(
    base: Measure, form: AffineForm, other: AffineForm, quadratic: Labelled, axes: Labels
) -> Tilted:
    """Return a measure times exp(y'Qy) for a form y with axes; Q has the labels of both and some of
    the ``axes`` before them."""
    monomials = base.monomials
    lengths = [monomials.lengths[label] for label in form.labels]
    covariance = base.covariance_total(form, other, axes)
    if covariance is None:
        return Tilted(base, form, other, quadratic, (S.One, ()), axes)
    size = prod(lengths, start=S.One)
    lead = tuple([label for label in axes if label in quadratic[1] or label in covariance[1]])
    first, second, third = monomials.new_labels([size] * 3)

    def as_matrices(value: Labelled, row: int, column: int) -> Labelled:
        own = tuple([label for label in lead if label in value[1]])
        tensor = monomials.total([value], (*own, *form.labels, *other.labels))
        stack = [monomials.lengths[label] for label in own]
        shape = (*stack, size, size)
        matrices = tensor if len(lengths) == 1 else reshape_node(tensor, shape)
        return matrices, (*own, row, column)

    Q = as_matrices(quadratic, first, second)
    rest = base.total(
        [
            ((Delta(size), (first, third)),),
            ((Integer(-2), ()), Q, as_matrices(covariance, second, third)),
        ],
        (*lead, first, third),
    )
    assert rest is not None
    inverse = inv(rest[0]), (*lead, third, first)
    gain = monomials.total([TWO, inverse, Q], (*lead, third, second))
    if len(lengths) != 1:
        stack = [monomials.lengths[label] for label in lead]
        gain = reshape_node(gain, (*stack, *lengths, *lengths))
    root = _powered((det(rest[0]), lead), Rational(-1, 2))
    return Tilted(base, form, other, (gain, (*lead, *form.labels, *other.labels)), root, axes)


def _vanishes(value: Operand) -> bool:
    return isinstance(value, Zeros) or value is S.Zero


def _mapped(body: Expr, value: Labelled) -> Labelled:
    """Apply a function of slot 0 entry by entry."""
    return apply_body(body, (value[0],)), value[1]


def _powered(value: Labelled, exponent: Expr) -> Labelled:
    return _mapped(slot(0) ** exponent, value)


class Pairing(NamedTuple):
    """One term of the expectation of a product of forms: a number times tensors, times i to the
    power of the ``turns``."""

    number: int
    tensors: Factors
    turns: int


def expected(
    monomials: Monomials, term: Monomial, sides: int | None = None
) -> Iterator[tuple[int, Factors]]:
    """Yield the expectation of a monomial as multiples of products, to be added.

    With ``sides`` only those pairings count that pair one of the first ``sides`` forms with one of
    the others: those of the covariance of two products.
    """
    axes = tuple([label for exponent in term.exponents for label in exponent.labels])
    measure, factors, shifts = _tilted(monomials, term)
    factors = [*term.factors, *factors, *_shift_normaliser(measure, shifts, axes)]
    phase: Labelled | None = None
    if term.phase is not None:
        spread = measure.covariance_total(term.phase, term.phase, axes)
        if spread is not None:
            factors.append(_mapped(exp(-slot(0) / 2), spread))
        phase = _mean(measure, term.phase, shifts, axes) or (S.Zero, ())
    labels = {label for _, own in term.factors for label in own}
    parts: list[AffineForm | Exponent] = [*term.forms, *term.exponents]
    labels.update(*[part.labels for part in parts], term.phase.labels if term.phase else ())
    for found in Matchings(measure, term, shifts, axes, sides):
        product = [*factors, *found.tensors]
        if phase is not None:
            turned = cos(slot(0) + (term.quarters + found.turns) * pi / 2)
            product.append(_mapped(turned, phase))
        # The sum over an axis along which the expectation is constant.
        absent = labels.difference(*[own for _, own in product])
        product.extend([(Ones(monomials.lengths[label]), (label,)) for label in sorted(absent)])
        yield found.number, tuple(product)


def _tilted(
    monomials: Monomials, term: Monomial
) -> tuple[Measure, list[Labelled], list[AffineForm]]:
    """Return the measure times the exponentials of all squares, its integral as factors, and the
    affine rests of the exponents."""
    measure = Measure(monomials)
    factors: list[Labelled] = []
    shifts = []
    axes: tuple[int, ...] = ()
    for exponent in term.exponents:
        rest = [own for own in exponent.terms if len(own.forms) < 2]
        squares = [own for own in exponent.terms if len(own.forms) == 2]
        if squares:
            axes += exponent.labels
            tilted, others = _square_tilted(measure, squares, exponent.labels, axes)
            measure = tilted
            factors.extend(tilted.normaliser)
            rest.extend(others)
        shift = monomials.affine(rest, exponent.labels)
        assert shift is not None
        shifts.append(shift)
    return measure, factors, shifts


def _square_tilted(
    measure: Measure, squares: Sequence[Monomial], own: Labels, axes: Labels
) -> tuple[Tilted, list[Monomial]]:
    """Tilt a measure by the exponential of a sum of products of two forms, whose axes are ``own``;
    return it, and affine terms that are left.

    Where all forms are one, with different labels, it is y; otherwise it is a variable, and what
    the forms are besides their linear parts is left.
    """
    monomials = measure.monomials
    forms = [form for square in squares for form in square.forms]
    same = len({key_of(monomials, form)[1:] for form in forms}) == 1
    labels = {form.labels for form in forms}
    if same and len(labels) == 1 and {*own}.issuperset(*labels):
        factor = measure.total([square.factors for square in squares], own)
        assert factor is not None
        return _tilted_by_scalar(measure, forms[0], factor, axes), []
    left: list[Monomial] = []
    if not same:
        variables = {part.variable for form in forms for part in form.parts}
        if len(variables) > 1:
            names = ", ".join(sorted(map(str, variables)))
            raise SeveralVariablesError(
                f"no expectation of exp of a quadratic form of several variables, {names}; take "
                "that by one variable after the other"
            )
        left = [affine for square in squares for affine in _besides_squares(monomials, square)]
        forms = [monomials.variable_form(*variables)]
    form, other = [monomials.renamed(forms[0], ()) for _ in range(2)]
    products: list[Factors] = []
    for square in squares:
        for factors, *ends in _ends(square, same):
            for first, second in (ends, ends[::-1]):
                pairs = zip((*first, *second), (*form.labels, *other.labels), strict=True)
                matched = [(Delta(monomials.lengths[a]), (a, b)) for a, b in pairs]
                products.append((HALF, *factors, *matched))
    quadratic = measure.total(products, (*own, *form.labels, *other.labels))
    if quadratic is None:
        quadratic = (S.Zero, ())
    return _tilted_by_vector(measure, form, other, quadratic, axes), left


def _ends(square: Monomial, same: bool) -> Iterator[tuple[Factors, Labels, Labels]]:
    """Yield the factors and the labels of y, twice: of the forms themselves, or of a variable."""
    one, other = square.forms
    if same:
        yield square.factors, one.labels, other.labels
        return
    for p in one.parts:
        for q in other.parts:
            yield (*square.factors, *p.factors, *q.factors), p.labels, q.labels


def _besides_squares(monomials: Monomials, square: Monomial) -> list[Monomial]:
    """Return what a product of two forms is besides the product of their linear parts."""
    one, other = square.forms
    first, second = _constant_of(monomials, one), _constant_of(monomials, other)
    terms = []
    if not _vanishes(first):
        terms.append(Monomial((*square.factors, (first, one.labels)), (other,)))
    if not _vanishes(second):
        mean = monomials.linear_mean(one)
        linear = AffineForm(mean, one.parts, one.labels)
        terms.append(Monomial((*square.factors, (second, other.labels)), (linear,)))
    return terms


def _constant_of(monomials: Monomials, form: AffineForm) -> Operand:
    """Return the value of a form where the variables are zero."""
    return total_of([form.mean, scale(Integer(-1), monomials.linear_mean(form))])


def key_of(monomials: Monomials, form: AffineForm) -> tuple[object, ...]:
    """Return what equal forms have in common: the mean, and the derivatives by the variables."""
    derivatives = [
        (part.variable, monomials.total(part.factors, form.labels + part.labels))
        for part in form.parts
    ]
    return form.labels, form.mean, frozenset(derivatives)


def _mean(
    measure: Measure, form: AffineForm, shifts: Sequence[AffineForm], axes: Labels
) -> Labelled | None:
    """Return the mean of a form after shifts."""
    products = measure.mean(form)
    labels = [*form.labels, *axes]
    for shift in shifts:
        products = [*products, *measure.covariance(form, shift)]
        labels.extend(shift.labels)
    return measure.total(products, tuple(labels))


def _shift_normaliser(
    measure: Measure, shifts: Sequence[AffineForm], axes: Labels
) -> Iterator[Labelled]:
    """Yield the factors of E[exp(sum of the shifts)]: one for each shift, and one for each two that
    are correlated."""
    for k, shift in enumerate(shifts):
        spread = measure.covariance_total(shift, shift, axes)
        products = measure.mean(shift)
        if spread is not None:
            products = [*products, (HALF, spread)]
        exponent = measure.total(products, (*shift.labels, *axes))
        if exponent is not None:
            yield _mapped(EXP, exponent)
        for other in shifts[:k]:
            both = measure.covariance_total(shift, other, axes)
            if both is not None:
                yield _mapped(EXP, both)


class Matchings:
    """The pairings of some forms [I, W]: each form is paired with another, for their covariance, or
    stays alone, for its mean. Equal forms are paired once, and counted."""

    def __init__(
        self,
        measure: Measure,
        term: Monomial,
        shifts: Sequence[AffineForm],
        axes: Labels,
        sides: int | None,
    ):
        self.measure, self.forms, self.sides = measure, term.forms, sides
        monomials = measure.monomials
        self._is_first = [sides is not None and k < sides for k in range(len(self.forms))]
        keys = [key_of(monomials, form) for form in self.forms]
        self.keys = list(zip(keys, self._is_first, strict=True))
        self.means: list[list[Pairing]] = []
        for form in self.forms:
            alone = []
            mean = _mean(measure, form, shifts, axes)
            if mean is not None:
                alone.append(Pairing(1, (mean,), 0))
            if term.phase is not None:
                turn = measure.covariance_total(form, term.phase, axes)
                if turn is not None:
                    alone.append(Pairing(1, (turn,), 1))
            self.means.append(alone)
        self.axes = axes
        self.pairs: dict[tuple[int, int], Factors | None] = {}
        self.count = 0

    def pair(self, j: int, k: int) -> Factors | None:
        """Return the covariance of two forms as factors, None if they are independent."""
        if (j, k) not in self.pairs:
            products = self.measure.covariance(self.forms[j], self.forms[k])
            if len(products) == 1:
                self.pairs[j, k] = products[0]
            else:
                labels = (*self.forms[j].labels, *self.forms[k].labels, *self.axes)
                total = self.measure.total(products, labels)
                self.pairs[j, k] = None if total is None else (total,)
        return self.pairs[j, k]

    def __iter__(self) -> Iterator[Pairing]:
        for found in self._of(tuple(range(len(self.forms))), self.sides is not None):
            self.count += 1
            if self.count > tuning.MAX_MATCHINGS:
                raise UnsupportedError(
                    f"the moment of a product of {len(self.forms)} forms has more than "
                    f"{tuning.MAX_MATCHINGS} terms"
                )
            yield found

    def _of(self, left: tuple[int, ...], crosses: bool) -> Iterator[Pairing]:
        """Yield the pairings of the forms ``left``, some of which have to cross the sides."""
        if not left:
            if not crosses:
                yield Pairing(1, (), 0)
            return
        first, *others = left
        for alone in self.means[first]:
            for found in self._of(tuple(others), crosses):
                tensors = alone.tensors + found.tensors
                yield Pairing(found.number, tensors, alone.turns + found.turns)
        groups: dict[object, list[int]] = {}
        for k in others:
            groups.setdefault(self.keys[k], []).append(k)
        for same in groups.values():
            k = same[0]
            factors = self.pair(first, k)
            if factors is None:
                continue
            rest = tuple([other for other in others if other != k])
            still = crosses and self._is_first[first] == self._is_first[k]
            for found in self._of(rest, still):
                yield Pairing(len(same) * found.number, factors + found.tensors, found.turns)
