"""Einsum products and the sum node: the linear part of the language.

Every product is built by :func:`contract`, which keeps two kinds of nodes apart:

* an :class:`Einsum` that is *dense*: one or more tensor operands, distinct output indices in
  canonical order, each of them in some operand. This is where arithmetic happens.
* a :class:`View`: scalar factors and at most one dense operand, whose axes are permuted, taken
  along a diagonal (repeated input index), put onto a diagonal (repeated output index) or repeated
  along new axes (an output index that occurs in no operand, an implicit factor of ones
  [W, Cor. 7.11]). Deltas and ones are views without an operand.

A view used as an operand disappears: its indices are renamed into the product around it, so
deltas merge [W, thm 6.7], ones that do nothing vanish [W, lemma 7.3], transposes are absorbed,
and neither is ever materialised. ``A @ B`` and ``(A @ B).T`` share their dense node.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
[L] A. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from sympy import Add, Expr, KroneckerDelta, Mul, S

from ..core import Shape, as_shape, sort_key
from .base import TensorExpr
from .leaves import TensorSymbol, Unit, Zeros

# Identical operands can trade places; beyond this many orders their given order is kept.
MAX_ORDERS = 24
# Flattening without a bound would make a running product or a running sum quadratic.
MAX_FACTORS = 16
MAX_TERMS = 64


class Einsum(TensorExpr):
    """A product of tensors by an index string; build it with ``sympy_einsum.einsum``.

    Attributes
    ==========

    subscripts : the indices of each operand, as integers
    output : the indices of the result
    lengths : the length of each index
    """

    __slots__ = ()

    @property
    def subscripts(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each operand."""
        return self.data[0]

    @property
    def output(self) -> tuple[int, ...]:
        """The indices of the result."""
        return self.data[1]

    @property
    def lengths(self) -> Shape:
        """The length of each index."""
        return self.data[2]

    def _own_symbols(self) -> set[Any]:
        """Symbols in the lengths of axes that no operand has."""
        present = {i for term in self.subscripts for i in term}
        return {s for i, n in enumerate(self.lengths) if i not in present for s in n.free_symbols}

    @classmethod
    def _build(cls, operands: tuple[Any, ...], data: tuple[Any, ...]) -> Any:
        subscripts, output, lengths = data
        return contract(operands, subscripts, output, dict(enumerate(lengths)))


class View(Einsum):
    """Scalar factors times at most one tensor, rearranged; nothing is summed."""

    __slots__ = ()

    @property
    def core(self) -> TensorExpr | None:
        """The tensor operand, or None."""
        if self.operands and isinstance(self.operands[-1], TensorExpr) and self.operands[-1].order:
            return self.operands[-1]
        return None

    @property
    def scalars(self) -> tuple[Any, ...]:
        """The scalar factors; a number stands first."""
        return self.operands if self.core is None else self.operands[:-1]

    @property
    def coefficient(self) -> Expr:
        """The numeric factor."""
        first = self.operands[0] if self.operands else S.One
        return first if first.is_Number else S.One

    def without_coefficient(self) -> Any:
        """The view with its numeric factor set to one."""
        if not (self.operands and self.operands[0].is_Number):
            return self
        return Einsum._build(self.operands[1:], (self.subscripts[1:], self.output, self.lengths))

    @property
    def is_constant_fill(self) -> bool:
        """Whether all entries are the same scalar."""
        return self.core is None and len(set(self.output)) == len(self.output)


class Ones(View):
    """The tensor of ones.

    >>> import sympy_einsum as se
    >>> se.Ones(2, 3).shape
    (2, 3)
    """

    __slots__ = ()

    def __new__(cls, *lengths: Any) -> Any:
        shape = as_shape(lengths)
        return contract((), (), range(len(shape)), dict(enumerate(shape)))


class Delta(View):
    """The delta tensor [W, def. 2.2; L, eq. 4.2]: ``Delta(n)`` is the identity matrix.

    ``Delta(m, n)`` has shape (m, n, m, n) and the entries δ_ik δ_jl.

    >>> import sympy_einsum as se
    >>> se.Delta(2, 3).shape, se.Delta(3).T is se.Delta(3)
    ((2, 3, 2, 3), True)
    """

    __slots__ = ()

    def __new__(cls, *lengths: Any) -> Any:
        shape = as_shape(lengths)
        return contract((), (), [*range(len(shape))] * 2, dict(enumerate(shape)))


# --- the product ---------------------------------------------------------------------------------


def contract(
    operands: Sequence[Any],
    subscripts: Sequence[Sequence[Any]],
    output: Sequence[Any],
    lengths: Mapping[Any, Any],
) -> Any:
    """The canonical expression of a product.

    ``lengths`` holds exactly the labels in use. Lengths and orders are taken to be right;
    operations.einsum checks what users give. An output label in no operand is an axis of ones, a
    label in ``lengths`` alone is summed over and gives a factor. A sum of no entries is 0.
    """
    if any(length is S.Zero and label not in output for label, length in lengths.items()):
        return Zeros(*[lengths[label] for label in output])
    scalars: list[Any] = []
    tensors: list[Any] = []
    subs: list[Sequence[Any]] = []
    merged: dict[Any, Any] = {}
    absorbed = False
    for operand, labels in zip(operands, subscripts, strict=True):
        if isinstance(operand, View):
            absorbed = True
            outer: dict[int, Any] = {}
            for index, label in zip(operand.output, labels, strict=True):
                if outer.setdefault(index, label) != label:
                    _merge(merged, outer[index], label)
            scalars.extend(operand.scalars)
            if operand.core is not None:
                tensors.append(operand.core)
                subs.append([outer[index] for index in operand.subscripts[-1]])
        elif isinstance(operand, Zeros):
            return Zeros(*[lengths[label] for label in output])
        elif labels:
            tensors.append(operand)
            subs.append(labels)
        else:
            scalars.append(operand)
    if merged:
        subs = [[_find(merged, label) for label in labels] for labels in subs]
        output = [_find(merged, label) for label in output]
    present = {label for labels in subs for label in labels}
    if absorbed:
        # What only ones stood on: its sum is its length.
        for label, length in lengths.items():
            if label not in present and label not in output and label not in merged:
                scalars.append(length)
    if any(type(tensor) is Unit for tensor in tensors):
        tensors, subs = _merge_units(tensors, subs, output, scalars)
        present = {label for labels in subs for label in labels}
    gone = _cancelled(tensors, subs) if len(tensors) > 1 else ()
    if gone:
        tensors = [tensor for k, tensor in enumerate(tensors) if k not in gone]
        subs = [labels for k, labels in enumerate(subs) if k not in gone]
        left = {label for labels in subs for label in labels}
        scalars.extend(lengths[i] for i in lengths if i in present - left and i not in output)
        present = left
    factors = _collect_scalars(scalars) if scalars else []
    if factors is None:
        return Zeros(*[lengths[label] for label in output])
    return _canonical(factors, tensors, subs, output, lengths, present)


def _cancelled(tensors: Sequence[Any], subs: Sequence[Sequence[Any]]) -> set[int]:
    """The powers of one tensor that make a one together: x / x, as in SymPy's products."""
    powers = [tensor.as_entry_power() for tensor in tensors]
    if not any(exponent.is_negative for _, exponent in powers):
        return set()
    groups: dict[Any, list[int]] = {}
    for k, (base, _) in enumerate(powers):
        groups.setdefault((base, tuple(subs[k])), []).append(k)
    zero = [group for group in groups.values() if sum([powers[k][1] for k in group]) == 0]
    return {k for group in zero for k in group}


def written_out(
    operands: Sequence[Any],
    subscripts: Sequence[Sequence[int]],
    lengths: Mapping[int, Any],
    opens: Callable[[Any, Sequence[Any]], bool],
) -> tuple[list[Any], list[tuple[int, ...]], dict[int, Any]]:
    """A product with those of its operands that are products, and that ``opens`` wants among the
    others, written out in their place, under index names of their own."""
    operands, terms, lengths = list(operands), [tuple(t) for t in subscripts], dict(lengths)
    k = 0
    while k < len(operands):
        inner = operands[k]
        if not opens(inner, operands):
            k += 1
            continue
        rename = dict(zip(inner.output, terms[k], strict=True))
        for index, length in enumerate(inner.lengths):
            if index not in rename:
                rename[index] = len(lengths)
                lengths[len(lengths)] = length
        operands[k : k + 1] = inner.operands
        terms[k : k + 1] = [tuple([rename[i] for i in term]) for term in inner.subscripts]
    return operands, terms, lengths


def _merge(merged: dict[Any, Any], a: Any, b: Any) -> None:
    a, b = _find(merged, a), _find(merged, b)
    if a != b:
        merged[b] = a


def _find(merged: dict[Any, Any], label: Any) -> Any:
    while label in merged:
        label = merged[label]
    return label


def _merge_units(
    tensors: list[Any], subs: list[Sequence[Any]], output: Sequence[Any], scalars: list[Any]
) -> tuple[list[Any], list[Sequence[Any]]]:
    """Unit vectors on one index: e_p e_q = δ_pq e_p, and the sum of e_p alone is one."""
    units: dict[Any, Any] = {}
    kept: list[tuple[Any, Sequence[Any]]] = []
    for tensor, labels in zip(tensors, subs, strict=True):
        if type(tensor) is not Unit:
            kept.append((tensor, labels))
        elif labels[0] in units:
            scalars.append(KroneckerDelta(units[labels[0]].position, tensor.position))
        else:
            units[labels[0]] = tensor
    used = {label for _, labels in kept for label in labels}.union(output)
    kept.extend((unit, (label,)) for label, unit in units.items() if label in used)
    return [tensor for tensor, _ in kept], [labels for _, labels in kept]


def _collect_scalars(scalars: list[Any]) -> list[Any] | None:
    """[number?, factor?]: the numeric coefficient, then one factor for the rest; None for zero."""
    number = S.One
    rest: list[Any] = []
    for scalar in scalars:
        if scalar.is_Number:
            number *= scalar
        elif scalar is not S.One:
            if scalar.is_Mul and scalar.args[0].is_Number:
                coefficient, scalar = scalar.as_coeff_Mul()
                number *= coefficient
            rest.append(scalar)
    if not number:  # asking is_zero of a new number costs hundreds of calls
        return None
    if len(rest) > 1:
        factor = scalar_product(rest)
        if factor is S.Zero:
            return None
        coefficient, factor = factor.as_coeff_Mul()
        number *= coefficient
        rest = [] if factor is S.One else [factor]
    return rest if number is S.One else [number, *rest]


def scalar_product(factors: Sequence[Any]) -> Any:
    """A product of scalars: SymPy's Mul, or from MAX_FACTORS on an opaque node of order 0."""
    if sum(len(f.args) if f.is_Mul else 1 for f in factors) <= MAX_FACTORS:
        return Mul(*factors)
    ordered = tuple(sorted(factors, key=sort_key))
    return Einsum._intern(ordered, (((),) * len(ordered), (), ()), ())


def _canonical(
    factors: list[Any],
    tensors: list[Any],
    subs: list[Sequence[Any]],
    output: Sequence[Any],
    lengths: Mapping[Any, Any],
    present: set[Any],
) -> Any:
    """Sort, rename, and split into a view over a dense product."""
    if not output and not tensors:
        return scalar_product(factors) if factors else S.One
    if len(tensors) > 1:
        tensors, subs = _sort_operands(tensors, subs, output)
    if tensors and not (len(tensors) == 1 and present.issubset(output)):
        number = _number_labels(subs)
        dense_output = sorted({number[label] for label in output if label in number})
        data = (
            tuple([tuple([number[label] for label in labels]) for labels in subs]),
            tuple(dense_output),
            tuple([lengths[label] for label in number]),
        )
        shape = tuple([data[2][i] for i in dense_output])
        dense = Einsum._intern(tuple(tensors), data, shape)
        if not output:
            return scalar_product([*factors, dense]) if factors else dense
        if not factors and [number.get(label) for label in output] == dense_output:
            return dense
        labels = list(number)
        if dense_output:
            tensors, subs = [dense], [[labels[i] for i in dense_output]]
        else:
            found = _collect_scalars([*factors, dense])
            assert found is not None
            factors, tensors, subs = found, [], []
    if tensors and _is_symmetric(tensors[0], subs[0], output):
        output = subs[0]
    if tensors and list(output) == list(subs[0]) and len(present) == len(output):
        if not factors:
            return tensors[0]
        if len(factors) == 1 and factors[0].is_Number and isinstance(tensors[0], TensorAdd):
            return _collect_terms(factors[0], tensors)
    number = _number_labels([*subs, output])
    core_indices = [tuple([number[label] for label in labels]) for labels in subs]
    data = (
        tuple([()] * len(factors) + core_indices),
        tuple([number[label] for label in output]),
        tuple([lengths[label] for label in number]),
    )
    kind = View
    if not factors and not tensors:
        half = len(output) // 2
        if len(number) == len(output):
            kind = Ones
        elif data[1] == tuple(range(half)) * 2:
            kind = Delta
    shape = tuple([lengths[label] for label in output])
    return kind._intern((*factors, *tensors), data, shape)


def _is_symmetric(core: Any, labels: Sequence[Any], output: Sequence[Any]) -> bool:
    """Whether a tensor is the same with its axes permuted: a matrix that is declared so, or a
    product of repeated operands, as AᵀA is."""
    if len(labels) != len(output) or set(labels) != set(output):
        return False
    if type(core) is TensorSymbol:
        return core.is_symmetric
    if type(core) is not Einsum or len(set(core.operands)) == len(core.operands):
        return False
    index_of = dict(zip(labels, core.output, strict=True))
    permuted = [index_of[label] for label in output]
    _, subs = _sort_operands(list(core.operands), list(core.subscripts), permuted)
    number = _number_labels(subs)
    renamed = tuple([tuple([number[i] for i in term]) for term in subs])
    return renamed == core.subscripts and [number[i] for i in permuted] == list(core.output)


def _number_labels(subs: Iterable[Sequence[Any]]) -> dict[Any, int]:
    """Labels numbered by first appearance."""
    number: dict[Any, int] = {}
    for labels in subs:
        for label in labels:
            number.setdefault(label, len(number))
    return number


def _sort_operands(
    tensors: list[Any], subs: list[Sequence[Any]], output: Sequence[Any]
) -> tuple[list[Any], list[Sequence[Any]]]:
    """Operands in canonical order; identical ones are tried in every order [W, lemma 5.1]."""
    order = sorted(range(len(tensors)), key=lambda k: sort_key(tensors[k]))
    tensors = [tensors[k] for k in order]
    subs = [subs[k] for k in order]
    if len(set(tensors)) == len(tensors):
        return tensors, subs
    groups: list[list[int]] = []
    for k, tensor in enumerate(tensors):
        if groups and tensors[groups[-1][0]] is tensor:
            groups[-1].append(k)
        else:
            groups.append([k])
    if prod(factorial(len(group)) for group in groups) > MAX_ORDERS:
        return tensors, subs
    best: Any = None
    for choice in product(*[permutations(group) for group in groups]):
        candidate = [subs[k] for group in choice for k in group]
        number = _number_labels([*candidate, output])
        code = [[number[label] for label in labels] for labels in [*candidate, output]]
        if best is None or code < best[0]:
            best = (code, candidate)
    return tensors, best[1]


# --- the sum -------------------------------------------------------------------------------------


class TensorAdd(TensorExpr):
    """A sum of tensors of one shape, like terms collected; reached through ``A + B``."""

    __slots__ = ()

    @classmethod
    def _build(cls, operands: tuple[Any, ...], data: tuple[Any, ...]) -> Any:
        return tensor_sum(operands)


def scale(factor: Any, tensor: Any) -> Any:
    """A tensor times a scalar."""
    axes = range(tensor.order)
    return contract((factor, tensor), ((), axes), axes, dict(enumerate(tensor.shape)))


def _multiple(number: Any, core: Any) -> Any:
    """A number times a term; a sum too long to be flattened stays whole."""
    if not isinstance(core, TensorAdd):
        return scale(number, core)
    axes = tuple(range(core.order))
    return View._intern((number, core), (((), axes), axes, core.shape), core.shape)


def split_coefficient(tensor: Any) -> tuple[Any, Any]:
    """The numeric factor of a term and the rest."""
    if isinstance(tensor, View) and tensor.coefficient is not S.One:
        return tensor.coefficient, tensor.without_coefficient()
    return S.One, tensor


def tensor_sum(terms: Sequence[Any]) -> Any:
    """The canonical sum of tensors of one shape: like terms collected, zeros gone."""
    return _collect_terms(S.One, terms)


def _repeated_sum(tensor: Any) -> TensorAdd | None:
    """The sum that a tensor repeats along axes, and nothing else; other terms take it apart."""
    if not isinstance(tensor, View) or len(tensor.operands) != 1:
        return None
    core = tensor.core
    is_sum = isinstance(core, TensorAdd)
    return core if is_sum and len(axes_with_entries([tensor])) < tensor.order else None


def axes_with_entries(tensors: Sequence[Any]) -> list[int]:
    """The axes of tensors of one shape on which they aren't all repeated: a function of tensors
    that are repeated along an axis is repeated too, and that of a column x[:, None] is a column."""
    kept: set[int] = set()
    for tensor in tensors:
        if not isinstance(tensor, View):
            return list(range(tensor.order))
        own = tensor.subscripts[-1] if tensor.core is not None else ()
        output = tensor.output
        kept.update(k for k, i in enumerate(output) if i in own or output.count(i) > 1)
    return sorted(kept)


def on_axes(operands: Sequence[Any], kept: Sequence[int]) -> list[Any]:
    """Tensors without the axes along which they are repeated; scalars stay."""
    short = []
    for operand in operands:
        if isinstance(operand, View):
            output = [operand.output[k] for k in kept]
            used = {i for term in operand.subscripts for i in term}.union(output)
            lengths = {i: operand.lengths[i] for i in used}
            operand = contract(operand.operands, operand.subscripts, output, lengths)
        short.append(operand)
    return short


def along(value: Any, kept: Sequence[int], shape: Shape) -> Any:
    """A value on some axes of a shape, repeated along the others."""
    return contract((value,), (kept,), range(len(shape)), dict(enumerate(shape)))


def _collect_terms(factor: Any, terms: Sequence[Any]) -> Any:
    """A number times a sum, multiplied out, so that ``2 * (A + B)`` is ``(A + B) + (A + B)``."""
    collected: dict[Any, Any] = {}
    pending = [(factor, term) for term in reversed(terms)]
    while pending:
        outer, term = pending.pop()
        coefficient, core = split_coefficient(term)
        coefficient = coefficient if outer is S.One else outer * coefficient
        repeated = _repeated_sum(core)
        total = core if repeated is None else repeated
        if isinstance(total, TensorAdd) and len(total.operands) <= MAX_TERMS:
            inside: Sequence[Any] = total.operands
            if repeated is not None:
                lengths = dict(enumerate(core.lengths))
                inside = [contract((o,), core.subscripts, core.output, lengths) for o in inside]
            pending.extend((coefficient, inner) for inner in reversed(inside))
        elif core in collected:
            collected[core] += coefficient
        elif not isinstance(core, Zeros):
            collected[core] = coefficient
    kept = [(core, c) for core, c in collected.items() if c]
    if not kept:
        return Zeros(*terms[0].shape)
    kept.sort(key=lambda pair: sort_key(pair[0]))
    scaled = tuple([core if c is S.One else _multiple(c, core) for core, c in kept])
    if len(scaled) == 1:
        return scaled[0]
    shape = terms[0].shape
    axes = axes_with_entries(scaled)
    if len(axes) == len(shape):
        return TensorAdd._intern(scaled, (), shape)
    short = on_axes(scaled, axes)
    return along(tensor_sum(short) if axes else Add(*short), axes, shape)
