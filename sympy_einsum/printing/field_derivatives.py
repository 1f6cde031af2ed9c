"""Recognise the divergence, the curl and the Laplacian of unknown fields in contractions of their
derivatives."""

from __future__ import annotations

from typing import NamedTuple

from ..expressions import Einsum, LeviCivita, Operand, TensorSymbol, Unknown
from .slices import Factors, labelled_factors


class FieldDerivative(NamedTuple):
    """Hold a derivative of an unknown field: the name of the function that computes it, the field,
    and the sign."""

    name: str
    field: Operand
    sign: int


def field_derivative(product: Factors) -> FieldDerivative | None:
    """Return the derivative of a field at a vector symbol that a product is, or None."""
    if not product.operands:
        return None
    *others, gradient = product.operands
    if not isinstance(gradient, Unknown) or gradient.degree not in (1, 2):
        return None
    point, labels = gradient.argument, product.terms[-1]
    if not (isinstance(point, TensorSymbol) and point.order == 1):
        return None
    field = gradient.at(point, 0)
    kept, last = labels[:-2], labels[-2:]
    if not others:
        name = "laplacian" if gradient.degree == 2 else "divergence"
        is_field = gradient.degree == 2 or field.order > 0
        is_trace = len(labels) > 1 and last[0] == last[1] and kept == tuple(product.output)
        is_trace = is_trace and len({*kept, *last}) == len(kept) + 1
        return FieldDerivative(name, field, 1) if is_field and is_trace else None
    if len(others) > 1 or gradient.degree == 2 or field.order != 1:
        return None
    (tensor,), axes = others, product.terms[0]
    if not isinstance(tensor, LeviCivita) or tensor.order != 3 or len(product.output) != 1:
        return None
    (axis,) = product.output
    if axis not in axes or {axis, *labels} != {*axes} or len({*axes}) < 3:
        return None
    place = axes.index(axis)
    # ε_ijk ∂F_k/∂x_j: the field's axis last, up to rotations.
    is_positive = axes[place - 1] == labels[0]
    return FieldDerivative("curl", field, 1 if is_positive else -1)


def field_derivative_of(node: Operand) -> FieldDerivative | None:
    """Return the derivative of a field that a node is, or None."""
    return field_derivative(labelled_factors(node)) if type(node) is Einsum else None
