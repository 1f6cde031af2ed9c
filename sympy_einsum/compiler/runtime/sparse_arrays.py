"""Sparse matrices from the entries of their terms; generated code calls ``SparseMatrices``.

Patterns are planned with NumPy, and entries written straight to their places in the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from operator import index
from typing import Any

import numpy as np

from ...core import ShapeError, TensorError, tuning

Lengths = tuple[int, ...]


class SparseMatrices:
    """Makes the sparse matrices of a compiled function, in one array library; the pattern of one is
    planned once for the lengths of axes and positions."""

    def __init__(self, library: str, module: str, matrix: str):
        self._xp = import_module(library)
        self._matrix = getattr(import_module(module), matrix)
        # By the code of positions, the latest patterns with the lengths that they were planned for.
        self._plans: dict[Any, list[tuple[Any, _Pattern]]] = {}

    def __call__(
        self,
        rows: Lengths,
        columns: Lengths,
        positions: Sequence[tuple[Any, int]],
        terms: Sequence[Sequence[Any]],
    ) -> Any:
        """Return the matrix of some terms: the entries of each, the lengths of their axes, and the
        functions that give their positions and the conditions on these."""
        functions = [function for term in terms for function in term[2:]]
        captured = [index(cell.cell_contents) for f in functions for cell in f.__closure__ or ()]
        lengths = rows, columns, [term[1] for term in terms], captured
        arrays = [array for array, _ in positions]
        known = self._plans.setdefault(tuple([f.__code__ for f in functions]), [])
        pattern = next(
            (own for planned, own in known if planned == lengths and own.fits(arrays)), None
        )
        if pattern is None:
            pattern = _Pattern(self._xp, rows, columns, positions, terms)
            del known[tuning.MAX_PATTERNS - 1 :]
            known.insert(0, (lengths, pattern))
        data = pattern.data([term[0] for term in terms])
        indices, starts = pattern.indices.copy(), pattern.starts.copy()
        return self._matrix((data, indices, starts), shape=pattern.shape)


class _Pattern:
    """The positions of a matrix that aren't 0, and where the entries of each term go."""

    def __init__(
        self,
        xp: Any,
        rows: Lengths,
        columns: Lengths,
        positions: Sequence[tuple[Any, int]],
        terms: Sequence[Sequence[Any]],
    ):
        self.xp = xp
        self.positions = [xp.array(array) for array, _ in positions]
        on_host: Callable[[Any], np.ndarray] = getattr(xp, "asnumpy", np.asarray)
        given = [_from_start(on_host(array), n) for array, n in positions]
        self.shape = int(np.prod(rows)), int(np.prod(columns))
        found = [_entries(rows, columns, given, *term[1:]) for term in terms]
        i = np.concatenate([np.empty(0, np.int64), *[own[0] for own in found]])
        j = np.concatenate([np.empty(0, np.int64), *[own[1] for own in found]])
        order = _order(i, j, self.shape)
        i, j = i[order], j[order]
        is_first = np.ones(len(i), bool)
        is_first[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
        slots = np.empty(len(i), np.int64)
        slots[order] = np.cumsum(is_first) - 1
        i, j = i[is_first], j[is_first]
        self.size = len(i)
        kind = np.int32 if max(*self.shape, self.size) < 2**31 else np.int64
        self.indices = xp.asarray(j.astype(kind))
        counts = np.bincount(i, minlength=self.shape[0])
        self.starts = xp.asarray(np.concatenate([[0], np.cumsum(counts)]).astype(kind))
        ends = np.cumsum([0, *[len(own[0]) for own in found]])
        is_written = np.zeros(self.size, bool)
        self.targets = []
        for k, (term, (_, _, selected)) in enumerate(zip(terms, found, strict=True)):
            own = slots[ends[k] : ends[k + 1]]
            self.targets.append(_Target(xp, own, term[1], selected, is_written))
            is_written[own] = True

    def fits(self, positions: Sequence[Any]) -> bool:
        """Tell whether positions are those that the pattern was planned for."""
        pairs = zip(self.positions, positions, strict=True)
        return all(bool(self.xp.array_equal(own, other)) for own, other in pairs)

    def data(self, entries: Sequence[Any]) -> Any:
        """Return the entries of the matrix."""
        kind = np.dtype(float)
        if any(hasattr(own, "dtype") for own in entries):
            kind = self.xp.result_type(*entries)
        if kind.kind not in "fc" and self.xp is not np:  # CuPy has no sparse matrices of integers
            kind = np.dtype(float)
        data = self.xp.zeros(self.size, kind)
        for target, own in zip(self.targets, entries, strict=True):
            target.write(data, own)
        return data


class _Target:
    """Where the entries of a term go: a view of the data where they are at regular distances."""

    def __init__(
        self,
        xp: Any,
        slots: np.ndarray,
        lengths: Lengths,
        selected: np.ndarray | None,
        is_written: np.ndarray,
    ):
        self.xp = xp
        self.lengths = lengths
        is_unique = not len(slots) or np.bincount(slots).max() == 1
        self.is_unique = is_unique
        self.is_assigned = is_unique and not is_written[slots].any()
        self.first = int(slots[0]) if len(slots) else 0
        self.strides = None
        if selected is None and is_unique and len(slots):
            self.strides = _regular_strides(slots.reshape(lengths))
        self.slots = None if self.strides is not None else xp.asarray(slots)
        self.selected = None if selected is None else xp.asarray(selected)

    def write(self, data: Any, entries: Any) -> None:
        """Write or add the entries of the term."""
        if self.strides is not None:
            strides = [step * data.itemsize for step in self.strides]
            as_strided = self.xp.lib.stride_tricks.as_strided
            view = as_strided(data[self.first :], self.lengths, strides)
            if self.is_assigned:
                view[...] = entries
            else:
                view += entries
            return
        values = self.xp.broadcast_to(self.xp.asarray(entries), self.lengths)
        values = values.ravel() if self.selected is None else values.ravel()[self.selected]
        if self.is_assigned:
            data[self.slots] = values
        elif self.is_unique:
            data[self.slots] += values
        else:
            self.xp.add.at(data, self.slots, values)


def _order(i: np.ndarray, j: np.ndarray, shape: Lengths) -> np.ndarray:
    """Return the numbers of entries by rows, then columns."""
    rows, columns = shape
    if rows * columns < 2**63:  # one sort, of runs that are mostly sorted already
        return np.argsort(i * columns + j, kind="stable")
    return np.lexsort((j, i))


def _from_start(positions: np.ndarray, length: int) -> np.ndarray:
    """Count positions from the start of an axis."""
    if positions.size and positions.dtype.kind not in "iu":
        raise TensorError(f"positions must be integers, not of type {positions.dtype}")
    positions = positions.astype(np.int64)
    outside = positions[(positions < -length) | (positions >= length)]
    if outside.size:
        raise _outside(outside[0], length)
    return np.where(positions < 0, positions + length, positions)


def _outside(position: int, length: int) -> ShapeError:
    return ShapeError(
        f"a position is outside of its axis: {position} on an axis of length {length}"
    )


def _entries(
    rows: Lengths,
    columns: Lengths,
    positions: Sequence[np.ndarray],
    lengths: Lengths,
    places: Callable[..., Sequence[Any]],
    *conditions: Callable[..., Any],
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the row and the column of each entry of a term, and which of them there are, None for
    all."""
    grid: Sequence[Any] = np.ogrid[tuple([slice(n) for n in lengths])] if lengths else ()
    selected = None
    for condition in conditions:
        # Positions that an entry doesn't have may be outside of the arrays that hold others.
        chosen = np.flatnonzero(np.broadcast_to(condition(*grid, *positions), lengths))
        grid = [np.broadcast_to(own, lengths).ravel()[chosen] for own in grid]
        selected = chosen if selected is None else selected[chosen]
        lengths = (len(chosen),)
    found = places(*grid, *positions)
    if 0 not in lengths:
        for place, n in zip(found, (*rows, *columns), strict=True):
            if np.min(place) < 0 or np.max(place) >= n:
                raise _outside(np.max(place), n)
    i, j = _flat(found[: len(rows)], rows, lengths), _flat(found[len(rows) :], columns, lengths)
    return i, j, selected


def _flat(places: Sequence[Any], shape: Lengths, lengths: Lengths) -> np.ndarray:
    """Return the number in C order of positions on the axes of a shape, for all entries."""
    total: Any = np.int64(0)
    for place, n in zip(places, shape, strict=True):
        total = total * n + place
    return np.broadcast_to(total, lengths).ravel()


def _regular_strides(slots: np.ndarray) -> Lengths | None:
    """Return the distances between neighbours along each axis where these are equal, else None."""
    first = slots[(0,) * slots.ndim]
    strides = []
    for axis, n in enumerate(slots.shape):
        place = [0] * slots.ndim
        place[axis] = min(1, n - 1)
        strides.append(int(slots[tuple(place)] - first))
    grid = np.ogrid[tuple([slice(n) for n in slots.shape])] if slots.ndim else ()
    expected = first
    for stride, own in zip(strides, grid, strict=True):
        expected = expected + stride * own
    is_regular = np.array_equal(slots, np.broadcast_to(expected, slots.shape))
    return tuple(strides) if is_regular else None
