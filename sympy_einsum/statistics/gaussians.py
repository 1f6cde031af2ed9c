"""Gaussian distributions of tensors: a mean and a covariance, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from sympy import Basic, Expr, Symbol

from ..core import (
    Shape,
    ShapeError,
    TensorError,
    deferred,
    same_length,
    same_name_hint,
    tuning,
)
from ..expressions import (
    STOCK_VARIABLES,
    Constant,
    Operand,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    as_operand,
    contract,
    free_leaves,
    is_literal,
    is_variable,
    order_of,
    shape_of,
    substitute,
)

_equal = deferred("verification", "equal")


class Gaussian:
    """A normal distribution of a tensor.

    Parameters
    ==========

    mean : a tensor of any shape s, or a scalar
    covariance : a tensor of shape s + s, or a scalar: the covariance of each pair of entries. Of a
        matrix with independent rows and columns (the matrix normal distribution) it is
        ``einsum("ik,jl->ijkl", U, V)``. It is symmetric: a tensor symbol that isn't declared so
        is taken for it, and so are the symbols of square matrices in other expressions.

    Attributes
    ==========

    mean : the mean, an expression
    covariance : the covariance, an expression
    shape : the shape s

    Raises
    ======

    ShapeError : the covariance doesn't have the shape s + s
    TensorError : it isn't symmetric, or a matrix of numbers has a negative eigenvalue

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> mu, Sigma = se.TensorSymbol("mu", n), se.TensorSymbol("Sigma", n, n, symmetric=True)
    >>> se.Gaussian(mu, Sigma)
    Gaussian(mu, Sigma)
    >>> se.Gaussian(mu, se.eye(n)).shape, se.Gaussian(0, 1).shape
    ((n,), ())
    >>> se.Gaussian(mu, se.TensorSymbol("S", 3, 3))
    Traceback (most recent call last):
    ...
    sympy_einsum.ShapeError: axis 0 of the covariance S has length 3 and axis 0 of the mean mu has
    length n; a mean of shape (n,) takes a covariance of shape (n, n)
    """

    __slots__ = ("covariance", "mean", "shape")
    mean: Operand
    covariance: Operand
    shape: Shape

    def __init__(self, mean: TensorLike, covariance: TensorLike):
        self.mean = as_operand(mean)
        self.covariance = as_operand(covariance)
        self.shape = shape_of(self.mean)
        _check_shapes(self.mean, self.covariance)
        if self.shape:
            _check_symmetry(self.covariance, len(self.shape))
        elif self.covariance.is_negative:
            raise TensorError(f"the variance {self.covariance} is negative")

    def __repr__(self) -> str:
        return f"Gaussian({self.mean}, {self.covariance})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gaussian) and (
            (self.mean, self.covariance) == (other.mean, other.covariance)
        )

    def __hash__(self) -> int:
        return hash((Gaussian, self.mean, self.covariance))


def _shown(value: Operand) -> str:
    return str(value)[:80]


def _check_shapes(mean: Operand, covariance: Operand) -> None:
    shape, given = shape_of(mean), shape_of(covariance)
    expected = (*shape, *shape)
    takes = f"a mean of shape {shape} takes a covariance of shape {expected}"
    if len(given) != len(expected):
        instead = ""
        if len(shape) == 2 and len(given) == 2:
            instead = '; of independent rows and columns it is einsum("ik,jl->ijkl", U, V)'
        elif shape and not given:
            instead = f"; write {_shown(covariance)} * eye({shape[0]})" if len(shape) == 1 else ""
        elif given and not shape:
            instead = f"; zero means of a vector are Zeros({given[0]})"
        raise ShapeError(
            f"the covariance {_shown(covariance)} has {len(given)} axes, of lengths {given}, and "
            f"the mean {_shown(mean)} has {len(shape)}; {takes}{instead}"
        )
    for axis, (length, wanted) in enumerate(zip(given, expected, strict=True)):
        if not same_length(length, wanted):
            raise ShapeError(
                f"axis {axis} of the covariance {_shown(covariance)} has length {length} and axis "
                f"{axis % len(shape)} of the mean {_shown(mean)} has length {wanted}; {takes}"
                + same_name_hint(length, wanted)
            )


def _check_symmetry(covariance: Operand, order: int) -> None:
    """Raise TensorError unless exchanging the two halves of the axes changes nothing."""
    if isinstance(covariance, Constant):
        _check_numbers(covariance, order)
        return
    if not isinstance(covariance, TensorSymbol) and not _is_symmetric(covariance, order):
        letters = "ijkl" if order == 2 else "ij"
        raise TensorError(
            f"the covariance {_shown(covariance)} isn't symmetric: it changes when its first "
            f"{order} axes are exchanged with the last {order}"
            + (f" ({letters} -> {letters[order:]}{letters[:order]})" if order < 3 else "")
            + ", even if its square matrices are symmetric; write A @ A.T, or (A + A.T) / 2"
        )


def _is_symmetric(covariance: Operand, order: int) -> bool:
    """Tell whether exchanging the halves of the axes changes nothing if square symbols are
    symmetric."""
    squares = [
        leaf
        for leaf in free_leaves(covariance)
        if isinstance(leaf, TensorSymbol) and leaf.order == 2 and same_length(*leaf.shape)
    ]
    rule = {
        leaf: TensorSymbol(
            leaf.name, leaf.shape, symmetric=True, **dict.fromkeys(leaf.assumptions, True)
        )
        for leaf in squares
        if not leaf.is_symmetric
    }
    value = substitute(covariance, rule)
    axes = range(2 * order)
    halves = [*axes[order:], *axes[:order]]
    exchanged = contract((value,), (axes,), halves, dict(enumerate(shape_of(value))))
    return exchanged is value or _equal(exchanged, value) is not False


def _check_numbers(covariance: Constant, order: int) -> None:
    array = covariance.array
    size = int(np.prod(array.shape[:order]))
    matrix = array.reshape(size, size)
    scale = tuning.COVARIANCE_TOLERANCE * float(np.abs(matrix).max(initial=0))
    positions = [*product(*map(range, array.shape[:order]))]
    for row, column in product(range(size), repeat=2):
        if abs(matrix[row, column] - matrix[column, row]) > scale:
            one, other = (
                [*positions[row], *positions[column]],
                [
                    *positions[column],
                    *positions[row],
                ],
            )
            raise TensorError(
                f"the covariance isn't symmetric: entry {one} is {matrix[row, column]} and entry "
                f"{other} is {matrix[column, row]}"
            )
    lowest = float(np.linalg.eigvalsh(matrix.astype(float)).min(initial=0))
    if lowest < -scale:
        raise TensorError(
            f"the covariance isn't positive semidefinite: it has the eigenvalue {lowest:.6g}"
        )


class Law(NamedTuple):
    """Independent Gaussian variables, with symbols in the places of their covariances.

    Attributes
    ==========

    mean, covariance : those of each variable; a covariance with axes is a symmetric symbol, so
        that terms that are equal by its symmetry are one
    given : what these symbols stand for
    """

    mean: dict[Operand, Operand]
    covariance: dict[Operand, Operand]
    given: dict[Basic, Operand]


def as_law(variables: object) -> Law:
    """Check the distributions of variables.

    Raises TensorError where a variable isn't a symbol or can't be Gaussian, ShapeError where its
    distribution has another shape.
    """
    if not isinstance(variables, Mapping) or not variables:
        raise TensorError(
            "the distributions are a dictionary such as {x: Gaussian(mu, Sigma)}, not "
            f"{_shown(variables)!r}"
        )
    mean: dict[Operand, Operand] = {}
    covariance: dict[Operand, Operand] = {}
    given: dict[Basic, Operand] = {}
    for key, gaussian in variables.items():
        variable = _as_random(key)
        if not isinstance(gaussian, Gaussian):
            raise TensorError(
                f"the distribution of {variable} is a Gaussian(mean, covariance), not "
                f"{_shown(gaussian)!r}"
            )
        _check_like(variable, gaussian)
        mean[variable] = gaussian.mean
        covariance[variable] = _with_symmetry(gaussian.covariance, len(given), given)
    for variable, gaussian in variables.items():
        inside = free_leaves(gaussian.mean, gaussian.covariance).intersection(mean)
        if inside:
            raise TensorError(
                f"the distribution of {variable}, {gaussian}, depends on "
                f"{min(inside, key=str)}, which is random too; variables are independent: take the "
                "expectation by one variable after the other"
            )
    return Law(mean, covariance, given)


def _as_random(key: object) -> Operand:
    """Convert a key to a symbol that may be Gaussian."""
    variable = as_operand(key) if isinstance(key, STOCK_VARIABLES) else key
    is_symbol = isinstance(variable, TensorSymbol) or (
        isinstance(variable, Expr) and is_variable(variable)
    )
    if not is_symbol:
        raise TensorError(
            f"expectations are taken over symbols, not over {_shown(variable)!r}; give the symbol, "
            "and the distribution of all its entries"
        )
    assumptions: tuple[str, ...] = ()
    if isinstance(variable, TensorSymbol):
        assumptions = variable.assumptions or (("symmetric",) if variable.generators else ())
    elif isinstance(variable, Symbol):
        false_for_numbers = ("positive", "negative", "nonnegative", "nonpositive", "integer")
        known = variable.assumptions0
        assumptions = tuple([name for name in false_for_numbers if known.get(name)])
    if assumptions:
        raise TensorError(
            f"{variable} is declared {', '.join(assumptions)}, as a Gaussian variable isn't; "
            "declare a symbol without that"
        )
    return variable


def _check_like(variable: Operand, gaussian: Gaussian) -> None:
    shape = shape_of(variable)
    if len(shape) != len(gaussian.shape):
        raise ShapeError(
            f"{variable} has {len(shape)} axes, of lengths {shape}, and its distribution "
            f"{gaussian} has {len(gaussian.shape)}, of lengths {gaussian.shape}"
        )
    for axis, (length, given) in enumerate(zip(shape, gaussian.shape, strict=True)):
        if not same_length(length, given):
            raise ShapeError(
                f"axis {axis} of {variable} has length {length} and that of its distribution "
                f"{gaussian} has length {given}" + same_name_hint(length, given)
            )


def _with_symmetry(covariance: Operand, number: int, given: dict[Basic, Operand]) -> Operand:
    """Return a symmetric symbol in the place of a covariance, unless that is one; note it in
    ``given``."""
    order = order_of(covariance) // 2
    if not order or isinstance(covariance, Constant) or is_literal(covariance):
        return covariance
    if isinstance(covariance, TensorExpr) and covariance.is_symmetric:
        return covariance
    halves = (*range(order, 2 * order), *range(order))
    symbol = TensorSymbol(
        f"_covariance_{number}", covariance.shape, symmetric=True if order == 1 else [halves]
    )
    given[symbol] = covariance
    return symbol
