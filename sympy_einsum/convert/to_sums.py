"""Conversion to sums over entries: ``Sum(A[i, j]*x[j], (j, 0, n - 1))`` with IndexedBase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from sympy import (
    Add,
    Basic,
    Dummy,
    Eijk,
    Expr,
    ImmutableDenseNDimArray,
    IndexedBase,
    KroneckerDelta,
    Mul,
    Piecewise,
    Product as SymPyProduct,
    S,
    Sum,
    Symbol,
)

from ..core import (
    NodeTable,
    ShapeError,
    UnsupportedError,
    as_list,
    as_scalar,
    postorder,
    same_length,
    tuning,
)
from ..expressions import (
    UNEVALUATED_REMEDY,
    AxesFunction,
    Constant,
    Einsum,
    Elementwise,
    Fourier,
    IntervalProducts,
    LeviCivita,
    MatrixFunction,
    OneHot,
    Operand,
    Positions,
    Reshape,
    RunningFunction,
    Scan,
    Solution,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unknown,
    Zeros,
    order_of,
    shape_of,
    slot,
)
from .shared_conversion import Symbols, described, prepared_for_sympy, sympy_errors_explained
from .to_matrices import to_matrix

LETTERS = "ijklpqrabcdefghuvw"


def to_indexed(e: Operand, indices: Sequence[Expr] | None = None) -> Expr:
    """Write one entry of a tensor expression as SymPy sums over entries of IndexedBase.

    Parameters
    ==========

    e : a tensor expression, or a SymPy scalar with tensor expressions inside
    indices : the symbols that stand for the entry's position, one for each axis; by default new
        integer symbols i, j, k …

    Returns
    =======

    A SymPy scalar in the given indices. Assumptions of tensor symbols are lost. Entries of inverses
    and determinants are those of SymPy's matrix expressions, in MatrixSymbols.

    Raises
    ======

    UnsupportedError : a part has no such form (reshaped tensors, softmax, functions of stacks of
        matrices), or the expression would be huge when shared parts are written out
    ShapeError : the number of indices isn't the order, or one is known to lie outside of its axis

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> se.to_indexed(A @ x)
    Sum(A[i, j]*x[j], (j, 0, n - 1))
    >>> B = se.TensorSymbol("B", (n, n))
    >>> se.to_indexed(B.inv() @ x * B.det())
    Determinant(B)*Sum(x[j]*(B**(-1))[i, j], (j, 0, n - 1))
    """
    root = prepared_for_sympy(e, "to_indexed", tuning.MAX_SUMS_SIZE, tuning.MAX_SUMS_DEPTH)
    if indices is not None:
        indices = [as_scalar(index, "an index") for index in as_list(indices, "indices")]
    order = order_of(root)
    if indices is not None and len(indices) != order:
        raise ShapeError(f"{len(indices)} indices for a tensor of order {order}: {tuple(indices)}")
    for index, length in zip(indices or (), shape_of(root), strict=False):
        if index.is_negative or (index - length).is_nonnegative:
            raise ShapeError(f"index {index} isn't between 0 and {length - 1}")
    return EntryWriter(root).entry(root, indices)


Position = tuple[Expr, ...]
Place = tuple[Basic, Position]  # a node and the position of one of its entries


class EntryFormula(NamedTuple):
    """The entries that an entry is computed from, and how."""

    parts: list[Place]
    built: Callable[[list[Expr]], Expr]


class EntryWriter:
    """Writes entries at given positions, from the root down, so that each sum is built once."""

    def __init__(self, root: Operand):
        self.symbols = Symbols(root, lambda node: IndexedBase(node.name, shape=node.shape))
        lengths = {s for node in postorder([root]) for n in shape_of(node) for s in n.free_symbols}
        self.taken = {str(s) for s in root.free_symbols | lengths}
        self.names = _letters()
        self.plans: dict[Place, EntryFormula] = {}

    def entry(self, root: Operand, indices: Sequence[Expr] | None) -> Expr:
        """Return the entry of the root."""
        self.taken.update(map(str, indices or ()))
        start = (
            root,
            tuple([self.fresh() for _ in shape_of(root)] if indices is None else indices),
        )
        entries: dict[Place, Expr] = {}
        for place in postorder([start], self.parts):
            with sympy_errors_explained(place[0]):
                entries[place] = self.plans[place].built(
                    [entries[part] for part in self.parts(place)]
                )
        return entries[start]

    def fresh(self) -> Symbol:
        """Return a new index."""
        return Symbol(next(name for name in self.names if name not in self.taken), integer=True)

    def parts(self, place: Place) -> list[Place]:
        """Return the entries that an entry is computed from."""
        if place not in self.plans:
            self.plans[place] = self._plan(*place)
        return self.plans[place].parts

    def _plan(self, node: Basic, at: Position) -> EntryFormula:
        if isinstance(node, TensorExpr):
            return TO_ENTRIES[type(node)](self, node, at)
        return EntryFormula(
            [(arg, ()) for arg in node.args], lambda v: node.func(*v) if v else node
        )


def _letters() -> Iterator[str]:
    yield from LETTERS
    for number in count(1):
        yield from (f"{letter}{number}" for letter in LETTERS)


def _target(operand: TensorExpr, at: Sequence[Expr]) -> Expr | None:
    """Return the position that an entry, a slice or windows put in the place of their last
    index."""
    if not isinstance(operand, Positions):
        return None
    return Add(operand.start, *[s * i for s, i in zip(operand.steps, at, strict=False)])


def _product_plan(writer: EntryWriter, node: Einsum, at: Position) -> EntryFormula:
    index: dict[int, Expr] = {}
    deltas = []
    for label, position in zip(node.output, at, strict=True):
        if label in index:
            deltas.append(KroneckerDelta(index[label], position))
        index.setdefault(label, position)
    summed = [label for label in range(len(node.lengths)) if label not in index]
    index.update({label: Dummy(integer=True) for label in summed})
    where: dict[Expr, Expr] = {}
    factors: list[tuple[Operand, tuple[int, ...]]] = []
    for operand, labels in zip(node.operands, node.subscripts, strict=True):
        target = _target(operand, [index[label].xreplace(where) for label in labels])
        axis = index[labels[-1]] if labels else None
        if target is None or labels[-1] not in summed or axis in {*where, *target.free_symbols}:
            factors.append((operand, labels))
            continue
        where = {old: new.xreplace({axis: target}) for old, new in where.items()}
        where[axis] = target
    left = [label for label in summed if index[label] not in where]
    names = {index[label]: writer.fresh() for label in left}
    final = {label: e.xreplace(where).xreplace(names) for label, e in index.items()}
    bounds = _bounds(factors, left, final)
    # A sum up to another index stands inside of the sum over that.
    left.sort(key=lambda label: label not in bounds)
    limits = [
        (final[label], *bounds.get(label, (S.Zero, node.lengths[label] - 1))) for label in left
    ]

    def built(values: list[Expr]) -> Expr:
        body = Mul(*deltas, *values)
        return Sum(body, *limits) if limits else body

    return EntryFormula(
        [(o, tuple([final[label] for label in labels])) for o, labels in factors], built
    )


def _bounds(
    factors: list[tuple[Operand, tuple[int, ...]]], left: list[int], final: Mapping[int, Expr]
) -> dict[int, tuple[Expr, Expr]]:
    """Return the limits that triangles set to sums; those are no factors any more. A sum is empty
    where it ends one before it begins, not earlier."""
    bounds: dict[int, tuple[Expr, Expr]] = {}
    used: set[int] = set()
    for factor in list(factors):
        triangle, labels = factor
        plain = isinstance(triangle, Triangle) and triangle.offset in (0, 1)
        if not plain or not same_length(*triangle.shape) or used.intersection(labels):
            continue
        row, column = labels
        if row in left:
            bounds[row] = (S.Zero, final[column] - triangle.offset)
        elif column in left:
            bounds[column] = (final[row] + triangle.offset, triangle.shape[1] - 1)
        else:
            continue
        used.update(labels)
        factors.remove(factor)
    return bounds


def _entrywise_plan(node: TensorExpr, at: Position) -> list[Place]:
    """Return the entries of the operands at the same position; scalars have one entry."""
    return [(operand, at if order_of(operand) else ()) for operand in node.operands]


def _symbol_plan(writer: EntryWriter, node: TensorSymbol, at: Position) -> EntryFormula:
    converted = writer.symbols.symbol(node)
    return EntryFormula([], lambda _: converted[at] if at else converted)


def _constant_plan(writer: EntryWriter, node: Constant, at: Position) -> EntryFormula:
    return EntryFormula([], lambda _: ImmutableDenseNDimArray(node.entries.tolist())[at])


def _windows_plan(writer: EntryWriter, node: Positions, at: Position) -> EntryFormula:
    return EntryFormula([], lambda _: KroneckerDelta(_target(node, at), at[-1]))


def _triangle_plan(writer: EntryWriter, node: Triangle, at: Position) -> EntryFormula:
    return EntryFormula([], lambda _: Piecewise((1, at[0] + node.offset <= at[1]), (0, True)))


def _interval_plan(writer: EntryWriter, node: IntervalProducts, at: Position) -> EntryFormula:
    *rest, first, last = at
    place = writer.fresh()

    def built(values: list[Expr]) -> Expr:
        inside = SymPyProduct(values[0], (place, first, last - 1))
        return Piecewise((inside, first <= last), (0, True))

    return EntryFormula([(node.operands[0], (*rest, place))], built)


def _one_hot_plan(writer: EntryWriter, node: OneHot, at: Position) -> EntryFormula:
    *own, axis = at
    return EntryFormula([(node.indices, tuple(own))], lambda v: KroneckerDelta(v[0], axis))


def _matrix_function_plan(writer: EntryWriter, node: MatrixFunction, at: Position) -> EntryFormula:
    """Return an entry of the inverse of a MatrixSymbol, the determinant of one, and so on."""
    if node.order > 2:
        return _refuse(writer, node, at)
    converted = to_matrix(node)
    return EntryFormula([], lambda _: converted[at] if at else converted)


def _refuse(writer: EntryWriter, node: TensorExpr, at: Position) -> EntryFormula:
    raise UnsupportedError(f"{described(node)} has no form as a sum over entries")


TO_ENTRIES: NodeTable[Callable[..., EntryFormula]] = NodeTable(
    "the entry",
    {
        TensorSymbol: _symbol_plan,
        Zeros: lambda writer, node, at: EntryFormula([], lambda _: S.Zero),
        Constant: _constant_plan,
        LeviCivita: lambda writer, node, at: EntryFormula([], lambda _: Eijk(*at)),
        Positions: _windows_plan,
        Triangle: _triangle_plan,
        Fourier: lambda writer, node, at: EntryFormula([], lambda _: node.entry(*at)),
        Einsum: _product_plan,
        TensorAdd: lambda writer, node, at: EntryFormula(
            _entrywise_plan(node, at), lambda v: Add(*v)
        ),
        Elementwise: lambda writer, node, at: EntryFormula(
            _entrywise_plan(node, at),
            lambda v: node.body.xreplace({slot(k): e for k, e in enumerate(v)}),
        ),
        OneHot: _one_hot_plan,
        IntervalProducts: _interval_plan,
        MatrixFunction: _matrix_function_plan,
        **dict.fromkeys([AxesFunction, RunningFunction, Reshape, Scan, Solution, Unknown], _refuse),
    },
    refused={Unevaluated: UNEVALUATED_REMEDY},
)
