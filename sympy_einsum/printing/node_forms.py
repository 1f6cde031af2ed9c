"""Build the form of each type of node: matrix notation where there is one, else an index string."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from sympy import Expr, ImmutableDenseMatrix, Mul, S, Symbol, Tuple

from ..core import PRODUCTS_FIRST, Network, NodeTable, index_letter, tuning
from ..expressions import (
    AxesFunction,
    Cofactors,
    Constant,
    Einsum,
    Elementwise,
    Fourier,
    Inv,
    LeviCivita,
    LogDet,
    MatrixFunction,
    MatrixPower,
    OneHot,
    Operand,
    Positions,
    Reshape,
    RunningFunction,
    Scan,
    Selection,
    Solution,
    StackFunction,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unit,
    Unknown,
    View,
    Zeros,
    order_of,
)
from ..operations import getitem
from . import algebra, forms
from .cross_products import is_alone, with_cross_products
from .field_derivatives import field_derivative
from .forms import Form
from .functions import elementwise_form
from .gathers import GATHERED, Gather, GatheredTensor, as_gather, merge_gathers, merge_indices
from .joined import Call
from .kronecker import paired
from .matrix_literals import Entries
from .recurrences import scan_form, solution_form
from .slices import Factors, as_slice, index_of_selector, labelled_factors, rearranged_product

if TYPE_CHECKING:
    from .notation import Notation

INDEX_STRINGS = ("einsum", "star")


# --- leaves and functions ------------------------------------------------------------------------


def _selection_form(notation: Notation, node: Selection) -> Form:
    return Form("slice", [forms.identity(node.length)], (index_of_selector(node), None), 2)


def _levi_civita_form(notation: Notation, node: LeviCivita) -> Form:
    return Form("symbol", (), (TensorSymbol("epsilon", node.shape), False), node.order)


def _fourier_form(notation: Notation, node: Fourier) -> Form:
    return forms.call("W" if node.weighted else "F", axes=node.order, note=(node.length,))


def _constant_form(notation: Notation, node: Constant) -> Form:
    values = node.entries if node.is_exact else node.array
    if values.ndim <= 2 and values.size <= tuning.MAX_SHOWN_ENTRIES:
        return Form("array", (), ImmutableDenseMatrix(values.tolist()), node.order)
    return forms.call("array", axes=node.order, note=node.shape)


def _operand(notation: Notation, node: TensorExpr) -> Form:
    return notation.of(node.operands[0])


def _stack_function_form(notation: Notation, node: StackFunction) -> Form:
    note = (*([] if node.letter is None else [Symbol(node.letter)]), *node.data)
    operands = [notation.of(operand) for operand in node.operands]
    return forms.call(node.formula or node.function, *operands, axes=node.order, note=note or None)


def _matrix_power_form(notation: Notation, node: MatrixPower) -> Form:
    matrices, *directions = [notation.of(operand) for operand in node.operands]
    if directions or node.order > 2:
        exponent = forms.stock(node.exponent)
        return forms.call("pow", matrices, exponent, *directions, axes=node.order)
    return Form("power", [matrices], node.exponent, 2)


def _cofactors_form(notation: Notation, node: Cofactors) -> Form:
    return forms.call("cof", _operand(notation, node), axes=node.order, note=(node.degree,))


def _axes_function_form(notation: Notation, node: AxesFunction) -> Form:
    note = None if len(node.axes) == node.operands[0].order else node.axes
    operand = _operand(notation, node)
    return forms.call(node.name.replace("_", ""), operand, axes=node.order, note=note)


def _one_hot_form(notation: Notation, node: OneHot) -> Form:
    return forms.call("onehot", notation.of(node.indices), axes=node.order, note=(node.length,))


def _running_form(notation: Notation, node: RunningFunction) -> Form:
    return forms.call(node.called.replace("_", ""), _operand(notation, node), axes=node.order)


def _unknown_form(notation: Notation, node: Unknown) -> Form:
    data = (node.name, node.degree, node.is_of_scalar)
    return Form("unknown", [notation.of(node.argument)], data, node.order)


def _unevaluated_form(notation: Notation, node: Unevaluated) -> Form:
    """Show it as SymPy does; a derivative elsewhere than at its variables with what replaces
    them."""
    variables, limits = node.variables, node.limits
    counts: tuple[tuple[int, Expr], ...] = ()
    values = limits[0][1:]
    if node.kind == "Derivative":
        counts = tuple([(variables.index(variable), count) for variable, count in limits])
        values = () if node.given == variables else node.given
    parts = [notation.whole(part) for part in (node.expr, *variables, *values)]
    return Form("unevaluated", parts, (node.kind, len(variables), counts), node.order)


def _reshape_form(notation: Notation, node: Reshape) -> Form:
    product = None if notation.style in INDEX_STRINGS else _paired_form(notation, node)
    if product is not None:
        return product
    operand = _operand(notation, node)
    if node.order == 1 and node.operands[0].order == 2:
        # vec stacks columns.
        return forms.call("vec", algebra.transpose(operand), axes=1)
    return forms.call("reshape", operand, axes=node.order, note=node.shape)


def _paired_form(notation: Notation, node: Reshape) -> Form | None:
    """Write a reshaped product as a matrix whose rows or columns are pairs of indices."""
    inner = node.operands[0]
    if node.order != 2 or inner.order not in (3, 4) or not isinstance(inner, Einsum):
        return None
    products = [prod(inner.shape[:count]) for count in range(inner.order)]
    split = [k for k in (1, 2) if products[k] == node.shape[0] and inner.order - k <= 2]
    is_view = isinstance(inner, View)
    found = (
        rearranged_product(inner)
        if is_view and _is_rewritten(notation, inner.core)
        else labelled_factors(inner)
    )
    operands = [notation.of(operand) for operand in found.operands]
    if not split or any(len(t) > 2 for t in found.terms) or not all(o.pure for o in operands):
        return None
    edges = list(zip(operands, found.terms, strict=True))
    form = paired(edges, found.lengths, found.output[: split[0]], found.output[split[0] :])
    if form is None or not is_view:
        return form
    return algebra.product([*scalar_forms(notation, inner.scalars), form])


def _elementwise_form(notation: Notation, node: Elementwise) -> Form:
    operands = [notation.of(operand) for operand in node.operands]
    return elementwise_form(node.body, operands, node.shape)


def _sum_form(notation: Notation, node: TensorAdd) -> Form:
    entries, terms = notation.split_entries(node)
    made = None if entries else notation.joined_tensors(node)
    form = None if made is None else _joined_form(notation, made, node.order)
    if form is not None and form.pure:
        return form
    parts = [notation.whole(term) for term in terms]
    if entries:
        parts.append(_explicit_form(notation, entries, node))
    return algebra.total(parts, node.order)


def _explicit_form(notation: Notation, entries: Entries, node: TensorAdd) -> Form:
    """Show a vector as a column of entries, or a matrix as its rows."""

    def entry(place: tuple[int, ...]) -> Form:
        terms = entries.get(place, [(S.Zero,)])
        for scalar in {S.One, *[factor for factors in terms for factor in factors]}:
            notation.whole(scalar)
        return algebra.total(
            [algebra.product(scalar_forms(notation, own or (S.One,))) for own in terms], 0
        )

    rows, columns = map(int, (*node.shape, 1)[:2])
    places = product(*[range(int(length)) for length in node.shape])
    return Form("block", [entry(place) for place in places], (rows, columns), node.order)


def _joined_form(notation: Notation, made: Call, order: int) -> Form:
    """Show joined tensors as blocks or as a rolled tensor."""
    if made.shift is not None:
        parts = [notation.whole(made.tensors[0]), forms.stock(made.shift)]
        return forms.call("roll", *parts, axes=order, note=(made.axis,) if order > 1 else None)
    parts = [_block_form(notation, tensor) for tensor in made.tensors]
    if made.axis == 0 and order == 2:
        # Vectors are rows.
        parts = [algebra.transpose(part) if part.axes == 1 else part for part in parts]
    return Form("block", parts, (1, len(parts)) if made.axis else (len(parts), 1), order)


def _block_form(notation: Notation, tensor: TensorExpr) -> Form:
    """Show a block; a matrix made of one row or column of a vector is that vector."""
    is_view = isinstance(tensor, View) and tensor.core is not None and tensor.core.order == 1
    if is_view and tensor.order == 2 and len(set(tensor.output)) == 2 and S.One in tensor.shape:
        axis = tensor.shape.index(S.One)
        vector = getitem(tensor, (0,) if axis == 0 else (slice(None), 0))
        row_or_column = notation.whole(vector)
        return algebra.transpose(row_or_column) if axis == 0 else row_or_column
    return notation.whole(tensor)


# --- products ------------------------------------------------------------------------------------


def scalar_forms(notation: Notation, factors: Sequence[Operand]) -> list[Form]:
    """Return the forms of scalar factors; tensor expressions are split off SymPy's products."""
    found = []
    for factor in factors:
        parts = factor.args if factor.is_Mul else ()
        inside = [part for part in parts if isinstance(part, TensorExpr)]
        if inside and not any(p.is_Pow and p.exp.could_extract_minus_sign() for p in parts):
            rest = Mul(*[part for part in parts if part not in inside])
            found.append(notation.stock(rest))
            found.extend(notation.of(part) for part in inside)
        else:
            found.append(notation.of(factor))
    return found


def _view_form(notation: Notation, node: View) -> Form:
    """Write scalar factors and a rearranged tensor."""
    scalars = scalar_forms(notation, node.scalars)
    core = node.core
    is_kept = core is not None and node.output == node.subscripts[-1]
    if is_kept and len(set(node.output)) == len(node.output):
        inside = notation.of(core)
    elif _is_rewritten(notation, core) and (
        notation.style in INDEX_STRINGS or as_slice(rearranged_product(node)) is not None
    ):
        inside = _slice_or_product_form(notation, node, rearranged_product(node))
    else:
        inside = _slice_or_product_form(notation, node, labelled_factors(node))
    return algebra.product([*scalars, inside]) if scalars else inside


def _is_rewritten(notation: Notation, core: TensorExpr | None) -> bool:
    """Tell whether a rearranged tensor is a product that is shown as a product."""
    return type(core) is Einsum and not notation.is_named(core)


def _slice_or_product_form(notation: Notation, node: Einsum, product: Factors) -> Form:
    indexed = as_slice(product)
    if indexed is not None and (indexed.axes is None or indexed.is_transposed):
        form = _indexed_form(notation.of(indexed.tensor), indexed.indices, [], node.order)
        return form if indexed.axes is None else algebra.transpose(form)
    if notation.style in INDEX_STRINGS:
        return _index_string_form(notation, product)
    if any(isinstance(operand, OneHot) for operand in product.operands):
        gathered = as_gather(product)
        if gathered is None:
            product = merge_gathers(product)
            for operand in product.operands:
                notation.whole(operand)
        elif gathered.axes in (None, (1, 0)):
            return _gather_form(notation, gathered, node.order)
    field = field_derivative(product)
    if field is not None:
        parts = [notation.whole(field.field)]
        form = Form("field", parts, field.name, node.order)
        return form if field.sign > 0 else algebra.product([forms.stock(S.NegativeOne), form])
    if any(isinstance(operand, LeviCivita) for operand in product.operands):
        product, found = with_cross_products(product)
        for symbol, *pair in found:
            vectors = [notation.whole(vector) for vector in pair]
            notation.show(symbol, _cross_form(vectors, symbol.order))
        if is_alone(product):
            return notation.of(product.operands[0])
    if not product.operands and len(set(node.output)) == node.order:
        return algebra.ones(node.shape)
    return _matrix_product_form(notation, product) or _index_string_form(notation, product)


def _gather_form(notation: Notation, gathered: GatheredTensor, order: int) -> Form:
    """Show a tensor indexed by arrays of positions."""
    arrays = [index for index in gathered.indices if isinstance(index, Gather)]
    positions = [
        forms.stock(Tuple(*array.numbers))
        if array.numbers and order_of(array.positions) == 1
        else notation.whole(array.positions)
        for array in arrays
    ]
    cuts = [GATHERED if isinstance(index, Gather) else index for index in gathered.indices]
    form = _indexed_form(notation.whole(gathered.tensor), cuts, positions, order)
    return form if gathered.axes is None else algebra.transpose(form)


def _indexed_form(tensor: Form, cuts: Sequence[Any], positions: Sequence[Form], order: int) -> Form:
    """Show a tensor with indices; those of a tensor that is indexed by arrays, or by arrays of an
    indexed one, as one list."""
    if tensor.kind == "transpose" and tensor.parts[0].kind == "gather":
        form = _indexed_form(tensor.parts[0], cuts[::-1], positions, order)
        return algebra.transpose(form) if order == 2 else form
    if tensor.kind == "gather" or (positions and tensor.kind == "slice"):
        merged = merge_indices(tensor.data, cuts)
        if merged is not None:
            return Form("gather", [*tensor.parts, *positions], merged, order)
    kind = "gather" if positions else "slice"
    return Form(kind, [tensor, *positions], tuple(cuts), order)


def _cross_form(vectors: Sequence[Form], order: int) -> Form:
    """Write the cross product of two vectors, or of stacks of vectors."""
    if order == 1:
        return Form("cross", vectors, None, 1)
    return forms.call("cross", *vectors, axes=order)


def _matrix_product_form(notation: Notation, product: Factors) -> Form | None:
    """Write a product in matrix notation."""
    if len(product.output) > 2 or any(len(term) > 2 for term in product.terms):
        return None
    found = [notation.of(operand) for operand in product.operands]
    if not all(form.pure for form in found):
        return None
    edges = list(zip(found, product.terms, strict=True))
    network = Network(algebra, edges, product.output, product.lengths, PRODUCTS_FIRST)
    return network.result(product.output)


def _index_string_form(notation: Notation, product: Factors) -> Form:
    absent = product.absent
    parts = [notation.of(operand) for operand in product.operands]
    parts.extend(algebra.ones((product.lengths[label],)) for label in absent)
    terms = [*product.terms, *[(label,) for label in absent]]
    number: dict[int, str] = {}
    for label in [label for term in terms for label in term]:
        number.setdefault(label, index_letter(len(number)))
    words = tuple(["".join(number[label] for label in term) for term in terms])
    output = "".join(number[label] for label in product.output)
    kind = "star" if notation.style == "star" and len(parts) == 2 else "wenig"
    return Form(kind, parts, (words, output), len(output))


FORMULAS: NodeTable[Callable[..., Form]] = NodeTable(
    "the formula",
    {
        TensorSymbol: lambda notation, node: Form(
            "symbol", (), (node, node.is_symmetric), node.order
        ),
        Zeros: lambda notation, node: Form("zeros", (), node.shape, node.order),
        Constant: _constant_form,
        Unit: lambda notation, node: Form("unit", (), (node.position, node.length), 1),
        LeviCivita: _levi_civita_form,
        Positions: lambda notation, node: forms.call(
            "P", axes=node.order, note=(node.start, *node.steps)
        ),
        Selection: _selection_form,
        Triangle: lambda notation, node: Form(
            "triangle", [algebra.ones(node.shape)], (node.offset, False), 2
        ),
        Fourier: _fourier_form,
        View: _view_form,
        Einsum: lambda notation, node: _slice_or_product_form(
            notation, node, labelled_factors(node)
        ),
        TensorAdd: _sum_form,
        Elementwise: _elementwise_form,
        MatrixFunction: lambda notation, node: forms.call(
            type(node).__name__.lower(), _operand(notation, node), axes=node.order
        ),
        StackFunction: _stack_function_form,
        MatrixPower: _matrix_power_form,
        Inv: lambda notation, node: algebra.inverse(_operand(notation, node)),
        LogDet: lambda notation, node: Form("logdet", [_operand(notation, node)]),
        Cofactors: _cofactors_form,
        AxesFunction: _axes_function_form,
        RunningFunction: _running_form,
        OneHot: _one_hot_form,
        Reshape: _reshape_form,
        Scan: scan_form,
        Solution: solution_form,
        Unevaluated: _unevaluated_form,
        Unknown: _unknown_form,
    },
)
