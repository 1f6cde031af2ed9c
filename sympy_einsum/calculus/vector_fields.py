"""The derivatives of vector fields: curl, divergence and Laplacian."""

from __future__ import annotations

from sympy import Symbol

from ..core import ShapeError, TensorError, index_letter, same_length, same_name_hint, with_hints
from ..expressions import LeviCivita, Operand, TensorAdd, TensorLike, shape_of, total_of
from ..operations import einsum
from ..rules import tidy
from .operators import as_function, as_variable, diff


@with_hints
def divergence(F: TensorLike, x: Operand) -> Operand:
    """Compute the divergence of a vector field, Σ_i ∂F_i/∂x_i.

    Parameters
    ==========

    F : an expression of shape (…, n): a vector field, or a tensor of which the last axis is one
    x : the point, a vector of length n

    Returns
    =======

    An expression of shape F.shape[:-1], a scalar for a vector field.

    Raises
    ======

    ShapeError : the last axis of F isn't as long as x, or x is no vector

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", n, n), se.TensorSymbol("x", n)
    >>> se.divergence(A @ x, x), se.divergence(x / se.norm(x), x)
    (A.trace(), n/norm(x) - 1/norm(x))
    """
    F, x = _field(F, x, "divergence")
    return _contracted("...ii->...", diff(F, x))


@with_hints
def curl(F: TensorLike, x: Operand) -> Operand:
    """Compute the curl of a vector field in three dimensions, ε_ijk ∂F_k/∂x_j.

    Parameters
    ==========

    F : an expression of shape (…, 3)
    x : the point, a vector of length 3

    Returns
    =======

    An expression of the shape of F.

    Raises
    ======

    ShapeError : x or the last axis of F isn't of length 3

    Examples
    ========

    >>> import sympy_einsum as se
    >>> w, x = se.tensors("w x", 3)
    >>> print(se.curl(se.cross(w, x), x))
    2*w
    >>> se.curl(se.gradient(se.exp(w @ x) / se.norm(x), x), x)
    Zeros(3)
    """
    F, x = _field(F, x, "curl")
    if x.shape[0] != 3:
        raise ShapeError(f"curl takes fields in 3 dimensions, and {x} has {x.shape[0]} entries")
    return _contracted("ijk,...kj->...i", LeviCivita(3), diff(F, x))


@with_hints
def laplacian(f: TensorLike, x: Operand) -> Operand:
    """Compute the Laplacian, the sum of the second derivatives by each entry of a tensor.

    Parameters
    ==========

    f : a scalar, or a tensor, entry by entry
    x : the point, a tensor symbol of any order, or an ordinary symbol

    Returns
    =======

    An expression of the shape of f.

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", n, n), se.TensorSymbol("x", n)
    >>> se.laplacian(x @ x, x), se.laplacian(x @ A @ x * x, x).shape
    (2*n, (n,))
    >>> y = se.TensorSymbol("y", 3)
    >>> se.laplacian(1 / se.norm(y), y)
    0
    """
    x = as_variable(x)
    f = as_function(f, [x])
    axes = "".join([index_letter(k) for k in range(len(shape_of(x)))])
    return _contracted(f"...{axes}{axes}->...", diff(f, x, x))


def _field(F: TensorLike, x: Operand, name: str) -> tuple[Operand, Operand]:
    """Convert the arguments, and check that they are a vector field and a point."""
    x = as_variable(x)
    if isinstance(x, Symbol) or len(x.shape) != 1:
        raise ShapeError(f"{name} takes a point that is a vector, and {x} has shape {shape_of(x)}")
    F = as_function(F, [x])
    shape = shape_of(F)
    if not shape:
        raise TensorError(f"{name} takes a vector field, not a scalar; gradient takes that")
    if not same_length(shape[-1], x.shape[0]):
        raise ShapeError(
            f"{name} takes a field whose last axis is as long as {x}, which has {x.shape[0]} "
            f"entries, not {shape[-1]}" + same_name_hint(shape[-1], x.shape[0])
        )
    return F, x


def _contracted(indices: str, *factors: Operand) -> Operand:
    """Contract the axes of a derivative, the last factor, term by term, and simplify."""
    *others, derivative = factors
    terms = derivative.operands if isinstance(derivative, TensorAdd) else (derivative,)
    total = total_of([einsum(indices, *others, term) for term in terms])
    return tidy([total], None, ())[0][0]
