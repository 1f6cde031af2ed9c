"""Products with inlined operands."""

from __future__ import annotations

import pytest

from sympy_einsum.analysis import components


@pytest.mark.parametrize(
    ("subscripts", "groups"),
    [
        ((), []),
        (((),), [[0]]),
        (((), (0,), (0, 1)), [[0], [1, 2]]),
        (((0,), (), (0,)), [[0, 2], [1]]),
        (((0, 1), (1, 2), (2,)), [[0, 1, 2]]),
        (((0,), (1,), (0, 1)), [[0, 1, 2]]),
        (((0,), (1,), (0,), (1,)), [[0, 2], [1, 3]]),
    ],
    ids=str,
)
def test_components_are_the_groups_of_connected_operands(subscripts, groups):
    assert sorted(map(sorted, components(subscripts))) == groups
