"""Contraction orders, and reuse of earlier products."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracles import assert_close, calls
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.contraction_order import Factor
from sympy_einsum.contraction_order.orders import replace_product

SYMBOLS = [se.TensorSymbol(name, 3, 3) for name in "ABC"]


def string(rng, count):
    """Return an einsum string for a chain of matrices, some of which are transposed or diagonal."""
    terms, at = [], 0
    for _ in range(count):
        kind = rng.integers(0, 4)
        terms.append([(at, at + 1), (at + 1, at), (at, at), (at, at + 1)][kind])
        at += kind != 2
    letters = "abcdefgh"
    return ",".join(letters[i] + letters[j] for i, j in terms) + f"->{letters[0]}{letters[at]}"


@pytest.mark.parametrize("seed", range(40))
def test_common_parts_of_products_are_distinguished_from_similar_ones(seed):
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
    """A sum over an index of seven factors is none over an index of nine, in any order."""
    columns = [Factor(0, (0, k)) for k in range(1, 10)]
    known = Factor(1, range(1, 8))
    known.parts = tuple(columns[:7])
    assert calls(lambda: replace_product(columns, known, range(1, 10))) < 1_000
    assert replace_product(columns, known, range(1, 10)) is None
    assert [f.value for f in replace_product(columns[:7], known, range(1, 8))] == [1]


def test_repeated_parts_of_a_product_are_multiplied_once():
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


@pytest.mark.parametrize("turned", [False, True])
def test_networks_are_contracted_from_the_end_without_transposes(turned):
    """Two rows of tensors (left, right, rung), or (right, left, rung)."""
    n = symbols("n", integer=True, positive=True)
    labels = [[(row, c), (row, c + 1), (2, c)] for row in range(2) for c in range(5)]
    labels = [[i for i in own if i[1] < 5 and i not in ((0, 0), (1, 0))] for own in labels]
    labels = [own[:-1][::-1] + own[-1:] if turned else own for own in labels]
    number = {i: k for k, i in enumerate(dict.fromkeys(i for own in labels for i in own))}
    tensors = [se.TensorSymbol(f"G{k}", (n,) * len(own)) for k, own in enumerate(labels)]
    parts = zip(tensors, [[number[i] for i in own] for own in labels], strict=True)
    function = se.lambdify(tensors, se.einsum(*[x for part in parts for x in part], []))
    assert "transpose" not in function.source
    assert "einsum" not in function.source
    data = [np.random.default_rng(k).standard_normal((2,) * len(o)) for k, o in enumerate(labels)]
    numbers = [[number[i] for i in own] for own in labels]
    parts = [x for part in zip(data, numbers, strict=True) for x in part]
    assert_close(function(*data), np.einsum(*parts, []))


def test_traces_of_four_matrices_share_products_of_two():
    """The Hessian by parameters of a covariance took five products of matrices."""
    n = symbols("n", integer=True, positive=True)
    S, E, B, D = se.tensors("S E B D", n, n)
    subscripts = ["ab,bc,cd,da->"] * 3 + ["ab,bc,ca->"]
    operands = [(S, B, S, D * E), (S, D * E, S, D * E), (S, B, S, B), (S, S, D * E)]
    exprs = [se.einsum(text, *own) for text, own in zip(subscripts, operands, strict=True)]
    f = se.lambdify([S, E, B, D], exprs)
    s, e, b, d = data = np.random.default_rng(0).normal(size=(4, 5, 5))
    values = [(s, b, s, d * e), (s, d * e, s, d * e), (s, b, s, b), (s, s, d * e)]
    for found, text, own in zip(f(*data), subscripts, values, strict=True):
        np.testing.assert_allclose(found, np.einsum(text, *own), rtol=1e-12)
    lines = [line for line in f.source.splitlines() if line.endswith("# (n, n)")]
    assert sum(".dot(" in line for line in lines) == 2
