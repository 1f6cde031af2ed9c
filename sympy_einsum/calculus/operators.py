"""The public derivatives: diff, gradient, Hessian, Jacobian and products with them.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
[LMG20] the same, "A Simple and Efficient Tensor Calculus", AAAI 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict, Unpack, overload

from sympy import (
    Derivative,
    Dummy,
    Indexed,
    IndexedBase,
    Integer,
    MatrixBase,
    MatrixExpr,
    NDimArray,
    S,
    Symbol,
    Tuple,
)
from sympy.core.function import AppliedUndef

from ..core import (
    ShapeError,
    TensorError,
    UnsupportedError,
    documentation_link,
    same_name_hint,
    with_hints,
)
from ..expressions import (
    STOCK_VARIABLES,
    Einsum,
    Operand,
    Selection,
    Several,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    Unit,
    Unknown,
    as_operand,
    contract,
    derivative_of,
    free_leaves,
    order_of,
    shape_of,
)
from ..rules import Step, tidy
from .derivation_tables import Derivation, Trace
from .layouts import check_layout, wrt_first
from .sweeps import sweep
from .vector_parts import hessian_by_parts

# One expression or variable, or a list of some.
Listed: TypeAlias = "TensorLike | Sequence[TensorLike]"
# A derivative, or those of and by lists.
Blocks: TypeAlias = "Operand | list[Operand] | list[list[Operand]]"


class Options(TypedDict, total=False):
    """Keyword options of all derivatives; :func:`diff` explains them."""

    mode: str
    layout: str
    simplify: bool | None


def as_variable(value: object) -> Operand:
    """Convert an argument to a variable to differentiate by: a tensor symbol or an ordinary symbol;
    one of SymPy's matrix or array symbols becomes the tensor symbol of its name and shape."""
    if isinstance(value, STOCK_VARIABLES):
        value = as_operand(value)
    if isinstance(value, (TensorSymbol, Symbol)):
        return value
    instead = "give a TensorSymbol, a Symbol, or a list of them"
    if isinstance(value, (Indexed, IndexedBase)):
        instead = "convert the sum over its entries by from_indexed, and " + instead
    raise TensorError(
        f"can't differentiate with respect to {str(value)[:80]}, of type {type(value).__name__}; "
        + instead
    )


def as_function(value: TensorLike, variables: Sequence[object] = ()) -> Operand:
    """Convert an argument to the expression to differentiate by some variables; SymPy's with
    matrices to tensors.

    Raises TensorError if a tensor symbol isn't in it, but another of the same name: where lengths
    have been substituted, the symbol is another one, and the derivative would be 0.
    """
    if isinstance(value, (list, tuple, set, dict, MatrixBase, NDimArray)):
        converter = {MatrixBase: "from_matrix", NDimArray: "from_array"}
        names = [name for kind, name in converter.items() if isinstance(value, kind)]
        raise TensorError(
            f"one expression is needed, not a {type(value).__name__}: take one at a time, or put "
            "tensors of one shape side by side with stack; jacobian, jvp and vjp take lists"
            + "".join(f"; {name} makes one tensor of it" for name in names)
        )
    y = as_operand(value)
    free = y.free_symbols
    for absent in [v for v in variables if isinstance(v, TensorSymbol) and v not in free]:
        for other in free:
            if isinstance(other, TensorSymbol) and other.name == absent.name:
                raise TensorError(
                    f"there is no {absent} of shape {absent.shape}{_assumed(absent)} in the "
                    f"expression: the {other} in it is another symbol, of shape {other.shape}"
                    f"{_assumed(other)}; differentiate with respect to that, or before lengths are "
                    "substituted" + same_name_hint(*absent.shape, *other.shape)
                )
    return y


def _assumed(symbol: TensorSymbol) -> str:
    return "".join(f", {name}" for name in symbol.assumptions)


@overload
def diff(
    y: TensorLike,
    *variables: Operand | int,
    trace: Literal[False] = ...,
    **options: Unpack[Options],
) -> Operand: ...


@overload
def diff(
    y: TensorLike, *variables: Operand | int, trace: Literal[True], **options: Unpack[Options]
) -> tuple[Operand, Trace]: ...


@with_hints
def diff(
    y: TensorLike,
    *variables: Operand | int,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
    trace: bool = False,
) -> Operand | tuple[Operand, Trace]:
    """Differentiate an expression by one variable after the other, to any order.

    Parameters
    ==========

    y : a tensor expression, or a SymPy scalar with tensor expressions inside
    variables : tensor symbols and ordinary symbols, each optionally followed by a count;
        ``diff(y, x, 2)`` is ``diff(y, x, x)``. Also an entry or a slice of a tensor symbol,
        ``x[0]``; SymPy's matrix symbols; or a part of y by which alone y depends on what that is
        made of
    mode : ``"reverse"``, ``"forward"``; ``"cross-country"``, the cheapest of both and of the
        product of derivatives to and from small nodes that all ways go through [LMG20]; or
        ``"auto"``, the reverse mode, unless the variables, or a node that all ways go through, have
        fewer entries than y and beginning there is much cheaper
    layout : ``"function-first"``: shape y.shape + x.shape, each repetition appends axes;
        ``"wrt-first"``: SymPy's ``derive_by_array`` order, x.shape + y.shape
    simplify : whether the function (in reverse mode) and the derivative are simplified, by the
        rules of :func:`simplify` that are right for singular matrices too; by default where the
        graph is small enough for somebody to read
    trace : return the steps too

    Returns
    =======

    A tensor expression, for order 0 a SymPy scalar; zeros with a shape where y doesn't depend on
    a variable. Derivatives by a symmetric tensor are unconstrained (see TensorSymbol). With
    ``trace=True`` a pair of it and the list of steps ``(rule, before, after, node)``: first those
    of the sweep, where ``before`` is the cotangent of ``node`` and ``after`` what its rule
    contributes to an operand, then those of the simplification. The list's ``rows()`` are those of
    the tables of [LMG18], as which notebooks show it: every node with its partial derivatives and
    its tangent or cotangent.

    Raises
    ======

    UnsupportedError : some node has no derivative, named in the message
    TensorError : a variable is no symbol

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.diff(x @ A @ x, x, 2) == A + A.T
    True
    >>> derivative, steps = se.diff(se.sin(x), x, trace=True)
    >>> steps[0].rule, steps[0].node == se.sin(x)
    ('pullback of sin', True)
    """
    check_layout(layout)
    names = _expand_counts(variables)
    y = as_function(y, names)
    result = y
    if not variables:
        raise TensorError("diff needs at least one variable")
    steps: list[Step] = []
    derivations = []
    for variable in names:
        if not isinstance(variable, (TensorSymbol, Symbol)):
            if trace:
                raise UnsupportedError("there are no steps for derivatives by parts")
            result = _by_part(result, variable, mode, simplify)
            continue
        derivations.append(Derivation(result, (variable,), mode))
        (result,), new = sweep(result, (variable,), mode, simplify, trace)
        steps.extend(new)
    if layout == "wrt-first":
        result = wrt_first(result, order_of(y), [order_of(v) for v in names])
    return (result, Trace(steps, derivations)) if trace else result


def unevaluated(y: TensorLike, *variables: Operand | int) -> Operand:
    """Return the derivative as a node, which ``doit`` evaluates: what SymPy's ``Derivative`` makes
    of tensors. By entries, by parts and of unknown functions it is the derivative itself."""
    names = _expand_counts(variables)
    y = as_function(y, names)
    symbols = all(isinstance(v, (TensorSymbol, Symbol, Unknown)) for v in names)
    if not names:
        return y
    return derivative_of(y, names) if symbols and not isinstance(y, Unknown) else diff(y, *names)


# Functions and their derivatives are differentiated by as if they were symbols.
_INDEPENDENT = (Unknown, AppliedUndef, Derivative)


def _by_part(y: Operand, part: Operand, mode: str, simplify: bool | None) -> Operand:
    """Differentiate by an entry or a slice of a tensor symbol: take that piece of the derivative by
    the symbol. Differentiate by another part of the expression as if a symbol stood in its
    place."""
    if not is_part_of_symbol(part):
        stand_in = TensorSymbol(f"part{order_of(y)}", shape_of(part)) if order_of(part) else Dummy()
        if isinstance(part, _INDEPENDENT):
            return _by_independent(y, part, stand_in, mode, simplify)
        replaced = y.xreplace({part: stand_in})
        if replaced == y:
            raise TensorError(
                f"{str(part)[:80]} isn't a part of {str(y)[:80]}; give a symbol, or a part as it is"
            )
        left = {s for s in free_leaves(part) & free_leaves(replaced) if not s.is_integer}
        if left:
            # A product may have taken the part into itself.
            raise TensorError(
                f"{str(y)[:80]} depends on {min(left, key=str)} otherwise than by "
                f"{str(part)[:80]}; write it with a symbol in the place of that"
            )
        (derivative,), _ = sweep(replaced, (stand_in,), mode, simplify)
        return derivative.xreplace({stand_in: part})
    symbol = next(operand for operand in part.operands if isinstance(operand, TensorSymbol))
    (derivative,), _ = sweep(y, (symbol,), mode, simplify)
    own = tuple(range(len(part.lengths), len(part.lengths) + order_of(y)))
    operands = [derivative if operand is symbol else operand for operand in part.operands]
    pairs = zip(part.operands, part.subscripts, strict=True)
    subscripts = [(*own, *labels) if operand is symbol else labels for operand, labels in pairs]
    lengths = dict(enumerate((*part.lengths, *shape_of(y))))
    result = contract(operands, subscripts, (*own, *part.output), lengths)
    return result if simplify is False else tidy([result], None, ())[0][0]


def _by_independent(
    y: Operand, part: Operand, stand_in: Operand, mode: str, simplify: bool | None
) -> Operand:
    """Differentiate by a function, or a derivative of one, as if it was independent of all others,
    its own derivatives included."""
    inside = {d for d in y.atoms(Derivative) if d != part and isinstance(part, AppliedUndef)}
    frozen = {derivative: Dummy() for derivative in inside}
    (derivative,), _ = sweep(
        y.xreplace(frozen).xreplace({part: stand_in}), (stand_in,), mode, simplify
    )
    return derivative.xreplace({stand_in: part}).xreplace({d: own for own, d in frozen.items()})


def is_part_of_symbol(part: Operand) -> bool:
    """Tell whether a tensor is an entry, or a slice, of a tensor symbol."""
    if not isinstance(part, Einsum):
        return False
    cutters = [o for o in part.operands if not isinstance(o, TensorSymbol)]
    labels = [label for labels in part.subscripts for label in labels]
    return len(cutters) == len(part.operands) - 1 and (
        all(isinstance(cutter, (Unit, Selection)) for cutter in cutters)
        and len(set(part.output)) == len(part.output)
        and all(labels.count(k) + part.output.count(k) == 2 for k in labels)
    )


def _expand_counts(variables: Sequence[Operand | int]) -> list[Operand]:
    """Expand counts: ``x, 2, (y, 3), z`` is x, x, y, y, y, z."""
    names: list[Operand] = []
    previous: Operand | None = None
    for item in variables:
        if isinstance(item, (tuple, list, Tuple)) and len(item) == 2:
            names.extend([_as_part(item[0])] * _count(item[1]))
            previous = None
        elif isinstance(item, (int, Integer)) and previous is not None:
            names[-1:] = [previous] * _count(item)
            previous = None
        else:
            previous = _as_part(item)
            names.append(previous)
    return names


def _as_part(value: object) -> Operand:
    """Convert an argument to a variable, or to a part of an expression that has variable
    entries."""
    if isinstance(value, STOCK_VARIABLES):
        value = as_operand(value)
    if isinstance(value, _INDEPENDENT):
        return value
    if isinstance(value, TensorExpr) and not isinstance(value, TensorSymbol) and value.free_symbols:
        return value
    return as_variable(value)


def _count(value: object) -> int:
    if not isinstance(value, (int, Integer)) or isinstance(value, bool) or value < 0:
        raise TensorError(f"how often to differentiate is a number from 0 on, not {value!r}")
    return int(value)


@overload
def jacobian(y: Several, x: Several, **options: Unpack[Options]) -> list[list[Operand]]: ...


@overload
def jacobian(y: Several, x: Operand, **options: Unpack[Options]) -> list[Operand]: ...


@overload
def jacobian(y: TensorLike, x: Several, **options: Unpack[Options]) -> list[Operand]: ...


@overload
def jacobian(y: TensorLike, x: Operand, **options: Unpack[Options]) -> Operand: ...


@with_hints
def jacobian(
    y: Listed,
    x: Listed,
    *,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
) -> Blocks:
    """Differentiate y by x, to the shape y.shape + x.shape; lists give nested lists of blocks.

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> se.jacobian(A @ x, x) == A
    True
    """
    check_layout(layout)
    if isinstance(y, (list, tuple)):
        return [jacobian(part, x, mode=mode, layout=layout, simplify=simplify) for part in y]
    variables = [_as_part(v) for v in listed(x)]
    y = as_function(y, variables)
    symbols = tuple([v for v in variables if isinstance(v, (TensorSymbol, Symbol))])
    by_symbols = iter(sweep(y, symbols, mode, simplify)[0] if symbols else ())
    blocks = [
        next(by_symbols)
        if isinstance(v, (TensorSymbol, Symbol))
        else _by_part(y, v, mode, simplify)
        for v in variables
    ]
    if layout == "wrt-first":
        pairs = zip(blocks, variables, strict=True)
        blocks = [wrt_first(block, order_of(y), [order_of(v)]) for block, v in pairs]
    return blocks if isinstance(x, (list, tuple)) else blocks[0]


@overload
def gradient(
    f: TensorLike, x: Several, *, trace: Literal[False] = ..., **options: Unpack[Options]
) -> list[Operand]: ...


@overload
def gradient(
    f: TensorLike, x: Several, *, trace: Literal[True], **options: Unpack[Options]
) -> tuple[list[Operand], Trace]: ...


@overload
def gradient(
    f: TensorLike, x: Operand, *, trace: Literal[False] = ..., **options: Unpack[Options]
) -> Operand: ...


@overload
def gradient(
    f: TensorLike, x: Operand, *, trace: Literal[True], **options: Unpack[Options]
) -> tuple[Operand, Trace]: ...


@with_hints
def gradient(
    f: TensorLike,
    x: Listed,
    *,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
    trace: bool = False,
) -> Operand | list[Operand] | tuple[Operand | list[Operand], Trace]:
    """Compute the gradient of a scalar with respect to a tensor, or to each of a list in one joint
    sweep; with ``trace=True`` a pair of it and the steps, as for :func:`diff`. Both layouts of a
    gradient are the same.

    Raises
    ======

    ShapeError : f isn't a scalar

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> gA, gx = se.gradient(((A @ x) ** 2).sum(), [A, x])
    >>> gA.shape, gx.shape
    ((m, n), (n,))
    """
    check_layout(layout)
    f = as_scalar_function(f, "gradient")
    if not trace:
        return jacobian(f, x, mode=mode, simplify=simplify)
    variables = tuple([_as_part(v) for v in listed(x)])
    f = as_function(f, variables)
    if not all(isinstance(v, (TensorSymbol, Symbol)) for v in variables):
        raise UnsupportedError("there are no steps for derivatives by parts")
    blocks, steps = sweep(f, variables, mode, simplify, trace)
    one_by_one = mode in ("forward", "cross-country")
    each = [(v,) for v in variables] if one_by_one else [variables]
    derivations = [Derivation(f, group, mode) for group in each]
    result = list(blocks) if isinstance(x, (list, tuple)) else blocks[0]
    return result, Trace(steps, derivations)


@overload
def hessian(f: TensorLike, x: Several, **options: Unpack[Options]) -> list[list[Operand]]: ...


@overload
def hessian(f: TensorLike, x: Operand, **options: Unpack[Options]) -> Operand: ...


@with_hints
def hessian(
    f: TensorLike,
    x: Listed,
    *,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
) -> Blocks:
    """Differentiate a scalar twice, to the shape x.shape + x.shape; for a list of variables to a
    nested list of blocks.

    Raises
    ======

    ShapeError : f isn't a scalar

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,))
    >>> se.hessian(x @ A @ x, x) == A + A.T
    True
    """
    check_layout(layout)
    f = as_scalar_function(f, "hessian")
    if mode == "auto" and simplify is None and isinstance(x, TensorSymbol) and order_of(x) == 1:
        found = hessian_by_parts(f, x)
        if found is not None:
            return found
    first = gradient(f, x, mode=mode, simplify=simplify)
    return jacobian(first, x, mode=mode, layout=layout, simplify=simplify)


def as_scalar_function(f: TensorLike, name: str) -> Operand:
    # SymPy writes scalars such as x.T*A*x as matrices with one entry.
    is_entry = isinstance(f, MatrixExpr) and f.shape == (1, 1)
    f = as_function(f)
    if is_entry:
        f = contract((f,), ((0, 0),), (), {0: S.One})
    if order_of(f):
        instead = "take its trace()" if f.shape == (1, 1) else "sum it"
        raise ShapeError(
            f"{name} takes a scalar, not a tensor of shape {f.shape}; use jacobian, or {instead}"
            + documentation_link("layout")
        )
    return f


def listed(value: Listed) -> list[TensorLike]:
    """Return a list as it is, and a single expression or variable in a list of its own."""
    return list(value) if isinstance(value, (list, tuple)) else [value]
