"""Conversion from sums and products over entries: ``Sum(A[i, j]*x[j], (j, 0, n - 1))`` with
IndexedBase."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple, TypeAlias

from sympy import (
    Basic,
    Dummy,
    Expr,
    Ge,
    IndexedBase,
    KroneckerDelta,
    Le,
    Piecewise,
    Product,
    S,
    Sum,
    Symbol,
    Tuple,
)
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.tensor.indexed import Idx, Indexed

from ..core import (
    ShapeError,
    TensorError,
    UnsupportedError,
    as_length,
    as_list,
    children,
    postorder,
    same_length,
)
from ..expressions import (
    Delta,
    Einsum,
    Elementwise,
    Operand,
    Selection,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unit,
    Zeros,
    apply_body,
    as_operand,
    contract,
    is_literal,
    scalar_product,
    shape_of,
    slot,
    substitute,
    tensor_sum,
)
from ..operations import counting, matmul, prod, squeeze, transpose
from .from_matrices import matrix_tensor
from .shared_conversion import as_stock, described, sympy_errors_explained

# An index, or a pair of it and its length.
Index: TypeAlias = Symbol | tuple[Symbol, Expr]
Lengths: TypeAlias = Mapping[Symbol, Expr]
_Factor: TypeAlias = tuple[Operand | Callable[[Lengths], Operand], tuple[Symbol, ...]]


def from_indexed(expr: object, indices: Sequence[Index] = (), *, vectors: bool = False) -> Operand:
    """Convert sums and products over entries, such as ``Sum(A[i, j]*x[j], (j, 0, n - 1))``.

    An IndexedBase with a shape becomes a tensor symbol. Entries of MatrixSymbols, traces and
    determinants are read as :func:`from_matrix` reads them, those of tensors as they are.

    Parameters
    ==========

    expr : a SymPy scalar
    indices : the free indices, in the order of the result's axes; each a symbol, or a pair of it
        and its length where the entries don't tell. An ``Idx`` with a range takes the positions
        in that. Another free symbol in the place of an index is the position of an entry.
    vectors : whether a MatrixSymbol with one column stands for a tensor of order 1

    Returns
    =======

    A tensor expression of order ``len(indices)``, for none a SymPy scalar.

    Raises
    ======

    ShapeError : an IndexedBase has no shape, two axes with the same index differ in length, or an
        index leaves its axis
    UnsupportedError : an index is used as a number, or is no linear function of another

    Examples
    ========

    >>> from sympy import IndexedBase, Sum, symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> i, j = symbols("i j", integer=True)
    >>> A, x = IndexedBase("A", shape=(m, n)), IndexedBase("x", shape=(n,))
    >>> e = se.from_indexed(Sum(A[i, j] * x[j], (j, 0, n - 1)), [i])
    >>> e == se.TensorSymbol("A", (m, n)) @ se.TensorSymbol("x", (n,))
    True
    """
    given_indices = [_indexed_by(index) for index in as_list(indices, "indices")]
    stock, pairs = _with_plain_indices(as_stock(expr), given_indices)
    inner = [node.variables for node in stock.atoms(Sum, Product)]
    labels = {index for index, _ in pairs}.union(*inner)
    root = stock
    for kind in (Sum, Product):
        root = root.replace(kind, partial(_from_zero, labels, kind))
    given = {index: as_length(length) for index, length in pairs if length is not None}
    # A free symbol that is the name of an index too isn't that index.
    free = root.free_symbols.intersection(labels).difference([index for index, _ in pairs])
    own = {symbol: Dummy(symbol.name, **symbol.assumptions0) for symbol in free}
    root = root.subs(own)
    reader = _SumReader(root, [index for index, _ in pairs], given, vectors)
    converted: dict[Basic, _Value] = {}
    for node in postorder([root], reader.parts):
        with sympy_errors_explained(node):
            converted[node] = reader.value(node, converted)
    result = converted[root].whole([index for index, _ in pairs], given)
    for (index, _), found in zip(pairs, shape_of(result), strict=True):
        if not same_length(given.get(index, found), found):
            raise ShapeError(f"index {index} has length {found}, not {given[index]}")
    return substitute(result, {dummy: symbol for symbol, dummy in own.items()})


def _indexed_by(given: Index) -> tuple[Symbol, Expr | None]:
    """Return an index and its length, None where it isn't given."""
    index, *length = given if isinstance(given, (tuple, list)) and given else (given,)
    if not isinstance(index, (Symbol, Idx)) or len(length) > 1:
        raise TensorError(
            f"an index is a symbol, or a pair of it and its length, not {str(given)[:80]!r}"
        )
    return index, length[0] if length else None


def _with_plain_indices(
    expr: Expr, pairs: Sequence[tuple[Symbol, Expr | None]]
) -> tuple[Expr, list[tuple[Symbol, Expr | None]]]:
    """Replace each ``Idx`` in an expression and its free indices by a symbol: SymPy doesn't let an
    ``Idx`` run over another range than its own. Free indices start at 0."""
    plain = {index: index.label for index in expr.atoms(Idx)}
    if len({*plain.values()}) < len(plain):
        raise TensorError(
            f"two of the indices {sorted(map(str, plain))} have the same name; rename one"
        )
    moved: dict[Basic, Expr] = dict(plain)
    free = []
    for index, length in pairs:
        if isinstance(index, Idx) and index.lower is not None and index.upper is not None:
            count = as_length(index.upper - index.lower + 1)
            if length is not None and not same_length(as_length(length), count):
                raise ShapeError(f"index {index} has {count} positions in its range, not {length}")
            length = count
            moved[index] = plain.get(index, index) + index.lower
        free.append((plain.get(index, index), length))
    return expr.xreplace(moved), free


def _from_zero(labels: Set[Symbol], kind: type[Expr], function: Expr, *limits: Tuple) -> Expr:
    """Shift the indices of a sum or a product to start at 0, or at another index."""
    shifted: list[tuple[Symbol, Expr, Expr]] = []
    for variable, low, high in limits:
        if low != 0 and not low.free_symbols & labels:
            moved = {variable: variable + low}
            function = function.subs(moved)
            shifted = [(own, first.subs(moved), last.subs(moved)) for own, first, last in shifted]
            low, high = S.Zero, high - low
        shifted.append((variable, low, high))
    return kind(function, *shifted)


def _selection(label: Symbol, length: Expr, start: Expr, step: Expr, count: Expr) -> TensorExpr:
    """Return the matrix that picks the positions an index takes, which must lie on the axis."""
    last = start + step * (count - 1)
    low, high = (start, last) if step.is_positive else (last, start)
    if count.is_negative or (
        count.is_zero is not True and (low.is_negative or (length - 1 - high).expand().is_negative)
    ):
        raise ShapeError(
            f"index {label} takes positions from {low} to {high} on an axis of length {length}; "
            f"they run from 0 to {length - 1}"
        )
    if step.is_negative and last.is_zero is None:
        # Whether the slice ends at the first entry isn't known: taken forwards, then flipped.
        return matmul(Selection(count, count - 1, -1, count), Selection(length, low, -step, count))
    return Selection(length, start, step, count)


def _positions(label: Symbol, known: Lengths) -> Operand:
    """Return the values of an index, 0, 1, 2, …, along its own axis."""
    return counting(_length(label, known))


def _triangle(row: Symbol, column: Symbol, offset: Expr, known: Lengths) -> Operand:
    return Triangle(_length(row, known), _length(column, known), offset)


class _Hidden(Dummy):
    """The label of an axis that is indexed by something else than a label."""

    __slots__ = ()


class _Value(NamedTuple):
    """A product of factors with labelled axes; a factor that can't be built before the lengths of
    its labels are known is a function of them."""

    factors: list[_Factor]

    @property
    def labels(self) -> tuple[Symbol, ...]:
        """The index symbols."""
        found = dict.fromkeys(label for _, labels in self.factors for label in labels)
        return tuple([label for label in found if not isinstance(label, _Hidden)])

    def lengths(self) -> dict[Symbol, Expr]:
        """Return the lengths that are known."""
        known: dict[Symbol, Expr] = {}
        for factor, labels in self.factors:
            for label, length in (
                () if callable(factor) else zip(labels, shape_of(factor), strict=True)
            ):
                if not same_length(known.setdefault(label, length), length):
                    raise ShapeError(
                        f"index {label} has length {known[label]} in one place, {length} in another"
                    )
        return known

    def whole(self, output: Sequence[Symbol], hints: Lengths) -> Operand:
        """Return one tensor with the given axes; what isn't among them is summed over. ``hints``
        are lengths of labels, where the factors don't determine them."""
        known = {**hints, **self.lengths()}
        built = _Value([(f(known) if callable(f) else f, labels) for f, labels in self.factors])
        if not any(labels for _, labels in built.factors) and not output:
            return scalar_product([factor for factor, _ in built.factors])
        lengths = {label: _length(label, hints) for label in output if label not in built.labels}
        lengths.update(built.lengths())
        factors, subscripts = zip(*built.factors, strict=True)
        return contract(factors, subscripts, output, lengths)


def _between(label: Symbol, low: Expr, high: Expr, known: Lengths) -> Operand:
    """Return the indicator of an index between two positions."""
    length = _length(label, known)
    first = S.Zero if low.is_nonpositive else low
    last = length - 1 if (high - length + 1).is_nonnegative else high
    count = last - first + 1
    if count.is_nonpositive:
        return Zeros(length)
    return contract((Selection(length, first, 1, count),), ((0, 1),), (1,), {0: count, 1: length})


def _length(label: Symbol, known: Lengths) -> Expr:
    if label not in known:
        raise ShapeError(
            f"the length of index {label} can't be inferred from the entries; give it: ({label}, n)"
        )
    return known[label]


def _of_column(matrix: TensorExpr, node: MatrixElement) -> tuple[Operand, Sequence[Expr]]:
    """Return a tensor and the position of an entry; a matrix of one column, or row, is a vector."""
    at = (node.i, node.j)
    narrow = next((axis for axis in (1, 0) if matrix.shape[axis] == 1 and at[axis] == 0), None)
    return (matrix, at) if narrow is None else (squeeze(matrix, narrow), (at[1 - narrow],))


class _SumReader:
    """Reads nodes of a SymPy scalar whose index symbols are known."""

    def __init__(self, root: Basic, indices: Sequence[Symbol], given: Lengths, vectors: bool):
        self.vectors = vectors
        limits = [limit for node in root.atoms(Sum, Product) for limit in node.limits]
        self.labels = {*indices, *[variable for variable, _, _ in limits]}
        numbers: dict[Symbol, set[Expr | None]] = {}
        for variable, low, high in limits:
            depends = (low.free_symbols | high.free_symbols) & self.labels
            numbers.setdefault(variable, set()).add(None if depends else high + 1)
        self.hints = {k: n for k, (n, *others) in numbers.items() if n is not None and not others}
        self.hints.update(given)

    def parts(self, node: Basic) -> tuple[Basic, ...]:
        """Return the parts of a node whose values are its operands."""
        if isinstance(node, (Sum, Product)):
            return node.args[:1]
        leaf = isinstance(node, (Indexed, MatrixElement, KroneckerDelta, TensorExpr))
        leaf = leaf or self._order(node) is not None
        if isinstance(node, Elementwise) and not node.shape:
            return children(node)
        if leaf or not node.free_symbols & self.labels:
            holds = not leaf and node.has(Sum, Product, Indexed)
            return node.args if holds and not hasattr(node, "bound_symbols") else ()
        return children(node)

    def value(self, node: Basic, converted: dict[Basic, _Value]) -> _Value:
        """Return a node, from the values of its parts."""
        below = [converted[part] for part in self.parts(node)]
        if isinstance(node, Sum):
            return self._sum(node, below[0])
        if isinstance(node, Product):
            return self._product(node, below[0])
        if isinstance(node, Indexed):
            return self._element(self._tensor(node.base), node.indices)
        if isinstance(node, Einsum) and node.free_symbols & self.labels:
            return _Value(self._factors(node, ()))
        if isinstance(node, MatrixElement):
            return self._element(*_of_column(matrix_tensor(node.parent, self.vectors), node))
        if isinstance(node, KroneckerDelta) and node.free_symbols & self.labels:
            return self._delta(*node.args)
        order = self._order(node)
        if order is not None:
            (row, column), offset = order
            return _Value([(partial(_triangle, row, column, offset), (row, column))])
        if node in self.labels:
            return _Value([(partial(_positions, node), (node,))])
        if not isinstance(node, Expr) or (
            not below and (node.free_symbols & self.labels or node.has(Indexed))
        ):
            raise UnsupportedError(
                f"no tensor expression for {node}, of type {type(node).__name__}"
            )
        if not below:
            return _Value([(matrix_tensor(node, self.vectors), ())])
        if node.is_Mul:
            return _Value([factor for value in below for factor in value.factors])
        return self._entrywise(node, below)

    def _entrywise(self, node: Basic, below: list[_Value]) -> _Value:
        """Return a sum or a function of several values, along all their labels."""
        parts = [(value.whole(value.labels, self.hints), value.labels) for value in below]
        lengths = _Value(parts).lengths()
        labels = tuple(lengths)
        if not labels:
            return _Value([(node.func(*[part for part, _ in parts]), ())])
        wide = [
            contract((part,), (own,), labels, lengths) if own or node.is_Add else part
            for part, own in parts
        ]
        if node.is_Add:
            return _Value([(tensor_sum(wide), labels)])
        if isinstance(node, Elementwise):
            return _Value([(apply_body(node.body, wide), labels)])
        body = node.func(*[p if is_literal(p) else slot(k) for k, p in enumerate(wide)])
        return _Value([(apply_body(body, wide), labels)])

    def _sum(self, node: Sum, inner: _Value) -> _Value:
        """Contract the factors that depend on the summation variables; keep the others open."""
        waiting = list(inner.factors)
        given: dict[Symbol, Expr] = {}
        for variable, low, high in node.limits:
            given[variable], triangles = self._range(variable, low, high, inner)
            if triangles:
                bounded = [
                    self._restrict_to_range(factor, variable, given[variable]) for factor in waiting
                ]
                waiting = [*triangles, *[factor for factors in bounded for factor in factors]]
            elif variable not in _Value(waiting).labels:
                waiting.append((given[variable], ()))
            else:
                selector = [
                    self._restrict_to_range(factor, variable, given[variable]) for factor in waiting
                ]
                waiting = [factor for factors in selector for factor in factors]
        reached = set(node.variables)
        hanging: list[_Factor] = []
        while moved := [factor for factor in waiting if reached.intersection(factor[1])]:
            hanging.extend(moved)
            waiting = [factor for factor in waiting if not reached.intersection(factor[1])]
            reached.update(k for _, labels in moved for k in labels if isinstance(k, _Hidden))
        if not hanging:
            return _Value(waiting)
        total = _Value(hanging)
        left = tuple([label for label in total.labels if label not in node.variables])
        return _Value([*waiting, (total.whole(left, {**self.hints, **given}), left)])

    def _product(self, node: Product, inner: _Value) -> _Value:
        """Multiply the entries along the axes of the variables."""
        factors = inner.factors
        for variable, low, high in node.limits:
            if (low.free_symbols | high.free_symbols) & self.labels or (high + 1).is_negative:
                raise UnsupportedError(
                    f"the bounds of the product over {variable} from {low} to {high} must be in "
                    "order, and no other indices"
                )
            number = high + 1
            restricted = [self._restrict_to_range(own, variable, number) for own in factors]
            value = _Value([factor for own in restricted for factor in own])
            left = tuple([label for label in value.labels if label != variable])
            whole = value.whole([*left, variable], {**self.hints, variable: number})
            factors = [(prod(whole, -1), left)]
        return _Value(factors)

    def _range(
        self, variable: Symbol, low: Expr, high: Expr, inner: _Value
    ) -> tuple[Expr, list[_Factor]]:
        """Count how many positions a sum goes over, and triangles that say which of them where its
        bounds are other indices, plus a number."""
        (start, first), (end, last) = (self._bound(bound) for bound in (low, high))
        if start is None and end is None:
            return last + 1, []
        known = {**inner.lengths(), **self.hints}
        number, shortest = last + 1, last - first + 1
        triangles: list[_Factor] = []
        if end is not None:
            # A running sum over an axis goes on to its end.
            axis = known.get(variable, S.NaN)
            if last is S.Zero and variable in known:
                known.setdefault(end, axis)
            reach = _length(end, known)
            number = axis if last == -1 and same_length(axis, reach) else reach + last
            triangles.append((Triangle(number, reach, -last), (variable, end)))
        if start is not None:
            if first is S.Zero:
                known.setdefault(start, number)
            reach = _length(start, known)
            triangles.append((Triangle(reach, number, first), (start, variable)))
            shortest -= 0 if start == end else reach - 1
        if shortest.is_negative or (start is not None and end not in (None, start)):
            raise UnsupportedError(
                f"a sum over {variable} from {low} to {high} may end before it begins, and SymPy "
                "takes it for that of the positions between, with a minus"
            )
        if first.is_negative:
            raise ShapeError(f"index {variable} takes the position {first}; they run from 0 on")
        return number, triangles

    def _bound(self, bound: Expr) -> tuple[Symbol | None, Expr]:
        """Return the index that a bound is, if it is one, and what is added to it."""
        found = bound.free_symbols & self.labels
        if not found:
            return None, bound
        label, *others = found
        if others or (bound - label).free_symbols & self.labels:
            raise UnsupportedError(f"the bound {bound} of a sum isn't an index plus a number")
        return label, bound - label

    def _restrict_to_range(self, factor: _Factor, variable: Symbol, number: Expr) -> list[_Factor]:
        """Restrict the axes of a factor that have a label to the range of summation."""
        tensor, labels = factor
        if variable not in labels or callable(tensor):
            return [factor]
        new, selectors = list(labels), []
        for axis, length in enumerate(shape_of(tensor)):
            if labels[axis] == variable and not same_length(length, number):
                new[axis] = _Hidden("axis")
                selector = _selection(variable, length, S.Zero, S.One, number)
                selectors.append((selector, (variable, new[axis])))
        return [(tensor, tuple(new)), *selectors]

    def _tensor(self, base: Basic) -> Operand:
        """Return the tensor for an IndexedBase or an array of numbers."""
        if isinstance(base, IndexedBase):
            if base.shape is None:
                raise ShapeError(
                    f"IndexedBase {base} has no shape: IndexedBase({str(base)!r}, shape=…)"
                )
            return TensorSymbol(str(base.label), tuple(base.shape))
        return as_operand(base)

    def _element(self, tensor: Operand, positions: Sequence[Expr]) -> _Value:
        """Return a tensor indexed by labels, linear functions of labels, and fixed positions."""
        if len(positions) != tensor.order:
            raise ShapeError(f"{len(positions)} indices for {described(tensor)}")
        factors: list[_Factor] = []
        labels = [self._axis(p, n, factors) for n, p in zip(tensor.shape, positions, strict=True)]
        return _Value([(tensor, tuple(labels)), *factors])

    def _axis(self, position: Expr, length: Expr, factors: list[_Factor]) -> Symbol:
        """Return the label of an axis at a position, with the factors that it needs."""
        count = self.hints.get(position, length)
        is_part = (length - count).is_nonnegative and not same_length(length, count)
        if position in self.labels and not is_part:
            return position
        hidden = _Hidden("axis")
        if position in self.labels:
            part = _selection(position, length, S.Zero, S.One, count)
            factors.append((part, (position, hidden)))
        else:
            factors.append(self._delta_to_position(hidden, position, length))
        return hidden

    def _factors(self, tensor: Operand, axes: Sequence[Symbol]) -> list[_Factor]:
        """Return the factors of a product in which positions are labels, with labels of its
        axes."""
        if not tensor.free_symbols & self.labels:
            return [(tensor, tuple(axes))]
        if not isinstance(tensor, Einsum) or len({*tensor.output}) < len(axes):
            raise UnsupportedError(f"{tensor} isn't an entry of a tensor")
        found: list[_Factor] = []
        names = dict(zip(tensor.output, axes, strict=True))
        rest = []
        for operand, subscripts in zip(tensor.operands, tensor.subscripts, strict=True):
            if isinstance(operand, Unit) and subscripts[0] not in names:
                names[subscripts[0]] = self._axis(operand.position, operand.length, found)
            else:
                rest.append((operand, subscripts))
        for operand, subscripts in rest:
            own = [names.setdefault(k, _Hidden("axis")) for k in subscripts]
            found += self._factors(operand, own)
        return found

    def _order(self, node: Basic) -> tuple[tuple[Symbol, Symbol], Expr] | None:
        """Return the indices and the offset of a triangle of ones, [i + offset <= j]."""
        if not isinstance(node, Piecewise) or len(node.args) != 2:
            return None
        (value, condition), rest = node.args
        if value != 1 or tuple(rest) != (0, True) or not isinstance(condition, (Le, Ge)):
            return None
        room = condition.gts - condition.lts
        found = sorted(room.free_symbols & self.labels, key=room.coeff)
        if [room.coeff(label) for label in found] != [-1, 1]:
            return None
        row, column = found
        return (row, column), column - row - room

    def _delta(self, one: Expr, two: Expr, within: Tuple | None = None) -> _Value:
        """Require that two positions are equal, and where limits are given, within these."""
        if one not in self.labels:
            one, two = two, one
        if one not in self.labels:
            raise UnsupportedError(f"KroneckerDelta({one}, {two}): one of the two must be an index")
        factors = [self._delta_to_position(one, two, None)]
        if within is not None:
            factors.append((partial(_between, one, *within), (one,)))
        return _Value(factors)

    def _delta_to_position(self, label: Symbol, position: Expr, length: Expr | None) -> _Factor:
        """Return a delta between a label and a position, which may be a linear function of another
        one. The length of the label may be unknown so far."""
        others = position.free_symbols & self.labels
        if not others:
            return lambda known: Unit(length or _length(label, known), position), (label,)
        other = min(others, key=str)
        step = position.coeff(other)
        start = position - step * other
        if not step.is_Integer or start.free_symbols & self.labels:
            raise UnsupportedError(f"index {position} isn't a linear function of one index")

        def factor(known: Lengths) -> Operand:
            own = length or _length(label, known)
            count = known.get(other, own) if position == other else _length(other, known)
            if position == other and same_length(own, count):
                return Delta(own)
            if position == other and (count - own).is_nonnegative:
                return transpose(Selection(count, 0, 1, own))
            return _selection(other, own, start, step, count)

        return factor, (other, label)
