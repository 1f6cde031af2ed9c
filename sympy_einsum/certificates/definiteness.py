"""Definiteness of matrices by their structure.

References
==========

[BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004, §A.5.5 (Schur complements).
[HJ] R. A. Horn, C. R. Johnson, "Matrix Analysis", 2012, §6.1 (diagonal dominance), §7.2 (minors),
§7.5 (Hadamard products).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import sympy
from sympy import Basic, Expr, S

from ..analysis import (
    EntryBodies,
    Ranges,
    ValueRange,
    is_nonnegative,
    is_positive,
    is_positive_definite,
    is_semidefinite,
    is_symmetric,
    node_ranges,
    scalar_range,
    transposed,
)
from ..core import ShapeError, UnsupportedError, postorder, same_length, sort_key, tuning
from ..expressions import (
    Constant,
    Elementwise,
    Operand,
    Selection,
    TensorAdd,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    Zeros,
    as_operand,
    holds_complex,
    inv,
    is_tensor,
    order_of,
    replace_nodes,
    scale,
    shape_of,
)
from ..operations import matmul
from ..rules import simplify


def is_definite(M: TensorLike) -> str | None:
    """Tell whether a matrix is positive or negative (semi)definite, by its structure.

    Known are Gram matrices ``A.T @ A`` and ``A.T @ D @ A`` with a D that is, sums, multiples,
    Kronecker and Hadamard products [HJ, thm 7.5.3], inverses, pseudoinverses, exponentials of
    symmetric matrices, power series of entries with nonnegative coefficients [HJ, thm 7.5.9],
    diagonals, block matrices by Schur complements [BV, §A.5.5], small matrices by diagonal
    dominance in intervals [HJ, thm 6.1.10] or by their minors [HJ, thm 7.2.5], and numbers. Symbols
    are declared with ``psd=True`` or ``pd=True``.

    Parameters
    ==========

    M : a square matrix

    Returns
    =======

    ``"pd"``, ``"psd"``, ``"nd"`` or ``"nsd"`` for a symmetric matrix that is positive definite,
    positive semidefinite, negative definite or negative semidefinite for all values of its symbols
    at which it is defined; None where that isn't known. A matrix of zeros is ``"psd"``.

    Raises
    ======

    ShapeError : M isn't a square matrix
    UnsupportedError : M is complex

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, K = se.TensorSymbol("A", m, n), se.TensorSymbol("K", n, n, psd=True)
    >>> se.is_definite(A.T @ A), se.is_definite(A.T @ A + se.eye(n)), se.is_definite(-K)
    ('psd', 'pd', 'nsd')
    >>> print(se.is_definite(A.T @ A - K))
    None
    """
    matrix = as_operand(M)
    if order_of(matrix) != 2 or not same_length(*shape_of(matrix)):
        raise ShapeError(f"definiteness is one of square matrices, not of shape {shape_of(matrix)}")
    if holds_complex(matrix):
        raise UnsupportedError("definiteness of complex matrices isn't known; split them by real")
    sign = sign_of_form(matrix)
    if sign is not None:
        return sign
    opposite = sign_of_form(scale(S.NegativeOne, matrix))
    return {"pd": "nd", "psd": "nsd", None: None}[opposite]


def sign_of_form(
    matrix: Operand, depth: int = 0, given: Mapping[Basic, ValueRange] | None = None
) -> str | None:
    """Return ``"pd"`` or ``"psd"`` for a matrix that is so where nodes are in given intervals, None
    for others."""
    forms = [matrix, with_signs(matrix, given)]
    found = [_by_structure(form) for form in forms]
    if "pd" in found:
        return "pd"
    simplified = simplify(matrix)
    if simplified is not matrix:
        found += [_by_structure(form) for form in (simplified, with_signs(simplified, given))]
    found.append(_by_entries(simplified))
    if "pd" not in found and depth < tuning.MAX_SCHUR_COMPLEMENTS:
        found += [_by_blocks(simplified, start, depth, given) for start in _splits(simplified)]
    return _best(found)


def _best(found: list[str | None]) -> str | None:
    return "pd" if "pd" in found else "psd" if "psd" in found else None


def _by_structure(matrix: Operand) -> str | None:
    if is_positive_definite(matrix):
        return "pd"
    return "psd" if is_semidefinite(matrix) else None


def with_signs(expr: Operand, given: Mapping[Basic, ValueRange] | None = None) -> Operand:
    """Replace functions of entries whose sign intervals show by symbols of this sign."""
    nodes = [node for node in postorder([expr]) if isinstance(node, (Elementwise, TensorAdd))]
    unknown = [node for node in nodes if not is_positive(node)]
    if not unknown:
        return expr
    found = node_ranges([expr], given or {})
    signed: dict[Operand, Operand] = {}
    for number, node in enumerate(unknown):
        own = found[node]
        word = "positive" if own.is_positive else "nonnegative" if own.is_nonnegative else ""
        if word and not (word == "nonnegative" and is_nonnegative(node)):
            symbol = TensorSymbol(f"({word} {number})", node.shape, **{word: True})
            if not is_symmetric(node):
                signed[node] = symbol
    return replace_nodes([expr], signed)[0] if signed else expr


# --- small matrices -------------------------------------------------------------------------------


def _by_entries(matrix: Operand) -> str | None:
    """Decide by the entries of a small matrix."""
    if isinstance(matrix, Constant):
        return _of_numbers(matrix)
    if not is_tensor(matrix) or not matrix.shape[0].is_Integer:
        return None
    size = int(matrix.shape[0])
    if not 0 < size <= tuning.MAX_EXPLICIT_SIZE or not _is_of_scalars(matrix):
        return None
    bodies = EntryBodies()
    entries = sympy.Matrix(size, size, lambda i, j: bodies.written(simplify(matrix[i, j])))
    if any(sympy.expand(entry) != 0 for entry in entries - entries.T):
        return None
    found = node_ranges([leaf.node for leaf in bodies.leaves.values()], {})
    ranges = {symbol: found[leaf.node] for symbol, leaf in bodies.leaves.items()}
    return _best([_by_dominance(entries, ranges), _by_minors(entries, ranges)])


def _is_of_scalars(matrix: Operand) -> bool:
    """Tell whether a matrix is made of scalars and entries, not of other matrices."""
    nodes = postorder([matrix])
    return not any(isinstance(n, TensorSymbol) and n.order > 1 for n in nodes)


def _of_numbers(matrix: Constant) -> str | None:
    """Decide by exact arithmetic, or by eigenvalues with a margin for rounding."""
    array = matrix.array
    if not np.isrealobj(array) or not (array == array.T).all():
        return None
    if array.shape[0] <= tuning.MAX_EXPLICIT_SIZE and array.dtype.kind != "f":
        exact = sympy.Matrix(matrix.entries)
        if exact.is_positive_definite:
            return "pd"
        return "psd" if exact.is_positive_semidefinite else None
    smallest = np.linalg.eigvalsh(array.astype(float)).min()
    margin = len(array) * np.finfo(float).eps * np.abs(array).max() * 10
    return "pd" if smallest > margin else None


def _by_dominance(entries: sympy.Matrix, ranges: Ranges) -> str | None:
    """Compare each entry on the diagonal with the sum of the others in its row, in intervals."""
    size = range(entries.rows)
    sums = [sympy.Add(*[abs(entries[i, j]) for j in size if j != i]) for i in size]
    gaps = [scalar_range(entries[i, i] - sums[i], ranges) for i in size]
    if all(gap.is_positive for gap in gaps):
        return "pd"
    return "psd" if all(gap.is_nonnegative for gap in gaps) else None


def _by_minors(entries: sympy.Matrix, ranges: Ranges) -> str | None:
    """Check all principal minors, those that are leading for more than their sign."""
    size = range(entries.rows)
    if len(size) > tuning.MAX_MINORS_SIZE:
        return None
    signs = {}
    for count in range(1, len(size) + 1):
        for rows in combinations(size, count):
            minor = entries.extract(rows, rows).det(method="berkowitz")
            signs[rows] = scalar_range(sympy.factor(minor), ranges)
            if not signs[rows].is_nonnegative:
                return None
    leading = [tuple(range(count)) for count in range(1, len(size) + 1)]
    return "pd" if all(signs[rows].is_positive for rows in leading) else "psd"


# --- blocks ---------------------------------------------------------------------------------------


def _splits(matrix: Operand) -> Iterator[Expr]:
    """Yield the positions at which blocks of a matrix begin."""
    size = matrix.shape[0]
    starts: set[Expr] = set()
    for node in postorder([matrix]):
        is_slice = isinstance(node, Selection) and node.steps == (S.One,)
        if is_slice and same_length(node.length, size):
            starts |= {node.start, node.start + node.counts[0]}
    for start in sorted(starts, key=sort_key):
        if start.is_positive and (size - start).is_positive:
            yield start


def _by_blocks(
    matrix: TensorExpr, start: Expr, depth: int, given: Mapping[Basic, ValueRange] | None
) -> str | None:
    """Decide by a Schur complement [BV, §A.5.5]: with a definite A, [[A, B], [B', C]] is as
    definite as C - B' inv(A) B."""
    upper, corner = simplify(matrix[:start, :start]), simplify(matrix[:start, start:])
    other, lower = simplify(matrix[start:, :start]), simplify(matrix[start:, start:])
    if simplify(transposed(other)) != corner:
        return None
    first, last = [sign_of_form(part, depth + 1, given) for part in (upper, lower)]
    if first is None or last is None:
        return None
    if isinstance(corner, Zeros):
        return "pd" if first == last == "pd" else "psd"
    options = []
    if first == "pd":
        options.append((upper, corner, lower))
    if last == "pd":
        options.append((lower, transposed(corner), upper))
    for block, side, rest in options:
        solved = matmul(transposed(side), matmul(inv(block), side))
        found = sign_of_form(simplify(rest - solved), depth + 1, given)
        if found is not None:
            return found
    return None
