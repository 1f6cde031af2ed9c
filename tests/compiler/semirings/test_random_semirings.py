"""Random programs in semirings against the definition, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import LIBRARIES
from random_semirings import Program
from semirings import MEANINGS, matches

import sympy_einsum as se

COUNT = 12
# Beyond these, integers of 64 bits wrap around.
LARGEST = 2**62


# NumPy's own functions as operations on PyTorch's tensors.
@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")
@pytest.mark.parametrize(
    ("backend", "count"), [("numpy", COUNT), ("torch", 4), ("dask", 3), ("jax", 1)]
)
@pytest.mark.parametrize("semiring", MEANINGS, ids=str)
def test_random_programs(backend, count, semiring):
    if backend == "jax" and semiring not in ("log", "or-and"):
        pytest.skip("its loops compile for seconds")
    library = LIBRARIES[backend]()
    own = semiring if isinstance(semiring, str) else semiring()
    for seed in range(count):
        made = Program(seed, semiring, MEANINGS[semiring])
        given = [
            # Dask takes entries at positions of NumPy.
            array if backend == "dask" and array is made.places else library.into(array)
            for array in made.arrays
        ]
        exprs, values = zip(*made.pairs, strict=True)
        found = se.lambdify(made.arguments, list(exprs), backend, semiring=own)(*given)
        for expr, value, expected in zip(exprs, found, values, strict=True):
            if semiring == "count" and np.max(expected, initial=0) > LARGEST:
                continue
            try:
                # Products of floats are rounded in another order.
                rounded = "log" if semiring == "max-times" else semiring
                matches(library.back(value), expected, rounded)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {expr}") from error
