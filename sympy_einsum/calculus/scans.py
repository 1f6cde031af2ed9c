"""Derivatives of loops: the tangent of a recurrence is a recurrence of its tangents; its cotangent
is one that runs the other way, the adjoint equation [G, §15].

With c_(t+1) = f(c_t, x_t, w) and y_t = g(c_t, x_t, w), and cotangents λ_T of the last carry and ȳ_t
of the values,

    λ_t = (∂f/∂c)' λ_(t+1) + (∂g/∂c)' ȳ_t,    x̄_t = (∂f/∂x)' λ_(t+1) + (∂g/∂x)' ȳ_t,
    w̄ = Σ_t (∂f/∂w)' λ_(t+1) + (∂g/∂w)' ȳ_t.

The adjoint loop reads stored values of the forward loop: carries, and results of functions and
contractions that it would recompute otherwise; it reads other results instead of carries if these
have no more entries. Sums over the steps w̄ are products of all steps at once where their factors
are smaller than the terms.

References
==========

[G] A. Griewank, A. Walther, "Evaluating Derivatives", 2nd edition, 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple, TypeAlias

from sympy import Basic, Expr, Mul, S

from ..analysis import inlined_product, is_symmetric
from ..contraction_order import nominal_size
from ..core import Shape, children, postorder, same_length
from ..expressions import (
    LAST,
    VALUES,
    BoundTensor,
    Carry,
    Einsum,
    Elementwise,
    Operand,
    Recurrence,
    ScanInput,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    View,
    Zeros,
    closed_loop,
    contract,
    depending,
    loop_of,
    order_of,
    replace_nodes,
    scale,
    shape_of,
    total_of,
)
from ..operations import moveaxis, swapaxes
from ..rules import tidy, with_shared_products, with_symmetric_symbols

# The sweeps, which these functions call for the body.
Pullback: TypeAlias = Callable[
    [Sequence[Operand], Sequence[Operand], Sequence[Operand], Sequence[Expr]], list[Operand]
]
Pushforward: TypeAlias = Callable[
    [Operand, Sequence[Operand], Sequence[Operand], Sequence[Expr]], Operand
]
# A result of a loop: its kind and place.
Result: TypeAlias = tuple[str, int]


class LoopNode(NamedTuple):
    """The loop of some results, as a node between them and their operands."""

    operands: tuple[Operand, ...]
    data: tuple[object, ...]
    # As of SymPy's expressions.
    args: tuple[()] = ()
    is_Mul: bool = False

    @property
    def loop(self) -> Recurrence:
        """The loop."""
        return loop_of(self.operands, (LAST, 0, *self.data))


def pull_back_loop(
    loop: Recurrence,
    cotangents: Mapping[Result, Operand],
    active: Collection[int],
    outer: Shape,
    pullback: Pullback,
) -> dict[int, Operand]:
    """Return the cotangents of some operands of a loop, by their numbers, from those of results; of
    shapes outer + operand.shape."""
    if len(cotangents) == 1:
        ((result, cotangent),) = cotangents.items()
        factor, rest = _without_scalars(cotangent)
        if factor is not S.One:
            # The adjoint loop is linear.
            found = pull_back_loop(loop, {result: rest}, active, outer, pullback)
            return {k: scale(factor, own) for k, own in found.items()}
    loop = with_symmetric_symbols(loop)
    variables = _active_parameters(loop, active)
    adjoint = _Adjoint(loop, outer)
    carried = [carry.symbol for carry in loop.carries]
    roots, seeds = [], []
    ends: dict[int, Operand] = {}
    for k, carry in enumerate(loop.carries):
        if carry.symbol in variables:
            roots.append(carry.new)
            seeds.append(adjoint.seed(k))
            end = cotangents.get((LAST, k), Zeros(*shape_of(seeds[-1])))
            ends[k] = _as_symmetric(carry.symbol, end, len(outer))
    for (kind, place), cotangent in cotangents.items():
        if kind == VALUES:
            steps = moveaxis(cotangent, len(outer), 0)
            value = loop.values[place]
            roots.append(value)
            seeds.append(adjoint.read("value", place, shape_of(value), steps))
    pulled = [
        _as_symmetric(variable, own, len(outer)) if variable in carried else own
        for variable, own in zip(variables, pullback(roots, variables, seeds, outer), strict=True)
    ]
    pulled = with_shared_products(pulled, loop.outputs)
    pulled = adjoint.with_stored(tidy(pulled, None, loop.outputs)[0])
    return adjoint.cotangents(dict(zip(variables, pulled, strict=True)), ends, active)


def _without_scalars(tensor: Operand) -> tuple[Expr, Operand]:
    """Return the scalar factors of a tensor, and the tensor without them."""
    if not shape_of(tensor):
        return tensor, S.One
    if not isinstance(tensor, View) or not tensor.scalars:
        return S.One, tensor
    count = len(tensor.scalars)
    lengths = dict(enumerate(tensor.lengths))
    rest = contract(tensor.operands[count:], tensor.subscripts[count:], tensor.output, lengths)
    return Mul(*tensor.scalars), rest


def _as_symmetric(symbol: Basic, derivative: Operand, first: int) -> Operand:
    """Return the symmetric part of a derivative by a carry that is a symmetric matrix, whose axes
    begin at ``first``: it moves in symmetric directions only, and an antisymmetric part, even of
    rounding errors, may grow from step to step."""
    is_matrix = isinstance(symbol, TensorSymbol) and symbol.is_symmetric
    if not is_matrix or (order_of(derivative) == 2 and is_symmetric(derivative)):
        return derivative
    congruence = _symmetric_congruence(derivative)
    return _symmetric_part(derivative, first) if congruence is None else congruence


def _symmetric_part(tensor: Operand, first: int) -> Operand:
    """Return half the sum of a tensor and the tensor with two of its axes exchanged."""
    return scale(S.Half, total_of([tensor, swapaxes(tensor, first, first + 1)]))


def _symmetric_congruence(matrix: Operand) -> Operand | None:
    """Return the symmetric part of a product A.T @ M @ A, with that of the sum M in it."""
    if not isinstance(matrix, (View, Einsum)) or order_of(matrix) != 2:
        return None
    product = inlined_product(matrix)
    for place, operand in enumerate(product.operands):
        if isinstance(operand, TensorAdd) and operand.order == 2 and same_length(*operand.shape):
            labels = product.subscripts[place]
            known = BoundTensor("symmetric", place, 0, operand.shape, ("symmetric",))
            if is_symmetric(product.replaced([place], [(known, labels)]).build()):
                part = _symmetric_part(operand, 0)
                return product.replaced([place], [(part, labels)]).build()
    return None


class _Adjoint:
    """Builds the adjoint loop: holds the symbols of its step and their values."""

    def __init__(self, loop: Recurrence, outer: Shape):
        self.loop = loop
        self.outer = outer
        self.inputs: dict[Basic, Operand] = {}

    def bound(self, kind: str, place: int, shape: Shape) -> BoundTensor:
        """Return a symbol of the step for a cotangent."""
        return BoundTensor(kind, place, self.loop.level, (*self.outer, *shape))

    def seed(self, place: int) -> BoundTensor:
        """Return the symbol for the cotangent of a carry, symmetric if that is."""
        symbol = self.loop.carries[place].symbol
        own = self.bound("adjoint", place, symbol.shape)
        return own.assuming("symmetric") if symbol.is_symmetric and not self.outer else own

    def read(self, kind: str, place: int, shape: Shape, stacked: Operand) -> BoundTensor:
        """Return the symbol of an input of the step that is a cotangent."""
        symbol = self.bound(kind, place, shape)
        self.inputs[symbol] = stacked
        return symbol

    def with_stored(self, pulled: Sequence[Operand]) -> list[Operand]:
        """Replace values of the forward loop, in expressions of the adjoint step, by inputs: next
        values of carries, and results that cost more to compute than to read."""
        loop, level = self.loop, self.loop.level
        varying = loop.parameters[: len(loop.carries) + len(loop.inputs)]
        steps: set[Basic] = {*varying, loop.index}
        after = {
            carry.new: _symbol_of(carry.new, "after", k, level)
            for k, carry in enumerate(loop.carries)
            if _is_costly(carry.new) and not loop.recomputes
        }
        pulled = replace_nodes(pulled, after)
        changing = {*depending(pulled, {*steps, *after.values()})}
        backward = {*depending(pulled, {*self.inputs, *self._adjoints()})}
        stored: dict[Operand, BoundTensor] = {}

        def below(node: Basic) -> Sequence[Basic]:
            if node not in changing:
                return ()
            is_read = _is_costly(node) and not loop.recomputes and self._keeps_its_shape(node)
            if node not in backward and is_read:
                if node not in stored:
                    stored[node] = _symbol_of(node, "stored", len(stored), level)
                return ()
            return children(node)

        for root in pulled:
            postorder([root], below)
        pulled = replace_nodes(pulled, stored)
        # In the forward loop the next values of carries are expressions.
        known_forward = replace_nodes([*stored], {symbol: new for new, symbol in after.items()})
        read: dict[Basic, Operand] = {own.symbol: own.symbol for own in loop.carries}
        read |= {symbol: new for new, symbol in after.items()}
        read |= dict(zip(stored.values(), known_forward, strict=True))
        if not loop.recomputes:
            results = [*filter(self._keeps_its_shape, postorder(loop.outputs))]
            names = replace_nodes(replace_nodes(results, after), stored)
            result_of = dict(zip(names, results, strict=True))
            cotangents = {*self.inputs, *self._adjoints()}
            instead = {
                node: _symbol_of(node, "stored", len(stored) + k, level)
                for k, node in enumerate(_read_instead(pulled, result_of, read, cotangents))
            }
            pulled = replace_nodes(pulled, instead)
            read |= {symbol: result_of[node] for node, symbol in instead.items()}
        used = {*depending(pulled, {*steps, *read})}
        read = {symbol: value for symbol, value in read.items() if symbol in used}
        values = list(dict.fromkeys([*loop.values, *read.values()]))
        forward = loop._replace(values=tuple(values))
        for symbol, value in read.items():
            self.inputs[symbol] = forward.result(VALUES, values.index(value))
        for own in loop.inputs:
            if own.symbol in used:
                self.inputs[own.symbol] = own.stacked
        return replace_nodes(pulled, loop.invariant_values)

    def _keeps_its_shape(self, node: Basic) -> bool:
        """Tell whether the values of a node at all steps can be stacked."""
        return not any(length.has(self.loop.index) for length in shape_of(node))

    def _adjoints(self) -> list[BoundTensor]:
        return [self.seed(k) for k in range(len(self.loop.carries))]

    def cotangents(
        self, pulled: Mapping[Basic, Operand], ends: Mapping[int, Operand], active: Collection[int]
    ) -> dict[int, Operand]:
        """Return the cotangents of operands, given the adjoint step and the final adjoints."""
        loop = self.loop
        adjoints = self._adjoints()
        carries: list[Carry] = []
        for k, end in ends.items():
            carries.append(Carry(adjoints[k], end, pulled[loop.carries[k].symbol]))
        values: list[Operand] = []
        sums: dict[int, list[_Term]] = {}
        first = len(loop.carries) + len(loop.inputs)
        varying = {*self.inputs, *adjoints, loop.index}
        places: dict[int, int] = {}
        for number in active:
            symbol = loop.parameters[number]
            if number < len(loop.carries):
                continue
            if number < first:
                values.append(pulled[symbol])
                continue
            terms, rest = _split(pulled[symbol], varying)
            sums[number] = terms
            values += [v for term in terms for v in term.varying if v not in self.inputs]
            if rest:
                total = BoundTensor("sum", number, loop.level, shape_of(pulled[symbol]))
                places[number] = len(carries)
                zeros = Zeros(*shape_of(total))
                carries.append(Carry(total, zeros, total_of([total, *rest])))
        values = list(dict.fromkeys(values))
        place_of = {value: k for k, value in enumerate(values)}
        inputs = [ScanInput(symbol, own) for symbol, own in self.inputs.items()]
        back = closed_loop(loop.length, not loop.reverse, loop.index, carries, inputs, values)
        found: dict[int, Operand] = {}
        for number in active:
            symbol = loop.parameters[number]
            if number < len(loop.carries):
                found[number] = back.result(LAST, [*ends].index(number))
            elif number < first:
                stacked = back.result(VALUES, place_of[pulled[symbol]])
                found[number] = moveaxis(stacked, 0, len(self.outer))
            else:
                stacks = {
                    value: self.inputs[value]
                    if value in self.inputs
                    else back.result(VALUES, place_of[value])
                    for term in sums[number]
                    for value in term.varying
                }
                parts = [term.over_steps(stacks, loop.length) for term in sums[number]]
                if number in places:
                    parts.append(back.result(LAST, places[number]))
                found[number] = total_of([Zeros(*self.outer, *shape_of(symbol)), *parts])
        return found


def _symbol_of(node: Operand, kind: str, number: int, level: int) -> BoundTensor:
    """Return the symbol of the adjoint step for a stored value of the forward loop."""
    known = ("symmetric",) if is_symmetric(node) else ()
    return BoundTensor(kind, number, level, shape_of(node), known)


def _read_instead(
    pulled: Sequence[Operand],
    results: Collection[Basic],
    read: Collection[Basic],
    cotangents: Collection[Basic],
) -> list[Operand]:
    """Return the results of the forward loop that the adjoint step reads instead of some of the
    values ``read``, where they have no more entries than these."""
    changing = {*depending(pulled, read)}
    backward = {*depending(pulled, cotangents)}
    found: dict[Operand, None] = {}
    needed: set[Basic] = set()

    def below(node: Basic) -> Sequence[Basic]:
        if node in read:
            needed.add(node)
        elif node in results and node in changing and node not in backward:
            found[node] = None
            return ()
        return children(node)

    postorder(pulled, below)
    spared = [own for own in read if own in changing and own not in needed]
    on_spared = {*depending([*found], spared)}
    chosen = [node for node in found if node in on_spared]
    entries = [sum(nominal_size(shape_of(own)) for own in group) for group in (chosen, spared)]
    return chosen if entries[0] <= entries[1] else []


class _Term(NamedTuple):
    """A product in a sum over steps: its factors, their labels, and the factors that depend on the
    step."""

    operands: tuple[Operand, ...]
    subscripts: tuple[Sequence[int], ...]
    output: Sequence[int]
    lengths: Mapping[int, Expr]
    varying: tuple[Operand, ...]

    def over_steps(self, stacks: Mapping[Operand, Operand], count: Expr) -> Operand:
        """Return the sum over all steps: a product with one more summed index."""
        step = len(self.lengths)
        operands = [stacks.get(operand, operand) for operand in self.operands]
        subscripts = [
            (step, *labels) if operand in stacks else labels
            for operand, labels in zip(self.operands, self.subscripts, strict=True)
        ]
        return contract(operands, subscripts, self.output, {**self.lengths, step: count})


def _split(value: Operand, varying: Set[Basic]) -> tuple[list[_Term], list[Operand]]:
    """Split a term of a sum over steps into products whose factors are smaller than itself, and
    the rest."""
    terms: list[_Term] = []
    rest: list[Operand] = []
    for own in value.operands if isinstance(value, TensorAdd) else (value,):
        if isinstance(own, Zeros) or own is S.Zero:
            continue
        term = _term(own, varying)
        if term and any(varying & length.free_symbols for length in term.lengths.values()):
            term = None  # factors whose shapes change from step to step
        sizes = [nominal_size(shape_of(factor)) for factor in term.varying] if term else []
        if term and sum(sizes) < nominal_size(shape_of(own)):
            terms.append(term)
        else:
            rest.append(own)
    return terms, rest


def _term(node: Operand, varying: Collection[Basic]) -> _Term | None:
    if not isinstance(node, (View, Einsum)):
        return None
    operands, subscripts, output, lengths = (
        list(node.operands),
        list(node.subscripts),
        node.output,
        dict(enumerate(node.lengths)),
    )
    core = operands[-1] if operands else None
    if isinstance(node, View) and type(core) is Einsum:
        names = dict(zip(core.output, subscripts[-1], strict=True))
        for label, length in enumerate(core.lengths):
            if label not in names:
                names[label] = len(lengths)
                lengths[names[label]] = length
        operands[-1:] = core.operands
        subscripts[-1:] = [tuple([names[i] for i in term]) for term in core.subscripts]
    changing = {*depending(operands, varying)}
    own = tuple(dict.fromkeys([operand for operand in operands if operand in changing]))
    return _Term(tuple(operands), tuple(subscripts), output, lengths, own)


def push_forward_loop(
    loop: Recurrence,
    tangents: Mapping[int, Operand],
    inner: Shape,
    pushforward: Pushforward,
) -> Callable[[Result], Operand]:
    """Return the tangents of the results of a loop, of shapes result.shape + inner, from those of
    operands, by their numbers."""
    variables = _active_parameters(loop, tangents)
    symbols = {
        own: BoundTensor("tangent", k, loop.level, (*shape_of(own), *inner))
        for k, own in enumerate(variables)
    }
    parameters = loop.parameters
    given = {parameters[k]: tangent for k, tangent in tangents.items()}
    own = [*symbols.values()]
    outputs = [pushforward(output, variables, own, inner) for output in loop.outputs]
    outputs = [*tidy(outputs, None, loop.outputs)[0]]
    known = loop.invariant_values
    known |= {symbols[s]: given[s] for s in given if s in known}
    outputs = replace_nodes(outputs, known)
    primal = replace_nodes(loop.outputs, known)
    carries = [
        Carry(carry.symbol, carry.init, new)
        for carry, new in zip(loop.carries, primal, strict=False)
    ]
    places: dict[int, int] = {}
    for k, carry in enumerate(loop.carries):
        if carry.symbol in symbols:
            symbol = symbols[carry.symbol]
            start = given.get(carry.symbol, Zeros(*shape_of(symbol)))
            places[k] = len(carries)
            start, new = [_as_symmetric(carry.symbol, own, 0) for own in (start, outputs[k])]
            carries.append(Carry(symbol, start, new))
    inputs = [*loop.inputs]
    inputs += [
        ScanInput(symbols[i.symbol], given[i.symbol]) for i in loop.inputs if i.symbol in given
    ]
    values = outputs[len(loop.carries) :]
    tangent = loop.with_body(carries, inputs, values)

    def result(which: Result) -> Operand:
        kind, place = which
        if kind == LAST and place not in places:
            return Zeros(*shape_of(loop.carries[place].symbol), *inner)
        return tangent.result(kind, place if kind == VALUES else places[place])

    return result


def _active_parameters(loop: Recurrence, active: Iterable[int]) -> list[Basic]:
    """Return the symbols of the step that depend on some operands, those of these first."""
    parameters = loop.parameters
    return loop.changed_by([parameters[k] for k in sorted(active)])


def _is_costly(node: Basic) -> bool:
    """Tell whether a node costs more to be computed than to be read: a function, or a contraction
    with a sum."""
    if isinstance(node, (TensorAdd, View)):
        return False
    if isinstance(node, Elementwise):
        return any(map(_is_function, postorder([node.body])))
    if isinstance(node, Einsum):
        selected = {
            i
            for operand, labels in zip(node.operands, node.subscripts, strict=True)
            if operand.is_affine_selector or operand.is_one_hot
            for i in labels
        }
        return bool({i for term in node.subscripts for i in term} - {*node.output} - selected)
    if isinstance(node, TensorExpr):
        return bool(node.operands)
    return isinstance(node, Expr) and bool(node.args) and _is_function(node)


def _is_function(node: Basic) -> bool:
    if node.is_Pow:
        return not node.exp.is_Integer
    return bool(node.args) and not (node.is_Add or node.is_Mul)
