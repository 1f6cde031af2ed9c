"""Orders of contraction, and what products take from others."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracles import assert_close, calls

import sympy_einsum as se
from sympy_einsum.compiler.factors import Factor
from sympy_einsum.compiler.product_order import _with

SYMBOLS = [se.TensorSymbol(name, 3, 3) for name in "ABC"]


def string(rng, count):
    """An einsum string of matrices in a chain, of which some are turned and some are diagonals."""
    terms, at = [], 0
    for _ in range(count):
        kind = rng.integers(0, 4)
        terms.append([(at, at + 1), (at + 1, at), (at, at), (at, at + 1)][kind])
        at += kind != 2
    letters = "abcdefgh"
    return ",".join(letters[i] + letters[j] for i, j in terms) + f"->{letters[0]}{letters[at]}"


@pytest.mark.parametrize("seed", range(40))
def test_what_products_have_in_common_is_told_from_what_looks_alike(seed):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((3, 3, 3))
    exprs, expected = [], []
    for _ in range(4):
        count = int(rng.integers(3, 6))
        subscripts, chosen = string(rng, count), rng.integers(0, 3, count)
        exprs.append(se.einsum(subscripts, *[SYMBOLS[k] for k in chosen]))
        expected.append(np.einsum(subscripts, *data[chosen]))
    for found, right in zip(se.lambdify(SYMBOLS, exprs)(*data), expected, strict=True):
        assert_close(found, right)


def test_a_product_of_equal_operands_is_looked_for_in_few_steps():
    """A sum over what seven columns share is none over what nine share, in whichever order."""
    columns = [Factor(0, (0, k)) for k in range(1, 10)]
    known = Factor(1, range(1, 8))
    known.parts = tuple(columns[:7])
    assert calls(lambda: _with(columns, known, range(1, 10))) < 1_000
    assert _with(columns, known, range(1, 10)) is None
    assert [f.value for f in _with(columns[:7], known, range(1, 8))] == [1]


def test_what_is_there_twice_in_a_product_is_multiplied_once():
    A, B, C = SYMBOLS
    rng = np.random.default_rng(0)
    a, b, c = data = rng.standard_normal((3, 3, 3))
    cases = {
        (A @ B @ A @ B).trace(): (1, np.trace(a @ b @ a @ b)),
        A @ B @ A @ B: (2, a @ b @ a @ b),
        (A @ B @ C @ A @ B @ C).trace(): (2, np.trace(a @ b @ c @ a @ b @ c)),
        (A @ B.inv() @ A @ B.inv()).trace(): (
            1,
            np.trace(a @ np.linalg.inv(b) @ a @ np.linalg.inv(b)),
        ),
    }
    for expr, (count, right) in cases.items():
        function = se.lambdify(SYMBOLS, expr)
        assert len(re.findall(r"\b\w+\.dot\(|solve", function.source)) == count, function.source
        assert_close(function(*data), right)
