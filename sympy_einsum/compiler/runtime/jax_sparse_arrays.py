"""Sparse matrices of JAX's from the entries of their terms; generated code calls ``bcoo``.

Nothing is planned: positions may be traced, and are computed with the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

Lengths = tuple[int, ...]


def bcoo(
    rows: Lengths,
    columns: Lengths,
    positions: Sequence[tuple[Any, int]],
    terms: Sequence[Sequence[Any]],
) -> Any:
    """Return the matrix of some terms: the entries of each, the lengths of their axes, and the
    functions that give their positions and the conditions on these. Entries at the same position
    are stored beside each other, and entries that a condition leaves out as zeros."""
    jnp, sparse = import_module("jax.numpy"), import_module("jax.experimental.sparse")
    given = [jnp.where(array < 0, array + n, array) for array, n in positions]
    shape = int(np.prod(rows)), int(np.prod(columns))
    data, places = [jnp.zeros(0)], [np.zeros((0, 2), int)]
    for entries, lengths, function, *conditions in terms:
        grid = np.ogrid[tuple([slice(n) for n in lengths])] if lengths else ()
        values, found = jnp.broadcast_to(entries, lengths), function(*grid, *given)
        flat = [
            jnp.broadcast_to(_flat(part, axes), lengths)
            for part, axes in ((found[: len(rows)], rows), (found[len(rows) :], columns))
        ]
        for condition in conditions:
            is_met = condition(*grid, *given)
            values, *flat = [jnp.where(is_met, own, 0) for own in (values, *flat)]
        data.append(values.ravel())
        places.append(jnp.stack([own.ravel() for own in flat], axis=1))
    return sparse.BCOO((jnp.concatenate(data), jnp.concatenate(places)), shape=shape)


def _flat(places: Sequence[Any], shape: Lengths) -> Any:
    """Return the number in C order of positions on the axes of a shape."""
    total: Any = 0
    for place, n in zip(places, shape, strict=True):
        total = total * n + place
    return total
