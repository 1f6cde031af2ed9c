"""Products that differ by their brackets: one canonical order of their factors, of equal value."""

import itertools
import random
from functools import reduce

import numpy as np
import pytest
from oracles import n

import sympy_einsum as se
from sympy_einsum.rules import reassociated

A, B = se.tensors("A B", n, n)
S = se.TensorSymbol("S", n, n, symmetric=True)
x, y = se.tensors("x y", n)


def from_left(factors):
    return reduce(lambda product, factor: product @ factor, factors)


def from_right(factors):
    return reduce(lambda product, factor: factor @ product, factors[::-1])


@pytest.mark.parametrize("count", [20, 90])
def test_chains_are_equal_however_they_are_nested(count):
    factors, pairs = [A, B, A.T] * (count // 3), [A, S] * (count // 2)
    vectors = se.tensors(f"v:{count}", n)
    for left, right in [
        (from_left(factors), from_right(factors)),
        (se.exp(from_left(factors)).sum(), se.exp(from_right(factors)).sum()),
        (from_left(pairs), from_right([S, A.T] * (count // 2)).T),
        (from_left([A] * count).trace(), from_right([A] * count).trace()),
        (from_left([A, A, B] * 7).trace(), from_right([B, A, A] * 7).trace()),
        (from_left([A] * count + [x]), from_right([A] * count + [x])),
        (x @ from_left(factors) @ y, (x @ A) @ (from_right(factors[1:]) @ y)),
        (from_left([A] * count), se.matrix_power(A, count)),
        (
            reduce(lambda product, v: product * v, vectors),
            reduce(lambda product, v: v * product, vectors[::-1]),
        ),
    ]:
        assert se.equal(left, right) is True
    assert se.equal(from_left([*factors, B]), from_right([B, *factors])) is False


def test_shared_squares_are_not_written_out():
    square = A
    for _ in range(60):
        square = square @ square
    (found,) = reassociated([square])
    assert se.lambdify([A], found)(np.eye(2)).tolist() == [[1, 0], [0, 1]]


def test_order_of_factors_keeps_the_value():
    rng, choose = np.random.default_rng(0), random.Random(0)
    symbols = [
        *[se.TensorSymbol(name, 3, 3, symmetric=name == "S") for name in "AS"],
        *[se.TensorSymbol(name, 3, 3, 3, symmetric=name == "T") for name in "TG"],
        se.TensorSymbol("x", 3),
    ]
    data = {symbol: rng.standard_normal((3,) * symbol.order) for symbol in symbols}
    for symbol in data:
        if symbol.name in "ST":
            orders = itertools.permutations(range(symbol.order))
            data[symbol] = np.add.reduce([data[symbol].transpose(own) for own in orders])
    for _ in range(30):
        operands = choose.choices([*data], k=choose.randint(2, 6))
        labels = [choose.choices(range(5), k=operand.order) for operand in operands]
        present = sorted({i for own in labels for i in own})
        output = choose.sample(present, min(len(present), choose.randint(1, 3)))
        cut = choose.randint(1, len(operands) - 1)
        outside = {*output, *itertools.chain(*labels[cut:])}
        kept = [*outside.intersection(itertools.chain(*labels[:cut]))]
        inner = se.einsum(*_arguments(operands[:cut], labels[:cut]), kept)
        nested = se.einsum(*_arguments([inner, *operands[cut:]], [kept, *labels[cut:]]), output)
        (found,) = reassociated([nested])
        expected = np.einsum(*_arguments([data[o] for o in operands], labels), output)
        np.testing.assert_allclose(
            se.lambdify([*data], found)(*data.values()), expected, 1e-9, 1e-9 * abs(expected).max()
        )


def _arguments(operands, labels):
    return itertools.chain(*zip(operands, labels, strict=True))
