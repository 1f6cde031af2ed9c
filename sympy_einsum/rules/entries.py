"""Rules for functions applied entry by entry, and for the scalars they are applied to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Add, Expr, Mul, Piecewise, S, expand

from ..analysis import Barriers, times_entries, up_to_sign
from ..core import Indices, cached, modulus, sigmoid, softplus, tuning
from ..expressions import (
    SIGMOID,
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    View,
    apply_body,
    contract,
    scale,
    shape_of,
    slot,
    split_coefficient,
    substitute_slots,
    tensor_sum,
)

_S = slot(0)
SOFTPLUS = softplus(_S)


def factor_inside(node: Operand, barriers: Barriers) -> Operand | None:
    """Move a factor from the function to the operand: f(2 s) of x is f(s) of 2 x."""
    is_choice = isinstance(node.body, Piecewise)  # its arguments are branches
    if node.body.is_Function and not is_choice and len(node.operands) == len(node.body.args) == 1:
        factor, argument = node.body.args[0].as_coeff_Mul()
        if factor is not S.One and argument == _S:
            return apply_body(node.body.func(_S), (scale(factor, node.operands[0]),))
    return None


def compose(node: Operand, barriers: Barriers) -> Operand | None:
    """Compose a function of a function, or of a multiple, where the composition is simpler: SymPy's
    own evaluation finds exp(log(x)), sqrt(x)**2 or cos(-x)."""
    for coefficient, inner, moved, body, operands in _compositions(node):
        # The inner function is gone, or all is shorter: then this isn't a mere composition.
        before = _operations(node.body) + _operations(coefficient * inner)
        gone = inner != _S and not body.has(moved)
        pulled_out = inner == _S and _operations(body.as_coeff_Mul()[1]) <= _operations(node.body)
        if pulled_out or _operations(body) < before or (gone and _operations(body) <= before):
            return apply_body(body, operands)
    return None


def compose_all(node: Operand, barriers: Barriers) -> Operand | None:
    """Compose functions of functions to one function; a factor stays with the operand of a named
    one."""
    for _, inner, _, body, operands in _compositions(node):
        if inner != _S or not node.body.is_Function:
            return apply_body(body, operands)
    return None


def _compositions(node: Operand) -> Iterator[tuple[Expr, Expr, Expr, Expr, tuple[Operand, ...]]]:
    """Yield for each operand that is a function, or a multiple: the factor, the function, the
    function of the new operands, and the composition with its operands."""
    for k, operand in enumerate(node.operands):
        coefficient, core = _multiple(operand)
        if isinstance(core, Elementwise):
            inner, below = core.body, core.operands
        else:
            inner, below = _S, (core,)
        if inner == _S and coefficient is S.One:
            continue
        count = len(node.operands)
        if count + len(below) > tuning.MAX_COMPOSED_OPERANDS:
            continue
        # SymPy takes a tenth of a second for a choice by a choice, which is no simpler.
        if inner.has(Piecewise) and node.body.has(Piecewise):
            continue
        moved = substitute_slots(
            inner, tuple([(slot(j), slot(count + j)) for j in range(len(below))])
        )
        body = substitute_slots(node.body, ((slot(k), coefficient * moved),))
        yield coefficient, inner, moved, body, (*node.operands, *below)


def reflect_sum(node: Operand, barriers: Barriers) -> Operand | None:
    """Reflect an odd or even function of a difference: sin(y - x) = -sin(x - y)."""
    if len(node.operands) != 1 or not isinstance(node.operands[0], TensorAdd):
        return None
    reflected = substitute_slots(node.body, ((_S, -_S),))
    if not up_to_sign(node.operands[0])[1] or reflected not in (node.body, -node.body):
        return None
    opposite = apply_body(node.body, (scale(S.NegativeOne, node.operands[0]),))
    return opposite if reflected == node.body else scale(S.NegativeOne, opposite)


def expand_modulus(node: Operand, barriers: Barriers) -> Operand | None:
    """Write an even power of a modulus as one of a sum of squares, with simpler derivatives."""
    count = len(node.operands)
    for k, operand in enumerate(node.operands):
        if isinstance(operand, Elementwise) and isinstance(operand.body, modulus):
            below = operand.operands
            pairs = tuple([(slot(j), slot(count + j)) for j in range(len(below))])
            moved = substitute_slots(operand.body, pairs)
            body = substitute_slots(node.body, ((slot(k), moved),))
            if not body.has(moved):
                operands = (*node.operands, *below)
                return tensor_sum([apply_body(term, operands) for term in Add.make_args(body)])
    return None


def expand_body(node: Operand, barriers: Barriers) -> Operand | None:
    """Split a function that is a sum of products into a sum of products of functions."""
    body = expand(node.body, log=False, power_base=False, power_exp=False)
    terms = [Mul.make_args(term) for term in Add.make_args(body)]
    if not 1 < max(len(terms), len(terms[0])) <= tuning.MAX_DISTRIBUTED_TERMS:
        return None
    own = node.operands
    return tensor_sum(
        [times_entries([apply_body(factor, own) for factor in term], node) for term in terms]
    )


def reflect(node: Operand, barriers: Barriers) -> Operand | None:
    """sigmoid(-x) = 1 - sigmoid(x) and softplus(-x) = softplus(x) - x."""
    if node.body not in (SIGMOID, SOFTPLUS):
        return None
    (operand,) = node.operands
    is_turned = (
        up_to_sign(operand)[1]
        if isinstance(operand, TensorAdd)
        else split_coefficient(operand)[0].is_negative
    )
    if not is_turned:
        return None
    opposite = scale(S.NegativeOne, operand)
    other = apply_body(node.body, (opposite,))
    if node.body == SIGMOID:
        return tensor_sum([times_entries([S.One], node), scale(S.NegativeOne, other)])
    return tensor_sum([other, operand])


def reflect_scalar(node: Operand, barriers: Barriers) -> Operand | None:
    """sigmoid(-t) = 1 - sigmoid(t) and softplus(-t) = softplus(t) - t of a scalar t."""
    if not isinstance(node, (sigmoid, softplus)) or not node.args[0].could_extract_minus_sign():
        return None
    other = node.func(-node.args[0])
    return 1 - other if isinstance(node, sigmoid) else other + node.args[0]


def of_rearranged(node: Operand, barriers: Barriers) -> Operand | None:
    """Transpose or repeat the function in place of its operand."""
    if len(node.operands) != 1:
        return None
    (view,) = node.operands
    axes = _axes_of_slice(view)
    if axes is not None:
        # The axes of a slice are those of its tensor, not of its canonical form.
        return None if axes == sorted(axes) else _of_transposed(node, axes)
    if not isinstance(view, View):
        return None
    indices = view.subscripts[-1] if view.core is not None else ()
    is_plain = len(set(indices)) == len(indices) and len(set(view.output)) == len(view.output)
    if view.core is None or not is_plain or view.output == indices:
        return None
    lengths = {i: view.lengths[i] for i in indices}
    core = contract(view.operands, view.subscripts, indices, lengths)
    inner = apply_body(node.body, (core,))
    return contract((inner,), (indices,), view.output, dict(enumerate(view.lengths)))


def _axes_of_slice(tensor: Operand) -> list[int] | None:
    """Return the order of the axes of a slice, compared with those of the tensor that it is taken
    from; None for anything else."""
    if isinstance(tensor, View):
        axes = None if tensor.core is None else _axes_of_slice(tensor.core)
        indices = tensor.subscripts[-1]
        if axes is None or sorted(tensor.output) != sorted(indices):
            return None
        return [axes[indices.index(label)] for label in tensor.output]
    if type(tensor) is not Einsum:
        return None
    labels = [label for own in (*tensor.subscripts, tensor.output) for label in own]
    source: Indices | None = None
    selected: dict[int, int] = {}
    for operand, own in zip(tensor.operands, tensor.subscripts, strict=True):
        if operand.is_affine_selector and len(own) <= 2:
            selected[own[0]] = own[-1]
        elif source is not None:
            return None
        else:
            source = own
    along = [selected.get(label, label) for label in tensor.output]
    if source is None or any(labels.count(label) != 2 for label in labels):
        return None
    in_order = [label for label in source if label in along]
    return [in_order.index(label) for label in along] if len(in_order) == len(along) else None


def _of_transposed(node: Operand, axes: Sequence[int]) -> Operand:
    """Return f(X.T) as f(X).T, with the axes of X in order."""
    (tensor,) = node.operands
    order = sorted(range(len(axes)), key=axes.__getitem__)
    inner = apply_body(node.body, (_permuted(tensor, order),))
    return _permuted(inner, axes)


def _permuted(tensor: Operand, axes: Sequence[int]) -> Operand:
    return contract((tensor,), (range(len(axes)),), axes, dict(enumerate(shape_of(tensor))))


@cached(4096)
def _operations(body: Expr) -> int:
    return int(body.count_ops())


def _multiple(tensor: Operand) -> tuple[Expr, Operand]:
    """Return the numeric factor of a tensor that is otherwise not rearranged."""
    plain = (
        isinstance(tensor, View)
        and tensor.core is not None
        and all(scalar.is_number for scalar in tensor.scalars)
        and tensor.output == tensor.subscripts[-1]
        and len(set(tensor.output)) == len(tensor.output)
    )
    return (Mul(*tensor.scalars), tensor.core) if plain else (S.One, tensor)
