"""Preparation for conversions to SymPy objects: a graph that is small as a tree, without nodes that
SymPy has no counterpart for, and with distinct names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from sympy import (
    Abs,
    Add,
    Basic,
    Determinant,
    Dummy,
    Expr,
    Inverse,
    Lambda,
    MatMul,
    MatPow,
    MatrixBase,
    Mul,
    Symbol,
    SympifyError,
    exp,
    log,
)
from sympy.matrices.expressions.matexpr import MatrixExpr

from ..core import (
    TensorError,
    UnsupportedError,
    children,
    postorder,
    sympified,
    transform,
    tuning,
    with_stock_derivatives,
)
from ..expressions import (
    Adj,
    AxesFunction,
    Cofactors,
    Det,
    Einsum,
    Elementwise,
    Fourier,
    Inv,
    LogDet,
    LogSumExp,
    MatrixPower,
    OneHot,
    Operand,
    Positions,
    RunningFunction,
    Scan,
    Slot,
    Softmax,
    Solution,
    StackFunction,
    TensorExpr,
    TensorSymbol,
    Unevaluated,
    Unknown,
    as_operand,
    elementwise,
    inline_products,
    order_of,
    rebuild,
    slot,
    stretch,
    substitute_stock,
)
from ..operations import multiply, power, sum as sum_
from ..rules import cofactors_as_inverse


def described(node: Basic) -> str:
    """Describe an operand for an error message."""
    if isinstance(node, TensorSymbol):
        return f"{node.name}, of shape {node.shape}"
    if isinstance(node, TensorExpr):
        return f"the {type(node).__name__} of shape {node.shape}"
    return f"the {type(node).__name__} {str(node)[:80]}"


@contextmanager
def sympy_errors_explained(node: Basic) -> Iterator[None]:
    """Turn errors of SymPy's constructors into an UnsupportedError that names the operand."""
    try:
        yield
    except TensorError:
        raise
    except (TypeError, ValueError, NotImplementedError, IndexError) as error:
        raise UnsupportedError(f"SymPy has no form for {described(node)}: {error}") from error


def check_closed(found: Basic, root: Basic) -> Basic:
    """Check that no symbol bound inside has become free: SymPy moves conditions out of a Lambda.
    Return the object with derivatives of unknown functions written as SymPy's."""
    loose = {s for s in found.free_symbols - root.free_symbols if isinstance(s, Dummy)}
    if loose:
        raise UnsupportedError(
            f"SymPy moves parts that depend on the entry {min(loose, key=str)} out of its Lambda "
            f"in {described(root)}; convert the parts separately"
        )
    return with_stock_derivatives(found)


def with_scalars_converted(function: Basic, convert: Callable[[Basic], Operand]) -> Basic:
    """Convert the constants of a function of an entry that have matrices inside."""
    if not isinstance(function, Lambda):
        return function
    bound = set(function.variables)
    inside = postorder([function.expr], lambda n: n.args if n.free_symbols & bound else ())
    rule = {
        part: convert(part)
        for part in inside
        if isinstance(part, Expr) and not part.free_symbols & bound and not part.is_Atom
    }
    return Lambda(function.variables, substitute_stock(function.expr, rule)) if rule else function


def as_stock(expr: object) -> Basic:
    """Return the SymPy object for an argument; refuse strings, which would be evaluated."""
    try:
        return expr if isinstance(expr, Basic) else sympified(expr)
    except SympifyError:
        raise TensorError(f"expected a SymPy object, not {expr!r}") from None


def prepared_for_sympy(
    expr: Operand,
    target: str,
    max_size: int = tuning.MAX_CONVERTED_SIZE,
    max_depth: int = tuning.MAX_CONVERTED_DEPTH,
) -> Operand:
    """Evaluate what is unevaluated in an expression, expand softmax, log-sum-exp and cofactors;
    refuse huge trees."""
    root = transform([as_operand(expr)], _expand)[0]
    size: dict[Basic, int] = {}
    depth: dict[Basic, int] = {}
    for node in postorder([root]):
        below = children(node)
        size[node] = min(1 + sum([size[child] for child in below]), max_size + 1)
        depth[node] = 1 + max([depth[child] for child in below], default=0)
    if size[root] > max_size or depth[root] > max_depth:
        raise UnsupportedError(
            f"{target} would write out every shared subexpression: as a tree the expression has "
            f"{'more than ' * (size[root] > max_size)}{min(size[root], max_size)} nodes in "
            f"{depth[root]} levels, and SymPy can take {max_size} in {max_depth}"
        )
    return root


def _expand(node: Basic, operands: tuple[Operand, ...]) -> Operand:
    """Expand softmax and log-sum-exp to exp, log and sums, cofactors to inverses; evaluate what is
    unevaluated."""
    if isinstance(node, Unevaluated):
        value = rebuild(node, operands).doit()
        return value if isinstance(value, Unevaluated) else transform([value], _expand)[0]
    if isinstance(node, Cofactors):
        return cofactors_as_inverse(rebuild(node, operands), ()) or node
    if isinstance(node, LogSumExp):
        return elementwise(log, sum_(elementwise(exp, operands[0]), node.axes))
    if isinstance(node, Softmax):
        powers = elementwise(exp, operands[0])
        total = sum_(powers, node.axes, keepdims=True)
        return multiply(powers, stretch(power(total, -1), powers.shape))
    return rebuild(node, operands) if children(node) else node


class Symbols:
    """The SymPy symbol for each tensor symbol."""

    def __init__(self, root: Basic, make: Callable[[TensorSymbol], Basic]):
        self._make = make
        own = [s for s in root.free_symbols if isinstance(s, Symbol)]
        self._owner: dict[Basic, Basic] = dict(zip(own, own, strict=True))

    def symbol(self, node: TensorSymbol) -> Basic:
        """Return the symbol for a tensor symbol; one of order 0 becomes a real Symbol."""
        symbol = self._make(node) if node.order else Symbol(node.name, real=True)
        if self._owner.setdefault(symbol, node) is not node:
            raise UnsupportedError(
                f"two different symbols, {described(node)}, and another one, would both become "
                f"{type(symbol).__name__} {symbol}; rename one"
            )
        return symbol


class ConvertedNodes(dict[Basic, Basic]):
    """SymPy's objects for the nodes of a graph; ``kind`` names these in messages."""

    def __init__(self, root: Basic, make: Callable[[TensorSymbol], Basic], kind: str):
        super().__init__()
        self.symbol = Symbols(root, make).symbol
        self.kind = kind

    def __missing__(self, node: Basic) -> Basic:
        raise UnsupportedError(f"SymPy has no {self.kind} for {described(node)}")

    def below(self, node: TensorExpr) -> list[Basic]:
        """Return the objects for the operands of a node."""
        return [self[operand] for operand in node.operands]


def refuse(node: TensorExpr, converted: ConvertedNodes) -> Basic:
    """Raise the error that SymPy has no form for a node, or for an operand of it."""
    converted.below(node)
    return converted[node]


def with_products_inlined(
    node: Einsum,
) -> tuple[Sequence[Operand], Sequence[Sequence[int]], tuple[int, ...], dict[int, Expr]]:
    """Return operands, subscripts, output and lengths of a product, with those products among its
    operands inlined that are no matrices."""
    operands, subscripts, lengths = inline_products(
        node.operands,
        node.subscripts,
        dict(enumerate(node.lengths)),
        lambda inner, _: isinstance(inner, Einsum) and order_of(inner) > 2,
    )
    return operands, subscripts, node.output, lengths


class Builder(Protocol):
    """Builds SymPy's objects of one kind: arrays or matrices."""

    def matrix(self, node: TensorExpr, converted: ConvertedNodes) -> MatrixExpr:
        """Return the operand of a function of a matrix."""

    def apply(self, function: Lambda, tensor: Basic) -> Basic:
        """Apply a function of one argument entry by entry."""

    def product(self, tensors: Sequence[Basic]) -> Basic:
        """Return the product entry by entry."""

    def total(self, tensors: Sequence[Basic]) -> Basic:
        """Return the sum."""

    def scaled(self, factor: Expr, tensor: Basic) -> Basic:
        """Return a scalar times a tensor."""


def shared_rows(builder: Builder) -> dict[type, Callable[..., Basic]]:
    """Return the rows of nodes that are converted to arrays as to matrices."""

    def of_matrix(build: Callable[[MatrixExpr], Basic]) -> Callable[..., Basic]:
        return lambda node, converted: build(builder.matrix(node, converted))

    def powered(node: MatrixPower, converted: ConvertedNodes) -> Basic:
        if len(node.operands) > 1 or node.order > 2:
            return refuse(node, converted)
        return MatPow(builder.matrix(node, converted), node.exponent)

    functions = [Cofactors, AxesFunction, OneHot, StackFunction, RunningFunction]
    refused = [Positions, Fourier, Scan, Solution, Unknown, *functions]
    return {
        TensorSymbol: lambda node, converted: converted.symbol(node),
        Elementwise: lambda node, converted: converted_elementwise(node, converted, builder),
        Inv: of_matrix(Inverse),
        Adj: of_matrix(lambda matrix: MatMul(Determinant(matrix), Inverse(matrix))),
        Det: of_matrix(Determinant),
        LogDet: of_matrix(lambda matrix: log(Abs(Determinant(matrix)))),
        MatrixPower: powered,
        **dict.fromkeys(refused, refuse),
    }


def converted_elementwise(node: Elementwise, converted: ConvertedNodes, builder: Builder) -> Basic:
    """Convert an elementwise node to SymPy's object."""
    values = {slot(k): converted[operand] for k, operand in enumerate(node.operands)}
    return converted_body(node.body, values, builder)


def converted_scalar(node: Basic, converted: ConvertedNodes, builder: Builder) -> Basic:
    """Convert a stock scalar, whose arguments may have become objects without axes."""
    values = {slot(k): converted[arg] for k, arg in enumerate(node.args)}
    if all(not _is_whole(value) for value in values.values()):
        return node.func(*values.values()) if values else node
    if not isinstance(node, Expr):
        raise UnsupportedError(f"SymPy has no array expression for {type(node).__name__}: {node}")
    arguments = [s if _is_whole(value) else value for s, value in values.items()]
    return converted_body(node.func(*arguments), values, builder)


def _is_whole(value: Basic) -> bool:
    """Tell whether a converted object is a matrix or an array, no plain scalar."""
    return isinstance(value, MatrixBase) or getattr(value, "shape", None) is not None


def converted_body(root: Basic, values: dict[Slot, Basic], builder: Builder) -> Basic:
    """Convert a scalar function of slots to functions of one tensor, sums and products.

    Raises UnsupportedError for another function of several tensors, such as Max.
    """
    scalars = {s: value for s, value in values.items() if not _is_whole(value)}

    def inside(body: Basic) -> list[Slot]:
        return sorted((s for s in body.free_symbols if s in values and s not in scalars), key=str)

    def parts(body: Basic) -> Sequence[Basic]:
        return body.args if len(inside(body)) > 1 else ()

    found: dict[Basic, Basic] = {}
    for body in postorder([root], parts):
        moving = [arg for arg in body.args if inside(arg)]
        if not inside(body):
            found[body] = body.xreplace(scalars)
        elif isinstance(body, Slot):
            found[body] = values[body]
        elif not isinstance(body, Expr):
            raise UnsupportedError(f"SymPy has no elementwise {type(body).__name__} of a tensor")
        elif len(inside(body)) == 1:
            found[body] = _applied(body, inside(body)[0], scalars, values, builder)
        elif body.is_Add and len(moving) > 1:
            fixed = Add(*[found[arg] for arg in body.args if arg not in moving])
            total = builder.total([found[arg] for arg in moving])
            found[body] = _applied(slot(0) + fixed, slot(0), {}, {slot(0): total}, builder)
        elif body.is_Mul and len(moving) > 1:
            fixed = Mul(*[found[arg] for arg in body.args if arg not in moving])
            product = builder.product([found[arg] for arg in moving])
            found[body] = product if fixed == 1 else builder.scaled(fixed, product)
        elif len(moving) == 1:
            entry = Dummy("u", real=True)
            outer = body.func(*[entry if arg in moving else found[arg] for arg in body.args])
            found[body] = builder.apply(Lambda(entry, outer), found[moving[0]])
        else:
            raise UnsupportedError(
                f"SymPy has no elementwise {type(body).__name__} of {len(inside(body))} tensors"
            )
    return found[root]


def _applied(
    body: Expr, own: Slot, scalars: dict[Slot, Basic], values: dict[Slot, Basic], builder: Builder
) -> Basic:
    """Apply a scalar function to one tensor: the tensor itself for the identity, a multiple for a
    multiple."""
    factor = body.xreplace(scalars).as_coefficient(own)
    if factor is not None and not factor.free_symbols & {own}:
        return values[own] if factor == 1 else builder.scaled(factor, values[own])
    entry = Dummy("u", real=True)
    return builder.apply(Lambda(entry, body.xreplace({**scalars, own: entry})), values[own])
