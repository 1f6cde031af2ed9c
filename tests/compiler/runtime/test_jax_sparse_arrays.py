"""Sparse matrices of JAX's from the entries of their terms."""

from __future__ import annotations

import numpy as np
import pytest
from runtime_helpers import raw


def test_conditions_leave_entries_out():
    array = pytest.importorskip("jax.numpy").array
    conditions = lambda i, p: i <= 1, lambda i, p: p[i + 1] < 2
    term = array([0.0, 1, 2, 3]), (4,), lambda i, p: (i, p[i + 1]), *conditions
    found = raw("jax_sparse_arrays.bcoo")((4,), (3,), [(array([0, -1, 1]), 3)], [term])
    np.testing.assert_array_equal(found.todense(), np.diag([0.0, 1, 0, 0])[:, :3])
    assert raw("jax_sparse_arrays.bcoo")((2,), (0,), [], []).shape == (2, 0)
